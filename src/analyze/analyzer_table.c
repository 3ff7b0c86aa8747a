/* SPDX-License-Identifier: MIT */
/*
 * All analyzers, made of analyzer_list.h: the one place that analysis.c walks
 * over and that the public listing shows.
 */
#include "analyze/analyzer_table.h"

#include <assert.h>

#define ANALYZER(id) extern const struct analyzer tsi_analyzer_##id;
#include "analyze/analyzer_list.h"
#undef ANALYZER

static const struct analyzer *const analyzers[] = {
#define ANALYZER(id) &tsi_analyzer_##id,
#include "analyze/analyzer_list.h"
#undef ANALYZER
};

const struct analyzer *tsi_analyzer(size_t index)
{
	assert(index < TSI_COUNT_OF(analyzers));
	return analyzers[index];
}

size_t tscope_analyzer_count(void)
{
	return TSI_COUNT_OF(analyzers);
}

const struct tscope_analyzer_def *tscope_analyzer(size_t index)
{
	return &tsi_analyzer(index)->def;
}
