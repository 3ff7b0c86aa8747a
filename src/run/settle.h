/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_SETTLE_H
#define TSCOPE_RUN_SETTLE_H

#include "run/find.h"

/* Frees what a file holds; without a path it is none any more. */
void tsi_run_file_drop(struct run_file *file);

/*
 * Settles the files of one folder, which are in the order of names: drops
 * run.json beside step records, and of a file in several compressions
 * ignores all but the first.
 */
TSI_MUST_CHECK
enum tscope_status tsi_settle_folder(struct run_file *items, size_t count,
				     struct tscope_error *err);

/*
 * Drops files that were found before, by links or because two paths lead to them, and
 * closes all gaps. Of two names the one that tells a rank stays, else the first.
 */
TSI_MUST_CHECK
enum tscope_status tsi_settle_doubles(struct run_files *files, struct tscope_error *err);

#endif
