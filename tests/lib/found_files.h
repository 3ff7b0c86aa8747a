/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_FOUND_FILES_H
#define TSCOPE_TESTS_FOUND_FILES_H

#include "run/find.h"

/* What is found at the paths, each file once. */
enum tscope_status find_files(struct run_files *files, const char *const *paths, size_t count,
			      struct tscope_error *err);

/*
 * The files of the paths in their order against a text, one line each; a part that a file lacks is
 * left out:
 *
 *	metrics run/rank2/metrics.csv by csv rank 2 + run/rank2/run.json named: reason
 */
void expect_files(const char *const *paths, size_t count, const char *expected);

/* A sweep of find_files() over failing allocations (fail_alloc.h). */
void sweep_find(const char *const *paths, size_t count, size_t at_least);

#endif
