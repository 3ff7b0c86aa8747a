/* SPDX-License-Identifier: MIT */
/*
 * One pass over the rows of each thread with a stack of what is open: frames of modules, frames of
 * the user's code, annotations, operators that say their place, nodes of the backward pass. The
 * threads of the backward pass come last: they are where the forward operators were.
 */
#include "analyze/modules/places.h"

#include "analyze/modules/forward_ops.h"
#include "analyze/modules/module_marks.h"
#include "analyze/modules/module_tree.h"
#include "analyze/modules/waiting_threads.h"
#include "analyze/ops/graph_join.h"
#include "base/bisect.h"
#include "model/trace/device_rows.h"
#include "model/trace/python_name.h"

/* PASSES_OP: an operator that changes no place, and only has its turn in op_sequences. */
enum opener { OPENS_NOTHING, PASSES_OP, OPENS_OP, OPENS_MODULE, OPENS_SOURCE, OPENS_MARK };

struct open_place {
	int64_t end_ns; /* its own, or that of what is around it, if earlier */
	struct place place;
	uint32_t number;     /* of it, in places->numbered */
	bool is_link;        /* a node of the backward pass, in the place of its forward operator */
	bool is_unit;        /* of FSDP, which has no name */
	uint32_t unit_count; /* that were called in it */
};

struct place_walk {
	struct places *places;
	const struct tscope_trace *trace;
	struct arena *arena;  /* of the places */
	struct arena scratch; /* of the rest */
	uint8_t *openers;     /* enum opener, by kind of span */
	struct module_tree tree;
	struct module_marks marks;
	unsigned source;         /* enum module_source, those that threads go by */
	bool reads_call_stacks;  /* no frames say functions */
	struct forward_ops *ops; /* forward operators */
	struct open_place *stack;
	size_t depth, capacity;
	uint32_t step; /* of the last question */
};

static bool has_failed(const struct place_walk *w)
{
	return w->scratch.has_failed || w->arena->has_failed || w->tree.has_failed;
}

static uint32_t number_of(struct place_walk *w, struct place place)
{
	return tsi_pair_set_add(&w->places->numbered, place.source,
				2 * place.node + place.is_backward);
}

static void note_point(struct place_walk *w, struct thread_places *thread, int64_t start_ns,
		       uint32_t number)
{
	size_t count = thread->count;

	if (count && thread->starts_ns[count - 1] >= start_ns) {
		thread->numbers[count - 1] = number;
		return;
	}
	if ((count ? thread->numbers[count - 1] : 0) == number)
		return;
	int64_t *starts_ns = tsi_arena_reserve(w->arena, thread->starts_ns, &thread->start_capacity,
					       count + 1, sizeof(*thread->starts_ns));
	thread->starts_ns = starts_ns ? starts_ns : thread->starts_ns;
	uint32_t *point = tsi_arena_push(w->arena, &thread->numbers, &thread->count,
					 &thread->number_capacity, sizeof(*point));
	if (!point)
		return;
	*point = number;
	starts_ns[count] = start_ns;
}

static struct place current(const struct place_walk *w)
{
	return w->depth ? w->stack[w->depth - 1].place : (struct place){ 0 };
}

static void close_until(struct place_walk *w, struct thread_places *thread, int64_t t_ns)
{
	while (w->depth && w->stack[w->depth - 1].end_ns <= t_ns) {
		int64_t end_ns = w->stack[--w->depth].end_ns;

		note_point(w, thread, end_ns, w->depth ? w->stack[w->depth - 1].number : 0);
	}
}

/* At start_ns of what ends then. */
static struct open_place *open_place(struct place_walk *w, struct thread_places *thread,
				     int64_t start_ns, int64_t end_ns, struct place place)
{
	if (w->depth && w->stack[w->depth - 1].end_ns < end_ns)
		end_ns = w->stack[w->depth - 1].end_ns;
	uint32_t number = number_of(w, place);
	struct open_place *open =
		tsi_arena_push(&w->scratch, &w->stack, &w->depth, &w->capacity, sizeof(*open));
	if (!open || number == UINT32_MAX)
		return NULL;
	*open = (struct open_place){ .end_ns = end_ns, .place = place, .number = number };
	note_point(w, thread, start_ns, number);
	return open;
}

static void open_row(struct place_walk *w, struct thread_places *thread, uint32_t row,
		     struct place place, bool is_link)
{
	struct open_place *open = open_place(w, thread, tsi_start_ns(&w->trace->spans, row),
					     tsi_span_end(w->trace, row), place);
	if (open)
		open->is_link = is_link;
}

static void count_call(struct place_walk *w, struct place place, int64_t start_ns)
{
	const struct tscope_timeline *timeline = w->places->timeline;
	uint32_t step = tsi_timeline_step_near(timeline, start_ns, &w->step);

	if (has_failed(w))
		return;
	w->places->nodes[place.node].is_timed = true;
	if (step == NO_ROW || !tsi_place_step_counts(w->places, step))
		return;
	w->places->nodes[place.node].call_count++;
	w->places->nodes[place.node].repeated_count += place.is_backward;
}

static void open_module(struct place_walk *w, struct thread_places *thread, uint32_t row)
{
	struct place place = current(w);
	bool is_again = w->depth && w->stack[w->depth - 1].is_link;

	place.node = tsi_tree_find_frame(&w->tree, place.node, tsi_name_id(&w->trace->spans, row),
					 is_again);
	thread->has_modules = true;
	w->places->sources |= MODULE_FRAMES;
	open_row(w, thread, row, place, false);
	count_call(w, place, tsi_start_ns(&w->trace->spans, row));
}

static void open_source(struct place_walk *w, struct thread_places *thread, uint32_t row)
{
	struct place place = current(w);
	bool is_link = w->depth && w->stack[w->depth - 1].is_link;

	place.source = tsi_name_id(&w->trace->spans, row);
	thread->has_sources = true;
	open_row(w, thread, row, place, is_link);
}

/* ---- annotations --------------------------------------------------------------------- */

/*
 * FSDP's first version does not name its modules: they are numbered as they are called in the one
 * around. Calls that run again in the backward pass are in the module that their node belongs to.
 */
static void open_unit(struct place_walk *w, struct thread_places *thread, uint32_t row)
{
	struct place place = current(w);
	struct open_place *around = NULL;
	const char *name = "FullyShardedDataParallel";

	if (place.is_backward)
		return;
	for (size_t i = w->depth; i-- > 0 && !around;)
		around = w->stack[i].is_unit ? &w->stack[i] : NULL;
	if (around)
		name = tsi_arena_print(w->arena, "%s_%u", name, around->unit_count++);
	place.node = tsi_tree_find_name(&w->tree, place.node, tsi_str_of(name));
	if (!has_failed(w))
		w->places->nodes[place.node].is_named = false; /* it is a class with a number */
	struct open_place *open = open_place(w, thread, tsi_start_ns(&w->trace->spans, row),
					     tsi_span_end(w->trace, row), place);
	if (open)
		open->is_unit = true;
	count_call(w, place, tsi_start_ns(&w->trace->spans, row));
}

static void open_path(struct place_walk *w, struct thread_places *thread, uint32_t row,
		      const struct module_mark *mark)
{
	struct place place = current(w);
	int64_t start_ns = tsi_start_ns(&w->trace->spans, row);

	place.node = tsi_tree_find_path(&w->tree, tsi_name_id(&w->trace->spans, row), mark->path,
					tsi_path_next);
	(void)open_place(w, thread, start_ns, tsi_module_marks_end(&w->marks, row), place);
	if (mark->edge == EDGE_NONE || mark->edge == EDGE_BEGIN)
		count_call(w, place, start_ns);
}

static void open_mark(struct place_walk *w, struct thread_places *thread, uint32_t row)
{
	struct module_mark mark = tsi_module_mark(tsi_span_name(w->trace, row));
	size_t depth = w->depth;

	if (mark.kind == MARK_FSDP_UNIT)
		open_unit(w, thread, row);
	else
		open_path(w, thread, row, &mark);
	if (has_failed(w) || w->depth == depth)
		return;
	thread->has_modules = true;
	w->places->nodes[current(w).node].is_unit = true;
	w->places->sources |= mark.kind == MARK_PATH ? MODULE_ANNOTATIONS : MODULE_FSDP;
}

/* ---- operators ----------------------------------------------------------------------- */

/* Changes what the args of an operator say of its place; false: nothing. */
static bool read_op_place(struct place_walk *w, struct thread_places *thread,
			  const struct cpu_op *op, struct place *place)
{
	if (!op->place)
		return false;
	const struct op_place *said = &w->trace->op_places[op->place];
	bool has_module = said->hierarchy && w->source == MODULE_HIERARCHY;
	bool has_source = said->source && w->reads_call_stacks;

	if (has_module) {
		place->node = tsi_tree_find_path(&w->tree, said->hierarchy,
						 tsi_intern_text(&w->trace->names, said->hierarchy),
						 tsi_hierarchy_next);
		thread->has_modules |= place->node != 0;
		w->places->sources |= MODULE_HIERARCHY;
	}
	if (has_source) {
		place->source = said->source;
		thread->has_sources = true;
	}
	return has_module || has_source;
}

static void open_op(struct place_walk *w, struct thread_places *thread, uint32_t row,
		    struct op_sequence sequence)
{
	const struct cpu_op *op = tsi_cpu_op(w->trace, row);
	struct place place = current(w);
	bool is_link = false, is_said = read_op_place(w, thread, op, &place);

	if (op->is_forward)
		tsi_forward_ops_add(w->ops, row, sequence, place);
	if (op->is_backward)
		is_link = tsi_forward_ops_find(w->ops, row, sequence, &place);
	if (is_link) {
		place.is_backward = true;
		(void)read_op_place(w, thread, op, &place);
		thread->has_modules |= place.node != 0;
		thread->has_sources |= place.source != 0;
	}
	if (is_link || is_said)
		open_row(w, thread, row, place,
			 is_link || (w->depth && w->stack[w->depth - 1].is_link));
}

/*
 * op: the first of the track's, in op_sequences. Rows that open nothing close nothing, either: open
 * places end at the next row that opens one.
 */
static void walk_track(struct place_walk *w, uint32_t index, size_t op)
{
	const struct track *track = &w->trace->tracks[index];
	struct thread_places *thread = &w->places->threads[index];
	const uint32_t *kinds = w->trace->spans.kind;
	const uint8_t *openers = w->openers;

	w->depth = 0;
	if (w->source & (MODULE_FSDP | MODULE_ANNOTATIONS))
		tsi_module_marks_read(&w->marks, index);
	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		enum opener opener = openers[kinds[row]];
		if (opener <= PASSES_OP) {
			op += opener;
			continue;
		}
		close_until(w, thread, tsi_start_ns(&w->trace->spans, row));
		if (opener == OPENS_OP)
			open_op(w, thread, row, w->trace->op_sequences[op++]);
		else if (opener == OPENS_MODULE)
			open_module(w, thread, row);
		else if (opener == OPENS_MARK)
			open_mark(w, thread, row);
		else
			open_source(w, thread, row);
		if (has_failed(w))
			return;
	}
	close_until(w, thread, INT64_MAX);
}

/* ---- graphs ------------------------------------------------------------------------- */

/* No deeper than trees of modules are; known: by module of the set, its node + 1. */
static uint32_t node_of_path(struct place_walk *w, const struct graph_set *set, uint32_t *known,
			     uint32_t path)
{
	if (path == 0)
		return 0;
	if (known[path - 1] == 0) {
		const struct graph_module *module = &set->modules[path - 1];
		uint32_t parent = node_of_path(w, set, known, module->parent);
		struct str text = tsi_intern_text(&w->trace->names, module->name);

		if (tsi_module_name(text).length) {
			w->places->sources |= MODULE_FRAMES;
			known[path - 1] =
				1 + tsi_tree_find_frame(&w->tree, parent, module->name, false);
		} else {
			known[path - 1] = 1 + tsi_tree_find_name(&w->tree, parent, text);
		}
	}
	return known[path - 1] - 1;
}

/* A replay calls each module that has kernels in it once: how often it was is not known. */
static void count_replay(struct place_walk *w, uint32_t *last, uint32_t replay, uint32_t node)
{
	for (; node && last[node] != replay; node = w->places->nodes[node].parent) {
		w->places->nodes[node].call_count++;
		w->places->nodes[node].is_timed = true;
		last[node] = replay;
	}
}

static void count_replays(struct place_walk *w, const struct graph_join *join)
{
	struct places *places = w->places;
	uint32_t *last = tsi_arena_new(&w->scratch, places->node_count, sizeof(*last));

	for (uint32_t i = 0; last && i < join->replay_count; i++) {
		const struct graph_replay *replay = &join->replays[i];
		uint32_t step = tsi_timeline_step_near(
			places->timeline, tsi_start_ns(&w->trace->spans, replay->call), &w->step);

		if (!replay->has_places || step == NO_ROW || !tsi_place_step_counts(places, step))
			continue;
		for (uint32_t k = replay->first; k < replay->first + replay->count; k++)
			if (join->nodes[k] != NO_ROW)
				count_replay(w, last, i + 1,
					     places->by_graph_node[join->nodes[k]].node);
	}
}

static void add_graphs(struct place_walk *w, const struct graph_join *join)
{
	const struct graph_set *set = join->set;
	struct places *places = w->places;
	uint32_t *known = tsi_arena_new(&w->scratch, set->module_count, sizeof(*known));

	places->join = join;
	places->by_graph_node =
		tsi_arena_new(w->arena, set->node_count, sizeof(*places->by_graph_node));
	for (size_t i = 0; known && places->by_graph_node && i < w->trace->device_event_count;
	     i++) {
		uint32_t node = join->place_of_row[i];
		if (node == NO_ROW || has_failed(w))
			continue;
		places->by_graph_node[node] = (struct place){
			.node = node_of_path(w, set, known, set->nodes[node].place.path),
			.source = set->nodes[node].place.source,
		};
	}
	if (places->by_graph_node && !has_failed(w))
		count_replays(w, join);
}

/* Kernels that say where they belong: of graphs their modules, compiled ones their functions. */
static void add_kernels(struct place_walk *w)
{
	const struct tscope_trace *trace = w->trace;
	struct pair_set calls = { .arena = &w->scratch }; /* (node, launch) */

	for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++) {
		struct op_place said = tsi_work_place(trace, row);
		uint32_t module = said.hierarchy, launch = tsi_launch_row(trace, row);
		w->places->has_kernel_sources |= said.source != 0;
		if (!module || has_failed(w))
			continue;
		uint32_t node = tsi_tree_find_path(
			&w->tree, module, tsi_intern_text(&trace->names, module), tsi_path_next);
		w->places->sources |= MODULE_KERNELS;
		for (; node && launch != NO_ROW; node = w->places->nodes[node].parent) {
			size_t known_count = calls.count;
			if (tsi_pair_set_add(&calls, node, launch) < known_count)
				break;
			count_call(w, (struct place){ .node = node },
				   tsi_start_ns(&trace->spans, launch));
		}
	}
}

struct place tsi_place_of_device(const struct places *places, uint32_t row, size_t *near)
{
	const struct tscope_trace *trace = places->timeline->trace;
	uint32_t launch = tsi_launch_row(trace, row), node = NO_ROW;

	struct place place = { 0 };
	struct op_place said = tsi_work_place(trace, row);

	if (places->join)
		node = places->join->place_of_row[tsi_device_event_index(trace, row)];
	if (node != NO_ROW)
		place = places->by_graph_node[node];
	else if (launch != NO_ROW)
		place = tsi_place_near(places, tsi_trace_track_of(trace, launch),
				       tsi_start_ns(&trace->spans, launch), near);
	if (said.hierarchy)
		place.node = places->path_nodes[said.hierarchy] - 1;
	if (said.source)
		place.source = said.source;
	return place;
}

/* Module information in a kind of spans. */
static unsigned source_of(const struct tscope_trace *trace, const struct span_kind *kind)
{
	if (kind->span_class == TSCOPE_SPAN_PYTHON)
		return kind->frame.place == FRAME_MODULE ? MODULE_FRAMES : 0;
	if (kind->span_class == TSCOPE_SPAN_CPU_OP)
		return kind->op.place && trace->op_places[kind->op.place].hierarchy
			       ? MODULE_HIERARCHY
			       : 0;
	if (kind->span_class != TSCOPE_SPAN_ANNOTATION)
		return 0;
	enum mark_kind mark = tsi_module_mark(tsi_intern_text(&trace->names, kind->name)).kind;
	return mark == MARK_NONE ? 0 : mark == MARK_PATH ? MODULE_ANNOTATIONS : MODULE_FSDP;
}

static enum opener opener_of(const struct place_walk *w, const struct span_kind *kind)
{
	if (kind->span_class == TSCOPE_SPAN_CPU_OP)
		return kind->op.is_forward || kind->op.is_backward || kind->op.place ? OPENS_OP
										     : PASSES_OP;
	if (kind->span_class == TSCOPE_SPAN_ANNOTATION)
		return source_of(w->trace, kind) & w->source ? OPENS_MARK : OPENS_NOTHING;
	if (kind->span_class != TSCOPE_SPAN_PYTHON)
		return OPENS_NOTHING;
	if (kind->frame.place == FRAME_MODULE)
		return OPENS_MODULE;
	return kind->frame.place == FRAME_USER ? OPENS_SOURCE : OPENS_NOTHING;
}

/* Which source threads go by: paths of two of them would not be those of one tree. */
static void choose_sources(struct place_walk *w)
{
	const struct spans *spans = &w->trace->spans;
	unsigned found = 0;

	w->reads_call_stacks = true;
	for (uint32_t i = 0; i < spans->kind_count; i++) {
		found |= source_of(w->trace, &spans->kinds[i]);
		if (spans->kinds[i].span_class == TSCOPE_SPAN_PYTHON &&
		    spans->kinds[i].frame.place == FRAME_USER)
			w->reads_call_stacks = false;
	}
	w->source = found & MODULE_FRAMES      ? MODULE_FRAMES
		    : found & MODULE_HIERARCHY ? MODULE_HIERARCHY
					       : found;
	for (uint32_t i = 0; i < spans->kind_count; i++)
		w->openers[i] = (uint8_t)opener_of(w, &spans->kinds[i]);
}

/* By host track: the number of operators in those before it. */
static size_t *count_ops(struct place_walk *w)
{
	const struct tscope_trace *trace = w->trace;
	size_t *firsts = tsi_arena_new(&w->scratch, trace->host_track_count, sizeof(*firsts));
	const uint32_t *kinds = trace->spans.kind;
	const uint8_t *openers = w->openers;
	size_t count = 0;

	for (uint32_t i = 0; firsts && i < trace->host_track_count; i++) {
		const struct track *track = &trace->tracks[i];
		firsts[i] = count;
		for (uint32_t row = track->first; row < track->first + track->count; row++)
			count +=
				openers[kinds[row]] == PASSES_OP || openers[kinds[row]] == OPENS_OP;
	}
	return firsts;
}

static void walk_tracks(struct place_walk *w)
{
	const struct tscope_trace *trace = w->trace;
	const size_t *firsts = count_ops(w);
	const bool *waits = tsi_waiting_threads(trace, &w->scratch);

	w->ops = tsi_forward_ops_new(trace, &w->scratch);
	if (!firsts || !waits || !w->ops)
		return;
	for (unsigned is_autograd = 0; is_autograd < 2; is_autograd++)
		for (uint32_t i = 0; i < trace->host_track_count; i++)
			if (trace->tracks[i].is_autograd == is_autograd && !waits[i])
				walk_track(w, i, firsts[i]);
}

bool tsi_places_count_all(const struct tscope_timeline *timeline)
{
	for (uint32_t i = 0; i < timeline->step_count; i++)
		if (timeline->steps[i].mark == TSCOPE_STEP_COUNTED)
			return false;
	return true;
}

static void fill_places(struct place_walk *w, struct places *places,
			const struct tscope_timeline *timeline, const struct graph_join *join)
{
	w->places = places;
	w->marks = (struct module_marks){ .trace = w->trace, .arena = &w->scratch };
	places->timeline = timeline;
	places->counts_all = tsi_places_count_all(timeline);
	places->threads =
		tsi_arena_new(w->arena, w->trace->host_track_count, sizeof(*places->threads));
	places->numbered.arena = w->arena;
	if (number_of(w, (struct place){ 0 }) ||
	    !tsi_module_tree_init(&w->tree, places, w->arena, &w->scratch)) {
		w->tree.has_failed = true;
		return;
	}
	choose_sources(w);
	if (places->threads && w->trace->has_places)
		walk_tracks(w);
	if (join && !has_failed(w))
		add_graphs(w, join);
	if (!has_failed(w))
		add_kernels(w);
}

const struct places *tsi_places_new(const struct tscope_timeline *timeline,
				    const struct graph_join *join, struct arena *arena)
{
	const struct tscope_trace *trace = timeline->trace;
	struct place_walk w = { .trace = trace, .arena = arena };

	if (!trace->has_places && !(join && join->set->module_count > 0))
		return NULL;
	w.openers = tsi_arena_new(&w.scratch, trace->spans.kind_count, sizeof(*w.openers));
	struct places *places = tsi_arena_new(arena, 1, sizeof(*places));
	if (places && w.openers)
		fill_places(&w, places, timeline, join);
	arena->has_failed |= has_failed(&w);
	tsi_module_tree_deinit(&w.tree);
	tsi_arena_deinit(&w.scratch);
	return arena->has_failed ? NULL : places;
}

struct place tsi_place_near(const struct places *places, uint32_t track, int64_t t_ns, size_t *near)
{
	enum { NEAR_COUNT = 8 };
	if (track >= places->timeline->trace->host_track_count)
		return (struct place){ 0 };
	const struct thread_places *thread = &places->threads[track];
	const int64_t *starts_ns = thread->starts_ns;
	size_t low = near[track], high = thread->count;

	if (low && starts_ns[low - 1] > t_ns) {
		high = low - 1;
		low = 0;
	} else {
		size_t soon = high - low > NEAR_COUNT ? low + NEAR_COUNT : high;
		while (low < soon && starts_ns[low] <= t_ns)
			low++;
		high = low < soon ? low : high;
	}
	TSI_BISECT(low, high, starts_ns[middle] <= t_ns);
	near[track] = low;
	return tsi_place_numbered(places, low ? thread->numbers[low - 1] : 0);
}

int64_t tsi_place_next(const struct places *places, uint32_t track, int64_t t_ns, size_t *near)
{
	if (track >= places->timeline->trace->host_track_count)
		return INT64_MAX;
	(void)tsi_place_near(places, track, t_ns, near);
	const struct thread_places *thread = &places->threads[track];

	return near[track] < thread->count ? thread->starts_ns[near[track]] : INT64_MAX;
}
