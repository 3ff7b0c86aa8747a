/* SPDX-License-Identifier: MIT */
/* How sure the changes of an explanation are. */
#include "diff/explain_certainty.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/bisect.h"

static const double likely_p = 0.05;
static const double main_share = 0.5, whole_share = 0.9; /* of the change of the line */

const char *tsi_certainty_name(enum certainty certainty)
{
	static const char *const names[] = { CERTAINTIES(TSI_NAMED_TEXT) };

	return names[certainty];
}

static enum certainty certainty_of(enum diff_verdict verdict, double p_value)
{
	if (verdict == DIFF_CHANGED)
		return CERTAINTY_CERTAIN;
	if (verdict == DIFF_SAME)
		return CERTAINTY_SAME;
	return verdict == DIFF_NO_CHANGE && p_value <= likely_p ? CERTAINTY_LIKELY
								: CERTAINTY_CANNOT_TELL;
}

enum certainty tsi_line_certainty(const struct explained_line *line, const struct step_test *test)
{
	if (line->ns[TSCOPE_SIDE_A] == line->ns[TSCOPE_SIDE_B])
		return CERTAINTY_SAME;
	return test ? certainty_of(test->verdict, test->test.p_value) : CERTAINTY_CANNOT_TELL;
}

/* ---- kernels ---- */

/* Times per step of the kernels of one side, by name. */
struct kernel_time {
	const char *name;
	double sum_ns, deviation_ns; /* of all steps; of one */
};

struct kernel_times {
	struct kernel_time *items;
	size_t count;
	double steps;
};

static int compare_kernels(const void *left, const void *right)
{
	const struct kernel_time *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static struct kernel_times read_kernels(const struct tscope_analysis *rank, struct arena *arena)
{
	struct table_view rows = tsi_lookup_table(rank, "kernels.by_name");
	size_t name = tsi_table_column(&rows, "name"), ns = tsi_table_column(&rows, "counted_ns");
	size_t deviation = tsi_table_column(&rows, "step_deviation_ns");
	struct kernel_times times = {
		.items = tsi_arena_new(arena, rows.row_count, sizeof(*times.items)),
		.steps = (double)tsi_lookup_int(rank, "steps.counted_count"),
	};

	for (size_t row = 0; times.items && row < rows.row_count; row++) {
		struct tscope_value text = tsi_table_cell(&rows, row, name);
		struct kernel_time time = { .deviation_ns = NAN };
		if (text.kind != TSCOPE_VALUE_TEXT ||
		    !tsi_diff_number(tsi_table_cell(&rows, row, ns), &time.sum_ns))
			continue;
		time.name = text.text;
		tsi_diff_number(tsi_table_cell(&rows, row, deviation), &time.deviation_ns);
		times.items[times.count++] = time;
	}
	if (times.count)
		qsort(times.items, times.count, sizeof(*times.items), compare_kernels);
	return times;
}

/* A kernel's time per step; without one of this name its count is 0. */
static struct sample_moments find_kernel(const struct kernel_times *times, const char *name)
{
	size_t begin = 0, end = times->count;

	TSI_BISECT(begin, end, strcmp(times->items[middle].name, name) < 0);
	if (begin == times->count || strcmp(times->items[begin].name, name) != 0 ||
	    times->steps < 1)
		return (struct sample_moments){ 0 };
	return (struct sample_moments){
		.mean = times->items[begin].sum_ns / times->steps,
		.deviation = times->items[begin].deviation_ns,
		.count = times->steps,
	};
}

/* ---- parts ---- */

static bool is_kernel_of_compute(const struct explained_step *step,
				 const struct explained_part *part)
{
	return part->name && strcmp(part->kind, "kernel") == 0 &&
	       strcmp(step->lines[part->line].name, "compute") == 0;
}

static double change_of(const int64_t ns[TSCOPE_SIDE_COUNT])
{
	return (double)ns[TSCOPE_SIDE_B] - (double)ns[TSCOPE_SIDE_A];
}

static enum certainty certainty_by_line(const struct explained_part *part, double line_ns,
					enum certainty line)
{
	double share = change_of(part->ns) / line_ns;

	if (share < main_share)
		return CERTAINTY_CANNOT_TELL;
	return share < whole_share && line == CERTAINTY_CERTAIN ? CERTAINTY_LIKELY : line;
}

static enum certainty judge_kernel(const struct explained_part *part,
				   const struct kernel_times times[TSCOPE_SIDE_COUNT],
				   size_t comparisons)
{
	struct sample_moments a =
		find_kernel(&times[TSCOPE_SIDE_A], part->a_name ? part->a_name : part->name);
	struct sample_moments b = find_kernel(&times[TSCOPE_SIDE_B], part->name);
	struct sample_test test = tsi_moments_test(&a, &b, comparisons);

	return certainty_of(test.verdict, test.p_value);
}

void tsi_judge_parts(struct explained_step *step, const enum certainty *lines,
		     const struct tscope_analysis *const ranks[TSCOPE_SIDE_COUNT],
		     struct arena *scratch)
{
	struct kernel_times times[TSCOPE_SIDE_COUNT];
	size_t kernel_count = 0;

	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		times[i] = read_kernels(ranks[i], scratch);
	for (size_t i = 0; i < step->part_count; i++)
		kernel_count += is_kernel_of_compute(step, &step->parts[i]);
	for (size_t i = 0; i < step->part_count; i++) {
		struct explained_part *part = &step->parts[i];
		double line_ns = change_of(step->lines[part->line].ns);
		if (change_of(part->ns) == 0)
			part->certainty = CERTAINTY_SAME;
		else if (is_kernel_of_compute(step, part) && part->is_lone)
			part->certainty = CERTAINTY_CERTAIN;
		else if (is_kernel_of_compute(step, part) && !part->is_joined)
			part->certainty = judge_kernel(part, times, kernel_count);
		else
			part->certainty = certainty_by_line(part, line_ns, lines[part->line]);
	}
}
