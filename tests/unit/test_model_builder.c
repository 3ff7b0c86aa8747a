/* SPDX-License-Identifier: MIT */
/* model/trace/builder.c, args.c, tracks.c, metadata.c, group.c: events to rows, and what is no row. */
#include "model/trace/trace.h"

#include <math.h>
#include <stdio.h>

#include "check.h"
#include "fail_alloc.h"
#include "trace_builder.h"

#define DAY_NS INT64_C(86400000000000)

static uint64_t diagnostic(const struct tscope_trace *trace, enum tscope_diagnostic kind)
{
	return tscope_trace_diagnostic(trace, kind);
}

/* ---- rows ---------------------------------------------------------------------------- */

/* Completion order, as Kineto writes; equal starts: longer first; all equal: as in the file. */
TEST(rows_are_put_in_order)
{
	struct test_trace *t = test_trace_new();
	test_kernel(t, "late", 1, 3, 500, 10, 0);
	test_kernel(t, "early", 0, 7, 50, 10, 0);
	test_op(t, "child", 1, 110, 20);
	test_op(t, "parent", 1, 110, 80);
	test_op(t, "twin a", 1, 110, 20);
	test_op(t, "other thread", 2, 0, 5);
	test_op(t, "first", 1, 10, 400);
	test_kernel(t, "low stream", 1, 2, 600, 10, 0);
	struct tscope_trace *trace = test_trace_finish(t);
	test_check_rows(trace, "1 cpu_op first 10 400\n"
			       "1 cpu_op parent 110 80\n"
			       "1 cpu_op child 110 20\n"
			       "1 cpu_op twin a 110 20\n"
			       "2 cpu_op other thread 0 5\n"
			       "gpu0/7 kernel early 50 10\n"
			       "gpu1/2 kernel low stream 600 10\n"
			       "gpu1/3 kernel late 500 10\n");
	assert_int_equal(trace->track_count, 5);
	assert_int_equal(trace->host_track_count, 2);
	assert_int_equal(tscope_trace_info(trace)->first_ns, 0);
	assert_int_equal(tscope_trace_info(trace)->last_ns, 610);
	for (uint32_t row = 0; row < 4; row++)
		assert_int_equal(tsi_trace_track_of(trace, row), 0);
	assert_int_equal(tsi_trace_track_of(trace, 4), 1);
	assert_int_equal(tsi_trace_track_of(trace, 7), 4);
}

TEST(old_and_new_names_of_categories)
{
	struct test_trace *t = test_trace_new();
	test_span(t, "Operator", "ProfilerStep#1", 1, 0, 100);
	test_span(t, "Operator", "aten::mm", 1, 10, 5);
	test_span(t, "Runtime", "cudaLaunchKernel", 1, 11, 1);
	test_device_args(t, "Kernel", "sgemm", 0, 7, 20, 5, 1, "");
	test_device_args(t, "Memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 7, 30, 5, 1, "");
	test_device_args(t, "Memset", "Memset (Device)", 0, 7, 40, 5, 1, "");
	struct tscope_trace *trace = test_trace_finish(t);
	test_check_rows(trace, "1 annotation ProfilerStep#1 0 100\n"
			       "1 cpu_op aten::mm 10 5\n"
			       "1 runtime cudaLaunchKernel 11 1\n"
			       "gpu0/7 kernel sgemm 20 5\n"
			       "gpu0/7 memcpy Memcpy HtoD (Pageable -> Device) 30 5\n"
			       "gpu0/7 memset Memset (Device) 40 5\n");
	assert_string_equal(tscope_trace_info(trace)->format, "kineto");
}

/* In a container the process is pid 1, and so is the second GPU. */
TEST(a_process_is_no_device)
{
	struct test_trace *t = test_trace_new();
	struct raw_event event = { .phase = 'X',
				   .has_ts = true,
				   .has_dur = true,
				   .dur_ns = 5,
				   .name = TSI_STR("aten::mm"),
				   .cat = TSI_STR("cpu_op"),
				   .pid = TSI_STR("1"),
				   .tid = TSI_STR("7") };
	test_event(t, &event);
	event.name = TSI_STR("sgemm");
	event.cat = TSI_STR("kernel");
	test_event(t, &event); /* no args: pid and tid say where */
	event.tid = TSI_STR("stream 9 ");
	test_event(t, &event);
	event.args = TSI_STR("{\"device\": 0, \"stream\": 3}"); /* args win */
	test_event(t, &event);
	event.pid = TSI_STR("CUDA");
	event.tid = TSI_STR("x");
	event.args = TSI_STR("{\"device\": -1}"); /* nobody knows */
	test_event(t, &event);
	struct tscope_trace *trace = test_trace_finish(t);
	test_check_rows(trace, "7 cpu_op aten::mm 0 5\n"
			       "gpu0/-1 kernel sgemm 0 5\n"
			       "gpu0/3 kernel sgemm 0 5\n"
			       "gpu1/7 kernel sgemm 0 5\n"
			       "gpu1/9 kernel sgemm 0 5\n");
	assert_int_equal(trace->device_count, 2);
	assert_int_equal(trace->devices[0].ordinal, 0);
	assert_int_equal(trace->devices[0].row_count, 2);
	assert_int_equal(trace->devices[1].ordinal, 1);
}

TEST(threads_without_pid_or_tid)
{
	struct test_trace *t = test_trace_new();
	struct raw_event event = { .phase = 'X',
				   .has_ts = true,
				   .has_dur = true,
				   .name = TSI_STR("a"),
				   .pid = TSI_STR("5") };
	test_event(t, &event);
	event.tid = TSI_STR("5"); /* the same thread */
	test_event(t, &event);
	event.pid = event.tid = (struct str){ 0 };
	test_event(t, &event);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_int_equal(tscope_trace_track_count(trace), 2);
	assert_string_equal(tscope_trace_track(trace, 0).pid, "5");
	assert_string_equal(tscope_trace_track(trace, 0).tid, "5");
	assert_int_equal(tscope_trace_track(trace, 0).count, 2);
	assert_string_equal(tscope_trace_track(trace, 1).tid, "0");
}

TEST(names_of_threads_come_before_and_after)
{
	struct test_trace *t = test_trace_new();
	struct raw_event named = { .phase = 'M',
				   .name = TSI_STR("thread_name"),
				   .pid = TSI_STR("100"),
				   .tid = TSI_STR("1"),
				   .args = TSI_STR("{\"name\": \"thread 1 (\\u0070ython)\"}") };
	test_event(t, &named);
	test_op(t, "a", 1, 0, 5);
	test_op(t, "b", 2, 0, 5);
	test_kernel(t, "k", 0, 7, 10, 5, 0);
	named.tid = TSI_STR("2");
	named.args = TSI_STR("{\"name\": \"first\"}");
	test_event(t, &named);
	named.args = TSI_STR("{\"name\": \"last wins\"}");
	test_event(t, &named);
	named.pid = TSI_STR("0");
	named.tid = TSI_STR("7");
	named.args = TSI_STR("{\"name\": \"stream 7 \"}");
	test_event(t, &named);
	named.tid = TSI_STR("99"); /* nobody */
	test_event(t, &named);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_string_equal(tscope_trace_track(trace, 0).name, "thread 1 (python)");
	assert_string_equal(tscope_trace_track(trace, 1).name, "last wins");
	assert_string_equal(tscope_trace_track(trace, 2).name, "stream 7 ");
}

TEST(names_lose_their_escapes)
{
	struct test_trace *t = test_trace_new();
	struct raw_event event = { .phase = 'X',
				   .has_ts = true,
				   .has_dur = true,
				   .name_escaped = true,
				   .name = TSI_STR("say \\\"hi\\\" C:\\Users"),
				   .cat = TSI_STR("cpu_op") };
	test_event(t, &event);
	event.name = TSI_STR("tab\\there");
	test_event(t, &event);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_string_equal(tscope_trace_span(trace, 0).name, "say \"hi\" C:\\Users");
	assert_string_equal(tscope_trace_span(trace, 1).name, "tab\there");
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_bad_escape), 1);
}

TEST(names_that_are_no_text_are_counted_once)
{
	static const struct {
		const char *name;
		bool is_utf8;
	} cases[] = {
		{ "plain", true },
		{ "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xed\x9f\xbf \xf4\x8f\xbf\xbf", true },
		{ "\x80", false }, /* a second byte first */
		{ "\xff\xfe", false },
		{ "cut \xe2\x82", false },
		{ "\xc0\xaf", false }, /* longer than needed */
		{ "\xe0\x80\xaf", false },
		{ "\xf0\x80\x80\xaf", false },
		{ "\xed\xa0\x80", false },     /* half of a pair */
		{ "\xf4\x90\x80\x80", false }, /* beyond the last character */
		{ "\xc3(", false },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		test_op(t, cases[i].name, 1, 0, 5);
		test_op(t, cases[i].name, 1, 10, 5);
		struct tscope_trace *trace = test_trace_finish(t);
		assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_invalid_utf8),
				 !cases[i].is_utf8);
		assert_string_equal(tscope_trace_span(trace, 0).name, cases[i].name);
	}
}

/* ---- what is no work ----------------------------------------------------------------- */

/* None of these may count as busy, nor stretch the trace. */
TEST(painted_ranges_and_marks_are_no_work)
{
	struct test_trace *t = test_trace_new();
	test_op(t, "aten::mm", 1, 1000, 100);
	test_device_args(t, "gpu_user_annotation", "ProfilerStep#1", 0, 7, 1, 9000, 0, "");
	test_device_args(t, "cuda_sync", "Stream Sync", 0, 7, 2, 9000, 0, "");
	test_device_args(t, "cuda_event", "cudaEvent", 0, 7, 3, 9000, 0, "");
	test_device_args(t, "mtia_ccp_events", "event_wait", 0, 7, 3, 9000, 0, "");
	test_span(t, "cuda_profiler_range", "range", 1, 4, 9000);
	test_span(t, "python_function", "train.py(1): f", 1, 5, 9000);
	test_event(t, &(struct raw_event){ .phase = 'X',
					   .has_ts = true,
					   .has_dur = true,
					   .ts_ns = 900,
					   .dur_ns = 300,
					   .cat = TSI_STR("Trace"),
					   .name = TSI_STR("PyTorch Profiler (0)"),
					   .pid = TSI_STR("Spans"),
					   .tid = TSI_STR("PyTorch Profiler") });
	test_mark(t, 'i', "Iteration Start: PyTorch Profiler", 1, 6);
	test_mark(t, 'i', "[memory]", 1, 7);
	test_mark(t, 's', "ac2g", 1, 8);
	test_mark(t, 'C', "GPU 0 Utilization", 1, 9);
	struct tscope_trace *trace = test_trace_finish(t);
	test_check_rows(trace, "1 cpu_op aten::mm 1000 100\n");
	const struct tscope_trace_info *info = tscope_trace_info(trace);
	assert_int_equal(info->first_ns, 1000);
	assert_int_equal(info->last_ns, 1100);
	assert_int_equal(info->event_count, 12);
	assert_int_equal(info->dropped_count, 0);
	assert_int_equal(trace->capture_start_ns, 900);
	assert_int_equal(trace->capture_end_ns, 1200);
	assert_int_equal(trace->track_count, 1);
}

/* A slice of another writer whose category happens to be called so is a slice. */
TEST(only_the_profiler_has_a_capture)
{
	struct test_trace *t = test_trace_new();
	test_span(t, "Trace", "mine", 1, 0, 10);
	struct tscope_trace *trace = test_trace_finish(t);
	test_check_rows(trace, "1 other mine 0 10\n");
	assert_true(trace->capture_start_ns == NO_NUMBER);
}

TEST(a_mark_days_away_is_noted)
{
	static const struct {
		int64_t mark_ns;
		uint64_t bogus_count;
	} cases[] = {
		{ 1000 + DAY_NS, 0 }, { 1001 + DAY_NS, 1 }, { -DAY_NS, 0 }, { -DAY_NS - 1, 1 },
		{ INT64_MAX, 1 },     { INT64_MIN + 1, 1 }, { 500, 0 },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		test_op(t, "a", 1, 0, 1000);
		test_mark(t, 'i', "Record Window End", 1, cases[i].mark_ns);
		struct tscope_trace *trace = test_trace_finish(t);
		assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_bogus_mark),
				 cases[i].bogus_count);
		assert_int_equal(tscope_trace_info(trace)->last_ns, 1000);
	}
}

TEST(every_element_is_counted_by_phase_and_category)
{
	struct test_trace *t = test_trace_new();
	test_op(t, "a", 1, 0, 10);
	test_op(t, "b", 1, 2, 3);
	test_mark(t, 's', "x", 1, 0);
	test_span(t, "python_function", "f", 1, 0, 1);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_int_equal(trace->category_count, 3);
	assert_int_equal(trace->categories[0].phase, 'X');
	assert_int_equal(trace->categories[0].count, 2);
	assert_true(
		tsi_str_is(tsi_intern_text(&trace->names, trace->categories[0].name), "cpu_op"));
	assert_int_equal(trace->categories[1].phase, 's');
	assert_int_equal(trace->categories[2].count, 1);
}

/* Every phase that the format has is known; others are lost, and counted. */
TEST(phases)
{
	static const char known[] = "sTtfpnNODPiIRMvVc()";
	struct test_trace *t = test_trace_new();
	test_op(t, "a", 1, 0, 10);
	for (size_t i = 0; i < sizeof(known) - 1; i++)
		test_mark(t, known[i], "x", 1, 5);
	test_mark(t, 'Z', "x", 1, 5);
	test_mark(t, '\1', "x", 1, 5);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_unknown_phase), 2);
	assert_int_equal(tscope_trace_info(trace)->dropped_count, 2);
	test_check_rows(trace, "1 cpu_op a 0 10\n");
}

/* The two ends of b/e and S/F belong together by category and id, on whatever thread they are. */
TEST(asynchronous_slices)
{
	static const struct {
		char phase;
		const char *id, *tid;
		int64_t ts_ns;
	} ends[] = {
		{ 'b', "1", "7", 0 },       { 'b', "2", "7", 5 },  { 'b', "1", "7", 10 },
		{ 'e', "1", "8", 20 },      { 'n', "1", "7", 21 }, { 'e', "1", "7", 30 },
		{ 'e', "2", "9", 45 },      { 'S', "3", "7", 50 }, { 'F', "3", "8", 60 },
		{ 'e', "nobody", "7", 70 },
	};
	struct test_trace *t = test_trace_new();
	for (size_t i = 0; i < TSI_COUNT_OF(ends); i++)
		test_event(t, &(struct raw_event){
				      .phase = ends[i].phase,
				      .has_ts = true,
				      .ts_ns = ends[i].ts_ns,
				      .name = TSI_STR("job"),
				      .cat = TSI_STR("render"),
				      .id = { ends[i].id, strlen(ends[i].id) },
				      .pid = TSI_STR("1"),
				      .tid = { ends[i].tid, strlen(ends[i].tid) },
			      });
	struct tscope_trace *trace = test_trace_finish(t);
	test_check_rows(trace, "async render 1 other job 0 30\n"
			       "async render 1 other job 10 10\n"
			       "async render 2 other job 5 40\n"
			       "async render 3 other job 50 10\n");
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_unmatched_end), 1);
}

/* ---- times --------------------------------------------------------------------------- */

TEST(device_work_at_zero_is_dropped_where_all_else_is_far)
{
	static const struct {
		int64_t op_ns;
		uint64_t dropped;
	} cases[] = { { INT64_C(1694039968956739000), 2 }, { 1000000000, 2 }, { 999999999, 0 } };
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		test_op(t, "a", 1, cases[i].op_ns, 10);
		test_kernel(t, "k", 0, 7, 0, 0, 1);
		test_kernel(t, "k", 0, 8, 0, 0, 2);
		struct tscope_trace *trace = test_trace_finish(t);
		assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_untimed_device_event),
				 cases[i].dropped);
		assert_int_equal(trace->spans.count, 3 - cases[i].dropped);
		assert_int_equal(trace->track_count, cases[i].dropped ? 1 : 3);
		assert_int_equal(tscope_trace_info(trace)->first_ns,
				 cases[i].dropped ? cases[i].op_ns : 0);
	}
}

TEST(times_beyond_reason_are_refused)
{
	struct test_trace *t = test_trace_new();
	test_op(t, "a", 1, 0, 10);
	test_op(t, "b", 1, INT64_MAX, 10);
	test_op(t, "c", 1, INT64_MIN, 10);
	test_op(t, "d", 1, INT64_C(4000000000000000000), 1);
	test_op(t, "e", 1, 5, INT64_MAX);
	test_event(t, &(struct raw_event){ .phase = 'X', .has_dur = true });
	test_event(t, &(struct raw_event){ .phase = 'X', .has_ts = true });
	struct tscope_trace *trace = test_trace_finish(t);
	test_check_rows(trace, "1 cpu_op a 0 10\n");
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_bad_timestamp), 4);
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_missing_timestamp), 1);
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_missing_duration), 1);
	assert_int_equal(tscope_trace_info(trace)->dropped_count, 6);
}

/* ---- args ---------------------------------------------------------------------------- */

TEST(args_of_ops)
{
	static const struct {
		const char *args, *signature;
	} cases[] = {
		{ "", "" },
		{ "{\"External id\": 12, \"Ev Idx\": 3}", "" },
		{ "{\"Input Dims\": [[8, 128], [128, 64]], \"Input type\": [\"float\", \"float\"]}",
		  "[[8, 128], [128, 64]] float, float" },
		{ "{\"Input type\":[\"c10::BFloat16\",\"\"],\"Input dims\":[[8,128],[]]}",
		  "[[8, 128], []] c10::BFloat16, " },
		{ "{\"Input Dims\": [ [2],\n[] ]}", "[[2], []]" },
		{ "{\"Input type\": [\"float\"]}", "" },
		{ "no object", "" },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		test_span_args(t, "cpu_op", "a", 1, 0, 10, cases[i].args);
		struct tscope_trace *trace = test_trace_finish(t);
		const struct cpu_op *op = tsi_cpu_op(trace, 0);
		print_message("%s\n", cases[i].args);
		assert_string_equal(
			tsi_intern_text(&trace->names, tsi_op_inputs(trace, 0)->signature).data,
			cases[i].signature);
		assert_int_equal(op->collective, NO_ROW);
	}
}

TEST(args_of_a_kernel)
{
	struct test_trace *t = test_trace_new();
	test_device_args(t, "kernel", "k", 0, 7, 10, 5, 77,
			 "\"grid\": [4, 5, 6], \"block\": [128, 1, 1], \"blocks per SM\": 1.5, "
			 "\"est. achieved occupancy %\": 31, \"graph id\": 3");
	test_device_args(t, "kernel", "old", 0, 7, 20, 5, 0,
			 "\"blocks per SM\": inf, "
			 "\"theoretical occupancy %\": 50, \"grid\": [4294967295, 9]");
	test_device_args(t, "kernel", "text", 0, 7, 30, 5, 0, "\"blocks per SM\": \"inf\"");
	struct tscope_trace *trace = test_trace_finish(t);
	const struct work_shape *shape = tsi_work_shape(trace, 0);
	assert_int_equal(shape->grid_blocks, 120);
	assert_true(shape->blocks_per_sm == 1.5f);
	assert_true(shape->occupancy_pct == 31.0f);
	assert_true(tsi_device_event(trace, 0)->graph);
	assert_true(shape->bytes == NO_NUMBER);
	shape = tsi_work_shape(trace, 1);
	assert_true(isnan(shape->blocks_per_sm));
	assert_true(shape->occupancy_pct == 50.0f);
	assert_int_equal(shape->grid_blocks, UINT32_MAX);
	assert_false(tsi_device_event(trace, 1)->graph);
	assert_true(isnan(tsi_work_shape(trace, 2)->blocks_per_sm));
}

TEST(args_of_copies)
{
	static const struct {
		const char *category, *name, *args;
		int64_t bytes;
		enum copy_direction direction;
		bool pageable;
	} cases[] = {
		{ "gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", "\"bytes\": 92928", 92928,
		  COPY_H2D, true },
		{ "gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", "\"bytes\": \"4\"", 4, COPY_D2H,
		  false },
		{ "gpu_memcpy", "Memcpy", "\"kind\": \"DtoD\"", NO_NUMBER, COPY_D2D, false },
		{ "gpu_memcpy", "Memcpy PtoP (Device -> Device)", "\"bytes\": -5", NO_NUMBER,
		  COPY_P2P, false },
		{ "mtia_ccp_events", "dma_request",
		  "\"direction\": \"DEVICE_TO_HOST\", \"size\": 8", 8, COPY_D2H, false },
		{ "kernel", "__amd_rocclr_copyBuffer.kd", "\"kind\": \"Dispatch Kernel\"",
		  NO_NUMBER, COPY_UNKNOWN, false },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		test_device_args(t, cases[i].category, cases[i].name, 0, 7, 0, 10, 0,
				 cases[i].args);
		struct tscope_trace *trace = test_trace_finish(t);
		print_message("%s\n", cases[i].name);
		assert_int_equal(tsi_span_class(&trace->spans, 0), TSCOPE_SPAN_MEMCPY);
		assert_true(tsi_work_shape(trace, 0)->bytes == cases[i].bytes);
		assert_int_equal(tsi_work_traits(trace, 0)->direction, cases[i].direction);
		assert_int_equal(tsi_work_traits(trace, 0)->pageable, cases[i].pageable);
	}
}

/* ---- other writers ------------------------------------------------------------------- */

TEST(torch_autograd_s_own_exporter)
{
	struct test_trace *t = test_trace_new();
	struct raw_event event = { .phase = 'X',
				   .has_ts = true,
				   .has_dur = true,
				   .ts_ns = 5,
				   .dur_ns = 10,
				   .name = TSI_STR("add"),
				   .tid = TSI_STR("1"),
				   .pid = TSI_STR("CPU functions") };
	test_event(t, &event);
	event.name = TSI_STR("sgemm");
	event.tid = TSI_STR("0");
	event.pid = TSI_STR("CUDA functions");
	test_event(t, &event);
	struct tscope_trace *trace = test_trace_finish(t);
	test_check_rows(trace, "1 cpu_op add 5 10\n"
			       "gpu0/0 kernel sgemm 5 10\n");
	assert_string_equal(tscope_trace_info(trace)->format, "chrome");
}

TEST(viztracer_keeps_its_frames_and_shows_its_pauses)
{
	struct test_trace *t = test_trace_new();
	struct raw_event count = { .phase = 'C',
				   .has_ts = true,
				   .ts_ns = 20,
				   .name = TSI_STR("garbage collection"),
				   .pid = TSI_STR("100"),
				   .tid = TSI_STR("1"),
				   .args = TSI_STR("{\"collecting\": 1}") };
	test_span(t, "FEE", "fib (/vt.py:3)", 1, 0, 100);
	test_span(t, "python_function", "f", 1, 0, 100); /* of Kineto, not asked for */
	test_event(t, &count);
	count.ts_ns = 50;
	count.args = TSI_STR("{\"collecting\": 0, \"collected\": 9}");
	test_event(t, &count);
	count.ts_ns = 60; /* ends nothing */
	test_event(t, &count);
	count.ts_ns = 90; /* never ends: lasts to the end */
	count.args = TSI_STR("{\"collecting\": 1}");
	test_event(t, &count);
	test_metadata(t, "viztracer_metadata",
		      "{\"version\": \"1.1.1\", \"overflow\": true, \"baseTimeNanoseconds\": 7}");
	struct tscope_trace *trace = test_trace_finish(t);
	test_check_rows(trace, "1 python fib (/vt.py:3) 0 100\n"
			       "1 gc garbage collection 20 30\n"
			       "1 gc garbage collection 90 10\n");
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_unmatched_begin), 1);
	assert_string_equal(tscope_trace_info(trace)->format, "viztracer");
	assert_true(trace->viztracer_overflow);
	assert_int_equal(tscope_trace_info(trace)->base_time_ns, 7);
}

TEST(python_frames_on_request)
{
	struct test_trace *t = test_trace_new_with(&(struct builder_options){ .python = true });
	test_span(t, "python_function", "f", 1, 0, 100);
	struct tscope_trace *trace = test_trace_finish(t);
	test_check_rows(trace, "1 python f 0 100\n");
}

static bool is_uninformative(struct str name)
{
	(void)name;
	return false;
}

/* Judged as any other: 100 µs are long. */
TEST(frames_without_a_name)
{
	const struct builder_options options = { .is_telling_frame = is_uninformative };
	struct test_trace *t = test_trace_new_with(&options);

	test_span(t, "python_function", "", 1, 0, 99999);
	test_span(t, "python_function", "", 1, 100000, 100000);
	test_op(t, "aten::mm", 1, 300000, 10);
	struct tscope_trace *trace = test_trace_finish(t);
	test_check_rows(trace, "1 python  100000 100000\n1 cpu_op aten::mm 300000 10\n");
}

/* ---- metadata ------------------------------------------------------------------------ */

TEST(what_the_file_says_of_itself)
{
	struct test_trace *t = test_trace_new();
	test_metadata(t, "schemaVersion", "1");
	test_kernel(t, "k", 1, 7, 0, 10, 0);
	test_metadata(t, "deviceProperties",
		      "[{\"id\": 5}, {\"id\": 6}, {\"id\": 7}]"); /* the last wins */
	test_metadata(t, "deviceProperties",
		      "[{\"id\": 0, \"name\": \"\"}, {\"id\": 1, \"name\": \"NVIDIA H100\", "
		      "\"totalGlobalMem\": 85, \"computeMajor\": 9, \"computeMinor\": 0, "
		      "\"maxThreadsPerMultiprocessor\": 2048, \"warpSize\": 32, \"numSms\": 132}]");
	test_metadata(t, "distributedInfo",
		      "{\"backend\": \"nccl\", \"rank\": 3, \"world_size\": 8, "
		      "\"nccl_version\": \"2.17.1\"}");
	test_metadata(t, "cuda_runtime_version", "12040");
	test_metadata(t, "host_name", "\"node \\\"7\\\"\"");
	test_metadata(t, "baseTimeNanoseconds", "1790857026000000000");
	test_metadata(t, "anything", "[1, {\"rank\": 77}]");
	struct tscope_trace *trace = test_trace_finish(t);
	const struct tscope_trace_info *info = tscope_trace_info(trace);
	assert_string_equal(info->format, "kineto");
	assert_int_equal(info->rank, 3);
	assert_int_equal(info->world_size, 8);
	assert_string_equal(info->backend, "nccl");
	assert_string_equal(info->device_name, "NVIDIA H100");
	assert_true(info->has_base_time);
	assert_int_equal(info->base_time_ns, INT64_C(1790857026000000000));
	assert_string_equal(tsi_intern_text(&trace->names, trace->nccl_version).data, "2.17.1");
	assert_string_equal(tsi_intern_text(&trace->names, trace->cuda_runtime_version).data,
			    "12040");
	assert_string_equal(tsi_intern_text(&trace->names, trace->host_name).data, "node \"7\"");
	assert_int_equal(trace->device_properties_count, 2);
	assert_int_equal(trace->devices[0].properties, 1);
	const struct device_properties *h100 = &trace->device_properties[1];
	assert_int_equal(h100->sm_count, 132);
	assert_int_equal(h100->total_bytes, 85);
	assert_int_equal(h100->compute_major, 9);
	assert_true(trace->device_properties[0].sm_count == NO_NUMBER);
}

TEST(what_the_file_does_not_say)
{
	struct test_trace *t = test_trace_new();
	test_kernel(t, "k", 0, 7, 0, 10, 0);
	test_metadata(t, "distributedInfo", "{\"backend\": \"gloo\"}");
	struct tscope_trace *trace = test_trace_finish(t);
	const struct tscope_trace_info *info = tscope_trace_info(trace);
	assert_int_equal(info->rank, -1);
	assert_int_equal(info->world_size, -1);
	assert_string_equal(info->backend, "gloo");
	assert_string_equal(info->device_name, "");
	assert_string_equal(info->path, "");
	assert_string_equal(info->compression, "none");
	assert_false(info->has_base_time);
	assert_null(tscope_trace_damage(trace));
	assert_int_equal(trace->devices[0].properties, NO_ROW);
}

TEST(composer_s_rank_is_the_fallback)
{
	for (int said = 0; said < 2; said++) {
		struct test_trace *t = test_trace_new();
		test_op(t, "a", 1, 0, 10);
		test_event(t, &(struct raw_event){ .phase = 'M',
						   .name = TSI_STR("global_rank"),
						   .args = TSI_STR("{\"value\": 5}") });
		if (said)
			test_metadata(t, "distributedInfo", "{\"rank\": 2}");
		struct tscope_trace *trace = test_trace_finish(t);
		assert_int_equal(tscope_trace_info(trace)->rank, said ? 2 : 5);
	}
}

/* ---- nothing to analyse -------------------------------------------------------------- */

static void check_empty(struct test_trace *t, const char *message)
{
	struct tscope_trace *trace;
	struct tscope_error err;
	assert_int_equal(test_trace_try_finish(t, &trace, &err), TSCOPE_E_EMPTY);
	assert_int_equal(err.status, TSCOPE_E_EMPTY);
	assert_string_equal(err.message, message);
	assert_null(trace);
}

TEST(nothing_to_analyse_is_said_with_its_reason)
{
	struct test_trace *t = test_trace_new();
	test_metadata(t, "deviceProperties", "[]");
	check_empty(t,
		    "the profiler's schedule never reached its active phase (0 events): run more "
		    "steps than wait and warmup ask for, or profile without a schedule");

	t = test_trace_new();
	check_empty(t, "none of 0 events is timed work");

	t = test_trace_new();
	test_event(t, &(struct raw_event){ .phase = 'M', .name = TSI_STR("process_name") });
	test_event(t, &(struct raw_event){ .phase = 'M', .name = TSI_STR("thread_name") });
	check_empty(t, "nothing but metadata (2 events)");

	t = test_trace_new();
	test_mark(t, 'i', "x", 1, 0);
	test_mark(t, 's', "x", 1, 0);
	test_event(t, &(struct raw_event){ .phase = 'M', .name = TSI_STR("process_name") });
	check_empty(t, "none of 3 events is timed work: 1 metadata, 1 instants, 1 flows");

	t = test_trace_new();
	test_span(t, "python_function", "f", 1, 0, 1);
	check_empty(t, "1 Python frames and no other work: ask for them with --python");
}

/* ---- limits and memory --------------------------------------------------------------- */

TEST(names_have_a_limit)
{
	struct test_trace *t = test_trace_new_with(&(struct builder_options){ .max_names = 4 });
	struct tscope_trace *trace;
	struct tscope_error err;
	test_op(t, "a", 1, 0, 1); /* "", "cpu_op", "100", "1": the limit */
	assert_int_equal(test_trace_try_finish(t, &trace, &err), TSCOPE_E_LIMIT);
	assert_string_equal(err.message, "more than 4 different names (limit: names)");
	assert_null(trace);
}

static void count_tick(void *data)
{
	++*(int *)data;
}

TEST(ticks_come_now_and_then)
{
	int ticks = 0;
	struct test_trace *t = test_trace_new_with(
		&(struct builder_options){ .tick = count_tick, .tick_data = &ticks });
	for (int i = 0; i < 40000; i++)
		test_mark(t, 's', "x", 1, 0);
	test_op(t, "a", 1, 0, 1);
	assert_int_equal(ticks, 2); /* each 16384 events */
	(void)test_trace_finish(t);
}

/* A bit of everything, for the allocations it takes. */
static struct test_trace *everything(void)
{
	struct test_trace *t = test_trace_new();
	test_metadata(t, "deviceProperties", "[{\"id\": 0, \"name\": \"GPU\"}]");
	test_metadata(t, "distributedInfo", "{\"backend\": \"nccl\", \"rank\": 1}");
	test_annotation(t, "ProfilerStep#1", 1, 0, 1000);
	for (int i = 0; i < 20; i++) {
		char name[16];
		snprintf(name, sizeof(name), "op %d", i);
		test_span_args(t, "cpu_op", name, 1 + i % 3, 900 - 10 * i, 9,
			       "{\"External id\": 5, \"Input Dims\": [[2]]}");
		test_call(t, "cudaLaunchKernel", 1 + i % 3, 900 - 10 * i, 2, (uint64_t)i + 1);
		test_kernel(t, name, 0, 7 + i % 2, 905 - 10 * i, 5, (uint64_t)i + 1);
	}
	test_span_args(t, "cpu_op", "record_param_comms", 1, 950, 20,
		       "{\"Collective name\": \"allreduce\", \"dtype\": \"Float\"}");
	test_call(t, "cudaLaunchKernel", 1, 955, 2, 100);
	test_kernel(t, "ncclDevKernel_Generic", 0, 9, 960, 5, 100);
	test_kernel(t, "ncclDevKernel_AllReduce", 0, 9, 970, 300000, 0);
	test_kernel(t, "sgemm", 0, 9, 980, 5, 0);
	test_span_args(t, "cuda_runtime", "cudaMalloc", 9, 990, 2,
		       "{\"correlation\": 7, \"External id\": 5}");
	test_mark(t, 'B', "slice", 4, 10);
	test_mark(t, 'B', "open", 4, 20);
	test_mark(t, 'E', "open", 4, 30);
	test_event(t, &(struct raw_event){ .phase = 'M',
					   .name = TSI_STR("thread_name"),
					   .pid = TSI_STR("100"),
					   .tid = TSI_STR("1"),
					   .args = TSI_STR("{\"name\": \"a\\nb\"}") });
	test_event(t, &(struct raw_event){ .phase = 'X',
					   .has_ts = true,
					   .has_dur = true,
					   .name_escaped = true,
					   .name = TSI_STR("a\\nb") });
	return t;
}

TEST(every_allocation_may_fail)
{
	struct alloc_sweep sweep = { .at_least = 50 };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_trace *trace = NULL;
		alloc_sweep_try(&sweep, test_trace_try_finish(everything(), &trace, &sweep.err));
		if (sweep.has_failed)
			assert_null(trace);
		else
			assert_int_equal(trace->spans.count, 70);
		tscope_trace_free(trace);
	}
}

/* ---- shapes that make careless code slow --------------------------------------------- */

enum { MANY = 300000 };

TEST(many_tracks_names_and_categories)
{
	struct test_trace *t = test_trace_new();
	for (int i = 0; i < MANY; i++) {
		char text[32];
		snprintf(text, sizeof(text), "%d", i);
		test_span(t, text, text, i, MANY - i, 5);
	}
	struct tscope_trace *trace = test_trace_finish(t);
	assert_int_equal(trace->track_count, MANY);
	assert_int_equal(trace->category_count, MANY);
}

TEST(deep_nesting_in_reverse_order)
{
	struct test_trace *t = test_trace_new();
	for (int i = MANY; i-- > 0;)
		test_op(t, "a", 1, i, 2 * (MANY - i));
	struct tscope_trace *trace = test_trace_finish(t);
	for (uint32_t row = 0; row < MANY; row++)
		assert_int_equal(tsi_start_ns(&trace->spans, row), row);
}

TEST(all_at_one_time_with_one_correlation)
{
	struct test_trace *t = test_trace_new();
	for (int i = 0; i < MANY; i++) {
		test_call(t, "cudaLaunchKernel", 1, 5, i % 7, 42);
		test_kernel(t, "k", 0, 7, 5, i % 5, 42);
	}
	struct tscope_trace *trace = test_trace_finish(t);
	for (uint32_t row = 1; row < MANY; row++)
		assert_true(tsi_dur_ns(&trace->spans, row - 1) >= tsi_dur_ns(&trace->spans, row));
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_duplicate_correlation), MANY - 1);
	assert_int_equal(diagnostic(trace, TSCOPE_DIAGNOSTIC_unlinked_device_event), 0);
}

/* ROCm numbers devices by the machine in its kernels, and by the process where it lists them. */
TEST(devices_that_are_not_listed)
{
	static const struct {
		const char *properties;
		uint32_t found;
	} cases[] = {
		{ "[{\"id\": 0, \"name\": \"A\"}]", 0 },
		{ "[{\"id\": 0, \"name\": \"A\"}, {\"id\": 5, \"name\": \"B\"}]", 1 },
		{ "[{\"id\": 0, \"name\": \"A\"}, {\"id\": 1, \"name\": \"A\"}]", 0 },
		{ "[{\"id\": 0, \"name\": \"A\"}, {\"id\": 1, \"name\": \"B\"}]", NO_ROW },
		{ "[{\"id\": 0, \"name\": \"A\", \"numSms\": 4},"
		  " {\"id\": 1, \"name\": \"A\", \"numSms\": 8}]",
		  NO_ROW },
		{ "[]", NO_ROW },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		test_metadata(t, "deviceProperties", cases[i].properties);
		test_kernel(t, "k", 5, 7, 0, 10, 1);
		struct tscope_trace *trace = test_trace_finish(t);
		assert_int_equal(trace->devices[0].properties, cases[i].found);
	}
}
