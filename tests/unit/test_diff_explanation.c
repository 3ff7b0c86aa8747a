/* SPDX-License-Identifier: MIT */
/*
 * What explains the change of a mean step, on figures that can be added up by hand. Where a test is
 * not about rounding each side has one step, so that its totals are its means.
 */
#include "diff_check.h"

#include <inttypes.h>
#include <stdio.h>

#include "check.h"
#include "memory_sweep.h"

static const char line_columns[] = "explanation.lines: line a_ns b_ns change_ns";
static const char part_columns[] =
	"explanation.parts: line kind part change a_part a_ns b_ns change_ns";
static const char sums[] = "explanation: source a_ns b_ns change_ns";

/* The budget of steps with devices: the named lines, the others 0. */
#define BUDGET(steps, compute, comm, stall)                                                        \
	"budget.step_count " steps "\nbudget.compute_total_ns " compute                            \
	"\nbudget.exposed_comm_total_ns " comm                                                     \
	"\nbudget.exposed_copy_total_ns 0\nbudget.data_stall_total_ns " stall                      \
	"\nbudget.sync_stall_total_ns 0\nbudget.launch_stall_total_ns "                            \
	"0\nbudget.device_gap_total_ns 0\n"                                                        \
	"budget.unattributed_total_ns 0\n"

#define STEP(time) "series.steps step=1 time_ns=" time "\n"

#define PART(line, kind, name, ns)                                                                 \
	"breakdown.parts line=" line " kind=" kind " name=" name " ns=" ns "\n"

struct pair_case {
	const char *a, *b;
	const char *sums, *lines, *parts;
};

static void check_case(const struct pair_case *expected)
{
	struct compared *c = compare(expected->a, expected->b);

	check_facts(&c->result, sums, expected->sums);
	check_table(&c->result, line_columns, expected->lines);
	check_table(&c->result, part_columns, expected->parts);
}

/* ---- how sure they are ---- */

/* Six steps of `time`: 4 in compute, but for `wild` more in the last; the rest is a data stall. */
#define SIX_STEPS(compute, stall, last)                                                            \
	"series.steps step=0 time_ns=" compute stall                                               \
	"\nseries.steps step=1 time_ns=" compute stall                                             \
	"\nseries.steps step=2 time_ns=" compute stall                                             \
	"\nseries.steps step=3 time_ns=" compute stall                                             \
	"\nseries.steps step=4 time_ns=" compute stall "\nseries.steps step=5 time_ns=" last stall \
	"\n"

/*
 * The last step of B is 900 longer: the step and its compute do not change for sure, the stall
 * does, from 10 to 40 in every step. Of the kernels, gemm is as it was and add is new.
 */
TEST(a_line_may_be_certain_where_the_step_is_not)
{
	struct compared *c = compare(
		SIX_STEPS("100 line_compute_ns=90", " line_data_stall_ns=10",
			  "101 line_compute_ns=91")
			BUDGET("6", "541", "0",
			       "60") "step_time.mean_ns 100\n"
				     "steps.counted_count 6\nbreakdown.step_count 6\n"
				     "kernels.by_name name=gemm counted=6 counted_ns=541 "
				     "step_deviation_ns=1\n" PART("compute", "kernel", "gemm",
								  "541")
					     PART("data_stall", "loader", "next", "60"),
		SIX_STEPS("130 line_compute_ns=90", " line_data_stall_ns=40",
			  "1030 line_compute_ns=990")
			BUDGET("6", "1440", "0",
			       "240") "step_time.mean_ns 280\n"
				      "steps.counted_count 6\nbreakdown.step_count 6\n"
				      "kernels.by_name name=gemm counted=6 counted_ns=540 "
				      "step_deviation_ns=1\n"
				      "kernels.by_name name=add counted=6 counted_ns=900 "
				      "step_deviation_ns=367\n" PART("compute", "kernel", "gemm",
								     "540")
					      PART("compute", "kernel", "add", "900")
						      PART("data_stall", "loader", "next", "240"));

	check_table(&c->result, "explanation.lines: line change_ns certainty a_p50_ns b_p50_ns",
		    "compute 150 cannot_tell 90 90\n"
		    "data_stall 30 certain 10 40\n");
	check_table(&c->result, "explanation.parts: part change_ns certainty",
		    "add 150 certain\n"
		    "next 30 certain\n"
		    "gemm 0 same\n");
}

/* Causes that neither side has, or only one says, are left out. */
TEST(idle_lines_have_causes)
{
	struct compared *c = compare(
		STEP("100") BUDGET("1", "80", "0", "20") "idle.python_ns 10\nidle.data_ns 20\n"
							 "idle.gc_ns 0\nidle.sync_ns 5\n",
		STEP("100") BUDGET("1", "80", "0", "20") "idle.python_ns 25\nidle.data_ns 18\n"
							 "idle.gc_ns 0\n");

	check_table(&c->result, "explanation.causes: line cause a_ns b_ns change_ns",
		    "launch_stall python 10 25 15\n"
		    "data_stall data 20 18 -2\n");
}

/* ---- lines ---- */

/*
 * A: 301 ns in 3 steps, mean 100.33: 100. The sums up to each line are 200, 250 and 301, their
 * thirds 66.67, 83.33 and 100.33: 67, 83 and 100, so the lines are 67, 16 and 17; thirds of each by
 * itself (67, 17, 17) would sum to 101. B: 361, mean 120; sums 260, 310 and 361, thirds 87, 103 and
 * 120. Parts do the same from where their line begins: 150 and 200 of the first are 50 and 67.
 */
TEST(means_sum_exactly)
{
	check_case(&(struct pair_case){
		"series.steps step=0 mark=warmup time_ns=1000\n"
		"series.steps step=1 time_ns=100\nseries.steps step=2 time_ns=100\n"
		"series.steps step=3 time_ns=101\n" BUDGET(
			"3", "200", "50", "51") "breakdown.step_count 3\n" PART("compute", "kernel",
										"gemm", "150")
			PART("compute", "kernel", "add", "50")
				PART("exposed_comm", "collective", "all_reduce", "50")
					PART("data_stall", "loader", "next", "51"),
		"series.steps step=1 time_ns=120\nseries.steps step=2 time_ns=120\n"
		"series.steps step=3 time_ns=121\n" BUDGET(
			"3", "260", "50", "51") "breakdown.step_count 3\n" PART("compute", "kernel",
										"gemm", "200")
			PART("compute", "kernel", "add", "60")
				PART("exposed_comm", "collective", "all_reduce", "50")
					PART("data_stall", "loader", "next", "51"),
		"budget 100 120 20",
		"compute 67 87 20\n"
		"data_stall 17 17 0\n"
		"exposed_comm 16 16 0\n",
		"compute kernel gemm slower - 50 67 17\n"
		"compute kernel add slower - 17 20 3\n"
		"exposed_comm collective all_reduce same - 16 16 0\n"
		"data_stall loader next same - 17 17 0\n",
	});
}

/*
 * Communication of 20 and 40 ns is exposed by 10 ns: 10 more for half of 40, or for all of 20; where
 * nothing was exposed only the overlap can have changed.
 */
TEST(exposed_communication_is_longer_or_less_hidden)
{
#define EXPOSED(time, comm, ratio)                                                                 \
	"series.steps step=1 time_ns=" time                                                        \
	"\n" BUDGET("1", "50", comm,                                                               \
		    "0") "overlap.overlap_ratio " ratio                                            \
			 "\nbreakdown.step_count 1\n" PART("compute", "kernel", "gemm", "50")      \
				 PART("exposed_comm", "collective", "all_reduce", comm)
	static const struct {
		const char *a, *b, *change;
	} cases[] = {
		{ EXPOSED("60", "10", "0.5"), EXPOSED("70", "20", "0.5"), "slower" },
		{ EXPOSED("70", "20", "0.5"), EXPOSED("60", "10", "0.5"), "faster" },
		{ EXPOSED("60", "10", "0.5"), EXPOSED("70", "20", "0.0"), "less_hidden" },
		{ EXPOSED("70", "20", "0.0"), EXPOSED("60", "10", "0.5"), "more_hidden" },
		/* 20 to 40 ns at 0.5 to 0.4: 11 for the length, 3 for the overlap; the next is the reverse. */
		{ EXPOSED("60", "10", "0.5"), EXPOSED("74", "24", "0.4"), "slower" },
		{ EXPOSED("60", "10", "0.5"), EXPOSED("70", "20", "0.2"), "less_hidden" },
		{ EXPOSED("50", "0", "1.0"), EXPOSED("70", "20", "0.0"), "less_hidden" },
		{ EXPOSED("60", "10", "0.5"), EXPOSED("60", "10", "0.2"), "same" },
	};
#undef EXPOSED

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct compared *c = compare(cases[i].a, cases[i].b);
		char expected[80];
		snprintf(expected, sizeof(expected), "exposed_comm %s\ncompute same\n",
			 cases[i].change);
		check_table(&c->result, "explanation.parts: line change", expected);
	}
}

/* The rank's own records are of other steps than its trace. */
TEST(what_the_trace_does_not_hold_is_outside)
{
	check_case(&(struct pair_case){
		STEP("100") BUDGET("1", "80", "0", "0") "breakdown.step_count 1\n" PART(
			"compute", "kernel", "gemm", "80"),
		STEP("130") BUDGET("1", "90", "0", "0") "breakdown.step_count 1\n" PART(
			"compute", "kernel", "gemm", "90"),
		"budget 100 130 30",
		"outside 20 40 20\n"
		"compute 80 90 10\n",
		"outside none - slower - 20 40 20\n"
		"compute kernel gemm slower - 80 90 10\n",
	});
}

static const char host_only[] =
	STEP("15") "budget.step_count 1\nbudget.host.data_total_ns 5\n"
		   "budget.host.forward_total_ns 10\nbudget.host.backward_total_ns 0\n"
		   "budget.host.optimizer_total_ns 0\nbudget.host.comm_total_ns 0\n"
		   "budget.host.other_total_ns 0\nbreakdown.step_count 1\n" PART(
			   "host.data", "loader", "next", "5")
			   PART("host.forward", "operator", "aten::mm", "10");

TEST(hosts_have_lines_of_their_own)
{
	check_case(&(struct pair_case){
		host_only,
		STEP("19") "budget.step_count 1\nbudget.host.data_total_ns 9\n"
			   "budget.host.forward_total_ns 10\nbudget.host.backward_total_ns 0\n"
			   "budget.host.optimizer_total_ns 0\nbudget.host.comm_total_ns 0\n"
			   "budget.host.other_total_ns 0\nbreakdown.step_count 1\n" PART(
				   "host.data", "loader", "next", "9")
				   PART("host.forward", "operator", "aten::mm", "10"),
		"host_budget 15 19 4",
		"host.data 5 9 4\n"
		"host.forward 10 10 0\n",
		"host.data loader next slower - 5 9 4\n"
		"host.forward operator aten::mm same - 10 10 0\n",
	});
}

/*
 * Phases of A: forward 20 + 21 = 41, mean 20.5: 21; eval 11 + 12 = 23, mean 11.5: 12. The step is
 * 64 / 2 = 32, one less than their sum: it is the last phase with a name of the job's own that has
 * it.
 */
TEST(phases_are_summed_from_the_steps)
{
	check_case(&(struct pair_case){
		"series.steps step=1 time_ns=31 phase_forward_ns=20\n"
		"series.steps step=2 time_ns=33 phase_forward_ns=21\n"
		"step_time.phases phase=forward mean_ns=21\nstep_time.phases phase=eval "
		"mean_ns=12\n",
		"series.steps step=1 time_ns=62 phase_forward_ns=50\n"
		"series.steps step=2 time_ns=62 phase_forward_ns=50\n"
		"step_time.phases phase=forward mean_ns=50\nstep_time.phases phase=eval "
		"mean_ns=10\n"
		"step_time.phases phase=save mean_ns=2\n",
		"phases 32 62 30",
		"forward 21 50 29\n"
		"save 0 2 2\n"
		"eval 11 10 -1\n",
		"",
	});
}

/* More than rounding: phases that were not written down (a report that was cut). */
TEST(what_no_phase_tells_is_outside)
{
	static const struct pair_case cases[] = {
		{ STEP("100 phase_forward_ns=60"), STEP("110 phase_forward_ns=60"),
		  "phases 100 110 10", "outside 40 50 10\nforward 60 60 0\n", "" },
		/* Not a phase that is told but for rounding: these are exact. */
		{ STEP("61 phase_forward_ns=60"), STEP("60 phase_forward_ns=60"), "phases 61 60 -1",
		  "outside 1 0 -1\nforward 60 60 0\n", "" },
		/* 100 − 60 − 37 = 3: one more than two phases and a step are rounded by. */
		{ STEP("100 phase_forward_ns=60") "step_time.phases phase=eval mean_ns=37\n",
		  STEP("100 phase_forward_ns=60") "step_time.phases phase=eval mean_ns=38\n",
		  "phases 100 100 0", "eval 37 40 3\noutside 3 0 -3\nforward 60 60 0\n", "" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		check_case(&cases[i]);
}

/* Devices on one side, only the host on the other: what both have are phases. */
TEST(sides_are_compared_by_what_both_have)
{
	check_case(&(struct pair_case){
		STEP("15 phase_forward_ns=15") BUDGET("1", "15", "0", "0"),
		host_only,
		"phases 15 15 0",
		"forward 15 0 -15\n"
		"outside 0 15 15\n",
		"",
	});
}

TEST(nothing_is_explained_without_times)
{
	static const char *const texts[] = {
		"steps.counted_count 3\n",
		"series.steps step=1 loss=2\n" BUDGET("1", "5", "0", "0"),
		"series.steps step=1 time_ns=5 mark=warmup\n",
		"series.steps step=1 time_ns=0\n",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(texts); i++) {
		struct compared *c = compare(texts[i], STEP("5 phase_forward_ns=5"));
		check_facts(&c->result, sums, "- - - -");
		check_table(&c->result, line_columns, "");
	}
}

/* ---- parts ---- */

/*
 * 40 + 30 + 20 + 10 = 100 become 50 + 25 + 12 + 9 + 6 = 102. What launched `flash` no longer does,
 * and launches two others.
 */
TEST(parts_are_matched)
{
	check_case(&(struct pair_case){
		STEP("100") BUDGET("1", "100", "0", "0") "breakdown.step_count 1\n" PART(
			"compute", "kernel", "gemm", "40") PART("compute", "kernel", "add", "30")
			PART("compute", "kernel", "old", "20")
				PART("compute", "kernel", "flash",
				     "10") "kernels.by_launcher name=flash operator=aten::mul "
					   "inputs=[[8]] counted=1 counted_ns=3\n"
					   "kernels.by_launcher name=flash operator=aten::sdpa "
					   "inputs=[[8]] counted=1 counted_ns=7\n"
					   "kernels.by_launcher name=old operator=aten::mul "
					   "inputs=[[8]] counted=1 counted_ns=20\n",
		STEP("102") BUDGET("1", "102", "0", "0") "breakdown.step_count 1\n" PART(
			"compute", "kernel", "gemm", "50") PART("compute", "kernel", "add", "25")
			PART("compute", "kernel", "fresh", "12") PART("compute", "kernel", "dq",
								      "9")
				PART("compute", "kernel", "dkv",
				     "6") "kernels.by_launcher name=dkv operator=aten::sdpa "
					  "inputs=[[8]] counted=1 counted_ns=6\n"
					  "kernels.by_launcher name=dq operator=aten::sdpa "
					  "inputs=[[8]] counted=1 counted_ns=9\n"
					  "kernels.by_launcher name=fresh operator=aten::mul "
					  "inputs=[[16]] counted=1 counted_ns=12\n",
		"budget 100 102 2",
		"compute 100 102 2\n",
		"compute kernel old gone - 20 0 -20\n"
		"compute kernel fresh new - 0 12 12\n"
		"compute kernel gemm slower - 40 50 10\n"
		"compute kernel add faster - 30 25 -5\n"
		"compute kernel dq + dkv replaced flash 10 15 5\n",
	});
}

/* One name in two lines or of two kinds is not one part; a name twice in a line is. */
TEST(parts_stay_in_their_line)
{
	check_case(&(struct pair_case){
		STEP("100") BUDGET("1", "60", "0", "40") "breakdown.step_count 1\n" PART(
			"compute", "kernel", "x", "50") PART("compute", "kernel", "x", "10")
			PART("data_stall", "call", "x", "40"),
		STEP("100") BUDGET("1", "60", "0", "40") "breakdown.step_count 1\n" PART(
			"compute", "kernel", "x", "60") PART("data_stall", "loader", "x", "40")
			PART("nowhere", "loader", "x", "7"),
		"budget 100 100 0",
		"compute 60 60 0\n"
		"data_stall 40 40 0\n",
		"data_stall call x gone - 40 0 -40\n"
		"data_stall loader x new - 0 40 40\n"
		"compute kernel x same - 60 60 0\n",
	});
}

/*
 * Two windows, of which the first alone is broken down: 90 ns of its step are known, of the mean
 * step 100. Of B 95 of 110.
 */
TEST(what_is_not_broken_down_has_no_name)
{
	check_case(&(struct pair_case){
		STEP("100") BUDGET("2", "200", "0", "0") "breakdown.step_count 1\n" PART(
			"compute", "kernel", "gemm", "90"),
		STEP("110") BUDGET("2", "220", "0", "0") "breakdown.step_count 1\n" PART(
			"compute", "kernel", "gemm", "95"),
		"budget 100 110 10",
		"compute 100 110 10\n",
		"compute none - slower - 10 15 5\n"
		"compute kernel gemm slower - 90 95 5\n",
	});
}

/* Of A everything is broken down, so that B's rest has nothing to be matched with. */
TEST(what_has_no_name_is_never_new)
{
	check_case(&(struct pair_case){
		STEP("100") BUDGET("1", "100", "0", "0") "breakdown.step_count 1\n" PART(
			"compute", "kernel", "gemm", "100"),
		STEP("110") BUDGET("2", "220", "0", "0") "breakdown.step_count 1\n" PART(
			"compute", "kernel", "gemm", "95"),
		"budget 100 110 10",
		"compute 100 110 10\n",
		"compute none - slower - 0 15 15\n"
		"compute kernel gemm faster - 100 95 -5\n",
	});
}

TEST(sides_without_breakdown_have_lines_only)
{
	check_case(&(struct pair_case){
		STEP("100") BUDGET("1", "100", "0", "0"),
		STEP("90") BUDGET("1", "90", "0", "0") "breakdown.step_count 1\n" PART(
			"compute", "kernel", "gemm", "90"),
		"budget 100 90 -10",
		"compute 100 90 -10\n",
		"",
	});
}

/* ---- verdicts ---- */

/* Steps that take `compute_ns` ± 5 and 300; one that does not count is far from that. */
static const char *steps_of(char *text, size_t size, int64_t compute_ns, int step_count)
{
	int64_t wall_ns = (compute_ns + 300) * step_count;
	size_t length = (size_t)snprintf(
		text, size,
		"budget.step_count %d\nbudget.wall_total_ns %" PRId64
		"\nbudget.compute_total_ns %" PRId64 "\nbudget.data_stall_total_ns %d\n",
		step_count, wall_ns, compute_ns * step_count, 300 * step_count);

	length += (size_t)snprintf(text + length, size - length,
				   "series.steps step=-1 mark=warmup time_ns=9 line_compute_ns=%d "
				   "line_data_stall_ns=%" PRId64 "\n",
				   step_count, compute_ns);
	for (int i = 0; i < step_count; i++) {
		int64_t compute = compute_ns + (i % 2 ? 5 : -5);
		length += (size_t)snprintf(text + length, size - length,
					   "series.steps step=%d time_ns=%" PRId64
					   " line_compute_ns=%" PRId64 " line_data_stall_ns=300\n",
					   i, compute + 300, compute);
	}
	assert_true(length < size);
	return text;
}

TEST(lines_are_tested_over_the_steps)
{
	static const struct {
		int64_t a_ns, b_ns;
		int step_count;
		const char *lines;
	} cases[] = {
		{ 700, 750, 20, "compute changed\ndata_stall same\n" },
		{ 700, 701, 20, "compute no_change\ndata_stall same\n" },
		{ 700, 700, 20, "compute same\ndata_stall same\n" },
		{ 700, 750, 2, "compute undecided\ndata_stall same\n" },
	};
	char a[4096], b[4096];

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct compared *c =
			compare(steps_of(a, sizeof(a), cases[i].a_ns, cases[i].step_count),
				steps_of(b, sizeof(b), cases[i].b_ns, cases[i].step_count));
		check_table(&c->result, "explanation.lines: line verdict", cases[i].lines);
	}
}

/* No steps to test by: the part of the step that its trace does not hold. */
TEST(what_has_no_steps_is_not_tested)
{
	struct compared *c = compare(STEP("100") BUDGET("1", "90", "0", "0"),
				     STEP("120") BUDGET("1", "90", "0", "0"));

	check_table(&c->result, "explanation.lines: line change_ns verdict",
		    "outside 20 not_tested\ncompute 0 same\n");
}

/* ---- ranks ---- */

#define RANK(time, compute, comm)                                                                  \
	"step_time.mean_ns " time "\n" STEP(time) BUDGET("1", compute, comm, "0")

static const char rank_facts[] = "explanation: a_rank b_rank a_critical_rank b_critical_rank "
				 "a_ns b_ns is_one_rank rank_excess_ns rest_ns";

struct rank_case {
	struct side_text a, b;
	const char *facts, *lines;
};

static void check_ranks(const struct rank_case *expected)
{
	struct compared *c = compare_sides(&expected->a, &expected->b);

	check_facts(&c->result, rank_facts, expected->facts);
	if (expected->lines)
		check_table(&c->result, line_columns, expected->lines);
}

/*
 * Rank 2 takes 22 ns longer for its own work, the others wait 20 for it: their own work is as it
 * was. The run of three such steps takes 21 more, so other ranks are slower in some of its steps.
 */
static const struct side_text even = { .whole = "step_time.mean_ns 100\n",
				       .ranks = { RANK("100", "90", "10"), RANK("100", "90", "10"),
						  RANK("100", "90", "10"),
						  RANK("100", "90", "10") } };
static const struct side_text one_slow = {
	.whole = "step_time.mean_ns 121\n",
	.ranks = { RANK("120", "90", "30"), RANK("120", "90", "30"), RANK("120", "112", "8"),
		   RANK("120", "90", "30") }
};

static const struct side_text other_slow = {
	.whole = "step_time.mean_ns 121\n",
	.ranks = { RANK("120", "90", "30"), RANK("120", "112", "8"), RANK("120", "90", "30"),
		   RANK("120", "90", "30") },
};

TEST(the_rank_that_others_wait_for_is_explained)
{
	check_ranks(&(struct rank_case){ even, one_slow, "2 2 0 2 100 120 yes 22 1",
					 "compute 90 112 22\nexposed_comm 10 8 -2\n" });
	/* The run got faster: what made it slow before is explained. */
	check_ranks(&(struct rank_case){ one_slow, even, "2 2 2 0 120 100 yes -22 -1",
					 "compute 112 90 -22\nexposed_comm 8 10 2\n" });
	check_ranks(&(struct rank_case){ even, even, "0 0 0 0 100 100 no 0 0", NULL });
	/* Equally slow as before, and another one makes it so. */
	check_ranks(&(struct rank_case){ one_slow, other_slow, "1 1 2 1 120 120 no 22 0", NULL });
}

TEST(a_rank_may_be_missing)
{
	static const struct side_text two = {
		.whole = "step_time.mean_ns 100\n",
		.ranks = { RANK("100", "80", "20"), RANK("100", "90", "10") },
	};
	static const struct side_text alone = { .whole = "step_time.mean_ns 100\n" RANK("100", "95",
											"5") };

	/* A has no rank 2: its own critical one is the next best. */
	check_ranks(&(struct rank_case){ two, one_slow, "1 2 1 2 100 120 - - 1", NULL });
	/* Rank 0 alone is compared with rank 0, whoever makes that run slow; and the other way. */
	check_ranks(&(struct rank_case){ alone, one_slow, "- 0 - 2 100 120 - - 1",
					 "exposed_comm 5 30 25\ncompute 95 90 -5\n" });
	check_ranks(&(struct rank_case){ one_slow, alone, "0 - 2 - 120 100 - - -1",
					 "exposed_comm 30 5 -25\ncompute 90 95 5\n" });
	check_ranks(&(struct rank_case){ alone, alone, "- - - - 100 100 - - -", NULL });
}

/* Of two ranks the second takes `own` more, the first `other`; their step of 2000 ns `step`. */
static const char *is_one_rank(int step, int own, int other)
{
	char texts[4][512];
	int64_t times[] = { 2000, 2000, 2000 + step, 2000 + step };
	int computes[] = { 1500, 1600, 1500 + other, 1600 + own };
	const char *said;

	for (size_t i = 0; i < 4; i++)
		snprintf(texts[i], sizeof(texts[i]),
			 "step_time.mean_ns %" PRId64 "\nseries.steps step=1 time_ns=%" PRId64
			 "\nbudget.step_count 1\nbudget.compute_total_ns "
			 "%d\nbudget.exposed_comm_total_ns "
			 "%" PRId64 "\n",
			 times[i], times[i], computes[i], times[i] - computes[i]);
	struct compared *c =
		compare_sides(&(struct side_text){ .whole = "step_time.mean_ns 2000\n",
						   .ranks = { texts[0], texts[1] } },
			      &(struct side_text){ .whole = step < 0 ? "step_time.mean_ns 1000\n"
								     : "step_time.mean_ns 3000\n",
						   .ranks = { texts[2], texts[3] } });
	struct tscope_value value;
	enum tscope_unit unit;
	assert_true(
		tscope_analysis_find(c->result.analysis, "explanation.is_one_rank", &value, &unit));
	said = value.kind != TSCOPE_VALUE_FLAG ? "-" : value.flag ? "yes" : "no";
	return said;
}

TEST(one_rank_is_set_apart_by_thresholds)
{
	/* At least half of the change of the step. */
	assert_string_equal(is_one_rank(100, 50, 0), "yes");
	assert_string_equal(is_one_rank(101, 50, 0), "no");
	/* At least 1 % of the step. */
	assert_string_equal(is_one_rank(20, 20, 0), "yes");
	assert_string_equal(is_one_rank(19, 19, 0), "no");
	/* The others change by less than a quarter of what it exceeds them by, either way. */
	assert_string_equal(is_one_rank(100, 99, 19), "yes"); /* 80: a quarter is 20 */
	assert_string_equal(is_one_rank(100, 100, 20), "no");
	assert_string_equal(is_one_rank(100, 80, -20), "yes"); /* 100: 25 */
	assert_string_equal(is_one_rank(100, 75, -25), "no");
	/* It has to change the way the step does. */
	assert_string_equal(is_one_rank(-100, -50, 0), "yes");
	assert_string_equal(is_one_rank(-20, 50, 0), "no");
	assert_string_equal(is_one_rank(0, 50, 0), "no");
}

/* ---- robustness ---- */

/* Figures that no run has: sums stay at the ends of what there is. */
TEST(absurd_figures_are_survived)
{
	static const char *const texts[] = {
		STEP("9223372036854775807")
			BUDGET("1", "9223372036854775807", "9223372036854775807",
			       "-9223372036854775808") "breakdown.step_count "
						       "9223372036854775807\n" PART("compute",
										    "kernel", "a",
										    "92233720368547"
										    "75807")
							       PART("compute", "kernel", "a",
								    "9223372036854775807"),
		STEP("1") BUDGET(
			"9223372036854775807", "-9223372036854775808", "-9223372036854775808",
			"-9223372036854775808") "breakdown.step_count 1\n" PART("compute", "kernel",
										"a",
										"-92233720368547758"
										"08")
			PART("data_stall", "", "b", "-9223372036854775808"),
		STEP("9223372036854775807 phase_comm_ns=-9223372036854775808") "step_time.phases "
									       "phase=x "
									       "mean_ns="
									       "9223372036854775807"
									       "\n"
									       "step_time.phases "
									       "phase=x "
									       "mean_ns="
									       "9223372036854775807"
									       "\n"
									       "step_time.phases "
									       "phase=outside "
									       "mean_ns=-"
									       "9223372036854775808"
									       "\n",
		STEP("5") "budget.step_count -1\nbreakdown.step_count -1\nbudget.compute_total_ns "
			  "3\n",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(texts); i++)
		for (size_t j = 0; j < TSI_COUNT_OF(texts); j++)
			(void)compare(texts[i], texts[j]);
}

/* Runs this analyzer alone. */
TEST(failing_allocations_are_reported)
{
	static const char a[] = RANK("100", "90", "10") "breakdown.step_count 1\n" PART(
		"compute", "kernel", "gemm", "90")
		PART("exposed_comm", "collective", "r",
		     "10") "kernels.by_launcher name=gemm operator=aten::mm inputs=[[8]] counted=1 "
			   "counted_ns=9\n";
	static const char b[] = RANK("110", "90", "20") "breakdown.step_count 1\n" PART(
		"compute", "kernel", "one", "50") PART("compute", "kernel", "two", "40")
		PART("exposed_comm", "collective", "r",
		     "20") "kernels.by_launcher name=one operator=aten::mm inputs=[[8]] counted=1 "
			   "counted_ns=9\n"
			   "kernels.by_launcher name=two operator=aten::mm inputs=[[8]] counted=1 "
			   "counted_ns=9\n";
	struct compared *c = compare_sides(&(struct side_text){ .whole = a, .ranks = { a, a } },
					   &(struct side_text){ .whole = b, .ranks = { b, b } });

	struct analysis_scope scope = { .comparison = &c->comparison };
	sweep_analyzer("explanation", &scope, 10);
}
