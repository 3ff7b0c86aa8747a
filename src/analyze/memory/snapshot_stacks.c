/* SPDX-License-Identifier: MIT */
/*
 * Stacks of what was live, for flame graphs. Many blocks share a stack, and stacks that are
 * different objects may be the same as text: each object is written out once, and equal texts
 * are one.
 */
#include "analyze/memory/snapshot_stacks.h"

#include <stdlib.h>

#include "analyze/memory/snapshot_replay.h"
#include "analyze/memory/stack_sums.h"
#include "base/array.h"
#include "model/memory/stack_site.h"

struct live_stacks {
	const struct snapshot *snapshot;
	struct stack_sums sums;
	uint32_t *ids; /* by object: id of its stack in sums + 1, or 0 */
};

/* The id of a stack's text. */
static enum tscope_status collapse(struct live_stacks *live, struct plain_value stack, uint32_t *id,
				   struct tscope_error *err)
{
	char *text;
	enum tscope_status status = tsi_stack_collapse(&text, live->snapshot, stack, err);

	if (status != TSCOPE_OK)
		return status;
	status = tsi_stack_sums_find(&live->sums, tsi_str_of(text), id, err);
	free(text);
	return status;
}

static enum tscope_status find_stack(struct live_stacks *live, struct plain_value stack,
				     uint32_t *id, struct tscope_error *err)
{
	size_t index = tsi_plain_object_index(stack);
	enum tscope_status status;

	if (index != SIZE_MAX && live->ids[index]) {
		*id = live->ids[index] - 1;
		return TSCOPE_OK;
	}
	if (tsi_stack_depth(live->snapshot, stack) == 0)
		status = tsi_stack_sums_find(&live->sums, TSI_STR(""), id, err);
	else
		status = collapse(live, stack, id, err);
	if (status == TSCOPE_OK && index != SIZE_MAX)
		live->ids[index] = *id + 1;
	return status;
}

static enum tscope_status add_lives(struct live_stacks *live, const struct snapshot_replay *replay,
				    int64_t index, struct tscope_error *err)
{
	enum tscope_status status = tsi_array_new(
		&live->ids, tsi_plain_object_count(live->snapshot->plain), sizeof(*live->ids), err);

	for (size_t i = 0; i < replay->life_count && status == TSCOPE_OK; i++) {
		const struct snapshot_life *life = &replay->lives[i];
		uint32_t id;

		if (!tsi_is_live(life, index))
			continue;
		status = find_stack(live, life->stack, &id, err);
		if (status == TSCOPE_OK)
			status = tsi_stack_sums_add(&live->sums, id, life->requested_bytes, err);
	}
	return status;
}

/* Replays the device with the highest peak into *replay, which is the caller's to deinit. */
static enum tscope_status replay_highest(struct snapshot_replay *replay,
					 const struct snapshot *snapshot, struct tscope_error *err)
{
	int64_t highest = -1;

	for (uint32_t i = 0; i < snapshot->device_count; i++) {
		struct snapshot_replay next;
		enum tscope_status status = tsi_snapshot_replay_init(&next, snapshot, i, err);
		if (status == TSCOPE_OK && next.curves[CURVE_ACTIVE].peak_bytes > highest) {
			struct snapshot_replay lower = *replay;
			highest = next.curves[CURVE_ACTIVE].peak_bytes;
			*replay = next;
			next = lower;
		}
		tsi_snapshot_replay_deinit(&next);
		if (status != TSCOPE_OK)
			return status;
	}
	return TSCOPE_OK;
}

enum tscope_status tsi_snapshot_write_stacks(FILE *out, const struct snapshot *snapshot,
					     enum tscope_memory_moment moment,
					     struct tscope_error *err)
{
	struct live_stacks live = { .snapshot = snapshot };
	struct snapshot_replay replay = { 0 };
	enum tscope_status status = replay_highest(&replay, snapshot, err);

	if (status == TSCOPE_OK)
		status = tsi_stack_sums_init(&live.sums, err);
	if (status == TSCOPE_OK)
		status = add_lives(&live, &replay,
				   moment == TSCOPE_MEMORY_AT_PEAK
					   ? replay.curves[CURVE_ACTIVE].peak_index
					   : AFTER_WINDOW - 1,
				   err);
	if (status == TSCOPE_OK)
		status = tsi_stack_sums_write(out, &live.sums, err);
	tsi_snapshot_replay_deinit(&replay);
	tsi_stack_sums_deinit(&live.sums);
	free(live.ids);
	return status;
}
