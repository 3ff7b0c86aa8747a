/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_MEMORY_MEMORY_FILE_H
#define TSCOPE_MODEL_MEMORY_MEMORY_FILE_H

#include "model/memory/host_memory.h"
#include "model/memory/memory_stats.h"
#include "model/memory/memory_timeline.h"
#include "model/memory/memory_tracker.h"
#include "model/memory/snapshot.h"

#include <tscope/memory.h>

/* A file about memory: its plain data, and the one model that this is. */
struct tscope_memory {
	struct tscope_memory_info info;
	char *path;          /* and, behind its NUL, the filters */
	struct plain *plain; /* what the models point into; NULL where they do not */
	struct snapshot snapshot;
	struct memory_timeline timeline;
	struct memory_stats stats;
	struct memory_tracker tracker;
	struct host_memory host;
	struct tscope_error damage; /* that info.damage points to */
};

/*
 * Builds the model of memory->plain and fills kind, counts, rank and note of info. Plain data
 * that the model does not point into is freed. TSCOPE_E_FORMAT: it is none of the kinds; the
 * message says what it is instead.
 */
TSI_MUST_CHECK
enum tscope_status tsi_memory_build(struct tscope_memory *memory, struct tscope_error *err);

/* Reads a memray capture, which is no plain data, as tsi_host_memory_read(). */
TSI_MUST_CHECK
enum tscope_status tsi_memory_read_capture(struct tscope_memory *memory, struct input *in,
					   struct tscope_error *err);

#endif
