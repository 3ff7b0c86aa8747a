/* SPDX-License-Identifier: MIT */
/*
 * Advice for inference engines, whose users have options instead of a training loop: no
 * prof.step(), no larger batch per rank, no data loader. It takes the place of a rule's own advice
 * where the steps are an engine's iterations.
 */
#include "rules/serving_advice.h"

#include <string.h>

/* What nothing but the engine's own code can change. */
#define FEWER_TURNS                                                                                \
	"do more in one iteration: vLLM --max-num-seqs, SGLang --max-running-requests, "           \
	"speculative decoding"
#define OVERLAP                                                                                    \
	"prepare the next iteration while the device computes (vLLM --async-scheduling, SGLang "   \
	"without --disable-overlap-schedule)"
#define GRAPHS                                                                                     \
	"replay decoding as graphs: vLLM without --enforce-eager, SGLang without "                 \
	"--disable-cuda-graph"
#define QUANTIZE                                                                                   \
	"serve quantized weights (vLLM and SGLang: --quantization fp8, or an FP8 checkpoint)"
#define RECORD                                                                                     \
	"let the engine's profiler run over more iterations under a steady load, between "         \
	"start_profile and stop_profile"
#define BACKEND "try another backend for attention (--attention-backend)"

static const struct {
	const char *id, *advice;
} rows[SERVING_ADVICE_COUNT] = {
	{ "TRACE.INCOMPLETE", RECORD },
	{ "TRACE.UNRECORDED",
	  "record more iterations in one file: the work before the first launch, or cut out of the "
	  "file, is not in it" },
	{ "HOST.COLD_START", "send requests before start_profile: the engine was not warm" },
	{ "HOST.COMPILE",
	  "record after the engine's warm-up; shapes that compile while serving belong into vLLM "
	  "--compilation-config compile_sizes, SGLang --torch-compile-max-bs" },
	{ "HOST.PYTHON", OVERLAP "; " FEWER_TURNS },
	{ "HOST.LAUNCH_BOUND", GRAPHS "; " OVERLAP },
	{ "HOST.CPU_WORK", OVERLAP "; look for sampling parameters that run on the CPU (logits "
				   "processors, structured output)" },
	{ "HOST.PROFILER", "record less: start_profile without stacks and shapes, over fewer "
			   "iterations" },
	{ "SYNC.BLOCKING",
	  OVERLAP "; sampling parameters that need a number on the host (penalties, "
		  "logprobs, structured output) wait for each token" },
	{ "COPY.BLOCKING", OVERLAP "; copies of sampled tokens wait for the device" },
	{ "COPY.EXPOSED", "keep the cache on the device: offloading (vLLM --cpu-offload-gb, SGLang "
			  "--enable-hierarchical-cache) copies between iterations" },
	{ "COPY.PAGEABLE", "pin what the engine copies to the device each iteration: it comes from "
			   "pageable memory, as inputs of custom code do" },
	{ "COPY.SMALL", GRAPHS "; " OVERLAP },
	{ "COPY.HOST_TENSOR", OVERLAP },
	{ "GPU.IDLE", OVERLAP "; if no requests wait, the load is too small to judge by" },
	{ "GC.PAUSE", "freeze the collector's objects after warm-up (SGLang /freeze_gc; elsewhere "
		      "gc.freeze() in the server's start-up)" },
	{ "KERNEL.SHORT", "let the engine fuse them: vLLM --compilation-config with pass_config, "
			  "SGLang --enable-torch-compile; " FEWER_TURNS },
	{ "KERNEL.LOW_OCCUPANCY", FEWER_TURNS },
	{ "KERNEL.INEFFICIENT", FEWER_TURNS "; tune the kernels for these shapes (vLLM "
					    "benchmark_moe.py, TunableOp and AITER on AMD)" },
	{ "KERNEL.MEMORY_BOUND", "let the engine fuse them: vLLM --compilation-config with "
				 "pass_config (fuse_norm_quant, fuse_act_quant), SGLang "
				 "--enable-torch-compile" },
	{ "KERNEL.UNFUSED_ATTENTION", BACKEND },
	{ "KERNEL.LOW_PRECISION", "serve in --dtype bfloat16; " QUANTIZE },
	{ "KERNEL.NO_TENSOR_CORES", "serve in --dtype bfloat16; " QUANTIZE },
	{ "KERNEL.PADDING", "capture graphs for the batches that occur (vLLM "
			    "--cudagraph-capture-sizes, SGLang --cuda-graph-bs-decode)" },
	{ "EFFICIENCY.LOW_MFU",
	  "compute more tokens of prompts at once: vLLM "
	  "--max-num-batched-tokens, SGLang --chunked-prefill-size; " QUANTIZE },
	{ "EFFICIENCY.RECOVERABLE", OVERLAP },
	{ "ALLOC.CUDA_MALLOC", "leave less to the cache of keys and values: lower vLLM "
			       "--gpu-memory-utilization, SGLang --mem-fraction-static" },
	{ "DIST.EXPOSED_COMM",
	  "fuse and shorten the all-reduces of tensor parallelism: vLLM without "
	  "--disable-custom-all-reduce, SGLang "
	  "--enable-flashinfer-allreduce-fusion; a lower "
	  "--tensor-parallel-size with more replicas" },
	{ "DIST.COMM_BOUND",
	  "lower --tensor-parallel-size and run more replicas, or parallelize "
	  "over data and experts (--data-parallel-size, --enable-expert-parallel)" },
	{ "DIST.TINY_COLLECTIVES", "use the one-shot all-reduce of the engine: vLLM without "
				   "--disable-custom-all-reduce, SGLang likewise" },
	{ "DIST.LOAD_IMBALANCE", "balance requests over the ranks: a router before vLLM's "
				 "replicas, SGLang --load-balance-method" },
	{ "DIST.EXPERT_IMBALANCE", "replicate the busiest experts: vLLM --enable-eplb, SGLang "
				   "--enable-eplb with --ep-num-redundant-experts" },
};

const char *tsi_serving_advice(const char *rule)
{
	for (size_t i = 0; i < SERVING_ADVICE_COUNT; i++)
		if (strcmp(rows[i].id, rule) == 0)
			return rows[i].advice;
	return NULL;
}
