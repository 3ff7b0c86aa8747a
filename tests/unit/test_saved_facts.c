/* SPDX-License-Identifier: MIT */
/*
 * Facts and tables of a saved report as a test wrote them: kinds of values, what is unknown,
 * missing or of another kind than it should be, and the limit. Those that reporters write are in
 * test_saved_report.c.
 */

#include "analysis_check.h"
#include "analyze/saved_report.h"
#include "base/attributes.h"
#include "check.h"
#include "packed.h"

#include <string.h>

#define HEAD "{\"schema_version\": 1, \"tool\": {\"name\": \"tscope\"}, "

static enum tscope_status read_bytes(struct saved_report *report, const void *data, size_t length,
				     struct tscope_error *err)
{
	struct input *in;

	*report = (struct saved_report){ 0 };
	enum tscope_status status = tsi_input_open_memory(&in, data, length, NULL, err);
	if (status != TSCOPE_OK)
		return status;
	status = tsi_saved_report_read(report, in, err);
	tsi_input_close(in);
	return status;
}

static struct saved_report read_good(const char *text)
{
	struct saved_report report;
	struct tscope_error err = { 0 };

	if (read_bytes(&report, text, strlen(text), &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	return report;
}

static void check_read(const char *text, const char *names, const char *expected)
{
	struct saved_report report = read_good(text);
	struct analyzed shown = { .analysis = report.analysis };

	check_facts(&shown, names, expected);
	tsi_saved_report_deinit(&report);
}

/* step_time.count is a count, mean_ns in ns, cv a ratio; distributed.verdict is a text. */
TEST(test_kinds_of_values)
{
	static const struct {
		const char *value, *ns, *ratio;
	} cases[] = {
		{ "7", "7", "7" },
		{ "-7", "-7", "-7" },
		{ "7.0", "7", "7" },
		{ "7.5", "7.5", "7.5" },
		{ "1e3", "1000", "1000" },
		{ "9223372036854775807", "9223372036854775807", "9.22337e+18" },
		{ "-9223372036854775808", "-9223372036854775808", "-9.22337e+18" },
		{ "9223372036854775808", "9.22337e+18", "9.22337e+18" },
		{ "-0", "0", "0" },
		{ "-0.0", "0", "0" },
		{ "18446744073709551616", "1.84467e+19", "1.84467e+19" },
		{ "-1e300", "-1e+300", "-1e+300" },
		{ "9.3e18", "9.3e+18", "9.3e+18" },
		{ "-9.2e18", "-9200000000000000000", "-9.2e+18" },
		{ "1e400", "-", "-" },
		{ "NaN", "-", "-" },
		{ "-Infinity", "-", "-" },
		{ "null", "-", "-" },
		{ "true", "-", "-" },
		{ "\"7\"", "-", "-" },
		{ "[7]", "-", "-" },
		{ "{\"a\": 7}", "-", "-" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char text[512], expected[128];

		snprintf(text, sizeof(text),
			 HEAD "\"facts\": {\"step_time\": {\"mean_ns\": %s, \"cv\": %s}}}",
			 cases[i].value, cases[i].value);
		snprintf(expected, sizeof(expected), "%s %s", cases[i].ns, cases[i].ratio);
		check_read(text, "step_time: mean_ns cv", expected);
	}
}

TEST(test_flags_and_texts)
{
	static const struct {
		const char *flag, *text, *expected;
	} cases[] = {
		{ "true", "\"table\"", "yes table" },
		{ "false", "\"a\\u00e9\\u0000b\"",
		  "no a\xc3\xa9\xef\xbf\xbd"
		  "b" },
		{ "1", "1", "- -" },
		{ "\"true\"", "true", "- -" },
		{ "null", "null", "- -" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char text[512];

		snprintf(text, sizeof(text),
			 HEAD "\"facts\": {\"efficiency\": {\"mfu_is_lower_bound\": %s, "
			      "\"flops_source\": %s}}}",
			 cases[i].flag, cases[i].text);
		check_read(text, "efficiency: mfu_is_lower_bound flops_source", cases[i].expected);
	}
}

TEST(test_names_of_schema_1)
{
	check_read(HEAD
		   "\"facts\": {\"budget\": {\"compute_ns\": 5, \"phase\": {\"data_ns\": 2}}}}",
		   "budget: compute_total_ns phase.data_total_ns wall_total_ns", "5 2 -");
}

TEST(test_unknown_and_missing)
{
	struct saved_report report = read_good(
		HEAD
		"\"facts\": {\"tea_leaves\": {\"count\": 1}, \"overlap\": 7, \"kernels\": {"
		"\"count\": 3, \"phase\": {\"data_ns\": 9}, \"taste\": 4, \"by_name\": ["
		"{\"name\": \"a\", \"count\": 2, \"hue\": 1}, 7, {\"count\": 1, \"name\": 5}], "
		"\"by_kind\": {\"name\": \"a\"}}}, \"future\": [1, 2]}");
	struct analyzed shown = { .analysis = report.analysis };

	assert_true(tscope_analysis_has(report.analysis, tscope_analyzer_find("kernels."), -1));
	assert_false(tscope_analysis_has(report.analysis, tscope_analyzer_find("overlap."), -1));
	assert_false(tscope_analysis_has(report.analysis, tscope_analyzer_find("step_time."), -1));
	check_facts(&shown, "kernels: count total_ns", "3 -");
	/* A row that is none keeps its place: other tables may count rows. */
	check_table(&shown, "kernels.by_name: name count total_ns", "a 2 -\n- - -\n- 1 -\n");
	check_table(&shown, "kernels.by_kind: kind", "");
	tsi_saved_report_deinit(&report);
}

/* Columns of a table that is an object of arrays may be missing, or shorter than others. */
TEST(test_columns)
{
	struct saved_report report =
		read_good(HEAD "\"facts\": {\"series\": {\"steps\": {\"step\": [4, 5, 6], "
			       "\"time_ns\": [70, null], \"loss\": 3, \"hue\": [1, 2, 3, 4]}}}}");
	struct analyzed shown = { .analysis = report.analysis };

	check_table(&shown, "series.steps: step time_ns loss", "4 70 -\n5 - -\n6 - -\n");
	tsi_saved_report_deinit(&report);
}

/* A baseline: tables are columns, and texts are numbers of a list. */
TEST(test_texts_by_number)
{
	struct saved_report report = read_good(
		HEAD "\"texts\": [\"gemm\", \"add\"], \"facts\": {\"kernels\": {\"by_name\": "
		     "{\"name\": [1, 0, 1, 2, \"own\", null, -1], \"count\": [7, 8]}}}}");
	struct analyzed shown = { .analysis = report.analysis };

	check_table(&shown, "kernels.by_name: name count",
		    "add 7\ngemm 8\nadd -\n- -\nown -\n- -\n- -\n");
	tsi_saved_report_deinit(&report);
}

TEST(test_groups_and_doubts)
{
	struct saved_report report = read_good(
		HEAD "\"facts\": {\"step_time\": {\"reliability\": \"clocks\", "
		     "\"doubts\": {\"phase.data_ns\": \"loader\", \"cv\": 3, \"hue\": \"x\"}, "
		     "\"phase\": {\"data_ns\": 9, \"data_ratio\": 0.5}}}}");
	struct analyzed shown = { .analysis = report.analysis };

	check_facts(&shown, "step_time: phase.data_ns phase.data_ratio phase.comm_ns", "9 0.5 -");
	check_reliability(&shown, "step_time", "clocks");
	check_doubt(&shown, "step_time.phase.data_ns", "loader");
	check_doubt(&shown, "step_time.cv", "clocks"); /* what is said of all */
	tsi_saved_report_deinit(&report);
}

/* A table of many columns is named by few bytes: 2^27 values are refused before they are kept. */
TEST(test_too_many_values)
{
	static const char head[] = HEAD "\"facts\": {\"snapshot\": {\"by_device\": [";
	size_t row_count = 8 << 20; /* of 18 columns: more than 2^27 cells */
	struct bytes text = { 0 };
	struct saved_report report;
	struct tscope_error err = { 0 };

	bytes_add(&text, head, sizeof(head) - 1);
	for (size_t i = 0; i < row_count; i++)
		bytes_add_literal(&text, "0,");
	bytes_add_literal(&text, "0]}}}");
	assert_int_equal(read_bytes(&report, text.data, text.length, &err), TSCOPE_E_LIMIT);
	assert_string_equal(err.message, "more than 134217728 values in one report");
	tsi_saved_report_deinit(&report);
	bytes_reset(&text);
}
