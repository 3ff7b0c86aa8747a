/* SPDX-License-Identifier: MIT */
/* The section about the files of a run: what was read, what was odd, and what was left aside. */
#include "report/reporter.h"
#include "report/section.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_FILES = 12 }; /* a line each; more are counted */

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

/* "stats" of "memory_stats": the column is narrow. */
static const char *short_format(const struct tscope_run_input *input)
{
	static const char prefix[] = "memory_";
	size_t length = sizeof(prefix) - 1;

	return strncmp(input->format, prefix, length) == 0 ? input->format + length : input->format;
}

/* "  rank 3.1  kineto       19.4 KiB  rank3/trace.json" */
static void put_file(const struct panel *panel, const struct tscope_run_input *input, size_t folder)
{
	const char *rank = "rank ?";

	if (input->rank >= 0)
		rank = tsi_panel_print(panel, "rank %" PRId64, input->rank);
	if (input->window > 0)
		tsi_panel_append(panel, &rank, ".%u", input->window);
	(void)tsi_doc_add(
		panel->doc,
		&(struct doc_node){ .kind = DOC_NODE_INPUT,
				    .input = { rank, short_format(input), input->path + folder,
					       (int64_t)input->source_bytes, input->damage } });
}

static void put_files(const struct panel *panel)
{
	const struct tscope_run *run = panel->report->run;
	size_t count = tscope_run_input_count(run), folder = tsi_run_folder(run);

	for (size_t i = 0; i < count && (panel->options->verbose || i < MAX_FILES); i++) {
		struct tscope_run_input input = tscope_run_input(run, i);

		put_file(panel, &input, folder);
	}
	if (count > MAX_FILES && !panel->options->verbose)
		tsi_doc_note(panel->doc, "… and %zu more", count - MAX_FILES);
}

/* Remarks on files and on the run as a whole. */
static void put_notes(const struct panel *panel)
{
	const struct tscope_run *run = panel->report->run;
	size_t folder = tsi_run_folder(run);

	for (size_t i = 0; i < tscope_run_input_count(run); i++) {
		struct tscope_run_input input = tscope_run_input(run, i);

		if (*input.note == '\0')
			continue;
		tsi_doc_line(panel->doc, DOC_TAGGED, DOC_INFO, "note", "%s: %s",
			     input.path + folder, input.note);
	}
	for (size_t i = 0; i < tscope_run_note_count(run); i++)
		tsi_doc_line(panel->doc, DOC_TAGGED, DOC_INFO, "note", "%s",
			     tscope_run_note(run, i));
}

/* The head of the report counts them by reason. */
static void put_ignored(const struct panel *panel)
{
	const struct tscope_run *run = panel->report->run;

	for (size_t i = 0; i < tscope_run_other_count(run); i++) {
		struct tscope_run_other other = tscope_run_other(run, i);

		if (other.is_problem)
			continue;
		tsi_doc_line(panel->doc, DOC_TAGGED, DOC_FAINT, "ignored", "%s: %s", other.path,
			     other.reason);
	}
}

void tsi_section_inputs(const struct panel *panel)
{
	const struct tscope_run *run = panel->report->run;
	uint64_t bytes = 0;
	bool is_lossy = false;
	size_t count = tscope_run_input_count(run);
	uint64_t diagnostics[TSCOPE_DIAGNOSTIC_COUNT];

	for (size_t i = 0; i < count; i++) {
		struct tscope_run_input input = tscope_run_input(run, i);

		bytes += input.source_bytes;
		is_lossy |= input.dropped_count > 0 || input.damage;
	}
	tsi_panel_title(panel, is_lossy ? DOC_BAD : DOC_GOOD, NULL, "INPUT", "%zu file%s · %s",
			count, count == 1 ? "" : "s",
			tsi_panel_people_int(panel, (int64_t)bytes, TSCOPE_UNIT_BYTES));
	put_files(panel);
	put_notes(panel);
	tsi_run_diagnostics(run, diagnostics);
	tsi_put_diagnostics(panel, diagnostics);
	tsi_put_advice(panel);
	if (panel->options->verbose)
		put_ignored(panel);
}
