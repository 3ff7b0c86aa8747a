/* SPDX-License-Identifier: MIT */
/*
 * The report of a run: what it is and what is wrong in the head, then a section for each analyzer
 * that has something to say, then the findings with what to do, and the gates.
 */
#include "report/section.h"

#include <inttypes.h>
#include <string.h>

enum { DEFAULT_TOP_OF_PART = 5, MAX_LOSSES = 4, MAX_LOSSES_OF_SCREEN = 2 };

enum subject_kind {
	OF_RUN,
	OF_LOWEST_RANK, /* the run's figures are that one's */
	OF_TRACE,       /* of the first rank that has a trace */
	OF_FILE,        /* of the file about memory that speaks for the run: its fact `path` */
};

/* In the order of the report. */
static const struct run_section {
	const char *analyzer; /* built where it ran; NULL: always */
	void (*build)(const struct panel *panel);
	enum subject_kind subject_kind;
} sections[] = {
	{ "hang", tsi_section_hang, OF_RUN },
	{ "step_time", tsi_section_run_steps, OF_RUN },
	{ "budget", tsi_section_budget, OF_RUN },
	{ "inference", tsi_section_inference, OF_TRACE },
	{ "python", tsi_section_viztracer, OF_TRACE },
	{ "efficiency", tsi_section_efficiency, OF_LOWEST_RANK },
	{ "logged_efficiency", tsi_section_logged_efficiency, OF_RUN },
	{ "memory", tsi_section_memory, OF_LOWEST_RANK },
	{ "snapshot", tsi_section_oom, OF_FILE },
	{ "snapshot", tsi_section_snapshot, OF_FILE },
	{ "snapshot", tsi_section_snapshot_peak, OF_FILE },
	{ "memory_timeline", tsi_section_memory_timeline, OF_FILE },
	{ "memory_stats", tsi_section_memory_stats, OF_FILE },
	{ "memory_tracker", tsi_section_memory_tracker, OF_FILE },
	{ "host_memory", tsi_section_host_memory, OF_FILE },
	{ "scalars", tsi_section_scalars, OF_LOWEST_RANK },
	{ "convergence", tsi_section_convergence, OF_LOWEST_RANK },
	{ "distributed", tsi_section_distributed, OF_RUN },
	{ "clock_sync", tsi_section_clock_sync, OF_RUN },
	{ "stragglers", tsi_section_stragglers, OF_RUN },
	{ "what_if", tsi_section_what_if, OF_RUN },
	{ "transfers", tsi_section_transfers, OF_RUN },
	{ "pipeline", tsi_section_pipeline, OF_RUN },
	{ "critical_path", tsi_section_path, OF_TRACE },
	{ "device_busy", tsi_section_device_busy, OF_TRACE },
	{ "overlap", tsi_section_overlap, OF_TRACE },
	{ "flops", tsi_section_roofline, OF_TRACE },
	{ "kernels", tsi_section_kernels, OF_TRACE },
	{ "operators", tsi_section_operators, OF_TRACE },
	{ "graphs", tsi_section_graphs, OF_TRACE },
	{ "blocks", tsi_section_blocks, OF_TRACE },
	{ "modules", tsi_section_modules, OF_TRACE },
	{ "attribution", tsi_section_attribution, OF_TRACE },
	{ "sources", tsi_section_sources, OF_TRACE },
	{ "launches", tsi_section_launches, OF_TRACE },
	{ "copies", tsi_section_copies, OF_TRACE },
	{ "spans", tsi_section_spans, OF_TRACE },
	{ "python", tsi_section_python, OF_TRACE },
	{ "callbacks", tsi_section_callbacks, OF_TRACE },
	{ "counters", tsi_section_counters, OF_TRACE },
	{ NULL, tsi_section_inputs, OF_RUN },
	{ NULL, tsi_section_findings, OF_RUN },
	{ NULL, tsi_section_not_evaluated, OF_RUN },
	{ NULL, tsi_section_gates, OF_RUN },
};

/* ---- the head ---- */

/* Is all of one file: one rank's, or those that were merged into it? */
static bool is_of_one_file(const struct tscope_run *run)
{
	const char *first = tscope_run_input(run, 0).path;

	for (size_t i = 1; i < tscope_run_input_count(run); i++)
		if (strcmp(tscope_run_input(run, i).path, first) != 0)
			return false;
	return true;
}

/*
 * The file, or the folder that all files are in; "3 files" where there is none. Runs that share
 * a folder are called by a file.
 */
static void put_name(const struct panel *panel, enum doc_place place, const struct tscope_run *run)
{
	size_t count = tscope_run_input_count(run), length = tsi_run_folder(run);
	const char *first = tscope_run_input(run, 0).path, *name = first;

	if (tscope_run_apart(run) && count > 1)
		name = tsi_panel_print(panel, "%s and %zu more", first, count - 1);
	else if (!is_of_one_file(run) && length > 0)
		name = tsi_panel_print(panel, "%.*s", (int)(length > 1 ? length - 1 : 1), first);
	else if (!is_of_one_file(run))
		name = tsi_panel_print(panel, "%zu files", count);
	tsi_doc_name(panel->doc, place, NULL, name);
}

/*
 * "; mean 9.580 ms" where different ranks take longest, so that the mean of the ranks, which is
 * what a step adds to the run, is much less; else "".
 */
static const char *mean_of_ranks(const struct panel *panel)
{
	int64_t mean_ns = tsi_mean_of(tsi_panel_int(panel, "budget.wall_total_ns"),
				      tsi_panel_int(panel, "budget.step_count"));
	int64_t slowest_ns = tsi_panel_int(panel, "step_time.mean_ns");

	if (!tsi_panel_has(panel, "budget.wall_total_ns") || mean_ns <= 0 ||
	    mean_ns >= slowest_ns - slowest_ns / 20)
		return "";
	return tsi_panel_print(panel, "; mean %s",
			       tsi_panel_people_int(panel, mean_ns, TSCOPE_UNIT_NS));
}

/* "8 ranks · 30 steps · 412.3 ms per step (slowest rank of each)": the others wait for it. */
static void put_outline(const struct panel *panel, enum doc_role role)
{
	const struct tscope_run *run = panel->report->run;
	struct doc_line *line = tsi_doc_items(panel->doc, role, DOC_PLAIN, NULL);
	size_t rank_count = tscope_run_rank_count(run);
	int64_t steps = tsi_panel_int(panel, "step_time.count");

	if (rank_count > 1)
		tsi_panel_count(panel, line, (int64_t)rank_count, "rank", "ranks");
	else if (tscope_run_rank_number(run, 0) >= 0)
		tsi_doc_item(panel->doc, line, "rank %" PRId64, tscope_run_rank_number(run, 0));
	if (tsi_panel_is(panel, "launches.is_capture"))
		tsi_doc_item(panel->doc, line, "the capture of a graph, no run");
	if (steps == 0)
		return;
	tsi_panel_count(panel, line, steps, "step", "steps");
	if (rank_count > 1)
		tsi_doc_item(panel->doc, line, "%s per step (slowest rank of each%s)",
			     tsi_panel_number(panel, "step_time.mean_ns"), mean_of_ranks(panel));
	else
		tsi_doc_item(panel->doc, line, "%s per step",
			     tsi_panel_number(panel, "step_time.mean_ns"));
}

/* ---- what is missing from the figures ---- */

/* Lines of the head about losses: the first few are shown, all are counted. */
struct losses {
	const struct panel *panel;
	size_t count, most;
};

static struct losses begin_losses(const struct panel *panel)
{
	bool is_screen = panel->options->extent == TSCOPE_REPORT_SCREEN && !panel->options->shown;
	size_t most = is_screen ? MAX_LOSSES_OF_SCREEN : MAX_LOSSES;

	return (struct losses){ panel, 0, panel->options->verbose ? SIZE_MAX : most };
}

static void put_loss(struct losses *losses, const char *word, const char *path, const char *what)
{
	if (losses->count++ < losses->most)
		tsi_panel_loss(losses->panel, word, "%s: %s", path, what);
}

/* Counts those that are not shown. */
static void end_losses(const struct losses *losses)
{
	const struct panel *panel = losses->panel;

	if (losses->count > losses->most)
		tsi_doc_line(panel->doc, DOC_HEADING, DOC_PLAIN, NULL, "and %zu more%s",
			     losses->count - losses->most,
			     panel->report ? "; --verbose names all" : "");
}

static void put_input_losses(struct losses *losses, const struct tscope_run_input *input)
{
	const struct panel *panel = losses->panel;

	if (input->damage)
		put_loss(losses, "DAMAGED", input->path, tsi_damage_words(panel, input->damage));
	if (input->dropped_count > 0) {
		const char *unit = tscope_input_kind_unit(input->kind); /* "events" */
		int length = (int)strlen(unit) - (input->dropped_count == 1);

		put_loss(losses, "DROPPED", input->path,
			 tsi_panel_print(panel, "%" PRIu64 " %.*s, not counted (--show input)",
					 input->dropped_count, length, unit));
	}
	/* Records of earlier attempts that were left out change how many steps a run has. */
	if (input->kind == TSCOPE_INPUT_STEPS && *input->note && !input->damage &&
	    input->dropped_count == 0)
		put_loss(losses, "NOTE", input->path, input->note);
	if (input->diagnostics && input->diagnostics[TSCOPE_DIAGNOSTIC_ring_buffer_overflow] > 0)
		put_loss(losses, "OVERFLOW", input->path, tsi_overflow_words);
}

void tsi_put_losses(const struct panel *panel, const struct tscope_run *run)
{
	struct losses losses = begin_losses(panel);
	struct panel run_panel = *panel;

	run_panel.analysis = tscope_run_analysis(run);
	tsi_put_step_losses(&run_panel);
	for (size_t i = 0; i < tscope_run_other_count(run); i++) {
		struct tscope_run_other other = tscope_run_other(run, i);

		if (other.is_problem)
			put_loss(&losses, other.is_left_out ? "LEFT OUT" : "NOT READ", other.path,
				 other.reason);
	}
	for (size_t i = 0; i < tscope_run_input_count(run); i++) {
		struct tscope_run_input input = tscope_run_input(run, i);

		put_input_losses(&losses, &input);
	}
	end_losses(&losses);
}

/* ---- the whole ---- */

/* The first rank of which there is a trace, else the first. */
static size_t rank_with_trace(const struct tscope_run *run)
{
	int64_t rank = -1;
	size_t index = 0;

	for (size_t i = 0; i < tscope_run_input_count(run) && rank < 0; i++)
		if (tscope_run_input(run, i).kind == TSCOPE_INPUT_TRACE)
			rank = tscope_run_input(run, i).rank;
	while (index < tscope_run_rank_count(run) && tscope_run_rank_number(run, index) != rank)
		index++;
	return index < tscope_run_rank_count(run) ? index : 0;
}

/* The rank that was asked for; or where there is none `otherwise`. */
static size_t chosen_rank(const struct panel *panel, size_t otherwise)
{
	const struct tscope_rank_choice *chosen = &panel->options->rank;
	const struct tscope_run *run = panel->report->run;

	for (size_t i = 0; chosen->is_chosen && i < tscope_run_rank_count(run); i++)
		if (tscope_run_rank_number(run, i) == (int64_t)chosen->number)
			return i;
	return otherwise;
}

/* The file that the figures of an analyzer are of. */
static const char *path_of_file(const struct panel *panel, const char *analyzer)
{
	return tsi_panel_text(panel, tsi_panel_print(panel, "%s.path", analyzer));
}

/* The rank of a file where there are several, else -1. */
static int64_t rank_of_file(const struct tscope_run *run, const char *path)
{
	for (size_t i = 0; i < tscope_run_input_count(run); i++) {
		struct tscope_run_input input = tscope_run_input(run, i);

		if (strcmp(input.path, path) == 0 && (tscope_run_rank_count(run) > 1 ||
						      input.rank != tscope_run_rank_number(run, 0)))
			return input.rank;
	}
	return -1;
}

/* The panel of a section: of the run, of one of its ranks, or of a file. */
static struct panel panel_for(const struct panel *whole, const struct run_section *section)
{
	const struct tscope_run *run = whole->report->run;
	size_t lowest = section->subject_kind == OF_TRACE ? rank_with_trace(run) : 0;
	size_t rank = chosen_rank(whole, lowest);
	struct panel panel = *whole;

	if (section->subject_kind != OF_RUN && tscope_run_rank_count(run) > 1)
		panel.rank = tscope_run_rank_number(run, rank);
	if (section->subject_kind == OF_TRACE ||
	    (section->subject_kind == OF_LOWEST_RANK && rank != lowest))
		panel.analysis = tscope_run_rank_analysis(run, rank);
	if (section->subject_kind == OF_FILE)
		panel.rank = rank_of_file(run, path_of_file(whole, section->analyzer));
	if (section->subject_kind == OF_TRACE || section->subject_kind == OF_FILE)
		panel.top = whole->options->top > 0 ? whole->options->top : DEFAULT_TOP_OF_PART;
	return panel;
}

/* ", its peak in step 7" */
static void add_step(const struct panel *rank, const char **text, const char *words, const char *id)
{
	struct tscope_value step = tsi_panel_value(rank, id);

	if (step.kind == TSCOPE_VALUE_INT)
		tsi_panel_append(rank, text, ", %s in step %" PRId64, words, step.integer);
}

/* The file that the sections of an analyzer were of, and when it was in the run. */
static void put_file(const struct panel *panel, const char *analyzer)
{
	const struct tscope_run *run = panel->report->run;
	const char *path = path_of_file(panel, analyzer);
	const char *text;

	if (*path == '\0')
		return;
	text = path + tsi_run_folder(run);
	for (size_t i = 0; strcmp(analyzer, "snapshot") == 0 && i < tscope_run_rank_count(run);
	     i++) {
		const struct panel rank = { .doc = panel->doc,
					    .analysis = tscope_run_rank_analysis(run, i) };

		if (strcmp(tsi_panel_text(&rank, "snapshot.path"), path) != 0)
			continue;
		add_step(&rank, &text, "its peak", "memory.snapshot_peak_step");
		add_step(&rank, &text, "the failed request", "memory.oom_step");
	}
	tsi_doc_line(panel->doc, DOC_TAGGED, DOC_FAINT, "file", "%s", text);
}

static void put_section(const struct panel *whole, const struct run_section *section)
{
	struct panel panel = panel_for(whole, section);
	const struct run_section *next = section + 1;

	if (section->analyzer &&
	    !tscope_analysis_has(panel.analysis, tsi_lookup_analyzer(section->analyzer),
				 TSCOPE_WHOLE_TRACE))
		return;
	section->build(&panel);
	if (section->subject_kind == OF_FILE && tscope_run_input_count(whole->report->run) > 1 &&
	    (!next->analyzer || strcmp(next->analyzer, section->analyzer) != 0))
		put_file(&panel, section->analyzer);
}

static struct panel panel_of_run(struct doc *doc, const struct tscope_run_report *report,
				 const struct tscope_report_options *options)
{
	struct panel panel = tsi_panel(doc, tscope_run_analysis(report->run), options);

	panel.gates = report->gates;
	panel.gate_count = report->gate_count;
	panel.diagnosis = report->diagnosis;
	panel.report = report;
	return panel;
}

void tsi_compose_run(struct doc *doc, const struct tscope_run_report *report,
		     const struct tscope_report_options *options)
{
	const struct panel whole = panel_of_run(doc, report, options);

	put_name(&whole, DOC_PART, report->run);
	put_outline(&whole, DOC_OUTLINE);
	if (options->extent == TSCOPE_REPORT_SCREEN) {
		tsi_put_found_kinds(&whole);
		tsi_put_losses(&whole, report->run);
		tsi_put_screen(&whole);
	} else {
		tsi_put_found(&whole);
		tsi_put_losses(&whole, report->run);
		tsi_put_verdict(&whole);
	}
	for (size_t i = 0; i < TSI_COUNT_OF(sections); i++) {
		/* Gates remain in every report: they were asked for one by one. */
		if (options->extent == TSCOPE_REPORT_FULL || sections[i].build == tsi_section_gates)
			put_section(&whole, &sections[i]);
	}
	if (options->extent == TSCOPE_REPORT_SCREEN)
		tsi_put_way_on(&whole, "kernels,operators");
}

/* Why they are several: saved reports are one run each. */
static const char *why_separate(const struct tscope_runs *runs)
{
	bool is_saved = tscope_run_input(tscope_runs_get(runs, 0), 0).kind == TSCOPE_INPUT_REPORT;

	return is_saved ? "saved reports, one each" : "their files cannot belong to one job";
}

/* The head of several runs: their names, and what is of none. */
static void put_runs(const struct panel *panel, const struct tscope_runs *runs)
{
	struct losses losses = begin_losses(panel);
	size_t count = tscope_runs_count(runs);

	tsi_doc_line(panel->doc, DOC_HEADING, DOC_PLAIN, NULL,
		     "found %zu separate run%s (%s):", count, count == 1 ? "" : "s",
		     why_separate(runs));
	for (size_t i = 0; i < count; i++) {
		const char *apart = tscope_run_apart(tscope_runs_get(runs, i));

		put_name(panel, DOC_LISTED, tscope_runs_get(runs, i));
		if (apart && *apart != '\0')
			tsi_doc_line(panel->doc, DOC_TAGGED, DOC_INFO, "  why", "%s", apart);
	}
	for (size_t i = 0; i < tscope_runs_other_count(runs); i++) {
		struct tscope_run_other other = tscope_runs_other(runs, i);

		put_loss(&losses, "LEFT OUT", other.path, other.reason);
	}
	end_losses(&losses);
}

/* A run among several, in a few lines of their common screen. */
static void put_short_run(struct panel *panel)
{
	(void)tsi_doc_add(panel->doc, &(struct doc_node){ .kind = DOC_NODE_BREAK });
	put_name(panel, DOC_LISTED, panel->report->run);
	put_outline(panel, DOC_SIDE_OUTLINE);
	tsi_put_first_verdict(panel);
	if (tsi_tripped_count(panel) > 0)
		tsi_section_gates(panel);
}

/* As many as there is room for. */
static void put_short_runs(struct doc *doc, const struct tscope_runs_report *report,
			   const struct tscope_report_options *options)
{
	size_t count = tscope_runs_count(report->runs), i;

	tsi_doc_line(doc, DOC_HEADING, DOC_PLAIN, NULL, "found %zu separate runs (%s)", count,
		     why_separate(report->runs));
	for (i = 0; i < count; i++) {
		struct panel panel = panel_of_run(doc, &report->reports[i], options);
		struct doc_node *last = doc->last;

		put_short_run(&panel);
		panel.gate_count = 0;
		if (i == 0 || tsi_screen_left(&panel) >= (i + 1 < count))
			continue;
		tsi_doc_cut(doc, last);
		break;
	}
	if (i < count)
		tsi_doc_line(doc, DOC_HEADING, DOC_PLAIN, NULL, "  and %zu more", count - i);
	tsi_put_way_on(&(struct panel){ .doc = doc }, "kernels,operators");
}

void tsi_compose_runs(struct doc *doc, const struct tscope_runs_report *report,
		      const struct tscope_report_options *options)
{
	struct panel head = tsi_panel(doc, NULL, options);

	if (options->extent == TSCOPE_REPORT_SCREEN && tscope_runs_count(report->runs) > 1) {
		put_short_runs(doc, report, options);
		return;
	}
	head.report = &report->reports[0];
	put_runs(&head, report->runs);
	for (size_t i = 0; i < tscope_runs_count(report->runs); i++)
		tsi_compose_run(doc, &report->reports[i], options);
}
