/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_CALL_INPUT_H
#define TSCOPE_COMM_CALL_INPUT_H

#include "model/trace/trace.h"

/*
 * What a collective was called with: by an operator the first argument, a tensor or a list of
 * them; by the span of a backend all arguments, which are tensors.
 */
struct call_input {
	int64_t elements; /* of all tensors together; or NO_NUMBER */
	struct str type;  /* "float"; empty: not said */
};

/* Of an operator, or of an annotation of tsi_backend_prefix(). */
struct call_input tsi_call_input(const struct tscope_trace *trace, uint32_t row);

/* The annotation of a backend ("nccl:all_to_all") that encloses a launch call, or NO_ROW. */
uint32_t tsi_find_comm_annotation(const struct tscope_trace *trace, uint32_t call);

/* What such an annotation, or a span like it, says by its name. */
enum collective_kind tsi_kind_of_annotation(const struct tscope_trace *trace, uint32_t row);

#endif
