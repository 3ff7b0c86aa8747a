/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_ANALYSIS_CODEC_H
#define TSCOPE_ANALYZE_ANALYSIS_CODEC_H

#include "base/codec.h"

#include <tscope/analysis.h>

/*
 * Facts and tables of a trace, or of a file about memory, whose input is closed. Reading writes the
 * analysis to *analysis, which the caller frees; NULL where something is wrong before it.
 */
void tsi_code_analysis(struct codec *codec, struct tscope_analysis **analysis);

/* Equal where facts have the same names, units and places: else figures cannot be taken over. */
uint32_t tsi_analysis_schema(void);

#endif
