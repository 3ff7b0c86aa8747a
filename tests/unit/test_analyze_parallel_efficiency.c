/* SPDX-License-Identifier: MIT */
/* The factors of the loss across ranks, worked out by hand. */
#include "world_text.h"

#include "check.h"

/*
 * A step of 1000. Rank 0 computes 400 + 300 = 700, rank 1 500 + 300 = 800 and loads data for 100
 * first. Means: compute 750, most 800. The transfer is 100: on an ideal network the step is 900.
 *	load balance	750 ÷ 800 = 0.9375
 *	serialisation	800 ÷ 900
 *	transfer	900 ÷ 1000
 *	communication	800 ÷ 1000 = the product of the two
 *	all		750 ÷ 1000 = the product of the three
 */
static const char late_rank[] = "rank 0\n"
				"step 1 0 1000\n"
				"compute 0 400\n"
				"exposed_comm 400 700\n"
				"compute 700 1000\n"
				"all_reduce 400 700 group=dp ranks=0,1 seq=0 bytes=64\n"
				"rank 1\n"
				"step 1 0 1000\n"
				"data_stall 0 100\n"
				"compute 100 600\n"
				"exposed_comm 600 700\n"
				"compute 700 1000\n"
				"all_reduce 600 700 group=dp ranks=0,1 seq=0 bytes=64\n";

TEST(test_factors)
{
	struct test_world *w = test_world(late_rank);
	struct analyzed *a = analyze_world(w, NULL);

	check_facts(a, "parallel_efficiency: load_balance_ratio serialisation_ratio transfer_ratio",
		    "0.9375 0.888889 0.9");
	check_facts(a,
		    "parallel_efficiency: communication_efficiency_ratio parallel_efficiency_ratio",
		    "0.8 0.75");
	check_facts(a, "parallel_efficiency: total_ratio", "-");
}

/*
 * 300 FLOPs a step on a device with 10⁹ a second take 300 ns: of the step of 1000, 0.3. Where they
 * would take more than was computed (750), all that was computed is useful.
 */
TEST(test_total)
{
	static const struct {
		double flops;
		const char *expected;
	} cases[] = { { 300, "0.3" }, { 5000, "0.75" } };

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		const struct tscope_analysis_options options = {
			.flops_per_step = cases[i].flops,
			.peak_flops = 1e9,
		};
		struct test_world *w = test_world(late_rank);
		struct analyzed *a = analyze_world(w, &options);
		check_facts(a, "parallel_efficiency: total_ratio", cases[i].expected);
	}
}
