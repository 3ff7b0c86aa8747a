/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_STEP_DUMP_H
#define TSCOPE_TESTS_STEP_DUMP_H

#include "run/steps.h"

/*
 * All that the records of a series hold, as text for comparisons; a record a line:
 *
 *	7 first time=15 data=10 eval=5 loss:2.5 lr:0.1 alloc=4096
 *	8 | start=100 wall=90 mark=first compute=90 forward=90
 *
 * Number and mark, time and phases in ns, scalars with a colon, bytes; behind the
 * bar its budget: lines that are not zero (of the host: host.data=…), the mark where it is another,
 * alloc_peak where it is known.
 * What is not there is not shown. To be freed.
 */
char *step_dump(const struct step_series *steps);

#endif
