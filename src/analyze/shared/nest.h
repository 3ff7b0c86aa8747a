/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_SHARED_NEST_H
#define TSCOPE_ANALYZE_SHARED_NEST_H

#include "base/arena.h"
#include "model/trace/trace.h"

/*
 * Time by name of the spans of some classes, as they enclose each other on the host threads. Spans
 * of other classes are not seen, as if they were not there.
 *
 * A span that crosses the end of the one that encloses its start is a child
 * up to there, and takes no time from the parent beyond.
 */
#define TSI_CLASS_BIT(span_class) (1u << (span_class))

struct nested_times {
	int64_t count, dur_ns;
	int64_t total_ns; /* of those that no span of the same name encloses */
	int64_t self_ns;  /* less what spans directly in them take */
};

/* By name id; NULL without memory. */
struct nested_times *tsi_nested_times(const struct tscope_trace *trace, uint32_t classes,
				      struct arena *arena);

#endif
