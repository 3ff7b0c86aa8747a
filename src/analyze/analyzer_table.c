/* SPDX-License-Identifier: MIT */
/*
 * All analyzers, made of analyzer_list.h: the one place that analysis.c walks
 * over and that the public listing shows.
 */
#include "analyze/analyzer_table.h"

#include <assert.h>
#include <string.h>

#define ANALYZER(id) extern const struct analyzer tsi_analyzer_##id;
#define DIFF_ANALYZER(id) ANALYZER(id)
#include "analyze/analyzer_list.h"
#undef ANALYZER

static const struct analyzer *const analyzers[] = {
#define ANALYZER(id) &tsi_analyzer_##id,
#include "analyze/analyzer_list.h"
#undef ANALYZER
#undef DIFF_ANALYZER
};

const struct analyzer *tsi_analyzer(size_t index)
{
	assert(index < TSI_COUNT_OF(analyzers));
	return analyzers[index];
}

size_t tscope_analyzer_find(const char *id)
{
	size_t length = strcspn(id, "."), i = 0;

	while (i < TSI_COUNT_OF(analyzers) && (strlen(analyzers[i]->def.id) != length ||
					       memcmp(analyzers[i]->def.id, id, length) != 0))
		i++;
	return i;
}

const struct tscope_table_def *tscope_table_find(const char *id, size_t *analyzer, size_t *table)
{
	const char *dot = strchr(id, '.');
	size_t index = tscope_analyzer_find(id);

	if (!dot || index == TSI_COUNT_OF(analyzers))
		return NULL;
	const struct tscope_analyzer_def *def = &analyzers[index]->def;
	for (size_t i = 0; i < def->table_count; i++) {
		if (strcmp(def->tables[i].name, dot + 1) != 0)
			continue;
		*analyzer = index;
		*table = i;
		return &def->tables[i];
	}
	return NULL;
}

size_t tscope_analyzer_count(void)
{
	return TSI_COUNT_OF(analyzers);
}

const struct tscope_analyzer_def *tscope_analyzer(size_t index)
{
	return &tsi_analyzer(index)->def;
}

const char *tscope_unit_name(enum tscope_unit unit)
{
	static const char *const names[] = {
		[TSCOPE_UNIT_COUNT] = "count", [TSCOPE_UNIT_NS] = "ns",
		[TSCOPE_UNIT_BYTES] = "bytes", [TSCOPE_UNIT_BYTES_PER_SECOND] = "bytes/s",
		[TSCOPE_UNIT_FLOPS] = "flop",  [TSCOPE_UNIT_FLOPS_PER_SECOND] = "flop/s",
		[TSCOPE_UNIT_RATIO] = "ratio", [TSCOPE_UNIT_NUMBER] = "number",
		[TSCOPE_UNIT_TEXT] = "text",   [TSCOPE_UNIT_FLAG] = "flag",
	};

	return names[unit];
}
