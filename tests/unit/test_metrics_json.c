/* SPDX-License-Identifier: MIT */
/* run/metrics_json.c: metrics as JSON, as metrics_dump() shows them. */
#include "metric_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/attributes.h"
#include "check.h"
#include "decode/records/text_rows.h"

static void expect(const char *text, const char *expected)
{
	metrics_expect("json", "", tsi_str_of(text), expected);
}

/* The Trainer's document around the records. */
#define STATE(records)                                                                             \
	"{\"best_metric\": null, \"epoch\": 0.5, \"global_step\": 20,\n \"log_history\": "         \
	"[" records "],\n \"max_steps\": 20, \"trial_name\": null}\n"

TEST(test_taste)
{
	static const struct taste_case cases[] = {
		{ "out/checkpoint-20/trainer_state.json", STATE(""), true, true },
		{ "state.json.gz", STATE("{\"step\": 10"), true, true },
		/* Only its beginning is at hand. */
		{ "a.json", "{\"global_step\": 20, \"log_history\": [{\"loss\": 2", true, true },
		{ "metrics.jsonl", "{\"step\": 1, \"loss\": 2.5, \"phase\": \"a\"}\n", true, true },
		{ "trainer_log.jsonl.gz", "{\"current_steps\": 5, \"elapsed_time\": \"0:01\"}",
		  true, true },
		{ "log.jsonl", "{\"_step\": 1, \"loss\": NaN, \"lr\": null}\n", true, true },
		/* Steps, but also texts: moves of an agent. */
		{ "log.jsonl", "{\"step\": 1, \"action\": \"up\"}\n", false, true },
		{ "log.jsonl", "{\"loss\": 2.5}\n", false, false },
		{ "metrics.jsonl", "{\"loss\": 2.5}\n", false, false },
		{ "metrics.jsonl", "[1]\n", false, false },
		{ "metrics.jsonl", "{\"step\": 1,\n", false, false },
		{ "metrics.jsonl", "", false, false },
		/* By name or keys something else. */
		{ "a.json", "{\"step\": 1, \"loss\": 2.5}", false, false },
		{ "trainer_state.json", "{\"traceEvents\": []}", false, false },
		{ "a.json", "{\"a\": {\"global_step\": 1, \"log_history\": []}}", false, false },
	};

	metrics_check_tastes("json", cases, TSI_COUNT_OF(cases));
}

/* ---- the Trainer ---- */

TEST(test_trainer)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ STATE(""), "records 0\n" },
		{ STATE("{\"epoch\": 0.25, \"grad_norm\": 1.5, \"loss\": 2.5, \"step\": 10},\n"
			"{\"epoch\": 0.25, \"eval_loss\": NaN, \"step\": 10}"),
		  "10 epoch 0.25\n10 grad_norm 1.5\n10 loss 2.5\n10 epoch 0.25\n10 eval_loss nan\n"
		  "records 2\n" },
		/* What is no number, says no step or is no record. */
		{ STATE("{\"step\": 1, \"a\": \"2\", \"b\": true, \"c\": [3], \"d\": null}, "
			"{\"a\": 4}, "
			"5, {\"step\": 2 \"a\": 6}, {\"step\": 3, \"a\": 7}"),
		  "3 a 7\nrecords 5 bad 2 no-step 1 other 3\n" },
		/* It is no list. */
		{ "{\"global_step\": 1, \"log_history\": {\"step\": 1, \"a\": 2}}", "records 0\n" },
		/* The copy was cut: within a record, and between two. */
		{ "{\"global_step\": 1, \"log_history\": [{\"step\": 1, \"a\": 2}, {\"step\": 2, "
		  "\"a",
		  "1 a 2\nrecords 2 cut\n" },
		{ "{\"global_step\": 1, \"log_history\": [{\"step\": 1, \"a\": 2},\n",
		  "1 a 2\nrecords 1 cut\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		expect(cases[i].text, cases[i].expected);
}

/* ---- lines ---- */

TEST(test_lines)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "", "records 0\n" },
		{ "\n \n", "records 0\n" },
		{ "{\"step\": 1, \"a\": 2}\r\n{\"a\": -Infinity, \"step\": 3}\n",
		  "1 a 2\n3 a -inf\nrecords 2\n" },
		/* The step's key by preference; a time in seconds is 1,500,000,000 ns. */
		{ "{\"global_step\": 1, \"_step\": 2, \"_timestamp\": 1.5, \"a\": 3}\n",
		  "2 a 3 @1500000000\nrecords 1\n" },
		{ "{\"current_steps\": 5, \"total_steps\": 9, \"elapsed_time\": \"0:01\"}\n",
		  "5 total_steps 9\nrecords 1 other 1\n" },
		/* A step that is none. */
		{ "{\"step\": 1.5, \"a\": 2}\n{\"step\": \"x\", \"a\": 2}\n{\"step\": 4.0, \"a\": "
		  "2}\n",
		  "4 a 2\nrecords 3 no-step 2\n" },
		/* Broken lines; the last one may lack its end, but not its brace. */
		{ "{\"step\": 1\n[1]\nx\n{\"step\": 2, \"a\": 3}", "2 a 3\nrecords 4 bad 3\n" },
		{ "{\"step\": 1, \"a\": 2}\n{\"step\": 2, \"a\": 3", "1 a 2\nrecords 2 cut\n" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		expect(cases[i].text, cases[i].expected);
}

/* A row that is too long counts, also where what is shown of it is blank. */
TEST(test_long_row)
{
	static const char record[] = "\n{\"step\": 1, \"a\": 2}\n";
	const size_t blanks = 2 * (size_t)ROW_MAX_BYTES;
	char *text = malloc(blanks + sizeof(record));

	assert_non_null(text);
	memset(text, ' ', blanks);
	memcpy(text + blanks, record, sizeof(record));
	expect(text, "1 a 2\nrecords 2 bad 1\n");
	free(text);
}

static const char whole[] = STATE("{\"loss\": 2.5, \"step\": 10}, {\"loss\": 2.25, \"step\": 20}");

TEST(test_cut)
{
	metrics_cut_everywhere("json", TSI_STR(whole));
	metrics_cut_everywhere("json",
			       TSI_STR("{\"step\": 1, \"a\": 2}\n{\"step\": 2, \"a\": 3}\n"));
}

TEST(test_out_of_memory)
{
	assert_true(metrics_fail_everywhere("json", TSI_STR(whole)) > 0);
}
