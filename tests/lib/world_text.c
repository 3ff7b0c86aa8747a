/* SPDX-License-Identifier: MIT */
/* Reads ranks that a test wrote down; a word that it does not know fails the test. */
#include "world_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { MAX_RANKS = 1024, MAX_STEPS = 4096 };

/* The rank that is being read. */
struct reading {
	struct test_world *w;
	struct rank_log *log;
	struct line_pieces pieces;
	int64_t clock_ns;
};

static uint32_t name_id(struct rank_log *log, const char *text)
{
	uint32_t id;

	assert_int_equal(tsi_intern_add(&log->names, (struct str){ text, strlen(text) }, &id, NULL),
			 TSCOPE_OK);
	return id;
}

/* "ranks=" of "ranks=0,1": the value; NULL where the word is another. */
static const char *value_of(const char *word, const char *name)
{
	size_t length = strlen(name);

	return strncmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

static int64_t number(const char *text)
{
	char *end = NULL;
	long long value = text ? strtoll(text, &end, 10) : 0;

	if (!text || end == text)
		fail_msg("a number is missing");
	return value;
}

#define APPEND(arena, array, count, capacity, item)                                                \
	do {                                                                                       \
		(array) = tsi_arena_reserve(arena, array, &(capacity), (count) + 1,                \
					    sizeof(*(array)));                                     \
		assert_non_null(array);                                                            \
		(array)[(count)++] = (item);                                                       \
	} while (0)

/* ---- the rest of a rank that was read ---- */

static int compare_pieces(const void *left, const void *right)
{
	const struct line_piece *a = left, *b = right;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static int compare_ops(const void *left, const void *right)
{
	const struct rank_op *a = left, *b = right;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Time of steps that no stretch has becomes device_gap. */
static void fill_gaps(struct reading *r)
{
	struct line_pieces *pieces = &r->pieces;
	size_t said = pieces->count;

	if (said > 0)
		qsort(pieces->items, said, sizeof(*pieces->items), compare_pieces);
	for (size_t i = 0; i < r->log->step_count; i++) {
		int64_t at_ns = r->log->steps[i].start_ns;
		int64_t end_ns = at_ns + r->log->steps[i].wall_ns;

		for (size_t k = 0; k <= said && at_ns < end_ns; k++) {
			int64_t next_ns = k < said ? pieces->items[k].start_ns : end_ns;
			struct line_piece gap = { at_ns, next_ns < end_ns ? next_ns : end_ns,
						  TSCOPE_BUDGET_DEVICE_GAP, 0 };

			if (gap.end_ns > at_ns)
				APPEND(&r->log->arena, pieces->items, pieces->count,
				       pieces->capacity, gap);
			if (k < said && pieces->items[k].end_ns > at_ns)
				at_ns = pieces->items[k].end_ns;
		}
	}
	if (pieces->count > 0)
		qsort(pieces->items, pieces->count, sizeof(*pieces->items), compare_pieces);
	pieces->pass_ends[0] = pieces->count;
	pieces->pass_count = pieces->count > 0;
}

static int64_t line_within(const struct line_pieces *pieces, unsigned line, int64_t start_ns,
			   int64_t end_ns)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < pieces->count; i++) {
		const struct line_piece *piece = &pieces->items[i];
		int64_t from_ns = piece->start_ns > start_ns ? piece->start_ns : start_ns;
		int64_t to_ns = piece->end_ns < end_ns ? piece->end_ns : end_ns;

		if (piece->line == line && to_ns > from_ns)
			sum_ns += to_ns - from_ns;
	}
	return sum_ns;
}

static enum phase phase_of_line(unsigned line)
{
	switch (line) {
	case TSCOPE_BUDGET_COMPUTE:
		return PHASE_FORWARD;
	case TSCOPE_BUDGET_EXPOSED_COMM:
		return PHASE_COMM;
	case TSCOPE_BUDGET_DATA_STALL:
		return PHASE_DATA;
	default:
		return PHASE_OTHER;
	}
}

static void add_series(struct reading *r)
{
	struct step_series *series = &r->w->series[r->w->rank_count - 1];

	tsi_steps_init(series);
	series->rank = r->log->rank;
	series->device_count = 1;
	series->is_of_trace = true;
	for (size_t i = 0; i < r->log->step_count; i++) {
		const struct rank_log_step *step = &r->log->steps[i];
		struct step_budget budget = { .start_ns = step->start_ns,
					      .wall_ns = step->wall_ns,
					      .mark = step->mark };
		struct step_record *record = tsi_steps_add(series, step->number);

		record->has = STEP_HAS_TIME;
		record->mark = step->mark;
		record->time_ns = step->wall_ns;
		for (unsigned line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++) {
			int64_t ns = line_within(&r->pieces, line, step->start_ns,
						 step->start_ns + step->wall_ns);

			budget.device.line_ns[line] = ns;
			record->phase_ns[phase_of_line(line)] += ns;
			record->phases |= (uint8_t)(1 << phase_of_line(line));
		}
		budget.device.compute_phase_ns[PHASE_FORWARD] =
			budget.device.line_ns[TSCOPE_BUDGET_COMPUTE];
		record->budget = tsi_steps_add_budget(series, &budget);
	}
}

static void end_rank(struct reading *r)
{
	struct rank_log *log = r->log;

	if (!log)
		return;
	if (log->op_count > 0)
		qsort(log->ops, log->op_count, sizeof(*log->ops), compare_ops);
	fill_gaps(r);
	for (size_t i = 0; i < log->op_count; i++)
		for (size_t k = 0; log->ops[i].step == NO_NUMBER && k < log->step_count; k++)
			if (log->ops[i].start_ns >= log->steps[k].start_ns &&
			    log->ops[i].start_ns < log->steps[k].start_ns + log->steps[k].wall_ns)
				log->ops[i].step = log->steps[k].number;
	tsi_rank_log_find_points(log, &r->pieces);
	assert_false(log->arena.has_failed);
	add_series(r);
	r->pieces = (struct line_pieces){ 0 };
	r->log = NULL;
}

/* ---- a line ---- */

static void read_rank(struct reading *r, char *rest)
{
	char *word, *state = NULL;

	end_rank(r);
	assert_true(r->w->rank_count < MAX_RANKS);
	r->log = &r->w->logs[r->w->rank_count++];
	r->clock_ns = 0;
	assert_int_equal(tsi_rank_log_init(r->log, NULL), TSCOPE_OK);
	r->log->has_start = true;
	r->log->rank = number(strtok_r(rest, " ", &state));
	while ((word = strtok_r(NULL, " ", &state))) {
		const char *value;

		if ((value = value_of(word, "node")))
			r->log->host_name = name_id(r->log, value);
		else if ((value = value_of(word, "device")))
			r->log->device_name = name_id(r->log, value);
		else if ((value = value_of(word, "ordinal")))
			r->log->device_ordinal = number(value);
		else if ((value = value_of(word, "visible")))
			r->log->visible_device_count = number(value);
		else if ((value = value_of(word, "clock")))
			r->clock_ns = number(value);
		else if (strcmp(word, "host") == 0)
			r->log->is_host = true;
		else
			fail_msg("a rank has no %s", word);
	}
}

static void read_step(struct reading *r, char *rest)
{
	char *state = NULL, *mark;
	struct rank_log_step step = { .number = number(strtok_r(rest, " ", &state)) };

	step.start_ns = number(strtok_r(NULL, " ", &state)) + r->clock_ns;
	step.wall_ns = number(strtok_r(NULL, " ", &state)) + r->clock_ns - step.start_ns;
	mark = strtok_r(NULL, " ", &state);
	for (int i = TSCOPE_STEP_FIRST; mark && i <= TSCOPE_STEP_INCOMPLETE; i++)
		if (strcmp(mark, tscope_step_mark_name((enum tscope_step_mark)i)) == 0)
			step.mark = (uint8_t)i;
	assert_true(!mark || step.mark != TSCOPE_STEP_COUNTED);
	APPEND(&r->log->arena, r->log->steps, r->log->step_count, r->log->step_capacity, step);
}

static bool read_piece(struct reading *r, const char *name, char *rest)
{
	char *state = NULL;

	for (unsigned line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++) {
		if (strcmp(name, tscope_budget_line_name((enum tscope_budget_line)line)) != 0)
			continue;
		struct line_piece piece = { .line = (uint8_t)line, .phase = PHASE_FORWARD };

		piece.start_ns = number(strtok_r(rest, " ", &state)) + r->clock_ns;
		piece.end_ns = number(strtok_r(NULL, " ", &state)) + r->clock_ns;
		APPEND(&r->log->arena, r->pieces.items, r->pieces.count, r->pieces.capacity, piece);
		return true;
	}
	return false;
}

/* "0,1,4" */
static void read_members(struct rank_log *log, struct rank_group *group, const char *text)
{
	group->first_member = (uint32_t)log->member_count;
	while (*text) {
		char *end;
		int64_t rank = strtoll(text, &end, 10);

		assert_true(end != text);
		tsi_rank_log_add_member(log, rank);
		group->member_count++;
		text = *end == ',' ? end + 1 : end;
	}
	group->size = group->member_count;
}

static bool is_same_group(const struct rank_log *log, const struct rank_group *a,
			  const struct rank_group *b)
{
	return a->name == b->name && a->description == b->description && a->size == b->size &&
	       a->member_count == b->member_count &&
	       (a->member_count == 0 ||
		memcmp(&log->members[a->first_member], &log->members[b->first_member],
		       a->member_count * sizeof(*log->members)) == 0);
}

static uint32_t group_index(struct rank_log *log, const struct rank_group *group)
{
	for (size_t i = 0; i < log->group_count; i++)
		if (is_same_group(log, &log->groups[i], group))
			return (uint32_t)i;
	APPEND(&log->arena, log->groups, log->group_count, log->group_capacity, *group);
	return (uint32_t)(log->group_count - 1);
}

static bool set_number(struct rank_op *op, const char *word, int64_t clock_ns)
{
	const struct {
		const char *name;
		int64_t *to;
		bool is_time;
	} fields[] = {
		{ "seq", &op->sequence, false },
		{ "bytes", &op->bytes, false },
		{ "received", &op->received_bytes, false },
		{ "ready", &op->ready_ns, true },
		{ "launch", &op->launch_ns, true },
		{ "peer", &op->peer, false },
		{ "step", &op->step, false },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(fields); i++) {
		const char *value = value_of(word, fields[i].name);
		if (!value)
			continue;
		*fields[i].to = number(value) + (fields[i].is_time ? clock_ns : 0);
		return true;
	}
	return false;
}

static bool set_group(struct rank_log *log, struct rank_group *group, const char *word)
{
	const char *value;

	if ((value = value_of(word, "group")))
		group->description = name_id(log, value);
	else if ((value = value_of(word, "name")))
		group->name = name_id(log, value);
	else if ((value = value_of(word, "size")))
		group->size = number(value);
	else if ((value = value_of(word, "ranks")))
		read_members(log, group, value);
	return value != NULL;
}

static void set_other(struct rank_log *log, struct rank_op *op, const char *word)
{
	const char *value;

	if ((value = value_of(word, "stream")))
		op->stream = (uint32_t)number(value);
	else if ((value = value_of(word, "bus")))
		op->bus_bytes = strtod(value, NULL);
	else if ((value = value_of(word, "dtype")))
		op->dtype = name_id(log, value);
	else if (strcmp(word, "send") == 0)
		op->is_send = true;
	else if (strcmp(word, "cut") == 0)
		op->is_cut = true;
	else
		fail_msg("a collective has no %s", word);
}

static void read_op(struct reading *r, enum collective_kind kind, char *rest)
{
	char *state = NULL, *word = strtok_r(rest, " ", &state);
	struct rank_group group = { .size = NO_NUMBER };
	struct rank_op op = {
		.kind = (uint8_t)kind,
		.launch_ns = NO_NUMBER,
		.step = NO_NUMBER,
		.sequence = NO_NUMBER,
		.bytes = NO_NUMBER,
		.bus_bytes = NAN,
		.received_bytes = NO_NUMBER,
		.peer = -1,
	};

	op.start_ns = number(word) + r->clock_ns;
	op.dur_ns = number(strtok_r(NULL, " ", &state)) + r->clock_ns - op.start_ns;
	op.ready_ns = op.start_ns;
	while ((word = strtok_r(NULL, " ", &state)))
		if (!set_number(&op, word, r->clock_ns) && !set_group(r->log, &group, word))
			set_other(r->log, &op, word);
	op.group = group_index(r->log, &group);
	APPEND(&r->log->arena, r->log->ops, r->log->op_count, r->log->op_capacity, op);
}

static void read_kernel(struct reading *r, char *rest)
{
	char *state = NULL, *word;
	struct rank_kernel kernel = { .name = name_id(r->log, strtok_r(rest, " ", &state)) };

	kernel.count = number(strtok_r(NULL, " ", &state));
	kernel.total_ns = number(strtok_r(NULL, " ", &state));
	while ((word = strtok_r(NULL, " ", &state))) {
		if (strcmp(word, "comm") == 0)
			kernel.is_comm = true;
		else
			kernel.blocks = number(value_of(word, "blocks"));
	}
	APPEND(&r->log->arena, r->log->kernels, r->log->kernel_count, r->log->kernel_capacity,
	       kernel);
}

static void read_place(struct reading *r, char *rest)
{
	char *state = NULL;
	struct rank_place place = { .name = name_id(r->log, strtok_r(rest, " ", &state)) };

	place.total_ns = number(strtok_r(NULL, " ", &state));
	place.longest_start_ns = number(strtok_r(NULL, " ", &state));
	place.longest_ns = number(strtok_r(NULL, " ", &state));
	APPEND(&r->log->arena, r->log->places, r->log->place_count, r->log->place_capacity, place);
	tsi_rank_log_join_places(r->log);
}

static void read_line(struct reading *r, char *line)
{
	char *rest = NULL, *word = strtok_r(line, " ", &rest);

	if (!word)
		return;
	if (strcmp(word, "rank") == 0) {
		read_rank(r, rest);
		return;
	}
	assert_non_null(r->log);
	if (strcmp(word, "step") == 0) {
		read_step(r, rest);
		return;
	}
	if (strcmp(word, "kernel") == 0) {
		read_kernel(r, rest);
		return;
	}
	if (strcmp(word, "place") == 0) {
		read_place(r, rest);
		return;
	}
	if (read_piece(r, word, rest))
		return;
	for (int kind = 0; kind < COLLECTIVE_KIND_COUNT; kind++) {
		if (strcmp(word, tsi_collective_kind_name((enum collective_kind)kind)) != 0)
			continue;
		read_op(r, (enum collective_kind)kind, rest);
		return;
	}
	fail_msg("a rank has no line %s", word);
}

/* ---- the whole ---- */

static void release(struct test_kept *kept)
{
	struct test_world *w = (struct test_world *)kept;

	tsi_world_free(w->world);
	for (size_t i = 0; i < w->rank_count; i++) {
		tsi_rank_log_deinit(&w->logs[i]);
		tsi_steps_deinit(&w->series[i]);
	}
	free(w->logs);
	free(w->series);
	free(w);
}

struct test_world *test_world_of_logs(const char *text)
{
	struct test_world *w = calloc(1, sizeof(*w));
	size_t length = strlen(text);
	char *copy = malloc(length + 1), *rest = NULL;
	struct reading r = { .w = w };

	assert_non_null(w);
	test_keep(&w->kept, release);
	assert_non_null(copy);
	memcpy(copy, text, length + 1);
	w->logs = calloc(MAX_RANKS, sizeof(*w->logs));
	w->series = calloc(MAX_RANKS, sizeof(*w->series));
	w->world = calloc(1, sizeof(*w->world));
	assert_true(w->logs && w->series && w->world);
	for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		read_line(&r, line);
	end_rank(&r);
	free(copy);
	w->world->logs = w->logs;
	w->world->rank_count = w->rank_count;
	w->world->world_size = -1;
	return w;
}

void check_steps_add_up(const struct world *world)
{
	int64_t lines[MAX_STEPS][TSCOPE_BUDGET_LINE_COUNT];

	for (size_t rank = 0; rank < world->rank_count; rank++) {
		const struct rank_log *log = &world->logs[rank];

		assert_true(log->step_count <= MAX_STEPS);
		tsi_rank_log_sum_steps(log, lines);
		for (size_t i = 0; i < log->step_count; i++) {
			const struct step_split *split = &world->splits[rank][i];
			int64_t sum_ns = split->wait_ns + split->transfer_ns + split->unsplit_ns;

			assert_true(split->wait_ns >= 0 && split->transfer_ns >= 0 &&
				    split->unsplit_ns >= 0);
			for (int line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++) {
				assert_true(lines[i][line] >= 0);
				if (line != TSCOPE_BUDGET_EXPOSED_COMM)
					sum_ns += lines[i][line];
			}
			assert_int_equal(sum_ns, log->steps[i].wall_ns);
		}
	}
}

struct test_world *test_world(const char *text)
{
	struct test_world *w = test_world_of_logs(text);
	struct tscope_error err = { 0 };

	tsi_world_free(w->world);
	w->world = NULL;
	if (tsi_world_new(&w->world, w->logs, w->rank_count, -1, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	tsi_world_split_budgets(w->world, w->series);
	check_steps_add_up(w->world);
	return w;
}

struct analyzed *analyze_world(struct test_world *w, const struct tscope_analysis_options *options)
{
	return analyze_run_of(w->series, w->rank_count, w->world, options);
}
