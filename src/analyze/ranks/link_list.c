/* SPDX-License-Identifier: MIT */
/*
 * Finds the links of a world and judges them.
 *
 * The k-th transfers of likes happened at about the same time, under the same load. Whether one
 * link is slow is judged by its places among its likes, as slow ranks are by theirs
 * (slow_ranks.h): that needs no distribution of the times. The chance is corrected for the number
 * of likes, and for that of families of likes. But what disturbs a link for a whole step slows all
 * its transfers in it, which are then no independent proofs: a slowdown must also tower above what
 * links vary by from step to step. And it must hold for the fastest transfer of a step: those that
 * share a link with others now and then, as both directions between two stages of a pipeline do,
 * have it for themselves once a step. A link whose group has members that were not read is not
 * judged: for them it may have waited.
 */
#include "analyze/ranks/link_list.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/ranks/slow_ranks.h"
#include "analyze/shared/quantile.h"
#include "analyze/shared/robust.h"
#include "base/sum.h"

enum {
	MIN_LIKES = 3,       /* the link and two others */
	MAX_INSTANCES = 256, /* of a link that are judged: more would only take time */
};

static const double max_p_value = 0.001, min_slowdown = 0.1;
static const double min_errors = 5; /* standard errors of the mean of the steps */

/* Inputs of the judgement. */
struct linking {
	const struct world *world;
	struct arena *scratch;
	const struct transfer **order; /* those of known size: link by link, family by family */
	size_t order_count;
	struct link *links;
	size_t link_count;
	size_t *starts; /* by link: where its transfers begin in order */
	size_t *chosen; /* links of a family that are judged */
	size_t chosen_count;
	int64_t *numbers;              /* room for times of all transfers */
	double *ratios, *values;       /* likewise, and for a median */
	struct rank_verdict *verdicts; /* room for those of all links */
	size_t family_count;           /* of those judged */
};

/* By what likes have in common. */
static int compare_families(const struct transfer *a, const struct transfer *b)
{
	TSI_ASCENDING(a->kind, b->kind);
	TSI_ASCENDING(a->bytes, b->bytes);
	TSI_ASCENDING(a->group_size, b->group_size);
	TSI_ASCENDING(a->span, b->span);
	return 0;
}

/* Those of a link stand together, by step: of a pair both directions are in order. */
static int compare_transfers(const void *left, const void *right)
{
	const struct transfer *const *first = left, *const *second = right;
	const struct transfer *a = *first, *b = *second;
	int order = compare_families(a, b);

	if (order)
		return order;
	TSI_ASCENDING(a->group, b->group);
	TSI_ASCENDING(a->step, b->step);
	TSI_ASCENDING(a->match, b->match);
	return 0;
}

/* The median of `count` numbers that the linking has room for. Sorts them. */
static int64_t find_median(struct linking *linking, size_t count)
{
	tsi_latch_sort_numbers(linking->scratch, linking->numbers, count);
	return tsi_quantile_ns(linking->numbers, count, 50);
}

/* The fastest of each step, as numbers. Gives how many steps there are. */
static size_t find_fastest(struct linking *linking, size_t start, size_t end)
{
	const struct transfer *const *order = linking->order;
	size_t count = 0;

	for (size_t i = start; i < end; i++) {
		if (i == start || order[i]->step != order[i - 1]->step)
			linking->numbers[count++] = INT64_MAX;
		if (order[i]->transfer_ns < linking->numbers[count - 1])
			linking->numbers[count - 1] = order[i]->transfer_ns;
	}
	return count;
}

static void add_link(struct linking *linking, size_t start, size_t end)
{
	struct link *link = &linking->links[linking->link_count];

	linking->starts[linking->link_count++] = start;
	*link = (struct link){
		.first = linking->order[start],
		.count = end - start,
		.slowdown = NAN,
		.fastest_slowdown = NAN,
		.p_value = NAN,
		.error = NAN,
		.excess_ns_per_step = NAN,
	};
	for (size_t i = start; i < end; i++) {
		linking->numbers[i - start] = linking->order[i]->transfer_ns;
		tsi_sum(&link->total_ns, linking->order[i]->transfer_ns);
	}
	link->median_ns = find_median(linking, link->count);
	link->fastest_ns = find_median(linking, find_fastest(linking, start, end));
}

static void find_links(struct linking *linking)
{
	const struct transfer *const *order = linking->order;

	for (size_t start = 0, end; start < linking->order_count; start = end) {
		for (end = start + 1; end < linking->order_count &&
				      compare_families(order[start], order[end]) == 0 &&
				      order[start]->group == order[end]->group;)
			end++;
		add_link(linking, start, end);
	}
}

/*
 * Chooses, among links [first, end), those whose groups were read and that are not rare beside
 * others.
 */
static void choose_likes(struct linking *linking, size_t first, size_t end)
{
	size_t most = 0;

	for (size_t i = first; i < end; i++)
		most = linking->links[i].count > most ? linking->links[i].count : most;
	linking->chosen_count = 0;
	for (size_t i = first; i < end; i++) {
		const struct link *link = &linking->links[i];

		if (link->count >= most - link->count &&
		    tsi_group_is_whole(linking->world, &linking->world->groups[link->first->group]))
			linking->chosen[linking->chosen_count++] = i;
	}
}

/* A table of the k-th transfers of the chosen links; gives how many of each there are. */
static size_t fill_instances(struct linking *linking)
{
	size_t least = MAX_INSTANCES, count = linking->chosen_count;

	for (size_t i = 0; i < count; i++) {
		size_t own = linking->links[linking->chosen[i]].count;
		least = own < least ? own : least;
	}
	for (size_t i = 0; i < count; i++) {
		size_t start = linking->starts[linking->chosen[i]];
		size_t own = linking->links[linking->chosen[i]].count;

		for (size_t k = 0; k < least; k++)
			linking->numbers[k * count + i] =
				linking->order[start + k * own / least]->transfer_ns;
	}
	return least;
}

/* The times of the chosen links become ratios: by the median of all in the same instance. */
static void find_ratios(struct linking *linking, size_t instances)
{
	size_t count = linking->chosen_count;

	for (size_t k = 0; k < instances; k++) {
		for (size_t i = 0; i < count; i++)
			linking->values[i] = (double)linking->numbers[k * count + i];
		double median = tsi_median(linking->values, count);
		for (size_t i = 0; i < count; i++)
			linking->ratios[k * count + i] =
				median > 0 ? (double)linking->numbers[k * count + i] / median : 1;
	}
}

/* The step of the k-th of so many instances, as the first chosen link has it. */
static int64_t step_of(const struct linking *linking, size_t k, size_t instances)
{
	size_t first = linking->chosen[0], own = linking->links[first].count;

	return linking->order[linking->starts[first] + k * own / instances]->step;
}

/* The ratios of each link in a step become one: their median. Gives how many steps there are. */
static size_t find_step_ratios(struct linking *linking, size_t instances)
{
	size_t count = linking->chosen_count, step_count = 0;

	for (size_t first = 0, end; first < instances; first = end) {
		int64_t step = step_of(linking, first, instances);

		for (end = first + 1; end < instances && step_of(linking, end, instances) == step;)
			end++;
		for (size_t i = 0; i < count; i++) {
			for (size_t k = first; k < end; k++)
				linking->values[k - first] = linking->ratios[k * count + i];
			linking->ratios[step_count * count + i] =
				tsi_median(linking->values, end - first);
		}
		step_count++;
	}
	return step_count;
}

/* Squares of the steps' ratios of a link less their mean, sum. */
static double squares_of(const struct linking *linking, size_t link, size_t step_count)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < step_count; i++)
		sum += linking->ratios[i * linking->chosen_count + link];
	for (size_t i = 0; i < step_count; i++) {
		double off = linking->ratios[i * linking->chosen_count + link] -
			     sum / (double)step_count;
		squares += off * off;
	}
	return squares;
}

/*
 * The standard error of a link's mean ratio, if all links vary alike from step to step. Infinite
 * where there is one step only. Few values make it larger, as much as they do the far quantiles of
 * Student's distribution (at 0.0001 within a tenth or two).
 */
static double find_error(struct linking *linking, size_t instances)
{
	double squares = 0;

	find_ratios(linking, instances);
	size_t step_count = find_step_ratios(linking, instances);
	if (step_count < 2)
		return INFINITY;
	for (size_t i = 0; i < linking->chosen_count; i++)
		squares += squares_of(linking, i, step_count);
	double freedom = (double)(step_count - 1) * (double)linking->chosen_count;
	return sqrt(squares / freedom / (double)step_count) *
	       (1 + 3 / freedom + 33 / (freedom * freedom));
}

/* The median of all but one, which is `own`, of at least two sorted numbers. */
static double median_of_others(const int64_t *sorted, size_t count, int64_t own)
{
	size_t lower = (count - 2) / 2, upper = (count - 1) / 2; /* among the others */

	lower += sorted[lower] >= own;
	upper += sorted[upper] >= own;
	return (double)sorted[lower] / 2 + (double)sorted[upper] / 2;
}

/* How often a step has this link. NaN where no step is known. */
static double count_per_step(const struct linking *linking, size_t index)
{
	const struct link *link = &linking->links[index];
	int64_t last = NO_NUMBER;
	size_t count = 0, steps = 0;

	for (size_t i = 0; i < link->count; i++) {
		int64_t step = linking->order[linking->starts[index] + i]->step;

		if (step == NO_NUMBER)
			continue;
		steps += step != last;
		count++;
		last = step;
	}
	return steps > 0 ? (double)count / (double)steps : NAN;
}

static int64_t time_of(const struct link *link, bool is_fastest)
{
	return is_fastest ? link->fastest_ns : link->median_ns;
}

/* Measures the chosen links against their likes: by their medians, or by their fastest. */
static void measure_slowdowns(struct linking *linking, bool is_fastest)
{
	size_t count = linking->chosen_count;

	for (size_t i = 0; i < count; i++)
		linking->numbers[i] = time_of(&linking->links[linking->chosen[i]], is_fastest);
	tsi_latch_sort_numbers(linking->scratch, linking->numbers, count);
	for (size_t i = 0; i < count; i++) {
		struct link *link = &linking->links[linking->chosen[i]];
		int64_t own_ns = time_of(link, is_fastest);
		double likes_ns = median_of_others(linking->numbers, count, own_ns);
		double slowdown = likes_ns > 0 ? (double)own_ns / likes_ns - 1 : NAN;

		*(is_fastest ? &link->fastest_slowdown : &link->slowdown) = slowdown;
		if (!is_fastest)
			link->excess_ns_per_step = ((double)own_ns - likes_ns) *
						   count_per_step(linking, linking->chosen[i]);
	}
}

static void judge_family(struct linking *linking, size_t first, size_t end)
{
	choose_likes(linking, first, end);
	if (linking->chosen_count < MIN_LIKES)
		return;

	size_t instances = fill_instances(linking);
	const struct rank_times times = { linking->numbers, instances, linking->chosen_count, 1 };
	(void)tsi_judge_ranks(linking->verdicts, NULL, &times, linking->scratch);
	double error = find_error(linking, instances);
	for (size_t i = 0; i < linking->chosen_count; i++) {
		linking->links[linking->chosen[i]].p_value = linking->verdicts[i].p_value;
		linking->links[linking->chosen[i]].error = error;
	}
	linking->family_count++;
	measure_slowdowns(linking, false);
	measure_slowdowns(linking, true);
}

static void judge_links(struct linking *linking)
{
	const struct link *links = linking->links;

	for (size_t first = 0, end; first < linking->link_count; first = end) {
		for (end = first + 1; end < linking->link_count &&
				      compare_families(links[first].first, links[end].first) == 0;)
			end++;
		judge_family(linking, first, end);
	}
	for (size_t i = 0; i < linking->link_count; i++) {
		struct link *link = &linking->links[i];

		if (isfinite(link->p_value))
			link->p_value = fmin(link->p_value * (double)linking->family_count, 1);
	}
}

static int compare_totals(const void *left, const void *right)
{
	const struct link *a = left, *b = right;

	TSI_DESCENDING(a->total_ns, b->total_ns);
	return compare_transfers(&a->first, &b->first);
}

/* The transfers of known size, link by link. Returns how many; 0 without memory. */
static size_t order_transfers(struct linking *linking, const struct transfer_list *transfers)
{
	size_t count = 0;

	linking->order = tsi_arena_new(linking->scratch, transfers->count, sizeof(*linking->order));
	for (size_t i = 0; linking->order && i < transfers->count; i++)
		if (transfers->items[i].bytes != NO_NUMBER)
			linking->order[count++] = &transfers->items[i];
	if (count > 0)
		qsort(linking->order, count, sizeof(struct transfer *), compare_transfers);
	return count;
}

static void find_all(struct linking *linking, const struct transfer_list *transfers,
		     struct arena *arena)
{
	struct arena *scratch = linking->scratch;
	size_t count = order_transfers(linking, transfers);

	linking->links = tsi_arena_new(arena, count, sizeof(*linking->links));
	linking->starts = tsi_arena_new(scratch, count, sizeof(*linking->starts));
	linking->chosen = tsi_arena_new(scratch, count, sizeof(*linking->chosen));
	linking->numbers = tsi_arena_new(scratch, count, sizeof(*linking->numbers));
	linking->ratios = tsi_arena_new(scratch, count, sizeof(*linking->ratios));
	linking->values = tsi_arena_new(scratch, count, sizeof(*linking->values));
	linking->verdicts = tsi_arena_new(scratch, count, sizeof(*linking->verdicts));
	if (!linking->links || !linking->verdicts)
		return;
	linking->order_count = count;
	find_links(linking);
	judge_links(linking);
}

void tsi_link_list_fill(struct link_list *list, const struct transfer_list *transfers,
			const struct world *world, struct arena *arena)
{
	struct arena scratch = { 0 };
	struct linking linking = { .world = world, .scratch = &scratch };

	find_all(&linking, transfers, arena);
	*list = (struct link_list){ linking.links, linking.link_count };
	if (list->count > 0)
		qsort(list->items, list->count, sizeof(*list->items), compare_totals);
	tsi_latch_deinit(arena, &scratch);
}

bool tsi_is_slow_link(const struct link *link)
{
	return link->p_value <= max_p_value && link->slowdown >= min_slowdown &&
	       link->fastest_slowdown >= min_slowdown && link->slowdown >= min_errors * link->error;
}
