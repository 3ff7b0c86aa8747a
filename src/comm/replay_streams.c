/* SPDX-License-Identifier: MIT */
/*
 * Predecessors of an op of the graph on its own rank: the op before it on its stream and, where
 * that does not explain when it began, an op of another stream. Traces do not say what a stream
 * waited for, but an op that begins right where another one ends has most likely waited for it: an
 * all-reduce of what a reduce-scatter left, say.
 */
#include "comm/replay_parts.h"

#include "base/sort.h"

/* So soon after what it waited for an op begins: events between streams take no longer. */
static const int64_t max_delay_ns = 10000;

/* Ends before a start that are looked at: more are not within the delay, but for hostile input. */
enum { MAX_LOOKED_AT = 16 };

struct stream_joining {
	struct replay_graph *graph;
	const struct rank_op *ops; /* of the rank */
	size_t first_op;
	struct sort_pair *pairs, *scratch; /* ops that are played */
	size_t count;
};

static int64_t end_of(const struct stream_joining *joining, size_t op)
{
	return tsi_replay_end_of(&joining->ops[op]);
}

/* ---- one after the other ---- */

/* Ops of a stream are in the order of their starts, as ops are. */
static void follow_streams(struct stream_joining *joining, size_t op_count)
{
	struct sort_pair *pairs = joining->pairs;
	struct replay_link *links;

	joining->count = 0;
	if (op_count == 0)
		return;
	links = &joining->graph->ops[joining->first_op];
	for (size_t i = 0; i < op_count; i++)
		if (tsi_is_played(&links[i]))
			pairs[joining->count++] = (struct sort_pair){ joining->ops[i].stream, i };
	tsi_sort_pairs(pairs, joining->scratch, joining->count);
	for (size_t i = 1; i < joining->count; i++) {
		if (pairs[i - 1].key != pairs[i].key)
			continue;
		links[pairs[i].value].previous = (uint32_t)(joining->first_op + pairs[i - 1].value);
		links[pairs[i - 1].value].next = (uint32_t)(joining->first_op + pairs[i].value);
	}
}

/* ---- of another stream ---- */

static void sort_by_end(struct stream_joining *joining)
{
	for (size_t i = 0; i < joining->count; i++)
		joining->pairs[i].key =
			tsi_sort_key_of_int64(end_of(joining, joining->pairs[i].value));
	tsi_sort_pairs(joining->pairs, joining->scratch, joining->count);
}

/* The last to end of several; none if that of its own stream ended as shortly before it. */
static size_t find_awaited(const struct stream_joining *joining, size_t number)
{
	const struct replay_link *link = &joining->graph->ops[number];
	const struct rank_op *op = &joining->ops[number - joining->first_op];
	int64_t since_ns = tsi_later(op->start_ns, -max_delay_ns);

	if (link->previous != NO_ROW &&
	    end_of(joining, link->previous - joining->first_op) >= since_ns)
		return NO_ROW;
	since_ns = tsi_later_of(since_ns, tsi_later(op->ready_ns, 1));
	size_t at = tsi_count_up_to(joining->pairs, joining->count,
				    tsi_sort_key_of_int64(op->start_ns));
	for (size_t i = 0; i < MAX_LOOKED_AT && at > 0; i++) {
		size_t other = joining->pairs[--at].value;

		if (end_of(joining, other) < since_ns)
			break;
		/* Among ops that begin and end together, none waits for a later one. */
		if (joining->first_op + other < number && joining->ops[other].stream != op->stream)
			return joining->first_op + other;
	}
	return NO_ROW;
}

static void set_awaited(struct stream_joining *joining, size_t number)
{
	struct replay_link *link = &joining->graph->ops[number];
	size_t awaited = find_awaited(joining, number);

	if (awaited == NO_ROW)
		return;
	link->awaited = (uint32_t)awaited;
	link->next_waiter = joining->graph->ops[awaited].first_waiter;
	joining->graph->ops[awaited].first_waiter = (uint32_t)number;
}

static void measure_lag(const struct stream_joining *joining, size_t number)
{
	struct replay_link *link = &joining->graph->ops[number];
	const struct rank_op *op = &joining->ops[number - joining->first_op];
	int64_t free_ns = op->ready_ns;

	if (link->previous != NO_ROW)
		free_ns =
			tsi_later_of(free_ns, end_of(joining, link->previous - joining->first_op));
	if (link->awaited != NO_ROW)
		free_ns = tsi_later_of(free_ns, end_of(joining, link->awaited - joining->first_op));
	link->lag_ns = tsi_later_of(tsi_difference(free_ns, op->start_ns), 0);
}

void tsi_replay_join_streams(struct replay_graph *graph, size_t rank, struct sort_pair *pairs,
			     struct sort_pair *scratch)
{
	size_t op_count = graph->world->logs[rank].op_count;
	struct stream_joining joining = {
		.graph = graph,
		.ops = graph->world->logs[rank].ops,
		.first_op = graph->ranks[rank].first_op,
		.pairs = pairs,
		.scratch = scratch,
	};

	follow_streams(&joining, op_count);
	sort_by_end(&joining);
	for (size_t i = 0; i < op_count; i++) {
		if (!tsi_is_played(&graph->ops[joining.first_op + i]))
			continue;
		set_awaited(&joining, joining.first_op + i);
		measure_lag(&joining, joining.first_op + i);
	}
}
