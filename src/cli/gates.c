/* SPDX-License-Identifier: MIT */
/*
 * From facts to an exit code: the gates that `trace` and `report` evaluate, of each trace or of the
 * run, and those that `diff` evaluates of what changed.
 */
#include "gates.h"

#include "load_run.h"
#include "message.h"

#include <stdlib.h>

enum exit_code diagnose(struct tscope_diagnosis **diagnosis, const struct tscope_analysis *analysis,
			const struct options *options)
{
	const struct tscope_rule_options rules = { options->rule_changes.items,
						   options->rule_changes.count };
	struct tscope_error err = { 0 };
	enum tscope_status status = tscope_diagnose(diagnosis, analysis, &rules, &err);

	if (status != TSCOPE_OK)
		say_error(NULL, &err, "");
	return exit_code_of(status);
}

static enum exit_code allocate(struct gates *gates, const struct options *options)
{
	size_t count = options->gates.count;

	*gates = (struct gates){ .results = calloc(count + 1, sizeof(*gates->results)) };
	if (!gates->results) {
		say_nomem();
		return EXIT_CODE_INTERNAL;
	}
	gates->count = count;
	return EXIT_CODE_OK;
}

enum exit_code gates_evaluate(struct gates *gates, const struct tscope_analysis *analysis,
			      const struct tscope_diagnosis *diagnosis,
			      const struct options *options)
{
	enum exit_code code = allocate(gates, options);

	for (size_t i = 0; i < gates->count; i++)
		gates->results[i] =
			tscope_gate_evaluate(options->gates.items[i], analysis, diagnosis);
	return code;
}

enum exit_code gates_evaluate_change(struct gates *gates, const struct tscope_diff *diff,
				     const struct options *options)
{
	enum exit_code code = allocate(gates, options);

	for (size_t i = 0; i < gates->count; i++)
		gates->results[i] = tscope_gate_evaluate_change(options->gates.items[i], diff,
								options->no_significance);
	return code;
}

void gates_lack(struct gates *gates, const char *why)
{
	for (size_t i = 0; why && i < gates->count; i++)
		tscope_gate_lack(&gates->results[i], why);
}

void gates_deinit(struct gates *gates)
{
	free(gates->results);
	*gates = (struct gates){ 0 };
}

static bool fails(const struct tscope_gate_result *result, const struct options *options)
{
	return !result->held && !(result->is_inconclusive && options->undecided_pass);
}

enum exit_code gates_judge(const struct gates *gates, const char *subject,
			   const struct options *options)
{
	bool is_table_seen = !options->output && options->formats.format == TSCOPE_REPORT_TEXT;
	enum exit_code code = EXIT_CODE_OK;

	for (size_t i = 0; i < gates->count; i++) {
		const struct tscope_gate_result *gate = &gates->results[i];

		if (!fails(gate, options))
			continue;
		code = EXIT_CODE_GATE;
		/* The table says what is undecided, and not whether it fails. */
		if (!is_table_seen || gate->is_inconclusive)
			say_gate(subject, gate->expression,
				 gate->is_inconclusive ? "fails, as it is undecided" : "tripped",
				 gate->reason);
	}
	return code;
}

static bool asks_for_ranks(const struct gates *gates)
{
	bool asks = false;

	for (size_t i = 0; i < gates->count; i++)
		asks |= tscope_gate_is_of_rank(gates->results[i].expression);
	return asks;
}

/* Ranks after the lowest, of which the run's own figures are. */
static enum exit_code judge_ranks(struct gates *gates, const struct tscope_run *run,
				  const struct options *options)
{
	size_t rank_count = asks_for_ranks(gates) ? tscope_run_rank_count(run) : 0;
	enum exit_code code = EXIT_CODE_OK;

	for (size_t rank = 1; rank < rank_count && code == EXIT_CODE_OK; rank++) {
		const struct tscope_analysis *analysis = tscope_run_rank_analysis(run, rank);
		struct tscope_diagnosis *diagnosis = NULL;

		code = diagnose(&diagnosis, analysis, options);
		for (size_t i = 0; code == EXIT_CODE_OK && i < gates->count; i++)
			tscope_gate_judge_rank(&gates->results[i],
					       tscope_run_rank_number(run, rank), analysis,
					       diagnosis);
		tscope_diagnosis_free(diagnosis);
		tscope_run_forget_rank(run, rank);
	}
	return code == EXIT_CODE_OK ? load_judge_ranks(run) : code;
}

enum exit_code judged_fill(struct judged *judged, const struct tscope_run *run,
			   const struct options *options)
{
	enum exit_code code = diagnose(&judged->diagnosis, tscope_run_analysis(run), options);

	if (code != EXIT_CODE_OK)
		return code;
	code = gates_evaluate(&judged->gates, tscope_run_analysis(run), judged->diagnosis, options);
	if (code == EXIT_CODE_OK)
		code = judge_ranks(&judged->gates, run, options);
	gates_lack(&judged->gates, run_lack(run, options));
	return code;
}

void judged_free(struct judged *judged, size_t count)
{
	for (size_t i = 0; judged && i < count; i++) {
		gates_deinit(&judged[i].gates);
		tscope_diagnosis_free(judged[i].diagnosis);
	}
	free(judged);
}
