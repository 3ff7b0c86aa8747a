/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_PLAIN_DUMP_H
#define TSCOPE_TESTS_PLAIN_DUMP_H

#include "decode/plain/plain.h"

/*
 * Plain data as text much like Python's repr(): {'a': [1, None, 'x'], 'b': (True, 0.50000000000000000)}.
 * On the way it is seen that dicts find what they show, and that texts end in NUL.
 */
enum { PLAIN_DUMP_BYTES = 4096, PLAIN_DUMP_DEPTH = 6 };

struct plain_dump {
	char text[PLAIN_DUMP_BYTES];
	size_t length;
};

/* Adds a value, down to a depth: what lies deeper is "...". The test fails where text is too short. */
void plain_dump_value(struct plain_dump *dump, const struct plain *p, struct plain_value value,
		      unsigned depth);

#endif
