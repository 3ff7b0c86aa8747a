/* SPDX-License-Identifier: MIT */
/*
 * Cold steps: in these the devices wait for start-up, compilation and first allocations, which
 * later steps do without. Allocations that every step makes are no start-up, nor is a compilation
 * after a step that did without: new shapes or guards may cause it again.
 */
#include "timeline/build.h"

#include "base/sort.h"
#include "base/sum.h"

enum {
	COLD_MIN_PCT = 20, /* of a step: it is cold */
	SLOW_SPREADS = 3,  /* this far above the median a step is slow; cold time may explain it */
	SLOW_MIN_PCT = 50, /* … if it is this much of what the step takes longer */
};

struct step_sample {
	int64_t wall_ns, alloc_ns, edge_ns, compile_ns, cold_ns; /* of all devices */
	uint32_t step;
};

struct steps_seen {
	struct step_sample *items;
	size_t count;
	int64_t *numbers; /* room for as many */
};

static struct step_sample sample_of(const struct tscope_timeline *timeline, uint32_t step)
{
	struct step_sample sample = { .step = step };

	for (uint32_t d = 0; d < timeline->trace->device_count; d++) {
		const struct budget *budget = tsi_timeline_budget(timeline, step, d);
		tsi_sum(&sample.wall_ns, timeline->steps[step].wall_ns);
		tsi_sum(&sample.alloc_ns, budget->idle_ns[IDLE_ALLOC]);
		tsi_sum(&sample.edge_ns, budget->idle_ns[IDLE_EDGE]);
		tsi_sum(&sample.cold_ns, budget->idle_ns[IDLE_STARTUP]);
		tsi_sum(&sample.compile_ns, budget->idle_ns[IDLE_COMPILE]);
	}
	return sample;
}

/*
 * The most idle time of the step that its allocations may have cost: behind the last device event
 * of the trace nothing says what the host's work there would have delayed.
 */
static int64_t most_alloc_ns(const struct step_sample *sample)
{
	int64_t most_ns = sample->alloc_ns;

	tsi_sum(&most_ns, sample->edge_ns);
	return most_ns;
}

static bool collect(struct steps_seen *seen, struct tscope_timeline *timeline)
{
	int64_t least_ns = INT64_MAX;

	seen->items = tsi_arena_new(&timeline->scratch, timeline->step_count, sizeof(*seen->items));
	seen->numbers =
		tsi_arena_new(&timeline->scratch, timeline->step_count, sizeof(*seen->numbers));
	if (!seen->items || !seen->numbers)
		return false;
	for (uint32_t i = 0; i < timeline->step_count; i++) {
		if (timeline->steps[i].mark != TSCOPE_STEP_COUNTED)
			continue;
		struct step_sample sample = sample_of(timeline, i);
		seen->items[seen->count++] = sample;
		if (most_alloc_ns(&sample) < least_ns)
			least_ns = most_alloc_ns(&sample);
	}
	if (seen->count == 1)
		least_ns = 0;
	for (size_t i = 0; i < seen->count; i++)
		if (seen->items[i].alloc_ns > least_ns)
			tsi_sum(&seen->items[i].cold_ns, seen->items[i].alloc_ns - least_ns);
	return seen->count > 0;
}

/* The lower one of two in the middle. */
static int64_t median(struct steps_seen *seen)
{
	size_t middle = (seen->count - 1) / 2;

	tsi_select_number(seen->numbers, seen->count, middle);
	return seen->numbers[middle];
}

static int64_t median_wall(struct steps_seen *seen)
{
	for (size_t i = 0; i < seen->count; i++)
		seen->numbers[i] = seen->items[i].wall_ns;
	return median(seen);
}

/* The median distance from the median, as a standard deviation. */
static double spread_of_wall(struct steps_seen *seen, int64_t median_ns)
{
	for (size_t i = 0; i < seen->count; i++) {
		int64_t wall_ns = seen->items[i].wall_ns;
		seen->numbers[i] = wall_ns < median_ns ? median_ns - wall_ns : wall_ns - median_ns;
	}
	return 1.4826 * (double)median(seen);
}

static bool is_cold(const struct step_sample *step, int64_t median_ns, double spread_ns)
{
	double cold_ns = (double)step->cold_ns, excess_ns = (double)(step->wall_ns - median_ns);

	if (cold_ns * 100 > (double)step->wall_ns * COLD_MIN_PCT)
		return true;
	return excess_ns > 0 && excess_ns > SLOW_SPREADS * spread_ns &&
	       cold_ns * 100 > excess_ns * SLOW_MIN_PCT;
}

bool tsi_timeline_mark_cold(struct tscope_timeline *timeline)
{
	struct steps_seen seen = { 0 };
	size_t cold_count = 0;
	bool was_warm = false; /* a step before was */

	if (!collect(&seen, timeline))
		return false;
	int64_t median_ns = median_wall(&seen);
	double spread_ns = spread_of_wall(&seen, median_ns);
	for (size_t i = 0; i < seen.count; i++) {
		struct step_sample sample = seen.items[i];
		if (!was_warm)
			tsi_sum(&sample.cold_ns, sample.compile_ns);
		if (is_cold(&sample, median_ns, spread_ns))
			seen.items[cold_count++] = sample;
		else
			was_warm = true;
	}
	timeline->is_all_cold = cold_count == seen.count;
	if (timeline->is_all_cold)
		return false;
	for (size_t i = 0; i < cold_count; i++)
		timeline->steps[seen.items[i].step].mark = TSCOPE_STEP_COLD;
	return cold_count > 0;
}
