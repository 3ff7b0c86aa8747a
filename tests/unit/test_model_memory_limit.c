/* SPDX-License-Identifier: MIT */
/*
 * model/trace/memory_limit.c: what is left without operators, however many there were, and nothing is
 * given up where a file takes them.
 */
#include "model/trace/trace.h"

#include <stdio.h>

#include "check.h"
#include "fail_alloc.h"
#include "spill_file.h"
#include "trace_builder.h"

enum { EVENTS = 300 };

/* Operators between calls, kernels, slices of two events, and pauses; or all these without them. */
static struct test_trace *many_events(const struct builder_options *options, bool with_operators,
				      int operators)
{
	struct test_trace *t = test_trace_new_with(options);

	for (int i = 0; i < EVENTS; i++) {
		int64_t now = 1000 * i;
		for (int op = 0; with_operators && op < operators; op++)
			test_op(t, "aten::mm", 1 + op % 2, now + op, 5);
		test_call(t, "cudaLaunchKernel", 1, now + 500, 5, (uint64_t)i + 1);
		test_kernel(t, "k", 0, 7, now + 600 + i % 3, 50, (uint64_t)i + 1);
		if (i % 10 == 0)
			test_mark(t, 'B', "slice", 3, now);
		if (i % 10 == 9)
			test_mark(t, 'E', "slice", 3, now + 400);
	}
	return t;
}

/* For the caller to free: before the file that it is in. */
static struct tscope_trace *finish(struct test_trace *t)
{
	struct tscope_trace *trace;

	assert_int_equal(test_trace_try_finish(t, &trace, NULL), TSCOPE_OK);
	return trace;
}

static void check_same_rows(const struct tscope_trace *a, const struct tscope_trace *b)
{
	assert_int_equal(a->spans.count, b->spans.count);
	for (uint32_t row = 0; row < a->spans.count; row++) {
		struct tscope_span of_a = tscope_trace_span(a, row),
				   of_b = tscope_trace_span(b, row);
		assert_string_equal(of_a.name, of_b.name);
		assert_true(of_a.start_ns == of_b.start_ns && of_a.dur_ns == of_b.dur_ns);
		assert_int_equal(of_a.launch, of_b.launch);
		assert_int_equal(of_a.op, of_b.op);
	}
}

/* At the end, and in the middle of many: the check comes with every 16,384th event. */
TEST(operators_are_given_up)
{
	static const int operators[] = { 3, 150 };

	for (size_t i = 0; i < TSI_COUNT_OF(operators); i++) {
		struct builder_options options = { .memory_limit = 20000 };
		struct tscope_trace *limited = finish(many_events(&options, true, operators[i]));
		options.memory_limit = 0;
		struct tscope_trace *without = finish(many_events(&options, false, 0));
		check_same_rows(limited, without);
		assert_int_equal(limited->cpu_op_count, 0);
		assert_int_equal(
			tscope_trace_diagnostic(limited, TSCOPE_DIAGNOSTIC_unkept_operator),
			EVENTS * operators[i]);
		tscope_trace_free(limited);
		tscope_trace_free(without);
	}
}

TEST(enough_is_enough)
{
	struct builder_options options = { .memory_limit = 100000 };
	struct tscope_trace *trace = finish(many_events(&options, true, 3));

	assert_int_equal(trace->cpu_op_count, 3 * EVENTS);
	assert_int_equal(tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_unkept_operator), 0);
	tscope_trace_free(trace);
}

TEST(the_rest_may_be_too_much)
{
	struct builder_options options = { .memory_limit = 10000 };
	struct tscope_trace *trace;
	struct tscope_error err;

	assert_int_equal(test_trace_try_finish(many_events(&options, true, 3), &trace, &err),
			 TSCOPE_E_LIMIT);
	assert_string_equal(err.message, "its spans take more than 10000 bytes, even without "
					 "operators (limit: memory-limit)");
	struct test_trace *t =
		test_trace_new_with(&(struct builder_options){ .memory_limit = 900 });
	for (int i = 0; i < EVENTS; i++)
		test_op(t, "aten::mm", 1, i, 1);
	assert_int_equal(test_trace_try_finish(t, &trace, &err), TSCOPE_E_LIMIT);
	assert_string_equal(err.message,
			    "nothing but operators, which take too much (limit: memory-limit)");
}

/* At the end, and after each of several checks: in the file there is all that was in memory. */
TEST(a_file_takes_them)
{
	static const int operators[] = { 3, 150, 400 };
	struct tscope_spill *spill = open_spill();

	for (size_t i = 0; i < TSI_COUNT_OF(operators); i++) {
		struct builder_options options = { .memory_limit = 10000, .spill = spill };
		struct tscope_trace *spilled = finish(many_events(&options, true, operators[i]));
		options.memory_limit = 0;
		struct tscope_trace *whole = finish(many_events(&options, true, operators[i]));
		assert_ptr_equal(spilled->spill, spill);
		assert_null(whole->spill);
		assert_int_equal(spilled->cpu_op_count, EVENTS * operators[i]);
		check_same_rows(spilled, whole);
		assert_memory_equal(spilled->calls, whole->calls,
				    whole->call_count * sizeof(*whole->calls));
		assert_memory_equal(spilled->device_events, whole->device_events,
				    whole->device_event_count * sizeof(*whole->device_events));
		assert_memory_equal(spilled->diagnostics, whole->diagnostics,
				    sizeof(whole->diagnostics));
		tscope_trace_free(spilled);
		tscope_trace_free(whole);
	}
	tscope_spill_free(spill);
}

/* Columns are 16 GB from each other, so that these limits let none, some and all be there. */
TEST(a_full_disk_gives_operators_up)
{
	struct tscope_spill *spill = open_spill();
	struct builder_options options = { .memory_limit = 20000, .spill = spill };
	struct tscope_trace *without = finish(many_events(&options, false, 0));

	for (rlim_t columns = 0; columns < 12; columns++) {
		limit_files((columns << 34) + 1);
		struct tscope_trace *limited = finish(many_events(&options, true, 150));
		limit_files(RLIM_INFINITY);
		if (limited->spill) {
			assert_int_equal(limited->cpu_op_count, EVENTS * 150);
		} else {
			check_same_rows(limited, without);
			assert_int_equal(
				tscope_trace_diagnostic(limited, TSCOPE_DIAGNOSTIC_unkept_operator),
				EVENTS * 150);
		}
		assert_int_equal(limited->spill != NULL, columns > 8);
		tscope_trace_free(limited);
	}
	tscope_trace_free(without);
	tscope_spill_free(spill);
}

TEST(without_memory_it_says_so)
{
	struct builder_options options = { .memory_limit = 20000, .spill = *state };

	/* Memory that cannot be given back is kept. */
	struct alloc_sweep sweep = { .may_survive = true };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_trace *trace = NULL;
		alloc_sweep_try(&sweep, test_trace_try_finish(many_events(&options, true, 3),
							      &trace, &sweep.err));
		tscope_trace_free(trace);
	}
}

TEST(with_a_file_it_says_so)
{
	struct tscope_spill *spill = open_spill();

	*state = spill;
	without_memory_it_says_so(state);
	*state = NULL;
	tscope_spill_free(spill);
}
