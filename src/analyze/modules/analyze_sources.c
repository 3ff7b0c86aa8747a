/* SPDX-License-Identifier: MIT */
/*
 * Functions of the user's code, the innermost that is open: the time of threads in them, and what
 * they caused. Of the backward pass those that called the forward operators.
 */
#include "analyze/facts.h"

#include "analyze/modules/callers.h"
#include "analyze/modules/place_sums.h"
#include "model/trace/classify.h"

#define FACTS(X)                                                                                   \
	X(SOURCE_COUNT, "function_count", COUNT, "functions of the user's code that were seen")    \
	X(DEVICE_NS, "device_ns", NS,                                                              \
	  "sum of the durations of device events launched in the steps that count")                \
	X(OUTSIDE_NS, "outside_ns", NS, "of it, launched by no function of the user's code")       \
	X(UNLINKED_NS, "unlinked_ns", NS,                                                          \
	  "of outside_ns, of device events without a launch call in the trace: their function "    \
	  "is not known")                                                                          \
	X(HOST_NS, "host_ns", NS,                                                                  \
	  "time of the threads that run such functions, in the steps that count")                  \
	X(HOST_OUTSIDE_NS, "host_outside_ns", NS, "of it, in none of them")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define SOURCE_COLUMNS(X)                                                                          \
	X(NAME, "name", TEXT,                                                                      \
	  "file, line and name of the function, as in the trace; the line is that where it "       \
	  "begins, of call stacks that which ran; or (outside the user's code)")                   \
	X(SELF_HOST_NS, "host_ns", NS,                                                             \
	  "threads were in it, or in libraries that it called; nodes of its operators' backward "  \
	  "pass included")                                                                         \
	X(SELF_DEVICE_NS, "device_ns", NS, "durations of the device events that it launched so")   \
	X(FORWARD_NS, "forward_ns", NS, "of it, not launched by the backward pass")                \
	X(BACKWARD_NS, "backward_ns", NS, "of it, launched by the backward pass of its operators") \
	X(SHARE_RATIO, "share_ratio", RATIO, "device_ns by that of all device events")             \
	X(COMM_NS, "comm_ns", NS, "of device_ns, communication")                                   \
	X(COPY_NS, "copy_ns", NS, "of device_ns, copies and fills")                                \
	X(KERNELS, "kernel_count", COUNT, "kernels among these events")                            \
	X(LAUNCHES, "launch_count", COUNT, "calls in it that launched device work")                \
	X(SYNCS, "sync_count", COUNT, "calls in it that wait for the device")                      \
	X(SYNC_NS, "sync_ns", NS, "time in them")                                                  \
	X(ALLOCATED, "allocated_bytes", BYTES,                                                     \
	  "blocks that devices' allocators gave in it; with profile_memory=True")                  \
	X(ALLOCATIONS, "allocation_count", COUNT, "these blocks")                                  \
	X(PEAK, "peak_bytes", BYTES,                                                               \
	  "blocks allocated in it that were live when a device had most allocated, of "            \
	  "modules.peak_bytes")                                                                    \
	X(FLOPS, "flops", FLOPS, "of its operators, as far as they are known")

TSI_FACT_LIST(enum source_column, source_columns, SOURCE_COLUMNS);

#define CALLER_COLUMNS(X)                                                                          \
	X(CALLED, "name", TEXT, "of the operator, call, copy or fill")                             \
	X(CALLED_KIND, "kind", TEXT,                                                               \
	  "operator; copy (or fill, on a device); of calls of the runtime: launch, graph_launch, " \
	  "memcpy, memset, sync, malloc, free")                                                    \
	X(CALLED_IN, "op", TEXT, "the operator in which the call waits, copies or allocates")      \
	X(CALLER, "source", TEXT, "function as in by_function; absent: outside the user's code")   \
	X(CALLER_MODULE, "module", TEXT,                                                           \
	  "module as in modules.by_module, the innermost that has more than half of ns")           \
	X(CALLER_COUNT, "count", COUNT,                                                            \
	  "how often it began in these; absent: never, as where graphs replay it")                 \
	X(CALLER_NS, "ns", NS,                                                                     \
	  "device time of copies and of what operators launched themselves; else host time, of "   \
	  "operators less those in them")                                                          \
	X(CALLER_TIME, "time_of", TEXT, "device or host: which of these ns is")                    \
	X(CALLER_EXPOSED_NS, "exposed_ns", NS,                                                     \
	  "of a copy's ns, while no kernel of its device ran")                                     \
	X(CALLER_RATIO, "share_ratio", RATIO, "ns by that of all functions")

TSI_FACT_LIST(enum caller_column, caller_columns, CALLER_COLUMNS);

#define TABLES(X)                                                                                  \
	X(BY_FUNCTION, "by_function", source_columns,                                              \
	  "functions of the user's code; host_ns and device_ns of all rows sum to the totals of "  \
	  "the facts")                                                                             \
	X(CALLERS, "callers", caller_columns,                                                      \
	  "functions behind operators, calls and copies that began in the steps that count: "      \
	  "those "                                                                                 \
	  "that cause a tenth or more of its time")

TSI_TABLE_LIST(enum table, tables, TABLES);

static void add_source(const struct analysis_scope *scope, uint32_t name, int64_t device_ns,
		       struct fact_sheet *out)
{
	const struct tscope_trace *trace = scope->trace;
	const struct place_totals *totals = scope->place_totals;
	const struct place_sums *sums = &totals->sources[name];
	struct tscope_value *cells = tsi_table_row(out, BY_FUNCTION);

	cells[NAME] = tsi_text(name ? tsi_intern_text(&trace->names, name).data
				    : "(outside the user's code)");
	cells[SELF_HOST_NS] = tsi_int(tsi_place_host_ns(sums));
	cells[SYNCS] = tsi_int(sums->sync_count);
	cells[SYNC_NS] = tsi_int(sums->sync_ns);
	if (trace->allocator_point_count) {
		cells[ALLOCATED] = tsi_int(sums->allocated_bytes);
		cells[ALLOCATIONS] = tsi_int(sums->allocation_count);
	}
	if (totals->peak.is_known)
		cells[PEAK] = tsi_int(sums->peak_bytes);
	if (!device_ns)
		return;
	cells[SELF_DEVICE_NS] = tsi_int(tsi_place_device_ns(sums));
	cells[FORWARD_NS] = tsi_int(sums->forward_ns);
	cells[BACKWARD_NS] = tsi_int(sums->backward_ns);
	cells[SHARE_RATIO] = tsi_ratio(tsi_place_device_ns(sums), device_ns);
	cells[COMM_NS] = tsi_int(sums->comm_ns);
	cells[COPY_NS] = tsi_int(sums->copy_ns);
	cells[KERNELS] = tsi_int(sums->kernel_count);
	cells[LAUNCHES] = tsi_int(sums->launch_count);
	if (sums->flops > 0)
		cells[FLOPS] = tsi_real(sums->flops);
}

enum { CALLER_SHARE = 10 }; /* a tenth */

static void add_caller(const struct tscope_trace *trace, const struct caller *caller,
		       const struct module_groups *groups, struct fact_sheet *out)
{
	static const char *const kinds[CALLER_CALLS] = { "operator", "copy" };
	struct tscope_value *cells = tsi_table_row(out, CALLERS);

	cells[CALLED] = tsi_text(tsi_intern_text(&trace->names, caller->name).data);
	cells[CALLED_KIND] =
		tsi_text(caller->kind < CALLER_CALLS
				 ? kinds[caller->kind]
				 : tsi_call_kind_name((uint8_t)(caller->kind - CALLER_CALLS)));
	if (caller->op)
		cells[CALLED_IN] = tsi_text(tsi_intern_text(&trace->names, caller->op).data);
	if (caller->source)
		cells[CALLER] = tsi_text(tsi_intern_text(&trace->names, caller->source).data);
	if (caller->group)
		cells[CALLER_MODULE] = tsi_text(
			tsi_sheet_copy(out, tsi_str_of(groups->groups[caller->group].path)));
	if (caller->sums.count)
		cells[CALLER_COUNT] = tsi_int(caller->sums.count);
	cells[CALLER_NS] = tsi_int(caller->ns);
	cells[CALLER_TIME] = tsi_text(caller->is_by_device ? "device" : "host");
	if (caller->kind == CALLER_COPY)
		cells[CALLER_EXPOSED_NS] = tsi_int(caller->sums.exposed_ns);
	cells[CALLER_RATIO] = tsi_ratio(caller->ns, caller->all_ns);
}

static void add_callers(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct arena *scratch = tsi_sheet_scratch(out);
	struct module_groups groups;

	if (!tsi_module_groups_init(&groups, scope->places, scratch))
		return;
	struct callers callers = tsi_find_callers(scope, &groups, scratch);
	for (size_t i = 0; i < callers.count; i++)
		if (callers.items[i].ns > 0 &&
		    callers.items[i].ns >= callers.items[i].all_ns / CALLER_SHARE)
			add_caller(scope->trace, &callers.items[i], &groups, out);
	tsi_table_order(out, CALLERS, CALLER_NS, CALLED);
}

static bool has_sources(const struct places *places)
{
	for (uint32_t i = 0; i < places->timeline->trace->host_track_count; i++)
		if (places->threads[i].has_sources)
			return true;
	return places->has_kernel_sources;
}

static void fill_sources(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct tscope_trace *trace = scope->trace;
	int64_t device_ns = 0, count = 0;

	if (!scope->places || !has_sources(scope->places))
		return;
	const struct place_sums *sums = scope->place_totals->sources;
	for (uint32_t name = 0; name < trace->names.count; name++)
		tsi_sum(&device_ns, tsi_place_device_ns(&sums[name]));
	for (uint32_t name = 0; name < trace->names.count; name++) {
		if (name && !tsi_place_host_ns(&sums[name]) && !sums[name].event_count &&
		    !sums[name].peak_bytes)
			continue;
		add_source(scope, name, device_ns, out);
		count += name > 0;
	}
	tsi_table_order(out, BY_FUNCTION, device_ns ? SELF_DEVICE_NS : SELF_HOST_NS, NAME);
	add_callers(scope, out);
	tsi_fact_int(out, SOURCE_COUNT, count);
	tsi_fact_int(out, HOST_NS, scope->place_totals->source_host_ns);
	tsi_fact_int(out, HOST_OUTSIDE_NS, tsi_place_host_ns(&sums[0]));
	if (!device_ns)
		return;
	tsi_fact_int(out, DEVICE_NS, device_ns);
	tsi_fact_int(out, OUTSIDE_NS, tsi_place_device_ns(&sums[0]));
	tsi_fact_int(out, UNLINKED_NS, sums[0].unlinked_ns);
}

const struct analyzer tsi_analyzer_sources = {
	.def = {
		.id = "sources",
		.summary = "functions of the user's code by host time and what they launched",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a trace with Python frames or call stacks (with_stack=True)",
		.total = TSCOPE_TOTAL_STEPS,
	},
	.levels = LEVEL_TRACE,
	.when_asked = true,
	.fill = fill_sources,
};
