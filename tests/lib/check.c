/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <stdlib.h>

#include "test_kept.h"

enum { MOST_LINES = 4096 };

const char *testdata = "testdata";

static struct CMUnitTest tests[MOST_LINES]; /* by their line; cmocka passes over those in between */
static size_t count;

void test_add(int line, struct CMUnitTest test)
{
	if (line >= MOST_LINES)
		abort();
	tests[line] = test;
	count++;
}

int test_end_of_test(void **state, int (*tear_down)(void **state))
{
	test_release_kept();
	return tear_down ? tear_down(state) : 0;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		testdata = argv[1];
	if (count == 0)
		return 77; /* they need a library that the build lacks: skipped */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
