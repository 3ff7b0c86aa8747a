/* SPDX-License-Identifier: MIT */
/*
 * From facts to findings: evaluates each rule, merges findings of related causes, shares the step
 * out among the rest, and ranks them by gain and certainty. Keeps why a rule was not evaluated,
 * since silence must not read as health.
 */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "base/sum.h"
#include "rules/context.h"
#include "rules/diagnosis.h"
#include "rules/rule_table.h"

struct kept {
	struct tscope_finding finding;
	enum rule_cause cause, kin;
	enum rule_cause after; /* where is_after */
	bool is_after, is_separate, is_summary, has_set_severity, wins_nothing;
	bool is_simulated; /* what it wins, if only a bound */
	bool is_under;     /* findings of another cause speak for it */
	struct gain_claim claims[MAX_CLAIMS];
	size_t claim_count;
	double weight; /* of the rank */
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
	bool *fired; /* by index of the rule */
	bool is_tentative;
	const struct tscope_analysis *analysis;
	struct rule_setting *settings;
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

static const struct tscope_place *copy_places(struct arena *arena, const struct rule_context *ctx)
{
	struct tscope_place *places = tsi_arena_new(arena, ctx->place_count, sizeof(*places));

	for (size_t i = 0; places && i < ctx->place_count; i++)
		places[i] = ctx->places[i];
	return places;
}

static bool has_cause(const struct tscope_diagnosis *diagnosis, enum rule_cause cause)
{
	for (size_t i = 0; i < diagnosis->finding_count; i++)
		if (diagnosis->findings[i].cause == cause)
			return true;
	return false;
}

/*
 * In an inference engine the host's work between iterations, and launches without graphs, are one
 * cause each, whatever the host did. Their rules come before those of the host.
 */
static enum rule_cause serving_kin(const struct tscope_diagnosis *diagnosis, enum rule_cause kin,
				   bool is_summary)
{
	bool is_launch = kin == CAUSE_launch_overhead;
	bool is_host = kin == CAUSE_host_python || kin == CAUSE_sync_drain ||
		       kin == CAUSE_cpu_only_work ||
		       (is_summary && (kin == CAUSE_unrecorded_work || kin == CAUSE_COUNT));

	if (is_launch && has_cause(diagnosis, CAUSE_graph_missed))
		return CAUSE_graph_missed;
	if ((is_launch || is_host) && has_cause(diagnosis, CAUSE_serving_host_gap))
		return CAUSE_serving_host_gap;
	return kin;
}

static bool is_text(const struct tscope_analysis *analysis, const char *fact, const char *text)
{
	return strcmp(tsi_value_text(tsi_lookup(analysis, fact)), text) == 0;
}

/* Iterations that make images are a loop of the user's own. */
static enum advice_user who_asks(const struct tscope_analysis *analysis)
{
	struct tscope_value images = tsi_lookup(analysis, "inference.diffusion.count");
	bool is_of_images = images.kind == TSCOPE_VALUE_INT && images.integer > 0;

	if (is_text(analysis, "steps.boundary", "iteration") && !is_of_images)
		return ADVICE_SERVING;
	return is_text(analysis, "steps.workload", "inference") ? ADVICE_INFERENCE
								: ADVICE_TRAINING;
}

static void keep_finding(struct tscope_diagnosis *diagnosis, const struct rule_context *ctx)
{
	const char *chosen = ctx->advice[who_asks(ctx->analysis)];
	const char *advice = chosen ? chosen : ctx->advice[ADVICE_TRAINING];
	enum rule_cause kin = serving_kin(diagnosis, ctx->merged_with, ctx->rule->is_summary);
	struct kept *kept = &diagnosis->findings[diagnosis->finding_count++];

	kept->cause = ctx->cause;
	kept->kin = kin;
	kept->after = ctx->after;
	kept->is_after = ctx->is_after;
	kept->is_separate = ctx->rule->is_separate;
	kept->is_summary = ctx->rule->is_summary;
	kept->is_under = ctx->is_merged_under;
	kept->has_set_severity = ctx->setting->has_severity;
	memcpy(kept->claims, ctx->claims, sizeof(kept->claims));
	kept->claim_count = ctx->claim_count;
	kept->wins_nothing = ctx->wins_nothing;
	kept->is_simulated = ctx->is_simulated;
	kept->finding = (struct tscope_finding){
		.rule = &ctx->rule->def,
		.severity = ctx->severity,
		.title = tsi_arena_copy(&diagnosis->arena, tsi_str_of(ctx->title)),
		.detail = tsi_arena_copy(&diagnosis->arena, tsi_str_of(ctx->detail)),
		.advice = advice == ctx->printed_advice
				  ? tsi_arena_copy(&diagnosis->arena, tsi_str_of(advice))
				  : advice,
		.cause = tsi_cause_name(ctx->cause),
		.confidence = ctx->confidence,
		.is_gain_in_title = ctx->rule->is_gain_in_title,
		.gain_basis = ctx->gain_basis,
		.subject = ctx->subject,
		.places = copy_places(&diagnosis->arena, ctx),
		.place_count = ctx->place_count,
	};
	add_evidence(diagnosis, kept, ctx->evidence, ctx->evidence_count);
}

static void keep_reason(struct tscope_diagnosis *diagnosis, const struct rule_context *ctx)
{
	diagnosis->not_evaluated[diagnosis->not_evaluated_count++] = (struct tscope_not_evaluated){
		.rule = &ctx->rule->def,
		.reason = tsi_arena_copy(&diagnosis->arena, tsi_str_of(ctx->reason)),
		.fact = ctx->missing,
		.is_undecided = ctx->is_undecided,
		.is_suspected = ctx->is_suspected,
		.worst = ctx->setting->has_severity ? ctx->setting->severity
			 : ctx->rule->is_minor      ? TSCOPE_SEVERITY_LOW
						    : TSCOPE_SEVERITY_HIGH,
	};
}

static void evaluate_all(struct tscope_diagnosis *diagnosis, const struct tscope_analysis *analysis,
			 const struct rule_setting *settings)
{
	struct table_memo memo = { 0 };

	for (size_t i = 0; i < tscope_rule_count(); i++) {
		struct rule_context ctx = {
			.analysis = analysis,
			.rule = tsi_rule(i),
			.setting = &settings[i],
			.memo = &memo,
		};
		tsi_rule_run(&ctx);
		diagnosis->fired[i] = ctx.has_fired;
		if (ctx.has_fired)
			keep_finding(diagnosis, &ctx);
		else if (ctx.is_skipped)
			keep_reason(diagnosis, &ctx);
	}
}

/* Rules print numbers: with a decimal point, in any locale. False: there is no memory. */
static bool set_plain_locale(locale_t *plain, locale_t *own)
{
	*plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	if (*plain == (locale_t)0)
		return false;
	*own = uselocale(*plain);
	return true;
}

static void restore_locale(locale_t plain, locale_t own)
{
	uselocale(own);
	freelocale(plain);
}

static enum tscope_status evaluate(struct tscope_diagnosis *diagnosis,
				   const struct tscope_analysis *analysis,
				   const struct rule_setting *settings, struct tscope_error *err)
{
	locale_t plain, own;

	if (!set_plain_locale(&plain, &own))
		return tsi_fail_nomem(err);
	evaluate_all(diagnosis, analysis, settings);
	restore_locale(plain, own);
	return tsi_arena_status(&diagnosis->arena, err);
}

static int64_t claimed_ns(const struct gain_claim *claims, size_t count)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < count; i++)
		tsi_sum(&sum_ns, claims[i].ns);
	return sum_ns;
}

struct rule_trial tsi_diagnosis_try(const struct tscope_diagnosis *diagnosis,
				    const struct tscope_rule_def *rule, double factor,
				    struct arena *arena)
{
	size_t index = tsi_rule_find(tsi_str_of(rule->id));
	struct rule_setting setting = diagnosis->settings[index];
	struct table_memo memo = { 0 };
	struct rule_context ctx = {
		.analysis = diagnosis->analysis,
		.rule = tsi_rule(index),
		.setting = &setting,
		.memo = &memo,
	};
	struct rule_trial trial = { .title = NULL };
	locale_t plain, own;

	for (size_t i = 0; i < TSCOPE_RULE_MAX_PARAMETERS; i++)
		setting.parameters[i] *= factor;
	if (!set_plain_locale(&plain, &own)) {
		arena->has_failed = true;
		return trial;
	}
	tsi_rule_run(&ctx);
	restore_locale(plain, own);
	if (ctx.has_fired)
		trial.title = tsi_arena_copy(arena, tsi_str_of(ctx.title));
	trial.ns = claimed_ns(ctx.claims, ctx.claim_count);
	return trial;
}

/* ---- merging ---- */

static bool are_kin(const struct kept *a, const struct kept *b)
{
	return a == b || (a->kin == b->kin && !a->is_separate && !b->is_separate);
}

/* Whether a speaks for b. */
static bool is_stronger(const struct kept *a, const struct kept *b)
{
	if (a->is_under != b->is_under)
		return b->is_under;
	return a->is_summary != b->is_summary ? b->is_summary
					      : a->finding.severity > b->finding.severity;
}

/* The strongest finding among its kin, the first of equals: the others are merged into it. */
static size_t strongest_of(const struct tscope_diagnosis *diagnosis, const struct kept *kept)
{
	const struct kept *findings = diagnosis->findings;
	size_t strongest = diagnosis->finding_count;

	for (size_t i = 0; i < diagnosis->finding_count; i++)
		if (are_kin(&findings[i], kept) &&
		    (strongest == diagnosis->finding_count ||
		     is_stronger(&findings[i], &findings[strongest])))
			strongest = i;
	return strongest;
}

/* A gain stands beside the title that it belongs to, but a simulation knows better. */
static bool has_better_gain(const struct kept *a, const struct kept *b)
{
	return a->claim_count > 0 && (b->claim_count == 0 || (a->is_simulated && !b->is_simulated));
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
	if (has_better_gain(from, into)) {
		memcpy(into->claims, from->claims, sizeof(into->claims));
		into->claim_count = from->claim_count;
		into->wins_nothing |= from->wins_nothing;
		into->is_simulated = from->is_simulated;
		finding->gain_basis = other->gain_basis;
	}
	if (finding->place_count == 0 && !from->is_under) {
		finding->places = other->places;
		finding->place_count = other->place_count;
	}
	add_evidence(diagnosis, into, other->evidence, other->evidence_count);
}

static void merge(struct tscope_diagnosis *diagnosis)
{
	struct kept *findings = diagnosis->findings;
	bool *is_reported =
		tsi_arena_new(&diagnosis->arena, diagnosis->finding_count, sizeof(*is_reported));
	size_t left = 0;

	if (!is_reported)
		return;
	for (size_t i = 0; i < diagnosis->finding_count; i++) {
		size_t strongest = strongest_of(diagnosis, &findings[i]);
		is_reported[i] = strongest != i;
		if (is_reported[i])
			absorb(diagnosis, &findings[strongest], &findings[i]);
	}
	for (size_t i = 0; i < diagnosis->finding_count; i++)
		if (!is_reported[i])
			findings[left++] = findings[i];
	diagnosis->finding_count = left;
}

/* ---- ranking ---- */

/* A step of any model that is worth a finding has more kernels and copies. */
enum { TOO_FEW_DEVICE_EVENTS = 30 };

/* From these shares of the step on a gain is worth a finding of this severity. */
static const double SHARE_OF_MED = 0.05, SHARE_OF_HIGH = 0.20;

/* Findings that put every number in doubt, or end the run, come first. */
static bool is_urgent(const struct kept *kept)
{
	switch (kept->cause) {
	case CAUSE_trace_damaged:
	case CAUSE_trace_unreliable:
	case CAUSE_capture_not_a_run:
	case CAUSE_oom:
	case CAUSE_divergence:
	case CAUSE_hang_deadlock:
	case CAUSE_hang_mismatch:
	case CAUSE_hang_missing_call:
	case CAUSE_hang_no_dump:
	case CAUSE_hang_unfinished:
		return kept->finding.severity == TSCOPE_SEVERITY_HIGH;
	default:
		return false;
	}
}

/*
 * A gain weighs as much as it is certain; a finding without one as the least of its severity. A
 * finding that its rule calls a remark stands behind the causes that others name.
 */
static double weight_of(const struct kept *kept, int64_t gain_ns, int64_t step_ns)
{
	static const double certainty[] = {
		[TSCOPE_CONFIDENCE_LOW] = 0.4,
		[TSCOPE_CONFIDENCE_MED] = 0.7,
		[TSCOPE_CONFIDENCE_HIGH] = 1.0,
	};
	static const double *const shares[] = { NULL, &SHARE_OF_MED, &SHARE_OF_HIGH };
	enum tscope_severity severity = kept->finding.severity;

	if (is_urgent(kept))
		return INFINITY;
	if (kept->claim_count > 0 && step_ns > 0) {
		double weight =
			(double)gain_ns / (double)step_ns * certainty[kept->finding.confidence];
		return severity == TSCOPE_SEVERITY_LOW ? fmin(weight, SHARE_OF_MED) : weight;
	}
	return shares[severity] ? *shares[severity] : 0;
}

static bool outranks(const struct kept *a, const struct kept *b)
{
	return isgreater(a->weight, b->weight) ||
	       (!isless(a->weight, b->weight) && a->finding.severity > b->finding.severity);
}

/* By insertion: a few dozen findings, and those of equal rank stay in the order of the list. */
static void rank(struct tscope_diagnosis *diagnosis)
{
	for (size_t i = 1; i < diagnosis->finding_count; i++) {
		struct kept kept = diagnosis->findings[i];
		size_t place = i;
		for (; place > 0 && outranks(&kept, &diagnosis->findings[place - 1]); place--)
			diagnosis->findings[place] = diagnosis->findings[place - 1];
		diagnosis->findings[place] = kept;
	}
}

/* No finding is graver than its gain, unless the user set it. */
static void limit_severity(struct kept *kept, bool is_tentative, bool is_step_known)
{
	enum tscope_severity most = TSCOPE_SEVERITY_HIGH;

	if (kept->has_set_severity || is_urgent(kept))
		return;
	if (kept->claim_count > 0 && is_step_known)
		most = kept->weight >= SHARE_OF_HIGH  ? TSCOPE_SEVERITY_HIGH
		       : kept->weight >= SHARE_OF_MED ? TSCOPE_SEVERITY_MED
						      : TSCOPE_SEVERITY_LOW;
	kept->finding.is_tentative = is_tentative;
	if (is_tentative)
		most = TSCOPE_SEVERITY_LOW;
	if (kept->finding.severity > most)
		kept->finding.severity = most;
}

static bool has_few_device_events(const struct tscope_analysis *analysis)
{
	struct tscope_value count = tsi_lookup(analysis, "integrity.device_event_count");

	return count.kind == TSCOPE_VALUE_INT && count.integer > 0 &&
	       count.integer < TOO_FEW_DEVICE_EVENTS &&
	       !tsi_lookup(analysis, "launches.is_capture").flag;
}

static void grant(struct kept *kept, struct gain_ledger *ledger)
{
	struct tscope_finding *finding = &kept->finding;
	int64_t granted_ns = tsi_gain_grant(ledger, kept->claims, kept->claim_count);

	kept->weight = weight_of(kept, granted_ns, ledger->step_ns);
	finding->has_gain = kept->claim_count > 0 && !kept->wins_nothing;
	finding->gain_ns = finding->has_gain ? granted_ns : 0;
}

/* Moves the cause of a finding before it. */
static void put_cause_before(struct tscope_diagnosis *diagnosis, size_t at)
{
	struct kept *findings = diagnosis->findings;

	for (size_t i = at + 1; findings[at].is_after && i < diagnosis->finding_count; i++) {
		if (findings[i].cause != findings[at].after)
			continue;
		struct kept cause = findings[i];
		memmove(&findings[at + 1], &findings[at], (i - at) * sizeof(*findings));
		findings[at] = cause;
		return;
	}
}

/*
 * Shares the step out among the findings, that with the largest claim first; summaries get what
 * findings with more details have left.
 */
static void share_out(struct tscope_diagnosis *diagnosis, const struct tscope_analysis *analysis)
{
	struct gain_ledger ledger = tsi_gain_ledger(analysis);
	struct kept *findings = diagnosis->findings;
	size_t count = diagnosis->finding_count;

	diagnosis->is_tentative = has_few_device_events(analysis);
	for (size_t i = 0; i < count; i++)
		findings[i].weight = weight_of(
			&findings[i], claimed_ns(findings[i].claims, findings[i].claim_count),
			ledger.step_ns);
	rank(diagnosis);
	for (size_t i = 0; i < count; i++)
		if (!findings[i].is_summary)
			grant(&findings[i], &ledger);
	for (size_t i = 0; i < count; i++)
		if (findings[i].is_summary)
			grant(&findings[i], &ledger);
	for (size_t i = 0; i < count; i++)
		limit_severity(&findings[i], diagnosis->is_tentative, ledger.step_ns > 0);
	rank(diagnosis);
	for (size_t i = 0; i < count; i++)
		put_cause_before(diagnosis, i);
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
	diagnosis->analysis = analysis;
	diagnosis->settings = settings = tsi_rule_settings_new(&diagnosis->arena);
	status = tsi_arena_status(&diagnosis->arena, err);
	for (size_t i = 0; status == TSCOPE_OK && options && i < options->change_count; i++)
		status = tsi_rule_settings_change(settings, options->changes[i], err);
	if (status == TSCOPE_OK)
		status = evaluate(diagnosis, analysis, settings, err);
	if (status != TSCOPE_OK)
		return status;
	merge(diagnosis);
	share_out(diagnosis, analysis);
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

bool tscope_diagnosis_is_tentative(const struct tscope_diagnosis *diagnosis)
{
	return diagnosis->is_tentative;
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
