/* SPDX-License-Identifier: MIT */
/* Shared by the findings on matrix products. */
#include "rules/matrix_finding.h"

#include <math.h>
#include <string.h>

#include "base/attributes.h"
#include "base/scaled_text.h"
#include "rules/budget_share.h"

#define KINDS "kernels.by_kind"
#define NAMES "kernels.by_name"

/* Other precisions are not judged. */
static const struct {
	const char *name;
	double piece;
} precisions[] = {
	{ "fp32", 4 }, { "tf32", 4 }, { "fp16", 8 }, { "bf16", 8 }, { "fp8", 16 }, { "int8", 16 },
};

void tsi_advise_float16(struct rule_context *ctx, const char *training)
{
	tsi_rule_advice_for(ctx, ADVICE_TRAINING, training);
	tsi_rule_advice_for(ctx, ADVICE_INFERENCE,
			    "weights and activations in float16 (model.half()), or quantized, "
			    "where the results allow it");
	tsi_rule_advice_for(ctx, ADVICE_SERVING, "serve in --dtype float16");
}

double tsi_piece_of(const char *precision)
{
	for (size_t i = 0; i < TSI_COUNT_OF(precisions); i++)
		if (strcmp(precisions[i].name, precision) == 0)
			return precisions[i].piece;
	return 0;
}

double tsi_kind_ns(const struct rule_context *ctx, const char *kind)
{
	for (size_t row = 0; row < tsi_rule_rows(ctx, KINDS); row++)
		if (strcmp(tsi_rule_cell_text(ctx, KINDS, row, "kind"), kind) == 0)
			return tsi_rule_cell_real(ctx, KINDS, row, "total_ns");
	return 0;
}

double tsi_product_ns(const struct rule_context *ctx, size_t row)
{
	double ns = tsi_operator_number(ctx, row, "product_ns");

	return isnan(ns) ? tsi_operator_number(ctx, row, "device_ns") : ns;
}

static const enum gain_part gain_parts[PRODUCT_PARTS] = { GAIN_GEMM_SINGLE, GAIN_GEMM_UNALIGNED,
							  GAIN_GEMM_ALIGNED };

/* The index of its kind in gain_parts. */
static size_t part_of(const struct rule_context *ctx, size_t row)
{
	const char *precision = tsi_operator_text(ctx, row, "precision");

	if (strcmp(precision, "fp32") == 0 || strcmp(precision, "tf32") == 0)
		return 0;
	return tsi_operator_number(ctx, row, "alignment") < tsi_piece_of(precision) ? 1 : 2;
}

/* Where no gain is known time decides. */
static bool is_worse(const struct worst_product *a, const struct worst_product *b)
{
	if (a->gain_ns > 0 || b->gain_ns > 0)
		return a->gain_ns > b->gain_ns;
	return a->ns > b->ns;
}

void tsi_add_product(const struct rule_context *ctx, struct slow_products *slow, size_t row,
		     double gain_ns)
{
	struct worst_product candidate = { row, tsi_product_ns(ctx, row), gain_ns };

	slow->ns += candidate.ns;
	slow->gain_ns += gain_ns;
	slow->part_gain_ns[part_of(ctx, row)] += gain_ns;
	for (size_t i = 0; i < WORST_PRODUCTS; i++) {
		if (is_worse(&candidate, &slow->worst[i])) {
			struct worst_product next = slow->worst[i];
			slow->worst[i] = candidate;
			candidate = next;
		}
	}
}

double tsi_decoding_share(const struct rule_context *ctx, double least)
{
	double bound_ns = 0;

	if (strcmp(tsi_rule_text(ctx, "steps.boundary"), "iteration") != 0)
		return 0;
	for (size_t row = 0; row < tsi_operator_rows(ctx); row++) {
		double ns = tsi_product_ns(ctx, row);

		if (tsi_operator_number(ctx, row, "flops") > 0 &&
		    strcmp(tsi_operator_text(ctx, row, "bound"), "memory") == 0 &&
		    tsi_operator_number(ctx, row, "roofline_ns") >= least * ns)
			bound_ns += ns;
	}
	return tsi_device_share(ctx, bound_ns);
}

void tsi_gain_products(struct rule_context *ctx, const struct slow_products *slow)
{
	for (size_t i = 0; i < PRODUCT_PARTS; i++)
		if (slow->part_gain_ns[i] > 0 || slow->gain_ns <= 0)
			tsi_gain_share(ctx, gain_parts[i],
				       tsi_device_share(ctx, slow->part_gain_ns[i]));
}

struct slow_products tsi_find_products(const struct rule_context *ctx, judge_product *judge)
{
	struct slow_products slow = { 0 };

	for (size_t row = 0; row < tsi_operator_rows(ctx); row++) {
		double gain_ns = tsi_operator_number(ctx, row, "flops") > 0 ? judge(ctx, row) : NAN;
		if (!isnan(gain_ns))
			tsi_add_product(ctx, &slow, row, gain_ns);
	}
	return slow;
}

/* The row of a kernel, or that behind the last. */
static size_t find_kernel(const struct rule_context *ctx, const char *kernel)
{
	size_t row = 0;

	while (row < tsi_rule_rows(ctx, NAMES) &&
	       strcmp(tsi_rule_cell_text(ctx, NAMES, row, "name"), kernel) != 0)
		row++;
	return row;
}

void tsi_place_kernel(struct rule_context *ctx, const char *kernel)
{
	size_t row = find_kernel(ctx, kernel);

	if (row < tsi_rule_rows(ctx, NAMES))
		tsi_rule_longest(ctx, NAMES, row);
}

void tsi_describe_site(struct rule_context *ctx, const char *kernel)
{
	size_t row = find_kernel(ctx, kernel);

	if (row < tsi_rule_rows(ctx, NAMES))
		tsi_rule_site(ctx, NAMES, row, "the longest call of its kernel");
}

void tsi_describe_products(struct rule_context *ctx, const struct slow_products *slow)
{
	for (size_t i = 0; i < WORST_PRODUCTS; i++) {
		const struct worst_product *worst = &slow->worst[i];
		if (!(worst->ns > 0))
			break;
		const char *kernel = tsi_operator_text(ctx, worst->row, "kernel");
		struct operator_words words = tsi_operator_words(ctx, worst->row);
		if (i == 0) {
			tsi_rule_subject(ctx)->op = tsi_operator_text(ctx, worst->row, "name");
			tsi_rule_subject(ctx)->kernel = *kernel ? kernel : NULL;
		}
		tsi_place_kernel(ctx, kernel);
		double gain_ns = tsi_operator_step_ns(ctx, worst->row, worst->gain_ns);
		if (gain_ns > 0)
			tsi_rule_detail(ctx, "%s could be %s per step shorter", words.text,
					tsi_time_text(gain_ns).chars);
		else if (worst->gain_ns == 0)
			tsi_rule_detail(
				ctx, "%s takes %s per step", words.text,
				tsi_time_text(tsi_operator_step_ns(ctx, worst->row, worst->ns))
					.chars);
	}
	if (slow->worst[0].ns > 0)
		tsi_describe_site(ctx, tsi_operator_text(ctx, slow->worst[0].row, "kernel"));
}
