/* SPDX-License-Identifier: MIT */
/* Facts and tables of memray captures and of memray's own statistics; stacks for flame graphs. */
#include "analysis_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "memray_writer.h"

#define ALL                                                                                        \
	"host_memory: path command pid python_version capture_ns is_aggregated is_complete "       \
	"has_native_stacks traces_python_allocators allocation_count allocated_bytes peak_bytes "  \
	"peak_allocation_count leaked_bytes leaked_count temporary_count temporary_bytes "         \
	"temporary_ratio thread_count site_count unmatched_free_count replaced_count "             \
	"middle_bytes growth_bytes peak_rss_bytes first_rss_bytes last_rss_bytes "                 \
	"rss_growth_bytes rss_growth_ratio rss_growth_bytes_per_second rss_rising_ratio"
#define SITES                                                                                      \
	": site total_bytes count peak_bytes leaked_bytes leaked_count growth_bytes "              \
	"temporary_count"

enum { SECONDS = 160 };

/*
 * 160 s, of which the resident memory rises by 10 bytes a second; see test_resident.c for what
 * that makes. main (line 40) calls step (7) and load (12); a thread without Python takes 5.
 */
static struct memray_writer write_capture(int32_t version)
{
	const struct memray_header header = {
		.version = version,
		.python_version = 0x030c04f0,
		.start_ms = 1000,
		.end_ms = 1000 + 1000 * (SECONDS - 1),
		.pid = 4711,
		.main_tid = 1,
	};
	struct memray_writer w = memray_write_header(&header, "python train.py");

	memray_write_switch(&w, 1);
	memray_write_thread_name(&w, "MainThread");
	memray_write_call(&w, "main", "/home/u/train.py", 40);
	memray_write_call(&w, "step", "/home/u/train.py", 7);
	memray_write_allocation(&w, MEMRAY_MALLOC, 0x1000, 100);
	memray_write_allocation(&w, MEMRAY_CALLOC, 0x2000, 50);
	memray_write_allocation(&w, MEMRAY_FREE, 0x1000, 0);
	memray_write_allocation(&w, MEMRAY_FREE, 0x9000, 0);
	for (uint64_t i = 0; i < SECONDS / 2; i++)
		memray_write_resident(&w, 1000 + 10 * i, 1000 * i);
	memray_write_pop(&w, 1);
	memray_write_call(&w, "load", "/home/u/data.py", 12);
	memray_write_allocation(&w, MEMRAY_MALLOC, 0x3000, 30);
	memray_write_switch(&w, 2);
	memray_write_allocation(&w, MEMRAY_MMAP, 0x10000, 5);
	for (uint64_t i = SECONDS / 2; i < SECONDS; i++)
		memray_write_resident(&w, 1000 + 10 * i, 1000 * i);
	return w;
}

static struct analyzed *analyze_writer(struct memray_writer w,
				       const struct tscope_analysis_options *options)
{
	struct analyzed *a;

	memray_write_trailer(&w);
	a = analyze_memory_file(w.bytes, w.length, options);
	memray_writer_deinit(&w);
	return a;
}

/*
 * Peak 100 + 50 in step. Never freed 50 + 30 + 5. In the middle, second 79.5, that is the
 * record of second 80, all 85 are live. 100 was freed after one more allocation.
 * Growth 700 of 1800 in 69.559 s (test_resident.c).
 */
TEST(facts_of_a_capture)
{
	struct analyzed *a = analyze_writer(write_capture(12), NULL);

	check_doubt(a, "host_memory.leaked_bytes", NULL);
	check_facts(a, ALL,
		    "test python train.py 4711 3.12.4 159000000000 no yes no no 4 185 150 2 85 3 "
		    "1 100 0.25 2 3 1 0 85 0 2590 1000 2590 700 0.388889 10.0634 1");
	check_table(a, "host_memory.by_bytes" SITES,
		    "/home/u/train.py:7:step 150 2 150 50 1 0 1\n"
		    "/home/u/data.py:12:load 30 1 0 30 1 0 0\n"
		    " 5 1 0 5 1 0 0\n");
	check_table(a, "host_memory.by_peak: site peak_bytes", "/home/u/train.py:7:step 150\n");
	check_table(a, "host_memory.by_leak: site leaked_bytes",
		    "/home/u/train.py:7:step 50\n/home/u/data.py:12:load 30\n 5\n");
	check_table(a, "host_memory.by_count: site count",
		    "/home/u/train.py:7:step 2\n 1\n/home/u/data.py:12:load 1\n");
	check_table(a, "host_memory.by_growth: site growth_bytes", "");
	check_table(a, "host_memory.by_allocator: allocator count bytes",
		    "malloc 2 130\ncalloc 1 50\nmmap 1 5\n");
	check_table(a, "host_memory.by_size: min_bytes max_bytes count",
		    "4 7 1\n16 31 1\n32 63 1\n64 127 1\n");
	check_table(a, "host_memory.by_thread: thread count total_bytes peak_bytes",
		    "MainThread 3 180 150\nthread 2 1 5 0\n");
}

/* Of 160 points 64 rows are 2 or 3 points each: row r ends before point (r + 1) · 160 ÷ 64. */
TEST(time_is_told_in_few_rows)
{
	struct analyzed *a = analyze_writer(write_capture(11), NULL);
	char expected[64 * 64] = "";
	size_t length = 0;

	for (int row = 0; row < 64; row++) {
		int last = (row + 1) * SECONDS / 64 - 1;

		length += (size_t)snprintf(expected + length, sizeof(expected) - length,
					   "%d000000000 %d %d\n", last, 1000 + 10 * last,
					   last < SECONDS / 2 ? 50 : 85);
	}
	check_table(a, "host_memory.resident: time_ns rss_bytes heap_bytes", expected);
}

/* What came after the middle and stayed: 30 and 5. */
TEST(growth_is_by_site)
{
	const struct memray_header header = { .version = 12, .start_ms = 0, .end_ms = 100 };
	struct memray_writer w = memray_write_header(&header, "");

	memray_write_switch(&w, 1);
	memray_write_call(&w, "early", "/a.py", 1);
	memray_write_allocation(&w, MEMRAY_MALLOC, 16, 1000);
	memray_write_allocation(&w, MEMRAY_MALLOC, 32, 400);
	memray_write_resident(&w, 1, 60);
	memray_write_allocation(&w, MEMRAY_MALLOC, 48, 5);
	memray_write_allocation(&w, MEMRAY_FREE, 32, 0);
	memray_write_pop(&w, 1);
	memray_write_call(&w, "late", "/a.py", 9);
	memray_write_allocation(&w, MEMRAY_MALLOC, 64, 30);
	struct analyzed *a = analyze_writer(w, NULL);
	check_facts(a, "host_memory: middle_bytes growth_bytes leaked_bytes", "1400 -365 1035");
	check_table(a, "host_memory.by_growth: site growth_bytes leaked_bytes",
		    "/a.py:9:late 30 30\n");
	check_table(a, "host_memory.by_leak: site growth_bytes leaked_bytes",
		    "/a.py:1:early -395 1005\n/a.py:9:late 30 30\n");
}

TEST(sites_may_show_callers_and_hide_others)
{
	const struct {
		struct tscope_analysis_options options;
		const char *expected;
	} cases[] = {
		{ { .stack_depth = 2 },
		  "/home/u/train.py:7:step < /home/u/train.py:40:main 150\n"
		  "/home/u/data.py:12:load < /home/u/train.py:40:main 30\n 5\n" },
		{ { .stack_depth = 64 },
		  "/home/u/train.py:7:step < /home/u/train.py:40:main 150\n"
		  "/home/u/data.py:12:load < /home/u/train.py:40:main 30\n 5\n" },
		{ { .stack_filter = "data.py" }, "(other) 155\n/home/u/data.py:12:load 30\n" },
		{ { .stack_filter = "main" },
		  "/home/u/train.py:7:step 150\n/home/u/data.py:12:load 30\n(other) 5\n" },
		{ { .stack_filter = "nowhere" }, "(other) 185\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct analyzed *a = analyze_writer(write_capture(12), &cases[i].options);

		check_table(a, "host_memory.by_bytes: site total_bytes", cases[i].expected);
	}
}

/* Frames that differ in what is not shown, here as entries of threads, are one site. */
TEST(a_site_is_its_text)
{
	const struct memray_header header = { .version = 11 };
	struct memray_writer w = memray_write_header(&header, "");

	memray_write_switch(&w, 1);
	memray_write_frame(&w, 1, "f", "a.py", 0);
	memray_write_frame(&w, 2, "f", "a.py", 0);
	memray_write_push(&w, 1, 0);
	memray_write_allocation(&w, MEMRAY_MALLOC, 16, 1);
	memray_write_push(&w, 2, 0);
	memray_write_allocation(&w, MEMRAY_MALLOC, 32, 2);
	struct analyzed *a = analyze_writer(w, NULL);
	check_table(a, "host_memory.by_bytes: site total_bytes count", "a.py:f 3 2\n");
}

TEST(a_capture_of_sums_has_no_totals)
{
	const struct memray_header header = { .version = 11,
					      .is_aggregated = true,
					      .has_native_stacks = true,
					      .start_ms = 1000,
					      .end_ms = 3000,
					      .pid = 5 };
	const struct memray_aggregate sums[] = {
		{ 2, 1, 300, 100, 1, 1, MEMRAY_MALLOC },
		{ 1, 0, 50, 0, 2, 0, MEMRAY_MMAP },
		{ 0, 1, 0, 7, 3, 0, MEMRAY_MMAP }, /* came after the peak */
	};
	struct memray_writer w = memray_write_header(&header, "x");

	memray_write_frame(&w, 8, "f", "a.py", 3);
	memray_write_node(&w, 8, 0);
	for (size_t i = 0; i < TSI_COUNT_OF(sums); i++)
		memray_write_aggregate(&w, &sums[i]);
	struct analyzed *a = analyze_writer(w, NULL);
	check_facts(a, ALL,
		    "test x 5 - 2000000000 yes yes yes no - - 350 3 107 2 - - - 3 2 - - - - - - - "
		    "- - - -");
	check_table(a, "host_memory.by_peak" SITES,
		    "a.py:3:f - - 300 100 1 - -\n - - 50 7 1 - -\n");
	check_table(a, "host_memory.by_bytes" SITES, "");
	check_table(a, "host_memory.by_allocator: allocator", "");
	check_table(a, "host_memory.by_thread: thread count total_bytes peak_bytes",
		    "thread 1 - - 300\nthread 2 - - 50\nthread 3 - - 0\n");
}

/* Without an end there is no middle; the last record tells how long it ran at least. */
TEST(a_killed_process_has_no_middle)
{
	const struct memray_header header = { .version = 12, .start_ms = 1000 };
	struct memray_writer w = memray_write_header(&header, "x");
	struct tscope_memory *memory;

	memray_write_switch(&w, 1);
	memray_write_allocation(&w, MEMRAY_MALLOC, 16, 100);
	memray_write_resident(&w, 7, 1500);
	memray_write_zeros(&w, 5000);
	assert_int_equal(tscope_memory_open_memory(&memory, "test", w.bytes, w.length, NULL, NULL),
			 TSCOPE_OK);
	const struct tscope_memory_info *info = tscope_memory_info(memory);
	assert_null(info->damage);
	assert_non_null(strstr(info->note, "the process was killed or is running"));
	assert_int_equal(info->bytes, w.length);
	assert_string_equal(info->form, "memray");
	tscope_memory_free(memory);
	struct analyzed *a = analyze_memory_file(w.bytes, w.length, NULL);
	check_facts(a, "host_memory: capture_ns is_complete leaked_bytes middle_bytes growth_bytes",
		    "1500000000 no 100 - -");
	check_doubt(a, "host_memory.leaked_bytes",
		    "the capture has no end: its process was killed or is running, or the file is "
		    "cut");
	check_doubt(a, "host_memory.peak_bytes", NULL);
	memray_writer_deinit(&w);
}

/* In the middle of the last record: what came before it counts. */
TEST(a_cut_capture_is_damaged)
{
	struct memray_writer w = write_capture(12);
	struct tscope_memory *memory;

	assert_int_equal(
		tscope_memory_open_memory(&memory, "test", w.bytes, w.length - 1, NULL, NULL),
		TSCOPE_OK);
	const struct tscope_memory_info *info = tscope_memory_info(memory);
	assert_non_null(info->damage);
	assert_int_equal(info->damage->status, TSCOPE_E_DAMAGED);
	assert_true(info->damage->has_offset);
	assert_string_equal(info->note, "");
	tscope_memory_free(memory);
	memray_writer_deinit(&w);
}

static const char stats[] =
	"{\"total_num_allocations\": 150, \"total_bytes_allocated\": 20000,"
	" \"allocation_size_histogram\": [{\"min_bytes\": 0, \"max_bytes\": 99, \"count\": 150}],"
	" \"allocator_type_distribution\": {\"MMAP\": 1, \"MALLOC\": 149},"
	" \"top_allocations_by_size\": [{\"location\": \"f:a.py:4\", \"size\": 15000},"
	"  {\"location\": \"g:a.py:9\", \"size\": 3000}],"
	" \"top_allocations_by_count\": [{\"location\": \"h:a.py:7\", \"count\": 100},"
	"  {\"location\": \"f:a.py:4\", \"count\": 30}],"
	" \"metadata\": {\"start_time\": \"2026-01-01 00:00:00\","
	"  \"end_time\": \"2026-01-01 00:02:00\", \"peak_memory\": 9000, \"pid\": 77,"
	"  \"command_line\": \"x\", \"has_native_traces\": true}}";

TEST(memrays_own_figures)
{
	struct analyzed *a = analyze_memory_file(stats, sizeof(stats) - 1, NULL);

	check_facts(a, ALL,
		    "test x 77 - 120000000000 - - yes - 150 20000 9000 - - - - - - - - - - - - - "
		    "- - - - - -");
	check_table(a, "host_memory.by_bytes" SITES,
		    "a.py:4:f 15000 30 - - - - -\na.py:9:g 3000 - - - - - -\n");
	check_table(a, "host_memory.by_count: site count total_bytes",
		    "a.py:7:h 100 -\na.py:4:f 30 15000\n");
	check_table(a, "host_memory.by_allocator: allocator count bytes",
		    "malloc 149 -\nmmap 1 -\n");
	check_table(a, "host_memory.by_size: min_bytes max_bytes count", "0 99 150\n");
}

/* 300 sites; the tables have the first 200 by each figure. */
TEST(tables_of_sites_are_cut)
{
	const struct memray_header header = { .version = 11 };
	struct memray_writer w = memray_write_header(&header, "");
	char expected[200 * 32] = "";
	size_t length = 0;

	memray_write_switch(&w, 1);
	for (int i = 1; i <= 300; i++) {
		memray_write_frame(&w, (uint64_t)i, "f", "a.py", i);
		memray_write_push(&w, (uint64_t)i, 0);
		memray_write_allocation(&w, MEMRAY_MALLOC, 16 * (uint64_t)i, (uint64_t)i);
		memray_write_pop(&w, 1);
	}
	for (int i = 300; i > 100; i--)
		length += (size_t)snprintf(expected + length, sizeof(expected) - length,
					   "a.py:%d:f %d\n", i, i);
	struct analyzed *a = analyze_writer(w, NULL);
	check_facts(a, "host_memory: site_count", "300");
	check_table(a, "host_memory.by_bytes: site total_bytes", expected);
}

/* ---- stacks ---- */

static void check_stacks(const void *bytes, size_t length, enum tscope_memory_moment moment,
			 const char *expected)
{
	struct tscope_memory *memory;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(tscope_memory_open_memory(&memory, "test", bytes, length, NULL, NULL),
			 TSCOPE_OK);
	assert_int_equal(tscope_memory_write_stacks(out, memory, moment, NULL), TSCOPE_OK);
	fclose(out);
	assert_string_equal(text, expected);
	tscope_memory_free(memory);
	free(text);
}

TEST(stacks_go_into_flame_graphs)
{
	struct memray_writer w = write_capture(12);

	memray_write_trailer(&w);
	check_stacks(w.bytes, w.length, TSCOPE_MEMORY_AT_PEAK,
		     "train.py:40:main;train.py:7:step 150\n");
	check_stacks(w.bytes, w.length, TSCOPE_MEMORY_AT_END,
		     "(no stack) 5\ntrain.py:40:main;data.py:12:load 30\n"
		     "train.py:40:main;train.py:7:step 50\n");
	memray_writer_deinit(&w);
}

/* A name cannot end a frame, a stack or a line. */
TEST(names_are_made_harmless)
{
	const struct memray_header header = { .version = 12 };
	struct memray_writer w = memray_write_header(&header, "");

	memray_write_switch(&w, 1);
	memray_write_call(&w, "a;b\nc", "C:\\u\\x;\x1b.py", 3);
	memray_write_allocation(&w, MEMRAY_MALLOC, 16, 100);
	memray_write_trailer(&w);
	check_stacks(w.bytes, w.length, TSCOPE_MEMORY_AT_PEAK, "x: .py:3:a:b c 100\n");
	memray_writer_deinit(&w);
}

TEST(statistics_have_no_stacks)
{
	struct tscope_error err = { 0 };
	struct tscope_memory *memory;

	assert_int_equal(
		tscope_memory_open_memory(&memory, "test", stats, sizeof(stats) - 1, NULL, NULL),
		TSCOPE_OK);
	assert_int_equal(tscope_memory_write_stacks(stdout, memory, TSCOPE_MEMORY_AT_PEAK, &err),
			 TSCOPE_E_FORMAT);
	assert_non_null(strstr(err.message, "a file of memray's statistics holds no stacks"));
	tscope_memory_free(memory);
}

/* ---- memory ends ---- */

static enum tscope_status go_all_the_way(const struct memray_writer *w, FILE *out,
					 struct tscope_error *err)
{
	const struct tscope_analysis_options options = { .stack_depth = 2, .stack_filter = "main" };
	const struct tscope_trace_options single = { .thread_count = 1 };
	struct tscope_analysis *analysis = NULL;
	struct tscope_memory *memory = NULL;
	enum tscope_status status =
		tscope_memory_open_memory(&memory, "test", w->bytes, w->length, &single, err);

	if (status == TSCOPE_OK)
		status = tscope_memory_analyze(&analysis, memory, NULL, &options, err);
	if (status == TSCOPE_OK)
		status = tscope_memory_write_stacks(out, memory, TSCOPE_MEMORY_AT_END, err);
	tscope_analysis_free(analysis);
	tscope_memory_free(memory);
	return status;
}

TEST(every_allocation_may_fail)
{
	struct memray_writer w = write_capture(12);
	FILE *out = fopen("/dev/null", "w");

	assert_non_null(out);
	memray_write_trailer(&w);
	struct alloc_sweep sweep = { .at_least = 50 };
	while (alloc_sweep_next(&sweep))
		alloc_sweep_try(&sweep, go_all_the_way(&w, out, &sweep.err));
	fclose(out);
	memray_writer_deinit(&w);
}
