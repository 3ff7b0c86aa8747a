/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_IDLE_CAUSE_H
#define TSCOPE_TIMELINE_IDLE_CAUSE_H

#include <stdint.h>
#include <tscope/timeline.h>

/*
 * Why a device is idle. Let E be the device event that ends the gap and L its launch call. Until L
 * starts the cause is what L's thread is inside of, then L itself, then what kept E from starting.
 */
#define IDLE_CAUSES(X)                                                                             \
	/* Before L: any span around the thread's work, the outermost wins. */                     \
	X(IDLE_DATA, "data", DATA_STALL, "idle, the launching thread is in a data loader")         \
	X(IDLE_COMPILE, "compile", LAUNCH_STALL,                                                   \
	  "idle, the launching thread compiles, or captures or instantiates a graph")              \
	X(IDLE_GC, "gc", LAUNCH_STALL,                                                             \
	  "idle, the launching thread is in Python's garbage collection")                          \
	X(IDLE_CALLBACK, "callback", LAUNCH_STALL,                                                 \
	  "idle, the launching thread is in callbacks, logging or checkpoints")                    \
	X(IDLE_PROFILER, "profiler", LAUNCH_STALL,                                                 \
	  "idle, the launching thread is in the profiler's own work")                              \
	X(IDLE_PEER, "peer", LAUNCH_STALL,                                                         \
	  "idle, the launching thread waits on the host for another rank")                         \
	/* Before L: the innermost span. */                                                        \
	X(IDLE_SYNC, "sync", SYNC_STALL,                                                           \
	  "idle, in a call that waits for the device, or dispatching what that call held up")      \
	X(IDLE_BLOCKING_COPY, "blocking_copy", SYNC_STALL,                                         \
	  "idle, in a copy call of 50 us or more, or dispatching what that call held up")          \
	X(IDLE_ALLOC, "alloc", LAUNCH_STALL,                                                       \
	  "idle, in a driver call that allocates, frees or registers memory")                      \
	X(IDLE_STARTUP, "startup", LAUNCH_STALL,                                                   \
	  "idle, in initialisation, module loading, or the first use of a kernel or operator")     \
	X(IDLE_LAUNCH_STALL, "launch_stall", LAUNCH_STALL,                                         \
	  "idle, in a launch call of more than 1 ms that is no first use")                         \
	X(IDLE_CPU_WORK, "cpu_work", LAUNCH_STALL,                                                 \
	  "idle, 1 ms or more in an operator that computes and never calls the runtime")           \
	X(IDLE_OP_STALL, "op_stall", LAUNCH_STALL,                                                 \
	  "idle, 1 ms or more outside of calls in an operator that calls the runtime or computes " \
	  "nothing (aten::empty)")                                                                 \
	X(IDLE_OP_OVERHEAD, "op_overhead", LAUNCH_STALL,                                           \
	  "idle, the launching thread dispatches operators and autograd nodes")                    \
	X(IDLE_PYTHON, "python", LAUNCH_STALL, "idle, the launching thread is between operators")  \
	X(IDLE_HOST_UNRECORDED, "host_unrecorded", LAUNCH_STALL,                                   \
	  "idle, between calls in a trace that records no operators")                              \
	/* Inside L. */                                                                            \
	X(IDLE_LAUNCH_CALL, "launch_call", LAUNCH_STALL,                                           \
	  "idle, in the call that launches the next event")                                        \
	X(IDLE_QUEUE_FULL, "queue_full", DEVICE_GAP,                                               \
	  "idle, in a launch call of more than 1 ms with 512 launches outstanding")                \
	/* After L. */                                                                             \
	X(IDLE_DEVICE_GAP, "device_gap", DEVICE_GAP,                                               \
	  "idle for up to 50 us before an event that was queued already")                          \
	X(IDLE_START_LATENCY, "start_latency", DEVICE_GAP,                                         \
	  "idle for up to 50 us from the end of the launch call to the event")                     \
	X(IDLE_DEPENDENCY, "dependency", DEVICE_GAP,                                               \
	  "idle for longer than that because of another device, a collective or a host function")  \
	X(IDLE_UNRECORDED, "unrecorded", UNATTRIBUTED,                                             \
	  "idle for longer than that, for no recorded reason")                                     \
	/* Without L. */                                                                           \
	X(IDLE_UNLINKED, "unlinked", UNATTRIBUTED, "idle before an event without a launch call")   \
	X(IDLE_EDGE, "edge", UNATTRIBUTED, "idle after the last event of the capture")

#define IDLE_CAUSE_ID(id, name, line, meaning) id,
enum idle_cause {
	IDLE_CAUSES(IDLE_CAUSE_ID) IDLE_CAUSE_COUNT,
	/* For pieces of a thread (host_state.h): inside nothing that says what it does. */
	IDLE_NONE = IDLE_CAUSE_COUNT,
};

/* "data", "op_overhead" …: never NULL. */
const char *tsi_idle_cause_name(enum idle_cause cause);

/* The line of the budget that the cause is part of. */
enum tscope_budget_line tsi_line_of_cause(enum idle_cause cause);

#endif
