/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_WRITE_STEPS_H
#define TSCOPE_RUN_WRITE_STEPS_H

#include "run/steps.h"

#include <stdio.h>

/*
 * A rank's steps in pytscope's layout, from which store_steps_jsonl.c and
 * run_json.c read the same series again. Errors of the stream are left to ferror().
 */

/* steps.jsonl: one line a record, with our own members as record.h lists them. */
void tsi_write_steps(FILE *out, const struct step_series *steps);

/* run.json: what is said once of the series; what is not known is not there. */
void tsi_write_run_json(FILE *out, const struct step_series *steps);

#endif
