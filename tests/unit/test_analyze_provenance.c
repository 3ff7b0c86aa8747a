/* SPDX-License-Identifier: MIT */
/* What run.json says as facts, and what a trace says of its environment. */
#include "analysis_check.h"
#include "step_text.h"

#include <string.h>

#include "analyze/analysis.h"
#include "check.h"
#include "fail_alloc.h"
#include "run/store.h"

static struct analyzed *analyze_run_json(const char *text)
{
	struct step_series steps = test_steps("1 forward=5\n");

	assert_int_equal(tsi_run_json_read((struct str){ text, strlen(text) }, &steps, NULL),
			 TSCOPE_OK);
	return analyze_rank(&steps, NULL);
}

TEST(facts_and_tables)
{
	struct analyzed *a = analyze_run_json(
		"{\"name\":\"base\\tline\",\"started\":1790857026.5,\"wall_time\":4.5,\"n_steps\":"
		"12,"
		"\"environment\":{\"torch\":\"2.8.0\",\"env\":{\"PYTHONHASHSEED\":\"0\","
		"\"deep\":{\"a\":[1, 2]}},\"cuda\":null,\"cudnn_benchmark\":false},"
		"\"config\":{\"lr\":1e-3,\"model\":{\"z\":1,\"a\":{\"y\":true,\"b\":\"t\"}},"
		"\"batch\":32,\"name\":\"\"}}");

	check_facts(a, "provenance: name started_s recorded_wall_s recorded_step_count",
		    "base\tline 1.79086e+09 4.5 12");
	/* Nested names are joined, a list is one value. */
	check_table(a, "provenance.environment: name value",
		    "cuda null\n"
		    "cudnn_benchmark false\n"
		    "env.PYTHONHASHSEED 0\n"
		    "env.deep.a [1,2]\n"
		    "torch 2.8.0\n");
	/* Nested values are whole, with their members by name. */
	check_table(a, "provenance.config: name value",
		    "batch 32\n"
		    "lr 0.001\n"
		    "model {\"a\":{\"b\":\"t\",\"y\":true},\"z\":1}\n"
		    "name \n");
}

TEST(what_is_not_said_is_absent)
{
	static const char *const texts[] = {
		"{}",
		"{\"name\":\"\",\"started\":null,\"wall_time\":NaN,\"n_steps\":-1}",
		"{\"name\":7,\"started\":[1],\"wall_time\":1e999,\"n_steps\":null}",
		"{\"environment\":[1],\"config\":\"lr\"}",
		"{\"environment\":{},\"config\":{}}",
		"{\"environment\":{\"env\":{}}}",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(texts); i++) {
		struct analyzed *a = analyze_run_json(texts[i]);

		check_facts(a, "provenance: name started_s recorded_wall_s recorded_step_count",
			    "- - - -");
		check_table(a, "provenance.environment: name", "");
		check_table(a, "provenance.config: name", "");
	}
}

TEST(a_trace_says_what_it_ran_on)
{
	struct test_trace *t = test_trace_new();

	test_metadata(t, "deviceProperties",
		      "[{\"id\": 0, \"name\": \"NVIDIA H100\"}, {\"id\": 1, \"name\": \"other\"}]");
	test_metadata(t, "distributedInfo",
		      "{\"backend\": \"nccl\", \"rank\": 0, \"nccl_version\": \"2.21.5\"}");
	test_annotation(t, "ProfilerStep#1", 1, 0, 95);
	test_call(t, "cudaLaunchKernel", 1, 5, 2, 1);
	test_kernel(t, "gemm", 0, 7, 10, 50, 1);
	struct analyzed *a = analyze(t);
	check_table(a, "provenance.environment: name value",
		    "trace.backend nccl\n"
		    "trace.gpu NVIDIA H100\n"
		    "trace.nccl_version 2.21.5\n");
	check_table(a, "provenance.config: name value", "");
	check_facts(a, "provenance: name recorded_step_count", "- -");
}

TEST(every_allocation_may_fail)
{
	static const char text[] = "{\"name\":\"a\",\"environment\":{\"torch\":\"2\",\"env\":{"
				   "\"A\":\"\\u00e4\",\"B\":[{\"x\":1,\"a\":\"\\n\"}]}},"
				   "\"config\":{\"lr\":0.5}}";

	struct alloc_sweep sweep = { .at_least = 20 };
	while (alloc_sweep_next(&sweep)) {
		struct step_series steps = test_steps("1 forward=5\n");
		struct analysis_scope scope = { .steps = &steps };
		struct tscope_analysis *analysis = NULL;

		alloc_sweep_start(&sweep);
		enum tscope_status status = tsi_run_json_read(TSI_STR(text), &steps, &sweep.err);
		if (status == TSCOPE_OK)
			status = tsi_analyze_level(&analysis, LEVEL_RANK, &scope, NULL, &sweep.err);
		alloc_sweep_check(&sweep, status);
		tscope_analysis_free(analysis);
		tsi_steps_deinit(&steps);
	}
}
