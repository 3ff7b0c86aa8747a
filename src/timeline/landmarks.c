/* SPDX-License-Identifier: MIT */
/*
 * The first stage of the timeline: finds the host spans that say where steps begin and what a
 * thread waits for. The meaning of names stands in one table; each distinct name is looked up once.
 * A call means that its thread waits when it synchronises, or when it is a copy that came back only
 * after the copying.
 */
#include "timeline/landmarks.h"

#include "model/trace/classify.h"
#include "model/trace/composer.h"
#include "model/trace/python_name.h"
#include "timeline/iteration.h"

enum name_match { MATCH_START, MATCH_END };

struct name_label {
	struct str text;
	enum name_match match;
	uint16_t labels;
};

#define STARTS(literal, flags)                                                                     \
	{                                                                                          \
		{ literal, sizeof(literal) - 1 }, MATCH_START, flags                               \
	}
#define ENDS(literal, flags)                                                                       \
	{                                                                                          \
		{ literal, sizeof(literal) - 1 }, MATCH_END, flags                                 \
	}

/* A name has the labels of all rows that match it. */
static const struct name_label name_labels[] = {
	STARTS("ProfilerStep#", LABEL_PROFILER_STEP),
	STARTS("event/train_batch", LABEL_TRAIN_BATCH),
	STARTS("Optimizer.step#", LABEL_OPTIMIZER_STEP | LABEL_OPTIMIZER),
	/* Engines that do not name an iteration's contents (iteration.h): vLLM, SGLang. */
	STARTS("execute_", LABEL_ITERATION),
	STARTS("scheduler.run_batch", LABEL_ITERATION),
	STARTS("run_batch", LABEL_ITERATION),
	/* PyTorch, Composer, Lightning and what people write themselves */
	STARTS("enumerate(DataLoader)#", LABEL_DATA),
	STARTS("enumerate(DataPipe)#", LABEL_DATA),
	STARTS("event/dataloader", LABEL_DATA),
	STARTS("dataloader", LABEL_DATA),
	STARTS("DataLoader", LABEL_DATA),
	ENDS("dataloader_next", LABEL_DATA),
	STARTS("Optimizer.zero_grad#", LABEL_OPTIMIZER),
	ENDS(".optimizer_step", LABEL_OPTIMIZER),
	STARTS("forward", LABEL_FORWARD),
	STARTS("event/forward", LABEL_FORWARD),
	STARTS("event/loss", LABEL_FORWARD),
	ENDS(".forward", LABEL_FORWARD),
	ENDS(".training_step", LABEL_FORWARD),
	STARTS("backward", LABEL_BACKWARD),
	STARTS("event/backward", LABEL_BACKWARD),
	STARTS("## backward", LABEL_BACKWARD),
	ENDS(".backward", LABEL_BACKWARD),
	ENDS("(F)", LABEL_FORWARD), /* zero bubble, DualPipe */
	ENDS("(B)", LABEL_BACKWARD),
	ENDS("(W)", LABEL_BACKWARD),
	STARTS("record_param_comms", LABEL_COMM),
	STARTS("c10d::", LABEL_COMM),
	STARTS("gloo:", LABEL_COMM | LABEL_PEER),
	STARTS("nccl:", LABEL_COMM),
	STARTS("xccl:", LABEL_COMM),
	STARTS("hccl:", LABEL_COMM),
	STARTS("mpi:", LABEL_COMM | LABEL_PEER),
	STARTS("ucc:", LABEL_COMM),
};

enum {
	LABELS_SEEN = 1 << 15, /* in by_name: this name was looked up */
	LANDMARK_LABELS = LABEL_STEP_MARKER | LABEL_PROFILER_STEP | LABEL_TRAIN_BATCH |
			  LABEL_OPTIMIZER_STEP | LABEL_ITERATION | LABEL_DATA | LABEL_SYNC |
			  LABEL_OVERHEAD | LABEL_EVALUATION | LABEL_PEER,
};

static bool matches(struct str name, const struct name_label *pattern)
{
	if (pattern->match == MATCH_START)
		return tsi_str_has_prefix(name, pattern->text);
	if (name.length < pattern->text.length)
		return false;
	struct str end = { name.data + name.length - pattern->text.length, pattern->text.length };
	return tsi_str_equal(end, pattern->text);
}

/* Is it the user's marker: NAME, or NAME#12? */
static bool is_step_marker(struct str name, struct str marker)
{
	return marker.length && tsi_str_has_prefix(name, marker) &&
	       (name.length == marker.length || name.data[marker.length] == '#');
}

/* A function of Python may be named with its file and line, or without. */
static unsigned python_labels(const struct landmarks *marks, struct str name)
{
	static const uint16_t labels_of_work[] = {
		[PYTHON_DATA] = LABEL_DATA,
		[PYTHON_COMM] = LABEL_COMM,
		[PYTHON_FORWARD] = LABEL_FORWARD,
		[PYTHON_BACKWARD] = LABEL_BACKWARD,
		[PYTHON_OPTIMIZER] = LABEL_OPTIMIZER,
		[PYTHON_OPTIMIZER_STEP] = LABEL_OPTIMIZER_STEP | LABEL_OPTIMIZER,
	};
	unsigned labels = 0;

	if (is_step_marker(name, marks->step_marker) ||
	    is_step_marker(tsi_python_name(name).function, marks->step_marker))
		labels = LABEL_STEP_MARKER;
	/* PyTorch's annotations and operators say the same, also where frames are not kept. */
	return marks->trace->is_viztracer ? labels | labels_of_work[tsi_classify_python(name)]
					  : labels;
}

static unsigned annotation_labels(const struct landmarks *marks, struct str name)
{
	struct callback_name callback;
	unsigned labels = 0;

	if (is_step_marker(name, marks->step_marker))
		labels = LABEL_STEP_MARKER;
	if (tsi_callback_name(name, &callback))
		labels |= LABEL_CALLBACK;
	if (tsi_is_backward_node(name))
		labels |= LABEL_BACKWARD;
	if (tsi_is_evaluation(name))
		labels |= LABEL_EVALUATION;
	if (tsi_parse_iteration(name, &(struct iteration){ 0 }))
		labels |= LABEL_ITERATION;
	for (size_t i = 0; i < TSI_COUNT_OF(name_labels); i++)
		if (matches(name, &name_labels[i]))
			labels |= name_labels[i].labels;
	return labels;
}

static TSI_COLD void look_up_name(const struct landmarks *marks, uint32_t name_id, bool is_python)
{
	struct str name = tsi_intern_text(&marks->trace->names, name_id);
	unsigned labels = is_python ? python_labels(marks, name) : annotation_labels(marks, name);

	marks->by_name[name_id] |= (labels | LABELS_SEEN) << (is_python ? LABEL_BITS : 0);
}

/* Labels of a name, as that of an annotation or of a Python function. */
static inline unsigned labels_of_name(const struct landmarks *marks, uint32_t name_id,
				      bool is_python)
{
	unsigned shift = is_python ? LABEL_BITS : 0;

	if (tsi_unlikely(!(marks->by_name[name_id] >> shift & LABELS_SEEN)))
		look_up_name(marks, name_id, is_python);
	return marks->by_name[name_id] >> shift & (LABELS_SEEN - 1);
}

static inline unsigned labels_of(const struct landmarks *marks, const struct span_kind *kind)
{
	uint32_t name = kind->name;

	switch (kind->span_class) {
	case TSCOPE_SPAN_CPU_OP: /* PyTorch below 1.10 writes annotations as operators */
		return labels_of_name(marks, name, false) & ~(unsigned)LABEL_ITERATION;
	case TSCOPE_SPAN_ANNOTATION:
	case TSCOPE_SPAN_OTHER:
		return labels_of_name(marks, name, false);
	case TSCOPE_SPAN_PYTHON: /* where most are not kept, steps would be missing */
		return tsi_is_chosen_frame(kind) ? 0 : labels_of_name(marks, name, true);
	case TSCOPE_SPAN_OVERHEAD:
		return LABEL_OVERHEAD;
	default:
		return 0;
	}
}

unsigned tsi_labels_of_kind(const struct landmarks *marks, const struct span_kind *kind)
{
	return labels_of(marks, kind);
}

unsigned tsi_labels_of_row(const struct landmarks *marks, uint32_t row)
{
	return tsi_labels_of_kind(marks, tsi_span_kind(&marks->trace->spans, row));
}

/* For pageable memory "Async" is but a name: such a call returns when the copy is done. */
static void find_pageable_waits(struct landmarks *marks)
{
	const struct tscope_trace *trace = marks->trace;

	for (uint32_t d = 0; d < trace->device_count; d++) {
		const struct device *device = &trace->devices[d];
		for (uint32_t i = 0; i < device->row_count; i++) {
			uint32_t row = device->rows[i];
			const struct device_event *event = tsi_device_event(trace, row);
			if (tsi_work_traits(trace, row)->pageable && event->call != NO_ROW &&
			    tsi_span_end(trace, row) <= tsi_span_end(trace, event->call))
				marks->waits_by_call[tsi_call_index(trace, event->call)] = true;
		}
	}
}

bool tsi_is_wait_call(const struct landmarks *marks, uint32_t row)
{
	const struct tscope_trace *trace = marks->trace;
	uint8_t kind = tsi_call_kind(trace, row);

	if (kind == CALL_SYNC)
		return true;
	if (kind != CALL_MEMCPY)
		return false;
	return marks->waits_by_call[tsi_call_index(trace, row)] ||
	       tsi_str_find(tsi_span_name(trace, row), TSI_STR("Async")) < 0;
}

/* Operators, annotations, calls and slices; not pauses and overhead. */
static bool is_work(const struct landmarks *marks, unsigned span_class)
{
	if (span_class == TSCOPE_SPAN_PYTHON) /* all there is, or frames around the rest */
		return marks->trace->is_viztracer && marks->trace->cpu_op_count == 0;
	return span_class <= TSCOPE_SPAN_RUNTIME || span_class == TSCOPE_SPAN_OTHER;
}

/* Facts about a kind of spans. */
enum {
	KIND_IS_WORK = 1 << 0,
	KIND_MAY_MARK = 1 << 1, /* its spans make landmarks, or calls of it may */
};

static void look_at_kinds(const struct landmarks *marks, uint8_t *by_kind)
{
	const struct spans *spans = &marks->trace->spans;

	for (uint32_t i = 0; i < spans->kind_count; i++) {
		const struct span_kind *kind = &spans->kinds[i];
		unsigned facts = is_work(marks, kind->span_class) ? KIND_IS_WORK : 0;

		if (kind->span_class == TSCOPE_SPAN_RUNTIME
			    ? kind->call.kind == CALL_SYNC || kind->call.kind == CALL_MEMCPY
			    : labels_of(marks, kind) & LANDMARK_LABELS)
			facts |= KIND_MAY_MARK;
		by_kind[i] = (uint8_t)facts;
	}
}

/* Context of a walk over the rows of the threads. */
struct search {
	struct landmarks *marks;
	struct arena *arena;    /* of the landmarks */
	const uint8_t *by_kind; /* what the kinds say */
};

/* Adds a span whose kind may mark something. */
static void add_landmark(const struct search *s, uint32_t row, uint32_t track_index)
{
	struct landmarks *marks = s->marks;
	unsigned labels = tsi_labels_of_row(marks, row) & LANDMARK_LABELS;

	if (tsi_span_class(&marks->trace->spans, row) == TSCOPE_SPAN_RUNTIME)
		labels = tsi_is_wait_call(marks, row) ? LABEL_SYNC : 0;
	if (!labels)
		return;
	if (tsi_unlikely(marks->count == marks->capacity)) {
		struct landmark *items = tsi_arena_reserve(s->arena, marks->items, &marks->capacity,
							   marks->count + 1, sizeof(*items));
		if (!items)
			return;
		marks->items = items;
	}
	marks->items[marks->count++] = (struct landmark){ row, track_index, (uint16_t)labels };
}

/* Adds the landmarks of one thread; returns the number of its spans that are work. */
static uint32_t collect_track(const struct search *s, uint32_t track_index)
{
	const struct track *track = &s->marks->trace->tracks[track_index];
	const uint32_t *kinds = s->marks->trace->spans.kind;
	const uint8_t *by_kind = s->by_kind;
	uint32_t work_count = 0;

	for (uint32_t row = track->first, end = row + track->count; row < end; row++) {
		uint8_t facts = by_kind[kinds[row]];

		work_count += facts & KIND_IS_WORK;
		if (tsi_unlikely(facts & KIND_MAY_MARK))
			add_landmark(s, row, track_index);
	}
	return work_count;
}

/*
 * Among threads that run only Python, the main one may be that which calls least: it waits for the
 * others.
 */
static bool is_main_of_python(const struct tscope_trace *trace, const struct track *track)
{
	return trace->is_viztracer && trace->cpu_op_count == 0 &&
	       (track->pid == track->tid ||
		tsi_str_is(tsi_intern_text(&trace->names, track->name), "MainThread"));
}

/* A thread, by what makes it the busiest: the greater the better, 0: it cannot be. */
static uint64_t rank_track(const struct tscope_trace *trace, const struct track *track,
			   uint32_t work_count)
{
	if (track->is_autograd || work_count == 0)
		return 0;
	return (uint64_t)is_main_of_python(trace, track) << 32 | work_count;
}

void tsi_landmarks_init(struct landmarks *marks, const struct tscope_trace *trace,
			const char *step_marker, struct arena *arena, struct arena *scratch)
{
	uint8_t *by_kind = tsi_arena_new(scratch, trace->spans.kind_count, 1);
	struct search search = { marks, arena, by_kind };
	uint64_t best = 0;

	*marks = (struct landmarks){
		.trace = trace,
		.busiest_track = NO_ROW,
		.by_name = tsi_arena_new(arena, trace->names.count, sizeof(*marks->by_name)),
		.waits_by_call =
			tsi_arena_new(arena, trace->call_count, sizeof(*marks->waits_by_call)),
	};
	if (step_marker)
		marks->step_marker = tsi_str_of(step_marker);
	if (!by_kind || !marks->waits_by_call)
		return;

	find_pageable_waits(marks);
	look_at_kinds(marks, by_kind);
	for (uint32_t i = 0; i < trace->host_track_count; i++) {
		uint32_t work_count = collect_track(&search, i);
		uint64_t rank = rank_track(trace, &trace->tracks[i], work_count);
		if (rank > best) {
			best = rank;
			marks->busiest_track = i;
		}
	}
}
