/* SPDX-License-Identifier: MIT */
/*
 * tscope diff: what changed from A to B. Opens both sides, compares them, evaluates the gates on
 * what changed and reports; the exit code is the worst of what these came to.
 */
#include "command.h"
#include "diff_report.h"
#include "gates.h"
#include "load_run.h"
#include "loss.h"
#include "message.h"
#include "progress.h"
#include "reports.h"

static enum exit_code check_operands(const struct options *options)
{
	if (options->operand_count >= TSCOPE_SIDE_COUNT)
		return EXIT_CODE_OK;
	say("diff compares two or more: nothing was given to compare ", options->operands[0],
	    " with");
	return EXIT_CODE_USAGE;
}

/* The files that a saved report was made of count as those of a run do. */
static enum exit_code judge_saved(const struct tscope_diff_side *side, bool is_strict)
{
	const struct loss loss = { NULL, side->saved_dropped_count, "records" };
	enum exit_code code = judge_loss(side->path, &loss, is_strict);

	if (!side->saved_damage)
		return code;
	say_about(side->path, side->saved_damage, "; it was saved from what could be read");
	return is_strict ? EXIT_CODE_INPUT : code;
}

/* Opens both sides, and says what of them is damaged; *diff is NULL where it cannot go on. */
static enum exit_code load(struct tscope_diff **diff,
			   enum tscope_status (*open)(struct tscope_diff **ret,
						      const char *const *paths, size_t count,
						      const struct tscope_diff_options *options,
						      struct tscope_error *err),
			   const struct options *options)
{
	struct tscope_diff_options diff_options = {
		.run = load_run_options(options),
		.rules = { options->rule_changes.items, options->rule_changes.count },
		.loss_tolerance = options->loss_tolerance,
		.trend_runs = options->trend_runs,
	};
	enum exit_code code = EXIT_CODE_OK;
	struct tscope_error err = { 0 };
	struct progress progress;
	enum tscope_status status;

	*diff = NULL;
	progress_start(&progress, options, &diff_options.run.trace);
	progress.is_of_many = true;
	status = open(diff, (const char *const *)options->operands, (size_t)options->operand_count,
		      &diff_options, &err);
	progress_stop(&progress);
	if (status != TSCOPE_OK) {
		say_error(NULL, &err, ""); /* the message names the side */
		return exit_code_of(status);
	}
	for (enum tscope_side i = TSCOPE_SIDE_A; i < TSCOPE_SIDE_COUNT; i++) {
		struct tscope_diff_side side = tscope_diff_side(*diff, i);

		code = worse(code, side.run ? judge_run(side.run, options)
					    : judge_saved(&side, options->strict));
	}
	return code;
}

static enum tscope_status write_diff(FILE *out, const void *subject,
				     const struct tscope_report_options *options)
{
	return tscope_report_write_diff(out, subject, options, NULL);
}

static enum exit_code write_report(const struct tscope_diff_report *report,
				   const struct options *options)
{
	enum exit_code code;
	struct inputs inputs;

	inputs_init(&inputs, options);
	for (enum tscope_side i = TSCOPE_SIDE_A; i < TSCOPE_SIDE_COUNT; i++) {
		struct tscope_diff_side side = tscope_diff_side(report->diff, i);

		if (side.run)
			inputs_add_run(&inputs, side.run);
	}
	code = reports_write(&(struct report_writer){ write_diff, report }, &inputs, options);
	inputs_deinit(&inputs);
	return code;
}

static enum exit_code report(const struct tscope_diff *diff, const struct options *options)
{
	struct gates gates;
	enum exit_code code = gates_evaluate_change(&gates, diff, options);
	const struct tscope_diff_report of_diff = { diff, gates.results, gates.count };

	for (enum tscope_side i = TSCOPE_SIDE_A; i < TSCOPE_SIDE_COUNT; i++) {
		struct tscope_diff_side side = tscope_diff_side(diff, i);

		if (side.run)
			gates_lack(&gates, tscope_run_incomplete(side.run));
		else if (side.saved_damage || side.saved_dropped_count > 0)
			gates_lack(&gates, "what the report was saved of was damaged");
	}
	if (code == EXIT_CODE_OK)
		code = worse(write_report(&of_diff, options), gates_judge(&gates, NULL, options));
	gates_deinit(&gates);
	return code;
}

enum exit_code diff_report(enum tscope_status (*open)(struct tscope_diff **ret,
						      const char *const *paths, size_t count,
						      const struct tscope_diff_options *options,
						      struct tscope_error *err),
			   const struct options *options)
{
	struct tscope_diff *diff;
	enum exit_code code = load(&diff, open, options);

	if (diff)
		code = worse(code, report(diff, options));
	tscope_diff_free(diff);
	return code;
}

static enum exit_code run_diff(const struct options *options)
{
	enum exit_code code = check_operands(options);

	return code == EXIT_CODE_OK ? diff_report(tscope_diff_open_many, options) : code;
}

const struct command command_diff = {
	.name = "diff",
	.operands = "A B [C...]",
	.summary = "two runs or saved reports: what changed, is it real, what explains it",
	.run = run_diff,
};
