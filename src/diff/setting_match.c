/* SPDX-License-Identifier: MIT */
#include "diff/setting_match.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/array.h"

static int compare_settings(const void *left, const void *right)
{
	const struct setting *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : (a->row > b->row) - (a->row < b->row);
}

static const char *text_of(struct tscope_value value)
{
	return value.kind == TSCOPE_VALUE_TEXT ? value.text : "";
}

enum tscope_status tsi_settings_open(struct settings *ret, const struct tscope_analysis *analysis,
				     const char *id, struct tscope_error *err)
{
	struct table_view view = tsi_lookup_table(analysis, TSCOPE_WHOLE_TRACE, id);
	size_t name = tsi_table_column(&view, "name"), value = tsi_table_column(&view, "value");

	if (tsi_array_new(&ret->items, view.row_count, sizeof(*ret->items), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < view.row_count; i++)
		ret->items[i] = (struct setting){
			text_of(tsi_table_cell(&view, i, name)),
			text_of(tsi_table_cell(&view, i, value)),
			i,
		};
	if (view.row_count > 0)
		qsort(ret->items, view.row_count, sizeof(*ret->items), compare_settings);
	for (size_t i = 0; i < view.row_count; i++)
		if (i + 1 == view.row_count ||
		    strcmp(ret->items[i].name, ret->items[i + 1].name) != 0)
			ret->items[ret->count++] = ret->items[i];
	return TSCOPE_OK;
}

const char *tsi_setting_find(const struct settings *settings, const char *name)
{
	for (size_t i = 0; i < settings->count; i++)
		if (strcmp(settings->items[i].name, name) == 0)
			return settings->items[i].value;
	return NULL;
}

static const char trace_prefix[] = "trace."; /* of what a trace says, not the job */

static bool is_of_trace(const char *name)
{
	return strncmp(name, trace_prefix, strlen(trace_prefix)) == 0;
}

bool tsi_settings_know_job(const struct settings *settings)
{
	for (size_t i = 0; i < settings->count; i++)
		if (!is_of_trace(settings->items[i].name))
			return true;
	return false;
}

bool tsi_setting_is_relevant(const char *name)
{
	static const char *const relevant[] = {
		"torch",
		"cuda",
		"gpu",
		"gpu_count",
		"cudnn_deterministic",
		"cudnn_benchmark",
		"env.PYTHONHASHSEED",
		"env.CUBLAS_WORKSPACE_CONFIG",
		"trace.gpu",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(relevant); i++)
		if (strcmp(name, relevant[i]) == 0)
			return true;
	return false;
}

void tsi_setting_pairs_deinit(struct setting_pairs *pairs)
{
	free(pairs->items);
	free(pairs->names);
}

static void add_pair(struct setting_pairs *pairs, struct setting_pair pair)
{
	if (pair.a && pair.b && strcmp(pair.a, pair.b) == 0)
		return;
	pairs->items[pairs->count++] = pair;
}

/* Walks both in the order of names. */
static void merge(struct setting_pairs *pairs, const struct settings *a, const struct settings *b)
{
	size_t i = 0, j = 0;

	while (i < a->count || j < b->count) {
		int order = i == a->count   ? 1
			    : j == b->count ? -1
					    : strcmp(a->items[i].name, b->items[j].name);

		add_pair(pairs, (struct setting_pair){
					order <= 0 ? a->items[i].name : b->items[j].name,
					order <= 0 ? a->items[i].value : NULL,
					order >= 0 ? b->items[j].value : NULL,
				});
		i += order <= 0;
		j += order >= 0;
	}
}

static void list_names(struct setting_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++)
		pairs->names[i] = pairs->items[i].name;
	for (size_t i = 0; i < pairs->count; i++)
		if (tsi_setting_is_relevant(pairs->items[i].name))
			pairs->names[pairs->count + pairs->relevant_count++] = pairs->items[i].name;
}

enum tscope_status tsi_settings_match(struct setting_pairs *ret, const struct settings *a,
				      const struct settings *b, struct tscope_error *err)
{
	size_t most = a->count + b->count;

	if (tsi_array_new(&ret->items, most, sizeof(*ret->items), err) != TSCOPE_OK ||
	    tsi_array_new(&ret->names, 2 * most + 1, sizeof(*ret->names), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	merge(ret, a, b);
	list_names(ret);
	return TSCOPE_OK;
}
