/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_H
#define TSCOPE_MODEL_H

#include <tscope/error.h>

/* A model's sizes, which determine the FLOPs of a training step without a trace. */
struct tscope_model {
	double flops;          /* of a step of the whole job, nothing computed twice; 0: no model */
	double hardware_flops; /* with what activation recomputation computes again */
	unsigned device_count; /* that share them; 0: as many as all ranks of the job have */
};

/*
 * Reads "gpt:layers=32,hidden=4096,…"; tscope-report(1) has the keys and the formula.
 * TSCOPE_E_FORMAT: which key is missing, not known or out of range; *ret stays then.
 */
enum tscope_status tscope_model_parse(struct tscope_model *ret, const char *text,
				      struct tscope_error *err);

#endif
