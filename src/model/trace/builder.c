/* SPDX-License-Identifier: MIT */
/*
 * Takes events from a decoder and makes rows of them. Millions come, so the common path allocates
 * nothing and looks little up: the category is one of a few seen lately, the track likewise, and
 * the name is interned straight from the input's text. Events that are no work (flows, instants,
 * painted ranges, Python frames unless wanted) are counted and forgotten.
 *
 * The stages that need all rows are run by finish.c.
 */
#include "model/trace/builder.h"

#include "base/column.h"
#include "base/error.h"
#include "decode/json.h"
#include "model/trace/build.h"
#include "model/trace/python_name.h"

/* ---- failures ------------------------------------------------------------------------ */

void tsi_builder_fail(struct builder *b, const struct tscope_error *err)
{
	if (b->status != TSCOPE_OK)
		return;
	b->status = err->status;
	b->err = *err;
}

void tsi_builder_fail_nomem(struct builder *b)
{
	struct tscope_error err;
	tsi_fail_nomem(&err);
	tsi_builder_fail(b, &err);
}

enum tscope_status tsi_builder_status(const struct builder *b, struct tscope_error *err)
{
	if (b->status != TSCOPE_OK && err)
		*err = b->err;
	return b->status;
}

void *tsi_builder_push(struct builder *b, void *items, size_t *count, size_t *capacity,
		       size_t item_bytes)
{
	void *item = tsi_arena_push(&b->trace->arena, items, count, capacity, item_bytes);
	if (!item)
		tsi_builder_fail_nomem(b);
	return item;
}

void *tsi_builder_new_array(struct builder *b, size_t count, size_t item_bytes)
{
	void *items = NULL;
	if (!tsi_column_make(&items, b->trace->spill, count, item_bytes))
		tsi_builder_fail_nomem(b);
	return items;
}

bool tsi_builder_grow(struct builder *b, void *items, size_t *capacity, size_t wanted,
		      size_t item_bytes)
{
	enum { MIN_CAPACITY = 16 };
	size_t room = *capacity < MIN_CAPACITY ? MIN_CAPACITY : 2 * *capacity;
	room = room < wanted ? wanted : room;
	if (!tsi_column_make(items, b->trace->spill, room, item_bytes)) {
		tsi_builder_fail_nomem(b);
		return false;
	}
	*capacity = room;
	return true;
}

uint32_t tsi_builder_id(struct builder *b, struct intern *set, struct str text)
{
	struct tscope_error err;
	uint32_t id;
	if (tsi_likely(tsi_intern_add(set, text, &id, &err) == TSCOPE_OK))
		return id;
	tsi_builder_fail(b, &err);
	return 0;
}

uint32_t tsi_builder_name(struct builder *b, struct str text, bool escaped)
{
	if (tsi_unlikely(escaped)) {
		if (!tsi_builder_reserve(b, &b->text, &b->text_capacity, text.length, 1))
			return 0;
		uint64_t bad_escapes = 0;
		text.length = tsi_json_unescape(text, b->text, &bad_escapes);
		text.data = b->text;
		b->sink.diagnostics[TSCOPE_DIAGNOSTIC_bad_escape] += bad_escapes > 0;
	}
	return tsi_builder_id(b, &b->trace->names, text);
}

void tsi_builder_put(struct builder *b, struct key_map *map, uint64_t key, uint32_t value)
{
	if (tsi_key_map_put(map, key, value, NULL) != TSCOPE_OK)
		tsi_builder_fail_nomem(b);
}

/* ---- categories ---------------------------------------------------------------------- */

/* The first category where that failed. */
static uint32_t add_category(struct builder *b, const struct raw_event *event, uint32_t name)
{
	struct tscope_trace *trace = b->trace;
	const struct category_rule *rule = tsi_classify_category(event->cat);
	const struct category_rule **kept =
		tsi_builder_push(b, &b->category_rules, &b->category_rule_count,
				 &b->category_rule_capacity, sizeof(*kept));
	struct category *category =
		kept ? tsi_builder_push(b, &trace->categories, &trace->category_count,
					&trace->category_capacity, sizeof(*category))
		     : NULL;
	if (!category)
		return 0;
	*kept = rule;
	*category = (struct category){ .name = name, .phase = event->phase };
	trace->is_kineto |= rule->is_kineto;
	return (uint32_t)trace->category_count - 1;
}

/* The index of the event's (phase, category) pair in trace->categories. */
static uint32_t find_category(struct builder *b, const struct raw_event *event)
{
	struct str cat = event->cat;
	size_t hash = (size_t)event->phase + cat.length * 5;
	if (cat.length)
		hash += (unsigned char)cat.data[0] * 3u + (unsigned char)cat.data[cat.length - 1];
	struct category_memo *memo = &b->category_memo[hash & (CATEGORY_MEMO_SLOTS - 1)];
	if (tsi_likely(memo->used && memo->phase == event->phase && tsi_str_equal(memo->text, cat)))
		return memo->index;

	uint32_t name = tsi_builder_id(b, &b->trace->names, cat);
	uint64_t key = tsi_key_of_pair(name, (unsigned char)event->phase);
	uint32_t index = tsi_key_map_find(&b->category_of, key);
	if (b->status != TSCOPE_OK)
		return 0;
	if (index == NO_ROW) {
		index = add_category(b, event, name);
		tsi_builder_put(b, &b->category_of, key, index);
	}
	*memo = (struct category_memo){ tsi_intern_text(&b->trace->names, name), index,
					event->phase, true };
	return index;
}

/* ---- rows ---------------------------------------------------------------------------- */

/* Adds a row and its side entry together, unless reading the event has failed. */
static void add_row(struct builder *b, const struct raw_event *event, const struct span_kind *kind,
		    const struct raw_work *beside)
{
	uint32_t index = tsi_find_span_kind(b, kind);
	if (tsi_unlikely(b->status != TSCOPE_OK))
		return;
	if (kind->span_class == TSCOPE_SPAN_CPU_OP)
		tsi_add_op(b, beside->ids);
	else if (kind->span_class == TSCOPE_SPAN_RUNTIME)
		tsi_add_call(b, beside->ids);
	else if (tsi_class_is_device((uint8_t)kind->span_class))
		tsi_add_device_event(b, beside->ids, beside->collective);
	if (tsi_likely(b->status == TSCOPE_OK))
		tsi_add_row(b, event->ts_ns, event->dur_ns, index);
}

/*
 * Reads annotations that are collectives, whose size follows from their arguments, and those that
 * Composer numbers; ignores others.
 */
static uint32_t read_annotation(struct builder *b, const struct raw_event *event, uint32_t name)
{
	struct cpu_op op = { .collective = NO_ROW };
	struct event_ids ids = { 0 };

	if (tsi_is_train_batch(event->name))
		return tsi_add_batch(b, event);
	if (!tsi_backend_prefix(event->name))
		return NO_ROW;
	tsi_read_op_args(b, name, event->args, &op, &ids);
	return op.inputs;
}

static void add_host_row(struct builder *b, const struct raw_event *event, uint8_t span_class)
{
	struct span_kind kind = { .span_class = span_class };
	struct raw_work work = { .shape = tsi_no_shape() };
	if (span_class == TSCOPE_SPAN_CPU_OP && tsi_drops_operator(b, event->dur_ns))
		return;
	kind.track = tsi_find_host_track(b, event);
	kind.name = tsi_builder_name(b, event->name, event->name_escaped);
	if (span_class == TSCOPE_SPAN_CPU_OP) {
		kind.op.collective = NO_ROW;
		tsi_read_op_args(b, kind.name, event->args, &kind.op, &work.ids);
	} else if (span_class == TSCOPE_SPAN_RUNTIME) {
		tsi_read_call_args(b, event->args, &work, &kind.call);
		if (work.shape.bytes != NO_NUMBER || work.shape.grid_blocks)
			kind.call.shape = tsi_find_work_shape(b, &work.shape);
	} else if (span_class == TSCOPE_SPAN_ANNOTATION) {
		kind.annotation = read_annotation(b, event, kind.name);
		tsi_note_annotation(b, event->name);
	} else if (span_class == TSCOPE_SPAN_PYTHON) {
		kind.frame = b->frame;
		if (b->frame.use == FRAME_ALL)
			kind.frame.place = (uint8_t)tsi_frame_place(
				tsi_intern_text(&b->trace->names, kind.name));
		b->trace->chosen_frame_count += b->frame.use != FRAME_ALL;
		b->trace->has_places = true;
	}
	add_row(b, event, &kind, &work);
}

static void add_device_row(struct builder *b, const struct raw_event *event, uint8_t span_class)
{
	if (tsi_is_device_mark(event->name))
		return;
	struct span_kind kind = { .span_class = span_class };
	struct copy_name_room room;
	struct raw_work work;
	tsi_read_device_args(b, event->args, &work);
	tsi_place_uncategorised(event, &work.place);
	kind.device.shape = tsi_find_work_shape(b, &work.shape);
	kind.device.direction = work.direction;
	kind.device.graph = work.graph;
	kind.device.place = tsi_find_work_place(b, work.module, work.source);
	kind.track = tsi_find_device_track(b, event, work.place);
	kind.name = tsi_builder_name(b, tsi_copy_name(event, &work, &room), event->name_escaped);
	b->untimed_count += event->ts_ns == 0 && event->dur_ns == 0;
	add_row(b, event, &kind, &work);
}

/* ---- events -------------------------------------------------------------------------- */

/* Where PyTorch puts the row of its own span; "Traces" until 2021; Composer overwrites the pid. */
static bool is_profiler_track(const struct raw_event *event)
{
	return tsi_str_is(event->pid, "Spans") || tsi_str_is(event->pid, "Traces") ||
	       tsi_str_starts(event->tid, "PyTorch Profiler");
}

static void note_capture(struct tscope_trace *trace, const struct raw_event *event)
{
	int64_t end = event->ts_ns + event->dur_ns;
	if (trace->capture_start_ns == NO_NUMBER || event->ts_ns < trace->capture_start_ns)
		trace->capture_start_ns = event->ts_ns;
	if (trace->capture_end_ns == NO_NUMBER || end > trace->capture_end_ns)
		trace->capture_end_ns = end;
}

static uint8_t class_of(const struct raw_event *event, const struct category_rule *rule)
{
	uint8_t span_class = rule->span_class;
	if (event->cat.length == 0)
		span_class = tsi_class_without_category(event);
	else if (span_class == TSCOPE_SPAN_CPU_OP && tsi_is_step_marker(event->name))
		return TSCOPE_SPAN_ANNOTATION; /* Ascend files all that PyTorch records as that */
	return rule->is_class_by_name ? tsi_classify_host_name(event->name, span_class)
				      : span_class;
}

/* Is it a span of some kind, and wanted? */
static bool is_span(const struct builder *b, const struct category_rule *rule)
{
	if (rule->use == USE_FRAME)
		return b->options.python;
	return rule->use != USE_NONE && rule->use != USE_SYNC;
}

/* Most events are these. */
static inline void take_complete(struct builder *b, const struct raw_event *event,
				 const struct category_rule *rule)
{
	if (rule->use == USE_SYNC)
		tsi_add_sync_record(b, event);
	if (rule->use == USE_FRAME ? !tsi_keeps_frame(b, event) : !is_span(b, rule))
		return;
	if (!event->has_dur) {
		b->sink.diagnostics[TSCOPE_DIAGNOSTIC_missing_duration]++;
		return;
	}
	if (!tsi_is_timed(b, event))
		return;
	if (rule->use == USE_CAPTURE && is_profiler_track(event)) {
		note_capture(b->trace, event);
		return;
	}
	uint8_t span_class = class_of(event, rule);
	if (tsi_class_is_device(span_class))
		add_device_row(b, event, span_class);
	else
		add_host_row(b, event, span_class);
}

/* The row's number, or NO_ROW where that failed. */
static uint32_t add_open_row(struct builder *b, const struct raw_event *event, uint8_t span_class)
{
	struct raw_event open = *event;
	open.dur_ns = OPEN_DURATION;
	b->has_open_rows = true;
	b->frame = (struct frame_traits){ .use = FRAME_ALL };
	add_host_row(b, &open, span_class);
	return b->status == TSCOPE_OK ? b->trace->spans.count - 1 : NO_ROW;
}

/* Opens a row on the event's thread that an E, or the end of the trace, will close. */
static void take_begin(struct builder *b, const struct raw_event *event,
		       const struct category_rule *rule)
{
	if (event->has_dur) { /* VizTracer's way to write an X that has not ended */
		take_complete(b, event, rule);
		return;
	}
	if (!is_span(b, rule) || !tsi_is_timed(b, event))
		return;

	uint8_t span_class = class_of(event, rule);
	if (tsi_class_is_device(span_class))
		span_class = TSCOPE_SPAN_OTHER; /* no writer of device work uses pairs */
	uint32_t row = add_open_row(b, event, span_class);
	if (row == NO_ROW)
		return;
	tsi_add_mark(b, (struct slice_mark){
				.ts_ns = event->ts_ns,
				.track = tsi_trace_track_of(b->trace, row),
				.name = tsi_name_id(&b->trace->spans, row),
				.row = row,
			});
}

static void take_end(struct builder *b, const struct raw_event *event,
		     const struct category_rule *rule)
{
	if (!is_span(b, rule) || !tsi_is_timed(b, event))
		return;
	struct slice_mark mark = { .ts_ns = event->ts_ns, .row = NO_ROW };
	mark.track = tsi_find_host_track(b, event);
	mark.name = tsi_builder_name(b, event->name, event->name_escaped);
	tsi_add_mark(b, mark);
}

/*
 * One end of an asynchronous slice. The two ends are paired by category and id,
 * whatever thread they are on, so each (category, id) is a track of its own.
 */
static void take_async(struct builder *b, const struct raw_event *event,
		       const struct category_rule *rule)
{
	const struct str parts[] = { TSI_STR("async "), event->cat, TSI_STR(" "), event->id };
	struct raw_event slice = *event;
	size_t length = 0;
	for (size_t i = 0; i < TSI_COUNT_OF(parts); i++) {
		if (!tsi_builder_reserve(b, &b->text, &b->text_capacity, length + parts[i].length,
					 1))
			return;
		if (parts[i].length)
			memcpy(b->text + length, parts[i].data, parts[i].length);
		length += parts[i].length;
	}
	slice.tid = (struct str){ b->text, length };
	if (event->phase == 'b' || event->phase == 'S')
		take_begin(b, &slice, rule);
	else
		take_end(b, &slice, rule);
}

/* VizTracer counts garbage collections: "collecting" 1 begins a pause, 0 ends it. */
static void take_collection(struct builder *b, const struct raw_event *event)
{
	int64_t collecting;
	if (!tsi_json_to_int64(tsi_json_object_get(event->args, TSI_STR("collecting")),
			       &collecting) ||
	    !tsi_is_timed(b, event))
		return;

	struct spans *spans = &b->trace->spans;
	uint32_t track = tsi_find_host_track(b, event), row;
	if (collecting) {
		row = add_open_row(b, event, TSCOPE_SPAN_GC);
		if (row != NO_ROW)
			tsi_builder_put(b, &b->gc_row_of, track, row);
		return;
	}
	row = tsi_key_map_find(&b->gc_row_of, track);
	if (row != NO_ROW && tsi_dur_ns(spans, row) == OPEN_DURATION &&
	    event->ts_ns >= tsi_start_ns(spans, row))
		tsi_length_put(&spans->durations, row, event->ts_ns - tsi_start_ns(spans, row));
}

static void take_counter(struct builder *b, const struct raw_event *event)
{
	if (tsi_str_is(event->name, "garbage collection"))
		take_collection(b, event);
	else if (tsi_is_timed(b, event))
		tsi_add_counter_values(b, event);
}

static bool is_window_end(struct str name)
{
	return tsi_str_starts(name, "Record Window End");
}

static void take_instant(struct builder *b, const struct raw_event *event)
{
	if (tsi_is_memory_event(event->name)) {
		if (tsi_is_timed(b, event))
			tsi_add_allocator_point(b, event);
	} else if (event->has_ts && is_window_end(event->name)) {
		b->window_mark_ns = event->ts_ns;
	}
}

/*
 * The phases that are only counted: most flows (correlations in args say the same
 * and more), steps of asynchronous slices, samples, objects, memory dumps,
 * clock marks, contexts.
 */
static bool is_known_phase(char phase)
{
	static const char known[] = "stfnTpPNODvVc()";
	return memchr(known, phase, sizeof(known) - 1) != NULL;
}

/* Does an event that is no span only count? */
static bool is_only_counted(const struct raw_event *event)
{
	if (event->phase == 'i' || event->phase == 'I' || event->phase == 'R')
		return !tsi_is_memory_event(event->name) && !is_window_end(event->name);
	return is_known_phase(event->phase);
}

void tsi_tick(struct builder *b)
{
	b->events_until_tick = TICK_EVENTS;
	if (b->options.tick)
		b->options.tick(b->options.tick_data);
	tsi_keep_memory_limit(b);
}

static void take_by_phase(struct builder *b, const struct raw_event *event,
			  const struct category_rule *rule)
{
	switch (event->phase) {
	case 'X':
		take_complete(b, event, rule);
		break;
	case 'B':
		take_begin(b, event, rule);
		break;
	case 'E':
		take_end(b, event, rule);
		break;
	case 'b':
	case 'e':
	case 'S':
	case 'F':
		take_async(b, event, rule);
		break;
	case 'C':
		/* A slice shows budgets as counters. */
		if (!tsi_str_is(event->cat, "tscope"))
			take_counter(b, event);
		break;
	case 'M':
		tsi_take_metadata_event(b, event);
		break;
	case 's':
	case 'f':
		tsi_add_flow(b, event);
		break;
	case 'i':
	case 'I':
	case 'R':
		take_instant(b, event);
		break;
	default:
		b->sink.diagnostics[TSCOPE_DIAGNOSTIC_unknown_phase] +=
			!is_known_phase(event->phase);
	}
}

/* Notes the state before the first event of a kind is taken. */
static struct kind_lesson begin_lesson(struct builder *b, const struct raw_event *event,
				       uint32_t category)
{
	const struct category_rule *rule = b->category_rules[category];
	bool is_span_phase = event->phase == 'X';
	bool is_frame = rule->use == USE_FRAME && tsi_chooses_frames(b);
	b->frame_least_ns = 0;
	return (struct kind_lesson){
		.row_count = b->trace->spans.count,
		.category = category,
		.point_count = b->trace->allocator_point_count,
		.bad_memory_count = b->sink.diagnostics[TSCOPE_DIAGNOSTIC_memory_without_total],
		.is_no_work = is_span_phase
				      ? rule->use != USE_SYNC && !is_span(b, rule) && !is_frame
				      : is_only_counted(event),
		.is_frame = is_span_phase && is_frame,
		.is_flow = tsi_is_launch_flow(event),
	};
}

enum tscope_status tsi_take_event(struct event_sink *sink, const struct raw_event *event,
				  struct tscope_error *err)
{
	struct builder *b = (struct builder *)sink;
	struct kind_lesson lesson = { .is_filtered = true };
	struct raw_event own;
	bool is_taken = true;

	if (tsi_unlikely(b->options.only != NULL)) {
		is_taken = tsi_is_of_rank(b, event);
		own = tsi_event_of_rank(b, event);
		event = &own;
	}
	if (tsi_likely(is_taken)) {
		uint32_t category = find_category(b, event);
		if (tsi_likely(b->status == TSCOPE_OK))
			tsi_count_event(b, category);
		if (tsi_unlikely(b->status != TSCOPE_OK))
			return tsi_builder_status(b, err);
		if (event->kind)
			lesson = begin_lesson(b, event, category);
		take_by_phase(b, event, b->category_rules[category]);
	}
	if (event->kind)
		tsi_learn_kind(b, event, &lesson);
	return tsi_unlikely(b->status != TSCOPE_OK) ? tsi_builder_status(b, err) : TSCOPE_OK;
}
