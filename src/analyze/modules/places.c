/* SPDX-License-Identifier: MIT */
/*
 * One pass over the rows of each thread with a stack of what is open: frames of modules, frames of
 * the user's code, nodes of the backward pass. The threads of the backward pass come last: they
 * are where the forward operators were.
 */
#include "analyze/modules/places.h"

#include "analyze/modules/forward_ops.h"
#include "analyze/ops/graph_join.h"
#include "base/bisect.h"
#include "base/pair_set.h"
#include "model/trace/device_rows.h"
#include "model/trace/python_name.h"

/* Deeper ones are part of those around them: trees of recursive modules stay small. */
enum { MAX_DEPTH = 100 };

enum opener { OPENS_NOTHING, OPENS_MODULE, OPENS_SOURCE, OPENS_OP };

struct open_place {
	int64_t end_ns; /* its own, or that of what is around it, if earlier */
	struct place place;
	bool is_link; /* a node of the backward pass, in the place of its forward operator */
};

struct place_walk {
	struct places *places;
	const struct tscope_trace *trace;
	struct arena *arena;   /* of the places */
	struct arena scratch;  /* of the rest */
	uint8_t *openers;      /* enum opener, by kind of span */
	struct pair_set nodes; /* (parent, name id): number + 1 is the index */
	size_t node_capacity;
	struct forward_ops *ops; /* forward operators */
	struct open_place *stack;
	size_t depth, capacity;
	uint32_t step; /* of the last question */
};

static bool is_same(struct place a, struct place b)
{
	return a.node == b.node && a.source == b.source && a.is_backward == b.is_backward;
}

static void note_point(struct place_walk *w, struct thread_places *thread, int64_t start_ns,
		       struct place place)
{
	struct place_point *last = thread->count ? &thread->points[thread->count - 1] : NULL;

	if (last && last->start_ns >= start_ns) {
		last->place = place;
		return;
	}
	if (is_same(last ? last->place : (struct place){ 0 }, place))
		return;
	struct place_point *point = tsi_arena_push(w->arena, &thread->points, &thread->count,
						   &thread->capacity, sizeof(*point));
	if (point)
		*point = (struct place_point){ start_ns, place };
}

static struct place current(const struct place_walk *w)
{
	return w->depth ? w->stack[w->depth - 1].place : (struct place){ 0 };
}

static void close_until(struct place_walk *w, struct thread_places *thread, int64_t t_ns)
{
	while (w->depth && w->stack[w->depth - 1].end_ns <= t_ns) {
		int64_t end_ns = w->stack[--w->depth].end_ns;

		note_point(w, thread, end_ns, current(w));
	}
}

static void open_place(struct place_walk *w, struct thread_places *thread, uint32_t row,
		       struct place place, bool is_link)
{
	int64_t start_ns = tsi_start_ns(&w->trace->spans, row);
	int64_t end_ns = tsi_span_end(w->trace, row);

	if (w->depth && w->stack[w->depth - 1].end_ns < end_ns)
		end_ns = w->stack[w->depth - 1].end_ns;
	struct open_place *open =
		tsi_arena_push(&w->scratch, &w->stack, &w->depth, &w->capacity, sizeof(*open));
	if (!open)
		return;
	*open = (struct open_place){ end_ns, place, is_link };
	note_point(w, thread, start_ns, place);
}

static uint32_t *find_slot(const struct place_walk *w, uint32_t parent, uint32_t name)
{
	return w->nodes.slot_count ? tsi_pair_set_slot(&w->nodes, (struct pair){ parent, name })
				   : NULL;
}

/*
 * The node of a module that opens in another. Forward code that runs again within a node of the
 * backward pass is that of the nearest module around which has such a child: it may begin further
 * out than the operator whose node it is for.
 */
static uint32_t find_node(struct place_walk *w, uint32_t around, uint32_t name, bool is_again)
{
	struct places *places = w->places;

	for (uint32_t at = around; is_again; at = places->nodes[at].parent) {
		uint32_t *slot = find_slot(w, at, name);
		if (slot && *slot)
			return *slot;
		if (at == 0)
			break;
	}
	if (places->nodes[around].depth == MAX_DEPTH)
		return around;
	size_t known_count = w->nodes.count;
	uint32_t number = tsi_pair_set_add(&w->nodes, around, name);
	if (number == UINT32_MAX || number < known_count)
		return number + 1; /* 0 without memory */
	struct module_node *node = tsi_arena_push(w->arena, &places->nodes, &places->node_count,
						  &w->node_capacity, sizeof(*node));
	if (!node)
		return 0;
	node->parent = around;
	node->name = name;
	node->depth = places->nodes[around].depth + 1;
	return number + 1;
}

static void count_call(struct place_walk *w, struct place place, int64_t start_ns)
{
	const struct tscope_timeline *timeline = w->places->timeline;
	uint32_t step = tsi_timeline_step_near(timeline, start_ns, &w->step);

	if (step == NO_ROW || !tsi_place_step_counts(w->places, step))
		return;
	w->places->nodes[place.node].call_count++;
	w->places->nodes[place.node].repeated_count += place.is_backward;
}

static void open_module(struct place_walk *w, struct thread_places *thread, uint32_t row)
{
	struct place place = current(w);
	bool is_again = w->depth && w->stack[w->depth - 1].is_link;

	place.node = find_node(w, place.node, tsi_name_id(&w->trace->spans, row), is_again);
	thread->has_modules = true;
	open_place(w, thread, row, place, false);
	if (!w->scratch.has_failed && !w->arena->has_failed)
		count_call(w, place, tsi_start_ns(&w->trace->spans, row));
}

static void open_source(struct place_walk *w, struct thread_places *thread, uint32_t row)
{
	struct place place = current(w);
	bool is_link = w->depth && w->stack[w->depth - 1].is_link;

	place.source = tsi_name_id(&w->trace->spans, row);
	thread->has_sources = true;
	open_place(w, thread, row, place, is_link);
}

static void open_op(struct place_walk *w, struct thread_places *thread, uint32_t row,
		    struct op_ids ids)
{
	const struct cpu_op *op = tsi_cpu_op(w->trace, row);
	struct place place = current(w);

	if (op->is_forward)
		tsi_forward_ops_add(w->ops, row, ids, place);
	if (!op->is_backward)
		return;
	w->places->backward_count++;
	if (!tsi_forward_ops_find(w->ops, row, ids, &place)) {
		w->places->unknown_count++;
		return;
	}
	place.is_backward = true;
	thread->has_modules |= place.node != 0;
	thread->has_sources |= place.source != 0;
	open_place(w, thread, row, place, true);
}

/* op: index of its first operator. */
static void walk_track(struct place_walk *w, uint32_t index, size_t op)
{
	const struct track *track = &w->trace->tracks[index];
	struct thread_places *thread = &w->places->threads[index];

	w->depth = 0;
	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		enum opener opener = w->openers[w->trace->spans.kind[row]];
		if (opener == OPENS_NOTHING)
			continue;
		close_until(w, thread, tsi_start_ns(&w->trace->spans, row));
		if (opener == OPENS_OP)
			open_op(w, thread, row, w->trace->op_ids[op++]);
		else if (opener == OPENS_MODULE)
			open_module(w, thread, row);
		else
			open_source(w, thread, row);
		if (w->scratch.has_failed || w->arena->has_failed)
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

		known[path - 1] = find_node(w, parent, module->name, false) + 1;
	}
	return known[path - 1] - 1;
}

/* A replay calls each module that has kernels in it once: how often it was is not known. */
static void count_replay(struct place_walk *w, uint32_t *last, uint32_t replay, uint32_t node)
{
	for (; node && last[node] != replay; node = w->places->nodes[node].parent) {
		w->places->nodes[node].call_count++;
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
					     places->of_graph_node[join->nodes[k]].node);
	}
}

static void add_graphs(struct place_walk *w, const struct graph_join *join)
{
	const struct graph_set *set = join->set;
	struct places *places = w->places;
	uint32_t *known = tsi_arena_new(&w->scratch, set->module_count, sizeof(*known));

	places->join = join;
	places->of_graph_node =
		tsi_arena_new(w->arena, set->node_count, sizeof(*places->of_graph_node));
	for (size_t i = 0; known && places->of_graph_node && i < w->trace->device_event_count;
	     i++) {
		uint32_t node = join->place_of_row[i];
		if (node == NO_ROW || w->arena->has_failed || w->scratch.has_failed)
			continue;
		places->of_graph_node[node] = (struct place){
			.node = node_of_path(w, set, known, set->nodes[node].place.path),
			.source = set->nodes[node].place.source,
		};
	}
	if (places->of_graph_node && !w->arena->has_failed && !w->scratch.has_failed)
		count_replays(w, join);
}

struct place tsi_place_of_device(const struct places *places, uint32_t row, size_t *near)
{
	const struct tscope_trace *trace = places->timeline->trace;
	uint32_t launch = tsi_launch_row(trace, row), node = NO_ROW;

	if (places->join)
		node = places->join->place_of_row[tsi_device_event_index(trace, row)];
	if (node != NO_ROW)
		return places->of_graph_node[node];
	if (launch == NO_ROW)
		return (struct place){ 0 };
	return tsi_place_near(places, tsi_trace_track_of(trace, launch),
			      tsi_start_ns(&trace->spans, launch), near);
}

static enum opener opener_of(const struct span_kind *kind)
{
	if (kind->span_class == TSCOPE_SPAN_CPU_OP)
		return OPENS_OP;
	if (kind->span_class != TSCOPE_SPAN_PYTHON)
		return OPENS_NOTHING;
	if (kind->frame.place == FRAME_MODULE)
		return OPENS_MODULE;
	return kind->frame.place == FRAME_USER ? OPENS_SOURCE : OPENS_NOTHING;
}

/* Of each host track the number of operators in those before it. */
static size_t *count_ops(struct place_walk *w)
{
	const struct tscope_trace *trace = w->trace;
	size_t *firsts = tsi_arena_new(&w->scratch, trace->host_track_count, sizeof(*firsts));
	size_t count = 0;

	for (uint32_t i = 0; firsts && i < trace->host_track_count; i++) {
		const struct track *track = &trace->tracks[i];
		firsts[i] = count;
		for (uint32_t row = track->first; row < track->first + track->count; row++)
			count += w->openers[trace->spans.kind[row]] == OPENS_OP;
	}
	return firsts;
}

static void walk_tracks(struct place_walk *w)
{
	const struct tscope_trace *trace = w->trace;
	const size_t *firsts = count_ops(w);

	w->ops = tsi_forward_ops_new(trace, &w->scratch);
	for (unsigned is_autograd = 0; is_autograd < 2; is_autograd++)
		for (uint32_t i = 0; firsts && w->ops && i < trace->host_track_count; i++)
			if (trace->tracks[i].is_autograd == is_autograd)
				walk_track(w, i, firsts[i]);
}

static bool counts_all(const struct tscope_timeline *timeline)
{
	for (uint32_t i = 0; i < timeline->step_count; i++)
		if (timeline->steps[i].mark == TSCOPE_STEP_COUNTED)
			return false;
	return true;
}

const struct places *tsi_places_new(const struct tscope_timeline *timeline,
				    const struct graph_join *join, struct arena *arena)
{
	const struct tscope_trace *trace = timeline->trace;
	struct place_walk w = { .trace = trace, .arena = arena };

	if (!trace->has_places && !(join && join->set->module_count > 0))
		return NULL;
	w.nodes.arena = &w.scratch;
	w.openers = tsi_arena_new(&w.scratch, trace->spans.kind_count, sizeof(*w.openers));
	struct places *places = tsi_arena_new(arena, 1, sizeof(*places));
	if (places && w.openers) {
		w.places = places;
		places->timeline = timeline;
		places->counts_all = counts_all(timeline);
		places->threads =
			tsi_arena_new(arena, trace->host_track_count, sizeof(*places->threads));
		for (uint32_t i = 0; i < trace->spans.kind_count; i++)
			w.openers[i] = (uint8_t)opener_of(&trace->spans.kinds[i]);
		if (tsi_arena_push(arena, &places->nodes, &places->node_count, &w.node_capacity,
				   sizeof(*places->nodes)) &&
		    places->threads) {
			walk_tracks(&w);
			if (join && !arena->has_failed && !w.scratch.has_failed)
				add_graphs(&w, join);
		}
	}
	arena->has_failed |= w.scratch.has_failed;
	tsi_arena_deinit(&w.scratch);
	return arena->has_failed ? NULL : places;
}

struct place tsi_place_near(const struct places *places, uint32_t track, int64_t t_ns, size_t *near)
{
	enum { NEAR_COUNT = 8 };
	if (track >= places->timeline->trace->host_track_count)
		return (struct place){ 0 };
	const struct thread_places *thread = &places->threads[track];
	const struct place_point *points = thread->points;
	size_t low = near[track], high = thread->count;

	if (low && points[low - 1].start_ns > t_ns) {
		high = low - 1;
		low = 0;
	} else if (high - low > NEAR_COUNT && points[low + NEAR_COUNT].start_ns > t_ns) {
		high = low + NEAR_COUNT;
	}
	TSI_BISECT(low, high, points[middle].start_ns <= t_ns);
	near[track] = low;
	return low ? points[low - 1].place : (struct place){ 0 };
}
