/* SPDX-License-Identifier: MIT */
#include "base/rank_text.h"

#include "base/attributes.h"
#include "check.h"

#include <string.h>

TEST(test_runs)
{
	static const struct {
		int64_t ranks[10];
		size_t count;
		const char *expected;
	} cases[] = {
		{ { 0 }, 0, "" },
		{ { 7 }, 1, "7" },
		{ { 0, 1 }, 2, "0-1" },
		{ { 0, 1, 2, 3, 8 }, 5, "0-3, 8" },
		{ { 1, 3, 5, 6 }, 4, "1, 3, 5-6" },
		/* at equal distances, and not so many */
		{ { 2, 6, 10, 14, 18, 22 }, 6, "2, 6, ..., 22" },
		{ { 0, 1, 4, 6, 8, 10, 12, 14, 15, 16 }, 10, "0-1, 4, 6, ..., 14, 15-16" },
		{ { 2, 6, 10, 14, 18 }, 5, "2, 6, 10, 14, 18" },
		{ { 2, 4, 6, 7, 8 }, 5, "2, 4, 6-8" },
		{ { 5, INT64_MAX }, 2, "5, 9223372036854775807" },
		/* said twice, or with none between that could follow */
		{ { 4, 4 }, 2, "4, 4" },
		{ { INT64_MAX - 1, INT64_MAX, INT64_MIN },
		  3,
		  "9223372036854775806-9223372036854775807, -9223372036854775808" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct rank_text text = { .text = "" };

		for (size_t k = 0; k < cases[i].count; k++)
			tsi_rank_text_add(&text, cases[i].ranks[k]);
		tsi_rank_text_end(&text);
		assert_string_equal(text.text, cases[i].expected);
	}
}

/* Every second or third rank of many: what does not fit is not begun, and what stands is whole. */
TEST(test_too_many)
{
	struct rank_text text = { .text = "" };
	int64_t rank = 1000;

	for (int64_t i = 0; i < 1000; i++, rank += 2 + i % 2)
		tsi_rank_text_add(&text, rank);
	tsi_rank_text_end(&text);
	size_t length = strlen(text.text);

	assert_true(length < sizeof(text.text) && length > sizeof(text.text) - 12);
	assert_int_equal(strncmp(text.text, "1000, 1003, 1005, ", 18), 0);
	assert_string_equal(text.text + length - 5, ", ...");
	/* "1000" and then ", 1002" …: 4 + 6 k bytes before the end */
	assert_int_equal((length - 5 - 4) % 6, 0);
}
