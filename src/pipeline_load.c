/* SPDX-License-Identifier: MIT */
/*
 * Reads the files of a run. A trace goes its whole path (trace, timeline, facts)
 * and is closed again; what stays are its facts and its steps, so that a run
 * of any number of files needs the memory of those being read. Step records and
 * metrics are only read; of a file about memory its facts stay.
 */
#include "pipeline_load.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "base/array.h"
#include "base/ckd.h"
#include "base/error.h"
#include "base/queue.h"
#include "base/sum.h"
#include "input/input.h"
#include "model/memory/memory_file.h"
#include "pipeline.h"
#include "run/settings.h"
#include "run/store.h"
#include "timeline/timeline.h"

enum { RUN_JSON_MAX_BYTES = 16 << 20 };

void tsi_loaded_deinit(struct loaded *loaded)
{
	tscope_analysis_free(loaded->analysis);
	tsi_steps_deinit(&loaded->steps);
	tsi_metric_log_deinit(&loaded->metrics);
	tsi_memory_steps_deinit(&loaded->memory_steps);
	tsi_rank_log_deinit(&loaded->log);
	tsi_merged_ranks_deinit(&loaded->merged);
	*loaded = (struct loaded){ 0 };
}

void tsi_loaded_move(struct loaded *to, struct loaded *from)
{
	*to = *from;
	if (from->input.compression)
		to->input.compression = to->compression;
	if (from->input.note)
		to->input.note = to->note;
	if (from->input.diagnostics)
		to->input.diagnostics = to->diagnostics;
	if (from->input.damage)
		to->input.damage = &to->damage;
	*from = (struct loaded){ 0 };
}

/* Adds a remark; what does not fit is left out. */
TSI_PRINTF(2, 3)
static void add_note(struct loaded *loaded, const char *format, ...)
{
	size_t length = strlen(loaded->note);
	va_list arguments;

	if (length > 0 && length + 2 < sizeof(loaded->note)) {
		memcpy(loaded->note + length, "; ", 3);
		length += 2;
	}
	va_start(arguments, format);
	vsnprintf(loaded->note + length, sizeof(loaded->note) - length, format, arguments);
	va_end(arguments);
}

/* ---- traces ---- */

static void describe_trace(struct loaded *loaded, const struct tscope_trace *trace)
{
	const struct tscope_trace_info *info = tscope_trace_info(trace);
	const struct tscope_error *damage = tscope_trace_damage(trace);
	int64_t base_ns = info->has_base_time ? info->base_time_ns : 0;

	for (enum tscope_diagnostic kind = 0; kind < TSCOPE_DIAGNOSTIC_COUNT; kind++)
		loaded->diagnostics[kind] = tscope_trace_diagnostic(trace, kind);
	snprintf(loaded->compression, sizeof(loaded->compression), "%s", info->compression);
	loaded->input.format = info->format;
	loaded->input.source_bytes = info->source_bytes;
	loaded->input.bytes = info->bytes;
	loaded->input.event_count = info->event_count;
	loaded->input.dropped_count = info->dropped_count;
	loaded->input.diagnostics = loaded->diagnostics;
	if (damage) {
		loaded->damage = *damage;
		loaded->input.damage = &loaded->damage;
	}
	if (info->rank >= 0)
		loaded->input.rank = info->rank;
	loaded->steps.world_size = info->world_size;
	if (tsi_ckd_add(&loaded->start_ns, info->first_ns, base_ns) ||
	    tsi_ckd_add(&loaded->end_ns, info->last_ns, base_ns)) {
		loaded->start_ns = info->first_ns;
		loaded->end_ns = info->last_ns;
	}
}

/* What is kept of the rank to compare it with the others. */
static enum tscope_status fill_log(struct rank_log *log, const struct tscope_trace *trace,
				   const struct tscope_timeline *timeline, struct tscope_error *err)
{
	enum tscope_status status = tsi_rank_log_init(log, err);

	return status == TSCOPE_OK ? tsi_rank_log_fill(log, trace, timeline, err) : status;
}

/* The moment that Composer's ranks wrote down together, when the first step had not begun. */
static void note_clock(struct step_clock *clock, const struct tscope_trace *trace,
		       const struct tscope_timeline *timeline, const struct rank_filter *only)
{
	for (size_t i = 0; i < trace->composer_rank_count && !clock->is_known; i++) {
		const struct composer_rank *rank = &trace->composer_ranks[i];

		if (rank->sync_ns == NO_NUMBER)
			continue;
		*clock = (struct step_clock){
			.sync_ns = rank->sync_ns,
			.error_ns = rank->sync_error_ns == NO_NUMBER ? 0 : rank->sync_error_ns,
			.first_step = timeline->steps[0].number,
			.is_known = true,
		};
	}
	if (clock->is_known && only && only->merged->is_shifted &&
	    only->merged->sync_ns != NO_NUMBER)
		clock->shifted_ns = tsi_difference(clock->sync_ns, only->merged->sync_ns);
}

static enum tscope_status analyze_trace(const struct load_job *job,
					const struct tscope_trace *trace,
					const struct tscope_run_options *options,
					struct tscope_error *err)
{
	struct loaded *loaded = job->loaded;
	struct tscope_timeline_options timeline_options = options->timeline;
	struct tscope_timeline *timeline = NULL;

	timeline_options.first_batch = job->file->first_batch;
	timeline_options.batch_count = job->file->batch_count;
	enum tscope_status status =
		tsi_timeline_build(&timeline, trace, &timeline_options, job->keeps_log, err);
	if (status == TSCOPE_OK)
		status =
			tscope_analyze(&loaded->analysis, trace, timeline, &options->analysis, err);
	if (status == TSCOPE_OK && job->keeps_log)
		status = fill_log(&loaded->log, trace, timeline, err);
	if (status == TSCOPE_OK)
		status =
			tsi_steps_append(&loaded->steps, tsi_analysis_steps(loaded->analysis), err);
	if (status == TSCOPE_OK)
		status = tsi_settings_take(&loaded->steps, tsi_analysis_steps(loaded->analysis),
					   err);
	if (status == TSCOPE_OK)
		note_clock(&loaded->steps.clock, trace, timeline, job->only);
	if (status == TSCOPE_OK)
		status = tsi_analysis_detach(loaded->analysis, err);
	tscope_timeline_free(timeline);
	return status;
}

static enum tscope_status load_trace(const struct load_job *job,
				     const struct tscope_run_options *options,
				     struct tscope_error *err)
{
	struct tscope_trace *trace = NULL;
	enum tscope_status status =
		tsi_trace_open_rank(&trace, job->file->path, &options->trace, job->only, err);

	if (status == TSCOPE_OK && !job->only)
		status = tsi_merged_ranks_of(&job->loaded->merged, trace, err);
	if (status == TSCOPE_OK && job->only)
		add_note(job->loaded, "one of the %zu ranks that were merged into it",
			 job->only->merged->rank_count);
	if (status == TSCOPE_OK) {
		describe_trace(job->loaded, trace);
		if (job->loaded->merged.rank_count < 2)
			status = analyze_trace(job, trace, options, err);
	}
	tscope_trace_free(trace);
	return status;
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
		add_note(loaded, "%s", info->note);
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

/* ---- step records ---- */

static void note_log(struct loaded *loaded, const struct store_log *log)
{
	if (log->run_count > 1)
		add_note(loaded,
			 "%" PRIu64 " runs one after another: the last one, from line %" PRIu64
			 ", was taken, and %" PRIu64 " earlier records were not",
			 log->run_count, log->last_run_line, log->earlier_count);
	if (log->bad_line_count > 0)
		add_note(loaded, "lines that are no step records: %" PRIu64, log->bad_line_count);
	if (log->bad_value_count > 0)
		add_note(loaded, "values that are no time or size: %" PRIu64, log->bad_value_count);
	if (log->is_cut)
		add_note(loaded, "the last line is incomplete");
}

/* Keeps what ended the reading early, where something was read before. */
static void keep_damage(struct loaded *loaded, enum tscope_status status,
			const struct tscope_error *err)
{
	if (err)
		loaded->damage = *err;
	loaded->damage.status = status;
	loaded->input.damage = &loaded->damage;
}

/* What run.json says. A broken one costs a remark and nothing else. */
static enum tscope_status read_run_json(struct loaded *loaded, const char *path,
					const struct input_options *options,
					struct tscope_error *err)
{
	const char *data = NULL;
	size_t length = 0;
	struct input *in;
	enum tscope_status status = tsi_input_open_file(&in, path, options, err);

	if (status == TSCOPE_E_NOMEM)
		return status;
	if (status == TSCOPE_OK) {
		bool is_read = false;

		status = tsi_input_peek(in, RUN_JSON_MAX_BYTES, &data, &length, NULL);
		if (status == TSCOPE_END) {
			status = tsi_run_json_read((struct str){ data, length }, &loaded->steps,
						   NULL);
			is_read = status == TSCOPE_OK;
		}
		if (status != TSCOPE_E_NOMEM && !is_read)
			add_note(loaded, "run.json beside it is cut or broken");
		tsi_input_close(in);
		return status == TSCOPE_E_NOMEM ? tsi_fail_nomem(err) : TSCOPE_OK;
	}
	add_note(loaded, "run.json beside it cannot be read");
	return TSCOPE_OK;
}

static void describe_store(struct loaded *loaded, const struct input *in,
			   const struct store_log *log)
{
	snprintf(loaded->compression, sizeof(loaded->compression), "%s", tsi_input_filters(in));
	loaded->input.source_bytes = tsi_input_stored_bytes(in);
	loaded->input.bytes = tsi_input_offset(in);
	loaded->input.event_count = log->line_count;
	loaded->input.dropped_count = log->bad_line_count;
	note_log(loaded, log);
}

/* Records that came before the input broke are kept. */
static enum tscope_status read_store(struct loaded *loaded, const struct store *store,
				     struct input *in, struct tscope_error *err)
{
	struct store_log log = { 0 };
	enum tscope_status status = store->read(in, &loaded->steps, &log, err);

	if (status == TSCOPE_E_NOMEM || (status != TSCOPE_OK && loaded->steps.count == 0))
		return status;
	if (status != TSCOPE_OK)
		keep_damage(loaded, status, err);
	loaded->input.format = store->id;
	describe_store(loaded, in, &log);
	if (loaded->steps.count == 0)
		return tsi_fail(err, TSCOPE_E_EMPTY, "holds no step record");
	tsi_steps_settle_times(&loaded->steps);
	return TSCOPE_OK;
}

/* Applies the range and the warm-up that were asked for. */
static enum tscope_status select_steps(struct step_series *steps,
				       const struct tscope_timeline_options *options,
				       struct tscope_error *err)
{
	int64_t lowest = INT64_MAX, highest = INT64_MIN;

	for (size_t i = 0; i < steps->count; i++) {
		int64_t number = steps->records[i].number;

		lowest = number < lowest ? number : lowest;
		highest = number > highest ? number : highest;
	}
	tsi_steps_select(steps, options);
	if (steps->count > 0)
		return TSCOPE_OK;
	return tsi_fail(err, TSCOPE_E_EMPTY,
			"no step from %" PRId64 " to %" PRId64 ": the records have steps %" PRId64
			" to %" PRId64,
			options->first_step, options->last_step, lowest, highest);
}

static enum tscope_status load_steps(struct loaded *loaded, const struct run_file *file,
				     const struct tscope_run_options *options,
				     struct tscope_error *err)
{
	struct input_options input_options = tsi_input_options_of(&options->trace);
	struct input *in;
	enum tscope_status status = tsi_input_open_file(&in, file->path, &input_options, err);

	if (status != TSCOPE_OK)
		return status;
	status = read_store(loaded, file->store, in, err);
	tsi_input_close(in);
	if (status == TSCOPE_OK && file->run_json)
		status = read_run_json(loaded, file->run_json, &input_options, err);
	if (status == TSCOPE_OK && loaded->steps.rank >= 0)
		loaded->input.rank = loaded->steps.rank;
	if (status == TSCOPE_OK)
		status = select_steps(&loaded->steps, &options->timeline, err);
	return status;
}

/* ---- metrics ---- */

static void note_metrics(struct loaded *loaded, const struct metric_log *log)
{
	if (log->bad_record_count > 0)
		add_note(loaded, "broken records: %" PRIu64 " of %" PRIu64, log->bad_record_count,
			 log->record_count);
	if (log->bad_value_count > 0)
		add_note(loaded, "values that are no number: %" PRIu64, log->bad_value_count);
	if (log->without_step_count > 0)
		add_note(loaded, "values without a step: %" PRIu64, log->without_step_count);
	if (log->other_count > 0)
		add_note(loaded, "images, histograms and the like, which are no scalars: %" PRIu64,
			 log->other_count);
	if (log->lost_file_count > 0)
		add_note(loaded, "files that cannot be read: %" PRIu64, log->lost_file_count);
	if (log->is_cut)
		add_note(loaded, "the last record is incomplete");
}

static void describe_metrics(struct loaded *loaded, const struct metric_reading *reading)
{
	const struct metric_log *log = &loaded->metrics;

	snprintf(loaded->compression, sizeof(loaded->compression), "%s", reading->compression);
	loaded->input.source_bytes = reading->source_bytes;
	loaded->input.bytes = reading->bytes;
	/* Nobody knows how many values a broken record holds: it counts as one. */
	loaded->input.dropped_count =
		log->bad_record_count + log->bad_value_count + log->without_step_count;
	loaded->input.event_count = log->count + loaded->input.dropped_count;
	note_metrics(loaded, log);
}

/* Takes out what is not in the range of steps. A sampler counts no steps of the job. */
static enum tscope_status select_metrics(struct metric_log *log,
					 const struct tscope_timeline_options *options,
					 struct tscope_error *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < log->count; i++) {
		const struct metric_point *point = &log->points[i];

		if (point->is_sample || !options->has_range ||
		    (point->step >= options->first_step && point->step <= options->last_step))
			log->points[kept++] = *point;
	}
	log->count = kept;
	if (kept > 0)
		return TSCOPE_OK;
	return tsi_fail(err, TSCOPE_E_EMPTY, "no value of a step from %" PRId64 " to %" PRId64,
			options->first_step, options->last_step);
}

/* Values that came before the source broke are kept. */
static enum tscope_status load_metrics(struct loaded *loaded, const struct run_file *file,
				       const struct tscope_run_options *options,
				       struct tscope_error *err)
{
	const struct input_options input_options = tsi_input_options_of(&options->trace);
	const struct metric_file folder = { .path = file->path, .options = &input_options };
	struct metric_reading reading = { 0 };
	enum tscope_status status = tsi_metric_log_init(&loaded->metrics, err);

	loaded->input.format = file->metrics->id;
	if (status == TSCOPE_OK)
		status = tsi_metrics_read(file->metrics, file->path, &input_options,
					  &loaded->metrics, &reading, err);
	if (status == TSCOPE_E_NOMEM || (status != TSCOPE_OK && loaded->metrics.count == 0))
		return status;
	if (status != TSCOPE_OK)
		keep_damage(loaded, status, err);
	describe_metrics(loaded, &reading);
	status = select_metrics(&loaded->metrics, &options->timeline, err);
	if (status == TSCOPE_OK && file->metrics->describe)
		status = file->metrics->describe(&folder, &loaded->steps, err);
	return status;
}

static enum tscope_input_kind input_kind(enum run_file_kind kind)
{
	return kind == RUN_FILE_STEPS     ? TSCOPE_INPUT_STEPS
	       : kind == RUN_FILE_MEMORY  ? TSCOPE_INPUT_MEMORY
	       : kind == RUN_FILE_METRICS ? TSCOPE_INPUT_METRICS
					  : TSCOPE_INPUT_TRACE;
}

static enum tscope_status load_file(const struct load_job *job,
				    const struct tscope_run_options *options,
				    struct tscope_error *err)
{
	const struct run_file *file = job->file;
	struct loaded *loaded = job->loaded;

	*loaded = (struct loaded){
		.input = {
			.kind = input_kind(file->kind),
			.path = file->path,
			.compression = loaded->compression,
			.rank = file->name_rank,
			.note = loaded->note,
		},
	};
	enum tscope_status status = tsi_steps_init(&loaded->steps, err);
	if (status == TSCOPE_OK && file->kind == RUN_FILE_STEPS)
		status = load_steps(loaded, file, options, err);
	else if (status == TSCOPE_OK && file->kind == RUN_FILE_MEMORY)
		status = load_memory(loaded, file->path, options, err);
	else if (status == TSCOPE_OK && file->kind == RUN_FILE_METRICS)
		status = load_metrics(loaded, file, options, err);
	else if (status == TSCOPE_OK)
		status = load_trace(job, options, err);
	loaded->input.step_count = loaded->steps.count;
	return status;
}

/* ---- several files ---- */

static void do_job(struct load_job *job, const struct tscope_run_options *options)
{
	job->status = load_file(job, options, &job->error);
}

static void do_jobs(struct queue *jobs, const struct tscope_run_options *options)
{
	struct load_job *job;

	while ((job = tsi_queue_pop(jobs)))
		do_job(job, options);
}

/* What the workers besides the caller share. */
struct loading {
	struct tscope_run_options options;
	struct queue *jobs;
};

static void run_worker(void *argument)
{
	const struct loading *loading = argument;

	do_jobs(loading->jobs, &loading->options);
}

/*
 * Several files are read at once, one thread each, as far as threads may work and
 * the machine has them; threads that are left over help within a file. Fewer
 * workers than wanted are no failure.
 */
static enum tscope_status do_all_jobs(struct queue *jobs, size_t job_count,
				      const struct tscope_run_options *options,
				      struct tscope_error *err)
{
	struct tscope_run_options each = *options;
	struct loading loading;
	struct thread **workers;
	size_t worker_count = options->trace.thread_count, started = 0;

	if (worker_count == 0)
		worker_count = tsi_thread_count();
	if (job_count >= worker_count)
		each.trace.thread_count = 1;
	else
		worker_count = job_count;
	loading = (struct loading){ each, jobs };
	loading.options.trace.progress = NULL; /* is the caller's to show */
	if (tsi_array_new(&workers, worker_count, sizeof(*workers), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	/* The caller is a worker, too. */
	while (started + 1 < worker_count &&
	       tsi_thread_start(&workers[started], run_worker, &loading, NULL) == TSCOPE_OK)
		started++;
	do_jobs(jobs, &each);
	for (size_t i = 0; i < started; i++)
		tsi_thread_join(workers[i]);
	free(workers);
	return TSCOPE_OK;
}

enum tscope_status tsi_load_files(struct load_job *jobs, size_t count,
				  const struct tscope_run_options *options,
				  struct tscope_error *err)
{
	size_t job_count = 0;
	struct queue *queue;

	if (tsi_queue_new(&queue, count, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < count; i++)
		if (jobs[i].file && jobs[i].file->kind != RUN_FILE_MEMORY)
			job_count += tsi_queue_push(queue, &jobs[i]);
	tsi_queue_close(queue);
	enum tscope_status status = do_all_jobs(queue, job_count, options, err);
	tsi_queue_free(queue);
	for (size_t i = 0; status == TSCOPE_OK && i < count; i++)
		if (jobs[i].file && jobs[i].file->kind == RUN_FILE_MEMORY)
			do_job(&jobs[i], options);
	return status;
}
