/* SPDX-License-Identifier: MIT */
/* Operators against their rooflines, by hand: products of bf16 on an A100, and a sum. */
#include "analysis_check.h"

#include <math.h>
#include <string.h>

#include "check.h"

#define HALVES(count) "[\"c10::BFloat16\"" count "]"
#define A100                                                                                       \
	"[{\"id\": 0, \"name\": \"NVIDIA A100-SXM4-80GB\", \"numSms\": 108, "                      \
	"\"totalGlobalMem\": 85899345920}]"

/* A kernel that is launched at a time, in whatever operator is open then. */
static void launch(struct test_trace *t, const char *kernel, int64_t at_ns, int64_t dur_ns)
{
	static uint64_t correlation;

	test_call(t, "cudaLaunchKernel", 1, at_ns, 1, ++correlation);
	test_kernel(t, kernel, 0, 7, 100000 * at_ns, dur_ns, correlation);
}

/*
 * On an A100 (bf16 312 TFLOP/s, 2.039 TB/s):
 *
 * mm of [4096, 4096] twice, twice: 2 · 4096³ = 137438953472 FLOPs and 3 · 4096² · 2 =
 * 100663296 bytes a call. 137438953472 ÷ 312e12 = 440509.466 ns, 100663296 ÷ 2.039e12 =
 * 49368.953 ns: compute-bound, 881019 ns for two. They took 1000000 + 881 ns, 119862 of
 * them lost.
 *
 * mm of [16, 4096] and [4096, 4096]: 536870912 FLOPs, (16 · 4096 + 4096² + 16 · 4096) · 2 =
 * 33816576 bytes: 1720.740 against 16584.883 ns, bound by memory. It took 10000 ns, which the
 * cache can explain: none is lost.
 *
 * add of [4096, 4096]: 3 · 4096² · 2 = 100663296 bytes, 49368.953 ns. It took 60000: 10631 lost.
 */
static struct test_trace *three_operators(void)
{
	struct test_trace *t = test_trace_new();

	test_metadata(t, "deviceProperties", A100);
	for (int64_t i = 0; i < 2; i++) {
		test_op_inputs(t, "aten::mm", 1, 100 * i, 50, "[[4096, 4096], [4096, 4096]]",
			       HALVES(", \"c10::BFloat16\""), NULL);
		launch(t, "nvjet_tst", 100 * i + 10, 500000);
	}
	launch(t, "Memset", 120, 881);
	test_op_inputs(t, "aten::mm", 1, 200, 50, "[[16, 4096], [4096, 4096]]",
		       HALVES(", \"c10::BFloat16\""), NULL);
	launch(t, "nvjet_tst", 210, 10000);
	test_op_inputs(t, "aten::add", 1, 300, 50, "[[4096, 4096], [4096, 4096], []]",
		       HALVES(", \"c10::BFloat16\", \"Scalar\""), NULL);
	launch(t, "vectorized_elementwise_kernel", 310, 60000);
	return t;
}

TEST(operators_and_their_rooflines)
{
	struct analyzed *a = analyze(three_operators());

	check_table(
		a,
		"flops.by_operator: name inputs kind precision kernel tensor_cores alignment count",
		"aten::mm [[4096, 4096], [4096, 4096]] c10::BFloat16, c10::BFloat16 gemm bf16 "
		"nvjet_tst yes 16 2\n"
		"aten::add [[4096, 4096], [4096, 4096], []] c10::BFloat16, c10::BFloat16, Scalar "
		"elementwise - vectorized_elementwise_kernel - - 1\n"
		"aten::mm [[16, 4096], [4096, 4096]] c10::BFloat16, c10::BFloat16 gemm bf16 "
		"nvjet_tst yes 16 1\n");
	check_table(
		a,
		"flops.by_operator: device_ns flops bytes flops_per_second bytes_per_second "
		"intensity",
		/* 274877906944 ÷ 1000881 ns; 201326592 ÷ 1000881 ns; 4096³ · 2 ÷ (3 · 4096² · 2) */
		"1000881 2.74878e+11 201326592 2.74636e+14 2.01149e+11 1365.33\n"
		"60000 0 100663296 0 1.67772e+12 0\n"
		"10000 5.36871e+08 33816576 5.36871e+13 3.38166e+12 15.876\n");
	check_table(a, "flops.by_operator: bound roofline_ns roofline_ratio lost_ns repeated_count",
		    "compute 881019 0.880243 119862 0\n"
		    "memory 49369 0.822816 10631 0\n"
		    "memory 16585 1 0 0\n");
	/* 274877906944 + 536870912 in 1010881 ns of kernels, all of them known. */
	check_facts(a, "flops: total repeated coverage_ratio matrix_ns uncounted_ns lost_ns",
		    "2.75415e+11 0 1 1010881 0 130493");
	check_table(a,
		    "flops.by_precision: precision count device_ns flops share_ratio peak_flops "
		    "tensor_peak_flops",
		    "bf16 3 1010881 2.75415e+11 1 3.12e+14 3.12e+14\n");
	check_table(a, "flops.uncounted: kernel", "");
}

/*
 * Three steps, the first of which does not count as the profiler starts up in it: an mm of
 * [4096, 4096] in each and another in the last. In double they take 2 · 4096³ ÷ 19.5e12 =
 * 7048151.460 ns at best, four of them 28192606 ns, and 10 ms each: 11807394 are lost. Three of
 * the four calls are in the two steps that count: 1.5 a step, 11807394 ÷ 4 · 1.5 = 4427772.75.
 */
TEST(what_is_lost_in_a_step)
{
	struct test_trace *t = test_trace_new();

	test_metadata(t, "deviceProperties", A100);
	test_annotation(t, "ProfilerStep#1", 1, 0, 1000);
	test_span(t, "overhead", "CUPTI", 1, 1, 900);
	test_annotation(t, "ProfilerStep#2", 1, 1000, 1000);
	test_annotation(t, "ProfilerStep#3", 1, 2000, 200000000000);
	for (int64_t i = 0; i < 4; i++) {
		int64_t start_ns = i < 3 ? 1000 * i + 20 : 2500;

		test_op_inputs(t, "aten::mm", 1, start_ns, 50, "[[4096, 4096], [4096, 4096]]",
			       "[\"double\", \"double\"]", NULL);
		launch(t, "dgemm", start_ns + 10, 10000000);
	}
	struct analyzed *a = analyze(t);

	check_table(a, "steps.list: mark", "first\n\n\n");
	check_table(a, "flops.by_operator: shape count count_per_step lost_ns",
		    "4096x4096, 4096x4096 4 1.5 11807394\n");
	check_facts(a, "flops: lost_ns lost_per_step_ns", "11807394 4427773");
}

/* What a link limits has no roofline: that of the device's memory says nothing of it. */
TEST(copies_over_a_link)
{
	static const struct {
		const char *name, *roofline;
	} cases[] = {
		{ "Memcpy HtoD (Pageable -> Device)", "- -\n" },
		{ "Memcpy DtoH (Device -> Pinned)", "- -\n" },
		{ "Memcpy PtoP (Device -> Device)", "- -\n" },
		/* 2 · 4096² · 2 bytes ÷ 2.039e12: 32912.635 ns */
		{ "Memcpy DtoD (Device -> Device)", "32913 67087\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct test_trace *t = test_trace_new();

		test_metadata(t, "deviceProperties", A100);
		test_op_inputs(t, "aten::copy_", 1, 0, 50, "[[4096, 4096], [4096, 4096], []]",
			       HALVES(", \"c10::BFloat16\", \"Scalar\""), NULL);
		test_call(t, "cudaMemcpyAsync", 1, 10, 1, 1);
		test_memcpy(t, cases[i].name, 0, 7, 1000, 100000, 1, 33554432);
		struct analyzed *a = analyze(t);
		check_table(a, "flops.by_operator: device_ns", "100000\n");
		check_table(a, "flops.by_operator: roofline_ns lost_ns", cases[i].roofline);
	}
}

/* Where the table does not know the device its compute capability tells. */
TEST(tensor_cores_of_the_device)
{
	static const struct {
		const char *properties, *flags; /* tensor cores, TF32, bfloat16 */
	} cases[] = {
		{ A100, "yes yes yes" },
		{ "[{\"id\": 0, \"name\": \"Tesla V100-SXM2-16GB\"}]", "yes no no" },
		{ "[{\"id\": 0, \"name\": \"Tesla P100-SXM2-16GB\", \"computeMajor\": 6}]",
		  "no - -" },
		{ "[{\"id\": 0, \"name\": \"NVIDIA X9\", \"computeMajor\": 7}]", "yes no no" },
		{ "[{\"id\": 0, \"name\": \"NVIDIA X9\", \"computeMajor\": 8}]", "yes yes yes" },
		{ "[{\"id\": 0, \"name\": \"NVIDIA X9\"}]", "- - -" },
		{ "[]", "- - -" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct test_trace *t = test_trace_new();

		test_metadata(t, "deviceProperties", cases[i].properties);
		test_op(t, "aten::mm", 1, 0, 50);
		launch(t, "k", 10, 100);
		struct analyzed *a = analyze(t);
		check_facts(a, "flops: has_tensor_cores has_tf32 has_bf16", cases[i].flags);
	}
}

/* Operators whose shapes are not recorded have FLOPs, but nobody knows them: not 0. */
TEST(without_shapes)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "aten::mm", 1, 0, 50);
	launch(t, "ampere_sgemm_128x64_tn", 10, 100);
	struct analyzed *a = analyze(t);

	check_facts(a, "flops: total repeated coverage_ratio matrix_ns uncounted_ns",
		    "- - 0 100 100");
	check_table(a, "flops.uncounted: kernel op why count total_ns",
		    "ampere_sgemm_128x64_tn aten::mm no_inputs 1 100\n");
}

/* float on plain cores, where tensor cores could do 156 TFLOP/s with operands of this type. */
TEST(peak_of_tensor_cores)
{
	struct test_trace *t = test_trace_new();

	test_metadata(t, "deviceProperties", A100);
	test_op_inputs(t, "aten::mm", 1, 0, 50, "[[2, 3], [3, 4]]", "[\"float\", \"float\"]", NULL);
	launch(t, "ampere_sgemm_128x64_tn", 10, 100);
	test_op_inputs(t, "aten::mm", 1, 100, 50, "[[2, 3], [3, 4]]", "[\"double\", \"double\"]",
		       NULL);
	launch(t, "dgemm", 110, 100);
	struct analyzed *a = analyze(t);

	check_table(a,
		    "flops.by_precision: precision count flops share_ratio flops_per_second "
		    "peak_flops tensor_peak_flops",
		    "fp64 1 48 0.5 4.8e+08 1.95e+13 -\n"
		    "fp32 1 48 0.5 4.8e+08 1.95e+13 1.56e+14\n");
	check_table(a, "flops.by_operator: name precision tensor_cores alignment",
		    "aten::mm fp32 no 1\naten::mm fp64 unknown 1\n");
}

/*
 * mm of [4096, 4096] twice in float: 2 · 4096³ ÷ 19.5e12 = 7048151.460 ns, at the 156e12 of TF32
 * 881018.932; 3 · 4096² · 4 bytes take 98737.907. In double there is nothing to compare.
 *
 * mm of [16, 4096] and [4096, 4096] in float: 27531.842 ns and 3441.480 at the peaks, but its
 * (16 · 4096 + 4096² + 16 · 4096) · 4 bytes take 33169.766. The same in bf16, where both are one:
 * 16584.883 (above).
 */
TEST(rooflines_on_tensor_cores)
{
	struct test_trace *t = test_trace_new();

	test_metadata(t, "deviceProperties", A100);
	test_op_inputs(t, "aten::mm", 1, 0, 50, "[[4096, 4096], [4096, 4096]]",
		       "[\"float\", \"float\"]", NULL);
	launch(t, "ampere_sgemm_128x64_tn", 10, 9000000);
	test_op_inputs(t, "aten::mm", 1, 100, 50, "[[16, 4096], [4096, 4096]]",
		       "[\"float\", \"float\"]", NULL);
	launch(t, "ampere_sgemm_32x128_tn", 110, 100000);
	test_op_inputs(t, "aten::mm", 1, 200, 50, "[[16, 4096], [4096, 4096]]",
		       HALVES(", \"c10::BFloat16\""), NULL);
	launch(t, "nvjet_tst", 210, 50000);
	test_op_inputs(t, "aten::mm", 1, 300, 50, "[[16, 16], [16, 16]]",
		       "[\"double\", \"double\"]", NULL);
	launch(t, "dgemm", 310, 30000);
	test_op_inputs(t, "aten::add", 1, 400, 50, "[[4096], [4096], []]",
		       "[\"float\", \"float\", \"Scalar\"]", NULL);
	launch(t, "vectorized_elementwise_kernel", 410, 20000);
	struct analyzed *a = analyze(t);

	check_table(a,
		    "flops.by_operator: precision bound roofline_ns tensor_roofline_ns "
		    "half_roofline_ns product_ns",
		    "fp32 compute 7048151 881019 440509 9000000\n"
		    "fp32 memory 33170 33170 16585 100000\n"
		    "bf16 memory 16585 16585 - 50000\n"
		    /* 6144 bytes; 3 · 4096 · 4 bytes */
		    "fp64 memory 3 - - 30000\n"
		    "- memory 24 - - -\n");
}

/* by_precision.share_ratio, with all its digits; NAN: absent. */
static double share_of_first(const struct analyzed *a)
{
	size_t analyzer, table, column = 0;
	const struct tscope_table_def *def =
		tscope_table_find("flops.by_precision", &analyzer, &table);

	while (strcmp(def->columns[column].name, "share_ratio") != 0)
		column++;
	struct tscope_value share =
		tscope_analysis_cell(a->analysis, analyzer, table, TSCOPE_WHOLE_TRACE, 0, column);
	return share.kind == TSCOPE_VALUE_REAL ? share.real : NAN;
}

/*
 * 0.1 six times over is 0.6 more or less, as it is added up one by one or multiplied: the share
 * is 1 and no more. Of what has no FLOPs at all there is no share.
 */
TEST(shares_of_a_precision)
{
	static const struct {
		const char *dims, *flops, *expected;
	} cases[] = {
		{ "[[2, 3], [3, 4]]", "0.1", "tf32 1\n" },
		{ "[[0, 3], [3, 4]]", NULL, "tf32 -\n" },
		{ "[[2, 3], [3, 4]]", "1e308", "tf32 -\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct test_trace *t = test_trace_new();
		for (int64_t j = 0; j < 6; j++) {
			test_op_args(t, "aten::mm", 1, 100 * j, 50,
				     &(struct test_op_args){ .dims = cases[i].dims,
							     .types = "[\"float\", \"float\"]",
							     .flops = cases[i].flops });
			launch(t, "cutlass_80_tensorop_s1688gemm_128x64", 100 * j + 10, 9);
		}
		struct analyzed *a = analyze(t);
		check_table(a, "flops.by_precision: precision share_ratio", cases[i].expected);
		assert_false(share_of_first(a) > 1);
	}
}

/* A part of a device has a part of its bandwidth: 54 of 108 units, so 98737.907 ns. */
TEST(roofline_of_a_partition)
{
	struct test_trace *t = test_trace_new();

	test_metadata(t, "deviceProperties",
		      "[{\"id\": 0, \"name\": \"NVIDIA A100-SXM4-80GB MIG 3g.40gb\", "
		      "\"numSms\": 54, \"totalGlobalMem\": 42949672960}]");
	test_op_inputs(t, "aten::add", 1, 0, 50, "[[4096, 4096], [4096, 4096], []]",
		       HALVES(", \"c10::BFloat16\", \"Scalar\""), NULL);
	launch(t, "vectorized_elementwise_kernel", 10, 100000);
	struct analyzed *a = analyze(t);
	check_table(a, "flops.by_operator: bound roofline_ns lost_ns", "memory 98738 1262\n");
}

/* Where the device is not known there is no roofline: the operators stand by their time. */
TEST(unknown_device)
{
	struct test_trace *t = test_trace_new();

	test_op_inputs(t, "aten::mm", 1, 0, 50, "[[2, 3], [3, 4]]", HALVES(", \"c10::BFloat16\""),
		       NULL);
	launch(t, "nvjet_tst", 10, 100);
	test_op_inputs(t, "aten::mm", 1, 100, 50, "[[4, 3], [3, 4]]", HALVES(", \"c10::BFloat16\""),
		       NULL);
	launch(t, "nvjet_tst", 110, 300);
	launch(t, "gemm_of_my_own", 180, 80);
	test_op(t, "aten::bmm", 1, 200, 50);
	launch(t, "gemm_of_my_own", 210, 20);
	struct analyzed *a = analyze(t);

	check_table(a,
		    "flops.by_operator: device_ns flops bound roofline_ns roofline_ratio lost_ns",
		    "300 96 - - - -\n100 48 - - - -\n");
	check_facts(a, "flops: total coverage_ratio matrix_ns uncounted_ns lost_ns",
		    "144 0.8 500 100 -"); /* 400 of 500 */
	check_table(a, "flops.uncounted: kernel kind op why count total_ns",
		    "gemm_of_my_own gemm - no_operator 1 80\n"
		    "gemm_of_my_own gemm aten::bmm no_inputs 1 20\n");
}

TEST(without_devices)
{
	struct test_trace *t = test_trace_new();

	test_op_inputs(t, "aten::mm", 1, 0, 50, "[[2, 3], [3, 4]]", "[\"float\", \"float\"]", NULL);
	struct analyzed *a = analyze(t);

	check_table(
		a,
		"flops.by_operator: name precision kernel device_ns flops flops_per_second lost_ns",
		"aten::mm fp32 - - 48 - -\n");
	check_facts(a, "flops: total coverage_ratio matrix_ns uncounted_ns lost_ns", "48 - - - -");
	check_table(a, "flops.by_precision: precision device_ns flops peak_flops", "fp32 - 48 -\n");
}

TEST(without_operators)
{
	struct test_trace *t = test_trace_new();

	test_kernel(t, "gemm", 0, 7, 0, 100, 0);
	struct analyzed *a = analyze(t);
	check_facts(a, "flops: total repeated coverage_ratio matrix_ns uncounted_ns lost_ns",
		    "- - 0 100 100 -");
	check_table(a, "flops.by_operator: name", "");
	check_table(a, "flops.by_precision: precision", "");
}

/* Each reason names what is missing: shapes are recorded wherever an operator has inputs. */
TEST(reasons_for_what_is_absent)
{
	static const char shapes[] = "-"; /* the analyzer's own: it needs shapes */
	static const struct {
		const char *properties, *op, *inputs;
		bool has_kernel;
		const char *total, *coverage, *lost, *bf16;
	} cases[] = {
		{ A100, "aten::mm", "[[2, 3], [3, 4]]", true, NULL, NULL, NULL, NULL },
		{ A100, "aten::mm", NULL, true, shapes, NULL, shapes, NULL },
		{ A100, "aten::add", "[[8], [8], []]", true, "no operator with known FLOPs",
		  "no matrix kernel ran", NULL, NULL },
		{ A100, "aten::view", "[[8]]", true, "no operator with known FLOPs",
		  "no matrix kernel ran", "no operator with a known roofline", NULL },
		{ "[]", "aten::mm", "[[2, 3], [3, 4]]", true, NULL, NULL, "unknown device",
		  "unknown device" },
		{ "[{\"id\": 0, \"name\": \"Tesla P100-SXM2-16GB\", \"computeMajor\": 6}]",
		  "aten::mm", "[[2, 3], [3, 4]]", true, NULL, NULL, NULL,
		  "the device has no tensor cores" },
		{ "[]", "aten::mm", "[[2, 3], [3, 4]]", false, NULL,
		  "no device activity in the trace", "no device activity in the trace",
		  "no device activity in the trace" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct test_trace *t = test_trace_new();
		test_metadata(t, "deviceProperties", cases[i].properties);
		if (cases[i].inputs)
			test_op_inputs(t, cases[i].op, 1, 0, 50, cases[i].inputs,
				       "[\"float\", \"float\", \"Scalar\"]", NULL);
		else
			test_op(t, cases[i].op, 1, 0, 50);
		if (cases[i].has_kernel)
			launch(t,
			       strcmp(cases[i].op, "aten::mm") == 0
				       ? "ampere_sgemm_128x64_tn"
				       : "vectorized_elementwise_kernel",
			       10, 1000);
		struct analyzed *a = analyze(t);
		check_doubt(a, "flops.total", cases[i].total);
		check_doubt(a, "flops.coverage_ratio", cases[i].coverage);
		check_doubt(a, "flops.lost_ns", cases[i].lost);
		check_doubt(a, "flops.has_bf16", cases[i].bf16);
	}
}

static void put_flow(struct test_trace *t, char phase, const char *pid, const char *tid,
		     int64_t ts_ns)
{
	test_event(t, &(struct raw_event){
			      .phase = phase,
			      .has_ts = true,
			      .ts_ns = ts_ns,
			      .name = TSI_STR("ac2g"),
			      .cat = TSI_STR("ac2g"),
			      .pid = tsi_str_of(pid),
			      .tid = tsi_str_of(tid),
			      .id = TSI_STR("1"),
		      });
}

/* 2 · 5248 · 3125 · 5248 FLOPs of a product whose launch says no correlation. */
TEST(a_product_linked_by_its_flow)
{
	struct test_trace *t = test_trace_new();
	struct tscope_value total;

	test_op_inputs(t, "aten::mm", 1, 0, 50, "[[5248, 3125], [3125, 5248]]",
		       HALVES(", \"c10::BFloat16\""), NULL);
	test_call(t, "hipExtModuleLaunchKernel", 1, 10, 1, 0);
	test_kernel(t, "Cijk_Ailk_Bljk_BBS_BH", 0, 7, 100, 1000, 0);
	put_flow(t, 's', "100", "1", 10);
	put_flow(t, 'f', "0", "7", 100);
	struct analyzed *a = analyze(t);
	assert_true(tscope_analysis_find(a->analysis, "flops.total", &total, NULL));
	assert_true(total.kind == TSCOPE_VALUE_REAL && total.real == 172134400000.0);
	check_facts(a, "flops: coverage_ratio uncounted_ns", "1 0");
	check_facts(a, "integrity: linked_by_flow_count unlinked_count", "1 0");
}
