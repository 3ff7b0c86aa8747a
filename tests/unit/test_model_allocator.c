/* SPDX-License-Identifier: MIT */
/* model/trace/allocator.c: what "[memory]" events say of accelerators, in order. */
#include "model/trace/trace.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "trace_builder.h"

/* As Kineto writes them: the totals stand before the device. */
#define ARGS(allocated, reserved, id, type)                                                        \
	"{\"Total Reserved\": " #reserved ", \"Total Allocated\": " #allocated                     \
	", \"Bytes\": -512, \"Addr\": 140, \"Device Id\": " #id ", \"Device Type\": " #type        \
	", \"Ev Idx\": 7}"

struct event {
	int64_t ts_ns;
	const char *args;
	const char *name; /* NULL: "[memory]" */
	bool no_ts;
};

static void add_event(struct test_trace *t, const struct event *event)
{
	const char *name = event->name ? event->name : "[memory]";

	test_event(t, &(struct raw_event){
			      .phase = 'i',
			      .has_ts = !event->no_ts,
			      .ts_ns = event->ts_ns,
			      .name = tsi_str_of(name),
			      .cat = TSI_STR("cpu_instant_event"),
			      .pid = TSI_STR("1"),
			      .tid = TSI_STR("1"),
			      .args = event->args ? tsi_str_of(event->args) : (struct str){ 0 },
		      });
}

static struct tscope_trace *build(const struct event *events, size_t count)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "aten::mm", 1, 0, 10);
	for (size_t i = 0; i < count; i++)
		add_event(t, &events[i]);
	return test_trace_finish(t);
}

/* The points as text: device, time, allocated, reserved, "oom". */
static void check_points(const struct tscope_trace *trace, const char *expected)
{
	char text[1024] = "";
	size_t length = 0;

	for (size_t i = 0; i < trace->allocator_point_count; i++) {
		const struct allocator_point *point = &trace->allocator_points[i];
		char reserved[32] = "-";

		if (point->reserved_bytes != NO_NUMBER)
			snprintf(reserved, sizeof(reserved), "%" PRId64, point->reserved_bytes);
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "%" PRId32 " %" PRId64 " %" PRId64 " %s%s\n",
					   point->device, point->time_ns, point->allocated_bytes,
					   reserved, point->is_oom ? " oom" : "");
	}
	assert_string_equal(text, expected);
}

TEST(accelerators_are_kept_and_the_cpu_is_not)
{
	static const struct event events[] = {
		{ 1, ARGS(100, 200, 0, 1), NULL, false },  /* CUDA */
		{ 2, ARGS(100, 0, -1, 0), NULL, false },   /* CPU */
		{ 3, ARGS(150, 200, 0, 6), NULL, false },  /* HIP */
		{ 4, ARGS(160, 200, 3, 20), NULL, false }, /* PrivateUse1 */
		{ 5, ARGS(160, 210, 0, 1), "[OutOfMemory]", false },
		{ 6, ARGS(9, 9, 0, 1), "[memory", false },
		{ 7, ARGS(9, 9, 0, 1), "Record Window End", false },
	};
	struct tscope_trace *trace = build(events, TSI_COUNT_OF(events));

	check_points(trace, "0 1 100 200\n0 3 150 200\n0 5 160 210 oom\n3 4 160 200\n");
	assert_int_equal(tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_memory_without_total), 0);
}

TEST(points_are_put_in_order)
{
	/* Those of one time stay as in the file: 40 then 41, although 41 came first of all. */
	static const struct event events[] = {
		{ 30, ARGS(30, 100, 1, 1), NULL, false },  { 20, ARGS(21, 100, 1, 1), NULL, false },
		{ 40, ARGS(40, 100, 0, 1), NULL, false },  { 40, ARGS(41, 100, 0, 1), NULL, false },
		{ -5, ARGS(7, 100, 0, 1), NULL, false },   { 40, ARGS(39, 100, 0, 1), NULL, false },
		{ 50, ARGS(50, 100, -1, 1), NULL, false },
	};
	struct tscope_trace *trace = build(events, TSI_COUNT_OF(events));

	check_points(trace, "-1 50 50 100\n0 -5 7 100\n0 40 40 100\n0 40 41 100\n0 40 39 100\n"
			    "1 20 21 100\n1 30 30 100\n");
}

TEST(what_says_no_total_is_counted)
{
	static const struct event events[] = {
		{ 1, "{\"Device Type\": 1, \"Device Id\": 0, \"Bytes\": 512}", NULL,
		  false }, /* 1.8 */
		{ 2, ARGS(-1, 10, 0, 1), NULL, false },
		{ 3, ARGS("many", 10, 0, 1), NULL, false },
		{ 4, ARGS(1e99, 10, 0, 1), NULL, false },
		{ 5, ARGS(1, 10, 4294967296, 1), NULL, false },
		{ 6, ARGS(1, 10, 0, "x"), NULL, false },
		{ 7, NULL, NULL, false },
		{ 8, "[1, 2]", NULL, false },
		{ 9, ARGS(5, -10, 0, 1), NULL, false },
		{ 10, "{\"Device Type\": 0, \"Device Id\": -1, \"Bytes\": 512}", NULL, false },
	};
	struct tscope_trace *trace = build(events, TSI_COUNT_OF(events));

	/* What is reserved may be missing. */
	check_points(trace, "0 9 5 -\n");
	assert_int_equal(tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_memory_without_total), 8);
}

TEST(without_a_time_it_is_lost)
{
	static const struct event events[] = {
		{ 1, ARGS(1, 1, 0, 1), NULL, true },
		{ INT64_MAX, ARGS(1, 1, 0, 1), NULL, false },
		{ INT64_MIN, ARGS(1, 1, 0, 1), NULL, false },
	};
	struct tscope_trace *trace = build(events, TSI_COUNT_OF(events));

	check_points(trace, "");
	assert_int_equal(tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_missing_timestamp), 1);
	assert_int_equal(tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_bad_timestamp), 2);
	assert_int_equal(tscope_trace_info(trace)->dropped_count, 3);
}

TEST(every_allocation_may_fail)
{
	static const struct event events[] = {
		{ 2, ARGS(1, 1, 0, 1), NULL, false },
		{ 1, ARGS(2, 1, 0, 1), NULL, false },
	};

	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_trace *trace = NULL;

		alloc_sweep_start(&sweep);
		struct test_trace *t = test_trace_new();
		test_op(t, "aten::mm", 1, 0, 10);
		for (size_t i = 0; i < TSI_COUNT_OF(events); i++)
			add_event(t, &events[i]);
		alloc_sweep_check(&sweep, test_trace_try_finish(t, &trace, &sweep.err));
		if (!sweep.has_failed)
			check_points(trace, "0 1 2 1\n0 2 1 1\n");
		tscope_trace_free(trace);
	}
}
