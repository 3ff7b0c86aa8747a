/* SPDX-License-Identifier: MIT */
/* Finds the launchers of kernels in a table of facts, and joins names of several kernels. */
#include "diff/work_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/print_text.h"

/* ---- launchers ---- */

struct launched_kernel {
	const char *name;
	int64_t ns;
	size_t row;
};

static int compare_launched(const void *left, const void *right)
{
	const struct launched_kernel *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	if (order)
		return order;
	TSI_DESCENDING(a->ns, b->ns);
	return (a->row > b->row) - (a->row < b->row);
}

static struct launcher_names read_launchers(const struct tscope_analysis *analysis,
					    struct arena *arena)
{
	struct launcher_names names = {
		.rows = tsi_lookup_table(analysis, "kernels.by_launcher"),
	};
	size_t name = tsi_table_column(&names.rows, "name");
	size_t ns = tsi_table_column(&names.rows, "counted_ns");
	size_t inputs = tsi_table_column(&names.rows, "inputs");

	names.kernels = tsi_arena_new(arena, names.rows.row_count, sizeof(*names.kernels));
	if (!names.kernels)
		return names;
	for (size_t row = 0; row < names.rows.row_count; row++) {
		struct tscope_value text = tsi_table_cell(&names.rows, row, name);
		struct tscope_value time = tsi_table_cell(&names.rows, row, ns);
		if (text.kind == TSCOPE_VALUE_TEXT && time.kind == TSCOPE_VALUE_INT)
			names.kernels[names.count++] =
				(struct launched_kernel){ text.text, time.integer, row };
		names.has_inputs |=
			tsi_table_cell(&names.rows, row, inputs).kind == TSCOPE_VALUE_TEXT;
	}
	qsort(names.kernels, names.count, sizeof(*names.kernels), compare_launched);
	return names;
}

void tsi_read_launchers(struct launcher_names ret[TSCOPE_SIDE_COUNT],
			const struct tscope_analysis *const sides[TSCOPE_SIDE_COUNT],
			struct arena *arena)
{
	struct launcher_names *a = &ret[TSCOPE_SIDE_A], *b = &ret[TSCOPE_SIDE_B];

	*a = read_launchers(sides[TSCOPE_SIDE_A], arena);
	*b = read_launchers(sides[TSCOPE_SIDE_B], arena);
	a->has_inputs = b->has_inputs = a->has_inputs && b->has_inputs;
}

/* The first row of a kernel, or NULL. */
static const struct launched_kernel *find_launched(const struct launcher_names *names,
						   const char *kernel)
{
	size_t begin = 0, end = names->count;

	TSI_BISECT(begin, end, strcmp(names->kernels[middle].name, kernel) < 0);
	if (begin == names->count || strcmp(names->kernels[begin].name, kernel) != 0)
		return NULL;
	return &names->kernels[begin];
}

const char *tsi_launcher_name(const struct launcher_names *names, const char *kernel,
			      struct fact_sheet *sheet)
{
	const struct launched_kernel *launched = find_launched(names, kernel);

	if (!launched)
		return NULL;
	struct tscope_value launcher = tsi_table_find(&names->rows, launched->row, "operator");
	struct tscope_value inputs = tsi_table_find(&names->rows, launched->row, "inputs");
	if (launcher.kind != TSCOPE_VALUE_TEXT)
		return NULL;
	if (inputs.kind != TSCOPE_VALUE_TEXT || !names->has_inputs)
		return launcher.text;
	return tsi_sheet_print(sheet, "%s %s", launcher.text, inputs.text);
}

/* ---- several names as one ---- */

enum {
	JOINED_BYTES = 640,
	MAX_JOINED = 8,
	COUNT_BYTES = 32, /* " + 12345 more" */
};

/* Appends a name, cut to `most` bytes. */
static void append_name(char joined[JOINED_BYTES], const char *name, size_t most)
{
	tsi_join_text(joined, JOINED_BYTES, " + ", "%.*s", (int)most, name);
	if (strlen(name) > most)
		tsi_append_text(joined, JOINED_BYTES, "…");
}

const char *tsi_join_work_names(const struct work_item *items, const size_t *indices, size_t count,
				struct fact_sheet *sheet)
{
	char joined[JOINED_BYTES] = "";
	size_t shown = count < MAX_JOINED ? count : MAX_JOINED;
	size_t most = (JOINED_BYTES - COUNT_BYTES) / shown - sizeof(" + …");

	if (count == 1)
		return items[indices[0]].name;
	for (size_t i = 0; i < shown; i++)
		append_name(joined, items[indices[i]].name, most);
	if (count > shown)
		tsi_append_text(joined, sizeof(joined), " + %zu more", count - shown);
	return tsi_sheet_copy(sheet, tsi_str_of(joined));
}
