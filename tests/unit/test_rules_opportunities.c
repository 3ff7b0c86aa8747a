/* SPDX-License-Identifier: MIT */
/* Rules on what known remedies could win: fusing, launching less, bucketing. */
#include "rule_check.h"

#include "base/attributes.h"
#include "check.h"

/* Two steps of 100 ms on one device: n ms in all are n ÷ 200 of the step. */
#define STEPS                                                                                      \
	"step_time.mean_ns 100000000\n"                                                            \
	"opportunities.wall_total_ns 200000000\nopportunities.step_count 2\n"

/* So many gaps of so many ms in all, and the part of them that is the host's. */
#define GAPS(count, ms, host)                                                                      \
	STEPS "opportunities.short_gap_count " #count "\n"                                         \
	      "opportunities.short_gap_total_ns " #ms "000000\n"                                   \
	      "opportunities.short_gap_host_total_ns " #host "000000\n"

#define SCORES(ms, softmax)                                                                        \
	"attention.scores_total_ns " #ms "000000\nattention.softmax_total_ns " #softmax            \
	"000000\nbudget.wall_total_ns 200000000\n"
#define FUSIBLE(ms, saving)                                                                        \
	STEPS "opportunities.fusible_count 400\n"                                                  \
	      "opportunities.fusible_total_ns " #ms "000000\n"                                     \
	      "opportunities.fusible_saving_total_ns " #saving "000000\n"

#define LAYOUT(ms)                                                                                 \
	STEPS "opportunities.layout_count 40\nopportunities.layout_total_ns " #ms "000000\n"

#define COPIES(count, copy, gap)                                                                   \
	STEPS "opportunities.small_copy_count " #count "\n"                                        \
	      "opportunities.small_copy_total_ns " #copy "000000\n"                                \
	      "opportunities.small_copy_gap_total_ns " #gap "000000\n"

#define COLLECTIVES(count, ms)                                                                     \
	STEPS "opportunities.tiny_comm_count " #count "\n"                                         \
	      "opportunities.tiny_comm_exposed_total_ns " #ms "000000\n"

#define ATTENTION(ms, key_count)                                                                   \
	STEPS "budget.wall_total_ns 200000000\nattention.scores_total_ns " #ms "000000\n"          \
	      "attention.products_total_ns 8000000\nattention.softmax_count 24\n"                  \
	      "attention.heads 96\nattention.queries 1024\nattention.keys " #key_count "\n"

/* 8 ms, of which so many could be saved, and gaps, in two steps. */
#define OPTIMIZER(count, grouped, saving, gap)                                                     \
	STEPS "opportunities.optimizer_count " #count "\n"                                         \
	      "opportunities.optimizer_grouped_count " #grouped "\n"                               \
	      "opportunities.optimizer_total_ns 8000000\n"                                         \
	      "opportunities.optimizer_saving_total_ns " #saving "000000\n"                        \
	      "opportunities.optimizer_gap_total_ns " #gap "000000\n"

#define LAUNCHER(remedy, name, ms)                                                                 \
	"opportunities.by_operator remedy=" remedy " operator=" name " event=k count=1 ns=" #ms    \
	"000000 start_ns=5 longest_ns=7\n"

static const struct rule_case cases[] = {
	{ "KERNEL.SHORT", FIRES, GAPS(2000, 40, 30), NULL,
	  "med: 20.0 % of the step is idle between kernels shorter than 10 µs (1000 gaps per step, "
	  "20.0 µs on average; 75 % of this is before the launch call returns) [20000000 ns]" },
	/* The launches had returned. */
	{ "KERNEL.SHORT", FIRES, GAPS(2000, 30, 10), NULL,
	  "med: 15.0 % of the step is idle between kernels shorter than 10 µs (1000 gaps per step, "
	  "15.0 µs on average) [15000000 ns]" },
	{ "KERNEL.SHORT", FIRES, GAPS(2000, 30, 10) LAUNCHER("launch_less", "aten::mul", 6), NULL,
	  "med: 15.0 % of the step is idle between kernels shorter than 10 µs (1000 gaps per step, "
	  "15.0 µs on average; 3.000 ms per step before aten::mul) [15000000 ns]" },
	{ "KERNEL.SHORT", QUIET, GAPS(2000, 10, 0), NULL, "" },
	{ "KERNEL.SHORT", AT, GAPS(2000, 20, 0), NULL, "med" },
	{ "KERNEL.SHORT", AT, GAPS(2000, 19, 0), NULL, "" },
	{ "KERNEL.SHORT", AT, GAPS(2000, 60, 0), NULL, "high" },
	{ "KERNEL.SHORT", AT, GAPS(2000, 59, 0), NULL, "med" },
	{ "KERNEL.SHORT", CHANGED, GAPS(2000, 40, 30), "KERNEL.SHORT.threshold=0.21", "" },
	{ "KERNEL.SHORT", QUIET,
	  "opportunities.wall_total_ns 0\nopportunities.short_gap_total_ns 0\n", NULL, "" },

	{ "KERNEL.MEMORY_BOUND", FIRES,
	  FUSIBLE(100, 40) LAUNCHER("layout", "aten::other", 90) LAUNCHER("fuse", "aten::mul", 60)
		  LAUNCHER("fuse", "aten::add", 40),
	  NULL,
	  "med: memory-bound kernels (elementwise, copy, reduction) take 50.0 % of the step (200 "
	  "kernels of 10 µs or more per step; fusing consecutive ones could save 20.0 %; 30.00 ms "
	  "per step in aten::mul, 20.00 ms in aten::add) [20000000 ns]" },
	{ "KERNEL.MEMORY_BOUND", AT, FUSIBLE(60, 20), NULL, "med" },
	/* 100 ms less 25 ms on scores: 75 of 200 ms, of which fusing wins three quarters of 40 ms. */
	{ "KERNEL.MEMORY_BOUND", FIRES, FUSIBLE(100, 40) SCORES(35, 10), NULL,
	  "med: memory-bound kernels (elementwise, copy, reduction) take 37.5 % of the step" },
	{ "KERNEL.MEMORY_BOUND", QUIET, FUSIBLE(100, 40) SCORES(110, 10), NULL, "" },
	{ "KERNEL.MEMORY_BOUND", AT, FUSIBLE(59, 20), NULL, "" },
	/* Alone between products, each is as fast as it can be. */
	{ "KERNEL.MEMORY_BOUND", AT, FUSIBLE(100, 19), NULL, "" },
	{ "KERNEL.MEMORY_BOUND", QUIET, FUSIBLE(100, 0), NULL, "" },
	{ "KERNEL.MEMORY_BOUND", AT, FUSIBLE(100, 60), NULL, "high" },
	{ "KERNEL.MEMORY_BOUND", AT, FUSIBLE(100, 59), NULL, "med" },

	{ "KERNEL.LAYOUT", FIRES, LAYOUT(20) LAUNCHER("layout", "aten::cudnn_convolution", 20),
	  NULL,
	  "med: conversions between NCHW and NHWC take 10.0 % of the step (20 kernels per step; "
	  "10.00 ms per step in aten::cudnn_convolution) [10000000 ns]" },
	{ "KERNEL.LAYOUT", QUIET, LAYOUT(1), NULL, "" },
	{ "KERNEL.LAYOUT", AT, LAYOUT(10), NULL, "med" },
	{ "KERNEL.LAYOUT", AT, LAYOUT(9), NULL, "" },
	{ "KERNEL.LAYOUT", AT, LAYOUT(40), NULL, "high" },
	{ "KERNEL.LAYOUT", AT, LAYOUT(39), NULL, "med" },

	{ "COPY.SMALL", FIRES, COPIES(600, 2, 10) LAUNCHER("small_copy", "aten::copy_", 2), NULL,
	  "med: 300 small copies per step (64 KiB or less) and the gaps before them take 6.0 % of "
	  "the step (1.0 % "
	  "copying, "
	  "5.0 % idle gaps before the copies; 1.000 ms per step in aten::copy_) [6000000 ns]" },
	{ "COPY.SMALL", FIRES,
	  COPIES(600, 2, 10) LAUNCHER("small_copy", "aten::copy_", 2)
		  LAUNCHER("small_copy",
			   "aten::cat module=Block_3.Attention_3 "
			   "source='lib/model.py(41): forward'",
			   1),
	  NULL,
	  "med: 300 small copies per step (64 KiB or less) and the gaps before them take 6.0 % of "
	  "the step (1.0 % "
	  "copying, "
	  "5.0 % idle gaps before the copies; 1.000 ms per step in aten::copy_, 500.0 µs in "
	  "aten::cat; the longest aten::cat in Block_3.Attention_3, model.py(41): forward) "
	  "[6000000 "
	  "ns]" },
	{ "COPY.SMALL", QUIET, COPIES(8, 2, 10), NULL, "" },
	{ "COPY.SMALL", AT, COPIES(200, 2, 8), NULL, "med" },
	{ "COPY.SMALL", AT, COPIES(199, 2, 8), NULL, "" },
	{ "COPY.SMALL", AT, COPIES(200, 2, 7), NULL, "" },
	{ "COPY.SMALL", AT, COPIES(200, 10, 30), NULL, "high" },
	{ "COPY.SMALL", AT, COPIES(200, 10, 29), NULL, "med" },

	{ "DIST.TINY_COLLECTIVES", FIRES, COLLECTIVES(808, 28), NULL,
	  "med: 404 small collectives per step are exposed for 14.0 % of the step [14000000 "
	  "ns]" },
	{ "DIST.TINY_COLLECTIVES", QUIET, COLLECTIVES(8, 28), NULL, "" },
	{ "DIST.TINY_COLLECTIVES", AT, COLLECTIVES(100, 10), NULL, "med" },
	{ "DIST.TINY_COLLECTIVES", AT, COLLECTIVES(99, 10), NULL, "" },
	{ "DIST.TINY_COLLECTIVES", AT, COLLECTIVES(100, 9), NULL, "" },
	{ "DIST.TINY_COLLECTIVES", AT, COLLECTIVES(100, 60), NULL, "high" },
	{ "DIST.TINY_COLLECTIVES", AT, COLLECTIVES(100, 59), NULL, "med" },

	{ "KERNEL.UNFUSED_ATTENTION", FIRES, ATTENTION(20, 1024), NULL,
	  "med: softmax, masks and copies of unfused attention scores take 10.0 % of the step "
	  "(scores of 96x1024x1024; the products with queries, keys and values take a further 4.0 "
	  "%) [10000000 ns]" },
	{ "KERNEL.UNFUSED_ATTENTION", FIRES, ATTENTION(20, 83), NULL,
	  "med: softmax, masks and copies of unfused attention scores take 10.0 % of the step "
	  "(scores of 96x1024x83; the products with queries, keys and values take a further 4.0 %; "
	  "rows of 83 are not a multiple of 8, which slows these down) [10000000 ns]" },
	{ "KERNEL.UNFUSED_ATTENTION", QUIET, ATTENTION(2, 1024), NULL, "" },
	{ "KERNEL.UNFUSED_ATTENTION", AT, ATTENTION(10, 1024), NULL, "med" },
	{ "KERNEL.UNFUSED_ATTENTION", AT, ATTENTION(9, 1024), NULL, "" },
	{ "KERNEL.UNFUSED_ATTENTION", AT, ATTENTION(60, 1024), NULL, "high" },
	{ "KERNEL.UNFUSED_ATTENTION", AT, ATTENTION(59, 1024), NULL, "med" },

	/* 2 of 4 ms of the kernels can be saved in each step, and all gaps. */
	{ "KERNEL.OPTIMIZER", FIRES, OPTIMIZER(960, 0, 4, 4), NULL,
	  "low: the optimizer launches 480 kernels per step, one tensor at a time (they run for "
	  "4.0 % of the step; idle gaps before them take 2.0 %) [4000000 ns]" },
	/* zero_grad(set_to_none=False): 100 ÷ 2 of 480, and at the threshold. */
	{ "KERNEL.OPTIMIZER", FIRES,
	  OPTIMIZER(960, 0, 4, 4) "opportunities.by_operator remedy=optimizer "
				  "operator=aten::fill_ event=k count=100 ns=1000000\n",
	  NULL,
	  "low: the optimizer launches 480 kernels per step, one tensor at a time (they run for "
	  "4.0 % of the step; idle gaps before them take 2.0 %; 50 of them fill gradients with "
	  "zeros; 500.0 µs per step in aten::fill_) [4000000 ns]" },
	{ "KERNEL.OPTIMIZER", AT,
	  OPTIMIZER(1000, 0, 4, 4) "opportunities.by_operator remedy=optimizer "
				   "operator=aten::fill_ event=k count=99 ns=1000000\n",
	  NULL,
	  "low: the optimizer launches 500 kernels per step, one tensor at a time (they run for "
	  "4.0 % of the step; idle gaps before them take 2.0 %; 500.0 µs per step in aten::fill_) "
	  "[4000000 ns]" },
	/* Some update many tensors: it is foreach or fused. */
	{ "KERNEL.OPTIMIZER", QUIET, OPTIMIZER(960, 1, 4, 4), NULL, "" },
	{ "KERNEL.OPTIMIZER", AT, OPTIMIZER(200, 0, 3, 3), NULL, "low" },
	{ "KERNEL.OPTIMIZER", AT, OPTIMIZER(199, 0, 3, 3), NULL, "" },
	{ "KERNEL.OPTIMIZER", AT, OPTIMIZER(200, 0, 3, 2), NULL, "" },
	{ "KERNEL.OPTIMIZER", AT, OPTIMIZER(200, 0, 10, 10), NULL, "med" },
	{ "KERNEL.OPTIMIZER", AT, OPTIMIZER(200, 0, 10, 9), NULL, "low" },
};

TEST(outcomes)
{
	check_rule_cases(cases, TSI_COUNT_OF(cases));
}

/* Graphs that are replayed cost no launches; gradients may be dropped. */
TEST(advice_that_fits)
{
	static const struct advice_case advised[] = {
		{ "KERNEL.SHORT", GAPS(2000, 40, 0), "CUDA graph" },
		{ "KERNEL.SHORT",
		  GAPS(2000, 40, 0) "opportunities.short_gap_graph_total_ns 19000000\n",
		  "CUDA graph" },
		{ "KERNEL.SHORT",
		  GAPS(2000, 40, 0) "opportunities.short_gap_graph_total_ns 20000000\n",
		  "replayed already" },
		{ "KERNEL.OPTIMIZER", OPTIMIZER(960, 0, 4, 4), "torch.compile" },
		{ "KERNEL.OPTIMIZER",
		  OPTIMIZER(960, 0, 4, 4) "opportunities.by_operator remedy=optimizer "
					  "operator=aten::fill_ event=k count=100 ns=1000000\n",
		  "set_to_none=True" },
	};

	check_rule_advice(advised, TSI_COUNT_OF(advised));
}

/* 14 of the 20 ms of exposed communication are small collectives: the summary has the rest. */
TEST(a_summary_gets_what_others_leave)
{
	struct tscope_analysis *facts = fact_values(COLLECTIVES(
		808, 28) "overlap.exposed_comm_ratio 0.2\nbudget.wall_total_ns 200000000\n"
			 "budget.exposed_comm_total_ns 40000000\n");
	struct tscope_diagnosis *diagnosis;

	assert_int_equal(tscope_diagnose(&diagnosis, facts, NULL, NULL), TSCOPE_OK);
	assert_int_equal(tscope_diagnosis_finding_count(diagnosis), 2);
	struct tscope_finding small = tscope_diagnosis_finding(diagnosis, 0);
	struct tscope_finding all = tscope_diagnosis_finding(diagnosis, 1);
	assert_string_equal(small.rule->id, "DIST.TINY_COLLECTIVES");
	assert_int_equal(small.gain_ns, 14000000);
	assert_string_equal(all.rule->id, "DIST.EXPOSED_COMM");
	assert_int_equal(all.gain_ns, 6000000);
	tscope_diagnosis_free(diagnosis);
}
