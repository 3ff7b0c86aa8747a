/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_TRACE_PATH_DEVICE_H
#define TSCOPE_ANALYZE_TRACE_PATH_DEVICE_H

#include "base/arena.h"
#include "base/sort.h"
#include "timeline/landmarks.h"
#include "timeline/timeline.h"

/*
 * Causes that device events and host calls waited for. Each event is a cause once at most, so a
 * chain of causes ends, whatever a trace says.
 */
struct path_devices {
	const struct tscope_trace *trace;
	const struct landmarks *marks;
	struct arena *arena;
	/* From a launch call to the event on an idle device: median; 0: not known. */
	int64_t usual_launch_ns;
	struct sort_pair *waits; /* an event's row, that which it waited for; by row; recorded */
	struct sort_pair *calls; /* a call's row, index of what is recorded of it; by row */
	size_t wait_count, call_count;
	uint32_t **by_end;          /* by device, where asked for: its rows by end */
	bool *is_taken;             /* by index of device event */
	const struct track *stream; /* of the event that was asked for last, or NULL */
};

/* All is allocated in the arena; without memory there are no causes. */
void tsi_path_devices_init(struct path_devices *devices, const struct tscope_timeline *timeline,
			   struct arena *arena);

struct path_cause {
	enum {
		CAUSE_NONE,    /* unknown */
		CAUSE_EVENT,   /* the end of a device event */
		CAUSE_EARLIER, /* none is known; this event ended last before */
		CAUSE_LAUNCH,  /* a launch call */
	} kind;
	uint32_t row;    /* of the event or call */
	int64_t time_ns; /* when it happened: not after what it caused */
};

/* Why a device event started when it did. The cause that it returns is not taken yet. */
struct path_cause tsi_path_cause_of_event(struct path_devices *devices, uint32_t row);

/*
 * The event that a call waited for, if it had begun before that ended: the last of those that
 * it may have waited for to end, not after until_ns. CAUSE_EVENT or, of calls that do not wait,
 * CAUSE_NONE.
 */
struct path_cause tsi_path_cause_of_call(struct path_devices *devices, uint32_t call,
					 int64_t until_ns);

/* No later answer is this event. */
static inline void tsi_path_take_event(struct path_devices *devices, uint32_t row)
{
	devices->is_taken[tsi_device_event_index(devices->trace, row)] = true;
}

#endif
