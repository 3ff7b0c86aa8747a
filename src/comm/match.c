/* SPDX-License-Identifier: MIT */
/*
 * Finds the same collective on all ranks of each group. Ops that differ between them, or are not on
 * all of them, are counted and not matched.
 */
#include "comm/alignment.h"

#include <math.h>

#include "base/sum.h"

/*
 * Sequences that are aligned separately: the collectives of a group, and sends and receives without
 * a stated peer; of a pair, the messages of either direction.
 */
enum {
	SEQUENCE_COLLECTIVES = 0,
	SEQUENCE_UNPAIRED = 1,
	SEQUENCE_UPWARD = 0, /* from the lower rank of a pair */
	SEQUENCE_DOWNWARD = 1,
	SEQUENCES_PER_GROUP = 2,
};

/* Unpaired ones belong together only if nearly all do: one error in so many. */
enum { UNPAIRED_PER_ERROR = 20 };

struct matcher {
	struct world *world;
	struct op_alignment alignment;
	struct sort_pair *ops; /* by sequence; value: rank and op */
	size_t op_count;
};

static uint64_t sequence_of(const struct world *world, uint32_t rank, uint32_t op)
{
	uint32_t index = world->group_of_op[rank][op];
	const struct process_group *group = &world->groups[index];
	const struct rank_op *of = &world->logs[rank].ops[op];
	bool is_second;

	if (group->is_point_to_point)
		is_second = of->is_send != (rank == group->ranks[0]);
	else
		is_second = of->kind == COLLECTIVE_SEND_RECV;
	return (uint64_t)index * SEQUENCES_PER_GROUP + is_second;
}

/* All ops of groups, in the order of their sequences; there by rank, then as in the log. */
static void collect_ops(struct matcher *matcher, struct arena *scratch)
{
	const struct world *world = matcher->world;

	matcher->ops = tsi_arena_new(scratch, tsi_world_op_count(world), sizeof(*matcher->ops));
	for (uint32_t rank = 0; matcher->ops && rank < world->rank_count; rank++)
		for (uint32_t op = 0; op < world->logs[rank].op_count; op++)
			if (world->group_of_op[rank][op] != NO_ROW)
				matcher->ops[matcher->op_count++] =
					(struct sort_pair){ sequence_of(world, rank, op),
							    (uint64_t)rank << 32 | op };
	tsi_latch_sort(scratch, matcher->ops, matcher->op_count);
}

/* ---- what a match says ---- */

/* Sizes may differ where each rank has its own part: the largest one decides the transfer. */
static void describe(struct match *match, const struct rank_op *op)
{
	if (op->bytes != NO_NUMBER && op->bytes > match->bytes)
		match->bytes = op->bytes;
	match->bus_bytes = fmax(match->bus_bytes, op->bus_bytes); /* the number, if one is NAN */
	if (match->step == NO_NUMBER)
		match->step = op->step;
	if (op->dur_ns < match->transfer_ns)
		match->transfer_ns = op->dur_ns;
}

static struct match match_of(const struct op_alignment *alignment,
			     const struct instance_cursor *instance)
{
	struct match match = {
		.member_count = (uint32_t)instance->count,
		.step = NO_NUMBER,
		.bytes = NO_NUMBER,
		.bus_bytes = NAN,
		.transfer_ns = INT64_MAX,
		.kind = tsi_ref_op(alignment, instance->refs[0].value)->kind,
	};

	for (size_t i = 0; i < instance->count; i++)
		describe(&match, tsi_ref_op(alignment, instance->refs[i].value));
	match.is_synchronising = tsi_is_synchronising(match.kind);
	return match;
}

/* NULL without memory. */
static struct match_member *add_member(struct world *world, const struct op_ref *ref)
{
	struct match_member *member =
		tsi_arena_push(&world->arena, &world->members, &world->member_count,
			       &world->member_capacity, sizeof(*member));

	if (member)
		*member = (struct match_member){ .rank = ref->rank, .op = ref->op };
	return member;
}

static void add_match(struct matcher *matcher, uint32_t group,
		      const struct instance_cursor *instance)
{
	struct world *world = matcher->world;
	struct match *match = tsi_arena_push(&world->arena, &world->matches, &world->match_count,
					     &world->match_capacity, sizeof(*match));

	if (!match)
		return;
	*match = match_of(&matcher->alignment, instance);
	match->group = group;
	match->first_member = world->member_count;
	for (size_t i = 0; i < instance->count; i++) {
		const struct op_ref *ref = &matcher->alignment.refs[instance->refs[i].value];
		struct match_member *member = add_member(world, ref);

		if (member && match->is_synchronising)
			member->wait_ns = tsi_difference(
				match->transfer_ns, world->logs[ref->rank].ops[ref->op].dur_ns);
		world->match_of_op[ref->rank][ref->op] = (uint32_t)world->match_count - 1;
	}
}

/* ---- the sequences of a group ---- */

static void count_verdicts(struct process_group *group, const struct alignment_tally *tally)
{
	group->matched_count += tally->counts[ALIGNED_MATCHED];
	group->mismatched_count += tally->counts[ALIGNED_MISMATCHED];
	group->missing_count += tally->counts[ALIGNED_MISSING];
	group->surplus_count += tally->counts[ALIGNED_SURPLUS];
	group->cut_count += tally->counts[ALIGNED_CUT];
}

/* Sends to unknown peers that are no all-to-all have no common order: that says nothing of them. */
static bool is_usable(const struct matcher *matcher, const struct process_group *group,
		      uint64_t sequence)
{
	const struct op_alignment *alignment = &matcher->alignment;

	if (group->is_point_to_point || sequence % SEQUENCES_PER_GROUP != SEQUENCE_UNPAIRED)
		return true;
	return alignment->rank_count == group->rank_count &&
	       tsi_tally_errors(&alignment->tally) * UNPAIRED_PER_ERROR <=
		       alignment->tally.counts[ALIGNED_MATCHED];
}

static void match_sequence(struct matcher *matcher, const struct sort_pair *ops, size_t count)
{
	struct op_alignment *alignment = &matcher->alignment;
	uint32_t index = (uint32_t)(ops[0].key / SEQUENCES_PER_GROUP);
	struct process_group *group = &matcher->world->groups[index];

	tsi_op_alignment_begin(alignment, count);
	for (size_t i = 0; i < count; i++)
		tsi_op_alignment_add(alignment, (uint32_t)(ops[i].value >> 32),
				     (uint32_t)ops[i].value);
	if (!tsi_align_ops(alignment) || !is_usable(matcher, group, ops[0].key))
		return;
	count_verdicts(group, &alignment->tally);
	if (alignment->tally.is_refused)
		return;
	struct instance_cursor instance = tsi_instances(alignment);
	while (tsi_next_instance(alignment, &instance))
		if (instance.verdict == ALIGNED_MATCHED)
			add_match(matcher, index, &instance);
}

void tsi_world_find_matches(struct world *world)
{
	struct matcher matcher = { .world = world };
	struct arena scratch = { 0 };

	world->match_of_op = tsi_world_op_rows(world);
	tsi_op_alignment_init(&matcher.alignment, world);
	if (world->group_of_op && world->match_of_op)
		collect_ops(&matcher, &scratch);
	for (size_t at = 0, end; at < matcher.op_count; at = end) {
		for (end = at + 1;
		     end < matcher.op_count && matcher.ops[end].key == matcher.ops[at].key;)
			end++;
		match_sequence(&matcher, &matcher.ops[at], end - at);
	}
	tsi_op_alignment_deinit(&matcher.alignment, &world->arena);
	tsi_latch_deinit(&world->arena, &scratch);
}
