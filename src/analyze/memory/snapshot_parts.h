/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MEMORY_SNAPSHOT_PARTS_H
#define TSCOPE_ANALYZE_MEMORY_SNAPSHOT_PARTS_H

#include "analyze/facts.h"
#include "analyze/memory/snapshot_replay.h"
#include "model/memory/memory_file.h"
#include "model/memory/stack_site.h"

/*
 * The parts that the analyzer `snapshot` is made of; each fills its own facts and tables
 * of the sheet. Definitions with units and meanings stand in analyze_snapshot.c.
 */
enum snapshot_fact {
	/* snapshot_totals.c: the end state, of all devices */
	SNAPSHOT_PATH,
	SNAPSHOT_DEVICE_COUNT,
	SNAPSHOT_RESERVED_BYTES,
	SNAPSHOT_ALLOCATED_BYTES,
	SNAPSHOT_PENDING_BYTES,
	SNAPSHOT_ACTIVE_BYTES,
	SNAPSHOT_REQUESTED_BYTES,
	SNAPSHOT_ROUNDING_BYTES,
	SNAPSHOT_INACTIVE_BYTES,
	SNAPSHOT_INACTIVE_SPLIT_BYTES,
	SNAPSHOT_FREE_SEGMENT_BYTES,
	SNAPSHOT_INACTIVE_EXPANDABLE_BYTES,
	SNAPSHOT_LARGEST_FREE_BYTES,
	SNAPSHOT_INACTIVE_RATIO,
	SNAPSHOT_INACTIVE_SPLIT_RATIO,
	SNAPSHOT_FRAGMENTATION_RATIO,
	SNAPSHOT_SEGMENT_COUNT,
	SNAPSHOT_BLOCK_COUNT,
	SNAPSHOT_TRACE_ENTRY_COUNT,
	SNAPSHOT_EXPANDABLE_SEGMENTS,
	SNAPSHOT_ALLOC_CONF,
	/* snapshot_history.c: the window of entries */
	SNAPSHOT_WINDOW_NS,
	SNAPSHOT_PEAK_ALLOCATED_BYTES,
	SNAPSHOT_PEAK_DEVICE,
	SNAPSHOT_PEAK_INDEX,
	SNAPSHOT_PEAK_TIME_NS,
	SNAPSHOT_PEAK_RESERVED_BYTES,
	SNAPSHOT_LIVE_AT_PEAK_COUNT,
	SNAPSHOT_NEVER_FREED_BYTES,
	SNAPSHOT_NEVER_FREED_COUNT,
	SNAPSHOT_ALLOC_COUNT,
	SNAPSHOT_SEGMENT_ALLOC_COUNT,
	SNAPSHOT_SEGMENT_ALLOC_BYTES,
	SNAPSHOT_SEGMENT_FREE_COUNT,
	SNAPSHOT_SEGMENT_FREE_BYTES,
	SNAPSHOT_RETRY_COUNT,
	/* snapshot_oom.c: the last OOM */
	SNAPSHOT_OOM_COUNT,
	SNAPSHOT_OOM_DEVICE,
	SNAPSHOT_OOM_TIME_NS,
	SNAPSHOT_OOM_SIZE_BYTES,
	SNAPSHOT_OOM_DRIVER_BYTES,
	SNAPSHOT_OOM_DEVICE_FREE_BYTES,
	SNAPSHOT_OOM_FREE_BYTES,
	SNAPSHOT_OOM_LARGEST_FREE_BYTES,
	SNAPSHOT_OOM_RESERVED_BYTES,
	SNAPSHOT_OOM_LIVE_BYTES,
	SNAPSHOT_OOM_SHORTFALL_BYTES,
	SNAPSHOT_OOM_FITS_UNFRAGMENTED,
	SNAPSHOT_OOM_CAUSE,
	SNAPSHOT_OOM_EXPANDABLE_SEGMENTS,
	SNAPSHOT_OOM_SITE,
	/* snapshot_growth.c: against an earlier snapshot */
	SNAPSHOT_EARLIER_PATH,
	SNAPSHOT_GROWTH_BYTES,
	SNAPSHOT_GROWTH_RESERVED_BYTES,
	SNAPSHOT_FACT_COUNT,
};

enum snapshot_table {
	SNAPSHOT_ACTIONS,
	SNAPSHOT_BY_DEVICE,
	SNAPSHOT_BY_POOL,
	SNAPSHOT_BY_POOL_ID,
	SNAPSHOT_BY_STREAM,
	SNAPSHOT_BY_KIND,
	SNAPSHOT_SEGMENTS,
	SNAPSHOT_CURVES,
	SNAPSHOT_TIMELINE,
	SNAPSHOT_BY_ROLE,
	SNAPSHOT_SITES,
	SNAPSHOT_OOMS,
	SNAPSHOT_OOM_REMEDIES,
	SNAPSHOT_GROWTH,
	SNAPSHOT_TABLE_COUNT,
};

enum actions_column { ACTIONS_DEVICE, ACTIONS_ACTION, ACTIONS_NUMBER, ACTIONS_BYTES };

/* Columns of the tables by_…: what they are by, then these. */
enum totals_column {
	TOTALS_KEY,
	TOTALS_SEGMENT_COUNT,
	TOTALS_BLOCK_COUNT,
	TOTALS_RESERVED_BYTES,
	TOTALS_ALLOCATED_BYTES,
	TOTALS_PENDING_BYTES,
	TOTALS_ACTIVE_BYTES,
	TOTALS_REQUESTED_BYTES,
	TOTALS_ROUNDING_BYTES,
	TOTALS_INACTIVE_BYTES,
	TOTALS_INACTIVE_SPLIT_BYTES,
	TOTALS_FREE_SEGMENT_BYTES,
	TOTALS_INACTIVE_EXPANDABLE_BYTES,
	TOTALS_LARGEST_FREE_BYTES,
	TOTALS_ALLOCATED_COUNT,
	TOTALS_PENDING_COUNT,
	TOTALS_INACTIVE_COUNT,
	TOTALS_COLUMN_COUNT,
};

enum segments_column {
	SEGMENTS_DEVICE,
	SEGMENTS_ADDRESS,
	SEGMENTS_STREAM,
	SEGMENTS_POOL,
	SEGMENTS_POOL_ID,
	SEGMENTS_KIND,
	SEGMENTS_RESERVED_BYTES,
	SEGMENTS_ALLOCATED_BYTES,
	SEGMENTS_PENDING_BYTES,
	SEGMENTS_ACTIVE_BYTES,
	SEGMENTS_REQUESTED_BYTES,
	SEGMENTS_INACTIVE_BYTES,
	SEGMENTS_LARGEST_FREE_BYTES,
	SEGMENTS_BLOCK_COUNT,
	SEGMENTS_FRAGMENTATION_RATIO,
};

enum curves_column {
	CURVES_DEVICE,
	CURVES_CURVE,
	CURVES_START_BYTES,
	CURVES_END_BYTES,
	CURVES_PEAK_BYTES,
	CURVES_PEAK_INDEX,
	CURVES_PEAK_TIME_NS,
};

enum timeline_column {
	TIMELINE_DEVICE,
	TIMELINE_INDEX,
	TIMELINE_TIME_NS,
	TIMELINE_ACTIVE_BYTES,
	TIMELINE_ALLOCATED_BYTES,
	TIMELINE_RESERVED_BYTES,
};

enum role_column { ROLE_DEVICE, ROLE_ROLE, ROLE_BYTES, ROLE_NUMBER };

enum sites_column {
	SITES_DEVICE,
	SITES_SITE,
	SITES_PEAK_BYTES, /* live at the peak of the device */
	SITES_PEAK_COUNT,
	SITES_END_BYTES,
	SITES_END_COUNT,
	SITES_NEVER_FREED_BYTES,
	SITES_NEVER_FREED_COUNT,
	SITES_ALLOC_BYTES,
	SITES_ALLOC_COUNT,
	SITES_FREED_COUNT,
	SITES_LIFETIME_NS,
	SITES_LONGEST_NS,
	SITES_LIFETIME_ENTRIES,
	SITES_LONGEST_ENTRIES,
};

enum ooms_column {
	OOMS_DEVICE,
	OOMS_INDEX,
	OOMS_TIME_NS,
	OOMS_SIZE_BYTES,
	OOMS_DEVICE_FREE_BYTES,
	OOMS_RESERVED_BYTES,
	OOMS_LIVE_BYTES,
	OOMS_LARGEST_FREE_BYTES,
	OOMS_FREE_BYTES,
	OOMS_UNFRAGMENTED_FREE_BYTES,
	OOMS_FITS_UNFRAGMENTED,
	OOMS_PAGES_LOW_BYTES,
	OOMS_PAGES_HIGH_BYTES,
	OOMS_IS_EXACT,
	OOMS_SITE,
};

enum remedies_column { REMEDIES_OOM, REMEDIES_REMEDY, REMEDIES_VERDICT, REMEDIES_ARITHMETIC };

enum growth_column {
	GROWTH_SITE,
	GROWTH_GROWTH_BYTES,
	GROWTH_EARLIER_BYTES,
	GROWTH_BYTES,
	GROWTH_EARLIER_COUNT,
	GROWTH_NUMBER,
};

/* What the parts work on; made once by analyze_snapshot.c. */
struct snapshot_view {
	const struct snapshot *snapshot;
	struct snapshot_replay *replays; /* by device */
	uint32_t peak_device;            /* index of that with the highest peak */
	struct stack_sites *sites;
	const struct analysis_scope *scope;
};

/* The reason for what is not known where nothing was recorded. */
extern const char tsi_snapshot_no_entries[];

/* Whether entries are missing within the window, and the reason for a doubt that this is. */
bool tsi_snapshot_is_incomplete(const struct snapshot_replay *replay);
extern const char tsi_snapshot_missing_entries[];

/* A time, or a span, in nanoseconds; absent where it is not known or does not fit. */
struct tscope_value tsi_snapshot_ns(int64_t time_us);

void tsi_snapshot_put_totals(const struct snapshot_view *view, struct fact_sheet *out);
void tsi_snapshot_put_history(const struct snapshot_view *view, struct fact_sheet *out);
void tsi_snapshot_put_sites(const struct snapshot_view *view, struct fact_sheet *out);
void tsi_snapshot_put_ooms(const struct snapshot_view *view, struct fact_sheet *out);
void tsi_snapshot_put_growth(const struct snapshot_view *view, struct fact_sheet *out);

#endif
