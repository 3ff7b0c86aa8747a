/* SPDX-License-Identifier: MIT */
/*
 * The section of the text report about the files of a run: what was read, what
 * was odd about it, and what was left aside.
 */
#include "report/section.h"

#include "base/attributes.h"

#include <inttypes.h>
#include <string.h>

enum {
	MAX_FILES = 12, /* a line each; more are counted */
	MIN_PATH_WIDTH = 16,
};

size_t tsi_run_folder(const struct tscope_run *run)
{
	const char *first = tscope_run_input(run, 0).path;
	size_t length = strlen(first);

	for (size_t i = 1; i < tscope_run_input_count(run); i++) {
		const char *path = tscope_run_input(run, i).path;
		size_t same = 0;

		while (same < length && path[same] == first[same])
			same++;
		length = same;
	}
	while (length > 0 && first[length - 1] != '/')
		length--;
	return length;
}

bool tsi_has_records(const struct tscope_run *run)
{
	for (size_t i = 0; i < tscope_run_input_count(run); i++)
		if (tscope_run_input(run, i).kind == TSCOPE_INPUT_STEPS)
			return true;
	return false;
}

/* Of all files. */
struct totals {
	uint64_t bytes, dropped;
	bool is_damaged;
};

static struct totals add_up(const struct tscope_run *run)
{
	struct totals totals = { 0 };

	for (size_t i = 0; i < tscope_run_input_count(run); i++) {
		struct tscope_run_input input = tscope_run_input(run, i);

		totals.bytes += input.source_bytes;
		totals.dropped += input.dropped_count;
		totals.is_damaged |= input.damage != NULL;
	}
	return totals;
}

/* "stats" of "memory_stats": the column is narrow. */
static const char *short_format(const struct tscope_run_input *input)
{
	static const char prefix[] = "memory_";
	size_t length = sizeof(prefix) - 1;

	return strncmp(input->format, prefix, length) == 0 ? input->format + length : input->format;
}

/* "  rank 3.1  kineto       19.4 KiB  rank3/trace.json" */
static void put_file(struct text_writer *w, const struct tscope_run_input *input, size_t folder)
{
	struct text_flow path = { .w = w, .indent = 35, .column = 35 };
	char number[24] = "?", window[16] = "", rank[NUMBER_MAX], size[NUMBER_MAX];

	if (input->rank >= 0)
		snprintf(number, sizeof(number), "%" PRId64, input->rank);
	if (input->window > 0)
		snprintf(window, sizeof(window), ".%u", input->window);
	snprintf(rank, sizeof(rank), "rank %s%s", number, window);
	tsi_number_people_int(size, (int64_t)input->source_bytes, TSCOPE_UNIT_BYTES);
	tsi_text_put(w, "  ");
	tsi_text_left(w, rank, 10);
	tsi_text_left(w, short_format(input), 13);
	tsi_text_right(w, size, 8);
	if (w->width < path.indent + MIN_PATH_WIDTH) {
		path.indent = path.column = 4;
		tsi_text_put(w, "\n  ");
	}
	tsi_text_put(w, "  ");
	if (input->damage)
		tsi_text_style(w, TEXT_RED);
	tsi_text_flow(&path, input->path + folder);
	tsi_text_style(w, TEXT_PLAIN);
	tsi_text_flow_end(&path);
}

static void put_files(const struct panel *panel)
{
	const struct tscope_run *run = panel->report->run;
	size_t count = tscope_run_input_count(run), folder = tsi_run_folder(run);

	for (size_t i = 0; i < count && (panel->verbose || i < MAX_FILES); i++) {
		struct tscope_run_input input = tscope_run_input(run, i);

		put_file(panel->w, &input, folder);
	}
	if (count > MAX_FILES && !panel->verbose)
		tsi_text_printf(panel->w, "  … and %zu more\n", count - MAX_FILES);
}

/* Remarks on files and on the run as a whole. */
static void put_notes(const struct panel *panel)
{
	const struct tscope_run *run = panel->report->run;
	size_t folder = tsi_run_folder(run);

	for (size_t i = 0; i < tscope_run_input_count(run); i++) {
		struct tscope_run_input input = tscope_run_input(run, i);
		char text[1024];

		if (*input.note == '\0')
			continue;
		snprintf(text, sizeof(text), "%s: %s", input.path + folder, input.note);
		tsi_text_put_styled(panel->w, TEXT_CYAN, "  note  ");
		tsi_text_paragraph(panel->w, text, 8);
	}
	for (size_t i = 0; i < tscope_run_note_count(run); i++) {
		tsi_text_put_styled(panel->w, TEXT_CYAN, "  note  ");
		tsi_text_paragraph(panel->w, tscope_run_note(run, i), 8);
	}
}

/* The head of the report counts them by reason. */
static void put_ignored(const struct panel *panel)
{
	const struct tscope_run *run = panel->report->run;

	for (size_t i = 0; i < tscope_run_other_count(run); i++) {
		struct tscope_run_other other = tscope_run_other(run, i);
		char text[1024];

		if (other.is_problem)
			continue;
		snprintf(text, sizeof(text), "%s: %s", other.path, other.reason);
		tsi_text_put_styled(panel->w, TEXT_DIM, "  ignored  ");
		tsi_text_paragraph(panel->w, text, 11);
	}
}

void tsi_section_inputs(const struct panel *panel)
{
	const struct tscope_run *run = panel->report->run;
	struct totals totals = add_up(run);
	size_t count = tscope_run_input_count(run);
	uint64_t diagnostics[TSCOPE_DIAGNOSTIC_COUNT];
	char bytes[NUMBER_MAX], text[2 * NUMBER_MAX];

	tsi_number_people_int(bytes, (int64_t)totals.bytes, TSCOPE_UNIT_BYTES);
	snprintf(text, sizeof(text), "%zu file%s · %s", count, count == 1 ? "" : "s", bytes);
	tsi_panel_plain_title(panel,
			      totals.is_damaged || totals.dropped > 0 ? TEXT_RED : TEXT_GREEN,
			      "INPUT", text);
	put_files(panel);
	put_notes(panel);
	tsi_run_diagnostics(run, diagnostics);
	tsi_put_diagnostics(panel, diagnostics);
	tsi_put_advice(panel);
	if (panel->verbose)
		put_ignored(panel);
}
