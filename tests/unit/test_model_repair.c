/* SPDX-License-Identifier: MIT */
/* model/trace/repair.c and validate.c: durations that cannot be, and what is only noted. */
#include "model/trace/trace.h"

#include "check.h"
#include "trace_builder.h"

#define US INT64_C(1000)
#define S INT64_C(1000000000)

static uint64_t diagnostic(const struct tscope_trace *trace, enum tscope_diagnostic kind)
{
	return tscope_trace_diagnostic(trace, kind);
}

/* Ten kernels of 50 us each 100 us on one stream; the one at `index` lasts dur_ns. */
static struct tscope_trace *stream_with(int index, int64_t dur_ns)
{
	struct test_trace *t = test_trace_new();
	for (int i = 0; i < 10; i++)
		test_kernel(t, "k", 0, 7, i * 100 * US, i == index ? dur_ns : 50 * US, 0);
	return test_trace_finish(t);
}

TEST(a_duration_that_swallows_later_work_is_clipped)
{
	static const struct {
		int index;
		int64_t dur_ns, expected_ns;
	} cases[] = {
		{ 3, 3 * S, 100 * US },        /* ends long after all: to the next start */
		{ 3, 200 * US + 1, 100 * US }, /* 100 us and 1 ns into the next one, around it */
		{ 3, 200 * US, 200 * US },     /* 100 us: devices may overlap so far */
		{ 3, 60 * US, 60 * US },
		{ 9, 3 * S, 0 }, /* the last: nothing lasts longer than to its start */
		{ 9, S, S },     /* a second is plausible */
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_trace *trace = stream_with(cases[i].index, cases[i].dur_ns);
		int64_t removed_ns = cases[i].dur_ns - cases[i].expected_ns;
		assert_int_equal(tsi_dur_ns(&trace->spans, cases[i].index), cases[i].expected_ns);
		assert_int_equal(trace->impossible_ns, removed_ns);
		assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_impossible_duration),
				 removed_ns > 0);
		assert_int_equal(trace->spans.count, 10);
	}
}

/* A long kernel that runs 150 us into the next, which ends later, is no fault by itself ... */
TEST(overlap_without_swallowing)
{
	static const struct {
		int64_t others_ns;
		bool clipped;
	} cases[] = {
		{ 100 * US, false }, /* ... 1000 us is not more than ten times its like, */
		{ 99 * US, true },   /* but here it is */
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		for (int k = 0; k < 4; k++)
			test_kernel(t, "k", 0, 8, k * 200 * US, cases[i].others_ns, 0);
		test_kernel(t, "k", 0, 7, 0, 1000 * US, 0);
		test_kernel(t, "other", 0, 7, 850 * US, 5000 * US, 0);
		struct tscope_trace *trace = test_trace_finish(t);
		assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_impossible_duration),
				 cases[i].clipped);
		assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_stream_overlap),
				 !cases[i].clipped);
	}
}

/* Two faulty ones in a row are each measured by what follows them. */
TEST(faults_in_a_row)
{
	struct test_trace *t = test_trace_new();
	test_kernel(t, "a", 0, 7, 0, 2 * S, 0);
	test_kernel(t, "b", 0, 7, 100 * US, 3 * S, 0);
	test_kernel(t, "c", 0, 7, 200 * US, 10 * US, 0);
	struct tscope_trace *trace = test_trace_finish(t);
	test_check_rows(trace, "gpu0/7 kernel a 0 100000\n"
			       "gpu0/7 kernel b 100000 100000\n"
			       "gpu0/7 kernel c 200000 10000\n");
	assert_int_equal(tscope_trace_info(trace)->last_ns, 210 * US);
}

/* Events that start together are all measured by the next one that starts later. */
TEST(together)
{
	struct test_trace *t = test_trace_new();
	test_kernel(t, "a", 0, 7, 0, 2 * S, 0);
	test_kernel(t, "b", 0, 7, 0, S, 0);
	test_kernel(t, "c", 0, 7, 100 * US, 10 * US, 0);
	struct tscope_trace *trace = test_trace_finish(t);
	test_check_rows(trace, "gpu0/7 kernel a 0 100000\n"
			       "gpu0/7 kernel b 0 100000\n"
			       "gpu0/7 kernel c 100000 10000\n");
}

/* A single long kernel, with its launch or without, is what it says. */
TEST(a_kernel_alone_is_believed)
{
	struct test_trace *t = test_trace_new();
	test_kernel(t, "a", 0, 7, 0, 20 * S, 0);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_int_equal(tsi_dur_ns(&trace->spans, 0), 20 * S);

	t = test_trace_new();
	test_call(t, "cudaLaunchKernel", 1, 0, 10 * US, 1);
	test_kernel(t, "a", 0, 7, 5 * US, S, 1);
	trace = test_trace_finish(t);
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_impossible_duration), 0);
}

/* Other streams, devices and threads overlap as they like. */
TEST(only_one_stream_is_one_queue)
{
	struct test_trace *t = test_trace_new();
	test_op(t, "op", 1, 0, S);
	test_kernel(t, "a", 0, 7, 0, S, 0);
	test_kernel(t, "b", 0, 8, 100 * US, 10 * US, 0);
	test_kernel(t, "c", 1, 7, 100 * US, 10 * US, 0);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_impossible_duration), 0);
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_stream_overlap), 0);
}

TEST(what_is_noted)
{
	struct test_trace *t = test_trace_new();
	test_call(t, "cudaLaunchKernel", 1, 50, 5, 1);
	test_kernel(t, "before its launch", 0, 7, 49, 10, 1);
	test_kernel(t, "overlaps", 0, 7, 58, 10, 0);
	test_kernel(t, "inside", 0, 7, 60, 1, 0);
	test_kernel(t, "touches", 0, 7, 68, 10, 0);
	test_call(t, "cudaStreamSynchronize", 1, 60, 5, 3); /* launches nothing, rightly */
	struct tscope_trace *trace = test_trace_finish(t);
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_device_before_launch), 1);
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_stream_overlap), 2);
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_unlinked_device_event), 3);
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_launch_without_work), 0);
	assert_int_equal(tscope_trace_info(trace)->dropped_count, 0);
}

/* Every kind of diagnostic has what a report prints of it. */
TEST(diagnostics_describe_themselves)
{
	assert_string_equal(tscope_diagnostic_id(TSCOPE_DIAGNOSTIC_unmatched_end), "unmatched_end");
	assert_string_equal(tscope_diagnostic_text(TSCOPE_DIAGNOSTIC_missing_timestamp),
			    "events have no timestamp (ts)");
	assert_int_equal(tscope_diagnostic_effect(TSCOPE_DIAGNOSTIC_unmatched_begin),
			 TSCOPE_EFFECT_REPAIRED);
	for (int kind = 0; kind < TSCOPE_DIAGNOSTIC_COUNT; kind++) {
		assert_true(*tscope_diagnostic_id(kind));
		assert_true(*tscope_diagnostic_text(kind));
	}
}
