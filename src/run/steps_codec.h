/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_STEPS_CODEC_H
#define TSCOPE_RUN_STEPS_CODEC_H

#include "base/codec.h"
#include "run/memory_steps.h"
#include "run/metrics.h"
#include "run/steps.h"

/* The structs must be empty, the series initialised; texts go to the arena. */
void tsi_code_steps(struct codec *codec, struct step_series *steps, struct arena *texts);
void tsi_code_metrics(struct codec *codec, struct metric_log *log);
void tsi_code_memory_steps(struct codec *codec, struct memory_steps *memory);

#endif
