/* SPDX-License-Identifier: MIT */
/* MEMORY.*: idle, growing and exhausted memory of the device. */
#include "rule_check.h"

#include "check.h"

/* Of steps: most that was allocated, and reserved. */
#define PEAKS(allocated_bytes, reserved_bytes)                                                     \
	"memory.peak_alloc_bytes " allocated_bytes "\n"                                            \
	"memory.peak_reserved_bytes " reserved_bytes "\n"
#define GROWTH(bytes_per_step, steps, peak_bytes)                                                  \
	"memory.growth_bytes_per_step " bytes_per_step "\n"                                        \
	"memory.step_count " steps "\n"                                                            \
	"memory.peak_alloc_bytes " peak_bytes "\n"

/* A snapshot: most that was requested, and reserved, at once. */
#define HELD(peak_bytes, reserved_bytes)                                                           \
	"snapshot.reserved_bytes " reserved_bytes "\n"                                             \
	"snapshot.peak_allocated_bytes " peak_bytes "\n"                                           \
	"snapshot.peak_reserved_bytes " reserved_bytes "\n"
#define POOL(id, free_bytes)                                                                       \
	"snapshot.by_pool_id pool_id=" id " inactive_bytes=" free_bytes                            \
	" inactive_split_bytes=" free_bytes "\n"
#define STREAM(id, reserved_bytes, free_bytes)                                                     \
	"snapshot.by_stream stream=" id " reserved_bytes=" reserved_bytes                          \
	" inactive_bytes=" free_bytes "\n"
#define TWO_STREAMS(main_free_bytes, side_free_bytes)                                              \
	HELD("6442450944", "10737418240")                                                          \
	STREAM("0", "7516192768", main_free_bytes) STREAM("94370", "3221225472", side_free_bytes)
#define GREW(bytes, peak_bytes)                                                                    \
	"snapshot.growth_bytes " bytes "\n"                                                        \
	"snapshot.peak_allocated_bytes " peak_bytes "\n"
#define CALLS(bytes_per_call, calls, peak_bytes)                                                   \
	"memory_stats.growth_bytes_per_call " bytes_per_call "\n"                                  \
	"memory_stats.growth_function forward\n"                                                   \
	"memory_stats.call_count 1000\n"                                                           \
	"memory_stats.growth_call_count " calls "\n"                                               \
	"memory_stats.peak_allocated_bytes " peak_bytes "\n"
#define SPLIT(ratio, bytes)                                                                        \
	"snapshot.inactive_split_ratio " ratio "\n"                                                \
	"snapshot.inactive_split_bytes " bytes "\n"
#define USED(peak_bytes, more)                                                                     \
	"snapshot.peak_allocated_bytes " peak_bytes "\n"                                           \
	"snapshot.peak_reserved_bytes 10737418240\n" more
#define CHURN(retries, taken, freed, allocs)                                                       \
	"snapshot.retry_count " retries "\n"                                                       \
	"snapshot.segment_alloc_count " taken "\n"                                                 \
	"snapshot.segment_free_count " freed "\n"                                                  \
	"snapshot.alloc_count " allocs "\n"                                                        \
	"snapshot.flush_count 3\n"
/* 512 MiB asked for. */
#define OOM(device_free_bytes, cause, helps)                                                       \
	"snapshot.oom_count 1\n"                                                                   \
	"snapshot.oom_size_bytes 536870912\n"                                                      \
	"snapshot.oom_device_free_bytes " device_free_bytes "\n"                                   \
	"snapshot.oom_cause " cause "\n"                                                           \
	"snapshot.oom_expandable_segments " helps "\n"

/* A capture: seconds, growth of resident memory against what it was, steps that rise. */
#define RESIDENT(ns, bytes, ratio, rising)                                                         \
	"host_memory.capture_ns " ns "\n"                                                          \
	"host_memory.rss_growth_bytes " bytes "\n"                                                 \
	"host_memory.rss_growth_ratio " ratio "\n"                                                 \
	"host_memory.rss_growth_bytes_per_second 1048576\n"                                        \
	"host_memory.rss_rising_ratio " rising "\n"
/* The same of what is live: growth, and the peak. */
#define LIVE(ns, bytes, peak_bytes)                                                                \
	"host_memory.capture_ns " ns "\n"                                                          \
	"host_memory.growth_bytes " bytes "\n"                                                     \
	"host_memory.peak_bytes " peak_bytes "\n"
#define GROWN_AT "host_memory.by_growth site=/home/u/train.py:41:step growth_bytes=104857600\n"

/* Of 10 GiB that were live then. */
#define LIVE_THEN "snapshot.oom_live_bytes 10737418240\n"
#define ROLE(role, bytes, more) "snapshot.oom_by_role role=" role " bytes=" bytes " " more "\n"
#define CHECKPOINTING "snapshot.activation_checkpointing yes\n"
#define SHORT OOM("0", "shortage", "no") "snapshot.oom_shortfall_bytes 104857600\n" LIVE_THEN
#define FORWARD                                                                                    \
	ROLE("forward", "6442450944",                                                              \
	     "site=/u/model.py:40:forward site_bytes=2147483648 file=/u/model.py "                 \
	     "file_bytes=6442450944")

static const struct rule_case cases[] = {
	/* 6 of 10 GiB on a device of 12: 0.4 is idle, 0.83 of it taken. */
	{ "MEMORY.FRAGMENTATION", FIRES,
	  PEAKS("6442450944", "10737418240") "device_busy.memory_max_bytes 12884901888\n", NULL,
	  "med: 40.0 % of the reserved device memory is idle even at the peak (6.00 GiB allocated "
	  "at the peak, 10.0 GiB reserved; the device has 12.0 GiB)" },
	/* The same on one of 80 GiB: a mean of 0.6 between steps is no matter either. */
	{ "MEMORY.FRAGMENTATION", QUIET,
	  PEAKS("6442450944", "10737418240") "device_busy.memory_max_bytes 85899345920\n"
					     "memory.fragmentation 0.6\n",
	  NULL, "" },
	/* ... but for a request that failed. */
	{ "MEMORY.FRAGMENTATION", FIRES,
	  PEAKS("6442450944", "10737418240") "device_busy.memory_max_bytes 85899345920\n"
					     "memory.oom_count 1\n",
	  NULL,
	  "med: 40.0 % of the reserved device memory is idle even at the peak (6.00 GiB allocated "
	  "at the peak, 10.0 GiB reserved; the device has 80.0 GiB; requests failed or flushed the "
	  "cache)" },
	/* Nothing says how much the device has. */
	{ "MEMORY.FRAGMENTATION", FIRES, PEAKS("1073741824", "2147483648"), NULL,
	  "low: 50.0 % of the reserved device memory is idle even at the peak (1.00 GiB allocated "
	  "at the peak, 2.00 GiB reserved; no request failed: harmless while the device has "
	  "room)" },
	{ "MEMORY.FRAGMENTATION", AT, PEAKS("67108864", "83886080"), NULL, "low: 20.0 %" },
	/* Of 4 GiB idle 3 are of three graphs' own pools: 2 are more than one pool would need. */
	{ "MEMORY.FRAGMENTATION", FIRES,
	  HELD("6442450944", "10737418240") POOL("0,0", "1073741824") POOL("1,0", "1073741824")
		  POOL("2,0", "1073741824") POOL("3,0", "1073741824"),
	  NULL,
	  "low: 3 pools of CUDA graphs hold 2.00 GiB that one pool could share (3.00 GiB "
	  "is free in these pools, for replays of their own graphs; 6.00 GiB allocated at the "
	  "peak, 10.0 GiB reserved; no request failed: harmless while the device has room)" },
	/* They share one, or it is a MemPool. */
	{ "MEMORY.FRAGMENTATION", QUIET,
	  HELD("6442450944", "10737418240") POOL("0,0", "1073741824") POOL("0,1", "3221225472"),
	  NULL, "" },
	{ "MEMORY.FRAGMENTATION", QUIET,
	  HELD("6442450944", "10737418240") POOL("0,0", "1073741824") POOL("1,0", "3221225472"),
	  NULL, "" },
	{ "MEMORY.FRAGMENTATION", FIRES,
	  HELD("6442450944", "10737418240") POOL("0,0", "3221225472") POOL("0,1", "1073741824"),
	  NULL,
	  "low: 30.0 % of the reserved device memory is idle even at the peak (6.00 GiB allocated "
	  "at the peak, 10.0 GiB reserved; no request failed: harmless while the device has room; "
	  "another 1.00 GiB is free in private pools, for these alone)" },
	/* 3 of the 4 GiB idle are a side stream's, 0.5 of these perhaps a graph's. */
	{ "MEMORY.FRAGMENTATION", FIRES,
	  HELD("6442450944", "10737418240") STREAM("0", "7516192768", "1073741824")
		  STREAM("94370", "3221225472", "3221225472") POOL("1,0", "536870912"),
	  NULL,
	  "low: 35.0 % of the reserved device memory is idle even at the peak (at the end at least "
	  "2.50 GiB is free on side streams, for these alone; 6.00 GiB allocated at the peak, "
	  "10.0 GiB reserved; no request failed: harmless while the device has room; another 512 "
	  "MiB is free in private pools, for these alone)" },
	/* Whose pools these are is not known of two devices. */
	{ "MEMORY.FRAGMENTATION", FIRES,
	  HELD("6442450944", "10737418240") POOL("1,0", "2147483648")
		  POOL("2,0", "2147483648") "snapshot.device_count 2\n",
	  NULL, "low: 40.0 % of the reserved" },
	{ "MEMORY.FRAGMENTATION", AT, PEAKS("67108864", "83886079"), NULL, "" },
	/* One byte less than 64 MiB at the peak. */
	{ "MEMORY.FRAGMENTATION", AT, PEAKS("67108863", "134217728"), NULL, "" },
	/* 8 of 10 GiB are 0.8 of it, and a byte less is not. */
	{ "MEMORY.FRAGMENTATION", AT,
	  PEAKS("1073741824", "8589934592") "device_busy.memory_max_bytes 10737418240\n", NULL,
	  "med: 87.5 %" },
	{ "MEMORY.FRAGMENTATION", AT,
	  PEAKS("1073741824", "8589934591") "device_busy.memory_max_bytes 10737418240\n", NULL,
	  "" },
	{ "MEMORY.FRAGMENTATION", CHANGED, PEAKS("1073741824", "2147483648"),
	  "MEMORY.FRAGMENTATION.threshold=0.6", "" },
	{ "MEMORY.FRAGMENTATION", CHANGED, PEAKS("1073741824", "1431655766") "memory.oom_count 1\n",
	  "MEMORY.FRAGMENTATION.med=0.2", "med: 25.0 %" },
	{ "MEMORY.FRAGMENTATION", CHANGED,
	  PEAKS("1073741824", "2147483648") "device_busy.memory_max_bytes 10737418240\n",
	  "MEMORY.FRAGMENTATION.full=0.2", "med: 50.0 %" },
	{ "MEMORY.FRAGMENTATION", CHANGED, PEAKS("1000", "2000"), "MEMORY.FRAGMENTATION.bytes=1000",
	  "low: 50.0 %" },
	/* Of a snapshot: 96 of 128 MiB are in use at the peak. */
	{ "MEMORY.FRAGMENTATION", FIRES, HELD("100663296", "134217728"), NULL,
	  "low: 25.0 % of the reserved device memory is idle even at the peak (96.0 MiB allocated "
	  "at the peak, 128 MiB reserved; no request failed: harmless while the device has room)" },
	{ "MEMORY.FRAGMENTATION", FIRES, HELD("67108864", "134217728") "snapshot.retry_count 1\n",
	  NULL, "med: 50.0 %" },
	{ "MEMORY.FRAGMENTATION", QUIET, HELD("120795955", "134217728"), NULL, "" },
	/* Nothing was ever reserved. */
	{ "MEMORY.FRAGMENTATION", QUIET, HELD("0", "0"), NULL, "" },
	/* Steps go before a snapshot. */
	{ "MEMORY.FRAGMENTATION", QUIET,
	  PEAKS("1073741824", "1073741824") HELD("67108864", "134217728"), NULL, "" },
	{ "MEMORY.FRAGMENTATION", SKIPPED, "snapshot.reserved_bytes 1\n", NULL,
	  "skipped: no snapshot.peak_allocated_bytes: it needs a snapshot of CUDA's allocator" },
	{ "MEMORY.FRAGMENTATION", SKIPPED,
	  HELD("67108864", "134217728") "! snapshot.peak_allocated_bytes entries are missing\n",
	  NULL, "skipped: snapshot.peak_allocated_bytes is not reliable: entries are missing" },
	/* 5 MiB a step. */
	{ "MEMORY.GROWTH", FIRES, GROWTH("5242880.0", "40", "314572800"), NULL,
	  "high: allocated memory grows by 5.00 MiB per step (200 MiB over 40 steps; peak 300 "
	  "MiB)" },
	{ "MEMORY.GROWTH", QUIET, GROWTH("1000.0", "1000", "104857600"), NULL, "" },
	/* It shrinks. */
	{ "MEMORY.GROWTH", QUIET, GROWTH("-5242880.0", "40", "314572800"), NULL, "" },
	/* 1 MiB a step: 20 MiB of 100. */
	{ "MEMORY.GROWTH", AT, GROWTH("1048576.0", "20", "104857600"), NULL,
	  "high: allocated memory grows by 1.00 MiB per step" },
	{ "MEMORY.GROWTH", AT, GROWTH("1048575.0", "20", "104857600"), NULL, "" },
	/* 20 MiB is 1 % of 2000 MiB. */
	{ "MEMORY.GROWTH", AT, GROWTH("1048576.0", "20", "2097152000"), NULL, "high: allocated" },
	{ "MEMORY.GROWTH", AT, GROWTH("1048576.0", "20", "2097152100"), NULL, "" },
	{ "MEMORY.GROWTH", SKIPPED, GROWTH("5242880.0", "19", "104857600"), NULL,
	  "skipped: 19 steps with memory; it needs 20" },
	/* Between two snapshots: 32 MiB of a peak of 3200, which is 1 %. */
	{ "MEMORY.GROWTH", FIRES,
	  GREW("67108864", "1073741824") "snapshot.growth site=a.py:1:f growth_bytes=1048576\n"
					 "snapshot.growth site=b.py:2:g growth_bytes=66060288\n",
	  NULL,
	  "med: live memory grew by 64.0 MiB between two snapshots (most of it, 63.0 MiB, by "
	  "b.py:2:g)" },
	{ "MEMORY.GROWTH", QUIET, GREW("-67108864", "1073741824"), NULL, "" },
	{ "MEMORY.GROWTH", AT, GREW("33554432", "3355443200"), NULL,
	  "med: live memory grew by 32.0 MiB between two snapshots" },
	{ "MEMORY.GROWTH", AT, GREW("33554431", "3355443200"), NULL, "" },
	{ "MEMORY.GROWTH", AT, GREW("33554432", "3355443300"), NULL, "" },
	{ "MEMORY.GROWTH", SKIPPED, "snapshot.reserved_bytes 1\n", NULL,
	  "skipped: needs an earlier snapshot of the same process: tscope memory EARLIER LATER" },
	{ "MEMORY.GROWTH", CHANGED, GREW("33554432", "104857600"), "MEMORY.GROWTH.bytes=4e7", "" },
	/* From call to call: 4 of 1 MiB are 1 % of 400 MiB. */
	{ "MEMORY.GROWTH", FIRES, CALLS("2097152.0", "4", "104857600"), NULL,
	  "med: allocated memory grows by 2.00 MiB per call of forward" },
	{ "MEMORY.GROWTH", AT, CALLS("1048576.0", "4", "419430400"), NULL, "med: allocated" },
	{ "MEMORY.GROWTH", AT, CALLS("1048575.0", "4", "104857600"), NULL, "" },
	{ "MEMORY.GROWTH", AT, CALLS("1048576.0", "4", "419430500"), NULL, "" },
	{ "MEMORY.GROWTH", SKIPPED, CALLS("1048576000.0", "3", "3145728000"), NULL,
	  "skipped: 3 calls of one function: it needs 4" },
	/* Where a source does not suffice the next one tells; silence of one that does is final. */
	{ "MEMORY.GROWTH", FIRES,
	  GROWTH("5242880.0", "19", "104857600") GREW("67108864", "1073741824"), NULL,
	  "med: live memory grew by 64.0 MiB between two snapshots" },
	{ "MEMORY.GROWTH", FIRES,
	  GROWTH("5242880.0", "40", "314572800") "! memory.growth_bytes_per_step no steps\n" CALLS(
		  "2097152.0", "4", "104857600"),
	  NULL, "med: allocated memory grows by 2.00 MiB per call of forward" },
	{ "MEMORY.GROWTH", FIRES,
	  "snapshot.reserved_bytes 1\n" CALLS("2097152.0", "4", "104857600"), NULL,
	  "med: allocated memory grows by 2.00 MiB per call of forward" },
	{ "MEMORY.GROWTH", FIRES,
	  GREW("67108864", "1073741824") "snapshot.reserved_bytes 1\n"
					 "! snapshot.growth_bytes entries are missing\n" CALLS(
						 "2097152.0", "4", "104857600"),
	  NULL, "med: allocated memory grows by 2.00 MiB per call of forward" },
	{ "MEMORY.GROWTH", QUIET,
	  GROWTH("1000.0", "1000", "104857600") GREW("67108864", "1073741824"), NULL, "" },
	{ "MEMORY.GROWTH", QUIET, GREW("0", "1073741824") CALLS("2097152.0", "4", "104857600"),
	  NULL, "" },
	/* Where none suffices, the reason is the first one's. */
	{ "MEMORY.GROWTH", SKIPPED,
	  GROWTH("5242880.0", "19", "104857600") "snapshot.reserved_bytes 1\n", NULL,
	  "skipped: 19 steps with memory; it needs 20" },
	{ "MEMORY.GROWTH", SKIPPED,
	  GROWTH("5242880.0", "40", "104857600") "! memory.step_count some are lost\n", NULL,
	  "skipped: memory.step_count is not reliable: some are lost" },
	{ "MEMORY.GROWTH", SKIPPED, "snapshot.reserved_bytes 1\nsnapshot.growth_bytes 67108864\n",
	  NULL,
	  "skipped: no snapshot.peak_allocated_bytes: it needs a snapshot of CUDA's allocator" },
	{ "MEMORY.GROWTH", SKIPPED, "memory.step_count 3\n", NULL,
	  "skipped: no memory.growth_bytes_per_step: it needs step records with memory, or a trace "
	  "with profile_memory" },
	{ "MEMORY.GROWTH", SKIPPED, "memory_stats.call_count 1\n", NULL,
	  "skipped: no memory_stats.growth_bytes_per_call: it needs statistics of "
	  "finetuning-scheduler (rank_*_memory_stats)" },
	{ "MEMORY.GROWTH", CHANGED, GROWTH("1048576.0", "20", "104857600"),
	  "MEMORY.GROWTH.threshold=2e6", "" },
	{ "MEMORY.GROWTH", CHANGED, GROWTH("1048576.0", "20", "104857600"),
	  "MEMORY.GROWTH.share=0.21", "" },
	{ "MEMORY.GROWTH", CHANGED, GROWTH("5242880.0", "19", "104857600"),
	  "MEMORY.GROWTH.steps=19", "high: allocated" },
	{ "MEMORY.INACTIVE_SPLIT", FIRES,
	  SPLIT("0.15", "536870912") "snapshot.largest_free_bytes 67108864\n", NULL,
	  "med: 15.0 % of reserved memory is idle in split segments (512 MiB that no other stream, "
	  "pool or process can use; the largest free block is 64.0 MiB)" },
	{ "MEMORY.INACTIVE_SPLIT", QUIET, SPLIT("0.05", "1073741824"), NULL, "" },
	/* 256 MiB */
	{ "MEMORY.INACTIVE_SPLIT", AT, SPLIT("0.1", "268435456"), NULL, "med: 10.0 %" },
	{ "MEMORY.INACTIVE_SPLIT", AT, SPLIT("0.0999", "268435456"), NULL, "" },
	{ "MEMORY.INACTIVE_SPLIT", AT, SPLIT("0.1", "268435455"), NULL, "" },
	{ "MEMORY.INACTIVE_SPLIT", AT, SPLIT("0.25", "268435456"), NULL, "high: 25.0 %" },
	{ "MEMORY.INACTIVE_SPLIT", AT, SPLIT("0.2499", "268435456"), NULL, "med: 25.0 %" },
	/* Half of it is of private pools. */
	{ "MEMORY.INACTIVE_SPLIT", FIRES,
	  SPLIT("0.3", "1073741824") POOL("0,0", "536870912") POOL("1,0", "536870912"), NULL,
	  "med: 15.0 % of reserved memory is idle in split segments (512 MiB that no other stream, "
	  "pool or process can use)" },
	{ "MEMORY.INACTIVE_SPLIT", QUIET, SPLIT("0.3", "1073741824") POOL("0,1", "1073741824"),
	  NULL, "" },
	/* At the peak 90 % of 10 GiB were in use. */
	{ "MEMORY.INACTIVE_SPLIT", FIRES, USED("9663676417", "") SPLIT("0.5", "5368709120"), NULL,
	  "low: 50.0 % of reserved memory is idle in split segments (5.00 GiB that no other "
	  "stream, pool or process can use; at the peak nearly all was in use)" },
	{ "MEMORY.INACTIVE_SPLIT", AT, USED("9663676416", "") SPLIT("0.5", "5368709120"), NULL,
	  "low: 50.0 %" },
	{ "MEMORY.INACTIVE_SPLIT", AT, USED("9663676415", "") SPLIT("0.5", "5368709120"), NULL,
	  "high: 50.0 %" },
	{ "MEMORY.INACTIVE_SPLIT", AT, USED("9663676415", "") SPLIT("0.15", "1610612736"), NULL,
	  "med: 15.0 %" },
	{ "MEMORY.INACTIVE_SPLIT", FIRES,
	  USED("10737418240", "snapshot.oom_count 1\n") SPLIT("0.5", "5368709120"), NULL,
	  "high: 50.0 %" },
	{ "MEMORY.INACTIVE_SPLIT", FIRES,
	  USED("10737418240", "snapshot.retry_count 1\n") SPLIT("0.5", "5368709120"), NULL,
	  "high: 50.0 %" },
	{ "MEMORY.INACTIVE_SPLIT", FIRES,
	  USED("10737418240", "memory_stats.num_alloc_retries 1\n") SPLIT("0.5", "5368709120"),
	  NULL, "high: 50.0 %" },
	{ "MEMORY.INACTIVE_SPLIT", FIRES,
	  USED("10737418240", "snapshot.device_count 2\n") SPLIT("0.5", "5368709120"), NULL,
	  "high: 50.0 %" },
	{ "MEMORY.INACTIVE_SPLIT", FIRES,
	  USED("10737418240", "! snapshot.peak_allocated_bytes entries are missing\n")
		  SPLIT("0.5", "5368709120"),
	  NULL, "high: 50.0 %" },
	/* Half of it was idle at the peak, but no request failed. */
	{ "MEMORY.INACTIVE_SPLIT", FIRES,
	  USED("5368709120", "snapshot.oom_count 0\nsnapshot.retry_count 0\n")
		  SPLIT("0.5", "5368709120"),
	  NULL,
	  "low: 50.0 % of reserved memory is idle in split segments (5.00 GiB that no other "
	  "stream, pool or process can use; no request failed)" },
	{ "MEMORY.INACTIVE_SPLIT", CHANGED, USED("9663676415", "") SPLIT("0.5", "5368709120"),
	  "MEMORY.INACTIVE_SPLIT.peak=0.8", "low: 50.0 %" },
	{ "MEMORY.INACTIVE_SPLIT", CHANGED, SPLIT("0.05", "1073741824"),
	  "MEMORY.INACTIVE_SPLIT.threshold=0.05", "med: 5.0 %" },
	/* 100 MiB on 1000, higher in 6 of 7 eighths. */
	{ "MEMORY.HOST_GROWTH", FIRES,
	  RESIDENT("600000000000", "104857600", "0.1", "0.857142857") GROWN_AT
	  "host_memory.growth_bytes 94371840\n",
	  NULL,
	  "med: resident memory grew by 100 MiB in the second half of the capture (+10.0 %; 60.0 "
	  "MiB per minute; most of it, 100 MiB, by train.py:41:step)" },
	{ "MEMORY.HOST_GROWTH", FIRES, RESIDENT("600000000000", "1048576000", "0.8", "1"), NULL,
	  "high: resident memory grew by 1000 MiB in the second half of the capture (+80.0 %; 60.0 "
	  "MiB per minute)" },
	/* What is live accounts for 10 MiB of 100. */
	{ "MEMORY.HOST_GROWTH", FIRES,
	  RESIDENT("600000000000", "104857600", "0.2",
		   "1") "host_memory.growth_bytes 10485760\n" GROWN_AT,
	  NULL,
	  "med: resident memory grew by 100 MiB in the second half of the capture (+20.0 %; 60.0 "
	  "MiB per minute)" },
	{ "MEMORY.HOST_GROWTH", FIRES, LIVE("600000000000", "104857600", "157286400") GROWN_AT,
	  NULL,
	  "med: 100 MiB were allocated in the second half of the capture and never freed (66.7 % "
	  "of the peak; most of it, 100 MiB, by train.py:41:step)" },
	{ "MEMORY.HOST_GROWTH", QUIET, RESIDENT("600000000000", "0", "0", "0"), NULL, "" },
	/* Once, and to and fro. */
	{ "MEMORY.HOST_GROWTH", QUIET, RESIDENT("600000000000", "1073741824", "2", "0.142857"),
	  NULL, "" },
	{ "MEMORY.HOST_GROWTH", QUIET, LIVE("600000000000", "-104857600", "157286400"), NULL, "" },
	/* A capture that is cut: only resident memory tells. */
	{ "MEMORY.HOST_GROWTH", QUIET,
	  LIVE("600000000000", "104857600", "157286400")
		  RESIDENT("600000000000", "0", "0", "0") "! host_memory.growth_bytes cut\n",
	  NULL, "" },
	{ "MEMORY.HOST_GROWTH", AT, RESIDENT("600000000000", "104857600", "0.0999", "1"), NULL,
	  "" },
	{ "MEMORY.HOST_GROWTH", AT, RESIDENT("600000000000", "104857600", "0.1", "0.714285714"),
	  NULL, "" },
	{ "MEMORY.HOST_GROWTH", AT, RESIDENT("600000000000", "67108863", "0.3", "1"), NULL, "" },
	{ "MEMORY.HOST_GROWTH", AT, RESIDENT("600000000000", "67108864", "0.3", "1"), NULL,
	  "med: resident" },
	{ "MEMORY.HOST_GROWTH", AT, RESIDENT("600000000000", "67108864", "0.4999", "1"), NULL,
	  "med: " },
	{ "MEMORY.HOST_GROWTH", AT, RESIDENT("600000000000", "67108864", "0.5", "1"), NULL,
	  "high: " },
	{ "MEMORY.HOST_GROWTH", AT, RESIDENT("60000000000", "104857600", "0.3", "1"), NULL,
	  "med: " },
	{ "MEMORY.HOST_GROWTH", AT, LIVE("600000000000", "67108864", "134217728"), NULL,
	  "med: 64.0 MiB were allocated in the second half of the capture and never freed (50.0 % "
	  "of the peak)" },
	{ "MEMORY.HOST_GROWTH", AT, LIVE("600000000000", "67108864", "134217729"), NULL, "" },
	{ "MEMORY.HOST_GROWTH", AT, LIVE("600000000000", "67108863", "67108863"), NULL, "" },
	{ "MEMORY.HOST_GROWTH", CHANGED, RESIDENT("9000000000", "104857600", "0.3", "1"),
	  "MEMORY.HOST_GROWTH.seconds=9", "med: " },
	{ "MEMORY.HOST_GROWTH", SKIPPED, RESIDENT("59990000000", "104857600", "0.3", "1"), NULL,
	  "skipped: 59.99 s were captured: it needs 60" },
	{ "MEMORY.HOST_GROWTH", SKIPPED,
	  LIVE("600000000000", "104857600", "157286400") "! host_memory.growth_bytes cut\n", NULL,
	  "skipped: no memory over time: it needs the capture itself, with records "
	  "of resident memory" },
	{ "MEMORY.HOST_GROWTH", SKIPPED, "host_memory.capture_ns 600000000000\n", NULL,
	  "skipped: no memory over time: it needs the capture itself, with records "
	  "of resident memory" },
	{ "MEMORY.CHURN", FIRES, CHURN("2", "30", "20", "1000"), NULL,
	  "med: 2 allocation retries (cache flushed) (20 segments freed and allocated again in 3 "
	  "flushes, 20.0 per 1000 allocations)" },
	{ "MEMORY.CHURN", FIRES, CHURN("0", "30", "25", "1000"), NULL,
	  "med: memory is returned to the driver and allocated again 3 times (25 segments freed "
	  "and allocated again in 3 flushes, 25.0 per 1000 allocations)" },
	/* One empty_cache(), or two, however much they give back. */
	{ "MEMORY.CHURN", QUIET, CHURN("0", "300", "250", "1000") "snapshot.flush_count 2\n", NULL,
	  "" },
	{ "MEMORY.CHURN", CHANGED, CHURN("0", "300", "250", "1000") "snapshot.flush_count 2\n",
	  "MEMORY.CHURN.recurring=2", "med: memory is returned" },
	/* Without stacks each of them may be an empty_cache(). */
	{ "MEMORY.CHURN", AT, CHURN("2", "0", "0", "1000") "! snapshot.retry_count no stacks\n",
	  NULL, "" },
	{ "MEMORY.CHURN", AT, CHURN("3", "0", "0", "1000") "! snapshot.retry_count no stacks\n",
	  NULL, "med: " },
	{ "MEMORY.CHURN", QUIET, CHURN("0", "30", "0", "1000"), NULL, "" },
	/* Given back at the end of the job, or taken at its start. */
	{ "MEMORY.CHURN", QUIET, CHURN("0", "0", "500", "1000"), NULL, "" },
	{ "MEMORY.CHURN", QUIET, CHURN("0", "500", "0", "1000"), NULL, "" },
	{ "MEMORY.CHURN", QUIET, CHURN("0", "500", "500", "0"), NULL, "" },
	{ "MEMORY.CHURN", AT, CHURN("1", "0", "0", "1000"), NULL,
	  "med: 1 allocation retry (cache flushed)" },
	{ "MEMORY.CHURN", AT, CHURN("9", "0", "0", "1000"), NULL, "med: " },
	{ "MEMORY.CHURN", AT, CHURN("10", "0", "0", "1000"), NULL, "high: " },
	/* 20 of 4000 are 5 of 1000. */
	{ "MEMORY.CHURN", AT, CHURN("0", "20", "20", "4000"), NULL, "med: memory is returned" },
	{ "MEMORY.CHURN", AT, CHURN("0", "20", "20", "4001"), NULL, "" },
	{ "MEMORY.CHURN", AT, CHURN("0", "19", "20", "1000"), NULL, "" },
	{ "MEMORY.CHURN", CHANGED, CHURN("0", "19", "20", "1000"), "MEMORY.CHURN.segments=19",
	  "med: memory is returned" },
	{ "MEMORY.CHURN", FIRES, "memory_stats.num_alloc_retries 3\n", NULL,
	  "med: 3 allocation retries (cache flushed)" },
	{ "MEMORY.CHURN", QUIET, "memory_stats.num_alloc_retries 0\n", NULL, "" },
	/* Each source tells of what it saw. */
	{ "MEMORY.CHURN", FIRES, CHURN("0", "0", "0", "1000") "memory_stats.num_alloc_retries 12\n",
	  NULL, "high: 12 allocation retries (cache flushed)" },
	{ "MEMORY.CHURN", FIRES, CHURN("2", "0", "0", "1000") "memory_stats.num_alloc_retries 12\n",
	  NULL, "med: 2 allocation retries (cache flushed)" },
	{ "MEMORY.CHURN", QUIET, CHURN("0", "0", "0", "1000") "memory_stats.num_alloc_retries 0\n",
	  NULL, "" },
	{ "MEMORY.CHURN", FIRES, CHURN("12", "0", "0", "1000") "! snapshot.retry_count no stacks\n",
	  NULL, "med: at most 12 allocation retries (cache flushed)" },
	{ "MEMORY.CHURN", SKIPPED, "memory_stats.call_count 3\n", NULL,
	  "skipped: no memory_stats.num_alloc_retries: it needs statistics of "
	  "finetuning-scheduler (rank_*_memory_stats)" },
	{ "MEMORY.CHURN", SKIPPED, "memory.step_count 3\n", NULL,
	  "skipped: no snapshot.retry_count: it needs a snapshot of CUDA's allocator" },
	{ "MEMORY.OOM", FIRES,
	  OOM("41943040", "fragmentation", "perhaps") "snapshot.oom_free_bytes 734003200\n"
						      "snapshot.oom_largest_free_bytes 268435456\n"
						      "snapshot.oom_site train.py:7:step\n",
	  NULL,
	  "high: CUDA OOM on device 0: tried to allocate 512 MiB, 40.0 MiB free (fragmentation: "
	  "700 MiB was free in segments and 40.0 MiB on the device; the largest free block was 256 "
	  "MiB; requested by train.py:7:step)" },
	{ "MEMORY.OOM", FIRES,
	  OOM("0", "shortage", "no") "snapshot.oom_shortfall_bytes 104857600\n", NULL,
	  "high: CUDA OOM on device 0: tried to allocate 512 MiB, 0 B free (100 MiB short even if "
	  "all free memory were in one piece)" },
	{ "MEMORY.OOM", FIRES, SHORT FORWARD, NULL,
	  "high: CUDA OOM on device 0: tried to allocate 512 MiB, 0 B free (100 MiB short even if "
	  "all free memory were in one piece; 10.0 GiB was live; 60 % of it is allocated in "
	  "forward, 2.00 GiB by model.py:40:forward)" },
	/* 100 MiB are short, and as much of it is free in a pool that another could do without. */
	{ "MEMORY.OOM", FIRES,
	  OOM("0", "shortage", "no") "snapshot.oom_shortfall_bytes 104857600\n" POOL(
		  "1,0", "104857600") POOL("2,0", "209715200"),
	  NULL,
	  "high: CUDA OOM on device 0: tried to allocate 512 MiB, 0 B free (100 MiB short even if "
	  "all free memory were in one piece; 300 MiB is free in 2 pools of CUDA graphs, of which "
	  "one pool could share 100 MiB)" },
	{ "MEMORY.OOM", FIRES,
	  OOM("0", "shortage", "no") "snapshot.oom_shortfall_bytes 104857601\n" POOL(
		  "1,0", "104857600") POOL("2,0", "209715200"),
	  NULL,
	  "high: CUDA OOM on device 0: tried to allocate 512 MiB, 0 B free (100 MiB short even if "
	  "all free memory were in one piece)" },
	/* What was there before says nothing: the next role, too. */
	{ "MEMORY.OOM", FIRES,
	  SHORT ROLE("earlier", "6442450944", "site='' site_bytes=6442450944")
		  ROLE("other", "3221225472",
		       "site=/u/a.py:1:f site_bytes=1073741824 file=/u/a.py "
		       "file_bytes=3221225472") ROLE("forward", "1073741824", ""),
	  NULL,
	  "high: CUDA OOM on device 0: tried to allocate 512 MiB, 0 B free (100 MiB short even if "
	  "all free memory were in one piece; 10.0 GiB was live; 60 % of it was allocated before "
	  "the first recorded entry; 30 % of it is allocated in a.py, 1.00 GiB by a.py:1:f)" },
	{ "MEMORY.OOM", FIRES, SHORT "! snapshot.oom_live_bytes entries are missing\n" FORWARD,
	  NULL,
	  "high: CUDA OOM on device 0: tried to allocate 512 MiB, 0 B free (100 MiB short even if "
	  "all free memory were in one piece)" },
	/* A piece of the default pool that would do: it was for another pool. */
	{ "MEMORY.OOM", FIRES,
	  OOM("0", "fragmentation", "perhaps") "snapshot.oom_free_bytes 734003200\n"
					       "snapshot.oom_largest_free_bytes 734003200\n",
	  NULL,
	  "high: CUDA OOM on device 0: tried to allocate 512 MiB, 0 B free (fragmentation: 700 MiB "
	  "was free in segments and 0 B on the device)" },
	/* 60 GiB are left. */
	{ "MEMORY.OOM", FIRES,
	  OOM("64424509440", "limit", "no") "snapshot.oom_fits_unfragmented yes\n", NULL,
	  "high: CUDA OOM on device 0: tried to allocate 512 MiB, 60.0 GiB free (the driver had "
	  "enough left: a process limit such as set_per_process_memory_fraction refused it)" },
	{ "MEMORY.OOM", FIRES,
	  "snapshot.oom_count 1\nsnapshot.oom_size_bytes 4194304\n"
	  "snapshot.oom_device_free_bytes 16777216\nsnapshot.oom_cause rounding\n"
	  "snapshot.oom_driver_bytes 20971520\n",
	  NULL,
	  "high: CUDA OOM on device 0: tried to allocate 4.00 MiB, 16.0 MiB free (torch rounds it "
	  "up to 20.0 MiB, more than the driver had left)" },
	{ "MEMORY.OOM", FIRES,
	  "snapshot.oom_count 1\nsnapshot.oom_size_bytes 512\nsnapshot.oom_device_free_bytes 0\n",
	  NULL, "high: CUDA OOM on device 0: tried to allocate 512 B, 0 B free" },
	{ "MEMORY.OOM", FIRES, "snapshot.oom_count 3\nsnapshot.oom_size_bytes 536870912\n", NULL,
	  "high: CUDA OOM: tried to allocate 512 MiB (the last of 3 requests that failed)" },
	{ "MEMORY.OOM", FIRES, "memory.oom_count 2\n", NULL,
	  "high: out of memory: 2 requests for device memory failed" },
	{ "MEMORY.OOM", FIRES, "memory.oom_count 0\nmemory_stats.num_ooms 1\n", NULL,
	  "high: out of memory: 1 request for device memory failed" },
	{ "MEMORY.OOM", QUIET, "snapshot.oom_count 0\n", NULL, "" },
	{ "MEMORY.OOM", QUIET, "memory_stats.num_ooms 0\n", NULL, "" },
	{ "MEMORY.OOM", SKIPPED, "memory_stats.call_count 3\n", NULL,
	  "skipped: no memory_stats.num_ooms: it needs statistics of finetuning-scheduler "
	  "(rank_*_memory_stats)" },
	{ "MEMORY.OOM", SKIPPED, "memory.step_count 3\n", NULL,
	  "skipped: no snapshot.oom_count: it needs a snapshot of CUDA's allocator" },
};

/* What would have let the request pass. */
static const struct advice_case advices[] = {
	{ "MEMORY.FRAGMENTATION", TWO_STREAMS("2147483648", "2147483648"),
	  "memory freed on a stream serves that stream alone: let side streams reuse buffers" },
	{ "MEMORY.FRAGMENTATION", TWO_STREAMS("2147483649", "2147483647"),
	  "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True" },
	{ "MEMORY.OOM", OOM("0", "fragmentation", "likely"),
	  "would probably have held the request" },
	{ "MEMORY.OOM", OOM("0", "fragmentation", "perhaps"), "the free pages may suffice" },
	{ "MEMORY.OOM", OOM("0", "fragmentation", "hardly"), "holes smaller than a page" },
	{ "MEMORY.OOM", OOM("64424509440", "limit", "no"), "raise the limit of the process" },
	{ "MEMORY.OOM", OOM("64424509440", "limit", "in_use"), "raise the limit of the process" },
	{ "MEMORY.OOM", OOM("0", "shortage", "no"), "no setting of the allocator" },
	{ "MEMORY.OOM", OOM("0", "shortage", "in_use"), "in use already" },
	{ "MEMORY.OOM", "memory.oom_count 1\n", "where enough was free in pieces" },
	/* What would lower the peak is what fills the memory. */
	{ "MEMORY.OOM", SHORT,
	  "lower the peak by at least 100 MiB: activation checkpointing, a smaller micro-batch, "
	  "sharded or offloaded optimizer state; no setting" },
	{ "MEMORY.OOM", SHORT FORWARD,
	  "by at least 100 MiB: a smaller batch, activation checkpointing where it trains, "
	  "torch.inference_mode() where it does not; no setting" },
	{ "MEMORY.OOM", SHORT FORWARD ROLE("optimizer", "2147483648", ""),
	  "by at least 100 MiB: activation checkpointing, a smaller micro-batch; no setting" },
	{ "MEMORY.OOM", SHORT FORWARD ROLE("optimizer", "2684354560", ""),
	  "a smaller micro-batch; optimizer state sharded over ranks (ZeRO, FSDP), in 8 bits or "
	  "offloaded to the host; no setting" },
	/* It was training at the peak. */
	{ "MEMORY.OOM", SHORT FORWARD "snapshot.by_role role=backward bytes=1\n",
	  ": activation checkpointing, a smaller micro-batch; no setting" },
	/* It is in use already. */
	{ "MEMORY.OOM", SHORT FORWARD CHECKPOINTING,
	  ": a smaller micro-batch, checkpointing of more layers; no setting" },
	{ "MEMORY.OOM", SHORT CHECKPOINTING,
	  "by at least 100 MiB: a smaller micro-batch, sharded or offloaded optimizer state; no" },
	{ "MEMORY.OOM", SHORT FORWARD ROLE("kv_cache", "1073741824", ""),
	  ": fewer tokens at once (vLLM: max_num_batched_tokens, SGLang: chunked_prefill_size); " },
	{ "MEMORY.OOM",
	  SHORT ROLE("kv_cache", "9663676416", "site=/p/vllm/worker/cache_engine.py:8:f"),
	  ": a smaller KV cache (gpu_memory_utilization); " },
	{ "MEMORY.OOM",
	  SHORT ROLE("kv_cache", "9663676416", "site=/p/mem_cache/memory_pool.py:8:f"),
	  ": a smaller KV cache (mem_fraction_static); " },
	{ "MEMORY.OOM",
	  SHORT ROLE("kv_cache", "9663676416", "site=/p/transformers/cache_utils.py:8:f"),
	  ": a KV cache that is quantized or offloaded to the host, fewer or shorter" },
	{ "MEMORY.OOM", SHORT ROLE("kv_cache", "9663676416", "site=/p/own.py:8:f"),
	  "fewer or shorter sequences, or less memory reserved for it; " },
	{ "MEMORY.OOM", SHORT ROLE("parameter", "9663676416", ""),
	  ": parameters in lower precision (bfloat16, quantized) or sharded over more devices; " },
	{ "MEMORY.OOM",
	  SHORT ROLE("parameter", "9663676416", "") ROLE("backward", "1073741824", ""),
	  ": parameters sharded over ranks (FSDP, ZeRO-3) or, where they are frozen, quantized; " },
	{ "MEMORY.OOM", SHORT ROLE("backward", "9663676416", "site=??:0:MmBackward0::apply(x)"),
	  ": a smaller micro-batch, gradients of parameters sharded over ranks (ZeRO-2, FSDP); " },
	{ "MEMORY.OOM",
	  SHORT ROLE("backward", "9663676416", "site=??:0:torch::autograd::AccumulateGrad::apply"),
	  ": gradients sharded over ranks (ZeRO-2, FSDP); " },
	{ "MEMORY.OOM", SHORT ROLE("communication", "9663676416", ""),
	  ": with DDP gradient_as_bucket_view=True, with FSDP smaller wrapped modules" },
	{ "MEMORY.OOM",
	  SHORT ROLE("communication", "9663676416",
		     "site=/p/deepspeed/runtime/zero/partition_parameters.py:1:f"),
	  ": smaller stage3_max_live_parameters and stage3_prefetch_bucket_size (ZeRO-3); no" },
	{ "MEMORY.OOM", SHORT ROLE("other", "9663676416", "site=/u/a.py:1:f site_bytes=9663676416"),
	  ": what a.py:1:f allocates: free it sooner, keep it on the host or make it smaller; " },
	{ "MEMORY.OOM", SHORT ROLE("earlier", "9663676416", ""),
	  "by at least 100 MiB; 90 % of what was live was allocated before the first recorded "
	  "entry: _record_memory_history() before the model is built would show what it is for" },
	{ "MEMORY.OOM", SHORT ROLE("unknown", "9663676416", ""), "context=\"all\"" },
	{ "MEMORY.OOM", SHORT FORWARD POOL("1,0", "104857600") POOL("2,0", "209715200"),
	  "capture the CUDA graphs into one pool (pool=torch.cuda.graph_pool_handle()), the "
	  "largest first, where they never replay at once; or lower the peak by at least" },
	/* 512 MiB asked for. */
	{ "MEMORY.OOM",
	  OOM("0", "shortage", "no") "snapshot.oom_live_bytes 536870911\n"
				     "snapshot.oom_site /u/model.py:41:attend\n" FORWARD,
	  ": split what model.py:41:attend asks for into chunks, since that alone is more" },
	/* What is in use already is not advised. */
	{ "MEMORY.FRAGMENTATION", HELD("67108864", "134217728"),
	  "set PYTORCH_CUDA_ALLOC_CONF=exp" },
	{ "MEMORY.FRAGMENTATION",
	  HELD("67108864", "134217728") "snapshot.expandable_segments yes\n",
	  "expandable segments are in use already: pad" },
	{ "MEMORY.FRAGMENTATION",
	  HELD("67108864", "268435456") POOL("1,0", "100663296") POOL("2,0", "100663296"),
	  "graph_pool_handle" },
	{ "MEMORY.INACTIVE_SPLIT", SPLIT("0.5", "5368709120"), "set PYTORCH_CUDA_ALLOC_CONF=exp" },
	{ "MEMORY.INACTIVE_SPLIT", SPLIT("0.5", "5368709120") "snapshot.expandable_segments yes\n",
	  "expandable segments are in use already: allocate" },
	{ "MEMORY.HOST_GROWTH", RESIDENT("600000000000", "104857600", "0.2", "1"),
	  "look at what grew" },
	{ "MEMORY.HOST_GROWTH",
	  RESIDENT("600000000000", "104857600", "0.2", "1") "host_memory.growth_bytes 52428800\n",
	  "look at what grew" },
	{ "MEMORY.HOST_GROWTH",
	  RESIDENT("600000000000", "104857600", "0.2", "1") "host_memory.growth_bytes 52428799\n",
	  "MALLOC_ARENA_MAX=2" },
	{ "MEMORY.CHURN", CHURN("2", "0", "0", "1000"),
	  "fit again; PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; garbage" },
	{ "MEMORY.CHURN", CHURN("2", "0", "0", "1000") "snapshot.expandable_segments yes\n",
	  "fit again; garbage_collection_threshold:0.8 instead of whole flushes, but only "
	  "together with torch.cuda.set_per_process_memory_fraction()" },
};

TEST(rules_say_what_they_should)
{
	check_rule_cases(cases, sizeof(cases) / sizeof(cases[0]));
}

TEST(an_oom_gets_the_advice_that_helps)
{
	check_rule_advice(advices, sizeof(advices) / sizeof(advices[0]));
}
