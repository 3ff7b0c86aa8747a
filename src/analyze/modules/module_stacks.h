/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MODULES_MODULE_STACKS_H
#define TSCOPE_ANALYZE_MODULES_MODULE_STACKS_H

#include "analyze/analyzer.h"
#include "analyze/modules/places.h"

#include <stdio.h>
#include <tscope/report.h>

/* As tscope_analysis_write_stacks(). */
TSI_MUST_CHECK
enum tscope_status tsi_module_write_stacks(FILE *out, const struct analysis_scope *scope,
					   enum tscope_stack_weight weight,
					   struct tscope_error *err);

#endif
