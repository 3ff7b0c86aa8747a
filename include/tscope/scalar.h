/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_SCALAR_H
#define TSCOPE_SCALAR_H

#include <tscope/error.h>

/* Roles of logged metrics. */
enum { TSCOPE_SCALAR_ROLE_COUNT = 5 };

/*
 * Names of metrics by role (loss, grad_norm, learning_rate, throughput, mfu). NULL: by convention.
 */
struct tscope_scalar_names {
	const char *names[TSCOPE_SCALAR_ROLE_COUNT];
};

/*
 * Takes one "ROLE=NAME" (of --scalar) into names; the text must live as long. TSCOPE_E_FORMAT:
 * which roles there are.
 */
enum tscope_status tscope_scalar_names_add(struct tscope_scalar_names *names, const char *text,
					   struct tscope_error *err);

#endif
