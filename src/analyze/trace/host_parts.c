/* SPDX-License-Identifier: MIT */
/*
 * Host activity of an inference engine while its device waits. Each instant belongs to the
 * innermost function or annotation of the main thread whose purpose is known.
 */
#include "analyze/trace/host_parts.h"

#include "base/sum.h"

/* A span that is open, and what it is for. */
struct open_work {
	int64_t end_ns;
	uint8_t work; /* enum engine_work */
};

struct parts_walk {
	const struct tscope_trace *trace;
	struct arena *scratch;
	struct interval_cursor stretches;
	struct host_parts *parts;
	struct open_work *open;
	size_t depth, capacity;
	int64_t at_ns;  /* what lies before is counted */
	uint8_t *works; /* by kind of span: enum engine_work, or UNKNOWN_WORK */
};

enum { UNKNOWN_WORK = ENGINE_WORK_COUNT };

static uint8_t ask_kind(const struct tscope_trace *trace, const struct span_kind *kind)
{
	struct str name = tsi_intern_text(&trace->names, kind->name);

	if (kind->span_class == TSCOPE_SPAN_PYTHON)
		return (uint8_t)tsi_engine_function(name);
	if (kind->span_class == TSCOPE_SPAN_ANNOTATION)
		return (uint8_t)tsi_engine_annotation(name);
	return ENGINE_OTHER;
}

static uint8_t work_of_row(struct parts_walk *walk, uint32_t row)
{
	uint32_t kind = walk->trace->spans.kind[row];

	if (walk->works[kind] == UNKNOWN_WORK)
		walk->works[kind] = ask_kind(walk->trace, &walk->trace->spans.kinds[kind]);
	return walk->works[kind];
}

/* Counts the time from at_ns on, which is for that work. */
static void count_until(struct parts_walk *walk, int64_t until_ns, uint8_t work)
{
	struct interval piece = { walk->at_ns, until_ns }, part;

	if (until_ns <= walk->at_ns)
		return;
	walk->at_ns = until_ns;
	while (tsi_intervals_next(&walk->stretches, &piece, &part))
		tsi_sum(&walk->parts->ns[work], part.end_ns - part.start_ns);
}

static uint8_t work_now(const struct parts_walk *walk)
{
	return walk->depth > 0 ? walk->open[walk->depth - 1].work : ENGINE_OTHER;
}

static void close_until(struct parts_walk *walk, int64_t t_ns)
{
	while (walk->depth > 0 && walk->open[walk->depth - 1].end_ns <= t_ns) {
		count_until(walk, walk->open[walk->depth - 1].end_ns, work_now(walk));
		walk->depth--;
	}
	count_until(walk, t_ns, work_now(walk));
}

/* A span that crosses the end of the one around it ends with it. */
static void open_row(struct parts_walk *walk, uint32_t row, uint8_t work)
{
	int64_t end_ns = tsi_span_end(walk->trace, row);
	int64_t around_ns = walk->depth > 0 ? walk->open[walk->depth - 1].end_ns : INT64_MAX;
	struct open_work *open = tsi_arena_push(walk->scratch, &walk->open, &walk->depth,
						&walk->capacity, sizeof(*open));

	walk->parts->is_known = true;
	if (open)
		*open = (struct open_work){ end_ns < around_ns ? end_ns : around_ns, work };
}

static void walk_rows(struct parts_walk *walk, const struct track *track)
{
	const struct spans *spans = &walk->trace->spans;

	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		uint8_t work = work_of_row(walk, row);

		if (work == ENGINE_OTHER)
			continue;
		close_until(walk, tsi_start_ns(spans, row));
		open_row(walk, row, work);
	}
	close_until(walk, INT64_MAX);
}

struct host_parts tsi_host_parts(const struct tscope_timeline *timeline,
				 const struct interval_set *stretches, struct arena *scratch)
{
	const struct tscope_trace *trace = timeline->trace;
	struct host_parts parts = { .is_known = false };
	struct parts_walk walk = {
		.trace = trace,
		.scratch = scratch,
		.stretches = { .set = stretches },
		.parts = &parts,
		.at_ns = INT64_MIN,
	};

	if (timeline->main_track == NO_ROW || stretches->count == 0)
		return parts;
	walk.works = tsi_arena_new(scratch, trace->spans.kind_count, sizeof(*walk.works));
	if (!walk.works)
		return parts;
	for (uint32_t i = 0; i < trace->spans.kind_count; i++)
		walk.works[i] = UNKNOWN_WORK;
	walk_rows(&walk, &trace->tracks[timeline->main_track]);
	return parts;
}
