/* SPDX-License-Identifier: MIT */
/* The loss's trend and end, and the steps in which loss or gradient jump. */
#include "analysis_check.h"
#include "step_text.h"

#include "check.h"

static struct analyzed *analyze_text(const char *text)
{
	struct step_series steps = test_steps(text);

	return analyze_rank(&steps, NULL);
}

static void check_loss(const char *text, const char *expected)
{
	struct analyzed *a = analyze_text(text);

	check_facts(a, "convergence: loss_trend final_loss best_loss diverged_at loss_count",
		    expected);
}

TEST(the_trend_needs_two_percent)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "", "- - - - -" },
		{ "1 loss=3\n2 loss=2\n3 loss=1\n", "unknown 1 1 - 3" },
		{ "1 loss=100\n2 loss=7\n3 loss=90\n4 loss=98\n", "plateau 98 7 - 4" },
		{ "1 loss=100\n2 loss=7\n3 loss=90\n4 loss=97.9\n", "improving 97.9 7 - 4" },
		{ "1 loss=100\n2 loss=7\n3 loss=90\n4 loss=102\n", "plateau 102 7 - 4" },
		{ "1 loss=100\n2 loss=7\n3 loss=90\n4 loss=102.1\n", "worsening 102.1 7 - 4" },
		/* Of a loss below zero the change counts by its size ... */
		{ "1 loss=-100\n2 loss=-1\n3 loss=-1\n4 loss=-103\n", "improving -103 -103 - 4" },
		/* ... and of zero it counts as it is. */
		{ "1 loss=0\n2 loss=1\n3 loss=1\n4 loss=0.021\n", "worsening 0.021 0 - 4" },
		{ "1 loss=0\n2 loss=1\n3 loss=1\n4 loss=0.019\n", "plateau 0.019 0 - 4" },
		/* Warm-up, and steps that have no loss, are not there. */
		{ "1 warmup loss=9\n2 forward=3\n3 loss=4\n", "unknown 4 4 - 1" },
		/* What is odd about the time of a step is not odd about its loss. */
		{ "1 first loss=9\n2 forward=3\n3 incomplete loss=4\n", "unknown 4 4 - 2" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		check_loss(cases[i].text, cases[i].expected);
}

/* GRPO: the reward counts. DPO has rewards of both answers, and a loss that falls. */
TEST(a_loss_beside_a_reward_need_not_fall)
{
	static const char reason[] =
		"a reward is logged: in reinforcement learning the loss need not fall";
	static const struct {
		const char *text, *doubt;
	} cases[] = {
		{ "1 loss=1 train/reward:1\n2 loss=1\n3 loss=1\n4 loss=2\n", reason },
		{ "1 loss=1 reward:1\n2 loss=1\n3 loss=1\n4 loss=2\n", reason },
		{ "1 loss=1 rewards/chosen:1\n2 loss=1\n3 loss=1\n4 loss=2\n", NULL },
		{ "1 loss=1 reward:1\n2 loss=nan\n", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		check_doubt(analyze_text(cases[i].text), "convergence.loss_trend", cases[i].doubt);
	}
}

TEST(a_loss_that_is_not_finite_has_diverged)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "5 loss=2\n6 loss=1\n7 loss=nan\n8 loss=0.5\n9 loss=inf\n",
		  "diverged 0.5 0.5 7 5" },
		{ "5 loss=-inf\n6 loss=3\n", "diverged 3 3 5 2" },
		{ "5 loss=nan\n", "diverged - - 5 1" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		check_loss(cases[i].text, cases[i].expected);
}

TEST(ends_are_medians_of_a_tenth)
{
	/*
	 * 20 losses: the windows hold 2. The first have median (100 + 80) ÷ 2 = 90, the last
	 * (60 + 122) ÷ 2 = 91: a plateau, where the ends alone would say worsening.
	 */
	check_loss("1 loss=100\n2 loss=80\n3 loss=70\n4 loss=70\n5 loss=70\n6 loss=70\n7 loss=70\n"
		   "8 loss=70\n9 loss=70\n10 loss=70\n11 loss=70\n12 loss=70\n13 loss=70\n"
		   "14 loss=70\n15 loss=70\n16 loss=70\n17 loss=70\n18 loss=70\n19 loss=60\n"
		   "20 loss=122\n",
		   "plateau 122 60 - 20");
}

TEST(spikes_are_told_by_step_number)
{
	/* Step 15 lacks a loss and 16 is not finite; the sixth loss before 19 is that of 11. */
	struct analyzed *a = analyze_text("10 warmup loss=1 grad_norm=1\n"
					  "11 loss=2 grad_norm=1\n"
					  "12 loss=2 grad_norm=1\n"
					  "13 loss=2 grad_norm=1\n"
					  "14 loss=2 grad_norm=1\n"
					  "15 grad_norm=1\n"
					  "16 loss=nan grad_norm=1\n"
					  "17 loss=2 grad_norm=8\n"
					  "18 loss=2 grad_norm=1\n"
					  "19 loss=3.1 grad_norm=inf\n"
					  "20 loss=3\n");

	check_table(a, "convergence.loss_spikes: step", "19\n");
	check_table(a, "convergence.grad_norm_spikes: step", "17\n");
}

TEST(the_gradient_speaks_without_a_loss)
{
	struct analyzed *a = analyze_text("1 grad_norm=1\n2 grad_norm=1\n3 grad_norm=1\n"
					  "4 grad_norm=1\n5 grad_norm=1\n6 grad_norm=1\n"
					  "7 grad_norm=2\n");

	check_facts(a, "convergence: loss_trend loss_count", "- -");
	check_table(a, "convergence.loss_spikes: step", "");
	check_table(a, "convergence.grad_norm_spikes: step", "7\n");
}
