/* SPDX-License-Identifier: MIT */
/* Blocks of kernels that repeat: how many, of what, and which takes longer, and why. */
#include "analysis_check.h"

#include "base/attributes.h"
#include "check.h"

/* Kernels by letter, with their times in ns; a capital takes ten times as long. */
static const struct {
	char letter;
	const char *name;
	int64_t dur_ns;
} kernels[] = {
	{ 'n', "rms_norm_kernel", 10 },       { 'g', "ampere_bf16_gemm_128x64", 30 },
	{ 'a', "flash_fwd_kernel", 50 },      { 'e', "embedding_kernel", 5 },
	{ 'x', "ampere_bf16_gemm_64x64", 7 }, { 's', "ampere_bf16_gemm_64x64", 70 },
};

/* A step of these kernels, one behind the other. */
static int64_t add_kernels(struct test_trace *t, const char *letters, int64_t now_ns)
{
	for (; *letters; letters++) {
		for (size_t i = 0; i < TSI_COUNT_OF(kernels); i++) {
			bool is_long = kernels[i].letter - 'a' + 'A' == *letters;
			if (kernels[i].letter != *letters && !is_long)
				continue;
			int64_t dur_ns = kernels[i].dur_ns * (is_long ? 10 : 1);
			test_kernel(t, kernels[i].name, 0, 7, now_ns, dur_ns, 0);
			now_ns += dur_ns;
		}
	}
	return now_ns;
}

TEST(sequences)
{
	static const struct {
		const char *letters;
		const char *sequences, *odd;
	} cases[] = {
		/* "block_count kernel_count pass_count median_ns ns", "sequence block … why" */
		{ "enganganganganx", "4 3 1 90 360\n", "" },
		{ "nganganga", "", "" },
		/* the norm behind the last layer is none of a fifth one */
		{ "ngangangangangan", "5 3 1 90 450\n", "" },
		/* the third takes longer: 300 for 30 */
		{ "nganganGanganga", "5 3 1 90 720\n",
		  "1 3 360 90 ampere_bf16_gemm_128x64 270 longer kernels\n" },
		/* the fifth has another product; two alike before it are no repetition yet */
		{ "ngangangangansanganga", "7 3 1 90 670\n",
		  "1 5 130 90 ampere_bf16_gemm_64x64 70 other kernels\n" },
		{ "ngangansanganga", "", "" },
		/* what is between two passes is no layer */
		{ "ngangangangangaengangangangan", "5 3 1 90 450\n4 3 1 90 360\n", "" },
		{ "engangangangaxengangangangax", "4 3 2 90 720\n", "" },
		/* products repeat within layers, which have one attention each */
		{ "nagxgxgxgxnagxgxgxgxnagxgxgxgxnagxgxgxgx", "4 10 1 208 832\n", "" },
		/* nothing that repeats has a product */
		{ "nenenenenene", "", "" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		(void)add_kernels(t, cases[i].letters, 0);
		struct analyzed *a = analyze(t);
		check_table(a, "blocks.sequences: block_count kernel_count pass_count median_ns ns",
			    cases[i].sequences);
		check_table(a,
			    "blocks.odd_blocks: sequence block ns median_ns because because_ns why",
			    cases[i].odd);
	}
}

/* Three steps of four layers: of each kernel the median counts, so that one slow pass is none. */
TEST(passes)
{
	struct test_trace *t = test_trace_new();
	static const char *const steps[] = { "ngangangangae", "ngaNGAngangae", "ngangangangae" };

	for (int i = 0; i < 3; i++) {
		test_annotation(t,
				i == 0   ? "ProfilerStep#1"
				: i == 1 ? "ProfilerStep#2"
					 : "ProfilerStep#3",
				1, 2000 * i, 2000);
		(void)add_kernels(t, steps[i], 2000 * i);
	}
	struct analyzed *a = analyze(t);
	check_table(a, "blocks.sequences: block_count kernel_count pass_count median_ns ns kernel",
		    "4 3 3 90 1890 flash_fwd_kernel\n");
	check_table(a, "blocks.kernels: sequence name kind count ns share_ratio",
		    "1 rms_norm_kernel norm 1 10 0.111111\n"
		    "1 ampere_bf16_gemm_128x64 gemm 1 30 0.333333\n"
		    "1 flash_fwd_kernel attention 1 50 0.555556\n");
	check_facts(a, "blocks: sequence_count odd_count device_ns repeated_ns", "1 0 1905 1890");
}
