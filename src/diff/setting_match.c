/* SPDX-License-Identifier: MIT */
#include "diff/setting_match.h"

#include <stdlib.h>
#include <string.h>
#include <tscope/diff.h>

#include "analyze/lookup.h"

static int compare_settings(const void *left, const void *right)
{
	const struct setting *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : (a->row > b->row) - (a->row < b->row);
}

struct settings tsi_settings_open(const struct tscope_analysis *analysis, const char *id,
				  struct arena *arena)
{
	struct table_view view = tsi_lookup_table(analysis, id);
	struct setting *items = tsi_arena_new(arena, view.row_count, sizeof(*items));
	struct settings settings = { .items = items };

	if (!items)
		return settings;
	for (size_t i = 0; i < view.row_count; i++)
		items[i] = (struct setting){
			tsi_table_text(&view, i, "name"),
			tsi_table_text(&view, i, "value"),
			i,
		};
	qsort(items, view.row_count, sizeof(*items), compare_settings);
	for (size_t i = 0; i < view.row_count; i++)
		if (i + 1 == view.row_count || strcmp(items[i].name, items[i + 1].name) != 0)
			items[settings.count++] = items[i];
	return settings;
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

struct setting_pairs tsi_settings_match(const struct settings *sides, struct arena *arena)
{
	const struct settings *a = &sides[TSCOPE_SIDE_A], *b = &sides[TSCOPE_SIDE_B];
	struct setting_pairs pairs = {
		.items = tsi_arena_new(arena, a->count + b->count, sizeof(*pairs.items)),
	};

	if (pairs.items)
		merge(&pairs, a, b);
	return pairs;
}
