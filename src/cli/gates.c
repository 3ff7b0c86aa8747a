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

/* The most that a gate needs of each rank. */
static enum tscope_gate_need need_of(const struct gates *gates,
				     enum tscope_gate_need (*need_of_one)(const char *expression))
{
	enum tscope_gate_need most = TSCOPE_GATE_NEEDS_NO_RANK;

	for (size_t i = 0; i < gates->count; i++) {
		enum tscope_gate_need need = need_of_one(gates->results[i].expression);

		most = need > most ? need : most;
	}
	return most;
}

/* Ranks after the lowest, of which the sides' own figures are. */
static enum exit_code judge_rank_changes(struct gates *gates, const struct tscope_diff *diff,
					 const struct options *options)
{
	const struct tscope_rule_options rules = { options->rule_changes.items,
						   options->rule_changes.count };
	enum tscope_gate_need need = need_of(gates, tscope_gate_need_change);
	size_t rank_count = need == TSCOPE_GATE_NEEDS_NO_RANK
				    ? 0
				    : tscope_diff_side(diff, TSCOPE_SIDE_B).rank_count;
	enum tscope_status status = TSCOPE_OK;
	struct tscope_error err = { 0 };

	for (size_t rank = 1; rank < rank_count && status == TSCOPE_OK; rank++) {
		struct tscope_diff *rank_diff = NULL;

		status = tscope_diff_open_rank(&rank_diff, diff, rank,
					       need == TSCOPE_GATE_NEEDS_FINDINGS ? &rules : NULL,
					       &err);
		for (size_t i = 0; status == TSCOPE_OK && i < gates->count; i++)
			tscope_gate_judge_rank_change(&gates->results[i], rank_diff,
						      options->no_significance);
		tscope_diff_free(rank_diff);
	}
	if (status != TSCOPE_OK)
		say_error(NULL, &err, "");
	return exit_code_of(status);
}

enum exit_code gates_evaluate_change(struct gates *gates, const struct tscope_diff *diff,
				     const struct options *options)
{
	enum exit_code code = allocate(gates, options);

	for (size_t i = 0; i < gates->count; i++)
		gates->results[i] = tscope_gate_evaluate_change(options->gates.items[i], diff,
								options->no_significance);
	return code == EXIT_CODE_OK ? judge_rank_changes(gates, diff, options) : code;
}

void gates_lack(struct gates *gates, const char *why)
{
	for (size_t i = 0; why && i < gates->count; i++)
		tscope_gate_lack(&gates->results[i], why);
}

void gates_lack_ranks(struct gates *gates, const char *why,
		      enum tscope_gate_need (*need_of_gate)(const char *expression))
{
	for (size_t i = 0; why && i < gates->count; i++)
		if (need_of_gate(gates->results[i].expression) != TSCOPE_GATE_NEEDS_NO_RANK)
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

/* Ranks after the lowest, of which the run's own figures are. */
static enum exit_code judge_ranks(struct gates *gates, const struct tscope_run *run,
				  const struct options *options)
{
	enum tscope_gate_need need = need_of(gates, tscope_gate_need);
	size_t rank_count = need == TSCOPE_GATE_NEEDS_NO_RANK ? 0 : tscope_run_rank_count(run);
	enum exit_code code = EXIT_CODE_OK;

	for (size_t rank = 1; rank < rank_count && code == EXIT_CODE_OK; rank++) {
		const struct tscope_analysis *analysis = tscope_run_rank_analysis(run, rank);
		struct tscope_diagnosis *diagnosis = NULL;

		if (need == TSCOPE_GATE_NEEDS_FINDINGS)
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
	gates_lack(&judged->gates, run_lone_rank(run));
	gates_lack_ranks(&judged->gates, tscope_run_unsaved_ranks(run), tscope_gate_need);
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
