/* SPDX-License-Identifier: MIT */
/* Reads metrics: a file, or a folder that is a store of them. */
#include "session/load.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "session/open_trace.h"

static void note_metrics(struct loaded *loaded, const struct metric_log *log)
{
	if (log->bad_record_count > 0)
		tsi_loaded_note(loaded, "broken records: %" PRIu64 " of %" PRIu64,
				log->bad_record_count, log->record_count);
	if (log->bad_value_count > 0)
		tsi_loaded_note(loaded, "values that are no number: %" PRIu64,
				log->bad_value_count);
	if (log->without_step_count > 0)
		tsi_loaded_note(loaded, "values without a step: %" PRIu64, log->without_step_count);
	if (log->other_count > 0)
		tsi_loaded_note(loaded,
				"images, histograms and the like, which are no scalars: %" PRIu64,
				log->other_count);
	if (log->lost_file_count > 0)
		tsi_loaded_note(loaded, "files that cannot be read: %" PRIu64,
				log->lost_file_count);
	if (log->is_cut)
		tsi_loaded_note(loaded, "the last record is incomplete");
}

static void describe_metrics(struct loaded *loaded, const struct metric_reading *reading)
{
	const struct metric_log *log = &loaded->metrics;

	snprintf(loaded->compression, sizeof(loaded->compression), "%s", reading->compression);
	loaded->input.source_bytes = reading->source_bytes;
	loaded->input.bytes = reading->bytes;
	/* Nobody knows how many values a broken record holds: it counts as one. */
	loaded->input.dropped_count = log->bad_record_count + log->bad_value_count +
				      log->without_step_count + log->is_cut;
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
	return tsi_fail(err, TSCOPE_E_EMPTY, "no value for steps %" PRId64 " to %" PRId64,
			options->first_step, options->last_step);
}

/* Values that came before the source broke are kept. */
enum tscope_status tsi_load_metrics(struct loaded *loaded, const struct run_file *file,
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
		tsi_loaded_keep_damage(loaded, status, err);
	describe_metrics(loaded, &reading);
	status = select_metrics(&loaded->metrics, &options->timeline, err);
	if (status != TSCOPE_OK || !file->metrics->describe)
		return status;
	status = file->metrics->describe(&folder, &loaded->steps, err);
	if (status != TSCOPE_OK && !loaded->input.damage)
		tsi_loaded_keep_damage(loaded, status, err);
	return TSCOPE_OK;
}
