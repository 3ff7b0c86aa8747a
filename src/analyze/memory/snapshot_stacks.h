/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MEMORY_SNAPSHOT_STACKS_H
#define TSCOPE_ANALYZE_MEMORY_SNAPSHOT_STACKS_H

#include "model/memory/snapshot.h"

#include <stdio.h>
#include <tscope/memory.h>

/*
 * Writes "outer;…;inner bytes" for each stack of what was live at the moment on the device
 * with the highest peak, in the order of stacks; "(no stack)" stands for those without. Fails with
 * TSCOPE_E_WRITE, TSCOPE_E_LIMIT, TSCOPE_E_NOMEM.
 */
TSI_MUST_CHECK
enum tscope_status tsi_snapshot_write_stacks(FILE *out, const struct snapshot *snapshot,
					     enum tscope_memory_moment moment,
					     struct tscope_error *err);

#endif
