/* SPDX-License-Identifier: MIT */
/*
 * Sections about a snapshot of CUDA's allocator: who allocated what was live at
 * the peak, what keeps growing, and what allocating and freeing costs.
 */
#include "report/section.h"
#include "report/snapshot_words.h"

#include <string.h>

/* ---- at the peak ---- */

static enum doc_tone tone_of_role(const char *role)
{
	static const struct {
		const char *role;
		enum doc_tone tone;
	} tones[] = {
		{ "parameter", DOC_GOOD }, { "optimizer", DOC_INFO }, { "backward", DOC_WARN },
		{ "forward", DOC_WARN },   { "kv_cache", DOC_INFO },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(tones); i++)
		if (strcmp(role, tones[i].role) == 0)
			return tones[i].tone;
	return DOC_FAINT;
}

static void put_roles(const struct panel *panel)
{
	struct table_view roles = tsi_panel_rows(panel, "snapshot.by_role");
	int64_t device = tsi_panel_int(panel, "snapshot.peak_device");

	for (size_t row = 0; row < roles.row_count; row++) {
		const char *role = tsi_table_text(&roles, row, "role");
		int64_t part = tsi_table_find(&roles, row, "bytes").integer;
		struct doc_meter meter = {
			.label = tsi_role_label(role),
			.part = part,
			.whole = tsi_panel_int(panel, "snapshot.peak_allocated_bytes"),
			.shown = part,
			.tone = tone_of_role(role),
			.unit = TSCOPE_UNIT_BYTES,
		};

		if (tsi_table_find(&roles, row, "device").integer == device && part > 0)
			tsi_doc_meter(panel->doc, &meter);
	}
}

/* The sites with most of a column. Their common folder is shown once. */
static void put_sites(const struct panel *panel, const char *by, bool is_folder_shown,
		      const struct column *columns, size_t count)
{
	struct table_view sites = tsi_panel_rows(panel, "snapshot.sites");
	char folder[FOLDER_MAX];

	tsi_site_folder(&sites, folder);
	tsi_panel_ranking(panel, &(struct ranking){ "snapshot.sites", by, NULL, folder }, columns,
			  count);
	if (!is_folder_shown)
		tsi_put_site_folder(panel, folder);
}

void tsi_section_snapshot_peak(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "site", "site", 0 },     { "live", "bytes", 11 },
		{ "blocks", "count", 9 },  { "never freed", "never_freed_bytes", 13 },
		{ "device", "device", 8 },
	};
	bool is_flat = tsi_panel_int(panel, "snapshot.trace_entry_count") == 0;
	struct table_view sites;

	if (tsi_panel_int(panel, "snapshot.live_at_peak_count") == 0)
		return;
	tsi_panel_title(panel, DOC_INFO, "snapshot", is_flat ? "LIVE" : "LIVE AT THE PEAK",
			"%s in %s%s", tsi_panel_number(panel, "snapshot.peak_allocated_bytes"),
			tsi_count_words(panel, "snapshot.live_at_peak_count", "block"),
			tsi_peak_device_words(panel));
	put_roles(panel);
	put_sites(panel, "bytes", false, columns,
		  TSI_COUNT_OF(columns) - (tsi_has_many_devices(panel) ? 0 : 1));
	sites = tsi_panel_rows(panel, "snapshot.sites");
	tsi_put_unknown_sites(panel, &sites,
			      "- stands for blocks without a stack: allocated before "
			      "_record_memory_history() was called, or recorded without stacks");
}

/* ---- what it cost ---- */

void tsi_section_snapshot_churn(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "segments taken", "snapshot.segment_alloc_count" },
		{ "of", "snapshot.segment_alloc_bytes" },
		{ "given back", "snapshot.segment_free_count" },
		{ "of", "snapshot.segment_free_bytes" },
		{ "flushed and tried again", "snapshot.retry_count" },
		{ "never freed", "snapshot.never_freed_bytes" },
	};
	static const struct column with_times[] = {
		{ "site", "site", 0 },
		{ "allocs", "alloc_count", 9 },
		{ "mean size", "alloc_bytes/alloc_count", 11 },
		{ "freed", "freed_count", 8 },
		{ "mean life", "lifetime_ns/freed_count", 11 },
	};
	static const struct column with_entries[] = {
		{ "site", "site", 0 },
		{ "allocs", "alloc_count", 9 },
		{ "mean size", "alloc_bytes/alloc_count", 11 },
		{ "freed", "freed_count", 8 },
		{ "life, entries", "lifetime_entries/freed_count", 15 },
	};
	bool has_times = tsi_panel_has(panel, "snapshot.window_ns");
	bool has_peak = tsi_panel_int(panel, "snapshot.live_at_peak_count") > 0;

	if (tsi_panel_int(panel, "snapshot.alloc_count") == 0)
		return;
	tsi_panel_title(panel, DOC_INFO, "snapshot", "CHURN", "%s",
			tsi_count_words(panel, "snapshot.alloc_count", "allocation"));
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures));
	put_sites(panel, "alloc_count", has_peak, has_times ? with_times : with_entries,
		  TSI_COUNT_OF(with_times));
}

/* ---- growth ---- */

/* "+1.50 GiB" */
static const char *name_change(const struct panel *panel, struct tscope_value bytes)
{
	bool is_more = bytes.kind == TSCOPE_VALUE_INT && bytes.integer > 0;

	return tsi_panel_print(panel, "%s%s", is_more ? "+" : "",
			       tsi_panel_people(panel, bytes, TSCOPE_UNIT_BYTES));
}

void tsi_section_snapshot_growth(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "site", "site", 0 },    { "growth", "growth_bytes", 11 }, { "live", "bytes", 11 },
		{ "blocks", "count", 9 }, { "before", "earlier_count", 9 },
	};
	struct tscope_value earlier = tsi_panel_value(panel, "snapshot.earlier_path");
	struct tscope_value growth = tsi_panel_value(panel, "snapshot.growth_bytes");
	struct tscope_value reserved = tsi_panel_value(panel, "snapshot.growth_reserved_bytes");
	struct table_view grown = tsi_panel_rows(panel, "snapshot.growth");
	char folder[FOLDER_MAX];

	if (growth.kind != TSCOPE_VALUE_INT || earlier.kind != TSCOPE_VALUE_TEXT)
		return;
	tsi_panel_title(panel, DOC_INFO, "snapshot", "GROWTH", "%s live, %s reserved since %s",
			name_change(panel, growth), name_change(panel, reserved), earlier.text);
	tsi_site_folder(&grown, folder);
	tsi_panel_ranking(panel,
			  &(struct ranking){ "snapshot.growth", "growth_bytes", NULL, folder },
			  columns, TSI_COUNT_OF(columns));
	tsi_put_site_folder(panel, folder);
}
