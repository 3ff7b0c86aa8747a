/* SPDX-License-Identifier: MIT */
/*
 * How long each rank waited in collectives, and what the exposed communication of its steps is
 * made of. No clock is trusted: all members of a synchronising collective end together, so on
 * each of them the last transfer_ns of it are transfer, and what comes before is waiting.
 *
 * Of the time that a rank stood still an instant is transfer where any such op is in its transfer,
 * else waiting where any of them runs, else it is not divided: that is other communication. The
 * rest of the step is the rank's own time.
 */
#include "comm/world.h"

#include "base/sum.h"

/* ---- sums over the capture ---- */

/* The last to come waits least; of equal ones the lowest rank. NULL: nobody waited. */
static const struct match_member *last_to_come(const struct match_member *members, size_t count)
{
	const struct match_member *last = &members[0];
	bool has_wait = false;

	for (size_t i = 0; i < count; i++) {
		has_wait |= members[i].wait_ns > 0;
		if (members[i].wait_ns < last->wait_ns)
			last = &members[i];
	}
	return has_wait ? last : NULL;
}

static void sum_match(struct world *world, const struct match *match)
{
	const struct match_member *members = &world->members[match->first_member];
	const struct match_member *last = last_to_come(members, match->member_count);

	for (uint32_t i = 0; i < match->member_count; i++) {
		const struct match_member *member = &members[i];
		struct rank_wait *wait = &world->waits[member->rank];
		int64_t dur_ns = world->logs[member->rank].ops[member->op].dur_ns;

		wait->count++;
		tsi_sum(&wait->wait_ns, member->wait_ns);
		tsi_sum(&wait->transfer_ns, dur_ns - member->wait_ns);
		wait->last_count += member == last;
	}
}

/* ---- standstills, divided ---- */

/* When synchronising collectives ran on a rank. */
struct comm_time {
	struct arena arena;
	struct interval_set runs;                        /* from begin to end, */
	struct interval_set transfers;                   /* their last transfer_ns, */
	struct interval_set still_runs, still_transfers; /* where the rank stood still */
	struct sort_pair *tails;                         /* transfers by begin: index of op */
	size_t tail_count;
};

/* The op's match if its members end together, else NULL. */
static const struct match *synchronising_match(const struct world *world, size_t rank, size_t op)
{
	uint32_t index = world->match_of_op ? world->match_of_op[rank][op] : NO_ROW;

	return index != NO_ROW && world->matches[index].is_synchronising ? &world->matches[index]
									 : NULL;
}

static void add_runs(struct comm_time *time, const struct world *world, size_t rank)
{
	const struct rank_log *log = &world->logs[rank];

	for (size_t i = 0; i < log->op_count; i++) {
		const struct match *match = synchronising_match(world, rank, i);
		int64_t end_ns = tsi_op_end(&log->ops[i]);

		if (!match)
			continue;
		tsi_intervals_append(&time->runs, log->ops[i].start_ns, end_ns, &time->arena);
		time->tails[time->tail_count++] =
			(struct sort_pair){ tsi_sort_key_of_int64(end_ns - match->transfer_ns), i };
	}
}

/* Ops of several streams overlap: they do not end in the order in which they began. */
static void add_transfers(struct comm_time *time, const struct world *world, size_t rank)
{
	tsi_latch_sort(&time->arena, time->tails, time->tail_count);
	for (size_t i = 0; i < time->tail_count; i++) {
		size_t op = (size_t)time->tails[i].value;
		int64_t end_ns = tsi_op_end(&world->logs[rank].ops[op]);
		int64_t transfer_ns = synchronising_match(world, rank, op)->transfer_ns;

		tsi_intervals_append(&time->transfers, end_ns - transfer_ns, end_ns, &time->arena);
	}
}

/* *out = a ∩ b */
static void intersect(struct comm_time *time, struct interval_set *out,
		      const struct interval_set *a, const struct interval_set *b)
{
	struct interval_cursor cursor = { .set = b };

	for (size_t i = 0; i < a->count; i++) {
		struct interval piece = a->items[i], part;

		while (tsi_intervals_next(&cursor, &piece, &part))
			tsi_intervals_append(out, part.start_ns, part.end_ns, &time->arena);
	}
}

/* False without memory. */
static bool comm_time_fill(struct comm_time *time, const struct world *world, size_t rank)
{
	const struct rank_log *log = &world->logs[rank];

	time->tails = tsi_arena_new(&time->arena, log->op_count, sizeof(*time->tails));
	if (!time->tails)
		return false;
	add_runs(time, world, rank);
	add_transfers(time, world, rank);
	intersect(time, &time->still_runs, &log->still, &time->runs);
	intersect(time, &time->still_transfers, &log->still, &time->transfers);
	return !time->arena.has_failed;
}

static void comm_time_deinit(struct comm_time *time, struct arena *arena)
{
	tsi_latch_deinit(arena, &time->arena);
}

static void split_rank(struct world *world, size_t rank)
{
	const struct rank_log *log = &world->logs[rank];
	struct step_split *splits = tsi_arena_new(&world->arena, log->step_count, sizeof(*splits));
	struct comm_time time = { 0 };
	bool is_filled = splits && comm_time_fill(&time, world, rank);

	world->splits[rank] = splits;
	for (size_t i = 0; is_filled && i < log->step_count; i++) {
		int64_t start_ns = log->steps[i].start_ns;
		int64_t end_ns = tsi_narrow((tsi_wide)start_ns + log->steps[i].wall_ns);
		int64_t still_ns = tsi_intervals_within(&log->still, start_ns, end_ns);
		int64_t run_ns = tsi_intervals_within(&time.still_runs, start_ns, end_ns);
		int64_t transfer_ns = tsi_intervals_within(&time.still_transfers, start_ns, end_ns);

		/* Transfers lie within runs, and these within standstills. */
		splits[i] = (struct step_split){
			.wait_ns = run_ns - transfer_ns,
			.transfer_ns = transfer_ns,
			.unsplit_ns = still_ns - run_ns,
		};
	}
	comm_time_deinit(&time, &world->arena);
}

void tsi_world_find_waits(struct world *world)
{
	world->waits = tsi_arena_new(&world->arena, world->rank_count, sizeof(*world->waits));
	world->splits = tsi_arena_new(&world->arena, world->rank_count, sizeof(*world->splits));
	if (!world->splits)
		return;
	for (size_t i = 0; i < world->match_count; i++)
		if (world->matches[i].is_synchronising)
			sum_match(world, &world->matches[i]);
	for (size_t i = 0; i < world->rank_count; i++)
		split_rank(world, i);
}

/* ---- to the budgets ---- */

/*
 * Splits exposed communication. The rest, for which the rank did not stand still, hid its own work
 * where the rank has one device; with several it stays unsplit.
 */
static void split_budget(struct step_budget *budget, const struct step_split *split,
			 int64_t exposed_ns, bool is_all_logged)
{
	tsi_wide rest_ns =
		(tsi_wide)exposed_ns - split->wait_ns - split->transfer_ns - split->unsplit_ns;

	if (rest_ns < 0)
		return;
	budget->exposed_ns[EXPOSED_WAIT] = split->wait_ns;
	budget->exposed_ns[EXPOSED_TRANSFER] = split->transfer_ns;
	budget->exposed_ns[EXPOSED_UNSPLIT] = split->unsplit_ns;
	tsi_sum(&budget->exposed_ns[is_all_logged ? EXPOSED_OWN : EXPOSED_UNSPLIT],
		tsi_narrow(rest_ns));
	budget->has_split = true;
}

void tsi_world_split_budgets(const struct world *world, struct step_series *series)
{
	for (size_t i = 0; i < world->rank_count; i++) {
		struct step_series *steps = &series[i];

		for (size_t k = 0; world->logs[i].op_count > 0 && k < steps->budget_count; k++) {
			struct step_budget *budget = &steps->budgets[k];
			uint32_t step = tsi_rank_log_find_step(&world->logs[i], budget->start_ns,
							       budget->wall_ns);
			int64_t exposed_ns =
				steps->device_count
					? budget->device.line_ns[TSCOPE_BUDGET_EXPOSED_COMM]
					: budget->host.line_ns[HOST_COMM];

			if (step != NO_ROW)
				split_budget(budget, &world->splits[i][step], exposed_ns,
					     steps->device_count <= 1);
		}
	}
}
