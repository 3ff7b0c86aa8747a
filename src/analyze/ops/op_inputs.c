/* SPDX-License-Identifier: MIT */
/*
 * Reads what an operator was called with, from the texts that the model keeps:
 * sizes and types of tensors, and the numbers among its arguments.
 */
#include "analyze/ops/op_inputs.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/array.h"

/* ---- lists --------------------------------------------------------------------------- */

/* Index of the bracket that closes the first one, or -1. */
static ptrdiff_t find_close(struct str text)
{
	unsigned depth = 0;

	for (size_t i = 0; i < text.length; i++) {
		if (text.data[i] == '[')
			depth++;
		else if (text.data[i] == ']' && --depth == 0)
			return (ptrdiff_t)i;
	}
	return -1;
}

/*
 * The next piece of "a, [b, c], d" from *at on, to the comma that is in no
 * bracket. Texts end with a piece, so "a, " has two. False behind the last.
 */
static bool next_piece(struct str text, size_t *at, struct str *piece)
{
	size_t depth = 0, i;

	if (*at > text.length)
		return false;
	for (i = *at; i < text.length && (text.data[i] != ',' || depth); i++) {
		if (text.data[i] == '[')
			depth++;
		else if (text.data[i] == ']' && depth)
			depth--;
	}
	*piece = tsi_str_trim((struct str){ text.data + *at, i - *at });
	*at = i + 1;
	return true;
}

/* The inside of "[…]"; false for what is no list. An empty list has no pieces. */
static bool open_list(struct str text, struct str *inside)
{
	if (text.length < 2 || text.data[0] != '[' ||
	    find_close(text) != (ptrdiff_t)text.length - 1)
		return false;
	*inside = tsi_str_trim((struct str){ text.data + 1, text.length - 2 });
	return true;
}

static bool next_of_list(struct str inside, size_t *at, struct str *piece)
{
	return inside.length && next_piece(inside, at, piece);
}

static bool parse_ints(struct str text, int64_t *numbers, unsigned limit, unsigned *count)
{
	struct str inside, piece;
	size_t at = 0;
	unsigned found = 0;

	if (!open_list(text, &inside))
		return false;
	while (next_of_list(inside, &at, &piece))
		if (found == limit || !tsi_str_to_int64(piece, &numbers[found++]))
			return false;
	*count = found;
	return true;
}

/* ---- the call ------------------------------------------------------------------------ */

/* "[[8, 128], []] float, Scalar": where the list ends the types begin. */
static bool split_signature(struct str signature, struct str *dims, struct str *types)
{
	ptrdiff_t close;

	if (signature.length == 0 || signature.data[0] != '[')
		return false;
	close = find_close(signature);
	if (close < 0)
		return false;
	*types = tsi_str_trim(tsi_str_tail(signature, (size_t)close + 1));
	return open_list((struct str){ signature.data, (size_t)close + 1 }, dims);
}

/* Fills one field of the inputs with the pieces of a text. */
static void put_pieces(struct op_call *call, struct str text, size_t field)
{
	struct str piece;
	size_t at = 0;

	for (unsigned i = 0; i < call->count && next_of_list(text, &at, &piece); i++)
		*(struct str *)(void *)((char *)&call->inputs[i] + field) = piece;
}

static unsigned count_pieces(struct str text)
{
	struct str piece;
	size_t at = 0;
	unsigned count = 0;

	while (count <= MAX_OP_INPUTS && next_of_list(text, &at, &piece))
		count++;
	return count;
}

void tsi_op_call_parse(struct op_call *call, struct str signature, struct str concrete)
{
	struct str dims, types, values = { 0 };
	unsigned value_count;

	call->count = 0;
	if (!split_signature(signature, &dims, &types) || count_pieces(dims) > MAX_OP_INPUTS)
		return;
	if (!open_list(concrete, &values))
		values.length = 0;
	/* Some writers list the dims of tensors only. */
	call->count = count_pieces(dims);
	value_count = count_pieces(values);
	if (value_count > call->count && value_count <= MAX_OP_INPUTS)
		call->count = value_count;
	for (unsigned i = 0; i < call->count; i++)
		call->inputs[i] = (struct op_input){ 0 };
	put_pieces(call, dims, offsetof(struct op_input, dims));
	put_pieces(call, types, offsetof(struct op_input, type));
	put_pieces(call, values, offsetof(struct op_input, concrete));
}

static bool parse_tensor(struct str dims, struct str type, struct tensor *tensor)
{
	struct tensor read = { .type = type };

	if (!parse_ints(dims, read.dims, MAX_TENSOR_DIMS, &read.dim_count))
		return false;
	for (unsigned i = 0; i < read.dim_count; i++)
		if (read.dims[i] < 0)
			return false;
	if (tsi_tensor_elements(&read) > MAX_TENSOR_ELEMENTS)
		return false;
	*tensor = read;
	return true;
}

bool tsi_op_tensor(const struct op_call *call, unsigned index, struct tensor *tensor)
{
	struct tensor read;

	if (index >= call->count ||
	    !parse_tensor(call->inputs[index].dims, call->inputs[index].type, &read) ||
	    (read.dim_count == 0 && !tsi_type_bytes(read.type)))
		return false;
	*tensor = read;
	return true;
}

bool tsi_op_sizes(const struct op_call *call, unsigned index, struct tensor *tensor)
{
	return index < call->count &&
	       parse_tensor(call->inputs[index].concrete, (struct str){ 0 }, tensor);
}

/* ---- values -------------------------------------------------------------------------- */

bool tsi_op_int(const struct op_call *call, unsigned index, int64_t *number)
{
	return index < call->count && tsi_str_to_int64(call->inputs[index].concrete, number);
}

static bool parse_bool(struct str text, bool *flag)
{
	if (!tsi_str_is(text, "True") && !tsi_str_is(text, "False"))
		return false;
	*flag = tsi_str_is(text, "True");
	return true;
}

bool tsi_op_bool(const struct op_call *call, unsigned index, bool *flag)
{
	return index < call->count && parse_bool(call->inputs[index].concrete, flag);
}

bool tsi_op_bools(const struct op_call *call, unsigned index, bool *flags, unsigned limit,
		  unsigned *count)
{
	struct str inside, piece;
	size_t at = 0;
	unsigned found = 0;

	if (index >= call->count || !open_list(call->inputs[index].concrete, &inside))
		return false;
	while (next_of_list(inside, &at, &piece))
		if (found == limit || !parse_bool(piece, &flags[found++]))
			return false;
	*count = found;
	return true;
}

bool tsi_op_ints(const struct op_call *call, unsigned index, int64_t *numbers, unsigned limit,
		 unsigned *count)
{
	if (index >= call->count || limit == 0)
		return false;
	if (parse_ints(call->inputs[index].concrete, numbers, limit, count))
		return true;
	if (!tsi_op_int(call, index, &numbers[0]))
		return false;
	*count = 1;
	return true;
}

struct str tsi_op_text(const struct op_call *call, unsigned index)
{
	struct str text = { 0 };

	if (index < call->count)
		text = call->inputs[index].concrete;
	/* The model drops the quotes of JSON, and keeps the backslashes before inner ones. */
	while (text.length && strchr("\\\"'", text.data[0])) {
		text.data++;
		text.length--;
	}
	while (text.length && strchr("\\\"'", text.data[text.length - 1]))
		text.length--;
	return text;
}

/* ---- types --------------------------------------------------------------------------- */

struct type {
	struct str name;
	unsigned bytes;
	bool is_complex;
	enum tscope_precision precision;
};

#define TYPE(name, bytes, is_complex, precision)                                                   \
	{                                                                                          \
		{ name, sizeof(name) - 1 }, bytes, is_complex, TSCOPE_PRECISION_##precision        \
	}

/* "Scalar", "ScalarList", and the older "Int", "Double", "Bool", "GenericList" are no tensors. */
static const struct type types[] = {
	TYPE("float", 4, false, FP32),
	TYPE("double", 8, false, FP64),
	/* Other writers than torch leave out "c10::". */
	TYPE("Float", 4, false, FP32),
	TYPE("Half", 2, false, FP16),
	TYPE("BFloat16", 2, false, BF16),
	TYPE("c10::Half", 2, false, FP16),
	TYPE("c10::BFloat16", 2, false, BF16),
	TYPE("c10::Float8_e4m3fn", 1, false, FP8),
	TYPE("c10::Float8_e4m3fnuz", 1, false, FP8),
	TYPE("c10::Float8_e5m2", 1, false, FP8),
	TYPE("c10::Float8_e5m2fnuz", 1, false, FP8),
	TYPE("c10::Float8_e8m0fnu", 1, false, UNKNOWN), /* scales */
	TYPE("c10::Float4_e2m1fn_x2", 1, false, FP4),   /* two in each byte */
	TYPE("signed char", 1, false, INT8),
	TYPE("unsigned char", 1, false, INT8),
	TYPE("bool", 1, false, UNKNOWN),
	TYPE("short", 2, false, UNKNOWN),
	TYPE("short int", 2, false, UNKNOWN),
	TYPE("unsigned short", 2, false, UNKNOWN),
	TYPE("int", 4, false, UNKNOWN),
	TYPE("unsigned int", 4, false, UNKNOWN),
	TYPE("long", 8, false, UNKNOWN),
	TYPE("long int", 8, false, UNKNOWN),
	TYPE("__int64", 8, false, UNKNOWN), /* Windows */
	TYPE("long long", 8, false, UNKNOWN),
	TYPE("unsigned long", 8, false, UNKNOWN),
	TYPE("c10::complex<c10::Half>", 4, true, FP16),
	TYPE("c10::complex<float>", 8, true, FP32),
	TYPE("c10::complex<double>", 16, true, FP64),
};

static const struct type *find_type(struct str name)
{
	for (size_t i = 0; i < TSI_COUNT_OF(types); i++)
		if (tsi_str_equal(name, types[i].name))
			return &types[i];
	return NULL;
}

unsigned tsi_type_bytes(struct str type)
{
	const struct type *found = find_type(type);

	return found ? found->bytes : 0;
}

unsigned tsi_type_number_bytes(int64_t number)
{
	/* c10::ScalarType, as far as operators of ours are asked for one. */
	enum { INT = 3, HALF = 5, FLOAT, DOUBLE, BFLOAT16 = 15, FLOAT8_E5M2 = 23, FLOAT8_E4M3FN };
	static const uint8_t bytes[] = {
		[INT] = 4,      [HALF] = 2,        [FLOAT] = 4,         [DOUBLE] = 8,
		[BFLOAT16] = 2, [FLOAT8_E5M2] = 1, [FLOAT8_E4M3FN] = 1,
	};

	return number >= 0 && number < (int64_t)TSI_COUNT_OF(bytes) ? bytes[number] : 0;
}

bool tsi_type_is_complex(struct str type)
{
	const struct type *found = find_type(type);

	return found && found->is_complex;
}

enum tscope_precision tsi_type_precision(struct str type)
{
	const struct type *found = find_type(type);

	return found ? found->precision : TSCOPE_PRECISION_UNKNOWN;
}

double tsi_tensor_elements(const struct tensor *tensor)
{
	double elements = 1;

	for (unsigned i = 0; i < tensor->dim_count; i++)
		elements *= (double)tensor->dims[i];
	return elements;
}

double tsi_tensor_bytes(const struct tensor *tensor)
{
	unsigned bytes = tsi_type_bytes(tensor->type);

	return bytes ? bytes * tsi_tensor_elements(tensor) : NAN;
}

/* Room for what a tensor of MAX_TENSOR_DIMS is called: each has up to 19 digits, and an "x". */
enum { PART_CHARS = 8 + 20 * MAX_TENSOR_DIMS };

/* Appends what fits whole; false where it does not, and then ends the text. */
static bool append_part(char text[OP_SHAPE_CHARS], size_t *used, const char *part)
{
	static const char rest[] = " ...";
	size_t length = strlen(part);
	bool fits = *used + length + sizeof(rest) <= OP_SHAPE_CHARS;

	if (!fits) {
		part = rest;
		length = sizeof(rest) - 1;
	}
	memcpy(text + *used, part, length + 1);
	*used += length;
	return fits;
}

static char *put_text(char *at, const char *text)
{
	size_t length = strlen(text);

	memcpy(at, text, length + 1);
	return at + length;
}

/* Appends a number >= 0. */
static char *put_number(char *at, int64_t number)
{
	char digits[20];
	size_t count = 0;

	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	while (count)
		*at++ = digits[--count];
	*at = '\0';
	return at;
}

/* ", 8192x4096" */
static void name_sizes(char part[PART_CHARS], const char *separator, const struct tensor *tensor)
{
	char *at = put_text(part, separator);

	if (tensor->dim_count == 0)
		put_text(at, "scalar");
	for (unsigned i = 0; i < tensor->dim_count; i++)
		at = put_number(put_text(at, i ? "x" : ""), tensor->dims[i]);
}

void tsi_op_shape(char text[OP_SHAPE_CHARS], struct str signature)
{
	struct op_call call;
	size_t used = 0;

	text[0] = '\0';
	tsi_op_call_parse(&call, signature, (struct str){ 0 });
	for (unsigned i = 0; i < call.count; i++) {
		char part[PART_CHARS];
		struct tensor tensor;
		const char *separator = used ? ", " : "";
		if (tsi_op_tensor(&call, i, &tensor))
			name_sizes(part, separator, &tensor);
		else if (tsi_str_is(call.inputs[i].type, "TensorList"))
			put_text(put_text(part, separator), "list");
		else
			continue;
		if (!append_part(text, &used, part))
			return;
	}
}
