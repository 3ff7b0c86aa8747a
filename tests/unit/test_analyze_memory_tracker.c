/* SPDX-License-Identifier: MIT */
/* Figures of memory trackers' logs: the device with the highest peak, modules, kinds. */
#include "analysis_check.h"

#include "check.h"

#define ALL                                                                                        \
	"memory_tracker: path function iteration device_count module_count peak_bytes peak_device"

TEST(rows_become_tables)
{
	struct analyzed *a = analyze_memory(
		"{tracker: fsdp, iteration: 2, function: training_step,"
		" peak: [{device: cpu, bytes: {temp: 7}},"
		"        {device: 'cuda:0', bytes: {'sharded param': 1024, temp: 24}}],"
		" modules: [{module: net, state: Peak, call: 1, device: 'cuda:0',"
		"            bytes: {temp: 5, activation: 6, bad: none}},"
		"           {module: net, state: Peak, call: 2, device: 'cuda:1', bytes: {temp: "
		"4}},"
		"           {module: 'net.0', state: After, call: 1, device: cpu, bytes: {}}]}",
		NULL);

	check_facts(a, ALL, "test training_step 2 3 2 1048 cuda:0");
	check_table(a, "memory_tracker.peak: device kind bytes",
		    "cpu temp 7\ncuda:0 sharded param 1024\ncuda:0 temp 24\n");
	check_table(a, "memory_tracker.modules: module state call device total_bytes",
		    "net Peak 1 cuda:0 11\nnet Peak 2 cuda:1 4\nnet.0 After 1 cpu 0\n");
	check_table(a, "memory_tracker.by_kind: module state call device kind bytes",
		    "net Peak 1 cuda:0 temp 5\nnet Peak 1 cuda:0 activation 6\n"
		    "net Peak 2 cuda:1 temp 4\n");
}

TEST(the_peak_may_be_missing)
{
	struct analyzed *a = analyze_memory("{tracker: plain, modules: [{module: net, state: s,"
					    " call: 1, device: cpu, bytes: {temp: 5}}]}",
					    NULL);

	check_facts(a, ALL, "test - 0 1 1 - -");
	check_table(a, "memory_tracker.peak: device kind bytes", "");
}

/* Of two devices with as much the first one is named. */
TEST(the_first_of_equal_peaks_counts)
{
	struct analyzed *a =
		analyze_memory("{tracker: plain, function: f, peak: [{device: a, bytes: {x: 1}},"
			       " {device: b, bytes: {y: 3}}, {device: c, bytes: {x: 1, y: 2}}]}",
			       NULL);

	check_facts(a, ALL, "test f 0 3 0 3 b");
}
