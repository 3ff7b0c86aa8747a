/* SPDX-License-Identifier: MIT */
/*
 * decode/events/format_chrome_json.c and element.c: containers, every tolerance with
 * its counter, cut and broken files, limits, and what is refused by which name.
 * Everything is read in blocks of several sizes with the same result.
 */
#include "decode/events/format.h"
#include "decode_log.h"
#include "fail_alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define EVENT "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2}"
#define ESCAPED "{\"\\u0070h\":\"X\",\"n\\u0061me\":\"a\",\"t\\u0073\":1,\"\\u0064ur\":2}"
#define ESCAPED_PH "{\"p\\u0068\":\"\\u0058\",\"name\":\"a\",\"ts\":1,\"dur\":2}"
#define ESCAPED_NA "{\"p\\u0068\":\"X\",\"name\":\"a\",\"t\\u0073\":\"1\",\"dur\":2}"
#define LINE "X|a|||||1000|2000|\n"

struct reading {
	const char *text, *lines;
	int counter; /* that is 1, all others being 0; or -1 */
	enum tscope_status status;
};

static void check_reading(const struct reading *c)
{
	struct event_log log;
	struct tscope_error err = { 0 };
	enum tscope_status status =
		decode_log((struct str){ c->text, strlen(c->text) }, &log, &err);
	if (status != c->status)
		fail_msg("%s: status %d (%s)", c->text, status, err.message);
	if (strcmp(log.text, c->lines) != 0)
		fail_msg("%s: read as %s", c->text, log.text);
	for (int i = 0; i < TSCOPE_DIAGNOSTIC_COUNT; i++)
		if (log.sink.diagnostics[i] != (i == c->counter))
			fail_msg("%s: counter %d is %d", c->text, i, (int)log.sink.diagnostics[i]);
	event_log_deinit(&log);
}

TEST(test_containers)
{
	static const struct reading cases[] = {
		{ "[" EVENT "]", LINE, -1, TSCOPE_OK },
		{ " \n[ " EVENT " , " EVENT " ] \n", LINE LINE, -1, TSCOPE_OK },
		{ "\xef\xbb\xbf[" EVENT "]", LINE, -1, TSCOPE_OK },
		{ "[]", "", -1, TSCOPE_OK },
		{ "{\"traceEvents\":[" EVENT "]}", LINE, -1, TSCOPE_OK },
		{ "{\"traceEvents\":[]}", "", -1, TSCOPE_OK },
		{ "{\"a\": 1, \"traceEvents\": [" EVENT "], \"b\": {\"c\": [\"]\"]}, \"d\": \"x\"}",
		  "M: a=1\n" LINE "M: b={\"c\": [\"]\"]}\nM: d=\"x\"\n", -1, TSCOPE_OK },
		{ "{\"traceEvents\":[" EVENT "],\"traceEvents\":[" EVENT "]}", LINE LINE, -1,
		  TSCOPE_OK },
		{ "{\"file_info\":{\"a\":\"}\"},\"traceEvents\":[" EVENT "],\"n\":[]}",
		  LINE "M: n=[]\n", -1, TSCOPE_OK },
		/* Keys and ph say what they say, however they are written: scanner and careful reader. */
		{ "{\"trace\\u0045vents\":[" ESCAPED "," EVENT "," ESCAPED "," ESCAPED
		  "," ESCAPED_PH "," ESCAPED_NA "]}",
		  LINE LINE LINE LINE LINE LINE, -1, TSCOPE_OK },
		{ "{\"traceEvents\":[" EVENT "],\"n\":-1.5e3 ,\"t\":true}",
		  LINE "M: n=-1.5e3\nM: t=true\n", -1, TSCOPE_OK },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_reading(&cases[i]);
}

#define ONE(id) TSCOPE_DIAGNOSTIC_##id

TEST(test_tolerances)
{
	static const struct reading cases[] = {
		{ "[7," EVENT "]", LINE, ONE(not_an_object), TSCOPE_OK },
		{ "[" EVENT ",[{}]]", LINE, ONE(not_an_object), TSCOPE_OK },
		{ "[\"x, y\"," EVENT "]", LINE, ONE(not_an_object), TSCOPE_OK },
		{ "[{}," EVENT "]", LINE, ONE(empty_event), TSCOPE_OK },
		{ "[{\"ts\":1}," EVENT "]", LINE, ONE(missing_phase), TSCOPE_OK },
		{ "[{\"ph\":\"X\",\"dur\":1}," EVENT "]", LINE, ONE(missing_timestamp), TSCOPE_OK },
		{ "[{\"ph\":\"X\",\"ts\":null,\"dur\":1}," EVENT "]", LINE, ONE(missing_timestamp),
		  TSCOPE_OK },
		{ "[{\"ph\":\"X\",\"ts\":\"100a\",\"dur\":1}," EVENT "]", LINE, ONE(bad_timestamp),
		  TSCOPE_OK },
		{ "[{\"ph\":\"X\",\"ts\":{},\"dur\":1}," EVENT "]", LINE, ONE(bad_timestamp),
		  TSCOPE_OK },
		{ "[{\"ph\":\"X\",\"ts\":1}," EVENT "]", LINE, ONE(missing_duration), TSCOPE_OK },
		{ "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"tdur\":2}]", LINE, -1, TSCOPE_OK },
		{ "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":-2}]", "X|a|||||1000|0|\n",
		  ONE(negative_duration), TSCOPE_OK },
		{ "[{\"ph\":\"M\",\"name\":\"a\",\"args\":{}}]", "M|a|||||0|0|{}\n", -1,
		  TSCOPE_OK },
		{ "[" EVENT ",]", LINE, ONE(trailing_comma), TSCOPE_OK },
		{ "[" EVENT ",," EVENT "]", LINE LINE, ONE(trailing_comma), TSCOPE_OK },
		{ "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2,}]", LINE, ONE(trailing_comma),
		  TSCOPE_OK },
		{ "[" EVENT " " EVENT "]", LINE LINE, ONE(missing_comma), TSCOPE_OK },
		{ "[{\"ph\":\"X\",\"name\":\"b\",\"name\":\"a\",\"ts\":1,\"dur\":2}]", LINE,
		  ONE(duplicate_key), TSCOPE_OK },
		{ "[{\"ph\":\"X\",\"name\":\"a\nb\",\"ts\":1,\"dur\":2}]",
		  "X|a\nb|||||1000|2000|\n", ONE(control_character), TSCOPE_OK },
		{ "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2,\"args\":{\"x\":\"\t\"}}]",
		  "X|a|||||1000|2000|{\"x\":\"\t\"}\n", ONE(control_character), TSCOPE_OK },
		{ "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2,\"id\":N/A}]",
		  "X|a||||N/A|1000|2000|\n", ONE(bare_word), TSCOPE_OK },
		{ "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2,\"id\":-nan}]",
		  "X|a||||-nan|1000|2000|\n", ONE(bare_word), TSCOPE_OK },
		{ "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":\"1\",\"dur\":2e0}]", LINE, -1, TSCOPE_OK },
		{ "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2,\"stack\":[\"]\",{}]}]", LINE,
		  -1, TSCOPE_OK },
		{ "[" EVENT, LINE, ONE(unclosed_json), TSCOPE_OK },
		{ "[" EVENT ",\n", LINE, ONE(unclosed_json), TSCOPE_OK },
		{ "[", "", ONE(unclosed_json), TSCOPE_OK },
		{ "{\"traceEvents\":[" EVENT "}", LINE, ONE(unclosed_json), TSCOPE_OK },
		{ "[" EVENT "]x", LINE, ONE(trailing_bytes), TSCOPE_OK },
		{ "{\"a\":{1},\"traceEvents\":[" EVENT "]}", LINE, ONE(malformed_metadata),
		  TSCOPE_OK },
		{ "{\"traceEvents\":[" EVENT "],\"INFO\":[\"say \"hi\"\"],\"n\":1}",
		  LINE "M: n=1\n", ONE(malformed_metadata), TSCOPE_OK },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_reading(&cases[i]);
}

/* Quotes that the writer did not escape. */
TEST(test_unescaped_quotes)
{
#define NAMED(name) "{\"ph\":\"X\",\"name\":\"" name "\",\"ts\":1,\"dur\":2}"
#define NAMED_LINE(name) "X|" name "|||||1000|2000|\n"
	static const struct reading cases[] = {
		{ "[" EVENT "," NAMED("say \"hi\"") "," EVENT "]",
		  LINE NAMED_LINE("say \"hi\"") LINE, ONE(unescaped_quote), TSCOPE_OK },
		{ "[" NAMED("5\" disk") "," EVENT "," EVENT "]", NAMED_LINE("5\" disk") LINE LINE,
		  ONE(unescaped_quote), TSCOPE_OK },
		{ "[" NAMED("\"a\", \"b\"") "," EVENT "]", NAMED_LINE("\"a\", \"b\"") LINE,
		  ONE(unescaped_quote), TSCOPE_OK },
		/* torch.compile: a file name that is JSON itself */
		{ "[" NAMED("{\"device\": \"cpu\", \"x\": 1}(12): f") "," EVENT "]",
		  NAMED_LINE("{\"device\": \"cpu\", \"x\": 1}(12): f") LINE, ONE(unescaped_quote),
		  TSCOPE_OK },
		{ "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2,\"args\":{\"f\":\"5\" "
		  "disk\",\"g\":1}}," EVENT "]",
		  "X|a|||||1000|2000|{\"f\":\"5\" disk\",\"g\":1}\n" LINE, ONE(unescaped_quote),
		  TSCOPE_OK },
		/* beyond repair: the event is lost, the next one is found */
		{ "[{\"ph\":\"X\",\"name\":\"a\" b,\"ts\":1,\"dur\":2}," EVENT "," EVENT "]",
		  LINE LINE, ONE(malformed_event), TSCOPE_OK },
		{ "[{#garbage#}," EVENT "]", LINE, ONE(malformed_event), TSCOPE_OK },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_reading(&cases[i]);
}

TEST(test_cut_everywhere)
{
	static const char whole[] =
		"{\"schemaVersion\": 1, \"traceEvents\": [\n  {\n \"ph\": \"X\", \"name\": "
		"\"a\\\"b\", \"ts\": 1.5, \"dur\": 2,"
		" \"args\": {\"x\": [1, {}]}\n },\n" EVENT "\n], \"traceName\": \"t\"}";
	for (size_t length = 0; length < sizeof(whole) - 1; length++) {
		struct event_log log;
		struct tscope_error err = { 0 };
		enum tscope_status status = decode_log((struct str){ whole, length }, &log, &err);
		if (length == 0)
			assert_int_equal(status, TSCOPE_E_EMPTY);
		else
			assert_int_equal(status, TSCOPE_E_DAMAGED);
		event_log_deinit(&log);
	}
}

TEST(test_cut_says_where)
{
	static const struct {
		const char *text, *message;
		unsigned offset;
	} cases[] = {
		{ "[" EVENT "," EVENT ",{\"ph\":\"X", "input ends inside event 3", 83 },
		{ "{\"traceEvents\":[" EVENT ",", "input ends inside the trace, after 1 events",
		  53 },
		{ "{\"traceEvents\":[" EVENT "]", "input ends inside the trace, after 1 events",
		  53 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_log log;
		struct tscope_error err = { 0 };
		assert_int_equal(decode_log((struct str){ cases[i].text, strlen(cases[i].text) },
					    &log, &err),
				 TSCOPE_E_DAMAGED);
		assert_string_equal(err.message, cases[i].message);
		assert_int_equal(err.offset, cases[i].offset);
		event_log_deinit(&log);
	}
}

TEST(test_limits)
{
	struct event_log log;
	struct tscope_error err = { 0 };
	struct decode_options options = { .max_event_bytes = 1000, .max_depth = 3 };
	char text[8192];

	int n = snprintf(text, sizeof(text),
			 "[" EVENT ",{\"ph\":\"X\",\"name\":\"%05000d\",\"ts\":1,\"dur\":2}]", 0);
	event_log_init(&log);
	assert_int_equal(decode_blocks((struct str){ text, (size_t)n }, 100, &options, &log, &err),
			 TSCOPE_E_LIMIT);
	assert_string_equal(err.message,
			    "an event longer than 1000 bytes (limit: max-event-bytes)");
	assert_string_equal(log.text, LINE); /* what came before is not lost */
	event_log_deinit(&log);

	static const char deep[] =
		"[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"args\":{\"a\":{\"b\":{}},\"c\":{\"d\":{}},"
		"\"long enough\":\"to reach into the next sixty-four bytes of the block\"}}]";
	event_log_init(&log);
	assert_int_equal(
		decode_blocks((struct str){ deep, sizeof(deep) - 1 }, 0, &options, &log, &err),
		TSCOPE_OK);
	event_log_deinit(&log);
	static const char *const deeper[] = {
		"[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"x\":[[[[]]]]}]",
		"[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"args\":{\"a\":{\"b\":{\"c\":{}}}}}]",
	};
	for (size_t i = 0; i < TSI_COUNT_OF(deeper); i++) {
		event_log_init(&log);
		assert_int_equal(decode_blocks(tsi_str_of(deeper[i]), 0, &options, &log, &err),
				 TSCOPE_E_LIMIT);
		assert_string_equal(err.message, "values nested deeper than 3 (limit: max-depth)");
		event_log_deinit(&log);
	}
}

/* A string without end must neither swallow the file nor take quadratic time. */
TEST(test_open_quote_in_a_long_file)
{
	enum { EVENTS = 60000 };
	size_t event_length = strlen(EVENT ",\n"), length = 0;
	char *text = malloc(EVENTS * event_length + 200);
	length += (size_t)sprintf(text, "[" NAMED("5\" disk") ",\n");
	for (int i = 0; i < EVENTS; i++) {
		memcpy(text + length, EVENT ",\n", event_length);
		length += event_length;
	}
	length += (size_t)sprintf(text + length, EVENT "]");
	struct event_log log;
	struct decode_options options = { 0 };
	event_log_init(&log);
	assert_int_equal(decode_blocks((struct str){ text, length }, 0, &options, &log, NULL),
			 TSCOPE_OK);
	assert_int_equal(log.sink.element_count, EVENTS + 2);
	assert_int_equal(log.sink.diagnostics[ONE(unescaped_quote)], 1);
	assert_int_equal(log.sink.diagnostics[ONE(malformed_event)], 0);
	event_log_deinit(&log);
	free(text);
}

/* What is too long to keep is counted, but for VizTracer's files of source, which nobody needs. */
static void check_long_metadata(const char *key, uint64_t count)
{
	size_t filler = 3 << 20, length = 0;
	char *text = malloc(filler + 200);
	length += (size_t)sprintf(text, "{\"%s\":{\"x\":\"", key);
	memset(text + length, '[', filler);
	length += filler;
	length += (size_t)sprintf(text + length, "\\\"\"},\"traceEvents\":[" EVENT "],\"n\":1}");
	struct event_log log;
	struct decode_options options = { 0 };
	event_log_init(&log);
	assert_int_equal(decode_blocks((struct str){ text, length }, 0, &options, &log, NULL),
			 TSCOPE_OK);
	assert_string_equal(log.text, LINE "M: n=1\n");
	assert_int_equal(log.sink.diagnostics[ONE(long_metadata)], count);
	event_log_deinit(&log);
	free(text);
}

TEST(test_long_metadata_is_skipped)
{
	check_long_metadata("stackFrames", 1);
	check_long_metadata("file_info", 0);
}

TEST(test_refused_by_name)
{
	static const struct {
		const char *text;
		size_t length;
		enum tscope_status status;
		const char *message;
	} cases[] = {
		{ "", 0, TSCOPE_E_EMPTY, "the file is empty" },
		{ " \n", 2, TSCOPE_E_EMPTY, "the file holds nothing but white space" },
		{ "hello", 5, TSCOPE_E_FORMAT,
		  "not a trace: expected JSON that begins with { or [, found \"hello\"" },
		{ "hel\x1b", 4, TSCOPE_E_FORMAT,
		  "not a trace: expected JSON that begins with { or [, found bytes 68 65 6c 1b" },
		{ "\x80\x04\x95", 3, TSCOPE_E_UNSUPPORTED,
		  "a Python pickle, not a trace: if it is about memory, use `tscope memory FILE`" },
		{ "(dp0\nVsegments", 14, TSCOPE_E_UNSUPPORTED,
		  "a Python pickle, not a trace: if it is about memory, use `tscope memory FILE`" },
		{ "!!python/object/apply:collections.defaultdict\n", 46, TSCOPE_E_UNSUPPORTED,
		  "a YAML document, not a trace: if it is finetuning-scheduler's statistics, use "
		  "`tscope memory FILE`" },
		{ "Iteration 0 f Peak FSDP memory stats: \n", 39, TSCOPE_E_UNSUPPORTED,
		  "a memory tracker's log, not a trace: use `tscope memory FILE`" },
		{ "memray\0\x0b", 8, TSCOPE_E_UNSUPPORTED,
		  "a memray capture, not a trace: use `tscope memory FILE`" },
		{ "\xff\xfe{\0", 4, TSCOPE_E_UNSUPPORTED,
		  "UTF-16 text: convert it first (iconv -f UTF-16 -t UTF-8)" },
		{ "<!DOCTYPE html>", 15, TSCOPE_E_UNSUPPORTED,
		  "an HTML page: give the trace that it was made from (of a page of torch's "
		  "memory_viz: use `tscope memory FILE`)" },
		{ "[[1,2],[[0],[0]]]", 17, TSCOPE_E_UNSUPPORTED,
		  "a memory timeline (export_memory_timeline), not a trace: use `tscope memory "
		  "FILE`" },
		{ "{\"schema\":\"1\",\"nodes\":[]}", 25, TSCOPE_E_UNSUPPORTED,
		  "an execution trace (ExecutionTraceObserver), not a profiler trace: it holds no "
		  "times; "
		  "record with torch.profiler and export_chrome_trace()" },
		{ "{\"segments\":[],\"device_traces\":[]}", 34, TSCOPE_E_UNSUPPORTED,
		  "a CUDA allocator snapshot dumped as JSON, not a trace: use `tscope memory "
		  "FILE`" },
		{ "{\"step\":1,\"phases\":{}}\n{\"step\":2}", 33, TSCOPE_E_UNSUPPORTED,
		  "a pytscope step log (steps.jsonl), not a trace" },
		{ "{\"x\":1}\n{\"x\":2}", 15, TSCOPE_E_FORMAT,
		  "JSON lines without traceEvents, not a trace" },
		{ "{\"x\":1}", 7, TSCOPE_E_FORMAT,
		  "JSON without traceEvents: neither a Chrome trace nor a PyTorch trace" },
		{ "[1,2,3]", 7, TSCOPE_E_FORMAT,
		  "an array whose elements are no events, not a trace" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_log log;
		struct tscope_error err = { 0 };
		assert_int_equal(
			decode_log((struct str){ cases[i].text, cases[i].length }, &log, &err),
			cases[i].status);
		assert_string_equal(err.message, cases[i].message);
		event_log_deinit(&log);
	}
}

static enum tscope_status fail_event(struct event_sink *sink, const struct raw_event *event,
				     struct tscope_error *err)
{
	(void)sink;
	(void)event;
	*err = (struct tscope_error){ .status = TSCOPE_E_NOMEM };
	return TSCOPE_E_NOMEM;
}

TEST(test_failures_of_the_sink_and_of_memory)
{
	struct tscope_error err = { 0 };
	struct decode_options options = { 0 };
	struct event_log log;
	event_log_init(&log);
	log.sink.event = fail_event;
	assert_int_equal(decode_blocks(TSI_STR("[" EVENT "]"), 0, &options, &log, &err),
			 TSCOPE_E_NOMEM);
	assert_int_equal(decode_blocks(TSI_STR("[" EVENT), 0, &options, &log, NULL),
			 TSCOPE_E_NOMEM);
	event_log_deinit(&log);

	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		event_log_init(&log);
		free(log.text); /* not ours to fail */
		log.text = malloc(1 << 16);
		log.capacity = 1 << 16;
		alloc_sweep_try(&sweep, decode_blocks(TSI_STR("{\"traceEvents\":[" EVENT "]}"), 1,
						      &options, &log, &sweep.err));
		event_log_deinit(&log);
	}
}
