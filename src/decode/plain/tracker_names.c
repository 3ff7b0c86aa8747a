/* SPDX-License-Identifier: MIT */
/* The words that torch's memory trackers print, in the two spellings that Python gives them. */
#include "decode/plain/tracker_names.h"

#include <math.h>

#include "base/attributes.h"
#include "decode/json.h"

/* ---- names ----------------------------------------------------------------------------- */

/* A part of a member's name, and what it stands for. */
struct word {
	struct str part, text;
};

#define WORD(part, text)                                                                           \
	{                                                                                          \
		{ part, sizeof(part) - 1 },                                                        \
		{                                                                                  \
			text, sizeof(text) - 1                                                     \
		}                                                                                  \
	}

/* Whole names, of the tracker without FSDP. */
static const struct word whole_kinds[] = { WORD("PARAM", "parameter"), WORD("GRAD", "gradient") };

static const struct word kind_words[] = {
	WORD("ACT", "activation"),
	WORD("OPT", "optstate"),
	WORD("INP", "inputs"),
	WORD("OTH", "other"),
};

static const struct word state_words[] = {
	WORD("BEF", "Before "), WORD("AFT", "After "), WORD("PRE", "Pre-"),
	WORD("POST", "Post-"),  WORD("PEAK", "Peak-"), WORD("FW", "Forward"),
	WORD("BW", "Backward"), WORD("AC", " AC"),
};

static bool skip(struct str *text, struct str start)
{
	if (!tsi_str_has_prefix(*text, start))
		return false;
	*text = tsi_str_tail(*text, start.length);
	return true;
}

/* "_FSDPRefType.SHARDED_PARAM" to "SHARDED_PARAM"; false: it is no member. */
static bool take_member(struct str *text)
{
	struct str name = *text;

	if (!skip(&name, TSI_STR("_")))
		return false;
	if (!skip(&name, TSI_STR("FSDP")))
		skip(&name, TSI_STR("Mem"));
	if (!skip(&name, TSI_STR("RefType.")) && !skip(&name, TSI_STR("ModState.")))
		return false;
	*text = name;
	return true;
}

static const struct str *find_word(const struct word *words, size_t count, struct str part)
{
	for (size_t i = 0; i < count; i++)
		if (tsi_str_equal(part, words[i].part))
			return &words[i].text;
	return NULL;
}

/* The part up to the next '_', which is taken off. */
static struct str take_part(struct str *name)
{
	const char *end = name->length ? memchr(name->data, '_', name->length) : NULL;
	struct str part = { name->data, end ? (size_t)(end - name->data) : name->length };
	size_t taken = part.length + (end != NULL);

	*name = tsi_str_tail(*name, taken);
	return part;
}

/* A name in the making. */
struct name {
	char *text; /* TRACKER_NAME_BYTES */
	size_t length;
	bool is_cut;
};

static void put(struct name *name, struct str text, bool is_lower)
{
	for (size_t i = 0; i < text.length; i++) {
		if (name->length == TRACKER_NAME_BYTES) {
			name->is_cut = true;
			return;
		}
		char c = text.data[i];
		if (is_lower)
			c = tsi_to_lower(c);
		name->text[name->length++] = c;
	}
}

/* A name that is too long stays as it was written. */
static struct str end_name(const struct name *name, struct str written)
{
	return name->is_cut ? written : (struct str){ name->text, name->length };
}

struct str tsi_tracker_kind(struct str text, char *out)
{
	struct name name = { .text = out };
	struct str member = text;

	if (!take_member(&member)) {
		put(&name, text, true);
		return end_name(&name, text);
	}
	const struct str *whole = find_word(whole_kinds, TSI_COUNT_OF(whole_kinds), member);
	if (whole)
		return *whole;
	while (member.length) {
		struct str part = take_part(&member);
		const struct str *word = find_word(kind_words, TSI_COUNT_OF(kind_words), part);
		put(&name, name.length ? TSI_STR(" ") : TSI_STR(""), false);
		put(&name, word ? *word : part, true);
	}
	return end_name(&name, text);
}

struct str tsi_tracker_state(struct str text, char *out)
{
	struct name name = { .text = out };
	struct str member = text;

	if (!take_member(&member))
		return text;
	while (member.length) {
		const struct str *word =
			find_word(state_words, TSI_COUNT_OF(state_words), take_part(&member));
		if (!word)
			return text;
		put(&name, *word, false);
	}
	return end_name(&name, text);
}

/* ---- bytes ----------------------------------------------------------------------------- */

bool tsi_tracker_parse_bytes(struct str text, int64_t *bytes)
{
	static const struct {
		struct str name;
		double bytes;
	} units[] = {
		{ { " B", 2 }, 1 },
		{ { " KiB", 4 }, 1 << 10 },
		{ { " MiB", 4 }, 1 << 20 },
		{ { " GiB", 4 }, 1 << 30 },
	};
	ptrdiff_t blank = tsi_str_find(text, TSI_STR(" "));
	double number;

	if (blank < 0)
		return false;
	struct str value = { text.data, (size_t)blank };
	struct str unit = tsi_str_tail(text, (size_t)blank);
	if (tsi_str_is(unit, " B") && tsi_str_to_int64(value, bytes))
		return true;
	for (size_t i = 0; i < TSI_COUNT_OF(units); i++) {
		if (!tsi_str_equal(unit, units[i].name) || !tsi_json_to_double(value, &number))
			continue;
		number = rint(number * units[i].bytes);
		if (!(fabs(number) < 0x1p63))
			return false;
		*bytes = (int64_t)number;
		return true;
	}
	return false;
}

/* ---- titles ---------------------------------------------------------------------------- */

/* Up to the next blank, which is taken off with it. */
static struct str take_word(struct str *text)
{
	const char *end = text->length ? memchr(text->data, ' ', text->length) : NULL;
	struct str word = { text->data, end ? (size_t)(end - text->data) : text->length };
	size_t taken = word.length + (end != NULL);

	*text = tsi_str_tail(*text, taken);
	return word;
}

bool tsi_tracker_parse_title(struct str line, struct tracker_title *title)
{
	struct tracker_title found;

	if (!skip(&line, TSI_STR("Iteration ")) ||
	    !tsi_str_to_int64(take_word(&line), &found.iteration))
		return false;
	found.function = take_word(&line);
	struct str kind = take_word(&line);
	found.is_modulewise = tsi_str_is(kind, "Modulewise");
	if (found.function.length == 0 || (!found.is_modulewise && !tsi_str_is(kind, "Peak")) ||
	    !tsi_str_starts(line, "FSDP memory stats"))
		return false;
	*title = found;
	return true;
}
