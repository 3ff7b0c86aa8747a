/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_SITE_MATCH_H
#define TSCOPE_DIFF_SITE_MATCH_H

#include "base/attributes.h"
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

/* TSCOPE_E_NOMEM. free(ret->items) ends it. */
TSI_MUST_CHECK
enum tscope_status tsi_match_sites(struct site_pairs *ret, const struct snapshot_pair *pair,
				   struct tscope_error *err);

#endif
