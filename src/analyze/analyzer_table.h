/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_ANALYZER_TABLE_H
#define TSCOPE_ANALYZE_ANALYZER_TABLE_H

#include "analyze/analyzer.h"

#include <string.h>

/* The analyzer with this index (0 … tscope_analyzer_count() - 1). Static. */
const struct analyzer *tsi_analyzer(size_t index);

/* Compares names of facts, tables and columns: rules look thousands up, and most differ at once. */
static inline bool tsi_is_same_name(const char *a, const char *b)
{
	return a[0] == b[0] && (!a[0] || (a[1] == b[1] && strcmp(a, b) == 0));
}

/* tscope_analyzer_find(); *rest: what stands behind the dot, or NULL. */
size_t tsi_analyzer_split(const char *id, const char **rest);

#endif
