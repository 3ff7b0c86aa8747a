/* SPDX-License-Identifier: MIT */
/* Which steps are cold, and that they have no part in what is counted. */
#include "timeline/timeline.h"

#include <stdio.h>

#include "check.h"
#include "trace_builder.h"

enum { MAIN = 1, MS = 1000000, MAX_STEPS = 8 };

/*
 * Time of a step in ms: a driver allocation, a library that is loaded, then so much work. Below 0
 * the first is cudaFree, behind the work, the second a compilation.
 */
struct cold_step {
	int alloc, load, work;
};

static struct tscope_trace *trace_of(const struct cold_step *steps)
{
	struct test_trace *t = test_trace_new();
	int64_t at_ns = 0;

	for (int i = 0; i < MAX_STEPS && steps[i].work; i++) {
		char name[32];
		int64_t alloc_ns = (int64_t)steps[i].alloc * MS,
			load_ns = (int64_t)steps[i].load * MS;
		int64_t work_ns = (int64_t)steps[i].work * MS, free_ns = 0;
		if (alloc_ns < 0) {
			free_ns = -alloc_ns;
			alloc_ns = 0;
		}
		snprintf(name, sizeof(name), "ProfilerStep#%d", i);
		bool is_compiled = load_ns < 0;
		load_ns = is_compiled ? -load_ns : load_ns;
		test_annotation(t, name, MAIN, at_ns, alloc_ns + load_ns + work_ns + free_ns);
		if (alloc_ns)
			test_call(t, "cudaMalloc", MAIN, at_ns, alloc_ns, 0);
		at_ns += alloc_ns;
		if (is_compiled)
			test_op(t, "_compile.compile_inner (dynamo_timed)", MAIN, at_ns, load_ns);
		else if (load_ns)
			test_call(t, "cuLibraryLoadData", MAIN, at_ns, load_ns, 0);
		at_ns += load_ns;
		test_call(t, "cudaLaunchKernel", MAIN, at_ns, 1000, (uint64_t)i + 1);
		test_kernel(t, i ? "gemm" : "first", 0, 7, at_ns + 1000, work_ns - 1000,
			    (uint64_t)i + 1);
		at_ns += work_ns;
		if (free_ns)
			test_call(t, "cudaFree", MAIN, at_ns, free_ns, 0);
		at_ns += free_ns;
	}
	return test_trace_finish(t);
}

/* A mark of each step by its first letter, "." where it counts. */
static void check(const struct cold_step *steps, bool keep_cold, const char *expected, bool all)
{
	const struct tscope_timeline_options options = { .keep_cold = keep_cold };
	struct tscope_trace *trace = trace_of(steps);
	char marks[MAX_STEPS + 1] = "";
	struct tscope_timeline *timeline = test_timeline(trace, &options);

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		const char *name = tscope_step_mark_name(timeline->steps[i].mark);
		marks[i] = (char)(*name ? *name : '.');
	}
	assert_string_equal(marks, expected);
	assert_int_equal(timeline->is_all_cold, all);
}

TEST(more_than_a_fifth_is_cold)
{
	/* 10 of 50 is just not; it is slower than the others, but so were they. */
	check((struct cold_step[]){ { 0, 11, 39 }, { 0, 0, 50 }, { 0, 0, 50 }, { 0 } }, false,
	      "c..", false);
	check((struct cold_step[]){ { 0, 10, 40 }, { 0, 0, 50 }, { 0, 0, 50 }, { 0 } }, false,
	      "...", false);
	check((struct cold_step[]){ { 0, 11, 39 }, { 0, 0, 50 }, { 0, 0, 50 }, { 0 } }, true, "...",
	      false);
}

TEST(a_step_is_cold_where_that_makes_it_slow)
{
	/* Spread: 0. 5 of the 6 ms that it takes longer; 5 of 11. */
	check((struct cold_step[]){ { 0, 5, 51 }, { 0, 0, 50 }, { 0, 0, 50 }, { 0, 0, 50 }, { 0 } },
	      false, "c...", false);
	check((struct cold_step[]){ { 0, 5, 56 }, { 0, 0, 50 }, { 0, 0, 50 }, { 0, 0, 50 }, { 0 } },
	      false, "....", false);
	/* Distances 6, 4, 4, 0, 0: a spread of 1.4826 × 4 = 5.9, thrice is more than 6. */
	check((struct cold_step[]){ { 0, 5, 51 },
				    { 0, 0, 46 },
				    { 0, 0, 54 },
				    { 0, 0, 50 },
				    { 0, 0, 50 },
				    { 0 } },
	      false, ".....", false);
}

TEST(what_every_step_allocates_is_no_start_up)
{
	check((struct cold_step[]){ { 20, 0, 30 }, { 20, 0, 30 }, { 20, 0, 30 }, { 0 } }, false,
	      "...", false);
	check((struct cold_step[]){ { 40, 0, 30 }, { 20, 0, 30 }, { 20, 0, 30 }, { 0 } }, false,
	      "c..", false);
	/* empty_cache() at the end of each step: that of the last one delays nothing recorded. */
	check(
		(struct cold_step[]){
			{ -20, 0, 30 }, { -20, 0, 30 }, { -20, 0, 30 }, { -20, 0, 30 }, { 0 } },
		false, "....", false);
	/* Only the first two do: they fill the cache. */
	check(
		(struct cold_step[]){
			{ -20, 0, 30 }, { -20, 0, 30 }, { 0, 0, 50 }, { 0, 0, 50 }, { 0 } },
		false, "cc..", false);
}

TEST(what_compiles_after_a_warm_step_counts)
{
	check((struct cold_step[]){ { 0, -90, 50 }, { 0, -90, 50 }, { 0, 0, 50 }, { 0 } }, false,
	      "cc.", false);
	check((struct cold_step[]){ { 0, -90, 50 },
				    { 0, 0, 50 },
				    { 0, -90, 50 },
				    { 0, 0, 50 },
				    { 0, 90, 50 },
				    { 0 } },
	      false, "c...c", false);
}

TEST(where_all_are_cold_they_count)
{
	check((struct cold_step[]){ { 0, 30, 30 }, { 0, 40, 30 }, { 0 } }, false, "..", true);
	check((struct cold_step[]){ { 40, 0, 30 }, { 0 } }, false, ".", true);
}

TEST(what_is_counted_leaves_cold_steps_out)
{
	struct tscope_trace *trace =
		trace_of((struct cold_step[]){ { 0, 30, 30 }, { 0, 0, 50 }, { 0, 0, 50 }, { 0 } });
	int64_t parts_ns = 0;
	struct tscope_timeline *timeline = test_timeline(trace, NULL);

	for (unsigned slot = 0; slot < TSI_PART_SLOTS; slot++)
		for (size_t i = 0; i < timeline->parts[slot].count; i++)
			parts_ns += timeline->parts[slot].items[i].ns;
	assert_int_equal(parts_ns, (int64_t)100 * MS);
	assert_int_equal(tsi_timeline_budget(timeline, 0, 0)->idle_ns[IDLE_STARTUP],
			 (int64_t)30 * MS);
	/* The longest gap is in the cold step, and there once. */
	assert_int_equal(timeline->long_gaps[0].cause, IDLE_STARTUP);
	assert_int_not_equal(timeline->long_gaps[1].cause, IDLE_STARTUP);
}
