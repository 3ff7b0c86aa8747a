/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_MEMORY_RESIDENT_H
#define TSCOPE_MODEL_MEMORY_RESIDENT_H

#include "base/arena.h"

/* A stretch of time: the resident memory of a process, and what was live of its heap. */
struct resident_point {
	int64_t time_ms; /* of its last record, since the capture began */
	int64_t low_bytes, high_bytes;
	int64_t heap_bytes; /* most; -1: not known */
};

/*
 * Resident memory over time, in up to RESIDENT_POINTS points: those of a long capture are made of
 * several records. A zeroed struct is an empty series.
 */
enum { RESIDENT_POINTS = 4096 };

struct resident {
	struct resident_point *points;
	size_t count, capacity;
	uint64_t stride, pending; /* records to a point; those of the last one that are there */
	int64_t first_bytes, last_bytes, peak_bytes;
};

struct resident_record {
	int64_t time_ms;
	uint64_t rss_bytes;
	int64_t heap_bytes; /* -1: not known */
};

/* Adds a record, in the arena; false: it is from before the last one, or no size. */
bool tsi_resident_add(struct resident *resident, const struct resident_record *record,
		      struct arena *arena);

/*
 * Does it keep growing? Compares the lowest values in each eighth of the capture's second half:
 * what comes and goes does not count, and what came once is one step of seven.
 */
enum { RESIDENT_PARTS = 8 };

struct resident_growth {
	int64_t first_bytes;   /* lowest in the first part */
	int64_t bytes;         /* lowest in the last part, less that */
	int64_t duration_ns;   /* from the one part to the other */
	unsigned rising_steps; /* of the RESIDENT_PARTS - 1: those that rise */
};

/* False where a part has no record. */
bool tsi_resident_growth(const struct resident *resident, struct resident_growth *growth);

#endif
