/* SPDX-License-Identifier: MIT */
/*
 * Plain data as YAML: the statistics of finetuning-scheduler, which writes a Python defaultdict.
 * libyaml yields events, and nothing is ever constructed: only the tags of plain values and of that
 * defaultdict are understood. All aliases of an anchor are one object.
 */
#include "decode/plain/plain_reader.h"

#include "config.h"

/* "0.training_step.0.end:", the key of a moment: of statistics that somebody wrote anew. */
static bool begins_with_moment(struct str head)
{
	const char *end = memchr(head.data, '\n', head.length);
	struct str line = { head.data, end ? (size_t)(end - head.data) : head.length };
	bool is_asked = tsi_str_starts(line, "? "), is_quoted;

	line = tsi_str_tail(line, 2 * is_asked);
	is_quoted = tsi_str_starts(line, "'") || tsi_str_starts(line, "\"");
	line = tsi_str_tail(line, is_quoted);
	ptrdiff_t colon = is_asked ? (ptrdiff_t)line.length : tsi_str_find(line, TSI_STR(":"));

	if (colon <= 0 || !tsi_is_digit(*line.data))
		return false;
	line.length = (size_t)colon;
	return tsi_str_find(line, TSI_STR(" ")) < 0 && (tsi_str_find(line, TSI_STR(".start")) > 0 ||
							tsi_str_find(line, TSI_STR(".end")) > 0);
}

/* Lines that hold nothing but blanks, or a comment. */
static struct str skip_comments(struct str head)
{
	const char *at = head.data, *end = head.data + head.length;

	for (;;) {
		const char *first = tsi_skip_space(at, end);
		const char *line_end = first < end && *first == '#'
					       ? memchr(first, '\n', (size_t)(end - first))
					       : NULL;
		if (!line_end)
			break;
		at = line_end + 1;
	}
	while (at < end && (*at == '\n' || *at == '\r'))
		at++;
	return (struct str){ at, (size_t)(end - at) };
}

static unsigned taste_yaml(struct str head)
{
	head = skip_comments(tsi_plain_skip_mark(head));
	if (tsi_str_starts(head, "!!python/"))
		return 72;
	if (tsi_str_starts(head, "%YAML "))
		return 48;
	if (tsi_str_starts(head, "---\n") || tsi_str_starts(head, "---\r\n") ||
	    tsi_str_starts(head, "--- "))
		return 32;
	return begins_with_moment(head) ? 40 : 0;
}

#if HAVE_YAML

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

#include "base/array.h"
#include "base/error.h"
#include "decode/json.h"
#include "decode/plain/plain_build.h"

enum { MAX_NUMBER_BYTES = 128 };

/*
 * Limit of the text before and between documents: libyaml compares each directive with all others.
 */
enum { MAX_HEAD_BYTES = 64 << 10 };

/* A container that is open. */
struct yaml_level {
	uint32_t anchor; /* the word of its name, or 0 */
	bool is_defaultdict;
};

struct yaml_reader {
	yaml_parser_t parser;
	yaml_event_t event;
	struct input *in;
	struct plain_build build;
	struct yaml_level *levels;
	size_t level_capacity;
	uint32_t anchors; /* a dict from names to what they stand for; 0: none so far */
	size_t max_text_bytes;
	size_t waiting_bytes; /* read since the last event */
	bool is_in_document;
	struct tscope_error *err; /* the build's: the first failure ends the reading */
};

/* ---- errors and events ----------------------------------------------------------------- */

TSI_PRINTF(3, 4)
static void fail_here(struct yaml_reader *r, enum tscope_status status, const char *format, ...)
{
	char text[sizeof(r->err->message)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	tsi_fail(r->err, status, "YAML: line %zu: %s", r->event.start_mark.line + 1, text);
}

/*
 * libyaml's yaml_read_handler_t: 0 is failure, no byte the end. All of the room is filled, if it
 * can be: which of two errors libyaml sees first must not depend on the blocks of the input.
 */
static int read_bytes(void *data, unsigned char *buffer, size_t room, size_t *got)
{
	struct yaml_reader *r = data;
	enum tscope_status status = TSCOPE_OK;

	*got = 0;
	if (!r->is_in_document && r->waiting_bytes > MAX_HEAD_BYTES)
		status =
			tsi_fail_at(r->err, TSCOPE_E_LIMIT, tsi_input_offset(r->in),
				    "YAML: more than %d bytes before the first value (limit: bytes "
				    "before a value)",
				    MAX_HEAD_BYTES);
	else if (r->waiting_bytes > r->max_text_bytes)
		status = tsi_fail_at(r->err, TSCOPE_E_LIMIT, tsi_input_offset(r->in),
				     "YAML: a text of more than %zu bytes (limit: text bytes)",
				     r->max_text_bytes);
	while (status == TSCOPE_OK && *got < room) {
		const char *bytes;
		size_t count;

		status = tsi_input_peek(r->in, 1, &bytes, &count, *got ? NULL : r->err);
		if (status != TSCOPE_OK)
			break;
		count = count < room - *got ? count : room - *got;
		memcpy(buffer + *got, bytes, count);
		tsi_input_consume(r->in, count);
		*got += count;
	}
	r->waiting_bytes += *got;
	/* A read error after these bytes recurs once they are used up. */
	return status == TSCOPE_OK || status == TSCOPE_END || *got > 0;
}

static void fail_parser(struct yaml_reader *r)
{
	const yaml_parser_t *parser = &r->parser;

	if (r->err->status != TSCOPE_OK)
		return; /* of the input */
	if (parser->error == YAML_MEMORY_ERROR)
		tsi_fail_nomem(r->err);
	else if (parser->error == YAML_READER_ERROR)
		tsi_fail_at(r->err, TSCOPE_E_DAMAGED, parser->problem_offset, "YAML: %s",
			    parser->problem);
	else
		tsi_fail(r->err, TSCOPE_E_DAMAGED, "YAML: line %zu: %s",
			 parser->problem_mark.line + 1, parser->problem);
}

/* The event is freed by the next one. False: failed. */
static bool take_event(struct yaml_reader *r)
{
	yaml_event_delete(&r->event);
	if (!yaml_parser_parse(&r->parser, &r->event)) {
		fail_parser(r);
		return false;
	}
	r->waiting_bytes = 0;
	if (r->event.type == YAML_DOCUMENT_START_EVENT)
		r->is_in_document = true;
	else if (r->event.type == YAML_DOCUMENT_END_EVENT)
		r->is_in_document = false;
	return true;
}

/* ---- tags ------------------------------------------------------------------------------ */

#define TAG_PREFIX "tag:yaml.org,2002:"

/* Treatment of a node with a tag. */
enum tag_role { TAG_PLAIN, TAG_TEXT, TAG_RESOLVED, TAG_DEFAULTDICT, TAG_NAME };

struct known_tag {
	const char *tag;
	yaml_event_type_t on;
	enum tag_role role;
};

static const struct known_tag known_tags[] = {
	{ "!", YAML_SCALAR_EVENT, TAG_TEXT },
	{ "!", YAML_SEQUENCE_START_EVENT, TAG_PLAIN },
	{ "!", YAML_MAPPING_START_EVENT, TAG_PLAIN },
	{ TAG_PREFIX "str", YAML_SCALAR_EVENT, TAG_TEXT },
	{ TAG_PREFIX "null", YAML_SCALAR_EVENT, TAG_RESOLVED },
	{ TAG_PREFIX "bool", YAML_SCALAR_EVENT, TAG_RESOLVED },
	{ TAG_PREFIX "int", YAML_SCALAR_EVENT, TAG_RESOLVED },
	{ TAG_PREFIX "float", YAML_SCALAR_EVENT, TAG_RESOLVED },
	{ TAG_PREFIX "seq", YAML_SEQUENCE_START_EVENT, TAG_PLAIN },
	{ TAG_PREFIX "map", YAML_MAPPING_START_EVENT, TAG_PLAIN },
	{ TAG_PREFIX "python/object/apply:collections.defaultdict", YAML_MAPPING_START_EVENT,
	  TAG_DEFAULTDICT },
	/* Without items: its arguments alone. */
	{ TAG_PREFIX "python/object/apply:collections.defaultdict", YAML_SEQUENCE_START_EVENT,
	  TAG_DEFAULTDICT },
	/* Factory that a defaultdict has for keys that it lacks. */
	{ TAG_PREFIX "python/name:builtins.dict", YAML_SCALAR_EVENT, TAG_NAME },
	{ TAG_PREFIX "python/name:__builtin__.dict", YAML_SCALAR_EVENT, TAG_NAME },
};

static enum tag_role find_role(struct yaml_reader *r, const yaml_char_t *tag)
{
	struct str name = tsi_str_of(tag ? (const char *)tag : "");

	if (!tag)
		return TAG_PLAIN;
	for (size_t i = 0; i < TSI_COUNT_OF(known_tags); i++)
		if (known_tags[i].on == r->event.type &&
		    tsi_str_equal(name, tsi_str_of(known_tags[i].tag)))
			return known_tags[i].role;
	bool is_standard = tsi_str_starts(name, TAG_PREFIX);
	size_t skipped = is_standard ? sizeof(TAG_PREFIX) - 1 : 0;
	fail_here(r, TSCOPE_E_UNSUPPORTED, "a value tagged %s%s; only plain data is read",
		  is_standard ? "!!" : "", name.data + skipped);
	return TAG_PLAIN;
}

/* ---- scalars --------------------------------------------------------------------------- */

/* Words as YAML 1.1 has them. */
static const struct {
	const char *spellings; /* each with a blank behind it */
	enum word_tag tag;
	uint32_t payload;
	double real;
} constants[] = {
	{ "~ null Null NULL ", WORD_NONE, 0, 0 },
	{ "true True TRUE yes Yes YES on On ON ", WORD_BOOL, 1, 0 },
	{ "false False FALSE no No NO off Off OFF ", WORD_BOOL, 0, 0 },
	{ ".inf .Inf .INF +.inf +.Inf +.INF ", WORD_REAL, 0, INFINITY },
	{ "-.inf -.Inf -.INF ", WORD_REAL, 0, -INFINITY },
	{ ".nan .NaN .NAN ", WORD_REAL, 0, NAN },
};

static bool is_spelled(struct str text, const char *spellings)
{
	for (const char *end; (end = strchr(spellings, ' ')); spellings = end + 1)
		if (tsi_str_equal(text, (struct str){ spellings, (size_t)(end - spellings) }))
			return true;
	return false;
}

/*
 * A decimal number as JSON has it: "+.5" is 0.5, "1." is 1.0. False for all else, such as
 * numbers of another base or with a leading 0, which stay texts. out has MAX_NUMBER_BYTES.
 */
static bool to_json_number(struct str text, char *out)
{
	size_t i = text.length && (text.data[0] == '+' || text.data[0] == '-'), length = 0;

	/* A sign, a 0 in front, one behind each point, NUL. */
	if (text.length == i || 2 * text.length > MAX_NUMBER_BYTES - 4)
		return false;
	if (text.data[0] == '-')
		out[length++] = '-';
	if (text.data[i] == '.') {
		if (i + 1 == text.length || !tsi_is_digit(text.data[i + 1]))
			return false;
		out[length++] = '0';
	}
	for (; i < text.length; i++) {
		out[length++] = text.data[i];
		if (text.data[i] == '.' &&
		    (i + 1 == text.length || !tsi_is_digit(text.data[i + 1])))
			out[length++] = '0';
	}
	out[length] = '\0';
	bool is_number = tsi_is_digit(out[length - 1]) && tsi_is_digit(out[*out == '-']);
	return is_number && tsi_json_check(tsi_str_of(out), 0, NULL) == TSCOPE_OK;
}

static uint32_t add_number(struct yaml_reader *r, const char *json)
{
	struct str text = tsi_str_of(json);
	uint64_t natural;
	int64_t integer;
	double real = 0;

	if (tsi_str_to_int64(text, &integer))
		return tsi_graph_add_int64(r->build.plain, integer);
	if (!strpbrk(json, "-.eE") && tsi_json_to_uint64(text, &natural))
		return tsi_graph_add_uint64(r->build.plain, natural);
	(void)tsi_json_to_double(text, &real);
	return tsi_graph_add_real(r->build.plain, real);
}

/* The meaning of a scalar without quotes. */
static uint32_t resolve(struct yaml_reader *r, struct str text)
{
	char number[MAX_NUMBER_BYTES];

	if (text.length == 0)
		return WORD_NONE;
	if (to_json_number(text, number))
		return add_number(r, number);
	for (size_t i = 0; i < TSI_COUNT_OF(constants); i++) {
		if (!is_spelled(text, constants[i].spellings))
			continue;
		if (constants[i].tag == WORD_REAL)
			return tsi_graph_add_real(r->build.plain, constants[i].real);
		return tsi_word(constants[i].tag, constants[i].payload);
	}
	return tsi_graph_add_text(r->build.plain, WORD_TEXT, text);
}

static uint32_t make_scalar(struct yaml_reader *r)
{
	struct str text = { (const char *)r->event.data.scalar.value, r->event.data.scalar.length };
	bool is_bare = r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	enum tag_role role = find_role(r, r->event.data.scalar.tag);

	if (role == TAG_NAME)
		return WORD_NONE;
	if (role == TAG_RESOLVED || (role == TAG_PLAIN && is_bare))
		return resolve(r, text);
	return tsi_graph_add_text(r->build.plain, WORD_TEXT, text);
}

/* ---- nodes ----------------------------------------------------------------------------- */

/* The word of a name; 0 for none. */
static uint32_t name_anchor(struct yaml_reader *r, const yaml_char_t *anchor)
{
	if (!anchor)
		return 0;
	return tsi_graph_add_text(r->build.plain, WORD_TEXT, tsi_str_of((const char *)anchor));
}

/* A node is complete. anchor: the word of a name for it, or 0. */
static void push(struct yaml_reader *r, uint32_t word, uint32_t anchor)
{
	if (anchor && !r->anchors)
		r->anchors = tsi_graph_add_object(r->build.plain, WORD_DICT);
	if (anchor)
		tsi_graph_set(r->build.plain, r->anchors, (const uint32_t[2]){ anchor, word }, 1);
	tsi_build_push(&r->build, word);
}

static void take_scalar(struct yaml_reader *r)
{
	uint32_t anchor = name_anchor(r, r->event.data.scalar.anchor);

	push(r, make_scalar(r), anchor);
}

/* A value that an alias names is complete: a container is not known before its end. */
static void take_alias(struct yaml_reader *r)
{
	const char *name = (const char *)r->event.data.alias.anchor;
	struct plain_value found = tsi_plain_find(
		r->build.plain, (struct plain_value){ r->anchors }, tsi_str_of(name));

	if (found.word)
		tsi_build_push(&r->build, found.word);
	else
		fail_here(r, TSCOPE_E_DAMAGED, "*%s: no value before it has that name", name);
}

static void take_start(struct yaml_reader *r, enum word_tag tag, const yaml_char_t *tag_text,
		       const yaml_char_t *anchor)
{
	size_t depth = r->build.level_count;
	struct yaml_level level = {
		.is_defaultdict = find_role(r, tag_text) == TAG_DEFAULTDICT,
		.anchor = name_anchor(r, anchor),
	};

	if (r->err->status != TSCOPE_OK ||
	    tsi_array_reserve(&r->levels, &r->level_capacity, depth + 1, sizeof(*r->levels),
			      r->err) != TSCOPE_OK)
		return;
	r->levels[depth] = level;
	tsi_build_open(&r->build, tag);
}

/* Its items, which stand in `made` under a name of their own, if it has any. */
static uint32_t items_of(struct yaml_reader *r, uint32_t made)
{
	struct plain_value items =
		tsi_plain_find(r->build.plain, (struct plain_value){ made }, TSI_STR("dictitems"));

	if (tsi_plain_kind(items) == PLAIN_DICT)
		return items.word;
	return tsi_graph_add_object(r->build.plain, WORD_DICT);
}

static void take_end(struct yaml_reader *r)
{
	uint32_t word = tsi_build_close(&r->build);
	const struct yaml_level *level = &r->levels[r->build.level_count];

	if (word == 0)
		return;
	if (level->is_defaultdict)
		word = items_of(r, word);
	push(r, word, level->anchor);
}

/* One event of the first document. */
static void take_next(struct yaml_reader *r)
{
	const yaml_event_t *event = &r->event;

	if (!take_event(r))
		return;
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		take_scalar(r);
		break;
	case YAML_ALIAS_EVENT:
		take_alias(r);
		break;
	case YAML_SEQUENCE_START_EVENT:
		take_start(r, WORD_LIST, event->data.sequence_start.tag,
			   event->data.sequence_start.anchor);
		break;
	case YAML_MAPPING_START_EVENT:
		take_start(r, WORD_DICT, event->data.mapping_start.tag,
			   event->data.mapping_start.anchor);
		break;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		take_end(r);
		break;
	case YAML_STREAM_END_EVENT:
		tsi_fail(r->err, TSCOPE_E_EMPTY, "no YAML: no document");
		break;
	default:
		break;
	}
}

/* ---- the document ---------------------------------------------------------------------- */

static void read_document(struct yaml_reader *r)
{
	while (r->err->status == TSCOPE_OK && r->event.type != YAML_DOCUMENT_END_EVENT)
		take_next(r);
	if (r->err->status == TSCOPE_E_LIMIT && !r->err->has_offset)
		fail_here(r, TSCOPE_E_LIMIT, "%s", r->err->message);
	/* Further documents are counted, not read. */
	while (r->err->status == TSCOPE_OK && r->event.type != YAML_STREAM_END_EVENT &&
	       take_event(r))
		r->build.plain->further_count += r->event.type == YAML_DOCUMENT_START_EVENT;
}

static enum tscope_status read_yaml(struct plain **ret, struct input *in,
				    const struct plain_limits *limits, struct tscope_error *err)
{
	struct yaml_reader r = { .in = in, .err = &r.build.err };

	r.max_text_bytes =
		limits && limits->max_text_bytes ? limits->max_text_bytes : PLAIN_MAX_TEXT_BYTES;
	if (!yaml_parser_initialize(&r.parser))
		return tsi_fail_nomem(err);
	yaml_parser_set_input(&r.parser, read_bytes, &r);
	tsi_build_init(&r.build, limits);
	read_document(&r);
	yaml_event_delete(&r.event);
	yaml_parser_delete(&r.parser);
	free(r.levels);
	return tsi_build_end(&r.build, ret, err);
}

#else

#include "base/error.h"

static enum tscope_status read_yaml(struct plain **ret, struct input *in,
				    const struct plain_limits *limits, struct tscope_error *err)
{
	(void)ret;
	(void)in;
	(void)limits;
	return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
			"finetuning-scheduler's statistics (YAML): this build has no libyaml: give "
			"the .pickle beside the .yaml, or build tscope with libyaml-dev");
}

#endif

const struct plain_reader tsi_plain_reader_yaml = {
	.form = "yaml",
	.not_a_trace = "a YAML document, not a trace: if it is finetuning-scheduler's statistics, "
		       "use `tscope memory FILE`",
	.taste = taste_yaml,
	.read = read_yaml,
};
