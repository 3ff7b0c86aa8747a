/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_WORK_CHANGES_H
#define TSCOPE_DIFF_WORK_CHANGES_H

#include "analyze/facts.h"

/*
 * What kernel_changes and operator_changes have in common: the rows of a ranking of both sides,
 * matched (work_match.h), and what became of each. Of several ranks that one is looked at which
 * `explanation` is about. There the time of kernels that communicate is not tested: it is how long
 * the rank waits for others, in many steps on end, and the rank was picked for waiting least.
 *
 * Counts and times are those of the steps that count, per step. Of a side where none does, all
 * steps are taken, and of one that does not tell (a report of an earlier version) the whole trace,
 * per step of its timeline: then times are not tested, and more or fewer calls are not told.
 * Kernels without a known launch mostly come from before the capture: they may be calls of the
 * steps, or not. Where a ranking was cut, rows of the other side that it may have held are left
 * out.
 */
enum work_fact {
	WORK_A_COUNT,
	WORK_B_COUNT,
	WORK_MATCHED_COUNT,
	WORK_NEW_COUNT,
	WORK_GONE_COUNT,
	WORK_REPLACED_COUNT,
	WORK_SLOWER_COUNT,
	WORK_FASTER_COUNT,
	WORK_MORE_CALLS_COUNT,
	WORK_FEWER_CALLS_COUNT,
	WORK_IS_CUT,
	WORK_A_RANK,
	WORK_B_RANK,
};

#define WORK_FACTS(things)                                                                         \
	[WORK_A_COUNT] = { "a_count", TSCOPE_UNIT_COUNT, "different " things " in A" },            \
	[WORK_B_COUNT] = { "b_count", TSCOPE_UNIT_COUNT, "different " things " in B" },            \
	[WORK_MATCHED_COUNT] = { "matched_count", TSCOPE_UNIT_COUNT,                               \
				 "rows that are in both by their names" },                         \
	[WORK_NEW_COUNT] = { "new_count", TSCOPE_UNIT_COUNT, "only in B" },                        \
	[WORK_GONE_COUNT] = { "gone_count", TSCOPE_UNIT_COUNT, "only in A" },                      \
	[WORK_REPLACED_COUNT] = { "replaced_count", TSCOPE_UNIT_COUNT,                             \
				  "launched by the same operator in place of others" },            \
	[WORK_SLOWER_COUNT] = { "slower_count", TSCOPE_UNIT_COUNT, "whose calls take longer" },    \
	[WORK_FASTER_COUNT] = { "faster_count", TSCOPE_UNIT_COUNT, "whose calls take less" },      \
	[WORK_MORE_CALLS_COUNT] = { "more_calls_count", TSCOPE_UNIT_COUNT,                         \
				    "with more calls a step" },                                    \
	[WORK_FEWER_CALLS_COUNT] = { "fewer_calls_count", TSCOPE_UNIT_COUNT,                       \
				     "with fewer calls a step" },                                  \
	[WORK_IS_CUT] = { "is_cut", TSCOPE_UNIT_FLAG,                                              \
			  "a saved report held only the first rows: new and gone ones are "        \
			  "left out where it is not known" },                                      \
	[WORK_A_RANK] = { "a_rank", TSCOPE_UNIT_COUNT,                                             \
			  "of several ranks, which of A is looked at" },                           \
	[WORK_B_RANK] = { "b_rank", TSCOPE_UNIT_COUNT, "and of B" }

enum work_column {
	WORK_CHANGE,
	WORK_MATCHED_BY,
	WORK_NAME,
	WORK_A_NAME,
	WORK_A_NAMES,
	WORK_B_NAMES,
	WORK_A_CALLS_PER_STEP,
	WORK_B_CALLS_PER_STEP,
	WORK_A_STEP_NS,
	WORK_B_STEP_NS,
	WORK_CHANGE_NS,
	WORK_A_MEAN_NS,
	WORK_B_MEAN_NS,
	WORK_VERDICT,
	WORK_P_VALUE,
	WORK_LAUNCHER, /* of kernels */
	/* Operators only. */
	WORK_A_STEP_DEVICE_NS = WORK_LAUNCHER,
	WORK_B_STEP_DEVICE_NS,
	WORK_DEVICE_CHANGE_NS,
};

#define WORK_COLUMNS                                                                               \
	[WORK_CHANGE] = { "change", TSCOPE_UNIT_TEXT,                                              \
			  "new, gone, replaced, slower, faster, more_calls, fewer_calls or "       \
			  "same" },                                                                \
	[WORK_MATCHED_BY] = { "matched_by", TSCOPE_UNIT_TEXT,                                      \
			      "name, normalised_name, launcher or none" },                         \
	[WORK_NAME] = { "name", TSCOPE_UNIT_TEXT,                                                  \
			"of B, or of A where it is gone; of several joined by +" },                \
	[WORK_A_NAME] = { "a_name", TSCOPE_UNIT_TEXT, "of A, where that differs" },                \
	[WORK_A_NAMES] = { "a_names", TSCOPE_UNIT_COUNT, "different names in A" },                 \
	[WORK_B_NAMES] = { "b_names", TSCOPE_UNIT_COUNT, "different names in B" },                 \
	[WORK_A_CALLS_PER_STEP] = { "a_calls_per_step", TSCOPE_UNIT_NUMBER,                        \
				    "calls in a mean step of A" },                                 \
	[WORK_B_CALLS_PER_STEP] = { "b_calls_per_step", TSCOPE_UNIT_NUMBER, "and of B" },          \
	[WORK_A_STEP_NS] = { "a_step_ns", TSCOPE_UNIT_NS, "time in a mean step of A" },            \
	[WORK_B_STEP_NS] = { "b_step_ns", TSCOPE_UNIT_NS, "and of B" },                            \
	[WORK_CHANGE_NS] = { "change_ns", TSCOPE_UNIT_NS, "b_step_ns less a_step_ns" },            \
	[WORK_A_MEAN_NS] = { "a_mean_ns", TSCOPE_UNIT_NS, "mean of a call in A" },                 \
	[WORK_B_MEAN_NS] = { "b_mean_ns", TSCOPE_UNIT_NS, "and in B" },                            \
	[WORK_VERDICT] = { "verdict", TSCOPE_UNIT_TEXT,                                            \
			   "is the change of its time more than noise? as in step_change" },       \
	[WORK_P_VALUE] = { "p_value", TSCOPE_UNIT_NUMBER, "with all of them in mind" }

#define WORK_LIST_MEANING                                                                          \
	"the largest change of a mean step first; those that are the same at the end"

/* The names of a ranking's table, facts and columns. */
struct work_source {
	const char *table;                  /* "kernels.by_name" */
	const char *count;                  /* the fact that sums up its column "count" */
	const char *all_ns, *all_device_ns; /* time over the whole trace; device: NULL without */
	bool are_kernels; /* with launchers (kernels.by_launcher), some before the capture */
};

/* Fills a sheet whose facts and first table are those above. */
void tsi_compare_work(const struct analysis_scope *scope, struct fact_sheet *out,
		      const struct work_source *source);

#endif
