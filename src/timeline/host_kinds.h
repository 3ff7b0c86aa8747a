/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_HOST_KINDS_H
#define TSCOPE_TIMELINE_HOST_KINDS_H

#include "timeline/idle_cause.h"
#include "timeline/landmarks.h"

/* Role of a host span for the thread inside it. */
enum host_role {
	HOST_NOTHING,  /* markers of steps, the profiler's overhead: says nothing */
	HOST_OP,       /* an operator */
	HOST_AUTOGRAD, /* an operator that is a node of the backward pass */
	/* Calls of the runtime or driver. */
	HOST_CALL,
	HOST_CALL_LAUNCH, /* launches, fills */
	HOST_CALL_GRAPH,  /* launches a graph */
	HOST_CALL_COPY,
	HOST_CALL_INIT, /* creates and queries: start-up if it lasts */
	HOST_CALL_SYNC,
	HOST_CALL_ALLOC,
	HOST_CALL_LOAD, /* initialises, loads modules and libraries */
	HOST_CALL_CAPTURE_BEGIN,
	HOST_CALL_CAPTURE_END,
	HOST_CALL_ENQUEUE, /* makes a stream wait for the host */
	/* Host code. */
	HOST_CODE,
	HOST_DISPATCH, /* of collectives */
	HOST_WAIT,     /* a Python frame that waits for another thread */
	HOST_ROLE_COUNT,
};

struct host_kind {
	uint8_t role; /* enum host_role */
	uint8_t flag; /* enum idle_cause: why the thread is late in all that it encloses */
	bool is_idle; /* tsi_is_idle_frame() */
	/* In an operator shorter spans say no more than that: UINT32_MAX: all, 0: none. */
	uint32_t dull_below_ns;
};

/* A copy call that takes no less blocks; shorter launches and queries are dispatch, too. */
#define HOST_COPY_MIN_NS 50000

static inline bool tsi_host_is_call(uint8_t role)
{
	return role >= HOST_CALL && role <= HOST_CALL_ENQUEUE;
}

/* Does the call start work on the device? */
static inline bool tsi_host_is_launch(uint8_t role)
{
	return role >= HOST_CALL_LAUNCH && role <= HOST_CALL_COPY;
}

/* By span kind; NULL without memory. Each distinct name is looked up once. */
struct host_kind *tsi_host_kinds(const struct landmarks *marks, struct arena *arena);

/* Does the name of a Python frame say why its thread is late? */
bool tsi_is_telling_frame(struct str name);

/* Does its thread wait in it for another thread, for another process, or for time to pass? */
bool tsi_is_waiting_frame(struct str name);

/* As above, but for the engine of autograd: nobody has given the thread anything to do. */
bool tsi_is_idle_frame(struct str name);

#endif
