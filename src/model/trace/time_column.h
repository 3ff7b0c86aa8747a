/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_TIME_COLUMN_H
#define TSCOPE_MODEL_TRACE_TIME_COLUMN_H

#include "base/attributes.h"
#include "base/key_map.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A column of times or durations in nanoseconds that takes 4 bytes for each: rows that
 * stand side by side start within a few seconds of each other, and hardly any lasts longer.
 * TIME_BLOCK rows share a base, from which each has its distance; what is too far away for
 * that stands elsewhere, in whole, with its block. Durations all have the base -1, so that
 * they need none. Values: TIME_LIMIT_NS at most, either way. A zeroed struct is empty.
 */
enum { TIME_BLOCK = 64 };

#define TIME_FAR UINT32_MAX     /* the distance of a value that stands in `far` */
#define LENGTH_BASE INT64_C(-1) /* of durations: one that is not known yet is -1 */

struct tscope_spill;

struct far_times {
	int64_t ns[TIME_BLOCK];
};

struct time_column {
	uint32_t *distances;
	int64_t *bases; /* by block; NULL in a column of durations */
	struct far_times *far;
	size_t far_count, far_capacity;
	struct key_map far_of_block;
	bool has_failed; /* there was no memory for a far value: what it stands for is lost */
};

void tsi_time_column_deinit(struct time_column *column);

/*
 * Room for so many rows, a multiple of TIME_BLOCK, in the file or the heap (base/column.h); those
 * there were keep their values. False: there is no memory.
 */
TSI_MUST_CHECK
bool tsi_time_column_resize(struct time_column *column, struct tscope_spill *spill, size_t rows,
			    size_t old_rows, bool has_bases);

/* All values of the row's block are gone: those to come may be far from them. */
void tsi_time_forget_block(struct time_column *column, uint32_t row);

/*
 * Gives blocks new bases where that brings all of their values near, once their rows have found
 * their places; column has bases, and a value for each of the rows. O(rows that are far).
 */
void tsi_time_column_settle(struct time_column *column, uint32_t rows);

/* Slow paths of the inline functions below: values with distance TIME_FAR. */
int64_t tsi_time_far(const struct time_column *column, uint32_t row);
void tsi_time_put_far(struct time_column *column, uint32_t row, int64_t ns);

static inline int64_t tsi_time_at(const struct time_column *column, uint32_t row)
{
	uint32_t distance = column->distances[row];

	if (tsi_unlikely(distance == TIME_FAR))
		return tsi_time_far(column, row);
	return column->bases[row / TIME_BLOCK] + distance;
}

/* For sorted values: the first row from `row` on, up to `end`, whose value is at least ns. */
static inline uint32_t tsi_time_seek(const struct time_column *column, uint32_t row, uint32_t end,
				     int64_t ns)
{
	while (row < end && tsi_time_at(column, row) < ns) {
		uint64_t limit = (uint64_t)ns - (uint64_t)column->bases[row / TIME_BLOCK];
		uint32_t block_end = row - row % TIME_BLOCK + TIME_BLOCK;
		if (block_end > end)
			block_end = end;
		row++;
		if (limit >= TIME_FAR)
			continue;
		const uint32_t *at = column->distances + row, *stop = column->distances + block_end;
		while (at < stop && *at < (uint32_t)limit)
			at++;
		row = (uint32_t)(at - column->distances);
	}
	return row;
}

static inline int64_t tsi_length_at(const struct time_column *column, uint32_t row)
{
	uint32_t distance = column->distances[row];

	if (tsi_unlikely(distance == TIME_FAR))
		return tsi_time_far(column, row);
	return LENGTH_BASE + distance;
}

/*
 * The functions that put a value set has_failed where there is no memory for it. A block without a
 * base yet has one that nothing is near to: the first value sets it.
 */
static inline void tsi_time_put(struct time_column *column, uint32_t row, int64_t ns)
{
	uint64_t distance = (uint64_t)ns - (uint64_t)column->bases[row / TIME_BLOCK];

	if (tsi_unlikely(distance >= TIME_FAR))
		tsi_time_put_far(column, row, ns);
	else
		column->distances[row] = (uint32_t)distance;
}

static inline void tsi_length_put(struct time_column *column, uint32_t row, int64_t ns)
{
	uint64_t distance = (uint64_t)ns - (uint64_t)LENGTH_BASE;

	if (tsi_unlikely(distance >= TIME_FAR))
		tsi_time_put_far(column, row, ns);
	else
		column->distances[row] = (uint32_t)distance;
}

/* Durations all have one base: what is near to it here is so there. */
static inline void tsi_length_copy(struct time_column *to, uint32_t place,
				   const struct time_column *from, uint32_t row)
{
	uint32_t distance = from->distances[row];

	if (tsi_unlikely(distance == TIME_FAR))
		tsi_time_put_far(to, place, tsi_time_far(from, row));
	else
		to->distances[place] = distance;
}

/* Puts a duration that is 0 or more and no longer than the one there: that needs no room. */
void tsi_length_shorten(struct time_column *column, uint32_t row, int64_t ns);

#endif
