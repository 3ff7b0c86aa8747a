/* SPDX-License-Identifier: MIT */
#include "metric_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"

#define METRIC_SOURCE(id) extern const struct metric_source tsi_metrics_##id;
#include "run/metric_source_list.h"
#undef METRIC_SOURCE

static const struct metric_source *find_source(const char *id)
{
	static const struct metric_source *const sources[] = {
#define METRIC_SOURCE(id) &tsi_metrics_##id,
#include "run/metric_source_list.h"
#undef METRIC_SOURCE
	};

	for (size_t i = 0; i < TSI_COUNT_OF(sources); i++)
		if (strcmp(sources[i]->id, id) == 0)
			return sources[i];
	fail_msg("no source %s", id);
	return NULL;
}

enum tscope_status metrics_read(struct metric_log *log, const char *id, struct str name,
				struct str text, size_t block_bytes, struct tscope_error *err)
{
	const struct input_options options = { .block_bytes = block_bytes, .single_thread = true };
	struct input *in;
	enum tscope_status status = tsi_metric_log_init(log, err);

	if (status == TSCOPE_OK)
		status = tsi_input_open_memory(&in, text.data, text.length, &options, err);
	if (status != TSCOPE_OK)
		return status;
	status = find_source(id)->read(in, name, log, err);
	tsi_input_close(in);
	return status;
}

static void put_counts(FILE *out, const struct metric_log *log)
{
	const struct {
		const char *word;
		uint64_t count;
	} counts[] = {
		{ " bad", log->bad_record_count },       { " no-number", log->bad_value_count },
		{ " no-step", log->without_step_count }, { " other", log->other_count },
		{ " lost", log->lost_file_count },
	};

	fprintf(out, "records %" PRIu64, log->record_count);
	for (size_t i = 0; i < TSI_COUNT_OF(counts); i++)
		if (counts[i].count > 0)
			fprintf(out, "%s %" PRIu64, counts[i].word, counts[i].count);
	fprintf(out, "%s\n", log->is_cut ? " cut" : "");
}

char *metrics_dump(const struct metric_log *log)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	for (size_t i = 0; i < log->count; i++) {
		const struct metric_point *point = &log->points[i];

		fprintf(out, "%" PRId64 " %s ", point->step,
			tsi_intern_text(&log->names, point->name).data);
		if (isnan(point->value))
			fputs("nan", out);
		else
			fprintf(out, "%.17g", point->value);
		if (point->time_ns != NO_METRIC_TIME)
			fprintf(out, " @%" PRId64, point->time_ns);
		fputs(point->is_sample ? " sample\n" : "\n", out);
	}
	put_counts(out, log);
	assert_int_equal(fclose(out), 0);
	return text;
}

void metrics_expect(const char *id, const char *name, struct str text, const char *expected)
{
	static const size_t block_sizes[] = { 0, 1, 2, 3, 64 };

	for (size_t i = 0; i < TSI_COUNT_OF(block_sizes); i++) {
		struct metric_log log;
		struct tscope_error err = { 0 };

		if (metrics_read(&log, id, tsi_str_of(name), text, block_sizes[i], &err) !=
		    TSCOPE_OK)
			fail_msg("failed: %s", err.message);
		char *dump = metrics_dump(&log);
		assert_string_equal(dump, expected);
		free(dump);
		tsi_metric_log_deinit(&log);
	}
}

void metrics_check_tastes(const char *id, const struct taste_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct str head = tsi_str_of(cases[i].head);
		const struct metric_source *found =
			tsi_metric_source_find(cases[i].path, head, METRIC_TASTE_CERTAIN);
		const struct metric_source *named = tsi_metric_source_find(cases[i].path, head, 1);

		if ((found != NULL) != cases[i].is_found || (named != NULL) != cases[i].is_named)
			fail_msg("%s: %s", cases[i].path, cases[i].head);
		assert_true(!named || strcmp(named->id, id) == 0);
	}
}

void metrics_cut_everywhere(const char *id, struct str text)
{
	const struct str name = TSI_STR("m");
	struct metric_log whole;

	assert_int_equal(metrics_read(&whole, id, name, text, 0, NULL), TSCOPE_OK);
	for (size_t length = 0; length < text.length; length++) {
		struct metric_log log;
		char *part = malloc(length + 1); /* of its own, so that a byte too many is seen */

		assert_non_null(part);
		memcpy(part, text.data, length);
		part[length] = '\0';
		assert_int_equal(
			metrics_read(&log, id, name, (struct str){ part, length }, 0, NULL),
			TSCOPE_OK);
		assert_true(log.count <= whole.count);
		for (size_t i = 0; i < log.count; i++) {
			assert_int_equal(log.points[i].step, whole.points[i].step);
			assert_int_equal(log.points[i].time_ns, whole.points[i].time_ns);
			assert_memory_equal(&log.points[i].value, &whole.points[i].value,
					    sizeof(double));
		}
		assert_true(log.count == 0 || log.count == whole.count || log.is_cut ||
			    log.record_count < whole.record_count);
		tsi_metric_log_deinit(&log);
		free(part);
	}
	tsi_metric_log_deinit(&whole);
}

size_t metrics_fail_everywhere(const char *id, struct str text)
{
	struct alloc_sweep sweep = { 0 };

	while (alloc_sweep_next(&sweep)) {
		struct metric_log log;

		alloc_sweep_try(&sweep, metrics_read(&log, id, TSI_STR("m"), text, 1, &sweep.err));
		tsi_metric_log_deinit(&log);
	}
	return sweep.failed_count;
}
