/* SPDX-License-Identifier: MIT */
/*
 * The section of the text report about the trace itself: what was lost,
 * repaired or odd, and what to record next time.
 */
#include "report/lookup.h"
#include "report/panel.h"

#include "base/attributes.h"

static void put_diagnostics(const struct panel *panel)
{
	static const struct {
		const char *word;
		enum text_style style;
	} effects[] = {
		[TSCOPE_EFFECT_DROPPED] = { "dropped", TEXT_RED },
		[TSCOPE_EFFECT_REPAIRED] = { "repaired", TEXT_YELLOW },
		[TSCOPE_EFFECT_NOTED] = { "noted", TEXT_CYAN },
	};
	const struct tscope_trace *trace = tscope_analysis_trace(panel->analysis);

	for (enum tscope_diagnostic kind = 0; kind < TSCOPE_DIAGNOSTIC_COUNT; kind++) {
		uint64_t count = tscope_trace_diagnostic(trace, kind);
		enum tscope_effect effect = tscope_diagnostic_effect(kind);
		char number[NUMBER_MAX];

		if (count == 0)
			continue;
		tsi_number_people_int(number, (int64_t)count, TSCOPE_UNIT_COUNT);
		tsi_text_put(panel->w, "  ");
		tsi_text_style(panel->w, effects[effect].style);
		tsi_text_left(panel->w, effects[effect].word, 10);
		tsi_text_style(panel->w, TEXT_PLAIN);
		tsi_text_right(panel->w, number, 8);
		tsi_text_put(panel->w, "  ");
		tsi_text_paragraph(panel->w, tscope_diagnostic_text(kind), 22);
	}
}

/* What to do next time: "record  profile(with_stack=True) for Python frames" */
static void put_advice(const struct panel *panel)
{
	struct table_view missing =
		tsi_lookup_table(panel->analysis, TSCOPE_WHOLE_TRACE, "integrity.missing");
	size_t what = tsi_table_column(&missing, "what");
	size_t advice = tsi_table_column(&missing, "advice");

	for (size_t row = 0; row < missing.row_count; row++) {
		char text[256];

		snprintf(text, sizeof(text), "%s for %s",
			 tsi_table_cell(&missing, row, advice).text,
			 tsi_table_cell(&missing, row, what).text);
		tsi_text_put_styled(panel->w, TEXT_CYAN, "  record  ");
		tsi_text_paragraph(panel->w, text, 10);
	}
}

void tsi_section_integrity(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "spans analysed", "integrity.span_count" },
		{ "device time without a launch", "integrity.unlinked_device_ratio" },
	};
	const struct tscope_trace *trace = tscope_analysis_trace(panel->analysis);
	bool is_lossy = tscope_trace_info(trace)->dropped_count > 0 || tscope_trace_damage(trace);
	enum tscope_unit unit;
	struct tscope_value doubt =
		tsi_lookup_fact(panel->analysis, TSCOPE_WHOLE_TRACE, "integrity.doubt", &unit);
	struct tscope_value verdict =
		tsi_lookup_fact(panel->analysis, TSCOPE_WHOLE_TRACE, "integrity.verdict", &unit);

	tsi_panel_title(panel, is_lossy ? TEXT_RED : TEXT_GREEN, "integrity", "INPUT", "%s",
			verdict.kind == TSCOPE_VALUE_TEXT ? verdict.text : "");
	if (doubt.kind == TSCOPE_VALUE_TEXT) {
		tsi_text_put_styled(panel->w, TEXT_RED, "  doubtful  ");
		tsi_text_paragraph(panel->w, doubt.text, 12);
	}
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures));
	put_diagnostics(panel);
	put_advice(panel);
}
