/* SPDX-License-Identifier: MIT */
/* Which ranks are compared with one another. */
#include "analyze/ranks/rank_roles.h"

#include <string.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "world_text.h"

enum { MAX_RANKS = 8 };

static void check_roles(const char *what, const struct analysis_scope *scope, const char *expected)
{
	struct arena arena = { 0 };
	struct rank_roles roles;
	char text[MAX_RANKS + 1] = "";

	tsi_rank_roles_find(&roles, scope, &arena);
	assert_false(arena.has_failed);
	assert_int_equal(roles.rank_count, scope->rank_count);
	assert_true(roles.rank_count <= MAX_RANKS);
	for (size_t i = 0; i < roles.rank_count && i < MAX_RANKS; i++)
		text[i] = (char)('0' + roles.roles[i]);
	if (strcmp(text, expected) != 0)
		fail_msg("%s: %s, not %s", what, text, expected);
	tsi_arena_deinit(&arena);
}

TEST(stages_that_are_said)
{
	static const struct {
		unsigned stage_count;
		size_t rank_count;
		const char *roles;
	} cases[] = {
		{ 0, 4, "0000" }, { 1, 4, "0000" }, { 2, 4, "0011" },
		{ 4, 4, "0123" }, { 3, 4, "0000" }, { 3, 6, "001122" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_analysis_options options = { .pipeline_stages =
								   cases[i].stage_count };
		struct analysis_scope scope = { .rank_count = cases[i].rank_count,
						.options = &options };
		check_roles("stages", &scope, cases[i].roles);
	}
}

#define STEP "step 1 0 100\n"
#define SUM(start, size)                                                                           \
	"all_reduce " #start " 90 group=dp ranks=0,1,2 seq=" #start " bytes=" #size "\n"
#define SEND(start, end, ranks, peer)                                                              \
	"send_recv " #start " " #end " send ranks=" ranks " peer=" #peer " bytes=8\n"
#define RECEIVE(start, end, ranks, peer)                                                           \
	"send_recv " #start " " #end " ranks=" ranks " peer=" #peer " bytes=8\n"

/* Four stages a, b, c, d, one microbatch there and back; those in the middle do the same. */
#define PIPELINE(a, b, c, d, ab, bc, cd)                                                           \
	"rank " #a                                                                                 \
	"\n" STEP SEND(0, 10, ab, b) RECEIVE(80, 90, ab, b) "rank " #b "\n" STEP RECEIVE(          \
		0, 10, ab, a) SEND(20, 30, bc, c) RECEIVE(60, 70, bc, c)                           \
		SEND(80, 90, ab, a) "rank " #c "\n" STEP RECEIVE(20, 30, bc, b)                    \
			SEND(40, 45, cd, d) RECEIVE(50, 55, cd, d)                                 \
				SEND(60, 70, bc, b) "rank " #d "\n" STEP RECEIVE(40, 45, cd, c)    \
					SEND(50, 55, cd, c)

static const struct {
	const char *what, *world, *roles;
} worlds[] = {
	{ "sizes do not count",
	  "rank 0\n" STEP SUM(10, 8) "rank 1\n" STEP SUM(10, 8) "rank 2\n" STEP SUM(10, 99),
	  "000" },
	{ "one does more",
	  "rank 0\n" STEP SUM(10, 8) "rank 1\n" STEP SUM(10, 8)
		  SUM(20, 8) "rank 2\n" STEP SUM(10, 8),
	  "010" },
	{ "one does none", "rank 0\n" STEP SUM(10, 8) "rank 1\n" STEP "rank 2\n" STEP SUM(10, 8),
	  "010" },
	/* What is done in most steps counts. */
	{ "one is cut off",
	  "rank 0\nstep 1 0 100\nstep 2 100 200\nstep 3 200 300\n"
	  "barrier 10 20 size=2\nbarrier 110 120 size=2\nbarrier 210 220 size=2\n"
	  "rank 1\nstep 1 0 100\nstep 2 100 200\nstep 3 200 300\n"
	  "barrier 110 120 size=2\nbarrier 210 220 size=2\n",
	  "00" },
	/* In steps that count. */
	{ "a warm-up",
	  "rank 0\nstep 1 0 100 warmup\nstep 2 100 200 warmup\nstep 3 200 300\n"
	  "barrier 210 220 size=2\n"
	  "rank 1\nstep 1 0 100 warmup\nstep 2 100 200 warmup\nstep 3 200 300\n"
	  "barrier 10 20 size=2\nbarrier 110 120 size=2\nbarrier 210 220 size=2\n",
	  "00" },
	{ "hosts beside devices", "rank 0\n" STEP "rank 1 host\n" STEP "rank 2\n" STEP, "010" },
	{ "two stages",
	  "rank 0\n" STEP SEND(0, 10, "0,1", 1) RECEIVE(50, 60, "0,1", 1) "rank 1\n" STEP RECEIVE(
		  0, 10, "0,1", 0) SEND(50, 60, "0,1", 0),
	  "01" },
	{ "a ring",
	  "rank 0\n" STEP SEND(0, 10, "0,1", 1) RECEIVE(1, 11, "0,1", 1) "rank 1\n" STEP RECEIVE(
		  0, 10, "0,1", 0) SEND(1, 11, "0,1", 0),
	  "00" },
	{ "four stages", PIPELINE(0, 1, 2, 3, "0,1", "1,2", "2,3"), "0123" },
	{ "two pipelines",
	  PIPELINE(0, 1, 2, 3, "0,1", "1,2", "2,3") PIPELINE(4, 5, 6, 7, "4,5", "5,6", "6,7"),
	  "01230123" },
};

TEST(what_ranks_do)
{
	struct tscope_analysis_options options = { 0 };

	for (size_t i = 0; i < TSI_COUNT_OF(worlds); i++) {
		struct test_world *w = test_world(worlds[i].world);
		struct analysis_scope scope = { .ranks = w->series,
						.rank_count = w->rank_count,
						.world = w->world,
						.options = &options };

		check_roles(worlds[i].what, &scope, worlds[i].roles);
	}
}

TEST(memory_ends)
{
	struct test_world *w = test_world(PIPELINE(0, 1, 2, 3, "0,1", "1,2", "2,3"));
	struct tscope_analysis_options options = { 0 };
	struct analysis_scope scope = { .ranks = w->series,
					.rank_count = w->rank_count,
					.world = w->world,
					.options = &options };

	struct alloc_sweep sweep = { .at_least = 2 };
	while (alloc_sweep_next(&sweep)) {
		struct arena arena = { 0 };
		struct rank_roles roles;

		alloc_sweep_start(&sweep);
		tsi_rank_roles_find(&roles, &scope, &arena);
		alloc_sweep_check(&sweep, tsi_arena_status(&arena, &sweep.err));
		tsi_arena_deinit(&arena);
	}
}
