/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_ADVICE_H
#define TSCOPE_RULES_ADVICE_H

/*
 * Phrases that the advice of several rules shares. An inference engine's users have its options
 * instead of a training loop: no prof.step(), no larger batch per rank, no data loader.
 */

/* On every kind of device; torch.accelerator came with PyTorch 2.6. */
#define SYNCHRONIZE "torch.accelerator.synchronize() (older: torch.cuda.synchronize())"

#define READS_A_NUMBER                                                                             \
	"the script reads a number from the device (.item(), float(tensor), print, an if on a "    \
	"tensor): read it once in 100 steps, or keep the sum on the device"

/* For serving with an engine. */
#define FEWER_ITERATIONS                                                                           \
	"do more in one iteration: vLLM --max-num-seqs, SGLang --max-running-requests, "           \
	"speculative decoding"
#define OVERLAP_HOST                                                                               \
	"prepare the next iteration while the device computes (vLLM --async-scheduling, SGLang "   \
	"without --disable-overlap-schedule)"
#define DECODE_GRAPHS                                                                              \
	"replay decoding as graphs: vLLM without --enforce-eager, SGLang without "                 \
	"--disable-cuda-graph"
#define QUANTIZED_WEIGHTS                                                                          \
	"serve quantized weights (vLLM and SGLang: --quantization fp8, or an FP8 checkpoint)"
#define OTHER_ATTENTION "try another backend for attention (--attention-backend)"
#define FUSION_PASSES "let the engine fuse them: vLLM --compilation-config with pass_config"
#define FUSION_SMALL "for small models SGLang --enable-torch-compile"

/* For a model that is run without an engine. */
#define COMPILE_FORWARD                                                                            \
	"torch.compile(model, mode=\"reduce-overhead\") replays a forward pass as a CUDA graph"
#define MORE_REQUESTS "more requests a batch"
#define REDUCED_PRECISION                                                                          \
	"weights and activations in bfloat16 (model.to(torch.bfloat16)), or quantized"

#endif
