/* SPDX-License-Identifier: MIT */
#include "memray_writer.h"

#include <stdlib.h>

#include "check.h"

enum { FIRST_BYTES = 4096 };

/* ---- parts ------------------------------------------------------------------------------- */

void memray_write_raw(struct memray_writer *w, const void *bytes, size_t length)
{
	if (w->length + length > w->capacity) {
		w->capacity = 2 * (w->length + length) + FIRST_BYTES;
		w->bytes = realloc(w->bytes, w->capacity);
		assert_non_null(w->bytes);
	}
	if (length)
		memcpy(w->bytes + w->length, bytes, length);
	w->length += length;
}

void memray_write_byte(struct memray_writer *w, unsigned byte)
{
	unsigned char c = (unsigned char)byte;

	memray_write_raw(w, &c, 1);
}

static void write_fixed(struct memray_writer *w, uint64_t value, unsigned bytes)
{
	for (; bytes; bytes--, value >>= 8)
		memray_write_byte(w, value & 0xff);
}

void memray_write_u64(struct memray_writer *w, uint64_t value)
{
	write_fixed(w, value, 8);
}

void memray_write_varint(struct memray_writer *w, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		memray_write_byte(w, 0x80 | (value & 0x7f));
	memray_write_byte(w, (unsigned)value);
}

void memray_write_svarint(struct memray_writer *w, int64_t value)
{
	memray_write_varint(w, value < 0 ? 2 * (uint64_t)~value + 1 : 2 * (uint64_t)value);
}

void memray_write_zeros(struct memray_writer *w, size_t count)
{
	for (; count; count--)
		memray_write_byte(w, 0);
}

static void write_text(struct memray_writer *w, const char *text)
{
	memray_write_raw(w, text, strlen(text) + 1);
}

static void write_delta(struct memray_writer *w, uint64_t *last, uint64_t value)
{
	memray_write_svarint(w, (int64_t)(value - *last));
	*last = value;
}

static bool is_new(const struct memray_writer *w)
{
	return w->header.version >= 12;
}

/* ---- all forms --------------------------------------------------------------------------- */

struct memray_writer memray_write_header(const struct memray_header *h, const char *command_line)
{
	struct memray_writer w = { .header = *h };

	write_text(&w, "memray");
	write_fixed(&w, (uint32_t)h->version, 4);
	if (h->version >= 12)
		write_fixed(&w, (uint32_t)h->python_version, 4);
	memray_write_byte(&w, h->has_native_stacks);
	if (h->version >= 10)
		memray_write_byte(&w, h->is_aggregated);
	memray_write_u64(&w, h->record_count);
	memray_write_u64(&w, h->frame_count);
	memray_write_u64(&w, (uint64_t)h->start_ms);
	memray_write_u64(&w, (uint64_t)h->end_ms);
	write_text(&w, command_line);
	write_fixed(&w, (uint32_t)h->pid, 4);
	if (h->version >= 9) {
		memray_write_u64(&w, h->main_tid);
		memray_write_u64(&w, h->skipped_frames);
	}
	write_fixed(&w, 1, h->version <= 7 ? 4 : 1); /* pymalloc */
	if (h->version >= 11)
		memray_write_byte(&w, h->traces_python_allocators);
	if (h->version >= 12)
		memray_write_byte(&w, h->tracks_lifetimes);
	if (h->version >= 13) {
		write_text(&w, "/usr/lib");
		memray_write_raw(&w, "/a\0/b\0\0/c\0", sizeof("/a\0/b\0\0/c\0"));
	}
	return w;
}

void memray_writer_deinit(struct memray_writer *w)
{
	free(w->bytes);
	*w = (struct memray_writer){ 0 };
}

void memray_write_switch(struct memray_writer *w, uint64_t tid)
{
	memray_write_byte(w, 12);
	memray_write_u64(w, tid);
}

void memray_write_thread_name(struct memray_writer *w, const char *name)
{
	memray_write_byte(w, 10);
	write_text(w, name);
}

void memray_write_native(struct memray_writer *w, uint64_t instruction, uint64_t parent)
{
	memray_write_byte(w, 5);
	write_delta(w, &w->instruction, instruction);
	write_delta(w, &w->native, parent);
}

void memray_write_map_start(struct memray_writer *w)
{
	memray_write_byte(w, 6);
}

void memray_write_segments(struct memray_writer *w, const char *file, unsigned count)
{
	memray_write_byte(w, 7);
	write_text(w, file);
	memray_write_varint(w, count);
	memray_write_u64(w, 0x7f0000000000);
	for (unsigned i = 0; i < count; i++) {
		memray_write_byte(w, 8);
		memray_write_u64(w, 0x1000 * i);
		memray_write_varint(w, 0x1000);
	}
}

void memray_write_frame(struct memray_writer *w, uint64_t id, const char *function,
			const char *file, int32_t line)
{
	memray_write_byte(w, w->header.is_aggregated ? 4 : 3);
	if (w->header.is_aggregated)
		memray_write_u64(w, id);
	else
		write_delta(w, &w->frame_id, id);
	write_text(w, function);
	write_text(w, file);
	if (!w->header.is_aggregated) {
		write_delta(w, &w->line, (uint64_t)line);
		return;
	}
	write_fixed(w, (uint32_t)line, 4);
	memray_write_byte(w, 1); /* an entry */
}

void memray_write_code(struct memray_writer *w, uint64_t id, const struct memray_code_text *code)
{
	memray_write_byte(w, 14);
	memray_write_varint(w, id);
	write_text(w, code->function);
	write_text(w, code->file);
	write_delta(w, &w->line, (uint64_t)code->first_line);
	memray_write_varint(w, code->table_length);
	memray_write_raw(w, code->table, code->table_length);
}

void memray_write_trailer(struct memray_writer *w)
{
	if (w->header.is_aggregated)
		memray_write_byte(w, 15);
	else if (is_new(w))
		memray_write_byte(w, 1);
	else if (w->header.version > 7)
		memray_write_byte(w, 0x10);
}

/* ---- streams ----------------------------------------------------------------------------- */

void memray_write_push(struct memray_writer *w, uint64_t id, int32_t offset)
{
	if (!is_new(w)) {
		memray_write_byte(w, 4);
		write_delta(w, &w->frame_id, id);
		return;
	}
	memray_write_byte(w, 0x41);
	memray_write_varint(w, id);
	memray_write_svarint(w, offset);
}

/* The last one that is alike, or how many there are. */
static size_t find_call(const struct memray_writer *w, const char *function, const char *file,
			int32_t line)
{
	size_t i = 0;

	while (i < w->call_count &&
	       (strcmp(w->calls[i].function, function) != 0 ||
		strcmp(w->calls[i].file, file) != 0 || w->calls[i].line != line))
		i++;
	return i;
}

void memray_write_call(struct memray_writer *w, const char *function, const char *file,
		       int32_t line)
{
	/* All eight instructions are of the first line: 0x80 | 13 << 3 | 7, a difference of 0. */
	struct memray_code_text code = { function, file, line, "\xef\x00", 2 };
	size_t id = find_call(w, function, file, line);

	if (id == w->call_count) {
		assert_true(id < MEMRAY_WRITER_CALLS);
		w->calls[id].function = function;
		w->calls[id].file = file;
		w->calls[id].line = line;
		w->call_count++;
		if (is_new(w))
			memray_write_code(w, id, &code);
		else
			memray_write_frame(w, id, function, file, line);
	}
	memray_write_push(w, id, 4);
}

void memray_write_pop(struct memray_writer *w, unsigned count)
{
	assert_in_range(count, 1, 16);
	memray_write_byte(w, is_new(w) ? 0x10 | (count - 1) : (count - 1) << 4 | 9);
}

/* The number of an allocator in the file. */
static unsigned number_of(const struct memray_writer *w, enum memray_allocator allocator)
{
	static const struct {
		enum memray_allocator allocator;
		unsigned old, fresh;
	} numbers[] = {
		{ MEMRAY_MALLOC, 1, 6 },           { MEMRAY_FREE, 2, 5 },
		{ MEMRAY_CALLOC, 3, 8 },           { MEMRAY_REALLOC, 4, 7 },
		{ MEMRAY_POSIX_MEMALIGN, 5, 9 },   { MEMRAY_ALIGNED_ALLOC, 6, 10 },
		{ MEMRAY_MEMALIGN, 7, 11 },        { MEMRAY_VALLOC, 8, 12 },
		{ MEMRAY_PVALLOC, 9, 13 },         { MEMRAY_MMAP, 10, 14 },
		{ MEMRAY_MUNMAP, 11, 15 },         { MEMRAY_PYMALLOC_MALLOC, 12, 2 },
		{ MEMRAY_PYMALLOC_CALLOC, 13, 3 }, { MEMRAY_PYMALLOC_REALLOC, 14, 4 },
		{ MEMRAY_PYMALLOC_FREE, 15, 1 },
	};
	size_t i = 0;

	while (numbers[i].allocator != allocator)
		i++;
	return is_new(w) ? numbers[i].fresh : numbers[i].old;
}

/* Its place among the last ones, or 15 after putting it there. */
static unsigned place_of(struct memray_writer *w, uint64_t address)
{
	for (unsigned i = 0; i < 15; i++)
		if (w->recent[i] == address)
			return i;
	memmove(w->recent + 1, w->recent, 14 * sizeof(w->recent[0]));
	w->recent[0] = address;
	return 15;
}

static bool has_size(enum memray_allocator allocator)
{
	return allocator != MEMRAY_FREE && allocator != MEMRAY_PYMALLOC_FREE;
}

static void write_new_allocation(struct memray_writer *w, enum memray_allocator allocator,
				 uint64_t address, uint64_t size)
{
	unsigned number = number_of(w, allocator), place = place_of(w, address);

	memray_write_byte(w, 0x80 | place << 3 | (number < 8 ? number : 0));
	if (place == 15)
		write_delta(w, &w->address, address >> 3);
	if (number >= 8)
		memray_write_byte(w, number);
	if (!has_size(allocator))
		return;
	if (w->header.has_native_stacks)
		write_delta(w, &w->native, 1);
	memray_write_varint(w, size);
}

void memray_write_allocation(struct memray_writer *w, enum memray_allocator allocator,
			     uint64_t address, uint64_t size)
{
	bool is_native = w->header.has_native_stacks && !tsi_memray_frees(allocator);

	if (is_new(w)) {
		write_new_allocation(w, allocator, address, size);
		return;
	}
	memray_write_byte(w, number_of(w, allocator) << 4 | (is_native ? 2 : 1));
	write_delta(w, &w->address, address);
	if (is_native || has_size(allocator))
		memray_write_varint(w, size);
	if (is_native)
		write_delta(w, &w->native, 1);
}

void memray_write_resident(struct memray_writer *w, uint64_t rss_bytes, uint64_t time_ms)
{
	memray_write_byte(w, is_new(w) ? 2 : 11);
	memray_write_varint(w, rss_bytes);
	memray_write_varint(w, time_ms);
}

void memray_write_object(struct memray_writer *w, uint64_t address, bool is_created)
{
	unsigned place = place_of(w, address);

	memray_write_byte(w, 0x20 | place << 1 | is_created);
	if (place == 15)
		write_delta(w, &w->address, address >> 3);
	if (w->header.has_native_stacks && is_created)
		write_delta(w, &w->native, 1);
}

/* ---- aggregated files -------------------------------------------------------------------- */

void memray_write_code_frame(struct memray_writer *w, uint64_t id, uint64_t code_id, int32_t offset)
{
	memray_write_byte(w, 4);
	memray_write_varint(w, id);
	memray_write_varint(w, code_id);
	memray_write_svarint(w, offset);
	memray_write_byte(w, 1); /* an entry */
}

void memray_write_node(struct memray_writer *w, uint64_t frame_id, uint32_t parent)
{
	memray_write_byte(w, 3);
	if (is_new(w)) {
		memray_write_varint(w, frame_id);
		memray_write_varint(w, parent);
		return;
	}
	memray_write_u64(w, frame_id);
	write_fixed(w, parent, 4);
}

void memray_write_aggregate(struct memray_writer *w, const struct memray_aggregate *sum)
{
	memray_write_byte(w, 2);
	memray_write_u64(w, sum->thread);
	memray_write_byte(w, number_of(w, sum->allocator));
	memray_write_raw(w, "\1\2\3\4\5\6\7", 7); /* what happened to lie between the members */
	memray_write_u64(w, 99);                  /* native stack */
	memray_write_u64(w, sum->node);
	memray_write_u64(w, 1); /* generation of the images */
	memray_write_u64(w, sum->count_at_peak);
	memray_write_u64(w, sum->leaked_count);
	memray_write_u64(w, sum->bytes_at_peak);
	memray_write_u64(w, sum->leaked_bytes);
}

void memray_write_snapshot(struct memray_writer *w, uint64_t time_ms, uint64_t rss_bytes)
{
	memray_write_byte(w, 1);
	memray_write_u64(w, time_ms);
	memray_write_u64(w, rss_bytes);
	memray_write_u64(w, 4711); /* what was allocated then */
}

void memray_write_surviving_object(struct memray_writer *w, uint64_t address)
{
	memray_write_byte(w, 13);
	memray_write_varint(w, address >> 3);
	if (w->header.has_native_stacks)
		memray_write_varint(w, 1);
}
