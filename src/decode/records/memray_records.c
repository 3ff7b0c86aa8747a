/* SPDX-License-Identifier: MIT */
/* Records of memray captures that more than one form of them has. */
#include "decode/records/memray_reader.h"

#include "base/error.h"

/* A record begins at r->at. */
static void begin_record(struct memray_reader *r, const char *name)
{
	r->record = name;
	r->record_offset = tsi_memray_offset(r);
}

void tsi_memray_take_record(struct memray_reader *r, const struct memray_record_kind *kind,
			    unsigned flags)
{
	unsigned byte = (unsigned char)*r->at;

	begin_record(r, kind->name ? kind->name : "record");
	if (!kind->take) {
		tsi_memray_fail(r, TSCOPE_E_DAMAGED, "byte 0x%02x begins none of format %d", byte,
				r->out->header.version);
		return;
	}
	r->at++;
	r->out->record_count++;
	r->flags = flags;
	kind->take(r);
}

/* ---- allocators -------------------------------------------------------------------------- */

enum { UNKNOWN = MEMRAY_ALLOCATOR_COUNT };

const uint8_t tsi_memray_allocators_v7[MEMRAY_ALLOCATOR_NUMBERS] = {
	UNKNOWN, MEMRAY_ALLOCATORS(TSI_NAMED_ID)
};

const uint8_t tsi_memray_allocators_v12[MEMRAY_ALLOCATOR_NUMBERS] = {
	UNKNOWN,
	MEMRAY_PYMALLOC_FREE,
	MEMRAY_PYMALLOC_MALLOC,
	MEMRAY_PYMALLOC_CALLOC,
	MEMRAY_PYMALLOC_REALLOC,
	MEMRAY_FREE,
	MEMRAY_MALLOC,
	MEMRAY_REALLOC,
	MEMRAY_CALLOC,
	MEMRAY_POSIX_MEMALIGN,
	MEMRAY_ALIGNED_ALLOC,
	MEMRAY_MEMALIGN,
	MEMRAY_VALLOC,
	MEMRAY_PVALLOC,
	MEMRAY_MMAP,
	MEMRAY_MUNMAP,
};

void tsi_memray_fail_allocation(struct memray_reader *r, bool is_bad)
{
	begin_record(r, "ALLOCATION record");
	if (is_bad)
		tsi_memray_fail(r, TSCOPE_E_DAMAGED, "a number of more than 64 bits");
	else
		tsi_memray_fail_cut(r);
}

/* ---- native stacks and images: nobody asks for them, so they are only passed ------------- */

void tsi_memray_take_native_trace(struct memray_reader *r)
{
	(void)tsi_memray_take_varint(r);
	(void)tsi_memray_take_varint(r);
}

void tsi_memray_take_map_start(struct memray_reader *r)
{
	(void)r;
}

static void take_segment(struct memray_reader *r)
{
	enum { SEGMENT = 8 };
	uint64_t token = tsi_memray_take_bytes(r, 1);

	if (token != SEGMENT)
		tsi_memray_fail(r, TSCOPE_E_DAMAGED, "byte 0x%02x where a SEGMENT begins",
				(unsigned)token);
	(void)tsi_memray_take_bytes(r, 8);
	(void)tsi_memray_take_varint(r);
}

void tsi_memray_take_segments(struct memray_reader *r)
{
	(void)tsi_memray_take_text(r);
	uint64_t count = tsi_memray_take_varint(r);
	(void)tsi_memray_take_bytes(r, 8);
	for (; count && !tsi_memray_has_failed(r); count--)
		take_segment(r);
}

/* ---- threads and time -------------------------------------------------------------------- */

void tsi_memray_take_switch(struct memray_reader *r)
{
	tsi_memray_switch_thread(r, tsi_memray_take_bytes(r, 8));
}

void tsi_memray_take_thread_name(struct memray_reader *r)
{
	if (!tsi_memray_need_thread(r))
		return;
	uint32_t name = tsi_memray_take_name(r);
	if (!tsi_memray_has_failed(r))
		r->out->threads[r->now.thread].name = name;
}

void tsi_memray_take_resident(struct memray_reader *r)
{
	struct memray_resident resident = { .rss_bytes = tsi_memray_take_varint(r) };
	uint64_t time_ms = tsi_memray_take_varint(r);

	resident.time_ms = time_ms < INT64_MAX ? (int64_t)time_ms : INT64_MAX;
	if (!tsi_memray_has_failed(r))
		(void)r->sink->resident(r->sink, &resident, &r->err);
}

/* ---- code objects ------------------------------------------------------------------------ */

static void take_line_table(struct memray_reader *r, struct memray_code *code)
{
	tsi_memray_take_delta(r, &r->line);
	uint64_t length = tsi_memray_take_varint(r);
	if (length > MEMRAY_MAX_TABLE_BYTES) {
		tsi_memray_fail(r, TSCOPE_E_LIMIT,
				"a line table of more than %d bytes (limit: table bytes)",
				MEMRAY_MAX_TABLE_BYTES);
		return;
	}
	struct str table = tsi_memray_take_block(r, (size_t)length);
	code->lines.first_line = (int32_t)(uint32_t)r->line;
	if (!tsi_memray_has_failed(r))
		(void)tsi_memray_lines_add(&r->lines, r->out->header.python_version, table,
					   &code->lines, &r->err);
}

/* An id that comes again is another code object from here on. */
void tsi_memray_take_code(struct memray_reader *r)
{
	uint64_t id = tsi_memray_take_varint(r);
	struct memray_code code = { .function = tsi_memray_take_name(r) };

	code.file = tsi_memray_take_name(r);
	take_line_table(r, &code);
	if (r->code_count >= MEMRAY_MAX_FRAMES)
		tsi_memray_fail_limit(r, MEMRAY_MAX_FRAMES, "code objects");
	uint32_t *value = tsi_memray_find_value(r, &r->code_ids, id);
	if (!value)
		return;
	struct memray_code *added = tsi_arena_push(&r->memory, &r->codes, &r->code_count,
						   &r->code_capacity, sizeof(*added));
	if (!added) {
		tsi_fail_nomem(&r->err);
		return;
	}
	*added = code;
	*value = (uint32_t)r->code_count - 1;
}

uint32_t tsi_memray_find_code_frame(struct memray_reader *r, uint32_t code, int32_t offset)
{
	if (code == MEMRAY_NONE || tsi_memray_has_failed(r))
		return 0;
	uint32_t number = tsi_pair_set_add(&r->offsets, code, (uint32_t)offset);
	if (number < r->offset_count)
		return r->offset_frames[number];
	if (number != MEMRAY_NONE && number >= MEMRAY_MAX_FRAMES) {
		tsi_memray_fail_limit(r, MEMRAY_MAX_FRAMES, "instructions");
		return 0;
	}
	const struct memray_code *c = &r->codes[code];
	uint32_t frame = tsi_memray_add_frame(
		r, &(struct memray_frame){
			   .function = c->function,
			   .file = c->file,
			   .line = tsi_memray_lines_find(&r->lines, c->lines, offset),
		   });
	uint32_t *added = tsi_arena_push(&r->memory, &r->offset_frames, &r->offset_count,
					 &r->offset_capacity, sizeof(*added));
	if (added)
		*added = frame;
	else if (!tsi_memray_has_failed(r))
		tsi_fail_nomem(&r->err);
	return frame;
}

/* ---- the end ----------------------------------------------------------------------------- */

void tsi_memray_take_trailer(struct memray_reader *r)
{
	r->out->is_complete = true;
	r->is_done = true;
}

void tsi_memray_take_filler(struct memray_reader *r)
{
	r->out->record_count--; /* it is none */
	do {
		while (r->at < r->end && *r->at == 0)
			r->at++;
	} while (r->at == r->end && tsi_memray_room(r));
}

void tsi_memray_take_zeros(struct memray_reader *r)
{
	tsi_memray_take_filler(r);
	if (r->at < r->end)
		tsi_memray_fail(r, TSCOPE_E_DAMAGED,
				"zeros as at the end of a capture, but more follows at byte %llu",
				(unsigned long long)tsi_memray_offset(r));
}
