/* SPDX-License-Identifier: MIT */
/*
 * Ops while they are played: which can begin, and when those that match end.
 */
#include "comm/replay_parts.h"

static void push_op(struct replay_run *run, uint32_t number)
{
	run->below[number] = run->top_op;
	run->top_op = number;
}

static bool is_over(const struct replay_run *run, uint32_t number)
{
	return number == NO_ROW || (run->states[number] & REPLAY_OP_ENDED);
}

/* Lets an op begin that waits for nothing any more; asked after each thing that it waits for. */
static void try_op(struct replay_run *run, uint32_t number)
{
	const struct replay_link *link = &run->graph->ops[number];

	if ((run->states[number] & REPLAY_OP_READY) && is_over(run, link->previous) &&
	    is_over(run, link->awaited))
		push_op(run, number);
}

static void end_op(struct replay_run *run, uint32_t number, uint32_t last, int64_t end_ns)
{
	const struct replay_link *link = &run->graph->ops[number];
	struct replay_rank_run *rank = &run->ranks[link->rank];

	if (run->states[number] & REPLAY_OP_ENDED)
		return;
	run->states[number] |= REPLAY_OP_ENDED;
	run->replay->ops[number].end_ns = end_ns;
	run->replay->ops[number].last = last;
	if (link->next != NO_ROW)
		try_op(run, link->next);
	for (uint32_t i = link->first_waiter; i != NO_ROW; i = run->graph->ops[i].next_waiter)
		try_op(run, i);
	if (rank->awaits != number)
		return;
	rank->awaits = NO_ROW;
	run->free_ranks[run->free_rank_count++] = link->rank;
}

/* Ends those members that need no more than have begun. */
static void end_members(struct replay_run *run, const struct match *match,
			struct replay_match_run *at)
{
	const uint32_t *by_end = &run->graph->by_end[match->first_member];

	while (at->ended < match->member_count) {
		const struct replay_link *link = &run->graph->ops[by_end[at->ended]];

		if (link->need > at->begun)
			return;
		int64_t transfer_ns = tsi_scale(link->transfer_ns, run->change->transfer_scale);
		int64_t tail_ns = run->change->has_no_tails ? 0 : link->tail_ns;
		int64_t end_ns = tsi_later(at->last_ns, transfer_ns);

		end_op(run, by_end[at->ended++], at->last, tsi_later(end_ns, tail_ns));
	}
}

static void begin_member(struct replay_run *run, size_t match_index)
{
	const struct match *match = &run->graph->world->matches[match_index];
	const uint32_t *by_start = &run->graph->by_start[match->first_member];
	struct replay_match_run *at = &run->matches[match_index];

	while (at->begun < match->member_count) {
		uint32_t number = by_start[at->begun];
		int64_t begin_ns = run->replay->ops[number].begin_ns;

		if (!(run->states[number] & REPLAY_OP_BEGUN))
			return;
		if (at->begun++ == 0 || begin_ns > at->last_ns) {
			at->last_ns = begin_ns;
			at->last = number;
		}
		end_members(run, match, at);
	}
}

void tsi_replay_end_alone(struct replay_run *run, uint32_t number)
{
	const struct replay_link *link = &run->graph->ops[number];
	const struct rank_log *log = &run->graph->world->logs[link->rank];
	const struct rank_op *op = &log->ops[number - run->graph->ranks[link->rank].first_op];
	int64_t duration_ns = tsi_later_of(op->dur_ns, 0);

	end_op(run, number, number, tsi_later(run->replay->ops[number].begin_ns, duration_ns));
}

void tsi_replay_begin_op(struct replay_run *run, uint32_t number)
{
	const struct replay_link *link = &run->graph->ops[number];
	struct replay_op *op = &run->replay->ops[number];
	int64_t free_ns = op->ready_ns;

	if (link->previous != NO_ROW)
		free_ns = tsi_later_of(free_ns, run->replay->ops[link->previous].end_ns);
	if (link->awaited != NO_ROW)
		free_ns = tsi_later_of(free_ns, run->replay->ops[link->awaited].end_ns);
	op->begin_ns = tsi_later(free_ns, link->lag_ns);
	run->states[number] |= REPLAY_OP_BEGUN;
	if (link->match == NO_ROW)
		tsi_replay_end_alone(run, number);
	else
		begin_member(run, link->match);
}

void tsi_replay_make_ready(struct replay_run *run, uint32_t number, int64_t ready_ns)
{
	if (run->states[number] & REPLAY_OP_READY)
		return; /* a log that says so twice */
	run->replay->ops[number].ready_ns = ready_ns;
	run->states[number] |= REPLAY_OP_READY;
	try_op(run, number);
}
