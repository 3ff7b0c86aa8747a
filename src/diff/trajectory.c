/* SPDX-License-Identifier: MIT */
/* Finds where the losses of two runs diverge. */
#include "diff/trajectory.h"

#include <math.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/attributes.h"
#include "diff/comparison.h"

/* Goes through the losses of one side. */
struct cursor {
	struct table_view steps;
	size_t step_column, loss_column, text_column;
	size_t row;
};

static struct cursor open_cursor(const struct tscope_analysis *analysis)
{
	struct table_view steps = tsi_lookup_table(analysis, "series.steps");

	return (struct cursor){
		.steps = steps,
		.step_column = tsi_table_column(&steps, "step"),
		.loss_column = tsi_table_column(&steps, "loss"),
		.text_column = tsi_table_column(&steps, "loss_text"),
	};
}

static bool loss_of_text(struct tscope_value value, double *loss)
{
	static const struct {
		const char *text;
		double loss;
	} known[] = {
		{ "NaN", NAN },
		{ "Infinity", INFINITY },
		{ "-Infinity", -INFINITY },
	};

	for (size_t i = 0; value.kind == TSCOPE_VALUE_TEXT && i < TSI_COUNT_OF(known); i++) {
		if (strcmp(value.text, known[i].text) != 0)
			continue;
		*loss = known[i].loss;
		return true;
	}
	return false;
}

/* False at the end. */
static bool next_loss(struct cursor *cursor, struct trajectory_loss *ret)
{
	const struct table_view *steps = &cursor->steps;

	while (cursor->row < steps->row_count) {
		size_t row = cursor->row++;
		struct tscope_value step = tsi_table_cell(steps, row, cursor->step_column);
		double loss;

		if (!tsi_diff_number(tsi_table_cell(steps, row, cursor->loss_column), &loss) &&
		    !loss_of_text(tsi_table_cell(steps, row, cursor->text_column), &loss))
			continue;
		*ret = (struct trajectory_loss){
			.loss = loss,
			.step = step.integer,
			.has_step = step.kind == TSCOPE_VALUE_INT,
		};
		return true;
	}
	return false;
}

static bool are_equal(double a, double b, double tolerance)
{
	if (!isfinite(a) || !isfinite(b))
		return (isnan(a) && isnan(b)) || a == b;
	return a == b || fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

static enum trajectory_relation relation_of(const struct trajectories *t, bool differs)
{
	if (t->a_count == 0 && t->b_count == 0)
		return TRAJECTORY_UNKNOWN;
	if (t->a_count == 0 || t->b_count == 0)
		return TRAJECTORY_ONE_SIDE;
	if (differs)
		return TRAJECTORY_DIFFERS;
	return t->a_count == t->b_count ? TRAJECTORY_EQUAL : TRAJECTORY_PREFIX;
}

struct trajectories tsi_compare_trajectories(const struct tscope_analysis *a,
					     const struct tscope_analysis *b, double tolerance)
{
	struct cursor a_cursor = open_cursor(a), b_cursor = open_cursor(b);
	struct trajectories t = { 0 };
	bool has_parted = false, differs = false;

	for (;;) {
		struct trajectory_loss a_loss = { 0 }, b_loss = { 0 };
		bool has_a = next_loss(&a_cursor, &a_loss), has_b = next_loss(&b_cursor, &b_loss);

		if (!has_a && !has_b)
			break;
		t.a_count += has_a;
		t.b_count += has_b;
		if (has_parted ||
		    (has_a && has_b && are_equal(a_loss.loss, b_loss.loss, tolerance)))
			continue;
		has_parted = true;
		differs = has_a && has_b;
		t.divergence = (has_a ? t.a_count : t.b_count) - 1;
		t.a = a_loss;
		t.b = b_loss;
	}
	t.relation = relation_of(&t, differs);
	return t;
}

bool tsi_divergence_step(const struct trajectories *t, int64_t *step)
{
	const struct trajectory_loss *loss = t->divergence < t->a_count ? &t->a : &t->b;

	*step = loss->step;
	return loss->has_step;
}
