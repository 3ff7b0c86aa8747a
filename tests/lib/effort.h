/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TEST_EFFORT_H
#define TSCOPE_TEST_EFFORT_H

#include "cli/sanitized.h"

/*
 * Tests of thousands of random cases take every one of them in a plain build, and fewer under a
 * sanitizer, which slows each down as much.
 *
 * Sweeps let each allocation fail under ASan as well, where leaks show. Those on one thread, which
 * races with none, go by LONE_THREAD_STRIDE: few are left under TSan.
 *
 * Sizes and settings all count for memory, but threads do the same with each: a third is left under TSan.
 */
#ifdef __SANITIZE_THREAD__
enum { EFFORT_STRIDE = 35, LONE_THREAD_STRIDE = 35, SETTING_STRIDE = 3 };
#else
enum { EFFORT_STRIDE = IS_SANITIZED ? 7 : 1, LONE_THREAD_STRIDE = 1, SETTING_STRIDE = 1 };
#endif

#endif
