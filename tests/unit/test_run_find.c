/* SPDX-License-Identifier: MIT */
/*
 * run/find.c with folder.c, taste.c and settle.c: which files of a tree are a
 * run's, and why the others are not. Each case builds a small tree in a folder
 * of its own, which is the current one, and compares what is found as text:
 *
 *	kind path [rank N] [+ run.json] [named] [: reason]
 */
#include "run/find.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attributes.h"
#include "check.h"
#include "config.h"
#include "found_files.h"
#include "packed.h"
#include "test_folder.h"

#define STEPS "{\"step\":0,\"phases\":{\"forward\":0.1}}\n"
#define TRACE "{\"traceEvents\":[]}"
#define EVENTS "[{\"ph\":\"X\",\"ts\":1,\"dur\":1},\n"
#define RUN_JSON "{\"name\":\"run\",\"rank\":0}"
#define NO_EVENTS "JSON without traceEvents: neither a Chrome trace nor a PyTorch trace"
#define EMPTY "the file is empty: it was never written, or its writer was killed"
#define PICKLE "a Python pickle, not a trace: if it is about memory, use `tscope memory FILE`"
#define PAGE                                                                                       \
	"an HTML page: give the trace that it was made from (of a page of torch's memory_viz: "    \
	"use `tscope memory FILE`)"
#define ZIP                                                                                        \
	"zip archive: unpack it first, then give the files that are in it (a checkpoint of "       \
	"torch.save is one, too: it holds tensors and no memory snapshot)"
#define NOT_READ "not a kind of file that tscope reads"

/* ---- the tree ---- */

static void put_pipe(const char *path)
{
	make_folders(path);
	assert_int_equal(mkfifo(path, 0600), 0);
}

static void put_link(const char *path, const char *target)
{
	make_folders(path);
	assert_int_equal(symlink(target, path), 0);
}

/* ---- what is found ---- */

static void expect(const char *path, const char *expected)
{
	expect_files(&path, 1, expected);
}

static void expect_failure(const char *path, enum tscope_status status, const char *message)
{
	struct run_files files = { 0 };
	struct tscope_error err = { 0 };

	assert_int_equal(find_files(&files, &path, 1, &err), status);
	assert_string_equal(err.message, message);
	assert_int_equal(files.count, 0);
	assert_null(files.items);
	tsi_arena_deinit(&files.arena);
}

/* ---- layouts ---- */

TEST_IN_FOLDER(test_one_rank)
{
	put_file("run/steps.jsonl", STEPS);
	put_file("run/run.json", RUN_JSON);
	put_file("run/trace.json", TRACE);
	put_file("run/notes.txt", "a note");
	put_file("run/.hidden.json", TRACE);
	put_file("run/.cache/trace.json", TRACE);
	expect("run", "ignored run/notes.txt: " NOT_READ "\n"
		      "steps run/steps.jsonl + run/run.json\n"
		      "trace run/trace.json\n");
	expect("run/", "ignored run/notes.txt: " NOT_READ "\n"
		       "steps run/steps.jsonl + run/run.json\n"
		       "trace run/trace.json\n");
	expect("run/steps.jsonl", "steps run/steps.jsonl + run/run.json named\n");
}

TEST_IN_FOLDER(test_rank_children)
{
	put_file("run/rank10/steps.jsonl", STEPS);
	put_file("run/rank2/steps.jsonl", STEPS);
	put_file("run/rank2/run.json", "{\"name\":\"cut");
	put_file("run/rank2/kineto.json", TRACE);
	put_file("run/zz.json", TRACE);
	expect("run", "trace run/zz.json\n"
		      "trace run/rank2/kineto.json rank 2\n"
		      "steps run/rank2/steps.jsonl rank 2 + run/rank2/run.json\n"
		      "steps run/rank10/steps.jsonl rank 10\n");
	/* The folder that a program stands in shows in the paths as it was given. */
	expect(".", "trace ./run/zz.json\n"
		    "trace ./run/rank2/kineto.json rank 2\n"
		    "steps ./run/rank2/steps.jsonl rank 2 + ./run/rank2/run.json\n"
		    "steps ./run/rank10/steps.jsonl rank 10\n");
}

TEST_IN_FOLDER(test_rank_siblings)
{
	static const char siblings[] = "steps jobs/run_rank2/steps.jsonl rank 2\n"
				       "steps jobs/run_rank10/steps.jsonl rank 10\n";

	put_file("jobs/run_rank10/steps.jsonl", STEPS);
	put_file("jobs/run_rank2/steps.jsonl", STEPS);
	put_file("jobs/run_rank/steps.jsonl", STEPS);
	put_file("jobs/run_rank3b/steps.jsonl", STEPS);
	put_file("jobs/run_rank4", STEPS); /* no folder */
	put_file("jobs/rerun_rank5/steps.jsonl", STEPS);
	put_file("jobs/run2_rank6/steps.jsonl", STEPS);
	expect("jobs/run", siblings);
	expect("jobs/run/", siblings);

	put_file("jobs/run/trace.json", TRACE);
	expect("jobs/run", "trace jobs/run/trace.json\n"
			   "steps jobs/run_rank2/steps.jsonl rank 2\n"
			   "steps jobs/run_rank10/steps.jsonl rank 10\n");
	expect("jobs/run_rank2", "steps jobs/run_rank2/steps.jsonl rank 2\n");

	assert_int_equal(chdir("jobs"), 0);
	expect("run", "trace run/trace.json\n"
		      "steps run_rank2/steps.jsonl rank 2\n"
		      "steps run_rank10/steps.jsonl rank 10\n");
}

TEST_IN_FOLDER(test_named_files)
{
	static const char *const paths[] = { "b.txt", "-", "a.json", "image", "empty", "pipe" };

	put_file("b.txt", STEPS);
	put_file("a.json", TRACE);
	put_file("image", "\x89PNG\r\n\x1a\n");
	put_file("empty", "");
	put_pipe("pipe");
	/* What is named is read, whatever it holds: reading it says what is wrong. */
	expect_files(paths, TSI_COUNT_OF(paths),
		     "steps b.txt named\n"
		     "trace - named\n"
		     "trace a.json named\n"
		     "trace image named\n"
		     "trace empty named\n"
		     "trace pipe named\n");
	expect_files(paths, 0, "");
}

TEST_IN_FOLDER(test_missing)
{
	put_file("file", "");
	put_file("run2/trace.json", TRACE);
	expect_failure("nowhere", TSCOPE_E_IO, "nowhere: cannot open: No such file or directory");
	expect_failure("no/where", TSCOPE_E_IO, "no/where: cannot open: No such file or directory");
	expect_failure("file/in", TSCOPE_E_IO, "file/in: cannot open: Not a directory");
	expect_failure("run", TSCOPE_E_IO, "run: cannot open: No such file or directory");
	expect_failure("", TSCOPE_E_IO, ": cannot open: No such file or directory");
}

/* ---- kinds ---- */

#define BYTES(literal) literal, sizeof(literal) - 1

static const struct {
	const char *contents;
	size_t length;
	const char *expected;
} kind_cases[] = {
	{ BYTES(TRACE), "trace run/x\n" },
	{ BYTES("\xef\xbb\xbf \n" TRACE), "trace run/x\n" },
	{ BYTES("{\"schemaVersion\":1,\"traceEvents\":[{\"ph\":\"X\""), "trace run/x\n" },
	{ BYTES(EVENTS), "trace run/x\n" },
	{ BYTES(STEPS), "steps run/x\n" },
	{ BYTES(""), "ignored run/x: the file is empty\n" },
	{ BYTES(" \n\t\n"), "ignored run/x: the file holds nothing but white space\n" },
	{ BYTES("{}"), "ignored run/x: " NO_EVENTS "\n" },
	{ BYTES("{\"a\":1}\n{\"a\":2}\n"),
	  "ignored run/x: JSON lines without traceEvents, not a trace\n" },
	{ BYTES("[]"), "ignored run/x: " NO_EVENTS "\n" },
	{ BYTES("[1,2,3]"), "ignored run/x: " NO_EVENTS "\n" },
	{ BYTES("[{\"a\":1}]"), "ignored run/x: " NO_EVENTS "\n" },
	/* Timelines: times, which ascend; rows of time, action, bytes, category. */
	{ BYTES("[[1,2],[[0]]]"), "memory run/x\n" },
	{ BYTES("[[1700000000000000, 1700000000000000, 17"), "memory run/x\n" },
	{ BYTES("[[5"), "ignored run/x: " NO_EVENTS "\n" }, /* the number may go on */
	{ BYTES(" [ [ 5 ] ,"), "memory run/x\n" },
	{ BYTES("[[-1, 1, 37888, 7], [-1,"), "memory run/x\n" },
	{ BYTES("[[1700000000000000000, 4, -512, 0], "), "memory run/x\n" },
	{ BYTES("[[101, 2023, 17, 102], [101"), "ignored run/x: " NO_EVENTS "\n" },
	{ BYTES("[[3, 5, 7, 6]]"), "ignored run/x: " NO_EVENTS "\n" },
	{ BYTES("[[9, 1, 2, 8]]"), "ignored run/x: " NO_EVENTS "\n" },
	{ BYTES("[[101, 2023, 17, 102, 5, 6], "), "ignored run/x: " NO_EVENTS "\n" },
	{ BYTES("[[-5, 1, 2, 3, 5]]"), "ignored run/x: " NO_EVENTS "\n" },
	{ BYTES("[[0.1, 1.2], [2]]"), "ignored run/x: " NO_EVENTS "\n" },
	{ BYTES("[[\"a\"]]"), "ignored run/x: " NO_EVENTS "\n" },
	{ BYTES("[["), "ignored run/x: " NO_EVENTS "\n" },
	{ BYTES("[[]]"), "ignored run/x: " NO_EVENTS "\n" },
	/* Pickles: snapshots, those of torch 1.12 and statistics. */
	{ BYTES("\x80\x04\x95\0\0\0\0\0\0\0\0}\x94(\x8c\bsegments\x94]"), "memory run/x\n" },
	{ BYTES("\x80\x02]q\0}q\x01(X\n\0\0\0total_sizeq\x02"), "memory run/x\n" },
	{ BYTES("\x80\x03"
		"ccollections\ndefaultdict\nq\0"),
	  "memory run/x\n" },
	{ BYTES("!!python/object/apply:collections.defaultdict\nargs:\n"), "memory run/x\n" },
	/* The same words in another form. */
	{ BYTES("\x80\x04\x95\0\0\0\0\0\0\0\0}\x94\x8c\x0blocal_files"),
	  "ignored run/x: " PICKLE "\n" },
	{ BYTES("<html><p>segments total_size defaultdict"), "ignored run/x: " PAGE "\n" },
	/* Snapshots dumped as JSON, and what is called alike. */
	{ BYTES("{\"segments\": [{\"device\": 0, \"address\": 1, \"total_size\": 2"),
	  "memory run/x\n" },
	{ BYTES("{\"segments\":[{\"address\":1,\"blocks\":[]}]}"), "memory run/x\n" },
	{ BYTES("{\"device_traces\" : []}"), "memory run/x\n" },
	{ BYTES("\xef\xbb\xbf{\"segments\": [], \"device_traces\": [[]]}"), "memory run/x\n" },
	{ BYTES("{\"text\":\"\",\"segments\":[{\"start\":0.0}]}"),
	  "ignored run/x: " NO_EVENTS "\n" },
	{ BYTES("{\"keys\":[\"device_traces\"]}"), "ignored run/x: " NO_EVENTS "\n" },
	{ BYTES("{\"device_traces\":1,\"traceEvents\":["), "trace run/x\n" },
	{ BYTES("\x80\x04\x95"), "ignored run/x: " PICKLE "\n" },
	{ BYTES("\x89PNG\r\n\x1a\n"), "ignored run/x: PNG image, not a trace\n" },
	{ BYTES("hello"), "ignored run/x: not a trace: expected JSON that begins with { or [, "
			  "found \"hello\"\n" },
	{ BYTES("PK\x03\x04"), "refused run/x: " ZIP "\n" },
	{ BYTES("\xfd\x37zXZ\0"),
	  "refused run/x: xz-compressed data: unpack it first (xz -dk FILE)\n" },
};

TEST_IN_FOLDER(test_kinds)
{
	for (size_t i = 0; i < TSI_COUNT_OF(kind_cases); i++) {
		put_bytes("run/x", kind_cases[i].contents, kind_cases[i].length);
		expect("run", kind_cases[i].expected);
	}
}

/* Documents that go on behind what is tasted. */
TEST_IN_FOLDER(test_long_json)
{
	struct bytes bytes = { 0 };

	bytes_add_literal(&bytes, "{\"nodes\":\"");
	bytes_add_text(&bytes, RUN_HEAD_BYTES);
	put_bytes("run/object.json", bytes.data, bytes.length);
	bytes.data[0] = '[';
	put_bytes("run/strings.json", bytes.data, bytes.length);
	bytes.data[1] = '{';
	put_bytes("run/objects.json", bytes.data, bytes.length);
	bytes.data[1] = '[';
	put_bytes("run/rows.json", bytes.data, bytes.length);
	bytes_reset(&bytes);
	expect("run", "trace run/object.json\n"
		      "trace run/objects.json\n"
		      "ignored run/rows.json: " NO_EVENTS "\n"
		      "ignored run/strings.json: " NO_EVENTS "\n");
}

/* Whether a file about memory is looked for by its name, and what is said of the others. */
TEST_IN_FOLDER(test_memory_endings)
{
	static const char page[] =
		"<!DOCTYPE html>\n<html>\n<head>\n</head>\n<body>\n<script>\n"
		"const local_files = [{\"name\": \"s\", \"base64\": \"gAR9Lg\"}]";

	put_file("run/a.pickle", "\x80\x02}q\x01.");
	put_file("run/b.pkl", "\x80\x02}q\x01X\bsegments");
	put_file("run/c.pt", "\x80\x02}q\x01X\bsegments");
	put_file("run/d.yaml", "!!python/object/apply:collections.defaultdict\nargs:\n");
	put_file("run/e.yml", "--- !!python/object/apply:collections.defaultdict\nargs:\n");
	put_file("run/f.yaml", "---\nlearning_rate: 0.1\n");
	put_file("run/g.yaml", TRACE);
	put_file("run/h.log", "Iteration 2 training_step Peak FSDP memory stats: \n");
	put_file("run/i.log", "epoch 1\n");
	put_file("run/j.html", page);
	put_file("run/k.html", "<!DOCTYPE html>\n<html>\n<head>\n");
	put_file("run/l.gz", "\x80\x02}q\x01X\bsegments");
	put_file("run/m.html", "");
	/* Dumps that were killed are a loss; checkpoints are none. */
	put_file("run/n.pickle", "");
	put_file("run/o.pkl.gz", "");
	put_file("run/p.pkl", "PK\x03\x04");
	put_file("run/q.yaml", "---\nwords: [segments, total_size, local_files]\n");
	put_file("run/q2.yaml", "---\nfactory: defaultdict\n");
	put_file("run/r.html", "<!DOCTYPE html>\n<p>segments, defaultdict\n");
	put_link("run/s.pickle", "nothing");
	put_link("run/t.log", "nothing");
	expect("run", "ignored run/a.pickle: " NOT_READ "\n"
		      "memory run/b.pkl\n"
		      "ignored run/c.pt: " NOT_READ "\n"
		      "memory run/d.yaml\n"
		      "memory run/e.yml\n"
		      "ignored run/f.yaml: " NOT_READ "\n"
		      "ignored run/g.yaml: " NOT_READ "\n"
		      "memory run/h.log\n"
		      "ignored run/i.log: " NOT_READ "\n"
		      "memory run/j.html\n"
		      "ignored run/k.html: " NOT_READ "\n"
		      "memory run/l.gz\n"
		      "ignored run/m.html: " NOT_READ "\n"
		      "refused run/n.pickle: " EMPTY "\n"
		      "refused run/o.pkl.gz: " EMPTY "\n"
		      "ignored run/p.pkl: " ZIP "\n"
		      "ignored run/q.yaml: " NOT_READ "\n"
		      "ignored run/q2.yaml: " NOT_READ "\n"
		      "ignored run/r.html: " NOT_READ "\n"
		      "refused run/s.pickle: cannot open: No such file or directory\n"
		      "refused run/t.log: cannot open: No such file or directory\n");
#if HAVE_ZLIB
	struct bytes packed = { 0 };

	bytes_add_gzip(&packed, page, sizeof(page));
	put_bytes("cut/a.pickle.gz", packed.data, 10);
	bytes_reset(&packed);
	expect("cut", "refused cut/a.pickle.gz: gzip member 1: truncated\n");
#endif
}

/* Whoever names a file knows what it is: nothing is asked of its first words. */
TEST_IN_FOLDER(test_named_memory)
{
	static const char *const paths[] = { "a.pt", "b.yaml", "c.json", "d.html" };

	put_file("a.pt", "\x80\x02}q\x01.");
	put_file("b.yaml", "---\nlearning_rate: 0.1\n");
	put_file("c.json", "[[\"a\"]]");
	put_file("d.html", "<!DOCTYPE html>\n");
	expect_files(paths, TSI_COUNT_OF(paths),
		     "memory a.pt named\n"
		     "memory b.yaml named\n"
		     "memory c.json named\n"
		     "memory d.html named\n");
}

/* One file in two compressions counts once, whatever it is about. */
TEST_IN_FOLDER(test_memory_twins)
{
	put_file("run/s.pickle", "\x80\x02}q\x01X\bsegments");
	put_file("run/s.pickle.gz", "\x80\x02}q\x01X\bsegments");
	expect("run", "memory run/s.pickle\n"
		      "ignored run/s.pickle.gz: s.pickle again, in another compression\n");
}

/* Names that say enough are not opened: what lies there is no matter. */
TEST_IN_FOLDER(test_foreign_endings)
{
	put_file("run/a.ckpt", "PK\x03\x04");
	put_file("run/b.TXT", TRACE);
	put_file("run/c.csv.gz", TRACE);
	put_file("run/d.pt.trace.json", TRACE);
	put_file("run/pt", TRACE);
	expect("run", "ignored run/a.ckpt: a checkpoint: it holds tensors, and nothing that was "
		      "measured\n"
		      "ignored run/b.TXT: " NOT_READ "\n"
		      "ignored run/c.csv.gz: " NOT_READ "\n"
		      "trace run/d.pt.trace.json\n"
		      "trace run/pt\n");
}

TEST_IN_FOLDER(test_archives)
{
	char tar[512] = "run/rank0.json";

	memcpy(tar + 257, "ustar", 5);
	put_bytes("run/a.tar", tar, sizeof(tar));
	expect("run", "refused run/a.tar: tar archive: unpack it first, then give the files that "
		      "are in it\n");
#if HAVE_ZLIB
	struct bytes packed = { 0 };
	bytes_add_gzip(&packed, tar, sizeof(tar));
	put_bytes("run/a.tar", packed.data, packed.length);
	expect("run", "refused run/a.tar: gzip-compressed tar archive: unpack it first, then give "
		      "the files that are in it\n");
	/* The header alone: what it held is lost, and that is told. */
	put_bytes("run/a.tar", packed.data, 10);
	expect("run", "refused run/a.tar: gzip member 1: truncated\n");
	bytes_reset(&packed);
#endif
}

/* ---- twice ---- */

TEST_IN_FOLDER(test_compressions)
{
	/* The names decide here; what is inside need not be compressed. */
	put_file("run/trace.json", TRACE);
	put_file("run/trace.json.gz", TRACE);
	put_file("run/trace.json.old", TRACE);
	put_file("run/trace.json.lz4", TRACE);
	put_file("run/b.json", "");
	put_file("run/b.json.zst", TRACE);
	put_file("run/b.json.gz", TRACE);
	put_file("run/steps.jsonl.gz", STEPS);
	put_file("run/rank1/trace.json.gz", TRACE);
	expect("run", "ignored run/b.json: the file is empty\n"
		      "trace run/b.json.gz\n"
		      "ignored run/b.json.zst: b.json.gz again, in another compression\n"
		      "steps run/steps.jsonl.gz\n"
		      "trace run/trace.json\n"
		      "ignored run/trace.json.gz: trace.json again, in another compression\n"
		      "ignored run/trace.json.lz4: trace.json again, in another compression\n"
		      "trace run/trace.json.old\n"
		      "trace run/rank1/trace.json.gz rank 1\n");
}

TEST_IN_FOLDER(test_run_json)
{
	/* Without step records beside it, it is like any other. */
	put_file("a/run.json", RUN_JSON);
	put_file("a/trace.json", TRACE);
	expect("a", "ignored a/run.json: " NO_EVENTS "\n"
		    "trace a/trace.json\n");
	/* A trace by content, for all its name. */
	put_file("a/run.json", TRACE);
	put_file("a/steps.jsonl", STEPS);
	expect("a", "trace a/run.json\n"
		    "steps a/steps.jsonl + a/run.json\n"
		    "trace a/trace.json\n");
	put_file("b/run.json/notes.txt", "");
	put_file("b/steps.jsonl", STEPS);
	expect("b", "steps b/steps.jsonl\n"
		    "ignored b/run.json/notes.txt: " NOT_READ "\n");
}

TEST_IN_FOLDER(test_doubles)
{
	static const char *const paths[] = { "run", "run/rank0", "run/rank1/trace.json" };

	put_file("run/rank0/steps.jsonl", STEPS);
	put_file("run/rank1/trace.json", TRACE);
	put_link("run/latest.json", "rank1/trace.json");
	put_link("run/latest", "rank0");
	/* The names that tell ranks stay. */
	expect_files(paths, TSI_COUNT_OF(paths),
		     "steps run/rank0/steps.jsonl rank 0\n"
		     "trace run/rank1/trace.json rank 1\n");
}

/* ---- odd trees ---- */

TEST_IN_FOLDER(test_links)
{
	put_file("else/where/trace.json", TRACE);
	put_file("run/a.json", TRACE);
	put_link("run/rank3", "../else/where");
	put_link("run/self", ".");
	put_link("run/deep/up", "../..");
	put_link("run/gone.json", "nothing");
	put_pipe("run/pipe.json");
	/* run/deep/up is the folder around run, where run itself is found again. */
	expect("run", "trace run/a.json\n"
		      "refused run/gone.json: cannot open: No such file or directory\n"
		      "ignored run/pipe.json: not a regular file\n"
		      "ignored run/deep/up/run: a link to a folder that it lies in\n"
		      "trace run/rank3/trace.json rank 3\n"
		      "ignored run/self: a link to a folder that it lies in\n");
}

TEST_IN_FOLDER(test_depth)
{
	put_file("0/1/2/3/4/5/6/7/8/trace.json", TRACE);
	put_file("0/1/2/3/4/5/6/7/8/9/trace.json", TRACE);
	expect("0", "trace 0/1/2/3/4/5/6/7/8/trace.json\n"
		    "refused 0/1/2/3/4/5/6/7/8/9: a folder in too many others (limit: depth of "
		    "folders): name it\n");
}

TEST_IN_FOLDER(test_count_limit)
{
	static const char *const path = "run";
	struct run_files files = { 0 };
	struct tscope_error err = { 0 };

	put_file("run/rank0/a.json", TRACE);
	put_file("run/rank1/a.json", TRACE);
	/* Two folders and two files. */
	files.max_count = 4;
	assert_int_equal(find_files(&files, &path, 1, &err), TSCOPE_OK);
	assert_int_equal(files.count, 2);
	tsi_arena_deinit(&files.arena);
	files = (struct run_files){ .max_count = 3 };
	assert_int_equal(find_files(&files, &path, 1, &err), TSCOPE_E_LIMIT);
	assert_string_equal(err.message, "more files than a run may have (limit: files of a run)");
	tsi_arena_deinit(&files.arena);
}

/* A rank whose folder holds none of its files is missing, where others have steps. */
TEST_IN_FOLDER(test_folders_of_ranks)
{
	static const struct {
		const char *name;
		bool is_missing;
	} cases[] = {
		{ "rank1/run.json", true },     { "rank_1/notes.txt", true },
		{ "rank1/steps.jsonl", false }, { "ranks1/notes.txt", false },
		{ "rank1x/notes.txt", false },  { "rank/notes.txt", false },
		{ "logs/notes.txt", false },
	};

	for (size_t i = 0; i < 2 * TSI_COUNT_OF(cases); i++) {
		bool is_of_steps = i % 2;
		struct run_files files = { 0 };
		char file[64], first[64];
		size_t refused_count = 0;

		snprintf(first, sizeof(first), "run%zu/rank0/%s", i,
			 is_of_steps ? "steps.jsonl" : "notes.txt");
		snprintf(file, sizeof(file), "run%zu/%s", i, cases[i / 2].name);
		put_file(first, is_of_steps ? STEPS : "a note");
		put_file(file, strstr(file, "steps") ? STEPS : "{}");
		first[strcspn(first, "/")] = '\0';
		const char *folder = first;
		assert_int_equal(find_files(&files, &folder, 1, NULL), TSCOPE_OK);
		for (size_t k = 0; k < files.count; k++)
			refused_count += files.items[k].kind == RUN_FILE_REFUSED;
		bool has_steps = is_of_steps || strstr(file, "steps");
		bool misses_first = !is_of_steps && strstr(file, "steps");
		assert_int_equal(refused_count,
				 has_steps && (cases[i / 2].is_missing || misses_first));
		tsi_arena_deinit(&files.arena);
	}
}

TEST_IN_FOLDER(test_nomem)
{
	static const char *const paths[] = { "job", "run/steps.jsonl", "-" };

	put_file("run/steps.jsonl", STEPS);
	put_file("run/run.json", RUN_JSON);
	put_file("run/trace.json", TRACE);
	put_file("run/trace.json.gz", TRACE);
	put_file("run/rank1/notes.txt", "a note");
	put_file("run/rank1/empty", "");
	put_link("run/rank1/loop", "..");
	put_link("job_rank0", "run");
	sweep_find(paths, TSI_COUNT_OF(paths), 10);
}
