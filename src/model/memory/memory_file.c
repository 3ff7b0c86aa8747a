/* SPDX-License-Identifier: MIT */
/*
 * Recognises the kind of a file about memory by its content, and builds its model. Users hand over
 * whatever lies in the directory: what is none of the kinds is named, with the next step.
 */
#include "model/memory/memory_file.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/print_text.h"

/* ---- the kinds ---------------------------------------------------------------------------- */

static enum tscope_status build_snapshot(struct tscope_memory *memory, struct tscope_error *err)
{
	const struct snapshot *snapshot = &memory->snapshot;
	enum tscope_status status = tsi_snapshot_init(&memory->snapshot, memory->plain, err);

	if (status != TSCOPE_OK)
		return status;
	memory->info.record_count = snapshot->block_count;
	for (uint32_t i = 0; i < snapshot->device_count; i++)
		memory->info.record_count += snapshot->devices[i].entry_count;
	memory->info.dropped_count = snapshot->dropped_count;
	if (snapshot->contradicted_count > 0)
		memory->info.note = tsi_snapshot_contradiction;
	return TSCOPE_OK;
}

static enum tscope_status build_timeline(struct tscope_memory *memory, struct tscope_error *err)
{
	const struct memory_timeline *timeline = &memory->timeline;

	tsi_memory_timeline_init(&memory->timeline, memory->plain);
	tsi_plain_free(memory->plain); /* all of it was copied */
	memory->plain = NULL;
	memory->info.record_count =
		timeline->is_raw ? timeline->row_count : timeline->count + timeline->dropped_count;
	memory->info.dropped_count = timeline->dropped_count;
	if (timeline->is_uneven)
		memory->info.note = "its lists of times and of sizes differ in length: what the "
				    "longer one has more is dropped";
	if (timeline->count || timeline->arena.has_failed)
		return tsi_arena_status(&timeline->arena, err);
	return tsi_fail(err, TSCOPE_E_EMPTY,
			"a memory timeline without a row that can be read: "
			"nothing was allocated, or the file is damaged");
}

/* The rank of all moments, or -1. */
static int64_t only_rank(const struct memory_stats *stats)
{
	const struct memory_moment *moments = stats->moments;

	/* They are in the order of ranks. */
	return moments[0].rank == moments[stats->count - 1].rank ? moments[0].rank : -1;
}

static enum tscope_status build_stats(struct tscope_memory *memory, struct tscope_error *err)
{
	const struct memory_stats *stats = &memory->stats;

	tsi_memory_stats_init(&memory->stats, memory->plain);
	if (stats->arena.has_failed)
		return tsi_arena_status(&stats->arena, err);
	if (stats->count == 0)
		return tsi_fail(err, TSCOPE_E_EMPTY,
				"an empty dict: memory statistics without a moment at which they "
				"were taken");
	memory->info.record_count = stats->value_count + stats->dropped_count;
	memory->info.dropped_count = stats->dropped_count;
	memory->info.rank = only_rank(stats);
	return TSCOPE_OK;
}

static enum tscope_status build_tracker(struct tscope_memory *memory, struct tscope_error *err)
{
	const struct memory_tracker *tracker = &memory->tracker;

	tsi_memory_tracker_init(&memory->tracker, memory->plain);
	memory->info.record_count = tracker->value_count + tracker->dropped_count;
	memory->info.dropped_count = tracker->dropped_count;
	if (tracker->count || tracker->arena.has_failed)
		return tsi_arena_status(&tracker->arena, err);
	return tsi_fail(err, TSCOPE_E_EMPTY,
			"a memory tracker's log without a device: no memory was tracked");
}

/* memray's own statistics. tsi_memory_read_capture() reads captures, which are no plain data. */
static enum tscope_status build_host(struct tscope_memory *memory, struct tscope_error *err)
{
	const struct host_memory *host = &memory->host;
	enum tscope_status status = tsi_host_memory_init(&memory->host, memory->plain, err);

	if (status != TSCOPE_OK)
		return status;
	tsi_plain_free(memory->plain); /* all of it was copied */
	memory->plain = NULL;
	memory->info.record_count = host->size_count + host->place_count + host->dropped_count;
	memory->info.dropped_count = host->dropped_count;
	return TSCOPE_OK;
}

static const struct {
	bool (*is_this)(const struct plain *plain);
	enum tscope_status (*build)(struct tscope_memory *memory, struct tscope_error *err);
} kinds[TSCOPE_MEMORY_KIND_COUNT] = {
	[TSCOPE_MEMORY_SNAPSHOT] = { tsi_is_snapshot, build_snapshot },
	[TSCOPE_MEMORY_TIMELINE] = { tsi_is_memory_timeline, build_timeline },
	[TSCOPE_MEMORY_STATS] = { tsi_is_memory_stats, build_stats },
	[TSCOPE_MEMORY_TRACKER] = { tsi_is_memory_tracker, build_tracker },
	[TSCOPE_MEMORY_HOST] = { tsi_is_memray_stats, build_host },
};

/* ---- what is none of them ----------------------------------------------------------------- */

#define DUMP "take a snapshot with torch.cuda.memory._dump_snapshot()"

enum { KEYS_MAX = 3 };

/* Dicts by keys that all of a kind have; the first row that fits. */
static const struct {
	const char *keys[KEYS_MAX];
	const char *text;
} strangers[] = {
	{ { "traceEvents" }, "a trace: use `tscope trace`" },
	{ { "ph", "ts" }, "trace events: use `tscope trace`" },
	{ { "device_traces" }, "entries of a snapshot without its segments: " DUMP },
	{ { "allocated_bytes.all.current" },
	  "what torch.cuda.memory_stats() said once, which has no history: " DUMP },
	{ { "schema", "nodes" },
	  "an execution trace (ExecutionTraceObserver), which says nothing of memory: " DUMP },
	{ { "string_table" }, "a log of torch.compile, which says nothing of memory: " DUMP },
	{ { "pg_config", "entries" },
	  "a dump of NCCL's flight recorder, which says nothing of memory: " DUMP },
	{ { "nodes", "samples", "timeDeltas" },
	  "a V8 CPU profile, which says nothing of device memory: " DUMP },
	{ { "$schema", "profiles" },
	  "a profile in speedscope's own format, which says nothing of device memory: " DUMP },
	{ { "step", "phases" }, "a pytscope step log (steps.jsonl): use `tscope report`" },
	{ { "cells", "nbformat" }, "a Jupyter notebook, which is no file about memory" },
	{ { "state_dict" }, "a checkpoint, which says nothing of the memory in use: " DUMP },
	{ { "model_state_dict" }, "a checkpoint, which says nothing of the memory in use: " DUMP },
	{ { "param_groups", "state" },
	  "an optimizer's state dict, which says nothing of the memory in use: " DUMP },
};

static bool has_keys(const struct plain *plain, struct plain_value dict,
		     const char *const keys[KEYS_MAX])
{
	for (size_t i = 0; i < KEYS_MAX && keys[i]; i++) {
		struct plain_value value = tsi_plain_find(plain, dict, tsi_str_of(keys[i]));
		if (tsi_plain_kind(value) == PLAIN_ABSENT)
			return false;
	}
	return true;
}

/* "layers.0.weight": the first name of a state dict that holds no dict. */
static bool is_parameter(struct str name)
{
	return tsi_str_find(name, TSI_STR(".weight")) > 0 ||
	       tsi_str_find(name, TSI_STR(".bias")) > 0;
}

/* Names the file and the remedy, or NULL if unknown. */
static const char *name_stranger(const struct plain *plain, struct plain_value dict)
{
	if (tsi_plain_kind(dict) != PLAIN_DICT)
		return NULL;
	for (size_t i = 0; i < TSI_COUNT_OF(strangers); i++)
		if (has_keys(plain, dict, strangers[i].keys))
			return strangers[i].text;
	if (is_parameter(tsi_plain_text(plain, tsi_plain_key(plain, dict, 0))))
		return "a state dict, which says nothing of the memory in use: " DUMP;
	return NULL;
}

enum { SHOWN_KEYS = 4, WORDS_MAX = 256, KEY_MAX = 40 };

/* "a dict with the keys a, b, c, d …" */
static void describe_dict(const struct plain *plain, struct plain_value dict, char words[WORDS_MAX])
{
	size_t count = tsi_plain_length(plain, dict),
	       shown = count < SHOWN_KEYS ? count : SHOWN_KEYS;

	tsi_print_text(words, WORDS_MAX, "a dict with the key%s", count == 1 ? "" : "s");
	for (size_t i = 0; i < shown; i++) {
		struct plain_value key = tsi_plain_key(plain, dict, i);
		bool is_text = tsi_plain_kind(key) == PLAIN_TEXT;
		char text[KEY_MAX];

		tsi_print_text(text, sizeof(text), "%s",
			       is_text ? tsi_plain_text(plain, key).data
				       : tsi_plain_kind_name(tsi_plain_kind(key)));
		tsi_append_text(words, WORDS_MAX, "%s %s", i > 0 ? "," : "", text);
	}
	if (count > shown)
		tsi_append_text(words, WORDS_MAX, " …");
}

/* "a list of 3 items, the first of them a dict with the key a" */
static void describe_list(const struct plain *plain, struct plain_value list,
			  char words[WORDS_MAX + 64])
{
	struct plain_value first = tsi_plain_item(plain, list, 0);
	char item[WORDS_MAX];

	if (tsi_plain_kind(first) == PLAIN_DICT && tsi_plain_length(plain, first))
		describe_dict(plain, first, item);
	else
		snprintf(item, sizeof(item), "%s", tsi_plain_kind_name(tsi_plain_kind(first)));
	snprintf(words, WORDS_MAX + 64, "a list of %zu item%s, the first of them %s",
		 tsi_plain_length(plain, list), tsi_plain_length(plain, list) == 1 ? "" : "s",
		 item);
}

static enum tscope_status refuse(const struct plain *plain, struct tscope_error *err)
{
	struct plain_value root = tsi_plain_root(plain);
	enum plain_kind kind = tsi_plain_kind(root);
	bool is_list = tsi_plain_is_list(root);
	const char *name = name_stranger(plain, is_list ? tsi_plain_item(plain, root, 0) : root);
	char words[WORDS_MAX + 64];

	if (name)
		return tsi_fail(err, TSCOPE_E_FORMAT, "%s", name);
	if (is_list && tsi_plain_length(plain, root) == 0)
		return tsi_fail(err, TSCOPE_E_EMPTY,
				"an empty list: a memory timeline or snapshot that holds nothing");
	if (is_list)
		describe_list(plain, root, words);
	else if (kind == PLAIN_DICT)
		describe_dict(plain, root, words);
	else
		snprintf(words, sizeof(words), "%s", tsi_plain_kind_name(kind));
	return tsi_fail(err, TSCOPE_E_FORMAT,
			"%s: neither a snapshot of the allocator, a memory timeline, "
			"finetuning-scheduler's or memray's statistics nor a memory tracker's log",
			words);
}

/* Data after the first document is not counted. */
static void note_rest(struct tscope_memory *memory)
{
	uint64_t further_count = tsi_plain_further_count(memory->plain);
	uint64_t trailing_bytes = tsi_plain_trailing_bytes(memory->plain);

	if (further_count > 0)
		tsi_fail(&memory->damage, TSCOPE_E_DAMAGED,
			 "%" PRIu64 " more document%s in the file and not read: give each a file "
			 "of its own",
			 further_count, further_count == 1 ? " is" : "s are");
	else if (trailing_bytes > 0)
		tsi_fail(&memory->damage, TSCOPE_E_DAMAGED,
			 "%" PRIu64 " bytes behind the data are not read: give each document a "
			 "file of its own",
			 trailing_bytes);
	if (further_count + trailing_bytes > 0)
		memory->info.damage = &memory->damage;
}

enum tscope_status tsi_memory_build(struct tscope_memory *memory, struct tscope_error *err)
{
	for (size_t i = 0; i < TSCOPE_MEMORY_KIND_COUNT; i++) {
		if (!kinds[i].is_this(memory->plain))
			continue;
		memory->info.kind = (enum tscope_memory_kind)i;
		memory->info.rank = -1;
		memory->info.note = "";
		note_rest(memory);
		return kinds[i].build(memory, err);
	}
	return refuse(memory->plain, err);
}

/* ---- captures ----------------------------------------------------------------------------- */

static const char no_end[] =
	"the process was killed or is running: the capture has no end, and what was live at its "
	"last record counts as never freed";

/* Goes to the end of the input, behind the zeros after the records, so that its size is known. */
static void drain(struct input *in)
{
	const char *data;
	size_t available;

	while (tsi_input_peek(in, 1, &data, &available, NULL) == TSCOPE_OK)
		tsi_input_consume(in, available);
}

enum tscope_status tsi_memory_read_capture(struct tscope_memory *memory, struct input *in,
					   struct tscope_error *err)
{
	const struct host_memory *host = &memory->host;
	enum tscope_status status = tsi_host_memory_read(&memory->host, in, &memory->damage, err);

	if (status != TSCOPE_OK)
		return status;
	drain(in);
	memory->info.kind = TSCOPE_MEMORY_HOST;
	memory->info.form = "memray";
	memory->info.record_count = host->capture.record_count;
	memory->info.dropped_count = host->capture.dropped_count + host->dropped_count;
	if (memory->damage.status != TSCOPE_OK)
		memory->info.damage = &memory->damage;
	else if (!host->capture.is_complete)
		memory->info.note = no_end;
	return TSCOPE_OK;
}
