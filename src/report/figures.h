/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_FIGURES_H
#define TSCOPE_REPORT_FIGURES_H

#include "report/json_parts.h"
#include "report/parts.h"

/*
 * Facts of a whole run that are numbers, as histories of runs hold them: without what differs
 * between any two runs, such as times of day.
 */
struct figure {
	const struct report_part *part; /* set before the first */
	size_t analyzer, fact;          /* of the next one */
	char id[128];                   /* "step_time.mean_ns" */
	enum tscope_unit unit;
	struct tscope_value value;
	/* 95 % confidence interval; absent: not known. */
	struct tscope_value low, high;
	const char *doubt; /* why it is not reliable; NULL: it is */
};

/* False: that was the last. */
bool tsi_next_figure(struct figure *figure);

/* Those that most people plot, all of them better where they are smaller. */
bool tsi_is_main_figure(const struct figure *figure);

/* Label of the run: its tag, else the path. */
const char *tsi_run_label(char label[512], const struct report_part *part,
			  const struct tscope_report_options *options);

#endif
