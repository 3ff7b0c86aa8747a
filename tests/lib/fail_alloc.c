/* SPDX-License-Identifier: MIT */
/* Allocations that fail on demand. The linker sends calls of malloc to __wrap_malloc, and so on. */
#include "fail_alloc.h"

#include <stdatomic.h>

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
