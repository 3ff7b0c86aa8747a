/* SPDX-License-Identifier: MIT */
/*
 * To be preloaded: the FAIL_AT-th allocation of the program fails. The last line of standard error
 * is "fail_call: malloc 330 |": how many there were.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static atomic_long allocation_count;
static long fail_at;

__attribute__((constructor)) static void start(void)
{
	const char *at = getenv("FAIL_AT");

	fail_at = at ? atol(at) : 0;
	atomic_store(&allocation_count, 0);
}

__attribute__((destructor)) static void end(void)
{
	dprintf(STDERR_FILENO, "fail_call: malloc %ld |\n", atomic_load(&allocation_count));
}

static bool fails(void)
{
	if (atomic_fetch_add(&allocation_count, 1) + 1 != fail_at)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	return fails() ? NULL : __libc_realloc(memory, size);
}
