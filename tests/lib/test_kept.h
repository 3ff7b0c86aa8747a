/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_TEST_KEPT_H
#define TSCOPE_TESTS_TEST_KEPT_H

/*
 * Something that a helper hands out and that lives until the test ends, whether or not that
 * fails: the first member of its struct. The last to be kept is the first to be released.
 */
struct test_kept {
	struct test_kept *before;
	void (*release)(struct test_kept *kept);
};

void test_keep(struct test_kept *kept, void (*release)(struct test_kept *kept));

/* For check.c, at the end of each test. */
void test_release_kept(void);

#endif
