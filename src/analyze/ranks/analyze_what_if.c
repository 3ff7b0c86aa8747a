/* SPDX-License-Identifier: MIT */
/*
 * How long steps would be without what slows them: the replay of all ranks with something changed,
 * against the replay of what was. Both come from the same engine, so that what it gets wrong is in
 * both; how much that is, the unchanged replay says beside the measured step. Time of members of a
 * collective after its first end is put into both as it was measured: it is said as well.
 */
#include "analyze/facts.h"
#include "analyze/ranks/rank_peers.h"
#include "analyze/ranks/rank_steps.h"
#include "analyze/ranks/replay_doubt.h"

#include "comm/latch.h"

#define FACTS(X)                                                                                   \
	X(STEP_NS, "step_ns", NS, "mean step as it was measured")                                  \
	X(SIMULATED_STEP_NS, "simulated_step_ns", NS,                                              \
	  "the same by simulation of the unchanged run")                                           \
	X(SIMULATION_ERROR_RATIO, "simulation_error_ratio", NUMBER, "simulated by measured - 1")   \
	X(END_SPREAD_RATIO, "end_spread_ratio", RATIO,                                             \
	  "time between the first end of a collective and a rank's own, by the step: kept in all " \
	  "simulations")                                                                           \
	X(PLAYED_STEP_COUNT, "played_step_count", COUNT,                                           \
	  "of a very large run: steps that are simulated, chosen evenly")                          \
	X(PLAYED_OF_STEP_COUNT, "played_of_step_count", COUNT, "of so many")                       \
	X(NO_STRAGGLER_STEP_NS, "no_straggler_step_ns", NS,                                        \
	  "step if the slowest rank were like the median rank")                                    \
	X(NO_STRAGGLER_GAIN_NS, "no_straggler_gain_ns", NS, "what that wins")                      \
	X(STRAGGLER_RANK, "straggler_rank", COUNT, "that rank")                                    \
	X(IDEAL_OVERLAP_STEP_NS, "ideal_overlap_step_ns", NS,                                      \
	  "step if communication were hidden as far as work allows")                               \
	X(IDEAL_OVERLAP_GAIN_NS, "ideal_overlap_gain_ns", NS, "what that wins")                    \
	X(IDEAL_OVERLAP_LEAST_NS, "ideal_overlap_least_ns", NS,                                    \
	  "that or, if less, what it would win if members of collectives ended together")          \
	X(IDEAL_NETWORK_STEP_NS, "ideal_network_step_ns", NS, "step if transfers took no time")    \
	X(IDEAL_NETWORK_GAIN_NS, "ideal_network_gain_ns", NS, "what that wins")                    \
	X(BALANCED_STEP_NS, "balanced_step_ns", NS,                                                \
	  "step if all ranks had equal local work: the mean of them; absent where that is longer") \
	X(BALANCED_GAIN_NS, "balanced_gain_ns", NS, "what that wins")                              \
	X(NO_DATA_STALL_STEP_NS, "no_data_stall_step_ns", NS, "step without data stalls")          \
	X(NO_DATA_STALL_GAIN_NS, "no_data_stall_gain_ns", NS, "what that wins")

TSI_FACT_LIST(enum fact, facts, FACTS);

/* The change, and its effect. */
#define LINES_COLUMNS(X)                                                                           \
	X(CHANGES_WHAT, "line", TEXT, "line of the budget")                                        \
	X(CHANGES_STEP_NS, "step_ns", NS, "step without it")                                       \
	X(CHANGES_GAIN_NS, "gain_ns", NS, "what that wins")

TSI_FACT_LIST(enum changes_column, lines_columns, LINES_COLUMNS);

static const struct tscope_fact_def ranks_columns[] = {
	[CHANGES_WHAT] = { "rank", TSCOPE_UNIT_COUNT, "number of the rank" },
	[CHANGES_STEP_NS] = { "step_ns", TSCOPE_UNIT_NS, "step then" },
	[CHANGES_GAIN_NS] = { "gain_ns", TSCOPE_UNIT_NS, "what that wins" },
};

#define TABLES(X)                                                                                  \
	X(TABLE_LINES, "lines", lines_columns, "without one line of the budget on all ranks")      \
	X(TABLE_RANKS, "ranks", ranks_columns,                                                     \
	  "each rank made like the median of its peers: the 32 with most local time above it")

TSI_TABLE_LIST(enum table, tables, TABLES);

enum {
	MAX_RANK_ROWS = 32,
	/* Points that all replays of single ranks may pass together: seconds. */
	MAX_REPLAYED_POINTS = 16000000,
};

static const double min_gain = 0.005;     /* of the step */
static const double max_rounding = 0.001; /* likewise */

static const char spread_doubt[] = "members of collectives end far apart, and the gain would be "
				   "another by a quarter or more if "
				   "they did not";

struct what_if {
	const struct analysis_scope *scope;
	const struct replay_graph *graph;
	struct rank_peers peers;
	int64_t step_ns;     /* of the unchanged replay */
	int64_t together_ns; /* likewise, where members end together; 0: they do, nearly */
	int64_t measured_ns;
	struct fact_sheet *out;
	struct arena *arena;
};

/* ---- single replays ---- */

/* How long the steps are then. */
static int64_t simulate(const struct what_if *what_if, const struct replay_change *change)
{
	struct replay replay;

	tsi_replay(&replay, what_if->graph, change);
	tsi_latch_deinit(what_if->arena, &replay.arena);
	return replay.step_ns;
}

static int64_t gain_of(const struct what_if *what_if, int64_t step_ns)
{
	return step_ns < what_if->step_ns ? what_if->step_ns - step_ns : 0;
}

/*
 * Says of a gain that it depends on what made members of collectives end apart. Returns the gain if
 * they did not, where they do.
 */
static int64_t doubt_spread(const struct what_if *what_if, enum fact step,
			    const struct replay_change *change, int64_t step_ns)
{
	struct replay_change together = *change;
	int64_t gain_ns = gain_of(what_if, step_ns);

	together.has_no_tails = true;
	if (what_if->together_ns == 0)
		return gain_ns;
	int64_t together_ns = what_if->together_ns - simulate(what_if, &together);
	if (!tsi_is_gain_of_spread(gain_ns, together_ns, what_if->step_ns))
		return gain_ns;
	tsi_fact_doubt(what_if->out, step, spread_doubt);
	tsi_fact_doubt(what_if->out, step + 1, spread_doubt);
	return together_ns;
}

/* The fact of the gain follows that of the step. */
static void put_step(const struct what_if *what_if, enum fact step, int64_t step_ns)
{
	tsi_fact_int(what_if->out, step, step_ns);
	tsi_fact_int(what_if->out, step + 1, gain_of(what_if, step_ns));
}

static void put_network(const struct what_if *what_if)
{
	const struct replay_change change = { .transfer_scale = 0 };
	int64_t step_ns = simulate(what_if, &change);

	put_step(what_if, IDEAL_NETWORK_STEP_NS, step_ns);
	(void)doubt_spread(what_if, IDEAL_NETWORK_STEP_NS, &change, step_ns);
}

static void put_overlap(const struct what_if *what_if)
{
	const struct replay_change change = { .transfer_scale = 1, .is_overlap_ideal = true };
	int64_t step_ns = simulate(what_if, &change), gain_ns = gain_of(what_if, step_ns);

	put_step(what_if, IDEAL_OVERLAP_STEP_NS, step_ns);
	int64_t together_ns = doubt_spread(what_if, IDEAL_OVERLAP_STEP_NS, &change, step_ns);
	int64_t least_ns = together_ns < gain_ns ? together_ns : gain_ns;
	tsi_fact_int(what_if->out, IDEAL_OVERLAP_LEAST_NS, least_ns > 0 ? least_ns : 0);
}

/* A row of TABLE_LINES or TABLE_RANKS: what is changed, the step, the gain. */
static void put_row(const struct what_if *what_if, enum table table, struct tscope_value what,
		    int64_t step_ns)
{
	struct tscope_value *cells = tsi_table_row(what_if->out, table);

	cells[CHANGES_WHAT] = what;
	cells[CHANGES_STEP_NS] = tsi_int(step_ns);
	cells[CHANGES_GAIN_NS] = tsi_int(gain_of(what_if, step_ns));
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
static void list_line(const struct what_if *what_if, double *scales, size_t line)
{
	size_t count = what_if->graph->world->rank_count * TSCOPE_BUDGET_LINE_COUNT;
	const struct replay_change change = { .line_scale = scales, .transfer_scale = 1 };
	bool is_there = has_line(what_if, line);
	int64_t step_ns = what_if->step_ns;

	for (size_t i = 0; i < count; i++)
		scales[i] = i % TSCOPE_BUDGET_LINE_COUNT == line ? 0 : 1;
	if (is_there)
		step_ns = simulate(what_if, &change);
	if (line == TSCOPE_BUDGET_DATA_STALL) {
		put_step(what_if, NO_DATA_STALL_STEP_NS, step_ns);
		(void)doubt_spread(what_if, NO_DATA_STALL_STEP_NS, &change, step_ns);
	}
	if (is_there)
		put_row(what_if, TABLE_LINES,
			tsi_text(tscope_budget_line_name((enum tscope_budget_line)line)), step_ns);
}

static void list_lines(const struct what_if *what_if)
{
	size_t count = what_if->graph->world->rank_count * TSCOPE_BUDGET_LINE_COUNT;
	double *scales = tsi_arena_new(what_if->arena, count, sizeof(*scales));

	for (size_t line = 0; scales && line < TSCOPE_BUDGET_LINE_COUNT; line++)
		list_line(what_if, scales, line);
}

/* ---- ranks like their peers ---- */

/* Those with most local time above their peers, first; at most as many as may be replayed. */
static size_t choose_ranks(const struct what_if *what_if, struct sort_pair *ranks)
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
	tsi_latch_sort(what_if->arena, ranks, count);
	most = MAX_REPLAYED_POINTS / point_count;
	most = most < 1 ? 1 : most > MAX_RANK_ROWS ? MAX_RANK_ROWS : most;
	return count < most ? count : most;
}

/* local_ns is room for a pointer of each rank, all NULL. is_best: of all the one that counts. */
static int64_t like_peers(const struct what_if *what_if, uint32_t rank, const int64_t **local_ns,
			  bool is_best)
{
	const struct replay_change change = { .local_ns = local_ns, .transfer_scale = 1 };
	struct arena scratch = { 0 };

	local_ns[rank] = tsi_like_peers(&what_if->peers, rank, NULL, &scratch);
	int64_t step_ns = simulate(what_if, &change);
	if (is_best)
		(void)doubt_spread(what_if, NO_STRAGGLER_STEP_NS, &change, step_ns);
	local_ns[rank] = NULL;
	tsi_latch_deinit(what_if->arena, &scratch);
	return step_ns;
}

static void put_straggler(const struct what_if *what_if, uint32_t rank, int64_t step_ns)
{
	int64_t gain_ns = gain_of(what_if, step_ns);
	int64_t number = what_if->graph->world->logs[rank].rank;

	put_step(what_if, NO_STRAGGLER_STEP_NS, step_ns);
	if (number >= 0 && (double)gain_ns >= min_gain * (double)what_if->step_ns && gain_ns > 0)
		tsi_fact_int(what_if->out, STRAGGLER_RANK, number);
}

static void list_ranks(const struct what_if *what_if)
{
	size_t rank_count = what_if->graph->world->rank_count;
	struct sort_pair *ranks = tsi_arena_new(what_if->arena, rank_count, sizeof(*ranks));
	const int64_t **local_ns = tsi_arena_new(what_if->arena, rank_count, sizeof(*local_ns));
	size_t count = local_ns ? choose_ranks(what_if, ranks) : 0;
	int64_t best_ns = INT64_MAX;
	uint32_t best = NO_ROW;

	for (size_t i = 0; i < count; i++) {
		uint32_t rank = (uint32_t)ranks[i].value;
		int64_t step_ns = like_peers(what_if, rank, local_ns, false);

		put_row(what_if, TABLE_RANKS, tsi_rank_number(what_if->scope->ranks, rank),
			step_ns);
		if (step_ns < best_ns || (step_ns == best_ns && rank < best)) {
			best_ns = step_ns;
			best = rank;
		}
	}
	if (best == NO_ROW)
		return;
	put_straggler(what_if, best, best_ns);
	if (what_if->together_ns > 0)
		(void)like_peers(what_if, best, local_ns, true);
}

/* ---- all ranks with the mean of their work ---- */

static const char longer_doubt[] =
	"steps would be longer with the mean of all ranks' work: ranks do other things, or wait "
	"for what traces do not show";

/* Work that is made equal cannot make steps longer, but by what is rounded. */
static void put_balanced_step(const struct what_if *what_if, int64_t step_ns)
{
	int64_t longest_ns =
		what_if->step_ns < what_if->measured_ns ? what_if->step_ns : what_if->measured_ns;

	if ((double)step_ns > (1 + max_rounding) * (double)longest_ns) {
		tsi_fact_doubt(what_if->out, BALANCED_STEP_NS, longer_doubt);
		tsi_fact_doubt(what_if->out, BALANCED_GAIN_NS, longer_doubt);
		return;
	}
	put_step(what_if, BALANCED_STEP_NS, step_ns < longest_ns ? step_ns : longest_ns);
}

static void put_balanced(const struct what_if *what_if)
{
	size_t rank_count = what_if->graph->world->rank_count;
	struct arena scratch = { 0 };
	const int64_t **local_ns = tsi_arena_new(&scratch, rank_count, sizeof(*local_ns));
	const struct replay_change change = { .local_ns = local_ns, .transfer_scale = 1 };

	for (uint32_t rank = 0; local_ns && rank < rank_count; rank++)
		if (what_if->peers.first_of[rank] != NO_ROW)
			local_ns[rank] = tsi_balanced(&what_if->peers, rank, &scratch);
	int64_t step_ns = simulate(what_if, &change);
	put_balanced_step(what_if, step_ns);
	(void)doubt_spread(what_if, BALANCED_STEP_NS, &change, step_ns);
	tsi_latch_deinit(what_if->arena, &scratch);
}

/* ---- all ---- */

/* The unchanged replay. */
static void put_basis(struct what_if *what_if)
{
	static const enum fact gains[] = { NO_STRAGGLER_GAIN_NS,   IDEAL_OVERLAP_GAIN_NS,
					   IDEAL_OVERLAP_LEAST_NS, IDEAL_NETWORK_GAIN_NS,
					   BALANCED_GAIN_NS,       NO_DATA_STALL_GAIN_NS };
	struct fact_sheet *out = what_if->out;
	struct replay unchanged;

	tsi_replay(&unchanged, what_if->graph, NULL);
	what_if->step_ns = unchanged.step_ns;
	what_if->measured_ns = unchanged.measured_ns;
	if (what_if->graph->world->sampled_of > 0) {
		tsi_fact_int(out, PLAYED_STEP_COUNT, (int64_t)what_if->graph->step_count);
		tsi_fact_int(out, PLAYED_OF_STEP_COUNT, (int64_t)what_if->graph->world->sampled_of);
	}
	tsi_fact_int(out, STEP_NS, unchanged.measured_ns);
	tsi_fact_int(out, SIMULATED_STEP_NS, unchanged.step_ns);
	tsi_fact_real(out, SIMULATION_ERROR_RATIO, tsi_replay_error(&unchanged));
	tsi_fact_real(out, END_SPREAD_RATIO, tsi_replay_end_spread(what_if->graph, &unchanged));
	const char *doubt = tsi_replay_error_doubt(&unchanged);
	tsi_put_ranks_doubt(what_if->scope, out);
	if (doubt)
		tsi_fact_unreliable(out, doubt);
	bool has_spread = tsi_has_end_spread(what_if->graph, &unchanged);
	tsi_latch_deinit(what_if->arena, &unchanged.arena);
	for (size_t i = 0; what_if->graph->has_unread_members && i < TSI_COUNT_OF(gains); i++)
		tsi_fact_doubt(out, gains[i],
			       "members of process groups were not read, and may have kept the "
			       "others waiting: this is an upper bound");
	if (has_spread)
		what_if->together_ns =
			simulate(what_if, &(struct replay_change){ .transfer_scale = 1,
								   .has_no_tails = true });
}

static void fill_what_if(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct what_if what_if = {
		.scope = scope,
		.graph = scope->replay_graph,
		.out = out,
		.arena = tsi_sheet_scratch(out),
	};
	struct rank_roles roles;

	if (!what_if.graph || what_if.graph->step_count == 0)
		return;
	put_basis(&what_if);
	put_overlap(&what_if);
	put_network(&what_if);
	list_lines(&what_if);
	tsi_rank_roles_find(&roles, scope, what_if.arena);
	if (!roles.roles ||
	    !tsi_rank_peers_find(&what_if.peers, what_if.graph, &roles, what_if.arena))
		return;
	put_balanced(&what_if);
	list_ranks(&what_if);
}

const struct analyzer tsi_analyzer_what_if = {
	.def = {
		.id = "what_if",
		.summary = "how long steps would be without what slows them, by simulation",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "traces of two or more ranks with collectives that match",
	},
	.levels = LEVEL_RUN,
	.fill = fill_what_if,
};
