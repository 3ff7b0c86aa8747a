/* SPDX-License-Identifier: MIT */
/*
 * Are two logs of metrics of one run? Nobody says it; but values of one metric at one step that
 * differ clearly, and again and again, are of two runs. Both logs are put in the order of metric
 * and step, and walked together.
 */
#include "run/scalars.h"

#include <math.h>

#include "base/sum.h"

enum { CONFLICT_MIN = 3 }; /* steps: fewer may be a step that was done again */

/* Much more than is lost in a float of 32 bits, or in a text of five digits. */
static const double rounding = 1e-4;

/*
 * A job's own records hold the loss of a rank and a step; loggers write the mean of the ranks, or
 * of the steps since the last value. These are no more than of one size.
 */
static const double averaging = 0.5;

struct sample {
	int64_t step;
	double value;
	uint32_t name; /* in the names of the first log */
};

struct samples {
	struct sample *items; /* by name and step, each once */
	size_t count;
};

/* ---- in order ---- */

static void put_in_order(struct samples *samples, const struct sort_pair *order)
{
	struct sample *from = samples->items, *to = from + samples->count;
	size_t kept = 0;

	for (size_t i = 0; i < samples->count; i++) {
		const struct sample *sample = &from[order[i].value];

		/* The last value of a name and step holds. */
		if (kept > 0 && to[kept - 1].name == sample->name &&
		    to[kept - 1].step == sample->step)
			kept--;
		to[kept++] = *sample;
	}
	for (size_t i = 0; i < kept; i++)
		from[i] = to[i];
	samples->count = kept;
}

/* samples->items has room for twice as many. */
static void sort_samples(struct samples *samples, struct arena *arena)
{
	size_t count = samples->count;
	struct arena pairs = { 0 };
	struct sort_pair *order = tsi_arena_new(&pairs, count, sizeof(*order));
	struct sort_pair *scratch = tsi_arena_new(&pairs, count, sizeof(*scratch));

	if (scratch && count) {
		for (size_t i = 0; i < count; i++)
			order[i] =
				(struct sort_pair){ tsi_sort_key_of_int64(samples->items[i].step),
						    i };
		tsi_sort_pairs(order, scratch, count);
		for (size_t i = 0; i < count; i++)
			order[i].key = samples->items[order[i].value].name;
		tsi_sort_pairs(order, scratch, count);
		put_in_order(samples, order);
	}
	arena->has_failed |= pairs.has_failed;
	tsi_arena_deinit(&pairs);
}

/* The values of a log that count for the first one's names: by the name's id in the log. */
static struct samples take_log(const struct metric_log *log, const uint32_t *ids,
			       struct arena *arena)
{
	struct samples samples = {
		.items = tsi_arena_new(arena, log->count, 2 * sizeof(*samples.items)),
	};

	for (size_t i = 0; samples.items && i < log->count; i++) {
		const struct metric_point *point = &log->points[i];

		if (!point->is_sample && ids[point->name] != UINT32_MAX)
			samples.items[samples.count++] =
				(struct sample){ point->step, point->value, ids[point->name] };
	}
	sort_samples(&samples, arena);
	return samples;
}

static struct samples take_steps(const struct step_series *steps, struct arena *arena)
{
	struct samples samples = {
		.items = tsi_arena_new(arena, steps->count, 2 * sizeof(*samples.items)),
	};
	double value;

	for (size_t i = 0; samples.items && i < steps->count; i++)
		if (tsi_scalar_of_record(&steps->records[i], SCALAR_LOSS, &value))
			samples.items[samples.count++] =
				(struct sample){ steps->records[i].number, value, 0 };
	sort_samples(&samples, arena);
	return samples;
}

/* ---- side by side ---- */

/* The values of one metric. */
struct stretch {
	const struct sample *items;
	size_t count;
};

static struct stretch next_stretch(const struct samples *samples, size_t *at)
{
	struct stretch stretch = { samples->items + *at, 0 };

	while (*at < samples->count && samples->items[*at].name == stretch.items->name) {
		stretch.count++;
		++*at;
	}
	return stretch;
}

static bool is_same(double a, double b, double tolerance)
{
	if (!isfinite(a) || !isfinite(b))
		return isnan(a) ? isnan(b) : a == b;
	return fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

/* Is it a run and what goes on from one of its checkpoints? Steps are those of one metric. */
static bool may_go_on(const struct stretch *a, const struct stretch *b)
{
	int64_t a_first = a->items[0].step, a_last = a->items[a->count - 1].step;
	int64_t b_first = b->items[0].step, b_last = b->items[b->count - 1].step;
	tsi_wide all = (tsi_wide)(a_last > b_last ? a_last : b_last) -
		       (a_first < b_first ? a_first : b_first);
	tsi_wide shared = (tsi_wide)(a_last < b_last ? a_last : b_last) -
			  (a_first > b_first ? a_first : b_first);

	return a_first != b_first && 2 * shared < all;
}

static bool stretches_contradict(const struct stretch *a, const struct stretch *b, double tolerance)
{
	size_t shared = 0, different = 0;

	for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
		if (a->items[i].step != b->items[k].step) {
			if (a->items[i].step < b->items[k].step)
				i++;
			else
				k++;
			continue;
		}
		shared++;
		different += !is_same(a->items[i++].value, b->items[k++].value, tolerance);
	}
	return different >= CONFLICT_MIN && 2 * different >= shared && !may_go_on(a, b);
}

static bool samples_contradict(const struct samples *a, const struct samples *b, double tolerance)
{
	for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
		uint32_t a_name = a->items[i].name, b_name = b->items[k].name;
		struct stretch a_stretch = { 0 }, b_stretch = { 0 };

		if (a_name <= b_name)
			a_stretch = next_stretch(a, &i);
		if (b_name <= a_name)
			b_stretch = next_stretch(b, &k);
		if (a_stretch.count && b_stretch.count &&
		    stretches_contradict(&a_stretch, &b_stretch, tolerance))
			return true;
	}
	return false;
}

static bool is_before(const struct metric_log *a, const struct metric_log *b)
{
	int64_t a_last = INT64_MIN, b_first = INT64_MAX;

	for (size_t i = 0; i < a->count; i++)
		a_last = a->points[i].step > a_last ? a->points[i].step : a_last;
	for (size_t i = 0; i < b->count; i++)
		b_first = b->points[i].step < b_first ? b->points[i].step : b_first;
	return a_last < b_first;
}

bool tsi_metrics_contradict(const struct metric_log *a, const struct metric_log *b,
			    struct arena *arena)
{
	struct arena scratch = { 0 };
	bool contradict = false;

	if (is_before(a, b) || is_before(b, a)) /* those of one start after another */
		return false;
	uint32_t *a_ids = tsi_arena_new(&scratch, a->names.count, sizeof(*a_ids));
	uint32_t *b_ids = tsi_arena_new(&scratch, b->names.count, sizeof(*b_ids));
	if (b_ids) {
		for (uint32_t i = 0; i < a->names.count; i++)
			a_ids[i] = i;
		for (uint32_t i = 0; i < b->names.count; i++)
			b_ids[i] = tsi_intern_find(&a->names, tsi_intern_text(&b->names, i));
		struct samples a_stretch = take_log(a, a_ids, &scratch);
		struct samples b_stretch = take_log(b, b_ids, &scratch);
		contradict =
			!scratch.has_failed && samples_contradict(&a_stretch, &b_stretch, rounding);
	}
	arena->has_failed |= scratch.has_failed;
	tsi_arena_deinit(&scratch);
	return contradict;
}

/* The name in a log that is the loss by convention, or UINT32_MAX. */
static uint32_t find_loss(const struct metric_log *log)
{
	unsigned best = UINT32_MAX, rank;
	uint32_t found = UINT32_MAX;

	for (uint32_t i = 0; i < log->names.count; i++) {
		struct str name = tsi_intern_text(&log->names, i);

		if (tsi_scalar_role(name, &rank) == SCALAR_LOSS && rank < best) {
			best = rank;
			found = i;
		}
	}
	return found;
}

bool tsi_metrics_contradict_steps(const struct metric_log *log, const struct step_series *steps,
				  struct arena *arena)
{
	struct arena scratch = { 0 };
	uint32_t *ids = tsi_arena_new(&scratch, log->names.count, sizeof(*ids));
	uint32_t loss = find_loss(log);
	bool contradict = false;

	if (ids) {
		for (uint32_t i = 0; i < log->names.count; i++)
			ids[i] = i == loss ? 0 : UINT32_MAX;
		struct samples log_samples = take_log(log, ids, &scratch);
		struct samples step_samples = take_steps(steps, &scratch);
		contradict = !scratch.has_failed &&
			     samples_contradict(&log_samples, &step_samples, averaging);
	}
	arena->has_failed |= scratch.has_failed;
	tsi_arena_deinit(&scratch);
	return contradict;
}
