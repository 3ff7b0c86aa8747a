/* SPDX-License-Identifier: MIT */
/*
 * Names of metrics by their folders. Keras writes the same names for training and for validation
 * into two folders side by side; SummaryWriter.add_scalars("loss", {"train": …, "val": …}) writes
 * loss into the folders loss_train and loss_val; TensorFlow's estimators write those of validation
 * into the folder eval below that of training. There the folder is part of the name.
 */
#include "run/scalars.h"

#include "run/file_name.h"

/* The folder that a file is in: where that lies, and what it is called. */
struct folder {
	struct str parent, name;
};

static struct folder folder_of(const char *path)
{
	struct str rest = tsi_folder_of(path);
	struct folder folder = { 0 };

	if (rest.length == 0)
		return folder;
	rest.length--;
	folder.name = tsi_str_last_part(rest);
	folder.parent = (struct str){ rest.data, rest.length - folder.name.length };
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
	word = tsi_str_tail(name, begin);
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

/* Back to the names that the file has. */
static void reset_names(struct metric_log *log)
{
	if (log->file_names.count == 0)
		return;
	tsi_intern_deinit(&log->names);
	log->names = log->file_names;
	log->file_names = (struct intern){ 0 };
}

/* before/name, whatever bytes these are; the empty text without memory. */
static struct str join_names(struct str before, struct str name, struct arena *arena)
{
	size_t length = before.length + 1 + name.length;
	char *text = tsi_arena_new(arena, length, 1);

	if (!text)
		return (struct str){ 0 };
	memcpy(text, before.data, before.length);
	text[before.length] = '/';
	if (name.length > 0)
		memcpy(text + before.length + 1, name.data, name.length);
	return (struct str){ text, length };
}

/*
 * Puts before, a slash and the name, or before alone, in the place of each name. Names keep their
 * numbers; that of the empty text, which is no metric's, stays.
 */
static void rename_all(struct metric_log *log, struct str before, bool keeps_name,
		       struct arena *arena)
{
	struct intern names;
	enum tscope_status status = tsi_intern_init(&names, METRIC_MAX_NAMES + 1, NULL);

	for (uint32_t i = 1; status == TSCOPE_OK && i < log->names.count; i++) {
		struct str name = tsi_intern_text(&log->names, i);
		uint32_t id;

		status = tsi_intern_add(
			&names, keeps_name ? join_names(before, name, arena) : before, &id, NULL);
	}
	if (status != TSCOPE_OK) {
		tsi_intern_deinit(&names);
		arena->has_failed = true;
		return;
	}
	log->file_names = log->names;
	log->names = names;
}

/* ---- all files ---- */

/*
 * Flags by id of the folders that hold metrics which are not of validation, themselves or in
 * folders in them.
 */
static bool *find_parents(struct intern *parents, const struct metric_place *places, size_t count,
			  struct arena *arena)
{
	bool *has_training = tsi_arena_new(arena, 2 * count + 1, sizeof(*has_training));

	for (size_t i = 0; has_training && i < count; i++) {
		struct folder folder = folder_of(places[i].path);
		bool is_training = !is_of_validation(folder.name);
		uint32_t id, own_id;

		if (tsi_intern_add(parents, folder.parent, &id, NULL) != TSCOPE_OK ||
		    tsi_intern_add(parents, tsi_folder_of(places[i].path), &own_id, NULL) !=
			    TSCOPE_OK) {
			arena->has_failed = true;
			return NULL;
		}
		if (folder.name.length > 0)
			has_training[id] |= is_training;
		has_training[own_id] |= is_training;
	}
	return has_training;
}

static void name_by_folder(const struct metric_place *place, bool has_training, struct arena *arena)
{
	struct str folder = folder_of(place->path).name;

	reset_names(place->log);
	if (place->log->names.count == 2 &&
	    is_of_metric(folder, tsi_intern_text(&place->log->names, 1)))
		rename_all(place->log, folder, false, arena);
	else if (has_training && is_of_validation(folder))
		rename_all(place->log, folder, true, arena);
}

void tsi_metrics_name_by_folders(const struct metric_place *places, size_t count,
				 struct arena *arena)
{
	struct arena scratch = { 0 };
	struct intern parents;
	bool *has_training = NULL;

	if (tsi_intern_init(&parents, 2 * count + 1, NULL) == TSCOPE_OK)
		has_training = find_parents(&parents, places, count, &scratch);
	for (size_t i = 0; has_training && i < count; i++) {
		uint32_t id = tsi_intern_find(&parents, folder_of(places[i].path).parent);

		name_by_folder(&places[i], has_training[id], &scratch);
	}
	arena->has_failed |= !has_training || scratch.has_failed;
	tsi_intern_deinit(&parents);
	tsi_arena_deinit(&scratch);
}
