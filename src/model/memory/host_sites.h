/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_MEMORY_HOST_SITES_H
#define TSCOPE_MODEL_MEMORY_HOST_SITES_H

#include "model/memory/host_memory.h"
#include "model/memory/named_rows.h"

/*
 * Where host memory was allocated: the stacks of a capture put together by their innermost
 * Python frames, "/home/u/train.py:41:step"; with more depth its callers follow,
 * "… < …". "" where there was no Python stack, "(other)" for stacks that the filter leaves out.
 * memray's own statistics give the places that they list.
 */
struct host_site {
	struct host_use allocated, temporary, at_peak; /* -1: not known */
	struct host_use live;                          /* at the end */
	int64_t growth_bytes; /* live at the end, less in the middle; where there is a middle */
};

/*
 * Rows of struct host_site by text, in an arena. depth 0: 1. A stack without the filter in a file
 * or function is "(other)"; "": none is.
 */
void tsi_host_sites_init(struct named_rows *sites, const struct host_memory *host, unsigned depth,
			 struct str filter, struct arena *arena);

/* Bytes and allocations that are neither 0 nor unknown in any of its figures? */
bool tsi_host_site_is_used(const struct host_site *site);

#endif
