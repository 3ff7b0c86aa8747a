/* SPDX-License-Identifier: MIT */
/* Which points of logs stay where there are too many: whole steps, chosen evenly (sample_steps.h). */
#include "comm/sample_steps.h"

#include "check.h"
#include "fail_alloc.h"

#include <stdio.h>
#include <string.h>

enum { STEPS = 12, RANKS = 3, STEP_NS = 1000, MAX_TEXT = 4096 };

static void add_point(struct rank_log *log, int64_t time_ns, enum rank_point_kind kind,
		      uint32_t index, int64_t compute_ns)
{
	struct rank_point *point =
		tsi_arena_push(&log->point_memory, &log->points, &log->point_count,
			       &log->point_capacity, sizeof(*point));

	if (!point)
		return;
	point->time_ns = time_ns;
	point->kind = (uint8_t)kind;
	point->index = index;
	point->line_ns[TSCOPE_BUDGET_COMPUTE] = compute_ns;
}

/*
 * Steps of 1000 ns, the first a warm-up; each with an op that is ready after 300 and waited for until
 * 800. The time between points is local but for the wait.
 */
static void fill_log(struct rank_log *log, int64_t first_number)
{
	log->steps = tsi_arena_new(&log->arena, STEPS, sizeof(*log->steps));
	for (uint32_t i = 0; log->steps && i < STEPS; i++) {
		int64_t start_ns = i * STEP_NS;

		log->steps[log->step_count++] = (struct rank_log_step){
			.number = first_number + i,
			.start_ns = start_ns,
			.wall_ns = STEP_NS,
			.mark = i == 0 ? TSCOPE_STEP_WARMUP : TSCOPE_STEP_COUNTED,
		};
		add_point(log, start_ns, RANK_POINT_STEP, i, i > 0 ? 200 : 0);
		add_point(log, start_ns + 300, RANK_POINT_READY, i, 300);
		add_point(log, start_ns + 800, RANK_POINT_RESUME, i, 0);
	}
	add_point(log, STEPS * STEP_NS, RANK_POINT_END, STEPS - 1, 200);
	log->arena.has_failed |= log->point_memory.has_failed;
}

/* "step 3 at 3000, ready 3 at 3300 after 300, …" */
static void write_points(char *text, const struct rank_log *log)
{
	static const char *const names[] = { "step", "ready", "resume", "end" };
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < log->point_count; i++) {
		const struct rank_point *point = &log->points[i];

		used += (size_t)snprintf(text + used, MAX_TEXT - used, "%s %u at %d after %d\n",
					 names[point->kind], point->index, (int)point->time_ns,
					 (int)point->line_ns[TSCOPE_BUDGET_COMPUTE]);
	}
}

static void init_logs(struct rank_log logs[RANKS])
{
	for (int i = 0; i < RANKS; i++) {
		assert_int_equal(tsi_rank_log_init(&logs[i], NULL), TSCOPE_OK);
		fill_log(&logs[i], i == 1 ? 101 : 100);
	}
}

static void deinit_logs(struct rank_log logs[RANKS])
{
	for (int i = 0; i < RANKS; i++)
		tsi_rank_log_deinit(&logs[i]);
}

/* 111 points are few enough. */
TEST(few_points_stay)
{
	struct rank_log logs[RANKS];
	struct step_sample sample;

	init_logs(logs);
	sample = tsi_rank_logs_sample(logs, RANKS, 111);
	assert_int_equal(sample.of, 0);
	assert_int_equal(logs[0].point_count, 3 * STEPS + 1);
	assert_null(logs[0].step_lines);
	deinit_logs(logs);
}

/*
 * Rank 1 has no step 100 and its 101 is a warm-up, the others have no 112: 102 to 111 are common,
 * ten. 20 points are those of two: the third and the eighth of these stand for five each.
 */
TEST(steps_are_chosen_evenly)
{
	int64_t before[STEPS][TSCOPE_BUDGET_LINE_COUNT], after[STEPS][TSCOPE_BUDGET_LINE_COUNT];
	struct rank_log logs[RANKS];
	struct step_sample sample;
	char text[MAX_TEXT];

	init_logs(logs);
	tsi_rank_log_sum_steps(&logs[0], before);
	sample = tsi_rank_logs_sample(logs, RANKS, 20);
	assert_false(sample.has_failed);
	assert_int_equal(sample.kept, 2);
	assert_int_equal(sample.of, 10);
	write_points(text, &logs[0]);
	assert_string_equal(text, "step 4 at 4000 after 0\n"
				  "ready 4 at 4300 after 300\n"
				  "resume 4 at 4800 after 0\n"
				  "end 4 at 5000 after 200\n"
				  "step 9 at 9000 after 0\n"
				  "ready 9 at 9300 after 300\n"
				  "resume 9 at 9800 after 0\n"
				  "end 9 at 10000 after 200\n");
	/* The numbers of rank 1 are one more. */
	write_points(text, &logs[1]);
	assert_memory_equal(text, "step 3 at 3000", 14);
	tsi_rank_log_sum_steps(&logs[0], after);
	assert_memory_equal(before, after, sizeof(before));
	deinit_logs(logs);
}

/* Steps that follow one another stay one window; the last one of all ends with its END. */
TEST(neighbours_stay_together)
{
	struct rank_log logs[RANKS];
	char text[MAX_TEXT];

	init_logs(logs);
	/* All but one of the ten. */
	assert_int_equal(tsi_rank_logs_sample(logs, RANKS, 84).kept, 9);
	write_points(text, &logs[0]);
	assert_non_null(strstr(text, "resume 2 at 2800 after 0\nstep 3 at 3000 after 200\n"));
	assert_non_null(strstr(text, "end 11 at 12000 after 200\n"));
	deinit_logs(logs);
}

/* One step stays, whatever it takes; where ranks have none in common all do. */
TEST(at_least_one_stays)
{
	struct rank_log logs[RANKS];

	init_logs(logs);
	assert_int_equal(tsi_rank_logs_sample(logs, RANKS, 0).kept, 1);
	assert_int_equal(logs[2].point_count, 4);
	deinit_logs(logs);
	init_logs(logs);
	for (int i = 0; i < STEPS; i++)
		logs[1].steps[i].number += 1000;
	assert_int_equal(tsi_rank_logs_sample(logs, RANKS, 0).of, 0);
	assert_int_equal(logs[1].point_count, 3 * STEPS + 1);
	deinit_logs(logs);
}

TEST(memory_ends)
{
	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		struct rank_log logs[RANKS];

		init_logs(logs);
		alloc_sweep_start(&sweep);
		struct step_sample sample = tsi_rank_logs_sample(logs, RANKS, 20);
		assert_int_equal(sample.has_failed, alloc_sweep_stop(&sweep));
		deinit_logs(logs);
	}
}
