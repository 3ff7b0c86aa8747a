/* SPDX-License-Identifier: MIT */
/*
 * The scanner of every instruction set against the careful reader, which is
 * the simple second implementation: on random events in random layouts, and on
 * the same text damaged, both must give the same events and counters. Also the
 * masks of simd.h through strings and args of every length and place.
 */
#include "decode/events/scan.h"
#include "event_log.h"
#include "input/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "effort.h"
#include "random_numbers.h"

static const char *const isa_names[] = { "plain", "sse2", "avx2", "neon" };

static uint64_t random_state;

static unsigned pick(unsigned count)
{
	return random_below(&random_state, count);
}

struct text {
	char bytes[16384];
	size_t length;
};

static void put(struct text *t, const char *piece)
{
	size_t length = strlen(piece);
	assert_true(t->length + length < sizeof(t->bytes));
	memcpy(t->bytes + t->length, piece, length);
	t->length += length;
}

#define PUT_ONE_OF(t, ...)                                                                         \
	do {                                                                                       \
		static const char *const pieces_[] = { __VA_ARGS__ };                              \
		put(t, pieces_[pick(sizeof(pieces_) / sizeof(pieces_[0]))]);                       \
	} while (0)

static void put_value(struct text *t, unsigned field)
{
	switch (field) {
	case 0:
		PUT_ONE_OF(t, "\"X\"", "\"X\"", "\"X\"", "\"i\"", "\"M\"", "\"\"");
		break;
	case 1:
		PUT_ONE_OF(t, "\"aten::mm\"", "\"a \\\"b\\\" c\"", "\"\"", "\"C:\\\\x\"", "7",
			   "null",
			   "\"void at::native::vectorized_elementwise_kernel<4, {lambda()#2}>(int, "
			   "float*)\"");
		break;
	case 2:
		PUT_ONE_OF(t, "1", "-549452224", "\"stream 7\"", "\"\"", "null", "2.5", "{\"x\":1}",
			   "[1]");
		break;
	case 3:
		PUT_ONE_OF(t, "1704161511420306.491", "0", "12", "-3.5", "\"12.25\"", "1e3", "NaN",
			   "12345678.125", "null");
		break;
	default:
		PUT_ONE_OF(t, "{}", "{\"correlation\": 5, \"grid\": [1, 2, 3]}",
			   "{\"a\":{\"b\":\"}\\\"{\"},\"c\":\"\\\\\"}", "\"__stripped__\"",
			   "{\"External id\": 12, \"Input Dims\": [[2, 3], [3, 4]], \"Call "
			   "stack\": \"a;b;c;d;e;f;g;h;i;j;k\"}");
	}
}

/* Events as one writer prints them, keys in an order and white space of its own. */
static void make_events(struct text *t)
{
	static const char *const keys[] = { "ph", "name", "cat",  "pid", "tid",
					    "ts", "dur",  "args", "id2", "tdur" };
	static const unsigned kinds[] = { 0, 1, 1, 2, 2, 3, 3, 4, 2, 3 };
	static const char *const blanks[] = { "", " ", "\n    ", "\t", "\r\n" };
	const char *before = blanks[pick(5)], *colon = pick(2) ? ": " : ":",
		   *between = blanks[pick(5)];
	t->length = 0;
	for (unsigned event = 0, count = 1 + pick(12); event < count; event++) {
		put(t, event ? "," : "");
		put(t, before);
		put(t, "{");
		unsigned first = pick(3), last = 7 + pick(4);
		for (unsigned i = first; i < last; i++) {
			unsigned key = (i + pick(30) / 29) %
				       10; /* now and then one twice, another missing */
			put(t, i > first ? "," : "");
			put(t, between);
			put(t, "\"");
			put(t, keys[key]);
			put(t, "\"");
			put(t, colon);
			put_value(t, kinds[key]);
		}
		put(t, before);
		put(t, "}");
	}
	put(t, "]");
}

static void damage(struct text *t)
{
	static const char bytes[] = "\"\\{}[],: \n\x01\xffNx0";
	for (unsigned i = 0, count = 1 + pick(3); i < count; i++)
		t->bytes[pick((unsigned)t->length)] = bytes[pick(sizeof(bytes) - 1)];
}

/* Reads all of the text; isa NULL: with the careful reader alone. kinds NULL: without them. */
static void read_all(const struct scan_isa *isa, struct kinds *kinds, const char *bytes,
		     size_t length, struct event_log *log)
{
	struct scanner *scanner = calloc(1, sizeof(*scanner));
	char *copy =
		malloc(length + TSI_INPUT_PADDING); /* its own: a sanitizer sees one byte too far */
	memcpy(copy, bytes, length);
	memset(copy + length, '"',
	       TSI_INPUT_PADDING); /* what must not be taken for the closing one */
	scanner->at = scanner->window = copy;
	scanner->end = copy + length;
	scanner->sink = &log->sink;
	scanner->max_depth = 100;
	scanner->kinds = kinds;
	for (;;) {
		if (isa && isa->scan(scanner, NULL) == SCAN_CLOSED)
			break;
		enum element_result result = tsi_element_read(scanner, true, NULL);
		if (result == ELEMENT_CLOSED || result == ELEMENT_MORE)
			break;
		assert_int_equal(result, ELEMENT_TAKEN);
	}
	free(copy);
	free(scanner);
}

/* Printed here: cmocka cuts long messages. */
static void fail_comparison(const struct scan_isa *isa, const struct event_log *expected,
			    const struct event_log *actual, struct str text)
{
	print_error("%s reads\n", isa->name);
	fwrite(text.data, 1, text.length, stderr);
	print_error("\nas:\n");
	fputs(actual->text, stderr);
	print_error("instead of:\n");
	fputs(expected->text, stderr);
	for (unsigned i = 0; i < TSCOPE_DIAGNOSTIC_COUNT; i++)
		if (actual->sink.diagnostics[i] != expected->sink.diagnostics[i])
			print_error("diagnostic %u: %d instead of %d\n", i,
				    (int)actual->sink.diagnostics[i],
				    (int)expected->sink.diagnostics[i]);
	fail();
}

static void compare_with(const struct scan_isa *isa, struct kinds *kinds,
			 const struct event_log *expected, struct str text)
{
	struct event_log actual;
	event_log_init(&actual);
	read_all(isa, kinds, text.data, text.length, &actual);
	if (!event_log_equal(expected, &actual))
		fail_comparison(isa, expected, &actual, text);
	event_log_deinit(&actual);
}

/* The second time all kinds are known. */
static void compare(const char *bytes, size_t length)
{
	struct str text = { bytes, length };
	struct event_log expected;
	event_log_init(&expected);
	read_all(NULL, NULL, bytes, length, &expected);
	for (size_t i = 0; i < sizeof(isa_names) / sizeof(isa_names[0]); i++) {
		const struct scan_isa *isa = tsi_scan_isa(isa_names[i]);
		if (!isa)
			continue;
		struct kinds *kinds = tsi_kinds_new(0, 1, NULL);
		compare_with(isa, NULL, &expected, text);
		compare_with(isa, kinds, &expected, text);
		compare_with(isa, kinds, &expected, text);
		tsi_kinds_free(kinds);
	}
	event_log_deinit(&expected);
}

TEST(test_random_events)
{
	struct text *t = calloc(1, sizeof(*t));
	for (random_state = 1; random_state < 4000; random_state += EFFORT_STRIDE) {
		uint64_t seed = random_state;
		make_events(t);
		compare(t->bytes, t->length);
		damage(t);
		compare(t->bytes, t->length);
		random_state = seed;
	}
	free(t);
}

/* A string of every length, with every special character at every place, across all block borders. */
TEST(test_strings_and_args)
{
	static const char *const specials[] = { "\\\"", "\\\\", "\x01", "{", "}", "\xc3\xa9" };
	char event[512], filler[200];
	memset(filler, 'x', sizeof(filler));
	for (int length = 0; length < 140; length++) {
		for (size_t s = 0; s < sizeof(specials) / sizeof(specials[0]); s++) {
			int n = snprintf(event, sizeof(event),
					 "{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"name\":\"%.*s%s\","
					 "\"args\":{\"a\":\"%.*s%s\",\"b\":{}}}]",
					 length, filler, specials[s], 139 - length, filler,
					 specials[s]);
			compare(event, (size_t)n);
		}
	}
}

/* It escapes nothing there: the quote behind it opens or closes a string all the same. */
TEST(test_backslash_outside_of_strings)
{
	static const char *const values[] = { "\"\"\\\"", "\\\"x\"", "[1, \\\"]\"]", "1\\",
					      "\"x\"\\\\\"{" };
	char event[512], filler[200];
	memset(filler, 'x', sizeof(filler));
	for (int length = 0; length < 140; length++) {
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			int n = snprintf(event, sizeof(event),
					 "{\"name\":\"a\",\"args\":{\"a\":\"%.*s\",\"b\":%s}}]",
					 length, filler, values[i]);
			compare(event, (size_t)n);
		}
	}
}

/* What the first one said, escapes, too, counts for nothing. */
TEST(test_fields_that_come_twice)
{
	static const char *const events[] = {
		"{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"name\":\"C:\\\\x\",\"name\":7}]",
		"{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"name\":\"C:\\\\x\",\"name\":\"x\"}]",
		"{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"name\":\"x\",\"name\":\"C:\\\\x\"}]",
		"{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"name\":\"x\",\"name\":null,\"cat\":\"a\","
		"\"cat\":null}]",
		"{\"ph\":\"X\",\"ph\":\"i\",\"ts\":1,\"ts\":3,\"dur\":2,\"args\":{},\"args\":null}"
		"]",
	};
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		compare(events[i], strlen(events[i]));
}

TEST(test_one_event)
{
	static const char event[] = "\n  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": "
				    "\"aten::\\u006dm\", \"pid\": 7, \"tid\": \"t\",\n"
				    "    \"ts\": 1704161511420306.491, \"dur\": 0.250,\n    "
				    "\"args\": {\n      \"External id\": 1\n    }\n  }]";
	for (size_t i = 0; i < sizeof(isa_names) / sizeof(isa_names[0]); i++) {
		const struct scan_isa *isa = tsi_scan_isa(isa_names[i]);
		if (!isa)
			continue;
		struct event_log log;
		event_log_init(&log);
		read_all(isa, NULL, event, sizeof(event) - 1, &log);
		assert_string_equal(log.text,
				    "X|~aten::\\u006dm|cpu_op|7|t||1704161511420306491|250|"
				    "{\n      \"External id\": 1\n    }\n");
		event_log_deinit(&log);
	}
	assert_null(tsi_scan_isa("z80"));
	assert_non_null(tsi_scan_isa(NULL));
}

/* The scanner alone must do with usual events in any layout: the careful reader is slow. */
TEST(test_usual_events_are_not_odd)
{
	static const char usual[][256] = {
		/* long enough for the padding */
		"{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":1.5,\"pid\":1,\"tid\":-1,\"cat\":"
		"\"c\",\"args\":{}},",
		"\n{ \"ph\" : \"X\" , \"ts\" : \"1.25\" , \"dur\" : 2 , \"id\" : \"0x1f\" , "
		"\"tdur\" : 0.125 , \"x\" : true },",
		"{\"ph\":\"M\",\"name\":\"process_name\",\"args\":{\"name\":\"p\\n\"},\"id2\":{"
		"\"local\":1},\"y\":null},",
		/* more blanks than were learned */
		"{\"ph\":\"X\",\"ts\":1,\"dur\":2},{\"ph\": \"X\",\"ts\": 1,\"dur\":  2}, ",
	};
	static const uint64_t counts[] = { 1, 0, 1, 2 };
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		struct event_log log;
		struct scanner *scanner = calloc(1, sizeof(*scanner));
		event_log_init(&log);
		scanner->at = scanner->window = usual[i];
		scanner->end = usual[i] + strlen(usual[i]);
		scanner->sink = &log.sink;
		scanner->max_depth = 100;
		enum scan_result result = tsi_scan_isa(NULL)->scan(scanner, NULL);
		if (i == 1) /* a quoted time is for the careful reader */
			assert_int_equal(result, SCAN_ODD);
		else
			assert_int_equal(result, SCAN_MORE);
		assert_int_equal(log.sink.element_count, counts[i]);
		event_log_deinit(&log);
		free(scanner);
	}
}
