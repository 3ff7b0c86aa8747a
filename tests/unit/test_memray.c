/* SPDX-License-Identifier: MIT */
/*
 * decode/records/memray.h on captures of every format, in both forms: the same things written in each
 * must come out alike.
 */
#include "decode/records/memray.h"

#include <stdlib.h>

#include "check.h"
#include "memray_log.h"
#include "memray_writer.h"
#include "packed.h"

static struct memray_writer begin(int32_t version)
{
	struct memray_header header = { .version = version,
					.python_version = 0x030d05f0,
					.start_ms = 1000 };

	return memray_write_header(&header, "x.py");
}

/* ---- streams ----------------------------------------------------------------------------- */

static void write_everything(struct memray_writer *w)
{
	memray_write_resident(w, 4096, 0);
	memray_write_switch(w, 7);
	memray_write_thread_name(w, "MainThread");
	memray_write_map_start(w);
	memray_write_segments(w, "libc.so", 3);
	memray_write_native(w, 0x7f0000001234, 0);
	memray_write_call(w, "main", "a.py", 3);
	memray_write_allocation(w, MEMRAY_MALLOC, 0x7fff00001000, 64);
	memray_write_call(w, "f", "a.py", 5);
	memray_write_allocation(w, MEMRAY_CALLOC, 0x2000, 300);
	memray_write_switch(w, 8);
	memray_write_call(w, "g", "b.py", 9);
	memray_write_allocation(w, MEMRAY_MMAP, 0x7000, 8192);
	memray_write_switch(w, 7);
	memray_write_allocation(w, MEMRAY_POSIX_MEMALIGN, 0x3000, 1);
	memray_write_pop(w, 1); /* f goes on to its next line */
	memray_write_call(w, "f", "a.py", 6);
	memray_write_allocation(w, MEMRAY_FREE, 0x7fff00001000, 0);
	memray_write_allocation(w, MEMRAY_REALLOC, 0x7fff00001000, 0);
	memray_write_native(w, 0x7f0000001239, 1);
	memray_write_allocation(w, MEMRAY_MUNMAP, 0x7000, 4096);
	memray_write_allocation(w, MEMRAY_ALIGNED_ALLOC, 0x4000, UINT64_MAX);
	memray_write_pop(w, 2);
	memray_write_allocation(w, MEMRAY_MEMALIGN, 0x5000, 3);
	memray_write_call(w, "main", "a.py", 3);
	memray_write_allocation(w, MEMRAY_VALLOC, 0x6000, 4);
	memray_write_allocation(w, MEMRAY_PVALLOC, 0x6008, 5);
	memray_write_allocation(w, MEMRAY_PYMALLOC_MALLOC, 0x6010, 6);
	memray_write_allocation(w, MEMRAY_PYMALLOC_CALLOC, 0x6018, 7);
	memray_write_allocation(w, MEMRAY_PYMALLOC_REALLOC, 0x6020, 8);
	memray_write_allocation(w, MEMRAY_PYMALLOC_FREE, 0x6018, 0);
	memray_write_resident(w, 1 << 30, 12345);
	memray_write_resident(w, 1, UINT64_MAX);
	memray_write_thread_name(w, "Main");
	memray_write_switch(w, 8);
	memray_write_allocation(w, MEMRAY_MALLOC, 0x8000, 16);
	memray_write_trailer(w);
	memray_write_zeros(w, 5000);
}

static const char everything[] = "rss 4096 at 0\n"
				 "t7 malloc 7fff00001000 64 main:3\n"
				 "t7 calloc 2000 300 main:3 f:5\n"
				 "t8 mmap 7000 8192 b.py/g:9\n"
				 "t7 posix_memalign 3000 1 main:3 f:5\n"
				 "t7 free 7fff00001000 0 main:3 f:6\n"
				 "t7 realloc 7fff00001000 0 main:3 f:6\n"
				 "t7 munmap 7000 4096 main:3 f:6\n"
				 "t7 aligned_alloc 4000 18446744073709551615 main:3 f:6\n"
				 "t7 memalign 5000 3\n"
				 "t7 valloc 6000 4 main:3\n"
				 "t7 pvalloc 6008 5 main:3\n"
				 "t7 pymalloc_malloc 6010 6 main:3\n"
				 "t7 pymalloc_calloc 6018 7 main:3\n"
				 "t7 pymalloc_realloc 6020 8 main:3\n"
				 "t7 pymalloc_free 6018 0 main:3\n"
				 "rss 1073741824 at 12345\n"
				 "rss 1 at 9223372036854775807\n"
				 "t8 malloc 8000 16 b.py/g:9\n";

TEST(test_streams)
{
	for (int32_t version = 7; version <= 13; version++)
		for (unsigned native = 0; native < 2; native++) {
			struct memray_header header = { .version = version,
							.python_version = 0x030b00f0,
							.end_ms = 1,
							.has_native_stacks = native };
			struct memray_writer w = memray_write_header(&header, "a b");
			write_everything(&w);
			memray_expect(&w, everything, true, 0);
		}
}

/* Threads, frames and nodes, each once and in the order in which they came. */
TEST(test_what_is_kept)
{
	struct memray_writer w = begin(11);

	write_everything(&w);
	struct memray_log *log = memray_log_read(w.bytes, w.length, 0);
	const struct memray_capture *c = &log->capture;

	/* ?, main:3, f:5, g:9, f:6; of these nodes: none, main, main f:5, g, main f:6 */
	assert_int_equal(c->frame_count, 5);
	assert_int_equal(c->node_count, 5);
	assert_int_equal(c->nodes[4].parent, 1);
	assert_int_equal(c->nodes[4].frame, 4);
	assert_int_equal(c->frames[4].line, 6);
	assert_int_equal(c->frames[4].function, c->frames[2].function);
	assert_int_equal(c->thread_count, 2);
	assert_int_equal(c->threads[0].tid, 7);
	assert_string_equal(tsi_intern_text(&c->names, c->threads[0].name).data, "Main");
	assert_int_equal(c->threads[1].tid, 8);
	assert_int_equal(c->threads[1].name, 0);
	/*
	 * 16 allocations, 3 resident, 4 switches, 2 names, 1 map, 1 image (with 3 segments), 2
	 * native stacks, 4 frames, 5 calls, 2 returns, the trailer
	 */
	assert_int_equal(c->record_count, 16 + 3 + 4 + 2 + 1 + 1 + 2 + 4 + 5 + 2 + 1);
	memray_log_free(log);
	memray_writer_deinit(&w);
}

/* ---- encodings, byte by byte ------------------------------------------------------------- */

TEST(test_old_bytes)
{
	struct memray_writer w = begin(9);

	memray_write_switch(&w, 1);
	/* malloc: 0x11; address + 0x1000, zigzag 0x2000, low seven bits first: 0x80 0x40; size 5 */
	memray_write_raw(&w, "\x11\x80\x40\x05", 4);
	/* the registers are those of the file, not of a thread: + 8 is zigzag 16 */
	memray_write_switch(&w, 2);
	memray_write_raw(&w, "\x11\x10\x05", 3);
	/* free: 0x21, no size; - 8 is zigzag 15. munmap 0xb1 has one, of two bytes: 2 * 128 */
	memray_write_raw(&w, "\x21\x0f\xb1\x00\x80\x02", 6);
	/* below 0 and above the last address: - 0x1001 is zigzag 0x2001; then + 2 */
	memray_write_raw(&w, "\x11\x81\x40\x00\x11\x04\x00", 7);
	/* a size of all 64 bits, then one of nine bytes */
	memray_write_raw(&w, "\x11\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12);
	memray_write_raw(&w, "\x11\x00\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11);
	memray_write_raw(&w, "\x10", 1);
	memray_expect(&w,
		      "t1 malloc 1000 5\nt2 malloc 1008 5\nt2 free 1000 0\nt2 munmap 1000 256\n"
		      "t2 malloc ffffffffffffffff 0\nt2 malloc 1 0\n"
		      "t2 malloc 1 18446744073709551615\nt2 malloc 1 9223372036854775807\n",
		      true, 0);
}

TEST(test_new_bytes)
{
	struct memray_writer w = begin(13);

	memray_write_switch(&w, 1);
	/* 0x80 | 15 << 3 | 6: a new address; 0x1000 / 8 = 0x200, zigzag 0x400: 0x80 0x08; malloc */
	memray_write_raw(&w, "\xfe\x80\x08\x05", 4);
	/* 0x80 | 0 << 3 | 5: free of the newest */
	memray_write_raw(&w, "\x85", 1);
	/* 0xf8: a new address, 0x1008 / 8 = 0x201; allocator 14 in the next byte, mmap */
	memray_write_raw(&w, "\xf8\x02\x0e\x07", 4);
	/* 0x88: munmap, by the next byte, of the one before the newest */
	memray_write_raw(&w, "\x88\x0f\x03", 3);
	memray_write_raw(&w, "\x01", 1);
	memray_expect(&w, "t1 malloc 1000 5\nt1 free 1000 0\nt1 mmap 1008 7\nt1 munmap 1000 3\n",
		      true, 0);
}

/* New addresses push the oldest of fifteen out; one that is named again stays where it is. */
TEST(test_recent_addresses)
{
	struct memray_writer w = begin(12);

	memray_write_switch(&w, 1);
	memray_write_raw(&w, "\x86\x09", 2); /* nothing came yet: address 0 */
	for (unsigned i = 1; i <= 16; i++)
		memray_write_raw(&w, "\xfe\x02\x01", 3); /* 8, 16, 24 … 128 */
	memray_write_byte(&w, 0x80 | 0 << 3 | 5);        /* 128 */
	memray_write_byte(&w, 0x80 | 14 << 3 | 5);       /* 128 - 14 * 8 = 16 */
	memray_write_byte(&w, 0x80 | 14 << 3 | 5);       /* again: it did not move */
	memray_write_raw(&w, "\x3e\x02", 2);             /* an object at 136 dies … */
	memray_write_byte(&w, 0x80 | 14 << 3 | 5);       /* … and pushes 16 out: 24 */
	memray_write_byte(&w, 0x20 | 3 << 1 | 1);        /* one is made, at the place of 112 */
	memray_write_byte(&w, 0x80 | 0 << 3 | 5);        /* 136 */
	memray_expect(&w,
		      "t1 malloc 0 9\n"
		      "t1 malloc 8 1\nt1 malloc 10 1\nt1 malloc 18 1\nt1 malloc 20 1\n"
		      "t1 malloc 28 1\nt1 malloc 30 1\nt1 malloc 38 1\nt1 malloc 40 1\n"
		      "t1 malloc 48 1\nt1 malloc 50 1\nt1 malloc 58 1\nt1 malloc 60 1\n"
		      "t1 malloc 68 1\nt1 malloc 70 1\nt1 malloc 78 1\nt1 malloc 80 1\n"
		      "t1 free 80 0\nt1 free 10 0\nt1 free 10 0\nt1 free 18 0\nt1 free 88 0\n",
		      false, 0);
}

/* Objects with native stacks: made ones have one more number, those that die have not. */
TEST(test_objects)
{
	struct memray_header header = { .version = 12, .has_native_stacks = true };
	struct memray_writer w = memray_write_header(&header, "");

	memray_write_object(&w, 0x1000, true);
	memray_write_object(&w, 0x1000, false);
	memray_write_object(&w, 0x2000, false);
	memray_write_object(&w, 0x2000, true);
	memray_write_allocation(&w, MEMRAY_PYMALLOC_MALLOC, 0x2000, 24);
	memray_write_allocation(&w, MEMRAY_PYMALLOC_FREE, 0x1000, 0);
	memray_write_trailer(&w);
	memray_expect(&w, "t0 pymalloc_malloc 2000 24\nt0 pymalloc_free 1000 0\n", true, 0);
}

/* ---- aggregated files -------------------------------------------------------------------- */

static void write_sums(struct memray_writer *w)
{
	struct memray_aggregate first = { .thread = 7,
					  .allocator = MEMRAY_MALLOC,
					  .node = 2,
					  .count_at_peak = 2,
					  .bytes_at_peak = 128,
					  .leaked_count = 1,
					  .leaked_bytes = 64 };
	struct memray_aggregate second = { .thread = 9,
					   .allocator = MEMRAY_MMAP,
					   .bytes_at_peak = UINT64_MAX,
					   .leaked_count = 3 };

	memray_write_aggregate(w, &first);
	memray_write_aggregate(w, &second);
}

/* Frames behind nodes, and their code objects behind them. */
static void write_aggregated(struct memray_writer *w)
{
	/* 0xe8 | 1: code 13, 2 units, a difference of 0; then one of 4 << 1 */
	struct memray_code_text main_code = { "main", "a.py", 3, "\xe9\x00", 2 };
	struct memray_code_text f_code = { "f", "a.py", 5, "\xe9\x00\xe9\x08", 4 };
	bool is_new = w->header.version >= 12;

	memray_write_snapshot(w, 1012, 4096);
	memray_write_snapshot(w, 990, 1);
	memray_write_switch(w, 7);
	memray_write_thread_name(w, "MainThread");
	memray_write_map_start(w);
	memray_write_segments(w, "libc.so", 1);
	memray_write_node(w, UINT64_C(1) << 60, 0);
	memray_write_node(w, 5, 1);
	if (is_new) {
		memray_write_code_frame(w, 5, 300, 5);
		memray_write_code_frame(w, UINT64_C(1) << 60, 400, 0);
		memray_write_code(w, 400, &main_code);
		memray_write_code(w, 300, &f_code);
		memray_write_surviving_object(w, 0x1000);
	} else {
		memray_write_frame(w, 5, "f", "a.py", 9);
		memray_write_frame(w, UINT64_C(1) << 60, "main", "a.py", 3);
	}
	memray_write_native(w, 0x1234, 0);
	write_sums(w);
	memray_write_trailer(w);
	memray_write_zeros(w, 3000);
}

TEST(test_aggregated)
{
	for (int32_t version = 10; version <= 13; version++)
		for (unsigned native = 0; native < 2; native++) {
			struct memray_header header = { .version = version,
							.python_version = 0x030b00f0,
							.is_aggregated = true,
							.has_native_stacks = native,
							.start_ms = 1000 };
			struct memray_writer w = memray_write_header(&header, "");
			write_aggregated(&w);
			memray_expect(&w,
				      "rss 4096 at 12\nrss 1 at -10\n"
				      "t7 malloc peak 2 128 leaked 1 64 main:3 f:9\n"
				      "t9 mmap peak 0 18446744073709551615 leaked 3 0\n",
				      true, 0);
		}
}

/* Nodes and frames that are not there, parents that come later, an allocator that is none. */
TEST(test_aggregated_gaps)
{
	struct memray_aggregate sum = { .thread = 7, .allocator = MEMRAY_MALLOC };
	struct memray_header header = { .version = 11, .is_aggregated = true };

	for (header.version = 11; header.version <= 12; header.version++) {
		struct memray_writer w = memray_write_header(&header, "");
		memray_write_node(&w, 1, 0);
		memray_write_node(&w, 2, 2); /* dropped: node 2 is not there yet */
		memray_write_node(&w, 1, 2);
		memray_write_node(&w, 2, UINT32_MAX); /* dropped */
		if (header.version == 12)
			memray_write_code_frame(&w, 2, 77, 0); /* no code object; frame 1: none */
		sum.node = 3;
		memray_write_aggregate(&w, &sum);
		sum.node = 5;
		memray_write_aggregate(&w, &sum);
		memray_write_aggregate(&w, &sum);
		w.bytes[w.length - 72 + 8] = 99; /* the allocator, behind the tid */
		/* frames 1 and 2, parents of nodes 2 and 4, a node, an allocator */
		memray_expect(&w,
			      "t7 malloc peak 0 0 leaked 0 0 ? ?\nt7 malloc peak 0 0 leaked 0 0\n",
			      false, 2 + 2 + 1 + 1);
	}
}

/* ---- what refers to nothing -------------------------------------------------------------- */

TEST(test_dropped)
{
	for (int32_t version = 7; version <= 13; version++) {
		struct memray_writer w = begin(version);
		memray_write_pop(&w, 1);                             /* dropped: nothing to pop */
		memray_write_allocation(&w, MEMRAY_MALLOC, 0x10, 1); /* before any switch */
		memray_write_push(&w, 12345, 4);                     /* dropped: not described */
		memray_write_allocation(&w, MEMRAY_MALLOC, 0x20, 1);
		memray_write_call(&w, "f", "a.py", 5);
		memray_write_allocation(&w, MEMRAY_MALLOC, 0x30, 1);
		memray_write_pop(&w, 2);
		memray_write_call(&w, "f", "a.py", 5);
		memray_write_pop(&w, 16); /* dropped, but for the first */
		memray_write_allocation(&w, MEMRAY_MALLOC, 0x40, 1);
		/* no such allocator: 0; 99 in the next byte, at a new address 8 further on */
		memray_write_raw(&w, version < 12 ? "\x01\x02\x07" : "\xf8\x02\x63\x07",
				 version < 12 ? 3 : 4);
		memray_expect(
			&w,
			"t0 malloc 10 1\nt0 malloc 20 1 ?\nt0 malloc 30 1 ? f:5\nt0 malloc 40 1\n",
			false, 1 + 1 + 1 + 1);
	}
}

/* An id that is described again means the new one from there on. */
TEST(test_ids_again)
{
	struct memray_code_text first = { "f", "a.py", 5, "\xef\x00", 2 };
	struct memray_code_text second = { "g", "a.py", 9, "\xef\x00", 2 };

	for (int32_t version = 11; version <= 12; version++) {
		struct memray_writer w = begin(version);
		for (unsigned i = 0; i < 2; i++) {
			const struct memray_code_text *code = i ? &second : &first;
			if (version == 12)
				memray_write_code(&w, 1, code);
			else
				memray_write_frame(&w, 1, code->function, code->file,
						   code->first_line);
			memray_write_push(&w, 1, 0);
		}
		memray_write_allocation(&w, MEMRAY_MALLOC, 0x10, 1);
		memray_expect(&w, "t0 malloc 10 1 f:5 g:9\n", false, 0);
	}
}

/* Lines below 1 are none. */
TEST(test_no_lines)
{
	struct memray_writer w = begin(11);

	memray_write_call(&w, "f", "a.py", -5);
	memray_write_call(&w, "g", "a.py", 0);
	memray_write_call(&w, "", "", 1);
	memray_write_allocation(&w, MEMRAY_MALLOC, 0x10, 1);
	memray_expect(&w, "t0 malloc 10 1 f:0 g:0 /:1\n", false, 0);
}

/* Instructions of one line are one frame, and so one stack. */
TEST(test_instructions)
{
	/* units 0 to 7 are of line 5, 8 to 15 of line 6 */
	struct memray_code_text code = { "f", "a.py", 5, "\xef\x00\xef\x02", 4 };
	struct memray_writer w = begin(12);

	memray_write_code(&w, 3, &code);
	for (int32_t offset = -2; offset <= 34; offset += 2) {
		memray_write_push(&w, 3, offset);
		memray_write_pop(&w, 1);
	}
	struct memray_log *log = memray_log_read(w.bytes, w.length, 0);
	assert_int_equal(log->status, TSCOPE_OK);
	assert_int_equal(log->capture.node_count, 4); /* none, line 5, line 6, no line */
	assert_int_equal(log->capture.frames[1].line, 5);
	assert_int_equal(log->capture.frames[2].line, 6);
	assert_int_equal(log->capture.frames[3].line, 0);
	memray_log_free(log);
	memray_writer_deinit(&w);
}

/* ---- the rest ---------------------------------------------------------------------------- */

TEST(test_packed)
{
	struct memray_writer w = begin(12);

	write_everything(&w);
	memray_write_zeros(&w, 1 << 20);
	for (const struct codec *codec = codecs; codec->name; codec++) {
		struct bytes packed = { .data = NULL };
		codec->add(&packed, w.bytes, w.length);
		struct memray_log *log = memray_log_open(packed.data, packed.length);
		assert_int_equal(log->status, TSCOPE_OK);
		assert_string_equal(log->text, everything);
		memray_log_free(log);
		bytes_reset(&packed);
	}
	memray_writer_deinit(&w);
}

TEST(test_allocators)
{
	static const bool frees[MEMRAY_ALLOCATOR_COUNT] = {
		[MEMRAY_FREE] = true, [MEMRAY_MUNMAP] = true, [MEMRAY_PYMALLOC_FREE] = true
	};

	for (unsigned i = 0; i < MEMRAY_ALLOCATOR_COUNT; i++) {
		assert_int_equal(tsi_memray_frees(i), frees[i]);
		assert_true(strlen(tsi_memray_allocator_name(i)) >= 4);
	}
	assert_string_equal(tsi_memray_allocator_name(MEMRAY_POSIX_MEMALIGN), "posix_memalign");
	assert_string_equal(tsi_memray_allocator_name(MEMRAY_ALLOCATOR_COUNT), "unknown");
}

/* Whatever the sink says ends the reading. */
TEST(test_refusing_sink)
{
	for (size_t fail_at = 1; fail_at <= 4; fail_at++)
		for (unsigned form = 0; form < 3; form++) {
			struct memray_header header = { .version = form == 0 ? 11 : 12,
							.is_aggregated = form == 2 };
			struct memray_writer w = memray_write_header(&header, "");
			if (header.is_aggregated)
				write_aggregated(&w);
			else
				write_everything(&w);
			struct memray_log *log = memray_log_refuse(w.bytes, w.length, fail_at);
			assert_int_equal(log->status, TSCOPE_E_WRITE);
			assert_string_equal(log->err.message, "refused");
			assert_int_equal(log->count, fail_at - 1);
			memray_log_free(log);
			memray_writer_deinit(&w);
		}
}
