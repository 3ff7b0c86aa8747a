/* SPDX-License-Identifier: MIT */
/*
 * What is particular about VizTracer's traces, from the model to the timeline: the order of calls
 * that a file has by their ends, collections of several threads, the main thread, steps and phases
 * by functions, the ring buffer, pages; and that Python is analysed unasked.
 */
#include "analysis_check.h"
#include "fail_alloc.h"

#include <stdio.h>

#include "base/attributes.h"
#include "check.h"

#include <tscope/tscope.h>

static struct test_trace *new_viztracer(const char *metadata)
{
	struct test_trace *t = test_trace_new();

	test_metadata(t, "viztracer_metadata", metadata);
	return t;
}

static void call(struct test_trace *t, const char *name, int64_t tid, int64_t start_ns,
		 int64_t dur_ns)
{
	test_span(t, "FEE", name, tid, start_ns, dur_ns);
}

/* Children stand before their parents; of those that share start and end the last is outermost. */
TEST(order_of_calls)
{
	struct test_trace *t = new_viztracer("{}");

	call(t, "leaf", 100, 10, 5);
	call(t, "inner", 100, 0, 20);
	call(t, "middle", 100, 0, 20);
	test_op(t, "aten::mm", 100, 0, 20); /* torch's events come last, and lie within the calls */
	test_op(t, "aten::dot", 100, 0, 20);
	call(t, "outer", 100, 0, 20);
	call(t, "empty", 100, 20, 0);
	call(t, "next", 100, 20, 0); /* one after the other, for all that the file can tell */
	struct tscope_trace *trace = test_trace_finish(t);
	test_check_rows(trace, "100 python outer 0 20\n"
			       "100 python middle 0 20\n"
			       "100 python inner 0 20\n"
			       "100 cpu_op aten::mm 0 20\n"
			       "100 cpu_op aten::dot 0 20\n"
			       "100 python leaf 10 5\n"
			       "100 python next 20 0\n"
			       "100 python empty 20 0\n");
}

/* Rounding makes calls end up to 1 ns after their callers; more than that is odd. */
TEST(calls_that_cross)
{
	static const struct {
		const char *metadata; /* NULL: another profiler's */
		int64_t dur_ns;
		uint64_t count;
	} cases[] = { { "{}", 16, 0 }, { "{}", 17, 1 }, { NULL, 16, 1 }, { NULL, 15, 0 } };

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		if (cases[i].metadata)
			test_metadata(t, "viztracer_metadata", cases[i].metadata);
		call(t, "child", 100, 5, cases[i].dur_ns);
		call(t, "parent", 100, 0, 20);
		struct tscope_trace *trace = test_trace_finish(t);
		assert_int_equal(tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_crossing_spans),
				 cases[i].count);
	}
}

/* Elsewhere equal ones stay as they are in the file: Kineto's parents stand first. */
TEST(order_of_frames)
{
	struct test_trace *t = test_trace_new_with(&(struct builder_options){ .python = true });

	test_span(t, "python_function", "outer", 1, 0, 20);
	test_op(t, "aten::mm", 1, 0, 20);
	test_span(t, "python_function", "inner", 1, 0, 20);
	struct tscope_trace *trace = test_trace_finish(t);
	test_check_rows(trace, "1 python outer 0 20\n"
			       "1 cpu_op aten::mm 0 20\n"
			       "1 python inner 0 20\n");
}

/* So many equal ones that they are merged, not inserted: 40 in each of two lists. */
TEST(order_of_many)
{
	enum { CALLS = 80 };
	struct test_trace *t = new_viztracer("{}");
	char name[16];

	for (int i = 0; i < CALLS; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		call(t, name, 100, 7, 3);
	}
	struct tscope_trace *trace = test_trace_finish(t);
	for (int i = 0; i < CALLS; i++) {
		snprintf(name, sizeof(name), "f%d", CALLS - 1 - i);
		assert_int_equal(test_row(trace, name), i);
	}
}

static void collect(struct test_trace *t, const char *pid, const char *tid, int64_t at_ns,
		    const char *args)
{
	test_event(t, &(struct raw_event){
			      .phase = 'C',
			      .has_ts = true,
			      .ts_ns = at_ns,
			      .name = TSI_STR("garbage collection"),
			      .pid = tsi_str_of(pid),
			      .tid = tsi_str_of(tid),
			      .args = tsi_str_of(args),
		      });
}

/* Two processes collect at once: each ends its own pause. An end without a beginning is nothing. */
TEST(collections_of_several_threads)
{
	struct test_trace *t = new_viztracer("{}");

	collect(t, "1", "1", 5, "{\"collecting\": 0}");
	collect(t, "1", "1", 10, "{\"collecting\": 1}");
	collect(t, "2", "2", 20, "{\"collecting\": 1}");
	collect(t, "1", "1", 40, "{\"collecting\": 0}");
	collect(t, "2", "2", 90, "{\"collecting\": 0}");
	collect(t, "2", "2", 95, "{\"collecting\": 0}");
	collect(t, "2", "2", 99, "{}");
	struct tscope_trace *trace = test_trace_finish(t);
	test_check_rows(trace, "1 gc garbage collection 10 30\n"
			       "2 gc garbage collection 20 70\n");
}

TEST(overflow)
{
	static const struct {
		const char *metadata, *is_overflown;
		uint64_t count;
	} cases[] = {
		{ "{\"overflow\": true}", "yes", 1 },
		{ "{\"overflow\":false, \"version\": \"1.0.4\"}", "no", 0 },
		{ "{\"version\": \"0.9.5\"}", "no", 0 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = new_viztracer(cases[i].metadata);
		call(t, "f", 100, 0, 5);
		struct analyzed *a = analyze(t);
		check_facts(a, "integrity: overflow", cases[i].is_overflown);
		assert_int_equal(
			tscope_trace_diagnostic(a->trace, TSCOPE_DIAGNOSTIC_ring_buffer_overflow),
			cases[i].count);
		assert_string_equal(tscope_trace_info(a->trace)->format, "viztracer");
	}
	struct test_trace *t = test_trace_new();
	test_op(t, "aten::mm", 1, 0, 5);
	struct analyzed *a = analyze(t);
	check_facts(a, "integrity: overflow", "-");
}

#define OPTIMIZER "wrapper (/x/torch/optim/optimizer.py:480)"
#define NEXT "_BaseDataLoaderIter.__next__ (/x/torch/utils/data/dataloader.py:701)"

/*
 * Three steps by the ends of the optimizer, at 100, 200 and 300. Each loads 20, computes 30
 * forward (the module calls forward), goes back for 10 and steps for 5; the rest, 35, is other.
 */
TEST(steps_and_phases)
{
	struct test_trace *t = new_viztracer("{}");

	for (int64_t at = 0; at < 300; at += 100) {
		call(t, NEXT, 100, at + 10, 20);
		call(t, "Net.forward (/job/net.py:3)", 100, at + 40, 20);
		call(t, "Module._call_impl (/x/torch/nn/modules/module.py:9)", 100, at + 35, 30);
		call(t, "Tensor.backward (/x/torch/_tensor.py:593)", 100, at + 70, 10);
		call(t, OPTIMIZER, 100, at + 95, 5);
	}
	call(t, "main (/job/train.py:3)", 100, 0, 300);
	struct analyzed *a = analyze(t);
	check_facts(a, "steps: count boundary", "3 optimizer");
	check_facts(a,
		    "budget: host.data_total_ns host.forward_total_ns host.backward_total_ns "
		    "host.optimizer_total_ns "
		    "host.other_total_ns",
		    "60 90 30 15 105");
}

/* Frames of torch's own profiler tell no phases: its annotations do, with frames or without. */
TEST(frames_tell_no_phases)
{
	struct test_trace *t = test_trace_new_with(&(struct builder_options){ .python = true });

	test_span(t, "python_function", "torch/utils/data/dataloader.py(701): __next__", 1, 0, 40);
	test_span(t, "python_function", "torch/optim/optimizer.py(480): wrapper", 1, 50, 40);
	test_op(t, "aten::mm", 1, 60, 10);
	struct analyzed *a = analyze(t);
	check_facts(a, "steps: boundary", "whole_trace");
	check_facts(a, "budget: host.data_total_ns host.forward_total_ns host.other_total_ns",
		    "0 10 80");
}

/* A function marks the steps by its name, with its place or without, and an event with a number. */
TEST(step_markers)
{
	static const struct {
		const char *marker, *numbers;
	} cases[] = {
		{ "step", "7 8" }, { "train", "0 1" },         { "train (/job/t.py:3)", "0 1" },
		{ "tra", "" },     { "train (/job/t.py", "" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = new_viztracer("{}");
		const struct tscope_timeline_options options = { .step_marker = cases[i].marker };
		char numbers[64] = "";

		call(t, "step#7 (/job/t.py:9)", 100, 10, 20);
		call(t, "train (/job/t.py:3)", 100, 0, 50);
		call(t, "step#8 (/job/t.py:9)", 100, 60, 20);
		call(t, "train (/job/t.py:3)", 100, 50, 50);
		struct tscope_trace *trace = test_trace_finish(t);
		struct tscope_timeline *timeline = test_timeline(trace, &options);
		bool is_marked = tscope_timeline_boundary(timeline) == TSCOPE_BOUNDARY_STEP_MARKER;
		for (uint32_t s = 0; is_marked && s < tscope_timeline_step_count(timeline); s++)
			snprintf(numbers + strlen(numbers), sizeof(numbers) - strlen(numbers),
				 "%s%d", s ? " " : "",
				 (int)tscope_timeline_step(timeline, s).number);
		assert_string_equal(numbers, cases[i].numbers);
	}
}

/* ---- whole files --------------------------------------------------------------------------- */

static struct tscope_trace *open_file(const char *name)
{
	struct tscope_trace *trace;
	struct tscope_error err = { 0 };
	char path[1024];

	snprintf(path, sizeof(path), "%s/%s", testdata, name);
	if (tscope_trace_open(&trace, path, NULL, &err) != TSCOPE_OK)
		fail_msg("%s: %s", path, err.message);
	return trace;
}

static void check_same_rows(const struct tscope_trace *a, const struct tscope_trace *b)
{
	assert_int_equal(a->spans.count, b->spans.count);
	for (uint32_t row = 0; row < a->spans.count; row++) {
		assert_int_equal(tsi_start_ns(&a->spans, row), tsi_start_ns(&b->spans, row));
		assert_int_equal(tsi_dur_ns(&a->spans, row), tsi_dur_ns(&b->spans, row));
		assert_true(tsi_str_equal(tsi_span_name(a, row), tsi_span_name(b, row)));
	}
}

/* A page is the file that it holds. */
TEST(page_and_file)
{
	struct tscope_trace *file = open_file("viztracer.json");
	struct tscope_trace *page = open_file("viztracer.html");

	check_same_rows(file, page);
	for (int i = 0; i < TSCOPE_DIAGNOSTIC_COUNT; i++)
		assert_int_equal(tscope_trace_diagnostic(page, (enum tscope_diagnostic)i), 0);
	assert_string_equal(tscope_trace_info(page)->format, "viztracer");
	assert_int_equal(tscope_trace_info(page)->base_time_ns,
			 tscope_trace_info(file)->base_time_ns);
	tscope_trace_free(file);
	tscope_trace_free(page);
}

/* torch's events are linked among each other as without VizTracer's, beside the calls. */
TEST(torch_events_merged_in)
{
	struct tscope_trace *torch = open_file("two_steps.json");
	struct tscope_trace *merged = open_file("viztracer_torch.json");
	uint32_t linked = 0, calls = 0;

	for (uint32_t row = 0; row < merged->spans.count; row++) {
		uint8_t span_class = tsi_span_class(&merged->spans, row);
		linked += tsi_class_is_device(span_class) &&
			  tsi_device_event(merged, row)->call != NO_ROW &&
			  tsi_device_event(merged, row)->op != NO_ROW;
		calls += span_class == TSCOPE_SPAN_PYTHON;
	}
	assert_int_equal(linked, 14);
	assert_int_equal(calls, 9);
	assert_int_equal(merged->device_event_count, torch->device_event_count);
	assert_int_equal(merged->cpu_op_count, torch->cpu_op_count);
	assert_int_equal(merged->call_count, torch->call_count);
	assert_true(merged->is_kineto && merged->is_viztracer);
	tscope_trace_free(torch);
	tscope_trace_free(merged);
}

/* Durations of VizTracer have the digits of a double: 0.4006015155280184 µs is 401 ns. */
TEST(full_doubles)
{
	static const char text[] =
		"{\"traceEvents\": [{\"pid\": 802, \"tid\": 802, \"ts\": 3373219278.848, \"ph\": "
		"\"X\", \"dur\": 0.4006015155280184, \"name\": \"f (a.py:3)\", \"args\": "
		"{\"func_args\": {\"n\": \"1\"}}, \"cat\": \"FEE\"}, {\"pid\": 802, \"tid\": 802, "
		"\"ts\": 3373219279.1, \"ph\": \"X\", \"dur\": 1e-3, \"name\": \"g\", \"cat\": "
		"\"fee\"}], \"viztracer_metadata\": {\"overflow\": false}}";
	struct tscope_trace *trace;
	struct tscope_error err = { 0 };

	assert_int_equal(tscope_trace_open_memory(&trace, "t", text, sizeof(text) - 1, NULL, &err),
			 TSCOPE_OK);
	test_check_rows(trace, "802 python f (a.py:3) 3373219278848 401\n"
			       "802 python g 3373219279100 1\n");
	tscope_trace_free(trace);
}

/* Python is what a trace of VizTracer is about; of others it is analysed on request. */
TEST(analysed_unasked)
{
	static const struct {
		const char *file;
		bool is_analysed;
	} cases[] = { { "viztracer.json", true },
		      { "viztracer_torch.json", true },
		      { "two_steps.json", false } };

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_trace *trace = open_file(cases[i].file);
		struct tscope_analysis *analysis;
		struct tscope_error err = { 0 };
		struct tscope_value value;
		enum tscope_unit unit;
		struct tscope_timeline *timeline = test_timeline(trace, NULL);

		assert_int_equal(tscope_analyze(&analysis, trace, timeline, NULL, &err), TSCOPE_OK);
		value.kind = TSCOPE_VALUE_ABSENT;
		(void)tscope_analysis_find(analysis, "python.call_count", &value, &unit);
		assert_int_equal(value.kind == TSCOPE_VALUE_INT, cases[i].is_analysed);
		tscope_analysis_free(analysis);
		tscope_trace_free(trace);
	}
}

/* Opens a page, and analyses it, in one thread. */
static enum tscope_status analyze_page(const char *path, struct tscope_error *err)
{
	const struct tscope_trace_options options = { .thread_count = 1 };
	struct tscope_trace *trace = NULL;
	struct tscope_timeline *timeline = NULL;
	struct tscope_analysis *analysis = NULL;
	enum tscope_status status = tscope_trace_open(&trace, path, &options, err);

	if (status == TSCOPE_OK)
		status = tscope_timeline_build(&timeline, trace, NULL, err);
	if (status == TSCOPE_OK)
		status = tscope_analyze(&analysis, trace, timeline, NULL, err);
	tscope_analysis_free(analysis);
	tscope_timeline_free(timeline);
	tscope_trace_free(trace);
	return status;
}

TEST(failing_allocations)
{
	char path[1024];

	snprintf(path, sizeof(path), "%s/viztracer.html", testdata);
	struct alloc_sweep sweep = { .at_least = 100 };
	while (alloc_sweep_next(&sweep))
		alloc_sweep_try(&sweep, analyze_page(path, &sweep.err));
}
