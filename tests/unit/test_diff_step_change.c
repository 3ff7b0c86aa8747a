/* SPDX-License-Identifier: MIT */
/* The verdict on the step time of two sides, and on what it is made of. */
#include "diff_check.h"

#include <stdio.h>

#include "base/attributes.h"
#include "check.h"
#include "memory_sweep.h"

#define STEP(number, rest) "series.steps step=" #number " time_ns=" rest "\n"
#define SIX(rest)                                                                                  \
	STEP(0, rest) STEP(1, rest) STEP(2, rest) STEP(3, rest) STEP(4, rest) STEP(5, rest)
#define TIME(mean, p50, count)                                                                     \
	"step_time.mean_ns " #mean "\nstep_time.p50_ns " #p50 "\nstep_time.count " #count "\n"

struct step_case {
	const char *a, *b;
	const char *verdict, *figures, *test, *typical;
};

/*
 * Where no step varies the means differ for certain (p = 0), and by ranks six of either side are
 * kept apart in 2 of 924 orders: 0.0021645.
 */
static const struct step_case cases[] = {
	{ TIME(100, 100, 6) SIX("100"), TIME(100, 100, 6) SIX("100"), "same",
	  "100 100 0 0 100 100 6 6", "rank 0 0 0 1", "same 0 1" },
	{ TIME(100, 100, 6) SIX("100"), TIME(110, 110, 6) SIX("110"), "changed",
	  "100 110 10 0.1 100 110 6 6", "rank 10 10 10 0", "changed 10 0.0021645" },
	/* Of those that are marked, or that have no time, nothing counts. */
	{ TIME(100, 100, 6) STEP(9, "900 mark=warmup") SIX("100"),
	  TIME(100, 100, 6) SIX("100") "series.steps step=7 line_compute_ns=5\n", "same",
	  "100 100 0 0 100 100 6 6", "rank 0 0 0 1", "same 0 1" },
	{ TIME(100, 100, 2) STEP(0, "100") STEP(1, "100"), TIME(900, 900, 6) SIX("900"),
	  "undecided", "100 900 800 8 100 900 2 6", "none - - - -", "undecided - -" },
	{ TIME(100, 99, 6) SIX("100"), "steps.count 3\n", "only_a", "100 - - - 99 - 6 -",
	  "- - - - -", "- - -" },
	{ "steps.count 3\n", TIME(100, 99, 6) SIX("100"), "only_b", "- 100 - - - 99 - 6",
	  "- - - - -", "- - -" },
	{ "steps.count 3\n", "steps.count 3\n", "-", "- - - - - - - -", "- - - - -", "- - -" },
	/* A report that was saved before there was a series. */
	{ TIME(100, 100, 6), TIME(110, 110, 6) SIX("110"), "not_tested",
	  "100 110 10 0.1 100 110 6 6", "- - - - -", "- - -" },
	{ TIME(9223372036854775807, 0, 6) SIX("9223372036854775807"), TIME(0, 0, 6) SIX("0"),
	  "changed", "9223372036854775807 0 -9223372036854775807 -1 0 0 6 6", "rank - - - 0",
	  "changed - 0.0021645" },
};

TEST(the_verdict_is_on_the_mean)
{
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct compared *c = compare(cases[i].a, cases[i].b);
		check_facts(&c->result, "step_change: verdict", cases[i].verdict);
		check_facts(&c->result,
			    "step_change: a_ns b_ns change_ns change_ratio a_p50_ns b_p50_ns "
			    "a_count b_count",
			    cases[i].figures);
		check_facts(&c->result, "step_change: method shift_ns low_ns high_ns p_value",
			    cases[i].test);
		check_facts(&c->result,
			    "step_change: typical_verdict typical_shift_ns typical_p_value",
			    cases[i].typical);
	}
}

/*
 * 36 steps of 90, and 4 of 400: the mean is 121 where it was 100, the typical step is 10 faster.
 * The mean may be chance, so no change is claimed of it, and none of the typical step's sign.
 */
TEST(a_faster_typical_step_is_no_slower_mean)
{
	int64_t a_ns[40], b_ns[40];
	char a[8192], b[8192];
	size_t a_length = (size_t)snprintf(a, sizeof(a), "%s", TIME(100, 100, 40));
	size_t b_length = (size_t)snprintf(b, sizeof(b), "%s", TIME(121, 90, 40));

	for (size_t i = 0; i < 40; i++) {
		a_ns[i] = 100;
		b_ns[i] = i % 10 == 3 ? 400 : 90;
	}
	series_of(a + a_length, sizeof(a) - a_length, a_ns, 40);
	series_of(b + b_length, sizeof(b) - b_length, b_ns, 40);
	struct compared *c = compare(a, b);
	check_facts(&c->result, "step_change: verdict change_ns method shift_ns",
		    "no_change 21 mean 21");
	check_facts(&c->result, "step_change: typical_verdict typical_shift_ns", "changed -10");
}

TEST(nothing_is_claimed_of_times_in_doubt)
{
	struct compared *c = compare(TIME(0, 0, 6) "! step_time no phases\n",
				     TIME(110, 110, 6) SIX("110 phase_data_ns=4"));

	check_facts(&c->result, "step_change: verdict a_ns b_ns method changed_count",
		    "not_tested 0 110 - 0");
	check_reliability(&c->result, "step_change", "no phases");
	check_table(&c->result, "step_change.parts: part", "");
}

/*
 * Of the parts data, backward and comm take time and are on both sides: three, so p values are
 * three times those of one test. backward: five steps of 100 and one of 160 against 100. The
 * difference of the means is 10, its error 10, t = 1 with 5 degrees: p = 0.363217. The typical step
 * is the same, so that the rank test says nothing: 2 / (1 + 1 / 0.363217) = 0.533, times 3 at most
 * 1. No order of six and six is rare enough for ranks to bound a shift three times as sure: shifts
 * are of the means.
 */
TEST(parts_are_tested_with_all_in_mind)
{
	struct compared *c = compare(
		TIME(500, 500, 6)
			SIX("500 phase_data_ns=7 phase_backward_ns=100 line_compute_ns=0"),
		TIME(500, 500, 6) STEP(0, "500 phase_data_ns=9 phase_backward_ns=160")
			STEP(1, "500 phase_data_ns=9 phase_backward_ns=100 phase_comm_ns=6")
				STEP(2, "500 phase_data_ns=9 phase_backward_ns=100")
					STEP(3, "500 phase_data_ns=9 phase_backward_ns=100") STEP(
						4, "500 phase_data_ns=9 phase_backward_ns=100")
						STEP(5, "500 phase_data_ns=9 phase_backward_ns=100 "
							"host_data_ns=3"));

	check_table(&c->result,
		    "step_change.parts: part verdict a_ns b_ns change_ns shift_ns p_value",
		    "phase_data_ns changed 7 9 2 2 0\n"
		    "phase_backward_ns no_change 100 110 10 10 1\n"
		    /* Steps without it took no time in it: 6 by 6 steps is 1. */
		    "phase_comm_ns no_change 0 1 1 1 1\n"
		    "line_compute_ns only_a 0 - - - -\n"
		    "host_data_ns only_b - 3 - - -\n");
	check_facts(&c->result, "step_change: changed_count", "1");
}

/* The same backward, and a line without time: one test. 2 / (1 + 1 / 0.36321746) = 0.532883. */
TEST(one_part_is_one_test)
{
	struct compared *c = compare(
		TIME(500, 500, 6) SIX("500 phase_backward_ns=100 line_compute_ns=0"),
		TIME(500, 500, 6) STEP(0, "500 phase_backward_ns=160 line_compute_ns=0")
			STEP(1, "500 phase_backward_ns=100 line_compute_ns=0")
				STEP(2, "500 phase_backward_ns=100 line_compute_ns=0") STEP(
					3, "500 phase_backward_ns=100 line_compute_ns=0")
					STEP(4, "500 phase_backward_ns=100 line_compute_ns=0") STEP(
						5, "500 phase_backward_ns=100 line_compute_ns=0"));

	check_table(&c->result, "step_change.parts: verdict p_value",
		    "no_change 0.532883\nsame 1\n");
}

TEST(lines_of_devices_in_doubt_are_not_tested)
{
	struct compared *c = compare(
		TIME(100, 100, 6) SIX("100 phase_data_ns=7 line_compute_ns=50"),
		TIME(110, 110, 6)
			SIX("110 phase_data_ns=9 line_compute_ns=60") "budget.wall_total_ns 660\n! "
								      "budget clipped\n");

	check_facts(&c->result, "step_change: verdict changed_count", "changed 1");
	check_table(&c->result, "step_change.parts: part verdict a_ns b_ns shift_ns",
		    "phase_data_ns changed 7 9 2\n"
		    "line_compute_ns not_tested 50 60 -\n");
}

/* What no reader of ours writes: negative times, texts in the place of numbers. */
TEST(absurd_cells_are_left_out)
{
	struct compared *c = compare(TIME(100, 100, 6) STEP(0, "-5") SIX("100 phase_data_ns=-3"),
				     TIME(100, 100, 6) SIX("100") STEP(9, "1.5"));

	check_facts(&c->result, "step_change: verdict", "same");
	check_table(&c->result, "step_change.parts: part", "");
}

TEST(memory_ends)
{
	struct compared *c =
		compare(TIME(100, 100, 6) SIX("100 phase_data_ns=7 line_compute_ns=5"),
			TIME(110, 110, 6) SIX("110 phase_data_ns=9 line_compute_ns=4"));
	struct analysis_scope scope = { .comparison = &c->comparison };

	sweep_level(LEVEL_DIFF, &scope, 50);
}
