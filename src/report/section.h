/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_SECTION_H
#define TSCOPE_REPORT_SECTION_H

#include "report/panel.h"

/*
 * The sections of a report; each appends nothing where it has nothing to say.
 *
 * To add one for an analyzer: write a function in one of the section_*.c, declare it below and add
 * a row to the table in compose_trace.c, compose_run.c or both; of a file about memory to that in
 * compose_memory.c. Every format has it then.
 */
struct section {
	const char *analyzer; /* built where it ran */
	void (*build)(const struct panel *panel);
};

/* The reports that sections make up. */
void tsi_compose_trace(struct doc *doc, const struct tscope_trace_report *report,
		       const struct tscope_report_options *options);
void tsi_compose_memory(struct doc *doc, const struct tscope_memory_report *report,
			const struct tscope_report_options *options);
void tsi_compose_hang(struct doc *doc, const struct tscope_hang_report *report,
		      const struct tscope_report_options *options);
void tsi_compose_run(struct doc *doc, const struct tscope_run_report *report,
		     const struct tscope_report_options *options);
void tsi_compose_runs(struct doc *doc, const struct tscope_runs_report *report,
		      const struct tscope_report_options *options);
void tsi_compose_diff(struct doc *doc, const struct tscope_diff_report *report,
		      const struct tscope_report_options *options);

/* section_names.c: is it the title of a section? Every title is in the list there. */
bool tsi_is_section(const char *title);

/* Leaves of the sections only those that a list names, "kernels,critical-path", besides gates. */
void tsi_show_sections(struct doc *doc, const char *names);

void tsi_build_sections(const struct panel *panel, const struct section *list, size_t count);

/* section_time.c: the lines of a step's budget, of devices and of hosts without, in their order. */
enum budget_line {
	BUDGET_COMPUTE,
	BUDGET_EXPOSED_COMM,
	BUDGET_EXPOSED_COPY,
	BUDGET_DATA_STALL,
	BUDGET_SYNC_STALL,
	BUDGET_LAUNCH_STALL,
	BUDGET_DEVICE_GAP,
	BUDGET_UNATTRIBUTED,
	BUDGET_HOST_DATA,
	BUDGET_HOST_FORWARD,
	BUDGET_HOST_BACKWARD,
	BUDGET_HOST_OPTIMIZER,
	BUDGET_HOST_COMM,
	BUDGET_HOST_OTHER,
	BUDGET_LINE_COUNT,
};
extern const struct part tsi_budget_lines[BUDGET_LINE_COUNT];

/*
 * section_python.c: "; the main thread waits for …, mostly in …; the largest function is …", as far
 * as these take least_share of a step without a device, or "".
 */
const char *tsi_name_function(const struct panel *panel, double least_share);

/*
 * Is the budget of the steps that step_time is of? Not of several ranks, whose slowest step_time
 * takes, or where records time steps that no trace has.
 */
bool tsi_is_budget_of_step(const struct panel *panel);

/* "where a step of 412.3 ms goes, mean of 12", without a time where it is not that of step_time */
const char *tsi_budget_words(const struct panel *panel);

/* Facts of a trace, in its own report or in that of its run. */
void tsi_section_budget(const struct panel *panel);
void tsi_section_efficiency(const struct panel *panel);
void tsi_section_inference(const struct panel *panel); /* section_inference.c */
void tsi_section_graphs(const struct panel *panel);
void tsi_section_hang(const struct panel *panel);
void tsi_section_path(const struct panel *panel);
void tsi_section_roofline(const struct panel *panel);
void tsi_section_device_busy(const struct panel *panel);
void tsi_section_overlap(const struct panel *panel);
void tsi_section_kernels(const struct panel *panel);
void tsi_section_operators(const struct panel *panel);
void tsi_section_blocks(const struct panel *panel);
void tsi_section_modules(const struct panel *panel); /* section_modules.c */
void tsi_section_sources(const struct panel *panel);
void tsi_section_attribution(const struct panel *panel);
void tsi_section_launches(const struct panel *panel);
void tsi_section_copies(const struct panel *panel);
void tsi_section_spans(const struct panel *panel);
void tsi_section_python(const struct panel *panel);
void tsi_section_viztracer(const struct panel *panel); /* that of VizTracer's traces */

/* The phases of an inference engine that there are, each with figures; how many lines they take. */
int tsi_phase_lines(const struct panel *panel);
/* Which of a rank's traces they are of, where that is not all: ", of its longest trace"; or "". */
const char *tsi_inference_part(const struct panel *panel);
void tsi_put_phases(const struct panel *panel);

/* Gates, in every report. */
void tsi_section_gates(const struct panel *panel);

/* Findings of a run or of a file about memory. */
void tsi_section_findings(const struct panel *panel);
void tsi_section_not_evaluated(const struct panel *panel);

/* Only in the report of a single trace. */
void tsi_section_steps(const struct panel *panel);
void tsi_section_integrity(const struct panel *panel);

/* Facts of a run. */
void tsi_section_run_steps(const struct panel *panel);
void tsi_section_memory(const struct panel *panel);
void tsi_section_convergence(const struct panel *panel);
void tsi_section_distributed(const struct panel *panel);
void tsi_section_stragglers(const struct panel *panel);
void tsi_section_what_if(const struct panel *panel);
void tsi_section_transfers(const struct panel *panel);
void tsi_section_pipeline(const struct panel *panel);
void tsi_section_inputs(const struct panel *panel);

/* Facts of a file about memory. */
void tsi_section_oom(const struct panel *panel);
void tsi_section_snapshot(const struct panel *panel);
void tsi_section_snapshot_growth(const struct panel *panel);
void tsi_section_snapshot_time(const struct panel *panel);
void tsi_section_snapshot_peak(const struct panel *panel);
void tsi_section_snapshot_churn(const struct panel *panel);
void tsi_section_snapshot_segments(const struct panel *panel);
void tsi_section_memory_timeline(const struct panel *panel);
void tsi_section_memory_stats(const struct panel *panel);
void tsi_section_memory_tracker(const struct panel *panel);
void tsi_section_host_memory(const struct panel *panel); /* section_host_memory.c */
void tsi_section_host_memory_peak(const struct panel *panel);
void tsi_section_scalars(const struct panel *panel); /* section_scalars.c */
void tsi_section_logged_efficiency(const struct panel *panel);
void tsi_section_callbacks(const struct panel *panel); /* section_composer.c */
void tsi_section_counters(const struct panel *panel);
void tsi_section_clock_sync(const struct panel *panel);

/* Changes between two runs; with panel->all also what did not change. */
void tsi_section_history(const struct panel *panel); /* section_diff_history.c */
void tsi_section_explanation(const struct panel *panel);
void tsi_section_rank_changes(const struct panel *panel);
void tsi_section_kernel_changes(const struct panel *panel);
void tsi_section_operator_changes(const struct panel *panel);
void tsi_section_module_changes(const struct panel *panel);
void tsi_section_phase_changes(const struct panel *panel); /* section_diff_phases.c */
void tsi_put_phase_changes(const struct panel *panel);     /* its line of the head */
void tsi_section_memory_changes(const struct panel *panel);
void tsi_section_reproducibility(const struct panel *panel);
void tsi_section_finding_changes(const struct panel *panel);
void tsi_section_fact_changes(const struct panel *panel);

/* Changes in a few lines for the head of a comparison. */
void tsi_put_changes(const struct panel *panel);

/* With more than two runs: lines of the head on when metrics changed. */
void tsi_put_history(const struct panel *panel);

/* Gates that tripped for sure. */
size_t tsi_tripped_count(const struct panel *panel);

/* Appends the verdict: the findings that win most, in a few lines of the head. */
void tsi_put_verdict(const struct panel *panel);

/* The first finding in a line, or that there is none. */
void tsi_put_first_verdict(const struct panel *panel);

/*
 * Its parts: the state where no finding is the answer, that there is little to judge by, a
 * finding's line, its text.
 */
void tsi_put_verdict_head(const struct panel *panel);
void tsi_put_verdict_doubt(const struct panel *panel);
/* The first finding that few device events limit; the doubt stands below it. */
bool tsi_is_first_tentative(const struct panel *panel, size_t index);
void tsi_put_verdict_line(const struct panel *panel, const struct tscope_finding *finding);
const char *tsi_verdict_text(const struct panel *panel, const struct tscope_finding *finding);

/*
 * section_screen.c: reports of one screen. Behind the head come the verdict and where the step
 * goes or what fills the memory; behind the gates, how to see more, with a section as an example.
 */
void tsi_put_screen(const struct panel *panel);
void tsi_put_memory_screen(const struct panel *panel);
void tsi_put_way_on(const struct panel *panel, const char *section);

/* Lines of the screen that the report so far, its gates and the last lines leave; may be < 0. */
int tsi_screen_left(const struct panel *panel);

/* Builds a section with as many rows as there is room for; false: not even one has room. */
bool tsi_put_if_room(const struct panel *panel, void (*build)(const struct panel *panel), int left);

/* Puts oddities of an input, with their effects; counts by enum tscope_diagnostic. */
void tsi_put_diagnostics(const struct panel *panel, const uint64_t counts[TSCOPE_DIAGNOSTIC_COUNT]);

/* Advice for the next recording. */
void tsi_put_advice(const struct panel *panel);

/* Files of the run by rank and kind, and ignored files by reason: lines of the head. */
void tsi_put_found(const struct panel *panel); /* section_found.c */

/* Files by kind alone, in one line. */
void tsi_put_found_kinds(const struct panel *panel);

/*
 * Lines of the head for steps of one of several processes, and for those that no figure has: inside
 * other steps, or lacking in some ranks.
 */
void tsi_put_step_losses(const struct panel *panel); /* section_steps.c */

/* Lines of the head for steps and files of a run that no figure has, or not wholly. */
void tsi_put_losses(const struct panel *panel, const struct tscope_run *run);

/* Length of the folder that all files of a run are in, with its slash, in each of their paths. */
size_t tsi_run_folder(const struct tscope_run *run);

/* Do records of the job itself say how long the steps of the run took? */
bool tsi_has_records(const struct tscope_run *run);

#endif
