/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_MEMORY_HOST_MEMORY_H
#define TSCOPE_MODEL_MEMORY_HOST_MEMORY_H

#include "base/intern.h"
#include "decode/plain/plain.h"
#include "decode/records/memray.h"
#include "model/memory/resident.h"

/*
 * Use of the host's memory: a memray capture reduced to sums, or memray's own statistics of one
 * (`memray stats --json`). While a capture is read, memory grows with what is live and with
 * different stacks, not with records.
 */

/* Bytes and how many allocations; in what memray says of a capture -1: not said. */
struct host_use {
	int64_t bytes, count;
};

/* Allocations of one stack, or one thread. */
struct host_account {
	struct host_use allocated, temporary;
	struct host_use live; /* at the end: never freed */
	struct host_use at_peak;
	int64_t middle_bytes; /* live in the middle of the capture; see host_memory.middle_bytes */
	uint64_t peak_number; /* that at_peak is of: host_memory.c */
	bool has_middle;
};

/* Sizes of allocations: from … to …, both of them included. */
struct host_size {
	int64_t min_bytes, max_bytes, count;
};

/* A place of memray's own list; a figure that the list has not is -1. */
struct host_place {
	uint32_t site; /* in host_memory.texts */
	struct host_use allocated;
};

enum host_source {
	HOST_CAPTURE,   /* of all allocations */
	HOST_AGGREGATE, /* a capture of sums: at the peak and at the end */
	HOST_STATS,     /* what `memray stats --json` wrote: no peak of a place, no leaks */
};

enum { HOST_SIZES = 64 }; /* 0, 1, 2 to 3, 4 to 7 … */

struct host_memory {
	enum host_source source;
	struct arena arena;            /* of places and resident */
	struct memray_capture capture; /* zeroed: HOST_STATS */
	struct host_account *stacks;   /* by node of the capture */
	size_t stack_count, stack_capacity;
	struct host_account *threads; /* by thread of the capture */
	size_t thread_count, thread_capacity;
	struct host_use allocated, temporary, at_peak, live; /* as in an account, over all */
	int64_t middle_bytes; /* live in the middle of the capture; -1: it has none */
	struct host_use allocators[MEMRAY_ALLOCATOR_COUNT];
	struct host_size sizes[HOST_SIZES];
	size_t size_count;
	struct resident resident;
	uint64_t unmatched_count; /* frees of what was not allocated within the capture */
	uint64_t replaced_count; /* allocations over others that were live: their free was missed */
	uint64_t dropped_count;  /* records whose figures are impossible */
	/* HOST_STATS: what else it says. */
	struct intern texts;
	struct host_place *places;
	size_t place_count, place_capacity;
	uint32_t command_line;                                   /* in texts */
	int64_t pid;                                             /* -1: not said */
	int64_t capture_ms;                                      /* likewise */
	signed char has_native_stacks, traces_python_allocators; /* 1, 0, or -1: not said */
};

/*
 * Reads a capture. As tsi_memray_read(), but that of a damaged one from which something was read
 * it is TSCOPE_OK, and *damage says what happened; else damage->status is TSCOPE_OK.
 * TSCOPE_E_EMPTY: nothing was allocated. On failure it may be deinited.
 */
TSI_MUST_CHECK
enum tscope_status tsi_host_memory_read(struct host_memory *host, struct input *in,
					struct tscope_error *damage, struct tscope_error *err);

/* A dict with what `memray stats --json` says of totals and of metadata? */
bool tsi_is_memray_stats(const struct plain *plain);

/* Copies all it needs of the plain data. On failure it may be deinited. */
TSI_MUST_CHECK
enum tscope_status tsi_host_memory_init(struct host_memory *host, const struct plain *plain,
					struct tscope_error *err);

void tsi_host_memory_deinit(struct host_memory *host); /* fine on a zeroed struct */

/*
 * Reduces a capture record by record; tsi_host_memory_read() and tests give it a sink.
 * tsi_host_reduction_finish() puts the sums into the host memory, once all records were taken.
 */
struct host_reduction;
TSI_MUST_CHECK
enum tscope_status tsi_host_reduction_new(struct host_reduction **ret, struct host_memory *host,
					  struct tscope_error *err);
struct memray_sink *tsi_host_reduction_sink(struct host_reduction *reduction);
void tsi_host_reduction_finish(struct host_reduction *reduction);
void tsi_host_reduction_free(struct host_reduction *reduction); /* NULL is fine */

#endif
