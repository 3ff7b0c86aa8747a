/* SPDX-License-Identifier: MIT */
/* base/real.c: the shortest text of a double, with a point in any locale. */
#include "base/real.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"

TEST(test_shortest)
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
		{ 123456789.0, "123456789" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char text[REAL_TEXT_MAX];

		tsi_real_shortest(text, cases[i].value);
		assert_string_equal(text, cases[i].text);
		assert_true(strtod(text, NULL) == cases[i].value);
	}
}

/* What locales make of 1234.5 and 1e+20, which need not be installed here. */
TEST(test_point)
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

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char text[REAL_TEXT_MAX];

		strcpy(text, cases[i][0]);
		tsi_real_put_point(text);
		assert_string_equal(text, cases[i][1]);
	}
}
