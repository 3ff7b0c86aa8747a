/* SPDX-License-Identifier: MIT */
/*
 * decode/events/kinds.h: traces that repeat, in random layouts and with whatever may go wrong in the
 * middle of them, read in windows of random sizes. The scanner that learns kinds, the one that does
 * not and the careful reader must say the same; and what events of one kind are told
 * to have in common they must have.
 */
#include "decode/events/scan.h"
#include "decode/json.h"
#include "event_log.h"
#include "fail_alloc.h"
#include "input/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "random_numbers.h"

static const char *const isa_names[] = { "plain", "sse2", "avx2", "neon" };

static uint64_t random_state;

static unsigned pick(unsigned count)
{
	return random_below(&random_state, count);
}

/* ---- traces -------------------------------------------------------------------------- */

struct text {
	char *bytes;
	size_t length, capacity;
};

TSI_PRINTF(2, 3) static void put(struct text *t, const char *format, ...)
{
	va_list arguments;
	if (t->length + 2000 > t->capacity) {
		t->capacity = t->capacity * 2 + 4000;
		t->bytes = realloc(t->bytes, t->capacity);
	}
	va_start(arguments, format);
	t->length += (size_t)vsnprintf(t->bytes + t->length, 2000, format, arguments);
	va_end(arguments);
}

static void put_time(struct text *t)
{
	static const char *const odd[] = { "-3.5",  "1e3",    "null", "\"5\"", "9007199254740993.5",
					   "12.25", "1.2345", "7",    "-0.001" };
	if (pick(40) == 0)
		put(t, "%s", odd[pick(TSI_COUNT_OF(odd))]);
	else
		put(t, "%u%u.%03u", pick(10000), 100000 + pick(900000), pick(1000));
}

static void put_number(struct text *t)
{
	static const char *const odd[] = { "-1",
					   "1.5",
					   "123456789012345",
					   "0",
					   "1234567890123456",
					   "\"5\"",
					   "1e-5",
					   "12345678901234567890",
					   "-0.03125",
					   "null",
					   "1234567.1234567890123" };
	if (pick(10) == 0)
		put(t, "%s", odd[pick(TSI_COUNT_OF(odd))]);
	else
		put(t, "%u", pick(10) ? pick(1000) : pick(1000000000));
}

/* How a writer prints. */
struct layout_style {
	const char *between, *colon, *behind;
	unsigned first; /* key that comes first */
};

static void put_key(struct text *t, const struct layout_style *style, const char *key)
{
	char last = t->bytes[t->length - 1];
	put(t, "%s%s\"%s\"%s", last == '{' ? "" : ",", style->between, key, style->colon);
}

static void put_args(struct text *t, const struct layout_style *style, unsigned shape)
{
	static const char *const keys[] = { "External id", "correlation", "Ev Idx", "bytes",
					    "device",      "stream",      "flops",  "Device Type" };
	put(t, "{");
	for (unsigned i = 0; i < TSI_COUNT_OF(keys); i++) {
		if (!(shape >> i & 1))
			continue;
		put_key(t, style, keys[i]);
		if (i == 4 || i == 5)
			put(t, "%u", pick(6) ? shape / 8 % 3 : pick(3));
		else
			put_number(t);
	}
	if (shape % 3 == 0) {
		put_key(t, style, "Input Dims");
		put(t, "[[%u, 3], [], {\"a}\\\"\": [4096, 1]}]", shape % 5);
	}
	if (shape % 4 == 0) {
		put_key(t, style, "Call stack");
		put(t, "\"%.*s\"", (int)shape,
		    "a(1);b(2);c(3);d(4);e(5);f(6);g(7);h(8);i(9);j(10)");
	}
	if (pick(200) == 0)
		put(t, "%s", ",\"correlation\":7"); /* perhaps once more */
	put(t, "}");
}

static void put_member(struct text *t, const struct layout_style *style, unsigned shape,
		       unsigned member)
{
	static const char *const keys[] = { "ph", "name", "cat", "pid",  "tid",
					    "ts", "dur",  "id",  "args", "tdur" };
	if ((member == 7 && shape % 5) || (member == 9 && shape % 7) ||
	    (member == 6 && shape % 7 == 0) || pick(300) == 0)
		return;
	put_key(t, style, keys[member]);
	switch (member) {
	case 0:
		put(t, "\"%c\"", "XXXXXsfiM"[shape % 9]);
		break;
	case 1:
		put(t, "\"aten::%.*s_%u%s\"", (int)(shape % 40),
		    "vectorized_elementwise_kernel<4, lambda>(int)", shape, shape % 6 ? "" : "\\n");
		break;
	case 2:
		put(t, "\"%s\"", shape % 2 ? "cpu_op" : "");
		break;
	case 3:
		put(t, "%s", shape % 11 ? "20000" : "\"Spans\"");
		break;
	case 4:
		put(t, "%u", 7 + shape % 2);
		break;
	case 7:
		put_number(t);
		break;
	case 8:
		put_args(t, style, shape);
		break;
	default:
		put_time(t);
	}
}

static void put_event(struct text *t, const struct layout_style *style, unsigned shape)
{
	put(t, "{");
	for (unsigned i = 0; i < 10; i++)
		put_member(t, style, shape, (i + style->first) % 10);
	if (pick(150) == 0)
		put(t, ",\"dur\":%s", pick(2) ? "5" : "\"\x01\"");
	put(t, "%s}", style->behind);
}

/* A dozen kinds in an order that mostly repeats. */
static void make_trace(struct text *t, unsigned events)
{
	static const char *const blanks[] = { "", " ", "\n    ", "\t", "\r\n  " };
	struct layout_style style = { blanks[pick(5)], pick(2) ? ": " : ":", blanks[pick(5)],
				      pick(10) };
	unsigned shapes[12];
	for (unsigned i = 0; i < TSI_COUNT_OF(shapes); i++)
		shapes[i] = pick(128);
	t->length = 0;
	put(t, "%s", style.behind);
	for (unsigned i = 0; i < events; i++) {
		put_event(t, &style, pick(8) ? shapes[i % 12] : shapes[pick(12)]);
		put(t, ",%s", style.behind);
	}
	put(t, "{\"ph\":\"M\"}]");
}

static void damage(struct text *t)
{
	static const char bytes[] = "\"\\{}[],: \n\x01\xffNx0.-e";
	for (unsigned i = 0, count = 1 + pick(6); i < count; i++)
		t->bytes[pick((unsigned)t->length)] = bytes[pick(sizeof(bytes) - 1)];
}

/* ---- what events of a kind must have in common --------------------------------------- */

enum { WATCHED_KINDS = 4096, LANE = 5, LANE_COUNT = 7, ARG_COUNT = 5 };

/* What was seen of a kind. */
struct watched {
	char *firsts[1 << ARG_COUNT]; /* the first event, but for each choice of numbers */
	unsigned args;                /* those told of the events after it: bit by arg_of() */
	bool has_args;
};

struct watcher {
	struct event_log log; /* first: a pointer to its sink is one to the watcher */
	enum tscope_status (*write)(struct event_sink *sink, const struct raw_event *event,
				    struct tscope_error *err);
	struct watched kinds[WATCHED_KINDS];
	struct raw_repeat repeat; /* of the event that comes now */
	bool is_repeat;
	unsigned told; /* events with a kind */
};

static unsigned arg_of(struct str key)
{
	return tsi_str_is(key, "External id")   ? 1
	       : tsi_str_is(key, "correlation") ? 2
	       : tsi_str_is(key, "bytes")       ? 3
	       : tsi_str_is(key, "device")      ? 4
						: 0;
}

/* The numbers that say what an event is, and so never differ among those of a kind. */
static bool is_place(struct str key)
{
	return tsi_str_is(key, "device") || tsi_str_is(key, "stream") ||
	       tsi_str_is(key, "Device Id") || tsi_str_is(key, "Device Type");
}

static bool is_told(const struct raw_repeat *repeat, struct str value, unsigned arg)
{
	for (unsigned i = 0; i < repeat->number_count; i++) {
		const struct raw_number *number = &repeat->numbers[i];
		if (repeat->text + number->at != value.data)
			continue;
		assert_int_equal(number->length, value.length);
		assert_int_equal(number->arg, arg);
		uint64_t expected = UINT64_MAX;
		char text[32] = { 0 };
		memcpy(text, value.data, value.length);
		if (strspn(text, "0123456789") == value.length && value.length <= 15)
			expected = strtoull(text, NULL, 10);
		assert_true(number->value == expected);
		return true;
	}
	return false;
}

/* The args whose numbers are told of the event: a bit for each. */
static unsigned args_told(const struct raw_event *event, const struct raw_repeat *repeat)
{
	struct json_cursor members;
	struct str key, value;
	unsigned args = 0, told = 0;
	tsi_json_object_open(&members, event->args);
	while (tsi_json_object_next(&members, &key, &value)) {
		if (!is_told(repeat, value, arg_of(key)))
			continue;
		assert_false(is_place(key));
		args |= 1u << arg_of(key);
		told++;
	}
	assert_int_equal(told, repeat->number_count);
	return args;
}

/* All that must not differ: what the sink asks for in args, but not the numbers it is told. */
static char *describe(const struct raw_event *event, unsigned args)
{
	struct text t = { 0 };
	struct json_cursor members;
	struct str key, value;
	unsigned seen = 0;
	put(&t, "%c|%.*s|%.*s|%.*s|%.*s|%d%d%d", event->phase, (int)event->name.length,
	    event->name.data, (int)event->cat.length, event->cat.data, (int)event->pid.length,
	    event->pid.data, (int)event->tid.length, event->tid.data, event->name_escaped,
	    event->has_ts, event->has_dur);
	tsi_json_object_open(&members, event->args);
	while (tsi_json_object_next(&members, &key, &value)) {
		unsigned arg = arg_of(key);
		assert_false(arg && seen >> arg & 1);
		seen |= 1u << arg;
		bool is_number = value.data[0] == '-' || tsi_is_digit(value.data[0]);
		if (is_number && !is_place(key) && (arg == 0 || args >> arg & 1))
			value.length = 0;
		put(&t, "|%.*s=%.*s", (int)key.length, key.data, (int)value.length, value.data);
	}
	return t.bytes;
}

static void compare_with_first(struct watched *kind, const struct raw_event *event)
{
	char *text = describe(event, kind->args);
	assert_string_equal(text, kind->firsts[kind->args]);
	free(text);
}

/* An event of a kind: the first, one that repeats it, or one that was recognised when read. */
static void watch_kind(struct watcher *watcher, struct watched *kind, const struct raw_event *event)
{
	watcher->told++;
	if (!kind->firsts[0]) {
		assert_false(watcher->is_repeat);
		for (unsigned args = 0; args < TSI_COUNT_OF(kind->firsts); args++)
			kind->firsts[args] = describe(event, args);
		return;
	}
	if (watcher->is_repeat) {
		unsigned args = args_told(event, &watcher->repeat);
		assert_int_equal(event->kind, watcher->repeat.kind);
		assert_true(!kind->has_args || kind->args == args);
		kind->args = args;
		kind->has_args = true;
	}
	if (kind->has_args)
		compare_with_first(kind, event);
}

static enum tscope_status watch(struct event_sink *sink, const struct raw_event *event,
				struct tscope_error *err)
{
	struct watcher *watcher = (struct watcher *)sink;
	if (event->kind) {
		uint32_t told = event->kind / LANE_COUNT;
		assert_int_equal(event->kind % LANE_COUNT, LANE);
		assert_in_range(told, 1, WATCHED_KINDS - 1);
		watch_kind(watcher, &watcher->kinds[told], event);
	}
	watcher->is_repeat = false;
	return watcher->write(sink, event, err);
}

/* Wants all events whole. */
static bool watch_repeat(struct event_sink *sink, const struct raw_repeat *repeat,
			 enum tscope_status *status, struct tscope_error *err)
{
	struct watcher *watcher = (struct watcher *)sink;
	(void)status, (void)err;
	watcher->repeat = *repeat;
	watcher->is_repeat = true;
	return false;
}

static struct watcher *new_watcher(void)
{
	struct watcher *watcher = calloc(1, sizeof(*watcher));
	event_log_init(&watcher->log);
	watcher->write = watcher->log.sink.event;
	watcher->log.sink.event = watch;
	watcher->log.sink.repeat = watch_repeat;
	watcher->log.sink.arg_of = arg_of;
	return watcher;
}

static void free_watcher(struct watcher *watcher)
{
	event_log_deinit(&watcher->log);
	for (size_t i = 0; i < WATCHED_KINDS; i++)
		for (size_t args = 0; args < TSI_COUNT_OF(watcher->kinds[i].firsts); args++)
			free(watcher->kinds[i].firsts[args]);
	free(watcher);
}

/* ---- reading ------------------------------------------------------------------------- */

/*
 * Shows `length` bytes from `at` on, of memory whose end a sanitizer knows. Behind them is what
 * comes next, as it may be in a window, or digits: no number ends there.
 */
static char *show(struct scanner *scanner, const struct text *t, size_t at, size_t length)
{
	size_t rest = t->length - at - length;
	char *copy = malloc(length + TSI_INPUT_PADDING);
	memset(copy + length, '5', TSI_INPUT_PADDING);
	memcpy(copy, t->bytes + at,
	       length + (pick(2)                    ? 0
			 : rest < TSI_INPUT_PADDING ? rest
						    : TSI_INPUT_PADDING));
	scanner->at = scanner->window = copy;
	scanner->end = copy + length;
	scanner->offset = at;
	return copy;
}

/* Reads all of the text in windows of about so many bytes; isa NULL: with the careful reader. */
static void read_all(const struct scan_isa *isa, struct kinds *kinds, const struct text *t,
		     size_t window, struct event_sink *sink)
{
	struct scanner *scanner = calloc(1, sizeof(*scanner));
	size_t at = 0, length = window;
	bool is_closed = false;
	scanner->sink = sink;
	scanner->max_depth = 100;
	scanner->kinds = kinds;
	while (!is_closed) {
		bool is_last = length >= t->length - at;
		char *copy = show(scanner, t, at, is_last ? t->length - at : length);
		enum scan_result result = isa ? isa->scan(scanner, NULL) : SCAN_ODD;
		is_closed = result == SCAN_CLOSED;
		if (!is_closed && (result == SCAN_ODD || is_last)) {
			enum element_result taken = tsi_element_read(scanner, is_last, NULL);
			is_closed = taken == ELEMENT_CLOSED || (taken == ELEMENT_MORE && is_last);
		}
		assert_true(scanner->at <= scanner->end);
		size_t moved = (size_t)(scanner->at - scanner->window);
		length = moved ? window : length * 2;
		at += moved;
		free(copy);
	}
	free(scanner);
}

static void expect_same(const struct watcher *expected, const struct watcher *actual,
			const char *isa, size_t window)
{
	if (event_log_equal(&expected->log, &actual->log))
		return;
	size_t at = 0;
	while (expected->log.text[at] && expected->log.text[at] == actual->log.text[at])
		at++;
	at -= at < 100 ? at : 100;
	print_error("%s, windows of %zu:\n%.300s\ninstead of\n%.300s\n", isa, window,
		    actual->log.text + at, expected->log.text + at);
	fail();
}

/* Every reader on the same text; gives how many events were of known kind with the last one. */
static unsigned compare(const struct text *t, size_t window)
{
	unsigned told = 0;
	struct watcher *expected = new_watcher();
	read_all(NULL, NULL, t, window, &expected->log.sink);
	for (size_t i = 0; i < TSI_COUNT_OF(isa_names); i++) {
		const struct scan_isa *isa = tsi_scan_isa(isa_names[i]);
		if (!isa)
			continue;
		for (unsigned with_kinds = 0; with_kinds < 2; with_kinds++) {
			struct watcher *actual = new_watcher();
			struct kinds *kinds =
				with_kinds ? tsi_kinds_new(LANE, LANE_COUNT, arg_of) : NULL;
			read_all(isa, kinds, t, window, &actual->log.sink);
			expect_same(expected, actual, isa->name, window);
			told = actual->told;
			tsi_kinds_free(kinds);
			free_watcher(actual);
		}
	}
	free_watcher(expected);
	return told;
}

TEST(test_traces_that_repeat)
{
	struct text t = { 0 };
	unsigned told = 0, events = 0;
	for (unsigned seed = 1; seed <= 60; seed++) {
		random_state = seed;
		make_trace(&t, 150);
		told += compare(&t, 1 << 20);
		events += 150;
		compare(&t, 500 + pick(5000));
		damage(&t);
		compare(&t, 1 << 20);
	}
	assert_true(told > events / 2);
	free(t.bytes);
}

TEST(test_windows_end_everywhere)
{
	struct text t = { 0 };
	random_state = 5;
	make_trace(&t, 40);
	for (size_t window = 100; window < 1000; window += 7)
		compare(&t, window);
	free(t.bytes);
}

/* What was said of the first events that were read. */
struct notes {
	struct event_sink sink;
	unsigned count;
	struct raw_event events[16];
	struct raw_repeat repeats[16]; /* zero where an event came whole */
};

static enum tscope_status note(struct event_sink *sink, const struct raw_event *event,
			       struct tscope_error *err)
{
	struct notes *notes = (struct notes *)sink;
	(void)err;
	if (notes->count < TSI_COUNT_OF(notes->events))
		notes->events[notes->count] = *event;
	notes->count++;
	return TSCOPE_OK;
}

static bool note_repeat(struct event_sink *sink, const struct raw_repeat *repeat,
			enum tscope_status *status, struct tscope_error *err)
{
	struct notes *notes = (struct notes *)sink;
	(void)err;
	if (notes->count < TSI_COUNT_OF(notes->repeats))
		notes->repeats[notes->count] = *repeat;
	notes->count++;
	*status = TSCOPE_OK;
	return true;
}

#define OP(name, id, dims)                                                                         \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name                                        \
	"\",\"pid\":1,\"tid\":2,\"ts\":5.125,\"dur\":1.000,"                                       \
	"\"args\":{\"External id\":" id ",\"Input Dims\":" dims ",\"bytes\":4}},"

/* By hand: that an id differs is seen at the second event of a shape, and holds for all. */
TEST(test_what_is_told)
{
	static const char text[] = OP("a", "1", "[1]") OP("a", "22", "[1]") OP("a", "333", "[1]")
		OP("b", "4", "[1]") OP("a", "5", "[2]") OP("b", "-6", "[1]") OP("a", "7", "[2]");
	static const unsigned kinds_told[] = { 1, 2, 2, 3, 4, 3, 4 };
	static const bool is_first[] = { true, true, false, true, true, false, false };
	static const unsigned ids[] = { 0, 22, 333, 4, 5, 6, 7 };
	const size_t id_at = (size_t)(strstr(text, "External id\":") - text) + 13;
	struct notes notes = {
		.sink = { .event = note, .repeat = note_repeat, .arg_of = arg_of },
	};
	struct kinds *kinds = tsi_kinds_new(LANE, LANE_COUNT, arg_of);
	struct text t = { 0 };
	put(&t, "%s", text);
	put(&t, "%900s", "{\"ph\":\"M\"}]"); /* kinds are not tried near the end of a window */
	read_all(tsi_scan_isa(NULL), kinds, &t, t.length, &notes.sink);
	free(t.bytes);
	assert_int_equal(notes.count, TSI_COUNT_OF(kinds_told) + 1);
	for (size_t i = 0; i < TSI_COUNT_OF(kinds_told); i++) {
		const struct raw_event *event = &notes.events[i];
		const struct raw_repeat *repeat = &notes.repeats[i];
		assert_int_equal(event->kind + repeat->kind, kinds_told[i] * LANE_COUNT + LANE);
		assert_int_equal(event->ts_ns + repeat->ts_ns, 5125);
		assert_int_equal(event->dur_ns + repeat->dur_ns, 1000);
		assert_int_equal(repeat->kind == 0, is_first[i]);
		if (is_first[i])
			continue;
		assert_int_equal(repeat->number_count, 1);
		assert_int_equal(repeat->numbers[0].at, id_at);
		assert_int_equal(repeat->numbers[0].arg, 1);
		if (i == 5)
			assert_true(repeat->numbers[0].value == UINT64_MAX);
		else
			assert_int_equal(repeat->numbers[0].value, ids[i]);
	}
	tsi_kinds_free(kinds);
}

/* Nobody asks: no kinds are told, whatever is learned. */
TEST(test_nobody_asks)
{
	static const char text[] = OP("a", "1", "[1]") OP("a", "2", "[1]") OP("a", "3", "[1]") "]";
	struct notes notes = { .sink = { .event = note } };
	struct kinds *kinds = tsi_kinds_new(0, 1, NULL);
	struct text t = { .bytes = (char *)(uintptr_t)text, .length = sizeof(text) - 1 };
	read_all(tsi_scan_isa(NULL), kinds, &t, t.length, &notes.sink);
	assert_int_equal(notes.count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(notes.events[i].kind, 0);
	tsi_kinds_free(kinds);
}

/* More kinds than are kept, and more than are ever told: read alike, only slower. */
TEST(test_more_kinds_than_there_is_room_for)
{
	enum { ROUNDS = 3 };
	struct text t = { 0 };
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < MAX_KINDS_KEPT + 500; i++)
			put(&t, "{\"ph\":\"i\",\"ts\":%u,\"name\":\"n%u\"},", i, i);
	put(&t, "]");
	struct notes notes = {
		.sink = { .event = note, .repeat = note_repeat, .arg_of = arg_of },
	};
	struct kinds *kinds = tsi_kinds_new(0, 1, arg_of);
	read_all(tsi_scan_isa(NULL), kinds, &t, t.length, &notes.sink);
	assert_int_equal(notes.count, ROUNDS * (MAX_KINDS_KEPT + 500));
	assert_true(kinds->count <= MAX_KINDS_KEPT);
	tsi_kinds_free(kinds);

	kinds = tsi_kinds_new(7, MAX_KIND_LANES, arg_of);
	kinds->reported = MAX_KINDS - 1;
	notes.count = 0;
	t.length = 5000;
	read_all(tsi_scan_isa(NULL), kinds, &t, t.length, &notes.sink);
	assert_int_equal(notes.events[0].kind, 7 + MAX_KINDS * MAX_KIND_LANES);
	assert_int_equal(notes.events[1].kind, 0);
	tsi_kinds_free(kinds);
	free(t.bytes);
}

TEST(test_no_memory)
{
	fail_alloc_at(1);
	struct kinds *kinds = tsi_kinds_new(0, 1, NULL);
	assert_true(fail_alloc_stop());
	assert_null(kinds);
}
