/* SPDX-License-Identifier: MIT */
/*
 * Memory that a trace may take, where the caller sets a limit. Frames that only name causes go
 * first; host operators are most of a trace, and only the analyses of operators need them: where
 * all that has come takes too much, they are given up, and those to come are counted only. Where
 * the rest is too much, too, the trace is refused.
 */
#include "base/error.h"
#include "model/trace/build.h"

/* Bytes per row: time deltas, kind, bitset, share of the block base. */
enum { ROW_BYTES = 3 * sizeof(uint32_t) + 1 };

/* Bytes that are in the file, if there is one. */
static uint64_t column_bytes(const struct builder *b)
{
	enum { FLOW_BYTES = 24 };
	const struct tscope_trace *trace = b->trace;
	return (uint64_t)trace->spans.count * ROW_BYTES +
	       trace->cpu_op_count * (sizeof(*trace->op_ids) + sizeof(*trace->op_sequences)) +
	       trace->call_count * (sizeof(*trace->calls) + sizeof(*trace->call_ids)) +
	       trace->device_event_count * sizeof(*trace->device_events) +
	       (uint64_t)trace->spans.kind_count * sizeof(*trace->spans.kinds) +
	       trace->allocator_point_count * sizeof(*trace->allocator_points) +
	       trace->sync_record_count * sizeof(*trace->sync_records) +
	       trace->collective_count * sizeof(*trace->collectives) +
	       trace->counters.value_count * sizeof(*trace->counters.values) +
	       (b->flow_starts.count + b->flow_ends.count) * FLOW_BYTES;
}

/* Bytes in memory that grow with events. A name counts as the least that it can take. */
static uint64_t taken_bytes(const struct builder *b)
{
	enum { NAME_BYTES = 64, TRACK_BYTES = 64, SHAPE_BYTES = 128 };
	const struct tscope_trace *trace = b->trace;
	uint64_t far_count = trace->spans.starts.far_count + trace->spans.durations.far_count;
	return (trace->spill ? 0 : column_bytes(b)) + far_count * sizeof(struct far_times) +
	       (uint64_t)trace->track_count * (sizeof(*trace->tracks) + TRACK_BYTES) +
	       (uint64_t)trace->op_inputs_count * (sizeof(*trace->op_inputs) + SHAPE_BYTES) +
	       trace->names.count * NAME_BYTES;
}

/* Moves a row to a place before it, where nothing is needed any more. */
static void move_up(struct builder *b, uint32_t row, uint32_t to)
{
	struct spans *spans = &b->trace->spans;
	int64_t start_ns = tsi_start_ns(spans, row), dur_ns = tsi_dur_ns(spans, row);
	spans->kind[to] = spans->kind[row];
	if (to % TIME_BLOCK == 0 && row - to >= TIME_BLOCK)
		tsi_time_forget_block(&spans->starts, to);
	if (tsi_span_class(spans, to) == TSCOPE_SPAN_GC)
		tsi_builder_put(b, &b->gc_row_of, tsi_trace_track_of(b->trace, to), to);
	tsi_time_put(&spans->starts, to, start_ns);
	tsi_length_put(&spans->durations, to, dur_ns);
}

/* Takes out chosen frames or all operators but those that an E may still end. */
static void drop_rows(struct builder *b, enum tscope_span_class span_class)
{
	struct tscope_trace *trace = b->trace;
	struct spans *spans = &trace->spans;
	uint32_t to = 0, op = 0, kept_ops = 0;
	size_t mark = 0;
	bool drops_ops = span_class == TSCOPE_SPAN_CPU_OP;
	for (uint32_t row = 0; row < spans->count; row++) {
		bool is_op = tsi_span_class(spans, row) == TSCOPE_SPAN_CPU_OP;
		bool is_kept = drops_ops ? !is_op || tsi_dur_ns(spans, row) == OPEN_DURATION
					 : !tsi_is_chosen_frame(tsi_span_kind(spans, row));
		uint32_t at = op;
		op += is_op;
		while (mark < b->mark_count && b->marks[mark].row == NO_ROW)
			mark++;
		if (!is_kept)
			continue;
		if (is_op) {
			trace->op_ids[kept_ops] = trace->op_ids[at];
			trace->op_sequences[kept_ops++] = trace->op_sequences[at];
		}
		if (mark < b->mark_count && b->marks[mark].row == row)
			b->marks[mark++].row = to;
		if (row != to)
			move_up(b, row, to);
		to++;
	}
	if (drops_ops)
		b->sink.diagnostics[TSCOPE_DIAGNOSTIC_unkept_operator] += spans->count - to;
	spans->count = to;
	trace->cpu_op_count = kept_ops;
}

static void set_spill(struct builder *b, struct tscope_spill *spill)
{
	b->trace->spill = b->trace->arena.spill = b->scratch.spill = spill;
}

void tsi_keep_memory_limit(struct builder *b)
{
	struct tscope_trace *trace = b->trace;
	uint64_t limit = b->options.memory_limit;
	struct tscope_error err;
	if (limit == 0 || (!trace->spill && taken_bytes(b) <= limit))
		return;
	set_spill(b, b->options.spill);
	if (trace->spill && !tsi_place_columns(trace)) {
		b->options.spill = NULL; /* not to be tried again */
		set_spill(b, NULL);
	}
	if (taken_bytes(b) <= limit)
		return;
	if (!b->drops_frames) {
		b->drops_frames = true;
		drop_rows(b, TSCOPE_SPAN_PYTHON);
		b->trace->chosen_frame_count = 0;
		b->trace->has_places = b->has_paths;
	}
	if (!b->drops_operators && taken_bytes(b) > limit) {
		b->drops_operators = true;
		drop_rows(b, TSCOPE_SPAN_CPU_OP);
	}
	if (taken_bytes(b) <= limit) {
		/* Gives back what was theirs; without memory for that all stays as it is. */
		(void)tsi_place_columns(trace);
		return;
	}
	tsi_fail(
		&err, TSCOPE_E_LIMIT,
		"its spans take more than %llu bytes, even without operators (limit: memory-limit)",
		(unsigned long long)limit);
	tsi_builder_fail(b, &err);
}
