/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_CALL_INPUT_H
#define TSCOPE_COMM_CALL_INPUT_H

#include "model/trace/trace.h"

/* Tensors that an operator or a span was called with: an argument, or several together. */
struct call_input {
	int64_t elements; /* or NO_NUMBER */
	struct str type;  /* "float"; empty: not said, or a list of tensors */
};

/* All arguments of a backend's span ("gloo:all_reduce"), which are tensors; else the first. */
struct call_input tsi_call_input(const struct tscope_trace *trace, uint32_t row);

/*
 * Fills elements in and out, and the size of an element, of a collective whose kind is known, from
 * the spans on the host around a launch call (NO_ROW: none) and from the span that its backend
 * wrote, or NO_ROW. Returns the type of the elements as records of collectives have it ("Float"),
 * "" where nothing says it.
 */
struct str tsi_read_comm_call(const struct tscope_trace *trace, uint32_t call, uint32_t annotation,
			      struct collective *collective);

/* The annotation of a backend ("nccl:all_to_all") that encloses a launch call, or NO_ROW. */
uint32_t tsi_find_comm_annotation(const struct tscope_trace *trace, uint32_t call);

/* The collective that such an annotation, or a span like it, names. */
enum collective_kind tsi_kind_of_annotation(const struct tscope_trace *trace, uint32_t row);

#endif
