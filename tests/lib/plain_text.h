/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_PLAIN_TEXT_H
#define TSCOPE_TESTS_PLAIN_TEXT_H

#include "decode/plain/plain.h"

/*
 * Plain data that a test wrote down, as a reader would have built it: JSON with single
 * quotes, tuples in round brackets, and bare words for texts.
 *
 *	struct plain *plain = plain_of("{segments: [], device_traces: [["
 *				       "{action: alloc, addr: 4096, size: 20, frames:"
 *				       " @stack=[{filename: 'a.py', line: 1, name: f}]},"
 *				       "{action: oom, size: 9, frames: @stack}]]}");
 *	tsi_plain_free(plain);
 *
 * true, false and none are no texts; -1, 0x10 and 1.5 are numbers. In quotes, \n, \x1b and the like
 * are what they are in C. @name=value names a value, @name is that one again, also within itself.
 * The test fails on what is none of this.
 */
struct plain *plain_of(const char *text);

#endif
