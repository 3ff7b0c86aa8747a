/* SPDX-License-Identifier: MIT */
/*
 * Time by what the user asks for, of all or of what is in a module or function: device events that
 * were launched in the steps that count, and the time of threads in these steps.
 */
#include "analyze/facts.h"

#include "analyze/modules/module_groups.h"
#include "analyze/modules/place_sums.h"
#include "analyze/ops/kernel_vote.h"
#include "model/trace/device_rows.h"
#include "model/trace/python_name.h"

#define FACTS(X)                                                                                   \
	X(BY, "by", TEXT, "what time is divided among, as --by says")                              \
	X(UNDER, "under", TEXT, "the module or function that --under names")                       \
	X(MATCH_COUNT, "match_count", COUNT, "modules and functions that are called so")           \
	X(DEVICE_NS, "device_ns", NS,                                                              \
	  "sum of the durations of device events launched in the steps that count")                \
	X(UNDER_NS, "under_ns", NS, "of it, launched in them; the rows sum to it")                 \
	X(UNLINKED_NS, "unlinked_ns", NS,                                                          \
	  "of the row (none) or (outside ...), of device events without a launch in the trace")    \
	X(HOST_NS, "host_ns", NS, "time of threads that the rows sum to, where it is known by them")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define ROW_COLUMNS(X)                                                                             \
	X(NAME, "name", TEXT,                                                                      \
	  "module as in modules.by_module, function as in sources.by_function, operator that "     \
	  "launched it, kernel or copy, or what kernels compute; or (none), (outside ...)")        \
	X(ROW_DEVICE_NS, "device_ns", NS, "durations of the device events that belong to it")      \
	X(SHARE_RATIO, "share_ratio", RATIO, "of under_ns")                                        \
	X(FORWARD_NS, "forward_ns", NS, "of device_ns, not launched by the backward pass")         \
	X(BACKWARD_NS, "backward_ns", NS, "of device_ns, launched by the backward pass")           \
	X(COMM_NS, "comm_ns", NS, "of device_ns, communication")                                   \
	X(COPY_NS, "copy_ns", NS, "of device_ns, copies and fills")                                \
	X(KERNELS, "kernel_count", COUNT, "kernels")                                               \
	X(EVENTS, "event_count", COUNT, "device events")                                           \
	X(ROW_HOST_NS, "host_ns", NS,                                                              \
	  "of modules and functions time of threads in them, of operators in themselves")          \
	X(HOST_SHARE_RATIO, "host_share_ratio", RATIO, "of host_ns of all rows")

TSI_FACT_LIST(enum row_column, row_columns, ROW_COLUMNS);

#define TABLES(X) X(ROWS, "rows", row_columns, "what --by asks for, by device or host time")

TSI_TABLE_LIST(enum table, tables, TABLES);

struct attribution {
	const struct analysis_scope *scope;
	const struct tscope_trace *trace;
	const struct places *places; /* or NULL */
	enum tscope_grouping by;
	struct module_groups groups; /* of places */
	bool *is_under_node;         /* by node; NULL: --under is not given */
	bool *is_under_source;       /* by name id */
	struct place_sums *sums;     /* by key: group, name id or kind of kernel + 1; 0: (none) */
	size_t key_count;
	size_t *near;
	bool counts_all; /* as in struct places */
	uint32_t step;   /* of the last question */
	int64_t device_ns;
};

/* ---- what is under a name -------------------------------------------------------------- */

static bool is_node_called(const struct attribution *a, uint32_t node, struct str name)
{
	const struct module_node *module = &a->places->nodes[node];
	uint32_t group = a->groups.by_node[node];

	if (tsi_str_equal(name, module->text) ||
	    tsi_str_equal(name, tsi_str_of(a->groups.groups[group].path)) ||
	    (!module->is_named && tsi_str_equal(name, tsi_module_class(module->text))))
		return true;
	/* "layers.3.wq": the names from the root on */
	for (; module->is_named && module->depth; module = &a->places->nodes[module->parent]) {
		if (name.length < module->text.length ||
		    memcmp(name.data + name.length - module->text.length, module->text.data,
			   module->text.length) != 0)
			return false;
		name.length -= module->text.length;
		if (!name.length)
			return module->parent == 0;
		if (name.data[--name.length] != '.')
			return false;
	}
	return false;
}

/* "net.py(7): forward" is called so, and "forward", and "net.py". */
static bool is_source_called(struct str source, struct str name)
{
	ptrdiff_t at = tsi_str_find(source, name);
	size_t end = (size_t)at + name.length;

	if (at < 0)
		return false;
	bool begins = at == 0 || strchr("/ \\", source.data[at - 1]) != NULL;
	return begins && (end == source.length || strchr("(:", source.data[end]) != NULL);
}

static int64_t find_under(struct attribution *a, struct str name, struct arena *scratch)
{
	int64_t count = 0;

	a->is_under_node = tsi_arena_new(scratch, a->places ? a->places->node_count : 0, 1);
	a->is_under_source = tsi_arena_new(scratch, a->trace->names.count, 1);
	if (!a->places || !a->is_under_node || !a->is_under_source)
		return 0;
	for (uint32_t node = 1; node < a->places->node_count; node++) {
		bool is_called = is_node_called(a, node, name);
		a->is_under_node[node] =
			is_called || a->is_under_node[a->places->nodes[node].parent];
		count += is_called;
	}
	for (uint32_t i = 0; i < a->trace->spans.kind_count; i++) {
		const struct span_kind *kind = &a->trace->spans.kinds[i];
		bool is_frame =
			kind->span_class == TSCOPE_SPAN_PYTHON && kind->frame.place == FRAME_USER;
		uint32_t source = is_frame ? kind->name : 0, place = 0;
		if (kind->span_class == TSCOPE_SPAN_CPU_OP)
			place = kind->op.place;
		else if (tsi_class_is_device((uint8_t)kind->span_class))
			place = kind->device.place;
		if (place)
			source = a->trace->op_places[place].source;
		if (!source || a->is_under_source[source] ||
		    !is_source_called(tsi_intern_text(&a->trace->names, source), name))
			continue;
		a->is_under_source[source] = true;
		count++;
	}
	return count;
}

static bool is_under(const struct attribution *a, struct place place)
{
	return !a->is_under_node || a->is_under_node[place.node] ||
	       (place.source && a->is_under_source[place.source]);
}

/* ---- keys ------------------------------------------------------------------------------ */

static size_t key_of_place(const struct attribution *a, struct place place)
{
	return a->by == TSCOPE_BY_MODULE ? a->places ? a->groups.by_node[place.node] : 0
					 : place.source;
}

static size_t category_of(const struct attribution *a, uint32_t row)
{
	uint8_t kind = a->scope->kernel_kinds[tsi_name_id(&a->trace->spans, row)];

	switch (tsi_span_class(&a->trace->spans, row)) {
	case TSCOPE_SPAN_MEMCPY:
		return KERNEL_KIND_COUNT + 1;
	case TSCOPE_SPAN_MEMSET:
		return KERNEL_KIND_COUNT + 2;
	default:
		return kind < KERNEL_KIND_COUNT ? 1u + kind : 0;
	}
}

static size_t key_of_row(const struct attribution *a, uint32_t row, struct place place)
{
	switch (a->by) {
	case TSCOPE_BY_OPERATOR:
		return tsi_launching_name(a->scope, row);
	case TSCOPE_BY_KERNEL:
		return tsi_name_id(&a->trace->spans, row);
	case TSCOPE_BY_CATEGORY:
		return category_of(a, row);
	default:
		return key_of_place(a, place);
	}
}

static const char *name_of(const struct attribution *a, size_t key)
{
	if (!key)
		return a->by == TSCOPE_BY_MODULE   ? "(outside modules)"
		       : a->by == TSCOPE_BY_SOURCE ? "(outside the user's code)"
						   : "(none)";
	if (a->by == TSCOPE_BY_MODULE)
		return a->groups.groups[key].path;
	if (a->by != TSCOPE_BY_CATEGORY)
		return tsi_intern_text(&a->trace->names, (uint32_t)key).data;
	if (key > KERNEL_KIND_COUNT)
		return key == KERNEL_KIND_COUNT + 1 ? "copy" : "fill";
	return tsi_kernel_kind_name((enum kernel_kind)(key - 1));
}

/* ---- sums ------------------------------------------------------------------------------ */

static bool counts_at(struct attribution *a, int64_t t_ns)
{
	const struct tscope_timeline *timeline = a->scope->timeline;
	uint32_t step = tsi_timeline_step_near(timeline, t_ns, &a->step);

	return step != NO_ROW &&
	       (a->counts_all || timeline->steps[step].mark == TSCOPE_STEP_COUNTED);
}

static void add_device(struct attribution *a)
{
	for (uint32_t row = tsi_first_device_row(a->trace); row < a->trace->spans.count; row++) {
		struct place place = { 0 };
		if (!counts_at(a, tsi_timeline_launch_time(a->trace, row)))
			continue;
		if (a->places)
			place = tsi_place_of_device(a->places, row, a->near);
		tsi_sum(&a->device_ns, tsi_dur_ns(&a->trace->spans, row));
		if (!is_under(a, place))
			continue;
		struct place_sums part = tsi_device_sums(a->trace, row, place);
		tsi_place_sums_add(&a->sums[key_of_row(a, row, place)], &part);
	}
}

/* An operator's time in itself goes where it began, if that counts. */
static void add_op_time(void *data, uint32_t row, int64_t self_ns)
{
	struct attribution *a = data;
	int64_t start_ns = tsi_start_ns(&a->trace->spans, row);
	struct place place = { 0 };

	if (!counts_at(a, start_ns))
		return;
	if (a->places)
		place = tsi_place_near(a->places, tsi_trace_track_of(a->trace, row), start_ns,
				       a->near);
	if (is_under(a, place))
		tsi_sum(&a->sums[tsi_name_id(&a->trace->spans, row)].host_ns, self_ns);
}

static void add_place_time(void *data, struct place place, int64_t ns)
{
	struct attribution *a = data;

	if (is_under(a, place))
		tsi_sum(&a->sums[key_of_place(a, place)].host_ns, ns);
}

static void add_host(struct attribution *a, struct arena *scratch)
{
	for (uint32_t i = 0; i < a->trace->host_track_count && !scratch->has_failed; i++) {
		if (a->by == TSCOPE_BY_OPERATOR)
			tsi_each_op(a->trace, i, add_op_time, a, scratch);
		else if (a->places && a->by <= TSCOPE_BY_SOURCE &&
			 (a->by == TSCOPE_BY_MODULE ? a->places->threads[i].has_modules
						    : a->places->threads[i].has_sources))
			tsi_place_each_time(a->places, i, add_place_time, a);
	}
}

/* -------------------------------------------------------------------------------------- */

static void add_row(const struct attribution *a, size_t key, const struct place_sums *all,
		    struct fact_sheet *out)
{
	const struct place_sums *sums = &a->sums[key];
	struct tscope_value *cells = tsi_table_row(out, ROWS);

	cells[NAME] = tsi_text(tsi_sheet_copy(out, tsi_str_of(name_of(a, key))));
	if (a->by <= TSCOPE_BY_OPERATOR) {
		cells[ROW_HOST_NS] = tsi_int(sums->host_ns);
		cells[HOST_SHARE_RATIO] = tsi_ratio(sums->host_ns, all->host_ns);
	}
	if (!a->trace->device_count)
		return;
	cells[ROW_DEVICE_NS] = tsi_int(tsi_place_device_ns(sums));
	cells[SHARE_RATIO] = tsi_ratio(tsi_place_device_ns(sums), tsi_place_device_ns(all));
	cells[FORWARD_NS] = tsi_int(sums->forward_ns);
	cells[BACKWARD_NS] = tsi_int(sums->backward_ns);
	cells[COMM_NS] = tsi_int(sums->comm_ns);
	cells[COPY_NS] = tsi_int(sums->copy_ns);
	cells[KERNELS] = tsi_int(sums->kernel_count);
	cells[EVENTS] = tsi_int(sums->event_count);
}

static void put_rows(const struct attribution *a, struct fact_sheet *out)
{
	struct place_sums all = { 0 };

	for (size_t key = 0; key < a->key_count; key++)
		tsi_place_sums_add(&all, &a->sums[key]);
	for (size_t key = 0; key < a->key_count; key++)
		if (a->sums[key].event_count || a->sums[key].host_ns)
			add_row(a, key, &all, out);
	tsi_table_order(out, ROWS, a->device_ns ? ROW_DEVICE_NS : ROW_HOST_NS, NAME);
	if (a->by <= TSCOPE_BY_OPERATOR)
		tsi_fact_int(out, HOST_NS, all.host_ns);
	if (!a->trace->device_count)
		return;
	tsi_fact_int(out, DEVICE_NS, a->device_ns);
	tsi_fact_int(out, UNDER_NS, tsi_place_device_ns(&all));
	if (a->by <= TSCOPE_BY_OPERATOR)
		tsi_fact_int(out, UNLINKED_NS, a->sums[0].unlinked_ns);
}

static size_t count_keys(const struct attribution *a)
{
	if (a->by == TSCOPE_BY_CATEGORY)
		return KERNEL_KIND_COUNT + 3;
	return a->by == TSCOPE_BY_MODULE ? a->groups.count + 1 : a->trace->names.count;
}

static void fill_attribution(const struct analysis_scope *scope, struct fact_sheet *out)
{
	static const char *const names[] = { "",         "module", "source",
					     "operator", "kernel", "category" };
	struct arena *scratch = tsi_sheet_scratch(out);
	struct attribution a = { .scope = scope, .trace = scope->trace, .places = scope->places };
	const char *under = scope->options->under;

	a.by = scope->options->by;
	a.counts_all = tsi_places_count_all(scope->timeline);
	if (under && !a.by)
		a.by = TSCOPE_BY_KERNEL;
	if (!a.by || (a.places && !tsi_module_groups_init(&a.groups, a.places, scratch)))
		return;
	a.key_count = count_keys(&a);
	a.sums = tsi_arena_new(scratch, a.key_count, sizeof(*a.sums));
	a.near = tsi_arena_new(scratch, a.trace->host_track_count, sizeof(*a.near));
	if (under)
		tsi_fact_int(out, MATCH_COUNT, find_under(&a, tsi_str_of(under), scratch));
	if (!a.sums || !a.near || scratch->has_failed)
		return;
	add_device(&a);
	add_host(&a, scratch);
	tsi_fact_text(out, BY, names[a.by]);
	if (under)
		tsi_fact_text(out, UNDER, tsi_sheet_copy(out, tsi_str_of(under)));
	put_rows(&a, out);
}

const struct analyzer tsi_analyzer_attribution = {
	.def = {
		.id = "attribution",
		.summary = "time by what --by asks for, of all or under a module or function",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "tscope trace --by or --under",
		.total = TSCOPE_TOTAL_STEPS,
	},
	.levels = LEVEL_TRACE,
	.when_asked = true,
	.fill = fill_attribution,
};
