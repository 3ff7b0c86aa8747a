/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_SNAPSHOT_ROWS_H
#define TSCOPE_DIFF_SNAPSHOT_ROWS_H

#include "analyze/lookup.h"
#include "diff/comparison.h"

/*
 * snapshot.sites and snapshot.segments of both sides, and common names for their devices. If each
 * side has only one device, the two match, even cuda:0 of one rank and cuda:3 of another.
 */
enum { READ_COLUMNS_MAX = 6 };

enum { READ_DEVICE }; /* the first column of both tables */
enum { READ_SITE = 1, READ_END_BYTES, READ_END_COUNT, READ_PEAK_BYTES };
enum { READ_ADDRESS = 1, READ_RESERVED, READ_ALLOCATED, READ_POOL, READ_KIND };

/* A table of a side with those of its columns that are read. */
struct snapshot_rows {
	struct table_view view;
	size_t columns[READ_COLUMNS_MAX];
};

struct snapshot_pair {
	struct snapshot_rows sites[TSCOPE_SIDE_COUNT], segments[TSCOPE_SIDE_COUNT];
	bool is_one_device; /* each side has one, and they may have two numbers: */
	int64_t device;     /* that of B */
};

void tsi_snapshot_pair_open(struct snapshot_pair *ret, const struct comparison *comparison);

/* The device of a row as both sides are to call it. */
int64_t tsi_rows_device(const struct snapshot_pair *pair, const struct snapshot_rows *rows,
			size_t row);

/* Cells of READ_… columns; 0 and "" if the kind differs. */
struct tscope_value tsi_rows_cell(const struct snapshot_rows *rows, size_t row, size_t column);
int64_t tsi_rows_int(const struct snapshot_rows *rows, size_t row, size_t column);
const char *tsi_rows_text(const struct snapshot_rows *rows, size_t row, size_t column);

#endif
