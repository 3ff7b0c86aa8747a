/* SPDX-License-Identifier: MIT */
/* Operators: own and whole time on the host and on the device, against hand and brute force. */
#include "analysis_check.h"

#include "check.h"
#include "random_numbers.h"

#include <inttypes.h>
#include <stdio.h>

/*
 * Thread 1: A [0, 100) holds B [10, 40), which holds C [20, 30), and B [50, 60).
 * Launched in C at 22: 300 ns; in A itself at 70: 500 ns. Thread 2: A [0, 10).
 */
TEST(nested_on_two_threads)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "A", 1, 0, 100);
	test_op(t, "B", 1, 10, 30);
	test_op(t, "C", 1, 20, 10);
	test_op(t, "B", 1, 50, 10);
	test_op(t, "A", 2, 0, 10);
	test_call(t, "cudaLaunchKernel", 1, 22, 5, 1);
	test_call(t, "cudaLaunchKernel", 1, 70, 6, 2);
	test_kernel(t, "k", 0, 7, 1000, 300, 1);
	test_memset(t, 0, 7, 2000, 500, 2, 64);
	test_kernel(t, "k", 0, 7, 3000, 200, 0);
	struct analyzed *a = analyze(t);

	check_table(a,
		    "operators.by_name: name count total_ns mean_ns self_ns call_ns device_ns "
		    "self_device_ns",
		    "A 2 110 55 70 6 800 500\n"
		    "B 2 40 20 30 0 300 0\n"
		    "C 1 10 10 10 5 300 300\n");
	check_facts(a, "operators: count name_count self_ns device_ns unattributed_device_ratio",
		    "5 3 110 800 0.2"); /* 200 of 1000 */
	/* The whole trace is one step, that counts, and one step has no deviation. */
	check_table(a, "operators.by_name: counted counted_ns step_deviation_ns counted_device_ns",
		    "2 70 - 500\n2 30 - 0\n1 10 - 300\n");
}

/* Annotations, calls and Python frames between two operators do not part them. */
TEST(other_classes_are_not_in_between)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "outer", 1, 0, 100);
	test_annotation(t, "note", 1, 5, 90);
	test_op(t, "inner", 1, 10, 50);
	test_call(t, "cudaLaunchKernel", 1, 70, 10, 0);
	struct analyzed *a = analyze(t);
	check_table(a, "operators.by_name: name total_ns self_ns", "inner 50 50\nouter 100 50\n");
}

/* div [0, 100) holds div [10, 60), which launches: both count, self times do not overlap. */
TEST(operator_within_its_own_name)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "div", 1, 0, 100);
	test_op(t, "div", 1, 10, 50);
	test_call(t, "cudaLaunchKernel", 1, 20, 5, 1);
	test_kernel(t, "k", 0, 7, 1000, 300, 1);
	struct analyzed *a = analyze(t);
	check_table(
		a,
		"operators.by_name: name count total_ns mean_ns self_ns device_ns self_device_ns",
		"div 1 100 100 100 300 300\n");
}

/*
 * P [0, 20) holds A [2, 12), which B [8, 18) crosses: B takes 4 of A's 10 and
 * is over for the rest of the world at 12, so D [13, 15) lies directly in P.
 */
TEST(crossing_spans)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "P", 1, 0, 20);
	test_op(t, "A", 1, 2, 10);
	test_op(t, "B", 1, 8, 10);
	test_op(t, "D", 1, 13, 2);
	struct analyzed *a = analyze(t);
	check_table(a, "operators.by_name: name total_ns self_ns",
		    "B 10 10\nP 20 8\nA 10 6\nD 2 2\n");
}

TEST(empty_spans_at_borders)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "P", 1, 0, 20);
	test_op(t, "at_start", 1, 0, 0);
	test_op(t, "at_end", 1, 20, 0);
	test_op(t, "same", 1, 0, 20);
	struct analyzed *a = analyze(t);
	check_table(a, "operators.by_name: name count total_ns",
		    "same 1 20\nP 1 20\nat_end 1 0\nat_start 1 0\n");
	check_facts(a, "operators: count self_ns", "4 20");
}

TEST(by_shape)
{
	struct test_trace *t = test_trace_new();
	static const char small[] = "{\"Input Dims\": [[2, 3]], \"Input type\": [\"float\"]}";
	static const char large[] = "{\"Input Dims\": [[64, 3]], \"Input type\": [\"float\"]}";

	test_span_args(t, "cpu_op", "aten::mm", 1, 0, 10, small);
	test_span_args(t, "cpu_op", "aten::mm", 1, 20, 12, large);
	test_span_args(t, "cpu_op", "aten::mm", 1, 40, 14, small);
	test_span_args(t, "cpu_op", "aten::add", 1, 60, 16, small);
	test_op(t, "aten::add", 1, 80, 18);
	test_call(t, "cudaLaunchKernel", 1, 5, 1, 1);
	test_kernel(t, "k", 0, 7, 100, 7, 1);
	struct analyzed *a = analyze(t);
	check_table(a, "operators.by_shape: name count total_ns self_ns device_ns self_device_ns",
		    "aten::mm 2 24 24 7 7\naten::add 1 16 16 0 0\naten::mm 1 12 12 0 0\n");
}

/*
 * Step 1: A [10, 60) holds B [20, 40), which launches 300 ns. Step 2: A [110, 150) launches 500.
 * Step 3 launches nothing: cut by the end. Self times: A 30 and 40, so 35 ± 7.07; B 20 and 0, so 10
 * ± 14.1. Device times: A 0 and 500, so 250 ± 353.6; B 300 and 0, so 150 ± 212.1.
 */
TEST(work_of_the_steps_that_count)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", 1, 0, 100);
	test_annotation(t, "ProfilerStep#2", 1, 100, 100);
	test_annotation(t, "ProfilerStep#3", 1, 200, 100);
	test_op(t, "A", 1, 10, 50);
	test_op(t, "B", 1, 20, 20);
	test_call(t, "cudaLaunchKernel", 1, 25, 5, 1);
	test_kernel(t, "k", 0, 7, 180, 300, 1); /* runs in the steps behind */
	test_op(t, "A", 1, 110, 40);
	test_call(t, "cudaLaunchKernel", 1, 120, 5, 2);
	test_kernel(t, "k", 0, 7, 500, 500, 2);
	test_op(t, "B", 1, 210, 10);
	struct analyzed *a = analyze(t);

	check_facts(a, "steps: count counted_count", "3 2");
	check_table(a,
		    "operators.by_name: name count self_ns counted counted_ns step_deviation_ns "
		    "counted_device_ns step_device_deviation_ns",
		    "A 2 70 2 70 7 500 354\nB 2 30 1 20 14 300 212\n");
}

TEST(deep_nesting_needs_no_recursion)
{
	enum { DEPTH = 20000 };
	struct test_trace *t = test_trace_new();

	for (int i = 0; i < DEPTH; i++)
		test_op(t, i % 2 ? "odd" : "even", 1, i, 2 * (DEPTH - i));
	struct analyzed *a = analyze(t);
	/* All but the innermost have 2 ns of their own, and so has that. */
	check_table(a, "operators.by_name: name count self_ns", "even 1 20000\nodd 1 20000\n");
}

TEST(without_operators)
{
	struct test_trace *t = test_trace_new();

	test_kernel(t, "k", 0, 7, 0, 10, 0);
	struct analyzed *a = analyze(t);
	check_facts(a, "operators: count self_ns device_ns unattributed_device_ratio", "0 0 0 1");
	check_table(a, "operators.by_name: name", "");
	check_table(a, "operators.by_shape: name", "");
}

/* A random forest of operators with launches in it, and what it must yield. */
enum { MAX_OPS = 400, NAMES = 5, THREADS = 3 };

struct op {
	int64_t start_ns, end_ns, launched_ns;
	int name, thread;
};

struct forest {
	uint64_t seed;
	struct op ops[MAX_OPS];
	int count;
	uint64_t correlation;
	struct test_trace *t;
};

static int64_t random_time(struct forest *forest, int64_t limit)
{
	return (int64_t)(random_bits(&forest->seed) % (uint64_t)limit);
}

/* Fills [start, end) of a thread with operators, a launch here and there, and what is in them. */
static void grow(struct forest *forest, int thread, int64_t start_ns, int64_t end_ns)
{
	static const char *const names[NAMES] = { "a", "b", "c", "d", "e" };

	while (end_ns - start_ns > 4 && forest->count < MAX_OPS && random_below(&forest->seed, 5)) {
		struct op *op = &forest->ops[forest->count++];
		op->start_ns = start_ns + random_time(forest, (end_ns - start_ns) / 2 + 1);
		op->end_ns = op->start_ns + 1 + random_time(forest, end_ns - op->start_ns);
		op->name = (int)random_below(&forest->seed, NAMES);
		op->thread = thread;
		op->launched_ns = 0;
		start_ns = op->end_ns;
		test_op(forest->t, names[op->name], thread + 1, op->start_ns,
			op->end_ns - op->start_ns);
		grow(forest, thread, op->start_ns, op->end_ns);
	}
}

static bool holds(const struct op *outer, const struct op *inner)
{
	return outer->thread == inner->thread && outer->start_ns <= inner->start_ns &&
	       inner->end_ns <= outer->end_ns;
}

/* The smallest operator around another, or -1. Of equal ones the first grown is the outer. */
static int parent_of(const struct forest *forest, int child)
{
	int best = -1;

	for (int i = 0; i < child; i++)
		if (holds(&forest->ops[i], &forest->ops[child]))
			best = i; /* grown later, so within those before */
	return best;
}

/* Launches at the start of some operators: in the innermost one that holds that instant. */
static void launch_some(struct forest *forest)
{
	for (int i = 0; i < forest->count; i++) {
		int64_t at_ns = forest->ops[i].start_ns,
			dur_ns = 1 + random_below(&forest->seed, 1000);
		if (random_below(&forest->seed, 2))
			continue;
		forest->correlation++;
		test_call(forest->t, "cudaLaunchKernel", forest->ops[i].thread + 1, at_ns, 0,
			  forest->correlation);
		test_kernel(forest->t, "k", 0, 7, 1000000 + (int64_t)forest->correlation * 2000,
			    dur_ns, forest->correlation);
		int innermost = i;
		for (int j = i + 1; j < forest->count; j++)
			if (forest->ops[j].thread == forest->ops[i].thread &&
			    forest->ops[j].start_ns <= at_ns && at_ns < forest->ops[j].end_ns)
				innermost = j;
		forest->ops[innermost].launched_ns += dur_ns;
	}
}

static void check_forest(struct forest *forest)
{
	int64_t count[NAMES] = { 0 }, total[NAMES] = { 0 }, self[NAMES] = { 0 };
	int64_t device[NAMES] = { 0 }, self_device[NAMES] = { 0 };

	for (int i = 0; i < forest->count; i++) {
		const struct op *op = &forest->ops[i];
		int64_t dur_ns = op->end_ns - op->start_ns;
		int parent = parent_of(forest, i);
		bool is_nested = false;
		for (int j = parent; j >= 0; j = parent_of(forest, j))
			is_nested |= forest->ops[j].name == op->name;
		count[op->name] += !is_nested;
		total[op->name] += is_nested ? 0 : dur_ns;
		self[op->name] += dur_ns;
		if (parent >= 0)
			self[forest->ops[parent].name] -= dur_ns;
		self_device[op->name] += op->launched_ns;
		bool has[NAMES] = { false };
		for (int j = i; j >= 0; j = parent_of(forest, j)) {
			int name = forest->ops[j].name;
			device[name] += has[name] ? 0 : op->launched_ns;
			has[name] = true;
		}
	}
	struct analyzed *a = analyze(forest->t);
	char expected[1024] = "";
	size_t length = 0;
	bool done[NAMES] = { false };
	for (int n = 0; n < NAMES; n++) { /* largest self time first, ties by name */
		int best = -1;
		for (int i = 0; i < NAMES; i++)
			if (!done[i] && count[i] && (best < 0 || self[i] > self[best]))
				best = i;
		if (best < 0)
			break;
		done[best] = true;
		length += (size_t)snprintf(expected + length, sizeof(expected) - length,
					   "%c %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
					   " %" PRId64 "\n",
					   'a' + best, count[best], total[best], self[best],
					   device[best], self_device[best]);
	}
	check_table(a, "operators.by_name: name count total_ns self_ns device_ns self_device_ns",
		    expected);
}

TEST(agrees_with_brute_force)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct forest forest = { .seed = seed, .t = test_trace_new() };
		test_annotation(forest.t, "all", THREADS + 1, 0, 3000);
		for (int thread = 0; thread < THREADS; thread++)
			grow(&forest, thread, 0, 3000);
		launch_some(&forest);
		check_forest(&forest);
	}
}
