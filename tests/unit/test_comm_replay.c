/* SPDX-License-Identifier: MIT */
/* The replay of all ranks: small worlds whose times a comment works out by hand. */

#include "check.h"
#include "comm/replay.h"
#include "world_text.h"

enum { LINES = TSCOPE_BUDGET_LINE_COUNT, MAX_HAND_RANKS = 4 };

/* A change, and when each rank reaches the end of its last step then, on the replay's clock. */
struct hand_change {
	const char *what;
	int scaled_rank; /* whose lines are scaled; -1: nobody's */
	double scale;
	double transfer_scale;
	bool is_overlap_ideal;
	int64_t end_ns[MAX_HAND_RANKS];
};

static void check_change(const struct test_world *w, const struct replay_graph *graph,
			 const struct hand_change *change)
{
	double scales[MAX_HAND_RANKS * LINES];
	const struct replay_change asked = {
		.line_scale = change->scaled_rank < 0 ? NULL : scales,
		.transfer_scale = change->transfer_scale,
		.is_overlap_ideal = change->is_overlap_ideal,
	};
	struct replay replay;

	for (int i = 0; i < MAX_HAND_RANKS * LINES; i++)
		scales[i] = i / LINES == change->scaled_rank ? change->scale : 1;
	tsi_replay(&replay, graph, &asked);
	assert_false(replay.arena.has_failed);
	assert_int_equal(replay.unordered_count, 0);
	for (size_t rank = 0; rank < w->rank_count; rank++) {
		size_t last = graph->ranks[rank].first_point + w->logs[rank].point_count - 1;

		if (replay.points[last].time_ns != change->end_ns[rank])
			fail_msg("%s: rank %zu ends at %lld, not at %lld", change->what, rank,
				 (long long)replay.points[last].time_ns,
				 (long long)change->end_ns[rank]);
	}
	tsi_replay_deinit(&replay);
}

static void check_changes(const char *text, const struct hand_change *changes, size_t count)
{
	struct test_world *w = test_world(text);
	struct replay_graph *graph;

	assert_int_equal(tsi_replay_graph_new(&graph, w->world, NULL), TSCOPE_OK);
	for (size_t i = 0; i < count; i++)
		check_change(w, graph, &changes[i]);
	tsi_replay_graph_free(graph);
}

/*
 * Rank 1 comes 200 later to a transfer of 100.
 *	rank 1 twice as fast	ready at 300; begins with rank 0 at 400, ends at 500; rank 0 has 300
 *				to do after it, rank 1 now 150
 *	no transfers		ends when rank 1 is ready, at 600
 *	ideal overlap		nobody waits before the end: 400 + 300 and 600 + 300, and the
 *				collective ends at 700
 */
TEST(test_late_rank)
{
	static const struct hand_change changes[] = {
		{ "as it was", -1, 1, 1, false, { 1000, 1000 } },
		{ "rank 1 faster", 1, 0.5, 1, false, { 800, 650 } },
		{ "rank 1 slower", 1, 2, 1, false, { 1600, 1900 } },
		{ "no transfers", -1, 1, 0, false, { 900, 900 } },
		{ "ideal overlap", -1, 1, 1, true, { 700, 900 } },
	};

	check_changes("rank 0\n"
		      "step 1 0 1000\n"
		      "compute 0 400\n"
		      "exposed_comm 400 700\n"
		      "compute 700 1000\n"
		      "all_reduce 400 700 group=dp ranks=0,1 seq=0 bytes=64\n"
		      "rank 1\n"
		      "step 1 0 1000\n"
		      "compute 0 600\n"
		      "exposed_comm 600 700\n"
		      "compute 700 1000\n"
		      "all_reduce 600 700 group=dp ranks=0,1 seq=0 bytes=64\n",
		      changes, TSI_COUNT_OF(changes));
}

/*
 * A is hidden under compute on both ranks, so nobody is seen to wait for it; it began at 100 and
 * 150, and took 400. Without local time it still bounds the step: rank 0 is ready at once, rank 1
 * at 150, the end is at 550.
 */
TEST(test_hidden)
{
	static const struct hand_change changes[] = {
		{ "as it was", -1, 1, 1, false, { 1000, 1000 } },
		{ "rank 0 idle", 0, 0, 1, false, { 550, 1000 } },
		{ "no transfers", -1, 1, 0, false, { 1000, 1000 } },
		{ "ideal overlap", -1, 1, 1, true, { 1000, 1000 } },
	};

	check_changes("rank 0\n"
		      "step 1 0 1000\n"
		      "compute 0 1000\n"
		      "all_reduce 100 550 group=dp ranks=0,1 seq=0 bytes=64\n"
		      "rank 1\n"
		      "step 1 0 1000\n"
		      "compute 0 1000\n"
		      "all_reduce 150 550 group=dp ranks=0,1 seq=0 bytes=64\n",
		      changes, TSI_COUNT_OF(changes));
}

/*
 * Two collectives on one stream: A is ready at 100 and begins there, B is ready at 200 and begins
 * when A ends, at 400, after a lag of 10. Ranks wait for B only, from 300 to 610.
 *	no transfers	A ends at 100; B begins at its ready time + 10, ends there: nobody waits
 *	compute twice	A from 200 to 500, B (ready at 400) from 510 to 710; 390 more compute
 */
TEST(test_queue)
{
	static const char one[] =
		"step 1 0 1000\n"
		"compute 0 300\n"
		"exposed_comm 300 610\n"
		"compute 610 1000\n"
		"all_reduce 100 400 group=dp ranks=0,1 seq=0 bytes=64\n"
		"all_reduce 410 610 group=dp ranks=0,1 seq=1 bytes=64 ready=200\n";
	static const struct hand_change changes[] = {
		{ "as it was", -1, 1, 1, false, { 1000, 1000 } },
		{ "no transfers", -1, 1, 0, false, { 690, 690 } },
		/* Rank 1: 600 local until B ends at 710, then 780 more. */
		{ "rank 1 slower", 1, 2, 1, false, { 1100, 1490 } },
	};
	char text[1024];

	(void)snprintf(text, sizeof(text), "rank 0\n%srank 1\n%s", one, one);
	check_changes(text, changes, TSI_COUNT_OF(changes));
}

/*
 * A on stream 1 from 100 to 400, B on stream 2 ready at 200, from a start on for 200. Ranks wait
 * for B from 300 on, and compute 395 after it.
 *	405	B begins 5 after the end of A: it awaits it. Without transfers A ends at 100, B at
 *		205, nobody waits; with half of them A ends at 250, B from 255 to 355
 *	10400	still so: B begins 10000 after A, at 10200 or, with half of the transfers, at 10250
 *	10401	B begins 10201 after it was ready, whatever A does
 *	405, with another one on stream 2 that ends at 395: it explains B's begin, which is 10
 *		after it. With half of the transfers it ends at 350 + 45 ÷ 2, rounded 373
 */
TEST(test_other_stream)
{
	static const struct {
		int start;
		const char *before;
		struct hand_change changes[3];
	} cases[] = {
		{ 405,
		  "",
		  { { "405", -1, 1, 1, false, { 1000, 1000 } },
		    { "405, no transfers", -1, 1, 0, false, { 695, 695 } },
		    { "405, half", -1, 1, 0.5, false, { 750, 750 } } } },
		{ 10400,
		  "",
		  { { "10400", -1, 1, 1, false, { 10995, 10995 } },
		    { "10400, no transfers", -1, 1, 0, false, { 10595, 10595 } },
		    { "10400, half", -1, 1, 0.5, false, { 10745, 10745 } } } },
		{ 10401,
		  "",
		  { { "10401", -1, 1, 1, false, { 10996, 10996 } },
		    { "10401, no transfers", -1, 1, 0, false, { 10796, 10796 } },
		    { "10401, half", -1, 1, 0.5, false, { 10896, 10896 } } } },
		/* Begins at 360 without transfers, and ends there: 360 + 395. */
		{ 405,
		  "all_reduce 350 395 group=dp ranks=0,1 seq=7 bytes=64 stream=2\n",
		  { { "explained", -1, 1, 1, false, { 1000, 1000 } },
		    { "explained, no transfers", -1, 1, 0, false, { 755, 755 } },
		    { "explained, half", -1, 1, 0.5, false, { 878, 878 } } } },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		int start = cases[i].start, end = start + 200;
		char one[512], text[1280];

		(void)snprintf(one, sizeof(one),
			       "step 1 0 %d\n"
			       "compute 0 300\n"
			       "exposed_comm 300 %d\n"
			       "compute %d %d\n"
			       "all_reduce 100 400 group=dp ranks=0,1 seq=0 bytes=64 stream=1\n"
			       "%s"
			       "all_reduce %d %d group=dp ranks=0,1 seq=8 bytes=64 ready=200 "
			       "stream=2\n",
			       end + 395, end, end, end + 395, cases[i].before, start, end);
		(void)snprintf(text, sizeof(text), "rank 0\n%srank 1\n%s", one, one);
		check_changes(text, cases[i].changes, TSI_COUNT_OF(cases[i].changes));
	}
}

/* Of ops of two streams that end right before B begins, the later counts. */
TEST(test_several_streams)
{
	/* As it was: A ends at 398, D at 400, B from 405 to 605. Without transfers D ends at 390. */
	static const char one[] =
		"step 1 0 1000\n"
		"compute 0 300\n"
		"exposed_comm 300 605\n"
		"compute 605 1000\n"
		"all_reduce 100 398 group=dp ranks=0,1 seq=0 bytes=64 stream=1\n"
		"all_reduce 390 400 group=dp ranks=0,1 seq=1 bytes=64 stream=3 ready=250\n"
		"all_reduce 405 605 group=dp ranks=0,1 seq=2 bytes=64 stream=2 ready=200\n";
	static const struct hand_change changes[] = {
		{ "as it was", -1, 1, 1, false, { 1000, 1000 } },
		/* D begins 140 after it was ready, B 5 after D: at 395, and ends then. */
		{ "no transfers", -1, 1, 0, false, { 790, 790 } },
	};
	char text[1024];

	(void)snprintf(text, sizeof(text), "rank 0\n%srank 1\n%s", one, one);
	check_changes(text, changes, TSI_COUNT_OF(changes));
}

/*
 * Rank 0 comes at 450, rank 1 at 500; rank 0 is through at 600, rank 1 at 800. So the transfer is
 * not the shortest duration, of 150, but 100, from 500 to 600, and 200 are rank 1's own. Both then
 * have 200 to do.
 *	no transfers	the collective ends at 500: rank 0 is done at 700, rank 1 at 500 + 200 + 200
 *	rank 1 faster	it comes at 250, rank 0 at 450: ends at 550; 200 and 200 + 100 more
 *	noise		ends of which the deviation is 80 put the clock of rank 1 off by 1.2533 × 80
 *			÷ √4 = 50: a transfer of 150 and a tail of 150. Ends at 650; at 500
 *	no clocks	the shortest duration, and no tail
 */
TEST(test_tail)
{
	static const struct {
		bool is_known;
		int64_t residual_ns;
		struct hand_change changes[3];
	} cases[] = {
		{ true,
		  0,
		  { { "as it was", -1, 1, 1, false, { 800, 1000 } },
		    { "no transfers", -1, 1, 0, false, { 700, 900 } },
		    { "rank 1 faster", 1, 0.5, 1, false, { 750, 850 } } } },
		{ true,
		  80,
		  { { "noise", -1, 1, 1, false, { 850, 1000 } },
		    { "noise, no transfers", -1, 1, 0, false, { 700, 850 } },
		    { "noise, rank 1 faster", 1, 0.5, 1, false, { 800, 850 } } } },
		{ false,
		  0,
		  { { "no clocks", -1, 1, 1, false, { 850, 850 } },
		    { "no clocks, no transfers", -1, 1, 0, false, { 700, 700 } },
		    { "no clocks, rank 1 faster", 1, 0.5, 1, false, { 800, 700 } } } },
	};
	static const char text[] = "rank 0\n"
				   "step 1 0 800\n"
				   "compute 0 450\n"
				   "exposed_comm 450 600\n"
				   "compute 600 800\n"
				   "all_reduce 450 600 group=dp ranks=0,1 seq=0 bytes=64\n"
				   "rank 1\n"
				   "step 1 0 1000\n"
				   "compute 0 500\n"
				   "exposed_comm 500 800\n"
				   "compute 800 1000\n"
				   "all_reduce 500 800 group=dp ranks=0,1 seq=0 bytes=64\n";

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_world *w = test_world(text);
		struct replay_graph *graph;

		for (size_t rank = 0; rank < w->rank_count; rank++)
			w->world->clocks[rank] = (struct rank_clock){
				.is_known = cases[i].is_known,
				.residual_ns = rank == 0 ? 0 : cases[i].residual_ns,
				.match_count = rank == 0 ? 0 : 4,
			};
		assert_int_equal(tsi_replay_graph_new(&graph, w->world, NULL), TSCOPE_OK);
		for (size_t k = 0; k < TSI_COUNT_OF(cases[i].changes); k++)
			check_change(w, graph, &cases[i].changes[k]);
		tsi_replay_graph_free(graph);
	}
}

/*
 * A chain of three stages: 0 sends to 1 (transfer 50), 1 to 2. Each works 200 before it sends.
 *	rank 0	works 0-200, sends 200-250, is done; a gap up to the end of the step at 700
 *	rank 1	receives from 0 to 250, works 250-450, sends 450-500
 *	rank 2	receives from 0 to 500, works 500-700
 * With rank 0 twice as fast the first message is through at 150, the second at 400.
 * Without transfers the messages are through at 200 and 400.
 */
TEST(test_chain)
{
	static const struct hand_change changes[] = {
		{ "as it was", -1, 1, 1, false, { 700, 700, 700 } },
		/* Rank 0: 100, a send of 50, half of a gap of 450. Rank 1: 350 + 50 + gap of 200 */
		{ "rank 0 faster", 0, 0.5, 1, false, { 375, 600, 600 } },
		{ "no transfers", -1, 1, 0, false, { 650, 600, 600 } },
	};

	check_changes("rank 0\n"
		      "step 1 0 700\n"
		      "compute 0 200\n"
		      "exposed_comm 200 250\n"
		      "send_recv 200 250 send peer=1 group=pp ranks=0,1 bytes=64\n"
		      "rank 1\n"
		      "step 1 0 700\n"
		      "exposed_comm 0 250\n"
		      "compute 250 450\n"
		      "exposed_comm 450 500\n"
		      "send_recv 0 250 peer=0 group=pp ranks=0,1 bytes=64\n"
		      "send_recv 450 500 send peer=2 group=qq ranks=1,2 bytes=64\n"
		      "rank 2\n"
		      "step 1 0 700\n"
		      "exposed_comm 0 500\n"
		      "compute 500 700\n"
		      "send_recv 0 500 peer=1 group=qq ranks=1,2 bytes=64\n",
		      changes, TSI_COUNT_OF(changes));
}

/*
 * B is launched at 350, while the rank stands still for A from 200 to 500, and runs on another
 * stream from 360 to 600. If A took no time (it would end at 200), B would be ready 150 after the
 * rank had reached 200 all the same, at 350, and end at 360.
 */
TEST(test_launch_in_standstill)
{
	static const char one[] =
		"step 1 0 1000\n"
		"compute 0 200\n"
		"exposed_comm 200 600\n"
		"compute 600 1000\n"
		"all_reduce 200 500 group=dp ranks=0,1 seq=0 bytes=64 stream=1\n"
		"all_reduce 360 600 group=dp ranks=0,1 seq=1 bytes=64 stream=2 ready=350\n";
	static const struct hand_change changes[] = {
		{ "as it was", -1, 1, 1, false, { 1000, 1000 } },
		{ "no transfers", -1, 1, 0, false, { 760, 760 } },
		{ "rank 1 faster", 1, 0.5, 1, false, { 1000, 800 } },
	};
	char text[1024];

	(void)snprintf(text, sizeof(text), "rank 0\n%srank 1\n%s", one, one);
	check_changes(text, changes, TSI_COUNT_OF(changes));
}

/*
 * Step 2 begins at 500, while both stand still for the collective from 400 to 600. It begins 100
 * after they stopped, or where they go on earlier, then: without transfers at 400.
 */
TEST(test_step_in_standstill)
{
	static const char one[] = "step 1 0 500\n"
				  "step 2 500 1000\n"
				  "compute 0 400\n"
				  "exposed_comm 400 600\n"
				  "compute 600 1000\n"
				  "all_reduce 400 600 group=dp ranks=0,1 seq=0 bytes=64\n";
	const struct replay_change no_transfers = { .transfer_scale = 0 };
	struct replay_graph *graph;
	struct test_world *w;
	struct replay replay;
	char text[1024];

	(void)snprintf(text, sizeof(text), "rank 0\n%srank 1\n%s", one, one);
	w = test_world(text);
	assert_int_equal(tsi_replay_graph_new(&graph, w->world, NULL), TSCOPE_OK);
	assert_int_equal(graph->step_count, 2);
	tsi_replay(&replay, graph, NULL);
	assert_false(replay.arena.has_failed);
	for (size_t rank = 0; rank < 2; rank++) {
		assert_int_equal(tsi_replay_step_ns(&replay, graph, rank, 0), 500);
		assert_int_equal(tsi_replay_step_ns(&replay, graph, rank, 1), 500);
	}
	tsi_replay_deinit(&replay);
	tsi_replay(&replay, graph, &no_transfers);
	assert_false(replay.arena.has_failed);
	for (size_t rank = 0; rank < 2; rank++) {
		assert_int_equal(tsi_replay_step_ns(&replay, graph, rank, 0), 400);
		assert_int_equal(tsi_replay_step_ns(&replay, graph, rank, 1), 400);
	}
	assert_int_equal(replay.measured_ns, 500);
	assert_int_equal(replay.step_ns, 400);
	tsi_replay_deinit(&replay);
	tsi_replay_graph_free(graph);
}

/*
 * Nothing says with whom rank 1's broadcast was: it takes its 200 whatever happens, transfers
 * included. (The ranks share an all-reduce, else they would be no world.)
 */
TEST(test_unmatched)
{
	static const struct hand_change changes[] = {
		{ "as it was", -1, 1, 1, false, { 1000, 1000 } },
		/* 600, broadcast until 800, 760 more: ready at 1560, the end at 1660; 240 more */
		{ "rank 1 slower", 1, 2, 1, false, { 1660, 1800 } },
		{ "no transfers", -1, 1, 0, false, { 900, 1000 } },
	};

	check_changes("rank 0\n"
		      "step 1 0 1000\n"
		      "compute 0 900\n"
		      "exposed_comm 900 1000\n"
		      "all_reduce 900 1000 group=dp ranks=0,1 seq=0 bytes=64\n"
		      "rank 1\n"
		      "step 1 0 1000\n"
		      "compute 0 300\n"
		      "exposed_comm 300 500\n"
		      "compute 500 1000\n"
		      "broadcast 300 500 group=odd ranks=1,7 seq=0 bytes=8\n"
		      "all_reduce 880 1000 group=dp ranks=0,1 seq=0 bytes=64 stream=3\n",
		      changes, TSI_COUNT_OF(changes));
}

/*
 * Rank 0's message is small: it is gone (100 to 150) before rank 1 receives it (400 to 430). So
 * rank 0 does not wait for rank 1 there, only in the all-reduce, which takes 100 and tells that
 * both clocks agree.
 *	rank 1 slower	receives from 800 to 830, is ready at 830 + 140 = 970
 */
TEST(test_early_sender)
{
	static const struct hand_change changes[] = {
		{ "as it was", -1, 1, 1, false, { 700, 700 } },
		{ "rank 1 slower", 1, 2, 1, false, { 1070, 1070 } },
	};

	check_changes("rank 0\n"
		      "step 1 0 700\n"
		      "compute 0 100\n"
		      "exposed_comm 100 150\n"
		      "compute 150 600\n"
		      "exposed_comm 600 700\n"
		      "send_recv 100 150 send peer=1 group=dp ranks=0,1 bytes=8 stream=1\n"
		      "all_reduce 600 700 group=dp ranks=0,1 seq=0 bytes=64\n"
		      "rank 1\n"
		      "step 1 0 700\n"
		      "compute 0 400\n"
		      "exposed_comm 400 430\n"
		      "compute 430 500\n"
		      "exposed_comm 500 700\n"
		      "send_recv 400 430 peer=0 group=dp ranks=0,1 bytes=8 stream=1\n"
		      "all_reduce 500 700 group=dp ranks=0,1 seq=0 bytes=64\n",
		      changes, TSI_COUNT_OF(changes));
}

/*
 * Rank 0 was ready for the all-reduce in step 1, which rank 1's window has not: step 2 alone is
 * played, from 500 on, and in it what rank 0 waited for takes the 100 that it took. Rank 1's part
 * is alone as well, and takes its 40.
 */
TEST(test_window)
{
	static const struct hand_change changes[] = {
		{ "as it was", -1, 1, 1, false, { 500, 500 } },
		{ "rank 0 slower", 0, 2, 1, false, { 900, 500 } },
		{ "rank 1 slower", 1, 2, 1, false, { 500, 960 } },
	};

	check_changes("rank 0\n"
		      "step 1 0 500\n"
		      "step 2 500 1000\n"
		      "compute 0 480\n"
		      "exposed_comm 480 600\n"
		      "compute 600 1000\n"
		      "all_reduce 480 600 group=dp ranks=0,1 seq=0 bytes=64\n"
		      "rank 1\n"
		      "step 2 500 1000\n"
		      "compute 500 560\n"
		      "exposed_comm 560 600\n"
		      "compute 600 1000\n"
		      "all_reduce 560 600 group=dp ranks=0,1 seq=0 bytes=64\n",
		      changes, TSI_COUNT_OF(changes));
}

/*
 * Between the steps 1 and 3 nothing was recorded for 100, which is no part of step 3: the steps
 * take 100 each. Its end is 300 after the begin.
 */
TEST(test_gap)
{
	const char *text = "rank 0\n"
			   "step 1 0 100\n"
			   "step 3 200 300\n"
			   "compute 0 60\n"
			   "compute 200 300\n"
			   "all_reduce 60 80 group=dp ranks=0,1 seq=0 bytes=64\n"
			   "rank 1\n"
			   "step 1 0 100\n"
			   "step 3 200 300\n"
			   "compute 0 60\n"
			   "compute 200 300\n"
			   "all_reduce 60 80 group=dp ranks=0,1 seq=0 bytes=64\n";
	struct test_world *w = test_world(text);
	struct replay_graph *graph;
	struct replay replay;

	assert_int_equal(tsi_replay_graph_new(&graph, w->world, NULL), TSCOPE_OK);
	tsi_replay(&replay, graph, NULL);
	assert_false(replay.arena.has_failed);
	assert_int_equal(replay.measured_ns, 100);
	assert_int_equal(replay.step_ns, 100);
	assert_int_equal(replay.points[w->logs[0].point_count - 1].time_ns, 300);
	tsi_replay_deinit(&replay);
	tsi_replay_graph_free(graph);
}

/*
 * Rank 0 needs A (from 100 to 200) before it gets B ready, rank 1 needs B before A, each for 100: a
 * circle. Rank 0's A is let end after the 100 that it took, which is counted. From there all has an
 * order: rank 0 gets B ready at 300, it ends at 400, rank 0 is done at 500; rank 1 goes on at 400,
 * gets A ready at 500, goes on at 600, is done at 700.
 */
TEST(test_circle)
{
	struct rank_op ops[2][2] = {
		{ { .start_ns = 100, .dur_ns = 100, .ready_ns = 100, .stream = 1 },
		  { .start_ns = 300, .dur_ns = 100, .ready_ns = 300, .stream = 2 } },
		{ { .start_ns = 100, .dur_ns = 100, .ready_ns = 100, .stream = 2 },
		  { .start_ns = 300, .dur_ns = 100, .ready_ns = 300, .stream = 1 } },
	};
	struct rank_point points[] = {
		{ .time_ns = 0, .kind = RANK_POINT_STEP },
		{ .time_ns = 100, .line_ns = { 100 }, .kind = RANK_POINT_READY, .index = 0 },
		{ .time_ns = 200, .stall_ns = 100, .kind = RANK_POINT_RESUME, .index = 0 },
		{ .time_ns = 300, .line_ns = { 100 }, .kind = RANK_POINT_READY, .index = 1 },
		{ .time_ns = 400, .stall_ns = 100, .kind = RANK_POINT_RESUME, .index = 1 },
		{ .time_ns = 500, .line_ns = { 100 }, .kind = RANK_POINT_END },
	};
	struct rank_log_step step = { .number = 1, .wall_ns = 500 };
	struct rank_log logs[2];
	uint32_t of_rank_0[] = { 0, 1 }, of_rank_1[] = { 1, 0 };
	uint32_t *match_of_op[] = { of_rank_0, of_rank_1 };
	struct match matches[] = {
		{ .first_member = 0,
		  .member_count = 2,
		  .transfer_ns = 100,
		  .is_synchronising = true },
		{ .first_member = 2,
		  .member_count = 2,
		  .transfer_ns = 100,
		  .is_synchronising = true },
	};
	struct match_member members[] = { { 0, 0, 0 }, { 1, 1, 0 }, { 0, 1, 0 }, { 1, 0, 0 } };
	struct process_group group = { .size = 2, .rank_count = 2 };
	const struct world world = { .logs = logs,
				     .rank_count = 2,
				     .groups = &group,
				     .group_count = 1,
				     .matches = matches,
				     .match_count = 2,
				     .members = members,
				     .member_count = 4,
				     .match_of_op = match_of_op };
	struct replay_graph *graph;
	struct replay replay;

	for (int rank = 0; rank < 2; rank++)
		logs[rank] = (struct rank_log){ .rank = rank,
						.ops = ops[rank],
						.op_count = 2,
						.points = points,
						.point_count = TSI_COUNT_OF(points),
						.steps = &step,
						.step_count = 1 };
	assert_int_equal(tsi_replay_graph_new(&graph, &world, NULL), TSCOPE_OK);
	tsi_replay(&replay, graph, NULL);
	assert_false(replay.arena.has_failed);
	assert_int_equal(replay.unordered_count, 1);
	assert_int_equal(replay.step_ns, (500 + 700) / 2);
	assert_int_equal(replay.measured_ns, 500);
	tsi_replay_deinit(&replay);
	tsi_replay_graph_free(graph);
}
