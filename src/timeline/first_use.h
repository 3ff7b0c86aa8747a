/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_FIRST_USE_H
#define TSCOPE_TIMELINE_FIRST_USE_H

#include "base/bit_set.h"
#include "model/trace/trace.h"

/*
 * First occurrences in a trace: launches of a kernel, host spans of a name. Most traces have few
 * spans that last long enough to ask for; each list is made when first needed.
 */
struct first_uses {
	const struct tscope_trace *trace;
	struct arena *arena;
	uint32_t *event_of_name; /* by name id: the row that was launched first; or NULL */
	uint32_t *first_calls;   /* by name id: launch calls of these, as a set of bits by call */
	uint32_t *host_of_name;  /* by name id: the host row that started first; or NULL */
};

/* Is this device event the first of its name? */
bool tsi_is_first_event(struct first_uses *uses, uint32_t row);

/* Does this call launch the first event of any name? */
bool tsi_is_first_launch(struct first_uses *uses, uint32_t call);

/* Is this host span the first of its name? */
bool tsi_is_first_span(struct first_uses *uses, uint32_t row);

#endif
