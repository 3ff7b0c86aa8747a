/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_TERMS_H
#define TSCOPE_CLI_TERMS_H

/* What the words of reports mean, a line each, on standard output. */
void terms_print(void);

#endif
