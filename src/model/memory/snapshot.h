/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_MEMORY_SNAPSHOT_H
#define TSCOPE_MODEL_MEMORY_SNAPSHOT_H

#include "base/arena.h"
#include "decode/plain/plain.h"

#include <stdint.h>

/*
 * A snapshot of CUDA's caching allocator: segments (what the driver gave) with their
 * blocks as they were at the end, and for each device the entries that led there. Segments and
 * blocks are columns; entries stay in the plain data, which is the better part of a file, and
 * are looked at in passing. All versions from 1.12 on look the same here.
 *
 * A stack is the list of its frames, innermost first, shared by all who have it: two of the
 * same word are one object. Absent or empty: none was taken.
 */
enum { UNKNOWN_BYTES = -1 };
enum { NO_STREAM = -1 };
#define NO_TIME_US INT64_MIN

enum block_state {
	BLOCK_ALLOCATED,
	BLOCK_PENDING, /* freed, but other streams may still use it (active_pending_free) */
	BLOCK_INACTIVE,
	BLOCK_STATE_COUNT,
};

struct snapshot_block {
	uint64_t address;
	int64_t size_bytes;      /* rounded */
	int64_t requested_bytes; /* or UNKNOWN_BYTES; always so for an inactive one */
	struct plain_value stack;
	enum block_state state;
};

/* (0, 0) is the default pool, all else a private one (a CUDA graph's, a MemPool's). */
struct snapshot_pool {
	int64_t high, low;
	bool is_known; /* false: the file does not say; then it counts as the default */
};

struct snapshot_segment {
	uint64_t address;
	int64_t size_bytes;
	int64_t allocated_bytes, active_bytes; /* as the segment says, or UNKNOWN_BYTES */
	int64_t stream;
	struct snapshot_pool pool;
	struct plain_value stack;
	uint32_t device; /* index */
	size_t first_block, block_count;
	bool is_small, is_expandable;
};

enum snapshot_action {
	ACTION_ALLOC,
	ACTION_FREE_REQUESTED,
	ACTION_FREE_COMPLETED,
	ACTION_SEGMENT_ALLOC,
	ACTION_SEGMENT_FREE,
	ACTION_SEGMENT_MAP,
	ACTION_SEGMENT_UNMAP,
	ACTION_OOM,
	ACTION_SNAPSHOT,
	ACTION_OTHER, /* "user_defined", or what is not known */
	ACTION_COUNT,
};

struct snapshot_entry {
	enum snapshot_action action;
	struct plain_value action_name; /* the text */
	uint64_t address;               /* of an OOM: bytes that the device had free */
	int64_t size_bytes;             /* as requested; of segments: as they are */
	int64_t stream;
	int64_t time_us; /* Unix time, or NO_TIME_US */
	struct snapshot_pool pool;
	struct plain_value stack;
	struct plain_value user_metadata; /* a text, or absent */
};

/* In the order of ordinals; those that have neither segment nor entry are left out. */
struct snapshot_device {
	int32_t ordinal;
	size_t first_segment, segment_count; /* segments are in the order of devices */
	struct plain_value entries;          /* list */
	size_t entry_count;
};

enum entry_key {
	ENTRY_ACTION,
	ENTRY_ADDRESS,
	ENTRY_DEVICE_FREE,
	ENTRY_SIZE,
	ENTRY_STREAM,
	ENTRY_TIME,
	ENTRY_FRAMES,
	ENTRY_POOL,
	ENTRY_METADATA,
	ENTRY_KEY_COUNT,
};

enum frame_key { FRAME_FILENAME, FRAME_LINE, FRAME_NAME, FRAME_KEY_COUNT };

struct snapshot {
	const struct plain *plain; /* borrowed; holds stacks and entries */
	struct arena arena;        /* of the arrays */
	struct snapshot_device *devices;
	uint32_t device_count;
	struct snapshot_segment *segments; /* by device, then as in the file */
	size_t segment_count;
	struct snapshot_block *blocks; /* by segment, in the order of addresses */
	size_t block_count;
	struct plain_value settings; /* allocator_settings: a dict, or absent */
	size_t entry_count;          /* of all devices */
	uint64_t dropped_count;      /* segments, blocks and entries without what makes them one */
	size_t contradicted_count;   /* segments that say other sizes than their blocks have */
	/* Words of keys and texts, found once; absent where the file does not hold them. */
	struct plain_value entry_keys[ENTRY_KEY_COUNT], frame_keys[FRAME_KEY_COUNT];
	struct plain_value actions[ACTION_COUNT];
};

/* Why a snapshot with a contradicted_count must not be believed. */
extern const char tsi_snapshot_contradiction[];

/* Is it one? A dict with segments, or a list of segments (1.12, 1.13). */
bool tsi_is_snapshot(const struct plain *plain);

/*
 * Builds the model of plain data that is one, which must outlive it. On failure (TSCOPE_E_EMPTY:
 * neither segment nor entry; TSCOPE_E_DAMAGED; TSCOPE_E_NOMEM) it may be deinited.
 */
TSI_MUST_CHECK
enum tscope_status tsi_snapshot_init(struct snapshot *snapshot, const struct plain *plain,
				     struct tscope_error *err);
static inline void tsi_snapshot_deinit(struct snapshot *snapshot)
{
	tsi_arena_deinit(&snapshot->arena);
}

/*
 * Reads up to `room` entries of a device from index `first` on; how many they are. One
 * that is none (no dict, no action, no size, or no address where the action needs one) reads as
 * ACTION_OTHER of size 0 with an absent name: it was counted as dropped. Ask for many at a time.
 */
size_t tsi_snapshot_entries(const struct snapshot *snapshot, uint32_t device, size_t first,
			    struct snapshot_entry *out, size_t room);

/*
 * Did the allocator run with expandable segments? The settings or a segment show it.
 * *is_said: the file shows whether it did.
 */
bool tsi_snapshot_is_expandable(const struct snapshot *snapshot, bool *is_said);

/* A frame of a stack. Texts live as long as the plain data; line 0: not known. */
struct snapshot_frame {
	struct str filename, name;
	int64_t line;
};

struct snapshot_frame tsi_snapshot_frame(const struct snapshot *snapshot, struct plain_value frame);

size_t tsi_stack_depth(const struct snapshot *snapshot, struct plain_value stack);
struct snapshot_frame tsi_stack_frame(const struct snapshot *snapshot, struct plain_value stack,
				      size_t index);

#endif
