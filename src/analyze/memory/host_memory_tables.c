/* SPDX-License-Identifier: MIT */
/* The tables of the analyzer host_memory: sites, allocators, sizes, threads, time. */
#include "analyze/memory/host_memory_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/memory/host_sites.h"

enum { SITE_ROWS_MAX = 200, RESIDENT_ROWS_MAX = 64 };

/* A figure that may not be known. */
static struct tscope_value number_if(int64_t number)
{
	return number >= 0 ? tsi_int(number) : (struct tscope_value){ 0 };
}

/* ---- sites -------------------------------------------------------------------------------- */

/* A figure of a site, and its place among the sites. */
struct rank {
	int64_t figure;
	struct str text;
	const struct host_site *site;
};

static int compare_ranks(const void *left, const void *right)
{
	const struct rank *a = left, *b = right;
	size_t shared = a->text.length < b->text.length ? a->text.length : b->text.length;
	int order;

	if (a->figure != b->figure)
		return a->figure > b->figure ? -1 : 1;
	order = shared ? memcmp(a->text.data, b->text.data, shared) : 0;
	return order ? order
		     : (a->text.length > b->text.length) - (a->text.length < b->text.length);
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

static enum tscope_status put_site(const struct analysis_scope *scope, struct fact_sheet *out,
				   enum host_table table, const struct rank *rank,
				   struct tscope_error *err)
{
	const struct host_site *site = rank->site;
	struct tscope_value *cells;
	const char *text;

	if (tsi_keep_text(scope, rank->text, &text, err) != TSCOPE_OK ||
	    tsi_table_add(out, table, &cells, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	cells[HOST_SITE_SITE] = tsi_text(text);
	cells[HOST_SITE_TOTAL_BYTES] = number_if(site->allocated.bytes);
	cells[HOST_SITE_ALLOCATION_COUNT] = number_if(site->allocated.count);
	cells[HOST_SITE_PEAK_BYTES] = number_if(site->at_peak.bytes);
	cells[HOST_SITE_LEAKED_BYTES] = number_if(site->live.bytes);
	cells[HOST_SITE_LEAKED_COUNT] = number_if(site->live.count);
	if (scope->memory->host.middle_bytes >= 0)
		cells[HOST_SITE_GROWTH_BYTES] = tsi_int(site->growth_bytes);
	cells[HOST_SITE_TEMPORARY_COUNT] = number_if(site->temporary.count);
	return TSCOPE_OK;
}

/* The sites, and room to rank all of them. */
struct ranking {
	const struct host_sites *sites;
	struct rank *ranks;
};

/* Those with most of the table's figure. */
static enum tscope_status put_ranking(const struct analysis_scope *scope, struct fact_sheet *out,
				      enum host_table table, const struct ranking *ranking,
				      struct tscope_error *err)
{
	const struct host_sites *sites = ranking->sites;
	struct rank *ranks = ranking->ranks;
	enum tscope_status status = TSCOPE_OK;
	size_t count = 0;

	for (size_t i = 0; i < sites->count; i++) {
		const struct host_site *site = &sites->items[i];
		int64_t figure = figure_of(site, table);

		if (figure > 0)
			ranks[count++] =
				(struct rank){ figure, tsi_intern_text(&sites->texts, site->text),
					       site };
	}
	if (count)
		qsort(ranks, count, sizeof(*ranks), compare_ranks);
	for (size_t i = 0; i < count && i < SITE_ROWS_MAX && status == TSCOPE_OK; i++)
		status = put_site(scope, out, table, &ranks[i], err);
	return status;
}

static enum tscope_status put_sites(const struct analysis_scope *scope, struct fact_sheet *out,
				    const struct host_sites *sites, struct tscope_error *err)
{
	bool has_growth = scope->memory->host.middle_bytes >= 0;
	struct ranking ranking = { sites, NULL };
	enum tscope_status status =
		tsi_array_new(&ranking.ranks, sites->count, sizeof(*ranking.ranks), err);

	for (enum host_table table = HOST_TABLE_BY_BYTES;
	     table <= HOST_TABLE_BY_GROWTH && status == TSCOPE_OK; table++)
		if (table != HOST_TABLE_BY_GROWTH || has_growth)
			status = put_ranking(scope, out, table, &ranking, err);
	free(ranking.ranks);
	return status;
}

/* Of memray's own figures nobody knows: it lists only some. */
static int64_t count_sites(const struct host_memory *host, const struct host_sites *sites)
{
	int64_t count = 0;

	if (host->source == HOST_STATS)
		return -1;
	for (size_t i = 0; i < sites->count; i++)
		count += tsi_host_site_is_used(&sites->items[i]);
	return count;
}

/* ---- allocators, sizes, threads ----------------------------------------------------------- */

static enum tscope_status put_allocators(struct fact_sheet *out, const struct host_memory *host,
					 struct tscope_error *err)
{
	for (size_t i = 0; i < MEMRAY_ALLOCATOR_COUNT; i++) {
		const struct host_use *use = &host->allocators[i];
		struct tscope_value *cells;

		if (use->count == 0)
			continue;
		if (tsi_table_add(out, HOST_TABLE_BY_ALLOCATOR, &cells, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		cells[HOST_BY_ALLOCATOR_ALLOCATOR] =
			tsi_text(tsi_memray_allocator_name((enum memray_allocator)i));
		cells[HOST_BY_ALLOCATOR_COUNT] = tsi_int(use->count);
		cells[HOST_BY_ALLOCATOR_BYTES] = number_if(use->bytes);
	}
	return tsi_table_sort(out, HOST_TABLE_BY_ALLOCATOR, HOST_BY_ALLOCATOR_COUNT,
			      HOST_BY_ALLOCATOR_ALLOCATOR, err);
}

static enum tscope_status put_sizes(struct fact_sheet *out, const struct host_memory *host,
				    struct tscope_error *err)
{
	for (size_t i = 0; i < host->size_count; i++) {
		struct tscope_value *cells;

		if (tsi_table_add(out, HOST_TABLE_BY_SIZE, &cells, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		cells[HOST_BY_SIZE_MIN_BYTES] = tsi_int(host->sizes[i].min_bytes);
		cells[HOST_BY_SIZE_MAX_BYTES] = tsi_int(host->sizes[i].max_bytes);
		cells[HOST_BY_SIZE_COUNT] = tsi_int(host->sizes[i].count);
	}
	return TSCOPE_OK;
}

static enum tscope_status put_thread(const struct analysis_scope *scope, struct fact_sheet *out,
				     size_t index, struct tscope_error *err)
{
	const struct host_memory *host = &scope->memory->host;
	const struct host_account *account = &host->threads[index];
	struct str name = { 0 };
	struct tscope_value *cells;
	const char *text;
	uint64_t tid = 0;

	if (index < host->capture.thread_count) {
		tid = host->capture.threads[index].tid;
		name = tsi_intern_text(&host->capture.names, host->capture.threads[index].name);
	}
	enum tscope_status status =
		name.length ? tsi_keep_text(scope, name, &text, err)
			    : tsi_make_text(scope, &text, err, "thread %" PRIu64, tid);
	if (status == TSCOPE_OK)
		status = tsi_table_add(out, HOST_TABLE_BY_THREAD, &cells, err);
	if (status != TSCOPE_OK)
		return status;
	cells[HOST_BY_THREAD_THREAD] = tsi_text(text);
	if (host->source == HOST_CAPTURE) {
		cells[HOST_BY_THREAD_COUNT] = tsi_int(account->allocated.count);
		cells[HOST_BY_THREAD_TOTAL_BYTES] = tsi_int(account->allocated.bytes);
	}
	cells[HOST_BY_THREAD_PEAK_BYTES] = tsi_int(account->at_peak.bytes);
	return TSCOPE_OK;
}

static enum tscope_status put_threads(const struct analysis_scope *scope, struct fact_sheet *out,
				      int64_t *count, struct tscope_error *err)
{
	const struct host_memory *host = &scope->memory->host;
	enum tscope_status status = TSCOPE_OK;

	*count = host->source == HOST_STATS ? -1 : 0;
	for (size_t i = 0; i < host->thread_count && status == TSCOPE_OK; i++) {
		const struct host_account *account = &host->threads[i];

		if (account->allocated.count == 0 && account->at_peak.count == 0 &&
		    account->live.count == 0)
			continue;
		status = put_thread(scope, out, i, err);
		++*count;
	}
	if (status == TSCOPE_OK)
		status = tsi_table_sort(out, HOST_TABLE_BY_THREAD, HOST_BY_THREAD_PEAK_BYTES,
					HOST_BY_THREAD_THREAD, err);
	return status;
}

/* ---- time --- */

/* Stretches of about as many points each. */
static enum tscope_status put_resident_rows(struct fact_sheet *out, const struct resident *resident,
					    struct tscope_error *err)
{
	size_t count = resident->count;
	size_t row_count = count < RESIDENT_ROWS_MAX ? count : RESIDENT_ROWS_MAX;

	for (size_t row = 0; row < row_count; row++) {
		size_t first = row * count / row_count, end = (row + 1) * count / row_count;
		int64_t rss_bytes = 0, heap_bytes = -1;
		struct tscope_value *cells;

		for (size_t i = first; i < end; i++) {
			const struct resident_point *point = &resident->points[i];

			if (point->high_bytes > rss_bytes)
				rss_bytes = point->high_bytes;
			if (point->heap_bytes > heap_bytes)
				heap_bytes = point->heap_bytes;
		}
		if (tsi_table_add(out, HOST_TABLE_RESIDENT, &cells, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		cells[HOST_RESIDENT_TIME_NS] =
			tsi_int(resident->points[end - 1].time_ms * HOST_NS_PER_MS);
		cells[HOST_RESIDENT_RSS_BYTES] = tsi_int(rss_bytes);
		cells[HOST_RESIDENT_HEAP_BYTES] = number_if(heap_bytes);
	}
	return TSCOPE_OK;
}

enum tscope_status tsi_host_memory_tables(const struct analysis_scope *scope,
					  struct fact_sheet *out, struct host_counts *counts,
					  struct tscope_error *err)
{
	const struct tscope_analysis_options *options = scope->options;
	const struct host_memory *host = &scope->memory->host;
	struct str filter = tsi_str_of(options->stack_filter ? options->stack_filter : "");
	struct host_sites sites;
	enum tscope_status status =
		tsi_host_sites_init(&sites, host, options->stack_depth, filter, err);

	if (status == TSCOPE_OK)
		status = put_sites(scope, out, &sites, err);
	counts->sites = count_sites(host, &sites);
	tsi_host_sites_deinit(&sites);
	if (status == TSCOPE_OK)
		status = put_allocators(out, host, err);
	if (status == TSCOPE_OK)
		status = put_sizes(out, host, err);
	if (status == TSCOPE_OK)
		status = put_threads(scope, out, &counts->threads, err);
	if (status == TSCOPE_OK)
		status = put_resident_rows(out, &host->resident, err);
	return status;
}
