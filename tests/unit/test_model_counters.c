/* SPDX-License-Identifier: MIT */
/* Counters: which series there are, in which order their values stand, and where there are too many. */
#include "composer_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "model/trace/trace.h"

#define WORK "X work 0 100\n"

/* "cpu busy 0: 5@10 7@20\n": counter, series, process, with the id behind the counter, and values. */
static void check_counters(const char *lines, const char *expected)
{
	struct tscope_trace *trace = test_trace_finish(composer_text(lines));
	const struct counters *counters = &trace->counters;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	for (size_t i = 0; i < counters->series_count; i++) {
		const struct counter_series *series = &counters->series[i];

		fprintf(out, "%s%s %s %s:", tsi_intern_text(&trace->names, series->counter).data,
			tsi_intern_text(&trace->names, series->id).data,
			tsi_intern_text(&trace->names, series->name).data,
			tsi_intern_text(&trace->names, series->process).data);
		for (uint32_t k = series->first; k < series->first + series->count; k++)
			fprintf(out, " %g@%" PRId64, counters->values[k].value,
				counters->values[k].time_ns);
		fputc('\n', out);
	}
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

TEST(series_by_counter_process_and_name)
{
	check_counters(WORK "counter cpu 10 {\"busy\": 5, \"idle\": 95}\n"
			    "counter cpu 20 {\"idle\": 93, \"busy\": 7}\n"
			    "counter memory 15 {\"busy\": 1.5}\n",
		       "cpu busy 0: 5@10 7@20\n"
		       "cpu idle 0: 95@10 93@20\n"
		       "memory busy 0: 1.5@15\n");
}

/* Files are not sorted by time; of one moment the order of the file holds. */
TEST(values_in_the_order_of_time)
{
	check_counters(WORK "counter a 30 {\"x\": 3}\n"
			    "counter b 5 {\"x\": 9}\n"
			    "counter a 10 {\"x\": 1}\n"
			    "counter a 30 {\"x\": 2}\n"
			    "counter a -10 {\"x\": 4}\n",
		       "a x 0: 4@-10 1@10 3@30 2@30\n"
		       "b x 0: 9@5\n");
}

static void add_counter(struct test_trace *t, const char *pid, const char *id, const char *args)
{
	test_event(t, &(struct raw_event){
			      .phase = 'C',
			      .has_ts = true,
			      .name = TSI_STR("c"),
			      .pid = { pid, strlen(pid) },
			      .id = { id, strlen(id) },
			      .args = { args, strlen(args) },
		      });
}

TEST(processes_and_ids_are_apart)
{
	struct test_trace *t = composer_text(WORK);

	add_counter(t, "1", "", "{\"x\": 1}");
	add_counter(t, "2", "", "{\"x\": 2}");
	add_counter(t, "1", "7", "{\"x\": 3}");
	add_counter(t, "1", "", "{\"x\": 4}");
	add_counter(t, "", "", "{\"x\": 5}"); /* no pid is process 0 */
	struct tscope_trace *trace = test_trace_finish(t);
	assert_int_equal(trace->counters.series_count, 4);
	assert_int_equal(trace->counters.series[0].count, 2);
	assert_string_equal(tsi_intern_text(&trace->names, trace->counters.series[2].id).data, "7");
	assert_string_equal(tsi_intern_text(&trace->names, trace->counters.series[3].process).data,
			    "0");
}

/* Numbers in quotes are numbers; the rest is counted. */
TEST(what_is_no_number)
{
	struct test_trace *t = composer_text(
		WORK
		"counter a 1 {\"x\": \"12\", \"y\": null, \"z\": NaN, \"v\": [1], \"w\": 1e999}\n"
		"counter a 2 {}\n"
		"counter a 3 7\n");
	struct tscope_trace *trace = test_trace_finish(t);

	assert_int_equal(trace->counters.value_count, 1);
	assert_true(trace->counters.values[0].value == 12);
	assert_int_equal(trace->counters.bad_count, 4);
}

TEST(escaped_names)
{
	struct test_trace *t = composer_text(WORK);

	test_event(t, &(struct raw_event){
			      .phase = 'C',
			      .has_ts = true,
			      .name_escaped = true,
			      .name = TSI_STR("a\\u0041"),
			      .pid = TSI_STR("1"),
			      .args = TSI_STR("{\"k\\/\": 1}"),
		      });
	struct tscope_trace *trace = test_trace_finish(t);
	const struct counter_series *series = &trace->counters.series[0];
	assert_string_equal(tsi_intern_text(&trace->names, series->counter).data, "aA");
	assert_string_equal(tsi_intern_text(&trace->names, series->name).data, "k/");
}

/* Pauses of the garbage collector are spans; an event without a time is lost. */
TEST(what_is_no_counter)
{
	struct test_trace *t = composer_text(WORK);

	test_event(t, &(struct raw_event){ .phase = 'C',
					   .name = TSI_STR("garbage collection"),
					   .has_ts = true,
					   .args = TSI_STR("{\"collecting\": 1}") });
	test_event(t, &(struct raw_event){
			      .phase = 'C', .name = TSI_STR("a"), .args = TSI_STR("{\"x\": 1}") });
	struct tscope_trace *trace = test_trace_finish(t);
	assert_int_equal(trace->counters.series_count, 0);
	assert_int_equal(tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_missing_timestamp), 1);
	(void)test_row(trace, "garbage collection");
}

/* A million names cost no more than the limit; what is known goes on. */
TEST(too_many_series)
{
	struct test_trace *t = composer_text(WORK "counter first 1 {\"x\": 1}\n");
	char line[64];

	for (unsigned i = 0; i < COUNTERS_MAX_SERIES + 10; i++) {
		snprintf(line, sizeof(line), "{\"s%u\": 1}", i);
		add_counter(t, "1", "", line);
	}
	test_event(t, &(struct raw_event){ .phase = 'C',
					   .has_ts = true,
					   .ts_ns = 9,
					   .name = TSI_STR("first"),
					   .pid = TSI_STR("0"),
					   .tid = TSI_STR("1"),
					   .args = TSI_STR("{\"x\": 2}") });
	struct tscope_trace *trace = test_trace_finish(t);
	assert_int_equal(trace->counters.series_count, COUNTERS_MAX_SERIES);
	assert_int_equal(trace->counters.dropped_count, 11);
	assert_int_equal(trace->counters.series[0].count, 2);
}

TEST(without_counters)
{
	check_counters(WORK, "");
}

TEST(when_memory_ends)
{
	static const char lines[] = WORK "counter a 2 {\"x\": 1, \"y\": 2}\n"
					 "counter b 1 {\"x\": 1}\n"
					 "counter a 1 {\"x\": 3}\n";

	struct alloc_sweep sweep = { .at_least = 21 };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_trace *trace = NULL;

		alloc_sweep_try(&sweep,
				test_trace_try_finish(composer_text(lines), &trace, &sweep.err));
		tscope_trace_free(trace);
	}
}
