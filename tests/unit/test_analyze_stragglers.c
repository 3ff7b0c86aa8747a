/* SPDX-License-Identifier: MIT */
/* Who is late, and why: worlds in which each rank has so much of each line in every step. */
#include "world_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"
#include "memory_sweep.h"

enum { MAX_RANKS = 8, TEXT_BYTES = 1 << 19, TRANSFER_NS = 10 };

/* A rank: what it does in each step before the collective that all wait in. */
struct plan {
	const char *head; /* words of its line; NULL: none */
	int64_t compute_ns, data_ns, launch_ns, sync_ns, copy_ns, gap_ns;
	int64_t first_ns;    /* more launch time in the first step */
	const char *kernels; /* its lines; NULL: none */
};

struct text {
	char *chars;
	size_t length;
};

TSI_PRINTF(2, 3) static void add(struct text *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int length = vsnprintf(text->chars + text->length, TEXT_BYTES - text->length, format, args);
	va_end(args);
	assert_true(length >= 0 && text->length + (size_t)length < TEXT_BYTES);
	text->length += (size_t)length;
}

static int64_t add_piece(struct text *text, const char *line, int64_t start_ns, int64_t ns)
{
	if (ns > 0)
		add(text, "%s %" PRId64 " %" PRId64 "\n", line, start_ns, start_ns + ns);
	return start_ns + ns;
}

static int64_t launch_of(const struct plan *plan, size_t step)
{
	return plan->launch_ns + (step == 0 ? plan->first_ns : 0);
}

static int64_t local_of(const struct plan *plan, size_t step)
{
	return plan->compute_ns + plan->data_ns + launch_of(plan, step) + plan->sync_ns +
	       plan->copy_ns + plan->gap_ns;
}

static int64_t most_of(const struct plan *plans, size_t rank_count, size_t step)
{
	int64_t most_ns = 0;

	for (size_t i = 0; i < rank_count; i++)
		most_ns = local_of(&plans[i], step) > most_ns ? local_of(&plans[i], step) : most_ns;
	return most_ns;
}

/* A step that begins at start_ns, in which the last rank comes to the collective at last_ns. */
static void add_step(struct text *text, const struct plan *plan, size_t number, int64_t start_ns,
		     int64_t last_ns)
{
	int64_t at_ns = start_ns, end_ns = last_ns + TRANSFER_NS;

	add(text, "step %zu %" PRId64 " %" PRId64 "\n", number, start_ns, end_ns);
	at_ns = add_piece(text, "data_stall", at_ns, plan->data_ns);
	at_ns = add_piece(text, "launch_stall", at_ns, launch_of(plan, number));
	at_ns = add_piece(text, "sync_stall", at_ns, plan->sync_ns);
	at_ns = add_piece(text, "exposed_copy", at_ns, plan->copy_ns);
	at_ns = add_piece(text, "device_gap", at_ns, plan->gap_ns);
	at_ns = add_piece(text, "compute", at_ns, plan->compute_ns);
	add_piece(text, "exposed_comm", at_ns, end_ns - at_ns);
	add(text, "all_reduce %" PRId64 " %" PRId64 " group=dp size=%s seq=%zu bytes=64\n", at_ns,
	    end_ns, "%", number);
}

static char *world_of(const struct plan *plans, size_t rank_count, size_t step_count)
{
	struct text text = { calloc(TEXT_BYTES, 1), 0 };
	char size[8];

	assert_non_null(text.chars);
	snprintf(size, sizeof(size), "%zu", rank_count);
	for (size_t i = 0; i < rank_count; i++) {
		add(&text, "rank %zu %s\n%s", i, plans[i].head ? plans[i].head : "",
		    plans[i].kernels ? plans[i].kernels : "");
		int64_t start_ns = 0;
		for (size_t step = 0; step < step_count; step++) {
			int64_t last_ns = start_ns + most_of(plans, rank_count, step);
			add_step(&text, &plans[i], step, start_ns, last_ns);
			start_ns = last_ns + TRANSFER_NS;
		}
	}
	for (char *at = text.chars; (at = strchr(at, '%')); at++)
		*at = size[0];
	return text.chars;
}

/* What is said of ranks with such plans. */
static struct analyzed *analyze_plans(const struct plan *plans, size_t rank_count,
				      size_t step_count,
				      const struct tscope_analysis_options *options)
{
	char *text = world_of(plans, rank_count, step_count);
	struct test_world *w = test_world(text);

	free(text);
	return analyze_world(w, options);
}

/* ---- who ---- */

TEST(a_rank_that_computes_longer)
{
	static const struct plan plans[] = {
		{ .compute_ns = 80, .gap_ns = 20 },
		{ .compute_ns = 80, .gap_ns = 20 },
		{ .compute_ns = 100, .gap_ns = 20 },
		{ .compute_ns = 80, .gap_ns = 20 },
	};
	struct analyzed *a = analyze_plans(plans, 4, 10, NULL);

	/* Compute 100 by 80, more than local time's 120 by 100; replayed, all steps end 20 sooner. */
	check_table(a, "distributed.slow_ranks: rank excess_ratio gain_ns basis",
		    "2 0.25 20 compute\n");
	check_facts(a, "distributed: slow_gain_ns slow_gain_ratio slow_gain_is_simulated",
		    "20 0.153846 yes");
	check_facts(
		a, "stragglers: slow_rank_count worst_rank excess_ns_per_step excess_ratio skew_ns",
		"1 2 20 0.2 20");
	check_table(a,
		    "stragglers.causes: rank line excess_ns_per_step line_excess_ns_per_step "
		    "excess_ratio",
		    "2 compute 20 20 0.2\n");
	check_table(
		a, "stragglers.lines: line rank_ns others_ns excess_ns",
		"compute 100 80 20\nexposed_comm 0 0 0\nexposed_copy 0 0 0\ndata_stall 0 0 0\n"
		"sync_stall 0 0 0\nlaunch_stall 0 0 0\ndevice_gap 20 20 0\nunattributed 0 0 0\n");
	/* The others' medians: of 100 100 120, so 100; of the late one 100 as well. */
	check_table(a, "stragglers.ranks: rank local_ns excess_ratio",
		    "0 100 0\n1 100 0\n2 120 0.2\n3 100 0\n");
}

/* Its kernels are as fast as all others': only its own time shows it. */
TEST(a_rank_that_is_late_otherwise)
{
	static const struct plan plans[] = {
		{ .compute_ns = 80, .data_ns = 20 },
		{ .compute_ns = 80, .data_ns = 30 },
		{ .compute_ns = 80, .data_ns = 20 },
		{ .compute_ns = 80, .data_ns = 20 },
	};
	struct analyzed *a = analyze_plans(plans, 4, 10, NULL);

	check_table(a, "distributed.slow_ranks: rank excess_ratio gain_ns basis",
		    "1 0.1 10 local_time\n");
	check_table(a, "stragglers.causes: late_ns before", "10 all_reduce #1\n");
	check_table(a, "distributed.ranks: excess_ratio p_value", "0 1\n0 1\n0 1\n0 1\n");
}

/* 30 of 100 ns of compute are named, though they are 0.5 % of the step. */
TEST(a_small_gain_is_a_gain)
{
	struct plan usual = { .compute_ns = 100, .data_ns = 5900 }, late = usual;

	late.compute_ns = 130;
	struct plan plans[] = { usual, usual, late, usual };
	struct analyzed *a = analyze_plans(plans, 4, 30, NULL);

	check_table(a, "distributed.slow_ranks: rank excess_ratio gain_ns", "2 0.3 30\n");
}

TEST(nobody_is_named)
{
	static const struct {
		int64_t compute_ns[4];
		size_t step_count;
		double min_excess;
	} cases[] = {
		{ { 100, 100, 100, 100 }, 30, 0 },
		/* Below the threshold of 3 %, always the same one; below what was asked for. */
		{ { 1000, 1029, 1000, 1000 }, 30, 0 },
		{ { 100, 150, 100, 100 }, 30, 0.6 },
		/* A fast one. */
		{ { 100, 50, 100, 100 }, 30, 0 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_analysis_options options = { .slow_rank_min_excess =
								   cases[i].min_excess };
		struct plan plans[4] = { 0 };

		for (size_t rank = 0; rank < 4; rank++)
			plans[rank].compute_ns = cases[i].compute_ns[rank];
		struct analyzed *a = analyze_plans(plans, 4, cases[i].step_count, &options);
		check_table(a, "distributed.slow_ranks: rank", "");
		check_facts(a, "stragglers: slow_rank_count cause worst_rank", "0 - -");
		check_table(a, "stragglers.causes: rank", "");
		check_table(a, "stragglers.lines: line", "");
	}
}

/* Where nothing is asked for, 3 % is enough, if so small an excess can stand out. */
TEST(the_least_excess_that_is_named)
{
	static const struct plan plans[] = { { .compute_ns = 1000 }, { .compute_ns = 1048 },
					     { .compute_ns = 1000 }, { .compute_ns = 1000 },
					     { .compute_ns = 1000 }, { .compute_ns = 1000 },
					     { .compute_ns = 1000 }, { .compute_ns = 1000 } };
	struct analyzed *a = analyze_plans(plans, 8, 30, NULL);

	check_table(a, "stragglers.causes: rank excess_ratio", "1 0.048\n");
}

/* ---- why ---- */

/* Of these, in all steps together. */
#define KERNELS(gemm, norm, softmax, add)                                                          \
	"kernel gemm 100 " #gemm " blocks=6400\nkernel norm 100 " #norm                            \
	" blocks=3200\nkernel softmax 100 " #softmax " blocks=1600\nkernel add 100 " #add          \
	" blocks=1600\nkernel nccl 10 99999 comm\n"
#define USUAL KERNELS(600, 200, 100, 100)

TEST(causes)
{
	/* In ten steps gemm has 60 of 100 ns a step, norm 20, the others 10. */
	static const struct {
		struct plan late;
		const char *cause, *detail;
	} cases[] = {
		{ { .compute_ns = 100, .data_ns = 1050000 },
		  "slow_loader",
		  "it waits 1.050 ms longer per step for its data loader" },
		{ { .compute_ns = 100, .launch_ns = 2000000 },
		  "slow_host",
		  "its device waits 2.000 ms longer per step for its host to launch work" },
		{ { .compute_ns = 100, .sync_ns = 2000000 },
		  "sync",
		  "its device idles 2.000 ms longer per step while its host waits in synchronizing "
		  "calls" },
		{ { .compute_ns = 100, .copy_ns = 2000000 },
		  "copies",
		  "its device does nothing but copy for 2.000 ms more per step" },
		{ { .compute_ns = 100, .gap_ns = 2000000 },
		  "unknown",
		  "gaps between its queued kernels take 2.000 ms more per step" },
		{ { .compute_ns = 110, .kernels = KERNELS(660, 220, 110, 110) },
		  "slow_clock",
		  "kernels 10.0 % longer throughout, as with lower clocks" },
		/* All but gemm by half: 40 → 60 of 100 ns, 20 % of it all; 10 is half of that. */
		{ { .compute_ns = 120, .kernels = KERNELS(600, 300, 150, 150) },
		  "slow_kernels",
		  "some kernels take longer: mostly norm, by 50.0 %, 10 ns per step" },
		/* norm alone. */
		{ { .compute_ns = 110, .kernels = KERNELS(600, 300, 100, 100) },
		  "slow_kernels",
		  "some kernels take longer: mostly norm, by 50.0 %, 10 ns per step" },
		/* 120 calls of each in ten steps, 12 × 4 a step. */
		{ { .compute_ns = 120,
		    .kernels = "kernel gemm 120 720 blocks=7680\nkernel norm 120 240 blocks=3840\n"
			       "kernel softmax 120 120 blocks=1920\n"
			       "kernel add 120 120 blocks=1920\n" },
		  "more_work",
		  "it runs 48 kernels per step, the others 40" },
		/* As many, with a fifth more blocks. */
		{ { .compute_ns = 120,
		    .kernels = "kernel gemm 100 720 blocks=7680\nkernel norm 100 240 blocks=3840\n"
			       "kernel softmax 100 120 blocks=1920\n"
			       "kernel add 100 120 blocks=1920\n" },
		  "more_work",
		  "it runs as many kernels as the others, but larger ones: 20 ns more per step" },
		/* A kernel of its own, beside the others. */
		{ { .compute_ns = 120, .kernels = USUAL "kernel extra 10 200\n" },
		  "more_work",
		  "it runs 41 kernels per step, the others 40" },
		/* A slower one in place of softmax: nothing says what it would have taken. */
		{ { .compute_ns = 120,
		    .kernels = "kernel gemm 100 600 blocks=6400\nkernel norm 100 200 blocks=3200\n"
			       "kernel tiled_softmax 100 300 blocks=1600\n"
			       "kernel add 100 100 blocks=1600\n" },
		  "unknown",
		  "it computes 20 ns longer per step, which its kernels do not explain" },
		{ { .compute_ns = 120 },
		  "unknown",
		  "it computes 20 ns longer per step, which its kernels do not explain" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct plan usual = { .compute_ns = 100, .kernels = USUAL };
		struct plan plans[] = { usual, usual, cases[i].late, usual };
		struct analyzed *a = analyze_plans(plans, 4, 10, NULL);
		char expected[256];

		snprintf(expected, sizeof(expected), "2 %s %s\n", cases[i].cause, cases[i].detail);
		check_table(a, "stragglers.causes: rank cause detail", expected);
		check_facts(a, "stragglers: cause", cases[i].cause);
	}
}

/* What the main thread is in says more than the line: where it explains 24 of 30 ns a step. */
TEST(places)
{
	static const struct {
		struct plan late;
		const char *expected;
	} cases[] = {
		{ { .compute_ns = 100,
		    .launch_ns = 30,
		    .kernels = "place forward 200 7 9\nplace save 240 70 50\n" },
		  "2 slow_host save 24 0 50 70\n" },
		{ { .compute_ns = 100, .launch_ns = 30, .kernels = "place save 230 70 50\n" },
		  "2 slow_host - - - - -\n" },
		/* The others are there as long. */
		{ { .compute_ns = 100, .launch_ns = 30, .kernels = "place forward 300 7 9\n" },
		  "2 slow_host - - - - -\n" },
		{ { .compute_ns = 100, .launch_ns = 30, .kernels = "place forward 390 7 9\n" },
		  "2 slow_host forward 39 15 9 7\n" },
		{ { .compute_ns = 100, .sync_ns = 30, .kernels = "place item 240 1 2\n" },
		  "2 sync item 24 0 2 1\n" },
		/* The loader has a name. */
		{ { .compute_ns = 100, .data_ns = 30, .kernels = "place next 300 1 2\n" },
		  "2 slow_loader - - - - -\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct plan usual = { .compute_ns = 100, .kernels = "place forward 150 0 1\n" };
		struct plan plans[] = { usual, usual, cases[i].late, usual };
		struct analyzed *a = analyze_plans(plans, 4, 10, NULL);

		check_table(a,
			    "stragglers.causes: rank cause place place_ns others_place_ns "
			    "longest_ns longest_start_ns",
			    cases[i].expected);
		check_table(a, "stragglers.hold_ups: rank", "");
	}
}

/* Two steps name nobody; but in both rank 2 came last, 19 after the median of 106. */
TEST(who_held_the_others_up)
{
	static const struct plan plans[] = {
		{ .compute_ns = 100 },
		{ .compute_ns = 112 },
		{ .compute_ns = 100, .launch_ns = 25, .kernels = "place save 48 9 30\n" },
		{ .compute_ns = 88 },
	};
	struct analyzed *a = analyze_plans(plans, 4, 2, NULL);

	check_table(a, "stragglers.causes: rank", "");
	check_table(a,
		    "stragglers.hold_ups: rank steps step_count of most_ns excess_ns_per_step "
		    "place longest_ns longest_start_ns",
		    "2 0-1 2 2 19 19 save 30 9\n");
}

/* Of two ranks the faster is usual; the host of the other waits in item for its device. */
TEST(who_of_two_held_the_other_up)
{
	static const struct plan plans[] = {
		{ .compute_ns = 100 },
		{ .compute_ns = 130, .kernels = "place item 60 9 30\n" },
	};
	struct analyzed *a = analyze_plans(plans, 2, 2, NULL);

	check_table(a, "stragglers.hold_ups: rank step_count most_ns place", "1 2 30 -\n");
}

/* A step counts from a quarter of its most lateness on: half is enough, 7 of 47 are not. */
TEST(in_which_steps_it_held_them_up)
{
	static const struct {
		int64_t launch_ns, first_ns;
		const char *expected;
	} cases[] = {
		{ 25, 19, "2 0-1 2 2 38 29\n" },
		{ 13, 40, "2 0 1 2 47 27\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct plan plans[] = {
			{ .compute_ns = 100 },
			{ .compute_ns = 112 },
			{ .compute_ns = 100,
			  .launch_ns = cases[i].launch_ns,
			  .first_ns = cases[i].first_ns },
			{ .compute_ns = 88 },
		};
		struct analyzed *a = analyze_plans(plans, 4, 2, NULL);

		check_table(a,
			    "stragglers.hold_ups: rank steps step_count of most_ns "
			    "excess_ns_per_step",
			    cases[i].expected);
	}
}

/* Kernels of the late rank last so much longer; what else its compute holds nobody knows. */
TEST(kernels_that_are_hardly_longer)
{
	struct plan usual = { .compute_ns = 10000, .kernels = KERNELS(60000, 20000, 10000, 10000) };
	static const struct {
		struct plan late;
		const char *cause;
	} cases[] = {
		{ { .compute_ns = 11000, .kernels = KERNELS(60240, 20080, 10040, 10040) },
		  "slow_clock" }, /* 0.4 % */
		{ { .compute_ns = 11000, .kernels = KERNELS(60120, 20040, 10020, 10020) },
		  "unknown" }, /* 0.2 % */
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct plan plans[] = { usual, usual, cases[i].late, usual };
		struct analyzed *a = analyze_plans(plans, 4, 10, NULL);

		check_facts(a, "stragglers: cause", cases[i].cause);
	}
}

/* The worst is the one with most excess, whichever the rank. */
TEST(two_late_ranks)
{
	static const struct plan plans[] = {
		{ .compute_ns = 100 }, { .compute_ns = 110 }, { .compute_ns = 100 },
		{ .compute_ns = 100 }, { .compute_ns = 100 }, { .compute_ns = 100, .data_ns = 30 },
		{ .compute_ns = 100 }, { .compute_ns = 100 },
	};
	struct analyzed *a = analyze_plans(plans, 8, 20, NULL);

	check_facts(a, "stragglers: slow_rank_count cause worst_rank excess_ns_per_step",
		    "2 slow_loader 5 30");
	check_table(a, "stragglers.causes: rank cause excess_ns_per_step",
		    "1 unknown 10\n5 slow_loader 30\n");
	check_table(a, "stragglers.groups: kind", "");
}

/* ---- groups ---- */

TEST(what_late_ranks_share)
{
	static const struct {
		const char *heads[8];
		const char *late; /* digits */
		const char *groups;
	} cases[] = {
		{ { "node=a", "node=a", "node=b", "node=b", "node=c", "node=c", "node=d",
		    "node=d" },
		  "23",
		  "node b 2-3 2 2\n" },
		/* Two nodes. */
		{ { "node=a", "node=a", "node=b", "node=b", "node=c", "node=c", "node=d",
		    "node=d" },
		  "2367",
		  "node b 2-3 2 2\nnode d 6-7 2 2\n" },
		/* Half of a node; one rank of each; a rank elsewhere is late, too. */
		{ { "node=a", "node=a", "node=b", "node=b", "node=b", "node=b", "node=d",
		    "node=d" },
		  "23",
		  "" },
		{ { "node=a", "node=b", "node=c", "node=d", "node=e", "node=f", "node=g",
		    "node=h" },
		  "23",
		  "" },
		{ { "node=a", "node=a", "node=b", "node=b", "node=c", "node=c", "node=d",
		    "node=d" },
		  "236",
		  "" },
		/* Four of five are 80 %: that is the node. */
		{ { "node=a", "node=a", "node=a", "node=a", "node=a", "node=b", "node=b",
		    "node=b" },
		  "0124",
		  "node a 0-4 4 5\n" },
		/* All are on one node. */
		{ { "node=a", "node=a", "node=a", "node=a", "node=a", "node=a", "node=a",
		    "node=a" },
		  "23",
		  "" },
		/* The older devices. */
		{ { "device=H100", "device=A100", "device=H100", "device=A100", "device=H100",
		    "device=H100", "device=H100", "device=A100" },
		  "137",
		  "device A100 1, 3, 7 3 3\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct plan plans[8] = { 0 };

		for (size_t rank = 0; rank < 8; rank++) {
			char digit = (char)('0' + rank);
			plans[rank].head = cases[i].heads[rank];
			plans[rank].compute_ns = strchr(cases[i].late, digit) ? 120 : 100;
		}
		struct analyzed *a = analyze_plans(plans, 8, 20, NULL);
		check_table(a, "stragglers.groups: kind name ranks late_count rank_count",
			    cases[i].groups);
	}
}

/* ---- heat ---- */

TEST(heat_by_rank_and_step)
{
	static const struct plan plans[] = { { .compute_ns = 100 },
					     { .compute_ns = 100 },
					     { .compute_ns = 125 } };
	struct analyzed *a = analyze_plans(plans, 3, 2, NULL);

	check_table(a, "stragglers.heat: first_rank last_rank first_step last_step lateness_ratio",
		    "0 0 0 0 0\n0 0 1 1 0\n1 1 0 0 0\n1 1 1 1 0\n2 2 0 0 0.25\n2 2 1 1 0.25\n");
}

/* Stages are not late because others have less to do. */
TEST(heat_of_stages)
{
	static const struct plan plans[] = {
		{ .compute_ns = 100 },
		{ .compute_ns = 100 },
		{ .compute_ns = 200 },
		{ .compute_ns = 240 },
	};
	struct tscope_analysis_options options = { .pipeline_stages = 2 };
	struct analyzed *a = analyze_plans(plans, 4, 1, &options);

	/* The median of 200 and 240 is 220. */
	check_table(a, "stragglers.heat: first_rank lateness_ratio",
		    "0 0\n1 0\n2 -0.0909091\n3 0.0909091\n");
	check_facts(a, "stragglers: skew_ns", "20");
}

/* 130 steps in 64 blocks: 2.03 each, so that the last one ends with the last step. */
TEST(many_steps_are_blocks)
{
	static const struct plan plans[] = { { .compute_ns = 100 }, { .compute_ns = 100 } };
	struct analyzed *a = analyze_plans(plans, 2, 130, NULL);
	size_t analyzer = tscope_analyzer_find("stragglers.heat"), heat, other;

	assert_non_null(tscope_table_find("stragglers.heat", &other, &heat));
	const struct tscope_analysis *analysis = a->analysis;
	assert_int_equal(tscope_analysis_row_count(analysis, analyzer, heat, TSCOPE_WHOLE_TRACE),
			 2 * 64);
	assert_int_equal(
		tscope_analysis_cell(analysis, analyzer, heat, TSCOPE_WHOLE_TRACE, 63, 3).integer,
		129);
	assert_int_equal(
		tscope_analysis_cell(analysis, analyzer, heat, TSCOPE_WHOLE_TRACE, 64, 0).integer,
		1);
}

/* ---- edges ---- */

TEST(without_a_world_nothing_is_said)
{
	struct test_world *w = test_world("rank 0\nstep 1 0 10\ncompute 0 9\n"
					  "rank 1\nstep 1 0 10\ncompute 0 9\n");
	struct analyzed *a = analyze_run_of(w->series, w->rank_count, NULL, NULL);

	check_facts(a, "stragglers: slow_rank_count cause skew_ns", "- - -");
	check_table(a, "stragglers.ranks: rank", "");
}

/* Steps that do not count, or that one rank lacks, have no part in it. */
TEST(steps_that_count)
{
	struct test_world *w =
		test_world("rank 0\nstep 1 0 900 warmup\nstep 2 900 1000\n"
			   "step 3 1000 1100\nstep 4 1100 1200\ncompute 900 950\n"
			   "compute 1000 1060\ncompute 1100 1170\n"
			   "rank 1\nstep 1 0 100\nstep 2 900 1000\nstep 3 1000 1100\n"
			   "compute 0 90\ncompute 900 910\ncompute 1000 1010\n");
	struct analyzed *a = analyze_world(w, NULL);

	/* What nobody has said is device_gap: all of the steps 2 and 3, 200 ns of each rank. */
	check_table(a, "stragglers.ranks: rank local_ns", "0 100\n1 100\n");
	check_table(a, "stragglers.heat: first_rank first_step", "0 2\n0 3\n1 2\n1 3\n");
}

/* Records count a step that the trace does not: it has no local time to be trusted. */
TEST(steps_that_only_records_count)
{
	struct test_world *w = test_world("rank 0\nstep 1 0 900 warmup\nstep 2 900 1000\n"
					  "rank 1\nstep 1 0 900\nstep 2 900 1000\n");

	w->series[0].records[0].mark = TSCOPE_STEP_COUNTED;
	struct analyzed *a = analyze_world(w, NULL);
	check_facts(a, "distributed: n_steps", "2");
	check_table(a, "stragglers.heat: first_rank first_step", "0 2\n1 2\n");
}

TEST(absurd_times_do_not_overflow)
{
	struct test_world *w =
		test_world("rank 0\nstep 1 0 9000000000000000000\ncompute 0 9000000000000000000\n"
			   "step 2 9000000000000000000 9200000000000000000\n"
			   "compute 9000000000000000000 9200000000000000000\n"
			   "rank 1\nstep 1 0 10\nstep 2 10 20\ncompute 0 10\n");
	struct analyzed *a = analyze_world(w, NULL);

	check_facts(a, "stragglers: slow_rank_count", "1");
}

TEST(memory_ends)
{
	static const struct plan plans[] = {
		{ .head = "node=a", .compute_ns = 100, .kernels = USUAL },
		{ .head = "node=b", .compute_ns = 110, .kernels = KERNELS(660, 220, 110, 110) },
		{ .head = "node=b", .compute_ns = 110, .kernels = KERNELS(660, 220, 110, 110) },
		{ .head = "node=a", .compute_ns = 100, .kernels = USUAL },
		{ .head = "node=a", .compute_ns = 100, .kernels = USUAL },
	};
	char *text = world_of(plans, 5, 10);
	struct test_world *w = test_world(text);
	struct tscope_analysis_options options = { 0 };
	struct analysis_scope scope = { .steps = w->series,
					.ranks = w->series,
					.rank_count = w->rank_count,
					.world = w->world,
					.options = &options };

	free(text);
	sweep_level(LEVEL_RUN, &scope, 100);
}
