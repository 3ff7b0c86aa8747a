/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_SPILL_FILE_H
#define TSCOPE_TESTS_SPILL_FILE_H

#include <stddef.h>
#include <sys/resource.h>
#include <tscope/trace.h>

/* In the current folder; where that is memory, or on other systems, the test is skipped. */
struct tscope_spill *open_spill(void);

/* Files may have so many bytes and no more: as on a full disk. */
void limit_files(rlim_t bytes);

#endif
