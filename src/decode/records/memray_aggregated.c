/* SPDX-License-Identifier: MIT */
/*
 * Memray captures that hold sums (`memray run --aggregate`), from format 10 on: all is written
 * when the process ends. Frames may come in any order, also behind the nodes of the tree that
 * refer to them, so nodes get their frames at the end.
 */
#include "decode/records/memray_reader.h"

#include "base/array.h"
#include "base/sum.h"

static uint64_t load64(const char *p)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < 8; i++)
		value |= (uint64_t)(unsigned char)p[i] << (8 * i);
	return value;
}

static bool is_new(const struct memray_reader *r)
{
	return r->out->header.version >= MEMRAY_RENUMBERED_VERSION;
}

static const uint8_t *allocators_of(const struct memray_reader *r)
{
	return is_new(r) ? tsi_memray_allocators_v12 : tsi_memray_allocators_v7;
}

static enum tscope_status take_snapshot(struct memray_reader *r, unsigned flags)
{
	struct str block;
	enum { SNAPSHOT_BYTES = 24, RSS_AT = 8 }; /* then what was allocated */
	enum tscope_status status = tsi_memray_take_block(r, SNAPSHOT_BYTES, &block);

	(void)flags;
	if (status != TSCOPE_OK)
		return status;
	struct memray_resident resident = {
		.time_ms = tsi_difference(r->out->header.start_ms, (int64_t)load64(block.data)),
		.rss_bytes = load64(block.data + RSS_AT),
	};
	return r->sink->resident(r->sink, &resident, r->err);
}

/* The writer's struct as it lay in memory, with seven bytes behind the allocator for nothing. */
static enum tscope_status take_allocation(struct memray_reader *r, unsigned flags)
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
	struct str block;
	struct memray_aggregate sum;
	enum tscope_status status = tsi_memray_take_block(r, BYTES, &block);

	(void)flags;
	if (status == TSCOPE_OK)
		status = tsi_memray_find_thread(r, load64(block.data + TID_AT), &sum.thread);
	if (status != TSCOPE_OK)
		return status;
	uint64_t node = load64(block.data + NODE_AT);
	bool has_node = node < r->out->node_count;
	sum.allocator =
		tsi_memray_allocator(allocators_of(r), (unsigned char)block.data[ALLOCATOR_AT]);
	sum.node = has_node ? (uint32_t)node : 0;
	sum.count_at_peak = load64(block.data + COUNT_AT_PEAK_AT);
	sum.leaked_count = load64(block.data + LEAKED_COUNT_AT);
	sum.bytes_at_peak = load64(block.data + BYTES_AT_PEAK_AT);
	sum.leaked_bytes = load64(block.data + LEAKED_BYTES_AT);
	r->out->dropped_count += !has_node || sum.allocator == MEMRAY_ALLOCATOR_COUNT;
	if (sum.allocator == MEMRAY_ALLOCATOR_COUNT)
		return TSCOPE_OK;
	return r->sink->aggregate(r->sink, &sum, r->err);
}

/* ---- the tree ---------------------------------------------------------------------------- */

static enum tscope_status take_node(struct memray_reader *r, unsigned flags)
{
	struct memray_node node = { 0 };
	uint64_t id, parent = 0;
	enum tscope_status status =
		is_new(r) ? tsi_memray_take_varint(r, &id) : tsi_memray_take_bytes(r, 8, &id);

	(void)flags;
	if (status == TSCOPE_OK)
		status = is_new(r) ? tsi_memray_take_varint(r, &parent)
				   : tsi_memray_take_bytes(r, 4, &parent);
	if (status == TSCOPE_OK)
		status = tsi_memray_find_id(r, &r->frame_ids, id, &node.frame);
	if (status != TSCOPE_OK)
		return status;
	if (parent < r->out->node_count)
		node.parent = (uint32_t)parent;
	else
		r->out->dropped_count++;
	return tsi_memray_add_node(r, node);
}

/* Formats 10 and 11: the id is that of a frame. */
static enum tscope_status take_frame(struct memray_reader *r, uint32_t *value)
{
	struct memray_frame frame = { 0 };
	uint64_t line;
	enum tscope_status status = tsi_memray_take_name(r, &frame.function);

	if (status == TSCOPE_OK)
		status = tsi_memray_take_name(r, &frame.file);
	if (status == TSCOPE_OK)
		status = tsi_memray_take_bytes(r, 4, &line);
	if (status != TSCOPE_OK)
		return status;
	frame.line = tsi_memray_line_of(line);
	return tsi_memray_add_frame(r, &frame, value);
}

/* From format 12 on: of a code object, which may come later, and an instruction. */
static enum tscope_status take_code_frame(struct memray_reader *r, uint32_t *value)
{
	struct memray_code_frame frame;
	uint64_t offset;
	enum tscope_status status = tsi_memray_take_varint(r, &frame.code_id);

	if (status == TSCOPE_OK)
		status = tsi_memray_take_svarint(r, &offset);
	if (status == TSCOPE_OK && r->code_frame_count >= MEMRAY_MAX_FRAMES)
		return tsi_memray_fail_limit(r, MEMRAY_MAX_FRAMES, "frames");
	if (status == TSCOPE_OK)
		status =
			tsi_array_reserve(&r->code_frames, &r->code_frame_capacity,
					  r->code_frame_count + 1, sizeof(*r->code_frames), r->err);
	if (status != TSCOPE_OK)
		return status;
	frame.offset = (int32_t)(uint32_t)offset;
	*value = (uint32_t)r->code_frame_count;
	r->code_frames[r->code_frame_count++] = frame;
	return TSCOPE_OK;
}

static enum tscope_status take_any_frame(struct memray_reader *r, unsigned flags)
{
	uint64_t id, is_entry;
	uint32_t number, value;
	enum tscope_status status =
		is_new(r) ? tsi_memray_take_varint(r, &id) : tsi_memray_take_bytes(r, 8, &id);

	(void)flags;
	if (status == TSCOPE_OK)
		status = is_new(r) ? take_code_frame(r, &value) : take_frame(r, &value);
	if (status == TSCOPE_OK)
		status = tsi_memray_take_bytes(r, 1, &is_entry);
	if (status == TSCOPE_OK)
		status = tsi_memray_find_id(r, &r->frame_ids, id, &number);
	if (status == TSCOPE_OK)
		r->frame_ids.values[number] = value;
	return status;
}

/* ---- all --------------------------------------------------------------------------------- */

static enum tscope_status take_surviving_object(struct memray_reader *r, unsigned flags)
{
	uint64_t skipped;
	enum tscope_status status = tsi_memray_take_varint(r, &skipped);

	(void)flags;
	if (status != TSCOPE_OK || !r->out->header.has_native_stacks)
		return status;
	return tsi_memray_take_varint(r, &skipped);
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

static enum tscope_status read_records(struct memray_reader *r)
{
	enum tscope_status status = TSCOPE_OK;

	while (!r->is_done && status == TSCOPE_OK) {
		status = tsi_memray_room(r);
		if (status != TSCOPE_OK)
			break;
		unsigned type = (unsigned char)*r->at;
		status = tsi_memray_take_record(r, type < KIND_COUNT ? &kinds[type] : &none, type);
	}
	return status;
}

/* The value of a frame's id: from format 12 on what it was made of becomes a frame now. */
static enum tscope_status settle_frame(struct memray_reader *r, uint32_t *value)
{
	uint32_t number, frame = 0;
	enum tscope_status status;

	if (*value == MEMRAY_NONE || !is_new(r))
		return TSCOPE_OK;
	const struct memray_code_frame *made_of = &r->code_frames[*value];
	status = tsi_memray_find_id(r, &r->code_ids, made_of->code_id, &number);
	if (status == TSCOPE_OK)
		status = tsi_memray_find_code_frame(r, r->code_ids.values[number], made_of->offset,
						    &frame);
	*value = frame ? frame : MEMRAY_NONE;
	return status;
}

static enum tscope_status settle_nodes(struct memray_reader *r)
{
	struct memray_capture *out = r->out;
	enum tscope_status status = TSCOPE_OK;

	r->record = "PYTHON_FRAME_INDEX records";
	for (size_t i = 0; i < r->frame_ids.value_count; i++) {
		uint32_t *value = &r->frame_ids.values[i];
		if (status == TSCOPE_OK)
			status = settle_frame(r, value);
		if (status != TSCOPE_OK || *value == MEMRAY_NONE)
			*value = 0;
		out->dropped_count += *value == 0;
	}
	for (size_t i = 1; i < out->node_count; i++)
		out->nodes[i].frame = r->frame_ids.values[out->nodes[i].frame];
	return status;
}

/* Also of what is broken: what came before that counts. */
enum tscope_status tsi_memray_read_aggregated(struct memray_reader *r)
{
	enum tscope_status status = read_records(r);
	struct tscope_error err = *r->err;
	enum tscope_status settled = settle_nodes(r);

	if (settled == TSCOPE_OK || status < 0) {
		*r->err = err;
		return status;
	}
	return settled;
}
