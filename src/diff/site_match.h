/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_SITE_MATCH_H
#define TSCOPE_DIFF_SITE_MATCH_H

#include "base/arena.h"
#include "diff/snapshot_rows.h"

/* Allocation sites of two snapshots, matched by device and text. */
struct site_amounts {
	int64_t end_bytes, end_count, peak_bytes;
};

struct site_pair {
	int64_t device;
	const char *text;
	bool is_there[TSCOPE_SIDE_COUNT];
	struct site_amounts of[TSCOPE_SIDE_COUNT];
	struct site_amounts change;
};

struct site_pairs {
	struct site_pair *items; /* the largest change at the end first, then at the peak */
	size_t count;
};

/* None without memory. */
struct site_pairs tsi_match_sites(const struct snapshot_pair *pair, struct arena *arena);

#endif
