/* SPDX-License-Identifier: MIT */
/*
 * Roles of span kinds by their names, once all are there: which kernels communicate, what a runtime
 * call does, where a copy goes.
 */
#include "model/trace/build.h"

static void assign_copy(struct span_kind *kind, struct str name)
{
	kind->device.pageable = tsi_is_pageable_copy(name);
	if (kind->device.direction == COPY_UNKNOWN)
		kind->device.direction = (uint8_t)tsi_classify_copy(name);
}

void tsi_assign_roles(struct builder *b)
{
	enum { MEMO_SLOTS = 64 };
	struct tscope_trace *trace = b->trace;
	/* Kernels of one name have a kind for each launch shape; name 0 is empty. */
	struct {
		uint32_t name;
		uint8_t span_class;
	} memos[MEMO_SLOTS] = { { 0, TSCOPE_SPAN_KERNEL } }, *memo;
	for (uint32_t i = 0; i < trace->spans.kind_count; i++) {
		struct span_kind *kind = &trace->spans.kinds[i];
		struct str name = tsi_intern_text(&trace->names, kind->name);
		if (kind->span_class == TSCOPE_SPAN_RUNTIME)
			kind->call.kind = tsi_classify_call(name);
		else if (kind->span_class == TSCOPE_SPAN_KERNEL) {
			memo = &memos[kind->name % MEMO_SLOTS];
			if (memo->name != kind->name) {
				memo->name = kind->name;
				memo->span_class =
					tsi_classify_device_name(name, TSCOPE_SPAN_KERNEL);
			}
			kind->span_class = memo->span_class;
		}
		if (kind->span_class == TSCOPE_SPAN_MEMCPY)
			assign_copy(kind, name);
	}
}
