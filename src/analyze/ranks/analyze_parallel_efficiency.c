/* SPDX-License-Identifier: MIT */
/*
 * The loss of the run as a product. Over the steps that count on all ranks let
 *
 *	A  sum of the mean compute of the ranks        A ÷ M  load balance
 *	M  sum of the most compute of any rank         M ÷ I  serialisation
 *	I  sum of the steps, had transfers no time     I ÷ W  transfer
 *	W  sum of the steps, mean of the ranks         A ÷ W  parallel efficiency, their product
 *
 * Compute is the line of the budget. I is W less what the replay wins on an ideal network.
 */
#include "analyze/facts.h"
#include "analyze/ranks/rank_steps.h"
#include "analyze/ranks/replay_doubt.h"
#include "analyze/shared/anchor.h"

#include <math.h>

#include "base/sum.h"
#include "comm/replay.h"

#define FACTS(X)                                                                                   \
	X(PARALLEL_EFFICIENCY_RATIO, "parallel_efficiency_ratio", RATIO,                           \
	  "mean compute of the ranks ÷ wall: the product of the next three")                       \
	X(LOAD_BALANCE_RATIO, "load_balance_ratio", RATIO, "mean ÷ most compute of any rank")      \
	X(SERIALISATION_RATIO, "serialisation_ratio", RATIO,                                       \
	  "most compute ÷ step on an ideal network")                                               \
	X(TRANSFER_RATIO, "transfer_ratio", RATIO, "step on an ideal network ÷ step")              \
	X(COMMUNICATION_EFFICIENCY_RATIO, "communication_efficiency_ratio", RATIO,                 \
	  "most compute ÷ step: serialisation × transfer")                                         \
	X(TOTAL_RATIO, "total_ratio", RATIO,                                                       \
	  "parallel efficiency × MFU within compute, where FLOPs are known")

TSI_FACT_LIST(enum fact, facts, FACTS);

/* All per step. */
struct loss {
	double mean_compute_ns, most_compute_ns, ideal_network_ns, wall_ns;
};

static int64_t compute_of(const struct replay_graph *graph, size_t step, size_t rank)
{
	const struct rank_point *points = graph->world->logs[rank].points;
	const struct replay_step *at = &graph->steps[step * graph->world->rank_count + rank];
	int64_t sum_ns = 0;

	for (uint32_t i = at->first_point + 1; i <= at->end_point; i++)
		tsi_sum(&sum_ns, points[i].line_ns[TSCOPE_BUDGET_COMPUTE]);
	return sum_ns;
}

static void sum_compute(struct loss *loss, const struct replay_graph *graph)
{
	for (size_t step = 0; step < graph->step_count; step++) {
		double sum_ns = 0, most_ns = 0, count = 0;

		for (size_t rank = 0; rank < graph->world->rank_count; rank++) {
			if (graph->steps[step * graph->world->rank_count + rank].first_point ==
			    NO_ROW)
				continue;
			double compute_ns = (double)compute_of(graph, step, rank);

			sum_ns += compute_ns;
			most_ns = fmax(most_ns, compute_ns);
			count++;
		}
		loss->mean_compute_ns += sum_ns / count / (double)graph->step_count;
		loss->most_compute_ns += most_ns / (double)graph->step_count;
	}
}

/* False without memory. */
static bool replay_network(struct loss *loss, const struct replay_graph *graph,
			   struct fact_sheet *out)
{
	const struct replay_change ideal = { .transfer_scale = 0 };
	struct arena *scratch = tsi_sheet_scratch(out);
	struct replay as_it_was, on_ideal;

	tsi_replay(&as_it_was, graph, NULL);
	loss->wall_ns = (double)as_it_was.measured_ns;
	const char *doubt = tsi_replay_doubt(graph, &as_it_was);
	if (doubt)
		tsi_fact_doubt(out, SERIALISATION_RATIO, doubt);
	if (doubt)
		tsi_fact_doubt(out, TRANSFER_RATIO, doubt);
	tsi_latch_deinit(scratch, &as_it_was.arena);
	tsi_replay(&on_ideal, graph, &ideal);
	loss->ideal_network_ns =
		loss->wall_ns - fmax((double)(as_it_was.step_ns - on_ideal.step_ns), 0);
	tsi_latch_deinit(scratch, &on_ideal.arena);
	return !scratch->has_failed;
}

/* ns of the FLOPs per step at the peak, mean of the ranks; NAN where a rank lacks it. */
static double useful_ns(const struct analysis_scope *scope, struct fact_sheet *out)
{
	double sum_ns = 0;

	for (size_t i = 0; i < scope->rank_count; i++) {
		struct flops_anchor anchor = tsi_flops_anchor(&scope->ranks[i], scope->options);

		if (anchor.flops_doubt)
			tsi_fact_doubt(out, TOTAL_RATIO, anchor.flops_doubt);
		if (anchor.peak_doubt)
			tsi_fact_doubt(out, TOTAL_RATIO, anchor.peak_doubt);
		sum_ns += anchor.flops_per_step / anchor.peak_flops * 1e9;
	}
	return sum_ns / (double)scope->rank_count;
}

static void put_facts(const struct loss *loss, const struct analysis_scope *scope,
		      struct fact_sheet *out)
{
	tsi_put_ranks_doubt(scope, out);
	tsi_fact_real(out, PARALLEL_EFFICIENCY_RATIO, loss->mean_compute_ns / loss->wall_ns);
	tsi_fact_real(out, LOAD_BALANCE_RATIO, loss->mean_compute_ns / loss->most_compute_ns);
	tsi_fact_real(out, SERIALISATION_RATIO, loss->most_compute_ns / loss->ideal_network_ns);
	tsi_fact_real(out, TRANSFER_RATIO, loss->ideal_network_ns / loss->wall_ns);
	tsi_fact_real(out, COMMUNICATION_EFFICIENCY_RATIO, loss->most_compute_ns / loss->wall_ns);
	double useful = useful_ns(scope, out);
	if (!isnan(useful)) /* no more can be useful than was computed */
		tsi_fact_real(out, TOTAL_RATIO,
			      fmin(useful, loss->mean_compute_ns) / loss->wall_ns);
}

static void fill_parallel_efficiency(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct replay_graph *graph = scope->replay_graph;
	struct loss loss = { 0 };

	if (!graph || graph->step_count == 0)
		return;
	sum_compute(&loss, graph);
	if (replay_network(&loss, graph, out))
		put_facts(&loss, scope, out);
}

const struct analyzer tsi_analyzer_parallel_efficiency = {
	.def = {
		.id = "parallel_efficiency",
		.summary = "the loss as a product: load balance, serialisation, transfer, MFU",
		TSI_FACTS(facts),
		.needs = "traces of two or more ranks with collectives that match",
	},
	.levels = LEVEL_RUN,
	.fill = fill_parallel_efficiency,
};
