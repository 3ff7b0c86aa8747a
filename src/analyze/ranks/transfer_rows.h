/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_TRANSFER_ROWS_H
#define TSCOPE_ANALYZE_RANKS_TRANSFER_ROWS_H

#include "analyze/ranks/transfer_list.h"

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

/* What a row sums up to. */
struct transfer_sums {
	int64_t bytes, sized_ns;     /* of those with a size */
	double bus_bytes, bus_ns;    /* of those whose bus factor is known, too */
	int64_t wait_ns, wait_count; /* of those that have a wait, and of their members */
};

struct transfer_sums tsi_transfer_sums(const struct transfer_rows *rows,
				       const struct transfer_row *row);

#endif
