/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_BATCH_FOLDER_H
#define TSCOPE_RUN_BATCH_FOLDER_H

#include "run/find.h"

/*
 * Writers that publish a trace every few batches, as fkat does, name the folder of each after the
 * batches that are done by then:
 *
 *	train/100/rank0.json	batches 0 to 99
 *	train/200/rank0.json	batches 100 to 199
 *	train/last/rank0.json	the rest
 *
 * Sets first_batch and batch_count of such files; of others they stay 0.
 */
void tsi_find_batches(struct run_files *files, struct arena *scratch);

#endif
