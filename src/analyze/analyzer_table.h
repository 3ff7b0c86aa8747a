/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_ANALYZER_TABLE_H
#define TSCOPE_ANALYZE_ANALYZER_TABLE_H

#include "analyze/analyzer.h"

/* The analyzer with this index (0 … tscope_analyzer_count() - 1). Static. */
const struct analyzer *tsi_analyzer(size_t index);

#endif
