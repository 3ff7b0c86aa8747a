/* SPDX-License-Identifier: MIT */
/*
 * Estimates a clock against another one, and how far off the estimate can be.
 *
 * Members of a synchronising collective end nearly together, so the difference of the ends, as the
 * two clocks show them, is their offset with a little noise. Its median over all collectives is
 * the estimate. Clocks that run at different speeds spread the differences out along a line: the
 * drift is its slope, the median of the slopes between any two points (Theil and Sen), where it
 * explains clearly more than noise.
 *
 * The bound is not statistics. Nobody ends before the last one has begun: with both on one clock,
 * the rank's end is not before the base's start, and the base's end not before the rank's start.
 * So each collective lets the line of the offset over time pass below one point (at the
 * rank's end: this end less the base's start) and above another one (at its start: this start
 * less the base's end). The true line is one of those that pass between all of these points, if
 * clocks are as steady as lines. How far apart such lines can be, at the first and the last
 * collective, bounds the error, that of the drift included (Duda, Harrus, Haddad, Bernard:
 * Estimating global time in distributed systems, 1987, use the same hulls).
 *
 * An estimate that does not pass between the points is moved to the nearest that does: then
 * the members did not end as nearly together as the bound is narrow. That goes for the
 * drift, too: one of 0 that leaves no line is not 0, however few samples it is from. Where no line
 * passes at all (a clock that jumped, a wrong match), the clock is a line only so far as the points
 * must give way for one, and as the shortest collective hides: the error grows by that.
 */
#include "comm/clock_tie.h"

#include <math.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "base/sort.h"
#include "base/sum.h"
#include "comm/latch.h"

/* Clocks differ by millionths. No more than a tenth is believed: few samples have a bound, too. */
static const double max_drift = 0.1;

/* A drift is reported if it is so many standard deviations from 0 and moves the clock so far. */
static const double min_drift_deviations = 6;
static const double min_drift_ns = 1000;

static const double deviations_per_mad = 1.4826;

enum {
	MIN_DRIFT_SAMPLES = 8,
	MAX_BLOCKS = 64, /* points that slopes are taken between: medians of successive samples */
	SEARCH_STEPS = 100, /* by which a third of max_drift becomes less than a double resolves */
};

/* x: time on the rank's clock since the reference. */
struct point {
	double x, y;
};

struct points {
	struct point *items; /* by x */
	size_t count;
};

/*
 * Lines a + b × x pass below the upper points and, with a and b negated, below the lower ones.
 * y is relative to origin_ns.
 */
struct fit {
	const struct clock_sample *samples;
	size_t count;
	int64_t origin_ns, reference_ns;
	struct points ends;         /* differences of the ends */
	struct points upper, lower; /* hulls of the points */
	double give_ns;             /* as far as these give way */
	double shortest_ns;         /* least sum of a collective's durations on both ranks */
	double first_x, last_x;
	double *numbers; /* room for medians: a number for each sample or slope between blocks */
	struct sort_pair *pairs, *scratch;
};

static int64_t saturate(double number)
{
	return number >= 0x1p63 ? INT64_MAX : number <= -0x1p63 ? INT64_MIN : (int64_t)number;
}

int64_t tsi_clock_line_time(const struct clock_line *line, int64_t time_ns)
{
	double moved_ns = line->drift * (double)((tsi_wide)time_ns - line->reference_ns);

	return tsi_narrow((tsi_wide)time_ns - line->offset_ns - saturate(round(moved_ns)));
}

/* ---- medians ---- */

/* Takes at least one number; reorders them. */
static double median(double *numbers, size_t count)
{
	qsort(numbers, count, sizeof(*numbers), tsi_compare_doubles);
	return numbers[(count - 1) / 2] / 2 + numbers[count / 2] / 2;
}

/* The line of this slope that half of the ends lie above. */
static double median_offset(const struct fit *fit, double drift)
{
	for (size_t i = 0; i < fit->count; i++)
		fit->numbers[i] = fit->ends.items[i].y - drift * fit->ends.items[i].x;
	return median(fit->numbers, fit->count);
}

/* Robust standard deviation of the ends from a line. */
static double deviation(const struct fit *fit, double offset, double drift)
{
	for (size_t i = 0; i < fit->count; i++)
		fit->numbers[i] =
			fabs(fit->ends.items[i].y - offset - drift * fit->ends.items[i].x);
	return deviations_per_mad * median(fit->numbers, fit->count);
}

/* ---- points ---- */

static void fit_init(struct fit *fit, struct arena *scratch)
{
	size_t count = fit->count, slopes = (size_t)MAX_BLOCKS * (MAX_BLOCKS - 1) / 2;
	size_t number_count = count > slopes ? count : slopes;

	fit->ends.items = tsi_arena_new(scratch, count, sizeof(struct point));
	fit->upper.items = tsi_arena_new(scratch, count, sizeof(struct point));
	fit->lower.items = tsi_arena_new(scratch, count, sizeof(struct point));
	fit->numbers = tsi_arena_new(scratch, number_count, sizeof(*fit->numbers));
	fit->pairs = tsi_arena_new(scratch, count, sizeof(*fit->pairs));
	fit->scratch = tsi_arena_new(scratch, count, sizeof(*fit->scratch));
}

/* from: a time of the base; what the rank's clock is ahead of it, without the origin. */
static struct point point_of(const struct fit *fit, int64_t from_ns, int64_t time_ns)
{
	tsi_wide ahead_ns = (tsi_wide)time_ns - from_ns - fit->origin_ns;

	return (struct point){ (double)((tsi_wide)time_ns - fit->reference_ns), (double)ahead_ns };
}

/* A point above its neighbours' connection excludes no further line. */
static bool is_above(struct point left, struct point point, struct point right)
{
	return (point.y - left.y) * (right.x - left.x) >= (right.y - left.y) * (point.x - left.x);
}

/* Adds a corner right of all others, and takes out those that it makes needless. */
static void add_corner(struct points *hull, struct point point)
{
	size_t count = hull->count;

	if (count > 0 && hull->items[count - 1].x == point.x) {
		if (hull->items[count - 1].y <= point.y)
			return;
		count--;
	}
	while (count >= 2 && is_above(hull->items[count - 2], hull->items[count - 1], point))
		count--;
	hull->items[count] = point;
	hull->count = count + 1;
}

static void sort_samples(struct fit *fit, bool by_end)
{
	for (size_t i = 0; i < fit->count; i++) {
		const struct clock_sample *sample = &fit->samples[i];
		int64_t time_ns = by_end ? sample->end_ns : sample->start_ns;

		fit->pairs[i] = (struct sort_pair){ tsi_sort_key_of_int64(time_ns), i };
	}
	tsi_sort_pairs(fit->pairs, fit->scratch, fit->count);
}

static void find_span(struct fit *fit, struct clock_tie *tie)
{
	tie->first_ns = INT64_MAX;
	tie->last_ns = INT64_MIN;
	fit->shortest_ns = INFINITY;
	for (size_t i = 0; i < fit->count; i++) {
		const struct clock_sample *sample = &fit->samples[i];

		if (sample->start_ns < tie->first_ns)
			tie->first_ns = sample->start_ns;
		if (sample->end_ns > tie->last_ns)
			tie->last_ns = sample->end_ns;
		fit->shortest_ns = fmin(fit->shortest_ns,
					(double)((tsi_wide)sample->end_ns - sample->start_ns +
						 sample->base_end_ns - sample->base_start_ns));
	}
	fit->reference_ns = tsi_narrow(((tsi_wide)tie->first_ns + tie->last_ns) / 2);
	fit->first_x = (double)((tsi_wide)tie->first_ns - fit->reference_ns);
	fit->last_x = (double)((tsi_wide)tie->last_ns - fit->reference_ns);
	fit->origin_ns = tsi_difference(fit->samples[0].base_end_ns, fit->samples[0].end_ns);
}

static void find_points(struct fit *fit)
{
	sort_samples(fit, true);
	for (size_t i = 0; i < fit->count; i++) {
		const struct clock_sample *sample = &fit->samples[fit->pairs[i].value];

		fit->ends.items[fit->ends.count++] =
			point_of(fit, sample->base_end_ns, sample->end_ns);
		add_corner(&fit->upper, point_of(fit, sample->base_start_ns, sample->end_ns));
	}
	sort_samples(fit, false);
	for (size_t i = 0; i < fit->count; i++) {
		const struct clock_sample *sample = &fit->samples[fit->pairs[i].value];
		struct point point = point_of(fit, sample->base_end_ns, sample->start_ns);

		add_corner(&fit->lower, (struct point){ point.x, -point.y });
	}
}

/* ---- drift ---- */

/* The median of the slopes between blocks of successive samples; 0 without two times. */
static double median_slope(struct fit *fit)
{
	size_t block_count = fit->count < MAX_BLOCKS ? fit->count : MAX_BLOCKS, slope_count = 0;
	struct point blocks[MAX_BLOCKS];

	for (size_t i = 0; i < block_count; i++) {
		size_t first = i * fit->count / block_count;
		size_t count = (i + 1) * fit->count / block_count - first;

		/* Samples are in the order of x. */
		blocks[i].x = fit->ends.items[first + (count - 1) / 2].x / 2 +
			      fit->ends.items[first + count / 2].x / 2;
		for (size_t k = 0; k < count; k++)
			fit->numbers[k] = fit->ends.items[first + k].y;
		blocks[i].y = median(fit->numbers, count);
	}
	for (size_t i = 0; i < block_count; i++)
		for (size_t k = i + 1; k < block_count; k++)
			if (blocks[k].x > blocks[i].x)
				fit->numbers[slope_count++] =
					(blocks[k].y - blocks[i].y) / (blocks[k].x - blocks[i].x);
	return slope_count > 0 ? median(fit->numbers, slope_count) : 0;
}

/* Standard deviation of the times of the ends. */
static double spread(const struct points *ends)
{
	double sum = 0, squares = 0, count = (double)ends->count;

	for (size_t i = 0; i < ends->count; i++)
		sum += ends->items[i].x;
	for (size_t i = 0; i < ends->count; i++)
		squares += pow(ends->items[i].x - sum / count, 2);
	return sqrt(squares / count);
}

/* The drift, or 0 where what looks like one may be noise. */
static double find_drift(struct fit *fit)
{
	double drift = fit->count < MIN_DRIFT_SAMPLES ? 0 : median_slope(fit);
	double noise = deviation(fit, median_offset(fit, drift), drift);
	double certainty = fabs(drift) * spread(&fit->ends) * sqrt((double)fit->count);

	if (certainty < min_drift_deviations * noise ||
	    fabs(drift) * (fit->last_x - fit->first_x) < min_drift_ns)
		return 0;
	return drift;
}

/* ---- bound ---- */

/*
 * The highest line of this slope that passes below the corners of a hull: its value at 0. It
 * touches the first corner from which the hull does not go on below that slope.
 */
static double highest_below(const struct points *hull, double slope)
{
	const struct point *corners = hull->items;
	size_t low = 0, high = hull->count - 1;

	TSI_BISECT(low, high,
		   corners[middle + 1].y - corners[middle].y <
			   slope * (corners[middle + 1].x - corners[middle].x));
	return corners[low].y - slope * corners[low].x;
}

static double highest_offset(const struct fit *fit, double drift)
{
	return highest_below(&fit->upper, drift) + fit->give_ns;
}

static double lowest_offset(const struct fit *fit, double drift)
{
	return -highest_below(&fit->lower, -drift) - fit->give_ns;
}

/* Room for lines of this slope between the points; negative: none passes. Concave. */
static double room(const struct fit *fit, double drift, double x)
{
	(void)x;
	return highest_offset(fit, drift) - lowest_offset(fit, drift);
}

/* How high a line of this slope can be at x, and how low, negated. Both are concave. */
static double height(const struct fit *fit, double drift, double x)
{
	return highest_offset(fit, drift) + drift * x;
}

static double depth(const struct fit *fit, double drift, double x)
{
	return -lowest_offset(fit, drift) - drift * x;
}

/* Slopes from least to most. */
struct slopes {
	double least, most;
};

/* The slope at which a concave function of it is highest. */
static double highest_at(double (*function)(const struct fit *, double, double),
			 const struct fit *fit, double x, struct slopes slopes)
{
	for (int i = 0; i < SEARCH_STEPS; i++) {
		double third = (slopes.most - slopes.least) / 3;
		double left = slopes.least + third, right = slopes.most - third;

		if (function(fit, left, x) < function(fit, right, x))
			slopes.least = left;
		else
			slopes.most = right;
	}
	return slopes.least / 2 + slopes.most / 2;
}

/* The last slope on the way from one that passes to a limit. */
static double last_passing(const struct fit *fit, double passing, double limit)
{
	if (room(fit, limit, 0) >= 0)
		return limit;
	for (int i = 0; i < SEARCH_STEPS; i++) {
		double middle = passing / 2 + limit / 2;

		if (room(fit, middle, 0) >= 0)
			passing = middle;
		else
			limit = middle;
	}
	return passing;
}

/* The slopes of lines that pass; where none does, the points give way until one does. */
static struct slopes find_slopes(struct fit *fit, double drift)
{
	const struct slopes all = { -max_drift, max_drift };
	double passing = fmax(all.least, fmin(drift, all.most));

	if (room(fit, passing, 0) < 0)
		passing = highest_at(room, fit, 0, all);
	if (room(fit, passing, 0) < 0)
		fit->give_ns = -room(fit, passing, 0) / 2 + fit->shortest_ns + 1;
	return (struct slopes){ last_passing(fit, passing, all.least),
				last_passing(fit, passing, all.most) };
}

/* How far lines that pass are from an estimate at x, at most. */
static double error_at(const struct fit *fit, struct slopes slopes, double estimate, double x)
{
	double above = height(fit, highest_at(height, fit, x, slopes), x) - estimate;
	double below = depth(fit, highest_at(depth, fit, x, slopes), x) + estimate;

	return fmax(fmax(above, below), 0);
}

/* ---- all of it ---- */

static void fit_line(struct fit *fit, struct clock_tie *tie)
{
	struct slopes slopes;
	double drift, offset;

	find_span(fit, tie);
	find_points(fit);
	drift = find_drift(fit);
	if (room(fit, drift, 0) < 0)
		drift = median_slope(fit);
	slopes = find_slopes(fit, drift);
	drift = fmax(slopes.least, fmin(drift, slopes.most));
	offset = fmax(lowest_offset(fit, drift),
		      fmin(median_offset(fit, drift), highest_offset(fit, drift)));

	double first_error = error_at(fit, slopes, offset + drift * fit->first_x, fit->first_x);
	double last_error = error_at(fit, slopes, offset + drift * fit->last_x, fit->last_x);

	tie->line.offset_ns = tsi_narrow((tsi_wide)fit->origin_ns + saturate(round(offset)));
	tie->line.reference_ns = fit->reference_ns;
	tie->line.drift = drift;
	/* One more for what is rounded. */
	tie->error_ns = fmax(first_error, last_error) + fit->give_ns + 1;
	tie->drift_error = fmax(slopes.most - drift, drift - slopes.least);
	tie->residual_ns = deviation(fit, offset, drift);
	tie->count = fit->count;
}

void tsi_clock_tie_fit(struct clock_tie *tie, const struct clock_sample *samples, size_t count,
		       struct arena *arena)
{
	struct fit fit = { .samples = samples, .count = count };
	struct arena scratch = { 0 };

	fit_init(&fit, &scratch);
	if (!scratch.has_failed)
		fit_line(&fit, tie);
	tsi_latch_deinit(arena, &scratch);
}

struct clock_tie tsi_clock_tie_reversed(const struct clock_tie *tie)
{
	/* A base that runs slower by a tenth sees the other run faster by a ninth. */
	double stretch = 1 / (1 - tie->line.drift);
	double most_stretch = 1 / (1 - fabs(tie->line.drift) - tie->drift_error);

	return (struct clock_tie){
		.line = { .offset_ns = tsi_difference(tie->line.offset_ns, 0),
			  .reference_ns =
				  tsi_difference(tie->line.offset_ns, tie->line.reference_ns),
			  .drift = -tie->line.drift * stretch },
		.first_ns = tsi_clock_line_time(&tie->line, tie->first_ns),
		.last_ns = tsi_clock_line_time(&tie->line, tie->last_ns),
		.error_ns = tie->error_ns * most_stretch + 1,
		.drift_error = tie->drift_error * most_stretch * most_stretch,
		.residual_ns = tie->residual_ns * stretch,
		.count = tie->count,
	};
}
