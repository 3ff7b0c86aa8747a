/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_LOG_CHECK_H
#define TSCOPE_TESTS_LOG_CHECK_H

#include "comm/rank_log.h"
#include "trace_builder.h"

/*
 * What is kept of a trace that a test made, against texts; the test fails where something is wrong.
 *
 *	const struct rank_log *log = keep_log(t);
 *	check_op_times(log, "all_reduce 310 400 launch 40 ready 300 step 4 seq 5\n");
 *
 * t is freed at once, the log when the test ends.
 */
const struct rank_log *keep_log(struct test_trace *t);

/* The steps 4, 5 and 6 of 1000 ns each on thread 1; the last counts as cut. */
void test_three_steps(struct test_trace *t);

/* A line for each op; "-" is what is not known, and " cut" at its end. */
void check_op_times(const struct rank_log *log, const char *expected);
/* "all_reduce bytes 200 bus - sent 200 received 200 'BFloat16' peer -1\n", and " send". */
void check_op_sizes(const struct rank_log *log, const char *expected);
/* "'0' 'default_pg' size 4: 0 1 2 3\n" for all groups, then those of the ops: "ops 0 0 1". */
void check_op_groups(const struct rank_log *log, const char *expected);
/* "gemm 2 500 12\n" in the order of the names' ids; "nccl comm 1 40 0\n". */
void check_kernels(const struct rank_log *log, const char *expected);

/* The points are in order, and each ns of the steps is in them once. */
void check_points_hold_the_steps(const struct rank_log *log);

/* Fills a log of the trace again and again, each time with another allocation that fails. */
void check_fill_allocations(struct test_trace *t);

#endif
