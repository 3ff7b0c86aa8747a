/* SPDX-License-Identifier: MIT */
/*
 * What the traces of a run's ranks say together: one log for each rank, the world of them, and
 * the graph on which its steps are replayed.
 */
#include "pipeline_run.h"

#include "base/array.h"

/* The logs of a rank's traces, window after window; the trace items of a rank stand together. */
static enum tscope_status join_logs(struct tscope_run *run, struct rank_log *log, int64_t rank,
				    struct tscope_error *err)
{
	enum tscope_status status = tsi_rank_log_init(log, err);

	for (size_t i = 0; status == TSCOPE_OK && i < run->step_item_count; i++) {
		struct loaded *loaded = &run->loaded[run->items[i].file];

		if (run->items[i].kind != RUN_ITEM_TRACE || run->items[i].rank != rank)
			continue;
		status = tsi_rank_log_append(log, &loaded->log, err);
		tsi_rank_log_deinit(&loaded->log);
	}
	log->rank = rank;
	return status;
}

static bool is_world(const struct tscope_run *run)
{
	size_t count = 0;

	for (size_t i = 0; i < run->rank_count && count < 2; i++)
		count += run->logs[i].op_count > 0;
	return count >= 2;
}

enum tscope_status tsi_run_join_world(struct tscope_run *run, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;

	if (run->rank_count < 2)
		return TSCOPE_OK;
	if (tsi_array_new(&run->logs, run->rank_count, sizeof(*run->logs), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; status == TSCOPE_OK && i < run->rank_count; i++)
		status = join_logs(run, &run->logs[i], run->series[i].rank, err);
	if (status != TSCOPE_OK || !is_world(run))
		return status;
	status = tsi_world_new(&run->world, run->logs, run->rank_count, run->series[0].world_size,
			       err);
	if (status != TSCOPE_OK)
		return status;
	tsi_world_split_budgets(run->world, run->series);
	return run->world->match_count > 0
		       ? tsi_replay_graph_new(&run->replay_graph, run->world, err)
		       : TSCOPE_OK;
}
