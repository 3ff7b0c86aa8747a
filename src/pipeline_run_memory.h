/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_PIPELINE_RUN_MEMORY_H
#define TSCOPE_PIPELINE_RUN_MEMORY_H

#include "pipeline_load.h"

/* Of each kind of files about memory, the one that speaks for a rank or a run; or NULL. */
struct run_memory {
	const struct tscope_analysis *by_kind[TSCOPE_MEMORY_KIND_COUNT];
};

/*
 * Lets a file speak for its kind if nobody does yet, or if it has more to tell than the one
 * that does: an OOM, else a higher peak. It must outlive memory.
 */
void tsi_run_memory_offer(struct run_memory *memory, const struct loaded *loaded);

/* Lets the files answer for what the analysis of a rank or run has no figures of. */
void tsi_run_memory_put(const struct run_memory *memory, struct tscope_analysis *analysis);

/* Is it a snapshot in which a request for memory failed? */
bool tsi_has_failed_request(const struct loaded *loaded);

#endif
