/* SPDX-License-Identifier: MIT */
/*
 * Takes events from a decoder and makes rows of them. Millions come, so the
 * common path allocates nothing and looks little up: the category is one of a
 * few seen lately, the track likewise, and the name is interned straight from
 * the input's text. What is no work (flows, instants, painted ranges, Python
 * frames unless wanted) is counted and forgotten.
 *
 * The stages that need all rows are run by finish.c.
 */
#include "model/trace/builder.h"

#include "base/array.h"
#include "base/error.h"
#include "decode/json.h"
#include "model/trace/args.h"
#include "model/trace/build.h"

#include <inttypes.h>
#include <stdlib.h>

enum { DEFAULT_MAX_NAMES = 8 * 1024 * 1024 };

static enum tscope_status take_event(struct event_sink *sink, const struct raw_event *event,
				     struct tscope_error *err);

enum tscope_status tsi_builder_new(struct builder **ret, const struct builder_options *options,
				   struct tscope_error *err)
{
	struct builder *b = calloc(1, sizeof(*b));
	if (!b)
		return tsi_fail_nomem(err);
	b->trace = calloc(1, sizeof(*b->trace));
	size_t limit = options->max_names ? options->max_names : DEFAULT_MAX_NAMES;
	size_t input_limit = limit < MAX_INPUTS ? limit : MAX_INPUTS;
	if (!b->trace || tsi_intern_init(&b->trace->names, limit, err) != TSCOPE_OK ||
	    tsi_intern_init(&b->raw_inputs, input_limit, err) != TSCOPE_OK ||
	    tsi_intern_init(&b->span_kinds, SIZE_MAX, err) != TSCOPE_OK ||
	    tsi_intern_init(&b->work_shapes, SIZE_MAX, err) != TSCOPE_OK ||
	    tsi_array_new(&b->trace->op_inputs, 1, sizeof(*b->trace->op_inputs), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&b->trace->work_shapes, 1, sizeof(*b->trace->work_shapes), err) !=
		    TSCOPE_OK) {
		tsi_builder_free(b);
		return tsi_fail_nomem(err);
	}

	b->isa = tsi_scan_isa(NULL);
	b->sink.event = take_event;
	b->sink.repeat = tsi_take_repeat;
	b->sink.metadata = tsi_take_metadata;
	b->sink.arg_of = tsi_find_arg;
	b->options = *options;
	b->events_until_tick = TICK_EVENTS;
	b->composer_rank = -1;
	b->window_mark_ns = NO_NUMBER;
	b->trace->op_inputs_count = b->trace->op_inputs_capacity = 1; /* as the empty raw text */
	b->trace->work_shape_count = b->trace->work_shape_capacity = 1;
	b->trace->work_shapes[0] = tsi_no_shape();
	b->trace->capture_start_ns = NO_NUMBER;
	b->trace->capture_end_ns = NO_NUMBER;
	b->trace->info = (struct tscope_trace_info){
		.path = "",
		.format = "chrome",
		.compression = "none",
		.rank = -1,
		.world_size = -1,
		.backend = "",
		.device_name = "",
	};
	enum tscope_status status = tsi_know_rank_threads(b, err);
	if (status != TSCOPE_OK) {
		tsi_builder_free(b);
		return status;
	}
	*ret = b;
	return TSCOPE_OK;
}

void tsi_builder_free(struct builder *b)
{
	if (!b)
		return;
	tscope_trace_free(b->trace);
	tsi_key_map_deinit(&b->category_of);
	tsi_key_map_deinit(&b->host_track_of);
	tsi_key_map_deinit(&b->device_track_of);
	tsi_key_map_deinit(&b->gc_row_of);
	tsi_key_map_deinit(&b->counter_nodes);
	tsi_key_map_deinit(&b->counter_series);
	tsi_key_map_deinit(&b->composer_rank_of);
	tsi_key_map_deinit(&b->thread_of_rank);
	tsi_free_scaffold(b);
	free(b->concrete_use);
	free(b->category_rules);
	free(b->thread_names);
	free(b->text);
	free(b);
}

void tsi_free_scaffold(struct builder *b)
{
	tsi_intern_deinit(&b->raw_inputs);
	tsi_intern_deinit(&b->span_kinds);
	tsi_intern_deinit(&b->work_shapes);
	free(b->marks);
	free(b->known);
	b->marks = NULL;
	b->known = NULL;
}

struct event_sink *tsi_builder_sink(struct builder *b)
{
	return &b->sink;
}

enum tscope_status tsi_builder_intern(struct builder *b, struct str text, bool escaped,
				      uint32_t *id, struct tscope_error *err)
{
	if (tsi_unlikely(escaped)) {
		if (tsi_array_reserve(&b->text, &b->text_capacity, text.length, 1, err) !=
		    TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		uint64_t bad_escapes = 0;
		text.length = tsi_json_unescape(text, b->text, &bad_escapes);
		text.data = b->text;
		b->sink.diagnostics[TSCOPE_DIAGNOSTIC_bad_escape] += bad_escapes > 0;
	}
	return tsi_intern_add(&b->trace->names, text, id, err);
}

/* ---- categories ---------------------------------------------------------------------- */

static enum tscope_status add_category(struct builder *b, const struct raw_event *event,
				       uint32_t name, uint32_t *index, struct tscope_error *err)
{
	struct tscope_trace *trace = b->trace;
	size_t wanted = trace->category_count + 1;
	if (tsi_array_reserve(&trace->categories, &trace->category_capacity, wanted,
			      sizeof(*trace->categories), err) != TSCOPE_OK ||
	    tsi_array_reserve(&b->category_rules, &b->category_rule_capacity, wanted,
			      sizeof(*b->category_rules), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;

	*index = (uint32_t)trace->category_count;
	b->category_rules[*index] = tsi_classify_category(event->cat);
	trace->categories[*index] = (struct category){ .name = name, .phase = event->phase };
	trace->is_kineto |= b->category_rules[*index]->is_kineto;
	trace->category_count++;
	return TSCOPE_OK;
}

/* The index of the event's (phase, category) pair in trace->categories. */
static enum tscope_status find_category(struct builder *b, const struct raw_event *event,
					uint32_t *index, struct tscope_error *err)
{
	struct str cat = event->cat;
	size_t hash = (size_t)event->phase + cat.length * 5;
	if (cat.length)
		hash += (unsigned char)cat.data[0] * 3u + (unsigned char)cat.data[cat.length - 1];
	struct category_memo *memo = &b->category_memo[hash & (CATEGORY_MEMO_SLOTS - 1)];
	if (tsi_likely(memo->used && memo->phase == event->phase &&
		       tsi_str_equal(memo->text, cat))) {
		*index = memo->index;
		return TSCOPE_OK;
	}

	uint32_t name;
	enum tscope_status status = tsi_intern_add(&b->trace->names, cat, &name, err);
	if (status != TSCOPE_OK)
		return status;
	uint64_t key = tsi_key_of_pair(name, (unsigned char)event->phase);
	*index = tsi_key_map_find(&b->category_of, key);
	if (*index == NO_ROW && (add_category(b, event, name, index, err) != TSCOPE_OK ||
				 tsi_key_map_put(&b->category_of, key, *index, err) != TSCOPE_OK))
		return TSCOPE_E_NOMEM;
	*memo = (struct category_memo){ tsi_intern_text(&b->trace->names, name), *index,
					event->phase, true };
	return TSCOPE_OK;
}

/* ---- rows ---------------------------------------------------------------------------- */

static enum tscope_status add_row(struct builder *b, const struct raw_event *event,
				  const struct span_kind *kind, struct tscope_error *err)
{
	uint32_t index;
	enum tscope_status status = tsi_find_span_kind(b, kind, &index, err);
	return status == TSCOPE_OK
		       ? tsi_add_row(&b->trace->spans, event->ts_ns, event->dur_ns, index, err)
		       : status;
}

static enum tscope_status add_op(struct builder *b, const struct raw_event *event,
				 struct span_kind *kind, struct tscope_error *err)
{
	struct event_ids ids = { 0 };
	kind->op.collective = NO_ROW;
	enum tscope_status status =
		tsi_read_op_args(b, kind->name, event->args, &kind->op, &ids.external_id, err);
	return status == TSCOPE_OK ? tsi_add_op_ids(b, ids, err) : status;
}

static enum tscope_status add_call(struct builder *b, const struct raw_event *event,
				   struct span_kind *kind, struct tscope_error *err)
{
	struct event_ids ids = { 0 };
	struct work_shape shape = tsi_no_shape();
	tsi_read_call_args(b, event->args, &ids, &shape.bytes);
	enum tscope_status status = TSCOPE_OK;
	if (shape.bytes != NO_NUMBER)
		status = tsi_find_work_shape(b, &shape, &kind->call.shape, err);
	return status == TSCOPE_OK ? tsi_add_call(b, ids, err) : status;
}

/*
 * Of annotations that are collectives, whose size follows from what they were called with, and of
 * those that Composer numbers; nothing of others.
 */
static enum tscope_status add_annotation(struct builder *b, const struct raw_event *event,
					 struct span_kind *kind, struct tscope_error *err)
{
	struct cpu_op op = { .collective = NO_ROW };
	uint32_t external_id;
	enum tscope_status status;

	kind->annotation = NO_ROW;
	if (tsi_is_train_batch(event->name))
		return tsi_add_batch(b, event, &kind->annotation, err);
	if (!tsi_backend_prefix(event->name))
		return TSCOPE_OK;
	status = tsi_read_op_args(b, kind->name, event->args, &op, &external_id, err);
	kind->annotation = op.inputs;
	return status;
}

static enum tscope_status add_host_row(struct builder *b, const struct raw_event *event,
				       uint8_t span_class, struct tscope_error *err)
{
	struct span_kind kind = { .span_class = span_class };
	if (span_class == TSCOPE_SPAN_CPU_OP && tsi_drops_operator(b, event->dur_ns))
		return TSCOPE_OK;
	enum tscope_status status = tsi_find_host_track(b, event, &kind.track, err);
	if (status == TSCOPE_OK)
		status = tsi_builder_intern(b, event->name, event->name_escaped, &kind.name, err);
	if (status == TSCOPE_OK && span_class == TSCOPE_SPAN_CPU_OP)
		status = add_op(b, event, &kind, err);
	if (status == TSCOPE_OK && span_class == TSCOPE_SPAN_RUNTIME)
		status = add_call(b, event, &kind, err);
	if (status == TSCOPE_OK && span_class == TSCOPE_SPAN_ANNOTATION)
		status = add_annotation(b, event, &kind, err);
	return status == TSCOPE_OK ? add_row(b, event, &kind, err) : status;
}

static enum tscope_status add_device_row(struct builder *b, const struct raw_event *event,
					 uint8_t span_class, struct tscope_error *err)
{
	if (tsi_is_device_mark(event->name))
		return TSCOPE_OK;
	struct span_kind kind = { .span_class = span_class };
	struct raw_work work;
	enum tscope_status status = tsi_read_device_args(b, event->args, &work, err);
	if (status == TSCOPE_OK)
		status = tsi_add_device_event(b, work.ids, work.collective, err);
	if (status == TSCOPE_OK)
		status = tsi_find_work_shape(b, &work.shape, &kind.device.shape, err);
	if (status == TSCOPE_OK)
		status = tsi_find_device_track(b, event, work.place, &kind.track, err);
	if (status == TSCOPE_OK)
		status = tsi_builder_intern(b, event->name, event->name_escaped, &kind.name, err);
	if (status != TSCOPE_OK)
		return status;
	kind.device.direction = work.direction;
	kind.device.graph = work.graph;
	b->untimed_count += event->ts_ns == 0 && event->dur_ns == 0;
	return add_row(b, event, &kind, err);
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

/* torch.autograd's own exporter has no categories, only two processes with these names. */
static uint8_t class_without_category(const struct raw_event *event)
{
	if (tsi_str_is(event->pid, "CPU functions"))
		return TSCOPE_SPAN_CPU_OP;
	if (tsi_str_is(event->pid, "CUDA functions"))
		return TSCOPE_SPAN_KERNEL;
	return TSCOPE_SPAN_OTHER;
}

static uint8_t class_of(const struct raw_event *event, const struct category_rule *rule)
{
	uint8_t span_class = rule->span_class;
	if (event->cat.length == 0)
		span_class = class_without_category(event);
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
static inline enum tscope_status take_complete(struct builder *b, const struct raw_event *event,
					       const struct category_rule *rule,
					       struct tscope_error *err)
{
	if (rule->use == USE_SYNC)
		return tsi_add_sync_record(b, event, err);
	if (!is_span(b, rule))
		return TSCOPE_OK;
	if (!event->has_dur) {
		b->sink.diagnostics[TSCOPE_DIAGNOSTIC_missing_duration]++;
		return TSCOPE_OK;
	}
	if (!tsi_is_timed(b, event))
		return TSCOPE_OK;
	if (rule->use == USE_CAPTURE && is_profiler_track(event)) {
		note_capture(b->trace, event);
		return TSCOPE_OK;
	}
	uint8_t span_class = class_of(event, rule);
	if (tsi_class_is_device(span_class))
		return add_device_row(b, event, span_class, err);
	return add_host_row(b, event, span_class, err);
}

static enum tscope_status add_open_row(struct builder *b, const struct raw_event *event,
				       uint8_t span_class, struct tscope_error *err)
{
	struct raw_event open = *event;
	open.dur_ns = OPEN_DURATION;
	b->has_open_rows = true;
	return add_host_row(b, &open, span_class, err);
}

/* Opens a row on the event's thread that an E, or the end of the trace, will close. */
static enum tscope_status take_begin(struct builder *b, const struct raw_event *event,
				     const struct category_rule *rule, struct tscope_error *err)
{
	if (event->has_dur) /* VizTracer's way to write an X that has not ended */
		return take_complete(b, event, rule, err);
	if (!is_span(b, rule) || !tsi_is_timed(b, event))
		return TSCOPE_OK;

	uint8_t span_class = class_of(event, rule);
	if (tsi_class_is_device(span_class))
		span_class = TSCOPE_SPAN_OTHER; /* no writer of device work uses pairs */
	enum tscope_status status = add_open_row(b, event, span_class, err);
	if (status != TSCOPE_OK)
		return status;

	uint32_t row = b->trace->spans.count - 1;
	return tsi_add_mark(b,
			    (struct slice_mark){
				    .ts_ns = event->ts_ns,
				    .track = tsi_trace_track_of(b->trace, row),
				    .name = tsi_name_id(&b->trace->spans, row),
				    .row = row,
			    },
			    err);
}

static enum tscope_status take_end(struct builder *b, const struct raw_event *event,
				   const struct category_rule *rule, struct tscope_error *err)
{
	if (!is_span(b, rule) || !tsi_is_timed(b, event))
		return TSCOPE_OK;
	struct slice_mark mark = { .ts_ns = event->ts_ns, .row = NO_ROW };
	enum tscope_status status = tsi_find_host_track(b, event, &mark.track, err);
	if (status == TSCOPE_OK)
		status = tsi_builder_intern(b, event->name, event->name_escaped, &mark.name, err);
	return status == TSCOPE_OK ? tsi_add_mark(b, mark, err) : status;
}

/*
 * One end of an asynchronous slice. The two ends are paired by category and id,
 * whatever thread they are on, so each (category, id) is a track of its own.
 */
static enum tscope_status take_async(struct builder *b, const struct raw_event *event,
				     const struct category_rule *rule, struct tscope_error *err)
{
	const struct str parts[] = { TSI_STR("async "), event->cat, TSI_STR(" "), event->id };
	struct raw_event slice = *event;
	size_t length = 0;
	for (size_t i = 0; i < TSI_COUNT_OF(parts); i++) {
		if (tsi_array_reserve(&b->text, &b->text_capacity, length + parts[i].length, 1,
				      err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		if (parts[i].length)
			memcpy(b->text + length, parts[i].data, parts[i].length);
		length += parts[i].length;
	}
	slice.tid = (struct str){ b->text, length };
	return event->phase == 'b' || event->phase == 'S' ? take_begin(b, &slice, rule, err)
							  : take_end(b, &slice, rule, err);
}

/* VizTracer counts garbage collections: "collecting" 1 begins a pause, 0 ends it. */
static enum tscope_status take_collection(struct builder *b, const struct raw_event *event,
					  struct tscope_error *err)
{
	int64_t collecting;
	if (!tsi_json_to_int64(tsi_json_object_get(event->args, TSI_STR("collecting")),
			       &collecting) ||
	    !tsi_is_timed(b, event))
		return TSCOPE_OK;

	struct spans *spans = &b->trace->spans;
	uint32_t track;
	enum tscope_status status = tsi_find_host_track(b, event, &track, err);
	if (status != TSCOPE_OK)
		return status;
	if (collecting) {
		status = add_open_row(b, event, TSCOPE_SPAN_GC, err);
		return status == TSCOPE_OK
			       ? tsi_key_map_put(&b->gc_row_of, track, spans->count - 1, err)
			       : status;
	}
	uint32_t row = tsi_key_map_find(&b->gc_row_of, track);
	if (row != NO_ROW && tsi_dur_ns(spans, row) == OPEN_DURATION &&
	    event->ts_ns >= tsi_start_ns(spans, row))
		return tsi_length_put(&spans->durations, row,
				      event->ts_ns - tsi_start_ns(spans, row), err);
	return TSCOPE_OK;
}

static enum tscope_status take_counter(struct builder *b, const struct raw_event *event,
				       struct tscope_error *err)
{
	if (tsi_str_is(event->name, "garbage collection"))
		return take_collection(b, event, err);
	return tsi_is_timed(b, event) ? tsi_add_counter_values(b, event, err) : TSCOPE_OK;
}

static bool is_window_end(struct str name)
{
	return tsi_str_starts(name, "Record Window End");
}

static enum tscope_status take_instant(struct builder *b, const struct raw_event *event,
				       struct tscope_error *err)
{
	if (tsi_is_memory_event(event->name))
		return tsi_is_timed(b, event) ? tsi_add_allocator_point(b, event, err) : TSCOPE_OK;
	if (event->has_ts && is_window_end(event->name))
		b->window_mark_ns = event->ts_ns;
	return TSCOPE_OK;
}

/*
 * The phases that are only counted: flows (correlations in args say the same
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

enum tscope_status tsi_tick(struct builder *b, struct tscope_error *err)
{
	b->events_until_tick = TICK_EVENTS;
	if (b->options.tick)
		b->options.tick(b->options.tick_data);
	return tsi_keep_memory_limit(b, err);
}

static enum tscope_status take_by_phase(struct builder *b, const struct raw_event *event,
					const struct category_rule *rule, struct tscope_error *err)
{
	switch (event->phase) {
	case 'X':
		return take_complete(b, event, rule, err);
	case 'B':
		return take_begin(b, event, rule, err);
	case 'E':
		return take_end(b, event, rule, err);
	case 'b':
	case 'e':
	case 'S':
	case 'F':
		return take_async(b, event, rule, err);
	case 'C':
		return take_counter(b, event, err);
	case 'M':
		return tsi_take_metadata_event(b, event, err);
	case 'i':
	case 'I':
	case 'R':
		return take_instant(b, event, err);
	}
	if (!is_known_phase(event->phase))
		b->sink.diagnostics[TSCOPE_DIAGNOSTIC_unknown_phase]++;
	return TSCOPE_OK;
}

/* What is to be known of a kind before its first event is taken. */
static struct kind_lesson begin_lesson(const struct builder *b, const struct raw_event *event,
				       uint32_t category)
{
	const struct category_rule *rule = b->category_rules[category];
	bool is_span_phase = event->phase == 'X';
	return (struct kind_lesson){
		.row_count = b->trace->spans.count,
		.category = category,
		.point_count = b->trace->allocator_point_count,
		.bad_memory_count = b->sink.diagnostics[TSCOPE_DIAGNOSTIC_memory_without_total],
		.is_no_work = is_span_phase ? rule->use != USE_SYNC && !is_span(b, rule)
					    : is_only_counted(event),
	};
}

static enum tscope_status take_event(struct event_sink *sink, const struct raw_event *event,
				     struct tscope_error *err)
{
	struct builder *b = (struct builder *)sink;
	uint32_t category;
	if (tsi_unlikely(b->options.only != NULL) && !tsi_is_of_rank(b, event)) {
		struct kind_lesson lesson = { .is_filtered = true };
		return event->kind ? tsi_learn_kind(b, event, &lesson, err) : TSCOPE_OK;
	}
	enum tscope_status status = find_category(b, event, &category, err);
	if (status != TSCOPE_OK)
		return status;
	if ((status = tsi_count_event(b, category, err)) != TSCOPE_OK)
		return status;
	const struct category_rule *rule = b->category_rules[category];
	if (!event->kind)
		return take_by_phase(b, event, rule, err);
	struct kind_lesson lesson = begin_lesson(b, event, category);
	status = take_by_phase(b, event, rule, err);
	return status == TSCOPE_OK ? tsi_learn_kind(b, event, &lesson, err) : status;
}
