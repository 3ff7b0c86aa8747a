/* SPDX-License-Identifier: MIT */
/*
 * The path of a file about memory: bytes to plain data (src/decode/plain/plain_reader.c), that
 * to one of the models (src/model/memory/memory_file.c), that to facts (src/analyze/). A memray
 * capture is too large for plain data: its records go to its model one by one.
 */
#include <tscope/memory.h>

#include <stdlib.h>

#include "analyze/analysis.h"
#include "analyze/memory/host_stacks.h"
#include "analyze/memory/snapshot_stacks.h"
#include "base/array.h"
#include "base/error.h"
#include "decode/foreign.h"
#include "decode/plain/plain_reader.h"
#include "decode/records/memray.h"
#include "model/memory/memory_file.h"
#include "run/find.h"
#include "session/open_trace.h"

static const struct {
	const char *name;
	enum analyzer_level level;
} kinds[TSCOPE_MEMORY_KIND_COUNT] = {
	[TSCOPE_MEMORY_SNAPSHOT] = { "snapshot", LEVEL_SNAPSHOT },
	[TSCOPE_MEMORY_TIMELINE] = { "memory_timeline", LEVEL_MEMORY_TIMELINE },
	[TSCOPE_MEMORY_STATS] = { "memory_stats", LEVEL_MEMORY_STATS },
	[TSCOPE_MEMORY_TRACKER] = { "memory_tracker", LEVEL_MEMORY_TRACKER },
	[TSCOPE_MEMORY_HOST] = { "host_memory", LEVEL_HOST_MEMORY },
};

const char *tscope_memory_kind_name(enum tscope_memory_kind kind)
{
	return kinds[kind].name;
}

/* ---- opening ------------------------------------------------------------------------------ */

static enum tscope_status describe_file(struct tscope_memory *memory, const char *path,
					const struct input *in, struct tscope_error *err)
{
	struct source source;
	enum tscope_status status = tsi_describe_source(&source, path, in, err);

	if (status != TSCOPE_OK)
		return status;
	memory->path = source.path;
	memory->info.path = source.path;
	memory->info.compression = source.compression;
	memory->info.source_bytes = source.source_bytes;
	memory->info.bytes = source.bytes;
	return TSCOPE_OK;
}

enum { MEMRAY_HEAD_BYTES = 7 }; /* what tsi_is_memray() looks at */

/* Sets *is_capture, and of a capture reads the model. */
static enum tscope_status read_capture(struct tscope_memory *memory, struct input *in,
				       bool *is_capture, struct tscope_error *err)
{
	struct str head = { 0 };

	/* Other errors of the input come back when it is read. */
	if (tsi_input_peek(in, MEMRAY_HEAD_BYTES, &head.data, &head.length, NULL) == TSCOPE_E_NOMEM)
		return tsi_fail_nomem(err);
	*is_capture = tsi_is_memray(head);
	return *is_capture ? tsi_memory_read_capture(memory, in, err) : TSCOPE_OK;
}

/* Reads the model, or plain data to build it from. */
static enum tscope_status read_input(struct tscope_memory *memory, struct input *in,
				     bool *is_capture, struct tscope_error *err)
{
	enum tscope_status status = read_capture(memory, in, is_capture, err);

	if (status == TSCOPE_OK && !*is_capture)
		status = tsi_plain_read(&memory->plain, &memory->info.form, in, NULL, err);
	return status;
}

/* Takes over `in`. */
static enum tscope_status open_input(struct tscope_memory **ret, const char *path, struct input *in,
				     const struct tscope_trace_options *options,
				     struct tscope_error *err)
{
	struct progress_report report = { options, in };
	struct tscope_memory *memory = NULL;
	bool is_capture = false;
	enum tscope_status status = tsi_array_new(&memory, 1, sizeof(*memory), err);

	if (options->progress)
		tsi_input_watch(in, tsi_report_progress, &report);
	if (status == TSCOPE_OK) {
		memory->info.rank = -1;
		memory->info.note = "";
		status = read_input(memory, in, &is_capture, err);
		if (status == TSCOPE_OK)
			status = describe_file(memory, path, in, err);
	}
	tsi_input_close(in);
	if (status == TSCOPE_OK && !is_capture)
		status = tsi_memory_build(memory, err);
	if (status != TSCOPE_OK) {
		tscope_memory_free(memory);
		return status;
	}
	if (memory->info.rank < 0)
		memory->info.rank = tsi_rank_of_path(path);
	*ret = memory;
	return TSCOPE_OK;
}

static const struct tscope_trace_options default_options;

enum tscope_status tscope_memory_open(struct tscope_memory **ret, const char *path,
				      const struct tscope_trace_options *options,
				      struct tscope_error *err)
{
	const struct tscope_trace_options *o = options ? options : &default_options;
	struct input_options input_options = tsi_input_options_of(o);
	struct input *in;
	enum tscope_status status = tsi_input_open_file(&in, path, &input_options, err);

	if (status == TSCOPE_OK)
		status = open_input(ret, path, in, o, err);
	return tsi_foreign_rename(status, path, err);
}

enum tscope_status tscope_memory_open_memory(struct tscope_memory **ret, const char *name,
					     const void *data, size_t length,
					     const struct tscope_trace_options *options,
					     struct tscope_error *err)
{
	const struct tscope_trace_options *o = options ? options : &default_options;
	struct input_options input_options = tsi_input_options_of(o);
	struct input *in;
	enum tscope_status status = tsi_input_open_memory(&in, data, length, &input_options, err);

	return status == TSCOPE_OK ? open_input(ret, name, in, o, err) : status;
}

void tscope_memory_free(struct tscope_memory *memory)
{
	if (!memory)
		return;
	tsi_snapshot_deinit(&memory->snapshot);
	tsi_arena_deinit(&memory->timeline.arena);
	tsi_arena_deinit(&memory->stats.arena);
	tsi_arena_deinit(&memory->tracker.arena);
	tsi_host_memory_deinit(&memory->host);
	tsi_plain_free(memory->plain);
	free(memory->path);
	free(memory);
}

const struct tscope_memory_info *tscope_memory_info(const struct tscope_memory *memory)
{
	return &memory->info;
}

/* ---- analysing ---------------------------------------------------------------------------- */

enum tscope_status tscope_memory_analyze(struct tscope_analysis **ret,
					 const struct tscope_memory *memory,
					 const struct tscope_memory *earlier,
					 const struct tscope_analysis_options *options,
					 struct tscope_error *err)
{
	const struct analysis_scope scope = {
		.memory = memory,
		.earlier = earlier,
		.options = options,
	};
	struct tscope_analysis *analysis;
	enum tscope_status status =
		tsi_analyze_level(&analysis, kinds[memory->info.kind].level, &scope, NULL, err);

	if (status != TSCOPE_OK)
		return status;
	status = tsi_analysis_detach(analysis, err);
	if (status != TSCOPE_OK) {
		tscope_analysis_free(analysis);
		return status;
	}
	*ret = analysis;
	return TSCOPE_OK;
}

/* The time of the last entry of all devices, or NO_TIME_US. */
static int64_t end_time_us(const struct snapshot *snapshot)
{
	int64_t latest = NO_TIME_US;

	for (uint32_t i = 0; i < snapshot->device_count; i++) {
		size_t count = snapshot->devices[i].entry_count;
		struct snapshot_entry entry;

		if (count && tsi_snapshot_entries(snapshot, i, count - 1, &entry, 1) &&
		    entry.time_us > latest)
			latest = entry.time_us;
	}
	return latest;
}

bool tscope_memory_is_comparable(const struct tscope_memory *memory,
				 const struct tscope_memory *earlier)
{
	const struct snapshot *now = &memory->snapshot, *then = &earlier->snapshot;

	if (memory->info.kind != TSCOPE_MEMORY_SNAPSHOT ||
	    earlier->info.kind != memory->info.kind || memory->info.rank != earlier->info.rank ||
	    now->device_count != then->device_count)
		return false;
	for (uint32_t i = 0; i < now->device_count; i++)
		if (now->devices[i].ordinal != then->devices[i].ordinal)
			return false;
	int64_t now_us = end_time_us(now), then_us = end_time_us(then);
	return now_us == NO_TIME_US || then_us <= now_us;
}

enum tscope_status tscope_memory_write_stacks(FILE *out, const struct tscope_memory *memory,
					      enum tscope_memory_moment moment,
					      struct tscope_error *err)
{
	if (memory->info.kind == TSCOPE_MEMORY_SNAPSHOT)
		return tsi_snapshot_write_stacks(out, &memory->snapshot, moment, err);
	if (memory->info.kind == TSCOPE_MEMORY_HOST && memory->host.source != HOST_STATS)
		return tsi_host_write_stacks(out, &memory->host, moment, err);
	return tsi_fail(err, TSCOPE_E_FORMAT,
			"a %s holds no stacks: only a snapshot of CUDA's allocator and a memray "
			"capture do",
			memory->info.kind == TSCOPE_MEMORY_HOST ? "file of memray's statistics"
								: kinds[memory->info.kind].name);
}
