/* SPDX-License-Identifier: MIT */
/* Keeps the log of a test's trace and writes it as text. */
#include "log_check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "comm/collective_kind.h"
#include "fail_alloc.h"
#include "test_kept.h"

enum { MAX_TEXT = 8192 };

struct kept_log {
	struct test_kept kept;
	struct rank_log log;
};

static void release(struct test_kept *kept)
{
	struct kept_log *k = (struct kept_log *)kept;

	tsi_rank_log_deinit(&k->log);
	free(k);
}

const struct rank_log *keep_log(struct test_trace *t)
{
	struct tscope_trace *trace = test_trace_finish(t);
	struct kept_log *k = calloc(1, sizeof(*k));

	assert_non_null(k);
	assert_int_equal(tsi_rank_log_init(&k->log, NULL), TSCOPE_OK);
	test_keep(&k->kept, release);
	assert_int_equal(tsi_rank_log_fill(&k->log, trace, test_timeline(trace, NULL), NULL),
			 TSCOPE_OK);
	return &k->log;
}

void test_three_steps(struct test_trace *t)
{
	test_annotation(t, "ProfilerStep#4", 1, 0, 1000);
	test_annotation(t, "ProfilerStep#5", 1, 1000, 1000);
	test_annotation(t, "ProfilerStep#6", 1, 2000, 1000);
}

/* ---- logs as text ---- */

struct text {
	char text[MAX_TEXT];
	size_t used;
};

TSI_PRINTF(2, 3)
static void put(struct text *to, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int length = vsnprintf(to->text + to->used, MAX_TEXT - to->used, format, args);
	va_end(args);
	assert_true(length >= 0 && to->used + (size_t)length < MAX_TEXT);
	to->used += (size_t)length;
}

static void put_number(struct text *to, const char *name, int64_t number)
{
	if (number == NO_NUMBER)
		put(to, " %s -", name);
	else
		put(to, " %s %" PRId64, name, number);
}

void check_op_times(const struct rank_log *log, const char *expected)
{
	struct text found = { .used = 0 };

	for (size_t i = 0; i < log->op_count; i++) {
		const struct rank_op *op = &log->ops[i];

		put(&found, "%s %" PRId64 " %" PRId64,
		    tsi_collective_kind_name((enum collective_kind)op->kind), op->start_ns,
		    tsi_op_end(op));
		put_number(&found, "launch", op->launch_ns);
		put_number(&found, "ready", op->ready_ns);
		put_number(&found, "step", op->step);
		put_number(&found, "seq", op->sequence);
		put(&found, "%s\n", op->is_cut ? " cut" : "");
	}
	assert_string_equal(found.text, expected);
}

void check_op_sizes(const struct rank_log *log, const char *expected)
{
	struct text found = { .used = 0 };

	for (size_t i = 0; i < log->op_count; i++) {
		const struct rank_op *op = &log->ops[i];

		put(&found, "%s", tsi_collective_kind_name((enum collective_kind)op->kind));
		put_number(&found, "bytes", op->bytes);
		put_number(&found, "bus",
			   isnan(op->bus_bytes) ? NO_NUMBER : (int64_t)op->bus_bytes);
		put_number(&found, "received", op->received_bytes);
		put(&found, " '%s' peer %" PRId64 "%s\n",
		    tsi_intern_text(&log->names, op->dtype).data, op->peer,
		    op->is_send ? " send" : "");
	}
	assert_string_equal(found.text, expected);
}

void check_op_groups(const struct rank_log *log, const char *expected)
{
	struct text found = { .used = 0 };

	for (size_t i = 0; i < log->group_count; i++) {
		const struct rank_group *group = &log->groups[i];

		put(&found, "'%s' '%s'", tsi_intern_text(&log->names, group->name).data,
		    tsi_intern_text(&log->names, group->description).data);
		put_number(&found, "size", group->size);
		put(&found, ":");
		for (uint32_t k = 0; k < group->member_count; k++)
			put(&found, " %" PRId64, tsi_group_member(log, group, k));
		put(&found, "\n");
	}
	put(&found, "ops");
	for (size_t i = 0; i < log->op_count; i++)
		put(&found, " %" PRIu32, log->ops[i].group);
	assert_string_equal(found.text, expected);
}

void check_kernels(const struct rank_log *log, const char *expected)
{
	struct text found = { .used = 0 };

	for (size_t i = 0; i < log->kernel_count; i++) {
		const struct rank_kernel *kernel = &log->kernels[i];

		put(&found, "%s%s %" PRId64 " %" PRId64 " %" PRId64 "\n",
		    tsi_intern_text(&log->names, kernel->name).data, kernel->is_comm ? " comm" : "",
		    kernel->count, kernel->total_ns, kernel->blocks);
	}
	assert_string_equal(found.text, expected);
}

void check_points_hold_the_steps(const struct rank_log *log)
{
	int64_t wall_ns = 0, sum_ns = 0;

	for (size_t i = 0; i < log->step_count; i++)
		wall_ns += log->steps[i].wall_ns;
	for (size_t i = 0; i < log->point_count; i++) {
		sum_ns += log->points[i].stall_ns;
		for (int line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++)
			sum_ns += log->points[i].line_ns[line];
		assert_true(i == 0 || log->points[i - 1].time_ns <= log->points[i].time_ns);
	}
	assert_int_equal(sum_ns, wall_ns);
}

/* ---- failures ---- */

static enum tscope_status try_fill(const struct tscope_timeline *timeline, struct tscope_error *err)
{
	struct rank_log log;
	enum tscope_status status = tsi_rank_log_init(&log, err);

	if (status == TSCOPE_OK)
		status = tsi_rank_log_fill(&log, timeline->trace, timeline, err);
	tsi_rank_log_deinit(&log);
	return status;
}

void check_fill_allocations(struct test_trace *t)
{
	const struct tscope_timeline *timeline = test_timeline(test_trace_finish(t), NULL);
	struct alloc_sweep sweep = { .at_least = 15 };

	while (alloc_sweep_next(&sweep))
		alloc_sweep_try(&sweep, try_fill(timeline, &sweep.err));
}
