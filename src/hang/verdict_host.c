/* SPDX-License-Identifier: MIT */
/* All ranks made the call: what do those share on which it stands still? */
#include "hang/verdict.h"

#include <stdlib.h>
#include <string.h>

static int compare_hosts(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* How many different ones; sorts them. */
static size_t count_hosts(const char **hosts, size_t host_count)
{
	size_t count = host_count > 0;

	if (host_count > 0)
		qsort(hosts, host_count, sizeof(*hosts), compare_hosts);
	for (size_t i = 1; i < host_count; i++)
		count += strcmp(hosts[i - 1], hosts[i]) != 0;
	return count;
}

static bool is_stuck(const struct hang_verdict *verdict, const struct hang_model *model,
		     const struct hang_member *member)
{
	const struct dump_call *call;

	if (verdict->kind == HANG_NOT_STARTED)
		return tsi_hang_is_blamed(verdict->op, member->rank);
	call = tsi_hang_call(model, member, verdict->op->call->sequence);
	return call && tsi_call_is_pending(call);
}

const char *tsi_hang_host(const struct hang_verdict *verdict, const struct hang_model *model,
			  struct arena *scratch, size_t *count)
{
	const struct wait_op *op = verdict->op;
	const struct hang_group *group = &model->groups[op->group];
	const char **all = tsi_arena_new(scratch, group->member_count, sizeof(*all));
	const char **stuck = tsi_arena_new(scratch, group->member_count, sizeof(*stuck));
	size_t all_count = 0, stuck_count = 0;

	*count = 0;
	if (!all || !stuck || op->call->is_p2p ||
	    (verdict->kind != HANG_UNFINISHED && verdict->kind != HANG_NOT_STARTED))
		return NULL;
	for (uint32_t i = 0; i < group->member_count; i++) {
		const struct hang_member *member = &group->members[i];

		if (member->dump == NO_DUMP || !*model->dumps[member->dump].host)
			return NULL;
		all[all_count++] = model->dumps[member->dump].host;
		if (is_stuck(verdict, model, member))
			stuck[stuck_count++] = model->dumps[member->dump].host;
	}
	*count = count_hosts(all, all_count);
	return count_hosts(stuck, stuck_count) == 1 ? stuck[0] : NULL;
}
