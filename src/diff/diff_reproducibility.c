/* SPDX-License-Identifier: MIT */
/*
 * Would the run be the same again? Environment, configuration and the losses of both sides, each
 * those of its lowest rank, and what the differences mean, as pytscope says it.
 */
#include <string.h>

#include "analyze/facts.h"
#include "analyze/lookup.h"
#include "diff/comparison.h"
#include "diff/reproducibility_notes.h"
#include "diff/setting_match.h"
#include "diff/trajectory.h"

#define FACTS(X)                                                                                   \
	X(IS_REPRODUCIBLE, "is_reproducible", FLAG,                                                \
	  "environment, configuration, number of ranks and all losses are equal")                  \
	X(IDENTICAL_TRAJECTORY, "identical_trajectory", FLAG,                                      \
	  "there are losses, and all are equal")                                                   \
	X(FIRST_DIVERGENCE, "first_divergence", COUNT, "first index in the losses that differs")   \
	X(FIRST_DIVERGENCE_STEP, "first_divergence_step", COUNT,                                   \
	  "the step with it, in A where A has it")                                                 \
	X(A_LOSS_COUNT, "a_loss_count", COUNT, "losses of A")                                      \
	X(B_LOSS_COUNT, "b_loss_count", COUNT, "losses of B")                                      \
	X(LOSS_TOLERANCE, "loss_tolerance", NUMBER, "up to which losses are equal, relative")      \
	X(ENVIRONMENT_COUNT, "environment_count", COUNT, "differences of the environment")         \
	X(CONFIG_COUNT, "config_count", COUNT, "differences of the configuration")                 \
	X(A_FINAL_LOSS, "a_final_loss", NUMBER, "last finite loss of A")                           \
	X(B_FINAL_LOSS, "b_final_loss", NUMBER, "and of B")                                        \
	X(A_BEST_LOSS, "a_best_loss", NUMBER, "least finite loss of A")                            \
	X(B_BEST_LOSS, "b_best_loss", NUMBER, "and of B")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define ENVIRONMENT_COLUMNS(X)                                                                     \
	X(ENVIRONMENT_NAME, "name", TEXT, "of the variable")                                       \
	X(ENVIRONMENT_A, "a", TEXT, "its value in A; absent: it has none")                         \
	X(ENVIRONMENT_B, "b", TEXT, "its value in B; absent: it has none")                         \
	X(ENVIRONMENT_IS_RELEVANT, "is_relevant", FLAG, "it can change numerics")

TSI_FACT_LIST(enum environment_column, environment_columns, ENVIRONMENT_COLUMNS);

#define CONFIG_COLUMNS(X)                                                                          \
	X(CONFIG_NAME, "name", TEXT, "of the entry")                                               \
	X(CONFIG_A, "a", TEXT, "its value in A; absent: it has none")                              \
	X(CONFIG_B, "b", TEXT, "its value in B; absent: it has none")

TSI_FACT_LIST(enum config_column, config_columns, CONFIG_COLUMNS);

#define NOTE_COLUMNS(X) X(NOTE_NOTE, "note", TEXT, "a sentence")

TSI_FACT_LIST(enum note_column, note_columns, NOTE_COLUMNS);

#define RANK_COLUMNS(X)                                                                            \
	X(RANK_RANK, "rank", COUNT, "number of the rank")                                          \
	X(RANK_IDENTICAL_TRAJECTORY, "identical_trajectory", FLAG, "as of the run")                \
	X(RANK_FIRST_DIVERGENCE, "first_divergence", COUNT, "as of the run")                       \
	X(RANK_FIRST_DIVERGENCE_STEP, "first_divergence_step", COUNT, "as of the run")             \
	X(RANK_A_LOSS_COUNT, "a_loss_count", COUNT, "losses of A")                                 \
	X(RANK_B_LOSS_COUNT, "b_loss_count", COUNT, "losses of B")

TSI_FACT_LIST(enum rank_column, rank_columns, RANK_COLUMNS);

enum table { ENVIRONMENT_TABLE, CONFIG_TABLE, NOTES_TABLE, RANKS_TABLE };

static const struct tscope_table_def tables[] = {
	[ENVIRONMENT_TABLE] =
		TSI_TABLE_DEF("environment", environment_columns, "variables that differ, sorted"),
	[CONFIG_TABLE] = TSI_TABLE_DEF("config", config_columns, "entries that differ, sorted"),
	[NOTES_TABLE] = { "notes", note_columns, TSI_COUNT_OF(note_columns),
			  "what that means, the most important first", TSCOPE_TABLE_LIST },
	[RANKS_TABLE] =
		TSI_TABLE_DEF("ranks", rank_columns, "each rank of both, where there are several"),
};

/* ---- settings ----------------------------------------------------------------------------- */

static void put_changes(struct fact_sheet *out, enum table table,
			const struct setting_pairs *changes)
{
	for (size_t i = 0; i < changes->count; i++) {
		const struct setting_pair *change = &changes->items[i];
		struct tscope_value *cells = tsi_table_row(out, table);

		cells[CONFIG_NAME] = tsi_text(change->name);
		cells[CONFIG_A] = tsi_text_if(change->a);
		cells[CONFIG_B] = tsi_text_if(change->b);
		if (table == ENVIRONMENT_TABLE)
			cells[ENVIRONMENT_IS_RELEVANT] =
				tsi_flag(tsi_setting_is_relevant(change->name));
	}
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
	double number;

	if (tsi_diff_number(tsi_lookup(analysis, id), &number))
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

static void put_rank(struct fact_sheet *out, int64_t number, const struct trajectories *losses)
{
	struct tscope_value *cells = tsi_table_row(out, RANKS_TABLE);
	int64_t step;

	if (number >= 0)
		cells[RANK_RANK] = tsi_int(number);
	cells[RANK_A_LOSS_COUNT] = tsi_int((int64_t)losses->a_count);
	cells[RANK_B_LOSS_COUNT] = tsi_int((int64_t)losses->b_count);
	if (losses->relation != TRAJECTORY_UNKNOWN)
		cells[RANK_IDENTICAL_TRAJECTORY] = tsi_flag(losses->relation == TRAJECTORY_EQUAL);
	if (!has_divergence(losses))
		return;
	cells[RANK_FIRST_DIVERGENCE] = tsi_int((int64_t)losses->divergence);
	if (tsi_divergence_step(losses, &step))
		cells[RANK_FIRST_DIVERGENCE_STEP] = tsi_int(step);
}

/* One rank of both. Where it is the first with losses, or whose losses part, notes are on it. */
static void compare_rank(struct fact_sheet *out, struct reproducibility *r,
			 const struct diff_rank *a, const struct diff_rank *b)
{
	struct trajectories losses =
		tsi_compare_trajectories(a->analysis, b->analysis, r->loss_tolerance);

	if (r->losses.relation == TRAJECTORY_UNKNOWN ||
	    (r->losses.relation == TRAJECTORY_EQUAL && has_divergence(&losses))) {
		r->losses = losses;
		r->rank = a->number;
	}
	put_rank(out, a->number, &losses);
}

/* The ranks that both sides have, in ascending order on either. */
static void compare_ranks(struct fact_sheet *out, struct reproducibility *r,
			  const struct comparison *comparison)
{
	const struct diff_side *a = &comparison->sides[TSCOPE_SIDE_A];
	const struct diff_side *b = &comparison->sides[TSCOPE_SIDE_B];

	if (a->rank_count == 1 && b->rank_count == 1)
		return;
	for (size_t i = 0, j = 0; i < a->rank_count && j < b->rank_count;) {
		int64_t a_number = a->ranks[i].number, b_number = b->ranks[j].number;

		if (a_number == b_number)
			compare_rank(out, r, &a->ranks[i], &b->ranks[j]);
		i += a_number <= b_number;
		j += b_number <= a_number;
	}
}

/* ---- the whole ---------------------------------------------------------------------------- */

static void read_side(struct reproducibility *r, enum tscope_side side,
		      const struct settings *environment, const struct settings *config)
{
	const char *benchmark = tsi_setting_find(environment, "cudnn_benchmark");

	r->knows_environment[side] = tsi_settings_know_job(environment);
	r->knows_job[side] = r->knows_environment[side] || config->count > 0;
	r->has_cudnn_benchmark[side] = benchmark && strcmp(benchmark, "true") == 0;
	r->has_hash_seed[side] = tsi_setting_find(environment, "env.PYTHONHASHSEED");
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

static void diff_reproducibility(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct diff_side *sides = scope->comparison->sides;
	struct arena *scratch = tsi_sheet_scratch(out);
	struct settings environment[TSCOPE_SIDE_COUNT], config[TSCOPE_SIDE_COUNT];
	struct reproducibility r = {
		.loss_tolerance = scope->comparison->loss_tolerance,
		.rank = -1,
		.losses = tsi_compare_trajectories(sides[TSCOPE_SIDE_A].ranks[0].analysis,
						   sides[TSCOPE_SIDE_B].ranks[0].analysis,
						   scope->comparison->loss_tolerance),
	};
	bool has_anything = r.losses.relation != TRAJECTORY_UNKNOWN;

	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++) {
		environment[i] =
			tsi_settings_open(sides[i].analysis, "provenance.environment", scratch);
		config[i] = tsi_settings_open(sides[i].analysis, "provenance.config", scratch);
		read_side(&r, (enum tscope_side)i, &environment[i], &config[i]);
		r.rank_count[i] = sides[i].rank_count;
		has_anything |= environment[i].count > 0 || config[i].count > 0;
	}
	if (!has_anything)
		return;
	r.environment = tsi_settings_match(environment, scratch);
	r.config = tsi_settings_match(config, scratch);
	tsi_fact_int(out, ENVIRONMENT_COUNT, (int64_t)r.environment.count);
	put_changes(out, ENVIRONMENT_TABLE, &r.environment);
	tsi_fact_int(out, CONFIG_COUNT, (int64_t)r.config.count);
	put_changes(out, CONFIG_TABLE, &r.config);
	put_losses(out, &r.losses);
	put_best_losses(out, sides);
	compare_ranks(out, &r, scope->comparison);
	put_verdict(out, &r);
	tsi_put_reproducibility_notes(out, NOTES_TABLE, &r);
}

const struct analyzer tsi_analyzer_reproducibility = {
	.def = {
		.id = "reproducibility",
		.summary = "environment, configuration and losses that differ",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a comparison of step records",
	},
	.levels = LEVEL_DIFF,
	.fill = diff_reproducibility,
};
