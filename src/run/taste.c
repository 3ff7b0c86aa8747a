/* SPDX-License-Identifier: MIT */
/*
 * What a file is, by its first bytes: step records, maybe a trace, or something
 * else with its name. A folder may hold millions of files that are not ours, so
 * those whose names say it are not even opened.
 */
#include "run/taste.h"

#include <stdlib.h>

#include "base/error.h"
#include "decode/foreign.h"
#include "run/file_name.h"
#include "run/store.h"

/* Endings of names, with or without a compression behind them. */
static const char *const foreign_endings[] = {
	".bin",    ".c",     ".cfg",         ".ckpt",    ".cpp",  ".csv",  ".cu",
	".distcp", ".docx",  ".egg",         ".gif",     ".h",    ".h5",   ".html",
	".ini",    ".ipynb", ".jar",         ".jpeg",    ".jpg",  ".lock", ".log",
	".md",     ".mp4",   ".npy",         ".npz",     ".onnx", ".out",  ".pdf",
	".pickle", ".pkl",   ".png",         ".parquet", ".pt",   ".pth",  ".py",
	".pyc",    ".rst",   ".safetensors", ".sh",      ".so",   ".svg",  ".toml",
	".tsv",    ".txt",   ".whl",         ".xlsx",    ".xml",  ".yaml", ".yml",
};

static bool has_foreign_ending(const char *path)
{
	struct str name = tsi_unpacked_name(path);

	for (size_t i = 0; i < TSI_COUNT_OF(foreign_endings); i++)
		if (tsi_name_ends(name, tsi_str_of(foreign_endings[i])))
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

	if (head.data[0] == '[') {
		shape.is_array_of_rows = first < end && *first == '[';
		is_foreign = (first < end && *first != '{') ||
			     (is_whole && tsi_str_find(head, TSI_STR("\"ph\"")) < 0);
	} else {
		is_foreign = is_whole && tsi_str_find(head, TSI_STR("\"traceEvents\"")) < 0;
	}
	if (is_foreign)
		tsi_foreign_refuse_json(&shape, why);
	return is_foreign;
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
	if (text.length && (text.data[0] == '{' || text.data[0] == '['))
		return is_foreign_json(text, is_whole, why) ? RUN_FILE_IGNORED : RUN_FILE_TRACE;
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

enum tscope_status tsi_run_taste(struct run_file *file, struct tscope_error *err)
{
	struct tscope_error why = { 0 };
	enum run_file_kind kind;

	if (!file->is_named && has_foreign_ending(file->path))
		return tsi_run_leave_out(file, RUN_FILE_IGNORED,
					 "not a kind of file that tscope reads", err);
	if (taste_bytes(file, &kind, &why) != TSCOPE_OK)
		return tsi_fail_nomem(err);
	if (kind == RUN_FILE_REFUSED || kind == RUN_FILE_IGNORED) {
		if (!file->is_named)
			return tsi_run_leave_out(file, kind, why.message, err);
		kind = RUN_FILE_TRACE;
	}
	file->kind = kind;
	return TSCOPE_OK;
}
