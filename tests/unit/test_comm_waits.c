/* SPDX-License-Identifier: MIT */
/* Waiting and transfer: sums over the capture, and what exposed communication is made of. */
#include "comm/world.h"

#include <string.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "random_numbers.h"
#include "world_text.h"

enum { MAX_RANKS = 3, MAX_OPS = 8, MAX_STEPS = 4, END = 64 };

/* A part of a collective: from start to end; of which match, or none. */
struct part {
	uint32_t rank;
	int64_t start_ns, end_ns;
	uint32_t match;
};

/* Worlds with up to so many of everything. */
struct made {
	struct world world;
	struct rank_log logs[MAX_RANKS];
	struct rank_op ops[MAX_RANKS][MAX_OPS];
	struct rank_log_step steps[MAX_RANKS][MAX_STEPS];
	uint32_t match_of_op[MAX_RANKS][MAX_OPS], *match_of_op_by_rank[MAX_RANKS];
	struct match matches[MAX_OPS];
	struct match_member members[MAX_RANKS * MAX_OPS];
};

static void made_init(struct made *made)
{
	memset(made, 0, sizeof(*made));
	made->world.logs = made->logs;
	made->world.rank_count = MAX_RANKS;
	made->world.matches = made->matches;
	made->world.members = made->members;
	made->world.match_of_op = made->match_of_op_by_rank;
	for (size_t i = 0; i < MAX_RANKS; i++) {
		made->logs[i].ops = made->ops[i];
		made->logs[i].steps = made->steps[i];
		made->match_of_op_by_rank[i] = made->match_of_op[i];
	}
}

static void forget_waits(struct world *world)
{
	tsi_arena_deinit(&world->arena);
}

static void made_deinit(struct made *made)
{
	forget_waits(&made->world);
	for (size_t i = 0; i < MAX_RANKS; i++)
		tsi_arena_deinit(&made->logs[i].still_memory);
}

/* In the order of their starts on each rank. */
static void add_part(struct made *made, struct part part)
{
	struct rank_log *log = &made->logs[part.rank];

	log->ops[log->op_count] = (struct rank_op){ .start_ns = part.start_ns,
						    .dur_ns = part.end_ns - part.start_ns };
	made->match_of_op[part.rank][log->op_count++] = part.match;
}

static void add_step(struct made *made, uint32_t rank, int64_t start_ns, int64_t end_ns)
{
	struct rank_log *log = &made->logs[rank];

	log->steps[log->step_count++] =
		(struct rank_log_step){ .start_ns = start_ns, .wall_ns = end_ns - start_ns };
}

static void stand_still(struct made *made, uint32_t rank, int64_t start_ns, int64_t end_ns)
{
	struct rank_log *log = &made->logs[rank];

	tsi_intervals_append(&log->still, start_ns, end_ns, &log->still_memory);
}

/* Members of a match by rank, and how long they wait. */
static void add_member(struct made *made, struct match *match, uint32_t rank, uint32_t op)
{
	int64_t dur_ns = made->ops[rank][op].dur_ns;

	if (match->member_count == 0 || dur_ns < match->transfer_ns)
		match->transfer_ns = dur_ns;
	made->members[match->first_member + match->member_count++] =
		(struct match_member){ .rank = rank, .op = op };
}

/* Matches 0 to count - 1 of the parts that name them; all are synchronising. */
static void match_all(struct made *made, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct match *match = &made->matches[made->world.match_count++];

		*match = (struct match){ .first_member = (uint32_t)made->world.member_count,
					 .is_synchronising = true };
		for (uint32_t rank = 0; rank < MAX_RANKS; rank++)
			for (uint32_t op = 0; op < made->logs[rank].op_count; op++)
				if (made->match_of_op[rank][op] == i)
					add_member(made, match, rank, op);
		for (uint32_t k = 0; k < match->member_count; k++) {
			struct match_member *member = &made->members[match->first_member + k];
			member->wait_ns =
				made->ops[member->rank][member->op].dur_ns - match->transfer_ns;
		}
		made->world.member_count += match->member_count;
	}
}

static void find_waits(struct made *made)
{
	assert_int_equal(test_stage(tsi_world_find_waits, &made->world, NULL), TSCOPE_OK);
}

static void check_wait(const struct made *made, uint32_t rank, struct rank_wait expected)
{
	const struct rank_wait *wait = &made->world.waits[rank];

	assert_int_equal(wait->count, expected.count);
	assert_int_equal(wait->wait_ns, expected.wait_ns);
	assert_int_equal(wait->transfer_ns, expected.transfer_ns);
	assert_int_equal(wait->last_count, expected.last_count);
}

static void check_split(const struct made *made, uint32_t rank, size_t step,
			struct step_split expected)
{
	const struct step_split *split = &made->world.splits[rank][step];

	assert_int_equal(split->wait_ns, expected.wait_ns);
	assert_int_equal(split->transfer_ns, expected.transfer_ns);
	assert_int_equal(split->unsplit_ns, expected.unsplit_ns);
}

/* ---- sums ---- */

TEST(waits_are_summed)
{
	static const struct part parts[] = {
		/* Transfer 4: they wait 6, 0, 1; rank 1 is the last. */
		{ 0, 0, 10, 0 },
		{ 1, 6, 10, 0 },
		{ 2, 5, 10, 0 },
		/* Transfer 3: 2, 0 and 0; of the last two it is the lower one. */
		{ 0, 20, 25, 1 },
		{ 1, 22, 25, 1 },
		{ 2, 22, 25, 1 },
		/* Nobody waits, nobody is last. */
		{ 0, 30, 37, 2 },
		{ 2, 30, 37, 2 },
		/* They do not end together. */
		{ 0, 40, 45, 3 },
		{ 1, 40, 60, 3 },
	};
	struct made made;

	made_init(&made);
	for (size_t i = 0; i < TSI_COUNT_OF(parts); i++)
		add_part(&made, parts[i]);
	match_all(&made, 4);
	made.matches[3].is_synchronising = false;
	find_waits(&made);
	check_wait(&made, 0, (struct rank_wait){ 3, 6 + 2 + 0, 4 + 3 + 7, 0 });
	check_wait(&made, 1, (struct rank_wait){ 2, 0 + 0, 4 + 3, 2 });
	check_wait(&made, 2, (struct rank_wait){ 3, 1 + 0 + 0, 4 + 3 + 7, 0 });
	made_deinit(&made);
}

TEST(sums_stay_at_the_largest_number)
{
	struct made made;

	made_init(&made);
	for (uint32_t i = 0; i < 2; i++) {
		add_part(&made, (struct part){ 0, 0, INT64_MAX, i });
		add_part(&made, (struct part){ 1, INT64_MAX, INT64_MAX, i });
	}
	match_all(&made, 2);
	find_waits(&made);
	check_wait(&made, 0, (struct rank_wait){ 2, INT64_MAX, 0, 0 });
	check_wait(&made, 1, (struct rank_wait){ 2, 0, 0, 2 });
	made_deinit(&made);
}

/* ---- exposed communication ---- */

TEST(exposed_time_is_divided)
{
	static const struct part parts[] = {
		/* Transfer 5: rank 0 waits in [10,25), transfers in [25,30). */
		{ 0, 10, 30, 0 },
		{ 1, 25, 30, 0 },
		/* Without a partner. */
		{ 0, 35, 50, NO_ROW },
	};
	struct made made;

	made_init(&made);
	for (size_t i = 0; i < TSI_COUNT_OF(parts); i++)
		add_part(&made, parts[i]);
	match_all(&made, 1);
	add_step(&made, 0, 0, 28);
	add_step(&made, 0, 28, 60);
	/* Something else runs in [12,20) and from 45 on. */
	stand_still(&made, 0, 10, 12);
	stand_still(&made, 0, 20, 30);
	stand_still(&made, 0, 35, 45);
	find_waits(&made);
	/* [10,12) and [20,25), then [25,28); in the second step [28,30), and what has no partner. */
	check_split(&made, 0, 0, (struct step_split){ 2 + 5, 3, 0 });
	check_split(&made, 0, 1, (struct step_split){ 0, 2, 10 });
	made_deinit(&made);
}

/* While one waits on its stream, another one transfers. */
TEST(transfer_goes_before_waiting)
{
	static const struct part parts[] = {
		{ 0, 10, 50, 0 }, /* transfer 10: [40,50) */
		{ 0, 15, 30, 1 }, /* transfer 5: [25,30) */
		{ 1, 25, 30, 1 },
		{ 1, 40, 50, 0 },
	};
	struct made made;

	made_init(&made);
	for (size_t i = 0; i < TSI_COUNT_OF(parts); i++)
		add_part(&made, parts[i]);
	match_all(&made, 2);
	add_step(&made, 0, 0, 60);
	stand_still(&made, 0, 10, 50);
	find_waits(&made);
	check_split(&made, 0, 0, (struct step_split){ 40 - 15, 10 + 5, 0 });
	made_deinit(&made);
}

/* What an instant of a rank is, looked at by itself. */
static void divide_instant(const struct made *made, uint32_t rank, int64_t at_ns,
			   struct step_split *split)
{
	bool is_transfer = false, is_wait = false;

	for (size_t i = 0; i < made->logs[rank].op_count; i++) {
		const struct rank_op *op = &made->ops[rank][i];
		uint32_t index = made->match_of_op[rank][i];

		if (index == NO_ROW || !made->matches[index].is_synchronising ||
		    at_ns < op->start_ns || at_ns >= tsi_op_end(op))
			continue;
		is_wait = true;
		is_transfer |= at_ns >= tsi_op_end(op) - made->matches[index].transfer_ns;
	}
	split->transfer_ns += is_transfer;
	split->wait_ns += is_wait && !is_transfer;
	split->unsplit_ns += !is_wait;
}

static void make_chance(struct made *made, uint64_t *seed)
{
	for (uint32_t rank = 0; rank < MAX_RANKS; rank++) {
		int64_t start_ns = 0;

		for (size_t i = 0; i < MAX_OPS; i++) {
			start_ns += (int64_t)(random_bits(seed) % 8);
			add_part(made,
				 (struct part){ rank, start_ns,
						start_ns + (int64_t)(random_bits(seed) % 20),
						random_bits(seed) % 3 ? (uint32_t)i : NO_ROW });
		}
		add_step(made, rank, 0, (int64_t)(random_bits(seed) % END));
		add_step(made, rank, made->steps[rank][0].wall_ns, END);
	}
	match_all(made, MAX_OPS);
	made->matches[2].is_synchronising = false;
}

TEST(each_instant_is_one_of_three)
{
	uint64_t seed = 1;

	for (unsigned n = 0; n < 500; n++) {
		struct step_split expected[MAX_RANKS][2] = { 0 };
		struct made made;

		made_init(&made);
		make_chance(&made, &seed);
		for (uint32_t rank = 0; rank < MAX_RANKS; rank++)
			for (int64_t at = 0; at < END; at++) {
				if (random_bits(&seed) % 4 == 0)
					continue;
				stand_still(&made, rank, at, at + 1);
				divide_instant(&made, rank, at,
					       &expected[rank][at >= made.steps[rank][1].start_ns]);
			}
		find_waits(&made);
		for (uint32_t rank = 0; rank < MAX_RANKS; rank++)
			for (size_t step = 0; step < 2; step++)
				check_split(&made, rank, step, expected[rank][step]);
		made_deinit(&made);
	}
}

/* ---- to the budgets ---- */

/* A rank with a step [0,28) and one [28,60) that wait 7 and transfer 3 + 2, with 10 undivided. */
static void made_with_steps(struct made *made)
{
	made_init(made);
	add_part(made, (struct part){ 0, 10, 30, 0 });
	add_part(made, (struct part){ 1, 25, 30, 0 });
	add_part(made, (struct part){ 0, 35, 50, NO_ROW });
	match_all(made, 1);
	add_step(made, 0, 0, 28);
	add_step(made, 0, 28, 60);
	stand_still(made, 0, 10, 12);
	stand_still(made, 0, 20, 30);
	stand_still(made, 0, 35, 45);
	find_waits(made);
}

TEST(budgets_are_found_by_their_time)
{
	static const struct {
		int64_t start_ns, wall_ns, line_ns;
		uint32_t device_count;
		bool has_split;
		int64_t exposed_ns[EXPOSED_PART_COUNT]; /* wait, transfer, unsplit, own */
	} cases[] = {
		{ 0, 28, 10, 1, true, { 7, 3, 0, 0 } },
		{ 28, 32, 12, 1, true, { 0, 2, 10, 0 } },
		/* It did not stand still for the rest, */
		{ 28, 32, 32, 1, true, { 0, 2, 10, 20 } },
		/* unless other devices expose that. */
		{ 28, 32, 32, 2, true, { 0, 2, 30, 0 } },
		{ 0, 28, 10, 0, true, { 7, 3, 0, 0 } },
		{ 0, 28, 11, 0, true, { 7, 3, 0, 1 } },
		/* Not a step of the log. */
		{ 1, 27, 10, 1, false, { 0 } },
		{ 0, 27, 10, 1, false, { 0 } },
		{ 60, 10, 0, 1, false, { 0 } },
		/* Less than was divided: it is something else. */
		{ 0, 28, 9, 1, false, { 0 } },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct step_series series[MAX_RANKS] = { 0 };
		struct step_budget budget = { .start_ns = cases[i].start_ns,
					      .wall_ns = cases[i].wall_ns };
		struct made made;

		made_with_steps(&made);
		series[0].budgets = &budget;
		series[0].budget_count = 1;
		series[0].device_count = cases[i].device_count;
		if (cases[i].device_count == 0)
			budget.host.line_ns[HOST_COMM] = cases[i].line_ns;
		else
			budget.device.line_ns[TSCOPE_BUDGET_EXPOSED_COMM] = cases[i].line_ns;
		tsi_world_split_budgets(&made.world, series);
		assert_int_equal(budget.has_split, cases[i].has_split);
		assert_memory_equal(budget.exposed_ns, cases[i].exposed_ns,
				    sizeof(budget.exposed_ns));
		made_deinit(&made);
	}
}

TEST(memory_may_end)
{
	struct made made;

	made_with_steps(&made);
	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		forget_waits(&made.world);
		alloc_sweep_try(&sweep, test_stage(tsi_world_find_waits, &made.world, &sweep.err));
	}
	made_deinit(&made);
}
