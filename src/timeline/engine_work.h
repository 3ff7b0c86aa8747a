/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_ENGINE_WORK_H
#define TSCOPE_TIMELINE_ENGINE_WORK_H

#include "base/str.h"

/* Work of an inference engine's host for an iteration. */
enum engine_work {
	ENGINE_OTHER,
	ENGINE_SCHEDULE, /* takes requests in, chooses a batch, allocates its cache */
	ENGINE_PREPARE,  /* brings the batch's inputs and attention metadata to the device */
	ENGINE_FORWARD,  /* launches the model */
	ENGINE_SAMPLE,   /* chooses tokens from logits; grammars */
	ENGINE_OUTPUT,   /* takes tokens over: stops, detokenization, answers */
	ENGINE_WAIT,     /* a worker waits for the process of its scheduler */
	ENGINE_WORK_COUNT
};

/*
 * By the name of an annotation, or of a Python function of vLLM, SGLang, TensorRT-LLM or ATOM.
 * ENGINE_OTHER where the name does not say; what encloses it may.
 */
enum engine_work tsi_engine_annotation(struct str name);
enum engine_work tsi_engine_function(struct str name);

#endif
