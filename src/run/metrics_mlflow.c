/* SPDX-License-Identifier: MIT */
/*
 * MLflow's file store: a run is a folder, and in its folder "metrics" each metric is a text file
 * of lines "time_ms value step". A slash in the name of a metric makes a folder. Lines are
 * appended by whoever logs, so they are in no order; what was logged last for a step holds.
 */
#include "run/metrics.h"

#include <math.h>
#include <stdlib.h>

#include "base/ckd.h"
#include "base/error.h"
#include "decode/records/text_rows.h"
#include "run/file_name.h"
#include "run/folder.h"
#include "run/mlflow_run.h"

enum { MAX_DEPTH = 16, NS_OF_MS = 1000000, TASTE_BITS = 16, TASTED_BYTES = 256 };

const struct metric_source tsi_metrics_mlflow;

static const struct str folder_name = { "metrics", 7 };

/* ---- lines ---- */

/* Takes a field off a line, with one blank between two. False: there is none. */
static bool take_field(struct str *line, struct str *field)
{
	*field = tsi_str_take(line, ' ');
	return field->length > 0;
}

/* Newer versions write further fields, which are not ours; older ones no step. */
static bool read_line(struct str line, struct metric_point *point, bool *has_step)
{
	struct str time, value, step;
	int64_t time_ms;

	*point = (struct metric_point){ .time_ns = NO_METRIC_TIME };
	if (!take_field(&line, &time) || !tsi_str_to_int64(time, &time_ms) ||
	    !take_field(&line, &value) || !tsi_metric_to_double(value, &point->value))
		return false;
	if (tsi_ckd_mul(&point->time_ns, time_ms, NS_OF_MS))
		point->time_ns = NO_METRIC_TIME;
	*has_step = take_field(&line, &step);
	return !*has_step || tsi_str_to_int64(step, &point->step);
}

/* ---- tasting ---- */

/* The part after the last folder "metrics" of a path; empty if there is none. */
static struct str name_of_path(const char *path)
{
	struct str name = { 0 };

	for (const char *part = path; part; part = strchr(part, '/')) {
		part += *part == '/';
		struct str rest = tsi_str_of(part);

		if (tsi_str_has_prefix(rest, folder_name) && part[folder_name.length] == '/')
			name = (struct str){ part + folder_name.length + 1,
					     rest.length - folder_name.length - 1 };
	}
	return name;
}

static bool begins_with_metric(struct str head)
{
	size_t length = head.length;
	struct str line = tsi_str_take(&head, '\n');
	struct metric_point point;
	bool has_step, is_whole = line.length < length;

	return is_whole && read_line(tsi_str_trim(line), &point, &has_step);
}

static unsigned taste(const char *path, struct str head)
{
	return name_of_path(path).length > 0 && begins_with_metric(head) ? TASTE_BITS : 0;
}

/* ---- files ---- */

/* By step, then time, then value: the last of a step is the one that MLflow shows. */
static int compare_points(const void *left, const void *right)
{
	const struct metric_point *a = left, *b = right;

	TSI_ASCENDING(a->step, b->step);
	TSI_ASCENDING(a->time_ns, b->time_ns);
	if (isnan(a->value) || isnan(b->value))
		return !isnan(a->value) - !isnan(b->value);
	return (a->value > b->value) - (a->value < b->value);
}

static enum tscope_status add_line(struct metric_log *log, const struct text_row *row,
				   const struct metric_point *metric, struct tscope_error *err)
{
	struct metric_point point;
	bool has_step;

	log->record_count++;
	if (!row->has_end) {
		log->is_cut = true; /* whether its last number is whole nobody knows */
		return TSCOPE_OK;
	}
	if (row->is_too_long || !read_line(tsi_str_trim(row->text), &point, &has_step)) {
		log->bad_record_count++;
		return TSCOPE_OK;
	}
	if (!has_step) {
		log->without_step_count++;
		return TSCOPE_OK;
	}
	point.name = metric->name;
	point.is_sample = metric->is_sample;
	return tsi_metric_log_put(log, &point, err);
}

static enum tscope_status read_lines(struct input *in, const struct metric_point *metric,
				     struct metric_log *log, struct tscope_error *err)
{
	struct text_rows rows = { .in = in };
	struct text_row row;
	enum tscope_status status;

	while ((status = tsi_text_rows_next(&rows, &row, err)) == TSCOPE_OK) {
		status = add_line(log, &row, metric, err);
		if (status != TSCOPE_OK)
			return status;
	}
	return status == TSCOPE_END ? TSCOPE_OK : status;
}

static enum tscope_status read_metrics(struct input *in, struct str name, struct metric_log *log,
				       struct tscope_error *err)
{
	struct metric_point metric = { .is_sample = tsi_str_starts(name, "system/") };
	size_t first = log->count;

	if (name.length > METRIC_MAX_NAME_BYTES)
		return tsi_fail(err, TSCOPE_E_LIMIT,
				"a name of more than %d bytes (limit: names "
				"of metrics)",
				METRIC_MAX_NAME_BYTES);
	enum tscope_status status = tsi_intern_add(&log->names, name, &metric.name, err);
	if (status == TSCOPE_OK)
		status = read_lines(in, &metric, log, err);
	if (log->count > first)
		qsort(log->points + first, log->count - first, sizeof(*log->points),
		      compare_points);
	return status;
}

/* ---- folders ---- */

/* A walk through all files of a store. */
struct walk {
	const struct tscope_members *members; /* the folder may be in an archive; or NULL */
	size_t root_length; /* of the paths, with the slash: the name stands behind it */
	size_t left_count;  /* of entries that may still be seen */
	enum tscope_status (*visit)(struct walk *walk, const char *path, struct tscope_error *err);
	const struct metric_file *folder;
	struct metric_log *log;
	struct metric_reading *reading;
	struct tscope_error lost; /* why the first file cannot be read */
	bool is_store;            /* a file that was looked at begins as metrics do */
};

static enum tscope_status walk_folder(struct walk *walk, const char *path, unsigned depth,
				      struct tscope_error *err);

static void lose(struct walk *walk, const char *path, const struct tscope_error *why)
{
	walk->log->lost_file_count++;
	if (walk->lost.status != TSCOPE_OK)
		return;
	walk->lost = *why;
	tsi_fail_within(&walk->lost, "%s", path);
}

static enum tscope_status walk_entry(struct walk *walk, const struct folder_entry *entry,
				     unsigned depth, struct tscope_error *err)
{
	struct tscope_error why;

	if (tsi_is_folder(entry) && depth < MAX_DEPTH)
		return walk_folder(walk, entry->path, depth + 1, err);
	if (tsi_may_be_file(entry))
		return walk->visit(walk, entry->path, err);
	tsi_fail(&why, TSCOPE_E_IO, "neither a file nor a folder of depth %d at most", MAX_DEPTH);
	if (walk->log)
		lose(walk, entry->path, &why);
	return TSCOPE_OK;
}

static enum tscope_status walk_folder(struct walk *walk, const char *path, unsigned depth,
				      struct tscope_error *err)
{
	const struct folder_query query = {
		.path = path,
		.prefix = TSI_STR(""),
		.max_count = walk->left_count,
		.members = walk->members,
	};
	struct folder folder;
	enum tscope_status status = tsi_folder_read(&folder, &query, err);

	walk->left_count -= folder.count;
	for (size_t i = 0; status == TSCOPE_OK && i < folder.count; i++)
		status = walk_entry(walk, &folder.items[i], depth, err);
	tsi_arena_deinit(&folder.arena);
	return status;
}

static size_t root_length(const char *path)
{
	size_t length = strlen(path);

	return length + (length > 0 && path[length - 1] != '/');
}

/* The first file that is not empty decides whether it is a store. */
static enum tscope_status look_at_file(struct walk *walk, const char *path,
				       struct tscope_error *err)
{
	const struct input_options options = { .block_bytes = TASTED_BYTES,
					       .single_thread = true,
					       .members = walk->members };
	struct str head = { 0 };
	struct input *in;

	enum tscope_status status = tsi_input_open_file(&in, path, &options, err);
	if (status == TSCOPE_OK) {
		status = tsi_input_peek(in, TASTED_BYTES, &head.data, &head.length, err);
		if (status == TSCOPE_OK || status == TSCOPE_END)
			walk->is_store = begins_with_metric(head);
		tsi_input_close(in);
	}
	/* One that cannot be read may be: reading the store says it. */
	walk->is_store |= status == TSCOPE_E_IO;
	if (status == TSCOPE_E_NOMEM)
		return status;
	return head.length > 0 ? TSCOPE_END : TSCOPE_OK;
}

static enum tscope_status is_folder(const char *path, const struct tscope_members *members,
				    bool *is_this, struct tscope_error *err)
{
	struct walk walk = { .members = members,
			     .left_count = METRIC_MAX_NAMES,
			     .visit = look_at_file };
	struct tscope_error why;
	enum tscope_status status = TSCOPE_OK;

	*is_this = false;
	if (tsi_str_equal(tsi_str_of(tsi_base_name(path)), folder_name))
		status = tsi_is_mlflow_run(path, members, is_this, err);
	if (status != TSCOPE_OK || !*is_this)
		return status;
	status = walk_folder(&walk, path, 0, &why);
	*is_this = walk.is_store || (status == TSCOPE_E_IO && tsi_may_be_there(members, path));
	return status == TSCOPE_E_NOMEM ? tsi_fail_nomem(err) : TSCOPE_OK;
}

/* A file that cannot be read costs its metric only. */
static enum tscope_status read_file(struct walk *walk, const char *path, struct tscope_error *err)
{
	struct metric_file file = { path, tsi_str_of(path + walk->root_length),
				    walk->folder->options };
	struct tscope_error why = { 0 };
	enum tscope_status status =
		tsi_metrics_read_file(&tsi_metrics_mlflow, &file, walk->log, walk->reading, &why);

	if (status == TSCOPE_OK)
		return TSCOPE_OK;
	if (status != TSCOPE_E_NOMEM && status != TSCOPE_E_LIMIT) {
		lose(walk, path, &why);
		return TSCOPE_OK;
	}
	if (err)
		*err = why;
	return status;
}

static enum tscope_status read_folder(const struct metric_file *folder, struct metric_log *log,
				      struct metric_reading *reading, struct tscope_error *err)
{
	struct walk walk = {
		.members = folder->options ? folder->options->members : NULL,
		.root_length = root_length(folder->path),
		.left_count = METRIC_MAX_NAMES,
		.visit = read_file,
		.folder = folder,
		.log = log,
		.reading = reading,
	};

	enum tscope_status status = walk_folder(&walk, folder->path, 0, err);
	if (status == TSCOPE_OK && walk.lost.status != TSCOPE_OK && err)
		*err = walk.lost;
	return status == TSCOPE_OK ? walk.lost.status : status;
}

static const char *const beside[] = { "params", "tags", NULL };

const struct metric_source tsi_metrics_mlflow = {
	.id = "mlflow",
	.taste = taste,
	.name = name_of_path,
	.read = read_metrics,
	.is_folder = is_folder,
	.read_folder = read_folder,
	.describe = tsi_mlflow_describe,
	.beside = beside,
};
