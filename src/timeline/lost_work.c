/* SPDX-License-Identifier: MIT */
/*
 * Kernels that were launched and are not in the trace, though others are. CUPTI may stamp the first
 * records of a session with times of another clock, and PyTorch's profiler drops them; a buffer
 * that is full loses some, too. Launches into a graph that is captured have none.
 */
#include "base/sort.h"
#include "timeline/build.h"

/* One launch in so many may lack its kernel in a step that counts (5 %). */
enum { HARMLESS_PART = 20 };

/* All calls by start; the count of them. */
static size_t sort_calls(const struct tscope_trace *trace, struct arena *arena,
			 struct sort_pair **ret)
{
	struct bit_walk rows = tsi_bit_set_walk(&trace->spans.calls);
	struct sort_pair *calls = tsi_arena_new(arena, 2 * trace->call_count, sizeof(*calls));

	*ret = calls;
	for (size_t i = 0; calls && i < trace->call_count; i++) {
		uint32_t row = tsi_bit_walk_next(&rows);
		calls[i] =
			(struct sort_pair){ tsi_sort_key_of_int64(tsi_start_ns(&trace->spans, row)),
					    row };
	}
	if (!calls)
		return 0;
	tsi_sort_pairs(calls, calls + trace->call_count, trace->call_count);
	return trace->call_count;
}

/* While calls are looked at in the order of time. */
struct search {
	struct tscope_timeline *timeline;
	uint32_t *launch_counts, *lost_counts; /* by step */
	uint32_t step;                         /* of the last launch */
	uint32_t capture_count;                /* that are open */
	int64_t lost_ns;                       /* since then some work is lost; NO_NUMBER: none */
};

static void count_launch(struct search *s, int64_t start_ns, bool is_lost)
{
	uint32_t step = tsi_timeline_step_near(s->timeline, start_ns, &s->step);

	if (step == NO_ROW)
		return;
	s->launch_counts[step]++;
	s->lost_counts[step] += is_lost;
}

static void end_stretch(struct search *s, int64_t end_ns)
{
	if (s->lost_ns == NO_NUMBER)
		return;
	tsi_intervals_append(&s->timeline->lost_work, s->lost_ns, end_ns, &s->timeline->arena);
	s->lost_ns = NO_NUMBER;
}

/* Lost work may run until the host has waited for the device, or launches work that is there. */
static void take_call(struct search *s, uint32_t row)
{
	const struct tscope_trace *trace = s->timeline->trace;
	int64_t start_ns = tsi_start_ns(&trace->spans, row);
	uint8_t kind = tsi_call_kind(trace, row);
	bool has_work = tsi_call(trace, row)->has_work;

	if (kind == CALL_CAPTURE_BEGIN)
		s->capture_count++;
	else if (kind == CALL_CAPTURE_END && s->capture_count)
		s->capture_count--;
	if (has_work)
		end_stretch(s, start_ns);
	else if (kind == CALL_SYNC)
		end_stretch(s, tsi_span_end(trace, row));
	if (kind != CALL_LAUNCH || s->capture_count)
		return;
	count_launch(s, start_ns, !has_work);
	if (!has_work && s->lost_ns == NO_NUMBER)
		s->lost_ns = start_ns;
}

const bool *tsi_find_lost_work(struct tscope_timeline *timeline)
{
	const struct tscope_trace *trace = timeline->trace;
	struct arena *scratch = &timeline->scratch;
	struct search s = { .timeline = timeline, .lost_ns = NO_NUMBER };
	size_t step_count = timeline->step_count;
	bool *is_lacking = tsi_arena_new(scratch, step_count, sizeof(*is_lacking));
	struct sort_pair *calls;

	if (!is_lacking || !trace->device_event_count ||
	    !trace->diagnostics[TSCOPE_DIAGNOSTIC_launch_without_work])
		return is_lacking;
	s.launch_counts = tsi_arena_new(scratch, step_count, sizeof(*s.launch_counts));
	s.lost_counts = tsi_arena_new(scratch, step_count, sizeof(*s.lost_counts));
	if (!s.launch_counts || !s.lost_counts)
		return NULL;
	size_t count = sort_calls(trace, scratch, &calls);
	for (size_t i = 0; i < count; i++)
		take_call(&s, (uint32_t)calls[i].value);
	end_stretch(&s, INT64_MAX);
	for (size_t i = 0; i < step_count; i++)
		is_lacking[i] = s.lost_counts[i] > s.launch_counts[i] / HARMLESS_PART;
	return is_lacking;
}
