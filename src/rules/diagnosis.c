/* SPDX-License-Identifier: MIT */
/*
 * From facts to findings: evaluates each rule, merges findings of one cause, and ranks the rest by
 * severity and recoverable time. Keeps why a rule was not evaluated, since silence must not read as
 * health.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "rules/context.h"
#include "rules/rule_table.h"

struct kept {
	struct tscope_finding finding;
	enum rule_cause cause;
	bool is_simulated; /* what can be won back */
	struct tscope_evidence *evidence;
	size_t evidence_capacity;
	const struct tscope_rule_def **also;
	size_t also_capacity;
};

struct tscope_diagnosis {
	/* Room for one of each for every rule. */
	struct kept *findings;
	size_t finding_count;
	struct tscope_not_evaluated *not_evaluated;
	size_t not_evaluated_count;
	bool *fired;        /* by index of the rule */
	struct arena arena; /* of all that is here */
};

static bool has_evidence(const struct tscope_finding *finding, const char *fact)
{
	for (size_t i = 0; i < finding->evidence_count; i++)
		if (strcmp(finding->evidence[i].fact, fact) == 0)
			return true;
	return false;
}

/* Adds evidence, each fact once. */
static void add_evidence(struct tscope_diagnosis *diagnosis, struct kept *kept,
			 const struct tscope_evidence *evidence, size_t count)
{
	struct tscope_finding *finding = &kept->finding;

	kept->evidence =
		tsi_arena_reserve(&diagnosis->arena, kept->evidence, &kept->evidence_capacity,
				  finding->evidence_count + count, sizeof(*kept->evidence));
	finding->evidence = kept->evidence;
	for (size_t i = 0; kept->evidence && i < count; i++)
		if (!has_evidence(finding, evidence[i].fact))
			kept->evidence[finding->evidence_count++] = evidence[i];
}

static void keep_finding(struct tscope_diagnosis *diagnosis, const struct rule_context *ctx)
{
	struct kept *kept = &diagnosis->findings[diagnosis->finding_count++];

	kept->cause = ctx->cause;
	kept->is_simulated = ctx->is_simulated;
	kept->finding = (struct tscope_finding){
		.rule = &ctx->rule->def,
		.severity = ctx->severity,
		.title = tsi_arena_copy(&diagnosis->arena, tsi_str_of(ctx->title)),
		.detail = tsi_arena_copy(&diagnosis->arena, tsi_str_of(ctx->detail)),
		.advice = ctx->advice,
		.is_recoverable = ctx->is_recoverable,
		.recoverable_ns_per_step = ctx->recoverable_ns_per_step,
	};
	add_evidence(diagnosis, kept, ctx->evidence, ctx->evidence_count);
}

static void keep_reason(struct tscope_diagnosis *diagnosis, const struct rule_context *ctx)
{
	diagnosis->not_evaluated[diagnosis->not_evaluated_count++] = (struct tscope_not_evaluated){
		.rule = &ctx->rule->def,
		.reason = tsi_arena_copy(&diagnosis->arena, tsi_str_of(ctx->reason)),
		.fact = ctx->missing,
	};
}

static void evaluate_all(struct tscope_diagnosis *diagnosis, const struct tscope_analysis *analysis,
			 const struct rule_setting *settings)
{
	for (size_t i = 0; i < tscope_rule_count(); i++) {
		struct rule_context ctx = {
			.analysis = analysis,
			.rule = tsi_rule(i),
			.setting = &settings[i],
		};
		tsi_rule_run(&ctx);
		diagnosis->fired[i] = ctx.has_fired;
		if (ctx.has_fired)
			keep_finding(diagnosis, &ctx);
		else if (ctx.is_skipped)
			keep_reason(diagnosis, &ctx);
	}
}

/* Rules print numbers: with a decimal point, in any locale. */
static enum tscope_status evaluate(struct tscope_diagnosis *diagnosis,
				   const struct tscope_analysis *analysis,
				   const struct rule_setting *settings, struct tscope_error *err)
{
	locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);

	if (plain == (locale_t)0)
		return tsi_fail_nomem(err);
	locale_t own = uselocale(plain);
	evaluate_all(diagnosis, analysis, settings);
	uselocale(own);
	freelocale(plain);
	return tsi_arena_status(&diagnosis->arena, err);
}

/* The most severe finding of a cause (the first of equals): the others are merged into it. */
static size_t strongest_of(const struct tscope_diagnosis *diagnosis, enum rule_cause cause)
{
	const struct kept *findings = diagnosis->findings;
	size_t strongest = diagnosis->finding_count;

	for (size_t i = 0; i < diagnosis->finding_count; i++)
		if (findings[i].cause == cause &&
		    (strongest == diagnosis->finding_count ||
		     findings[i].finding.severity > findings[strongest].finding.severity))
			strongest = i;
	return strongest;
}

/* Whether a's recoverable time replaces b's: a simulation wins, then the larger. */
static bool wins_back_more(const struct kept *a, const struct kept *b)
{
	if (!a->finding.is_recoverable || !b->finding.is_recoverable)
		return a->finding.is_recoverable;
	if (a->is_simulated != b->is_simulated)
		return a->is_simulated;
	return a->finding.recoverable_ns_per_step > b->finding.recoverable_ns_per_step;
}

/* One stall seen by two rules is won back once: one figure stands for both. */
static void absorb(struct tscope_diagnosis *diagnosis, struct kept *into, const struct kept *from)
{
	struct tscope_finding *finding = &into->finding;
	const struct tscope_finding *other = &from->finding;
	const struct tscope_rule_def **also =
		tsi_arena_push(&diagnosis->arena, &into->also, &finding->also_count,
			       &into->also_capacity, sizeof(*also));

	if (!also)
		return;
	*also = other->rule;
	finding->also = into->also;
	if (wins_back_more(from, into)) {
		finding->is_recoverable = true;
		finding->recoverable_ns_per_step = other->recoverable_ns_per_step;
		into->is_simulated = from->is_simulated;
	}
	add_evidence(diagnosis, into, other->evidence, other->evidence_count);
}

static void merge(struct tscope_diagnosis *diagnosis)
{
	struct kept *findings = diagnosis->findings;
	bool *is_told =
		tsi_arena_new(&diagnosis->arena, diagnosis->finding_count, sizeof(*is_told));
	size_t left = 0;

	if (!is_told)
		return;
	for (size_t i = 0; i < diagnosis->finding_count; i++) {
		size_t strongest = strongest_of(diagnosis, findings[i].cause);
		is_told[i] = findings[i].cause != CAUSE_OWN && strongest != i;
		if (is_told[i])
			absorb(diagnosis, &findings[strongest], &findings[i]);
	}
	for (size_t i = 0; i < diagnosis->finding_count; i++)
		if (!is_told[i])
			findings[left++] = findings[i];
	diagnosis->finding_count = left;
}

/* Whether a ranks above b, whatever their order in the list. */
static bool outranks(const struct tscope_finding *a, const struct tscope_finding *b)
{
	int64_t a_ns = a->is_recoverable ? a->recoverable_ns_per_step : 0;
	int64_t b_ns = b->is_recoverable ? b->recoverable_ns_per_step : 0;

	return a->severity != b->severity ? a->severity > b->severity : a_ns > b_ns;
}

/* By insertion: a few dozen findings, and those of equal rank stay in the order of the list. */
static void rank(struct tscope_diagnosis *diagnosis)
{
	for (size_t i = 1; i < diagnosis->finding_count; i++) {
		struct kept kept = diagnosis->findings[i];
		size_t place = i;
		for (;
		     place > 0 && outranks(&kept.finding, &diagnosis->findings[place - 1].finding);
		     place--)
			diagnosis->findings[place] = diagnosis->findings[place - 1];
		diagnosis->findings[place] = kept;
	}
}

static enum tscope_status diagnose(struct tscope_diagnosis *diagnosis,
				   const struct tscope_analysis *analysis,
				   const struct tscope_rule_options *options,
				   struct tscope_error *err)
{
	size_t count = tscope_rule_count();
	struct rule_setting *settings;
	enum tscope_status status;

	diagnosis->findings = tsi_arena_new(&diagnosis->arena, count, sizeof(struct kept));
	diagnosis->not_evaluated =
		tsi_arena_new(&diagnosis->arena, count, sizeof(*diagnosis->not_evaluated));
	diagnosis->fired = tsi_arena_new(&diagnosis->arena, count, sizeof(*diagnosis->fired));
	settings = tsi_rule_settings_new(&diagnosis->arena);
	status = tsi_arena_status(&diagnosis->arena, err);
	for (size_t i = 0; status == TSCOPE_OK && options && i < options->change_count; i++)
		status = tsi_rule_settings_change(settings, options->changes[i], err);
	if (status == TSCOPE_OK)
		status = evaluate(diagnosis, analysis, settings, err);
	if (status != TSCOPE_OK)
		return status;
	merge(diagnosis);
	rank(diagnosis);
	return tsi_arena_status(&diagnosis->arena, err);
}

enum tscope_status tscope_diagnose(struct tscope_diagnosis **ret,
				   const struct tscope_analysis *analysis,
				   const struct tscope_rule_options *options,
				   struct tscope_error *err)
{
	struct tscope_diagnosis *diagnosis;

	if (tsi_array_new(&diagnosis, 1, sizeof(*diagnosis), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	enum tscope_status status = diagnose(diagnosis, analysis, options, err);
	if (status == TSCOPE_OK)
		*ret = diagnosis;
	else
		tscope_diagnosis_free(diagnosis);
	return status;
}

void tscope_diagnosis_free(struct tscope_diagnosis *diagnosis)
{
	if (!diagnosis)
		return;
	tsi_arena_deinit(&diagnosis->arena);
	free(diagnosis);
}

size_t tscope_diagnosis_finding_count(const struct tscope_diagnosis *diagnosis)
{
	return diagnosis->finding_count;
}

struct tscope_finding tscope_diagnosis_finding(const struct tscope_diagnosis *diagnosis,
					       size_t index)
{
	return diagnosis->findings[index].finding;
}

bool tscope_diagnosis_fired(const struct tscope_diagnosis *diagnosis,
			    const struct tscope_rule_def *rule)
{
	for (size_t i = 0; i < tscope_rule_count(); i++)
		if (tscope_rule(i) == rule)
			return diagnosis->fired[i];
	return false;
}

size_t tscope_diagnosis_not_evaluated_count(const struct tscope_diagnosis *diagnosis)
{
	return diagnosis->not_evaluated_count;
}

struct tscope_not_evaluated tscope_diagnosis_not_evaluated(const struct tscope_diagnosis *diagnosis,
							   size_t index)
{
	return diagnosis->not_evaluated[index];
}
