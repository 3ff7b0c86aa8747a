/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_OP_INPUTS_H
#define TSCOPE_ANALYZE_OPS_OP_INPUTS_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <tscope/device.h>

/*
 * Arguments of one operator call, read from the texts that the trace keeps (struct op_inputs,
 * model/trace/trace.h):
 *
 *     signature "[[8, 128], [], [[2, 3], [4]]] float, Scalar, TensorList"
 *     concrete  "[, 0.5, ]"
 *
 * Both may be any text. Parts of any other form count as absent: no function fails.
 */

enum {
	MAX_OP_INPUTS = 64, /* a call with more of them is not understood */
	MAX_TENSOR_DIMS = 8,
};

/* One argument of a call: pieces of the texts, each may be empty. */
struct op_input {
	struct str dims;     /* "[8, 128]", "[[2, 3], [4]]" */
	struct str type;     /* "float"; empty for what is no tensor, or absent */
	struct str concrete; /* "0.5", "[1, 1]"; empty for tensors */
};

struct op_call {
	struct op_input inputs[MAX_OP_INPUTS];
	unsigned count; /* 0: no inputs, or not understood */
};

/* No memory holds a tensor of more. A double has all numbers up to it, and products of some. */
#define MAX_TENSOR_ELEMENTS 9007199254740992.0 /* 2^53 */

struct tensor {
	int64_t dims[MAX_TENSOR_DIMS]; /* >= 0; MAX_TENSOR_ELEMENTS together at most */
	unsigned dim_count;
	struct str type; /* empty: not known */
};

/* The call borrows the texts. O(length). */
void tsi_op_call_parse(struct op_call *call, struct str signature, struct str concrete);

/*
 * The tensor of an argument. False for what is none: absent, a number, a list,
 * sizes that no tensor has. "[]" is one only if its type is known.
 */
bool tsi_op_tensor(const struct op_call *call, unsigned index, struct tensor *tensor);

/* A tensor of which only the sizes are given, by value: "[8, 128]" of the type "ScalarList". */
bool tsi_op_sizes(const struct op_call *call, unsigned index, struct tensor *tensor);

/* Arguments by value; false where the trace does not say. */
bool tsi_op_int(const struct op_call *call, unsigned index, int64_t *number);
bool tsi_op_bool(const struct op_call *call, unsigned index, bool *flag);
/* "[1, 1]", or the one number "1". False too where there are more than limit. */
bool tsi_op_ints(const struct op_call *call, unsigned index, int64_t *numbers, unsigned limit,
		 unsigned *count);
bool tsi_op_bools(const struct op_call *call, unsigned index, bool *flags, unsigned limit,
		  unsigned *count);
/* Text without the quotes that it may have: "same", or empty. */
struct str tsi_op_text(const struct op_call *call, unsigned index);

enum { OP_SHAPE_CHARS = 80 };

/*
 * The sizes of a call's tensors for people: "8192x4096, 4096x11008"; of one without
 * dims "scalar", of a list "list". As many as there is room for, then " ...".
 */
void tsi_op_shape(char text[OP_SHAPE_CHARS], struct str signature);

/* A double, as the product of hostile sizes fits no integer. 1 for a tensor without dims. */
double tsi_tensor_elements(const struct tensor *tensor);

/* NAN where the type is not known. */
double tsi_tensor_bytes(const struct tensor *tensor);

/* A type as PyTorch writes it: "float", "c10::BFloat16", "long int". */
unsigned tsi_type_bytes(struct str type); /* of an element; 0: not known */
/* Bytes of an element by the c10::ScalarType number that arguments use; 0: not known. */
unsigned tsi_type_number_bytes(int64_t number);
bool tsi_type_is_complex(struct str type);
/* Precision of products of this type; unknown for "bool" and "long int". */
enum tscope_precision tsi_type_precision(struct str type);

#endif
