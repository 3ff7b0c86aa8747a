/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MEMORY_HOST_MEMORY_PARTS_H
#define TSCOPE_ANALYZE_MEMORY_HOST_MEMORY_PARTS_H

#include "analyze/facts.h"
#include "model/memory/memory_file.h"

/* What the parts of the analyzer host_memory share: its tables in the order of definition. */

enum host_table {
	HOST_TABLE_BY_BYTES,
	HOST_TABLE_BY_COUNT,
	HOST_TABLE_BY_PEAK,
	HOST_TABLE_BY_LEAK,
	HOST_TABLE_BY_GROWTH,
	HOST_TABLE_BY_ALLOCATOR,
	HOST_TABLE_BY_SIZE,
	HOST_TABLE_BY_THREAD,
	HOST_TABLE_RESIDENT,
};

/* Of by_bytes, by_count, by_peak, by_leak and by_growth. */
enum host_site_column {
	HOST_SITE_SITE,
	HOST_SITE_TOTAL_BYTES,
	HOST_SITE_ALLOCATION_COUNT,
	HOST_SITE_PEAK_BYTES,
	HOST_SITE_LEAKED_BYTES,
	HOST_SITE_LEAKED_COUNT,
	HOST_SITE_GROWTH_BYTES,
	HOST_SITE_TEMPORARY_COUNT,
};

enum host_by_allocator_column {
	HOST_BY_ALLOCATOR_ALLOCATOR,
	HOST_BY_ALLOCATOR_COUNT,
	HOST_BY_ALLOCATOR_BYTES,
};

enum host_by_size_column {
	HOST_BY_SIZE_MIN_BYTES,
	HOST_BY_SIZE_MAX_BYTES,
	HOST_BY_SIZE_COUNT,
};

enum host_by_thread_column {
	HOST_BY_THREAD_THREAD,
	HOST_BY_THREAD_COUNT,
	HOST_BY_THREAD_TOTAL_BYTES,
	HOST_BY_THREAD_PEAK_BYTES,
};

enum host_resident_column {
	HOST_RESIDENT_TIME_NS,
	HOST_RESIDENT_RSS_BYTES,
	HOST_RESIDENT_HEAP_BYTES,
};

enum { HOST_NS_PER_MS = 1000000 };

/* How many there are; -1: not known. */
struct host_counts {
	int64_t sites, threads;
};

/* Fills all tables. */
struct host_counts tsi_host_memory_tables(const struct analysis_scope *scope,
					  struct fact_sheet *out);

#endif
