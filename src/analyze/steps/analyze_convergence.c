/* SPDX-License-Identifier: MIT */
/*
 * Where the loss goes, and the steps in which it or the gradient's norm towers
 * above those before, by pytscope's rules. Figures are of the steps that recorded
 * the value, but for warm-up.
 */
#include "analyze/facts.h"
#include "analyze/shared/robust.h"

#include <math.h>

#define FACTS(X)                                                                                   \
	X(FINAL_LOSS, "final_loss", NUMBER, "last finite loss")                                    \
	X(BEST_LOSS, "best_loss", NUMBER, "smallest finite loss")                                  \
	X(LOSS_TREND, "loss_trend", TEXT,                                                          \
	  "improving, worsening, plateau, diverged, or unknown (below 4 steps)")                   \
	X(DIVERGED_AT, "diverged_at", COUNT, "first step with a loss that is not finite")          \
	X(LOSS_COUNT, "loss_count", COUNT, "steps that recorded a loss")

TSI_FACT_LIST(enum fact, facts, FACTS);

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

static struct scalar read_scalar(const struct step_series *steps, enum step_has kind,
				 struct arena *scratch)
{
	struct scalar scalar = {
		.values = tsi_arena_new(scratch, steps->count, sizeof(*scalar.values)),
		.steps = tsi_arena_new(scratch, steps->count, sizeof(*scalar.steps)),
	};

	if (!scalar.values || !scalar.steps)
		return scalar;
	for (size_t i = 0; i < steps->count; i++) {
		const struct step_record *record = &steps->records[i];
		if (!tsi_step_is_trained(record) || !(record->has & kind))
			continue;
		scalar.steps[scalar.count] = record->number;
		scalar.values[scalar.count++] =
			kind == STEP_HAS_LOSS ? record->loss : record->grad_norm;
	}
	return scalar;
}

static void list_spikes(struct fact_sheet *out, enum table table, const struct scalar *scalar)
{
	bool *is_spike = tsi_arena_new(tsi_sheet_scratch(out), scalar->count, sizeof(*is_spike));

	if (!is_spike)
		return;
	tsi_local_spikes(scalar->values, scalar->count, is_spike);
	for (size_t i = 0; i < scalar->count; i++)
		if (is_spike[i])
			tsi_table_row(out, table)[0] = tsi_int(scalar->steps[i]);
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

/*
 * Is a policy trained by a reward, as TRL, Stable-Baselines and others log one, or have a phase
 * for it? Its loss is a step towards more of that, begins near zero and need not fall.
 */
static bool has_reward(const struct step_series *steps)
{
	static const struct str names[] = { { "reward", 6 },
					    { "mean_reward", 11 },
					    { "episode_reward", 14 },
					    { "rlhf_reward", 11 },
					    { "ep_rew_mean", 11 } };

	for (uint32_t i = 0; i < steps->names.count; i++) {
		struct str name = tsi_str_last_part(tsi_intern_text(&steps->names, i));

		for (size_t k = 0; k < TSI_COUNT_OF(names); k++)
			if (tsi_str_equal(name, names[k]))
				return true;
	}
	return false;
}

static const char *trend_of(double first, double last)
{
	double change = (last - first) / (first != 0 ? fabs(first) : 1);

	if (change < -trend_change)
		return "improving";
	return change > trend_change ? "worsening" : "plateau";
}

static void put_trend(struct fact_sheet *out, const struct step_series *steps, double first,
		      double last)
{
	tsi_fact_text(out, LOSS_TREND, trend_of(first, last));
	if (has_reward(steps))
		tsi_fact_doubt(out, LOSS_TREND,
			       "a reward is logged: in reinforcement learning the loss need not "
			       "fall");
}

static void put_loss(struct fact_sheet *out, const struct step_series *steps, struct scalar *loss)
{
	size_t count = loss->count;
	bool ends_finite = isfinite(loss->values[count - 1]);
	double best, first, last;

	tsi_fact_int(out, LOSS_COUNT, (int64_t)count);
	keep_finite(out, loss);
	tsi_end_medians(loss->values, loss->count, &first, &last, tsi_sheet_scratch(out));
	if (loss->count < count)
		tsi_fact_text(out, LOSS_TREND, "diverged");
	else if (count < TREND_MIN_COUNT)
		tsi_fact_text(out, LOSS_TREND, "unknown");
	else
		put_trend(out, steps, first, last);
	if (loss->count == 0)
		return;
	best = loss->values[0];
	for (size_t i = 1; i < loss->count; i++)
		best = fmin(best, loss->values[i]);
	tsi_fact_real(out, BEST_LOSS, best);
	tsi_fact_real(out, FINAL_LOSS, loss->values[loss->count - 1]);
	if (!ends_finite)
		tsi_fact_doubt(out, FINAL_LOSS, "losses after it are NaN or infinite");
}

static void fill_convergence(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct arena *scratch = tsi_sheet_scratch(out);
	struct scalar loss = read_scalar(scope->steps, STEP_HAS_LOSS, scratch);
	struct scalar grad_norm = read_scalar(scope->steps, STEP_HAS_GRAD_NORM, scratch);

	list_spikes(out, LOSS_SPIKES, &loss);
	list_spikes(out, GRAD_NORM_SPIKES, &grad_norm);
	if (loss.count)
		put_loss(out, scope->steps, &loss);
}

const struct analyzer tsi_analyzer_convergence = {
	.def = {
		.id = "convergence",
		.summary = "where the loss goes, and steps in which it jumps",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "step records with a loss",
	},
	.levels = LEVEL_RANK,
	.fill = fill_convergence,
};
