/* SPDX-License-Identifier: MIT */
/*
 * The public face of a finished trace: what include/tscope/trace.h promises
 * about it, but opening, which is session/open_trace.c's. Nothing here allocates.
 */
#include "model/trace/trace.h"

#include "base/column.h"
#include "base/queue.h"

#include <stdlib.h>

void tscope_trace_free(struct tscope_trace *trace)
{
	if (!trace)
		return;
	struct spans *spans = &trace->spans;
	tsi_time_column_deinit(&spans->starts);
	tsi_time_column_deinit(&spans->durations);
	tsi_column_free(spans->kind);
	tsi_column_free(spans->kinds);
	tsi_bit_set_deinit(&spans->calls);
	tsi_column_free(trace->op_ids);
	tsi_column_free(trace->op_sequences);
	tsi_column_free(trace->call_ids);
	tsi_column_free(trace->calls);
	tsi_column_free(trace->device_events);
	for (uint32_t i = 0; i < trace->device_count; i++)
		tsi_column_free(trace->devices[i].rows);
	tsi_column_free(trace->allocator_points);
	tsi_counters_deinit(&trace->counters);
	free(trace->path);
	tsi_intern_deinit(&trace->names);
	tsi_arena_deinit(&trace->arena);
	free(trace);
}

const struct tscope_error *tscope_trace_damage(const struct tscope_trace *trace)
{
	return trace->is_damaged ? &trace->damage : NULL;
}

const struct tscope_trace_info *tscope_trace_info(const struct tscope_trace *trace)
{
	return &trace->info;
}

/* ---- diagnostics --------------------------------------------------------------------- */

static const struct {
	const char *id, *text;
	enum tscope_effect effect;
} diagnostics[] = {
#define DIAGNOSTIC(name, what, words) { #name, words, TSCOPE_EFFECT_##what },
#include <tscope/diagnostic_list.h>
#undef DIAGNOSTIC
};

uint64_t tscope_trace_diagnostic(const struct tscope_trace *trace, enum tscope_diagnostic kind)
{
	return trace->diagnostics[kind];
}

const char *tscope_diagnostic_id(enum tscope_diagnostic kind)
{
	return diagnostics[kind].id;
}

enum tscope_effect tscope_diagnostic_effect(enum tscope_diagnostic kind)
{
	return diagnostics[kind].effect;
}

const char *tscope_diagnostic_text(enum tscope_diagnostic kind)
{
	return diagnostics[kind].text;
}

/* ---- spans and tracks ---------------------------------------------------------------- */

const char *tscope_span_class_name(enum tscope_span_class span_class)
{
	static const char *const names[] = {
		[TSCOPE_SPAN_CPU_OP] = "cpu_op",   [TSCOPE_SPAN_ANNOTATION] = "annotation",
		[TSCOPE_SPAN_RUNTIME] = "runtime", [TSCOPE_SPAN_PYTHON] = "python",
		[TSCOPE_SPAN_GC] = "gc",           [TSCOPE_SPAN_OVERHEAD] = "overhead",
		[TSCOPE_SPAN_OTHER] = "other",     [TSCOPE_SPAN_KERNEL] = "kernel",
		[TSCOPE_SPAN_COMM] = "comm",       [TSCOPE_SPAN_MEMCPY] = "memcpy",
		[TSCOPE_SPAN_MEMSET] = "memset",
	};

	return (size_t)span_class < TSI_COUNT_OF(names) ? names[span_class] : "unknown";
}

unsigned tsi_trace_threads(const struct tscope_trace *trace)
{
	/* Starting a thread takes as long as looking at some thousand spans. */
	enum { MIN_SHARED_SPANS = 50000, MAX_THREADS = 4 };
	unsigned count = trace->thread_count ? trace->thread_count : tsi_thread_count();

	if (trace->spans.count < MIN_SHARED_SPANS)
		return 1;
	return count < MAX_THREADS ? count : MAX_THREADS;
}

bool tsi_trace_has_shapes(const struct tscope_trace *trace)
{
	for (uint32_t i = 0; i < trace->spans.kind_count; i++) {
		const struct span_kind *kind = &trace->spans.kinds[i];
		if (kind->span_class == TSCOPE_SPAN_CPU_OP &&
		    trace->op_inputs[kind->op.inputs].signature)
			return true;
	}
	return false;
}

uint32_t tscope_trace_span_count(const struct tscope_trace *trace)
{
	return trace->spans.count;
}

struct tscope_span tscope_trace_span(const struct tscope_trace *trace, uint32_t row)
{
	const struct spans *spans = &trace->spans;
	struct tscope_span span = {
		.start_ns = tsi_start_ns(spans, row),
		.dur_ns = tsi_dur_ns(spans, row),
		.name = tsi_span_name(trace, row).data,
		.span_class = tsi_span_class(spans, row),
		.track = tsi_trace_track_of(trace, row),
		.launch = NO_ROW,
		.op = NO_ROW,
	};
	if (tsi_class_is_device(tsi_span_class(spans, row))) {
		span.launch = tsi_device_event(trace, row)->call;
		span.op = tsi_device_event(trace, row)->op;
	}
	return span;
}

uint32_t tscope_trace_track_count(const struct tscope_trace *trace)
{
	return trace->track_count;
}

struct tscope_track tscope_trace_track(const struct tscope_trace *trace, uint32_t track)
{
	const struct track *from = &trace->tracks[track];
	return (struct tscope_track){
		.pid = tsi_intern_text(&trace->names, from->pid).data,
		.tid = tsi_intern_text(&trace->names, from->tid).data,
		.name = tsi_intern_text(&trace->names, from->name).data,
		.is_device = from->is_device,
		.device = from->device,
		.stream = from->stream,
		.first = from->first,
		.count = from->count,
	};
}

void tsi_trace_release_freed(const struct tscope_trace *trace)
{
	enum { MIN_ROWS = 1 << 16 };

	if (trace->spans.count >= MIN_ROWS)
		tsi_release_freed();
}
