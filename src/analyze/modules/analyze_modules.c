/* SPDX-License-Identifier: MIT */
/*
 * Whose time it is: modules (nn.Module) with the time of threads in them and what was launched in
 * them, forward and backward; layers that are alike as one, and of these the odd ones.
 */
#include "analyze/facts.h"

#include "analyze/modules/module_groups.h"
#include "analyze/modules/place_sums.h"
#include "analyze/ops/trace_flops.h"
#include "analyze/shared/quantile.h"

#define FACTS(X)                                                                                   \
	X(SOURCE, "source", TEXT,                                                                  \
	  "what says where modules are: frames, TorchScript, kernel annotations, FSDP, "           \
	  "annotations (the user's, where their names are paths of modules)")                      \
	X(MODULE_COUNT, "module_count", COUNT, "modules that ran, each place of a shared one")     \
	X(CALL_COUNT, "call_count", COUNT, "calls that began in the steps that count")             \
	X(REPEATED_COUNT, "repeated_count", COUNT,                                                 \
	  "of them, within the backward pass: forward code that ran again")                        \
	X(DEVICE_NS, "device_ns", NS,                                                              \
	  "sum of the durations of device events launched in the steps that count")                \
	X(OUTSIDE_NS, "outside_ns", NS, "of it, launched in no module that is known")              \
	X(OUTSIDE_BACKWARD_NS, "outside_backward_ns", NS, "of it, of the backward pass")           \
	X(UNLINKED_NS, "unlinked_ns", NS,                                                          \
	  "of outside_ns, of device events without a launch call in the trace: their module is "   \
	  "not known")                                                                             \
	X(HOST_NS, "host_ns", NS, "time of the threads that run modules, in the steps that count") \
	X(HOST_OUTSIDE_NS, "host_outside_ns", NS, "of it, in no module")                           \
	X(ODD_COUNT, "odd_layer_count", COUNT, "layers that take much longer than their likes")    \
	X(PEAK_ALL, "peak_bytes", BYTES,                                                           \
	  "most that was allocated on a device in the steps that count, as "                       \
	  "memory.peak_alloc_bytes; with profile_memory=True")                                     \
	X(PEAK_OUTSIDE, "peak_outside_bytes", BYTES,                                               \
	  "of it, in blocks that were allocated in no module that is known")                       \
	X(PEAK_UNRECORDED, "peak_unrecorded_bytes", BYTES,                                         \
	  "of it, in blocks that were allocated before the recording began: parameters, mostly")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define MODULE_COLUMNS(X)                                                                          \
	X(NAME, "name", TEXT,                                                                      \
	  "path of classes; \"*\" stands for layers that are alike, [1] for the second child of "  \
	  "its class; or (outside modules)")                                                       \
	X(EXAMPLE, "example", TEXT, "the first of them, as the profiler calls it")                 \
	X(DEPTH, "depth", COUNT, "modules around it, and itself")                                  \
	X(MODULES, "module_count", COUNT, "modules that the row stands for")                       \
	X(CALLS, "call_count", COUNT,                                                              \
	  "calls that began in the steps that count; a replay of a graph counts as one")           \
	X(CALLS_PER_STEP, "calls_per_step", NUMBER, "calls in a mean step")                        \
	X(REPEATED, "repeated_count", COUNT, "of these calls, those within the backward pass")     \
	X(SELF_HOST_NS, "self_host_ns", NS,                                                        \
	  "threads were in it and in no module within, nodes of its backward pass included")       \
	X(TOTAL_HOST_NS, "host_ns", NS, "the same with the modules within")                        \
	X(SELF_DEVICE_NS, "self_device_ns", NS,                                                    \
	  "durations of device events launched in it and in no module within, forward and "        \
	  "backward")                                                                              \
	X(TOTAL_DEVICE_NS, "device_ns", NS, "the same with the modules within")                    \
	X(FORWARD_NS, "forward_ns", NS, "of device_ns, not launched by the backward pass")         \
	X(BACKWARD_NS, "backward_ns", NS,                                                          \
	  "of device_ns, launched by the backward pass of its operators")                          \
	X(SHARE_RATIO, "share_ratio", RATIO, "device_ns by that of all device events")             \
	X(SELF_SHARE_RATIO, "self_share_ratio", RATIO,                                             \
	  "self_device_ns by that of all device events")                                           \
	X(COMM_NS, "comm_ns", NS, "of device_ns, communication")                                   \
	X(COPY_NS, "copy_ns", NS, "of device_ns, copies and fills")                                \
	X(KERNELS, "kernel_count", COUNT, "kernels launched in it and within")                     \
	X(LAUNCHES, "launch_count", COUNT, "calls in it and within that launched device work")     \
	X(SYNC_NS, "sync_ns", NS, "time in calls that wait for the device")                        \
	X(FLOPS, "flops", FLOPS, "of operators in it and within, as far as they are known")        \
	X(SELF_ALLOCATED, "self_allocated_bytes", BYTES,                                           \
	  "blocks that devices' allocators gave in it and in no module within, backward "          \
	  "included; with profile_memory=True")                                                    \
	X(ALLOCATED, "allocated_bytes", BYTES, "the same with the modules within")                 \
	X(ALLOCATIONS, "allocation_count", COUNT, "these blocks")                                  \
	X(SELF_PEAK, "self_peak_bytes", BYTES,                                                     \
	  "of peak_bytes of the facts, blocks that were allocated in it and in no module within, " \
	  "backward included")                                                                     \
	X(PEAK, "peak_bytes", BYTES, "the same with the modules within")                           \
	X(PEAK_RATIO, "peak_share_ratio", RATIO, "peak_bytes by that of the facts")                \
	X(BYTES, "bytes", BYTES, "least that these operators must move, as far as it is known")    \
	X(MFU, "mfu", RATIO, "flops by what the device could do in device_ns")

TSI_FACT_LIST(enum module_column, module_columns, MODULE_COLUMNS);

#define LAYER_COLUMNS(X)                                                                           \
	X(LAYER, "layer", TEXT, "as the profiler calls it")                                        \
	X(LAYER_GROUP, "name", TEXT, "path of the layers that it is alike, as in by_module")       \
	X(LAYER_NS, "ns", NS, "its time, of by")                                                   \
	X(LAYER_MEDIAN_NS, "median_ns", NS, "median of its likes")                                 \
	X(LAYER_LIKES, "module_count", COUNT, "layers that are alike, with it")                    \
	X(LAYER_BY, "by", TEXT, "device: what it launched; host: its threads' time")               \
	X(LAYER_CAUSE, "because", TEXT,                                                            \
	  "the module within that exceeds the median of its likes by most, or the layer's own "    \
	  "work")                                                                                  \
	X(LAYER_CAUSE_NS, "because_ns", NS, "by how much")                                         \
	X(LAYER_WHY, "why", TEXT,                                                                  \
	  "in what it differs from the median of its likes: more kernels, more FLOPs (other "      \
	  "shapes), communication, copies, waits for the device, or neither")

TSI_FACT_LIST(enum layer_column, layer_columns, LAYER_COLUMNS);

#define TABLES(X)                                                                                  \
	X(BY_MODULE, "by_module", module_columns,                                                  \
	  "modules by their own device time, or time of threads without devices; the self "        \
	  "columns "                                                                               \
	  "of all rows sum to the totals of the facts; those of memory with what was not "         \
	  "recorded")                                                                              \
	X(ODD_LAYERS, "odd_layers", layer_columns,                                                 \
	  "layers that take 1.3 times the median of their likes, and 1 % of all time longer")

TSI_TABLE_LIST(enum table, tables, TABLES);

struct module_work {
	const struct analysis_scope *scope;
	const struct places *places;
	struct module_groups groups;
	const struct place_sums *own;               /* by node */
	struct place_sums *whole;                   /* with those within */
	struct place_sums *group_own, *group_whole; /* by group */
	int64_t device_ns;
	double peak_flops; /* or NAN */
	int64_t step_count;
};

/* Time of a module and those in it: on devices, if there are any. */
static int64_t time_of(const struct module_work *w, const struct place_sums *sums)
{
	return w->device_ns ? tsi_place_device_ns(sums) : tsi_place_host_ns(sums);
}

static bool sum_up(struct module_work *w, struct arena *scratch)
{
	const struct places *places = w->places;
	size_t node_count = places->node_count, group_count = w->groups.count;

	w->own = w->scope->place_totals->nodes;
	w->whole = tsi_arena_new(scratch, node_count, sizeof(*w->whole));
	w->group_own = tsi_arena_new(scratch, group_count, sizeof(*w->group_own));
	w->group_whole = tsi_arena_new(scratch, group_count, sizeof(*w->group_whole));
	if (scratch->has_failed)
		return false;
	for (size_t node = node_count; node-- > 0;) {
		tsi_place_sums_add(&w->whole[node], &w->own[node]);
		if (node)
			tsi_place_sums_add(&w->whole[places->nodes[node].parent], &w->whole[node]);
	}
	for (size_t node = 0; node < node_count; node++) {
		uint32_t group = w->groups.by_node[node];
		tsi_place_sums_add(&w->group_own[group], &w->own[node]);
		tsi_place_sums_add(&w->group_whole[group], node ? &w->whole[node] : &w->own[node]);
	}
	w->device_ns = tsi_place_device_ns(&w->whole[0]);
	return true;
}

/* "Linear_3"; of one that has a name the path, "layers.3.wq". */
static const char *name_of(const struct module_work *w, uint32_t node, struct fact_sheet *out)
{
	const struct module_node *module = &w->places->nodes[node];
	const char *path = tsi_sheet_copy(out, module->text);

	while (module->is_named && module->parent) {
		module = &w->places->nodes[module->parent];
		path = tsi_sheet_print(out, "%.*s.%s", (int)module->text.length, module->text.data,
				       path);
	}
	return path;
}

static void fill_work(const struct module_work *w, const struct place_sums *own,
		      const struct place_sums *whole, struct tscope_value *cells)
{
	int64_t device_ns = tsi_place_device_ns(whole);

	cells[SELF_HOST_NS] = tsi_int(tsi_place_host_ns(own));
	cells[TOTAL_HOST_NS] = tsi_int(tsi_place_host_ns(whole));
	cells[SYNC_NS] = tsi_int(whole->sync_ns);
	if (w->scope->trace->allocator_point_count) {
		cells[SELF_ALLOCATED] = tsi_int(own->allocated_bytes);
		cells[ALLOCATED] = tsi_int(whole->allocated_bytes);
		cells[ALLOCATIONS] = tsi_int(whole->allocation_count);
	}
	if (w->scope->place_totals->peak.is_known) {
		cells[SELF_PEAK] = tsi_int(own->peak_bytes);
		cells[PEAK] = tsi_int(whole->peak_bytes);
		cells[PEAK_RATIO] =
			tsi_ratio(whole->peak_bytes, w->scope->place_totals->peak.bytes);
	}
	if (!w->device_ns)
		return;
	cells[SELF_DEVICE_NS] = tsi_int(tsi_place_device_ns(own));
	cells[TOTAL_DEVICE_NS] = tsi_int(device_ns);
	cells[FORWARD_NS] = tsi_int(whole->forward_ns);
	cells[BACKWARD_NS] = tsi_int(whole->backward_ns);
	cells[SHARE_RATIO] = tsi_ratio(device_ns, w->device_ns);
	cells[SELF_SHARE_RATIO] = tsi_ratio(tsi_place_device_ns(own), w->device_ns);
	cells[COMM_NS] = tsi_int(whole->comm_ns);
	cells[COPY_NS] = tsi_int(whole->copy_ns);
	cells[KERNELS] = tsi_int(whole->kernel_count);
	cells[LAUNCHES] = tsi_int(whole->launch_count);
	if (whole->flops > 0) {
		cells[FLOPS] = tsi_real(whole->flops);
		cells[MFU] = tsi_real(whole->flops / (w->peak_flops * (double)device_ns / 1e9));
	}
	if (whole->bytes > 0)
		cells[BYTES] = tsi_real(whole->bytes);
}

static void add_group(const struct module_work *w, uint32_t number, int64_t calls, int64_t repeated,
		      struct fact_sheet *out)
{
	const struct module_group *group = &w->groups.groups[number];
	struct tscope_value *cells = tsi_table_row(out, BY_MODULE);

	cells[NAME] = tsi_text(number ? tsi_sheet_copy(out, tsi_str_of(group->path))
				      : "(outside modules)");
	fill_work(w, &w->group_own[number], &w->group_whole[number], cells);
	cells[DEPTH] = tsi_int(group->depth);
	if (!number)
		return;
	cells[EXAMPLE] = tsi_text(name_of(w, group->first_node, out));
	cells[MODULES] = tsi_int(group->module_count);
	if (!w->places->nodes[group->first_node].is_timed)
		return;
	cells[CALLS] = tsi_int(calls);
	if (w->step_count)
		cells[CALLS_PER_STEP] = tsi_real((double)calls / (double)w->step_count);
	cells[REPEATED] = tsi_int(repeated);
}

static void add_groups(const struct module_work *w, struct fact_sheet *out)
{
	struct arena *scratch = tsi_sheet_scratch(out);
	int64_t *calls = tsi_arena_new(scratch, w->groups.count, sizeof(*calls));
	int64_t *repeated = tsi_arena_new(scratch, w->groups.count, sizeof(*repeated));
	int64_t call_count = 0, repeated_count = 0;

	if (!calls || !repeated)
		return;
	for (size_t node = 1; node < w->places->node_count; node++) {
		const struct module_node *module = &w->places->nodes[node];
		calls[w->groups.by_node[node]] += module->call_count;
		repeated[w->groups.by_node[node]] += module->repeated_count;
		call_count += module->call_count;
		repeated_count += module->repeated_count;
	}
	for (uint32_t i = 0; i < w->groups.count; i++)
		add_group(w, i, calls[i], repeated[i], out);
	tsi_table_order(out, BY_MODULE, w->device_ns ? SELF_DEVICE_NS : SELF_HOST_NS, NAME);
	tsi_fact_int(out, CALL_COUNT, call_count);
	tsi_fact_int(out, REPEATED_COUNT, repeated_count);
}

/* ---- odd layers ---------------------------------------------------------------------- */

/* Nodes by group. */
struct group_nodes {
	uint32_t *nodes;
	size_t *ends; /* by group: those of the one before end where its begin */
};

static bool list_nodes(const struct module_work *w, struct group_nodes *list, struct arena *scratch)
{
	size_t end = 0;

	list->nodes = tsi_arena_new(scratch, w->places->node_count, sizeof(*list->nodes));
	list->ends = tsi_arena_new(scratch, w->groups.count, sizeof(*list->ends));
	if (!list->nodes || !list->ends)
		return false;
	for (size_t i = 1; i < w->groups.count; i++) {
		list->ends[i] = end;
		end += w->groups.groups[i].module_count;
	}
	for (uint32_t node = 1; node < w->places->node_count; node++)
		list->nodes[list->ends[w->groups.by_node[node]]++] = node;
	return true;
}

struct layer_cause {
	uint32_t group; /* of the module within; that of the layer: its own work */
	int64_t excess_ns;
};

/* By group: the median of the times of their nodes, and of the nodes' own. */
struct group_medians {
	int64_t *whole_ns, *own_ns;
};

static bool find_medians(const struct module_work *w, const struct group_nodes *list,
			 struct group_medians *medians, struct arena *scratch)
{
	int64_t *times_ns = tsi_arena_new(scratch, w->places->node_count, sizeof(*times_ns));

	medians->whole_ns = tsi_arena_new(scratch, w->groups.count, sizeof(int64_t));
	medians->own_ns = tsi_arena_new(scratch, w->groups.count, sizeof(int64_t));
	if (!times_ns || !medians->whole_ns || !medians->own_ns)
		return false;
	for (size_t i = 1; i < w->groups.count; i++) {
		size_t count = w->groups.groups[i].module_count;
		const uint32_t *nodes = list->nodes + list->ends[i] - count;
		for (size_t k = 0; k < count; k++)
			times_ns[k] = time_of(w, &w->whole[nodes[k]]);
		medians->whole_ns[i] = tsi_find_quantile_ns(times_ns, count, 50);
		for (size_t k = 0; k < count; k++)
			times_ns[k] = time_of(w, &w->own[nodes[k]]);
		medians->own_ns[i] = tsi_find_quantile_ns(times_ns, count, 50);
	}
	return true;
}

static void consider(struct layer_cause *cause, uint32_t group, int64_t excess_ns)
{
	if (excess_ns > cause->excess_ns)
		*cause = (struct layer_cause){ group, excess_ns };
}

/*
 * Finds why a layer takes longer: going down from it, the module whose own work exceeds that of its
 * peers by most. Nodes of one subtree are not side by side, but lie behind its root.
 */
static struct layer_cause find_cause(const struct module_work *w,
				     const struct group_medians *medians, uint32_t layer,
				     bool *is_within)
{
	struct layer_cause cause = { w->groups.by_node[layer], 0 };

	is_within[layer] = true;
	for (uint32_t node = layer; node < w->places->node_count; node++) {
		uint32_t group = w->groups.by_node[node];
		if (node > layer)
			is_within[node] = is_within[w->places->nodes[node].parent];
		if (is_within[node])
			consider(&cause, group, time_of(w, &w->own[node]) - medians->own_ns[group]);
	}
	memset(is_within + layer, 0, w->places->node_count - layer);
	return cause;
}

enum { MIN_LIKES = 4, MAX_ODD_LAYERS = 20 };

static bool is_odd(const struct module_work *w, int64_t time_ns, int64_t median_ns)
{
	int64_t all_ns = w->device_ns ? w->device_ns : w->scope->place_totals->node_host_ns;

	return time_ns > median_ns && (double)time_ns >= 1.3 * (double)median_ns &&
	       (double)(time_ns - median_ns) >= 0.01 * (double)all_ns;
}

/* Amounts that a layer may have more of than its likes. */
static int64_t kernels_of(const struct place_sums *sums)
{
	return sums->kernel_count;
}

static int64_t comm_of(const struct place_sums *sums)
{
	return sums->comm_ns;
}

static int64_t copies_of(const struct place_sums *sums)
{
	return sums->copy_ns;
}

static int64_t syncs_of(const struct place_sums *sums)
{
	return sums->sync_ns;
}

static int64_t flops_of(const struct place_sums *sums)
{
	return sums->flops < 9e18 ? (int64_t)sums->flops : 0;
}

/* Layers that are alike. */
struct likes {
	const struct module_work *w;
	const uint32_t *nodes;
	size_t count;
	int64_t *values; /* room for one of each */
};

static int64_t median_of(const struct likes *likes, int64_t (*part)(const struct place_sums *sums))
{
	for (size_t i = 0; i < likes->count; i++)
		likes->values[i] = part(&likes->w->whole[likes->nodes[i]]);
	return tsi_find_quantile_ns(likes->values, likes->count, 50);
}

/* excess_ns: of the layer over the median. */
static const char *why(const struct likes *likes, const struct place_sums *layer, int64_t excess_ns,
		       struct fact_sheet *out)
{
	int64_t kernels = median_of(likes, kernels_of), flops = median_of(likes, flops_of);

	if (!likes->w->device_ns)
		return layer->sync_ns - median_of(likes, syncs_of) > excess_ns / 2
			       ? "waits for the device"
			       : "more time in its own code and operators";
	if (layer->comm_ns - median_of(likes, comm_of) > excess_ns / 2)
		return "longer communication";
	if (layer->copy_ns - median_of(likes, copies_of) > excess_ns / 2)
		return "longer copies";
	if (flops > 0 && layer->flops > 1.05 * (double)flops)
		return tsi_sheet_print(out, "other shapes: %.2f times the FLOPs",
				       layer->flops / (double)flops);
	if (layer->kernel_count > kernels)
		return tsi_sheet_print(out, "more kernels: %lld, median %lld",
				       (long long)layer->kernel_count, (long long)kernels);
	return flops > 0 ? "longer kernels, as many and with as many FLOPs"
			 : "longer kernels, as many";
}

static void add_layer(const struct likes *likes, uint32_t node, const struct layer_cause *cause,
		      int64_t median_ns, struct fact_sheet *out)
{
	const struct module_work *w = likes->w;
	int64_t excess_ns = time_of(w, &w->whole[node]) - median_ns;
	const struct module_group *group = &w->groups.groups[w->groups.by_node[node]];
	struct tscope_value *cells = tsi_table_row(out, ODD_LAYERS);

	cells[LAYER] = tsi_text(name_of(w, node, out));
	cells[LAYER_GROUP] = tsi_text(tsi_sheet_copy(out, tsi_str_of(group->path)));
	cells[LAYER_NS] = tsi_int(time_of(w, &w->whole[node]));
	cells[LAYER_MEDIAN_NS] = tsi_int(median_ns);
	cells[LAYER_LIKES] = tsi_int(group->module_count);
	cells[LAYER_BY] = tsi_text(w->device_ns ? "device" : "host");
	cells[LAYER_WHY] = tsi_text(why(likes, &w->whole[node], excess_ns, out));
	if (!cause->excess_ns)
		return;
	cells[LAYER_CAUSE] =
		tsi_text(tsi_sheet_copy(out, tsi_str_of(w->groups.groups[cause->group].path)));
	cells[LAYER_CAUSE_NS] = tsi_int(cause->excess_ns);
}

static void add_odd_layers(const struct module_work *w, struct fact_sheet *out)
{
	struct arena *scratch = tsi_sheet_scratch(out);
	bool *is_within = tsi_arena_new(scratch, w->places->node_count, sizeof(*is_within));
	int64_t *values = tsi_arena_new(scratch, w->places->node_count, sizeof(*values));
	struct group_medians medians;
	struct group_nodes list;
	int64_t count = 0;

	if (!is_within || !values || !list_nodes(w, &list, scratch) ||
	    !find_medians(w, &list, &medians, scratch))
		return;
	for (size_t i = 1; i < w->groups.count; i++) {
		const struct module_group *group = &w->groups.groups[i];
		if (!group->is_repeated || group->module_count < MIN_LIKES)
			continue;
		struct likes likes = { w, list.nodes + list.ends[i] - group->module_count,
				       group->module_count, values };
		for (size_t k = list.ends[i] - group->module_count; k < list.ends[i]; k++) {
			int64_t time_ns = time_of(w, &w->whole[list.nodes[k]]);
			if (!is_odd(w, time_ns, medians.whole_ns[i]) || count++ >= MAX_ODD_LAYERS)
				continue;
			struct layer_cause cause =
				find_cause(w, &medians, list.nodes[k], is_within);
			add_layer(&likes, list.nodes[k], &cause, medians.whole_ns[i], out);
		}
	}
	tsi_fact_int(out, ODD_COUNT, count);
	tsi_table_order(out, ODD_LAYERS, LAYER_NS, LAYER);
}

/* -------------------------------------------------------------------------------------- */

static int64_t count_steps(const struct places *places)
{
	int64_t count = 0;

	for (uint32_t i = 0; i < places->timeline->step_count; i++)
		count += tsi_place_step_counts(places, i);
	return count;
}

static void put_source(unsigned sources, struct fact_sheet *out)
{
	static const struct {
		unsigned source;
		const char *name;
	} names[] = {
		{ MODULE_FRAMES, "frames" },
		{ MODULE_HIERARCHY, "TorchScript" },
		{ MODULE_KERNELS, "kernel annotations" },
		{ MODULE_FSDP, "FSDP" },
		{ MODULE_ANNOTATIONS, "annotations" },
	};
	const char *text = "";

	for (size_t i = 0; i < TSI_COUNT_OF(names); i++)
		if (sources & names[i].source)
			text = tsi_sheet_print(out, "%s%s%s", text, *text ? ", " : "",
					       names[i].name);
	tsi_fact_text(out, SOURCE, text);
}

static void put_peak(const struct module_work *w, struct fact_sheet *out)
{
	const struct peak_blocks *peak = &w->scope->place_totals->peak;

	if (!peak->is_known)
		return;
	tsi_fact_int(out, PEAK_ALL, peak->bytes);
	tsi_fact_int(out, PEAK_OUTSIDE, w->own[0].peak_bytes);
	tsi_fact_int(out, PEAK_UNRECORDED, peak->unrecorded_bytes);
}

static void fill_modules(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct arena *scratch = tsi_sheet_scratch(out);
	struct module_work w = { .scope = scope, .places = scope->places };

	if (!w.places || w.places->node_count < 2)
		return;
	w.peak_flops = scope->flops->peak_flops;
	w.step_count = count_steps(w.places);
	if (!tsi_module_groups_init(&w.groups, w.places, scratch) || !sum_up(&w, scratch))
		return;
	put_source(w.places->sources, out);
	add_groups(&w, out);
	add_odd_layers(&w, out);
	tsi_fact_int(out, MODULE_COUNT, (int64_t)w.places->node_count - 1);
	tsi_fact_int(out, HOST_NS, scope->place_totals->node_host_ns);
	tsi_fact_int(out, HOST_OUTSIDE_NS, tsi_place_host_ns(&w.own[0]));
	put_peak(&w, out);
	if (!w.device_ns)
		return;
	tsi_fact_int(out, DEVICE_NS, w.device_ns);
	tsi_fact_int(out, OUTSIDE_NS, tsi_place_device_ns(&w.own[0]));
	tsi_fact_int(out, OUTSIDE_BACKWARD_NS, w.own[0].backward_ns);
	tsi_fact_int(out, UNLINKED_NS, w.own[0].unlinked_ns);
}

const struct analyzer tsi_analyzer_modules = {
	.def = {
		.id = "modules",
		.summary = "modules by host and device time, forward and backward; layers that "
			   "take longer than their likes",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a trace that says modules: with_stack=True, or annotations",
		.total = TSCOPE_TOTAL_STEPS,
	},
	.levels = LEVEL_TRACE,
	.when_asked = true,
	.fill = fill_modules,
};
