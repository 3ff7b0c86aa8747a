/* SPDX-License-Identifier: MIT */
/* Process groups of a run: out of what ranks say of them, or of what their ops did. */
#include "fail_alloc.h"
#include "match_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"

static size_t count_ops(const struct world *world, uint32_t rank, size_t group)
{
	size_t count = 0;

	for (size_t i = 0; i < world->logs[rank].op_count; i++)
		count += world->group_of_op[rank][i] == group;
	return count;
}

/* "dp 0:3 2:3 of 4": each rank with the number of its ops; further words for what else is said. */
static void add_groups(struct test_text *text, const struct world *world)
{
	for (size_t i = 0; i < world->group_count; i++) {
		const struct process_group *group = &world->groups[i];

		test_text_add(text, "%s", group->name);
		for (uint32_t k = 0; k < group->rank_count; k++)
			test_text_add(text, " %" PRId64 ":%zu", world->logs[group->ranks[k]].rank,
				      count_ops(world, group->ranks[k], i));
		if (group->size != NO_NUMBER)
			test_text_add(text, " of %" PRId64, group->size);
		for (uint32_t k = 0; k < group->member_count; k++)
			test_text_add(text, "%s%" PRId64, k > 0 ? "," : " ", group->members[k]);
		test_text_add(text, "%s%s\n", group->is_inferred ? " inferred" : "",
			      group->is_point_to_point ? " pair" : "");
	}
}

static void check_groups(struct test_world *w, const char *expected)
{
	struct test_text text = { 0 };

	assert_int_equal(test_stage(tsi_world_find_groups, w->world, NULL), TSCOPE_OK);
	add_groups(&text, w->world);
	assert_string_equal(text.bytes, expected);
}

struct group_case {
	const char *ranks, *expected;
};

static void check_cases(const struct group_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_groups(test_world_of_logs(cases[i].ranks), cases[i].expected);
}

/* ---- groups that state their members ---- */

TEST(members_and_names)
{
	static const struct group_case cases[] = {
		/* Names differ between ranks: the members are the group. */
		{ "rank 0\nall_reduce 1 2 name=5 ranks=0,1\n"
		  "rank 1\nall_reduce 1 2 name=7 ranks=0,1\n",
		  "5 0:1 1:1 of 2 0,1\n" },
		/* Other descriptions are other groups; that of rank 1 has two ops. */
		{ "rank 0\nall_reduce 1 2 group=dp ranks=0,1\nall_reduce 3 4 group=tp ranks=0,1\n"
		  "rank 1\nall_reduce 1 2 group=tp ranks=0,1\nall_reduce 3 4 group=dp ranks=0,1\n"
		  "all_reduce 5 6 group=dp ranks=0,1\n",
		  "dp 0:1 1:2 of 2 0,1\ntp 0:1 1:1 of 2 0,1\n" },
		/* Two of one description, of whose names both ranks know "1". */
		{ "rank 0\nall_reduce 1 2 group=dp name=1 ranks=0,1\n"
		  "all_reduce 3 4 group=dp name=2 ranks=0,1\n"
		  "rank 1\nall_reduce 1 2 group=dp name=1 ranks=0,1\n",
		  "dp 0:1 1:1 of 2 0,1\ndp 0:1 of 2 0,1\n" },
		/* Two, but no name is on both ranks: nothing says which is which. */
		{ "rank 0\nall_reduce 1 2 name=1 ranks=0,1\nall_reduce 3 4 name=2 ranks=0,1\n"
		  "rank 1\nall_reduce 1 2 name=3 ranks=0,1\nall_reduce 3 4 name=4 ranks=0,1\n",
		  "1 0:2 1:2 of 2 0,1\n" },
		/* "undefined" is no description. */
		{ "rank 0\nall_reduce 1 2 group=undefined name=1 ranks=0,1\n"
		  "rank 1\nall_reduce 1 2 name=1 ranks=0,1\n",
		  "1 0:1 1:1 of 2 0,1\n" },
		/* Rank 7 was not read; rank 3 did nothing. */
		{ "rank 2\nall_reduce 1 2 group=dp ranks=2,3,5,7\n"
		  "rank 3\n"
		  "rank 5\nall_reduce 1 2 group=dp ranks=2,3,5,7\n",
		  "dp 2:1 5:1 of 4 2,3,5,7\n" },
		/* Equal descriptions, other members. */
		{ "rank 0\nall_reduce 1 2 group=tp ranks=0,1\n"
		  "rank 1\nall_reduce 1 2 group=tp ranks=0,1\n"
		  "rank 2\nall_reduce 1 2 group=tp ranks=2,3\n",
		  "tp 0:1 1:1 of 2 0,1\ntp 2:1 of 2 2,3\n" },
	};

	check_cases(cases, TSI_COUNT_OF(cases));
}

TEST(contradictions)
{
	static const struct group_case cases[] = {
		/* Rank 1 is not in the list that it has: it only has the name in common. */
		{ "rank 0\nall_reduce 1 2 group=dp ranks=0,1\n"
		  "rank 1\nall_reduce 1 2 group=dp ranks=0,2\n",
		  "dp 0:1 of 2 0,1\ndp 1:1 of 2 inferred\n" },
		/* Ranks that there cannot be. */
		{ "rank 0\nall_reduce 1 2 group=dp "
		  "ranks=-9223372036854775807,0,9223372036854775807\n"
		  "rank 1\n",
		  "dp 0:1 of 3 -9223372036854775807,0,9223372036854775807\n" },
		/* The lists differ: each rank is alone with its own. */
		{ "rank 0\nall_reduce 1 2 group=dp ranks=0,1\n"
		  "rank 1\nall_reduce 1 2 group=dp ranks=0,1,2\n",
		  "dp 0:1 of 2 0,1\ndp 1:1 of 3 0,1,2\n" },
		/* No rank does anything. */
		{ "rank 0\nrank 1\n", "" },
	};

	check_cases(cases, TSI_COUNT_OF(cases));
}

/* ---- pairs ---- */

TEST(pairs_of_messages)
{
	static const struct group_case cases[] = {
		{ "rank 0\nsend_recv 1 2 group=pp ranks=0,1,2 send peer=1\n"
		  "all_reduce 3 4 group=pp ranks=0,1,2\n"
		  "rank 1\nsend_recv 1 2 group=pp ranks=0,1,2 peer=0\n"
		  "send_recv 3 4 group=pp ranks=0,1,2 send peer=2\n"
		  "rank 2\nsend_recv 1 2 group=qq ranks=0,2 peer=1\n",
		  "pp 0:1 of 3 0,1,2\npp 0:1 1:1 of 2 0,1 pair\npp 1:1 2:1 of 2 1,2 pair\n" },
		/* To one that was not read, to itself, and one that nobody received. */
		{ "rank 0\nsend_recv 1 2 group=pp ranks=0,1 send peer=5\n"
		  "send_recv 3 4 group=pp ranks=0,1 send peer=1\n"
		  "rank 1\nsend_recv 1 2 group=pp ranks=0,1 send peer=1\n",
		  "pp 1:1 of 2 0,1\n" },
	};

	check_cases(cases, TSI_COUNT_OF(cases));
}

/* ---- groups of which only a name is known ---- */

/*
 * Two pairs that both call themselves tp: 0 and 2 end together, 1 and 3 do, with clocks that differ
 * by 1 ms and by 5 µs.
 */
static const char two_pairs[] = "rank 0\n"
				"all_reduce 100000 110000 OF0\nall_reduce 260000 270000 OF0\n"
				"all_reduce 300000 310000 OF0\nall_reduce 490000 500000 OF0\n"
				"rank 1\n"
				"all_reduce 150000 160000 OF1\nall_reduce 210000 220000 OF1\n"
				"all_reduce 380000 390000 OF1\nall_reduce 420000 430000 OF1\n"
				"rank 2\n"
				"all_reduce 1100000 1110000 OF2\nall_reduce 1261000 1271000 OF2\n"
				"all_reduce 1299000 1309000 OF2\nall_reduce 1490000 1500000 OF2\n"
				"rank 3\n"
				"all_reduce 155000 165000 OF3\nall_reduce 215000 225000 OF3\n"
				"all_reduce 384000 394000 OF3\nall_reduce 426000 436000 OF3\n";

/* The text with OF0 … OF3 replaced by what each rank says of its group. */
static struct test_world *world_with(const char *const *said)
{
	struct test_text text = { 0 };

	for (const char *p = two_pairs; *p;) {
		if (strncmp(p, "OF", 2) == 0) {
			test_text_add(&text, "%s", said[p[2] - '0']);
			p += 3;
		} else {
			test_text_add(&text, "%c", *p++);
		}
	}
	return test_world_of_logs(text.bytes);
}

TEST(ends_tell_pairs)
{
	static const struct {
		const char *said[4], *expected;
	} cases[] = {
		/* Four ranks share the name, two are a group: those that end together. */
		{ { "group=tp size=2", "group=tp size=2", "group=tp size=2", "group=tp size=2" },
		  "tp 0:4 2:4 of 2 inferred\ntp 1:4 3:4 of 2 inferred\n" },
		/* As many as the size says: they would have to have ended together. */
		{ { "group=tp size=4", "group=tp size=4", "group=tp size=4", "group=tp size=4" },
		  "tp 0:4 2:4 of 4 inferred\ntp 1:4 3:4 of 4 inferred\n" },
		/* The same without a name. */
		{ { "", "", "", "" }, " 0:4 2:4 inferred\n 1:4 3:4 inferred\n" },
		/* Names tell enough. */
		{ { "name=a", "name=b", "name=a", "name=b" },
		  "a 0:4 2:4 inferred\nb 1:4 3:4 inferred\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		check_groups(world_with(cases[i].said), cases[i].expected);
}

/*
 * Ops of two groups of a rank that are alike in all but the size of the group, as of versions that
 * say nothing else: four of all ranks, four of pairs that end up to 170 000 ns from one another.
 */
static void add_sized_ops(struct test_text *text, int rank)
{
	test_text_add(text, "rank %d\n", rank);
	for (int i = 0; i < 4; i++)
		test_text_add(text, "all_reduce %d000 %d000 bytes=8 size=4\n",
			      700 + rank + 50 * i * i, 710 + 50 * i * i);
	for (int i = 0; i < 4; i++) {
		int start = 5000 + 600 * i + (rank % 2 ? 170 * (i % 2) : 90 * (i % 3));

		test_text_add(text, "all_reduce %d000 %d000 bytes=8 size=2\n", start, start + 10);
	}
}

TEST(sizes_tell_groups_apart)
{
	struct test_text text = { 0 };

	for (int rank = 0; rank < 4; rank++)
		add_sized_ops(&text, rank);
	check_groups(test_world_of_logs(text.bytes), " 0:4 1:4 2:4 3:4 of 4 inferred\n"
						     " 0:4 2:4 of 2 inferred\n"
						     " 1:4 3:4 of 2 inferred\n");
}

TEST(names_without_members)
{
	static const struct group_case cases[] = {
		/* They can have done it together; one instance says nothing against it. */
		{ "rank 0\nall_reduce 1 9 group=dp size=4\n"
		  "rank 1\nall_reduce 5 9 group=dp size=4\n",
		  "dp 0:1 1:1 of 4 inferred\n" },
		/* They differ all the time: that is to be counted, not a reason to part them. */
		{ "rank 0\nall_reduce 1 9 group=dp bytes=8\nall_reduce 11 19 group=dp bytes=8\n"
		  "rank 1\nall_reduce 5 9 group=dp bytes=16\nall_reduce 15 19 group=dp bytes=16\n",
		  "dp 0:2 1:2 inferred\n" },
		/* Three share the name, two are a group, and nothing tells which. */
		{ "rank 0\nall_reduce 1 9 group=tp size=2\n"
		  "rank 1\nall_reduce 1 9 group=tp size=2\n"
		  "rank 2\nall_reduce 1 9 group=tp size=2\n",
		  "" },
		/* All three end together: no more than two can be a group. */
		{ "rank 0\nall_reduce 1 9 group=tp size=2\nall_reduce 11 19 group=tp size=2\n"
		  "rank 1\nall_reduce 1 9 group=tp size=2\nall_reduce 11 19 group=tp size=2\n"
		  "rank 2\nall_reduce 1 9 group=tp size=2\nall_reduce 11 19 group=tp size=2\n",
		  "tp 0:2 1:2 of 2 inferred\n" },
		/* One rank alone. */
		{ "rank 0\nall_reduce 1 9 group=dp\nrank 1\n", "dp 0:1 inferred\n" },
		/* Nobody says anything, and there is nothing in common. */
		{ "rank 0\nall_reduce 1 9 bytes=8\nrank 1\nall_reduce 1 9 bytes=16\n", "" },
		{ "rank 0\nall_reduce 1 9\nrank 1\nall_reduce 5 9\nrank 2\nall_reduce 5 9\n",
		  " 0:1 1:1 2:1 inferred\n" },
	};

	check_cases(cases, TSI_COUNT_OF(cases));
}

TEST(size_of_the_world)
{
	struct test_world *w = test_world_of_logs("rank 0\nall_reduce 1 9 group=dp size=2\n"
						  "rank 1\nall_reduce 5 9 group=dp size=2\n");

	w->world->world_size = 2;
	check_groups(w, "dp 0:1 1:1 of 2\n"); /* no other ranks could be meant */

	/* Whatever the clocks say. */
	static const char *const said[] = { "group=dp size=4", "group=dp size=4", "group=dp size=4",
					    "group=dp size=4" };
	w = world_with(said);
	w->world->world_size = 4;
	check_groups(w, "dp 0:4 1:4 2:4 3:4 of 4\n");
}

/* ---- ops that say nothing, and groups that are known ---- */

static uint32_t add_name(struct rank_log *log, const char *text)
{
	uint32_t id;

	assert_int_equal(tsi_intern_add(&log->names, tsi_str_of(text), &id, NULL), TSCOPE_OK);
	return id;
}

/* A group that a rank knows, whether its ops name it or not: ranks [first, end) with a stride. */
static void list_group(struct rank_log *log, const char *name, int64_t first, int64_t end,
		       int64_t stride)
{
	struct rank_group group = { .description = add_name(log, name),
				    .first_member = (uint32_t)log->member_count };

	for (int64_t rank = first; rank < end; rank += stride) {
		tsi_rank_log_add_member(log, rank);
		group.member_count++;
	}
	group.size = group.member_count;
	struct rank_group *added = tsi_arena_push(&log->arena, &log->groups, &log->group_count,
						  &log->group_capacity, sizeof(*added));
	assert_non_null(added);
	*added = group;
}

/* All know the world of four; with pairs, 0 and 2 also tp0, 1 and 3 tp1. */
static void list_groups(struct test_world *w, bool with_pairs)
{
	for (size_t i = 0; i < w->rank_count; i++) {
		list_group(&w->logs[i], "world", 0, 4, 1);
		if (with_pairs)
			list_group(&w->logs[i], i % 2 ? "tp1" : "tp0", (int64_t)i % 2, 4, 2);
	}
}

TEST(known_groups)
{
	static const char *const nothing[] = { "", "", "", "" };
	static const char *const sizes[] = { "bytes=8", "bytes=8", "bytes=8", "bytes=8" };
	struct test_world *w = world_with(nothing);

	list_groups(w, true);
	check_groups(w, "tp0 0:4 2:4 of 2 0,2 inferred\ntp1 1:4 3:4 of 2 1,3 inferred\n");

	/* Beside them ops of another size that all four end together: those are the world's. */
	struct test_text text = { 0 };
	static const int starts[] = { 700, 703, 701, 700 };
	for (int rank = 0; rank < 4; rank++) {
		test_text_add(&text, "rank %d\n", rank);
		for (int i = 0; i < 4; i++)
			test_text_add(&text, "all_reduce %d000 %d000 bytes=16\n",
				      starts[rank] + 50 * i * i, 710 + 50 * i * i);
		for (int i = 0; i < 4; i++) /* of the pairs: at most 9 of the world's 10 apart */
			test_text_add(&text, "all_reduce %d000 %d000 bytes=8\n",
				      5000 + 600 * i + (rank % 2 ? 170 * (i % 2) : 90 * (i % 3)),
				      5010 + 600 * i + (rank % 2 ? 170 * (i % 2) : 90 * (i % 3)));
	}
	w = test_world_of_logs(text.bytes);
	list_groups(w, true);
	check_groups(w, "world 0:4 1:4 2:4 3:4 of 4 0,1,2,3 inferred\n"
			"tp0 0:4 2:4 of 2 0,2 inferred\ntp1 1:4 3:4 of 2 1,3 inferred\n");

	/* What all four did is no group of four where its size is said to be two. */
	w = test_world_of_logs("rank 0\nall_reduce 10 20 size=2\nall_reduce 50 60 size=2\n"
			       "rank 1\nall_reduce 10 20 size=2\nall_reduce 50 60 size=2\n"
			       "rank 2\nall_reduce 10 20 size=2\nall_reduce 50 60 size=2\n"
			       "rank 3\nall_reduce 10 20 size=2\nall_reduce 50 60 size=2\n");
	list_groups(w, true);
	check_groups(w, "tp0 0:2 2:2 of 2 0,2 inferred\ntp1 1:2 3:2 of 2 1,3 inferred\n");

	/* Where there is but one group, nothing is to be inferred, but it must be possible. */
	w = test_world_of_logs("rank 0\nall_reduce 10 20\nall_reduce 50 60\n"
			       "rank 1\nall_reduce 15 20\nall_reduce 50 60\n"
			       "rank 2\nall_reduce 10 20\nall_reduce 55 60\n"
			       "rank 3\nall_reduce 10 20\nall_reduce 50 61\n");
	list_groups(w, false);
	check_groups(w, "world 0:2 1:2 2:2 3:2 of 4 0,1,2,3\n");
	w = world_with(sizes);
	list_groups(w, false);
	check_groups(w, "");
}

/*
 * Nothing contradicts that all four did it together, since 0 and 3 take long; but ends of 0 and 2
 * agree to the ns, as those of 1 and 3, and the others differ by 30 µs to one side and the other.
 */
TEST(ends_are_better_in_parts)
{
	struct test_world *w =
		test_world_of_logs("rank 0\nall_reduce 0 100000\nall_reduce 1000000 1100000\n"
				   "all_reduce 2000000 2100000\nall_reduce 3000000 3100000\n"
				   "rank 1\nall_reduce 120000 130000\nall_reduce 1060000 1070000\n"
				   "all_reduce 2120000 2130000\nall_reduce 3060000 3070000\n"
				   "rank 2\nall_reduce 90000 100000\nall_reduce 1090000 1100000\n"
				   "all_reduce 2090000 2100000\nall_reduce 3090000 3100000\n"
				   "rank 3\nall_reduce 30000 130000\nall_reduce 970000 1070000\n"
				   "all_reduce 2030000 2130000\nall_reduce 2970000 3070000\n");

	list_groups(w, true);
	check_groups(w, "tp0 0:4 2:4 of 2 0,2 inferred\ntp1 1:4 3:4 of 2 1,3 inferred\n");
}

TEST(a_member_that_was_not_read)
{
	struct test_world *w = test_world_of_logs("rank 0\nall_reduce 10 20\n"
						  "rank 1\nall_reduce 15 20\n");

	for (size_t i = 0; i < w->rank_count; i++)
		list_group(&w->logs[i], "world", 0, 3, 1);
	check_groups(w, "world 0:1 1:1 of 3 0,1,2\n");
}

/* The group has an op that names it, and others that do not. */
TEST(known_by_name)
{
	check_groups(
		test_world_of_logs("rank 0\nall_reduce 1 9\nall_reduce 11 19 group=dp ranks=0,1\n"
				   "rank 1\nall_reduce 1 9\nall_reduce 11 19 group=dp ranks=0,1\n"),
		"dp 0:2 1:2 of 2 0,1\n");
}

static struct test_world *world_of_names(void)
{
	static const char *const said[] = { "group=tp size=2", "", "group=tp size=2", "" };

	return world_with(said);
}

static struct test_world *world_of_known_groups(void)
{
	static const char *const said[] = { "", "", "", "" };
	struct test_world *w = world_with(said);

	list_groups(w, true);
	return w;
}

static struct test_world *world_of_stated_groups(void)
{
	return test_world_of_logs("rank 0\nall_reduce 1 9 group=dp ranks=0,1\n"
				  "send_recv 3 4 group=dp ranks=0,1 send peer=1\n"
				  "rank 1\nall_reduce 1 9 group=dp ranks=0,1\n"
				  "send_recv 3 4 group=dp ranks=0,1 peer=0\n");
}

TEST(out_of_memory)
{
	static struct test_world *(*const makers[])(void) = {
		world_of_names,
		world_of_known_groups,
		world_of_stated_groups,
	};

	for (size_t i = 0; i < TSI_COUNT_OF(makers); i++) {

		struct alloc_sweep sweep = { 0 };

		while (alloc_sweep_next(&sweep)) {
			struct test_world *w = makers[i]();

			alloc_sweep_try(&sweep,
					test_stage(tsi_world_find_groups, w->world, &sweep.err));
		}
	}
}
