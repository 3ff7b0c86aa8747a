/* SPDX-License-Identifier: MIT */
/*
 * Are two logs of metrics of one run? Nobody says it; but values of one metric at one step that
 * differ clearly, and again and again, are of two runs. Both logs are put in the order of metric
 * and step, and walked together.
 */
#include "run/scalars.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
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

		/* Of equal name and step the last holds. */
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
static enum tscope_status sort_samples(struct samples *samples, struct tscope_error *err)
{
	size_t count = samples->count;
	struct sort_pair *order = NULL, *scratch = NULL;

	if (count == 0)
		return TSCOPE_OK;
	if (tsi_array_new(&order, count, sizeof(*order), err) != TSCOPE_OK ||
	    tsi_array_new(&scratch, count, sizeof(*scratch), err) != TSCOPE_OK) {
		free(order);
		return TSCOPE_E_NOMEM;
	}
	for (size_t i = 0; i < count; i++)
		order[i] = (struct sort_pair){ tsi_sort_key_of_int64(samples->items[i].step), i };
	tsi_sort_pairs(order, scratch, count);
	for (size_t i = 0; i < count; i++)
		order[i].key = samples->items[order[i].value].name;
	tsi_sort_pairs(order, scratch, count);
	put_in_order(samples, order);
	free(order);
	free(scratch);
	return TSCOPE_OK;
}

/* The values of a log that count for the first one's names: by the name's id in the log. */
static enum tscope_status take_log(struct samples *samples, const struct metric_log *log,
				   const uint32_t *ids, struct tscope_error *err)
{
	*samples = (struct samples){ 0 };
	if (tsi_array_new(&samples->items, log->count, 2 * sizeof(*samples->items), err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < log->count; i++) {
		const struct metric_point *point = &log->points[i];

		if (!point->is_sample && ids[point->name] != UINT32_MAX)
			samples->items[samples->count++] =
				(struct sample){ point->step, point->value, ids[point->name] };
	}
	return sort_samples(samples, err);
}

static enum tscope_status take_steps(struct samples *samples, const struct step_series *steps,
				     struct tscope_error *err)
{
	double value;

	*samples = (struct samples){ 0 };
	if (tsi_array_new(&samples->items, steps->count, 2 * sizeof(*samples->items), err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < steps->count; i++)
		if (tsi_scalar_of_record(&steps->records[i], SCALAR_LOSS, &value))
			samples->items[samples->count++] =
				(struct sample){ steps->records[i].number, value, 0 };
	return sort_samples(samples, err);
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
		struct stretch of_a = { 0 }, of_b = { 0 };

		if (a_name <= b_name)
			of_a = next_stretch(a, &i);
		if (b_name <= a_name)
			of_b = next_stretch(b, &k);
		if (of_a.count && of_b.count && stretches_contradict(&of_a, &of_b, tolerance))
			return true;
	}
	return false;
}

/* Consumes what the two have taken, in whatever state that is. */
static enum tscope_status compare(bool *ret, struct samples *a, struct samples *b, double tolerance,
				  enum tscope_status status)
{
	*ret = status == TSCOPE_OK && samples_contradict(a, b, tolerance);
	free(a->items);
	free(b->items);
	return status;
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

enum tscope_status tsi_metrics_contradict(bool *ret, const struct metric_log *a,
					  const struct metric_log *b, struct tscope_error *err)
{
	struct samples of_a = { 0 }, of_b = { 0 };
	uint32_t *a_ids = NULL, *b_ids = NULL;
	enum tscope_status status;

	*ret = false;
	if (is_before(a, b) || is_before(b, a)) /* those of one start after another */
		return TSCOPE_OK;
	status = tsi_array_new(&a_ids, a->names.count, sizeof(*a_ids), err);
	if (status == TSCOPE_OK)
		status = tsi_array_new(&b_ids, b->names.count, sizeof(*b_ids), err);
	if (status == TSCOPE_OK) {
		for (uint32_t i = 0; i < a->names.count; i++)
			a_ids[i] = i;
		for (uint32_t i = 0; i < b->names.count; i++)
			b_ids[i] = tsi_intern_find(&a->names, tsi_intern_text(&b->names, i));
		status = take_log(&of_a, a, a_ids, err);
	}
	if (status == TSCOPE_OK)
		status = take_log(&of_b, b, b_ids, err);
	free(a_ids);
	free(b_ids);
	return compare(ret, &of_a, &of_b, rounding, status);
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

enum tscope_status tsi_metrics_contradict_steps(bool *ret, const struct metric_log *log,
						const struct step_series *steps,
						struct tscope_error *err)
{
	struct samples of_log = { 0 }, of_steps = { 0 };
	uint32_t *ids = NULL, loss = find_loss(log);
	enum tscope_status status = tsi_array_new(&ids, log->names.count, sizeof(*ids), err);

	if (status == TSCOPE_OK) {
		for (uint32_t i = 0; i < log->names.count; i++)
			ids[i] = i == loss ? 0 : UINT32_MAX;
		status = take_log(&of_log, log, ids, err);
	}
	if (status == TSCOPE_OK)
		status = take_steps(&of_steps, steps, err);
	free(ids);
	return compare(ret, &of_log, &of_steps, averaging, status);
}
