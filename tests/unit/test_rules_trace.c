/* SPDX-License-Identifier: MIT */
/* Rules on whether a trace can be believed, and for how much of the run it speaks. */
#include "rule_check.h"

#include <string.h>

#include "base/attributes.h"
#include "check.h"

#define TRACE(verdict, dropped)                                                                    \
	"integrity.verdict " verdict "\nintegrity.event_count 10000\n"                             \
	"integrity.dropped_count " #dropped "\n"

#define STEPS(whole, cut)                                                                          \
	"steps.boundary profiler_step\nstep_time.count " #whole "\n"                               \
	"integrity.incomplete_step_count " #cut "\n"

#define LINKS(ratio)                                                                               \
	"integrity.device_event_count 300\nintegrity.unlinked_device_ratio " #ratio "\n"

static const struct rule_case cases[] = {
	{ "TRACE.DAMAGED", FIRES, TRACE("damaged", 1), NULL,
	  "med: the trace is cut off after 10000 events (1 of 10000 events dropped)" },
	{ "TRACE.DAMAGED", FIRES, TRACE("damaged", 0), NULL,
	  "med: the trace is cut off after 10000 events" },
	{ "TRACE.DAMAGED", FIRES, TRACE("sound", 3), NULL,
	  "low: 3 of 10000 events could not be read" },
	{ "TRACE.DAMAGED", QUIET, TRACE("sound", 0), NULL, "" },
	{ "TRACE.DAMAGED", QUIET, TRACE("doubtful", 0), NULL, "" },
	{ "TRACE.DAMAGED", AT, TRACE("sound", 10), NULL, "med" },
	{ "TRACE.DAMAGED", AT, TRACE("sound", 9), NULL, "low" },
	{ "TRACE.DAMAGED", AT, TRACE("damaged", 500), NULL, "high" },
	{ "TRACE.DAMAGED", AT, TRACE("damaged", 499), NULL, "med" },
	{ "TRACE.DAMAGED", CHANGED, TRACE("sound", 9), "TRACE.DAMAGED.threshold=0.0009", "med" },

	{ "TRACE.UNRELIABLE", FIRES,
	  "integrity.verdict doubtful\nintegrity.doubt why\nintegrity.device_event_count 0\n"
	  "launches.launch_count 268\n",
	  NULL, "high: device activity was not recorded: 268 launches, no kernel or copy" },

	/* The capture of a graph: nothing was to run, and no step is missing. */
	{ "TRACE.UNRELIABLE", QUIET,
	  "integrity.verdict doubtful\nintegrity.doubt why\nintegrity.device_event_count 0\n"
	  "launches.launch_count 268\nlaunches.is_capture yes\n",
	  NULL, "" },
	{ "TRACE.CAPTURE", FIRES,
	  "launches.launch_count 100\nlaunches.captured_count 90\nlaunches.is_capture yes\n", NULL,
	  "high: the trace records a graph capture, not a run (90 of 100 launch calls are only "
	  "captured into a graph)" },
	{ "TRACE.CAPTURE", FIRES,
	  "launches.launch_count 3\nlaunches.captured_count 0\nlaunches.is_capture yes\n", NULL,
	  "high: the trace records a graph capture, not a run" },
	/* As a warm-up does before the run that replays them. */
	{ "TRACE.CAPTURE", QUIET, "launches.launch_count 100\nlaunches.captured_count 90\n", NULL,
	  "" },
	{ "TRACE.INCOMPLETE", QUIET, STEPS(0, 0) "launches.is_capture yes\n", NULL, "" },

	{ "TRACE.INCOMPLETE", FIRES, STEPS(2, 1), NULL,
	  "low: only 2 complete steps; record at least 3" },
	{ "TRACE.INCOMPLETE", FIRES, STEPS(1, 0), NULL,
	  "low: only 1 complete step; record at least 3" },
	{ "TRACE.INCOMPLETE", FIRES,
	  "steps.boundary profiler_step\nintegrity.incomplete_step_count 1\n", NULL,
	  "low: no complete step" },
	{ "TRACE.INCOMPLETE", FIRES,
	  "steps.boundary whole_trace\nstep_time.count 1\nintegrity.incomplete_step_count 0\n",
	  NULL, "low: no steps are marked: the whole trace counts as one step" },
	{ "TRACE.INCOMPLETE", FIRES, STEPS(20, 1), NULL,
	  "low: 1 step is cut by the end of the capture" },
	{ "TRACE.INCOMPLETE", FIRES, STEPS(20, 2), NULL,
	  "low: 2 steps are cut by the end of the capture" },
	{ "TRACE.INCOMPLETE", QUIET, STEPS(20, 0), NULL, "" },
	{ "TRACE.INCOMPLETE", FIRES, STEPS(20, 1) "integrity.unrecorded_step_count 2\n", NULL,
	  "low: the trace lacks kernels of 2 steps, left out here" },
	/* Composer's last step always is. */
	{ "TRACE.INCOMPLETE", QUIET,
	  "steps.boundary train_batch\nstep_time.count 3\nintegrity.incomplete_step_count 1\n",
	  NULL, "" },
	{ "TRACE.INCOMPLETE", QUIET, STEPS(20, 0) "integrity.overflow no\n", NULL, "" },
	/* What the buffer lost outweighs what is wrong with the steps that are left. */
	{ "TRACE.INCOMPLETE", FIRES, STEPS(20, 0) "integrity.overflow yes\n", NULL,
	  "med: the profiler's ring buffer overflowed: the oldest events are lost" },
	{ "TRACE.INCOMPLETE", FIRES, STEPS(1, 0) "integrity.overflow yes\n", NULL,
	  "med: the profiler's ring buffer overflowed: the oldest events are lost" },
	{ "TRACE.INCOMPLETE", AT, STEPS(3, 0), NULL, "" },
	{ "TRACE.INCOMPLETE", AT, STEPS(3, 1), NULL,
	  "low: 1 step is cut by the end of the capture" },
	{ "TRACE.INCOMPLETE", AT, STEPS(3, 0), "TRACE.INCOMPLETE.threshold=4",
	  "low: only 3 complete steps; record at least 4" },

	{ "TRACE.UNRELIABLE", FIRES,
	  "integrity.verdict doubtful\nintegrity.doubt graph launches have no "
	  "kernel\nintegrity.empty_graph_launch_count 40\n",
	  NULL, "high: device times are not reliable (graph launches have no kernel)" },
	{ "TRACE.UNRELIABLE", FIRES,
	  "integrity.verdict doubtful\nintegrity.doubt graph replays have fewer nodes\n"
	  "integrity.short_graph_replay_count 3\nintegrity.short_graph_replay_ms 12.3\n",
	  NULL,
	  "high: device times are not reliable from 12.30 ms on (graph replays have fewer nodes)" },
	/* A file that ends early can be doubtful, too. */
	{ "TRACE.UNRELIABLE", FIRES,
	  "integrity.verdict damaged\nintegrity.doubt time was removed\n", NULL,
	  "high: device times are not reliable (time was removed)" },
	{ "TRACE.UNRELIABLE", FIRES,
	  "integrity.verdict sound\nsteps.overlap_count 11\nsteps.count 12\n", NULL,
	  "high: step times are not reliable: steps overlap (marks of 11 of 12 steps end after "
	  "the next begins)" },
	/* Ids of one process are found in another: what seems lost means nothing. */
	{ "TRACE.UNRELIABLE", FIRES,
	  "integrity.verdict doubtful\nintegrity.doubt launches have no kernel\n"
	  "steps.process_count 4\nsteps.process 42\n",
	  NULL,
	  "high: the file mixes the events of 4 processes: no figure is that of one (the steps are "
	  "those of process 42)" },
	{ "TRACE.UNRELIABLE", FIRES, "integrity.verdict sound\nsteps.merged_rank_count 2\n", NULL,
	  "high: the file mixes the events of 2 ranks: no figure is that of one" },
	{ "TRACE.UNRELIABLE", QUIET, "integrity.verdict sound\nsteps.overlap_count 0\n", NULL, "" },

	{ "TRACE.UNLINKED", FIRES, LINKS(0.2) "integrity.unlinked_count 30\n", NULL,
	  "med: the launch of 20.0 % of device time is not in the trace (30 of 300 device "
	  "events)" },
	{ "TRACE.UNLINKED", QUIET, LINKS(0.01), NULL, "" },
	{ "TRACE.UNLINKED", AT, LINKS(0.10), NULL, "med" },
	{ "TRACE.UNLINKED", AT, LINKS(0.099999), NULL, "" },
	{ "TRACE.UNLINKED", AT, LINKS(0.50), NULL, "high" },
	{ "TRACE.UNLINKED", AT, LINKS(0.499999), NULL, "med" },
	/* A busy device: what it waits for is known all the same. */
	{ "TRACE.UNLINKED", AT, LINKS(0.30) "step_time.mean_ns 1000000\nidle.unlinked_ns 49999\n",
	  NULL, "low" },
	{ "TRACE.UNLINKED", AT, LINKS(0.30) "step_time.mean_ns 1000000\nidle.unlinked_ns 50000\n",
	  NULL, "med" },
	{ "TRACE.UNLINKED", AT, LINKS(0.50) "step_time.mean_ns 1000000\nidle.unlinked_ns 49999\n",
	  NULL, "med" },
	/* Without device events there is nothing to link. */
	{ "TRACE.UNLINKED", QUIET, "integrity.device_event_count 0\n", NULL, "" },
	{ "TRACE.UNLINKED", SKIPPED, "", NULL,
	  "skipped: no integrity.device_event_count: it needs a trace" },
};

TEST(rules_on_the_trace)
{
	check_rule_cases(cases, TSI_COUNT_OF(cases));
}

static void check_doubt(const char *lines, const char *advice)
{
	struct tscope_analysis *facts = fact_values(lines);
	struct tscope_diagnosis *diagnosis;

	assert_int_equal(tscope_diagnose(&diagnosis, facts, NULL, NULL), TSCOPE_OK);
	assert_int_equal(tscope_diagnosis_finding_count(diagnosis), 1);
	struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, 0);
	assert_string_equal(finding.rule->id, "TRACE.UNRELIABLE");
	assert_string_equal(finding.detail, "why");
	if (strncmp(finding.advice, advice, strlen(advice)) != 0)
		fail_msg("'%s' and not '%s'", finding.advice, advice);
	tscope_diagnosis_free(diagnosis);
}

/* Kernels that graphs lost come back in another way than times that are wrong. */
TEST(advice_is_for_what_is_in_doubt)
{
#define DOUBT "integrity.verdict doubtful\nintegrity.doubt why\n"
	check_doubt(DOUBT "integrity.empty_graph_launch_count 1\n",
		    "the profiler lost the kernels");
	check_doubt(DOUBT "integrity.short_graph_replay_count 1\n",
		    "the profiler lost the kernels");
	check_doubt(DOUBT "integrity.empty_graph_launch_count 0\n", "record again");
#undef DOUBT
}

/* An engine's iterations are no loop that calls prof.step(). */
TEST(advice_fits_the_job)
{
	static const struct advice_case advised[] = {
		{ "TRACE.INCOMPLETE", STEPS(1, 0) "steps.boundary iteration\n",
		  "let the engine's profiler run" },
		{ "TRACE.INCOMPLETE", STEPS(1, 0) "steps.boundary profiler_step\n",
		  "prof.step() after each step" },
		/* Launches of others are recorded: so are both activities. */
		{ "TRACE.UNLINKED", LINKS(0.2) "integrity.unlinked_count 30\n",
		  "warmup=1 or more in the profiler's schedule" },
		{ "TRACE.UNLINKED", LINKS(1) "integrity.unlinked_count 300\n",
		  "profile(activities=[ProfilerActivity.CPU" },
	};

	check_rule_advice(advised, TSI_COUNT_OF(advised));
}
