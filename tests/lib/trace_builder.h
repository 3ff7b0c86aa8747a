/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_TRACE_BUILDER_H
#define TSCOPE_TESTS_TRACE_BUILDER_H

#include "model/trace/builder.h"

#include <stdint.h>
#include <tscope/timeline.h>

/*
 * Small traces for tests, made of calls instead of JSON files. Every call hands
 * one event to the real builder, so linking, phases and checks are the real ones.
 *
 *	struct test_trace *t = test_trace_new();
 *	test_annotation(t, "ProfilerStep#1", 1, 0, 1000);
 *	test_op(t, "aten::mm", 1, 100, 200);
 *	test_call(t, "cudaLaunchKernel", 1, 150, 20, 7);
 *	test_kernel(t, "sgemm", 0, 7, 180, 400, 7);
 *	struct tscope_trace *trace = test_trace_finish(t);
 *
 * Threads belong to the process "100". Times are start and duration in ns. correlation 0: none.
 */
struct test_trace;

/* Never NULL: a failure of the builder is kept and comes out of the finish. */
struct test_trace *test_trace_new(void);
struct test_trace *test_trace_new_with(const struct builder_options *options);

/* Host spans: category as in the file ("cpu_op"), thread id. */
void test_span(struct test_trace *t, const char *category, const char *name, int64_t tid,
	       int64_t start_ns, int64_t dur_ns);
void test_op(struct test_trace *t, const char *name, int64_t tid, int64_t start_ns, int64_t dur_ns);
void test_annotation(struct test_trace *t, const char *name, int64_t tid, int64_t start_ns,
		     int64_t dur_ns);
void test_call(struct test_trace *t, const char *name, int64_t tid, int64_t start_ns,
	       int64_t dur_ns, uint64_t correlation);

/* A span of any process and thread, without a category, for test_event(). */
struct raw_event test_whole_event(const char *pid, const char *tid, const char *name,
				  int64_t start_ns, int64_t dur_ns, const char *args);

/* A span with args, as JSON text with its braces. */
void test_span_args(struct test_trace *t, const char *category, const char *name, int64_t tid,
		    int64_t start_ns, int64_t dur_ns, const char *args);

/*
 * What autograd and record_shapes write into an operator's args, as JSON values; NULL: absent.
 *
 *	test_op_args(t, "aten::mm", 1, 100, 200,
 *		     &(struct test_op_args){ .dims = "[[8, 128], [128, 64]]",
 *					     .types = "[\"float\", \"float\"]",
 *					     .sequence = "7" });
 */
struct test_op_args {
	const char *dims, *types, *concrete; /* "Input Dims", "Input type", "Concrete Inputs" */
	const char *sequence;                /* "Sequence number" */
	const char *forward_thread;          /* "Fwd thread id" */
	const char *flops;
};

void test_op_args(struct test_trace *t, const char *name, int64_t tid, int64_t start_ns,
		  int64_t dur_ns, const struct test_op_args *args);

/* The same with the inputs only. */
void test_op_inputs(struct test_trace *t, const char *name, int64_t tid, int64_t start_ns,
		    int64_t dur_ns, const char *dims, const char *types, const char *concrete);

/* Device spans. A kernel with a name of NCCL is a communication kernel. */
void test_kernel(struct test_trace *t, const char *name, int device, int64_t stream,
		 int64_t start_ns, int64_t dur_ns, uint64_t correlation);
void test_memcpy(struct test_trace *t, const char *name, int device, int64_t stream,
		 int64_t start_ns, int64_t dur_ns, uint64_t correlation, int64_t bytes);
void test_memset(struct test_trace *t, int device, int64_t stream, int64_t start_ns, int64_t dur_ns,
		 uint64_t correlation, int64_t bytes);

/* A device span of any category with further args: the members without braces, "\"bytes\": 4". */
void test_device_args(struct test_trace *t, const char *category, const char *name, int device,
		      int64_t stream, int64_t start_ns, int64_t dur_ns, uint64_t correlation,
		      const char *more_args);

/* An event of a phase that has no duration: 'B', 'E', 'i' … */
void test_mark(struct test_trace *t, char phase, const char *name, int64_t tid, int64_t ts_ns);

/* What takes the events: the builder's. */
struct event_sink *test_trace_sink(struct test_trace *t);

/* Any event; it counts as an element of traceEvents. */
void test_event(struct test_trace *t, const struct raw_event *event);

/* A top-level key with its value as JSON text. */
void test_metadata(struct test_trace *t, const char *key, const char *value);

/* The trace, which is freed when the test ends; t is freed. The test fails where there is none. */
struct tscope_trace *test_trace_finish(struct test_trace *t);

/* Its timeline with the pieces of budgets, likewise. options may be NULL. */
struct tscope_timeline *test_timeline(const struct tscope_trace *trace,
				      const struct tscope_timeline_options *options);

/*
 * The rows of a trace in their order against a text, one line each:
 *
 *	1 cpu_op aten::mm 100 200	thread, class, name, start, duration
 *	gpu0/7 kernel sgemm 180 400	device and stream
 */
void test_check_rows(const struct tscope_trace *trace, const char *expected);

/* The row with this name (the first one); the test fails if there is none. */
uint32_t test_row(const struct tscope_trace *trace, const char *name);

/* The same for tests of failures: status and err of the first thing that failed. */
enum tscope_status test_trace_try_finish(struct test_trace *t, struct tscope_trace **ret,
					 struct tscope_error *err);

#endif
