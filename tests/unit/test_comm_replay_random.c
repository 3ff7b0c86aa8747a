/* SPDX-License-Identifier: MIT */
/*
 * The replay of random worlds: those that a second, simple simulation made must come out to the ns,
 * changed or not; those of absurd numbers must come to an end.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "comm/replay.h"
#include "fail_alloc.h"
#include "random_numbers.h"

enum { LINES = TSCOPE_BUDGET_LINE_COUNT };

/* Times are in units of one or so many ns: short and long beside what a stream takes to start. */
enum { LONG_UNIT = 100000, MAX_DELAY = 10000 };

enum { MOST_RANKS = 5, MOST_STEPS = 4, MOST_COLLECTIVES = 24, MOST_ACTIONS = 160, STREAMS = 2 };

/* What a rank does: works on a line, gives a collective what it needs, waits for it. */
enum deed { WORK, ISSUE, WAIT, STEP_BEGIN, ALL_END };

struct action {
	enum deed deed;
	unsigned what; /* line, collective or step */
	int64_t ns;    /* of WORK */
};

struct collective_plan {
	bool is_member[MOST_RANKS];
	int64_t lag_ns[MOST_RANKS];
	/* On a rank it begins after this one of another stream as well; itself: after none. */
	unsigned awaited[MOST_RANKS];
	int64_t transfer_ns;
	unsigned stream;
	bool is_waited_for;
};

struct plan {
	int64_t unit_ns;
	unsigned rank_count, step_count, collective_count;
	struct action actions[MOST_RANKS][MOST_ACTIONS];
	unsigned action_count[MOST_RANKS];
	struct collective_plan collectives[MOST_COLLECTIVES];
	unsigned step_of[MOST_COLLECTIVES];
};

static void act(struct plan *plan, unsigned rank, enum deed deed, unsigned what, int64_t ns)
{
	assert_true(plan->action_count[rank] < MOST_ACTIONS);
	plan->actions[rank][plan->action_count[rank]++] = (struct action){ deed, what, ns };
}

static unsigned below(uint64_t *chance, unsigned limit)
{
	return (unsigned)(random_bits(chance) % limit);
}

/* In fours, so that quarters of it are exact. */
static void plan_work(struct plan *plan, unsigned rank, uint64_t *chance)
{
	for (unsigned i = below(chance, 3); i > 0; i--)
		act(plan, rank, WORK, below(chance, LINES), 4 * plan->unit_ns * below(chance, 250));
}

/* Awaits one of those before on the other stream, if it takes part in it. */
static void plan_awaited(struct plan *plan, unsigned number, unsigned rank, uint64_t *chance)
{
	struct collective_plan *collective = &plan->collectives[number];
	unsigned awaited = below(chance, number + 1);

	collective->awaited[rank] = number;
	if (below(chance, 2) == 0 || !plan->collectives[awaited].is_member[rank] ||
	    plan->collectives[awaited].stream == collective->stream)
		return;
	collective->awaited[rank] = awaited;
	collective->lag_ns[rank] = below(chance, MAX_DELAY + 1);
}

/* Ranks issue in the order of numbers, so that nobody waits in a circle. */
static void plan_collective(struct plan *plan, unsigned step, uint64_t *chance)
{
	unsigned number = plan->collective_count++, first = below(chance, plan->rank_count);
	struct collective_plan *collective = &plan->collectives[number];

	collective->transfer_ns = plan->unit_ns * below(chance, 800);
	collective->stream = below(chance, STREAMS);
	collective->is_waited_for = below(chance, 3) > 0;
	plan->step_of[number] = step;
	for (unsigned i = 0; i < plan->rank_count; i++) {
		unsigned rank = (first + i) % plan->rank_count;

		if (i > 1 && below(chance, 3) == 0)
			continue;
		collective->is_member[rank] = true;
		collective->lag_ns[rank] = plan->unit_ns * below(chance, 2) * below(chance, 50);
		plan_awaited(plan, number, rank, chance);
		plan_work(plan, rank, chance);
		act(plan, rank, ISSUE, number, 0);
		plan_work(plan, rank, chance);
		if (collective->is_waited_for)
			act(plan, rank, WAIT, number, 0);
	}
}

static void make_plan(struct plan *plan, uint64_t *chance)
{
	*plan = (struct plan){ .unit_ns = below(chance, 2) ? 1 : LONG_UNIT,
			       .rank_count = 2 + below(chance, MOST_RANKS - 1),
			       .step_count = 1 + below(chance, MOST_STEPS) };
	for (unsigned step = 0; step < plan->step_count; step++) {
		for (unsigned rank = 0; rank < plan->rank_count; rank++)
			act(plan, rank, STEP_BEGIN, step, 0);
		for (unsigned i = below(chance, MOST_COLLECTIVES / MOST_STEPS + 1); i > 0; i--)
			plan_collective(plan, step, chance);
		for (unsigned rank = 0; rank < plan->rank_count; rank++)
			plan_work(plan, rank, chance);
	}
	for (unsigned rank = 0; rank < plan->rank_count; rank++)
		act(plan, rank, ALL_END, plan->step_count, 0);
}

/* When a plan's actions are done and its collectives are; found by doing all again until nothing
 * changes. */
struct outcome {
	int64_t done_ns[MOST_RANKS][MOST_ACTIONS]; /* on a clock that all share */
	int64_t ready_ns[MOST_RANKS][MOST_COLLECTIVES];
	int64_t start_ns[MOST_RANKS][MOST_COLLECTIVES];
	int64_t end_ns[MOST_COLLECTIVES];
};

/* How a plan is carried out: work of each line of each rank, and transfers, times a factor. */
struct pace {
	double lines[MOST_RANKS * LINES];
	double transfer;
};

/* What was issued in the step that ends, and in those before, must be through. */
static int64_t last_of_steps(const struct plan *plan, const struct outcome *outcome, unsigned rank,
			     unsigned step)
{
	int64_t last_ns = 0;

	for (unsigned i = 0; i < plan->collective_count; i++)
		if (plan->collectives[i].is_member[rank] && plan->step_of[i] < step &&
		    !plan->collectives[i].is_waited_for && outcome->end_ns[i] > last_ns)
			last_ns = outcome->end_ns[i];
	return last_ns;
}

static void carry_out_rank(const struct plan *plan, const struct pace *pace, unsigned rank,
			   struct outcome *outcome)
{
	int64_t now_ns = 0;

	for (unsigned i = 0; i < plan->action_count[rank]; i++) {
		const struct action *action = &plan->actions[rank][i];
		double factor = pace->lines[rank * LINES + action->what % LINES];
		int64_t until_ns = now_ns;

		if (action->deed == WORK)
			now_ns += (int64_t)((double)action->ns * factor);
		else if (action->deed == ISSUE)
			outcome->ready_ns[rank][action->what] = now_ns;
		else if (action->deed == WAIT)
			until_ns = outcome->end_ns[action->what];
		else
			until_ns = last_of_steps(plan, outcome, rank, action->what);
		if (until_ns > now_ns)
			now_ns = until_ns;
		outcome->done_ns[rank][i] = now_ns;
	}
}

/* When the stream that a collective runs on is free on a rank; 0: it always was. */
static int64_t stream_free_ns(const struct plan *plan, const struct outcome *outcome, unsigned rank,
			      unsigned number)
{
	int64_t free_ns = 0;

	for (unsigned i = 0; i < number; i++)
		if (plan->collectives[i].is_member[rank] &&
		    plan->collectives[i].stream == plan->collectives[number].stream &&
		    outcome->end_ns[i] > free_ns)
			free_ns = outcome->end_ns[i];
	return free_ns;
}

static int64_t free_to_begin_ns(const struct plan *plan, const struct outcome *outcome,
				unsigned rank, unsigned number)
{
	unsigned awaited = plan->collectives[number].awaited[rank];
	int64_t free_ns = stream_free_ns(plan, outcome, rank, number);

	if (outcome->ready_ns[rank][number] > free_ns)
		free_ns = outcome->ready_ns[rank][number];
	if (awaited != number && outcome->end_ns[awaited] > free_ns)
		free_ns = outcome->end_ns[awaited];
	return free_ns;
}

static void carry_out_collective(const struct plan *plan, const struct pace *pace, unsigned number,
				 struct outcome *outcome)
{
	const struct collective_plan *collective = &plan->collectives[number];
	int64_t last_ns = 0;

	for (unsigned rank = 0; rank < plan->rank_count; rank++) {
		if (!collective->is_member[rank])
			continue;
		outcome->start_ns[rank][number] =
			free_to_begin_ns(plan, outcome, rank, number) + collective->lag_ns[rank];
		if (outcome->start_ns[rank][number] > last_ns)
			last_ns = outcome->start_ns[rank][number];
	}
	outcome->end_ns[number] =
		last_ns + (int64_t)((double)collective->transfer_ns * pace->transfer);
}

static void carry_out(const struct plan *plan, const struct pace *pace, struct outcome *outcome)
{
	struct outcome before;

	*outcome = (struct outcome){ 0 };
	do {
		before = *outcome;
		for (unsigned rank = 0; rank < plan->rank_count; rank++)
			carry_out_rank(plan, pace, rank, outcome);
		for (unsigned i = 0; i < plan->collective_count; i++)
			carry_out_collective(plan, pace, i, outcome);
	} while (memcmp(&before, outcome, sizeof(before)) != 0);
}

/* Does it look as if a collective had awaited the other one, which is not of its stream? */
static bool seems_awaited(const struct plan *plan, const struct outcome *outcome, unsigned rank,
			  unsigned number, unsigned other)
{
	int64_t start_ns = outcome->start_ns[rank][number], end_ns = outcome->end_ns[other];

	return plan->collectives[other].is_member[rank] &&
	       plan->collectives[other].stream != plan->collectives[number].stream &&
	       end_ns > outcome->ready_ns[rank][number] && end_ns <= start_ns &&
	       end_ns >= start_ns - MAX_DELAY;
}

static bool has_previous(const struct plan *plan, unsigned rank, unsigned number)
{
	for (unsigned i = 0; i < number; i++)
		if (plan->collectives[i].is_member[rank] &&
		    plan->collectives[i].stream == plan->collectives[number].stream)
			return true;
	return false;
}

/*
 * What was awaited is only known where it shows, and what looks like it may be chance: makes the
 * plan what is to be seen of it, which gives the same outcome.
 */
static void forget_unseen(struct plan *plan, const struct outcome *outcome, unsigned rank,
			  unsigned number)
{
	struct collective_plan *collective = &plan->collectives[number];
	int64_t start_ns = outcome->start_ns[rank][number];
	bool is_explained = has_previous(plan, rank, number) &&
			    stream_free_ns(plan, outcome, rank, number) >= start_ns - MAX_DELAY;
	unsigned awaited = number;

	for (unsigned i = 0; i < number && !is_explained; i++)
		if (seems_awaited(plan, outcome, rank, number, i) &&
		    (awaited == number || outcome->end_ns[i] >= outcome->end_ns[awaited]))
			awaited = i;
	collective->awaited[rank] = awaited;
	collective->lag_ns[rank] = start_ns - free_to_begin_ns(plan, outcome, rank, number);
}

static void forget_all_unseen(struct plan *plan, const struct outcome *outcome)
{
	for (unsigned rank = 0; rank < plan->rank_count; rank++)
		for (unsigned i = 0; i < plan->collective_count; i++)
			if (plan->collectives[i].is_member[rank])
				forget_unseen(plan, outcome, rank, i);
}

/* A world as its traces would tell it, each rank on a clock of its own. */
struct made_world {
	struct world world;
	struct rank_log logs[MOST_RANKS];
	struct rank_point points[MOST_RANKS][MOST_ACTIONS];
	/* By point; NO_ROW of one of several that a step waited for. */
	uint32_t action_of[MOST_RANKS][MOST_ACTIONS];
	struct rank_op ops[MOST_RANKS][MOST_COLLECTIVES];
	struct rank_log_step steps[MOST_RANKS][MOST_STEPS];
	struct match matches[MOST_COLLECTIVES];
	struct match_member members[MOST_COLLECTIVES * MOST_RANKS];
	uint32_t match_of_op[MOST_RANKS][MOST_COLLECTIVES];
	uint32_t *match_rows[MOST_RANKS];
	struct process_group group;
};

static void add_op(struct made_world *made, const struct outcome *outcome, unsigned rank,
		   unsigned number, const struct collective_plan *collective, int64_t clock_ns)
{
	struct rank_log *log = &made->logs[rank];
	struct match *match = &made->matches[number];

	made->match_of_op[rank][log->op_count] = number;
	made->members[made->world.member_count++] =
		(struct match_member){ rank, (uint32_t)log->op_count, 0 };
	match->member_count++;
	log->ops[log->op_count++] = (struct rank_op){
		.start_ns = outcome->start_ns[rank][number] + clock_ns,
		.dur_ns = outcome->end_ns[number] - outcome->start_ns[rank][number],
		.ready_ns = outcome->ready_ns[rank][number] + clock_ns,
		.stream = collective->stream,
		.kind = COLLECTIVE_ALL_REDUCE,
	};
}

static uint32_t op_number(const struct made_world *made, unsigned rank, unsigned collective)
{
	for (uint32_t i = 0; i < made->logs[rank].op_count; i++)
		if (made->match_of_op[rank][i] == collective)
			return i;
	fail();
	return NO_ROW;
}

static void add_made_point(struct made_world *made, unsigned rank, uint32_t action,
			   struct rank_point *point, enum rank_point_kind kind, uint32_t index)
{
	struct rank_log *log = &made->logs[rank];

	point->kind = (uint8_t)kind;
	point->index = index;
	made->action_of[rank][log->point_count] = action;
	log->points[log->point_count++] = *point;
	*point = (struct rank_point){ 0 };
}

/* The collective that a step waited for: one that nobody waits for before, and that ended then. */
static unsigned last_collective(const struct plan *plan, const struct outcome *outcome,
				unsigned rank, int64_t end_ns)
{
	for (unsigned i = 0; i < plan->collective_count; i++)
		if (plan->collectives[i].is_member[rank] && outcome->end_ns[i] == end_ns &&
		    !plan->collectives[i].is_waited_for)
			return i;
	fail();
	return 0;
}

static void add_points(struct made_world *made, const struct plan *plan,
		       const struct outcome *outcome, unsigned rank, int64_t clock_ns)
{
	static const enum rank_point_kind kinds[] = {
		[ISSUE] = RANK_POINT_READY,
		[WAIT] = RANK_POINT_RESUME,
		[STEP_BEGIN] = RANK_POINT_STEP,
		[ALL_END] = RANK_POINT_END,
	};
	struct rank_point point = { 0 };

	for (unsigned i = 0; i < plan->action_count[rank]; i++) {
		const struct action *action = &plan->actions[rank][i];
		int64_t before_ns = i > 0 ? outcome->done_ns[rank][i - 1] : 0;
		uint32_t index = action->what;

		if (action->deed == WORK) {
			point.line_ns[action->what] += action->ns;
			continue;
		}
		if (action->deed == ISSUE || action->deed == WAIT)
			index = op_number(made, rank, action->what);
		else if (action->deed == ALL_END)
			index--;
		point.time_ns = outcome->done_ns[rank][i] + clock_ns;
		point.stall_ns = outcome->done_ns[rank][i] - before_ns;
		if (action->deed != WAIT && point.stall_ns > 0) {
			unsigned last =
				last_collective(plan, outcome, rank, outcome->done_ns[rank][i]);

			add_made_point(made, rank, NO_ROW, &point, RANK_POINT_RESUME,
				       op_number(made, rank, last));
			point.time_ns = outcome->done_ns[rank][i] + clock_ns;
		}
		add_made_point(made, rank, i, &point, kinds[action->deed], index);
	}
}

static void add_rank(struct made_world *made, const struct plan *plan, unsigned rank)
{
	struct rank_log *log = &made->logs[rank];

	log->rank = rank;
	log->ops = made->ops[rank];
	log->points = made->points[rank];
	log->steps = made->steps[rank];
	log->step_count = plan->step_count;
	for (unsigned i = 0; i < plan->step_count; i++)
		log->steps[i] = (struct rank_log_step){ .number = 10 + i };
	made->match_rows[rank] = made->match_of_op[rank];
}

static void make_world(struct made_world *made, const struct plan *plan,
		       const struct outcome *outcome, uint64_t *chance)
{
	int64_t clocks_ns[MOST_RANKS];

	*made = (struct made_world){ .group = { .size = 1, .rank_count = 1 } };
	made->world = (struct world){
		.logs = made->logs,
		.rank_count = plan->rank_count,
		.groups = &made->group,
		.group_count = 1,
		.matches = made->matches,
		.match_count = plan->collective_count,
		.members = made->members,
		.match_of_op = made->match_rows,
	};
	for (unsigned rank = 0; rank < plan->rank_count; rank++) {
		clocks_ns[rank] = (int64_t)below(chance, 2000000) - 1000000;
		add_rank(made, plan, rank);
	}
	for (unsigned i = 0; i < plan->collective_count; i++) {
		made->matches[i] = (struct match){
			.first_member = (uint32_t)made->world.member_count,
			.transfer_ns = plan->collectives[i].transfer_ns,
			.kind = COLLECTIVE_ALL_REDUCE,
			.is_synchronising = true,
		};
		for (unsigned rank = 0; rank < plan->rank_count; rank++)
			if (plan->collectives[i].is_member[rank])
				add_op(made, outcome, rank, i, &plan->collectives[i],
				       clocks_ns[rank]);
	}
	for (unsigned rank = 0; rank < plan->rank_count; rank++)
		add_points(made, plan, outcome, rank, clocks_ns[rank]);
}

static void check_outcome(const struct made_world *made, const struct plan *plan,
			  const struct replay_graph *graph, const struct pace *pace,
			  struct outcome *outcome)
{
	const struct replay_change change = {
		.line_scale = pace->lines,
		.transfer_scale = pace->transfer,
	};
	struct replay replay;

	carry_out(plan, pace, outcome);
	tsi_replay(&replay, graph, &change);
	assert_false(replay.arena.has_failed);
	assert_int_equal(replay.unordered_count, 0);
	for (unsigned rank = 0; rank < plan->rank_count; rank++)
		for (size_t i = 0; i < made->logs[rank].point_count; i++)
			if (made->action_of[rank][i] != NO_ROW)
				assert_int_equal(
					replay.points[graph->ranks[rank].first_point + i].time_ns,
					outcome->done_ns[rank][made->action_of[rank][i]]);
	tsi_replay_deinit(&replay);
}

static struct pace even_pace(void)
{
	struct pace pace = { .transfer = 1 };

	for (unsigned i = 0; i < MOST_RANKS * LINES; i++)
		pace.lines[i] = 1;
	return pace;
}

static void check_random_world(uint64_t *chance)
{
	struct plan *plan = malloc(sizeof(*plan));
	struct outcome *outcome = malloc(sizeof(*outcome)), *other = malloc(sizeof(*other));
	struct made_world *made = malloc(sizeof(*made));
	struct pace pace = even_pace();
	struct replay_graph *graph;
	struct replay replay;

	assert_true(plan && outcome && other && made);
	make_plan(plan, chance);
	carry_out(plan, &pace, outcome);
	forget_all_unseen(plan, outcome);
	make_world(made, plan, outcome, chance);
	assert_int_equal(tsi_replay_graph_new(&graph, &made->world, NULL), TSCOPE_OK);
	assert_int_equal(graph->step_count, plan->step_count);
	check_outcome(made, plan, graph, &pace, other);
	tsi_replay(&replay, graph, NULL);
	assert_false(replay.arena.has_failed);
	assert_int_equal(replay.step_ns, replay.measured_ns);
	tsi_replay_deinit(&replay);
	for (unsigned i = 0; i < 4; i++) {
		pace = even_pace();
		pace.transfer = i == 3 ? 0 : 1;
		for (unsigned line = 0; i < 3 && line < LINES; line++)
			pace.lines[below(chance, plan->rank_count) * LINES + line] =
				0.25 * below(chance, 12);
		check_outcome(made, plan, graph, &pace, other);
	}
	tsi_replay_graph_free(graph);
	free(plan);
	free(outcome);
	free(other);
	free(made);
}

TEST(test_random_worlds)
{
	uint64_t chance = 42;

	for (int i = 0; i < 500; i++)
		check_random_world(&chance);
}

static int64_t absurd_number(uint64_t *chance)
{
	static const int64_t numbers[] = { 0, 1, -1, 1000, INT64_MAX, INT64_MIN, INT64_MAX / 2 };

	return numbers[below(chance, TSI_COUNT_OF(numbers))];
}

/* Puts numbers that no trace has into a world, and lets points be of any kind and order. */
static void spoil(struct made_world *made, uint64_t *chance)
{
	for (size_t rank = 0; rank < made->world.rank_count; rank++) {
		struct rank_log *log = &made->logs[rank];

		for (size_t i = 0; i < log->point_count; i++) {
			struct rank_point *point = &log->points[i];
			bool is_of_op = below(chance, 2) > 0 && log->op_count > 0;

			point->time_ns = absurd_number(chance);
			point->line_ns[below(chance, LINES)] = absurd_number(chance) & INT64_MAX;
			if (below(chance, 3) > 0)
				continue;
			if (is_of_op)
				point->kind =
					below(chance, 2) ? RANK_POINT_READY : RANK_POINT_RESUME;
			else
				point->kind = below(chance, 2) ? RANK_POINT_STEP : RANK_POINT_END;
			point->index = below(
				chance, (unsigned)(is_of_op ? log->op_count : log->step_count));
		}
		for (size_t i = 0; i < log->op_count; i++) {
			log->ops[i].start_ns = absurd_number(chance);
			log->ops[i].dur_ns = absurd_number(chance);
			log->ops[i].ready_ns = absurd_number(chance);
		}
	}
	for (size_t i = 0; i < made->world.match_count; i++) {
		made->matches[i].transfer_ns = absurd_number(chance);
		made->matches[i].is_synchronising = below(chance, 2) > 0;
	}
}

/* Nothing is expected but that it ends: the sanitizers look for the rest. */
TEST(test_absurd_numbers)
{
	const struct replay_change changes[] = {
		{ .transfer_scale = 1 },
		{ .transfer_scale = 0 },
		{ .transfer_scale = 1, .is_overlap_ideal = true },
	};
	static struct plan plan;
	static struct outcome outcome;
	static struct made_world made;
	struct rank_clock clocks[MOST_RANKS] = { { 0 } };
	struct pace pace = even_pace();
	uint64_t chance = 99;

	for (int round = 0; round < 1000; round++) {
		struct replay_graph *graph;

		make_plan(&plan, &chance);
		carry_out(&plan, &pace, &outcome);
		make_world(&made, &plan, &outcome, &chance);
		spoil(&made, &chance);
		for (unsigned rank = 0; rank < MOST_RANKS; rank++)
			clocks[rank] = (struct rank_clock){ .is_known = true,
							    .offset_ns = absurd_number(&chance) };
		made.world.clocks = round % 2 ? clocks : NULL;
		assert_int_equal(tsi_replay_graph_new(&graph, &made.world, NULL), TSCOPE_OK);
		for (size_t i = 0; i < TSI_COUNT_OF(changes); i++) {
			struct replay replay;

			tsi_replay(&replay, graph, &changes[i]);
			assert_false(replay.arena.has_failed);
			tsi_replay_deinit(&replay);
		}
		tsi_replay_graph_free(graph);
	}
}

TEST(test_no_memory)
{
	uint64_t chance = 7;
	struct plan *plan = malloc(sizeof(*plan));
	struct outcome *outcome = malloc(sizeof(*outcome));
	struct made_world *made = malloc(sizeof(*made));
	struct pace pace = even_pace();

	assert_true(plan && outcome && made);
	make_plan(plan, &chance);
	carry_out(plan, &pace, outcome);
	make_world(made, plan, outcome, &chance);
	struct alloc_sweep sweep = { .at_least = 4 };
	while (alloc_sweep_next(&sweep)) {
		struct replay_graph *graph = NULL;
		struct replay replay = { 0 };

		alloc_sweep_start(&sweep);
		enum tscope_status status = tsi_replay_graph_new(&graph, &made->world, &sweep.err);
		if (status == TSCOPE_OK) {
			tsi_replay(&replay, graph, NULL);
			status = tsi_arena_status(&replay.arena, &sweep.err);
		}
		alloc_sweep_check(&sweep, status);
		tsi_replay_deinit(&replay);
		tsi_replay_graph_free(graph);
	}
	free(plan);
	free(outcome);
	free(made);
}
