/* SPDX-License-Identifier: MIT */
/*
 * What kinds of spans are by their names, once all are there: which kernels communicate, what
 * a runtime call does, where a copy goes.
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
	struct tscope_trace *trace = b->trace;
	for (uint32_t i = 0; i < trace->spans.kind_count; i++) {
		struct span_kind *kind = &trace->spans.kinds[i];
		struct str name = tsi_intern_text(&trace->names, kind->name);
		if (kind->span_class == TSCOPE_SPAN_RUNTIME)
			kind->call.kind = tsi_classify_call(name);
		else if (kind->span_class == TSCOPE_SPAN_KERNEL)
			kind->span_class = tsi_classify_device_name(name, TSCOPE_SPAN_KERNEL);
		if (kind->span_class == TSCOPE_SPAN_MEMCPY)
			assign_copy(kind, name);
	}
}
