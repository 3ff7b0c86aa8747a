/* SPDX-License-Identifier: MIT */
/* base/real.c: the shortest text of a double, with a point in any locale. */
#include "base/real.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/attributes.h"

static void test_shortest(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ -0.0, "-0" },
		{ 0.1, "0.1" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1e300, "1e+300" },
		{ 5e-324, "4.94065645841247e-324" },
		{ -2.5, "-2.5" },
	};

	(void)state;
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char text[REAL_TEXT_MAX];

		tsi_real_shortest(text, cases[i].value);
		assert_string_equal(text, cases[i].text);
		assert_true(strtod(text, NULL) == cases[i].value);
	}
}

/* What locales make of 1234.5 and 1e+20, which need not be installed here. */
static void test_point(void **state)
{
	static const char *const cases[][2] = {
		{ "1234,5", "1234.5" },
		{ "-1234\xd9\xab"
		  "5e-07",
		  "-1234.5e-07" },
		{ "1234.5", "1234.5" },
		{ "1e+20", "1e+20" },
		{ "-7", "-7" },
	};

	(void)state;
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char text[REAL_TEXT_MAX];

		strcpy(text, cases[i][0]);
		tsi_real_put_point(text);
		assert_string_equal(text, cases[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shortest),
		cmocka_unit_test(test_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
