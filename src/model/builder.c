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
#include "model/builder.h"

#include "base/array.h"
#include "base/ckd.h"
#include "base/error.h"
#include "decode/json.h"
#include "model/build.h"

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
	    tsi_array_new(&b->trace->op_inputs, 1, sizeof(*b->trace->op_inputs), err) !=
		    TSCOPE_OK) {
		tsi_builder_free(b);
		return tsi_fail_nomem(err);
	}

	b->isa = tsi_scan_isa(NULL);
	b->sink.event = take_event;
	b->sink.metadata = tsi_take_metadata;
	b->options = *options;
	b->events_until_tick = TICK_EVENTS;
	b->composer_rank = -1;
	b->window_mark_ns = NO_NUMBER;
	b->trace->op_inputs_count = b->trace->op_inputs_capacity = 1; /* as the empty raw text */
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
	tsi_intern_deinit(&b->raw_inputs);
	free(b->concrete_use);
	free(b->category_rules);
	free(b->marks);
	free(b->thread_names);
	free(b->text);
	free(b);
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

static enum tscope_status grow_spans(struct spans *spans, struct tscope_error *err)
{
	/* All columns get the same room; `capacity` counts once the last one has it. */
	size_t wanted = (size_t)spans->count + 1, room = spans->capacity;
	size_t rooms[6] = { room, room, room, room, room, room };
	if (wanted >= NO_ROW)
		return tsi_fail(err, TSCOPE_E_LIMIT, "more than %" PRIu32 " spans (limit: spans)",
				NO_ROW - 1);
	if (tsi_array_reserve(&spans->start_ns, &rooms[0], wanted, sizeof(*spans->start_ns), err) !=
		    TSCOPE_OK ||
	    tsi_array_reserve(&spans->dur_ns, &rooms[1], wanted, sizeof(*spans->dur_ns), err) !=
		    TSCOPE_OK ||
	    tsi_array_reserve(&spans->name, &rooms[2], wanted, sizeof(*spans->name), err) !=
		    TSCOPE_OK ||
	    tsi_array_reserve(&spans->track, &rooms[3], wanted, sizeof(*spans->track), err) !=
		    TSCOPE_OK ||
	    tsi_array_reserve(&spans->extra, &rooms[4], wanted, sizeof(*spans->extra), err) !=
		    TSCOPE_OK ||
	    tsi_array_reserve(&spans->span_class, &rooms[5], wanted, sizeof(*spans->span_class),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	spans->capacity = rooms[5];
	return TSCOPE_OK;
}

/* What a new row is and where it belongs. */
struct row_place {
	uint8_t span_class;
	uint32_t name, track, extra;
};

static enum tscope_status add_row(struct builder *b, const struct raw_event *event,
				  struct row_place place, struct tscope_error *err)
{
	struct spans *spans = &b->trace->spans;
	enum tscope_status status;
	if (spans->count == spans->capacity && (status = grow_spans(spans, err)) != TSCOPE_OK)
		return status;

	uint32_t row = spans->count++;
	spans->start_ns[row] = event->ts_ns;
	spans->dur_ns[row] = event->dur_ns;
	spans->name[row] = place.name;
	spans->track[row] = place.track;
	spans->extra[row] = place.extra;
	spans->span_class[row] = place.span_class;
	return TSCOPE_OK;
}

static enum tscope_status add_cpu_op(struct builder *b, const struct raw_event *event,
				     uint32_t name, uint32_t *extra, struct tscope_error *err)
{
	struct tscope_trace *trace = b->trace;
	struct cpu_op op = { .collective = NO_ROW };
	enum tscope_status status = tsi_read_op_args(b, name, event->args, &op, err);
	if (status != TSCOPE_OK)
		return status;
	if (tsi_array_reserve(&trace->cpu_ops, &trace->cpu_op_capacity, trace->cpu_op_count + 1,
			      sizeof(op), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	*extra = (uint32_t)trace->cpu_op_count;
	trace->cpu_ops[trace->cpu_op_count++] = op;
	return TSCOPE_OK;
}

static enum tscope_status add_call(struct builder *b, const struct raw_event *event,
				   uint32_t *extra, struct tscope_error *err)
{
	struct tscope_trace *trace = b->trace;
	struct runtime_call call = { .bytes = NO_NUMBER, .phase = PHASE_COMPUTE };
	tsi_read_call_args(b, event->args, &call);
	if (tsi_array_reserve(&trace->calls, &trace->call_capacity, trace->call_count + 1,
			      sizeof(call), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	*extra = (uint32_t)trace->call_count;
	trace->calls[trace->call_count++] = call;
	return TSCOPE_OK;
}

/*
 * Of annotations that are collectives, whose size follows from what they were called with, and of
 * those that Composer numbers; nothing of others.
 */
static enum tscope_status add_extra(struct builder *b, const struct raw_event *event, uint32_t name,
				    uint32_t *extra, struct tscope_error *err)
{
	struct cpu_op op = { .collective = NO_ROW };
	enum tscope_status status;

	if (tsi_is_train_batch(event->name))
		return tsi_add_batch(b, event, extra, err);
	if (!tsi_backend_prefix(event->name))
		return TSCOPE_OK;
	status = tsi_read_op_args(b, name, event->args, &op, err);
	*extra = op.inputs;
	return status;
}

static enum tscope_status add_host_row(struct builder *b, const struct raw_event *event,
				       uint8_t span_class, struct tscope_error *err)
{
	struct row_place place = { .span_class = span_class, .extra = NO_ROW };
	enum tscope_status status = tsi_find_host_track(b, event, &place.track, err);
	if (status == TSCOPE_OK)
		status = tsi_builder_intern(b, event->name, event->name_escaped, &place.name, err);
	if (status == TSCOPE_OK && span_class == TSCOPE_SPAN_CPU_OP)
		status = add_cpu_op(b, event, place.name, &place.extra, err);
	if (status == TSCOPE_OK && span_class == TSCOPE_SPAN_RUNTIME)
		status = add_call(b, event, &place.extra, err);
	if (status == TSCOPE_OK && span_class == TSCOPE_SPAN_ANNOTATION)
		status = add_extra(b, event, place.name, &place.extra, err);
	return status == TSCOPE_OK ? add_row(b, event, place, err) : status;
}

static enum tscope_status add_device_row(struct builder *b, const struct raw_event *event,
					 uint8_t span_class, struct tscope_error *err)
{
	struct tscope_trace *trace = b->trace;
	if (tsi_is_device_mark(event->name))
		return TSCOPE_OK;
	struct row_place place = { .span_class = span_class };
	struct device_place where = { NO_NUMBER, NO_NUMBER };
	if (tsi_array_reserve(&trace->device_events, &trace->device_event_capacity,
			      trace->device_event_count + 1, sizeof(*trace->device_events),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	place.extra = (uint32_t)trace->device_event_count;
	enum tscope_status status = tsi_read_device_args(
		b, event->args, &trace->device_events[place.extra], &where, err);
	if (status != TSCOPE_OK)
		return status;
	trace->device_event_count++;
	b->untimed_count += event->ts_ns == 0 && event->dur_ns == 0;
	status = tsi_find_device_track(b, event, where, &place.track, err);
	if (status == TSCOPE_OK)
		status = tsi_builder_intern(b, event->name, event->name_escaped, &place.name, err);
	return status == TSCOPE_OK ? add_row(b, event, place, err) : status;
}

/* ---- events -------------------------------------------------------------------------- */

/* Counts what makes a timed event useless. False: drop it. */
static bool is_timed(struct builder *b, const struct raw_event *event)
{
	enum tscope_diagnostic kind;
	int64_t end;
	if (!event->has_ts)
		kind = TSCOPE_DIAGNOSTIC_missing_timestamp;
	else if (event->ts_ns < -TIME_LIMIT_NS || event->ts_ns > TIME_LIMIT_NS ||
		 tsi_ckd_add(&end, event->ts_ns, event->dur_ns) || end > TIME_LIMIT_NS)
		kind = TSCOPE_DIAGNOSTIC_bad_timestamp;
	else
		return true;
	b->sink.diagnostics[kind]++;
	return false;
}

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
	if (!is_timed(b, event))
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
	if (!is_span(b, rule) || !is_timed(b, event))
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
				    .track = b->trace->spans.track[row],
				    .name = tsi_name_id(&b->trace->spans, row),
				    .row = row,
			    },
			    err);
}

static enum tscope_status take_end(struct builder *b, const struct raw_event *event,
				   const struct category_rule *rule, struct tscope_error *err)
{
	if (!is_span(b, rule) || !is_timed(b, event))
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
	    !is_timed(b, event))
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
		tsi_set_dur_ns(spans, row, event->ts_ns - tsi_start_ns(spans, row));
	return TSCOPE_OK;
}

static enum tscope_status take_counter(struct builder *b, const struct raw_event *event,
				       struct tscope_error *err)
{
	if (tsi_str_is(event->name, "garbage collection"))
		return take_collection(b, event, err);
	return is_timed(b, event) ? tsi_add_counter_values(b, event, err) : TSCOPE_OK;
}

static enum tscope_status take_instant(struct builder *b, const struct raw_event *event,
				       struct tscope_error *err)
{
	if (tsi_is_memory_event(event->name))
		return is_timed(b, event) ? tsi_add_allocator_point(b, event, err) : TSCOPE_OK;
	if (event->has_ts && tsi_str_starts(event->name, "Record Window End"))
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

static void tick(struct builder *b)
{
	b->events_until_tick = TICK_EVENTS;
	if (b->options.tick)
		b->options.tick(b->options.tick_data);
}

static enum tscope_status take_event(struct event_sink *sink, const struct raw_event *event,
				     struct tscope_error *err)
{
	struct builder *b = (struct builder *)sink;
	uint32_t category;
	if (tsi_unlikely(b->options.only != NULL) && !tsi_is_of_rank(b, event))
		return TSCOPE_OK;
	enum tscope_status status = find_category(b, event, &category, err);
	if (status != TSCOPE_OK)
		return status;
	b->trace->categories[category].count++;
	if (tsi_unlikely(--b->events_until_tick == 0))
		tick(b);
	const struct category_rule *rule = b->category_rules[category];

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
