/* SPDX-License-Identifier: MIT */
/* Metrics by name, and what is taken for learning rate, throughput and MFU. */
#include "analysis_check.h"
#include "metric_lines.h"
#include "step_text.h"

#include "base/attributes.h"
#include "check.h"
#include "memory_sweep.h"

static struct step_series series_of(const char *text)
{
	struct step_series steps = test_steps(text);

	tsi_scalars_note(&steps, "csv");
	tsi_scalars_settle(&steps, NULL);
	return steps;
}

static struct analyzed *analyze_text(const char *text)
{
	struct step_series steps = series_of(text);

	return analyze_rank(&steps, NULL);
}

#define ROWS                                                                                       \
	"scalars.by_name: name role count first_step last_step first last min max mean "           \
	"nonfinite_count"

/* Step 0 is warm-up. Of x 1, NaN and 3 count: the mean of 1 and 3 is 2. */
TEST(figures_by_name)
{
	struct analyzed *a = analyze_text("0 warmup lr:9 x:100 y:7\n"
					  "1 data=5 lr:0.5 x:1 loss=4\n"
					  "2 first lr:0.25 x:nan loss=2\n"
					  "5 x:3 z:inf\n");

	check_facts(a, "scalars: name_count value_count nonfinite_count loss_name", "4 8 2 loss");
	check_facts(a, "scalars: learning_rate_name learning_rate throughput_name mfu_name",
		    "lr 0.25 - -");
	check_table(a, ROWS,
		    "loss loss 2 1 2 4 2 2 4 3 0\n"
		    "lr learning_rate 2 1 2 0.5 0.25 0.25 0.5 0.375 0\n"
		    "x  3 1 5 1 3 1 3 2 1\n"
		    "z  1 5 5 - - - - - 1\n");
	check_table(a, "scalars.by_name: name source", "loss csv\nlr csv\nx csv\nz csv\n");
}

TEST(nothing_is_absent)
{
	struct analyzed *a = analyze_text("0 data=5\n");

	check_facts(a, "scalars: name_count value_count nonfinite_count", "- - -");
	check_table(a, "scalars.by_name: name", "");
}

/* Means of throughput and MFU; the learning rate's last value. */
TEST(roles)
{
	static const struct {
		const char *text, *expected, *doubt;
	} cases[] = {
		{ "0 mfu:0.25 throughput/samples_per_sec:100\n1 mfu:0.5\n2 throughput/"
		  "samples_per_sec:300\n",
		  "mfu 0.375 throughput/samples_per_sec 200", NULL },
		{ "0 mfu(%):40\n1 mfu(%):30\n", "mfu(%) 0.35 - -", NULL },
		{ "0 mfu:40\n", "mfu 40 - -",
		  "above 1: perhaps a percentage, which its name does not say" },
		{ "0 mfu:nan tokens_per_sec:inf\n", "mfu - tokens_per_sec -", NULL },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct analyzed *a = analyze_text(cases[i].text);

		check_facts(a, "scalars: mfu_name mfu_ratio throughput_name throughput",
			    cases[i].expected);
		check_doubt(a, "scalars.mfu_ratio", cases[i].doubt);
	}
}

/* (1.5e308 - 1.5e308 + 1.5e308) ÷ 3: no sum on the way is infinite. */
TEST(means_do_not_overflow)
{
	struct analyzed *a = analyze_text("0 x:1.5e308 y:1.5e308\n1 x:-1.5e308 y:1.5e308\n"
					  "2 x:1.5e308\n");

	check_table(a, "scalars.by_name: name mean min max",
		    "x 5e+307 -1.5e+308 1.5e+308\ny 1.5e+308 1.5e+308 1.5e+308\n");
}

/* The step numbers at both ends are figures like others. */
TEST(any_step)
{
	struct step_series steps = test_steps("");
	struct analyzed *a;

	test_join(&steps, "9223372036854775807 a 2\n-9223372036854775808 a 1\n", "tensorboard");
	tsi_scalars_settle(&steps, NULL);
	a = analyze_rank(&steps, NULL);
	check_table(a, "scalars.by_name: first_step first last_step last source",
		    "-9223372036854775808 1 9223372036854775807 2 tensorboard\n");
}

/* Each allocation fails in turn. */
TEST(lack_of_memory)
{
	struct step_series steps = series_of("0 lr:1 x:2 loss=3\n1 y:4\n");
	const struct tscope_analysis_options options = { 0 };
	struct analysis_scope scope = { .steps = &steps, .options = &options };

	sweep_level(LEVEL_RANK, &scope, 3);
	tsi_steps_deinit(&steps);
}
