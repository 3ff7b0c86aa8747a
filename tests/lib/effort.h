/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TEST_EFFORT_H
#define TSCOPE_TEST_EFFORT_H

#include "cli/sanitized.h"

/*
 * Tests of thousands of random cases take every one of them in a plain build, and fewer under a
 * sanitizer, which slows each down as much.
 */
#ifdef __SANITIZE_THREAD__
enum { EFFORT_STRIDE = 35 };
#else
enum { EFFORT_STRIDE = IS_SANITIZED ? 7 : 1 };
#endif

#endif
