/* SPDX-License-Identifier: MIT */
/*
 * How idle the stages of a pipeline are. Ranks are stages: as many blocks of
 * consecutive ranks as the user says or, where the traces of all ranks hold sends
 * and receives, each rank one. A step lasts as long as it does on its slowest rank;
 * a stage is busy as long as its ranks compute, on average.
 */
#include "analyze/facts.h"
#include "analyze/rank_steps.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/sum.h"

enum fact {
	STAGE_COUNT,
	N_STEPS,
	WALL_NS,
	BUBBLE_RATIO,
	IDEAL_BUBBLE_RATIO,
	EXCESS_RATIO,
	BUSIEST_STAGE,
	IDLEST_STAGE,
};

static const struct tscope_fact_def facts[] = {
	[STAGE_COUNT] = { "stage_count", TSCOPE_UNIT_COUNT, "stages of the pipeline" },
	[N_STEPS] = { "n_steps", TSCOPE_UNIT_COUNT, "steps that all ranks have" },
	[WALL_NS] = { "wall_ns", TSCOPE_UNIT_NS, "their time on the slowest rank, sum" },
	[BUBBLE_RATIO] = { "bubble_ratio", TSCOPE_UNIT_RATIO,
			   "share of that in which a stage does not compute" },
	[IDEAL_BUBBLE_RATIO] = { "ideal_bubble_ratio", TSCOPE_UNIT_RATIO,
				 "what filling and draining cost: (stages - 1) ÷ "
				 "(microbatches + stages - 1)" },
	[EXCESS_RATIO] = { "excess_ratio", TSCOPE_UNIT_RATIO, "bubble beyond the ideal one" },
	[BUSIEST_STAGE] = { "busiest_stage", TSCOPE_UNIT_COUNT,
			    "stage that computes most, from 0" },
	[IDLEST_STAGE] = { "idlest_stage", TSCOPE_UNIT_COUNT, "stage that computes least" },
};

enum column { STAGE, BUSY_NS, STAGE_BUBBLE_RATIO };

static const struct tscope_fact_def stage_columns[] = {
	[STAGE] = { "stage", TSCOPE_UNIT_COUNT, "number of the stage, from 0" },
	[BUSY_NS] = { "busy_ns", TSCOPE_UNIT_NS, "compute in all steps, mean of its ranks" },
	[STAGE_BUBBLE_RATIO] = { "bubble_ratio", TSCOPE_UNIT_RATIO,
				 "share of wall_ns beside that" },
};

enum table { STAGES };

static const struct tscope_table_def tables[] = {
	[STAGES] = { "stages", stage_columns, TSI_COUNT_OF(stage_columns), "each stage",
		     TSCOPE_TABLE_ROWS },
};

/* 0: no pipeline, or one that the ranks do not divide into. */
static size_t count_stages(const struct analysis_scope *scope)
{
	size_t said = scope->options->pipeline_stages, rank_count = scope->rank_count;

	if (rank_count < 2)
		return 0;
	if (said > 1)
		return rank_count % said == 0 ? said : 0;
	for (size_t i = 0; i < rank_count; i++)
		if (!scope->ranks[i].has_point_to_point ||
		    scope->ranks[i].world_size != (int64_t)rank_count)
			return 0;
	return rank_count;
}

static int64_t sum_walls(const struct rank_steps *steps)
{
	int64_t sum_ns = 0;

	for (size_t step = 0; step < steps->step_count; step++) {
		int64_t most_ns = 0;
		for (size_t rank = 0; rank < steps->rank_count; rank++) {
			int64_t time_ns = steps->time_ns[step * steps->rank_count + rank];
			most_ns = time_ns > most_ns ? time_ns : most_ns;
		}
		tsi_sum(&sum_ns, most_ns);
	}
	return sum_ns;
}

/* Of a stage of `size` ranks: their compute in all steps, mean of the ranks. */
static int64_t busy_of_stage(const struct rank_steps *steps, size_t stage, size_t size)
{
	int64_t sum_ns = 0;

	for (size_t step = 0; step < steps->step_count; step++)
		for (size_t rank = stage * size; rank < (stage + 1) * size; rank++)
			tsi_sum(&sum_ns, steps->compute_ns[step * steps->rank_count + rank]);
	return tsi_mean(sum_ns, (int64_t)size).integer;
}

static double clamp_ratio(double ratio)
{
	return ratio < 0 ? 0 : ratio > 1 ? 1 : ratio;
}

static void put_bubble(const struct analysis_scope *scope, struct fact_sheet *out,
		       size_t stage_count, double bubble)
{
	double stages = (double)stage_count, microbatches = scope->options->microbatches;

	tsi_fact_real(out, BUBBLE_RATIO, bubble);
	if (microbatches == 0)
		return;
	double ideal = (stages - 1) / (microbatches + stages - 1);
	tsi_fact_real(out, IDEAL_BUBBLE_RATIO, ideal);
	tsi_fact_real(out, EXCESS_RATIO, bubble > ideal ? bubble - ideal : 0);
}

static enum tscope_status put_stages(const struct analysis_scope *scope,
				     const struct rank_steps *steps, size_t stage_count,
				     struct fact_sheet *out, struct tscope_error *err)
{
	int64_t wall_ns = sum_walls(steps), most_ns = -1, least_ns = INT64_MAX;
	double busy_ratio = 0;

	if (wall_ns == 0)
		return TSCOPE_OK;
	for (size_t stage = 0; stage < stage_count; stage++) {
		int64_t busy_ns = busy_of_stage(steps, stage, steps->rank_count / stage_count);
		double ratio = (double)busy_ns / (double)wall_ns;
		struct tscope_value *cells;
		if (tsi_table_add(out, STAGES, &cells, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		cells[STAGE] = tsi_int((int64_t)stage);
		cells[BUSY_NS] = tsi_int(busy_ns);
		cells[STAGE_BUBBLE_RATIO] = tsi_real(clamp_ratio(1 - ratio));
		busy_ratio += ratio / (double)stage_count;
		if (busy_ns > most_ns) {
			most_ns = busy_ns;
			tsi_fact_int(out, BUSIEST_STAGE, (int64_t)stage);
		}
		if (busy_ns < least_ns) {
			least_ns = busy_ns;
			tsi_fact_int(out, IDLEST_STAGE, (int64_t)stage);
		}
	}
	tsi_fact_int(out, STAGE_COUNT, (int64_t)stage_count);
	tsi_fact_int(out, N_STEPS, (int64_t)steps->step_count);
	tsi_fact_int(out, WALL_NS, wall_ns);
	put_bubble(scope, out, stage_count, clamp_ratio(1 - busy_ratio));
	return TSCOPE_OK;
}

static enum tscope_status run(const struct analysis_scope *scope, struct fact_sheet *out,
			      struct tscope_error *err)
{
	struct rank_steps steps;
	const char *doubt = tsi_ranks_doubt(scope->ranks, scope->rank_count);
	size_t stage_count = count_stages(scope);

	if (stage_count == 0)
		return TSCOPE_OK;
	enum tscope_status status =
		tsi_rank_steps_init(&steps, scope->ranks, scope->rank_count, err);
	if (doubt)
		tsi_fact_unreliable(out, doubt);
	if (status == TSCOPE_OK)
		status = put_stages(scope, &steps, stage_count, out, err);
	tsi_rank_steps_deinit(&steps);
	return status;
}

const struct analyzer tsi_analyzer_pipeline = {
	.def = {
		.id = "pipeline",
		.summary = "how idle the stages of a pipeline are",
		.facts = facts,
		.fact_count = TSI_COUNT_OF(facts),
		.tables = tables,
		.table_count = TSI_COUNT_OF(tables),
		.needs = "--pipeline-stages that divides the ranks, or traces of all ranks with "
			 "sends and receives",
		.total = TSCOPE_TOTAL_TIMED,
	},
	.levels = LEVEL_RUN,
	.run = run,
};
