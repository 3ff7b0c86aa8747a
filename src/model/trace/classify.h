/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_CLASSIFY_H
#define TSCOPE_MODEL_TRACE_CLASSIFY_H

#include "model/trace/kernel_table.h"
#include "model/trace/trace.h"

/* Maps the categories and names of every writer to classes. */

/* How events of a category are used. */
enum category_use {
	USE_SPAN,    /* a row of the rule's class */
	USE_NONE,    /* no work: painted ranges, marks */
	USE_SYNC,    /* what waits for what: no row either */
	USE_CAPTURE, /* the profiler's own span: where the capture begins and ends */
	USE_FRAME,   /* a Python frame: a row if frames are wanted */
};

struct category_rule {
	const char *name;      /* lower case; NULL: every other category */
	uint8_t use;           /* enum category_use */
	uint8_t span_class;    /* enum tscope_span_class */
	bool is_kineto;        /* only PyTorch writes it */
	bool is_class_by_name; /* tsi_classify_host_name() has the last word */
};

/*
 * The rule of a category, compared without case; of a comma list, that of the
 * first member that is known. Never NULL: unknown ones are USE_SPAN of class OTHER.
 */
const struct category_rule *tsi_classify_category(struct str category);

/* True for rows between device work that are none: MTIA's "event_wait", "event_record". */
bool tsi_is_device_mark(struct str name);

/* The class that a device span has by its name, where writers file it as another (`span_class`). */
uint8_t tsi_classify_device_name(struct str name, uint8_t span_class);

/* The class that a host span has by its name, likewise. */
uint8_t tsi_classify_host_name(struct str name, uint8_t span_class);

/* Classifies a runtime or driver call: "cudaLaunchKernel" -> CALL_LAUNCH. */
enum call_kind tsi_classify_call(struct str name);

/* "launch", "sync" …: never NULL. */
const char *tsi_call_kind_name(uint8_t kind);

/* "Memcpy HtoD (Pageable -> Device)" -> COPY_H2D; also "HOST_TO_DEVICE", "HostToDevice". */
enum copy_direction tsi_classify_copy(struct str name);

/* True for a copy whose name says that one side is pageable host memory. */
bool tsi_is_pageable_copy(struct str name);

/*
 * True for kernels that compute or copy whatever launched them (elementwise,
 * GEMM, cat …): collective metadata around their launch does not make them
 * communication.
 */
bool tsi_is_compute_kernel(struct str name);

/* By a kernel's name or by "Collective name": "_allgather_base" -> COLLECTIVE_ALL_GATHER. */
enum collective_kind tsi_classify_collective(struct str name);

/* True for "Collective name"s that move no data: "wait", "init", "coalesced". */
bool tsi_is_collective_wait(struct str name);

/*
 * Length of the prefix that backends give the spans of their collectives ("nccl:all_reduce"), 0
 * without; of backends without kernels ("gloo:all_reduce") only.
 */
size_t tsi_backend_prefix(struct str name);
size_t tsi_kernelless_prefix(struct str name);

/* Bytes of an element by "dtype" ("BFloat16" -> 2) or C++ type ("long int"), 0 where unknown. */
uint32_t tsi_dtype_bytes(struct str dtype);

/* The name of a C++ type among the dtypes: "c10::BFloat16" -> "BFloat16"; "" where unknown. */
struct str tsi_dtype_name(struct str type);

/*
 * The phase that everything inside a host span belongs to, PHASE_COUNT where
 * the span says nothing: "Optimizer.step#SGD.step" -> PHASE_OPTIMIZER.
 */
enum phase tsi_classify_phase(struct str name);

/*
 * Does what an operator of this name computes and moves depend on its "Concrete Inputs"
 * (strides, groups, dimensions …)? True for a few more names, never for those whose
 * values differ from call to call (slices, views, fills).
 */
bool tsi_needs_concrete(struct str name);

/* True for "ProfilerStep#12". */
bool tsi_is_step_marker(struct str name);

/* True for "autograd::engine::evaluate_function: MmBackward0". */
bool tsi_is_autograd_engine(struct str name);

/*
 * True for what a backward pass calls: the engine's spans, "torch::autograd::AccumulateGrad",
 * "MmBackward0". Before torch 1.12 the engine has no spans of its own.
 */
bool tsi_is_backward_node(struct str name);

#endif
