/* SPDX-License-Identifier: MIT */
/*
 * What a job logged of its MFU beside what its files tell. In most cases there are steps of 2 s on
 * 4 devices with a peak of 312 TFLOP/s, each of which does 249.6 TFLOP a step (332.8 with what is
 * computed again): an MFU of 249.6 ÷ (2 · 312) = 0.4, and 4 · 249.6 = 998.4 TFLOP a step in all.
 */
#include "analysis_check.h"
#include "metric_lines.h"
#include "step_text.h"

#include <stdio.h>

#include "base/attributes.h"
#include "check.h"

#define TERA 1e12

static struct step_series job(const char *metrics)
{
	struct step_series steps = test_steps("0 forward=2000000000\n1 forward=2000000000\n");

	steps.rank = 0;
	steps.world_size = 4;
	steps.flops_per_step = 249.6 * TERA;
	steps.hardware_flops_per_step = 332.8 * TERA;
	steps.peak_flops = 312 * TERA;
	test_join(&steps, metrics, "mlflow");
	tsi_scalars_settle(&steps, NULL);
	return steps;
}

static struct analyzed *analyze_job(const char *metrics)
{
	struct step_series steps = job(metrics);

	return analyze_run(&steps, 1, NULL);
}

#define LOGGED                                                                                     \
	"logged_efficiency: logged_mfu_ratio logged_flops_per_step logged_steps_per_second "       \
	"logged_peak_flops_per_second"

/* fkat's, with 2 · 312 TFLOP/s for each of 4 devices: 0.5 ÷ (4 · 624 ÷ 998.4) = 0.2 */
TEST(fkat)
{
	struct analyzed *a = analyze_job("0 mfu 0.2\n1 mfu 0.2\n1 batch_flops 998.4e12\n"
					 "1 actual_batches_per_sec 0.5\n1 total_flops 2496e12\n");

	check_facts(a, LOGGED, "0.2 9.984e+14 0.5 6.24e+14");
	check_facts(a,
		    "logged_efficiency: mfu_ratio mfu_factor flops_per_step flops_factor "
		    "steps_per_second peak_flops_per_second",
		    "0.4 2 9.984e+14 1 0.5 3.12e+14");
	check_facts(a, "logged_efficiency: explanation",
		    "the job divides by a peak of 624 TFLOP/s per device, run.json says 312 "
		    "TFLOP/s; twice the dense peak is what the device does with sparse matrices, "
		    "and what fkat's table holds for bf16 and fp16");
}

/*
 * Composer: 998.4 TFLOP at 0.5 steps a second are 499.2 TFLOP/s, a quarter of which is 40 % of
 * 312. Lightning's devices have batches of their own: 124.8 ÷ 0.5 · 4 = 998.4.
 */
TEST(other_loggers)
{
	static const char *const cases[] = {
		"0 throughput/device/mfu 0.4\n0 throughput/batches_per_sec 0.5\n"
		"0 throughput/flops_per_sec 499.2e12\n0 throughput/device/flops_per_sec 124.8e12\n",
		"0 train|device/mfu 0.4\n0 train|device/batches_per_sec 0.5\n"
		"0 train|device/flops_per_sec 124.8e12\n",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct analyzed *a = analyze_job(cases[i]);

		check_facts(a, LOGGED, "0.4 9.984e+14 0.5 3.12e+14");
		check_facts(a, "logged_efficiency: mfu_factor flops_factor explanation", "1 1 -");
	}
}

TEST(explanations)
{
	static const struct {
		const char *metrics, *explanation;
	} cases[] = {
		{ "0 mfu 0.4\n", "-" },
		{ "0 mfu 0.3\n", "-" },
		{ "0 mfu 0.2\n", "half of ours is what a peak for sparse matrices gives, as fkat's "
				 "table holds it for bf16 and fp16" },
		{ "0 mfu(%) 20\n", "half of ours is what a peak for sparse matrices gives, as "
				   "fkat's table holds it for bf16 and fp16" },
		/* 4 · 332.8 = 1331.2 */
		{ "0 batch_flops 1331.2e12\n",
		  "the logged FLOPs count what activation checkpointing computes again; MFU does "
		  "not" },
		{ "0 batch_flops 249.6e12\n", "the logged FLOPs are those of one of 4 devices" },
		{ "0 batch_flops 3993.6e12\n",
		  "the logged FLOPs are the sum over 4 devices of what "
		  "all of them do together" },
		/* Within 5 %, or not. */
		{ "0 batch_flops 1048e12\n", "-" },
		{ "0 batch_flops 500e12\n0 batch_flops_untracked_operations 3\n",
		  "the job counts 500 TFLOP per step, run.json 998.4 TFLOP; its counter did not "
		  "know 3 operations" },
		{ "0 batch_flops 2000e12\n0 batch_flops_untracked_operations 3\n",
		  "the job counts 2000 TFLOP per step, run.json 998.4 TFLOP" },
		/* 0.5 a second are ours. */
		{ "0 mfu 0.4\n0 actual_batches_per_sec 0.46\n", "-" },
		{ "0 mfu 0.4\n0 actual_batches_per_sec 0.4\n",
		  "the job logged 0.4 steps per second; the steps that were read make 0.5 per "
		  "second" },
		/* A peak that is simply another one: 4 · 400. */
		{ "0 mfu 0.4\n0 total_flops 1600e12\n", "the job divides by a peak of 400 TFLOP/s "
							"per device, run.json says 312 TFLOP/s" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct analyzed *a = analyze_job(cases[i].metrics);

		check_facts(a, "logged_efficiency: explanation", cases[i].explanation);
	}
}

/* What cannot be divided by is as if it were not logged; without metrics there is nothing. */
TEST(what_is_no_figure)
{
	static const char *const cases[] = { "",           "0 x 1\n",
					     "0 mfu 0\n",  "0 mfu nan\n",
					     "0 mfu -1\n", "0 batch_flops inf\n" };

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct analyzed *a = analyze_job(cases[i]);

		check_facts(a, LOGGED, "- - - -");
		check_facts(a, "logged_efficiency: mfu_ratio steps_per_second explanation",
			    "- - -");
	}
}

/* How many devices share a step nobody says, so that sums over them are not known. */
TEST(unknown_world)
{
	struct step_series steps =
		job("0 mfu 0.2\n0 batch_flops 998.4e12\n0 total_flops 2496e12\n");
	struct analyzed *a;

	steps.world_size = -1;
	a = analyze_run(&steps, 1, NULL);
	check_facts(a, "logged_efficiency: mfu_factor flops_factor logged_peak_flops_per_second",
		    "2 - -");
	check_doubt(a, "logged_efficiency.flops_factor", "no file says how many ranks there are");
	check_doubt(a, "logged_efficiency.mfu_factor", NULL);
}

/* Without FLOPs of ours there is no MFU to compare with, and it is said why. */
TEST(without_flops)
{
	struct step_series steps = job("0 mfu 0.2\n");
	struct analyzed *a;

	steps.flops_per_step = 0;
	a = analyze_run(&steps, 1, NULL);
	check_facts(a, "logged_efficiency: logged_mfu_ratio mfu_ratio mfu_factor", "0.2 - -");
	check_doubt(a, "logged_efficiency.mfu_factor",
		    "no shapes recorded; use record_shapes=True, --flops-per-step or --model");
}

/* Steps that hold metrics alone say no time. */
TEST(without_times)
{
	struct step_series steps = test_steps("");
	struct analyzed *a;

	test_join(&steps, "0 mfu 0.2\n", "mlflow");
	tsi_scalars_settle(&steps, NULL);
	steps.flops_per_step = 249.6 * TERA;
	steps.peak_flops = 312 * TERA;
	a = analyze_run(&steps, 1, NULL);
	check_facts(a, "logged_efficiency: logged_mfu_ratio mfu_ratio mfu_factor steps_per_second",
		    "0.2 - - -");
}

/* The lowest rank that logs anything; warm-up is in no mean. */
TEST(ranks)
{
	struct step_series both[2] = { job("0 x 1\n"), job("0 mfu 0.9\n1 mfu 0.2\n") };
	struct analyzed *a;

	both[1].rank = 1;
	both[1].records[0].mark = TSCOPE_STEP_WARMUP;
	a = analyze_run(both, 2, NULL);
	check_facts(a, "logged_efficiency: logged_mfu_ratio mfu_ratio", "0.2 0.4");
}
