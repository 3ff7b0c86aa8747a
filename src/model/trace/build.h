/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_BUILD_H
#define TSCOPE_MODEL_TRACE_BUILD_H

#include "base/key_map.h"
#include "decode/events/event_sink.h"
#include "decode/events/members.h"
#include "model/trace/builder.h"
#include "model/trace/classify.h"
#include "model/trace/composer.h"
#include "model/trace/trace.h"

#include <math.h>

/*
 * The trace while it is being built, and the stages that build it. Only files
 * of this folder include this. In the order of the data's path:
 *
 *	builder.c     takes events: class, name, track, a row
 *	memory_limit.c  gives up operators where there are too many
 *	known.c       takes events of kinds that have come before
 *	rows.c        columns, and what rows have in common
 *	args.c        reads what some classes carry in args
 *	inputs.c      what operators are called with
 *	allocator.c   what allocators of devices said
 *	sync_records.c  what waits for what
 *	tracks.c      finds a row's track; names of threads
 *	metadata.c    reads top-level keys
 *	composer.c    what Composer says of ranks, clocks and batches
 *	counters.c    values of counters
 *	begin_end.c   joins B and E events
 *	finish.c      runs the rest (after the last event)
 *	roles.c       what rows are by their names
 *	group.c       rows into the order of tracks and time
 *	place.c       rows of a track side by side
 *	merge_runs.c  rows of a track that came in a few runs
 *	repair.c      impossible durations
 *	enclose.c     which op and phase encloses each call
 *	link.c        device events to calls, calls to ops
 *	devices.c     the devices in use
 *	validate.c    counts what is odd
 */

enum {
	CATEGORY_MEMO_SLOTS = 64, /* powers of two */
	TRACK_MEMO_SLOTS = 16,
	TICK_EVENTS = 16384,
};

#define OPEN_DURATION INT64_C(-1) /* a span whose end has not come */

/* Beyond this (126 years around the epoch) times are refused: differences must not overflow. */
#define TIME_LIMIT_NS INT64_C(4000000000000000000)

/* A category seen lately: most events have one of a handful. */
struct category_memo {
	struct str text; /* in the names; lives as long as they */
	uint32_t index;  /* in trace->categories */
	char phase;
	bool used;
};

struct track_memo {
	struct str pid, tid;
	uint32_t track;
	bool used;
};

/* The beginning or end of a slice that comes as two events. */
struct slice_mark {
	int64_t ts_ns;
	uint32_t track;
	uint32_t name;
	uint32_t row; /* that the B opened; NO_ROW: an E */
};

struct thread_name {
	uint32_t pid, tid, name; /* ids */
};

/* What an event is bound by. */
struct event_ids {
	uint64_t correlation;
	uint32_t external_id; /* 0: none */
};

struct builder {
	struct event_sink sink; /* first: a pointer to it is one to the builder */
	struct tscope_trace *trace;
	struct builder_options options;
	uint32_t events_until_tick;

	struct key_map category_of;                  /* (name id, phase) -> index */
	const struct category_rule **category_rules; /* by index in trace->categories */
	size_t category_rule_capacity;
	struct category_memo category_memo[CATEGORY_MEMO_SLOTS];

	struct known_kind *known; /* by kind of event, as the decoder tells them */
	size_t known_count, known_capacity;
	struct event_ids ids; /* of the row that was added last, if it has any */

	struct key_map host_track_of;   /* (pid id, tid id) -> track */
	struct key_map device_track_of; /* (device, stream) -> track */
	struct track_memo track_memo[TRACK_MEMO_SLOTS];

	const struct scan_isa *isa; /* reads args */
	/* How the writer prints them. */
	struct layout op_args, call_args, device_args, memory_args;

	struct slice_mark *marks;
	size_t mark_count, mark_capacity;
	struct thread_name *thread_names;
	size_t thread_name_count, thread_name_capacity;

	struct key_map counter_nodes;    /* counter, process, id: (node above, text) -> node */
	struct key_map counter_series;   /* (node of these, text) -> series */
	struct key_map composer_rank_of; /* (pid id, tid id) -> composer_ranks */
	struct key_map thread_of_rank;   /* likewise -> options.only->threads */

	struct intern span_kinds;  /* bytes of trace->spans.kinds: ids less 1 */
	struct intern work_shapes; /* bytes of trace->work_shapes */
	struct intern raw_inputs; /* of operators, as they stand in the file: ids as in op_inputs */
	uint8_t *concrete_use;    /* by id of an operator's name: are its concrete inputs kept? */
	size_t concrete_use_capacity;

	char *text; /* room for a name without escapes, a signature */
	size_t text_capacity;

	bool drops_operators;     /* the memory limit was hit */
	bool has_open_rows;       /* rows of OPEN_DURATION */
	struct key_map gc_row_of; /* track -> its latest garbage collection */
	int64_t window_mark_ns;   /* "Record Window End", or NO_NUMBER */
	uint64_t untimed_count;   /* device rows with time 0 and duration 0 */
	int64_t composer_rank;    /* what Composer's "global_rank" says, or -1 */
};

/* The place of a device span, as its args or its pid and tid say. */
struct device_place {
	int64_t device; /* or NO_NUMBER */
	int64_t stream; /* or NO_NUMBER */
};

/* builder.c */

/* The id of a text as it stands in JSON between its quotes. */
TSI_MUST_CHECK
enum tscope_status tsi_builder_intern(struct builder *b, struct str text, bool escaped,
				      uint32_t *id, struct tscope_error *err);

/* Frees what only the events to come would need, once all are there. */
void tsi_free_scaffold(struct builder *b);

/* args.c: all take an event's args, which may be empty. */

/* What a device span's args say. */
struct raw_work {
	struct event_ids ids;
	struct work_shape shape;
	struct device_place place;
	uint32_t collective; /* index in trace->collectives, or NO_ROW */
	uint8_t direction;   /* enum copy_direction */
	bool graph;
};

TSI_MUST_CHECK
enum tscope_status tsi_read_op_args(struct builder *b, uint32_t name, struct str args,
				    struct cpu_op *op, uint32_t *external_id,
				    struct tscope_error *err);
/* *bytes stays as it is where nothing is said. */
void tsi_read_call_args(struct builder *b, struct str args, struct event_ids *ids, int64_t *bytes);
TSI_MUST_CHECK
enum tscope_status tsi_read_device_args(struct builder *b, struct str args, struct raw_work *work,
					struct tscope_error *err);

static inline struct work_shape tsi_no_shape(void)
{
	return (struct work_shape){
		.bytes = NO_NUMBER,
		.blocks_per_sm = NAN,
		.warps_per_sm = NAN,
		.occupancy_pct = NAN,
	};
}

/* rows.c */

/* The index in trace->spans.kinds. */
TSI_MUST_CHECK
enum tscope_status tsi_find_span_kind(struct builder *b, const struct span_kind *kind,
				      uint32_t *index, struct tscope_error *err);
/* The index in trace->work_shapes. */
TSI_MUST_CHECK
enum tscope_status tsi_find_work_shape(struct builder *b, const struct work_shape *shape,
				       uint32_t *index, struct tscope_error *err);
/* What stands beside the row that is added next. */
TSI_MUST_CHECK
enum tscope_status tsi_add_op_ids(struct builder *b, struct event_ids ids,
				  struct tscope_error *err);
TSI_MUST_CHECK
enum tscope_status tsi_add_call(struct builder *b, struct event_ids ids, struct tscope_error *err);
TSI_MUST_CHECK
enum tscope_status tsi_add_device_event(struct builder *b, struct event_ids ids,
					uint32_t collective, struct tscope_error *err);
TSI_MUST_CHECK
enum tscope_status tsi_grow_rows(struct spans *spans, struct tscope_error *err);

TSI_MUST_CHECK
static inline enum tscope_status tsi_add_row(struct spans *spans, int64_t start_ns, int64_t dur_ns,
					     uint32_t kind, struct tscope_error *err)
{
	uint32_t row = spans->count;
	enum tscope_status status;
	if (tsi_unlikely(row == spans->capacity) &&
	    (status = tsi_grow_rows(spans, err)) != TSCOPE_OK)
		return status;
	spans->kind[row] = kind;
	spans->count++;
	status = tsi_time_put(&spans->starts, row, start_ns, err);
	return status == TSCOPE_OK ? tsi_length_put(&spans->durations, row, dur_ns, err) : status;
}

static inline bool tsi_is_good_span(int64_t ts_ns, int64_t dur_ns)
{
	static const uint64_t limit = TIME_LIMIT_NS;

	return (uint64_t)ts_ns + limit <= 2 * limit && dur_ns <= TIME_LIMIT_NS - ts_ns;
}

static inline bool tsi_is_good_time(const struct raw_event *event)
{
	return event->has_ts && tsi_is_good_span(event->ts_ns, event->dur_ns);
}

/* Is the time of an event one that counts? If not, that is counted. */
static inline bool tsi_is_timed(struct builder *b, const struct raw_event *event)
{
	if (tsi_likely(tsi_is_good_time(event)))
		return true;
	b->sink.diagnostics[event->has_ts ? TSCOPE_DIAGNOSTIC_bad_timestamp
					  : TSCOPE_DIAGNOSTIC_missing_timestamp]++;
	return false;
}

/* known.c */

/*
 * The builder's event_sink.repeat: does with an event whose kind is known what taking it the usual
 * way would do; false: it must go the usual way. Where that is done, tsi_learn_kind() remembers
 * what became of it, the first of its kind.
 */
bool tsi_take_repeat(struct event_sink *sink, const struct raw_repeat *event,
		     enum tscope_status *status, struct tscope_error *err);

/* What there was before an event was taken, and how it is classified. */
struct kind_lesson {
	uint32_t row_count, category;
	size_t point_count;
	uint64_t bad_memory_count;
	bool is_filtered; /* by builder_options.only */
	bool is_no_work;  /* a span that becomes no row, whatever it says */
};
TSI_MUST_CHECK
enum tscope_status tsi_learn_kind(struct builder *b, const struct raw_event *event,
				  const struct kind_lesson *lesson, struct tscope_error *err);

/* builder.c: what is done every so many events. */
TSI_MUST_CHECK
enum tscope_status tsi_tick(struct builder *b, struct tscope_error *err);

/* Counts an event of a category, whatever becomes of it. */
TSI_MUST_CHECK
static inline enum tscope_status tsi_count_event(struct builder *b, uint32_t category,
						 struct tscope_error *err)
{
	b->trace->categories[category].count++;
	return tsi_unlikely(--b->events_until_tick == 0) ? tsi_tick(b, err) : TSCOPE_OK;
}

/* memory_limit.c */

/* Gives up operators where the trace takes more than it may; fails where that is not enough. */
TSI_MUST_CHECK
enum tscope_status tsi_keep_memory_limit(struct builder *b, struct tscope_error *err);

/* Is an operator's row, complete or open, no longer kept? Then it is counted. */
static inline bool tsi_drops_operator(struct builder *b, int64_t dur_ns)
{
	if (tsi_likely(!b->drops_operators) || dur_ns == OPEN_DURATION)
		return false;
	b->sink.diagnostics[TSCOPE_DIAGNOSTIC_unkept_operator]++;
	return true;
}

/* inputs.c */

/* What of an operator's args tells its inputs, as it stands in the file. */
struct raw_inputs {
	struct str dims, types, concrete, flops;
};

enum { MAX_INPUTS = (1 << 30) - 1 }; /* the largest index that struct cpu_op has room for */

/* The index in trace->op_inputs, where they are put if they are new. */
TSI_MUST_CHECK
enum tscope_status tsi_find_inputs(struct builder *b, const struct raw_inputs *raw, uint32_t *index,
				   struct tscope_error *err);

/* allocator.c */

/* True for "[memory]" and "[OutOfMemory]". */
bool tsi_is_memory_event(struct str name);
/* Keeps what such an event says of an accelerator; its time is good. */
TSI_MUST_CHECK
enum tscope_status tsi_add_allocator_point(struct builder *b, const struct raw_event *event,
					   struct tscope_error *err);
TSI_MUST_CHECK
enum tscope_status tsi_keep_allocator_point(struct tscope_trace *trace,
					    const struct allocator_point *point,
					    struct tscope_error *err);
TSI_MUST_CHECK
enum tscope_status tsi_sort_allocator_points(struct tscope_trace *trace, struct tscope_error *err);

/* sync_records.c */

/* Keeps what a "cuda_sync" says. */
TSI_MUST_CHECK
enum tscope_status tsi_add_sync_record(struct builder *b, const struct raw_event *event,
				       struct tscope_error *err);

/* tracks.c */

TSI_MUST_CHECK
enum tscope_status tsi_find_host_track(struct builder *b, const struct raw_event *event,
				       uint32_t *track, struct tscope_error *err);
/* Fills in what `place` does not say from the event's pid and tid. */
TSI_MUST_CHECK
enum tscope_status tsi_find_device_track(struct builder *b, const struct raw_event *event,
					 struct device_place place, uint32_t *track,
					 struct tscope_error *err);
/* Gives the tracks the names that M events announced; before the tracks are put in order. */
void tsi_name_tracks(struct builder *b);

/* metadata.c */

TSI_MUST_CHECK
enum tscope_status tsi_take_metadata(struct event_sink *sink, struct str key, struct str value,
				     struct tscope_error *err);
TSI_MUST_CHECK
enum tscope_status tsi_take_metadata_event(struct builder *b, const struct raw_event *event,
					   struct tscope_error *err);

/* composer.c */

/* To tell by options.only whose events come. */
TSI_MUST_CHECK
enum tscope_status tsi_know_rank_threads(struct builder *b, struct tscope_error *err);
bool tsi_is_of_rank(const struct builder *b, const struct raw_event *event);
/* Metadata events of Composer; others are left alone. */
TSI_MUST_CHECK
enum tscope_status tsi_take_composer_event(struct builder *b, const struct raw_event *event,
					   struct tscope_error *err);
/* A thread_sort_index tells Composer's merger. */
void tsi_note_sort_index(struct builder *b, const struct raw_event *event);
/* Keeps the number of the batch that args say; *index is where, or stays. */
TSI_MUST_CHECK
enum tscope_status tsi_add_batch(struct builder *b, const struct raw_event *event, uint32_t *index,
				 struct tscope_error *err);
/* Moves copied events of torch to Composer's clock. */
TSI_MUST_CHECK
enum tscope_status tsi_join_composer_clocks(struct builder *b, struct tscope_error *err);
/* Format, rank and clock of the trace. */
void tsi_describe_composer(struct tscope_trace *trace);
TSI_MUST_CHECK
enum tscope_status tsi_count_merged_ranks(struct tscope_trace *trace, struct tscope_error *err);

/* counters.c */

/* Keeps the values in args of a counter event; its time is good. */
TSI_MUST_CHECK
enum tscope_status tsi_add_counter_values(struct builder *b, const struct raw_event *event,
					  struct tscope_error *err);

/* begin_end.c */

/* Notes a B, whose row (of OPEN_DURATION) is there, or an E (row NO_ROW). */
TSI_MUST_CHECK
enum tscope_status tsi_add_mark(struct builder *b, struct slice_mark mark,
				struct tscope_error *err);
/* Gives every open row its duration. */
TSI_MUST_CHECK
enum tscope_status tsi_match_begin_end(struct builder *b, struct tscope_error *err);

/* The stages after the last event, in this order. All work on the trace alone. */

void tsi_assign_roles(struct tscope_trace *trace);
TSI_MUST_CHECK
enum tscope_status tsi_group_rows(struct tscope_trace *trace, struct tscope_error *err);

/* The parts of tsi_group_rows(). */

/* Puts tracks that have rows (`count`) in order, others away; new_index says where each went. */
TSI_MUST_CHECK
enum tscope_status tsi_order_tracks(struct tscope_trace *trace, uint32_t *new_index,
				    struct tscope_error *err);

/* What decides the order of the rows of a track. */
struct order_key {
	int64_t start_ns, dur_ns;
	bool is_call; /* TSCOPE_SPAN_PYTHON */
};

/*
 * Does a belong behind b, which came later? Of spans that start and end together the one that
 * encloses the others comes first: as in the file, but VizTracer writes a call when it ends, the
 * caller behind what it called, and it calls the operators that torch added.
 */
static inline bool tsi_is_key_behind(const struct order_key *a, const struct order_key *b,
				     bool is_viztracer)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns > b->start_ns;
	if (a->dur_ns != b->dur_ns)
		return a->dur_ns < b->dur_ns;
	return is_viztracer && b->is_call;
}

/* Of rows in the order in which they came. */
bool tsi_is_row_behind(const struct tscope_trace *trace, uint32_t a, uint32_t b);

struct row_cursor;

enum track_order {
	TRACK_WAS_IN_ORDER,
	TRACK_IS_IN_ORDER,    /* now */
	TRACK_IS_IN_DISORDER, /* as before */
};
/* borders: where the rows of the track begin and end, and what stands beside them. */
TSI_MUST_CHECK
enum tscope_status tsi_merge_runs(struct tscope_trace *trace, const struct track *track,
				  const struct row_cursor *borders, enum track_order *order,
				  struct tscope_error *err);

/*
 * place.c: rows into the order of tracks. *borders: where those of each begin, and last where all
 * end; the caller's to free, also on failure.
 */
TSI_MUST_CHECK
enum tscope_status tsi_place_rows(struct tscope_trace *trace, struct row_cursor **borders,
				  struct tscope_error *err);
/* Which rows are of a class. */
TSI_MUST_CHECK
enum tscope_status tsi_make_row_set(const struct spans *spans, enum tscope_span_class span_class,
				    struct bit_set *set, struct tscope_error *err);

TSI_MUST_CHECK
enum tscope_status tsi_repair_durations(struct tscope_trace *trace, struct tscope_error *err);
TSI_MUST_CHECK
enum tscope_status tsi_link_rows(struct tscope_trace *trace, struct tscope_error *err);
TSI_MUST_CHECK
enum tscope_status tsi_list_devices(struct tscope_trace *trace, struct tscope_error *err);
/* Raises the trace's last_ns to that of device work, too. */
void tsi_validate(struct tscope_trace *trace);

/*
 * enclose.c: binds each call to the innermost cpu_op that is open on its thread when it starts,
 * and to its phase. collective_of_call: index in trace->collectives by row of a call, of those
 * within an op that has one. The trace's last_ns is that of threads from then on.
 */
TSI_MUST_CHECK
enum tscope_status tsi_enclose_calls(struct tscope_trace *trace, struct key_map *collective_of_call,
				     struct tscope_error *err);

#endif
