/* SPDX-License-Identifier: MIT */
/*
 * How long steps would be without what slows them: the replay of all ranks with something changed,
 * against the replay of what was. Both come from the same engine, so that what it gets wrong is in
 * both; how much that is, the unchanged replay says beside the measured step. What members of a
 * collective take after its first end is put into both as it was measured: it is said as well.
 */
#include "analyze/facts.h"
#include "analyze/ranks/rank_peers.h"
#include "analyze/ranks/rank_steps.h"
#include "analyze/ranks/replay_doubt.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"

enum fact {
	STEP_NS,
	SIMULATED_STEP_NS,
	SIMULATION_ERROR_RATIO,
	END_SPREAD_RATIO,
	NO_STRAGGLER_STEP_NS,
	NO_STRAGGLER_GAIN_NS,
	STRAGGLER_RANK,
	IDEAL_OVERLAP_STEP_NS,
	IDEAL_OVERLAP_GAIN_NS,
	IDEAL_NETWORK_STEP_NS,
	IDEAL_NETWORK_GAIN_NS,
	BALANCED_STEP_NS,
	BALANCED_GAIN_NS,
	NO_DATA_STALL_STEP_NS,
	NO_DATA_STALL_GAIN_NS,
};

static const struct tscope_fact_def facts[] = {
	[STEP_NS] = { "step_ns", TSCOPE_UNIT_NS, "mean step as it was measured" },
	[SIMULATED_STEP_NS] = { "simulated_step_ns", TSCOPE_UNIT_NS,
				"the same by simulation of the unchanged run" },
	[SIMULATION_ERROR_RATIO] = { "simulation_error_ratio", TSCOPE_UNIT_NUMBER,
				     "simulated by measured - 1" },
	[END_SPREAD_RATIO] = { "end_spread_ratio", TSCOPE_UNIT_RATIO,
			       "time between the first end of a collective and a rank's own, by "
			       "the step: kept in all simulations" },
	[NO_STRAGGLER_STEP_NS] = { "no_straggler_step_ns", TSCOPE_UNIT_NS,
				   "step if the slowest rank were like the median rank" },
	[NO_STRAGGLER_GAIN_NS] = { "no_straggler_gain_ns", TSCOPE_UNIT_NS, "what that wins" },
	[STRAGGLER_RANK] = { "straggler_rank", TSCOPE_UNIT_COUNT, "that rank" },
	[IDEAL_OVERLAP_STEP_NS] = { "ideal_overlap_step_ns", TSCOPE_UNIT_NS,
				    "step if communication were hidden as far as work allows" },
	[IDEAL_OVERLAP_GAIN_NS] = { "ideal_overlap_gain_ns", TSCOPE_UNIT_NS, "what that wins" },
	[IDEAL_NETWORK_STEP_NS] = { "ideal_network_step_ns", TSCOPE_UNIT_NS,
				    "step if transfers took no time" },
	[IDEAL_NETWORK_GAIN_NS] = { "ideal_network_gain_ns", TSCOPE_UNIT_NS, "what that wins" },
	[BALANCED_STEP_NS] = { "balanced_step_ns", TSCOPE_UNIT_NS,
			       "step if all ranks had equal local work: the mean of them" },
	[BALANCED_GAIN_NS] = { "balanced_gain_ns", TSCOPE_UNIT_NS, "what that wins" },
	[NO_DATA_STALL_STEP_NS] = { "no_data_stall_step_ns", TSCOPE_UNIT_NS,
				    "step without data stalls" },
	[NO_DATA_STALL_GAIN_NS] = { "no_data_stall_gain_ns", TSCOPE_UNIT_NS, "what that wins" },
};

enum lines_column {
	LINES_LINE,
	LINES_STEP_NS,
	LINES_GAIN_NS,
};

static const struct tscope_fact_def lines_columns[] = {
	[LINES_LINE] = { "line", TSCOPE_UNIT_TEXT, "line of the budget" },
	[LINES_STEP_NS] = { "step_ns", TSCOPE_UNIT_NS, "step without it" },
	[LINES_GAIN_NS] = { "gain_ns", TSCOPE_UNIT_NS, "what that wins" },
};

enum ranks_column {
	RANKS_RANK,
	RANKS_STEP_NS,
	RANKS_GAIN_NS,
};

static const struct tscope_fact_def ranks_columns[] = {
	[RANKS_RANK] = { "rank", TSCOPE_UNIT_COUNT, "number of the rank" },
	[RANKS_STEP_NS] = { "step_ns", TSCOPE_UNIT_NS, "step then" },
	[RANKS_GAIN_NS] = { "gain_ns", TSCOPE_UNIT_NS, "what that wins" },
};

enum table { TABLE_LINES, TABLE_RANKS };

static const struct tscope_table_def tables[] = {
	[TABLE_LINES] = { "lines", lines_columns, TSI_COUNT_OF(lines_columns),
			  "without one line of the budget on all ranks", TSCOPE_TABLE_ROWS },
	[TABLE_RANKS] = { "ranks", ranks_columns, TSI_COUNT_OF(ranks_columns),
			  "each rank made like the median of its peers: the 32 with most local "
			  "time above it",
			  TSCOPE_TABLE_ROWS },
};

enum {
	MAX_RANK_ROWS = 32,
	/* Points that all replays of single ranks may pass together: seconds. */
	MAX_REPLAYED_POINTS = 16000000,
};

static const double min_gain = 0.005; /* of the step */

struct what_if {
	const struct replay_graph *graph;
	struct rank_peers peers;
	int64_t step_ns; /* of the unchanged replay */
	struct fact_sheet *out;
};

/* ---- single replays ---- */

/* How long the steps are then. */
static enum tscope_status simulate(const struct what_if *what_if,
				   const struct replay_change *change, int64_t *step_ns,
				   struct tscope_error *err)
{
	struct replay replay;

	if (tsi_replay(&replay, what_if->graph, change, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	*step_ns = replay.step_ns;
	tsi_replay_deinit(&replay);
	return TSCOPE_OK;
}

static int64_t gain_of(const struct what_if *what_if, int64_t step_ns)
{
	return step_ns < what_if->step_ns ? what_if->step_ns - step_ns : 0;
}

static enum tscope_status put_change(const struct what_if *what_if,
				     const struct replay_change *change, enum fact step,
				     enum fact gain, struct tscope_error *err)
{
	int64_t step_ns;

	if (simulate(what_if, change, &step_ns, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	tsi_fact_int(what_if->out, step, step_ns);
	tsi_fact_int(what_if->out, gain, gain_of(what_if, step_ns));
	return TSCOPE_OK;
}

/* ---- without a line ---- */

static bool has_line(const struct what_if *what_if, size_t line)
{
	const struct world *world = what_if->graph->world;

	for (size_t rank = 0; rank < world->rank_count; rank++)
		for (size_t i = what_if->graph->ranks[rank].begin_point + 1;
		     i < what_if->graph->ranks[rank].end_point; i++)
			if (world->logs[rank].points[i].line_ns[line] > 0)
				return true;
	return false;
}

/* scales is room for a factor of each line of each rank. */
static enum tscope_status without_line(const struct what_if *what_if, double *scales, size_t line,
				       int64_t *step_ns, struct tscope_error *err)
{
	size_t rank_count = what_if->graph->world->rank_count;
	const struct replay_change change = { .line_scale = scales, .transfer_scale = 1 };

	for (size_t i = 0; i < rank_count * TSCOPE_BUDGET_LINE_COUNT; i++)
		scales[i] = i % TSCOPE_BUDGET_LINE_COUNT == line ? 0 : 1;
	return simulate(what_if, &change, step_ns, err);
}

static enum tscope_status list_line(const struct what_if *what_if, double *scales, size_t line,
				    struct tscope_error *err)
{
	struct tscope_value *cells;
	int64_t step_ns = what_if->step_ns;

	if (has_line(what_if, line) &&
	    without_line(what_if, scales, line, &step_ns, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (line == TSCOPE_BUDGET_DATA_STALL) {
		tsi_fact_int(what_if->out, NO_DATA_STALL_STEP_NS, step_ns);
		tsi_fact_int(what_if->out, NO_DATA_STALL_GAIN_NS, gain_of(what_if, step_ns));
	}
	if (!has_line(what_if, line))
		return TSCOPE_OK;
	if (tsi_table_add(what_if->out, TABLE_LINES, &cells, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	cells[LINES_LINE] = tsi_text(tscope_budget_line_name((enum tscope_budget_line)line));
	cells[LINES_STEP_NS] = tsi_int(step_ns);
	cells[LINES_GAIN_NS] = tsi_int(gain_of(what_if, step_ns));
	return TSCOPE_OK;
}

static enum tscope_status list_lines(const struct what_if *what_if, struct tscope_error *err)
{
	size_t rank_count = what_if->graph->world->rank_count;
	enum tscope_status status;
	double *scales = NULL;

	status =
		tsi_array_new(&scales, rank_count * TSCOPE_BUDGET_LINE_COUNT, sizeof(*scales), err);
	for (size_t line = 0; status == TSCOPE_OK && line < TSCOPE_BUDGET_LINE_COUNT; line++)
		status = list_line(what_if, scales, line, err);
	free(scales);
	return status;
}

/* ---- ranks like their peers ---- */

/* Those with most local time above their peers, first; at most as many as may be replayed. */
static size_t choose_ranks(const struct what_if *what_if, struct sort_pair *ranks,
			   struct sort_pair *scratch)
{
	const struct replay_graph *graph = what_if->graph;
	size_t count = 0, most, point_count = 1;

	for (uint32_t rank = 0; rank < graph->world->rank_count; rank++) {
		point_count += graph->ranks[rank].end_point - graph->ranks[rank].begin_point;
		if (!tsi_has_peers(&what_if->peers, rank))
			continue;
		int64_t excess_ns = tsi_rank_excess_ns(&what_if->peers, rank);

		ranks[count++] = (struct sort_pair){ ~tsi_sort_key_of_int64(excess_ns), rank };
	}
	tsi_sort_pairs(ranks, scratch, count);
	most = MAX_REPLAYED_POINTS / point_count;
	most = most < 1 ? 1 : most > MAX_RANK_ROWS ? MAX_RANK_ROWS : most;
	return count < most ? count : most;
}

static enum tscope_status like_peers(const struct what_if *what_if, uint32_t rank,
				     const int64_t **local_ns, int64_t *step_ns,
				     struct tscope_error *err)
{
	const struct replay_change change = { .local_ns = local_ns, .transfer_scale = 1 };
	int64_t *own_ns;

	if (tsi_like_peers(&own_ns, &what_if->peers, rank, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	local_ns[rank] = own_ns;
	enum tscope_status status = simulate(what_if, &change, step_ns, err);
	local_ns[rank] = NULL;
	free(own_ns);
	return status;
}

static enum tscope_status add_rank(const struct what_if *what_if, uint32_t rank, int64_t step_ns,
				   struct tscope_error *err)
{
	struct tscope_value *cells;
	int64_t number = what_if->graph->world->logs[rank].rank;

	if (tsi_table_add(what_if->out, TABLE_RANKS, &cells, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (number >= 0)
		cells[RANKS_RANK] = tsi_int(number);
	cells[RANKS_STEP_NS] = tsi_int(step_ns);
	cells[RANKS_GAIN_NS] = tsi_int(gain_of(what_if, step_ns));
	return TSCOPE_OK;
}

static void put_straggler(const struct what_if *what_if, uint32_t rank, int64_t step_ns)
{
	int64_t gain_ns = gain_of(what_if, step_ns);
	int64_t number = what_if->graph->world->logs[rank].rank;

	tsi_fact_int(what_if->out, NO_STRAGGLER_STEP_NS, step_ns);
	tsi_fact_int(what_if->out, NO_STRAGGLER_GAIN_NS, gain_ns);
	if (number >= 0 && (double)gain_ns >= min_gain * (double)what_if->step_ns && gain_ns > 0)
		tsi_fact_int(what_if->out, STRAGGLER_RANK, number);
}

/* local_ns is room for a pointer of each rank, all NULL. */
static enum tscope_status list_chosen(const struct what_if *what_if, const struct sort_pair *ranks,
				      size_t count, const int64_t **local_ns,
				      struct tscope_error *err)
{
	int64_t best_ns = INT64_MAX;
	uint32_t best = NO_ROW;

	for (size_t i = 0; i < count; i++) {
		uint32_t rank = (uint32_t)ranks[i].value;
		int64_t step_ns;

		if (like_peers(what_if, rank, local_ns, &step_ns, err) != TSCOPE_OK ||
		    add_rank(what_if, rank, step_ns, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		if (step_ns < best_ns || (step_ns == best_ns && rank < best)) {
			best_ns = step_ns;
			best = rank;
		}
	}
	if (best != NO_ROW)
		put_straggler(what_if, best, best_ns);
	return TSCOPE_OK;
}

static enum tscope_status list_ranks(const struct what_if *what_if, struct tscope_error *err)
{
	size_t rank_count = what_if->graph->world->rank_count;
	struct sort_pair *ranks = NULL, *scratch = NULL;
	const int64_t **local_ns = NULL;
	enum tscope_status status = tsi_array_new(&ranks, rank_count, sizeof(*ranks), err);

	if (status == TSCOPE_OK)
		status = tsi_array_new(&scratch, rank_count, sizeof(*scratch), err);
	if (status == TSCOPE_OK)
		status = tsi_array_new(&local_ns, rank_count, sizeof(*local_ns), err);
	if (status == TSCOPE_OK) {
		size_t count = choose_ranks(what_if, ranks, scratch);

		status = list_chosen(what_if, ranks, count, local_ns, err);
	}
	free(ranks);
	free(scratch);
	free(local_ns);
	return status;
}

/* ---- all ranks with the mean of their work ---- */

static enum tscope_status put_balanced(const struct what_if *what_if, struct tscope_error *err)
{
	size_t rank_count = what_if->graph->world->rank_count;
	int64_t **local_ns = NULL;
	enum tscope_status status = tsi_array_new(&local_ns, rank_count, sizeof(*local_ns), err);

	for (uint32_t rank = 0; status == TSCOPE_OK && rank < rank_count; rank++)
		if (what_if->peers.first_of[rank] != NO_ROW)
			status = tsi_balanced(&local_ns[rank], &what_if->peers, rank, err);
	if (status == TSCOPE_OK) {
		const struct replay_change change = {
			.local_ns = (const int64_t *const *)local_ns,
			.transfer_scale = 1,
		};

		status = put_change(what_if, &change, BALANCED_STEP_NS, BALANCED_GAIN_NS, err);
	}
	for (size_t rank = 0; local_ns && rank < rank_count; rank++)
		free(local_ns[rank]);
	free(local_ns);
	return status;
}

/* ---- all ---- */

static void put_doubts(const struct what_if *what_if, const struct analysis_scope *scope,
		       const struct replay *unchanged)
{
	static const enum fact gains[] = { NO_STRAGGLER_GAIN_NS, IDEAL_OVERLAP_GAIN_NS,
					   IDEAL_NETWORK_GAIN_NS, BALANCED_GAIN_NS,
					   NO_DATA_STALL_GAIN_NS };
	const char *of_times = tsi_ranks_doubt(scope->ranks, scope->rank_count);
	const char *of_replay = tsi_replay_doubt(what_if->graph, unchanged);

	if (of_times)
		tsi_fact_unreliable(what_if->out, of_times);
	if (of_replay)
		tsi_fact_unreliable(what_if->out, of_replay);
	for (size_t i = 0; what_if->graph->has_unread_members && i < TSI_COUNT_OF(gains); i++)
		tsi_fact_doubt(what_if->out, gains[i],
			       "members of process groups were not read, and may have kept the "
			       "others waiting: this is an upper bound");
}

/* The unchanged replay. */
static enum tscope_status put_basis(struct what_if *what_if, const struct analysis_scope *scope,
				    struct tscope_error *err)
{
	struct replay unchanged;

	if (tsi_replay(&unchanged, what_if->graph, NULL, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	what_if->step_ns = unchanged.step_ns;
	tsi_fact_int(what_if->out, STEP_NS, unchanged.measured_ns);
	tsi_fact_int(what_if->out, SIMULATED_STEP_NS, unchanged.step_ns);
	tsi_fact_real(what_if->out, SIMULATION_ERROR_RATIO, tsi_replay_error(&unchanged));
	tsi_fact_real(what_if->out, END_SPREAD_RATIO,
		      tsi_replay_end_spread(what_if->graph, &unchanged));
	put_doubts(what_if, scope, &unchanged);
	tsi_replay_deinit(&unchanged);
	return TSCOPE_OK;
}

static enum tscope_status find_peers(struct what_if *what_if, const struct analysis_scope *scope,
				     struct tscope_error *err)
{
	struct rank_roles roles;
	enum tscope_status status = tsi_rank_roles_init(&roles, scope, err);

	if (status == TSCOPE_OK)
		status = tsi_rank_peers_init(&what_if->peers, what_if->graph, &roles, err);
	tsi_rank_roles_deinit(&roles);
	return status;
}

static enum tscope_status put_all(struct what_if *what_if, const struct analysis_scope *scope,
				  struct tscope_error *err)
{
	const struct replay_change overlap = { .transfer_scale = 1, .is_overlap_ideal = true };
	const struct replay_change network = { .transfer_scale = 0 };
	enum tscope_status status = put_basis(what_if, scope, err);

	if (status == TSCOPE_OK)
		status = put_change(what_if, &overlap, IDEAL_OVERLAP_STEP_NS, IDEAL_OVERLAP_GAIN_NS,
				    err);
	if (status == TSCOPE_OK)
		status = put_change(what_if, &network, IDEAL_NETWORK_STEP_NS, IDEAL_NETWORK_GAIN_NS,
				    err);
	if (status == TSCOPE_OK)
		status = list_lines(what_if, err);
	if (status == TSCOPE_OK)
		status = find_peers(what_if, scope, err);
	if (status == TSCOPE_OK)
		status = put_balanced(what_if, err);
	return status == TSCOPE_OK ? list_ranks(what_if, err) : status;
}

static enum tscope_status analyze_what_if(const struct analysis_scope *scope,
					  struct fact_sheet *out, struct tscope_error *err)
{
	struct what_if what_if = { .graph = scope->replay_graph, .out = out };

	if (!what_if.graph || what_if.graph->step_count == 0)
		return TSCOPE_OK;
	enum tscope_status status = put_all(&what_if, scope, err);
	tsi_rank_peers_deinit(&what_if.peers);
	return status;
}

const struct analyzer tsi_analyzer_what_if = {
	.def = {
		.id = "what_if",
		.summary = "how long steps would be without what slows them, by simulation",
		.facts = facts,
		.fact_count = TSI_COUNT_OF(facts),
		.tables = tables,
		.table_count = TSI_COUNT_OF(tables),
		.needs = "traces of two or more ranks with collectives that match",
	},
	.levels = LEVEL_RUN,
	.run = analyze_what_if,
};
