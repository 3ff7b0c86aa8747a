/* SPDX-License-Identifier: MIT */
/*
 * The Chrome Trace Event format, which PyTorch, VizTracer, Composer and many
 * others write: an object with "traceEvents" among other keys in any order, or
 * the bare array of events. This file holds the grammar around the events and
 * moves the window over the stream; the events themselves are read by the
 * scanner (scan.c) and, where they are odd, by the careful reader (element.c).
 */
#include "decode/events/chrome_json.h"

#include "base/error.h"
#include "decode/events/format.h"
#include "decode/events/lanes.h"
#include "decode/events/scan.h"
#include "decode/foreign.h"
#include "decode/json.h"

#include <stdlib.h>

enum {
	DEFAULT_MAX_DEPTH = 512,
	MAX_METADATA_BYTES = 1 << 20, /* of one top-level value that is kept */
	MAX_KEY_BYTES = 4096,
};

static const uint64_t default_max_event_bytes = UINT64_C(64) << 20;

/* The stream as a window [scanner.at, scanner.end) that moves over it. */
struct reader {
	struct input *in;
	struct event_sink *sink;
	uint64_t max_event_bytes;
	unsigned thread_count;
	struct scanner scanner;
	struct lanes *lanes; /* move the window; NULL: not begun, or of no use */
	struct json_shape shape;
	bool is_within;            /* what follows the document is that of another format */
	bool is_last;              /* nothing comes behind the window … */
	enum tscope_status ending; /* … because of TSCOPE_END or this failure */
	struct tscope_error ending_err;
};

static size_t shown(const struct reader *r)
{
	return (size_t)(r->scanner.end - r->scanner.at);
}

static uint64_t offset(const struct reader *r)
{
	return r->scanner.offset + (uint64_t)(r->scanner.at - r->scanner.window);
}

static enum tscope_status show_of_input(struct reader *r, size_t wanted)
{
	struct scanner *s = &r->scanner;
	const char *data;
	size_t available;
	tsi_input_consume(r->in, (size_t)(s->at - s->window));
	enum tscope_status status =
		tsi_input_peek(r->in, wanted, &data, &available, &r->ending_err);
	s->at = s->window = data;
	s->end = data + available;
	s->offset = tsi_input_offset(r->in);
	return status;
}

/*
 * Shows more behind what is shown now: `at` stays at the same byte of the
 * stream. False if there is no more. Windows that already are large double, so
 * that a long element costs linear time though it is scanned anew each time.
 */
static bool show_more(struct reader *r)
{
	if (r->is_last)
		return false;
	size_t had = shown(r);
	size_t wanted = had < SMALL_TAIL ? had + 1 : had * 2;
	enum tscope_status status = r->lanes ? tsi_lanes_show(r->lanes, wanted, &r->ending_err)
					     : show_of_input(r, wanted);
	if (status != TSCOPE_OK) {
		r->is_last = true;
		r->ending = status;
	}
	return shown(r) > had;
}

/* The next character that is no white space, not taken; '\0' at the end of the input. */
static char next_char(struct reader *r)
{
	do {
		struct scanner *s = &r->scanner;
		s->at = tsi_skip_space(s->at, s->end);
		if (s->at < s->end)
			return *s->at;
	} while (show_more(r));
	return '\0';
}

/*
 * The stream ends too early. An error below us is the one to report; else what is missing, in
 * whatever is open here.
 */
static enum tscope_status fail_cut(struct reader *r, struct tscope_error *err)
{
	r->sink->diagnostics[TSCOPE_DIAGNOSTIC_unclosed_json]++;
	if (r->ending != TSCOPE_END) {
		*err = r->ending_err;
		return r->ending;
	}
	return tsi_fail_at(err, TSCOPE_E_DAMAGED, offset(r) + shown(r),
			   "input ends inside the trace, after %llu events",
			   (unsigned long long)r->sink->element_count);
}

static enum tscope_status fail_event_cut(struct reader *r, struct tscope_error *err)
{
	uint64_t event_number = r->sink->element_count + 1;
	enum tscope_status status = fail_cut(r, err);
	if (r->ending == TSCOPE_END)
		tsi_fail_at(err, status, offset(r) + shown(r), "input ends inside event %llu",
			    (unsigned long long)event_number);
	return status;
}

/*
 * An element that the scanner left to the careful reader, or that goes on
 * behind the window. Either something is taken or more is shown.
 */
static enum tscope_status read_odd(struct reader *r, enum scan_result *result,
				   struct tscope_error *err)
{
	enum { SUSPICIOUS_BYTES = 1 << 20 }; /* likelier a string without end than an event */
	bool was_last = r->is_last;
	bool is_plain = *result == SCAN_MORE && !was_last && shown(r) < SUSPICIOUS_BYTES;
	enum element_result taken =
		is_plain ? ELEMENT_MORE : tsi_element_read(&r->scanner, was_last, err);
	switch (taken) {
	case ELEMENT_TAKEN:
		return TSCOPE_OK;
	case ELEMENT_CLOSED:
		*result = SCAN_CLOSED;
		return TSCOPE_OK;
	case ELEMENT_FAILED:
		return err->status;
	case ELEMENT_MORE:
		break;
	}
	if (was_last)
		return next_char(r) ? fail_event_cut(r, err) : TSCOPE_END;
	if (shown(r) > r->max_event_bytes)
		return tsi_fail_at(err, TSCOPE_E_LIMIT, offset(r),
				   "an event longer than %llu bytes (limit: max-event-bytes)",
				   (unsigned long long)r->max_event_bytes);
	show_more(r);
	return TSCOPE_OK;
}

/* Is so much of the input left, as far as one can see, that threads are worth starting? */
static bool is_worth_lanes(const struct reader *r)
{
	enum { FEW_BLOCKS = 4, USUAL_RATIO = 16 }; /* of compression */
	uint64_t few = FEW_BLOCKS * (uint64_t)tsi_input_block_bytes(r->in);
	uint64_t source_bytes = tsi_input_source_bytes(r->in);
	if (r->is_last || r->thread_count < 2)
		return false;
	if (!tsi_input_has_places(r->in))
		return source_bytes == 0 || source_bytes > few / USUAL_RATIO;
	return source_bytes > few;
}

/* Reads elements of the usual form, with the help of other threads where that is worth it. */
static enum scan_result scan(struct reader *r, struct tscope_error *err)
{
	if (r->lanes)
		return tsi_lanes_scan(r->lanes, err);
	enum scan_result result = tsi_scan_isa(NULL)->scan(&r->scanner, err);
	if (result != SCAN_MORE || !is_worth_lanes(r))
		return result;
	struct lanes_options options = { r->thread_count, r->max_event_bytes };
	r->lanes = tsi_lanes_start(r->in, &r->scanner, &options);
	if (r->lanes)
		return tsi_lanes_scan(r->lanes, err);
	r->thread_count = 1;
	return result;
}

/*
 * The elements behind "[". TSCOPE_END: the input ends where another element or the
 * closing bracket should be, which for a bare array is allowed by the format.
 */
static enum tscope_status read_events(struct reader *r, struct tscope_error *err)
{
	for (;;) {
		enum scan_result result = scan(r, err);
		if (result == SCAN_FAILED)
			return err->status;
		if (result != SCAN_CLOSED) {
			enum tscope_status status = read_odd(r, &result, err);
			if (status != TSCOPE_OK)
				return status;
		}
		if (result == SCAN_CLOSED)
			return TSCOPE_OK;
	}
}

/* Where a value is being skipped that no window needs to hold. */
struct skip_state {
	size_t depth;
	bool in_string, escaped;
	bool is_bare; /* a number or word: ends before what cannot be part of it */
};

/* The end of the value in [p, end), going on from the state; NULL: it goes on behind. */
static const char *skip_value(struct skip_state *s, const char *p, const char *end)
{
	for (; p < end; p++) {
		if (s->in_string) {
			bool is_end = *p == '"' && !s->escaped;
			s->escaped = *p == '\\' && !s->escaped;
			s->in_string = !is_end;
			if (is_end && s->depth == 0)
				return p + 1;
			continue;
		}
		switch (*p) {
		case '"':
			s->in_string = true;
			break;
		case '{':
		case '[':
			s->depth++;
			break;
		case '}':
		case ']':
			if (s->is_bare && s->depth == 0)
				return p;
			if (s->depth == 0 || --s->depth == 0)
				return p + 1;
			break;
		case ',':
		case ' ':
		case '\n':
		case '\r':
		case '\t':
			if (s->is_bare && s->depth == 0)
				return p;
			break;
		default:
			s->is_bare |= s->depth == 0;
		}
	}
	return NULL;
}

/* Skips the value at `at`, however long; TSCOPE_E_DAMAGED if the input ends in it. */
static enum tscope_status skip_long_value(struct reader *r, struct tscope_error *err)
{
	struct skip_state state = { 0 };
	for (;;) {
		struct scanner *s = &r->scanner;
		const char *end = skip_value(&state, s->at, s->end);
		s->at = end ? end : s->end;
		if (end)
			return TSCOPE_OK;
		if (!show_more(r))
			return fail_cut(r, err);
	}
}

/* The value at `at`, shown whole (or empty, if too long to keep); leaves `at` behind it. */
static enum tscope_status read_value(struct reader *r, struct str *value, struct tscope_error *err)
{
	struct scanner *s = &r->scanner;
	*value = (struct str){ 0 };
	for (;;) {
		struct skip_state state = { 0 };
		const char *end = skip_value(&state, s->at, s->end);
		if (end) {
			*value = (struct str){ s->at, (size_t)(end - s->at) };
			s->at = end;
			return TSCOPE_OK;
		}
		if (shown(r) > MAX_METADATA_BYTES) {
			r->sink->diagnostics[TSCOPE_DIAGNOSTIC_long_metadata]++;
			return skip_long_value(r, err);
		}
		if (!show_more(r))
			return fail_cut(r, err);
	}
}

/* A member's key with its colon; copied to `key`, since the window may move. */
static enum tscope_status read_key(struct reader *r, char *key, size_t *key_length,
				   struct tscope_error *err)
{
	struct str text;
	enum tscope_status status = TSCOPE_OK;
	if (next_char(r) != '"')
		return tsi_fail_at(err, TSCOPE_E_DAMAGED, offset(r), "expected a key of the trace");
	if ((status = read_value(r, &text, err)) != TSCOPE_OK)
		return status;
	char plain[JSON_KEY_MAX];
	text = tsi_json_plain_key(tsi_json_unquote(text), plain);
	*key_length = text.length < MAX_KEY_BYTES ? text.length : MAX_KEY_BYTES;
	if (*key_length)
		memcpy(key, text.data, *key_length);
	char colon = next_char(r);
	if (!colon)
		return fail_cut(r, err);
	if (colon != ':')
		return tsi_fail_at(err, TSCOPE_E_DAMAGED, offset(r),
				   "expected a colon behind a key");
	r->scanner.at++;
	return next_char(r) ? TSCOPE_OK : fail_cut(r, err);
}

static enum tscope_status read_metadata(struct reader *r, struct str key, struct tscope_error *err)
{
	struct str value;
	if (tsi_str_is(key, "file_info")) /* VizTracer's: all files of source that it met */
		return skip_long_value(r, err);
	enum tscope_status status = read_value(r, &value, err);
	if (status != TSCOPE_OK || value.length == 0)
		return status;
	tsi_json_shape_add_key(&r->shape, key);
	if (tsi_json_check(value, (unsigned)r->scanner.max_depth, NULL) != TSCOPE_OK) {
		r->sink->diagnostics[TSCOPE_DIAGNOSTIC_malformed_metadata]++;
		return TSCOPE_OK;
	}
	return r->sink->metadata(r->sink, key, value, err);
}

/* Does a member (key, colon) begin at p, as one would behind the comma that p follows? */
static bool is_member(const char *p, const char *end)
{
	p = tsi_skip_space(p, end);
	if (p == end || *p++ != '"')
		return false;
	const char *key = p;
	while (p < end && p - key < 64 && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
		p++;
	if (p == end || *p != '"' || p == key)
		return false;
	p = tsi_skip_space(p + 1, end);
	return p < end && *p == ':';
}

/*
 * Metadata values are printed unchecked by some writers. Behind one that broke
 * off too early this finds the comma before the next member.
 */
static bool find_next_member(struct reader *r)
{
	r->sink->diagnostics[TSCOPE_DIAGNOSTIC_malformed_metadata]++;
	while (shown(r) < MAX_METADATA_BYTES && show_more(r))
		;
	struct scanner *s = &r->scanner;
	const char *p = s->at;
	while (p < s->end && (p = memchr(p, ',', (size_t)(s->end - p)))) {
		if (is_member(p + 1, s->end)) {
			s->at = p;
			return true;
		}
		p++;
	}
	return false;
}

/* Reads what follows a member. *is_closed: the object's end. */
static enum tscope_status read_separator(struct reader *r, bool *is_closed,
					 struct tscope_error *err)
{
	char c = next_char(r);
	if (!c)
		return fail_cut(r, err);
	if (c != ',' && c != '}' && !find_next_member(r))
		return tsi_fail_at(err, TSCOPE_E_DAMAGED, offset(r),
				   "expected , or } behind a value");
	r->scanner.at++;
	*is_closed = c == '}';
	return TSCOPE_OK;
}

static enum tscope_status read_object(struct reader *r, bool *has_events, struct tscope_error *err)
{
	char key[MAX_KEY_BYTES];
	size_t key_length = 0;
	bool is_closed = false;
	enum tscope_status status;

	r->scanner.at++;
	while (!is_closed) {
		char c = next_char(r);
		if (c == '}') {
			r->scanner.at++;
			return TSCOPE_OK;
		}
		if (!c)
			return fail_cut(r, err);
		if ((status = read_key(r, key, &key_length, err)) != TSCOPE_OK)
			return status;
		struct str name = { key, key_length };
		if (tsi_str_is(name, "traceEvents") && next_char(r) == '[') {
			*has_events = true;
			r->scanner.at++;
			status = read_events(r, err);
			if (status == TSCOPE_END)
				status = fail_cut(r, err);
		} else {
			status = read_metadata(r, name, err);
		}
		if (status != TSCOPE_OK)
			return status;
		if ((status = read_separator(r, &is_closed, err)) != TSCOPE_OK)
			return status;
	}
	return TSCOPE_OK;
}

/* To the end of the stream: what breaks there has broken the file, too. */
static enum tscope_status read_rest(struct reader *r, struct tscope_error *err)
{
	uint64_t garbage_bytes = 0, begin = 0;
	char first = next_char(r);
	if (first) {
		begin = offset(r);
		do {
			garbage_bytes += shown(r);
			r->scanner.at = r->scanner.end;
		} while (show_more(r));
	}
	r->sink->diagnostics[TSCOPE_DIAGNOSTIC_trailing_bytes] +=
		(r->is_within ? 0 : garbage_bytes) + tsi_input_trailing_bytes(r->in);
	if (r->ending == TSCOPE_END && first == '{' && !r->is_within)
		return tsi_fail_at(err, TSCOPE_E_DAMAGED, begin,
				   "a second document begins behind the trace and is not read: "
				   "give each a file of its own");
	if (r->ending == TSCOPE_END)
		return TSCOPE_OK;
	*err = r->ending_err;
	return r->ending;
}

/* People put the files of several ranks one behind the other. Leaves `at` behind the bracket. */
static bool is_next_array(struct reader *r)
{
	if (next_char(r) != '[')
		return false;
	r->scanner.at++;
	if (next_char(r) == '{')
		return true;
	r->sink->diagnostics[TSCOPE_DIAGNOSTIC_trailing_bytes]++; /* the bracket */
	return false;
}

static enum tscope_status read_array(struct reader *r, bool *has_events, struct tscope_error *err)
{
	r->scanner.at++;
	if (next_char(r) == '[') { /* refused by name; not worth reading */
		r->scanner.at++;
		char first = next_char(r);
		r->shape.is_array_of_rows = first == '-' || (first >= '0' && first <= '9');
		return TSCOPE_OK;
	}
	*has_events = true;
	enum tscope_status status = read_events(r, err);
	while (status == TSCOPE_OK && is_next_array(r))
		status = read_events(r, err);
	if (status != TSCOPE_END)
		return status;
	if (r->ending != TSCOPE_END)
		return fail_cut(r, err);
	r->sink->diagnostics[TSCOPE_DIAGNOSTIC_unclosed_json]++;
	return TSCOPE_OK;
}

static void skip_byte_order_mark(struct reader *r)
{
	while (shown(r) < 3 && show_more(r))
		;
	if (shown(r) >= 3 && memcmp(r->scanner.at, "\xef\xbb\xbf", 3) == 0)
		r->scanner.at += 3;
}

static enum tscope_status read_document(struct reader *r, struct tscope_error *err)
{
	bool has_events = false;
	skip_byte_order_mark(r);
	char first = next_char(r);
	if (!first)
		return fail_cut(r, err);
	enum tscope_status status =
		first == '[' ? read_array(r, &has_events, err) : read_object(r, &has_events, err);
	if (status == TSCOPE_OK && !has_events) {
		r->shape.is_lines = next_char(r) == '{';
		return tsi_foreign_refuse_json(&r->shape, err);
	}
	bool is_foreign =
		r->sink->element_count &&
		r->sink->element_count == r->sink->diagnostics[TSCOPE_DIAGNOSTIC_not_an_object];
	if (status == TSCOPE_OK && is_foreign)
		return tsi_fail(err, TSCOPE_E_FORMAT,
				"an array whose elements are no events, not a trace");
	return status == TSCOPE_OK ? read_rest(r, err) : status;
}

static unsigned taste(const char *data, size_t length)
{
	const char *end = data + length;
	bool has_mark = length >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0;
	const char *first = tsi_skip_space(has_mark ? data + 3 : data, end);
	if (tsi_is_pstats((struct str){ data, length }))
		return 0;
	return first < end && (*first == '{' || *first == '[') ? 8 : 0;
}

static enum tscope_status decode_document(struct input *in, const struct decode_options *options,
					  bool is_within, struct event_sink *sink,
					  struct tscope_error *err)
{
	struct tscope_error own_err = { 0 };      /* nobody below needs to ask for NULL */
	struct reader *r = calloc(1, sizeof(*r)); /* too large for a thread's stack to be polite */
	if (!r)
		return tsi_fail_nomem(err);
	r->in = in;
	r->sink = sink;
	r->is_within = is_within;
	r->max_event_bytes =
		options->max_event_bytes ? options->max_event_bytes : default_max_event_bytes;
	r->thread_count = options->thread_count;
	r->scanner.sink = sink;
	r->scanner.max_depth = options->max_depth ? options->max_depth : DEFAULT_MAX_DEPTH;
	unsigned lane_count = r->thread_count < 2 ? 0 : tsi_lane_count(r->thread_count);
	r->scanner.kinds = tsi_kinds_new(0, 1 + lane_count, sink->arg_of);
	enum tscope_status status = TSCOPE_E_NOMEM;
	if (r->scanner.kinds)
		status = read_document(r, err ? err : &own_err);
	else
		tsi_fail_nomem(err);
	tsi_kinds_free(r->scanner.kinds);
	/* All scanned bytes count as read, also those behind the place where reading ended. */
	if (r->lanes)
		tsi_lanes_free(r->lanes);
	else
		tsi_input_consume(in, (size_t)(r->scanner.end - r->scanner.window));
	free(r);
	return status;
}

static enum tscope_status decode(struct input *in, const struct decode_options *options,
				 struct event_sink *sink, struct tscope_error *err)
{
	return decode_document(in, options, false, sink, err);
}

enum tscope_status tsi_chrome_json_decode_within(struct input *in,
						 const struct decode_options *options,
						 struct event_sink *sink, struct tscope_error *err)
{
	return decode_document(in, options, true, sink, err);
}

extern const struct format tsi_format_chrome_json;
const struct format tsi_format_chrome_json = {
	.taste = taste,
	.decode = decode,
};
