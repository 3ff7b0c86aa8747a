/* SPDX-License-Identifier: MIT */
/*
 * Joins the traces of a run's ranks: one log for each rank, the world of them, and the graph on
 * which its steps are replayed.
 */
#include "session/run.h"

#include "base/arena.h"
#include "base/error.h"
#include "comm/sample_steps.h"

/*
 * The logs of a rank's traces, window after window; those of the files are gone then. *item is the
 * first of its items, and then of the next rank's: they are in the order of ranks.
 */
static enum tscope_status join_logs(struct rank_log *log, const struct run_members *members,
				    int64_t rank, size_t *item, struct tscope_error *err)
{
	enum tscope_status status = tsi_rank_log_init(log, err);
	bool is_empty = true;

	for (; status == TSCOPE_OK && *item < members->step_item_count &&
	       members->items[*item].rank == rank;
	     ++*item) {
		struct loaded *loaded = tsi_member(members, *item);

		if (members->items[*item].kind != RUN_ITEM_TRACE)
			continue;
		if (loaded->log.names.count == 0)
			continue; /* nothing was kept of this window */
		if (is_empty)
			tsi_rank_log_take(log, &loaded->log);
		else
			status = tsi_rank_log_append(log, &loaded->log, err);
		is_empty = false;
		tsi_rank_log_deinit(&loaded->log);
	}
	log->rank = rank;
	return status;
}

static bool is_world(const struct rank_log *logs, size_t count)
{
	size_t communicating = 0;

	for (size_t i = 0; i < count && communicating < 2; i++)
		communicating += logs[i].op_count > 0;
	return communicating >= 2;
}

static enum tscope_status make_world(struct run_world *ret, const struct run_ranks *ranks,
				     struct tscope_error *err)
{
	enum tscope_status status;
	const struct step_sample sample =
		tsi_rank_logs_sample(ret->logs, ranks->count, MAX_REPLAYED_STEP_POINTS);
	if (sample.has_failed)
		return tsi_fail_nomem(err);
	if (sample.of > 0)
		tsi_release_freed();
	status = tsi_world_new(&ret->world, ret->logs, ranks->count, ranks->series[0].world_size,
			       err);
	if (status != TSCOPE_OK)
		return status;
	ret->world->sampled_of = sample.of;
	tsi_world_split_budgets(ret->world, ranks->series);
	return ret->world->match_count > 0
		       ? tsi_replay_graph_new(&ret->replay_graph, ret->world, err)
		       : TSCOPE_OK;
}

enum tscope_status tsi_join_world(struct run_world *ret, const struct run_members *members,
				  const struct run_ranks *ranks, struct arena *arena,
				  struct tscope_error *err)
{
	enum tscope_status status;
	size_t item = 0;

	*ret = (struct run_world){ 0 };
	if (ranks->count < 2)
		return TSCOPE_OK;
	ret->logs = tsi_arena_new(arena, ranks->count, sizeof(*ret->logs));
	status = tsi_arena_status(arena, err);
	for (size_t i = 0; status == TSCOPE_OK && i < ranks->count; i++)
		status = join_logs(&ret->logs[i], members, ranks->series[i].rank, &item, err);
	if (status == TSCOPE_OK && is_world(ret->logs, ranks->count))
		status = make_world(ret, ranks, err);
	/* The world has those of the groups in use; the session's go with it. */
	for (size_t i = 0; ret->logs && i < ranks->count; i++)
		tsi_rank_log_forget_lists(&ret->logs[i]);
	return status;
}

void tsi_run_world_deinit(struct run_world *world, size_t rank_count)
{
	tsi_replay_graph_free(world->replay_graph);
	tsi_world_free(world->world);
	for (size_t i = 0; world->logs && i < rank_count; i++)
		tsi_rank_log_deinit(&world->logs[i]);
}
