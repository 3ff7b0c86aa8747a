/* SPDX-License-Identifier: MIT */
#include "analyze/modules/module_marks.h"

/* Limit on hooks without an end that are examined. */
enum { MAX_OPEN_LOOKED_AT = 128 };

static void begin(struct module_marks *marks, uint32_t row)
{
	struct mark_span *span = tsi_arena_push(marks->arena, &marks->spans, &marks->count,
						&marks->capacity, sizeof(*span));
	if (!span)
		return;
	*span = (struct mark_span){
		.row = row,
		.path = tsi_name_id(&marks->trace->spans, row),
		.end_ns = tsi_span_end(marks->trace, row),
	};
	uint32_t *open = tsi_arena_push(marks->arena, &marks->open, &marks->open_count,
					&marks->open_capacity, sizeof(*open));
	if (open)
		*open = (uint32_t)marks->count - 1;
}

/* The innermost of this path ends; those within it that have not are cut off. */
static void end(struct module_marks *marks, uint32_t row, struct str path)
{
	size_t looked_at =
		marks->open_count < MAX_OPEN_LOOKED_AT ? marks->open_count : MAX_OPEN_LOOKED_AT;

	for (size_t i = marks->open_count; i-- > marks->open_count - looked_at;) {
		struct mark_span *span = &marks->spans[marks->open[i]];
		struct str name = tsi_intern_text(&marks->trace->names, span->path);
		if (!tsi_str_equal(tsi_module_mark(name).path, path))
			continue;
		span->end_ns = tsi_span_end(marks->trace, row);
		marks->open_count = i;
		return;
	}
}

void tsi_module_marks_read(struct module_marks *marks, uint32_t index)
{
	const struct track *track = &marks->trace->tracks[index];

	marks->count = marks->open_count = marks->at = 0;
	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		if (tsi_span_class(&marks->trace->spans, row) != TSCOPE_SPAN_ANNOTATION)
			continue;
		struct module_mark mark = tsi_module_mark(tsi_span_name(marks->trace, row));
		if (mark.edge == EDGE_BEGIN)
			begin(marks, row);
		else if (mark.edge == EDGE_END)
			end(marks, row, mark.path);
		if (marks->arena->has_failed)
			return;
	}
}

int64_t tsi_module_marks_end(struct module_marks *marks, uint32_t row)
{
	while (marks->at < marks->count && marks->spans[marks->at].row < row)
		marks->at++;
	if (marks->at < marks->count && marks->spans[marks->at].row == row)
		return marks->spans[marks->at].end_ns;
	return tsi_span_end(marks->trace, row);
}
