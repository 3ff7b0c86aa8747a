/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_LINK_LIST_H
#define TSCOPE_ANALYZE_RANKS_LINK_LIST_H

#include "analyze/ranks/transfer_list.h"

/*
 * The links of a world: a process group, or a pair that sends and receives, at one kind and size
 * of message. Links of equal kind, size, number of ranks and span are likes: where nothing is
 * wrong they are equally fast, so that one that is persistently slower than its likes has
 * something wrong. Transfers hold no waiting for a late rank: a slow rank makes no slow link.
 */
struct link {
	const struct transfer *first; /* its group, kind, size and span are the link's */
	size_t count;                 /* transfers */
	int64_t median_ns, total_ns;  /* of them */
	int64_t fastest_ns;           /* of those of a step the fastest: median of the steps */
	/* NaN without two others: */
	double slowdown;           /* median_ns by the median of its likes' - 1 */
	double fastest_slowdown;   /* likewise of fastest_ns */
	double p_value;            /* chance that any of equal links is so steadily slow */
	double error;              /* standard error of slowdown, as links vary between steps */
	double excess_ns_per_step; /* median_ns beyond its likes'; NaN also without steps */
};

struct link_list {
	struct link *items; /* those with most time first */
	size_t count;
};

void tsi_link_list_fill(struct link_list *list, const struct transfer_list *transfers,
			const struct world *world, struct arena *arena);

/* Is it slower than its likes beyond chance, step after step, and so much that it matters? */
bool tsi_is_slow_link(const struct link *link);

#endif
