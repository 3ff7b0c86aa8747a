/* SPDX-License-Identifier: MIT */
/* What became of each kernel, of two sides that a table writes down. */
#include "diff_check.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyze/lookup.h"
#include "base/attributes.h"
#include "check.h"
#include "memory_sweep.h"

enum { MAX_KERNELS = 12, SIDE_BYTES = 8192 };

struct kernel {
	const char *name;
	int64_t calls, ns, deviation_ns; /* of the steps that count; deviation < 0: not told */
	const char *operator, * inputs;  /* NULL: not told */
};

struct side {
	int64_t counted_steps; /* 0: not told, and of the kernels neither */
	int64_t steps, count;  /* 0: as many as there are */
	struct kernel kernels[MAX_KERNELS];
};

/* "name=value" of a kernel's row in the text of a side. */
static size_t print_kernel(char *text, const struct kernel *kernel, bool is_counted)
{
	size_t length = (size_t)sprintf(
		text, "kernels.by_name name='%s' count=%" PRId64 " total_ns=%" PRId64, kernel->name,
		kernel->calls, kernel->ns);
	if (is_counted)
		length += (size_t)sprintf(text + length, " counted=%" PRId64 " counted_ns=%" PRId64,
					  kernel->calls, kernel->ns);
	if (is_counted && kernel->deviation_ns >= 0)
		length += (size_t)sprintf(text + length, " step_deviation_ns=%" PRId64,
					  kernel->deviation_ns);
	length += (size_t)sprintf(text + length, "\n");
	if (!kernel->operator)
		return length;
	length += (size_t)sprintf(text + length, "kernels.by_launcher name='%s' operator=%s",
				  kernel->name, kernel->operator);
	if (kernel->inputs)
		length += (size_t)sprintf(text + length, " inputs='%s'", kernel->inputs);
	return length + (size_t)sprintf(text + length,
					" counted=%" PRId64 " counted_ns=%" PRId64 "\n",
					kernel->calls, kernel->ns);
}

static const char *text_of(const struct side *side, char *text)
{
	int64_t count = 0;
	size_t length = 0;

	for (size_t i = 0; i < MAX_KERNELS && side->kernels[i].name; i++) {
		count += side->kernels[i].calls;
		length += print_kernel(text + length, &side->kernels[i], side->counted_steps > 0);
	}
	length += (size_t)sprintf(
		text + length, "kernels.count %" PRId64 "\nsteps.count %" PRId64 "\n",
		side->count ? side->count : count, side->steps ? side->steps : side->counted_steps);
	if (side->counted_steps)
		sprintf(text + length, "steps.counted_count %" PRId64 "\n", side->counted_steps);
	return text;
}

static struct compared *compare_kernels(const struct side *a, const struct side *b)
{
	char a_text[SIDE_BYTES], b_text[SIDE_BYTES];

	return compare(text_of(a, a_text), text_of(b, b_text));
}

/* In ns a step of A: gemm 1,000,000; attention 200,000; add 50,000; calls 2 × 20,000; old 10,000. */
static const struct side twenty_steps = {
	.counted_steps = 20,
	.kernels = {
		{ "gemm", 200, 20000000, 1000, "aten::mm", "[[8, 8], [8, 8]] float, float" },
		{ "attention", 20, 4000000, 1000, "aten::sdpa", "[[4]] float" },
		{ "add", 100, 1000000, 100, NULL, NULL },
		{ "calls", 40, 800000, 10, NULL, NULL },
		{ "constant", 40, 600000, 10, NULL, NULL },
		{ "triton_poi_add_1", 40, 400000, 10, NULL, NULL },
		{ "old", 20, 200000, 10, NULL, NULL },
	},
};

/* Of B: gemm 1,100,000; qk 150,000, av 120,000; add 45,000; calls 3 × 20,000; brand_new 7,000. */
static const struct side ten_steps = {
	.counted_steps = 10,
	.kernels = {
		{ "gemm", 100, 11000000, 1000, "aten::mm", "[[8, 8], [8, 8]] float, float" },
		{ "qk", 10, 1500000, 500, "aten::sdpa", "[[4]] float" },
		{ "av", 10, 1200000, 500, "aten::sdpa", "[[4]] float" },
		{ "calls", 30, 600000, 10, NULL, NULL },
		{ "add", 50, 450000, 100, NULL, NULL },
		{ "constant", 20, 300000, 10, NULL, NULL },
		{ "triton_poi_add_4", 20, 200000, 10, NULL, NULL },
		{ "brand_new", 10, 70000, 10, NULL, NULL },
	},
};

TEST(every_kind_of_change)
{
	struct compared *c = compare_kernels(&twenty_steps, &ten_steps);

	check_table(&c->result,
		    "kernel_changes.list: change matched_by name a_name change_ns verdict",
		    "slower name gemm - 100000 changed\n"
		    "replaced launcher qk + av attention 70000 changed\n"
		    "more_calls name calls - 20000 changed\n"
		    "gone none old - -10000 only_a\n"
		    "new none brand_new - 7000 only_b\n"
		    "faster name add - -5000 changed\n"
		    "same name constant - 0 no_change\n"
		    "same normalised_name triton_poi_add_4 triton_poi_add_1 0 no_change\n");
	check_table(&c->result,
		    "kernel_changes.list: a_names b_names a_calls_per_step b_calls_per_step "
		    "a_step_ns b_step_ns a_mean_ns b_mean_ns",
		    "1 1 10 10 1000000 1100000 100000 110000\n"
		    "1 2 1 2 200000 270000 200000 135000\n"
		    "1 1 2 3 40000 60000 20000 20000\n"
		    "1 0 1 0 10000 0 10000 -\n"
		    "0 1 0 1 0 7000 - 7000\n"
		    "1 1 5 5 50000 45000 10000 9000\n"
		    "1 1 2 2 30000 30000 15000 15000\n"
		    "1 1 2 2 20000 20000 10000 10000\n");
	check_table(&c->result, "kernel_changes.list: launcher",
		    "aten::mm [[8, 8], [8, 8]] float, float\naten::sdpa [[4]] float\n"
		    "-\n-\n-\n-\n-\n-\n");
	check_facts(&c->result,
		    "kernel_changes: a_count b_count matched_count new_count gone_count "
		    "replaced_count slower_count faster_count more_calls_count fewer_calls_count "
		    "is_cut",
		    "7 8 5 1 1 1 1 1 1 0 no");
}

TEST(against_itself_nothing_changed)
{
	static const struct side one_step = {
		.counted_steps = 1,
		.kernels = { { "k", 3, 100, -1, NULL, NULL } },
	};
	static const struct side whole_trace = {
		.steps = 3,
		.kernels = { { "k", 4, 100, -1, NULL, NULL } },
	};
	static const struct side *const sides[] = { &twenty_steps, &one_step, &whole_trace };

	for (size_t i = 0; i < TSI_COUNT_OF(sides); i++) {
		struct compared *c = compare_kernels(sides[i], sides[i]);
		struct table_view list =
			tsi_lookup_table(c->result.analysis, "kernel_changes.list");
		assert_true(list.row_count > 0);
		for (size_t row = 0; row < list.row_count; row++) {
			assert_string_equal(tsi_table_find(&list, row, "change").text, "same");
			size_t verdict = tsi_table_column(&list, "verdict");
			assert_string_equal(tsi_table_cell(&list, row, verdict).text, "same");
		}
	}
}

struct pair_case {
	struct side a, b;
	const char *expected; /* change, matched_by, name, change_ns, verdict */
};

static void check_cases(const struct pair_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct compared *c = compare_kernels(&cases[i].a, &cases[i].b);
		check_table(&c->result,
			    "kernel_changes.list: change matched_by name change_ns verdict",
			    cases[i].expected);
	}
}

TEST(what_tests_decide)
{
	static const struct pair_case cases[] = {
		/* Three against three steps: nothing can be certain but what is counted. */
		{ { .counted_steps = 3,
		    .kernels = { { "k", 3, 3000, 1, NULL, NULL },
				 { "m", 3, 300, 1, NULL, NULL } } },
		  { .counted_steps = 3,
		    .kernels = { { "k", 3, 6000, 1, NULL, NULL },
				 { "m", 6, 600, 1, NULL, NULL },
				 { "n", 3, 30, 1, NULL, NULL } } },
		  "cannot_tell name k 1000 undecided\nmore_calls name m 100 undecided\n"
		  "new none n 10 only_b\n" },
		/* Certain, and 0.9 % of its time; 1 % is told. */
		{ { .counted_steps = 50, .kernels = { { "k", 50, 50000000, 10, NULL, NULL } } },
		  { .counted_steps = 50, .kernels = { { "k", 50, 50450000, 10, NULL, NULL } } },
		  "same name k 9000 changed\n" },
		{ { .counted_steps = 50, .kernels = { { "k", 50, 50000000, 10, NULL, NULL } } },
		  { .counted_steps = 50, .kernels = { { "k", 50, 50500000, 10, NULL, NULL } } },
		  "slower name k 10000 changed\n" },
		/* 5 % more of 1,000,000 with 200,000 from step to step: noise. */
		{ { .counted_steps = 20, .kernels = { { "k", 20, 20000000, 200000, NULL, NULL } } },
		  { .counted_steps = 20, .kernels = { { "k", 20, 21000000, 200000, NULL, NULL } } },
		  "same name k 50000 no_change\n" },
		/* Names of one row: 3 % more of 1,000,000, and the noise is that of both. */
		{ { .counted_steps = 20,
		    .kernels = { { "k_1", 20, 10000000, 60000, NULL, NULL },
				 { "k_2", 20, 10000000, 0, NULL, NULL } } },
		  { .counted_steps = 20, .kernels = { { "k_3", 40, 20600000, 0, NULL, NULL } } },
		  "same normalised_name k_3 30000 no_change\n" },
		/* Without deviations nothing is tested. */
		{ { .counted_steps = 20, .kernels = { { "k", 20, 20000000, -1, NULL, NULL } } },
		  { .counted_steps = 20, .kernels = { { "k", 20, 40000000, -1, NULL, NULL } } },
		  "cannot_tell name k 1000000 undecided\n" },
	};

	check_cases(cases, TSI_COUNT_OF(cases));
}

TEST(calls_or_their_duration)
{
	static const struct pair_case cases[] = {
		/*
		 * 10 × 1000 to 12 × 1500: by calls 2 × 1250 = 2500, by duration 500 × 11 = 5500.
		 * 10 × 1000 to 15 × 1100: by calls 5 × 1050 = 5250, by duration 100 × 12.5 = 1250.
		 */
		{ { .counted_steps = 20, .kernels = { { "k", 200, 200000, 1, NULL, NULL } } },
		  { .counted_steps = 20, .kernels = { { "k", 240, 360000, 1, NULL, NULL } } },
		  "slower name k 8000 changed\n" },
		{ { .counted_steps = 20, .kernels = { { "k", 200, 200000, 1, NULL, NULL } } },
		  { .counted_steps = 20, .kernels = { { "k", 300, 330000, 1, NULL, NULL } } },
		  "more_calls name k 6500 changed\n" },
		/* Fewer and so much slower that it takes more: 10 × 1000 to 8 × 2000. */
		{ { .counted_steps = 20, .kernels = { { "k", 200, 200000, 1, NULL, NULL } } },
		  { .counted_steps = 20, .kernels = { { "k", 160, 320000, 1, NULL, NULL } } },
		  "slower name k 6000 changed\n" },
		/* Half a percent of the calls: 200 of 20 steps to 201 of 20, and to 202. */
		{ { .counted_steps = 20, .kernels = { { "k", 200, 200000, 900, NULL, NULL } } },
		  { .counted_steps = 20, .kernels = { { "k", 201, 201000, 900, NULL, NULL } } },
		  "same name k 50 no_change\n" },
		{ { .counted_steps = 20, .kernels = { { "k", 200, 200000, 900, NULL, NULL } } },
		  { .counted_steps = 20, .kernels = { { "k", 202, 202000, 900, NULL, NULL } } },
		  "more_calls name k 100 no_change\n" },
		/* In the steps that count not any more: of no duration to speak of. */
		{ { .counted_steps = 20, .kernels = { { "k", 20, 20000, 1, NULL, NULL } } },
		  { .counted_steps = 20, .kernels = { { "k", 0, 0, 0, NULL, NULL } } },
		  "fewer_calls name k -1000 changed\n" },
		/* And in neither: no row. */
		{ { .counted_steps = 20, .kernels = { { "k", 0, 0, 0, NULL, NULL } } },
		  { .counted_steps = 20,
		    .kernels = { { "k", 0, 0, 0, NULL, NULL }, { "m", 0, 0, 0, NULL, NULL } } },
		  "" },
	};

	check_cases(cases, TSI_COUNT_OF(cases));
}

TEST(sides_that_tell_less)
{
	static const struct pair_case cases[] = {
		/*
		 * A report without counted figures: per step of the timeline, 400 ÷ 4. Its steps
		 * may have been cut, so calls are not compared; what is new is.
		 */
		{ { .steps = 4, .kernels = { { "k", 8, 400, -1, NULL, NULL } } },
		  { .counted_steps = 20,
		    .kernels = { { "k", 200, 20000, 1, NULL, NULL },
				 { "n", 20, 40, 1, NULL, NULL } } },
		  "cannot_tell name k 900 not_tested\nnew none n 2 only_b\n" },
		/*
		 * A was cut: n may be old. B was not: k is gone; and nobody knows of replaced ones.
		 */
		{ { .counted_steps = 20,
		    .count = 100,
		    .kernels = { { "k", 20, 200, 1, "aten::mm", NULL } } },
		  { .counted_steps = 20, .kernels = { { "n", 20, 40, 1, "aten::mm", NULL } } },
		  "gone none k -10 only_a\n" },
		{ { .counted_steps = 20,
		    .kernels = { { "k", 20, 200, 1, NULL, NULL },
				 { "m", 20, 40, 1, NULL, NULL } } },
		  { .counted_steps = 20,
		    .count = 21,
		    .kernels = { { "k", 20, 200, 1, NULL, NULL } } },
		  "same name k 0 same\n" },
	};

	check_cases(cases, TSI_COUNT_OF(cases));
	struct compared *c = compare_kernels(&cases[1].a, &cases[1].b);
	check_facts(&c->result, "kernel_changes: a_count b_count new_count gone_count is_cut",
		    "1 1 0 1 yes");
}

TEST(launchers)
{
	static const struct pair_case cases[] = {
		/* Only one side has recorded shapes: the operator alone. */
		{ { .counted_steps = 1,
		    .kernels = { { "k", 1, 10, -1, "aten::mm", "[[2]] float" } } },
		  { .counted_steps = 1, .kernels = { { "n", 1, 20, -1, "aten::mm", NULL } } },
		  "replaced launcher n 10 undecided\n" },
		/* Both have, and they differ. */
		{ { .counted_steps = 1,
		    .kernels = { { "k", 1, 10, -1, "aten::mm", "[[2]] float" } } },
		  { .counted_steps = 1,
		    .kernels = { { "n", 1, 30, -1, "aten::mm", "[[3]] float" } } },
		  "new none n 30 only_b\ngone none k -10 only_a\n" },
		/* Nobody launched them: nothing in common. */
		{ { .counted_steps = 1, .kernels = { { "k", 1, 10, -1, NULL, NULL } } },
		  { .counted_steps = 1, .kernels = { { "n", 1, 30, -1, NULL, NULL } } },
		  "new none n 30 only_b\ngone none k -10 only_a\n" },
	};

	check_cases(cases, TSI_COUNT_OF(cases));
}

static double p_value_of(const struct side *a, const struct side *b)
{
	struct compared *c = compare_kernels(a, b);
	struct table_view list = tsi_lookup_table(c->result.analysis, "kernel_changes.list");
	double p_value = tsi_table_cell(&list, 0, tsi_table_column(&list, "p_value")).real;

	return p_value;
}

/* Of many kernels one differs by chance: p is that of the test times their number. */
TEST(many_are_tested)
{
	struct side a = { .counted_steps = 20,
			  .kernels = { { "k", 20, 20000000, 100000, NULL, NULL } } };
	struct side b = { .counted_steps = 20,
			  .kernels = { { "k", 20, 22200000, 100000, NULL, NULL } } };
	double p_value = p_value_of(&a, &b);

	assert_true(p_value > 0 && p_value < 0.1);
	a.kernels[1] = b.kernels[1] = (struct kernel){ "m", 20, 20, 0, NULL, NULL };
	b.kernels[2] = (struct kernel){ "only in b", 20, 20, 0, NULL, NULL };
	double of_two = p_value_of(&a, &b);
	assert_true(of_two > 1.999 * p_value && of_two < 2.001 * p_value);
}

/* Some writer knows which steps count, and not what was in them: 400 ÷ 4, not ÷ 2. */
TEST(steps_count_but_not_their_kernels)
{
	static const char side[] = "steps.counted_count 2\nsteps.count 4\nkernels.count 8\n"
				   "kernels.by_name name=k count=8 total_ns=400\n";
	struct compared *c = compare(side, side);

	check_table(&c->result, "kernel_changes.list: change a_calls_per_step a_step_ns",
		    "same 2 100\n");
}

/* All steps of A are marked, and of all is told: per step, and neither calls nor times compared. */
TEST(no_step_counts)
{
	struct compared *c =
		compare("steps.counted_count 0\nsteps.count 2\nkernels.count 9\n"
			"kernels.by_name name=k count=9 total_ns=900 counted=4 counted_ns=400\n",
			"steps.counted_count 20\nkernels.count 20\n"
			"kernels.by_name name=k count=20 counted=20 counted_ns=20000\n");

	check_table(&c->result,
		    "kernel_changes.list: change a_calls_per_step a_step_ns b_step_ns verdict",
		    "cannot_tell 2 200 1000 not_tested\n");
}

/*
 * Kernels from before the capture, in A 1 and in B 3 of 13 (of others in A all): calls are the same
 * if some of them may be of the steps. With a fourth call that is known they are not. Without any
 * launch at all each belongs where it starts.
 */
TEST(calls_before_the_capture)
{
	static const char a[] =
		"steps.counted_count 1\nkernels.count 21\n"
		"kernels.by_name name=k count=11 counted=11 counted_ns=110 counted_unlinked=1\n"
		"kernels.by_name name=m count=10 counted=10 counted_ns=10 counted_unlinked=10\n";
	static const char b[] =
		"steps.counted_count 1\nkernels.count 27\n"
		"kernels.by_name name=k count=13 counted=13 counted_ns=130 counted_unlinked=3\n"
		"kernels.by_name name=m count=14 counted=14 counted_ns=14 counted_unlinked=3\n";
	struct compared *c = compare(a, b);

	check_table(&c->result, "kernel_changes.list: change name",
		    "cannot_tell k\nmore_calls m\n");
	c = compare(b, a);
	check_table(&c->result, "kernel_changes.list: change name",
		    "cannot_tell k\nfewer_calls m\n");
	c = compare(
		"steps.counted_count 1\nkernels.count 10\n"
		"kernels.by_name name=m count=10 counted=10 counted_ns=1 counted_unlinked=10\n",
		"steps.counted_count 1\nkernels.count 11\n"
		"kernels.by_name name=m count=11 counted=11 counted_ns=1 counted_unlinked=11\n");
	check_table(&c->result, "kernel_changes.list: change name", "more_calls m\n");
}

/* Of several operators that with the most time is the launcher. */
TEST(launcher_of_most_time)
{
	struct compared *c =
		compare("steps.counted_count 1\nkernels.count 1\n"
			"kernels.by_name name=k count=1 counted=1 counted_ns=60\n"
			"kernels.by_launcher name=k operator=aten::add counted=1 counted_ns=20\n"
			"kernels.by_launcher name=k operator=aten::mm counted=1 counted_ns=40\n",
			"steps.counted_count 1\nkernels.count 1\n"
			"kernels.by_name name=n count=1 counted=1 counted_ns=60\n"
			"kernels.by_launcher name=n operator=aten::mm counted=1 counted_ns=40\n");

	check_table(&c->result, "kernel_changes.list: change launcher", "replaced aten::mm\n");
}

/* ---- ranks ---- */

/* A rank whose step takes 1000 ns, so much of it for communication. */
#define RANK(comm)                                                                                 \
	"step_time.mean_ns 1000\nseries.steps step=1 time_ns=1000\nbudget.step_count 1\n"          \
	"budget.compute_total_ns 0\n"                                                              \
	"budget.exposed_comm_total_ns " comm "\n"

#define KERNEL(name, kind, ns)                                                                     \
	"kernels.count 20\nsteps.counted_count 20\nkernels.by_name name=" name " kind=" kind       \
	" count=20 counted=20 counted_ns=" ns " step_deviation_ns=1\n"

#define WHOLE(mean) "step_time.mean_ns " mean "\n"

struct rank_case {
	struct side_text a, b;
	const char *facts; /* a_rank, b_rank, slower_count */
	const char *list;  /* change, name, a_step_ns, b_step_ns, verdict */
};

static void check_ranks(const struct rank_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct compared *c = compare_sides(&cases[i].a, &cases[i].b);
		check_facts(&c->result, "kernel_changes: a_rank b_rank slower_count",
			    cases[i].facts);
		check_table(&c->result,
			    "kernel_changes.list: change name a_step_ns b_step_ns verdict",
			    cases[i].list);
	}
}

/* Rank 1 waits least in B, which is slower: its kernels are compared, and not those of rank 0. */
TEST(the_explained_rank_is_looked_at)
{
	static const struct rank_case cases[] = {
		{ { WHOLE("1000") KERNEL("k", "gemm", "20"),
		    { RANK("0") KERNEL("k", "gemm", "20"), RANK("0") KERNEL("k", "gemm", "4000") },
		    0 },
		  { WHOLE("1200") KERNEL("k", "gemm", "20"),
		    { RANK("200") KERNEL("k", "gemm", "20"),
		      RANK("0") KERNEL("k", "gemm", "8000") },
		    0 },
		  "1 1 1",
		  "slower k 200 400 changed\n" },
		/* Rank 0 alone is compared with rank 0. */
		{ { WHOLE("1000") RANK("0") KERNEL("k", "gemm", "4000"), { NULL }, 0 },
		  { WHOLE("1200") KERNEL("k", "gemm", "20"),
		    { RANK("200") KERNEL("k", "gemm", "8000"),
		      RANK("0") KERNEL("k", "gemm", "20") },
		    0 },
		  "- 0 1",
		  "slower k 200 400 changed\n" },
		/* Only rank 0 has a trace; rank 1 is explained. */
		{ { WHOLE("1000") KERNEL("k", "gemm", "4000"),
		    { RANK("0") KERNEL("k", "gemm", "4000"), RANK("0") },
		    0 },
		  { WHOLE("1200") KERNEL("k", "gemm", "8000"),
		    { RANK("200") KERNEL("k", "gemm", "8000"), RANK("0") },
		    0 },
		  "0 0 1",
		  "slower k 200 400 changed\n" },
		/* Rank 1 has one in B only; of A none has what the whole tells. */
		{ { WHOLE("1000") KERNEL("k", "gemm", "4000"), { RANK("0"), RANK("0") }, 0 },
		  { WHOLE("1200") KERNEL("k", "gemm", "20"),
		    { RANK("200"), RANK("0") KERNEL("k", "gemm", "8000") },
		    0 },
		  "- 1 1",
		  "slower k 200 400 changed\n" },
	};

	check_ranks(cases, TSI_COUNT_OF(cases));
}

/* How long it takes says how long this rank waits for others. */
TEST(waiting_for_ranks_is_not_tested)
{
	static const struct rank_case cases[] = {
		{ { WHOLE("1000"), { RANK("0") KERNEL("k", "comm", "4000"), RANK("0") }, 0 },
		  { WHOLE("1000"), { RANK("0") KERNEL("k", "comm", "8000"), RANK("0") }, 0 },
		  "0 0 0",
		  "cannot_tell k 200 400 not_tested\n" },
		{ { WHOLE("1000"), { RANK("0") KERNEL("k", "comm", "4000"), RANK("0") }, 0 },
		  { WHOLE("1000"), { RANK("0") KERNEL("k", "comm", "4000"), RANK("0") }, 0 },
		  "0 0 0",
		  "same k 200 200 same\n" },
		/* One rank is compared with one: what a trace says of itself is tested. */
		{ { WHOLE("1000") RANK("0") KERNEL("k", "comm", "4000"), { NULL }, 0 },
		  { WHOLE("1000") RANK("0") KERNEL("k", "comm", "8000"), { NULL }, 0 },
		  "- - 1",
		  "slower k 200 400 changed\n" },
	};

	check_ranks(cases, TSI_COUNT_OF(cases));
}

TEST(sides_without_kernels)
{
	static const char none[] = "step_time.count 3\n";
	static const char empty[] = "kernels.count 0\nsteps.count 1\nsteps.counted_count 1\n";
	struct compared *c = compare(none, none);

	check_facts(&c->result, "kernel_changes: a_count is_cut", "- -");
	c = compare(empty, empty);
	check_facts(&c->result, "kernel_changes: a_count b_count new_count is_cut", "0 0 0 no");
	check_table(&c->result, "kernel_changes.list: name", "");
}

/* Figures that no honest report has: no crash, and the rows that can be read are there. */
TEST(hostile_reports)
{
	struct compared *c = compare(
		"steps.counted_count 1\nsteps.count -5\nkernels.count 9223372036854775807\n"
		"kernels.by_name count=4 counted=4 counted_ns=4\n"
		"kernels.by_name name=k count=9223372036854775807 counted=9223372036854775807 "
		"counted_ns=9223372036854775807 step_deviation_ns=9223372036854775807\n"
		"kernels.by_name name=k_1 count=9223372036854775807 counted=9223372036854775807 "
		"counted_ns=9223372036854775807 step_deviation_ns=0.5\n"
		"kernels.by_name name=m counted=-1 counted_ns=-9223372036854775808\n"
		"kernels.by_launcher counted_ns=4\nkernels.by_launcher name=k counted_ns=-4\n",
		"steps.counted_count 9223372036854775807\nkernels.count 1\n"
		"kernels.by_name name=k_2 count=1 counted=1\n"
		"kernels.by_name name='' count=1 counted=1 counted_ns=0\n");

	check_table(&c->result,
		    "kernel_changes.list: change name a_name a_step_ns b_step_ns change_ns",
		    "fewer_calls k_2 k + k_1 9223372036854775807 0 -9223372036854775807\n"
		    "new  - 0 0 0\n");
}

TEST(every_allocation_may_fail)
{
	struct compared *c = compare_kernels(&twenty_steps, &ten_steps);
	struct analysis_scope scope = { .comparison = &c->comparison };

	sweep_level(LEVEL_DIFF, &scope, 30);
}

/* 2 steps each: gemm has 40 + 20 ns of A and 90 of B a step, by other names; norm is as it was. */
TEST(kernels_are_summed_by_what_they_compute)
{
	struct compared *c =
		compare("steps.counted_count 2\nkernels.count 8\n"
			"kernels.by_name name=sgemm kind=gemm count=2 counted=2 counted_ns=80 "
			"step_deviation_ns=0\n"
			"kernels.by_name name=hgemm kind=gemm count=2 counted=2 counted_ns=40 "
			"step_deviation_ns=0\n"
			"kernels.by_name name=ln kind=norm count=4 counted=4 counted_ns=20 "
			"step_deviation_ns=0\n",
			"steps.counted_count 2\nkernels.count 6\n"
			"kernels.by_name name=Cijk kind=gemm count=2 counted=2 counted_ns=180 "
			"step_deviation_ns=0\n"
			"kernels.by_name name=ln kind=norm count=4 counted=4 counted_ns=20 "
			"step_deviation_ns=0\n");

	check_table(&c->result,
		    "kernel_changes.kinds: kind a_calls_per_step b_calls_per_step a_step_ns "
		    "b_step_ns change_ns",
		    "gemm 2 1 60 90 30\n"
		    "norm 2 2 10 10 0\n");
}
