/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_SERVING_ADVICE_H
#define TSCOPE_RULES_SERVING_ADVICE_H

enum { SERVING_ADVICE_COUNT = 32, INFERENCE_ADVICE_COUNT = 23 }; /* rules with such advice */

/* Advice of a rule for serving with an inference engine; NULL: the rule's own. */
const char *tsi_serving_advice(const char *rule);

/*
 * Advice of a rule for running a model by hand or making images, in place of advice about training;
 * NULL: the rule's own will do.
 */
const char *tsi_inference_advice(const char *rule, const char *advice);

#endif
