/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_METRIC_TEXT_H
#define TSCOPE_TESTS_METRIC_TEXT_H

#include "run/metrics.h"

/* Sources of metrics over bytes in memory, and what they read as text. */

/* Reads bytes by the source of this id; the log is to be deinited, on failure, too. */
enum tscope_status metrics_read(struct metric_log *log, const char *id, struct str name,
				struct str text, size_t block_bytes, struct tscope_error *err);

/*
 * A line for each value, "step name value", with "@ns" where the time is known and "sample" for
 * one; then what was counted: "records 5 bad 1 no-number 2 no-step 3 other 4 lost 1 cut", without
 * what is 0. The caller's to free.
 */
char *metrics_dump(const struct metric_log *log);

/* Reads in blocks of several sizes; each must give this dump. */
void metrics_expect(const char *id, const char *name, struct str text, const char *expected);

/* A path, the first bytes of its file, and whether a source takes it. */
struct taste_case {
	const char *path, *head;
	bool is_found, is_named; /* out of a folder; if it was named */
};

/* Each is taken by the source of this id, or by none. */
void metrics_check_tastes(const char *id, const struct taste_case *cases, size_t count);

/* Every beginning of text: it is read, without more values than the whole has. */
void metrics_cut_everywhere(const char *id, struct str text);

/* Lets each allocation of reading text fail in turn; gives how many there are. */
size_t metrics_fail_everywhere(const char *id, struct str text);

#endif
