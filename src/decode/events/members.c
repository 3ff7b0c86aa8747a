/* SPDX-License-Identifier: MIT */
/*
 * Members of args with a learned layout. The args of a kernel are 18 members
 * and 500 bytes, of which six numbers are wanted: what costs is finding them.
 * Like scan.c compiled once for each instruction set.
 */
#include "decode/events/members.h"

#include "decode/events/skip.h"
#include "decode/json.h"
#include "decode/number.h"

/* Behind the value at p: a number of digits, a string, a list; NULL for all else. */
static inline const char *skip_usual_value(const char *p, const char *end)
{
	struct skipped met = { 0 };
	bool odd = false;
	if (*p == '"') {
		const char *quote = skip_string_text(p + 1, end, &met);
		return quote ? quote + 1 : NULL;
	}
	if (*p == '[' || *p == '{')
		return skip_brackets(p, end, SIZE_MAX, &odd, &met);
	p += *p == '-';
	const char *digits = p;
	p = skip_digits(p, end);
	if (p < end && *p == '.')
		p = skip_digits(p + 1, end);
	if (p == digits || p >= end)
		return NULL;
	return *p == ',' || *p == '}' || *p == '\n' || *p == ' ' || *p == '\r' ? p : NULL;
}

/* Learns what stands before the next value, or before the end. */
static void learn(struct members *members, const char *behind, unsigned field)
{
	struct str before = { members->at, (size_t)(behind - members->at) };
	if (members->is_on_path)
		members->glue = layout_learn(members->layout, members->glue, before, field);
	members->is_on_path &= members->glue != 0;
}

/* Reads a member the general way. */
static bool read_member(struct members *members, unsigned *field, struct str *value)
{
	bool is_first = members->is_on_path && members->glue == 0;
	struct json_cursor rest;
	struct str key;
	if (members->at == members->end)
		return false;
	rest.at = members->at + is_first;
	rest.end = members->end;
	if (!tsi_json_object_next(&rest, &key, value)) {
		struct str left = { members->at, (size_t)(members->end - members->at) };
		if (tsi_str_is(tsi_str_trim(left), "}"))
			learn(members, members->end, GLUE_END);
		return false;
	}
	*field = members->field_of(key);
	learn(members, value->data, *field);
	members->at = rest.at;
	return true;
}

bool TSI_ISA_NAME(tsi_next_member)(struct members *members, unsigned *field, struct str *value)
{
	if (members->is_on_path && members->at < members->end) {
		unsigned known = layout_match(members->layout, members->glue, members->at);
		const struct glue *glue = &members->layout->glues[known];
		const char *start = members->at + glue->length;
		if (known && glue->field == GLUE_END)
			return false;
		const char *behind = known && start < members->end
					     ? skip_usual_value(start, members->end)
					     : NULL;
		if (tsi_likely(behind != NULL)) {
			members->glue = known;
			members->at = behind;
			*field = glue->field;
			*value = (struct str){ start, (size_t)(behind - start) };
			return true;
		}
	}
	return read_member(members, field, value);
}
