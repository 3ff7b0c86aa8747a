/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_REPORT_TEXT_H
#define TSCOPE_TESTS_REPORT_TEXT_H

#include <tscope/report.h>

/* What the tests of text reports look at. */

/* Escapes are in the colored text, which loses them here, and are all that sets the two apart. */
void check_colored(char *colored, const char *plain);

/* No line is wider, but the first, which is a path, however long. */
void check_width(const char *text, unsigned width);

/* Nothing is beyond ASCII. */
void check_ascii(const char *text);

/* The report of an input of testdata/, from nothing to its end; the caller frees it. */
typedef char *report_input(const char *name, const struct tscope_report_options *options);

/* The same of the report of each input, in widths from 40 to 120 columns. */
void check_colored_inputs(report_input *report, const char *const *names, size_t count);
void check_input_widths(report_input *report, const char *const *names, size_t count);
/* Every character of ours has a substitute, too. */
void check_ascii_inputs(report_input *report, const char *const *names, size_t count);

#endif
