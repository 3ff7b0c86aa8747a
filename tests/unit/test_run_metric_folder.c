/* SPDX-License-Identifier: MIT */
/* run/metric_folder.c: metrics that only the folders of their files tell apart. */
#include "run/scalars.h"

#include <stdio.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "metric_lines.h"

enum { MAX_FILES = 4, TEXT_CHARS = 400 };

struct given {
	const char *path, *lines;
};

/* The names of all files, a file a line. */
static void list_names(char text[TEXT_CHARS], const struct metric_log *logs, size_t count)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		for (uint32_t id = 1; id < logs[i].names.count; id++)
			length += (size_t)snprintf(text + length, TEXT_CHARS - length, "%s%s",
						   id > 1 ? " " : "",
						   tsi_intern_text(&logs[i].names, id).data);
		length += (size_t)snprintf(text + length, TEXT_CHARS - length, "\n");
	}
}

static enum tscope_status name_all(struct metric_log *logs, const struct given *given, size_t count,
				   struct tscope_error *err)
{
	struct metric_place places[MAX_FILES];

	for (size_t i = 0; i < count; i++)
		places[i] = (struct metric_place){ &logs[i], given[i].path };
	struct arena arena = { 0 };
	enum tscope_status status;

	tsi_metrics_name_by_folders(places, count, &arena);
	status = tsi_arena_status(&arena, err);
	tsi_arena_deinit(&arena);
	return status;
}

static size_t make_logs(struct metric_log *logs, const struct given *given)
{
	size_t count = 0;

	for (; count < MAX_FILES && given[count].path; count++)
		logs[count] = test_metrics(given[count].lines);
	return count;
}

TEST(test_cases)
{
	static const struct {
		struct given given[MAX_FILES];
		const char *expected;
	} cases[] = {
		{ { { NULL, NULL } }, "" },
		{ { { "metrics.csv", "0 loss 1\n0 x 2\n" } }, "loss x\n" },
		/* Keras: training and validation side by side. */
		{ { { "logs/train/e.1", "0 epoch_loss 1\n0 a 2\n" },
		    { "logs/validation/e.2", "0 epoch_loss 2\n0 b 1\n" } },
		  "epoch_loss a\nvalidation/epoch_loss validation/b\n" },
		/* Nothing of training beside it: the folder may be called so by chance. */
		{ { { "logs/test/e.1", "0 loss 1\n0 a 2\n" } }, "loss a\n" },
		{ { { "logs/a/e.1", "0 loss 1\n0 a 2\n" }, { "x/test/e.2", "0 loss 2\n0 a 1\n" } },
		  "loss a\nloss a\n" },
		{ { { "train/e.1", "0 loss 1\n0 a 2\n" }, { "run_Eval/e.2", "0 loss 2\n0 a 1\n" } },
		  "loss a\nrun_Eval/loss run_Eval/a\n" },
		/* Estimators: validation in a folder below that of training; and nothing above it. */
		{ { { "m/e.1", "0 loss 1\n" }, { "m/eval/e.2", "0 loss 2\n" } },
		  "loss\neval/loss\n" },
		{ { { "e.1", "0 loss 1\n" }, { "eval/e.2", "0 loss 2\n" } }, "loss\neval/loss\n" },
		{ { { "m/e.1", "0 loss 1\n" }, { "m/x/eval/e.2", "0 loss 2\n" } }, "loss\nloss\n" },
		{ { { "val/e.1", "0 loss 1\n" }, { "val/eval/e.2", "0 loss 2\n" } },
		  "loss\nloss\n" },
		/* "evaluate" and "testing" are other words. */
		{ { { "a/e", "0 loss 1\n0 a 2\n" }, { "latest/e", "0 loss 2\n0 a 1\n" } },
		  "loss a\nloss a\n" },
		/* add_scalars(): the folder is called after its only metric. */
		{ { { "r/loss_train/e", "0 loss 1\n" }, { "r/loss_val/e", "0 loss 2\n" } },
		  "loss_train\nloss_val\n" },
		{ { { "r/a_b_c/e", "0 a/b 1\n" } }, "a_b_c\n" },
		{ { { "r/loss_/e", "0 loss 1\n" }, { "r/lossy/e", "0 loss 1\n" } },
		  "loss\nloss\n" },
		{ { { "r/loss_train/e", "0 loss 1\n0 x 1\n" } }, "loss x\n" },
		{ { { "loss_train/e", "" } }, "\n" },
		{ { { "/e", "0 loss 1\n" }, { "//e", "0 loss 1\n" } }, "loss\nloss\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct metric_log logs[MAX_FILES];
		size_t count = make_logs(logs, cases[i].given);
		char text[TEXT_CHARS];

		assert_int_equal(name_all(logs, cases[i].given, count, NULL), TSCOPE_OK);
		list_names(text, logs, count);
		assert_string_equal(text, cases[i].expected);
		for (size_t k = 0; k < count; k++)
			tsi_metric_log_deinit(&logs[k]);
	}
}

/* Values keep their names. */
TEST(test_values)
{
	struct metric_log logs[2] = { test_metrics("0 a 1\n"),
				      test_metrics("0 a 5\n1 b 6\n2 a 7\n") };
	static const struct given given[] = { { "x/e", "" }, { "val/e", "" } };

	assert_int_equal(name_all(logs, given, 2, NULL), TSCOPE_OK);
	assert_string_equal(tsi_intern_text(&logs[1].names, logs[1].points[0].name).data, "val/a");
	assert_string_equal(tsi_intern_text(&logs[1].names, logs[1].points[1].name).data, "val/b");
	assert_string_equal(tsi_intern_text(&logs[1].names, logs[1].points[2].name).data, "val/a");
	/* Alone it is another run: what was done before does not count. */
	assert_int_equal(name_all(logs + 1, given + 1, 1, NULL), TSCOPE_OK);
	assert_string_equal(tsi_intern_text(&logs[1].names, logs[1].points[1].name).data, "b");
	tsi_metric_log_deinit(&logs[0]);
	tsi_metric_log_deinit(&logs[1]);
}

/* Each allocation fails in turn. */
TEST(test_memory)
{
	static const struct given given[MAX_FILES] = { { "x/e", "0 a 1\n0 b 1\n" },
						       { "val/e", "0 a 1\n0 b 1\n" },
						       { "a_b/e", "0 a 1\n" } };

	struct alloc_sweep sweep = { .at_least = 5 };
	while (alloc_sweep_next(&sweep)) {
		struct metric_log logs[MAX_FILES];
		size_t count = make_logs(logs, given);

		alloc_sweep_try(&sweep, name_all(logs, given, count, &sweep.err));
		for (size_t k = 0; k < count; k++)
			tsi_metric_log_deinit(&logs[k]);
	}
}
