/* SPDX-License-Identifier: MIT */
/* Everything that happened in a trace, added to the place that it was caused in. */
#include "analyze/modules/place_sums.h"

#include "analyze/ops/graph_join.h"
#include "analyze/ops/trace_flops.h"
#include "model/trace/device_rows.h"

#include <math.h>

struct place_summer {
	const struct places *places;
	const struct tscope_trace *trace;
	struct place_sums *nodes, *sources;
	size_t *near;  /* by host track: of the last question */
	uint32_t step; /* likewise */
};

static TSI_INLINE void add_part(struct place_summer *s, struct place place,
				const struct place_sums *part)
{
	tsi_place_sums_add(&s->nodes[place.node], part);
	tsi_place_sums_add(&s->sources[place.source], part);
}

static bool counts_at(struct place_summer *s, int64_t t_ns)
{
	return tsi_place_time_counts(s->places, t_ns, &s->step);
}

static struct place place_of(const struct place_summer *s, uint32_t row)
{
	if (row >= tsi_first_device_row(s->trace))
		return tsi_place_of_device(s->places, row, s->near);
	return tsi_place_near(s->places, tsi_trace_track_of(s->trace, row),
			      tsi_start_ns(&s->trace->spans, row), s->near);
}

/* ---- devices ------------------------------------------------------------------------- */

/* Work without a known launch was launched nowhere. */
static void add_device_row(struct place_summer *s, uint32_t row)
{
	struct place place = tsi_place_of_device(s->places, row, s->near);
	struct place_sums part = tsi_device_sums(s->trace, row, place);

	add_part(s, place, &part);
}

static void add_devices(struct place_summer *s)
{
	const struct tscope_trace *trace = s->trace;

	for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++)
		if (counts_at(s, tsi_timeline_launch_time(trace, row)))
			add_device_row(s, row);
}

uint32_t tsi_launching_name(const struct analysis_scope *scope, uint32_t row)
{
	const struct graph_join *join = scope->flops ? scope->flops->graphs : NULL;
	const struct graph_node *node = tsi_graph_node(join, scope->trace, row);
	uint32_t op = tsi_launching_op(scope->trace, row);

	if (node && node->op != NO_ROW)
		return join->set->ops[node->op].name;
	return op == NO_ROW ? 0 : tsi_name_id(&scope->trace->spans, op);
}

/* ---- the host ------------------------------------------------------------------------ */

static void add_calls(struct place_summer *s)
{
	struct bit_walk calls = tsi_bit_set_walk(&s->trace->spans.calls);

	for (size_t i = 0; i < s->trace->call_count; i++) {
		uint32_t row = tsi_bit_walk_next(&calls);
		bool is_sync = tsi_call_kind(s->trace, row) == CALL_SYNC;
		if ((!is_sync && !s->trace->calls[i].has_work) ||
		    !counts_at(s, tsi_start_ns(&s->trace->spans, row)))
			continue;
		add_part(s, place_of(s, row),
			 &(struct place_sums){
				 .launch_count = s->trace->calls[i].has_work,
				 .sync_count = is_sync,
				 .sync_ns = is_sync ? tsi_dur_ns(&s->trace->spans, row) : 0,
			 });
	}
}

/* The total of a device's allocator grows by what a thread is given. */
static void add_allocations(struct place_summer *s)
{
	const struct tscope_trace *trace = s->trace;

	for (size_t i = 1; i < trace->allocator_point_count; i++) {
		const struct allocator_point *point = &trace->allocator_points[i];
		int64_t bytes = point->allocated_bytes - point[-1].allocated_bytes;
		if (point->device != point[-1].device || bytes <= 0 ||
		    !counts_at(s, point->time_ns))
			continue;
		add_part(s, tsi_place_near(s->places, point->track, point->time_ns, s->near),
			 &(struct place_sums){ .allocated_bytes = bytes, .allocation_count = 1 });
	}
}

/* Blocks that are live at the peak are those of who asked for them, whenever that was. */
static void add_peak(struct place_summer *s, const struct peak_blocks *peak)
{
	for (size_t i = peak->is_known ? peak->count : 0; i-- > 0;)
		add_part(s,
			 tsi_place_near(s->places, peak->points[i]->track, peak->points[i]->time_ns,
					s->near),
			 &(struct place_sums){ .peak_bytes = peak->points[i]->block_bytes });
}

static void add_flops(struct place_summer *s, const struct trace_flops *flops)
{
	for (size_t i = 0; flops && i < flops->call_count; i++) {
		const struct counted_call *call = &flops->calls[i];
		bool is_device = call->row >= tsi_first_device_row(s->trace); /* of a graph */
		int64_t t_ns = is_device ? tsi_timeline_launch_time(s->trace, call->row)
					 : tsi_start_ns(&s->trace->spans, call->row);
		struct call_work work = flops->call_works[call->work];
		if (counts_at(s, t_ns))
			add_part(s, place_of(s, call->row),
				 &(struct place_sums){
					 .flops = work.flops,
					 .bytes = isnan(work.bytes) ? 0 : work.bytes,
				 });
	}
}

void tsi_place_each_time(const struct places *places, uint32_t track,
			 void (*add)(void *data, struct place place, int64_t ns), void *data)
{
	const struct thread_places *thread = &places->threads[track];
	const struct tscope_timeline *timeline = places->timeline;
	size_t at = 0; /* the first point that may lie behind the step's start */

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		int64_t now_ns = timeline->steps[i].start_ns;
		int64_t end_ns = now_ns + timeline->steps[i].wall_ns;
		if (!tsi_place_step_counts(places, i))
			continue;
		while (at < thread->count && thread->starts_ns[at] <= now_ns)
			at++;
		while (now_ns < end_ns) {
			struct place place =
				tsi_place_numbered(places, at ? thread->numbers[at - 1] : 0);
			bool is_last = at == thread->count || thread->starts_ns[at] >= end_ns;
			int64_t until_ns = is_last ? end_ns : thread->starts_ns[at];
			add(data, place, until_ns - now_ns);
			now_ns = until_ns;
			at += !is_last;
		}
	}
}

struct timed_op {
	uint32_t row;
	int64_t end_ns, self_ns;
};

void tsi_each_op(const struct tscope_trace *trace, uint32_t index,
		 void (*add)(void *data, uint32_t row, int64_t self_ns), void *data,
		 struct arena *arena)
{
	const struct track *track = &trace->tracks[index];
	struct timed_op *ops = NULL; /* those that are open */
	size_t depth = 0, capacity = 0;

	for (uint32_t row = track->first; row <= track->first + track->count; row++) {
		bool is_end = row == track->first + track->count;
		if (!is_end && tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_CPU_OP)
			continue;
		int64_t start_ns = is_end ? INT64_MAX : tsi_start_ns(&trace->spans, row);
		for (; depth && ops[depth - 1].end_ns <= start_ns; depth--)
			add(data, ops[depth - 1].row, ops[depth - 1].self_ns);
		if (is_end)
			return;
		int64_t end_ns = tsi_span_end(trace, row);
		if (depth && ops[depth - 1].end_ns < end_ns)
			end_ns = ops[depth - 1].end_ns;
		if (depth)
			ops[depth - 1].self_ns -= end_ns - start_ns;
		struct timed_op *op = tsi_arena_push(arena, &ops, &depth, &capacity, sizeof(*op));
		if (!op)
			return;
		*op = (struct timed_op){ row, end_ns, end_ns - start_ns };
	}
}

/* A thread at hand. */
struct host_adder {
	struct place_summer *summer;
	const struct thread_places *thread;
	int64_t sum_ns;
};

static void add_host_time(void *data, struct place place, int64_t ns)
{
	struct host_adder *adder = data;
	struct place_sums part = { .host_ns = place.is_backward ? 0 : ns,
				   .host_backward_ns = place.is_backward ? ns : 0 };

	tsi_sum(&adder->sum_ns, ns);
	if (adder->thread->has_modules)
		tsi_place_sums_add(&adder->summer->nodes[place.node], &part);
	if (adder->thread->has_sources)
		tsi_place_sums_add(&adder->summer->sources[place.source], &part);
}

const struct place_totals *tsi_place_totals(const struct analysis_scope *scope, struct arena *arena)
{
	const struct places *places = scope->places;
	const struct tscope_trace *trace = scope->trace;
	struct place_totals *totals = tsi_arena_new(arena, 1, sizeof(*totals));
	struct place_summer s = {
		.places = places,
		.trace = trace,
		.nodes = tsi_arena_new(arena, places->node_count, sizeof(*s.nodes)),
		.sources = tsi_arena_new(arena, trace->names.count, sizeof(*s.sources)),
		.near = tsi_arena_new(arena, trace->host_track_count, sizeof(*s.near)),
	};

	if (arena->has_failed)
		return NULL;
	add_devices(&s);
	add_calls(&s);
	add_allocations(&s);
	totals->peak = tsi_find_peak_blocks(places, arena);
	add_peak(&s, &totals->peak);
	add_flops(&s, scope->flops);
	for (uint32_t i = 0; i < trace->host_track_count; i++) {
		const struct thread_places *thread = &places->threads[i];
		if (!thread->has_modules && !thread->has_sources)
			continue;
		struct host_adder adder = { &s, thread, 0 };
		tsi_place_each_time(places, i, add_host_time, &adder);
		tsi_sum(&totals->node_host_ns, thread->has_modules ? adder.sum_ns : 0);
		tsi_sum(&totals->source_host_ns, thread->has_sources ? adder.sum_ns : 0);
	}
	totals->nodes = s.nodes;
	totals->sources = s.sources;
	return totals;
}
