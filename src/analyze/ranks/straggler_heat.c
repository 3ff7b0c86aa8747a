/* SPDX-License-Identifier: MIT */
/*
 * How late which ranks were in which steps: the slowest one of a usual step, and a map for the eye,
 * in blocks of neighbouring ranks and steps where there are many. A rank's local time is held
 * against the median of its role, so that stages of a pipeline that have more to do are not late.
 */
#include "analyze/ranks/straggler_parts.h"
#include "analyze/shared/robust.h"

#include <math.h>

enum { MAX_RANK_BLOCKS = 32, MAX_STEP_BLOCKS = 64 };

struct heat {
	const struct late_ranks *late;
	const struct step_series *ranks;
	double *usual_ns; /* [step * role_count + role]: median of local time */
	double *numbers;  /* room for one of each rank or step */
};

/* Ranks or steps [first, end). */
struct stretch {
	size_t first, end;
};

/* Stretch i of `of` things in at most `most` of nearly equal length. */
static struct stretch stretch_of(size_t i, size_t of, size_t most)
{
	size_t count = of < most ? of : most;

	return (struct stretch){ i * of / count, (i + 1) * of / count };
}

static double local_of(const struct heat *heat, size_t step, size_t rank)
{
	const struct local_time *local = &heat->late->local;

	return (double)local->local_ns[step * local->rank_count + rank];
}

static double median_of_role(const struct heat *heat, size_t step, uint32_t role)
{
	const struct rank_roles *roles = &heat->late->roles;
	size_t count = 0;

	for (size_t rank = 0; rank < roles->rank_count; rank++)
		if (roles->roles[rank] == role)
			heat->numbers[count++] = local_of(heat, step, rank);
	return tsi_median(heat->numbers, count);
}

static void find_usual(struct heat *heat)
{
	size_t role_count = heat->late->roles.role_count;

	for (size_t step = 0; step < heat->late->local.step_count; step++)
		for (uint32_t role = 0; role < role_count; role++)
			heat->usual_ns[step * role_count + role] = median_of_role(heat, step, role);
}

static double usual_of(const struct heat *heat, size_t step, size_t rank)
{
	const struct rank_roles *roles = &heat->late->roles;

	return heat->usual_ns[step * roles->role_count + roles->roles[rank]];
}

/* How much later than is usual the last rank of a step is, median of the steps. */
static void put_skew(struct heat *heat, struct fact_sheet *out)
{
	size_t step_count = heat->late->local.step_count;

	for (size_t step = 0; step < step_count; step++) {
		double most_ns = 0;

		for (size_t rank = 0; rank < heat->late->rank_count; rank++)
			most_ns = fmax(most_ns,
				       local_of(heat, step, rank) - usual_of(heat, step, rank));
		heat->numbers[step] = most_ns;
	}
	tsi_fact_int(out, SKEW_NS, tsi_round_ns(tsi_median(heat->numbers, step_count)));
}

/* Of a rank in some steps, by what is usual in its role. */
static struct tscope_value lateness_of(const struct heat *heat, size_t rank, struct stretch steps)
{
	double local_ns = 0, usual_ns = 0;

	for (size_t step = steps.first; step < steps.end; step++) {
		local_ns += local_of(heat, step, rank);
		usual_ns += usual_of(heat, step, rank);
	}
	return tsi_real(local_ns / usual_ns - 1);
}

static struct tscope_value most_lateness(const struct heat *heat, struct stretch ranks,
					 struct stretch steps)
{
	struct tscope_value most = { 0 };

	for (size_t rank = ranks.first; rank < ranks.end; rank++) {
		struct tscope_value own = lateness_of(heat, rank, steps);
		if (most.kind == TSCOPE_VALUE_ABSENT ||
		    (own.kind == TSCOPE_VALUE_REAL && own.real > most.real))
			most = own;
	}
	return most;
}

static void put_block(const struct heat *heat, struct stretch ranks, struct stretch steps,
		      struct fact_sheet *out)
{
	const int64_t *numbers = heat->late->local.numbers;

	struct tscope_value *cells = tsi_table_row(out, TABLE_HEAT);
	cells[HEAT_FIRST_RANK] = tsi_rank_number(heat->ranks, ranks.first);
	cells[HEAT_LAST_RANK] = tsi_rank_number(heat->ranks, ranks.end - 1);
	cells[HEAT_FIRST_STEP] = tsi_int(numbers[steps.first]);
	cells[HEAT_LAST_STEP] = tsi_int(numbers[steps.end - 1]);
	cells[HEAT_LATENESS_RATIO] = most_lateness(heat, ranks, steps);
}

static void put_blocks(const struct heat *heat, struct fact_sheet *out)
{
	size_t rank_count = heat->late->rank_count, step_count = heat->late->local.step_count;

	for (size_t i = 0; i < rank_count && i < MAX_RANK_BLOCKS; i++)
		for (size_t k = 0; k < step_count && k < MAX_STEP_BLOCKS; k++)
			put_block(heat, stretch_of(i, rank_count, MAX_RANK_BLOCKS),
				  stretch_of(k, step_count, MAX_STEP_BLOCKS), out);
}

void tsi_stragglers_put_heat(const struct late_ranks *late, const struct analysis_scope *scope,
			     struct fact_sheet *out)
{
	size_t rank_count = late->rank_count, step_count = late->local.step_count;
	size_t most = rank_count > step_count ? rank_count : step_count;
	struct heat heat = { .late = late, .ranks = scope->ranks };
	struct arena *scratch = tsi_sheet_scratch(out);

	heat.usual_ns =
		tsi_arena_new(scratch, step_count, late->roles.role_count * sizeof(*heat.usual_ns));
	heat.numbers = tsi_arena_new(scratch, most, sizeof(*heat.numbers));
	if (!heat.numbers)
		return;
	find_usual(&heat);
	put_skew(&heat, out);
	put_blocks(&heat, out);
}
