/* SPDX-License-Identifier: MIT */
/* Records of memray captures that more than one form of them has. */
#include "decode/records/memray_reader.h"

#include "base/array.h"
#include "base/error.h"

void tsi_memray_begin(struct memray_reader *r, const char *name)
{
	r->record = name;
	r->record_offset = tsi_memray_offset(r);
}

enum tscope_status tsi_memray_take_record(struct memray_reader *r,
					  const struct memray_record_kind *kind, unsigned flags)
{
	unsigned byte = (unsigned char)*r->at;

	tsi_memray_begin(r, kind->name ? kind->name : "record");
	if (!kind->take)
		return tsi_memray_fail(r, TSCOPE_E_DAMAGED, "byte 0x%02x begins none of format %d",
				       byte, r->out->header.version);
	r->at++;
	r->out->record_count++;
	return kind->take(r, flags);
}

/* ---- allocators -------------------------------------------------------------------------- */

enum { UNKNOWN = MEMRAY_ALLOCATOR_COUNT };

const uint8_t tsi_memray_allocators_v7[MEMRAY_ALLOCATOR_NUMBERS] = {
	UNKNOWN,
	MEMRAY_MALLOC,
	MEMRAY_FREE,
	MEMRAY_CALLOC,
	MEMRAY_REALLOC,
	MEMRAY_POSIX_MEMALIGN,
	MEMRAY_ALIGNED_ALLOC,
	MEMRAY_MEMALIGN,
	MEMRAY_VALLOC,
	MEMRAY_PVALLOC,
	MEMRAY_MMAP,
	MEMRAY_MUNMAP,
	MEMRAY_PYMALLOC_MALLOC,
	MEMRAY_PYMALLOC_CALLOC,
	MEMRAY_PYMALLOC_REALLOC,
	MEMRAY_PYMALLOC_FREE,
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

enum tscope_status tsi_memray_fail_allocation(struct memray_reader *r, bool is_bad)
{
	tsi_memray_begin(r, "ALLOCATION record");
	if (is_bad)
		return tsi_memray_fail(r, TSCOPE_E_DAMAGED, "a number of more than 64 bits");
	return tsi_memray_fail_cut(r);
}

/* ---- native stacks and images: nobody asks for them, so they are only passed ------------- */

enum tscope_status tsi_memray_take_native_trace(struct memray_reader *r, unsigned flags)
{
	uint64_t skipped;
	enum tscope_status status = tsi_memray_take_varint(r, &skipped);

	(void)flags;
	return status == TSCOPE_OK ? tsi_memray_take_varint(r, &skipped) : status;
}

enum tscope_status tsi_memray_take_map_start(struct memray_reader *r, unsigned flags)
{
	(void)r;
	(void)flags;
	return TSCOPE_OK;
}

static enum tscope_status take_segment(struct memray_reader *r)
{
	enum { SEGMENT = 8 };
	uint64_t token, skipped;
	enum tscope_status status = tsi_memray_take_bytes(r, 1, &token);

	if (status == TSCOPE_OK && token != SEGMENT)
		return tsi_memray_fail(r, TSCOPE_E_DAMAGED, "byte 0x%02x where a SEGMENT begins",
				       (unsigned)token);
	if (status == TSCOPE_OK)
		status = tsi_memray_take_bytes(r, 8, &skipped);
	return status == TSCOPE_OK ? tsi_memray_take_varint(r, &skipped) : status;
}

enum tscope_status tsi_memray_take_segments(struct memray_reader *r, unsigned flags)
{
	struct str file;
	uint64_t count = 0, skipped;
	enum tscope_status status = tsi_memray_take_text(r, &file);

	(void)flags;
	if (status == TSCOPE_OK)
		status = tsi_memray_take_varint(r, &count);
	if (status == TSCOPE_OK)
		status = tsi_memray_take_bytes(r, 8, &skipped);
	for (; count && status == TSCOPE_OK; count--)
		status = take_segment(r);
	return status;
}

/* ---- threads and time -------------------------------------------------------------------- */

enum tscope_status tsi_memray_take_switch(struct memray_reader *r, unsigned flags)
{
	uint64_t tid;
	enum tscope_status status = tsi_memray_take_bytes(r, 8, &tid);

	(void)flags;
	return status == TSCOPE_OK ? tsi_memray_switch_thread(r, tid) : status;
}

enum tscope_status tsi_memray_take_thread_name(struct memray_reader *r, unsigned flags)
{
	enum tscope_status status = tsi_memray_need_thread(r);

	(void)flags;
	if (status != TSCOPE_OK)
		return status;
	return tsi_memray_take_name(r, &r->out->threads[r->now.thread].name);
}

enum tscope_status tsi_memray_take_resident(struct memray_reader *r, unsigned flags)
{
	struct memray_resident resident;
	uint64_t time_ms;
	enum tscope_status status = tsi_memray_take_varint(r, &resident.rss_bytes);

	(void)flags;
	if (status == TSCOPE_OK)
		status = tsi_memray_take_varint(r, &time_ms);
	if (status != TSCOPE_OK)
		return status;
	resident.time_ms = time_ms < INT64_MAX ? (int64_t)time_ms : INT64_MAX;
	return r->sink->resident(r->sink, &resident, r->err);
}

/* ---- code objects ------------------------------------------------------------------------ */

static enum tscope_status take_line_table(struct memray_reader *r, struct memray_code *code)
{
	uint64_t length;
	struct str table;
	enum tscope_status status = tsi_memray_take_delta(r, &r->line);

	if (status == TSCOPE_OK)
		status = tsi_memray_take_varint(r, &length);
	if (status == TSCOPE_OK && length > MEMRAY_MAX_TABLE_BYTES)
		return tsi_memray_fail(r, TSCOPE_E_LIMIT,
				       "a line table of more than %d bytes (limit: table bytes)",
				       MEMRAY_MAX_TABLE_BYTES);
	if (status == TSCOPE_OK)
		status = tsi_memray_take_block(r, (size_t)length, &table);
	if (status != TSCOPE_OK)
		return status;
	code->lines.first_line = (int32_t)(uint32_t)r->line;
	return tsi_memray_lines_add(&r->lines, r->out->header.python_version, table, &code->lines,
				    r->err);
}

/* An id that comes again is another code object from here on. */
enum tscope_status tsi_memray_take_code(struct memray_reader *r, unsigned flags)
{
	struct memray_code code;
	uint64_t id;
	uint32_t number;
	enum tscope_status status = tsi_memray_take_varint(r, &id);

	(void)flags;
	if (status == TSCOPE_OK)
		status = tsi_memray_take_name(r, &code.function);
	if (status == TSCOPE_OK)
		status = tsi_memray_take_name(r, &code.file);
	if (status == TSCOPE_OK)
		status = take_line_table(r, &code);
	if (status == TSCOPE_OK && r->code_count >= MEMRAY_MAX_FRAMES)
		return tsi_memray_fail_limit(r, MEMRAY_MAX_FRAMES, "code objects");
	if (status == TSCOPE_OK)
		status = tsi_memray_find_id(r, &r->code_ids, id, &number);
	if (status == TSCOPE_OK)
		status = tsi_array_reserve(&r->codes, &r->code_capacity, r->code_count + 1,
					   sizeof(*r->codes), r->err);
	if (status != TSCOPE_OK)
		return status;
	r->code_ids.values[number] = (uint32_t)r->code_count;
	r->codes[r->code_count++] = code;
	return TSCOPE_OK;
}

enum tscope_status tsi_memray_find_code_frame(struct memray_reader *r, uint32_t code,
					      int32_t offset, uint32_t *frame)
{
	uint32_t number;
	enum tscope_status status;

	*frame = 0;
	if (code == MEMRAY_NONE)
		return TSCOPE_OK;
	status = tsi_pair_set_find(&r->offsets, code, (uint32_t)offset, &number, r->err);
	if (status != TSCOPE_OK || number < r->offset_count) {
		*frame = status == TSCOPE_OK ? r->offset_frames[number] : 0;
		return status;
	}
	if (number >= MEMRAY_MAX_FRAMES)
		return tsi_memray_fail_limit(r, MEMRAY_MAX_FRAMES, "instructions");
	const struct memray_code *c = &r->codes[code];
	struct memray_frame fresh = {
		.function = c->function,
		.file = c->file,
		.line = tsi_memray_lines_find(&r->lines, c->lines, offset),
	};
	status = tsi_memray_add_frame(r, &fresh, frame);
	if (status == TSCOPE_OK)
		status = tsi_array_reserve(&r->offset_frames, &r->offset_capacity, number + 1,
					   sizeof(*r->offset_frames), r->err);
	if (status == TSCOPE_OK)
		r->offset_frames[r->offset_count++] = *frame;
	return status;
}

/* ---- the end ----------------------------------------------------------------------------- */

enum tscope_status tsi_memray_take_trailer(struct memray_reader *r, unsigned flags)
{
	(void)flags;
	r->out->is_complete = true;
	r->is_done = true;
	return TSCOPE_OK;
}

enum tscope_status tsi_memray_take_filler(struct memray_reader *r, unsigned flags)
{
	enum tscope_status status = TSCOPE_OK;

	(void)flags;
	r->out->record_count--; /* it is none */
	while (status == TSCOPE_OK) {
		while (r->at < r->end && *r->at == 0)
			r->at++;
		if (r->at < r->end)
			return TSCOPE_OK;
		status = tsi_memray_room(r);
	}
	return status == TSCOPE_END ? TSCOPE_OK : status;
}

enum tscope_status tsi_memray_take_zeros(struct memray_reader *r, unsigned flags)
{
	enum tscope_status status = tsi_memray_take_filler(r, flags);

	if (status != TSCOPE_OK || r->at == r->end)
		return status;
	return tsi_memray_fail(r, TSCOPE_E_DAMAGED,
			       "zeros as at the end of a capture, but more follows at byte %llu",
			       (unsigned long long)tsi_memray_offset(r));
}
