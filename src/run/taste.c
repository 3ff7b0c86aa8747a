/* SPDX-License-Identifier: MIT */
/*
 * What a file is, by its first bytes: step records, maybe a trace or about memory, or
 * something else with its name. A folder may hold millions of files that are not ours, so
 * those whose names say it are not even opened.
 */
#include "run/taste.h"

#include <stdlib.h>

#include "base/error.h"
#include "decode/foreign.h"
#include "decode/plain_reader.h"
#include "run/file_name.h"
#include "run/store.h"

/* Endings of names, with or without a compression behind them. */
static const char *const foreign_endings[] = {
	".bin",     ".c",    ".cfg", ".ckpt", ".cpp", ".csv",   ".cu",          ".distcp", ".docx",
	".egg",     ".gif",  ".h",   ".h5",   ".ini", ".ipynb", ".jar",         ".jpeg",   ".jpg",
	".lock",    ".md",   ".mp4", ".npy",  ".npz", ".onnx",  ".out",         ".pdf",    ".png",
	".parquet", ".pt",   ".pth", ".py",   ".pyc", ".rst",   ".safetensors", ".sh",     ".so",
	".svg",     ".toml", ".tsv", ".txt",  ".whl", ".xlsx",  ".xml",
};

/* What ends so is ours only if it is about memory. */
static const char *const memory_endings[] = { ".html", ".log", ".pickle", ".pkl", ".yaml", ".yml" };

/* What ends so is never empty, unless who wrote it was killed. */
static const char *const pickle_endings[] = { ".pickle", ".pkl" };

static bool has_ending(const char *path, const char *const *endings, size_t count)
{
	struct str name = tsi_unpacked_name(path);

	for (size_t i = 0; i < count; i++)
		if (tsi_name_ends(name, tsi_str_of(endings[i])))
			return true;
	return false;
}

enum tscope_status tsi_run_leave_out(struct run_file *file, enum run_file_kind kind,
				     const char *reason, struct tscope_error *err)
{
	char *copy;

	if (tsi_text_copy(&copy, tsi_str_of(reason), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	free(file->reason);
	file->reason = copy;
	file->kind = kind;
	return TSCOPE_OK;
}

/*
 * Where these first bytes are certainly no trace, fills why. A document that is
 * whole shows whether it has events; of a longer one only reading it will tell.
 */
static bool is_foreign_json(struct str head, bool is_whole, struct tscope_error *why)
{
	const char *end = head.data + head.length;
	const char *first = tsi_skip_space(head.data + 1, end);
	struct json_shape shape = { 0 };
	bool is_foreign;

	if (head.data[0] == '[')
		is_foreign = (first < end && *first != '{') ||
			     (is_whole && tsi_str_find(head, TSI_STR("\"ph\"")) < 0);
	else
		is_foreign = is_whole && tsi_str_find(head, TSI_STR("\"traceEvents\"")) < 0;
	if (is_foreign)
		tsi_foreign_refuse_json(&shape, why);
	return is_foreign;
}

/* May it hold anything? So may pickles, pages, and YAML with its usual beginning. */
static bool is_of_any_kind(const struct plain_reader *reader, struct str head)
{
	return strcmp(reader->form, "pickle") == 0 || strcmp(reader->form, "html") == 0 ||
	       tsi_str_starts(head, "---") || tsi_str_starts(head, "%YAML");
}

/*
 * What those begin with that we know: the first key of a snapshot, or of its first segment, the
 * container of statistics, the files of a page. In other forms the same words mean nothing.
 */
static const struct {
	const char *form;
	struct str word;
} memory_words[] = {
	{ "pickle", { "segments", 8 } },     { "pickle", { "total_size", 10 } },
	{ "pickle", { "defaultdict", 11 } }, { "yaml", { "collections.defaultdict", 23 } },
	{ "html", { "local_files", 11 } },
};

/*
 * May it be about memory? Reading a large file takes long, so one that was not named and may
 * hold anything must begin as those do that we know.
 */
static bool is_memory(struct str head, bool is_named)
{
	const struct plain_reader *reader;

	if (head.length > TASTED_PLAIN_BYTES)
		head.length = TASTED_PLAIN_BYTES;
	reader = tsi_plain_reader_find(head);
	if (!reader || strcmp(reader->form, "json") == 0)
		return false;
	if (is_named || !is_of_any_kind(reader, head))
		return true;
	for (size_t i = 0; i < TSI_COUNT_OF(memory_words); i++)
		if (strcmp(reader->form, memory_words[i].form) == 0 &&
		    tsi_str_find(head, memory_words[i].word) >= 0)
			return true;
	return false;
}

/* Does the text hold this word, with its quotes, before a colon? */
static bool has_key(struct str text, struct str quoted)
{
	const char *end = text.data + text.length;
	ptrdiff_t found;

	while ((found = tsi_str_find(text, quoted)) >= 0) {
		const char *next = text.data + found + quoted.length;
		const char *colon = tsi_skip_space(next, end);

		if (colon < end && *colon == ':')
			return true;
		text = (struct str){ next, (size_t)(end - next) };
	}
	return false;
}

/*
 * A snapshot that was dumped as JSON. Segments alone are no sign of one, since those of speech
 * are called so, too: what every segment of memory has must be with them.
 */
static bool is_json_snapshot(struct str text)
{
	struct str head = text;

	if (text.data[0] != '{' || has_key(text, TSI_STR("\"traceEvents\"")))
		return false;
	if (head.length > TASTED_PLAIN_BYTES)
		head.length = TASTED_PLAIN_BYTES;
	return has_key(head, TSI_STR("\"device_traces\"")) ||
	       (has_key(head, TSI_STR("\"segments\"")) &&
		(has_key(head, TSI_STR("\"total_size\"")) || has_key(head, TSI_STR("\"blocks\""))));
}

enum { TASTED_NUMBERS = 5 };

/* The integers that a list of JSON begins with; count is those of the whole list if it is short. */
static size_t first_numbers(const char *at, const char *end, int64_t numbers[TASTED_NUMBERS])
{
	size_t count = 0;

	while (count < TASTED_NUMBERS) {
		const char *first = tsi_skip_space(at, end), *last = first;

		while (last < end && (tsi_is_digit(*last) || *last == '-'))
			last++;
		at = tsi_skip_space(last, end);
		if (at == end || !tsi_str_to_int64((struct str){ first, (size_t)(last - first) },
						   &numbers[count]))
			break;
		if (*at != ',' && *at != ']')
			return 0;
		count++;
		if (*at++ == ']')
			break;
	}
	return count;
}

/*
 * A memory timeline is a list of lists: of times, which ascend, and of sizes; or of rows that
 * are a time, an action from 1 to 4, bytes and a category from 0 to 7.
 */
static bool is_timeline(struct str text, bool is_named)
{
	const char *end = text.data + text.length, *first = tsi_skip_space(text.data + 1, end);
	int64_t numbers[TASTED_NUMBERS];
	bool ascends = true;

	if (text.data[0] != '[' || first == end || *first != '[')
		return false;
	if (is_named)
		return true;
	size_t count = first_numbers(first + 1, end, numbers);
	if (count == 4 && numbers[1] >= 1 && numbers[1] <= 4 && numbers[3] >= 0 && numbers[3] <= 7)
		return true;
	for (size_t i = 1; i < count; i++)
		ascends &= numbers[i] >= numbers[i - 1];
	return count > 0 && numbers[0] >= 0 && ascends;
}

/* What the first bytes show, and where it is not ours, why. */
static enum run_file_kind kind_of_head(struct run_file *file, struct str head, bool is_whole,
				       struct tscope_error *why)
{
	struct str text = head;

	file->store = tsi_store_find(head);
	if (file->store)
		return RUN_FILE_STEPS;
	if (tsi_str_starts(text, "\xef\xbb\xbf"))
		text = (struct str){ text.data + 3, text.length - 3 };
	text = tsi_str_trim(text);
	if (text.length && (is_timeline(text, file->is_named) || is_json_snapshot(text)))
		return RUN_FILE_MEMORY;
	if (text.length && (text.data[0] == '{' || text.data[0] == '['))
		return is_foreign_json(text, is_whole, why) ? RUN_FILE_IGNORED : RUN_FILE_TRACE;
	if (is_memory(head, file->is_named))
		return RUN_FILE_MEMORY;
	if (head.length == 0)
		tsi_fail(why, TSCOPE_E_EMPTY, "the file is empty");
	else
		tsi_foreign_refuse(head, why);
	return RUN_FILE_IGNORED;
}

/* TSCOPE_E_NOMEM, or TSCOPE_OK with a kind and, where it is not ours, why. */
static enum tscope_status taste_bytes(struct run_file *file, enum run_file_kind *kind,
				      struct tscope_error *why)
{
	const struct input_options options = {
		.single_thread = true,
		.block_bytes = RUN_HEAD_BYTES,
	};
	struct str head = { 0 };
	struct input *in = NULL;
	enum tscope_status status = tsi_input_open_file(&in, file->path, &options, why);

	if (status == TSCOPE_OK)
		status = tsi_input_peek(in, RUN_HEAD_BYTES, &head.data, &head.length, why);
	if (status < 0 && head.length == 0)
		*kind = RUN_FILE_REFUSED;
	else
		*kind = kind_of_head(file, head, status == TSCOPE_END, why);
	tsi_input_close(in);
	return status == TSCOPE_E_NOMEM ? TSCOPE_E_NOMEM : TSCOPE_OK;
}

static const char not_ours[] = "not a kind of file that tscope reads";

/*
 * A file of a folder that is not about memory, for all its ending. What kept it from being read
 * may have cost the snapshot of the rank that died, and is told, but for an archive: that is a
 * checkpoint of torch.save().
 */
static enum tscope_status leave_out_unlike_memory(struct run_file *file, enum run_file_kind kind,
						  const struct tscope_error *why,
						  struct tscope_error *err)
{
	bool is_pickle = has_ending(file->path, pickle_endings, TSI_COUNT_OF(pickle_endings));

	if (kind == RUN_FILE_REFUSED && why->status == TSCOPE_E_UNSUPPORTED)
		return tsi_run_leave_out(file, RUN_FILE_IGNORED, why->message, err);
	if (kind == RUN_FILE_REFUSED || (is_pickle && why->status == TSCOPE_E_EMPTY))
		return tsi_run_leave_out(file, RUN_FILE_REFUSED, why->message, err);
	return tsi_run_leave_out(file, RUN_FILE_IGNORED, not_ours, err);
}

enum tscope_status tsi_run_taste(struct run_file *file, struct tscope_error *err)
{
	struct tscope_error why = { 0 };
	enum run_file_kind kind;

	if (!file->is_named &&
	    has_ending(file->path, foreign_endings, TSI_COUNT_OF(foreign_endings)))
		return tsi_run_leave_out(file, RUN_FILE_IGNORED, not_ours, err);
	if (taste_bytes(file, &kind, &why) != TSCOPE_OK)
		return tsi_fail_nomem(err);
	if (!file->is_named && kind != RUN_FILE_MEMORY &&
	    has_ending(file->path, memory_endings, TSI_COUNT_OF(memory_endings)))
		return leave_out_unlike_memory(file, kind, &why, err);
	if (kind == RUN_FILE_REFUSED || kind == RUN_FILE_IGNORED) {
		if (!file->is_named)
			return tsi_run_leave_out(file, kind, why.message, err);
		kind = RUN_FILE_TRACE;
	}
	file->kind = kind;
	return TSCOPE_OK;
}
