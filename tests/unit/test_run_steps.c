/* SPDX-License-Identifier: MIT */
/*
 * run/steps.c and run/align.c: series of steps that are made of traces, cut to a
 * range, joined, and put side by side. Series are written as in step_text.h and
 * compared as in step_dump.h.
 */
#include "run/align.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "random_numbers.h"
#include "step_dump.h"
#include "step_text.h"
#include "trace_builder.h"

enum { MAX_RANKS = 4 };

static void check(const struct step_series *steps, const char *expected)
{
	char *actual = step_dump(steps);

	assert_string_equal(actual, expected);
	free(actual);
}

/* Gives record `index` a budget of one line. */
static void add_budget(struct step_series *steps, size_t index, int64_t wall_ns)
{
	struct step_budget *budget = test_steps_add_budget(steps, index);

	budget->wall_ns = wall_ns;
	budget->device.line_ns[TSCOPE_BUDGET_COMPUTE] = wall_ns;
	steps->device_count = 1;
}

/* ---- one series ---- */

TEST(test_empty)
{
	struct step_series steps, other = { 0 };

	tsi_steps_init(&steps);
	assert_int_equal(steps.rank, -1);
	assert_int_equal(steps.world_size, -1);
	check(&steps, "");
	tsi_steps_move(&other, &steps);
	assert_int_equal(other.rank, -1);
	tsi_steps_deinit(&steps);
	tsi_steps_deinit(&other);
	tsi_steps_deinit(&other);
}

TEST(test_move)
{
	struct step_series from = test_steps("1 data=1 eval=2\n"), to = test_steps("2\n3\n");

	tsi_steps_move(&to, &from);
	check(&to, "1 time=3 data=1 eval=2\n");
	assert_int_equal(from.count, 0);
	assert_null(from.records);
	tsi_steps_deinit(&to);
}

TEST(test_select)
{
	static const struct {
		struct tscope_timeline_options options;
		const char *expected;
	} cases[] = {
		{ { .warmup = 0 }, "1 time=10 a=10\n2 time=20 b=20\n3 first\n4 time=40 a=40\n" },
		{ { .warmup = 3 },
		  "1 warmup time=10 a=10\n2 warmup time=20 b=20\n3 warmup\n4 time=40 a=40\n" },
		{ { .warmup = 9 },
		  "1 warmup time=10 a=10\n2 warmup time=20 b=20\n3 warmup\n4 warmup time=40 "
		  "a=40\n" },
		{ { .has_range = true, .first_step = 2, .last_step = 3 },
		  "2 time=20 b=20\n3 first\n" },
		/* Of those left, the first one warms up. */
		{ { .has_range = true, .first_step = 2, .last_step = 4, .warmup = 1 },
		  "2 warmup time=20 b=20\n3 first\n4 time=40 a=40\n" },
		{ { .has_range = true, .first_step = 4, .last_step = 4 }, "4 time=40 a=40\n" },
		{ { .has_range = true, .first_step = 5, .last_step = 4 }, "" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct step_series steps = test_steps("1 a=10\n2 b=20\n3 first\n4 a=40\n");

		tsi_steps_select(&steps, &cases[i].options);
		check(&steps, cases[i].expected);
		tsi_steps_deinit(&steps);
	}
}

TEST(test_select_nothing)
{
	struct step_series steps = test_steps("1 a=10\n");

	tsi_steps_select(&steps, NULL);
	check(&steps, "1 time=10 a=10\n");
	tsi_steps_deinit(&steps);
}

TEST(test_is_timed)
{
	struct step_series steps = test_steps("1 data=1\n2\n3 warmup data=1\n");

	assert_true(tsi_step_is_timed(&steps.records[0]));
	assert_false(tsi_step_is_timed(&steps.records[1]));
	assert_false(tsi_step_is_timed(&steps.records[2]));
	tsi_steps_deinit(&steps);
}

/* A phase of another name is a double; the largest is none that an integer holds. */
TEST(test_extra_ns)
{
	assert_int_equal(tsi_extra_ns(&(struct step_extra){ .value = 7 }), 7);
	assert_int_equal(tsi_extra_ns(&(struct step_extra){ .value = 0x1p62 }), INT64_C(1) << 62);
	assert_int_equal(tsi_extra_ns(&(struct step_extra){ .value = 0x1p63 }), INT64_MAX);
}

/* ---- from a trace ---- */

/* Steps of the trace that t builds; frees t. */
static struct step_series steps_of(struct test_trace *t)
{
	struct tscope_trace *trace = test_trace_finish(t);
	struct step_series steps;

	struct tscope_timeline *timeline = test_timeline(trace, NULL);
	tsi_steps_init(&steps);
	tsi_steps_add_timeline(&steps, timeline);
	return steps;
}

/*
 * Two devices in two windows of 1000. In step 7 device 0 computes 100 … 401 and
 * device 1 communicates 200 … 500 and computes 500 … 600; there is no operator,
 * so the phase is "compute": of both, (301 + 100) / 2 = 200, comm 300 / 2 = 150,
 * other is what is left of 1000.
 */
TEST(test_phases_of_devices)
{
	struct test_trace *t = test_trace_new();
	struct step_series steps;

	test_metadata(t, "baseTimeNanoseconds", "5000");
	test_annotation(t, "ProfilerStep#7", 1, 0, 1000);
	test_annotation(t, "ProfilerStep#8", 1, 1000, 1000);
	test_call(t, "cudaLaunchKernel", 1, 10, 5, 1);
	test_call(t, "cudaLaunchKernel", 1, 20, 5, 2);
	test_call(t, "cudaLaunchKernel", 1, 30, 5, 3);
	test_call(t, "cudaLaunchKernel", 1, 1010, 5, 4);
	test_kernel(t, "gemm", 0, 7, 100, 301, 1);
	test_kernel(t, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1, 7, 200, 300, 2);
	test_kernel(t, "gemm", 1, 7, 500, 100, 3);
	test_kernel(t, "gemm", 0, 7, 1100, 700, 4);
	steps = steps_of(t);
	assert_int_equal(steps.count, 2);
	assert_int_equal(steps.device_count, 2);
	assert_true(steps.has_start);
	assert_false(steps.has_point_to_point);

	const struct step_record *record = &steps.records[0];
	assert_int_equal(record->number, 7);
	assert_int_equal(record->has, STEP_HAS_TIME);
	assert_int_equal(record->time_ns, 1000);
	assert_int_equal(record->phase_ns[PHASE_COMPUTE] + record->phase_ns[PHASE_FORWARD], 200);
	assert_int_equal(record->phase_ns[PHASE_COMM], 150);
	assert_int_equal(record->phase_ns[PHASE_DATA], 0);
	assert_int_equal(record->phase_ns[PHASE_OTHER], 650);
	for (size_t i = 0; i < STEP_MEMORY_COUNT; i++)
		assert_int_equal(record->memory_bytes[i], NO_BYTES);

	const struct step_budget *budget = &steps.budgets[record->budget];
	assert_int_equal(budget->start_ns, 5000);
	assert_int_equal(budget->wall_ns, 1000);
	assert_int_equal(budget->mark, record->mark);
	assert_int_equal(budget->device.line_ns[TSCOPE_BUDGET_COMPUTE], 401);
	assert_int_equal(budget->device.line_ns[TSCOPE_BUDGET_EXPOSED_COMM], 300);
	assert_int_equal(steps.budgets[steps.records[1].budget].start_ns, 6000);
	tsi_steps_deinit(&steps);
}

/* Without a device the main thread's annotations are the phases. */
TEST(test_phases_of_host)
{
	struct test_trace *t = test_trace_new();
	struct step_series steps;

	test_annotation(t, "ProfilerStep#0", 1, 0, 1000);
	test_annotation(t, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 0,
			200);
	test_annotation(t, "Optimizer.step#SGD.step", 1, 700, 100);
	steps = steps_of(t);
	assert_int_equal(steps.count, 1);
	assert_int_equal(steps.device_count, 0);
	assert_int_equal(steps.records[0].time_ns, 1000);
	assert_int_equal(steps.records[0].phase_ns[PHASE_DATA], 200);
	assert_int_equal(steps.records[0].phase_ns[PHASE_OPTIMIZER], 100);
	assert_int_equal(steps.budgets[0].host.line_ns[HOST_DATA], 200);
	assert_int_equal(steps.budgets[0].device.line_ns[TSCOPE_BUDGET_DATA_STALL], 0);
	tsi_steps_deinit(&steps);
}

/* ---- joining ---- */

TEST(test_append)
{
	struct step_series steps = test_steps("1 data=5\n2 data=6\n");
	struct step_series later = test_steps("0 first data=7\n1 data=8\n");

	add_budget(&steps, 1, 20);
	add_budget(&later, 0, 30);
	add_budget(&later, 1, 40);
	later.device_count = 4;
	later.has_point_to_point = true;
	later.doubt = "later";
	tsi_steps_append(&steps, &later);
	check(&steps, "1 time=5 data=5\n"
		      "2 time=6 data=6 | start=0 wall=20 compute=20\n"
		      "0 first time=7 data=7 | start=0 wall=30 compute=30\n"
		      "1 time=8 data=8 | start=0 wall=40 compute=40\n");
	assert_int_equal(steps.device_count, 4);
	assert_true(steps.has_point_to_point);
	assert_string_equal(steps.doubt, "later");

	/* A doubt once raised stays. */
	later.doubt = "last";
	tsi_steps_append(&steps, &later);
	assert_string_equal(steps.doubt, "later");
	assert_int_equal(steps.count, 6);
	tsi_steps_deinit(&steps);
	tsi_steps_deinit(&later);
}

/* Budgets go to the first record of their number, whatever the order; the rest is appended. */
TEST(test_join)
{
	struct step_series records = test_steps("5 forward=1 loss=2.5\n-3 forward=2\n7 forward=3\n"
						"5 forward=4\n");
	struct step_series trace = test_steps("7 first data=1\n8 incomplete data=2\n9 data=4\n"
					      "-3 data=5\n5 data=6\n");

	for (size_t i = 0; i < trace.count; i++)
		if (trace.records[i].number != 9)
			add_budget(&trace, i, 100 + trace.records[i].number);
	trace.has_start = true;
	tsi_steps_join(&records, &trace);
	/* The marks of a record are its own, those of a step without record the trace's. */
	check(&records, "5 time=1 forward=1 loss:2.5 | start=0 wall=105 compute=105\n"
			"-3 time=2 forward=2 | start=0 wall=97 compute=97\n"
			"7 time=3 forward=3 | start=0 wall=107 mark=first compute=107\n"
			"5 time=4 forward=4\n"
			"8 incomplete | start=0 wall=108 compute=108\n");
	assert_true(records.has_start);
	assert_int_equal(records.device_count, 1);
	tsi_steps_deinit(&records);
	tsi_steps_deinit(&trace);
}

/* The peak is that of the first series that has one; why there is none does not stand in its way. */
TEST(test_peaks)
{
	struct step_series steps = test_steps("1 data=5\n");
	struct step_series unknown = test_steps("1 data=5\n2 data=6\n");
	struct step_series first = test_steps("1 data=5\n"), second = test_steps("3 data=7\n");

	unknown.peak = (struct step_peak){ .lack = "no such device" };
	first.peak = (struct step_peak){ 2e14, "A100", "bf16", "" };
	second.peak = (struct step_peak){ 4e14, "H100 SXM5", "fp16", "" };
	tsi_steps_join(&steps, &unknown);
	assert_string_equal(steps.peak.lack, "no such device");
	tsi_steps_join(&steps, &first);
	assert_true(steps.peak.flops_per_second == 2e14);
	assert_string_equal(steps.peak.device, "A100");
	assert_string_equal(steps.peak.lack, "");
	tsi_steps_append(&steps, &second);
	assert_true(steps.peak.flops_per_second == 2e14);
	assert_string_equal(steps.peak.precision, "bf16");
	tsi_steps_deinit(&steps);
	tsi_steps_deinit(&unknown);
	tsi_steps_deinit(&first);
	tsi_steps_deinit(&second);
}

/* Records that say nothing of time take it from the trace, with the steps that only that has. */
TEST(test_join_without_times)
{
	struct step_series records = test_steps("1 forward=9 loss=2\n2 forward=9 loss=1\n");
	struct step_series trace = test_steps("1 first data=3\n2 forward=4 comm=1\n3 data=2\n");

	for (size_t i = 0; i < records.count; i++) {
		records.records[i].phases = 0;
		records.records[i].phase_ns[PHASE_FORWARD] = records.records[i].time_ns = 0;
	}
	tsi_steps_settle_times(&records);
	assert_true(records.is_timeless);
	for (size_t i = 0; i < trace.count; i++)
		add_budget(&trace, i, trace.records[i].time_ns);
	trace.is_of_trace = true;
	tsi_steps_join(&records, &trace);
	check(&records, "1 first time=3 data=3 loss:2 | start=0 wall=3 compute=3\n"
			"2 time=5 forward=4 comm=1 loss:1 | start=0 wall=5 compute=5\n"
			"3 time=2 data=2 | start=0 wall=2 compute=2\n");
	assert_true(records.is_of_trace && !records.is_timeless);
	tsi_steps_deinit(&records);
	tsi_steps_deinit(&trace);
}

/* A phase of 0 ns is a time; no phase among records with some is none. */
TEST(test_settle_times)
{
	struct step_series records = test_steps("1 forward=0\n2 eval=0\n3 loss=1\n4 forward=2\n");

	records.records[2].has |= STEP_HAS_TIME;
	tsi_steps_settle_times(&records);
	assert_false(records.is_timeless);
	for (size_t i = 0; i < records.count; i++)
		assert_int_equal(tsi_step_is_timed(&records.records[i]), i != 2);
	assert_int_equal(tsi_count_unknown_times(&records), 1);
	tsi_steps_deinit(&records);
}

/* Where all of them are 0 nobody measured. */
TEST(test_times_that_are_all_0)
{
	struct step_series records = test_steps("1 forward=0\n2 eval=0\n");
	struct step_series none = { 0 };

	tsi_steps_settle_times(&records);
	assert_true(records.is_timeless);
	records.records[1].has &= (uint8_t)~STEP_HAS_TIME; /* a figure that is none */
	tsi_steps_settle_times(&records);
	assert_false(records.is_timeless);
	tsi_steps_settle_times(&none);
	assert_false(none.is_timeless);
	tsi_steps_deinit(&records);
}

TEST(test_join_nothing)
{
	struct step_series records = test_steps("5 forward=1\n"), none = test_steps("");

	tsi_steps_join(&records, &none);
	check(&records, "5 time=1 forward=1\n");
	tsi_steps_join(&none, &records);
	check(&none, "");
	tsi_steps_deinit(&records);
	tsi_steps_deinit(&none);
}

/* ---- side by side ---- */

/* Texts of the ranks; the first that is NULL ends them. */
struct side_by_side {
	const char *ranks[MAX_RANKS];
	const char *aligned; /* for each step the indexes of the ranks' records */
	const char *slowest; /* the records as step_dump() shows them */
};

static const struct side_by_side side_by_side_cases[] = {
	/* No rank, one, one without a step. */
	{ { NULL }, "", "" },
	{ { "3 data=5\n1 data=6\n" }, "1\n0\n", "1 time=6 data=6\n3 time=5 data=5\n" },
	{ { "1 data=5\n", "" }, "", "" },
	/* Ties: the lowest rank. */
	{ { "1 data=5\n2 data=5\n", "1 comm=5\n2 comm=6\n" },
	  "0 0\n1 1\n",
	  "1 time=5 data=5\n2 time=6 comm=6\n" },
	/* Only steps that all have, though none is the first or last of each. */
	{ { "1 data=1\n2 data=2\n4 data=4\n6 data=6\n", "2 data=1\n3 data=1\n4 data=1\n5 data=1\n",
	    "0 data=9\n4 data=9\n2 data=9\n" },
	  "1 0 2\n2 2 1\n",
	  "2 time=9 data=9\n4 time=9 data=9\n" },
	{ { "1 data=1\n3 data=1\n", "2 data=1\n4 data=1\n" }, "", "" },
	/* Windows that count again stand side by side as far as all have them; -2 is below 5. */
	{ { "-2 data=9\n-2 data=1\n5 data=3\n", "5 data=9\n-2 data=2\n5 data=1\n" },
	  "0 1\n2 0\n",
	  "-2 time=9 data=9\n5 time=9 data=9\n" },
	{ { "1 data=1\n2 data=2\n1 data=3\n", "1 data=4\n2 data=1\n1 data=2\n" },
	  "0 0\n2 2\n1 1\n",
	  "1 time=4 data=4\n1 time=3 data=3\n2 time=2 data=2\n" },
	/* Marked steps, and those without a time, are not there. */
	{ { "1 first data=1\n2 data=1\n3 data=1\n4 data=1\n",
	    "1 data=1\n2\n3 warmup data=1\n4 data=1\n" },
	  "3 3\n",
	  "4 time=1 data=1\n" },
	/* Nor does a later mark take the place of a record that counts. */
	{ { "1 data=1\n1 warmup data=9\n", "1 data=2\n" }, "0 0\n", "1 time=2 data=2\n" },
	/* What is known of the slowest goes along. */
	{ { "1 data=1 loss=1\n", "1 eval=2 step=3 loss=2.5 alloc=7\n", "1 a=1\n" },
	  "0 0 0\n",
	  "1 time=5 eval=2 step=3 loss:2.5 alloc=7\n" },
};

static size_t make_ranks(struct step_series *ranks, const struct side_by_side *given)
{
	size_t count = 0;

	for (; count < MAX_RANKS && given->ranks[count]; count++)
		ranks[count] = test_steps(given->ranks[count]);
	return count;
}

static void drop_ranks(struct step_series *ranks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tsi_steps_deinit(&ranks[i]);
}

TEST(test_align)
{
	for (size_t i = 0; i < TSI_COUNT_OF(side_by_side_cases); i++) {
		struct step_series ranks[MAX_RANKS];
		size_t rank_count = make_ranks(ranks, &side_by_side_cases[i]);
		struct step_alignment alignment;
		char text[200] = "";
		size_t length = 0;

		assert_int_equal(tsi_align(&alignment, ranks, rank_count, 0, NULL), TSCOPE_OK);
		assert_int_equal(alignment.rank_count, rank_count);
		for (size_t step = 0; step < alignment.count; step++) {
			for (size_t rank = 0; rank < rank_count; rank++) {
				const struct step_record *record =
					tsi_aligned(&alignment, ranks, step, rank);

				length += (size_t)snprintf(text + length, sizeof(text) - length,
							   "%s%td", rank ? " " : "",
							   record - ranks[rank].records);
			}
			length += (size_t)snprintf(text + length, sizeof(text) - length, "\n");
		}
		assert_string_equal(text, side_by_side_cases[i].aligned);
		tsi_alignment_deinit(&alignment);
		tsi_alignment_deinit(&alignment);
		drop_ranks(ranks, rank_count);
	}
}

TEST(test_slowest)
{
	for (size_t i = 0; i < TSI_COUNT_OF(side_by_side_cases); i++) {
		struct step_series ranks[MAX_RANKS], slowest;
		size_t rank_count = make_ranks(ranks, &side_by_side_cases[i]);

		if (rank_count > 0 && ranks[0].count > 0)
			add_budget(&ranks[0], 0, 10); /* does not go along */
		tsi_steps_init(&slowest);
		tsi_steps_slowest(&slowest, ranks, rank_count, 0);
		check(&slowest, side_by_side_cases[i].slowest);
		assert_int_equal(slowest.budget_count, 0);
		tsi_steps_deinit(&slowest);
		drop_ranks(ranks, rank_count);
	}
}

/*
 * Against the definition, on random numbers: the k-th step of a number is aligned
 * if every rank has a k-th one.
 */
TEST(test_align_random)
{
	uint64_t seed = 11;

	for (int round = 0; round < 500; round++) {
		struct step_series ranks[3];
		struct step_alignment alignment;
		size_t next = 0;

		for (size_t rank = 0; rank < 3; rank++) {
			char text[400] = "";
			size_t length = 0;

			for (int i = 0; i < 12; i++) {
				int number = (int)random_below(&seed, 16) - 8;

				length += (size_t)snprintf(text + length, sizeof(text) - length,
							   "%d data=%d\n", number, i);
			}
			ranks[rank] = test_steps(text);
		}
		assert_int_equal(tsi_align(&alignment, ranks, 3, 0, NULL), TSCOPE_OK);
		for (int64_t number = -8; number < 8; number++) {
			size_t places[3][12], counts[3] = { 0 };

			for (size_t rank = 0; rank < 3; rank++)
				for (size_t i = 0; i < 12; i++)
					if (ranks[rank].records[i].number == number)
						places[rank][counts[rank]++] = i;
			for (size_t k = 0; k < counts[0] && k < counts[1] && k < counts[2]; k++) {
				assert_true(next < alignment.count);
				for (size_t rank = 0; rank < 3; rank++)
					assert_int_equal(alignment.records[next * 3 + rank],
							 places[rank][k]);
				next++;
			}
		}
		assert_int_equal(alignment.count, next);
		tsi_alignment_deinit(&alignment);
		drop_ranks(ranks, 3);
	}
}

TEST(test_quorum)
{
	struct step_series ranks[4] = { test_steps("1 data=1\n3 data=1\n"),
					test_steps("1 data=1\n2 data=1\n3 data=1\n"),
					test_steps("1 data=1\n2 data=1\n3 data=1\n"),
					test_steps("2 data=1\n4 data=1\n") };
	struct step_alignment alignment;

	assert_int_equal(tsi_quorum_spare(99, 0), 0);
	assert_int_equal(tsi_quorum_spare(199, 0), 1);
	assert_int_equal(tsi_quorum_spare(10, 85), 1);
	assert_int_equal(tsi_quorum_spare(SIZE_MAX, 100), 0);
	assert_int_equal(tsi_quorum_spare(SIZE_MAX, 51), SIZE_MAX / 100 * 49 + 7);
	/* Each of the first three steps is on three of four ranks. */
	assert_int_equal(tsi_align(&alignment, ranks, 4, 75, NULL), TSCOPE_OK);
	assert_int_equal(alignment.count, 3);
	assert_null(tsi_aligned(&alignment, ranks, 0, 3));
	assert_ptr_equal(tsi_aligned(&alignment, ranks, 1, 3), &ranks[3].records[0]);
	assert_null(tsi_aligned(&alignment, ranks, 1, 0));
	tsi_alignment_deinit(&alignment);
	assert_int_equal(tsi_align(&alignment, ranks, 4, 76, NULL), TSCOPE_OK);
	assert_int_equal(alignment.count, 0);
	tsi_alignment_deinit(&alignment);
	drop_ranks(ranks, 4);
}

/* ---- failures ---- */

/* All that allocates, one after the other. */
static enum tscope_status do_all(struct step_series *steps, const struct step_series *ranks,
				 const struct tscope_timeline *timeline, struct tscope_error *err)
{
	struct step_series slowest;

	tsi_steps_init(steps);
	tsi_steps_add_timeline(steps, timeline);
	tsi_steps_append(steps, &ranks[0]);
	tsi_steps_join(steps, &ranks[1]);
	tsi_steps_init(&slowest);
	tsi_steps_slowest(&slowest, ranks, 2, 0);
	steps->has_failed |= slowest.has_failed;
	tsi_steps_deinit(&slowest);
	return tsi_steps_status(steps, err);
}

TEST(test_allocations)
{
	struct step_series ranks[2] = { test_steps("1 eval=1\n2 eval=2\n"),
					test_steps("1 eval=2 x=3\n2 data=1\n") };
	struct test_trace *t = test_trace_new();

	add_budget(&ranks[0], 0, 5);
	add_budget(&ranks[1], 1, 5);
	test_annotation(t, "ProfilerStep#7", 1, 0, 1000);
	struct tscope_trace *trace = test_trace_finish(t);
	struct tscope_timeline *timeline = test_timeline(trace, NULL);
	struct alloc_sweep sweep = { .at_least = 15 };
	while (alloc_sweep_next(&sweep)) {
		struct step_series steps = { 0 };

		alloc_sweep_try(&sweep, do_all(&steps, ranks, timeline, &sweep.err));
		tsi_steps_deinit(&steps);
	}
	drop_ranks(ranks, 2);
}
