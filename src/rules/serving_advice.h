/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_SERVING_ADVICE_H
#define TSCOPE_RULES_SERVING_ADVICE_H

enum { SERVING_ADVICE_COUNT = 32, INFERENCE_ADVICE_COUNT = 23 }; /* rules with such advice */

/* What a rule advises who serves with an inference engine; NULL: the same as anybody. */
const char *tsi_serving_advice(const char *rule);

/*
 * What it advises who runs a model by hand, or makes images, in place of an advice about training;
 * NULL: its own advice will do.
 */
const char *tsi_inference_advice(const char *rule, const char *advice);

#endif
