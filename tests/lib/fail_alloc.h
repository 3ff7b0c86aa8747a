/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FAIL_ALLOC_H
#define TESTS_FAIL_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes one allocation fail, to see that nobody forgets to look. The program
 * is linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc, so calls from
 * our own code are counted, in all threads; those inside shared libraries are
 * not.
 *
 *	for (size_t n = 1; ; n++) {
 *		fail_alloc_at(n);
 *		status = work(&err);
 *		if (!fail_alloc_stop())
 *			break;	(fewer than n allocations: all have had their turn)
 *		assert_int_equal(status, TSCOPE_E_NOMEM);
 *	}
 */

/* The n-th allocation from now on fails, 1 being the next. */
void fail_alloc_at(size_t n);

/* No more failures. True if there has been one. */
bool fail_alloc_stop(void);

#endif
