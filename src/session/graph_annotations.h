/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_SESSION_GRAPH_ANNOTATIONS_H
#define TSCOPE_SESSION_GRAPH_ANNOTATIONS_H

#include "model/trace/node_modules.h"

#include <tscope/trace.h>

/*
 * Reads the annotations of the kernels of a trace's CUDA graphs, where they are beside it or in the
 * folder above: kernel_annotations_rank0*.json, or .pkl, of the trace's rank. Where its name says
 * none they are those of the only rank. None: modules stays empty. The caller deinits it, on
 * failure too, which is of the file, not of the trace.
 */
TSI_MUST_CHECK
enum tscope_status tsi_graph_annotations_read(struct node_modules *modules, const char *trace_path,
					      const struct tscope_trace_options *options,
					      struct tscope_error *err);

#endif
