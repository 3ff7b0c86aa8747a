/* SPDX-License-Identifier: MIT */
/*
 * What is not read is called by its right name, with what to do: by its first bytes, by the keys of
 * a document, by the name of the file; the same whether it should have been a trace or about
 * memory.
 */
#include "decode/foreign.h"

#include <string.h>

#include "base/attributes.h"
#include "base/error.h"
#include "check.h"

#define BYTES(literal) literal, sizeof(literal) - 1

static const struct {
	const char *data;
	size_t length;
	const char *name; /* how what is said of it begins; NULL: nothing is */
} heads[] = {
	{ BYTES("memray\0\x0d\0\0\0"), "a memray capture" },
	{ BYTES("\x89TSR\r\n\x1a\n\1\0\0\0"),
	  "ranks of a run that `tscope map` read: use `tscope report" },
	{ BYTES("\1\0\0\0\0\0\0\0\2"), "a trace that VizTracer compressed (.cvf): `viztracer" },
	{ BYTES("\1\0\0\0\0\0\0\0\4"), NULL },
	{ BYTES("SQLite format 3\0…CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL ("),
	  "a report of Nsight Systems" },
	{ BYTES("SQLite format 3\0…CREATE TABLE experiment_tags ("), "a database of MLflow" },
	{ BYTES("SQLite format 3\0…CREATE TABLE t ("), NULL },
	{ BYTES("NVR\0\0\0"), "a report of Nsight Compute" },
	{ BYTES("PERFILE2h\0"), "a recording of Linux perf" },
	{ BYTES(":W&B\xe1\xbe\0"), "a log of Weights & Biases" },
	{ BYTES("{\xa9\3\xda\3str"), "sums of Python's cProfile" },
	{ BYTES("{)\3z\3str"), "sums of Python's cProfile" },
	{ BYTES("\xfb\xa9\3\xda\3str"), "sums of Python's cProfile" },
	{ BYTES("\x80\2}q\0(X\x09\0\0\0pg_configq\1"), "a dump of NCCL's flight recorder" },
	{ BYTES("\x80\2}q\0(X\x0c\0\0\0nccl_versionq\1"), "a dump of NCCL's flight recorder" },
	{ BYTES("\x80\2}q\0(X\x08\0\0\0segmentsq\1"), NULL },
	{ BYTES("\x0a\x30\x08\1\x12\x09/host:CPU"), "a profile of XLA (xplane.pb)" },
	{ BYTES("-----  -----\n   Name    Self CPU %      Self CPU\n"),
	  "a table that a profiler printed" },
	{ BYTES("FIT Profiler Report\nProfile stats for: [Strategy]X.training_step\n"),
	  "a table that a profiler printed" },
	{ BYTES("epoch,step,train_loss\n0,1,2.5\n"), "a CSV table with a column \"step\"" },
	{ BYTES("Wall time,Step,Value\r\n"), "a CSV table with a column \"step\"" },
	{ BYTES("epoch,train_loss\n"), NULL }, /* no steps */
	{ BYTES("step\n1\n"), NULL },          /* of what? */
	/* Its checksums, worked out bit by bit: of the length 24, and of the first event. */
	{ BYTES("\030\000\000\000\000\000\000\000\243\177K\042"
		"\011\000\000\000\000\000\000\370?"
		"\032\015brain.Event:2"
		"*(dl"),
	  "a TensorBoard event file" },
	{ BYTES("main;train;aten::mm 1234\nmain;train 7\n"), "collapsed stacks" },
	{ BYTES("main;train;aten::mm\n"), NULL }, /* no number */
	{ BYTES("main;train;aten::mm1234\n"), NULL },
	{ BYTES("step 1234\n"), NULL }, /* no frames */
	{ BYTES("a;b 12"), NULL },      /* no line */
	{ BYTES("1234\n"), NULL },
	{ BYTES("\n"), NULL },
	{ BYTES(""), NULL },
	{ BYTES("hello"), NULL },
};

static void assert_starts(const char *text, const char *start)
{
	if (strncmp(text, start, strlen(start)) != 0)
		assert_string_equal(text, start);
}

TEST(first_bytes)
{
	for (size_t i = 0; i < TSI_COUNT_OF(heads); i++) {
		struct str head = { heads[i].data, heads[i].length };
		const char *name = tsi_foreign_name_head(head);
		struct tscope_error err = { 0 };

		if (!heads[i].name) {
			assert_null(name);
			continue;
		}
		assert_non_null(name);
		assert_starts(name, heads[i].name);
		/* A pickle's or a page's reader knows less. */
		assert_int_equal(tsi_foreign_refuse(head, &err), TSCOPE_E_UNSUPPORTED);
		assert_string_equal(err.message, name);
		assert_int_equal(tsi_foreign_refuse_memory(head, &err), TSCOPE_E_UNSUPPORTED);
		assert_string_equal(err.message, name);
	}
}

TEST(only_pstats_begins_like_json)
{
	assert_true(tsi_is_pstats(TSI_STR("{\xa9\3")));
	assert_true(tsi_is_pstats(TSI_STR("{)\3")));
	assert_false(tsi_is_pstats(TSI_STR("{\"traceEvents\"")));
	assert_false(tsi_is_pstats(TSI_STR("{}")));
	assert_false(tsi_is_pstats(TSI_STR("{")));
	assert_false(tsi_is_pstats(TSI_STR("")));
}

#define NOTHING "JSON without traceEvents: neither a Chrome trace nor a PyTorch trace"

static const struct {
	const char *text;
	bool is_known, is_execution_trace;
	const char *name;
} documents[] = {
	{ "{\"schema\": \"1.1.1-chakra.0.0.4\", \"pid\": 1, \"nodes\": [", true, true,
	  "an execution trace (ExecutionTraceObserver)" },
	{ "{\"nodes\":[{\"a\":{}}],\"schema\":\"1\"}", true, true, "an execution trace" },
	{ "{\"schema\":\"1\",\"nodes\":[],\"traceEvents\":[", false, false, "an execution trace" },
	{ "{\"schema\":\"1\"", false, false, NOTHING },
	{ "{\"a\":{\"schema\":1,\"nodes\":[]}}", false, false, NOTHING },     /* not at the top */
	{ "{\"schema\":1,\"a\":\"nodes\"}", false, false, NOTHING },          /* no key */
	{ "{\"schema\":1,\"a\":\"\\\"nodes\\\":\"}", false, false, NOTHING }, /* in a text */
	{ "{\"$schema\":\"x\",\"profiles\":[]}", true, false, "a profile in speedscope's" },
	{ "{\"nodes\":[],\"samples\":[],\"timeDeltas\":[]}", true, false, "a V8 CPU profile" },
	{ "{\"version\":\"2.4\",\"pg_config\":{},\"entries\":[", true, false,
	  "a dump of NCCL's flight recorder" },
	{ "{\"string_table\":[\"a\"]}\n{\"x\":1}", true, false, "a log of torch.compile" },
	{ "{\"cells\":[]}", true, false, "a Jupyter notebook" },
	{ "{\"preToPost\":{},\"postToPre\":{},\"cppCodeToPost\":{},\"postToCppCode\":{}}", true,
	  false, "the nodes that Inductor's kernels were made of" },
	{ "{\"x\":1}\n{\"y\":2}\n", false, false, "JSON lines without traceEvents" },
	{ "{\"x\":1}\n", false, false, NOTHING },
	{ "{\"schema\\", false, false, NOTHING },
	{ "{", false, false, NOTHING },
	{ "[]", false, false, NOTHING },
};

TEST(keys_of_documents)
{
	for (size_t i = 0; i < TSI_COUNT_OF(documents); i++) {
		struct json_shape shape = { 0 };
		struct tscope_error err = { 0 };

		tsi_json_shape_add_text(&shape, tsi_str_of(documents[i].text));
		assert_int_equal(tsi_json_shape_is_known(&shape), documents[i].is_known);
		assert_int_equal(tsi_json_shape_is_execution_trace(&shape),
				 documents[i].is_execution_trace);
		tsi_foreign_refuse_json(&shape, &err);
		assert_starts(err.message, documents[i].name);
	}
}

/* Cut at every byte nothing is read beyond the cut, and what was told once stays told. */
TEST(cut_documents)
{
	for (size_t i = 0; i < TSI_COUNT_OF(documents); i++) {
		size_t length = strlen(documents[i].text);
		uint32_t keys = 0;

		for (size_t cut = 0; cut <= length; cut++) {
			struct json_shape shape = { 0 };
			char *copy = test_malloc(cut + 1); /* watched behind its end */

			memcpy(copy, documents[i].text, cut);
			tsi_json_shape_add_text(&shape, (struct str){ copy, cut });
			test_free(copy);
			assert_int_equal(shape.keys & keys, keys);
			keys = shape.keys;
		}
	}
}

static const struct {
	const char *path, *name;
} paths[] = {
	{ "job/report.nsys-rep", "a report of Nsight Systems" },
	{ "report.QDREP", "a report of Nsight Systems" },
	{ "gemm.ncu-rep", "a report of Nsight Compute" },
	{ "perf.data", "a recording of Linux perf" },
	{ "a/perf.data.old", "a recording of Linux perf" },
	{ "run-20260101_000000-abc.wandb", "a log of Weights & Biases" },
	{ "plugins/profile/x/host.xplane.pb", "a profile of XLA" },
	{ "x.pftrace", "a trace of Perfetto" },
	{ "x.perfetto-trace", "a trace of Perfetto" },
	{ "train.prof", "sums of Python's cProfile" },
	{ "x.stacks", "collapsed stacks" },
	{ "x.stack.gz", "collapsed stacks" },
	{ "viztracer/train/200/rank0.cvf", "a trace that VizTracer compressed" },
	{ "comm_traces/nccl_trace_rank_7", "a dump of NCCL's flight recorder" },
	{ "mlruns/mlflow.db", "a database of MLflow" },
	{ "fit-fts_extended_pytorch_profiler-0.txt", "a table that a profiler printed" },
	{ "validate-x-3.txt", "a table that a profiler printed" },
	{ "fit-x-0.pt.trace.json", NULL },
	{ "checkpoints/epoch=0-step=10.ckpt", "a checkpoint" },
	{ "lightning_logs/version_0/hparams.yaml", "settings of the job" },
	{ "not_hparams.yaml", NULL },
	{ "notes.txt", NULL },
	{ "fit-folder/notes.txt", NULL },
	{ "x.nsys-rep/y", NULL },
	{ "", NULL },
	{ ".gz", NULL },
};

TEST(names_of_files)
{
	for (size_t i = 0; i < TSI_COUNT_OF(paths); i++) {
		const char *name = tsi_foreign_name_path(paths[i].path);

		if (paths[i].name) {
			assert_non_null(name);
			assert_starts(name, paths[i].name);
		} else {
			assert_null(name);
		}
	}
}

/* A name tells only where the bytes did not. */
TEST(renaming)
{
	struct tscope_error err = { 0 };
	enum tscope_status status = tsi_fail(&err, TSCOPE_E_FORMAT, "not a trace");

	assert_int_equal(tsi_foreign_rename(status, "x.json", &err), TSCOPE_E_FORMAT);
	assert_string_equal(err.message, "not a trace");
	assert_int_equal(tsi_foreign_rename(TSCOPE_OK, "x.nsys-rep", &err), TSCOPE_OK);
	assert_int_equal(tsi_foreign_rename(TSCOPE_E_DAMAGED, "x.nsys-rep", &err),
			 TSCOPE_E_DAMAGED);
	assert_string_equal(err.message, "not a trace");
	assert_int_equal(tsi_foreign_rename(status, "x.nsys-rep", &err), TSCOPE_E_UNSUPPORTED);
	assert_starts(err.message, "a report of Nsight Systems");
	assert_int_equal(err.status, TSCOPE_E_UNSUPPORTED);
}
