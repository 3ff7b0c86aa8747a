/* SPDX-License-Identifier: MIT */
/*
 * CROSS.CORRELATED_INSTABILITY: loss, gradients, time or memory jump in the same steps. The
 * analyzer correlation finds the groups of steps; this rule reports them.
 */
#include "rules/rule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/print_text.h"
#include "base/scaled_text.h"

#define GROUPS "correlation.groups"
enum { MAX_SHOWN = 3 }; /* groups in words */

static int64_t step_of(const struct rule_context *ctx, size_t group, const char *column)
{
	struct tscope_value value = tsi_rule_cell(ctx, GROUPS, group, column);

	return value.kind == TSCOPE_VALUE_INT ? value.integer : 0;
}

static const char *axes_of(const struct rule_context *ctx, size_t group)
{
	struct tscope_value value = tsi_rule_cell(ctx, GROUPS, group, "axes");

	return value.kind == TSCOPE_VALUE_TEXT ? value.text : "";
}

static void fire(struct rule_context *ctx, size_t group_count)
{
	int64_t first = step_of(ctx, 0, "first_step"), last = step_of(ctx, 0, "last_step");
	const char *axes = axes_of(ctx, 0);

	if (group_count > 1)
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
			      "signals jump together %zu times, first in step %" PRId64,
			      group_count, first);
	else if (first == last)
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH, "%s jump together in step %" PRId64, axes,
			      first);
	else
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
			      "%s jump together in steps %" PRId64 " to %" PRId64, axes, first,
			      last);
}

/* "step 25: grad_norm, loss (loss 8.1, grad_norm 40, 130.0 ms)"; alone: "loss 8.1, …" */
static void describe_group(struct rule_context *ctx, size_t group, bool is_only)
{
	static const struct {
		const char *column;
		bool is_scaled;
		enum quantity quantity;
	} values[] = {
		{ "loss", false, 0 },
		{ "grad_norm", false, 0 },
		{ "step_ns", true, QUANTITY_TIME },
		{ "alloc_bytes", true, QUANTITY_SIZE },
	};
	char text[160] = "";

	for (size_t i = 0; i < TSI_COUNT_OF(values); i++) {
		struct tscope_value value = tsi_rule_cell(ctx, GROUPS, group, values[i].column);

		if (value.kind == TSCOPE_VALUE_ABSENT)
			continue;
		if (values[i].is_scaled)
			tsi_join_text(
				text, sizeof(text), ", ", "%s",
				tsi_scaled_text(tsi_value_real(value), values[i].quantity).chars);
		else
			tsi_join_text(text, sizeof(text), ", ", "%s %.4g", values[i].column,
				      tsi_value_real(value));
	}
	if (is_only) {
		tsi_rule_detail(ctx, "%s", text);
		return;
	}
	tsi_rule_detail(ctx, "step %" PRId64 ": %s (%s)", step_of(ctx, group, "peak_step"),
			axes_of(ctx, group), text);
}

static void evaluate_cross_correlated_instability(struct rule_context *ctx)
{
	size_t group_count = tsi_rule_rows(ctx, GROUPS);

	if (group_count == 0)
		return;
	fire(ctx, group_count);
	bool is_only =
		group_count == 1 && step_of(ctx, 0, "first_step") == step_of(ctx, 0, "last_step");
	for (size_t i = 0; i < group_count && i < MAX_SHOWN; i++)
		describe_group(ctx, i, is_only);
	if (group_count > MAX_SHOWN)
		tsi_rule_detail(ctx, "and %zu more in " GROUPS, group_count - MAX_SHOWN);
}

const struct rule tsi_rule_cross_correlated_instability = {
	.def = {
		.id = "CROSS.CORRELATED_INSTABILITY",
		.summary = "loss, gradients, time or memory jump in the same steps",
		.trigger = "Fires where in any step at least two of loss, gradient norm, step "
			   "time and allocated memory jump above their near past, or the loss is "
			   "not finite; high.",
		.meaning = "One signal that jumps is noise. Several at once are an event: a bad "
			   "batch, a bad update, or a disturbance of the machine.",
		.advice = "look at the batch of that step (lengths, labels, bad values) and at "
			  "the learning rate there; clip gradients, lengthen the warm-up, skip "
			  "updates whose gradient norm is an outlier",
		.example = "In step 25 the loss is 8.1 after 2.0 and the gradient norm 40 after "
			   "1.2: a finding of severity high that names step 25, loss and "
			   "grad_norm.",
		.facts = { "correlation.group_count" },
	},
	.evidence = { "correlation.group_count" },
	.cause = CAUSE_correlated_instability,
	.evaluate = evaluate_cross_correlated_instability,
};
