/* SPDX-License-Identifier: MIT */
/*
 * The chain of local work and transfers, one after the other, that ends with the last rank's last
 * step: each piece of it began when the one before it ended, so a piece that took less time would
 * have made the steps shorter. Found by walking the unchanged replay backwards from where each
 * stretch of steps that count ends: from a point to the one before it on its rank or, where a rank
 * had waited, to the member of the collective that was last.
 */
#include "analyze/facts.h"
#include "analyze/ranks/rank_steps.h"
#include "analyze/ranks/replay_doubt.h"
#include "analyze/steps/step_lines.h"

#include "base/pair_set.h"
#include "base/sum.h"
#include "comm/collective_kind.h"
#include "comm/latch.h"

#define FACTS(X)                                                                                   \
	X(STEP_COUNT, "step_count", COUNT, "steps that count on all ranks")                        \
	X(LENGTH_NS, "length_ns", NS, "length of the chain, per step")                             \
	X(LOCAL_NS, "local_ns", NS, "of it, local time of some rank")                              \
	X(TRANSFER_NS, "transfer_ns", NS, "of it, transfer of collectives")                        \
	X(HOP_COUNT, "hop_count", COUNT, "times that it goes from one rank to another")            \
	X(MAIN_RANK, "main_rank", COUNT, "rank with most of its local time")                       \
	X(MAIN_RANK_RATIO, "main_rank_ratio", RATIO, "share of that rank in the local time")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define LINES_COLUMNS(X)                                                                           \
	X(LINES_LINE, "line", TEXT, "line of the budget, or transfer")                             \
	X(LINES_STEP_NS, "step_ns", NS, "on the chain, per step")                                  \
	X(LINES_SHARE_RATIO, "share_ratio", RATIO, "of the chain")

TSI_FACT_LIST(enum lines_column, lines_columns, LINES_COLUMNS);

#define RANKS_COLUMNS(X)                                                                           \
	X(RANKS_RANK, "rank", COUNT, "number of the rank")                                         \
	X(RANKS_STEP_NS, "step_ns", NS, "its local time on the chain, per step")                   \
	X(RANKS_SHARE_RATIO, "share_ratio", RATIO, "of the chain")

TSI_FACT_LIST(enum ranks_column, ranks_columns, RANKS_COLUMNS);

#define COLLECTIVES_COLUMNS(X)                                                                     \
	X(COLLECTIVES_KIND, "kind", TEXT, "kind of collective")                                    \
	X(COLLECTIVES_GROUP, "group", TEXT, "process group")                                       \
	X(COLLECTIVES_COUNT, "count", COUNT, "on the chain")                                       \
	X(COLLECTIVES_STEP_NS, "step_ns", NS, "their transfer on it, per step")                    \
	X(COLLECTIVES_SHARE_RATIO, "share_ratio", RATIO, "of the chain")

TSI_FACT_LIST(enum collectives_column, collectives_columns, COLLECTIVES_COLUMNS);

#define TABLES(X)                                                                                  \
	X(TABLE_LINES, "lines", lines_columns, "its composition")                                  \
	X(TABLE_RANKS, "ranks", ranks_columns, "ranks on it")                                      \
	X(TABLE_COLLECTIVES, "collectives", collectives_columns, "collectives on it")

TSI_TABLE_LIST(enum table, tables, TABLES);

enum { LINE_TRANSFER = TSCOPE_BUDGET_LINE_COUNT, LINE_COUNT };

/* Collectives of a kind and group. */
struct hops {
	int64_t count, transfer_ns;
};

struct chain {
	const struct replay_graph *graph;
	struct arena *arena;
	struct replay replay;
	int64_t line_ns[LINE_COUNT];
	int64_t *rank_ns; /* local time by rank */
	int64_t hop_count;
	struct intern groups;      /* names */
	struct pair_set kinds;     /* of collectives: kind and id of the group's name */
	struct hops *hops_of_kind; /* by number of the pair */
	size_t hops_count, hops_capacity;
};

struct place {
	uint32_t rank, point;
};

static const struct replay_point *replayed(const struct chain *chain, uint32_t rank, size_t point)
{
	return &chain->replay.points[chain->graph->ranks[rank].first_point + point];
}

/* ---- pieces of the chain ---- */

static void add_local(struct chain *chain, uint32_t rank, size_t line, int64_t ns)
{
	tsi_sum(&chain->line_ns[line], ns);
	tsi_sum(&chain->rank_ns[rank], ns);
}

static struct str group_of(const struct chain *chain, const struct replay_link *link,
			   const struct rank_op *op)
{
	const struct world *world = chain->graph->world;
	const struct rank_log *log = &world->logs[link->rank];
	const struct rank_group *group = &log->groups[op->group];

	if (link->match != NO_ROW)
		return tsi_str_of(world->groups[world->matches[link->match].group].name);
	return tsi_intern_text(&log->names, group->description ? group->description : group->name);
}

static void add_transfer(struct chain *chain, uint32_t number, int64_t ns)
{
	const struct replay_link *link = &chain->graph->ops[number];
	size_t index = number - chain->graph->ranks[link->rank].first_op;
	const struct rank_op *op = &chain->graph->world->logs[link->rank].ops[index];
	uint32_t group = tsi_latch_text(chain->arena, &chain->groups, group_of(chain, link, op));
	uint32_t kind = tsi_pair_set_add(&chain->kinds, op->kind, group);

	tsi_sum(&chain->line_ns[LINE_TRANSFER], ns);
	struct hops *hops =
		kind < chain->hops_count
			? &chain->hops_of_kind[kind]
			: tsi_arena_push(chain->arena, &chain->hops_of_kind, &chain->hops_count,
					 &chain->hops_capacity, sizeof(*hops));
	if (!hops)
		return;
	hops->count++;
	tsi_sum(&hops->transfer_ns, ns);
}

/* ---- the walk ---- */

/* The op on its rank whose end an op waited for longest; NO_ROW: it began when it was ready. */
static uint32_t op_before(const struct chain *chain, uint32_t number)
{
	const struct replay_link *link = &chain->graph->ops[number];
	const struct replay_op *ops = chain->replay.ops;
	int64_t free_ns = ops[number].ready_ns;
	uint32_t before = NO_ROW;

	if (link->previous != NO_ROW && ops[link->previous].end_ns > free_ns) {
		before = link->previous;
		free_ns = ops[before].end_ns;
	}
	if (link->awaited != NO_ROW && ops[link->awaited].end_ns > free_ns)
		before = link->awaited;
	return before;
}

/* From an op's end to the begin of the last member: what came after the transfer is its own. */
static void walk_op(struct chain *chain, uint32_t number)
{
	const struct replay_link *link = &chain->graph->ops[number];
	const struct replay_op *op = &chain->replay.ops[number];
	int64_t all_ns = tsi_difference(chain->replay.ops[op->last].begin_ns, op->end_ns);
	int64_t tail_ns = link->tail_ns < all_ns ? link->tail_ns : all_ns;

	add_local(chain, link->rank, TSCOPE_BUDGET_EXPOSED_COMM, tail_ns);
	add_transfer(chain, number, all_ns - tail_ns);
}

/*
 * From the end of an op back to the READY of the one that the last member had waited for on its
 * rank or, where it began at once, of that member.
 */
static void walk_ops(struct chain *chain, uint32_t number, struct place *place)
{
	for (;;) {
		const struct replay_op *ops = chain->replay.ops;
		uint32_t last = ops[number].last;
		const struct replay_link *link = &chain->graph->ops[last];
		uint32_t before = op_before(chain, last);

		walk_op(chain, number);
		chain->hop_count += link->rank != chain->graph->ops[number].rank;
		add_local(chain, link->rank, TSCOPE_BUDGET_DEVICE_GAP,
			  tsi_difference(before == NO_ROW ? ops[last].ready_ns : ops[before].end_ns,
					 ops[last].begin_ns));
		*place = (struct place){ link->rank, link->ready_end - 1 };
		if (before == NO_ROW)
			break;
		number = before;
	}
	/* The rank stood still already when this was ready: its host went on, and launched it. */
	const struct replay_op *first =
		&chain->replay
			 .ops[chain->graph->ranks[place->rank].first_op +
			      chain->graph->world->logs[place->rank].points[place->point].index];
	add_local(chain, place->rank, TSCOPE_BUDGET_LAUNCH_STALL,
		  tsi_difference(replayed(chain, place->rank, place->point)->work_ns,
				 first->ready_ns));
}

/* When a rank had done its work before a barrier. */
static int64_t come_ns(const struct chain *chain, struct place place)
{
	size_t index = chain->graph->ranks[place.rank].first_point + place.point;
	int64_t come_ns = replayed(chain, place.rank, place.point - 1)->work_ns;

	tsi_sum_signed(&come_ns, chain->graph->local_ns[index]);
	tsi_sum_signed(&come_ns, -tsi_replay_launch_ns(chain->graph, place.rank, place.point));
	return come_ns;
}

/* From a launch that waited for the last rank to that rank's; false: it did not wait. */
static bool walk_barrier(struct chain *chain, struct place *place)
{
	const struct replay_graph *graph = chain->graph;
	uint32_t number = graph->barrier_of[graph->ranks[place->rank].first_point + place->point];
	struct place last = *place;

	if (number == NO_ROW)
		return false;
	const struct replay_barrier *barrier = &graph->barriers[number];
	for (uint32_t i = 0; i < barrier->group->rank_count; i++) {
		struct place member = { barrier->group->ranks[i], barrier->points[i] };

		if (come_ns(chain, member) > come_ns(chain, last))
			last = member;
	}
	if (last.rank == place->rank)
		return false;
	/* The last one's own launch is as long for the walk: what differs is this rank's. */
	int64_t own_ns = tsi_replay_launch_ns(graph, place->rank, place->point);
	int64_t lasts_ns = tsi_replay_launch_ns(graph, last.rank, last.point);

	add_local(chain, place->rank, TSCOPE_BUDGET_LAUNCH_STALL, own_ns);
	chain->line_ns[TSCOPE_BUDGET_LAUNCH_STALL] -= lasts_ns;
	chain->rank_ns[last.rank] -= lasts_ns;
	chain->hop_count++;
	*place = last;
	return true;
}

/* From the end of a point's local work to the point before. */
static void walk_local(struct chain *chain, struct place *place)
{
	const struct rank_point *point =
		&chain->graph->world->logs[place->rank].points[place->point];
	const struct replay_point *at = replayed(chain, place->rank, place->point);
	int64_t rest_ns = tsi_difference((at - 1)->work_ns, at->work_ns);

	for (size_t line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++) {
		int64_t ns = line == TSCOPE_BUDGET_LAUNCH_STALL
				     ? tsi_replay_launch_ns(chain->graph, place->rank, place->point)
				     : point->line_ns[line];

		add_local(chain, place->rank, line, ns);
		tsi_sum_signed(&rest_ns, -ns);
	}
	/* A collective that is not in the graph kept it waiting. */
	if (rest_ns > 0)
		add_local(chain, place->rank, TSCOPE_BUDGET_EXPOSED_COMM, rest_ns);
	place->point--;
}

static const struct replay_step *step_of(const struct chain *chain, size_t step, size_t rank)
{
	return &chain->graph->steps[step * chain->graph->world->rank_count + rank];
}

/* Where the last rank ends a step. */
static struct place end_of_step(const struct chain *chain, size_t step)
{
	struct place last = { NO_ROW, 0 };
	int64_t last_ns = INT64_MIN;

	for (uint32_t rank = 0; rank < chain->graph->world->rank_count; rank++) {
		uint32_t end = step_of(chain, step, rank)->end_point;

		if (end == NO_ROW || replayed(chain, rank, end)->work_ns <= last_ns)
			continue;
		last = (struct place){ rank, end };
		last_ns = replayed(chain, rank, end)->work_ns;
	}
	return last;
}

static void walk_steps(struct chain *chain, size_t first_step, size_t last_step)
{
	struct place place = end_of_step(chain, last_step);

	while (place.point > step_of(chain, first_step, place.rank)->first_point) {
		const struct replay_point *point = replayed(chain, place.rank, place.point);
		uint32_t first_op = (uint32_t)chain->graph->ranks[place.rank].first_op;

		if (point->op == NO_ROW) {
			(void)walk_barrier(chain, &place);
			walk_local(chain, &place);
		} else
			walk_ops(chain, first_op + point->op, &place);
	}
}

/* Does this step begin where the one before it ends, on all ranks? */
static bool goes_on(const struct chain *chain, size_t step)
{
	for (size_t rank = 0; rank < chain->graph->world->rank_count; rank++)
		if (step_of(chain, step, rank)->first_point !=
		    step_of(chain, step - 1, rank)->end_point)
			return false;
	return true;
}

static void walk_all(struct chain *chain)
{
	size_t step_count = chain->graph->step_count;

	for (size_t first = 0, end; first < step_count; first = end) {
		for (end = first + 1; end < step_count && goes_on(chain, end);)
			end++;
		walk_steps(chain, first, end - 1);
	}
}

/* ---- facts ---- */

static int64_t length_of(const struct chain *chain)
{
	int64_t length_ns = 0;

	for (size_t line = 0; line < LINE_COUNT; line++)
		tsi_sum(&length_ns, chain->line_ns[line]);
	return length_ns;
}

static void put_facts(const struct chain *chain, struct fact_sheet *out)
{
	const struct world *world = chain->graph->world;
	int64_t local_ns = 0;
	size_t main_rank = 0;

	for (size_t line = 0; line < LINE_TRANSFER; line++)
		tsi_sum(&local_ns, chain->line_ns[line]);
	for (size_t rank = 1; rank < world->rank_count; rank++)
		if (chain->rank_ns[rank] > chain->rank_ns[main_rank])
			main_rank = rank;
	tsi_fact_int(out, STEP_COUNT, (int64_t)chain->graph->step_count);
	tsi_fact_int(out, LENGTH_NS, length_of(chain));
	tsi_fact_int(out, LOCAL_NS, local_ns);
	tsi_fact_int(out, TRANSFER_NS, chain->line_ns[LINE_TRANSFER]);
	tsi_fact_int(out, HOP_COUNT, chain->hop_count);
	if (local_ns > 0 && world->logs[main_rank].rank >= 0)
		tsi_fact_int(out, MAIN_RANK, world->logs[main_rank].rank);
	tsi_fact_ratio(out, MAIN_RANK_RATIO, chain->rank_ns[main_rank], local_ns);
}

static void list_lines(const struct chain *chain, struct fact_sheet *out)
{
	for (size_t line = 0; line < LINE_COUNT; line++) {
		if (chain->line_ns[line] == 0)
			continue;
		struct tscope_value *cells = tsi_table_row(out, TABLE_LINES);
		cells[LINES_LINE] =
			tsi_text(line == LINE_TRANSFER
					 ? "transfer"
					 : tscope_budget_line_name((enum tscope_budget_line)line));
		cells[LINES_STEP_NS] = tsi_int(chain->line_ns[line]);
		cells[LINES_SHARE_RATIO] = tsi_ratio(chain->line_ns[line], length_of(chain));
	}
	tsi_table_order(out, TABLE_LINES, LINES_STEP_NS, LINES_LINE);
}

/* Ranks on the chain, those with most of it first. */
static void list_ranks(const struct chain *chain, const struct analysis_scope *scope,
		       struct fact_sheet *out)
{
	size_t count = 0;
	struct sort_pair *pairs = tsi_arena_new(chain->arena, scope->rank_count, sizeof(*pairs));

	for (size_t rank = 0; pairs && rank < scope->rank_count; rank++)
		if (chain->rank_ns[rank] > 0)
			pairs[count++] =
				(struct sort_pair){ ~(uint64_t)chain->rank_ns[rank], rank };
	tsi_latch_sort(chain->arena, pairs, count);
	for (size_t i = 0; i < count; i++) {
		int64_t rank_ns = chain->rank_ns[pairs[i].value];
		struct tscope_value *cells = tsi_table_row(out, TABLE_RANKS);

		cells[RANKS_RANK] = tsi_rank_number(scope->ranks, pairs[i].value);
		cells[RANKS_STEP_NS] = tsi_int(rank_ns);
		cells[RANKS_SHARE_RATIO] = tsi_ratio(rank_ns, length_of(chain));
	}
}

static void list_collectives(const struct chain *chain, struct fact_sheet *out)
{
	for (size_t i = 0; i < chain->hops_count; i++) {
		const struct pair *kind = &chain->kinds.pairs[i];
		const struct hops *hops = &chain->hops_of_kind[i];
		struct tscope_value *cells = tsi_table_row(out, TABLE_COLLECTIVES);

		cells[COLLECTIVES_KIND] =
			tsi_text(tsi_collective_kind_name((enum collective_kind)kind->first));
		cells[COLLECTIVES_GROUP] = tsi_text(
			tsi_sheet_copy(out, tsi_intern_text(&chain->groups, kind->second)));
		cells[COLLECTIVES_COUNT] = tsi_int(hops->count);
		cells[COLLECTIVES_STEP_NS] = tsi_int(hops->transfer_ns);
		cells[COLLECTIVES_SHARE_RATIO] = tsi_ratio(hops->transfer_ns, length_of(chain));
	}
	tsi_table_order(out, TABLE_COLLECTIVES, COLLECTIVES_STEP_NS, COLLECTIVES_GROUP);
}

/* Divides all sums by the steps, so that the parts still sum to the whole. */
static void divide(struct chain *chain)
{
	size_t rank_count = chain->graph->world->rank_count;
	int64_t step_count = (int64_t)chain->graph->step_count;
	int64_t *parts =
		tsi_arena_new(chain->arena, rank_count + chain->hops_count, sizeof(*parts));

	if (!parts)
		return;
	for (size_t i = 0; i < rank_count; i++)
		parts[i] = chain->rank_ns[i];
	for (size_t i = 0; i < chain->hops_count; i++)
		parts[rank_count + i] = chain->hops_of_kind[i].transfer_ns;
	tsi_divide_lines(parts, rank_count + chain->hops_count, step_count);
	tsi_divide_lines(chain->line_ns, LINE_COUNT, step_count);
	for (size_t i = 0; i < rank_count; i++)
		chain->rank_ns[i] = parts[i];
	for (size_t i = 0; i < chain->hops_count; i++)
		chain->hops_of_kind[i].transfer_ns = parts[rank_count + i];
}

static void put_all(struct chain *chain, const struct analysis_scope *scope, struct fact_sheet *out)
{
	walk_all(chain);
	divide(chain);
	tsi_put_replay_doubts(scope, &chain->replay, out);
	put_facts(chain, out);
	list_lines(chain, out);
	list_ranks(chain, scope, out);
	list_collectives(chain, out);
}

static void fill_cross_rank_path(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct arena *scratch = tsi_sheet_scratch(out);
	struct chain chain = { .graph = scope->replay_graph,
			       .arena = scratch,
			       .kinds.arena = scratch };

	if (!chain.graph || chain.graph->step_count == 0)
		return;
	chain.rank_ns = tsi_arena_new(scratch, scope->rank_count, sizeof(*chain.rank_ns));
	tsi_replay(&chain.replay, chain.graph, NULL);
	if (chain.rank_ns && !chain.replay.arena.has_failed)
		put_all(&chain, scope, out);
	tsi_latch_deinit(scratch, &chain.replay.arena);
	tsi_intern_deinit(&chain.groups);
}

const struct analyzer tsi_analyzer_cross_rank_path = {
	.def = {
		.id = "cross_rank_path",
		.summary = "the chain across ranks that bounds the steps",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "traces of two or more ranks with collectives that match",
	},
	.levels = LEVEL_RUN,
	.fill = fill_cross_rank_path,
};
