/* SPDX-License-Identifier: MIT */
/*
 * The hot loop: bytes of traceEvents to raw events. Compiled once for each
 * instruction set (see simd.h); the best one is picked at run time.
 *
 * Reasons for its speed:
 *   - events that came before are known by heart (kinds.h) and only compared; the rest is for
 *     those that did not, and for finding out which one it is:
 *   - keys and the white space around them are predicted (layout.h) and verified
 *     with one 32-byte comparison, not read;
 *   - strings end where a 32-byte mask says so;
 *   - args are skipped 64 bytes at a time: quotes to a mask of what lies inside
 *     strings (prefix xor), braces outside of it counted;
 *   - times go from digits to integers eight at a time.
 * An event is handed on only when a comma or the closing bracket follows it:
 * a quote that was not escaped shows there at the latest.
 */
#include "decode/events/scan.h"

#include "decode/events/event_field.h"
#include "decode/events/kind_match.h"
#include "decode/events/layout.h"
#include "decode/events/members.h"
#include "decode/events/skip.h"
#include "decode/json.h"
#include "decode/number.h"

extern const struct scan_isa TSI_ISA_NAME(tsi_scan);

enum reading {
	READ_OK,
	READ_MORE, /* the window ended */
	READ_ODD,
	READ_KNOWN, /* read as one of a known kind */
};

struct cursor {
	const char *p, *end;
	size_t max_depth;
	struct event_flaws flaws;
	uint32_t seen, twice;       /* bit per enum event_field */
	struct kind_source *source; /* its members are noted */
};

static inline enum reading skip_space(struct cursor *c)
{
	c->p = tsi_skip_space(c->p, c->end);
	return c->p < c->end ? READ_OK : READ_MORE;
}

/* c->p is behind an opening quote; leaves it behind the closing one. */
static inline enum reading read_string(struct cursor *c, struct str *text, bool *escaped)
{
	struct skipped met = { 0 };
	const char *quote = skip_string_text(c->p, c->end, &met);
	if (tsi_unlikely(!quote))
		return READ_MORE;
	*text = (struct str){ c->p, (size_t)(quote - c->p) };
	*escaped = met.escape;
	c->flaws.control_character |= met.control;
	c->p = quote + 1;
	return READ_OK;
}

/* c->p is at an opening brace; leaves it behind the one that closes it. */
static inline enum reading skip_object(struct cursor *c)
{
	struct skipped met = { 0 };
	bool odd = false;
	const char *behind = skip_brackets(c->p, c->end, c->max_depth, &odd, &met);
	if (tsi_unlikely(!behind))
		return odd ? READ_ODD : READ_MORE;
	c->flaws.control_character |= met.control;
	c->p = behind;
	return READ_OK;
}

/* A word: up to what may follow a value. */
static enum reading read_word(struct cursor *c, struct str *text)
{
	const char *p = c->p;
	while (p < c->end && *p >= 'a' && *p <= 'z')
		p++;
	if (p == c->end)
		return READ_MORE;
	*text = (struct str){ c->p, (size_t)(p - c->p) };
	c->p = p;
	bool is_known = tsi_str_is(*text, "null") || tsi_str_is(*text, "true") ||
			tsi_str_is(*text, "false");
	return is_known ? READ_OK : READ_ODD;
}

/* A number without exponent. */
static inline enum reading read_number(struct cursor *c, struct str *text)
{
	const char *digits = c->p + (*c->p == '-');
	const char *p = skip_digits(digits, c->end);
	if (tsi_unlikely(*p == '.' && p < c->end)) {
		digits = p + 1;
		p = skip_digits(digits, c->end);
	}
	if (p >= c->end)
		return READ_MORE;
	if (p == digits || !(*p == ',' || tsi_is_space(*p) || *p == '}'))
		return READ_ODD;
	*text = (struct str){ c->p, (size_t)(p - c->p) };
	c->p = p;
	return READ_OK;
}

/* A number, or a string; null counts as absent. The other forms are for the careful reader. */
static inline enum reading read_scalar(struct cursor *c, struct str *text)
{
	bool escaped = false;
	char first = *c->p;
	if (first == '"') {
		c->p++;
		return read_string(c, text, &escaped);
	}
	if (first == '-' || (unsigned char)(first - '0') <= 9)
		return read_number(c, text);
	enum reading reading = read_word(c, text);
	if (reading == READ_OK && first == 'n')
		*text = (struct str){ 0 };
	return reading;
}

/* A time in the plain form; all other forms are for the careful reader. */
static inline enum reading read_time(struct cursor *c, int64_t *ns)
{
	const char *behind = parse_plain_ns(c->p, c->end, ns);
	if (tsi_unlikely(!behind)) /* perhaps only the window ends in it */
		return c->end - c->p < 32 ? READ_MORE : READ_ODD;
	if (behind == c->end)
		return READ_MORE;
	c->p = behind;
	return READ_OK;
}

static inline enum reading skip_other(struct cursor *c)
{
	struct str text;
	if (*c->p == '{')
		return skip_object(c);
	return read_scalar(c, &text);
}

/* The value of a field; c->p is at its first character. */
static inline enum reading read_value(struct cursor *c, enum event_field field,
				      struct raw_event *event)
{
	struct str text;
	enum reading reading;

	switch (field) {
	case FIELD_PH:
		if ((reading = read_scalar(c, &text)) == READ_OK)
			event->phase = text.length ? text.data[0] : '\0';
		return event->phase == '\\' ? READ_ODD : reading;
	case FIELD_NAME:
		event->name_escaped = false; /* if it comes twice */
		if (*c->p != '"')
			return read_scalar(c, &event->name);
		c->p++;
		return read_string(c, &event->name, &event->name_escaped);
	case FIELD_CAT:
		return read_scalar(c, &event->cat);
	case FIELD_PID:
		return read_scalar(c, &event->pid);
	case FIELD_TID:
		return read_scalar(c, &event->tid);
	case FIELD_ID:
		return read_scalar(c, &event->id);
	case FIELD_TS:
		if ((reading = read_time(c, &event->ts_ns)) == READ_OK)
			event->has_ts = true;
		return reading;
	case FIELD_DUR:
		if ((reading = read_time(c, &event->dur_ns)) == READ_OK)
			event->has_dur = true;
		return reading;
	case FIELD_TDUR:
		if ((reading = read_time(c, &c->flaws.tdur_ns)) == READ_OK)
			c->flaws.has_tdur = true;
		return reading;
	case FIELD_ARGS:
		event->args.data = c->p;
		reading = skip_other(c);
		event->args.length = (size_t)(c->p - event->args.data);
		return reading;
	case FIELD_ID2:
		text.data = c->p;
		if ((reading = skip_other(c)) == READ_OK)
			event->id = (struct str){ text.data, (size_t)(c->p - text.data) };
		return reading;
	case FIELD_OTHER:
	case FIELD_END:
		break;
	}
	return skip_other(c);
}

/*
 * Reads what stands between two values the general way: the opening brace or a
 * comma, a key and its colon; or the closing brace (FIELD_END).
 */
static enum reading read_glue(struct cursor *c, bool is_first, enum event_field *field)
{
	bool escaped = false;
	char plain[JSON_KEY_MAX];
	struct str key;
	enum reading reading;
	if ((reading = skip_space(c)) != READ_OK)
		return reading;
	if (*c->p == '}' && !is_first) {
		c->p++;
		*field = FIELD_END;
		return READ_OK;
	}
	if (*c->p != (is_first ? '{' : ','))
		return READ_ODD;
	c->p++;
	if ((reading = skip_space(c)) != READ_OK)
		return reading;
	if (*c->p != '"')
		return READ_ODD;
	c->p++;
	if ((reading = read_string(c, &key, &escaped)) != READ_OK)
		return reading;
	if ((reading = skip_space(c)) != READ_OK)
		return reading;
	if (*c->p != ':')
		return READ_ODD;
	c->p++;
	*field = event_field_of(tsi_unlikely(escaped) ? tsi_json_plain_key(key, plain) : key);
	return skip_space(c);
}

/* Notes the member before c->p for those who learn the event, unless it says what that is. */
static inline void note_member(struct cursor *c, enum event_field field, const char *value)
{
	enum {
		TELLING = 1 << FIELD_PH | 1 << FIELD_NAME | 1 << FIELD_CAT | 1 << FIELD_PID |
			  1 << FIELD_TID
	};
	struct kind_source *source = c->source;
	if ((TELLING >> field & 1) || source->member_count == MAX_KIND_NUMBERS)
		return;
	source->members[source->member_count++] =
		(struct kind_member){ { value, (size_t)(c->p - value) }, field };
}

/*
 * One event, c->p at its brace; leaves c->p behind it. READ_KNOWN: up to its name it was read
 * this way, but then it was found to be of known kind, and c->p is where the next one begins.
 */
static inline enum reading read_event(struct scanner *scanner, struct cursor *c,
				      struct raw_event *event, struct kind_event *known)
{
	struct layout *layout = &scanner->layout;
	const char *start = c->p;
	unsigned glue = 0;
	for (bool is_first = true;; is_first = false) {
		bool on_path = glue || is_first; /* of glues that are known so far */
		unsigned next = on_path ? layout_match(layout, glue, c->p) : 0;
		enum event_field field;
		enum reading reading;
		if (tsi_likely(next)) {
			glue = next;
			field = (enum event_field)layout->glues[next].field;
			c->p += layout->glues[next].length;
			/* One that ends in fewer blanks than stand here is foreseen as well. */
			if (tsi_unlikely(tsi_is_space(*c->p)) && field != FIELD_END &&
			    (reading = skip_space(c)) != READ_OK)
				return reading;
		} else {
			const char *from = c->p;
			if ((reading = read_glue(c, is_first, &field)) != READ_OK)
				return reading;
			struct str text = { from, (size_t)(c->p - from) };
			/* A control character in a key is counted each time, so never foreseen. */
			bool is_kept = on_path && !c->flaws.control_character;
			glue = is_kept ? layout_learn(layout, glue, text, field) : 0;
		}
		if (tsi_unlikely(c->p >= c->end))
			return READ_MORE;
		if (field == FIELD_END)
			return READ_OK;
		c->twice |= c->seen & 1u << field;
		c->seen |= 1u << field;
		const char *value = c->p;
		if ((reading = read_value(c, field, event)) != READ_OK)
			return reading;
		note_member(c, field, value);
		if (field != FIELD_NAME || !scanner->kinds)
			continue;
		const char *behind = match_named(scanner->kinds, event->name, start, c->end, known);
		if (behind) {
			c->p = behind;
			return READ_KNOWN;
		}
	}
}

/* Hands on an event of known kind, which ends before `behind`. */
static inline enum tscope_status emit_known(struct scanner *scanner, const char *behind,
					    struct kind_event *known, struct tscope_error *err)
{
	struct event_sink *sink = scanner->sink;
	struct raw_repeat *repeat = &known->repeat;
	scanner->at = behind - known->kind->space;
	sink->element_count++;
	if (tsi_unlikely(repeat->dur_ns < 0)) {
		sink->diagnostics[TSCOPE_DIAGNOSTIC_negative_duration]++;
		repeat->dur_ns = 0;
	}
	enum tscope_status status;
	if (tsi_likely(repeat->kind && sink->repeat(sink, repeat, &status, err)))
		return status;
	struct raw_event event;
	take_whole(known, &event);
	/* Behind its brace stands a comma, and maybe blanks before that. */
	event.text = (struct str){ repeat->text, (size_t)(scanner->at - 1 - repeat->text) };
	while (event.text.data[event.text.length - 1] != '}')
		event.text.length--;
	return sink->event(sink, &event, err);
}

/* Learns the event at p, of which the cursor is behind. */
static void learn(struct scanner *scanner, const char *p, const struct cursor *c,
		  struct raw_event *event)
{
	bool is_flawless = !c->flaws.duplicate_key && !c->flaws.control_character && *c->p == ',';
	const char *next = tsi_skip_space(c->p + 1, c->end);
	unsigned index = 0;
	c->source->text = (struct str){ p, (size_t)(next - p) };
	c->source->end = c->end;
	if (is_flawless && next < c->end && *next == '{' &&
	    c->source->member_count < MAX_KIND_NUMBERS)
		index = tsi_kinds_learn(scanner->kinds, &TSI_ISA_NAME(tsi_scan), c->source, event);
	correct_kind(scanner->kinds, index);
}

/* Hands on an event of no known kind, which began at p and of which the cursor is behind. */
static enum tscope_status emit_read(struct scanner *scanner, const char *p, struct cursor *c,
				    struct raw_event *event, struct tscope_error *err)
{
	scanner->at = c->p + 1;
	c->flaws.duplicate_key = c->twice & ~(1u << FIELD_OTHER);
	if (!tsi_event_settle(scanner->sink, event, &c->flaws))
		return TSCOPE_OK;
	if (scanner->kinds)
		learn(scanner, p, c, event);
	return scanner->sink->event(scanner->sink, event, err);
}

/*
 * Reads the event at *p, which is not of the kind that was predicted, and hands it on. True:
 * another one follows at *p; false: *result.
 */
static bool read_unpredicted(struct scanner *scanner, const char **p, enum scan_result *result,
			     struct tscope_error *err)
{
	struct kind_source source;
	struct cursor c = {
		.p = *p,
		.end = scanner->end,
		.max_depth = scanner->max_depth,
		.source = &source,
	};
	struct raw_event event = { 0 };
	struct kind_event known;
	enum reading reading = READ_MORE;
	source.member_count = 0; /* no more of it is cleared: it is large */
	if (c.p < c.end)
		reading = *c.p == '{' ? read_event(scanner, &c, &event, &known) : READ_ODD;
	*result = SCAN_FAILED;
	if (reading == READ_KNOWN) {
		*p = c.p;
		return emit_known(scanner, c.p, &known, err) == TSCOPE_OK;
	}
	event.text = (struct str){ *p, (size_t)(c.p - *p) };
	if (reading == READ_OK)
		reading = skip_space(&c);
	if (reading == READ_OK && *c.p != ',' && *c.p != ']')
		reading = READ_ODD;
	if (reading != READ_OK) {
		*result = reading == READ_MORE ? SCAN_MORE : SCAN_ODD;
		return false;
	}
	if (emit_read(scanner, *p, &c, &event, err) != TSCOPE_OK)
		return false;
	*p = scanner->at;
	*result = SCAN_CLOSED;
	return *c.p != ']';
}

static enum scan_result scan(struct scanner *scanner, struct tscope_error *err)
{
	struct kind_event known;
	enum scan_result result;
	const char *p = scanner->at;
	for (;;) {
		const char *behind = NULL;
		if (scanner->kinds)
			behind = match_predicted(scanner->kinds, p, scanner->end, &known);
		if (tsi_likely(behind != NULL)) {
			p = behind; /* the space behind it, as most have it, is part of the kind */
			if (emit_known(scanner, behind, &known, err) != TSCOPE_OK)
				return SCAN_FAILED;
			continue;
		}
		p = tsi_skip_space(p, scanner->end);
		if (!read_unpredicted(scanner, &p, &result, err))
			return result;
		p = tsi_skip_space(p, scanner->end);
	}
}

static bool is_supported(void)
{
#if defined(TSI_SCAN_AVX2)
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	       __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("pclmul");
#else
	return true;
#endif
}

#define ISA_TEXT(isa) ISA_TEXT_OF(isa)
#define ISA_TEXT_OF(isa) #isa

const struct scan_isa TSI_ISA_NAME(tsi_scan) = {
	.name = ISA_TEXT(TSI_ISA),
	.is_supported = is_supported,
	.scan = scan,
	.next_member = TSI_ISA_NAME(tsi_next_member),
};
