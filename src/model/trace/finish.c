/* SPDX-License-Identifier: MIT */
/*
 * After the last event: runs the stages that need all rows, and says what the
 * trace is as a whole, or why there is none.
 */
#include "model/trace/builder.h"

#include "base/ckd.h"
#include "base/error.h"
#include "base/print_text.h"
#include "model/trace/build.h"

#include <inttypes.h>
#include <stdio.h>

/* Writers that could not time device work say 0: no time at all where the rest is far from it. */
static void drop_untimed_rows(struct builder *b)
{
	static const int64_t far_ns = 1000000000;
	struct spans *spans = &b->trace->spans;
	if (!b->untimed_count || b->untimed_count == spans->count)
		return;
	for (uint32_t row = 0; row < spans->count; row++) {
		bool untimed = tsi_start_ns(spans, row) == 0 && tsi_dur_ns(spans, row) == 0 &&
			       tsi_class_is_device(tsi_span_class(spans, row));
		if (!untimed && tsi_start_ns(spans, row) < far_ns &&
		    tsi_start_ns(spans, row) > -far_ns)
			return;
	}
	for (uint32_t row = 0; row < spans->count; row++)
		if (tsi_start_ns(spans, row) == 0 && tsi_dur_ns(spans, row) == 0) {
			struct span_kind kind = *tsi_span_kind(spans, row);
			kind.track = NO_ROW;
			spans->kind[row] = tsi_find_span_kind(b, &kind);
		}
	b->sink.diagnostics[TSCOPE_DIAGNOSTIC_untimed_device_event] += b->untimed_count;
}

static uint64_t count_phase(const struct tscope_trace *trace, char phase)
{
	uint64_t count = 0;
	for (size_t i = 0; i < trace->category_count; i++)
		if (trace->categories[i].phase == phase)
			count += trace->categories[i].count;
	return count;
}

static uint64_t count_frames(const struct builder *b)
{
	uint64_t count = 0;
	for (size_t i = 0; i < b->trace->category_count; i++)
		if (b->category_rules[i]->span_class == TSCOPE_SPAN_PYTHON)
			count += b->trace->categories[i].count;
	return count;
}

/* Names for the events of a trace without work, by phase. */
static const struct {
	const char *phases, *name;
} other_kinds[] = {
	{ "M", "metadata" },  { "iIR", "instants" },         { "C", "counters" },
	{ "stf", "flows" },   { "bneSTpF", "asynchronous" }, { "P", "samples" },
	{ "NOD", "objects" },
};

/* ": 3 instants, 4 counters" */
static void list_other_kinds(const struct tscope_trace *trace, char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; i < TSI_COUNT_OF(other_kinds); i++) {
		uint64_t count = 0;
		for (const char *phase = other_kinds[i].phases; *phase; phase++)
			count += count_phase(trace, *phase);
		if (!count)
			continue;
		tsi_append_text(text, size, "%s%" PRIu64 " %s", *text ? ", " : ": ", count,
				other_kinds[i].name);
	}
}

/* Nothing is left to analyse: says what there was instead, and what helps. */
static enum tscope_status fail_empty(const struct builder *b, struct tscope_error *err)
{
	uint64_t count = b->sink.element_count;
	uint64_t metadata_count = count_phase(b->trace, 'M');
	uint64_t frame_count = count_frames(b);
	if (b->drops_operators)
		return tsi_fail(err, TSCOPE_E_LIMIT,
				"nothing but operators, which take too much (limit: memory-limit)");
	if (frame_count)
		return tsi_fail(err, TSCOPE_E_EMPTY,
				"%" PRIu64
				" Python frames and no other work: ask for them with --python",
				frame_count);
	if (b->trace->is_kineto)
		return tsi_fail(err, TSCOPE_E_EMPTY,
				"the profiler's schedule never reached its active phase (%" PRIu64
				" events): run more steps than wait and warmup ask for, "
				"or profile without a schedule",
				count);
	if (count && metadata_count == count)
		return tsi_fail(err, TSCOPE_E_EMPTY, "nothing but metadata (%" PRIu64 " event%s)",
				count, count == 1 ? "" : "s");
	char kinds[512] = ""; /* each of the seven has less than 40 characters */
	list_other_kinds(b->trace, kinds, sizeof(kinds));
	return tsi_fail(err, TSCOPE_E_EMPTY, "none of %" PRIu64 " events is timed work%s", count,
			kinds);
}

/* Bytes of the UTF-8 character that begins at text.data[at] (RFC 3629), or 0 where none does. */
static size_t utf8_length(struct str text, size_t at)
{
	const unsigned char *p = (const unsigned char *)text.data + at;
	if (p[0] < 0x80)
		return 1;
	size_t length = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (p[0] < 0xc2 || p[0] > 0xf4 || text.length - at < length)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	bool too_small = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
	bool too_large = p[0] == 0xf4 && p[1] > 0x8f;
	bool surrogate = p[0] == 0xed && p[1] > 0x9f;
	return too_small || too_large || surrogate ? 0 : length;
}

static bool is_utf8(struct str text)
{
	for (size_t at = 0, length; at < text.length; at += length) {
		uint64_t next; /* mostly ASCII */
		for (; text.length - at >= sizeof(next); at += sizeof(next)) {
			memcpy(&next, text.data + at, sizeof(next));
			if (next & UINT64_C(0x8080808080808080))
				break;
		}
		if (at == text.length)
			break;
		length = utf8_length(text, at);
		if (!length)
			return false;
	}
	return true;
}

/* The bytes stay as they are; whoever prints a name makes them readable. */
static void count_invalid_names(struct builder *b)
{
	const struct intern *names = &b->trace->names;
	for (uint32_t id = 0; id < names->count; id++)
		b->sink.diagnostics[TSCOPE_DIAGNOSTIC_invalid_utf8] +=
			!is_utf8(tsi_intern_text(names, id));
}

/* First start, which is that of a track; chosen frames do not count. */
static int64_t find_first(const struct tscope_trace *trace)
{
	int64_t first_ns = INT64_MAX;
	for (uint32_t i = 0; i < trace->track_count; i++) {
		uint32_t row = trace->tracks[i].first, end = row + trace->tracks[i].count;
		while (row < end && tsi_is_chosen_frame(tsi_span_kind(&trace->spans, row)))
			row++;
		int64_t start = row < end ? tsi_start_ns(&trace->spans, row) : INT64_MAX;
		first_ns = start < first_ns ? start : first_ns;
	}
	return first_ns;
}

static void count_far_mark(struct builder *b)
{
	static const int64_t day_ns = INT64_C(86400000000000);
	const struct tscope_trace_info *info = &b->trace->info;
	int64_t mark = b->window_mark_ns;
	int64_t distance;
	if (mark == NO_NUMBER)
		return;
	bool is_far = mark > info->last_ns ? tsi_ckd_sub(&distance, mark, info->last_ns)
					   : tsi_ckd_sub(&distance, info->first_ns, mark);
	b->sink.diagnostics[TSCOPE_DIAGNOSTIC_bogus_mark] += is_far || distance > day_ns;
}

/* "flow", or of several ways "correlation 12, flow 3". */
static void describe_links(struct tscope_trace *trace)
{
	static const char *const names[] = {
		[LINK_CORRELATION] = "correlation",
		[LINK_FLOW] = "flow",
		[LINK_EXTERNAL_ID] = "External id",
	};
	char text[LINK_WAY_COUNT * 40] = "";
	const char *only = "";
	int way_count = 0;
	for (int way = 0; way < LINK_WAY_COUNT; way++) {
		if (!trace->link_counts[way])
			continue;
		only = names[way];
		tsi_join_text(text, sizeof(text), ", ", "%s %" PRIu64, only,
			      trace->link_counts[way]);
		way_count++;
	}
	trace->info.link_basis =
		way_count > 1 ? tsi_arena_copy(&trace->arena, tsi_str_of(text)) : only;
}

static void fill_info(struct builder *b)
{
	struct tscope_trace *trace = b->trace;
	struct tscope_trace_info *info = &trace->info;
	info->first_ns = find_first(trace); /* last_ns is known from walks over all rows */
	count_far_mark(b);
	count_invalid_names(b);
	info->event_count = b->sink.element_count;
	trace->frame_count = count_frames(b);
	if (trace->is_viztracer)
		info->format = "viztracer";
	else if (trace->is_kineto)
		info->format = "kineto";
	tsi_describe_composer(trace);
	describe_links(trace);
	if (info->rank < 0)
		info->rank = b->composer_rank;
	if (b->options.only) /* distributedInfo is that of one of them */
		info->rank = b->options.only->rank;
	for (int kind = 0; kind < TSCOPE_DIAGNOSTIC_COUNT; kind++) {
		trace->diagnostics[kind] += b->sink.diagnostics[kind];
		if (tscope_diagnostic_effect(kind) == TSCOPE_EFFECT_DROPPED)
			info->dropped_count += trace->diagnostics[kind];
	}
	for (uint32_t i = 0; i < trace->device_count && !*info->device_name; i++)
		if (trace->devices[i].properties != NO_ROW)
			info->device_name =
				tsi_intern_text(
					&trace->names,
					trace->device_properties[trace->devices[i].properties].name)
					.data;
}

/* In their order. */
static void (*const stages[])(struct builder *) = {
	tsi_name_tracks,
	tsi_join_composer_clocks,
	tsi_match_begin_end,
	tsi_free_scaffold,
	tsi_drop_ids,
	tsi_assign_roles,
	tsi_group_rows,
	tsi_repair_durations,
	tsi_link_rows,
	tsi_list_devices,
	tsi_sort_allocator_points,
	tsi_sort_counters,
	tsi_check_replays,
	tsi_validate,
	fill_info,
	tsi_count_merged_ranks,
	tsi_count_processes,
};

/* Latches what failed in the memory of the trace and of a stage, which it frees. */
static void end_stage(struct builder *b)
{
	const struct spans *spans = &b->trace->spans;
	if (b->scratch.has_failed || b->trace->arena.has_failed || spans->starts.has_failed ||
	    spans->durations.has_failed)
		tsi_builder_fail_nomem(b);
	tsi_arena_deinit(&b->scratch);
}

enum tscope_status tsi_builder_finish(struct builder *b, struct tscope_trace **ret,
				      struct tscope_error *err)
{
	bool is_cut = b->status == TSCOPE_E_LIMIT;

	if (b->status != TSCOPE_E_NOMEM)
		b->status = TSCOPE_OK; /* a limit was hit: what came before it is a trace */
	b->trace->thread_count = b->options.thread_count;
	if (!is_cut)
		tsi_keep_memory_limit(b);
	drop_untimed_rows(b);
	end_stage(b);
	if (b->status == TSCOPE_OK && b->trace->spans.count == b->trace->chosen_frame_count)
		return fail_empty(b, err);
	for (size_t i = 0; b->status == TSCOPE_OK && i < TSI_COUNT_OF(stages); i++) {
		stages[i](b);
		end_stage(b);
	}
	if (b->status != TSCOPE_OK)
		return tsi_builder_status(b, err);
	*ret = b->trace;
	b->trace = NULL;
	return TSCOPE_OK;
}
