/* SPDX-License-Identifier: MIT */
/* All ranks made the call: what do those share on which it stands still? */
#include "hang/verdict.h"

#include <stdlib.h>
#include <string.h>

/* Different hosts of ranks, by name; empty where a dump does not name its own. */
struct hosts {
	const char **names;
	size_t count;
	bool is_unknown;
};

static int compare_hosts(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static void add_host(struct hosts *hosts, const struct hang_model *model, uint32_t dump)
{
	if (dump == NO_DUMP || !*model->dumps[dump].host)
		hosts->is_unknown = true;
	else
		hosts->names[hosts->count++] = model->dumps[dump].host;
}

static void settle_hosts(struct hosts *hosts)
{
	size_t kept = 0;

	if (hosts->count > 0)
		qsort(hosts->names, hosts->count, sizeof(*hosts->names), compare_hosts);
	for (size_t i = 0; i < hosts->count && !hosts->is_unknown; i++)
		if (kept == 0 || strcmp(hosts->names[kept - 1], hosts->names[i]) != 0)
			hosts->names[kept++] = hosts->names[i];
	hosts->count = kept;
}

/* Does the call stand still on this member? */
static bool is_stuck(const struct wait_op *op, const struct hang_model *model,
		     const struct hang_member *member)
{
	const struct dump_call *call;

	if (op->kind == HANG_NOT_STARTED)
		return tsi_hang_is_blamed(op, member->rank);
	call = tsi_hang_call(model, member, op->call->sequence);
	return call && tsi_call_is_pending(call);
}

/* Those of all ranks of a call, or of those only on which it stands still. */
static struct hosts hosts_of(const struct wait_op *op, const struct hang_model *model,
			     bool only_stuck, struct arena *scratch)
{
	const struct hang_group *group = &model->groups[op->group];
	const struct dump *dump = &model->dumps[op->dump];
	size_t room = op->call->is_p2p ? op->call->message_count + (size_t)1 : group->member_count;
	struct hosts hosts = { tsi_arena_new(scratch, room, sizeof(*hosts.names)), 0, false };

	if (!hosts.names)
		return hosts;
	for (uint32_t i = 0; i < group->member_count && !op->call->is_p2p; i++)
		if (!only_stuck || is_stuck(op, model, &group->members[i]))
			add_host(&hosts, model, group->members[i].dump);
	for (uint32_t i = 0; i < op->call->message_count && op->call->is_p2p; i++) {
		int32_t peer = dump->messages[op->call->first_message + i].peer;
		bool is_known = peer >= 0 && (uint32_t)peer < group->member_count;

		add_host(&hosts, model, is_known ? group->members[peer].dump : NO_DUMP);
	}
	if (op->call->is_p2p)
		add_host(&hosts, model, op->dump);
	settle_hosts(&hosts);
	return hosts;
}

/* Keeps those that are in both. */
static void intersect(struct hosts *hosts, const struct hosts *with)
{
	size_t kept = 0;

	for (size_t i = 0; i < hosts->count; i++)
		if (with->count && bsearch(&hosts->names[i], with->names, with->count,
					   sizeof(*with->names), compare_hosts))
			hosts->names[kept++] = hosts->names[i];
	hosts->count = kept;
}

struct hang_hosts tsi_hang_hosts(const struct hang_verdict *verdict, const struct hang_model *model,
				 struct arena *scratch)
{
	struct hang_hosts found = { .count = 0 };

	if (verdict->kind != HANG_UNFINISHED && verdict->kind != HANG_NOT_STARTED)
		return found;
	struct hosts shared = hosts_of(verdict->op, model, false, scratch);
	struct hosts stuck = hosts_of(verdict->op, model, true, scratch);
	found.count = shared.count;
	if (stuck.count == 1 && shared.count > 0)
		found.stuck = stuck.names[0];
	for (uint32_t i = 0; i < verdict->op_count && shared.count > 0; i++) {
		const struct wait_op *op = &verdict->ops[i];

		if (op == verdict->op || op->kind != verdict->kind)
			continue;
		struct hosts hosts = hosts_of(op, model, false, scratch);
		intersect(&shared, &hosts);
	}
	if (shared.count == 1 || shared.count == 2)
		memcpy(found.shared, shared.names, shared.count * sizeof(*shared.names));
	return found;
}
