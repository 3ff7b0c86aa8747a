/* SPDX-License-Identifier: MIT */
/*
 * Memray captures of all allocations, formats 12 and 13: the highest bit of a record's first
 * byte decides what it is. Addresses that came lately are named by their place among the last
 * fifteen, where only new ones go; frames are code objects and instructions.
 */
#include "decode/records/memray_reader.h"

/* The highest bits, and what the bits below them say. */
enum {
	IS_ALLOCATION = 0x80,
	ALLOCATION_PLACE_SHIFT = 3,
	ALLOCATOR_MASK = 7, /* 0: it is in the next byte */
	IS_PUSH = 0x40,
	IS_OBJECT = 0x20,
	OBJECT_PLACE_SHIFT = 1,
	IS_CREATED = 1,
	IS_POP = 0x10,
	LOW_MASK = 0xf,
	PLACE_MASK = 0xf,
	NEW_ADDRESS = 15,
	ADDRESS_SHIFT = 3, /* they are multiples of eight */
};

/* A known address, or a new one that is written at *p; both are without their last bits. */
static inline uint64_t read_address(const struct memray_reader *r, unsigned place, const char **p,
				    bool *is_bad)
{
	if (place == NEW_ADDRESS)
		return r->address + tsi_memray_svarint(p, is_bad);
	return r->recent[(r->recent_first + place) % MEMRAY_RECENT_RING];
}

/* Once its record is known to be whole. */
static inline void keep_address(struct memray_reader *r, unsigned place, uint64_t address)
{
	if (place != NEW_ADDRESS)
		return;
	r->address = address;
	r->recent_first = (r->recent_first + MEMRAY_RECENT_RING - 1) % MEMRAY_RECENT_RING;
	r->recent[r->recent_first] = address;
}

static inline void take_allocation(struct memray_reader *r, unsigned flags)
{
	const char *p = r->at + 1;
	unsigned place = flags >> ALLOCATION_PLACE_SHIFT & PLACE_MASK;
	unsigned number = flags & ALLOCATOR_MASK;
	bool is_bad = false;

	if (tsi_unlikely(!tsi_memray_need_thread(r)))
		return;
	uint64_t address = read_address(r, place, &p, &is_bad);
	if (number == 0)
		number = (unsigned char)*p++;
	r->now.allocator = tsi_memray_allocator(tsi_memray_allocators_v12, number);
	r->now.size = 0;
	if (!tsi_memray_is_simple_free(r->now.allocator)) {
		if (r->out->header.has_native_stacks)
			(void)tsi_memray_varint(&p, &is_bad);
		r->now.size = tsi_memray_varint(&p, &is_bad);
	}
	if (tsi_unlikely(is_bad || p > r->end)) {
		tsi_memray_fail_allocation(r, is_bad && p <= r->end);
		return;
	}
	keep_address(r, place, address);
	r->now.address = address << ADDRESS_SHIFT;
	tsi_memray_emit(r, p);
}

/* The life of a Python object: not asked for, but its address counts among the last ones. */
static void take_object(struct memray_reader *r)
{
	unsigned place = r->flags >> OBJECT_PLACE_SHIFT & PLACE_MASK;
	uint64_t address = r->address;

	if (place == NEW_ADDRESS)
		tsi_memray_take_delta(r, &address);
	keep_address(r, place, address);
	if (r->out->header.has_native_stacks && r->flags & IS_CREATED)
		(void)tsi_memray_take_varint(r);
}

static void take_push(struct memray_reader *r)
{
	uint64_t id = tsi_memray_take_varint(r), offset = tsi_memray_take_svarint(r);
	const uint32_t *code = tsi_memray_find_value(r, &r->code_ids, id);

	if (!code)
		return;
	r->out->dropped_count += *code == MEMRAY_NONE;
	tsi_memray_push(r, tsi_memray_find_code_frame(r, *code, (int32_t)(uint32_t)offset));
}

static void take_pop(struct memray_reader *r)
{
	tsi_memray_pop(r, (r->flags & LOW_MASK) + 1);
}

static const struct memray_record_kind push = { "FRAME_PUSH record", take_push };
static const struct memray_record_kind object = { "OBJECT_RECORD record", take_object };
static const struct memray_record_kind pop = { "FRAME_POP record", take_pop };
static const struct memray_record_kind kinds[LOW_MASK + 1] = {
	[0] = { "FILLER record", tsi_memray_take_filler },
	[1] = { "TRAILER record", tsi_memray_take_trailer },
	[2] = { "MEMORY_RECORD record", tsi_memray_take_resident },
	[5] = { "NATIVE_TRACE_INDEX record", tsi_memray_take_native_trace },
	[6] = { "MEMORY_MAP_START record", tsi_memray_take_map_start },
	[7] = { "SEGMENT_HEADER record", tsi_memray_take_segments },
	[10] = { "THREAD_RECORD record", tsi_memray_take_thread_name },
	[12] = { "CONTEXT_SWITCH record", tsi_memray_take_switch },
	[14] = { "CODE_OBJECT record", tsi_memray_take_code },
};

static const struct memray_record_kind *kind_of(unsigned byte)
{
	if (byte & IS_PUSH)
		return &push;
	if (byte & IS_OBJECT)
		return &object;
	return byte & IS_POP ? &pop : &kinds[byte & LOW_MASK];
}

void tsi_memray_read_stream_v12(struct memray_reader *r)
{
	while (!r->is_done && !tsi_memray_has_failed(r) && tsi_memray_room(r)) {
		unsigned byte = (unsigned char)*r->at;

		if (tsi_likely(byte & IS_ALLOCATION))
			take_allocation(r, byte);
		else
			tsi_memray_take_record(r, kind_of(byte), byte);
	}
}
