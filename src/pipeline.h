/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_PIPELINE_H
#define TSCOPE_PIPELINE_H

#include "input/input.h"

#include <tscope/trace.h>

/* How a file is to be opened, as far as the options of a trace say it. */
struct input_options tsi_input_options_of(const struct tscope_trace_options *options);

#endif
