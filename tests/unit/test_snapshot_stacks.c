/* SPDX-License-Identifier: MIT */
/* analyze/memory/snapshot_stacks.c: what flame graphs are made of, as the lines that are written. */
#include "analyze/memory/snapshot_stacks.h"

#include <stdlib.h>

#include "check.h"
#include "fail_alloc.h"
#include "plain_text.h"

/*
 * Device 1 has the higher peak: before its first entry 5 bytes without a stack are live; then 10
 * and 20 by the same stack in two objects, 30 by another and 0 by a third come: 65. Then the 20 are
 * freed, and the 30 asked to be. At the end: 5, 10, 30.
 */
static const char two_devices[] =
	"{segments: ["
	"{device: 0, address: 1, total_size: 64, blocks: ["
	" {address: 1, size: 64, requested_size: 64, state: active_allocated,"
	"  frames: [{filename: x, line: 1, name: x}]}]},"
	"{device: 1, address: 100, total_size: 90, blocks: ["
	" {address: 100, size: 5, requested_size: 5, state: active_allocated},"
	" {address: 110, size: 10, requested_size: 10, state: active_allocated},"
	" {address: 120, size: 30, requested_size: 30, state: active_pending_free}]}],"
	"device_traces: [[], ["
	"{action: alloc, addr: 110, size: 10, frames: [{filename: 'd/b.py', line: 2, name: g},"
	" {filename: 'd/a.py', line: 1, name: f}]},"
	"{action: alloc, addr: 180, size: 20, frames: [{filename: 'b.py', line: 2, name: g},"
	" {filename: 'a.py', line: 1, name: f}]},"
	"{action: alloc, addr: 170, size: 0, frames: [{filename: 'z.py', line: 2, name: g}]},"
	"{action: alloc, addr: 120, size: 30, frames: [{filename: 'a.py', line: 1, name: f}]},"
	"{action: free_requested, addr: 180, size: 20},"
	"{action: free_completed, addr: 180, size: 20},"
	"{action: free_requested, addr: 120, size: 30}]]}";

struct written {
	enum tscope_status status;
	char *text;
};

static struct written write_stacks(const struct snapshot *snapshot,
				   enum tscope_memory_moment moment, struct tscope_error *err)
{
	struct written written = { 0 };
	size_t length;
	FILE *out = open_memstream(&written.text, &length);

	assert_non_null(out);
	written.status = tsi_snapshot_write_stacks(out, snapshot, moment, err);
	fclose(out);
	return written;
}

static void check(const char *text, enum tscope_memory_moment moment, const char *expected)
{
	struct plain *plain = plain_of(text);
	struct snapshot snapshot;

	assert_int_equal(tsi_snapshot_init(&snapshot, plain, NULL), TSCOPE_OK);
	struct written written = write_stacks(&snapshot, moment, NULL);
	assert_int_equal(written.status, TSCOPE_OK);
	assert_string_equal(written.text, expected);
	free(written.text);
	tsi_snapshot_deinit(&snapshot);
	tsi_plain_free(plain);
}

TEST(test_moments)
{
	check(two_devices, TSCOPE_MEMORY_AT_PEAK,
	      "(no stack) 5\na.py:1:f 30\na.py:1:f;b.py:2:g 30\n");
	check(two_devices, TSCOPE_MEMORY_AT_END,
	      "(no stack) 5\na.py:1:f 30\na.py:1:f;b.py:2:g 10\n");
}

TEST(test_nothing_live)
{
	static const char nothing[] = "{segments: [], device_traces: [[{action: oom, size: 1}]]}";

	check(nothing, TSCOPE_MEMORY_AT_PEAK, "");
	check(nothing, TSCOPE_MEMORY_AT_END, "");
}

TEST(test_disk_full)
{
	struct plain *plain = plain_of(two_devices);
	struct tscope_error err = { 0 };
	struct snapshot snapshot;
	FILE *out = fopen("/dev/full", "w");

	assert_non_null(out);
	assert_int_equal(tsi_snapshot_init(&snapshot, plain, NULL), TSCOPE_OK);
	assert_int_equal(tsi_snapshot_write_stacks(out, &snapshot, TSCOPE_MEMORY_AT_END, &err),
			 TSCOPE_E_WRITE);
	assert_string_equal(err.message, "cannot be written");
	fclose(out);
	tsi_snapshot_deinit(&snapshot);
	tsi_plain_free(plain);
}

TEST(test_out_of_memory)
{
	struct plain *plain = plain_of(two_devices);
	struct snapshot snapshot;

	assert_int_equal(tsi_snapshot_init(&snapshot, plain, NULL), TSCOPE_OK);
	struct alloc_sweep sweep = { .at_least = 8 };
	while (alloc_sweep_next(&sweep)) {
		alloc_sweep_start(&sweep);
		struct written written = write_stacks(&snapshot, TSCOPE_MEMORY_AT_PEAK, &sweep.err);
		alloc_sweep_check(&sweep, written.status);
		free(written.text);
	}
	tsi_snapshot_deinit(&snapshot);
	tsi_plain_free(plain);
}
