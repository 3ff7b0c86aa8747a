/* SPDX-License-Identifier: MIT */
/* Arguments of collectives, as far as spans on the host state them. */
#include "comm/call_input.h"

#include "base/ckd.h"
#include "base/sum.h"
#include "model/trace/classify.h"

/* Takes the number that begins here into the product; where there is none, the character only. */
static const char *read_number(const char *p, const char *end, int64_t *product, bool *has_number)
{
	const char *first = p;
	int64_t number;

	while (p < end && tsi_is_digit(*p))
		p++;
	struct str digits = { first, (size_t)(p - first) };
	if (digits.length == 0)
		return p + 1;
	*has_number = true;
	if (!tsi_str_to_int64(digits, &number) || tsi_ckd_mul(product, *product, number))
		*product = INT64_MAX;
	return p;
}

/*
 * Sums the sizes of the tensors of an argument, which are the innermost lists, and moves *at behind
 * it: 16 for "[8, 2]", 7 for "[[3], [4]]", NO_NUMBER for "[]" and "[[], []]".
 */
static int64_t read_argument(const char **at, const char *end)
{
	const char *p = *at;
	int64_t sum = NO_NUMBER, product = 1;
	bool has_number = false;
	size_t depth = 0;

	while (p < end) {
		if (*p == '[') {
			depth++;
			product = 1;
			has_number = false;
		} else if (*p == ']') {
			if (has_number && sum == NO_NUMBER)
				sum = 0;
			if (has_number)
				tsi_sum(&sum, product);
			has_number = false;
			if (depth == 0 || --depth == 0)
				break;
		}
		p = read_number(p, end, &product, &has_number);
	}
	*at = p < end ? p + 1 : end;
	return sum;
}

enum { MOST_ARGUMENTS = 8 };

/* The arguments of a call that are tensors or lists of them, in their order. */
struct call_arguments {
	struct call_input items[MOST_ARGUMENTS];
	size_t count;
};

static struct str take_type(struct str *types)
{
	return tsi_str_trim(tsi_str_take(types, ','));
}

/* Parses a signature of struct op_inputs: "[[17802], []] float, Scalar". */
static void read_arguments(struct call_arguments *arguments, struct str signature)
{
	size_t end = signature.length;

	if (end < 2 || signature.data[0] != '[')
		return;
	while (signature.data[end - 1] != ']' && end > 1)
		end--;
	struct str types = tsi_str_tail(signature, end);
	const char *p = signature.data + 1, *last = signature.data + end - 1;
	while (p < last && arguments->count < MOST_ARGUMENTS) {
		struct str type;
		while (p < last && *p != '[')
			p++;
		if (p == last)
			return;
		struct call_input argument = { .elements = read_argument(&p, last) };
		type = take_type(&types);
		if (tsi_dtype_bytes(type) > 0) {
			argument.type = type;
			if (argument.elements == NO_NUMBER)
				argument.elements = 1; /* a tensor of no dimension */
		}
		if (argument.elements != NO_NUMBER)
			arguments->items[arguments->count++] = argument;
	}
}

static void read_call(struct call_arguments *arguments, const struct tscope_trace *trace,
		      uint32_t row)
{
	uint32_t inputs = 0;

	if (tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_CPU_OP)
		inputs = tsi_cpu_op(trace, row)->inputs;
	else if (tsi_annotation_index(trace, row) != NO_ROW)
		inputs = tsi_annotation_index(trace, row);
	arguments->count = 0;
	read_arguments(arguments,
		       tsi_intern_text(&trace->names, trace->op_inputs[inputs].signature));
}

/* The first `most` arguments together; a type only if it is that of all. */
static struct call_input sum_arguments(const struct call_arguments *arguments, size_t most)
{
	struct call_input sum = { .elements = NO_NUMBER };

	for (size_t i = 0; i < arguments->count && i < most; i++) {
		const struct call_input *argument = &arguments->items[i];
		if (i == 0)
			sum = *argument;
		else
			tsi_sum(&sum.elements, argument->elements);
		if (!tsi_str_equal(sum.type, argument->type))
			sum.type = (struct str){ 0 };
	}
	return sum;
}

struct call_input tsi_call_input(const struct tscope_trace *trace, uint32_t row)
{
	bool is_backends = tsi_backend_prefix(tsi_span_name(trace, row)) > 0;
	struct call_arguments arguments;

	read_call(&arguments, trace, row);
	return sum_arguments(&arguments, is_backends ? MOST_ARGUMENTS : 1);
}

/* ---- the spans around a launch call --------------------------------------------------- */

/*
 * The next span out, from `row` down, that encloses the start of a launch call; NO_ROW beyond as
 * many rows as lie between the span of a collective and the launch in it.
 */
static uint32_t next_outer(const struct tscope_trace *trace, uint32_t call, uint32_t row)
{
	enum { MOST_ROWS = 64 };
	uint32_t first = trace->tracks[tsi_trace_track_of(trace, call)].first;
	int64_t start_ns = tsi_start_ns(&trace->spans, call);

	if (call - first > MOST_ROWS)
		first = call - MOST_ROWS;
	while (row-- > first)
		if (tsi_span_end(trace, row) >= start_ns)
			return row;
	return NO_ROW;
}

uint32_t tsi_find_comm_annotation(const struct tscope_trace *trace, uint32_t call)
{
	for (uint32_t row = call; (row = next_outer(trace, call, row)) != NO_ROW;)
		if (tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_ANNOTATION &&
		    tsi_backend_prefix(tsi_span_name(trace, row)) > 0)
			return row;
	return NO_ROW;
}

enum collective_kind tsi_kind_of_annotation(const struct tscope_trace *trace, uint32_t row)
{
	struct str name = tsi_span_name(trace, row);
	size_t prefix = tsi_backend_prefix(name);

	return tsi_classify_collective(tsi_str_tail(name, prefix));
}

/* ---- what a collective moves ------------------------------------------------------------ */

/* Is what comes out of another size than what goes in? Operators take both then. */
static bool has_two_sides(uint8_t kind)
{
	return kind == COLLECTIVE_ALL_GATHER || kind == COLLECTIVE_REDUCE_SCATTER ||
	       kind == COLLECTIVE_ALL_TO_ALL || kind == COLLECTIVE_GATHER ||
	       kind == COLLECTIVE_SCATTER;
}

/* Takes a number of elements, and their type, where neither was known before. */
static void take_input(const struct call_input *input, int64_t *elements, struct str *type)
{
	if (*elements == NO_NUMBER)
		*elements = input->elements;
	if (type->length == 0)
		*type = input->type;
}

/* The span of a backend, or the record above it, is called with what goes in. */
static void read_backend(const struct tscope_trace *trace, uint32_t row,
			 struct collective *collective, struct str *type)
{
	struct call_input input = tsi_call_input(trace, row);

	take_input(&input, &collective->in_elements, type);
}

/* Does such an operator call a collective of this kind? "aten::scatter" computes. */
static bool calls_collective(struct str name, uint8_t kind)
{
	ptrdiff_t colons = tsi_str_find(name, TSI_STR("::"));

	if (colons < 0 || tsi_str_starts(name, "aten::"))
		return false;
	name = tsi_str_tail(name, (size_t)colons + 2);
	return tsi_classify_collective(name) == (enum collective_kind)kind;
}

/*
 * c10d's operators take what they fill first; those with kernels of their own
 * ("symm_mem::multimem_all_reduce_", "_C_custom_ar::all_reduce") what they send.
 */
static void read_operator(const struct tscope_trace *trace, uint32_t row,
			  struct collective *collective, struct str *type)
{
	struct str name = tsi_span_name(trace, row);
	bool is_c10d = tsi_str_starts(name, "c10d::");
	struct call_arguments arguments;

	if (tsi_str_is(name, "record_param_comms"))
		read_backend(trace, row, collective, type);
	if (!calls_collective(name, collective->kind))
		return;
	read_call(&arguments, trace, row);
	if (arguments.count > 0 && !has_two_sides(collective->kind))
		take_input(&arguments.items[0], &collective->in_elements, type);
	if (arguments.count < 2 || !has_two_sides(collective->kind))
		return;
	take_input(&arguments.items[is_c10d], &collective->in_elements, type);
	take_input(&arguments.items[!is_c10d], &collective->out_elements, type);
}

struct str tsi_read_comm_call(const struct tscope_trace *trace, uint32_t call, uint32_t annotation,
			      struct collective *collective)
{
	struct str type = { 0 };

	if (collective->kind == COLLECTIVE_BARRIER || collective->kind == COLLECTIVE_UNKNOWN)
		return type;
	for (uint32_t row = call; row != NO_ROW && (row = next_outer(trace, call, row)) != NO_ROW;)
		if (tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_CPU_OP)
			read_operator(trace, row, collective, &type);
	if (annotation != NO_ROW)
		read_backend(trace, annotation, collective, &type);
	if (!has_two_sides(collective->kind))
		collective->out_elements = collective->in_elements;
	type = tsi_dtype_name(type);
	collective->element_bytes = tsi_dtype_bytes(type);
	return type;
}
