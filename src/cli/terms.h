/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_TERMS_H
#define TSCOPE_CLI_TERMS_H

/* Prints the terms of reports with their meaning, a line each. */
void terms_print(void);

#endif
