/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MODULES_MODULE_STACKS_H
#define TSCOPE_ANALYZE_MODULES_MODULE_STACKS_H

#include "analyze/modules/places.h"

#include <stdio.h>

/* As tscope_analysis_write_stacks(); places: NULL where the trace has none. */
TSI_MUST_CHECK
enum tscope_status tsi_module_write_stacks(FILE *out, const struct tscope_trace *trace,
					   const struct places *places, struct tscope_error *err);

#endif
