/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MODULES_MODULE_MARKS_H
#define TSCOPE_ANALYZE_MODULES_MODULE_MARKS_H

#include "base/arena.h"
#include "model/trace/module_path.h"
#include "model/trace/trace.h"

/*
 * Annotations of a thread that open modules. FSDP writes a hook before a module's code and one
 * behind it, and the module lasts from the start of the one to the end of the other.
 */
struct module_marks {
	const struct tscope_trace *trace;
	struct arena *arena;
	struct mark_span {
		uint32_t row;
		uint32_t path; /* id of the annotation's name */
		int64_t end_ns;
	} * spans; /* of a thread, by row: hooks before modules' code */
	size_t count, capacity;
	size_t at;      /* the first that was not asked for */
	uint32_t *open; /* of which the end has not come: in spans */
	size_t open_count, open_capacity;
};

/* Takes the rows of a thread in place of the last one's. O(rows). */
void tsi_module_marks_read(struct module_marks *marks, uint32_t track);

/* When the module of such a row ends. Rows are asked for in their order. */
int64_t tsi_module_marks_end(struct module_marks *marks, uint32_t row);

#endif
