/* SPDX-License-Identifier: MIT */
/*
 * tscope report: a run and everything that is known of it. Opens the run,
 * diagnoses it, evaluates the gates and reports; the exit code is the worst of
 * what these came to.
 */
#include "command.h"
#include "load_run.h"
#include "message.h"
#include "output.h"
#include "print_facts.h"
#include "terminal.h"

#include <stdlib.h>

static enum exit_code write_report(const struct tscope_run_report *report,
				   const struct options *options)
{
	struct tscope_report_options report_options = terminal_report_options(options);
	enum exit_code code;
	struct output out;

	if (!output_open(&out, options->output))
		return EXIT_CODE_OUTPUT;
	/* A failed write stays with the stream, and commit says why. */
	code = exit_code_of(tscope_report_write_run(out.stream, report, &report_options, NULL));
	return output_commit(&out) ? code : EXIT_CODE_OUTPUT;
}

/* A tripped gate is said here, too, where the reader of the job's log does not see the report. */
static enum exit_code judge_gates(const struct tscope_gate_result *gates, size_t count,
				  const struct options *options)
{
	bool is_table_seen = !options->output && options->format == TSCOPE_REPORT_TEXT;
	enum exit_code code = EXIT_CODE_OK;

	for (size_t i = 0; i < count; i++) {
		if (gates[i].held)
			continue;
		code = EXIT_CODE_GATE;
		if (!is_table_seen)
			say_tripped(gates[i].expression, gates[i].reason);
	}
	return code;
}

static enum exit_code report(const struct tscope_run *run, const struct tscope_diagnosis *diagnosis,
			     const struct options *options)
{
	size_t count = options->gates.count;
	struct tscope_gate_result *gates = calloc(count + 1, sizeof(*gates));
	enum exit_code code;

	if (!gates) {
		say_nomem();
		return EXIT_CODE_INTERNAL;
	}
	for (size_t i = 0; i < count; i++)
		gates[i] = tscope_gate_evaluate(options->gates.items[i], tscope_run_analysis(run),
						diagnosis);
	code = write_report(&(struct tscope_run_report){ run, diagnosis, gates, count }, options);
	code = worse(code, judge_gates(gates, count, options));
	free(gates);
	return code;
}

static enum exit_code diagnose_and_report(const struct tscope_run *run,
					  const struct options *options)
{
	const struct tscope_rule_options rules = { options->rule_changes.items,
						   options->rule_changes.count };
	struct tscope_diagnosis *diagnosis;
	struct tscope_error err = { 0 };
	enum tscope_status status =
		tscope_diagnose(&diagnosis, tscope_run_analysis(run), &rules, &err);
	enum exit_code code;

	if (status != TSCOPE_OK) {
		say_error(NULL, &err, "");
		return exit_code_of(status);
	}
	code = report(run, diagnosis, options);
	tscope_diagnosis_free(diagnosis);
	return code;
}

static enum exit_code run(const struct options *options)
{
	struct tscope_run *loaded;
	enum exit_code code;

	if (options->list_facts && options->operand_count > 0) {
		say("--list-facts reads no file: ", options->operands[0], " is one too many");
		return EXIT_CODE_USAGE;
	}
	if (options->list_facts) {
		print_facts();
		return EXIT_CODE_OK;
	}
	code = load_run(&loaded, options);
	if (loaded)
		code = worse(code, diagnose_and_report(loaded, options));
	tscope_run_free(loaded);
	return code;
}

const struct command command_report = {
	.name = "report",
	.operands = "PATH...",
	.summary = "a run: all its ranks and signals, what is wrong, and gates for CI",
	.run = run,
};
