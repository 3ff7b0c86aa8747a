/* SPDX-License-Identifier: MIT */
/* Reads step records, and what run.json beside them says. */
#include "session/load.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "input/input.h"
#include "run/store.h"
#include "session/open_trace.h"

enum { RUN_JSON_MAX_BYTES = 16 << 20 };

static void note_log(struct loaded *loaded, const struct store_log *log)
{
	if (log->run_count > 1)
		tsi_loaded_note(loaded,
				"%" PRIu64
				" runs one after another: the last one, from line %" PRIu64
				", was taken, and %" PRIu64 " earlier records were not",
				log->run_count, log->last_run_line, log->earlier_count);
	if (log->bad_line_count > 0)
		tsi_loaded_note(loaded, "lines that are no step records: %" PRIu64,
				log->bad_line_count);
	if (log->bad_value_count > 0)
		tsi_loaded_note(loaded, "values that are no time or size: %" PRIu64,
				log->bad_value_count);
	if (log->is_cut)
		tsi_loaded_note(loaded, "the last line is incomplete");
}

static enum tscope_status read_run_json(struct loaded *loaded, const char *path,
					const struct input_options *options,
					struct tscope_error *err)
{
	const char *data = NULL;
	size_t length = 0;
	struct input *in;
	enum tscope_status status = tsi_input_open_file(&in, path, options, err);

	if (status != TSCOPE_OK)
		return status;
	status = tsi_input_peek(in, RUN_JSON_MAX_BYTES, &data, &length, err);
	if (status == TSCOPE_END)
		status = tsi_run_json_read((struct str){ data, length }, &loaded->steps, err);
	else if (status == TSCOPE_OK)
		status = tsi_fail(err, TSCOPE_E_LIMIT, "more than %d bytes (limit: run.json)",
				  RUN_JSON_MAX_BYTES);
	tsi_input_close(in);
	return status;
}

/* A broken one costs what only it says: the size of the world, FLOPs, the peak. */
static enum tscope_status take_run_json(struct loaded *loaded, const char *path,
					const struct input_options *options,
					struct tscope_error *err)
{
	struct tscope_error why = { 0 };
	enum tscope_status status = read_run_json(loaded, path, options, &why);

	if (status == TSCOPE_E_NOMEM)
		return tsi_fail_nomem(err);
	if (status == TSCOPE_OK)
		return TSCOPE_OK;
	tsi_fail_within(&why, "run.json beside it");
	if (loaded->input.damage)
		tsi_loaded_note(loaded, "%s", why.message);
	else
		tsi_loaded_keep_damage(loaded, status, &why);
	return TSCOPE_OK;
}

static void describe_store(struct loaded *loaded, const struct input *in,
			   const struct store_log *log)
{
	snprintf(loaded->compression, sizeof(loaded->compression), "%s", tsi_input_filters(in));
	loaded->input.source_bytes = tsi_input_stored_bytes(in);
	loaded->input.bytes = tsi_input_offset(in);
	loaded->input.event_count = log->line_count;
	loaded->input.dropped_count = log->bad_line_count + log->is_cut;
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
		tsi_loaded_keep_damage(loaded, status, err);
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

enum tscope_status tsi_load_steps(struct loaded *loaded, const struct run_file *file,
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
		status = take_run_json(loaded, file->run_json, &input_options, err);
	if (status == TSCOPE_OK && loaded->steps.rank >= 0)
		loaded->input.rank = loaded->steps.rank;
	if (status == TSCOPE_OK)
		status = select_steps(&loaded->steps, &options->timeline, err);
	return status;
}
