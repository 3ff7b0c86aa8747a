/* SPDX-License-Identifier: MIT */
/*
 * Which of the calls that ranks wait in all others wait for in the end: one that is wrong by
 * itself, or a circle of calls that wait for each other.
 */
#include "hang/verdict.h"

struct judge {
	struct hang_verdict *verdict;
	const struct hang_model *model;
	struct arena *arena;
};

/* ---- chains -------------------------------------------------------------------------------- */

static int compare_since(const struct wait_op *a, const struct wait_op *b)
{
	TSI_ASCENDING(a->since_ns, b->since_ns);
	return a < b ? -1 : a > b;
}

/* The op that a blocker waits in, or NULL. */
static struct wait_op *op_behind(struct judge *j, const struct blocker *blocker)
{
	uint32_t index = j->verdict->op_of[blocker->dump];

	return index == NO_DUMP ? NULL : &j->verdict->ops[index];
}

/*
 * Every op gets the root that it waits for in the end: in turns over all ops, until none changes.
 */
static void spread_roots(struct judge *j)
{
	struct hang_verdict *verdict = j->verdict;
	bool has_changed = true;

	for (uint32_t i = 0; i < verdict->op_count; i++)
		if (verdict->ops[i].kind != HANG_NONE)
			verdict->ops[i].root = i;
	for (uint32_t turn = 0; has_changed && turn <= verdict->op_count; turn++) {
		has_changed = false;
		for (uint32_t i = 0; i < verdict->op_count; i++) {
			struct wait_op *op = &verdict->ops[i];

			for (uint32_t k = 0; k < op->blocker_count && op->root == NO_DUMP; k++) {
				const struct wait_op *next = op_behind(j, &op->blockers[k]);
				if (next && next->root != NO_DUMP)
					op->root = next->root;
				has_changed |= op->root != NO_DUMP;
			}
		}
	}
}

/* The op that a chain goes on with: that which began first. */
static struct wait_op *next_of(struct judge *j, const struct wait_op *op)
{
	struct wait_op *first = NULL;

	for (uint32_t i = 0; i < op->blocker_count; i++) {
		struct wait_op *next = op_behind(j, &op->blockers[i]);

		if (next && next != op && (!first || compare_since(next, first) < 0))
			first = next;
	}
	return first;
}

/* The ranks that one op of a cycle waits for and that wait in the next one. */
static bool is_between(const struct judge *j, const struct blocker *blocker, uint32_t next)
{
	return j->verdict->op_of[blocker->dump] == next;
}

/* Blames those between ops of a cycle, of links with so many ranks, if the sign is against them. */
static void blame_links(struct judge *j, struct wait_op *root, uint32_t rank_count, hang_sign sign)
{
	struct hang_verdict *verdict = j->verdict;

	root->culprit_count = 0;
	for (uint32_t i = 0; i < verdict->cycle_count; i++) {
		const struct wait_op *op = &verdict->ops[verdict->cycle[i]];
		uint32_t next = verdict->cycle[(i + 1) % verdict->cycle_count], count = 0;

		for (uint32_t k = 0; k < op->blocker_count; k++)
			count += is_between(j, &op->blockers[k], next);
		for (uint32_t k = 0; k < op->blocker_count && count == rank_count; k++) {
			uint32_t dump = op->blockers[k].dump;

			if (is_between(j, &op->blockers[k], next) &&
			    (!sign || sign(verdict, j->model, dump)))
				tsi_hang_blame(root, j->arena, j->model->dumps[dump].rank);
		}
	}
}

/* Is one call of the cycle a message to a rank that never was a peer? It speaks for the cycle. */
static bool has_wrong_peer(struct judge *j, struct wait_op *root)
{
	struct hang_verdict *verdict = j->verdict;

	for (uint32_t i = 0; i < verdict->cycle_count; i++) {
		struct wait_op *op = &verdict->ops[verdict->cycle[i]];

		if (!op->call->is_p2p)
			continue;
		tsi_hang_compare_messages(op, j->model, NULL, j->arena);
		if (op->kind == HANG_NONE)
			continue;
		root->kind = op->kind;
		root->culprits = op->culprits;
		root->culprit_count = op->culprit_count;
		root->detail = op->detail;
		if (op != root)
			op->kind = HANG_NONE;
		root->group = op->group;
		root->dump = op->dump;
		root->call = op->call;
		return true;
	}
	return false;
}

/*
 * Each link of the cycle is some ranks that are in the next call though this one waits for them.
 * The fewest are to blame; of links with as many those that signs speak against.
 */
static void judge_cycle(struct judge *j, struct wait_op *root)
{
	struct hang_verdict *verdict = j->verdict;
	uint32_t least = UINT32_MAX, links = 0;

	if (has_wrong_peer(j, root))
		return;
	root->kind = HANG_ORDER;
	for (uint32_t i = 0; i < verdict->cycle_count; i++) {
		const struct wait_op *op = &verdict->ops[verdict->cycle[i]];
		uint32_t next = verdict->cycle[(i + 1) % verdict->cycle_count], count = 0;

		for (uint32_t k = 0; k < op->blocker_count; k++)
			count += is_between(j, &op->blockers[k], next);
		links = count < least ? 1 : links + (count == least);
		least = count < least ? count : least;
	}
	bool is_clear = links == 1;
	for (size_t i = 0; i < TSI_COUNT_OF(tsi_hang_signs) && !is_clear; i++) {
		blame_links(j, root, least, tsi_hang_signs[i]);
		is_clear = root->culprit_count > 0 && root->culprit_count <= least;
	}
	if (links == 1 || root->culprit_count == 0)
		blame_links(j, root, least, NULL);
	root->is_tie = !is_clear;
}

/* From an op without a root on: the chain must close. */
static void follow(struct judge *j, struct wait_op *start, uint32_t *seen_in, uint32_t mark)
{
	struct hang_verdict *verdict = j->verdict;
	struct wait_op *op = start, *end = NULL;

	while (op && op->root == NO_DUMP && seen_in[op - verdict->ops] == 0) {
		seen_in[op - verdict->ops] = mark;
		op = next_of(j, op);
	}
	if (op && op->root == NO_DUMP && seen_in[op - verdict->ops] == mark) {
		/* The op with most callers speaks for the cycle. */
		uint32_t *cycle =
			tsi_arena_new(j->arena, verdict->op_count, sizeof(*verdict->cycle));
		uint32_t count = 0;

		end = op;
		for (struct wait_op *at = op; cycle && (at != op || count == 0);
		     at = next_of(j, at)) {
			cycle[count++] = (uint32_t)(at - verdict->ops);
			if (at->caller_count > end->caller_count)
				end = at;
		}
		if (!cycle)
			return;
		verdict->cycle = cycle;
		verdict->cycle_count = count;
		judge_cycle(j, end);
	}
	uint32_t root = end ? (uint32_t)(end - verdict->ops) : op ? op->root : NO_DUMP;
	for (op = start; op && op->root == NO_DUMP; op = next_of(j, op))
		op->root = root != NO_DUMP ? root : (uint32_t)(op - verdict->ops);
}

static void find_cycles(struct judge *j)
{
	struct hang_verdict *verdict = j->verdict;
	uint32_t *seen_in = tsi_arena_new(j->arena, verdict->op_count, sizeof(*seen_in));

	for (uint32_t i = 0; i < verdict->op_count && seen_in; i++)
		if (verdict->ops[i].root == NO_DUMP)
			follow(j, &verdict->ops[i], seen_in, i + 1);
}

/* ---- the root ------------------------------------------------------------------------------ */

static bool shares_culprit(const struct wait_op *a, const struct wait_op *b)
{
	return a->culprit_count > 0 && b->culprit_count > 0 && a->culprits[0] == b->culprits[0];
}

/*
 * Who is seen to be wrong comes first. A call that all made and that does not end explains why a
 * rank without a dump is waited for, but not the other way round.
 */
static int certainty(const struct wait_op *op)
{
	if (op->kind == HANG_UNDECIDED || op->kind == HANG_NO_DUMP)
		return 0;
	return op->kind == HANG_UNFINISHED ? 1 : 2;
}

/* Is the call of a dump that of the op, or its other end? */
static bool is_call_of(const struct dump *dump, const struct dump_call *call,
		       const struct wait_op *op, const struct hang_group *group)
{
	if (call->group != op->group || call->is_p2p != op->call->is_p2p)
		return false;
	if (!call->is_p2p)
		return call->name == op->call->name;
	for (uint32_t i = 0; i < call->message_count && i < HANG_MAX_MESSAGES; i++) {
		int32_t peer = dump->messages[call->first_message + i].peer;

		if (peer >= 0 && (uint32_t)peer < group->member_count &&
		    group->members[peer].dump == op->dump)
			return true;
	}
	return false;
}

/* Is it what the first culprit should have called after its last call? */
static bool is_expected(const struct judge *j, const struct wait_op *op)
{
	const struct hang_group *group = &j->model->groups[op->group];
	const struct hang_member *member = tsi_hang_member(group, op->culprits[0]);
	const struct dump *dump =
		member && member->dump != NO_DUMP ? &j->model->dumps[member->dump] : NULL;
	const struct dump_call *usual[HANG_MAX_EXPECTED];
	size_t count = dump ? tsi_hang_expect(dump, dump->call_count, usual) : 0;

	for (size_t i = 0; i < count; i++)
		if (is_call_of(dump, usual[i], op, group))
			return true;
	return false;
}

/* Did the rank that waits make the call right after one that was the culprit's last? */
static bool is_next(const struct judge *j, const struct wait_op *op)
{
	const struct hang_member *member =
		tsi_hang_member(&j->model->groups[op->group], op->culprits[0]);
	const struct dump *own = &j->model->dumps[op->dump];
	const struct dump *dump =
		member && member->dump != NO_DUMP ? &j->model->dumps[member->dump] : NULL;
	size_t index = (size_t)(op->call - own->calls);

	if (!dump || dump->call_count == 0 || index == 0)
		return false;
	const struct dump_call *last = &dump->calls[dump->call_count - 1];
	const struct dump_call *before = &own->calls[index - 1];
	return !last->is_p2p && !before->is_p2p && last->group == before->group &&
	       last->sequence == before->sequence;
}

/*
 * Among ops with the same culprit, first the one that it should have called, else the one that
 * began first.
 */
static bool comes_before(const struct judge *j, const struct wait_op *a, const struct wait_op *b)
{
	int a_score = 2 * is_expected(j, a) + is_next(j, a);
	int b_score = 2 * is_expected(j, b) + is_next(j, b);

	return a_score != b_score ? a_score > b_score : compare_since(a, b) < 0;
}

/* The root that most ranks wait for; of those with the same culprit that which it missed first. */
static void choose(const struct judge *j)
{
	struct hang_verdict *verdict = j->verdict;
	const struct wait_op *best = NULL;

	for (uint32_t i = 0; i < verdict->op_count; i++)
		if (verdict->ops[i].root != NO_DUMP)
			verdict->ops[verdict->ops[i].root].weight += verdict->ops[i].caller_count;
	for (uint32_t i = 0; i < verdict->op_count; i++) {
		const struct wait_op *op = &verdict->ops[i];

		if (op->root != i || op->kind == HANG_NONE)
			continue;
		if (!best || certainty(op) > certainty(best) ||
		    (certainty(op) == certainty(best) && op->weight > best->weight))
			best = op;
	}
	for (uint32_t i = 0; i < verdict->op_count && best; i++) {
		const struct wait_op *op = &verdict->ops[i];

		if (op != best && op->kind == best->kind && op->root == i &&
		    shares_culprit(op, best) && comes_before(j, op, best))
			best = op;
	}
	verdict->op = best;
	verdict->kind = best ? best->kind : HANG_NONE;
	if (!best && verdict->op_count > 0) {
		verdict->op = &verdict->ops[0];
		verdict->kind = HANG_UNDECIDED;
	}
}

void tsi_hang_choose(struct hang_verdict *verdict, const struct hang_model *model,
		     struct arena *arena)
{
	struct judge j = { verdict, model, arena };

	spread_roots(&j);
	find_cycles(&j);
	choose(&j);
}
