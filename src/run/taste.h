/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_TASTE_H
#define TSCOPE_RUN_TASTE_H

#include "run/find.h"

/*
 * Sets kind and reason of a file by its first bytes; the reason goes to the arena. A file that
 * was named is RUN_FILE_STEPS, _MEMORY, _ARCHIVE or _TRACE, whatever it holds: reading it shows
 * what is wrong. members: archives that it may be in; NULL: it is in none, nor is it one.
 */
void tsi_run_taste(struct run_file *file, const struct tscope_members *members,
		   struct arena *arena);

/* Does its name say that no file of its kind is ours? */
bool tsi_is_foreign_by_name(const char *path);

/* Refuses or ignores a file, for a reason that replaces any earlier one. */
void tsi_run_leave_out(struct run_file *file, enum run_file_kind kind, const char *reason,
		       struct arena *arena);

#endif
