/* SPDX-License-Identifier: MIT */
#include "diff/site_match.h"

#include <stdlib.h>
#include <string.h>

#include "base/sum.h"

static uint64_t size_of(int64_t change)
{
	return change < 0 ? 0 - (uint64_t)change : (uint64_t)change;
}

static int compare_places(const struct site_pair *a, const struct site_pair *b)
{
	int order = strcmp(a->text, b->text);
	return order ? order : (a->device > b->device) - (a->device < b->device);
}

static int by_place(const void *left, const void *right)
{
	return compare_places(left, right);
}

static int by_change(const void *left, const void *right)
{
	const struct site_pair *a = left, *b = right;
	uint64_t a_size = size_of(a->change.end_bytes), b_size = size_of(b->change.end_bytes);

	if (a_size == b_size) {
		a_size = size_of(a->change.peak_bytes);
		b_size = size_of(b->change.peak_bytes);
	}
	TSI_DESCENDING(a_size, b_size);
	return compare_places(a, b);
}

static void add_amounts(struct site_amounts *sum, const struct site_amounts *part)
{
	tsi_sum_signed(&sum->end_bytes, part->end_bytes);
	tsi_sum_signed(&sum->end_count, part->end_count);
	tsi_sum_signed(&sum->peak_bytes, part->peak_bytes);
}

static size_t collect_sites(struct site_pair *sites, const struct snapshot_pair *pair)
{
	size_t count = 0;

	for (size_t side = 0; side < TSCOPE_SIDE_COUNT; side++) {
		const struct snapshot_rows *rows = &pair->sites[side];
		for (size_t row = 0; row < rows->view.row_count; row++) {
			struct site_pair *site = &sites[count++];
			site->device = tsi_rows_device(pair, rows, row);
			site->text = tsi_rows_text(rows, row, READ_SITE);
			site->is_there[side] = true;
			site->of[side] = (struct site_amounts){
				.end_bytes = tsi_rows_int(rows, row, READ_END_BYTES),
				.end_count = tsi_rows_int(rows, row, READ_END_COUNT),
				.peak_bytes = tsi_rows_int(rows, row, READ_PEAK_BYTES),
			};
		}
	}
	return count;
}

/* Makes one of those that have one place; how many there are then. */
static size_t join_sites(struct site_pair *sites, size_t count)
{
	size_t kept = 0;

	qsort(sites, count, sizeof(*sites), by_place);
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || compare_places(&sites[kept - 1], &sites[i]) != 0) {
			sites[kept++] = sites[i];
			continue;
		}
		for (size_t side = 0; side < TSCOPE_SIDE_COUNT; side++) {
			sites[kept - 1].is_there[side] |= sites[i].is_there[side];
			add_amounts(&sites[kept - 1].of[side], &sites[i].of[side]);
		}
	}
	for (size_t i = 0; i < kept; i++) {
		const struct site_amounts *a = &sites[i].of[TSCOPE_SIDE_A];
		const struct site_amounts *b = &sites[i].of[TSCOPE_SIDE_B];
		sites[i].change = (struct site_amounts){
			.end_bytes = tsi_difference(a->end_bytes, b->end_bytes),
			.end_count = tsi_difference(a->end_count, b->end_count),
			.peak_bytes = tsi_difference(a->peak_bytes, b->peak_bytes),
		};
	}
	return kept;
}

struct site_pairs tsi_match_sites(const struct snapshot_pair *pair, struct arena *arena)
{
	size_t row_count = pair->sites[TSCOPE_SIDE_A].view.row_count +
			   pair->sites[TSCOPE_SIDE_B].view.row_count;
	struct site_pairs sites = {
		.items = tsi_arena_new(arena, row_count, sizeof(*sites.items)),
	};

	if (!sites.items)
		return sites;
	sites.count = join_sites(sites.items, collect_sites(sites.items, pair));
	qsort(sites.items, sites.count, sizeof(*sites.items), by_change);
	return sites;
}
