/* SPDX-License-Identifier: MIT */
/*
 * tscope report: a run and everything that is known of it. Opens the run,
 * diagnoses it, evaluates the gates and reports; the exit code is the worst of
 * what these came to.
 */
#include "command.h"
#include "gates.h"
#include "load_run.h"
#include "message.h"
#include "output.h"
#include "print_facts.h"
#include "terminal.h"

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

static enum exit_code report(const struct tscope_run *run, const struct tscope_diagnosis *diagnosis,
			     const struct options *options)
{
	struct gates gates;
	enum exit_code code = gates_evaluate(&gates, tscope_run_analysis(run), diagnosis, options);
	const struct tscope_run_report of_run = { run, diagnosis, gates.results, gates.count };

	if (code == EXIT_CODE_OK)
		code = worse(write_report(&of_run, options), gates_judge(&gates, NULL, options));
	gates_deinit(&gates);
	return code;
}

static enum exit_code diagnose_and_report(const struct tscope_run *run,
					  const struct options *options)
{
	struct tscope_diagnosis *diagnosis;
	enum exit_code code = diagnose(&diagnosis, tscope_run_analysis(run), options);

	if (code != EXIT_CODE_OK)
		return code;
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
