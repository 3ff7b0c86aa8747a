/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MEMORY_SNAPSHOT_OOM_CASE_H
#define TSCOPE_ANALYZE_MEMORY_SNAPSHOT_OOM_CASE_H

#include "analyze/memory/snapshot_parts.h"

struct oom_row {
	uint32_t device;
	struct snapshot_oom oom;
};

/* How the allocator was set. */
struct oom_settings {
	bool is_expandable, is_split_limited, is_collecting;
};

#define OOM_CAUSES(X)                                                                              \
	/* The driver had enough left: something else refused, or it had less just before. */      \
	X(OOM_CAUSE_LIMIT, "limit")                                                                \
	/* It had enough for the request, but is asked for more: there was not so much at all. */  \
	X(OOM_CAUSE_ROUNDING, "rounding")                                                          \
	X(OOM_CAUSE_FRAGMENTATION,                                                                 \
	  "fragmentation") /* all that was free, in one piece, would have done */                  \
	X(OOM_CAUSE_SHORTAGE, "shortage")

enum oom_cause { OOM_CAUSES(TSI_NAMED_ID) };

/* An OOM with all that verdicts depend on. */
struct oom_case {
	const struct snapshot_oom *oom;
	struct oom_settings settings;
	int64_t driver_bytes; /* what torch asks the driver for, to serve it */
	enum oom_cause cause; /* without a layout: the limit, or nothing */
	bool is_private;      /* the pieces of its own pool are not counted */
	const char *doubt;    /* on the layout, or NULL */
};

struct oom_case tsi_oom_case(const struct snapshot_view *view, const struct oom_row *row);

static inline bool tsi_is_laid_out(const struct snapshot_oom *oom)
{
	return oom->free_bytes != UNKNOWN_BYTES;
}

static inline bool tsi_fits_unfragmented(const struct snapshot_oom *oom)
{
	return oom->size_bytes <= oom->unfragmented_free_bytes;
}

#endif
