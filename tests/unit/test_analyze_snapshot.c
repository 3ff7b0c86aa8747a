/* SPDX-License-Identifier: MIT */
/* The analyzer of snapshots as a whole: facts and tables of small ones, worked out by hand. */
#include "analysis_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "fail_alloc.h"
#include "model/memory/memory_file.h"
#include "plain_text.h"

/*
 * A device, times in µs. Two blocks of model.py's forward, b and c; one that a module took when
 * it was built, a; one of an optimizer's step, d, at the address that b had.
 *
 *	 #  time
 *	 0  1000  segment of 20 MiB at 1048576
 *	 1  1010  a 4,000,000 at 1048576             live  4,000,000
 *	 2  1020  b 6,000,000 at 5242880                  10,000,000
 *	 3  1030  c 8,000,000 at 11534336                 18,000,000  the peak: a, b, c
 *	 4  1050  b to be freed
 *	 5  1060  b free                                  12,000,000
 *	 6  1080  d 5,000,000 at 5242880                  17,000,000
 *	 7  1090  a segment of 2 MiB given back, and
 *	 8  1090  by the same call another one taken: a retry
 *	 9  1100  a request of 9,000,192 fails, the driver has 1,000,000 left
 *	10  1200  snapshot
 *	11  1300  custom, 7 bytes
 *
 * At the end a takes 4 MiB, d 5 MiB, then 1 MiB is free, c takes 8 MiB, and 2 MiB are free.
 */
#define SEGMENTS                                                                                   \
	"{address: 1048576, device: 0, total_size: 20971520, stream: 0, segment_type: large, "     \
	"blocks: [{address: 1048576, size: 4194304, requested_size: 4000000, "                     \
	"state: active_allocated},"                                                                \
	"{address: 5242880, size: 5242880, requested_size: 5000000, state: active_allocated},"     \
	"{address: 10485760, size: 1048576, state: inactive},"                                     \
	"{address: 11534336, size: 8388608, requested_size: 8000000, state: active_allocated},"    \
	"{address: 19922944, size: 2097152, state: inactive}]},"                                   \
	"{address: 33554432, device: 0, total_size: 2097152, stream: 0, segment_type: small, "     \
	"blocks: [{address: 33554432, size: 2097152, state: inactive}]}"

#define LINEAR "'/x/site-packages/torch/nn/modules/linear.py'"
#define BUILT                                                                                      \
	"@built=[{filename: " LINEAR ", line: 90, name: __init__},"                                \
	"{filename: 'model.py', line: 3, name: __init__}]"
#define FORWARD "@forward=[{filename: 'model.py', line: 7, name: forward}]"
#define OPTIMIZER                                                                                  \
	"@optimizer=[{filename: '/x/site-packages/torch/optim/adam.py', line: 1, name: step},"     \
	"{filename: 'train.py', line: 20, name: main}]"

#define ENTRY(action, addr, size, time, frames)                                                    \
	"{action: " #action ", addr: " #addr ", size: " #size ", time_us: " #time                  \
	", stream: 0, frames: " frames "},"

#define ENTRIES                                                                                    \
	ENTRY(segment_alloc, 1048576, 20971520, 1000, BUILT)                                       \
	ENTRY(alloc, 1048576, 4000000, 1010, "@built")                                             \
	ENTRY(alloc, 5242880, 6000000, 1020, FORWARD)                                              \
	ENTRY(alloc, 11534336, 8000000, 1030, "@forward")                                          \
	ENTRY(free_requested, 5242880, 6000000, 1050, "@built")                                    \
	ENTRY(free_completed, 5242880, 6000000, 1060, "@built")                                    \
	ENTRY(alloc, 5242880, 5000000, 1080, OPTIMIZER)                                            \
	ENTRY(segment_free, 1, 2097152, 1090, "@forward")                                          \
	ENTRY(segment_alloc, 33554432, 2097152, 1090, "@forward")                                  \
	"{action: oom, size: 9000192, device_free: 1000000, time_us: 1100, stream: 0, "            \
	"frames: @forward},"                                                                       \
	"{action: snapshot, size: 0, time_us: 1200}, {action: custom, size: 7, time_us: 1300}"

#define SNAPSHOT "{segments: [" SEGMENTS "], device_traces: [[" ENTRIES "]]}"

TEST(facts)
{
	struct analyzed *a = analyze_memory(SNAPSHOT, NULL);

	/* From 1000 to 1300 µs. Reserved: 2 MiB before, 22 MiB after entry 0. */
	check_facts(a,
		    "snapshot: window_ns peak_allocated_bytes peak_device peak_index peak_time_ns "
		    "peak_reserved_bytes live_at_peak_count",
		    "300000 18000000 0 3 1030000 23068672 3");
	/* a, c and d; 4 allocs; 20 + 2 MiB taken, 2 given back. */
	check_facts(a,
		    "snapshot: never_freed_bytes never_freed_count alloc_count segment_alloc_count "
		    "segment_alloc_bytes segment_free_count segment_free_bytes retry_count "
		    "flush_count",
		    "17000000 3 4 2 23068672 1 2097152 1 1");
	check_doubt(a, "snapshot.peak_allocated_bytes", NULL);
	check_doubt(a, "snapshot.retry_count", NULL);
	/* The parts that other files work out are there, too. */
	check_facts(a, "snapshot: reserved_bytes active_bytes requested_bytes trace_entry_count",
		    "23068672 17825792 17000000 12");
}

TEST(tables_of_the_window)
{
	struct analyzed *a = analyze_memory(SNAPSHOT, NULL);

	check_table(a, "snapshot.actions: device action count bytes",
		    "0 alloc 4 23000000\n"
		    "0 custom 1 7\n"
		    "0 free_completed 1 6000000\n"
		    "0 free_requested 1 6000000\n"
		    "0 oom 1 9000192\n"
		    "0 segment_alloc 2 23068672\n"
		    "0 segment_free 1 2097152\n"
		    "0 snapshot 1 0\n");
	check_table(a,
		    "snapshot.curves: device curve start_bytes end_bytes peak_bytes peak_index "
		    "peak_time_ns",
		    "0 active 0 17000000 18000000 3 1030000\n"
		    "0 allocated 0 17000000 18000000 3 1030000\n"
		    "0 reserved 2097152 23068672 23068672 0 1000000\n");
	check_table(a,
		    "snapshot.timeline: device index time_ns active_bytes allocated_bytes "
		    "reserved_bytes",
		    "0 0 1000000 0 0 23068672\n"
		    "0 1 1010000 4000000 4000000 23068672\n"
		    "0 2 1020000 10000000 10000000 23068672\n"
		    "0 3 1030000 18000000 18000000 23068672\n"
		    "0 4 1050000 18000000 12000000 23068672\n"
		    "0 5 1060000 12000000 12000000 23068672\n"
		    "0 6 1080000 17000000 17000000 23068672\n"
		    "0 7 1090000 17000000 17000000 20971520\n"
		    "0 8 1090000 17000000 17000000 23068672\n"
		    "0 9 1100000 17000000 17000000 23068672\n"
		    "0 10 1200000 17000000 17000000 23068672\n"
		    "0 11 1300000 17000000 17000000 23068672\n");
	check_table(a, "snapshot.by_role: device role bytes count site site_bytes file file_bytes",
		    "0 forward 14000000 2 model.py:7:forward 14000000 model.py 14000000\n"
		    "0 parameter 4000000 1 model.py:3:__init__ 4000000 model.py 4000000\n");
	/* When the request failed, d was there instead of b. */
	check_table(a,
		    "snapshot.oom_by_role: device role bytes count site site_bytes file file_bytes",
		    "0 forward 8000000 1 model.py:7:forward 8000000 model.py 8000000\n"
		    "0 optimizer 5000000 1 train.py:20:main 5000000 train.py 5000000\n"
		    "0 parameter 4000000 1 model.py:3:__init__ 4000000 model.py 4000000\n");
}

TEST(sites)
{
	struct analyzed *a = analyze_memory(SNAPSHOT, NULL);

	check_table(a,
		    "snapshot.sites: site bytes count end_bytes end_count never_freed_bytes "
		    "never_freed_count alloc_bytes alloc_count",
		    "model.py:7:forward 14000000 2 8000000 1 8000000 1 14000000 2\n"
		    "model.py:3:__init__ 4000000 1 4000000 1 4000000 1 4000000 1\n"
		    "train.py:20:main 0 0 5000000 1 5000000 1 5000000 1\n");
	/* b: from 1020 to 1050 µs, from entry 2 to entry 4. */
	check_table(a,
		    "snapshot.sites: freed_count lifetime_ns longest_ns lifetime_entries "
		    "longest_entries",
		    "1 30000 30000 2 2\n0 0 0 0 0\n0 0 0 0 0\n");
	/* At each entry the sum is active_bytes of the timeline. */
	check_table(a, "snapshot.site_timeline: site index bytes",
		    "model.py:7:forward 0 0\nmodel.py:7:forward 1 0\n"
		    "model.py:7:forward 2 6000000\nmodel.py:7:forward 3 14000000\n"
		    "model.py:7:forward 4 14000000\nmodel.py:7:forward 5 8000000\n"
		    "model.py:7:forward 6 8000000\nmodel.py:7:forward 7 8000000\n"
		    "model.py:7:forward 8 8000000\nmodel.py:7:forward 9 8000000\n"
		    "model.py:7:forward 10 8000000\nmodel.py:7:forward 11 8000000\n"
		    "model.py:3:__init__ 0 0\nmodel.py:3:__init__ 1 4000000\n"
		    "model.py:3:__init__ 2 4000000\nmodel.py:3:__init__ 3 4000000\n"
		    "model.py:3:__init__ 4 4000000\nmodel.py:3:__init__ 5 4000000\n"
		    "model.py:3:__init__ 6 4000000\nmodel.py:3:__init__ 7 4000000\n"
		    "model.py:3:__init__ 8 4000000\nmodel.py:3:__init__ 9 4000000\n"
		    "model.py:3:__init__ 10 4000000\nmodel.py:3:__init__ 11 4000000\n"
		    "train.py:20:main 0 0\ntrain.py:20:main 1 0\ntrain.py:20:main 2 0\n"
		    "train.py:20:main 3 0\ntrain.py:20:main 4 0\ntrain.py:20:main 5 0\n"
		    "train.py:20:main 6 5000000\ntrain.py:20:main 7 5000000\n"
		    "train.py:20:main 8 5000000\ntrain.py:20:main 9 5000000\n"
		    "train.py:20:main 10 5000000\ntrain.py:20:main 11 5000000\n");
}

/* Two of one bytes at the peak: more at the end first, then by name; "" is before others. */
TEST(the_order_of_sites)
{
	struct analyzed *a = analyze_memory(
		"{segments: [], device_traces: [["
		"{action: alloc, addr: 1, size: 10, frames: [{filename: 'b.py', line: 1, name: "
		"f}]},"
		"{action: alloc, addr: 2, size: 10, frames: [{filename: 'a.py', line: 1, name: "
		"f}]},"
		"{action: alloc, addr: 3, size: 9, frames: [{filename: 'd.py', line: 1, name: f}]},"
		"{action: alloc, addr: 4, size: 9, frames: [{filename: 'c.py', line: 1, name: f}]},"
		"{action: alloc, addr: 5, size: 9},"
		"{action: free_requested, addr: 4, size: 9}, {action: free_completed, addr: 4, "
		"size: 9},"
		"{action: free_completed, addr: 99, size: 0}]]}",
		NULL);

	/* No times: no lifetimes in ns. */
	check_table(a, "snapshot.sites: device site bytes end_bytes lifetime_ns lifetime_entries",
		    "0 a.py:1:f 10 10 - 0\n"
		    "0 b.py:1:f 10 10 - 0\n"
		    "0  9 9 - 0\n"
		    "0 d.py:1:f 9 9 - 0\n"
		    "0 c.py:1:f 9 0 - 2\n");
	check_facts(a, "snapshot: window_ns peak_time_ns peak_index", "- - 4");
}

/*
 * No line of b.py has most, but the file. Of what has no stack, blocks from before the entries are
 * apart: the one at the end, and the one that is freed.
 */
TEST(roles_and_files)
{
	static const char text[] =
		"{segments: [{address: 50, total_size: 6, blocks: [{size: 6, requested_size: 6, "
		"state: active_allocated}]}], device_traces: [["
		"{action: alloc, addr: 1, size: 10, frames: [{filename: 'b.py', line: 1, name: "
		"f}]},"
		"{action: alloc, addr: 2, size: 15, frames: [{filename: 'a.py', line: 1, name: "
		"f}]},"
		"{action: alloc, addr: 3, size: 9, frames: [{filename: 'b.py', line: 2, name: f}]},"
		"{action: alloc, addr: 4, size: 8, frames: [{filename: '?', line: 0, name: "
		"'xBackward0::apply'}]},"
		"{action: alloc, addr: 5, size: 7},"
		"{action: free_completed, addr: 99, size: 5}]]}";
	struct analyzed *a = analyze_memory(text, NULL);

	check_table(a, "snapshot.by_role: role bytes count site site_bytes file file_bytes",
		    "other 34 3 a.py:1:f 15 b.py 19\n"
		    "earlier 11 2  11  0\n"
		    "backward 8 1 ?:0:xBackward0::apply 8  0\n"
		    "unknown 7 1  7  0\n");
}

/* Of a block from before the entries that was gone by the peak nothing is known: no row. */
TEST(what_was_gone_by_the_peak)
{
	struct analyzed *a = analyze_memory(
		"{segments: [], device_traces: [[{action: free_completed, addr: 9, size: 5},"
		"{action: alloc, addr: 2, size: 10, frames: [{filename: 'a.py', line: 1, name: f}]}"
		"]]}",
		NULL);

	check_table(a, "snapshot.sites: site bytes", "a.py:1:f 10\n");
	check_facts(a, "snapshot: peak_index live_at_peak_count", "1 1");
}

/* ---- what is not known -------------------------------------------------------------------- */

#define NO_ENTRIES                                                                                 \
	"no entries were recorded (torch.cuda.memory._record_memory_history): only the end is "    \
	"known"

TEST(nothing_was_recorded)
{
	struct analyzed *a =
		analyze_memory("{segments: [" SEGMENTS "], device_traces: [[]]}", NULL);

	/* The peak is at least what is there at the end; a gate must not take it for the peak. */
	check_facts(a,
		    "snapshot: peak_allocated_bytes live_at_peak_count peak_index peak_time_ns "
		    "window_ns never_freed_bytes alloc_count retry_count oom_count",
		    "17000000 3 -1 - - - - - -");
	check_doubt(a, "snapshot.peak_allocated_bytes", NO_ENTRIES);
	check_doubt(a, "snapshot.retry_count", NO_ENTRIES);
	check_doubt(a, "snapshot.oom_count", NO_ENTRIES);
	check_doubt(a, "snapshot.reserved_bytes", NULL);
	check_table(a, "snapshot.curves: curve start_bytes peak_bytes peak_index",
		    "active 17000000 17000000 -1\nallocated 17000000 17000000 -1\n"
		    "reserved 23068672 23068672 -1\n");
	check_table(a, "snapshot.timeline: index", "");
}

#define MISSING                                                                                    \
	"entries are missing within the window: more was freed than was there, or a block that "   \
	"was live was allocated again"

TEST(entries_are_missing)
{
	static const char *const texts[] = {
		/* More was freed than was there: 5 − 9 before the alloc. */
		"{segments: [{address: 1, total_size: 5, blocks: [{size: 5, state: "
		"active_allocated}]}],"
		" device_traces: [[{action: alloc, addr: 7, size: 4}, {action: segment_alloc, "
		"addr: 1,"
		" size: 6}]]}",
		/* Allocated where a block was live; no curve falls below 0. */
		"{segments: [], device_traces: [[{action: alloc, addr: 1, size: 4},"
		" {action: alloc, addr: 1, size: 4}, {action: free_requested, addr: 2, size: 8},"
		" {action: free_completed, addr: 2, size: 8}]]}",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(texts); i++) {
		struct analyzed *a = analyze_memory(texts[i], NULL);
		check_doubt(a, "snapshot.peak_allocated_bytes",
			    "entries are missing within the window: more was freed than was there, "
			    "or a block that was live was allocated again");
		check_doubt(a, "snapshot.never_freed_bytes", MISSING);
		check_doubt(a, "snapshot.never_freed_count", MISSING);
		check_doubt(a, "snapshot.alloc_count", NULL);
	}
}

TEST(a_retry_without_stacks_is_at_most_one)
{
	struct analyzed *a = analyze_memory("{segments: [], device_traces: [["
					    "{action: segment_free, addr: 1, size: 4},"
					    "{action: segment_alloc, addr: 1, size: 4},"
					    "{action: segment_free, addr: 1, size: 4}]]}",
					    NULL);

	check_facts(a, "snapshot: retry_count oom_count", "1 0");
	check_doubt(a, "snapshot.retry_count",
		    "at most: without stacks an empty_cache() before an allocation looks the same");
}

/* Device 1 has the peak, 40; the window spans both. */
TEST(two_devices)
{
	struct analyzed *a =
		analyze_memory("{segments: [{address: 1, device: 0, total_size: 30, blocks: ["
			       "{size: 30, state: active_allocated}]}], device_traces: [["
			       "{action: alloc, addr: 1, size: 30, time_us: 2},"
			       "{action: oom, size: 1, device_free: 0, time_us: 9}], ["
			       "{action: alloc, addr: 1, size: 40, time_us: 5},"
			       "{action: oom, size: 2, device_free: 0, time_us: 8},"
			       "{action: free_requested, addr: 1, size: 40, time_us: 8},"
			       "{action: free_completed, addr: 1, size: 40, time_us: 8}]]}",
			       NULL);

	check_facts(a,
		    "snapshot: peak_allocated_bytes peak_device peak_time_ns window_ns alloc_count "
		    "never_freed_bytes",
		    "40 1 5000 7000 2 30");
	check_table(a, "snapshot.ooms: device index size_bytes", "0 1 1\n1 1 2\n");
	/* That of device 0 came later. */
	check_facts(a, "snapshot: oom_count oom_device oom_size_bytes oom_time_ns", "2 0 1 9000");
	check_table(a, "snapshot.sites: device bytes end_bytes freed_count",
		    "0 30 30 0\n1 40 0 1\n");
}

/* ---- OOMs --------------------------------------------------------------------------------- */

TEST(an_oom)
{
	struct analyzed *a = analyze_memory(SNAPSHOT, NULL);

	/* Free are 1 + 2 MiB of the large segment and the small one of 2 MiB: 5,242,880 bytes. */
	check_facts(
		a,
		"snapshot: oom_count oom_device oom_time_ns oom_size_bytes oom_device_free_bytes "
		"oom_free_bytes oom_largest_free_bytes oom_reserved_bytes oom_live_bytes",
		"1 0 1100000 9000192 1000000 5242880 2097152 23068672 17000000");
	/* 9,000,192 − 5,242,880 − 1,000,000 */
	check_facts(a,
		    "snapshot: oom_shortfall_bytes oom_fits_unfragmented oom_expandable_segments "
		    "oom_site",
		    "2757312 no no model.py:7:forward");
	/* One page of 2 MiB in the small segment, perhaps; none of 20 MiB. */
	check_table(
		a,
		"snapshot.ooms: device index time_ns size_bytes device_free_bytes reserved_bytes "
		"live_bytes largest_free_bytes free_bytes unfragmented_free_bytes "
		"fits_unfragmented pages_low_bytes pages_high_bytes is_exact site",
		"0 9 1100000 9000192 1000000 23068672 17000000 2097152 5242880 6242880 no "
		"1000000 3097152 yes model.py:7:forward\n");
	/*
	 * 9000192 is 8.58 MiB, 1000000 976.6 KiB, 6242880 5.95 MiB; 2757312 2.63 MiB, and without
	 * the largest piece 6903040 6.58 MiB. A segment of 20 MiB is split in any case.
	 */
	check_table(
		a, "snapshot.oom_remedies: oom remedy verdict arithmetic",
		"0 expandable_segments no 8.58 MiB asked > 977 KiB left by the driver + 5.00 MiB "
		"free in 3 pieces, largest 2.00 MiB\n"
		"0 garbage_collection_threshold no not at that moment: a request fails only after "
		"every whole free segment was given back, which is all that it frees earlier, and "
		"only where a memory fraction is set: 2.00 MiB of these were left\n"
		"0 max_split_size_mb no 8.58 MiB asked > 977 KiB left by the driver + 0 B free "
		"beside other blocks in segments above 20 MiB, which a limit keeps whole\n"
		"0 smaller_peak yes by at least 2.63 MiB (8.58 MiB asked - 5.95 MiB free in all); "
		"by "
		"6.58 MiB with the pieces as they were (8.58 MiB asked - 2.00 MiB, the largest "
		"piece)\n");
}

TEST(no_memory)
{
	struct tscope_memory *memory = calloc(1, sizeof(*memory));

	assert_non_null(memory);
	memory->plain = plain_of(SNAPSHOT);
	memory->info.path = "test";
	assert_int_equal(tsi_memory_build(memory, NULL), TSCOPE_OK);
	struct alloc_sweep sweep = { .at_least = 50 };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_analysis *analysis = NULL;
		alloc_sweep_try(&sweep,
				tscope_memory_analyze(&analysis, memory, NULL, NULL, &sweep.err));
		tscope_analysis_free(analysis);
	}
	tscope_memory_free(memory);
}
