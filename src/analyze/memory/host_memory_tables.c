/* SPDX-License-Identifier: MIT */
/* The tables of the analyzer host_memory: sites, allocators, sizes, threads, time. */
#include "analyze/memory/host_memory_parts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "model/memory/host_sites.h"

enum { SITE_ROWS_MAX = 200, RESIDENT_ROWS_MAX = 64 };

/* A figure, or absent where it is not known. */
static struct tscope_value number_if(int64_t number)
{
	return number >= 0 ? tsi_int(number) : (struct tscope_value){ 0 };
}

/* ---- sites -------------------------------------------------------------------------------- */

/* Sort key of sites: a number, then the text. */
struct rank {
	int64_t figure;
	struct str text;
	const struct host_site *site;
};

static int compare_ranks(const void *left, const void *right)
{
	const struct rank *a = left, *b = right;

	TSI_DESCENDING(a->figure, b->figure);
	return tsi_str_compare(a->text, b->text);
}

static int64_t figure_of(const struct host_site *site, enum host_table table)
{
	const int64_t figures[] = {
		[HOST_TABLE_BY_BYTES] = site->allocated.bytes,
		[HOST_TABLE_BY_COUNT] = site->allocated.count,
		[HOST_TABLE_BY_PEAK] = site->at_peak.bytes,
		[HOST_TABLE_BY_LEAK] = site->live.bytes,
		[HOST_TABLE_BY_GROWTH] = site->growth_bytes,
	};

	return figures[table];
}

static void put_site(struct fact_sheet *out, enum host_table table, const struct rank *rank,
		     bool has_growth)
{
	const struct host_site *site = rank->site;
	struct tscope_value *cells = tsi_table_row(out, table);

	cells[HOST_SITE_SITE] = tsi_text(tsi_sheet_copy(out, rank->text));
	cells[HOST_SITE_TOTAL_BYTES] = number_if(site->allocated.bytes);
	cells[HOST_SITE_ALLOCATION_COUNT] = number_if(site->allocated.count);
	cells[HOST_SITE_PEAK_BYTES] = number_if(site->at_peak.bytes);
	cells[HOST_SITE_LEAKED_BYTES] = number_if(site->live.bytes);
	cells[HOST_SITE_LEAKED_COUNT] = number_if(site->live.count);
	if (has_growth)
		cells[HOST_SITE_GROWTH_BYTES] = tsi_int(site->growth_bytes);
	cells[HOST_SITE_TEMPORARY_COUNT] = number_if(site->temporary.count);
}

/* The sites with the highest values of the table's figure; ranks: room for all of them. */
static void put_ranking(struct fact_sheet *out, enum host_table table,
			const struct named_rows *sites, struct rank *ranks, bool has_growth)
{
	size_t count = 0;

	for (size_t i = 0; i < sites->count; i++) {
		const struct host_site *site = tsi_named_row_at(sites, i);
		int64_t figure = figure_of(site, table);

		if (figure > 0)
			ranks[count++] =
				(struct rank){ figure, tsi_intern_text(&sites->names, (uint32_t)i),
					       site };
	}
	if (count)
		qsort(ranks, count, sizeof(*ranks), compare_ranks);
	for (size_t i = 0; i < count && i < SITE_ROWS_MAX; i++)
		put_site(out, table, &ranks[i], has_growth);
}

static void put_sites(const struct host_memory *host, struct fact_sheet *out,
		      const struct named_rows *sites)
{
	bool has_growth = host->middle_bytes >= 0;
	struct rank *ranks = tsi_arena_new(tsi_sheet_scratch(out), sites->count, sizeof(*ranks));

	if (!ranks)
		return;
	for (enum host_table table = HOST_TABLE_BY_BYTES; table <= HOST_TABLE_BY_GROWTH; table++)
		if (table != HOST_TABLE_BY_GROWTH || has_growth)
			put_ranking(out, table, sites, ranks, has_growth);
}

/* -1 for memray's own figures, which list only some of the sites. */
static int64_t count_sites(const struct host_memory *host, const struct named_rows *sites)
{
	int64_t count = 0;

	if (host->source == HOST_STATS)
		return -1;
	for (size_t i = 0; i < sites->count; i++)
		count += tsi_host_site_is_used(tsi_named_row_at(sites, i));
	return count;
}

/* ---- allocators, sizes, threads ----------------------------------------------------------- */

static void put_allocators(struct fact_sheet *out, const struct host_memory *host)
{
	for (size_t i = 0; i < MEMRAY_ALLOCATOR_COUNT; i++) {
		const struct host_use *use = &host->allocators[i];

		if (use->count == 0)
			continue;
		struct tscope_value *cells = tsi_table_row(out, HOST_TABLE_BY_ALLOCATOR);
		cells[HOST_BY_ALLOCATOR_ALLOCATOR] =
			tsi_text(tsi_memray_allocator_name((enum memray_allocator)i));
		cells[HOST_BY_ALLOCATOR_COUNT] = tsi_int(use->count);
		cells[HOST_BY_ALLOCATOR_BYTES] = number_if(use->bytes);
	}
	tsi_table_order(out, HOST_TABLE_BY_ALLOCATOR, HOST_BY_ALLOCATOR_COUNT,
			HOST_BY_ALLOCATOR_ALLOCATOR);
}

static void put_sizes(struct fact_sheet *out, const struct host_memory *host)
{
	for (size_t i = 0; i < host->size_count; i++) {
		struct tscope_value *cells = tsi_table_row(out, HOST_TABLE_BY_SIZE);

		cells[HOST_BY_SIZE_MIN_BYTES] = tsi_int(host->sizes[i].min_bytes);
		cells[HOST_BY_SIZE_MAX_BYTES] = tsi_int(host->sizes[i].max_bytes);
		cells[HOST_BY_SIZE_COUNT] = tsi_int(host->sizes[i].count);
	}
}

static const char *thread_name(struct fact_sheet *out, const struct host_memory *host, size_t index)
{
	const struct memray_capture *capture = &host->capture;
	struct memray_thread thread = { 0 };

	if (index < capture->thread_count)
		thread = capture->threads[index];
	struct str name = thread.name ? tsi_intern_text(&capture->names, thread.name) : TSI_STR("");
	if (name.length)
		return tsi_sheet_copy(out, name);
	return tsi_sheet_print(out, "thread %" PRIu64, thread.tid);
}

/* How many allocated anything, or -1: not known. */
static int64_t put_threads(struct fact_sheet *out, const struct host_memory *host)
{
	int64_t count = host->source == HOST_STATS ? -1 : 0;

	for (size_t i = 0; i < host->thread_count; i++) {
		const struct host_account *account = &host->threads[i];

		if (account->allocated.count == 0 && account->at_peak.count == 0 &&
		    account->live.count == 0)
			continue;
		struct tscope_value *cells = tsi_table_row(out, HOST_TABLE_BY_THREAD);
		cells[HOST_BY_THREAD_THREAD] = tsi_text(thread_name(out, host, i));
		if (host->source == HOST_CAPTURE) {
			cells[HOST_BY_THREAD_COUNT] = tsi_int(account->allocated.count);
			cells[HOST_BY_THREAD_TOTAL_BYTES] = tsi_int(account->allocated.bytes);
		}
		cells[HOST_BY_THREAD_PEAK_BYTES] = tsi_int(account->at_peak.bytes);
		count++;
	}
	tsi_table_order(out, HOST_TABLE_BY_THREAD, HOST_BY_THREAD_PEAK_BYTES,
			HOST_BY_THREAD_THREAD);
	return count;
}

/* ---- time --------------------------------------------------------------------------------- */

/* Splits the time into stretches of about as many points each. */
static void put_resident_rows(struct fact_sheet *out, const struct resident *resident)
{
	size_t count = resident->count;
	size_t row_count = count < RESIDENT_ROWS_MAX ? count : RESIDENT_ROWS_MAX;

	for (size_t row = 0; row < row_count; row++) {
		size_t first = row * count / row_count, end = (row + 1) * count / row_count;
		int64_t rss_bytes = 0, heap_bytes = -1;

		for (size_t i = first; i < end; i++) {
			const struct resident_point *point = &resident->points[i];

			if (point->high_bytes > rss_bytes)
				rss_bytes = point->high_bytes;
			if (point->heap_bytes > heap_bytes)
				heap_bytes = point->heap_bytes;
		}
		struct tscope_value *cells = tsi_table_row(out, HOST_TABLE_RESIDENT);
		cells[HOST_RESIDENT_TIME_NS] =
			tsi_int(resident->points[end - 1].time_ms * HOST_NS_PER_MS);
		cells[HOST_RESIDENT_RSS_BYTES] = tsi_int(rss_bytes);
		cells[HOST_RESIDENT_HEAP_BYTES] = number_if(heap_bytes);
	}
}

struct host_counts tsi_host_memory_tables(const struct analysis_scope *scope,
					  struct fact_sheet *out)
{
	const struct tscope_analysis_options *options = scope->options;
	const struct host_memory *host = &scope->memory->host;
	struct str filter = tsi_str_of(options->stack_filter ? options->stack_filter : "");
	struct host_counts counts;
	struct named_rows sites;

	tsi_host_sites_init(&sites, host, options->stack_depth, filter, tsi_sheet_scratch(out));
	put_sites(host, out, &sites);
	counts.sites = count_sites(host, &sites);
	tsi_named_rows_deinit(&sites);
	put_allocators(out, host);
	put_sizes(out, host);
	counts.threads = put_threads(out, host);
	put_resident_rows(out, &host->resident);
	return counts;
}
