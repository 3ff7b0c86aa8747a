/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_MATCH_CHECK_H
#define TSCOPE_TESTS_MATCH_CHECK_H

#include "base/attributes.h"
#include "world_text.h"

/* A text that grows; what does not fit fails the test. */
struct test_text {
	char bytes[8192];
	size_t length;
};

TSI_PRINTF(2, 3) void test_text_add(struct test_text *text, const char *format, ...);

/*
 * What matches in small worlds, as text. Ranks are written as in world_text.h, but that a line
 * which begins with a number is an all-reduce of the group g (ranks=members) that starts then:
 * "3 bytes=8".
 *
 *	static const struct match_case cases[] = {
 *		{ "rank 0\n1 seq=0\n2 seq=1\nrank 1\n5 seq=1\n", "g: 1 matched\n2=5\n" },
 *	};
 *	check_matches(cases, TSI_COUNT_OF(cases), "0,1");
 */
struct match_case {
	const char *ranks;
	/* A line for each group with what is not 0; then each match by its members' starts. */
	const char *expected;
};

void check_matches(const struct match_case *cases, size_t count, const char *members);

/* The logs, without groups and matches, and the stages that make these. */
struct test_world *match_world(const struct match_case *c, const char *members);
void find_matches(struct test_world *w);

#endif
