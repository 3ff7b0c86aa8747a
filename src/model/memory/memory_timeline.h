/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_MEMORY_MEMORY_TIMELINE_H
#define TSCOPE_MODEL_MEMORY_MEMORY_TIMELINE_H

#include "base/arena.h"
#include "decode/plain/plain.h"

#include <stdint.h>

/*
 * A memory timeline of torch.profiler (export_memory_timeline): bytes by category over time,
 * in the order of the file. The .json form is such points; the rows of the .raw.json form are
 * added up, and those of equal time that follow each other make one.
 */
#define MEMORY_CATEGORIES(X)                                                                       \
	X(MEMORY_PARAMETER, "parameter") /* in the order of both forms */                          \
	X(MEMORY_OPTIMIZER_STATE, "optimizer_state")                                               \
	X(MEMORY_INPUT, "input")                                                                   \
	X(MEMORY_TEMPORARY, "temporary")                                                           \
	X(MEMORY_ACTIVATION, "activation")                                                         \
	X(MEMORY_GRADIENT, "gradient")                                                             \
	X(MEMORY_AUTOGRAD_DETAIL, "autograd_detail")                                               \
	X(MEMORY_UNKNOWN, "unknown")

enum memory_category { MEMORY_CATEGORIES(TSI_NAMED_ID) MEMORY_CATEGORY_COUNT };

/* "parameter", "optimizer_state" …: never NULL. */
const char *tsi_memory_category_name(enum memory_category category);

enum { NO_MEMORY_TIME_NS = -1 }; /* no point of the timeline has a time */

struct memory_point {
	int64_t time_ns; /* Unix time, or NO_MEMORY_TIME_NS */
	int64_t bytes[MEMORY_CATEGORY_COUNT];
};

/* The sum of all categories. */
int64_t tsi_memory_point_bytes(const struct memory_point *point);

struct memory_timeline {
	struct arena arena; /* of points */
	struct memory_point *points;
	size_t count, capacity;
	bool is_uneven; /* of the .json form: one of its two lists was longer than the other */
	bool is_raw;    /* the figures below are known */
	uint64_t row_count;
	uint64_t preexisting_count, created_count, destroyed_count, changed_count;
	int64_t preexisting_bytes;
	uint64_t dropped_count; /* rows without what makes them one */
};

/* A list of two lists of which the second holds lists (or is empty, too), or of rows of it? */
bool tsi_is_memory_timeline(const struct plain *plain);

/* Copies what it needs of the plain data. Its arena, the owner's to deinit, says if it could. */
void tsi_memory_timeline_init(struct memory_timeline *timeline, const struct plain *plain);

#endif
