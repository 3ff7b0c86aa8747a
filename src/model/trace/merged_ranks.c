/* SPDX-License-Identifier: MIT */
#include "model/trace/merged_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "model/trace/build.h"
#include "model/trace/composer.h"

/* ---- events of one rank of several --------------------------------------------------- */

void tsi_know_rank_threads(struct builder *b)
{
	const struct rank_filter *only = b->options.only;

	for (size_t i = 0; only && i < only->merged->thread_count; i++) {
		const struct rank_thread *thread = &only->merged->threads[i];
		uint32_t pid = tsi_builder_id(b, &b->trace->names, tsi_str_of(thread->pid));
		uint32_t tid = tsi_builder_id(b, &b->trace->names, tsi_str_of(thread->tid));

		tsi_builder_put(b, &b->thread_of_rank, tsi_key_of_pair(pid, tid), (uint32_t)i);
	}
}

bool tsi_is_of_rank(const struct builder *b, const struct raw_event *event)
{
	const struct rank_filter *only = b->options.only;
	uint32_t pid = tsi_intern_find(&b->trace->names, event->pid), thread = NO_ROW;
	struct str tid_text = event->tid.length ? event->tid : event->pid;
	uint32_t tid = tsi_intern_find(&b->trace->names, tid_text);
	int64_t process;

	if (pid != NO_ROW && tid != NO_ROW)
		thread = tsi_key_map_find(&b->thread_of_rank, tsi_key_of_pair(pid, tid));
	if (thread != NO_ROW)
		return only->merged->threads[thread].rank == only->rank;
	return tsi_str_to_int64(event->pid, &process) && process == only->rank;
}

/* ---- whose events there are ---------------------------------------------------------- */

void tsi_merged_ranks_deinit(struct merged_ranks *merged)
{
	free(merged->ranks);
	free(merged->threads);
	*merged = (struct merged_ranks){ 0 };
}

/* Ids of processes and threads are numbers; a text that does not fit names nobody. */
static void copy_id(char to[RANK_THREAD_CHARS], struct str id)
{
	if (id.length < RANK_THREAD_CHARS)
		memcpy(to, id.data, id.length);
}

static void take_thread(struct merged_ranks *merged, const struct tscope_trace *trace,
			const struct composer_rank *rank)
{
	struct rank_thread *thread = &merged->threads[merged->thread_count];
	struct str pid = tsi_intern_text(&trace->names, rank->pid);
	int64_t process;

	if (rank->rank < 0)
		return;
	thread->rank = rank->rank;
	copy_id(thread->pid, pid);
	copy_id(thread->tid, tsi_intern_text(&trace->names, rank->tid));
	merged->is_mixed |= !tsi_str_to_int64(pid, &process) || process != rank->rank;
	merged->ranks[merged->thread_count++] = rank->rank;
}

/* The first that the lowest rank wrote: as the merger has it. */
static int64_t lowest_sync(const struct tscope_trace *trace, int64_t lowest)
{
	for (size_t i = 0; i < trace->composer_rank_count; i++)
		if (trace->composer_ranks[i].rank == lowest)
			return trace->composer_ranks[i].sync_ns;
	return NO_NUMBER;
}

enum tscope_status tsi_merged_ranks_of(struct merged_ranks *merged,
				       const struct tscope_trace *trace, struct tscope_error *err)
{
	size_t count = trace->composer_rank_count, kept = 0;

	*merged = (struct merged_ranks){ .is_shifted = trace->is_merged };
	if (count < 2 || tsi_only_composer_rank(trace) >= 0)
		return TSCOPE_OK;
	if (tsi_array_new(&merged->ranks, count, sizeof(*merged->ranks), err) != TSCOPE_OK ||
	    tsi_array_new(&merged->threads, count, sizeof(*merged->threads), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < count; i++)
		take_thread(merged, trace, &trace->composer_ranks[i]);
	qsort(merged->ranks, merged->thread_count, sizeof(*merged->ranks), tsi_compare_numbers);
	for (size_t i = 0; i < merged->thread_count; i++)
		if (kept == 0 || merged->ranks[i] != merged->ranks[kept - 1])
			merged->ranks[kept++] = merged->ranks[i];
	merged->rank_count = kept;
	if (kept > 0)
		merged->sync_ns = lowest_sync(trace, merged->ranks[0]);
	return TSCOPE_OK;
}

void tsi_count_merged_ranks(struct builder *b)
{
	struct merged_ranks merged;

	if (tsi_merged_ranks_of(&merged, b->trace, NULL) != TSCOPE_OK)
		tsi_builder_fail_nomem(b);
	b->trace->info.merged_rank_count = merged.rank_count;
	tsi_merged_ranks_deinit(&merged);
}
