/* SPDX-License-Identifier: MIT */
/* KERNEL.OPTIMIZER: the optimizer updates one tensor at a time. */
#include "rules/budget_share.h"
#include "rules/opportunity.h"

#include <string.h>

#define LAUNCHERS "opportunities.by_operator"

static const double least_fills = 0.1; /* of its kernels; fewer are not worth a word */

/* Kernels a step that set gradients to zero, where they could be dropped. */
static double count_fills(const struct rule_context *ctx)
{
	double count = 0;

	for (size_t row = 0; row < tsi_rule_rows(ctx, LAUNCHERS); row++) {
		const char *remedy = tsi_rule_cell_text(ctx, LAUNCHERS, row, "remedy");
		const char *op = tsi_rule_cell_text(ctx, LAUNCHERS, row, "operator");
		if (strcmp(remedy, "optimizer") == 0 &&
		    (strcmp(op, "aten::fill_") == 0 || strcmp(op, "aten::zero_") == 0))
			count += tsi_rule_cell_real(ctx, LAUNCHERS, row, "count");
	}
	return count / tsi_rule_real(ctx, "opportunities.step_count");
}

static void describe_fills(struct rule_context *ctx, double kernel_count)
{
	double fills = count_fills(ctx);

	if (!(fills >= least_fills * kernel_count))
		return;
	tsi_rule_detail(ctx, "%.0f of them fill gradients with zeros", fills);
	tsi_rule_advice(ctx, "zero_grad(set_to_none=True) drops gradients instead of filling them; "
			     "fused=True or foreach=True in torch.optim's optimizers");
}

static void evaluate_kernel_optimizer(struct rule_context *ctx)
{
	double count = tsi_opportunity_count(ctx, "opportunities.optimizer_count");
	double busy = tsi_opportunity_share(ctx, "opportunities.optimizer_total_ns");
	double saving = tsi_opportunity_share(ctx, "opportunities.optimizer_saving_total_ns");
	double gap = tsi_opportunity_share(ctx, "opportunities.optimizer_gap_total_ns");

	if (tsi_rule_int(ctx, "opportunities.optimizer_grouped_count") > 0 ||
	    !(count >= tsi_rule_parameter(ctx, "count")) ||
	    !(saving + gap >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx,
		      saving + gap >= tsi_rule_parameter(ctx, "med") ? TSCOPE_SEVERITY_MED
								     : TSCOPE_SEVERITY_LOW,
		      "the optimizer launches %.0f kernels per step, one tensor at a time", count);
	tsi_rule_detail(ctx, "they run for %.1f %% of the step; idle gaps before them take %.1f %%",
			100 * busy, 100 * gap);
	describe_fills(ctx, count);
	tsi_blame_launchers(ctx, "optimizer");
	tsi_gain_share(ctx, GAIN_OPTIMIZER, saving);
	tsi_gain_share(ctx, GAIN_LAUNCH, gap);
	tsi_rule_bound(ctx);
}

const struct rule tsi_rule_kernel_optimizer = {
	.def = {
		.id = "KERNEL.OPTIMIZER",
		.summary = "the optimizer updates one tensor at a time",
		.trigger = "Fires where the optimizer launches at least count kernels a step, none "
			   "of them named as one that updates many tensors (foreach, fused), and "
			   "such a one could save at least threshold of the steps' time: the gaps "
			   "of at most 100 \xc2\xb5s before them and their own time beyond that of "
			   "one pass over all tensors; med from med on, else low.",
		.meaning = "Each parameter costs several launches of some microseconds; foreach "
			   "and fused optimizers update all in a few. A fused one moves at least "
			   "the bytes of one pass: the kernels of at least 10 \xc2\xb5s of the "
			   "operator that takes longest.",
		.advice = "fused=True or foreach=True in torch.optim's optimizers; of others, "
			  "torch.compile(optimizer.step)",
		.example = "In a step of 100 ms an optimizer launches 480 kernels that with the "
			   "gaps before them take 4 ms, none of them 10 \xc2\xb5s: 0.04, a finding "
			   "of severity low.",
		.parameters = {
			{ "threshold", 0.03, "share of the step at which it fires" },
			{ "med", 0.10, "share of the step from which it is med" },
			{ "count", 100, "kernels a step at which it fires" },
		},
		.facts = { "opportunities.optimizer_count", "opportunities.optimizer_grouped_count",
			   "opportunities.optimizer_total_ns",
			   "opportunities.optimizer_saving_total_ns",
			   "opportunities.optimizer_gap_total_ns",
			   "opportunities.wall_total_ns" },
	},
	.evidence = { "opportunities.optimizer_count", "opportunities.optimizer_total_ns",
		      "opportunities.optimizer_gap_total_ns", "opportunities.wall_total_ns" },
	.cause = CAUSE_optimizer_unfused,
	.evaluate = evaluate_kernel_optimizer,
};
