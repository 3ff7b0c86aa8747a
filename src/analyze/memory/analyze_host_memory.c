/* SPDX-License-Identifier: MIT */
/*
 * A memray capture, or what memray says of one: how much memory of the host was allocated, what
 * was live at the peak and at the end, where it was allocated, and whether the process keeps
 * growing.
 */
#include "analyze/memory/host_memory_parts.h"

#include "base/ckd.h"

#define FACTS(X)                                                                                   \
	X(PATH, "path", TEXT, "file that these figures are of")                                    \
	X(COMMAND, "command", TEXT, "command line of the process")                                 \
	X(PID, "pid", COUNT, "process")                                                            \
	X(PYTHON_VERSION, "python_version", TEXT, "that ran it")                                   \
	X(CAPTURE_NS, "capture_ns", NS, "from the begin to the end of the capture")                \
	X(IS_AGGREGATED, "is_aggregated", FLAG,                                                    \
	  "only sums were recorded: no totals, nothing over time")                                 \
	X(IS_COMPLETE, "is_complete", FLAG,                                                        \
	  "the capture ends as it should: the process was not killed")                             \
	X(HAS_NATIVE_STACKS, "has_native_stacks", FLAG, "stacks of native code were recorded")     \
	X(TRACES_PYTHON_ALLOCATORS, "traces_python_allocators", FLAG,                              \
	  "calls of Python's own allocator count, and those below them, too")                      \
	X(ALLOCATION_COUNT, "allocation_count", COUNT, "allocations")                              \
	X(ALLOCATED_BYTES, "allocated_bytes", BYTES, "sum of their sizes")                         \
	X(PEAK_BYTES, "peak_bytes", BYTES, "most that was live at once")                           \
	X(PEAK_ALLOCATION_COUNT, "peak_allocation_count", COUNT, "allocations live then")          \
	X(LEAKED_BYTES, "leaked_bytes", BYTES, "still live at the end")                            \
	X(LEAKED_COUNT, "leaked_count", COUNT, "allocations still live at the end")                \
	X(TEMPORARY_COUNT, "temporary_count", COUNT,                                               \
	  "allocations that their thread freed before it had made two more")                       \
	X(TEMPORARY_BYTES, "temporary_bytes", BYTES, "sum of their sizes")                         \
	X(TEMPORARY_RATIO, "temporary_ratio", RATIO, "their share of the allocations")             \
	X(THREAD_COUNT, "thread_count", COUNT, "threads that allocated")                           \
	X(SITE_COUNT, "site_count", COUNT, "different places that allocated")                      \
	X(UNMATCHED_FREE_COUNT, "unmatched_free_count", COUNT,                                     \
	  "frees of what was allocated before the capture")                                        \
	X(REPLACED_COUNT, "replaced_count", COUNT,                                                 \
	  "allocations where something else was live, whose free was missed: memray's own peak "   \
	  "counts both")                                                                           \
	X(MIDDLE_BYTES, "middle_bytes", BYTES, "live in the middle of the capture")                \
	X(GROWTH_BYTES, "growth_bytes", BYTES, "live at the end, less in the middle")              \
	X(PEAK_RSS_BYTES, "peak_rss_bytes", BYTES, "most resident memory of the process")          \
	X(FIRST_RSS_BYTES, "first_rss_bytes", BYTES, "resident memory at first")                   \
	X(LAST_RSS_BYTES, "last_rss_bytes", BYTES, "resident memory at last")                      \
	X(RSS_GROWTH_BYTES, "rss_growth_bytes", BYTES,                                             \
	  "by which resident memory rose in the second half of the capture: the lowest in its "    \
	  "last eighth, less the lowest in its first")                                             \
	X(RSS_GROWTH_RATIO, "rss_growth_ratio", RATIO,                                             \
	  "that growth against the lowest in the first eighth")                                    \
	X(RSS_GROWTH_BYTES_PER_SECOND, "rss_growth_bytes_per_second", BYTES_PER_SECOND,            \
	  "that growth by time")                                                                   \
	X(RSS_RISING_RATIO, "rss_rising_ratio", RATIO,                                             \
	  "steps between these eighths in which the lowest rose, of all seven")

TSI_FACT_LIST(enum fact, facts, FACTS);

static const struct tscope_fact_def site_columns[] = { HOST_SITE_COLUMNS(TSI_FACT_DEF) };

static const struct tscope_fact_def by_allocator_columns[] = { HOST_BY_ALLOCATOR_COLUMNS(
	TSI_FACT_DEF) };

static const struct tscope_fact_def by_size_columns[] = { HOST_BY_SIZE_COLUMNS(TSI_FACT_DEF) };

static const struct tscope_fact_def by_thread_columns[] = { HOST_BY_THREAD_COLUMNS(TSI_FACT_DEF) };

static const struct tscope_fact_def resident_columns[] = { HOST_RESIDENT_COLUMNS(TSI_FACT_DEF) };

static const struct tscope_table_def tables[] = { HOST_TABLES(TSI_TABLE_ROW) };

/* A figure, unless it is not known. */
static void put_number(struct fact_sheet *out, enum fact fact, int64_t number)
{
	if (number >= 0)
		tsi_fact_int(out, fact, number);
}

/* ---- the capture -------------------------------------------------------------------------- */

static void put_python_version(struct fact_sheet *out, const struct memray_header *header)
{
	/* PY_VERSION_HEX: 0x030d05f0 is 3.13.5. */
	uint32_t version = (uint32_t)header->python_version;

	if (version)
		tsi_fact_text(out, PYTHON_VERSION,
			      tsi_sheet_print(out, "%u.%u.%u", version >> 24, version >> 16 & 0xff,
					      version >> 8 & 0xff));
}

static void put_duration(struct fact_sheet *out, int64_t duration_ms)
{
	int64_t duration_ns;

	if (duration_ms >= 0 && !tsi_ckd_mul(&duration_ns, duration_ms, HOST_NS_PER_MS))
		tsi_fact_int(out, CAPTURE_NS, duration_ns);
}

/* A capture without an end lasted at least until its last record. */
static int64_t duration_of(const struct host_memory *host)
{
	const struct memray_header *header = &host->capture.header;
	size_t count = host->resident.count;
	int64_t duration_ms;

	if (!host->capture.is_complete)
		return count ? host->resident.points[count - 1].time_ms : -1;
	return tsi_ckd_sub(&duration_ms, header->end_ms, header->start_ms) ? -1 : duration_ms;
}

/* Facts from the header of a capture. */
static void put_header(struct fact_sheet *out, const struct host_memory *host)
{
	const struct memray_header *header = &host->capture.header;
	struct str command = tsi_intern_text(&host->capture.names, header->command_line);

	tsi_fact_text(out, COMMAND, tsi_sheet_copy(out, command));
	tsi_fact_int(out, PID, header->pid);
	put_duration(out, duration_of(host));
	tsi_fact_flag(out, IS_AGGREGATED, header->is_aggregated);
	tsi_fact_flag(out, IS_COMPLETE, host->capture.is_complete);
	tsi_fact_flag(out, HAS_NATIVE_STACKS, header->has_native_stacks);
	tsi_fact_flag(out, TRACES_PYTHON_ALLOCATORS, header->traces_python_allocators);
	put_python_version(out, header);
}

/* Facts from memray's own statistics, which have no header. */
static void put_metadata(struct fact_sheet *out, const struct host_memory *host)
{
	const char *command =
		tsi_sheet_copy(out, tsi_intern_text(&host->texts, host->command_line));

	if (*command != '\0')
		tsi_fact_text(out, COMMAND, command);
	put_number(out, PID, host->pid);
	put_duration(out, host->capture_ms);
	if (host->has_native_stacks >= 0)
		tsi_fact_flag(out, HAS_NATIVE_STACKS, host->has_native_stacks);
	if (host->traces_python_allocators >= 0)
		tsi_fact_flag(out, TRACES_PYTHON_ALLOCATORS, host->traces_python_allocators);
}

/* ---- sums --------------------------------------------------------------------------------- */

static void put_totals(struct fact_sheet *out, const struct host_memory *host)
{
	if (host->source == HOST_AGGREGATE)
		return;
	put_number(out, ALLOCATION_COUNT, host->allocated.count);
	put_number(out, ALLOCATED_BYTES, host->allocated.bytes);
	if (host->source != HOST_CAPTURE)
		return;
	tsi_fact_int(out, TEMPORARY_COUNT, host->temporary.count);
	tsi_fact_int(out, TEMPORARY_BYTES, host->temporary.bytes);
	tsi_fact_ratio(out, TEMPORARY_RATIO, host->temporary.count, host->allocated.count);
	tsi_fact_int(out, UNMATCHED_FREE_COUNT, (int64_t)host->unmatched_count);
	tsi_fact_int(out, REPLACED_COUNT, (int64_t)host->replaced_count);
	if (host->middle_bytes < 0)
		return;
	tsi_fact_int(out, MIDDLE_BYTES, host->middle_bytes);
	tsi_fact_int(out, GROWTH_BYTES, host->live.bytes - host->middle_bytes); /* both are ≥ 0 */
}

static void put_peak(struct fact_sheet *out, const struct host_memory *host)
{
	put_number(out, PEAK_BYTES, host->at_peak.bytes);
	put_number(out, PEAK_ALLOCATION_COUNT, host->at_peak.count);
	put_number(out, LEAKED_BYTES, host->live.bytes);
	put_number(out, LEAKED_COUNT, host->live.count);
}

static void put_resident(struct fact_sheet *out, const struct resident *resident)
{
	struct resident_growth growth;

	if (resident->count == 0)
		return;
	tsi_fact_int(out, PEAK_RSS_BYTES, resident->peak_bytes);
	tsi_fact_int(out, FIRST_RSS_BYTES, resident->first_bytes);
	tsi_fact_int(out, LAST_RSS_BYTES, resident->last_bytes);
	if (!tsi_resident_growth(resident, &growth))
		return;
	tsi_fact_int(out, RSS_GROWTH_BYTES, growth.bytes);
	tsi_fact_ratio(out, RSS_GROWTH_RATIO, growth.bytes, growth.first_bytes);
	tsi_fact_real(out, RSS_GROWTH_BYTES_PER_SECOND,
		      (double)growth.bytes / ((double)growth.duration_ns / 1e9));
	tsi_fact_ratio(out, RSS_RISING_RATIO, growth.rising_steps, RESIDENT_PARTS - 1);
}

/* A capture without an end does not show later frees. */
static void doubt_end(struct fact_sheet *out)
{
	static const char reason[] = "the capture has no end: its process was killed or is "
				     "running, or the file is cut";
	static const enum fact facts_of_end[] = { LEAKED_BYTES, LEAKED_COUNT, GROWTH_BYTES };

	for (size_t i = 0; i < TSI_COUNT_OF(facts_of_end); i++)
		tsi_fact_doubt(out, facts_of_end[i], reason);
}

/* ---- all ---------------------------------------------------------------------------------- */

static void fill_host_memory(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct host_memory *host = &scope->memory->host;
	struct host_counts counts = tsi_host_memory_tables(scope, out);

	if (host->source == HOST_STATS)
		put_metadata(out, host);
	else
		put_header(out, host);
	tsi_fact_text(out, PATH, scope->memory->info.path);
	put_totals(out, host);
	put_peak(out, host);
	put_resident(out, &host->resident);
	if (host->source != HOST_STATS && !host->capture.is_complete)
		doubt_end(out);
	put_number(out, SITE_COUNT, counts.sites);
	put_number(out, THREAD_COUNT, counts.threads);
}

const struct analyzer tsi_analyzer_host_memory = {
	.def = {
		.id = "host_memory",
		.summary = "memory of the host as memray recorded it: peak, what was never "
			   "freed, and where it was allocated",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a memray capture, or what memray stats --json wrote",
	},
	.levels = LEVEL_HOST_MEMORY,
	.fill = fill_host_memory,
};
