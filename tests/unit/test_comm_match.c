/* SPDX-License-Identifier: MIT */
/* Matches of groups and pairs, and what they say. */
#include "fail_alloc.h"
#include "match_check.h"

#include <math.h>

#include "base/attributes.h"
#include "check.h"

/* ---- what is left out ---- */

TEST(cut_ops)
{
	static const struct match_case cases[] = {
		/* The first is cut on rank 0, the last on rank 1, where it keeps its place. */
		{ "rank 0\n1 step=1 cut\n2 step=1\n3 step=1\n4 step=1\n"
		  "rank 1\n1 step=1\n2 step=1\n3 step=1\n4 step=1 cut\n",
		  "g: 2 matched 2 cut\n2=2 3=3\n" },
		/* Cut on both: once. */
		{ "rank 0\n1 cut\n2\n"
		  "rank 1\n1 cut\n2\n",
		  "g: 1 matched 1 cut\n2=2\n" },
	};

	check_matches(cases, TSI_COUNT_OF(cases), "0,1");
}

TEST(groups_of_one)
{
	static const struct match_case cases[] = {
		/* Rank 1 was not read. */
		{ "rank 0\n1\n2\n"
		  "rank 2\n"
		  "all_reduce 1 2 group=h ranks=2,3\n",
		  "g:\nh:\n" },
	};

	check_matches(cases, TSI_COUNT_OF(cases), "0,1");
}

/* Two groups of the same ranks have each their own sequence. */
TEST(equal_members)
{
	static const struct match_case cases[] = {
		{ "rank 0\n1\n"
		  "all_reduce 2 9 group=h ranks=0,1\n3\n"
		  "rank 1\n1\n2\n"
		  "all_reduce 3 9 group=h ranks=0,1\n",
		  "g: 2 matched\nh: 1 matched\n1=1 3=2 2=3\n" },
	};

	check_matches(cases, TSI_COUNT_OF(cases), "0,1");
}

/* ---- sends and receives ---- */

TEST(messages)
{
	static const struct match_case cases[] = {
		/* Rank 0 sends 8 and 16 to rank 1, which sends 24 back. */
		{ "rank 0\n"
		  "send_recv 1 2 group=pp ranks=0,1,2 send peer=1 bytes=8\n"
		  "send_recv 3 4 group=pp ranks=0,1,2 peer=1 bytes=24\n"
		  "send_recv 5 6 group=pp ranks=0,1,2 send peer=1 bytes=16\n"
		  "rank 1\n"
		  "send_recv 1 2 group=pp ranks=0,1,2 send peer=0 bytes=24\n"
		  "send_recv 2 3 group=pp ranks=0,1,2 peer=0 bytes=8\n"
		  "send_recv 3 4 group=pp ranks=0,1,2 peer=0 bytes=16\n"
		  "send_recv 5 6 group=pp ranks=0,1,2 send peer=2 bytes=1\n"
		  "rank 2\n"
		  "send_recv 5 6 group=pp ranks=0,1,2 peer=1 bytes=1\n",
		  "pp: 3 matched\npp: 1 matched\n1=2 5=3 3=1 5=5\n" },
		/* Another size has arrived than was sent. */
		{ "rank 0\n"
		  "send_recv 1 2 group=pp ranks=0,1 send peer=1 bytes=8\n"
		  "send_recv 3 4 group=pp ranks=0,1 send peer=1 bytes=16\n"
		  "rank 1\n"
		  "send_recv 1 2 group=pp ranks=0,1 peer=0 bytes=8\n"
		  "send_recv 3 4 group=pp ranks=0,1 peer=0 bytes=24\n",
		  "pp: 1 matched 1 mismatched\n1=1\n" },
		/* To a rank that was not read, to itself, and from one that never sent. */
		{ "rank 0\n"
		  "send_recv 1 2 group=pp ranks=0,1,2 send peer=2 bytes=8\n"
		  "send_recv 3 4 group=pp ranks=0,1,2 send peer=1 bytes=8\n"
		  "rank 1\n"
		  "send_recv 1 2 group=pp ranks=0,1,2 send peer=2 bytes=8\n",
		  "" },
		/* With nobody named, as an all-to-all made of messages: all ranks do the same. */
		{ "rank 0\n"
		  "send_recv 1 2 group=ep ranks=0,1\n"
		  "all_reduce 3 4 group=ep ranks=0,1\n"
		  "rank 1\n"
		  "all_reduce 1 2 group=ep ranks=0,1\n"
		  "send_recv 3 4 group=ep ranks=0,1\n",
		  "ep: 2 matched\n3=1 1=3\n" },
		/* Stages of a pipeline that do not say whom they send to: nothing is said. */
		{ "rank 0\n"
		  "send_recv 1 2 group=pp ranks=0,1,2 bytes=8\n"
		  "send_recv 2 3 group=pp ranks=0,1,2 bytes=8\n"
		  "rank 1\n"
		  "send_recv 1 2 group=pp ranks=0,1,2 bytes=8\n"
		  "send_recv 2 3 group=pp ranks=0,1,2 bytes=9\n"
		  "send_recv 3 4 group=pp ranks=0,1,2 bytes=9\n"
		  "rank 2\n"
		  "send_recv 2 3 group=pp ranks=0,1,2 bytes=9\n",
		  "pp:\n" },
		{ "rank 0\n"
		  "send_recv 1 2 group=pp ranks=0,1 bytes=8\n"
		  "send_recv 2 3 group=pp ranks=0,1 bytes=9\n"
		  "send_recv 3 4 group=pp ranks=0,1 bytes=8\n"
		  "rank 1\n"
		  "send_recv 1 2 group=pp ranks=0,1 bytes=8\n"
		  "send_recv 2 3 group=pp ranks=0,1 bytes=7\n"
		  "send_recv 3 4 group=pp ranks=0,1 bytes=8\n",
		  "pp:\n" },
	};

	check_matches(cases, TSI_COUNT_OF(cases), "0,1");
}

/* ---- what a match says ---- */

static const struct match *only_match(struct test_world *w)
{
	find_matches(w);
	assert_int_equal(w->world->match_count, 1);
	return w->world->matches;
}

TEST(what_a_match_says)
{
	struct test_world *w = test_world_of_logs(
		"rank 0\nall_to_all 10 50 group=g ranks=0,1 step=3 bytes=64 bus=32\n"
		"rank 1\nall_to_all 35 51 group=g ranks=0,1 step=3 bytes=128 bus=16\n");
	const struct match *match = only_match(w);

	/* Durations 40 and 16. Parts may be unequal: the larger is the match's. */
	assert_int_equal(match->transfer_ns, 16);
	assert_int_equal(match->bytes, 128);
	assert_float_equal(match->bus_bytes, 32, 0);
	assert_int_equal(match->step, 3);
	assert_int_equal(match->kind, COLLECTIVE_ALL_TO_ALL);
	assert_true(match->is_synchronising);
	assert_int_equal(w->world->members[0].wait_ns, 24);
	assert_int_equal(w->world->members[1].wait_ns, 0);

	/* Who sends a broadcast need not wait for anybody. */
	w = test_world_of_logs("rank 0\nbroadcast 10 50 group=g ranks=0,1\n"
			       "rank 1\nbroadcast 35 51 group=g ranks=0,1\n");
	match = only_match(w);
	assert_int_equal(match->transfer_ns, 16);
	assert_int_equal(match->bytes, NO_NUMBER);
	assert_true(isnan(match->bus_bytes));
	assert_int_equal(match->step, NO_NUMBER);
	assert_false(match->is_synchronising);
	assert_int_equal(w->world->members[0].wait_ns, 0);
}

TEST(absurd_numbers)
{
	static const struct match_case cases[] = {
		{ "rank 0\n"
		  "all_reduce -9223372036854775808 -1 group=g ranks=0,1 bytes=-1 seq=-1\n"
		  "all_reduce 0 9223372036854775807 group=g ranks=0,1 bytes=0\n"
		  "rank 1\n"
		  "all_reduce 5 5 group=g ranks=0,1 bytes=-1 seq=-1\n"
		  "all_reduce 9223372036854775806 9223372036854775807 group=g ranks=0,1 bytes=0\n",
		  "g: 2 matched\n-9223372036854775808=5 0=9223372036854775806\n" },
		/* Steps that go backwards order nothing. */
		{ "rank 0\n1 step=5\n2 step=4\n"
		  "rank 1\n1 step=5\n2 step=4\n",
		  "g: 2 matched\n1=1 2=2\n" },
	};

	check_matches(cases, TSI_COUNT_OF(cases), "0,1");
}

TEST(out_of_memory)
{
	/* By step with one missing, then by order, as it does not go on alike; and a message. */
	static const struct match_case c = {
		"rank 0\n1 step=1 bytes=8\n2 step=1 bytes=9\n3 step=1 bytes=10\n"
		"send_recv 3 4 group=pp ranks=0,1 send peer=1\n"
		"rank 1\n1 step=1 bytes=8 dtype=Half\n3 step=1 bytes=10\n"
		"send_recv 3 4 group=pp ranks=0,1 peer=0\n",
		"",
	};

	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		struct test_world *w = match_world(&c, "0,1");

		assert_int_equal(test_stage(tsi_world_find_groups, w->world, NULL), TSCOPE_OK);
		alloc_sweep_try(&sweep, test_stage(tsi_world_find_matches, w->world, &sweep.err));
	}
}
