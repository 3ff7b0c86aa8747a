/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_RECORDS_MEMRAY_H
#define TSCOPE_DECODE_RECORDS_MEMRAY_H

#include "base/arena.h"
#include "base/intern.h"
#include "input/input.h"

/*
 * Captures of memray (formats 7 to 13, streaming and aggregated), record by record. memray
 * itself reads only files of its own version; here all versions come out alike: allocators have
 * one numbering, stacks are nodes of one tree, lines of frames are worked out from line tables.
 * Memory grows with frames and stacks, not with records.
 */

#define MEMRAY_ALLOCATORS(X)                                                                       \
	X(MEMRAY_MALLOC, "malloc")                                                                 \
	X(MEMRAY_FREE, "free")                                                                     \
	X(MEMRAY_CALLOC, "calloc")                                                                 \
	X(MEMRAY_REALLOC, "realloc")                                                               \
	X(MEMRAY_POSIX_MEMALIGN, "posix_memalign")                                                 \
	X(MEMRAY_ALIGNED_ALLOC, "aligned_alloc")                                                   \
	X(MEMRAY_MEMALIGN, "memalign")                                                             \
	X(MEMRAY_VALLOC, "valloc")                                                                 \
	X(MEMRAY_PVALLOC, "pvalloc")                                                               \
	X(MEMRAY_MMAP, "mmap")                                                                     \
	X(MEMRAY_MUNMAP, "munmap")                                                                 \
	X(MEMRAY_PYMALLOC_MALLOC, "pymalloc_malloc")                                               \
	X(MEMRAY_PYMALLOC_CALLOC, "pymalloc_calloc")                                               \
	X(MEMRAY_PYMALLOC_REALLOC, "pymalloc_realloc")                                             \
	X(MEMRAY_PYMALLOC_FREE, "pymalloc_free")

enum memray_allocator { MEMRAY_ALLOCATORS(TSI_NAMED_ID) MEMRAY_ALLOCATOR_COUNT };

/* "malloc", "mmap" …: memray's names. Never NULL. */
const char *tsi_memray_allocator_name(enum memray_allocator allocator);

/* Does it free: FREE, MUNMAP, PYMALLOC_FREE? */
bool tsi_memray_frees(enum memray_allocator allocator);

struct memray_header {
	int32_t version;        /* 7 to 13 */
	int32_t python_version; /* PY_VERSION_HEX, 0: not said (before 12) */
	bool has_native_stacks, is_aggregated, traces_python_allocators, tracks_lifetimes;
	uint64_t record_count, frame_count; /* as stated; 0 where the process was killed */
	int64_t start_ms, end_ms;           /* since 1970; end 0 where it was killed */
	int32_t pid;
	uint64_t main_tid; /* 0: not said (before 9), as is the next */
	/* The outermost frames of main_tid's stacks that are above whoever began the capture. */
	uint64_t skipped_frames; /* memray shows none of them; here they are in the nodes */
	uint32_t command_line;   /* id in memray_capture.names */
};

/* Node 0 is the empty stack; a node stands after its parent. */
struct memray_node {
	uint32_t frame;  /* index in frames */
	uint32_t parent; /* node of the caller */
};

/* Frame 0 is the one that the file refers to and does not describe. */
struct memray_frame {
	uint32_t function, file; /* ids in names */
	int32_t line;            /* 0: not known */
};

struct memray_thread {
	uint64_t tid;
	uint32_t name; /* id in names; 0: none */
};

/* Tables that the records refer to. The frames of an aggregated file are known only at its end. */
struct memray_capture {
	struct memray_header header;
	struct intern names;
	struct arena memory;       /* of the next three */
	struct memray_node *nodes; /* [0] is the empty stack */
	size_t node_count, node_capacity;
	struct memray_frame *frames;
	size_t frame_count, frame_capacity;
	struct memray_thread *threads; /* by their first record */
	size_t thread_count, thread_capacity;
	bool is_complete;       /* it ends with its trailer; format 7 has none: with an end time */
	uint64_t record_count;  /* of all kinds that were read */
	uint64_t dropped_count; /* what they refer to and is not there, or nobody knows */
};

struct memray_allocation {
	uint64_t address, size; /* size 0 of FREE and PYMALLOC_FREE */
	uint32_t thread;        /* index in threads */
	uint32_t node;          /* stack that it was made in; of a free, that of the free */
	uint8_t allocator;      /* enum memray_allocator */
};

struct memray_aggregate {
	uint64_t count_at_peak, leaked_count, bytes_at_peak, leaked_bytes;
	uint32_t thread, node; /* as above */
	uint8_t allocator;
};

struct memray_resident {
	int64_t time_ms; /* since the capture began */
	uint64_t rss_bytes;
};

/*
 * Takes what is read, in the order of the file. Any failure, which fills err, ends the reading and
 * is passed on.
 */
struct memray_sink {
	enum tscope_status (*allocation)(struct memray_sink *sink,
					 const struct memray_allocation *allocation,
					 struct tscope_error *err);
	enum tscope_status (*aggregate)(struct memray_sink *sink,
					const struct memray_aggregate *aggregate,
					struct tscope_error *err);
	enum tscope_status (*resident)(struct memray_sink *sink,
				       const struct memray_resident *resident,
				       struct tscope_error *err);
};

/* Do these first bytes (7 suffice) begin a capture? */
bool tsi_is_memray(struct str head);

/*
 * Reads a capture. TSCOPE_E_UNSUPPORTED: of a version that is not read (6 and before, 14 and
 * later; the message says which memray wrote it and what to do); TSCOPE_E_FORMAT;
 * TSCOPE_E_LIMIT; TSCOPE_E_DAMAGED: a record is broken or cut, with its place: what came before
 * it has gone to the sink and counts. A file that ends between records, or in zeros, is no
 * failure: is_complete is false. On failure the capture may be deinited.
 */
TSI_MUST_CHECK
enum tscope_status tsi_memray_read(struct memray_capture *capture, struct input *in,
				   struct memray_sink *sink, struct tscope_error *err);
void tsi_memray_capture_deinit(struct memray_capture *capture); /* fine on a zeroed struct */

#endif
