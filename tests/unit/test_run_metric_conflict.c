/* SPDX-License-Identifier: MIT */
/* run/metric_conflict.c: which metrics cannot be of one run. */
#include "run/scalars.h"

#include <stdio.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "metric_lines.h"
#include "step_text.h"

static struct arena arena; /* says whether memory ran out */

static bool contradict(const char *a_lines, const char *b_lines)
{
	struct metric_log a = test_metrics(a_lines), b = test_metrics(b_lines);
	bool ab, ba;

	ab = tsi_metrics_contradict(&a, &b, &arena);
	ba = tsi_metrics_contradict(&b, &a, &arena);
	assert_false(arena.has_failed);
	assert_int_equal(ab, ba);
	tsi_metric_log_deinit(&a);
	tsi_metric_log_deinit(&b);
	return ab;
}

TEST(test_cases)
{
	static const struct {
		const char *a, *b;
		bool contradict;
	} cases[] = {
		{ "", "", false },
		{ "0 loss 1\n", "", false },
		{ "0 loss 1\n1 loss 2\n2 loss 3\n", "0 loss 1\n1 loss 2\n2 loss 3\n", false },
		{ "0 loss 1\n1 loss 2\n2 loss 3\n", "0 loss 1.5\n1 loss 2.5\n2 loss 3.5\n", true },
		/* Two steps are too few. */
		{ "0 loss 1\n1 loss 2\n2 loss 3\n", "0 loss 1.5\n1 loss 2.5\n2 loss 3\n", false },
		/* Of seven three differ, of six they are half. */
		{ "0 l 1\n1 l 2\n2 l 3\n3 l 4\n4 l 5\n5 l 6\n6 l 7\n",
		  "0 l 9\n1 l 9\n2 l 9\n3 l 4\n4 l 5\n5 l 6\n6 l 7\n", false },
		{ "0 l 1\n1 l 2\n2 l 3\n3 l 4\n4 l 5\n5 l 6\n",
		  "0 l 9\n1 l 9\n2 l 9\n3 l 4\n4 l 5\n5 l 6\n", true },
		/* One part in 10,000 is rounding, two are not. */
		{ "0 l 1\n1 l 1\n2 l 1\n", "0 l 1.0001\n1 l 0.9999\n2 l 1.0001\n", false },
		{ "0 l 1\n1 l 1\n2 l 1\n", "0 l 1.0002\n1 l 0.9998\n2 l 1.0002\n", true },
		{ "0 l 0\n1 l 0\n2 l 0\n", "0 l 0\n1 l -0\n2 l 0\n", false },
		/* What is not finite is equal to itself only. */
		{ "0 l nan\n1 l inf\n2 l -inf\n", "0 l nan\n1 l inf\n2 l -inf\n", false },
		{ "0 l nan\n1 l inf\n2 l -inf\n", "0 l inf\n1 l -inf\n2 l nan\n", true },
		{ "0 l nan\n1 l nan\n2 l nan\n", "0 l 1\n1 l 1\n2 l 1\n", true },
		{ "0 l 1\n1 l 1\n2 l 1\n", "0 l nan\n1 l nan\n2 l nan\n", true },
		/* Other metrics, other steps. */
		{ "0 a 1\n1 a 1\n2 a 1\n", "0 b 2\n1 b 2\n2 b 2\n", false },
		{ "0 a 1\n2 a 1\n4 a 1\n", "1 a 2\n3 a 2\n5 a 2\n", false },
		/* Equal in one (a learning rate), different in another. */
		{ "0 lr 1\n1 lr 1\n2 lr 1\n0 l 1\n1 l 1\n2 l 1\n",
		  "0 l 2\n0 lr 1\n1 lr 1\n1 l 2\n2 l 2\n2 lr 1\n", true },
		/* Three differences of three metrics are one each. */
		{ "0 a 1\n0 b 1\n0 c 1\n", "0 a 2\n0 b 2\n0 c 2\n", false },
		/* Of equal steps the last value holds. */
		{ "0 l 8\n1 l 8\n2 l 8\n0 l 1\n1 l 1\n2 l 1\n", "0 l 1\n1 l 1\n2 l 1\n", false },
		{ "0 l 1\n1 l 1\n2 l 1\n0 l 8\n1 l 8\n2 l 8\n", "0 l 1\n1 l 1\n2 l 1\n", true },
		/* Samples count no steps. */
		{ "0 l 1 sample\n1 l 1 sample\n2 l 1 sample\n", "0 l 2\n1 l 2\n2 l 2\n", false },
		/* From the checkpoint of step 6 on: 6 … 9 of 0 … 15 were done again, 3 of 15. */
		{ "0 l 1\n3 l 1\n6 l 1\n7 l 1\n8 l 1\n9 l 1\n",
		  "6 l 2\n7 l 2\n8 l 2\n9 l 2\n15 l 2\n", false },
		/* It ended early: 6 … 8 of 0 … 9, 2 of 9. */
		{ "0 l 1\n3 l 1\n6 l 1\n7 l 1\n8 l 1\n9 l 1\n", "6 l 2\n7 l 2\n8 l 2\n", false },
		/* They begin with one step: the second begins anew. */
		{ "0 l 1\n1 l 1\n2 l 1\n", "0 l 2\n1 l 2\n2 l 2\n99 l 2\n", true },
		/* The second logs less often: 9 … 29 of 4 … 29 are 20 of 25. */
		{ "4 l 1\n9 l 1\n14 l 1\n19 l 1\n24 l 1\n29 l 1\n", "9 l 2\n19 l 2\n29 l 2\n",
		  true },
		/* 5 … 10 of 0 … 10 are half. */
		{ "0 l 1\n5 l 1\n7 l 1\n10 l 1\n", "5 l 2\n7 l 2\n10 l 2\n", true },
		/* All there is between the ends of numbers does not overflow. */
		{ "-9223372036854775808 l 1\n0 l 1\n9223372036854775807 l 1\n",
		  "-9223372036854775808 l 2\n0 l 2\n9223372036854775807 l 2\n", true },
		{ "-9223372036854775808 l 1\n0 l 1\n1 l 1\n2 l 1\n",
		  "0 l 2\n1 l 2\n2 l 2\n9223372036854775807 l 1\n", false },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		if (contradict(cases[i].a, cases[i].b) != cases[i].contradict)
			fail_msg("case %zu: '%s' and '%s'", i, cases[i].a, cases[i].b);
}

TEST(test_own_records)
{
	static const struct {
		const char *log;
		bool contradict;
	} cases[] = {
		{ "0 train_loss 3\n1 train_loss 2\n2 train_loss 1\n", false },
		{ "0 train_loss 9\n1 train_loss 9\n2 train_loss 9\n", true },
		/* Of 5, 3 and 1.5 the records' are 60, 67 and 67 %: the mean of ranks, or of steps. */
		{ "0 train_loss 5\n1 train_loss 3\n2 train_loss 1.5\n", false },
		/* 3 of 6 is half, and so are 2 of 4 and 1 of 2: no more, and it is another job's. */
		{ "0 train_loss 6\n1 train_loss 4\n2 train_loss 2\n", false },
		{ "0 train_loss 6.1\n1 train_loss 4.1\n2 train_loss 2.1\n", true },
		/* That of validation is another one, and of two losses the better row is asked. */
		{ "0 val_loss 9\n1 val_loss 9\n2 val_loss 9\n", false },
		{ "0 epoch_loss 9\n1 epoch_loss 9\n2 epoch_loss 9\n"
		  "0 train_loss 3\n1 train_loss 2\n2 train_loss 1\n",
		  false },
		{ "0 grad_norm 9\n1 grad_norm 9\n2 grad_norm 9\n", false },
		{ "", false },
	};
	struct step_series steps = test_steps("0 loss=3 grad_norm=1\n1 loss=2 grad_norm=1\n"
					      "2 loss=1 grad_norm=1\n3 data=9\n");

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct metric_log log = test_metrics(cases[i].log);

		if (tsi_metrics_contradict_steps(&log, &steps, &arena) != cases[i].contradict ||
		    arena.has_failed)
			fail_msg("case %zu", i);
		tsi_metric_log_deinit(&log);
	}
	tsi_steps_deinit(&steps);
}

/* Each allocation fails in turn. */
TEST(test_memory)
{
	struct metric_log a = test_metrics("0 l 1\n2 l 1\n1 l 1\n0 m 4\n");
	struct metric_log b = test_metrics("0 x 1\n0 l 2\n2 l 2\n1 l 2\n");
	struct step_series steps = test_steps("2 loss=3\n1 loss=3\n0 loss=4\n");

	for (int kind = 0; kind < 2; kind++) {
		struct alloc_sweep sweep = { .at_least = 2 };
		while (alloc_sweep_next(&sweep)) {
			alloc_sweep_start(&sweep);
			bool is = kind == 0 ? tsi_metrics_contradict(&a, &b, &arena)
					    : tsi_metrics_contradict_steps(&a, &steps, &arena);
			bool has_failed = alloc_sweep_stop(&sweep);
			assert_int_equal(arena.has_failed, has_failed);
			assert_true(!has_failed || !is);
			arena.has_failed = false;
		}
	}
	tsi_metric_log_deinit(&a);
	tsi_metric_log_deinit(&b);
	tsi_steps_deinit(&steps);
}
