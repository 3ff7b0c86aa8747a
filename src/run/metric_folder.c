/* SPDX-License-Identifier: MIT */
/*
 * What folders say of the metrics in them. Keras writes the same names for training and for
 * validation into two folders side by side; SummaryWriter.add_scalars("loss", {"train": …, "val":
 * …}) writes loss into the folders loss_train and loss_val; TensorFlow's estimators write those of
 * validation into the folder eval below that of training. There the folder is part of the name.
 */
#include "run/scalars.h"

#include <stdlib.h>

#include "base/array.h"
#include "run/file_name.h"

/* The folder that a file is in: where that lies, and what it is called. */
struct folder {
	struct str parent, name;
};

static struct folder folder_of(const char *path)
{
	struct str rest = tsi_str_of(path);
	struct folder folder = { 0 };
	size_t begin;

	while (rest.length > 0 && rest.data[rest.length - 1] != '/')
		rest.length--;
	if (rest.length == 0)
		return folder;
	begin = --rest.length;
	while (begin > 0 && rest.data[begin - 1] != '/')
		begin--;
	folder.parent = (struct str){ rest.data, begin };
	folder.name = (struct str){ rest.data + begin, rest.length - begin };
	return folder;
}

static bool is_word_part(char c)
{
	return tsi_is_letter(c) || tsi_is_digit(c);
}

/* "validation", "loss_val" */
static bool is_of_validation(struct str name)
{
	static const char *const words[] = { "val",        "valid", "validation", "eval",
					     "evaluation", "test",  "dev" };
	size_t begin = name.length;
	struct str word;

	if (name.length == 0)
		return false;
	while (begin > 0 && is_word_part(name.data[begin - 1]))
		begin--;
	word = (struct str){ name.data + begin, name.length - begin };
	for (size_t i = 0; i < TSI_COUNT_OF(words); i++)
		if (tsi_str_equal_nocase(word, tsi_str_of(words[i])))
			return true;
	return false;
}

/* Is it "loss_train", where the only metric is "loss"? Slashes of names are _ in folders. */
static bool is_of_metric(struct str folder, struct str metric)
{
	if (metric.length == 0 || folder.length <= metric.length + 1 ||
	    folder.data[metric.length] != '_')
		return false;
	for (size_t i = 0; i < metric.length; i++) {
		char c = metric.data[i] == '/' ? '_' : metric.data[i];

		if (c != folder.data[i])
			return false;
	}
	return true;
}

/* ---- renaming ---- */

/* Puts before, a slash and the name, or before alone, in the place of each name. */
static enum tscope_status add_name(struct intern *names, struct str before, struct str name,
				   bool keeps_name, struct tscope_error *err)
{
	size_t length = before.length + (keeps_name ? 1 + name.length : 0);
	enum tscope_status status;
	char *text = NULL;
	uint32_t id;

	if (tsi_array_new(&text, length, 1, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	memcpy(text, before.data, before.length);
	if (keeps_name) {
		text[before.length] = '/';
		if (name.length > 0)
			memcpy(text + before.length + 1, name.data, name.length);
	}
	status = tsi_intern_add(names, (struct str){ text, length }, &id, err);
	free(text);
	return status;
}

/* Names keep their numbers; that of the empty text, which is no metric's, stays. */
static enum tscope_status rename_all(struct metric_log *log, struct str before, bool keeps_name,
				     struct tscope_error *err)
{
	struct intern names;
	enum tscope_status status = tsi_intern_init(&names, METRIC_MAX_NAMES + 1, err);

	for (uint32_t i = 1; status == TSCOPE_OK && i < log->names.count; i++)
		status = add_name(&names, before, tsi_intern_text(&log->names, i), keeps_name, err);
	if (status != TSCOPE_OK) {
		tsi_intern_deinit(&names);
		return status;
	}
	tsi_intern_deinit(&log->names);
	log->names = names;
	return TSCOPE_OK;
}

/* ---- all files ---- */

/* The folder that a file is in, with its slash. */
static struct str whole_folder(const char *path)
{
	return (struct str){ path, (size_t)(tsi_base_name(path) - path) };
}

/*
 * Notes the folders that hold metrics which are not of validation, themselves or in folders in
 * them; the flags are to be freed.
 */
static enum tscope_status find_parents(struct intern *parents, bool **has_training,
				       const struct metric_place *places, size_t count,
				       struct tscope_error *err)
{
	enum tscope_status status = tsi_array_new(has_training, 2 * count + 1, 1, err);

	for (size_t i = 0; status == TSCOPE_OK && i < count; i++) {
		struct folder folder = folder_of(places[i].path);
		bool is_training = !is_of_validation(folder.name);
		uint32_t id;

		status = tsi_intern_add(parents, folder.parent, &id, err);
		if (status == TSCOPE_OK && folder.name.length > 0)
			(*has_training)[id] |= is_training;
		if (status == TSCOPE_OK)
			status = tsi_intern_add(parents, whole_folder(places[i].path), &id, err);
		if (status == TSCOPE_OK)
			(*has_training)[id] |= is_training;
	}
	return status;
}

static enum tscope_status name_by_folder(const struct metric_place *place, bool has_training,
					 struct tscope_error *err)
{
	struct str folder = folder_of(place->path).name;

	if (place->log->names.count == 2 &&
	    is_of_metric(folder, tsi_intern_text(&place->log->names, 1)))
		return rename_all(place->log, folder, false, err);
	if (has_training && is_of_validation(folder))
		return rename_all(place->log, folder, true, err);
	return TSCOPE_OK;
}

enum tscope_status tsi_metrics_name_by_folders(const struct metric_place *places, size_t count,
					       struct tscope_error *err)
{
	struct intern parents;
	bool *has_training = NULL;
	enum tscope_status status = tsi_intern_init(&parents, 2 * count + 1, err);

	if (status == TSCOPE_OK)
		status = find_parents(&parents, &has_training, places, count, err);
	for (size_t i = 0; status == TSCOPE_OK && i < count; i++) {
		uint32_t id = tsi_intern_find(&parents, folder_of(places[i].path).parent);

		status = name_by_folder(&places[i], has_training[id], err);
	}
	free(has_training);
	tsi_intern_deinit(&parents);
	return status;
}
