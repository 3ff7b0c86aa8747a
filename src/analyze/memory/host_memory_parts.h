/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MEMORY_HOST_MEMORY_PARTS_H
#define TSCOPE_ANALYZE_MEMORY_HOST_MEMORY_PARTS_H

#include "analyze/facts.h"
#include "model/memory/memory_file.h"

/* Shared by the parts of the analyzer host_memory: its tables in the order of definition. */

#define HOST_TABLES(X)                                                                             \
	X(HOST_TABLE_BY_BYTES, "by_bytes", site_columns,                                           \
	  "places by the bytes that they allocated, at most 200")                                  \
	X(HOST_TABLE_BY_COUNT, "by_count", site_columns,                                           \
	  "places by the number of their allocations, at most 200")                                \
	X(HOST_TABLE_BY_PEAK, "by_peak", site_columns,                                             \
	  "places by what of theirs was live at the peak, at most 200")                            \
	X(HOST_TABLE_BY_LEAK, "by_leak", site_columns,                                             \
	  "places by what of theirs was live at the end, at most 200")                             \
	X(HOST_TABLE_BY_GROWTH, "by_growth", site_columns,                                         \
	  "places of which more was live at the end than in the middle, at most 200")              \
	X(HOST_TABLE_BY_ALLOCATOR, "by_allocator", by_allocator_columns, "each allocator")         \
	X(HOST_TABLE_BY_SIZE, "by_size", by_size_columns, "sizes of allocations")                  \
	X(HOST_TABLE_BY_THREAD, "by_thread", by_thread_columns, "each thread")                     \
	X(HOST_TABLE_RESIDENT, "resident", resident_columns,                                       \
	  "resident memory over time, at most 64 stretches")

enum host_table { HOST_TABLES(TSI_TABLE_ID) };

/* Columns of by_bytes, by_count, by_peak, by_leak and by_growth. */
#define HOST_SITE_COLUMNS(X)                                                                       \
	X(HOST_SITE_SITE, "site", TEXT, "file, line and function; empty: not called from Python")  \
	X(HOST_SITE_TOTAL_BYTES, "total_bytes", BYTES, "allocated there")                          \
	X(HOST_SITE_ALLOCATION_COUNT, "count", COUNT, "allocations")                               \
	X(HOST_SITE_PEAK_BYTES, "peak_bytes", BYTES, "live at the peak")                           \
	X(HOST_SITE_LEAKED_BYTES, "leaked_bytes", BYTES, "live at the end")                        \
	X(HOST_SITE_LEAKED_COUNT, "leaked_count", COUNT, "allocations live at the end")            \
	X(HOST_SITE_GROWTH_BYTES, "growth_bytes", BYTES,                                           \
	  "live at the end, less in the middle of the capture")                                    \
	X(HOST_SITE_TEMPORARY_COUNT, "temporary_count", COUNT,                                     \
	  "freed before the thread had made two more")

enum host_site_column { HOST_SITE_COLUMNS(TSI_FACT_ID) };

#define HOST_BY_ALLOCATOR_COLUMNS(X)                                                               \
	X(HOST_BY_ALLOCATOR_ALLOCATOR, "allocator", TEXT, "malloc, mmap …")                        \
	X(HOST_BY_ALLOCATOR_COUNT, "count", COUNT, "allocations")                                  \
	X(HOST_BY_ALLOCATOR_BYTES, "bytes", BYTES,                                                 \
	  "sum of their sizes; absent where only counts were recorded")

enum host_by_allocator_column { HOST_BY_ALLOCATOR_COLUMNS(TSI_FACT_ID) };

#define HOST_BY_SIZE_COLUMNS(X)                                                                    \
	X(HOST_BY_SIZE_MIN_BYTES, "min_bytes", BYTES, "from this size")                            \
	X(HOST_BY_SIZE_MAX_BYTES, "max_bytes", BYTES, "to this one")                               \
	X(HOST_BY_SIZE_COUNT, "count", COUNT, "allocations")

enum host_by_size_column { HOST_BY_SIZE_COLUMNS(TSI_FACT_ID) };

#define HOST_BY_THREAD_COLUMNS(X)                                                                  \
	X(HOST_BY_THREAD_THREAD, "thread", TEXT, "its name, or number")                            \
	X(HOST_BY_THREAD_COUNT, "count", COUNT, "allocations")                                     \
	X(HOST_BY_THREAD_TOTAL_BYTES, "total_bytes", BYTES, "sum of their sizes")                  \
	X(HOST_BY_THREAD_PEAK_BYTES, "peak_bytes", BYTES, "of the peak, what it allocated")

enum host_by_thread_column { HOST_BY_THREAD_COLUMNS(TSI_FACT_ID) };

#define HOST_RESIDENT_COLUMNS(X)                                                                   \
	X(HOST_RESIDENT_TIME_NS, "time_ns", NS,                                                    \
	  "end of a stretch, since the begin of the capture")                                      \
	X(HOST_RESIDENT_RSS_BYTES, "rss_bytes", BYTES, "most resident memory in it")               \
	X(HOST_RESIDENT_HEAP_BYTES, "heap_bytes", BYTES, "most that was live of what was allocated")

enum host_resident_column { HOST_RESIDENT_COLUMNS(TSI_FACT_ID) };

enum { HOST_NS_PER_MS = 1000000 };

/* How many there are; -1: not known. */
struct host_counts {
	int64_t sites, threads;
};

/* Fills all tables. */
struct host_counts tsi_host_memory_tables(const struct analysis_scope *scope,
					  struct fact_sheet *out);

#endif
