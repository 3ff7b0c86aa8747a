/* SPDX-License-Identifier: MIT */
/*
 * The input as decoders see it: opens a source, tastes what comes out of it,
 * puts a filter on it and tastes again until no filter wants it. Then, if there
 * is something to decompress, a thread does it ahead of the decoder.
 */
#include "input/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/print_text.h"
#include "base/queue.h"
#include "input/filter.h"
#include "input/magic.h"
#include "input/member_name.h"
#include "input/members.h"
#include "input/reader.h"
#include "input/window.h"

/* Limits of a hostile file, and what they are unless the options say otherwise. */
enum {
	DEFAULT_BLOCK_BYTES = 256 * 1024,
	MAX_BLOCK_BYTES = 64 * 1024 * 1024,
	DEFAULT_MAX_FILTER_DEPTH = 4,
	DEFAULT_MAX_RATIO = 1000, /* traces have up to 30; gzip can do no more than 1032 */
	FILTER_NAMES_BYTES = 64,
	TICK_BYTES = 8 << 20,
};

#define DEFAULT_MAX_OUTPUT_BYTES (UINT64_C(1) << 40)

struct input {
	struct window *window; /* over the last reader: the bytes of the decoder */
	struct flow flow;
	struct reader *source; /* the first reader, which the windows own */
	size_t block_bytes;
	unsigned filter_count, max_filter_count;
	char filters[FILTER_NAMES_BYTES]; /* "zstd+gzip" */
	const struct magic *archive;      /* what the bytes are, if they are one; or NULL */
	struct tscope_members *members; /* its own, of an archive that it was opened by; or NULL */
	void (*tick)(void *tick_data);  /* NULL: nobody watches */
	void *tick_data;
	uint64_t next_tick; /* offset */
};

static struct input *new_input(const struct input_options *options)
{
	static const struct input_options defaults = { 0 };
	const struct input_options *o = options ? options : &defaults;
	struct input *in = calloc(1, sizeof(*in));
	if (!in)
		return NULL;
	in->block_bytes = o->block_bytes ? o->block_bytes : DEFAULT_BLOCK_BYTES;
	if (in->block_bytes > MAX_BLOCK_BYTES)
		in->block_bytes = MAX_BLOCK_BYTES;
	in->max_filter_count = o->max_filter_depth ? o->max_filter_depth : DEFAULT_MAX_FILTER_DEPTH;
	in->flow.max_output_bytes =
		o->max_output_bytes ? o->max_output_bytes : DEFAULT_MAX_OUTPUT_BYTES;
	in->flow.block_bytes = in->block_bytes;
	in->flow.thread_count = o->single_thread  ? 1
				: o->thread_count ? o->thread_count
						  : tsi_thread_count();
	in->flow.max_ratio = o->max_ratio ? o->max_ratio : DEFAULT_MAX_RATIO;
	return in;
}

static void add_name(struct input *in, const char *name)
{
	tsi_join_text(in->filters, sizeof(in->filters), "+", "%s", name);
}

static enum tscope_status refuse(const struct input *in, const char *name, const char *remedy,
				 struct tscope_error *err)
{
	const char *wrapping = in->filter_count ? "-compressed " : "";
	return tsi_fail(err, TSCOPE_E_UNSUPPORTED, "%s%s%s: %s", in->filters, wrapping, name,
			remedy);
}

static enum tscope_status add_filter(struct input *in, const struct filter *filter,
				     struct tscope_error *err)
{
	if (filter->missing)
		return refuse(in, filter->name, filter->missing, err);
	if (in->filter_count == in->max_filter_count)
		return tsi_fail(err, TSCOPE_E_LIMIT,
				"compressed more than %u times (limit: filter depth)",
				in->max_filter_count);

	struct window *from = in->window;
	struct reader *reader;
	in->window = NULL;
	enum tscope_status status = tsi_filter_open(&reader, filter, from, &in->flow, err);
	if (status == TSCOPE_OK)
		status = tsi_window_new(&in->window, reader, in->block_bytes, err);
	add_name(in, filter->name);
	in->filter_count++;
	return status;
}

/*
 * Damage is not reported here: whoever peeks at the damaged place will see it,
 * and the bytes before it.
 */
static enum tscope_status add_filters(struct input *in, bool takes_archives,
				      struct tscope_error *err)
{
	for (;;) {
		const char *data;
		size_t available;
		enum tscope_status status = tsi_filter_skip_frames(in->window, err);
		if (status != TSCOPE_OK)
			return status;
		status = tsi_window_peek(in->window, MAGIC_BYTES_MAX, &data, &available, err);
		if (status < 0 && status != TSCOPE_E_DAMAGED && available == 0)
			return status;

		const struct magic *kind = tsi_magic_find(data, available);
		if (kind && kind->is_archive && takes_archives) {
			in->archive = kind;
			return TSCOPE_OK;
		}
		if (kind && kind->remedy)
			return refuse(in, kind->name, kind->remedy, err);
		const struct filter *filter = tsi_filter_find(data, available);
		if (!filter)
			return TSCOPE_OK;
		status = add_filter(in, filter, err);
		if (status != TSCOPE_OK)
			return status;
	}
}

/* Goes on with opening once that of the source ended with `status`. Owns both, also on failure. */
static enum tscope_status start(struct input **ret, struct input *in, enum tscope_status status,
				const struct input_options *options, struct tscope_error *err)
{
	bool takes_archives = !options || options->archives != INPUT_REFUSES_ARCHIVES;

	if (status == TSCOPE_OK)
		status = tsi_window_new(&in->window, in->source, in->block_bytes, err);
	if (status == TSCOPE_OK)
		status = add_filters(in, takes_archives, err);
	if (status == TSCOPE_OK && in->filter_count > 0 && !(options && options->single_thread))
		tsi_window_read_ahead(in->window);
	if (status != TSCOPE_OK) {
		tsi_input_close(in);
		return status;
	}
	*ret = in;
	return TSCOPE_OK;
}

static enum tscope_status open_member(struct input **ret, const struct member *member,
				      const struct input_options *options, struct tscope_error *err)
{
	struct input_options inner = options ? *options : (struct input_options){ 0 };
	struct input *in = new_input(&inner);

	if (!in)
		return tsi_fail_nomem(err);
	inner.archives = INPUT_REFUSES_ARCHIVES;
	enum tscope_status status = tsi_member_open(&in->source, member, &in->flow, err);
	return start(ret, in, status, &inner, err);
}

/* Kinds of documents that are zip archives, by a file that each has. */
static const struct document {
	const char *file, *name;
} documents[] = {
	{ "[Content_Types].xml", "Office document" },
	{ "mimetype", "OpenDocument file or e-book" },
	{ "META-INF/MANIFEST.MF", "Java archive" },
};

/* Does the folder, the first bytes of a path, have a file with this name? */
static bool has_file(const struct tscope_members *set, const char *folder, size_t folder_bytes,
		     const char *name)
{
	char path[MEMBER_MAX_CHARS];
	int length = snprintf(path, sizeof(path), "%.*s/%s", (int)folder_bytes, folder, name);

	return length < (int)sizeof(path) && tsi_members_name(set, path);
}

/* torch.save() has all in one folder, which is called as the file was, and data.pkl first. */
static bool is_checkpoint(const struct tscope_members *set, const char *path, const char *example)
{
	size_t root = strlen(path) + 1;

	return has_file(set, example, root + strcspn(example + root, "/"), "data.pkl");
}

/* Names the kind of document that an archive is, if it is one; or NULL. */
static const char *name_document(const struct tscope_members *set, const char *path,
				 const char *example)
{
	for (size_t i = 0; i < TSI_COUNT_OF(documents); i++)
		if (has_file(set, path, strlen(path), documents[i].file))
			return documents[i].name;
	return is_checkpoint(set, path, example) ? "checkpoint of torch.save" : NULL;
}

static enum tscope_status fail_several(const struct tscope_members *set, const char *path,
				       const struct input *archive, const char *example,
				       struct tscope_error *err)
{
	if (!example)
		return tsi_fail(err, TSCOPE_E_EMPTY, "%s without a file", archive->archive->name);
	const char *document = name_document(set, path, example);
	if (document)
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
				"%s (a zip archive): not a kind of file that tscope reads",
				document);
	return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
			"%s of several files: tscope report reads them together; the name of one "
			"is %.200s",
			archive->archive->name, example);
}

/* The file in the archive that has this path, or NULL: its only one. Owns the archive. */
static enum tscope_status open_in_archive(struct input **ret, const char *path,
					  const char *member_path, struct input *archive,
					  const struct input_options *options,
					  struct tscope_error *err)
{
	static const struct input_options defaults = { 0 };
	struct tscope_error why = { 0 };
	struct tscope_members *set = NULL;
	const struct member *member = NULL;
	const char *example = NULL;
	enum tscope_status status = tsi_members_new(&set, options ? options : &defaults, &why);

	if (status != TSCOPE_OK)
		tsi_input_close(archive);
	if (status == TSCOPE_OK) {
		tsi_members_want(set, member_path);
		status = tsi_members_add(set, path, archive, &why);
	}
	if (status == TSCOPE_OK)
		member = member_path ? tsi_members_find(set, member_path)
				     : tsi_members_find_only(set, path, &example);
	if (status == TSCOPE_OK && !member)
		status = member_path ? tsi_fail(&why, TSCOPE_E_IO, "the archive has no such file")
				     : fail_several(set, path, archive, example, &why);
	if (status == TSCOPE_OK)
		status = open_member(ret, member, options, &why);
	if (status == TSCOPE_OK) {
		(*ret)->members = set;
		return TSCOPE_OK;
	}
	tsi_members_free(set);
	if (err)
		*err = why;
	return status;
}

/* An archive that was opened becomes the file in it, where it shall. */
static enum tscope_status enter_archive(struct input **ret, const char *path, struct input *in,
					const struct input_options *options,
					struct tscope_error *err)
{
	if (in->archive && !(options && options->archives == INPUT_SHOWS_ARCHIVES))
		return open_in_archive(ret, path, NULL, in, options, err);
	*ret = in;
	return TSCOPE_OK;
}

static enum tscope_status open_source(struct input **ret, const char *path,
				      const struct input_options *options, struct tscope_error *err)
{
	struct input *in = new_input(options);

	if (!in)
		return tsi_fail_nomem(err);
	enum tscope_status status = tsi_reader_open_file(&in->source, path, &in->flow, err);
	return start(ret, in, status, options, err);
}

/* "ranks.tar/rank0.json", of an archive that nobody has listed. */
static enum tscope_status open_through(struct input **ret, const char *path,
				       const struct input_options *options,
				       struct tscope_error *err)
{
	struct input_options outer = options ? *options : (struct input_options){ 0 };
	size_t length = tsi_member_archive_length(path);
	char *archive_path = length > 0 ? strndup(path, length) : NULL;
	struct input *archive = NULL;
	enum tscope_status status = TSCOPE_E_IO;

	outer.archives = INPUT_SHOWS_ARCHIVES;
	if (archive_path && open_source(&archive, archive_path, &outer, NULL) == TSCOPE_OK) {
		if (archive->archive)
			status = open_in_archive(ret, archive_path, path, archive, options, err);
		else
			tsi_input_close(archive);
	}
	free(archive_path);
	return status;
}

enum tscope_status tsi_input_open_file(struct input **ret, const char *path,
				       const struct input_options *options,
				       struct tscope_error *err)
{
	const struct tscope_members *members = options ? options->members : NULL;
	const struct member *member = members ? tsi_members_find(members, path) : NULL;
	struct input *in = NULL;

	if (member)
		return open_member(ret, member, options, err);
	if (members && strcmp(path, "-") == 0)
		in = tsi_members_take_input(members);
	if (!in) {
		enum tscope_status status = open_source(&in, path, options, err);

		if (status == TSCOPE_E_IO)
			return open_through(ret, path, options, err);
		if (status != TSCOPE_OK)
			return status;
	}
	return enter_archive(ret, path, in, options, err);
}

enum tscope_status tsi_input_open_memory(struct input **ret, const void *data, size_t length,
					 const struct input_options *options,
					 struct tscope_error *err)
{
	struct input *in = new_input(options);
	if (!in)
		return tsi_fail_nomem(err);
	enum tscope_status status =
		tsi_reader_open_memory(&in->source, data, length, &in->flow, err);
	status = start(&in, in, status, options, err);
	return status == TSCOPE_OK ? enter_archive(ret, "memory", in, options, err) : status;
}

enum tscope_status tsi_input_open_reader(struct input **ret, struct reader *source,
					 const struct input_options *options,
					 struct tscope_error *err)
{
	struct input *in = new_input(options);
	if (!in) {
		source->close(source);
		return tsi_fail_nomem(err);
	}
	enum tscope_status status = tsi_window_new(&in->window, source, in->block_bytes, err);
	if (status != TSCOPE_OK) {
		free(in);
		return status;
	}
	*ret = in;
	return TSCOPE_OK;
}

void tsi_input_close(struct input *in)
{
	if (!in)
		return;
	atomic_store(&in->flow.stop, true); /* the thread may be waiting for a pipe */
	tsi_window_free(in->window);
	tsi_members_free(in->members);
	free(in);
}

void tsi_input_watch(struct input *in, void (*tick)(void *tick_data), void *tick_data)
{
	in->tick = tick;
	in->tick_data = tick_data;
	in->next_tick = tsi_input_offset(in) + TICK_BYTES;
}

static TSI_COLD void tick_if_due(struct input *in)
{
	uint64_t offset = tsi_input_offset(in);

	if (offset < in->next_tick)
		return;
	in->next_tick = offset + TICK_BYTES;
	in->tick(in->tick_data);
}

enum tscope_status tsi_input_peek(struct input *in, size_t min, const char **data,
				  size_t *available, struct tscope_error *err)
{
	if (in->tick)
		tick_if_due(in);
	return tsi_window_peek(in->window, min, data, available, err);
}

enum tscope_status tsi_input_read(struct input *in, char *into, size_t room, size_t *got,
				  struct tscope_error *err)
{
	if (in->tick)
		tick_if_due(in);
	return tsi_window_read(in->window, into, room, got, err);
}

void tsi_input_consume(struct input *in, size_t count)
{
	tsi_window_consume(in->window, count);
}

size_t tsi_input_block_bytes(const struct input *in)
{
	return in->block_bytes;
}

bool tsi_input_has_places(const struct input *in)
{
	return in->filter_count == 0 && in->source && in->source->read_at;
}

enum tscope_status tsi_input_read_at(const struct input *in, uint64_t offset, char *into,
				     size_t room, size_t *got, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	size_t count = 1;
	for (*got = 0; *got < room && count && status == TSCOPE_OK; *got += count)
		status = in->source->read_at(in->source, offset + *got, into + *got, room - *got,
					     &count, err);
	return status;
}

void tsi_input_skip_to(struct input *in, uint64_t offset)
{
	tsi_window_skip_to(in->window, offset);
	if (tsi_input_has_places(in))
		atomic_store(&in->flow.source_bytes, offset);
}

void tsi_input_stop(struct input *in)
{
	atomic_store(&in->flow.stop, true);
}

uint64_t tsi_input_offset(const struct input *in)
{
	return tsi_window_offset(in->window);
}

uint64_t tsi_input_source_offset(const struct input *in)
{
	return atomic_load(&in->flow.source_bytes);
}

uint64_t tsi_input_source_bytes(const struct input *in)
{
	return in->flow.source_size_bytes;
}

uint64_t tsi_input_stored_bytes(const struct input *in)
{
	uint64_t size_bytes = tsi_input_source_bytes(in);
	return size_bytes ? size_bytes : tsi_input_source_offset(in);
}

const char *tsi_input_filters(const struct input *in)
{
	return in->filter_count ? in->filters : "none";
}

const char *tsi_input_archive(const struct input *in)
{
	return in->archive ? in->archive->name : NULL;
}

enum tscope_status tsi_input_refuse_archive(const struct input *in, struct tscope_error *err)
{
	return refuse(in, in->archive->name, in->archive->remedy, err);
}

uint64_t tsi_input_trailing_bytes(const struct input *in)
{
	return atomic_load(&in->flow.trailing_bytes);
}
