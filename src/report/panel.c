/* SPDX-License-Identifier: MIT */
/*
 * Parts of sections except tables (panel_table.c): facts by their names, numbers as people read
 * them, titles, figures. Knows units, and no analyzer.
 */
#include "report/panel.h"
#include "report/section.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

struct panel tsi_panel(struct doc *doc, const struct tscope_analysis *analysis,
		       const struct tscope_report_options *options)
{
	return (struct panel){
		.doc = doc,
		.analysis = analysis,
		.top = options->top > 0 ? options->top : DEFAULT_TOP,
		.options = options,
		.all = options->all,
		.rank = -1,
	};
}

/* ---- facts ---- */

/* Some ids are composed in the document. Where it lacks memory they are empty, and name no fact. */
static bool is_lost(const struct panel *panel, const char *id)
{
	return *id == '\0' && panel->doc->arena.has_failed;
}

static struct tscope_value find_fact(const struct panel *panel, const char *id,
				     enum tscope_unit *unit)
{
	*unit = TSCOPE_UNIT_COUNT;
	if (is_lost(panel, id))
		return (struct tscope_value){ .kind = TSCOPE_VALUE_ABSENT };
	return tsi_lookup_fact(panel->analysis, TSCOPE_WHOLE_TRACE, id, unit);
}

struct tscope_value tsi_panel_value(const struct panel *panel, const char *id)
{
	enum tscope_unit unit;

	return find_fact(panel, id, &unit);
}

bool tsi_panel_has(const struct panel *panel, const char *id)
{
	return tsi_panel_value(panel, id).kind != TSCOPE_VALUE_ABSENT;
}

int64_t tsi_panel_int(const struct panel *panel, const char *id)
{
	struct tscope_value value = tsi_panel_value(panel, id);

	return value.kind == TSCOPE_VALUE_INT ? value.integer : 0;
}

const char *tsi_panel_doubt(const struct panel *panel, const char *id)
{
	return is_lost(panel, id) ? NULL : tsi_lookup_doubt(panel->analysis, id);
}

const char *tsi_panel_text(const struct panel *panel, const char *id)
{
	struct tscope_value value = tsi_panel_value(panel, id);

	return value.kind == TSCOPE_VALUE_TEXT ? value.text : "";
}

bool tsi_panel_is(const struct panel *panel, const char *id)
{
	struct tscope_value value = tsi_panel_value(panel, id);

	return value.kind == TSCOPE_VALUE_FLAG && value.flag;
}

struct table_view tsi_panel_rows(const struct panel *panel, const char *id)
{
	return tsi_lookup_table(panel->analysis, id);
}

size_t tsi_panel_row_count(const struct panel *panel, const char *id)
{
	return tsi_panel_rows(panel, id).row_count;
}

/* ---- words ---- */

const char *tsi_panel_number(const struct panel *panel, const char *id)
{
	enum tscope_unit unit;
	struct tscope_value value = find_fact(panel, id, &unit);

	return tsi_panel_people(panel, value, unit);
}

const char *tsi_panel_people(const struct panel *panel, struct tscope_value value,
			     enum tscope_unit unit)
{
	char text[NUMBER_MAX];

	tsi_number_people(text, value, unit);
	return tsi_panel_print(panel, "%s", text);
}

const char *tsi_panel_people_int(const struct panel *panel, int64_t number, enum tscope_unit unit)
{
	struct tscope_value value = { .kind = TSCOPE_VALUE_INT, .integer = number };

	return tsi_panel_people(panel, value, unit);
}

const char *tsi_panel_signed(const struct panel *panel, struct tscope_value value,
			     enum tscope_unit unit)
{
	char text[NUMBER_MAX];

	tsi_number_signed(text, value, unit);
	return tsi_panel_print(panel, "%s", text);
}

const char *tsi_panel_significant(const struct panel *panel, double value, int digits)
{
	char text[NUMBER_MAX];

	tsi_number_significant(text, value, digits);
	return tsi_panel_print(panel, "%s", text);
}

const char *tsi_panel_print(const struct panel *panel, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	const char *text = tsi_arena_vprint(&panel->doc->arena, format, values);
	va_end(values);
	return text;
}

void tsi_panel_append(const struct panel *panel, const char **text, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	const char *more = tsi_arena_vprint(&panel->doc->arena, format, values);
	va_end(values);
	*text = tsi_panel_print(panel, "%s%s", *text, more);
}

const char *tsi_panel_spaced(const struct panel *panel, const char *name)
{
	char text[NUMBER_MAX];

	snprintf(text, sizeof(text), "%s", name);
	for (char *at = text; (at = strchr(at, '_'));)
		*at = ' ';
	return tsi_panel_print(panel, "%s", text);
}

/* ---- titles ---- */

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

/* That of the worst finding that rests on the analyzer's facts, else the section's own. */
static enum doc_tone judged_light(const struct panel *panel, enum doc_tone light,
				  const char *analyzer)
{
	size_t count = panel->diagnosis ? tscope_diagnosis_finding_count(panel->diagnosis) : 0;

	for (size_t i = 0; i < count; i++) {
		struct tscope_finding finding = tscope_diagnosis_finding(panel->diagnosis, i);

		if (rests_on(&finding, analyzer))
			return tsi_severity_tone(finding.severity);
	}
	return light;
}

void tsi_panel_title(const struct panel *panel, enum doc_tone light, const char *analyzer,
		     const char *title, const char *format, ...)
{
	const char *doubt = analyzer ? tscope_analysis_reliability(panel->analysis,
								   tsi_lookup_analyzer(analyzer),
								   TSCOPE_WHOLE_TRACE)
				     : NULL;
	char summary[256];
	va_list values;

	assert(tsi_is_section(title));
	va_start(values, format);
	vsnprintf(summary, sizeof(summary), format, values);
	va_end(values);
	if (analyzer)
		light = doubt ? DOC_BAD : judged_light(panel, light, analyzer);
	(void)tsi_doc_add(
		panel->doc,
		&(struct doc_node){ .kind = DOC_NODE_SECTION,
				    .section = { .title = title,
						 .summary = tsi_panel_print(panel, "%s", summary),
						 .light = light,
						 .rank = panel->rank } });
	if (doubt)
		tsi_doc_line(panel->doc, DOC_DOUBT, DOC_BAD, "unreliable:", "%s", doubt);
}

/* ---- figures ---- */

void tsi_panel_figures(const struct panel *panel, const struct figure *figures, size_t count)
{
	struct doc_line *line = tsi_doc_items(panel->doc, DOC_FIGURES, DOC_PLAIN, NULL);

	for (size_t i = 0; i < count; i++) {
		enum tscope_unit unit;
		struct tscope_value value =
			tsi_lookup_fact(panel->analysis, TSCOPE_WHOLE_TRACE, figures[i].id, &unit);

		if (value.kind != TSCOPE_VALUE_ABSENT)
			tsi_doc_figure(panel->doc, line, figures[i].label, value, unit);
	}
}

int64_t tsi_mean_of(int64_t sum, int64_t count)
{
	int64_t rest;

	if (count == 0)
		return 0;
	rest = sum % count;
	return sum / count + (rest >= count - rest);
}

void tsi_panel_parts(const struct panel *panel, const struct whole *whole, const struct part *parts,
		     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		enum tscope_unit unit;
		struct tscope_value part =
			tsi_lookup_fact(panel->analysis, TSCOPE_WHOLE_TRACE, parts[i].id, &unit);

		if (part.kind != TSCOPE_VALUE_INT || part.integer <= whole->least)
			continue;
		tsi_doc_meter(panel->doc,
			      &(struct doc_meter){
				      .label = parts[i].label,
				      .part = part.integer,
				      .whole = whole->value,
				      .shown = whole->count > 0
						       ? tsi_mean_of(part.integer, whole->count)
						       : part.integer,
				      .tone = parts[i].tone,
				      .unit = unit });
	}
}

/* ---- lines of a head ---- */

void tsi_panel_loss(const struct panel *panel, const char *word, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	const char *text = tsi_arena_vprint(&panel->doc->arena, format, values);
	va_end(values);
	tsi_doc_line(panel->doc, DOC_LOSS, DOC_BAD, word, "%s", text);
}

const char tsi_overflow_words[] = "the ring buffer lost the oldest events: figures cover what is "
				  "left; raise --tracer_entries";

const char *tsi_damage_words(const struct panel *panel, const struct tscope_error *damage)
{
	char place[40] = "";

	if (damage->has_offset)
		snprintf(place, sizeof(place), " (byte %" PRIu64 ")", damage->offset);
	return tsi_panel_print(panel, "%s%s; results cover only what precedes it", damage->message,
			       place);
}

void tsi_panel_size(const struct panel *panel, struct doc_line *line, uint64_t bytes,
		    uint64_t stored_bytes, const char *compression)
{
	const char *whole = tsi_panel_people_int(panel, (int64_t)bytes, TSCOPE_UNIT_BYTES);

	if (strcmp(compression, "none") != 0)
		tsi_doc_item(panel->doc, line, "%s (%s %s)", whole, compression,
			     tsi_panel_people_int(panel, (int64_t)stored_bytes, TSCOPE_UNIT_BYTES));
	else
		tsi_doc_item(panel->doc, line, "%s", whole);
}

void tsi_panel_count(const struct panel *panel, struct doc_line *line, int64_t count,
		     const char *one, const char *many)
{
	tsi_doc_item(panel->doc, line, "%s %s",
		     tsi_panel_people_int(panel, count, TSCOPE_UNIT_COUNT),
		     count == 1 ? one : many);
}
