/* SPDX-License-Identifier: MIT */
/* run/metrics_csv.c: tables of metrics, Lightning's and others, as metrics_dump() shows them. */
#include "metric_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/attributes.h"
#include "check.h"

static void expect(const char *text, const char *expected)
{
	metrics_expect("csv", "", tsi_str_of(text), expected);
}

static void expect_failure(const char *text, enum tscope_status status, const char *message)
{
	struct metric_log log;
	struct tscope_error err = { 0 };

	assert_int_equal(metrics_read(&log, "csv", (struct str){ 0 }, tsi_str_of(text), 0, &err),
			 status);
	assert_string_equal(err.message, message);
	tsi_metric_log_deinit(&log);
}

/* ---- tasting ---- */

TEST(test_taste)
{
	static const struct taste_case cases[] = {
		{ "a/metrics.csv", "epoch,step,train_loss\n0,0,\n", true, true },
		{ "metrics.csv.gz", "step\n", true, true },
		{ "metrics.csv", "", true, true }, /* the logger has made it, and no more */
		{ "metrics_rank1.csv", "Kernel,Time\nmm,5\n", true, true },
		{ "log.csv", "\xef\xbb\xbfloss,Global_Step\r\n0.5,3\r\n", true, true },
		{ "log.csv", "step,loss\n1,\n", true, true },
		{ "log.csv", "step,loss\n1,nan\n", true, true },
		/* Steps, but also texts: transactions, events of a game. */
		{ "log.csv", "step,type,amount\n1,PAYMENT,9839.64\n", false, true },
		{ "log.csv", "step,loss\n1\n", false, true },
		{ "log.csv", "step,loss\n1,2,3\n", false, true },
		{ "log.csv", "step,loss\n", false, true },
		{ "log.csv", "kernel,time\nmm,5\n", false, true },
		{ "log.csv", "", false, true },
		/* By name something else. */
		{ "metrics.txt", "step,loss\n1,2\n", false, false },
		{ "metrics.csv", "{\"traceEvents\":[]}", false, false },
		{ "csv", "step,loss\n1,2\n", false, false },
	};

	metrics_check_tastes("csv", cases, TSI_COUNT_OF(cases));
}

/* ---- tables ---- */

/* Two rows of step 49: one call of the logger each. */
TEST(test_lightning)
{
	expect("epoch,lr-AdamW,step,train_loss,val_loss\n"
	       "0,,49,2.5,\n"
	       "0,1e-05,49,,\n"
	       "0,,49,,nan\n"
	       "1,,99,-inf,\n",
	       "49 epoch 0\n49 train_loss 2.5\n"
	       "49 epoch 0\n49 lr-AdamW 1.0000000000000001e-05\n"
	       "49 epoch 0\n49 val_loss nan\n"
	       "99 epoch 1\n99 train_loss -inf\n"
	       "records 4\n");
}

TEST(test_forms)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "", "records 0\n" },
		{ "\n\n", "records 0\n" },
		{ "step,a\n", "records 0\n" },
		{ "\xef\xbb\xbfstep,a\r\n1,2\r\n\r\n3,4\r\n", "1 a 2\n3 a 4\nrecords 2\n" },
		/* Quotes: names with commas, quotes and line ends; numbers. */
		{ "\"a,b\",\"step\",\"c\"\"d\"\n\"0.5\",\"1\",\"2\"\n",
		  "1 a,b 0.5\n1 c\"d 2\nrecords 1\n" },
		/* pandas: the index has no name, and whole numbers beside a gap are reals. */
		{ ",step,a\n0,10.0,1.0\n1,,2.0\n", "10 a 1\nrecords 2 no-step 1\n" },
		/* The step's column by preference; the others are metrics. */
		{ "global_step,Step,_step\n1,2,3\n", "2 global_step 1\n2 _step 3\nrecords 1\n" },
		{ "trainer/global_step,_step,a\n1,2,3\n",
		  "2 trainer/global_step 1\n2 a 3\nrecords 1\n" },
		{ "trainer/global_step,a\n1,2\n", "1 a 2\nrecords 1\n" },
		/* Times in seconds: 1.5 s are 1,500,000,000 ns. */
		{ "Wall time,Step,Value\n1.5,7,0.25\n", "7 Value 0.25 @1500000000\nrecords 1\n" },
		{ "_step,_timestamp,a\n7,nan,1\n8,1e300,1\n", "7 a 1\n8 a 1\nrecords 2\n" },
		/* One name twice. */
		{ "step,a,a\n1,2,3\n", "1 a 2\n1 a 3\nrecords 1\n" },
		/* Texts are counted, and the rest of the row holds. */
		{ "step,note,a\n1,start,2\n2,,3\n3,None,\n",
		  "1 a 2\n2 a 3\nrecords 3 no-number 2\n" },
		/* Rows of something else: no step, too many cells, the names again. */
		{ "step,a\nx,1\n1.5,1\n1,2,3\nstep,a\n2,3\n", "2 a 3\nrecords 5 bad 4\n" },
		{ "step,a\n1e300,1\n9223372036854775807,1\n99999999999999999999,2\n-1,3\n",
		  "9223372036854775807 a 1\n-1 a 3\nrecords 4 bad 2\n" },
		/* A row that lacks cells has those that it has. */
		{ "step,a,b\n1,2\n", "1 a 2\nrecords 1\n" },
		{ "a,step\n1\n", "records 1 no-step 1\n" },
		/* Without a line end the last number may be cut. */
		{ "step,a,b\n1,2,3\n4,5,6", "1 a 2\n1 b 3\n4 a 5\nrecords 2 cut\n" },
		{ "a,step\n1,2\n3,4", "2 a 1\nrecords 2 cut\n" },
		{ "step,a", "records 0 cut\n" },
		/* Quotes that do not end take the rest. */
		{ "step,a\n1,2\n2,\"3\n3,4\n", "1 a 2\nrecords 2 cut\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		expect(cases[i].text, cases[i].expected);
}

/* run-RUN-tag-METRIC.csv */
TEST(test_name_of_file)
{
	static const struct {
		const char *path, *name;
	} cases[] = {
		{ "x-tag-y/run-version_0-tag-train_loss.csv", "train_loss" },
		{ "run-.-tag-a-b.csv.gz", "a-b" },
		{ "run-.-tag-.csv", "" },
		{ "metrics.csv", "" },
	};
	const struct metric_source *csv = tsi_metric_source_find("metrics.csv", TSI_STR(""), 1);

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct str name = csv->name(cases[i].path);

		if (!tsi_str_equal(name, tsi_str_of(cases[i].name)))
			fail_msg("%s: %.*s", cases[i].path, (int)name.length, name.data);
	}
	metrics_expect("csv", "train_loss", TSI_STR("Wall time,Step,Value\n1,7,0.25\n"),
		       "7 train_loss 0.25 @1000000000\nrecords 1\n");
	metrics_expect("csv", "train_loss", TSI_STR("Step,Value\n7,0.25\n"),
		       "7 Value 0.25\nrecords 1\n");
	metrics_expect("csv", "train_loss", TSI_STR("Wall time,Step,Value,a\n1,7,0.25,1\n"),
		       "7 Value 0.25 @1000000000\n7 a 1 @1000000000\nrecords 1\n");
}

TEST(test_refused)
{
	expect_failure("kernel,time\nmm,5\n", TSCOPE_E_FORMAT,
		       "a CSV table without a column \"step\": not metrics by step");
	expect_failure("step,tag,value\n1,loss,5\n", TSCOPE_E_UNSUPPORTED,
		       "a CSV table with one value a row and its metric's name beside it: give "
		       "each metric a column of its own (pandas: pivot)");
	/* A metric that is called so is none. */
	expect("step,name,loss\n1,2,5\n", "1 name 2\n1 loss 5\nrecords 1\n");
}

/* ---- numbers ---- */

TEST(test_numbers)
{
	static const struct {
		const char *text;
		bool is_number;
		double value;
	} cases[] = {
		{ "0", true, 0 },
		{ "-0.5", true, -0.5 },
		{ "+2", true, 2 },
		{ "1e-05", true, 1e-05 },
		{ "1E5", true, 1e5 },
		{ "1e999", true, INFINITY },
		{ "nan", true, NAN },
		{ "NaN", true, NAN },
		{ "-nan", true, NAN },
		{ "inf", true, INFINITY },
		{ "-Infinity", true, -INFINITY },
		{ "", false, 0 },
		{ "-", false, 0 },
		{ "--1", false, 0 },
		{ "+-1", false, 0 },
		{ "1 ", true, 1 },
		{ "1 2", false, 0 },
		{ "1,5", false, 0 },
		{ "0x10", false, 0 },
		{ "\"1\"", false, 0 },
		{ "None", false, 0 },
		{ "True", false, 0 },
		{ "tensor(0.5)", false, 0 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		double value = 0;

		if (tsi_metric_to_double(tsi_str_of(cases[i].text), &value) != cases[i].is_number ||
		    !(value == cases[i].value || (isnan(value) && isnan(cases[i].value))))
			fail_msg("\"%s\": %g", cases[i].text, value);
	}
}

TEST(test_times)
{
	assert_int_equal(tsi_metric_time(0), 0);
	assert_int_equal(tsi_metric_time(-1.5), -1500000000);
	assert_int_equal(tsi_metric_time(1.7e9), 1700000000000000000);
	assert_int_equal(tsi_metric_time(9.3e9), NO_METRIC_TIME); /* beyond 2^63 ns */
	assert_int_equal(tsi_metric_time(0x1p63 / 1e9), NO_METRIC_TIME);
	assert_int_equal(tsi_metric_time(-9.3e9), NO_METRIC_TIME);
	assert_int_equal(tsi_metric_time(NAN), NO_METRIC_TIME);
	assert_int_equal(tsi_metric_time(INFINITY), NO_METRIC_TIME);
}

/* ---- limits ---- */

/* One name more than there is room for, the empty one included. */
TEST(test_too_many_names)
{
	char *text = malloc(METRIC_MAX_NAMES * 7 + 16);
	size_t length = (size_t)sprintf(text, "step");

	assert_non_null(text);
	for (unsigned i = 0; i < METRIC_MAX_NAMES; i++)
		length += (size_t)sprintf(text + length, ",m%u", i);
	strcpy(text + length, "\n");
	expect_failure(text, TSCOPE_E_LIMIT, "more than 65536 different names (limit: names)");
	free(text);
}

TEST(test_long_name)
{
	char *text = malloc(2 * METRIC_MAX_NAME_BYTES), *expected = malloc(6000);
	size_t length = (size_t)sprintf(text, "step,");

	memset(text + length, 'n', METRIC_MAX_NAME_BYTES + 1);
	strcpy(text + length + METRIC_MAX_NAME_BYTES + 1, ",a\n1,2,3\n");
	expect(text, "1 a 3\nrecords 1\n"); /* a column without a name, as it were */
	strcpy(text + length + METRIC_MAX_NAME_BYTES, ",a\n1,2,3\n");
	sprintf(expected, "1 %.*s 2\n1 a 3\nrecords 1\n", METRIC_MAX_NAME_BYTES, text + length);
	expect(text, expected);
	free(text);
	free(expected);
}

/* ---- damage ---- */

static const char whole[] = "epoch,step,\"train,loss\",note\n"
			    "0,1,2.5,\n0,2,0.125,text\n,3,,\n1,4,nan,\"a\nb\"\n";

TEST(test_cut)
{
	metrics_cut_everywhere("csv", tsi_str_of(whole));
}

TEST(test_allocations)
{
	assert_true(metrics_fail_everywhere("csv", tsi_str_of(whole)) > 6);
}
