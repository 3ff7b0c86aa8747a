/* SPDX-License-Identifier: MIT */
/*
 * Comparisons from end to end, over the files and folders of testdata/: what may be a side, what is
 * said when one cannot be opened, and that a side against itself shows no change.
 */
#include "fail_alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tscope/tscope.h>
#include <unistd.h>

#include "check.h"
#include "config.h"

enum { PATH_CHARS = 512 };

static const struct tscope_diff_options one_thread = { .run.trace.thread_count = 1 };

/* A name of testdata, or a path as it is. */
static void in_testdata(char path[PATH_CHARS], const char *name)
{
	int length = *name == '/' ? snprintf(path, PATH_CHARS, "%s", name)
				  : snprintf(path, PATH_CHARS, "%s/%s", testdata, name);

	assert_in_range(length, 1, PATH_CHARS - 1);
}

static enum tscope_status open_pair(struct tscope_diff **diff, const char *a, const char *b,
				    struct tscope_error *err)
{
	char paths[TSCOPE_SIDE_COUNT][PATH_CHARS];
	const char *const sides[] = { paths[0], paths[1] };

	in_testdata(paths[0], a);
	in_testdata(paths[1], b);
	return tscope_diff_open(diff, sides, &one_thread, err);
}

static struct tscope_diff *must_open(const char *a, const char *b)
{
	struct tscope_error err = { 0 };
	struct tscope_diff *diff = NULL;

	if (open_pair(&diff, a, b, &err) != TSCOPE_OK)
		fail_msg("%s, %s: %s", a, b, err.message);
	return diff;
}

static struct tscope_value fact(const struct tscope_diff *diff, const char *id)
{
	struct tscope_value value;
	enum tscope_unit unit;

	assert_true(tscope_analysis_find(tscope_diff_analysis(diff), id, &value, &unit));
	return value;
}

/* Every side of every kind that testdata has and this build can read. */
static const char *const sides[] = {
	"run_healthy",
	"run_sick",
	"run_mixed",
	"run_rerun",
	"two_steps.json",
	"two_steps_cut.json",
	"cpu_only.json",
	"flops.json",
	"oom.pickle",
	"snapshot.html",
#if HAVE_ZLIB
	"two_steps.json.gz",
	"memory_timeline.json.gz",
#endif
#if HAVE_YAML
	"rank_0_memory_stats.yaml",
	"run_memory",
#endif
};

/* Reports it as JSON into a file of ours; the caller deletes it. */
static void save_report(char saved[PATH_CHARS], const char *name)
{
	char path[PATH_CHARS];
	const char *paths[] = { path };
	struct tscope_run *run = NULL;
	struct tscope_diagnosis *diagnosis = NULL;
	struct tscope_error err = { 0 };
	const struct tscope_report_options options = { .format = TSCOPE_REPORT_JSON };

	in_testdata(path, name);
	snprintf(saved, PATH_CHARS, "/tmp/test_open_diff.XXXXXX");
	int fd = mkstemp(saved);
	assert_true(fd >= 0);
	FILE *out = fdopen(fd, "w");
	assert_non_null(out);
	if (tscope_run_open(&run, paths, 1, &one_thread.run, &err) != TSCOPE_OK ||
	    tscope_diagnose(&diagnosis, tscope_run_analysis(run), NULL, &err) != TSCOPE_OK ||
	    tscope_report_write_run(out, &(struct tscope_run_report){ run, diagnosis, NULL, 0 },
				    &options, &err) != TSCOPE_OK)
		fail_msg("%s: %s", name, err.message);
	assert_int_equal(fclose(out), 0);
	tscope_diagnosis_free(diagnosis);
	tscope_run_free(run);
}

/* No fact of either side differs, no finding is new, nothing is explained. */
static void check_no_change(const struct tscope_diff *diff, const char *name)
{
	static const char *const zero[] = {
		"fact_changes.changed_count",
		"fact_changes.only_a_count",
		"fact_changes.only_b_count",
		"finding_changes.new_count",
		"finding_changes.gone_count",
		"finding_changes.worse_count",
		"step_change.change_ns",
		"explanation.change_ns",
		"explanation.rest_ns",
		"kernel_changes.new_count",
		"kernel_changes.gone_count",
		"kernel_changes.slower_count",
		"kernel_changes.replaced_count",
		"operator_changes.new_count",
		"operator_changes.slower_count",
		"allocation_changes.change_bytes",
		"reproducibility.environment_count",
		"rank_changes.changed_count",
	};

	for (size_t i = 0; i < sizeof(zero) / sizeof(*zero); i++) {
		struct tscope_value value = fact(diff, zero[i]);

		if (value.kind != TSCOPE_VALUE_ABSENT && value.integer != 0)
			fail_msg("%s: %s is %lld", name, zero[i], (long long)value.integer);
	}
}

TEST(test_self)
{
	for (size_t i = 0; i < sizeof(sides) / sizeof(*sides); i++) {
		struct tscope_diff *diff = must_open(sides[i], sides[i]);

		check_no_change(diff, sides[i]);
		assert_true(fact(diff, "fact_changes.compared_count").integer > 0);
		assert_int_equal(tscope_diff_note_count(diff), 0);
		tscope_diff_free(diff);
	}
}

/* A saved report says what the run itself says. */
TEST(test_saved)
{
	for (size_t i = 0; i < sizeof(sides) / sizeof(*sides); i++) {
		char saved[PATH_CHARS];

		save_report(saved, sides[i]);
		struct tscope_diff *diff = must_open(saved, sides[i]);
		struct tscope_diff_side side = tscope_diff_side(diff, TSCOPE_SIDE_A);

		check_no_change(diff, sides[i]);
		assert_null(side.run);
		assert_string_equal(side.path, saved);
		assert_non_null(strstr(side.saved_by, "tscope "));
		assert_non_null(tscope_diff_side(diff, TSCOPE_SIDE_B).run);
		assert_null(tscope_diff_side(diff, TSCOPE_SIDE_B).saved_by);
		tscope_diff_free(diff);
		unlink(saved);
	}
}

/* 2 ranks of 12 steps of 98 ms, against 4 ranks. */
TEST(test_two_runs)
{
	struct tscope_diff *diff = must_open("run_healthy", "run_sick");

	assert_int_equal(fact(diff, "step_change.a_ns").integer, 98018102);
	assert_string_equal(fact(diff, "step_change.verdict").text, "changed");
	assert_int_equal(fact(diff, "rank_changes.a_rank_count").integer, 2);
	assert_int_equal(fact(diff, "rank_changes.compared_count").integer, 2);
	assert_true(fact(diff, "finding_changes.new_count").integer > 0);
	assert_int_equal(tscope_diff_note_count(diff), 1);
	assert_non_null(strstr(tscope_diff_note(diff, 0), "A has 2 ranks and B 4"));
	tscope_diff_free(diff);
}

TEST(test_unreadable)
{
	static const struct {
		const char *a, *b;
		enum tscope_status status;
		const char *message;
	} cases[] = {
		{ "no_such", "two_steps.json", TSCOPE_E_IO, "no_such" },
		{ "two_steps.json", "no_such", TSCOPE_E_IO, "no_such" },
		{ "two_steps.json", "execution_trace.json", TSCOPE_E_UNSUPPORTED,
		  "execution_trace.json" },
		{ "hostile_reduce.pickle", "two_steps.json", TSCOPE_E_UNSUPPORTED,
		  "hostile_reduce.pickle" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tscope_error err = { 0 };
		struct tscope_diff *diff = NULL;

		assert_int_equal(open_pair(&diff, cases[i].a, cases[i].b, &err), cases[i].status);
		if (!strstr(err.message, cases[i].message))
			fail_msg("%s", err.message);
		assert_null(diff);
	}
}

TEST(test_failing_allocations)
{
	/* Some are survived: where only a remark or a worker was lost. */
	struct alloc_sweep sweep = { .is_one_thread = true, .may_survive = true };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_diff *diff = NULL;

		alloc_sweep_try(&sweep, open_pair(&diff, "run_mixed", "run_healthy", &sweep.err));
		tscope_diff_free(diff);
	}
}
