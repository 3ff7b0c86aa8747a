/* SPDX-License-Identifier: MIT */
/* Callbacks and algorithms of Composer: how long they take, in steps and beside them. */
#include "analysis_check.h"
#include "composer_text.h"

#include "check.h"

#define FACTS                                                                                      \
	"callbacks: name_count call_count total_ns in_step_ns_per_step step_ratio "                \
	"profiler_ns_per_step profiler_ratio top_name top_ns_per_step evaluation_count "           \
	"evaluation_ns"
#define BY_NAME "callbacks.by_name: kind name call_count total_ns max_ns step_ns step_ratio"
#define BY_EVENT "callbacks.by_event: kind name event call_count total_ns max_ns"

/* Steps [0,1000) and [1000,2000) count, the last one does not. */
#define STEPS "event/train_batch 0 500\nevent/train_batch 1000 1500\nevent/train_batch 2000 2500\n"

static struct analyzed *analyze_lines(const char *lines)
{
	return analyze(composer_text(lines));
}

TEST(inside_and_beside_the_steps)
{
	struct analyzed *a = analyze_lines(
		"callback/Slow/event/fit_start -100 -50\n" STEPS
		"callback/Slow/event/batch_end 600 700\n"
		"callback/Slow/event/batch_end 1600 1800\n"
		"callback/JSONTraceHandler/event/batch_end 1800 1830\n"
		"X algorithm/MixUp/event/after_dataloader 990 1010\n" /* half of it in each step */
		"callback/Slow/event/batch_end 2600 2700\n");

	/* Slow 50 + 100 + 200 + 100, MixUp 20, the handler 30; in steps 100 + 200 + 20 + 30. */
	check_facts(a, FACTS, "3 6 500 175 0.175 15 0.015 Slow 150 0 0");
	check_table(a, BY_NAME,
		    "callback Slow 4 450 200 150 0.15\n"
		    "callback JSONTraceHandler 1 30 30 15 0.015\n"
		    "algorithm MixUp 1 20 20 10 0.01\n");
	check_table(a, BY_EVENT,
		    "callback Slow batch_end 3 400 200\n"
		    "callback Slow fit_start 1 50 50\n"
		    "callback JSONTraceHandler batch_end 1 30 30\n"
		    "algorithm MixUp after_dataloader 1 20 20\n");
}

/* A within B within A: each instant once in all, and once in each. */
TEST(nested_ones_count_once)
{
	struct analyzed *a = analyze_lines(STEPS "callback/A/event/x 100 200\n"
						 "callback/B/event/x 110 160\n"
						 "callback/A/event/y 120 130\n"
						 "callback/A/event/x 300 310\n");

	check_facts(a, FACTS, "2 4 110 55 0.055 0 0 A 55 0 0");
	check_table(a, BY_NAME, "callback A 3 110 100 55 0.055\ncallback B 1 50 50 25 0.025\n");
	check_table(a, BY_EVENT,
		    "callback A x 2 110 100\ncallback B x 1 50 50\n"
		    "callback A y 1 10 10\n");
}

/* On two threads they do not hide each other. */
TEST(threads_add_up)
{
	struct analyzed *a = analyze_lines(STEPS "callback/A/event/x 100 200\n"
						 "callback/A/event/x 150 250 thread=2\n");

	check_facts(a, "callbacks: total_ns in_step_ns_per_step", "200 100");
}

/* A callback and an algorithm of one class are two. */
TEST(kinds_are_apart)
{
	struct analyzed *a = analyze_lines(STEPS "callback/A/event/x 100 200\n"
						 "algorithm/A/event/x 300 350\n");

	check_table(a, BY_NAME, "callback A 1 100 100 50 0.05\nalgorithm A 1 50 50 25 0.025\n");
}

/* A window ends where an evaluation begins; its callbacks are in no step. */
TEST(evaluations)
{
	struct analyzed *a = analyze_lines(
		"event/train_batch 0 500\ncallback/A/event/batch_end 600 700\n"
		"event/eval 800 2800\nevent/eval_batch 900 1000\n"
		"callback/A/event/eval_batch_end 1000 1100\nevent/eval_batch 1200 1300\n"
		"callback/A/event/eval_end 2800 2900\n"
		"event/train_batch 3000 3500\nevent/train_batch 4000 4500\n");

	/* Steps of 800 and 1000: 100 of their 1800. */
	check_facts(a, FACTS, "1 3 300 50 0.0555556 0 0 A 50 1 2000");
}

/* Where the capture began within one, its parts are seen one by one. */
TEST(evaluation_that_began_before)
{
	struct analyzed *a = analyze_lines("event/eval_batch 100 200\nevent/eval_forward 110 150\n"
					   "event/eval_batch 300 400\nevent/eval - 500\n" STEPS);

	check_facts(a, "callbacks: evaluation_count evaluation_ns", "2 200");
}

/* Nothing takes most where only the profiler takes anything. */
TEST(only_the_profiler)
{
	struct analyzed *a =
		analyze_lines(STEPS "callback/SystemProfiler/event/batch_end 600 620\n");

	check_facts(a, FACTS, "1 1 20 10 0.01 10 0.01 - - 0 0");
}

TEST(without_callbacks)
{
	struct analyzed *a = analyze_lines(STEPS);

	check_facts(a, FACTS, "0 0 0 0 0 0 0 - - 0 0");
	check_table(a, BY_NAME, "");

	struct test_trace *t = test_trace_new();
	test_op(t, "aten::mm", 1, 0, 10);
	test_annotation(t, "callback/A/event/x", 1, 20, 10);
	a = analyze(t);
	check_facts(a, FACTS, "- - - - - - - - - - -");
}
