/* SPDX-License-Identifier: MIT */
/* Sums by stack, and the lines that flame graph tools take. */
#include "analyze/memory/stack_sums.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/sum.h"

struct line {
	const char *text;
	int64_t bytes;
};

void tsi_stack_sums_init(struct stack_sums *sums)
{
	*sums = (struct stack_sums){ 0 };
	tsi_named_rows_init(&sums->rows, sizeof(int64_t), &sums->arena);
}

void tsi_stack_sums_deinit(struct stack_sums *sums)
{
	tsi_named_rows_deinit(&sums->rows);
	tsi_arena_deinit(&sums->arena);
}

size_t tsi_stack_sums_find(struct stack_sums *sums, struct str stack)
{
	sums->text_bytes += stack.length;
	if (!tsi_stack_sums_has_room(sums))
		return SIZE_MAX;
	const int64_t *row =
		tsi_named_row(&sums->rows, stack.length ? stack : TSI_STR("(no stack)"));
	return row ? (size_t)(row - (const int64_t *)sums->rows.rows) : SIZE_MAX;
}

void tsi_stack_sums_add(struct stack_sums *sums, size_t row, int64_t bytes)
{
	if (row != SIZE_MAX)
		tsi_sum(tsi_named_row_at(&sums->rows, row), bytes);
}

static int compare_lines(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	return strcmp(a->text, b->text);
}

static void write_lines(FILE *out, struct stack_sums *sums)
{
	size_t count = sums->rows.count;
	struct line *lines = tsi_arena_new(&sums->arena, count, sizeof(*lines));

	if (!lines)
		return;
	for (size_t i = 0; i < count; i++)
		lines[i] = (struct line){ tsi_intern_text(&sums->rows.names, (uint32_t)i).data,
					  *(int64_t *)tsi_named_row_at(&sums->rows, i) };
	if (count)
		qsort(lines, count, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < count; i++)
		if (lines[i].bytes)
			fprintf(out, "%s %" PRId64 "\n", lines[i].text, lines[i].bytes);
}

enum tscope_status tsi_stack_sums_write(FILE *out, struct stack_sums *sums,
					struct tscope_error *err)
{
	if (sums->text_bytes > STACK_SUMS_MAX_BYTES)
		return tsi_fail(err, TSCOPE_E_LIMIT,
				"more than %" PRIu64 " bytes of stacks (limit: text of stacks)",
				STACK_SUMS_MAX_BYTES);
	write_lines(out, sums);
	if (sums->arena.has_failed)
		return tsi_arena_status(&sums->arena, err);
	if (fflush(out) != 0 || ferror(out))
		return tsi_fail(err, TSCOPE_E_WRITE, "cannot be written");
	return TSCOPE_OK;
}
