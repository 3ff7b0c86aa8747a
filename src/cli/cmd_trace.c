/* SPDX-License-Identifier: MIT */
/*
 * tscope trace: opens each file, puts it on its timeline, analyses it,
 * judges it, and reports all of them together. A file that
 * cannot be read does not keep the others from being reported.
 */
#include "command.h"
#include "flamegraph.h"
#include "gates.h"
#include "loss.h"
#include "message.h"
#include "output.h"
#include "progress.h"
#include "reports.h"

#include <stdlib.h>

/* Everything derived from one file, each from the one before. */
struct loaded {
	struct tscope_trace *trace;
	struct tscope_timeline *timeline;
	struct tscope_analysis *analysis;
	struct tscope_diagnosis *diagnosis;
	struct gates gates;
};

static void unload(struct loaded *file)
{
	gates_deinit(&file->gates);
	tscope_diagnosis_free(file->diagnosis);
	tscope_analysis_free(file->analysis);
	tscope_timeline_free(file->timeline);
	tscope_trace_free(file->trace);
	*file = (struct loaded){ 0 };
}

static enum tscope_status open_trace(struct tscope_trace **trace, const char *path,
				     const struct options *options, struct tscope_error *err)
{
	struct tscope_trace_options trace_options = options->trace;
	struct progress progress;
	enum tscope_status status;

	trace_options.finds_annotations = true;
	progress_start(&progress, options, &trace_options);
	status = tscope_trace_open(trace, path, &trace_options, err);
	progress_stop(&progress);
	return status;
}

/* On failure *file is empty. */
static enum tscope_status load(struct loaded *file, const char *path, const struct options *options,
			       struct tscope_error *err)
{
	struct tscope_analysis_options analysis = options->analysis;
	struct tscope_timeline_options timeline = options->timeline;
	enum tscope_status status;

	*file = (struct loaded){ 0 };
	analysis.on_demand = true;
	timeline.keeps_causes = reports_draw(options);
	status = open_trace(&file->trace, path, options, err);
	if (status == TSCOPE_OK)
		status = tscope_timeline_build(&file->timeline, file->trace, &timeline, err);
	if (status == TSCOPE_OK)
		status = tscope_analyze(&file->analysis, file->trace, file->timeline, &analysis,
					err);
	if (status != TSCOPE_OK)
		unload(file);
	return status;
}

static enum exit_code judge(struct loaded *file, const char *path, const struct options *options)
{
	const struct loss loss = { tscope_trace_damage(file->trace),
				   tscope_trace_info(file->trace)->dropped_count, "events" };
	uint64_t other_count =
		tscope_trace_diagnostic(file->trace, TSCOPE_DIAGNOSTIC_other_process);
	enum exit_code code = worse(judge_loss(path, &loss, options->strict),
				    judge_warmup(path, file->analysis, options));

	code = worse(code, judge_processes(path, other_count, options->strict));

	say_unkept(path, tscope_trace_diagnostic(file->trace, TSCOPE_DIAGNOSTIC_unkept_operator),
		   options);
	enum exit_code diagnosed = diagnose(&file->diagnosis, file->analysis, options);

	if (diagnosed != EXIT_CODE_OK)
		return worse(code, diagnosed);
	code = worse(code, gates_evaluate(&file->gates, file->analysis, file->diagnosis, options));
	gates_lack(&file->gates, loss_text(&loss));
	if (other_count > 0)
		gates_lack(&file->gates, mixed_processes);
	gates_lack(&file->gates, unrecorded_steps(file->analysis));
	if (options->timeline.step_marker &&
	    tscope_timeline_boundary(file->timeline) != TSCOPE_BOUNDARY_STEP_MARKER) {
		say_unmatched(path, options->timeline.step_marker);
		gates_lack(&file->gates, unmatched_marker);
		code = worse(code, options->strict ? EXIT_CODE_INPUT : EXIT_CODE_OK);
	}
	return code;
}

static enum exit_code judge_gates(const struct loaded *files, size_t count,
				  const struct options *options)
{
	enum exit_code code = EXIT_CODE_OK;

	for (size_t i = 0; i < count; i++) {
		const char *path = tscope_trace_info(files[i].trace)->path;

		code = worse(code, gates_judge(&files[i].gates,
					       options->operand_count > 1 ? path : NULL, options));
	}
	return code;
}

/* The reports on all files, for tscope_report_write(). */
struct trace_reports {
	struct tscope_trace_report *items;
	size_t count;
};

static enum tscope_status write_traces(FILE *out, const void *subject,
				       const struct tscope_report_options *options)
{
	const struct trace_reports *reports = subject;

	return tscope_report_write(out, reports->items, reports->count, options, NULL);
}

static enum exit_code report(const struct loaded *files, size_t count, struct inputs *inputs,
			     const struct options *options)
{
	const struct trace_reports reports = { calloc(count, sizeof(*reports.items)), count };
	enum exit_code code;

	if (!reports.items) {
		say_nomem();
		return EXIT_CODE_INTERNAL;
	}
	for (size_t i = 0; i < count; i++)
		reports.items[i] =
			(struct tscope_trace_report){ files[i].analysis, files[i].diagnosis,
						      files[i].gates.results,
						      files[i].gates.count };
	code = reports_write(&(struct report_writer){ write_traces, &reports }, inputs, options);
	free(reports.items);
	return worse(code, judge_gates(files, count, options));
}

static enum exit_code write_flamegraph(const struct loaded *file, const struct inputs *inputs,
				       const struct options *options)
{
	struct tscope_error err = { 0 };
	enum tscope_status status;
	struct output out;

	if (!output_open(&out, options->flamegraph, inputs))
		return EXIT_CODE_OUTPUT;
	status = tscope_analysis_write_stacks(out.stream, file->analysis, options->flamegraph_by,
					      &err);
	if (status != TSCOPE_OK && status != TSCOPE_E_WRITE)
		say_error(tscope_trace_info(file->trace)->path, &err, "");
	return output_finish(&out, status);
}

/* The stacks must not replace a report either, whatever its path looks like. */
static enum exit_code write_outputs(const struct loaded *files, size_t count,
				    const struct options *options)
{
	enum exit_code code;
	struct inputs inputs;

	inputs_init(&inputs, options);
	code = report(files, count, &inputs, options);
	if (options->flamegraph)
		code = worse(code, write_flamegraph(files, &inputs, options));
	inputs_deinit(&inputs);
	return code;
}

static enum exit_code run_trace(const struct options *options)
{
	struct loaded *files = calloc((size_t)options->operand_count, sizeof(*files));
	enum exit_code code = flamegraph_check(options, "trace");
	size_t count = 0;

	if (code != EXIT_CODE_OK) {
		free(files);
		return code;
	}
	if (!files) {
		say_nomem();
		return EXIT_CODE_INTERNAL;
	}
	for (int i = 0; i < options->operand_count; i++) {
		const char *path = options->operands[i];
		struct tscope_error err = { 0 };
		enum tscope_status status = load(&files[count], path, options, &err);

		if (status == TSCOPE_OK) {
			code = worse(code, judge(&files[count], path, options));
			if (files[count].diagnosis)
				count++;
			else
				unload(&files[count]);
		} else {
			say_error(path, &err, "");
			code = worse(code, exit_code_of(status));
		}
	}
	if (count > 0)
		code = worse(code, write_outputs(files, count, options));
	while (count > 0)
		unload(&files[--count]);
	free(files);
	return code;
}

const struct command command_trace = {
	.name = "trace",
	.operands = "FILE...",
	.summary = "one trace in depth: where the time of its steps went",
	.run = run_trace,
};
