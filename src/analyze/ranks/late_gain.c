/* SPDX-License-Identifier: MIT */
/*
 * Cost of late ranks. Of several, fixing one alone gains little: the others still are late. So the
 * gain is that of fixing all, and a rank's own is its cost with the others fixed.
 */
#include "analyze/ranks/late_gain.h"

#include "analyze/ranks/rank_peers.h"
#include "analyze/ranks/replay_doubt.h"
#include "analyze/shared/robust.h"
#include "base/sum.h"
#include "comm/latch.h"

/* Replays of single ranks: beyond, what the steps' times say has to do. */
enum { MAX_REPLAYS = 32, MAX_REPLAYED_POINTS = 8000000 };

/* ---- from the steps' times ---- */

struct recount {
	struct late_ranks *late;
	const int64_t *own_ns; /* [step * rank_count + rank] */
	size_t step_count;
	double *usual_ns; /* by role: what the median of its healthy ranks takes in the step */
	double *numbers;  /* room for one of each rank */
};

static void find_usual(const struct recount *recount, size_t step)
{
	const struct late_ranks *late = recount->late;
	const int64_t *own_ns = &recount->own_ns[step * late->rank_count];

	for (uint32_t role = 0; role < late->roles.role_count; role++) {
		size_t count = 0;

		for (size_t i = 0; i < late->rank_count; i++)
			if (late->roles.roles[i] == role && !tsi_is_late_in(&late->ranks[i], step))
				recount->numbers[count++] = (double)own_ns[i];
		recount->usual_ns[role] = tsi_median(recount->numbers, count);
	}
}

/* The slowest rank of a step, with late ones as they were or mended. */
static int64_t slowest_ns(const struct recount *recount, size_t step, bool is_mended)
{
	const struct late_ranks *late = recount->late;
	int64_t most_ns = 0;

	for (size_t i = 0; i < late->rank_count; i++) {
		int64_t ns = recount->own_ns[step * late->rank_count + i];

		if (is_mended && tsi_is_late_in(&late->ranks[i], step))
			ns = tsi_round_ns(recount->usual_ns[late->roles.roles[i]]);
		most_ns = ns > most_ns ? ns : most_ns;
	}
	return most_ns;
}

static void recount_step(const struct recount *recount, size_t step)
{
	struct late_ranks *late = recount->late;

	find_usual(recount, step);
	int64_t mended_ns = slowest_ns(recount, step, true);
	tsi_sum(&late->gain.gain_ns, slowest_ns(recount, step, false) - mended_ns);
	for (size_t i = 0; i < late->rank_count; i++) {
		int64_t own_ns = recount->own_ns[step * late->rank_count + i];

		if (tsi_is_late_in(&late->ranks[i], step) && own_ns > mended_ns)
			tsi_sum(&late->ranks[i].gain_ns, own_ns - mended_ns);
	}
}

static void recount_steps(struct late_ranks *late, const struct rank_steps *steps,
			  struct arena *arena)
{
	bool has_local = late->local.step_count > 0;
	struct recount recount = {
		.late = late,
		.own_ns = has_local ? late->local.local_ns : steps->compute_ns,
		.step_count = has_local ? late->local.step_count : steps->step_count,
	};
	int64_t count = (int64_t)recount.step_count;

	recount.usual_ns = tsi_arena_new(arena, late->roles.role_count, sizeof(*recount.usual_ns));
	recount.numbers = tsi_arena_new(arena, late->rank_count, sizeof(*recount.numbers));
	if (!recount.usual_ns || !recount.numbers || count == 0)
		return;
	for (size_t step = 0; step < recount.step_count; step++)
		recount_step(&recount, step);
	late->gain.gain_ns = tsi_mean(late->gain.gain_ns, count).integer;
	for (size_t i = 0; i < late->rank_count; i++)
		late->ranks[i].gain_ns = tsi_mean(late->ranks[i].gain_ns, count).integer;
}

/* ---- by simulation ---- */

struct replays {
	struct late_ranks *late;
	struct rank_peers peers;
	const int64_t **mended, **local_ns; /* by rank: local ns by point, NULL: as it was */
	struct arena *arena;
	bool is_together; /* members of collectives end together */
};

static int64_t replay_with(const struct replays *replays, const int64_t **local_ns)
{
	const struct replay_change change = { .local_ns = local_ns,
					      .transfer_scale = 1,
					      .has_no_tails = replays->is_together };
	struct replay replay;

	tsi_replay(&replay, replays->peers.graph, &change);
	tsi_latch_deinit(replays->arena, &replay.arena);
	return replay.step_ns;
}

static int64_t at_least_0(int64_t ns)
{
	return ns > 0 ? ns : 0;
}

/* Replays each late rank as it was, with the other late ones fixed. */
static void replay_each(const struct replays *replays, int64_t mended_ns)
{
	struct late_ranks *late = replays->late;
	size_t points = replays->peers.graph->point_count + 1, count = 0;

	for (size_t i = 0; i < late->rank_count && count < MAX_REPLAYS; i++) {
		if (!replays->mended[i] || ++count * points > MAX_REPLAYED_POINTS)
			continue;
		replays->local_ns[i] = NULL;
		late->ranks[i].gain_ns =
			at_least_0(replay_with(replays, replays->local_ns) - mended_ns);
		replays->local_ns[i] = replays->mended[i];
	}
}

/* Like its peers, in steps where it is late. */
static const int64_t *mend_rank(const struct replays *replays, uint32_t rank)
{
	const struct rank_stalls *stalls = replays->late->ranks[rank].stalls;
	struct step_choice choice = { .count = stalls ? stalls->count : 0 };
	int64_t *numbers = tsi_arena_new(replays->arena, choice.count, sizeof(*numbers));

	for (size_t i = 0; numbers && i < choice.count; i++)
		numbers[i] = replays->late->stall_numbers[stalls->steps[i]];
	choice.numbers = numbers;
	return tsi_like_peers(&replays->peers, rank, stalls ? &choice : NULL, replays->arena);
}

/* False where a late rank has no peers in the replay, and without memory. */
static bool mend(const struct replays *replays)
{
	const struct late_ranks *late = replays->late;

	for (uint32_t i = 0; i < late->rank_count; i++) {
		if (!late->ranks[i].is_late)
			continue;
		if (!tsi_has_peers(&replays->peers, i))
			return false;
		replays->mended[i] = mend_rank(replays, i);
		replays->local_ns[i] = replays->mended[i];
	}
	return !replays->arena->has_failed;
}

/* The unchanged step; 0 where the replay must not be believed. */
static int64_t replay_unchanged(const struct replay_graph *graph, bool *has_spread,
				struct arena *arena)
{
	struct replay unchanged;

	tsi_replay(&unchanged, graph, NULL);
	bool is_believed = !tsi_replay_error_doubt(&unchanged);
	*has_spread = tsi_has_end_spread(graph, &unchanged);
	tsi_latch_deinit(arena, &unchanged.arena);
	return is_believed ? unchanged.step_ns : 0;
}

/* Whether the gain is another where members of collectives end together. */
static bool depends_on_spread(const struct replays *replays, int64_t gain_ns, int64_t step_ns)
{
	struct replays together = *replays;

	together.is_together = true;
	int64_t together_ns = replay_with(&together, NULL);

	return tsi_is_gain_of_spread(
		gain_ns, together_ns - replay_with(&together, replays->local_ns), step_ns);
}

static void replay_steps(struct late_ranks *late, const struct replay_graph *graph,
			 struct arena *arena)
{
	struct replays replays = { .late = late, .arena = arena };
	bool has_spread;
	int64_t step_ns = replay_unchanged(graph, &has_spread, arena);

	if (step_ns <= 0 || !tsi_rank_peers_find(&replays.peers, graph, &late->roles, arena))
		return;
	replays.mended = tsi_arena_new(arena, late->rank_count, sizeof(*replays.mended));
	replays.local_ns = tsi_arena_new(arena, late->rank_count, sizeof(*replays.local_ns));
	if (!replays.local_ns || !mend(&replays))
		return;
	int64_t mended_ns = replay_with(&replays, replays.local_ns);
	if (has_spread && depends_on_spread(&replays, at_least_0(step_ns - mended_ns), step_ns))
		return;
	late->gain = (struct late_gain){ step_ns, at_least_0(step_ns - mended_ns), true };
	replay_each(&replays, mended_ns);
}

/* ---- both ---- */

static int64_t mean_step_ns(const struct rank_steps *steps)
{
	int64_t sum_ns = 0;

	for (size_t step = 0; step < steps->step_count; step++) {
		int64_t most_ns = 0;

		for (size_t i = 0; i < steps->rank_count; i++) {
			int64_t ns = steps->time_ns[step * steps->rank_count + i];
			most_ns = ns > most_ns ? ns : most_ns;
		}
		tsi_sum(&sum_ns, most_ns);
	}
	return steps->step_count > 0 ? tsi_mean(sum_ns, (int64_t)steps->step_count).integer : 0;
}

void tsi_late_gain_find(struct late_ranks *late, const struct analysis_scope *scope,
			const struct rank_steps *steps, struct arena *arena)
{
	struct arena scratch = { 0 };
	bool is_any = false;

	late->gain = (struct late_gain){ .step_ns = mean_step_ns(steps) };
	for (size_t i = 0; i < late->rank_count; i++) {
		late->ranks[i].gain_ns = 0;
		is_any |= late->ranks[i].is_late;
	}
	if (is_any)
		recount_steps(late, steps, &scratch);
	if (is_any && scope->replay_graph && scope->replay_graph->step_count > 0)
		replay_steps(late, scope->replay_graph, &scratch);
	tsi_latch_deinit(arena, &scratch);
}
