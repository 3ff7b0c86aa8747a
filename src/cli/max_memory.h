/* SPDX-License-Identifier: MIT */
#pragma once

#include "options.h"

/*
 * Bounds what the process may allocate: options->max_memory, or three quarters of what there is. A
 * trace whose spans take more than an eighth of that is read in part, so that the rest is left for
 * its analyses. From then on an allocation beyond the bound fails.
 */
void max_memory_set(struct options *options);
