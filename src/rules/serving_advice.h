/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_SERVING_ADVICE_H
#define TSCOPE_RULES_SERVING_ADVICE_H

enum { SERVING_ADVICE_COUNT = 32 }; /* rules with such advice */

/* What a rule advises who serves with an inference engine; NULL: the same as anybody. */
const char *tsi_serving_advice(const char *rule);

#endif
