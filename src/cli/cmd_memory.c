/* SPDX-License-Identifier: MIT */
/*
 * tscope memory: opens each file about memory, analyses it, a snapshot also against the one
 * before it, diagnoses it, evaluates the gates on it, and reports all of them together. A file
 * that cannot be read does not keep the others from being reported.
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
	struct tscope_memory *memory;
	struct tscope_analysis *analysis;
	struct tscope_diagnosis *diagnosis;
	struct gates gates;
};

/* The readable files, in command-line order. */
struct files {
	struct loaded *items;
	size_t count;
};

static void unload(struct loaded *file)
{
	gates_deinit(&file->gates);
	tscope_diagnosis_free(file->diagnosis);
	tscope_analysis_free(file->analysis);
	tscope_memory_free(file->memory);
	*file = (struct loaded){ 0 };
}

static enum tscope_status open_memory(struct tscope_memory **memory, const char *path,
				      const struct options *options, struct tscope_error *err)
{
	struct tscope_trace_options trace_options = options->trace;
	struct progress progress;
	enum tscope_status status;

	progress_start(&progress, options, &trace_options);
	status = tscope_memory_open(memory, path, &trace_options, err);
	progress_stop(&progress);
	return status;
}

/* The nearest snapshot before it of the same process, or NULL. */
static const struct tscope_memory *find_earlier(const struct files *files,
						const struct tscope_memory *memory)
{
	for (size_t i = files->count; i-- > 0;)
		if (tscope_memory_is_comparable(memory, files->items[i].memory))
			return files->items[i].memory;
	return NULL;
}

static struct loss loss_of(const struct loaded *file)
{
	const struct tscope_memory_info *info = tscope_memory_info(file->memory);

	return (struct loss){ info->damage, info->dropped_count, "records" };
}

/* Adds the file to those that are loaded, if it can be. */
static enum exit_code load(struct files *files, const char *path, const struct options *options)
{
	struct loaded *file = &files->items[files->count];
	struct tscope_error err = { 0 };
	enum tscope_status status = open_memory(&file->memory, path, options, &err);
	enum exit_code code;

	if (status == TSCOPE_OK)
		status = tscope_memory_analyze(&file->analysis, file->memory,
					       find_earlier(files, file->memory),
					       &options->analysis, &err);
	if (status != TSCOPE_OK) {
		say_error(path, &err, "");
		unload(file);
		return exit_code_of(status);
	}
	code = diagnose(&file->diagnosis, file->analysis, options);
	if (code == EXIT_CODE_OK)
		code = gates_evaluate(&file->gates, file->analysis, file->diagnosis, options);
	if (code != EXIT_CODE_OK) {
		unload(file);
		return code;
	}
	const struct loss loss = loss_of(file);
	gates_lack(&file->gates, loss_text(&loss));
	files->count++;
	return code;
}

static bool is_evaluated_anywhere(const struct files *files, size_t gate)
{
	for (size_t i = 0; i < files->count; i++)
		if (files->items[i].gates.results[gate].is_evaluated)
			return true;
	return false;
}

/*
 * One file may have figures that another lacks: growth needs an earlier snapshot. A gate trips for
 * missing figures only if no file has them.
 */
static void excuse_gates(const struct files *files, const struct options *options)
{
	for (size_t gate = 0; gate < options->gates.count; gate++) {
		if (!is_evaluated_anywhere(files, gate))
			continue;
		for (size_t i = 0; i < files->count; i++)
			tscope_gate_excuse(&files->items[i].gates.results[gate]);
	}
}

static enum exit_code judge(const struct files *files, const struct options *options)
{
	enum exit_code code = EXIT_CODE_OK;

	for (size_t i = 0; i < files->count; i++) {
		const struct tscope_memory_info *info = tscope_memory_info(files->items[i].memory);
		const struct loss loss = loss_of(&files->items[i]);

		code = worse(code, judge_loss(info->path, &loss, options->strict));
		code = worse(code,
			     gates_judge(&files->items[i].gates,
					 options->operand_count > 1 ? info->path : NULL, options));
	}
	return code;
}

/* The reports on all files, for tscope_report_write_memory(). */
struct memory_reports {
	struct tscope_memory_report *items;
	size_t count;
};

static enum tscope_status write_files(FILE *out, const void *subject,
				      const struct tscope_report_options *options)
{
	const struct memory_reports *reports = subject;

	return tscope_report_write_memory(out, reports->items, reports->count, options, NULL);
}

static enum exit_code report(const struct files *files, struct inputs *inputs,
			     const struct options *options)
{
	const struct memory_reports reports = { calloc(files->count, sizeof(*reports.items)),
						files->count };
	enum exit_code code;

	if (!reports.items) {
		say_nomem();
		return EXIT_CODE_INTERNAL;
	}
	for (size_t i = 0; i < files->count; i++) {
		const struct loaded *file = &files->items[i];

		reports.items[i] =
			(struct tscope_memory_report){ file->memory, file->analysis,
						       file->diagnosis, file->gates.results,
						       file->gates.count };
	}
	code = reports_write(&(struct report_writer){ write_files, &reports }, inputs, options);
	free(reports.items);
	return code;
}

static enum exit_code write_flamegraph(const struct tscope_memory *memory,
				       const struct inputs *inputs, const struct options *options)
{
	struct tscope_error err = { 0 };
	enum tscope_status status;
	struct output out;

	if (!output_open(&out, options->flamegraph, inputs))
		return EXIT_CODE_OUTPUT;
	status = tscope_memory_write_stacks(out.stream, memory, options->flamegraph_at, &err);
	if (status != TSCOPE_OK && status != TSCOPE_E_WRITE)
		say_error(tscope_memory_info(memory)->path, &err, "");
	return output_finish(&out, status);
}

/* The flame graph must not replace the report either, whatever its path looks like. */
static enum exit_code write_outputs(const struct files *files, const struct options *options)
{
	enum exit_code code;
	struct inputs inputs;

	inputs_init(&inputs, options);
	code = report(files, &inputs, options);
	if (options->flamegraph)
		code = worse(code, write_flamegraph(files->items[0].memory, &inputs, options));
	inputs_deinit(&inputs);
	return code;
}

static enum exit_code load_and_report(struct files *files, const struct options *options)
{
	enum exit_code code = EXIT_CODE_OK;

	for (int i = 0; i < options->operand_count; i++)
		code = worse(code, load(files, options->operands[i], options));
	if (files->count == 0)
		return code;
	excuse_gates(files, options);
	code = worse(code, write_outputs(files, options));
	return worse(code, judge(files, options));
}

static enum exit_code run_memory(const struct options *options)
{
	struct files files = { 0 };
	enum exit_code code = flamegraph_check(options, "snapshot or capture");

	if (code != EXIT_CODE_OK)
		return code;
	files.items = calloc((size_t)options->operand_count, sizeof(*files.items));
	if (!files.items) {
		say_nomem();
		return EXIT_CODE_INTERNAL;
	}
	code = load_and_report(&files, options);
	while (files.count > 0)
		unload(&files.items[--files.count]);
	free(files.items);
	return code;
}

const struct command command_memory = {
	.name = "memory",
	.operands = "FILE...",
	.summary = "allocator snapshots, memray captures and other files about memory in depth",
	.run = run_memory,
};
