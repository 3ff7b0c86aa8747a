/* SPDX-License-Identifier: MIT */
/* What became of each operator; what it has in common with kernels is tested with these. */
#include "diff_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/*
 * 20 steps against 10; self time and device time a step: aten::mm 1000 and 5000 to 1200 and 4000,
 * aten::add the same, AddBackward0 new, a compiled region of another number.
 */
static const char side_a[] =
	"steps.count 20\nsteps.counted_count 20\noperators.count 100\n"
	"operators.by_name name=aten::mm count=40 self_ns=20000 self_device_ns=100000 counted=40 "
	"counted_ns=20000 step_deviation_ns=10 counted_device_ns=100000\n"
	"operators.by_name name=aten::add count=40 self_ns=2000 self_device_ns=0 counted=40 "
	"counted_ns=2000 step_deviation_ns=1 counted_device_ns=0\n"
	"operators.by_name name='Torch-Compiled Region: 0/0' count=20 self_ns=400 "
	"self_device_ns=0 counted=20 counted_ns=400 step_deviation_ns=1 counted_device_ns=0\n";

static const char side_b[] =
	"steps.count 10\nsteps.counted_count 10\noperators.count 60\n"
	"operators.by_name name=aten::mm count=20 self_ns=12000 self_device_ns=40000 counted=20 "
	"counted_ns=12000 step_deviation_ns=10 counted_device_ns=40000\n"
	"operators.by_name name=aten::add count=20 self_ns=1000 self_device_ns=0 counted=20 "
	"counted_ns=1000 step_deviation_ns=1 counted_device_ns=0\n"
	"operators.by_name name='Torch-Compiled Region: 1/0' count=10 self_ns=200 "
	"self_device_ns=0 counted=10 counted_ns=200 step_deviation_ns=1 counted_device_ns=0\n"
	"operators.by_name name=AddBackward0 count=10 self_ns=500 self_device_ns=10 counted=10 "
	"counted_ns=500 step_deviation_ns=1 counted_device_ns=10\n";

static void self_and_device_time(void **state)
{
	(void)state;
	struct compared *c = compare(side_a, side_b);

	check_table(&c->result,
		    "operator_changes.list: change matched_by name a_name change_ns verdict",
		    "slower name aten::mm - 200 changed\n"
		    "new none AddBackward0 - 50 only_b\n"
		    "same name aten::add - 0 no_change\n"
		    "same normalised_name Torch-Compiled Region: 1/0 Torch-Compiled Region: 0/0 0 "
		    "no_change\n");
	check_table(&c->result,
		    "operator_changes.list: a_calls_per_step b_calls_per_step a_step_ns b_step_ns "
		    "a_step_device_ns b_step_device_ns device_change_ns",
		    "2 2 1000 1200 5000 4000 -1000\n"
		    "0 1 0 50 0 1 1\n"
		    "2 2 100 100 0 0 0\n"
		    "1 1 20 20 0 0 0\n");
	check_facts(&c->result,
		    "operator_changes: a_count b_count matched_count new_count gone_count "
		    "replaced_count slower_count is_cut",
		    "3 4 3 1 0 0 1 no");
	compared_free(c);
}

/* Of the whole timeline where the steps that count are not told: 30 self and 80 device ns ÷ 2. */
static void an_older_report(void **state)
{
	(void)state;
	static const char side[] = "steps.count 2\noperators.count 4\n"
				   "operators.by_name name=aten::mm count=4 total_ns=999 "
				   "self_ns=30 self_device_ns=80\n";
	struct compared *c = compare(side, side_a);

	check_table(&c->result,
		    "operator_changes.list: change name a_calls_per_step a_step_ns a_mean_ns "
		    "a_step_device_ns verdict",
		    "new aten::add 0 0 - 0 only_b\n"
		    "new Torch-Compiled Region: 0/0 0 0 - 0 only_b\n"
		    "same aten::mm 2 15 8 40 not_tested\n");
	compared_free(c);
}

static void sides_without_operators(void **state)
{
	(void)state;
	struct compared *c = compare("kernels.count 1\n", "kernels.count 1\n");

	check_facts(&c->result, "operator_changes: a_count is_cut", "- -");
	check_table(&c->result, "operator_changes.list: name", "");
	compared_free(c);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(self_and_device_time),
		cmocka_unit_test(an_older_report),
		cmocka_unit_test(sides_without_operators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
