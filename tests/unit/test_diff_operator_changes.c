/* SPDX-License-Identifier: MIT */
/* What became of each operator; what it has in common with kernels is tested with these. */
#include "diff_check.h"

#include "check.h"

/*
 * 20 steps against 10; self time and device time a step: aten::mm 1000 and 5000 to 1200 and 4000,
 * aten::add the same, AddBackward0 new, a compiled region of another number that launches gemm
 * kernels.
 */
static const char side_a[] =
	"steps.count 20\nsteps.counted_count 20\noperators.count 100\n"
	"operators.by_name name=aten::mm count=40 self_ns=20000 self_device_ns=100000 counted=40 "
	"counted_ns=20000 step_deviation_ns=10 counted_device_ns=100000 "
	"step_device_deviation_ns=20\n"
	"operators.by_name name=aten::add count=40 self_ns=2000 self_device_ns=0 counted=40 "
	"counted_ns=2000 step_deviation_ns=1 counted_device_ns=0 "
	"step_device_deviation_ns=0\n"
	"operators.by_name name='Torch-Compiled Region: 0/0' count=20 self_ns=400 "
	"self_device_ns=0 counted=20 counted_ns=400 step_deviation_ns=1 counted_device_ns=0 "
	"step_device_deviation_ns=0\n"
	"kernels.by_launcher name=ampere_sgemm_128x64_tn operator='Torch-Compiled Region: 0/0' "
	"counted_ns=1\n";

static const char side_b[] =
	"steps.count 10\nsteps.counted_count 10\noperators.count 60\n"
	"operators.by_name name=aten::mm count=20 self_ns=12000 self_device_ns=40000 counted=20 "
	"counted_ns=12000 step_deviation_ns=10 counted_device_ns=40000 "
	"step_device_deviation_ns=20\n"
	"operators.by_name name=aten::add count=20 self_ns=1000 self_device_ns=0 counted=20 "
	"counted_ns=1000 step_deviation_ns=1 counted_device_ns=0 "
	"step_device_deviation_ns=0\n"
	"operators.by_name name='Torch-Compiled Region: 1/0' count=10 self_ns=200 "
	"self_device_ns=0 counted=10 counted_ns=200 step_deviation_ns=1 counted_device_ns=0 "
	"step_device_deviation_ns=0\n"
	"operators.by_name name=AddBackward0 count=10 self_ns=500 self_device_ns=10 counted=10 "
	"counted_ns=500 step_deviation_ns=1 counted_device_ns=10 "
	"step_device_deviation_ns=0\n"
	"kernels.by_launcher name=Cijk_Ailk operator='Torch-Compiled Region: 1/0' counted_ns=1\n";

TEST(self_and_device_time)
{
	struct compared *c = compare(side_a, side_b);

	check_table(&c->result,
		    "operator_changes.list: change matched_by name a_name change_ns verdict "
		    "device_verdict",
		    "faster name aten::mm - 200 changed changed\n"
		    "new none AddBackward0 - 50 only_b only_b\n"
		    "same name aten::add - 0 no_change -\n"
		    "same normalised_name Torch-Compiled Region: 1/0 Torch-Compiled Region: 0/0 0 "
		    "no_change -\n");
	check_table(&c->result,
		    "operator_changes.list: a_calls_per_step b_calls_per_step a_step_ns b_step_ns "
		    "a_step_device_ns b_step_device_ns device_change_ns",
		    "2 2 1000 1200 5000 4000 -1000\n"
		    "0 1 0 50 0 1 1\n"
		    "2 2 100 100 0 0 0\n"
		    "1 1 20 20 0 0 0\n");
	/* The name of a region says nothing; kernels of matrix products do. */
	check_table(
		&c->result,
		"operator_changes.kinds: kind change a_calls_per_step b_calls_per_step a_step_ns "
		"b_step_ns a_step_device_ns b_step_device_ns device_change_ns device_verdict",
		"gemm faster 3 3 1020 1220 5000 4000 -1000 changed\n"
		"other more_calls 2 3 100 150 0 1 1 changed\n");
	check_facts(&c->result,
		    "operator_changes: a_count b_count matched_count new_count gone_count "
		    "replaced_count slower_count faster_count unclear_count is_cut",
		    "3 4 3 1 0 0 0 1 0 no");
}

/* Of the whole timeline where the steps that count are not told: 30 self and 80 device ns ÷ 2. */
TEST(an_older_report)
{
	static const char side[] = "steps.count 2\noperators.count 4\n"
				   "operators.by_name name=aten::mm count=4 total_ns=999 "
				   "self_ns=30 self_device_ns=80\n";
	struct compared *c = compare(side, side_a);

	check_table(&c->result,
		    "operator_changes.list: change name a_calls_per_step a_step_ns a_mean_ns "
		    "a_step_device_ns verdict",
		    "cannot_tell aten::mm 2 15 8 40 not_tested\n"
		    "new aten::add 0 0 - 0 only_b\n"
		    "new Torch-Compiled Region: 0/0 0 0 - 0 only_b\n");
}

/* A report of a version that did not keep how device time differs: only the host's is tested. */
TEST(device_time_without_its_deviation)
{
	static const char side[] = "steps.count 20\nsteps.counted_count 20\noperators.count 40\n"
				   "operators.by_name name=aten::mm count=40 self_ns=20000 "
				   "counted=40 counted_ns=20000 "
				   "step_deviation_ns=10 counted_device_ns=50000\n";
	struct compared *c = compare(side, side_b);

	check_table(&c->result, "operator_changes.list: change name verdict device_verdict",
		    "slower aten::mm changed not_tested\n"
		    "new aten::add only_b -\n"
		    "new AddBackward0 only_b only_b\n"
		    "new Torch-Compiled Region: 1/0 only_b -\n");
}

/* Two ranks: the device time of communication is waiting for the other one. */
TEST(waiting_of_operators_is_not_tested)
{
#define RANK(time)                                                                                 \
	"steps.counted_count 20\nstep_time.mean_ns 1000\noperators.count 20\n"                     \
	"operators.by_name name=c10d::allreduce_ count=20 counted=20 counted_ns=20000 "            \
	"step_deviation_ns=1 counted_device_ns=" time " step_device_deviation_ns=1\n"
	static const struct side_text a = { RANK("20000"), { RANK("20000"), RANK("20000") }, 0 };
	static const struct side_text b = { RANK("40000"), { RANK("40000"), RANK("40000") }, 0 };
	struct compared *c = compare_sides(&a, &b);

	check_table(&c->result, "operator_changes.list: change name verdict device_verdict",
		    "cannot_tell c10d::allreduce_ same not_tested\n");
	c = compare(RANK("20000"), RANK("40000"));
	check_table(&c->result, "operator_changes.list: change name verdict device_verdict",
		    "slower c10d::allreduce_ same changed\n");
#undef RANK
}

TEST(sides_without_operators)
{
	struct compared *c = compare("kernels.count 1\n", "kernels.count 1\n");

	check_facts(&c->result, "operator_changes: a_count is_cut", "- -");
	check_table(&c->result, "operator_changes.list: name", "");
}
