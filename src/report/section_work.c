/* SPDX-License-Identifier: MIT */
/* Sections about who did the work: kernels, operators, launch calls, copies, annotated spans. */
#include "report/section.h"

#include <string.h>

/* Too much of no known kind, and the other kinds' shares are but what they are at least. */
static void put_unknown_kinds(const struct panel *panel)
{
	struct table_view kinds = tsi_panel_rows(panel, "kernels.by_kind");

	for (size_t row = 0; row < kinds.row_count; row++) {
		struct tscope_value share = tsi_table_find(&kinds, row, "share_ratio");
		if (strcmp(tsi_table_text(&kinds, row, "kind"), "other") == 0 && share.real > 0.1)
			tsi_doc_line(panel->doc, DOC_NOTE, DOC_FAINT, NULL,
				     "%s of kernel time is of no known kind: the kinds have at "
				     "least the shares shown",
				     tsi_panel_people(panel, share, TSCOPE_UNIT_RATIO));
	}
}

void tsi_section_kernels(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "different", "kernels.name_count" },
		{ "below 10 µs", "kernels.short_ratio" },
		{ "smaller than the GPU", "kernels.small_grid_count" },
		{ "tensor cores", "kernels.tensor_core_ns" },
		{ "SM efficiency", "kernels.sm_efficiency_ratio" },
	};
	static const struct column kind_columns[] = {
		{ "kind", "kind", 0 },
		{ "count", "count", 10 },
		{ "total", "total_ns", 12 },
		{ "share", "share_ratio", 9 },
	};
	static const struct column columns[] = {
		{ "kernel", "name", 0 },     { "count", "count", 8 },
		{ "total", "total_ns", 11 }, { "share", "share_ratio", 9 },
		{ "mean", "mean_ns", 11 },
	};

	if (tsi_panel_row_count(panel, "kernels.by_name") == 0)
		return;
	tsi_panel_title(panel, DOC_INFO, "kernels", "KERNELS", "%s · %s",
			tsi_panel_number(panel, "kernels.count"),
			tsi_panel_number(panel, "kernels.total_ns"));
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures));
	put_unknown_kinds(panel);
	tsi_panel_table(panel, "kernels.by_kind", kind_columns, TSI_COUNT_OF(kind_columns));
	tsi_panel_kernels(panel, "kernels.by_name", columns, TSI_COUNT_OF(columns));
}

void tsi_section_operators(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "different", "operators.name_count" },
		{ "host time in them", "operators.self_ns" },
		{ "device time they launched", "operators.device_ns" },
		{ "no launching operator", "operators.unattributed_device_ratio" },
	};
	static const struct column columns[] = {
		{ "operator", "name", 0 },     { "count", "count", 8 },
		{ "total", "total_ns", 11 },   { "self", "self_ns", 11 },
		{ "device", "device_ns", 11 },
	};
	/* Without a device the last figures and the last column are nothing but zeros. */
	bool has_device = tscope_analysis_device_count(panel->analysis) > 0;

	if (tsi_panel_row_count(panel, "operators.by_name") == 0)
		return;
	tsi_panel_title(panel, DOC_INFO, "operators", "OPERATORS", "%s",
			tsi_panel_number(panel, "operators.count"));
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures) - (has_device ? 0 : 2));
	tsi_panel_table(panel, "operators.by_name", columns,
			TSI_COUNT_OF(columns) - (has_device ? 0 : 1));
}

void tsi_section_launches(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "per step", "launches.launches_per_step" },
		{ "delay p50", "launches.delay_p50_ns" },
		{ "p95", "launches.delay_p95_ns" },
		{ "launches queued", "launches.queued_ratio" },
		{ "host-caused idle", "launches.host_bound_ratio" },
		{ "mallocs in steady steps", "launches.steady_malloc_count" },
		{ "frees", "launches.steady_free_count" },
	};
	static const struct column columns[] = {
		{ "call", "name", 0 },       { "kind", "kind", 14 },    { "count", "count", 8 },
		{ "total", "total_ns", 11 }, { "mean", "mean_ns", 11 },
	};
	static const struct column sync_columns[] = {
		{ "waiting in", "op", 0 },
		{ "call", "call", 25 },
		{ "count", "count", 8 },
		{ "total", "total_ns", 11 },
	};

	if (tsi_panel_row_count(panel, "launches.by_name") == 0)
		return;
	tsi_panel_title(panel, DOC_INFO, "launches", "LAUNCHES", "%s",
			tsi_panel_number(panel, "launches.launch_count"));
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures));
	tsi_panel_table(panel, "launches.by_name", columns, TSI_COUNT_OF(columns));
	tsi_panel_table(panel, "launches.syncs", sync_columns, TSI_COUNT_OF(sync_columns));
}

void tsi_section_copies(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "moved or filled", "copies.bytes" },
		{ "exposed", "copies.exposed_ns" },
		{ "of pageable memory", "copies.pageable_ns" },
	};
	static const struct column columns[] = {
		{ "copy", "name", 0 },
		{ "count", "count", 8 },
		{ "total", "total_ns", 11 },
		{ "bytes", "bytes", 10 },
		{ "rate", "bytes_per_second", 11 },
	};

	if (tsi_panel_row_count(panel, "copies.by_name") == 0)
		return;
	tsi_panel_title(panel, DOC_INFO, "copies", "COPIES AND FILLS", "%s · %s",
			tsi_panel_number(panel, "copies.count"),
			tsi_panel_number(panel, "copies.total_ns"));
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures));
	tsi_panel_table(panel, "copies.by_name", columns, TSI_COUNT_OF(columns));
}

/* All there is in traces of other programs; beside the point where there are operators. */
void tsi_section_spans(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "span", "name", 0 },     { "count", "count", 8 },   { "total", "total_ns", 11 },
		{ "self", "self_ns", 11 }, { "mean", "mean_ns", 11 },
	};

	if (tsi_panel_row_count(panel, "spans.by_name") == 0 ||
	    tsi_panel_row_count(panel, "operators.by_name") > 0)
		return;
	tsi_panel_title(panel, DOC_INFO, "spans", "SPANS", "%s",
			tsi_panel_number(panel, "spans.count"));
	tsi_panel_table(panel, "spans.by_name", columns, TSI_COUNT_OF(columns));
}
