/* SPDX-License-Identifier: MIT */
/* analyze/memory/snapshot_totals.c: the state at the end of snapshots whose sums stand in comments. */
#include <stdio.h>

#include "analysis_check.h"
#include "analyze/fact_sheet.h"
#include "analyze/memory/snapshot_parts.h"
#include "check.h"
#include "fail_alloc.h"
#include "plain_text.h"

/*
 * Five segments:
 *
 *	device	address	size	what			blocks (state size/requested)
 *	0	0x1000	1000	large, plain, 0,0	A 400/390  I 300  P 100/90  I 200
 *	0	0x2000	500	large, plain, 0,0	I 500 (the only one: a free segment)
 *	0	0x3000	700	large, expandable, 1,0	A 100/100  I 600
 *	1	0x4000	64	small, plain, 0,0	A 64/1
 *	1	0x100	50	small, plain, stream 7	none
 *
 * All:	reserved 1000 + 500 + 700 + 64 + 50 = 2314; allocated 400 + 100 + 64 = 564; pending 100;
 *	active 664; requested 390 + 90 + 100 + 1 = 581; rounding 664 − 581 = 83;
 *	inactive 300 + 200 + 500 + 600 = 1600: split 500, free segment 500, expandable 600;
 *	largest free 600; inactive ÷ reserved = 1600 ÷ 2314 = 0.691443
 * Of device 0, the worse one: fragmentation 1 − 600 ÷ 1600 = 0.625; split 500 ÷ 2200 = 0.227273
 */
static const char five_segments[] =
	"{segments: ["
	"{device: 0, address: 0x1000, total_size: 1000, stream: 0, segment_type: large,"
	" segment_pool_id: (0, 0), is_expandable: false, blocks: ["
	"  {size: 400, requested_size: 390, state: active_allocated},"
	"  {size: 300, requested_size: 123456, state: inactive},"
	"  {size: 100, requested_size: 90, state: active_pending_free},"
	"  {size: 200, requested_size: 123456, state: inactive}]},"
	"{device: 0, address: 0x2000, total_size: 500, stream: 0, segment_type: large,"
	" segment_pool_id: (0, 0), is_expandable: false, blocks: ["
	"  {size: 500, requested_size: 123456, state: inactive}]},"
	"{device: 0, address: 0x3000, total_size: 700, stream: 0, segment_type: large,"
	" segment_pool_id: (1, 0), is_expandable: true, blocks: ["
	"  {size: 100, requested_size: 100, state: active_allocated},"
	"  {size: 600, requested_size: 123456, state: inactive}]},"
	"{device: 1, address: 0x4000, total_size: 64, stream: 0, segment_type: small,"
	" segment_pool_id: (0, 0), is_expandable: false, blocks: ["
	"  {size: 64, requested_size: 1, state: active_allocated}]},"
	"{device: 1, address: 0x100, total_size: 50, stream: 7, segment_type: small,"
	" segment_pool_id: (0, 0), is_expandable: false, blocks: []}],"
	" device_traces: [[{action: alloc, addr: 1, size: 2, stream: 0}], [], [],"
	"  [{action: oom, size: 2, stream: 0}, {action: oom, size: 2, stream: 0}]],"
	" allocator_settings: {PYTORCH_CUDA_ALLOC_CONF: 'max_split_size_mb:64',"
	"  expandable_segments: false}}";

/* Columns of the tables by_…. */
#define COLUMNS                                                                                    \
	" segment_count block_count reserved_bytes allocated_bytes pending_bytes active_bytes"     \
	" requested_bytes rounding_bytes inactive_bytes inactive_split_bytes free_segment_bytes"   \
	" inactive_expandable_bytes largest_free_bytes allocated_count pending_count"              \
	" inactive_count"

TEST(test_facts)
{
	struct analyzed *a = analyze_memory(five_segments, NULL);

	check_facts(a, "snapshot: path device_count segment_count block_count trace_entry_count",
		    "test 3 5 8 3");
	check_facts(a,
		    "snapshot: reserved_bytes allocated_bytes pending_bytes active_bytes"
		    " requested_bytes rounding_bytes inactive_bytes inactive_split_bytes"
		    " free_segment_bytes inactive_expandable_bytes largest_free_bytes",
		    "2314 564 100 664 581 83 1600 500 500 600 600");
	check_facts(a, "snapshot: inactive_ratio inactive_split_ratio fragmentation_ratio",
		    "0.691443 0.227273 0.625");
	check_facts(a, "snapshot: expandable_segments alloc_conf", "yes max_split_size_mb:64");
	check_doubt(a, "snapshot.requested_bytes", NULL);
}

/* Keys are sorted as texts. */
TEST(test_groups)
{
	struct analyzed *a = analyze_memory(five_segments, NULL);

	check_table(a, "snapshot.by_device: device" COLUMNS,
		    "0 3 7 2200 500 100 600 580 20 1600 500 500 600 600 2 1 4\n"
		    "1 2 1 114 64 0 64 1 63 0 0 0 0 0 1 0 0\n");
	check_table(a, "snapshot.by_pool: pool" COLUMNS,
		    "large 3 7 2200 500 100 600 580 20 1600 500 500 600 600 2 1 4\n"
		    "small 2 1 114 64 0 64 1 63 0 0 0 0 0 1 0 0\n");
	check_table(a, "snapshot.by_pool_id: pool_id" COLUMNS,
		    "0,0 4 6 1614 464 100 564 481 83 1000 500 500 0 500 2 1 3\n"
		    "1,0 1 2 700 100 0 100 100 0 600 0 0 600 600 1 0 1\n");
	check_table(a, "snapshot.by_stream: stream" COLUMNS,
		    "0 4 8 2264 564 100 664 581 83 1600 500 500 600 600 3 1 4\n"
		    "7 1 0 50 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
	check_table(a, "snapshot.by_kind: kind" COLUMNS,
		    "expandable 1 2 700 100 0 100 100 0 600 0 0 600 600 1 0 1\n"
		    "plain 4 6 1614 464 100 564 481 83 1000 500 500 0 500 2 1 3\n");
}

/* By inactive bytes, then address: 600; 500 at 0x1000 and 0x2000; 0 at 0x100 and 0x4000. */
TEST(test_segments)
{
	struct analyzed *a = analyze_memory(five_segments, NULL);

	check_table(a, "snapshot.segments: device address stream pool pool_id kind",
		    "0 0x3000 0 large 1,0 expandable\n"
		    "0 0x1000 0 large 0,0 plain\n"
		    "0 0x2000 0 large 0,0 plain\n"
		    "1 0x100 7 small 0,0 plain\n"
		    "1 0x4000 0 small 0,0 plain\n");
	/* 1 − 300 ÷ 500 = 0.4 */
	check_table(a,
		    "snapshot.segments: reserved_bytes allocated_bytes pending_bytes active_bytes"
		    " requested_bytes inactive_bytes largest_free_bytes block_count"
		    " fragmentation_ratio",
		    "700 100 0 100 100 600 600 2 0\n"
		    "1000 400 100 500 480 500 300 4 0.4\n"
		    "500 0 0 0 0 500 500 1 0\n"
		    "50 0 0 0 0 0 0 0 -\n"
		    "64 64 0 64 1 0 0 1 -\n");
}

/* One request that is not known makes the sum of its groups so, and not of others. */
TEST(test_unknown_requests)
{
	struct analyzed *a = analyze_memory(
		"{segments: ["
		"{device: 0, address: 1, total_size: 10, segment_type: large, stream: 10, blocks: ["
		" {size: 4, state: active_allocated}, {size: 2, requested_size: 1,"
		"  state: active_allocated}]},"
		"{device: 1, address: 0xffff, total_size: 10, segment_type: small, stream: 9,"
		" blocks: [{size: 4, requested_size: 3, state: active_allocated}]},"
		"{device: 2, address: 0x2, total_size: 8, segment_type: small, blocks: []}]}",
		NULL);

	check_facts(a, "snapshot: active_bytes requested_bytes rounding_bytes", "10 - -");
	check_doubt(
		a, "snapshot.rounding_bytes",
		"some blocks do not say how many bytes were asked for (torch before 2.0 without "
		"history)");
	check_table(a, "snapshot.by_device: device requested_bytes rounding_bytes",
		    "0 - -\n1 3 1\n2 0 0\n");
	/* As texts: 10 comes before 9. */
	check_table(a, "snapshot.by_stream: stream requested_bytes", "10 -\n9 3\nunknown 0\n");
	check_table(a, "snapshot.by_pool_id: pool_id requested_bytes", "unknown -\n");
	check_table(a, "snapshot.segments: address requested_bytes", "0x1 -\n0x2 0\n0xffff 3\n");
}

TEST(test_settings)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "[{address: 1, total_size: 1, blocks: []}]", "no -" },
		{ "[{address: 1, total_size: 1, blocks: [], is_expandable: true}]", "yes -" },
		{ "{segments: [], device_traces: [[{action: oom, size: 1}]]}", "- -" },
		{ "{segments: [], device_traces: [[{action: oom, size: 1}]], allocator_settings:"
		  " {expandable_segments: true, PYTORCH_CUDA_ALLOC_CONF: a}}",
		  "yes a" },
		{ "{segments: [], device_traces: [[{action: oom, size: 1}]], allocator_settings:"
		  " {expandable_segments: false, PYTORCH_ALLOC_CONF: b}}",
		  "no b" },
		{ "{segments: [], device_traces: [[{action: oom, size: 1}]], allocator_settings:"
		  " {expandable_segments: 1, PYTORCH_CUDA_ALLOC_CONF: 7}}",
		  "- -" },
		{ "{segments: [], device_traces: [[{action: oom, size: 1}]],"
		  " allocator_settings: []}",
		  "- -" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct analyzed *a = analyze_memory(cases[i].text, NULL);
		check_facts(a, "snapshot: expandable_segments alloc_conf", cases[i].expected);
	}
}

/* The largest of several is a maximum, wherever it stands. */
TEST(test_largest_free)
{
	struct analyzed *a = analyze_memory(
		"{segments: [{address: 1, total_size: 9, stream: 0, blocks: ["
		" {size: 5, state: inactive}, {size: 4, state: inactive}]},"
		" {address: 9, total_size: 3, stream: 0, blocks: [{size: 3, state: inactive}]}]}",
		NULL);

	check_facts(a, "snapshot: inactive_bytes largest_free_bytes", "12 5");
	check_table(a, "snapshot.by_stream: inactive_bytes largest_free_bytes", "12 5\n");
}

/*
 * The worst device's ratios, which need not be the same device's:
 *
 *	0	reserved 100: inactive 60 + 30, split 90 ÷ 100 = 0.9; fragmentation 1 − 60 ÷ 90 = 1/3
 *	1	reserved 1000: inactive 4 × 10, split 0.04; fragmentation 1 − 10 ÷ 40 = 0.75
 *	2	no segments
 *
 * Over both it would be split 130 ÷ 1100, fragmentation 1 − 60 ÷ 130.
 */
TEST(test_worst_device)
{
	struct analyzed *a =
		analyze_memory("{segments: [{device: 0, address: 1, total_size: 100, blocks: ["
			       " {size: 60, state: inactive}, {size: 10, state: active_allocated},"
			       " {size: 30, state: inactive}]},"
			       "{device: 1, address: 200, total_size: 1000, blocks: ["
			       " {size: 10, state: inactive}, {size: 400, state: active_allocated},"
			       " {size: 10, state: inactive}, {size: 400, state: active_allocated},"
			       " {size: 10, state: inactive}, {size: 160, state: active_allocated},"
			       " {size: 10, state: inactive}]}],"
			       " device_traces: [[], [], [{action: oom, size: 1}]]}",
			       NULL);

	check_facts(a, "snapshot: inactive_split_ratio fragmentation_ratio inactive_ratio",
		    "0.9 0.75 0.118182");
}

/* Without segments every sum is 0, and no ratio is there. */
TEST(test_no_segments)
{
	struct analyzed *a = analyze_memory(
		"{segments: [], device_traces: [[{action: snapshot, size: 1}]]}", NULL);

	check_facts(a,
		    "snapshot: device_count reserved_bytes requested_bytes inactive_ratio"
		    " inactive_split_ratio fragmentation_ratio trace_entry_count",
		    "1 0 0 - - - 1");
	check_table(a, "snapshot.by_device: device", "");
	check_table(a, "snapshot.by_kind: kind", "");
	check_table(a, "snapshot.segments: address", "");
}

/* Sums stay at the largest number; more may be requested than there is. */
TEST(test_absurd_numbers)
{
	struct analyzed *a = analyze_memory(
		"{segments: ["
		"{address: 0, total_size: 9223372036854775807, stream: 0, blocks: ["
		" {size: 9223372036854775807, state: inactive}, {size: 9223372036854775807,"
		"  state: inactive}, {size: 5, requested_size: 9223372036854775807,"
		"  state: active_allocated}]},"
		"{address: 0, total_size: 9223372036854775807, stream: 0, blocks: ["
		" {size: 5, requested_size: 9223372036854775807, state: active_allocated}]}]}",
		NULL);

	check_facts(a,
		    "snapshot: reserved_bytes inactive_bytes active_bytes requested_bytes"
		    " rounding_bytes largest_free_bytes fragmentation_ratio",
		    "9223372036854775807 9223372036854775807 10 9223372036854775807"
		    " -9223372036854775797 9223372036854775807 0");
}

/* ---- memory ------------------------------------------------------------------------------- */

/* The part alone: what it puts into a sheet. */
static enum tscope_status put_totals(struct tscope_memory *memory, struct tscope_error *err)
{
	extern const struct analyzer tsi_analyzer_snapshot;
	struct fact_sheet sheet = { 0 };
	const struct analysis_scope scope = { .memory = memory };
	const struct snapshot_view view = { .snapshot = &memory->snapshot, .scope = &scope };
	enum tscope_status status = tsi_fact_sheet_init(&sheet, &tsi_analyzer_snapshot.def, err);

	if (status == TSCOPE_OK) {
		tsi_snapshot_put_totals(&view, &sheet);
		status = tsi_fact_sheet_status(&sheet, err);
	}
	tsi_fact_sheet_deinit(&sheet);
	return status;
}

TEST(test_out_of_memory)
{
	struct tscope_memory memory = { .plain = plain_of(five_segments), .info.path = "test" };

	assert_int_equal(tsi_snapshot_init(&memory.snapshot, memory.plain, NULL), TSCOPE_OK);
	struct alloc_sweep sweep = { .at_least = 20 };
	while (alloc_sweep_next(&sweep))
		alloc_sweep_try(&sweep, put_totals(&memory, &sweep.err));
	tsi_snapshot_deinit(&memory.snapshot);
	tsi_plain_free(memory.plain);
}
