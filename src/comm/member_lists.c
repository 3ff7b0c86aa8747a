/* SPDX-License-Identifier: MIT */
/* Lists of members between what threads read of each rank, and the world that is made of it. */
#include "comm/member_lists.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/queue.h"
#include "comm/latch.h"

struct member_lists {
	struct monitor *monitor;
	struct intern texts; /* the members of a list, as the bytes of their numbers */
};

enum tscope_status tsi_member_lists_new(struct member_lists **ret, struct tscope_error *err)
{
	struct member_lists *lists = NULL;
	enum tscope_status status = tsi_array_new(&lists, 1, sizeof(*lists), err);

	if (status == TSCOPE_OK)
		status = tsi_monitor_new(&lists->monitor, err);
	if (status == TSCOPE_OK)
		*ret = lists;
	else
		tsi_member_lists_free(lists);
	return status;
}

void tsi_member_lists_free(struct member_lists *lists)
{
	if (!lists)
		return;
	tsi_intern_deinit(&lists->texts);
	tsi_monitor_free(lists->monitor);
	free(lists);
}

void tsi_rank_log_share_lists(struct rank_log *log, struct member_lists *lists)
{
	tsi_monitor_enter(lists->monitor);
	for (size_t i = 0; i < log->group_count && !log->arena.has_failed; i++) {
		struct rank_group *group = &log->groups[i];
		struct str list = tsi_group_list(log, group);

		if (list.length == 0)
			continue;
		uint32_t id = tsi_latch_text(&log->arena, &lists->texts, list);
		if (!log->arena.has_failed)
			group->shared = tsi_intern_text(&lists->texts, id).data;
	}
	tsi_monitor_leave(lists->monitor);
	if (log->arena.has_failed)
		return;
	tsi_arena_deinit(&log->member_memory);
	log->members = NULL;
	log->member_count = log->member_capacity = 0;
}

void tsi_rank_log_forget_lists(struct rank_log *log)
{
	for (size_t i = 0; i < log->group_count; i++) {
		log->groups[i].shared = NULL;
		log->groups[i].member_count = 0;
	}
	tsi_arena_deinit(&log->member_memory);
	log->members = NULL;
	log->member_count = log->member_capacity = 0;
}
