/* SPDX-License-Identifier: MIT */
/*
 * Stacks of what was live, for flame graphs. Many blocks share a stack, and stacks that are
 * different objects may be the same as text: each object is written out once, and equal texts
 * are one.
 */
#include "analyze/memory/snapshot_stacks.h"

#include "analyze/memory/snapshot_replay.h"
#include "analyze/memory/stack_sums.h"
#include "model/memory/stack_site.h"

struct live_stacks {
	const struct snapshot *snapshot;
	struct stack_sums sums;
	struct text_room room;
	uint32_t *rows; /* by object: row of its stack in sums + 1, or 0 */
};

static size_t find_stack(struct live_stacks *live, struct plain_value stack)
{
	size_t index = tsi_plain_object_index(stack);

	if (index != SIZE_MAX && live->rows[index])
		return live->rows[index] - 1;
	size_t row = tsi_stack_sums_find(&live->sums,
					 tsi_stack_collapse(&live->room, live->snapshot, stack));
	if (index != SIZE_MAX)
		live->rows[index] = (uint32_t)(row + 1);
	return row;
}

static void add_lives(struct live_stacks *live, const struct snapshot_replay *replay, int64_t index)
{
	struct stack_sums *sums = &live->sums;

	live->room.arena = &sums->arena;
	live->rows = tsi_arena_new(&sums->arena, tsi_plain_object_count(live->snapshot->plain),
				   sizeof(*live->rows));
	for (size_t i = 0; i < replay->life_count && tsi_stack_sums_has_room(sums); i++) {
		const struct snapshot_life *life = &replay->lives[i];

		if (tsi_is_live(life, index))
			tsi_stack_sums_add(sums, find_stack(live, life->stack),
					   life->requested_bytes);
	}
}

/* Replays the device with the highest peak; its lives are in the arena. */
static void replay_highest(struct snapshot_replay *highest, const struct snapshot *snapshot,
			   struct arena *arena)
{
	int64_t highest_bytes = -1;

	*highest = (struct snapshot_replay){ 0 };
	for (uint32_t i = 0; i < snapshot->device_count && !arena->has_failed; i++) {
		struct arena device_arena = { 0 }, dropped;
		struct snapshot_replay replay;

		tsi_snapshot_replay_init(&replay, snapshot, i, &device_arena);
		dropped = device_arena;
		if (device_arena.has_failed ||
		    replay.curves[CURVE_ACTIVE].peak_bytes > highest_bytes) {
			highest_bytes = replay.curves[CURVE_ACTIVE].peak_bytes;
			*highest = replay;
			dropped = *arena;
			*arena = device_arena;
		}
		tsi_arena_deinit(&dropped);
	}
}

enum tscope_status tsi_snapshot_write_stacks(FILE *out, const struct snapshot *snapshot,
					     enum tscope_memory_moment moment,
					     struct tscope_error *err)
{
	struct live_stacks live = { .snapshot = snapshot };
	struct snapshot_replay replay;
	struct arena arena = { 0 };

	tsi_stack_sums_init(&live.sums);
	replay_highest(&replay, snapshot, &arena);
	if (!arena.has_failed)
		add_lives(&live, &replay,
			  moment == TSCOPE_MEMORY_AT_PEAK ? replay.curves[CURVE_ACTIVE].peak_index
							  : AFTER_WINDOW - 1);
	enum tscope_status status = tsi_arena_status(&arena, err);
	if (status == TSCOPE_OK)
		status = tsi_stack_sums_write(out, &live.sums, err);
	tsi_arena_deinit(&arena);
	tsi_stack_sums_deinit(&live.sums);
	return status;
}
