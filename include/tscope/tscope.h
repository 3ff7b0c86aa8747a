/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TSCOPE_H
#define TSCOPE_TSCOPE_H

/*
 * libtscope: reads what training and inference jobs left behind and says where
 * the time went and what to do. A trace is opened, put on a timeline, analysed,
 * reported:
 *
 *	struct tscope_trace *trace;
 *	struct tscope_timeline *timeline;
 *	struct tscope_analysis *analysis;
 *	struct tscope_error err;
 *
 *	if (tscope_trace_open(&trace, "trace.json.gz", NULL, &err) != TSCOPE_OK)
 *		errx(3, "%s", err.message);
 *	if (tscope_timeline_build(&timeline, trace, NULL, &err) == TSCOPE_OK &&
 *	    tscope_analyze(&analysis, trace, timeline, NULL, &err) == TSCOPE_OK)
 *		tscope_report_write(stdout, &(struct tscope_trace_report){ analysis, NULL, 0 }, 1,
 *				    &(struct tscope_report_options){ 0 }, &err);
 *
 * A whole run is opened, diagnosed and reported:
 *
 *	if (tscope_run_open(&run, paths, path_count, NULL, &err) == TSCOPE_OK &&
 *	    tscope_diagnose(&diagnosis, tscope_run_analysis(run), NULL, &err) == TSCOPE_OK)
 *		tscope_report_write_run(stdout,
 *					&(struct tscope_run_report){ run, diagnosis, NULL, 0 },
 *					&(struct tscope_report_options){ 0 }, &err);
 *
 * Ownership: every object is freed by its own _free function (NULL is fine), in the reverse of the
 * order in which they were made; an object must outlive those made from it. An object that a
 * function returns as const lives as long as the object it came from. Nothing is global: different
 * threads may work on different objects, and read the same one.
 */
#include <tscope/analysis.h>
#include <tscope/device.h>
#include <tscope/diff.h>
#include <tscope/error.h>
#include <tscope/gate.h>
#include <tscope/hang.h>
#include <tscope/map.h>
#include <tscope/memory.h>
#include <tscope/model.h>
#include <tscope/report.h>
#include <tscope/rules.h>
#include <tscope/run.h>
#include <tscope/scalar.h>
#include <tscope/slice.h>
#include <tscope/timeline.h>
#include <tscope/trace.h>

/* "0.1.0" */
const char *tscope_version(void);

/*
 * Formats that this build can and cannot read, one line each: "zstd 1.5.4", "lz4: not built in".
 * NULL after the last.
 */
const char *tscope_build_feature(size_t index);

#endif
