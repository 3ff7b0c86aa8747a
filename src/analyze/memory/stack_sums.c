/* SPDX-License-Identifier: MIT */
/* Sums by stack, and the lines that flame graph tools take. */
#include "analyze/memory/stack_sums.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/sum.h"

struct line {
	struct str text;
	int64_t bytes;
};

enum tscope_status tsi_stack_sums_init(struct stack_sums *sums, struct tscope_error *err)
{
	*sums = (struct stack_sums){ 0 };
	return tsi_intern_init(&sums->texts, UINT32_MAX - 1, err);
}

void tsi_stack_sums_deinit(struct stack_sums *sums)
{
	tsi_intern_deinit(&sums->texts);
	free(sums->bytes);
	*sums = (struct stack_sums){ 0 };
}

enum tscope_status tsi_stack_sums_find(struct stack_sums *sums, struct str stack, uint32_t *id,
				       struct tscope_error *err)
{
	sums->text_bytes += stack.length;
	if (sums->text_bytes > STACK_SUMS_MAX_BYTES)
		return tsi_fail(err, TSCOPE_E_LIMIT,
				"more than %" PRIu64 " bytes of stacks (limit: text of stacks)",
				STACK_SUMS_MAX_BYTES);
	return tsi_intern_add(&sums->texts, stack.length ? stack : TSI_STR("(no stack)"), id, err);
}

enum tscope_status tsi_stack_sums_add(struct stack_sums *sums, uint32_t id, int64_t bytes,
				      struct tscope_error *err)
{
	if (tsi_array_reserve(&sums->bytes, &sums->capacity, (size_t)id + 1, sizeof(*sums->bytes),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	while (sums->count <= id)
		sums->bytes[sums->count++] = 0;
	tsi_sum(&sums->bytes[id], bytes);
	return TSCOPE_OK;
}

static int compare_lines(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	return strcmp(a->text.data, b->text.data);
}

enum tscope_status tsi_stack_sums_write(FILE *out, const struct stack_sums *sums,
					struct tscope_error *err)
{
	struct line *lines;

	if (tsi_array_new(&lines, sums->count, sizeof(*lines), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t id = 0; id < sums->count; id++)
		lines[id] = (struct line){ tsi_intern_text(&sums->texts, id), sums->bytes[id] };
	if (sums->count)
		qsort(lines, sums->count, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < sums->count; i++)
		if (lines[i].bytes)
			fprintf(out, "%s %" PRId64 "\n", lines[i].text.data, lines[i].bytes);
	free(lines);
	if (fflush(out) != 0 || ferror(out))
		return tsi_fail(err, TSCOPE_E_WRITE, "cannot be written");
	return TSCOPE_OK;
}
