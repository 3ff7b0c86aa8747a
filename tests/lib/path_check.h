/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_PATH_CHECK_H
#define TSCOPE_TESTS_PATH_CHECK_H

#include "analyze/trace/path_walk.h"
#include "trace_builder.h"

/*
 * The critical path of a small trace as text, one piece a line in the order of time: its line,
 * start and end, and the name of its row or "-".
 *
 *	check_path(t, "host 100 120 aten::a\n"
 *		      "launch 120 150 gemm\n"
 *		      "compute 150 400 gemm\n");
 */
void check_path(struct test_trace *t, const char *expected);
void check_path_of(struct test_trace *t, const struct tscope_timeline_options *options,
		   const char *expected);

struct path_pieces {
	struct path_sink sink; /* first: a pointer to it is one to the pieces */
	struct path_piece *items;
	size_t count, capacity;
};

/* A trace and its path. */
struct walked_path {
	struct tscope_trace *trace;
	struct tscope_timeline *timeline;
	struct path_pieces pieces; /* by start */
};

/* Frees t. */
struct walked_path walk_path(struct test_trace *t, const struct tscope_timeline_options *options);
void walked_path_free(struct walked_path *w);

#endif
