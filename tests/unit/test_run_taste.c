/* SPDX-License-Identifier: MIT */
/*
 * run/taste.c on what other profilers leave in the folder of a run: it is called by its right name
 * and left out, and an execution trace where the profiler's trace should be is a problem.
 */
#include "run/taste.h"

#include <string.h>

#include "base/attributes.h"
#include "check.h"
#include "test_folder.h"

#define BYTES(literal) literal, sizeof(literal) - 1
#define EXECUTION "{\"schema\":\"1.1.1-chakra.0.0.4\",\"pid\":1,\"start_ts\":2,\"nodes\":["
#define AT_TRACE "an execution trace (ExecutionTraceObserver) by the name of a trace"
#define NOT_TRACE "an execution trace (ExecutionTraceObserver), not a profiler trace"
#define NOT_READ "not a kind of file that tscope reads"

/* Each as if it stood in the folder of a run. */
static const struct {
	const char *name;
	const char *data;
	size_t length;
	enum run_file_kind kind;
	const char *reason; /* how it begins */
} cases[] = {
	/* Execution traces: whole, cut, and where nobody would expect the trace. */
	{ "rank0.json", BYTES(EXECUTION "]}"), RUN_FILE_REFUSED, AT_TRACE },
	{ "rank12.json", BYTES(EXECUTION "{\"id\":1"), RUN_FILE_REFUSED, AT_TRACE },
	{ "rank0_et.json", BYTES(EXECUTION "]}"), RUN_FILE_IGNORED, NOT_TRACE },
	{ "et.json", BYTES(EXECUTION "]}"), RUN_FILE_IGNORED, NOT_TRACE },
	{ "rank.json", BYTES(EXECUTION "]}"), RUN_FILE_IGNORED, NOT_TRACE },
	{ "rank0.json", BYTES("{\"traceEvents\":["), RUN_FILE_TRACE, NULL },
	/* What is left of the file of a rank, by its name; of other files it says nothing. */
	{ "rank0.json", BYTES("{\"schemaVersion\":1,\"nodes\":["), RUN_FILE_REFUSED,
	  "ends inside" },
	{ "rank0.json", BYTES("{"), RUN_FILE_REFUSED, "ends inside" },
	{ "rank0.json", BYTES("{\"a}"), RUN_FILE_REFUSED, "ends inside" },
	{ "rank0.json", BYTES("{\"a\":\"{\"}"), RUN_FILE_IGNORED, "JSON without traceEvents" },
	{ "rank0.json", BYTES(""), RUN_FILE_REFUSED, "the file is empty" },
	{ "host_1.2.pt.trace.json", BYTES("\0\0\0"), RUN_FILE_REFUSED, "holds nothing but NUL" },
	{ "steps.jsonl", BYTES(""), RUN_FILE_REFUSED, "the file is empty" },
	{ "rank0.json", BYTES("\xff\xfe{\0"), RUN_FILE_REFUSED, "UTF-16 text" },
	{ "rank0.txt", BYTES(""), RUN_FILE_IGNORED, NOT_READ },
	{ "settings.json", BYTES("{"), RUN_FILE_IGNORED, "JSON without traceEvents" },
	{ "run.json", BYTES("{"), RUN_FILE_IGNORED, "JSON without traceEvents" },
	/* By what they hold, whatever they are called. */
	{ "x.json", BYTES("{\"$schema\":\"x\",\"profiles\":["), RUN_FILE_IGNORED,
	  "a profile in speedscope's own format" },
	{ "x.cpuprofile", BYTES("{\"nodes\":[],\"samples\":[],\"timeDeltas\":[]}"),
	  RUN_FILE_IGNORED, "a V8 CPU profile" },
	{ "nccl.json", BYTES("{\"version\":\"2.4\",\"pg_config\":{},\"entries\":["), RUN_FILE_DUMP,
	  NULL },
	{ "rank_0", BYTES("\x80\2}q\0(X\x07\0\0\0versionX\x09\0\0\0pg_config"), RUN_FILE_DUMP,
	  NULL },
	{ "rank_0.pickle", BYTES("\x80\2}q\0(X\x07\0\0\0versionX\x09\0\0\0pg_config"),
	  RUN_FILE_DUMP, NULL },
	/* A trace names groups, too. */
	{ "rank0.json",
	  BYTES("{\"schemaVersion\":1,\"distributedInfo\":{\"pg_config\":[{\"pg_name\":\"0\"}]},"),
	  RUN_FILE_REFUSED, "ends inside" },
	{ "data.pickle", BYTES("\x80\2}q\0."), RUN_FILE_IGNORED, NOT_READ },
	{ "data.pickle", BYTES("\x80\2}q\0(X\x07\0\0\0versionX"), RUN_FILE_REFUSED,
	  "a pickle that ends before its end" },
	{ "raw.jsonl", BYTES("{\"string_table\":[\"a\"]}\n{\"x\":1}\n"), RUN_FILE_IGNORED,
	  "a log of torch.compile" },
	{ "train.profile", BYTES("{\xa9\3\xda\1x"), RUN_FILE_IGNORED, "sums of Python's cProfile" },
	{ "mlflow.sqlite", BYTES("SQLite format 3\0 CREATE TABLE experiment_tags"),
	  RUN_FILE_IGNORED, "a database of MLflow" },
	{ "export.db", BYTES("SQLite format 3\0 CUPTI_ACTIVITY_KIND_KERNEL"), RUN_FILE_IGNORED,
	  "a report of Nsight Systems" },
	{ "other.db", BYTES("SQLite format 3\0"), RUN_FILE_IGNORED, "SQLite database" },
	{ "summary.log", BYTES("----\n  Name  Self CPU %  \n"), RUN_FILE_IGNORED,
	  "a table that a profiler printed" },
	{ "out.log", BYTES("step 1 of 10\n"), RUN_FILE_IGNORED, NOT_READ },
	{ "memray.html", BYTES("<!DOCTYPE html>\n<title>memray-flamegraph"), RUN_FILE_IGNORED,
	  "a report of memray in an HTML page" },
	/* Captures of memray among checkpoints, and of a child; what memray says of one. */
	{ "rank3.bin", BYTES("memray\0\13\0\0\0"), RUN_FILE_MEMORY, NULL },
	{ "rank3.bin.4711", BYTES("memray\0\13\0\0\0"), RUN_FILE_MEMORY, NULL },
	{ "capture", BYTES("memray\0"), RUN_FILE_MEMORY, NULL },
	{ "model.bin", BYTES("memray"), RUN_FILE_IGNORED, NOT_READ },
	{ "model.bin", BYTES("\0\0\x80\x3f"), RUN_FILE_IGNORED, NOT_READ },
	{ "model.bin", BYTES("{\"traceEvents\":["), RUN_FILE_IGNORED, NOT_READ },
	{ "pytorch_model.bin", BYTES("PK\3\4"), RUN_FILE_IGNORED, "zip archive" },
	{ "model.bin", BYTES(""), RUN_FILE_IGNORED, NOT_READ },
	{ "rank3.bin.json",
	  BYTES("{\n  \"total_num_allocations\": 3,\n  \"total_bytes_allocated\" : 5,"),
	  RUN_FILE_MEMORY, NULL },
	{ "x.json", BYTES("{\"total_num_allocations\": 3}"), RUN_FILE_IGNORED,
	  "JSON without traceEvents" },
	/* By what they are called, where what they hold tells nothing. */
	{ "x.nsys-rep", BYTES("\x16\x2a"), RUN_FILE_IGNORED, "a report of Nsight Systems" },
	{ "x.nsys-rep.gz", BYTES("\x16\x2a"), RUN_FILE_IGNORED, "a report of Nsight Systems" },
	{ "host.xplane.pb", BYTES("\x0a\x02"), RUN_FILE_IGNORED, "a profile of XLA" },
	{ "x.pftrace", BYTES("\x0a\x02"), RUN_FILE_IGNORED, "a trace of Perfetto" },
	{ "x.stacks", BYTES("main 5\n"), RUN_FILE_IGNORED, "collapsed stacks" },
	{ "fit-name-0.txt", BYTES("----"), RUN_FILE_IGNORED, "a table that a profiler printed" },
	{ "notes.txt", BYTES("----"), RUN_FILE_IGNORED, NOT_READ },
	{ "x.ckpt", BYTES("PK\3\4"), RUN_FILE_IGNORED, "a checkpoint" },
	{ "hparams.yaml", BYTES("lr: 0.1\n"), RUN_FILE_IGNORED, "settings of the job" },
	{ "other.yaml", BYTES("lr: 0.1\n"), RUN_FILE_IGNORED, NOT_READ },
	/* What its name says and its bytes contradict is read. */
	{ "x.prof", BYTES("{\"traceEvents\":["), RUN_FILE_TRACE, NULL },
	{ "x.stacks", BYTES(""), RUN_FILE_IGNORED, "the file is empty" },
};

static struct arena arena;

static void taste(struct run_file *file, size_t i, bool is_named)
{
	*file = (struct run_file){ .is_named = is_named,
				   .path = cases[i].name,
				   .name_rank = tsi_rank_of_path(cases[i].name) };
	put_bytes(file->path, cases[i].data, cases[i].length);
	tsi_run_taste(file, NULL, &arena);
	assert_false(arena.has_failed);
}

TEST_IN_FOLDER(in_a_folder)
{
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct run_file file;

		taste(&file, i, false);
		if (file.kind != cases[i].kind)
			fail_msg("%s: kind %d (%s)", cases[i].name, file.kind, file.reason);
		if (!cases[i].reason)
			assert_null(file.reason);
		else if (strncmp(file.reason, cases[i].reason, strlen(cases[i].reason)) != 0)
			assert_string_equal(file.reason, cases[i].reason);
	}
	tsi_arena_deinit(&arena);
}

/* Whoever names a file is told by those who read it. */
TEST_IN_FOLDER(named)
{
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct run_file file;

		taste(&file, i, true);
		assert_true(file.kind == RUN_FILE_TRACE || file.kind == RUN_FILE_MEMORY ||
			    file.kind == RUN_FILE_DUMP);
		assert_null(file.reason);
	}
	tsi_arena_deinit(&arena);
}
