/* SPDX-License-Identifier: MIT */
/* base/size_text.c: sizes in the unit that fits. */
#include "base/size_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/attributes.h"

static void sizes(void **state)
{
	(void)state;
	static const struct {
		int64_t bytes;
		const char *text;
	} cases[] = {
		{ 0, "0 B" },
		{ 512, "512 B" },
		{ 1023, "1023 B" },
		{ 1024, "1.0 KiB" },
		{ 1536, "1.5 KiB" },
		/* 1048524 / 1024 = 1023.949, 1048525 / 1024 = 1023.950. */
		{ 1048524, "1023.9 KiB" },
		{ 1048525, "1.0 MiB" },
		{ 1048576, "1.0 MiB" },
		{ 536870912, "512.0 MiB" },
		{ INT64_C(1) << 31, "2.0 GiB" },
		{ INT64_C(1) << 41, "2048.0 GiB" },
		/* 2^63 / 2^30 */
		{ INT64_MAX, "8589934592.0 GiB" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		assert_string_equal(tsi_size_text(cases[i].bytes).chars, cases[i].text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
