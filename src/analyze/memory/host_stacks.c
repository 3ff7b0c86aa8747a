/* SPDX-License-Identifier: MIT */
/*
 * Stacks of a memray capture for flame graphs, in the words of those of a snapshot
 * (snapshot_stacks.c): "train.py:41:step". Stacks that differ in what is not shown are one.
 */
#include "analyze/memory/host_stacks.h"

#include <inttypes.h>

#include "analyze/memory/stack_sums.h"
#include "model/memory/stack_site.h"

enum { NAME_SHOWN_MAX = 1024 };

/* The stack at hand. */
struct stack_text {
	const struct memray_capture *capture;
	struct arena *arena;
	char *text;
	size_t length, capacity;
};

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

static void put_frame(struct stack_text *stack, uint32_t node)
{
	const struct memray_capture *capture = stack->capture;
	const struct memray_frame *frame = &capture->frames[capture->nodes[node].frame];
	enum { PUNCTUATION_MAX = 32 };
	char *text = tsi_arena_reserve(stack->arena, stack->text, &stack->capacity,
				       stack->length + 2 * NAME_SHOWN_MAX + PUNCTUATION_MAX, 1);

	if (!text)
		return;
	stack->text = text;
	if (stack->length > 0)
		text[stack->length++] = ';';
	put_name(stack, tsi_stack_file_name(tsi_intern_text(&capture->names, frame->file)));
	text[stack->length++] = ':';
	if (frame->line > 0) /* as in the sites */
		stack->length += (size_t)snprintf(text + stack->length, PUNCTUATION_MAX,
						  "%" PRId32 ":", frame->line);
	put_name(stack, tsi_intern_text(&capture->names, frame->function));
}

/* path: room for all nodes, which know their parents only. A stack too long stays too long. */
static struct str describe(struct stack_text *stack, uint32_t node, uint32_t *path)
{
	size_t depth = 0;

	stack->length = 0;
	for (; node > 0; node = stack->capture->nodes[node].parent)
		path[depth++] = node;
	while (depth > 0 && !stack->arena->has_failed && stack->length <= STACK_SUMS_MAX_BYTES)
		put_frame(stack, path[--depth]);
	return (struct str){ stack->text, stack->length };
}

static int64_t bytes_at(const struct host_account *account, enum tscope_memory_moment moment)
{
	return moment == TSCOPE_MEMORY_AT_PEAK ? account->at_peak.bytes : account->live.bytes;
}

static void add_stacks(struct stack_sums *sums, const struct host_memory *host,
		       enum tscope_memory_moment moment)
{
	struct stack_text stack = { .capture = &host->capture, .arena = &sums->arena };
	uint32_t *path = tsi_arena_new(&sums->arena, host->capture.node_count, sizeof(*path));

	for (size_t i = 0; i < host->stack_count && tsi_stack_sums_has_room(sums); i++) {
		int64_t bytes = bytes_at(&host->stacks[i], moment);

		if (bytes > 0)
			tsi_stack_sums_add(
				sums,
				tsi_stack_sums_find(sums, describe(&stack, (uint32_t)i, path)),
				bytes);
	}
}

enum tscope_status tsi_host_write_stacks(FILE *out, const struct host_memory *host,
					 enum tscope_memory_moment moment, struct tscope_error *err)
{
	struct stack_sums sums;

	tsi_stack_sums_init(&sums);
	add_stacks(&sums, host, moment);
	enum tscope_status status = tsi_stack_sums_write(out, &sums, err);
	tsi_stack_sums_deinit(&sums);
	return status;
}
