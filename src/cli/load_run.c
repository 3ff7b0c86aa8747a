/* SPDX-License-Identifier: MIT */
/*
 * From the command line to a run: what `report`, `export` and `diff` begin with. A
 * file of a folder that cannot be read keeps nobody from the rest, but with
 * --strict it decides the exit code, as do damage and lost events.
 */
#include "load_run.h"

#include "loss.h"
#include "message.h"
#include "progress.h"

static enum exit_code judge_other(const struct tscope_run_other *other, bool is_strict)
{
	if (!other->is_problem)
		return EXIT_CODE_OK;
	say_about(other->path, other->reason, "; it is not in the report");
	return is_strict || other->is_named ? EXIT_CODE_INPUT : EXIT_CODE_OK;
}

enum exit_code judge_run(const struct tscope_run *run, const struct options *options)
{
	enum exit_code code = EXIT_CODE_OK;
	bool is_strict = options->strict;

	for (size_t i = 0; i < tscope_run_input_count(run); i++) {
		struct tscope_run_input input = tscope_run_input(run, i);

		code = worse(code, judge_loss(input.path,
					      &(struct loss){ input.damage, input.dropped_count,
							      tscope_input_kind_unit(input.kind) },
					      is_strict));
	}
	for (size_t i = 0; i < tscope_run_other_count(run); i++) {
		struct tscope_run_other other = tscope_run_other(run, i);

		code = worse(code, judge_other(&other, is_strict));
	}
	return code;
}

struct tscope_run_options load_run_options(const struct options *options)
{
	const struct tscope_rule_options rules = { options->rule_changes.items,
						   options->rule_changes.count };
	struct tscope_run_options run_options = {
		.trace = options->trace,
		.timeline = options->timeline,
		.analysis = options->analysis,
	};

	/* The rule's threshold is the analyzer's, too: what it lists is what the rule tells. */
	run_options.analysis.slow_rank_min_excess =
		tscope_rule_value(&rules, "DIST.STRAGGLER", "threshold");
	return run_options;
}

enum exit_code load_run(struct tscope_run **run, const struct options *options)
{
	struct tscope_run_options run_options = load_run_options(options);
	struct progress progress;
	struct tscope_error err = { 0 };
	enum tscope_status status;

	*run = NULL;
	progress_start(&progress, options, &run_options.trace);
	progress.is_of_many = true;
	status = tscope_run_open(run, (const char *const *)options->operands,
				 (size_t)options->operand_count, &run_options, &err);
	progress_stop(&progress);
	if (status != TSCOPE_OK) {
		say_error(NULL, &err, ""); /* the message names the paths that it speaks of */
		return exit_code_of(status);
	}
	return judge_run(*run, options);
}
