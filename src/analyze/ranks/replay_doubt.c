/* SPDX-License-Identifier: MIT */
/* When a replay must not be believed. */
#include "analyze/ranks/replay_doubt.h"

#include "analyze/ranks/rank_steps.h"

#include <math.h>

static const double max_error = 0.05, max_end_spread = 0.05;
/* A gain that members' ends move by more of it, and of the step, depends on them. */
static const double max_shift = 0.25, max_step_shift = 0.005;

double tsi_replay_error(const struct replay *unchanged)
{
	return (double)unchanged->step_ns / (double)unchanged->measured_ns - 1;
}

/* Tails of the ops that are ready in a step. */
static double tails_of(const struct replay_graph *graph, size_t rank,
		       const struct replay_step *step)
{
	const struct rank_point *points = graph->world->logs[rank].points;
	const struct replay_link *links = &graph->ops[graph->ranks[rank].first_op];
	double sum_ns = 0;

	for (uint32_t i = step->first_point; i < step->end_point; i++)
		if (points[i].kind == RANK_POINT_READY)
			sum_ns += (double)links[points[i].index].tail_ns;
	return sum_ns;
}

double tsi_replay_end_spread(const struct replay_graph *graph, const struct replay *unchanged)
{
	size_t rank_count = graph->world->rank_count;
	double sum_ns = 0, count = 0;

	for (size_t i = 0; i < graph->step_count * rank_count; i++) {
		if (graph->steps[i].first_point == NO_ROW)
			continue;
		sum_ns += tails_of(graph, i % rank_count, &graph->steps[i]);
		count++;
	}
	return sum_ns / count / (double)unchanged->measured_ns;
}

const char *tsi_replay_error_doubt(const struct replay *unchanged)
{
	if (unchanged->unordered_count > 0)
		return "collectives of some ranks wait for each other in a circle: their matches, "
		       "or "
		       "their order in the traces, must be wrong";
	/* Not finite without any time: no better. */
	if (!(fabs(tsi_replay_error(unchanged)) <= max_error))
		return "the simulation of the unchanged run is off by more than 5 %";
	return NULL;
}

bool tsi_has_end_spread(const struct replay_graph *graph, const struct replay *unchanged)
{
	return !(tsi_replay_end_spread(graph, unchanged) <= max_end_spread);
}

bool tsi_is_gain_of_spread(int64_t gain_ns, int64_t gain_together_ns, int64_t step_ns)
{
	double shift_ns = fabs((double)gain_ns - (double)gain_together_ns);

	return shift_ns > max_shift * (double)gain_ns &&
	       shift_ns > max_step_shift * (double)step_ns;
}

const char *tsi_replay_doubt(const struct replay_graph *graph, const struct replay *unchanged)
{
	const char *doubt = tsi_replay_error_doubt(unchanged);

	if (!doubt && tsi_has_end_spread(graph, unchanged))
		doubt = "members of collectives end far apart, by more than 5 % of the step: what "
			"kept them is simulated as if nothing could change it";
	return doubt;
}

void tsi_put_replay_doubts(const struct analysis_scope *scope, const struct replay *unchanged,
			   struct fact_sheet *out)
{
	const char *graph_doubt = tsi_replay_doubt(scope->replay_graph, unchanged);

	tsi_put_ranks_doubt(scope, out);
	if (graph_doubt)
		tsi_fact_unreliable(out, graph_doubt);
}
