/* SPDX-License-Identifier: MIT */
/*
 * Would the run be the same again? Environment, configuration and the losses of both sides, each
 * those of its lowest rank, and what the differences mean, as pytscope says it.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/facts.h"
#include "analyze/lookup.h"
#include "base/array.h"
#include "diff/comparison.h"
#include "diff/reproducibility_notes.h"
#include "diff/setting_match.h"
#include "diff/trajectory.h"

enum fact {
	IS_REPRODUCIBLE,
	IDENTICAL_TRAJECTORY,
	FIRST_DIVERGENCE,
	FIRST_DIVERGENCE_STEP,
	A_LOSS_COUNT,
	B_LOSS_COUNT,
	LOSS_TOLERANCE,
	ENVIRONMENT_COUNT,
	CONFIG_COUNT,
	A_FINAL_LOSS,
	B_FINAL_LOSS,
	A_BEST_LOSS,
	B_BEST_LOSS,
};

static const struct tscope_fact_def facts[] = {
	[IS_REPRODUCIBLE] = { "is_reproducible", TSCOPE_UNIT_FLAG,
			      "environment, configuration, number of ranks and all losses are "
			      "equal" },
	[IDENTICAL_TRAJECTORY] = { "identical_trajectory", TSCOPE_UNIT_FLAG,
				   "there are losses, and all are equal" },
	[FIRST_DIVERGENCE] = { "first_divergence", TSCOPE_UNIT_COUNT,
			       "first index in the losses that differs" },
	[FIRST_DIVERGENCE_STEP] = { "first_divergence_step", TSCOPE_UNIT_COUNT,
				    "the step with it, in A where A has it" },
	[A_LOSS_COUNT] = { "a_loss_count", TSCOPE_UNIT_COUNT, "losses of A" },
	[B_LOSS_COUNT] = { "b_loss_count", TSCOPE_UNIT_COUNT, "losses of B" },
	[LOSS_TOLERANCE] = { "loss_tolerance", TSCOPE_UNIT_NUMBER,
			     "up to which losses are equal, relative" },
	[ENVIRONMENT_COUNT] = { "environment_count", TSCOPE_UNIT_COUNT,
				"differences of the environment" },
	[CONFIG_COUNT] = { "config_count", TSCOPE_UNIT_COUNT, "differences of the configuration" },
	[A_FINAL_LOSS] = { "a_final_loss", TSCOPE_UNIT_NUMBER, "last finite loss of A" },
	[B_FINAL_LOSS] = { "b_final_loss", TSCOPE_UNIT_NUMBER, "and of B" },
	[A_BEST_LOSS] = { "a_best_loss", TSCOPE_UNIT_NUMBER, "least finite loss of A" },
	[B_BEST_LOSS] = { "b_best_loss", TSCOPE_UNIT_NUMBER, "and of B" },
};

enum environment_column {
	ENVIRONMENT_NAME,
	ENVIRONMENT_A,
	ENVIRONMENT_B,
	ENVIRONMENT_IS_RELEVANT,
};

static const struct tscope_fact_def environment_columns[] = {
	[ENVIRONMENT_NAME] = { "name", TSCOPE_UNIT_TEXT, "of the variable" },
	[ENVIRONMENT_A] = { "a", TSCOPE_UNIT_TEXT, "its value in A; absent: it has none" },
	[ENVIRONMENT_B] = { "b", TSCOPE_UNIT_TEXT, "its value in B; absent: it has none" },
	[ENVIRONMENT_IS_RELEVANT] = { "is_relevant", TSCOPE_UNIT_FLAG, "it can change numerics" },
};

enum config_column {
	CONFIG_NAME,
	CONFIG_A,
	CONFIG_B,
};

static const struct tscope_fact_def config_columns[] = {
	[CONFIG_NAME] = { "name", TSCOPE_UNIT_TEXT, "of the entry" },
	[CONFIG_A] = { "a", TSCOPE_UNIT_TEXT, "its value in A; absent: it has none" },
	[CONFIG_B] = { "b", TSCOPE_UNIT_TEXT, "its value in B; absent: it has none" },
};

enum note_column {
	NOTE_NOTE,
};

static const struct tscope_fact_def note_columns[] = {
	[NOTE_NOTE] = { "note", TSCOPE_UNIT_TEXT, "a sentence" },
};

enum rank_column {
	RANK_RANK,
	RANK_IDENTICAL_TRAJECTORY,
	RANK_FIRST_DIVERGENCE,
	RANK_FIRST_DIVERGENCE_STEP,
	RANK_A_LOSS_COUNT,
	RANK_B_LOSS_COUNT,
};

static const struct tscope_fact_def rank_columns[] = {
	[RANK_RANK] = { "rank", TSCOPE_UNIT_COUNT, "number of the rank" },
	[RANK_IDENTICAL_TRAJECTORY] = { "identical_trajectory", TSCOPE_UNIT_FLAG, "as of the run" },
	[RANK_FIRST_DIVERGENCE] = { "first_divergence", TSCOPE_UNIT_COUNT, "as of the run" },
	[RANK_FIRST_DIVERGENCE_STEP] = { "first_divergence_step", TSCOPE_UNIT_COUNT,
					 "as of the run" },
	[RANK_A_LOSS_COUNT] = { "a_loss_count", TSCOPE_UNIT_COUNT, "losses of A" },
	[RANK_B_LOSS_COUNT] = { "b_loss_count", TSCOPE_UNIT_COUNT, "losses of B" },
};

enum table { ENVIRONMENT_TABLE, CONFIG_TABLE, NOTES_TABLE, RANKS_TABLE };

static const struct tscope_table_def tables[] = {
	[ENVIRONMENT_TABLE] = { "environment", environment_columns,
				TSI_COUNT_OF(environment_columns), "variables that differ, sorted",
				TSCOPE_TABLE_ROWS },
	[CONFIG_TABLE] = { "config", config_columns, TSI_COUNT_OF(config_columns),
			   "entries that differ, sorted", TSCOPE_TABLE_ROWS },
	[NOTES_TABLE] = { "notes", note_columns, TSI_COUNT_OF(note_columns),
			  "what that means, the most important first", TSCOPE_TABLE_LIST },
	[RANKS_TABLE] = { "ranks", rank_columns, TSI_COUNT_OF(rank_columns),
			  "each rank of both, where there are several", TSCOPE_TABLE_ROWS },
};

/* ---- settings ----------------------------------------------------------------------------- */

static enum tscope_status put_environment(struct fact_sheet *out,
					  const struct setting_pairs *changes,
					  struct tscope_error *err)
{
	tsi_fact_int(out, ENVIRONMENT_COUNT, (int64_t)changes->count);
	for (size_t i = 0; i < changes->count; i++) {
		const struct setting_pair *change = &changes->items[i];
		struct tscope_value *cells;

		if (tsi_table_add(out, ENVIRONMENT_TABLE, &cells, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		cells[ENVIRONMENT_NAME] = tsi_text(change->name);
		cells[ENVIRONMENT_A] = tsi_text_if(change->a);
		cells[ENVIRONMENT_B] = tsi_text_if(change->b);
		cells[ENVIRONMENT_IS_RELEVANT] = tsi_flag(tsi_setting_is_relevant(change->name));
	}
	return TSCOPE_OK;
}

static enum tscope_status put_config(struct fact_sheet *out, const struct setting_pairs *changes,
				     struct tscope_error *err)
{
	tsi_fact_int(out, CONFIG_COUNT, (int64_t)changes->count);
	for (size_t i = 0; i < changes->count; i++) {
		const struct setting_pair *change = &changes->items[i];
		struct tscope_value *cells;

		if (tsi_table_add(out, CONFIG_TABLE, &cells, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		cells[CONFIG_NAME] = tsi_text(change->name);
		cells[CONFIG_A] = tsi_text_if(change->a);
		cells[CONFIG_B] = tsi_text_if(change->b);
	}
	return TSCOPE_OK;
}

/* ---- losses ------------------------------------------------------------------------------- */

static bool has_divergence(const struct trajectories *losses)
{
	return losses->relation != TRAJECTORY_UNKNOWN && losses->relation != TRAJECTORY_EQUAL;
}

static void put_losses(struct fact_sheet *out, const struct trajectories *losses)
{
	int64_t step;

	tsi_fact_int(out, A_LOSS_COUNT, (int64_t)losses->a_count);
	tsi_fact_int(out, B_LOSS_COUNT, (int64_t)losses->b_count);
	if (losses->relation == TRAJECTORY_UNKNOWN)
		tsi_fact_doubt(out, IDENTICAL_TRAJECTORY, "neither side recorded a loss");
	else
		tsi_fact_flag(out, IDENTICAL_TRAJECTORY, losses->relation == TRAJECTORY_EQUAL);
	if (!has_divergence(losses))
		return;
	tsi_fact_int(out, FIRST_DIVERGENCE, (int64_t)losses->divergence);
	if (tsi_divergence_step(losses, &step))
		tsi_fact_int(out, FIRST_DIVERGENCE_STEP, step);
}

static void put_number(struct fact_sheet *out, enum fact fact,
		       const struct tscope_analysis *analysis, const char *id)
{
	enum tscope_unit unit;
	double number;

	if (tsi_diff_number(tsi_lookup_fact(analysis, TSCOPE_WHOLE_TRACE, id, &unit), &number))
		tsi_fact_real(out, fact, number);
}

static void put_best_losses(struct fact_sheet *out, const struct diff_side *sides)
{
	const struct tscope_analysis *a = sides[TSCOPE_SIDE_A].analysis;
	const struct tscope_analysis *b = sides[TSCOPE_SIDE_B].analysis;

	put_number(out, A_FINAL_LOSS, a, "convergence.final_loss");
	put_number(out, B_FINAL_LOSS, b, "convergence.final_loss");
	put_number(out, A_BEST_LOSS, a, "convergence.best_loss");
	put_number(out, B_BEST_LOSS, b, "convergence.best_loss");
}

static enum tscope_status put_rank(struct fact_sheet *out, int64_t number,
				   const struct trajectories *losses, struct tscope_error *err)
{
	struct tscope_value *cells;
	int64_t step;

	if (tsi_table_add(out, RANKS_TABLE, &cells, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (number >= 0)
		cells[RANK_RANK] = tsi_int(number);
	cells[RANK_A_LOSS_COUNT] = tsi_int((int64_t)losses->a_count);
	cells[RANK_B_LOSS_COUNT] = tsi_int((int64_t)losses->b_count);
	if (losses->relation != TRAJECTORY_UNKNOWN)
		cells[RANK_IDENTICAL_TRAJECTORY] = tsi_flag(losses->relation == TRAJECTORY_EQUAL);
	if (!has_divergence(losses))
		return TSCOPE_OK;
	cells[RANK_FIRST_DIVERGENCE] = tsi_int((int64_t)losses->divergence);
	if (tsi_divergence_step(losses, &step))
		cells[RANK_FIRST_DIVERGENCE_STEP] = tsi_int(step);
	return TSCOPE_OK;
}

/* One rank of both. Where it is the first with losses, or whose losses part, notes are on it. */
static enum tscope_status compare_rank(struct fact_sheet *out, struct reproducibility *r,
				       const struct diff_rank *a, const struct diff_rank *b,
				       struct tscope_error *err)
{
	struct trajectories losses =
		tsi_compare_trajectories(a->analysis, b->analysis, r->loss_tolerance);

	if (r->losses.relation == TRAJECTORY_UNKNOWN ||
	    (r->losses.relation == TRAJECTORY_EQUAL && has_divergence(&losses))) {
		r->losses = losses;
		r->rank = a->number;
	}
	return put_rank(out, a->number, &losses, err);
}

/* The ranks that both sides have, in ascending order on either. */
static enum tscope_status compare_ranks(struct fact_sheet *out, struct reproducibility *r,
					const struct comparison *comparison,
					struct tscope_error *err)
{
	const struct diff_side *a = &comparison->sides[TSCOPE_SIDE_A];
	const struct diff_side *b = &comparison->sides[TSCOPE_SIDE_B];
	enum tscope_status status = TSCOPE_OK;

	if (a->rank_count == 1 && b->rank_count == 1)
		return TSCOPE_OK;
	for (size_t i = 0, j = 0; status == TSCOPE_OK && i < a->rank_count && j < b->rank_count;) {
		int64_t a_number = a->ranks[i].number, b_number = b->ranks[j].number;

		if (a_number == b_number)
			status = compare_rank(out, r, &a->ranks[i], &b->ranks[j], err);
		i += a_number <= b_number;
		j += b_number <= a_number;
	}
	return status;
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* Everything that the two sides say, before it is judged. */
struct outcome {
	struct settings environment[TSCOPE_SIDE_COUNT], config[TSCOPE_SIDE_COUNT];
	struct setting_pairs environment_changes, config_changes;
	struct reproducibility r;
};

static void outcome_deinit(struct outcome *outcome)
{
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++) {
		free(outcome->environment[i].items);
		free(outcome->config[i].items);
	}
	tsi_setting_pairs_deinit(&outcome->environment_changes);
	tsi_setting_pairs_deinit(&outcome->config_changes);
}

static enum tscope_status read_side(struct outcome *outcome, const struct comparison *comparison,
				    enum tscope_side side, struct tscope_error *err)
{
	const struct tscope_analysis *analysis = comparison->sides[side].analysis;
	struct settings *environment = &outcome->environment[side];
	struct settings *config = &outcome->config[side];

	if (tsi_settings_open(environment, analysis, "provenance.environment", err) != TSCOPE_OK ||
	    tsi_settings_open(config, analysis, "provenance.config", err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	const char *benchmark = tsi_setting_find(environment, "cudnn_benchmark");
	outcome->r.knows_environment[side] = tsi_settings_know_job(environment);
	outcome->r.knows_job[side] = tsi_settings_know_job(environment) || config->count > 0;
	outcome->r.has_cudnn_benchmark[side] = benchmark && strcmp(benchmark, "true") == 0;
	outcome->r.has_hash_seed[side] = tsi_setting_find(environment, "env.PYTHONHASHSEED");
	return TSCOPE_OK;
}

static enum tscope_status compare_sides(struct outcome *outcome,
					const struct comparison *comparison,
					struct tscope_error *err)
{
	const struct settings *environments = outcome->environment, *configs = outcome->config;
	const struct diff_side *sides = comparison->sides;
	struct setting_pairs *environment = &outcome->environment_changes;
	struct setting_pairs *config = &outcome->config_changes;

	if (tsi_settings_match(environment, &environments[TSCOPE_SIDE_A],
			       &environments[TSCOPE_SIDE_B], err) != TSCOPE_OK ||
	    tsi_settings_match(config, &configs[TSCOPE_SIDE_A], &configs[TSCOPE_SIDE_B], err) !=
		    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	outcome->r.environment = (struct setting_changes){ environment->names, environment->count };
	outcome->r.relevant = (struct setting_changes){ environment->names + environment->count,
							environment->relevant_count };
	outcome->r.config = (struct setting_changes){ config->names, config->count };
	outcome->r.loss_tolerance = comparison->loss_tolerance;
	outcome->r.rank = -1;
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		outcome->r.rank_count[i] = sides[i].rank_count;
	outcome->r.losses = tsi_compare_trajectories(sides[TSCOPE_SIDE_A].ranks[0].analysis,
						     sides[TSCOPE_SIDE_B].ranks[0].analysis,
						     comparison->loss_tolerance);
	return TSCOPE_OK;
}

/* Does either side say anything that could be compared? */
static bool has_anything(const struct outcome *outcome)
{
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		if (outcome->environment[i].count > 0 || outcome->config[i].count > 0)
			return true;
	return outcome->r.losses.relation != TRAJECTORY_UNKNOWN;
}

static void put_verdict(struct fact_sheet *out, const struct reproducibility *r)
{
	bool has_changes = r->config.count > 0 || r->environment.count > 0 ||
			   r->rank_count[TSCOPE_SIDE_A] != r->rank_count[TSCOPE_SIDE_B];

	tsi_fact_real(out, LOSS_TOLERANCE, r->loss_tolerance);
	if (r->losses.relation == TRAJECTORY_UNKNOWN && !has_changes)
		tsi_fact_doubt(out, IS_REPRODUCIBLE, "neither side recorded a loss");
	else
		tsi_fact_flag(out, IS_REPRODUCIBLE, tsi_is_reproducible(r));
}

static enum tscope_status list_notes(const struct analysis_scope *scope, struct fact_sheet *out,
				     const struct reproducibility *r, struct tscope_error *err)
{
	const char *notes[MAX_REPRODUCIBILITY_NOTES];
	size_t count;
	enum tscope_status status = tsi_reproducibility_notes(scope, r, notes, &count, err);

	for (size_t i = 0; status == TSCOPE_OK && i < count; i++) {
		struct tscope_value *cells;

		status = tsi_table_add(out, NOTES_TABLE, &cells, err);
		if (status == TSCOPE_OK)
			cells[NOTE_NOTE] = tsi_text(notes[i]);
	}
	return status;
}

static enum tscope_status put_outcome(const struct analysis_scope *scope, struct fact_sheet *out,
				      struct outcome *outcome, struct tscope_error *err)
{
	const struct comparison *comparison = scope->comparison;
	enum tscope_status status = put_environment(out, &outcome->environment_changes, err);

	put_losses(out, &outcome->r.losses);
	put_best_losses(out, comparison->sides);
	if (status == TSCOPE_OK)
		status = put_config(out, &outcome->config_changes, err);
	if (status == TSCOPE_OK)
		status = compare_ranks(out, &outcome->r, comparison, err);
	put_verdict(out, &outcome->r);
	return status == TSCOPE_OK ? list_notes(scope, out, &outcome->r, err) : status;
}

static enum tscope_status diff_reproducibility(const struct analysis_scope *scope,
					       struct fact_sheet *out, struct tscope_error *err)
{
	struct outcome outcome = { 0 };
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; status == TSCOPE_OK && i < TSCOPE_SIDE_COUNT; i++)
		status = read_side(&outcome, scope->comparison, (enum tscope_side)i, err);
	if (status == TSCOPE_OK)
		status = compare_sides(&outcome, scope->comparison, err);
	if (status == TSCOPE_OK && has_anything(&outcome))
		status = put_outcome(scope, out, &outcome, err);
	outcome_deinit(&outcome);
	return status;
}

const struct analyzer tsi_analyzer_reproducibility = {
	.def = {
		.id = "reproducibility",
		.summary = "environment, configuration and losses that differ",
		.facts = facts,
		.fact_count = TSI_COUNT_OF(facts),
		.tables = tables,
		.table_count = TSI_COUNT_OF(tables),
		.needs = "a comparison of step records",
	},
	.levels = LEVEL_DIFF,
	.run = diff_reproducibility,
};
