/* SPDX-License-Identifier: MIT */
/* What a parameter of a rule is after the user's changes. */
#include <tscope/rules.h>

#include <math.h>

#include "base/attributes.h"
#include "check.h"

TEST(the_last_change_holds)
{
	/* The default is that of the definition: 0.01. */
	static const struct {
		const char *changes[3];
		size_t count;
		double value;
	} cases[] = {
		{ { "" }, 0, 0.03 },
		{ { "DIST.STRAGGLER.threshold=0.05" }, 1, 0.05 },
		{ { "dist.straggler.threshold=0.05", "DIST.STRAGGLER.threshold=0.1" }, 2, 0.1 },
		/* Neither the severity nor another rule's parameter matters. */
		{ { "DIST.STRAGGLER=high", "DIST.STRAGGLER=off", "TIMING.JITTER.threshold=9" },
		  3,
		  0.03 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		const struct tscope_rule_options options = { cases[i].changes, cases[i].count };

		assert_true(tscope_rule_value(&options, "DIST.STRAGGLER", "threshold") ==
			    cases[i].value);
	}
	assert_true(tscope_rule_value(NULL, "dist.straggler", "threshold") == 0.03);
}

TEST(what_is_not_there_has_no_value)
{
	assert_true(isnan(tscope_rule_value(NULL, "DIST.STRAGGLER", "treshold")));
	assert_true(isnan(tscope_rule_value(NULL, "DIST.STRAGLER", "threshold")));
}
