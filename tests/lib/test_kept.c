/* SPDX-License-Identifier: MIT */
/* What helpers hand out is released when the test ends, so that tests need no clean-up. */
#include "test_kept.h"

#include <stddef.h>

static struct test_kept *last_kept;

void test_keep(struct test_kept *kept, void (*release)(struct test_kept *kept))
{
	*kept = (struct test_kept){ .before = last_kept, .release = release };
	last_kept = kept;
}

void test_release_kept(void)
{
	while (last_kept) {
		struct test_kept *kept = last_kept;

		last_kept = kept->before;
		kept->release(kept);
	}
}
