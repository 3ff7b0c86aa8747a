/* SPDX-License-Identifier: MIT */
/* EFFICIENCY.*: how much of the time is well spent. */
#include "rule_check.h"

#include "base/attributes.h"
#include "check.h"

#define ONE_RANK "one rank's trace cannot separate waiting for slower ranks from transfer"
#define TOP(line, ratio)                                                                           \
	"step_time.mean_ns 100000000\n"                                                            \
	"efficiency.top_recoverable " line "\n"                                                    \
	"efficiency.top_recoverable_ratio " ratio "\n"
#define MFU(ratio) "efficiency.mfu " ratio "\n"
#define LOWER_BOUND                                                                                \
	"efficiency.mfu_is_lower_bound yes\n"                                                      \
	"! efficiency.mfu a lower bound: half is known\n"                                          \
	"! efficiency.mfu_uncapped a lower bound: half is known\n"

/* Two steps of 100 ms, which all of the devices' time is of. */
#define SPAN "device_busy.span_ns 200000000\n"
/* In 60 ms are 10 calls, one of which repeats forward work; half of what is lost is in a step. */
#define OPERATOR(name, shape, lost_ms, ratio)                                                      \
	"flops.by_operator name=" name " shape='" shape                                            \
	"' precision=bf16 count=10 count_per_step=5 "                                              \
	"repeated_count=1 device_ns=60000000 lost_ns=" lost_ms "000000 roofline_ratio=" ratio "\n"
#define MM "8192x4096, 4096x1024"

/* Above the peak by a factor: so many FLOPs in a step of 1 s on a device of 1 PFLOP/s. */
#define MFU_IS(uncapped)                                                                           \
	"efficiency.wall_ns 2000000000\nefficiency.mean_wall_ns 1000000000\n"                      \
	"efficiency.mfu_uncapped " uncapped "\n"
#define SOURCES(flops, peak)                                                                       \
	"efficiency.flops_per_step 4e15\nefficiency.peak_flops 1e15\n"                             \
	"efficiency.flops_source " flops "\nefficiency.peak_source " peak "\n"                     \
	"efficiency.device H100 SXM5\nefficiency.precision bf16\n"
#define WRONG "high: FLOPs or peak are wrong: together they give an MFU of "

/* What the job logged, what its files give, and how many times the one is the other. */
#define LOGGED(logged, ours, factor)                                                               \
	"logged_efficiency.logged_mfu_ratio " logged "\n"                                          \
	"logged_efficiency.mfu_ratio " ours "\n"                                                   \
	"logged_efficiency.mfu_factor " factor "\n"

static const struct rule_case cases[] = {
	{ "EFFICIENCY.LOW_MFU", FIRES,
	  TOP("compute_overhead", "0.35")
		  MFU("0.25") "efficiency.lines line=useful_compute ratio=0.25 recoverable=no\n"
			      "efficiency.lines line=compute_overhead ratio=0.35 recoverable=yes\n"
			      "efficiency.lines line=data_stall ratio=0.30 recoverable=yes\n"
			      "efficiency.lines line=communication ratio=0.096 recoverable=yes\n"
			      "efficiency.lines line=other ratio=0.004 recoverable=yes\n",
	  NULL,
	  "high: the model uses 25.0 % of the device's peak FLOPs (MFU) (35 % compute overhead "
	  "(kernels below peak); 30 % waiting for data; 10 % communication) [35000000 ns]" },
	{ "EFFICIENCY.LOW_MFU", FIRES, TOP("other", "0.2") MFU("0.4"), NULL,
	  "med: the model uses 40.0 % of the device's peak FLOPs (MFU)" },
	{ "EFFICIENCY.LOW_MFU", QUIET, TOP("data_stall", "0.4") MFU("0.6"), NULL, "" },
	/* Below 0.50, not at it. */
	{ "EFFICIENCY.LOW_MFU", AT, TOP("data_stall", "0.2") MFU("0.5"), NULL, "" },
	{ "EFFICIENCY.LOW_MFU", AT, TOP("data_stall", "0.2") MFU("0.4999"), NULL,
	  "med: the model" },
	{ "EFFICIENCY.LOW_MFU", AT, TOP("data_stall", "0.2") MFU("0.3"), NULL, "med: the model" },
	{ "EFFICIENCY.LOW_MFU", AT, TOP("data_stall", "0.2") MFU("0.2999"), NULL,
	  "high: the model" },
	{ "EFFICIENCY.LOW_MFU", AT, TOP("data_stall", "0.1") MFU("0.4"), NULL, "med: the model" },
	{ "EFFICIENCY.LOW_MFU", AT, TOP("data_stall", "0.0999") MFU("0.4"), NULL, "" },
	{ "EFFICIENCY.LOW_MFU", CHANGED, TOP("data_stall", "0.2") MFU("0.4"),
	  "EFFICIENCY.LOW_MFU.threshold=0.35", "" },
	{ "EFFICIENCY.LOW_MFU", CHANGED, TOP("data_stall", "0.2") MFU("0.4"),
	  "EFFICIENCY.LOW_MFU.high=0.45", "high: the model" },
	{ "EFFICIENCY.LOW_MFU", CHANGED, TOP("data_stall", "0.2") MFU("0.4"),
	  "EFFICIENCY.LOW_MFU.line=0.25", "" },
	/* A decode that the memory bounds does few FLOPs however well it runs. */
	{ "EFFICIENCY.LOW_MFU", SKIPPED,
	  TOP("data_stall", "0.2") MFU("0.01") "inference.decode.bound memory\n"
					       "inference.decode.time_ratio 0.5\n",
	  NULL,
	  "skipped: memory bandwidth bounds the engine's iterations: the MFU does not measure "
	  "them" },
	{ "EFFICIENCY.LOW_MFU", AT,
	  TOP("data_stall", "0.2") MFU("0.01") "inference.decode.bound memory\n"
					       "inference.decode.time_ratio 0.49\n",
	  NULL, "high: the model" },
	{ "EFFICIENCY.LOW_MFU", FIRES,
	  TOP("data_stall", "0.2") MFU("0.01") "inference.decode.bound compute\n"
					       "inference.decode.time_ratio 0.9\n",
	  NULL, "high: the model" },
	{ "EFFICIENCY.LOW_MFU", SKIPPED, TOP("data_stall", "0.2"), NULL,
	  "skipped: no efficiency.mfu: it needs steps with phases, and for mfu their FLOPs and the "
	  "peak of the device" },
	{ "EFFICIENCY.LOW_MFU", SKIPPED,
	  TOP("data_stall", "0.2") "! efficiency.mfu nothing says which device it is\n", NULL,
	  "skipped: no efficiency.mfu: nothing says which device it is" },
	/* However low: the rest of the FLOPs may be there. */
	{ "EFFICIENCY.LOW_MFU", SKIPPED, TOP("data_stall", "0.2") MFU("0.01") LOWER_BOUND, NULL,
	  "skipped: efficiency.mfu is not reliable: a lower bound: half is known" },
	/* Three operators at most, and none that loses less than 1 of 200 ms. */
	{ "EFFICIENCY.LOW_MFU", FIRES,
	  TOP("compute_overhead", "0.3") MFU("0.4") SPAN OPERATOR("aten::mm", MM, "40", "0.33")
		  OPERATOR("aten::bmm", "", "30", "0.5") OPERATOR("aten::mv", MM, "1", "0.98")
			  OPERATOR("aten::dot", MM, "1", "0.98"),
	  NULL,
	  "med: the model uses 40.0 % of the device's peak FLOPs (MFU) (aten::mm 8192x4096, "
	  "4096x1024 bf16 loses 20.00 ms per step at 33 % of its roofline; aten::bmm bf16 loses "
	  "15.00 ms per step at 50 % of its roofline; aten::mv 8192x4096, 4096x1024 bf16 loses "
	  "500.0 µs per step at 98 % of its roofline) [30000000 ns]" },
	{ "EFFICIENCY.LOW_MFU", FIRES,
	  TOP("compute_overhead", "0.3") MFU("0.4") SPAN
	  "flops.by_operator name=aten::mm lost_ns=999999 roofline_ratio=0.9\n",
	  NULL, "med: the model uses 40.0 % of the device's peak FLOPs (MFU) [30000000 ns]" },
	/* A tenth of the calls of two operators of 60 ms in two steps: 6 ms a step. */
	{ "EFFICIENCY.LOW_MFU", FIRES,
	  TOP("compute_overhead", "0.3") MFU("0.4") "efficiency.hfu 0.5\n" SPAN OPERATOR(
		  "aten::mm", MM, "0", "1") OPERATOR("aten::bmm", MM, "0", "1"),
	  NULL,
	  "med: the model uses 40.0 % of the device's peak FLOPs (MFU) (50.0 % including "
	  "activation recomputation (HFU), which takes 6.000 ms per step) [30000000 ns]" },
	/* --model knows of it, and no operator tells what it takes. */
	{ "EFFICIENCY.LOW_MFU", FIRES,
	  TOP("compute_overhead", "0.3") MFU("0.4") "efficiency.hfu 0.5\n", NULL,
	  "med: the model uses 40.0 % of the device's peak FLOPs (MFU) (50.0 % including "
	  "recomputation (HFU)) [30000000 ns]" },
	{ "EFFICIENCY.LOW_MFU", FIRES,
	  TOP("compute_overhead", "0.3") MFU("0.4") "efficiency.hfu 0.404\n", NULL,
	  "med: the model uses 40.0 % of the device's peak FLOPs (MFU) [30000000 ns]" },
	{ "EFFICIENCY.RECOVERABLE", FIRES, TOP("communication", "0.5"), NULL,
	  "high: 50.0 % of the step goes to communication (" ONE_RANK ") [50000000 ns]" },
	/* What has no phase may be the trainer's callbacks; other lines are not. */
	{ "EFFICIENCY.RECOVERABLE", FIRES, TOP("other", "0.5") "callbacks.step_ratio 0.4\n", NULL,
	  "med: 50.0 % of the step goes to code outside marked phases (callbacks and algorithms "
	  "take 40 % of the step)" },
	{ "EFFICIENCY.RECOVERABLE", FIRES, TOP("other", "0.5") "callbacks.step_ratio 0.04\n", NULL,
	  "med: 50.0 % of the step goes to code outside marked phases" },
	{ "EFFICIENCY.RECOVERABLE", FIRES, TOP("communication", "0.5") "callbacks.step_ratio 0.4\n",
	  NULL, "high: 50.0 % of the step goes to communication (" ONE_RANK ") [50000000 ns]" },
	/* Step records: a quarter of it is more than the rank with the least communication has. */
	{ "EFFICIENCY.RECOVERABLE", FIRES,
	  TOP("communication", "0.4") "distributed.mean_comm_fraction 0.8\n"
				      "distributed.mean_transfer_fraction 0.6\n",
	  NULL,
	  "med: 30.0 % of the step goes to transfer between ranks (waiting for slower ranks takes "
	  "another 10.0 % of the step (25 % of communication)) [30000000 ns]" },
	/* Of it 30 of 100 are no wait for slower ranks. */
	{ "EFFICIENCY.RECOVERABLE", FIRES,
	  TOP("communication", "0.5") "budget.wall_total_ns 100\nbudget.exposed_wait_total_ns 20\n"
				      "budget.exposed_transfer_total_ns 10\n"
				      "budget.exposed_unsplit_total_ns 20\n",
	  NULL,
	  "med: 30.0 % of the step goes to transfer between ranks (waiting for slower ranks takes "
	  "another 20.0 % of the step (40 % of communication)) [30000000 ns]" },
	/* Of 90 of 100 only 19 are. */
	{ "EFFICIENCY.RECOVERABLE", AT,
	  TOP("communication", "0.9") "budget.wall_total_ns 100\nbudget.exposed_wait_total_ns 71\n"
				      "budget.exposed_transfer_total_ns 10\n"
				      "budget.exposed_unsplit_total_ns 9\n",
	  NULL, "" },
	{ "EFFICIENCY.RECOVERABLE", QUIET, TOP("communication", "0.1"), NULL, "" },
	/* EFFICIENCY.LOW_MFU tells it. */
	{ "EFFICIENCY.RECOVERABLE", QUIET, TOP("communication", "0.5") MFU("0.2"), NULL, "" },
	{ "EFFICIENCY.RECOVERABLE", QUIET,
	  TOP("communication", "0.5") MFU("0.2") "efficiency.mfu_is_lower_bound no\n", NULL, "" },
	/* A lower bound says too little to judge the same lines by. */
	{ "EFFICIENCY.RECOVERABLE", FIRES, TOP("communication", "0.5") MFU("0.2") LOWER_BOUND, NULL,
	  "high: 50.0 % of the step goes to communication (the MFU is at least 20.0 %; " ONE_RANK
	  ") [50000000 ns]" },
	/* Where a trace was read, the largest cause of idle time is what can be won. */
	{ "EFFICIENCY.RECOVERABLE", FIRES,
	  TOP("other", "0.3") "budget.wall_total_ns 10\nbudget.device_gap_total_ns "
			      "0\nidle.launch_call_ns 20000000\n"
			      "idle.python_ns 9000000\n",
	  NULL,
	  "med: 30.0 % of the step goes to time in which the device neither computes nor "
	  "communicates [20000000 ns]" },
	{ "EFFICIENCY.RECOVERABLE", FIRES, TOP("other", "0.999"), NULL,
	  "med: 99.9 % of the step goes to code outside marked phases" },
	{ "EFFICIENCY.RECOVERABLE", SKIPPED, TOP("other", "1"), NULL,
	  "skipped: no part of the step is in a known phase" },
	{ "EFFICIENCY.RECOVERABLE", FIRES, TOP("data_stall", "1"), NULL,
	  "high: 100.0 % of the step goes to waiting for data [100000000 ns]" },
	{ "EFFICIENCY.RECOVERABLE", AT, TOP("other", "0.2"), NULL,
	  "low: 20.0 % of the step goes to code outside marked phases" },
	{ "EFFICIENCY.RECOVERABLE", AT, TOP("other", "0.1999"), NULL, "" },
	{ "EFFICIENCY.RECOVERABLE", AT, TOP("other", "0.35"), NULL, "med: 35.0 %" },
	{ "EFFICIENCY.RECOVERABLE", AT, TOP("other", "0.3499"), NULL, "low: 35.0 %" },
	{ "EFFICIENCY.RECOVERABLE", CHANGED, TOP("other", "0.2"),
	  "EFFICIENCY.RECOVERABLE.threshold=0.25", "" },
	{ "EFFICIENCY.RECOVERABLE", SKIPPED, MFU("0.2"), NULL,
	  "skipped: no efficiency.top_recoverable_ratio: it needs steps with phases, and for mfu "
	  "their FLOPs and the peak of the device" },

	{ "EFFICIENCY.IMPOSSIBLE_MFU", FIRES, MFU_IS("4.04"), NULL, WRONG "404 %" },
	{ "EFFICIENCY.IMPOSSIBLE_MFU", FIRES, MFU_IS("4") SOURCES("run.json", "option"), NULL,
	  WRONG "400 % (run.json says 4000 TFLOP in a step of 1.000 s; --peak-tflops says 1000 "
		"TFLOP/s)" },
	{ "EFFICIENCY.IMPOSSIBLE_MFU", FIRES, MFU_IS("4") SOURCES("operators", "device"), NULL,
	  WRONG "400 % (the shapes of operators say 4000 TFLOP in a step of 1.000 s; the table of "
		"devices says 1000 TFLOP/s; that is H100 SXM5 at bf16, dense)" },
	{ "EFFICIENCY.IMPOSSIBLE_MFU", FIRES, MFU_IS("4") SOURCES("model", "run.json"), NULL,
	  WRONG
	  "400 % (--model says 4000 TFLOP in a step of 1.000 s; run.json says 1000 TFLOP/s)" },
	{ "EFFICIENCY.IMPOSSIBLE_MFU", FIRES, MFU_IS("4") SOURCES("option", "device"), NULL,
	  WRONG "400 % (--flops-per-step says 4000 TFLOP" },
	/* Too much although it is not all. */
	{ "EFFICIENCY.IMPOSSIBLE_MFU", FIRES, MFU_IS("1.2") MFU("1") LOWER_BOUND, NULL,
	  WRONG "at least 120 %" },
	{ "EFFICIENCY.IMPOSSIBLE_MFU", QUIET, MFU_IS("0.45"), NULL, "" },
	{ "EFFICIENCY.IMPOSSIBLE_MFU", AT, MFU_IS("1"), NULL, "" },
	{ "EFFICIENCY.IMPOSSIBLE_MFU", AT, MFU_IS("1.000001"), NULL, "high" },
	{ "EFFICIENCY.IMPOSSIBLE_MFU", CHANGED, MFU_IS("1.2"),
	  "EFFICIENCY.IMPOSSIBLE_MFU.threshold=1.25", "" },
	{ "EFFICIENCY.IMPOSSIBLE_MFU", SKIPPED,
	  "efficiency.wall_ns 1\n! efficiency.mfu_uncapped no operator says its FLOPs\n", NULL,
	  "skipped: no efficiency.mfu_uncapped: no operator says its FLOPs" },
	/* Where times cannot be believed neither can what they divide. */
	{ "EFFICIENCY.IMPOSSIBLE_MFU", SKIPPED, MFU_IS("4") "! efficiency clocks differ\n", NULL,
	  "skipped: efficiency.wall_ns is not reliable: clocks differ" },
	/* The job's own MFU */
	{ "EFFICIENCY.MFU_DISAGREES", FIRES,
	  LOGGED("0.2", "0.4", "2") "logged_efficiency.explanation it takes another peak\n", NULL,
	  "low: the job logged an MFU of 20.0 %, its files give 40.0 % (it takes another peak)" },
	{ "EFFICIENCY.MFU_DISAGREES", FIRES, LOGGED("0.5", "0.4", "0.8"), NULL,
	  "low: the job logged an MFU of 50.0 %, its files give 40.0 %" },
	{ "EFFICIENCY.MFU_DISAGREES", QUIET, LOGGED("0.4", "0.4", "1"), NULL, "" },
	/* 1.2 times the other is as good as equal, in either direction. */
	{ "EFFICIENCY.MFU_DISAGREES", AT, LOGGED("0.4", "0.48", "1.2"), NULL, "" },
	{ "EFFICIENCY.MFU_DISAGREES", AT, LOGGED("0.4", "0.4804", "1.201"), NULL,
	  "low: the job logged an MFU of 40.0 %, its files give 48.0 %" },
	{ "EFFICIENCY.MFU_DISAGREES", AT, LOGGED("0.48", "0.4004", "0.8341"), NULL, "" },
	{ "EFFICIENCY.MFU_DISAGREES", AT, LOGGED("0.48", "0.3996", "0.8325"), NULL,
	  "low: the job logged an MFU of 48.0 %, its files give 40.0 %" },
	{ "EFFICIENCY.MFU_DISAGREES", CHANGED, LOGGED("0.2", "0.4", "2"),
	  "EFFICIENCY.MFU_DISAGREES.threshold=3", "" },
	{ "EFFICIENCY.MFU_DISAGREES", SKIPPED,
	  LOGGED("0.2", "0.4", "2") "! logged_efficiency.mfu_factor a lower bound\n", NULL,
	  "skipped: logged_efficiency.mfu_factor is not reliable: a lower bound" },
};

TEST(rules_say_what_they_should)
{
	check_rule_cases(cases, TSI_COUNT_OF(cases));
}

TEST(advice_fits_what_is_known)
{
	static const struct advice_case advised[] = {
		{ "EFFICIENCY.LOW_MFU", TOP("compute_overhead", "0.3") MFU("0.4"),
		  "--show kernels" },
		{ "EFFICIENCY.LOW_MFU",
		  TOP("compute_overhead", "0.3") MFU("0.4") OPERATOR("aten::mm", MM, "1", "0.9"),
		  "start with the operators that lose most (--show roofline): larger batches" },
		{ "EFFICIENCY.LOW_MFU",
		  "steps.workload inference\n" TOP("compute_overhead", "0.3") MFU("0.4")
			  OPERATOR("aten::mm", MM, "1", "0.9"),
		  "(--show roofline): more requests a batch" },
		{ "EFFICIENCY.LOW_MFU",
		  TOP("compute_overhead", "0.3") MFU("0.4")
			  OPERATOR("sdpa kind=attention", "", "5", "0.2")
				  OPERATOR("aten::mm", MM, "5", "0.9"),
		  "start with the attention kernel" },
		{ "EFFICIENCY.LOW_MFU",
		  TOP("compute_overhead", "0.3") MFU("0.4")
			  OPERATOR("sdpa kind=attention", "", "5", "0.2")
				  OPERATOR("aten::mm", MM, "6", "0.9"),
		  "start with the operators" },
		{ "EFFICIENCY.LOW_MFU",
		  "steps.workload inference\n" TOP("data_stall", "0.3") MFU("0.4"),
		  "prepare the next request" },
		{ "EFFICIENCY.LOW_MFU",
		  TOP("compute_overhead", "0.3") MFU("0.4") "efficiency.hfu 0.5\n",
		  "checkpoint no more activations than memory requires" },
		{ "EFFICIENCY.LOW_MFU", TOP("data_stall", "0.3") MFU("0.4") "efficiency.hfu 0.5\n",
		  "raise num_workers" },
		{ "EFFICIENCY.IMPOSSIBLE_MFU", MFU_IS("4"), "not of the whole job" },
		{ "EFFICIENCY.IMPOSSIBLE_MFU", MFU_IS("4") SOURCES("run.json", "run.json"),
		  "flops_per_step in run.json, or --flops-per-step); give the peak of one" },
		{ "EFFICIENCY.IMPOSSIBLE_MFU", MFU_IS("4") SOURCES("option", "device"),
		  "(--flops-per-step); if the device is not that of the table" },
		{ "EFFICIENCY.IMPOSSIBLE_MFU", MFU_IS("4") SOURCES("model", "option"),
		  "the devices that share it (devices=...); give the peak of one" },
		{ "EFFICIENCY.IMPOSSIBLE_MFU", MFU_IS("4") SOURCES("operators", "device"),
		  "these FLOPs did run" },
	};

	check_rule_advice(advised, TSI_COUNT_OF(advised));
}

/* Names and shapes of any length and form. */
TEST(operators_are_named_in_few_words)
{
#define NAMED(name, shape)                                                                         \
	TOP("compute_overhead", "0.3") MFU("0.4") SPAN OPERATOR(name, shape, "40", "0.33")
#define SAYS(words)                                                                                \
	"med: the model uses 40.0 % of the device's peak FLOPs (MFU) (" words                      \
	" bf16 loses 20.00 ms per step"
	static const struct rule_case named[] = {
		{ "EFFICIENCY.LOW_MFU", FIRES, NAMED("aten::addmm", "64, 8x16, 16x64"), NULL,
		  SAYS("aten::addmm 64, 8x16, 16x64") },
		{ "EFFICIENCY.LOW_MFU", FIRES, NAMED("f", ""), NULL, SAYS("f") },
		/* No half a letter. */
		{ "EFFICIENCY.LOW_MFU", FIRES,
		  NAMED("my_namespace::an_operator_with_a_name_of_some_le\xc3\xa4ngth", "8"), NULL,
		  SAYS("my_namespace::an_operator_with_a_name_of_some_l 8") },
		{ "EFFICIENCY.LOW_MFU", FIRES,
		  NAMED("my_namespace::an_operator_with_a_name_of_some\xc3\xa4ngth", "8"), NULL,
		  SAYS("my_namespace::an_operator_with_a_name_of_some\xc3\xa4 8") },
		{ "EFFICIENCY.LOW_MFU", FIRES,
		  NAMED("my_namespace::an_operator_with_a_name_of_some_\xc3\xa4ngth", "8"), NULL,
		  SAYS("my_namespace::an_operator_with_a_name_of_some_ 8") },
		/* As long as its room, which has the end of the string, too. */
		{ "EFFICIENCY.LOW_MFU", FIRES,
		  NAMED("my_namespace::an_operator_with_a_name_of_some_\xc3\xa4", "8"), NULL,
		  SAYS("my_namespace::an_operator_with_a_name_of_some_ 8") },
	};

	check_rule_cases(named, TSI_COUNT_OF(named));
}
