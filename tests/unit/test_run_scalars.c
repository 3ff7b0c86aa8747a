/* SPDX-License-Identifier: MIT */
/*
 * run/scalars.c, scalar_roles.c and scalar_settle.c: metrics beside the steps of a rank, and which
 * of them is the loss. Steps are written as in step_text.h, metrics as in metric_lines.h.
 */
#include "run/scalars.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "metric_lines.h"
#include "random_numbers.h"
#include "step_dump.h"
#include "step_text.h"

static void check(const struct step_series *steps, const char *expected)
{
	char *actual = step_dump(steps);

	assert_string_equal(actual, expected);
	free(actual);
}

/* ---- names ---- */

TEST(test_roles)
{
	static const struct {
		const char *name;
		enum scalar_role role;
	} cases[] = {
		{ "loss", SCALAR_LOSS },
		{ "Loss", SCALAR_LOSS },
		{ "train/loss", SCALAR_LOSS },
		{ "train_loss", SCALAR_LOSS },
		{ "train_loss_step", SCALAR_LOSS },
		{ "train_loss_epoch", SCALAR_LOSS },
		{ "loss/train/total", SCALAR_LOSS },
		{ "Loss/train", SCALAR_LOSS },
		{ "loss_metrics/global_avg_loss", SCALAR_LOSS },
		{ "epoch_loss", SCALAR_LOSS },
		{ "lm loss", SCALAR_LOSS },
		{ "loss_metrics/global_max_loss", SCALAR_OTHER },
		{ "train/train_loss", SCALAR_OTHER }, /* HF's mean of the whole run */
		{ "val_loss", SCALAR_OTHER },
		{ "eval/loss", SCALAR_OTHER },
		{ "val/loss", SCALAR_OTHER },
		{ "validation/train_loss", SCALAR_OTHER },
		{ "loss/eval/total", SCALAR_OTHER },
		{ "test_loss", SCALAR_OTHER },
		{ "valley_loss", SCALAR_OTHER },
		{ "aux_loss", SCALAR_OTHER },
		{ "lossy", SCALAR_OTHER },
		{ "grad_norm", SCALAR_GRAD_NORM },
		{ "train/grad_norm", SCALAR_GRAD_NORM },
		{ "l2_norm/grad/global", SCALAR_GRAD_NORM },
		{ "grad_2.0_norm_total", SCALAR_GRAD_NORM },
		{ "l2_norm/grad/layer.0.weight", SCALAR_OTHER },
		{ "lr", SCALAR_LEARNING_RATE },
		{ "learning_rate", SCALAR_LEARNING_RATE },
		{ "train/learning_rate", SCALAR_LEARNING_RATE },
		{ "lr-AdamW", SCALAR_LEARNING_RATE },
		{ "lr-AdamW/pg1", SCALAR_LEARNING_RATE },
		{ "lr-DecoupledAdamW/group0", SCALAR_LEARNING_RATE },
		{ "lr-SGD-momentum", SCALAR_OTHER },
		{ "lr-AdamW/pg1-weight_decay", SCALAR_OTHER },
		{ "throughput/samples_per_sec", SCALAR_THROUGHPUT },
		{ "throughput/device/tokens_per_sec", SCALAR_THROUGHPUT },
		{ "throughput(tps)", SCALAR_THROUGHPUT },
		{ "train_samples_per_second", SCALAR_THROUGHPUT },
		{ "train/train_samples_per_second", SCALAR_OTHER },
		{ "actual_batches_per_sec", SCALAR_THROUGHPUT },
		{ "max_batches_per_sec", SCALAR_OTHER },
		{ "throughput/flops_per_sec", SCALAR_OTHER },
		{ "train|device/samples_per_sec", SCALAR_THROUGHPUT },
		{ "actor/grad_norm", SCALAR_GRAD_NORM },
		{ "actor/lr", SCALAR_LEARNING_RATE },
		{ "perf/mfu/actor", SCALAR_MFU },
		{ "perf/mfu/actor_infer", SCALAR_OTHER },
		{ "perf/throughput", SCALAR_THROUGHPUT },
		{ "tokens_per_second_per_gpu", SCALAR_THROUGHPUT },
		{ "actor/pg_loss", SCALAR_OTHER },
		{ "mfu", SCALAR_MFU },
		{ "mfu(%)", SCALAR_MFU },
		{ "throughput/device/mfu", SCALAR_MFU },
		{ "train|device/mfu", SCALAR_MFU },
		{ "mfu_from_formula", SCALAR_MFU },
		{ "", SCALAR_OTHER },
		{ "///", SCALAR_OTHER },
		{ "epoch", SCALAR_OTHER },
		{ "l\xc3\xb6ss", SCALAR_OTHER },
	};
	unsigned rank;

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		if (tsi_scalar_role(tsi_str_of(cases[i].name), &rank) != cases[i].role)
			fail_msg("%s", cases[i].name);
}

/* A name of any length is split within bounds. */
TEST(test_long_name)
{
	char name[300];
	unsigned rank;

	memset(name, 'a', sizeof(name));
	for (size_t length = 0; length < sizeof(name); length++)
		assert_int_equal(tsi_scalar_role((struct str){ name, length }, &rank),
				 SCALAR_OTHER);
	memset(name, '/', sizeof(name));
	memcpy(name + 290, "loss", 4);
	assert_int_equal(tsi_scalar_role((struct str){ name, sizeof(name) }, &rank), SCALAR_LOSS);
}

/* The value of a step goes before the mean of an epoch. */
TEST(test_ranks)
{
	static const char *const in_order[] = { "loss",
						"train_loss_step",
						"train_loss",
						"loss/train/total",
						"train_loss_epoch",
						"epoch_loss" };
	unsigned rank, last = 0;

	for (size_t i = 0; i < TSI_COUNT_OF(in_order); i++) {
		assert_int_equal(tsi_scalar_role(tsi_str_of(in_order[i]), &rank), SCALAR_LOSS);
		assert_true(i == 0 ? rank == 0 : rank > last);
		last = rank;
	}
	/* Ranks of each role count from 0. */
	assert_int_equal(tsi_scalar_role(TSI_STR("mfu"), &rank), SCALAR_MFU);
	assert_int_equal(rank, 0);
	assert_int_equal(tsi_scalar_role(TSI_STR("throughput/device/mfu"), &rank), SCALAR_MFU);
	assert_int_equal(rank, 1);
}

TEST(test_words_of_names)
{
	assert_true(tsi_scalar_is_percent(TSI_STR("mfu(%)")));
	assert_true(tsi_scalar_is_percent(TSI_STR("mfu_pct")));
	assert_true(tsi_scalar_is_percent(TSI_STR("mfu percent")));
	assert_false(tsi_scalar_is_percent(TSI_STR("mfu")));
	assert_false(tsi_scalar_is_percent(TSI_STR("")));
	assert_true(tsi_scalar_counts_samples(TSI_STR("Train/Samples/train_loss")));
	assert_true(tsi_scalar_counts_samples(TSI_STR("lm loss vs samples")));
	assert_false(tsi_scalar_counts_samples(TSI_STR("train_samples_per_second")));
	assert_false(tsi_scalar_counts_samples(TSI_STR("lm loss")));
	assert_string_equal(tsi_scalar_role_name(SCALAR_LEARNING_RATE), "learning_rate");
	assert_string_equal(tsi_scalar_role_name(SCALAR_OTHER), "");
}

/* ---- joining ---- */

TEST(test_join_cases)
{
	static const struct {
		const char *steps, *metrics, *expected;
	} cases[] = {
		{ "", "", "" },
		{ "0 data=5\n", "", "0 time=5 data=5\n" },
		/* Alone they make records without time, in the order of their numbers. */
		{ "", "7 a 1\n3 a 2\n", "3 a:2\n7 a:1\n" },
		/* To the record of their step, or to a new one between the others. */
		{ "0 data=5\n2 data=6\n", "2 a 1\n1 a 2\n0 a 3\n9 a 4\n-1 a 5\n",
		  "-1 a:5\n0 time=5 data=5 a:3\n1 a:2\n2 time=6 data=6 a:1\n9 a:4\n" },
		/* A step over several rows, and a value that was written again. */
		{ "", "1 b 1\n1 a 2\n1 b 3\n", "1 b:3 a:2\n" },
		{ "", "1 b 1\n2 b 2\n1 b 3\n", "1 b:3\n2 b:2\n" },
		/* What the job's own record says stays. */
		{ "1 lr:0.5 x:1\n2 lr:0.25\n", "1 lr 9\n1 y 2\n2 x 3\n2 x 4\n",
		  "1 lr:0.5 x:1 y:2\n2 lr:0.25 x:4\n" },
		/* Phases of other names and scalars move with their records. */
		{ "5 eval=3 z:1\n6 z:2\n7 eval=4\n", "4 a 1\n6 a 2\n",
		  "4 a:1\n5 time=3 eval=3 z:1\n6 z:2 a:2\n7 time=4 eval=4\n" },
		/* Windows with numbers of their own: the first of a number has the values. */
		{ "5 data=1\n6 data=1\n5 data=2\n", "5 a 1\n0 a 2\n7 a 3\n",
		  "0 a:2\n5 time=1 data=1 a:1\n6 time=1 data=1\n5 time=2 data=2\n7 a:3\n" },
		/* The ends of numbers. */
		{ "0 data=1\n", "9223372036854775807 a 1\n-9223372036854775808 a 2\n",
		  "-9223372036854775808 a:2\n0 time=1 data=1\n9223372036854775807 a:1\n" },
		/* What is of no step is left out. */
		{ "0 data=1\n", "0 system/cpu 40 sample\n3 system/cpu 41 sample\n0 a 1\n",
		  "0 time=1 data=1 a:1\n" },
		/* Names as they are, what is not finite as it is. */
		{ "", "0 a/b nan\n0 loss inf\n", "0 a/b:nan loss:inf\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct step_series steps = test_steps(cases[i].steps);

		test_join(&steps, cases[i].metrics, "csv");
		check(&steps, cases[i].expected);
		tsi_steps_deinit(&steps);
	}
}

/* Of several files the later holds, and is the source of the name. */
TEST(test_parts)
{
	struct metric_log first = test_metrics("0 a 1\n1 a 1\n0 b 1\n");
	struct metric_log second = test_metrics("1 c 3\n1 a 2\n2 a 2\n");
	const struct scalar_part parts[] = { { &first, "csv" }, { &second, "tensorboard" } };
	struct step_series steps = test_steps("1 data=1\n");

	tsi_scalars_join(&steps, parts, 2);
	check(&steps, "0 a:1 b:1\n1 time=1 data=1 a:2 c:3\n2 a:2\n");
	assert_int_equal(steps.scalar_name_count, 3);
	for (size_t i = 0; i < steps.scalar_name_count; i++) {
		const struct step_scalar *scalar = &steps.scalar_names[i];
		bool is_b = tsi_str_is(tsi_intern_text(&steps.names, scalar->name), "b");

		assert_string_equal(tsi_intern_text(&steps.names, scalar->source).data,
				    is_b ? "csv" : "tensorboard");
		assert_int_equal(scalar->role, SCALAR_OTHER);
	}
	tsi_metric_log_deinit(&first);
	tsi_metric_log_deinit(&second);
	tsi_steps_deinit(&steps);
}

/* Records that hold nothing but metrics have no times to believe in. */
TEST(test_timeless)
{
	struct step_series alone = test_steps(""), beside = test_steps("0 data=1\n");

	test_join(&alone, "0 a 1\n", "csv");
	test_join(&beside, "0 a 1\n1 a 1\n", "csv");
	assert_true(alone.is_timeless);
	assert_false(beside.is_timeless);
	assert_false(tsi_step_is_timed(&alone.records[0]));
	assert_false(tsi_step_is_timed(&beside.records[1]));
	assert_int_equal(beside.records[1].budget, NO_ROW);
	assert_int_equal(beside.records[1].memory_bytes[STEP_MEMORY_ALLOC], NO_BYTES);
	tsi_steps_deinit(&alone);
	tsi_steps_deinit(&beside);
}

TEST(test_mark_samples)
{
	struct metric_log log = test_metrics("8 Train/Samples/lr 1\n1 a 1\n5 system/cpu 9 sample\n"
					     "16 Train/Samples/lr 2\n");
	struct arena arena = { 0 };

	assert_int_equal(tsi_scalars_mark_samples(&log, &arena), 3);
	assert_false(arena.has_failed);
	assert_true(log.points[0].is_sample);
	assert_false(log.points[1].is_sample);
	assert_true(log.points[3].is_sample);
	tsi_metric_log_deinit(&log);
}

/* ---- a second implementation: the last value of a name and step, found by looking at all ---- */

enum { RANDOM_POINTS = 300, RANDOM_NAMES = 5, RANDOM_STEPS = 40 };

/* The value that should be there, or NULL. */
static const double *find_value(const struct metric_log *log, int64_t step, uint32_t name)
{
	const double *found = NULL;

	for (size_t i = 0; i < log->count; i++)
		if (log->points[i].step == step && log->points[i].name == name)
			found = &log->points[i].value;
	return found;
}

static size_t count_distinct(const struct metric_log *log)
{
	size_t count = 0;

	for (size_t i = 0; i < log->count; i++)
		count += find_value(log, log->points[i].step, log->points[i].name) ==
			 &log->points[i].value;
	return count;
}

static void check_random(const struct step_series *steps, const struct metric_log *log)
{
	assert_int_equal(steps->scalars.count, count_distinct(log));
	for (size_t i = 0; i < steps->scalars.count; i++) {
		const struct step_extra *extra = &steps->scalars.items[i];
		uint32_t name =
			tsi_intern_find(&log->names, tsi_intern_text(&steps->names, extra->name));
		const double *value = find_value(log, steps->records[extra->record].number, name);

		assert_non_null(value);
		assert_true(*value == extra->value);
		assert_true(i == 0 || steps->scalars.items[i - 1].record <= extra->record);
	}
	for (size_t i = 1; i < steps->count; i++)
		assert_true(steps->records[i - 1].number < steps->records[i].number);
}

TEST(test_random)
{
	uint64_t random = 1;

	for (int round = 0; round < 50; round++) {
		struct step_series steps = test_steps("3 data=1\n8 data=1\n9 data=1\n30 data=1\n");
		struct metric_log log;
		struct scalar_part part = { &log, "csv" };

		assert_int_equal(tsi_metric_log_init(&log, NULL), TSCOPE_OK);
		for (int i = 0; i < RANDOM_POINTS; i++) {
			struct metric_point point = {
				.step = (int64_t)(random_bits(&random) % RANDOM_STEPS),
				.time_ns = NO_METRIC_TIME,
				.value = i,
			};
			char name[2] = { (char)('a' + random_bits(&random) % RANDOM_NAMES), '\0' };

			assert_int_equal(tsi_metric_log_add(&log, tsi_str_of(name), point, NULL),
					 TSCOPE_OK);
		}
		tsi_scalars_join(&steps, &part, 1);
		check_random(&steps, &log);
		tsi_metric_log_deinit(&log);
		tsi_steps_deinit(&steps);
	}
}

/* ---- roles of a rank ---- */

/* "loss=train_loss learning_rate=lr": the names that have a role, in the order of roles. */
static void check_roles(const struct step_series *steps, const char *expected)
{
	char text[300] = "";
	size_t length = 0;

	for (enum scalar_role role = SCALAR_LOSS; role < SCALAR_OTHER; role++) {
		const struct step_scalar *scalar = tsi_scalar_of_role(steps, role);

		if (scalar)
			length +=
				(size_t)snprintf(text + length, sizeof(text) - length, "%s%s=%s",
						 length ? " " : "", tsi_scalar_role_name(role),
						 tsi_intern_text(&steps->names, scalar->name).data);
	}
	assert_string_equal(text, expected);
}

TEST(test_settle_cases)
{
	static const struct {
		const char *steps, *metrics, *said[2]; /* --scalar */
		const char *roles, *expected;
	} cases[] = {
		{ "", "", { NULL }, "", "" },
		{ "",
		  "0 train_loss 2\n1 train_loss 1\n1 x 5\n",
		  { NULL },
		  "loss=train_loss",
		  "0 loss:2\n1 loss:1 x:5\n" },
		{ "0 data=1\n",
		  "0 grad_norm 2\n0 lr-AdamW 1\n0 mfu 0.5\n0 throughput 9\n",
		  { NULL },
		  "grad_norm=grad_norm learning_rate=lr-AdamW throughput=throughput mfu=mfu",
		  "0 time=1 data=1 grad_norm:2 lr-AdamW:1 mfu:0.5 throughput:9\n" },
		/* The better row, whatever the other has. */
		{ "",
		  "0 train_loss_epoch 2\n1 train_loss_epoch 1\n1 train_loss_step 5\n",
		  { NULL },
		  "loss=train_loss_step",
		  "0 train_loss_epoch:2\n1 loss:5 train_loss_epoch:1\n" },
		/* Of one row that with more values; of as many the first by name. */
		{ "",
		  "0 lr-B 2\n1 lr-B 1\n1 lr-A 5\n",
		  { NULL },
		  "learning_rate=lr-B",
		  "0 lr-B:2\n1 lr-B:1 lr-A:5\n" },
		{ "",
		  "0 lr-B 2\n1 lr-A 5\n",
		  { NULL },
		  "learning_rate=lr-A",
		  "0 lr-B:2\n1 lr-A:5\n" },
		/* Validation is not training. */
		{ "", "0 val_loss 2\n", { NULL }, "", "0 val_loss:2\n" },
		{ "",
		  "0 val_loss 2\n0 loss 3\n",
		  { "loss=val_loss" },
		  "loss=val_loss",
		  "0 loss:2 loss:3\n" },
		/* Own records hold a loss: it is the better name, and fills up from the metrics. */
		{ "0 loss=4\n1 data=1\n",
		  "0 train_loss 5\n1 train_loss 6\n",
		  { NULL },
		  "loss=loss",
		  "0 loss:4 train_loss:5\n1 time=1 data=1 train_loss:6\n" },
		{ "0 loss=4\n1 data=1\n",
		  "0 loss 5\n1 loss 6\n",
		  { NULL },
		  "loss=loss",
		  "0 loss:4\n1 time=1 data=1 loss:6\n" },
		/* Another one was asked for: the records' goes to the scalars. */
		{ "0 loss=4 grad_norm=1\n1 loss=3 x:7\n",
		  "0 ce 5\n2 ce 6\n",
		  { "loss=ce" },
		  "loss=ce grad_norm=grad_norm",
		  "0 loss:5 grad_norm:1 loss:4\n1 loss:3 x:7\n2 loss:6\n" },
		{ "0 x:4 loss=1\n",
		  "",
		  { "loss=x", "mfu=loss" },
		  "loss=x mfu=loss",
		  "0 loss:4 loss:1\n" },
		/* Another one was asked for that is not there: nothing is a loss. */
		{ "0 loss=4\n",
		  "0 train_loss 5\n",
		  { "loss=other" },
		  "",
		  "0 loss:4 train_loss:5\n" },
		/* One metric for two: it is the first role's. */
		{ "", "0 x 5\n", { "loss=x", "grad_norm=x" }, "loss=x", "0 loss:5\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct step_series steps = test_steps(cases[i].steps);
		struct tscope_scalar_names names = { 0 };

		for (size_t k = 0; k < 2 && cases[i].said[k]; k++)
			assert_int_equal(tscope_scalar_names_add(&names, cases[i].said[k], NULL),
					 TSCOPE_OK);
		tsi_scalars_note(&steps, "steps_jsonl");
		test_join(&steps, cases[i].metrics, "csv");
		tsi_scalars_settle(&steps, &names);
		check_roles(&steps, cases[i].roles);
		check(&steps, cases[i].expected);
		/* Once more, nothing moves. */
		tsi_scalars_settle(&steps, &names);
		check(&steps, cases[i].expected);
		tsi_steps_deinit(&steps);
	}
}

TEST(test_note)
{
	struct step_series steps = test_steps("0 data=1\n1 loss=2 lr:1\n2 lr:2 x:3\n");

	tsi_scalars_note(&steps, "steps_jsonl");
	tsi_scalars_note(&steps, "again");
	assert_int_equal(steps.scalar_name_count, 3);
	tsi_scalars_settle(&steps, NULL);
	check_roles(&steps, "loss=loss learning_rate=lr");
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(
			tsi_intern_text(&steps.names, steps.scalar_names[i].source).data,
			"steps_jsonl");
	tsi_steps_deinit(&steps);
}

TEST(test_names_add)
{
	static const struct {
		const char *text, *message; /* NULL: taken */
	} cases[] = {
		{ "loss=train/ce", NULL },
		{ "learning_rate=a=b", NULL },
		{ "loss=", "lacks the metric: loss=NAME" },
		{ "loss", "lacks the metric: loss=NAME" },
		{ "lr=x", "'lr=x' is no ROLE=NAME; roles are loss, grad_norm, learning_rate, "
			  "throughput and mfu" },
		{ "", "'' is no ROLE=NAME; roles are loss, grad_norm, learning_rate, throughput "
		      "and mfu" },
	};
	struct tscope_scalar_names names = { 0 };

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_error err = { 0 };
		enum tscope_status status = tscope_scalar_names_add(&names, cases[i].text, &err);

		assert_int_equal(status, cases[i].message ? TSCOPE_E_FORMAT : TSCOPE_OK);
		if (cases[i].message)
			assert_string_equal(err.message, cases[i].message);
	}
	assert_string_equal(names.names[SCALAR_LOSS], "train/ce");
	assert_string_equal(names.names[SCALAR_LEARNING_RATE], "a=b");
	assert_null(names.names[SCALAR_MFU]);
}

/* ---- limits ---- */

/* Where a series has no room for more names, these are left out and all else is joined. */
TEST(test_many_names)
{
	struct step_series steps = test_steps("0 data=1\n");
	struct metric_log log;
	struct scalar_part part = { &log, "csv" };

	assert_int_equal(tsi_metric_log_init(&log, NULL), TSCOPE_OK);
	for (int i = 0; i < 40000; i++) {
		char name[24];
		uint32_t id;

		snprintf(name, sizeof(name), "own%d", i);
		assert_int_equal(tsi_intern_add(&steps.names, tsi_str_of(name), &id, NULL),
				 TSCOPE_OK);
		snprintf(name, sizeof(name), "metric%d", i);
		assert_int_equal(tsi_metric_log_add(&log, tsi_str_of(name),
						    (struct metric_point){ .value = i }, NULL),
				 TSCOPE_OK);
	}
	tsi_scalars_join(&steps, &part, 1);
	/* Of 65536 there are 40000 and the empty one; the source is another. */
	assert_int_equal(steps.scalars.count, 65536 - 40000 - 2);
	assert_int_equal(steps.scalar_name_count, steps.scalars.count);
	tsi_scalars_note(&steps, "more");
	tsi_scalars_settle(&steps, NULL);
	tsi_metric_log_deinit(&log);
	tsi_steps_deinit(&steps);
}

/* Each allocation fails in turn. */
TEST(test_memory)
{
	const struct tscope_scalar_names names = { .names = { "x", NULL } };

	struct alloc_sweep sweep = { .at_least = 10 };
	while (alloc_sweep_next(&sweep)) {
		struct step_series steps = test_steps("0 data=1 eval=2 loss=1\n2 data=1 lr:3\n");
		struct metric_log log = test_metrics("0 x 1\n1 x 1\n0 grad_norm 3\n9 lr 2\n");
		struct scalar_part part = { &log, "csv" };
		struct arena arena = { 0 };

		alloc_sweep_start(&sweep);
		tsi_scalars_note(&steps, "steps_jsonl");
		(void)tsi_scalars_mark_samples(&log, &arena);
		tsi_scalars_join(&steps, &part, 1);
		tsi_scalars_settle(&steps, &names);
		bool has_failed = alloc_sweep_stop(&sweep);
		assert_int_equal(steps.has_failed || arena.has_failed, has_failed);
		if (!has_failed) {
			check(&steps, "0 time=3 data=1 eval=2 loss:1 grad_norm:3 loss:1\n1 loss:1\n"
				      "2 time=1 data=1 lr:3\n9 lr:2\n");
		}
		tsi_metric_log_deinit(&log);
		tsi_steps_deinit(&steps);
	}
}
