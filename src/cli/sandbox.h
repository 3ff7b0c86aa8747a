/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/*
 * Gives up, for good, what reading traces does not need: running programs, the network, other
 * processes, and writing or deleting files but beside the outputs. Files can still be read. For the
 * only thread; before any input is read. Restrictions that the kernel does not support are left
 * out.
 *
 * outputs: paths of files and folders that may be written, NULL among them is none.
 */
void sandbox_enter(const char *const *outputs, size_t count);
