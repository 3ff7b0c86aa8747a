/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_OP_WORK_H
#define TSCOPE_ANALYZE_OPS_OP_WORK_H

#include "analyze/ops/kernel_kind.h"
#include "base/str.h"

#include <stdbool.h>
#include <tscope/device.h>

/*
 * Computation and memory traffic of an operator call, by its name and inputs alone.
 *
 * FLOPs are products as torch's FlopCounter counts them: 2 for a multiplication
 * with its addition, no bias, the whole square under a causal mask, attention
 * backward 2.5 times forward. Operators that multiply no matrices have 0. Where we
 * differ from torch, the families' files say why (complex numbers, groups).
 *
 * Bytes are the least that must move between memory and device: each input read
 * once, each output written once. Caches can make it no less, and bad access more.
 */
/* Attention over an engine's cache: how long contexts are the operator does not say. */
struct paged_work {
	double pair_flops;   /* for each query and key that it looks at */
	double key_bytes;    /* for each key, and its value */
	double token_bytes;  /* for each query, and its output */
	double tokens;       /* queries that there is room for */
	bool is_cache_typed; /* the cache's type is known, else it is taken for that of new keys */
};

struct op_work {
	double flops;
	double bytes; /* NAN: not known */
	/*
	 * Where bytes are not known for good, as data or an engine's cache decide: the most that
	 * would have to be moved, INFINITY: anything. 0: nothing is said.
	 */
	double most_bytes;
	double least_bytes; /* likewise the least; 0: nothing is said */
	/* As recorded: FP32 for float, even where it is rounded to TF32. */
	enum tscope_precision precision;
	enum kernel_kind kind; /* KERNEL_GEMM, _CONV, _ATTENTION, _MOE have FLOPs */
	/*
	 * The largest power of two up to 16 that divides the sizes which tensor cores take
	 * in pieces (n and k of a product, channels of a convolution's group, heads' sizes);
	 * 0: there are none.
	 */
	unsigned alignment;
	struct paged_work paged; /* where the result is OP_WORK_BY_CONTEXT */
};

enum op_work_result {
	OP_WORK_KNOWN,
	OP_WORK_NO_MODEL,  /* no row of the table has this name */
	OP_WORK_NO_INPUTS, /* it has, but the trace does not say what the formula needs */
	/* It has, and needs the contexts of the engine's iteration: only paged, kind, precision. */
	OP_WORK_BY_CONTEXT,
};

/*
 * signature: "[[8, 128], [128, 64]] float, float" (struct op_inputs, model/trace/trace.h);
 * concrete: "[, , 0., True]", or "". Both may be any text. *work is set where the
 * result is OP_WORK_KNOWN or _BY_CONTEXT. O(length); ask once for each pair of name and inputs.
 */
enum op_work_result tsi_op_work(struct op_work *work, struct str name, struct str signature,
				struct str concrete);

/* Is there a row for this name whose FLOPs are not 0 by definition? */
bool tsi_op_multiplies(struct str name);

#endif
