/* SPDX-License-Identifier: MIT */
/*
 * Findings that only one side has, or that are graver on one. A finding merged into another one
 * still counts as present: merging makes it neither new nor gone.
 *
 * A finding may be new, gone or of another severity though hardly anything changed: a share of
 * 5.1 % passes a threshold of 5 % that 4.9 % stay below, and the same time is a smaller share of a
 * slower step. Then the other side is tried, with other thresholds where it is silent, and what it
 * says is put beside the finding.
 */
#include "analyze/facts.h"
#include "base/arena.h"
#include "diff/comparison.h"
#include "rules/diagnosis.h"

#define FACTS(X)                                                                                   \
	X(NEW_COUNT, "new_count", COUNT, "findings that only B has")                               \
	X(GONE_COUNT, "gone_count", COUNT,                                                         \
	  "findings that only A has, of rules that B could evaluate, too")                         \
	X(WORSE_COUNT, "worse_count", COUNT, "graver in B")                                        \
	X(BETTER_COUNT, "better_count", COUNT, "less grave in B")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define LIST_COLUMNS(X)                                                                            \
	X(LIST_CHANGE, "change", TEXT, "new, worse, better, gone or same")                         \
	X(LIST_ID, "id", TEXT, "of the rule")                                                      \
	X(LIST_A_SEVERITY, "a_severity", TEXT,                                                     \
	  "in A, of the finding that tells it; absent: none does")                                 \
	X(LIST_B_SEVERITY, "b_severity", TEXT, "in B; absent: none tells it")                      \
	X(LIST_TITLE, "title", TEXT, "of B; of A where it is gone")                                \
	X(LIST_GAIN_NS, "gain_ns", NS, "as in findings")                                           \
	X(LIST_SIMILAR, "similar", TEXT,                                                           \
	  "where its time or size is within 10 % on both sides, and it is only on one or of "      \
	  "another severity: what the other side says, or would say if it did not just miss the "  \
	  "threshold; absent: it changed by more")

TSI_FACT_LIST(enum list_column, list_columns, LIST_COLUMNS);

#define LOST_COLUMNS(X)                                                                            \
	X(LOST_ID, "id", TEXT, "of the rule")                                                      \
	X(LOST_REASON, "reason", TEXT, "why not")

TSI_FACT_LIST(enum lost_column, lost_columns, LOST_COLUMNS);

#define TABLES(X)                                                                                  \
	X(LIST_TABLE, "list", list_columns,                                                        \
	  "those of B, and of A those that are gone; the new ones first, then those that are "     \
	  "worse, better, gone and the same, the gravest first")                                   \
	X(LOST_TABLE, "lost", lost_columns, "rules that A could evaluate and B not")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* In the order of the list. */
enum change { CHANGE_NEW, CHANGE_WORSE, CHANGE_BETTER, CHANGE_GONE, CHANGE_SAME, CHANGE_COUNT };

static const char *const change_names[CHANGE_COUNT] = {
	[CHANGE_NEW] = "new",   [CHANGE_WORSE] = "worse", [CHANGE_BETTER] = "better",
	[CHANGE_GONE] = "gone", [CHANGE_SAME] = "same",
};

/* A finding of one side, and what the other one says of its rule. */
struct changed {
	enum change change;
	struct tscope_finding finding;             /* of B; of A where it is gone */
	const char *severities[TSCOPE_SIDE_COUNT]; /* NULL: not reported */
	const char *similar;                       /* title of the other side, or NULL */
};

/* Times that differ by no more are about the same. */
static const double SIMILAR_RATIO = 0.1;

static bool are_similar(int64_t a, int64_t b)
{
	double more = (double)(a > b ? a : b), less = (double)(a > b ? b : a);

	return more - less <= SIMILAR_RATIO * more;
}

/*
 * Returns the title of the side on which a rule is silent, as other thresholds would let it fire,
 * if that is about what the other side says; or NULL. Times are compared; for lack of them
 * thresholds that differ by half of SIMILAR_RATIO in both directions must turn both sides' answers.
 */
static const char *find_similar(const struct tscope_diagnosis *firing,
				const struct tscope_diagnosis *silent,
				const struct tscope_rule_def *rule, struct arena *arena)
{
	const double hair = SIMILAR_RATIO / 2;
	const struct {
		double silent, firing;
	} factors[] = { { 1 - hair, 1 + hair }, { 1 + hair, 1 - hair }, { 0.5, 1 }, { 2, 1 } };

	struct rule_trial own = tsi_diagnosis_try(firing, rule, 1, arena);

	for (size_t i = 0; i < TSI_COUNT_OF(factors); i++) {
		struct rule_trial other = tsi_diagnosis_try(silent, rule, factors[i].silent, arena);
		if (!other.title)
			continue;
		if (own.ns > 0 && other.ns > 0
			    ? are_similar(own.ns, other.ns)
			    : !tsi_diagnosis_try(firing, rule, factors[i].firing, arena).title)
			return other.title;
	}
	return NULL;
}

/* Likewise where the rule fires on both sides: the title of A, or NULL. */
static const char *find_as_long(const struct tscope_diagnosis *a, const struct tscope_diagnosis *b,
				const struct tscope_rule_def *rule, struct arena *arena)
{
	struct rule_trial earlier = tsi_diagnosis_try(a, rule, 1, arena);
	struct rule_trial now = tsi_diagnosis_try(b, rule, 1, arena);

	return earlier.ns > 0 && now.ns > 0 && are_similar(earlier.ns, now.ns) ? earlier.title
									       : NULL;
}

static bool explains(const struct tscope_finding *finding, const struct tscope_rule_def *rule)
{
	bool is_reported = finding->rule == rule;

	for (size_t i = 0; i < finding->also_count; i++)
		is_reported |= finding->also[i] == rule;
	return is_reported;
}

/* The finding that reports a rule; false: the rule did not fire. */
static bool find_teller(const struct tscope_diagnosis *diagnosis,
			const struct tscope_rule_def *rule, struct tscope_finding *finding)
{
	for (size_t i = 0; i < tscope_diagnosis_finding_count(diagnosis); i++) {
		*finding = tscope_diagnosis_finding(diagnosis, i);
		if (explains(finding, rule))
			return true;
	}
	return false;
}

/* Why a rule was not evaluated, or NULL. */
static const char *why_not(const struct tscope_diagnosis *diagnosis,
			   const struct tscope_rule_def *rule)
{
	for (size_t i = 0; i < tscope_diagnosis_not_evaluated_count(diagnosis); i++) {
		struct tscope_not_evaluated missed = tscope_diagnosis_not_evaluated(diagnosis, i);
		if (missed.rule == rule)
			return missed.reason;
	}
	return NULL;
}

static enum change compare(enum tscope_severity a, enum tscope_severity b)
{
	if (a == b)
		return CHANGE_SAME;
	return b > a ? CHANGE_WORSE : CHANGE_BETTER;
}

/* A finding of B. */
static struct changed against_a(const struct tscope_diagnosis *a, const struct tscope_diagnosis *b,
				struct tscope_finding finding, struct arena *arena)
{
	struct changed changed = { .finding = finding };
	struct tscope_finding earlier;

	changed.severities[TSCOPE_SIDE_B] = tscope_severity_name(finding.severity);
	changed.change = CHANGE_NEW;
	if (!find_teller(a, finding.rule, &earlier)) {
		changed.similar = find_similar(b, a, finding.rule, arena);
		return changed;
	}
	changed.severities[TSCOPE_SIDE_A] = tscope_severity_name(earlier.severity);
	changed.change = compare(earlier.severity, finding.severity);
	if (changed.change != CHANGE_SAME)
		changed.similar = find_as_long(a, b, finding.rule, arena);
	return changed;
}

/* Whether B evaluated a rule that fired in A, and it did not fire. */
static bool is_gone(const struct tscope_diagnosis *b, const struct tscope_rule_def *rule)
{
	return !tscope_diagnosis_fired(b, rule) && !why_not(b, rule);
}

/* Findings of B in their order, then those of A that are gone; how many these are. */
static size_t collect(struct changed *all, const struct tscope_diagnosis *a,
		      const struct tscope_diagnosis *b, struct arena *arena)
{
	size_t count = 0;

	for (size_t i = 0; i < tscope_diagnosis_finding_count(b); i++)
		all[count++] = against_a(a, b, tscope_diagnosis_finding(b, i), arena);
	for (size_t i = 0; i < tscope_diagnosis_finding_count(a); i++) {
		struct tscope_finding finding = tscope_diagnosis_finding(a, i);
		if (!is_gone(b, finding.rule))
			continue;
		all[count] = (struct changed){
			.change = CHANGE_GONE,
			.finding = finding,
			.similar = find_similar(a, b, finding.rule, arena),
		};
		all[count++].severities[TSCOPE_SIDE_A] = tscope_severity_name(finding.severity);
	}
	return count;
}

static void put_row(struct fact_sheet *out, const struct changed *changed)
{
	const struct tscope_finding *finding = &changed->finding;
	struct tscope_value *cells = tsi_table_row(out, LIST_TABLE);

	cells[LIST_CHANGE] = tsi_text(change_names[changed->change]);
	cells[LIST_ID] = tsi_text(finding->rule->id);
	cells[LIST_A_SEVERITY] = tsi_text_if(changed->severities[TSCOPE_SIDE_A]);
	cells[LIST_B_SEVERITY] = tsi_text_if(changed->severities[TSCOPE_SIDE_B]);
	cells[LIST_TITLE] = tsi_text(finding->title);
	if (finding->has_gain)
		cells[LIST_GAIN_NS] = tsi_int(finding->gain_ns);
	if (changed->similar)
		cells[LIST_SIMILAR] = tsi_text(tsi_sheet_copy(out, tsi_str_of(changed->similar)));
}

/* The findings of a side come with the gravest first: so do those of each kind of change. */
static void put_list(struct fact_sheet *out, const struct changed *all, size_t count)
{
	static const enum fact facts_of[CHANGE_SAME] = {
		[CHANGE_NEW] = NEW_COUNT,
		[CHANGE_WORSE] = WORSE_COUNT,
		[CHANGE_BETTER] = BETTER_COUNT,
		[CHANGE_GONE] = GONE_COUNT,
	};

	for (enum change change = 0; change < CHANGE_COUNT; change++) {
		int64_t changed_count = 0;
		for (size_t i = 0; i < count; i++) {
			if (all[i].change != change)
				continue;
			changed_count++;
			put_row(out, &all[i]);
		}
		if (change != CHANGE_SAME)
			tsi_fact_int(out, facts_of[change], changed_count);
	}
}

/* A rule that is switched off is so on both sides. */
static void put_lost(struct fact_sheet *out, const struct tscope_diagnosis *a,
		     const struct tscope_diagnosis *b)
{
	for (size_t i = 0; i < tscope_diagnosis_not_evaluated_count(b); i++) {
		struct tscope_not_evaluated missed = tscope_diagnosis_not_evaluated(b, i);
		if (why_not(a, missed.rule))
			continue;
		struct tscope_value *cells = tsi_table_row(out, LOST_TABLE);
		cells[LOST_ID] = tsi_text(missed.rule->id);
		cells[LOST_REASON] = tsi_text(missed.reason);
	}
}

static void diff_finding_changes(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct tscope_diagnosis *a = scope->comparison->sides[TSCOPE_SIDE_A].diagnosis;
	const struct tscope_diagnosis *b = scope->comparison->sides[TSCOPE_SIDE_B].diagnosis;

	if (!a || !b)
		return;
	size_t most = tscope_diagnosis_finding_count(a) + tscope_diagnosis_finding_count(b);
	struct changed *all = tsi_arena_new(tsi_sheet_scratch(out), most, sizeof(*all));

	if (!all)
		return;
	put_list(out, all, collect(all, a, b, tsi_sheet_scratch(out)));
	put_lost(out, a, b);
}

const struct analyzer tsi_analyzer_finding_changes = {
	.def = {
		.id = "finding_changes",
		.summary = "findings that are new, gone, worse or better",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a comparison (tscope diff)",
	},
	.levels = LEVEL_DIFF | LEVEL_DIFF_RANK,
	.fill = diff_finding_changes,
};
