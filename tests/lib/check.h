/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_CHECK_H
#define TSCOPE_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/*
 * A test needs no more than to be written:
 *
 *	TEST(sums_are_exact)
 *	{
 *		assert_int_equal(1 + 1, 2);
 *	}
 *
 * main() is in check.c and runs the tests of a file in their order.
 */
#define TEST(name) TEST_WITH(name, NULL, NULL)

/* One that needs something made before it and removed behind it: int set_up(void **state). */
#define TEST_WITH(name, set_up, tear_down)                                                         \
	static void name(void **state);                                                            \
	static int end_##name(void **state)                                                        \
	{                                                                                          \
		return test_end_of_test(state, tear_down);                                         \
	}                                                                                          \
	__attribute__((constructor)) static void add_##name(void)                                  \
	{                                                                                          \
		test_add(__LINE__, (struct CMUnitTest)cmocka_unit_test_setup_teardown(             \
					   name, set_up, end_##name));                             \
	}                                                                                          \
	static void name(void **state __attribute__((unused)))

void test_add(int line, struct CMUnitTest test);
int test_end_of_test(void **state, int (*tear_down)(void **state));

/* The folder of this name, as the program's argument says. */
extern const char *testdata;

#endif
