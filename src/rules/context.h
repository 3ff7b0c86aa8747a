/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_CONTEXT_H
#define TSCOPE_RULES_CONTEXT_H

#include "analyze/lookup.h"
#include "rules/change.h"

/* Input and output of one rule, for diagnosis.c; rules themselves use rule.h. */

enum {
	RULE_TITLE_CHARS = 256,
	RULE_DETAIL_CHARS = 1024,
	RULE_MAX_EVIDENCE = 12,
};

/* The table that was looked up last: rules read it cell by cell. */
struct table_memo {
	const char *id; /* compared by address; NULL: none yet */
	struct table_view view;
};

struct rule_context {
	const struct tscope_analysis *analysis;
	const struct rule *rule;
	const struct rule_setting *setting;
	struct table_memo *memo; /* shared by all rules */

	bool has_fired;
	enum tscope_severity severity;
	enum rule_cause cause;
	char title[RULE_TITLE_CHARS];
	char detail[RULE_DETAIL_CHARS];
	const char *advice[ADVICE_USER_COUNT]; /* but training's may be NULL */
	char printed_advice[RULE_DETAIL_CHARS];
	enum rule_cause merged_with;
	bool is_merged_under;  /* findings of that cause speak for this one */
	enum rule_cause after; /* where is_after: a finding of that cause stands before this one */
	bool is_after;
	enum tscope_confidence confidence;
	enum tscope_gain_basis gain_basis;
	bool is_simulated; /* a bound may be, too */
	struct gain_claim claims[MAX_CLAIMS];
	size_t claim_count;
	bool wins_nothing;
	struct tscope_subject subject;
	struct tscope_place places[TSCOPE_MAX_PLACES];
	size_t place_count;
	struct tscope_evidence evidence[RULE_MAX_EVIDENCE];
	size_t evidence_count;

	bool is_skipped, is_undecided, is_suspected;
	char reason[RULE_TITLE_CHARS]; /* why, if is_skipped */
	const char *missing;           /* the fact that this is about, or NULL */
};

/* Evaluates a rule on a context that holds nothing but analysis, rule, setting and memo. */
void tsi_rule_run(struct rule_context *ctx);

#endif
