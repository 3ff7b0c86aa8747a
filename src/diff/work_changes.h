/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_WORK_CHANGES_H
#define TSCOPE_DIFF_WORK_CHANGES_H

#include "analyze/facts.h"

/*
 * Shared by kernel_changes, operator_changes and module_changes: the rows of a ranking of both
 * sides, matched (work_match.h), and what became of each. Of several ranks that one is looked at
 * which `explanation` is about. There device time of communication is not tested: it is how long
 * the rank waits for others, in many steps on end, and the rank was picked for waiting least.
 *
 * Counts and times are those of the steps that count, per step. Of a side where none does, all
 * steps are taken, and of one that does not say so (a report of an earlier version) the whole
 * trace, per step of its timeline: then times are not tested, and more or fewer calls are not
 * reported. Kernels without a known launch mostly come from before the capture: they may be calls
 * of the steps, or not. Where a ranking was cut, rows of the other side that it may have held are
 * left out.
 */
#define WORK_FACTS(X, things)                                                                      \
	X(WORK_A_COUNT, "a_count", COUNT, "different " things " in A")                             \
	X(WORK_B_COUNT, "b_count", COUNT, "different " things " in B")                             \
	X(WORK_MATCHED_COUNT, "matched_count", COUNT, "rows that are in both by their names")      \
	X(WORK_NEW_COUNT, "new_count", COUNT, "only in B")                                         \
	X(WORK_GONE_COUNT, "gone_count", COUNT, "only in A")                                       \
	X(WORK_REPLACED_COUNT, "replaced_count", COUNT,                                            \
	  "launched by the same operator in place of others")                                      \
	X(WORK_SLOWER_COUNT, "slower_count", COUNT, "that take longer")                            \
	X(WORK_FASTER_COUNT, "faster_count", COUNT, "that take less")                              \
	X(WORK_MORE_CALLS_COUNT, "more_calls_count", COUNT, "with more calls per step")            \
	X(WORK_FEWER_CALLS_COUNT, "fewer_calls_count", COUNT, "with fewer calls per step")         \
	X(WORK_UNCLEAR_COUNT, "unclear_count", COUNT,                                              \
	  "whose time differs, and cannot be told from chance")                                    \
	X(WORK_IS_CUT, "is_cut", FLAG,                                                             \
	  "a saved report held only the first rows: new and gone ones are left out where it is "   \
	  "not known")                                                                             \
	X(WORK_A_RANK, "a_rank", COUNT, "of several ranks, which of A is looked at")               \
	X(WORK_B_RANK, "b_rank", COUNT, "and of B")

enum work_fact { WORK_FACTS(TSI_FACT_ID, "") };

/*
 * One row of every table: of kernels the time is that of the device, of operators and modules their
 * own host time, with the second list of what they launched themselves.
 */
#define WORK_COLUMNS(X, name, things)                                                              \
	X(WORK_NAME, name, TEXT, things)                                                           \
	X(WORK_CHANGE, "change", TEXT,                                                             \
	  "new, gone, replaced, slower, faster, more_calls, fewer_calls, cannot_tell or same: by " \
	  "the larger of its significant changes")                                                 \
	X(WORK_A_CALLS_PER_STEP, "a_calls_per_step", NUMBER, "calls in a mean step of A")          \
	X(WORK_B_CALLS_PER_STEP, "b_calls_per_step", NUMBER, "and of B")                           \
	X(WORK_A_STEP_NS, "a_step_ns", NS, "time in a mean step of A")                             \
	X(WORK_B_STEP_NS, "b_step_ns", NS, "and of B")                                             \
	X(WORK_CHANGE_NS, "change_ns", NS, "b_step_ns less a_step_ns")                             \
	X(WORK_VERDICT, "verdict", TEXT,                                                           \
	  "is the change of its time more than noise? as in step_change")                          \
	X(WORK_P_VALUE, "p_value", NUMBER, "with all of them in mind")

#define WORK_DEVICE_COLUMNS(X)                                                                     \
	X(WORK_A_STEP_DEVICE_NS, "a_step_device_ns", NS,                                           \
	  "time of what it launched itself in a mean step of A")                                   \
	X(WORK_B_STEP_DEVICE_NS, "b_step_device_ns", NS, "and of B")                               \
	X(WORK_DEVICE_CHANGE_NS, "device_change_ns", NS, "b_step_device_ns less a_step_device_ns") \
	X(WORK_DEVICE_VERDICT, "device_verdict", TEXT,                                             \
	  "is that more than noise? absent where it launched nothing")                             \
	X(WORK_DEVICE_P_VALUE, "device_p_value", NUMBER, "with all of them in mind")

/* Behind these, in lists. */
#define WORK_LIST_COLUMNS(X)                                                                       \
	X(WORK_MATCHED_BY, "matched_by", TEXT, "name, normalised_name, launcher or none")          \
	X(WORK_A_NAME, "a_name", TEXT, "of A, where that differs")                                 \
	X(WORK_A_NAMES, "a_names", COUNT, "different names in A")                                  \
	X(WORK_B_NAMES, "b_names", COUNT, "different names in B")                                  \
	X(WORK_A_MEAN_NS, "a_mean_ns", NS, "mean of a call in A")                                  \
	X(WORK_B_MEAN_NS, "b_mean_ns", NS, "and in B")

#define WORK_NAME_MEANING "of B, or of A where it is gone; of several joined by +"
#define WORK_KIND_MEANING "what it computes, as in kernels.by_kind: gemm, attention, norm …"

enum work_column { WORK_COLUMNS(TSI_FACT_ID, "", "") WORK_COLUMN_COUNT };
enum work_device_column { WORK_DEVICE_COLUMNS(TSI_FACT_ID) WORK_DEVICE_COLUMN_COUNT };
enum work_list_column { WORK_LIST_COLUMNS(TSI_FACT_ID) WORK_LAST_COLUMN };

#define WORK_LIST_MEANING                                                                          \
	"the largest change of a mean step first; those that are the same at the end"
#define WORK_KINDS_MEANING                                                                         \
	"the same by what it computes; deviations as if all of a kind were slow in the same steps"

/* The tables of a sheet. */
enum work_table { WORK_LIST, WORK_KINDS };

/* The names of a ranking's table, facts and columns. */
struct work_source {
	const char *table; /* "kernels.by_name" */
	const char *count; /* the fact that sums up its column all_calls */
	/* Over the whole trace: for reports of versions that had no other figures. */
	const char *all_calls, *all_ns, *all_device_ns;
	/* Columns for the steps that count. */
	const char *calls, *ns, *deviation_ns;       /* deviation: NULL where it is not known */
	const char *device_ns, *device_deviation_ns; /* NULL: there is one time only */
	bool are_kernels;                            /* with launchers, some before the capture */
	bool are_modules;                            /* the same by their names only, of no kind */
};

/* Fills a sheet whose facts and tables are those above. */
void tsi_compare_work(const struct analysis_scope *scope, struct fact_sheet *out,
		      const struct work_source *source);

#endif
