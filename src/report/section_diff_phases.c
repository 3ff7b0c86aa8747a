/* SPDX-License-Identifier: MIT */
/* Iterations of inference engines in a comparison: phases with phases, batch sizes with such. */
#include "report/change_words.h"
#include "report/section.h"

#include <inttypes.h>

enum { MOST_SHOWN = 3 };

/* "decode 144.5 µs → 191.0 µs (+32.2 %)", "decode of 4 144.5 µs → …" */
static const char *phase_words(const struct panel *panel, const struct change *row, int64_t size)
{
	const char *of = size ? tsi_panel_print(panel, " of %" PRId64, size) : "";

	return tsi_panel_print(
		panel, "%s%s %s → %s (%s)", tsi_change_text(row, "phase"), of,
		tsi_panel_people(panel, tsi_change_cell(row, "a_p50_ns"), TSCOPE_UNIT_NS),
		tsi_panel_people(panel, tsi_change_cell(row, "b_p50_ns"), TSCOPE_UNIT_NS),
		tsi_percent_words(panel, tsi_change_cell(row, "change_ratio").real, true));
}

/* Sizes stand for a phase that did not change as a whole. */
void tsi_put_phase_changes(const struct panel *panel)
{
	struct change row = tsi_change_first(panel, "phase_changes.list");
	const char *text = "";
	bool is_slower = false, is_shown = false;
	int shown = 0;

	for (; tsi_change_is_there(&row) && shown < MOST_SHOWN; row.row++) {
		bool is_whole = tsi_change_cell(&row, "requests").kind == TSCOPE_VALUE_ABSENT;
		bool is_changed = tsi_change_is(&row, "verdict", "changed");

		if (is_whole)
			is_shown = is_changed;
		if (!is_changed || (is_shown && !is_whole))
			continue;
		is_slower |= tsi_change_int(&row, "change_ns") > 0;
		int64_t size = is_whole ? 0 : tsi_change_int(&row, "requests");
		tsi_panel_append(panel, &text, "%s%s", shown++ ? ", " : "p50 of iterations: ",
				 phase_words(panel, &row, size));
	}
	if (*text)
		tsi_doc_line(panel->doc, DOC_CHANGE, is_slower ? DOC_BAD : DOC_GOOD, "PHASES", "%s",
			     text);
}

void tsi_section_phase_changes(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "phase", "phase", 0 },  { "requests", "requests", 9 }, { "A", "a_p50_ns", 10 },
		{ "B", "b_p50_ns", 10 },  { "change", "change_ns", 10 }, { "of A", "a_count", 6 },
		{ "of B", "b_count", 6 }, { "", "verdict", 11 },
	};
	int64_t changed = tsi_panel_int(panel, "phase_changes.changed_count");

	if (tsi_panel_row_count(panel, "phase_changes.list") == 0)
		return;
	tsi_panel_title(panel, changed ? DOC_WARN : DOC_GOOD, "phase_changes", "PHASES",
			"%" PRId64 " changed, p50 of iterations", changed);
	tsi_panel_table(panel, "phase_changes.list", columns, TSI_COUNT_OF(columns));
}
