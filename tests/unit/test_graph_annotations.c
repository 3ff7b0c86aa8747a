/* SPDX-License-Identifier: MIT */
/* Modules of graphs' kernels that stand in a file beside the trace. */
#include "session/graph_annotations.h"

#include "base/attributes.h"
#include "check.h"
#include "test_folder.h"

static const struct tscope_trace_options options;

/* The module of node 7 as a trace of this path has it, or "-": none. */
static void check_module(const char *trace_path, const char *expected)
{
	struct node_modules modules = { 0 };
	struct tscope_error err = { 0 };

	if (tsi_graph_annotations_read(&modules, trace_path, &options, &err) != TSCOPE_OK)
		fail_msg("%s: %s", trace_path, err.message);
	struct str path = tsi_node_module(&modules, 7);
	if (!tsi_str_equal(path.length ? path : TSI_STR("-"), tsi_str_of(expected)))
		fail_msg("%s: %.*s", trace_path, (int)path.length, path.data);
	tsi_node_modules_deinit(&modules);
}

TEST_IN_FOLDER(where_they_are)
{
	check_module("one/trace.json", "-");
	put_file("one/kernel_annotations_rank0_fwd.json", "{\"7\": [{\"module_fqn\": \"one\"}]}");
	put_file("one/kernel_annotations_rank0_fwd.txt", "x");
	check_module("one/trace.json", "one");
	check_module("one/rank0_trace.json", "one");
	check_module("one/rank1_trace.json", "-"); /* of another rank */
	/* torchtitan: the folder above, and the rank before the first dot */
	put_file("runs/kernel_annotations_rank0_x.json", "{\"7\": [{\"module_fqn\": \"r0\"}]}");
	put_file("runs/kernel_annotations_rank12_x.json", "{\"7\": [{\"component\": \"r12\"}]}");
	put_file("runs/step_14/other.json", "{}");
	check_module("runs/step_14/000000.17.pt.trace.json.gz", "r0");
	check_module("runs/step_14/000012.17.pt.trace.json.gz", "r12");
	check_module("runs/step_14/trace.json", "-"); /* of which rank? */
	put_file("kernel_annotations_rank3.json", "{\"7\": {\"module_fqn\": \"here\"}}");
	check_module("trace.json", "here");
}

TEST_IN_FOLDER(what_they_say)
{
	static const struct {
		const char *text, *module;
	} cases[] = {
		{ "{\"7\": [{\"module_fqn\": \"layers\"}, {\"module_fqn\": \"layers.0.wq\"}]}",
		  "layers.0.wq" },
		{ "{\"7\": [{\"module_fqn\": \"layers.0\"}, {\"name\": \"all_reduce\"}]}",
		  "layers.0" },
		{ "{\"7\": [{\"module_fqn\": \"['a', 'b']\"}]}", "-" },
		{ "{\"8\": [{\"module_fqn\": \"a\"}], \"6\": [{\"module_fqn\": \"b\"}]}", "-" },
		{ "{\"7\": [\"forward\"]}", "-" },
		{ "{\"7\": 3}", "-" },
		{ "{}", "-" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		put_file("a/kernel_annotations_rank0.json", cases[i].text);
		check_module("a/t.json", cases[i].module);
	}
}

TEST_IN_FOLDER(what_is_none)
{
	static const struct {
		const char *text;
		enum tscope_status status;
		const char *message;
	} cases[] = {
		{ "[1]", TSCOPE_E_FORMAT, "annotations of kernels are a dict, not a list" },
		{ "{\"a\": []}", TSCOPE_E_FORMAT,
		  "annotations of kernels have numbers of nodes for keys" },
		{ "{\"7\": [", TSCOPE_E_DAMAGED, NULL },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct node_modules modules = { 0 };
		struct tscope_error err = { 0 };
		put_file("a/kernel_annotations_rank0.json", cases[i].text);
		assert_int_equal(tsi_graph_annotations_read(&modules, "a/t.json", &options, &err),
				 cases[i].status);
		if (cases[i].message)
			assert_string_equal(err.message, cases[i].message);
		tsi_node_modules_deinit(&modules);
	}
}

/* A trace is read all the same, and the file is counted. */
TEST_IN_FOLDER(damaged_beside_a_trace)
{
	static const struct tscope_trace_options finding = { .finds_annotations = true };
	struct tscope_trace *trace;
	struct tscope_error err = { 0 };

	put_file("kernel_annotations_rank0.json", "[");
	put_file("t.json",
		 "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", "
		 "\"pid\": 1, \"tid\": 1, \"ts\": 0, \"dur\": 5}]}");
	assert_int_equal(tscope_trace_open(&trace, "t.json", &finding, &err), TSCOPE_OK);
	assert_int_equal(tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_unread_annotations), 1);
	tscope_trace_free(trace);
	assert_int_equal(tscope_trace_open(&trace, "t.json", NULL, &err), TSCOPE_OK);
	assert_int_equal(tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_unread_annotations), 0);
	tscope_trace_free(trace);
}
