/* SPDX-License-Identifier: MIT */
/*
 * The section of the text report about the trace itself: what was lost,
 * repaired or odd, and what to record next time.
 */
#include "report/section.h"

#include "analyze/lookup.h"
#include "base/attributes.h"

void tsi_put_diagnostics(const struct panel *panel, const uint64_t counts[TSCOPE_DIAGNOSTIC_COUNT])
{
	static const struct {
		const char *word;
		enum text_style style;
	} effects[] = {
		[TSCOPE_EFFECT_DROPPED] = { "dropped", TEXT_RED },
		[TSCOPE_EFFECT_REPAIRED] = { "repaired", TEXT_YELLOW },
		[TSCOPE_EFFECT_NOTED] = { "noted", TEXT_CYAN },
	};

	for (enum tscope_diagnostic kind = 0; kind < TSCOPE_DIAGNOSTIC_COUNT; kind++) {
		enum tscope_effect effect = tscope_diagnostic_effect(kind);
		char number[NUMBER_MAX];

		if (counts[kind] == 0)
			continue;
		tsi_number_people_int(number, (int64_t)counts[kind], TSCOPE_UNIT_COUNT);
		tsi_text_put(panel->w, "  ");
		tsi_text_style(panel->w, effects[effect].style);
		tsi_text_left(panel->w, effects[effect].word, 10);
		tsi_text_style(panel->w, TEXT_PLAIN);
		tsi_text_right(panel->w, number, 8);
		tsi_text_put(panel->w, "  ");
		tsi_text_paragraph(panel->w, tscope_diagnostic_text(kind), 22);
	}
}

/* "record  profile(with_stack=True) for Python frames" */
void tsi_put_advice(const struct panel *panel)
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
	uint64_t diagnostics[TSCOPE_DIAGNOSTIC_COUNT];
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
	for (enum tscope_diagnostic kind = 0; kind < TSCOPE_DIAGNOSTIC_COUNT; kind++)
		diagnostics[kind] = tscope_trace_diagnostic(trace, kind);
	tsi_put_diagnostics(panel, diagnostics);
	tsi_put_advice(panel);
}
