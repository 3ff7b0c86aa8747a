/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_GATES_H
#define TSCOPE_CLI_GATES_H

#include "exit_code.h"
#include "options.h"

/* Results of the --fail-on gates, in their order. */
struct gates {
	struct tscope_gate_result *results;
	size_t count;
};

/* Diagnoses an analysis with the --rule options. Returns EXIT_CODE_OK, or says what is wrong. */
enum exit_code diagnose(struct tscope_diagnosis **diagnosis, const struct tscope_analysis *analysis,
			const struct options *options);

/* Evaluates the gates. Returns EXIT_CODE_OK, or says what is wrong; end with gates_deinit(). */
enum exit_code gates_evaluate(struct gates *gates, const struct tscope_analysis *analysis,
			      const struct tscope_diagnosis *diagnosis,
			      const struct options *options);
/* As above, for gates on a comparison. */
enum exit_code gates_evaluate_change(struct gates *gates, const struct tscope_diff *diff,
				     const struct options *options);
/* Leaves gates that hold undecided, as the input is not whole: why. NULL: it is. */
void gates_lack(struct gates *gates, const char *why);
/* Likewise of those that are about single ranks, as something is known only of all together. */
void gates_lack_ranks(struct gates *gates, const char *why,
		      enum tscope_gate_need (*need_of_gate)(const char *expression));
void gates_deinit(struct gates *gates);

/*
 * The exit code that the gates call for. Also prints tripped gates to standard error if the report
 * does not go to the job's log. subject: the file, NULL if there is only one.
 */
enum exit_code gates_judge(const struct gates *gates, const char *subject,
			   const struct options *options);

/* A run's findings and gates. */
struct judged {
	struct tscope_diagnosis *diagnosis;
	struct gates gates;
};

/* Diagnoses a run and evaluates its gates. Returns EXIT_CODE_OK, or says what is wrong. */
enum exit_code judged_fill(struct judged *judged, const struct tscope_run *run,
			   const struct options *options);
/* An array of calloc(), filled or not; or NULL. */
void judged_free(struct judged *judged, size_t count);

#endif
