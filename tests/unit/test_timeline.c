/* SPDX-License-Identifier: MIT */
/* Step boundaries by each rule, windows, marks, ranges, and the activity of devices. */
#include "timeline/timeline.h"

#include <stdio.h>

#include "check.h"
#include "memory_sweep.h"
#include "trace_builder.h"

enum { MAIN = 1, OTHER = 2 }; /* thread ids */

static struct tscope_timeline *build(struct test_trace *t,
				     const struct tscope_timeline_options *options)
{
	return test_timeline(test_trace_finish(t), options);
}

/* number, start, dur, wall */
static void assert_steps(const struct tscope_timeline *timeline, size_t count,
			 const int64_t (*expected)[4])
{
	assert_int_equal(tscope_timeline_step_count(timeline), count);
	for (uint32_t i = 0; i < count; i++) {
		struct tscope_step step = tscope_timeline_step(timeline, i);
		assert_int_equal(step.number, expected[i][0]);
		assert_int_equal(step.start_ns, expected[i][1]);
		assert_int_equal(step.dur_ns, expected[i][2]);
		assert_int_equal(step.wall_ns, expected[i][3]);
	}
}

#define ASSERT_STEPS(timeline, ...)                                                                \
	assert_steps((timeline), sizeof((int64_t[][4]){ __VA_ARGS__ }) / sizeof(int64_t[4]),       \
		     (const int64_t[][4]){ __VA_ARGS__ })

static void assert_marks(const struct tscope_timeline *timeline, const char *expected)
{
	for (uint32_t i = 0; i < timeline->step_count; i++) {
		const char *name = tscope_step_mark_name(timeline->steps[i].mark);
		assert_int_equal(name[0] ? name[0] : '.', expected[i]);
	}
}

/* A launch call at launch_ns and its kernel. */
static void launch(struct test_trace *t, int64_t launch_ns, int64_t start_ns, int64_t dur_ns)
{
	static uint64_t correlation;

	correlation++;
	test_call(t, "cudaLaunchKernel", MAIN, launch_ns, 2, correlation);
	test_kernel(t, "gemm", 0, 7, start_ns, dur_ns, correlation);
}

TEST(profiler_steps_of_the_main_thread)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#8", MAIN, 1000, 90);
	test_annotation(t, "ProfilerStep#9", MAIN, 1100, 80);
	test_annotation(t, "ProfilerStep#10", MAIN, 1180, 50);
	/* A copy on another thread, and one within a step; another profiler's steps are counted. */
	test_annotation(t, "ProfilerStep#8", OTHER, 1001, 90);
	test_annotation(t, "ProfilerStep#8", MAIN, 1005, 50);
	test_annotation(t, "ProfilerStep#0", MAIN, 1110, 30);
	test_annotation(t, "ProfilerStep#1", MAIN, 1140, 40);
	test_op(t, "aten::mm", MAIN, 900, 500);

	struct tscope_timeline *timeline = build(t, NULL);
	assert_int_equal(tscope_timeline_boundary(timeline), TSCOPE_BOUNDARY_PROFILER_STEP);
	ASSERT_STEPS(timeline, { 8, 1000, 90, 100 }, { 9, 1100, 80, 80 }, { 10, 1180, 50, 50 });
	assert_int_equal(timeline->nested_count, 2);
	assert_string_equal(tsi_intern_text(&timeline->trace->names,
					    timeline->trace->tracks[timeline->main_track].tid)
				    .data,
			    "1");
}

TEST(a_nested_mark_without_a_number_is_no_copy)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 1000, 90);
	test_annotation(t, "ProfilerStep#x", MAIN, 1010, 20); /* its index is 1 */
	test_annotation(t, "ProfilerStep#2", MAIN, 1090, 90);

	struct tscope_timeline *timeline = build(t, NULL);
	ASSERT_STEPS(timeline, { 1, 1000, 90, 90 }, { 2, 1090, 90, 90 });
	assert_int_equal(timeline->nested_count, 1);
}

TEST(steps_that_share_a_number_stay_in_order_of_time)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#2", MAIN, 300, 100);
	test_annotation(t, "ProfilerStep#1", MAIN, 100, 100);
	test_annotation(t, "ProfilerStep#1", MAIN, 500, 100);
	/* Rounding to whole µs may let a step start before the one before it ends. */
	test_annotation(t, "ProfilerStep#2", MAIN, 599, 100);

	ASSERT_STEPS(build(t, NULL), { 1, 100, 100, 200 }, { 2, 300, 100, 200 },
		     { 1, 500, 100, 99 }, { 2, 599, 100, 100 });
}

TEST(optimizer_ends_bound_steps_without_markers)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "aten::mm", MAIN, 50, 10);
	test_annotation(t, "Optimizer.step#SGD.step", MAIN, 100, 20);
	test_annotation(t, "Optimizer.step#SGD.step", MAIN, 200, 30);
	launch(t, 225, 260, 40); /* launched in the last step, ends at 300 */
	launch(t, 240, 300, 40); /* launched after it */

	struct tscope_timeline *timeline = build(t, NULL);
	assert_int_equal(tscope_timeline_boundary(timeline), TSCOPE_BOUNDARY_OPTIMIZER);
	ASSERT_STEPS(timeline, { 0, 50, 70, 70 }, { 1, 120, 110, 180 });
}

TEST(of_several_optimizers_the_last_in_turn_bounds)
{
	struct test_trace *t = test_trace_new();

	for (int64_t i = 0; i < 3; i++) {
		test_annotation(t, "Optimizer.step#Muon.step", MAIN, 100 * i + 60, 10);
		test_annotation(t, "Optimizer.step#AdamW.step", MAIN, 100 * i + 80, 10);
	}
	ASSERT_STEPS(build(t, NULL), { 0, 60, 30, 30 }, { 1, 90, 100, 100 }, { 2, 190, 100, 100 });
}

TEST(profiler_steps_that_hide_optimizer_steps_give_way)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 200);
	test_annotation(t, "Optimizer.step#Adam.step", MAIN, 80, 20);
	test_annotation(t, "Optimizer.step#Adam.step", MAIN, 180, 20);
	test_annotation(t, "ProfilerStep#2", MAIN, 200, 200);
	test_annotation(t, "Optimizer.step#Adam.step", MAIN, 280, 20);
	test_annotation(t, "Optimizer.step#Adam.step", MAIN, 380, 15);

	struct tscope_timeline *timeline = build(t, NULL);
	assert_int_equal(tscope_timeline_boundary(timeline), TSCOPE_BOUNDARY_OPTIMIZER);
	ASSERT_STEPS(timeline, { 0, 0, 100, 100 }, { 1, 100, 100, 100 }, { 2, 200, 100, 100 },
		     { 3, 300, 95, 95 });
}

TEST(profiler_steps_stay_where_optimizers_differ_or_half_hide)
{
	struct test_trace *t = test_trace_new();

	/* Two optimizers, once each (a GAN). */
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 200);
	test_annotation(t, "Optimizer.step#G.step", MAIN, 80, 20);
	test_annotation(t, "Optimizer.step#D.step", MAIN, 180, 20);
	/* D twice: one step of two, which is not most of them. */
	test_annotation(t, "ProfilerStep#2", MAIN, 200, 200);
	test_annotation(t, "Optimizer.step#D.step", MAIN, 280, 20);
	test_annotation(t, "Optimizer.step#D.step", MAIN, 380, 20);

	struct tscope_timeline *timeline = build(t, NULL);
	assert_int_equal(tscope_timeline_boundary(timeline), TSCOPE_BOUNDARY_PROFILER_STEP);
	assert_int_equal(timeline->step_count, 2);
}

/* As many device events in each step. */
static struct tscope_timeline *build_counts(const int64_t *counts, size_t steps)
{
	struct test_trace *t = test_trace_new();

	for (size_t step = 0; step < steps; step++) {
		int64_t at_ns = 100 * (int64_t)step;
		char name[32];
		snprintf(name, sizeof(name), "ProfilerStep#%zu", step);
		test_annotation(t, name, MAIN, at_ns, 100);
		for (int64_t i = 0; i < counts[step]; i++)
			launch(t, at_ns + 8 * i, at_ns + 8 * i + 4, 2);
	}
	return build(t, NULL);
}

/* Fewer than 0.8 times the 5 of the second step. */
TEST(the_last_step_is_cut_if_it_has_less_than_any)
{
	assert_marks(build_counts((int64_t[]){ 10, 5, 10, 3 }, 4), "...i");
}

/* The recording began in the first. */
TEST(the_last_step_is_cut_if_it_has_more_than_the_first_alone)
{
	assert_marks(build_counts((int64_t[]){ 3, 10, 10, 4 }, 4), "...i");
}

TEST(a_last_step_with_as_much_as_another_is_whole)
{
	assert_marks(build_counts((int64_t[]){ 10, 5, 10, 4 }, 4), "....");
}

TEST(other_markers)
{
	static const struct {
		const char *first, *second;
		const char *step_marker;
		enum tscope_boundary boundary;
		int64_t first_number;
	} cases[] = {
		{ "event/train_batch", "event/train_batch", NULL, TSCOPE_BOUNDARY_TRAIN_BATCH, 0 },
		{ "execute_context_1(8)_generation_0(0)", "execute_new_0_cached_1", NULL,
		  TSCOPE_BOUNDARY_ITERATION, 0 },
		{ "step[DECODE bs=4]", "step[EXTEND bs=1]", NULL, TSCOPE_BOUNDARY_ITERATION, 0 },
		{ "turn", "turn", "turn", TSCOPE_BOUNDARY_STEP_MARKER, 0 },
		{ "turn#7", "turn#8", "turn", TSCOPE_BOUNDARY_STEP_MARKER, 7 },
		/* A name that is not there leaves it to the rules. */
		{ "ProfilerStep#4", "ProfilerStep#5", "turn", TSCOPE_BOUNDARY_PROFILER_STEP, 4 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		test_annotation(t, cases[i].first, MAIN, 100, 50);
		test_annotation(t, cases[i].second, MAIN, 200, 40);
		test_annotation(t, "turning", MAIN, 300, 40); /* not the marker "turn" */
		struct tscope_timeline *timeline =
			build(t, &(struct tscope_timeline_options){
					 .step_marker = cases[i].step_marker,
				 });
		assert_int_equal(tscope_timeline_boundary(timeline), cases[i].boundary);
		ASSERT_STEPS(timeline, { cases[i].first_number, 100, 50, 100 },
			     { cases[i].first_number + 1, 200, 40, 40 });
	}
}

TEST(without_markers_the_whole_trace_is_one_step)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "aten::mm", OTHER, 100, 50);
	test_op(t, "aten::mm", MAIN, 150, 50);
	test_op(t, "aten::mm", MAIN, 250, 50);

	struct tscope_timeline *timeline =
		build(t, &(struct tscope_timeline_options){ .warmup = 1 });
	assert_int_equal(tscope_timeline_boundary(timeline), TSCOPE_BOUNDARY_WHOLE_TRACE);
	ASSERT_STEPS(timeline, { 0, 100, 200, 200 });
	assert_marks(timeline, "."); /* the only step is never marked */
	assert_string_equal(tsi_intern_text(&timeline->trace->names,
					    timeline->trace->tracks[timeline->main_track].tid)
				    .data,
			    "1"); /* has more work than thread 2 */
}

TEST(the_work_of_a_step_is_what_was_launched_in_it)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 100, 100);
	test_annotation(t, "ProfilerStep#2", MAIN, 200, 100);
	launch(t, 50, 150, 10);                      /* launched before the first step */
	launch(t, 110, 120, 10);                     /* step 1 */
	launch(t, 190, 250, 10);                     /* step 1, runs in step 2 */
	launch(t, 210, 260, 90);                     /* step 2, ends at 350 */
	test_kernel(t, "unlinked", 0, 7, 220, 5, 0); /* by its start: step 2 */

	struct tscope_timeline *timeline = build(t, NULL);
	ASSERT_STEPS(timeline, { 1, 100, 100, 100 }, { 2, 200, 100, 150 });
	assert_int_equal(timeline->step_device_events[0], 2);
	assert_int_equal(timeline->step_device_events[1], 2);
	assert_int_equal(timeline->attributed_by_time, 1);
	assert_int_equal(tsi_timeline_step_at(timeline, 99), NO_ROW);
	assert_int_equal(tsi_timeline_step_at(timeline, 100), 0);
	assert_int_equal(tsi_timeline_step_at(timeline, 199), 0);
	assert_int_equal(tsi_timeline_step_at(timeline, 200), 1);
	assert_int_equal(tsi_timeline_step_at(timeline, 349), 1);
	assert_int_equal(tsi_timeline_step_at(timeline, 350), NO_ROW);
}

/* Three steps of 10,000 ns with so many launches each, and some overhead in the first. */
static void add_three_steps(struct test_trace *t, const int *launch_counts, int64_t overhead_ns)
{
	for (int64_t i = 0; i < 3; i++) {
		char name[] = "ProfilerStep#1";
		name[sizeof(name) - 2] = (char)('1' + i);
		test_annotation(t, name, MAIN, i * 10000, 10000);
		for (int64_t k = 0; k < launch_counts[i]; k++)
			launch(t, i * 10000 + k * 100, i * 10000 + k * 100 + 10, 20);
	}
	if (overhead_ns)
		test_span(t, "overhead", "Lazy Function Loading", OTHER, 500, overhead_ns);
}

TEST(marks)
{
	static const struct {
		int launch_counts[3];
		int64_t overhead_ns;
		unsigned warmup;
		const char *marks;
	} cases[] = {
		{ { 10, 10, 10 }, 0, 0, "..." },   { { 10, 10, 8 }, 0, 0, "..." }, /* exactly 0.8 */
		{ { 10, 10, 7 }, 0, 0, "..i" },    { { 100, 100, 80 }, 0, 0, "..." },
		{ { 100, 100, 79 }, 0, 0, "..i" }, /* just below */
		{ { 10, 0, 0 }, 0, 0, "..." },     /* nothing to compare with */
		{ { 10, 10, 10 }, 99, 0, "..." },  /* below 1 % of 10,000 */
		{ { 10, 10, 10 }, 100, 0, "f.." }, { { 10, 10, 10 }, 0, 1, "w.." },
		{ { 10, 10, 10 }, 100, 1, "fw." }, /* warm-up comes on top */
		{ { 10, 10, 7 }, 100, 9, "fww" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		add_three_steps(t, cases[i].launch_counts, cases[i].overhead_ns);
		assert_marks(
			build(t, &(struct tscope_timeline_options){ .warmup = cases[i].warmup }),
			cases[i].marks);
	}
}

/* Four steps of so many launches each; some have no kernel. */
static struct tscope_timeline *build_lost(const int lost_counts[4], int launch_count)
{
	struct test_trace *t = test_trace_new();

	for (int i = 0; i < 4; i++) {
		char name[32];
		int64_t start_ns = 10000 * (int64_t)i;

		snprintf(name, sizeof(name), "ProfilerStep#%d", i);
		test_annotation(t, name, MAIN, start_ns, 10000);
		for (int k = 0; k < launch_count; k++) {
			int64_t at_ns = start_ns + 100 * (int64_t)(k + 1);
			if (k < lost_counts[i])
				test_call(t, "cudaLaunchKernel", MAIN, at_ns, 2,
					  (uint64_t)(1000000 + 100 * i + k));
			else
				launch(t, at_ns, at_ns + 5, 50);
		}
	}
	return build(t, NULL);
}

TEST(steps_that_lack_kernels_do_not_count)
{
	static const struct {
		int lost_counts[4], launch_count;
		const char *marks;
		bool lacks_work;
	} cases[] = {
		{ { 0, 0, 0, 0 }, 40, "....", false },
		{ { 40, 3, 0, 0 }, 40, "uu..", false },
		{ { 2, 0, 2, 0 }, 40, "....", false }, /* 5 % */
		{ { 1, 0, 1, 0 }, 10, "u.u.", false },
		{ { 0, 0, 0, 20 }, 40, "...i", false }, /* the end of the recording cuts it */
		{ { 20, 20, 0, 20 }, 40, "uu.i", false },
		{ { 3, 3, 3, 3 }, 40, "....", true }, /* nothing else is left */
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_timeline *timeline =
			build_lost(cases[i].lost_counts, cases[i].launch_count);
		assert_marks(timeline, cases[i].marks);
		assert_int_equal(timeline->lacks_work, cases[i].lacks_work);
	}
}

TEST(a_range_keeps_steps_as_they_were)
{
	struct test_trace *t = test_trace_new();
	static const int launch_counts[3] = { 3, 2, 2 };

	add_three_steps(t, launch_counts, 100);
	struct tscope_timeline *timeline = build(t, &(struct tscope_timeline_options){
							    .has_range = true,
							    .first_step = 2,
							    .last_step = 7,
						    });
	ASSERT_STEPS(timeline, { 2, 10000, 10000, 10000 }, { 3, 20000, 10000, 10000 });
	assert_marks(timeline, ".."); /* the first of the trace is gone, not the first here */
	assert_int_equal(timeline->step_device_events[0], 2);
	assert_int_equal(tsi_timeline_step_at(timeline, 5000), NO_ROW);
}

TEST(a_range_without_steps_is_refused)
{
	struct test_trace *t = test_trace_new();
	static const int launch_counts[3] = { 1, 1, 1 };
	struct tscope_error err = { 0 };

	add_three_steps(t, launch_counts, 0);
	struct tscope_trace *trace = test_trace_finish(t);
	struct tscope_timeline *timeline = NULL;
	const struct tscope_timeline_options options = {
		.has_range = true,
		.first_step = 10,
		.last_step = 20,
	};
	assert_int_equal(tscope_timeline_build(&timeline, trace, &options, &err), TSCOPE_E_EMPTY);
	assert_string_equal(err.message, "no step from 10 to 20: the trace has steps 1 to 3");
	assert_null(timeline);
}

TEST(activity_is_a_union_over_streams)
{
	struct test_trace *t = test_trace_new();

	/*
	 * device 0   compute  [100,200) [150,250)           one set of 150
	 *            comm               [240,300)           60, of it 10 under compute
	 *            copies                        [400,410) [410,420)  joined
	 * device 1   compute  [500,600)
	 */
	test_kernel(t, "gemm", 0, 7, 100, 100, 0);
	test_kernel(t, "gemm", 0, 8, 150, 100, 0);
	test_kernel(t, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 9, 240, 60, 0);
	test_memcpy(t, "Memcpy HtoD (Pinned -> Device)", 0, 7, 400, 10, 0, 64);
	test_memset(t, 0, 7, 410, 10, 0, 64);
	test_kernel(t, "gemm", 1, 7, 500, 100, 0);

	struct tscope_timeline *timeline = build(t, NULL);
	const struct device_activity *first = &timeline->activity[0];
	assert_int_equal(timeline->trace->device_count, 2);
	assert_int_equal(first->compute.count, 1);
	assert_int_equal(tsi_intervals_length(&first->compute), 150);
	assert_int_equal(tsi_intervals_length(&first->comm), 60);
	assert_int_equal(first->copy.count, 1);
	assert_int_equal(tsi_intervals_length(&first->copy), 20);
	assert_int_equal(first->busy_ns, 220);
	assert_int_equal(first->span_start_ns, 100);
	assert_int_equal(first->span_end_ns, 420);
	assert_int_equal(timeline->activity[1].busy_ns, 100);
}

TEST(names_are_stable)
{
	assert_string_equal(tscope_boundary_name(TSCOPE_BOUNDARY_PROFILER_STEP), "profiler_step");
	assert_string_equal(tscope_boundary_name(TSCOPE_BOUNDARY_WHOLE_TRACE), "whole_trace");
	assert_string_equal(tscope_step_mark_name(TSCOPE_STEP_COUNTED), "");
	assert_string_equal(tscope_step_mark_name(TSCOPE_STEP_INCOMPLETE), "incomplete");
	assert_string_equal(tscope_budget_line_name(TSCOPE_BUDGET_LAUNCH_STALL), "launch_stall");
	assert_string_equal(tscope_budget_line_name(TSCOPE_BUDGET_LINE_COUNT), "unknown");
}

TEST(every_allocation_may_fail)
{
	struct test_trace *t = test_trace_new();
	static const int launch_counts[3] = { 20, 20, 20 };

	add_three_steps(t, launch_counts, 100);
	test_annotation(t, "Optimizer.step#Adam.step", MAIN, 5000, 10);
	sweep_timeline(test_trace_finish(t), 4);
}
