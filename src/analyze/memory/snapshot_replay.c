/* SPDX-License-Identifier: MIT */
/*
 * One pass over the entries of a device. A life goes from the alloc of an address to the next
 * end at that address; an end without a beginning, and a block that is there at the end without
 * one, were there before the first entry. A curve is the sum of what entries changed, moved as
 * a whole so that it ends where segments and blocks say: what it would be if played backwards.
 */
#include "analyze/memory/snapshot_replay.h"

#include "base/key_map.h"
#include "base/sum.h"

/* A curve from 0 on. */
struct running_sum {
	tsi_wide now, peak, lowest;
	int64_t peak_index, peak_time_us;
};

struct walk {
	const struct snapshot *snapshot;
	const struct snapshot_device *device;
	struct snapshot_replay *replay;
	struct arena *arena; /* of its lives */
	size_t life_capacity;
	struct key_map last_lives; /* address, scrambled → the last life there */
	uint64_t scramble;
	struct running_sum sums[CURVE_COUNT];
	size_t stretch_count; /* at least 1 */
	tsi_wide tick_peaks[SNAPSHOT_MAX_TICKS][CURVE_COUNT];
	enum snapshot_action previous_action;
	bool has_given_back; /* segments, and taken none since */
	struct plain_value previous_stack;
};

/* ---- lives -------------------------------------------------------------------------------- */

/* An odd factor unknown to the file's writer, so that addresses cannot be made to collide. */
static uint64_t scramble_of(const struct snapshot *snapshot)
{
	return ((uintptr_t)snapshot->plain * UINT64_C(0xd6e8feb86659fd93)) | 1;
}

/* The open life at an address, or NULL. */
static struct snapshot_life *find_open(const struct walk *walk, uint64_t address)
{
	uint32_t at = tsi_key_map_find(&walk->last_lives, address * walk->scramble);

	if (at == UINT32_MAX || walk->replay->lives[at].died != AFTER_WINDOW)
		return NULL;
	return &walk->replay->lives[at];
}

/* Adds a life that is open. Valid until the next one; NULL without memory. */
static struct snapshot_life *add_life(struct walk *walk, const struct snapshot_life *life)
{
	struct snapshot_replay *replay = walk->replay;
	size_t count = replay->life_count;

	if (tsi_unlikely(count == walk->life_capacity)) {
		struct snapshot_life *moved =
			tsi_arena_reserve(walk->arena, replay->lives, &walk->life_capacity,
					  count + 1, sizeof(*moved));
		if (!moved)
			return NULL;
		replay->lives = moved;
	}
	if (tsi_unlikely(count >= UINT32_MAX) ||
	    tsi_key_map_put(&walk->last_lives, life->address * walk->scramble, (uint32_t)count,
			    NULL) != TSCOPE_OK) {
		walk->arena->has_failed = true;
		return NULL;
	}
	replay->lives[count] = *life;
	return &replay->lives[replay->life_count++];
}

/* While a life is open and not asked to end, lived_us is the time at which it was born. */
static void ask(struct snapshot_life *life, int64_t index, int64_t time_us)
{
	if (life->asked != AFTER_WINDOW)
		return;
	life->asked = index;
	if (life->lived_us == NO_TIME_US || time_us == NO_TIME_US ||
	    tsi_ckd_sub(&life->lived_us, time_us, life->lived_us))
		life->lived_us = NO_TIME_US;
}

/* Memory that is free again was asked for, though an entry may not say so. */
static void end(struct snapshot_life *life, int64_t index, int64_t time_us)
{
	ask(life, index, time_us);
	life->died = index;
}

static struct snapshot_life life_of_entry(const struct snapshot_entry *entry)
{
	return (struct snapshot_life){
		.address = entry->address,
		.requested_bytes = entry->size_bytes,
		.block_bytes = UNKNOWN_BYTES,
		.born = BEFORE_WINDOW,
		.asked = AFTER_WINDOW,
		.died = AFTER_WINDOW,
		.lived_us = NO_TIME_US,
	};
}

static void follow_block(struct walk *walk, const struct snapshot_entry *entry, int64_t index)
{
	struct snapshot_life *life = find_open(walk, entry->address);
	struct snapshot_life born = life_of_entry(entry);
	bool is_alloc = entry->action == ACTION_ALLOC;

	if (is_alloc && life) {
		walk->replay->overlap_count++;
		end(life, index, entry->time_us);
	}
	if (is_alloc) {
		born.born = index;
		born.stack = entry->stack;
		born.lived_us = entry->time_us;
	}
	if (is_alloc || !life)
		life = add_life(walk, &born);
	if (!life)
		return;
	if (entry->action == ACTION_FREE_REQUESTED)
		ask(life, index, entry->time_us);
	else if (entry->action == ACTION_FREE_COMPLETED)
		end(life, index, entry->time_us);
}

/* A block that is in use at the end. */
static void settle_block(struct walk *walk, const struct snapshot_block *block)
{
	struct snapshot_life *life = find_open(walk, block->address);

	if (!life) {
		struct snapshot_life before = life_of_entry(&(struct snapshot_entry){
			.address = block->address,
			.size_bytes = block->requested_bytes == UNKNOWN_BYTES
					      ? block->size_bytes
					      : block->requested_bytes,
		});
		life = add_life(walk, &before);
		if (!life)
			return;
	}
	if (tsi_stack_depth(walk->snapshot, life->stack) == 0)
		life->stack = block->stack;
	life->block_bytes = block->size_bytes;
	life->is_pending = block->state == BLOCK_PENDING;
}

static void settle_blocks(struct walk *walk)
{
	const struct snapshot *snapshot = walk->snapshot;
	size_t end = walk->device->first_segment + walk->device->segment_count;

	for (size_t i = walk->device->first_segment; i < end; i++) {
		const struct snapshot_segment *segment = &snapshot->segments[i];
		for (size_t k = 0; k < segment->block_count; k++) {
			const struct snapshot_block *block =
				&snapshot->blocks[segment->first_block + k];
			if (block->state != BLOCK_INACTIVE)
				settle_block(walk, block);
		}
	}
	for (size_t i = 0; i < walk->replay->life_count; i++)
		if (walk->replay->lives[i].asked == AFTER_WINDOW)
			walk->replay->lives[i].lived_us = NO_TIME_US;
}

/* ---- curves ------------------------------------------------------------------------------- */

int tsi_curve_sign(enum snapshot_action action, enum snapshot_curve_kind curve)
{
	static const signed char signs[ACTION_COUNT][CURVE_COUNT] = {
		[ACTION_ALLOC] = { [CURVE_ACTIVE] = 1, [CURVE_ALLOCATED] = 1 },
		[ACTION_FREE_REQUESTED] = { [CURVE_ALLOCATED] = -1 },
		[ACTION_FREE_COMPLETED] = { [CURVE_ACTIVE] = -1 },
		[ACTION_SEGMENT_ALLOC] = { [CURVE_RESERVED] = 1 },
		[ACTION_SEGMENT_MAP] = { [CURVE_RESERVED] = 1 },
		[ACTION_SEGMENT_FREE] = { [CURVE_RESERVED] = -1 },
		[ACTION_SEGMENT_UNMAP] = { [CURVE_RESERVED] = -1 },
	};
	return signs[action][curve];
}

static void add_to_sums(struct walk *walk, const struct snapshot_entry *entry, int64_t index)
{
	for (enum snapshot_curve_kind i = 0; i < CURVE_COUNT; i++) {
		struct running_sum *sum = &walk->sums[i];
		sum->now += (tsi_wide)tsi_curve_sign(entry->action, i) * entry->size_bytes;
		if (sum->now > sum->peak) {
			sum->peak = sum->now;
			sum->peak_index = index;
			sum->peak_time_us = entry->time_us;
		}
		if (sum->now < sum->lowest)
			sum->lowest = sum->now;
	}
}

/*
 * Stretch k of T holds the entries from ⌊k·n÷T⌋ up to ⌊(k+1)·n÷T⌋, without the latter: all have
 * ⌊n÷T⌋ entries or one more, and none is empty as T ≤ n.
 */
static size_t count_stretches(size_t entry_count)
{
	if (entry_count == 0)
		return 1;
	return entry_count < SNAPSHOT_MAX_TICKS ? entry_count : SNAPSHOT_MAX_TICKS;
}

static void note_tick(struct walk *walk, size_t index, int64_t time_us)
{
	struct snapshot_replay *replay = walk->replay;
	size_t last = replay->tick_count;
	bool is_new = index >= last * walk->device->entry_count / walk->stretch_count;

	if (is_new)
		replay->tick_count++;
	else
		last--;
	replay->ticks[last].index = (int64_t)index;
	replay->ticks[last].time_us = time_us;
	for (size_t i = 0; i < CURVE_COUNT; i++)
		if (is_new || walk->sums[i].now > walk->tick_peaks[last][i])
			walk->tick_peaks[last][i] = walk->sums[i].now;
}

/* Shifts the curve so that it ends at end_bytes. */
static void finish_curve(struct walk *walk, enum snapshot_curve_kind kind, tsi_wide end_bytes)
{
	struct snapshot_replay *replay = walk->replay;
	const struct running_sum *sum = &walk->sums[kind];
	tsi_wide start = end_bytes - sum->now;

	replay->curves[kind] = (struct snapshot_curve){
		.start_bytes = tsi_narrow(start),
		.end_bytes = tsi_narrow(end_bytes),
		.peak_bytes = tsi_narrow(start + sum->peak),
		.lowest_bytes = tsi_narrow(start + sum->lowest),
		.peak_index = sum->peak_index,
		.peak_time_us = sum->peak_time_us,
	};
	for (size_t i = 0; i < replay->tick_count; i++)
		replay->ticks[i].bytes[kind] = tsi_narrow(start + walk->tick_peaks[i][kind]);
}

static void finish_curves(struct walk *walk)
{
	const struct snapshot_replay *replay = walk->replay;
	tsi_wide active = 0, allocated = 0, reserved = 0;

	for (size_t i = 0; i < replay->life_count; i++) {
		const struct snapshot_life *life = &replay->lives[i];
		if (life->died != AFTER_WINDOW)
			continue;
		active += life->requested_bytes;
		allocated += life->is_pending ? 0 : life->requested_bytes;
	}
	for (size_t i = 0; i < walk->device->segment_count; i++)
		reserved += walk->snapshot->segments[walk->device->first_segment + i].size_bytes;
	finish_curve(walk, CURVE_ACTIVE, active);
	finish_curve(walk, CURVE_ALLOCATED, allocated);
	finish_curve(walk, CURVE_RESERVED, reserved);
}

/* ---- entries ------------------------------------------------------------------------------ */

static bool is_block_action(enum snapshot_action action)
{
	return action == ACTION_ALLOC || action == ACTION_FREE_REQUESTED ||
	       action == ACTION_FREE_COMPLETED;
}

/* Segments given back and others taken by the same call: from the same stack, or both from none. */
static bool is_retry(const struct walk *walk, const struct snapshot_entry *entry)
{
	if (tsi_curve_sign(entry->action, CURVE_RESERVED) <= 0 ||
	    tsi_curve_sign(walk->previous_action, CURVE_RESERVED) >= 0)
		return false;
	return entry->stack.word == walk->previous_stack.word ||
	       (tsi_stack_depth(walk->snapshot, entry->stack) == 0 &&
		tsi_stack_depth(walk->snapshot, walk->previous_stack) == 0);
}

static void count_flush(struct walk *walk, const struct snapshot_entry *entry)
{
	int sign = tsi_curve_sign(entry->action, CURVE_RESERVED);

	walk->replay->flush_count += sign > 0 && walk->has_given_back;
	if (sign != 0)
		walk->has_given_back = sign < 0;
}

static void count_entry(struct walk *walk, const struct snapshot_entry *entry)
{
	struct snapshot_replay *replay = walk->replay;

	replay->action_count[entry->action]++;
	tsi_sum_signed(&replay->action_bytes[entry->action], entry->size_bytes);
	replay->retry_count += is_retry(walk, entry);
	count_flush(walk, entry);
	if (!replay->has_stacks)
		replay->has_stacks = tsi_stack_depth(walk->snapshot, entry->stack) > 0;
	if (entry->time_us == NO_TIME_US)
		replay->has_times = false;
	if (replay->first_time_us == NO_TIME_US)
		replay->first_time_us = entry->time_us;
	replay->last_time_us = entry->time_us;
	walk->previous_action = entry->action;
	walk->previous_stack = entry->stack;
}

static void take_entry(struct walk *walk, const struct snapshot_entry *entry, size_t index)
{
	if (tsi_plain_kind(entry->action_name) != PLAIN_ABSENT)
		count_entry(walk, entry);
	if (is_block_action(entry->action))
		follow_block(walk, entry, (int64_t)index);
	add_to_sums(walk, entry, (int64_t)index);
	note_tick(walk, index, entry->time_us);
}

const struct snapshot_entry *tsi_next_entry(struct entry_cursor *cursor)
{
	size_t at = cursor->given % TSI_COUNT_OF(cursor->batch);

	if (cursor->given == cursor->read) {
		cursor->read += tsi_snapshot_entries(cursor->snapshot, cursor->device, cursor->read,
						     cursor->batch, TSI_COUNT_OF(cursor->batch));
		if (cursor->given == cursor->read)
			return NULL;
	}
	cursor->index = cursor->given++;
	return &cursor->batch[at];
}

static void take_entries(struct walk *walk)
{
	struct entry_cursor cursor = {
		.snapshot = walk->snapshot,
		.device = (uint32_t)(walk->device - walk->snapshot->devices),
	};
	const struct snapshot_entry *entry;

	while (!walk->arena->has_failed && (entry = tsi_next_entry(&cursor)))
		take_entry(walk, entry, cursor.index);
}

void tsi_snapshot_replay_init(struct snapshot_replay *replay, const struct snapshot *snapshot,
			      uint32_t device, struct arena *arena)
{
	struct walk walk = {
		.snapshot = snapshot,
		.device = &snapshot->devices[device],
		.replay = replay,
		.arena = arena,
		.scramble = scramble_of(snapshot),
		.stretch_count = count_stretches(snapshot->devices[device].entry_count),
		.previous_action = ACTION_OTHER,
	};

	*replay = (struct snapshot_replay){
		.has_times = walk.device->entry_count > 0,
		.first_time_us = NO_TIME_US,
		.last_time_us = NO_TIME_US,
	};
	for (size_t i = 0; i < CURVE_COUNT; i++)
		walk.sums[i] = (struct running_sum){ .peak_index = BEFORE_WINDOW,
						     .peak_time_us = NO_TIME_US };
	take_entries(&walk);
	settle_blocks(&walk);
	finish_curves(&walk);
	tsi_key_map_deinit(&walk.last_lives);
}
