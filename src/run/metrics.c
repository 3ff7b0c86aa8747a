/* SPDX-License-Identifier: MIT */
/* The log that metrics are read into, and the kinds of files that they come in. */
#include "run/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "decode/json.h"

#define METRIC_SOURCE(id) extern const struct metric_source tsi_metrics_##id;
#include "run/metric_source_list.h"
#undef METRIC_SOURCE

static const struct metric_source *const sources[] = {
#define METRIC_SOURCE(id) &tsi_metrics_##id,
#include "run/metric_source_list.h"
#undef METRIC_SOURCE
};

enum tscope_status tsi_metric_log_init(struct metric_log *log, struct tscope_error *err)
{
	*log = (struct metric_log){ 0 };
	return tsi_intern_init(&log->names, METRIC_MAX_NAMES, err);
}

void tsi_metric_log_deinit(struct metric_log *log)
{
	tsi_intern_deinit(&log->names);
	tsi_intern_deinit(&log->file_names);
	free(log->points);
	*log = (struct metric_log){ 0 };
}

enum tscope_status tsi_metric_log_put(struct metric_log *log, const struct metric_point *point,
				      struct tscope_error *err)
{
	if (log->count == METRIC_MAX_POINTS)
		return tsi_fail(err, TSCOPE_E_LIMIT, "more than %d values (limit: metrics)",
				METRIC_MAX_POINTS);
	if (tsi_array_reserve(&log->points, &log->capacity, log->count + 1, sizeof(*log->points),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	log->points[log->count++] = *point;
	return TSCOPE_OK;
}

enum tscope_status tsi_metric_log_add(struct metric_log *log, struct str name,
				      struct metric_point point, struct tscope_error *err)
{
	if (name.length == 0 || name.length > METRIC_MAX_NAME_BYTES) {
		log->bad_value_count++;
		return TSCOPE_OK;
	}
	enum tscope_status status = tsi_intern_add(&log->names, name, &point.name, err);
	return status == TSCOPE_OK ? tsi_metric_log_put(log, &point, err) : status;
}

/* ---- numbers ---- */

/* NaN and infinity, as Python and others write them. */
static bool read_non_finite(struct str text, double *value)
{
	static const struct {
		const char *text;
		double value;
	} words[] = { { "nan", NAN }, { "inf", INFINITY }, { "infinity", INFINITY } };

	for (size_t i = 0; i < TSI_COUNT_OF(words); i++)
		if (tsi_str_equal_nocase(text, tsi_str_of(words[i].text))) {
			*value = words[i].value;
			return true;
		}
	return false;
}

bool tsi_metric_to_double(struct str text, double *value)
{
	bool is_negative = text.length && text.data[0] == '-';

	if (is_negative || (text.length && text.data[0] == '+'))
		text = tsi_str_tail(text, 1);
	/* One sign is enough; and a quote is no beginning of a number. */
	if (text.length == 0 || !(tsi_is_digit(text.data[0]) || tsi_is_letter(text.data[0])))
		return false;
	if (!read_non_finite(text, value) && !tsi_json_to_double(text, value))
		return false;
	*value = is_negative ? -*value : *value;
	return true;
}

bool tsi_metric_to_step(struct str text, int64_t *step)
{
	double value;

	if (tsi_str_to_int64(text, step))
		return true;
	/* pandas writes whole numbers so where one is missing; beyond 2^53 they are not exact. */
	if (!tsi_metric_to_double(text, &value) || !(fabs(value) <= 0x1p53) ||
	    value != floor(value))
		return false;
	*step = (int64_t)value;
	return true;
}

/* ---- names of columns and keys ---- */

static size_t find_name(const char *const *names, size_t count, struct str name)
{
	size_t i = 0;

	while (i < count && !tsi_str_equal_nocase(name, tsi_str_of(names[i])))
		i++;
	return i;
}

unsigned tsi_metric_step_rank(struct str name)
{
	static const char *const names[] = { "step", "_step", "global_step", "trainer/global_step",
					     "current_steps" };
	size_t rank = find_name(names, TSI_COUNT_OF(names), name);

	return rank < TSI_COUNT_OF(names) ? (unsigned)rank : METRIC_NO_STEP;
}

bool tsi_metric_is_time(struct str name)
{
	static const char *const names[] = { "wall time", "wall_time", "_timestamp" };

	return find_name(names, TSI_COUNT_OF(names), name) < TSI_COUNT_OF(names);
}

int64_t tsi_metric_time(double seconds)
{
	double ns = seconds * 1e9;

	return fabs(ns) < 0x1p63 ? (int64_t)ns : NO_METRIC_TIME;
}

/* ---- sources ---- */

const struct metric_source *tsi_metric_source_find(const char *path, struct str head,
						   unsigned least_bits)
{
	const struct metric_source *best = NULL;
	unsigned best_bits = least_bits - 1;

	for (size_t i = 0; i < TSI_COUNT_OF(sources); i++) {
		unsigned bits = sources[i]->taste(path, head);
		if (bits > best_bits) {
			best = sources[i];
			best_bits = bits;
		}
	}
	return best;
}

enum tscope_status tsi_metric_source_of_folder(const struct metric_source **ret, const char *path,
					       const struct tscope_members *members,
					       struct tscope_error *err)
{
	*ret = NULL;
	for (size_t i = 0; i < TSI_COUNT_OF(sources); i++) {
		bool is_this = false;

		if (!sources[i]->is_folder)
			continue;
		if (sources[i]->is_folder(path, members, &is_this, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		if (is_this)
			*ret = sources[i];
	}
	return TSCOPE_OK;
}

/* ---- reading ---- */

enum tscope_status tsi_metrics_read_file(const struct metric_source *source,
					 const struct metric_file *file, struct metric_log *log,
					 struct metric_reading *reading, struct tscope_error *err)
{
	struct input *in;
	enum tscope_status status = tsi_input_open_file(&in, file->path, file->options, err);

	if (status != TSCOPE_OK)
		return status;
	status = source->read(in, file->name, log, err);
	reading->source_bytes += tsi_input_stored_bytes(in);
	reading->bytes += tsi_input_offset(in);
	snprintf(reading->compression, sizeof(reading->compression), "%s", tsi_input_filters(in));
	tsi_input_close(in);
	return status;
}

/* Why there is no value: what was left out, if anything was. */
static enum tscope_status fail_empty(const struct metric_log *log, struct tscope_error *err)
{
	if (log->without_step_count > 0)
		return tsi_fail(err, TSCOPE_E_EMPTY, "no value says its step");
	if (log->bad_record_count + log->bad_value_count > 0)
		return tsi_fail(err, TSCOPE_E_EMPTY, "no value can be read");
	return tsi_fail(err, TSCOPE_E_EMPTY, "holds no value%s",
			log->other_count > 0 ? " that is a scalar" : "");
}

enum tscope_status tsi_metrics_read(const struct metric_source *source, const char *path,
				    const struct input_options *options, struct metric_log *log,
				    struct metric_reading *reading, struct tscope_error *err)
{
	struct metric_file file = { .path = path, .options = options };
	bool is_folder = false;
	enum tscope_status status = TSCOPE_OK;

	*reading = (struct metric_reading){ .compression = "none" };
	if (source->is_folder)
		status =
			source->is_folder(path, options ? options->members : NULL, &is_folder, err);
	if (status == TSCOPE_OK && is_folder) {
		status = source->read_folder(&file, log, reading, err);
	} else if (status == TSCOPE_OK) {
		file.name = source->name ? source->name(path) : (struct str){ 0 };
		status = tsi_metrics_read_file(source, &file, log, reading, err);
	}
	return status == TSCOPE_OK && log->count == 0 ? fail_empty(log, err) : status;
}
