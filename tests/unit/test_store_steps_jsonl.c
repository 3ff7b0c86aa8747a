/* SPDX-License-Identifier: MIT */
/*
 * run/store_steps_jsonl.c and run/record.c: what a steps.jsonl says, also one that was
 * appended to, cut, or never was one. Expected are the records as step_dump()
 * shows them, and the log as one line.
 */
#include "run/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "packed.h"
#include "step_dump.h"

/* By bytes last: a text of megabytes leaves the small ones out. */
static const size_t block_sizes[] = { 0, 4099, 64, 3, 2, 1 };

enum { LARGE_BLOCKS = 2 };

static struct str text_of(const char *text)
{
	return (struct str){ text, strlen(text) };
}

static enum tscope_status read_bytes(struct step_series *steps, struct store_log *log,
				     struct str text, size_t block_bytes, struct tscope_error *err)
{
	struct input_options options = { .block_bytes = block_bytes, .single_thread = true };
	struct input *in;
	enum tscope_status status =
		tsi_input_open_memory(&in, text.data, text.length, &options, err);

	*log = (struct store_log){ 0 };
	if (status != TSCOPE_OK)
		return status;
	status = tsi_store_find(TSI_STR("{\"step\":0}"))->read(in, steps, log, err);
	tsi_input_close(in);
	return status;
}

/* "lines 2 bad 0 values 0 runs 1 from 1": earlier and cut are shown where there are any. */
static void show_log(char *text, size_t size, const struct store_log *log)
{
	int length = snprintf(text, size,
			      "lines %" PRIu64 " bad %" PRIu64 " values %" PRIu64 " runs %" PRIu64
			      " from %" PRIu64,
			      log->line_count, log->bad_line_count, log->bad_value_count,
			      log->run_count, log->last_run_line);

	if (log->earlier_count > 0)
		length += snprintf(text + length, size - (size_t)length, " earlier %" PRIu64,
				   log->earlier_count);
	if (log->is_cut)
		snprintf(text + length, size - (size_t)length, " cut");
}

static void check_read_in(size_t block_size_count, const char *text, const char *expected,
			  const char *expected_log)
{
	for (size_t i = 0; i < block_size_count; i++) {
		struct step_series steps;
		struct store_log log;
		struct tscope_error err = { 0 };
		char log_text[160], *actual;

		tsi_steps_init(&steps);
		assert_int_equal(read_bytes(&steps, &log, text_of(text), block_sizes[i], &err),
				 TSCOPE_OK);
		actual = step_dump(&steps);
		assert_string_equal(actual, expected);
		show_log(log_text, sizeof(log_text), &log);
		assert_string_equal(log_text, expected_log);
		free(actual);
		tsi_steps_deinit(&steps);
	}
}

static void check_read(const char *text, const char *expected, const char *expected_log)
{
	check_read_in(TSI_COUNT_OF(block_sizes), text, expected, expected_log);
}

/* ---- tasting ---- */

TEST(test_taste)
{
	static const struct {
		const char *head;
		bool is_ours;
	} cases[] = {
		{ "{\"step\":0,\"phases\":{\"data\":0.1}}\n", true },
		{ "\n  \n{\"idx\": 3, \"scalars\": {}}\n", true },
		{ "{\"global_step\":3.0,\"phases\":{\"data\":0.1},\"timestamp\":17.5}", true },
		/* Nothing but the step, and what only we write. */
		{ "{\"step\":0}\n", true },
		{ "{\"step\":0,\"phases\":null,\"wall_ns\":5,\"budget_ns\":{\"compute\":5}}",
		  true },
		/* Cut behind the first 64 KiB, or by the end of the job. */
		{ "{\"step\":0,\"phases\":{\"data\":0.1,\"forw", true },
		/* The rest of a line, a log's chatter, an object of another kind. */
		{ "ta\":0.1}}\nstarting\n{\"step\":1,\"phases\":{\"data\":0.1}}\n", true },
		{ "{\"a\":1}\nno json\n\n{\"step\":0,\"phases\":{}}\n", true },
		{ "{\"step\":0,\"loss\":2.5}\n{\"step\":1,\"scalars\":{}}\n", true },
		/* Other logs that have steps. */
		{ "{\"step\":0,\"loss\":2.5}\n", false },
		{ "{\"step\":0,\"memory\":{\"alloc\":1},\"rank\":0}\n", false },
		{ "{\"step\":0,\"phases\":[1,2],\"x\":1}\n", false },
		{ "{\"log_type\":\"step\",\"phases\":{\"data\":0.1}}\n", false },
		{ "{\"step\":\"0\",\"phases\":{\"data\":0.1}}\n", false },
		{ "{\"step\":0.5,\"phases\":{\"data\":0.1}}\n", false },
		{ "{\"step\":true,\"phases\":{\"data\":0.1}}\n", false },
		{ "{\"step\":null,\"phases\":{\"data\":0.1}}\n", false },
		{ "{\"step\":99999999999999999999,\"phases\":{\"data\":0.1}}\n", false },
		/* Traces. */
		{ "{\"traceEvents\":[],\"step\":0,\"phases\":{}}", false },
		{ "{\"ph\":\"C\",\"step\":1,\"phases\":{}}\n", false },
		{ "[\n{\"ph\":\"X\",\"ts\":1}", false },
		{ "{\"ph\":\"X\",\"ts\":1}\n{\"step\":0,\"phases\":{}}\n", false },
		{ "{\n\"step\": 1, \"phases\": {}\n}", false },
		/* Nothing. */
		{ "", false },
		{ "step,loss\n0,2.5\n", false },
		{ "{\"step\":", false },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		const struct store *store = tsi_store_find(text_of(cases[i].head));

		if ((store != NULL) != cases[i].is_ours)
			fail_msg("%s: %s", cases[i].head, store ? store->id : "no store");
	}
	assert_string_equal(tsi_store_find(TSI_STR("{\"step\":0}"))->id, "steps_jsonl");
	assert_null(tsi_store_find((struct str){ 0 }));
}

/* A file of a thousand lines without an object is not looked through. */
TEST(test_taste_is_bounded)
{
	char head[100];

	memset(head, '\n', 15);
	strcpy(head + 15, "{\"step\":0}");
	assert_non_null(tsi_store_find(text_of(head)));
	memset(head, '\n', 16);
	strcpy(head + 16, "{\"step\":0}");
	assert_null(tsi_store_find(text_of(head)));
}

/* ---- values ---- */

TEST(test_blocks)
{
	check_read("{\"step\":2,\"phases\":{\"data\":0.012345678,\"forward\":1,\"eval\":2e-09},"
		   "\"scalars\":{\"loss\":2.5,\"grad_norm\":0.125,\"lr\":0.001,\"note\":\"text\"},"
		   "\"memory\":{\"alloc\":1,\"reserved\":2.0,\"peak_alloc\":3,\"peak_reserved\":4,"
		   "\"free\":5},\"timestamp\":12.5}\n"
		   "\n"
		   " { \"idx\" : 3 , \"phases\" : { } , \"scalars\" : null } \r\n"
		   "{\"global_step\":4.0,\"idx\":9,\"step\":5}",
		   /* 12345678 + 1000000000 + 2 = 1012345680 */
		   "2 time=1012345680 data=12345678 forward=1000000000 eval=2"
		   " loss:2.5 grad_norm:0.125 lr:0.001"
		   " alloc=1 reserved=2 peak_alloc=3 peak_reserved=4\n"
		   "3 time=0\n"
		   "5 time=0\n",
		   "lines 3 bad 0 values 0 runs 1 from 1");
}

/* One phase of each step, rounded to the nearest ns, halves up, without a double in between. */
TEST(test_seconds)
{
	static const struct {
		const char *seconds;
		const char *ns; /* NULL: it is no time */
	} cases[] = {
		{ "0", "0" },
		{ "-0.0", "0" },
		{ "0.0000000004", "0" },
		{ "0.0000000005", "1" },
		{ "1.5e-05", "15000" },
		{ "2E3", "2000000000000" },
		{ "4503599.627370497", "4503599627370497" }, /* 2^52 + 1 ns */
		{ "1.00000000049999999999999999", "1000000000" },
		{ "9223372036.854775806", "9223372036854775806" },
		{ "9223372036.854775808", NULL },
		{ "1e300", NULL },
		{ "-0.001", NULL },
		{ "NaN", NULL },
		{ "Infinity", NULL },
		{ "-Infinity", NULL },
		{ "\"0.5\"", NULL },
		{ "[1]", NULL },
		{ "true", NULL },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char line[200], expected[200];
		const char *ns = cases[i].ns;

		snprintf(line, sizeof(line), "{\"step\":1,\"phases\":{\"comm\":%s}}\n",
			 cases[i].seconds);
		snprintf(expected, sizeof(expected), "1 time=%s%s%s\n", ns ? ns : "?",
			 ns ? " comm=" : "", ns ? ns : "");
		check_read(line, expected,
			   ns ? "lines 1 bad 0 values 0 runs 1 from 1"
			      : "lines 1 bad 0 values 1 runs 1 from 1");
	}
}

TEST(test_scalars)
{
	check_read(
		"{\"step\":1,\"scalars\":{\"loss\":NaN,\"grad_norm\":-Infinity}}\n"
		"{\"step\":2,\"scalars\":{\"loss\":\"nan\",\"grad_norm\":\"inf\",\"a\":\"-inf\"}}\n"
		"{\"step\":3,\"scalars\":{\"loss\":1e400,\"grad_norm\":\"2.5\",\"a\":-0.0}}\n"
		"{\"step\":4,\"scalars\":{\"loss\":null,\"grad_norm\":true,\"a\":{\"b\":1}}}\n"
		"{\"step\":5,\"scalars\":{\"loss\":\"none\",\"a\":\"tensor(1.)\",\"b\":\"-\"}}\n",
		"1 time=0 loss:nan grad_norm:-inf\n"
		"2 time=0 loss:nan grad_norm:inf a:-inf\n"
		"3 time=0 loss:inf grad_norm:2.5 a:-0\n"
		"4 time=0\n"
		"5 time=0\n",
		"lines 5 bad 0 values 0 runs 1 from 1");
}

/*
 * Null says nothing, but for the time of a phase; what is no number, or no block, is counted and left
 * out. The sum of the other phases is no step's time then.
 */
TEST(test_bad_values)
{
	check_read("{\"step\":1,\"phases\":{\"data\":\"x\",\"comm\":null,\"eval\":-1},"
		   "\"memory\":{\"alloc\":-1,\"reserved\":null,\"peak_alloc\":NaN,"
		   "\"peak_reserved\":\"9\"}}\n"
		   "{\"step\":2,\"phases\":7,\"scalars\":[1],\"memory\":null}\n",
		   "1 time=?\n"
		   "2 time=?\n",
		   "lines 2 bad 0 values 8 runs 1 from 1");
}

/* As in Python, of two members with one name the last counts. */
TEST(test_doubled_names)
{
	check_read(
		"{\"step\":1,\"step\":2,\"phases\":{\"data\":9},\"phases\":{\"data\":1e-9,"
		"\"data\":2e-9,\"x\":1e-9,\"y\":1e-9,\"x\":3e-9},\"scalars\":{\"a\":1,\"a\":2}}\n"
		"{\"step\":3,\"phases\":{\"x\":1e-9}}\n",
		"2 time=6 data=2 x=3 y=1 a:2\n"
		"3 time=1 x=1\n",
		"lines 2 bad 0 values 0 runs 1 from 1");
}

TEST(test_names_with_escapes)
{
	check_read("{\"step\":1,\"phases\":{\"d\\u0061ta\":1e-9,\"a\\\"b\\\\c\":2e-9,\"\":4e-9}}\n",
		   "1 time=7 data=1 a\"b\\c=2 =4\n", "lines 1 bad 0 values 0 runs 1 from 1");
}

/* A size that was none is written as "unknown", which is no bad value when read again. */
TEST(test_unknown_memory)
{
	check_read("{\"step\":1,\"memory\":{\"alloc\":9485760000000008570,\"reserved\":-1}}\n"
		   "{\"step\":2,\"memory\":{\"alloc\":\"unknown\",\"reserved\":\"unknown\"}}\n",
		   "1 time=0\n2 time=0\n", "lines 2 bad 0 values 2 runs 1 from 1");
}

/* Sums that overflow. */
TEST(test_too_long_for_a_step)
{
	check_read("{\"step\":1,\"phases\":{\"data\":9223372036.854775807,\"comm\":1}}\n"
		   "{\"step\":2,\"phases\":{\"eval\":9223372036.854775807,\"x\":1}}\n"
		   "{\"step\":4,\"timed\":\"unknown\"}\n",
		   "1 time=? data=9223372036854775807 comm=1000000000\n"
		   "2 time=? eval=9.2233720368547758e+18 x=1000000000\n"
		   "4 time=?\n",
		   "lines 3 bad 0 values 0 runs 1 from 1");
}

TEST(test_own_members)
{
	/* Lines of two devices sum to 2 * 50; a step of no time does not tell how many there are. */
	check_read("{\"step\":1,\"scalars\":{},\"mark\":\"first\",\"start_ns\":-7,\"wall_ns\":0,"
		   "\"budget_ns\":{}}\n"
		   "{\"step\":2,\"phases\":{\"forward\":5e-8},\"start_ns\":1700000000000000001,"
		   "\"wall_ns\":50,\"mark\":\"warmup\",\"budget_mark\":\"\","
		   "\"budget_ns\":{\"compute\":60,\"device_gap\":40,\"x\":1},"
		   "\"compute_phase_ns\":{\"forward\":60}}\n"
		   "{\"step\":3,\"mark\":\"no mark\",\"wall_ns\":9,\"host_budget_ns\":{\"data\":4,"
		   "\"other\":-5,\"comm\":null}}\n"
		   /* No budget: without lines, without a wall time that is one. */
		   "{\"step\":4,\"wall_ns\":9}\n"
		   "{\"step\":5,\"wall_ns\":-9,\"budget_ns\":{\"compute\":1}}\n"
		   "{\"step\":6,\"budget_ns\":{\"compute\":1}}\n"
		   /* Steps of which metrics alone are known. */
		   "{\"step\":7,\"timed\":false,\"scalars\":{\"loss\":2}}\n"
		   "{\"step\":8,\"timed\":false,\"phases\":{}}\n"
		   "{\"step\":9,\"timed\":0}\n",
		   "1 first | start=-7 wall=0\n"
		   "2 warmup time=50 forward=50 | start=1700000000000000001 wall=50 mark="
		   " compute=60 device_gap=40 forward=60\n"
		   "3 | start=0 wall=9 host.data=4\n"
		   "4 time=0\n"
		   "5 time=0\n"
		   "6 time=0\n"
		   "7 loss:2\n"
		   "8 time=0\n"
		   "9 time=0\n",
		   "lines 9 bad 0 values 1 runs 1 from 1");
	/* Parts of exposed communication sum to it, or there are none. */
	check_read("{\"step\":1,\"wall_ns\":9,\"budget_ns\":{\"exposed_comm\":6,\"compute\":3},"
		   "\"exposed_ns\":{\"wait\":1,\"transfer\":2,\"unsplit\":3}}\n"
		   "{\"step\":2,\"wall_ns\":9,\"budget_ns\":{\"exposed_comm\":6,\"compute\":3},"
		   "\"exposed_ns\":{\"wait\":6,\"transfer\":2}}\n"
		   "{\"step\":3,\"wall_ns\":9,\"budget_ns\":{\"exposed_comm\":6,\"compute\":3},"
		   "\"exposed_ns\":{\"wait\":9223372036854775807,\"transfer\":9223372036854775807,"
		   "\"unsplit\":8}}\n",
		   "1 | start=0 wall=9 compute=3 exposed_comm=6 wait=1 transfer=2 unsplit=3 own=0\n"
		   "2 | start=0 wall=9 compute=3 exposed_comm=6\n"
		   "3 | start=0 wall=9 compute=3 exposed_comm=6\n",
		   "lines 3 bad 0 values 2 runs 1 from 1");
	check_read("{\"step\":1,\"wall_ns\":9,\"host_budget_ns\":{\"comm\":6,\"data\":3},"
		   "\"exposed_ns\":{\"wait\":1,\"transfer\":2,\"unsplit\":3}}\n",
		   "1 | start=0 wall=9 host.data=3 host.comm=6 wait=1 transfer=2 unsplit=3 own=0\n",
		   "lines 1 bad 0 values 0 runs 1 from 1");
}

TEST(test_device_count)
{
	static const struct {
		const char *line;
		uint32_t device_count;
	} cases[] = {
		{ "{\"step\":1,\"wall_ns\":50,\"budget_ns\":{\"compute\":60,\"device_gap\":40}}",
		  2 },
		{ "{\"step\":1,\"wall_ns\":50,\"host_budget_ns\":{\"other\":50}}", 0 },
		/* Not of our making: whatever they say, there is one, and there are not billions. */
		{ "{\"step\":1,\"wall_ns\":50,\"budget_ns\":{\"compute\":1}}", 1 },
		{ "{\"step\":1,\"wall_ns\":1,\"budget_ns\":{\"compute\":9e18}}", 1 << 16 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct step_series steps;
		struct store_log log;

		tsi_steps_init(&steps);
		assert_int_equal(read_bytes(&steps, &log, text_of(cases[i].line), 0, NULL),
				 TSCOPE_OK);
		assert_int_equal(steps.device_count, cases[i].device_count);
		tsi_steps_deinit(&steps);
	}
}

/* ---- lines and runs ---- */

TEST(test_bad_lines)
{
	check_read("half a line\"}\n"
		   "{\"step\":1}\n"
		   "{\"step\":2,\"phases\":{\"data\":0.1{\"step\":2}\n" /* cut, then appended to */
		   "{\"phases\":{\"data\":1}}\n"
		   "{\"step\":2.5}\n"
		   "[1]\n"
		   "{\"step\":3}\n",
		   "1 time=0\n"
		   "3 time=0\n",
		   "lines 7 bad 5 values 0 runs 1 from 2");
	check_read("\n\n", "", "lines 0 bad 0 values 0 runs 0 from 0");
	check_read("", "", "lines 0 bad 0 values 0 runs 0 from 0");
	check_read("{\"loss\":1}\n", "", "lines 1 bad 1 values 0 runs 0 from 0");
}

TEST(test_cut)
{
	check_read("{\"step\":1}\n{\"step\":2,\"pha", "1 time=0\n",
		   "lines 2 bad 0 values 0 runs 1 from 1 cut");
	/* Whole, though no line feed follows. */
	check_read("{\"step\":1}\n{\"step\":2}", "1 time=0\n2 time=0\n",
		   "lines 2 bad 0 values 0 runs 1 from 1");
	check_read("{\"step\":1}\n{\"loss\":2}", "1 time=0\n",
		   "lines 2 bad 1 values 0 runs 1 from 1");
}

TEST(test_runs)
{
	/* The second run stores from step 3 on, the third from 1 on. */
	check_read("{\"step\":5,\"phases\":{\"old\":1},\"scalars\":{\"old\":1}}\n{\"step\":6}\n"
		   "{\"step\":3}\n{\"step\":4}\n\n"
		   "{\"step\":1,\"phases\":{\"x\":1e-9}}\n{\"step\":7,\"scalars\":{\"a\":1}}\n",
		   "1 time=1 x=1\n"
		   "7 time=0 a:1\n",
		   "lines 6 bad 0 values 0 runs 3 from 6 earlier 4");
	/* The same number again. */
	check_read("{\"step\":5}\n{\"step\":5,\"phases\":{\"data\":1e-9}}\n", "5 time=1 data=1\n",
		   "lines 2 bad 0 values 0 runs 2 from 2 earlier 1");
	/* Windows of traces in an export number their steps anew, and are no runs. */
	check_read("{\"step\":1,\"wall_ns\":2,\"host_budget_ns\":{\"other\":2}}\n"
		   "{\"step\":0,\"wall_ns\":3,\"host_budget_ns\":{\"other\":3}}\n",
		   "1 | start=0 wall=2 host.other=2\n"
		   "0 | start=0 wall=3 host.other=3\n",
		   "lines 2 bad 0 values 0 runs 1 from 1");
}

/* Every prefix: so many records as there are whole lines, and the rest is cut. */
TEST(test_truncated_anywhere)
{
	static const char text[] =
		"{\"step\":0,\"phases\":{\"data\":0.5,\"eval\":1e-3},\"scalars\":{\"loss\":NaN}}\n"
		"{\"step\":1,\"memory\":{\"alloc\":5},\"x\":\"\\u00e9\\n\"}\n"
		"{\"step\":2,\"wall_ns\":7,\"budget_ns\":{\"compute\":7}}\n";

	for (size_t length = 0; length < sizeof(text); length++) {
		size_t whole = 0;
		bool is_cut = false;
		struct step_series steps;
		struct store_log log;

		for (size_t i = 0; i < length; i++) {
			bool is_last = text[i + 1] == '\n'; /* character of its line */

			whole += is_last;
			is_cut = text[i] != '\n' && !is_last;
		}
		tsi_steps_init(&steps);
		assert_int_equal(read_bytes(&steps, &log, (struct str){ text, length }, 3, NULL),
				 TSCOPE_OK);
		assert_int_equal(steps.count, whole);
		assert_int_equal(log.is_cut, is_cut);
		assert_int_equal(log.bad_line_count, 0);
		tsi_steps_deinit(&steps);
	}
}

/* ---- limits ---- */

/* A line of 4 MiB, and one of a byte more; in the midst and at the end. */
TEST(test_line_limit)
{
	enum { LIMIT = 4 << 20 };
	static const char first[] = "{\"step\":1}\n", second[] = "{\"step\":2,\"x\":\"";
	static char text[LIMIT + 100];

	for (size_t length = LIMIT; length <= LIMIT + 1; length++) {
		bool is_read = length == LIMIT;
		size_t end = sizeof(first) - 1 + length;

		memset(text, 'x', end);
		memcpy(text, first, sizeof(first) - 1);
		memcpy(text + sizeof(first) - 1, second, sizeof(second) - 1);
		strcpy(text + end - 2, "\"}");
		check_read_in(LARGE_BLOCKS, text, is_read ? "1 time=0\n2 time=0\n" : "1 time=0\n",
			      is_read ? "lines 2 bad 0 values 0 runs 1 from 1"
				      : "lines 2 bad 1 values 0 runs 1 from 1");
		strcpy(text + end, "\n{\"step\":3}\n");
		check_read_in(LARGE_BLOCKS, text,
			      is_read ? "1 time=0\n2 time=0\n3 time=0\n" : "1 time=0\n3 time=0\n",
			      is_read ? "lines 3 bad 0 values 0 runs 1 from 1"
				      : "lines 3 bad 1 values 0 runs 1 from 1");
	}
}

/* Writes lines to text with `members` phases "p0": 1e-9 … each, numbered through. */
static void put_lines(char *text, int lines, int members)
{
	for (int line = 0, name = 0; line < lines; line++) {
		text += sprintf(text, "{\"step\":%d,\"phases\":{", line);
		for (int i = 0; i < members; i++)
			text += sprintf(text, "%s\"p%d\":1e-9", i ? "," : "", name++);
		text += sprintf(text, "}}\n");
	}
}

TEST(test_name_limits)
{
	static const struct {
		int lines, members;
		uint64_t bad_values;
		size_t last_time_ns;
	} cases[] = {
		{ 1, 1024, 0, 1024 },
		{ 2, 1025, 2, 1024 }, /* one more than a record may have, twice */
		/* 66 * 1000 names; 65,536 are kept, one of which is the empty one */
		{ 66, 1000, 465, 535 },
	};
	static char text[2 << 20];

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct step_series steps;
		struct store_log log;
		struct tscope_error err = { 0 };

		put_lines(text, cases[i].lines, cases[i].members);
		tsi_steps_init(&steps);
		assert_int_equal(read_bytes(&steps, &log, text_of(text), 0, &err), TSCOPE_OK);
		assert_int_equal(steps.count, cases[i].lines);
		assert_int_equal(log.bad_value_count, cases[i].bad_values);
		assert_int_equal(steps.records[steps.count - 1].time_ns, cases[i].last_time_ns);
		assert_string_equal(err.message, "");
		tsi_steps_deinit(&steps);
	}
}

/* A name has 256 bytes at most, however they are written. */
TEST(test_long_name)
{
	static const char *const bytes[] = { "n", "\\u0001" };
	char line[2000], name[257];

	for (size_t i = 0; i < TSI_COUNT_OF(bytes); i++) {
		for (int length = 256; length <= 257; length++) {
			int end = snprintf(line, sizeof(line), "{\"step\":1,\"phases\":{\"");
			char expected[400] = "1 time=0\n";

			for (int byte = 0; byte < length; byte++)
				end += snprintf(line + end, sizeof(line) - (size_t)end, "%s",
						bytes[i]);
			snprintf(line + end, sizeof(line) - (size_t)end, "\":1e-9}}");
			memset(name, i == 0 ? 'n' : 1, sizeof(name));
			if (length == 256)
				snprintf(expected, sizeof(expected), "1 time=1 %.256s=1\n", name);
			check_read(line, expected,
				   length == 256 ? "lines 1 bad 0 values 0 runs 1 from 1"
						 : "lines 1 bad 0 values 1 runs 1 from 1");
		}
	}
}

/* ---- failures ---- */

#if HAVE_ZLIB
/* What came before the stream broke stays. */
TEST(test_broken_stream)
{
	struct bytes packed = { 0 };
	struct step_series steps;
	struct store_log log;
	struct tscope_error err = { 0 };
	char *text;

	bytes_add_gzip(&packed, "{\"step\":1}\n{\"step\":2}\n", 22);
	tsi_steps_init(&steps);
	/* Without the checksum at the end. */
	assert_int_equal(
		read_bytes(&steps, &log, (struct str){ packed.data, packed.length - 8 }, 0, &err),
		TSCOPE_E_DAMAGED);
	assert_string_equal(err.message, "gzip member 1: truncated");
	text = step_dump(&steps);
	assert_string_equal(text, "1 time=0\n2 time=0\n");
	free(text);
	tsi_steps_deinit(&steps);
	bytes_reset(&packed);
}
#endif

TEST(test_allocations)
{
	static const char text[] =
		"{\"step\":0,\"phases\":{\"data\":0.5,\"eval\":1e-3},\"scalars\":{\"lr\":1}}\n"
		"{\"step\":1,\"wall_ns\":7,\"budget_ns\":{\"compute\":7}}\n";

	/* records, budgets, two extras, names, the input */
	struct alloc_sweep sweep = { .at_least = 8 };
	while (alloc_sweep_next(&sweep)) {
		struct step_series steps = { 0 };
		struct store_log log;

		alloc_sweep_start(&sweep);
		tsi_steps_init(&steps);
		alloc_sweep_check(&sweep, read_bytes(&steps, &log, text_of(text), 1, &sweep.err));
		tsi_steps_deinit(&steps);
	}
}
