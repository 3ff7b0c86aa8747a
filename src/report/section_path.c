/* SPDX-License-Identifier: MIT */
/* The section of the text report about the critical path of a step on one rank. */
#include "report/section.h"

#include "analyze/lookup.h"
#include "base/attributes.h"

enum {
	NAMES_SHOWN = 2,       /* of devices and of hosts: the section stays short */
	SHOWN_MIN_PART = 1000, /* what is below 1 ÷ 1000 of the chain is left out */
};

static int64_t fact(const struct panel *panel, const char *id)
{
	return tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE, id);
}

static void put_lines(const struct panel *panel, int64_t length_ns)
{
	static const struct {
		const char *label, *id;
		enum text_style style;
	} lines[] = {
		{ "compute", "critical_path.compute_ns", TEXT_GREEN },
		{ "comm", "critical_path.comm_ns", TEXT_YELLOW },
		{ "copy", "critical_path.copy_ns", TEXT_YELLOW },
		{ "launch", "critical_path.launch_ns", TEXT_RED },
		{ "device gap", "critical_path.device_gap_ns", TEXT_RED },
		{ "host", "critical_path.host_ns", TEXT_PLAIN },
		{ "data", "critical_path.data_ns", TEXT_RED },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(lines); i++) {
		int64_t part_ns = fact(panel, lines[i].id);
		if (part_ns > length_ns / SHOWN_MIN_PART)
			tsi_panel_meter(panel,
					&(struct meter){ lines[i].label, part_ns, length_ns,
							 part_ns, lines[i].style, TSCOPE_UNIT_NS });
	}
}

/* ", 97.2 % of it" */
static void name_coverage(const struct panel *panel, char words[2 * NUMBER_MAX])
{
	struct tscope_value coverage = tsi_panel_value(panel, "critical_path.coverage_ratio");
	char text[NUMBER_MAX];

	words[0] = '\0';
	if (coverage.kind != TSCOPE_VALUE_REAL || coverage.real >= 1)
		return;
	tsi_number_people(text, coverage, TSCOPE_UNIT_RATIO);
	snprintf(words, 2 * NUMBER_MAX, ", which is %s of it", text);
}

/* What has most of the chain, as a mean step has it. */
static void put_names(const struct panel *panel, const char *table, const char *label)
{
	struct table_view view = tsi_lookup_table(panel->analysis, TSCOPE_WHOLE_TRACE, table);
	int64_t length_ns = fact(panel, "critical_path.length_ns");
	int64_t step_count = fact(panel, "critical_path.step_count");
	size_t name = tsi_table_column(&view, "name"), total = tsi_table_column(&view, "total_ns");

	for (size_t row = 0; row < view.row_count && row < NAMES_SHOWN && row < panel->top; row++) {
		int64_t part_ns = tsi_table_cell(&view, row, total).integer / step_count;
		struct meter meter = {
			row == 0 ? label : "", part_ns, length_ns, part_ns, TEXT_PLAIN,
			TSCOPE_UNIT_NS
		};

		if (part_ns > length_ns / SHOWN_MIN_PART)
			tsi_panel_part(panel, &meter, tsi_table_cell(&view, row, name).text);
	}
}

void tsi_section_path(const struct panel *panel)
{
	int64_t length_ns = fact(panel, "critical_path.length_ns");
	char length[NUMBER_MAX], coverage[2 * NUMBER_MAX];

	if (length_ns <= 0 || fact(panel, "critical_path.step_count") <= 0)
		return;
	tsi_panel_number(panel, "critical_path.length_ns", length);
	name_coverage(panel, coverage);
	tsi_panel_title(panel, TEXT_CYAN, "critical_path", "CRITICAL PATH", "of a mean step: %s%s",
			length, coverage);
	put_lines(panel, length_ns);
	put_names(panel, "critical_path.by_kernel", "most on devices");
	put_names(panel, "critical_path.by_operator", "most on the host");
}
