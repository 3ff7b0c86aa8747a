/* SPDX-License-Identifier: MIT */
/*
 * Sums by what was called and where: pairs of numbered pairs. Those by function, and the modules of
 * a function's share, are summed up from them at the end. The module is found going down from the
 * root while one module has more than half.
 */
#include "analyze/modules/callers.h"

#include "analyze/modules/place_sums.h"
#include "base/pair_set.h"

struct caller_walk {
	const struct analysis_scope *scope;
	const struct tscope_trace *trace;
	const struct places *places;
	struct arena *arena;
	struct pair_set names;       /* (name, operator) */
	struct pair_set things;      /* (number in names, enum caller_kind): struct caller_sums */
	struct pair_set places_seen; /* (source, node) */
	struct pair_set leaves;      /* (number in things, in places_seen): struct caller_sums */
	struct pair_set callers;     /* (number in things, source): struct caller_sums */
	struct pair_set parts;       /* (number in callers, node): struct caller_sums */
	uint32_t *op_things;         /* by name id of operators: number in things + 1 */
	struct place place; /* of the last question, as are all below; place_number is its own */
	uint32_t place_number;
	size_t *near; /* by host track */
	uint32_t step;
};

static void add_sums(struct caller_sums *sum, const struct caller_sums *part)
{
	sum->count += part->count;
	tsi_sum(&sum->host_ns, part->host_ns);
	tsi_sum(&sum->device_ns, part->device_ns);
	tsi_sum(&sum->exposed_ns, part->exposed_ns);
}

/* Adds to the item of a pair; UINT32_MAX without memory. */
static uint32_t add_to(struct pair_set *set, uint32_t first, uint32_t second,
		       const struct caller_sums *part)
{
	uint32_t number = first == UINT32_MAX ? first : tsi_pair_set_add(set, first, second);

	if (number != UINT32_MAX)
		add_sums((struct caller_sums *)set->items + number, part);
	return number;
}

static uint32_t find_thing(struct caller_walk *w, uint32_t kind, struct pair name)
{
	uint32_t *known = kind == CALLER_OPERATOR ? &w->op_things[name.first] : NULL;

	if (known && *known)
		return *known - 1;
	uint32_t number = tsi_pair_set_add(&w->names, name.first, name.second);
	if (number != UINT32_MAX)
		number = tsi_pair_set_add(&w->things, number, kind);
	if (known)
		*known = number + 1; /* without memory it stays unknown */
	return number;
}

/* Mostly the place is that of the last question. */
static uint32_t find_place(struct caller_walk *w, struct place place)
{
	bool is_known = w->places_seen.count && w->place.source == place.source &&
			w->place.node == place.node;

	if (!is_known) {
		w->place = place;
		w->place_number = tsi_pair_set_add(&w->places_seen, place.source, place.node);
	}
	return w->place_number;
}

static void add(struct caller_walk *w, uint32_t kind, struct pair name, struct place place,
		const struct caller_sums *part)
{
	uint32_t where = find_place(w, place);

	if (where != UINT32_MAX)
		(void)add_to(&w->leaves, find_thing(w, kind, name), where, part);
}

static bool counts_at(struct caller_walk *w, int64_t t_ns)
{
	return tsi_place_time_counts(w->places, t_ns, &w->step);
}

/* ---- what was called ------------------------------------------------------------------- */

static void add_op(void *data, uint32_t row, int64_t self_ns)
{
	struct caller_walk *w = data;
	int64_t start_ns = tsi_start_ns(&w->trace->spans, row);
	uint32_t track = tsi_trace_track_of(w->trace, row);

	if (counts_at(w, start_ns))
		add(w, CALLER_OPERATOR, (struct pair){ tsi_name_id(&w->trace->spans, row), 0 },
		    tsi_place_near(w->places, track, start_ns, w->near),
		    &(struct caller_sums){ .count = 1, .host_ns = self_ns });
}

static void add_calls(struct caller_walk *w)
{
	const struct tscope_trace *trace = w->trace;
	struct bit_walk calls = tsi_bit_set_walk(&trace->spans.calls);

	for (size_t i = 0; i < trace->call_count; i++) {
		uint32_t row = tsi_bit_walk_next(&calls), op = trace->calls[i].op;
		uint8_t kind = tsi_call_kind(trace, row);
		int64_t start_ns = tsi_start_ns(&trace->spans, row);
		bool is_wait = kind == CALL_SYNC || kind == CALL_MEMCPY || kind == CALL_MALLOC ||
			       kind == CALL_FREE;
		if ((!is_wait && !trace->calls[i].has_work) || !counts_at(w, start_ns))
			continue;
		op = is_wait && op != NO_ROW ? tsi_name_id(&trace->spans, op) : 0;
		add(w, (uint32_t)CALLER_CALLS + kind,
		    (struct pair){ tsi_name_id(&trace->spans, row), op },
		    tsi_place_near(w->places, tsi_trace_track_of(trace, row), start_ns, w->near),
		    &(struct caller_sums){ .count = 1, .host_ns = tsi_dur_ns(&trace->spans, row) });
	}
}

static void add_device_row(struct caller_walk *w, uint32_t row,
			   const struct device_activity *activity)
{
	int64_t start_ns = tsi_start_ns(&w->trace->spans, row);
	int64_t dur_ns = tsi_dur_ns(&w->trace->spans, row);
	struct place place = tsi_place_of_device(w->places, row, w->near);
	uint32_t op = tsi_launching_name(w->scope, row);
	struct caller_sums part = { .device_ns = dur_ns };

	if (op)
		add(w, CALLER_OPERATOR, (struct pair){ op, 0 }, place, &part);
	if (tsi_is_kernel(w->trace, row))
		return;
	part.count = 1;
	part.exposed_ns = tsi_intervals_outside(&activity->compute, &activity->comm, start_ns,
						start_ns + dur_ns);
	add(w, CALLER_COPY, (struct pair){ tsi_name_id(&w->trace->spans, row), 0 }, place, &part);
}

static void add_device(struct caller_walk *w, uint32_t index)
{
	const struct device *device = &w->trace->devices[index];
	const struct device_activity *activity = &w->scope->timeline->activity[index];

	for (uint32_t i = 0; !w->arena->has_failed && i < device->row_count; i++)
		if (counts_at(w, tsi_timeline_launch_time(w->trace, device->rows[i])))
			add_device_row(w, device->rows[i], activity);
}

/* ---- who called it --------------------------------------------------------------------- */

static void sum_up(struct caller_walk *w)
{
	for (uint32_t i = 0; !w->arena->has_failed && i < w->leaves.count; i++) {
		const struct pair *leaf = &w->leaves.pairs[i];
		const struct pair *place = &w->places_seen.pairs[leaf->second];
		const struct caller_sums *sums = (const struct caller_sums *)w->leaves.items + i;

		add_sums((struct caller_sums *)w->things.items + leaf->first, sums);
		(void)add_to(&w->parts, add_to(&w->callers, leaf->first, place->first, sums),
			     place->second, sums);
	}
}

static int64_t weight_of(const struct caller_sums *sums, bool by_device)
{
	return by_device ? sums->device_ns : sums->host_ns;
}

/* Whether what a caller called launched device work. */
static bool is_by_device(const struct caller_walk *w, uint32_t caller)
{
	uint32_t thing = w->callers.pairs[caller].first;

	return ((const struct caller_sums *)w->things.items)[thing].device_ns > 0;
}

/* Adds the share of a node to its group and all groups around that one. */
static void add_groups(const struct caller_walk *w, const struct module_groups *groups,
		       struct pair_set *shares)
{
	for (uint32_t i = 0; i < w->parts.count; i++) {
		const struct pair *part = &w->parts.pairs[i];
		const struct caller_sums *sums = (const struct caller_sums *)w->parts.items + i;
		for (uint32_t group = groups->by_node[part->second]; group;
		     group = groups->groups[group].parent)
			(void)add_to(shares, part->first, group, sums);
	}
}

/* Groups with more than half are within each other: the deepest is the one. */
static void choose_groups(const struct caller_walk *w, const struct module_groups *groups,
			  struct callers *callers)
{
	struct pair_set shares = { .arena = w->arena, .item_bytes = sizeof(struct caller_sums) };

	add_groups(w, groups, &shares);
	for (uint32_t i = 0; !w->arena->has_failed && i < shares.count; i++) {
		struct caller *caller = &callers->items[shares.pairs[i].first];
		uint32_t group = shares.pairs[i].second;
		int64_t ns = weight_of((const struct caller_sums *)shares.items + i,
				       is_by_device(w, shares.pairs[i].first));
		if (ns > caller->ns - ns &&
		    groups->groups[group].depth > groups->groups[caller->group].depth)
			caller->group = group;
	}
}

static void list_callers(const struct caller_walk *w, struct callers *callers)
{
	callers->items = tsi_arena_new(w->arena, w->callers.count, sizeof(*callers->items));
	callers->count = callers->items ? w->callers.count : 0;
	for (uint32_t i = 0; i < callers->count; i++) {
		const struct pair *pair = &w->callers.pairs[i];
		const struct pair *thing = &w->things.pairs[pair->first];
		const struct caller_sums *all = w->things.items, *own = w->callers.items;
		bool by_device = is_by_device(w, i);
		callers->items[i] = (struct caller){
			.kind = thing->second,
			.name = w->names.pairs[thing->first].first,
			.op = w->names.pairs[thing->first].second,
			.source = pair->second,
			.sums = own[i],
			.is_by_device = by_device,
			.ns = weight_of(&own[i], by_device),
			.all_ns = weight_of(&all[pair->first], by_device),
		};
	}
}

struct callers tsi_find_callers(const struct analysis_scope *scope,
				const struct module_groups *groups, struct arena *arena)
{
	const struct pair_set sums = { .arena = arena, .item_bytes = sizeof(struct caller_sums) };
	struct callers callers = { 0 };
	struct caller_walk w = {
		.scope = scope,
		.trace = scope->trace,
		.places = scope->places,
		.arena = arena,
		.names = { .arena = arena },
		.things = sums,
		.places_seen = { .arena = arena },
		.leaves = sums,
		.callers = sums,
		.parts = sums,
		.op_things = tsi_arena_new(arena, scope->trace->names.count, sizeof(*w.op_things)),
		.near = tsi_arena_new(arena, scope->trace->host_track_count, sizeof(*w.near)),
	};

	for (uint32_t i = 0; w.near && i < w.trace->host_track_count; i++)
		tsi_each_op(w.trace, i, add_op, &w, arena);
	if (w.near)
		add_calls(&w);
	for (uint32_t i = 0; w.near && i < w.trace->device_count; i++)
		add_device(&w, i);
	sum_up(&w);
	if (arena->has_failed)
		return callers;
	list_callers(&w, &callers);
	choose_groups(&w, groups, &callers);
	return callers;
}
