/* SPDX-License-Identifier: MIT */
/*
 * The careful reader: one element of traceEvents in whatever form, when the
 * scanner found it odd. Byte by byte, in plain C.
 *
 * Writers print events as text without a JSON library, so real files hold
 * names with unescaped quotes, bare N/A, raw control bytes.
 * An element is tried with strings that end where JSON says; if that leads
 * nowhere, with strings that end only where an event could go on; then with
 * strings that end wherever any JSON could. Each attempt is a whole reading, so the first that
 * ends in a comma or the closing bracket wins and the others leave no trace.
 */
#include "base/error.h"
#include "decode/events/event_field.h"
#include "decode/events/scan.h"
#include "decode/json.h"

#include <string.h>

/* A window that holds this much of one element and no end of it is likelier broken than long. */
enum { SUSPICIOUS_BYTES = 1 << 20 };

enum string_rule {
	STRICT,      /* the first quote that is not escaped ends a string */
	BEFORE_KEY,  /* … if an event's closing brace or next known key follows */
	BEFORE_MARK, /* … if one of , : } ] follows */
	STRING_RULE_COUNT,
};

enum reading {
	READ_OK,
	READ_MORE,
	READ_ODD,
	READ_DEEP, /* nested deeper than allowed */
};

struct attempt {
	const char *p, *end;
	bool is_last; /* nothing follows `end` */
	enum string_rule rule;
	size_t max_depth;
	struct raw_event event;
	size_t length; /* of the element */
	struct event_flaws flaws;
	uint32_t seen;
	bool has_members;
	bool has_quotes; /* unescaped ones */
	unsigned bare_words, trailing_commas;
};

static bool is_one_of(char c, const char *set)
{
	return c && strchr(set, c);
}

static enum reading skip_space(struct attempt *a)
{
	a->p = tsi_skip_space(a->p, a->end);
	return a->p < a->end ? READ_OK : READ_MORE;
}

/* Keys that events have; those of the first two every event has. */
static const char *const event_keys[] = {
	"ph",    "ts",    "id",  "bp",      "sf",      "cat",      "pid",  "tid",
	"dur",   "tts",   "id2", "s",       "name",    "args",     "tdur", "cname",
	"scope", "stack", "esf", "bind_id", "flow_in", "flow_out",
};

enum { INEVITABLE_KEYS = 2 };

/* Does one of the first key_count event keys begin at p, with its colon? */
static bool is_one_of_keys(const char *p, const char *end, size_t key_count)
{
	if (p == end || *p != '"')
		return false;
	p++;
	for (size_t i = 0; i < key_count; i++) {
		size_t length = strlen(event_keys[i]);
		if ((size_t)(end - p) <= length || memcmp(p, event_keys[i], length) != 0 ||
		    p[length] != '"')
			continue;
		const char *colon = tsi_skip_space(p + length + 1, end);
		return colon < end && *colon == ':';
	}
	return false;
}

static bool is_event_key(const char *p, const char *end)
{
	return is_one_of_keys(p, end, TSI_COUNT_OF(event_keys));
}

/* May the quote at p end a string? */
static enum reading is_closing(const struct attempt *a, const char *p)
{
	if (a->rule == STRICT)
		return READ_OK;
	const char *next = tsi_skip_space(p + 1, a->end);
	if (next == a->end)
		return a->is_last ? READ_OK : READ_MORE;
	if (a->rule == BEFORE_MARK)
		return is_one_of(*next, ",:}]") ? READ_OK : READ_ODD;

	bool is_comma = *next == ',';
	if (!is_comma && *next != '}')
		return READ_ODD;
	next = tsi_skip_space(next + 1, a->end);
	if (next == a->end)
		return a->is_last ? READ_OK : READ_MORE;
	if (is_comma)
		return is_event_key(next, a->end) ? READ_OK : READ_ODD;
	return *next == ',' || *next == ']' ? READ_OK : READ_ODD;
}

/* a->p is at the opening quote; leaves it behind the closing one. */
static enum reading read_string(struct attempt *a, struct str *text, bool *escaped)
{
	const char *start = a->p + 1;
	for (const char *p = start; p < a->end; p++) {
		if (*p == '\\') {
			*escaped = true;
			p++;
			continue;
		}
		if ((unsigned char)*p < 0x20)
			a->flaws.control_character = true;
		if (*p != '"')
			continue;
		enum reading reading = is_closing(a, p);
		if (reading == READ_MORE)
			return reading;
		if (reading == READ_ODD) {
			if (is_one_of_keys(p, a->end, INEVITABLE_KEYS))
				return READ_ODD; /* this would swallow the rest of the event */
			a->has_quotes = true;
			continue;
		}
		*text = (struct str){ start, (size_t)(p - start) };
		a->p = p + 1;
		return READ_OK;
	}
	return READ_MORE;
}

static enum reading read_word(struct attempt *a, struct str *text)
{
	const char *start = a->p;
	while (a->p < a->end && !tsi_is_space(*a->p) && !is_one_of(*a->p, ",:}]\"{["))
		a->p++;
	if (a->p == a->end && !a->is_last)
		return READ_MORE;
	*text = (struct str){ start, (size_t)(a->p - start) };
	return text->length ? READ_OK : READ_ODD;
}

/* N/A, NaN, inf: values all the same, but no number. */
static bool is_bare_word(struct str text)
{
	double number;
	return !tsi_json_to_double(text, &number) && !tsi_str_is(text, "null") &&
	       !tsi_str_is(text, "true") && !tsi_str_is(text, "false");
}

/* An object or array at a->p: up to the bracket of its kind that closes it. */
static enum reading skip_nested(struct attempt *a)
{
	char open = *a->p;
	char close = open == '{' ? '}' : ']';
	size_t depth = 0;
	enum string_rule rule = a->rule;
	if (rule == BEFORE_KEY)
		a->rule = BEFORE_MARK; /* what follows inside args are no event keys */

	enum reading reading = READ_OK;
	while (reading == READ_OK && a->p < a->end) {
		struct str text;
		bool escaped;
		if (*a->p == '"') {
			reading = read_string(a, &text, &escaped);
			continue;
		}
		char c = *a->p++;
		depth += c == open;
		depth -= c == close;
		if (depth > a->max_depth)
			reading = READ_DEEP;
		if (depth == 0)
			break;
	}
	a->rule = rule;
	return reading == READ_OK && depth ? READ_MORE : reading;
}

/* Any value; *text is what stands between its quotes, or its text; null is the empty text. */
static enum reading read_value(struct attempt *a, struct str *text, bool *escaped)
{
	const char *start = a->p;
	enum reading reading;
	*escaped = false;
	switch (*a->p) {
	case '"':
		return read_string(a, text, escaped);
	case '{':
	case '[':
		reading = skip_nested(a);
		*text = (struct str){ start, (size_t)(a->p - start) };
		return reading;
	}
	reading = read_word(a, text);
	if (reading == READ_OK && is_bare_word(*text))
		a->bare_words++;
	if (reading == READ_OK && tsi_str_is(*text, "null"))
		*text = (struct str){ 0 };
	return reading;
}

static void take_time(struct attempt *a, struct str text, int64_t *ns, bool *has)
{
	*has = tsi_json_to_ns(text, ns);
	if (!*has && text.length)
		a->flaws.bad_time = true;
}

static void take_field(struct attempt *a, enum event_field field, struct str text, bool escaped)
{
	struct raw_event *event = &a->event;
	char plain[JSON_KEY_MAX];
	switch (field) {
	case FIELD_PH:
		if (escaped)
			text = tsi_json_plain_key(text, plain);
		event->phase = text.length ? text.data[0] : '\0';
		break;
	case FIELD_NAME:
		event->name = text;
		event->name_escaped = escaped;
		break;
	case FIELD_CAT:
		event->cat = text;
		break;
	case FIELD_PID:
		event->pid = text;
		break;
	case FIELD_TID:
		event->tid = text;
		break;
	case FIELD_ID:
	case FIELD_ID2:
		event->id = text;
		break;
	case FIELD_TS:
		take_time(a, text, &event->ts_ns, &event->has_ts);
		break;
	case FIELD_DUR:
		take_time(a, text, &event->dur_ns, &event->has_dur);
		break;
	case FIELD_TDUR:
		take_time(a, text, &a->flaws.tdur_ns, &a->flaws.has_tdur);
		break;
	case FIELD_ARGS:
		event->args = text;
		break;
	case FIELD_OTHER:
	case FIELD_END:
		break;
	}
}

/* plain: room for a key that is written with escapes. */
static enum reading read_key(struct attempt *a, struct str *key, char plain[JSON_KEY_MAX])
{
	bool escaped = false;
	enum string_rule rule = a->rule;
	a->rule = STRICT; /* keys are the writer's own */
	enum reading reading = *a->p == '"' ? read_string(a, key, &escaped) : READ_ODD;
	a->rule = rule;
	if (reading == READ_OK && escaped)
		*key = tsi_json_plain_key(*key, plain);
	if (reading == READ_OK)
		reading = skip_space(a);
	if (reading == READ_OK && *a->p++ != ':')
		reading = READ_ODD;
	return reading == READ_OK ? skip_space(a) : reading;
}

static enum reading read_member(struct attempt *a)
{
	struct str key, text;
	char plain[JSON_KEY_MAX];
	bool escaped;
	enum reading reading = read_key(a, &key, plain);
	if (reading != READ_OK)
		return reading;
	const char *start = a->p;
	if ((reading = read_value(a, &text, &escaped)) != READ_OK)
		return reading;
	enum event_field field = event_field_of(key);
	if (field == FIELD_ARGS || field == FIELD_ID2)
		text = (struct str){ start, (size_t)(a->p - start) };
	a->flaws.duplicate_key |= field != FIELD_OTHER && (a->seen >> field & 1);
	a->seen |= 1u << field;
	a->has_members = true;
	take_field(a, field, text, escaped);
	return READ_OK;
}

/* The members of the object at a->p, to behind its brace. */
static enum reading read_object(struct attempt *a)
{
	bool after_comma = false;
	enum reading reading;
	a->p++;
	for (;;) {
		if ((reading = skip_space(a)) != READ_OK)
			return reading;
		if (*a->p == '}') {
			a->trailing_commas += after_comma;
			a->p++;
			return READ_OK;
		}
		if (a->has_members && !after_comma)
			return READ_ODD;
		if ((reading = read_member(a)) != READ_OK)
			return reading;
		if ((reading = skip_space(a)) != READ_OK)
			return reading;
		after_comma = *a->p == ',';
		a->p += after_comma;
	}
}

/*
 * Checks the end of an element, and leaves a->p there: a comma or the closing bracket, the next
 * event's brace, the end of the input, or the object's last brace where the bracket is missing.
 */
static enum reading expect_end(struct attempt *a)
{
	a->p = tsi_skip_space(a->p, a->end);
	if (a->p == a->end)
		return a->is_last ? READ_OK : READ_MORE;
	if (is_one_of(*a->p, ",]{"))
		return READ_OK;
	if (*a->p != '}' || tsi_skip_space(a->p + 1, a->end) != a->end)
		return READ_ODD;
	return a->is_last ? READ_OK : READ_MORE;
}

static enum reading try_element(struct attempt *a)
{
	struct str text;
	bool escaped;
	const char *start = a->p;
	enum reading reading = *start == '{' ? read_object(a) : read_value(a, &text, &escaped);
	a->length = (size_t)(a->p - start);
	return reading == READ_OK ? expect_end(a) : reading;
}

/* Takes the separator at a->p and says how to go on. */
static enum element_result take_separator(struct scanner *scanner, const char *p)
{
	scanner->at = p;
	if (p == scanner->end)
		return ELEMENT_TAKEN;
	if (*p == '{') {
		scanner->sink->diagnostics[TSCOPE_DIAGNOSTIC_missing_comma]++;
		return ELEMENT_TAKEN;
	}
	if (*p == '}') {
		scanner->sink->diagnostics[TSCOPE_DIAGNOSTIC_unclosed_json]++;
		return ELEMENT_CLOSED;
	}
	scanner->at = p + 1;
	return *p == ']' ? ELEMENT_CLOSED : ELEMENT_TAKEN;
}

static enum element_result accept(struct scanner *scanner, const char *start, struct attempt *a,
				  struct tscope_error *err)
{
	uint64_t *count = scanner->sink->diagnostics;
	count[TSCOPE_DIAGNOSTIC_unescaped_quote] += a->has_quotes;
	count[TSCOPE_DIAGNOSTIC_bare_word] += a->bare_words;
	count[TSCOPE_DIAGNOSTIC_trailing_comma] += a->trailing_commas;

	if (*start != '{' || !a->has_members) {
		scanner->sink->element_count++;
		count[*start != '{' ? TSCOPE_DIAGNOSTIC_not_an_object
				    : TSCOPE_DIAGNOSTIC_empty_event]++;
		return take_separator(scanner, a->p);
	}
	a->event.text = (struct str){ start, a->length };
	if (tsi_event_emit(scanner->sink, &a->event, &a->flaws, err) != TSCOPE_OK)
		return ELEMENT_FAILED;
	return take_separator(scanner, a->p);
}

/* Where the next event seems to begin, behind the one at start; NULL: not in the window. */
static const char *find_next_event(const struct scanner *scanner, const char *start)
{
	const char *p = start + 1;
	while (p < scanner->end && (p = memchr(p, '{', (size_t)(scanner->end - p)))) {
		if (is_event_key(tsi_skip_space(p + 1, scanner->end), scanner->end))
			return p;
		p++;
	}
	return NULL;
}

/* Gives up on the element at start. One that ends with the input is not malformed but cut. */
static enum element_result skip_malformed(struct scanner *scanner, const char *start, bool is_last,
					  bool is_open)
{
	enum { KEPT = 64 }; /* enough for the beginning of an event across the end of the window */
	const char *next = find_next_event(scanner, start);
	if (!next && is_last && is_open)
		return ELEMENT_MORE;
	if (!next)
		next = is_last || scanner->end - start <= KEPT ? scanner->end : scanner->end - KEPT;
	scanner->sink->diagnostics[TSCOPE_DIAGNOSTIC_malformed_event]++;
	scanner->sink->element_count++;
	scanner->at = next;
	return ELEMENT_TAKEN;
}

/* Commas and brackets where an element should begin. False: an element does. */
static bool take_stray(struct scanner *scanner, const char *p, enum element_result *result)
{
	uint64_t *trailing_comma = &scanner->sink->diagnostics[TSCOPE_DIAGNOSTIC_trailing_comma];
	switch (*p) {
	case ',':
		++*trailing_comma;
		scanner->at = p + 1;
		*result = ELEMENT_TAKEN;
		return true;
	case ']':
		*trailing_comma += scanner->sink->element_count > 0;
		scanner->at = p + 1;
		*result = ELEMENT_CLOSED;
		return true;
	}
	return false;
}

enum element_result tsi_element_read(struct scanner *scanner, bool is_last,
				     struct tscope_error *err)
{
	const char *start = tsi_skip_space(scanner->at, scanner->end);
	enum element_result stray;
	if (start == scanner->end)
		return ELEMENT_MORE;
	if (take_stray(scanner, start, &stray))
		return stray;

	bool is_open = false; /* by the rules of JSON it goes on behind the window */
	bool is_short = scanner->end - start < SUSPICIOUS_BYTES && !is_last;
	for (enum string_rule rule = STRICT; rule < STRING_RULE_COUNT; rule++) {
		struct attempt a = { .p = start,
				     .end = scanner->end,
				     .is_last = is_last,
				     .rule = rule,
				     .max_depth = scanner->max_depth };
		enum reading reading = try_element(&a);
		if (reading == READ_OK)
			return accept(scanner, start, &a, err);
		if (reading == READ_DEEP) {
			tsi_fail_at(err, TSCOPE_E_LIMIT,
				    scanner->offset + (uint64_t)(start - scanner->window),
				    "values nested deeper than %zu (limit: max-depth)",
				    scanner->max_depth);
			return ELEMENT_FAILED;
		}
		if (reading == READ_MORE && is_short)
			return ELEMENT_MORE;
		is_open |= reading == READ_MORE && rule == STRICT;
	}
	if (is_open && !is_last)
		return ELEMENT_MORE;
	return skip_malformed(scanner, start, is_last, is_open);
}
