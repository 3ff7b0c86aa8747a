/* SPDX-License-Identifier: MIT */
/* Kernels by what they compute, side by side. */
#include "diff/work_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/ops/kernel_kind.h"
#include "base/sum.h"
#include "diff/sample_test.h"

struct kind_change {
	const char *name;
	struct work_figures sums[TSCOPE_SIDE_COUNT];
	int64_t step_ns[TSCOPE_SIDE_COUNT];
};

static void add_side(struct kind_change kinds[KERNEL_KIND_COUNT], const struct work_side *side,
		     size_t number)
{
	for (size_t i = 0; i < side->count; i++) {
		const struct work_figures *figures = &side->figures[i];
		for (size_t k = 0; figures->kind && k < KERNEL_KIND_COUNT; k++) {
			struct work_figures *sum = &kinds[k].sums[number];
			if (strcmp(kinds[k].name, figures->kind) != 0)
				continue;
			tsi_sum(&sum->calls, figures->calls);
			tsi_sum(&sum->ns, figures->ns);
			sum->deviation_ns += figures->deviation_ns;
		}
	}
}

static int64_t change_of(const struct kind_change *kind)
{
	return tsi_difference(kind->step_ns[TSCOPE_SIDE_A], kind->step_ns[TSCOPE_SIDE_B]);
}

static int by_change(const void *left, const void *right)
{
	const struct kind_change *a = left, *b = right;
	int64_t a_size = llabs(change_of(a)), b_size = llabs(change_of(b));

	if (a_size != b_size)
		return a_size > b_size ? -1 : 1;
	return strcmp(a->name, b->name);
}

static enum diff_verdict judge(const struct kind_change *kind, const struct work_side *sides)
{
	struct sample_moments moments[TSCOPE_SIDE_COUNT];

	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		moments[i] = (struct sample_moments){
			.mean = (double)kind->sums[i].ns / (double)sides[i].steps,
			.deviation = kind->sums[i].deviation_ns,
			.count = (double)sides[i].steps,
		};
	if (kind->sums[TSCOPE_SIDE_A].calls == 0 || kind->sums[TSCOPE_SIDE_B].calls == 0)
		return kind->sums[TSCOPE_SIDE_A].calls ? DIFF_ONLY_A : DIFF_ONLY_B;
	if (!sides[TSCOPE_SIDE_A].is_exact || !sides[TSCOPE_SIDE_B].is_exact)
		return change_of(kind) == 0 ? DIFF_SAME : DIFF_NOT_TESTED;
	return tsi_moments_test(&moments[TSCOPE_SIDE_A], &moments[TSCOPE_SIDE_B], KERNEL_KIND_COUNT)
		.verdict;
}

void tsi_list_work_kinds(const struct work_side sides[TSCOPE_SIDE_COUNT], size_t table,
			 struct fact_sheet *out)
{
	struct kind_change kinds[KERNEL_KIND_COUNT] = { 0 };

	for (int k = 0; k < KERNEL_KIND_COUNT; k++)
		kinds[k].name = tsi_kernel_kind_name((enum kernel_kind)k);
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++) {
		add_side(kinds, &sides[i], i);
		for (size_t k = 0; k < KERNEL_KIND_COUNT; k++)
			kinds[k].step_ns[i] = tsi_mean(kinds[k].sums[i].ns, sides[i].steps).integer;
	}
	qsort(kinds, KERNEL_KIND_COUNT, sizeof(*kinds), by_change);
	for (size_t k = 0; k < KERNEL_KIND_COUNT; k++) {
		const struct work_figures *a = &kinds[k].sums[TSCOPE_SIDE_A],
					  *b = &kinds[k].sums[TSCOPE_SIDE_B];
		if (a->calls == 0 && b->calls == 0)
			continue;
		struct tscope_value *cells = tsi_table_row(out, table);
		cells[WORK_KIND] = tsi_text(kinds[k].name);
		cells[WORK_KIND_A_CALLS_PER_STEP] =
			tsi_real((double)a->calls / (double)sides[TSCOPE_SIDE_A].steps);
		cells[WORK_KIND_B_CALLS_PER_STEP] =
			tsi_real((double)b->calls / (double)sides[TSCOPE_SIDE_B].steps);
		cells[WORK_KIND_A_STEP_NS] = tsi_int(kinds[k].step_ns[TSCOPE_SIDE_A]);
		cells[WORK_KIND_B_STEP_NS] = tsi_int(kinds[k].step_ns[TSCOPE_SIDE_B]);
		cells[WORK_KIND_CHANGE_NS] = tsi_int(change_of(&kinds[k]));
		cells[WORK_KIND_VERDICT] = tsi_text(tsi_diff_verdict_name(judge(&kinds[k], sides)));
	}
}
