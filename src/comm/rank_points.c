/* SPDX-License-Identifier: MIT */
/*
 * Walks along a rank's steps and cuts its time where the outside world touches it: at begins of
 * steps, where an op has what it needs, and where local work goes on that had waited for one.
 *
 *	pieces   | compute | exposed_comm | compute | exposed_comm |      compute       |
 *	ops          |======== A =========|         |===== B ===========|
 *	points   S    R(A)                M(A)  R(B)                               END
 *	local    compute, then nothing, compute, launch_stall (a kernel began while B ran), compute
 */
#include "comm/rank_log.h"

#include "base/bisect.h"
#include "base/sum.h"
#include "comm/latch.h"
#include "timeline/pieces.h"

enum {
	/* Times are written in whole µs at worst: an op that ends so much later has ended. */
	END_TOLERANCE_NS = 1000,
	/* So much later, at most, a kernel begins that waits on another stream for an op to end. */
	WAKE_UP_NS = 10000,
	/* An end that is written late comes after so small a part of the wait, at most. */
	MIN_OPEN_BY_LATE = 4,
};

/* Something that happens at a time: a point but a RESUME, which follows from the walk. */
struct mark {
	enum rank_point_kind kind;
	uint32_t index;
};

/*
 * A stretch of the rank's time: it works for a line or, where op is said, waits for the op. In
 * exposed communication without an op it stands still, too: for what is not known.
 */
struct stretch {
	int64_t start_ns, end_ns;
	unsigned line;
	uint32_t op; /* or NO_ROW */
};

struct point_walk {
	struct rank_log *log;
	struct arena arena;
	struct sort_pair *marks, *ends; /* by time; ops that take time by their end */
	size_t mark_count, mark_at;
	int64_t mark_ns;          /* of the next mark; INT64_MAX: there is none, or it is then */
	size_t end_count, end_at; /* ends before it are not after the end of the stretch */
	size_t op_at;             /* ops before it began before the end of the stretch */
	int64_t longest_end_ns;   /* of these */
	size_t step_at;           /* steps before it ended before the end of the stretch */
	bool is_in_step;
	int64_t time_ns;         /* where the walk is */
	struct rank_point since; /* what has gone since the last point; stall of the last RESUME */
};

static uint64_t pack(struct mark mark)
{
	return (uint64_t)mark.kind << 32 | mark.index;
}

static struct mark unpack(uint64_t value)
{
	return (struct mark){ (enum rank_point_kind)(value >> 32), (uint32_t)value };
}

static int64_t later(int64_t time_ns, int64_t by_ns)
{
	tsi_sum_signed(&time_ns, by_ns);
	return time_ns;
}

static int64_t end_of_step(const struct rank_log_step *step)
{
	return later(step->start_ns, step->wall_ns);
}

/* Does no other step begin where this one ends? */
static bool is_last_of_window(const struct rank_log *log, size_t step)
{
	return step + 1 == log->step_count ||
	       log->steps[step + 1].start_ns != end_of_step(&log->steps[step]);
}

/* Is the time in a step? O(log steps). */
static bool is_in_any_step(const struct rank_log *log, int64_t time_ns)
{
	size_t first = 0, end = log->step_count;

	TSI_BISECT(first, end, log->steps[middle].start_ns <= time_ns);
	return first > 0 && time_ns < end_of_step(&log->steps[first - 1]);
}

static void add_mark(struct point_walk *walk, int64_t time_ns, struct mark mark)
{
	walk->marks[walk->mark_count++] =
		(struct sort_pair){ tsi_sort_key_of_int64(time_ns), pack(mark) };
}

/* At equal times the end of a window comes first and ops come last: the order of adding. */
static void add_marks(struct point_walk *walk)
{
	const struct rank_log *log = walk->log;

	for (size_t i = 0; i < log->step_count; i++) {
		add_mark(walk, log->steps[i].start_ns,
			 (struct mark){ RANK_POINT_STEP, (uint32_t)i });
		if (is_last_of_window(log, i))
			add_mark(walk, end_of_step(&log->steps[i]),
				 (struct mark){ RANK_POINT_END, (uint32_t)i });
	}
	for (size_t i = 0; i < log->op_count; i++)
		if (is_in_any_step(log, log->ops[i].ready_ns))
			add_mark(walk, log->ops[i].ready_ns,
				 (struct mark){ RANK_POINT_READY, (uint32_t)i });
}

static void add_ends(struct point_walk *walk)
{
	const struct rank_log *log = walk->log;

	for (size_t i = 0; i < log->op_count; i++)
		if (log->ops[i].dur_ns > 0)
			walk->ends[walk->end_count++] =
				(struct sort_pair){ tsi_sort_key_of_int64(tsi_op_end(&log->ops[i])),
						    i };
}

static void find_next_mark(struct point_walk *walk)
{
	walk->mark_ns = walk->mark_at < walk->mark_count
				? tsi_int64_of_sort_key(walk->marks[walk->mark_at].key)
				: INT64_MAX;
}

static void walk_init(struct point_walk *walk)
{
	size_t op_count = walk->log->op_count, most = op_count + 2 * walk->log->step_count;

	walk->marks = tsi_arena_new(&walk->arena, most, sizeof(*walk->marks));
	walk->ends = tsi_arena_new(&walk->arena, op_count, sizeof(*walk->ends));
	if (!walk->ends)
		return;
	add_marks(walk);
	tsi_latch_sort(&walk->arena, walk->marks, walk->mark_count);
	find_next_mark(walk);
	add_ends(walk);
	tsi_latch_sort(&walk->arena, walk->ends, walk->end_count);
}

/* ---- points ---- */

static void add_point(struct point_walk *walk, int64_t time_ns, struct mark mark)
{
	struct rank_log *log = walk->log;
	struct rank_point point = walk->since;

	struct rank_point *added =
		tsi_arena_push(&log->point_memory, &log->points, &log->point_count,
			       &log->point_capacity, sizeof(*added));

	if (!added)
		return;
	point.time_ns = time_ns;
	point.kind = (uint8_t)mark.kind;
	point.index = mark.index;
	if (mark.kind != RANK_POINT_RESUME)
		point.stall_ns = 0;
	*added = point;
	/* A stall goes on over points of other kinds. */
	walk->since = (struct rank_point){ .stall_ns = mark.kind == RANK_POINT_RESUME
							       ? 0
							       : walk->since.stall_ns };
}

static void spend(struct point_walk *walk, const struct stretch *stretch, int64_t until_ns)
{
	struct rank_log *log = walk->log;

	if (until_ns <= walk->time_ns)
		return;
	if (walk->is_in_step)
		tsi_sum(stretch->op == NO_ROW ? &walk->since.line_ns[stretch->line]
					      : &walk->since.stall_ns,
			tsi_difference(walk->time_ns, until_ns));
	if (walk->is_in_step && stretch->line == TSCOPE_BUDGET_EXPOSED_COMM)
		tsi_intervals_append(&log->still, walk->time_ns, until_ns, &log->still_memory);
	walk->time_ns = until_ns;
}

/* Makes points of the marks that are not after the time. */
static void pass_marks(struct point_walk *walk, const struct stretch *stretch, int64_t until_ns)
{
	while (walk->mark_at < walk->mark_count && walk->mark_ns <= until_ns) {
		struct mark mark = unpack(walk->marks[walk->mark_at++].value);

		spend(walk, stretch, walk->mark_ns);
		add_point(walk, walk->mark_ns, mark);
		if (mark.kind != RANK_POINT_READY)
			walk->is_in_step = mark.kind == RANK_POINT_STEP;
		find_next_mark(walk);
	}
}

/* A point at the very end of a stretch belongs behind its RESUME, so to the next stretch. */
static inline void pass(struct point_walk *walk, const struct stretch *stretch)
{
	if (stretch->start_ns >= stretch->end_ns)
		return;
	if (stretch->start_ns > walk->time_ns)
		walk->time_ns = stretch->start_ns;
	if (walk->mark_ns < stretch->end_ns)
		pass_marks(walk, stretch, stretch->end_ns - 1);
	spend(walk, stretch, stretch->end_ns);
	if (walk->since.stall_ns == 0 || stretch->op == NO_ROW)
		return;
	add_point(walk, stretch->end_ns, (struct mark){ RANK_POINT_RESUME, stretch->op });
}

/* ---- what exposed communication waited for ---- */

static bool ends_window(struct point_walk *walk, int64_t time_ns)
{
	const struct rank_log *log = walk->log;

	while (walk->step_at < log->step_count && end_of_step(&log->steps[walk->step_at]) < time_ns)
		walk->step_at++;
	return walk->step_at < log->step_count &&
	       end_of_step(&log->steps[walk->step_at]) == time_ns &&
	       is_last_of_window(log, walk->step_at);
}

/* Moves on to the end of a stretch. Does an op that began before it go on after it? */
static bool move_to_end(struct point_walk *walk, int64_t end_ns)
{
	const struct rank_log *log = walk->log;
	int64_t latest_ns = later(end_ns, END_TOLERANCE_NS);
	uint64_t latest = tsi_sort_key_of_int64(latest_ns);

	for (; walk->op_at < log->op_count && log->ops[walk->op_at].start_ns < end_ns;
	     walk->op_at++)
		if (tsi_op_end(&log->ops[walk->op_at]) > walk->longest_end_ns)
			walk->longest_end_ns = tsi_op_end(&log->ops[walk->op_at]);
	while (walk->end_at < walk->end_count && walk->ends[walk->end_at].key <= latest)
		walk->end_at++;
	return walk->longest_end_ns > latest_ns;
}

/* The op that ended last before the end, or NO_ROW. Some within the tolerance began later. */
static uint32_t last_ended(const struct point_walk *walk, int64_t end_ns)
{
	for (size_t i = walk->end_at; i-- > 0;) {
		const struct rank_op *op = &walk->log->ops[walk->ends[i].value];
		if (op->start_ns < end_ns)
			return (uint32_t)walk->ends[i].value;
	}
	return NO_ROW;
}

/*
 * Among ops that go on after a stretch the first to end, or NO_ROW if each goes on for too long to
 * have been waited for. An end is checked for few stretches: those must get ever longer.
 */
static uint32_t first_to_end(const struct point_walk *walk, const struct stretch *exposed)
{
	int64_t length_ns = tsi_difference(exposed->start_ns, exposed->end_ns);
	int64_t latest_ns = later(exposed->end_ns, length_ns / MIN_OPEN_BY_LATE);

	for (size_t i = walk->end_at; i < walk->end_count; i++) {
		const struct rank_op *op = &walk->log->ops[walk->ends[i].value];
		if (tsi_op_end(op) > latest_ns)
			break;
		if (op->start_ns < exposed->end_ns)
			return (uint32_t)walk->ends[i].value;
	}
	return NO_ROW;
}

/*
 * A thread that did the work of an op wakes up the main thread first and writes the end of the op
 * later, whenever it runs again. So an op that was open for most of the time that the main thread
 * did nothing, and went on for little after that, is what it waited for.
 */
static bool is_end_late(const struct rank_op *op, int64_t from_ns, int64_t until_ns)
{
	int64_t open_from_ns = op->start_ns > from_ns ? op->start_ns : from_ns;
	int64_t open_ns = tsi_difference(open_from_ns, until_ns);

	return open_ns >= tsi_difference(from_ns, until_ns) / 2 &&
	       open_ns / MIN_OPEN_BY_LATE >= tsi_difference(until_ns, tsi_op_end(op));
}

/* Up to the end of an op the rank stands still. */
static void stand_until_end(struct stretch *stall, const struct rank_log *log, uint32_t op,
			    int64_t latest_ns)
{
	int64_t end_ns = tsi_op_end(&log->ops[op]);

	stall->end_ns = end_ns < latest_ns ? end_ns : latest_ns;
	stall->op = op;
}

/*
 * The part of exposed communication in which the rank stood still for an op: up to its end. Where
 * no op goes on, nothing else can have been waited for. A host that waits for one op while others
 * run may be late to go on: its threads have to be woken up.
 */
static struct stretch stall_of(struct point_walk *walk, const struct stretch *exposed, bool goes_on)
{
	const struct rank_log *log = walk->log;
	struct stretch stall = { exposed->start_ns, exposed->start_ns, exposed->line, NO_ROW };
	uint32_t ended = last_ended(walk, exposed->end_ns), open = NO_ROW;
	int64_t wake_up_ns = log->is_host ? INT64_MAX : WAKE_UP_NS;

	if (ended != NO_ROW && tsi_op_end(&log->ops[ended]) > exposed->start_ns &&
	    (!goes_on ||
	     tsi_difference(tsi_op_end(&log->ops[ended]), exposed->end_ns) <= wake_up_ns))
		stand_until_end(&stall, log, ended, exposed->end_ns);
	if (goes_on && log->is_host)
		open = first_to_end(walk, exposed);
	if (open != NO_ROW && is_end_late(&log->ops[open], stall.end_ns, exposed->end_ns))
		stand_until_end(&stall, log, open, exposed->end_ns);
	return stall;
}

static void pass_exposed(struct point_walk *walk, const struct stretch *exposed)
{
	bool goes_on = move_to_end(walk, exposed->end_ns);
	struct stretch stall = stall_of(walk, exposed, goes_on);
	struct stretch rest = { stall.end_ns, exposed->end_ns, TSCOPE_BUDGET_LAUNCH_STALL, NO_ROW };

	if (goes_on ? ends_window(walk, exposed->end_ns) : !walk->log->is_host)
		rest.line = TSCOPE_BUDGET_EXPOSED_COMM;
	pass(walk, &stall);
	pass(walk, &rest);
}

/* Most pieces of work lie behind one another, with no point in them: theirs is a sum. */
static inline bool pass_work(struct point_walk *walk, const struct line_piece *piece)
{
	if (!walk->is_in_step || piece->line == TSCOPE_BUDGET_EXPOSED_COMM ||
	    piece->start_ns != walk->time_ns || piece->end_ns > walk->mark_ns)
		return false;
	tsi_sum(&walk->since.line_ns[piece->line], piece->end_ns - piece->start_ns);
	walk->time_ns = piece->end_ns;
	return true;
}

/*
 * The stretch from *piece on: exposed communication is joined. Moves on to the piece behind it;
 * returns whether there is one.
 */
static bool take_stretch(struct piece_cursor *pieces, struct line_piece *piece,
			 struct stretch *stretch)
{
	bool is_more;

	*stretch = (struct stretch){ piece->start_ns, piece->end_ns, piece->line, NO_ROW };
	while ((is_more = tsi_piece_next(pieces, piece)) &&
	       stretch->line == TSCOPE_BUDGET_EXPOSED_COMM && piece->line == stretch->line &&
	       piece->start_ns == stretch->end_ns)
		stretch->end_ns = piece->end_ns;
	return is_more;
}

void tsi_rank_log_find_points(struct rank_log *log, const struct line_pieces *pieces)
{
	struct point_walk walk = { .log = log, .time_ns = INT64_MIN, .longest_end_ns = INT64_MIN };
	const struct stretch after = { INT64_MAX, INT64_MAX, TSCOPE_BUDGET_UNATTRIBUTED, NO_ROW };

	struct piece_cursor cursor = tsi_piece_cursor(pieces);
	struct line_piece piece;
	struct stretch stretch;

	walk_init(&walk);
	bool is_more = tsi_piece_next(&cursor, &piece);
	while (is_more && !walk.arena.has_failed) {
		if (pass_work(&walk, &piece)) {
			is_more = tsi_piece_next(&cursor, &piece);
			continue;
		}
		is_more = take_stretch(&cursor, &piece, &stretch);
		if (stretch.line == TSCOPE_BUDGET_EXPOSED_COMM)
			pass_exposed(&walk, &stretch);
		else
			pass(&walk, &stretch);
	}
	if (!walk.arena.has_failed)
		pass_marks(&walk, &after, INT64_MAX);
	log->arena.has_failed |= log->still_memory.has_failed | log->point_memory.has_failed;
	tsi_latch_deinit(&log->arena, &walk.arena);
}
