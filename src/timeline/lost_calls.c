/* SPDX-License-Identifier: MIT */
/*
 * Where a damaged trace lost calls of the runtime. PyTorch writes all operators first, then calls
 * and kernels buffer by buffer, in no order of time: of a file that is cut whole stretches have
 * operators and nothing that they launched. Nobody can say what the device did there.
 */
#include "base/sort.h"
#include "model/trace/device_rows.h"
#include "timeline/host_state.h"

enum {
	STRETCH_NS = 1000000, /* operators do not go on for longer without a call */
	LEAST_OPS = 16,       /* that should have launched something meanwhile */
	LAUNCHING_PART = 16,  /* one in so many calls of an operator that launches was kept */
};

/* By kind of span: operators that launch. NULL without memory. */
static bool *find_launching(const struct host_state *state)
{
	const struct tscope_trace *trace = state->marks->trace;
	const struct spans *spans = &trace->spans;
	uint32_t *launch_counts =
		tsi_arena_new(state->arena, spans->kind_count, sizeof(*launch_counts));
	uint32_t *counts = tsi_arena_new(state->arena, spans->kind_count, sizeof(*counts));
	bool *launching = tsi_arena_new(state->arena, spans->kind_count, sizeof(*launching));
	uint32_t last_op = NO_ROW;

	if (!launch_counts || !counts || !launching)
		return NULL;
	for (uint32_t i = 0; i < trace->call_count; i++) {
		uint32_t op = trace->calls[i].has_work ? trace->calls[i].op : NO_ROW;
		if (op != NO_ROW && op != last_op)
			launch_counts[spans->kind[op]]++;
		last_op = op;
	}
	for (uint32_t row = 0; row < tsi_first_device_row(trace); row++)
		counts[spans->kind[row]]++;
	for (uint32_t i = 0; i < spans->kind_count; i++)
		launching[i] = launch_counts[i] && launch_counts[i] >= counts[i] / LAUNCHING_PART;
	return launching;
}

/* The calls of launching threads, by start; the count of them. */
static size_t collect_calls(const struct host_state *state, struct sort_pair **ret)
{
	const struct tscope_trace *trace = state->marks->trace;
	struct sort_pair *calls =
		tsi_arena_new(state->arena, 2 * (size_t)trace->call_count, sizeof(*calls));
	size_t count = 0;

	*ret = calls;
	for (uint32_t t = 0; calls && t < state->thread_count; t++) {
		const struct track *track = &trace->tracks[state->threads[t].track];
		uint32_t end = track->first + track->count;
		for (uint32_t row = tsi_bit_set_next(&trace->spans.calls, track->first); row < end;
		     row = tsi_bit_set_next(&trace->spans.calls, row + 1))
			calls[count++] = (struct sort_pair){
				tsi_sort_key_of_int64(tsi_start_ns(&trace->spans, row)), row
			};
	}
	tsi_sort_pairs(calls, calls + count, count);
	return count;
}

/* All stretches without a call, from before the first to behind the last. */
static struct asides find_stretches(const struct host_state *state)
{
	const struct tscope_trace *trace = state->marks->trace;
	struct asides stretches = { 0 };
	struct sort_pair *calls;
	size_t count = collect_calls(state, &calls);
	int64_t end_ns = INT64_MIN;

	stretches.items = tsi_arena_new(state->arena, count + 1, sizeof(*stretches.items));
	if (!calls || !stretches.items)
		return stretches;
	for (size_t i = 0; i <= count; i++) {
		uint32_t row = i < count ? (uint32_t)calls[i].value : NO_ROW;
		int64_t next_ns = row == NO_ROW ? INT64_MAX : tsi_start_ns(&trace->spans, row);
		if (end_ns == INT64_MIN || next_ns - STRETCH_NS >= end_ns)
			stretches.items[stretches.count++] =
				(struct aside){ end_ns, next_ns, NO_ROW, IDLE_UNRECORDED };
		if (row != NO_ROW && tsi_span_end(trace, row) > end_ns)
			end_ns = tsi_span_end(trace, row);
	}
	return stretches;
}

static void count_ops(const struct host_state *state, const struct track *track,
		      const bool *launching, const struct asides *stretches, uint32_t *counts)
{
	const struct spans *spans = &state->marks->trace->spans;
	size_t at = 0;

	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		if (!launching[spans->kind[row]])
			continue;
		int64_t start_ns = tsi_start_ns(spans, row);
		while (at < stretches->count && stretches->items[at].end_ns <= start_ns)
			at++;
		if (at < stretches->count && stretches->items[at].start_ns <= start_ns)
			counts[at]++;
	}
}

struct asides tsi_find_lost_calls(const struct host_state *state)
{
	struct asides stretches = find_stretches(state);
	const bool *launching = find_launching(state);
	uint32_t *counts = tsi_arena_new(state->arena, stretches.count, sizeof(*counts));
	size_t kept = 0;

	if (!launching || !counts)
		return (struct asides){ 0 };
	for (uint32_t t = 0; t < state->thread_count; t++)
		count_ops(state, &state->marks->trace->tracks[state->threads[t].track], launching,
			  &stretches, counts);
	for (size_t i = 0; i < stretches.count; i++)
		if (counts[i] >= LEAST_OPS)
			stretches.items[kept++] = stretches.items[i];
	stretches.count = kept;
	return stretches;
}
