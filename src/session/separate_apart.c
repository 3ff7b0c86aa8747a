/* SPDX-License-Identifier: MIT */
/* Evidence against captures belonging to one run. */
#include "session/separate.h"

#include "run/file_name.h"

/* Clocks of nodes are farther apart only where nobody sets them. */
#define APART_NS (INT64_C(30) * 1000000000)

enum apart tsi_job_differs(const struct extent *a, const struct extent *b)
{
	if (a->world_size >= 0 && b->world_size >= 0 && a->world_size != b->world_size)
		return APART_WORLD;
	if (tsi_texts_differ(tsi_origin_of(a->first)->backend, tsi_origin_of(b->first)->backend))
		return APART_BACKEND;
	if (a->first->attempt.length > 0 && b->first->attempt.length > 0 &&
	    !tsi_str_equal(a->first->attempt, b->first->attempt))
		return APART_ATTEMPT;
	if (tsi_texts_differ(a->first->family, b->first->family))
		return APART_FAMILY;
	return TOGETHER;
}

static bool devices_differ(const struct extent *a, const struct extent *b)
{
	return tsi_texts_differ(tsi_origin_of(a->first)->device, tsi_origin_of(b->first)->device);
}

bool tsi_processes_differ(const struct capture *a, const struct capture *b)
{
	return (tsi_origin_of(a)->pid >= 0 && tsi_origin_of(b)->pid >= 0 &&
		tsi_origin_of(a)->pid != tsi_origin_of(b)->pid) ||
	       tsi_texts_differ(tsi_origin_of(a)->host, tsi_origin_of(b)->host);
}

bool tsi_goes_on(const struct extent *earlier, const struct extent *later)
{
	return tsi_has_numbers(earlier) && tsi_has_numbers(later) &&
	       later->first_step > earlier->last_step;
}

enum apart tsi_windows_differ(const struct extent *earlier, const struct extent *later)
{
	enum apart why = tsi_job_differs(earlier, later);

	if (why != TOGETHER)
		return why;
	if (devices_differ(earlier, later))
		return APART_DEVICE;
	if (later->start_ns < earlier->end_ns) /* two jobs, or files that contradict each other */
		return tsi_are_in_folders_apart(earlier->last->loaded->input.path,
						later->first->loaded->input.path)
			       ? APART_AT_ONCE
			       : TOGETHER;
	if (tsi_processes_differ(earlier->last, later->first))
		return tsi_goes_on(earlier, later) ? TOGETHER : APART_PROCESS;
	if (tsi_origin_of(earlier->first)->is_whole != tsi_origin_of(later->first)->is_whole)
		return APART_UNMARKED;
	if (tsi_has_numbers(earlier) && tsi_has_numbers(later) && !tsi_goes_on(earlier, later) &&
	    !tsi_is_process_known(later->first))
		return APART_AGAIN;
	return TOGETHER;
}

enum apart tsi_ranks_differ(const struct extent *run, const struct extent *unit, bool is_concurrent)
{
	bool is_unranked = run->first->rank < 0 || unit->first->rank < 0;
	bool has_unix = tsi_origin_of(run->first)->has_unix && tsi_origin_of(unit->first)->has_unix;
	int64_t gap_ns = tsi_gap_between(run, unit);

	if (devices_differ(run, unit) &&
	    (gap_ns > 0 || run->world_size < 0 || unit->world_size < 0))
		return APART_DEVICE;
	if (is_unranked && !is_concurrent) {
		bool is_known =
			tsi_is_process_known(run->last) || tsi_is_process_known(unit->first);

		return !is_known && tsi_goes_on(run, unit) ? TOGETHER : APART_STRANGER;
	}
	return !is_unranked && has_unix && gap_ns > APART_NS ? APART_TIME : TOGETHER;
}
