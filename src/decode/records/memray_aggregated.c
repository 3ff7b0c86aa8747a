/* SPDX-License-Identifier: MIT */
/*
 * Memray captures that hold sums (`memray run --aggregate`), from format 10 on: all is written
 * when the process ends. Frames may come in any order, also behind the nodes of the tree that
 * refer to them, so nodes get their frames at the end.
 */
#include "decode/records/memray_reader.h"
#include "decode/records/protobuf.h"

#include "base/error.h"
#include "base/sum.h"

static uint64_t load64(const char *p)
{
	return tsi_little_endian(p, 8);
}

static bool is_new(const struct memray_reader *r)
{
	return r->out->header.version >= MEMRAY_RENUMBERED_VERSION;
}

static const uint8_t *allocators_of(const struct memray_reader *r)
{
	return is_new(r) ? tsi_memray_allocators_v12 : tsi_memray_allocators_v7;
}

static void take_snapshot(struct memray_reader *r)
{
	enum { SNAPSHOT_BYTES = 24, RSS_AT = 8 }; /* then what was allocated */
	struct str block = tsi_memray_take_block(r, SNAPSHOT_BYTES);

	if (tsi_memray_has_failed(r))
		return;
	struct memray_resident resident = {
		.time_ms = tsi_difference(r->out->header.start_ms, (int64_t)load64(block.data)),
		.rss_bytes = load64(block.data + RSS_AT),
	};
	(void)r->sink->resident(r->sink, &resident, &r->err);
}

/* The writer's struct as it lay in memory, with seven bytes behind the allocator for nothing. */
static void take_allocation(struct memray_reader *r)
{
	enum {
		BYTES = 72,
		TID_AT = 0,
		ALLOCATOR_AT = 8,
		NODE_AT = 24,
		COUNT_AT_PEAK_AT = 40,
		LEAKED_COUNT_AT = 48,
		BYTES_AT_PEAK_AT = 56,
		LEAKED_BYTES_AT = 64,
	};
	struct str block = tsi_memray_take_block(r, BYTES);

	if (tsi_memray_has_failed(r))
		return;
	uint64_t node = load64(block.data + NODE_AT);
	bool has_node = node < r->out->node_count;
	struct memray_aggregate sum = {
		.thread = tsi_memray_find_thread(r, load64(block.data + TID_AT)),
		.node = has_node ? (uint32_t)node : 0,
		.allocator = tsi_memray_allocator(allocators_of(r),
						  (unsigned char)block.data[ALLOCATOR_AT]),
		.count_at_peak = load64(block.data + COUNT_AT_PEAK_AT),
		.leaked_count = load64(block.data + LEAKED_COUNT_AT),
		.bytes_at_peak = load64(block.data + BYTES_AT_PEAK_AT),
		.leaked_bytes = load64(block.data + LEAKED_BYTES_AT),
	};
	if (tsi_memray_has_failed(r))
		return;
	r->out->dropped_count += !has_node || sum.allocator == MEMRAY_ALLOCATOR_COUNT;
	if (sum.allocator != MEMRAY_ALLOCATOR_COUNT)
		(void)r->sink->aggregate(r->sink, &sum, &r->err);
}

/* ---- the tree ---------------------------------------------------------------------------- */

/* From format 12 on of any length, before of so many bytes. */
static uint64_t take_number(struct memray_reader *r, unsigned bytes)
{
	return is_new(r) ? tsi_memray_take_varint(r) : tsi_memray_take_bytes(r, bytes);
}

static void take_node(struct memray_reader *r)
{
	uint64_t id = take_number(r, 8), parent = take_number(r, 4);
	struct memray_node node = { .frame = tsi_memray_find_id(r, &r->frame_ids, id) };

	if (tsi_memray_has_failed(r))
		return;
	if (parent < r->out->node_count)
		node.parent = (uint32_t)parent;
	else
		r->out->dropped_count++;
	tsi_memray_add_node(r, node);
}

/* Formats 10 and 11: the id is that of a frame. */
static uint32_t take_frame(struct memray_reader *r)
{
	struct memray_frame frame = { .function = tsi_memray_take_name(r) };

	frame.file = tsi_memray_take_name(r);
	frame.line = tsi_memray_line_of(tsi_memray_take_bytes(r, 4));
	return tsi_memray_add_frame(r, &frame);
}

/* From format 12 on: of a code object, which may come later, and an instruction. */
static uint32_t take_code_frame(struct memray_reader *r)
{
	struct memray_code_frame frame = { .code_id = tsi_memray_take_varint(r) };

	frame.offset = (int32_t)(uint32_t)tsi_memray_take_svarint(r);
	if (r->code_frame_count >= MEMRAY_MAX_FRAMES)
		tsi_memray_fail_limit(r, MEMRAY_MAX_FRAMES, "frames");
	if (tsi_memray_has_failed(r))
		return 0;
	struct memray_code_frame *added =
		tsi_arena_push(&r->memory, &r->code_frames, &r->code_frame_count,
			       &r->code_frame_capacity, sizeof(*added));
	if (!added) {
		tsi_fail_nomem(&r->err);
		return 0;
	}
	*added = frame;
	return (uint32_t)r->code_frame_count - 1;
}

static void take_any_frame(struct memray_reader *r)
{
	uint64_t id = take_number(r, 8);
	uint32_t made = is_new(r) ? take_code_frame(r) : take_frame(r);

	(void)tsi_memray_take_bytes(r, 1); /* is it where the program was entered? */
	uint32_t *value = tsi_memray_find_value(r, &r->frame_ids, id);
	if (value)
		*value = made;
}

/* ---- all --------------------------------------------------------------------------------- */

static void take_surviving_object(struct memray_reader *r)
{
	(void)tsi_memray_take_varint(r);
	if (r->out->header.has_native_stacks)
		(void)tsi_memray_take_varint(r);
}

enum { KIND_COUNT = 16 };

static const struct memray_record_kind kinds[KIND_COUNT] = {
	[0] = { "OTHER record", tsi_memray_take_zeros },
	[1] = { "MEMORY_SNAPSHOT record", take_snapshot },
	[2] = { "AGGREGATED_ALLOCATION record", take_allocation },
	[3] = { "PYTHON_TRACE_INDEX record", take_node },
	[4] = { "PYTHON_FRAME_INDEX record", take_any_frame },
	[5] = { "NATIVE_TRACE_INDEX record", tsi_memray_take_native_trace },
	[6] = { "MEMORY_MAP_START record", tsi_memray_take_map_start },
	[7] = { "SEGMENT_HEADER record", tsi_memray_take_segments },
	[10] = { "THREAD_RECORD record", tsi_memray_take_thread_name },
	[12] = { "CONTEXT_SWITCH record", tsi_memray_take_switch },
	[13] = { "SURVIVING_OBJECT record", take_surviving_object },
	[14] = { "CODE_OBJECT record", tsi_memray_take_code },
	[15] = { "AGGREGATED_TRAILER record", tsi_memray_take_trailer },
};

static const struct memray_record_kind none = { 0 };

static void read_records(struct memray_reader *r)
{
	while (!r->is_done && !tsi_memray_has_failed(r) && tsi_memray_room(r)) {
		unsigned type = (unsigned char)*r->at;

		tsi_memray_take_record(r, type < KIND_COUNT ? &kinds[type] : &none, type);
	}
}

/* The frame of what a code object and an instruction made; MEMRAY_NONE: there is none. */
static uint32_t settle_frame(struct memray_reader *r, const struct memray_code_frame *made_of)
{
	const uint32_t *code = tsi_memray_find_value(r, &r->code_ids, made_of->code_id);
	uint32_t frame = code ? tsi_memray_find_code_frame(r, *code, made_of->offset) : 0;

	return frame ? frame : MEMRAY_NONE;
}

/* From format 12 on the values of frames become frames now. */
static void settle_nodes(struct memray_reader *r)
{
	struct memray_capture *out = r->out;

	r->record = "PYTHON_FRAME_INDEX records";
	for (size_t i = 0; i < r->frame_ids.value_count; i++) {
		uint32_t *value = &r->frame_ids.values[i];
		if (*value != MEMRAY_NONE && is_new(r))
			*value = settle_frame(r, &r->code_frames[*value]);
		if (*value == MEMRAY_NONE || tsi_memray_has_failed(r))
			*value = 0;
		out->dropped_count += *value == 0;
	}
	for (size_t i = 1; i < out->node_count; i++)
		out->nodes[i].frame = r->frame_ids.values[out->nodes[i].frame];
}

/* Records before the damage count. */
void tsi_memray_read_aggregated(struct memray_reader *r)
{
	read_records(r);
	struct tscope_error damage = r->err;
	r->err = (struct tscope_error){ 0 };
	settle_nodes(r);
	if (damage.status != TSCOPE_OK)
		r->err = damage;
}
