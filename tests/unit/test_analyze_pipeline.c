/* SPDX-License-Identifier: MIT */
/* Bubbles of a pipeline from the steps of its ranks, by hand, and from what they send. */
#include "memory_sweep.h"
#include "step_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"

enum { MAX_RANKS = 4 };

#define ALL                                                                                        \
	"pipeline: stage_count n_steps wall_ns bubble_ratio ideal_bubble_ratio excess_ratio "      \
	"busiest_stage idlest_stage"

static struct analyzed *analyze_texts(const char *const *texts, size_t rank_count, bool sends,
				      const struct tscope_analysis_options *options)
{
	struct step_series ranks[MAX_RANKS];

	for (size_t i = 0; i < rank_count; i++) {
		ranks[i] = test_steps(texts[i]);
		ranks[i].rank = (int64_t)i;
		ranks[i].has_point_to_point = sends;
		ranks[i].world_size = sends ? (int64_t)rank_count : -1;
	}
	return analyze_run(ranks, rank_count, options);
}

/*
 * Step 1 lasts 110 (rank 2), step 2 lasts 80 (rank 1). Of ranks 0 and 1 the compute
 * is 60 80, then 70 50; of ranks 2 and 3 it is 30 50, then 40 60.
 */
static const char *const four_ranks[] = {
	"1 forward=60 comm=40\n2 forward=70\n",
	"1 forward=50 backward=30 comm=10\n2 forward=50 comm=30\n",
	"1 forward=30 other=80\n2 compute=40\n",
	"1 optimizer=50\n2 forward=60\n",
};

TEST(blocks_of_ranks)
{
	/*
	 * Busy: (60 + 80) ÷ 2 + (70 + 50) ÷ 2 = 130 and 90 of 190. Bubble 1 − 220 ÷ 380;
	 * ideal of 4 microbatches 1 ÷ 5.
	 */
	struct tscope_analysis_options options = { .pipeline_stages = 2, .microbatches = 4 };
	struct analyzed *a = analyze_texts(four_ranks, 4, false, &options);

	check_facts(a, ALL, "2 2 190 0.421053 0.2 0.221053 0 1");
	check_table(a, "pipeline.stages: stage busy_ns bubble_ratio",
		    "0 130 0.315789\n1 90 0.526316\n");
}

TEST(ranks_that_send_are_stages)
{
	struct analyzed *a = analyze_texts(four_ranks, 4, true, NULL);

	/* Busy 130 130 70 110: 440 of 4 × 190. Of equals, the first. */
	check_facts(a, ALL, "4 2 190 0.421053 - - 0 2");
	check_table(a, "pipeline.stages: stage busy_ns", "0 130\n1 130\n2 70\n3 110\n");
}

/* What the user says goes before what the traces show. */
TEST(stages_that_ranks_do_not_divide_into)
{
	static const unsigned stages[] = { 3, 8 };

	for (size_t i = 0; i < TSI_COUNT_OF(stages); i++) {
		struct tscope_analysis_options options = { .pipeline_stages = stages[i] };
		struct analyzed *a = analyze_texts(four_ranks, 4, true, &options);
		check_facts(a, ALL, "- - - - - - - -");
	}
}

TEST(an_ideal_schedule_has_no_excess)
{
	/* 8 microbatches through 4 stages: 8 of 11 slots each; 3 ÷ 11. */
	static const char *const texts[] = {
		"1 forward=8 other=3\n",
		"1 forward=8 other=3\n",
		"1 forward=8 other=3\n",
		"1 forward=8 other=3\n",
	};
	struct tscope_analysis_options options = { .microbatches = 8 };
	struct analyzed *a = analyze_texts(texts, 4, true, &options);

	check_facts(a, ALL, "4 1 11 0.272727 0.272727 0 0 0");
}

TEST(without_pipeline)
{
	static const char *const zeros[] = { "1 forward=0\n", "1 forward=0\n" };
	static const char *const apart[] = { "1 forward=9\n", "2 forward=9\n" };
	struct tscope_analysis_options two_stages = { .pipeline_stages = 2 };
	struct analyzed *cases[] = {
		analyze_texts(four_ranks, 4, false, NULL),
		analyze_texts(four_ranks, 1, true, NULL),
		analyze_texts(zeros, 2, true, NULL),
		analyze_texts(apart, 2, false, &two_stages),
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		check_facts(cases[i], ALL, "- - - - - - - -");
		check_table(cases[i], "pipeline.stages: stage", "");
	}
}

TEST(a_doubt_stays)
{
	struct step_series ranks[2] = { test_steps("1 forward=5\n"), test_steps("1 forward=5\n") };
	struct tscope_analysis_options options = { .pipeline_stages = 2 };

	ranks[0].is_of_trace = ranks[1].is_of_trace = true;
	ranks[0].doubt = "clocks run backwards";
	struct analyzed *a = analyze_run(ranks, 2, &options);
	check_reliability(a, "pipeline", "clocks run backwards");
}

/* ---- from sends and receives ---- */

#define SCHEDULE                                                                                   \
	"pipeline: stage_count microbatch_count virtual_stage_count is_inferred bubble_ratio "     \
	"stall_ratio ideal_bubble_ratio excess_ratio excess_ns_per_step"

enum { TEXT_BYTES = 1 << 18, FORWARD = 10, BACKWARD = 20, STEPS = 3 };

/*
 * All microbatches go forward through all stages, then back, without a pause: each stage computes
 * for (FORWARD + BACKWARD) × rounds in (FORWARD + BACKWARD) × (rounds + stages - 1), where rounds
 * are microbatches × virtual stages.
 */
struct flow {
	int stage_count, microbatch_count, virtual_count;
	int replica_count;    /* rank = stage × replica_count + replica, or */
	const int *ranks;     /* by stage, of one replica */
	bool is_forward_only; /* no backward: nothing is sent back, and nothing else is done */
	bool has_shapes;      /* each message follows a small one */
	int extra;            /* more time that the last stage needs at the end of a step */
	const char *more;     /* said of each message */
};

struct text {
	char *bytes;
	size_t length;
};

TSI_PRINTF(2, 3) static void put(struct text *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text->length += (size_t)vsnprintf(text->bytes + text->length, TEXT_BYTES - text->length,
					  format, args);
	va_end(args);
	assert_true(text->length < TEXT_BYTES);
}

static int rank_of(const struct flow *flow, int stage, int replica)
{
	return flow->ranks ? flow->ranks[stage] : stage * flow->replica_count + replica;
}

static void put_message(struct text *text, const struct flow *flow, int at, bool is_send, int peer)
{
	if (flow->has_shapes)
		put(text, "send_recv %d %d %s peer=%d bytes=24\n", at, at + 1,
		    is_send ? "send" : "", peer);
	put(text, "send_recv %d %d %s peer=%d bytes=4000 %s\n", at + flow->has_shapes,
	    at + 1 + flow->has_shapes, is_send ? "send" : "", peer, flow->more ? flow->more : "");
}

/* What a stage does with a microbatch: from the stage before it, and on to the one after it. */
static void put_work(struct text *text, const struct flow *flow, int at, int duration,
		     const int *peers)
{
	put(text, "compute %d %d\n", at, at + duration);
	if (peers[0] >= 0)
		put_message(text, flow, at, false, peers[0]);
	if (peers[1] >= 0)
		put_message(text, flow, at + duration, true, peers[1]);
}

/* The stage that is so far on in the flow of all virtual stages; -1 beyond its ends. */
static int rank_at(const struct flow *flow, int place, int replica)
{
	if (place < 0 || place >= flow->stage_count * flow->virtual_count)
		return -1;
	return rank_of(flow, place % flow->stage_count, replica);
}

static int step_ns(const struct flow *flow)
{
	int slots = flow->microbatch_count * flow->virtual_count + flow->stage_count - 1;

	return slots * (FORWARD + (flow->is_forward_only ? 0 : BACKWARD)) + flow->extra;
}

/* What a stage stands still for, up to the next compute or the end of the flow. */
static void put_stall(struct text *text, int from, int to)
{
	if (from < to)
		put(text, "exposed_comm %d %d\n", from, to);
}

static void put_step(struct text *text, const struct flow *flow, int stage, int replica, int start)
{
	int rounds = flow->microbatch_count * flow->virtual_count;
	int behind = flow->stage_count - 1 - stage;
	int turn = start + (rounds + flow->stage_count - 1) * FORWARD;
	int back_home = turn + behind * BACKWARD;

	put_stall(text, start, start + stage * FORWARD);
	put_stall(text, turn - behind * FORWARD, flow->is_forward_only ? turn : back_home);
	if (!flow->is_forward_only)
		put_stall(text, back_home + rounds * BACKWARD, start + step_ns(flow) - flow->extra);
	for (int round = 0; round < rounds; round++) {
		int place = round / flow->microbatch_count * flow->stage_count + stage;
		int back = (flow->virtual_count - 1 - round / flow->microbatch_count) *
				   flow->stage_count +
			   stage;
		int forth[] = { rank_at(flow, place - 1, replica),
				rank_at(flow, place + 1, replica) };
		int home[] = { rank_at(flow, back + 1, replica), rank_at(flow, back - 1, replica) };

		put_work(text, flow, start + (round + stage) * FORWARD, FORWARD, forth);
		if (!flow->is_forward_only)
			put_work(text, flow, back_home + round * BACKWARD, BACKWARD, home);
	}
	if (stage == flow->stage_count - 1 && flow->extra > 0)
		put(text, "compute %d %d\n", start + step_ns(flow) - flow->extra,
		    start + step_ns(flow));
}

/* The ranks in ascending order. */
static char *text_of(const struct flow *flow)
{
	struct text text = { .bytes = calloc(TEXT_BYTES, 1) };

	assert_non_null(text.bytes);
	for (int rank = 0; rank < flow->stage_count * flow->replica_count; rank++) {
		int stage = 0, replica = rank % flow->replica_count;

		while (rank_of(flow, stage, replica) != rank)
			stage++;
		put(&text, "rank %d\n", rank);
		for (int step = 0; step < STEPS; step++) {
			int start = step * (step_ns(flow) + 10);

			put(&text, "step %d %d %d\n", step, start, start + step_ns(flow) + 10);
			put_step(&text, flow, stage, replica, start);
		}
	}
	return text.bytes;
}

static struct analyzed *analyze_flow(const struct flow *flow,
				     const struct tscope_analysis_options *options)
{
	char *text = text_of(flow);
	struct test_world *w = test_world(text);

	free(text);
	/* As traces with sends say of themselves: no reason to call each rank a stage. */
	for (size_t i = 0; i < w->rank_count; i++) {
		w->series[i].has_point_to_point = true;
		w->series[i].world_size = (int64_t)w->rank_count;
	}
	return analyze_world(w, options);
}

/* Steps are 10 ns longer than the flow: nobody waits for another then. */
TEST(schedules)
{
	static const int turned[] = { 2, 0, 3, 1 };
	static const struct {
		struct flow flow;
		const char *facts;
	} cases[] = {
		/* 4 of 6 slots of 30 in 190: 120 ÷ 190; ideal 2 ÷ 6. */
		{ { 3, 4, 1, 1, NULL, false, false, 0, NULL },
		  "3 4 1 yes 0.368421 0.333333 0.333333 0 0" },
		/* 8 of 9 slots in 280; ideal 1 ÷ 9. */
		{ { 2, 8, 1, 1, NULL, false, false, 0, NULL },
		  "2 8 1 yes 0.142857 0.111111 0.111111 0 0" },
		/* Two copies. */
		{ { 3, 4, 1, 2, NULL, false, false, 0, NULL },
		  "3 4 1 yes 0.368421 0.333333 0.333333 0 0" },
		/* Twice through all of them: 12 of 14 in 430; ideal 2 ÷ 14. */
		{ { 3, 6, 2, 1, NULL, false, false, 0, NULL },
		  "3 6 2 yes 0.162791 0.142857 0.142857 0 0" },
		/* Three times: 15 of 18 slots in 550; 3 ÷ 18. */
		{ { 4, 5, 3, 1, NULL, false, false, 0, NULL },
		  "4 5 3 yes 0.181818 0.166667 0.166667 0 0" },
		/* Only forward: 4 of 6 slots of 10, 40 ÷ 70. */
		{ { 3, 4, 1, 1, NULL, true, false, 0, NULL },
		  "3 4 1 yes 0.428571 0.333333 0.333333 0 0" },
		{ { 3, 4, 1, 1, NULL, false, true, 0, NULL },
		  "3 4 1 yes 0.368421 0.333333 0.333333 0 0" },
		/* Stages that are not in the order of ranks. 4 of 7 slots in 220; 3 ÷ 7. */
		{ { 4, 4, 1, 1, turned, false, false, 0, NULL },
		  "4 4 1 yes 0.454545 0.428571 0.428571 0 0" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct analyzed *a = analyze_flow(&cases[i].flow, NULL);

		check_facts(a, SCHEDULE, cases[i].facts);
	}
}

/* The last stage computes 120 + 60 in each step of 250, the others 120: mean 140. */
TEST(an_uneven_stage)
{
	static const struct flow flow = { 3, 4, 1, 2, NULL, false, false, 60, NULL };
	struct analyzed *a = analyze_flow(&flow, NULL);

	check_facts(a,
		    "pipeline: n_steps wall_ns busiest_stage idlest_stage stage_imbalance_ratio "
		    "bubble_ratio",
		    "3 750 2 0 0.285714 0.44");
	check_table(a, "pipeline.stages: stage ranks busy_ns bubble_ratio",
		    "0 0-1 360 0.52\n1 2-3 360 0.52\n2 4-5 540 0.28\n");
}

/* What the user says goes before what the traces show, which fills in what he leaves out. */
TEST(options_come_first)
{
	static const struct flow flow = { 3, 4, 1, 2, NULL, false, false, 0, NULL };
	static const struct {
		struct tscope_analysis_options options;
		const char *facts, *stages;
	} cases[] = {
		/*
		 * 2 ÷ 12. Each rank computes for 120 and waits for 60 in a step, of which
		 * 120 ÷ 5 would do.
		 */
		{ { .microbatches = 10 },
		  "3 10 1 yes 0.368421 0.333333 0.166667 0.166667 36",
		  "0-1\n2-3\n4-5\n" },
		{ { .pipeline_stages = 3 },
		  "3 4 1 no 0.368421 0.333333 0.333333 0 0",
		  "0-1\n2-3\n4-5\n" },
		{ { .pipeline_stages = 2 }, "2 - - no 0.368421 0.333333 - - -", "0-2\n3-5\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct analyzed *a = analyze_flow(&flow, &cases[i].options);

		check_facts(a, SCHEDULE, cases[i].facts);
		check_table(a, "pipeline.stages: ranks", cases[i].stages);
	}
}

/*
 * The first step does not count. In the second both transfer for 20, which is no waiting for
 * another stage; rank 0 waits for 20 more: 20 ÷ (60 + 80 + 20).
 */
TEST(transfers_are_no_stalls)
{
	struct test_world *w =
		test_world("rank 0\nstep 1 0 100 first\ncompute 0 10\nexposed_comm 10 90\n"
			   "step 2 100 200\ncompute 100 160\nexposed_comm 160 200\n"
			   "all_reduce 160 200 group=dp ranks=0,1 seq=1\n"
			   "rank 1\nstep 1 0 100 first\ncompute 0 10\nexposed_comm 10 90\n"
			   "step 2 100 200\ncompute 100 180\nexposed_comm 180 200\n"
			   "all_reduce 180 200 group=dp ranks=0,1 seq=1\n");
	struct tscope_analysis_options options = { .pipeline_stages = 2 };
	struct analyzed *a = analyze_world(w, &options);

	check_facts(a, SCHEDULE, "2 - - no 0.3 0.125 - - -");
}

static void check_no_pipeline(const char *text)
{
	struct test_world *w = test_world(text);

	for (size_t i = 0; i < w->rank_count; i++) {
		w->series[i].has_point_to_point = true;
		w->series[i].world_size = (int64_t)w->rank_count;
	}
	struct analyzed *a = analyze_world(w, NULL);
	assert_true(w->world->match_count > 0);
	check_facts(a, SCHEDULE, "- - - - - - - - -");
}

#define A_STEP_OF(rank) "rank " rank "\nstep 1 0 100\ncompute 0 50\n"
#define SEND(at, peer) "send_recv " at "0 " at "9 send peer=" peer " bytes=64\n"
#define RECEIVE(at, peer) "send_recv " at "0 " at "9 peer=" peer " bytes=64\n"

static const char *const other_flows[] = {
	/* All send at once, as attention over parts of a sequence does. */
	A_STEP_OF("0") SEND("1", "1") RECEIVE("1", "3") A_STEP_OF("1") SEND("1", "2")
		RECEIVE("1", "0") A_STEP_OF("2") SEND("1", "3") RECEIVE("1", "1") A_STEP_OF("3")
			SEND("1", "0") RECEIVE("1", "2"),
	A_STEP_OF("0") SEND("1", "1") RECEIVE("1", "1") A_STEP_OF("1") SEND("1", "0")
		RECEIVE("1", "0"),
	/* One that sends to three others. */
	A_STEP_OF("0") SEND("1", "1") SEND("2", "2") SEND("3", "3") A_STEP_OF("1") RECEIVE("1", "0")
		A_STEP_OF("2") RECEIVE("2", "0") A_STEP_OF("3") RECEIVE("3", "0"),
	/* A chain that a fourth rank hangs on. */
	A_STEP_OF("0") SEND("1", "1") A_STEP_OF("1") RECEIVE("1", "0") SEND("3", "2") SEND("5", "3")
		A_STEP_OF("2") RECEIVE("3", "1") A_STEP_OF("3") RECEIVE("5", "1"),
	/* A first rank that has one on either side. */
	A_STEP_OF("0") RECEIVE("1", "1") A_STEP_OF("1") SEND("1", "0") SEND("2", "2") A_STEP_OF("2")
		RECEIVE("2", "1"),
	/* Chains of two and of three. */
	A_STEP_OF("0") SEND("1", "1") A_STEP_OF("1") RECEIVE("1", "0") A_STEP_OF("2") SEND("1", "3")
		A_STEP_OF("3") RECEIVE("1", "2") SEND("3", "4") A_STEP_OF("4") RECEIVE("3", "3"),
};

TEST(other_messages)
{
	static const struct flow ring_of_two = { 2, 4, 1, 1, NULL, false, false, 0, "group=cp" };
	char *context = text_of(&ring_of_two);

	for (size_t i = 0; i < TSI_COUNT_OF(other_flows); i++)
		check_no_pipeline(other_flows[i]);
	/* Two that take turns, by the name of their group. */
	check_no_pipeline(context);
	free(context);
}

/* Stages 1 to 3 of 4: who is before the first one is not known. */
TEST(a_chain_that_was_not_read)
{
	static const struct flow flow = { 4, 4, 1, 1, NULL, false, false, 0, NULL };
	char *text = text_of(&flow), *rank_1 = strstr(text, "rank 1\n");

	assert_non_null(rank_1);
	check_no_pipeline(rank_1);
	free(text);
}

TEST(memory_ends)
{
	static const struct flow flow = { 3, 6, 2, 1, NULL, false, false, 0, NULL };
	char *text = text_of(&flow);
	struct test_world *w = test_world(text);

	sweep_world("pipeline", w, 11);
	free(text);
}
