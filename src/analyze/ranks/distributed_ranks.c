/* SPDX-License-Identifier: MIT */
/*
 * Each rank along the steps that all have, and who of them stands out; ranks of the job that were
 * not read, and steps that only some ranks have.
 */
#include "analyze/ranks/distributed_parts.h"
#include "analyze/shared/robust.h"

#include <inttypes.h>
#include <math.h>

#include "base/rank_text.h"
#include "base/sum.h"
#include "comm/latch.h"
#include "comm/world.h"

static const double min_straggler_z = 3.0, min_rel_slowdown = 0.05; /* pytscope's */

/* How far `count` of the steps is above what a rank has by chance, in standard deviations. */
static double z_of(size_t count, size_t step_count, size_t rank_count)
{
	double steps = (double)step_count, chance = 1 / (double)rank_count;
	double deviation = sqrt(steps * chance * (1 - chance));

	return ((double)count - steps * chance) / (deviation > 0 ? deviation : 1);
}

static double rel_slowdown_of(struct survey *survey, size_t rank)
{
	const struct rank_steps *steps = &survey->steps;
	size_t count = 0;

	for (size_t i = 0; i < steps->step_count; i++) {
		double median_ns = survey->step_views[i].median_compute_ns;
		double compute_ns = (double)steps->compute_ns[i * steps->rank_count + rank];
		if (median_ns > 0)
			survey->numbers[count++] = compute_ns / median_ns - 1;
	}
	return tsi_median(survey->numbers, count);
}

static void look_at_rank(struct survey *survey, size_t rank)
{
	const struct rank_steps *steps = &survey->steps;
	struct rank_view *view = &survey->rank_views[rank];

	for (size_t i = 0; i < steps->step_count; i++) {
		const struct step_view *step = &survey->step_views[i];
		size_t cell = i * steps->rank_count + rank;
		if (steps->is_missing && steps->is_missing[cell])
			continue;
		view->slowest_count += step->slowest == rank;
		tsi_sum(&view->sum_compute_ns, steps->compute_ns[cell]);
		tsi_sum(&view->sum_comm_ns, steps->comm_ns[cell]);
		tsi_sum(&view->sum_wait_ns, steps->wait_ns
						    ? steps->wait_ns[cell]
						    : steps->comm_ns[cell] - step->least_comm_ns);
		survey->numbers[view->step_count++] = (double)steps->compute_ns[cell];
	}
	view->median_compute_ns = tsi_median(survey->numbers, view->step_count);
	view->straggler_z = z_of(view->slowest_count, steps->step_count, steps->rank_count);
	view->rel_slowdown = rel_slowdown_of(survey, rank);
}

static void put_steps_of_rank(struct tscope_value *cells, const struct survey *survey, size_t rank)
{
	const struct rank_view *view = &survey->rank_views[rank];
	int64_t step_count = (int64_t)view->step_count;

	if (step_count == 0)
		return;
	cells[MEAN_COMPUTE_NS] = tsi_mean(view->sum_compute_ns, step_count);
	cells[MEDIAN_COMPUTE_NS] = tsi_int(tsi_round_ns(view->median_compute_ns));
	cells[SLOWEST_COUNT] = tsi_int((int64_t)view->slowest_count);
	cells[SLOWEST_FRACTION] = tsi_ratio((int64_t)view->slowest_count, step_count);
	cells[STRAGGLER_Z] = tsi_real(view->straggler_z);
	cells[REL_SLOWDOWN] = tsi_real(view->rel_slowdown);
	cells[MEAN_COMM_NS] = tsi_mean(view->sum_comm_ns, step_count);
	cells[MEAN_WAIT_NS] = tsi_mean(view->sum_wait_ns, step_count);
}

/* Cells that need the traces of all ranks. */
static void put_world_of_rank(struct tscope_value *cells, const struct world *world, size_t rank)
{
	const struct rank_clock *clock = &world->clocks[rank];
	const struct rank_wait *wait = &world->waits[rank];

	if (wait->count > 0) {
		cells[WAIT_NS] = tsi_int(wait->wait_ns);
		cells[TRANSFER_NS] = tsi_int(wait->transfer_ns);
	}
	if (clock->is_known) {
		cells[CLOCK_OFFSET_NS] = tsi_int(clock->offset_ns);
		cells[CLOCK_DRIFT_PPM] = tsi_real(clock->drift * 1e6);
		cells[CLOCK_ERROR_NS] = tsi_int(clock->error_ns);
	}
}

static void list_ranks(const struct survey *survey, struct fact_sheet *out)
{
	for (size_t i = 0; i < survey->steps.rank_count; i++) {
		const struct rank_verdict *verdict = &survey->late.ranks[i].compute;

		struct tscope_value *cells = tsi_table_row(out, RANKS);
		cells[RANK] = tsi_rank_number(survey->scope->ranks, i);
		put_steps_of_rank(cells, survey, i);
		cells[EXCESS_RATIO] = tsi_real(verdict->excess_ratio);
		cells[P_VALUE] = tsi_real(verdict->p_value);
		if (survey->scope->world)
			put_world_of_rank(cells, survey->scope->world, i);
	}
}

/* pytscope's rule: nobody, where several ranks qualify. It is about ranks that do the same. */
static void put_straggler(const struct survey *survey, struct fact_sheet *out)
{
	size_t straggler = 0, count = 0;

	for (size_t i = 0; i < survey->steps.rank_count; i++) {
		const struct rank_view *view = &survey->rank_views[i];
		if (view->straggler_z < min_straggler_z || view->rel_slowdown < min_rel_slowdown)
			continue;
		straggler = i;
		count++;
	}
	if (count != 1 || survey->late.roles.role_count > 1)
		return;
	struct tscope_value *cells = tsi_table_row(out, STRAGGLER);
	const struct rank_view *view = &survey->rank_views[straggler];
	cells[STRAGGLER_RANK] = tsi_rank_number(survey->scope->ranks, straggler);
	cells[STRAGGLER_STRAGGLER_Z] = tsi_real(view->straggler_z);
	cells[STRAGGLER_REL_SLOWDOWN] = tsi_real(view->rel_slowdown);
	cells[STRAGGLER_SLOWEST_FRACTION] =
		tsi_ratio((int64_t)view->slowest_count, (int64_t)survey->steps.step_count);
	cells[STRAGGLER_EXCESS_RATIO] =
		tsi_real(survey->late.ranks[straggler].compute.excess_ratio);
}

static void put_stalls(struct tscope_value *cells, const struct late_ranks *late,
		       const struct rank_stalls *stalls, struct fact_sheet *out)
{
	struct rank_text steps = { .text = "" };

	for (size_t i = 0; i < stalls->count; i++)
		tsi_rank_text_add(&steps, late->stall_numbers[stalls->steps[i]]);
	tsi_rank_text_end(&steps);
	cells[SLOW_EXCESS_RATIO] = tsi_real(stalls->excess_ratio);
	cells[SLOW_P_VALUE] = tsi_real(stalls->p_value);
	cells[SLOW_BASIS] = tsi_text("stalls");
	cells[SLOW_STALL_COUNT] = tsi_int((int64_t)stalls->count);
	cells[SLOW_STALL_STEPS] = tsi_text(tsi_sheet_print(out, "%s", steps.text));
	cells[SLOW_STALL_NS] = tsi_int(stalls->most_ns);
	cells[SLOW_STALL_OF] = tsi_int((int64_t)late->stall_step_count);
}

static void list_slow_ranks(const struct survey *survey, struct fact_sheet *out)
{
	for (size_t i = 0; i < survey->late.rank_count; i++) {
		const struct late_rank *rank = &survey->late.ranks[i];
		const struct rank_verdict *verdict = tsi_late_verdict(rank);

		if (!rank->is_late)
			continue;
		struct tscope_value *cells = tsi_table_row(out, SLOW_RANKS);
		cells[SLOW_RANK] = tsi_rank_number(survey->scope->ranks, i);
		cells[SLOW_EXCESS_RATIO] = tsi_real(verdict->excess_ratio);
		cells[SLOW_P_VALUE] = tsi_real(verdict->p_value);
		cells[SLOW_BASIS] = tsi_text(rank->is_by_local ? "local_time" : "compute");
		cells[SLOW_RANK_GAIN_NS] = tsi_int(rank->gain_ns);
		if (rank->stalls)
			put_stalls(cells, &survey->late, rank->stalls, out);
	}
}

void tsi_distributed_put_ranks(struct survey *survey, struct fact_sheet *out)
{
	for (size_t i = 0; i < survey->steps.rank_count; i++)
		look_at_rank(survey, i);
	list_ranks(survey, out);
	put_straggler(survey, out);
	list_slow_ranks(survey, out);
}

/* ---- ranks that were not read, steps that only some ranks have ---- */

enum { MAX_MISSING_ROWS = 1024 };

static void list_missing_ranks(const struct step_series *ranks, size_t rank_count, int64_t declared,
			       struct fact_sheet *out)
{
	size_t read = 0, row_count = 0; /* ranks ascend */

	for (int64_t number = 0; number < declared && row_count < MAX_MISSING_ROWS; number++) {
		if (read < rank_count && ranks[read].rank == number) {
			read++;
			continue;
		}
		tsi_table_row(out, MISSING_RANKS)[0] = tsi_int(number);
		row_count++;
	}
}

/* Returns how many. */
static int64_t put_missing_ranks(const struct step_series *ranks, size_t rank_count,
				 struct fact_sheet *out)
{
	int64_t declared = -1, missing_count;

	for (size_t i = 0; i < rank_count; i++)
		if (ranks[i].world_size > declared)
			declared = ranks[i].world_size;
	if (declared < 0)
		return 0;
	tsi_fact_int(out, DECLARED_WORLD_SIZE, declared);
	if (ranks[0].rank < 0) /* a rank without a number may be any */
		return 0;
	missing_count = declared;
	for (size_t i = 0; i < rank_count; i++)
		missing_count -= ranks[i].rank < declared;
	tsi_fact_int(out, MISSING_RANK_COUNT, missing_count);
	list_missing_ranks(ranks, rank_count, declared, out);
	return missing_count;
}

/* The numbers of a rank's counted steps, as keys; returns how many. */
static size_t list_step_numbers(const struct step_series *ranks, size_t rank,
				struct sort_pair *pairs)
{
	size_t count = 0;

	for (size_t i = 0; i < ranks[rank].count; i++)
		if (tsi_step_is_timed(&ranks[rank].records[i]))
			pairs[count++] = (struct sort_pair){
				tsi_sort_key_of_int64(ranks[rank].records[i].number), rank
			};
	return count;
}

/*
 * How many different steps there are in sorted pairs of number and rank. A number is as many
 * steps as the rank that has it most often counts; pairs of one number stand rank by rank.
 */
static size_t count_different(const struct sort_pair *pairs, size_t count)
{
	size_t different = 0, most = 0, same = 0;

	for (size_t i = 0; i < count; i++) {
		bool is_new = i == 0 || pairs[i].key != pairs[i - 1].key;

		if (is_new) {
			different += most;
			most = 0;
		}
		same = is_new || pairs[i].value != pairs[i - 1].value ? 1 : same + 1;
		most = same > most ? same : most;
	}
	return different + most;
}

/* How many steps the ranks have, each counted once. */
static size_t count_step_numbers(const struct step_series *ranks, size_t rank_count,
				 struct arena *arena)
{
	struct arena scratch = { 0 };
	size_t record_count = 0, count = 0;

	for (size_t i = 0; i < rank_count; i++)
		record_count += ranks[i].count;
	struct sort_pair *pairs = tsi_arena_new(&scratch, record_count, sizeof(*pairs));
	for (size_t i = 0; pairs && i < rank_count; i++)
		count += list_step_numbers(ranks, i, &pairs[count]);
	tsi_latch_sort(&scratch, pairs, count);
	size_t different = count_different(pairs, count);
	tsi_latch_deinit(arena, &scratch);
	return different;
}

/* The rank with fewest of all steps, the first of equals: who reads its log finds why. */
static void put_lacking_rank(const struct step_series *ranks, size_t rank_count,
			     size_t number_count, struct fact_sheet *out)
{
	size_t least_count = SIZE_MAX;
	int64_t least_rank = -1;

	for (size_t i = 0; i < rank_count; i++) {
		size_t count = tsi_count_timed(&ranks[i]);

		if (count >= least_count)
			continue;
		least_count = count;
		least_rank = ranks[i].rank;
	}
	tsi_fact_int(out, LACKING_RANK, least_rank);
	tsi_fact_int(out, LACKING_STEP_COUNT, (int64_t)(number_count - least_count));
}

void tsi_distributed_put_missing(struct survey *survey, struct fact_sheet *out)
{
	size_t rank_count = survey->steps.rank_count;
	const struct step_series *ranks = survey->scope->ranks;
	size_t number_count = count_step_numbers(ranks, rank_count, tsi_sheet_scratch(out));

	tsi_fact_int(out, WORLD_SIZE, (int64_t)rank_count);
	tsi_fact_int(out, N_STEPS, (int64_t)survey->steps.step_count);
	survey->dropped_count = number_count - survey->steps.step_count;
	tsi_fact_int(out, DROPPED_STEP_COUNT, (int64_t)survey->dropped_count);
	if (survey->dropped_count > 0)
		put_lacking_rank(ranks, rank_count, number_count, out);
	survey->missing_rank_count = put_missing_ranks(ranks, rank_count, out);
}

/* ---- what slow ranks cost, and what could not be seen ---- */

/* Fewer steps say nothing of how they vary; a larger excess that would not show matters. */
enum { MIN_CERTAIN_STEPS = 4, MIN_TELLING_STEPS = 20 };
static const double max_unseen_excess = 0.15, max_dropped_share = 0.2;

/* Joins what is printed to what there is; with = NULL: nothing. */
static const char *join(struct fact_sheet *out, const char *text, const char *with)
{
	if (!text || !with)
		return text ? text : with;
	return tsi_sheet_print(out, "%s; %s", text, with);
}

static const char *doubt_of_steps(const struct survey *survey, struct fact_sheet *out)
{
	size_t count = survey->steps.step_count;

	if (survey->late.local.step_count > 0 && survey->late.local.step_count < count)
		count = survey->late.local.step_count;
	if (count < MIN_CERTAIN_STEPS)
		return tsi_sheet_print(out, "%zu step%s too few to be certain", count,
				       count == 1 ? " is" : "s are");
	count = survey->dropped_count + survey->steps.step_count;
	if ((double)survey->dropped_count > max_dropped_share * (double)count)
		return tsi_sheet_print(out, "%zu of %zu steps are left out, as ranks lack them",
				       survey->dropped_count, count);
	return NULL;
}

/* "rank 77 lacks up to 30 of 50 steps" */
static const char *doubt_of_short(const struct survey *survey, struct fact_sheet *out)
{
	struct rank_text ranks = { .text = "" };
	size_t most = 0, count = 0;

	for (size_t i = 0; i < survey->steps.rank_count; i++) {
		size_t lacking = survey->steps.step_count - survey->rank_views[i].step_count;

		if (lacking == 0)
			continue;
		tsi_rank_text_add(&ranks, survey->scope->ranks[i].rank);
		most = lacking > most ? lacking : most;
		count++;
	}
	tsi_rank_text_end(&ranks);
	if (count == 0)
		return NULL;
	return tsi_sheet_print(out, "rank%s %s lack%s up to %zu of %zu steps",
			       count == 1 ? "" : "s", ranks.text, count == 1 ? "s" : "", most,
			       survey->steps.step_count);
}

static const char *doubt_of_ranks(const struct survey *survey, struct fact_sheet *out)
{
	const char *missing = NULL, *peerless = NULL;
	size_t count = survey->late.peerless_count;

	if (survey->missing_rank_count > 0)
		missing = tsi_sheet_print(
			out, "%" PRId64 " rank%s not read, whose lateness would look like transfer",
			survey->missing_rank_count,
			survey->missing_rank_count == 1 ? " was" : "s were");
	if (count > 0)
		peerless = tsi_sheet_print(out, "%zu rank%s no other that does the same work",
					   count, count == 1 ? " has" : "s have");
	return join(out, missing, peerless);
}

static const char *doubt_of_noise(const struct survey *survey, struct fact_sheet *out)
{
	double least = survey->late.detectable_ratio;
	size_t count = survey->steps.step_count;

	if (!isfinite(least))
		return "none would stand out, however slow";
	if (least <= max_unseen_excess)
		return NULL;
	if (count < MIN_TELLING_STEPS)
		return tsi_sheet_print(out, "%zu steps are too few to show an excess below %.0f %%",
				       count, 100 * least);
	return tsi_sheet_print(out, "ranks vary too much to show an excess below %.0f %%",
			       100 * least);
}

void tsi_distributed_put_verdict(const struct survey *survey, struct fact_sheet *out)
{
	const struct late_ranks *late = &survey->late;
	const char *doubt = join(out, doubt_of_steps(survey, out), doubt_of_ranks(survey, out));
	bool is_any = false;

	for (size_t i = 0; i < late->rank_count; i++)
		is_any |= late->ranks[i].is_late;
	doubt = join(out, doubt, doubt_of_short(survey, out));
	if (!doubt && !is_any)
		doubt = doubt_of_noise(survey, out);
	if (doubt)
		tsi_fact_text(out, SLOW_RANK_DOUBT, doubt);
	if (isfinite(late->detectable_ratio))
		tsi_fact_real(out, DETECTABLE_EXCESS_RATIO, late->detectable_ratio);
	if (!is_any)
		return;
	tsi_fact_int(out, SLOW_GAIN_NS, late->gain.gain_ns);
	tsi_fact_ratio(out, SLOW_GAIN_RATIO, late->gain.gain_ns, late->gain.step_ns);
	tsi_fact_flag(out, SLOW_GAIN_IS_SIMULATED, late->gain.is_simulated);
}
