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

static bool is_place(const struct tscope_trace *trace, const struct span_kind *kind)
{
	switch (kind->span_class) {
	case TSCOPE_SPAN_CPU_OP:
	case TSCOPE_SPAN_ANNOTATION:
	case TSCOPE_SPAN_PYTHON:
	case TSCOPE_SPAN_GC:
	case TSCOPE_SPAN_OTHER:
		return !tsi_is_step_marker(tsi_intern_text(&trace->names, kind->name));
	default:
		return false; /* calls of the driver are their operator's */
	}
}

/* By kind of span: the name of the place that its rows are, or NO_ROW. */
static const uint32_t *names_of_kinds(const struct tscope_trace *trace, struct arena *arena)
{
	const struct spans *spans = &trace->spans;
	uint32_t *names = tsi_arena_new(arena, spans->kind_count, sizeof(*names));

	for (uint32_t i = 0; names && i < spans->kind_count; i++)
		names[i] = is_place(trace, &spans->kinds[i]) ? spans->kinds[i].name : NO_ROW;
	return names;
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

struct place_walk {
	struct rank_place *places; /* by name in the trace */
	struct interval_cursor work;
	struct interval now;         /* of the work, around the last segment; or empty */
	struct flat_segment segment; /* the last: it may go on */
};

static inline void add_piece(struct rank_place *place, struct interval piece)
{
	int64_t ns = piece.end_ns - piece.start_ns;

	tsi_sum(&place->total_ns, ns);
	if (ns <= place->longest_ns)
		return;
	place->longest_ns = ns;
	place->longest_start_ns = piece.start_ns;
}

static void add_cut(struct place_walk *walk, struct interval piece)
{
	struct interval part;

	while (tsi_intervals_next(&walk->work, &piece, &part))
		add_piece(&walk->places[walk->segment.label], part);
	if (walk->work.at < walk->work.set->count)
		walk->now = walk->work.set->items[walk->work.at];
}

static inline void add_segment(struct place_walk *walk)
{
	struct interval piece = { walk->segment.start_ns, walk->segment.end_ns };

	if (walk->now.start_ns <= piece.start_ns && piece.end_ns <= walk->now.end_ns)
		add_piece(&walk->places[walk->segment.label], piece);
	else
		add_cut(walk, piece);
}

static inline void take(void *data, struct flat_segment segment)
{
	struct place_walk *walk = data;

	if (walk->segment.end_ns == segment.start_ns && walk->segment.label == segment.label) {
		walk->segment.end_ns = segment.end_ns;
		return;
	}
	add_segment(walk);
	walk->segment = segment;
}

static void walk_main(const struct log_filler *filler, struct place_walk *walk, struct arena *arena)
{
	const struct tscope_trace *trace = filler->trace;
	const struct track *track = &trace->tracks[filler->timeline->main_track];
	const uint32_t *names = names_of_kinds(trace, arena);
	struct span_times times = tsi_span_times(&trace->spans);
	struct flattener flat = { .arena = arena };

	for (uint32_t row = track->first; names && row < track->first + track->count; row++) {
		struct flat_segment span = { .label = names[times.kind[row]] };

		if (span.label == NO_ROW)
			continue;
		span.start_ns = tsi_start_of(times, row);
		span.end_ns = span.start_ns + tsi_dur_of(times, row);
		tsi_flatten_add(&flat, span, take, walk);
	}
	tsi_flatten_end(&flat, take, walk);
	add_segment(walk);
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
	struct place_walk walk = { .segment.start_ns = INT64_MIN, .segment.end_ns = INT64_MIN };

	walk.places = tsi_arena_new(&scratch, filler->trace->names.count, sizeof(*walk.places));
	if (walk.places && filler->timeline->main_track != NO_ROW) {
		struct interval_set work = time_at_work(filler->log, &scratch);

		walk.work.set = &work;
		walk_main(filler, &walk, &scratch);
		keep_places(filler, walk.places, min_share * (double)tsi_intervals_length(&work));
	}
	tsi_latch_deinit(&filler->log->arena, &scratch);
}
