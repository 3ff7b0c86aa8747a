/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_ANALYZER_H
#define TSCOPE_ANALYZE_ANALYZER_H

#include "timeline/timeline.h"

#include <tscope/analysis.h>

/*
 * An analyzer computes facts from trace and timeline and has no opinion.
 *
 * To add one: write analyze_<id>.c with a `const struct analyzer
 * tsi_analyzer_<id>`, add ANALYZER(<id>) to analyzer_list.h, the file to
 * meson.build, an entry to man/tscope-json.5 and tests/unit/test_analyze_<id>.c.
 * Facts and columns are named by enums that index the tables of definitions, so
 * that
 *
 *	tsi_fact_int(out, OVERLAP_COMM_NS, comm_ns);
 *
 * cannot get the wrong name. JSON, diff and gates follow without another line.
 */
struct analysis_scope {
	const struct tscope_trace *trace;
	const struct tscope_timeline *timeline;
	/* Devices [first_device, end_device): one, or all for the trace's own figures. */
	uint32_t first_device, end_device;
};

struct fact_sheet; /* where an analyzer puts its facts: facts.h */

struct analyzer {
	struct tscope_analyzer_def def;
	bool on_request; /* only with options.python */
	/*
	 * Fills the sheet for a scope. With def.per_device it is called once for
	 * each device and once for all of them. What cannot be computed is left
	 * absent; TSCOPE_OK unless memory ends.
	 */
	enum tscope_status (*run)(const struct analysis_scope *scope, struct fact_sheet *out,
				  struct tscope_error *err);
};

#endif
