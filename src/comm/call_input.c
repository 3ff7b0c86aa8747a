/* SPDX-License-Identifier: MIT */
/* What collectives were called with, as far as it is said by spans on the host. */
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
 * Sums the sizes of tensors, which are the innermost lists, up to the end of a list that is so
 * deep: of all arguments (0) of "[[8, 2], [3]]" it is 19, of the first (1) 16, and of
 * "[[[3], [4]], [5]]" 7.
 */
static int64_t read_elements(struct str dims, size_t last_depth)
{
	const char *p = dims.data, *end = p + dims.length;
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
			if (--depth <= last_depth)
				break;
		}
		p = read_number(p, end, &product, &has_number);
	}
	return sum;
}

/* Of a signature as struct op_inputs has it: "[[17802]] float". */
static struct call_input read_input(struct str signature, size_t last_depth)
{
	struct call_input input = { .elements = NO_NUMBER };
	size_t end = signature.length, types;

	if (signature.length == 0 || signature.data[0] != '[')
		return input;
	while (signature.data[end - 1] != ']' && end > 1)
		end--;
	input.elements = read_elements((struct str){ signature.data, end }, last_depth);
	for (types = end; types < signature.length && signature.data[types] == ' ';)
		types++;
	input.type = (struct str){ signature.data + types, 0 };
	while (types + input.type.length < signature.length &&
	       input.type.data[input.type.length] != ',')
		input.type.length++;
	return input;
}

struct call_input tsi_call_input(const struct tscope_trace *trace, uint32_t row)
{
	bool is_backends = tsi_backend_prefix(tsi_span_name(trace, row)) > 0;
	uint32_t inputs = 0;

	if (tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_CPU_OP)
		inputs = tsi_cpu_op(trace, row)->inputs;
	else if (tsi_annotation_index(trace, row) != NO_ROW)
		inputs = tsi_annotation_index(trace, row);
	return read_input(tsi_intern_text(&trace->names, trace->op_inputs[inputs].signature),
			  is_backends ? 0 : 1);
}

uint32_t tsi_find_comm_annotation(const struct tscope_trace *trace, uint32_t call)
{
	enum { MOST_ROWS = 64 }; /* between a collective's annotation and the launch in it */
	uint32_t first = trace->tracks[tsi_trace_track_of(trace, call)].first;
	int64_t start_ns = tsi_start_ns(&trace->spans, call);

	if (call - first > MOST_ROWS)
		first = call - MOST_ROWS;
	for (uint32_t row = call; row-- > first;)
		if (tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_ANNOTATION &&
		    tsi_span_end(trace, row) >= start_ns &&
		    tsi_backend_prefix(tsi_span_name(trace, row)) > 0)
			return row;
	return NO_ROW;
}

enum collective_kind tsi_kind_of_annotation(const struct tscope_trace *trace, uint32_t row)
{
	struct str name = tsi_span_name(trace, row);
	size_t prefix = tsi_backend_prefix(name);

	return tsi_classify_collective((struct str){ name.data + prefix, name.length - prefix });
}
