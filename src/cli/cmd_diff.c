/* SPDX-License-Identifier: MIT */
/*
 * tscope diff: what changed from A to B. Opens the sides, compares them, evaluates the gates on
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

#include <stdio.h>

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

	if (side->saved_damage)
		say_about(side->path, side->saved_damage, "; it was saved from what could be read");
	if (side->saved_missing_ranks)
		say_about(side->path, side->saved_missing_ranks, "");
	return is_strict && (side->saved_damage || side->saved_missing_ranks) ? EXIT_CODE_INPUT
									      : code;
}

/* Result of opening the sides. */
struct comparing {
	const struct options *options;
	struct progress progress;
	struct inputs inputs;
	bool is_trend;
	char lack[256]; /* what gates do not know, or "" */
	enum exit_code code;
};

/* Why a side is not whole, or NULL. */
static const char *lack_of(const struct tscope_diff_side *side, const struct options *options)
{
	if (side->run && run_lack(side->run, options))
		return run_lack(side->run, options);
	if (side->saved_missing_ranks)
		return side->saved_missing_ranks;
	return side->saved_damage || side->saved_dropped_count > 0
		       ? "what the report was saved of was damaged"
		       : NULL;
}

/* Says what of a side is damaged. A trend leaves such runs out, unless it is about them. */
static void judge_side(void *data, const struct tscope_diff_side *side)
{
	struct comparing *c = data;
	const char *lack = c->is_trend ? NULL : lack_of(side, c->options);

	progress_clear(&c->progress);
	c->code = worse(c->code, side->run ? judge_run(side->run, c->options)
					   : judge_saved(side, c->options->strict));
	if (side->run)
		inputs_add_run(&c->inputs, side->run);
	if (lack)
		snprintf(c->lack, sizeof(c->lack), "%s", lack);
}

/* Lines of a history are no side, and what is wrong with them stands with the first. */
static void judge_trend(struct comparing *c, const struct tscope_diff *diff)
{
	const struct tscope_diff_side a = tscope_diff_side(diff, TSCOPE_SIDE_A);
	const struct tscope_diff_side b = tscope_diff_side(diff, TSCOPE_SIDE_B);
	const char *lack =
		lack_of(&a, c->options) ? lack_of(&a, c->options) : lack_of(&b, c->options);

	c->code = worse(c->code, judge_saved(&a, c->options->strict));
	if (lack)
		snprintf(c->lack, sizeof(c->lack), "%s", lack);
}

/* Opens all sides; *diff is NULL where it cannot go on. */
static void load(struct tscope_diff **diff, struct comparing *c,
		 enum tscope_status (*open)(struct tscope_diff **ret, const char *const *paths,
					    size_t count, const struct tscope_diff_options *options,
					    struct tscope_error *err))
{
	const struct options *options = c->options;
	struct tscope_diff_options diff_options = {
		.run = load_run_options(options),
		.rules = { options->rule_changes.items, options->rule_changes.count },
		.loss_tolerance = options->loss_tolerance,
		.trend_runs = options->trend_runs,
		.on_side = judge_side,
		.on_side_data = c,
	};
	struct tscope_error err = { 0 };
	enum tscope_status status;

	*diff = NULL;
	progress_start(&c->progress, options, &diff_options.run.trace);
	c->progress.is_of_many = true;
	status = open(diff, (const char *const *)options->operands, (size_t)options->operand_count,
		      &diff_options, &err);
	progress_stop(&c->progress);
	if (status != TSCOPE_OK) {
		say_error(NULL, &err, ""); /* the message names the side */
		c->code = exit_code_of(status);
	} else if (c->is_trend) {
		judge_trend(c, *diff);
	}
}

static enum tscope_status write_diff(FILE *out, const void *subject,
				     const struct tscope_report_options *options)
{
	return tscope_report_write_diff(out, subject, options, NULL);
}

/* Why several ranks do not compare with one of several, or NULL. */
static const char *lack_of_ranks(const struct tscope_diff_side *a, const struct tscope_diff_side *b)
{
	if (a->rank_count > 1 && b->alone)
		return b->alone;
	if (b->rank_count > 1)
		return a->alone;
	return NULL;
}

static enum exit_code report(const struct tscope_diff *diff, struct comparing *c)
{
	const struct tscope_diff_side a = tscope_diff_side(diff, TSCOPE_SIDE_A);
	const struct tscope_diff_side b = tscope_diff_side(diff, TSCOPE_SIDE_B);
	struct gates gates;
	enum exit_code code = gates_evaluate_change(&gates, diff, c->options);
	const struct tscope_diff_report comparison = { diff, gates.results, gates.count };
	const struct report_writer writer = { write_diff, &comparison };

	gates_lack(&gates, *c->lack ? c->lack : NULL);
	gates_lack(&gates, lack_of_ranks(&a, &b));
	gates_lack_ranks(&gates, b.unsaved_ranks ? b.unsaved_ranks : a.unsaved_ranks,
			 tscope_gate_need_change);
	if (code == EXIT_CODE_OK)
		code = worse(reports_write(&writer, &c->inputs, c->options),
			     gates_judge(&gates, NULL, c->options));
	gates_deinit(&gates);
	return code;
}

enum exit_code diff_report(enum tscope_status (*open)(struct tscope_diff **ret,
						      const char *const *paths, size_t count,
						      const struct tscope_diff_options *options,
						      struct tscope_error *err),
			   const struct options *options)
{
	struct comparing c = { .options = options, .is_trend = open == tscope_trend_open };
	struct tscope_diff *diff;

	inputs_init(&c.inputs, options);
	load(&diff, &c, open);
	if (diff)
		c.code = worse(c.code, report(diff, &c));
	tscope_diff_free(diff);
	inputs_deinit(&c.inputs);
	return c.code;
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
