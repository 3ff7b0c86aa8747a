/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_MEMRAY_WRITER_H
#define TSCOPE_TESTS_MEMRAY_WRITER_H

#include "decode/records/memray.h"

/*
 * Writes captures of memray as memray does, of every format that is read, in memory:
 *
 *	struct memray_header header = { .version = 12 };
 *	struct memray_writer w = memray_write_header(&header, "train.py");
 *	memray_write_switch(&w, 1);
 *	memray_write_call(&w, "f", "a.py", 7);
 *	memray_write_allocation(&w, MEMRAY_MALLOC, 0x1000, 64);
 *	memray_write_trailer(&w);
 *	… w.bytes, w.length …
 *	memray_writer_deinit(&w);
 *
 * Its tables are its own, so that it does not make the mistakes of the reader.
 */
enum { MEMRAY_WRITER_CALLS = 64 };

struct memray_code_text {
	const char *function, *file;
	int32_t first_line;
	const char *table; /* any bytes */
	size_t table_length;
};

struct memray_writer {
	char *bytes;
	size_t length, capacity;
	struct memray_header header;
	uint64_t address, instruction, native, frame_id, line; /* the last of each */
	uint64_t recent[15];                                   /* the newest first */
	struct {
		const char *function, *file;
		int32_t line;
	} calls[MEMRAY_WRITER_CALLS]; /* that memray_write_call() described */
	size_t call_count;
};

/* Begins a capture; of the header command_line is not used. */
struct memray_writer memray_write_header(const struct memray_header *header,
					 const char *command_line);
void memray_writer_deinit(struct memray_writer *w);

/* ---- parts, for what memray would not write ---------------------------------------------- */

void memray_write_raw(struct memray_writer *w, const void *bytes, size_t length);
void memray_write_byte(struct memray_writer *w, unsigned byte);
void memray_write_varint(struct memray_writer *w, uint64_t value);
void memray_write_svarint(struct memray_writer *w, int64_t value);
void memray_write_u64(struct memray_writer *w, uint64_t value);
void memray_write_zeros(struct memray_writer *w, size_t count);

/* ---- all forms --------------------------------------------------------------------------- */

void memray_write_switch(struct memray_writer *w, uint64_t tid);
void memray_write_thread_name(struct memray_writer *w, const char *name);
void memray_write_native(struct memray_writer *w, uint64_t instruction, uint64_t parent);
void memray_write_map_start(struct memray_writer *w);
void memray_write_segments(struct memray_writer *w, const char *file, unsigned count);
/* Before format 12: also the frame of an aggregated file. */
void memray_write_frame(struct memray_writer *w, uint64_t id, const char *function,
			const char *file, int32_t line);
/* From format 12 on. */
void memray_write_code(struct memray_writer *w, uint64_t id, const struct memray_code_text *code);
void memray_write_trailer(struct memray_writer *w);

/* ---- streams ----------------------------------------------------------------------------- */

/* A frame's id; from format 12 on a code object's, and the instruction. */
void memray_write_push(struct memray_writer *w, uint64_t id, int32_t offset);
/* The same of a frame that is described where it comes first. The texts must stay. */
void memray_write_call(struct memray_writer *w, const char *function, const char *file,
		       int32_t line);
void memray_write_pop(struct memray_writer *w, unsigned count); /* 1 to 16 */
/* With the native stack 1 where the header says so, but for those that free. */
void memray_write_allocation(struct memray_writer *w, enum memray_allocator allocator,
			     uint64_t address, uint64_t size);
void memray_write_resident(struct memray_writer *w, uint64_t rss_bytes, uint64_t time_ms);
/* From format 12 on. */
void memray_write_object(struct memray_writer *w, uint64_t address, bool is_created);

/* ---- aggregated files -------------------------------------------------------------------- */

/* From format 12 on; before it memray_write_frame(). */
void memray_write_code_frame(struct memray_writer *w, uint64_t id, uint64_t code_id,
			     int32_t offset);
/* Nodes have the numbers 1, 2, 3 …; 0 is the empty stack. */
void memray_write_node(struct memray_writer *w, uint64_t frame_id, uint32_t parent);
/* sum->thread is the tid. */
void memray_write_aggregate(struct memray_writer *w, const struct memray_aggregate *sum);
void memray_write_snapshot(struct memray_writer *w, uint64_t time_ms, uint64_t rss_bytes);
void memray_write_surviving_object(struct memray_writer *w, uint64_t address);

#endif
