/* SPDX-License-Identifier: MIT */
/*
 * Replays of graphs beside traces of their capture. A letter of a graph is a node: its kernel has
 * the letter's name, in small; a and A are launched by aten::mm of [batch, 64] × [64, 32] or [64, 16]
 * (4096 or 2048 FLOPs a row of the batch), b by aten::relu, all others by no operator. Each kernel
 * of a replay takes 10 µs.
 */
#include <tscope/tscope.h>

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/attributes.h"
#include "check.h"
#include "test_folder.h"

enum { TEXT_CHARS = 32768 };

struct text {
	char data[TEXT_CHARS];
	size_t used;
	int now; /* µs */
};

TSI_PRINTF(2, 3) static void add(struct text *text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text->used += (size_t)vsnprintf(text->data + text->used, TEXT_CHARS - text->used, format,
					arguments);
	va_end(arguments);
	assert_true(text->used < TEXT_CHARS);
}

static void begin(struct text *text, int rank)
{
	*text = (struct text){ .now = 10 };
	add(text,
	    "{\"baseTimeNanoseconds\": 1700000000000000000, \"distributedInfo\": {\"rank\": %d}, "
	    "\"traceEvents\": [{\"ph\": \"M\", \"name\": \"x\", \"pid\": 1, \"args\": {}}",
	    rank);
}

static void event(struct text *text, const char *cat, const char *name, int ts, int dur,
		  const char *args)
{
	add(text,
	    ",\n{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": 1, \"tid\": 1, "
	    "\"ts\": %d, \"dur\": %d, \"args\": {%s}}",
	    cat, name, ts, dur, args);
}

static void put(struct text *text, const char *path)
{
	add(text, "]}");
	put_file(path, text->data);
}

static void capture_node(struct text *text, char node, int batch)
{
	char args[256], name[2] = { (char)tolower(node), '\0' };

	snprintf(args, sizeof(args),
		 "\"Input Dims\": [[%d, 64], [64, %d]], \"Input type\": [\"float\", \"float\"]",
		 batch, node == 'A' ? 16 : 32);
	if (name[0] == 'a' || name[0] == 'b')
		event(text, "cpu_op", name[0] == 'a' ? "aten::mm" : "aten::relu", text->now, 8,
		      args);
	snprintf(args, sizeof(args), "\"kernel\": \"%s\", \"grid\": [%d, 1, 1]", name, batch);
	event(text, "cuda_runtime", "hipModuleLaunchKernel", text->now + 2, 4, args);
	text->now += 10;
}

/* "4:abc 8:abc": graphs, one behind the other. */
static void put_capture(const char *graphs, const char *path, int rank)
{
	static struct text text;

	begin(&text, rank);
	for (const char *at = graphs; *at;) {
		int batch = atoi(at), start = text.now;
		char name[32];

		at = strchr(at, ':') + 1;
		event(&text, "cuda_runtime", "hipStreamBeginCapture", text.now + 1, 2, "");
		for (text.now += 5; *at && *at != ' '; at++)
			capture_node(&text, *at, batch);
		event(&text, "cuda_runtime", "hipStreamEndCapture", text.now, 2, "");
		text.now += 5;
		snprintf(name, sizeof(name), "capture_%d_FULL", batch);
		event(&text, "user_annotation", name, start, text.now - start, "");
		text.now += 5;
		at += *at == ' ';
	}
	put(&text, path);
}

/*
 * "3:abc": replays, by requests, 0: nothing says how many; a '*' in front: kernels say a grid of
 * 5 blocks.
 */
static void put_replays(const char *replays, const char *path)
{
	static struct text text;
	int correlation = 0;

	begin(&text, 0);
	for (const char *at = replays; *at;) {
		bool has_grid = *at == '*';
		int requests = atoi(at + has_grid), start = text.now;
		char args[128];

		at = strchr(at, ':') + 1;
		snprintf(args, sizeof(args), "\"correlation\": %d", ++correlation);
		event(&text, "cuda_runtime", "hipGraphLaunch", text.now + 1, 5, args);
		for (text.now += 10; *at && *at != ' '; at++, text.now += 11)
			add(&text,
			    ",\n{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%c\", \"pid\": 0, "
			    "\"tid\": 3, \"ts\": %d, \"dur\": 10, \"args\": {\"device\": 0, "
			    "\"stream\": 3, \"correlation\": %d%s}}",
			    *at, text.now, correlation, has_grid ? ", \"grid\": [5, 1, 1]" : "");
		snprintf(args, sizeof(args), "step[DECODE bs=%d]", requests);
		if (requests > 0)
			event(&text, "user_annotation", args, start, text.now - start, "");
		text.now += 20;
		at += *at == ' ';
	}
	put(&text, path);
}

/* Replays that are joined, in part, ambiguous, unknown; kernels unlike; joined µs; FLOPs. */
static const struct {
	const char *captures, *replays, *found;
} cases[] = {
	{ "4:abc", "4:abc", "1 0 0 0 0, 30 us, 16384" },
	{ "4:abc", "3:abc 4:abc", "2 0 0 0 0, 60 us, 32768" },
	/* no annotation speaks against the only graph */
	{ "4:abc", "0:abc", "1 0 0 0 0, 30 us, 16384" },
	/* the smallest that holds the batch: 4, 4, 8 */
	{ "8:abc 4:abc", "3:abc 4:abc 5:abc", "3 0 0 0 0, 90 us, 65536" },
	{ "8:abc 4:abc", "0:abc", "0 0 1 0 0, 0 us, -" },
	/* too small; more than half empty, and no other batch was captured */
	{ "4:abc", "5:abc", "0 0 1 0 0, 0 us, -" },
	{ "8:abc", "4:abc", "0 0 1 0 0, 0 us, -" },
	{ "8:abc", "5:abc", "1 0 0 0 0, 30 us, 32768" },
	{ "4:abc", "4:abd 4:ab 4:abcc", "0 0 0 3 1, 0 us, -" },
	{ "4:abc 4:xyc", "4:xbc 4:abc", "1 0 0 1 1, 30 us, 16384" },
	/* the grid says that it is another */
	{ "4:abc", "*4:abc", "0 0 0 1 3, 0 us, -" },
	{ "5:abc", "*5:abc", "1 0 0 0 0, 30 us, 20480" },
	/* the third of four a is lost */
	{ "4:abcabcabca", "4:abcabcbca", "0 1 0 0 0, 90 us, 49152" },
	/* any of ten a is lost: which is which is not known */
	{ "4:aaaaaaaaaabc", "4:aaaaaaaaabc", "0 1 0 0 0, 20 us, -" },
	/* two of ten are too many */
	{ "4:abcabcabca", "4:abcabcbc", "0 0 0 1 0, 0 us, -" },
	/* layers alike are one; kernels alike of other operators are not */
	{ "4:ab 4:ab", "4:ab 4:ab", "2 0 0 0 0, 40 us, 32768" },
	{ "4:ab 4:Ab", "4:ab", "0 0 1 0 0, 0 us, -" },
};

static void check_case(size_t i)
{
	const char *folder = "run";
	struct tscope_run *run;
	char found[128], flops[32] = "-";

	assert_int_equal(tscope_run_open(&run, &folder, 1, NULL, NULL), TSCOPE_OK);
	const struct tscope_analysis *of = tscope_run_analysis(run);
	struct tscope_value total = tsi_lookup(of, "flops.total");
	if (total.kind == TSCOPE_VALUE_REAL)
		snprintf(flops, sizeof(flops), "%.0f", total.real);
	snprintf(found, sizeof(found),
		 "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 ", %" PRId64 " us, %s",
		 tsi_lookup_int(of, "graphs.joined_count"),
		 tsi_lookup_int(of, "graphs.partial_count"),
		 tsi_lookup_int(of, "graphs.ambiguous_count"),
		 tsi_lookup_int(of, "graphs.unknown_count"),
		 tsi_lookup_int(of, "graphs.mismatch_count"),
		 tsi_lookup_int(of, "graphs.joined_ns") / 1000, flops);
	if (strcmp(found, cases[i].found) != 0)
		fail_msg("%s by %s: %s, expected %s", cases[i].replays, cases[i].captures, found,
			 cases[i].found);
	tscope_run_free(run);
}

TEST(replays_are_joined_to_their_capture)
{
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		assert_int_equal(enter_folder(state), 0);
		put_capture(cases[i].captures, "run/capture_traces/graph_capture_rank_0.json", 0);
		put_replays(cases[i].replays, "run/replay.json");
		check_case(i);
		assert_int_equal(leave_folder(state), 0);
	}
}

TEST_IN_FOLDER(another_rank_captured_its_own_graphs)
{
	const char *folder = "run";
	struct tscope_run *run;

	put_capture("4:abc", "run/capture_traces/graph_capture_rank_1.json", 1);
	put_replays("4:abc", "run/replay.json");
	assert_int_equal(tscope_run_open(&run, &folder, 1, NULL, NULL), TSCOPE_OK);
	assert_int_equal(tsi_lookup(tscope_run_analysis(run), "graphs.replay_count").kind,
			 TSCOPE_VALUE_ABSENT);
	tscope_run_free(run);
}

/* Two files of captures: the batch says which. */
TEST_IN_FOLDER(captures_of_several_files_are_one_set)
{
	const char *folder = "run";
	struct tscope_run *run;

	put_capture("4:abc", "run/capture_traces/bs_4_rank0.json", 0);
	put_capture("8:abc", "run/capture_traces/bs_8_rank0.json", 0);
	put_replays("3:abc 7:abc", "run/replay.json");
	assert_int_equal(tscope_run_open(&run, &folder, 1, NULL, NULL), TSCOPE_OK);
	const struct tscope_analysis *of = tscope_run_analysis(run);
	assert_int_equal(tsi_lookup_int(of, "graphs.captured_count"), 2);
	assert_int_equal(tsi_lookup_int(of, "graphs.joined_count"), 2);
	assert_true(tsi_lookup(of, "flops.total").real == 4096 * (4 + 8));
	tscope_run_free(run);
}
