/* SPDX-License-Identifier: MIT */
/*
 * Metadata of a run in MLflow's file store, beside its metrics: meta.yaml (lines of "key: value"),
 * and in the folders params and tags a file for each, which is the value.
 */
#include "run/mlflow_run.h"

#include <sys/stat.h>

#include "base/error.h"
#include "input/members.h"
#include "run/file_name.h"
#include "run/folder.h"
#include "run/settings.h"

/* ---- paths ---- */

/* The path of what stands beside the folder "metrics". */
static const char *path_beside(struct arena *arena, const char *metrics, const char *name)
{
	return tsi_path_join(arena, tsi_folder_of(metrics), tsi_str_of(name));
}

enum tscope_status tsi_is_mlflow_run(const char *metrics, const struct tscope_members *members,
				     bool *is_run, struct tscope_error *err)
{
	static const char *const names[] = { "meta.yaml", "params", "tags" };
	struct arena scratch = { 0 };
	struct stat found;

	*is_run = false;
	for (size_t i = 0; i < TSI_COUNT_OF(names) && !*is_run; i++)
		*is_run = tsi_members_stat(members, path_beside(&scratch, metrics, names[i]),
					   &found) == 0;
	enum tscope_status status = tsi_arena_status(&scratch, err);
	tsi_arena_deinit(&scratch);
	return status;
}

/* ---- texts ---- */

enum { MAX_TEXT_BYTES = 64 << 10 };

/* Who describes the steps of a run. */
struct describer {
	const struct input_options *options;
	struct step_series *steps;
	struct tscope_error lost; /* why the first file that is there cannot be read */
};

static void note_lost(struct describer *d, const char *path, const struct tscope_error *why)
{
	d->steps->has_failed |= why->status == TSCOPE_E_NOMEM;
	if (why->status != TSCOPE_E_IO || d->lost.status != TSCOPE_OK ||
	    !tsi_may_be_there(d->options->members, path))
		return;
	d->lost = *why;
	tsi_fail_within(&d->lost, "%s", path);
}

/* The first bytes of a file, which the input holds; NULL: it cannot be read. */
static struct input *open_text(struct describer *d, const char *path, struct str *text)
{
	struct input *in = NULL;
	struct tscope_error why = { 0 };
	enum tscope_status status = tsi_input_open_file(&in, path, d->options, &why);

	*text = (struct str){ 0 };
	if (status == TSCOPE_OK) {
		status = tsi_input_peek(in, MAX_TEXT_BYTES, &text->data, &text->length, &why);
		if (status == TSCOPE_OK || status == TSCOPE_END)
			return in;
		tsi_input_close(in);
	}
	*text = (struct str){ 0 };
	note_lost(d, path, &why);
	return NULL;
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

static void read_meta(struct describer *d, const char *path)
{
	struct step_provenance *to = &d->steps->provenance;
	struct str text;
	struct input *in = open_text(d, path, &text);
	struct str name = value_of(text, TSI_STR("run_name"));

	take_times(text, to);
	if (name.length > 0 && name.length <= SETTING_MAX_NAME_BYTES)
		to->run_name = tsi_steps_name(d->steps, name);
	if (to->run_name == NO_ROW)
		to->run_name = 0;
	tsi_input_close(in);
}

static void read_param(struct describer *d, const char *path)
{
	struct str text;
	struct input *in = open_text(d, path, &text);

	if (in)
		tsi_settings_add(d->steps, &d->steps->provenance.config,
				 tsi_str_of(tsi_base_name(path)), text);
	tsi_input_close(in);
}

static void read_params(struct describer *d, const char *path)
{
	const struct folder_query query = {
		.path = path,
		.prefix = TSI_STR(""),
		.max_count = MAX_SETTINGS,
		.members = d->options->members,
	};
	struct folder folder;
	struct tscope_error why = { 0 };
	enum tscope_status status = tsi_folder_read(&folder, &query, &why);

	note_lost(d, path, &why);
	for (size_t i = 0; status == TSCOPE_OK && !d->steps->has_failed && i < folder.count; i++)
		if (tsi_may_be_file(&folder.items[i]))
			read_param(d, folder.items[i].path);
	tsi_arena_deinit(&folder.arena);
}

enum tscope_status tsi_mlflow_describe(const struct metric_file *metrics, struct step_series *steps,
				       struct tscope_error *err)
{
	struct describer d = { .options = metrics->options, .steps = steps };
	struct arena scratch = { 0 };
	const char *meta = path_beside(&scratch, metrics->path, "meta.yaml");
	const char *params = path_beside(&scratch, metrics->path, "params");

	steps->has_failed |= scratch.has_failed;
	if (!steps->has_failed) {
		read_meta(&d, meta);
		read_params(&d, params);
		tsi_settings_sort(steps, &steps->provenance.config);
	}
	tsi_arena_deinit(&scratch);
	if (d.lost.status != TSCOPE_OK && err)
		*err = d.lost;
	return d.lost.status;
}
