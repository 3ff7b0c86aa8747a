/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_MEMORY_HOST_SITES_H
#define TSCOPE_MODEL_MEMORY_HOST_SITES_H

#include "model/memory/host_memory.h"

/*
 * Where host memory was allocated: the stacks of a capture put together by their innermost
 * Python frames, "/home/u/train.py:41:step"; with more depth its callers follow,
 * "… < …". "" where there was no Python stack, "(other)" for stacks that the filter leaves out.
 * Of what memray says itself: the places that it lists.
 */
struct host_site {
	uint32_t text;                                 /* in texts */
	struct host_use allocated, temporary, at_peak; /* -1: not known */
	struct host_use live;                          /* at the end */
	int64_t growth_bytes; /* live at the end, less in the middle; where there is a middle */
};

struct host_sites {
	struct intern texts;
	struct host_site *items; /* by text */
	size_t count, capacity;
	size_t text_bytes;
};

/* depth 0: 1. A stack without the filter in a file or function is "(other)"; "": none is. */
TSI_MUST_CHECK
enum tscope_status tsi_host_sites_init(struct host_sites *sites, const struct host_memory *host,
				       unsigned depth, struct str filter, struct tscope_error *err);
void tsi_host_sites_deinit(struct host_sites *sites); /* fine on a zeroed struct */

/* Bytes and allocations that are neither 0 nor unknown in any of its figures? */
bool tsi_host_site_is_used(const struct host_site *site);

#endif
