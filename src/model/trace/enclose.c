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
#include "base/array.h"
#include "base/sort.h"
#include "model/trace/build.h"

#include <stdlib.h>

/* A row that was open at the row looked at last. */
struct open_row {
	int64_t until; /* it is open before this time: a span without length holds what starts
			  with it */
	uint32_t row;
};

/* Ended ones are taken off when they are on top. */
struct open_rows {
	struct open_row *top;
	struct open_row *rows, *last; /* [0] is none and never ends; behind the last is no room */
	size_t capacity;
};

/* What a kind of spans says. */
enum {
	KIND_PHASE = 0x0f, /* enum phase, PHASE_COUNT: none */
	KIND_CALL = 0x10,
	KIND_OP = 0x20,
	KIND_COLLECTIVE = 0x40, /* of an op */
	KIND_STEP = 0x80,
};

struct walk {
	struct tscope_trace *trace;
	const struct track *track;
	uint8_t *facts;          /* by kind */
	struct sort_pair *steps; /* of markers of steps: start, row; by start */
	size_t step_count;
	int64_t last_ns; /* the end of what ends last */
	uint32_t call;   /* index of the next one */
	struct open_rows spans, ops, markers, collectives;
	struct key_map *collective_of_call;
};

static TSI_COLD enum tscope_status grow(struct open_rows *open, struct tscope_error *err)
{
	size_t count = open->capacity;
	if (tsi_array_reserve(&open->rows, &open->capacity, count + 1, sizeof(*open->rows), err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	open->top = open->rows + count - (count > 0);
	open->last = open->rows + open->capacity - 1;
	return TSCOPE_OK;
}

static inline enum tscope_status push(struct open_rows *open, const struct open_row *row,
				      struct tscope_error *err)
{
	if (tsi_unlikely(open->top == open->last) && grow(open, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	*++open->top = *row;
	return TSCOPE_OK;
}

static enum tscope_status clear(struct open_rows *open, struct tscope_error *err)
{
	if (!open->rows && grow(open, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	open->top = open->rows;
	*open->top = (struct open_row){ INT64_MAX, NO_ROW };
	return TSCOPE_OK;
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
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (tsi_start_ns(&w->trace->spans, (uint32_t)w->steps[middle].value) <= now)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && now < tsi_span_end(w->trace, (uint32_t)w->steps[low - 1].value);
}

/* The phase of what starts now on this thread. */
static enum phase current_phase(struct walk *w, int64_t now)
{
	settle(&w->markers, now);
	uint32_t marker = w->markers.top->row;
	if (w->trace->cpu_op_count == 0)
		return PHASE_COMPUTE;
	if (marker != NO_ROW)
		return w->facts[w->trace->spans.kind[marker]] & KIND_PHASE;
	if (w->track->is_autograd)
		return PHASE_BACKWARD;
	if (w->step_count && !is_inside_step(w, now))
		return PHASE_OTHER;
	return PHASE_FORWARD;
}

static enum tscope_status take_call(struct walk *w, uint32_t row, int64_t now,
				    struct tscope_error *err)
{
	struct runtime_call *call = &w->trace->calls[w->call++];
	settle(&w->ops, now);
	settle(&w->collectives, now);
	uint32_t collective = w->collectives.top->row;
	*call = (struct runtime_call){
		.op = w->ops.top->row,
		.phase = (uint8_t)current_phase(w, now),
		.in_collective = collective != NO_ROW,
	};
	if (collective == NO_ROW)
		return TSCOPE_OK;
	return tsi_key_map_put(w->collective_of_call, row,
			       tsi_cpu_op(w->trace, collective)->collective, err);
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

static inline enum tscope_status open_on(struct open_rows *open, const struct open_row *row,
					 int64_t now, struct tscope_error *err)
{
	settle(open, now);
	return push(open, row, err);
}

/* Operators and annotations: they may be a call's operator, tell its phase, or be a collective. */
static inline enum tscope_status open_work(struct walk *w, uint8_t facts,
					   const struct open_row *row, int64_t now,
					   struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	if (facts & KIND_OP)
		status = open_on(&w->ops, row, now, err);
	if (status == TSCOPE_OK && tsi_unlikely(facts & KIND_COLLECTIVE))
		status = open_on(&w->collectives, row, now, err);
	if (status == TSCOPE_OK && (facts & KIND_PHASE) != PHASE_COUNT)
		status = open_on(&w->markers, row, now, err);
	return status;
}

static inline enum tscope_status take_row(struct walk *w, uint32_t row, struct tscope_error *err)
{
	const struct spans *spans = &w->trace->spans;
	uint8_t facts = w->facts[spans->kind[row]];
	int64_t now = tsi_start_ns(spans, row), end = now + tsi_dur_ns(spans, row);
	struct open_row open = { end + (end == now), row };
	settle(&w->spans, now);
	count_crossing(w, end);
	if (end > w->last_ns)
		w->last_ns = end;
	if (push(&w->spans, &open, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (facts & KIND_CALL)
		return take_call(w, row, now, err);
	return facts != PHASE_COUNT ? open_work(w, facts, &open, now, err) : TSCOPE_OK;
}

static enum tscope_status walk_track(struct walk *w, struct tscope_error *err)
{
	if (clear(&w->spans, err) != TSCOPE_OK || clear(&w->ops, err) != TSCOPE_OK ||
	    clear(&w->markers, err) != TSCOPE_OK || clear(&w->collectives, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	uint32_t end = w->track->first + w->track->count;
	for (uint32_t row = w->track->first; row < end; row++)
		if (take_row(w, row, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	return TSCOPE_OK;
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
	return PHASE_COUNT;
}

/* Learns what kinds say, and which threads are those of a backward pass. */
static enum tscope_status learn_kinds(struct walk *w, struct tscope_error *err)
{
	const struct spans *spans = &w->trace->spans;
	if (tsi_array_new(&w->facts, spans->kind_count, 1, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t i = 0; i < spans->kind_count; i++) {
		const struct span_kind *kind = &spans->kinds[i];
		struct str name = tsi_intern_text(&w->trace->names, kind->name);
		w->facts[i] = facts_of(kind, name);
		if (kind->track < w->trace->host_track_count && tsi_is_autograd_engine(name))
			w->trace->tracks[kind->track].is_autograd = true;
	}
	for (uint32_t i = 0; i < spans->kind_count; i++)
		if (w->facts[i] & KIND_STEP) {
			struct track *track = &w->trace->tracks[spans->kinds[i].track];
			track->has_steps = true;
			track->is_autograd = false;
		}
	return TSCOPE_OK;
}

static enum tscope_status list_steps(struct walk *w, const struct track *track, size_t *capacity,
				     struct tscope_error *err)
{
	const struct spans *spans = &w->trace->spans;
	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		if (!(w->facts[spans->kind[row]] & KIND_STEP))
			continue;
		if (tsi_array_reserve(&w->steps, capacity, w->step_count + 1, sizeof(*w->steps),
				      err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		w->steps[w->step_count++] =
			(struct sort_pair){ tsi_sort_key_of_int64(tsi_start_ns(spans, row)), row };
	}
	return TSCOPE_OK;
}

static enum tscope_status learn_steps(struct walk *w, struct tscope_error *err)
{
	const struct tscope_trace *trace = w->trace;
	struct sort_pair *scratch;
	size_t capacity = 0;
	for (uint32_t i = 0; i < trace->track_count; i++)
		if (trace->tracks[i].has_steps &&
		    list_steps(w, &trace->tracks[i], &capacity, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	if (tsi_array_new(&scratch, w->step_count, sizeof(*scratch), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	tsi_sort_pairs(w->steps, scratch, w->step_count);
	free(scratch);
	return TSCOPE_OK;
}

enum tscope_status tsi_enclose_calls(struct tscope_trace *trace, struct key_map *collective_of_call,
				     struct tscope_error *err)
{
	struct walk w = {
		.trace = trace,
		.collective_of_call = collective_of_call,
		.last_ns = INT64_MIN,
	};
	enum tscope_status status = learn_kinds(&w, err);
	if (status == TSCOPE_OK)
		status = learn_steps(&w, err);
	for (uint32_t i = 0; status == TSCOPE_OK && i < trace->host_track_count; i++) {
		w.track = &trace->tracks[i];
		status = walk_track(&w, err);
	}
	trace->info.last_ns = w.last_ns;
	free(w.facts);
	free(w.steps);
	free(w.spans.rows);
	free(w.ops.rows);
	free(w.markers.rows);
	free(w.collectives.rows);
	return status;
}
