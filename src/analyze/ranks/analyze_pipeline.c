/* SPDX-License-Identifier: MIT */
/*
 * How idle the stages of a pipeline are. Ranks are stages: as many blocks of consecutive ranks as
 * the user says; else as sends and receives that match show (pipeline_chains.h), with the
 * schedule; or, where the traces of all ranks hold some that nobody can match, each rank one. A
 * step lasts as long as it does on its slowest rank; a stage is busy as long as its ranks
 * compute, on average.
 *
 * Not all of the rest is the pipeline's: gradients are reduced, data is loaded. Where collectives
 * match across ranks, what is waiting for other ranks is known, and only that is held against
 * what the schedule costs in any case.
 */
#include "analyze/facts.h"
#include "analyze/ranks/group_words.h"
#include "analyze/ranks/pipeline_chains.h"
#include "analyze/ranks/rank_steps.h"

#include <math.h>

#include "base/sum.h"

#define FACTS(X)                                                                                   \
	X(STAGE_COUNT, "stage_count", COUNT, "stages of the pipeline")                             \
	X(N_STEPS, "n_steps", COUNT, "steps that all ranks have")                                  \
	X(WALL_NS, "wall_ns", NS, "their time on the slowest rank, sum")                           \
	X(BUBBLE_RATIO, "bubble_ratio", RATIO, "share of that in which a stage does not compute")  \
	X(IDEAL_BUBBLE_RATIO, "ideal_bubble_ratio", RATIO,                                         \
	  "what filling and draining cost: (stages - 1) ÷ (microbatches × virtual stages + "     \
	  "stages - 1)")                                                                           \
	X(EXCESS_RATIO, "excess_ratio", RATIO,                                                     \
	  "stall_ratio where it is known, else bubble_ratio, beyond the ideal bubble")             \
	X(STALL_RATIO, "stall_ratio", RATIO,                                                       \
	  "of compute and exposed waiting for other ranks, sends and receives included, the "      \
	  "share of the latter")                                                                   \
	X(EXCESS_NS_PER_STEP, "excess_ns_per_step", NS,                                            \
	  "such waiting beyond the ideal bubble, mean of the ranks")                               \
	X(BUSIEST_STAGE, "busiest_stage", COUNT, "stage that computes most, from 0")               \
	X(IDLEST_STAGE, "idlest_stage", COUNT, "stage that computes least")                        \
	X(STAGE_IMBALANCE_RATIO, "stage_imbalance_ratio", NUMBER,                                  \
	  "compute of the busiest stage by that of the mean one - 1")                              \
	X(MICROBATCH_COUNT, "microbatch_count", COUNT,                                             \
	  "microbatches of a step, as said, else as its sends show")                               \
	X(VIRTUAL_STAGE_COUNT, "virtual_stage_count", COUNT,                                       \
	  "how often a microbatch goes through all ranks, by the sends")                           \
	X(IS_INFERRED, "is_inferred", FLAG, "stages are inferred from sends and receives")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define STAGE_COLUMNS(X)                                                                           \
	X(STAGE, "stage", COUNT, "number of the stage, from 0")                                    \
	X(STAGE_RANKS, "ranks", TEXT, "its ranks, as \"0-3, 8\" or \"2, 6, ..., 254\"")            \
	X(BUSY_NS, "busy_ns", NS, "compute in all steps, mean of its ranks")                       \
	X(STAGE_BUBBLE_RATIO, "bubble_ratio", RATIO, "share of wall_ns beside that")

TSI_FACT_LIST(enum column, stage_columns, STAGE_COLUMNS);

#define TABLES(X) X(STAGES, "stages", stage_columns, "each stage")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* A pipeline, with what is known of its schedule. */
struct pipeline {
	size_t stage_count; /* 0: there is none */
	uint32_t *stages;   /* by rank, or NO_ROW */
	bool is_inferred;
	int64_t microbatch_count, virtual_stage_count; /* 0: not known */
};

/* ---- which rank is which stage ---- */

/* Blocks of consecutive ranks, if these divide into them. */
static void put_blocks(struct pipeline *pipeline, size_t rank_count, size_t stage_count)
{
	if (rank_count % stage_count != 0)
		return;
	pipeline->stage_count = stage_count;
	for (size_t i = 0; i < rank_count; i++)
		pipeline->stages[i] = (uint32_t)(i / (rank_count / stage_count));
}

static bool all_send(const struct analysis_scope *scope)
{
	for (size_t i = 0; i < scope->rank_count; i++)
		if (!scope->ranks[i].has_point_to_point ||
		    scope->ranks[i].world_size != (int64_t)scope->rank_count)
			return false;
	return true;
}

static void put_schedule(struct pipeline *pipeline, const struct pipeline_chains *chains)
{
	pipeline->microbatch_count = chains->microbatch_count;
	pipeline->virtual_stage_count = chains->virtual_stage_count;
}

/* User settings override what the traces show. */
static void choose_stages(struct pipeline *pipeline, const struct analysis_scope *scope,
			  const struct pipeline_chains *chains)
{
	size_t said = scope->options->pipeline_stages;

	if (said > 1) {
		put_blocks(pipeline, scope->rank_count, said);
		if (chains->stage_count == said)
			put_schedule(pipeline, chains);
		return;
	}
	if (!chains->has_messages && all_send(scope))
		put_blocks(pipeline, scope->rank_count, scope->rank_count);
	for (size_t i = 0; i < chains->rank_count; i++)
		pipeline->stages[i] = chains->stages[i];
	if (chains->stage_count == 0)
		return;
	pipeline->stage_count = chains->stage_count;
	pipeline->is_inferred = true;
	put_schedule(pipeline, chains);
}

/* False without one, or without memory. */
static bool find_pipeline(struct pipeline *pipeline, const struct analysis_scope *scope,
			  struct arena *scratch)
{
	struct pipeline_chains chains = { 0 };

	pipeline->stages = tsi_arena_new(scratch, scope->rank_count, sizeof(*pipeline->stages));
	if (scope->world)
		tsi_pipeline_chains_find(&chains, scope->world, scratch);
	if (scratch->has_failed)
		return false;
	choose_stages(pipeline, scope, &chains);
	return pipeline->stage_count > 0;
}

/* ---- how busy they are ---- */

static bool has_stage(const struct pipeline *pipeline, size_t rank)
{
	return pipeline->stages[rank] < pipeline->stage_count;
}

static int64_t sum_walls(const struct pipeline *pipeline, const struct rank_steps *steps)
{
	int64_t sum_ns = 0;

	for (size_t step = 0; step < steps->step_count; step++) {
		int64_t most_ns = 0;
		for (size_t rank = 0; rank < steps->rank_count; rank++) {
			int64_t time_ns = steps->time_ns[step * steps->rank_count + rank];
			if (has_stage(pipeline, rank) && time_ns > most_ns)
				most_ns = time_ns;
		}
		tsi_sum(&sum_ns, most_ns);
	}
	return sum_ns;
}

/* Compute of a stage: its ranks' mean over all steps. */
static int64_t busy_of_stage(const struct pipeline *pipeline, const struct rank_steps *steps,
			     size_t stage)
{
	int64_t sum_ns = 0, count = 0;

	for (size_t rank = 0; rank < steps->rank_count; rank++) {
		if (pipeline->stages[rank] != stage)
			continue;
		count++;
		for (size_t step = 0; step < steps->step_count; step++)
			tsi_sum(&sum_ns, steps->compute_ns[step * steps->rank_count + rank]);
	}
	return tsi_mean(sum_ns, count).integer;
}

static double clamp_ratio(double ratio)
{
	return ratio < 0 ? 0 : ratio > 1 ? 1 : ratio;
}

/* ---- what they wait for one another ---- */

struct stalls {
	int64_t compute_ns, stall_ns, step_count; /* sums over ranks */
};

/* Stalls in the steps whose waiting is known. */
static struct stalls find_stalls(const struct analysis_scope *scope,
				 const struct pipeline *pipeline)
{
	struct stalls stalls = { 0 };

	for (size_t rank = 0; rank < scope->rank_count; rank++) {
		const struct step_series *steps = &scope->ranks[rank];

		for (size_t i = 0; has_stage(pipeline, rank) && i < steps->count; i++) {
			const struct step_record *record = &steps->records[i];
			const struct step_budget *budget =
				record->budget != NO_ROW ? &steps->budgets[record->budget] : NULL;

			if (!tsi_step_is_timed(record) || !budget || !budget->has_split)
				continue;
			tsi_sum(&stalls.compute_ns, tsi_step_compute_ns(record));
			tsi_sum(&stalls.stall_ns, budget->exposed_ns[EXPOSED_WAIT]);
			tsi_sum(&stalls.stall_ns, budget->exposed_ns[EXPOSED_UNSPLIT]);
			stalls.step_count++;
		}
	}
	return stalls;
}

/* ---- facts ---- */

/* The bubble that the schedule is held against; ideal: 0 where it is not known. */
static double put_stalls(const struct stalls *stalls, struct fact_sheet *out, double bubble,
			 double ideal)
{
	double compute_ns = (double)stalls->compute_ns, stall_ns = (double)stalls->stall_ns;

	if (stalls->step_count == 0 || compute_ns + stall_ns <= 0)
		return bubble;
	tsi_fact_real(out, STALL_RATIO, stall_ns / (compute_ns + stall_ns));
	double excess_ns = stall_ns - compute_ns * ideal / (1 - ideal);
	double per_step_ns = fmax(excess_ns, 0) / (double)stalls->step_count;
	if (ideal > 0)
		tsi_fact_int(out, EXCESS_NS_PER_STEP,
			     per_step_ns < 0x1p63 ? (int64_t)round(per_step_ns) : INT64_MAX);
	return stall_ns / (compute_ns + stall_ns);
}

static void put_bubble(const struct analysis_scope *scope, struct fact_sheet *out,
		       const struct pipeline *pipeline, double bubble)
{
	int64_t said = scope->options->microbatches;
	int64_t microbatches = said > 0 ? said : pipeline->microbatch_count;
	double stages = (double)pipeline->stage_count;
	double rounds = (double)microbatches;

	tsi_fact_real(out, BUBBLE_RATIO, bubble);
	tsi_fact_flag(out, IS_INFERRED, pipeline->is_inferred);
	if (pipeline->virtual_stage_count > 0) {
		tsi_fact_int(out, VIRTUAL_STAGE_COUNT, pipeline->virtual_stage_count);
		rounds *= (double)pipeline->virtual_stage_count;
	}
	double ideal = microbatches > 0 ? (stages - 1) / (rounds + stages - 1) : 0;
	struct stalls stalls = find_stalls(scope, pipeline);
	double own = put_stalls(&stalls, out, bubble, ideal);
	if (microbatches == 0)
		return;
	tsi_fact_int(out, MICROBATCH_COUNT, microbatches);
	tsi_fact_real(out, IDEAL_BUBBLE_RATIO, ideal);
	tsi_fact_real(out, EXCESS_RATIO, own > ideal ? own - ideal : 0);
}

static void put_stage(const struct analysis_scope *scope, const struct pipeline *pipeline,
		      size_t stage, struct tscope_value *cells, struct fact_sheet *out)
{
	struct rank_text ranks = { .text = "" };

	for (size_t rank = 0; rank < scope->rank_count; rank++)
		if (pipeline->stages[rank] == stage)
			tsi_rank_text_add(&ranks, scope->ranks[rank].rank);
	cells[STAGE] = tsi_int((int64_t)stage);
	cells[STAGE_RANKS] = tsi_text(tsi_make_rank_text(out, &ranks));
}

static void put_stages(const struct analysis_scope *scope, const struct rank_steps *steps,
		       const struct pipeline *pipeline, struct fact_sheet *out)
{
	size_t stage_count = pipeline->stage_count;
	int64_t wall_ns = sum_walls(pipeline, steps), most_ns = -1, least_ns = INT64_MAX;
	double busy_ratio = 0;

	if (wall_ns == 0)
		return;
	for (size_t stage = 0; stage < stage_count; stage++) {
		int64_t busy_ns = busy_of_stage(pipeline, steps, stage);
		double ratio = (double)busy_ns / (double)wall_ns;
		struct tscope_value *cells = tsi_table_row(out, STAGES);

		put_stage(scope, pipeline, stage, cells, out);
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
	tsi_fact_real(out, STAGE_IMBALANCE_RATIO,
		      (double)most_ns / (double)wall_ns / busy_ratio - 1);
	put_bubble(scope, out, pipeline, clamp_ratio(1 - busy_ratio));
}

static void fill_pipeline(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct arena *scratch = tsi_sheet_scratch(out);
	struct pipeline pipeline = { 0 };
	struct rank_steps steps;

	if (scope->rank_count < 2 || !find_pipeline(&pipeline, scope, scratch))
		return;
	tsi_put_ranks_doubt(scope, out);
	tsi_rank_steps_fill(&steps, scope->ranks, scope->rank_count, scope->options->quorum_percent,
			    scratch);
	put_stages(scope, &steps, &pipeline, out);
}

const struct analyzer tsi_analyzer_pipeline = {
	.def = {
		.id = "pipeline",
		.summary = "how idle the stages of a pipeline are",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "--pipeline-stages that divides the ranks, or traces of all ranks with "
			 "sends and receives",
		.total = TSCOPE_TOTAL_TIMED,
	},
	.levels = LEVEL_RUN,
	.fill = fill_pipeline,
};
