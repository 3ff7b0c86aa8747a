/* SPDX-License-Identifier: MIT */
/* One kernel name, one kind: operators are asked about each launch, and the most time wins. */
#include "analyze/ops/kernel_vote.h"

#include <string.h>

#include "base/sum.h"
#include "model/trace/device_rows.h"

struct kernel_vote {
	const struct tscope_trace *trace;
	/*
	 * By name id. Until all are counted: what is ahead in a vote in which other
	 * kinds take back its nanoseconds. NO_KERNEL: no kernel has this name.
	 */
	uint8_t *kinds;
	int64_t *lead_ns;
	uint8_t *kind_of_op; /* by name id: kind + 1; 0: not asked yet */
};

static enum kernel_kind kind_by_op(struct kernel_vote *vote, uint32_t op)
{
	if (op == NO_ROW)
		return KERNEL_OTHER;
	uint8_t *known = &vote->kind_of_op[tsi_name_id(&vote->trace->spans, op)];
	if (*known == 0)
		*known = (uint8_t)(tsi_kernel_kind_of_op(tsi_span_name(vote->trace, op)) + 1);
	return *known - 1;
}

/* row: a span of class TSCOPE_SPAN_KERNEL or _COMM. */
static void add_kernel(struct kernel_vote *vote, uint32_t row)
{
	const struct spans *spans = &vote->trace->spans;
	uint32_t name = tsi_name_id(spans, row);
	uint8_t *ahead = &vote->kinds[name];
	int64_t *lead_ns = &vote->lead_ns[name], dur_ns = tsi_dur_ns(spans, row);

	if (*ahead == KERNEL_COMM)
		return;
	if (tsi_span_class(spans, row) == TSCOPE_SPAN_COMM) {
		*ahead = KERNEL_COMM;
		return;
	}
	enum kernel_kind kind = kind_by_op(vote, tsi_launching_op(vote->trace, row));
	if (*ahead == NO_KERNEL)
		*ahead = KERNEL_OTHER;
	if (*ahead == kind) {
		tsi_sum(lead_ns, dur_ns);
	} else if (*lead_ns > dur_ns) {
		*lead_ns -= dur_ns;
	} else {
		*lead_ns = dur_ns - *lead_ns;
		*ahead = (uint8_t)kind;
	}
}

/* A fused operator of experts or attention also launches what routes, quantises and copies. */
static uint8_t settle(uint8_t by_op, struct str kernel_name)
{
	if (by_op != KERNEL_OTHER && by_op != KERNEL_MOE && by_op != KERNEL_ATTENTION)
		return by_op;
	enum kernel_kind by_name = tsi_kernel_kind_of_name(kernel_name);
	if (by_op != KERNEL_OTHER &&
	    (by_name == KERNEL_OTHER || tsi_kernel_kind_multiplies(by_name)))
		return by_op;
	return (uint8_t)by_name;
}

uint8_t *tsi_kernel_kinds(const struct tscope_trace *trace, struct arena *arena)
{
	const struct intern *names = &trace->names;
	struct arena scratch = { 0 };
	struct kernel_vote vote = {
		.trace = trace,
		.kinds = tsi_arena_new(arena, names->count, 1),
		.lead_ns = tsi_arena_new(&scratch, names->count, sizeof(*vote.lead_ns)),
		.kind_of_op = tsi_arena_new(&scratch, names->count, 1),
	};

	arena->has_failed |= scratch.has_failed;
	if (!arena->has_failed) {
		memset(vote.kinds, NO_KERNEL, names->count);
		for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++)
			if (tsi_is_kernel(trace, row))
				add_kernel(&vote, row);
		for (uint32_t name = 0; name < names->count; name++)
			if (vote.kinds[name] != NO_KERNEL)
				vote.kinds[name] =
					settle(vote.kinds[name], tsi_intern_text(names, name));
	}
	tsi_arena_deinit(&scratch);
	return arena->has_failed ? NULL : vote.kinds;
}
