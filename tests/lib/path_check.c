/* SPDX-License-Identifier: MIT */
/* Walks the critical path of a trace that a test made, and writes it as text. */
#include "path_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "check.h"

static void keep_piece(struct path_sink *sink, const struct path_piece *piece)
{
	struct path_pieces *pieces = (struct path_pieces *)sink;

	assert_int_equal(tsi_array_reserve(&pieces->items, &pieces->capacity, pieces->count + 1,
					   sizeof(*piece), NULL),
			 TSCOPE_OK);
	pieces->items[pieces->count++] = *piece;
}

static int by_start(const void *left, const void *right)
{
	const struct path_piece *a = left, *b = right;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

struct walked_path walk_path(struct test_trace *t, const struct tscope_timeline_options *options)
{
	struct walked_path w = { .trace = test_trace_finish(t), .pieces.sink.take = keep_piece };
	struct arena scratch = { 0 };

	w.timeline = test_timeline(w.trace, options);
	tsi_path_walk(w.timeline, &w.pieces.sink, &scratch);
	assert_false(scratch.has_failed);
	tsi_arena_deinit(&scratch);
	if (w.pieces.count)
		qsort(w.pieces.items, w.pieces.count, sizeof(*w.pieces.items), by_start);
	return w;
}

void walked_path_free(struct walked_path *w)
{
	free(w->pieces.items);
}

void check_path_of(struct test_trace *t, const struct tscope_timeline_options *options,
		   const char *expected)
{
	static const char *const lines[PATH_LINE_COUNT] = {
		[PATH_COMPUTE] = "compute", [PATH_COMM] = "comm",      [PATH_COPY] = "copy",
		[PATH_LAUNCH] = "launch",   [PATH_DEVICE_GAP] = "gap", [PATH_HOST] = "host",
		[PATH_DATA] = "data",
	};
	struct walked_path w = walk_path(t, options);
	char text[4096];
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < w.pieces.count; i++) {
		const struct path_piece *piece = &w.pieces.items[i];
		const char *name =
			piece->row == NO_ROW ? "-" : tsi_span_name(w.trace, piece->row).data;
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "%s %" PRId64 " %" PRId64 " %s\n", lines[piece->line],
					   piece->start_ns, piece->end_ns, name);
		assert_true(length < sizeof(text));
	}
	assert_string_equal(text, expected);
	walked_path_free(&w);
}

void check_path(struct test_trace *t, const char *expected)
{
	check_path_of(t, NULL, expected);
}
