/* SPDX-License-Identifier: MIT */
/* run/step_memory.c: the memory of a trace's steps, and what of it goes to a job's own records. */

#include <inttypes.h>
#include <stdio.h>

#include "base/attributes.h"
#include "check.h"
#include "step_text.h"
#include "trace_builder.h"

struct point {
	int64_t ts_ns, allocated, reserved;
	int device;
};

static void add_point(struct test_trace *t, const struct point *point, const char *name)
{
	char args[256];

	snprintf(args, sizeof(args),
		 "{\"Total Reserved\": %" PRId64 ", \"Total Allocated\": %" PRId64
		 ", \"Device Id\": %d, \"Device Type\": 1}",
		 point->reserved, point->allocated, point->device);
	test_event(t, &(struct raw_event){
			      .phase = 'i',
			      .has_ts = true,
			      .ts_ns = point->ts_ns,
			      .name = tsi_str_of(name),
			      .cat = TSI_STR("cpu_instant_event"),
			      .args = tsi_str_of(args),
		      });
}

/* Steps 1 to 4 of 100 ns each, from 1000 on. base_ns: Unix time of 0, or NULL. */
static struct step_series series_of(const struct point *points, size_t count, const char *base_ns)
{
	struct test_trace *t = test_trace_new();
	struct step_series steps;

	for (int64_t i = 0; i < 4; i++) {
		char name[40];

		snprintf(name, sizeof(name), "ProfilerStep#%" PRId64, i + 1);
		test_annotation(t, name, 1, 1000 + 100 * i, 100);
	}
	for (size_t i = 0; i < count; i++)
		add_point(t, &points[i], "[memory]");
	if (base_ns)
		test_metadata(t, "baseTimeNanoseconds", base_ns);
	struct tscope_trace *trace = test_trace_finish(t);
	struct tscope_timeline *timeline = test_timeline(trace, NULL);
	tsi_steps_init(&steps);
	tsi_steps_add_timeline(&steps, timeline);
	return steps;
}

/* Each step as "alloc reserved peak_alloc peak_reserved @time of the peak"; "-": not known. */
static void check_memory(const struct step_series *steps, const char *expected)
{
	char text[1024] = "";
	size_t length = 0;

	for (size_t i = 0; i < steps->count; i++) {
		const struct step_record *record = &steps->records[i];
		const struct step_budget *budget = &steps->budgets[record->budget];

		for (size_t m = 0; m < STEP_MEMORY_COUNT; m++) {
			char number[32] = "-";

			if (record->memory_bytes[m] != NO_BYTES)
				snprintf(number, sizeof(number), "%" PRId64,
					 record->memory_bytes[m]);
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s ",
						   number);
		}
		if (budget->has_alloc_peak)
			length += (size_t)snprintf(text + length, sizeof(text) - length,
						   "@%" PRId64, budget->alloc_peak_ns);
		length += (size_t)snprintf(text + length, sizeof(text) - length, "\n");
	}
	assert_string_equal(text, expected);
}

TEST(totals_at_the_end_and_peaks_within)
{
	/*
	 * Step 1 knows nothing: the first point is at 1100, where step 2 begins. Step 2 peaks at
	 * 1150, and again at 1180, and ends with what 1199 says. Nothing happens in step 3, so it has what it began
	 * with. Step 4 frees from 60 to 20: its peak is what it began with. 1400 is behind it.
	 */
	static const struct point points[] = {
		{ 1100, 50, 100, 0 },  { 1150, 90, 120, 0 }, { 1150, 80, 110, 0 },
		{ 1180, 90, 110, 0 },  { 1199, 60, 110, 0 }, { 1350, 20, 110, 0 },
		{ 1400, 500, 600, 0 },
	};
	struct step_series steps = series_of(points, TSI_COUNT_OF(points), NULL);

	check_memory(&steps, "- - - - \n"
			     "60 110 90 120 @1150\n"
			     "60 110 60 110 @1200\n"
			     "20 110 60 110 @1300\n");
	assert_int_equal(steps.memory_event_count, 7);
	assert_int_equal(steps.oom_count, 0);
	tsi_steps_deinit(&steps);
}

TEST(what_came_before_the_first_step_counts)
{
	static const struct point points[] = { { 10, 70, 100, 0 }, { 20, 30, 100, 0 } };
	struct step_series steps = series_of(points, TSI_COUNT_OF(points), "5000000000");

	/* Unix time where the trace knows it. */
	check_memory(&steps, "30 100 30 100 @5000001000\n30 100 30 100 @5000001100\n"
			     "30 100 30 100 @5000001200\n30 100 30 100 @5000001300\n");
	tsi_steps_deinit(&steps);
}

TEST(figures_are_of_the_device_that_peaks_highest)
{
	static const struct point points[] = {
		{ 1010, 10, 900, 0 },
		{ 1020, 40, 50, 2 },
		{ 1030, 40, 60, 3 },
		{ 1040, 39, 50, 2 },
	};
	struct step_series steps = series_of(points, 3, NULL);

	/* Devices 2 and 3 are alike: the lower one. */
	check_memory(&steps, "40 50 40 50 @1020\n40 50 40 50 @1100\n"
			     "40 50 40 50 @1200\n40 50 40 50 @1300\n");
	assert_int_equal(steps.memory_event_count, 1);
	tsi_steps_deinit(&steps);
}

TEST(reserved_may_be_unknown)
{
	static const struct point points[] = { { 1010, 10, 5, 0 }, { 1020, 20, -1, 0 } };
	struct step_series steps = series_of(points, TSI_COUNT_OF(points), NULL);

	check_memory(&steps, "20 - 20 5 @1020\n20 - 20 - @1100\n"
			     "20 - 20 - @1200\n20 - 20 - @1300\n");
	tsi_steps_deinit(&steps);
}

TEST(nothing_is_known_without_events)
{
	struct step_series steps = series_of(NULL, 0, NULL);

	check_memory(&steps, "- - - - \n- - - - \n- - - - \n- - - - \n");
	assert_int_equal(steps.memory_event_count, 0);
	tsi_steps_deinit(&steps);
}

TEST(failed_requests_are_counted_on_every_device)
{
	struct test_trace *t = test_trace_new();
	struct step_series steps;

	test_annotation(t, "ProfilerStep#1", 1, 1000, 100);
	add_point(t, &(struct point){ 1010, 90, 100, 0 }, "[memory]");
	add_point(t, &(struct point){ 1020, 90, 100, 0 }, "[OutOfMemory]");
	add_point(t, &(struct point){ 1020, 9, 10, 1 }, "[OutOfMemory]");
	struct tscope_trace *trace = test_trace_finish(t);
	struct tscope_timeline *timeline = test_timeline(trace, NULL);
	tsi_steps_init(&steps);
	tsi_steps_add_timeline(&steps, timeline);
	assert_int_equal(steps.memory_event_count, 2);
	assert_int_equal(steps.oom_count, 2);
	tsi_steps_deinit(&steps);
}

TEST(records_keep_their_own)
{
	static const struct point points[] = { { 1010, 10, 20, 0 }, { 1150, 90, 95, 0 } };
	struct step_series from = series_of(points, TSI_COUNT_OF(points), NULL);
	struct step_series records = test_steps("1 data=1\n"
						"2 data=1 alloc=7 peak_alloc=8\n"
						"3 data=1 alloc=7\n");

	/* Step 4 has no record: its budget comes alone. */
	tsi_steps_join(&records, &from);
	check_memory(&records, "10 20 10 20 @1010\n"
			       "7 95 8 95 \n"
			       "7 95 90 95 @1200\n"
			       "- - - - \n");
	assert_int_equal(records.memory_event_count, 2);
	tsi_steps_deinit(&records);
	tsi_steps_deinit(&from);
}

TEST(windows_add_up)
{
	static const struct point points[] = { { 1010, 10, 20, 0 } };
	struct step_series first = series_of(points, 1, NULL), second = series_of(points, 1, NULL);

	first.oom_count = 3;
	tsi_steps_append(&first, &second);
	assert_int_equal(first.memory_event_count, 2);
	assert_int_equal(first.oom_count, 3);
	assert_int_equal(first.records[4].memory_bytes[STEP_MEMORY_ALLOC], 10);
	tsi_steps_deinit(&first);
	tsi_steps_deinit(&second);
}
