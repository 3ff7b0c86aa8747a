/* SPDX-License-Identifier: MIT */
/* The name that was meant. */
#include "base/nearest.h"

#include "base/attributes.h"
#include "check.h"

#define SIXTY_FOUR "0123456789012345678901234567890123456789012345678901234567890123"

TEST(finds_the_nearest)
{
	static const struct {
		const char *word, *names[3], *nearest;
	} cases[] = {
		{ "thresold", { "high", "threshold" }, "threshold" },
		{ "THRESHOLD", { "threshold" }, "threshold" }, /* case does not count */
		{ "cat", { "bat", "hat" }, "bat" },            /* the first of equals */
		{ "cat", { "bait", "hat" }, "hat" },
		{ "", { "a", "ab" }, "a" }, /* one letter may always be wrong */
		{ "", { "ab" }, NULL },
		/* Of six letters three may be wrong, but not four. */
		{ "abcdef", { "abcxyz" }, "abcxyz" },
		{ "abcdef", { "abwxyz" }, NULL },
		/* Longer than any name of ours. */
		{ SIXTY_FOUR, { SIXTY_FOUR }, SIXTY_FOUR },
		{ SIXTY_FOUR "4", { SIXTY_FOUR "4" }, NULL },
		{ "a", { SIXTY_FOUR "4" }, NULL },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct nearest nearest = { .word = { cases[i].word, strlen(cases[i].word) } };
		for (size_t j = 0; j < TSI_COUNT_OF(cases[i].names) && cases[i].names[j]; j++)
			tsi_nearest_consider(&nearest, cases[i].names[j]);
		if (!cases[i].nearest) {
			assert_null(nearest.name);
			continue;
		}
		assert_non_null(nearest.name);
		assert_string_equal(nearest.name, cases[i].nearest);
	}
}
