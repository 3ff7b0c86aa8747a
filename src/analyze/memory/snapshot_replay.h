/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MEMORY_SNAPSHOT_REPLAY_H
#define TSCOPE_ANALYZE_MEMORY_SNAPSHOT_REPLAY_H

#include "base/arena.h"
#include "model/memory/snapshot.h"

/*
 * The entries of a device played back from the state at their end: the ring buffer may have
 * lost the beginning, or recording may have begun late, so only the end is certain. From it follow
 * what was live at any time and the curves of memory, exactly, whatever is missing in front.
 * Indices count the entries of the device from 0; -1 is the moment before the first.
 */
#define BEFORE_WINDOW ((int64_t)-1)
#define AFTER_WINDOW INT64_MAX

/*
 * The entries of a device, one after the other.
 *
 *	struct entry_cursor cursor = { .snapshot = snapshot, .device = device };
 *	while ((entry = tsi_next_entry(&cursor)))
 *		… cursor.index …
 */
struct entry_cursor {
	const struct snapshot *snapshot;
	uint32_t device;
	size_t index;       /* of the entry at hand */
	size_t read, given; /* how many were read from the snapshot, how many given on */
	struct snapshot_entry batch[128];
};

/* Valid until the next one; NULL: that was the last. */
const struct snapshot_entry *tsi_next_entry(struct entry_cursor *cursor);

/* One allocation. Live after entry i: born <= i < died. */
struct snapshot_life {
	uint64_t address;
	int64_t requested_bytes; /* of an unknown request: the size of its block */
	int64_t block_bytes;     /* where it is there at the end, else UNKNOWN_BYTES */
	int64_t born;            /* entry, or BEFORE_WINDOW */
	int64_t asked;           /* free_requested (at latest died), or AFTER_WINDOW */
	int64_t died;            /* free_completed, or AFTER_WINDOW */
	int64_t lived_us;        /* from born to asked, or NO_TIME_US */
	struct plain_value stack;
	bool is_pending; /* at the end */
};

enum snapshot_curve_kind {
	CURVE_ACTIVE,    /* requested bytes of blocks until their memory is free again */
	CURVE_ALLOCATED, /* the same until free was asked for */
	CURVE_RESERVED,  /* bytes of segments */
	CURVE_COUNT,
};

struct snapshot_curve {
	int64_t start_bytes, end_bytes, peak_bytes;
	int64_t lowest_bytes; /* below 0: entries are missing within the window */
	int64_t peak_index;   /* the first with the peak; -1: before the first entry */
	int64_t peak_time_us; /* or NO_TIME_US */
};

/* Whether an action adds (1), takes away (-1) or leaves a curve as it is (0). */
int tsi_curve_sign(enum snapshot_action action, enum snapshot_curve_kind curve);

/* The highest values after the entries of a stretch; stretches are equally long, to one entry. */
struct snapshot_tick {
	int64_t index;   /* last entry of the stretch */
	int64_t time_us; /* of that, or NO_TIME_US */
	int64_t bytes[CURVE_COUNT];
};
enum { SNAPSHOT_MAX_TICKS = 240 };

struct snapshot_replay {
	struct snapshot_life *lives; /* in the order in which they became known */
	size_t life_count;
	struct snapshot_curve curves[CURVE_COUNT];
	struct snapshot_tick ticks[SNAPSHOT_MAX_TICKS];
	size_t tick_count;
	/* Every entry has one, and there is an entry; else the next two mean nothing. */
	bool has_times;
	int64_t first_time_us, last_time_us;
	uint64_t action_count[ACTION_COUNT];
	int64_t action_bytes[ACTION_COUNT];
	/*
	 * Segments that were taken right after others had been given back by the same call: an
	 * allocation failed, flushed the cache and was tried again. Without stacks an
	 * empty_cache() just before looks the same: then "at most".
	 */
	uint64_t retry_count;
	uint64_t flush_count; /* times that segments were given back and then others taken */
	bool has_stacks;      /* an entry has one */
	/* Allocations where a block was live: entries are missing. It died then, at latest. */
	uint64_t overlap_count;
};

/* Its lives are in the arena, which remembers where memory ran out: then figures are missing. */
void tsi_snapshot_replay_init(struct snapshot_replay *replay, const struct snapshot *snapshot,
			      uint32_t device, struct arena *arena);

static inline bool tsi_is_live(const struct snapshot_life *life, int64_t index)
{
	return life->born <= index && life->died > index;
}

/* Allocated within the entries and not freed in them. */
static inline bool tsi_is_never_freed(const struct snapshot_life *life)
{
	return life->born != BEFORE_WINDOW && life->asked == AFTER_WINDOW;
}

/*
 * A request that failed, and what was free then by the layout of segments at that moment: that of
 * the end with all that came later undone. The size of a block that is gone at the end is taken
 * for the least it can have been. Where there are very many, the layout of the first is not
 * looked at: what hangs on it is UNKNOWN_BYTES.
 */
struct snapshot_oom {
	int64_t index;
	int64_t time_us; /* or NO_TIME_US */
	int64_t size_bytes, device_free_bytes;
	int64_t reserved_bytes, live_bytes; /* after the entry */
	int64_t stream;
	struct snapshot_pool pool; /* that it was for */
	struct plain_value stack;

	/* By the layout. Gaps are what no live block covers. */
	int64_t largest_free_bytes; /* gap of the stream and kind (small, large), default pool */
	int64_t free_bytes;         /* all gaps of the default pool */
	int64_t gap_count;          /* how many these are */
	int64_t whole_bytes;        /* of these: segments without a block, not expandable */
	int64_t split_bytes; /* of these: within segments that max_split_size_mb can keep whole */
	int64_t unfragmented_free_bytes; /* gaps and what the device had free */
	/* Free whole pages with expandable segments: wherever gaps begin, and at most. */
	int64_t pages_low_bytes, pages_high_bytes;
	/* No segment was released after it, and every block live then is there at the end. */
	bool is_exact;
};

/* The OOM entries of a device, *count of them, in the arena. */
struct snapshot_oom *tsi_snapshot_ooms(const struct snapshot *snapshot, uint32_t device,
				       const struct snapshot_replay *replay, struct arena *arena,
				       size_t *count);

#endif
