/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_REPORT_TEXT_H
#define TSCOPE_TESTS_REPORT_TEXT_H

/* What the tests of text reports look at. */

/* Escapes are in the colored text, which loses them here, and are all that sets the two apart. */
void check_colored(char *colored, const char *plain);

/* No line is wider, but the first, which is a path, however long. */
void check_width(const char *text, unsigned width);

/* Nothing is beyond ASCII. */
void check_ascii(const char *text);

#endif
