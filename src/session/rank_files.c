/* SPDX-License-Identifier: MIT */
/*
 * Files of records that tscope map wrote become the files that were mapped, wherever these are now:
 * what follows sees no difference.
 */
#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "input/input.h"
#include "run/file_name.h"
#include "run/taste.h"
#include "session/open_trace.h"
#include "session/rank_record.h"

struct expansion {
	struct session *session;
	struct run_files *files;
	struct run_file *items;
	size_t count, capacity;
	bool has_options; /* of a record */
	uint32_t schema;  /* of this program: it takes a look at the names of all facts */
};

/* ---- order ---- */

/* The next part of a path, with its slash; *rest moves behind it. */
static struct str take_part(const char **rest)
{
	const char *slash = strchr(*rest, '/');
	struct str part = { *rest, slash ? (size_t)(slash + 1 - *rest) : strlen(*rest) };

	*rest += part.length;
	return part;
}

static int compare_parts(struct str a, struct str b)
{
	char left[256], right[256];

	snprintf(left, sizeof(left), "%.*s", (int)(a.length < 255 ? a.length : 255), a.data);
	snprintf(right, sizeof(right), "%.*s", (int)(b.length < 255 ? b.length : 255), b.data);
	int order = tsi_compare_names(left, right);
	return order ? order : tsi_str_compare(a, b);
}

/* As find.c comes to them: the files of a folder, then its folders. */
static int compare_paths(const char *a, const char *b)
{
	while (*a && *b) {
		struct str left = take_part(&a), right = take_part(&b);

		if (tsi_str_equal(left, right))
			continue;
		if ((*a == '\0') != (*b == '\0'))
			return *a ? 1 : -1;
		left.length -= *a != '\0';
		right.length -= *b != '\0';
		return compare_parts(left, right);
	}
	return (*a != '\0') - (*b != '\0');
}

static int compare_files(const void *left, const void *right)
{
	const struct run_file *a = left, *b = right;
	int order = compare_paths(a->path, b->path);

	/* Pods may call all of theirs alike. */
	return order ? order : tsi_str_compare(*a->saved, *b->saved);
}

/* Files mapped twice count once. */
static size_t drop_equal(struct run_file *items, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (kept == 0 || compare_files(&items[kept - 1], &items[i]) != 0)
			items[kept++] = items[i];
	return kept;
}

/* ---- one file ---- */

static struct run_file *add_file(struct expansion *expansion, const struct run_file *file)
{
	struct run_file *added =
		tsi_arena_push(&expansion->files->arena, &expansion->items, &expansion->count,
			       &expansion->capacity, sizeof(*added));

	if (added)
		*added = *file;
	return added;
}

/* Adds a problem of a file that holds records, or of one of these. */
static void add_refused(struct expansion *expansion, const struct run_file *file,
			const struct tscope_error *why)
{
	struct run_file *refused = add_file(expansion, file);
	char text[560];

	if (!refused)
		return;
	if (why->has_offset)
		snprintf(text, sizeof(text), "%s (byte %llu)", why->message,
			 (unsigned long long)why->offset);
	refused->saved = NULL;
	tsi_run_leave_out(refused, RUN_FILE_REFUSED, why->has_offset ? text : why->message,
			  &expansion->files->arena);
}

static enum tscope_status take_options(struct expansion *expansion,
				       const struct tscope_run_options *mapped,
				       struct tscope_error *err)
{
	struct session *session = expansion->session;
	struct tscope_run_options options = *session->options;
	enum tscope_status status = tsi_rank_options_take(&options, mapped, err);

	if (status != TSCOPE_OK || expansion->has_options)
		return status;
	expansion->has_options = true;
	session->own = options;
	session->options = &session->own;
	return TSCOPE_OK;
}

/* Takes one record; TSCOPE_E_NOMEM, or what is wrong with it. */
static enum tscope_status add_record(struct expansion *expansion, struct str record,
				     struct tscope_error *err)
{
	struct rank_source source;
	enum tscope_status status =
		tsi_rank_record_open(&source, record, &expansion->files->arena, err);

	if (status == TSCOPE_OK)
		status = take_options(expansion, &source.options, err);
	if (status != TSCOPE_OK)
		return status;
	source.file.saved_first_batch = source.file.first_batch;
	source.file.saved_batch_count = source.file.batch_count;
	return add_file(expansion, &source.file) ? TSCOPE_OK : tsi_fail_nomem(err);
}

/* The records of a file; what is behind a broken one cannot be found. */
static enum tscope_status add_records(struct expansion *expansion, const struct run_file *file,
				      struct str bytes, struct tscope_error *err)
{
	const char *first = bytes.data;

	for (size_t number = 1; bytes.length > 0; number++) {
		struct tscope_error why = { 0 };
		size_t length = 0;
		enum tscope_status status =
			tsi_rank_record_measure(bytes, expansion->schema, &length, &why);

		if (status == TSCOPE_OK)
			status = add_record(expansion, (struct str){ bytes.data, length }, &why);
		if (status == TSCOPE_E_NOMEM)
			return tsi_fail_nomem(err);
		if (status != TSCOPE_OK) {
			why.offset += (uint64_t)(bytes.data - first);
			tsi_fail_within(&why, "record %zu", number);
			add_refused(expansion, file, &why);
		}
		if (length == 0)
			return TSCOPE_OK;
		bytes = tsi_str_tail(bytes, length);
	}
	return TSCOPE_OK;
}

enum tscope_status tsi_rank_file_bytes(struct str *ret, const char *path,
				       const struct tscope_trace_options *options,
				       struct arena *arena, struct tscope_error *err)
{
	struct input_options input_options = tsi_input_options_of(options);
	size_t count = 0, capacity = 0, got = 0;
	struct input *in;
	enum tscope_status status = tsi_input_open_file(&in, path, &input_options, err);

	*ret = (struct str){ 0 };
	if (status != TSCOPE_OK)
		return status;
	capacity = (size_t)tsi_input_source_bytes(in) + 1;
	char *bytes = tsi_arena_new(arena, capacity, 1);
	while (status == TSCOPE_OK) {
		bytes = tsi_arena_reserve(arena, bytes, &capacity, count + 1, 1);
		status = tsi_arena_status(arena, err);
		if (status == TSCOPE_OK)
			status = tsi_input_read(in, bytes + count, capacity - count, &got, err);
		count += got;
		got = 0;
	}
	tsi_input_close(in);
	*ret = (struct str){ bytes, count };
	return status == TSCOPE_END ? TSCOPE_OK : status;
}

static enum tscope_status expand_file(struct expansion *expansion, const struct run_file *file,
				      struct tscope_error *err)
{
	struct tscope_error why = { 0 };
	struct str bytes = { 0 };
	struct session *session = expansion->session;
	enum tscope_status status = tsi_rank_file_bytes(
		&bytes, file->path, &session->options->trace, &session->found.arena, &why);

	if (status == TSCOPE_E_NOMEM)
		return tsi_fail_nomem(err);
	/* Bytes before the input broke may hold whole records. */
	if (bytes.length > 0 && add_records(expansion, file, bytes, err) == TSCOPE_E_NOMEM)
		return TSCOPE_E_NOMEM;
	if (status != TSCOPE_OK)
		add_refused(expansion, file, &why);
	return TSCOPE_OK;
}

/* ---- all files ---- */

static size_t count_kind(const struct run_files *files, enum run_file_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < files->count; i++)
		count += files->items[i].kind == kind;
	return count;
}

/* Those that were mapped behind those that were found, each with its number. */
static void put_in_order(struct expansion *expansion)
{
	struct run_files *files = expansion->files;
	struct run_file *items = expansion->items;
	size_t direct = 0, count = expansion->count;

	for (size_t i = 0; i < count; i++) {
		struct run_file item = items[i];

		if (item.saved)
			continue;
		memmove(&items[direct + 1], &items[direct], (i - direct) * sizeof(item));
		items[direct++] = item;
	}
	if (count > direct)
		qsort(items + direct, count - direct, sizeof(*items), compare_files);
	files->items = items;
	files->count = direct + drop_equal(items + direct, count - direct);
	files->capacity = expansion->capacity;
	for (size_t i = 0; i < files->count; i++)
		items[i].id = i;
}

enum tscope_status tsi_session_expand(struct session *session, struct tscope_error *err)
{
	struct run_files *files = &session->found;
	struct expansion expansion = { .session = session, .files = files };
	enum tscope_status status = TSCOPE_OK;

	if (count_kind(files, RUN_FILE_RANKS) == 0)
		return TSCOPE_OK;
	expansion.schema = tsi_rank_schema();
	for (size_t i = 0; i < files->count && status == TSCOPE_OK; i++) {
		if (files->items[i].kind == RUN_FILE_RANKS)
			status = expand_file(&expansion, &files->items[i], err);
		else
			(void)add_file(&expansion, &files->items[i]);
	}
	if (status == TSCOPE_OK)
		status = tsi_arena_status(&files->arena, err);
	if (status == TSCOPE_OK)
		put_in_order(&expansion);
	return status;
}
