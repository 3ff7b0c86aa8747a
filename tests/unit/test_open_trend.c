/* SPDX-License-Identifier: MIT */
/*
 * Histories: which lines are one run, which runs are the trend, and what is said of the newest.
 */
#include "analyze/lookup.h"
#include "base/attributes.h"
#include "fail_alloc.h"

#include <stdio.h>
#include <string.h>
#include <tscope/tscope.h>

#include "test_folder.h"

enum { HISTORY_CHARS = 8192 };

static const char path[] = "history.jsonl";

static void write_history(const char *text, size_t length)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, length, out), length);
	assert_int_equal(fclose(out), 0);
}

static struct tscope_diff *open_text(const char *text, size_t trend_runs)
{
	const struct tscope_diff_options options = { .run.trace.thread_count = 1,
						     .trend_runs = trend_runs };
	const char *paths[] = { path };
	struct tscope_error err = { 0 };
	struct tscope_diff *diff = NULL;

	write_history(text, strlen(text));
	if (tscope_trend_open(&diff, paths, 1, &options, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	return diff;
}

/* Lines of runs r1, r2, ... with these mean steps; 0: the run is not good, of 1 ns. */
static void add_steps(char text[HISTORY_CHARS], const int *steps_ns, size_t count)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < count; i++)
		length += (size_t)snprintf(
			text + length, HISTORY_CHARS - length,
			"{\"run\": \"r%zu\", \"fact\": \"step_time.mean_ns\", \"value\": %d%s}\n",
			i + 1, steps_ns[i] ? steps_ns[i] : 1,
			steps_ns[i] ? "" : ", \"good\": false");
}

/* "100 110 changed": a, b and verdict of a fact. */
static void check_fact(const struct tscope_diff *diff, const char *fact, const char *expected)
{
	struct table_view list = tsi_lookup_table(tscope_diff_analysis(diff), "fact_changes.list");
	char text[128] = "-";

	for (size_t row = 0; row < list.row_count; row++)
		if (strcmp(tsi_table_text(&list, row, "fact"), fact) == 0)
			snprintf(text, sizeof(text), "%lld %lld %s",
				 (long long)tsi_table_find(&list, row, "a").integer,
				 (long long)tsi_table_find(&list, row, "b").integer,
				 tsi_table_text(&list, row, "verdict"));
	assert_string_equal(text, expected);
}

static void check_gate(const struct tscope_diff *diff, const char *gate, const char *reason)
{
	struct tscope_gate_result result = tscope_gate_evaluate_change(gate, diff, false);

	if (strcmp(result.reason, reason) != 0)
		fail_msg("%s: %s", gate, result.reason);
	assert_int_equal(result.held, strncmp(reason, "holds", 5) == 0);
	assert_int_equal(result.is_inconclusive, strncmp(reason, "inconclusive", 12) == 0);
}

/*
 * Mean and median of the eight are 100; their deviation is sqrt(10 / 7), the error of one more run
 * 1.268, so that 110 is 7.9 of it away, and 102 is 1.6 (p = 0.16).
 */
#define EIGHT 100, 102, 98, 100, 101, 99, 100, 100

TEST_IN_FOLDER(the_newest_is_judged_by_how_runs_vary)
{
	static const int slow[] = { EIGHT, 110 }, same[] = { EIGHT, 102 }, equal[] = { EIGHT, 100 };
	char text[HISTORY_CHARS] = "";

	add_steps(text, slow, TSI_COUNT_OF(slow));
	struct tscope_diff *diff = open_text(text, 0);
	check_fact(diff, "step_time.mean_ns", "100 110 changed");
	assert_string_equal(tscope_diff_side(diff, TSCOPE_SIDE_A).path,
			    "median of the 8 good runs before (r4)");
	assert_string_equal(tscope_diff_side(diff, TSCOPE_SIDE_B).path, "r9");
	check_gate(diff, "step_time.mean_ns>+3% of trend", "+10 % > +3%, significant (p < 0.0001)");
	check_gate(diff, "step_time.mean_ns>+12%", "holds: +10 %, significant (p < 0.0001)");
	tscope_diff_free(diff);

	text[0] = '\0';
	add_steps(text, same, TSI_COUNT_OF(same));
	diff = open_text(text, 0);
	check_fact(diff, "step_time.mean_ns", "100 102 no_change");
	check_gate(diff, "step_time.mean_ns>+3% of trend",
		   "holds: +2 %, not significant (p = 0.16)");
	check_gate(diff, "step_time.mean_ns>+1% of trend",
		   "inconclusive: +2 %, not significant (p = 0.16)");
	tscope_diff_free(diff);

	text[0] = '\0';
	add_steps(text, equal, TSI_COUNT_OF(equal));
	diff = open_text(text, 0);
	check_fact(diff, "step_time.mean_ns", "100 100 same");
	tscope_diff_free(diff);
}

TEST_IN_FOLDER(the_trend_is_of_the_last_good_runs)
{
	static const int steps[] = { 500, 500, 100, 0, 102, 0, 98, 100 };
	char text[HISTORY_CHARS] = "";

	add_steps(text, steps, TSI_COUNT_OF(steps));
	struct tscope_diff *diff = open_text(text, 3);
	check_fact(diff, "step_time.mean_ns", "100 100 same");
	assert_string_equal(tscope_diff_side(diff, TSCOPE_SIDE_A).path,
			    "median of the 3 good runs before (r3)");
	tscope_diff_free(diff);
}

TEST_IN_FOLDER(few_runs_decide_nothing)
{
	static const int steps[] = { 100, 102, 110 };
	char text[HISTORY_CHARS] = "";

	add_steps(text, steps, 1);
	struct tscope_diff *diff = open_text(text, 0);
	check_gate(diff, "step_time.mean_ns>+3% of trend",
		   "inconclusive: no good run before says it");
	tscope_diff_free(diff);
	text[0] = '\0';
	add_steps(text, steps, 3);
	diff = open_text(text, 0);
	check_fact(diff, "step_time.mean_ns", "100 110 undecided");
	check_gate(diff, "step_time.mean_ns>+3% of trend",
		   "inconclusive: +10 %, and 2 good runs before are too few to tell");
	tscope_diff_free(diff);
}

/* One name for all runs, sums over 2, 4 and 10 steps, a doubt, and a fact that is not known. */
TEST_IN_FOLDER(sums_are_per_step_and_doubts_do_not_count)
{
	static const int steps[] = { 2, 2, 4, 10, 10 }, sums[] = { 20, 22, 40, 100, 300 };
	char text[HISTORY_CHARS] = "";
	size_t length = 0;

	for (size_t i = 0; i < TSI_COUNT_OF(steps); i++)
		length += (size_t)snprintf(
			text + length, sizeof(text) - length,
			"{\"run\":\"r\",\"fact\":\"budget.step_count\",\"value\":%d}\n"
			"{\"run\":\"r\",\"fact\":\"no.such_fact\",\"value\":1}\n"
			"{\"run\":\"r\",\"fact\":\"efficiency.mfu\",\"value\":0.5%s}\n"
			"{\"run\":\"r\",\"fact\":\"budget.exposed_comm_total_ns\",\"value\":%d}"
			"\n\n",
			steps[i], i == 4 ? "" : ",\"doubt\":\"a bound\"", sums[i]);
	struct tscope_diff *diff = open_text(text, 0);
	check_fact(diff, "budget.exposed_comm_total_ns", "10 30 changed");
	check_gate(diff, "efficiency.mfu<-1% of trend", "inconclusive: no good run before says it");
	tscope_diff_free(diff);
}

TEST_IN_FOLDER(lines_that_are_no_figures_are_counted)
{
	static const int steps[] = { 100, 100 };
	char text[HISTORY_CHARS] =
		"{\"run\":\"r0\",\"fact\":\"steps.count\",\"value\":\"3\"}\nnoise\n";

	add_steps(text, steps, TSI_COUNT_OF(steps));
	struct tscope_diff *diff = open_text(text, 0);
	const char *damage = tscope_diff_side(diff, TSCOPE_SIDE_A).saved_damage;
	assert_non_null(damage);
	assert_string_equal(strstr(damage, ": line"), ": line 1 is no figure of a run, and 1 more");
	tscope_diff_free(diff);
}

TEST_IN_FOLDER(the_history_has_a_row_a_run_and_all_changes)
{
	char text[HISTORY_CHARS] = "";
	size_t length = 0;

	for (int i = 1; i <= 12; i++)
		length += (size_t)snprintf(
			text + length, sizeof(text) - length,
			"{\"run\":\"r%d\",\"commit\":\"c%d\",\"fact\":\"launches.delay_mean_ns\","
			"\"value\":%d}\n",
			i, i, i < 7 ? 500 + i % 2 : 700 + i % 2);
	struct tscope_diff *diff = open_text(text, 0);
	struct table_view changes = tsi_lookup_table(tscope_diff_analysis(diff), "history.changes");
	assert_int_equal(tsi_lookup_int(tscope_diff_analysis(diff), "history.run_count"), 12);
	assert_int_equal(changes.row_count, 1);
	assert_string_equal(tsi_table_text(&changes, 0, "figure"), "launches.delay_mean_ns");
	assert_string_equal(tsi_table_text(&changes, 0, "path"), "r7 c7");
	assert_int_equal(tsi_table_find(&changes, 0, "run").integer, 7);
	assert_int_equal(tsi_table_find(&changes, 0, "earliest").integer, 7);
	assert_int_equal(tsi_table_find(&changes, 0, "latest").integer, 7);
	tscope_diff_free(diff);
}

/* Whatever is left of a file, and whichever allocation fails, it ends with a status. */
TEST_IN_FOLDER(nothing_is_trusted)
{
	static const int steps[] = { EIGHT, 110 };
	const struct tscope_diff_options options = { .run.trace.thread_count = 1 };
	const char *paths[] = { path };
	char text[HISTORY_CHARS] = "";
	struct tscope_diff *diff;

	add_steps(text, steps, TSI_COUNT_OF(steps));
	for (size_t length = 0; length < strlen(text); length += 7) {
		write_history(text, length);
		if (tscope_trend_open(&(struct tscope_diff *){ NULL }, paths, 0, &options, NULL) ==
		    TSCOPE_OK)
			fail_msg("no path is a history");
		diff = NULL;
		if (tscope_trend_open(&diff, paths, 1, &options, NULL) == TSCOPE_OK)
			tscope_diff_free(diff);
	}
	write_history(text, strlen(text));
	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		diff = NULL;
		alloc_sweep_try(&sweep, tscope_trend_open(&diff, paths, 1, &options, &sweep.err));
		tscope_diff_free(diff);
	}
}
