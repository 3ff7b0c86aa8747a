/* SPDX-License-Identifier: MIT */
/* What `memray stats --json` writes, read into the model of a capture. */
#include "model/memory/host_memory.h"

#include <stdio.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "plain_text.h"

#define TOTALS "total_num_allocations: 150, total_bytes_allocated: 20000"
#define STATS                                                                                      \
	"{" TOTALS ", allocation_size_histogram: ["                                                \
	"{min_bytes: 0, max_bytes: 99, count: 140}, {min_bytes: 100, max_bytes: 4095, count: 0},"  \
	"{min_bytes: 4096, max_bytes: 9000, count: 10}],"                                          \
	"allocator_type_distribution: {MALLOC: 120, PYMALLOC_CALLOC: 29, MMAP: 1},"                \
	"top_allocations_by_size: [{location: 'step:/home/u/train.py:41', size: 15000},"           \
	"{location: '<stack trace unavailable>', size: 4000}],"                                    \
	"top_allocations_by_count: [{location: 'load:C:\\\\u\\\\data.py:7', count: 100},"          \
	"{location: 'step:/home/u/train.py:41', count: 30}],"                                      \
	"metadata: {start_time: '2026-02-28 23:59:30.500000+01:00',"                               \
	"end_time: '2026-03-01 01:00:00+02:00', total_allocations: 300, total_frames: 12,"         \
	"peak_memory: 9000, command_line: 'memray run train.py', pid: 77,"                         \
	"python_allocator: pymalloc, has_native_traces: false, trace_python_allocators: true}}"

static struct host_memory read_stats(const char *text)
{
	struct plain *plain = plain_of(text);
	struct host_memory host;

	assert_true(tsi_is_memray_stats(plain));
	assert_int_equal(tsi_host_memory_init(&host, plain, NULL), TSCOPE_OK);
	tsi_plain_free(plain); /* nothing points into it */
	return host;
}

static void check_use(struct host_use use, int64_t bytes, int64_t count)
{
	assert_int_equal(use.bytes, bytes);
	assert_int_equal(use.count, count);
}

static void check_place(const struct host_memory *host, size_t index, const char *site,
			struct host_use allocated)
{
	assert_true(index < host->place_count);
	assert_string_equal(tsi_intern_text(&host->texts, host->places[index].site).data, site);
	check_use(host->places[index].allocated, allocated.bytes, allocated.count);
}

/* 23:59:30.5 at +1 is 22:59:30.5; 01:00 at +2 is 23:00 of the same day: 29.5 s later. */
TEST(all_of_it_is_read)
{
	struct host_memory host = read_stats(STATS);

	assert_int_equal(host.source, HOST_STATS);
	check_use(host.allocated, 20000, 150);
	check_use(host.at_peak, 9000, -1);
	check_use(host.live, -1, -1);
	assert_int_equal(host.middle_bytes, -1);
	check_use(host.allocators[MEMRAY_MALLOC], -1, 120);
	check_use(host.allocators[MEMRAY_PYMALLOC_CALLOC], -1, 29);
	check_use(host.allocators[MEMRAY_MMAP], -1, 1);
	check_use(host.allocators[MEMRAY_CALLOC], 0, 0);
	assert_int_equal(host.size_count, 2);
	assert_int_equal(host.sizes[1].min_bytes, 4096);
	assert_int_equal(host.sizes[1].max_bytes, 9000);
	assert_int_equal(host.place_count, 3);
	check_place(&host, 0, "/home/u/train.py:41:step", (struct host_use){ 15000, 30 });
	check_place(&host, 1, "", (struct host_use){ 4000, -1 });
	check_place(&host, 2, "C:\\u\\data.py:7:load", (struct host_use){ -1, 100 });
	assert_string_equal(tsi_intern_text(&host.texts, host.command_line).data,
			    "memray run train.py");
	assert_int_equal(host.pid, 77);
	assert_int_equal(host.capture_ms, 29500);
	assert_int_equal(host.has_native_stacks, 0);
	assert_int_equal(host.traces_python_allocators, 1);
	assert_int_equal(host.dropped_count, 0);
	tsi_host_memory_deinit(&host);
}

TEST(what_is_missing_is_not_said)
{
	struct host_memory host = read_stats("{" TOTALS ", metadata: {}}");

	check_use(host.allocated, 20000, 150);
	check_use(host.at_peak, -1, -1);
	assert_int_equal(host.pid, -1);
	assert_int_equal(host.capture_ms, -1);
	assert_int_equal(host.has_native_stacks, -1);
	assert_int_equal(host.traces_python_allocators, -1);
	assert_int_equal(host.size_count, 0);
	assert_int_equal(host.place_count, 0);
	assert_int_equal(host.dropped_count, 0);
	tsi_host_memory_deinit(&host);
}

/* Two allocators, three sizes, three places. */
TEST(what_is_none_is_counted)
{
	struct host_memory host = read_stats(
		"{" TOTALS ", metadata: {peak_memory: -5, pid: x, start_time: 7},"
		"allocator_type_distribution: {MALLOC: 3, NEW_ONE: 1, MMAP: -2},"
		"allocation_size_histogram: [7, {min_bytes: 1, max_bytes: 2},"
		"{min_bytes: -1, max_bytes: 2, count: 3}],"
		"top_allocations_by_size: [{location: 5, size: 4}, {location: f, size: x}],"
		"top_allocations_by_count: [9]}");

	check_use(host.at_peak, -1, -1);
	assert_int_equal(host.dropped_count, 8);
	assert_int_equal(host.place_count, 0);
	tsi_host_memory_deinit(&host);
}

TEST(times_are_told_apart)
{
	static const struct {
		const char *start, *end;
		int64_t capture_ms;
	} cases[] = {
		{ "2023-01-01 01:00:00", "2023-01-01 02:00:00", 3600000 },
		{ "2024-02-28 00:00:00", "2024-03-01 00:00:00", 2 * 86400000 }, /* leap */
		{ "2000-02-28 00:00:00", "2000-03-01 00:00:00", 2 * 86400000 }, /* leap */
		{ "2100-02-28 00:00:00", "2100-03-01 00:00:00", 86400000 },
		{ "2023-12-31 23:59:59.999", "2024-01-01T00:00:00.000", 1 },
		{ "2023-01-01 00:00:00.1", "2023-01-01 00:00:00.123456", 23 },
		{ "2023-01-01 00:00:00-05:30", "2023-01-01 05:30:01+00:00", 1000 },
		{ "2023-01-01 02:00:00", "2023-01-01 01:00:00", -1 }, /* it goes back */
		{ "2023-01-01", "2023-01-01 02:00:00", -1 },
		{ "2023-13-01 00:00:00", "2023-01-01 02:00:00", -1 },
		{ "", "2023-01-01 02:00:00", -1 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char text[512];

		snprintf(text, sizeof(text),
			 "{" TOTALS ", metadata: {start_time: '%s', end_time: '%s'}}",
			 cases[i].start, cases[i].end);
		struct host_memory host = read_stats(text);
		assert_int_equal(host.capture_ms, cases[i].capture_ms);
		tsi_host_memory_deinit(&host);
	}
}

TEST(other_data_is_none)
{
	static const char *const texts[] = {
		"[]",
		"7",
		"{}",
		"{" TOTALS "}",
		"{" TOTALS ", metadata: []}",
		"{total_num_allocations: 1, metadata: {}}",
		"{total_num_allocations: many, total_bytes_allocated: 1, metadata: {}}",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(texts); i++) {
		struct plain *plain = plain_of(texts[i]);

		assert_false(tsi_is_memray_stats(plain));
		tsi_plain_free(plain);
	}
}

/* A row for each of 64 sizes, and not one more. */
TEST(there_is_room_for_so_many_sizes)
{
	static char text[8192];
	size_t length = (size_t)snprintf(text, sizeof(text),
					 "{" TOTALS ", metadata: {}, allocation_size_histogram: [");

	for (int i = 0; i < HOST_SIZES + 2; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "%s{min_bytes: %d, max_bytes: %d, count: 1}",
					   i ? ", " : "", i, i);
	snprintf(text + length, sizeof(text) - length, "]}");
	struct host_memory host = read_stats(text);
	assert_int_equal(host.size_count, HOST_SIZES);
	assert_int_equal(host.dropped_count, 2);
	tsi_host_memory_deinit(&host);
}

TEST(every_allocation_may_fail)
{
	struct plain *plain = plain_of(STATS);

	struct alloc_sweep sweep = { .at_least = 4 };
	while (alloc_sweep_next(&sweep)) {
		struct host_memory host;

		alloc_sweep_try(&sweep, tsi_host_memory_init(&host, plain, &sweep.err));
		tsi_host_memory_deinit(&host);
	}
	tsi_plain_free(plain);
}
