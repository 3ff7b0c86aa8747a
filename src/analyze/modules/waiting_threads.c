/* SPDX-License-Identifier: MIT */
#include "analyze/modules/waiting_threads.h"

#include "base/sum.h"
#include "timeline/host_kinds.h"
#include "timeline/interval.h"

enum { NOTHING, PYTHON_ONLY, HAS_WORK };

/* A thread works where it has spans other than Python's: operators, calls, annotations. */
static void look_at_kinds(const struct tscope_trace *trace, uint8_t *threads, bool *is_wait)
{
	for (uint32_t i = 0; i < trace->spans.kind_count; i++) {
		const struct span_kind *kind = &trace->spans.kinds[i];
		if (kind->track >= trace->host_track_count)
			continue;
		if (kind->span_class != TSCOPE_SPAN_PYTHON)
			threads[kind->track] = HAS_WORK;
		else if (threads[kind->track] == NOTHING)
			threads[kind->track] = PYTHON_ONLY;
	}
	for (uint32_t i = 0; i < trace->spans.kind_count; i++) {
		const struct span_kind *kind = &trace->spans.kinds[i];
		if (kind->track < trace->host_track_count && threads[kind->track] == PYTHON_ONLY)
			is_wait[i] =
				tsi_is_waiting_frame(tsi_intern_text(&trace->names, kind->name));
	}
}

/* Adds what frames before it have left of a frame. */
static void add_unclaimed(int64_t *sum_ns, int64_t *until_ns, int64_t start_ns, int64_t end_ns)
{
	struct interval left = tsi_unclaimed(until_ns, start_ns, end_ns);

	if (left.end_ns > left.start_ns)
		tsi_sum(sum_ns, left.end_ns - left.start_ns);
}

/* Do frames that wait take nearly all the time of the thread's frames? */
static bool only_waits(const struct tscope_trace *trace, const struct track *track,
		       const bool *is_wait)
{
	static const double nearly_all = 0.95;
	int64_t until_ns = INT64_MIN, wait_until_ns = INT64_MIN, all_ns = 0, wait_ns = 0;

	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		int64_t start_ns = tsi_start_ns(&trace->spans, row);
		int64_t end_ns = tsi_span_end(trace, row);

		add_unclaimed(&all_ns, &until_ns, start_ns, end_ns);
		if (is_wait[trace->spans.kind[row]])
			add_unclaimed(&wait_ns, &wait_until_ns, start_ns, end_ns);
	}
	return all_ns > 0 && (double)wait_ns >= nearly_all * (double)all_ns;
}

bool *tsi_waiting_threads(const struct tscope_trace *trace, struct arena *arena)
{
	bool *waits = tsi_arena_new(arena, trace->host_track_count, sizeof(*waits));
	bool *is_wait = tsi_arena_new(arena, trace->spans.kind_count, sizeof(*is_wait));
	uint8_t *threads = tsi_arena_new(arena, trace->host_track_count, sizeof(*threads));

	if (!waits || !is_wait || !threads)
		return NULL;
	look_at_kinds(trace, threads, is_wait);
	for (uint32_t i = 0; i < trace->host_track_count; i++)
		waits[i] =
			threads[i] == PYTHON_ONLY && only_waits(trace, &trace->tracks[i], is_wait);
	return waits;
}
