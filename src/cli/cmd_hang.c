/* SPDX-License-Identifier: MIT */
/*
 * tscope hang: reads flight-recorder dumps and says who keeps the job from going on. Exit code 1
 * where it hangs, as if a gate had tripped.
 */
#include "command.h"
#include "gates.h"
#include "loss.h"
#include "message.h"
#include "reports.h"

/* Everything derived from the dumps, each from the one before. */
struct loaded {
	struct tscope_hang *hang;
	struct tscope_analysis *analysis;
	struct tscope_diagnosis *diagnosis;
	struct gates gates;
};

static void unload(struct loaded *loaded)
{
	gates_deinit(&loaded->gates);
	tscope_diagnosis_free(loaded->diagnosis);
	tscope_analysis_free(loaded->analysis);
	tscope_hang_free(loaded->hang);
}

static enum exit_code load(struct loaded *loaded, const struct options *options)
{
	struct tscope_error err = { 0 };
	enum tscope_status status =
		tscope_hang_open(&loaded->hang, (const char *const *)options->operands,
				 (size_t)options->operand_count, &options->trace, &err);
	enum exit_code code;

	if (status == TSCOPE_OK)
		status = tscope_hang_analyze(&loaded->analysis, loaded->hang, &options->analysis,
					     &err);
	if (status != TSCOPE_OK) {
		say_error(NULL, &err, ""); /* the message names the paths */
		return exit_code_of(status);
	}
	code = diagnose(&loaded->diagnosis, loaded->analysis, options);
	if (code == EXIT_CODE_OK)
		code = gates_evaluate(&loaded->gates, loaded->analysis, loaded->diagnosis, options);
	return code;
}

static enum tscope_status write_hang(FILE *out, const void *subject,
				     const struct tscope_report_options *options)
{
	return tscope_report_write_hang(out, subject, options, NULL);
}

static enum exit_code report(const struct loaded *loaded, const struct options *options)
{
	const struct tscope_hang_report subject = { loaded->hang, loaded->analysis,
						    loaded->diagnosis, loaded->gates.results,
						    loaded->gates.count };
	enum exit_code code;
	struct inputs inputs;

	inputs_init(&inputs, options);
	for (size_t i = 0; i < tscope_hang_input_count(loaded->hang); i++)
		inputs_add(&inputs, tscope_hang_input(loaded->hang, i).path);
	code = reports_write(&(struct report_writer){ write_hang, &subject }, &inputs, options);
	inputs_deinit(&inputs);
	return code;
}

/* Ranks without a readable dump may hang where the others do not: then nothing is known. */
static enum exit_code judge_missing(const struct loaded *loaded, bool is_hang, bool is_strict)
{
	struct tscope_value missing = { 0 };

	(void)tscope_analysis_find(loaded->analysis, "hang.missing_count", &missing, NULL);
	if (is_hang || missing.integer == 0)
		return EXIT_CODE_OK;
	say_about(tscope_hang_path(loaded->hang),
		  "dumps of some ranks are missing: whether these hang is not known", "");
	return is_strict ? EXIT_CODE_INPUT : EXIT_CODE_OK;
}

/* A dump that cannot be read is said; with --strict it decides the exit code, too. */
static enum exit_code judge(const struct loaded *loaded, const struct options *options)
{
	struct tscope_value is_hang = { 0 };
	enum exit_code code = gates_judge(&loaded->gates, NULL, options);

	for (size_t i = 0; i < tscope_hang_input_count(loaded->hang); i++) {
		struct tscope_hang_input input = tscope_hang_input(loaded->hang, i);
		const struct loss loss = { NULL, input.dropped_count, "entries" };

		code = worse(code, judge_loss(input.path, &loss, options->strict));
		if (!input.failure)
			continue;
		say_error(input.path, input.failure, "; what its rank called is not known");
		if (options->strict)
			code = worse(code, EXIT_CODE_INPUT);
	}
	(void)tscope_analysis_find(loaded->analysis, "hang.is_hang", &is_hang, NULL);
	code = worse(code, judge_missing(loaded, is_hang.flag, options->strict));
	return is_hang.flag ? worse(code, EXIT_CODE_GATE) : code;
}

static enum exit_code run_hang(const struct options *options)
{
	struct loaded loaded = { 0 };
	enum exit_code code = load(&loaded, options);

	if (code == EXIT_CODE_OK) {
		code = report(&loaded, options);
		code = worse(code, judge(&loaded, options));
	}
	unload(&loaded);
	return code;
}

const struct command command_hang = {
	.name = "hang",
	.operands = "DIR|FILE...",
	.summary = "flight-recorder dumps: why does the job stand still, and who is to blame",
	.run = run_hang,
};
