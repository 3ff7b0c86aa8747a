/* SPDX-License-Identifier: MIT */
/*
 * The report for people: a head, then a section for each analyzer that has
 * something to say. It formats and computes nothing; the words and widths of
 * each section stand in section_*.c.
 */
#include "report/lookup.h"
#include "report/panel.h"
#include "report/reporter.h"

#include <inttypes.h>
#include <string.h>

enum { DEFAULT_WIDTH = 80, DEFAULT_TOP = 10 };

/* In the order of the report. */
static const struct section {
	const char *analyzer; /* printed where it ran */
	void (*print)(const struct panel *panel);
} sections[] = {
	{ "steps", tsi_section_steps },
	{ "budget", tsi_section_budget },
	{ "device_busy", tsi_section_device_busy },
	{ "overlap", tsi_section_overlap },
	{ "kernels", tsi_section_kernels },
	{ "operators", tsi_section_operators },
	{ "launches", tsi_section_launches },
	{ "copies", tsi_section_copies },
	{ "spans", tsi_section_spans },
	{ "python", tsi_section_python },
	{ "integrity", tsi_section_integrity },
};

/* A number in the middle of a line. */
static void put_number(struct text_writer *w, int64_t number, enum tscope_unit unit)
{
	char text[NUMBER_MAX];

	tsi_number_people_int(text, number, unit);
	tsi_text_put(w, text);
}

static void put_file_line(struct text_writer *w, const struct tscope_trace_info *info)
{
	tsi_text_printf(w, "%s trace · ", info->format);
	put_number(w, (int64_t)info->event_count, TSCOPE_UNIT_COUNT);
	tsi_text_put(w, info->event_count == 1 ? " event · " : " events · ");
	put_number(w, (int64_t)info->bytes, TSCOPE_UNIT_BYTES);
	if (strcmp(info->compression, "none") != 0) {
		tsi_text_printf(w, " (%s ", info->compression);
		put_number(w, (int64_t)info->source_bytes, TSCOPE_UNIT_BYTES);
		tsi_text_put(w, ")");
	}
	tsi_text_put(w, " · ");
	put_number(w, info->last_ns - info->first_ns, TSCOPE_UNIT_NS);
	tsi_text_put(w, " captured\n");
}

static void put_device_line(struct text_writer *w, const struct tscope_analysis *analysis,
			    const struct tscope_trace_info *info)
{
	uint32_t device_count = tscope_analysis_device_count(analysis);

	if (device_count == 0)
		tsi_text_put(w, "no device");
	else if (device_count > 1)
		tsi_text_printf(w, "%u × ", device_count);
	if (device_count > 0 && *info->device_name == '\0')
		tsi_text_put(w, "device of unknown name");
	tsi_text_name(w, info->device_name);
	if (info->rank >= 0)
		tsi_text_printf(w, " · rank %" PRId64, info->rank);
	if (info->rank >= 0 && info->world_size >= 0)
		tsi_text_printf(w, " of %" PRId64, info->world_size);
	if (*info->backend != '\0') {
		tsi_text_put(w, " · ");
		tsi_text_name(w, info->backend);
	}
	tsi_text_put(w, "\n");
}

/* "gzip member 1: truncated (byte 918273); what follows is missing from every figure" */
static void put_damage(struct text_writer *w, const struct tscope_error *damage)
{
	char place[40] = "";
	char text[sizeof(damage->message) + sizeof(place) + 64];

	if (damage->has_offset)
		snprintf(place, sizeof(place), " (byte %" PRIu64 ")", damage->offset);
	snprintf(text, sizeof(text), "%s%s; what follows is missing from every figure",
		 damage->message, place);
	tsi_text_put_styled(w, TEXT_RED, "DAMAGED  ");
	tsi_text_paragraph(w, text, 9);
}

/* What makes every figure doubtful comes before the figures. */
static void put_losses(struct text_writer *w, const struct tscope_trace *trace)
{
	const struct tscope_error *damage = tscope_trace_damage(trace);
	uint64_t dropped = tscope_trace_info(trace)->dropped_count;

	if (damage)
		put_damage(w, damage);
	if (dropped > 0) {
		tsi_text_put_styled(w, TEXT_RED, "DROPPED  ");
		tsi_text_put(w, "events: ");
		put_number(w, (int64_t)dropped, TSCOPE_UNIT_COUNT);
		tsi_text_put(w, "; they are in no figure, see INPUT\n");
	}
}

static void write_analysis(const struct panel *panel, bool is_brief)
{
	const struct tscope_trace *trace = tscope_analysis_trace(panel->analysis);
	const struct tscope_trace_info *info = tscope_trace_info(trace);

	tsi_text_style(panel->w, TEXT_BOLD);
	tsi_text_name(panel->w, info->path);
	tsi_text_style(panel->w, TEXT_PLAIN);
	tsi_text_put(panel->w, "\n");
	put_file_line(panel->w, info);
	put_device_line(panel->w, panel->analysis, info);
	put_losses(panel->w, trace);
	for (size_t i = 0; i < TSI_COUNT_OF(sections) && !is_brief; i++) {
		if (tscope_analysis_has(panel->analysis, tsi_lookup_analyzer(sections[i].analyzer),
					TSCOPE_WHOLE_TRACE))
			sections[i].print(panel);
	}
}

static unsigned usable_width(unsigned width)
{
	if (width == 0)
		return DEFAULT_WIDTH;
	if (width < TEXT_MIN_WIDTH)
		return TEXT_MIN_WIDTH;
	return width < TEXT_MAX_WIDTH ? width : TEXT_MAX_WIDTH;
}

static void write_report(FILE *out, struct tscope_analysis *const *analyses, size_t count,
			 const struct tscope_report_options *options)
{
	struct text_writer w = { out, options->color, options->ascii,
				 usable_width(options->width) };
	size_t top = options->top > 0 ? options->top : DEFAULT_TOP;

	for (size_t i = 0; i < count; i++) {
		struct panel panel = { &w, analyses[i], top };

		if (i > 0)
			tsi_text_put(&w, "\n");
		write_analysis(&panel, options->brief);
	}
}

const struct reporter tsi_reporter_text = { .write = write_report };
