/* SPDX-License-Identifier: MIT */
#include "report/figures.h"

#include "diff/comparison.h"
#include "diff/fact_basis.h"

#include <stdio.h>

/* The interval of the mean step; of other facts none is known. */
static void bound(struct figure *figure)
{
	struct tscope_value reach = { 0 };

	figure->low = figure->high = reach;
	if (strcmp(figure->id, "step_time.mean_ns") == 0)
		reach = tsi_step_reach(figure->part->analysis);
	if (reach.kind != TSCOPE_VALUE_INT)
		return;
	figure->low = figure->high = figure->value;
	figure->low.integer -= reach.integer;
	figure->high.integer += reach.integer;
}

static bool take_figure(struct figure *figure, const struct tscope_analyzer_def *def, size_t fact)
{
	const struct tscope_analysis *analysis = figure->part->analysis;
	double number;

	figure->value = tscope_analysis_fact(analysis, figure->analyzer, fact, TSCOPE_WHOLE_TRACE);
	if (!tsi_diff_number(figure->value, &number))
		return false;
	snprintf(figure->id, sizeof(figure->id), "%s.%s", def->id, def->facts[fact].name);
	figure->unit = def->facts[fact].unit;
	if (tsi_judge_fact(figure->id, figure->unit).basis == BASIS_LEFT_OUT)
		return false;
	figure->doubt =
		tscope_analysis_fact_doubt(analysis, figure->analyzer, fact, TSCOPE_WHOLE_TRACE);
	bound(figure);
	return true;
}

bool tsi_next_figure(struct figure *figure)
{
	for (; figure->analyzer < tscope_analyzer_count(); figure->analyzer++, figure->fact = 0) {
		const struct tscope_analyzer_def *def = tscope_analyzer(figure->analyzer);

		while (figure->fact < def->fact_count)
			if (take_figure(figure, def, figure->fact++))
				return true;
	}
	return false;
}

bool tsi_is_main_figure(const struct figure *figure)
{
	static const char *const ids[] = {
		"step_time.mean_ns",       "step_time.p50_ns",           "step_time.p95_ns",
		"memory.peak_alloc_bytes", "memory.peak_reserved_bytes",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(ids); i++)
		if (strcmp(ids[i], figure->id) == 0)
			return !figure->doubt;
	return false;
}

const char *tsi_run_label(char label[512], const struct report_part *part,
			  const struct tscope_report_options *options)
{
	if (options->run_tag)
		return options->run_tag;
	snprintf(label, 512, "%.*s", (int)(part->path.length < 500 ? part->path.length : 500),
		 part->path.data);
	return label;
}
