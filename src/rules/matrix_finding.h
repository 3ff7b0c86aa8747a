/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_MATRIX_FINDING_H
#define TSCOPE_RULES_MATRIX_FINDING_H

#include "rules/operator_words.h"

/*
 * Findings on products of matrices have one form: of the operators with known FLOPs, those that a
 * rule judges, the time that they take and could save, and the worst of them by name.
 */
enum { WORST_PRODUCTS = 2 };

enum { PRODUCT_PARTS = 3 }; /* kinds of products that gain.h distinguishes */

struct slow_products {
	double ns, gain_ns; /* of the whole trace */
	double part_gain_ns[PRODUCT_PARTS];
	struct worst_product {
		size_t row;
		double ns, gain_ns;
	} worst[WORST_PRODUCTS];
};

/* Time of all calls of an operator that mending it would save; NaN: the rule does not blame it. */
typedef double judge_product(const struct rule_context *ctx, size_t row);

/* Time of the kernels that multiply, where their names say it; else all time of the operator. */
double tsi_product_ns(const struct rule_context *ctx, size_t row);

struct slow_products tsi_find_products(const struct rule_context *ctx, judge_product *judge);

void tsi_add_product(const struct rule_context *ctx, struct slow_products *slow, size_t row,
		     double gain_ns);

/* Claims what they could save, by kind of product: rules that blame others do not share it. */
void tsi_gain_products(struct rule_context *ctx, const struct slow_products *slow);

/* Once the rule has fired: the worst become details, subject and places. */
void tsi_describe_products(struct rule_context *ctx, const struct slow_products *slow);

/*
 * The share of the devices' time in products and attention of an engine's iterations that memory
 * bounds, at `least` of its bandwidth or more; 0 for other steps.
 */
double tsi_decoding_share(const struct rule_context *ctx, double least);

/* The longest kernel of this name is a place to look at. */
void tsi_place_kernel(struct rule_context *ctx, const char *kernel);
/* Which module and function that is in. */
void tsi_describe_site(struct rule_context *ctx, const char *kernel);

/* For a device without bfloat16: this advice for training, and float16 for all others. */
void tsi_advise_float16(struct rule_context *ctx, const char *training);

/* The sizes that tensor cores take in one piece, 16 bytes; 0: such operands are not judged. */
double tsi_piece_of(const char *precision);

/* Time of all kernels of a kind; 0 where there are none. */
double tsi_kind_ns(const struct rule_context *ctx, const char *kind);

#endif
