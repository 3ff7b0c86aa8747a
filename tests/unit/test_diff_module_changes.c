/* SPDX-License-Identifier: MIT */
/* What became of each module; what it has in common with kernels is tested with these. */
#include "diff_check.h"

#include "check.h"

/*
 * 2 steps against 4. A module is the same by its path only: layers of another shape, "*(2)", and
 * the second child of a class are other modules, whatever their numbers.
 */
TEST(paths_and_times)
{
	struct compared *c = compare(
		"steps.counted_count 2\nmodules.call_count 6\n"
		"modules.by_module name=Net.Block.* call_count=4 self_host_ns=200 "
		"self_device_ns=4000\n"
		"modules.by_module name=Net.Linear[0] call_count=2 self_host_ns=20 "
		"self_device_ns=100\n"
		"modules.by_module name='(outside modules)' self_host_ns=2 self_device_ns=60\n",
		"steps.counted_count 4\nmodules.call_count 12\n"
		"modules.by_module name=Net.Block.* call_count=8 self_host_ns=400 "
		"self_device_ns=12000\n"
		"modules.by_module name=Net.Linear[1] call_count=4 self_host_ns=40 "
		"self_device_ns=200\n"
		"modules.by_module name='(outside modules)' self_host_ns=4 "
		"self_device_ns=120\n");

	check_table(&c->result,
		    "module_changes.list: change name a_calls_per_step b_calls_per_step a_step_ns "
		    "b_step_ns a_step_device_ns b_step_device_ns device_change_ns",
		    "cannot_tell Net.Block.* 2 2 100 100 2000 3000 1000\n"
		    "gone Net.Linear[0] 1 0 10 0 50 0 -50\n"
		    "new Net.Linear[1] 0 1 0 10 0 50 50\n"
		    "same (outside modules) 0 0 1 1 30 30 0\n");
	check_facts(&c->result,
		    "module_changes: a_count b_count matched_count new_count gone_count is_cut",
		    "2 2 2 1 1 no");
}

/* Frames are recorded on one side only: nothing is new or gone. */
TEST(one_side_has_modules)
{
	struct compared *c = compare("steps.counted_count 2\nmodules.call_count 4\n"
				     "modules.by_module name=Net call_count=4 self_host_ns=8\n",
				     "steps.counted_count 2\n");

	check_facts(&c->result, "module_changes: a_count new_count", "- -");
	check_table(&c->result, "module_changes.list: name", "");
}
