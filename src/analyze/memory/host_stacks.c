/* SPDX-License-Identifier: MIT */
/*
 * Stacks of a memray capture for flame graphs, in the words of those of a snapshot
 * (snapshot_stacks.c): "train.py:41:step". Stacks that differ in what is not shown are one.
 */
#include "analyze/memory/host_stacks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/memory/stack_sums.h"
#include "base/array.h"

enum { NAME_SHOWN_MAX = 1024 };

/* The stack at hand. */
struct stack_text {
	const struct memray_capture *capture;
	char *text;
	size_t length, capacity;
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
static void put_name(struct stack_text *stack, struct str name)
{
	size_t length = name.length < NAME_SHOWN_MAX ? name.length : NAME_SHOWN_MAX;

	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)name.data[i];

		stack->text[stack->length++] = c == ';'               ? ':'
					       : c < ' ' || c == 0x7f ? ' '
								      : (char)c;
	}
}

static enum tscope_status put_frame(struct stack_text *stack, uint32_t node,
				    struct tscope_error *err)
{
	const struct memray_capture *capture = stack->capture;
	const struct memray_frame *frame = &capture->frames[capture->nodes[node].frame];
	enum { PUNCTUATION_MAX = 32 };

	if (tsi_array_reserve(&stack->text, &stack->capacity,
			      stack->length + 2 * NAME_SHOWN_MAX + PUNCTUATION_MAX, 1,
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (stack->length > 0)
		stack->text[stack->length++] = ';';
	put_name(stack, base_of(tsi_intern_text(&capture->names, frame->file)));
	stack->text[stack->length++] = ':';
	if (frame->line > 0) /* as in the sites */
		stack->length += (size_t)snprintf(stack->text + stack->length, PUNCTUATION_MAX,
						  "%" PRId32 ":", frame->line);
	put_name(stack, tsi_intern_text(&capture->names, frame->function));
	return TSCOPE_OK;
}

/* Nodes know their parents only: path is room for all of a stack. One too long stays too long. */
static enum tscope_status put_stack(struct stack_text *stack, uint32_t node, uint32_t *path,
				    struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	size_t depth = 0;

	stack->length = 0;
	for (; node > 0; node = stack->capture->nodes[node].parent)
		path[depth++] = node;
	while (depth > 0 && status == TSCOPE_OK && stack->length <= STACK_SUMS_MAX_BYTES)
		status = put_frame(stack, path[--depth], err);
	return status;
}

static int64_t bytes_at(const struct host_account *account, enum tscope_memory_moment moment)
{
	return moment == TSCOPE_MEMORY_AT_PEAK ? account->at_peak.bytes : account->live.bytes;
}

static enum tscope_status add_stacks(struct stack_sums *sums, struct stack_text *stack,
				     const struct host_memory *host,
				     enum tscope_memory_moment moment, struct tscope_error *err)
{
	uint32_t *path = NULL;
	enum tscope_status status =
		tsi_array_new(&path, host->capture.node_count, sizeof(*path), err);

	for (size_t i = 0; i < host->stack_count && status == TSCOPE_OK; i++) {
		int64_t bytes = bytes_at(&host->stacks[i], moment);
		uint32_t id;

		if (bytes <= 0)
			continue;
		status = put_stack(stack, (uint32_t)i, path, err);
		if (status == TSCOPE_OK)
			status = tsi_stack_sums_find(
				sums, (struct str){ stack->text, stack->length }, &id, err);
		if (status == TSCOPE_OK)
			status = tsi_stack_sums_add(sums, id, bytes, err);
	}
	free(path);
	return status;
}

enum tscope_status tsi_host_write_stacks(FILE *out, const struct host_memory *host,
					 enum tscope_memory_moment moment, struct tscope_error *err)
{
	struct stack_text stack = { .capture = &host->capture };
	struct stack_sums sums;
	enum tscope_status status = tsi_stack_sums_init(&sums, err);

	if (status == TSCOPE_OK)
		status = add_stacks(&sums, &stack, host, moment, err);
	if (status == TSCOPE_OK)
		status = tsi_stack_sums_write(out, &sums, err);
	tsi_stack_sums_deinit(&sums);
	free(stack.text);
	return status;
}
