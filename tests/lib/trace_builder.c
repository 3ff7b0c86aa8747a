/* SPDX-License-Identifier: MIT */
/*
 * Feeds the trace model's builder with events that tests describe by calls.
 * It stands where a decoder stands: between the two is only struct event_sink.
 */
#include "trace_builder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "input/input.h"
#include "test_kept.h"
#include "timeline/timeline.h"

#define PROCESS "100"

enum {
	NUMBER_CHARS = 24,
	ARGS_CHARS = 4096,
};

struct test_trace {
	struct builder *builder; /* NULL after a failure */
	enum tscope_status status;
	struct tscope_error err;
};

/* Stands for a trace that could not even be begun: tests make allocations fail. */
static struct test_trace no_memory = {
	.status = TSCOPE_E_NOMEM,
	.err = { .status = TSCOPE_E_NOMEM, .message = "out of memory" },
};

static struct str text_of(const char *text)
{
	return (struct str){ text, strlen(text) };
}

/* The first failure is the one that is reported; later events are not taken. */
static void keep_status(struct test_trace *t, enum tscope_status status)
{
	if (t->status == TSCOPE_OK)
		t->status = status;
}

struct test_trace *test_trace_new_with(const struct builder_options *options)
{
	struct test_trace *t = calloc(1, sizeof(*t));
	if (!t)
		return &no_memory;
	keep_status(t, tsi_builder_new(&t->builder, options, &t->err));
	return t;
}

struct test_trace *test_trace_new(void)
{
	return test_trace_new_with(&(struct builder_options){ 0 });
}

struct event_sink *test_trace_sink(struct test_trace *t)
{
	return tsi_builder_sink(t->builder);
}

/* As from a decoder: args with the padding behind them that readers may touch. */
void test_event(struct test_trace *t, const struct raw_event *event)
{
	char args[ARGS_CHARS + TSI_INPUT_PADDING] = { 0 };
	struct raw_event padded = *event;
	if (t->status != TSCOPE_OK)
		return;
	assert_true(event->args.length < ARGS_CHARS);
	if (event->args.length)
		memcpy(args, event->args.data, event->args.length);
	padded.args.data = args;
	struct event_sink *sink = tsi_builder_sink(t->builder);
	sink->element_count++;
	keep_status(t, sink->event(sink, &padded, &t->err));
}

void test_metadata(struct test_trace *t, const char *key, const char *value)
{
	if (t->status != TSCOPE_OK)
		return;
	struct event_sink *sink = tsi_builder_sink(t->builder);
	keep_status(t, sink->metadata(sink, text_of(key), text_of(value), &t->err));
}

struct raw_event test_whole_event(const char *pid, const char *tid, const char *name,
				  int64_t start_ns, int64_t dur_ns, const char *args)
{
	return (struct raw_event){
		.phase = 'X',
		.has_ts = true,
		.has_dur = true,
		.ts_ns = start_ns,
		.dur_ns = dur_ns,
		.name = text_of(name),
		.pid = text_of(pid),
		.tid = text_of(tid),
		.args = text_of(args),
	};
}

void test_span_args(struct test_trace *t, const char *category, const char *name, int64_t tid,
		    int64_t start_ns, int64_t dur_ns, const char *args)
{
	char thread[NUMBER_CHARS];
	snprintf(thread, sizeof(thread), "%" PRId64, tid);
	struct raw_event event = test_whole_event(PROCESS, thread, name, start_ns, dur_ns, args);
	event.cat = text_of(category);
	test_event(t, &event);
}

void test_mark(struct test_trace *t, char phase, const char *name, int64_t tid, int64_t ts_ns)
{
	char thread[NUMBER_CHARS];
	snprintf(thread, sizeof(thread), "%" PRId64, tid);
	test_event(t, &(struct raw_event){
			      .phase = phase,
			      .has_ts = true,
			      .ts_ns = ts_ns,
			      .name = text_of(name),
			      .pid = TSI_STR(PROCESS),
			      .tid = text_of(thread),
		      });
}

void test_span(struct test_trace *t, const char *category, const char *name, int64_t tid,
	       int64_t start_ns, int64_t dur_ns)
{
	test_span_args(t, category, name, tid, start_ns, dur_ns, "");
}

void test_op(struct test_trace *t, const char *name, int64_t tid, int64_t start_ns, int64_t dur_ns)
{
	test_span(t, "cpu_op", name, tid, start_ns, dur_ns);
}

void test_op_args(struct test_trace *t, const char *name, int64_t tid, int64_t start_ns,
		  int64_t dur_ns, const struct test_op_args *args)
{
	const struct {
		const char *key, *value;
	} members[] = {
		{ "Concrete Inputs", args->concrete }, { "Input type", args->types },
		{ "Input Dims", args->dims },          { "flops", args->flops },
		{ "Sequence number", args->sequence }, { "Fwd thread id", args->forward_thread },
	};
	char text[ARGS_CHARS];
	size_t length = (size_t)snprintf(text, sizeof(text), "{\"External id\": 0");
	for (size_t i = 0; i < TSI_COUNT_OF(members); i++) {
		if (!members[i].value)
			continue;
		length += (size_t)snprintf(text + length, sizeof(text) - length, ", \"%s\": %s",
					   members[i].key, members[i].value);
		assert_true(length + 2 < sizeof(text));
	}
	memcpy(text + length, "}", 2);
	test_span_args(t, "cpu_op", name, tid, start_ns, dur_ns, text);
}

void test_op_inputs(struct test_trace *t, const char *name, int64_t tid, int64_t start_ns,
		    int64_t dur_ns, const char *dims, const char *types, const char *concrete)
{
	test_op_args(t, name, tid, start_ns, dur_ns,
		     &(struct test_op_args){ .dims = dims, .types = types, .concrete = concrete });
}

void test_annotation(struct test_trace *t, const char *name, int64_t tid, int64_t start_ns,
		     int64_t dur_ns)
{
	test_span(t, "user_annotation", name, tid, start_ns, dur_ns);
}

void test_call(struct test_trace *t, const char *name, int64_t tid, int64_t start_ns,
	       int64_t dur_ns, uint64_t correlation)
{
	char args[ARGS_CHARS];
	snprintf(args, sizeof(args), "{\"correlation\": %" PRIu64 "}", correlation);
	test_span_args(t, "cuda_runtime", name, tid, start_ns, dur_ns, args);
}

void test_device_args(struct test_trace *t, const char *category, const char *name, int device,
		      int64_t stream, int64_t start_ns, int64_t dur_ns, uint64_t correlation,
		      const char *more_args)
{
	char device_text[NUMBER_CHARS], stream_text[NUMBER_CHARS], args[ARGS_CHARS];
	snprintf(device_text, sizeof(device_text), "%d", device);
	snprintf(stream_text, sizeof(stream_text), "%" PRId64, stream);
	snprintf(args, sizeof(args),
		 "{\"device\": %d, \"stream\": %" PRId64 ", \"correlation\": %" PRIu64 "%s%s}",
		 device, stream, correlation, *more_args ? ", " : "", more_args);
	test_event(t, &(struct raw_event){
			      .phase = 'X',
			      .has_ts = true,
			      .has_dur = true,
			      .ts_ns = start_ns,
			      .dur_ns = dur_ns,
			      .name = text_of(name),
			      .cat = text_of(category),
			      .pid = text_of(device_text),
			      .tid = text_of(stream_text),
			      .args = text_of(args),
		      });
}

void test_kernel(struct test_trace *t, const char *name, int device, int64_t stream,
		 int64_t start_ns, int64_t dur_ns, uint64_t correlation)
{
	test_device_args(t, "kernel", name, device, stream, start_ns, dur_ns, correlation, "");
}

void test_memcpy(struct test_trace *t, const char *name, int device, int64_t stream,
		 int64_t start_ns, int64_t dur_ns, uint64_t correlation, int64_t bytes)
{
	char more[64];
	snprintf(more, sizeof(more), "\"bytes\": %" PRId64, bytes);
	test_device_args(t, "gpu_memcpy", name, device, stream, start_ns, dur_ns, correlation,
			 more);
}

void test_memset(struct test_trace *t, int device, int64_t stream, int64_t start_ns, int64_t dur_ns,
		 uint64_t correlation, int64_t bytes)
{
	char more[64];
	snprintf(more, sizeof(more), "\"bytes\": %" PRId64, bytes);
	test_device_args(t, "gpu_memset", "Memset (Device)", device, stream, start_ns, dur_ns,
			 correlation, more);
}

enum tscope_status test_trace_try_finish(struct test_trace *t, struct tscope_trace **ret,
					 struct tscope_error *err)
{
	*ret = NULL;
	if (t->status == TSCOPE_OK)
		t->status = tsi_builder_finish(t->builder, ret, &t->err);
	tsi_builder_free(t->builder);
	enum tscope_status status = t->status;
	if (err)
		*err = t->err;
	if (t != &no_memory)
		free(t);
	return status;
}

struct kept_trace {
	struct test_kept kept;
	struct tscope_trace *trace;
	struct tscope_timeline *timeline;
};

static void release(struct test_kept *kept)
{
	struct kept_trace *k = (struct kept_trace *)kept;

	tscope_timeline_free(k->timeline);
	tscope_trace_free(k->trace);
	free(k);
}

static struct kept_trace *keep(struct tscope_trace *trace, struct tscope_timeline *timeline)
{
	struct kept_trace *k = calloc(1, sizeof(*k));

	assert_non_null(k);
	k->trace = trace;
	k->timeline = timeline;
	test_keep(&k->kept, release);
	return k;
}

struct tscope_trace *test_trace_finish(struct test_trace *t)
{
	struct tscope_trace *trace;
	struct tscope_error err;
	if (test_trace_try_finish(t, &trace, &err) != TSCOPE_OK)
		fail_msg("no trace: %s", err.message);
	return keep(trace, NULL)->trace;
}

struct tscope_timeline *test_timeline(const struct tscope_trace *trace,
				      const struct tscope_timeline_options *options)
{
	struct tscope_timeline *timeline;
	struct tscope_error err;
	if (tsi_timeline_build(&timeline, trace, options, true, &err) != TSCOPE_OK)
		fail_msg("no timeline: %s", err.message);
	return keep(NULL, timeline)->timeline;
}

void test_check_rows(const struct tscope_trace *trace, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	for (uint32_t row = 0; row < tscope_trace_span_count(trace); row++) {
		struct tscope_span span = tscope_trace_span(trace, row);
		struct tscope_track track = tscope_trace_track(trace, span.track);
		if (track.is_device)
			fprintf(out, "gpu%" PRId32 "/%" PRId64, track.device, track.stream);
		else
			fputs(track.tid, out);
		fprintf(out, " %s %s %" PRId64 " %" PRId64 "\n",
			tscope_span_class_name(span.span_class), span.name, span.start_ns,
			span.dur_ns);
	}
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

uint32_t test_row(const struct tscope_trace *trace, const char *name)
{
	for (uint32_t row = 0; row < trace->spans.count; row++)
		if (tsi_str_equal(tsi_span_name(trace, row), text_of(name)))
			return row;
	fail_msg("no row is named %s", name);
	return NO_ROW;
}
