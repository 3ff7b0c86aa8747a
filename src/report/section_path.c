/* SPDX-License-Identifier: MIT */
/* The section about the critical path of a step on one rank. */
#include "report/section.h"

enum {
	NAMES_SHOWN = 2,       /* of devices and of hosts: the section stays short */
	SHOWN_MIN_PART = 1000, /* what is below 1 ÷ 1000 of the chain is left out */
};

static void put_lines(const struct panel *panel, int64_t length_ns)
{
	static const struct part lines[] = {
		{ "compute", "critical_path.compute_ns", DOC_GOOD },
		{ "comm", "critical_path.comm_ns", DOC_WARN },
		{ "copy", "critical_path.copy_ns", DOC_WARN },
		{ "launch", "critical_path.launch_ns", DOC_BAD },
		{ "device gap", "critical_path.device_gap_ns", DOC_BAD },
		{ "host", "critical_path.host_ns", DOC_PLAIN },
		{ "data", "critical_path.data_ns", DOC_BAD },
	};

	tsi_panel_parts(panel, &(struct whole){ length_ns, length_ns / SHOWN_MIN_PART, 0 }, lines,
			TSI_COUNT_OF(lines));
}

/* ", 97.2 % of it" */
static const char *name_coverage(const struct panel *panel)
{
	struct tscope_value coverage = tsi_panel_value(panel, "critical_path.coverage_ratio");

	if (coverage.kind != TSCOPE_VALUE_REAL || coverage.real >= 1)
		return "";
	return tsi_panel_print(panel, ", which is %s of it",
			       tsi_panel_people(panel, coverage, TSCOPE_UNIT_RATIO));
}

/* Names that take most of the chain, in a mean step. */
static void put_names(const struct panel *panel, const char *table, const char *label)
{
	struct table_view view = tsi_panel_rows(panel, table);
	int64_t length_ns = tsi_panel_int(panel, "critical_path.length_ns");
	int64_t step_count = tsi_panel_int(panel, "critical_path.step_count");

	for (size_t row = 0; row < view.row_count && row < NAMES_SHOWN && row < panel->top; row++) {
		int64_t part_ns = tsi_table_find(&view, row, "total_ns").integer / step_count;
		struct doc_meter meter = { row == 0 ? label : "",
					   part_ns,
					   length_ns,
					   part_ns,
					   DOC_PLAIN,
					   TSCOPE_UNIT_NS,
					   tsi_table_text(&view, row, "name") };

		if (part_ns > length_ns / SHOWN_MIN_PART)
			tsi_doc_meter(panel->doc, &meter);
	}
}

void tsi_section_path(const struct panel *panel)
{
	int64_t length_ns = tsi_panel_int(panel, "critical_path.length_ns");

	if (length_ns <= 0 || tsi_panel_int(panel, "critical_path.step_count") <= 0)
		return;
	tsi_panel_title(panel, DOC_INFO, "critical_path", "CRITICAL PATH", "of a mean step: %s%s",
			tsi_panel_number(panel, "critical_path.length_ns"), name_coverage(panel));
	put_lines(panel, length_ns);
	put_names(panel, "critical_path.by_kernel", "most on devices");
	put_names(panel, "critical_path.by_operator", "most on the host");
}
