/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_SHARED_NEST_H
#define TSCOPE_ANALYZE_SHARED_NEST_H

#include "model/trace/trace.h"

/*
 * Walks the spans of some classes of the host threads as they enclose each
 * other: each span is handed out when it ends, so children come before their
 * parents. Spans of other classes are not seen, as if they were not there.
 *
 *	struct nest nest;
 *	struct nested_span span;
 *
 *	status = tsi_nest_init(&nest, trace, TSI_CLASS_BIT(TSCOPE_SPAN_CPU_OP), err);
 *	while (status == TSCOPE_OK &&
 *	       (status = tsi_nest_next(&nest, &span, err)) == TSCOPE_OK)
 *		...
 *	tsi_nest_deinit(&nest);
 *
 * A span that crosses the end of the one that encloses its start is a child
 * up to there, and takes no time from the parent beyond.
 */
#define TSI_CLASS_BIT(span_class) (1u << (span_class))

struct nest_frame {
	uint32_t row;
	int64_t end_ns;      /* its own, or that of an enclosing span, if earlier */
	int64_t children_ns; /* what spans directly in it take of its time */
	int64_t carried;     /* the caller's, to hand sums up to parents; 0 at first */
};

struct nest {
	const struct tscope_trace *trace;
	uint32_t classes; /* bits */
	uint32_t row, end_row, track;
	struct nest_frame *stack; /* what is open */
	size_t depth, capacity;
	uint32_t *open_of_name; /* how many on the stack have this name */
};

struct nested_span {
	uint32_t row;
	int64_t self_ns; /* its duration less what its children take of it */
	int64_t carried;
	bool is_outermost;         /* no span around it has its name: only these make up a total */
	struct nest_frame *parent; /* NULL: none. Valid until the next call */
};

TSI_MUST_CHECK
enum tscope_status tsi_nest_init(struct nest *nest, const struct tscope_trace *trace,
				 uint32_t classes, struct tscope_error *err);
void tsi_nest_deinit(struct nest *nest);

/* The next span that ends; TSCOPE_END after the last. */
TSI_MUST_CHECK
enum tscope_status tsi_nest_next(struct nest *nest, struct nested_span *span,
				 struct tscope_error *err);

#endif
