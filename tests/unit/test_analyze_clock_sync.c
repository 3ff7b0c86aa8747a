/* SPDX-License-Identifier: MIT */
/* The ranks' clocks by what Composer's ranks wrote down together, and who starts steps late. */
#include "analysis_check.h"
#include "step_text.h"
#include "world_text.h"

#include "check.h"

#define FACTS                                                                                      \
	"clock_sync: rank_count max_offset_ns max_error_ns step_count mean_step_skew_ns "          \
	"max_step_skew_ns skew_is_known"
#define RANKS "clock_sync.ranks: rank offset_ns error_ns collectives_offset_ns mean_lateness_ns"

enum { MAX_STEPS = 4, MAX_RANKS = 4 };

/* A rank: its clock, and where steps 0, 1 … start by it; they end with a 0. */
struct rank_case {
	struct step_clock clock;
	int64_t starts_ns[MAX_STEPS];
	const char *steps; /* NULL: as many as there are starts, from 0 */
};

static struct step_series series_of(const struct rank_case *c, int64_t rank)
{
	static const char *const numbered[] = { "", "0 data=1\n", "0 data=1\n1 data=1\n",
						"0 data=1\n1 data=1\n2 data=1\n" };
	size_t count = 0;

	while (count < MAX_STEPS - 1 && c->starts_ns[count] != 0)
		count++;
	struct step_series steps = test_steps(c->steps ? c->steps : numbered[count]);
	steps.rank = rank;
	steps.has_start = true;
	steps.clock = c->clock;
	for (size_t i = 0; i < count; i++)
		test_steps_add_budget(&steps, i)->start_ns = c->starts_ns[i];
	return steps;
}

static struct analyzed *analyze_cases(const struct rank_case *cases, size_t count)
{
	struct step_series ranks[MAX_RANKS];

	assert_true(count <= MAX_RANKS);
	for (size_t i = 0; i < count; i++)
		ranks[i] = series_of(&cases[i], (int64_t)(2 * i));
	return analyze_run(ranks, count, NULL);
}

#define KNOWN(sync, error)                                                                         \
	{                                                                                          \
		.sync_ns = (sync), .error_ns = (error), .is_known = true                           \
	}

/*
 * Rank 2 is 100 ahead, rank 4 is 40 behind. Step 0 starts at 10, 110 - 100 = 10 and -10 + 40 = 30: a
 * skew of 20; step 1 at 60, 70 and 50: 20; step 2 at 90, 90 and 90.
 */
TEST(offsets_and_skew)
{
	static const struct rank_case cases[] = {
		{ KNOWN(1000, 3), { 10, 60, 90 }, NULL },
		{ KNOWN(1100, 5), { 110, 170, 190 }, NULL },
		{ KNOWN(960, 4), { -10, 10, 50 }, NULL },
	};
	struct analyzed *a = analyze_cases(cases, 3);

	check_facts(a, FACTS, "3 100 5 3 13 20 yes");
	/* Late by 0, 10, 0; by 0, 20, 0; by 20, 0, 0. */
	check_table(a, RANKS, "0 0 3 - 3\n2 100 5 - 7\n4 -40 4 - 7\n");
}

TEST(skew_that_the_error_may_be)
{
	static const struct rank_case cases[] = {
		{ KNOWN(1000, 3), { 10 }, NULL },
		{ KNOWN(1000, 5), { 15 }, NULL },
	};
	struct analyzed *a = analyze_cases(cases, 2);

	check_facts(a, FACTS, "2 0 5 1 5 5 no");
}

/* The merger moved rank 2 back by 100, and its offset is still that of its clock. */
TEST(shifted_by_the_merger)
{
	static const struct rank_case cases[] = {
		{ KNOWN(1000, 0), { 10 }, NULL },
		{ { .sync_ns = 1100, .shifted_ns = -100, .is_known = true }, { 17 }, NULL },
	};
	struct analyzed *a = analyze_cases(cases, 2);

	check_table(a, RANKS, "0 0 0 - 0\n2 100 0 - 7\n");
}

/* Without a clock, without Unix time, or of another recording: such a rank is left out. */
TEST(ranks_that_cannot_be_compared)
{
	static const struct rank_case cases[] = {
		{ KNOWN(1000, 0), { 10 }, NULL },
		{ { .is_known = false }, { 20 }, NULL },
		{ { .sync_ns = 9000, .first_step = 7, .is_known = true }, { 30 }, NULL },
		{ KNOWN(1002, 0), { 15 }, NULL },
	};
	struct analyzed *a = analyze_cases(cases, 4);

	check_table(a, RANKS, "0 0 0 - 0\n6 2 0 - 3\n");
	a = analyze_cases(cases, 3);
	check_facts(a, FACTS, "- - - - - - -");
}

/* Step 1 is not on rank 2, step 7 has no budget there. */
TEST(steps_that_not_all_have)
{
	static const struct rank_case cases[] = {
		{ KNOWN(0, 0), { 10, 20, 70 }, "0 data=1\n1 data=1\n7 data=1\n" },
		{ KNOWN(0, 0), { 14, 0 }, "0 data=1\n7 data=1\n" },
	};
	struct analyzed *a = analyze_cases(cases, 2);

	check_facts(a, FACTS, "2 0 0 1 4 4 yes");
}

TEST(no_step_in_common)
{
	static const struct rank_case cases[] = {
		{ KNOWN(0, 0), { 10 }, "3 data=1\n" },
		{ KNOWN(5, 2), { 14 }, "4 data=1\n" },
	};
	struct analyzed *a = analyze_cases(cases, 2);

	check_facts(a, FACTS, "2 5 2 0 - - -");
	check_table(a, RANKS, "0 0 0 - -\n2 5 2 - -\n");
}

TEST(absurd_clocks)
{
	static const struct rank_case cases[] = {
		{ KNOWN(INT64_MIN, INT64_MAX), { INT64_MIN }, NULL },
		{ KNOWN(INT64_MAX, 0), { INT64_MAX }, NULL },
		{ { INT64_MAX, 0, INT64_MIN, 0, true }, { INT64_MAX }, NULL },
	};
	struct analyzed *a = analyze_cases(cases, 3);

	check_facts(a, "clock_sync: rank_count step_count", "3 1");
}

/* Both sources show one offset: rank 1 is 50 ahead by its matched collectives, too. */
TEST(beside_matched_collectives)
{
	struct test_world *w = test_world("rank 0\nstep 0 0 1000\ncompute 0 400\n"
					  "exposed_comm 400 500\n"
					  "all_reduce 400 500 group=dp ranks=0,1 seq=0 bytes=64\n"
					  "rank 1 clock=50\nstep 0 0 1000\ncompute 0 400\n"
					  "exposed_comm 400 500\n"
					  "all_reduce 400 500 group=dp ranks=0,1 seq=0 bytes=64\n");

	for (size_t i = 0; i < 2; i++) {
		w->series[i].has_start = true;
		w->series[i].clock =
			(struct step_clock){ .sync_ns = 1000 + 50 * (int64_t)i, .is_known = true };
	}
	struct analyzed *a = analyze_world(w, NULL);
	check_table(a, RANKS, "0 0 0 0 0\n1 50 0 50 0\n");
}
