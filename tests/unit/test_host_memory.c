/* SPDX-License-Identifier: MIT */
/*
 * The reduction of memray's records: what is live, at the peak, in the middle and at the end, by
 * stack and by thread. test_host_memory_random.c compares it with a twin.
 */
#include "model/memory/host_memory.h"

#include <stdio.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "input/input.h"
#include "memray_writer.h"

/* ---- records ---- */

static struct memray_allocation record(enum memray_allocator allocator, uint64_t address,
				       uint64_t size)
{
	return (struct memray_allocation){
		.address = address,
		.size = size,
		.allocator = (uint8_t)allocator,
	};
}

static enum tscope_status take(struct host_reduction *r, struct memray_allocation a,
			       struct tscope_error *err)
{
	struct memray_sink *sink = tsi_host_reduction_sink(r);

	return sink->allocation(sink, &a, err);
}

/* Reduces records; of each only what record() has. */
static enum tscope_status reduce(struct host_memory *host, const struct memray_allocation *records,
				 size_t count, struct tscope_error *err)
{
	struct host_reduction *r = NULL;
	enum tscope_status status;

	*host = (struct host_memory){ 0 };
	status = tsi_host_reduction_new(&r, host, err);
	for (size_t i = 0; i < count && status == TSCOPE_OK; i++)
		status = take(r, records[i], err);
	if (status == TSCOPE_OK)
		tsi_host_reduction_finish(r);
	tsi_host_reduction_free(r);
	return status;
}

static void check_use(struct host_use use, int64_t bytes, int64_t count)
{
	assert_int_equal(use.bytes, bytes);
	assert_int_equal(use.count, count);
}

/* ---- single cases ---- */

TEST(what_is_freed_is_not_live)
{
	const struct memray_allocation records[] = {
		record(MEMRAY_MALLOC, 16, 100), record(MEMRAY_CALLOC, 32, 30),
		record(MEMRAY_FREE, 16, 0),     record(MEMRAY_REALLOC, 16, 60),
		record(MEMRAY_FREE, 999, 0),    record(MEMRAY_FREE, 999, 0),
	};
	struct host_memory host;

	assert_int_equal(reduce(&host, records, TSI_COUNT_OF(records), NULL), TSCOPE_OK);
	check_use(host.allocated, 190, 3);
	check_use(host.at_peak, 130, 2); /* 100 + 30 */
	check_use(host.live, 90, 2);     /* 30 + 60 */
	check_use(host.stacks[0].at_peak, 130, 2);
	check_use(host.allocators[MEMRAY_MALLOC], 100, 1);
	check_use(host.allocators[MEMRAY_REALLOC], 60, 1);
	check_use(host.allocators[MEMRAY_FREE], 0, 0);
	assert_int_equal(host.unmatched_count, 2);
	tsi_host_memory_deinit(&host);
}

/* Both moments have 100 bytes: what was live at the later one counts. */
TEST(of_equal_peaks_the_last_one_counts)
{
	struct memray_allocation records[] = {
		record(MEMRAY_MALLOC, 16, 100),
		record(MEMRAY_FREE, 16, 0),
		record(MEMRAY_MALLOC, 32, 100),
		record(MEMRAY_FREE, 32, 0),
	};
	struct host_memory host;

	records[2].node = 1;
	assert_int_equal(reduce(&host, records, TSI_COUNT_OF(records), NULL), TSCOPE_OK);
	check_use(host.at_peak, 100, 1);
	check_use(host.stacks[0].at_peak, 0, 0);
	check_use(host.stacks[1].at_peak, 100, 1);
	tsi_host_memory_deinit(&host);
}

/* An address is live once: 40 bytes take the place of 100. */
TEST(who_comes_over_another_takes_its_place)
{
	const struct memray_allocation records[] = {
		record(MEMRAY_MALLOC, 16, 100),
		record(MEMRAY_MALLOC, 16, 40),
		record(MEMRAY_FREE, 16, 0),
	};
	struct host_memory host;

	assert_int_equal(reduce(&host, records, 2, NULL), TSCOPE_OK);
	check_use(host.at_peak, 100, 1);
	check_use(host.live, 40, 1);
	assert_int_equal(host.replaced_count, 1);
	tsi_host_memory_deinit(&host);
	assert_int_equal(reduce(&host, records, 3, NULL), TSCOPE_OK);
	check_use(host.live, 0, 0);
	assert_int_equal(host.unmatched_count, 0);
	tsi_host_memory_deinit(&host);
}

/* Cut in the middle it is two; cut at an end it is one; what is not there is not cut. */
TEST(mappings_go_in_pieces)
{
	static const struct {
		uint64_t address, size;
		int64_t bytes, count;
		uint64_t unmatched;
	} cuts[] = {
		{ 4096, 4096, 12288, 2, 0 },          /* [0, 4096) [8192, 16384) */
		{ 4096, 4096, 12288, 2, 1 },          /* is gone already */
		{ 0, 1024, 11264, 2, 1 },             /* [1024, 4096) [8192, 16384) */
		{ 12288, 1 << 20, 7168, 2, 1 },       /* [1024, 4096) [8192, 12288) */
		{ 2048, 8192, 3072, 2, 1 },           /* [1024, 2048) [10240, 12288) */
		{ 1u << 30, UINT64_MAX, 3072, 2, 2 }, /* beyond the last address */
		{ 1024, UINT64_MAX - 1024, 0, 0, 2 },
	};
	struct memray_allocation records[1 + TSI_COUNT_OF(cuts)] = {
		record(MEMRAY_MMAP, 0, 16384),
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cuts); i++) {
		struct host_memory host;

		records[1 + i] = record(MEMRAY_MUNMAP, cuts[i].address, cuts[i].size);
		assert_int_equal(reduce(&host, records, i + 2, NULL), TSCOPE_OK);
		check_use(host.at_peak, 16384, 1);
		check_use(host.live, cuts[i].bytes, cuts[i].count);
		assert_int_equal(host.unmatched_count, cuts[i].unmatched);
		tsi_host_memory_deinit(&host);
	}
}

/* A reserve of 64 KiB, with 8 KiB mapped into it: 64 KiB in all, of which 8 are the other's. */
TEST(a_mapping_within_another_takes_its_place)
{
	struct memray_allocation records[] = {
		record(MEMRAY_MMAP, 1 << 20, 65536),
		record(MEMRAY_MMAP, (1 << 20) + 16384, 8192),
	};
	struct host_memory host;

	records[1].node = 1;
	assert_int_equal(reduce(&host, records, TSI_COUNT_OF(records), NULL), TSCOPE_OK);
	check_use(host.at_peak, 65536, 3);
	check_use(host.stacks[0].live, 57344, 2);
	check_use(host.stacks[1].live, 8192, 1);
	assert_int_equal(host.replaced_count, 1);
	tsi_host_memory_deinit(&host);
}

/* One other allocation of the thread may lie between; those of other threads do not count. */
TEST(temporary_is_what_its_thread_frees_soon)
{
	struct memray_allocation records[] = {
		record(MEMRAY_MALLOC, 16, 1), /* freed at once: temporary */
		record(MEMRAY_FREE, 16, 0),
		record(MEMRAY_MALLOC, 32, 2), /* after one more: temporary */
		record(MEMRAY_MALLOC, 48, 4), /* after two more: not */
		record(MEMRAY_FREE, 32, 0),
		record(MEMRAY_MALLOC, 64, 8),  /* by another thread: not */
		record(MEMRAY_MALLOC, 80, 16), /* never */
		record(MEMRAY_FREE, 48, 0),
		record(MEMRAY_FREE, 64, 0),
		record(MEMRAY_MMAP, 4096, 4096), /* part of it: not */
		record(MEMRAY_MUNMAP, 4096, 1024),
		record(MEMRAY_MMAP, 8192, 4096), /* all of it: temporary */
		record(MEMRAY_MUNMAP, 8192, 4096),
		record(MEMRAY_MUNMAP, 8192, 4096), /* once only */
		record(MEMRAY_MMAP, 16384, 64),    /* what is mapped is not freed, */
		record(MEMRAY_FREE, 16384, 0),
		record(MEMRAY_MALLOC, 32768, 64), /* and the other way round */
		record(MEMRAY_MUNMAP, 32768, 64),
	};
	struct host_memory host;

	records[8].thread = 1;
	assert_int_equal(reduce(&host, records, TSI_COUNT_OF(records), NULL), TSCOPE_OK);
	check_use(host.temporary, 1 + 2 + 4096, 3);
	check_use(host.stacks[0].temporary, 4099, 3);
	check_use(host.threads[0].temporary, 4099, 3);
	assert_int_equal(host.thread_count, 1);
	tsi_host_memory_deinit(&host);
}

TEST(sizes_are_told_in_powers_of_two)
{
	static const uint64_t sizes[] = { 0, 1, 2, 3, 4, 7, 8, 65535, 65536, 65536 };
	static const struct host_size expected[] = {
		{ 0, 0, 1 },  { 1, 1, 1 },         { 2, 3, 2 },          { 4, 7, 2 },
		{ 8, 15, 1 }, { 32768, 65535, 1 }, { 65536, 131071, 2 },
	};
	struct memray_allocation records[TSI_COUNT_OF(sizes)];
	struct host_memory host;

	for (size_t i = 0; i < TSI_COUNT_OF(sizes); i++)
		records[i] = record(MEMRAY_MALLOC, 16 * i, sizes[i]);
	assert_int_equal(reduce(&host, records, TSI_COUNT_OF(records), NULL), TSCOPE_OK);
	assert_int_equal(host.size_count, TSI_COUNT_OF(expected));
	for (size_t i = 0; i < TSI_COUNT_OF(expected); i++)
		assert_memory_equal(&host.sizes[i], &expected[i], sizeof(expected[i]));
	tsi_host_memory_deinit(&host);
}

/* What would make the sum of all sizes more than 63 bits is no allocation. */
TEST(absurd_sizes_are_dropped)
{
	const struct memray_allocation records[] = {
		record(MEMRAY_MALLOC, 16, INT64_MAX),
		record(MEMRAY_MALLOC, 32, 1),
		record(MEMRAY_MALLOC, 48, UINT64_MAX),
		record(MEMRAY_MALLOC, 64, 0),
		record(MEMRAY_FREE, 16, 0),
		record(MEMRAY_MMAP, UINT64_MAX - 10, 100),
		record(MEMRAY_FREE, 48, 0),
	};
	struct host_memory host;

	assert_int_equal(reduce(&host, records, TSI_COUNT_OF(records), NULL), TSCOPE_OK);
	check_use(host.allocated, INT64_MAX, 2);
	check_use(host.at_peak, INT64_MAX, 2);
	check_use(host.live, 0, 1);
	assert_int_equal(host.dropped_count, 3);
	assert_int_equal(host.unmatched_count, 1);
	assert_int_equal(host.sizes[1].max_bytes, INT64_MAX);
	tsi_host_memory_deinit(&host);
}

/* [2⁶⁴ − 11, …) is cut at the last address, which no mapping has: 10 bytes. */
TEST(a_mapping_ends_with_the_addresses)
{
	const struct memray_allocation records[] = {
		record(MEMRAY_MMAP, UINT64_MAX - 10, 100),
		record(MEMRAY_MUNMAP, UINT64_MAX - 4, UINT64_MAX),
	};
	struct host_memory host;

	assert_int_equal(reduce(&host, records, TSI_COUNT_OF(records), NULL), TSCOPE_OK);
	check_use(host.allocated, 100, 1);
	check_use(host.at_peak, 10, 1);
	check_use(host.live, 6, 1);
	tsi_host_memory_deinit(&host);
}

/* ---- many ---- */

/*
 * A million blocks of which one in four stays, and then go in another order than they came:
 * the map grows, and closes its gaps, around all of them.
 */
TEST(a_million_blocks_come_and_go)
{
	enum { BLOCKS = 1 << 20 };
	struct host_memory host = { 0 };
	struct host_reduction *r;

	assert_int_equal(tsi_host_reduction_new(&r, &host, NULL), TSCOPE_OK);
	for (uint64_t i = 0; i < BLOCKS; i++) {
		assert_int_equal(take(r, record(MEMRAY_MALLOC, 16 * i, i % 4), NULL), TSCOPE_OK);
		if (i % 4 != 3)
			assert_int_equal(take(r, record(MEMRAY_FREE, 16 * i, 0), NULL), TSCOPE_OK);
	}
	check_use(host.live, 3 * (BLOCKS / 4), BLOCKS / 4);
	for (uint64_t i = 0; i < BLOCKS; i++) {
		uint64_t place = i * 40503 % BLOCKS; /* an odd factor: each once */

		assert_int_equal(take(r, record(MEMRAY_FREE, 16 * place, 0), NULL), TSCOPE_OK);
	}
	check_use(host.live, 0, 0);
	assert_int_equal(host.unmatched_count, BLOCKS / 4 * 3);
	tsi_host_reduction_free(r);
	tsi_host_memory_deinit(&host);
}

/* 20000 mappings with gaps, from both ends to the middle; every second goes, then all. */
TEST(many_mappings_come_and_go)
{
	enum { MAPPINGS = 20000 };
	struct host_memory host = { 0 };
	struct host_reduction *r;

	assert_int_equal(tsi_host_reduction_new(&r, &host, NULL), TSCOPE_OK);
	for (uint64_t i = 0; i < MAPPINGS; i++) {
		uint64_t place = i % 2 ? MAPPINGS - 1 - i / 2 : i / 2;

		assert_int_equal(take(r, record(MEMRAY_MMAP, 8192 * place, 4096), NULL), TSCOPE_OK);
	}
	check_use(host.live, INT64_C(4096) * MAPPINGS, MAPPINGS);
	for (uint64_t i = 0; i < MAPPINGS; i += 2)
		assert_int_equal(take(r, record(MEMRAY_MUNMAP, 8192 * i, 8192), NULL), TSCOPE_OK);
	check_use(host.live, INT64_C(2048) * MAPPINGS, MAPPINGS / 2);
	assert_int_equal(host.unmatched_count, 0);
	assert_int_equal(take(r, record(MEMRAY_MUNMAP, 0, UINT64_MAX), NULL), TSCOPE_OK);
	check_use(host.live, 0, 0);
	tsi_host_reduction_free(r);
	tsi_host_memory_deinit(&host);
}

/* ---- captures ---- */

/* step allocates 100 and 50, frees 100; load, outside of it, 30, in the second half. */
static struct memray_writer write_stream(int32_t version)
{
	const struct memray_header header = {
		.version = version,
		.python_version = 0x030c04f0,
		.start_ms = 1000,
		.end_ms = 3000,
		.pid = 4711,
		.main_tid = 1,
	};
	struct memray_writer w = memray_write_header(&header, "python train.py");

	memray_write_switch(&w, 1);
	memray_write_call(&w, "main", "/home/u/train.py", 40);
	memray_write_call(&w, "step", "/home/u/train.py", 7);
	memray_write_resident(&w, 5000, 0);
	memray_write_allocation(&w, MEMRAY_MALLOC, 0x1000, 100);
	memray_write_allocation(&w, MEMRAY_MALLOC, 0x2000, 50);
	memray_write_allocation(&w, MEMRAY_FREE, 0x1000, 0);
	memray_write_pop(&w, 1);
	memray_write_resident(&w, 7000, 1000);
	memray_write_call(&w, "load", "/home/u/data.py", 12);
	memray_write_allocation(&w, MEMRAY_MALLOC, 0x3000, 30);
	memray_write_resident(&w, 6000, 2000);
	return w;
}

static enum tscope_status read_bytes(struct host_memory *host, const void *bytes, size_t length,
				     struct tscope_error *damage, struct tscope_error *err)
{
	struct input *in;

	*host = (struct host_memory){ 0 };
	if (tsi_input_open_memory(&in, bytes, length, NULL, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	enum tscope_status status = tsi_host_memory_read(host, in, damage, err);
	tsi_input_close(in);
	return status;
}

/* The account of the stack whose innermost function this is. */
static const struct host_account *stack_of(const struct host_memory *host, const char *function)
{
	const struct memray_capture *capture = &host->capture;

	for (size_t i = 1; i < capture->node_count; i++) {
		struct str name = tsi_intern_text(
			&capture->names, capture->frames[capture->nodes[i].frame].function);

		if (i < host->stack_count && tsi_str_equal(name, tsi_str_of(function)))
			return &host->stacks[i];
	}
	fail_msg("no stack of %s", function);
	return NULL;
}

TEST(captures_of_all_versions_say_the_same)
{
	for (int32_t version = 7; version <= 13; version++) {
		struct memray_writer w = write_stream(version);
		struct tscope_error damage, err = { 0 };
		struct host_memory host;

		memray_write_trailer(&w);
		if (read_bytes(&host, w.bytes, w.length, &damage, &err) != TSCOPE_OK)
			fail_msg("version %d: %s", (int)version, err.message);
		assert_int_equal(damage.status, TSCOPE_OK);
		assert_int_equal(host.source, HOST_CAPTURE);
		check_use(host.allocated, 180, 3);
		check_use(host.at_peak, 150, 2);
		check_use(host.live, 80, 2);
		assert_int_equal(host.middle_bytes, 50); /* at 1000 ms of 2000 */
		check_use(stack_of(&host, "step")->at_peak, 150, 2);
		check_use(stack_of(&host, "step")->temporary, 100, 1);
		assert_int_equal(stack_of(&host, "step")->middle_bytes, 50);
		assert_int_equal(stack_of(&host, "load")->middle_bytes, 0);
		check_use(stack_of(&host, "load")->live, 30, 1);
		assert_int_equal(host.resident.peak_bytes, 7000);
		tsi_host_memory_deinit(&host);
		memray_writer_deinit(&w);
	}
}

TEST(a_capture_of_sums_has_its_peak_and_its_leaks)
{
	for (int32_t version = 10; version <= 13; version++) {
		const struct memray_header header = {
			.version = version, .is_aggregated = true, .start_ms = 1000, .end_ms = 3000
		};
		const struct memray_aggregate sums[] = {
			{ 2, 1, 300, 100, 1, 1, MEMRAY_MALLOC },
			{ 1, 0, 50, 0, 2, 0, MEMRAY_MMAP },
			{ 1, 0, INT64_MAX, 0, 2, 0, MEMRAY_MMAP }, /* no sum */
			{ 4, 0, 7, 0, 2, 99, MEMRAY_MALLOC },      /* of a stack that is none */
		};
		struct memray_writer w = memray_write_header(&header, "");
		struct tscope_error damage, err = { 0 };
		struct host_memory host;

		memray_write_switch(&w, 1);
		memray_write_snapshot(&w, 1500, 4000);
		if (version < 12) {
			memray_write_frame(&w, 8, "f", "a.py", 3);
		} else {
			memray_write_code(&w, 5,
					  &(struct memray_code_text){ "f", "a.py", 3, "", 0 });
			memray_write_code_frame(&w, 8, 5, 0);
		}
		memray_write_node(&w, 8, 0);
		for (size_t i = 0; i < TSI_COUNT_OF(sums); i++)
			memray_write_aggregate(&w, &sums[i]);
		memray_write_trailer(&w);
		if (read_bytes(&host, w.bytes, w.length, &damage, &err) != TSCOPE_OK)
			fail_msg("version %d: %s", (int)version, err.message);
		assert_int_equal(host.source, HOST_AGGREGATE);
		check_use(host.at_peak, 357, 7);
		check_use(host.live, 100, 1);
		check_use(host.stacks[1].at_peak, 300, 2);
		check_use(host.stacks[0].at_peak, 57, 5);
		assert_int_equal(host.middle_bytes, -1);
		assert_int_equal(host.dropped_count, 1);
		assert_int_equal(host.resident.peak_bytes, 4000);
		assert_int_equal(host.resident.points[0].heap_bytes, -1);
		tsi_host_memory_deinit(&host);
		memray_writer_deinit(&w);
	}
}

/* Cut anywhere: what was allocated before the place counts, or there was nothing yet. */
TEST(a_cut_capture_keeps_what_it_gave)
{
	static const int32_t versions[] = { 8, 11, 12 }; /* 7 has no mark at its end */

	for (size_t v = 0; v < TSI_COUNT_OF(versions); v++) {
		struct memray_writer w = write_stream(versions[v]);
		int64_t most = 0;

		for (size_t length = 0; length <= w.length; length++) {
			struct tscope_error damage, err = { 0 };
			struct host_memory host;
			enum tscope_status status =
				read_bytes(&host, w.bytes, length, &damage, &err);

			if (status == TSCOPE_OK) {
				assert_true(host.allocated.count >= most);
				assert_true(host.allocated.count > 0);
				most = host.allocated.count;
				assert_false(host.capture.is_complete);
			} else {
				assert_int_equal(most, 0);
				assert_true(err.message[0] != '\0');
			}
			tsi_host_memory_deinit(&host);
		}
		assert_int_equal(most, 3);
		memray_writer_deinit(&w);
	}
}

TEST(a_capture_without_records_is_named)
{
	const struct memray_header header = { .version = 11 };
	struct tscope_error damage, err = { 0 };
	struct host_memory host;

	for (int is_whole = 0; is_whole < 2; is_whole++) {
		struct memray_writer w = memray_write_header(&header, "");

		if (is_whole)
			memray_write_trailer(&w);
		else
			memray_write_zeros(&w, 4096);
		assert_int_equal(read_bytes(&host, w.bytes, w.length, &damage, &err),
				 TSCOPE_E_EMPTY);
		assert_non_null(strstr(err.message, is_whole ? "nothing was allocated"
							     : "the process was killed"));
		tsi_host_memory_deinit(&host);
		memray_writer_deinit(&w);
	}
}

TEST(every_allocation_may_fail)
{
	struct memray_writer w = write_stream(12);

	for (uint64_t i = 0; i < 300; i++)
		memray_write_allocation(&w, MEMRAY_MMAP, 8192 * (i + 100), 8191);
	memray_write_allocation(&w, MEMRAY_MUNMAP, 8192 * 150 + 100, 50); /* a leaf splits */
	for (uint64_t i = 0; i < 2000; i++)
		memray_write_allocation(&w, MEMRAY_MALLOC, 16 * i, 16);
	struct alloc_sweep sweep = { .at_least = 20 };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_error damage;
		struct host_memory host;

		alloc_sweep_try(&sweep, read_bytes(&host, w.bytes, w.length, &damage, &sweep.err));
		tsi_host_memory_deinit(&host);
	}
	memray_writer_deinit(&w);
}
