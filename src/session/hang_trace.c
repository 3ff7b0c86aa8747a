/* SPDX-License-Identifier: MIT */
/*
 * Names the culprit's activity while others wait for it, where a trace of its rank lasts as long.
 */
#include "session/run.h"

#include "analyze/trace/source_frame.h"
#include "base/error.h"
#include "hang/hang_file.h"
#include "model/trace/python_name.h"
#include "session/open_trace.h"
#include "timeline/timeline.h"

enum { LOOKED_BACK = 100000 };

/* The trace of a rank that ends last, in Unix time; or NULL. */
static const struct load *last_trace(const struct run_members *members, int64_t rank)
{
	const struct load *found = NULL;

	for (size_t i = 0; i < members->item_count; i++) {
		const struct load *load = members->loads[members->items[i].file];
		const struct loaded *loaded = load->loaded;

		if (loaded->input.kind == TSCOPE_INPUT_TRACE && loaded->origin.has_unix &&
		    members->items[i].rank == rank &&
		    (!found || loaded->end_ns > found->loaded->end_ns))
			found = load;
	}
	return found;
}

/* When the last of a thread's rows ends; NO_NUMBER: it has none. */
static int64_t end_of(const struct tscope_trace *trace, uint32_t track)
{
	const struct track *of = &trace->tracks[track];
	int64_t end_ns = NO_NUMBER;

	for (uint32_t row = of->first; row < of->first + of->count; row++)
		if (tsi_span_end(trace, row) > end_ns)
			end_ns = tsi_span_end(trace, row);
	return end_ns;
}

/* Finds what is open at the end of the thread: the innermost operator or call, and module. */
static void find_open(const struct tscope_trace *trace, uint32_t track, int64_t end_ns,
		      struct str *operation, struct str *module)
{
	uint32_t first = trace->tracks[track].first, end = first + trace->tracks[track].count;

	for (uint32_t row = end; row > first && end - row < LOOKED_BACK; row--) {
		uint8_t class = tsi_span_class(&trace->spans, row - 1);
		struct str name = tsi_span_name(trace, row - 1);

		if (tsi_span_end(trace, row - 1) < end_ns)
			continue;
		if (!operation->length &&
		    (class == TSCOPE_SPAN_CPU_OP || class == TSCOPE_SPAN_RUNTIME))
			*operation = name;
		if (!module->length && class == TSCOPE_SPAN_PYTHON)
			*module = tsi_module_name(name);
	}
}

/* "aten::item in module Linear_3, train.py(212): step"; NULL: nothing is open. */
static const char *place_at_end(struct arena *arena, const struct tscope_trace *trace,
				uint32_t track, int64_t end_ns)
{
	struct str operation = { "", 0 }, module = { "", 0 }, source = { "", 0 };
	struct open_rows rows = tsi_open_rows(trace, arena);
	uint32_t frame = tsi_source_frame(&rows, track, end_ns - 1, LOOKED_BACK);

	find_open(trace, track, end_ns, &operation, &module);
	if (frame != NO_ROW)
		source = tsi_span_name(trace, frame);
	if (operation.length + module.length + source.length == 0)
		return NULL;
	return tsi_arena_print(arena, "%.*s%s%.*s%s%.*s", TSI_QUOTE(operation),
			       !module.length     ? ""
			       : operation.length ? " in module "
						  : "module ",
			       TSI_QUOTE(module),
			       source.length && operation.length + module.length ? ", " : "",
			       TSI_QUOTE(source));
}

static void look(struct tscope_hang *hang, const struct tscope_trace *trace,
		 const struct tscope_timeline *timeline)
{
	uint32_t track = timeline->main_track;
	int64_t since_ns = hang->verdict.op->since_ns;
	int64_t end_ns = track == NO_ROW ? NO_NUMBER : end_of(trace, track);

	if (end_ns == NO_NUMBER || tsi_time_of_run(trace, end_ns) <= since_ns)
		return;
	hang->trace_place = place_at_end(&hang->arena, trace, track, end_ns);
	hang->trace_after_ns = tsi_difference(since_ns, tsi_time_of_run(trace, end_ns));
}

enum tscope_status tsi_look_into_trace(struct tscope_hang *hang, const struct run_members *members,
				       const struct tscope_run_options *options,
				       struct tscope_error *err)
{
	const struct hang_verdict *verdict = &hang->verdict;
	struct tscope_trace *trace = NULL;
	struct tscope_timeline *timeline = NULL;
	struct tscope_error failure;

	if (verdict->kind <= HANG_UNDECIDED || verdict->op->culprit_count != 1 ||
	    verdict->op->since_ns == 0)
		return TSCOPE_OK;
	const struct load *load = last_trace(members, verdict->op->culprits[0]);
	if (!load || load->loaded->end_ns <= verdict->op->since_ns)
		return TSCOPE_OK;
	/* It was read before: a file that cannot be read again has nothing more to say. */
	enum tscope_status status = tsi_trace_open_rank(&trace, load->file.path, &options->trace,
							load->only, false, &failure);
	if (status == TSCOPE_OK)
		status = tsi_timeline_build(&timeline, trace, &options->timeline, false, &failure);
	if (status == TSCOPE_OK)
		look(hang, trace, timeline);
	tscope_timeline_free(timeline);
	tscope_trace_free(trace);
	return status == TSCOPE_E_NOMEM ? tsi_fail_nomem(err) : tsi_arena_status(&hang->arena, err);
}
