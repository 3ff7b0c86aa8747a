/* SPDX-License-Identifier: MIT */
/* Who launches a kernel, from a table of facts; and names of several kernels made one. */
#include "diff/work_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/facts.h"
#include "base/array.h"

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
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

enum tscope_status tsi_launcher_names_init(struct launcher_names *ret,
					   const struct tscope_analysis *analysis,
					   struct tscope_error *err)
{
	*ret = (struct launcher_names){ .rows = tsi_lookup_table(analysis, TSCOPE_WHOLE_TRACE,
								 "kernels.by_launcher") };
	size_t name = tsi_table_column(&ret->rows, "name");
	size_t ns = tsi_table_column(&ret->rows, "counted_ns");
	size_t inputs = tsi_table_column(&ret->rows, "inputs");

	if (tsi_array_new(&ret->kernels, ret->rows.row_count, sizeof(*ret->kernels), err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t row = 0; row < ret->rows.row_count; row++) {
		struct tscope_value text = tsi_table_cell(&ret->rows, row, name);
		struct tscope_value time = tsi_table_cell(&ret->rows, row, ns);
		if (text.kind == TSCOPE_VALUE_TEXT && time.kind == TSCOPE_VALUE_INT)
			ret->kernels[ret->count++] =
				(struct launched_kernel){ text.text, time.integer, row };
		ret->has_inputs |=
			tsi_table_cell(&ret->rows, row, inputs).kind == TSCOPE_VALUE_TEXT;
	}
	if (ret->count)
		qsort(ret->kernels, ret->count, sizeof(*ret->kernels), compare_launched);
	return TSCOPE_OK;
}

void tsi_launcher_names_deinit(struct launcher_names *names)
{
	free(names->kernels);
	*names = (struct launcher_names){ 0 };
}

void tsi_launcher_names_agree(struct launcher_names sides[TSCOPE_SIDE_COUNT])
{
	struct launcher_names *a = &sides[TSCOPE_SIDE_A], *b = &sides[TSCOPE_SIDE_B];

	a->has_inputs = b->has_inputs = a->has_inputs && b->has_inputs;
}

/* The first row of a kernel, or NULL. */
static const struct launched_kernel *find_launched(const struct launcher_names *names,
						   const char *kernel)
{
	size_t begin = 0, end = names->count;

	while (begin < end) {
		size_t middle = begin + (end - begin) / 2;
		if (strcmp(names->kernels[middle].name, kernel) < 0)
			begin = middle + 1;
		else
			end = middle;
	}
	if (begin == names->count || strcmp(names->kernels[begin].name, kernel) != 0)
		return NULL;
	return &names->kernels[begin];
}

enum tscope_status tsi_launcher_name(const struct launcher_names *names,
				     const struct analysis_scope *scope, const char *kernel,
				     const char **ret, struct tscope_error *err)
{
	const struct launched_kernel *launched = find_launched(names, kernel);
	struct tscope_value launcher = { 0 }, inputs = { 0 };

	*ret = NULL;
	if (launched) {
		launcher = tsi_table_cell(&names->rows, launched->row,
					  tsi_table_column(&names->rows, "operator"));
		inputs = tsi_table_cell(&names->rows, launched->row,
					tsi_table_column(&names->rows, "inputs"));
	}
	if (launcher.kind != TSCOPE_VALUE_TEXT)
		return TSCOPE_OK;
	if (inputs.kind != TSCOPE_VALUE_TEXT || !names->has_inputs)
		return tsi_keep_text(scope, tsi_str_of(launcher.text), ret, err);
	return tsi_make_text(scope, ret, err, "%s %s", launcher.text, inputs.text);
}

/* ---- several names as one ---- */

enum {
	JOINED_BYTES = 640,
	MAX_JOINED = 8,
	COUNT_BYTES = 32, /* " + 12345 more" */
};

/* Appends a name, cut to `most` bytes. */
static size_t append_name(char *joined, size_t length, const char *name, size_t most)
{
	int bytes = (int)(strlen(name) < most ? strlen(name) : most);

	if (length)
		length += (size_t)snprintf(joined + length, JOINED_BYTES - length, " + ");
	length += (size_t)snprintf(joined + length, JOINED_BYTES - length, "%.*s", bytes, name);
	if (strlen(name) <= most)
		return length;
	tsi_str_drop_partial(joined);
	length = strlen(joined);
	return length + (size_t)snprintf(joined + length, JOINED_BYTES - length, "…");
}

enum tscope_status tsi_join_work_names(const struct analysis_scope *scope,
				       const struct work_item *items, const size_t *indices,
				       size_t count, const char **ret, struct tscope_error *err)
{
	char joined[JOINED_BYTES];
	size_t shown = count < MAX_JOINED ? count : MAX_JOINED, length = 0;
	size_t most = (JOINED_BYTES - COUNT_BYTES) / shown - sizeof(" + …");

	if (count == 1) {
		*ret = items[indices[0]].name;
		return TSCOPE_OK;
	}
	for (size_t i = 0; i < shown; i++)
		length = append_name(joined, length, items[indices[i]].name, most);
	if (count > shown)
		snprintf(joined + length, sizeof(joined) - length, " + %zu more", count - shown);
	return tsi_keep_text(scope, tsi_str_of(joined), ret, err);
}
