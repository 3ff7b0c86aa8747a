/* SPDX-License-Identifier: MIT */
/* Which links are slower than their likes: by hand, and by chance. */
#include "fail_alloc.h"
#include "random_numbers.h"

#include <stdlib.h>

#include "analyze/ranks/link_list.h"
#include "base/attributes.h"
#include "check.h"

enum { MAX_GROUPS = 16, MAX_TRANSFERS = 4096 };

static void check_near(double value, double expected)
{
	assert_true(fabs(value - expected) <= 1e-12 * fmax(1, fabs(expected)));
}

/* Transfers of groups of two ranks, added one by one. */
struct set {
	struct world world;
	struct process_group groups[MAX_GROUPS];
	struct transfer transfers[MAX_TRANSFERS];
	struct transfer_list list;
	struct link_list links;
	struct arena arena;
};

static struct set *new_set(size_t group_count)
{
	struct set *set = calloc(1, sizeof(*set));

	assert_non_null(set);
	assert_true(group_count <= MAX_GROUPS);
	for (size_t i = 0; i < group_count; i++)
		set->groups[i] = (struct process_group){ .size = 2, .rank_count = 2 };
	set->world.groups = set->groups;
	set->world.group_count = group_count;
	set->list.items = set->transfers;
	return set;
}

static void free_set(struct set *set)
{
	tsi_arena_deinit(&set->arena);
	free(set);
}

static struct transfer *add(struct set *set, uint32_t group, int64_t step, int64_t transfer_ns)
{
	struct transfer *transfer = &set->transfers[set->list.count];

	assert_true(set->list.count < MAX_TRANSFERS);
	*transfer = (struct transfer){
		.bytes = 1048576,
		.group_size = 2,
		.step = step,
		.transfer_ns = transfer_ns,
		.match = (uint32_t)set->list.count++,
		.group = group,
		.kind = COLLECTIVE_ALL_REDUCE,
	};
	return transfer;
}

static void find(struct set *set)
{
	tsi_arena_deinit(&set->arena);
	tsi_link_list_fill(&set->links, &set->list, &set->world, &set->arena);
	assert_false(set->arena.has_failed);
}

static const struct link *link_of(const struct set *set, uint32_t group)
{
	for (size_t i = 0; i < set->links.count; i++)
		if (set->links.items[i].first->group == group)
			return &set->links.items[i];
	fail_msg("no link of group %u", group);
	return NULL;
}

/* A bit for each group that has a slow link. */
static unsigned slow_groups(const struct set *set)
{
	unsigned groups = 0;

	for (size_t i = 0; i < set->links.count; i++)
		if (tsi_is_slow_link(&set->links.items[i]))
			groups |= 1U << set->links.items[i].first->group;
	return groups;
}

/* Groups that need so long in each of so many steps, twice in each. */
static struct set *steady_set(const int64_t *transfer_ns, size_t group_count, int64_t step_count)
{
	struct set *set = new_set(group_count);

	for (uint32_t group = 0; group < group_count; group++)
		for (int64_t i = 0; i < 2 * step_count; i++)
			add(set, group, i / 2, transfer_ns[group]);
	return set;
}

TEST(a_link_by_hand)
{
	static const int64_t transfer_ns[] = { 100, 104, 150, 96 };
	struct set *set = steady_set(transfer_ns, 4, 5);
	const struct link *slow;

	find(set);
	slow = link_of(set, 2);
	assert_int_equal(set->links.count, 4);
	assert_int_equal(slow->count, 10);
	assert_int_equal(slow->median_ns, 150);
	assert_int_equal(slow->total_ns, 1500);
	/* Of 100, 104 and 96 the median is 100. The most time comes first. */
	check_near(slow->slowdown, 0.5);
	assert_ptr_equal(slow, &set->links.items[0]);
	/* 50 more, twice a step. */
	check_near(slow->excess_ns_per_step, 100);
	assert_true(slow->p_value < 0.001);
	/* Of 104, 150 and 96: 100 ÷ 104 − 1. */
	check_near(link_of(set, 0)->slowdown, 100 / 104.0 - 1);
	assert_int_equal(slow_groups(set), 1 << 2);
	free_set(set);
}

/* The median of two others lies between them. */
TEST(of_three_links)
{
	static const int64_t transfer_ns[] = { 100, 120, 220 };
	struct set *set = steady_set(transfer_ns, 3, 8);

	find(set);
	check_near(link_of(set, 2)->slowdown, 1.0);
	assert_int_equal(slow_groups(set), 1 << 2);
	free_set(set);
}

TEST(at_the_thresholds)
{
	static const struct {
		int64_t slow_ns, step_count;
		unsigned groups;
	} cases[] = {
		{ 1100, 10, 1 << 3 },
		{ 1099, 10, 0 },
		{ 1100, 2, 1 << 3 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		int64_t transfer_ns[] = { 1000, 1000, 1000, cases[i].slow_ns };
		struct set *set = steady_set(transfer_ns, 4, cases[i].step_count);

		find(set);
		assert_int_equal(slow_groups(set), cases[i].groups);
		free_set(set);
	}
}

/* What differs in kind, size, ranks or span is not alike, and two alone prove nothing. */
TEST(likes_only)
{
	for (int what = 0; what < 6; what++) {
		static const int64_t transfer_ns[] = { 100, 100, 150 };
		struct set *set = steady_set(transfer_ns, what == 5 ? 2 : 3, 10);

		for (size_t i = 0; i < set->list.count; i++) {
			struct transfer *transfer = &set->transfers[i];
			bool is_other = transfer->group == 1;

			if (what == 0 && is_other)
				transfer->kind = COLLECTIVE_ALL_GATHER;
			else if (what == 1 && is_other)
				transfer->bytes = 1048577;
			else if (what == 2 && is_other)
				transfer->group_size = 3;
			else if (what == 3 && is_other)
				transfer->span = SPAN_INTRA_NODE;
			else if (what == 4)
				transfer->bytes = NO_NUMBER;
		}
		find(set);
		assert_int_equal(set->links.count, what == 4 ? 0 : what == 5 ? 2 : 3);
		for (size_t i = 0; i < set->links.count; i++) {
			assert_true(isnan(set->links.items[i].slowdown));
			assert_true(isnan(set->links.items[i].p_value));
		}
		assert_int_equal(slow_groups(set), 0);
		free_set(set);
	}
}

/* It may have waited for the member that was not read; the others are three yet. */
TEST(a_group_that_was_not_read)
{
	static const int64_t transfer_ns[] = { 100, 100, 100, 150 };

	for (int64_t size = 2; size <= 4; size++) {
		struct set *set = steady_set(transfer_ns, 4, 10);

		set->groups[3].size = size == 4 ? NO_NUMBER : size;
		set->world.rank_count = 8;
		set->world.world_size = 16;
		find(set);
		assert_int_equal(slow_groups(set), size == 2 ? 1 << 3 : 0);
		assert_int_equal(isnan(link_of(set, 3)->slowdown), size != 2);
		check_near(link_of(set, 0)->slowdown, 0);
		free_set(set);
	}
}

/* All 8 ranks of the job were read: nobody else can be in it. */
TEST(a_group_of_unknown_size)
{
	static const int64_t transfer_ns[] = { 100, 100, 100, 150 };
	struct set *set = steady_set(transfer_ns, 4, 10);

	set->groups[3].size = NO_NUMBER;
	set->world.rank_count = 8;
	set->world.world_size = 8;
	find(set);
	assert_int_equal(slow_groups(set), 1 << 3);
	free_set(set);
}

/* One that hardly occurs does not keep the others from being judged. */
TEST(a_rare_link)
{
	static const int64_t transfer_ns[] = { 100, 100, 150 };
	struct set *set = steady_set(transfer_ns, 3, 10);

	set->world.group_count = 4;
	set->groups[3] = set->groups[0];
	add(set, 3, 0, 500);
	find(set);
	assert_int_equal(slow_groups(set), 1 << 2);
	assert_true(isnan(link_of(set, 3)->slowdown));
	free_set(set);
}

/* Both directions of a pair, one after the other in the list: 3 messages a step. */
TEST(directions_of_a_pair)
{
	struct set *set = new_set(3);

	for (uint32_t group = 0; group < 3; group++)
		for (int64_t i = 0; i < 30; i++)
			add(set, group, i < 20 ? i / 2 : i - 20, group == 1 ? 160 : 100);
	find(set);
	check_near(link_of(set, 1)->excess_ns_per_step, 180);
	free_set(set);
}

TEST(steps_are_not_known)
{
	static const int64_t transfer_ns[] = { 100, 100, 150 };
	struct set *set = steady_set(transfer_ns, 3, 10);

	for (size_t i = 0; i < set->list.count; i++)
		set->transfers[i].step = NO_NUMBER;
	find(set);
	assert_true(isnan(link_of(set, 2)->excess_ns_per_step));
	assert_int_equal(slow_groups(set), 0);
	free_set(set);
}

/* All transfers of a step may have been slowed by one thing. */
TEST(one_step_proves_nothing)
{
	static const int64_t transfer_ns[] = { 100, 100, 150 };

	for (int64_t step_count = 1; step_count <= 2; step_count++) {
		struct set *set = steady_set(transfer_ns, 3, 20);

		for (size_t i = 0; i < set->list.count; i++)
			set->transfers[i].step = set->transfers[i].step * step_count / 20;
		find(set);
		check_near(link_of(set, 2)->slowdown, 0.5);
		assert_int_equal(slow_groups(set), step_count == 2 ? 1 << 2 : 0);
		free_set(set);
	}
}

/*
 * A link 1.6, 1.2 and 1.1 times as slow as two steady ones in three steps, 10 times each: the
 * squares of 0.3, -0.1 and -0.2 are 0.14, of 3 × 2 degrees, so that the error of the mean is
 * sqrt(0.14 ÷ 6 ÷ 3) = 0.0882, × (1 + 3/6 + 33/36) is 0.213. It would take 5 times that.
 */
TEST(steps_differ)
{
	static const int64_t slow_ns[] = { 160, 120, 110 };
	struct set *set = new_set(3);

	for (uint32_t group = 0; group < 3; group++)
		for (int64_t i = 0; i < 30; i++)
			add(set, group, i / 10, group == 2 ? slow_ns[i / 10] : 100);
	find(set);
	check_near(link_of(set, 2)->slowdown, 0.2);
	check_near(link_of(set, 2)->error, sqrt(0.14 / 6 / 3) * (1 + 0.5 + 33 / 36.0));
	assert_int_equal(slow_groups(set), 0);
	free_set(set);
}

/*
 * In 1F1B both directions share the link of the last two stages most of the time, and the first
 * two stages' hardly ever: nothing is wrong with it, as long as one message a step has it alone.
 */
TEST(a_link_that_is_shared)
{
	for (int64_t alone_ns = 100; alone_ns <= 120; alone_ns += 10) {
		struct set *set = new_set(3);

		for (uint32_t group = 0; group < 3; group++)
			for (int64_t i = 0; i < 80; i++)
				add(set, group, i / 8,
				    group != 2   ? 100
				    : i % 8 == 7 ? alone_ns
						 : 200);
		find(set);
		check_near(link_of(set, 2)->slowdown, 1);
		check_near(link_of(set, 2)->fastest_slowdown, (double)alone_ns / 100 - 1);
		assert_int_equal(slow_groups(set), alone_ns == 100 ? 0 : 1 << 2);
		free_set(set);
	}
}

/* Each family of likes is one more chance to find something. */
TEST(families_are_corrected_for)
{
	static const int64_t transfer_ns[] = { 100, 100, 100, 150, 100, 100, 100, 100 };
	struct set *one = steady_set(transfer_ns, 4, 5), *two = steady_set(transfer_ns, 8, 5);

	for (size_t i = 0; i < two->list.count; i++)
		two->transfers[i].kind =
			two->transfers[i].group < 4 ? COLLECTIVE_ALL_REDUCE : COLLECTIVE_ALL_GATHER;
	find(one);
	find(two);
	check_near(link_of(two, 3)->p_value, 2 * link_of(one, 3)->p_value);
	free_set(one);
	free_set(two);
}

TEST(no_time_at_all)
{
	static const int64_t none[] = { 0, 0, 0 }, most[] = { INT64_MAX, INT64_MAX, INT64_MAX };
	const int64_t *cases[] = { none, most };

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct set *set = steady_set(cases[i], 3, 10);

		find(set);
		assert_int_equal(slow_groups(set), 0);
		assert_int_equal(link_of(set, 0)->total_ns, i == 0 ? 0 : INT64_MAX);
		free_set(set);
	}
	struct set *set = new_set(0);
	find(set);
	assert_int_equal(set->links.count, 0);
	free_set(set);
}

/* ---- chance ---- */

/*
 * Transfers with lognormal noise of 5 % each and 20 % that the instance has on all links. One link
 * is slower by a factor.
 */
static unsigned named_by_chance(uint64_t *random, size_t link_count, size_t instances, double slow)
{
	struct set *set = new_set(link_count);
	unsigned groups;

	for (size_t k = 0; k < instances; k++) {
		double load = exp(0.2 * random_normal(random));

		for (uint32_t group = 0; group < link_count; group++) {
			double own = load * exp(0.05 * random_normal(random));
			add(set, group, (int64_t)k / 4,
			    (int64_t)(1e6 * own * (group == 1 ? slow : 1)));
		}
	}
	find(set);
	groups = slow_groups(set);
	free_set(set);
	return groups;
}

TEST(healthy_links_are_not_named)
{
	static const struct {
		size_t link_count, instances;
	} shapes[] = { { 3, 12 }, { 4, 40 }, { 8, 20 }, { 16, 100 } };
	uint64_t random = 7;
	unsigned named = 0;

	for (unsigned i = 0; i < 1000; i++)
		for (size_t k = 0; k < TSI_COUNT_OF(shapes); k++)
			named += named_by_chance(&random, shapes[k].link_count, shapes[k].instances,
						 1) != 0;
	assert_true(named <= 4);
}

/* 25 % more is five deviations of one instance, and of the median of four ten. */
/* Each step has 5 % of its own on each link, beside those of each transfer. */
TEST(healthy_links_with_moods_are_not_named)
{
	static const struct {
		size_t link_count, step_count;
	} shapes[] = { { 3, 3 }, { 4, 5 }, { 8, 3 }, { 16, 4 } };
	uint64_t random = 13;
	unsigned named = 0;

	for (unsigned i = 0; i < 1000; i++) {
		size_t link_count = shapes[i % 4].link_count;
		size_t transfer_count = 30 * shapes[i % 4].step_count;
		struct set *set = new_set(link_count);
		double mood = 1;

		for (uint32_t group = 0; group < link_count; group++)
			for (size_t k = 0; k < transfer_count; k++) {
				if (k % 30 == 0)
					mood = exp(0.05 * random_normal(&random));
				add(set, group, (int64_t)k / 30,
				    (int64_t)(1e6 * mood * exp(0.05 * random_normal(&random))));
			}
		find(set);
		named += slow_groups(set) != 0;
		free_set(set);
	}
	assert_true(named <= 1);
}

TEST(a_slow_link_is_named_alone)
{
	uint64_t random = 11;
	unsigned found = 0;

	for (unsigned i = 0; i < 500; i++)
		found += named_by_chance(&random, 8, 20, 1.25) == 1U << 1;
	assert_true(found >= 499);
}

TEST(out_of_memory)
{
	static const int64_t transfer_ns[] = { 100, 100, 150 };

	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		struct set *set = steady_set(transfer_ns, 3, 10);

		alloc_sweep_start(&sweep);
		tsi_link_list_fill(&set->links, &set->list, &set->world, &set->arena);
		alloc_sweep_check(&sweep, tsi_arena_status(&set->arena, &sweep.err));
		free_set(set);
	}
}
