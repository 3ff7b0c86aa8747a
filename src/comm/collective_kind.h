/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_COLLECTIVE_KIND_H
#define TSCOPE_COMM_COLLECTIVE_KIND_H

#include "model/trace/trace.h"

/* "all_reduce" …; "unknown" for COLLECTIVE_UNKNOWN. Never NULL. */
const char *tsi_collective_kind_name(enum collective_kind kind);

/* The collective of a communication kernel: every one has a record, if only of its kind. */
static inline const struct collective *tsi_collective_of(const struct tscope_trace *trace,
							 uint32_t row)
{
	return &trace->collectives[tsi_device_event(trace, row)->collective];
}

/* True where the trace describes the collective; else its kind comes from the kernel's name. */
static inline bool tsi_collective_has_metadata(const struct collective *collective)
{
	return collective->name != 0;
}

/*
 * Algorithm and protocol in the name of an NCCL kernel
 * ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(…)").
 */
struct comm_name {
	const char *algorithm, *protocol; /* "ring", "ll"; "": not said. Static */
};

/*
 * Reads the name with this id, each only once: names is an array by name id,
 * zeroed at first, that keeps what was read.
 */
const struct comm_name *tsi_comm_name(struct comm_name *names, const struct tscope_trace *trace,
				      uint32_t id);

/*
 * The size S of a collective as bandwidths are quoted for it: what one rank
 * puts in; for all_gather what it gets; for gather and scatter what the root
 * has of all; for all_to_all the larger of both. NO_NUMBER where not known.
 */
int64_t tsi_collective_bytes(const struct collective *collective);

/*
 * Factor that turns the algorithm bandwidth S ÷ t into the bus bandwidth, which is comparable
 * between kinds and group sizes: 2(n − 1)/n for all_reduce … NAN where the group's size is needed
 * and not known, or nothing is moved.
 */
double tsi_collective_bus_factor(const struct collective *collective);

#endif
