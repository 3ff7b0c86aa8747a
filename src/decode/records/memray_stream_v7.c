/* SPDX-License-Identifier: MIT */
/*
 * Memray captures of all allocations, formats 7 to 11: the first byte of a record is its type
 * (the low four bits) and flags. Nearly all records are allocations; those have a way of their
 * own, which calls nothing but the sink.
 */
#include "decode/records/memray_reader.h"

enum { TYPE_BITS = 4, TYPE_MASK = 0xf, ALLOCATION = 1, TRAILER_FLAG = 1 };

static inline void take_allocation(struct memray_reader *r, unsigned flags)
{
	const char *p = r->at + 1;
	bool is_bad = false;

	if (tsi_unlikely(!tsi_memray_need_thread(r)))
		return;
	r->now.allocator = tsi_memray_allocator(tsi_memray_allocators_v7, flags);
	uint64_t address = r->address + tsi_memray_svarint(&p, &is_bad);
	r->now.size =
		tsi_memray_is_simple_free(r->now.allocator) ? 0 : tsi_memray_varint(&p, &is_bad);
	if (tsi_unlikely(is_bad || p > r->end)) {
		tsi_memray_fail_allocation(r, is_bad && p <= r->end);
		return;
	}
	r->address = r->now.address = address;
	tsi_memray_emit(r, p);
}

/* With the id of a native stack, and always with a size. */
static void take_native_allocation(struct memray_reader *r)
{
	if (!tsi_memray_need_thread(r))
		return;
	tsi_memray_take_delta(r, &r->address);
	r->now.size = tsi_memray_take_varint(r);
	(void)tsi_memray_take_varint(r);
	if (tsi_memray_has_failed(r))
		return;
	r->now.allocator = tsi_memray_allocator(tsi_memray_allocators_v7, r->flags);
	if (tsi_memray_is_simple_free(r->now.allocator))
		r->now.size = 0;
	r->now.address = r->address;
	r->out->record_count--; /* it is counted with its like */
	tsi_memray_emit(r, r->at);
}

static void take_frame(struct memray_reader *r)
{
	struct memray_frame frame = { 0 };

	tsi_memray_take_delta(r, &r->frame_id);
	frame.function = tsi_memray_take_name(r);
	frame.file = tsi_memray_take_name(r);
	tsi_memray_take_delta(r, &r->line);
	frame.line = tsi_memray_line_of(r->line);
	uint32_t *value = tsi_memray_find_value(r, &r->frame_ids, r->frame_id);
	if (value)
		*value = tsi_memray_add_frame(r, &frame);
}

static void take_push(struct memray_reader *r)
{
	tsi_memray_take_delta(r, &r->frame_id);
	const uint32_t *frame = tsi_memray_find_value(r, &r->frame_ids, r->frame_id);
	if (!frame)
		return;
	r->out->dropped_count += *frame == MEMRAY_NONE;
	tsi_memray_push(r, *frame == MEMRAY_NONE ? 0 : *frame);
}

static void take_pop(struct memray_reader *r)
{
	tsi_memray_pop(r, r->flags + 1);
}

/* Format 7 has no trailer: a byte of 0x10 is damage there, but that is all the same. */
static void take_other(struct memray_reader *r)
{
	if (r->flags == 0)
		tsi_memray_take_zeros(r);
	else if (r->flags == TRAILER_FLAG)
		tsi_memray_take_trailer(r);
	else
		tsi_memray_fail(r, TSCOPE_E_DAMAGED, "of unknown kind %u", r->flags);
}

static const struct memray_record_kind kinds[TYPE_MASK + 1] = {
	[0] = { "OTHER record", take_other },
	[2] = { "ALLOCATION_WITH_NATIVE record", take_native_allocation },
	[3] = { "FRAME_INDEX record", take_frame },
	[4] = { "FRAME_PUSH record", take_push },
	[5] = { "NATIVE_TRACE_INDEX record", tsi_memray_take_native_trace },
	[6] = { "MEMORY_MAP_START record", tsi_memray_take_map_start },
	[7] = { "SEGMENT_HEADER record", tsi_memray_take_segments },
	[9] = { "FRAME_POP record", take_pop },
	[10] = { "THREAD_RECORD record", tsi_memray_take_thread_name },
	[11] = { "MEMORY_RECORD record", tsi_memray_take_resident },
	[12] = { "CONTEXT_SWITCH record", tsi_memray_take_switch },
};

void tsi_memray_read_stream_v7(struct memray_reader *r)
{
	while (!r->is_done && !tsi_memray_has_failed(r) && tsi_memray_room(r)) {
		unsigned type = *r->at & TYPE_MASK;
		unsigned flags = (unsigned char)*r->at >> TYPE_BITS;

		if (tsi_likely(type == ALLOCATION))
			take_allocation(r, flags);
		else
			tsi_memray_take_record(r, &kinds[type], flags);
	}
}
