/* SPDX-License-Identifier: MIT */
/*
 * EFFICIENCY.IMPOSSIBLE_MFU: more FLOPs than the device can do: one of the figures
 * is wrong. Which one is likelier, and how, depends on who said it.
 */
#include "rules/rule.h"

#include <string.h>

enum peak_kind { PEAK_SAID, PEAK_OF_TABLE, PEAK_KIND_COUNT };

static const struct peak_source {
	const char *name, *words;
	enum peak_kind kind;
} peak_sources[] = {
	{ "option", "--peak-tflops says", PEAK_SAID },
	{ "run.json", "run.json says", PEAK_SAID },
	{ "device", "the table of devices says", PEAK_OF_TABLE },
};

#define FLOPS_OF_ONE                                                                               \
	"give the FLOPs of one step of one device, not of the whole job or of all accumulated "    \
	"batches"
#define PEAK_OF_ONE                                                                                \
	"give the peak of one whole device in TFLOP/s, of the precision in use, dense and not "    \
	"sparse (--peak-tflops)"
#define PEAK_IF_OTHER                                                                              \
	"if the device is not that of the table, or computes in a lower precision than assumed, "  \
	"give its peak (--peak-tflops)"
#define WITH_PEAK(advice)                                                                          \
	{                                                                                          \
		[PEAK_SAID] = advice "; " PEAK_OF_ONE,                                             \
		[PEAK_OF_TABLE] = advice "; " PEAK_IF_OTHER,                                       \
	}

static const struct flops_source {
	const char *name, *words;
	const char *advice[PEAK_KIND_COUNT];
} flops_sources[] = {
	{ "option", "--flops-per-step says", WITH_PEAK(FLOPS_OF_ONE " (--flops-per-step)") },
	{ "run.json", "run.json says",
	  WITH_PEAK(FLOPS_OF_ONE " (flops_per_step in run.json, or --flops-per-step)") },
	{ "model", "--model says",
	  WITH_PEAK("give --model the batch of one step and the devices that share it "
		    "(devices=...)") },
	{ "operators", "the shapes of operators say",
	  WITH_PEAK("these FLOPs did run: either the steps do not hold the work that they launched "
		    "(--step-marker), or the peak is wrong") },
};

static const struct peak_source *find_peak_source(const char *name)
{
	for (size_t i = 0; i < TSI_COUNT_OF(peak_sources); i++)
		if (strcmp(peak_sources[i].name, name) == 0)
			return &peak_sources[i];
	return NULL;
}

static const struct flops_source *find_flops_source(const char *name)
{
	for (size_t i = 0; i < TSI_COUNT_OF(flops_sources); i++)
		if (strcmp(flops_sources[i].name, name) == 0)
			return &flops_sources[i];
	return NULL;
}

static void describe_sources(struct rule_context *ctx)
{
	const struct flops_source *flops =
		find_flops_source(tsi_rule_text(ctx, "efficiency.flops_source"));
	const struct peak_source *peak =
		find_peak_source(tsi_rule_text(ctx, "efficiency.peak_source"));

	if (!flops || !peak)
		return;
	tsi_rule_detail(ctx, "%s %.4g TFLOP in a step of %s", flops->words,
			tsi_rule_real(ctx, "efficiency.flops_per_step") / 1e12,
			tsi_rule_time(ctx, "efficiency.mean_wall_ns").chars);
	tsi_rule_detail(ctx, "%s %.4g TFLOP/s", peak->words,
			tsi_rule_real(ctx, "efficiency.peak_flops") / 1e12);
	if (peak->kind == PEAK_OF_TABLE)
		tsi_rule_detail(ctx, "that is %s at %s, dense",
				tsi_rule_text(ctx, "efficiency.device"),
				tsi_rule_text(ctx, "efficiency.precision"));
	tsi_rule_advice(ctx, flops->advice[peak->kind]);
}

static void evaluate_efficiency_impossible_mfu(struct rule_context *ctx)
{
	/* Too much is too much even where it is but a lower bound. */
	bool is_known = tsi_rule_needs(ctx, "efficiency.mfu_uncapped");
	bool is_lower_bound = tsi_rule_flag(ctx, "efficiency.mfu_is_lower_bound");
	double mfu = tsi_rule_real(ctx, "efficiency.mfu_uncapped");

	if (!is_known || mfu <= tsi_rule_parameter(ctx, "threshold"))
		return;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
		      "FLOPs or peak are wrong: together they give an MFU of %s%.0f %%",
		      is_lower_bound ? "at least " : "", 100 * mfu);
	describe_sources(ctx);
}

const struct rule tsi_rule_efficiency_impossible_mfu = {
	.def = {
		.id = "EFFICIENCY.IMPOSSIBLE_MFU",
		.summary = "the MFU is above 100 %: FLOPs or peak are wrong",
		.trigger = "Fires where the MFU before it is capped at 1 is above threshold, be it "
			   "a lower bound; high.",
		.meaning = "No device does more than its peak. An MFU that is capped to 100 % "
			   "looks perfect, and every gate on it holds.",
		.advice = FLOPS_OF_ONE " (--flops-per-step); " PEAK_OF_ONE,
		.example = "4e15 FLOPs in a step of 1 s with a peak of 989 TFLOP/s give 404 %: a "
			   "finding of severity high. They were the FLOPs of 8 devices.",
		.parameters = {
			{ "threshold", 1, "MFU above which it fires" },
		},
		.facts = { "efficiency.wall_ns" },
	},
	.evidence = { "efficiency.mfu_uncapped", "efficiency.flops_per_step",
		      "efficiency.flops_source", "efficiency.peak_flops", "efficiency.peak_source",
		      "efficiency.device", "efficiency.precision", "efficiency.wall_ns" },
	.cause = CAUSE_mfu_impossible,
	.evaluate = evaluate_efficiency_impossible_mfu,
};
