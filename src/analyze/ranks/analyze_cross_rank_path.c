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

#include <stdlib.h>

#include "base/array.h"
#include "base/pair_set.h"
#include "base/sort.h"
#include "base/sum.h"
#include "comm/collective_kind.h"

enum fact {
	STEP_COUNT,
	LENGTH_NS,
	LOCAL_NS,
	TRANSFER_NS,
	HOP_COUNT,
	MAIN_RANK,
	MAIN_RANK_RATIO,
};

static const struct tscope_fact_def facts[] = {
	[STEP_COUNT] = { "step_count", TSCOPE_UNIT_COUNT, "steps that count on all ranks" },
	[LENGTH_NS] = { "length_ns", TSCOPE_UNIT_NS, "length of the chain, a step" },
	[LOCAL_NS] = { "local_ns", TSCOPE_UNIT_NS, "of it, local time of some rank" },
	[TRANSFER_NS] = { "transfer_ns", TSCOPE_UNIT_NS, "of it, transfer of collectives" },
	[HOP_COUNT] = { "hop_count", TSCOPE_UNIT_COUNT,
			"times that it goes from one rank to another" },
	[MAIN_RANK] = { "main_rank", TSCOPE_UNIT_COUNT, "rank with most of its local time" },
	[MAIN_RANK_RATIO] = { "main_rank_ratio", TSCOPE_UNIT_RATIO,
			      "share of that rank in the local time" },
};

enum lines_column {
	LINES_LINE,
	LINES_STEP_NS,
	LINES_SHARE_RATIO,
};

static const struct tscope_fact_def lines_columns[] = {
	[LINES_LINE] = { "line", TSCOPE_UNIT_TEXT, "line of the budget, or transfer" },
	[LINES_STEP_NS] = { "step_ns", TSCOPE_UNIT_NS, "on the chain, a step" },
	[LINES_SHARE_RATIO] = { "share_ratio", TSCOPE_UNIT_RATIO, "of the chain" },
};

enum ranks_column {
	RANKS_RANK,
	RANKS_STEP_NS,
	RANKS_SHARE_RATIO,
};

static const struct tscope_fact_def ranks_columns[] = {
	[RANKS_RANK] = { "rank", TSCOPE_UNIT_COUNT, "number of the rank" },
	[RANKS_STEP_NS] = { "step_ns", TSCOPE_UNIT_NS, "its local time on the chain, a step" },
	[RANKS_SHARE_RATIO] = { "share_ratio", TSCOPE_UNIT_RATIO, "of the chain" },
};

enum collectives_column {
	COLLECTIVES_KIND,
	COLLECTIVES_GROUP,
	COLLECTIVES_COUNT,
	COLLECTIVES_STEP_NS,
	COLLECTIVES_SHARE_RATIO,
};

static const struct tscope_fact_def collectives_columns[] = {
	[COLLECTIVES_KIND] = { "kind", TSCOPE_UNIT_TEXT, "kind of collective" },
	[COLLECTIVES_GROUP] = { "group", TSCOPE_UNIT_TEXT, "process group" },
	[COLLECTIVES_COUNT] = { "count", TSCOPE_UNIT_COUNT, "on the chain" },
	[COLLECTIVES_STEP_NS] = { "step_ns", TSCOPE_UNIT_NS, "their transfer on it, a step" },
	[COLLECTIVES_SHARE_RATIO] = { "share_ratio", TSCOPE_UNIT_RATIO, "of the chain" },
};

enum table { TABLE_LINES, TABLE_RANKS, TABLE_COLLECTIVES };

static const struct tscope_table_def tables[] = {
	[TABLE_LINES] = { "lines", lines_columns, TSI_COUNT_OF(lines_columns), "its composition",
			  TSCOPE_TABLE_ROWS },
	[TABLE_RANKS] = { "ranks", ranks_columns, TSI_COUNT_OF(ranks_columns), "ranks on it",
			  TSCOPE_TABLE_ROWS },
	[TABLE_COLLECTIVES] = { "collectives", collectives_columns,
				TSI_COUNT_OF(collectives_columns), "collectives on it",
				TSCOPE_TABLE_ROWS },
};

enum { LINE_TRANSFER = TSCOPE_BUDGET_LINE_COUNT, LINE_COUNT };

/* Collectives of a kind and group. */
struct hops {
	int64_t count, transfer_ns;
};

struct chain {
	const struct replay_graph *graph;
	struct replay replay;
	int64_t line_ns[LINE_COUNT];
	int64_t *rank_ns; /* local time by rank */
	int64_t hop_count;
	struct intern groups;      /* names */
	struct pair_set kinds;     /* of collectives: kind and id of the group's name */
	struct hops *hops_of_kind; /* by number of the pair */
	size_t hops_count, hops_capacity;
	struct tscope_error *err;
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

static enum tscope_status add_transfer(struct chain *chain, uint32_t number, int64_t ns)
{
	const struct replay_link *link = &chain->graph->ops[number];
	size_t index = number - chain->graph->ranks[link->rank].first_op;
	const struct rank_op *op = &chain->graph->world->logs[link->rank].ops[index];
	uint32_t group, kind;

	tsi_sum(&chain->line_ns[LINE_TRANSFER], ns);
	if (tsi_intern_add(&chain->groups, group_of(chain, link, op), &group, chain->err) !=
		    TSCOPE_OK ||
	    tsi_pair_set_find(&chain->kinds, op->kind, group, &kind, chain->err) != TSCOPE_OK ||
	    tsi_array_reserve(&chain->hops_of_kind, &chain->hops_capacity, chain->kinds.count,
			      sizeof(*chain->hops_of_kind), chain->err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (kind == chain->hops_count)
		chain->hops_of_kind[chain->hops_count++] = (struct hops){ 0 };
	chain->hops_of_kind[kind].count++;
	tsi_sum(&chain->hops_of_kind[kind].transfer_ns, ns);
	return TSCOPE_OK;
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
static enum tscope_status walk_op(struct chain *chain, uint32_t number)
{
	const struct replay_link *link = &chain->graph->ops[number];
	const struct replay_op *op = &chain->replay.ops[number];
	int64_t all_ns = tsi_difference(chain->replay.ops[op->last].begin_ns, op->end_ns);
	int64_t tail_ns = link->tail_ns < all_ns ? link->tail_ns : all_ns;

	add_local(chain, link->rank, TSCOPE_BUDGET_EXPOSED_COMM, tail_ns);
	return add_transfer(chain, number, all_ns - tail_ns);
}

/*
 * From the end of an op back to the READY of the one that the last member had waited for on its
 * rank or, where it began at once, of that member.
 */
static enum tscope_status walk_ops(struct chain *chain, uint32_t number, struct place *place)
{
	for (;;) {
		const struct replay_op *ops = chain->replay.ops;
		uint32_t last = ops[number].last;
		const struct replay_link *link = &chain->graph->ops[last];
		uint32_t before = op_before(chain, last);

		if (walk_op(chain, number) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		chain->hop_count += link->rank != chain->graph->ops[number].rank;
		add_local(chain, link->rank, TSCOPE_BUDGET_DEVICE_GAP,
			  tsi_difference(before == NO_ROW ? ops[last].ready_ns : ops[before].end_ns,
					 ops[last].begin_ns));
		*place = (struct place){ link->rank, link->ready_at };
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
	return TSCOPE_OK;
}

/* From the end of a point's local work to the point before. */
static void walk_local(struct chain *chain, struct place *place)
{
	const struct rank_point *point =
		&chain->graph->world->logs[place->rank].points[place->point];
	const struct replay_point *at = replayed(chain, place->rank, place->point);
	int64_t rest_ns = tsi_difference((at - 1)->work_ns, at->work_ns);

	for (size_t line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++) {
		add_local(chain, place->rank, line, point->line_ns[line]);
		tsi_sum_signed(&rest_ns, -point->line_ns[line]);
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

static enum tscope_status walk_steps(struct chain *chain, size_t first_step, size_t last_step)
{
	struct place place = end_of_step(chain, last_step);

	while (place.point > step_of(chain, first_step, place.rank)->first_point) {
		const struct replay_point *point = replayed(chain, place.rank, place.point);
		uint32_t first_op = (uint32_t)chain->graph->ranks[place.rank].first_op;

		if (point->op == NO_ROW)
			walk_local(chain, &place);
		else if (walk_ops(chain, first_op + point->op, &place) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	return TSCOPE_OK;
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

static enum tscope_status walk_all(struct chain *chain)
{
	size_t step_count = chain->graph->step_count;
	enum tscope_status status = TSCOPE_OK;

	for (size_t first = 0, end; status == TSCOPE_OK && first < step_count; first = end) {
		for (end = first + 1; end < step_count && goes_on(chain, end);)
			end++;
		status = walk_steps(chain, first, end - 1);
	}
	return status;
}

/* ---- facts ---- */

static void put_facts(const struct chain *chain, struct fact_sheet *out)
{
	const struct world *world = chain->graph->world;
	int64_t local_ns = 0, length_ns;
	size_t main_rank = 0;

	for (size_t line = 0; line < LINE_TRANSFER; line++)
		tsi_sum(&local_ns, chain->line_ns[line]);
	length_ns = local_ns;
	tsi_sum(&length_ns, chain->line_ns[LINE_TRANSFER]);
	for (size_t rank = 1; rank < world->rank_count; rank++)
		if (chain->rank_ns[rank] > chain->rank_ns[main_rank])
			main_rank = rank;
	tsi_fact_int(out, LENGTH_NS, length_ns);
	tsi_fact_int(out, LOCAL_NS, local_ns);
	tsi_fact_int(out, TRANSFER_NS, chain->line_ns[LINE_TRANSFER]);
	tsi_fact_int(out, HOP_COUNT, chain->hop_count);
	if (local_ns > 0 && world->logs[main_rank].rank >= 0)
		tsi_fact_int(out, MAIN_RANK, world->logs[main_rank].rank);
	tsi_fact_ratio(out, MAIN_RANK_RATIO, chain->rank_ns[main_rank], local_ns);
}

static int64_t length_of(const struct chain *chain)
{
	int64_t length_ns = 0;

	for (size_t line = 0; line < LINE_COUNT; line++)
		tsi_sum(&length_ns, chain->line_ns[line]);
	return length_ns;
}

static enum tscope_status list_lines(const struct chain *chain, struct fact_sheet *out)
{
	for (size_t line = 0; line < LINE_COUNT; line++) {
		struct tscope_value *cells;

		if (chain->line_ns[line] == 0)
			continue;
		if (tsi_table_add(out, TABLE_LINES, &cells, chain->err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		cells[LINES_LINE] =
			tsi_text(line == LINE_TRANSFER
					 ? "transfer"
					 : tscope_budget_line_name((enum tscope_budget_line)line));
		cells[LINES_STEP_NS] = tsi_int(chain->line_ns[line]);
		cells[LINES_SHARE_RATIO] = tsi_ratio(chain->line_ns[line], length_of(chain));
	}
	return tsi_table_sort(out, TABLE_LINES, LINES_STEP_NS, LINES_LINE, chain->err);
}

static enum tscope_status add_rank(const struct chain *chain, uint32_t rank, struct fact_sheet *out)
{
	int64_t number = chain->graph->world->logs[rank].rank;
	struct tscope_value *cells;

	if (tsi_table_add(out, TABLE_RANKS, &cells, chain->err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (number >= 0)
		cells[RANKS_RANK] = tsi_int(number);
	cells[RANKS_STEP_NS] = tsi_int(chain->rank_ns[rank]);
	cells[RANKS_SHARE_RATIO] = tsi_ratio(chain->rank_ns[rank], length_of(chain));
	return TSCOPE_OK;
}

/* Ranks on the chain, those with most of it first. */
static enum tscope_status list_ranks(const struct chain *chain, struct fact_sheet *out)
{
	size_t rank_count = chain->graph->world->rank_count, count = 0;
	struct sort_pair *pairs = NULL, *scratch = NULL;
	enum tscope_status status = tsi_array_new(&pairs, rank_count, sizeof(*pairs), chain->err);

	if (status == TSCOPE_OK)
		status = tsi_array_new(&scratch, rank_count, sizeof(*scratch), chain->err);
	for (size_t rank = 0; status == TSCOPE_OK && rank < rank_count; rank++)
		if (chain->rank_ns[rank] > 0)
			pairs[count++] =
				(struct sort_pair){ ~(uint64_t)chain->rank_ns[rank], rank };
	if (status == TSCOPE_OK)
		tsi_sort_pairs(pairs, scratch, count);
	for (size_t i = 0; status == TSCOPE_OK && i < count; i++)
		status = add_rank(chain, (uint32_t)pairs[i].value, out);
	free(pairs);
	free(scratch);
	return status;
}

static enum tscope_status list_collectives(const struct chain *chain,
					   const struct analysis_scope *scope,
					   struct fact_sheet *out)
{
	for (size_t i = 0; i < chain->kinds.count; i++) {
		const struct pair *kind = &chain->kinds.pairs[i];
		const struct hops *hops = &chain->hops_of_kind[i];
		struct tscope_value *cells;
		const char *group;

		if (tsi_keep_text(scope, tsi_intern_text(&chain->groups, kind->second), &group,
				  chain->err) != TSCOPE_OK ||
		    tsi_table_add(out, TABLE_COLLECTIVES, &cells, chain->err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		cells[COLLECTIVES_KIND] =
			tsi_text(tsi_collective_kind_name((enum collective_kind)kind->first));
		cells[COLLECTIVES_GROUP] = tsi_text(group);
		cells[COLLECTIVES_COUNT] = tsi_int(hops->count);
		cells[COLLECTIVES_STEP_NS] = tsi_int(hops->transfer_ns);
		cells[COLLECTIVES_SHARE_RATIO] = tsi_ratio(hops->transfer_ns, length_of(chain));
	}
	return tsi_table_sort(out, TABLE_COLLECTIVES, COLLECTIVES_STEP_NS, COLLECTIVES_GROUP,
			      chain->err);
}

/* Divides all sums by the steps, so that the parts still sum to the whole. */
static enum tscope_status divide(struct chain *chain)
{
	size_t rank_count = chain->graph->world->rank_count;
	int64_t *parts, step_count = (int64_t)chain->graph->step_count;

	if (tsi_array_new(&parts, rank_count + chain->hops_count, sizeof(*parts), chain->err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
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
	free(parts);
	return TSCOPE_OK;
}

static void put_doubts(const struct chain *chain, const struct analysis_scope *scope,
		       struct fact_sheet *out)
{
	const char *of_times = tsi_ranks_doubt(scope->ranks, scope->rank_count);
	const char *of_replay = tsi_replay_doubt(chain->graph, &chain->replay);

	if (of_times)
		tsi_fact_unreliable(out, of_times);
	if (of_replay)
		tsi_fact_unreliable(out, of_replay);
}

static enum tscope_status put_all(struct chain *chain, const struct analysis_scope *scope,
				  struct fact_sheet *out)
{
	struct tscope_error *err = chain->err;
	size_t rank_count = chain->graph->world->rank_count;

	if (tsi_array_new(&chain->rank_ns, rank_count, sizeof(*chain->rank_ns), err) != TSCOPE_OK ||
	    tsi_intern_init(&chain->groups, UINT32_MAX - 1, err) != TSCOPE_OK ||
	    tsi_replay(&chain->replay, chain->graph, NULL, err) != TSCOPE_OK ||
	    walk_all(chain) != TSCOPE_OK || divide(chain) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	put_doubts(chain, scope, out);
	tsi_fact_int(out, STEP_COUNT, (int64_t)chain->graph->step_count);
	put_facts(chain, out);
	if (list_lines(chain, out) != TSCOPE_OK || list_ranks(chain, out) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return list_collectives(chain, scope, out);
}

static enum tscope_status analyze_cross_rank_path(const struct analysis_scope *scope,
						  struct fact_sheet *out, struct tscope_error *err)
{
	struct chain chain = {
		.graph = scope->replay_graph,
		.kinds.arena = tsi_sheet_scratch(out),
		.err = err,
	};

	if (!chain.graph || chain.graph->step_count == 0)
		return TSCOPE_OK;
	enum tscope_status status = put_all(&chain, scope, out);
	tsi_replay_deinit(&chain.replay);
	tsi_intern_deinit(&chain.groups);
	free(chain.rank_ns);
	free(chain.hops_of_kind);
	return status;
}

const struct analyzer tsi_analyzer_cross_rank_path = {
	.def = {
		.id = "cross_rank_path",
		.summary = "the chain across ranks that bounds the steps",
		.facts = facts,
		.fact_count = TSI_COUNT_OF(facts),
		.tables = tables,
		.table_count = TSI_COUNT_OF(tables),
		.needs = "traces of two or more ranks with collectives that match",
	},
	.levels = LEVEL_RUN,
	.run = analyze_cross_rank_path,
};
