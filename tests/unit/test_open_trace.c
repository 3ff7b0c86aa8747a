/* SPDX-License-Identifier: MIT */
/* session/open_trace.c and version.c: from bytes to a trace, whole, cut and refused. */
#include <tscope/tscope.h>

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "packed.h"

static const char whole[] = "{\"schemaVersion\": 1, \"traceEvents\": [\n"
			    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"pid\": 1, "
			    "\"tid\": 2, \"ts\": 10, \"dur\": 5},\n"
			    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"b\", \"pid\": 1, "
			    "\"tid\": 2, \"ts\": 20.5, \"dur\": 0.25}\n"
			    "], \"baseTimeNanoseconds\": 1000}\n";

static enum tscope_status open_text(struct tscope_trace **trace, const char *text, size_t length,
				    struct tscope_error *err)
{
	return tscope_trace_open_memory(trace, "memory.json", text, length, NULL, err);
}

TEST(a_whole_trace)
{
	struct tscope_trace *trace;
	assert_int_equal(open_text(&trace, whole, strlen(whole), NULL), TSCOPE_OK);
	const struct tscope_trace_info *info = tscope_trace_info(trace);
	assert_string_equal(info->path, "memory.json");
	assert_string_equal(info->format, "kineto");
	assert_string_equal(info->compression, "none");
	assert_int_equal(info->source_bytes, strlen(whole));
	assert_int_equal(info->bytes, strlen(whole));
	assert_int_equal(info->event_count, 2);
	assert_int_equal(info->first_ns, 10000);
	assert_int_equal(info->last_ns, 20750);
	assert_int_equal(info->base_time_ns, 1000);
	assert_null(tscope_trace_damage(trace));
	assert_int_equal(tscope_trace_span_count(trace), 2);
	tscope_trace_free(trace);
}

/* Cut at every byte: a trace with its damage as soon as one event was whole, else an error. */
TEST(a_trace_cut_anywhere)
{
	const char *first_end = strchr(whole, '}') + 1;
	for (size_t length = 0; length < strlen(whole) - 2; length++) {
		struct tscope_trace *trace = NULL;
		struct tscope_error err = { 0 };
		enum tscope_status status = open_text(&trace, whole, length, &err);
		if (whole + length < first_end) {
			assert_int_not_equal(status, TSCOPE_OK);
			assert_int_equal(err.status, status);
			assert_true(*err.message);
			assert_null(trace);
			continue;
		}
		assert_int_equal(status, TSCOPE_OK);
		const struct tscope_error *damage = tscope_trace_damage(trace);
		assert_non_null(damage);
		assert_int_equal(damage->status, TSCOPE_E_DAMAGED);
		assert_true(*damage->message);
		tscope_trace_free(trace);
	}
}

TEST(refused)
{
	static const struct {
		const char *text;
		enum tscope_status status;
		const char *part; /* of the message */
	} cases[] = {
		{ "not JSON", TSCOPE_E_FORMAT, "not a trace" },
		{ "{\"traceEvents\": []}", TSCOPE_E_EMPTY, "none of 0 events is timed work" },
		{ "{\"deviceProperties\": [], \"traceEvents\": []}", TSCOPE_E_EMPTY,
		  "never reached its active phase" },
		{ "{\"schema\": \"1.0\", \"nodes\": []}", TSCOPE_E_UNSUPPORTED, "execution trace" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tscope_trace *trace = NULL;
		struct tscope_error err = { 0 };
		enum tscope_status status =
			open_text(&trace, cases[i].text, strlen(cases[i].text), &err);
		print_message("%s: %s\n", cases[i].text, err.message);
		assert_int_equal(status, cases[i].status);
		assert_int_equal(err.status, status);
		assert_non_null(strstr(err.message, cases[i].part));
		assert_null(trace);
	}
}

TEST(a_missing_file)
{
	struct tscope_trace *trace = NULL;
	struct tscope_error err = { 0 };
	assert_int_equal(tscope_trace_open(&trace, "no such file", NULL, &err), TSCOPE_E_IO);
	assert_string_equal(err.message, "cannot open: No such file or directory");
	assert_int_equal(tscope_trace_open(&trace, "no such file", NULL, NULL), TSCOPE_E_IO);
	assert_null(trace);
}

/* A limit ends the reading; what came before it stays. */
TEST(limits_damage)
{
	struct tscope_trace *trace;
	/* "", "cpu_op", "1", "2", "a" fit; "b" is one too many */
	struct tscope_trace_options options = { .max_names = 5 };
	assert_int_equal(
		tscope_trace_open_memory(&trace, "x", whole, strlen(whole), &options, NULL),
		TSCOPE_OK);
	assert_int_equal(tscope_trace_span_count(trace), 1);
	assert_int_equal(tscope_trace_damage(trace)->status, TSCOPE_E_LIMIT);
	assert_string_equal(tscope_trace_damage(trace)->message,
			    "more than 5 different names (limit: names)");
	tscope_trace_free(trace);

	options = (struct tscope_trace_options){ .max_names = 1 };
	struct tscope_error err;
	assert_int_equal(
		tscope_trace_open_memory(&trace, "x", whole, strlen(whole), &options, &err),
		TSCOPE_E_LIMIT);
	assert_string_equal(err.message, "more than 1 different names (limit: names)");
}

#if HAVE_ZLIB
/* How much of it was read by then depends on how far ahead others were: the report says its size. */
TEST(given_up_before_its_end)
{
	struct bytes text = { 0 }, packed = { 0 };
	const char *second = strchr(whole, '}') + 1;
	bytes_add(&text, whole, (size_t)(second - whole));
	for (int i = 0; i < 2000; i++)
		bytes_add(&text, second, (size_t)(strchr(second, '}') + 1 - second));
	bytes_add_gzip(&packed, text.data, text.length);
	for (unsigned thread_count = 1; thread_count <= 3; thread_count++) {
		struct tscope_trace *trace;
		struct tscope_trace_options options = { .max_names = 5,
							.block_bytes = 100,
							.thread_count = thread_count };
		assert_int_equal(tscope_trace_open_memory(&trace, "x.gz", packed.data,
							  packed.length, &options, NULL),
				 TSCOPE_OK);
		assert_int_equal(tscope_trace_damage(trace)->status, TSCOPE_E_LIMIT);
		assert_int_equal(tscope_trace_info(trace)->source_bytes, packed.length);
		assert_true(tscope_trace_info(trace)->bytes < text.length / 2);
		tscope_trace_free(trace);
	}
	bytes_reset(&text);
	bytes_reset(&packed);
}
#endif

static void note_progress(void *data, uint64_t source_bytes, uint64_t source_size, uint64_t bytes)
{
	uint64_t *last = data;
	assert_true(source_bytes <= source_size);
	assert_true(bytes >= *last);
	*last = bytes;
}

TEST(progress_is_told)
{
	enum { EVENTS = 40000, EVENT_CHARS = 80 };
	static char text[EVENTS * EVENT_CHARS];
	size_t length = 1;
	text[0] = '[';
	for (int i = 0; i < EVENTS; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "{\"ph\":\"X\",\"name\":\"a\",\"ts\":%d,\"dur\":1},", i);
	uint64_t last = 0;
	struct tscope_trace *trace;
	struct tscope_trace_options options = {
		.thread_count = 1,
		.block_bytes = 4096,
		.progress = note_progress,
		.progress_data = &last,
	};
	assert_int_equal(tscope_trace_open_memory(&trace, "x", text, length, &options, NULL),
			 TSCOPE_OK);
	assert_int_equal(tscope_trace_span_count(trace), EVENTS);
	assert_true(last > length / 2);
	tscope_trace_free(trace);
}

TEST(every_allocation_may_fail)
{
	struct alloc_sweep sweep = { .at_least = 20 };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_trace *trace = NULL;
		alloc_sweep_try(&sweep, open_text(&trace, whole, strlen(whole), &sweep.err));
		assert_int_equal(!trace, sweep.has_failed);
		tscope_trace_free(trace);
	}
}

TEST(the_build_describes_itself)
{
	size_t count = 0;
	assert_true(*tscope_version());
	while (tscope_build_feature(count))
		assert_true(*tscope_build_feature(count++));
	assert_int_equal(count, 7); /* zlib, isa-l, zstd, lz4, libyaml, libiberty, libarchive */
	assert_null(tscope_build_feature(SIZE_MAX));
}
