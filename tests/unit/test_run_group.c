/* SPDX-License-Identifier: MIT */
/*
 * Ranks and windows of files that were read. A case is a list of items, one a
 * line: path, kind, rank (-1: not said), start and end of a trace. Expected
 * are the items in their new order: path, rank, window; or the error.
 */
#include "run/group.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_ITEMS = 8 };
#define STEPS RUN_ITEM_STEPS
#define TRACE RUN_ITEM_TRACE
#define MEMORY RUN_ITEM_MEMORY

struct given {
	const char *path;
	enum run_item_kind kind;
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
			.kind = given[i].kind,
			.rank = given[i].rank,
			.start_ns = given[i].start_ns,
			.end_ns = given[i].end_ns,
		};
	enum tscope_status status = tsi_group_items(items, count, &actual_note, &err);
	if (status != TSCOPE_OK) {
		assert_int_equal(status, TSCOPE_E_DAMAGED);
		assert_string_equal(err.message, expected);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(actual);

		assert_string_equal(items[i].path, given[items[i].file].path);
		snprintf(actual + length, sizeof(actual) - length, "%s%s %" PRId64 " %u\n",
			 items[i].is_stray ? "stray " : "", items[i].path, items[i].rank,
			 items[i].window);
	}
	assert_string_equal(actual, expected);
	assert_int_equal(actual_note, note);
}

#define CHECK(note, expected, ...)                                                                 \
	do {                                                                                       \
		static const struct given given[] = { __VA_ARGS__ };                               \
		check(given, sizeof(given) / sizeof(given[0]), (note), (expected));                \
	} while (0)

static void test_said_ranks(void **state)
{
	(void)state;
	CHECK(GROUP_AS_SAID, "b 0 0\na 1 0\n", { "a", TRACE, 1, 0, 10 }, { "b", TRACE, 0, 0, 10 });
	/* Step records stand before the traces of their rank. */
	CHECK(GROUP_AS_SAID, "r/steps.jsonl 3 0\nr/trace.json 3 0\n",
	      { "r/trace.json", TRACE, 3, 0, 10 }, { "r/steps.jsonl", STEPS, 3, 0, 0 });
}

static void test_windows(void **state)
{
	(void)state;
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

static void test_unsaid_ranks(void **state)
{
	(void)state;
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

static void test_contradictions(void **state)
{
	(void)state;
	CHECK(GROUP_AS_SAID,
	      "rank 2 is claimed by a and b, which overlap in time; name the files of one run only",
	      { "a", TRACE, 2, 0, 10 }, { "b", TRACE, 2, 9, 20 });
	CHECK(GROUP_AS_SAID, "rank 0 is claimed by a/s and b/s; name the files of one run only",
	      { "a/s", STEPS, 0, 0, 0 }, { "b/s", STEPS, 0, 0, 0 });
}

static void test_strays(void **state)
{
	(void)state;
	CHECK(GROUP_AS_SAID, "a/x 0 0\nb/y 1 0\nstray c/s -1 0\nstray c/t -1 0\n",
	      { "c/t", TRACE, -1, 0, 10 }, { "a/x", TRACE, 0, 0, 10 }, { "b/y", TRACE, 1, 0, 10 },
	      { "c/s", STEPS, -1, 0, 0 });
}

/* They stand behind all others, and never contradict each other. */
static void test_memory(void **state)
{
	(void)state;
	CHECK(GROUP_AS_SAID, "t 0 0\nu 1 0\na 0 0\nb 1 0\nc 1 0\n", { "c", MEMORY, 1, 0, 0 },
	      { "b", MEMORY, 1, 0, 0 }, { "u", TRACE, 1, 0, 10 }, { "a", MEMORY, 0, 0, 0 },
	      { "t", TRACE, 0, 0, 10 });
	/* A rank that nobody else has stays what it says, and strays are behind it. */
	CHECK(GROUP_AS_SAID, "a/t 0 0\nb/t 1 0\nm 7 0\nstray c/t -1 0\n", { "m", MEMORY, 7, 0, 0 },
	      { "a/t", TRACE, 0, 0, 10 }, { "b/t", TRACE, 1, 0, 10 }, { "c/t", TRACE, -1, 0, 10 });
}

static void test_memory_without_rank(void **state)
{
	(void)state;
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

static void test_memory_tells_the_rank(void **state)
{
	(void)state;
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

static void test_memory_alone(void **state)
{
	(void)state;
	CHECK(GROUP_AS_SAID, "m -1 0\nn -1 0\n", { "n", MEMORY, -1, 0, 0 },
	      { "m", MEMORY, -1, 0, 0 });
	CHECK(GROUP_AS_SAID, "o -1 0\nm 0 0\nn 1 0\n", { "n", MEMORY, 1, 0, 0 },
	      { "o", MEMORY, -1, 0, 0 }, { "m", MEMORY, 0, 0, 0 });
	CHECK(GROUP_AS_SAID, "m 3 0\nn 3 0\n", { "n", MEMORY, 3, 0, 0 }, { "m", MEMORY, -1, 0, 0 });
}

static void test_nothing(void **state)
{
	(void)state;
	check(NULL, 0, GROUP_AS_SAID, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_said_ranks),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_unsaid_ranks),
		cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_strays),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_memory_without_rank),
		cmocka_unit_test(test_memory_tells_the_rank),
		cmocka_unit_test(test_memory_alone),
		cmocka_unit_test(test_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
