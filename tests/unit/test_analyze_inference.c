/* SPDX-License-Identifier: MIT */
/* Iterations of inference engines: latencies, intervals of tokens, gaps and graphs by phase. */
#include "analysis_check.h"

#include "check.h"

/* An iteration that launches one kernel, or a graph of one. Times: its mark's, the kernel's. */
static void put_turn(struct test_trace *t, const char *name, const char *call, int64_t start_ns,
		     int64_t kernel_ns, int64_t kernel_dur_ns)
{
	test_annotation(t, name, 1, start_ns, 40);
	test_call(t, call, 1, start_ns + 10, 10, (uint64_t)start_ns + 1);
	test_kernel(t, "gemm", 0, 7, kernel_ns, kernel_dur_ns, (uint64_t)start_ns + 1);
}

/*
 *	mark	     0          120          420      560        910
 *	phase	  prefill     decode      decode     mixed     decode
 *	kernel	50 ──── 250 300 ─ 400  450 ── 550  600 ─ 900  950 ── 1070
 *	latency	   250          150         130       340        160
 *
 * Intervals of tokens: 150, 350 with prompts, 170. Gaps of 50 each, of 820 from 250 to 1070.
 */
TEST(test_phases)
{
	struct test_trace *t = test_trace_new();

	put_turn(t, "execute_context_2(200)_generation_0(0)", "cudaLaunchKernel", 0, 50, 200);
	put_turn(t, "execute_context_0(0)_generation_4(4)", "cudaGraphLaunch", 120, 300, 100);
	put_turn(t, "execute_context_0(0)_generation_4(4)", "cudaGraphLaunch", 420, 450, 100);
	put_turn(t, "execute_context_1(100)_generation_4(4)", "cudaLaunchKernel", 560, 600, 300);
	put_turn(t, "execute_context_0(0)_generation_5(5)", "cudaLaunchKernel", 910, 950, 120);
	struct analyzed *a = analyze(t);

	check_facts(a, "inference: engine iteration_count idle_count", "vllm 5 0");
	check_facts(a, "inference: prefill.count prefill.p50_ns prefill.tokens prefill.time_ratio",
		    "1 250 200 0.242718");
	check_facts(a, "inference: decode.count decode.p50_ns decode.p90_ns decode.p99_ns",
		    "3 150 158 160");
	check_facts(a, "inference: decode.requests decode.tokens decode.tokens_per_second",
		    "4.33333 4.33333 2.95455e+07"); /* 13 in 440 ns */
	check_facts(a, "inference: mixed.count mixed.p50_ns mixed.requests mixed.tokens",
		    "1 340 5 104");
	check_facts(a, "inference: speculative.count speculative.p50_ns", "0 -");
	check_facts(a, "inference: itl_p50_ns itl_p90_ns itl_p99_ns", "170 314 346");
	check_facts(a, "inference: clear_itl_p50_ns delayed_itl_p50_ns delayed_count", "160 350 1");
	/* 350 - 160 of 670; over 5 iterations */
	check_facts(a, "inference: prefill_delay_ratio prefill_delay_ns", "0.283582 38");
	check_facts(a, "inference: host_gap_ns host_gap_ratio", "50 0.243902");
	check_facts(a, "inference: graph_coverage_ratio graph_hit_ratio graph_miss_count",
		    "0.625 0.666667 1");
	check_facts(a, "inference: graph_max_requests miss_min_requests", "4 5");
	/* 17 requests that decode in 1070 ns */
	check_facts(a, "inference: output_tokens_per_second padding_ratio kv_tokens",
		    "1.58879e+07 - -");
	check_table(a, "inference.batches: phase requests count graph_count padded p50_ns",
		    "prefill 2 1 0 - 250\ndecode 4 2 2 - 140\ndecode 5 1 0 - 160\n"
		    "mixed 5 1 0 - 340\n");
	check_table(a, "inference.kinds: phase kind total_ns ratio",
		    "decode gemm 320 1\nmixed gemm 300 1\nprefill gemm 200 1\n");
}

/*
 * A product of 4 rows with 64 x 512 in bf16, on a device of 5.3 TB/s and 1307 TFLOP/s: 262,144 FLOPs
 * and 70,144 bytes in 100 ns. Of the second iteration half of the time is a product without shapes.
 */
TEST(test_rooflines)
{
	struct test_trace *t = test_trace_new();

	test_metadata(t, "deviceProperties",
		      "[{\"id\": 0, \"name\": \"AMD Instinct MI300X\", \"numSms\": 304, "
		      "\"totalGlobalMem\": 206141652992}]");
	for (int64_t i = 0; i < 2; i++) {
		test_op_inputs(t, "aten::mm", 1, 1000 * i + 5, 25, "[[4, 64], [64, 512]]",
			       "[\"c10::BFloat16\", \"c10::BFloat16\"]", NULL);
		put_turn(t,
			 i == 0 ? "execute_context_0(0)_generation_4(4)"
				: "execute_context_1(4)_generation_0(0)",
			 "cudaLaunchKernel", 1000 * i, 1000 * i + 50, 100);
	}
	test_call(t, "cudaLaunchKernel", 1, 1035, 2, 9999);
	test_kernel(t, "gemm", 0, 7, 1200, 100, 9999);
	struct analyzed *a = analyze(t);

	check_facts(a, "inference: decode.mfu decode.bandwidth_ratio decode.bytes decode.bound",
		    "0.00200508 0.132347 70144 memory");
	/* What half of the kernels do is not known: nor is what bounds them. */
	check_facts(a, "inference: prefill.bandwidth_ratio prefill.bound", "0.0661736 -");
}

#define FRAME(name) "vllm/v1/worker/gpu_model_runner.py(1): " name

/*
 *	mark	     0         200        400
 *	model	50 ── 100   260 ── 300  500 ─ 540
 *	gaps	    100 ── 260   300 ──── 500		a kernel that prepares inputs ends none
 *	host	      update_from_output 90 ─ 120, schedule 120 ─ 180 (in it a prepare 150 ─ 160),
 *		      _prepare_inputs 210 ─ 250; sample 310 ─ 480, of which 470 ─ 520 is another's
 */
TEST(test_host_parts)
{
	struct test_trace *t = test_trace_new_with(&(struct builder_options){ .python = true });

	put_turn(t, "execute_context_0(0)_generation_4(4)", "cudaLaunchKernel", 0, 50, 50);
	put_turn(t, "execute_context_0(0)_generation_4(4)", "cudaLaunchKernel", 200, 260, 40);
	put_turn(t, "execute_context_0(0)_generation_4(4)", "cudaLaunchKernel", 400, 500, 40);
	test_call(t, "cudaLaunchKernel", 1, 240, 5, 77);
	test_kernel(t, "elementwise_kernel", 0, 7, 246, 4, 77);
	test_span(t, "python_function", FRAME("update_from_output"), 1, 90, 30);
	test_span(t, "python_function", FRAME("schedule"), 1, 120, 60);
	test_span(t, "python_function", FRAME("prepare_for_decode"), 1, 150, 10);
	test_span(t, "python_function", FRAME("_prepare_inputs"), 1, 210, 40);
	test_span(t, "python_function", FRAME("sample"), 1, 310, 170);
	test_span(t, "python_function", FRAME("_bookkeeping_sync"), 1, 470, 50);
	test_span(t, "python_function", "train.py(3): schedule", 1, 481, 10);
	struct analyzed *a = analyze(t);

	check_facts(a, "inference: host_gap_ns", "180"); /* two of them: 360 */
	check_facts(a, "inference: host.schedule_ns host.prepare_ns host.forward_ns", "25 25 0");
	check_facts(a, "inference: host.sample_ns host.output_ns host.wait_ns", "80 15 0");
	check_facts(a, "inference: host.other_ns host.part host.part_ratio",
		    "35 sampling 0.444444");
}

/* Without frames nobody knows what the host did. */
TEST(test_unknown_host)
{
	struct test_trace *t = test_trace_new();

	put_turn(t, "execute_context_0(0)_generation_4(4)", "cudaLaunchKernel", 0, 50, 50);
	put_turn(t, "execute_context_0(0)_generation_4(4)", "cudaLaunchKernel", 200, 260, 40);
	struct analyzed *a = analyze(t);

	check_facts(a, "inference: host_gap_ns host.other_ns host.part", "160 - -");
}

/* The graph's batch is said; of proposed tokens nobody knows which are kept. */
TEST(test_speculation)
{
	struct test_trace *t = test_trace_new();

	put_turn(t, "decode[bs=3/4 tok=9 d=3 spec=2 sqsq=27 sqsk=90 sk=30]", "hipGraphLaunch", 0,
		 50, 50);
	put_turn(t, "decode[bs=5/8 tok=15 d=5 spec=2 sqsq=45 sqsk=150 sk=50]", "hipGraphLaunch",
		 100, 150, 50);
	struct analyzed *a = analyze(t);

	check_facts(a, "inference: engine speculative.count speculative.requests", "atom 2 4");
	check_facts(a, "inference: speculative.tokens speculative.tokens_per_second", "12 -");
	check_facts(a, "inference: padding_ratio kv_tokens output_tokens_per_second",
		    "0.333333 40 -");
	check_facts(a, "inference: itl_p50_ns clear_itl_p50_ns prefill_delay_ratio", "100 100 0");
	check_facts(a, "inference: graph_coverage_ratio graph_hit_ratio miss_min_requests",
		    "1 1 -");
}

/* Marks that say nothing: iterations without a phase. What says more than run_batch wins. */
TEST(test_unknown)
{
	struct test_trace *t = test_trace_new();

	put_turn(t, "scheduler.run_batch", "cudaLaunchKernel", 0, 50, 50);
	put_turn(t, "scheduler.run_batch", "cudaLaunchKernel", 200, 250, 50);
	struct analyzed *a = analyze(t);
	check_facts(a, "inference: iteration_count decode.count engine itl_p50_ns", "2 0 - -");

	t = test_trace_new();
	test_annotation(t, "scheduler.run_batch", 1, 0, 90);
	put_turn(t, "step[EXTEND bs=1 toks=8]", "cudaLaunchKernel", 10, 60, 20);
	test_annotation(t, "ProfilerStep#7", 1, 100, 190);
	test_annotation(t, "scheduler.run_batch", 1, 110, 180);
	put_turn(t, "step[TARGET_VERIFY bs=1]", "cudaLaunchKernel", 120, 200, 20);
	test_annotation(t, "step[DRAFT_EXTEND bs=1]", 1, 220, 20);
	a = analyze(t);
	check_facts(a, "inference: engine iteration_count prefill.count speculative.count",
		    "sglang 2 1 1");
	check_facts(a, "inference: prefill.p50_ns speculative.p50_ns", "70 100");
}

/* A draft model computes prompts a second time: two prompts of one length are four annotations. */
TEST(test_draft)
{
	struct test_trace *t = test_trace_new();

	for (int i = 0; i < 4; i++)
		put_turn(t, "step[EXTEND bs=1 toks=64]", "cudaLaunchKernel", 100 * i, 100 * i + 30,
			 50);
	put_turn(t, "step[TARGET_VERIFY bs=1]", "cudaLaunchKernel", 400, 430, 50);
	put_turn(t, "step[TARGET_VERIFY bs=1]", "cudaLaunchKernel", 500, 530, 50);
	struct analyzed *a = analyze(t);
	check_facts(a, "inference: iteration_count prefill.count prefill.tokens speculative.count",
		    "4 2 64 2");
	check_facts(a, "inference: prefill.p50_ns speculative.p50_ns", "180 80");

	/* Without one each prompt is a prompt. */
	t = test_trace_new();
	for (int i = 0; i < 4; i++)
		put_turn(t, "step[EXTEND bs=1 toks=64]", "cudaLaunchKernel", 100 * i, 100 * i + 30,
			 50);
	a = analyze(t);
	check_facts(a, "inference: iteration_count prefill.count", "4 4");
}

/* The device was busy with what was cut out of the file: nobody knows how long this one took. */
TEST(test_unrecorded)
{
	struct test_trace *t = test_trace_new();

	put_turn(t, "execute_context_0(0)_generation_4(4)", "cudaLaunchKernel", 0, 8000000,
		 2000000);
	struct analyzed *a = analyze(t);
	check_facts(a, "inference: decode.p50_ns", "10000000");
	check_facts(a, "idle: unrecorded_ns", "7999980");
	check_doubt(
		a, "inference.decode.p99_ns",
		"the devices were busy with work before the trace, or cut out of it: it delays the "
		"iterations");
	check_doubt(a, "inference.decode.requests", NULL);
}

/* Images: a phase without tokens. */
TEST(test_diffusion)
{
	struct test_trace *t = test_trace_new();

	put_turn(t, "execute_diffusion_1_256x256", "cudaLaunchKernel", 0, 50, 50);
	put_turn(t, "execute_diffusion_1_256x256", "cudaLaunchKernel", 200, 250, 50);
	struct analyzed *a = analyze(t);
	check_facts(a, "inference: iteration_count diffusion.count diffusion.p50_ns decode.count",
		    "2 2 100 0");
	check_facts(a, "inference: diffusion.tokens diffusion.requests itl_p50_ns engine",
		    "- - - -");
}

/* Training is none. */
TEST(test_training)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", 1, 0, 100);
	test_kernel(t, "gemm", 0, 7, 10, 20, 0);
	struct analyzed *a = analyze(t);
	check_facts(a, "inference: iteration_count decode.count", "- -");
}
