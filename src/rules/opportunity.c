/* SPDX-License-Identifier: MIT */
#include "rules/opportunity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/print_text.h"
#include "base/scaled_text.h"
#include "base/str.h"
#include "rules/operator_words.h"

#define LAUNCHERS "opportunities.by_operator"

enum { SHOWN_LAUNCHERS = 3, NAME_BYTES = 64, WORDS_BYTES = 320 };

double tsi_opportunity_share(const struct rule_context *ctx, const char *fact)
{
	double wall_ns = tsi_rule_real(ctx, "opportunities.wall_total_ns");

	return wall_ns > 0 ? tsi_rule_real(ctx, fact) / wall_ns : NAN;
}

double tsi_opportunity_count(const struct rule_context *ctx, const char *fact)
{
	double step_count = tsi_rule_real(ctx, "opportunities.step_count");

	return step_count > 0 ? tsi_rule_real(ctx, fact) / step_count : NAN;
}

static const char *text(const struct rule_context *ctx, size_t row, const char *column)
{
	return tsi_rule_cell_text(ctx, LAUNCHERS, row, column);
}

static int64_t integer(const struct rule_context *ctx, size_t row, const char *column)
{
	struct tscope_value value = tsi_rule_cell(ctx, LAUNCHERS, row, column);

	return value.kind == TSCOPE_VALUE_INT ? value.integer : 0;
}

static void set_subject(struct rule_context *ctx, size_t row)
{
	struct tscope_subject *subject = tsi_rule_subject(ctx);
	const char *op = text(ctx, row, "operator");

	if (*op)
		subject->op = op;
	subject->kernel = text(ctx, row, "event");
}

/*
 * "3.20 ms per step in aten::mul, 1.10 ms in aten::add"; events without an operator go by their own
 * name.
 */
static void append_launcher(const struct rule_context *ctx, size_t row, const char *where,
			    char words[WORDS_BYTES])
{
	double step_count = tsi_rule_real(ctx, "opportunities.step_count");
	const char *op = text(ctx, row, "operator");
	char name[NAME_BYTES];

	tsi_print_text(name, sizeof(name), "%s",
		       *op ? op : tsi_kernel_words(text(ctx, row, "event")).text);
	tsi_append_text(words, WORDS_BYTES, *words ? ", %s %s %s" : "%s per step %s %s",
			tsi_time_text((double)integer(ctx, row, "ns") / step_count).chars, where,
			name);
}

/* Where the longest event of a launcher is. */
static void describe_site(struct rule_context *ctx, size_t row)
{
	const char *op = text(ctx, row, "operator");
	char words[NAME_BYTES + 16];

	tsi_print_text(words, sizeof(words), "the longest%s%.63s", *op ? " " : "", op);
	tsi_rule_site(ctx, LAUNCHERS, row, words);
}

void tsi_blame_launchers(struct rule_context *ctx, const char *remedy)
{
	size_t rows[SHOWN_LAUNCHERS], shown = 0;
	const char *where = strcmp(remedy, "launch_less") == 0 ? "before" : "in";
	char words[WORDS_BYTES] = "";

	for (size_t row = 0; row < tsi_rule_rows(ctx, LAUNCHERS) && shown < SHOWN_LAUNCHERS;
	     row++) {
		if (strcmp(text(ctx, row, "remedy"), remedy) != 0)
			continue;
		if (!shown)
			set_subject(ctx, row);
		rows[shown++] = row;
		append_launcher(ctx, row, where, words);
		tsi_rule_place(ctx, integer(ctx, row, "start_ns"), integer(ctx, row, "longest_ns"));
	}
	if (!shown)
		return;
	tsi_rule_detail(ctx, "%s", words);
	for (size_t i = 0; i < shown; i++)
		describe_site(ctx, rows[i]);
}
