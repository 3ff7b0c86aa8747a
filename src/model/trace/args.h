/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_ARGS_H
#define TSCOPE_MODEL_TRACE_ARGS_H

#include "base/str.h"

/* The arguments of events that are read at all. */
enum arg {
	ARG_OTHER,
	ARG_ADDRESS, /* of allocators, as the next two */
	ARG_ALLOCATED,
	ARG_BLOCK_BYTES,
	ARG_BLOCKS_PER_SM,
	ARG_BYTES,
	ARG_CALL_STACK,
	ARG_COLLECTIVE,
	ARG_CONCRETE_INPUTS,
	ARG_CORRELATION,
	ARG_DEVICE,
	ARG_DEVICE_ID, /* of allocators, as the next */
	ARG_DEVICE_TYPE,
	ARG_DIRECTION,
	ARG_COPY_KIND,
	ARG_COPY_FROM,
	ARG_COPY_TO,
	ARG_FILLED,
	ARG_EXTERNAL_ID,
	ARG_FLOPS,
	ARG_FORWARD_THREAD,
	ARG_GRAPH,
	ARG_GRAPH_NODE, /* of tsi_find_node_arg() only */
	ARG_GRID,
	ARG_INPUT_DIMS,
	ARG_INPUT_TYPES,
	ARG_HIERARCHY, /* of modules */
	ARG_KERNEL,    /* of a launch call: ROCm */
	ARG_MODULE,    /* that a kernel was annotated with */
	ARG_OCCUPANCY,
	ARG_RESERVED, /* of allocators */
	ARG_SEQUENCE_NUMBER,
	ARG_STACK, /* of a kernel's code */
	ARG_STREAM,
};

/* The argument of a key. Writers changed the case of some over the years. */
unsigned tsi_find_arg(struct str key);
/* As above, if nodes of graphs are looked for, which differ from kernel to kernel. */
unsigned tsi_find_node_arg(struct str key);

#endif
