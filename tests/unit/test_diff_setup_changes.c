/* SPDX-License-Identifier: MIT */
/* What two runs differ in before any time is compared. */
#include "diff_check.h"

#include "check.h"

static const char list[] = "setup_changes.list: what a b";
static const char facts[] = "setup_changes: count has_same_work has_same_device";

static void check(const char *a, const char *b, const char *expected_facts, const char *rows)
{
	struct compared *c = compare(a, b);

	check_facts(&c->result, facts, expected_facts);
	check_table(&c->result, list, rows);
}

/* Of a mix the first precision counts; FLOPs within 2 % are those of the same work. */
TEST(hardware_and_size_are_compared)
{
	check("efficiency.device A100\nefficiency.precision bf16 97.1 %, fp32 2.9 %\n"
	      "efficiency.flops_per_step 1000000000000\n"
	      "distributed.declared_world_size 8\n",
	      "efficiency.device V100\nefficiency.precision fp16 60 %, fp32 40 %\n"
	      "efficiency.flops_per_step 1010000000000\n"
	      "distributed.declared_world_size 4\n",
	      "3 yes no",
	      "device A100 V100\n"
	      "world size 8 4\n"
	      "precision bf16 fp16\n");
}

TEST(other_work_is_no_slower_code)
{
	check("efficiency.flops_per_step 1000000000000\n"
	      "provenance.config name=batch_size value=32\n",
	      "efficiency.flops_per_step 2000000000000\n"
	      "provenance.config name=batch_size value=64\n",
	      "2 no yes",
	      "batch size 32 64\n"
	      "FLOPs per step 1 TFLOP 2 TFLOP\n");
}

/* FLOPs of A: 1 T in 100 ms, of B: 2 T in 160 ms. Samples count where only the batch size differs. */
TEST(throughput_is_work_per_time)
{
	static const char a[] = "efficiency.flops_per_step 1000000000000\n"
				"step_time.mean_ns 100000000\n"
				"provenance.config name=batch_size value=32\n";
	static const char b[] = "efficiency.flops_per_step 2000000000000\n"
				"step_time.mean_ns 160000000\n";
	static const char rate[] = "setup_changes: throughput_change_ratio throughput_basis";
	struct compared *c = compare(a, b);

	check_facts(&c->result, rate, "0.25 FLOPs");
	c = compare(a, "step_time.mean_ns 160000000\n"
		       "provenance.config name=batch_size value=64\n");
	check_facts(&c->result, rate, "0.25 samples");
	c = compare(a, "efficiency.flops_per_step 1000000000000\n"
		       "step_time.mean_ns 160000000\n"
		       "provenance.config name=batch_size value=32\n");
	check_facts(&c->result, rate, "- -");
	c = compare("step_time.mean_ns 100000000\n"
		    "provenance.config name=batch_size value=32\n"
		    "provenance.config name=seq_len value=512\n",
		    "step_time.mean_ns 160000000\n"
		    "provenance.config name=batch_size value=64\n"
		    "provenance.config name=seq_len value=128\n");
	check_facts(&c->result, rate, "- -");
}

/* What one side does not say is no difference. */
TEST(what_is_not_said_is_not_compared)
{
	check("efficiency.device A100\nprovenance.environment name=trace.gpu value=A100\n"
	      "provenance.config name=batch_size value=32\n",
	      "provenance.config name=lr value=1\n", "0 yes yes", "");
	check("provenance.environment name=trace.gpu value=H100\n",
	      "provenance.environment name=trace.gpu value=MI300X\n", "1 yes no",
	      "device H100 MI300X\n");
}
