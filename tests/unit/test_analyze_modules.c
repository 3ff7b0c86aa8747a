/* SPDX-License-Identifier: MIT */
/* Modules: threads' time in them, what they launched, forward and backward, and odd layers. */
#include "analysis_check.h"

#include "analyze/analysis.h"
#include "check.h"
#include "fail_alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tscope/report.h>

enum { MAIN = 1, AUTOGRAD = 2 };

#define NODE "autograd::engine::evaluate_function: MmBackward0"

static bool is_uninformative(struct str name)
{
	(void)name;
	return false;
}

static struct test_trace *new_trace(void)
{
	static const struct builder_options options = { .is_telling_frame = is_uninformative };

	return test_trace_new_with(&options);
}

static void add_module(struct test_trace *t, const char *name, int64_t tid, int64_t start_ns,
		       int64_t end_ns)
{
	char frame[64];

	snprintf(frame, sizeof(frame), "nn.Module: %s", name);
	test_span(t, "python_function", frame, tid, start_ns, end_ns - start_ns);
}

/* An operator, or a node of the backward pass, that launches a kernel at its start. */
static void add_work(struct test_trace *t, const char *name, int64_t tid, int64_t at_ns,
		     int64_t dur_ns, int sequence, int64_t kernel_ns)
{
	static const char nobody[] = "0";
	char number[12];
	uint64_t correlation = (uint64_t)(tid * 10000 + at_ns);
	bool is_node = strcmp(name, NODE) == 0;

	snprintf(number, sizeof(number), "%d", sequence);
	test_op_args(t, name, tid, at_ns, dur_ns,
		     &(struct test_op_args){ .sequence = sequence >= 0 ? number : NULL,
					     .forward_thread = is_node ? "1" : nobody });
	test_call(t, "cudaLaunchKernel", tid, at_ns, 2, correlation);
	test_kernel(t, "k", 0, at_ns, 2000 - kernel_ns, kernel_ns, correlation);
}

/*
 * Net [10, 500) holds two blocks with two layers each. The loss at 600 is outside. The last layer
 * but one is checkpointed: its forward code runs again within its node. Node 99 is of no operator
 * that is known. The step ends with its kernels, at 2000.
 */
static struct test_trace *two_blocks(void)
{
	struct test_trace *t = new_trace();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	add_module(t, "Net_0", MAIN, 10, 500);
	add_module(t, "Block_0", MAIN, 20, 120);
	add_module(t, "Linear_0", MAIN, 30, 50);
	add_work(t, "aten::mm", MAIN, 32, 8, 0, 50);
	add_module(t, "Linear_1", MAIN, 60, 100);
	add_work(t, "aten::mm", MAIN, 62, 8, 1, 60);
	add_module(t, "Block_1", MAIN, 130, 330);
	add_module(t, "Linear_2", MAIN, 140, 160);
	add_work(t, "aten::mm", MAIN, 142, 8, 2, 50);
	add_module(t, "Linear_3", MAIN, 170, 310);
	add_work(t, "aten::mm", MAIN, 172, 8, 3, 200);
	add_work(t, "aten::add", MAIN, 340, 8, 4, 10);
	add_work(t, "aten::mse_loss", MAIN, 600, 8, 5, 5);
	add_work(t, NODE, AUTOGRAD, 700, 10, 5, 7);
	add_work(t, NODE, AUTOGRAD, 720, 40, 3, 100);
	add_work(t, NODE, AUTOGRAD, 770, 10, 1, 120);
	add_work(t, NODE, AUTOGRAD, 800, 100, 2, 100);
	add_module(t, "Linear_2", AUTOGRAD, 810, 830);
	add_work(t, "aten::mm", AUTOGRAD, 812, 8, -1, 50);
	add_work(t, NODE, AUTOGRAD, 910, 10, 99, 9);
	return t;
}

TEST(forward_and_backward)
{
	struct analyzed *a = analyze(two_blocks());

	check_table(a,
		    "modules.by_module: name example depth module_count call_count repeated_count",
		    "Net.Block.*.Linear[1] Linear_1 3 2 2 0\n"
		    "Net.Block.*.Linear[0] Linear_0 3 2 3 1\n"
		    "(outside modules) - 0 - - -\n"
		    "Net Net_0 1 1 1 0\n"
		    "Net.Block.* Block_0 2 2 2 0\n");
	/* Of 761 ns: the second layers 60 + 200 and 100 + 120, the first 50 + 50 and 50 + 100. */
	check_table(a, "modules.by_module: self_device_ns device_ns forward_ns backward_ns",
		    "480 480 260 220\n"
		    "250 250 100 150\n"
		    "21 21 5 16\n"
		    "10 740 370 370\n"
		    "0 730 360 370\n");
	/* Two threads, 2000 ns each. The nodes of layers 3 and 1 take 40 + 10, that of 2 100. */
	check_table(a, "modules.by_module: self_host_ns host_ns kernel_count launch_count",
		    "230 230 4 4\n"
		    "140 140 4 4\n"
		    "3360 3360 3 3\n"
		    "190 640 9 9\n"
		    "80 450 8 8\n");
	check_facts(a,
		    "modules: module_count call_count repeated_count device_ns outside_ns "
		    "outside_backward_ns host_ns host_outside_ns odd_layer_count",
		    "7 8 1 761 21 16 4000 3360 0");
}

/* Five layers alike, of which the fourth launches 300 ns, the others 100. */
TEST(odd_layer)
{
	struct test_trace *t = new_trace();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	add_module(t, "Net_0", MAIN, 0, 900);
	for (int i = 0; i < 5; i++) {
		char name[16];
		snprintf(name, sizeof(name), "Block_%d", i);
		add_module(t, name, MAIN, 100 * i, 100 * i + 90);
		snprintf(name, sizeof(name), "Act_%d", i);
		add_module(t, name, MAIN, 100 * i + 10, 100 * i + 30);
		snprintf(name, sizeof(name), "Mlp_%d", i);
		add_module(t, name, MAIN, 100 * i + 40, 100 * i + 60);
		add_work(t, "aten::mm", MAIN, 100 * i + 45, 5, i, i == 3 ? 300 : 100);
	}
	struct analyzed *a = analyze(t);
	check_table(a,
		    "modules.odd_layers: layer name ns median_ns module_count by because "
		    "because_ns why",
		    "Block_3 Net.Block.* 300 100 5 device Net.Block.*.Mlp 200 longer kernels, as "
		    "many\n");
}

enum difference { MORE_KERNELS, MORE_FLOPS, LONGER_COMM, LONGER_COPIES };

/* What the odd one of five layers has that the others have not. */
static void add_difference(struct test_trace *t, enum difference difference, int64_t at_ns,
			   bool is_odd, uint64_t correlation)
{
	static const char large[] =
		"{\"Input Dims\": [[64, 64], [64, 64]], \"Input type\": [\"float\", \"float\"]}";
	static const char small[] =
		"{\"Input Dims\": [[32, 64], [64, 64]], \"Input type\": [\"float\", \"float\"]}";
	int64_t dur_ns = is_odd && difference != MORE_KERNELS ? 300 : 100;

	test_span_args(t, "cpu_op", "aten::mm", MAIN, at_ns, 40,
		       is_odd && difference == MORE_FLOPS ? large : small);
	for (uint64_t i = 0; i < (is_odd && difference == MORE_KERNELS ? 3u : 1u); i++) {
		uint64_t id = correlation + i;
		int64_t start_ns = at_ns + 5 + 10 * (int64_t)i;
		test_call(t, "cudaLaunchKernel", MAIN, start_ns, 2, id);
		if (difference == LONGER_COPIES)
			test_memcpy(t, "Memcpy DtoD (Device -> Device)", 0, 7, 5000 + start_ns * 10,
				    dur_ns, id, 64);
		else
			test_kernel(t,
				    difference == LONGER_COMM ? "ncclDevKernel_AllReduce_Sum_f32"
							      : "gemm",
				    0, 7, 5000 + start_ns * 10, dur_ns, id);
	}
}

TEST(why_a_layer_is_odd)
{
	static const char *const expected[] = {
		[MORE_KERNELS] = "more kernels: 3, median 1\n",
		[MORE_FLOPS] = "other shapes: 2.00 times the FLOPs\n",
		[LONGER_COMM] = "longer communication\n",
		[LONGER_COPIES] = "longer copies\n",
	};

	for (unsigned difference = 0; difference <= LONGER_COPIES; difference++) {
		struct test_trace *t = new_trace();
		test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
		add_module(t, "Net_0", MAIN, 0, 900);
		for (int i = 0; i < 5; i++) {
			char name[16];
			snprintf(name, sizeof(name), "Block_%d", i);
			add_module(t, name, MAIN, 100 * i, 100 * i + 90);
			snprintf(name, sizeof(name), "Mlp_%d", i);
			add_module(t, name, MAIN, 100 * i + 10, 100 * i + 80);
			add_difference(t, difference, 100 * i + 20, i == 3, 1 + 10 * (uint64_t)i);
		}
		struct analyzed *a = analyze(t);
		check_table(a, "modules.odd_layers: why", expected[difference]);
	}
}

/* A module that calls itself is one below itself; a shared one is one in each place. */
TEST(recursive_and_shared)
{
	struct test_trace *t = new_trace();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	add_module(t, "A_0", MAIN, 0, 400);
	add_module(t, "A_0", MAIN, 100, 300);
	add_module(t, "B_0", MAIN, 150, 200);
	add_module(t, "B_0", MAIN, 500, 600);
	test_op(t, "aten::mm", MAIN, 520, 20);
	struct analyzed *a = analyze(t);
	check_table(a, "modules.by_module: name self_host_ns host_ns call_count",
		    "(outside modules) 500 500 -\n"
		    "A 200 400 1\n"
		    "A.A 150 200 1\n"
		    "B 100 100 1\n"
		    "A.A.B 50 50 1\n");
}

/* Where no frames say modules. The kernel that an operator launches takes 100 ns. */
static void add_op_at(struct test_trace *t, int64_t tid, int64_t at_ns, const char *args)
{
	test_span_args(t, "cpu_op", "aten::mm", tid, at_ns, 20, args);
	test_call(t, "cudaLaunchKernel", tid, at_ns + 5, 2, (uint64_t)at_ns);
	test_kernel(t, "k", 0, 7, 1000 + at_ns, 100, (uint64_t)at_ns);
}

#define HIERARCHY(path) "{\"Module Hierarchy\": \"" path "\", \"Sequence number\": 3}"

/* Threads are in the modules of TorchScript while its operators run; calls are not known. */
TEST(torchscript)
{
	struct test_trace *t = new_trace();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	add_op_at(t, MAIN, 100,
		  HIERARCHY("TOP(Net)::forward.SELF(Net)::_impl.fc(Linear)::forward"));
	add_op_at(t, MAIN, 200,
		  HIERARCHY("TOP(Net)::forward.layers(List)::forward.0(Block)::forward"));
	add_op_at(t, MAIN, 300,
		  HIERARCHY("TOP(Net)::forward.layers(List)::forward.1(Block)::forward"));
	add_op_at(t, MAIN, 400, "{\"Module Hierarchy\": \"\"}");
	test_kernel(t, "k", 0, 7, 900, 30, 999); /* launched before the capture */
	struct analyzed *a = analyze(t);
	check_facts(a, "modules: source module_count device_ns outside_ns unlinked_ns",
		    "TorchScript 5 430 130 30");
	check_table(a,
		    "modules.by_module: name example self_device_ns device_ns host_ns call_count",
		    "(outside modules) - 130 130 1440 -\n"
		    "Net.fc Net.fc 100 100 20 -\n"
		    "Net.layers.0 Net.layers.0 100 100 20 -\n"
		    "Net.layers.1 Net.layers.1 100 100 20 -\n"
		    "Net Net 0 300 60 -\n"
		    "Net.layers Net.layers 0 200 40 -\n");
}

/*
 * Modules of FSDP last from the hook before to the end of that behind; another hook gathers for one
 * of them meanwhile. What lacks an end is no longer than its hook.
 */
TEST(fsdp)
{
	struct test_trace *t = new_trace();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	test_annotation(t, "FSDP::pre_forward (layers.0)", MAIN, 100, 10);
	add_op_at(t, MAIN, 120, "{}");
	test_annotation(t, "FSDP::all_gather (layers.1)", MAIN, 150, 40);
	add_op_at(t, MAIN, 160, "{}");
	test_annotation(t, "FSDP::post_forward (layers.0)", MAIN, 200, 10);
	test_annotation(t, "FSDP::pre_forward (layers.1)", MAIN, 300, 10);
	test_annotation(t, "FSDP::pre_forward (head)", MAIN, 320, 10);
	test_annotation(t, "FSDP::post_forward (layers.1)", MAIN, 400, 10);
	add_op_at(t, MAIN, 500, "{}");
	struct analyzed *a = analyze(t);
	check_facts(a, "modules: source module_count call_count outside_ns", "FSDP 4 3 100");
	check_table(a, "modules.by_module: name module_count self_device_ns host_ns call_count",
		    "layers.* 2 200 210 2\n"
		    "(outside modules) - 100 1380 -\n"
		    "head 1 0 10 1\n"
		    "layers 1 0 210 -\n");
}

/* FSDP's first version numbers no modules: they are counted in the one around. */
TEST(fsdp_without_names)
{
	struct test_trace *t = new_trace();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	test_annotation(t, "FullyShardedDataParallel.forward", MAIN, 100, 400);
	test_annotation(t, "FullyShardedDataParallel.forward", MAIN, 200, 50);
	test_annotation(t, "FullyShardedDataParallel.forward", MAIN, 300, 60);
	add_op_at(t, MAIN, 310, "{}");
	struct analyzed *a = analyze(t);
	check_table(
		a, "modules.by_module: name example module_count self_device_ns host_ns",
		"FullyShardedDataParallel.FullyShardedDataParallel.* FullyShardedDataParallel_0 "
		"2 100 110\n"
		"(outside modules) - - 0 1010\n"
		"FullyShardedDataParallel FullyShardedDataParallel 1 0 400\n");
}

/* Paths in the user's own annotations; words are none, and where frames are these count. */
TEST(annotations)
{
	for (int has_frames = 0; has_frames < 2; has_frames++) {
		struct test_trace *t = new_trace();
		test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
		test_annotation(t, "layers.0.attention", MAIN, 100, 100);
		test_annotation(t, "train.loss", MAIN, 300, 100);
		if (has_frames)
			add_module(t, "Net_0", MAIN, 90, 250);
		test_op(t, "aten::mm", MAIN, 120, 20);
		struct analyzed *a = analyze(t);
		check_facts(a, "modules: source module_count",
			    has_frames ? "frames 1" : "annotations 3");
		check_table(a, "modules.by_module: name self_host_ns",
			    has_frames ? "(outside modules) 840\nNet 160\n"
				       : "(outside modules) 900\nlayers.0.attention 100\n"
					 "layers 0\nlayers.0 0\n");
	}
}

/* Kernels of a graph in the modules that they are annotated with; a replay calls each once. */
TEST(kernel_annotations)
{
	struct test_trace *t = new_trace();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	add_module(t, "Net_0", MAIN, 90, 250);
	test_call(t, "cudaGraphLaunch", MAIN, 100, 10, 1);
	test_device_args(t, "kernel", "k", 0, 7, 200, 50, 1, "\"module_fqn\": \"layers.0.wq\"");
	test_device_args(t, "kernel", "k", 0, 7, 260, 50, 1, "\"module_fqn\": \"layers.0.wq\"");
	test_device_args(t, "kernel", "k", 0, 7, 320, 50, 1, "\"component\": \"layers.1.wq\"");
	test_device_args(t, "kernel", "k", 0, 7, 380, 5, 1, "\"module_fqn\": \"['a', 'b']\"");
	struct analyzed *a = analyze(t);
	check_facts(a, "modules: source module_count outside_ns", "frames, kernel annotations 6 0");
	check_table(a, "modules.by_module: name example self_device_ns device_ns call_count",
		    "layers.*.wq layers.0.wq 150 150 2\n"
		    "Net Net_0 5 5 1\n"
		    "(outside modules) - 0 0 -\n"
		    "layers layers 0 150 1\n"
		    "layers.* layers.0 0 150 2\n");
}

#define STACK(path, line, function)                                                                \
	"\"  File \\\"" path "\\\", line " line ", in " function "\\n    x = y\\n    ^^^^^\\n"
#define INNER(path, line, function)                                                                \
	"  File \\\"" path "\\\", line " line ", in " function "\\n    y = z"

/*
 * Compiled kernels with the stacks of the operators in them, as torch._inductor.profiler writes
 * them: the innermost of the user's functions, if it is that of all. Else where it was launched.
 */
TEST(stacks_of_compiled_kernels)
{
	static const char *const stacks[] = {
		"\"stack\": [" STACK("/job/t.py", "3", "main")
			INNER("/job/net.py", "7", "forward") "\", " STACK("/job/net.py", "9",
									  "forward") "\"]",
		"\"stack\": [" STACK("/job/net.py", "7", "forward")
			INNER("/usr/lib/python3/site-packages/torch/nn/f.py", "2", "gelu") "\"]",
		"\"stack\": [" STACK("/job/net.py", "7",
				     "forward") "\", " STACK("/job/loss.py", "7", "forward") "\"]",
		"\"stack\": [" STACK("/job/net.py", "7", "forward") "\", \"x\"]",
		"\"stack\": [\"File in\", 3]",
		"\"stack\": []",
	};
	struct test_trace *t = new_trace();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	test_span(t, "python_function", "train.py(1): step", MAIN, 50, 900);
	for (size_t i = 0; i < TSI_COUNT_OF(stacks); i++) {
		test_call(t, "cuLaunchKernel", MAIN, 100 + 20 * (int64_t)i, 10, 1 + i);
		test_device_args(t, "kernel", "triton_poi_fused_add_0", 0, 7,
				 2000 + 200 * (int64_t)i, 1 << i, 1 + i, stacks[i]);
	}
	struct analyzed *a = analyze(t);
	check_table(a, "sources.by_function: name device_ns kernel_count",
		    "train.py(1): step 60 4\n"
		    "/job/net.py(7): forward 3 2\n"
		    "(outside the user's code) 0 0\n");
	check_table(a, "kernels.by_name: name source",
		    "triton_poi_fused_add_0 train.py(1): step\n");
}

/* Where no frames name functions, the lines in operators' call stacks are the user's code. */
TEST(call_stacks)
{
	struct test_trace *t = new_trace();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	add_op_at(t, MAIN, 100, "{\"Call stack\": \"torch/a.py(3): f;net.py(7): forward\"}");
	add_op_at(t, MAIN, 200, "{\"Call stack\": \"net.py(9): forward;t.py(1): main\"}");
	struct analyzed *a = analyze(t);
	check_facts(a, "sources: function_count device_ns outside_ns", "2 200 0");
	check_table(a, "sources.by_function: name host_ns device_ns",
		    "net.py(7): forward 20 100\n"
		    "net.py(9): forward 20 100\n"
		    "(outside the user's code) 1260 0\n");
}

static void add_memory_event(struct test_trace *t, const char *name, const char *tid, int64_t at_ns,
			     const char *args)
{
	test_event(t, &(struct raw_event){ .phase = 'i',
					   .has_ts = true,
					   .ts_ns = at_ns,
					   .name = tsi_str_of(name),
					   .cat = TSI_STR("cpu_instant_event"),
					   .pid = TSI_STR("100"),
					   .tid = tsi_str_of(tid),
					   .args = tsi_str_of(args) });
}

static void add_memory(struct test_trace *t, const char *tid, int64_t at_ns, int device, int total)
{
	char args[160];

	snprintf(args, sizeof(args),
		 "{\"Total Reserved\": 4096, \"Total Allocated\": %d, \"Bytes\": 1, \"Device Id\": "
		 "%d, "
		 "\"Device Type\": 1}",
		 total, device);
	add_memory_event(t, "[memory]", tid, at_ns, args);
}

/* A block that comes, or goes (bytes below 0), on the main thread. */
static void add_block(struct test_trace *t, int64_t at_ns, int address, int bytes, int total)
{
	char args[160];

	snprintf(args, sizeof(args),
		 "{\"Total Allocated\": %d, \"Bytes\": %d, \"Addr\": %d, \"Device Id\": 0, "
		 "\"Device Type\": 1}",
		 total, bytes, address);
	add_memory_event(t, "[memory]", "1", at_ns, args);
}

/*
 * Blocks by who asked for them: the total grows by 100 and 50 in Linear, by 7 in Net, by 30 in no
 * module, on another thread by 9. What comes back, the first total of a device, and what a thread
 * without rows asks for are no module's.
 */
TEST(allocations)
{
	struct test_trace *t = new_trace();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	add_module(t, "Net_0", MAIN, 10, 500);
	add_module(t, "Linear_0", MAIN, 100, 300);
	test_op(t, "aten::mm", AUTOGRAD, 600, 20);
	add_memory(t, "1", 110, 0, 1000);
	add_memory(t, "1", 120, 0, 1100);
	add_memory(t, "1", 130, 0, 1150);
	add_memory(t, "1", 140, 1, 5000);
	add_memory(t, "1", 400, 0, 1157);
	add_memory(t, "1", 450, 0, 900);
	add_memory(t, "2", 610, 0, 909);
	add_memory(t, "77", 650, 0, 939);
	add_memory(t, "1", 2000, 0, 2000);
	struct analyzed *a = analyze(t);
	check_table(a,
		    "modules.by_module: name self_allocated_bytes allocated_bytes allocation_count",
		    "(outside modules) 39 39 2\n"
		    "Net 7 157 3\n"
		    "Net.Linear 150 150 2\n");
}

/*
 * At 400 most is allocated, 1800: 1000 - 60 from before the recording, 500 of Linear, of which 300
 * lie where a block of Net did, 200 of Net, 160 outside. What failed is no block. Later there is
 * more, but not in a step that counts.
 */
static struct test_trace *blocks_with_addresses(void)
{
	struct test_trace *t = new_trace();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	add_module(t, "Net_0", MAIN, 10, 500);
	add_module(t, "Linear_0", MAIN, 100, 300);
	add_block(t, 5, 9000, 160, 1160);
	add_block(t, 20, 100, 50, 1210);
	add_block(t, 30, 7000, -60, 1150);
	add_block(t, 40, 100, -50, 1100);
	add_block(t, 110, 100, 300, 1400);
	add_block(t, 120, 200, 200, 1600);
	add_block(t, 130, 300, 70, 1670);
	add_memory_event(t, "[OutOfMemory]", "1", 140,
			 "{\"Total Allocated\": 1670, \"Bytes\": 9999, \"Device Id\": 0, "
			 "\"Device Type\": 1}");
	add_block(t, 310, 300, -70, 1600);
	add_block(t, 400, 400, 200, 1800);
	add_block(t, 410, 200, -200, 1600);
	return t;
}

TEST(live_at_the_peak)
{
	struct test_trace *t = blocks_with_addresses();

	add_block(t, 5000, 600, 9000, 10600);
	struct analyzed *a = analyze(t);
	check_facts(a, "modules: peak_bytes peak_outside_bytes peak_unrecorded_bytes",
		    "1800 160 940");
	check_table(a, "modules.by_module: name self_peak_bytes peak_bytes peak_share_ratio",
		    "(outside modules) 160 160 0.0888889\n"
		    "Net 200 700 0.388889\n"
		    "Net.Linear 500 500 0.277778\n");
}

/* A block without an address, or more in blocks than there was: nobody knows what lived. */
TEST(unknown_at_the_peak)
{
	for (int is_short = 0; is_short < 2; is_short++) {
		struct test_trace *t = blocks_with_addresses();
		if (is_short)
			add_block(t, 7, 9500, 1000, 1160);
		else
			add_memory(t, "1", 50, 0, 1150);
		struct analyzed *a = analyze(t);
		check_facts(a, "modules: peak_bytes peak_outside_bytes peak_unrecorded_bytes",
			    "- - -");
	}
}

/* The durations of the same kernels, which sum to 761 ns. */
TEST(stacks_for_flame_graphs)
{
	struct analyzed *a = analyze(two_blocks());
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(tscope_analysis_write_stacks(out, a->analysis, TSCOPE_STACKS_TIME, NULL),
			 TSCOPE_OK);
	fclose(out);
	assert_string_equal(text, "(outside modules);aten::mse_loss;k 5\n"
				  "(outside modules);backward;" NODE ";k 16\n"
				  "Net_0;Block_0;Linear_0;aten::mm;k 50\n"
				  "Net_0;Block_0;Linear_1;aten::mm;k 60\n"
				  "Net_0;Block_0;Linear_1;backward;" NODE ";k 120\n"
				  "Net_0;Block_1;Linear_2;aten::mm;k 50\n"
				  "Net_0;Block_1;Linear_2;backward;aten::mm;k 50\n"
				  "Net_0;Block_1;Linear_2;backward;" NODE ";k 100\n"
				  "Net_0;Block_1;Linear_3;aten::mm;k 200\n"
				  "Net_0;Block_1;Linear_3;backward;" NODE ";k 100\n"
				  "Net_0;aten::add;k 10\n");
	free(text);
}

/* Without device work the threads' time, by module, function and operator: Net 490 of 1000 ns. */
TEST(stacks_without_devices)
{
	struct test_trace *t = new_trace();
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	test_span(t, "python_function", "train.py(3): a;b", MAIN, 0, 700);
	add_module(t, "Net_0", MAIN, 10, 500);
	test_op(t, "aten::mm", MAIN, 20, 20);
	struct analyzed *a = analyze(t);
	assert_int_equal(tscope_analysis_write_stacks(out, a->analysis, TSCOPE_STACKS_TIME, NULL),
			 TSCOPE_OK);
	fclose(out);
	assert_string_equal(text, "(outside modules);train.py(3): a:b 210\n"
				  "Net_0;train.py(3): a:b 470\n"
				  "Net_0;train.py(3): a:b;aten::mm 20\n");
	free(text);
}

TEST(no_modules)
{
	struct test_trace *t = new_trace();

	test_op(t, "aten::mm", MAIN, 0, 100);
	struct analyzed *a = analyze(t);
	check_facts(a, "modules: module_count device_ns host_ns", "- - -");
	check_table(a, "modules.by_module: name", "");
	t = new_trace();
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	a = analyze(t);
	struct tscope_error err;
	assert_int_equal(
		tscope_analysis_write_stacks(stderr, a->analysis, TSCOPE_STACKS_TIME, &err),
		TSCOPE_E_FORMAT);
	assert_string_equal(err.message,
			    "neither device work nor operators: nothing for a flame graph");
	assert_int_equal(
		tscope_analysis_write_stacks(stderr, a->analysis, TSCOPE_STACKS_BYTES, &err),
		TSCOPE_E_FORMAT);
}

/* Computed when they are asked for, figures are the same; where that failed, it is said. */
TEST(on_demand)
{
	struct test_trace *t = new_trace();

	add_module(t, "Net_0", MAIN, 10, 500);
	add_work(t, "aten::mm", MAIN, 20, 20, 7, 100);
	struct analyzed *a = analyze(t);
	check_facts(a, "modules: module_count device_ns", "1 100");
	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		static const struct tscope_analysis_options options = { .on_demand = true };

		tscope_analysis_free(a->analysis);
		assert_int_equal(
			tscope_analyze(&a->analysis, a->trace, a->timeline, &options, NULL),
			TSCOPE_OK);
		alloc_sweep_start(&sweep);
		(void)tscope_analysis_has(a->analysis, tscope_analyzer_find("modules"),
					  TSCOPE_WHOLE_TRACE);
		alloc_sweep_check(&sweep, tsi_analysis_status(a->analysis, &sweep.err));
		if (!sweep.has_failed)
			continue;
		assert_int_equal(tsi_analysis_complete(a->analysis, NULL), TSCOPE_E_NOMEM);
		assert_int_equal(
			tscope_analysis_write_stacks(stderr, a->analysis, TSCOPE_STACKS_TIME, NULL),
			TSCOPE_E_NOMEM);
	}
	assert_int_equal(tsi_analysis_status(a->analysis, NULL), TSCOPE_OK);
	check_facts(a, "modules: module_count device_ns", "1 100");
}
