/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_WORLD_BYTES_H
#define TSCOPE_TESTS_WORLD_BYTES_H

#include "base/array.h"
#include "base/intern.h"
#include "base/sum.h"
#include "comm/rank_log.h"
#include "fuzz.h"
#include "run/steps.h"

#include <math.h>
#include <stdlib.h>

/*
 * Ranks of a run out of any bytes, all that a trace could make of them: times are below 4e18 ns
 * before they become Unix times, steps and ops in order, pieces cover the steps. Bytes that are
 * missing are 0.
 *
 *	run     rank count; then each rank: flags, its number less that before it, a window
 *	rank    AGAIN: the window is that of the first rank again, later by a number of ns,
 *	        and each duration longer by a byte's worth of chance; TWO_WINDOWS: one more window
 *	window  start, groups, steps with their pieces, ops, kernels: each a count, then these
 */
enum { MOST_RANKS = 12, MOST_GROUPS = 6, MOST_STEPS = 6, MOST_PIECES = 8, MOST_OPS = 48 };

enum rank_flag {
	RANK_AGAIN = 1 << 0,
	RANK_TWO_WINDOWS = 1 << 1,
	RANK_IS_HOST = 1 << 2,
	RANK_HAS_HOST_NAME = 1 << 3,
	RANK_HAS_DEVICE = 1 << 4,
	RANK_IS_SHIFTED = 1 << 5, /* its Unix time is as far as can be */
};

#define MOST_TIME_NS INT64_C(4000000000000000000)
#define MOST_BASE_NS INT64_C(5000000000000000000)

struct bytes {
	const uint8_t *data;
	size_t length, at;
};

struct window_reading {
	struct bytes *bytes;
	struct rank_log *log;
	struct step_series *series;
	struct line_pieces pieces;
	struct intern keys;
	int64_t start_ns, end_ns; /* of the window */
	int64_t base_ns;
	uint32_t chance; /* 0: durations are as they stand */
	bool has_window; /* one was read already */
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void require_ok(enum tscope_status status)
{
	require(status == TSCOPE_OK);
}

#define APPEND(arena, array, count, capacity, item)                                                \
	do {                                                                                       \
		(array) = tsi_arena_reserve(arena, array, &(capacity), (count) + 1,                \
					    sizeof(*(array)));                                     \
		require(array);                                                                    \
		(array)[(count)++] = (item);                                                       \
	} while (0)

/* ---- numbers ---- */

static unsigned take_byte(struct bytes *bytes)
{
	return bytes->at < bytes->length ? bytes->data[bytes->at++] : 0;
}

static unsigned take_below(struct bytes *bytes, unsigned limit)
{
	return take_byte(bytes) % limit;
}

static int64_t take_number(struct bytes *bytes)
{
	static const int64_t extremes[] = {
		NO_NUMBER,  -1,          INT64_MAX,  INT64_MIN + 1,    MOST_TIME_NS, -MOST_TIME_NS,
		UINT32_MAX, INT32_MAX,   1000000000, 1000000000000,    1000000,      1000,
		-1000000,   INT64_C(-2), 1 << 24,    INT64_C(1) << 62,
	};
	unsigned tag = take_byte(bytes);

	if (tag < 160)
		return tag;
	if (tag < 208)
		return (int64_t)(tag - 160) * 256 + take_byte(bytes);
	if (tag < 240)
		return (int64_t)(tag - 208) * 1000000 + (int64_t)take_byte(bytes) * 1000;
	return extremes[tag - 240];
}

/* Not negative. */
static int64_t take_length(struct bytes *bytes)
{
	int64_t number = take_number(bytes);

	return number < 0 ? 0 : number;
}

static void note_end(struct window_reading *r, int64_t end_ns)
{
	if (end_ns > r->end_ns)
		r->end_ns = end_ns;
}

/* A size or number that may not be said. */
static int64_t take_size(struct bytes *bytes)
{
	int64_t number = take_number(bytes);

	return number < 0 ? NO_NUMBER : number;
}

static int64_t within_time(tsi_wide time_ns)
{
	if (time_ns > MOST_TIME_NS)
		return MOST_TIME_NS;
	return time_ns < -MOST_TIME_NS ? -MOST_TIME_NS : (int64_t)time_ns;
}

/* Longer by chance where the window is read again. */
static int64_t take_duration(struct window_reading *r)
{
	int64_t duration_ns = take_length(r->bytes);

	if (r->chance == 0)
		return duration_ns;
	r->chance = r->chance * 1664525 + 1013904223;
	tsi_sum(&duration_ns, r->chance >> 25);
	return duration_ns;
}

static uint32_t take_name(struct window_reading *r)
{
	static const char *const names[] = { "", "a", "default_pg", "dp", "tp", "float" };
	const char *name = names[take_below(r->bytes, TSI_COUNT_OF(names))];
	uint32_t id;

	require_ok(tsi_intern_add(&r->log->names, (struct str){ name, strlen(name) }, &id, NULL));
	return id;
}

/* ---- parts of a window ---- */

/* Members are the bits of two bytes, or one that is far off. */
static void read_group(struct window_reading *r)
{
	struct rank_log *log = r->log;
	struct rank_group group = {
		.name = take_name(r),
		.description = take_name(r),
		.size = take_number(r->bytes),
		.first_member = (uint32_t)log->member_count,
	};
	unsigned bits = take_byte(r->bytes) | take_byte(r->bytes) << 8;

	for (int64_t rank = 0; rank < 15; rank++)
		if (bits & 1u << rank)
			tsi_rank_log_add_member(log, rank);
	if (bits & 1u << 15)
		tsi_rank_log_add_member(log, INT64_MAX);
	group.member_count = (uint32_t)log->member_count - group.first_member;
	if (group.size == NO_NUMBER && group.member_count > 0)
		group.size = group.member_count;
	tsi_rank_log_add_group(log, &r->keys, &group);
	require(!log->arena.has_failed);
}

static void read_groups(struct window_reading *r)
{
	const struct rank_group nothing = { .size = NO_NUMBER };
	unsigned count = take_below(r->bytes, MOST_GROUPS);

	for (unsigned i = 0; i < count; i++)
		read_group(r);
	if (count == 0)
		tsi_rank_log_add_group(r->log, &r->keys, &nothing);
	require(!r->log->arena.has_failed);
	tsi_intern_deinit(&r->keys);
}

static void add_piece(struct window_reading *r, int64_t start_ns, int64_t end_ns, uint8_t line)
{
	struct line_pieces *pieces = &r->pieces;
	struct line_piece *last = pieces->count > 0 ? &pieces->items[pieces->count - 1] : NULL;
	struct line_piece piece = { start_ns, end_ns, line, 0 };

	if (start_ns == end_ns)
		return;
	if (last && last->end_ns == start_ns && last->line == line)
		last->end_ns = end_ns;
	else
		APPEND(&r->log->arena, pieces->items, pieces->count, pieces->capacity, piece);
}

static void charge(struct window_reading *r, struct step_budget *budget, int64_t length_ns,
		   unsigned line)
{
	if (!r->log->is_host)
		budget->device.line_ns[line] += length_ns;
	else
		budget->host.line_ns[line == TSCOPE_BUDGET_EXPOSED_COMM ? HOST_COMM : HOST_OTHER] +=
			length_ns;
}

static void read_pieces(struct window_reading *r, const struct rank_log_step *step,
			struct step_budget *budget)
{
	int64_t at_ns = step->start_ns, end_ns = step->start_ns + step->wall_ns;
	unsigned count = take_below(r->bytes, MOST_PIECES);

	for (unsigned i = 0; i <= count && at_ns < end_ns; i++) {
		uint8_t line = (uint8_t)take_below(r->bytes, TSCOPE_BUDGET_LINE_COUNT);
		int64_t length_ns = i < count ? take_duration(r) : INT64_MAX;

		if (length_ns > end_ns - at_ns)
			length_ns = end_ns - at_ns;
		add_piece(r, at_ns, at_ns + length_ns, line);
		charge(r, budget, length_ns, line);
		at_ns += length_ns;
	}
}

static void add_record(struct window_reading *r, const struct rank_log_step *step,
		       const struct step_budget *budget)
{
	struct step_record *record = tsi_steps_add(r->series, step->number);

	record->has = STEP_HAS_TIME;
	record->mark = step->mark;
	record->time_ns = step->wall_ns;
	record->phase_ns[PHASE_OTHER] = step->wall_ns;
	record->phases = 1 << PHASE_OTHER;
	record->budget = tsi_steps_add_budget(r->series, budget);
}

static void read_steps(struct window_reading *r)
{
	struct rank_log *log = r->log;
	unsigned count = take_below(r->bytes, MOST_STEPS);
	int64_t at_ns = r->start_ns;

	for (unsigned i = 0; i < count; i++) {
		struct rank_log_step step = { .number = take_number(r->bytes) };
		unsigned mark = take_byte(r->bytes);

		step.mark = mark < 192 ? TSCOPE_STEP_COUNTED
				       : (uint8_t)(mark % (TSCOPE_STEP_INCOMPLETE + 1));
		step.start_ns = within_time((tsi_wide)at_ns + take_length(r->bytes));
		at_ns = within_time((tsi_wide)step.start_ns + take_duration(r));
		step.wall_ns = at_ns - step.start_ns;
		note_end(r, at_ns);
		APPEND(&log->arena, log->steps, log->step_count, log->step_capacity, step);
		struct step_budget budget = { .start_ns = step.start_ns + r->base_ns,
					      .wall_ns = step.wall_ns,
					      .mark = step.mark };
		read_pieces(r, &step, &budget);
		add_record(r, &step, &budget);
	}
}

static int64_t step_of(const struct rank_log *log, int64_t time_ns)
{
	for (size_t i = 0; i < log->step_count; i++)
		if (time_ns >= log->steps[i].start_ns &&
		    time_ns - log->steps[i].start_ns < log->steps[i].wall_ns)
			return log->steps[i].number;
	return NO_NUMBER;
}

static void read_what_it_moved(struct window_reading *r, struct rank_op *op)
{
	unsigned flags = take_byte(r->bytes);

	op->kind = (uint8_t)(flags % COLLECTIVE_KIND_COUNT);
	op->is_send = flags & 128;
	op->is_cut = (flags & 96) == 96;
	op->stream = take_below(r->bytes, 3);
	op->dtype = take_name(r);
	op->sequence = take_number(r->bytes);
	op->peer = take_number(r->bytes);
	if (op->kind != COLLECTIVE_SEND_RECV || op->peer < 0)
		op->peer = -1;
	op->bytes = take_size(r->bytes);
	op->bus_bytes = op->bytes == NO_NUMBER ? NAN : (double)op->bytes * 1.5;
	op->received_bytes = take_size(r->bytes);
}

static void read_ops(struct window_reading *r)
{
	struct rank_log *log = r->log;
	unsigned count = take_below(r->bytes, MOST_OPS);
	int64_t at_ns = r->start_ns;

	for (unsigned i = 0; i < count; i++) {
		struct rank_op op = { .launch_ns = NO_NUMBER };

		at_ns = within_time((tsi_wide)at_ns + take_length(r->bytes));
		op.start_ns = at_ns;
		op.dur_ns = within_time((tsi_wide)at_ns + take_duration(r)) - at_ns;
		op.ready_ns = within_time((tsi_wide)at_ns - take_length(r->bytes));
		if (op.ready_ns < op.start_ns)
			op.launch_ns = op.ready_ns;
		op.step = step_of(log, op.ready_ns);
		op.group = take_below(r->bytes, (unsigned)log->group_count);
		read_what_it_moved(r, &op);
		note_end(r, at_ns + op.dur_ns);
		APPEND(&log->arena, log->ops, log->op_count, log->op_capacity, op);
	}
}

static void read_kernels(struct window_reading *r)
{
	struct rank_log *log = r->log;
	unsigned count = take_below(r->bytes, 4);

	for (unsigned i = 0; i < count; i++) {
		struct rank_kernel kernel = {
			.name = take_name(r),
			.is_comm = take_byte(r->bytes) & 1,
			.count = 1 + take_byte(r->bytes),
			.total_ns = take_duration(r),
			.blocks = take_length(r->bytes),
		};
		APPEND(&log->arena, log->kernels, log->kernel_count, log->kernel_capacity, kernel);
	}
	tsi_rank_log_join_kernels(log);
}

/* ---- a window, as rank_log_fill.c makes it ---- */

static void shift_window(struct rank_log *log, int64_t by_ns)
{
	for (size_t i = 0; i < log->op_count; i++) {
		struct rank_op *op = &log->ops[i];

		op->start_ns += by_ns;
		op->ready_ns += by_ns;
		op->launch_ns += op->launch_ns == NO_NUMBER ? 0 : by_ns;
	}
	for (size_t i = 0; i < log->point_count; i++)
		log->points[i].time_ns += by_ns;
	for (size_t i = 0; i < log->step_count; i++)
		log->steps[i].start_ns += by_ns;
	for (size_t i = 0; i < log->still.count; i++) {
		log->still.items[i].start_ns += by_ns;
		log->still.items[i].end_ns += by_ns;
	}
}

/* Times of points add up: fuzz_world.c looks at what steps are made of. */
static void check_points(const struct rank_log *log)
{
	int64_t last_ns = INT64_MIN;

	for (size_t i = 0; i < log->point_count; i++) {
		const struct rank_point *point = &log->points[i];
		bool is_of_op = point->kind == RANK_POINT_READY || point->kind == RANK_POINT_RESUME;

		require(point->time_ns >= last_ns && point->stall_ns >= 0);
		require(point->stall_ns == 0 || point->kind == RANK_POINT_RESUME);
		require(point->index < (is_of_op ? log->op_count : log->step_count));
		last_ns = point->time_ns;
		for (unsigned line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++)
			require(point->line_ns[line] >= 0);
	}
}

/* Appends it to the rank's log. */
static void read_window(struct window_reading *r, struct rank_log *log, unsigned flags)
{
	struct rank_log window;

	require_ok(tsi_rank_log_init(&window, NULL));
	r->log = &window;
	window.is_host = flags & RANK_IS_HOST;
	window.has_start = true;
	if (flags & RANK_HAS_HOST_NAME)
		window.host_name = take_name(r);
	if (flags & RANK_HAS_DEVICE) {
		window.device_name = take_name(r);
		window.device_ordinal = take_below(r->bytes, 16);
		window.visible_device_count = take_below(r->bytes, 16);
	}
	/* Windows of a rank do not overlap. */
	r->start_ns = within_time((tsi_wide)r->end_ns + take_number(r->bytes));
	if (r->has_window && r->start_ns < r->end_ns)
		r->start_ns = r->end_ns;
	r->has_window = true;
	read_groups(r);
	read_steps(r);
	read_ops(r);
	read_kernels(r);
	tsi_rank_log_find_points(&window, &r->pieces);
	require(!window.arena.has_failed);
	check_points(&window);
	shift_window(&window, r->base_ns);
	require_ok(tsi_rank_log_append(log, &window, NULL));
	tsi_rank_log_deinit(&window);
	r->pieces = (struct line_pieces){ 0 };
}

/* *first: where the first rank's window stands; 0: this is the first rank. */
static void read_rank(struct bytes *bytes, struct rank_log *log, struct step_series *series,
		      int64_t rank_before, size_t *first)
{
	unsigned flags = take_byte(bytes);
	struct window_reading r = {
		.bytes = bytes,
		.series = series,
		.base_ns = flags & RANK_IS_SHIFTED ? MOST_BASE_NS : 0,
	};
	bool is_again = (flags & RANK_AGAIN) && *first > 0;

	require_ok(tsi_rank_log_init(log, NULL));
	tsi_steps_init(series);
	series->rank = rank_before + 1 + take_below(bytes, 3);
	series->world_size = -1;
	series->device_count = flags & RANK_IS_HOST ? 0 : 1;
	series->has_start = series->is_of_trace = true;
	if (is_again) {
		r.end_ns = take_length(bytes);
		r.chance = take_byte(bytes);
	}
	size_t here = bytes->at;
	if (*first == 0)
		*first = here;
	bytes->at = is_again ? *first : here;
	read_window(&r, log, flags);
	if (is_again)
		bytes->at = here;
	if (flags & RANK_TWO_WINDOWS)
		read_window(&r, log, flags);
	log->rank = series->rank;
}

#endif
