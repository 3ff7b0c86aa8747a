/* SPDX-License-Identifier: MIT */
/* Decides by their ends whether collectives of two ranks are the same ones. */
#include "comm/end_sample.h"

#include <stdlib.h>

#include "base/sort.h"
#include "base/sum.h"

enum {
	PER_CONTRADICTION = 20, /* one in so many is allowed: clocks are set, too */
	PER_DRIFT = 10000,      /* clocks may run apart by one part in so many: 100 µs/s */
	RESOLUTION_NS = 2000,   /* older traces have whole µs at begin and end */
};

/* The part of a change that drift does not explain, without its sign. */
static int64_t beyond_drift(int64_t change, int64_t drift)
{
	if (change == INT64_MIN)
		return INT64_MAX;
	return llabs(change) > drift ? llabs(change) - drift : 0;
}

static void add_change(struct end_sample *sample, const struct end_place *place,
		       int64_t duration_ns)
{
	const struct end_place *last = &sample->last;
	int64_t elapsed = tsi_difference(last->end_ns, place->end_ns);
	int64_t drift = (elapsed > 0 ? elapsed / PER_DRIFT : 0) + RESOLUTION_NS;

	sample->contradiction_count += tsi_difference(last->latest, place->earliest) > drift ||
				       tsi_difference(place->latest, last->earliest) > drift;
	sample->changes[sample->count] =
		beyond_drift(tsi_difference(last->difference, place->difference), drift);
	sample->durations[sample->count++] = duration_ns;
}

void tsi_end_sample_add(struct end_sample *sample, const struct rank_op *a, const struct rank_op *b)
{
	if (!tsi_is_synchronising(a->kind) || !tsi_is_synchronising(b->kind) ||
	    sample->count == END_SAMPLE_ROOM)
		return;

	int64_t end_a = tsi_op_end(a);
	int64_t end_b = tsi_op_end(b);
	struct end_place place = {
		.end_ns = end_a,
		.difference = tsi_difference(end_a, end_b),
		.earliest = tsi_difference(end_a, b->start_ns),
		.latest = tsi_difference(a->start_ns, end_b),
	};

	if (sample->has_last)
		add_change(sample, &place, a->dur_ns < b->dur_ns ? a->dur_ns : b->dur_ns);
	sample->last = place;
	sample->has_last = true;
}

bool tsi_end_sample_is_decided(const struct end_sample *sample)
{
	return sample->count == END_SAMPLE_ROOM ||
	       sample->contradiction_count > END_SAMPLE_ROOM / PER_CONTRADICTION;
}

static int64_t median_of(int64_t *numbers, size_t count)
{
	qsort(numbers, count, sizeof(*numbers), tsi_compare_numbers);
	return numbers[(count - 1) / 2];
}

struct end_agreement tsi_end_agreement(struct end_sample *sample)
{
	if (sample->count == 0)
		return (struct end_agreement){ .is_possible = true };
	return (struct end_agreement){
		.count = sample->count,
		.spread_ns = median_of(sample->changes, sample->count),
		.transfer_ns = median_of(sample->durations, sample->count),
		.is_possible = sample->contradiction_count * PER_CONTRADICTION <= sample->count,
	};
}
