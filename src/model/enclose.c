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
#include "model/build.h"

#include <stdlib.h>

/* Rows that were open at the row looked at last; ended ones are taken off when they are on top. */
struct open_rows {
	uint32_t *rows;
	size_t count, capacity;
};

/* What a name says, by its id. */
enum {
	NAME_PHASE = 0x0f, /* enum phase, PHASE_COUNT: none */
	NAME_STEP = 0x10,
	NAME_AUTOGRAD = 0x20,
};

struct walk {
	struct tscope_trace *trace;
	const struct track *track;
	uint8_t *name_facts;
	struct sort_pair *steps; /* of markers of steps: start, row; by start */
	size_t step_count;
	struct open_rows spans, ops, markers, collectives;
	struct launch_site *sites; /* by index of call */
};

static uint32_t top_of(const struct open_rows *open)
{
	return open->count ? open->rows[open->count - 1] : NO_ROW;
}

static enum tscope_status push(struct open_rows *open, uint32_t row, struct tscope_error *err)
{
	if (tsi_array_reserve(&open->rows, &open->capacity, open->count + 1, sizeof(*open->rows),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	open->rows[open->count++] = row;
	return TSCOPE_OK;
}

/* Takes off what has ended at `now`. A span without length still holds what starts with it. */
static void settle(struct open_rows *open, const struct tscope_trace *trace, int64_t now)
{
	while (open->count) {
		uint32_t row = top_of(open);
		int64_t end = tsi_span_end(trace, row);
		if (end > now || (end == now && tsi_dur_ns(&trace->spans, row) == 0))
			return;
		open->count--;
	}
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
static enum phase current_phase(const struct walk *w, int64_t now)
{
	uint32_t marker = top_of(&w->markers);
	if (w->trace->cpu_op_count == 0)
		return PHASE_COMPUTE;
	if (marker != NO_ROW)
		return w->name_facts[tsi_name_id(&w->trace->spans, marker)] & NAME_PHASE;
	if (w->track->is_autograd)
		return PHASE_BACKWARD;
	if (w->step_count && !is_inside_step(w, now))
		return PHASE_OTHER;
	return PHASE_FORWARD;
}

static void take_call(struct walk *w, uint32_t row)
{
	struct tscope_trace *trace = w->trace;
	uint32_t collective = top_of(&w->collectives);
	struct launch_site *site = &w->sites[tsi_call_index(trace, row)];
	site->op = top_of(&w->ops);
	site->collective =
		collective == NO_ROW ? NO_ROW : tsi_cpu_op(trace, collective)->collective;
	tsi_call(trace, row)->phase = (uint8_t)current_phase(w, tsi_start_ns(&trace->spans, row));
}

/*
 * Does a span go on behind the one that encloses its start? VizTracer's durations are fractions of
 * a nanosecond: rounded, a call may end one after its caller.
 */
static bool is_crossing(const struct tscope_trace *trace, uint32_t row, uint32_t enclosing)
{
	return tsi_span_end(trace, row) - trace->is_viztracer > tsi_span_end(trace, enclosing);
}

static enum tscope_status take_row(struct walk *w, uint32_t row, struct tscope_error *err)
{
	struct tscope_trace *trace = w->trace;
	const struct spans *spans = &trace->spans;
	int64_t now = tsi_start_ns(spans, row);
	settle(&w->spans, trace, now);
	settle(&w->ops, trace, now);
	settle(&w->markers, trace, now);
	settle(&w->collectives, trace, now);
	if (w->spans.count && is_crossing(trace, row, top_of(&w->spans)))
		trace->diagnostics[TSCOPE_DIAGNOSTIC_crossing_spans]++;

	uint8_t span_class = tsi_span_class(spans, row);
	if (span_class == TSCOPE_SPAN_RUNTIME)
		take_call(w, row);
	if (push(&w->spans, row, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	bool is_op = span_class == TSCOPE_SPAN_CPU_OP;
	if (is_op && push(&w->ops, row, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (is_op && tsi_cpu_op(trace, row)->collective != NO_ROW &&
	    push(&w->collectives, row, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if ((is_op || span_class == TSCOPE_SPAN_ANNOTATION) &&
	    (w->name_facts[tsi_name_id(spans, row)] & NAME_PHASE) != PHASE_COUNT)
		return push(&w->markers, row, err);
	return TSCOPE_OK;
}

static enum tscope_status walk_track(struct walk *w, struct tscope_error *err)
{
	w->spans.count = 0;
	w->ops.count = 0;
	w->markers.count = 0;
	w->collectives.count = 0;
	for (uint32_t i = 0; i < w->track->count; i++)
		if (take_row(w, w->track->first + i, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	return TSCOPE_OK;
}

/* ---- before the walk ----------------------------------------------------------------- */

static enum tscope_status learn_names(struct walk *w, struct tscope_error *err)
{
	const struct intern *names = &w->trace->names;
	if (tsi_array_new(&w->name_facts, names->count, 1, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t id = 0; id < names->count; id++) {
		struct str name = tsi_intern_text(names, id);
		unsigned facts = tsi_classify_phase(name);
		if (tsi_is_step_marker(name) || tsi_is_train_batch(name))
			facts |= NAME_STEP;
		if (tsi_is_autograd_engine(name))
			facts |= NAME_AUTOGRAD;
		w->name_facts[id] = (uint8_t)facts;
	}
	return TSCOPE_OK;
}

static bool is_step(const struct walk *w, uint32_t row)
{
	const struct spans *spans = &w->trace->spans;
	return tsi_span_class(spans, row) == TSCOPE_SPAN_ANNOTATION &&
	       (w->name_facts[tsi_name_id(spans, row)] & NAME_STEP);
}

/* Finds the backward threads, and counts the steps. */
static void learn_tracks(struct walk *w)
{
	for (uint32_t i = 0; i < w->trace->host_track_count; i++) {
		struct track *track = &w->trace->tracks[i];
		bool has_engine = false, has_steps = false;
		for (uint32_t row = track->first; row < track->first + track->count; row++) {
			has_engine |= (w->name_facts[tsi_name_id(&w->trace->spans, row)] &
				       NAME_AUTOGRAD) != 0;
			if (is_step(w, row)) {
				has_steps = true;
				w->step_count++;
			}
		}
		track->is_autograd = has_engine && !has_steps;
	}
}

static enum tscope_status learn_steps(struct walk *w, struct tscope_error *err)
{
	struct sort_pair *scratch = NULL;
	if (tsi_array_new(&w->steps, w->step_count, sizeof(*w->steps), err) != TSCOPE_OK ||
	    tsi_array_new(&scratch, w->step_count, sizeof(*scratch), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	size_t found = 0;
	for (uint32_t row = 0; found < w->step_count; row++)
		if (is_step(w, row))
			w->steps[found++] = (struct sort_pair){
				tsi_sort_key_of_int64(tsi_start_ns(&w->trace->spans, row)), row
			};
	tsi_sort_pairs(w->steps, scratch, w->step_count);
	free(scratch);
	return TSCOPE_OK;
}

enum tscope_status tsi_enclose_calls(struct tscope_trace *trace, struct launch_site *sites,
				     struct tscope_error *err)
{
	struct walk w = { .trace = trace, .sites = sites };
	enum tscope_status status = learn_names(&w, err);
	if (status == TSCOPE_OK) {
		learn_tracks(&w);
		status = learn_steps(&w, err);
	}
	for (uint32_t i = 0; status == TSCOPE_OK && i < trace->host_track_count; i++) {
		w.track = &trace->tracks[i];
		status = walk_track(&w, err);
	}
	free(w.name_facts);
	free(w.steps);
	free(w.spans.rows);
	free(w.ops.rows);
	free(w.markers.rows);
	free(w.collectives.rows);
	return status;
}
