/* SPDX-License-Identifier: MIT */
/*
 * What a run of MLflow's file store says of itself beside its metrics: meta.yaml (lines of
 * "key: value"), and in the folders params and tags a file for each, which is the value.
 */
#include "run/mlflow_run.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "run/file_name.h"
#include "run/folder.h"
#include "run/settings.h"

/* ---- paths ---- */

/* The path of what stands beside the folder "metrics". */
static const char *path_beside(struct arena *arena, const char *metrics, const char *name)
{
	return tsi_path_join(arena, tsi_folder_of(metrics), tsi_str_of(name));
}

enum tscope_status tsi_is_mlflow_run(const char *metrics, bool *is_run, struct tscope_error *err)
{
	static const char *const names[] = { "meta.yaml", "params", "tags" };
	struct arena scratch = { 0 };
	struct stat found;

	*is_run = false;
	for (size_t i = 0; i < TSI_COUNT_OF(names) && !*is_run; i++)
		*is_run = stat(path_beside(&scratch, metrics, names[i]), &found) == 0;
	enum tscope_status status = tsi_arena_status(&scratch, err);
	tsi_arena_deinit(&scratch);
	return status;
}

/* ---- texts ---- */

enum { MAX_TEXT_BYTES = 64 << 10 };

/* The first bytes of a file; the input holds them. NULL in *in: it cannot be read. */
static enum tscope_status open_text(struct input **in, struct str *text, const char *path,
				    const struct input_options *options, struct tscope_error *err)
{
	enum tscope_status status = tsi_input_open_file(in, path, options, err);

	*text = (struct str){ 0 };
	if (status == TSCOPE_OK) {
		status = tsi_input_peek(*in, MAX_TEXT_BYTES, &text->data, &text->length, err);
		if (status == TSCOPE_OK || status == TSCOPE_END)
			return TSCOPE_OK;
		tsi_input_close(*in);
	}
	*in = NULL;
	return status == TSCOPE_E_NOMEM ? status : TSCOPE_OK;
}

/* A value of YAML without the quotes that it may have. */
static struct str unquote(struct str value)
{
	if (value.length >= 2 && (value.data[0] == '\'' || value.data[0] == '"') &&
	    value.data[value.length - 1] == value.data[0])
		return (struct str){ value.data + 1, value.length - 2 };
	return value;
}

/* The value of a key on a line by itself, or the empty text. */
static struct str value_of(struct str text, struct str key)
{
	while (text.length > 0) {
		struct str line = tsi_str_take(&text, '\n');

		if (tsi_str_has_prefix(line, key) && line.length > key.length &&
		    line.data[key.length] == ':')
			return unquote(tsi_str_trim((struct str){ line.data + key.length + 1,
								  line.length - key.length - 1 }));
	}
	return (struct str){ 0 };
}

/* ---- what is said ---- */

/* Times are ms since 1970; a run that goes on has no end ("null"). */
static void take_times(struct str meta, struct step_provenance *to)
{
	int64_t start_ms, end_ms;

	if (!tsi_str_to_int64(value_of(meta, TSI_STR("start_time")), &start_ms) || start_ms <= 0)
		return;
	to->started_s = (double)start_ms / 1e3;
	if (tsi_str_to_int64(value_of(meta, TSI_STR("end_time")), &end_ms) && end_ms >= start_ms)
		to->wall_s = (double)(end_ms - start_ms) / 1e3;
}

static enum tscope_status take_meta(struct str meta, struct step_series *steps,
				    struct tscope_error *err)
{
	struct str name = value_of(meta, TSI_STR("run_name"));

	take_times(meta, &steps->provenance);
	if (name.length == 0 || name.length > SETTING_MAX_NAME_BYTES)
		return TSCOPE_OK;
	return tsi_intern_add(&steps->names, name, &steps->provenance.run_name, err);
}

static enum tscope_status read_meta(const struct metric_file *metrics, struct step_series *steps,
				    const char *path, struct tscope_error *err)
{
	struct input *in = NULL;
	struct str text;
	enum tscope_status status = open_text(&in, &text, path, metrics->options, err);

	if (in)
		status = take_meta(text, steps, err);
	tsi_input_close(in);
	return status;
}

static enum tscope_status read_param(const struct metric_file *metrics, const char *path,
				     struct step_series *steps, struct tscope_error *err)
{
	struct input *in;
	struct str text;
	enum tscope_status status = open_text(&in, &text, path, metrics->options, err);

	if (in)
		status = tsi_settings_add(&steps->provenance.config, &steps->names,
					  tsi_str_of(tsi_base_name(path)), text, err);
	tsi_input_close(in);
	return status;
}

static enum tscope_status read_params(const struct metric_file *metrics, struct step_series *steps,
				      const char *path, struct tscope_error *err)
{
	const struct folder_query query = {
		.path = path,
		.prefix = TSI_STR(""),
		.max_count = MAX_SETTINGS,
	};
	struct folder folder;
	enum tscope_status status = tsi_folder_read(&folder, &query, err);

	for (size_t i = 0; status == TSCOPE_OK && i < folder.count; i++)
		if (folder.items[i].error == 0 && S_ISREG(folder.items[i].stat.st_mode))
			status = read_param(metrics, folder.items[i].path, steps, err);
	tsi_arena_deinit(&folder.arena);
	return status == TSCOPE_E_NOMEM ? status : TSCOPE_OK;
}

enum tscope_status tsi_mlflow_describe(const struct metric_file *metrics, struct step_series *steps,
				       struct tscope_error *err)
{
	struct arena scratch = { 0 };
	const char *meta = path_beside(&scratch, metrics->path, "meta.yaml");
	const char *params = path_beside(&scratch, metrics->path, "params");
	enum tscope_status status = tsi_arena_status(&scratch, err);

	if (status == TSCOPE_OK)
		status = read_meta(metrics, steps, meta, err);
	if (status == TSCOPE_OK)
		status = read_params(metrics, steps, params, err);
	tsi_arena_deinit(&scratch);
	return status == TSCOPE_OK
		       ? tsi_settings_sort(&steps->provenance.config, &steps->names, err)
		       : status;
}
