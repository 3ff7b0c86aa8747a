/* SPDX-License-Identifier: MIT */
/* What repairs would win, in small worlds whose times a comment works out by hand. */
#include <stdio.h>

#include "check.h"
#include "comm/replay.h"
#include "memory_sweep.h"
#include "world_text.h"

/*
 * Steps of 1000 of three ranks: ranks 0 and 2 work 400, rank 1 works 500 and loads data for 100
 * before an all-reduce that takes 100 from the moment when rank 1 is ready, at 600. Then all work
 * 300.
 */
static const char late_rank[] = "rank 0\n"
				"step 1 0 1000\n"
				"compute 0 400\n"
				"exposed_comm 400 700\n"
				"compute 700 1000\n"
				"all_reduce 400 700 group=dp ranks=0,1,2 seq=0 bytes=64\n"
				"rank 1\n"
				"step 1 0 1000\n"
				"data_stall 0 100\n"
				"compute 100 600\n"
				"exposed_comm 600 700\n"
				"compute 700 1000\n"
				"all_reduce 600 700 group=dp ranks=0,1,2 seq=0 bytes=64\n"
				"rank 2\n"
				"step 1 0 1000\n"
				"compute 0 400\n"
				"exposed_comm 400 700\n"
				"compute 700 1000\n"
				"all_reduce 400 700 group=dp ranks=0,1,2 seq=0 bytes=64\n";

TEST(test_late_rank)
{
	struct test_world *w = test_world(late_rank);
	struct analyzed *a = analyze_world(w, NULL);

	check_facts(a, "what_if: step_ns simulated_step_ns simulation_error_ratio", "1000 1000 0");
	/* Rank 1 takes 400 before the all-reduce, as the others do: from 400 to 500, 300 more. */
	check_facts(a, "what_if: no_straggler_step_ns no_straggler_gain_ns straggler_rank",
		    "800 200 1");
	/* All take (400 + 600 + 400) ÷ 3 = 467 before it: 467 + 100 + 300. */
	check_facts(a, "what_if: balanced_step_ns balanced_gain_ns", "867 133");
	/* Ends at 600, when rank 1 is ready. */
	check_facts(a, "what_if: ideal_network_step_ns ideal_network_gain_ns", "900 100");
	/* Nobody waits: ranks 0 and 2 are done at 700, as the all-reduce is; rank 1 at 900. */
	check_facts(a, "what_if: ideal_overlap_step_ns ideal_overlap_gain_ns", "767 233");
	/* Rank 1 is ready at 500, the all-reduce ends at 600. */
	check_facts(a, "what_if: no_data_stall_step_ns no_data_stall_gain_ns", "900 100");
	/* Without compute rank 1 is ready at 100, the all-reduce ends at 200. */
	check_table(a, "what_if.lines: line step_ns gain_ns",
		    "compute 200 800\ndata_stall 900 100\n");
	/* Rank 0 like the median of 400 and 600, 500, is not the last one either. */
	check_table(a, "what_if.ranks: rank step_ns gain_ns", "1 800 200\n0 1000 0\n2 1000 0\n");
	check_reliability(a, "what_if", NULL);
	check_doubt(a, "what_if.no_straggler_gain_ns", NULL);
}

/*
 * Ranks 0, 1 and 2 work 300, 600 and 400 before the all-reduce, which takes 100 to 700, and 100,
 * 400 and 200 after it: steps of 800, 1100 and 900, mean 933. The median of the others is 350 and
 * 150 for rank 1: the all-reduce ends at 400 + 100, the ranks at 600, 650 and 700.
 */
TEST(test_median)
{
	struct test_world *w =
		test_world("rank 0\n"
			   "step 1 0 800\n"
			   "compute 0 300\n"
			   "exposed_comm 300 700\n"
			   "compute 700 800\n"
			   "all_reduce 300 700 group=dp ranks=0,1,2 seq=0 bytes=64\n"
			   "rank 1\n"
			   "step 1 0 1100\n"
			   "compute 0 600\n"
			   "exposed_comm 600 700\n"
			   "compute 700 1100\n"
			   "all_reduce 600 700 group=dp ranks=0,1,2 seq=0 bytes=64\n"
			   "rank 2\n"
			   "step 1 0 900\n"
			   "compute 0 400\n"
			   "exposed_comm 400 700\n"
			   "compute 700 900\n"
			   "all_reduce 400 700 group=dp ranks=0,1,2 seq=0 bytes=64\n");
	struct analyzed *a = analyze_world(w, NULL);

	check_facts(a, "what_if: simulated_step_ns no_straggler_step_ns no_straggler_gain_ns",
		    "933 650 283");
}

/*
 * Ranks 0 and 2 work 100 in turn, 4 times in all, while rank 1 works 430; a barrier takes 10. Their
 * mean of 277 is 553 for the two that take turns, and with the transfers 593.
 */
TEST(test_turns)
{
	struct test_world *w = test_world("rank 0\n"
					  "step 1 0 440\n"
					  "compute 0 100\n"
					  "exposed_comm 100 220\n"
					  "compute 220 320\n"
					  "exposed_comm 320 440\n"
					  "all_reduce 100 110 group=pair ranks=0,2 seq=0\n"
					  "all_reduce 110 220 group=pair ranks=0,2 seq=1\n"
					  "all_reduce 320 330 group=pair ranks=0,2 seq=2\n"
					  "barrier 330 440 group=all ranks=0,1,2 seq=0\n"
					  "rank 1\n"
					  "step 1 0 440\n"
					  "compute 0 430\n"
					  "exposed_comm 430 440\n"
					  "barrier 430 440 group=all ranks=0,1,2 seq=0\n"
					  "rank 2\n"
					  "step 1 0 440\n"
					  "exposed_comm 0 110\n"
					  "compute 110 210\n"
					  "exposed_comm 210 330\n"
					  "compute 330 430\n"
					  "exposed_comm 430 440\n"
					  "all_reduce 0 110 group=pair ranks=0,2 seq=0\n"
					  "all_reduce 210 220 group=pair ranks=0,2 seq=1\n"
					  "all_reduce 220 330 group=pair ranks=0,2 seq=2\n"
					  "barrier 430 440 group=all ranks=0,1,2 seq=0\n");
	struct analyzed *a = analyze_world(w, NULL);

	check_facts(a, "what_if: step_ns simulated_step_ns balanced_step_ns balanced_gain_ns",
		    "440 440 - -");
	check_doubt(a, "what_if.balanced_step_ns",
		    "steps would be longer with the mean of all ranks' work: ranks do other "
		    "things, or wait for what traces do not show");
}

/* Steps of 1 ms in which a rank works, is late to launch, reduces within 50 us and works again. */
static size_t put_steps(char *text, size_t size, int rank, int step_count, int work_us)
{
	size_t used = (size_t)snprintf(text, size, "rank %d\n", rank);

	for (int i = 0; i < step_count; i++) {
		int at = i * 1000;

		used += (size_t)snprintf(
			text + used, size - used,
			"step %d %d000 %d000\ncompute %d000 %d000\nlaunch_stall %d000 %d000\n"
			"exposed_comm %d000 %d000\ncompute %d000 %d000\n"
			"all_reduce %d000 %d000 group=dp ranks=0,1 seq=%d\n",
			i, at, at + 1000, at, at + work_us, at + work_us, at + 550, at + 550,
			at + 600, at + 600, at + 1000, at + 550, at + 600, i);
	}
	return used;
}

/*
 * Rank 0 works 300 us, rank 1 500, but both launch at 550: what rank 0 takes longer it waits for
 * rank 1. Like rank 0 this one lets both launch at 350. The mean of 350 and 550 lets them at 450.
 */
TEST(test_barrier)
{
	static const struct {
		int step_count;
		const char *facts;
	} cases[] = {
		{ 5, "1000000 900000 100000 800000 200000 1" },
		/* That may be chance. */
		{ 4, "1000000 1000000 0 1000000 0 -" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char text[8192];
		size_t used = put_steps(text, sizeof(text), 0, cases[i].step_count, 300);

		(void)put_steps(text + used, sizeof(text) - used, 1, cases[i].step_count, 500);
		struct test_world *w = test_world(text);
		struct analyzed *a = analyze_world(w, NULL);
		check_facts(a,
			    "what_if: simulated_step_ns balanced_step_ns balanced_gain_ns "
			    "no_straggler_step_ns no_straggler_gain_ns straggler_rank",
			    cases[i].facts);
		check_facts(a, "cross_rank_path: length_ns", "1000000");
	}
}

/* Equal ranks: nobody is to be named, and nothing is won. */
TEST(test_healthy)
{
	static const char one[] = "step 1 0 1000\n"
				  "compute 0 900\n"
				  "exposed_comm 900 1000\n"
				  "all_reduce 900 1000 group=dp ranks=0,1 seq=0 bytes=64\n";
	char text[512];

	(void)snprintf(text, sizeof(text), "rank 0\n%srank 1\n%s", one, one);
	struct test_world *w = test_world(text);
	struct analyzed *a = analyze_world(w, NULL);
	check_facts(a, "what_if: no_straggler_gain_ns straggler_rank balanced_gain_ns", "0 - 0");
	check_facts(a, "what_if: no_data_stall_step_ns no_data_stall_gain_ns", "1000 0");
}

/*
 * 0.5 % of a step is where a rank is named: of 1000, 5. Rank 1 works so much longer before the
 * all-reduce than rank 0, which waits for it.
 */
TEST(test_threshold)
{
	static const struct {
		int more;
		const char *expected;
	} cases[] = { { 4, "4 -" }, { 5, "5 1" } };

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char text[1024];
		int more = cases[i].more;

		(void)snprintf(text, sizeof(text),
			       "rank 0\nstep 1 0 1000\ncompute 0 %d\nexposed_comm %d 1000\n"
			       "all_reduce %d 1000 group=dp ranks=0,1 seq=0 bytes=64\n"
			       "rank 1\nstep 1 0 1000\ncompute 0 900\nexposed_comm 900 1000\n"
			       "all_reduce 900 1000 group=dp ranks=0,1 seq=0 bytes=64\n",
			       900 - more, 900 - more, 900 - more);
		struct test_world *w = test_world(text);
		struct analyzed *a = analyze_world(w, NULL);
		check_facts(a, "what_if: no_straggler_gain_ns straggler_rank", cases[i].expected);
	}
}

/*
 * A member that was not read may have been late as well. Where nobody says how many there are, a
 * gap in the numbers says that some were not read.
 */
TEST(test_unread_member)
{
	static const struct {
		const char *members;
		int second;
		bool is_unread;
	} cases[] = { { " ranks=0,1,2", 1, true }, { "", 1, false }, { "", 2, true } };

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char one[256], text[1024];

		(void)snprintf(one, sizeof(one),
			       "step 1 0 1000\ncompute 0 900\nexposed_comm 900 1000\n"
			       "all_reduce 900 1000 group=dp%s seq=0 bytes=64\n",
			       cases[i].members);
		(void)snprintf(text, sizeof(text), "rank 0\n%srank %d\n%s", one, cases[i].second,
			       one);
		struct test_world *w = test_world(text);
		struct analyzed *a = analyze_world(w, NULL);
		check_doubt(a, "what_if.no_straggler_gain_ns",
			    cases[i].is_unread
				    ? "members of process groups were not read, and may "
				      "have kept the others waiting: this is an upper bound"
				    : NULL);
		check_doubt(a, "what_if.simulated_step_ns", NULL);
	}
}

/*
 * Rank 0 comes last to a collective, at 500, and is through with it at 600; rank 1 as much later as
 * the tail is long. Unless their clocks are known they begin together.
 */
static struct test_world *world_with_tail(int tail, bool knows_clocks)
{
	int end = 600 + tail;
	char text[512];

	(void)snprintf(text, sizeof(text),
		       "rank 0\nstep 1 0 800\ncompute 0 500\nexposed_comm 500 600\n"
		       "compute 600 800\n"
		       "all_reduce 500 600 group=dp ranks=0,1 seq=0 bytes=64\n"
		       "rank 1\nstep 1 0 %d\ncompute 0 400\nexposed_comm 400 %d\n"
		       "compute %d %d\n"
		       "all_reduce 400 %d group=dp ranks=0,1 seq=0 bytes=64\n",
		       end + 200, end, end, end + 200, end);
	struct test_world *w = test_world(text);
	for (size_t rank = 0; rank < w->rank_count; rank++)
		w->world->clocks[rank] = (struct rank_clock){ .is_known = knows_clocks };
	return w;
}

/*
 * The ranks do not end together, and nothing tells their clocks: rank 0, which was last (at 500),
 * says that the transfer took 100, rank 1 says that it went on until 800. All are played as if it
 * took 100, so rank 1 ends 200 too early: the mean of 800 and 1000 is not 900 but 800, more than
 * 5 % off.
 */
TEST(test_doubt)
{
	struct test_world *w = world_with_tail(200, false);
	struct analyzed *a = analyze_world(w, NULL);
	check_facts(a, "what_if: step_ns simulated_step_ns simulation_error_ratio",
		    "900 800 -0.111111");
	check_reliability(a, "what_if",
			  "the simulation of the unchanged run is off by more than 5 %");
}

/*
 * As above, but rank 1 ends at 600 + tail: the simulation is off by tail ÷ 2 of 800 + tail ÷ 2.
 * 42 of 842 is less than 5 %, 44 of 844 more.
 */
TEST(test_error_that_is_doubted)
{
	static const struct {
		int tail;
		const char *expected, *doubt;
	} cases[] = {
		{ 84, "842 800 -0.0498812", NULL },
		{ 88, "844 800 -0.0521327",
		  "the simulation of the unchanged run is off by more than 5 %" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_world *w = world_with_tail(cases[i].tail, false);
		struct analyzed *a = analyze_world(w, NULL);
		check_facts(a, "what_if: step_ns simulated_step_ns simulation_error_ratio",
			    cases[i].expected);
		check_reliability(a, "what_if", cases[i].doubt);
	}
}

/*
 * The same where clocks agree: what rank 1 took after the first end at 600 is put in, so that
 * nothing is off, but said. It was kept by it in the mean of both ranks for tail ÷ 2 of steps of
 * 800 + tail ÷ 2: 42 of 842, 42.5 of 843 (rounded) and 100 of 900. Without transfers the
 * all-reduce is through at 500 and not at 600 on both, whatever the tail: that gain is in no doubt.
 */
TEST(test_end_spread)
{
	static const struct {
		int tail;
		const char *expected;
	} cases[] = {
		{ 84, "842 842 0 0.0498812 742 100" },
		{ 85, "843 843 0 0.0504152 743 100" },
		{ 200, "900 900 0 0.111111 800 100" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_world *w = world_with_tail(cases[i].tail, true);
		struct analyzed *a = analyze_world(w, NULL);
		check_facts(a,
			    "what_if: step_ns simulated_step_ns simulation_error_ratio "
			    "end_spread_ratio ideal_network_step_ns ideal_network_gain_ns",
			    cases[i].expected);
		check_reliability(a, "what_if", NULL);
	}
}

/*
 * Rank 1 ends the first collective 100 after rank 0, and so comes to the second one at 750 as rank
 * 0 does, which works for 100 more. With rank 1's work rank 0 wins nothing, and 100 if both ended
 * the first one together.
 */
TEST(test_gain_of_end_spread)
{
	static const char text[] =
		"rank 0\nstep 1 0 850\ncompute 0 500\nexposed_comm 500 600\ncompute 600 750\n"
		"exposed_comm 750 850\n"
		"all_reduce 500 600 group=dp ranks=0,1 seq=0 bytes=64\n"
		"all_reduce 750 850 group=dp ranks=0,1 seq=1 bytes=64\n"
		"rank 1\nstep 1 0 850\ncompute 0 500\nexposed_comm 500 700\ncompute 700 750\n"
		"exposed_comm 750 850\n"
		"all_reduce 500 700 group=dp ranks=0,1 seq=0 bytes=64\n"
		"all_reduce 750 850 group=dp ranks=0,1 seq=1 bytes=64\n";
	static const char doubt[] = "members of collectives end far apart, and the gain would be "
				    "another by a quarter or more if they did not";
	struct test_world *w = test_world(text);

	for (size_t rank = 0; rank < w->rank_count; rank++)
		w->world->clocks[rank] = (struct rank_clock){ .is_known = true };
	struct analyzed *a = analyze_world(w, NULL);
	check_facts(a,
		    "what_if: step_ns end_spread_ratio no_straggler_gain_ns ideal_network_gain_ns",
		    "850 0.0588235 0 200");
	check_doubt(a, "what_if.no_straggler_gain_ns", doubt);
	check_doubt(a, "what_if.ideal_network_gain_ns", NULL);
}

/* Nothing matches: nothing is said. */
TEST(test_no_world)
{
	static const char text[] = "rank 0\nstep 1 0 100\ncompute 0 100\n"
				   "rank 1\nstep 1 0 100\ncompute 0 100\n";
	struct test_world *w = test_world(text);
	struct analyzed *a = analyze_world(w, NULL);

	check_facts(a, "what_if: step_ns no_straggler_gain_ns balanced_gain_ns", "- - -");
	check_facts(a, "parallel_efficiency: parallel_efficiency_ratio", "-");
	check_facts(a, "cross_rank_path: length_ns step_count", "- -");
}

/* Every analyzer of the run in turn, those of the replay among them. */
TEST(test_no_memory)
{
	struct test_world *w = test_world(late_rank);
	struct tscope_analysis_options options = { 0 };
	struct analysis_scope scope = { .steps = w->series,
					.ranks = w->series,
					.rank_count = w->rank_count,
					.world = w->world,
					.options = &options };
	struct replay_graph *graph;

	assert_int_equal(tsi_replay_graph_new(&graph, w->world, NULL), TSCOPE_OK);
	scope.replay_graph = graph;
	sweep_level(LEVEL_RUN, &scope, 100);
	tsi_replay_graph_free(graph);
}
