/* SPDX-License-Identifier: MIT */
/*
 * Stacks of what was live, for flame graphs. Many blocks share a stack, and stacks that are
 * different objects may be the same as text: each object is written out once, and equal texts
 * are one.
 */
#include "analyze/snapshot_stacks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/snapshot_replay.h"
#include "base/array.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/sum.h"
#include "model/stack_site.h"

/* Of all stacks together: a small file can refer to long texts very often. */
#define MAX_STACK_BYTES (UINT64_C(2) << 30)

struct stack_sum {
	struct str text;
	int64_t bytes;
};

struct stack_sums {
	const struct snapshot *snapshot;
	struct intern texts;
	uint32_t *ids;            /* by object: id of the text + 1, or 0 */
	struct stack_sum *stacks; /* by id */
	size_t count, capacity;
	uint64_t text_bytes;
};

/* The id of a stack's text. */
static enum tscope_status collapse(struct stack_sums *sums, struct plain_value stack, uint32_t *id,
				   struct tscope_error *err)
{
	char *text;
	enum tscope_status status = tsi_stack_collapse(&text, sums->snapshot, stack, err);

	if (status != TSCOPE_OK)
		return status;
	struct str collapsed = tsi_str_of(text);
	sums->text_bytes += collapsed.length;
	if (sums->text_bytes > MAX_STACK_BYTES)
		status = tsi_fail(err, TSCOPE_E_LIMIT,
				  "more than %" PRIu64 " bytes of stacks (limit: text of stacks)",
				  MAX_STACK_BYTES);
	else
		status = tsi_intern_add(&sums->texts, collapsed, id, err);
	free(text);
	return status;
}

static enum tscope_status find_stack(struct stack_sums *sums, struct plain_value stack,
				     uint32_t *id, struct tscope_error *err)
{
	size_t index = tsi_plain_object_index(stack);
	enum tscope_status status;

	if (index != SIZE_MAX && sums->ids[index]) {
		*id = sums->ids[index] - 1;
		return TSCOPE_OK;
	}
	if (tsi_stack_depth(sums->snapshot, stack) == 0)
		status = tsi_intern_add(&sums->texts, TSI_STR("(no stack)"), id, err);
	else
		status = collapse(sums, stack, id, err);
	if (status == TSCOPE_OK && index != SIZE_MAX)
		sums->ids[index] = *id + 1;
	return status;
}

static enum tscope_status add_life(struct stack_sums *sums, const struct snapshot_life *life,
				   struct tscope_error *err)
{
	uint32_t id;
	enum tscope_status status = find_stack(sums, life->stack, &id, err);

	if (status == TSCOPE_OK)
		status = tsi_array_reserve(&sums->stacks, &sums->capacity, (size_t)id + 1,
					   sizeof(*sums->stacks), err);
	if (status != TSCOPE_OK)
		return status;
	for (; sums->count <= id; sums->count++)
		sums->stacks[sums->count] = (struct stack_sum){ 0 };
	tsi_sum(&sums->stacks[id].bytes, life->requested_bytes);
	return TSCOPE_OK;
}

static enum tscope_status add_lives(struct stack_sums *sums, const struct snapshot_replay *replay,
				    int64_t index, struct tscope_error *err)
{
	enum tscope_status status = tsi_intern_init(&sums->texts, UINT32_MAX - 1, err);

	if (status == TSCOPE_OK)
		status = tsi_array_new(&sums->ids, tsi_plain_object_count(sums->snapshot->plain),
				       sizeof(*sums->ids), err);
	for (size_t i = 0; i < replay->life_count && status == TSCOPE_OK; i++)
		if (tsi_is_live(&replay->lives[i], index))
			status = add_life(sums, &replay->lives[i], err);
	return status;
}

static int compare_stacks(const void *left, const void *right)
{
	const struct stack_sum *a = left, *b = right;
	return strcmp(a->text.data, b->text.data);
}

static enum tscope_status write_sums(FILE *out, struct stack_sums *sums, struct tscope_error *err)
{
	for (uint32_t id = 0; id < sums->count; id++)
		sums->stacks[id].text = tsi_intern_text(&sums->texts, id);
	if (sums->count)
		qsort(sums->stacks, sums->count, sizeof(*sums->stacks), compare_stacks);
	for (size_t i = 0; i < sums->count; i++)
		if (sums->stacks[i].bytes)
			fprintf(out, "%s %" PRId64 "\n", sums->stacks[i].text.data,
				sums->stacks[i].bytes);
	if (fflush(out) != 0 || ferror(out))
		return tsi_fail(err, TSCOPE_E_WRITE, "cannot be written");
	return TSCOPE_OK;
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
	struct stack_sums sums = { .snapshot = snapshot };
	struct snapshot_replay replay = { 0 };
	enum tscope_status status = replay_highest(&replay, snapshot, err);

	if (status == TSCOPE_OK)
		status = add_lives(&sums, &replay,
				   moment == TSCOPE_MEMORY_AT_PEAK
					   ? replay.curves[CURVE_ACTIVE].peak_index
					   : AFTER_WINDOW - 1,
				   err);
	if (status == TSCOPE_OK)
		status = write_sums(out, &sums, err);
	tsi_snapshot_replay_deinit(&replay);
	free(sums.stacks);
	free(sums.ids);
	tsi_intern_deinit(&sums.texts);
	return status;
}
