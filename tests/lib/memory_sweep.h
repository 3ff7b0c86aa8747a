/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_MEMORY_SWEEP_H
#define TSCOPE_TESTS_MEMORY_SWEEP_H

#include "world_text.h"

/*
 * Runs one analyzer ("transfers") on a run's world alone, and lets each of its allocations fail
 * in turn: it must say so each time. Gives how many allocations there are. options may be NULL.
 */
size_t sweep_memory(const struct test_world *w, const char *analyzer,
		    const struct tscope_analysis_options *options);

#endif
