/* SPDX-License-Identifier: MIT */
/*
 * Places of the main thread while its rank was at work: by name of the innermost annotation,
 * operator or Python frame, the time of the steps that count less that in which the rank stood
 * still. One rank's beside another's show the work that only one of them does.
 */
#include "comm/log_filler.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/sum.h"
#include "comm/latch.h"
#include "model/trace/classify.h"
#include "timeline/flatten.h"

/* Share of all steps' time below which a place makes no rank late. */
static const double min_share = 0.002;

static bool is_place(const struct tscope_trace *trace, uint32_t row)
{
	switch (tsi_span_class(&trace->spans, row)) {
	case TSCOPE_SPAN_CPU_OP:
	case TSCOPE_SPAN_ANNOTATION:
	case TSCOPE_SPAN_PYTHON:
	case TSCOPE_SPAN_GC:
	case TSCOPE_SPAN_OTHER:
		return !tsi_is_step_marker(tsi_span_name(trace, row));
	default:
		return false; /* calls of the driver are their operator's */
	}
}

static void flatten_main(const struct log_filler *filler, struct flattener *flat)
{
	const struct tscope_trace *trace = filler->trace;
	const struct track *track = &trace->tracks[filler->timeline->main_track];

	for (uint32_t row = track->first; row < track->first + track->count; row++)
		if (is_place(trace, row))
			tsi_flatten_add(flat, tsi_start_ns(&trace->spans, row),
					tsi_span_end(trace, row), tsi_name_id(&trace->spans, row));
	tsi_flatten_end(flat);
}

/* The steps that count, less the time in which the rank stood still. */
static struct interval_set time_at_work(const struct rank_log *log, struct arena *arena)
{
	struct interval_set steps = { 0 }, work = { 0 };

	for (size_t i = 0; i < log->step_count; i++)
		if (log->steps[i].mark == TSCOPE_STEP_COUNTED)
			tsi_intervals_append(&steps, log->steps[i].start_ns,
					     log->steps[i].start_ns + log->steps[i].wall_ns, arena);
	tsi_intervals_subtract(&work, &steps, &log->still, arena);
	return work;
}

/* places: by name in the trace. */
static void add_segments(const struct flattener *flat, const struct interval_set *work,
			 struct rank_place *places)
{
	struct interval_cursor cursor = { .set = work };
	struct interval part;

	for (size_t i = 0; i < flat->count; i++) {
		const struct flat_segment *segment = &flat->segments[i];
		struct interval piece = { segment->start_ns, segment->end_ns };
		struct rank_place *place = &places[segment->label];

		while (tsi_intervals_next(&cursor, &piece, &part)) {
			int64_t ns = part.end_ns - part.start_ns;

			tsi_sum(&place->total_ns, ns);
			if (ns <= place->longest_ns)
				continue;
			place->longest_ns = ns;
			place->longest_start_ns = part.start_ns;
		}
	}
}

static int compare_places(const void *left, const void *right)
{
	const struct rank_place *a = left, *b = right;

	return (a->name > b->name) - (a->name < b->name);
}

/* Sorts them by name, and makes one of those that share it. */
void tsi_rank_log_join_places(struct rank_log *log)
{
	size_t kept = 0;

	if (log->place_count > 0)
		qsort(log->places, log->place_count, sizeof(*log->places), compare_places);
	for (size_t i = 0; i < log->place_count; i++) {
		const struct rank_place *place = &log->places[i];
		struct rank_place *last = kept > 0 ? &log->places[kept - 1] : NULL;

		if (!last || last->name != place->name) {
			log->places[kept++] = *place;
			continue;
		}
		tsi_sum(&last->total_ns, place->total_ns);
		if (place->longest_ns > last->longest_ns) {
			last->longest_ns = place->longest_ns;
			last->longest_start_ns = place->longest_start_ns;
		}
	}
	log->place_count = kept;
}

const struct rank_place *tsi_rank_log_place(const struct rank_log *log, struct str name)
{
	uint32_t id = tsi_intern_find(&log->names, name);
	size_t low = 0, high = log->place_count;

	TSI_BISECT(low, high, log->places[middle].name < id);
	return low < log->place_count && log->places[low].name == id ? &log->places[low] : NULL;
}

static void keep_places(const struct log_filler *filler, const struct rank_place *places,
			double least_ns)
{
	struct rank_log *log = filler->log;

	for (uint32_t name = 0; name < filler->trace->names.count; name++) {
		if ((double)places[name].total_ns < least_ns || places[name].total_ns == 0)
			continue;
		struct rank_place *added =
			tsi_arena_push(&log->arena, &log->places, &log->place_count,
				       &log->place_capacity, sizeof(*added));
		if (!added)
			return;
		*added = places[name];
		added->name = tsi_log_name(filler, name);
	}
	tsi_rank_log_join_places(log);
}

void tsi_log_add_places(const struct log_filler *filler)
{
	struct arena scratch = { 0 };
	struct flattener flat = { .arena = &scratch };
	struct rank_place *places =
		tsi_arena_new(&scratch, filler->trace->names.count, sizeof(*places));

	if (places && filler->timeline->main_track != NO_ROW) {
		struct interval_set work = time_at_work(filler->log, &scratch);

		flatten_main(filler, &flat);
		if (!scratch.has_failed)
			add_segments(&flat, &work, places);
		keep_places(filler, places, min_share * (double)tsi_intervals_length(&work));
	}
	tsi_latch_deinit(&filler->log->arena, &scratch);
}
