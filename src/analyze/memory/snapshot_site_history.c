/* SPDX-License-Identifier: MIT */
/* Bytes that the largest sites of a snapshot held at each time; stacked, they are its memory. */
#include "analyze/memory/snapshot_parts.h"

#include "base/sum.h"

enum {
	MAX_SITES = 8, /* the last of them is all others */
	MAX_MOMENTS = 48,
};

/* Entries after which it is looked what lives, in order. */
struct moments {
	int64_t index[MAX_MOMENTS + 1];
	size_t count;
};

/* Ends of stretches of the timeline; within the peak's stretch the peak itself. */
static struct moments find_moments(const struct snapshot_replay *replay)
{
	int64_t peak_index = replay->curves[CURVE_ACTIVE].peak_index;
	size_t every = (replay->tick_count + MAX_MOMENTS - 1) / MAX_MOMENTS;
	struct moments moments = { .count = 0 };
	int64_t last = -1;

	for (size_t i = 0; i < replay->tick_count; i += every) {
		size_t end = i + every < replay->tick_count ? i + every : replay->tick_count;
		int64_t index = replay->ticks[end - 1].index;

		moments.index[moments.count++] =
			peak_index > last && peak_index <= index ? peak_index : index;
		last = index;
	}
	return moments;
}

/* The first moment at or after an entry. */
static size_t moment_of(const struct moments *moments, int64_t index)
{
	size_t i = 0;

	while (i < moments->count && moments->index[i] < index)
		i++;
	return i;
}

/* Lives are counted where they begin and, negatively, where they end; sums over time follow. */
static void add_life(tsi_wide changes[MAX_MOMENTS + 1], const struct moments *moments,
		     const struct snapshot_life *life)
{
	changes[moment_of(moments, life->born)] += life->requested_bytes;
	changes[moment_of(moments, life->died)] -= life->requested_bytes;
}

static void put_site(const struct snapshot_view *view, struct fact_sheet *out, uint32_t device,
		     const struct moments *moments, const tsi_wide *changes, struct str site)
{
	const char *text = tsi_sheet_copy(out, site);
	tsi_wide bytes = 0;

	for (size_t i = 0; i < moments->count; i++) {
		struct tscope_value *cells = tsi_table_row(out, SNAPSHOT_SITE_TIMELINE);

		bytes += changes[i];
		cells[SITE_TIMELINE_DEVICE] = tsi_int(view->snapshot->devices[device].ordinal);
		cells[SITE_TIMELINE_SITE] = tsi_text(text);
		cells[SITE_TIMELINE_INDEX] = tsi_int(moments->index[i]);
		cells[SITE_TIMELINE_BYTES] = tsi_int(tsi_narrow(bytes));
	}
}

void tsi_snapshot_put_site_history(const struct snapshot_view *view, struct fact_sheet *out,
				   uint32_t device, const uint32_t *sites, size_t count)
{
	const struct snapshot_replay *replay = &view->replays[device];
	struct moments moments = find_moments(replay);
	size_t named = count > MAX_SITES ? MAX_SITES - 1 : count;
	tsi_wide changes[MAX_SITES][MAX_MOMENTS + 1] = { 0 };

	if (moments.count < 2)
		return;
	for (size_t i = 0; i < replay->life_count; i++) {
		uint32_t site = tsi_stack_site(view->sites, replay->lives[i].stack);
		size_t row = 0;

		while (row < named && sites[row] != site)
			row++;
		add_life(changes[row], &moments, &replay->lives[i]);
	}
	for (size_t i = 0; i < named; i++)
		put_site(view, out, device, &moments, changes[i],
			 tsi_stack_site_text(view->sites, sites[i]));
	if (count > named)
		put_site(view, out, device, &moments, changes[named], TSI_STR("(others)"));
}
