/* SPDX-License-Identifier: MIT */
/* Logs of ranks: the points of a timeline, worked out by hand, and windows joined. */
#include "comm/member_lists.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "log_check.h"
#include "world_text.h"

enum { MAX_TEXT = 8192 };

/* ---- points ---- */

static const char *const point_names[] = {
	[RANK_POINT_STEP] = "step",
	[RANK_POINT_READY] = "ready",
	[RANK_POINT_RESUME] = "resume",
	[RANK_POINT_END] = "end",
};

/* Points as "500 resume 0 stall=100 compute=50\n": time, kind, index, what went before. */
static void write_points(char *text, const struct rank_log *log)
{
	size_t used = 0;

	for (size_t i = 0; i < log->point_count; i++) {
		const struct rank_point *point = &log->points[i];

		used += (size_t)snprintf(text + used, MAX_TEXT - used, "%" PRId64 " %s %" PRIu32,
					 point->time_ns, point_names[point->kind], point->index);
		if (point->stall_ns != 0)
			used += (size_t)snprintf(text + used, MAX_TEXT - used, " stall=%" PRId64,
						 point->stall_ns);
		for (int line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++)
			if (point->line_ns[line] != 0)
				used += (size_t)snprintf(
					text + used, MAX_TEXT - used, " %s=%" PRId64,
					tscope_budget_line_name((enum tscope_budget_line)line),
					point->line_ns[line]);
		used += (size_t)snprintf(text + used, MAX_TEXT - used, "\n");
		assert_true(used < MAX_TEXT);
	}
}

struct point_case {
	const char *what, *log, *points;
};

static const struct point_case point_cases[] = {
	{ "one op, exposed at its end",
	  "rank 0\n"
	  "step 7 0 1000\n"
	  "compute 0 400\n"
	  "exposed_comm 400 500\n"
	  "compute 500 1000\n"
	  "all_reduce 300 500 ready=250\n",
	  "0 step 0\n"
	  "250 ready 0 compute=250\n"
	  "500 resume 0 stall=100 compute=150\n"
	  "1000 end 0 compute=500\n" },
	{ "an op that kernels hide is waited for by nobody",
	  "rank 0\n"
	  "step 0 0 1000\n"
	  "compute 0 1000\n"
	  "all_reduce 300 500\n",
	  "0 step 0\n"
	  "300 ready 0 compute=300\n"
	  "1000 end 0 compute=700\n" },
	{ "steps follow one another; an op is ready in the step before",
	  "rank 0\n"
	  "step 0 0 1000\n"
	  "step 1 1000 2000\n"
	  "compute 0 900\n"
	  "sync_stall 900 1000\n"
	  "exposed_comm 1000 1300\n"
	  "compute 1300 2000\n"
	  "all_reduce 1000 1300 ready=800\n",
	  "0 step 0\n"
	  "800 ready 0 compute=800\n"
	  "1000 step 1 compute=100 sync_stall=100\n"
	  "1300 resume 0 stall=300\n"
	  "2000 end 1 compute=700\n" },
	{ "a step begins and an op is ready while the rank stands still",
	  "rank 0\n"
	  "step 0 0 1000\n"
	  "step 1 1000 2000\n"
	  "compute 0 900\n"
	  "exposed_comm 900 1300\n"
	  "compute 1300 2000\n"
	  "all_reduce 800 1100\n"
	  "all_reduce 1100 1300 ready=1050\n",
	  "0 step 0\n"
	  "800 ready 0 compute=800\n"
	  "1000 step 1 compute=100\n"
	  "1050 ready 1\n"
	  "1300 resume 1 stall=400\n"
	  "2000 end 1 compute=700\n" },
	{ "a kernel begins while the op runs: something else was waited for",
	  "rank 0\n"
	  "step 0 0 100000\n"
	  "compute 0 30000\n"
	  "exposed_comm 30000 50000\n"
	  "compute 50000 100000\n"
	  "all_reduce 20000 90000\n",
	  "0 step 0\n"
	  "20000 ready 0 compute=20000\n"
	  "100000 end 0 compute=60000 launch_stall=20000\n" },
	{ "of two streams' ops, the one that ended shortly before a kernel began held it up",
	  "rank 0\n"
	  "step 0 0 100000\n"
	  "compute 0 30000\n"
	  "exposed_comm 30000 50000\n"
	  "compute 50000 100000\n"
	  "all_reduce 20000 90000 stream=1\n"
	  "all_gather 20000 45000 stream=2\n",
	  "0 step 0\n"
	  "20000 ready 0 compute=20000\n"
	  "20000 ready 1\n"
	  "45000 resume 1 stall=15000 compute=10000\n"
	  "100000 end 0 compute=50000 launch_stall=5000\n" },
	{ "but not the one that ended long before",
	  "rank 0\n"
	  "step 0 0 100000\n"
	  "compute 0 30000\n"
	  "exposed_comm 30000 50000\n"
	  "compute 50000 100000\n"
	  "all_reduce 20000 90000 stream=1\n"
	  "all_gather 20000 39999 stream=2\n",
	  "0 step 0\n"
	  "20000 ready 0 compute=20000\n"
	  "20000 ready 1\n"
	  "100000 end 0 compute=60000 launch_stall=20000\n" },
	{ "a host may be late to go on, while other ops run",
	  "rank 0 host\n"
	  "step 0 0 9000000\n"
	  "compute 0 30000\n"
	  "exposed_comm 30000 5000000\n"
	  "compute 5000000 9000000\n"
	  "all_reduce 20000 8000000 stream=1\n"
	  "all_gather 20000 3500000 stream=2\n",
	  "0 step 0\n"
	  "20000 ready 0 compute=20000\n"
	  "20000 ready 1\n"
	  "3500000 resume 1 stall=3470000 compute=10000\n"
	  "9000000 end 0 compute=4000000 launch_stall=1500000\n" },
	{ "times are rounded: an op may seem to end 1 us late",
	  "rank 0\n"
	  "step 0 0 100000\n"
	  "compute 0 30000\n"
	  "exposed_comm 30000 50000\n"
	  "compute 50000 100000\n"
	  "all_reduce 20000 51000\n",
	  "0 step 0\n"
	  "20000 ready 0 compute=20000\n"
	  "50000 resume 0 stall=20000 compute=10000\n"
	  "100000 end 0 compute=50000\n" },
	{ "the host notices the end of an op late",
	  "rank 0 host\n"
	  "step 0 0 100000\n"
	  "compute 0 30000\n"
	  "exposed_comm 30000 80000\n"
	  "compute 80000 100000\n"
	  "all_reduce 20000 55000\n",
	  "0 step 0\n"
	  "20000 ready 0 compute=20000\n"
	  "55000 resume 0 stall=25000 compute=10000\n"
	  "100000 end 0 compute=20000 launch_stall=25000\n" },
	{ "exposed communication without an op: the host calls one,",
	  "rank 0 host\n"
	  "step 0 0 1000\n"
	  "exposed_comm 300 800\n"
	  "all_reduce 100 200\n",
	  "0 step 0\n"
	  "100 ready 0 device_gap=100\n"
	  "1000 end 0 launch_stall=500 device_gap=400\n" },
	{ "or the device runs what nothing is known of",
	  "rank 0\n"
	  "step 0 0 1000\n"
	  "exposed_comm 300 800\n"
	  "all_reduce 100 200\n",
	  "0 step 0\n"
	  "100 ready 0 device_gap=100\n"
	  "1000 end 0 exposed_comm=500 device_gap=400\n" },
	{ "the thread that did the op writes its end after the host went on",
	  "rank 0 host\n"
	  "step 0 0 500000000\n"
	  "compute 0 30000000\n"
	  "exposed_comm 30000000 430000000\n"
	  "compute 430000000 500000000\n"
	  "all_reduce 20000000 430770000\n",
	  "0 step 0\n"
	  "20000000 ready 0 compute=20000000\n"
	  "430000000 resume 0 stall=400000000 compute=10000000\n"
	  "500000000 end 0 compute=70000000\n" },
	{ "it may, by 62 us, after a short wait, too",
	  "rank 0 host\n"
	  "step 0 0 1000000\n"
	  "compute 0 300000\n"
	  "exposed_comm 300000 550000\n"
	  "compute 550000 1000000\n"
	  "all_reduce 300000 612000\n",
	  "0 step 0\n"
	  "300000 ready 0 compute=300000\n"
	  "550000 resume 0 stall=250000\n"
	  "1000000 end 0 compute=450000\n" },
	{ "of ops that go on the first to end was waited for",
	  "rank 0 host\n"
	  "step 0 0 500000\n"
	  "compute 0 30000\n"
	  "exposed_comm 30000 130000\n"
	  "compute 130000 500000\n"
	  "all_reduce 20000 131500 stream=1\n"
	  "all_reduce 25000 400000 stream=2\n",
	  "0 step 0\n"
	  "20000 ready 0 compute=20000\n"
	  "25000 ready 1 compute=5000\n"
	  "130000 resume 0 stall=100000 compute=5000\n"
	  "500000 end 0 compute=370000\n" },
	{ "but not one that began shortly before, nor one that goes on for long",
	  "rank 0 host\n"
	  "step 0 0 500000\n"
	  "compute 0 30000\n"
	  "exposed_comm 30000 130000\n"
	  "compute 130000 500000\n"
	  "all_reduce 120000 131500 stream=1\n"
	  "all_reduce 25000 400000 stream=2\n",
	  "0 step 0\n"
	  "25000 ready 0 compute=25000\n"
	  "120000 ready 1 compute=5000 launch_stall=90000\n"
	  "500000 end 0 compute=370000 launch_stall=10000\n" },
	{ "an op that goes on when the window ends",
	  "rank 0\n"
	  "step 0 0 100000\n"
	  "compute 0 30000\n"
	  "exposed_comm 30000 100000\n"
	  "all_reduce 20000 150000\n",
	  "0 step 0\n"
	  "20000 ready 0 compute=20000\n"
	  "100000 end 0 compute=10000 exposed_comm=70000\n" },
	{ "an op that began before the window",
	  "rank 0\n"
	  "step 0 1000 2000\n"
	  "exposed_comm 1000 1200\n"
	  "compute 1200 2000\n"
	  "all_reduce 500 1200\n",
	  "1000 step 0\n"
	  "1200 resume 0 stall=200\n"
	  "2000 end 0 compute=800\n" },
	{ "time between steps does not count, nor do the ops in it",
	  "rank 0\n"
	  "step 0 0 1000\n"
	  "step 5 5000 6000\n"
	  "compute 0 1000\n"
	  "compute 5000 6000\n"
	  "all_reduce 1000 2000\n"
	  "all_reduce 5000 5500\n",
	  "0 step 0\n"
	  "1000 end 0 compute=1000\n"
	  "5000 step 1\n"
	  "5000 ready 1\n"
	  "6000 end 1 compute=1000\n" },
	{ "an op that takes no time ends nothing",
	  "rank 0\n"
	  "step 0 0 100000\n"
	  "exposed_comm 30000 50000\n"
	  "all_reduce 30000 90000\n"
	  "barrier 49995 49995\n",
	  "0 step 0\n"
	  "30000 ready 0 device_gap=30000\n"
	  "49995 ready 1 launch_stall=19995\n"
	  "100000 end 0 launch_stall=5 device_gap=50000\n" },
	{ "where one op ends, the next is ready",
	  "rank 0\n"
	  "step 0 0 1000\n"
	  "exposed_comm 300 700\n"
	  "compute 700 1000\n"
	  "all_reduce 300 500\n"
	  "all_reduce 500 700\n",
	  "0 step 0\n"
	  "300 ready 0 device_gap=300\n"
	  "500 ready 1\n"
	  "700 resume 1 stall=400\n"
	  "1000 end 0 compute=300\n" },
	{ "a step begins where an op ends that was waited for",
	  "rank 0\n"
	  "step 0 0 500\n"
	  "step 1 500 1000\n"
	  "exposed_comm 300 500\n"
	  "compute 500 1000\n"
	  "all_reduce 300 500\n",
	  "0 step 0\n"
	  "300 ready 0 device_gap=300\n"
	  "500 resume 0 stall=200\n"
	  "500 step 1\n"
	  "1000 end 1 compute=500\n" },
	{ "no ops",
	  "rank 0\n"
	  "step 0 0 1000\n"
	  "compute 0 1000\n",
	  "0 step 0\n"
	  "1000 end 0 compute=1000\n" },
	{ "no steps", "rank 0\nall_reduce 0 100\n", "" },
};

TEST(points)
{
	for (size_t i = 0; i < TSI_COUNT_OF(point_cases); i++) {
		struct test_world *w = test_world_of_logs(point_cases[i].log);
		char text[MAX_TEXT] = "";

		write_points(text, &w->logs[0]);
		if (strcmp(text, point_cases[i].points) != 0)
			fail_msg("%s:\n%sinstead of\n%s", point_cases[i].what, text,
				 point_cases[i].points);
		check_points_hold_the_steps(&w->logs[0]);
	}
}

/* ---- windows ---- */

/* What the figures of an op are does not matter here: only what refers to something else. */
static void write_ops(char *text, const struct rank_log *log)
{
	size_t used = 0;

	for (size_t i = 0; i < log->op_count; i++) {
		const struct rank_op *op = &log->ops[i];
		const struct rank_group *group = &log->groups[op->group];

		used += (size_t)snprintf(text + used, MAX_TEXT - used,
					 "%" PRId64 " stream %" PRIu32 " %s of %s:", op->start_ns,
					 op->stream, tsi_intern_text(&log->names, op->dtype).data,
					 tsi_intern_text(&log->names, group->description).data);
		for (uint32_t k = 0; k < group->member_count; k++)
			used += (size_t)snprintf(text + used, MAX_TEXT - used, " %" PRId64,
						 tsi_group_member(log, group, k));
		used += (size_t)snprintf(text + used, MAX_TEXT - used, "\n");
		assert_true(used < MAX_TEXT);
	}
}

static void write_kernels(char *text, const struct rank_log *log)
{
	size_t used = 0;

	for (size_t i = 0; i < log->kernel_count; i++) {
		const struct rank_kernel *kernel = &log->kernels[i];

		if (i > 0)
			assert_true(log->kernels[i - 1].name < kernel->name);
		used += (size_t)snprintf(text + used, MAX_TEXT - used,
					 "%s%s %" PRId64 " %" PRId64 " %" PRId64 "\n",
					 tsi_intern_text(&log->names, kernel->name).data,
					 kernel->is_comm ? " comm" : "", kernel->count,
					 kernel->total_ns, kernel->blocks);
	}
}

/* Names, groups and kernels come in another order in the second window. */
static const char windows[] = "rank 3\n"
			      "step 0 0 1000\n"
			      "compute 0 400\n"
			      "exposed_comm 400 500\n"
			      "compute 500 1000\n"
			      "all_reduce 300 500 group=dp ranks=0,3 stream=7 dtype=Float\n"
			      "all_gather 600 700 group=tp ranks=2,3 stream=9 dtype=Half\n"
			      "kernel gemm 3 900 blocks=96\n"
			      "kernel nccl 1 50 comm\n"
			      "rank 3 node=a device=H100 ordinal=2 visible=8\n"
			      "step 8 5000 6000\n"
			      "compute 5000 5400\n"
			      "exposed_comm 5400 5500\n"
			      "compute 5500 6000\n"
			      "barrier 5100 5200 group=pp ranks=1,3 stream=2 dtype=Half\n"
			      "all_reduce 5300 5500 group=dp ranks=0,3 stream=0 dtype=Float\n"
			      "kernel add 5 60 blocks=2\n"
			      "kernel gemm 1 100 blocks=4\n";

/* The second window alone says where it ran. */
static void check_host(const struct rank_log *log)
{
	assert_int_equal(log->rank, 3);
	assert_string_equal(tsi_intern_text(&log->names, log->host_name).data, "a");
	assert_string_equal(tsi_intern_text(&log->names, log->device_name).data, "H100");
	assert_int_equal(log->device_ordinal, 2);
	assert_int_equal(log->visible_device_count, 8);
}

TEST(windows_are_joined)
{
	struct test_world *w = test_world_of_logs(windows);
	struct rank_log log;
	char text[MAX_TEXT];

	assert_int_equal(tsi_rank_log_init(&log, NULL), TSCOPE_OK);
	for (size_t i = 0; i < w->rank_count; i++)
		assert_int_equal(tsi_rank_log_append(&log, &w->logs[i], NULL), TSCOPE_OK);

	/* streams of the second window begin behind 9 */
	write_ops(text, &log);
	assert_string_equal(text, "300 stream 7 Float of dp: 0 3\n"
				  "600 stream 9 Half of tp: 2 3\n"
				  "5100 stream 12 Half of pp: 1 3\n"
				  "5300 stream 10 Float of dp: 0 3\n");
	assert_int_equal(log.group_count, 3);
	assert_int_equal(log.member_count, 6);
	write_points(text, &log);
	assert_string_equal(text, "0 step 0\n"
				  "300 ready 0 compute=300\n"
				  "500 resume 0 stall=100 compute=100\n"
				  "600 ready 1 compute=100\n"
				  "1000 end 0 compute=400\n"
				  "5000 step 1\n"
				  "5100 ready 2 compute=100\n"
				  "5300 ready 3 compute=200\n"
				  "5500 resume 3 stall=100 compute=100\n"
				  "6000 end 1 compute=500\n");
	check_points_hold_the_steps(&log);
	write_kernels(text, &log);
	assert_string_equal(text, "gemm 4 1000 100\nnccl comm 1 50 0\nadd 5 60 2\n");
	assert_int_equal(log.step_count, 2);
	assert_int_equal(log.steps[1].number, 8);
	assert_int_equal(log.still.count, 2);
	assert_int_equal(log.still.items[1].start_ns, 5400);
	check_host(&log);
	tsi_rank_log_deinit(&log);
}

TEST(a_window_of_which_nothing_was_kept_changes_nothing)
{
	const struct rank_log nothing = { 0 };
	struct test_world *w = test_world_of_logs(windows);

	assert_int_equal(tsi_rank_log_append(&w->logs[0], &nothing, NULL), TSCOPE_OK);
	assert_int_equal(w->logs[0].op_count, 2);
	assert_true(w->logs[0].has_start);
}

/* Adds a group of these members, listed or, with a stride, of the first and how many. */
static uint32_t add_members(struct rank_log *log, struct intern *keys, const int64_t *members,
			    uint32_t count, int64_t stride)
{
	struct rank_group group = { .size = count,
				    .first_member = (uint32_t)log->member_count,
				    .member_count = count,
				    .stride = stride };

	for (uint32_t i = 0; i < tsi_listed_members(&group); i++)
		tsi_rank_log_add_member(log, members[i]);
	return tsi_rank_log_add_group(log, keys, &group);
}

/* However members at equal distances are said, they are one group, of which one is listed. */
TEST(equal_distances_are_a_stride)
{
	static const int64_t even[] = { 2, 4, 6, 8 }, odd[] = { 1, 2, 4 }, pair[] = { 0, 5 };
	struct intern keys = { 0 };
	struct rank_log log;

	assert_int_equal(tsi_rank_log_init(&log, NULL), TSCOPE_OK);
	assert_int_equal(add_members(&log, &keys, even, 4, 0), 0);
	assert_int_equal(log.groups[0].stride, 2);
	assert_int_equal(log.member_count, 1);
	assert_int_equal(add_members(&log, &keys, even, 4, 2), 0);
	assert_int_equal(log.member_count, 1);
	assert_int_equal(tsi_group_member(&log, &log.groups[0], 3), 8);
	assert_int_equal(add_members(&log, &keys, odd, 3, 0), 1);
	assert_int_equal(log.groups[1].stride, 0);
	assert_int_equal(log.member_count, 4);
	/* Two are always listed, and so is one. */
	assert_int_equal(add_members(&log, &keys, pair, 2, 0), 2);
	assert_int_equal(add_members(&log, &keys, pair, 2, 5), 2);
	assert_int_equal(add_members(&log, &keys, even, 1, 7), 3);
	assert_int_equal(log.groups[3].stride, 0);
	assert_int_equal(log.member_count, 7);
	assert_int_equal(log.group_count, 4);
	tsi_intern_deinit(&keys);
	tsi_rank_log_deinit(&log);
}

/* ---- lists that ranks share ---- */

static const int64_t odd_list[] = { 1, 2, 4, 9 }, even_list[] = { 0, 2, 4 };

/* A rank with a listed group, and one with a stride. */
static void make_listed(struct rank_log *log)
{
	struct intern keys = { 0 };

	assert_int_equal(tsi_rank_log_init(log, NULL), TSCOPE_OK);
	assert_int_equal(add_members(log, &keys, odd_list, 4, 0), 0);
	assert_int_equal(add_members(log, &keys, even_list, 3, 0), 1);
	tsi_intern_deinit(&keys);
}

static void check_listed(const struct rank_log *log)
{
	assert_int_equal(log->group_count, 2);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(tsi_group_member(log, &log->groups[0], i), odd_list[i]);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(tsi_group_member(log, &log->groups[1], i), even_list[i]);
}

/* However many ranks list a group, there is one list, and no rank has room for one. */
TEST(equal_lists_are_one)
{
	enum { RANKS = 3 };
	struct rank_log logs[RANKS], joined;
	struct member_lists *lists;

	assert_int_equal(tsi_member_lists_new(&lists, NULL), TSCOPE_OK);
	for (size_t i = 0; i < RANKS; i++) {
		make_listed(&logs[i]);
		tsi_rank_log_share_lists(&logs[i], lists);
		check_listed(&logs[i]);
		assert_ptr_equal(logs[i].groups[0].shared, logs[0].groups[0].shared);
		assert_null(logs[i].members);
	}
	/* Windows of a rank have the same groups, shared or not. */
	make_listed(&joined);
	assert_int_equal(tsi_rank_log_append(&joined, &logs[0], NULL), TSCOPE_OK);
	check_listed(&joined);
	assert_int_equal(tsi_rank_log_append(&logs[0], &joined, NULL), TSCOPE_OK);
	check_listed(&logs[0]);
	for (size_t i = 0; i < RANKS; i++) {
		tsi_rank_log_forget_lists(&logs[i]);
		assert_int_equal(logs[i].groups[0].member_count, 0);
	}
	tsi_member_lists_free(lists);
	for (size_t i = 0; i < RANKS; i++)
		tsi_rank_log_deinit(&logs[i]);
	tsi_rank_log_deinit(&joined);
}

static enum tscope_status share(struct rank_log *log, struct member_lists **lists,
				struct tscope_error *err)
{
	if (tsi_member_lists_new(lists, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	tsi_rank_log_share_lists(log, *lists);
	return tsi_arena_status(&log->arena, err);
}

TEST(memory_may_end_as_lists_are_shared)
{
	struct alloc_sweep sweep = { .at_least = 3 };

	while (alloc_sweep_next(&sweep)) {
		struct member_lists *lists = NULL;
		struct rank_log log;

		make_listed(&log);
		alloc_sweep_try(&sweep, share(&log, &lists, &sweep.err));
		tsi_rank_log_deinit(&log);
		tsi_member_lists_free(lists);
	}
}

static enum tscope_status join_all(const struct test_world *w, struct tscope_error *err)
{
	struct rank_log log;
	enum tscope_status status = tsi_rank_log_init(&log, err);

	for (size_t i = 0; status == TSCOPE_OK && i < w->rank_count; i++)
		status = tsi_rank_log_append(&log, &w->logs[i], err);
	tsi_rank_log_deinit(&log);
	return status;
}

static enum tscope_status find_points_again(struct rank_log *log, struct tscope_error *err)
{
	struct line_piece piece = { 0, 400, TSCOPE_BUDGET_COMPUTE, 0 };
	const struct line_pieces pieces = {
		.items = &piece, .count = 1, .pass_ends = { 1 }, .pass_count = 1
	};

	log->points = NULL;
	log->point_count = log->point_capacity = 0;
	tsi_rank_log_find_points(log, &pieces);
	enum tscope_status status = tsi_arena_status(&log->arena, err);
	log->arena.has_failed = log->point_memory.has_failed = false;
	return status;
}

TEST(every_allocation_may_fail)
{
	struct test_world *w = test_world_of_logs(windows);

	struct alloc_sweep sweep = { .at_least = 15 };
	while (alloc_sweep_next(&sweep)) {
		alloc_sweep_start(&sweep);
		enum tscope_status status = join_all(w, &sweep.err);
		if (status == TSCOPE_OK)
			status = find_points_again(&w->logs[0], &sweep.err);
		alloc_sweep_check(&sweep, status);
	}
}

/* ---- hostile figures ---- */

TEST(absurd_times_do_no_harm)
{
	struct rank_op ops[] = {
		{ .start_ns = INT64_MIN + 1, .dur_ns = INT64_MAX, .ready_ns = INT64_MIN + 1 },
		{ .start_ns = 0, .dur_ns = INT64_MAX, .ready_ns = -5 },
		{ .start_ns = 5, .dur_ns = -7, .ready_ns = INT64_MAX },
		{ .start_ns = INT64_MAX, .dur_ns = INT64_MAX, .ready_ns = 1 },
	};
	struct rank_log_step steps[] = {
		{ .start_ns = INT64_MIN + 1, .wall_ns = INT64_MAX },
		{ .start_ns = 0, .wall_ns = 0 },
		{ .start_ns = 0, .wall_ns = INT64_MAX },
	};
	struct line_piece items[] = {
		{ INT64_MIN, 0, TSCOPE_BUDGET_EXPOSED_COMM, 0 },
		{ 0, 5, TSCOPE_BUDGET_COMPUTE, 0 },
		{ 5, INT64_MAX, TSCOPE_BUDGET_EXPOSED_COMM, 0 },
	};
	const struct line_pieces pieces = { .items = items,
					    .count = TSI_COUNT_OF(items),
					    .pass_ends = { TSI_COUNT_OF(items) },
					    .pass_count = 1 };
	struct rank_log log = { .ops = ops,
				.op_count = TSI_COUNT_OF(ops),
				.steps = steps,
				.step_count = TSI_COUNT_OF(steps) };

	tsi_rank_log_find_points(&log, &pieces);
	assert_false(log.arena.has_failed);
	assert_true(log.point_count >= TSI_COUNT_OF(steps));
	tsi_arena_deinit(&log.still_memory);
	tsi_arena_deinit(&log.point_memory);
	tsi_arena_deinit(&log.arena);
}

/* The last two are one step that two windows hold, once as their first: that which counts is taken. */
TEST(steps_by_time)
{
	struct rank_log_step steps[] = {
		{ .number = 1, .start_ns = 0, .wall_ns = 100, .mark = TSCOPE_STEP_WARMUP },
		{ .number = 2, .start_ns = 100, .wall_ns = 50 },
		{ .number = 2, .start_ns = 100, .wall_ns = 40, .mark = TSCOPE_STEP_FIRST },
		{ .number = 2, .start_ns = 100, .wall_ns = 40 },
	};
	const struct rank_log log = { .steps = steps, .step_count = TSI_COUNT_OF(steps) };
	static const struct {
		int64_t start_ns, wall_ns;
		uint32_t step;
	} cases[] = {
		{ 0, 100, 0 },       { 100, 50, 1 },     { 100, 40, 3 },
		{ 100, 30, NO_ROW }, { 50, 50, NO_ROW },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		assert_int_equal(tsi_rank_log_find_step(&log, cases[i].start_ns, cases[i].wall_ns),
				 cases[i].step);
}
