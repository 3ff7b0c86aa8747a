/* SPDX-License-Identifier: MIT */
/*
 * Parses just enough of the grammar of C++ names to find the parts that matter. A name is a
 * path of components, "at::native::sum<float>(int)::{lambda(float)#1}::operator()() const"; its
 * subject is the last one that people chose. Texts that were cut off end where they end.
 */
#include "base/cxx_name.h"

enum {
	MAX_DEPTH = 24,
	MAX_OUTPUT = 1024,
	MAX_INPUT = 16384,
};

struct cxx_output {
	char text[MAX_OUTPUT];
	size_t length;
	enum cxx_detail detail;
	bool is_full;
};

static void put(struct cxx_output *out, struct str text)
{
	if (text.length >= MAX_OUTPUT - out->length) {
		out->is_full = true;
		return;
	}
	memcpy(out->text + out->length, text.data, text.length);
	out->length += text.length;
}

static bool is_word(char c)
{
	return tsi_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* By character: 1 of those that open, -1 of those that close. */
static const int8_t brackets[256] = {
	['<'] = 1, ['('] = 1, ['{'] = 1, ['['] = 1, ['>'] = -1, [')'] = -1, ['}'] = -1, [']'] = -1,
};

static bool opens(char c)
{
	return brackets[(unsigned char)c] > 0;
}

/* Behind the bracket that closes the one at `at`; the end of the text where none does. */
static size_t past_bracket(struct str text, size_t at)
{
	size_t depth = 0;

	for (; at < text.length; at++) {
		int step = brackets[(unsigned char)text.data[at]];
		if (!step || (text.data[at] == '>' && at > 0 && text.data[at - 1] == '-'))
			continue; /* no bracket, or an arrow */
		depth += (size_t)step;
		if (step < 0 && depth == 0)
			return at + 1;
	}
	return text.length;
}

/* Takes off the text up to the next separator that no bracket encloses; false: there is none. */
static bool take(struct str *rest, struct str separator, struct str *taken)
{
	size_t at = 0;

	while (at < rest->length) {
		struct str here = tsi_str_tail(*rest, at);
		if (tsi_str_has_prefix(here, separator)) {
			*taken = (struct str){ rest->data, at };
			*rest = (struct str){ here.data + separator.length,
					      here.length - separator.length };
			return true;
		}
		at = opens(rest->data[at]) ? past_bracket(*rest, at) : at + 1;
	}
	*taken = *rest;
	return false;
}

/* A component's parts but its parameters: "sum", "<float>"; brackets included. */
struct component {
	struct str word, arguments;
};

static struct component parse_component(struct str text)
{
	struct component parsed = { .word = text };
	size_t at = 0;

	while (at < text.length && !opens(text.data[at]))
		at++;
	parsed.word.length = at;
	if (at < text.length && text.data[at] == '<') {
		size_t end = past_bracket(text, at);
		parsed.arguments = (struct str){ text.data + at, end - at };
	}
	parsed.word = tsi_str_trim(parsed.word);
	return parsed;
}

/* Text between brackets; where it was cut off, the closing one may be missing. */
static struct str between(struct str text)
{
	if (text.length < 2)
		return (struct str){ text.data, 0 };
	char last = text.data[text.length - 1];
	bool is_closed = last == '>' || last == ')' || last == '}' || last == ']';
	return tsi_str_trim((struct str){ text.data + 1, text.length - 1 - is_closed });
}

/* Types and numbers by the words for them. */
static const struct {
	struct str word, shown;
} plain_types[] = {
	{ { "BFloat16", 8 }, { "bf16", 4 } },
	{ { "__nv_bfloat16", 13 }, { "bf16", 4 } },
	{ { "bfloat16_t", 10 }, { "bf16", 4 } },
	{ { "__hip_bfloat16", 14 }, { "bf16", 4 } },
	{ { "hip_bfloat16", 12 }, { "bf16", 4 } },
	{ { "Half", 4 }, { "fp16", 4 } },
	{ { "__half", 6 }, { "fp16", 4 } },
	{ { "half", 4 }, { "fp16", 4 } },
	{ { "half_t", 6 }, { "fp16", 4 } },
	{ { "float", 5 }, { "float", 5 } },
	{ { "double", 6 }, { "double", 6 } },
	{ { "int", 3 }, { "int", 3 } },
	{ { "unsigned int", 12 }, { "uint", 4 } },
	{ { "long", 4 }, { "long", 4 } },
	{ { "unsigned long", 13 }, { "ulong", 5 } },
	{ { "long long", 9 }, { "long", 4 } },
	{ { "bool", 4 }, { "bool", 4 } },
	{ { "char", 4 }, { "char", 4 } },
	{ { "unsigned char", 13 }, { "uchar", 5 } },
	{ { "signed char", 11 }, { "char", 4 } },
	{ { "short", 5 }, { "short", 5 } },
	{ { "unsigned short", 14 }, { "ushort", 6 } },
	{ { "void", 4 }, { "void", 4 } },
	{ { "true", 4 }, { "true", 4 } },
	{ { "false", 5 }, { "false", 5 } },
};

/* How PyTorch passes tensors, which distinguishes no kernels. */
static const struct str passing[] = {
	{ "Array", 5 },
	{ "array", 5 },
	{ "OffsetCalculator", 16 },
	{ "TrivialOffsetCalculator", 23 },
	{ "LoadWithoutCast", 15 },
	{ "StoreWithoutCast", 16 },
	{ "LoadWithCast", 12 },
	{ "StoreWithCast", 13 },
	{ "TensorListMetadata", 18 },
	{ "FusedOptimizerTensorListMetadata", 32 },
};

/* Templates that only hold the thing which runs. */
static const struct str holders[] = {
	{ "Kernel", 6 },
	{ "Kernel2", 7 },
	{ "device_kernel", 13 },
	{ "enable_sm90_or_later", 20 },
	{ "func_wrapper_t", 14 },
	{ "gpu_kernel_impl", 15 },
	{ "gpu_kernel_impl_nocast", 22 },
};

static bool is_among(struct str word, const struct str *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (tsi_str_equal(word, words[i]))
			return true;
	return false;
}

static bool is_number(struct str text)
{
	return text.length &&
	       (tsi_is_digit(text.data[0]) ||
		(text.length > 1 && text.data[0] == '-' && tsi_is_digit(text.data[1])));
}

static const struct str *find_plain(struct str word)
{
	for (size_t i = 0; i < TSI_COUNT_OF(plain_types); i++)
		if (tsi_str_equal(word, plain_types[i].word))
			return &plain_types[i].shown;
	return NULL;
}

/* Without casts before it, "const" and signs of pointers around it. */
static struct str bare(struct str text)
{
	for (;;) {
		text = tsi_str_trim(text);
		size_t past = text.length && text.data[0] == '(' ? past_bracket(text, 0) : 0;
		char last = text.length ? text.data[text.length - 1] : '\0';
		if (past > 0 && past < text.length && text.data[past] != ':') {
			text.data += past;
			text.length -= past;
		} else if (tsi_str_starts(text, "const ")) {
			text.data += 6;
			text.length -= 6;
		} else if (last == '*' || last == '&') {
			text.length--;
		} else if (text.length > 6 &&
			   memcmp(text.data + text.length - 6, " const", 6) == 0) {
			text.length -= 6;
		} else {
			return text;
		}
	}
}

/* A path's subject, and the parameters of the lambda that it ends in. */
struct subject {
	struct component named;
	struct str lambda;
};

static struct subject find_subject(struct str path)
{
	struct subject subject = { 0 };
	struct str component;
	bool has_more = true;

	while (has_more) {
		has_more = take(&path, TSI_STR("::"), &component);
		struct component parsed = parse_component(component);
		bool is_lambda = tsi_str_starts(component, "{lambda(") ||
				 tsi_str_starts(component, "[lambda(");
		if (is_lambda) {
			struct str inner = tsi_str_tail(component, 7);
			subject.lambda = (struct str){ inner.data, past_bracket(inner, 0) };
		}
		if (parsed.word.length && is_word(parsed.word.data[0]) &&
		    !tsi_str_starts(parsed.word, "operator") && !tsi_str_is(parsed.word, "type"))
			subject.named = parsed;
	}
	return subject;
}

static void put_type(struct cxx_output *out, struct str text, unsigned depth);

static bool is_shown(const struct cxx_output *out, struct str argument)
{
	struct subject subject = find_subject(argument);
	struct str word = subject.named.word.length ? subject.named.word : argument;

	if (argument.length == 0 || is_among(word, passing, TSI_COUNT_OF(passing)))
		return false;
	return out->detail == CXX_ARGUMENTS ||
	       !(is_number(argument) || find_plain(argument) || find_plain(word));
}

static void put_list(struct cxx_output *out, struct str list, char open, char close, unsigned depth)
{
	struct str argument;
	bool has_more = true, is_first = true;

	while (has_more && !out->is_full) {
		has_more = take(&list, TSI_STR(","), &argument);
		argument = bare(argument);
		if (!is_shown(out, argument))
			continue;
		put(out, is_first ? (struct str){ &open, 1 } : TSI_STR(", "));
		is_first = false;
		put_type(out, argument, depth + 1);
	}
	if (!is_first)
		put(out, (struct str){ &close, 1 });
}

/* The argument of a holder that is what it holds: the first path; false: there is none. */
static bool find_held(struct str arguments, struct str *held)
{
	bool has_more = true;

	while (has_more) {
		has_more = take(&arguments, TSI_STR(","), held);
		*held = bare(*held);
		if (held->length && !is_number(*held) && !find_plain(*held))
			return true;
	}
	return false;
}

static void put_type(struct cxx_output *out, struct str text, unsigned depth)
{
	struct subject subject = find_subject(text);
	const struct component *named = &subject.named;
	const struct str *plain = find_plain(text);
	struct str held;

	if (depth > MAX_DEPTH || out->is_full)
		return;
	if (!plain)
		plain = find_plain(named->word);
	if (plain || !named->word.length) {
		put(out, plain ? *plain : text);
		return;
	}
	if (is_among(named->word, holders, TSI_COUNT_OF(holders)) &&
	    find_held(between(named->arguments), &held)) {
		put_type(out, held, depth + 1);
		return;
	}
	put(out, named->word);
	if (named->arguments.length)
		put_list(out, between(named->arguments), '<', '>', depth);
	if (subject.lambda.length)
		put_list(out, between(subject.lambda), '(', ')', depth);
}

/* Without the parameters at its end and the return type before it. */
static struct str without_signature(struct str name)
{
	struct str rest = name, word = name;

	if (tsi_str_starts(name, "void "))
		return tsi_str_tail(name, 5);
	while (take(&rest, TSI_STR(" "), &word))
		if (!tsi_str_is(word, "const"))
			name = rest;
	return name;
}

/* "f<float>", "f(int)"; not "Memcpy DtoD (Device -> Device)". */
static bool is_function(struct str name)
{
	if (tsi_str_starts(name, "(anonymous namespace)::"))
		return true;
	if (name.length == 0 || !is_word(name.data[0]))
		return false;
	for (size_t i = 1; i < name.length; i++)
		if (name.data[i] == '<' || name.data[i] == '(')
			return is_word(name.data[i - 1]) || name.data[i - 1] == ':';
	return false;
}

const char *tsi_cxx_name(struct arena *arena, const char *name, enum cxx_detail detail)
{
	const char *demangled = tsi_demangle(arena, name);
	const char *whole = demangled ? demangled : name;
	struct str text = without_signature(tsi_str_of(whole));
	struct cxx_output out = { .length = 0, .detail = detail };

	if (text.length > MAX_INPUT || (!demangled && !is_function(text)))
		return whole;
	put_type(&out, text, 0);
	if (out.is_full || out.length == 0)
		return whole;
	const char *shown = tsi_arena_copy(arena, (struct str){ out.text, out.length });
	return *shown ? shown : name;
}
