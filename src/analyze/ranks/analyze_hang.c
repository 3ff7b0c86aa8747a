/* SPDX-License-Identifier: MIT */
/*
 * Why a job stands still, from the flight-recorder dumps of its ranks: the verdict of src/hang/ as
 * facts, and around it where each rank stands.
 */
#include "analyze/facts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/rank_text.h"
#include "base/sort.h"
#include "base/sum.h"
#include "hang/hang_file.h"

#define FACTS(X)                                                                                   \
	X(DUMP_COUNT, "dump_count", COUNT, "ranks whose dump was read")                            \
	X(WORLD_SIZE, "world_size", COUNT, "ranks that the groups name")                           \
	X(MISSING_COUNT, "missing_count", COUNT, "of them, those without a dump that can be read") \
	X(MISSING_RANKS, "missing_ranks", TEXT, "these ranks")                                     \
	X(UNREADABLE_COUNT, "unreadable_count", COUNT, "dumps that cannot be read")                \
	X(LOST_COUNT, "lost_count", COUNT, "dumps whose ring buffer lost the beginning")           \
	X(GROUP_COUNT, "group_count", COUNT, "groups that were used")                              \
	X(CALL_COUNT, "call_count", COUNT, "collectives and messages in all dumps")                \
	X(PENDING_COUNT, "pending_count", COUNT, "of them, those that are not complete")           \
	X(KIND, "kind", TEXT,                                                                      \
	  "why the job waits: missing_call, other_collective, size, dtype, count, root, split, "   \
	  "peer, order, late, not_started, unfinished, no_dump; else none, in_flight, undecided")  \
	X(IS_HANG, "is_hang", FLAG, "ranks wait for what does not come")                           \
	X(CULPRIT_COUNT, "culprit_count", COUNT, "ranks that are to blame; 0: none is named")      \
	X(CULPRITS, "culprit_ranks", TEXT, "these ranks")                                          \
	X(CULPRIT, "culprit_rank", COUNT, "the first of them")                                     \
	X(IS_TIE, "is_tie", FLAG, "any of them may be to blame: nothing tells who is right")       \
	X(CALL, "call", TEXT, "the call that ranks wait in")                                       \
	X(COLLECTIVE, "collective", TEXT, "its operation")                                         \
	X(SEQUENCE, "sequence", COUNT, "its number in the group")                                  \
	X(GROUP, "group", TEXT, "name of its group")                                               \
	X(DESCRIPTION, "group_description", TEXT, "what the job calls the group")                  \
	X(GROUP_RANKS, "group_ranks", TEXT, "its ranks")                                           \
	X(GROUP_SIZE, "group_size", COUNT, "how many they are")                                    \
	X(DETAIL, "detail", TEXT, "what differs between the ranks")                                \
	X(WAITING_COUNT, "waiting_count", COUNT, "ranks that wait in the call")                    \
	X(WAITING_RANKS, "waiting_ranks", TEXT, "these ranks")                                     \
	X(BLOCKED_COUNT, "blocked_count", COUNT,                                                   \
	  "ranks that wait for it, in the call or behind others that do")                          \
	X(SINCE_NS, "since_ns", NS, "when the first of them called it (Unix time)")                \
	X(TIMEOUT_NS, "timeout_ns", NS, "after which its group gives up")                          \
	X(AGE_NS, "age_ns", NS, "in_flight: from the oldest call to when its dump was written")    \
	X(BEHIND_COUNT, "behind_count", COUNT, "collectives of the group that the culprit lags")   \
	X(LATE_NS, "late_ns", NS, "from the first call to the last")                               \
	X(STARTED_RANKS, "started_ranks", TEXT, "ranks whose device began it and is not done")     \
	X(COMPLETED_RANKS, "completed_ranks", TEXT, "ranks that completed it")                     \
	X(HOST_COUNT, "host_count", COUNT,                                                         \
	  "hosts of its group's ranks, where all dumps name theirs")                               \
	X(HOST, "host", TEXT, "the host that the ranks share on which the call stands still")      \
	X(SHARED_HOSTS, "shared_hosts", TEXT,                                                      \
	  "the one or two hosts that every call which stands still has ranks on")                  \
	X(CULPRIT_CALL, "culprit_call", TEXT, "the call that the culprit waits in, or its last")   \
	X(CULPRIT_STATE, "culprit_state", TEXT, "its state: scheduled, started, completed")        \
	X(CULPRIT_TIME, "culprit_call_ns", NS, "when the culprit made it (Unix time)")             \
	X(CULPRIT_SITE, "culprit_site", TEXT, "the line of the program that made it")              \
	X(TRACE_PLACE, "trace_place", TEXT,                                                        \
	  "operator, module and function that are open where the culprit's own trace ends, if it " \
	  "lasts as long as others wait")                                                          \
	X(TRACE_AFTER, "trace_after_ns", NS, "how long they have waited by then")                  \
	X(WAITER, "waiter_rank", COUNT, "one of those who wait")                                   \
	X(WAITER_SITE, "waiter_site", TEXT, "the line of the program where it waits")              \
	X(LAST_NS, "last_ns", NS, "the last time in any dump (Unix time)")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define RANK_COLUMNS(X)                                                                            \
	X(RANK_RANK, "rank", COUNT, "rank")                                                        \
	X(RANK_ROLE, "role", TEXT, "culprit, waiting, blocked, idle or missing")                   \
	X(RANK_CALL, "call", TEXT, "the first call that is not complete, or its last")             \
	X(RANK_STATE, "state", TEXT, "scheduled, started or completed")                            \
	X(RANK_CREATED, "created_ns", NS, "when it was made (Unix time)")                          \
	X(RANK_AGE, "age_ns", NS, "from then to the last time in any dump")                        \
	X(RANK_SITE, "site", TEXT, "the line of the program that made it")

TSI_FACT_LIST(enum rank_column, rank_columns, RANK_COLUMNS);

#define GROUP_COLUMNS(X)                                                                           \
	X(GROUP_ROW_GROUP, "group", TEXT, "group")                                                 \
	X(GROUP_ROW_RANK, "rank", COUNT, "rank")                                                   \
	X(GROUP_ROW_COLLECTIVE, "collective", TEXT, "its last collective in the group")            \
	X(GROUP_ROW_SEQUENCE, "sequence", COUNT, "the number of that")                             \
	X(GROUP_ROW_STATE, "state", TEXT, "scheduled, started or completed")                       \
	X(GROUP_ROW_BEHIND, "behind_count", COUNT, "collectives that others are ahead")            \
	X(GROUP_ROW_COMPLETED, "completed", COUNT, "the last that completed")                      \
	X(GROUP_ROW_CREATED, "created_ns", NS, "when the last was made (Unix time)")               \
	X(GROUP_ROW_AGE, "age_ns", NS, "from then to the last time in any dump")

TSI_FACT_LIST(enum group_column, group_columns, GROUP_COLUMNS);

#define STACK_COLUMNS(X)                                                                           \
	X(STACK_RANK, "rank", COUNT, "rank")                                                       \
	X(STACK_ROLE, "role", TEXT, "culprit or waiting")                                          \
	X(STACK_FUNCTION, "function", TEXT, "function")                                            \
	X(STACK_PLACE, "place", TEXT, "file and line")                                             \
	X(STACK_LIBRARY, "is_library", FLAG, "code of torch or Python itself")

TSI_FACT_LIST(enum stack_column, stack_columns, STACK_COLUMNS);

#define CHAIN_COLUMNS(X)                                                                           \
	X(CHAIN_RANKS, "ranks", TEXT, "ranks that wait in the call")                               \
	X(CHAIN_CALL, "call", TEXT, "the call")                                                    \
	X(CHAIN_FOR, "waits_for", TEXT, "ranks that have not come to it")

TSI_FACT_LIST(enum chain_column, chain_columns, CHAIN_COLUMNS);

#define SLOW_COLUMNS(X)                                                                            \
	X(SLOW_CALL, "call", TEXT, "the collective")                                               \
	X(SLOW_RANK, "rank", COUNT, "the rank that it took longest on")                            \
	X(SLOW_NS, "duration_ns", NS, "from its call, or its start where recorded, to its end")

TSI_FACT_LIST(enum slow_column, slow_columns, SLOW_COLUMNS);

#define LATEST_COLUMNS(X)                                                                          \
	X(LATEST_NS, "time_ns", NS, "time of the rank's host (Unix time)")                         \
	X(LATEST_BEFORE, "before_end_ns", NS, "from then to the last time in any dump")            \
	X(LATEST_RANK, "rank", COUNT, "rank")                                                      \
	X(LATEST_CALL, "call", TEXT, "the call that it made")                                      \
	X(LATEST_STATE, "state", TEXT, "what became of it")

TSI_FACT_LIST(enum latest_column, latest_columns, LATEST_COLUMNS);

#define TABLES(X)                                                                                  \
	X(RANKS, "ranks", rank_columns, "where each rank stands, the culprits first")              \
	X(STACKS, "stacks", stack_columns, "stacks of the culprit and of one rank that waits")     \
	X(CHAIN, "chain", chain_columns, "calls that wait for one another")                        \
	X(GROUPS, "groups", group_columns, "the last collective of each rank in each group")       \
	X(SLOWEST, "slowest", slow_columns, "the slowest collectives in the dumps")                \
	X(LATEST, "latest", latest_columns,                                                        \
	  "the last calls of all ranks by their clocks, the latest first")

TSI_TABLE_LIST(enum table, tables, TABLES);

enum { SHOWN_SLOWEST = 20, SHOWN_LATEST = 50, SHOWN_GROUP_ROWS = 1 << 16 };

static const char *const states[] = { "scheduled", "started", "completed" };

/* Shared input of all parts. */
struct view {
	const struct tscope_hang *hang;
	const struct hang_model *model;
	const struct hang_verdict *verdict;
	struct fact_sheet *out;
	struct arena *scratch;
};

/* ---- words --------------------------------------------------------------------------------- */

static struct tscope_value time_or_absent(int64_t time_ns)
{
	return time_ns > 0 ? tsi_int(time_ns) : (struct tscope_value){ 0 };
}

static void put_time(struct fact_sheet *out, enum fact fact, int64_t time_ns)
{
	if (time_ns > 0)
		tsi_fact_int(out, fact, time_ns);
}

/* A copy, unless there is nothing to say. */
static void put_text(const struct view *v, enum fact fact, const char *text)
{
	if (text && *text)
		tsi_fact_text(v->out, fact, tsi_sheet_print(v->out, "%s", text));
}

static const char *call_name(const struct view *v, const struct dump *dump,
			     const struct dump_call *call)
{
	return tsi_sheet_print(v->out, "%s", tsi_hang_call_name(v->model, v->scratch, dump, call));
}

/* NULL: nobody. */
static const char *end_ranks(const struct view *v, struct rank_text *ranks)
{
	tsi_rank_text_end(ranks);
	return ranks->text[0] ? tsi_sheet_print(v->out, "%s", ranks->text) : NULL;
}

static void put_ranks(const struct view *v, enum fact fact, struct rank_text *ranks)
{
	const char *text = end_ranks(v, ranks);

	if (text)
		tsi_fact_text(v->out, fact, text);
}

/* The call that a rank waits in, else its last; NULL: it made none. */
static const struct dump_call *call_of(const struct view *v, size_t dump)
{
	const struct dump *of = &v->model->dumps[dump];

	if (v->verdict->heads[dump])
		return v->verdict->heads[dump];
	return of->call_count ? &of->calls[of->call_count - 1] : NULL;
}

static bool is_culprit(const struct view *v, int64_t rank)
{
	return v->verdict->op && v->verdict->kind > HANG_UNDECIDED &&
	       tsi_hang_is_blamed(v->verdict->op, rank);
}

static bool is_waiting(const struct view *v, size_t dump)
{
	const struct hang_verdict *verdict = v->verdict;

	return verdict->op && verdict->op_of[dump] != NO_DUMP &&
	       &verdict->ops[verdict->op_of[dump]] == verdict->op;
}

static const char *role_of(const struct view *v, size_t dump)
{
	if (is_culprit(v, v->model->dumps[dump].rank))
		return "culprit";
	if (is_waiting(v, dump))
		return "waiting";
	return v->verdict->heads[dump] ? "blocked" : "idle";
}

/* ---- facts --------------------------------------------------------------------------------- */

static void fill_missing(const struct view *v)
{
	struct rank_text ranks = { .text = "" };
	size_t at = 0;

	for (size_t i = 0; i < v->model->world_count; i++) {
		while (at < v->model->dump_count && v->model->dumps[at].rank < v->model->world[i])
			at++;
		if (at == v->model->dump_count || v->model->dumps[at].rank != v->model->world[i])
			tsi_rank_text_add(&ranks, v->model->world[i]);
	}
	tsi_fact_int(v->out, MISSING_COUNT,
		     (int64_t)(v->model->world_count - v->model->dump_count));
	put_ranks(v, MISSING_RANKS, &ranks);
}

static void fill_input(const struct view *v)
{
	int64_t lost = 0, calls = 0, pending = 0, unreadable = 0, groups = 0;

	for (size_t i = 0; i < v->model->dump_count; i++) {
		const struct dump *dump = &v->model->dumps[i];

		lost += dump->has_lost;
		calls += (int64_t)dump->call_count;
		for (size_t k = 0; k < dump->call_count; k++)
			pending += tsi_call_is_pending(&dump->calls[k]);
	}
	for (size_t i = 0; i < v->hang->input_count; i++)
		unreadable += v->hang->inputs[i].failure != NULL;
	for (size_t i = 0; i < v->model->group_count; i++)
		groups += v->model->groups[i].is_used;
	tsi_fact_int(v->out, DUMP_COUNT, (int64_t)v->model->dump_count);
	tsi_fact_int(v->out, WORLD_SIZE, (int64_t)v->model->world_count);
	tsi_fact_int(v->out, UNREADABLE_COUNT, unreadable);
	tsi_fact_int(v->out, LOST_COUNT, lost);
	tsi_fact_int(v->out, GROUP_COUNT, groups);
	tsi_fact_int(v->out, CALL_COUNT, calls);
	tsi_fact_int(v->out, PENDING_COUNT, pending);
	put_time(v->out, LAST_NS, v->model->last_ns);
	fill_missing(v);
}

static void fill_call(const struct view *v)
{
	const struct wait_op *op = v->verdict->op;
	const struct hang_group *group = &v->model->groups[op->group];
	struct rank_text ranks = { .text = "" };

	for (uint32_t i = 0; i < group->member_count; i++)
		tsi_rank_text_add(&ranks, group->members[i].rank);
	tsi_fact_text(v->out, CALL, call_name(v, &v->model->dumps[op->dump], op->call));
	tsi_fact_text(v->out, COLLECTIVE, tsi_hang_text(v->model, op->call->name));
	tsi_fact_int(v->out, SEQUENCE, op->call->sequence);
	tsi_fact_text(v->out, GROUP, tsi_hang_text(v->model, group->name));
	put_text(v, DESCRIPTION, tsi_hang_text(v->model, group->description));
	put_ranks(v, GROUP_RANKS, &ranks);
	tsi_fact_int(v->out, GROUP_SIZE, group->member_count);
	put_time(v->out, SINCE_NS, op->since_ns);
	put_time(v->out, TIMEOUT_NS, op->call->timeout_ns);
	/* When a file was written is not in it: it counts where it says that there is no hang. */
	if (v->verdict->kind == HANG_IN_FLIGHT)
		tsi_fact_int(v->out, AGE_NS, v->verdict->age_ns);
	put_text(v, DETAIL, op->detail);
}

static void fill_states(const struct view *v)
{
	const struct wait_op *op = v->verdict->op;
	const struct hang_group *group = &v->model->groups[op->group];
	struct rank_text started = { .text = "" }, completed = { .text = "" };

	for (uint32_t i = 0; i < group->member_count && !op->call->is_p2p; i++) {
		const struct hang_member *member = &group->members[i];
		const struct dump_call *call = tsi_hang_call(v->model, member, op->call->sequence);

		if (call && call->state == CALL_STARTED)
			tsi_rank_text_add(&started, member->rank);
		if (call && call->state == CALL_COMPLETED)
			tsi_rank_text_add(&completed, member->rank);
	}
	put_ranks(v, STARTED_RANKS, &started);
	put_ranks(v, COMPLETED_RANKS, &completed);
}

static void fill_hosts(const struct view *v)
{
	struct hang_hosts hosts = tsi_hang_hosts(v->verdict, v->model, v->scratch);

	if (hosts.count > 0)
		tsi_fact_int(v->out, HOST_COUNT, (int64_t)hosts.count);
	put_text(v, HOST, hosts.stuck);
	if (hosts.shared[0])
		tsi_fact_text(v->out, SHARED_HOSTS,
			      tsi_sheet_print(v->out, "%.80s%s%.80s", hosts.shared[0],
					      hosts.shared[1] ? " and " : "",
					      hosts.shared[1] ? hosts.shared[1] : ""));
}

static void fill_waiting(const struct view *v)
{
	struct rank_text ranks = { .text = "" };
	const struct wait_op *op = v->verdict->op;
	bool is_first = true;
	int64_t count = 0;

	for (size_t i = 0; i < v->model->dump_count; i++) {
		const struct dump *dump = &v->model->dumps[i];

		if (!is_waiting(v, i) || is_culprit(v, dump->rank))
			continue;
		tsi_rank_text_add(&ranks, dump->rank);
		count++;
		if (!is_first)
			continue;
		is_first = false;
		tsi_fact_int(v->out, WAITER, dump->rank);
		put_text(v, WAITER_SITE,
			 tsi_hang_site(v->model, v->scratch, dump, v->verdict->heads[i]));
	}
	tsi_fact_int(v->out, WAITING_COUNT, count);
	put_ranks(v, WAITING_RANKS, &ranks);
	tsi_fact_int(v->out, BLOCKED_COUNT, (int64_t)op->weight);
}

static void fill_culprit(const struct view *v)
{
	const struct wait_op *op = v->verdict->op;
	struct rank_text ranks = { .text = "" };

	tsi_fact_int(v->out, CULPRIT_COUNT, op->culprit_count);
	if (op->culprit_count == 0)
		return;
	qsort(op->culprits, op->culprit_count, sizeof(*op->culprits), tsi_compare_numbers);
	for (uint32_t i = 0; i < op->culprit_count; i++)
		tsi_rank_text_add(&ranks, op->culprits[i]);
	put_ranks(v, CULPRITS, &ranks);
	tsi_fact_int(v->out, CULPRIT, op->culprits[0]);
	tsi_fact_flag(v->out, IS_TIE, op->is_tie);
	put_text(v, TRACE_PLACE, v->hang->trace_place);
	put_time(v->out, TRACE_AFTER, v->hang->trace_after_ns);
	size_t index = tsi_hang_dump_of(v->model, op->culprits[0]);
	const struct dump_call *call = index == SIZE_MAX ? NULL : call_of(v, index);
	if (!call)
		return;
	const struct dump *dump = &v->model->dumps[index];
	/* Omitted where it is in the same group as the call itself. */
	tsi_fact_text(v->out, CULPRIT_CALL,
		      call->group == op->group && !call->is_p2p
			      ? tsi_sheet_print(v->out, "%s #%" PRId64,
						tsi_hang_text(v->model, call->name), call->sequence)
			      : call_name(v, dump, call));
	tsi_fact_text(v->out, CULPRIT_STATE, states[call->state]);
	put_time(v->out, CULPRIT_TIME, call->created_ns);
	put_text(v, CULPRIT_SITE, tsi_hang_site(v->model, v->scratch, dump, call));
}

static void fill_verdict(const struct view *v)
{
	const struct hang_verdict *verdict = v->verdict;

	tsi_fact_text(v->out, KIND, tsi_hang_kind_name(verdict->kind));
	tsi_fact_flag(v->out, IS_HANG, verdict->kind >= HANG_UNDECIDED);
	if (!verdict->op)
		return;
	fill_call(v);
	fill_states(v);
	fill_hosts(v);
	fill_waiting(v);
	if (verdict->kind > HANG_UNDECIDED)
		fill_culprit(v);
	else
		tsi_fact_int(v->out, CULPRIT_COUNT, 0);
	if (verdict->behind_count > 0)
		tsi_fact_int(v->out, BEHIND_COUNT, verdict->behind_count);
	if (verdict->late_ns > 0)
		tsi_fact_int(v->out, LATE_NS, verdict->late_ns);
}

/* ---- tables -------------------------------------------------------------------------------- */

static struct tscope_value age_value(const struct view *v, int64_t created_ns)
{
	return created_ns > 0 ? tsi_int(tsi_difference(created_ns, v->model->last_ns))
			      : (struct tscope_value){ 0 };
}

static void put_rank(const struct view *v, size_t index)
{
	const struct dump *dump = &v->model->dumps[index];
	const struct dump_call *call = call_of(v, index);
	struct tscope_value *row = tsi_table_row(v->out, RANKS);

	row[RANK_RANK] = tsi_int(dump->rank);
	row[RANK_ROLE] = tsi_text(role_of(v, index));
	if (!call)
		return;
	const char *site = tsi_hang_site(v->model, v->scratch, dump, call);
	row[RANK_CALL] = tsi_text(call_name(v, dump, call));
	row[RANK_STATE] = tsi_text(states[call->state]);
	row[RANK_CREATED] = time_or_absent(call->created_ns);
	row[RANK_AGE] = age_value(v, call->created_ns);
	row[RANK_SITE] = tsi_text_if(*site ? tsi_sheet_print(v->out, "%s", site) : NULL);
}

/* Culprits, those who wait, the others. */
static void fill_ranks(const struct view *v)
{
	static const char *const order[] = { "culprit", "waiting", "blocked", "idle" };

	for (size_t k = 0; k < TSI_COUNT_OF(order); k++)
		for (size_t i = 0; i < v->model->dump_count; i++)
			if (strcmp(role_of(v, i), order[k]) == 0)
				put_rank(v, i);
}

static void put_stack(const struct view *v, size_t index, const char *role)
{
	const struct dump *dump = &v->model->dumps[index];
	const struct dump_call *call = call_of(v, index);

	for (uint32_t i = 0; call && i < call->frame_count; i++) {
		const struct dump_frame *frame = &dump->frames[call->first_frame + i];
		struct tscope_value *row = tsi_table_row(v->out, STACKS);

		row[STACK_RANK] = tsi_int(dump->rank);
		row[STACK_ROLE] = tsi_text(role);
		row[STACK_FUNCTION] = tsi_text(tsi_hang_text(v->model, frame->function));
		row[STACK_PLACE] = tsi_text(tsi_sheet_print(
			v->out, "%s:%" PRId64, tsi_hang_text(v->model, frame->file), frame->line));
		row[STACK_LIBRARY] = tsi_flag(
			tsi_hang_is_library(tsi_intern_text(&v->model->texts, frame->file)));
	}
}

static void put_first_stack(const struct view *v, const char *role)
{
	for (size_t i = 0; i < v->model->dump_count && v->verdict->op; i++) {
		if (strcmp(role_of(v, i), role) != 0)
			continue;
		put_stack(v, i, role);
		return;
	}
}

static void put_chain(const struct view *v, const struct wait_op *op)
{
	struct rank_text ranks = { .text = "" }, others = { .text = "" };
	struct tscope_value *row = tsi_table_row(v->out, CHAIN);

	for (size_t i = 0; i < v->model->dump_count; i++)
		if (v->verdict->op_of[i] != NO_DUMP && &v->verdict->ops[v->verdict->op_of[i]] == op)
			tsi_rank_text_add(&ranks, v->model->dumps[i].rank);
	for (uint32_t i = 0; i < op->blocker_count; i++)
		tsi_rank_text_add(&others, v->model->dumps[op->blockers[i].dump].rank);
	row[CHAIN_RANKS] = tsi_text_if(end_ranks(v, &ranks));
	row[CHAIN_CALL] = tsi_text(call_name(v, &v->model->dumps[op->dump], op->call));
	row[CHAIN_FOR] = tsi_text_if(end_ranks(v, &others));
}

/* A cycle, else the calls that most ranks wait in. */
static void fill_chain(const struct view *v)
{
	const struct hang_verdict *verdict = v->verdict;

	for (uint32_t i = 0; i < verdict->cycle_count && verdict->kind == HANG_ORDER; i++)
		put_chain(v, &verdict->ops[verdict->cycle[i]]);
	for (uint32_t i = 0; i < verdict->op_count && i < 64 && verdict->kind != HANG_ORDER; i++)
		put_chain(v, &verdict->ops[i]);
}

static void put_group(const struct view *v, const struct hang_member *member, const char *name,
		      int64_t most)
{
	const struct dump_call *call =
		member->collective_count
			? tsi_call_at(v->model, member, member->collective_count - 1)
			: NULL;
	struct tscope_value *row = tsi_table_row(v->out, GROUPS);

	row[GROUP_ROW_GROUP] = tsi_text(name);
	row[GROUP_ROW_RANK] = tsi_int(member->rank);
	if (member->last_completed >= 0)
		row[GROUP_ROW_COMPLETED] = tsi_int(member->last_completed);
	if (most >= 0 && member->last_enqueued >= 0)
		row[GROUP_ROW_BEHIND] = tsi_int(most - member->last_enqueued);
	if (!call)
		return;
	row[GROUP_ROW_COLLECTIVE] = tsi_text(tsi_hang_text(v->model, call->name));
	row[GROUP_ROW_SEQUENCE] = tsi_int(call->sequence);
	row[GROUP_ROW_STATE] = tsi_text(states[call->state]);
	row[GROUP_ROW_CREATED] = time_or_absent(call->created_ns);
	row[GROUP_ROW_AGE] = age_value(v, call->created_ns);
}

static void fill_groups(const struct view *v)
{
	size_t rows = 0;

	for (size_t i = 0; i < v->model->group_count && rows < SHOWN_GROUP_ROWS; i++) {
		const struct hang_group *group = &v->model->groups[i];
		const char *name;
		int64_t most = -1;

		if (!group->is_used)
			continue;
		name = tsi_sheet_print(v->out, "%s",
				       tsi_hang_group_name(v->model, v->scratch, (uint32_t)i));
		for (uint32_t k = 0; k < group->member_count; k++)
			if (group->members[k].last_enqueued > most)
				most = group->members[k].last_enqueued;
		for (uint32_t k = 0; k < group->member_count; k++, rows++)
			if (group->members[k].dump != NO_DUMP)
				put_group(v, &group->members[k], name, most);
	}
}

static void fill_latest(const struct view *v)
{
	struct ranked_call slow[SHOWN_SLOWEST], latest[SHOWN_LATEST];
	size_t slow_count = tsi_hang_slowest(v->model, slow, SHOWN_SLOWEST);
	size_t latest_count = tsi_hang_latest(v->model, latest, SHOWN_LATEST);

	for (size_t i = 0; i < slow_count; i++) {
		struct tscope_value *row = tsi_table_row(v->out, SLOWEST);
		const struct dump *dump = &v->model->dumps[slow[i].dump];

		row[SLOW_CALL] = tsi_text(call_name(v, dump, slow[i].call));
		row[SLOW_RANK] = tsi_int(dump->rank);
		row[SLOW_NS] = tsi_int(slow[i].key);
	}
	for (size_t i = 0; i < latest_count; i++) {
		struct tscope_value *row = tsi_table_row(v->out, LATEST);
		const struct dump *dump = &v->model->dumps[latest[i].dump];

		row[LATEST_NS] = tsi_int(latest[i].key);
		row[LATEST_BEFORE] = age_value(v, latest[i].key);
		row[LATEST_RANK] = tsi_int(dump->rank);
		row[LATEST_CALL] = tsi_text(call_name(v, dump, latest[i].call));
		row[LATEST_STATE] = tsi_text(states[latest[i].call->state]);
	}
}

static void fill_hang(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct tscope_hang *hang = scope->hang;
	const struct view v = { hang, &hang->model, &hang->verdict, out, tsi_sheet_scratch(out) };

	fill_input(&v);
	fill_verdict(&v);
	fill_ranks(&v);
	put_first_stack(&v, "culprit");
	put_first_stack(&v, "waiting");
	fill_chain(&v);
	fill_groups(&v);
	fill_latest(&v);
}

const struct analyzer tsi_analyzer_hang = {
	.def = {
		.id = "hang",
		.summary = "why a job stands still, from flight-recorder dumps",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "flight-recorder dumps",
	},
	.levels = LEVEL_HANG,
	.fill = fill_hang,
};
