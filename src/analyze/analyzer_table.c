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

/* Their ids side by side: rules ask for hundreds, and most differ in the first two letters. */
static const char ids[][24] = {
#define ANALYZER(id) #id,
#define DIFF_ANALYZER(id) ANALYZER(id)
#include "analyze/analyzer_list.h"
#undef ANALYZER
#undef DIFF_ANALYZER
};

/* The rest after an analyzer's id: its end, or a dot and more; NULL: another analyzer's. */
static inline const char *behind_id(const char *name, const char *id)
{
	while (*id && *id == *name) {
		id++;
		name++;
	}
	return *id == '\0' && (*name == '\0' || *name == '.') ? name : NULL;
}

size_t tsi_analyzer_split(const char *id, const char **rest)
{
	*rest = NULL;
	if (!*id)
		return TSI_COUNT_OF(ids);
	for (size_t i = 0; i < TSI_COUNT_OF(ids); i++) {
		if (memcmp(ids[i], id, 2) != 0)
			continue;
		const char *behind = behind_id(id, ids[i]);
		if (!behind)
			continue;
		*rest = *behind ? behind + 1 : NULL;
		return i;
	}
	return TSI_COUNT_OF(ids);
}

size_t tscope_analyzer_find(const char *id)
{
	const char *rest;

	return tsi_analyzer_split(id, &rest);
}

const struct tscope_table_def *tscope_table_find(const char *id, size_t *analyzer, size_t *table)
{
	const char *name;
	size_t index = tsi_analyzer_split(id, &name);

	if (!name)
		return NULL;
	const struct tscope_analyzer_def *def = &analyzers[index]->def;
	for (size_t i = 0; i < def->table_count; i++) {
		if (!tsi_is_same_name(def->tables[i].name, name))
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

/*
 * Words in names of facts that are not sums although their unit would allow it: statistics, counts
 * that do not grow with the run, steps, ranks and places.
 */
static const char *const words_of_no_sum[] = {
	"mean",   "median",  "p50",      "p95",       "p99",  "min",   "max",
	"peak",   "largest", "longest",  "per",       "step", "steps", "stage",
	"name",   "names",   "function", "functions", "rank", "node",  "microbatch",
	"module", "layer",   "sequence", "odd",
};

static bool has_word(const char *name, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = name; *at; at += strcspn(at, "_."), at += *at != '\0')
		if (strcspn(at, "_.") == length && memcmp(at, word, length) == 0)
			return true;
	return false;
}

static bool can_be_sum(enum tscope_unit unit)
{
	return unit == TSCOPE_UNIT_COUNT || unit == TSCOPE_UNIT_NS || unit == TSCOPE_UNIT_BYTES ||
	       unit == TSCOPE_UNIT_FLOPS;
}

enum tscope_total tscope_fact_total(const struct tscope_analyzer_def *analyzer, size_t fact)
{
	const struct tscope_fact_def *def = &analyzer->facts[fact];

	if (!can_be_sum(def->unit))
		return TSCOPE_TOTAL_NONE;
	for (size_t i = 0; i < TSI_COUNT_OF(words_of_no_sum); i++)
		if (has_word(def->name, words_of_no_sum[i]))
			return TSCOPE_TOTAL_NONE;
	return analyzer->total;
}

const char *tscope_unit_name(enum tscope_unit unit)
{
	static const char *const names[] = {
		[TSCOPE_UNIT_COUNT] = "count", [TSCOPE_UNIT_NS] = "ns",
		[TSCOPE_UNIT_BYTES] = "bytes", [TSCOPE_UNIT_BYTES_PER_SECOND] = "bytes/s",
		[TSCOPE_UNIT_FLOPS] = "flop",  [TSCOPE_UNIT_FLOPS_PER_SECOND] = "flop/s",
		[TSCOPE_UNIT_RATIO] = "ratio", [TSCOPE_UNIT_NUMBER] = "number",
		[TSCOPE_UNIT_TEXT] = "text",   [TSCOPE_UNIT_FLAG] = "flag",
		[TSCOPE_UNIT_ANY] = "any",
	};

	return names[unit];
}
