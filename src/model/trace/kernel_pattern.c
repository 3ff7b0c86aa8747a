/* SPDX-License-Identifier: MIT */
/* Where words begin in the names of kernels, and which patterns fit. */
#include "model/trace/kernel_pattern.h"

static const struct str no_names[] = {
	{ "(anonymous namespace)", 21 },
	{ "<unnamed>", 9 },
};

/* Bytes of what stands for a namespace without a name at the beginning of a text, 0 without. */
static size_t nameless(struct str text)
{
	for (size_t i = 0; i < sizeof(no_names) / sizeof(no_names[0]); i++)
		if (tsi_str_has_prefix(text, no_names[i]))
			return no_names[i].length;
	return 0;
}

/* "void f", "std::enable_if<…>::type f": f. */
static struct str without_result(struct str name)
{
	static const struct str type = { "::type ", 7 };

	if (tsi_str_starts(name, "void "))
		name = tsi_str_tail(name, 5);
	if (tsi_str_starts(name, "std::enable_if<")) {
		ptrdiff_t at = tsi_str_find(name, type);
		if (at >= 0)
			name = tsi_str_tail(name, (size_t)at + type.length);
	}
	return name;
}

#define EACH_BYTE UINT64_C(0x0101010101010101)

/* Where eight characters begin of which one may be '<', '>' or '(', or fewer are left. */
static inline size_t skip_plain(struct str name, size_t at)
{
	for (uint64_t bytes; at + sizeof(bytes) <= name.length; at += sizeof(bytes)) {
		memcpy(&bytes, name.data + at, sizeof(bytes));
		uint64_t angles = (bytes | EACH_BYTE * ('<' ^ '>')) ^ EACH_BYTE * '>';
		uint64_t opens = bytes ^ EACH_BYTE * '(';
		if (((angles - EACH_BYTE) & ~angles & EACH_BYTE * 0x80) |
		    ((opens - EACH_BYTE) & ~opens & EACH_BYTE * 0x80))
			break;
	}
	return at;
}

/* Composable Kernel's entry point says nothing; the first class of its arguments is what runs. */
static size_t entry_length(struct str name)
{
	static const struct str entry = { "ck_tile::kentry<", 16 };

	return tsi_str_has_prefix(name, entry) ? entry.length : 0;
}

static size_t head_length(struct str name, size_t entry)
{
	for (size_t at = entry, skipped;; at += skipped) {
		at = skip_plain(name, at);
		while (at < name.length && name.data[at] != '<' && name.data[at] != '(')
			at++;
		skipped = nameless(tsi_str_tail(name, at));
		if (skipped == 0)
			return at;
	}
}

/* Where the arguments end that begin at a place: behind the '>' that closes them, or the end. */
static size_t arguments_end(struct str name, size_t at)
{
	int depth = 0;

	while ((at = skip_plain(name, at)) < name.length) {
		size_t end = name.length - at < 8 ? name.length : at + 8;
		for (; at < end; at++) {
			char c = name.data[at];
			if (c == '<')
				depth++;
			else if (c == '>' && name.data[at - 1] != '-')
				depth--;
			else if (c == '(' && depth <= 0)
				return at;
		}
	}
	return at;
}

void tsi_kernel_name_read(struct kernel_name *ret, struct str name)
{
	name = without_result(name);
	size_t entry = entry_length(name), head = head_length(name, entry);
	ret->head = (struct str){ name.data, head };
	/* The entry point's own '<' counts, too. */
	ret->deep = (struct str){ name.data, arguments_end(name, entry ? entry - 1 : head) };
	ret->is_mangled = tsi_str_starts(name, "_Z") || tsi_str_starts(name, "ZN");
	tsi_letter_pairs_of(&ret->pairs, ret->deep);
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool begins_word(struct str text, size_t at)
{
	if (at == 0 || !tsi_is_letter(text.data[at]) || !tsi_is_letter(text.data[at - 1]))
		return true;
	return is_lower(text.data[at - 1]) && !is_lower(text.data[at]);
}

static bool begins_part(const struct kernel_name *name, struct str text, size_t at)
{
	if (at == 0)
		return true;
	char before = text.data[at - 1];
	return before == ':' || (name->is_mangled && tsi_is_digit(before));
}

/* Bytes of the text from a place on that the part of a pattern takes, 0: it does not fit. */
static size_t fit_here(struct str part, struct str text, size_t at)
{
	size_t start = at;

	for (size_t i = 0; i < part.length; i++) {
		if (at == text.length)
			return 0;
		char c = text.data[at];
		if (part.data[i] == '#') {
			if (!tsi_is_digit(c))
				return 0;
			while (at + 1 < text.length && tsi_is_digit(text.data[at + 1]))
				at++;
		} else if (part.data[i] != '?' && tsi_to_lower(c) != tsi_to_lower(part.data[i])) {
			return 0;
		}
		at++;
	}
	return at - start;
}

static size_t literal_length(struct str part)
{
	size_t length = 0;

	while (length < part.length && part.data[length] != '?' && part.data[length] != '#')
		length++;
	return length;
}

/* Where the next fit begins at or behind a place, -1 without one. */
static ptrdiff_t next_fit(struct str part, struct str text, size_t at)
{
	struct str literal = { part.data, literal_length(part) };

	for (;; at++) {
		ptrdiff_t found = tsi_str_find_nocase(tsi_str_tail(text, at), literal);
		if (found < 0)
			return -1;
		at += (size_t)found;
		if (literal.length == part.length || fit_here(part, text, at))
			return (ptrdiff_t)at;
	}
}

/* Where the first fit behind a place ends, 0 without one. A part begins with its anchor, if any. */
static size_t find_part(struct str part, const struct kernel_name *name, struct str text, size_t at)
{
	char anchor = part.data[0];

	if (anchor == '^')
		return fit_here(tsi_str_tail(part, 1), text, at);
	if (anchor == '|' || anchor == '*')
		part = tsi_str_tail(part, 1);
	for (;; at++) {
		ptrdiff_t found = next_fit(part, text, at);
		if (found < 0)
			return 0;
		at = (size_t)found;
		if (anchor == '*' ||
		    (anchor == '|' ? begins_part(name, text, at) : begins_word(text, at)))
			return at + fit_here(part, text, at);
	}
}

static bool is_sign(char c)
{
	return c == '^' || c == '|' || c == '*' || c == '.' || c == '?' || c == '#';
}

/* False where two characters of the pattern stand side by side nowhere in the name. */
static bool may_fit(struct str pattern, const struct letter_pairs *pairs)
{
	for (size_t i = 1; i < pattern.length; i++) {
		char a = pattern.data[i - 1], b = pattern.data[i];
		if (!tsi_has_pair(pairs, a, b) && !is_sign(a) && !is_sign(b))
			return false;
	}
	return true;
}

bool tsi_kernel_pattern_fits(struct str pattern, enum name_depth depth,
			     const struct kernel_name *name)
{
	struct str text = depth == NAME_HEAD ? name->head : name->deep;
	size_t at = 0;

	if (!may_fit(pattern, &name->pairs))
		return false;
	for (;;) {
		ptrdiff_t next = tsi_str_find(pattern, TSI_STR(".."));
		struct str part = { pattern.data, next < 0 ? pattern.length : (size_t)next };
		at = find_part(part, name, text, at);
		if (at == 0 || next < 0)
			return at != 0;
		pattern = tsi_str_tail(pattern, (size_t)next + 2);
	}
}
