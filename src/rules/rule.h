/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_RULE_H
#define TSCOPE_RULES_RULE_H

#include "base/scaled_text.h"
#include "rules/gain.h"

/*
 * A rule judges facts; computing them is the analyzers' job.
 *
 * To add one: write rule_<name>.c with a `const struct rule tsi_rule_<name>`,
 * add RULE(<name>, "<ID>") to rule_list.h, the file to meson.build and cases to
 * tests/unit/test_rules_<group>.c: fires, quiet, exactly at the threshold. Its
 * entry in man/tscope-rules.7 is written by tests/lint/check_rules.py --update.
 *
 *	static void evaluate(struct rule_context *ctx)
 *	{
 *		double ratio = tsi_rule_real(ctx, "step_time.phase.data_ratio");
 *
 *		if (ratio < tsi_rule_parameter(ctx, "threshold"))
 *			return;
 *		tsi_rule_fire(ctx, tsi_rule_grade(ctx, ratio),
 *			      "waiting for data takes %.1f %% of the step", 100 * ratio);
 *		tsi_rule_gain(ctx, GAIN_DATA, tsi_rule_int(ctx, "step_time.phase.data_ns"));
 *	}
 */
struct rule_context;

enum rule_cause {
#define CAUSE(name, kin) CAUSE_##name,
#include "rules/cause_list.h"
#undef CAUSE
	CAUSE_COUNT, /* of no rule: to be merged with neither */
};

enum { RULE_MAX_COMMON_EVIDENCE = 8 };

/* Who can take advice: def.advice, inference_advice and serving_advice. */
enum advice_user { ADVICE_TRAINING, ADVICE_INFERENCE, ADVICE_SERVING, ADVICE_USER_COUNT };

struct rule {
	struct tscope_rule_def def;
	/* Called only if all of def.facts are present and reliable. Fires at most once. */
	void (*evaluate)(struct rule_context *ctx);
	/* The evidence of every finding; evaluate() may add to it. Absent facts are left out. */
	const char *evidence[RULE_MAX_COMMON_EVIDENCE];
	enum rule_cause cause; /* unless evaluate() says otherwise */
	bool is_separate;      /* never merged, whatever the cause */
	bool is_gain_in_title; /* its title says it */
	bool is_summary;       /* speaks only where no rule with more details does */
	bool is_minor;         /* its findings are of severity low */
};

/* A parameter of this rule: the default, or what the user set. */
double tsi_rule_parameter(const struct rule_context *ctx, const char *name);

/* HIGH if value reaches the parameter "high", else MED. */
enum tscope_severity tsi_rule_grade(const struct rule_context *ctx, double value);

/*
 * Facts of the run. Absent ones read as 0 (int), NaN (real; converts integers), false, "". A name
 * that no analyzer defines is a bug, and asserted; so it is below.
 */
bool tsi_rule_has(const struct rule_context *ctx, const char *fact);
int64_t tsi_rule_int(const struct rule_context *ctx, const char *fact);
double tsi_rule_real(const struct rule_context *ctx, const char *fact);
bool tsi_rule_flag(const struct rule_context *ctx, const char *fact);
const char *tsi_rule_text(const struct rule_context *ctx, const char *fact);

/* A fact in ns for titles and details: "12.34 ms"; "0 ns" if it is absent. */
static inline struct scaled_text tsi_rule_time(const struct rule_context *ctx, const char *fact)
{
	return tsi_time_text((double)tsi_rule_int(ctx, fact));
}

/* A table of the run ("distributed.slow_ranks"), valid until another one is asked for. */
const struct table_view *tsi_rule_table(const struct rule_context *ctx, const char *table);
size_t tsi_rule_rows(const struct rule_context *ctx, const char *table);
struct tscope_value tsi_rule_cell(const struct rule_context *ctx, const char *table, size_t row,
				  const char *column);

/* A value as a real number; NaN if it is none. */
double tsi_value_real(struct tscope_value value);

/* A value as text; "" if it is none. */
static inline const char *tsi_value_text(struct tscope_value value)
{
	return value.kind == TSCOPE_VALUE_TEXT ? value.text : "";
}

/* Cells as the above. */
static inline double tsi_rule_cell_real(const struct rule_context *ctx, const char *table,
					size_t row, const char *column)
{
	return tsi_value_real(tsi_rule_cell(ctx, table, row, column));
}

static inline const char *tsi_rule_cell_text(const struct rule_context *ctx, const char *table,
					     size_t row, const char *column)
{
	return tsi_value_text(tsi_rule_cell(ctx, table, row, column));
}

/* Skips the rule: the input is not of the kind that it judges. */
TSI_PRINTF(2, 3)
void tsi_rule_skip(struct rule_context *ctx, const char *reason, ...);

/*
 * Skips the rule: too few steps or doubtful facts do not let it judge. Its gate cannot hold, nor
 * can those on severity if is_suspected: what there is looks as if it should fire.
 */
TSI_PRINTF(3, 4)
void tsi_rule_undecided(struct rule_context *ctx, bool is_suspected, const char *reason, ...);

/* Returns true if the fact is present, even if doubtful; otherwise skips the rule. */
bool tsi_rule_needs(struct rule_context *ctx, const char *fact);

/*
 * Returns true if the fact is present and reliable; otherwise skips the rule. For facts that only
 * some paths need, which def.facts therefore does not list.
 */
bool tsi_rule_trusts(struct rule_context *ctx, const char *fact);

/* Why a fact is unreliable, or NULL. */
const char *tsi_rule_doubt(const struct rule_context *ctx, const char *fact);

/* Starts the finding. The calls below add to it and may not come before it. */
TSI_PRINTF(3, 4)
void tsi_rule_fire(struct rule_context *ctx, enum tscope_severity severity, const char *title, ...);
/* Details are joined with semicolons. */
TSI_PRINTF(2, 3)
void tsi_rule_detail(struct rule_context *ctx, const char *format, ...);
/* Static, instead of def.advice and def.inference_advice. */
void tsi_rule_advice(struct rule_context *ctx, const char *advice);
/* As above, but instead of one alone; where there is none, training's serves all. */
void tsi_rule_advice_for(struct rule_context *ctx, enum advice_user user, const char *advice);
/* As tsi_rule_advice(), of what the facts say. */
TSI_PRINTF(2, 3)
void tsi_rule_advice_print(struct rule_context *ctx, const char *format, ...);
/* Adds to the evidence, unless the fact is absent. */
void tsi_rule_evidence(struct rule_context *ctx, const char *fact);
/* Claims time of the mean step that mending this would win back; up to MAX_CLAIMS of them. */
void tsi_rule_gain(struct rule_context *ctx, enum gain_part part, int64_t ns);
/* As above, found by simulating the run: the gains of merged findings do not replace it. */
void tsi_rule_simulated(struct rule_context *ctx, enum gain_part part, int64_t ns);
/* The claimed time shows how much the finding weighs; nothing wins it back. */
void tsi_rule_wins_nothing(struct rule_context *ctx);
/* The gain is no more than a bound. */
void tsi_rule_bound(struct rule_context *ctx);
void tsi_rule_cause(struct rule_context *ctx, enum rule_cause cause);
/* Merges the finding with those of another cause. */
void tsi_rule_merge_with(struct rule_context *ctx, enum rule_cause cause);
/* As above: those speak for it, whatever its severity, and say where to look. */
void tsi_rule_merge_under(struct rule_context *ctx, enum rule_cause cause);
/* A finding of that cause explains this one, and stands before it. */
void tsi_rule_after(struct rule_context *ctx, enum rule_cause cause);
/* TSCOPE_CONFIDENCE_HIGH unless set. */
void tsi_rule_confidence(struct rule_context *ctx, enum tscope_confidence confidence);
/* Subject of the finding: fill in what is known. Texts live as long as the analysis. */
struct tscope_subject *tsi_rule_subject(struct rule_context *ctx);
/* A place to look at, the worst first; more than TSCOPE_MAX_PLACES are dropped. */
void tsi_rule_place(struct rule_context *ctx, int64_t start_ns, int64_t duration_ns);
/* As above, in another of the traces that the steps are made of. */
void tsi_rule_place_in(struct rule_context *ctx, const char *path, int64_t start_ns,
		       int64_t duration_ns);
/* Adds the place of a row of "max_start_ns" and "max_ns"; nothing if these are absent. */
void tsi_rule_longest(struct rule_context *ctx, const char *table, size_t row);
/*
 * Whose code it is, by the columns "module" and "source" of a row, said behind these words:
 * "the longest". Only the first of several counts; nothing where both are absent.
 */
void tsi_rule_site(struct rule_context *ctx, const char *table, size_t row, const char *words);

#endif
