/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MEMORY_HOST_STACKS_H
#define TSCOPE_ANALYZE_MEMORY_HOST_STACKS_H

#include "model/memory/host_memory.h"

#include <stdio.h>
#include <tscope/memory.h>

/*
 * Writes "outer;…;inner bytes" for each Python stack of a capture that had memory then, in the
 * order of stacks; "(no stack)" stands for what was allocated outside of Python. Fails with
 * TSCOPE_E_WRITE, TSCOPE_E_LIMIT, TSCOPE_E_NOMEM.
 */
TSI_MUST_CHECK
enum tscope_status tsi_host_write_stacks(FILE *out, const struct host_memory *host,
					 enum tscope_memory_moment moment,
					 struct tscope_error *err);

#endif
