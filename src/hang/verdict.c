/* SPDX-License-Identifier: MIT */
#include "hang/verdict.h"

#include "base/hash.h"
#include "base/key_map.h"
#include "base/sort.h"
#include "base/sum.h"

enum { LIVE_NS = 2000000000 }; /* dumps this young after the last call show no hang */

static const char *const kind_names[] = { HANG_KINDS(TSI_NAMED_TEXT) };

const char *tsi_hang_kind_name(enum hang_kind kind)
{
	return kind_names[kind];
}

/* A judgement in the making. */
struct judge {
	struct hang_verdict *verdict;
	const struct hang_model *model;
	struct arena *arena;
	struct key_map ops; /* (group, sequence) hashed: op */
};

/* ---- who waits in what --------------------------------------------------------------------- */

static void find_heads(struct judge *j)
{
	const struct hang_model *model = j->model;

	for (size_t i = 0; i < model->dump_count; i++) {
		const struct dump *dump = &model->dumps[i];

		for (size_t k = 0; k < dump->call_count && !j->verdict->heads[i]; k++)
			if (tsi_call_is_pending(&dump->calls[k]))
				j->verdict->heads[i] = &dump->calls[k];
	}
}

static uint64_t key_of(const struct dump_call *call)
{
	return tsi_fold_multiply((uint64_t)call->sequence ^ UINT64_C(0xd6e8feb86659fd93),
				 (uint64_t)call->group + UINT64_C(0x9e3779b97f4a7c15));
}

static bool is_op_of(const struct wait_op *op, const struct dump_call *call)
{
	return !call->is_p2p && !op->call->is_p2p && op->group == call->group &&
	       op->call->sequence == call->sequence;
}

static void add_op(struct judge *j, uint32_t dump, const struct dump_call *call)
{
	struct hang_verdict *verdict = j->verdict;
	uint32_t index = call->is_p2p ? UINT32_MAX : tsi_key_map_find(&j->ops, key_of(call));

	if (index == UINT32_MAX || !is_op_of(&verdict->ops[index], call)) {
		index = verdict->op_count++;
		verdict->ops[index] = (struct wait_op){
			.group = call->group, .dump = dump, .call = call, .root = NO_DUMP
		};
		if (!call->is_p2p &&
		    tsi_key_map_put(&j->ops, key_of(call), index, NULL) != TSCOPE_OK)
			j->arena->has_failed = true;
	}
	verdict->ops[index].caller_count++;
	verdict->op_of[dump] = index;
}

static void span(struct wait_op *op, const struct dump_call *call)
{
	if (call->created_ns == 0)
		return;
	if (op->since_ns == 0 || call->created_ns < op->since_ns)
		op->since_ns = call->created_ns;
	if (call->created_ns > op->latest_ns)
		op->latest_ns = call->created_ns;
}

/* ---- whom it waits for --------------------------------------------------------------------- */

static void add_blocker(struct wait_op *op, uint32_t dump, bool is_absent)
{
	op->blockers[op->blocker_count++] = (struct blocker){ dump, is_absent };
}

/* Did the member call what its buffer may have lost? It would have to be older than that. */
static bool may_have_lost(const struct hang_model *model, const struct hang_member *member,
			  const struct wait_op *op)
{
	const struct dump *dump = &model->dumps[member->dump];

	return dump->has_lost && member->collective_count == 0 && op->since_ns != 0 &&
	       dump->first_ns > op->since_ns;
}

static void judge_member(struct judge *j, struct wait_op *op, const struct hang_member *member)
{
	const struct dump_call *call;
	int64_t sequence = op->call->sequence;

	if (member->dump == NO_DUMP) {
		op->missing_count++;
		return;
	}
	call = tsi_hang_call(j->model, member, sequence);
	op->peer_call_count += call != NULL || member->last_enqueued >= sequence;
	if (call && tsi_call_is_pending(call)) {
		span(op, call);
		if (call != j->verdict->heads[member->dump] && call->state != CALL_STARTED)
			add_blocker(op, member->dump, false);
	} else if (!call && member->last_enqueued < sequence) {
		if (may_have_lost(j->model, member, op))
			op->unknown_count++;
		else
			add_blocker(op, member->dump, true);
	}
}

static void find_blockers(struct judge *j, struct wait_op *op)
{
	const struct hang_group *group = &j->model->groups[op->group];

	span(op, op->call);
	op->blockers = tsi_arena_new(j->arena, group->member_count, sizeof(*op->blockers));
	for (uint32_t i = 0; i < group->member_count && op->blockers; i++)
		judge_member(j, op, &group->members[i]);
}

/* A rank at the other end of several messages is one that keeps them from completing. */
static void add_peer(struct wait_op *op, uint32_t dump, bool is_absent)
{
	for (uint32_t i = 0; i < op->blocker_count; i++) {
		if (op->blockers[i].dump != dump)
			continue;
		op->blockers[i].is_absent |= is_absent;
		return;
	}
	add_blocker(op, dump, is_absent);
}

/* Blockers of messages: peers that have not called, or wait elsewhere. */
static void find_message_blockers(struct judge *j, struct wait_op *op)
{
	const struct dump *dump = &j->model->dumps[op->dump];
	uint32_t count = op->call->message_count;

	span(op, op->call);
	if (count > HANG_MAX_MESSAGES)
		count = HANG_MAX_MESSAGES;
	op->blockers = tsi_arena_new(j->arena, count, sizeof(*op->blockers));
	for (uint32_t i = 0; i < count && op->blockers; i++) {
		struct message_end end = tsi_hang_other_end(
			j->model, op->dump, &dump->messages[op->call->first_message + i]);

		op->peer_call_count += end.call != NULL;
		if (end.dump == NO_DUMP)
			op->missing_count++;
		else if (!end.call)
			add_peer(op, end.dump, true);
		else if (tsi_call_is_pending(end.call) && end.call != j->verdict->heads[end.dump] &&
			 end.call->state != CALL_STARTED)
			add_peer(op, end.dump, false);
	}
}

/* ---- what is wrong with it by itself --------------------------------------------------------- */

static int64_t waited_ns(const struct wait_op *op, const struct dump_call *call)
{
	return tsi_difference(op->since_ns, call->created_ns);
}

/* All called it: some after the others had given up? */
static void find_late(struct judge *j, struct wait_op *op)
{
	const struct hang_group *group = &j->model->groups[op->group];
	int64_t timeout_ns = op->call->timeout_ns, late_from_ns = timeout_ns - timeout_ns / 10;
	uint32_t late_count = 0;

	if (timeout_ns == 0 || tsi_difference(op->since_ns, op->latest_ns) < late_from_ns)
		return;
	for (uint32_t i = 0; i < group->member_count; i++) {
		const struct hang_member *member = &group->members[i];
		const struct dump_call *call = tsi_hang_call(j->model, member, op->call->sequence);

		if (!call || call->created_ns == 0 || waited_ns(op, call) < late_from_ns)
			continue;
		tsi_hang_blame(op, j->arena, member->rank);
		late_count++;
	}
	if (late_count > 0 && 2 * late_count <= op->peer_call_count)
		op->kind = HANG_LATE;
	else
		op->culprit_count = 0;
}

/* All called it: some devices began it, and a few did not? */
static void find_not_started(struct judge *j, struct wait_op *op)
{
	const struct hang_group *group = &j->model->groups[op->group];
	uint32_t begun = 0;

	for (uint32_t i = 0; i < group->member_count; i++) {
		const struct hang_member *member = &group->members[i];
		const struct dump_call *call = tsi_hang_call(j->model, member, op->call->sequence);

		if (call && call->state == CALL_SCHEDULED)
			tsi_hang_blame(op, j->arena, member->rank);
		begun += call && call->state != CALL_SCHEDULED;
	}
	if (op->culprit_count > 0 && begun > op->culprit_count)
		op->kind = HANG_NOT_STARTED;
	else
		op->culprit_count = 0;
}

/* Members without a dump, in the order of ranks; of messages those that are waited for. */
static void blame_missing(struct judge *j, struct wait_op *op)
{
	const struct hang_group *group = &j->model->groups[op->group];
	const struct dump *dump = &j->model->dumps[op->dump];

	op->kind = HANG_NO_DUMP;
	for (uint32_t i = 0; i < group->member_count && !op->call->is_p2p; i++)
		if (group->members[i].dump == NO_DUMP)
			tsi_hang_blame(op, j->arena, group->members[i].rank);
	for (uint32_t i = 0; i < op->call->message_count && i < HANG_MAX_MESSAGES; i++) {
		int32_t peer = dump->messages[op->call->first_message + i].peer;

		if (peer >= 0 && (uint32_t)peer < group->member_count &&
		    group->members[peer].dump == NO_DUMP)
			tsi_hang_blame(op, j->arena, group->members[peer].rank);
	}
}

static void blame_absent(struct judge *j, struct wait_op *op)
{
	for (uint32_t i = 0; i < op->blocker_count; i++) {
		const struct blocker *blocker = &op->blockers[i];

		if (blocker->is_absent && !j->verdict->heads[blocker->dump]) {
			op->kind = HANG_MISSING_CALL;
			tsi_hang_blame(op, j->arena, j->model->dumps[blocker->dump].rank);
		}
	}
}

static void judge_op(struct judge *j, struct wait_op *op)
{
	if (op->call->is_p2p) {
		find_message_blockers(j, op);
		tsi_hang_compare_messages(op, j->model, j->verdict, j->arena);
	} else {
		find_blockers(j, op);
		tsi_hang_compare(op, j->model, j->arena);
	}
	if (op->kind != HANG_NONE)
		return;
	blame_absent(j, op);
	if (op->kind != HANG_NONE || op->blocker_count > 0)
		return;
	if (op->missing_count > 0) {
		blame_missing(j, op);
	} else if (op->unknown_count > 0) {
		op->kind = HANG_UNDECIDED;
	} else {
		find_late(j, op);
		if (op->kind == HANG_NONE && !op->call->is_p2p)
			find_not_started(j, op);
		if (op->kind == HANG_NONE)
			op->kind = HANG_UNFINISHED;
	}
}

/* ---- what is said of it --------------------------------------------------------------------- */

/* How long after the last call of those who wait the dumps were written: the longest. */
static void find_age(struct judge *j)
{
	struct hang_verdict *verdict = j->verdict;

	verdict->age_ns = -1;
	for (size_t i = 0; i < j->model->dump_count; i++) {
		const struct dump *dump = &j->model->dumps[i];
		const struct dump_call *head = verdict->heads[i];

		if (!head || head->created_ns == 0 || dump->written_ns < head->created_ns)
			continue;
		int64_t age_ns = tsi_difference(head->created_ns, dump->written_ns);
		if (age_ns > verdict->age_ns)
			verdict->age_ns = age_ns;
	}
	if (verdict->age_ns >= 0 && verdict->age_ns < LIVE_NS &&
	    (verdict->kind == HANG_MISSING_CALL || verdict->kind == HANG_UNFINISHED ||
	     verdict->kind == HANG_NOT_STARTED))
		verdict->kind = HANG_IN_FLIGHT;
}

static void find_lag(struct judge *j)
{
	struct hang_verdict *verdict = j->verdict;
	const struct wait_op *op = verdict->op;
	const struct hang_group *group = op ? &j->model->groups[op->group] : NULL;
	int64_t first = INT64_MAX, last = 0;

	if (!op || verdict->kind != HANG_MISSING_CALL || op->call->is_p2p)
		return;
	for (uint32_t i = 0; i < group->member_count; i++) {
		const struct hang_member *member = &group->members[i];

		if (member->dump == NO_DUMP)
			continue;
		if (member->last_enqueued > last)
			last = member->last_enqueued;
		if (member->rank == op->culprits[0])
			first = member->last_enqueued;
	}
	/* For a rank that never called one, nothing says where the numbers begin. */
	if (first >= 0 && first < last)
		verdict->behind_count = tsi_difference(first, last);
}

void tsi_hang_judge(struct hang_verdict *verdict, const struct hang_model *model,
		    struct arena *arena)
{
	struct judge j = { .verdict = verdict, .model = model, .arena = arena };

	*verdict = (struct hang_verdict){ .age_ns = -1 };
	verdict->heads = tsi_arena_new(arena, model->dump_count, sizeof(*verdict->heads));
	verdict->op_of = tsi_arena_new(arena, model->dump_count, sizeof(*verdict->op_of));
	verdict->ops = tsi_arena_new(arena, model->dump_count, sizeof(*verdict->ops));
	if (!verdict->heads || !verdict->op_of || !verdict->ops)
		return;
	find_heads(&j);
	for (uint32_t i = 0; i < model->dump_count; i++) {
		verdict->op_of[i] = NO_DUMP;
		if (verdict->heads[i])
			add_op(&j, i, verdict->heads[i]);
	}
	for (uint32_t i = 0; i < verdict->op_count && !arena->has_failed; i++)
		judge_op(&j, &verdict->ops[i]);
	tsi_key_map_deinit(&j.ops);
	if (arena->has_failed)
		return;
	tsi_hang_choose(verdict, model, arena);
	find_age(&j);
	find_lag(&j);
	if (verdict->kind == HANG_LATE)
		verdict->late_ns = tsi_difference(verdict->op->since_ns, verdict->op->latest_ns);
}
