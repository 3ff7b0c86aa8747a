/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_HANG_HANG_FILE_H
#define TSCOPE_HANG_HANG_FILE_H

#include "hang/verdict.h"

#include <tscope/hang.h>

/* Implementation of tscope_hang_open(): files, the dumps joined, the verdict. */
struct tscope_hang {
	struct arena arena; /* of texts and verdict */
	const char *path;
	struct tscope_hang_input *inputs;
	struct tscope_error *failures; /* beside inputs */
	size_t input_count;
	struct hang_model model;
	struct hang_verdict verdict;
	const char *trace_place; /* where the culprit's trace ends, if others wait then; or NULL */
	int64_t trace_after_ns;  /* how long they do */
};

#endif
