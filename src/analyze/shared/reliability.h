/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_SHARED_RELIABILITY_H
#define TSCOPE_ANALYZE_SHARED_RELIABILITY_H

#include "analyze/facts.h"

/*
 * Why figures of the device's time must not be believed (static text), or NULL
 * where nothing speaks against them: what the trace lacks, or what was
 * repaired in it, is enough to turn a verdict round.
 */
const char *tsi_device_time_doubt(const struct tscope_timeline *timeline);

/* Puts the doubt, if there is one, on a sheet. */
void tsi_judge_device_time(const struct tscope_timeline *timeline, struct fact_sheet *sheet);

/* Likewise that about step times of a trace whose steps overlap. */
void tsi_judge_step_time(const struct analysis_scope *scope, struct fact_sheet *sheet);

#endif
