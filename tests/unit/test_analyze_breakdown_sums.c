/* SPDX-License-Identifier: MIT */
/* The parts of the budget's lines sum to them: in all traces of the test data, and random ones. */
#include "analysis_check.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "random_numbers.h"

#define LOADER "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
#define ENGINE "autograd::engine::evaluate_function: MmBackward0"

enum { MAIN = 1 }; /* the first thread's id */

static int64_t number_of(const struct tscope_analysis *analysis, const char *id)
{
	struct tscope_value value;
	enum tscope_unit unit;

	assert_true(tscope_analysis_find(analysis, id, &value, &unit));
	return value.kind == TSCOPE_VALUE_INT ? value.integer : 0;
}

struct parts_table {
	const struct tscope_analysis *analysis;
	size_t analyzer, table, row_count;
};

static struct tscope_value cell(const struct parts_table *parts, size_t row, size_t column)
{
	return tscope_analysis_cell(parts->analysis, parts->analyzer, parts->table,
				    TSCOPE_WHOLE_TRACE, row, column);
}

/* What the rows from *row on that are of this line sum to, each smaller than the one before. */
static int64_t take_line(const struct parts_table *parts, const char *line, size_t *row)
{
	int64_t sum_ns = 0, last_ns = INT64_MAX;

	for (; *row < parts->row_count && strcmp(cell(parts, *row, 0).text, line) == 0; ++*row) {
		int64_t ns = cell(parts, *row, 3).integer;
		assert_in_range(ns, 1, last_ns);
		if (ns == last_ns)
			assert_true(strcmp(cell(parts, *row - 1, 2).text,
					   cell(parts, *row, 2).text) <= 0);
		last_ns = ns;
		sum_ns += ns;
	}
	return sum_ns;
}

/* Every part belongs to one of the lines, in their order, and they sum to them. */
static void assert_sums(const struct tscope_analysis *analysis, const char *what)
{
	static const char *const lines[] = {
		"compute",       "exposed_comm",   "exposed_copy", "data_stall", "sync_stall",
		"launch_stall",  "device_gap",     "unattributed", "host.data",  "host.forward",
		"host.backward", "host.optimizer", "host.comm",    "host.other",
	};
	struct parts_table parts = { .analysis = analysis };
	char id[64];
	size_t row = 0;

	assert_non_null(tscope_table_find("breakdown.parts", &parts.analyzer, &parts.table));
	parts.row_count = tscope_analysis_row_count(analysis, parts.analyzer, parts.table,
						    TSCOPE_WHOLE_TRACE);
	for (size_t i = 0; i < TSI_COUNT_OF(lines); i++) {
		snprintf(id, sizeof(id), "budget.%s_total_ns", lines[i]);
		int64_t line_ns = number_of(analysis, id);
		int64_t sum_ns = take_line(&parts, lines[i], &row);
		if (sum_ns != line_ns)
			fail_msg("%s: %s is %" PRId64 ", its parts %" PRId64, what, lines[i],
				 line_ns, sum_ns);
	}
	assert_int_equal(row, parts.row_count);
	assert_int_equal(number_of(analysis, "breakdown.wall_total_ns"),
			 number_of(analysis, "budget.wall_total_ns"));
	assert_int_equal(number_of(analysis, "breakdown.step_count"),
			 number_of(analysis, "budget.step_count"));
}

static void check_trace(const struct tscope_trace *trace,
			const struct tscope_timeline_options *options, const char *what)
{
	struct tscope_timeline *timeline;
	struct tscope_analysis *analysis;

	if (tscope_timeline_build(&timeline, trace, options, NULL) == TSCOPE_OK) {
		assert_int_equal(tscope_analyze(&analysis, trace, timeline, NULL, NULL), TSCOPE_OK);
		assert_sums(analysis, what);
		tscope_analysis_free(analysis);
		tscope_timeline_free(timeline);
	}
}

TEST(parts_of_traces_sum_to_the_lines)
{
	char path[1024];
	int trace_count = 0;
	DIR *folder = opendir(testdata);
	const struct dirent *entry;
	struct tscope_trace *trace;

	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		snprintf(path, sizeof(path), "%s/%s", testdata, entry->d_name);
		if (tscope_trace_open(&trace, path, NULL, NULL) != TSCOPE_OK)
			continue;
		check_trace(trace, NULL, path);
		tscope_trace_free(trace);
		trace_count++;
	}
	closedir(folder);
	assert_true(trace_count > 10);
}

static void add_random_host(struct test_trace *t, uint64_t *seed)
{
	static const char *const annotations[] = { LOADER, "dataloader#1", "forward", ENGINE,
						   "gloo:all_reduce" };
	static const char *const operators[] = { "aten::mm", "aten::add#3", ENGINE };

	for (int i = 0; i < 12; i++) {
		test_annotation(t, annotations[random_below(seed, TSI_COUNT_OF(annotations))],
				MAIN + random_below(seed, 3), random_below(seed, 400),
				random_below(seed, 60));
		test_op(t, operators[random_below(seed, TSI_COUNT_OF(operators))],
			MAIN + random_below(seed, 2), random_below(seed, 400),
			random_below(seed, 30));
	}
}

static void add_random_work(struct test_trace *t, uint64_t *seed)
{
	static const char *const kernels[] = { "gemm", "add#2",
					       "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
					       "ncclDevKernel_Generic_4" };

	for (uint64_t i = 1; i <= 20; i++) {
		int64_t start_ns = random_below(seed, 400), tid = MAIN + random_below(seed, 2);
		int device = (int)random_below(seed, 2);
		test_call(t, random_below(seed, 4) ? "cudaLaunchKernel" : "cudaMemcpy", tid,
			  start_ns, random_below(seed, 20), i);
		start_ns += random_below(seed, 60);
		if (random_below(seed, 5) == 0)
			test_memset(t, device, 9, start_ns, random_below(seed, 30), i, 8);
		else
			test_kernel(t, kernels[random_below(seed, TSI_COUNT_OF(kernels))], device,
				    7 + random_below(seed, 2), start_ns, random_below(seed, 30),
				    random_below(seed, 8) ? i : 0);
	}
}

static struct test_trace *random_trace(uint64_t *seed, bool has_devices)
{
	struct test_trace *t = test_trace_new();

	for (int i = 0; i < 4; i++) {
		char name[32];
		snprintf(name, sizeof(name), "ProfilerStep#%d", i);
		test_annotation(t, name, MAIN, 100 * i, 60 + random_below(seed, 40));
	}
	add_random_host(t, seed);
	if (has_devices)
		add_random_work(t, seed);
	return t;
}

TEST(parts_of_random_traces_sum_to_the_lines)
{
	uint64_t seed = 7;

	for (int round = 0; round < 300; round++) {
		const struct tscope_timeline_options options = { .warmup = round % 4 / 2 };
		check_trace(test_trace_finish(random_trace(&seed, round % 2)), &options, "random");
	}
}
