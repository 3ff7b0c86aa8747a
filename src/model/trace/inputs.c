/* SPDX-License-Identifier: MIT */
/*
 * Inputs of operator calls, as texts. Training makes the same calls a million times, so inputs are
 * put into their form only once for each way in which the file writes them, and looked up as they
 * stand there from then on.
 */
#include "decode/json.h"
#include "model/trace/build.h"

#include <math.h>

/* "long int", "unsigned char" */
static bool is_between_words(struct str list, size_t i)
{
	return i > 0 && i + 1 < list.length && tsi_is_letter(list.data[i - 1]) &&
	       tsi_is_letter(list.data[i + 1]);
}

/* Copies a JSON list without its quotes, with blanks within types and behind commas only. */
static char *put_list(char *out, struct str list)
{
	for (size_t i = 0; i < list.length; i++) {
		char c = list.data[i];
		if ((c == ' ' && !is_between_words(list, i)) || c == '"' || c == '\n' ||
		    c == '\t' || c == '\r')
			continue;
		*out++ = c;
		if (c == ',')
			*out++ = ' ';
	}
	return out;
}

/*
 * The signature of an op call is one text, so that equal shapes have equal ids:
 * "[[8, 128], [128, 64]] float, float", dims as recorded, then the types
 * without their brackets.
 */
static struct str put_signature(char *out, struct str dims, struct str types)
{
	if (types.length >= 2 && types.data[0] == '[') {
		types.data++;
		types.length -= 2;
	}
	char *end = put_list(out, dims);
	if (types.length) {
		*end++ = ' ';
		end = put_list(end, types);
	}
	return (struct str){ out, (size_t)(end - out) };
}

/* ---- concrete inputs ----------------------------------------------------------------- */

static bool opens(char c)
{
	return c == '[' || c == '(';
}

static bool closes(char c)
{
	return c == ']' || c == ')';
}

static bool is_of_word(char c)
{
	return tsi_is_digit(c) || tsi_is_letter(c) || c == '.' || c == '-' || c == '+' ||
	       c == '_' || c == ' ';
}

/* A number, a word, or a list of them: nothing that would disturb a list around it. */
static bool is_plain(struct str value)
{
	size_t depth = 0;
	for (size_t i = 0; i < value.length; i++) {
		char c = value.data[i];
		if (opens(c))
			depth++;
		else if (depth && closes(c))
			depth--;
		else if (!is_of_word(c) && !(depth && c == ','))
			return false;
	}
	return depth == 0;
}

/* Lists of numbers come as "[1, 1]", from a writer in Python also as "(1, 1)". */
static char *put_plain(char *out, struct str value)
{
	char *end = put_list(out, value);
	for (char *p = out; p < end; p++)
		*p = opens(*p) ? '[' : closes(*p) ? ']' : *p;
	return end;
}

/*
 * ["", "[1, 1]", "0.5", "an, equation"] becomes "[, [1, 1], 0.5, ]": each item stays in
 * its place, and texts that no formula reads are left out. No list, no text.
 */
static struct str put_concrete(char *out, struct str concrete)
{
	struct json_cursor items;
	struct str item;
	char *end = out;
	if (concrete.data[0] != '[')
		return (struct str){ out, 0 };
	*end++ = '[';
	tsi_json_array_open(&items, concrete);
	for (bool is_first = true; tsi_json_array_next(&items, &item); is_first = false) {
		if (!is_first) {
			*end++ = ',';
			*end++ = ' ';
		}
		item = tsi_json_unquote(item);
		if (is_plain(item))
			end = put_plain(end, item);
	}
	*end++ = ']';
	return (struct str){ out, (size_t)(end - out) };
}

/* ---- the inputs of a call ------------------------------------------------------------ */

/* A number of operations as it stands, without quotes; no text where it is none. */
static struct str flops_text(struct str value)
{
	double flops;
	if (!tsi_json_to_double(value, &flops) || !isfinite(flops) || flops < 0)
		return (struct str){ 0 };
	return tsi_json_unquote(value);
}

/* The texts one after the other in b->text, where find_raw() has made room. */
static void put_inputs(struct builder *b, const struct raw_inputs *raw, struct op_inputs *inputs)
{
	struct intern *names = &b->trace->names;
	if (raw->dims.length)
		inputs->signature =
			tsi_builder_id(b, names, put_signature(b->text, raw->dims, raw->types));
	if (raw->concrete.length)
		inputs->concrete = tsi_builder_id(b, names, put_concrete(b->text, raw->concrete));
	if (raw->flops.length)
		inputs->flops = tsi_builder_id(b, names, flops_text(raw->flops));
}

static char *put_raw(char *out, struct str text)
{
	if (text.length)
		memcpy(out, text.data, text.length);
	return out + text.length;
}

/* Interned id of the texts. Needs no separator between dims and types: lists show their ends. */
static uint32_t find_raw(struct builder *b, const struct raw_inputs *raw)
{
	/* Twice, as each comma may get a blank; and what stands between the texts. */
	size_t room = 4 + 2 * (raw->dims.length + raw->types.length + raw->concrete.length +
			       raw->flops.length);
	if (!tsi_builder_reserve(b, &b->text, &b->text_capacity, room, 1))
		return 0;
	char *end = put_raw(put_raw(b->text, raw->dims), raw->types);
	if (raw->concrete.length) {
		*end++ = '\f';
		end = put_raw(end, raw->concrete);
	}
	if (raw->flops.length) {
		*end++ = '\v';
		end = put_raw(end, raw->flops);
	}
	struct str key = { b->text, (size_t)(end - b->text) };
	return tsi_builder_id(b, &b->raw_inputs, key);
}

uint32_t tsi_find_inputs(struct builder *b, const struct raw_inputs *raw)
{
	struct tscope_trace *trace = b->trace;
	uint32_t index = find_raw(b, raw);
	if (index < trace->op_inputs_count)
		return index;
	struct op_inputs *inputs = tsi_builder_push(b, &trace->op_inputs, &trace->op_inputs_count,
						    &trace->op_inputs_capacity, sizeof(*inputs));
	if (!inputs)
		return 0;
	put_inputs(b, raw, inputs);
	return index;
}
