/* SPDX-License-Identifier: MIT */
/* Allocations that fail on demand. The linker sends calls of malloc to __wrap_malloc, and so on. */
#include "fail_alloc.h"

#include <stdatomic.h>
#include <string.h>

#include "check.h"
#include "effort.h"

/* Calls until the one that fails; 0 and below: it has failed. */
static atomic_long calls_left;
static atomic_bool is_armed;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void fail_alloc_at(size_t n)
{
	atomic_store(&calls_left, (long)n);
	atomic_store(&is_armed, true);
}

bool fail_alloc_stop(void)
{
	atomic_store(&is_armed, false);
	return atomic_load(&calls_left) <= 0;
}

static size_t stride(const struct alloc_sweep *sweep)
{
	return sweep->is_one_thread ? LONE_THREAD_STRIDE : 1;
}

/* The allocation that fails in this round. */
static size_t failing(const struct alloc_sweep *sweep)
{
	return (sweep->round_count - 1) * stride(sweep) + 1;
}

bool alloc_sweep_next(struct alloc_sweep *sweep)
{
	assert_false(atomic_load(&is_armed));
	if (sweep->round_count > sweep->failed_count) {
		size_t count = sweep->failed_count * stride(sweep);
		if (count < (sweep->at_least ? sweep->at_least : 1))
			fail_msg("%zu allocations only", count);
		return false;
	}
	sweep->round_count++;
	sweep->err = (struct tscope_error){ 0 };
	return true;
}

void alloc_sweep_start(const struct alloc_sweep *sweep)
{
	fail_alloc_at(failing(sweep));
}

bool alloc_sweep_stop(struct alloc_sweep *sweep)
{
	sweep->has_failed = fail_alloc_stop();
	sweep->failed_count += sweep->has_failed;
	return sweep->has_failed;
}

void alloc_sweep_check(struct alloc_sweep *sweep, enum tscope_status status)
{
	const struct tscope_error *err = &sweep->err;
	bool has_failed = alloc_sweep_stop(sweep);
	bool is_lack = status == TSCOPE_E_NOMEM && err->status == TSCOPE_E_NOMEM &&
		       strstr(err->message, "out of memory");
	bool is_fine = status == TSCOPE_OK && err->status == TSCOPE_OK;

	if (has_failed ? !is_lack && !(is_fine && sweep->may_survive) : !is_fine)
		fail_msg("allocation %zu %s: status %d, error %d \"%s\"", failing(sweep),
			 has_failed ? "failed" : "was not needed", status, err->status,
			 err->message);
}

static bool fails_now(void)
{
	return atomic_load(&is_armed) && atomic_fetch_sub(&calls_left, 1) == 1;
}

void *__wrap_malloc(size_t size)
{
	return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	return fails_now() ? NULL : __real_realloc(memory, size);
}
