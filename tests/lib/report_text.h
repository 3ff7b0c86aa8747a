/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_REPORT_TEXT_H
#define TSCOPE_TESTS_REPORT_TEXT_H

#include <stddef.h>

/* What the tests of text reports look at. */

/* Takes "\033[...m" out of a text, in place. */
void strip_escapes(char *text);

/* Columns of a line: code points, as the tests' files hold none that is wide. */
unsigned columns_of(const char *line, size_t length);

#endif
