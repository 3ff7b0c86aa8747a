/* SPDX-License-Identifier: MIT */
/*
 * Ranks and windows of files that were read. A case is a list of items, one a
 * line: path, kind, rank (-1: not said), start, end and depth of a trace. Expected
 * are the items in their new order: "stray", "apart" or "beside", path, rank, window; or the error.
 */
#include "run/group.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { MAX_ITEMS = 8, DEEPER = 16 };
#define STEPS RUN_ITEM_STEPS
#define TRACE RUN_ITEM_TRACE
#define MEMORY RUN_ITEM_MEMORY
#define METRICS RUN_ITEM_METRICS
#define COMPOSER (DEEPER + TRACE)
#define TORCH (2 * DEEPER + TRACE)

struct given {
	const char *path;
	unsigned kind; /* enum run_item_kind, and the depth of a trace */
	int64_t rank, start_ns, end_ns;
};

static void check(const struct given *given, size_t count, enum group_note note,
		  const char *expected)
{
	struct run_item items[MAX_ITEMS] = { 0 };
	enum group_note actual_note;
	struct tscope_error err = { 0 };
	char actual[1024] = "";

	assert_true(count <= MAX_ITEMS);
	for (size_t i = 0; i < count; i++)
		items[i] = (struct run_item){
			.file = i,
			.path = given[i].path,
			.kind = given[i].kind % DEEPER,
			.rank = given[i].rank,
			.start_ns = given[i].start_ns,
			.end_ns = given[i].end_ns,
			.depth = (unsigned char)(given[i].kind / DEEPER),
		};
	enum tscope_status status = tsi_group_items(items, count, 0, &actual_note, &err);
	if (status != TSCOPE_OK) {
		assert_int_equal(status, TSCOPE_E_DAMAGED);
		assert_string_equal(err.message, expected);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(actual);

		assert_string_equal(items[i].path, given[items[i].file].path);
		snprintf(actual + length, sizeof(actual) - length, "%s%s%s%s %" PRId64 " %u\n",
			 items[i].is_stray ? "stray " : "", items[i].is_apart ? "apart " : "",
			 items[i].kind == RUN_ITEM_SECONDARY ? "beside " : "", items[i].path,
			 items[i].rank, items[i].window);
	}
	assert_string_equal(actual, expected);
	assert_int_equal(actual_note, note);
}

#define CHECK(note, expected, ...)                                                                 \
	do {                                                                                       \
		static const struct given given[] = { __VA_ARGS__ };                               \
		check(given, sizeof(given) / sizeof(given[0]), (note), (expected));                \
	} while (0)

TEST(test_said_ranks)
{
	CHECK(GROUP_AS_SAID, "b 0 0\na 1 0\n", { "a", TRACE, 1, 0, 10 }, { "b", TRACE, 0, 0, 10 });
	/* Step records stand before the traces of their rank. */
	CHECK(GROUP_AS_SAID, "r/steps.jsonl 3 0\nr/trace.json 3 0\n",
	      { "r/trace.json", TRACE, 3, 0, 10 }, { "r/steps.jsonl", STEPS, 3, 0, 0 });
}

TEST(test_windows)
{
	CHECK(GROUP_AS_SAID, "b 2 0\na 2 1\nc 2 2\n", { "a", TRACE, 2, 10, 20 },
	      { "b", TRACE, 2, 0, 10 }, { "c", TRACE, 2, 25, 30 });
	/* One process, no rank: windows of a rank that stays unknown. */
	CHECK(GROUP_AS_SAID,
	      "h_1.1700000000001.pt.trace.json -1 0\n"
	      "h_1.1700000000002.pt.trace.json -1 1\n",
	      { "h_1.1700000000002.pt.trace.json", TRACE, -1, 10, 20 },
	      { "h_1.1700000000001.pt.trace.json", TRACE, -1, 0, 10 });
	/* Two processes one after the other: windows, too. */
	CHECK(GROUP_AS_SAID,
	      "h_1.1700000000001.pt.trace.json -1 0\n"
	      "h_2.1700000000002.pt.trace.json -1 1\n",
	      { "h_2.1700000000002.pt.trace.json", TRACE, -1, 10, 20 },
	      { "h_1.1700000000001.pt.trace.json", TRACE, -1, 0, 10 });
}

TEST(test_unsaid_ranks)
{
	/* Processes at the same time are different ranks. */
	CHECK(GROUP_NUMBERED,
	      "h_1.1700000000001.pt.trace.json 0 0\n"
	      "h_1.1700000000003.pt.trace.json 0 1\n"
	      "h_2.1700000000002.pt.trace.json 1 0\n",
	      { "h_2.1700000000002.pt.trace.json", TRACE, -1, 5, 20 },
	      { "h_1.1700000000001.pt.trace.json", TRACE, -1, 0, 10 },
	      { "h_1.1700000000003.pt.trace.json", TRACE, -1, 20, 30 });
	/* The first one has ended before the others meet. */
	CHECK(GROUP_NUMBERED, "a.json 0 0\nb.json 1 0\nc.json 2 0\n",
	      { "c.json", TRACE, -1, 20, 30 }, { "a.json", TRACE, -1, 0, 10 },
	      { "b.json", TRACE, -1, 12, 40 });
	/* The only rank of the run, or of the folder. */
	CHECK(GROUP_AS_SAID, "run/steps.jsonl 0 0\nrun/trace.json 0 0\n",
	      { "run/steps.jsonl", STEPS, -1, 0, 0 }, { "run/trace.json", TRACE, 0, 0, 10 });
	CHECK(GROUP_AS_SAID, "a/x 0 0\nb/steps.jsonl 1 0\nb/y 1 0\n", { "a/x", TRACE, 0, 0, 10 },
	      { "b/y", TRACE, 1, 0, 10 }, { "b/steps.jsonl", STEPS, -1, 0, 0 });
}

TEST(test_contradictions)
{
	CHECK(GROUP_AS_SAID,
	      "rank 2 is claimed by a and b, which overlap in time; name the files of one run only",
	      { "a", TRACE, 2, 0, 10 }, { "b", TRACE, 2, 9, 20 });
	CHECK(GROUP_AS_SAID, "rank 0 is claimed by a/s and b/s; name the files of one run only",
	      { "a/s", STEPS, 0, 0, 0 }, { "b/s", STEPS, 0, 0, 0 });
}

/* Where few ranks are claimed twice, whose files these are is not known, and the others go on. */
TEST(test_claims_within_quorum)
{
	static const struct run_item given[] = {
		{ .path = "a", .kind = RUN_ITEM_TRACE, .rank = 0, .start_ns = 0, .end_ns = 10 },
		{ .path = "b", .kind = RUN_ITEM_TRACE, .rank = 1, .start_ns = 0, .end_ns = 10 },
		{ .path = "c", .kind = RUN_ITEM_TRACE, .rank = 1, .start_ns = 9, .end_ns = 20 },
		{ .path = "d", .kind = RUN_ITEM_TRACE, .rank = 2, .start_ns = 0, .end_ns = 10 },
		{ .path = "e", .kind = RUN_ITEM_TRACE, .rank = 1, .start_ns = 30, .end_ns = 40 },
		{ .path = "f", .kind = RUN_ITEM_TRACE, .rank = 2, .start_ns = 10, .end_ns = 20 },
	};
	struct run_item items[TSI_COUNT_OF(given)];
	enum group_note note;

	memcpy(items, given, sizeof(given));
	assert_int_equal(tsi_group_items(items, TSI_COUNT_OF(items), 60, &note, NULL), TSCOPE_OK);
	assert_string_equal(items[0].path, "a");
	assert_null(items[0].rival);
	assert_string_equal(items[1].path, "d");
	assert_string_equal(items[2].path, "f");
	assert_int_equal(items[2].window, 1);
	for (size_t i = 3; i < TSI_COUNT_OF(items); i++)
		assert_true(items[i].is_stray);
	assert_string_equal(items[3].path, "b");
	assert_string_equal(items[3].rival, "c");
	assert_string_equal(items[4].rival, "b");
	assert_string_equal(items[5].rival, "b");
	/* One of three is more than 30 %. */
	memcpy(items, given, sizeof(given));
	assert_int_equal(tsi_group_items(items, TSI_COUNT_OF(items), 70, &note, NULL),
			 TSCOPE_E_DAMAGED);
}

/* Step records of one rank in folders of two jobs are of two jobs, however many there are. */
TEST(test_claims_of_two_jobs)
{
	struct run_item items[] = {
		{ .path = "x/rank0/s", .kind = RUN_ITEM_STEPS, .rank = 0 },
		{ .path = "x/rank1/s", .kind = RUN_ITEM_STEPS, .rank = 1 },
		{ .path = "y/rank1/s", .kind = RUN_ITEM_STEPS, .rank = 1 },
		{ .path = "x/rank2/s", .kind = RUN_ITEM_STEPS, .rank = 2 },
	};
	enum group_note note;

	assert_int_equal(tsi_group_items(items, 4, 60, &note, NULL), TSCOPE_E_DAMAGED);
	for (size_t i = 0; i < 4; i++)
		if (items[i].path[0] == 'y')
			items[i].path = "x/rank9/s";
	assert_int_equal(tsi_group_items(items, 4, 60, &note, NULL), TSCOPE_OK);
	assert_string_equal(items[2].rival, "x/rank9/s");
}

/* Several profilers of one rank at one time. */
TEST(test_depths)
{
	/* Two windows of the deepest; those beside are counted by profiler, overlapping or not. */
	CHECK(GROUP_AS_SAID,
	      "steps 0 0\ntorch1 0 0\ntorch2 0 1\nbeside composer 0 0\nbeside viz1 0 0\n"
	      "beside viz2 0 1\ncsv 0 0\nviz3 1 0\n",
	      { "viz2", TRACE, 0, 15, 18 }, { "torch2", TORCH, 0, 10, 20 },
	      { "csv", METRICS, 0, 0, 0 }, { "torch1", TORCH, 0, 0, 10 },
	      { "composer", COMPOSER, 0, 2, 12 }, { "viz1", TRACE, 0, 1, 19 },
	      /* Of its rank it is the deepest. */
	      { "viz3", TRACE, 1, 0, 9 }, { "steps", STEPS, 0, 0, 0 });
	/* Equally deep ones contradict each other as ever. */
	CHECK(GROUP_AS_SAID,
	      "rank 0 is claimed by a and b, which overlap in time; name the files of one run only",
	      { "a", COMPOSER, 0, 0, 10 }, { "b", COMPOSER, 0, 9, 20 }, { "c", TRACE, 0, 0, 20 });
	/* No rank is said: one process, though its two traces have two names. */
	CHECK(GROUP_AS_SAID, "trace.json -1 0\nbeside result.json -1 0\n",
	      { "result.json", TRACE, -1, 0, 10 }, { "trace.json", TORCH, -1, 5, 9 });
	/* Two processes: whose the other trace is is not known. */
	CHECK(GROUP_NUMBERED, "a.json 0 0\nb.json 1 0\nstray result.json -1 0\n",
	      { "result.json", TRACE, -1, 0, 10 }, { "b.json", TORCH, -1, 5, 9 },
	      { "a.json", TORCH, -1, 4, 9 });
}

TEST(test_strays)
{
	CHECK(GROUP_AS_SAID, "a/x 0 0\nb/y 1 0\nstray c/s -1 0\nstray c/t -1 0\n",
	      { "c/t", TRACE, -1, 0, 10 }, { "a/x", TRACE, 0, 0, 10 }, { "b/y", TRACE, 1, 0, 10 },
	      { "c/s", STEPS, -1, 0, 0 });
}

/* They stand behind all others, and never contradict each other. */
TEST(test_memory)
{
	CHECK(GROUP_AS_SAID, "t 0 0\nu 1 0\na 0 0\nb 1 0\nc 1 0\n", { "c", MEMORY, 1, 0, 0 },
	      { "b", MEMORY, 1, 0, 0 }, { "u", TRACE, 1, 0, 10 }, { "a", MEMORY, 0, 0, 0 },
	      { "t", TRACE, 0, 0, 10 });
	/* A rank that nobody else has stays what it says, and strays are behind it. */
	CHECK(GROUP_AS_SAID, "a/t 0 0\nb/t 1 0\nm 7 0\nstray c/t -1 0\n", { "m", MEMORY, 7, 0, 0 },
	      { "a/t", TRACE, 0, 0, 10 }, { "b/t", TRACE, 1, 0, 10 }, { "c/t", TRACE, -1, 0, 10 });
}

TEST(test_memory_without_rank)
{
	/* The only rank of the folder, then of the run; else none, and it is no stray. */
	CHECK(GROUP_AS_SAID, "a/t 0 0\nb/t 1 0\nm -1 0\nb/m 1 0\n", { "b/m", MEMORY, -1, 0, 0 },
	      { "m", MEMORY, -1, 0, 0 }, { "a/t", TRACE, 0, 0, 10 }, { "b/t", TRACE, 1, 0, 10 });
	CHECK(GROUP_AS_SAID, "a/t 4 0\nm 4 0\n", { "m", MEMORY, -1, 0, 0 },
	      { "a/t", TRACE, 4, 0, 10 });
	CHECK(GROUP_AS_SAID, "a/t 0 0\nb/t 1 0\na/m 0 0\na/n 1 0\n", { "a/n", MEMORY, 1, 0, 0 },
	      { "a/m", MEMORY, -1, 0, 0 }, { "a/t", TRACE, 0, 0, 10 }, { "b/t", TRACE, 1, 0, 10 });
	/* What other files say goes before what files about memory say. */
	CHECK(GROUP_AS_SAID, "a/t 0 0\na/m 0 0\na/n 1 0\n", { "a/n", MEMORY, 1, 0, 0 },
	      { "a/m", MEMORY, -1, 0, 0 }, { "a/t", TRACE, 0, 0, 10 });
}

TEST(test_memory_tells_the_rank)
{
	/* Nobody else says a rank: the only one that is said is that of all. */
	CHECK(GROUP_AS_SAID, "s 2 0\nt 2 0\nm 2 0\nn 2 0\n", { "m", MEMORY, 2, 0, 0 },
	      { "n", MEMORY, -1, 0, 0 }, { "t", TRACE, -1, 0, 10 }, { "s", STEPS, -1, 0, 0 });
	/* Two are said: of whom the trace is, nobody knows; it is no stray all the same. */
	CHECK(GROUP_AS_SAID, "t -1 0\nm 0 0\nn 1 0\n", { "n", MEMORY, 1, 0, 0 },
	      { "m", MEMORY, 0, 0, 0 }, { "t", TRACE, -1, 0, 10 });
	/* Processes that ran at the same time are not made one. */
	CHECK(GROUP_NUMBERED, "h_1.pt.trace.json 0 0\nh_2.pt.trace.json 1 0\nm 0 0\n",
	      { "h_1.pt.trace.json", TRACE, -1, 0, 10 }, { "h_2.pt.trace.json", TRACE, -1, 0, 10 },
	      { "m", MEMORY, 0, 0, 0 });
}

TEST(test_memory_alone)
{
	CHECK(GROUP_AS_SAID, "m -1 0\nn -1 0\n", { "n", MEMORY, -1, 0, 0 },
	      { "m", MEMORY, -1, 0, 0 });
	CHECK(GROUP_AS_SAID, "o -1 0\nm 0 0\nn 1 0\n", { "n", MEMORY, 1, 0, 0 },
	      { "o", MEMORY, -1, 0, 0 }, { "m", MEMORY, 0, 0, 0 });
	CHECK(GROUP_AS_SAID, "m 3 0\nn 3 0\n", { "n", MEMORY, 3, 0, 0 }, { "m", MEMORY, -1, 0, 0 });
}

/* They stand behind the others of their rank, and never contradict each other. */
TEST(test_metrics)
{
	CHECK(GROUP_AS_SAID, "s 0 0\nt 0 0\nl 0 0\nm 0 0\nu 1 0\nn 1 0\nz 0 0\n",
	      { "m", METRICS, 0, 0, 0 }, { "z", MEMORY, 0, 0, 0 }, { "l", METRICS, 0, 0, 0 },
	      { "n", METRICS, 1, 0, 0 }, { "s", STEPS, 0, 0, 0 }, { "t", TRACE, 0, 0, 10 },
	      { "u", TRACE, 1, 0, 10 });
	/* Without a rank: that of the folder, of the run, or the lowest. */
	CHECK(GROUP_AS_SAID, "a/t 3 0\nm 3 0\nb/t 7 0\nb/m 7 0\n", { "b/m", METRICS, -1, 0, 0 },
	      { "m", METRICS, -1, 0, 0 }, { "b/t", TRACE, 7, 0, 10 }, { "a/t", TRACE, 3, 0, 10 });
	/* The nearest folder in which a rank is said; where several are, the lowest. */
	CHECK(GROUP_AS_SAID, "j/2/t/t 2 0\nj/l/m 2 0\nj/3/t/t 3 0\nj/3/l/x/m 3 0\n",
	      { "j/l/m", METRICS, -1, 0, 0 }, { "j/3/l/x/m", METRICS, -1, 0, 0 },
	      { "j/2/t/t", TRACE, 2, 0, 10 }, { "j/3/t/t", TRACE, 3, 0, 10 });
	CHECK(GROUP_AS_SAID, "j/2/t/t 2 0\nj/3/t/t 3 0\nj/l/z -1 0\nj/3/l/z 3 0\n",
	      { "j/l/z", MEMORY, -1, 0, 0 }, { "j/3/l/z", MEMORY, -1, 0, 0 },
	      { "j/2/t/t", TRACE, 2, 0, 10 }, { "j/3/t/t", TRACE, 3, 0, 10 });
	CHECK(GROUP_AS_SAID, "a/t 4 0\nm 4 0\n", { "m", METRICS, -1, 0, 0 },
	      { "a/t", TRACE, 4, 0, 10 });
	CHECK(GROUP_AS_SAID, "t -1 0\nm -1 0\n", { "m", METRICS, -1, 0, 0 },
	      { "t", TRACE, -1, 0, 10 });
	CHECK(GROUP_NUMBERED, "h_1.pt.trace.json 0 0\nm 0 0\nh_2.pt.trace.json 1 0\n",
	      { "h_1.pt.trace.json", TRACE, -1, 0, 10 }, { "h_2.pt.trace.json", TRACE, -1, 0, 10 },
	      { "m", METRICS, -1, 0, 0 });
	/* They make no rank where there are steps ... */
	CHECK(GROUP_AS_SAID, "t 0 0\nm 0 0\napart n 5 0\n", { "n", METRICS, 5, 0, 0 },
	      { "m", METRICS, 0, 0, 0 }, { "t", TRACE, 0, 0, 10 });
	/* ... but tell the only one that is said. */
	CHECK(GROUP_AS_SAID, "t 2 0\nm 2 0\n", { "m", METRICS, 2, 0, 0 },
	      { "t", TRACE, -1, 0, 10 });
	CHECK(GROUP_AS_SAID, "t -1 0\nl -1 0\napart m 2 0\nn 3 0\n", { "m", METRICS, 2, 0, 0 },
	      { "n", MEMORY, 3, 0, 0 }, { "l", METRICS, -1, 0, 0 }, { "t", TRACE, -1, 0, 10 });
}

/* Folders that count the ranks of each node, and traces that say theirs in the job. */
TEST(test_ranks_of_nodes)
{
	CHECK(GROUP_AS_SAID, "n0/rank0/t 0 0\nn0/rank0/m 0 0\nn1/rank0/x/t 8 0\nn1/rank0/y/m 8 0\n",
	      { "n0/rank0/t", TRACE, 0, 0, 10 }, { "n0/rank0/m", METRICS, 0, 0, 0 },
	      { "n1/rank0/x/t", TRACE, 8, 0, 10 }, { "n1/rank0/y/m", METRICS, 0, 0, 0 });
	CHECK(GROUP_AS_SAID, "rank0/t 8 0\nrank0/z 8 0\n", { "rank0/t", TRACE, 8, 0, 10 },
	      { "rank0/z", MEMORY, 0, 0, 0 });
	/* What a file or its own name says counts, and so does a folder of several ranks. */
	CHECK(GROUP_AS_SAID, "rank0/t 8 0\nrank0/z 3 0\n", { "rank0/t", TRACE, 8, 0, 10 },
	      { "rank0/z", MEMORY, 3, 0, 0 });
	CHECK(GROUP_AS_SAID, "rank0/t 8 0\napart rank0/rank0.csv 0 0\n",
	      { "rank0/t", TRACE, 8, 0, 10 }, { "rank0/rank0.csv", METRICS, 0, 0, 0 });
	CHECK(GROUP_AS_SAID, "rank0/t 8 0\nrank0/u 9 0\napart rank0/m 0 0\n",
	      { "rank0/t", TRACE, 8, 0, 10 }, { "rank0/u", TRACE, 9, 0, 10 },
	      { "rank0/m", METRICS, 0, 0, 0 });
	CHECK(GROUP_AS_SAID, "rank01/t 8 0\napart rank0/m 0 0\n", { "rank01/t", TRACE, 8, 0, 10 },
	      { "rank0/m", METRICS, 0, 0, 0 });
}

TEST(test_metrics_alone)
{
	CHECK(GROUP_AS_SAID, "m -1 0\nn -1 0\n", { "n", METRICS, -1, 0, 0 },
	      { "m", METRICS, -1, 0, 0 });
	/* The ranks that they say are those of the run; the others are the lowest's. */
	CHECK(GROUP_AS_SAID, "a/m 2 0\no 2 0\na/n 4 0\nb/l 4 0\nb/m 4 0\n",
	      { "b/m", METRICS, 4, 0, 0 }, { "o", METRICS, -1, 0, 0 }, { "a/m", METRICS, 2, 0, 0 },
	      { "a/n", METRICS, 4, 0, 0 }, { "b/l", METRICS, -1, 0, 0 });
	/* Files about memory tell theirs, and are behind. */
	CHECK(GROUP_AS_SAID, "m 1 0\nz 1 0\n", { "z", MEMORY, 1, 0, 0 },
	      { "m", METRICS, -1, 0, 0 });
	CHECK(GROUP_AS_SAID, "m 6 0\ny 6 0\nz 7 0\n", { "z", MEMORY, 7, 0, 0 },
	      { "y", MEMORY, -1, 0, 0 }, { "m", METRICS, 6, 0, 0 });
}

TEST(test_nothing)
{
	check(NULL, 0, GROUP_AS_SAID, "");
}
