/* SPDX-License-Identifier: MIT */
/*
 * Before anything is believed: counts what is odd about the finished model.
 * Nothing is changed; the integrity analyzer and the report say what the
 * counts mean for the figures.
 */
#include "model/trace/build.h"
#include "model/trace/device_rows.h"

static inline void check_launch(struct tscope_trace *trace, uint32_t row, int64_t start_ns)
{
	uint32_t call = tsi_device_event(trace, row)->call;
	if (tsi_launch_row(trace, row) == NO_ROW)
		trace->diagnostics[TSCOPE_DIAGNOSTIC_unlinked_device_event]++;
	else if (call != NO_ROW && start_ns < tsi_start_ns(&trace->spans, call))
		trace->diagnostics[TSCOPE_DIAGNOSTIC_device_before_launch]++;
}

static void check_stream(struct tscope_trace *trace, const struct track *track)
{
	const struct span_times times = tsi_span_times(&trace->spans);
	int64_t busy_until = INT64_MIN;
	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		int64_t start = tsi_start_of(times, row), end = start + tsi_dur_of(times, row);
		check_launch(trace, row, start);
		if (start < busy_until)
			trace->diagnostics[TSCOPE_DIAGNOSTIC_stream_overlap]++;
		if (end > busy_until)
			busy_until = end;
	}
	if (busy_until > trace->info.last_ns)
		trace->info.last_ns = busy_until;
}

/* Calls of their kinds without work. */
static void check_calls(struct tscope_trace *trace)
{
	struct bit_walk calls = tsi_bit_set_walk(&trace->spans.calls);
	for (size_t i = 0; i < trace->call_count; i++) {
		uint32_t kind = tsi_call_kind(trace, tsi_bit_walk_next(&calls));
		if (trace->calls[i].has_work)
			continue;
		if (kind == CALL_LAUNCH)
			trace->diagnostics[TSCOPE_DIAGNOSTIC_launch_without_work]++;
		else if (kind == CALL_GRAPH_LAUNCH)
			trace->diagnostics[TSCOPE_DIAGNOSTIC_empty_graph_launch]++;
	}
}

void tsi_validate(struct builder *b)
{
	struct tscope_trace *trace = b->trace;
	check_calls(trace);
	for (uint32_t i = trace->host_track_count; i < trace->track_count; i++)
		check_stream(trace, &trace->tracks[i]);
}

static bool runs_operators(const struct tscope_trace *trace, const struct track *track)
{
	for (uint32_t row = track->first; row < track->first + track->count; row++)
		if (tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_CPU_OP)
			return true;
	return false;
}

/* PyTorch's profiler records one process: more were merged. */
void tsi_count_processes(struct builder *b)
{
	struct tscope_trace *trace = b->trace;
	bool *is_counted = tsi_arena_new(&b->scratch, trace->names.count,
					 sizeof(*is_counted)); /* by the id of the pid's text */
	uint64_t count = trace->info.merged_rank_count, process_count = 0;

	for (uint32_t i = 0; is_counted && i < trace->host_track_count; i++) {
		uint32_t pid = trace->tracks[i].pid;
		if (is_counted[pid] || !runs_operators(trace, &trace->tracks[i]))
			continue;
		is_counted[pid] = true;
		process_count++;
	}
	if (count == 0)
		count = process_count;
	if (count > 1)
		trace->diagnostics[TSCOPE_DIAGNOSTIC_other_process] = count - 1;
}
