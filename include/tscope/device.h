/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DEVICE_H
#define TSCOPE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Accelerators and what they can do at most, from the vendors' data sheets. MFU
 * and rooflines are measured against these figures.
 */

/* Precision of a product: the type of its operands, not of the sum. */
enum tscope_precision {
	TSCOPE_PRECISION_UNKNOWN,
	TSCOPE_PRECISION_FP64, /* on tensor or matrix cores where these can */
	TSCOPE_PRECISION_FP32, /* in full precision: on the plain cores, AMD's matrix cores */
	TSCOPE_PRECISION_TF32, /* float32 operands on tensor cores, rounded to 10 bits */
	TSCOPE_PRECISION_FP16,
	TSCOPE_PRECISION_BF16,
	TSCOPE_PRECISION_FP8,
	TSCOPE_PRECISION_INT8,
	TSCOPE_PRECISION_FP4,
	TSCOPE_PRECISION_COUNT,
};

/* "fp64", "tf32", "bf16" …; "unknown": never NULL. */
const char *tscope_precision_name(enum tscope_precision precision);

/* A device as PyTorch sees one: a card, a die of a package that counts as two, a chip. */
struct tscope_device {
	const char *name; /* "H100 SXM5 80GB" */
	/* FLOP/s (int8: OP/s) of dense products, by precision; 0: none or unknown. */
	double peak_flops[TSCOPE_PRECISION_COUNT];
	double sparse_flops;       /* of 2:4 sparse 16-bit products, never used for MFU; 0: none */
	double bytes_per_second;   /* of its memory; 0: not known */
	uint32_t sm_count;         /* multiprocessors, compute units; 0: not known */
	uint32_t memory_gib;       /* as sold; 0: there are several sizes */
	bool has_plain_cores_only; /* no tensor or matrix cores: from before Volta */
	/*
	 * Quality of the 16-bit peak: 'A' two sources, or reproduced; 'B' one; 'C' secondary,
	 * disputed.
	 */
	char confidence;
	const char *source; /* where the figures come from */
};

/* The table, in the order in which it is printed. NULL after the last. */
size_t tscope_device_count(void);
const struct tscope_device *tscope_device(size_t index);

#endif
