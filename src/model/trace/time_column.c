/* SPDX-License-Identifier: MIT */
/*
 * The rare part of columns of times: bases of blocks, and values that are far from the
 * base of theirs. In real traces hardly a block has such a value; where all have, a row
 * takes 12 bytes and its part of the map, and all goes on.
 */
#include "model/trace/time_column.h"

#include "base/array.h"
#include "base/column.h"

#include <stdlib.h>

#define NO_BASE INT64_MIN /* too far from every value to have it near */

/* Distance of a block's first value: as much room below as above. */
#define FIRST_DISTANCE (INT64_C(1) << 31)

void tsi_time_column_deinit(struct time_column *column)
{
	tsi_column_free(column->distances);
	tsi_column_free(column->bases);
	free(column->far);
	tsi_key_map_deinit(&column->far_of_block);
	*column = (struct time_column){ 0 };
}

bool tsi_time_column_resize(struct time_column *column, struct tscope_spill *spill, size_t rows,
			    size_t old_rows, bool has_bases)
{
	size_t blocks = rows / TIME_BLOCK;

	if (!tsi_column_resize(&column->distances, spill, rows, sizeof(*column->distances)))
		return false;
	if (!has_bases)
		return true;
	if (!tsi_column_resize(&column->bases, spill, blocks, sizeof(*column->bases)))
		return false;
	for (size_t block = old_rows / TIME_BLOCK; block < blocks; block++)
		column->bases[block] = NO_BASE;
	return true;
}

int64_t tsi_time_far(const struct time_column *column, uint32_t row)
{
	uint32_t far = tsi_key_map_find(&column->far_of_block, row / TIME_BLOCK);

	return column->far[far].ns[row % TIME_BLOCK];
}

/* The block's number among those with far values, or UINT32_MAX without memory. */
static uint32_t find_far_block(struct time_column *column, uint32_t block)
{
	uint32_t far = tsi_key_map_find(&column->far_of_block, block);

	if (far != UINT32_MAX)
		return far;
	far = (uint32_t)column->far_count;
	if (tsi_array_reserve(&column->far, &column->far_capacity, column->far_count + 1,
			      sizeof(*column->far), NULL) != TSCOPE_OK ||
	    tsi_key_map_put(&column->far_of_block, block, far, NULL) != TSCOPE_OK)
		return UINT32_MAX;
	column->far_count++;
	return far;
}

void tsi_time_put_far(struct time_column *column, uint32_t row, int64_t ns)
{
	uint32_t block = row / TIME_BLOCK;

	if (column->bases && column->bases[block] == NO_BASE) {
		column->bases[block] = ns - FIRST_DISTANCE;
		column->distances[row] = (uint32_t)FIRST_DISTANCE;
		return;
	}
	uint32_t far = find_far_block(column, block);
	column->has_failed |= far == UINT32_MAX;
	column->distances[row] = far == UINT32_MAX ? 0 : TIME_FAR;
	if (far != UINT32_MAX)
		column->far[far].ns[row % TIME_BLOCK] = ns;
}

void tsi_time_forget_block(struct time_column *column, uint32_t row)
{
	column->bases[row / TIME_BLOCK] = NO_BASE;
}

/* Do the values of a block lie near to each other? Then *base is near to all. */
static bool find_base(const struct far_times *times, uint32_t count, int64_t *base)
{
	int64_t least = INT64_MAX, most = INT64_MIN;

	for (uint32_t i = 0; i < count; i++) {
		least = times->ns[i] < least ? times->ns[i] : least;
		most = times->ns[i] > most ? times->ns[i] : most;
	}
	*base = least;
	return (uint64_t)most - (uint64_t)least < TIME_FAR;
}

/* True: the block has no far value any more. */
static bool settle_block(struct time_column *column, uint32_t first, uint32_t count)
{
	struct far_times times;
	int64_t base;

	for (uint32_t i = 0; i < count; i++)
		times.ns[i] = tsi_time_at(column, first + i);
	if (!find_base(&times, count, &base))
		return false;
	column->bases[first / TIME_BLOCK] = base;
	for (uint32_t i = 0; i < count; i++)
		column->distances[first + i] = (uint32_t)(times.ns[i] - base);
	return true;
}

void tsi_time_column_settle(struct time_column *column, uint32_t rows)
{
	bool is_far = false;

	for (uint32_t first = 0; column->far_count && first < rows; first += TIME_BLOCK) {
		uint32_t count = rows - first < TIME_BLOCK ? rows - first : TIME_BLOCK;
		if (tsi_key_map_find(&column->far_of_block, first / TIME_BLOCK) != UINT32_MAX)
			is_far |= !settle_block(column, first, count);
	}
	if (is_far)
		return;
	free(column->far);
	tsi_key_map_deinit(&column->far_of_block);
	column->far = NULL;
	column->far_count = column->far_capacity = 0;
}

void tsi_length_shorten(struct time_column *column, uint32_t row, int64_t ns)
{
	uint64_t distance = (uint64_t)ns - (uint64_t)LENGTH_BASE;

	if (distance < TIME_FAR)
		column->distances[row] = (uint32_t)distance;
	else /* then the one there stands in `far`, too */
		column->far[tsi_key_map_find(&column->far_of_block, row / TIME_BLOCK)]
			.ns[row % TIME_BLOCK] = ns;
}
