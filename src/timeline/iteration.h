/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_ITERATION_H
#define TSCOPE_TIMELINE_ITERATION_H

#include "base/attributes.h"
#include "base/str.h"

/*
 * Annotations of one iteration by inference engines:
 *
 *	vLLM		execute_context_2(6144)_generation_3(3)
 *			execute_64_context_0(sq0sk0…)_generation_64(sq64sk9000sqsq64sqsk9000)
 *			execute_new_2_cached_3
 *	SGLang		step[EXTEND bs=2 toks=14721]   step[DECODE bs=64]   step[MIXED bs=2]
 *			step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 … g_sq=1 g_sk=12 …]
 *	ATOM		prefill[bs=2 tok=14721 ctx=[7803, 6918]]   decode[bs=117/128 tok=117 d=117]
 *			decode[bs=32 tok=128 d=32 spec=3 sqsq=512 sqsk=262144 sk=65536]
 *	TensorRT-LLM	[Executor] _forward_step 12: 1 ctx reqs, 2048 ctx tokens, 31 gen reqs
 *	diffusion	execute_diffusion_1_256x256	(xDiT)
 */
#define ITERATION_PHASES(X)                                                                        \
	X(ITERATION_PREFILL, "prefill")         /* prompts only */                                 \
	X(ITERATION_DECODE, "decode")           /* one token for each request */                   \
	X(ITERATION_MIXED, "mixed")             /* both: chunks of prompts beside decoding */      \
	X(ITERATION_SPECULATIVE, "speculative") /* decodes several proposed tokens a request */    \
	X(ITERATION_DIFFUSION, "diffusion")     /* makes an image or a video */                    \
	X(ITERATION_IDLE, "idle")               /* no request: keeps other ranks company */        \
	X(ITERATION_UNKNOWN, "unknown")         /* its annotation does not say */

enum iteration_phase { ITERATION_PHASES(TSI_NAMED_ID) ITERATION_PHASE_COUNT };

enum { NOT_SAID = -1 };

struct iteration {
	const char *engine; /* "vllm", "sglang" …; NULL: not said */
	uint8_t phase;      /* enum iteration_phase */
	/* NOT_SAID where the annotation does not say it. */
	int64_t prompt_requests, prompt_tokens; /* context, prefill */
	int64_t decode_requests, decode_tokens; /* generation; the tokens include proposed ones */
	int64_t requests;        /* of both; also where nothing says how many of each */
	int64_t kv_tokens;       /* keys that attention reads, of all requests */
	int64_t attention_pairs; /* sum over requests of queries × keys */
	int64_t padded_requests; /* size of the graph's batch */
};

/* One of which nothing is said. */
struct iteration tsi_no_iteration(void);

/* False, and *ret untouched: no annotation of an iteration, or one that says nothing. */
bool tsi_parse_iteration(struct str name, struct iteration *ret);

/* The tokens that it computes, or NOT_SAID. */
int64_t tsi_iteration_tokens(const struct iteration *iteration);

/*
 * "capture_32_FULL", "capture_1_prefill": the engines' annotation around the capture of a graph,
 * and the batch that it is for.
 */
bool tsi_is_capture_mark(struct str name, int64_t *batch);

/* "prefill" …: never NULL. */
const char *tsi_iteration_phase_name(enum iteration_phase phase);

#endif
