/* SPDX-License-Identifier: MIT */
/* All analyzers together: a trace that has some of everything, and failing allocations. */
#include "analysis_check.h"

#include "check.h"
#include "memory_sweep.h"

#define ALL_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL(Args)"
#define META                                                                                       \
	"\"Collective name\": \"allreduce\", \"In msg nelems\": 100, \"Out msg nelems\": 100, "    \
	"\"Group size\": 2, \"dtype\": \"Float\", \"Process Group Name\": \"0\""

static void add_step(struct test_trace *t, const char *marker, int64_t start_ns, uint64_t first)
{
	test_annotation(t, marker, 1, start_ns, 1000);
	test_span_args(t, "cpu_op", "aten::mm", 1, start_ns + 10, 100,
		       "{\"Input Dims\": [[2, 3]], \"Input type\": [\"float\"]}");
	test_call(t, "cudaLaunchKernel", 1, start_ns + 20, 10, first);
	test_call(t, "cudaLaunchKernelExC", 1, start_ns + 120, 10, first + 1);
	test_call(t, "cudaMemcpyAsync", 1, start_ns + 140, 10, first + 2);
	test_call(t, "cudaStreamSynchronize", 1, start_ns + 160, 600, 0);
	test_kernel(t, "volta_sgemm_128x64_nn", 0, 7, start_ns + 200, 100, first);
	test_device_args(t, "kernel", ALL_REDUCE, 1, 20, start_ns + 300, 200, first + 1, META);
	test_memcpy(t, "Memcpy DtoH (Device -> Pageable)", 0, 7, start_ns + 400, 50, first + 2, 64);
	test_span(t, "python_function", "train.py(1): step", 1, start_ns, 900);
}

static struct test_trace *new_rich_trace(void)
{
	struct test_trace *t = test_trace_new_with(&(struct builder_options){ .python = true });

	add_step(t, "ProfilerStep#1", 0, 1);
	add_step(t, "ProfilerStep#2", 1000, 11);
	add_step(t, "ProfilerStep#3", 2000, 21);
	test_annotation(t, "gloo:barrier", 2, 0, 100);
	return t;
}

TEST(failing_allocations)
{
	struct tscope_analysis_options options = { .python = true };
	struct tscope_trace *trace = test_trace_finish(new_rich_trace());

	struct tscope_timeline *timeline = test_timeline(trace, NULL);
	sweep_trace(trace, timeline, &options, 1);
}

/* Identities between the analyzers, which look at the same time in different ways. */
TEST(figures_agree_with_each_other)
{
	struct analyzed *a = analyze(new_rich_trace());

	check_facts(a, "device_busy: busy_ns compute_ns comm_ns copy_ns event_count",
		    "1050 300 600 150 9");
	check_facts(a, "overlap: comm_ns overlapped_ns", "600 0"); /* on another device */
	check_facts(a, "kernels: count total_ns", "6 900");
	check_facts(a, "copies: count total_ns", "3 150");
	check_facts(a, "collectives: count total_ns bytes host_count", "4 700 1200 1");
	check_facts(a, "operators: count device_ns", "3 300");
	check_facts(a, "launches: launch_count sync_count sync_ns", "9 3 1800");
	check_facts(a, "python: call_count self_ns", "3 2700");
	check_facts(a, "spans: count", "4");
}

TEST(names_are_found)
{
	struct analyzed *a = analyze(new_rich_trace());
	struct tscope_value value;
	enum tscope_unit unit;

	assert_true(tscope_analysis_find(a->analysis, "overlap.comm_ns", &value, &unit));
	assert_int_equal(value.integer, 600);
	assert_int_equal(unit, TSCOPE_UNIT_NS);
	assert_false(tscope_analysis_find(a->analysis, "overlap.nonsense", &value, &unit));
	assert_false(tscope_analysis_find(a->analysis, "nonsense.comm_ns", &value, &unit));
	assert_false(tscope_analysis_find(a->analysis, "overlap", &value, &unit));
}

/* "budget" and "phase.forward_ns", but no blanks or capitals. */
static bool is_fit_for_json(const char *name)
{
	return name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.")] == '\0' && name[0];
}

/* Every fact and column has a name, and one that no other of its sheet or table has. */
static void check_defs(const struct tscope_fact_def *defs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		assert_non_null(defs[i].name);
		assert_non_null(defs[i].meaning);
		if (!is_fit_for_json(defs[i].name))
			fail_msg("%s", defs[i].name);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(defs[i].name, defs[j].name);
	}
}

TEST(definitions_are_complete)
{
	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		const struct tscope_analyzer_def *def = tscope_analyzer(i);
		assert_true(is_fit_for_json(def->id));
		assert_non_null(def->summary);
		check_defs(def->facts, def->fact_count);
		for (size_t j = 0; j < def->table_count; j++) {
			assert_true(is_fit_for_json(def->tables[j].name));
			assert_non_null(def->tables[j].meaning);
			check_defs(def->tables[j].columns, def->tables[j].column_count);
		}
	}
}
