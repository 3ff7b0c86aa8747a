/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_SETTLE_H
#define TSCOPE_RUN_SETTLE_H

#include "run/find.h"

/*
 * Settles the files of one folder, which are in the order of names: drops
 * run.json beside step records, and of a file in several compressions
 * ignores all but the first. Reasons go to the arena. Returns how many files are left.
 */
size_t tsi_settle_folder(struct run_file *items, size_t count, struct arena *arena);

/*
 * Settles the files of a run: drops those that were found before, by links or because two paths
 * lead to them, closes all gaps, and finds the batches of traces. A file with two names
 * keeps the one with a rank, else the first.
 */
void tsi_settle_files(struct run_files *files, struct arena *scratch);

#endif
