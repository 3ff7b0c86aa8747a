/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MEMORY_SNAPSHOT_PARTS_H
#define TSCOPE_ANALYZE_MEMORY_SNAPSHOT_PARTS_H

#include "analyze/facts.h"
#include "analyze/memory/snapshot_replay.h"
#include "model/memory/memory_file.h"
#include "model/memory/stack_site.h"

/*
 * The parts that the analyzer `snapshot` is made of; each fills its own facts and tables
 * of the sheet.
 */
#define SNAPSHOT_FACTS(X)                                                                          \
	/* snapshot_totals.c: the end state, of all devices */                                     \
	X(SNAPSHOT_PATH, "path", TEXT, "file that these figures are of")                           \
	X(SNAPSHOT_DEVICE_COUNT, "device_count", COUNT, "devices with a segment or an entry")      \
	X(SNAPSHOT_RESERVED_BYTES, "reserved_bytes", BYTES, "what segments hold")                  \
	X(SNAPSHOT_ALLOCATED_BYTES, "allocated_bytes", BYTES, "blocks handed out, rounded")        \
	X(SNAPSHOT_PENDING_BYTES, "pending_bytes", BYTES,                                          \
	  "freed blocks that other streams may still use")                                         \
	X(SNAPSHOT_ACTIVE_BYTES, "active_bytes", BYTES, "allocated and pending")                   \
	X(SNAPSHOT_REQUESTED_BYTES, "requested_bytes", BYTES, "asked for by active blocks")        \
	X(SNAPSHOT_ROUNDING_BYTES, "rounding_bytes", BYTES, "active less requested")               \
	X(SNAPSHOT_INACTIVE_BYTES, "inactive_bytes", BYTES, "blocks that nobody uses")             \
	X(SNAPSHOT_INACTIVE_SPLIT_BYTES, "inactive_split_bytes", BYTES,                            \
	  "of these, in segments that hold other blocks, too")                                     \
	X(SNAPSHOT_FREE_SEGMENT_BYTES, "free_segment_bytes", BYTES,                                \
	  "of these, whole segments that empty_cache() frees")                                     \
	X(SNAPSHOT_INACTIVE_EXPANDABLE_BYTES, "inactive_expandable_bytes", BYTES,                  \
	  "of these, in expandable segments")                                                      \
	X(SNAPSHOT_LARGEST_FREE_BYTES, "largest_free_bytes", BYTES, "largest inactive block")      \
	X(SNAPSHOT_INACTIVE_RATIO, "inactive_ratio", RATIO, "inactive ÷ reserved")                 \
	X(SNAPSHOT_INACTIVE_SPLIT_RATIO, "inactive_split_ratio", RATIO,                            \
	  "inactive split ÷ reserved, on the device where that is most")                           \
	X(SNAPSHOT_FRAGMENTATION_RATIO, "fragmentation_ratio", RATIO,                              \
	  "1 − largest free ÷ inactive, on the device where that is most")                         \
	X(SNAPSHOT_SEGMENT_COUNT, "segment_count", COUNT, "segments")                              \
	X(SNAPSHOT_BLOCK_COUNT, "block_count", COUNT, "blocks, inactive ones included")            \
	X(SNAPSHOT_TRACE_ENTRY_COUNT, "trace_entry_count", COUNT, "entries of all devices")        \
	X(SNAPSHOT_EXPANDABLE_SEGMENTS, "expandable_segments", FLAG,                               \
	  "the allocator ran with expandable segments")                                            \
	X(SNAPSHOT_ALLOC_CONF, "alloc_conf", TEXT, "PYTORCH_CUDA_ALLOC_CONF")                      \
	X(SNAPSHOT_ACTIVATION_CHECKPOINTING, "activation_checkpointing", FLAG,                     \
	  "true where stacks show it in use; else not known")                                      \
	/* snapshot_history.c: the window of entries */                                            \
	X(SNAPSHOT_WINDOW_NS, "window_ns", NS, "from the first entry to the last")                 \
	X(SNAPSHOT_PEAK_ALLOCATED_BYTES, "peak_allocated_bytes", BYTES,                            \
	  "most that was requested and not yet free again, on the device where that is most")      \
	X(SNAPSHOT_PEAK_DEVICE, "peak_device", COUNT, "that device")                               \
	X(SNAPSHOT_PEAK_INDEX, "peak_index", COUNT, "its entry; -1: before the first")             \
	X(SNAPSHOT_PEAK_TIME_NS, "peak_time_ns", NS, "Unix time of that entry")                    \
	X(SNAPSHOT_PEAK_RESERVED_BYTES, "peak_reserved_bytes", BYTES, "most that it reserved")     \
	X(SNAPSHOT_LIVE_AT_PEAK_COUNT, "live_at_peak_count", COUNT, "its blocks at the peak")      \
	X(SNAPSHOT_NEVER_FREED_BYTES, "never_freed_bytes", BYTES,                                  \
	  "allocated within the entries and not freed in them")                                    \
	X(SNAPSHOT_NEVER_FREED_COUNT, "never_freed_count", COUNT, "blocks of these")               \
	X(SNAPSHOT_ALLOC_COUNT, "alloc_count", COUNT, "allocations within the entries")            \
	X(SNAPSHOT_SEGMENT_ALLOC_COUNT, "segment_alloc_count", COUNT,                              \
	  "segments taken or mapped (cudaMalloc)")                                                 \
	X(SNAPSHOT_SEGMENT_ALLOC_BYTES, "segment_alloc_bytes", BYTES, "bytes of these")            \
	X(SNAPSHOT_SEGMENT_FREE_COUNT, "segment_free_count", COUNT,                                \
	  "segments given back or unmapped (cudaFree)")                                            \
	X(SNAPSHOT_SEGMENT_FREE_BYTES, "segment_free_bytes", BYTES, "bytes of these")              \
	X(SNAPSHOT_FLUSH_COUNT, "flush_count", COUNT,                                              \
	  "times that segments were given back and others taken after that")                       \
	X(SNAPSHOT_RETRY_COUNT, "retry_count", COUNT,                                              \
	  "allocations that flushed the cache and tried again; without stacks at most so many")    \
	/* snapshot_oom.c: the last OOM */                                                         \
	X(SNAPSHOT_OOM_COUNT, "oom_count", COUNT, "requests that failed")                          \
	X(SNAPSHOT_OOM_DEVICE, "oom_device", COUNT, "device of the last of them")                  \
	X(SNAPSHOT_OOM_TIME_NS, "oom_time_ns", NS, "Unix time of the last of them")                \
	X(SNAPSHOT_OOM_SIZE_BYTES, "oom_size_bytes", BYTES, "what it asked for")                   \
	X(SNAPSHOT_OOM_DRIVER_BYTES, "oom_driver_bytes", BYTES,                                    \
	  "what torch asks the driver for, to serve that")                                         \
	X(SNAPSHOT_OOM_DEVICE_FREE_BYTES, "oom_device_free_bytes", BYTES,                          \
	  "what the driver had left then")                                                         \
	X(SNAPSHOT_OOM_FREE_BYTES, "oom_free_bytes", BYTES,                                        \
	  "what lay free in segments of the default pool")                                         \
	X(SNAPSHOT_OOM_LARGEST_FREE_BYTES, "oom_largest_free_bytes", BYTES,                        \
	  "largest contiguous piece that it could have had")                                       \
	X(SNAPSHOT_OOM_RESERVED_BYTES, "oom_reserved_bytes", BYTES, "what segments held then")     \
	X(SNAPSHOT_OOM_LIVE_BYTES, "oom_live_bytes", BYTES, "what was requested and live then")    \
	X(SNAPSHOT_OOM_SHORTFALL_BYTES, "oom_shortfall_bytes", BYTES,                              \
	  "what was missing even without fragmentation")                                           \
	X(SNAPSHOT_OOM_FITS_UNFRAGMENTED, "oom_fits_unfragmented", FLAG,                           \
	  "all that was free, in one piece, would have done")                                      \
	X(SNAPSHOT_OOM_CAUSE, "oom_cause", TEXT,                                                   \
	  "limit (of the process: the driver had enough left), rounding (up, of what the driver "  \
	  "is asked for), fragmentation, shortage")                                                \
	X(SNAPSHOT_OOM_EXPANDABLE_SEGMENTS, "oom_expandable_segments", TEXT,                       \
	  "would expandable segments have helped: likely, perhaps, hardly, no, in_use")            \
	X(SNAPSHOT_OOM_SITE, "oom_site", TEXT, "who asked")                                        \
	/* snapshot_growth.c: against an earlier snapshot */                                       \
	X(SNAPSHOT_EARLIER_PATH, "earlier_path", TEXT,                                             \
	  "the snapshot that growth is measured from")                                             \
	X(SNAPSHOT_GROWTH_BYTES, "growth_bytes", BYTES, "requested live bytes since then")         \
	X(SNAPSHOT_GROWTH_RESERVED_BYTES, "growth_reserved_bytes", BYTES, "reserved since then")

enum snapshot_fact { SNAPSHOT_FACTS(TSI_FACT_ID) SNAPSHOT_FACT_COUNT };

#define SNAPSHOT_TABLES(X)                                                                         \
	X(SNAPSHOT_ACTIONS, "actions", actions_columns, "entries by action")                       \
	X(SNAPSHOT_BY_DEVICE, "by_device", device_columns, "the end state by device")              \
	X(SNAPSHOT_BY_POOL, "by_pool", pool_columns, "by small and large segments")                \
	X(SNAPSHOT_BY_POOL_ID, "by_pool_id", pool_id_columns, "by private pool")                   \
	X(SNAPSHOT_BY_STREAM, "by_stream", stream_columns, "by stream")                            \
	X(SNAPSHOT_BY_KIND, "by_kind", kind_columns, "by kind of segment")                         \
	X(SNAPSHOT_SEGMENTS, "segments", segments_columns, "each segment")                         \
	X(SNAPSHOT_CURVES, "curves", curves_columns, "memory over time, in figures")               \
	X(SNAPSHOT_TIMELINE, "timeline", timeline_columns, "memory over time, as a sketch")        \
	X(SNAPSHOT_BY_ROLE, "by_role", role_columns, "what was live at the peak, by role")         \
	X(SNAPSHOT_SITE_TIMELINE, "site_timeline", site_timeline_columns,                          \
	  "what the largest sites held over time, as a sketch")                                    \
	X(SNAPSHOT_SITES, "sites", sites_columns, "allocation sites, by bytes at the peak")        \
	X(SNAPSHOT_OOMS, "ooms", ooms_columns, "requests that failed")                             \
	X(SNAPSHOT_OOM_BY_ROLE, "oom_by_role", role_columns,                                       \
	  "what was live when the last request failed, by role")                                   \
	X(SNAPSHOT_OOM_REMEDIES, "oom_remedies", remedies_columns,                                 \
	  "what would have let them pass")                                                         \
	X(SNAPSHOT_GROWTH, "growth", growth_columns, "sites against the earlier snapshot")

enum snapshot_table { SNAPSHOT_TABLES(TSI_TABLE_ID) };

#define ACTIONS_COLUMNS(X)                                                                         \
	X(ACTIONS_DEVICE, "device", COUNT, "device")                                               \
	X(ACTIONS_ACTION, "action", TEXT, "kind of entry")                                         \
	X(ACTIONS_NUMBER, "count", COUNT, "entries")                                               \
	X(ACTIONS_BYTES, "bytes", BYTES, "sum of their sizes")

enum actions_column { ACTIONS_COLUMNS(TSI_FACT_ID) };

/* Columns of the tables by_…: what they are by, then these. */
#define TOTALS_COLUMNS(X, name, unit, meaning)                                                     \
	X(TOTALS_KEY, name, unit, meaning)                                                         \
	X(TOTALS_SEGMENT_COUNT, "segment_count", COUNT, "segments")                                \
	X(TOTALS_BLOCK_COUNT, "block_count", COUNT, "blocks")                                      \
	X(TOTALS_RESERVED_BYTES, "reserved_bytes", BYTES, "what segments hold")                    \
	X(TOTALS_ALLOCATED_BYTES, "allocated_bytes", BYTES, "blocks handed out")                   \
	X(TOTALS_PENDING_BYTES, "pending_bytes", BYTES, "freed, not yet usable")                   \
	X(TOTALS_ACTIVE_BYTES, "active_bytes", BYTES, "allocated and pending")                     \
	X(TOTALS_REQUESTED_BYTES, "requested_bytes", BYTES, "asked for")                           \
	X(TOTALS_ROUNDING_BYTES, "rounding_bytes", BYTES, "active less requested")                 \
	X(TOTALS_INACTIVE_BYTES, "inactive_bytes", BYTES, "nobody uses")                           \
	X(TOTALS_INACTIVE_SPLIT_BYTES, "inactive_split_bytes", BYTES,                              \
	  "of these, beside other blocks")                                                         \
	X(TOTALS_FREE_SEGMENT_BYTES, "free_segment_bytes", BYTES, "of these, whole segments")      \
	X(TOTALS_INACTIVE_EXPANDABLE_BYTES, "inactive_expandable_bytes", BYTES,                    \
	  "of these, in expandable segments")                                                      \
	X(TOTALS_LARGEST_FREE_BYTES, "largest_free_bytes", BYTES, "largest inactive block")        \
	X(TOTALS_ALLOCATED_COUNT, "allocated_count", COUNT, "blocks handed out")                   \
	X(TOTALS_PENDING_COUNT, "pending_count", COUNT, "blocks freed, not yet usable")            \
	X(TOTALS_INACTIVE_COUNT, "inactive_count", COUNT, "blocks nobody uses")

enum totals_column { TOTALS_COLUMNS(TSI_FACT_ID, "", TEXT, "") TOTALS_COLUMN_COUNT };

#define SEGMENTS_COLUMNS(X)                                                                        \
	X(SEGMENTS_DEVICE, "device", COUNT, "device")                                              \
	X(SEGMENTS_ADDRESS, "address", TEXT, "in hexadecimal")                                     \
	X(SEGMENTS_STREAM, "stream", TEXT, "0 is the default")                                     \
	X(SEGMENTS_POOL, "pool", TEXT, "small or large")                                           \
	X(SEGMENTS_POOL_ID, "pool_id", TEXT, "as in by_pool_id")                                   \
	X(SEGMENTS_KIND, "kind", TEXT, "plain or expandable")                                      \
	X(SEGMENTS_RESERVED_BYTES, "reserved_bytes", BYTES, "its size")                            \
	X(SEGMENTS_ALLOCATED_BYTES, "allocated_bytes", BYTES, "blocks handed out")                 \
	X(SEGMENTS_PENDING_BYTES, "pending_bytes", BYTES, "freed, not yet usable")                 \
	X(SEGMENTS_ACTIVE_BYTES, "active_bytes", BYTES, "allocated and pending")                   \
	X(SEGMENTS_REQUESTED_BYTES, "requested_bytes", BYTES, "asked for")                         \
	X(SEGMENTS_INACTIVE_BYTES, "inactive_bytes", BYTES, "nobody uses")                         \
	X(SEGMENTS_LARGEST_FREE_BYTES, "largest_free_bytes", BYTES, "largest inactive block")      \
	X(SEGMENTS_BLOCK_COUNT, "block_count", COUNT, "blocks")                                    \
	X(SEGMENTS_FRAGMENTATION_RATIO, "fragmentation_ratio", RATIO, "1 − largest free ÷ inactive")

enum segments_column { SEGMENTS_COLUMNS(TSI_FACT_ID) };

#define CURVES_COLUMNS(X)                                                                          \
	X(CURVES_DEVICE, "device", COUNT, "device")                                                \
	X(CURVES_CURVE, "curve", TEXT, "active, allocated (both of requested bytes), reserved")    \
	X(CURVES_START_BYTES, "start_bytes", BYTES, "before the first entry")                      \
	X(CURVES_END_BYTES, "end_bytes", BYTES, "after the last")                                  \
	X(CURVES_PEAK_BYTES, "peak_bytes", BYTES, "most")                                          \
	X(CURVES_PEAK_INDEX, "peak_index", COUNT, "first entry with it; -1: before the first")     \
	X(CURVES_PEAK_TIME_NS, "peak_time_ns", NS, "Unix time of that entry")

enum curves_column { CURVES_COLUMNS(TSI_FACT_ID) };

#define TIMELINE_COLUMNS(X)                                                                        \
	X(TIMELINE_DEVICE, "device", COUNT, "device")                                              \
	X(TIMELINE_INDEX, "index", COUNT, "last entry of a stretch")                               \
	X(TIMELINE_TIME_NS, "time_ns", NS, "Unix time of that entry")                              \
	X(TIMELINE_ACTIVE_BYTES, "active_bytes", BYTES, "most that was live in the stretch")       \
	X(TIMELINE_ALLOCATED_BYTES, "allocated_bytes", BYTES, "the same without pending ones")     \
	X(TIMELINE_RESERVED_BYTES, "reserved_bytes", BYTES, "most that segments held")

enum timeline_column { TIMELINE_COLUMNS(TSI_FACT_ID) };

#define SITE_TIMELINE_COLUMNS(X)                                                                   \
	X(SITE_TIMELINE_DEVICE, "device", COUNT, "device")                                         \
	X(SITE_TIMELINE_SITE, "site", TEXT, "as in sites; (others): all but the largest")          \
	X(SITE_TIMELINE_INDEX, "index", COUNT, "entry, the same ones for all sites of a device")   \
	X(SITE_TIMELINE_BYTES, "bytes", BYTES, "live after that entry")

enum site_timeline_column { SITE_TIMELINE_COLUMNS(TSI_FACT_ID) };

#define ROLE_COLUMNS(X)                                                                            \
	X(ROLE_DEVICE, "device", COUNT, "device")                                                  \
	X(ROLE_ROLE, "role", TEXT,                                                                 \
	  "use, by the stack: parameter, optimizer, backward, forward, kv_cache, communication, "  \
	  "other; unknown: no stack was taken; earlier: none, before the first entry")             \
	X(ROLE_BYTES, "bytes", BYTES, "live then")                                                 \
	X(ROLE_NUMBER, "count", COUNT, "blocks of these")                                          \
	X(ROLE_SITE, "site", TEXT, "site with most of these bytes, as in sites")                   \
	X(ROLE_SITE_BYTES, "site_bytes", BYTES, "of these, at that site")                          \
	X(ROLE_FILE, "file", TEXT, "Python file with most of these bytes")                         \
	X(ROLE_FILE_BYTES, "file_bytes", BYTES, "of these, at sites of that file")

enum role_column { ROLE_COLUMNS(TSI_FACT_ID) };

#define SITES_COLUMNS(X)                                                                           \
	X(SITES_DEVICE, "device", COUNT, "device")                                                 \
	X(SITES_SITE, "site", TEXT, "innermost frames of the user; empty: no stack was taken")     \
	X(SITES_PEAK_BYTES, "bytes", BYTES, "live at the peak of the device")                      \
	X(SITES_PEAK_COUNT, "count", COUNT, "blocks of these")                                     \
	X(SITES_END_BYTES, "end_bytes", BYTES, "live at the end")                                  \
	X(SITES_END_COUNT, "end_count", COUNT, "blocks of these")                                  \
	X(SITES_NEVER_FREED_BYTES, "never_freed_bytes", BYTES,                                     \
	  "allocated within the entries and not freed in them")                                    \
	X(SITES_NEVER_FREED_COUNT, "never_freed_count", COUNT, "blocks of these")                  \
	X(SITES_ALLOC_BYTES, "alloc_bytes", BYTES, "sum of allocations within the entries")        \
	X(SITES_ALLOC_COUNT, "alloc_count", COUNT, "allocations within the entries")               \
	X(SITES_FREED_COUNT, "freed_count", COUNT, "of these, freed within them")                  \
	X(SITES_LIFETIME_NS, "lifetime_ns", NS, "sum of the lives of the freed ones")              \
	X(SITES_LONGEST_NS, "longest_ns", NS, "longest of them")                                   \
	X(SITES_LIFETIME_ENTRIES, "lifetime_entries", COUNT, "the same sum, in entries")           \
	X(SITES_LONGEST_ENTRIES, "longest_entries", COUNT, "longest of them, in entries")

enum sites_column { SITES_COLUMNS(TSI_FACT_ID) };

#define OOMS_COLUMNS(X)                                                                            \
	X(OOMS_DEVICE, "device", COUNT, "device")                                                  \
	X(OOMS_INDEX, "index", COUNT, "entry")                                                     \
	X(OOMS_TIME_NS, "time_ns", NS, "Unix time of it")                                          \
	X(OOMS_SIZE_BYTES, "size_bytes", BYTES, "what was asked for")                              \
	X(OOMS_DEVICE_FREE_BYTES, "device_free_bytes", BYTES, "what the driver had left")          \
	X(OOMS_RESERVED_BYTES, "reserved_bytes", BYTES, "what segments held")                      \
	X(OOMS_LIVE_BYTES, "live_bytes", BYTES, "what was requested and live")                     \
	X(OOMS_LARGEST_FREE_BYTES, "largest_free_bytes", BYTES,                                    \
	  "largest gap of the request's stream and pool")                                          \
	X(OOMS_FREE_BYTES, "free_bytes", BYTES, "all gaps of the default pool")                    \
	X(OOMS_UNFRAGMENTED_FREE_BYTES, "unfragmented_free_bytes", BYTES,                          \
	  "these and what the driver had left")                                                    \
	X(OOMS_FITS_UNFRAGMENTED, "fits_unfragmented", FLAG,                                       \
	  "that, in one piece, would have done")                                                   \
	X(OOMS_PAGES_LOW_BYTES, "pages_low_bytes", BYTES,                                          \
	  "what expandable segments would have had free in whole pages, wherever the gaps begin")  \
	X(OOMS_PAGES_HIGH_BYTES, "pages_high_bytes", BYTES, "the same at most")                    \
	X(OOMS_IS_EXACT, "is_exact", FLAG,                                                         \
	  "the layout is known to the byte; else gaps may be smaller")                             \
	X(OOMS_SITE, "site", TEXT, "who asked")

enum ooms_column { OOMS_COLUMNS(TSI_FACT_ID) };

#define REMEDIES_COLUMNS(X)                                                                        \
	X(REMEDIES_OOM, "oom", COUNT, "row of ooms")                                               \
	X(REMEDIES_REMEDY, "remedy", TEXT,                                                         \
	  "expandable_segments, garbage_collection_threshold, max_split_size_mb, smaller_peak")    \
	X(REMEDIES_VERDICT, "verdict", TEXT, "yes, likely, perhaps, hardly, no, in_use")           \
	X(REMEDIES_ARITHMETIC, "arithmetic", TEXT, "why")

enum remedies_column { REMEDIES_COLUMNS(TSI_FACT_ID) };

#define GROWTH_COLUMNS(X)                                                                          \
	X(GROWTH_SITE, "site", TEXT, "as in sites")                                                \
	X(GROWTH_GROWTH_BYTES, "growth_bytes", BYTES, "live bytes now less those of then")         \
	X(GROWTH_EARLIER_BYTES, "earlier_bytes", BYTES, "live in the earlier snapshot")            \
	X(GROWTH_BYTES, "bytes", BYTES, "live in this one")                                        \
	X(GROWTH_EARLIER_COUNT, "earlier_count", COUNT, "blocks then")                             \
	X(GROWTH_NUMBER, "count", COUNT, "blocks now")

enum growth_column { GROWTH_COLUMNS(TSI_FACT_ID) };

/* Input of the parts; made once by analyze_snapshot.c. */
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
/* Writes the history of a device's sites, the largest at its peak first. */
void tsi_snapshot_put_site_history(const struct snapshot_view *view, struct fact_sheet *out,
				   uint32_t device, const uint32_t *sites, size_t count);
/* Writes what was live after an entry, by role: that of the request that failed. */
void tsi_snapshot_put_oom_roles(const struct snapshot_view *view, struct fact_sheet *out,
				uint32_t device, int64_t index);
void tsi_snapshot_put_ooms(const struct snapshot_view *view, struct fact_sheet *out);
void tsi_snapshot_put_growth(const struct snapshot_view *view, struct fact_sheet *out);

#endif
