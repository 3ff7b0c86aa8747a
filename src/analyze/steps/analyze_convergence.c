/* SPDX-License-Identifier: MIT */
/*
 * Where the loss goes, and the steps in which it or the gradient's norm towers
 * above those before, by pytscope's rules. Figures are of the steps that recorded
 * the value, but for warm-up.
 */
#include "analyze/facts.h"
#include "analyze/shared/robust.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"

enum fact { FINAL_LOSS, BEST_LOSS, LOSS_TREND, DIVERGED_AT, LOSS_COUNT };

static const struct tscope_fact_def facts[] = {
	[FINAL_LOSS] = { "final_loss", TSCOPE_UNIT_NUMBER, "last finite loss" },
	[BEST_LOSS] = { "best_loss", TSCOPE_UNIT_NUMBER, "smallest finite loss" },
	[LOSS_TREND] = { "loss_trend", TSCOPE_UNIT_TEXT,
			 "improving, worsening, plateau, diverged, or unknown (below 4 steps)" },
	[DIVERGED_AT] = { "diverged_at", TSCOPE_UNIT_COUNT,
			  "first step with a loss that is not finite" },
	[LOSS_COUNT] = { "loss_count", TSCOPE_UNIT_COUNT, "steps that recorded a loss" },
};

static const struct tscope_fact_def spike_columns[] = {
	{ "step", TSCOPE_UNIT_COUNT, "number of the step" },
};

enum table { LOSS_SPIKES, GRAD_NORM_SPIKES };

static const struct tscope_table_def tables[] = {
	[LOSS_SPIKES] = { "loss_spikes", spike_columns, TSI_COUNT_OF(spike_columns),
			  "steps whose loss towers above the 12 before", TSCOPE_TABLE_LIST },
	[GRAD_NORM_SPIKES] = { "grad_norm_spikes", spike_columns, TSI_COUNT_OF(spike_columns),
			       "the same of the gradient's norm", TSCOPE_TABLE_LIST },
};

enum { TREND_MIN_COUNT = 4 }; /* fewer losses show no trend */
static const double trend_change = 0.02;

/* A scalar of the steps that recorded it. */
struct scalar {
	double *values;
	int64_t *steps; /* their numbers */
	size_t count;
};

static void scalar_deinit(struct scalar *scalar)
{
	free(scalar->values);
	free(scalar->steps);
}

/* On failure it may be deinited. */
static enum tscope_status scalar_init(struct scalar *scalar, const struct step_series *steps,
				      enum step_has kind, struct tscope_error *err)
{
	*scalar = (struct scalar){ 0 };
	if (tsi_array_new(&scalar->values, steps->count, sizeof(*scalar->values), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&scalar->steps, steps->count, sizeof(*scalar->steps), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < steps->count; i++) {
		const struct step_record *record = &steps->records[i];
		if (!tsi_step_is_trained(record) || !(record->has & kind))
			continue;
		scalar->steps[scalar->count] = record->number;
		scalar->values[scalar->count++] =
			kind == STEP_HAS_LOSS ? record->loss : record->grad_norm;
	}
	return TSCOPE_OK;
}

static enum tscope_status list_spikes(struct fact_sheet *out, enum table table,
				      const struct scalar *scalar, struct tscope_error *err)
{
	bool *is_spike;
	enum tscope_status status = tsi_array_new(&is_spike, scalar->count, sizeof(*is_spike), err);

	if (status != TSCOPE_OK)
		return status;
	tsi_local_spikes(scalar->values, scalar->count, is_spike);
	for (size_t i = 0; status == TSCOPE_OK && i < scalar->count; i++) {
		struct tscope_value *cells;
		if (!is_spike[i])
			continue;
		status = tsi_table_add(out, table, &cells, err);
		if (status == TSCOPE_OK)
			cells[0] = tsi_int(scalar->steps[i]);
	}
	free(is_spike);
	return status;
}

/* Takes out what is not finite; where it was first is a fact. */
static void keep_finite(struct fact_sheet *out, struct scalar *loss)
{
	size_t kept = 0;

	for (size_t i = 0; i < loss->count; i++) {
		if (isfinite(loss->values[i]))
			loss->values[kept++] = loss->values[i];
		else if (kept == i)
			tsi_fact_int(out, DIVERGED_AT, loss->steps[i]);
	}
	loss->count = kept;
}

static const char *trend_of(double first, double last)
{
	double change = (last - first) / (first != 0 ? fabs(first) : 1);

	if (change < -trend_change)
		return "improving";
	return change > trend_change ? "worsening" : "plateau";
}

static enum tscope_status put_loss(struct fact_sheet *out, struct scalar *loss,
				   struct tscope_error *err)
{
	size_t count = loss->count;
	double best, first, last;

	tsi_fact_int(out, LOSS_COUNT, (int64_t)count);
	keep_finite(out, loss);
	if (tsi_end_medians(loss->values, loss->count, &first, &last, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (loss->count < count)
		tsi_fact_text(out, LOSS_TREND, "diverged");
	else if (count < TREND_MIN_COUNT)
		tsi_fact_text(out, LOSS_TREND, "unknown");
	else
		tsi_fact_text(out, LOSS_TREND, trend_of(first, last));
	if (loss->count == 0)
		return TSCOPE_OK;
	best = loss->values[0];
	for (size_t i = 1; i < loss->count; i++)
		best = fmin(best, loss->values[i]);
	tsi_fact_real(out, BEST_LOSS, best);
	tsi_fact_real(out, FINAL_LOSS, loss->values[loss->count - 1]);
	return TSCOPE_OK;
}

static enum tscope_status analyze_convergence(const struct analysis_scope *scope,
					      struct fact_sheet *out, struct tscope_error *err)
{
	struct scalar loss = { 0 }, grad_norm = { 0 };
	enum tscope_status status = scalar_init(&loss, scope->steps, STEP_HAS_LOSS, err);

	if (status == TSCOPE_OK)
		status = scalar_init(&grad_norm, scope->steps, STEP_HAS_GRAD_NORM, err);
	if (status == TSCOPE_OK)
		status = list_spikes(out, LOSS_SPIKES, &loss, err);
	if (status == TSCOPE_OK)
		status = list_spikes(out, GRAD_NORM_SPIKES, &grad_norm, err);
	if (status == TSCOPE_OK && loss.count)
		status = put_loss(out, &loss, err);
	scalar_deinit(&loss);
	scalar_deinit(&grad_norm);
	return status;
}

const struct analyzer tsi_analyzer_convergence = {
	.def = {
		.id = "convergence",
		.summary = "where the loss goes, and steps in which it jumps",
		.facts = facts,
		.fact_count = TSI_COUNT_OF(facts),
		.tables = tables,
		.table_count = TSI_COUNT_OF(tables),
		.needs = "step records with a loss",
	},
	.levels = LEVEL_RANK,
	.run = analyze_convergence,
};
