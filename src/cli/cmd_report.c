/* SPDX-License-Identifier: MIT */
/*
 * tscope report: a run and everything that is known of it, or each of several runs. Opens
 * them, diagnoses, evaluates the gates and reports; the exit code is the worst of what these came
 * to.
 */
#include "command.h"
#include "gates.h"
#include "load_run.h"
#include "message.h"
#include "print_facts.h"
#include "reports.h"

#include <stdlib.h>

static enum tscope_status write_runs(FILE *out, const void *subject,
				     const struct tscope_report_options *options)
{
	return tscope_report_write_runs(out, subject, options, NULL);
}

static enum exit_code write_report(const struct tscope_runs_report *report,
				   const struct options *options)
{
	enum exit_code code;
	struct inputs inputs;

	inputs_init(&inputs, options);
	inputs_add_runs(&inputs, report->runs);
	code = reports_write(&(struct report_writer){ write_runs, report }, &inputs, options);
	inputs_deinit(&inputs);
	return code;
}

/* The path of a run's first file, which names its gates among those of other runs. */
static const char *subject_of(const struct tscope_runs *runs, size_t index)
{
	return tscope_runs_count(runs) > 1 ? tscope_run_input(tscope_runs_get(runs, index), 0).path
					   : NULL;
}

/* Judges the runs one by one and reports all of them at once. */
static enum exit_code report(const struct tscope_runs *runs, struct judged *judged,
			     struct tscope_run_report *reports, const struct options *options)
{
	const struct tscope_runs_report report = { runs, reports };
	size_t count = tscope_runs_count(runs);
	enum exit_code code = EXIT_CODE_OK;

	for (size_t i = 0; i < count && code == EXIT_CODE_OK; i++) {
		code = judged_fill(&judged[i], tscope_runs_get(runs, i), options);
		reports[i] =
			(struct tscope_run_report){ tscope_runs_get(runs, i), judged[i].diagnosis,
						    judged[i].gates.results,
						    judged[i].gates.count };
	}
	if (code != EXIT_CODE_OK)
		return code;
	code = write_report(&report, options);
	for (size_t i = 0; i < count; i++) {
		code = worse(code, load_judge_ranks(tscope_runs_get(runs, i)));
		say_lone_rank(tscope_runs_get(runs, i), options);
	}
	for (size_t i = 0; i < count; i++)
		code = worse(code, gates_judge(&judged[i].gates, subject_of(runs, i), options));
	return code;
}

static enum exit_code judge_and_report(const struct tscope_runs *runs,
				       const struct options *options)
{
	size_t count = tscope_runs_count(runs);
	struct judged *judged = calloc(count, sizeof(*judged));
	struct tscope_run_report *reports = calloc(count, sizeof(*reports));
	enum exit_code code = EXIT_CODE_INTERNAL;

	if (judged && reports)
		code = report(runs, judged, reports, options);
	else
		say_nomem();
	judged_free(judged, count);
	free(reports);
	return code;
}

/* Does any run have the rank whose sections are asked for? */
static bool has_rank(const struct tscope_runs *runs, const struct tscope_rank_choice *rank)
{
	for (size_t i = 0; rank->is_chosen && i < tscope_runs_count(runs); i++)
		for (size_t k = 0; k < tscope_run_rank_count(tscope_runs_get(runs, i)); k++)
			if (tscope_run_rank_number(tscope_runs_get(runs, i), k) ==
			    (int64_t)rank->number)
				return true;
	return !rank->is_chosen;
}

/* "tscope: --rank 7: no file of that rank was read; ranks 0 to 3 were" */
static void say_ranks(const struct tscope_runs *runs, const struct tscope_rank_choice *rank)
{
	char text[96];
	int64_t lowest = INT64_MAX, highest = -1;

	for (size_t i = 0; i < tscope_runs_count(runs); i++) {
		for (size_t k = 0; k < tscope_run_rank_count(tscope_runs_get(runs, i)); k++) {
			int64_t number = tscope_run_rank_number(tscope_runs_get(runs, i), k);
			lowest = number < lowest ? number : lowest;
			highest = number > highest ? number : highest;
		}
	}
	if (highest < 0)
		snprintf(text, sizeof(text), " %llu: no file says its rank",
			 (unsigned long long)rank->number);
	else if (lowest == highest)
		snprintf(text, sizeof(text),
			 " %llu: no file of that rank was read, only of rank %lld",
			 (unsigned long long)rank->number, (long long)lowest);
	else
		snprintf(text, sizeof(text),
			 " %llu: no file of that rank was read; the lowest is %lld, the highest "
			 "%lld",
			 (unsigned long long)rank->number, (long long)lowest, (long long)highest);
	say_option("rank", text);
}

static enum exit_code run_report(const struct options *options)
{
	struct tscope_runs *loaded;
	enum exit_code code;

	if (options->list_facts && options->operand_count > 0) {
		say("--list-facts reads no file: ", options->operands[0], " is one too many");
		return EXIT_CODE_USAGE;
	}
	if (options->list_facts) {
		print_facts();
		return EXIT_CODE_OK;
	}
	code = load_runs(&loaded, options, true);
	if (loaded && !has_rank(loaded, &options->rank)) {
		say_ranks(loaded, &options->rank);
		code = EXIT_CODE_USAGE;
	} else if (loaded)
		code = worse(code, judge_and_report(loaded, options));
	tscope_runs_free(loaded);
	return code;
}

const struct command command_report = {
	.name = "report",
	.operands = "PATH...",
	.summary = "a run: all its ranks and signals, what is wrong, and gates for CI",
	.run = run_report,
};
