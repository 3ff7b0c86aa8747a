/* SPDX-License-Identifier: MIT */
/* The tables of aligned steps: what goes in, and what a step computes. */
#include "analyze/ranks/rank_steps.h"

#include "check.h"
#include "fail_alloc.h"
#include "step_text.h"

static void check_numbers(const int64_t *numbers, const int64_t *expected, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(numbers[i], expected[i]);
}

TEST(tables_of_common_steps)
{
	struct step_series ranks[2] = {
		test_steps("1 forward=7\n"
			   "2 data=1 forward=2 backward=3 optimizer=4 comm=5 compute=6 other=7\n"
			   "3 forward=10 eval=1\n"),
		test_steps("3 comm=3\n2 backward=20 comm=2\n0 forward=9\n"),
	};
	/* Steps 2 and 3, rank after rank. */
	static const int64_t time_ns[] = { 28, 22, 11, 3 };
	static const int64_t compute_ns[] = { 15, 20, 10, 0 };
	static const int64_t comm_ns[] = { 5, 2, 0, 3 };
	struct arena arena = { 0 };
	struct rank_steps steps;

	tsi_rank_steps_fill(&steps, ranks, 2, 0, &arena);
	assert_false(arena.has_failed);
	assert_int_equal(steps.step_count, 2);
	assert_int_equal(steps.rank_count, 2);
	check_numbers(steps.time_ns, time_ns, 4);
	check_numbers(steps.compute_ns, compute_ns, 4);
	check_numbers(steps.comm_ns, comm_ns, 4);
	tsi_arena_deinit(&arena);

	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		alloc_sweep_start(&sweep);
		tsi_rank_steps_fill(&steps, ranks, 2, 0, &arena);
		alloc_sweep_check(&sweep, tsi_arena_status(&arena, &sweep.err));
		tsi_arena_deinit(&arena);
	}
	tsi_steps_deinit(&ranks[0]);
	tsi_steps_deinit(&ranks[1]);
}

static struct step_series traced_rank(bool has_split, uint32_t device_count)
{
	struct step_series steps = test_steps("1 forward=7 comm=5\n");
	struct step_budget budget = { .exposed_ns[EXPOSED_WAIT] = 3, .has_split = has_split };

	steps.is_of_trace = true;
	steps.device_count = device_count;
	steps.records[0].budget = tsi_steps_add_budget(&steps, &budget);
	return steps;
}

/* Traces of hosts alone: who waits for others computes, as it seems. */
TEST(waiting_that_no_trace_tells)
{
	static const struct {
		bool is_of_trace;
		uint32_t device_count;
		int64_t comm_ns; /* of the second rank */
		size_t rank_count;
		bool is_doubted;
	} cases[] = {
		{ true, 0, 0, 2, true },  { true, 0, 0, 1, false },  { true, 0, 5, 2, false },
		{ true, 1, 0, 2, false }, { false, 0, 0, 2, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct step_series ranks[2] = { traced_rank(false, cases[i].device_count),
						traced_rank(false, cases[i].device_count) };

		for (size_t rank = 0; rank < 2; rank++) {
			ranks[rank].is_of_trace = cases[i].is_of_trace;
			ranks[rank].records[0].phase_ns[PHASE_COMM] = 0;
		}
		ranks[1].records[0].phase_ns[PHASE_COMM] = cases[i].comm_ns;
		assert_int_equal(tsi_ranks_doubt(ranks, cases[i].rank_count) != NULL,
				 cases[i].is_doubted);
		tsi_steps_deinit(&ranks[0]);
		tsi_steps_deinit(&ranks[1]);
	}
}

/* Waits are told where all ranks have them, of one device, of a trace. */
TEST(waits_of_traces)
{
	static const struct {
		bool has_split, is_of_trace;
		uint32_t device_count;
		bool are_told;
	} cases[] = {
		{ true, true, 1, true },   { true, true, 0, true },   { true, true, 2, false },
		{ false, true, 1, false }, { true, false, 1, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct step_series ranks[2] = {
			traced_rank(true, 1),
			traced_rank(cases[i].has_split, cases[i].device_count),
		};
		struct arena arena = { 0 };
		struct rank_steps steps;

		ranks[1].is_of_trace = cases[i].is_of_trace;
		tsi_rank_steps_fill(&steps, ranks, 2, 0, &arena);
		assert_false(arena.has_failed);
		assert_int_equal(steps.wait_ns != NULL, cases[i].are_told);
		if (steps.wait_ns)
			assert_int_equal(steps.wait_ns[1], 3);
		tsi_arena_deinit(&arena);
		tsi_steps_deinit(&ranks[0]);
		tsi_steps_deinit(&ranks[1]);
	}
}

TEST(the_first_doubt)
{
	struct step_series ranks[3] = { { .is_of_trace = true },
					{ .is_of_trace = true, .doubt = "one" },
					{ .is_of_trace = true, .doubt = "two" } };

	assert_string_equal(tsi_ranks_doubt(ranks, 3), "one");
	assert_null(tsi_ranks_doubt(ranks, 1));
	/* The doubt is against the trace; times that are the job's own records have none. */
	for (size_t i = 0; i < 3; i++)
		ranks[i].is_of_trace = false;
	assert_null(tsi_ranks_doubt(ranks, 3));
	ranks[2].is_of_trace = true;
	ranks[2].doubt = NULL;
	assert_string_equal(tsi_ranks_doubt(ranks, 3),
			    "times of some ranks are their own records and of others those of "
			    "traces: they do not compare");
}
