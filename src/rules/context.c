/* SPDX-License-Identifier: MIT */
/*
 * One rule before the facts of a run: whether it can be evaluated at all, the
 * facts and parameters that it asks for, and the finding that it writes. All
 * of it fits into the context, so that rules need not think of memory.
 */
#include "rules/context.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/print_text.h"
#include "base/sum.h"
#include "rules/rule_table.h"

void tsi_rule_skip(struct rule_context *ctx, const char *reason, ...)
{
	va_list args;

	assert(!ctx->has_fired && !ctx->is_skipped);
	ctx->is_skipped = true;
	va_start(args, reason);
	tsi_vappend_text(ctx->reason, sizeof(ctx->reason), reason, args);
	va_end(args);
}

void tsi_rule_undecided(struct rule_context *ctx, bool is_suspected, const char *reason, ...)
{
	va_list args;

	assert(!ctx->has_fired && !ctx->is_skipped);
	ctx->is_skipped = ctx->is_undecided = true;
	ctx->is_suspected = is_suspected;
	va_start(args, reason);
	tsi_vappend_text(ctx->reason, sizeof(ctx->reason), reason, args);
	va_end(args);
}

bool tsi_rule_needs(struct rule_context *ctx, const char *fact)
{
	const char *doubt, *needs;

	if (tsi_rule_has(ctx, fact))
		return true;
	ctx->missing = fact;
	doubt = tsi_lookup_own_doubt(ctx->analysis, fact);
	needs = tscope_analyzer(tsi_lookup_analyzer(fact))->needs;
	if (doubt)
		tsi_rule_skip(ctx, "no %s: %s", fact, doubt);
	else
		tsi_rule_skip(ctx, "no %s%s%s", fact, needs ? ": it needs " : "",
			      needs ? needs : "");
	return false;
}

const char *tsi_rule_doubt(const struct rule_context *ctx, const char *fact)
{
	return tsi_lookup_doubt(ctx->analysis, fact);
}

bool tsi_rule_trusts(struct rule_context *ctx, const char *fact)
{
	if (!tsi_rule_needs(ctx, fact))
		return false;
	const char *doubt = tsi_rule_doubt(ctx, fact);
	if (!doubt)
		return true;
	ctx->missing = fact;
	tsi_rule_undecided(ctx, false, "%s is not reliable: %s", fact, doubt);
	return false;
}

void tsi_rule_run(struct rule_context *ctx)
{
	const char *const *facts = ctx->rule->def.facts;

	ctx->advice[ADVICE_TRAINING] = ctx->rule->def.advice;
	ctx->advice[ADVICE_INFERENCE] = ctx->rule->def.inference_advice;
	ctx->advice[ADVICE_SERVING] = ctx->rule->def.serving_advice;
	if (ctx->setting->is_off)
		tsi_rule_skip(ctx, "switched off by --rule");
	for (size_t i = 0; i < TSCOPE_RULE_MAX_FACTS && facts[i] && !ctx->is_skipped; i++)
		(void)tsi_rule_trusts(ctx, facts[i]);
	if (!ctx->is_skipped)
		ctx->rule->evaluate(ctx);
}

double tsi_rule_parameter(const struct rule_context *ctx, const char *name)
{
	size_t index = tsi_rule_find_parameter(&ctx->rule->def, tsi_str_of(name));

	assert(index < TSCOPE_RULE_MAX_PARAMETERS);
	return ctx->setting->parameters[index];
}

enum tscope_severity tsi_rule_grade(const struct rule_context *ctx, double value)
{
	return value >= tsi_rule_parameter(ctx, "high") ? TSCOPE_SEVERITY_HIGH
							: TSCOPE_SEVERITY_MED;
}

bool tsi_rule_has(const struct rule_context *ctx, const char *fact)
{
	return tsi_lookup(ctx->analysis, fact).kind != TSCOPE_VALUE_ABSENT;
}

int64_t tsi_rule_int(const struct rule_context *ctx, const char *fact)
{
	struct tscope_value value = tsi_lookup(ctx->analysis, fact);

	return value.kind == TSCOPE_VALUE_INT ? value.integer : 0;
}

double tsi_rule_real(const struct rule_context *ctx, const char *fact)
{
	return tsi_value_real(tsi_lookup(ctx->analysis, fact));
}

bool tsi_rule_flag(const struct rule_context *ctx, const char *fact)
{
	struct tscope_value value = tsi_lookup(ctx->analysis, fact);

	return value.kind == TSCOPE_VALUE_FLAG && value.flag;
}

const char *tsi_rule_text(const struct rule_context *ctx, const char *fact)
{
	return tsi_value_text(tsi_lookup(ctx->analysis, fact));
}

double tsi_value_real(struct tscope_value value)
{
	if (value.kind == TSCOPE_VALUE_INT)
		return (double)value.integer;
	return value.kind == TSCOPE_VALUE_REAL ? value.real : NAN;
}

const struct table_view *tsi_rule_table(const struct rule_context *ctx, const char *table)
{
	if (ctx->memo->id != table)
		*ctx->memo = (struct table_memo){ table, tsi_lookup_table(ctx->analysis, table) };
	return &ctx->memo->view;
}

size_t tsi_rule_rows(const struct rule_context *ctx, const char *table)
{
	return tsi_rule_table(ctx, table)->row_count;
}

struct tscope_value tsi_rule_cell(const struct rule_context *ctx, const char *table, size_t row,
				  const char *column)
{
	return tsi_table_find(tsi_rule_table(ctx, table), row, column);
}

void tsi_rule_fire(struct rule_context *ctx, enum tscope_severity severity, const char *title, ...)
{
	va_list args;

	assert(!ctx->has_fired && !ctx->is_skipped);
	ctx->has_fired = true;
	ctx->confidence = TSCOPE_CONFIDENCE_HIGH;
	ctx->subject = (struct tscope_subject){ .rank = -1, .device = -1, .step = -1 };
	tsi_rule_cause(ctx, ctx->rule->cause);
	ctx->severity = ctx->setting->has_severity ? ctx->setting->severity : severity;
	va_start(args, title);
	tsi_vappend_text(ctx->title, sizeof(ctx->title), title, args);
	va_end(args);
	for (size_t i = 0; i < RULE_MAX_COMMON_EVIDENCE && ctx->rule->evidence[i]; i++)
		tsi_rule_evidence(ctx, ctx->rule->evidence[i]);
}

void tsi_rule_detail(struct rule_context *ctx, const char *format, ...)
{
	va_list args;

	assert(ctx->has_fired);
	va_start(args, format);
	tsi_vjoin_text(ctx->detail, sizeof(ctx->detail), "; ", format, args);
	va_end(args);
}

void tsi_rule_advice(struct rule_context *ctx, const char *advice)
{
	tsi_rule_advice_for(ctx, ADVICE_TRAINING, advice);
	tsi_rule_advice_for(ctx, ADVICE_INFERENCE, advice);
}

void tsi_rule_advice_print(struct rule_context *ctx, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tsi_vprint_text(ctx->printed_advice, sizeof(ctx->printed_advice), format, args);
	va_end(args);
	tsi_rule_advice(ctx, ctx->printed_advice);
}

void tsi_rule_advice_for(struct rule_context *ctx, enum advice_user user, const char *advice)
{
	assert(ctx->has_fired);
	ctx->advice[user] = advice;
}

void tsi_rule_evidence(struct rule_context *ctx, const char *fact)
{
	struct tscope_evidence *evidence = &ctx->evidence[ctx->evidence_count];

	assert(ctx->has_fired && ctx->evidence_count < RULE_MAX_EVIDENCE);
	evidence->fact = fact;
	evidence->value = tsi_lookup_fact(ctx->analysis, TSCOPE_WHOLE_TRACE, fact, &evidence->unit);
	ctx->evidence_count += evidence->value.kind != TSCOPE_VALUE_ABSENT;
}

void tsi_rule_gain(struct rule_context *ctx, enum gain_part part, int64_t ns)
{
	int64_t claimed_ns = ns > 0 ? ns : 0;

	assert(ctx->has_fired);
	/* Claims of one finding on a part add up. */
	for (size_t i = 0; i < ctx->claim_count; i++)
		if (ctx->claims[i].part == part) {
			tsi_sum(&ctx->claims[i].ns, claimed_ns);
			return;
		}
	assert(ctx->claim_count < MAX_CLAIMS);
	ctx->claims[ctx->claim_count++] = (struct gain_claim){ part, claimed_ns };
}

void tsi_rule_simulated(struct rule_context *ctx, enum gain_part part, int64_t ns)
{
	tsi_rule_gain(ctx, part, ns);
	ctx->gain_basis = TSCOPE_GAIN_SIMULATED;
	ctx->is_simulated = true;
}

void tsi_rule_wins_nothing(struct rule_context *ctx)
{
	ctx->wins_nothing = true;
}

void tsi_rule_bound(struct rule_context *ctx)
{
	ctx->gain_basis = TSCOPE_GAIN_BOUND;
}

void tsi_rule_cause(struct rule_context *ctx, enum rule_cause cause)
{
	assert(ctx->has_fired);
	ctx->cause = cause;
	ctx->merged_with = tsi_cause_kin(cause);
}

void tsi_rule_merge_with(struct rule_context *ctx, enum rule_cause cause)
{
	assert(ctx->has_fired);
	ctx->merged_with = cause;
}

void tsi_rule_merge_under(struct rule_context *ctx, enum rule_cause cause)
{
	tsi_rule_merge_with(ctx, cause);
	ctx->is_merged_under = true;
}

void tsi_rule_after(struct rule_context *ctx, enum rule_cause cause)
{
	assert(ctx->has_fired);
	ctx->after = cause;
	ctx->is_after = true;
}

void tsi_rule_confidence(struct rule_context *ctx, enum tscope_confidence confidence)
{
	assert(ctx->has_fired);
	ctx->confidence = confidence;
}

struct tscope_subject *tsi_rule_subject(struct rule_context *ctx)
{
	assert(ctx->has_fired);
	return &ctx->subject;
}

void tsi_rule_place_in(struct rule_context *ctx, const char *path, int64_t start_ns,
		       int64_t duration_ns)
{
	assert(ctx->has_fired);
	/* Two operators may name one: that of the kernel which both run. */
	for (size_t i = 0; i < ctx->place_count; i++)
		if (ctx->places[i].start_ns == start_ns &&
		    ctx->places[i].duration_ns == duration_ns &&
		    strcmp(ctx->places[i].file, path) == 0)
			return;
	if (ctx->place_count == TSCOPE_MAX_PLACES)
		return;
	ctx->places[ctx->place_count++] = (struct tscope_place){ path, start_ns, duration_ns };
}

void tsi_rule_place(struct rule_context *ctx, int64_t start_ns, int64_t duration_ns)
{
	tsi_rule_place_in(ctx, tsi_rule_text(ctx, "integrity.path"), start_ns, duration_ns);
}

/* "src/model.py(41): forward", "forward (src/model.py:41)": how much is before the folders' end. */
static struct str function_before(const char *source, const char **base)
{
	const char *slash = strrchr(source, '/'), *open = strstr(source, " (");
	bool is_behind = slash && open && open < slash;

	*base = slash ? slash + 1 : source;
	return (struct str){ source, is_behind ? (size_t)(open + 2 - source) : 0 };
}

void tsi_rule_site(struct rule_context *ctx, const char *table, size_t row, const char *words)
{
	const char *module = tsi_rule_cell_text(ctx, table, row, "module");
	const char *source = tsi_rule_cell_text(ctx, table, row, "source");
	const char *comma = *module && *source ? ", " : "", *base;
	struct str function = function_before(source, &base);

	if (ctx->subject.module || ctx->subject.source || !(*module || *source))
		return;
	ctx->subject.module = *module ? module : NULL;
	ctx->subject.source = *source ? source : NULL;
	tsi_rule_detail(ctx, "%s in %.60s%s%.*s%.60s", words, module, comma,
			(int)(function.length < 60 ? function.length : 60), function.data, base);
}

void tsi_rule_longest(struct rule_context *ctx, const char *table, size_t row)
{
	struct tscope_value start = tsi_rule_cell(ctx, table, row, "max_start_ns");
	struct tscope_value longest = tsi_rule_cell(ctx, table, row, "max_ns");

	if (start.kind == TSCOPE_VALUE_INT && longest.kind == TSCOPE_VALUE_INT)
		tsi_rule_place(ctx, start.integer, longest.integer);
}
