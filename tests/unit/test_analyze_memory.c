/* SPDX-License-Identifier: MIT */
/* Memory of steps, as records or traces have it: peaks, fragmentation, growth, and when. */
#include "analysis_check.h"
#include "step_text.h"

#include <stdio.h>
#include <tscope/memory.h>

#include "analyze/analysis.h"
#include "check.h"

#define ALL                                                                                        \
	"memory: peak_alloc_bytes peak_reserved_bytes mean_alloc_bytes fragmentation "             \
	"growth_bytes_per_step slope_bytes_per_step peak_step step_count"

static void check_memory(const char *text, const char *expected)
{
	struct step_series steps = test_steps(text);
	struct analyzed *a = analyze_rank(&steps, NULL);

	check_facts(a, ALL, expected);
}

TEST(figures_are_of_the_steps_with_memory)
{
	/*
	 * Three steps say what is allocated: mean 800 ÷ 3 = 266.7. The first peaks above what it
	 * ends with; the last one's peak is what it ends with. Fragmentation is (0.5 + 0.2) ÷ 2:
	 * the step without reservation has none (paired by position it would be 0.45).
	 * Slope (400 − 100) ÷ 2.
	 */
	check_memory("0 warmup forward=1 alloc=9000 reserved=9000\n"
		     "1 forward=1 alloc=100 reserved=200 peak_alloc=150 peak_reserved=220\n"
		     "2 forward=1 alloc=300 peak_alloc=310\n"
		     "3 forward=1 reserved=900\n"
		     "4 forward=1 alloc=400 reserved=500\n",
		     "400 500 267 0.35 150 150 4 3");
}

TEST(the_peak_step_is_the_first)
{
	check_memory("5 alloc=10 peak_alloc=70\n6 alloc=70\n7 alloc=10 peak_alloc=0\n",
		     "70 - 30 - 0 0 5 3");
}

TEST(the_edges)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "", "- - - - - - - -" },
		{ "1 forward=10 loss=2\n", "- - - - - - - -" },
		{ "1 reserved=10\n", "- - - - - - - -" },
		/* Of one step the slope is not known; the reference says 0. */
		{ "1 alloc=30 reserved=40\n", "30 40 30 0.25 0 - 1 1" },
		{ "1 alloc=0 reserved=0\n", "0 0 0 - 0 - 1 1" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		check_memory(cases[i].text, cases[i].expected);
}

TEST(growth_is_the_reference_s_and_slope_the_true_one)
{
	char text[40 * 40], *end = text;

	/* 100 + 5 a step: medians of 4 are 107.5 and 287.5; 180 ÷ 39 and 180 ÷ 36. */
	for (int i = 0; i < 40; i++)
		end += snprintf(end, 40, "%d alloc=%d reserved=400\n", i, 100 + 5 * i);
	struct step_series steps = test_steps(text);
	struct analyzed *a = analyze_rank(&steps, NULL);
	check_facts(a, "memory: growth_bytes_per_step slope_bytes_per_step", "4.61538 5");
}

/* ---- traces ---- */

static void add_event(struct test_trace *t, const char *name, int64_t ts_ns, int64_t allocated)
{
	char args[160];

	snprintf(args, sizeof(args),
		 "{\"Device Type\": 1, \"Device Id\": 0, \"Total Allocated\": %lld, "
		 "\"Total Reserved\": 200}",
		 (long long)allocated);
	test_event(t, &(struct raw_event){
			      .phase = 'i',
			      .has_ts = true,
			      .ts_ns = ts_ns,
			      .name = tsi_str_of(name),
			      .cat = TSI_STR("cpu_instant_event"),
			      .args = tsi_str_of(args),
		      });
}

TEST(a_trace_tells_the_memory_of_its_steps)
{
	struct test_trace *t = test_trace_new();
	static const int64_t at_end[] = { 100, 60, 80, 120 };

	/* Each step of 100 ns allocates 150 at its 10th ns, and at the 20th only keeps some. */
	for (int64_t i = 0; i < 4; i++) {
		char name[40];

		snprintf(name, sizeof(name), "ProfilerStep#%lld", (long long)i);
		test_annotation(t, name, 1, 1000 + 100 * i, 100);
		add_event(t, "[memory]", 1010 + 100 * i, i == 2 ? 160 : 150);
		add_event(t, "[memory]", 1020 + 100 * i, at_end[i]);
	}
	add_event(t, "[OutOfMemory]", 1399, 120);
	struct analyzed *a = analyze(t);

	/*
	 * mean (100 + 60 + 80 + 120) ÷ 4 = 90; fragmentation (0.5 + 0.7 + 0.6 + 0.4) ÷ 4; slope
	 * (120 − 100) ÷ 3. The peak is step 2's, at 1210.
	 */
	check_facts(a,
		    "memory: peak_alloc_bytes peak_reserved_bytes mean_alloc_bytes fragmentation "
		    "slope_bytes_per_step peak_step step_count event_count oom_count peak_time_ns",
		    "160 200 90 0.55 6.66667 2 4 9 1 1210");
}

TEST(a_trace_without_memory_is_silent)
{
	struct test_trace *t = test_trace_new();
	test_annotation(t, "ProfilerStep#1", 1, 0, 100);
	struct analyzed *a = analyze(t);

	check_facts(a, ALL " event_count oom_count peak_time_ns", "- - - - - - - - - - -");
}

TEST(the_peak_s_time_is_that_of_the_peak_s_step)
{
	struct step_series steps = test_steps("1 alloc=10\n2 alloc=30\n3 alloc=20\n");
	struct step_budget *budget = test_steps_add_budget(&steps, 0);

	/* The peak is step 2's, whose time nobody knows. */
	budget->has_alloc_peak = true;
	budget->alloc_peak_ns = 5;
	struct analyzed *a = analyze_rank(&steps, NULL);
	check_facts(a, "memory: peak_step peak_time_ns", "2 -");
}

/* ---- runs ---- */

TEST(failures_of_a_run_are_those_of_all_ranks)
{
	static const struct {
		int64_t events[3], ooms[3];
		const char *expected;
	} cases[] = {
		{ { 9, 5, 7 }, { 0, 2, 1 }, "9 3" },
		{ { 9, 5, 7 }, { 0, 0, 0 }, "9 0" },
		/* Only the traces of other ranks have events; no trace has. */
		{ { 0, 5, 0 }, { 0, 2, 0 }, "- 2" },
		{ { 0, 0, 0 }, { 0, 0, 0 }, "- -" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct step_series ranks[] = {
			test_steps("1 forward=1 alloc=100\n2 forward=1 alloc=300\n"),
			test_steps("1 forward=9 alloc=900\n2 forward=9 alloc=900\n"),
			test_steps("2 forward=1\n"),
		};
		for (int32_t rank = 0; rank < 3; rank++) {
			ranks[rank].rank = rank;
			ranks[rank].memory_event_count = cases[i].events[rank];
			ranks[rank].oom_count = cases[i].ooms[rank];
		}
		struct analyzed *a = analyze_run(ranks, 3, NULL);
		check_facts(a, "memory: event_count oom_count", cases[i].expected);
		/* All else is the lowest rank's. */
		check_facts(a, ALL, "300 - 200 - 200 200 2 2");
	}
}

/* ---- snapshots ---- */

/* One block that came at 5 us, and a request that failed at 9. */
static const char snapshot_text[] =
	"{\"segments\": [{\"device\": 0, \"address\": 4096, \"total_size\": 2097152, "
	"\"stream\": 0, \"segment_type\": \"small\", \"blocks\": [{\"address\": 4096, "
	"\"size\": 2097152, \"requested_size\": 2097152, \"state\": \"active_allocated\", "
	"\"frames\": []}]}], \"device_traces\": [["
	"{\"action\": \"alloc\", \"addr\": 4096, \"size\": 2097152, \"stream\": 0, "
	"\"time_us\": 5, \"frames\": []}, "
	"{\"action\": \"oom\", \"addr\": 0, \"size\": 4194304, \"device_free\": 0, "
	"\"stream\": 0, \"time_us\": 9, \"frames\": []}]]}";

/* Steps 3, 4 and 5 of these windows beside the snapshot; expected: snapshot_peak_step oom_step. */
static void check_steps_of_snapshot(const int64_t windows[3][2], bool has_start,
				    const char *expected)
{
	struct step_series steps = test_steps("3 data=1\n4 data=1\n5 data=1\n6 data=1\n");
	const struct tscope_analysis *by_kind[TSCOPE_MEMORY_KIND_COUNT] = { 0 };
	struct analysis_scope scope = { .steps = &steps, .rank_memory = by_kind };
	struct tscope_analysis *snapshot = NULL;
	struct tscope_memory *memory = NULL;
	struct tscope_error err = { 0 };
	struct analyzed a = { 0 };

	steps.has_start = has_start;
	for (size_t i = 0; i < 3; i++) {
		struct step_budget *budget = test_steps_add_budget(&steps, i);
		budget->start_ns = windows[i][0];
		budget->wall_ns = windows[i][1];
	}
	if (tscope_memory_open_memory(&memory, "s.json", snapshot_text, sizeof(snapshot_text) - 1,
				      NULL, &err) != TSCOPE_OK ||
	    tscope_memory_analyze(&snapshot, memory, NULL, NULL, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	by_kind[TSCOPE_MEMORY_SNAPSHOT] = snapshot;
	assert_int_equal(tsi_analyze_level(&a.analysis, LEVEL_RANK, &scope, NULL, &err), TSCOPE_OK);
	check_facts(&a, "memory: snapshot_peak_step oom_step", expected);
	tscope_analysis_free(a.analysis);
	tscope_analysis_free(snapshot);
	tscope_memory_free(memory);
	tsi_steps_deinit(&steps);
}

TEST(moments_of_a_snapshot_are_found_in_steps)
{
	static const struct {
		int64_t windows[3][2];
		bool has_start;
		const char *expected;
	} cases[] = {
		{ { { 0, 4000 }, { 4000, 2000 }, { 6000, 9000 } }, true, "4 5" },
		/* A window ends before its end. */
		{ { { 0, 5000 }, { 5000, 1000 }, { 9000, 1 } }, true, "4 5" },
		{ { { 0, 5000 }, { 5001, 3999 }, { 9001, 10 } }, true, "- -" },
		{ { { 0, 4000 }, { 4000, 2000 }, { 6000, 9000 } }, false, "- -" },
		{ { { INT64_MIN, INT64_MAX }, { INT64_MAX, INT64_MAX }, { 0, INT64_MAX } },
		  true,
		  "5 5" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		check_steps_of_snapshot(cases[i].windows, cases[i].has_start, cases[i].expected);
}
