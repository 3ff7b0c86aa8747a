/* SPDX-License-Identifier: MIT */
/*
 * model/memory/snapshot.h over snapshots as each version of torch writes them, and over what none would
 * write. A model is compared as text:
 *
 *	device 0: 1 segments, 1 entries		first by device, with its segments,
 *	  0x1000 96 stream 0 pool 0,0 large plain at a.py:1:f
 *	    0x1000 64/50 allocated at -		their blocks (size/requested),
 *	  alloc 0x1000 50 stream 0 time 7 at -	and its entries
 */
#include "model/memory/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "plain_text.h"

/* ---- a model as text --------------------------------------------------------------------- */

enum { DUMP_BYTES = 8192, DUMP_ENTRIES = 16 };

struct dump {
	char text[DUMP_BYTES];
	size_t length;
};

static void put(struct dump *dump, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct dump *dump, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int length = vsnprintf(dump->text + dump->length, DUMP_BYTES - dump->length, format, args);
	va_end(args);
	assert_in_range(length, 0, DUMP_BYTES - dump->length - 1);
	dump->length += (size_t)length;
}

static void put_stack(struct dump *dump, const struct snapshot *s, struct plain_value stack)
{
	put(dump, " at");
	for (size_t i = 0; i < tsi_stack_depth(s, stack); i++) {
		struct snapshot_frame frame = tsi_stack_frame(s, stack, i);
		put(dump, " %s:%" PRId64 ":%s", frame.filename.length ? frame.filename.data : "",
		    frame.line, frame.name.length ? frame.name.data : "");
	}
	put(dump, tsi_stack_depth(s, stack) ? "\n" : " -\n");
}

static void put_pool(struct dump *dump, const struct snapshot_pool *pool)
{
	if (pool->is_known)
		put(dump, " pool %" PRId64 ",%" PRId64, pool->high, pool->low);
}

static void put_segment(struct dump *dump, const struct snapshot *s, size_t index)
{
	static const char *const states[BLOCK_STATE_COUNT] = { "allocated", "pending", "inactive" };
	const struct snapshot_segment *segment = &s->segments[index];

	put(dump, "  0x%" PRIx64 " %" PRId64 " stream %" PRId64, segment->address,
	    segment->size_bytes, segment->stream);
	put_pool(dump, &segment->pool);
	put(dump, " %s %s", segment->is_small ? "small" : "large",
	    segment->is_expandable ? "expandable" : "plain");
	put_stack(dump, s, segment->stack);
	for (size_t i = 0; i < segment->block_count; i++) {
		const struct snapshot_block *block = &s->blocks[segment->first_block + i];
		put(dump, "    0x%" PRIx64 " %" PRId64 "/%" PRId64 " %s", block->address,
		    block->size_bytes, block->requested_bytes, states[block->state]);
		put_stack(dump, s, block->stack);
	}
}

static void put_entry(struct dump *dump, const struct snapshot *s,
		      const struct snapshot_entry *entry)
{
	static const char *const actions[ACTION_COUNT] = {
		"alloc",        "free_requested", "free_completed", "segment_alloc",
		"segment_free", "segment_map",    "segment_unmap",  "oom",
		"snapshot",     "other",
	};

	put(dump, "  %s", actions[entry->action]);
	if (!entry->action_name.word)
		put(dump, " (none)");
	else if (entry->action == ACTION_OTHER)
		put(dump, " (%s)", tsi_plain_text(s->plain, entry->action_name).data);
	else
		assert_string_equal(tsi_plain_text(s->plain, entry->action_name).data,
				    actions[entry->action]);
	put(dump, " 0x%" PRIx64 " %" PRId64 " stream %" PRId64, entry->address, entry->size_bytes,
	    entry->stream);
	if (entry->time_us != NO_TIME_US)
		put(dump, " time %" PRId64, entry->time_us);
	put_pool(dump, &entry->pool);
	if (entry->user_metadata.word)
		put(dump, " '%s'", tsi_plain_text(s->plain, entry->user_metadata).data);
	put_stack(dump, s, entry->stack);
}

static void put_device(struct dump *dump, const struct snapshot *s, uint32_t index)
{
	const struct snapshot_device *device = &s->devices[index];
	struct snapshot_entry entries[DUMP_ENTRIES];

	put(dump, "device %d: %zu segments, %zu entries\n", device->ordinal, device->segment_count,
	    device->entry_count);
	for (size_t i = 0; i < device->segment_count; i++) {
		assert_int_equal(s->segments[device->first_segment + i].device, index);
		put_segment(dump, s, device->first_segment + i);
	}
	size_t count = tsi_snapshot_entries(s, index, 0, entries, DUMP_ENTRIES);
	assert_int_equal(count, device->entry_count);
	for (size_t i = 0; i < count; i++)
		put_entry(dump, s, &entries[i]);
}

static void put_snapshot(struct dump *dump, const struct snapshot *s)
{
	size_t entry_count = 0;

	dump->length = 0;
	for (uint32_t i = 0; i < s->device_count; i++) {
		put_device(dump, s, i);
		entry_count += s->devices[i].entry_count;
	}
	assert_int_equal(entry_count, s->entry_count);
	if (s->dropped_count)
		put(dump, "dropped %" PRIu64 "\n", s->dropped_count);
	if (s->contradicted_count)
		put(dump, "contradicted %zu\n", s->contradicted_count);
}

static void check(const char *text, const char *expected)
{
	struct plain *plain = plain_of(text);
	struct tscope_error err = { 0 };
	struct snapshot s;
	struct dump dump;

	assert_true(tsi_is_snapshot(plain));
	if (tsi_snapshot_init(&s, plain, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	put_snapshot(&dump, &s);
	assert_string_equal(dump.text, expected);
	tsi_snapshot_deinit(&s);
	tsi_plain_free(plain);
}

/* ---- versions of torch -------------------------------------------------------------------- */

/* All keys that 2.6 and later write, and some that come to be written. */
static const char newest[] =
	"{segments: [{device: 0, address: 0x1000, total_size: 96, allocated_size: 64,"
	"  active_size: 80, requested_size: 60, stream: 140, segment_type: small,"
	"  segment_pool_id: (1, 7), is_expandable: false,"
	"  frames: @stack=[{filename: 'a.py', line: 1, name: f, fx_node_op: x},"
	"                  {filename: 'b.py', line: 2, name: g}], blocks: ["
	"   {address: 0x1000, size: 64, requested_size: 50, state: active_allocated,"
	"    frames: @stack},"
	"   {address: 0x1040, size: 16, requested_size: 10, state: active_pending_free,"
	"    frames: []},"
	"   {address: 0x1050, size: 16, requested_size: 99, state: inactive, frames: []}]}],"
	" device_traces: [["
	"  {action: segment_alloc, addr: 0x1000, size: 96, stream: 140, time_us: 7, frames: @stack,"
	"   compile_context: 'N/A', user_metadata: '', pool_id: (1, 7)},"
	"  {action: alloc, addr: 0x1000, size: 50, stream: 140, time_us: 8, frames: @stack,"
	"   compile_context: 'N/A', user_metadata: 'step 3', pool_id: [0, 0]},"
	"  {action: oom, device_free: 0xfedcba987654, size: 512, stream: 0, time_us: 9},"
	"  {action: snapshot, addr: 0, size: 80, stream: 0, time_us: 10},"
	"  {action: user_defined, addr: 0, size: 0, stream: 0, time_us: 11}], []],"
	" allocator_settings: {PYTORCH_CUDA_ALLOC_CONF: 'a:b'}, external_annotations: [],"
	" host_segments: [{device: 3, address: 1, total_size: 1, blocks: []}], host_traces: [[]]}";

TEST(test_newest)
{
	check(newest,
	      "device 0: 1 segments, 5 entries\n"
	      "  0x1000 96 stream 140 pool 1,7 small plain at a.py:1:f b.py:2:g\n"
	      "    0x1000 64/50 allocated at a.py:1:f b.py:2:g\n"
	      "    0x1040 16/10 pending at -\n"
	      "    0x1050 16/-1 inactive at -\n"
	      "  segment_alloc 0x1000 96 stream 140 time 7 pool 1,7 '' at a.py:1:f b.py:2:g\n"
	      "  alloc 0x1000 50 stream 140 time 8 pool 0,0 'step 3' at a.py:1:f b.py:2:g\n"
	      "  oom 0xfedcba987654 512 stream 0 time 9 at -\n"
	      "  snapshot 0x0 80 stream 0 time 10 at -\n"
	      "  other (user_defined) 0x0 0 stream 0 time 11 at -\n");
}

/* Of four segments the last two say other sizes than their blocks have. */
TEST(test_contradictions)
{
	check("[{address: 0x1000, total_size: 8, allocated_size: 2, active_size: 5, blocks: ["
	      "   {size: 2, state: active_allocated}, {size: 3, state: active_pending_free},"
	      "   {size: 3, state: inactive}]},"
	      " {address: 0x2000, total_size: 8, blocks: [{size: 8, state: active_allocated}]},"
	      " {address: 0x3000, total_size: 8, allocated_size: 5, blocks: ["
	      "   {size: 2, state: active_allocated}, {size: 3, state: active_pending_free}]},"
	      " {address: 0x4000, total_size: 8, allocated_size: 2, active_size: 2, blocks: ["
	      "   {size: 2, state: active_allocated}, {size: 3, state: active_pending_free}]}]",
	      "device 0: 4 segments, 0 entries\n"
	      "  0x1000 8 stream -1 large plain at -\n"
	      "    0x1000 2/-1 allocated at -\n"
	      "    0x1002 3/-1 pending at -\n"
	      "    0x1005 3/-1 inactive at -\n"
	      "  0x2000 8 stream -1 large plain at -\n"
	      "    0x2000 8/-1 allocated at -\n"
	      "  0x3000 8 stream -1 large plain at -\n"
	      "    0x3000 2/-1 allocated at -\n"
	      "    0x3002 3/-1 pending at -\n"
	      "  0x4000 8 stream -1 large plain at -\n"
	      "    0x4000 2/-1 allocated at -\n"
	      "    0x4002 3/-1 pending at -\n"
	      "contradicted 2\n");
}

/* 1.12: a list of segments; blocks without address; stack and request in the history. */
TEST(test_oldest)
{
	check("[{device: 0, address: 0x1000, total_size: 96, allocated_size: 32, active_size: 64,"
	      "  stream: 0, segment_type: small, blocks: ["
	      "   {size: 32, state: inactive},"
	      "   {size: 32, state: active_allocated, history: ["
	      "    {addr: 0x1020, real_size: 30, frames: [{filename: 'n.py', line: 1, name: f}]},"
	      "    {addr: 0x1020, real_size: 9, frames: [{filename: 'o.py', line: 1, name: f}]}]},"
	      "   {size: 32, state: active_awaiting_free}]}]",
	      "device 0: 1 segments, 0 entries\n"
	      "  0x1000 96 stream 0 small plain at -\n"
	      "    0x1000 32/-1 inactive at -\n"
	      "    0x1020 32/30 allocated at n.py:1:f\n"
	      "    0x1040 32/-1 pending at -\n");
}

/* 2.0: history beside requested_size, which is read; entries without time. */
TEST(test_history_and_request)
{
	check("{segments: [{device: 0, address: 16, total_size: 32, stream: 0, segment_type: large,"
	      "  segment_pool_id: [0, 0], blocks: [{size: 32, requested_size: 20,"
	      "   state: active_allocated, history: [{addr: 16, real_size: 21, frames: []}]}]}],"
	      " device_traces: [[{action: oom, addr: 77, size: 9, stream: 0}]]}",
	      "device 0: 1 segments, 1 entries\n"
	      "  0x10 32 stream 0 pool 0,0 large plain at -\n"
	      "    0x10 32/20 allocated at -\n"
	      "  oom 0x4d 9 stream 0 at -\n");
}

/* The C++ writer leaves the pool out. Devices come in any order, segments keep theirs. */
TEST(test_devices)
{
	check("{segments: ["
	      "  {device: 2, address: 0x900, total_size: 9, stream: 0, is_expandable: true,"
	      "   segment_type: large, blocks: []},"
	      "  {device: 0, address: 0x500, total_size: 5, stream: 0, segment_type: large,"
	      "   blocks: [{address: 0x500, size: 5, requested_size: 4, state: inactive}]},"
	      "  {device: 2, address: 0x100, total_size: 1, stream: 0, segment_type: small,"
	      "   blocks: [{address: 0x100, size: 1, requested_size: 1, state: "
	      "active_allocated}]}],"
	      " device_traces: [[], [], [], [{action: segment_unmap, addr: 1, size: 2, stream: "
	      "3}]]}",
	      "device 0: 1 segments, 0 entries\n"
	      "  0x500 5 stream 0 large plain at -\n"
	      "    0x500 5/-1 inactive at -\n"
	      "device 2: 2 segments, 0 entries\n"
	      "  0x900 9 stream 0 large expandable at -\n"
	      "  0x100 1 stream 0 small plain at -\n"
	      "    0x100 1/1 allocated at -\n"
	      "device 3: 0 segments, 1 entries\n"
	      "  segment_unmap 0x1 2 stream 3 at -\n");
}

TEST(test_settings)
{
	struct plain *plain = plain_of(newest);
	struct snapshot s;

	assert_int_equal(tsi_snapshot_init(&s, plain, NULL), TSCOPE_OK);
	struct plain_value conf =
		tsi_plain_find(plain, s.settings, TSI_STR("PYTORCH_CUDA_ALLOC_CONF"));
	assert_string_equal(tsi_plain_text(plain, conf).data, "a:b");
	tsi_snapshot_deinit(&s);
	tsi_plain_free(plain);
}

/* ---- what nobody writes -------------------------------------------------------------------- */

#define SEGMENT "device: 0, address: 0x100, total_size: 8, stream: 0, segment_type: large"
#define DEVICE_0 "device 0: 1 segments, 0 entries\n  0x100 8 stream 0 large plain at -\n"

TEST(test_bad_segments)
{
	check("{segments: [7, none, [], {}, {blocks: []}, {" SEGMENT "},"
	      " {device: -1, address: 1, total_size: 1}, {device: 1024, address: 1, total_size: 1},"
	      " {device: x, address: 1, total_size: 1}, {device: 0, address: -1, total_size: 1},"
	      " {device: 0, address: 1, total_size: -1}, {device: 0, address: 1.0, total_size: 1},"
	      " {device: 0, address: 1, total_size: 9223372036854775808}], device_traces: []}",
	      DEVICE_0 "dropped 12\n");
	/* What they can do without. */
	check("{segments: [{address: 18446744073709551615, total_size: 9223372036854775807,"
	      " stream: 18446744073709551615, segment_pool_id: (1, x), is_expandable: 1,"
	      " frames: 7, blocks: 7}], device_traces: {a: 1}}",
	      "device 0: 1 segments, 0 entries\n"
	      "  0xffffffffffffffff 9223372036854775807 stream -1 large plain at -\n");
	check("{segments: [{address: 1, total_size: 2, stream: 0, segment_pool_id: (1, 2, 3)},"
	      " {device: 1023, address: 1, total_size: 2, stream: 0, segment_pool_id: (-1, 2)}]}",
	      "device 0: 1 segments, 0 entries\n"
	      "  0x1 2 stream 0 large plain at -\n"
	      "device 1023: 1 segments, 0 entries\n"
	      "  0x1 2 stream 0 pool -1,2 large plain at -\n");
}

TEST(test_bad_blocks)
{
	check("{segments: [{" SEGMENT ", blocks: [7, {}, {size: 1}, {state: inactive},"
	      " {size: -1, state: inactive}, {size: 1, state: 7},"
	      " {size: 18446744073709551615, state: inactive},"
	      " {size: 2, state: anything, frames: {}, history: 7},"
	      " {size: 2, state: active_allocated, requested_size: -5, frames: x, history: []},"
	      " {size: 4, state: active_allocated, requested_size: 18446744073709551615,"
	      "  history: [7]}]}]}",
	      DEVICE_0 "    0x100 2/-1 inactive at -\n"
		       "    0x102 2/-1 allocated at -\n"
		       "    0x104 4/-1 allocated at -\n"
		       "dropped 7\n");
	/* Addresses that are added up may pass the end. */
	check("{segments: [{address: 18446744073709551615, total_size: 1, stream: 0, blocks: ["
	      " {size: 9223372036854775807, state: inactive}, {size: 1, state: inactive}]}]}",
	      "device 0: 1 segments, 0 entries\n"
	      "  0xffffffffffffffff 1 stream 0 large plain at -\n"
	      "    0x7ffffffffffffffe 1/-1 inactive at -\n"
	      "    0xffffffffffffffff 9223372036854775807/-1 inactive at -\n");
}

/* Sorted by address; those of the same address stay as they are. */
TEST(test_blocks_in_any_order)
{
	check("{segments: [{" SEGMENT ", blocks: ["
	      " {address: 0x104, size: 1, state: inactive}, {address: 0x102, size: 2,"
	      " state: inactive}, {address: 0x104, size: 3, state: inactive},"
	      " {address: 0x100, size: 4, state: inactive}]}]}",
	      DEVICE_0 "    0x100 4/-1 inactive at -\n"
		       "    0x102 2/-1 inactive at -\n"
		       "    0x104 1/-1 inactive at -\n"
		       "    0x104 3/-1 inactive at -\n");
}

TEST(test_bad_entries)
{
	check("{segments: [], device_traces: [7, [7, {}, {action: alloc}, {action: 7, size: 1},"
	      " {action: alloc, size: 1}, {action: alloc, addr: -1, size: 1},"
	      " {action: free_requested, addr: 1, size: -1}, {action: free_completed, addr: 1,"
	      " size: 3, stream: x, time_us: x, frames: x, pool_id: x, user_metadata: 7},"
	      " {action: oom, size: 4}, {action: 'un\\x07known', size: 5}]]}",
	      "device 1: 0 segments, 10 entries\n"
	      "  other (none) 0x0 0 stream 0 at -\n"
	      "  other (none) 0x0 0 stream 0 at -\n"
	      "  other (none) 0x0 0 stream 0 at -\n"
	      "  other (none) 0x0 0 stream 0 at -\n"
	      "  other (none) 0x0 0 stream 0 at -\n"
	      "  other (none) 0x0 0 stream 0 at -\n"
	      "  other (none) 0x0 0 stream 0 at -\n"
	      "  free_completed 0x1 3 stream -1 at -\n"
	      "  oom 0x0 4 stream -1 at -\n"
	      "  other (un\x07known) 0x0 5 stream -1 at -\n"
	      "dropped 7\n");
}

/* What two refer to counts once: else ten lines could make a model of any size. */
TEST(test_shared_lists)
{
	check("{segments: [{" SEGMENT ", blocks: @blocks=[{size: 8, state: inactive}, 7]},"
	      " {" SEGMENT ", blocks: @blocks}, @all={" SEGMENT "}, @all],"
	      " device_traces: [@e=[{action: snapshot, size: 1, stream: 0}], @e, @e]}",
	      "device 0: 3 segments, 1 entries\n"
	      "  0x100 8 stream 0 large plain at -\n"
	      "    0x100 8/-1 inactive at -\n"
	      "  0x100 8 stream 0 large plain at -\n"
	      "  0x100 8 stream 0 large plain at -\n"
	      "  snapshot 0x0 1 stream 0 at -\n"
	      "dropped 5\n");
	check("{segments: [{" SEGMENT ", blocks: [@b={size: 4, state: inactive}, @b]}]}",
	      "device 0: 1 segments, 0 entries\n"
	      "  0x100 8 stream 0 large plain at -\n"
	      "    0x100 4/-1 inactive at -\n"
	      "dropped 1\n");
	/* Lists that hold themselves. */
	check("{segments: @s=[@s, {" SEGMENT ", frames: @s, blocks: @s}], device_traces: @s}",
	      "device 0: 1 segments, 0 entries\n"
	      "  0x100 8 stream 0 large plain at :0: :0:\n"
	      "dropped 4\n");
}

TEST(test_too_many_devices)
{
	char text[1024 * 4 + 200] = "{segments: [], device_traces: [";

	for (int i = 0; i < 1023; i++)
		strcat(text, "[],");
	strcat(text, "[{action: oom, size: 1, stream: 0}], [1, 2, 3], none, [4]]}");
	check(text, "device 1023: 0 segments, 1 entries\n  oom 0x0 1 stream 0 at -\ndropped 4\n");
}

/* ---- entries in any number ----------------------------------------------------------------- */

enum { MANY = 700 };

/* Keys in turns, and sometimes so many that a dict has a table of its own. */
static char *many_entries(void)
{
	char *text = calloc(MANY, 2000), *at = text;

	assert_non_null(text);
	at += sprintf(at, "{segments: [], device_traces: [[");
	for (int i = 0; i < MANY; i++) {
		if (i % 3 == 1)
			at += sprintf(at, "{size: %d, addr: 5, action: alloc, time_us: %d", i, i);
		else
			at += sprintf(at, "{action: oom, size: %d, device_free: %d", i, i);
		for (int k = 0; i % 50 == 0 && k < 70; k++)
			at += sprintf(at, ", key%d: %d", k, k);
		at += sprintf(at, "},");
	}
	sprintf(at, "]]}");
	return text;
}

static void check_batches(const struct snapshot *s, size_t room)
{
	struct snapshot_entry entries[MANY + 1];
	size_t first = 0, count;

	while ((count = tsi_snapshot_entries(s, 0, first, entries, room))) {
		for (size_t i = 0; i < count; i++) {
			int64_t number = (int64_t)(first + i);
			bool is_alloc = number % 3 == 1;
			assert_int_equal(entries[i].action, is_alloc ? ACTION_ALLOC : ACTION_OOM);
			assert_int_equal(entries[i].size_bytes, number);
			assert_int_equal(entries[i].address, is_alloc ? 5 : number);
			assert_true(entries[i].time_us == (is_alloc ? number : NO_TIME_US));
		}
		first += count;
	}
	assert_int_equal(first, MANY);
}

TEST(test_batches)
{
	static const size_t rooms[] = { 1, 7, 255, 256, 257, MANY, MANY + 1 };
	char *text = many_entries();
	struct plain *plain = plain_of(text);
	struct snapshot s;

	assert_int_equal(tsi_snapshot_init(&s, plain, NULL), TSCOPE_OK);
	assert_int_equal(s.dropped_count, 0);
	for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++)
		check_batches(&s, rooms[i]);
	tsi_snapshot_deinit(&s);
	tsi_plain_free(plain);
	free(text);
}

/* ---- what is none --------------------------------------------------------------------------- */

TEST(test_is_snapshot)
{
	static const struct {
		const char *text;
		bool is_one;
	} cases[] = {
		{ "{segments: []}", true },
		{ "{segments: (), other: 1}", true },
		{ "{segments: [1], device_traces: []}", true },
		{ "{segments: [{total_size: 1}]}", true },
		{ "{segments: [{blocks: []}]}", true },
		{ "{segments: [{start: 1, end: 2}]}", false }, /* of speech (whisper) */
		{ "{segments: [1]}", false },
		{ "[{total_size: 1, blocks: []}]", true },
		{ "[{total_size: 1, blocks: 7}]", false },
		{ "[{blocks: []}]", false },
		{ "{segments: {}}", false },
		{ "{segments: 1}", false },
		{ "{device_traces: []}", false },
		{ "[]", false },
		{ "{}", false },
		{ "7", false },
		{ "@a=[@a]", false },
		{ "[[1, 2], [[0, 1], [2, 3]]]", false }, /* a memory timeline */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct plain *plain = plain_of(cases[i].text);
		if (tsi_is_snapshot(plain) != cases[i].is_one)
			fail_msg("%s", cases[i].text);
		tsi_plain_free(plain);
	}
}

TEST(test_nothing_in_it)
{
	static const struct {
		const char *text;
		enum tscope_status status;
		const char *message;
	} cases[] = {
		{ "{segments: [], device_traces: [[], []]}", TSCOPE_E_EMPTY,
		  "a snapshot without segments and entries: the process held no device memory, and "
		  "recorded no history" },
		{ "{segments: [1], device_traces: [[2]]}", TSCOPE_E_DAMAGED,
		  "a snapshot of which no segment and no entry can be understood" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct plain *plain = plain_of(cases[i].text);
		struct tscope_error err = { 0 };
		struct snapshot s;
		assert_int_equal(tsi_snapshot_init(&s, plain, &err), cases[i].status);
		assert_string_equal(err.message, cases[i].message);
		tsi_snapshot_deinit(&s);
		tsi_plain_free(plain);
	}
}

/* One good entry among bad segments is enough. */
TEST(test_one_good_entry)
{
	check("{segments: [1, 2], device_traces: [[{action: oom, size: 1, stream: 0}]]}",
	      "device 0: 0 segments, 1 entries\n  oom 0x0 1 stream 0 at -\ndropped 2\n");
}

TEST(test_out_of_memory)
{
	struct plain *plain = plain_of(
		"{segments: [{" SEGMENT ", blocks: [{address: 2, size: 1, state: inactive},"
		" {address: 1, size: 1, state: inactive}]}], device_traces: [[], [7]]}");
	struct snapshot s;

	struct alloc_sweep sweep = { .at_least = 3 };
	while (alloc_sweep_next(&sweep)) {
		alloc_sweep_try(&sweep, tsi_snapshot_init(&s, plain, &sweep.err));
		tsi_snapshot_deinit(&s);
	}
	tsi_plain_free(plain);
}
