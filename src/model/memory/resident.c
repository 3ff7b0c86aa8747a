/* SPDX-License-Identifier: MIT */
/*
 * memray looks at the resident memory a hundred times a second, so that a day has 8.6 million
 * records. Once there are RESIDENT_POINTS points, each two that are neighbours become one.
 */
#include "model/memory/resident.h"

enum { NS_PER_MS = 1000000 };

/* Takes a later point into an earlier one. */
static void merge(struct resident_point *point, const struct resident_point *later)
{
	point->time_ms = later->time_ms;
	if (later->low_bytes < point->low_bytes)
		point->low_bytes = later->low_bytes;
	if (later->high_bytes > point->high_bytes)
		point->high_bytes = later->high_bytes;
	if (later->heap_bytes > point->heap_bytes)
		point->heap_bytes = later->heap_bytes;
}

static void halve(struct resident *resident)
{
	for (size_t i = 0; i < resident->count / 2; i++) {
		resident->points[i] = resident->points[2 * i];
		merge(&resident->points[i], &resident->points[2 * i + 1]);
	}
	resident->count /= 2;
	resident->stride *= 2;
}

static void count_bytes(struct resident *resident, int64_t bytes)
{
	if (resident->count == 0) {
		resident->first_bytes = bytes;
		resident->peak_bytes = bytes;
		resident->stride = 1;
	}
	if (bytes > resident->peak_bytes)
		resident->peak_bytes = bytes;
	resident->last_bytes = bytes;
}

bool tsi_resident_add(struct resident *resident, const struct resident_record *record,
		      struct arena *arena)
{
	int64_t bytes = (int64_t)record->rss_bytes;
	struct resident_point point = { record->time_ms, bytes, bytes, record->heap_bytes };
	struct resident_point *last = NULL;

	if (resident->count)
		last = &resident->points[resident->count - 1];
	if (bytes < 0 || point.time_ms < (last ? last->time_ms : 0) ||
	    point.time_ms > INT64_MAX / NS_PER_MS)
		return false;
	count_bytes(resident, bytes);
	if (last && resident->pending < resident->stride) {
		merge(last, &point);
		resident->pending++;
		return true;
	}
	if (resident->count == RESIDENT_POINTS)
		halve(resident);
	last = tsi_arena_push(arena, &resident->points, &resident->count, &resident->capacity,
			      sizeof(*last));
	if (last)
		*last = point;
	resident->pending = 1;
	return true;
}

/* The lowest of each part; how many parts have one. */
static unsigned find_lows(const struct resident *resident, int64_t begin_ms, int64_t half_ms,
			  int64_t lows[RESIDENT_PARTS])
{
	unsigned found = 0;

	for (size_t i = 0; i < resident->count; i++) {
		const struct resident_point *point = &resident->points[i];
		int64_t since_ms = point->time_ms - begin_ms;
		unsigned part;

		if (since_ms < 0)
			continue;
		part = (unsigned)((double)since_ms / (double)half_ms * RESIDENT_PARTS);
		part = part < RESIDENT_PARTS ? part : RESIDENT_PARTS - 1;
		/* Points come in the order of time: behind a part without one none counts. */
		if (part == found)
			lows[found++] = point->low_bytes;
		else if (part < found && point->low_bytes < lows[part])
			lows[part] = point->low_bytes;
	}
	return found;
}

bool tsi_resident_growth(const struct resident *resident, struct resident_growth *growth)
{
	int64_t lows[RESIDENT_PARTS] = { 0 }, first_ms, half_ms;

	*growth = (struct resident_growth){ 0 };
	if (resident->count < 2)
		return false;
	first_ms = resident->points[0].time_ms;
	half_ms = (resident->points[resident->count - 1].time_ms - first_ms) / 2;
	if (half_ms < RESIDENT_PARTS ||
	    find_lows(resident, first_ms + half_ms, half_ms, lows) < RESIDENT_PARTS)
		return false;
	growth->first_bytes = lows[0];
	growth->bytes = lows[RESIDENT_PARTS - 1] - lows[0]; /* both are ≥ 0 */
	growth->duration_ns = half_ms / RESIDENT_PARTS * (RESIDENT_PARTS - 1) * NS_PER_MS;
	for (size_t i = 1; i < RESIDENT_PARTS; i++)
		growth->rising_steps += lows[i] > lows[i - 1];
	return true;
}
