/* SPDX-License-Identifier: MIT */
/* Figures of finetuning-scheduler's statistics: what is largest, what calls changed, growth. */
#include "analysis_check.h"

#include "base/attributes.h"
#include "check.h"

#define ALL                                                                                        \
	"memory_stats: path moment_count value_count rank_count call_count "                       \
	"peak_allocated_bytes peak_reserved_bytes num_alloc_retries num_ooms "                     \
	"growth_bytes_per_call growth_function growth_call_count"
#define CHANGES "memory_stats.changes: rank function iteration name start end change"
#define FUNCTIONS                                                                                  \
	"memory_stats.by_function: rank function call_count allocated_change_bytes "               \
	"reserved_change_bytes rss_change_bytes"
#define MOMENTS                                                                                    \
	"memory_stats.moments: rank function iteration context allocated_bytes reserved_bytes "    \
	"active_bytes rss_bytes"

#define ALLOCATED "'allocated_bytes.all.current'"

TEST(facts_are_the_largest)
{
	struct analyzed *a = analyze_memory(
		"{'0.step.0.start': {'allocated_bytes.all.peak': 90, num_ooms: 0, rss: 7},"
		" '0.step.0.end': {'allocated_bytes.all.peak': 70, num_ooms: 2, rss: none},"
		" '1.step.0.end': {'reserved_bytes.all.peak': 128, num_alloc_retries: 3,"
		"                  b: 1.5, a: -2, c: none},"
		" '1.step.1.end': {b: 1, a: -3}}",
		NULL);

	/* Values 3 + 3 + 5 + 2, nulls included; one start has its end. */
	check_facts(a, ALL, "test 4 13 2 1 90 128 3 2 - - -");
	check_table(a, "memory_stats.largest: name value",
		    "a -2\nallocated_bytes.all.peak 90\nb 1.5\nnum_alloc_retries 3\nnum_ooms 2\n"
		    "reserved_bytes.all.peak 128\nrss 7\n");
}

TEST(changes_are_of_calls_with_both_ends)
{
	struct analyzed *a =
		analyze_memory("{'0.b.0.end': {x: 9, y: 1.25}, '0.b.0.start': {y: 1, x: 4, z: 3},"
			       " '0.a.1.start': {x: 1}, '0.a.0.end': {x: 1},"
			       " '0.a.2.start': {x: none, w: 5}, '0.a.2.end': {x: 3, w: 2},"
			       " '1.a.3.end': {x: 1}, '0.a.3.start': {x: 1},"
			       " '0.c.1.start': {x: 1}, '0.c.2.end': {x: 5},"
			       " '0.d.5.end': {x: 1}, '0.d.05.end': {x: 5}}",
			       NULL);

	/*
	 * Of a.2 only w has a value at both ends, of b.0 z has none at the end. No calls are what
	 * has a start or end only (the other one is of another rank or iteration), and two ends.
	 */
	check_facts(a, "memory_stats: call_count rank_count", "2 2");
	check_table(a, CHANGES, "0 a 2 w 5 2 -3\n0 b 0 x 4 9 5\n0 b 0 y 1 1.25 0.25\n");
}

TEST(functions_sum_their_calls)
{
	struct analyzed *a = analyze_memory(
		"{'0.f.0.start': {" ALLOCATED ": 100, rss: 10},"
		" '0.f.0.end': {" ALLOCATED ": 160, rss: 5},"
		" '0.f.1.start': {" ALLOCATED ": 160, rss: none},"
		" '0.f.1.end': {" ALLOCATED ": 150, rss: 5},"
		" '0.g.0.start': {}, '0.g.0.end': {}, '0.h.0.end': {},"
		" '1.f.0.start': {'reserved_bytes.all.current': 1, 'active_bytes.all.current': 3},"
		" '1.f.0.end': {'reserved_bytes.all.current': 8}}",
		NULL);

	/* 60 − 10 allocated; of rss only the first call tells, −5. */
	check_table(a, FUNCTIONS, "0 f 2 50 - -5\n0 g 1 - - -\n1 f 1 - 7 -\n");
	check_table(a, MOMENTS,
		    "0 f 0 start 100 - - 10\n0 f 0 end 160 - - 5\n0 f 1 start 160 - - -\n"
		    "0 f 1 end 150 - - 5\n0 g 0 start - - - -\n0 g 0 end - - - -\n"
		    "0 h 0 end - - - -\n1 f 0 start - 1 3 -\n1 f 0 end - 8 - -\n");
}

TEST(growth_is_that_of_the_function_with_most_calls)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		/* 100, 130, 160 by iteration: 30 a call of 3; the starts and g do not count. */
		{ "{'0.f.10.end': {" ALLOCATED ": 160}, '0.f.9.end': {" ALLOCATED ": 130},"
		  " '0.f.8.end': {" ALLOCATED ": 100}, '0.f.8.start': {" ALLOCATED ": 1},"
		  " '0.g.0.end': {" ALLOCATED ": 5}, '0.g.1.end': {" ALLOCATED ": 500}}",
		  "30 f 3" },
		/* The first of two with as many; each rank by itself. */
		{ "{'0.f.0.end': {" ALLOCATED ": 7}, '0.f.1.end': {" ALLOCATED ": 5},"
		  " '0.f.2.end': {" ALLOCATED ": 3}, '1.f.0.end': {" ALLOCATED ": 0},"
		  " '1.f.1.end': {" ALLOCATED ": 100}, '1.f.2.end': {" ALLOCATED ": 200}}",
		  "-2 f 3" },
		/* Two are too few; so are three of which one does not tell. */
		{ "{'0.f.0.end': {" ALLOCATED ": 7}, '0.f.1.end': {" ALLOCATED ": 5}}", "- - -" },
		{ "{'0.f.0.end': {" ALLOCATED ": 7}, '0.f.1.end': {" ALLOCATED ": none},"
		  " '0.f.2.end': {" ALLOCATED ": 9}}",
		  "- - -" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct analyzed *a = analyze_memory(cases[i].text, NULL);

		check_facts(a,
			    "memory_stats: growth_bytes_per_call growth_function growth_call_count",
			    cases[i].expected);
	}
}

/* What does not fit is a real number; what is not finite is left out. */
TEST(absurd_values_are_kept_as_they_are)
{
	struct analyzed *a = analyze_memory(
		"{'0.f.0.start': {a: -9223372036854775807, b: 18446744073709551615,"
		" c: 9223372036854775807, " ALLOCATED ": -9223372036854775807},"
		" '0.f.0.end': {a: 9223372036854775807, b: 0, c: 18446744073709551615,"
		" " ALLOCATED ": 9223372036854775807}}",
		NULL);

	check_table(a, "memory_stats.largest: name value",
		    "a 9223372036854775807\nallocated_bytes.all.current 9223372036854775807\n"
		    "b 1.84467e+19\nc 1.84467e+19\n");
	check_table(a, "memory_stats.changes: name change",
		    "a 1.84467e+19\nallocated_bytes.all.current 1.84467e+19\n"
		    "b -1.84467e+19\nc 9.22337e+18\n");
	check_table(a, "memory_stats.by_function: allocated_change_bytes", "-\n");
}
