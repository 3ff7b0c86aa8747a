/* SPDX-License-Identifier: MIT */
/*
 * Stacks of a memray capture for flame graphs, in the words of those of a snapshot
 * (snapshot_stacks.c): "train.py:41:step". Stacks that differ in what is not shown are one.
 */
#include "analyze/host_stacks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/sum.h"

enum { NAME_SHOWN_MAX = 1024 };

/* Of all stacks together: deep ones share frames in the file, and not in what is written. */
#define MAX_STACK_BYTES (UINT64_C(2) << 30)

struct stack_sum {
	struct str text;
	int64_t bytes;
};

struct stack_sums {
	const struct memray_capture *capture;
	struct intern texts;
	struct stack_sum *stacks; /* by text */
	size_t count, capacity;
	uint64_t text_bytes;
	char *text; /* of the stack at hand */
	size_t length, text_capacity;
};

/* The file's own name. */
static struct str base_of(struct str file)
{
	size_t at = file.length;

	while (at > 0 && file.data[at - 1] != '/' && file.data[at - 1] != '\\')
		at--;
	return (struct str){ file.data + at, file.length - at };
}

/* Puts a name where it cannot be taken for the end of a frame, stack or line. */
static void put_name(struct stack_sums *sums, struct str name)
{
	size_t length = name.length < NAME_SHOWN_MAX ? name.length : NAME_SHOWN_MAX;

	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)name.data[i];

		sums->text[sums->length++] = c == ';' ? ':' : c < ' ' || c == 0x7f ? ' ' : (char)c;
	}
}

static enum tscope_status put_frame(struct stack_sums *sums, uint32_t node,
				    struct tscope_error *err)
{
	const struct memray_capture *capture = sums->capture;
	const struct memray_frame *frame = &capture->frames[capture->nodes[node].frame];
	enum { PUNCTUATION_MAX = 32 };

	if (tsi_array_reserve(&sums->text, &sums->text_capacity,
			      sums->length + 2 * NAME_SHOWN_MAX + PUNCTUATION_MAX, 1,
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (sums->length > 0)
		sums->text[sums->length++] = ';';
	put_name(sums, base_of(tsi_intern_text(&capture->names, frame->file)));
	sums->text[sums->length++] = ':';
	if (frame->line > 0) /* as in the sites */
		sums->length += (size_t)snprintf(sums->text + sums->length, PUNCTUATION_MAX,
						 "%" PRId32 ":", frame->line);
	put_name(sums, tsi_intern_text(&capture->names, frame->function));
	return TSCOPE_OK;
}

/* Nodes know their parents only: path is room for all of a stack. */
static enum tscope_status put_stack(struct stack_sums *sums, uint32_t node, uint32_t *path,
				    struct tscope_error *err)
{
	size_t depth = 0;

	sums->length = 0;
	for (; node > 0; node = sums->capture->nodes[node].parent)
		path[depth++] = node;
	while (depth > 0) {
		if (put_frame(sums, path[--depth], err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		if (sums->text_bytes + sums->length > MAX_STACK_BYTES)
			return tsi_fail(err, TSCOPE_E_LIMIT,
					"more than %" PRIu64 " bytes of stacks (limit: text of "
					"stacks)",
					MAX_STACK_BYTES);
	}
	sums->text_bytes += sums->length;
	return TSCOPE_OK;
}

static enum tscope_status add_stack(struct stack_sums *sums, uint32_t node, uint32_t *path,
				    int64_t bytes, struct tscope_error *err)
{
	enum tscope_status status = put_stack(sums, node, path, err);
	struct str text = { sums->text, sums->length };
	uint32_t id;

	if (node == 0)
		text = TSI_STR("(no stack)");
	if (status == TSCOPE_OK)
		status = tsi_intern_add(&sums->texts, text, &id, err);
	if (status == TSCOPE_OK)
		status = tsi_array_reserve(&sums->stacks, &sums->capacity, (size_t)id + 1,
					   sizeof(*sums->stacks), err);
	if (status != TSCOPE_OK)
		return status;
	for (; sums->count <= id; sums->count++)
		sums->stacks[sums->count] = (struct stack_sum){ 0 };
	tsi_sum(&sums->stacks[id].bytes, bytes);
	return TSCOPE_OK;
}

static enum tscope_status add_stacks(struct stack_sums *sums, const struct host_memory *host,
				     enum tscope_memory_moment moment, struct tscope_error *err)
{
	enum tscope_status status = tsi_intern_init(&sums->texts, UINT32_MAX - 1, err);
	uint32_t *path = NULL;

	if (status == TSCOPE_OK)
		status = tsi_array_new(&path, host->capture.node_count, sizeof(*path), err);
	for (size_t i = 0; i < host->stack_count && status == TSCOPE_OK; i++) {
		const struct host_account *account = &host->stacks[i];
		int64_t bytes = moment == TSCOPE_MEMORY_AT_PEAK ? account->at_peak.bytes
								: account->live.bytes;

		if (bytes > 0)
			status = add_stack(sums, (uint32_t)i, path, bytes, err);
	}
	free(path);
	return status;
}

static int compare_stacks(const void *left, const void *right)
{
	const struct stack_sum *a = left, *b = right;
	return strcmp(a->text.data, b->text.data);
}

static enum tscope_status write_sums(FILE *out, struct stack_sums *sums, struct tscope_error *err)
{
	for (uint32_t id = 0; id < sums->count; id++)
		sums->stacks[id].text = tsi_intern_text(&sums->texts, id);
	if (sums->count)
		qsort(sums->stacks, sums->count, sizeof(*sums->stacks), compare_stacks);
	for (size_t i = 0; i < sums->count; i++)
		if (sums->stacks[i].bytes)
			fprintf(out, "%s %" PRId64 "\n", sums->stacks[i].text.data,
				sums->stacks[i].bytes);
	if (fflush(out) != 0 || ferror(out))
		return tsi_fail(err, TSCOPE_E_WRITE, "cannot be written");
	return TSCOPE_OK;
}

enum tscope_status tsi_host_write_stacks(FILE *out, const struct host_memory *host,
					 enum tscope_memory_moment moment, struct tscope_error *err)
{
	struct stack_sums sums = { .capture = &host->capture };
	enum tscope_status status = add_stacks(&sums, host, moment, err);

	if (status == TSCOPE_OK)
		status = write_sums(out, &sums, err);
	free(sums.stacks);
	free(sums.text);
	tsi_intern_deinit(&sums.texts);
	return status;
}
