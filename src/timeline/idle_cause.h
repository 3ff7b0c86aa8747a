/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_IDLE_CAUSE_H
#define TSCOPE_TIMELINE_IDLE_CAUSE_H

#include <stdint.h>
#include <tscope/timeline.h>

/*
 * Why a device is idle. Let E be the device event that ends the gap and L its launch call. Until L
 * starts the cause is what L's thread is inside of, then L itself, then what kept E from starting.
 */
enum idle_cause {
	/* Before L: any span around the thread's work, the outermost wins. */
	IDLE_DATA,     /* a data loader */
	IDLE_COMPILE,  /* compilation, graph capture and instantiation */
	IDLE_GC,       /* garbage collection */
	IDLE_CALLBACK, /* callbacks, logging, checkpoints */
	IDLE_PROFILER, /* the profiler's own work */
	IDLE_PEER,     /* waits for another rank on the host */
	/* Before L: the innermost span. */
	IDLE_SYNC,            /* a call that waits for the device */
	IDLE_BLOCKING_COPY,   /* a copy call of 50 us or more */
	IDLE_ALLOC,           /* driver allocation and freeing */
	IDLE_STARTUP,         /* initialisation, loading, first use */
	IDLE_LAUNCH_STALL,    /* a launch call of more than 1 ms that is no first use */
	IDLE_CPU_WORK,        /* 1 ms or more in an operator that computes and makes no call */
	IDLE_OP_STALL,        /* in one that makes calls or computes nothing */
	IDLE_OP_OVERHEAD,     /* dispatch of operators and autograd nodes */
	IDLE_PYTHON,          /* host code between operators */
	IDLE_HOST_UNRECORDED, /* the same in a trace that records no operators */
	/* Inside L. */
	IDLE_LAUNCH_CALL,
	IDLE_QUEUE_FULL, /* more than 1 ms, and many launches are outstanding */
	/* After L. */
	IDLE_DEVICE_GAP,    /* E was queued when the gap began */
	IDLE_START_LATENCY, /* up to 50 us */
	IDLE_DEPENDENCY,    /* another device, a collective or a host function explains it */
	IDLE_UNRECORDED,    /* nothing that the trace records runs */
	/* Without L. */
	IDLE_UNLINKED, /* E has no launch call */
	IDLE_EDGE,     /* there is no E */
	IDLE_CAUSE_COUNT,
	/* Of pieces of a thread (host_state.h): it is inside nothing that says what it does. */
	IDLE_NONE = IDLE_CAUSE_COUNT,
};

/* "data", "op_overhead" …: never NULL. */
const char *tsi_idle_cause_name(enum idle_cause cause);

/* The line of the budget that the cause is part of. */
enum tscope_budget_line tsi_line_of_cause(enum idle_cause cause);

#endif
