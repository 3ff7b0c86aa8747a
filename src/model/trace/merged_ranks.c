/* SPDX-License-Identifier: MIT */
#include "model/trace/merged_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "decode/json.h"
#include "model/trace/build.h"
#include "model/trace/composer.h"
#include "model/trace/rank_pid.h"

/* ---- events of one rank of several --------------------------------------------------- */

void tsi_know_rank_threads(struct builder *b)
{
	const struct rank_filter *only = b->options.only;

	for (size_t i = 0; only && i < only->merged->thread_count; i++) {
		const struct rank_thread *thread = &only->merged->threads[i];
		uint32_t pid = tsi_builder_id(b, &b->trace->names, tsi_str_of(thread->pid));
		uint32_t tid = NO_ROW;

		if (*thread->tid != '\0')
			tid = tsi_builder_id(b, &b->trace->names, tsi_str_of(thread->tid));
		tsi_builder_put(b, &b->thread_of_rank, tsi_key_of_pair(pid, tid), (uint32_t)i);
	}
}

/* By the text of a pid; -1: of none. */
static int64_t rank_of_pid(const struct merged_ranks *merged, struct str pid)
{
	int64_t rank = merged->rank_of(pid);
	const int64_t *place;

	if (rank < 0 || !merged->places)
		return rank;
	place = bsearch(&rank, merged->places, merged->rank_count, sizeof(*merged->places),
			tsi_compare_numbers);
	return place ? merged->ranks[place - merged->places] : -1;
}

/* The thread of an event, or its process, among those of known ranks; or NO_ROW. */
static uint32_t find_thread(const struct builder *b, const struct raw_event *event)
{
	struct str tid_text = event->tid.length ? event->tid : event->pid;
	uint32_t pid = tsi_intern_find(&b->trace->names, event->pid), tid = NO_ROW;

	if (!b->options.only->merged->is_said)
		tid = tsi_intern_find(&b->trace->names, tid_text);
	if (pid == NO_ROW || (tid == NO_ROW && !b->options.only->merged->is_said))
		return NO_ROW;
	return tsi_key_map_find(&b->thread_of_rank, tsi_key_of_pair(pid, tid));
}

bool tsi_is_of_rank(const struct builder *b, const struct raw_event *event)
{
	const struct rank_filter *only = b->options.only;
	struct str rest;
	int64_t process;

	if (only->merged->is_in_names)
		return tsi_rank_before_name(event->name, &rest) == only->rank;
	if (only->merged->rank_of)
		return rank_of_pid(only->merged, event->pid) == only->rank;
	uint32_t thread = find_thread(b, event);
	if (thread != NO_ROW)
		return only->merged->threads[thread].rank == only->rank;
	return !only->merged->is_said && tsi_str_to_int64(event->pid, &process) &&
	       process == only->rank;
}

struct raw_event tsi_event_of_rank(const struct builder *b, const struct raw_event *event)
{
	struct raw_event own = *event;
	struct str rest;

	if (tsi_rank_before_name(event->name, &rest) == b->options.only->rank)
		own.name = rest;
	return own;
}

/* ---- whose events there are ---------------------------------------------------------- */

void tsi_merged_ranks_deinit(struct merged_ranks *merged)
{
	free(merged->ranks);
	free(merged->places);
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

/* Puts ranks in order, each once. */
static void order_ranks(struct merged_ranks *merged, size_t count)
{
	qsort(merged->ranks, count, sizeof(*merged->ranks), tsi_compare_numbers);
	merged->rank_count = 0;
	for (size_t i = 0; i < count; i++)
		if (i == 0 || merged->ranks[i] != merged->ranks[merged->rank_count - 1])
			merged->ranks[merged->rank_count++] = merged->ranks[i];
}

static enum tscope_status take_composer(struct merged_ranks *merged,
					const struct tscope_trace *trace, struct tscope_error *err)
{
	size_t count = trace->composer_rank_count;

	if (tsi_array_new(&merged->ranks, count, sizeof(*merged->ranks), err) != TSCOPE_OK ||
	    tsi_array_new(&merged->threads, count, sizeof(*merged->threads), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < count; i++)
		take_thread(merged, trace, &trace->composer_ranks[i]);
	order_ranks(merged, merged->thread_count);
	if (merged->rank_count > 0)
		merged->sync_ns = lowest_sync(trace, merged->ranks[0]);
	return TSCOPE_OK;
}

/* ---- what M events say of processes ---------------------------------------------------- */

/* More processes say nothing of their rank. */
enum { MAX_PROCESS_RANKS = 1 << 16 };

void tsi_note_process_rank(struct builder *b, const struct raw_event *event)
{
	struct tscope_trace *trace = b->trace;
	struct str name = tsi_json_object_get(event->args, TSI_STR("name"));
	int64_t rank;

	if (!tsi_json_to_int64(tsi_json_object_get(event->args, TSI_STR("rank")), &rank))
		rank = tsi_rank_at_begin(tsi_json_unquote(name));
	if (rank < 0 || event->pid.length >= RANK_THREAD_CHARS ||
	    trace->process_rank_count == MAX_PROCESS_RANKS)
		return;
	uint32_t pid = tsi_builder_id(b, &trace->names, event->pid);
	struct process_rank *said =
		tsi_builder_push(b, &trace->process_ranks, &trace->process_rank_count,
				 &trace->process_rank_capacity, sizeof(*said));
	if (said)
		*said = (struct process_rank){ pid, rank };
}

/* By the id of the pid's text; -1: nothing is said, or several things. */
static void spread_said(int64_t *said, const struct tscope_trace *trace)
{
	for (uint32_t id = 0; id < trace->names.count; id++)
		said[id] = -1;
	for (size_t i = 0; i < trace->process_rank_count; i++)
		said[trace->process_ranks[i].pid] = trace->process_ranks[i].rank;
	for (size_t i = 0; i < trace->process_rank_count; i++)
		if (said[trace->process_ranks[i].pid] != trace->process_ranks[i].rank)
			said[trace->process_ranks[i].pid] = -1;
}

static bool is_said_of_all(const int64_t *said, const struct tscope_trace *trace)
{
	for (uint32_t i = 0; i < trace->track_count; i++)
		if (said[trace->tracks[i].pid] < 0)
			return false;
	return true;
}

static enum tscope_status take_processes(struct merged_ranks *merged,
					 const struct tscope_trace *trace, const int64_t *said,
					 struct tscope_error *err)
{
	size_t count = trace->process_rank_count;

	if (tsi_array_new(&merged->ranks, count, sizeof(*merged->ranks), err) != TSCOPE_OK ||
	    tsi_array_new(&merged->threads, count, sizeof(*merged->threads), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < count; i++) {
		uint32_t pid = trace->process_ranks[i].pid;

		if (said[pid] < 0)
			continue;
		struct rank_thread *thread = &merged->threads[merged->thread_count];
		thread->rank = said[pid];
		copy_id(thread->pid, tsi_intern_text(&trace->names, pid));
		merged->ranks[merged->thread_count++] = said[pid];
	}
	merged->is_said = true;
	order_ranks(merged, merged->thread_count);
	return TSCOPE_OK;
}

static enum tscope_status take_said(struct merged_ranks *merged, const struct tscope_trace *trace,
				    struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	int64_t *said;

	if (trace->process_rank_count < 2)
		return TSCOPE_OK;
	if (tsi_array_new(&said, trace->names.count, sizeof(*said), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	spread_said(said, trace);
	if (is_said_of_all(said, trace))
		status = take_processes(merged, trace, said, err);
	free(said);
	return status;
}

/* ---- what is in pids and names --------------------------------------------------------- */

/* Leaves none where a pid is of no rank. */
static enum tscope_status take_pids(struct merged_ranks *merged, const struct tscope_trace *trace,
				    int64_t (*rank_of)(struct str pid), struct tscope_error *err)
{
	uint32_t count = 0;

	while (count < trace->track_count &&
	       rank_of(tsi_intern_text(&trace->names, trace->tracks[count].pid)) >= 0)
		count++;
	if (count < trace->track_count)
		return TSCOPE_OK;
	if (tsi_array_new(&merged->ranks, count, sizeof(*merged->ranks), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t i = 0; i < count; i++)
		merged->ranks[i] = rank_of(tsi_intern_text(&trace->names, trace->tracks[i].pid));
	merged->rank_of = rank_of;
	order_ranks(merged, count);
	return TSCOPE_OK;
}

/*
 * Makes ranks of places: those of torch's process group, which holds the tensor- and the
 * pipeline-parallel ones. Where there are several such groups (DP), they are counted through.
 */
static enum tscope_status number_places(struct merged_ranks *merged, struct tscope_error *err)
{
	size_t count = merged->rank_count;
	int64_t tensor_size = 0, last = -1;
	bool is_one_group = true;

	merged->places = merged->ranks;
	merged->ranks = NULL;
	if (tsi_array_new(&merged->ranks, count, sizeof(*merged->ranks), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < count; i++) {
		int64_t place = tsi_sglang_tensor_place(merged->places[i]);

		tensor_size = place >= tensor_size ? place + 1 : tensor_size;
	}
	for (size_t i = 0; i < count; i++) {
		merged->ranks[i] = tsi_sglang_rank(merged->places[i], tensor_size);
		is_one_group &= merged->ranks[i] > last;
		last = merged->ranks[i];
	}
	for (size_t i = 0; !is_one_group && i < count; i++)
		merged->ranks[i] = (int64_t)i;
	merged->is_counted = !is_one_group;
	return TSCOPE_OK;
}

/* Leaves none where a name is of no rank. */
static enum tscope_status take_names(struct merged_ranks *merged, const struct tscope_trace *trace,
				     struct tscope_error *err)
{
	const struct spans *spans = &trace->spans;
	struct str rest;
	uint32_t count = 0;

	while (count < spans->kind_count &&
	       tsi_rank_before_name(tsi_intern_text(&trace->names, spans->kinds[count].name),
				    &rest) >= 0)
		count++;
	if (count == 0 || count < spans->kind_count)
		return TSCOPE_OK;
	if (tsi_array_new(&merged->ranks, count, sizeof(*merged->ranks), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t i = 0; i < count; i++)
		merged->ranks[i] = tsi_rank_before_name(
			tsi_intern_text(&trace->names, spans->kinds[i].name), &rest);
	merged->is_in_names = true;
	order_ranks(merged, count);
	return TSCOPE_OK;
}

static enum tscope_status take_labelled(struct merged_ranks *merged,
					const struct tscope_trace *trace, struct tscope_error *err)
{
	static int64_t (*const readers[])(struct str pid) = {
		tsi_sglang_place,
		tsi_rank_at_begin,
		tsi_rank_behind_pid,
	};
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; i < TSI_COUNT_OF(readers) && !merged->rank_of; i++) {
		status = take_pids(merged, trace, readers[i], err);
		if (status != TSCOPE_OK)
			return status;
	}
	return merged->rank_of == tsi_sglang_place ? number_places(merged, err) : TSCOPE_OK;
}

enum tscope_status tsi_merged_ranks_of(struct merged_ranks *merged,
				       const struct tscope_trace *trace, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;

	*merged = (struct merged_ranks){ .is_shifted = trace->is_merged, .sync_ns = NO_NUMBER };
	if (trace->composer_rank_count >= 2) {
		if (tsi_only_composer_rank(trace) < 0)
			status = take_composer(merged, trace, err);
	} else if (trace->track_count >= 2) {
		status = take_names(merged, trace, err);
		if (status == TSCOPE_OK && merged->rank_count == 0)
			status = take_said(merged, trace, err);
		if (status == TSCOPE_OK && merged->rank_count == 0)
			status = take_labelled(merged, trace, err);
	}
	if (merged->rank_count < 2)
		tsi_merged_ranks_deinit(merged);
	return status;
}

void tsi_count_merged_ranks(struct builder *b)
{
	struct merged_ranks merged;

	if (tsi_merged_ranks_of(&merged, b->trace, NULL) != TSCOPE_OK)
		tsi_builder_fail_nomem(b);
	b->trace->info.merged_rank_count = merged.rank_count;
	tsi_merged_ranks_deinit(&merged);
}
