/* SPDX-License-Identifier: MIT */
/*
 * When the members of each match end, in the graph that is played: those of a synchronising
 * collective once the last of them has begun and the transfer is over, plus what each of them took
 * to notice; those of others once all have begun that they had waited for.
 */
#include "comm/replay_parts.h"

#include <math.h>

#include "base/sort.h"

struct match_joining {
	struct replay_graph *graph;
	struct sort_pair *pairs, *scratch; /* room for the members of a match */
};

static const struct rank_op *op_of(const struct replay_graph *graph, uint32_t number)
{
	const struct replay_link *link = &graph->ops[number];

	return &graph->world->logs[link->rank].ops[number - graph->ranks[link->rank].first_op];
}

static uint32_t number_of(const struct replay_graph *graph, const struct match_member *member)
{
	return (uint32_t)(graph->ranks[member->rank].first_op + member->op);
}

/* A match is played where all of its members are; else they are alone, as if not matched. */
static bool is_played(const struct replay_graph *graph, const struct match *match)
{
	const struct match_member *members = &graph->world->members[match->first_member];

	for (uint32_t i = 0; i < match->member_count; i++)
		if (!tsi_is_played(&graph->ops[number_of(graph, &members[i])]))
			return false;
	return true;
}

static void set_alone(struct replay_graph *graph, const struct match *match)
{
	const struct match_member *members = &graph->world->members[match->first_member];

	for (uint32_t i = 0; i < match->member_count; i++) {
		struct replay_link *link = &graph->ops[number_of(graph, &members[i])];

		if (tsi_is_played(link))
			link->match = NO_ROW;
	}
}

static bool are_clocks_known(const struct world *world, const struct match *match)
{
	const struct match_member *members = &world->members[match->first_member];

	if (!world->clocks)
		return false;
	for (uint32_t i = 0; i < match->member_count; i++)
		if (!world->clocks[members[i].rank].is_known)
			return false;
	return true;
}

static int64_t world_start(const struct replay_graph *graph, uint32_t number)
{
	return tsi_world_time(graph->world, graph->ops[number].rank,
			      op_of(graph, number)->start_ns);
}

static int64_t world_end(const struct replay_graph *graph, uint32_t number)
{
	return tsi_world_time(graph->world, graph->ops[number].rank,
			      tsi_replay_end_of(op_of(graph, number)));
}

/* All end when the last has begun and the shortest duration is over. */
static void end_together(struct replay_graph *graph, const struct match *match)
{
	const struct match_member *members = &graph->world->members[match->first_member];

	for (uint32_t i = 0; i < match->member_count; i++) {
		uint32_t number = number_of(graph, &members[i]);
		struct replay_link *link = &graph->ops[number];

		graph->by_start[match->first_member + i] = number;
		graph->by_end[match->first_member + i] = number;
		link->need = match->member_count;
		link->transfer_ns = tsi_later_of(match->transfer_ns, 0);
	}
}

/*
 * How far the clocks of the members may be off, as their ends show: the standard error of a median
 * (of normal deviations) of so many. The deviation of a single end is no error: it is what a tail
 * is.
 */
static int64_t clock_noise(const struct world *world, const struct match *match)
{
	static const double median_factor = 1.2533; /* √(π ÷ 2) */
	const struct match_member *members = &world->members[match->first_member];
	double most_ns = 0;

	for (uint32_t i = 0; i < match->member_count; i++) {
		const struct rank_clock *clock = &world->clocks[members[i].rank];
		double count = clock->match_count > 0 ? (double)clock->match_count : 1;

		most_ns = fmax(most_ns, median_factor * (double)clock->residual_ns / sqrt(count));
	}
	return tsi_scale(1, most_ns);
}

/*
 * All data has been moved when the first member ends: members that end later had other things in
 * their way (gloo's threads share cores with all else), which stay theirs whatever changes. The
 * transfer is over with the first end, too, so that it took no longer than from the last begin to
 * there; the shortest duration is more where the last to come was not the first to end. Of both
 * only what exceeds the noise of the clocks is believed, and nothing where clocks say that a member
 * ended before another began.
 */
static void add_tails(struct replay_graph *graph, const struct match *match)
{
	const struct match_member *members = &graph->world->members[match->first_member];
	int64_t noise_ns = clock_noise(graph->world, match);
	int64_t first_end_ns = INT64_MAX, last_start_ns = INT64_MIN;

	for (uint32_t i = 0; i < match->member_count; i++) {
		uint32_t number = number_of(graph, &members[i]);
		int64_t end_ns = world_end(graph, number);

		first_end_ns = end_ns < first_end_ns ? end_ns : first_end_ns;
		last_start_ns = tsi_later_of(world_start(graph, number), last_start_ns);
	}
	int64_t transfer_ns = tsi_later(tsi_difference(last_start_ns, first_end_ns), noise_ns);
	if (transfer_ns < 0)
		return;
	for (uint32_t i = 0; i < match->member_count; i++) {
		uint32_t number = number_of(graph, &members[i]);
		struct replay_link *link = &graph->ops[number];
		int64_t late_ns = tsi_difference(first_end_ns, world_end(graph, number));

		link->tail_ns = tsi_later_of(tsi_later(late_ns, -noise_ns), 0);
		if (transfer_ns < link->transfer_ns)
			link->transfer_ns = transfer_ns;
	}
}

/* Puts the members of a match into the order of their starts, or ends, on one clock. */
static void sort_members(struct match_joining *joining, const struct match *match, bool by_end)
{
	struct replay_graph *graph = joining->graph;
	const struct match_member *members = &graph->world->members[match->first_member];
	uint32_t *order = by_end ? graph->by_end : graph->by_start;

	for (uint32_t i = 0; i < match->member_count; i++) {
		uint32_t number = number_of(graph, &members[i]);
		int64_t time_ns = by_end ? world_end(graph, number) : world_start(graph, number);

		joining->pairs[i] = (struct sort_pair){ tsi_sort_key_of_int64(time_ns), number };
	}
	tsi_sort_pairs(joining->pairs, joining->scratch, match->member_count);
	for (uint32_t i = 0; i < match->member_count; i++)
		order[match->first_member + i] = (uint32_t)joining->pairs[i].value;
}

/*
 * Who ended before another began did not wait for it. Each member needs those that began before
 * it ended, and with the last of them came a transfer of the shortest duration among them.
 */
static void end_apart(struct match_joining *joining, const struct match *match)
{
	struct replay_graph *graph = joining->graph;
	const uint32_t *by_start = &graph->by_start[match->first_member];
	const uint32_t *by_end = &graph->by_end[match->first_member];
	int64_t shortest_ns = INT64_MAX;
	uint32_t need = 0;

	sort_members(joining, match, true);
	sort_members(joining, match, false);
	for (uint32_t i = 0; i < match->member_count; i++) {
		struct replay_link *link = &graph->ops[by_end[i]];
		int64_t end_ns = world_end(graph, by_end[i]);

		for (; need == 0 ||
		       (need < match->member_count && world_start(graph, by_start[need]) <= end_ns);
		     need++) {
			int64_t duration_ns = tsi_replay_duration_of(op_of(graph, by_start[need]));

			shortest_ns = duration_ns < shortest_ns ? duration_ns : shortest_ns;
		}
		link->need = need;
		link->transfer_ns = shortest_ns;
	}
}

static void join_match(struct match_joining *joining, const struct match *match)
{
	struct replay_graph *graph = joining->graph;
	bool are_known = are_clocks_known(graph->world, match);

	if (!match->is_synchronising && are_known) {
		end_apart(joining, match);
		return;
	}
	end_together(graph, match);
	if (are_known)
		add_tails(graph, match);
}

void tsi_replay_join_matches(struct replay_graph *graph, struct sort_pair *pairs,
			     struct sort_pair *scratch)
{
	struct match_joining joining = { graph, pairs, scratch };
	const struct world *world = graph->world;

	for (size_t i = 0; i < world->match_count; i++) {
		const struct match *match = &world->matches[i];
		const struct process_group *group = &world->groups[match->group];

		if (!is_played(graph, match)) {
			set_alone(graph, match);
			continue;
		}
		graph->has_unread_members |= !tsi_group_is_whole(world, group);
		join_match(&joining, match);
	}
}
