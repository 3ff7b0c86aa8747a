/* SPDX-License-Identifier: MIT */
/*
 * Sections of the text report about a snapshot of CUDA's allocator: who allocated what was live at
 * the peak, what keeps growing, and what the to and fro costs.
 */
#include "report/section.h"

#include "base/attributes.h"
#include "report/snapshot_words.h"

#include <string.h>

/* ---- at the peak ---- */

static enum text_style style_of_role(const char *role)
{
	static const struct {
		const char *role;
		enum text_style style;
	} styles[] = {
		{ "parameter", TEXT_GREEN },
		{ "optimizer", TEXT_CYAN },
		{ "backward", TEXT_YELLOW },
		{ "forward", TEXT_YELLOW },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(styles); i++)
		if (strcmp(role, styles[i].role) == 0)
			return styles[i].style;
	return TEXT_DIM;
}

static void put_roles(const struct panel *panel)
{
	struct table_view roles = tsi_panel_rows(panel, "snapshot.by_role");

	for (size_t row = 0; row < roles.row_count; row++) {
		int64_t part = tsi_table_find(&roles, row, "bytes").integer;
		struct meter meter = {
			.label = tsi_table_find(&roles, row, "role").text,
			.part = part,
			.whole = tsi_snapshot_int(panel, "snapshot.peak_allocated_bytes"),
			.shown = part,
			.unit = TSCOPE_UNIT_BYTES,
		};

		if (tsi_table_find(&roles, row, "device").integer !=
			    tsi_snapshot_int(panel, "snapshot.peak_device") ||
		    part <= 0)
			continue;
		meter.style = style_of_role(meter.label);
		tsi_panel_meter(panel, &meter);
	}
}

/* The sites with most of a column. The folder that all lie in is told once. */
static void put_sites(const struct panel *panel, const char *by, bool is_folder_told,
		      const struct column *columns, size_t count)
{
	struct table_view sites = tsi_panel_rows(panel, "snapshot.sites");
	char folder[FOLDER_MAX];

	tsi_site_folder(&sites, folder);
	tsi_panel_ranking(panel, &(struct ranking){ "snapshot.sites", by, NULL, folder }, columns,
			  count);
	if (!is_folder_told)
		tsi_put_site_folder(panel, folder);
}

/* What the site "-" of the table is. */
static void put_unknown_sites(const struct panel *panel)
{
	struct table_view sites = tsi_panel_rows(panel, "snapshot.sites");
	size_t site = tsi_table_column(&sites, "site");

	for (size_t row = 0; row < sites.row_count; row++) {
		struct tscope_value name = tsi_table_cell(&sites, row, site);

		if (name.kind != TSCOPE_VALUE_TEXT || *name.text != '\0')
			continue;
		tsi_text_style(panel->w, TEXT_DIM);
		tsi_text_put(panel->w, "  ");
		tsi_text_paragraph(panel->w,
				   "- stands for blocks without a stack: allocated before the "
				   "recording began, or none was taken",
				   2);
		tsi_text_style(panel->w, TEXT_PLAIN);
		return;
	}
}

void tsi_section_snapshot_peak(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "site", "site", 0 },     { "live", "bytes", 11 },
		{ "blocks", "count", 9 },  { "never freed", "never_freed_bytes", 13 },
		{ "device", "device", 8 },
	};
	bool is_flat = tsi_snapshot_int(panel, "snapshot.trace_entry_count") == 0;
	char peak[NUMBER_MAX], count[COUNT_WORDS_MAX], device[NUMBER_MAX];

	if (tsi_snapshot_int(panel, "snapshot.live_at_peak_count") == 0)
		return;
	tsi_panel_number(panel, "snapshot.peak_allocated_bytes", peak);
	tsi_count_words(panel, "snapshot.live_at_peak_count", "block", count);
	tsi_peak_device_words(panel, device);
	tsi_panel_title(panel, TEXT_CYAN, "snapshot", is_flat ? "LIVE" : "LIVE AT THE PEAK",
			"%s in %s%s", peak, count, device);
	put_roles(panel);
	put_sites(panel, "bytes", false, columns,
		  TSI_COUNT_OF(columns) - (tsi_has_many_devices(panel) ? 0 : 1));
	put_unknown_sites(panel);
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
	bool has_peak = tsi_snapshot_int(panel, "snapshot.live_at_peak_count") > 0;
	char count[COUNT_WORDS_MAX];

	if (tsi_snapshot_int(panel, "snapshot.alloc_count") == 0)
		return;
	tsi_count_words(panel, "snapshot.alloc_count", "allocation", count);
	tsi_panel_title(panel, TEXT_CYAN, "snapshot", "CHURN", "%s", count);
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures));
	put_sites(panel, "alloc_count", has_peak, has_times ? with_times : with_entries,
		  TSI_COUNT_OF(with_times));
}

/* ---- growth ---- */

/* "+1.50 GiB" */
static void format_change(char text[NUMBER_MAX + 1], struct tscope_value bytes)
{
	bool is_more = bytes.kind == TSCOPE_VALUE_INT && bytes.integer > 0;

	text[0] = '+';
	tsi_number_people(text + is_more, bytes, TSCOPE_UNIT_BYTES);
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
	char live[NUMBER_MAX + 1], held[NUMBER_MAX + 1], folder[FOLDER_MAX];

	if (growth.kind != TSCOPE_VALUE_INT || earlier.kind != TSCOPE_VALUE_TEXT)
		return;
	format_change(live, growth);
	format_change(held, reserved);
	tsi_panel_title(panel, TEXT_CYAN, "snapshot", "GROWTH", "%s live, %s reserved since %s",
			live, held, earlier.text);
	tsi_site_folder(&grown, folder);
	tsi_panel_ranking(panel,
			  &(struct ranking){ "snapshot.growth", "growth_bytes", NULL, folder },
			  columns, TSI_COUNT_OF(columns));
	tsi_put_site_folder(panel, folder);
}
