/* SPDX-License-Identifier: MIT */
/*
 * model/trace/known.c: a builder that is told which events are of one kind makes the same trace as one
 * that is not.
 */
#include "model/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "random_numbers.h"
#include "test_kept.h"
#include "trace_builder.h"

enum {
	MAX_ARGS = 5,
	EVENTS = 400,
	ARGS_CHARS = 512,
};

/* An argument; a NULL text is a number that differs from event to event. */
struct template_arg {
	const char *key, *text;
};

struct template
{
	char phase;
	const char *cat, *name, *tid;
	struct template_arg args[MAX_ARGS];
};

static const struct template templates[] = {
	{ 'X', "cpu_op", "aten::mm", "1", { { "External id", NULL }, { "Ev Idx", NULL } } },
	{ 'X',
	  "cpu_op",
	  "aten::mm",
	  "1",
	  { { "External id", "7" },
	    { "Sequence number", NULL },
	    { "Fwd thread id", "0" },
	    { "Input Dims", "[[2, 3]]" } } },
	{ 'X',
	  "cpu_op",
	  "aten::mm",
	  "2",
	  { { "External id", NULL }, { "Sequence number", NULL }, { "Fwd thread id", NULL } } },
	{ 'X', "cpu_op", "aten::add", "2", { { "Sequence number", NULL }, { "flops", NULL } } },
	{ 'X',
	  "cpu_op",
	  "record_param_comms",
	  "2",
	  { { "Collective name", "\"x\"" }, { "Seq", NULL } } },
	{ 'X', "cpu_op", "tab\\tescaped", "1", { { "External id", NULL } } },
	{ 'X', "user_annotation", "forward", "1", { { "External id", NULL } } },
	{ 'X', "", "event/train_batch", "1", { { "batch", NULL } } },
	{ 'X', "user_annotation", "nccl:all_reduce", "1", { { "Input Dims", "[[4]]" } } },
	{ 'X',
	  "cuda_runtime",
	  "cudaLaunchKernel",
	  "1",
	  { { "External id", NULL }, { "correlation", NULL } } },
	{ 'X',
	  "cuda_runtime",
	  "cudaLaunchKernel",
	  "2",
	  { { "External id", "3" }, { "correlation", NULL } } },
	{ 'X', "cuda_runtime", "hipMemcpy", "2", { { "correlation", NULL }, { "bytes", NULL } } },
	{ 'X',
	  "kernel",
	  "gemm",
	  "7",
	  { { "device", "0" },
	    { "stream", "7" },
	    { "correlation", NULL },
	    { "External id", NULL },
	    { "grid", "[4, 1, 1]" } } },
	{ 'X',
	  "kernel",
	  "gemm",
	  "8",
	  { { "device", "1" }, { "stream", NULL }, { "correlation", NULL } } },
	{ 'X', "gpu_memcpy", "Memcpy HtoD", "7", { { "bytes", NULL }, { "correlation", NULL } } },
	{ 'X', "kernel", "event_wait", "7", { { "correlation", NULL } } },
	{ 'X',
	  "kernel",
	  "ncclKernel",
	  "9",
	  { { "Collective name", "\"y\"" }, { "correlation", NULL } } },
	{ 'X', "python_function", "f", "1", { { "Python id", NULL } } },
	{ 'X', "python_function", "g", "1", { { "Python id", NULL } } },
	{ 'X', "cuda_sync", "Event Sync", "7", { { "correlation", NULL } } },
	{ 's', "ac2g", "ac2g", "1", { { NULL, NULL } } },
	{ '?', "odd", "odd", "1", { { NULL, NULL } } },
	{ 'B', "", "slice", "3", { { NULL, NULL } } },
	{ 'E', "", "slice", "3", { { NULL, NULL } } },
	{ 'C', "", "counter", "3", { { "value", NULL } } },
	{ 'i',
	  "cpu_instant_event",
	  "[memory]",
	  "1",
	  { { "Total Allocated", NULL },
	    { "Total Reserved", "9" },
	    { "Device Id", "0" },
	    { "Device Type", "1" } } },
	{ 'i',
	  "cpu_instant_event",
	  "[memory]",
	  "1",
	  { { "Total Allocated", NULL },
	    { "Total Reserved", NULL },
	    { "Device Id", NULL },
	    { "Device Type", "1" } } },
	{ 'i',
	  "cpu_instant_event",
	  "[memory]",
	  "2",
	  { { "Total Allocated", NULL },
	    { "Total Reserved", NULL },
	    { "Device Id", "0" },
	    { "Device Type", "1" } } },
	{ 'i',
	  "cpu_instant_event",
	  "[memory]",
	  "1",
	  { { "Total Allocated", NULL }, { "Device Id", "-1" }, { "Device Type", "0" } } },
	{ 'i',
	  "cpu_instant_event",
	  "[memory]",
	  "1",
	  { { "Device Id", "0" }, { "Device Type", "1" }, { "Bytes", NULL } } },
	{ 'i',
	  "cpu_instant_event",
	  "[memory]",
	  "2",
	  { { "Total Allocated", NULL }, { "Device Id", "0" }, { "Bytes", NULL } } },
	{ 'i',
	  "cpu_instant_event",
	  "[OutOfMemory]",
	  "1",
	  { { "Total Allocated", NULL }, { "Device Id", "0" }, { "Device Type", "1" } } },
	{ 'i', "x", "mark", "1", { { NULL, NULL } } },
	{ 'i', "x", "Record Window End", "1", { { NULL, NULL } } },
};

/* Small numbers, so that ids meet, and what else a JSON number may be. */
static const char *random_number(uint64_t *seed)
{
	static char text[24];
	static const char *const odd[] = {
		"0",
		"-1",
		"1e3",
		"12.5",
		"4294967295",
		"4294967296",
		"18446744073709551615",
		"9223372036854775807",
		"123456789012345",
		"1234567890123456",
		"12345678",
	};

	if (random_below(seed, 6) == 0)
		return odd[random_below(seed, TSI_COUNT_OF(odd))];
	snprintf(text, sizeof(text), "%u", random_below(seed, 12));
	return text;
}

static uint64_t value_of(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return text[digits] || digits > 15 ? UINT64_MAX : strtoull(text, NULL, 10);
}

/* Writes the args of an event; the numbers among them that the sink asks for go to the repeat. */
static struct str put_args(const struct template *from, const struct event_sink *sink, char *text,
			   struct raw_repeat *repeat, uint64_t *seed)
{
	size_t length = (size_t)snprintf(text, ARGS_CHARS, "{");

	for (size_t i = 0; i < MAX_ARGS && from->args[i].key; i++) {
		const struct template_arg *arg = &from->args[i];
		const char *value = arg->text ? arg->text : random_number(seed);
		unsigned number = sink->arg_of(tsi_str_of(arg->key));

		length += (size_t)snprintf(text + length, ARGS_CHARS - length,
					   "%s\"%s\": ", i ? ", " : "", arg->key);
		if (!arg->text && number)
			repeat->numbers[repeat->number_count++] = (struct raw_number){
				.value = value_of(value),
				.at = (uint32_t)length,
				.length = (uint16_t)strlen(value),
				.arg = (uint16_t)number,
			};
		length += (size_t)snprintf(text + length, ARGS_CHARS - length, "%s", value);
	}
	length += (size_t)snprintf(text + length, ARGS_CHARS - length, "}");
	repeat->text = text;
	return (struct str){ text, length };
}

/* As a decoder does: the sink is offered the repeat, and gets the event if it does not want it. */
static void give_event(struct test_trace *t, const struct raw_event *event,
		       const struct raw_repeat *repeat)
{
	struct event_sink *sink = test_trace_sink(t);
	enum tscope_status status;

	if (!event->kind || !sink->repeat(sink, repeat, &status, NULL))
		test_event(t, event);
	else
		assert_int_equal(status, TSCOPE_OK);
}

/* Some times are none. */
static int64_t random_time(uint64_t *seed)
{
	static const int64_t odd[] = { 0, INT64_MAX, INT64_MIN, INT64_C(-4000000000000000000) };

	return random_below(seed, 40) ? random_below(seed, 1000000)
				      : odd[random_below(seed, TSI_COUNT_OF(odd))];
}

static struct tscope_trace *random_trace(uint64_t seed, bool with_kinds,
					 const struct builder_options *options)
{
	struct test_trace *t = test_trace_new_with(options);
	struct event_sink *sink = test_trace_sink(t);

	for (int i = 0; i < EVENTS; i++) {
		uint32_t which = random_below(&seed, TSI_COUNT_OF(templates));
		const struct template *from = &templates[which];
		char args[ARGS_CHARS];
		struct raw_event event = {
			.phase = from->phase,
			.has_ts = true,
			.has_dur = from->phase == 'X',
			.name_escaped = strchr(from->name, '\\') != NULL,
			.ts_ns = random_time(&seed),
			.dur_ns = from->phase == 'X' ? random_below(&seed, 5000) : 0,
			.name = tsi_str_of(from->name),
			.cat = tsi_str_of(from->cat),
			.pid = TSI_STR("100"),
			.tid = tsi_str_of(from->tid),
		};
		if (strcmp(from->cat, "python_function") == 0)
			event.dur_ns *= 40; /* up to twice what is long */
		struct raw_repeat repeat = { .ts_ns = event.ts_ns, .dur_ns = event.dur_ns };
		event.args = put_args(from, sink, args, &repeat, &seed);
		if (random_below(&seed, 8) && with_kinds)
			event.kind = repeat.kind = which + 1;
		give_event(t, &event, &repeat);
	}
	return test_trace_finish(t);
}

static void check_row(const struct tscope_trace *a, const struct tscope_trace *b, uint32_t row)
{
	struct tscope_span of_a = tscope_trace_span(a, row), of_b = tscope_trace_span(b, row);
	const struct span_kind *kind_a = tsi_span_kind(&a->spans, row);
	const struct span_kind *kind_b = tsi_span_kind(&b->spans, row);

	assert_true(of_a.start_ns == of_b.start_ns && of_a.dur_ns == of_b.dur_ns);
	assert_string_equal(of_a.name, of_b.name);
	assert_int_equal(of_a.span_class, of_b.span_class);
	assert_int_equal(of_a.track, of_b.track);
	assert_int_equal(of_a.launch, of_b.launch);
	assert_int_equal(of_a.op, of_b.op);
	assert_memory_equal(kind_a, kind_b, sizeof(*kind_a));
}

static void check_same(const struct tscope_trace *a, const struct tscope_trace *b)
{
	assert_int_equal(a->spans.count, b->spans.count);
	for (uint32_t row = 0; row < a->spans.count; row++)
		check_row(a, b, row);
	assert_memory_equal(a->diagnostics, b->diagnostics, sizeof(a->diagnostics));
	assert_int_equal(a->category_count, b->category_count);
	for (size_t i = 0; i < a->category_count; i++)
		assert_int_equal(a->categories[i].count, b->categories[i].count);
	assert_int_equal(a->allocator_point_count, b->allocator_point_count);
	for (size_t i = 0; i < a->allocator_point_count; i++) {
		const struct allocator_point *of_a = &a->allocator_points[i],
					     *of_b = &b->allocator_points[i];
		assert_true(of_a->time_ns == of_b->time_ns && of_a->is_oom == of_b->is_oom &&
			    of_a->allocated_bytes == of_b->allocated_bytes &&
			    of_a->reserved_bytes == of_b->reserved_bytes &&
			    of_a->device == of_b->device);
	}
	assert_int_equal(a->sync_record_count, b->sync_record_count);
	assert_int_equal(a->batch_count, b->batch_count);
	assert_int_equal(a->work_shape_count, b->work_shape_count);
}

static bool is_named_f(struct str name)
{
	return tsi_str_is(name, "f");
}

TEST(kinds_change_nothing)
{
	static const struct builder_options options[] = {
		{ 0 },
		{ .python = true },
		{ .is_telling_frame = is_named_f },
	};

	for (uint64_t round = 0; round < 500; round++) {
		const struct builder_options *of_round = &options[round % 3];
		struct tscope_trace *usual = random_trace(round, false, of_round);
		struct tscope_trace *known = random_trace(round, true, of_round);
		check_same(usual, known);
		test_release_kept();
	}
}

/* A kind beyond all others, alone. */
TEST(kinds_of_any_number)
{
	struct test_trace *t = test_trace_new();

	for (int i = 0; i < 3; i++)
		test_event(t, &(struct raw_event){
				      .phase = 'X',
				      .has_ts = true,
				      .has_dur = true,
				      .ts_ns = 10 * i,
				      .dur_ns = 5,
				      .name = TSI_STR("a"),
				      .cat = TSI_STR("cpu_op"),
				      .kind = 4 * MAX_KINDS,
			      });
	struct tscope_trace *trace = test_trace_finish(t);
	test_check_rows(trace, "0 cpu_op a 0 5\n0 cpu_op a 10 5\n0 cpu_op a 20 5\n");
}
