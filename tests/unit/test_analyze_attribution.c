/* SPDX-License-Identifier: MIT */
/* Time by what the user asks for, of all or under a module or function. */
#include "analysis_check.h"

#include <stdio.h>

#include "check.h"

enum { MAIN = 1 };

static bool is_uninformative(struct str name)
{
	(void)name;
	return false;
}

static void add_frame(struct test_trace *t, const char *name, int64_t start_ns, int64_t dur_ns)
{
	test_span(t, "python_function", name, MAIN, start_ns, dur_ns);
}

/*
 * Net [0, 800) has two blocks with a Linear each, which launches 100 and 30 ns of "gemm" in aten::mm
 * [+10, +30), and by itself an aten::add of 7 ns; a copy of 5 ns has no launch. The step ends at 1000.
 */
static struct analyzed *analyze_by(enum tscope_grouping by, const char *under)
{
	static const struct builder_options frames = { .is_telling_frame = is_uninformative };
	const struct tscope_analysis_options options = { .by = by, .under = under };
	struct test_trace *t = test_trace_new_with(&frames);
	char name[32];

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	add_frame(t, "nn.Module: Net_0", 0, 800);
	for (int i = 0; i < 2; i++) {
		int64_t at_ns = 200 * i;
		snprintf(name, sizeof(name), "nn.Module: Block_%d", i);
		add_frame(t, name, at_ns, 150);
		add_frame(t, "src/net.py(7): forward", at_ns, 140);
		snprintf(name, sizeof(name), "nn.Module: Linear_%d", i);
		add_frame(t, name, at_ns + 5, 100);
		test_op(t, "aten::mm", MAIN, at_ns + 10, 20);
		test_call(t, "cudaLaunchKernel", MAIN, at_ns + 12, 2, (uint64_t)(1 + i));
		test_kernel(t, "sgemm", 0, 7, at_ns + 20, i ? 30 : 100, (uint64_t)(1 + i));
	}
	test_op(t, "aten::add", MAIN, 500, 20);
	test_call(t, "cudaLaunchKernel", MAIN, 502, 2, 3);
	test_kernel(t, "elementwise_kernel", 0, 7, 510, 7, 3);
	test_call(t, "cudaMemcpyAsync", MAIN, 850, 2, 4);
	test_memcpy(t, "Memcpy DtoH (Device -> Pinned)", 0, 7, 860, 5, 99, 64);
	struct analyzed *a = analyze(t);
	tscope_analysis_free(a->analysis);
	assert_int_equal(tscope_analyze(&a->analysis, a->trace, a->timeline, &options, NULL),
			 TSCOPE_OK);
	return a;
}

TEST(each_grouping)
{
	static const struct {
		enum tscope_grouping by;
		const char *rows; /* name, device time, events, time of threads */
	} cases[] = {
		{ TSCOPE_BY_MODULE, "Net.Block.*.Linear 130 2 200\n"
				    "Net 7 1 500\n"
				    "(outside modules) 5 1 200\n"
				    "Net.Block.* 0 0 100\n" },
		{ TSCOPE_BY_SOURCE, "src/net.py(7): forward 130 2 280\n"
				    "(outside the user's code) 12 2 720\n" },
		{ TSCOPE_BY_OPERATOR, "aten::mm 130 2 40\naten::add 7 1 20\n(none) 5 1 0\n" },
		{ TSCOPE_BY_KERNEL, "sgemm 130 2 -\nelementwise_kernel 7 1 -\n"
				    "Memcpy DtoH (Device -> Pinned) 5 1 -\n" },
		{ TSCOPE_BY_CATEGORY, "gemm 130 2 -\nelementwise 7 1 -\ncopy 5 1 -\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct analyzed *a = analyze_by(cases[i].by, NULL);
		check_table(a, "attribution.rows: name device_ns event_count host_ns",
			    cases[i].rows);
		check_facts(a, "attribution: under match_count device_ns under_ns", "- - 142 142");
		check_facts(a, "attribution: unlinked_ns",
			    cases[i].by <= TSCOPE_BY_OPERATOR ? "5" : "-");
	}
}

TEST(under_a_name)
{
	static const struct {
		const char *under, *facts, *rows;
	} cases[] = {
		{ "Linear", "2 130", "sgemm 130\n" },
		{ "Linear_1", "1 30", "sgemm 30\n" },
		{ "Net.Block.*", "2 130", "sgemm 130\n" },
		{ "Net", "1 137", "sgemm 130\nelementwise_kernel 7\n" },
		{ "forward", "1 130", "sgemm 130\n" },
		{ "net.py", "1 130", "sgemm 130\n" },
		{ "net.py(7): forward", "1 130", "sgemm 130\n" },
		{ "et.py", "0 0", "" },
		{ "Line", "0 0", "" },
		{ "", "0 0", "" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct analyzed *a = analyze_by(TSCOPE_BY_NOTHING, cases[i].under);
		check_facts(a, "attribution: match_count under_ns", cases[i].facts);
		check_table(a, "attribution.rows: name device_ns", cases[i].rows);
	}
}

TEST(not_asked_for)
{
	struct analyzed *a = analyze_by(TSCOPE_BY_NOTHING, NULL);

	check_facts(a, "attribution: by device_ns", "- -");
	check_table(a, "attribution.rows: name", "");
}
