/* SPDX-License-Identifier: MIT */
/*
 * A snapshot of CUDA's caching allocator: what filled the memory, who asked for it, what
 * was live at the peak, what is lost to fragmentation, and what would have avoided an OOM. The
 * figures are those of torch.cuda.memory_stats() and torch's _memory_viz where these have them.
 * They are worked out in snapshot_*.c; here stands what each of them is.
 */
#include "analyze/memory/snapshot_parts.h"

#include "base/arena.h"

#define BYTES(name, meaning)                                                                       \
	{                                                                                          \
		name, TSCOPE_UNIT_BYTES, meaning                                                   \
	}
#define COUNT(name, meaning)                                                                       \
	{                                                                                          \
		name, TSCOPE_UNIT_COUNT, meaning                                                   \
	}
#define TEXT(name, meaning)                                                                        \
	{                                                                                          \
		name, TSCOPE_UNIT_TEXT, meaning                                                    \
	}
#define NS(name, meaning)                                                                          \
	{                                                                                          \
		name, TSCOPE_UNIT_NS, meaning                                                      \
	}

static const struct tscope_fact_def facts[SNAPSHOT_FACT_COUNT] = {
	[SNAPSHOT_PATH] = TEXT("path", "file that these figures are of"),
	[SNAPSHOT_DEVICE_COUNT] = COUNT("device_count", "devices with a segment or an entry"),
	[SNAPSHOT_RESERVED_BYTES] = BYTES("reserved_bytes", "what segments hold"),
	[SNAPSHOT_ALLOCATED_BYTES] = BYTES("allocated_bytes", "blocks handed out, rounded"),
	[SNAPSHOT_PENDING_BYTES] =
		BYTES("pending_bytes", "freed blocks that other streams may still use"),
	[SNAPSHOT_ACTIVE_BYTES] = BYTES("active_bytes", "allocated and pending"),
	[SNAPSHOT_REQUESTED_BYTES] = BYTES("requested_bytes", "asked for by active blocks"),
	[SNAPSHOT_ROUNDING_BYTES] = BYTES("rounding_bytes", "active less requested"),
	[SNAPSHOT_INACTIVE_BYTES] = BYTES("inactive_bytes", "blocks that nobody uses"),
	[SNAPSHOT_INACTIVE_SPLIT_BYTES] =
		BYTES("inactive_split_bytes", "of these, in segments that hold other blocks, too"),
	[SNAPSHOT_FREE_SEGMENT_BYTES] =
		BYTES("free_segment_bytes", "of these, whole segments that empty_cache() frees"),
	[SNAPSHOT_INACTIVE_EXPANDABLE_BYTES] =
		BYTES("inactive_expandable_bytes", "of these, in expandable segments"),
	[SNAPSHOT_LARGEST_FREE_BYTES] = BYTES("largest_free_bytes", "largest inactive block"),
	[SNAPSHOT_INACTIVE_RATIO] = { "inactive_ratio", TSCOPE_UNIT_RATIO, "inactive ÷ reserved" },
	[SNAPSHOT_INACTIVE_SPLIT_RATIO] = { "inactive_split_ratio", TSCOPE_UNIT_RATIO,
					    "inactive split ÷ reserved, on the device where that "
					    "is most" },
	[SNAPSHOT_FRAGMENTATION_RATIO] = { "fragmentation_ratio", TSCOPE_UNIT_RATIO,
					   "1 − largest free ÷ inactive, on the device where that "
					   "is most" },
	[SNAPSHOT_SEGMENT_COUNT] = COUNT("segment_count", "segments"),
	[SNAPSHOT_BLOCK_COUNT] = COUNT("block_count", "blocks, inactive ones included"),
	[SNAPSHOT_TRACE_ENTRY_COUNT] = COUNT("trace_entry_count", "entries of all devices"),
	[SNAPSHOT_EXPANDABLE_SEGMENTS] = { "expandable_segments", TSCOPE_UNIT_FLAG,
					   "the allocator ran with expandable segments" },
	[SNAPSHOT_ALLOC_CONF] = TEXT("alloc_conf", "PYTORCH_CUDA_ALLOC_CONF"),
	[SNAPSHOT_WINDOW_NS] = NS("window_ns", "from the first entry to the last"),
	[SNAPSHOT_PEAK_ALLOCATED_BYTES] =
		BYTES("peak_allocated_bytes", "most that was requested and not yet free again, on "
					      "the device where that is most"),
	[SNAPSHOT_PEAK_DEVICE] = COUNT("peak_device", "that device"),
	[SNAPSHOT_PEAK_INDEX] = COUNT("peak_index", "its entry; -1: before the first"),
	[SNAPSHOT_PEAK_TIME_NS] = NS("peak_time_ns", "Unix time of that entry"),
	[SNAPSHOT_PEAK_RESERVED_BYTES] = BYTES("peak_reserved_bytes", "most that it reserved"),
	[SNAPSHOT_LIVE_AT_PEAK_COUNT] = COUNT("live_at_peak_count", "its blocks at the peak"),
	[SNAPSHOT_NEVER_FREED_BYTES] =
		BYTES("never_freed_bytes", "allocated within the entries and not freed in them"),
	[SNAPSHOT_NEVER_FREED_COUNT] = COUNT("never_freed_count", "blocks of these"),
	[SNAPSHOT_ALLOC_COUNT] = COUNT("alloc_count", "allocations within the entries"),
	[SNAPSHOT_SEGMENT_ALLOC_COUNT] =
		COUNT("segment_alloc_count", "segments taken or mapped (cudaMalloc)"),
	[SNAPSHOT_SEGMENT_ALLOC_BYTES] = BYTES("segment_alloc_bytes", "bytes of these"),
	[SNAPSHOT_SEGMENT_FREE_COUNT] =
		COUNT("segment_free_count", "segments given back or unmapped (cudaFree)"),
	[SNAPSHOT_SEGMENT_FREE_BYTES] = BYTES("segment_free_bytes", "bytes of these"),
	[SNAPSHOT_FLUSH_COUNT] = COUNT("flush_count", "times that segments were given back and "
						      "others taken after that"),
	[SNAPSHOT_RETRY_COUNT] =
		COUNT("retry_count", "allocations that flushed the cache and "
				     "tried again; without stacks at most so many"),
	[SNAPSHOT_OOM_COUNT] = COUNT("oom_count", "requests that failed"),
	[SNAPSHOT_OOM_DEVICE] = COUNT("oom_device", "device of the last of them"),
	[SNAPSHOT_OOM_TIME_NS] = NS("oom_time_ns", "Unix time of the last of them"),
	[SNAPSHOT_OOM_SIZE_BYTES] = BYTES("oom_size_bytes", "what it asked for"),
	[SNAPSHOT_OOM_DRIVER_BYTES] =
		BYTES("oom_driver_bytes", "what torch asks the driver for, to serve that"),
	[SNAPSHOT_OOM_DEVICE_FREE_BYTES] =
		BYTES("oom_device_free_bytes", "what the driver had left then"),
	[SNAPSHOT_OOM_FREE_BYTES] =
		BYTES("oom_free_bytes", "what lay free in segments of the default pool"),
	[SNAPSHOT_OOM_LARGEST_FREE_BYTES] =
		BYTES("oom_largest_free_bytes", "largest contiguous piece that it could have had"),
	[SNAPSHOT_OOM_RESERVED_BYTES] = BYTES("oom_reserved_bytes", "what segments held then"),
	[SNAPSHOT_OOM_LIVE_BYTES] = BYTES("oom_live_bytes", "what was requested and live then"),
	[SNAPSHOT_OOM_SHORTFALL_BYTES] =
		BYTES("oom_shortfall_bytes", "what was missing even without fragmentation"),
	[SNAPSHOT_OOM_FITS_UNFRAGMENTED] = { "oom_fits_unfragmented", TSCOPE_UNIT_FLAG,
					     "all that was free, in one piece, would have done" },
	[SNAPSHOT_OOM_CAUSE] =
		TEXT("oom_cause", "limit (of the process: the driver had enough left), "
				  "rounding (up, of what the driver is asked for), fragmentation, "
				  "shortage"),
	[SNAPSHOT_OOM_EXPANDABLE_SEGMENTS] =
		TEXT("oom_expandable_segments",
		     "would expandable segments have helped: likely, perhaps, hardly, no, in_use"),
	[SNAPSHOT_OOM_SITE] = TEXT("oom_site", "who asked"),
	[SNAPSHOT_EARLIER_PATH] = TEXT("earlier_path", "the snapshot that growth is measured from"),
	[SNAPSHOT_GROWTH_BYTES] = BYTES("growth_bytes", "requested live bytes since then"),
	[SNAPSHOT_GROWTH_RESERVED_BYTES] = BYTES("growth_reserved_bytes", "reserved since then"),
};

static const struct tscope_fact_def actions_columns[] = {
	[ACTIONS_DEVICE] = COUNT("device", "device"),
	[ACTIONS_ACTION] = TEXT("action", "what the entries tell of"),
	[ACTIONS_NUMBER] = COUNT("count", "entries"),
	[ACTIONS_BYTES] = BYTES("bytes", "sum of their sizes"),
};

#define TOTALS(key)                                                                                \
	{                                                                                          \
		[TOTALS_KEY] = key, [TOTALS_SEGMENT_COUNT] = COUNT("segment_count", "segments"),   \
		[TOTALS_BLOCK_COUNT] = COUNT("block_count", "blocks"),                             \
		[TOTALS_RESERVED_BYTES] = BYTES("reserved_bytes", "what segments hold"),           \
		[TOTALS_ALLOCATED_BYTES] = BYTES("allocated_bytes", "blocks handed out"),          \
		[TOTALS_PENDING_BYTES] = BYTES("pending_bytes", "freed, not yet usable"),          \
		[TOTALS_ACTIVE_BYTES] = BYTES("active_bytes", "allocated and pending"),            \
		[TOTALS_REQUESTED_BYTES] = BYTES("requested_bytes", "asked for"),                  \
		[TOTALS_ROUNDING_BYTES] = BYTES("rounding_bytes", "active less requested"),        \
		[TOTALS_INACTIVE_BYTES] = BYTES("inactive_bytes", "nobody uses"),                  \
		[TOTALS_INACTIVE_SPLIT_BYTES] =                                                    \
			BYTES("inactive_split_bytes", "of these, beside other blocks"),            \
		[TOTALS_FREE_SEGMENT_BYTES] =                                                      \
			BYTES("free_segment_bytes", "of these, whole segments"),                   \
		[TOTALS_INACTIVE_EXPANDABLE_BYTES] =                                               \
			BYTES("inactive_expandable_bytes", "of these, in expandable segments"),    \
		[TOTALS_LARGEST_FREE_BYTES] =                                                      \
			BYTES("largest_free_bytes", "largest inactive block"),                     \
		[TOTALS_ALLOCATED_COUNT] = COUNT("allocated_count", "blocks handed out"),          \
		[TOTALS_PENDING_COUNT] = COUNT("pending_count", "blocks freed, not yet usable"),   \
		[TOTALS_INACTIVE_COUNT] = COUNT("inactive_count", "blocks nobody uses"),           \
	}

static const struct tscope_fact_def device_columns[] = TOTALS(COUNT("device", "device"));
static const struct tscope_fact_def pool_columns[] = TOTALS(TEXT("pool", "small or large"));
static const struct tscope_fact_def pool_id_columns[] =
	TOTALS(TEXT("pool_id", "0,0 is the default, others are private; unknown: not said"));
static const struct tscope_fact_def stream_columns[] = TOTALS(TEXT("stream", "0 is the default"));
static const struct tscope_fact_def kind_columns[] = TOTALS(TEXT("kind", "plain or expandable"));

static const struct tscope_fact_def segments_columns[] = {
	[SEGMENTS_DEVICE] = COUNT("device", "device"),
	[SEGMENTS_ADDRESS] = TEXT("address", "in hexadecimal"),
	[SEGMENTS_STREAM] = TEXT("stream", "0 is the default"),
	[SEGMENTS_POOL] = TEXT("pool", "small or large"),
	[SEGMENTS_POOL_ID] = TEXT("pool_id", "as in by_pool_id"),
	[SEGMENTS_KIND] = TEXT("kind", "plain or expandable"),
	[SEGMENTS_RESERVED_BYTES] = BYTES("reserved_bytes", "its size"),
	[SEGMENTS_ALLOCATED_BYTES] = BYTES("allocated_bytes", "blocks handed out"),
	[SEGMENTS_PENDING_BYTES] = BYTES("pending_bytes", "freed, not yet usable"),
	[SEGMENTS_ACTIVE_BYTES] = BYTES("active_bytes", "allocated and pending"),
	[SEGMENTS_REQUESTED_BYTES] = BYTES("requested_bytes", "asked for"),
	[SEGMENTS_INACTIVE_BYTES] = BYTES("inactive_bytes", "nobody uses"),
	[SEGMENTS_LARGEST_FREE_BYTES] = BYTES("largest_free_bytes", "largest inactive block"),
	[SEGMENTS_BLOCK_COUNT] = COUNT("block_count", "blocks"),
	[SEGMENTS_FRAGMENTATION_RATIO] = { "fragmentation_ratio", TSCOPE_UNIT_RATIO,
					   "1 − largest free ÷ inactive" },
};

static const struct tscope_fact_def curves_columns[] = {
	[CURVES_DEVICE] = COUNT("device", "device"),
	[CURVES_CURVE] = TEXT("curve", "active, allocated (both of requested bytes), reserved"),
	[CURVES_START_BYTES] = BYTES("start_bytes", "before the first entry"),
	[CURVES_END_BYTES] = BYTES("end_bytes", "after the last"),
	[CURVES_PEAK_BYTES] = BYTES("peak_bytes", "most"),
	[CURVES_PEAK_INDEX] = COUNT("peak_index", "first entry with it; -1: before the first"),
	[CURVES_PEAK_TIME_NS] = NS("peak_time_ns", "Unix time of that entry"),
};

static const struct tscope_fact_def timeline_columns[] = {
	[TIMELINE_DEVICE] = COUNT("device", "device"),
	[TIMELINE_INDEX] = COUNT("index", "last entry of a stretch"),
	[TIMELINE_TIME_NS] = NS("time_ns", "Unix time of that entry"),
	[TIMELINE_ACTIVE_BYTES] = BYTES("active_bytes", "most that was live in the stretch"),
	[TIMELINE_ALLOCATED_BYTES] = BYTES("allocated_bytes", "the same without pending ones"),
	[TIMELINE_RESERVED_BYTES] = BYTES("reserved_bytes", "most that segments held"),
};

static const struct tscope_fact_def role_columns[] = {
	[ROLE_DEVICE] = COUNT("device", "device"),
	[ROLE_ROLE] = TEXT("role", "who allocated, by its stack: parameter, optimizer, backward, "
				   "forward, unknown"),
	[ROLE_BYTES] = BYTES("bytes", "live at the peak"),
	[ROLE_NUMBER] = COUNT("count", "blocks of these"),
};

static const struct tscope_fact_def sites_columns[] = {
	[SITES_DEVICE] = COUNT("device", "device"),
	[SITES_SITE] = TEXT("site", "innermost frames of the user; empty: no stack was taken"),
	[SITES_PEAK_BYTES] = BYTES("bytes", "live at the peak of the device"),
	[SITES_PEAK_COUNT] = COUNT("count", "blocks of these"),
	[SITES_END_BYTES] = BYTES("end_bytes", "live at the end"),
	[SITES_END_COUNT] = COUNT("end_count", "blocks of these"),
	[SITES_NEVER_FREED_BYTES] =
		BYTES("never_freed_bytes", "allocated within the entries and not freed in them"),
	[SITES_NEVER_FREED_COUNT] = COUNT("never_freed_count", "blocks of these"),
	[SITES_ALLOC_BYTES] = BYTES("alloc_bytes", "sum of allocations within the entries"),
	[SITES_ALLOC_COUNT] = COUNT("alloc_count", "allocations within the entries"),
	[SITES_FREED_COUNT] = COUNT("freed_count", "of these, freed within them"),
	[SITES_LIFETIME_NS] = NS("lifetime_ns", "sum of the lives of the freed ones"),
	[SITES_LONGEST_NS] = NS("longest_ns", "longest of them"),
	[SITES_LIFETIME_ENTRIES] = COUNT("lifetime_entries", "the same sum, in entries"),
	[SITES_LONGEST_ENTRIES] = COUNT("longest_entries", "longest of them, in entries"),
};

static const struct tscope_fact_def ooms_columns[] = {
	[OOMS_DEVICE] = COUNT("device", "device"),
	[OOMS_INDEX] = COUNT("index", "entry"),
	[OOMS_TIME_NS] = NS("time_ns", "Unix time of it"),
	[OOMS_SIZE_BYTES] = BYTES("size_bytes", "what was asked for"),
	[OOMS_DEVICE_FREE_BYTES] = BYTES("device_free_bytes", "what the driver had left"),
	[OOMS_RESERVED_BYTES] = BYTES("reserved_bytes", "what segments held"),
	[OOMS_LIVE_BYTES] = BYTES("live_bytes", "what was requested and live"),
	[OOMS_LARGEST_FREE_BYTES] =
		BYTES("largest_free_bytes", "largest gap of the request's stream and pool"),
	[OOMS_FREE_BYTES] = BYTES("free_bytes", "all gaps of the default pool"),
	[OOMS_UNFRAGMENTED_FREE_BYTES] =
		BYTES("unfragmented_free_bytes", "these and what the driver had left"),
	[OOMS_FITS_UNFRAGMENTED] = { "fits_unfragmented", TSCOPE_UNIT_FLAG,
				     "that, in one piece, would have done" },
	[OOMS_PAGES_LOW_BYTES] =
		BYTES("pages_low_bytes", "what expandable segments would have had free in whole "
					 "pages, wherever the gaps begin"),
	[OOMS_PAGES_HIGH_BYTES] = BYTES("pages_high_bytes", "the same at most"),
	[OOMS_IS_EXACT] = { "is_exact", TSCOPE_UNIT_FLAG,
			    "the layout is known to the byte; else gaps may be smaller" },
	[OOMS_SITE] = TEXT("site", "who asked"),
};

static const struct tscope_fact_def remedies_columns[] = {
	[REMEDIES_OOM] = COUNT("oom", "row of ooms"),
	[REMEDIES_REMEDY] = TEXT("remedy", "expandable_segments, garbage_collection_threshold, "
					   "max_split_size_mb, smaller_peak"),
	[REMEDIES_VERDICT] = TEXT("verdict", "yes, likely, perhaps, hardly, no, in_use"),
	[REMEDIES_ARITHMETIC] = TEXT("arithmetic", "why"),
};

static const struct tscope_fact_def growth_columns[] = {
	[GROWTH_SITE] = TEXT("site", "as in sites"),
	[GROWTH_GROWTH_BYTES] = BYTES("growth_bytes", "live bytes now less those of then"),
	[GROWTH_EARLIER_BYTES] = BYTES("earlier_bytes", "live in the earlier snapshot"),
	[GROWTH_BYTES] = BYTES("bytes", "live in this one"),
	[GROWTH_EARLIER_COUNT] = COUNT("earlier_count", "blocks then"),
	[GROWTH_NUMBER] = COUNT("count", "blocks now"),
};

#define TABLE(name, columns, meaning)                                                              \
	{                                                                                          \
		name, columns, TSI_COUNT_OF(columns), meaning, TSCOPE_TABLE_ROWS                   \
	}

static const struct tscope_table_def tables[SNAPSHOT_TABLE_COUNT] = {
	[SNAPSHOT_ACTIONS] = TABLE("actions", actions_columns, "entries by action"),
	[SNAPSHOT_BY_DEVICE] = TABLE("by_device", device_columns, "the end state by device"),
	[SNAPSHOT_BY_POOL] = TABLE("by_pool", pool_columns, "by small and large segments"),
	[SNAPSHOT_BY_POOL_ID] = TABLE("by_pool_id", pool_id_columns, "by private pool"),
	[SNAPSHOT_BY_STREAM] = TABLE("by_stream", stream_columns, "by stream"),
	[SNAPSHOT_BY_KIND] = TABLE("by_kind", kind_columns, "by kind of segment"),
	[SNAPSHOT_SEGMENTS] = TABLE("segments", segments_columns, "each segment"),
	[SNAPSHOT_CURVES] = TABLE("curves", curves_columns, "memory over time, in figures"),
	[SNAPSHOT_TIMELINE] = TABLE("timeline", timeline_columns, "memory over time, as a sketch"),
	[SNAPSHOT_BY_ROLE] = TABLE("by_role", role_columns, "what was live at the peak, by role"),
	[SNAPSHOT_SITES] = TABLE("sites", sites_columns, "allocation sites, by bytes at the peak"),
	[SNAPSHOT_OOMS] = TABLE("ooms", ooms_columns, "requests that failed"),
	[SNAPSHOT_OOM_REMEDIES] =
		TABLE("oom_remedies", remedies_columns, "what would have let them pass"),
	[SNAPSHOT_GROWTH] = TABLE("growth", growth_columns, "sites against the earlier snapshot"),
};

/* ---- putting it together ---------------------------------------------------------------- */

static void replay_devices(struct snapshot_view *view, struct arena *scratch)
{
	const struct snapshot *snapshot = view->snapshot;
	int64_t peak_bytes = -1;

	view->replays = tsi_arena_new(scratch, snapshot->device_count, sizeof(*view->replays));
	for (uint32_t i = 0; i < snapshot->device_count && !scratch->has_failed; i++) {
		tsi_snapshot_replay_init(&view->replays[i], snapshot, i, scratch);
		if (view->replays[i].curves[CURVE_ACTIVE].peak_bytes > peak_bytes) {
			peak_bytes = view->replays[i].curves[CURVE_ACTIVE].peak_bytes;
			view->peak_device = i;
		}
	}
}

static void put_all(const struct snapshot_view *view, struct fact_sheet *out)
{
	static const char no_earlier[] = "one snapshot: growth is since an earlier one";

	tsi_snapshot_put_totals(view, out);
	tsi_snapshot_put_history(view, out);
	tsi_snapshot_put_sites(view, out);
	tsi_snapshot_put_ooms(view, out);
	if (view->scope->earlier) {
		tsi_snapshot_put_growth(view, out);
		return;
	}
	tsi_fact_doubt(out, SNAPSHOT_GROWTH_BYTES, no_earlier);
	tsi_fact_doubt(out, SNAPSHOT_GROWTH_RESERVED_BYTES, no_earlier);
}

static void fill_snapshot(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct tscope_analysis_options *options = scope->options;
	const char *filter = options->stack_filter ? options->stack_filter : "";
	struct arena *scratch = tsi_sheet_scratch(out);
	struct stack_sites sites;
	struct snapshot_view view = {
		.snapshot = &scope->memory->snapshot,
		.sites = &sites,
		.scope = scope,
	};

	tsi_stack_sites_init(&sites, view.snapshot, options->stack_depth, tsi_str_of(filter),
			     scratch);
	replay_devices(&view, scratch);
	if (!scratch->has_failed)
		put_all(&view, out);
	tsi_stack_sites_deinit(&sites);
}

const struct analyzer tsi_analyzer_snapshot = {
	.def = {
		.id = "snapshot",
		.summary = "CUDA's caching allocator: what filled it, at the peak and at the end",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a snapshot of CUDA's allocator",
	},
	.levels = LEVEL_SNAPSHOT,
	.fill = fill_snapshot,
};
