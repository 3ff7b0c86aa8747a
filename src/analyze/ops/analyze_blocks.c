/* SPDX-License-Identifier: MIT */
/*
 * Blocks of kernels that repeat on the busiest stream, like the layers of a model: known without
 * modules, operators or launches. Passes over the same blocks are one row, kernel by kernel the
 * median of them, so that one slow pass makes no layer slow.
 */
#include "analyze/facts.h"

#include "analyze/ops/block_runs.h"
#include "analyze/ops/kernel_kind.h"
#include "analyze/shared/quantile.h"
#include "base/pair_set.h"
#include "base/sum.h"
#include "model/trace/device_rows.h"

#include <stdlib.h>

#define FACTS(X)                                                                                   \
	X(DEVICE_NS, "device_ns", NS, "kernels of the stream, in the steps that count")            \
	X(REPEATED_NS, "repeated_ns", NS, "of it, in blocks that repeat")                          \
	X(SEQUENCE_COUNT, "sequence_count", COUNT, "different sequences of such blocks")           \
	X(ODD_COUNT, "odd_count", COUNT, "blocks that take much longer than their likes")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define SEQUENCE_COLUMNS(X)                                                                        \
	X(SEQUENCE, "sequence", COUNT, "its number, by time")                                      \
	X(BLOCKS, "block_count", COUNT, "blocks, one behind the other")                            \
	X(BLOCK_KERNELS, "kernel_count", COUNT, "kernels of a block")                              \
	X(PASSES, "pass_count", COUNT, "how often all of them ran")                                \
	X(PHASE_NAME, "phase", TEXT, "forward or backward; absent: not known")                     \
	X(MEDIAN_NS, "median_ns", NS, "kernel time of a block, the median")                        \
	X(SEQUENCE_NS, "ns", NS, "kernel time of all blocks and passes")                           \
	X(SEQUENCE_RATIO, "share_ratio", RATIO, "of device_ns")                                    \
	X(LONGEST, "kernel", TEXT, "the one with most of a block's time")

TSI_FACT_LIST(enum sequence_column, sequence_columns, SEQUENCE_COLUMNS);

#define KERNEL_COLUMNS(X)                                                                          \
	X(KERNEL_OF, "sequence", COUNT, "that it is a kernel of")                                  \
	X(KERNEL_NAME, "name", TEXT, "of the kernel")                                              \
	X(KERNEL_KIND, "kind", TEXT, "what it computes, as in kernels.by_kind")                    \
	X(KERNEL_COUNT, "count", COUNT, "how often a block has it")                                \
	X(KERNEL_NS, "ns", NS, "its time in a block, of medians")                                  \
	X(KERNEL_RATIO, "share_ratio", RATIO, "of that of all kernels of the block")

TSI_FACT_LIST(enum kernel_column, kernel_columns, KERNEL_COLUMNS);

#define ODD_COLUMNS(X)                                                                             \
	X(ODD_OF, "sequence", COUNT, "that it is a block of")                                      \
	X(ODD_BLOCK, "block", COUNT, "its number, from 1")                                         \
	X(ODD_NS, "ns", NS, "its kernel time, of medians over passes")                             \
	X(ODD_MEDIAN_NS, "median_ns", NS, "median of the blocks")                                  \
	X(ODD_CAUSE, "because", TEXT, "the kernel that exceeds its usual time in a block by most") \
	X(ODD_CAUSE_NS, "because_ns", NS, "by how much")                                           \
	X(ODD_WHY, "why", TEXT, "longer kernels; or other kernels")

TSI_FACT_LIST(enum odd_column, odd_columns, ODD_COLUMNS);

#define TABLES(X)                                                                                  \
	X(SEQUENCES, "sequences", sequence_columns,                                                \
	  "blocks of kernels that repeat at least four times in a row, by time")                   \
	X(KERNELS, "kernels", kernel_columns, "kernels of the blocks")                             \
	X(ODD_BLOCKS, "odd_blocks", odd_columns,                                                   \
	  "blocks that take 1.3 times the median of their likes, and 1 % of all time longer")

TSI_TABLE_LIST(enum table, tables, TABLES);

enum { MOST_SEQUENCES = 16, MOST_KERNELS = 1 << 20 };

struct block_work {
	const struct analysis_scope *scope;
	const struct tscope_trace *trace;
	struct arena *arena;
	struct block_item *items; /* of the steps that count, one behind the other */
	uint32_t *rows;           /* their rows */
	size_t item_count;
	struct block_runs runs;
	int64_t device_ns;
};

/* Runs with the same kernels. */
struct sequence {
	const struct block_run *run;               /* the first */
	size_t length;                             /* kernels of a pass */
	size_t *passes, pass_count, pass_capacity; /* their first items */
	int64_t ns;
	int64_t *typical_ns; /* by kernel of a pass: the median over passes */
};

static int64_t dur_of(const struct block_work *w, size_t item)
{
	return tsi_dur_ns(&w->trace->spans, w->rows[item]);
}

/* ---- the kernels of the busiest stream -------------------------------------------------- */

static uint32_t step_of(const struct block_work *w, uint32_t row, uint32_t *near)
{
	const struct tscope_timeline *timeline = w->scope->timeline;
	uint32_t step =
		tsi_timeline_step_near(timeline, tsi_timeline_launch_time(w->trace, row), near);

	return step != NO_ROW && timeline->steps[step].mark == TSCOPE_STEP_COUNTED ? step : NO_ROW;
}

struct stream {
	const struct track *track; /* NULL: there is none with kernels */
	int64_t ns;                /* of its kernels */
	int64_t counts[KERNEL_KIND_COUNT];
};

static struct stream sum_stream(const struct block_work *w, const struct track *track)
{
	struct stream stream = { .track = track };

	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		if (!tsi_is_kernel(w->trace, row))
			continue;
		tsi_sum(&stream.ns, tsi_dur_ns(&w->trace->spans, row));
		stream.counts[w->scope->kernel_kinds[tsi_name_id(&w->trace->spans, row)]]++;
	}
	return stream;
}

static struct stream busiest_stream(const struct block_work *w)
{
	struct stream busiest = { 0 };

	for (uint32_t i = w->trace->host_track_count; i < w->trace->track_count; i++) {
		struct stream stream = sum_stream(w, &w->trace->tracks[i]);
		if (stream.ns > busiest.ns)
			busiest = stream;
	}
	return busiest;
}

/*
 * The kinds of which a layer has one or few: attention, or the softmax of one that is not fused, of
 * which a loss has one among many products; else products. 0: none, or too few layers.
 */
static unsigned anchor_kinds(const int64_t *counts)
{
	enum { MOST_PRODUCTS = 20 }; /* of a layer, for each softmax */
	int64_t attention = counts[KERNEL_ATTENTION] + counts[KERNEL_SSM];
	int64_t products = counts[KERNEL_GEMM] + counts[KERNEL_CONV];
	if (attention)
		return attention >= LEAST_BLOCKS ? 1u << KERNEL_ATTENTION | 1u << KERNEL_SSM : 0;
	if (counts[KERNEL_SOFTMAX] >= LEAST_BLOCKS &&
	    products <= MOST_PRODUCTS * counts[KERNEL_SOFTMAX])
		return 1u << KERNEL_SOFTMAX;
	return products >= LEAST_BLOCKS ? 1u << KERNEL_GEMM | 1u << KERNEL_CONV : 0;
}

static enum block_border border_of(uint8_t kind, unsigned anchors)
{
	if (kind == KERNEL_SAMPLING || kind == KERNEL_OPTIMIZER)
		return BORDER_SURE;
	if (kind == KERNEL_CONV && !(anchors >> kind & 1))
		return BORDER_MAYBE;
	return kind == KERNEL_EMBEDDING || kind == KERNEL_SORT ? BORDER_MAYBE : BORDER_NONE;
}

static void add_kernel(struct block_work *w, uint32_t row, unsigned anchors)
{
	uint32_t name = tsi_name_id(&w->trace->spans, row);
	uint8_t phase = tsi_device_event(w->trace, row)->phase;
	uint8_t kind = w->scope->kernel_kinds[name];
	bool is_known = phase == PHASE_FORWARD || phase == PHASE_BACKWARD;

	w->items[w->item_count] = (struct block_item){
		.name = name,
		.is_anchor = anchors >> kind & 1,
		.border = (uint8_t)border_of(kind, anchors),
		.part = is_known ? (uint8_t)(1 + phase) : 0,
	};
	w->rows[w->item_count++] = row;
	tsi_sum(&w->device_ns, tsi_dur_ns(&w->trace->spans, row));
}

/* Blocks lie within a step: finds those among its items, the last ones, from `first` on. */
static void find_runs(struct block_work *w, size_t first)
{
	if (first < w->item_count && !w->arena->has_failed)
		tsi_find_blocks(&w->runs, w->items, first, w->item_count - first,
				(uint32_t)w->trace->names.count, w->arena);
}

static void walk_stream(struct block_work *w, const struct track *track, unsigned anchors)
{
	uint32_t near = 0, step = NO_ROW;
	size_t first = 0;

	w->items = tsi_arena_new(w->arena, track->count, sizeof(*w->items));
	w->rows = tsi_arena_new(w->arena, track->count, sizeof(*w->rows));
	if (!w->items || !w->rows)
		return;
	for (uint32_t row = track->first;
	     row < track->first + track->count && w->item_count < MOST_KERNELS; row++) {
		uint32_t next = tsi_is_kernel(w->trace, row) ? step_of(w, row, &near) : NO_ROW;
		if (next == NO_ROW)
			continue;
		if (next != step) {
			find_runs(w, first);
			first = w->item_count;
			step = next;
		}
		add_kernel(w, row, anchors);
	}
	find_runs(w, first);
}

/* ---- passes over the same blocks -------------------------------------------------------- */

static bool is_same(const struct block_work *w, const struct sequence *sequence,
		    const struct block_run *run)
{
	const struct block_run *first = sequence->run;

	if (first->count != run->count || first->period != run->period ||
	    run->bounds[run->count] - run->bounds[0] != sequence->length)
		return false;
	for (size_t i = 0; i < sequence->length; i++)
		if (w->items[first->bounds[0] + i].name != w->items[run->bounds[0] + i].name)
			return false;
	return true;
}

static void add_pass(const struct block_work *w, struct sequence *sequence,
		     const struct block_run *run)
{
	size_t *pass = tsi_arena_push(w->arena, &sequence->passes, &sequence->pass_count,
				      &sequence->pass_capacity, sizeof(*pass));

	if (pass)
		*pass = run->bounds[0];
	for (size_t i = run->bounds[0]; i < run->bounds[run->count]; i++)
		tsi_sum(&sequence->ns, dur_of(w, i));
}

static size_t group_passes(const struct block_work *w, struct sequence *sequences)
{
	size_t count = 0;

	for (size_t i = 0; i < w->runs.count; i++) {
		const struct block_run *run = &w->runs.items[i];
		size_t at = 0;
		while (at < count && !is_same(w, &sequences[at], run))
			at++;
		if (at == MOST_SEQUENCES)
			continue;
		if (at == count)
			sequences[count++] = (struct sequence){
				.run = run,
				.length = run->bounds[run->count] - run->bounds[0],
			};
		add_pass(w, &sequences[at], run);
	}
	return count;
}

static void find_typical(const struct block_work *w, struct sequence *sequence)
{
	int64_t *times = tsi_arena_new(w->arena, sequence->pass_count, sizeof(*times));

	sequence->typical_ns =
		tsi_arena_new(w->arena, sequence->length, sizeof(*sequence->typical_ns));
	for (size_t i = 0; times && sequence->typical_ns && i < sequence->length; i++) {
		for (size_t pass = 0; pass < sequence->pass_count; pass++)
			times[pass] = dur_of(w, sequence->passes[pass] + i);
		sequence->typical_ns[i] = tsi_find_quantile_ns(times, sequence->pass_count, 50);
	}
}

/* ---- what is said of them ---------------------------------------------------------------- */

/* Times of kernels with one name. */
struct kernel_time {
	int64_t usual_count, usual_ns; /* in a block like the others */
	int64_t ns;                    /* in the block at hand */
};

struct sequence_view {
	const struct block_work *w;
	const struct sequence *sequence;
	int64_t number;
	int64_t *block_ns;       /* by block */
	int64_t median_ns;       /* of them */
	struct pair_set kernels; /* (name, 0): struct kernel_time */
};

static struct kernel_time *time_of(struct sequence_view *v, size_t item)
{
	uint32_t number = tsi_pair_set_add(&v->kernels, v->w->items[item].name, 0);

	return number == UINT32_MAX ? NULL : (struct kernel_time *)v->kernels.items + number;
}

static int64_t typical_of(const struct sequence_view *v, size_t item)
{
	return v->sequence->typical_ns[item - v->sequence->run->bounds[0]];
}

/* Sums up each kernel of a block, as the median over blocks that are alike. */
static void find_usual(struct sequence_view *v)
{
	const struct block_run *run = v->sequence->run;
	int64_t *times = tsi_arena_new(v->w->arena, run->count, sizeof(*times));

	for (size_t i = 0; times && i < run->period; i++) {
		struct kernel_time *time = time_of(v, run->bounds[run->alike] + i);
		size_t count = 0;
		for (size_t block = 0; block < run->count; block++)
			if (tsi_is_block_alike(run, v->w->items, block))
				times[count++] = typical_of(v, run->bounds[block] + i);
		if (!time)
			return;
		time->usual_count++;
		tsi_sum(&time->usual_ns, tsi_find_quantile_ns(times, count, 50));
	}
}

static void sum_blocks(struct sequence_view *v)
{
	const struct block_run *run = v->sequence->run;
	int64_t *times = tsi_arena_new(v->w->arena, run->count, sizeof(*times));

	v->block_ns = tsi_arena_new(v->w->arena, run->count, sizeof(*v->block_ns));
	for (size_t block = 0; times && v->block_ns && block < run->count; block++) {
		for (size_t i = run->bounds[block]; i < run->bounds[block + 1]; i++)
			tsi_sum(&v->block_ns[block], typical_of(v, i));
		times[block] = v->block_ns[block];
	}
	if (times)
		v->median_ns = tsi_find_quantile_ns(times, run->count, 50);
}

static void put_cause(struct sequence_view *v, size_t block, struct tscope_value *cells)
{
	const struct block_run *run = v->sequence->run;
	struct kernel_time *times = v->kernels.items;
	size_t most = SIZE_MAX;

	for (size_t i = run->bounds[block]; i < run->bounds[block + 1]; i++) {
		struct kernel_time *time = time_of(v, i);
		if (time)
			tsi_sum(&time->ns, typical_of(v, i));
	}
	times = v->kernels.items;
	for (size_t i = 0; i < v->kernels.count; i++)
		if (times[i].ns > times[i].usual_ns &&
		    (most == SIZE_MAX ||
		     times[i].ns - times[i].usual_ns > times[most].ns - times[most].usual_ns))
			most = i;
	if (most != SIZE_MAX) {
		uint32_t name = v->kernels.pairs[most].first;
		cells[ODD_CAUSE] = tsi_text(tsi_intern_text(&v->w->trace->names, name).data);
		cells[ODD_CAUSE_NS] = tsi_int(times[most].ns - times[most].usual_ns);
	}
	for (size_t i = 0; i < v->kernels.count; i++)
		times[i].ns = 0;
}

static bool is_odd(const struct sequence_view *v, size_t block)
{
	int64_t excess_ns = v->block_ns[block] - v->median_ns;

	return excess_ns > 0 && v->block_ns[block] >= v->median_ns + v->median_ns * 3 / 10 &&
	       (double)excess_ns * (double)v->sequence->pass_count >=
		       0.01 * (double)v->w->device_ns;
}

static int64_t put_odd_blocks(struct sequence_view *v, struct fact_sheet *out)
{
	const struct block_run *run = v->sequence->run;
	int64_t count = 0;

	for (size_t block = 0; block < run->count; block++) {
		if (!is_odd(v, block))
			continue;
		struct tscope_value *cells = tsi_table_row(out, ODD_BLOCKS);
		cells[ODD_OF] = tsi_int(v->number);
		cells[ODD_BLOCK] = tsi_int((int64_t)block + 1);
		cells[ODD_NS] = tsi_int(v->block_ns[block]);
		cells[ODD_MEDIAN_NS] = tsi_int(v->median_ns);
		cells[ODD_WHY] =
			tsi_text(tsi_is_block_alike(run, v->w->items, block) ? "longer kernels"
									     : "other kernels");
		put_cause(v, block, cells);
		count++;
	}
	return count;
}

static void put_kernels(const struct sequence_view *v, struct fact_sheet *out)
{
	const struct kernel_time *times = v->kernels.items;
	int64_t all_ns = 0;

	for (size_t i = 0; i < v->kernels.count; i++)
		tsi_sum(&all_ns, times[i].usual_ns);
	for (size_t i = 0; i < v->kernels.count; i++) {
		uint32_t name = v->kernels.pairs[i].first;
		uint8_t kind = v->w->scope->kernel_kinds[name];
		struct tscope_value *cells = tsi_table_row(out, KERNELS);
		cells[KERNEL_OF] = tsi_int(v->number);
		cells[KERNEL_NAME] = tsi_text(tsi_intern_text(&v->w->trace->names, name).data);
		cells[KERNEL_KIND] = tsi_text(tsi_kernel_kind_name((enum kernel_kind)kind));
		cells[KERNEL_COUNT] = tsi_int(times[i].usual_count);
		cells[KERNEL_NS] = tsi_int(times[i].usual_ns);
		cells[KERNEL_RATIO] = tsi_ratio(times[i].usual_ns, all_ns);
	}
}

static const char *longest_kernel(const struct sequence_view *v)
{
	const struct kernel_time *times = v->kernels.items;
	size_t longest = 0;

	for (size_t i = 1; i < v->kernels.count; i++)
		if (times[i].usual_ns > times[longest].usual_ns)
			longest = i;
	return tsi_intern_text(&v->w->trace->names, v->kernels.pairs[longest].first).data;
}

static const char *phase_of(const struct block_work *w, const struct block_run *run)
{
	for (size_t i = 0; i < run->period; i++) {
		uint8_t part = w->items[run->bounds[run->alike] + i].part;
		if (part)
			return part == 1 + PHASE_FORWARD ? "forward" : "backward";
	}
	return NULL;
}

static int64_t put_sequence(const struct block_work *w, const struct sequence *sequence,
			    int64_t number, struct fact_sheet *out)
{
	struct sequence_view v = {
		.w = w,
		.sequence = sequence,
		.number = number,
		.kernels = { .arena = w->arena, .item_bytes = sizeof(struct kernel_time) },
	};

	find_usual(&v);
	sum_blocks(&v);
	if (w->arena->has_failed || !v.kernels.count)
		return 0;
	struct tscope_value *cells = tsi_table_row(out, SEQUENCES);
	cells[SEQUENCE] = tsi_int(number);
	cells[BLOCKS] = tsi_int((int64_t)sequence->run->count);
	cells[BLOCK_KERNELS] = tsi_int((int64_t)sequence->run->period);
	cells[PASSES] = tsi_int((int64_t)sequence->pass_count);
	cells[PHASE_NAME] = tsi_text_if(phase_of(w, sequence->run));
	cells[MEDIAN_NS] = tsi_int(v.median_ns);
	cells[SEQUENCE_NS] = tsi_int(sequence->ns);
	cells[SEQUENCE_RATIO] = tsi_ratio(sequence->ns, w->device_ns);
	cells[LONGEST] = tsi_text(longest_kernel(&v));
	put_kernels(&v, out);
	return put_odd_blocks(&v, out);
}

static int by_time(const void *left, const void *right)
{
	const struct sequence *a = left, *b = right;

	TSI_DESCENDING(a->ns, b->ns);
	TSI_ASCENDING(a->run->bounds[0], b->run->bounds[0]);
	return 0;
}

static void put_sequences(const struct block_work *w, struct fact_sheet *out)
{
	struct sequence sequences[MOST_SEQUENCES];
	size_t count = group_passes(w, sequences);
	int64_t odd_count = 0, repeated_ns = 0;

	if (!count || w->arena->has_failed)
		return;
	qsort(sequences, count, sizeof(*sequences), by_time);
	for (size_t i = 0; i < count; i++) {
		find_typical(w, &sequences[i]);
		if (w->arena->has_failed)
			return;
		odd_count += put_sequence(w, &sequences[i], (int64_t)i + 1, out);
		tsi_sum(&repeated_ns, sequences[i].ns);
	}
	tsi_fact_int(out, DEVICE_NS, w->device_ns);
	tsi_fact_int(out, REPEATED_NS, repeated_ns);
	tsi_fact_int(out, SEQUENCE_COUNT, (int64_t)count);
	tsi_fact_int(out, ODD_COUNT, odd_count);
}

static void fill_blocks(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct block_work w = { .scope = scope, .trace = scope->trace };

	w.arena = tsi_sheet_scratch(out);
	struct stream stream = busiest_stream(&w);
	unsigned anchors = anchor_kinds(stream.counts);
	if (!anchors)
		return;
	walk_stream(&w, stream.track, anchors);
	if (!w.arena->has_failed)
		put_sequences(&w, out);
}

const struct analyzer tsi_analyzer_blocks = {
	.def = {
		.id = "blocks",
		.summary = "blocks of kernels that repeat, like layers, and those that take longer",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a trace with kernels that repeat in the same order",
		.total = TSCOPE_TOTAL_STEPS,
	},
	.levels = LEVEL_TRACE,
	.when_asked = true,
	.fill = fill_blocks,
};
