/* SPDX-License-Identifier: MIT */
/*
 * Flattens the threads that launch. One pass over the rows of a thread with a stack of what is
 * open: time belongs to the top of the stack. A frame that says why its thread is late says so for
 * all that it encloses, so nothing inside is looked at; neither is what no device waited for.
 *
 * Some causes are known only at the end: whether an operator of 1 ms or more calls the runtime,
 * and whether it is cold, that is, slow because it runs for the first time. Such operators are few
 * and have a list; pieces refer to it until they are settled.
 */
#include "timeline/host_state.h"

#include "base/sort.h"
#include "model/trace/device_rows.h"
#include "timeline/host_kinds.h"

enum {
	INIT_MIN_NS = 100000,    /* a query or allocation that takes longer is start-up */
	LONG_NS = 1000000,       /* no dispatch and no launch takes longer */
	FIRST_MIN_NS = 10000000, /* the first call of any name that takes longer is start-up */
	COLD_FACTOR = 10,        /* a cold operator takes this many times the usual */
	COLD_ONCE_NS = 5000000,  /* … or, run only once, this long */
	CROSSING_NS = 2000,      /* spans may end this much later than what encloses them */
	MAX_CROSSED = 64,        /* frames that are looked at for one that encloses a span */
};

struct open_frame {
	int64_t end_ns;
	uint32_t row;     /* that the cause is about, or NO_ROW */
	uint32_t op;      /* index in sweep.ops, of the innermost long operator; or NO_LONG_OP */
	uint8_t role;     /* enum host_role */
	uint8_t cause;    /* of its own time */
	bool is_flagged;  /* and of all that it encloses */
	bool is_autograd; /* a node of the backward pass */
	bool is_idle;     /* host_kinds.h */
	bool is_nested;   /* an operator or Python frame: what starts in it ends in it */
};

/* An operator of LONG_NS or more. */
struct long_op {
	uint32_t row, parent;             /* parent: index, less than its own; or NO_LONG_OP */
	uint32_t cold_row;                /* it or what encloses it is cold; or NO_ROW */
	bool calls, has_first, has_setup; /* it calls the runtime, for a first launch, slowly */
};

struct sweep {
	struct host_state *state;
	const struct spans *spans;
	struct host_thread *thread;
	struct open_frame *open;
	size_t depth, open_capacity;
	struct long_op *ops; /* of all threads */
	size_t op_count, op_capacity;
	size_t windows;          /* wanted that were looked at */
	struct interval window;  /* the last of them, which may end behind at_ns; or at INT64_MAX */
	int64_t at_ns;           /* pieces are complete up to here */
	int64_t autograd_end_ns; /* of the last node */
	uint32_t capture_end;    /* the row of a call that was looked for last */
	uint32_t step;           /* that was looked up last */
};

/* ---- pieces -------------------------------------------------------------------------- */

static inline void next_window(struct sweep *s)
{
	const struct interval_set *wanted = &s->state->wanted;

	s->window = s->windows < wanted->count ? wanted->items[s->windows++]
					       : (struct interval){ INT64_MAX, INT64_MAX };
}

/* Does a device wait for this thread in [start, end)? Starts only grow. */
static inline bool is_wanted(struct sweep *s, int64_t start_ns, int64_t end_ns)
{
	while (s->window.end_ns <= start_ns)
		next_window(s);
	return s->window.start_ns < end_ns;
}

static void add_piece(struct sweep *s, const struct host_piece *piece)
{
	struct host_thread *thread = s->thread;
	struct host_piece *last = thread->count ? &thread->pieces[thread->count - 1] : NULL;

	if (last && last->cause == piece->cause && last->row == piece->row && last->op == piece->op)
		return;
	struct host_piece *pieces =
		tsi_arena_reserve(s->state->arena, thread->pieces, &thread->capacity,
				  thread->count + 1, sizeof(*pieces));
	if (!pieces)
		return;
	thread->pieces = pieces;
	pieces[thread->count++] = *piece;
}

/* Time passes up to until_ns. */
static void pass(struct sweep *s, int64_t until_ns, struct host_piece piece)
{
	piece.start_ns = s->at_ns;
	if (until_ns <= s->at_ns)
		return;
	s->at_ns = until_ns;
	if (is_wanted(s, piece.start_ns, until_ns))
		add_piece(s, &piece);
}

/* Time passes up to until_ns and belongs to the frame. */
static void pass_in(struct sweep *s, int64_t until_ns, const struct open_frame *frame)
{
	struct host_piece piece = { .row = frame->row,
				    .op = frame->op & NO_LONG_OP,
				    .cause = frame->cause & ((1u << PIECE_CAUSE_BITS) - 1) };

	if (frame->role <= HOST_AUTOGRAD && !frame->is_flagged) {
		bool is_long = until_ns - s->at_ns >= LONG_NS;
		piece.cause = is_long ? IDLE_OP_STALL : IDLE_OP_OVERHEAD;
		piece.row = is_long ? frame->row : NO_ROW;
	}
	pass(s, until_ns, piece);
}

/* Time passes up to until_ns, where a row starts, and the thread is inside nothing. */
static void pass_outside(struct sweep *s, int64_t until_ns, uint8_t role)
{
	struct host_piece piece = { .row = NO_ROW, .op = NO_LONG_OP, .cause = IDLE_NONE };

	if (s->autograd_end_ns != INT64_MIN && role == HOST_AUTOGRAD &&
	    s->at_ns - s->autograd_end_ns < LONG_NS && until_ns - s->at_ns < LONG_NS &&
	    tsi_timeline_step_near(s->state->timeline, s->autograd_end_ns, &s->step) ==
		    tsi_timeline_step_near(s->state->timeline, until_ns, &s->step))
		piece.cause = IDLE_OP_OVERHEAD; /* the engine, between two nodes of a step */
	pass(s, until_ns, piece);
}

static void end_frames(struct sweep *s, int64_t t_ns)
{
	while (s->depth && s->open[s->depth - 1].end_ns <= t_ns) {
		const struct open_frame *frame = &s->open[--s->depth];
		pass_in(s, frame->end_ns, frame);
		if (frame->is_autograd)
			s->autograd_end_ns = frame->end_ns;
	}
}

/* ---- rows ---------------------------------------------------------------------------- */

/* The innermost frame that encloses a span, which need not be exact about its end; or NULL. */
static const struct open_frame *find_parent(const struct sweep *s, int64_t end_ns, int64_t dur_ns)
{
	int64_t slack_ns = dur_ns / 10 > CROSSING_NS ? dur_ns / 10 : CROSSING_NS;
	size_t last = s->depth > MAX_CROSSED ? s->depth - MAX_CROSSED : 0;

	for (size_t i = s->depth; i > last; i--)
		if (s->open[i - 1].end_ns >= end_ns - slack_ns)
			return &s->open[i - 1];
	return NULL;
}

/* A Python frame ends no later than what it was called in: PyTorch loses the return of some. */
static int64_t end_of_frame(const struct sweep *s, int64_t start_ns, int64_t end_ns)
{
	size_t last = s->depth > MAX_CROSSED ? s->depth - MAX_CROSSED : 0;

	for (size_t i = s->depth; i > last; i--)
		if (s->open[i - 1].is_nested && s->open[i - 1].end_ns > start_ns)
			return s->open[i - 1].end_ns < end_ns ? s->open[i - 1].end_ns : end_ns;
	return end_ns;
}

static bool is_slow_launch(const struct sweep *s, uint8_t role, uint32_t row, int64_t dur_ns)
{
	return dur_ns > LONG_NS && tsi_host_is_launch(role) && role != HOST_CALL_GRAPH &&
	       tsi_is_first_launch(s->state->uses, row);
}

/* The cause of the time that a call takes. */
static uint8_t cause_of_call(const struct sweep *s, uint8_t role, uint32_t row, int64_t dur_ns)
{
	if (role == HOST_CALL_SYNC)
		return IDLE_SYNC;
	if (role == HOST_CALL_COPY && dur_ns >= HOST_COPY_MIN_NS)
		return IDLE_BLOCKING_COPY;
	if (role == HOST_CALL_ALLOC)
		return IDLE_ALLOC;
	if (role == HOST_CALL_LOAD || (role == HOST_CALL_INIT && dur_ns >= INIT_MIN_NS))
		return IDLE_STARTUP;
	if (!tsi_host_is_launch(role))
		return dur_ns >= FIRST_MIN_NS && tsi_is_first_span(s->state->uses, row)
			       ? IDLE_STARTUP
			       : IDLE_OP_OVERHEAD;
	if (role == HOST_CALL_GRAPH || dur_ns <= LONG_NS)
		return IDLE_OP_OVERHEAD;
	return tsi_is_first_launch(s->state->uses, row) ? IDLE_STARTUP : IDLE_LAUNCH_STALL;
}

/* Notes in the operator around a call what it says of that. */
static void note_call(struct sweep *s, uint32_t op, uint8_t role, uint32_t row, int64_t dur_ns)
{
	struct long_op *around = &s->ops[op];

	around->calls = true;
	if (!around->has_first && tsi_host_is_launch(role))
		around->has_first = tsi_is_first_launch(s->state->uses, row);
	if (role == HOST_CALL_LOAD ||
	    (dur_ns >= INIT_MIN_NS && (role == HOST_CALL_ALLOC || role == HOST_CALL_INIT)) ||
	    is_slow_launch(s, role, row, dur_ns))
		around->has_setup = true;
}

/* The number of a long operator; that of what encloses it without memory, or of too many. */
static uint32_t add_long_op(struct sweep *s, uint32_t row, uint32_t parent)
{
	if (s->op_count == NO_LONG_OP)
		return parent;
	struct long_op *op = tsi_arena_push(s->state->arena, &s->ops, &s->op_count, &s->op_capacity,
					    sizeof(*op));
	if (!op)
		return parent;
	*op = (struct long_op){ .row = row, .parent = parent, .cold_row = NO_ROW };
	return (uint32_t)s->op_count - 1;
}

/* The end of the capture that a call begins; the call's own end if nothing ends it. */
static int64_t find_capture_end(struct sweep *s, uint32_t row, int64_t end_ns)
{
	const struct track *track = &s->state->marks->trace->tracks[s->thread->track];
	uint32_t at = s->capture_end > row ? s->capture_end : row + 1;

	while (at < track->first + track->count &&
	       s->state->kinds[s->spans->kind[at]].role != HOST_CALL_CAPTURE_END)
		at++;
	s->capture_end = at;
	return at < track->first + track->count ? tsi_span_end(s->state->marks->trace, at) : end_ns;
}

static void open_frame(struct sweep *s, const struct open_frame *frame)
{
	struct open_frame *open = tsi_arena_reserve(s->state->arena, s->open, &s->open_capacity,
						    s->depth + 1, sizeof(*open));

	if (!open)
		return;
	s->open = open;
	open[s->depth++] = *frame;
}

/* A row that a device waited for, or that says something about an operator that it waited for. */
static void take_row(struct sweep *s, uint32_t row, struct host_kind kind, int64_t end_ns)
{
	int64_t dur_ns = tsi_dur_ns(s->spans, row);
	bool is_python = tsi_span_class(s->spans, row) == TSCOPE_SPAN_PYTHON;

	if (is_python)
		end_ns = end_of_frame(s, tsi_start_ns(s->spans, row), end_ns);
	const struct open_frame *parent = find_parent(s, end_ns, dur_ns);
	struct open_frame frame = {
		.end_ns = end_ns,
		.row = row,
		.op = parent ? parent->op : NO_LONG_OP,
		.role = kind.role,
		.cause = kind.flag,
		.is_flagged = kind.flag != IDLE_NONE,
		.is_autograd = kind.role == HOST_AUTOGRAD,
		.is_nested = is_python || kind.role == HOST_OP,
		.is_idle = kind.is_idle,
	};

	if (kind.role <= HOST_AUTOGRAD && dur_ns >= LONG_NS)
		frame.op = add_long_op(s, row, frame.op);
	else if (tsi_host_is_call(kind.role) && frame.op != NO_LONG_OP)
		note_call(s, frame.op, kind.role, row, dur_ns);
	if (parent && parent->is_flagged) {
		frame.row = parent->row;
		frame.cause = parent->cause;
		frame.is_flagged = true;
	}
	if (kind.role == HOST_CALL_CAPTURE_BEGIN && !frame.is_flagged) {
		frame.end_ns = find_capture_end(s, row, end_ns);
		frame.cause = IDLE_COMPILE;
		frame.is_flagged = frame.end_ns > end_ns;
	}
	if (!frame.is_flagged && tsi_host_is_call(kind.role))
		frame.cause = cause_of_call(s, kind.role, row, dur_ns);
	else if (!frame.is_flagged)
		frame.cause = kind.role == HOST_WAIT       ? IDLE_NONE
			      : kind.role == HOST_DISPATCH ? IDLE_OP_OVERHEAD
							   : IDLE_PYTHON;
	if (frame.cause == IDLE_OP_OVERHEAD)
		frame.row = NO_ROW;
	else if (frame.is_idle && parent && parent->is_idle)
		frame.row = parent->row; /* queue.get() says more than the lock in it */
	open_frame(s, &frame);
}

/* The first row behind this one that starts at t or later. */
static uint32_t skip_until(const struct sweep *s, uint32_t row, uint32_t end, int64_t t_ns)
{
	return tsi_time_seek(&s->spans->starts, row + 1, end, t_ns);
}

/* Skips what lies in a short operator, which is on top, and says no more than that. */
static inline uint32_t skip_dull(const struct sweep *s, uint32_t row, uint32_t end)
{
	const struct host_kind *kinds = s->state->kinds;
	const struct open_frame *top = &s->open[s->depth - 1];

	if (top->op != NO_LONG_OP || top->role > HOST_AUTOGRAD || top->is_flagged)
		return row;
	while (row < end) {
		uint32_t limit_ns = kinds[s->spans->kind[row]].dull_below_ns;
		if (limit_ns < UINT32_MAX && tsi_dur_ns(s->spans, row) >= limit_ns)
			break;
		if (tsi_start_ns(s->spans, row) >= top->end_ns)
			break;
		row++;
	}
	return row;
}

/* No device waits while the thread is in this row. */
static inline uint32_t skip_unwanted(struct sweep *s, uint32_t row, uint32_t end, uint8_t role,
				     int64_t end_ns)
{
	if (s->at_ns < end_ns)
		s->at_ns = end_ns;
	if (role == HOST_AUTOGRAD)
		s->autograd_end_ns = end_ns;
	return skip_until(s, row, end, end_ns);
}

/* The next row to look at. */
static inline uint32_t step_on(struct sweep *s, uint32_t row, uint32_t end)
{
	struct host_kind kind = s->state->kinds[s->spans->kind[row]];

	if (kind.role == HOST_NOTHING)
		return row + 1;
	int64_t start_ns = tsi_start_ns(s->spans, row);
	int64_t end_ns = start_ns + tsi_dur_ns(s->spans, row);
	if (!s->depth && end_ns <= s->window.start_ns && kind.role != HOST_CALL_CAPTURE_BEGIN)
		return skip_unwanted(s, row, end, kind.role, end_ns);
	if (s->depth && s->open[s->depth - 1].end_ns <= start_ns)
		end_frames(s, start_ns);
	const struct open_frame *top = s->depth ? &s->open[s->depth - 1] : NULL;
	if (top)
		pass_in(s, start_ns, top);
	else
		pass_outside(s, start_ns, kind.role);
	bool is_needed = is_wanted(s, start_ns, end_ns) || kind.role == HOST_CALL_CAPTURE_BEGIN;
	if (is_needed || (top && top->op != NO_LONG_OP)) {
		if (top && top->is_flagged && top->op == NO_LONG_OP && end_ns <= top->end_ns)
			return skip_until(s, row, end, top->end_ns);
		take_row(s, row, kind, end_ns);
		return s->depth ? skip_dull(s, row + 1, end) : row + 1;
	}
	return skip_unwanted(s, row, end, kind.role, end_ns);
}

static void sweep_thread(struct sweep *s, struct host_thread *thread)
{
	const struct track *track = &s->state->marks->trace->tracks[thread->track];
	uint32_t row = track->first, end = track->first + track->count;
	struct host_piece last = { INT64_MIN, NO_ROW, NO_LONG_OP, IDLE_NONE };

	s->thread = thread;
	s->depth = 0;
	s->windows = 0;
	s->at_ns = s->autograd_end_ns = INT64_MIN;
	s->capture_end = 0;
	next_window(s);
	while (row < end)
		row = step_on(s, row, end);
	end_frames(s, INT64_MAX);
	if (thread->count)
		last.start_ns = s->at_ns;
	add_piece(s, &last);
}

/* ---- cold operators ------------------------------------------------------------------ */

/* Passes the calls of operators on to those that enclose them. Returns how many have calls. */
static size_t pass_calls_on(struct sweep *s)
{
	size_t count = 0;

	for (size_t i = s->op_count; i-- > 0;) {
		struct long_op *op = &s->ops[i];
		if (op->parent != NO_LONG_OP) {
			struct long_op *parent = &s->ops[op->parent];
			parent->calls |= op->calls;
			parent->has_first |= op->has_first;
			parent->has_setup |= op->has_setup;
		}
		count += op->calls;
	}
	return count;
}

/* The spans that have the name of a long operator with calls. */
struct usual_time {
	uint32_t first; /* the row that started first */
	uint32_t count;
	int64_t *times_ns; /* the median at its place */
};

struct usual_times {
	uint32_t *slot_of_name; /* 1 + index; 0: none */
	uint32_t *slot_of_kind; /* likewise */
	struct usual_time *slots;
	uint32_t slot_count;
	struct sort_pair *spans; /* slot and duration of each */
	size_t span_count, span_capacity;
};

static bool find_slots(const struct sweep *s, struct usual_times *usual, size_t count)
{
	const struct tscope_trace *trace = s->state->marks->trace;
	struct arena *arena = s->state->arena;

	usual->slot_of_name = tsi_arena_new(arena, trace->names.count, sizeof(uint32_t));
	usual->slot_of_kind = tsi_arena_new(arena, s->spans->kind_count, sizeof(uint32_t));
	usual->slots = tsi_arena_new(arena, count, sizeof(*usual->slots));
	if (!usual->slot_of_name || !usual->slot_of_kind || !usual->slots)
		return false;
	for (size_t i = 0; i < s->op_count; i++) {
		uint32_t *slot = &usual->slot_of_name[tsi_name_id(s->spans, s->ops[i].row)];
		if (!s->ops[i].calls || *slot)
			continue;
		usual->slots[usual->slot_count].first = NO_ROW;
		*slot = ++usual->slot_count;
	}
	for (uint32_t i = 0; i < s->spans->kind_count; i++)
		usual->slot_of_kind[i] = usual->slot_of_name[s->spans->kinds[i].name];
	return true;
}

static void collect_spans(const struct sweep *s, struct usual_times *usual)
{
	uint32_t end = tsi_first_device_row(s->state->marks->trace);
	const uint32_t *kinds = s->spans->kind, *slot_of_kind = usual->slot_of_kind;

	for (uint32_t row = 0;; row++) {
		/* Few rows have a slot: four are left behind at once. */
		while (row + 4 <= end &&
		       !(slot_of_kind[kinds[row]] | slot_of_kind[kinds[row + 1]] |
			 slot_of_kind[kinds[row + 2]] | slot_of_kind[kinds[row + 3]]))
			row += 4;
		while (row < end && !slot_of_kind[kinds[row]])
			row++;
		if (row == end)
			return;
		uint32_t slot = slot_of_kind[kinds[row]];
		struct usual_time *time = &usual->slots[slot - 1];
		struct sort_pair *span =
			tsi_arena_push(s->state->arena, &usual->spans, &usual->span_count,
				       &usual->span_capacity, sizeof(*span));
		if (!span)
			return;
		*span = (struct sort_pair){ slot - 1, (uint64_t)tsi_dur_ns(s->spans, row) };
		time->count++;
		if (time->first == NO_ROW ||
		    tsi_start_ns(s->spans, row) < tsi_start_ns(s->spans, time->first))
			time->first = row;
	}
}

/* Divides the durations among the slots, with the median of each at its place. */
static bool find_medians(const struct sweep *s, struct usual_times *usual)
{
	struct arena *arena = s->state->arena;

	for (uint32_t i = 0; i < usual->slot_count; i++) {
		struct usual_time *time = &usual->slots[i];
		time->times_ns = tsi_arena_new(arena, time->count, sizeof(*time->times_ns));
		if (!time->times_ns)
			return false;
		time->count = 0;
	}
	for (size_t i = 0; i < usual->span_count; i++) {
		struct usual_time *time = &usual->slots[usual->spans[i].key];
		time->times_ns[time->count++] = (int64_t)usual->spans[i].value;
	}
	for (uint32_t i = 0; i < usual->slot_count; i++) {
		struct usual_time *time = &usual->slots[i];
		tsi_select_number(time->times_ns, time->count, (time->count - 1) / 2);
	}
	return true;
}

static bool is_cold(const struct sweep *s, const struct usual_times *usual,
		    const struct long_op *op)
{
	const struct usual_time *time =
		&usual->slots[usual->slot_of_name[tsi_name_id(s->spans, op->row)] - 1];
	int64_t dur_ns = tsi_dur_ns(s->spans, op->row);

	if (!op->has_first && time->first != op->row)
		return false;
	if (time->count == 1)
		return op->has_setup && dur_ns >= COLD_ONCE_NS;
	return dur_ns / COLD_FACTOR >= time->times_ns[(time->count - 1) / 2];
}

static void find_cold_ops(struct sweep *s)
{
	struct usual_times usual = { 0 };
	size_t count = pass_calls_on(s);

	if (!count || !find_slots(s, &usual, count))
		return;
	collect_spans(s, &usual);
	if (s->state->arena->has_failed || !find_medians(s, &usual))
		return;
	for (size_t i = 0; i < s->op_count; i++) {
		struct long_op *op = &s->ops[i];
		if (op->calls && is_cold(s, &usual, op))
			op->cold_row = op->row;
		else if (op->parent != NO_LONG_OP)
			op->cold_row = s->ops[op->parent].cold_row;
	}
}

/* Operators that only make or resize tensors: what keeps one for long is no work of its own. */
static bool computes_nothing(const struct tscope_trace *trace, uint32_t row)
{
	struct str name = tsi_span_name(trace, row);

	return tsi_str_starts(name, "aten::empty") || tsi_str_starts(name, "aten::resize_");
}

/* Gives the pieces inside long operators the cause that these turned out to have. */
static void settle_pieces(const struct sweep *s, struct host_thread *thread)
{
	for (size_t i = 0; i < thread->count; i++) {
		struct host_piece *piece = &thread->pieces[i];
		const struct long_op *op = piece->op == NO_LONG_OP ? NULL : &s->ops[piece->op];
		if (!op)
			continue;
		bool may_be_cold = piece->cause == IDLE_OP_OVERHEAD ||
				   piece->cause == IDLE_OP_STALL || piece->cause == IDLE_PYTHON ||
				   piece->cause == IDLE_NONE;
		if (op->cold_row != NO_ROW && may_be_cold) {
			piece->cause = IDLE_STARTUP;
			piece->row = op->cold_row;
		} else if (op->cold_row != NO_ROW && piece->cause == IDLE_ALLOC &&
			   tsi_dur_ns(s->spans, piece->row) >= LONG_NS) {
			piece->cause = IDLE_STARTUP;
		} else if (piece->cause == IDLE_OP_STALL && !op->calls &&
			   !computes_nothing(s->state->marks->trace, piece->row)) {
			piece->cause = IDLE_CPU_WORK;
		}
	}
}

void tsi_host_state_find(struct host_state *state)
{
	struct sweep sweep = { .state = state, .spans = &state->marks->trace->spans };

	state->kinds = tsi_host_kinds(state->marks, state->arena);
	if (!state->kinds)
		return;
	for (uint32_t i = 0; i < state->thread_count; i++)
		sweep_thread(&sweep, &state->threads[i]);
	find_cold_ops(&sweep);
	for (uint32_t i = 0; i < state->thread_count; i++)
		settle_pieces(&sweep, &state->threads[i]);
	if (state->marks->trace->is_damaged)
		state->overhead = tsi_find_lost_calls(state);
	state->has_lost_calls = state->overhead.count > 0;
	if (!state->has_lost_calls)
		state->overhead = tsi_find_asides(state, LABEL_OVERHEAD);
	state->peers = tsi_find_asides(state, LABEL_PEER);
}
