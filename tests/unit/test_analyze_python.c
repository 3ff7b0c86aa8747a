/* SPDX-License-Identifier: MIT */
/* Python functions and pauses of the garbage collector. */
#include "analysis_check.h"

#include "check.h"

static struct test_trace *new_python_trace(void)
{
	return test_trace_new_with(&(struct builder_options){ .python = true });
}

TEST(own_and_whole_time)
{
	struct test_trace *t = new_python_trace();

	test_span(t, "python_function", "train.py(1): main", 1, 0, 100);
	test_span(t, "python_function", "net.py(5): forward", 1, 10, 40);
	test_span(t, "python_function", "net.py(5): forward", 1, 20, 10); /* calls itself */
	test_op(t, "aten::mm", 1, 60, 30); /* an operator is no Python function */
	struct analyzed *a = analyze(t);
	check_facts(a, "python: call_count function_count self_ns gc_count gc_total_ns gc_max_ns",
		    "3 2 100 0 0 -");
	check_table(a, "python.by_name: name count self_ns total_ns mean_ns",
		    "train.py(1): main 1 60 100 100\nnet.py(5): forward 2 40 40 25\n");
}

static void count_garbage(struct test_trace *t, int64_t at_ns, const char *args)
{
	test_event(t, &(struct raw_event){
			      .phase = 'C',
			      .has_ts = true,
			      .ts_ns = at_ns,
			      .name = TSI_STR("garbage collection"),
			      .pid = TSI_STR("100"),
			      .tid = TSI_STR("1"),
			      .args = { args, strlen(args) },
		      });
}

/* VizTracer counts 1 where a collection begins and 0 where it ends: 30 and 50 ns. */
TEST(pauses_of_the_garbage_collector)
{
	struct test_trace *t = new_python_trace();

	test_span(t, "FEE", "main", 1, 0, 1000);
	count_garbage(t, 100, "{\"collecting\": 1}");
	count_garbage(t, 130, "{\"collecting\": 0}");
	count_garbage(t, 200, "{\"collecting\": 1}");
	count_garbage(t, 250, "{\"collecting\": 0}");
	struct analyzed *a = analyze(t);
	/* 30 + 50 of the 1000 ns from the first start to the last end. */
	check_facts(a, "python: gc_count gc_total_ns gc_max_ns gc_ratio", "2 80 50 0.08");
	/* A pause is no function: it takes nothing from the one that it interrupts. */
	check_table(a, "python.by_name: name count self_ns", "main 1 1000\n");
}

TEST(frames_that_were_not_kept)
{
	struct test_trace *t = test_trace_new();

	test_span(t, "python_function", "train.py(1): main", 1, 0, 100);
	test_op(t, "aten::mm", 1, 60, 30);
	struct analyzed *a = analyze(t);
	check_facts(a, "python: call_count function_count self_ns", "0 0 0");
	check_table(a, "python.by_name: name", "");
}

/*
 * Times are rounded to ns one by one, so that a call may end 1 ns after its caller: it takes from
 * the caller what that has. One that starts where another ends is none of its calls.
 */
TEST(calls_that_stick_out)
{
	struct test_trace *t = test_trace_new();

	test_span(t, "fee", "child", 1, 4, 7);
	test_span(t, "fee", "parent", 1, 0, 10);
	test_span(t, "fee", "after", 1, 10, 2);
	test_span(t, "fee", "main", 1, 0, 20);
	struct analyzed *a = analyze(t);
	/* main 20 - 10 - 2; parent 10 - 6, and the child has its own 7 */
	check_table(a, "python.by_name: name self_ns total_ns",
		    "main 8 20\nchild 7 7\nparent 4 10\nafter 2 2\n");
}

#define SITE "/usr/lib/python3/dist-packages/"
#define NEXT "__next__ (" SITE "torch/utils/data/dataloader.py:701)"
#define FETCH "_next_data (" SITE "torch/utils/data/dataloader.py:757)"
#define LOG "Run.log (" SITE "wandb/sdk/wandb_run.py:1700)"
#define SAVE "save (" SITE "torch/serialization.py:850)"

/* The calls of step `number`, each step 1000 ns: what is within a call with a cause is that's. */
static void add_step(struct test_trace *t, int64_t number)
{
	int64_t at = 1000 * number;

	test_span(t, "FEE", FETCH, 100, at + 10, 180);
	test_span(t, "FEE", NEXT, 100, at, 200);
	test_span(t, "FEE", "Tensor.item", 100, at + 310, 20);
	test_span(t, "FEE", "builtins.print", 100, at + 340, 10);
	test_span(t, "FEE", LOG, 100, at + 300, 100);
	test_span(t, "FEE", "Tensor.item", 100, at + 500, 50);
	test_span(t, "FEE", "builtins.print", 7, at + 500, 40);
	test_span(t, "FEE", "step (/job/train.py:3)", 100, at, 1000);
}

static struct test_trace *new_viztracer(void)
{
	struct test_trace *t = test_trace_new();

	test_metadata(t, "viztracer_metadata", "{}");
	return t;
}

/*
 * Two steps of 1000 ns, all of them the trace, which is one step then; what saves runs across the
 * end of the second and is no call of it, 30 ns of 90. 2400 ns are judged.
 */
TEST(causes)
{
	struct test_trace *t = new_viztracer();

	add_step(t, 0);
	add_step(t, 1);
	test_span(t, "FEE", SAVE, 100, 2310, 90);
	struct analyzed *a = analyze(t);
	check_facts(a,
		    "python: main_ns data_loading_ns logging_ns checkpoint_ns synchronisation_ns "
		    "stall_ratio",
		    "2400 400 200 90 100 0.329167"); /* 790 ÷ 2400 */
	check_table(a,
		    "python.by_cause: cause function_count call_count total_ns main_ns main_ratio",
		    "data_loading 1 2 400 400 0.166667\n"
		    "logging 2 4 280 200 0.0833333\n" /* the worker's prints are 80 */
		    "synchronisation 1 2 100 100 0.0416667\n"
		    "checkpoint 1 1 90 90 0.0375\n");
	check_table(a, "python.by_cause: cause function",
		    "data_loading " NEXT "\nlogging " LOG "\nsynchronisation Tensor.item\n"
		    "checkpoint " SAVE "\n");
	check_table(a, "python.by_thread: pid tid thread call_count total_ns stall_ns is_main",
		    "100 100 - 15 2090 790 yes\n100 7 - 2 80 80 no\n");
}

/* Where steps are marked only what lies in them counts for the main thread. */
TEST(causes_in_steps)
{
	struct test_trace *t = new_viztracer();

	for (int64_t at = 100; at <= 300; at += 200)
		test_span(t, "user_annotation", "ProfilerStep#1", 100, at, 100);
	test_span(t, "FEE", "builtins.print", 100, 0, 40);   /* before them */
	test_span(t, "FEE", "builtins.print", 100, 90, 30);  /* 20 in the first */
	test_span(t, "FEE", "builtins.print", 100, 280, 60); /* 20 and 40 */
	test_span(t, "FEE", "builtins.print", 100, 395, 50); /* 5, to the end of the last */
	struct analyzed *a = analyze(t);
	/* the first step lasts until the second begins: 200 + 100 */
	check_facts(a, "python: main_ns logging_ns", "300 85");
	check_table(a, "python.by_cause: cause call_count total_ns main_ns", "logging 4 180 85\n");
}

/*
 * A function that only waits is no work: neither the thread that sleeps longest nor what a log
 * waits for says what the main thread waits for.
 */
TEST(waiting)
{
	static const char *const waits[] = {
		"time.sleep",           "select.select",         "select.poll.poll",
		"select.epoll.poll",    "select.kqueue.control", "_queue.SimpleQueue.get",
		"_thread.lock.acquire", "_thread.RLock.acquire", "_multiprocessing.SemLock.acquire",
	};
	struct test_trace *t = new_viztracer();

	test_span(t, "FEE", "select.epoll.poll", 100, 100, 300);
	test_span(t, "FEE", LOG, 100, 500, 100);
	test_span(t, "FEE", "_thread.lock.acquire", 100, 510, 80);
	test_span(t, "FEE", "time.sleep", 100, 700, 60);
	test_span(t, "FEE", "main (/job/time.sleep.py:1)", 100, 0, 1000);
	test_span(t, "FEE", "time.sleep", 7, 0, 900);
	struct analyzed *a = analyze(t);
	check_facts(a, "python: main_ns waiting_ns logging_ns", "1000 360 100");
	check_table(a, "python.by_cause: cause function total_ns main_ns main_function",
		    "waiting time.sleep 1260 360 select.epoll.poll\nlogging " LOG " 100 100 " LOG
		    "\n");
	check_table(a, "python.by_name: name is_waiting",
		    "time.sleep yes\nmain (/job/time.sleep.py:1) no\nselect.epoll.poll yes\n"
		    "_thread.lock.acquire yes\n" LOG " no\n");

	for (size_t i = 0; i < TSI_COUNT_OF(waits); i++) {
		t = new_viztracer();
		test_span(t, "FEE", waits[i], 100, 0, 100);
		check_facts(analyze(t), "python: waiting_ns", "100");
	}
}

/* Pauses count, and a call that asked for one has them; within others they are these calls'. */
TEST(pauses_as_a_cause)
{
	struct test_trace *t = new_viztracer();

	test_span(t, "FEE", "gc.collect", 1, 90, 60);
	count_garbage(t, 100, "{\"collecting\": 1}");
	count_garbage(t, 130, "{\"collecting\": 0}");
	count_garbage(t, 200, "{\"collecting\": 1}");
	count_garbage(t, 250, "{\"collecting\": 0}");
	test_span(t, "FEE", "builtins.print", 1, 300, 100);
	count_garbage(t, 310, "{\"collecting\": 1}");
	count_garbage(t, 380, "{\"collecting\": 0}");
	struct analyzed *a = analyze(t);
	check_facts(a, "python: gc_count gc_total_ns", "3 150");
	check_table(a, "python.by_cause: cause function_count call_count total_ns",
		    "garbage_collection 2 2 110\nlogging 1 1 100\n");
}

/* Of threads that run Python alone the main one is the process's first, however little it calls. */
TEST(main_thread)
{
	struct test_trace *t = new_viztracer();

	for (int64_t i = 0; i < 5; i++)
		test_span(t, "FEE", "work", 7, 10 * i, 5);
	test_span(t, "FEE", "Thread.join", 100, 0, 50);
	struct analyzed *a = analyze(t);
	check_table(a, "python.by_thread: tid call_count is_main", "100 1 yes\n7 5 no\n");

	t = new_viztracer(); /* without it, the one that calls most */
	test_span(t, "FEE", "work", 8, 0, 50);
	test_span(t, "FEE", "work", 7, 0, 5);
	test_span(t, "FEE", "work", 7, 10, 5);
	a = analyze(t);
	check_table(a, "python.by_thread: tid call_count is_main", "8 1 no\n7 2 yes\n");
}

/* Sums that no honest trace reaches stay at their end. */
TEST(absurd_times)
{
	static const int64_t far_ns = INT64_C(4000000000000000000);
	struct test_trace *t = new_viztracer();

	for (int64_t tid = 100; tid < 104; tid++)
		test_span(t, "FEE", "builtins.print", tid, -far_ns, 2 * far_ns);
	struct analyzed *a = analyze(t);
	check_table(a, "python.by_cause: cause call_count total_ns main_ns",
		    "logging 4 9223372036854775807 8000000000000000000\n");
}
