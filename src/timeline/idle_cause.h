/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_IDLE_CAUSE_H
#define TSCOPE_TIMELINE_IDLE_CAUSE_H

#include <stdint.h>
#include <tscope/timeline.h>

/*
 * Why a device is idle. Let E be the device event that ends the gap and L its launch call. Until L
 * starts the cause is what L's thread is inside of, then L itself, then what kept E from starting.
 * Each has a name for facts, a line of the budget, words for readers and a description.
 */
#define IDLE_CAUSES(X)                                                                             \
	/* Before L: any span around the thread's work, the outermost wins. */                     \
	X(IDLE_DATA, "data", DATA_STALL, "data loading",                                           \
	  "idle, the launching thread is in a data loader")                                        \
	X(IDLE_COMPILE, "compile", LAUNCH_STALL, "compilation",                                    \
	  "idle, the launching thread compiles, or captures or instantiates a graph")              \
	X(IDLE_GC, "gc", LAUNCH_STALL, "garbage collection",                                       \
	  "idle, the launching thread is in Python's garbage collection")                          \
	X(IDLE_CALLBACK, "callback", LAUNCH_STALL, "callbacks and logging",                        \
	  "idle, the launching thread is in callbacks, logging or checkpoints")                    \
	X(IDLE_PROFILER, "profiler", LAUNCH_STALL, "profiler overhead",                            \
	  "idle, the launching thread is in the profiler's own work")                              \
	X(IDLE_PEER, "peer", LAUNCH_STALL, "waiting for other ranks",                              \
	  "idle, the launching thread waits on the host for another rank")                         \
	/* Before L: the innermost span. */                                                        \
	X(IDLE_SYNC, "sync", SYNC_STALL, "synchronization",                                        \
	  "idle, in a call that waits for the device, or dispatching what that call held up")      \
	X(IDLE_BLOCKING_COPY, "blocking_copy", SYNC_STALL, "blocking copies",                      \
	  "idle, in a copy call of 50 us or more, or dispatching what that call held up")          \
	X(IDLE_ALLOC, "alloc", LAUNCH_STALL, "driver allocation",                                  \
	  "idle, in a driver call that allocates, frees or registers memory")                      \
	X(IDLE_STARTUP, "startup", LAUNCH_STALL, "start-up",                                       \
	  "idle, in initialisation, module loading, or the first use of a kernel or operator")     \
	X(IDLE_LAUNCH_STALL, "launch_stall", LAUNCH_STALL, "slow launch calls",                    \
	  "idle, in a launch call of more than 1 ms that is no first use")                         \
	X(IDLE_CPU_WORK, "cpu_work", LAUNCH_STALL, "operators on the CPU",                         \
	  "idle, 1 ms or more in an operator that computes and never calls the runtime")           \
	X(IDLE_OP_STALL, "op_stall", LAUNCH_STALL, "pauses inside operators",                      \
	  "idle, 1 ms or more outside of calls in an operator that calls the runtime or computes " \
	  "nothing (aten::empty)")                                                                 \
	X(IDLE_OP_OVERHEAD, "op_overhead", LAUNCH_STALL, "operator dispatch",                      \
	  "idle, the launching thread dispatches operators and autograd nodes")                    \
	X(IDLE_PYTHON, "python", LAUNCH_STALL, "Python between operators",                         \
	  "idle, the launching thread is between operators")                                       \
	X(IDLE_HOST_UNRECORDED, "host_unrecorded", LAUNCH_STALL, "unrecorded host time",           \
	  "idle, between calls in a trace that records no operators")                              \
	/* Inside L. */                                                                            \
	X(IDLE_LAUNCH_CALL, "launch_call", LAUNCH_STALL, "launch calls",                           \
	  "idle, in the call that launches the next event")                                        \
	X(IDLE_QUEUE_FULL, "queue_full", DEVICE_GAP, "full launch queue",                          \
	  "idle, in a launch call of more than 1 ms with 512 launches outstanding")                \
	/* After L. */                                                                             \
	X(IDLE_DEVICE_GAP, "device_gap", DEVICE_GAP, "gaps between queued kernels",                \
	  "idle for up to 50 us before an event that was queued already")                          \
	X(IDLE_START_LATENCY, "start_latency", DEVICE_GAP, "kernel start latency",                 \
	  "idle for up to 50 us from the end of the launch call to the event")                     \
	X(IDLE_DEPENDENCY, "dependency", DEVICE_GAP, "waiting for other streams",                  \
	  "idle for longer than that because of another device, a collective or a host function")  \
	X(IDLE_UNRECORDED, "unrecorded", UNATTRIBUTED, "unrecorded work",                          \
	  "idle for longer than that, for no recorded reason")                                     \
	/* Without L. */                                                                           \
	X(IDLE_UNLINKED, "unlinked", UNATTRIBUTED, "unrecorded launches",                          \
	  "idle before an event without a launch call")                                            \
	X(IDLE_EDGE, "edge", UNATTRIBUTED, "capture edges",                                        \
	  "idle after the last event of the capture")

#define IDLE_CAUSE_ID(id, name, line, words, meaning) id,
enum idle_cause {
	IDLE_CAUSES(IDLE_CAUSE_ID) IDLE_CAUSE_COUNT,
	/* For pieces of a thread (host_state.h): inside nothing that says what it does. */
	IDLE_NONE = IDLE_CAUSE_COUNT,
};

/* "data", "op_overhead" …: never NULL. */
const char *tsi_idle_cause_name(enum idle_cause cause);

/* "data loading", "operator dispatch" …: what reports call it. */
const char *tsi_idle_cause_words(enum idle_cause cause);

/* By name; IDLE_CAUSE_COUNT: no cause has it. */
enum idle_cause tsi_idle_cause_of(const char *name);

/* Words by name; NULL: no cause has it. */
const char *tsi_idle_cause_words_of(const char *name);

/* The line of the budget that the cause is part of. */
enum tscope_budget_line tsi_line_of_cause(enum idle_cause cause);

#endif
