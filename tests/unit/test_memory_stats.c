/* SPDX-License-Identifier: MIT */
/* Statistics of finetuning-scheduler: names of moments, their order, values that are none. */
#include "model/memory/memory_stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "model/memory/plain_repeats.h"
#include "plain_text.h"

enum { DUMP_BYTES = 2048 };

/* "0 step 2 end 3" a line: rank, function, iteration, context, values; then what was dropped. */
static void dump_stats(char dump[DUMP_BYTES], const struct memory_stats *stats)
{
	size_t length = 0;

	dump[0] = '\0';
	for (size_t i = 0; i < stats->count; i++) {
		const struct memory_moment *moment = &stats->moments[i];

		length += (size_t)snprintf(dump + length, DUMP_BYTES - length,
					   "%" PRId64 " %.*s %" PRId64 " %s %zu\n", moment->rank,
					   TSI_QUOTE(moment->function), moment->iteration,
					   moment->is_end ? "end" : "start",
					   tsi_plain_length(stats->plain, moment->values));
	}
	snprintf(dump + length, DUMP_BYTES - length, "values %" PRIu64 " dropped %" PRIu64 "\n",
		 stats->value_count, stats->dropped_count);
}

static void check_stats(const char *text, const char *expected)
{
	struct plain *plain = plain_of(text);
	struct memory_stats stats;
	char dump[DUMP_BYTES];

	assert_true(tsi_is_memory_stats(plain));
	tsi_memory_stats_init(&stats, plain);
	dump_stats(dump, &stats);
	assert_string_equal(dump, expected);
	tsi_arena_deinit(&stats.arena);
	tsi_plain_free(plain);
}

TEST(moments_are_put_in_order)
{
	/* By rank, function, iteration as a number; the start first. Functions may hold dots. */
	check_stats("{'0.f.10.end': {a: 1}, '0.f.2.end': {a: 1, b: none}, '0.f.2.start': {},"
		    " '1.a.0.start': {a: 1.5}, '0.a.b.0.start': {x: 18446744073709551615},"
		    " '0.a.0.start': {x: 1, y: -2, z: 3}}",
		    "0 a 0 start 3\n0 a.b 0 start 1\n0 f 2 start 0\n0 f 2 end 2\n0 f 10 end 1\n"
		    "1 a 0 start 1\nvalues 8 dropped 0\n");
	check_stats("{}", "values 0 dropped 0\n");
}

TEST(what_is_no_moment_is_counted)
{
	/* Eight names that are none; a moment that is no dict; a name that is no text. */
	check_stats("{'0.f.0.end': {a: 1}, '0.f.0.middle': {}, 'x.f.0.end': {}, '0.f.x.end': {},"
		    " '0.f.end': {}, 'end': {}, '': {}, '-1.f.0.end': {}, '0.f.0.': {},"
		    " '0.f.1.end': 7, 5: {}}",
		    "0 f 0 end 1\nvalues 1 dropped 10\n");
	/* Values that are no numbers, and one whose name is no text. */
	check_stats("{'0.f.0.end': {a: text, b: [1], c: true, d: 1, 7: 1, e: none}}",
		    "0 f 0 end 6\nvalues 2 dropped 4\n");
	/* The same moment in two spellings. */
	check_stats("{'0.f.01.end': {a: 1}, '0.f.1.end': {b: 1, c: 1}, '0..0.end': {}}",
		    "0  0 end 0\n0 f 1 end 1\n0 f 1 end 2\nvalues 3 dropped 0\n");
}

TEST(other_data_is_none)
{
	static const char *const others[] = {
		"[]", "7", "{a: 1}", "{'0.f.0.end': 1}", "{'a.b': {}}", "{1: {}}", "['0.f.0.end']",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(others); i++) {
		struct plain *plain = plain_of(others[i]);

		if (tsi_is_memory_stats(plain))
			fail_msg("%s is taken for statistics", others[i]);
		tsi_plain_free(plain);
	}
}

/*
 * Equal moments may be one object, which counts each time, but not without end: here one of
 * VALUES values has NAMES names. The first costs nothing, REPEATED_VALUES_MAX ÷ VALUES more fit.
 */
TEST(one_dict_of_many_names_has_a_limit)
{
	enum { VALUES = 4096, NAMES = 400, TAKEN = 1 + REPEATED_VALUES_MAX / VALUES };
	size_t room = (size_t)VALUES * 16 + (size_t)NAMES * 32, length;
	char *text = malloc(room);
	struct memory_stats stats;

	assert_true(TAKEN < NAMES);
	assert_non_null(text);
	length = (size_t)snprintf(text, room, "{'0.f.0.end': @v={");
	for (int i = 0; i < VALUES; i++)
		length += (size_t)snprintf(text + length, room - length, "v%d: 1,", i);
	text[length - 1] = '}';
	for (int i = 1; i < NAMES; i++)
		length += (size_t)snprintf(text + length, room - length, ",'0.f.%d.end': @v", i);
	snprintf(text + length, room - length, "}");
	struct plain *plain = plain_of(text);
	tsi_memory_stats_init(&stats, plain);
	assert_int_equal(stats.count, TAKEN);
	assert_int_equal(stats.value_count, (uint64_t)TAKEN * VALUES);
	assert_int_equal(stats.dropped_count, NAMES - TAKEN);
	tsi_arena_deinit(&stats.arena);
	tsi_plain_free(plain);
	free(text);
}

TEST(every_allocation_may_fail)
{
	struct plain *plain = plain_of("{'0.f.0.end': {a: 1}, '0.f.0.start': {a: 1}}");

	struct alloc_sweep sweep = { .at_least = 2 };
	while (alloc_sweep_next(&sweep)) {
		struct memory_stats stats;

		alloc_sweep_start(&sweep);
		tsi_memory_stats_init(&stats, plain);
		alloc_sweep_check(&sweep, tsi_arena_status(&stats.arena, &sweep.err));
		tsi_arena_deinit(&stats.arena);
	}
	tsi_plain_free(plain);
}
