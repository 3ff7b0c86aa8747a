/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_KERNEL_TABLE_H
#define TSCOPE_MODEL_TRACE_KERNEL_TABLE_H

#include <tscope/device.h>

#include "base/str.h"

/*
 * Kind of a kernel, identified by its name: one table of patterns (kernel_pattern.h), in which the
 * first row that fits and says something about a question answers it.
 *
 * To add a library: names of its kernels to testdata/kernel_names.tsv, with what they are; then
 * rows, until test_kernel_names is content. To add a kind: a line here, its name in kernel_kind.c.
 */
enum kernel_kind {
	KERNEL_OTHER, /* no pattern fits */
	KERNEL_GEMM,
	KERNEL_ATTENTION,
	KERNEL_CONV,
	KERNEL_MOE,     /* the products of the experts */
	KERNEL_ROUTING, /* what goes to which expert and comes back: no products */
	KERNEL_SSM,     /* scans of state space models and linear attention */
	KERNEL_NORM,
	KERNEL_SOFTMAX,
	KERNEL_EMBEDDING, /* and indexing: gather, scatter, index_select */
	KERNEL_OPTIMIZER,
	KERNEL_SORT,     /* and scan, top k */
	KERNEL_SAMPLING, /* of the next token */
	KERNEL_QUANTIZE, /* and back */
	KERNEL_COPY,     /* and transpose, concatenate, write to a cache */
	KERNEL_REDUCTION,
	KERNEL_ELEMENTWISE,
	KERNEL_COMM,
	KERNEL_KIND_COUNT,
};

struct kernel_facts {
	uint8_t kind;          /* enum kernel_kind */
	uint8_t precision;     /* enum tscope_precision: of a product's operands */
	bool is_communicating; /* KERNEL_COMM, or a product that sends its result, too */
};

/* O(length × rows): ask once for each distinct name. */
struct kernel_facts tsi_kernel_facts(struct str kernel_name);

/* Whether its kind is KERNEL_COMM, for who asks no more: NCCL's, RCCL's, DeepEP's … */
bool tsi_is_comm_kernel(struct str kernel_name);

#endif
