/* SPDX-License-Identifier: MIT */
/* Signals that jump at once: which, where, and what belongs together. */
#include "analysis_check.h"
#include "step_text.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "memory_sweep.h"

enum { TEXT_CHARS = 4096 };

#define CALM "forward=100 loss=1 grad_norm=1 alloc=10"

/* Calm steps from 0 on, but for those that the case writes instead ("8 forward=300\n9 …"). */
static struct step_series steps_with(size_t count, const char *changes)
{
	char text[TEXT_CHARS] = "";
	size_t at = 0;

	for (size_t step = 0; step < count; step++) {
		size_t length = strcspn(changes, "\n");
		unsigned number;
		if (sscanf(changes, "%u", &number) == 1 && number == step) {
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%.*s\n", (int)length,
					       changes);
			changes += length + (changes[length] == '\n');
		} else {
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%zu " CALM "\n",
					       step);
		}
		assert_true(at < sizeof(text));
	}
	return test_steps(text);
}

/*
 * Where nothing deviates, more than half above the median is a jump. All later
 * steps look back on the jump as well: one in twelve moves no median.
 */
TEST(events_and_groups)
{
	static const struct {
		const char *changes, *facts, *groups;
	} cases[] = {
		{ "", "0 0", "" },
		/* One signal alone */
		{ "9 forward=100 loss=2 grad_norm=1 alloc=10", "0 0", "" },
		{ "9 forward=100 loss=2 grad_norm=3 alloc=10", "1 1",
		  "9 9 9 grad_norm, loss 2 3 100 10\n" },
		{ "9 forward=300 loss=1 grad_norm=1 alloc=20", "1 1",
		  "9 9 9 memory, step_time 1 1 300 20\n" },
		{ "9 forward=300 loss=2 grad_norm=2 alloc=20", "1 1",
		  "9 9 9 grad_norm, loss, memory, step_time 2 2 300 20\n" },
		/* 1.5 times the median is no jump yet; nor is a fall */
		{ "9 forward=150 loss=1.5 grad_norm=0 alloc=10", "0 0", "" },
		/* What is not finite is a jump of the loss, and the peak, but no number */
		{ "9 forward=300 loss=nan grad_norm=1 alloc=10\n"
		  "10 forward=300 loss=9 grad_norm=2 alloc=10",
		  "1 2", "9 10 9 grad_norm, loss, step_time - 1 300 10\n" },
		/* Nor does a gradient norm jump that is not finite */
		{ "9 forward=100 loss=2 grad_norm=inf alloc=10", "0 0", "" },
		/* Two steps apart is one group, with the peak of both; three are two groups */
		{ "9 forward=100 loss=2 grad_norm=2 alloc=10\n11 forward=200 loss=3 alloc=10",
		  "1 2", "9 11 11 grad_norm, loss, step_time 3 - 200 10\n" },
		{ "9 forward=100 loss=2 grad_norm=2 alloc=10\n12 forward=200 loss=3 grad_norm=1",
		  "2 2", "9 9 9 grad_norm, loss 2 2 100 10\n12 12 12 loss, step_time 3 1 200 -\n" },
		/* Of equal losses the first; a loss that is not said is below all */
		{ "9 forward=200 grad_norm=2\n10 forward=200 grad_norm=2 loss=1\n"
		  "11 forward=300 grad_norm=2 loss=1",
		  "1 3", "9 11 10 grad_norm, step_time 1 2 200 -\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct step_series steps = steps_with(16, cases[i].changes);
		struct analyzed *a = analyze_rank(&steps, NULL);
		check_facts(a, "correlation: group_count event_count", cases[i].facts);
		check_table(a,
			    "correlation.groups: first_step last_step peak_step axes loss "
			    "grad_norm step_ns alloc_bytes",
			    cases[i].groups);
	}
}

/* pytscope shows three groups; the fourth is no less one. */
TEST(all_groups_are_listed)
{
	struct step_series steps = steps_with(24, "8 forward=100 loss=2 grad_norm=2\n"
						  "12 forward=100 loss=2 grad_norm=2\n"
						  "16 forward=100 loss=2 grad_norm=2\n"
						  "20 forward=100 loss=2 grad_norm=2\n");
	struct analyzed *a = analyze_rank(&steps, NULL);

	check_facts(a, "correlation: group_count event_count", "4 4");
	check_table(a, "correlation.groups: peak_step", "8\n12\n16\n20\n");
}

/* A logger that takes every tenth step: two records apart is one group. */
TEST(groups_of_sparse_records)
{
	char text[TEXT_CHARS] = "";
	size_t at = 0;

	for (int step = 0; step < 200; step += 10) {
		bool jumps = step == 90 || step == 110 || step == 140;
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%d loss=%d grad_norm=%d\n",
				       step, jumps ? 2 : 1, jumps ? 2 : 1);
	}
	struct step_series steps = test_steps(text);
	struct analyzed *a = analyze_rank(&steps, NULL);

	check_facts(a, "correlation: group_count event_count", "2 3");
	check_table(a, "correlation.groups: first_step last_step", "90 110\n140 140\n");
}

TEST(at_least_eight_counted_steps)
{
	static const struct {
		size_t step_count;
		const char *changes, *facts;
	} cases[] = {
		{ 7, "6 forward=300 loss=2", "- -" },
		{ 8, "6 forward=300 loss=2", "1 1" },
		{ 8, "0 warmup " CALM "\n7 forward=300 loss=2", "- -" },
		{ 9, "0 warmup " CALM "\n7 forward=300 loss=2", "1 1" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct step_series steps = steps_with(cases[i].step_count, cases[i].changes);
		struct analyzed *a = analyze_rank(&steps, NULL);
		check_facts(a, "correlation: group_count event_count", cases[i].facts);
	}
}

/* Of a trace there are step times alone: that nothing coincides says nothing. */
TEST(one_signal_is_not_enough)
{
	static const struct {
		const char *text, *facts;
	} cases[] = {
		{ "0 forward=1\n1 forward=1\n2 forward=1\n3 forward=1\n4 forward=1\n5 forward=1\n"
		  "6 forward=1\n7 forward=9\n",
		  "- -" },
		{ "0 forward=1\n1 forward=1\n2 forward=1\n3 forward=1\n4 forward=1\n5 forward=1\n"
		  "6 forward=1\n7 forward=9 loss=nan\n",
		  "1 1" },
		/* Logged every 50 steps: those without a time of their own are steps as well. */
		{ "0 loss=1 grad_norm=1\n50 loss=1 grad_norm=1\n100 loss=1 grad_norm=1\n"
		  "150 loss=1 grad_norm=1\n200 loss=1 grad_norm=1\n250 loss=1 grad_norm=1\n"
		  "300 loss=9 grad_norm=9\n350 loss=1 grad_norm=1\n",
		  "1 1" },
		/* The same between the steps of a trace, which have times alone. */
		{ "0 loss=1 grad_norm=1\n50 loss=1 grad_norm=1\n100 loss=1 grad_norm=1\n"
		  "150 loss=1 grad_norm=1\n151 forward=1\n152 forward=1\n"
		  "200 loss=1 grad_norm=1\n250 loss=1 grad_norm=1\n300 loss=9 grad_norm=9\n",
		  "1 1" },
		/* Steps of which nothing is known count for nothing. */
		{ "0 loss=1 grad_norm=1\n1\n2\n3\n4\n5 loss=1 grad_norm=1\n6 loss=nan\n", "- -" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct step_series steps = test_steps(cases[i].text);
		struct analyzed *a = analyze_rank(&steps, NULL);
		check_facts(a, "correlation: group_count event_count", cases[i].facts);
	}
}

TEST(memory_ends)
{
	struct step_series steps = steps_with(16, "9 forward=300 loss=2\n");
	struct analysis_scope scope = { .steps = &steps };

	sweep_level(LEVEL_RANK, &scope, 1);
	tsi_steps_deinit(&steps);
}
