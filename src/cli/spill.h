/* SPDX-License-Identifier: MIT */
#pragma once

#include "options.h"

/*
 * Opens the file for spans beyond --memory-limit, in TMPDIR or /var/tmp, where an input may have
 * so many: before the sandbox, which allows no file to be made.
 */
void spill_prepare(struct options *options);
