/* SPDX-License-Identifier: MIT */
/*
 * The timeline of a run for the page, rank by rank on one clock: steps, own time by line of the
 * budget, and collectives with their waits, which are the same match on all ranks.
 */
#include "base/sum.h"
#include "report/html_lanes.h"

#include <inttypes.h>

/* The order of lines within a stretch is not known: they stand in that of the budget. */
static void put_own_time(struct lanes *lanes, const struct tscope_run_span *span)
{
	struct slice slice = { .start_ns = span->start_ns, .count = 1, .match = UINT32_MAX };

	for (int line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++) {
		slice.dur_ns = span->line_ns[line];
		slice.tone = (uint8_t)line;
		slice.name = tsi_lane_name(lanes,
					   tscope_budget_line_name((enum tscope_budget_line)line));
		if (slice.dur_ns > 0)
			tsi_lane_add(lanes, &slice);
		tsi_sum(&slice.start_ns, slice.dur_ns);
	}
}

static void put_span(struct lanes *lanes, enum tscope_run_span_kind kind,
		     const struct tscope_run_span *span)
{
	char name[64];

	if (kind == TSCOPE_RUN_OWN_TIME) {
		put_own_time(lanes, span);
		return;
	}
	snprintf(name, sizeof(name), "step %" PRId64, span->number);
	tsi_lane_add(
		lanes,
		&(struct slice){
			.start_ns = span->start_ns,
			.dur_ns = span->dur_ns,
			.wait_ns = span->wait_ns,
			.name = tsi_lane_name(lanes, kind == TSCOPE_RUN_STEP ? name : span->name),
			.count = 1,
			.match = kind == TSCOPE_RUN_STEP || span->number < 0
					 ? UINT32_MAX
					 : (uint32_t)span->number,
			.tone = kind == TSCOPE_RUN_STEP ? SLICE_STEP : TSCOPE_BUDGET_EXPOSED_COMM,
		});
}

static void put_rank(struct lanes *lanes, const struct tscope_run *run, size_t rank)
{
	static const char *const labels[] = { [TSCOPE_RUN_STEP] = "steps",
					      [TSCOPE_RUN_OWN_TIME] = "own time",
					      [TSCOPE_RUN_COLLECTIVE] = "collectives" };
	char group[32];

	snprintf(group, sizeof(group), "rank %" PRId64, tscope_run_rank_number(run, rank));
	for (int kind = TSCOPE_RUN_STEP; kind <= TSCOPE_RUN_COLLECTIVE; kind++) {
		size_t count = tscope_run_span_count(run, rank, (enum tscope_run_span_kind)kind);

		if (count == 0)
			continue;
		tsi_lane_begin(lanes, group, labels[kind]);
		for (size_t i = 0; i < count; i++) {
			struct tscope_run_span span =
				tscope_run_span(run, rank, (enum tscope_run_span_kind)kind, i);

			put_span(lanes, (enum tscope_run_span_kind)kind, &span);
		}
		tsi_lane_end(lanes);
	}
}

static bool count_rank(struct slice_lengths *lengths, const struct tscope_run *run, size_t rank)
{
	size_t collectives = tscope_run_span_count(run, rank, TSCOPE_RUN_COLLECTIVE);
	size_t stretches = tscope_run_span_count(run, rank, TSCOPE_RUN_OWN_TIME);

	for (size_t i = 0; i < collectives; i++) {
		struct tscope_run_span span = tscope_run_span(run, rank, TSCOPE_RUN_COLLECTIVE, i);

		tsi_count_slice(lengths, span.start_ns, span.dur_ns);
	}
	for (size_t i = 0; i < stretches; i++) {
		struct tscope_run_span span = tscope_run_span(run, rank, TSCOPE_RUN_OWN_TIME, i);

		for (int line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++)
			if (span.line_ns[line] > 0)
				tsi_count_slice(lengths, span.start_ns, span.line_ns[line]);
	}
	return collectives > 0;
}

void tsi_html_run_lanes(struct json_writer *w, const struct tscope_run *run, size_t limit)
{
	struct slice_lengths lengths = { 0 };
	struct lanes lanes;
	bool has_comm = false;

	for (size_t i = 0; i < tscope_run_rank_count(run); i++)
		has_comm |= count_rank(&lengths, run, i);
	if (!has_comm || !tsi_lanes_begin(&lanes, w, &lengths, limit))
		return;
	for (size_t i = 0; i < tscope_run_rank_count(run); i++)
		put_rank(&lanes, run, i);
	tsi_lanes_end(&lanes);
}
