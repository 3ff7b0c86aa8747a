/* SPDX-License-Identifier: MIT */
/*
 * The section about the steps: how long they take, how evenly, and which of them stand out. Those
 * of a trace come from its timeline, those of a run from any source that has them.
 */
#include "report/section.h"

#include <string.h>

#include "base/sum.h"

static const struct figure time_figures[] = {
	{ "mean", "step_time.mean_ns" },       { "p50", "step_time.p50_ns" },
	{ "p95", "step_time.p95_ns" },         { "min", "step_time.min_ns" },
	{ "max", "step_time.max_ns" },         { "CV", "step_time.cv" },
	{ "spikes", "step_time.spike_count" },
};

/* A single step has a duration and no statistics. */
static void put_times(const struct panel *panel, int64_t step_count)
{
	tsi_panel_figures(panel, time_figures, step_count > 1 ? TSI_COUNT_OF(time_figures) : 1);
}

static void put_slow_steps(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "slow step", "step", 11 },
		{ "wall", "wall_ns", 12 },
		{ "what grew", "grew", 20 },
		{ "by", "grew_ns", 12 },
	};

	tsi_panel_table(panel, "step_time.slow", columns, TSI_COUNT_OF(columns));
}

/* "start-up 812 ms, compilation 30 ms": a tenth of what cold steps lost, or more. */
static const char *cold_words(const struct panel *panel, const struct table_view *list,
			      const bool *is_cold)
{
	static const struct {
		const char *column, *word;
	} causes[] = {
		{ "startup_ns", "start-up" },
		{ "compile_ns", "compilation" },
		{ "alloc_ns", "driver allocation" },
	};
	int64_t sums_ns[TSI_COUNT_OF(causes)] = { 0 }, sum_ns = 0;
	const char *words = "";

	for (size_t i = 0; i < TSI_COUNT_OF(causes); i++) {
		size_t column = tsi_table_column(list, causes[i].column);
		for (size_t row = 0; row < list->row_count; row++)
			if (is_cold[row])
				tsi_sum(&sums_ns[i], tsi_table_cell(list, row, column).integer);
		tsi_sum(&sum_ns, sums_ns[i]);
	}
	for (size_t i = 0; i < TSI_COUNT_OF(causes); i++)
		if (sums_ns[i] > sum_ns / 10)
			words = tsi_panel_print(
				panel, "%s%s%s %s", words, *words ? ", " : "", causes[i].word,
				tsi_panel_people_int(panel, sums_ns[i], TSCOPE_UNIT_NS));
	return words;
}

/* Cold steps: which, and why. Where all that would count are cold they do. */
static void put_cold_steps(const struct panel *panel, const struct table_view *list)
{
	bool *is_cold = tsi_arena_new(&panel->doc->arena, list->row_count, sizeof(*is_cold));
	size_t mark = tsi_table_column(list, "mark"), step = tsi_table_column(list, "step");
	struct tscope_value all = tsi_panel_value(panel, "steps.all_cold");
	bool are_all = all.kind == TSCOPE_VALUE_FLAG && all.flag;
	enum tscope_step_mark cold = are_all ? TSCOPE_STEP_COUNTED : TSCOPE_STEP_COLD;
	int64_t first = 0;
	unsigned count = 0;

	for (size_t row = list->row_count; is_cold && row-- > 0;) {
		is_cold[row] = strcmp(tsi_table_cell(list, row, mark).text,
				      tscope_step_mark_name(cold)) == 0;
		count += is_cold[row];
		first = is_cold[row] ? tsi_table_cell(list, row, step).integer : first;
	}
	if (are_all && count)
		tsi_doc_note(panel->doc, "all cold (%s), so none is left out for that",
			     cold_words(panel, list, is_cold));
	else if (count == 1)
		tsi_doc_note(panel->doc, "step %lld left out: cold (%s)", (long long)first,
			     cold_words(panel, list, is_cold));
	else if (count > 1)
		tsi_doc_note(panel->doc, "%u left out, step %lld first: cold (%s)", count,
			     (long long)first, cold_words(panel, list, is_cold));
}

/* How many steps of each mark stay out of the statistics. */
static void put_marked_steps(const struct panel *panel, const struct table_view *list)
{
	static const struct {
		enum tscope_step_mark mark;
		const char *reason;
	} marks[] = {
		{ TSCOPE_STEP_FIRST, "holds the profiler's start-up" },
		{ TSCOPE_STEP_WARMUP, "warm-up, as asked" },
		{ TSCOPE_STEP_INCOMPLETE, "cut by the end of the capture" },
		{ TSCOPE_STEP_UNRECORDED, "the trace lacks kernels that were launched" },
		{ TSCOPE_STEP_CAPTURE, "the capture of a graph" },
	};
	size_t column = tsi_table_column(list, "mark");

	put_cold_steps(panel, list);
	for (size_t i = 0; i < TSI_COUNT_OF(marks); i++) {
		const char *name = tscope_step_mark_name(marks[i].mark);
		unsigned count = 0;

		for (size_t row = 0; row < list->row_count; row++)
			count += strcmp(tsi_table_cell(list, row, column).text, name) == 0;
		if (count > 0)
			tsi_doc_note(panel->doc, "%u left out: %s", count, marks[i].reason);
	}
}

/* "12 step marks lie inside other steps: not counted as steps" */
static void put_nested_steps(const struct panel *panel)
{
	int64_t count = tsi_panel_int(panel, "steps.nested_count");

	if (count > 0)
		tsi_panel_loss(panel, "SKIPPED", "%s %s",
			       tsi_panel_people_int(panel, count, TSCOPE_UNIT_COUNT),
			       count == 1
				       ? "step mark lies inside another step: not counted as a step"
				       : "step marks lie inside other steps: not counted as steps");
}

/* "15 of 100 steps count for some ranks only, so no figure of the run has them; rank 2 lacks 15" */
static void put_unshared_steps(const struct panel *panel)
{
	int64_t count = tsi_panel_int(panel, "distributed.dropped_step_count");
	int64_t all_count = tsi_panel_int(panel, "distributed.n_steps") + count;

	if (count > 0)
		tsi_panel_loss(panel, "SKIPPED",
			       "%s of %s steps count%s for some ranks only, so no figure of the "
			       "run has %s; rank %s lacks %s",
			       tsi_panel_people_int(panel, count, TSCOPE_UNIT_COUNT),
			       tsi_panel_people_int(panel, all_count, TSCOPE_UNIT_COUNT),
			       count == 1 ? "s" : "", count == 1 ? "it" : "them",
			       tsi_panel_number(panel, "distributed.lacking_rank"),
			       tsi_panel_number(panel, "distributed.lacking_step_count"));
}

void tsi_put_step_losses(const struct panel *panel)
{
	put_nested_steps(panel);
	put_unshared_steps(panel);
}

/* How the steps were found, in words. */
static const char *boundary_words(const struct panel *panel)
{
	static const char *const words[] = {
		[TSCOPE_BOUNDARY_STEP_MARKER] = "by --step-marker",
		[TSCOPE_BOUNDARY_PROFILER_STEP] = "by ProfilerStep#N",
		[TSCOPE_BOUNDARY_TRAIN_BATCH] = "by event/train_batch",
		[TSCOPE_BOUNDARY_OPTIMIZER] = "by the ends of Optimizer.step",
		[TSCOPE_BOUNDARY_ITERATION] = "by the engine's iterations",
		[TSCOPE_BOUNDARY_WHOLE_TRACE] = "without marks: the whole trace is one step",
	};
	const char *name = tsi_panel_text(panel, "steps.boundary");

	for (size_t i = 0; i < TSI_COUNT_OF(words); i++)
		if (strcmp(name, tscope_boundary_name((enum tscope_boundary)i)) == 0)
			return words[i];
	return "";
}

void tsi_section_steps(const struct panel *panel)
{
	struct table_view list = tsi_panel_rows(panel, "steps.list");

	tsi_panel_title(panel, DOC_INFO, "step_time", "STEPS", "%s %s",
			tsi_panel_number(panel, "steps.count"), boundary_words(panel));
	put_times(panel, tsi_panel_int(panel, "steps.count"));
	tsi_panel_curve(panel, "steps.list", "wall_ns", 2);
	put_marked_steps(panel, &list);
	put_slow_steps(panel);
}

/* ---- of a run ---- */

static bool get_time(const void *source, size_t index, double *time_ns)
{
	struct tscope_run_step step = tscope_run_step(source, TSCOPE_ALL_RANKS, index);

	*time_ns = (double)step.time_ns;
	return step.is_timed;
}

static enum doc_tone tone_of_phase(const char *name)
{
	static const struct {
		const char *name;
		enum doc_tone tone;
	} known[] = {
		{ "data", DOC_BAD },       { "forward", DOC_GOOD }, { "backward", DOC_GOOD },
		{ "optimizer", DOC_GOOD }, { "compute", DOC_GOOD }, { "comm", DOC_WARN },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(known); i++)
		if (strcmp(name, known[i].name) == 0)
			return known[i].tone;
	return DOC_PLAIN;
}

/* The phases as the job timed them; those made of a trace's budget stand in the budget. */
static void put_phases(const struct panel *panel)
{
	struct table_view phases = tsi_panel_rows(panel, "step_time.phases");
	int64_t step_ns = tsi_panel_int(panel, "step_time.mean_ns");

	for (size_t row = 0; row < phases.row_count; row++) {
		struct doc_meter meter = { .label = tsi_table_text(&phases, row, "phase"),
					   .part = tsi_table_find(&phases, row, "mean_ns").integer,
					   .whole = step_ns,
					   .unit = TSCOPE_UNIT_NS };

		meter.shown = meter.part;
		meter.tone = tone_of_phase(meter.label);
		tsi_doc_meter(panel->doc, &meter);
	}
}

void tsi_section_run_steps(const struct panel *panel)
{
	const struct tscope_run *run = panel->report->run;
	struct doc_series times = { run, get_time, tscope_run_step_count(run, TSCOPE_ALL_RANKS) };
	int64_t step_count = tsi_panel_int(panel, "step_time.count");

	if (step_count == 0)
		return;
	tsi_panel_title(panel, DOC_GOOD, "step_time", "STEPS", "%s · %s a second%s",
			tsi_panel_number(panel, "step_time.count"),
			tsi_panel_number(panel, "step_time.steps_per_second"),
			tscope_run_rank_count(run) > 1 ? " · of each step the slowest rank" : "");
	put_times(panel, step_count);
	tsi_doc_series(panel->doc, &times);
	if (tsi_has_records(panel->report->run))
		put_phases(panel);
	put_slow_steps(panel);
}
