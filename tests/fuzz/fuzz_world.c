/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for what traces of several ranks say together: any bytes as logs of ranks
 * (world_bytes.h), their world, its replays, and the analyzers of a run. Traps where times do not
 * add up, a match or a group is none, or a fact is no number.
 */
#include "world_bytes.h"

#include "analyze/analysis.h"
#include "comm/replay.h"
#include "comm/world.h"

enum { MAX_LENGTH = 8 << 10 };

struct fuzz_run {
	struct rank_log logs[MOST_RANKS];
	struct step_series series[MOST_RANKS], slowest;
	size_t rank_count;
	struct world *world;
};

static void read_run(struct fuzz_run *run, struct bytes *bytes)
{
	int64_t rank = -1;
	size_t first = 0;

	run->rank_count = 2 + take_below(bytes, MOST_RANKS - 1);
	for (size_t i = 0; i < run->rank_count; i++) {
		read_rank(bytes, &run->logs[i], &run->series[i], rank, &first);
		rank = run->logs[i].rank;
	}
}

static void run_deinit(struct fuzz_run *run)
{
	tsi_world_free(run->world);
	tsi_steps_deinit(&run->slowest);
	for (size_t i = 0; i < run->rank_count; i++) {
		tsi_rank_log_deinit(&run->logs[i]);
		tsi_steps_deinit(&run->series[i]);
	}
}

/* ---- what holds in every world ---- */

static void check_groups(const struct world *world)
{
	for (size_t i = 0; i < world->group_count; i++) {
		const struct process_group *group = &world->groups[i];
		uint64_t match_count = 0;

		require(group->name && group->rank_count <= world->rank_count);
		for (uint32_t k = 0; k < group->rank_count; k++)
			require(group->ranks[k] < (k + 1 < group->rank_count ? group->ranks[k + 1]
									     : world->rank_count));
		for (uint32_t k = 1; group->members && k < group->member_count; k++)
			require(group->members[k - 1] < group->members[k]);
		for (size_t k = 0; k < world->match_count; k++)
			match_count += world->matches[k].group == i;
		require(match_count == group->matched_count);
	}
}

static void check_match(const struct world *world, uint32_t index)
{
	const struct match *match = &world->matches[index];
	const struct match_member *members = &world->members[match->first_member];
	int64_t shortest_ns = INT64_MAX;

	require(match->group < world->group_count && match->member_count >= 2);
	require(match->transfer_ns >= 0 && !(match->bus_bytes < 0));
	for (uint32_t i = 0; i < match->member_count; i++) {
		const struct rank_op *op = &world->logs[members[i].rank].ops[members[i].op];

		require(i == 0 || members[i - 1].rank < members[i].rank);
		require(world->match_of_op[members[i].rank][members[i].op] == index);
		require(world->group_of_op[members[i].rank][members[i].op] == match->group);
		require(members[i].wait_ns >= 0);
		if (match->is_synchronising)
			require(members[i].wait_ns + match->transfer_ns == op->dur_ns);
		shortest_ns = op->dur_ns < shortest_ns ? op->dur_ns : shortest_ns;
	}
	require(match->transfer_ns == shortest_ns);
}

static void check_clock(const struct world *world, uint32_t rank)
{
	const struct rank_clock *clock = &world->clocks[rank];
	const struct rank_log *log = &world->logs[rank];

	require(isfinite(clock->drift));
	require(clock->error_ns >= 0 && clock->residual_ns >= 0);
	require(clock->is_known || clock->offset_ns == 0);
	for (size_t i = 0; i < log->op_count; i++)
		(void)tsi_world_time(world, rank, log->ops[i].start_ns);
	(void)tsi_world_time(world, rank, INT64_MAX);
	(void)tsi_world_time(world, rank, INT64_MIN);
}

/* Own time, waiting, transfer and what cannot be divided are the wall time. */
static void check_step(const struct rank_log_step *step, const struct step_split *split,
		       const int64_t *lines)
{
	tsi_wide sum_ns = (tsi_wide)split->wait_ns + split->transfer_ns + split->unsplit_ns;

	require(split->wait_ns >= 0 && split->transfer_ns >= 0 && split->unsplit_ns >= 0);
	for (unsigned line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++) {
		require(lines[line] >= 0);
		sum_ns += line == TSCOPE_BUDGET_EXPOSED_COMM ? 0 : lines[line];
	}
	require(sum_ns == step->wall_ns);
}

static void check_waits(const struct world *world, size_t rank)
{
	int64_t lines[2 * MOST_STEPS][TSCOPE_BUDGET_LINE_COUNT];
	const struct rank_log *log = &world->logs[rank];
	const struct rank_wait *wait = &world->waits[rank];

	require(wait->wait_ns >= 0 && wait->transfer_ns >= 0 && wait->last_count <= wait->count);
	tsi_rank_log_sum_steps(log, lines);
	for (size_t i = 0; i < log->step_count; i++)
		check_step(&log->steps[i], &world->splits[rank][i], lines[i]);
	require(world->nodes[rank] == NO_ROW || world->nodes[rank] < world->node_count);
}

static void check_budgets(const struct step_series *series)
{
	for (size_t i = 0; i < series->budget_count; i++) {
		const struct step_budget *budget = &series->budgets[i];
		int64_t exposed_ns = series->device_count
					     ? budget->device.line_ns[TSCOPE_BUDGET_EXPOSED_COMM]
					     : budget->host.line_ns[HOST_COMM];

		for (unsigned part = 0; part < EXPOSED_PART_COUNT; part++) {
			require(budget->exposed_ns[part] >= 0);
			exposed_ns -= budget->exposed_ns[part];
		}
		require(!budget->has_split || exposed_ns == 0);
	}
}

static void check_world(const struct fuzz_run *run)
{
	check_groups(run->world);
	for (uint32_t i = 0; i < run->world->match_count; i++)
		check_match(run->world, i);
	for (uint32_t i = 0; i < run->rank_count; i++) {
		check_clock(run->world, i);
		check_waits(run->world, i);
		check_budgets(&run->series[i]);
	}
}

/* ---- replays ---- */

/* No step ends before it begins, nor begins before another of its rank has ended. */
static void check_bounds(const struct replay_graph *graph, const struct replay *replay, size_t rank)
{
	const struct replay_rank *played = &graph->ranks[rank];
	int64_t last_ns = INT64_MIN;

	for (size_t i = played->begin_point; i < played->end_point; i++) {
		uint8_t kind = graph->world->logs[rank].points[i].kind;
		int64_t time_ns = replay->points[played->first_point + i].time_ns;

		if (kind != RANK_POINT_STEP && kind != RANK_POINT_END)
			continue;
		require(time_ns >= last_ns);
		last_ns = time_ns;
	}
}

static void check_replay(const struct replay_graph *graph, const struct replay_change *change)
{
	struct replay replay = { 0 };

	tsi_replay(&replay, graph, change);
	require(!replay.arena.has_failed);
	require(replay.step_ns >= 0 && replay.measured_ns >= 0);
	for (size_t rank = 0; rank < graph->world->rank_count; rank++)
		check_bounds(graph, &replay, rank);
	tsi_replay_deinit(&replay);
}

static void check_replays(const struct world *world)
{
	double scale[MOST_RANKS * TSCOPE_BUDGET_LINE_COUNT] = { 0 };
	const struct replay_change changes[] = {
		{ .transfer_scale = 1 },
		{ .transfer_scale = 0 },
		{ .transfer_scale = 1, .is_overlap_ideal = true },
		{ .transfer_scale = 1, .line_scale = scale },
	};
	struct replay_graph *graph;

	require_ok(tsi_replay_graph_new(&graph, world, NULL));
	check_replay(graph, NULL);
	for (size_t i = 0; i < TSI_COUNT_OF(changes); i++)
		check_replay(graph, &changes[i]);
	tsi_replay_graph_free(graph);
}

/* ---- facts ---- */

static bool is_part_of(const char *part, const char *name)
{
	return strstr(name, part) != NULL;
}

static void check_value(const struct tscope_fact_def *def, struct tscope_value value)
{
	if (value.kind == TSCOPE_VALUE_TEXT)
		require(value.text != NULL);
	if (value.kind == TSCOPE_VALUE_REAL)
		require(isfinite(value.real));
	if (value.kind == TSCOPE_VALUE_INT &&
	    (is_part_of("gain", def->name) || is_part_of("count", def->name)))
		require(value.integer >= 0);
}

static void check_table(const struct tscope_analysis *analysis, size_t analyzer, size_t table)
{
	const struct tscope_table_def *def = &tscope_analyzer(analyzer)->tables[table];
	size_t row_count = tscope_analysis_row_count(analysis, analyzer, table, TSCOPE_WHOLE_TRACE);

	for (size_t row = 0; row < row_count; row++)
		for (size_t i = 0; i < def->column_count; i++)
			check_value(&def->columns[i],
				    tscope_analysis_cell(analysis, analyzer, table,
							 TSCOPE_WHOLE_TRACE, row, i));
}

static void check_facts(const struct tscope_analysis *analysis)
{
	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		const struct tscope_analyzer_def *def = tscope_analyzer(i);

		if (!tscope_analysis_has(analysis, i, TSCOPE_WHOLE_TRACE))
			continue;
		for (size_t k = 0; k < def->fact_count; k++)
			check_value(&def->facts[k],
				    tscope_analysis_fact(analysis, i, k, TSCOPE_WHOLE_TRACE));
		for (size_t k = 0; k < def->table_count; k++)
			check_table(analysis, i, k);
	}
}

static void check_analyses(struct fuzz_run *run)
{
	const struct tscope_analysis_options options = { 0 };
	struct analysis_scope scope = { .steps = &run->series[0], .options = &options };
	struct tscope_analysis *of_rank, *of_run;
	struct replay_graph *graph = NULL;

	require_ok(tsi_analyze_level(&of_rank, LEVEL_RANK, &scope, NULL, NULL));
	check_facts(of_rank);
	tsi_steps_init(&run->slowest);
	tsi_steps_slowest(&run->slowest, run->series, run->rank_count, 0);
	scope.steps = &run->slowest;
	scope.ranks = run->series;
	scope.rank_count = run->rank_count;
	scope.world = run->world;
	if (run->world->match_count > 0)
		require_ok(tsi_replay_graph_new(&graph, run->world, NULL));
	scope.replay_graph = graph;
	require_ok(tsi_analyze_level(&of_run, LEVEL_RUN, &scope, of_rank, NULL));
	check_facts(of_run);
	tscope_analysis_free(of_run);
	tscope_analysis_free(of_rank);
	tsi_replay_graph_free(graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct bytes bytes = { data, length, 0 };
	struct fuzz_run run = { 0 };

	if (length > MAX_LENGTH)
		return 0;
	read_run(&run, &bytes);
	require_ok(tsi_world_new(&run.world, run.logs, run.rank_count, -1, NULL));
	tsi_world_split_budgets(run.world, run.series);
	check_world(&run);
	check_replays(run.world);
	check_analyses(&run);
	run_deinit(&run);
	return 0;
}
