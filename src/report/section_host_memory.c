/* SPDX-License-Identifier: MIT */
/*
 * The section about a memray capture: what was live at the peak and never
 * freed, what keeps growing, and where it was allocated.
 */
#include "report/section.h"
#include "report/snapshot_words.h"

/* ---- over time ---- */

static void put_resident(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "resident at start", "host_memory.first_rss_bytes" },
		{ "at most", "host_memory.peak_rss_bytes" },
		{ "at last", "host_memory.last_rss_bytes" },
		{ "growth in the second half", "host_memory.rss_growth_bytes" },
	};

	tsi_panel_curve(panel, "host_memory.resident", "rss_bytes", 3);
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures));
}

/* ---- shares ---- */

/* Parts of the peak, or of all allocations. */
static void put_shares(const struct panel *panel)
{
	static const struct part bytes[] = {
		{ "never freed", "host_memory.leaked_bytes", DOC_WARN },
	};
	static const struct part counts[] = {
		{ "temporary", "host_memory.temporary_count", DOC_INFO },
	};
	struct whole peak = { .value = tsi_panel_int(panel, "host_memory.peak_bytes") };
	struct whole all = { .value = tsi_panel_int(panel, "host_memory.allocation_count") };

	if (peak.value > 0)
		tsi_panel_parts(panel, &peak, bytes, TSI_COUNT_OF(bytes));
	if (all.value > 0)
		tsi_panel_parts(panel, &all, counts, TSI_COUNT_OF(counts));
}

/* "  by  malloc 33 · mmap 3" */
static void put_allocators(const struct panel *panel)
{
	struct table_view view = tsi_panel_rows(panel, "host_memory.by_allocator");

	if (view.row_count == 0)
		return;
	struct doc_line *line = tsi_doc_items(panel->doc, DOC_TAGGED, DOC_FAINT, "by");
	for (size_t row = 0; row < view.row_count; row++)
		tsi_doc_figure(panel->doc, line, tsi_table_text(&view, row, "allocator"),
			       tsi_table_find(&view, row, "count"), TSCOPE_UNIT_COUNT);
}

/* ---- sites ---- */

/* In the order of the report; the first column says what by. */
static const struct {
	const char *table, *by;
	struct column columns[5];
} rankings[] = {
	{ "host_memory.by_peak",
	  "peak_bytes",
	  { { "live at the peak", "site", 0 },
	    { "live", "peak_bytes", 11 },
	    { "never freed", "leaked_bytes", 12 },
	    { "allocated", "total_bytes", 11 },
	    { "allocations", "count", 12 } } },
	{ "host_memory.by_growth",
	  "growth_bytes",
	  { { "more than in the middle", "site", 0 },
	    { "growth", "growth_bytes", 11 },
	    { "at the end", "leaked_bytes", 12 },
	    { "allocated", "total_bytes", 11 },
	    { "allocations", "count", 12 } } },
	{ "host_memory.by_leak",
	  "leaked_bytes",
	  { { "never freed", "site", 0 },
	    { "at the end", "leaked_bytes", 11 },
	    { "allocations", "leaked_count", 12 },
	    { "allocated", "total_bytes", 11 },
	    { "allocations", "count", 12 } } },
	{ "host_memory.by_count",
	  "count",
	  { { "most allocations", "site", 0 },
	    { "allocations", "count", 12 },
	    { "mean size", "total_bytes/count", 11 },
	    { "temporary", "temporary_count", 11 },
	    { "allocated", "total_bytes", 11 } } },
};

/* Used when no site has a peak: the order of memray's own table. */
static const struct column by_bytes_columns[] = {
	{ "most allocated", "site", 0 },
	{ "allocated", "total_bytes", 11 },
	{ "allocations", "count", 12 },
};

static void put_sites(const struct panel *panel)
{
	struct table_view at_peak = tsi_panel_rows(panel, "host_memory.by_peak");
	struct table_view by_bytes = tsi_panel_rows(panel, "host_memory.by_bytes");
	bool has_peak = at_peak.row_count > 0;
	char folder[FOLDER_MAX];

	tsi_site_folder(has_peak ? &at_peak : &by_bytes, folder);
	if (!has_peak)
		tsi_panel_ranking(
			panel,
			&(struct ranking){ "host_memory.by_bytes", "total_bytes", NULL, folder },
			by_bytes_columns, TSI_COUNT_OF(by_bytes_columns));
	for (size_t i = 0; i < TSI_COUNT_OF(rankings); i++)
		tsi_panel_ranking(
			panel, &(struct ranking){ rankings[i].table, rankings[i].by, NULL, folder },
			rankings[i].columns, TSI_COUNT_OF(rankings[i].columns));
	tsi_put_site_folder(panel, folder);
}

/* Explains the site "-" of the tables. */
static void put_unknown_sites(const struct panel *panel)
{
	struct table_view sites = tsi_panel_rows(panel, "host_memory.by_bytes");

	if (sites.row_count == 0)
		sites = tsi_panel_rows(panel, "host_memory.by_peak");
	tsi_put_unknown_sites(panel, &sites,
			      "- stands for threads that run no Python, and what was allocated "
			      "before its stack was known");
}

/* ---- the whole ---- */

static void put_title(const struct panel *panel)
{
	struct tscope_value aggregated = tsi_panel_value(panel, "host_memory.is_aggregated");

	tsi_panel_title(panel, DOC_INFO, "host_memory", "HOST MEMORY", "peak %s%s%s%s",
			tsi_panel_number(panel, "host_memory.peak_bytes"),
			tsi_panel_has(panel, "host_memory.leaked_bytes") ? " · never freed " : "",
			tsi_panel_has(panel, "host_memory.leaked_bytes")
				? tsi_panel_number(panel, "host_memory.leaked_bytes")
				: "",
			aggregated.kind == TSCOPE_VALUE_FLAG && aggregated.flag
				? " · only sums were recorded (--aggregate)"
				: "");
}

/* Live at the peak: the first sites only. */
void tsi_section_host_memory_peak(const struct panel *panel)
{
	struct table_view sites = tsi_panel_rows(panel, rankings[0].table);
	char folder[FOLDER_MAX];

	put_title(panel);
	put_resident(panel);
	tsi_site_folder(&sites, folder);
	tsi_panel_ranking(panel,
			  &(struct ranking){ rankings[0].table, rankings[0].by, NULL, folder },
			  rankings[0].columns, TSI_COUNT_OF(rankings[0].columns));
	tsi_put_site_folder(panel, folder);
}

void tsi_section_host_memory(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "captured", "host_memory.capture_ns" },
		{ "allocations", "host_memory.allocation_count" },
		{ "of", "host_memory.allocated_bytes" },
		{ "live at the peak", "host_memory.peak_allocation_count" },
		{ "live at the end", "host_memory.leaked_count" },
		{ "threads", "host_memory.thread_count" },
		{ "sites", "host_memory.site_count" },
	};
	static const struct column threads[] = {
		{ "thread", "thread", 0 },
		{ "at the peak", "peak_bytes", 12 },
		{ "allocated", "total_bytes", 11 },
		{ "allocations", "count", 12 },
	};

	put_title(panel);
	put_resident(panel);
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures));
	put_allocators(panel);
	put_shares(panel);
	put_sites(panel);
	put_unknown_sites(panel);
	if (tsi_panel_int(panel, "host_memory.thread_count") > 1)
		tsi_panel_table(panel, "host_memory.by_thread", threads, TSI_COUNT_OF(threads));
}
