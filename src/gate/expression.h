/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_GATE_EXPRESSION_H
#define TSCOPE_GATE_EXPRESSION_H

#include "base/attributes.h"
#include "base/str.h"

#include <tscope/gate.h>

/* A gate, read: what it compares with what. */

enum gate_comparison {
	GATE_LESS,
	GATE_LESS_EQUAL,
	GATE_GREATER,
	GATE_GREATER_EQUAL,
	GATE_EQUAL,
	GATE_NOT_EQUAL,
	GATE_NO_COMPARISON,
};

enum gate_kind {
	GATE_FACT,        /* a fact, or its change, is compared with a value */
	GATE_SEVERITY,    /* the findings are compared with a severity */
	GATE_RULE,        /* a rule */
	GATE_STRAGGLER,   /* distributed.slow_ranks */
	GATE_NEW_FINDING, /* a finding that only B has */
};

/* Where a gate is used: a signed number means a change only in comparisons. */
enum gate_language {
	GATES_OF_REPORT,
	GATES_OF_DIFF,
};

struct gate_expression {
	enum gate_kind kind;
	enum gate_comparison comparison;
	struct str value;      /* what the name is compared with */
	size_t analyzer, fact; /* indices of the definitions */
	enum tscope_unit unit;
	enum gate_language language;
	bool is_of_comparison; /* the fact is one of the comparison, not of its sides */
	bool is_change;        /* number is a change from A to B: */
	bool is_percent;       /* in percent of A, else in the fact's unit */
	bool is_of_trend;      /* A is to be a trend */
	double scale;  /* of number, in the fact's unit: 1e6 for _ms, 2^20 for MiB; else 1 */
	double number; /* the value, of a fact that is a number; 1 or 0 of a flag */
	enum tscope_severity severity;
	const struct tscope_rule_def *rule;
};

/* As it is written: "<=". */
const char *tsi_gate_comparison_text(enum gate_comparison comparison);

/* Whether a value below 0 of its fact is an error. */
bool tsi_gate_is_never_negative(const struct gate_expression *gate);

/* Reads an expression; text outlives *gate. TSCOPE_E_FORMAT: what is wrong with it. */
TSI_MUST_CHECK
enum tscope_status tsi_gate_parse(struct gate_expression *gate, const char *text,
				  enum gate_language language, struct tscope_error *err);

#endif
