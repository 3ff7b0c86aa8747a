/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_MEMRAY_LOG_H
#define TSCOPE_TESTS_MEMRAY_LOG_H

#include "memray_writer.h"

/*
 * What was read of a memray capture, as text: a line for each record,
 *
 *	t7 malloc 1000 64 main:3 f:5          thread, kind, address (hex), size, stack
 *	t7 malloc peak 2 128 leaked 1 64 f:5  counts and bytes, stack
 *	rss 4096 at 12
 *
 * Threads by their tid; stacks outermost first, "file/" in front of functions of other files
 * than a.py, "?" for frame 0.
 */
enum { MEMRAY_LOG_BYTES = 1 << 16, MEMRAY_LOG_RECORDS = 1024 };

struct memray_log_record {
	enum { LOG_ALLOCATION, LOG_AGGREGATE, LOG_RESIDENT } kind;
	struct memray_allocation allocation;
	struct memray_aggregate aggregate;
	struct memray_resident resident;
};

struct memray_log {
	struct memray_sink sink;
	struct memray_capture capture;
	enum tscope_status status;
	struct tscope_error err;
	struct memray_log_record records[MEMRAY_LOG_RECORDS];
	size_t count, fail_at; /* fail_at: the record that is refused, from 1; 0: none */
	char text[MEMRAY_LOG_BYTES];
	size_t length;
};

/* Reads in blocks of so many bytes (0: the default), nothing decompressed. One log at a time. */
struct memray_log *memray_log_read(const void *bytes, size_t length, size_t block_bytes);
/* The same of a file, which may be compressed. */
struct memray_log *memray_log_open(const void *bytes, size_t length);
/* The same as the first; the record fail_at is refused with TSCOPE_E_WRITE. */
struct memray_log *memray_log_refuse(const void *bytes, size_t length, size_t fail_at);
void memray_log_free(struct memray_log *log);

/*
 * Reads a capture in blocks of 1, 2, 3, 7 and many bytes, sees that the text and so on come of it
 * each time, and frees it. The second: it is refused, or damaged, after the records of the text.
 */
void memray_expect(struct memray_writer *w, const char *text, bool is_complete,
		   uint64_t dropped_count);
void memray_expect_failure(struct memray_writer *w, enum tscope_status status, const char *message,
			   uint64_t offset, const char *text);

/* Threads precede records, parents nodes, and nothing refers to what is not there. */
void memray_log_check(const struct memray_log *log);

#endif
