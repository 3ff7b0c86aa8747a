/* SPDX-License-Identifier: MIT */
/*
 * Advice for inference engines, whose users have options instead of a training loop: no
 * prof.step(), no larger batch per rank, no data loader. It takes the place of a rule's own advice
 * where the steps are an engine's iterations. The second list is for inference by hand.
 */
#include "rules/serving_advice.h"

#include <stdbool.h>
#include <string.h>

#include "base/attributes.h"

/* Only the engine's own code can change this. */
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

struct row {
	const char *id, *advice;
};

static const struct row serving_rows[SERVING_ADVICE_COUNT] = {
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
	{ "COPY.EXPOSED", "keep weights and cache on the device: offloading copies them in each "
			  "iteration (weights: --cpu-offload-gb of vLLM and SGLang; cache: SGLang "
			  "--enable-hierarchical-cache)" },
	{ "COPY.PAGEABLE", "pin what the engine copies to the device each iteration: it comes from "
			   "pageable memory, as inputs of custom code do" },
	{ "COPY.SMALL", GRAPHS "; " OVERLAP },
	{ "COPY.HOST_TENSOR", OVERLAP },
	{ "GPU.IDLE", OVERLAP "; if no requests wait, the load is too small to judge by" },
	{ "GC.PAUSE", "freeze the collector's objects after warm-up (SGLang /freeze_gc; elsewhere "
		      "gc.freeze() in the server's start-up)" },
	{ "KERNEL.SHORT",
	  "let the engine fuse them: vLLM --compilation-config with pass_config; for "
	  "small models SGLang --enable-torch-compile; " FEWER_TURNS },
	{ "KERNEL.LOW_OCCUPANCY", FEWER_TURNS },
	{ "KERNEL.INEFFICIENT", FEWER_TURNS "; tune the kernels for these shapes (vLLM "
					    "benchmark_moe.py, TunableOp and AITER on AMD)" },
	{ "KERNEL.MEMORY_BOUND", "let the engine fuse them: vLLM --compilation-config with "
				 "pass_config (fuse_norm_quant, fuse_act_quant); for small models "
				 "SGLang --enable-torch-compile" },
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
	  "lower --tensor-parallel-size and run more replicas, or parallelize over data and "
	  "experts (--data-parallel-size; vLLM --enable-expert-parallel, SGLang --ep-size)" },
	{ "DIST.TINY_COLLECTIVES", "use the one-shot all-reduce of the engine: vLLM without "
				   "--disable-custom-all-reduce, SGLang likewise" },
	{ "DIST.LOAD_IMBALANCE", "balance requests over the ranks: a router before vLLM's "
				 "replicas, SGLang --load-balance-method" },
	{ "DIST.EXPERT_IMBALANCE", "replicate the busiest experts: vLLM --enable-eplb, SGLang "
				   "--enable-eplb with --ep-num-redundant-experts" },
};

#define COMPILE                                                                                    \
	"torch.compile(model, mode=\"reduce-overhead\") replays a forward pass as a CUDA graph"
#define TOGETHER "read all ranks together (tscope report DIR) to see who waits for whom"
#define REQUESTS "more requests a batch"
#define REDUCED "weights and activations in bfloat16 (model.to(torch.bfloat16)), or quantized"
#define MARKS                                                                                      \
	"record several forward passes, each marked: by torch.profiler's schedule, by an "         \
	"annotation around each, or name what each calls with --step-marker"

static const struct row inference_rows[INFERENCE_ADVICE_COUNT] = {
	{ "TRACE.INCOMPLETE", MARKS },
	{ "HOST.PYTHON", COMPILE "; prepare the next request while the device computes; "
				 "with_stack=True names the lines" },
	{ "HOST.LAUNCH_BOUND", COMPILE "; " REQUESTS },
	{ "HOST.CPU_WORK", "move the tensors to the device before these operators (device=\"cuda\" "
			   "where they are made), or the work beside the device's" },
	{ "HOST.PROFILER",
	  "record less: with_stack=False, profile_memory=False, record_shapes only "
	  "where FLOPs are wanted; fewer forward passes" },
	{ "COPY.BLOCKING",
	  "copy inputs from pinned memory (torch.empty(..., pin_memory=True)) with "
	  "non_blocking=True; read results back once a request" },
	{ "COPY.EXPOSED",
	  "copy the inputs of the next request while the device computes; keep weights "
	  "on the device instead of offloading them" },
	{ "COPY.PAGEABLE",
	  "pin what is copied each time (torch.empty(..., pin_memory=True)) and pass "
	  "non_blocking=True" },
	{ "COPY.SMALL", "copy many tensors at once: torch._foreach_copy_, or views of one flat "
			"buffer; keep scalars on the device" },
	{ "KERNEL.SHORT", COMPILE "; scaled_dot_product_attention; " REQUESTS },
	{ "KERNEL.LOW_OCCUPANCY", REQUESTS "; " COMPILE "; or a smaller device, or a slice of it "
					   "(MIG)" },
	{ "KERNEL.INEFFICIENT", REQUESTS
	  "; products of one shape in one call (a fused QKV projection); channels_last for "
	  "convolutions; torch.compile(mode=\"max-autotune\"), TunableOp on AMD" },
	{ "KERNEL.LOW_PRECISION", REDUCED ", where the results allow it" },
	{ "KERNEL.NO_TENSOR_CORES",
	  REDUCED ", where the results allow it; keep sizes multiples of 8" },
	{ "EFFICIENCY.LOW_MFU", REQUESTS "; " COMPILE "; " REDUCED },
	{ "EFFICIENCY.RECOVERABLE", "follow the largest line; where the host is late, " COMPILE },
	{ "ALLOC.CUDA_MALLOC",
	  "let the allocator keep what it has: no torch.cuda.empty_cache() between "
	  "requests, PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True" },
	{ "DIST.EXPOSED_COMM",
	  TOGETHER "; shard over fewer devices and run more replicas; overlap the "
		   "exchange of one part with the computation of the next" },
	{ "DIST.COMM_BOUND", TOGETHER "; shard over fewer devices and run more replicas" },
	{ "HOST.LOGGING_STALL",
	  "log every n-th request; keep results as tensors and read them together "
	  "(.item() waits for the device), let a thread write" },
	{ "TIMING.JITTER", "look at the slow passes and what grew in them (--show steps); bucket "
			   "requests by length, look for other jobs on the host" },
	{ "DIST.TINY_COLLECTIVES", "reduce several tensors in one collective" },
	{ "DIST.EXPERT_IMBALANCE",
	  "place experts that are busy together on different ranks, or the "
	  "busiest twice" },
};

static const char *find_advice(const struct row *rows, size_t count, const char *rule)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].id, rule) == 0)
			return rows[i].advice;
	return NULL;
}

const char *tsi_serving_advice(const char *rule)
{
	return find_advice(serving_rows, SERVING_ADVICE_COUNT, rule);
}

/* Is the advice for training alone, or about a batch whose size others decide? */
static bool is_about_training(const char *advice)
{
	static const char *const words[] = {
		"training", "prof.",      "DataLoader", "loader",   "optimizer",     "backward",
		"loss",     "GradScaler", "gradient",   "per rank", "checkpointing", "checkpoints",
		"DDP",      "zero_grad",  "accumul",    "batches",  "the batch",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(words); i++)
		if (strstr(advice, words[i]))
			return true;
	return false;
}

const char *tsi_inference_advice(const char *rule, const char *advice)
{
	return is_about_training(advice) ? find_advice(inference_rows, INFERENCE_ADVICE_COUNT, rule)
					 : NULL;
}
