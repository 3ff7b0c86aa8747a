/* SPDX-License-Identifier: MIT */
/* One kernel name, one kind: operators are asked about each launch, and the most time wins. */
#include "analyze/ops/kernel_vote.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sum.h"
#include "model/trace/device_rows.h"

enum tscope_status tsi_kernel_vote_init(struct kernel_vote *vote, const struct tscope_trace *trace,
					struct tscope_error *err)
{
	size_t names = trace->names.count;

	*vote = (struct kernel_vote){ .trace = trace };
	if (tsi_array_new(&vote->kinds, names, 1, err) != TSCOPE_OK ||
	    tsi_array_new(&vote->kind_of_op, names, 1, err) != TSCOPE_OK ||
	    tsi_array_new(&vote->lead_ns, names, sizeof(*vote->lead_ns), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	memset(vote->kinds, NO_KERNEL, names);
	return TSCOPE_OK;
}

void tsi_kernel_vote_deinit(struct kernel_vote *vote)
{
	free(vote->kinds);
	free(vote->lead_ns);
	free(vote->kind_of_op);
	*vote = (struct kernel_vote){ 0 };
}

static enum kernel_kind kind_by_op(struct kernel_vote *vote, uint32_t op)
{
	if (op == NO_ROW)
		return KERNEL_OTHER;
	uint8_t *known = &vote->kind_of_op[tsi_name_id(&vote->trace->spans, op)];
	if (*known == 0)
		*known = (uint8_t)(tsi_kernel_kind_of_op(tsi_span_name(vote->trace, op)) + 1);
	return *known - 1;
}

void tsi_kernel_vote_add(struct kernel_vote *vote, uint32_t row)
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

void tsi_kernel_vote_settle(struct kernel_vote *vote)
{
	const struct intern *names = &vote->trace->names;

	for (uint32_t name = 0; name < names->count; name++)
		if (vote->kinds[name] == KERNEL_OTHER)
			vote->kinds[name] =
				(uint8_t)tsi_kernel_kind_of_name(tsi_intern_text(names, name));
}

enum tscope_status tsi_kernel_kinds_new(uint8_t **kinds, const struct tscope_trace *trace,
					struct tscope_error *err)
{
	struct kernel_vote vote;
	enum tscope_status status = tsi_kernel_vote_init(&vote, trace, err);

	if (status == TSCOPE_OK) {
		for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++)
			if (tsi_is_kernel(trace, row))
				tsi_kernel_vote_add(&vote, row);
		tsi_kernel_vote_settle(&vote);
		*kinds = vote.kinds;
		vote.kinds = NULL;
	}
	tsi_kernel_vote_deinit(&vote);
	return status;
}
