/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_EXIT_CODE_H
#define TSCOPE_CLI_EXIT_CODE_H

#include <tscope/error.h>

/* Exit codes, documented in tscope(1). If several apply, the largest wins. */
enum exit_code {
	EXIT_CODE_OK = 0,     /* the report was made and every gate held */
	EXIT_CODE_GATE = 1,   /* a gate tripped */
	EXIT_CODE_USAGE = 2,  /* the command line is wrong */
	EXIT_CODE_INPUT = 3,  /* an input is unreadable, unknown or empty; with --strict: damaged */
	EXIT_CODE_OUTPUT = 4, /* the report or an export could not be written */
	EXIT_CODE_INTERNAL = 5, /* out of memory, or a bug of ours */
};

static inline enum exit_code worse(enum exit_code a, enum exit_code b)
{
	return a > b ? a : b;
}

static inline enum exit_code exit_code_of(enum tscope_status status)
{
	switch (status) {
	case TSCOPE_OK:
	case TSCOPE_END:
		return EXIT_CODE_OK;
	case TSCOPE_E_IO:
	case TSCOPE_E_FORMAT:
	case TSCOPE_E_UNSUPPORTED:
	case TSCOPE_E_DAMAGED:
	case TSCOPE_E_LIMIT:
	case TSCOPE_E_EMPTY:
		return EXIT_CODE_INPUT;
	case TSCOPE_E_WRITE:
		return EXIT_CODE_OUTPUT;
	case TSCOPE_E_NOMEM:
	case TSCOPE_E_INTERNAL:
		break;
	}
	return EXIT_CODE_INTERNAL;
}

#endif
