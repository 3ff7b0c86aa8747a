/* SPDX-License-Identifier: MIT */
/*
 * Reads the files of a run, several at once. Only facts and steps of traces and of files about
 * memory stay, so that a run of any number of files needs the memory of those being read.
 */
#include "session/load.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/parallel.h"
#include "base/print_text.h"
#include "base/queue.h"
#include "model/memory/memory_file.h"
#include "session/open_trace.h"
#include "session/rank_record.h"

void tsi_loaded_deinit(struct loaded *loaded)
{
	tscope_analysis_free(loaded->analysis);
	tscope_timeline_free(loaded->timeline);
	tscope_trace_free(loaded->trace);
	tsi_steps_deinit(&loaded->steps);
	tsi_metric_log_deinit(&loaded->metrics);
	tsi_memory_steps_deinit(&loaded->memory_steps);
	tsi_rank_log_deinit(&loaded->log);
	tsi_merged_ranks_deinit(&loaded->merged);
	tsi_graph_log_free(loaded->graphs);
	tsi_arena_deinit(&loaded->texts);
	loaded->analysis = NULL;
	loaded->timeline = NULL;
	loaded->trace = NULL;
	loaded->graphs = NULL;
}

void tsi_loaded_free(struct loaded *loaded)
{
	if (!loaded)
		return;
	tsi_loaded_deinit(loaded);
	free(loaded);
}

void tsi_loaded_note(struct loaded *loaded, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	tsi_vjoin_text(loaded->note, sizeof(loaded->note), "; ", format, arguments);
	va_end(arguments);
}

void tsi_loaded_keep_damage(struct loaded *loaded, enum tscope_status status,
			    const struct tscope_error *err)
{
	if (err)
		loaded->damage = *err;
	loaded->damage.status = status;
	loaded->input.damage = &loaded->damage;
}

/* ---- memory ---- */

static void describe_memory(struct loaded *loaded, const struct tscope_memory_info *info)
{
	snprintf(loaded->compression, sizeof(loaded->compression), "%s", info->compression);
	loaded->memory_kind = info->kind;
	loaded->input.format = tscope_memory_kind_name(info->kind);
	loaded->input.source_bytes = info->source_bytes;
	loaded->input.bytes = info->bytes;
	loaded->input.event_count = info->record_count;
	loaded->input.dropped_count = info->dropped_count;
	if (info->rank >= 0)
		loaded->input.rank = info->rank;
	if (*info->note != '\0')
		tsi_loaded_note(loaded, "%s", info->note);
	if (info->damage) {
		loaded->damage = *info->damage;
		loaded->input.damage = &loaded->damage;
	}
}

static enum tscope_status load_memory(struct loaded *loaded, const char *path,
				      const struct tscope_run_options *options,
				      struct tscope_error *err)
{
	struct tscope_memory *memory = NULL;
	enum tscope_status status = tscope_memory_open(&memory, path, &options->trace, err);

	if (status == TSCOPE_OK) {
		describe_memory(loaded, tscope_memory_info(memory));
		status = tscope_memory_analyze(&loaded->analysis, memory, NULL, &options->analysis,
					       err);
	}
	if (status == TSCOPE_OK && loaded->memory_kind == TSCOPE_MEMORY_STATS)
		status = tsi_memory_steps_init(&loaded->memory_steps, &memory->stats, err);
	tscope_memory_free(memory);
	return status;
}

/* ---- any file ---- */

static const enum tscope_input_kind input_kinds[] = {
	[RUN_FILE_TRACE] = TSCOPE_INPUT_TRACE,
	[RUN_FILE_STEPS] = TSCOPE_INPUT_STEPS,
	[RUN_FILE_MEMORY] = TSCOPE_INPUT_MEMORY,
	[RUN_FILE_METRICS] = TSCOPE_INPUT_METRICS,
};

static enum tscope_status load_file(struct loaded *loaded, const struct load *load,
				    const struct tscope_run_options *options,
				    struct tscope_error *err)
{
	const struct run_file *file = &load->file;
	enum tscope_status status;

	tsi_steps_init(&loaded->steps);
	loaded->input = (struct tscope_run_input){
		.kind = input_kinds[file->kind],
		.path = tsi_source_name(file->path, &options->trace),
		.compression = loaded->compression,
		.rank = file->name_rank,
		.note = loaded->note,
	};
	if (file->unread) {
		*err = *file->unread;
		return err->status;
	}
	if (file->saved)
		status = tsi_rank_record_load(loaded, load, err);
	else if (file->kind == RUN_FILE_STEPS)
		status = tsi_load_steps(loaded, file, options, err);
	else if (file->kind == RUN_FILE_MEMORY)
		status = load_memory(loaded, file->path, options, err);
	else if (file->kind == RUN_FILE_METRICS)
		status = tsi_load_metrics(loaded, file, options, err);
	else
		status = tsi_load_trace(loaded, load, options, err);
	if (status == TSCOPE_OK && load->lists) {
		tsi_rank_log_share_lists(&loaded->log, load->lists);
		status = tsi_arena_status(&loaded->log.arena, err);
	}
	loaded->input.step_count = loaded->steps.count;
	return status == TSCOPE_OK ? tsi_steps_status(&loaded->steps, err) : status;
}

static void do_load(struct load *load, const struct tscope_run_options *options)
{
	load->status = tsi_array_new(&load->loaded, 1, sizeof(*load->loaded), &load->error);
	if (load->status == TSCOPE_OK)
		load->status = load_file(load->loaded, load, options, &load->error);
	if (load->status == TSCOPE_OK)
		return;
	tsi_loaded_free(load->loaded);
	load->loaded = NULL;
}

/* ---- several files ---- */

struct load_job {
	struct load *load;
	const struct tscope_run_options *options;
};

/* Never fails: what is wrong with a file is no reason to leave the others unread. */
static enum tscope_status run_job(void *argument, unsigned lane, struct tscope_error *err)
{
	const struct load_job *job = argument;
	struct tscope_run_options options = *job->options;

	(void)err;
	if (lane > 0)
		options.trace.progress = NULL; /* is the caller's to show */
	do_load(job->load, &options);
	return TSCOPE_OK;
}

/*
 * One thread for each file, as far as threads may work and the machine has them; threads that are
 * left over help within a file.
 */
static enum tscope_status run_jobs(struct job *jobs, size_t count,
				   struct tscope_run_options *options, struct tscope_error *err)
{
	unsigned thread_count = options->trace.thread_count;

	if (thread_count == 0)
		thread_count = tsi_thread_count();
	if (count >= thread_count)
		options->trace.thread_count = 1;
	return tsi_run_jobs(jobs, count, thread_count, err);
}

enum tscope_status tsi_load_files(struct load *const *loads, size_t count,
				  const struct tscope_run_options *options,
				  struct tscope_error *err)
{
	struct tscope_run_options each = *options;
	struct arena scratch = { 0 };
	struct load_job *load_jobs = tsi_arena_new(&scratch, count, sizeof(*load_jobs));
	struct job *jobs = tsi_arena_new(&scratch, count, sizeof(*jobs));
	size_t job_count = 0;
	enum tscope_status status = tsi_arena_status(&scratch, err);

	for (size_t i = 0; status == TSCOPE_OK && i < count; i++) {
		if (loads[i]->file.kind == RUN_FILE_MEMORY)
			continue;
		load_jobs[job_count] = (struct load_job){ loads[i], &each };
		jobs[job_count] = (struct job){ run_job, &load_jobs[job_count] };
		job_count++;
	}
	if (status == TSCOPE_OK)
		status = run_jobs(jobs, job_count, &each, err);
	for (size_t i = 0; status == TSCOPE_OK && i < count; i++)
		if (loads[i]->file.kind == RUN_FILE_MEMORY)
			do_load(loads[i], options);
	tsi_arena_deinit(&scratch);
	return status;
}
