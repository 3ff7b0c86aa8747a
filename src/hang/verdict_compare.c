/* SPDX-License-Identifier: MIT */
/*
 * Calls of all ranks under one number must agree: operation, number of tensors, elements, types,
 * and one root. The majority is taken to be right; of two sides alike the one whose rank never made
 * such a call before is wrong, and where that decides nothing either may be.
 *
 * Shapes may differ where elements agree: no library looks at them. So may the sizes of
 * all_to_all, whose sums over the group must agree.
 */
#include "hang/verdict.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/sum.h"

/* A member that made the call. */
struct caller {
	int64_t rank;
	const struct hang_member *member;
	const struct dump_call *call;
	uint64_t mark; /* what is compared */
};

struct callers {
	struct caller *items;
	uint32_t count;
	bool are_all;
};

void tsi_hang_blame(struct wait_op *op, struct arena *arena, int64_t rank)
{
	if ((op->culprit_count & (op->culprit_count - 1)) == 0) {
		size_t room = op->culprit_count ? 2 * (size_t)op->culprit_count : 1;
		int64_t *more = tsi_arena_new(arena, room, sizeof(*more));

		if (!more)
			return;
		if (op->culprit_count)
			memcpy(more, op->culprits, op->culprit_count * sizeof(*more));
		op->culprits = more;
	}
	op->culprits[op->culprit_count++] = rank;
}

bool tsi_hang_is_blamed(const struct wait_op *op, int64_t rank)
{
	for (uint32_t i = 0; i < op->culprit_count; i++)
		if (op->culprits[i] == rank)
			return true;
	return false;
}

static struct callers list_callers(const struct wait_op *op, const struct hang_model *model,
				   struct arena *arena)
{
	const struct hang_group *group = &model->groups[op->group];
	struct callers callers = { tsi_arena_new(arena, group->member_count, sizeof(struct caller)),
				   0, true };

	for (uint32_t i = 0; i < group->member_count && callers.items; i++) {
		const struct hang_member *member = &group->members[i];
		const struct dump_call *call = tsi_hang_call(model, member, op->call->sequence);

		if (call)
			callers.items[callers.count++] =
				(struct caller){ member->rank, member, call, 0 };
		else
			callers.are_all = false;
	}
	return callers;
}

/* The mark that most have; *count: how many. */
static uint64_t most_common(const struct callers *callers, uint32_t *count)
{
	uint64_t candidate = 0;
	uint32_t lead = 0;

	for (uint32_t i = 0; i < callers->count; i++) {
		uint64_t mark = callers->items[i].mark;

		if (lead == 0)
			candidate = mark;
		lead = lead == 0 || mark == candidate ? lead + 1 : lead - 1;
	}
	*count = 0;
	for (uint32_t i = 0; i < callers->count; i++)
		*count += callers->items[i].mark == candidate;
	return candidate;
}

/* Has the rank made a call like this one before? */
static bool has_precedent(const struct hang_model *model, const struct caller *caller)
{
	const struct dump_call *now = caller->call;

	for (uint32_t i = 0; i < caller->member->collective_count; i++) {
		const struct dump_call *call = tsi_call_at(model, caller->member, i);

		if (call->sequence >= now->sequence)
			break;
		if (call->name == now->name && call->input_count == now->input_count &&
		    call->output_count == now->output_count && call->types == now->types &&
		    call->tensor_count == now->tensor_count)
			return true;
	}
	return false;
}

/* No majority: those without precedent, if the others have one. */
static void blame_by_history(struct wait_op *op, const struct hang_model *model,
			     const struct callers *callers, struct arena *arena)
{
	uint32_t known = 0;

	for (uint32_t i = 0; i < callers->count; i++)
		known += has_precedent(model, &callers->items[i]);
	op->is_tie = known == 0 || known == callers->count;
	for (uint32_t i = 0; i < callers->count; i++)
		if (op->is_tie || !has_precedent(model, &callers->items[i]))
			tsi_hang_blame(op, arena, callers->items[i].rank);
}

/* Blames whoever is not of the majority; the first of these, and one of the majority. */
static bool blame_minority(struct wait_op *op, const struct hang_model *model,
			   const struct callers *callers, struct arena *arena)
{
	uint32_t count;
	uint64_t usual = most_common(callers, &count);

	if (count == callers->count)
		return false;
	if (2 * count <= callers->count) {
		blame_by_history(op, model, callers, arena);
		return true;
	}
	for (uint32_t i = 0; i < callers->count; i++)
		if (callers->items[i].mark != usual)
			tsi_hang_blame(op, arena, callers->items[i].rank);
	return true;
}

/* ---- what is compared ---------------------------------------------------------------------- */

static bool has_word(const struct hang_model *model, const struct dump_call *call, const char *word)
{
	return strstr(tsi_hang_text(model, call->name), word) != NULL;
}

/*
 * The side whose elements must be the same on all ranks. Of a gather and a scatter only the root
 * has both; tensors of all_gather and reduce_scatter may be uneven, but not their sum.
 */
static bool is_by_output(const struct hang_model *model, const struct dump_call *call)
{
	return (has_word(model, call, "scatter") && !has_word(model, call, "reduce")) ||
	       has_word(model, call, "all_gather") || has_word(model, call, "allgather") ||
	       has_word(model, call, "ALLGATHER") || has_word(model, call, "broadcast");
}

static void set_marks(const struct hang_model *model, struct callers *callers, enum hang_kind kind)
{
	bool by_output = is_by_output(model, callers->items[0].call);

	for (uint32_t i = 0; i < callers->count; i++) {
		const struct dump_call *call = callers->items[i].call;
		uint64_t *mark = &callers->items[i].mark;

		if (kind == HANG_OTHER_COLLECTIVE)
			*mark = call->name;
		else if (kind == HANG_COUNT)
			*mark = call->tensor_count;
		else if (kind == HANG_DTYPE)
			*mark = call->types;
		else
			*mark = (uint64_t)(by_output ? call->output_count : call->input_count);
	}
}

static const char *sizes_of(const struct hang_model *model, struct arena *arena,
			    const struct dump_call *call)
{
	const char *in = tsi_hang_text(model, call->inputs);
	const char *out = tsi_hang_text(model, call->outputs);

	if (*in && *out && strcmp(in, out) != 0)
		return tsi_arena_print(arena, "%.60s -> %.60s", in, out);
	return tsi_arena_print(arena, "%.80s", *in ? in : out);
}

static const char *words_of(const struct hang_model *model, struct arena *arena,
			    const struct dump_call *call, enum hang_kind kind)
{
	if (kind == HANG_OTHER_COLLECTIVE)
		return tsi_arena_print(arena, "%.60s %s", tsi_hang_text(model, call->name),
				       sizes_of(model, arena, call));
	if (kind == HANG_DTYPE)
		return tsi_hang_text(model, call->types);
	if (kind == HANG_COUNT)
		return tsi_arena_print(arena, "%" PRIu32 " tensors", call->tensor_count);
	return sizes_of(model, arena, call);
}

static bool is_same_call(const struct dump_call *a, const struct dump_call *b)
{
	return a && b && a->name == b->name && a->input_count == b->input_count &&
	       a->output_count == b->output_count && a->types == b->types;
}

/* Did one rank skip a call that the others make, or make one more? Their next calls show it. */
static const char *name_shift(const struct hang_model *model, const struct caller *culprit,
			      const struct caller *other)
{
	int64_t next = culprit->call->sequence + 1;

	if (culprit->call->sequence == INT64_MAX)
		return "";
	if (is_same_call(culprit->call, tsi_hang_call(model, other->member, next)))
		return "; it skipped this call: it makes the others' next one";
	if (is_same_call(other->call, tsi_hang_call(model, culprit->member, next)))
		return "; it made one call more than the others";
	return "";
}

/* "rank 6 calls all_gather [1024], the others all_reduce [4096]" */
static void describe(struct wait_op *op, const struct hang_model *model,
		     const struct callers *callers, struct arena *arena)
{
	const struct caller *wrong = NULL, *right = NULL;

	for (uint32_t i = 0; i < callers->count; i++) {
		const struct caller *caller = &callers->items[i];

		if (!wrong && tsi_hang_is_blamed(op, caller->rank))
			wrong = caller;
	}
	for (uint32_t i = 0; i < callers->count && wrong && !right; i++)
		if (callers->items[i].mark != wrong->mark)
			right = &callers->items[i];
	if (!wrong || !right)
		return;
	const char *shift = op->kind == HANG_OTHER_COLLECTIVE && !op->is_tie
				    ? name_shift(model, wrong, right)
				    : "";
	op->detail =
		tsi_arena_print(arena, "rank %" PRId64 " has %s, rank %" PRId64 " %s%s",
				wrong->rank, words_of(model, arena, wrong->call, op->kind),
				right->rank, words_of(model, arena, right->call, op->kind), shift);
}

static bool differ(struct wait_op *op, const struct hang_model *model, struct callers *callers,
		   enum hang_kind kind, struct arena *arena)
{
	set_marks(model, callers, kind);
	if (!blame_minority(op, model, callers, arena))
		return false;
	op->kind = kind;
	describe(op, model, callers, arena);
	return true;
}

/* Sent and received splits must add up. */
static void compare_splits(struct wait_op *op, const struct hang_model *model,
			   struct callers *callers, struct arena *arena)
{
	int64_t sent = 0, received = 0;
	for (uint32_t i = 0; i < callers->count; i++) {
		tsi_sum(&sent, callers->items[i].call->input_count);
		tsi_sum(&received, callers->items[i].call->output_count);
	}
	if (!callers->are_all || sent == received || sent == 0 || received == 0)
		return;
	op->kind = HANG_SPLIT;
	for (uint32_t i = 0; i < callers->count; i++)
		callers->items[i].mark =
			tsi_fold_multiply((uint64_t)callers->items[i].call->input_count ^
						  UINT64_C(0x9e3779b97f4a7c15),
					  (uint64_t)callers->items[i].call->output_count + 1);
	(void)blame_minority(op, model, callers, arena);
	if (op->is_tie) { /* sizes may differ by right: nobody is named */
		op->culprit_count = 0;
		op->is_tie = false;
	}
	op->detail = tsi_arena_print(
		arena, "its ranks send %" PRId64 " elements and receive %" PRId64, sent, received);
}

/* gather: only the root has outputs; scatter: inputs. Other roots are not recorded. */
static void compare_roots(struct wait_op *op, const struct callers *callers, bool is_gather,
			  struct arena *arena)
{
	const struct caller *roots[2] = { NULL, NULL };
	uint32_t count = 0;

	for (uint32_t i = 0; i < callers->count; i++) {
		const struct caller *caller = &callers->items[i];

		if (!(is_gather ? caller->call->has_outputs : caller->call->has_inputs))
			continue;
		if (count < 2)
			roots[count] = caller;
		count++;
	}
	if (count == 1 || (count == 0 && !callers->are_all) || callers->count < 2)
		return;
	op->kind = HANG_ROOT;
	if (count == 0) {
		op->detail = "no rank is its root";
		return;
	}
	op->is_tie = true;
	for (uint32_t i = 0; i < callers->count; i++)
		if (is_gather ? callers->items[i].call->has_outputs
			      : callers->items[i].call->has_inputs)
			tsi_hang_blame(op, arena, callers->items[i].rank);
	op->detail = tsi_arena_print(arena, "ranks %" PRId64 " and %" PRId64 " both are its root",
				     roots[0]->rank, roots[1]->rank);
}

void tsi_hang_compare(struct wait_op *op, const struct hang_model *model, struct arena *arena)
{
	struct callers callers = list_callers(op, model, arena);

	if (callers.count < 2 || differ(op, model, &callers, HANG_OTHER_COLLECTIVE, arena))
		return;
	const char *name = tsi_hang_text(model, callers.items[0].call->name);
	if (strstr(name, "to_all") || strstr(name, "toall")) {
		compare_splits(op, model, &callers, arena);
		if (op->kind == HANG_NONE)
			(void)differ(op, model, &callers, HANG_DTYPE, arena);
		return;
	}
	bool is_gather = strcmp(name, "gather") == 0, is_scatter = strcmp(name, "scatter") == 0;
	if (is_gather || is_scatter) {
		compare_roots(op, &callers, is_gather, arena);
		if (op->kind != HANG_NONE)
			return;
	} else if (differ(op, model, &callers, HANG_COUNT, arena)) {
		return;
	}
	if (!differ(op, model, &callers, HANG_SIZE, arena) && !is_gather && !is_scatter)
		(void)differ(op, model, &callers, HANG_DTYPE, arena);
}

/* ---- messages ------------------------------------------------------------------------------ */

/* Messages of a rank in one direction: the pending ones or, counted from the start, all. */
struct lane {
	const struct dump *dump;
	const struct hang_member *member;
	int32_t peer; /* place in the group */
	bool is_send, pending_only;
};

/*
 * The message that is number `wanted` in the lane, or is `of`; NULL: none. *number: how many come
 * before it.
 */
static const struct dump_message *find_message(const struct lane *lane, uint32_t wanted,
					       const struct dump_message *of, uint32_t *number)
{
	*number = 0;
	for (uint32_t i = 0; i < lane->member->message_call_count; i++) {
		const struct dump_call *call = &lane->dump->calls[lane->member->messages[i]];

		if (lane->pending_only && !tsi_call_is_pending(call))
			continue;
		for (uint32_t k = 0; k < call->message_count; k++) {
			const struct dump_message *message =
				&lane->dump->messages[call->first_message + k];

			if (message->is_send != lane->is_send || message->peer != lane->peer)
				continue;
			if (of ? message == of : *number == wanted)
				return message;
			++*number;
		}
	}
	return NULL;
}

static int32_t place_of(const struct hang_group *group, int64_t rank)
{
	const struct hang_member *member = tsi_hang_member(group, rank);

	return member ? (int32_t)(member - group->members) : -1;
}

struct message_end tsi_hang_other_end(const struct hang_model *model, uint32_t index,
				      const struct dump_message *message)
{
	const struct dump *dump = &model->dumps[index];
	const struct hang_group *group = &model->groups[dump->calls[message->call].group];
	struct message_end end = { NULL, NULL, NO_DUMP };

	if (message->peer < 0 || (uint32_t)message->peer >= group->member_count)
		return end;
	/* A dump may send in a group that, by what others say, its rank is none of. */
	const struct hang_member *member = tsi_hang_member(group, dump->rank);
	const struct hang_member *peer = &group->members[message->peer];
	if (!member || peer->dump == NO_DUMP)
		return end;
	end.dump = peer->dump;
	const struct dump *other = &model->dumps[peer->dump];
	bool pending_only = dump->has_lost || other->has_lost;
	struct lane own = { dump, member, message->peer, message->is_send, pending_only };
	struct lane theirs = { other, peer, (int32_t)(member - group->members), !message->is_send,
			       pending_only };
	uint32_t number;
	(void)find_message(&own, 0, message, &number);
	end.message = find_message(&theirs, number, NULL, &number);
	if (end.message)
		end.call = &other->calls[end.message->call];
	return end;
}

/*
 * Has the rank completed a message to this peer, or to another in this direction? Where older calls
 * are lost one in the other direction says that they are peers as well.
 */
static void find_habits(const struct dump *dump, const struct hang_member *member,
			const struct dump_message *like, bool *here, bool *elsewhere)
{
	*here = *elsewhere = false;
	for (uint32_t i = 0; i < member->message_call_count; i++) {
		const struct dump_call *call = &dump->calls[member->messages[i]];

		for (uint32_t k = 0; k < call->message_count && !tsi_call_is_pending(call); k++) {
			const struct dump_message *message =
				&dump->messages[call->first_message + k];

			if (message->is_send == like->is_send ||
			    (dump->has_lost && message->peer == like->peer))
				*(message->peer == like->peer ? here : elsewhere) = true;
		}
	}
}

/* Does another rank wait for a message of this rank that never comes? */
static bool is_awaited(const struct wait_op *op, const struct hang_model *model,
		       const struct hang_verdict *verdict, bool is_send)
{
	const struct hang_group *group = &model->groups[op->group];
	int32_t place = place_of(group, model->dumps[op->dump].rank);

	for (uint32_t i = 0; i < group->member_count; i++) {
		uint32_t dump = group->members[i].dump;
		const struct dump_call *head = dump == NO_DUMP ? NULL : verdict->heads[dump];

		if (!head || head->group != op->group || dump == op->dump)
			continue;
		for (uint32_t k = 0; k < head->message_count && k < HANG_MAX_MESSAGES; k++) {
			const struct dump_message *message =
				&model->dumps[dump].messages[head->first_message + k];

			if (message->peer == place && message->is_send != is_send &&
			    !tsi_hang_other_end(model, dump, message).call)
				return true;
		}
	}
	return false;
}

/* Did the rank send or receive as much before? */
static bool is_usual_size(const struct dump *dump, const struct dump_message *message)
{
	for (const struct dump_message *before = dump->messages; before < message; before++)
		if (before->count == message->count)
			return true;
	return false;
}

static bool compare_message(struct wait_op *op, const struct hang_model *model,
			    const struct hang_verdict *verdict, const struct dump_message *message,
			    struct arena *arena)
{
	const struct dump *dump = &model->dumps[op->dump];
	const struct hang_group *group = &model->groups[op->group];
	struct message_end end = tsi_hang_other_end(model, op->dump, message);
	bool here, elsewhere;

	if (end.message && end.message->count != message->count) {
		const struct dump *other = &model->dumps[end.dump];
		bool is_usual = is_usual_size(dump, message);
		bool is_theirs_usual = is_usual_size(other, end.message);

		op->kind = HANG_SIZE;
		op->is_tie = is_usual == is_theirs_usual;
		if (op->is_tie || !is_usual)
			tsi_hang_blame(op, arena, dump->rank);
		if (op->is_tie || !is_theirs_usual)
			tsi_hang_blame(op, arena, other->rank);
		op->detail = tsi_arena_print(
			arena,
			"rank %" PRId64 " %s %" PRId64 " elements, rank %" PRId64 " %s %" PRId64,
			dump->rank, message->is_send ? "sends" : "receives", message->count,
			other->rank, message->is_send ? "receives" : "sends", end.message->count);
		return true;
	}
	if (end.call || end.dump == NO_DUMP)
		return false;
	find_habits(dump, tsi_hang_member(group, dump->rank), message, &here, &elsewhere);
	if (here || !elsewhere || (verdict && !is_awaited(op, model, verdict, message->is_send)))
		return false;
	op->kind = HANG_PEER;
	tsi_hang_blame(op, arena, dump->rank);
	op->detail = tsi_arena_print(arena, "rank %" PRId64 " never %s rank %" PRId64 " before",
				     dump->rank, message->is_send ? "sent to" : "received from",
				     model->dumps[end.dump].rank);
	return true;
}

void tsi_hang_compare_messages(struct wait_op *op, const struct hang_model *model,
			       const struct hang_verdict *verdict, struct arena *arena)
{
	const struct dump *dump = &model->dumps[op->dump];

	for (uint32_t i = 0; i < op->call->message_count && i < HANG_MAX_MESSAGES; i++)
		if (compare_message(op, model, verdict,
				    &dump->messages[op->call->first_message + i], arena))
			return;
}
