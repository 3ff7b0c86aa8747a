/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MODULES_WAITING_THREADS_H
#define TSCOPE_ANALYZE_MODULES_WAITING_THREADS_H

#include "model/trace/trace.h"

/*
 * By host track: threads that do nothing but wait in Python, such as a logger's that waits for its
 * queue. Where they are is no work of the functions that they are in. NULL without memory.
 */
bool *tsi_waiting_threads(const struct tscope_trace *trace, struct arena *arena);

#endif
