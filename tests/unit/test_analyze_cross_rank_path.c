/* SPDX-License-Identifier: MIT */
/* The chain that bounds the steps, walked by hand. */
#include "world_text.h"

#include "check.h"

/*
 * From the end of rank 0 (of equals the first): compute 300, the transfer of 100, and before it
 * rank 1, which was last: compute 500 and data 100. In all 1000, and one change of rank.
 */
TEST(test_late_rank)
{
	struct test_world *w = test_world("rank 0\n"
					  "step 1 0 1000\n"
					  "compute 0 400\n"
					  "exposed_comm 400 700\n"
					  "compute 700 1000\n"
					  "all_reduce 400 700 group=dp ranks=0,1 seq=0 bytes=64\n"
					  "rank 1\n"
					  "step 1 0 1000\n"
					  "data_stall 0 100\n"
					  "compute 100 600\n"
					  "exposed_comm 600 700\n"
					  "compute 700 1000\n"
					  "all_reduce 600 700 group=dp ranks=0,1 seq=0 bytes=64\n");
	struct analyzed *a = analyze_world(w, NULL);

	check_facts(a, "cross_rank_path: step_count length_ns local_ns transfer_ns hop_count",
		    "1 1000 900 100 1");
	check_facts(a, "cross_rank_path: main_rank main_rank_ratio", "1 0.666667");
	check_table(a, "cross_rank_path.lines: line step_ns share_ratio",
		    "compute 800 0.8\ndata_stall 100 0.1\ntransfer 100 0.1\n");
	check_table(a, "cross_rank_path.ranks: rank step_ns share_ratio", "1 600 0.6\n0 300 0.3\n");
	check_table(a, "cross_rank_path.collectives: kind group count step_ns share_ratio",
		    "all_reduce dp 1 100 0.1\n");
}

/*
 * B waits on its stream for A, and ranks wait for B: back from 1000 over compute 390, B's transfer
 * of 200, a lag of 10 after A, A's 300, and compute 100 until A was ready. What rank 0 computed
 * between (100 to 300) is not on the chain.
 */
TEST(test_queue)
{
	static const char text[] =
		"rank 0\n"
		"step 1 0 1000\n"
		"compute 0 300\n"
		"exposed_comm 300 610\n"
		"compute 610 1000\n"
		"all_reduce 100 400 group=dp ranks=0,1 seq=0 bytes=64\n"
		"all_reduce 410 610 group=dp ranks=0,1 seq=1 bytes=64 ready=200\n"
		"rank 1\n"
		"step 1 0 1000\n"
		"compute 0 300\n"
		"exposed_comm 300 610\n"
		"compute 610 1000\n"
		"all_reduce 100 400 group=dp ranks=0,1 seq=0 bytes=64\n"
		"all_reduce 410 610 group=dp ranks=0,1 seq=1 bytes=64 ready=200\n";
	struct test_world *w = test_world(text);
	struct analyzed *a = analyze_world(w, NULL);

	check_facts(a, "cross_rank_path: length_ns local_ns transfer_ns", "1000 500 500");
	check_table(a, "cross_rank_path.lines: line step_ns",
		    "transfer 500\ncompute 490\ndevice_gap 10\n");
	check_table(a, "cross_rank_path.collectives: count step_ns", "2 500\n");
}

/*
 * The same with A on another stream, after whose end B begins at once: back over compute 390, B's
 * 200, a lag of 10, A's 300 and compute 100. B was ready at 200, where it might have begun.
 */
TEST(test_other_stream)
{
	static const char one[] =
		"step 1 0 1000\n"
		"compute 0 300\n"
		"exposed_comm 300 610\n"
		"compute 610 1000\n"
		"all_reduce 100 400 group=dp ranks=0,1 seq=0 bytes=64 stream=1\n"
		"all_reduce 410 610 group=ep ranks=0,1 seq=0 bytes=64 ready=200 stream=2\n";
	char text[1024];

	(void)snprintf(text, sizeof(text), "rank 0\n%srank 1\n%s", one, one);
	struct test_world *w = test_world(text);
	struct analyzed *a = analyze_world(w, NULL);
	check_facts(a, "cross_rank_path: length_ns local_ns transfer_ns", "1000 500 500");
	check_table(a, "cross_rank_path.lines: line step_ns",
		    "transfer 500\ncompute 490\ndevice_gap 10\n");
}

/*
 * Rank 0 comes at 500 and is through at 600, rank 1 is so at 800 only. From its end at 1000: compute
 * 200, 200 that passed on it after the first end, the transfer of 100, rank 0's compute of 500.
 */
TEST(test_tail)
{
	static const char text[] = "rank 0\n"
				   "step 1 0 800\n"
				   "compute 0 500\n"
				   "exposed_comm 500 600\n"
				   "compute 600 800\n"
				   "all_reduce 500 600 group=dp ranks=0,1 seq=0 bytes=64\n"
				   "rank 1\n"
				   "step 1 0 1000\n"
				   "compute 0 400\n"
				   "exposed_comm 400 800\n"
				   "compute 800 1000\n"
				   "all_reduce 400 800 group=dp ranks=0,1 seq=0 bytes=64\n";
	struct test_world *w = test_world(text);

	for (size_t rank = 0; rank < w->rank_count; rank++)
		w->world->clocks[rank] = (struct rank_clock){ .is_known = true };
	struct analyzed *a = analyze_world(w, NULL);
	check_facts(a, "cross_rank_path: length_ns local_ns transfer_ns", "1000 900 100");
	check_table(a, "cross_rank_path.lines: line step_ns",
		    "compute 700\nexposed_comm 200\ntransfer 100\n");
	check_table(a, "cross_rank_path.ranks: rank step_ns", "0 500\n1 400\n");
}

/* Three steps of 334, 333 and 333: a third of the sums, which still sum to the length. */
TEST(test_division)
{
	static const char text[] = "rank 0\n"
				   "step 1 0 334\nstep 2 334 667\nstep 3 667 1000\n"
				   "compute 0 500\nexposed_comm 500 600\ncompute 600 1000\n"
				   "all_reduce 500 600 group=dp ranks=0,1 seq=0 bytes=64\n"
				   "rank 1\n"
				   "step 1 0 334\nstep 2 334 667\nstep 3 667 1000\n"
				   "compute 0 500\nexposed_comm 500 600\ncompute 600 1000\n"
				   "all_reduce 500 600 group=dp ranks=0,1 seq=0 bytes=64\n";
	struct test_world *w = test_world(text);
	struct analyzed *a = analyze_world(w, NULL);

	/* 900 and 100 by 3: 300 and, of 1000 by 3 = 333, 33. */
	check_facts(a, "cross_rank_path: step_count length_ns local_ns transfer_ns",
		    "3 333 300 33");
}
