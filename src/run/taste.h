/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_TASTE_H
#define TSCOPE_RUN_TASTE_H

#include "run/find.h"

/*
 * Sets kind and reason of a file by its first bytes. One that was named is
 * RUN_FILE_STEPS, _MEMORY or _TRACE, whatever it holds: reading it will tell what
 * is wrong. Fails with TSCOPE_E_NOMEM only.
 */
TSI_MUST_CHECK
enum tscope_status tsi_run_taste(struct run_file *file, struct tscope_error *err);

/* Says why a file is refused or ignored, instead of what was said before. */
TSI_MUST_CHECK
enum tscope_status tsi_run_leave_out(struct run_file *file, enum run_file_kind kind,
				     const char *reason, struct tscope_error *err);

#endif
