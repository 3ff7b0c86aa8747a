/* SPDX-License-Identifier: MIT */
/*
 * Whether device times can be believed: the one place that turns the counters
 * of the model's checks into a doubt. Analyzers of device time put it on their
 * sheets, and gates on such facts trip with its words.
 */
#include "analyze/shared/reliability.h"

#include "base/sum.h"
#include "model/trace/merged_ranks.h"

/* Device time that was impossible and clipped counts as harmless up to 1 ÷ 20 (5 %) of it all. */
enum { HARMLESS_PART = 20 };

static int64_t device_time_ns(const struct tscope_trace *trace)
{
	int64_t total_ns = 0;

	for (uint32_t i = 0; i < trace->device_count; i++)
		for (uint32_t j = 0; j < trace->devices[i].row_count; j++)
			tsi_sum(&total_ns, tsi_dur_ns(&trace->spans, trace->devices[i].rows[j]));
	return total_ns;
}

/* Work was launched, and nothing of any device was recorded. */
static bool has_lost_activity(const struct tscope_trace *trace)
{
	const uint64_t *diagnostics = trace->diagnostics;

	return trace->device_event_count == 0 &&
	       (diagnostics[TSCOPE_DIAGNOSTIC_launch_without_work] ||
		diagnostics[TSCOPE_DIAGNOSTIC_empty_graph_launch]);
}

const char *tsi_device_time_doubt(const struct tscope_timeline *timeline)
{
	const struct tscope_trace *trace = timeline->trace;

	if (trace->device_event_count > 0 && tsi_is_mixed(trace))
		return tsi_mixed_doubt;
	if (has_lost_activity(trace))
		return "work was launched, but no device activity was recorded";
	if (trace->diagnostics[TSCOPE_DIAGNOSTIC_empty_graph_launch])
		return "graph launches have no kernel in the trace: device work is missing";
	if (timeline->lacks_work)
		return "launches have no kernel in the trace: device work is missing";
	if (trace->diagnostics[TSCOPE_DIAGNOSTIC_short_graph_replay])
		return "graph replays have fewer nodes than others of their graph: device work is "
		       "missing";
	if (trace->device_event_count > 0 &&
	    trace->diagnostics[TSCOPE_DIAGNOSTIC_negative_duration])
		return "events have a negative duration: how long they took is not known";
	if (trace->impossible_ns == 0)
		return NULL;
	int64_t recorded_ns = trace->impossible_ns;
	tsi_sum(&recorded_ns, device_time_ns(trace));
	if (trace->impossible_ns > recorded_ns / HARMLESS_PART)
		return "more than 5 % of the recorded device time was impossible and was removed";
	return NULL;
}

void tsi_judge_device_time(const struct tscope_timeline *timeline, struct fact_sheet *sheet)
{
	const char *doubt = tsi_device_time_doubt(timeline);

	if (doubt)
		tsi_fact_unreliable(sheet, doubt);
}

void tsi_judge_step_time(const struct analysis_scope *scope, struct fact_sheet *sheet)
{
	const char *doubt = tsi_step_time_doubt(scope->steps);

	for (size_t i = 0; scope->ranks && i < scope->rank_count && !doubt; i++)
		doubt = tsi_step_time_doubt(&scope->ranks[i]);
	if (doubt)
		tsi_fact_unreliable(sheet, doubt);
}
