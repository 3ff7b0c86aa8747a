/* SPDX-License-Identifier: MIT */
/* Facts from the entries of a snapshot: curves, the peak, churn. */
#include "analyze/memory/snapshot_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/key_map.h"
#include "base/sum.h"

const char tsi_snapshot_no_entries[] = "no entries were recorded (torch.cuda.memory."
				       "_record_memory_history): only the end is known";
const char tsi_snapshot_missing_entries[] =
	"entries are missing within the window: more was freed than was there, or a block that "
	"was live was allocated again";
static const char no_stacks[] =
	"at most: without stacks an empty_cache() before an allocation looks the same";
static const char equal_stacks[] =
	"at most: JSON cannot distinguish equal stacks from a shared one";

enum { NS_PER_US = 1000 };

struct tscope_value tsi_snapshot_ns(int64_t time_us)
{
	int64_t time_ns;

	if (time_us == NO_TIME_US || tsi_ckd_mul(&time_ns, time_us, (int64_t)NS_PER_US))
		return (struct tscope_value){ 0 };
	return tsi_int(time_ns);
}

static void put_ns(struct fact_sheet *out, enum snapshot_fact fact, int64_t time_us)
{
	struct tscope_value value = tsi_snapshot_ns(time_us);

	if (value.kind == TSCOPE_VALUE_INT)
		tsi_fact_int(out, fact, value.integer);
}

/* ---- facts ------------------------------------------------------------------------------- */

static void put_window(const struct snapshot_view *view, struct fact_sheet *out)
{
	int64_t first_us = INT64_MAX, last_us = INT64_MIN, window_us;

	for (uint32_t i = 0; i < view->snapshot->device_count; i++) {
		const struct snapshot_replay *replay = &view->replays[i];
		if (!replay->has_times)
			continue;
		first_us = replay->first_time_us < first_us ? replay->first_time_us : first_us;
		last_us = replay->last_time_us > last_us ? replay->last_time_us : last_us;
	}
	if (first_us > last_us || tsi_ckd_sub(&window_us, last_us, first_us))
		return;
	put_ns(out, SNAPSHOT_WINDOW_NS, window_us);
}

bool tsi_snapshot_is_incomplete(const struct snapshot_replay *replay)
{
	if (replay->overlap_count)
		return true;
	for (size_t i = 0; i < CURVE_COUNT; i++)
		if (replay->curves[i].lowest_bytes < 0)
			return true;
	return false;
}

static void doubt_peak(const struct snapshot_view *view, struct fact_sheet *out)
{
	static const enum snapshot_fact facts[] = {
		SNAPSHOT_PEAK_ALLOCATED_BYTES, SNAPSHOT_PEAK_DEVICE,
		SNAPSHOT_PEAK_INDEX,           SNAPSHOT_PEAK_TIME_NS,
		SNAPSHOT_PEAK_RESERVED_BYTES,  SNAPSHOT_LIVE_AT_PEAK_COUNT,
	};
	const char *reason = NULL;

	/* An incomplete device may have had the higher peak. */
	for (uint32_t i = 0; i < view->snapshot->device_count; i++)
		if (tsi_snapshot_is_incomplete(&view->replays[i]))
			reason = tsi_snapshot_missing_entries;
	if (view->snapshot->devices[view->peak_device].entry_count == 0)
		reason = tsi_snapshot_no_entries;
	for (size_t i = 0; reason && i < TSI_COUNT_OF(facts); i++)
		tsi_fact_doubt(out, facts[i], reason);
}

static void put_peak(const struct snapshot_view *view, struct fact_sheet *out)
{
	const struct snapshot_replay *replay = &view->replays[view->peak_device];
	const struct snapshot_device *device = &view->snapshot->devices[view->peak_device];
	const struct snapshot_curve *active = &replay->curves[CURVE_ACTIVE];
	int64_t live_count = 0;

	for (size_t i = 0; i < replay->life_count; i++)
		live_count += tsi_is_live(&replay->lives[i], active->peak_index);
	tsi_fact_int(out, SNAPSHOT_PEAK_ALLOCATED_BYTES, active->peak_bytes);
	tsi_fact_int(out, SNAPSHOT_PEAK_DEVICE, device->ordinal);
	tsi_fact_int(out, SNAPSHOT_PEAK_RESERVED_BYTES, replay->curves[CURVE_RESERVED].peak_bytes);
	tsi_fact_int(out, SNAPSHOT_LIVE_AT_PEAK_COUNT, live_count);
	tsi_fact_int(out, SNAPSHOT_PEAK_INDEX, active->peak_index);
	put_ns(out, SNAPSHOT_PEAK_TIME_NS, active->peak_time_us);
	doubt_peak(view, out);
}

/* Counts of a kind of action, and where its sum goes. */
static const struct {
	enum snapshot_fact count, bytes; /* bytes: or SNAPSHOT_FACT_COUNT */
	enum snapshot_action actions[2];
} churn[] = {
	{ SNAPSHOT_ALLOC_COUNT, SNAPSHOT_FACT_COUNT, { ACTION_ALLOC, ACTION_COUNT } },
	{ SNAPSHOT_SEGMENT_ALLOC_COUNT,
	  SNAPSHOT_SEGMENT_ALLOC_BYTES,
	  { ACTION_SEGMENT_ALLOC, ACTION_SEGMENT_MAP } },
	{ SNAPSHOT_SEGMENT_FREE_COUNT,
	  SNAPSHOT_SEGMENT_FREE_BYTES,
	  { ACTION_SEGMENT_FREE, ACTION_SEGMENT_UNMAP } },
};

static void put_churn(const struct snapshot_view *view, struct fact_sheet *out, size_t row)
{
	int64_t count = 0, bytes = 0;

	for (uint32_t i = 0; i < view->snapshot->device_count; i++) {
		for (size_t j = 0; j < TSI_COUNT_OF(churn[row].actions); j++) {
			enum snapshot_action action = churn[row].actions[j];
			if (action == ACTION_COUNT)
				continue;
			count += (int64_t)view->replays[i].action_count[action];
			tsi_sum(&bytes, view->replays[i].action_bytes[action]);
		}
	}
	tsi_fact_int(out, churn[row].count, count);
	if (churn[row].bytes != SNAPSHOT_FACT_COUNT)
		tsi_fact_int(out, churn[row].bytes, bytes);
}

static void put_retries(const struct snapshot_view *view, struct fact_sheet *out)
{
	const char *form = view->scope->memory->info.form, *doubt = NULL;
	int64_t count = 0, flush_count = 0;

	for (uint32_t i = 0; i < view->snapshot->device_count; i++) {
		const struct snapshot_replay *replay = &view->replays[i];
		count += (int64_t)replay->retry_count;
		flush_count += (int64_t)replay->flush_count;
		if (replay->retry_count && !replay->has_stacks)
			doubt = no_stacks;
	}
	if (count && !doubt && form && strcmp(form, "json") == 0)
		doubt = equal_stacks;
	if (doubt)
		tsi_fact_doubt(out, SNAPSHOT_RETRY_COUNT, doubt);
	tsi_fact_int(out, SNAPSHOT_RETRY_COUNT, count);
	tsi_fact_int(out, SNAPSHOT_FLUSH_COUNT, flush_count);
}

static void put_never_freed(const struct snapshot_view *view, struct fact_sheet *out)
{
	int64_t count = 0, bytes = 0;

	for (uint32_t i = 0; i < view->snapshot->device_count; i++) {
		const struct snapshot_replay *replay = &view->replays[i];
		/* A missing entry may have freed what seems never freed. */
		if (tsi_snapshot_is_incomplete(replay)) {
			tsi_fact_doubt(out, SNAPSHOT_NEVER_FREED_COUNT,
				       tsi_snapshot_missing_entries);
			tsi_fact_doubt(out, SNAPSHOT_NEVER_FREED_BYTES,
				       tsi_snapshot_missing_entries);
		}
		for (size_t j = 0; j < replay->life_count; j++) {
			if (!tsi_is_never_freed(&replay->lives[j]))
				continue;
			count++;
			tsi_sum(&bytes, replay->lives[j].requested_bytes);
		}
	}
	tsi_fact_int(out, SNAPSHOT_NEVER_FREED_COUNT, count);
	tsi_fact_int(out, SNAPSHOT_NEVER_FREED_BYTES, bytes);
}

/* Facts that are made of entries are absent where there are none. */
static void doubt_absent(struct fact_sheet *out)
{
	static const enum snapshot_fact facts[] = {
		SNAPSHOT_WINDOW_NS,           SNAPSHOT_NEVER_FREED_BYTES,
		SNAPSHOT_NEVER_FREED_COUNT,   SNAPSHOT_ALLOC_COUNT,
		SNAPSHOT_SEGMENT_ALLOC_COUNT, SNAPSHOT_SEGMENT_ALLOC_BYTES,
		SNAPSHOT_SEGMENT_FREE_COUNT,  SNAPSHOT_SEGMENT_FREE_BYTES,
		SNAPSHOT_RETRY_COUNT,         SNAPSHOT_FLUSH_COUNT,
	};

	for (size_t i = 0; i < TSI_COUNT_OF(facts); i++)
		tsi_fact_doubt(out, facts[i], tsi_snapshot_no_entries);
}

static void put_facts(const struct snapshot_view *view, struct fact_sheet *out)
{
	put_peak(view, out);
	if (view->snapshot->entry_count == 0) {
		doubt_absent(out);
		return;
	}
	put_window(view, out);
	put_never_freed(view, out);
	put_retries(view, out);
	for (size_t i = 0; i < TSI_COUNT_OF(churn); i++)
		put_churn(view, out, i);
}

/* ---- tables ------------------------------------------------------------------------------- */

/* Entries of one name. */
struct named_count {
	const char *name;
	int64_t count, bytes;
};

struct named_counts {
	struct arena *arena;
	struct named_count *rows;
	size_t count, capacity;
	struct key_map row_of; /* word of the name; of names that torch has not, or not yet */
};

static struct named_count *add_name(struct named_counts *names, const char *name)
{
	struct named_count *row = tsi_arena_push(names->arena, &names->rows, &names->count,
						 &names->capacity, sizeof(*row));

	if (row)
		row->name = name;
	return row;
}

static void count_other(struct named_counts *names, const struct plain *plain,
			const struct snapshot_entry *entry)
{
	uint32_t at = tsi_key_map_find(&names->row_of, entry->action_name.word);

	if (at == UINT32_MAX) {
		at = (uint32_t)names->count;
		if (!add_name(names, tsi_plain_text(plain, entry->action_name).data))
			return;
		if (tsi_key_map_put(&names->row_of, entry->action_name.word, at, NULL) != TSCOPE_OK)
			names->arena->has_failed = true;
	}
	names->rows[at].count++;
	tsi_sum(&names->rows[at].bytes, entry->size_bytes);
}

static void count_others(struct named_counts *names, const struct snapshot *snapshot,
			 uint32_t device)
{
	struct entry_cursor cursor = { .snapshot = snapshot, .device = device };
	const struct snapshot_entry *entry;

	while (!names->arena->has_failed && (entry = tsi_next_entry(&cursor)))
		if (entry->action == ACTION_OTHER && entry->action_name.word)
			count_other(names, snapshot->plain, entry);
}

static int by_name(const void *left, const void *right)
{
	const struct named_count *a = left, *b = right;

	return strcmp(a->name, b->name);
}

/* In the order of names. */
static void count_names(struct named_counts *names, const struct snapshot_view *view,
			uint32_t device)
{
	const struct snapshot_replay *replay = &view->replays[device];
	const struct snapshot *snapshot = view->snapshot;

	for (size_t i = 0; i < ACTION_OTHER; i++) {
		if (!replay->action_count[i])
			continue;
		struct named_count *row =
			add_name(names, tsi_plain_text(snapshot->plain, snapshot->actions[i]).data);
		if (!row)
			return;
		row->count = (int64_t)replay->action_count[i];
		row->bytes = replay->action_bytes[i];
	}
	if (replay->action_count[ACTION_OTHER])
		count_others(names, snapshot, device);
	if (names->count)
		qsort(names->rows, names->count, sizeof(*names->rows), by_name);
}

static void put_actions(const struct snapshot_view *view, struct fact_sheet *out, uint32_t device)
{
	struct named_counts names = { .arena = tsi_sheet_scratch(out) };

	count_names(&names, view, device);
	for (size_t i = 0; i < names.count; i++) {
		struct tscope_value *cells = tsi_table_row(out, SNAPSHOT_ACTIONS);

		cells[ACTIONS_DEVICE] = tsi_int(view->snapshot->devices[device].ordinal);
		cells[ACTIONS_ACTION] = tsi_text(names.rows[i].name);
		cells[ACTIONS_NUMBER] = tsi_int(names.rows[i].count);
		cells[ACTIONS_BYTES] = tsi_int(names.rows[i].bytes);
	}
	tsi_key_map_deinit(&names.row_of);
}

static void put_curves(const struct snapshot_view *view, struct fact_sheet *out, uint32_t device)
{
	static const char *const names[CURVE_COUNT] = {
		[CURVE_ACTIVE] = "active",
		[CURVE_ALLOCATED] = "allocated",
		[CURVE_RESERVED] = "reserved",
	};

	for (size_t i = 0; i < CURVE_COUNT; i++) {
		const struct snapshot_curve *curve = &view->replays[device].curves[i];
		struct tscope_value *cells = tsi_table_row(out, SNAPSHOT_CURVES);

		cells[CURVES_DEVICE] = tsi_int(view->snapshot->devices[device].ordinal);
		cells[CURVES_CURVE] = tsi_text(names[i]);
		cells[CURVES_START_BYTES] = tsi_int(curve->start_bytes);
		cells[CURVES_END_BYTES] = tsi_int(curve->end_bytes);
		cells[CURVES_PEAK_BYTES] = tsi_int(curve->peak_bytes);
		cells[CURVES_PEAK_INDEX] = tsi_int(curve->peak_index);
		cells[CURVES_PEAK_TIME_NS] = tsi_snapshot_ns(curve->peak_time_us);
	}
}

static void put_timeline(const struct snapshot_view *view, struct fact_sheet *out, uint32_t device)
{
	for (size_t i = 0; i < view->replays[device].tick_count; i++) {
		const struct snapshot_tick *tick = &view->replays[device].ticks[i];
		struct tscope_value *cells = tsi_table_row(out, SNAPSHOT_TIMELINE);

		cells[TIMELINE_DEVICE] = tsi_int(view->snapshot->devices[device].ordinal);
		cells[TIMELINE_INDEX] = tsi_int(tick->index);
		cells[TIMELINE_TIME_NS] = tsi_snapshot_ns(tick->time_us);
		cells[TIMELINE_ACTIVE_BYTES] = tsi_int(tick->bytes[CURVE_ACTIVE]);
		cells[TIMELINE_ALLOCATED_BYTES] = tsi_int(tick->bytes[CURVE_ALLOCATED]);
		cells[TIMELINE_RESERVED_BYTES] = tsi_int(tick->bytes[CURVE_RESERVED]);
	}
}

void tsi_snapshot_put_history(const struct snapshot_view *view, struct fact_sheet *out)
{
	for (uint32_t i = 0; i < view->snapshot->device_count; i++) {
		put_actions(view, out, i);
		put_curves(view, out, i);
		put_timeline(view, out, i);
	}
	put_facts(view, out);
}
