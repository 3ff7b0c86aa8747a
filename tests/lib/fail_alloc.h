/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FAIL_ALLOC_H
#define TESTS_FAIL_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

#include <tscope/error.h>

/*
 * Makes one allocation fail, to see that nobody forgets to look. The program
 * is linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc, so calls from
 * our own code are counted, in all threads; those inside shared libraries are
 * not.
 */

/* The n-th allocation from now on fails, 1 being the next. */
void fail_alloc_at(size_t n);

/* No more failures. True if there has been one. */
bool fail_alloc_stop(void);

/*
 * A sweep lets each allocation of a call fail in turn:
 *
 *	struct alloc_sweep sweep = { .at_least = 30 };
 *
 *	while (alloc_sweep_next(&sweep)) {
 *		struct thing *thing = NULL;
 *
 *		alloc_sweep_try(&sweep, thing_new(&thing, &sweep.err));
 *		thing_free(thing);
 *	}
 *
 * What stands before the call prepares it and does not fail. Several calls, and those that return
 * no status, stand between alloc_sweep_start and alloc_sweep_check or alloc_sweep_stop.
 */
struct alloc_sweep {
	size_t at_least;    /* allocations that there must be; 0: one */
	bool is_one_thread; /* TSan sees nothing in it: few of the allocations fail under it */
	bool may_survive; /* where one failed, all may be well: what it was for can be done without */

	/* After check or stop. */
	bool has_failed;     /* an allocation of this round */
	size_t failed_count; /* allocations of this round and those before */

	struct tscope_error err; /* for the calls: empty when a round begins */
	size_t round_count;
};

/* Begins a round; false once the last had no allocation left to fail. */
bool alloc_sweep_next(struct alloc_sweep *sweep);

/* From here on an allocation of the round fails: one further than in the round before. */
void alloc_sweep_start(const struct alloc_sweep *sweep);

/* No more failures in this round; true if there has been one. */
bool alloc_sweep_stop(struct alloc_sweep *sweep);

/*
 * Stops, and demands TSCOPE_E_NOMEM and sweep->err filled where an allocation failed, else
 * TSCOPE_OK and an error that nobody touched.
 */
void alloc_sweep_check(struct alloc_sweep *sweep, enum tscope_status status);

/* Checks a call, one of whose allocations fails. */
#define alloc_sweep_try(sweep, call) (alloc_sweep_start(sweep), alloc_sweep_check((sweep), (call)))

#endif
