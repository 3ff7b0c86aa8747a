/* SPDX-License-Identifier: MIT */
/*
 * Threads, frames and stacks of a memray capture, each kept once. A stack is a node of a tree:
 * its frame and the node of its caller; a call goes to a child, a return climbs, and so a thread
 * is no more than the node where it is.
 */
#include "decode/records/memray_reader.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

enum tscope_status tsi_memray_stacks_init(struct memray_reader *r)
{
	struct memray_capture *out = r->out;
	enum tscope_status status = tsi_intern_init(&out->names, MEMRAY_MAX_NAMES, r->err);

	r->threads.arena = r->places.arena = r->frames.arena = r->tree.arena = &r->memory;
	r->offsets.arena = r->frame_ids.numbers.arena = r->code_ids.numbers.arena = &r->memory;

	if (status == TSCOPE_OK)
		status = tsi_array_reserve(&out->frames, &out->frame_capacity, 1,
					   sizeof(*out->frames), r->err);
	if (status == TSCOPE_OK)
		status = tsi_array_reserve(&out->nodes, &out->node_capacity, 1, sizeof(*out->nodes),
					   r->err);
	if (status != TSCOPE_OK)
		return status;
	out->frames[out->frame_count++] = (struct memray_frame){ 0 };
	out->nodes[out->node_count++] = (struct memray_node){ 0 };
	r->now.thread = MEMRAY_NONE;
	return TSCOPE_OK;
}

void tsi_memray_stacks_deinit(struct memray_reader *r)
{
	tsi_arena_deinit(&r->memory);
	free(r->frame_ids.values);
	free(r->code_ids.values);
	tsi_memray_lines_deinit(&r->lines);
	free(r->thread_nodes);
	free(r->codes);
	free(r->code_frames);
	free(r->offset_frames);
}

enum tscope_status tsi_memray_fail_limit(struct memray_reader *r, size_t limit, const char *what)
{
	return tsi_memray_fail(r, TSCOPE_E_LIMIT, "more than %zu %s (limit: %s)", limit, what,
			       what);
}

enum tscope_status tsi_memray_take_name(struct memray_reader *r, uint32_t *name)
{
	size_t count = r->out->names.count;
	struct str text;
	enum tscope_status status = tsi_memray_take_text(r, &text);

	if (status == TSCOPE_OK)
		status = tsi_intern_add(&r->out->names, text, name, r->err);
	if (status == TSCOPE_OK && r->out->names.count > count)
		r->name_bytes += text.length;
	if (r->name_bytes > MEMRAY_MAX_NAME_BYTES)
		return tsi_memray_fail_limit(r, MEMRAY_MAX_NAME_BYTES, "name bytes");
	return status;
}

/* ---- ids --------------------------------------------------------------------------------- */

/*
 * Ids are often neighbours or multiples of something. Every bit of one reaches every bit of the
 * result, and different ones stay different.
 */
static uint64_t mix(uint64_t id)
{
	id = (id ^ (id >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	return id ^ (id >> 32);
}

static enum tscope_status number_of(struct pair_set *set, uint64_t id, uint32_t *number,
				    struct tscope_error *err)
{
	uint64_t mixed = mix(id);

	return tsi_pair_set_find(set, (uint32_t)(mixed >> 32), (uint32_t)mixed, number, err);
}

enum tscope_status tsi_memray_find_id(struct memray_reader *r, struct memray_ids *ids, uint64_t id,
				      uint32_t *number)
{
	enum tscope_status status = number_of(&ids->numbers, id, number, r->err);

	if (tsi_likely(status != TSCOPE_OK || *number < ids->value_count))
		return status;
	if (ids->value_count >= MEMRAY_MAX_FRAMES)
		return tsi_memray_fail_limit(r, MEMRAY_MAX_FRAMES, "frames");
	status = tsi_array_reserve(&ids->values, &ids->capacity, ids->value_count + 1,
				   sizeof(*ids->values), r->err);
	if (status == TSCOPE_OK)
		ids->values[ids->value_count++] = MEMRAY_NONE;
	return status;
}

/* ---- threads ----------------------------------------------------------------------------- */

enum tscope_status tsi_memray_find_thread(struct memray_reader *r, uint64_t tid, uint32_t *thread)
{
	struct memray_capture *out = r->out;
	enum tscope_status status = number_of(&r->threads, tid, thread, r->err);

	if (tsi_likely(status != TSCOPE_OK || *thread < out->thread_count))
		return status;
	if (out->thread_count >= MEMRAY_MAX_THREADS)
		return tsi_memray_fail_limit(r, MEMRAY_MAX_THREADS, "threads");
	status = tsi_array_reserve(&r->thread_nodes, &r->thread_node_capacity,
				   out->thread_count + 1, sizeof(*r->thread_nodes), r->err);
	if (status == TSCOPE_OK)
		status = tsi_array_reserve(&out->threads, &out->thread_capacity,
					   out->thread_count + 1, sizeof(*out->threads), r->err);
	if (status != TSCOPE_OK)
		return status;
	r->thread_nodes[out->thread_count] = 0;
	out->threads[out->thread_count++] = (struct memray_thread){ .tid = tid };
	return TSCOPE_OK;
}

enum tscope_status tsi_memray_switch_thread(struct memray_reader *r, uint64_t tid)
{
	uint32_t thread;
	enum tscope_status status = tsi_memray_find_thread(r, tid, &thread);

	if (status != TSCOPE_OK)
		return status;
	if (r->now.thread != MEMRAY_NONE)
		r->thread_nodes[r->now.thread] = r->now.node;
	r->now.thread = thread;
	r->now.node = r->thread_nodes[thread];
	return TSCOPE_OK;
}

/* ---- frames and stacks ------------------------------------------------------------------- */

enum tscope_status tsi_memray_add_frame(struct memray_reader *r, const struct memray_frame *frame,
					uint32_t *index)
{
	struct memray_capture *out = r->out;
	uint32_t place, number;
	enum tscope_status status =
		tsi_pair_set_find(&r->places, frame->function, frame->file, &place, r->err);

	if (status == TSCOPE_OK)
		status = tsi_pair_set_find(&r->frames, place, (uint32_t)frame->line, &number,
					   r->err);
	if (status != TSCOPE_OK)
		return status;
	*index = number + 1;
	if (*index < out->frame_count)
		return TSCOPE_OK;
	if (out->frame_count >= MEMRAY_MAX_FRAMES)
		return tsi_memray_fail_limit(r, MEMRAY_MAX_FRAMES, "frames");
	status = tsi_array_reserve(&out->frames, &out->frame_capacity, out->frame_count + 1,
				   sizeof(*out->frames), r->err);
	if (status == TSCOPE_OK)
		out->frames[out->frame_count++] = *frame;
	return status;
}

enum tscope_status tsi_memray_add_node(struct memray_reader *r, struct memray_node node)
{
	struct memray_capture *out = r->out;

	if (out->node_count >= MEMRAY_MAX_NODES)
		return tsi_memray_fail_limit(r, MEMRAY_MAX_NODES, "stacks");
	enum tscope_status status = tsi_array_reserve(
		&out->nodes, &out->node_capacity, out->node_count + 1, sizeof(*out->nodes), r->err);
	if (status == TSCOPE_OK)
		out->nodes[out->node_count++] = node;
	return status;
}

enum tscope_status tsi_memray_push(struct memray_reader *r, uint32_t frame)
{
	uint32_t number;
	enum tscope_status status = tsi_memray_need_thread(r);

	if (status != TSCOPE_OK)
		return status;
	struct memray_node node = { .frame = frame, .parent = r->now.node };
	status = tsi_pair_set_find(&r->tree, node.parent, node.frame, &number, r->err);
	if (status == TSCOPE_OK && number + 1 == r->out->node_count)
		status = tsi_memray_add_node(r, node);
	if (status == TSCOPE_OK)
		r->now.node = number + 1;
	return status;
}

enum tscope_status tsi_memray_pop(struct memray_reader *r, unsigned count)
{
	enum tscope_status status = tsi_memray_need_thread(r);

	if (status != TSCOPE_OK)
		return status;
	for (; count && r->now.node; count--)
		r->now.node = r->out->nodes[r->now.node].parent;
	r->out->dropped_count += count > 0;
	return TSCOPE_OK;
}
