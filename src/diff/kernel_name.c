/* SPDX-License-Identifier: MIT */
/*
 * Takes names of kernels apart at two levels: C++ (return type, name, template arguments,
 * parameters), and the words between underscores of each identifier, which tables know as variants
 * or types.
 */
#include "diff/kernel_name.h"

#include "base/attributes.h"
#include "base/str.h"

/* ---- what is written ---------------------------------------------------------------------- */

struct writer {
	char *out;
	size_t size, length;
};

static void put(struct writer *writer, struct str text)
{
	size_t room = writer->size - 1 - writer->length;
	size_t length = text.length < room ? text.length : room;

	if (length)
		memcpy(writer->out + writer->length, text.data, length);
	writer->length += length;
}

/* ---- words of identifiers ----------------------------------------------------------------- */

/* Libraries whose names say how something is computed; by a text that only they have. */
enum family {
	FAMILY_OTHER = 1 << 0,
	FAMILY_MATRIX = 1 << 1, /* cuBLAS, cuDNN, CUTLASS, MIOpen */
	FAMILY_NVJET = 1 << 2,
	FAMILY_TENSILE = 1 << 3,
	FAMILY_COLLECTIVE = 1 << 4,
	ANY_FAMILY = (1 << 5) - 1,
};

static const struct mark {
	struct str text;
	enum family family;
} marks[] = {
	{ { "nvjet", 5 }, FAMILY_NVJET },     { { "Cijk_", 5 }, FAMILY_TENSILE },
	{ { "nccl", 4 }, FAMILY_COLLECTIVE }, { { "rccl", 4 }, FAMILY_COLLECTIVE },
	{ { "gemm", 4 }, FAMILY_MATRIX },     { { "cutlass", 7 }, FAMILY_MATRIX },
	{ { "xmma", 4 }, FAMILY_MATRIX },     { { "cudnn", 5 }, FAMILY_MATRIX },
	{ { "cask_", 5 }, FAMILY_MATRIX },
};

/* Words of a variant. */
static const struct variant {
	unsigned families;
	bool is_numbered; /* digits follow */
	const char *words;
} variants[] = {
	{ ANY_FAMILY, true, "Policy" }, /* of CUB, for an architecture */
	{ FAMILY_MATRIX, false, "maxwell pascal volta turing ampere hopper blackwell" },
	{ FAMILY_MATRIX, false, "5x cudnn cublas infer train stages t1r1s1 tile148t interior" },
	{ FAMILY_MATRIX, false, "small medium large xregs" },
	{ FAMILY_MATRIX, true, "gtcx v stage align alignc ldg g" },
	/* Epilogue options, which plain products name, too. */
	{ FAMILY_MATRIX, false, "relu f2f" },
	/* "execute_segment_k_off_kernel", "execute_split_k_kernel" */
	{ FAMILY_MATRIX, false, "execute segment split k off kernel" },
	/* MIOpen's implicit GEMM, behind its layout and type */
	{ FAMILY_MATRIX, true, "bx ex vs" },
	{ FAMILY_MATRIX, false, "mh mb me gkgs" },
	{ FAMILY_MATRIX | FAMILY_NVJET, true, "sm" },
	{ FAMILY_MATRIX | FAMILY_NVJET, false, "splitK splitk" },
	/* order of the tiles, and who works together on one */
	{ FAMILY_NVJET, false, "h v bz coopA coopB" },
	{ FAMILY_COLLECTIVE, false, "RING TREE LL SIMPLE NVLS NVLSTREE COLLNET CHAIN DIRECT PAT" },
	{ FAMILY_COLLECTIVE, true, "LL" },
};

static enum family family_of(struct str identifier)
{
	for (size_t i = 0; i < TSI_COUNT_OF(marks); i++)
		if (tsi_str_find(identifier, marks[i].text) >= 0)
			return marks[i].family;
	return FAMILY_OTHER;
}

static size_t span_of_digits(struct str text, size_t from)
{
	size_t at = from;

	while (at < text.length && tsi_is_digit(text.data[at]))
		at++;
	return at - from;
}

static bool is_number(struct str word)
{
	return word.length && span_of_digits(word, 0) == word.length;
}

/* Whether a word is one of those listed, with digits behind it if is_numbered. */
static bool is_listed(struct str word, const char *list, bool is_numbered)
{
	for (size_t length; *list; list += length + (list[length] == ' ')) {
		length = strcspn(list, " ");
		struct str known = { list, length };
		if (!tsi_str_has_prefix(word, known))
			continue;
		struct str rest = tsi_str_tail(word, length);
		if (is_numbered ? is_number(rest) : rest.length == 0)
			return true;
	}
	return false;
}

static bool is_known_variant(struct str word, enum family family)
{
	for (size_t i = 0; i < TSI_COUNT_OF(variants); i++)
		if (variants[i].families & family &&
		    is_listed(word, variants[i].words, variants[i].is_numbered))
			return true;
	return false;
}

/* "128x64", "tilesize128x128x32", "ws1x1"; but "3x3" and "conv3x3" may be what is computed. */
static bool is_tile(struct str word, enum family family)
{
	size_t at = 0, numbers = 0, digits;
	bool is_large = false;

	while (at < word.length && tsi_is_letter(word.data[at]))
		at++;
	if (at && (family == FAMILY_OTHER || tsi_str_starts(word, "conv")))
		return false;
	while ((digits = span_of_digits(word, at))) {
		is_large |= digits > 1 || word.data[at] >= '8';
		numbers++;
		at += digits;
		if (at == word.length || word.data[at] != 'x')
			break;
		at++;
	}
	return numbers > 1 && at == word.length && (is_large || family != FAMILY_OTHER);
}

/* 16 hex digits or more, or an address. */
static bool is_hash(struct str word)
{
	enum { MIN_HASH_CHARS = 16 };
	bool is_address = tsi_str_starts(word, "0x");
	size_t at = is_address ? 2 : 0;

	while (at < word.length && tsi_hex_digit(word.data[at]) >= 0)
		at++;
	return at == word.length && (is_address ? at > 2 : at >= MIN_HASH_CHARS);
}

/* Triton's argument specialisation: "0d1d2d3de". But "2d" is a dimension. */
static bool is_triton_signature(struct str word)
{
	size_t at = 0, arguments = 0;

	for (;; arguments++) {
		size_t digits = span_of_digits(word, at);
		if (digits == 0)
			break;
		at += digits;
		while (at < word.length && strchr("dec", word.data[at]) && word.data[at])
			at++;
	}
	return at == word.length && arguments > 1 && tsi_str_find(word, TSI_STR("d")) >= 0;
}

static bool is_variant(const struct writer *writer, struct str word, enum family family)
{
	/* A number that nothing stands before is the name. */
	if (is_number(word))
		return writer->length > 0;
	return is_tile(word, family) || is_hash(word) || is_triton_signature(word) ||
	       is_known_variant(word, family);
}

/* Behind the types of Tensile ("Cijk_Ailk_Bljk_BBS_BH") stands how it is done. */
static bool ends_tensile(struct str word)
{
	return tsi_str_is(word, "Bias") || tsi_str_is(word, "UserArgs") ||
	       (tsi_str_starts(word, "MT") && is_tile(word, FAMILY_TENSILE));
}

/* The characters of text from a place on that are, or are not, an underscore. */
static struct str run_of(struct str text, size_t from, bool underscores)
{
	size_t at = from;

	while (at < text.length && (text.data[at] == '_') == underscores)
		at++;
	return (struct str){ text.data + from, at - from };
}

/* Writes the words that are not variants; false: none is left. */
static bool put_identifier(struct writer *writer, struct str identifier)
{
	enum family family = family_of(identifier);
	bool has_any = false;

	for (size_t at = 0; at < identifier.length;) {
		struct str before = run_of(identifier, at, true);
		struct str word = run_of(identifier, at + before.length, false);
		bool is_first = at == 0, is_last = word.length == 0;
		at += before.length + word.length;
		if (family == FAMILY_TENSILE && ends_tensile(word))
			break;
		if (!is_last && is_variant(writer, word, family))
			continue;
		if (is_first || has_any)
			put(writer, before);
		put(writer, word);
		has_any |= is_first || !is_last;
	}
	return has_any;
}

/* ---- C++ ---------------------------------------------------------------------------------- */

/* Names within template arguments that are types of elements, containers and wrappers. */
static const char type_words[] =
	"void bool char short int long unsigned signed float double half __half __half2 "
	"__nv_bfloat16 __nv_bfloat162 __hip_bfloat16 hip_bfloat16 nv_bfloat16 Half "
	"BFloat16 complex float2 float4 decltype const volatile true false operator "
	"type array Array OpaqueType AccumulateType TensorInfo TensorListMetadata "
	"OffsetCalculator TrivialOffsetCalculator LoadWithCast LoadWithoutCast "
	"StoreWithCast StoreWithoutCast gpu_kernel_impl gpu_kernel_impl_nocast "
	"default_config";

static bool is_identifier_char(char c)
{
	return tsi_is_letter(c) || tsi_is_digit(c) || c == '_' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

static struct str identifier_at(struct str name, size_t from)
{
	size_t at = from;

	while (at < name.length && is_identifier_char(name.data[at]))
		at++;
	return (struct str){ name.data + from, at - from };
}

/* Names of this form are types ("int64_t", "bfloat16_t"), and so is what the table has. */
static bool is_type(struct str word)
{
	if (word.length > 2 && memcmp(word.data + word.length - 2, "_t", 2) == 0)
		return true;
	return is_listed(word, type_words, false);
}

/* A place in a C++ name. */
struct parser {
	struct str name;
	size_t at, depth;      /* depth: of template arguments */
	bool has_argument;     /* one of the outermost template's arguments was written */
	struct writer *writer; /* of what is kept */
};

static bool starts_here(const struct parser *parser, struct str text)
{
	struct str rest = tsi_str_tail(parser->name, parser->at);

	return tsi_str_has_prefix(rest, text);
}

/* Goes behind what closes the bracket at this place, or to the end. */
static void skip_bracket(struct parser *parser, char opening, char closing)
{
	size_t open = 0;

	for (; parser->at < parser->name.length; parser->at++) {
		char c = parser->name.data[parser->at];
		if (c == opening && (open == 0 || opening != closing)) {
			open++;
		} else if (c == closing && --open == 0) {
			parser->at++;
			return;
		}
	}
}

/* Within template arguments: functors and functions stay, "<" or "," before each. */
static void take_argument(struct parser *parser, struct str identifier)
{
	struct writer *writer = parser->writer;
	size_t before = writer->length;

	if (starts_here(parser, TSI_STR("::")) || tsi_is_digit(identifier.data[0]) ||
	    is_type(identifier))
		return;
	put(writer, parser->has_argument ? TSI_STR(",") : TSI_STR("<"));
	if (put_identifier(writer, identifier))
		parser->has_argument = true;
	else
		writer->length = before;
}

static void take_identifier(struct parser *parser)
{
	struct str identifier = identifier_at(parser->name, parser->at);

	parser->at += identifier.length;
	if (parser->depth) {
		take_argument(parser, identifier);
		return;
	}
	/* "ROCPRIM_400200_NS", "CUB_200200_NS": a namespace for each version */
	bool is_version = identifier.length > 3 &&
			  memcmp(identifier.data + identifier.length - 3, "_NS", 3) == 0;
	bool is_kept = !is_version && put_identifier(parser->writer, identifier);

	if (!starts_here(parser, TSI_STR("::")))
		return;
	parser->at += 2;
	if (is_kept)
		put(parser->writer, TSI_STR("::"));
}

static void take_template(struct parser *parser)
{
	if (parser->name.data[parser->at++] == '<') {
		if (parser->depth++ == 0)
			parser->has_argument = false;
	} else if (parser->depth && --parser->depth == 0 && parser->has_argument) {
		put(parser->writer, TSI_STR(">"));
	}
}

static const struct str anonymous_namespace = { "(anonymous namespace)::", 23 };

/* Text before a blank is the return type, except in "evaluate_function: Node<…>". */
static bool take_blank(struct parser *parser)
{
	char before = parser->at ? parser->name.data[parser->at - 1] : ' ';

	parser->at++;
	if (starts_here(parser, TSI_STR("(")) && !starts_here(parser, anonymous_namespace))
		return false;
	if (before == ':')
		put(parser->writer, TSI_STR(" "));
	else
		parser->writer->length = 0;
	return true;
}

/* Handles anything but identifiers outside template arguments; false: the name ends here. */
static bool take_outside(struct parser *parser, char c)
{
	if (c == ' ')
		return take_blank(parser);
	if (starts_here(parser, anonymous_namespace)) {
		parser->at += anonymous_namespace.length;
		return true;
	}
	if (c == '(' || c == '[')
		return false;
	put(parser->writer, (struct str){ parser->name.data + parser->at++, 1 });
	return true;
}

static bool take_next(struct parser *parser)
{
	char c = parser->name.data[parser->at];

	if (is_identifier_char(c))
		take_identifier(parser);
	else if (c == '<' || c == '>')
		take_template(parser);
	else if (c == '{')
		skip_bracket(parser, '{', '}');
	else if (c == '\'') /* 'lambda'(…) */
		skip_bracket(parser, '\'', '\'');
	else if (parser->depth == 0)
		return take_outside(parser, c);
	else if (c == '(')
		skip_bracket(parser, '(', ')');
	else
		parser->at++;
	return true;
}

/* Recognised by return type, parameters or template arguments. */
static bool is_cpp(struct str name)
{
	if (tsi_str_starts(name, "void ") || name.data[name.length - 1] == ')')
		return true;
	for (size_t i = 1; i < name.length; i++)
		if (name.data[i] == '<' && is_identifier_char(name.data[i - 1]))
			return true;
	return false;
}

static void normalise_cpp(struct writer *writer, struct str name)
{
	struct parser parser = { .name = name, .writer = writer };

	while (parser.at < name.length && take_next(&parser))
		;
}

/* ---- all names ---------------------------------------------------------------------------- */

static void normalise_plain(struct writer *writer, struct str name)
{
	for (size_t at = 0; at < name.length;) {
		struct str identifier = identifier_at(name, at);
		if (identifier.length)
			put_identifier(writer, identifier);
		else
			put(writer, (struct str){ name.data + at, 1 });
		at += identifier.length ? identifier.length : 1;
	}
}

/* Its numbers are lengths of names. */
static void normalise_mangled(struct writer *writer, struct str name)
{
	for (size_t at = 0; at < name.length;) {
		struct str before = run_of(name, at, true);
		struct str word = run_of(name, at + before.length, false);
		at += before.length + word.length;
		if (is_hash(word))
			continue;
		put(writer, before);
		put(writer, word);
	}
}

/* The name without "[clone .kd]" and ".kd", which AMD's compiler appends. */
static struct str without_suffix(struct str name)
{
	static const struct str suffix = { ".kd", 3 };
	ptrdiff_t clone = tsi_str_find(name, TSI_STR(" [clone "));

	if (clone > 0)
		return (struct str){ name.data, (size_t)clone };
	if (name.length > suffix.length &&
	    memcmp(name.data + name.length - suffix.length, suffix.data, suffix.length) == 0)
		name.length -= suffix.length;
	return name;
}

/* Drops the separators left where numbers were removed: "ProfilerStep#", "Region: 0/1". */
static void drop_end(struct writer *writer)
{
	while (writer->length && strchr(" #:/.-,", writer->out[writer->length - 1]))
		writer->length--;
}

size_t tsi_normal_kernel_name(const char *name, char *normal, size_t size)
{
	struct writer writer = { normal, size, 0 };
	struct str text = without_suffix(tsi_str_of(name));

	if (tsi_str_starts(text, "aten::")) /* every word of PyTorch's own names matters */
		put(&writer, text);
	else if (tsi_str_starts(text, "_Z"))
		normalise_mangled(&writer, text);
	else if (text.length && is_cpp(text))
		normalise_cpp(&writer, text);
	else
		normalise_plain(&writer, text);
	drop_end(&writer);
	if (writer.length == 0)
		put(&writer, text);
	normal[writer.length] = '\0';
	return writer.length;
}
