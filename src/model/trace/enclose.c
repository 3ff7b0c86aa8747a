/* SPDX-License-Identifier: MIT */
/*
 * Who launched: for each runtime call the innermost cpu_op on its thread that
 * is open when the call starts, and the phase of the place it was made from.
 *
 * Rows of a thread lie in the order of start, parents before children, so one
 * pass with stacks of open spans does it. Spans may cross (clocks of whole
 * microseconds do that), therefore operators, phase markers and collectives
 * have stacks of their own: the top one that has not ended is the innermost,
 * whatever crosses below it.
 */
#include "base/bisect.h"
#include "base/sort.h"
#include "model/trace/build.h"

/* A row that was open at the row looked at last. */
struct open_row {
	int64_t until; /* it is open before this time: a span without length holds what starts
			  with it */
	uint32_t row;
};

/* Ended ones are taken off when they are on top. */
struct open_rows {
	struct arena *arena;
	struct open_row *top;
	struct open_row *rows, *last; /* [0] is none and never ends; behind the last is no room */
	size_t capacity;
};

/* Facts about a kind of spans. */
enum {
	KIND_PHASE = 0x0f, /* enum phase, PHASE_COUNT: none */
	KIND_CALL = 0x10,
	KIND_OP = 0x20,
	KIND_COLLECTIVE = 0x40, /* of an op */
	KIND_STEP = 0x80,
	KIND_SKIPPED = 0x0f, /* no phase: a frame that encloses nothing */
};

struct walk {
	struct tscope_trace *trace;
	struct builder *builder;
	struct arena arena;
	const struct track *track;
	uint8_t *facts;          /* by kind */
	struct sort_pair *steps; /* of markers of steps: start, row; by start */
	size_t step_count, step_capacity;
	int64_t last_ns; /* the end of what ends last */
	uint32_t call;   /* index of the next one */
	struct open_rows spans, ops, markers, collectives;
	struct key_map *collective_of_call;
	uint8_t *phase_of_op; /* by row, or NULL */
};

/* False without memory. */
static TSI_COLD bool grow(struct open_rows *open)
{
	size_t count = open->capacity;
	struct open_row *rows = tsi_arena_reserve(open->arena, open->rows, &open->capacity,
						  count + 1, sizeof(*rows));
	if (!rows)
		return false;
	open->rows = rows;
	open->top = rows + count - (count > 0);
	open->last = rows + open->capacity - 1;
	return true;
}

static inline void push(struct open_rows *open, const struct open_row *row)
{
	if (tsi_unlikely(open->top == open->last) && !grow(open))
		return;
	*++open->top = *row;
}

/* Empties the stack, which the arena has room for; false: it has not. */
static bool clear(struct open_rows *open, struct arena *arena)
{
	open->arena = arena;
	if (!open->rows && !grow(open))
		return false;
	open->top = open->rows;
	*open->top = (struct open_row){ INT64_MAX, NO_ROW };
	return true;
}

/* Takes off what has ended at `now`. */
static inline void settle(struct open_rows *open, int64_t now)
{
	while (open->top->until <= now)
		open->top--;
}

static bool is_inside_step(const struct walk *w, int64_t now)
{
	size_t low = 0, high = w->step_count;
	TSI_BISECT(low, high,
		   tsi_start_ns(&w->trace->spans, (uint32_t)w->steps[middle].value) <= now);
	return low > 0 && now < tsi_span_end(w->trace, (uint32_t)w->steps[low - 1].value);
}

/*
 * The phase of what starts now on this thread, in the operator `op` or in none. Work that neither a
 * marker, nor the thread, nor an operator claims has no known phase: a graph's replay, a kernel of
 * a library's own.
 */
static enum phase current_phase(struct walk *w, uint32_t op, int64_t now)
{
	settle(&w->markers, now);
	uint32_t marker = w->markers.top->row;
	enum phase phase = PHASE_COUNT;
	bool is_step = false;
	if (marker != NO_ROW) {
		uint8_t facts = w->facts[w->trace->spans.kind[marker]];
		phase = facts & KIND_PHASE;
		is_step = (facts & KIND_STEP) && phase == PHASE_FORWARD;
	}
	if (marker != NO_ROW && !is_step)
		return phase;
	if (w->track->is_autograd)
		return PHASE_BACKWARD;
	if (op == NO_ROW)
		return PHASE_COMPUTE;
	if (!is_step && w->step_count && !is_inside_step(w, now))
		return PHASE_OTHER;
	return PHASE_FORWARD;
}

static void take_call(struct walk *w, uint32_t row, int64_t now)
{
	struct runtime_call *call = &w->trace->calls[w->call++];
	settle(&w->ops, now);
	settle(&w->collectives, now);
	uint32_t collective = w->collectives.top->row;
	*call = (struct runtime_call){
		.op = w->ops.top->row,
		.phase = (uint8_t)current_phase(w, w->ops.top->row, now),
		.in_collective = collective != NO_ROW,
	};
	if (collective != NO_ROW)
		tsi_builder_put(w->builder, w->collective_of_call, row,
				tsi_cpu_op(w->trace, collective)->collective);
}

/*
 * Counts a span that goes on behind the one that encloses its start. VizTracer's durations are
 * fractions of a nanosecond: rounded, a call may end one after its caller.
 */
static inline void count_crossing(struct walk *w, int64_t end)
{
	struct tscope_trace *trace = w->trace;
	const struct open_row *around = w->spans.top;
	if (tsi_likely(end < around->until)) /* or it encloses nothing: then it never ends */
		return;
	if (end - trace->is_viztracer > tsi_span_end(trace, around->row))
		trace->diagnostics[TSCOPE_DIAGNOSTIC_crossing_spans]++;
}

static inline void open_on(struct open_rows *open, const struct open_row *row, int64_t now)
{
	settle(open, now);
	push(open, row);
}

/*
 * Activation checkpointing runs forward code again in a node of the backward pass: that is work
 * of the backward pass.
 */
static inline bool is_claimed(struct walk *w, uint8_t facts, int64_t now)
{
	if ((facts & KIND_PHASE) != PHASE_FORWARD || (facts & KIND_STEP))
		return false;
	settle(&w->markers, now);
	uint32_t marker = w->markers.top->row;
	if (marker == NO_ROW)
		return w->track->is_autograd;
	uint8_t around = w->facts[w->trace->spans.kind[marker]];
	return (around & KIND_OP) && (around & KIND_PHASE) == PHASE_BACKWARD;
}

/* Operators and annotations: they may be a call's operator, give its phase, or be a collective. */
static inline void open_work(struct walk *w, uint8_t facts, const struct open_row *row, int64_t now)
{
	if (facts & KIND_OP)
		open_on(&w->ops, row, now);
	if (tsi_unlikely(facts & KIND_COLLECTIVE))
		open_on(&w->collectives, row, now);
	if ((facts & KIND_PHASE) != PHASE_COUNT && !is_claimed(w, facts, now))
		open_on(&w->markers, row, now);
}

static inline void take_row(struct walk *w, struct span_times times, uint32_t row)
{
	uint8_t facts = w->facts[times.kind[row]];
	if (tsi_unlikely(facts == KIND_SKIPPED))
		return;
	int64_t now = tsi_start_of(times, row), end = now + tsi_dur_of(times, row);
	struct open_row open = { end + (end == now), row };
	settle(&w->spans, now);
	count_crossing(w, end);
	if (end > w->last_ns)
		w->last_ns = end;
	push(&w->spans, &open);
	if (facts & KIND_CALL)
		take_call(w, row, now);
	else if (facts != PHASE_COUNT)
		open_work(w, facts, &open, now);
	if (tsi_unlikely(w->phase_of_op) && facts & KIND_OP)
		w->phase_of_op[row] = (uint8_t)current_phase(w, row, now);
}

static void walk_track(struct walk *w, const struct track *track)
{
	w->track = track;
	if (!clear(&w->spans, &w->arena) || !clear(&w->ops, &w->arena) ||
	    !clear(&w->markers, &w->arena) || !clear(&w->collectives, &w->arena))
		return;
	const struct span_times times = tsi_span_times(&w->trace->spans);
	for (uint32_t row = track->first, end = row + track->count; row < end; row++)
		take_row(w, times, row);
}

/* ---- before the walk ----------------------------------------------------------------- */

static uint8_t facts_of(const struct span_kind *kind, struct str name)
{
	switch (kind->span_class) {
	case TSCOPE_SPAN_RUNTIME:
		return PHASE_COUNT | KIND_CALL;
	case TSCOPE_SPAN_CPU_OP:
		return (uint8_t)(tsi_classify_phase(name) | KIND_OP |
				 (kind->op.collective != NO_ROW ? KIND_COLLECTIVE : 0));
	case TSCOPE_SPAN_ANNOTATION:
		return (uint8_t)(tsi_classify_phase(name) |
				 (tsi_is_step_marker(name) || tsi_is_train_batch(name) ? KIND_STEP
										       : 0));
	}
	return tsi_is_chosen_frame(kind) ? KIND_SKIPPED : PHASE_COUNT;
}

/*
 * Does it run forward passes, too? The first operator decides that is a node of a backward pass, or
 * that autograd records outside of all nodes. Later ones may be those of a hook.
 */
static bool begins_with_forward(const struct walk *w, const struct track *track)
{
	const struct spans *spans = &w->trace->spans;

	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		const struct span_kind *kind = tsi_span_kind(spans, row);
		if (kind->span_class != TSCOPE_SPAN_CPU_OP)
			continue;
		if ((w->facts[spans->kind[row]] & KIND_PHASE) == PHASE_BACKWARD)
			return false;
		if (kind->op.is_forward)
			return true;
	}
	return false;
}

/* Learns what kinds say, and which threads are those of a backward pass. */
static void learn_kinds(struct walk *w)
{
	const struct spans *spans = &w->trace->spans;
	w->facts = tsi_arena_new(&w->arena, spans->kind_count, 1);
	if (!w->facts)
		return;
	for (uint32_t i = 0; i < spans->kind_count; i++) {
		const struct span_kind *kind = &spans->kinds[i];
		struct str name = tsi_intern_text(&w->trace->names, kind->name);
		w->facts[i] = facts_of(kind, name);
		if (kind->track < w->trace->host_track_count &&
		    kind->span_class == TSCOPE_SPAN_CPU_OP && tsi_is_backward_node(name))
			w->trace->tracks[kind->track].is_autograd = true;
	}
	for (uint32_t i = 0; i < spans->kind_count; i++)
		if (w->facts[i] & KIND_STEP) {
			struct track *track = &w->trace->tracks[spans->kinds[i].track];
			track->has_steps = true;
			track->is_autograd = false;
		}
	for (uint32_t i = 0; i < w->trace->host_track_count; i++) {
		struct track *track = &w->trace->tracks[i];
		track->is_autograd = track->is_autograd && !begins_with_forward(w, track);
	}
}

static void list_steps(struct walk *w, const struct track *track)
{
	const struct spans *spans = &w->trace->spans;
	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		if (!(w->facts[spans->kind[row]] & KIND_STEP))
			continue;
		struct sort_pair *step = tsi_arena_push(&w->arena, &w->steps, &w->step_count,
							&w->step_capacity, sizeof(*step));
		if (!step)
			return;
		*step = (struct sort_pair){ tsi_sort_key_of_int64(tsi_start_ns(spans, row)), row };
	}
}

static void learn_steps(struct walk *w)
{
	const struct tscope_trace *trace = w->trace;
	for (uint32_t i = 0; w->facts && i < trace->track_count; i++)
		if (trace->tracks[i].has_steps)
			list_steps(w, &trace->tracks[i]);
	struct sort_pair *room = tsi_arena_new(&w->arena, w->step_count, sizeof(*room));
	if (room)
		tsi_sort_pairs(w->steps, room, w->step_count);
}

void tsi_enclose_calls(struct builder *b, struct key_map *collective_of_call, uint8_t *phase_of_op)
{
	struct tscope_trace *trace = b->trace;
	struct walk w = {
		.trace = trace,
		.builder = b,
		.collective_of_call = collective_of_call,
		.phase_of_op = phase_of_op,
		.last_ns = INT64_MIN,
	};
	learn_kinds(&w);
	learn_steps(&w);
	for (uint32_t i = 0; !w.arena.has_failed && i < trace->host_track_count; i++)
		walk_track(&w, &trace->tracks[i]);
	trace->info.last_ns = w.last_ns;
	if (w.arena.has_failed)
		tsi_builder_fail_nomem(b);
	tsi_arena_deinit(&w.arena);
}
