/* SPDX-License-Identifier: MIT */
/* The section about the trace itself: what was lost, repaired or odd, what to record next time. */
#include "report/reporter.h"
#include "report/section.h"

#include <string.h>

void tsi_put_diagnostics(const struct panel *panel, const uint64_t counts[TSCOPE_DIAGNOSTIC_COUNT])
{
	static const struct {
		const char *word;
		enum doc_tone tone;
	} effects[] = {
		[TSCOPE_EFFECT_DROPPED] = { "dropped", DOC_BAD },
		[TSCOPE_EFFECT_REPAIRED] = { "repaired", DOC_WARN },
		[TSCOPE_EFFECT_NOTED] = { "noted", DOC_INFO },
	};

	for (enum tscope_diagnostic kind = 0; kind < TSCOPE_DIAGNOSTIC_COUNT; kind++) {
		enum tscope_effect effect = tscope_diagnostic_effect(kind);

		if (counts[kind] == 0)
			continue;
		struct doc_line *line = tsi_doc_items(panel->doc, DOC_DIAGNOSTIC,
						      effects[effect].tone, effects[effect].word);
		if (!line)
			return;
		line->aside = tsi_panel_people_int(panel, (int64_t)counts[kind], TSCOPE_UNIT_COUNT);
		line->text = tscope_diagnostic_text(kind);
	}
}

/* "record  profile(with_stack=True) for Python frames" */
void tsi_put_advice(const struct panel *panel)
{
	struct table_view missing = tsi_panel_rows(panel, "integrity.missing");

	for (size_t row = 0; row < missing.row_count; row++)
		tsi_doc_line(panel->doc, DOC_TAGGED, DOC_INFO, "record", "%s for %s",
			     tsi_table_text(&missing, row, "advice"),
			     tsi_table_text(&missing, row, "what"));
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
	struct tscope_value doubt = tsi_panel_value(panel, "integrity.doubt");
	const char *basis = tscope_trace_info(trace)->link_basis;

	tsi_panel_title(panel, is_lossy ? DOC_BAD : DOC_GOOD, "integrity", "INPUT", "%s",
			tsi_panel_text(panel, "integrity.verdict"));
	if (doubt.kind == TSCOPE_VALUE_TEXT)
		tsi_doc_line(panel->doc, DOC_TAGGED, DOC_BAD, "doubtful", "%s", doubt.text);
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures));
	if (*basis && strcmp(basis, "correlation") != 0)
		tsi_doc_line(panel->doc, DOC_TAGGED, DOC_INFO, "linked",
			     "device work to its launches by %s", basis);
	tsi_trace_diagnostics(trace, diagnostics);
	tsi_put_diagnostics(panel, diagnostics);
	tsi_put_advice(panel);
}
