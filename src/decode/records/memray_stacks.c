/* SPDX-License-Identifier: MIT */
/*
 * Threads, frames and stacks of a memray capture, each kept once. A stack is a node of a tree:
 * its frame and the node of its caller; a call goes to a child, a return climbs, and so a thread
 * is no more than the node where it is.
 */
#include "decode/records/memray_reader.h"

#include "base/error.h"

/* One more frame, or NULL: failed. */
static struct memray_frame *new_frame(struct memray_reader *r)
{
	struct memray_capture *out = r->out;
	struct memray_frame *frame = tsi_arena_push(&out->memory, &out->frames, &out->frame_count,
						    &out->frame_capacity, sizeof(*frame));

	if (!frame)
		tsi_fail_nomem(&r->err);
	return frame;
}

void tsi_memray_add_node(struct memray_reader *r, struct memray_node node)
{
	struct memray_capture *out = r->out;

	if (tsi_memray_has_failed(r))
		return;
	if (out->node_count >= MEMRAY_MAX_NODES) {
		tsi_memray_fail_limit(r, MEMRAY_MAX_NODES, "stacks");
		return;
	}
	struct memray_node *added = tsi_arena_push(&out->memory, &out->nodes, &out->node_count,
						   &out->node_capacity, sizeof(*added));
	if (added)
		*added = node;
	else
		tsi_fail_nomem(&r->err);
}

void tsi_memray_stacks_init(struct memray_reader *r)
{
	r->threads.arena = r->places.arena = r->frames.arena = r->tree.arena = &r->memory;
	r->offsets.arena = r->frame_ids.numbers.arena = r->code_ids.numbers.arena = &r->memory;
	r->now.thread = MEMRAY_NONE;
	if (tsi_intern_init(&r->out->names, MEMRAY_MAX_NAMES, &r->err) == TSCOPE_OK && new_frame(r))
		tsi_memray_add_node(r, (struct memray_node){ 0 });
}

void tsi_memray_stacks_deinit(struct memray_reader *r)
{
	tsi_arena_deinit(&r->memory);
	tsi_memray_lines_deinit(&r->lines);
}

void tsi_memray_fail_limit(struct memray_reader *r, size_t limit, const char *what)
{
	tsi_memray_fail(r, TSCOPE_E_LIMIT, "more than %zu %s (limit: %s)", limit, what, what);
}

uint32_t tsi_memray_take_name(struct memray_reader *r)
{
	size_t count = r->out->names.count;
	struct str text = tsi_memray_take_text(r);
	uint32_t name = 0;

	if (tsi_memray_has_failed(r) ||
	    tsi_intern_add(&r->out->names, text, &name, &r->err) != TSCOPE_OK)
		return 0;
	if (r->out->names.count > count)
		r->name_bytes += text.length;
	if (r->name_bytes > MEMRAY_MAX_NAME_BYTES)
		tsi_memray_fail_limit(r, MEMRAY_MAX_NAME_BYTES, "name bytes");
	return name;
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

/* The number of a pair; MEMRAY_NONE: failed. */
static uint32_t number_of_pair(struct memray_reader *r, struct pair_set *set, uint32_t first,
			       uint32_t second)
{
	uint32_t number =
		tsi_memray_has_failed(r) ? MEMRAY_NONE : tsi_pair_set_add(set, first, second);

	if (tsi_unlikely(number == MEMRAY_NONE) && !tsi_memray_has_failed(r))
		tsi_fail_nomem(&r->err);
	return number;
}

static uint32_t number_of(struct memray_reader *r, struct pair_set *set, uint64_t id)
{
	uint64_t mixed = mix(id);

	return number_of_pair(r, set, (uint32_t)(mixed >> 32), (uint32_t)mixed);
}

uint32_t tsi_memray_find_id(struct memray_reader *r, struct memray_ids *ids, uint64_t id)
{
	uint32_t number = number_of(r, &ids->numbers, id);

	if (tsi_likely(number == MEMRAY_NONE || number < ids->value_count))
		return number;
	if (ids->value_count >= MEMRAY_MAX_FRAMES) {
		tsi_memray_fail_limit(r, MEMRAY_MAX_FRAMES, "frames");
		return MEMRAY_NONE;
	}
	uint32_t *value = tsi_arena_push(&r->memory, &ids->values, &ids->value_count,
					 &ids->capacity, sizeof(*value));
	if (!value) {
		tsi_fail_nomem(&r->err);
		return MEMRAY_NONE;
	}
	*value = MEMRAY_NONE;
	return number;
}

uint32_t *tsi_memray_find_value(struct memray_reader *r, struct memray_ids *ids, uint64_t id)
{
	uint32_t number = tsi_memray_find_id(r, ids, id);

	return tsi_likely(number != MEMRAY_NONE) ? &ids->values[number] : NULL;
}

/* ---- threads ----------------------------------------------------------------------------- */

uint32_t tsi_memray_find_thread(struct memray_reader *r, uint64_t tid)
{
	struct memray_capture *out = r->out;
	uint32_t thread = number_of(r, &r->threads, tid);
	size_t node_count = out->thread_count;

	if (tsi_likely(thread == MEMRAY_NONE || thread < out->thread_count))
		return thread;
	if (out->thread_count >= MEMRAY_MAX_THREADS) {
		tsi_memray_fail_limit(r, MEMRAY_MAX_THREADS, "threads");
		return MEMRAY_NONE;
	}
	uint32_t *node = tsi_arena_push(&r->memory, &r->thread_nodes, &node_count,
					&r->thread_node_capacity, sizeof(*node));
	struct memray_thread *added =
		tsi_arena_push(&out->memory, &out->threads, &out->thread_count,
			       &out->thread_capacity, sizeof(*added));
	if (!node || !added) {
		tsi_fail_nomem(&r->err);
		return MEMRAY_NONE;
	}
	added->tid = tid;
	return thread;
}

bool tsi_memray_switch_thread(struct memray_reader *r, uint64_t tid)
{
	uint32_t thread = tsi_memray_find_thread(r, tid);

	if (thread == MEMRAY_NONE)
		return false;
	if (r->now.thread != MEMRAY_NONE)
		r->thread_nodes[r->now.thread] = r->now.node;
	r->now.thread = thread;
	r->now.node = r->thread_nodes[thread];
	return true;
}

/* ---- frames and stacks ------------------------------------------------------------------- */

uint32_t tsi_memray_add_frame(struct memray_reader *r, const struct memray_frame *frame)
{
	uint32_t place = number_of_pair(r, &r->places, frame->function, frame->file);
	uint32_t number = number_of_pair(r, &r->frames, place, (uint32_t)frame->line);

	if (number == MEMRAY_NONE)
		return 0;
	if (number + 1 < r->out->frame_count)
		return number + 1;
	if (r->out->frame_count >= MEMRAY_MAX_FRAMES) {
		tsi_memray_fail_limit(r, MEMRAY_MAX_FRAMES, "frames");
		return 0;
	}
	struct memray_frame *added = new_frame(r);
	if (!added)
		return 0;
	*added = *frame;
	return number + 1;
}

void tsi_memray_push(struct memray_reader *r, uint32_t frame)
{
	if (!tsi_memray_need_thread(r))
		return;
	struct memray_node node = { .frame = frame, .parent = r->now.node };
	uint32_t number = number_of_pair(r, &r->tree, node.parent, node.frame);
	if (number == MEMRAY_NONE)
		return;
	if (number + 1 == r->out->node_count)
		tsi_memray_add_node(r, node);
	if (!tsi_memray_has_failed(r))
		r->now.node = number + 1;
}

void tsi_memray_pop(struct memray_reader *r, unsigned count)
{
	if (!tsi_memray_need_thread(r))
		return;
	for (; count && r->now.node; count--)
		r->now.node = r->out->nodes[r->now.node].parent;
	r->out->dropped_count += count > 0;
}
