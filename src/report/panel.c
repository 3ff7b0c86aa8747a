/* SPDX-License-Identifier: MIT */
/*
 * The parts of a section of the text report but for tables (panel_table.c): title, meters,
 * sparklines, figures. They know units and widths, and no analyzer.
 */
#include "report/panel.h"

#include "analyze/lookup.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum {
	LABEL_WIDTH = 17,
	AMOUNT_WIDTH = 10,
	SHARE_WIDTH = 9,
	MAX_BAR_CELLS = 40,
	DEFAULT_WIDTH = 80,
};

static unsigned usable_width(unsigned width)
{
	if (width == 0)
		return DEFAULT_WIDTH;
	if (width < TEXT_MIN_WIDTH)
		return TEXT_MIN_WIDTH;
	return width < TEXT_MAX_WIDTH ? width : TEXT_MAX_WIDTH;
}

struct text_writer tsi_panel_writer(FILE *out, const struct tscope_report_options *options)
{
	return (struct text_writer){ out, options->color, options->ascii,
				     usable_width(options->width) };
}

void tsi_panel_loss(const struct panel *panel, const char *word, const char *text)
{
	tsi_text_put_styled(panel->w, TEXT_RED, word);
	tsi_text_put(panel->w, "  ");
	tsi_text_paragraph(panel->w, text, tsi_text_columns(word) + 2);
}

const char tsi_overflow_words[] =
	"the ring buffer lost the oldest events: figures are those of what is left; raise "
	"--tracer_entries";

void tsi_damage_words(char words[DAMAGE_MAX], const struct tscope_error *damage)
{
	char place[40] = "";

	if (damage->has_offset)
		snprintf(place, sizeof(place), " (byte %" PRIu64 ")", damage->offset);
	snprintf(words, DAMAGE_MAX, "%s%s; what follows is missing from every figure",
		 damage->message, place);
}

void tsi_panel_size(struct text_flow *flow, uint64_t bytes, uint64_t stored_bytes,
		    const char *compression)
{
	char whole[NUMBER_MAX], stored[NUMBER_MAX], text[3 * NUMBER_MAX];

	tsi_number_people_int(whole, (int64_t)bytes, TSCOPE_UNIT_BYTES);
	tsi_number_people_int(stored, (int64_t)stored_bytes, TSCOPE_UNIT_BYTES);
	if (strcmp(compression, "none") != 0)
		snprintf(text, sizeof(text), "%s (%s %s)", whole, compression, stored);
	else
		snprintf(text, sizeof(text), "%s", whole);
	tsi_text_flow(flow, text);
}

void tsi_panel_count(struct text_flow *flow, int64_t count, const char *one, const char *many)
{
	char number[NUMBER_MAX], text[2 * NUMBER_MAX];

	tsi_number_people_int(number, count, TSCOPE_UNIT_COUNT);
	snprintf(text, sizeof(text), "%s %s", number, count == 1 ? one : many);
	tsi_text_flow(flow, text);
}

struct tscope_value tsi_panel_value(const struct panel *panel, const char *id)
{
	enum tscope_unit unit;

	return tsi_lookup_fact(panel->analysis, TSCOPE_WHOLE_TRACE, id, &unit);
}

bool tsi_panel_has(const struct panel *panel, const char *id)
{
	return tsi_panel_value(panel, id).kind != TSCOPE_VALUE_ABSENT;
}

void tsi_panel_number(const struct panel *panel, const char *id, char text[NUMBER_MAX])
{
	enum tscope_unit unit;
	struct tscope_value value = tsi_lookup_fact(panel->analysis, TSCOPE_WHOLE_TRACE, id, &unit);

	tsi_number_people(text, value, unit);
}

enum text_style tsi_severity_style(enum tscope_severity severity)
{
	switch (severity) {
	case TSCOPE_SEVERITY_HIGH:
		return TEXT_RED;
	case TSCOPE_SEVERITY_MED:
		return TEXT_YELLOW;
	case TSCOPE_SEVERITY_LOW:
		break;
	}
	return TEXT_CYAN;
}

static bool rests_on(const struct tscope_finding *finding, const char *analyzer)
{
	size_t length = strlen(analyzer);

	for (size_t i = 0; i < finding->evidence_count; i++) {
		const char *fact = finding->evidence[i].fact;

		if (strncmp(fact, analyzer, length) == 0 && fact[length] == '.')
			return true;
	}
	return false;
}

/* The colour of the worst finding that rests on the analyzer's facts, else the section's own. */
static enum text_style judged_light(const struct panel *panel, enum text_style light,
				    const char *analyzer)
{
	size_t count = panel->diagnosis ? tscope_diagnosis_finding_count(panel->diagnosis) : 0;

	for (size_t i = 0; i < count; i++) {
		struct tscope_finding finding = tscope_diagnosis_finding(panel->diagnosis, i);

		if (rests_on(&finding, analyzer))
			return tsi_severity_style(finding.severity);
	}
	return light;
}

void tsi_panel_plain_title(const struct panel *panel, enum text_style light, const char *title,
			   const char *rest)
{
	struct text_writer *w = panel->w;
	unsigned column = 2 + tsi_text_columns(title);

	tsi_text_put(w, "\n");
	tsi_text_put_styled(w, light, "●");
	tsi_text_put(w, " ");
	tsi_text_put_styled(w, TEXT_BOLD, title);
	if (panel->rank >= 0) {
		char of_rank[NUMBER_MAX];

		snprintf(of_rank, sizeof(of_rank), " of rank %lld", (long long)panel->rank);
		tsi_text_put(w, of_rank);
		column += tsi_text_columns(of_rank);
	}
	if (*rest == '\0') {
		tsi_text_put(w, "\n");
		return;
	}
	/* What does not fit behind the title stands below it. */
	if (column + 2 + tsi_text_columns(rest) > w->width) {
		tsi_text_put(w, "\n");
		column = 0;
	}
	tsi_text_put(w, "  ");
	tsi_text_paragraph(w, rest, column + 2);
}

void tsi_panel_title(const struct panel *panel, enum text_style light, const char *analyzer,
		     const char *title, const char *format, ...)
{
	const char *reason = tscope_analysis_reliability(
		panel->analysis, tsi_lookup_analyzer(analyzer), TSCOPE_WHOLE_TRACE);
	char rest[256];
	va_list values;

	va_start(values, format);
	vsnprintf(rest, sizeof(rest), format, values);
	va_end(values);
	tsi_panel_plain_title(panel, reason ? TEXT_RED : judged_light(panel, light, analyzer),
			      title, rest);
	if (reason) {
		tsi_text_style(panel->w, TEXT_RED);
		tsi_text_put(panel->w, "  unreliable: ");
		tsi_text_paragraph(panel->w, reason, 14);
		tsi_text_style(panel->w, TEXT_PLAIN);
	}
}

/* What stands before the bar; the ratio is that of the part. Columns that the line has left. */
static unsigned put_meter_numbers(struct text_writer *w, const struct meter *meter, double *ratio)
{
	unsigned used = 2 + LABEL_WIDTH + AMOUNT_WIDTH + SHARE_WIDTH + 2;
	struct tscope_value share = { .kind = TSCOPE_VALUE_ABSENT };
	char text[NUMBER_MAX];

	if (meter->whole > 0) {
		share.kind = TSCOPE_VALUE_REAL;
		share.real = (double)meter->part / (double)meter->whole;
	}
	*ratio = meter->whole > 0 ? share.real : 0;
	tsi_text_put(w, "  ");
	tsi_text_name_cell(w, meter->label, LABEL_WIDTH - 1);
	tsi_number_people_int(text, meter->shown, meter->unit);
	tsi_text_right(w, text, AMOUNT_WIDTH + 1);
	tsi_number_people(text, share, TSCOPE_UNIT_RATIO);
	tsi_text_right(w, text, SHARE_WIDTH);
	return w->width > used ? w->width - used : 0;
}

void tsi_panel_meter(const struct panel *panel, const struct meter *meter)
{
	double ratio;
	unsigned left = put_meter_numbers(panel->w, meter, &ratio);

	if (left > 0) {
		tsi_text_put(panel->w, "  ");
		tsi_text_bar(panel->w, ratio, left < MAX_BAR_CELLS ? left : MAX_BAR_CELLS,
			     meter->style);
	}
	tsi_text_put(panel->w, "\n");
}

void tsi_panel_part(const struct panel *panel, const struct meter *meter, const char *name)
{
	double ratio;
	unsigned left = put_meter_numbers(panel->w, meter, &ratio);

	if (left > 0) {
		tsi_text_put(panel->w, "  ");
		tsi_text_name_cut(panel->w, name, left);
	}
	tsi_text_put(panel->w, "\n");
}

/* The highest of values [first, end), NaN and infinity above all; false: there is none. */
static bool find_highest(const struct sketch *sketch, size_t first, size_t end, double *highest)
{
	bool is_found = false;

	for (size_t i = first; i < end; i++) {
		double value;

		if (!sketch->get(sketch->source, i, &value))
			continue;
		if (!is_found || !isfinite(value) || (isfinite(*highest) && value > *highest))
			*highest = value;
		is_found = true;
	}
	return is_found;
}

void tsi_panel_sparkline(const struct panel *panel, const struct sketch *sketch)
{
	size_t room = panel->w->width - 4;
	size_t part_count = room < sketch->count ? room : sketch->count;
	double ticks[TEXT_MAX_WIDTH];
	size_t tick_count = 0;

	for (size_t i = 0; i < part_count; i++)
		tick_count +=
			find_highest(sketch, i * sketch->count / part_count,
				     (i + 1) * sketch->count / part_count, &ticks[tick_count]);
	if (tick_count < 2)
		return;
	tsi_text_put(panel->w, "  ");
	tsi_text_style(panel->w, TEXT_CYAN);
	tsi_text_sparkline(panel->w, ticks, tick_count);
	tsi_text_style(panel->w, TEXT_PLAIN);
	tsi_text_put(panel->w, "\n");
}

void tsi_panel_figures(const struct panel *panel, const struct figure *figures, size_t count)
{
	struct text_flow flow = { .w = panel->w, .separator = " · ", .indent = 2 };

	for (size_t i = 0; i < count; i++) {
		enum tscope_unit unit;
		struct tscope_value value =
			tsi_lookup_fact(panel->analysis, TSCOPE_WHOLE_TRACE, figures[i].id, &unit);
		char number[NUMBER_MAX], text[2 * NUMBER_MAX];

		if (value.kind == TSCOPE_VALUE_ABSENT)
			continue;
		tsi_number_people(number, value, unit);
		snprintf(text, sizeof(text), "%s %s", figures[i].label, number);
		tsi_text_flow(&flow, text);
	}
	tsi_text_flow_end(&flow);
}
