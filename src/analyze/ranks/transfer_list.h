/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_TRANSFER_LIST_H
#define TSCOPE_ANALYZE_RANKS_TRANSFER_LIST_H

#include "analyze/ranks/group_words.h"

/*
 * The transfers of a world one by one, with all that rows of tables have in common: those of
 * synchronising collectives, and of sends with their receives. (Of the others nobody knows the
 * time without waiting.)
 */
struct transfer {
	int64_t bytes;              /* or NO_NUMBER */
	int64_t group_size;         /* ranks */
	int64_t transfer_ns;        /* > 0 but for what is broken */
	int64_t wait_ns;            /* sum over the members that were read, */
	uint32_t member_count;      /* so many */
	double bus_bytes;           /* or NAN */
	int64_t step;               /* number, or NO_NUMBER */
	uint32_t match;             /* index in world.matches */
	uint32_t group;             /* index in world.groups */
	uint32_t group_name, dtype; /* ids in transfer_list.names; 0: not said */
	uint8_t kind;               /* enum collective_kind */
	uint8_t span;               /* enum group_span */
	bool is_synchronising;      /* has a wait */
	bool is_on_host;            /* no member has a device: times are the host's */
};

struct transfer_list {
	struct transfer *items; /* in the order of world.matches */
	size_t count;
	struct intern names; /* deinit it as any intern */
};

/* The list is zeroed at first. */
void tsi_transfer_list_fill(struct transfer_list *list, const struct world *world,
			    struct arena *arena);

/*
 * How long each op could have taken without delaying its rank: local time from when it was ready
 * to when something waited for it. [rank][op], -1 where nothing did; NULL without memory.
 */
int64_t **tsi_find_slacks(const struct world *world, struct arena *arena);

/* Transfers that have something in common, as rows of tables: the most time first. */
struct transfer_row {
	size_t first, count; /* in transfer_rows.order */
	int64_t transfer_ns; /* sum */
};

struct transfer_rows {
	const struct transfer **order; /* all transfers, those of a row together */
	size_t transfer_count;
	struct transfer_row *items;
	size_t count;
};

/* Makes room for rows, of which there are none yet; list must outlive them. */
void tsi_transfer_rows_init(struct transfer_rows *rows, const struct transfer_list *list,
			    struct arena *arena);

/* One row for each kind, name of a group, number of ranks and span. */
void tsi_transfer_rows_by_kind(struct transfer_rows *rows);

/* One row for each kind, dtype, number of ranks, span and size. */
void tsi_transfer_rows_by_size(struct transfer_rows *rows);

static inline const struct transfer *tsi_row_transfer(const struct transfer_rows *rows,
						      const struct transfer_row *row, size_t i)
{
	return rows->order[row->first + i];
}

/* Totals of a row. */
struct transfer_sums {
	int64_t bytes, sized_ns;     /* of those with a size */
	double bus_bytes, bus_ns;    /* of those whose bus factor is known, too */
	int64_t wait_ns, wait_count; /* of those that have a wait, and of their members */
};

struct transfer_sums tsi_transfer_sums(const struct transfer_rows *rows,
				       const struct transfer_row *row);

#endif
