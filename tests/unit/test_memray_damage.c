/* SPDX-License-Identifier: MIT */
/*
 * Where memray's captures begin and end: headers of every format, trailers, zeros, and damage of
 * all kinds (decode/records/memray.h).
 */
#include "decode/records/memray.h"

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "fail_alloc.h"
#include "memray_log.h"
#include "packed.h"

static struct memray_writer begin(int32_t version)
{
	struct memray_header header = { .version = version, .python_version = 0x030d05f0 };

	return memray_write_header(&header, "x.py");
}

/* ---- headers ----------------------------------------------------------------------------- */

static const struct memray_header full = {
	.python_version = 0x030d05f0,
	.has_native_stacks = true,
	.traces_python_allocators = true,
	.tracks_lifetimes = true,
	.record_count = UINT64_C(0x123456789a),
	.frame_count = 7,
	.start_ms = 1700000000123,
	.end_ms = 1700000004567,
	.pid = 4711,
	.main_tid = UINT64_C(0xfedcba9876543210),
	.skipped_frames = 3,
};

TEST(test_headers)
{
	for (int32_t version = 7; version <= 13; version++) {
		struct memray_header header = full;
		header.version = version;
		header.is_aggregated = version >= 10;
		struct memray_writer w = memray_write_header(&header, "train.py --lr 1");
		struct memray_log *log = memray_log_read(w.bytes, w.length, 1);
		const struct memray_header *h = &log->capture.header;

		assert_int_equal(log->status, TSCOPE_OK);
		assert_int_equal(h->version, version);
		assert_int_equal(h->python_version, version >= 12 ? full.python_version : 0);
		assert_true(h->has_native_stacks);
		assert_int_equal(h->is_aggregated, version >= 10);
		assert_int_equal(h->traces_python_allocators, version >= 11);
		assert_int_equal(h->tracks_lifetimes, version >= 12);
		assert_int_equal(h->record_count, full.record_count);
		assert_int_equal(h->frame_count, full.frame_count);
		assert_int_equal(h->start_ms, full.start_ms);
		assert_int_equal(h->end_ms, full.end_ms);
		assert_int_equal(h->pid, full.pid);
		assert_int_equal(h->main_tid, version >= 9 ? full.main_tid : 0);
		assert_int_equal(h->skipped_frames, version >= 9 ? full.skipped_frames : 0);
		assert_string_equal(tsi_intern_text(&log->capture.names, h->command_line).data,
				    "train.py --lr 1");
		memray_log_free(log);
		memray_writer_deinit(&w);
	}
}

#define OLD(format, memray)                                                                        \
	"a memray capture of format " format ", which memray " memray " writes: too old, "         \
	"formats 7 to 13 are read; capture again with memray 1.1 or later"
#define YOUNG(format)                                                                              \
	"a memray capture of format " format                                                       \
	", which a memray after 1.20 writes: formats 7 to 13 "                                     \
	"are read; run \"memray stats --json FILE\" with the memray that wrote it, and give "      \
	"tscope the file that this makes"

TEST(test_refused_versions)
{
	static const struct {
		int32_t version;
		const char *message;
	} cases[] = {
		{ 6, OLD("6", "1.0") },
		{ 5, OLD("5", "before 1.0") },
		{ INT32_MIN, OLD("-2147483648", "before 1.0") },
		{ 14, YOUNG("14") },
		{ INT32_MAX, YOUNG("2147483647") },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct memray_writer w = begin(cases[i].version);
		memray_expect_failure(&w, TSCOPE_E_UNSUPPORTED, cases[i].message, 0, "");
	}
}

TEST(test_no_captures)
{
	static const struct str cases[] = { { "", 0 },
					    { "memray", 6 },
					    { "memrays\0\0\0\0\0", 12 } };

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct memray_writer w = { .bytes = NULL };
		memray_write_raw(&w, cases[i].data, cases[i].length);
		assert_false(tsi_is_memray(cases[i]));
		memray_expect_failure(&w, TSCOPE_E_FORMAT,
				      "header: does not begin as a capture does", 0, "");
	}
	assert_true(tsi_is_memray((struct str){ "memray\0\5", 8 }));

	struct memray_writer w = begin(11);
	w.bytes[12] = 2; /* behind magic, version and the byte for native stacks: the form */
	memray_expect_failure(&w, TSCOPE_E_DAMAGED, "header: form 2; 0 and 1 are known", 0, "");
}

/* ---- ends -------------------------------------------------------------------------------- */

TEST(test_ends)
{
	static const struct {
		int32_t version;
		int64_t end_ms;
		bool has_trailer;
		size_t zeros;
		bool is_complete;
	} cases[] = {
		{ 7, 0, false, 0, false },     { 7, 5, false, 0, true },
		{ 7, 0, false, 9000, false },  { 7, 5, false, 9000, true },
		{ 8, 5, false, 0, false },     { 8, 0, true, 0, true },
		{ 11, 0, false, 9000, false }, { 11, 5, true, 9000, true },
		{ 12, 0, false, 9000, false }, { 12, 5, true, 9000, true },
		{ 12, 5, false, 0, false },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct memray_header header = { .version = cases[i].version,
						.end_ms = cases[i].end_ms };
		struct memray_writer w = memray_write_header(&header, "");
		memray_write_switch(&w, 1);
		memray_write_allocation(&w, MEMRAY_MALLOC, 0x1000, 8);
		if (cases[i].has_trailer)
			memray_write_trailer(&w);
		memray_write_zeros(&w, cases[i].zeros);
		memray_expect(&w, "t1 malloc 1000 8\n", cases[i].is_complete, 0);
	}
}

/* Zeros between records: filler from format 12 on, and the end before it. */
TEST(test_zeros)
{
	struct memray_writer w = begin(12);

	memray_write_switch(&w, 1);
	memray_write_zeros(&w, 1000);
	memray_write_allocation(&w, MEMRAY_MALLOC, 0x1000, 8);
	memray_write_zeros(&w, 1);
	memray_write_allocation(&w, MEMRAY_MALLOC, 0x2000, 8);
	memray_write_trailer(&w);
	memray_expect(&w, "t1 malloc 1000 8\nt1 malloc 2000 8\n", true, 0);

	w = begin(11);
	memray_write_switch(&w, 1);
	memray_write_allocation(&w, MEMRAY_MALLOC, 0x1000, 8);
	size_t zeros_at = w.length;
	memray_write_zeros(&w, 1000);
	memray_write_allocation(&w, MEMRAY_MALLOC, 0x2000, 8);
	char message[200];
	snprintf(message, sizeof(message),
		 "OTHER record: zeros as at the end of a capture, but more follows at byte %zu",
		 zeros_at + 1000);
	memray_expect_failure(&w, TSCOPE_E_DAMAGED, message, zeros_at, "t1 malloc 1000 8\n");
}

/* What stands behind the trailer does not count. */
TEST(test_behind_the_trailer)
{
	for (int32_t version = 8; version <= 13; version++) {
		struct memray_writer w = begin(version);
		memray_write_trailer(&w);
		memray_write_raw(&w, "\xff\xff\xff", 3);
		memray_expect(&w, "", true, 0);
	}
}

/* ---- cuts and broken records ------------------------------------------------------------- */

/* A capture, and where the records end that the sink gets. */
struct sample {
	struct memray_writer w;
	size_t ends[8], end_count;
};

static void note_end(struct sample *s)
{
	s->ends[s->end_count++] = s->w.length;
}

static void write_sums(struct sample *s)
{
	struct memray_code_text code = { "f", "a.py", 5, "\xef\x00\xef\x02", 4 };
	struct memray_aggregate sum = { .thread = 7,
					.allocator = MEMRAY_MMAP,
					.node = 1,
					.count_at_peak = 1,
					.bytes_at_peak = 300,
					.leaked_count = 1,
					.leaked_bytes = 300 };

	memray_write_snapshot(&s->w, 5, 6);
	note_end(s);
	if (s->w.header.version >= 12) {
		memray_write_code(&s->w, 1000, &code);
		memray_write_code_frame(&s->w, 300, 1000, 300);
		memray_write_surviving_object(&s->w, 0x123456);
	} else {
		memray_write_frame(&s->w, 300, "f", "a.py", 5);
	}
	memray_write_node(&s->w, 300, 0);
	memray_write_aggregate(&s->w, &sum);
	note_end(s);
}

static void write_records(struct sample *s)
{
	memray_write_resident(&s->w, 1 << 20, 1000);
	note_end(s);
	memray_write_call(&s->w, "f", "a.py", 500);
	memray_write_allocation(&s->w, MEMRAY_MALLOC, 0x7f0000001000, 300);
	note_end(s);
	memray_write_allocation(&s->w, MEMRAY_MMAP, 0x7f0000002000, 300);
	note_end(s);
	memray_write_call(&s->w, "g", "a.py", 7);
	if (s->w.header.version >= 12)
		memray_write_object(&s->w, 0x7f0000004000, true);
	memray_write_allocation(&s->w, MEMRAY_FREE, 0x7f0000001000, 0);
	note_end(s);
	memray_write_pop(&s->w, 1);
	memray_write_allocation(&s->w, MEMRAY_MUNMAP, 0x7f0000002000, 300);
	note_end(s);
}

/* Some of everything, so that each kind of record is cut somewhere. */
static struct sample write_some(const struct memray_header *header)
{
	struct sample s = { .w = memray_write_header(header, "x.py") };

	memray_write_switch(&s.w, 7);
	memray_write_thread_name(&s.w, "main");
	memray_write_map_start(&s.w);
	memray_write_segments(&s.w, "libc.so", 2);
	memray_write_native(&s.w, 0x7f0000001234, 300);
	if (header->is_aggregated)
		write_sums(&s);
	else
		write_records(&s);
	return s;
}

/* All forms with and without native stacks; false: there is no such one. */
static bool form(unsigned number, struct memray_header *header)
{
	*header = (struct memray_header){ .version = 7 + (int32_t)(number / 4),
					  .python_version = 0x030c00f0,
					  .is_aggregated = number % 4 / 2 };
	header->has_native_stacks = number % 2;
	return header->version >= 10 || !header->is_aggregated;
}

enum { FORMS = 7 * 4 };

/* The records before the cut arrive, as they would without it, and what is cut is said. */
static void check_cut(const struct sample *s, size_t cut, size_t block_bytes, const char *text)
{
	static const char truncated[] = "truncated: the capture ends inside it";
	char *part = malloc(cut + 1); /* a read behind it is seen */
	size_t count = 0;

	memcpy(part, s->w.bytes, cut);
	struct memray_log *log = memray_log_read(part, cut, block_bytes);
	free(part);
	while (count < s->end_count && s->ends[count] <= cut)
		count++;
	assert_int_equal(log->count, count);
	assert_int_equal(strncmp(log->text, text, log->length), 0);
	assert_false(log->capture.is_complete);
	if (log->status == TSCOPE_E_FORMAT) {
		assert_string_equal(log->err.message, "header: does not begin as a capture does");
		assert_true(cut < 7);
	} else if (log->status != TSCOPE_OK) {
		assert_int_equal(log->status, TSCOPE_E_DAMAGED);
		assert_non_null(strstr(log->err.message, truncated));
		assert_true(log->err.has_offset && log->err.offset < cut);
	}
	memray_log_free(log);
}

TEST(test_cuts)
{
	struct memray_header header;

	for (unsigned number = 0; number < FORMS; number++) {
		if (!form(number, &header))
			continue;
		struct sample s = write_some(&header);
		struct memray_log *log = memray_log_read(s.w.bytes, s.w.length, 0);
		char *text = strdup(log->text);
		assert_int_equal(log->status, TSCOPE_OK);
		memray_log_free(log);
		for (size_t cut = 0; cut < s.w.length; cut++) {
			check_cut(&s, cut, 0, text);
			check_cut(&s, cut, 1, text);
		}
		free(text);
		memray_writer_deinit(&s.w);
	}
}

/* A killed process: zeros behind the cut. They may be taken for the rest of a record, not more. */
TEST(test_cuts_filled_with_zeros)
{
	enum { ZEROS = 300 };
	struct memray_header header;

	for (unsigned number = 0; number < FORMS; number++) {
		if (!form(number, &header))
			continue;
		struct sample s = write_some(&header);
		size_t length = s.w.length + ZEROS, count = 0;
		char *part = calloc(length, 1);
		for (size_t cut = 0; cut < s.w.length; cut++) {
			struct memray_log *log = memray_log_read(part, length, 7);
			while (count < s.end_count && s.ends[count] <= cut)
				count++;
			assert_false(log->capture.is_complete);
			assert_in_range(log->count, count, count + 1);
			memray_log_free(log);
			part[cut] = s.w.bytes[cut];
		}
		free(part);
		memray_writer_deinit(&s.w);
	}
}

#define TEN "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"

/*
 * Records behind a switch, and what is said of them. Of format 11 they begin at byte 81: 7 + 4 for
 * magic and version, 2, 4 * 8, 5 for "x.py", 4, 2 * 8, 2; then 9 of the switch.
 */
static const struct {
	int32_t version;
	bool is_aggregated;
	const char *bytes;
	size_t length;
	const char *message;
} broken[] = {
#define BROKEN(bytes) bytes, sizeof(bytes) - 1
	{ 11, false, BROKEN("\x0d"), "record: byte 0x0d begins none of format 11" },
	{ 11, false, BROKEN("\x08"), "record: byte 0x08 begins none of format 11" },
	{ 11, false, BROKEN("\x20"), "OTHER record: of unknown kind 2" },
	{ 11, false, BROKEN("\x11" TEN "\x00"),
	  "ALLOCATION record: a number of more than 64 bits" },
	{ 11, false, BROKEN("\x12\x00" TEN "\x00"),
	  "ALLOCATION_WITH_NATIVE record: a number of more than 64 bits" },
	{ 11, false,
	  BROKEN("\x07x\0\x02"
		 "12345678"
		 "\x08"
		 "12345678"
		 "\x00\x09"),
	  "SEGMENT_HEADER record: byte 0x09 where a SEGMENT begins" },
	{ 12, false, BROKEN("\x0b"), "record: byte 0x0b begins none of format 12" },
	{ 12, false, BROKEN("\x86" TEN "\x00"),
	  "ALLOCATION record: a number of more than 64 bits" },
	{ 12, false, BROKEN("\x41" TEN "\x00"),
	  "FRAME_PUSH record: a number of more than 64 bits" },
	{ 12, false,
	  BROKEN("\x0e\x00"
		 "f\0g\0"
		 "\x00\x80\x80\x80\x08"),
	  "CODE_OBJECT record: truncated: the capture ends inside it" },
	{ 12, false,
	  BROKEN("\x0e\x00"
		 "f\0g\0"
		 "\x00\x81\x80\x80\x08"),
	  "CODE_OBJECT record: a line table of more than 16777216 bytes (limit: table bytes)" },
	{ 11, true, BROKEN("\x0d"),
	  "SURVIVING_OBJECT record: truncated: the capture ends inside it" },
	{ 11, true, BROKEN("\x09"), "record: byte 0x09 begins none of format 11" },
	{ 11, true, BROKEN("\x10"), "record: byte 0x10 begins none of format 11" },
	{ 11, true, BROKEN("\x00\x0f"),
	  "OTHER record: zeros as at the end of a capture, but more follows at byte 82" },
};

TEST(test_broken)
{
	for (size_t i = 0; i < TSI_COUNT_OF(broken); i++) {
		struct memray_header header = { .version = broken[i].version,
						.is_aggregated = broken[i].is_aggregated };
		struct memray_writer w = memray_write_header(&header, "x.py");
		memray_write_switch(&w, 7);
		size_t at = w.length;
		bool is_limit = strstr(broken[i].message, "limit") != NULL;
		memray_write_raw(&w, broken[i].bytes, broken[i].length);
		memray_expect_failure(&w, is_limit ? TSCOPE_E_LIMIT : TSCOPE_E_DAMAGED,
				      broken[i].message, at, "");
	}
}

/* A text that is longer than what is shown, however much that is. */
TEST(test_texts_in_blocks)
{
	char text[500];

	for (size_t length = 80; length < sizeof(text); length++) {
		memset(text, 'x', length);
		text[length] = '\0';
		struct memray_writer w = begin(11);
		memray_write_switch(&w, 7);
		memray_write_call(&w, text, "a.py", 7);
		memray_write_allocation(&w, MEMRAY_MALLOC, 0x1000, 8);
		for (size_t block_bytes = 1; block_bytes < 130; block_bytes += 32) {
			struct memray_log *log = memray_log_read(w.bytes, w.length, block_bytes);
			assert_int_equal(log->count, 1);
			assert_string_equal(tsi_intern_text(&log->capture.names,
							    log->capture.frames[1].function)
						    .data,
					    text);
			memray_log_free(log);
		}
		memray_writer_deinit(&w);
	}
}

/* A text may have 4 MiB and no more, whether its end is shown or not. */
TEST(test_long_texts)
{
	enum { LIMIT = 4 << 20 };
	char *text = malloc(LIMIT + 2);

	memset(text, 'x', LIMIT + 1);
	text[LIMIT + 1] = '\0';
	for (size_t more = 0; more < 2; more++) {
		text[LIMIT + more] = '\0';
		struct memray_writer w = begin(11);
		memray_write_switch(&w, 7);
		memray_write_thread_name(&w, text);
		text[LIMIT + more] = 'x';
		struct memray_log *log = memray_log_read(w.bytes, w.length, 0);
		assert_int_equal(log->status, more ? TSCOPE_E_LIMIT : TSCOPE_OK);
		if (more)
			assert_string_equal(log->err.message,
					    "THREAD_RECORD record: a text of more than 4194304 "
					    "bytes (limit: text bytes)");
		memray_log_free(log);
		memray_writer_deinit(&w);
	}
	free(text);
}

/* A million threads, and one more. */
TEST(test_many_threads)
{
	enum { LIMIT = 1 << 20 };
	struct memray_writer w = begin(12);

	for (uint64_t tid = 0; tid < LIMIT; tid++)
		memray_write_switch(&w, tid);
	struct memray_log *log = memray_log_read(w.bytes, w.length, 0);
	assert_int_equal(log->status, TSCOPE_OK);
	assert_int_equal(log->capture.thread_count, LIMIT);
	assert_int_equal(log->capture.threads[LIMIT - 1].tid, LIMIT - 1);
	memray_log_free(log);

	memray_write_switch(&w, LIMIT);
	log = memray_log_read(w.bytes, w.length, 0);
	assert_int_equal(log->status, TSCOPE_E_LIMIT);
	assert_string_equal(log->err.message,
			    "CONTEXT_SWITCH record: more than 1048576 threads (limit: threads)");
	memray_log_free(log);
	memray_writer_deinit(&w);
}

/*
 * Compressed data that breaks: the records before it arrive, and the error is the input's, not
 * that the capture ends inside a record.
 */
TEST(test_broken_input)
{
	enum { STEP = 13 };
	struct memray_header header = { .version = 12 };
	struct sample s = write_some(&header);

	memray_write_zeros(&s.w, 1 << 20); /* more than a block of any codec */
	for (const struct codec *codec = codecs; codec->name; codec++) {
		struct bytes packed = { .data = NULL };
		codec->add(&packed, s.w.bytes, s.w.length);
		for (size_t cut = packed.length - 1; cut > STEP; cut -= STEP) {
			struct memray_log *log = memray_log_open(packed.data, cut);
			assert_int_equal(log->status, TSCOPE_E_DAMAGED);
			assert_ptr_equal(strstr(log->err.message, codec->name), log->err.message);
			assert_true(log->count <= s.end_count);
			if (cut == packed.length - 1)
				assert_int_equal(log->count, s.end_count);
			memray_log_free(log);
		}
		bytes_reset(&packed);
	}
	memray_writer_deinit(&s.w);
}

/* Each allocation fails once; all is freed. */
TEST(test_no_memory)
{
	struct memray_header header;

	for (unsigned number = 0; number < FORMS; number++) {
		if (!form(number, &header))
			continue;
		struct sample s = write_some(&header);
		struct alloc_sweep sweep = { .at_least = 5 };
		while (alloc_sweep_next(&sweep)) {
			alloc_sweep_start(&sweep);
			struct memray_log *log = memray_log_read(s.w.bytes, s.w.length, 0);
			bool has_failed = alloc_sweep_stop(&sweep);
			assert_int_equal(log->status, has_failed ? TSCOPE_E_NOMEM : TSCOPE_OK);
			memray_log_free(log);
		}
		memray_writer_deinit(&s.w);
	}
}
