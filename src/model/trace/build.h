/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_BUILD_H
#define TSCOPE_MODEL_TRACE_BUILD_H

#include "base/arena.h"
#include "base/error.h"
#include "base/key_map.h"
#include "decode/events/event_sink.h"
#include "decode/events/members.h"
#include "model/trace/builder.h"
#include "model/trace/classify.h"
#include "model/trace/composer.h"
#include "model/trace/merged_ranks.h"
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
 *	op_places.c   from where, and which modules and lines annotations name
 *	allocator.c   what allocators of devices said
 *	sync_records.c  what waits for what
 *	flows.c       arrows from launches to device work
 *	frames.c      which Python frames become rows
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
 *	replays.c     graph replays that lost nodes
 */

enum {
	CATEGORY_MEMO_SLOTS = 64, /* powers of two */
	TRACK_MEMO_SLOTS = 16,
	THREAD_MEMO_SLOTS = 16,
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

/* The ids of texts of pid and tid that were asked for. */
struct thread_memo {
	struct str pid, tid;
	uint32_t pid_id, tid_id;
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

struct flow_list {
	struct flow *items;
	size_t count, capacity;
};

/* The ids that bind an event to others. */
struct event_ids {
	uint64_t correlation;
	uint32_t external_id; /* 0: none */
	struct op_sequence sequence;
};

/* Store "Sequence number" and "Fwd thread id"; all bits set: none. */
static inline void tsi_put_sequence(struct event_ids *ids, uint64_t number)
{
	const uint32_t mask = (1u << SEQUENCE_BITS) - 1;

	ids->sequence.bits = (ids->sequence.bits & ~mask) | ((uint32_t)(number + 1) & mask);
}

static inline void tsi_put_forward_thread(struct event_ids *ids, uint64_t thread)
{
	const uint32_t mask = (1u << SEQUENCE_BITS) - 1;
	uint64_t number = thread < MAX_FORWARD_THREAD ? thread : MAX_FORWARD_THREAD;

	ids->sequence.bits = (ids->sequence.bits & mask) | (uint32_t)number << SEQUENCE_BITS;
}

struct builder {
	struct event_sink sink; /* first: a pointer to it is one to the builder */
	/* The first failure: later calls have no effect and need no status of their own. */
	enum tscope_status status;
	struct tscope_error err;
	struct arena scratch; /* of the stage that runs after the events */

	struct tscope_trace *trace;
	struct builder_options options;
	uint32_t events_until_tick;

	struct key_map category_of;                  /* (name id, phase) -> index */
	const struct category_rule **category_rules; /* by index in trace->categories */
	size_t category_rule_count, category_rule_capacity;
	struct category_memo category_memo[CATEGORY_MEMO_SLOTS];

	struct known_kind *known; /* by kind of event, as the decoder numbers them */
	size_t known_count, known_capacity;
	struct event_ids ids; /* of the row that was added last, if it has any */

	struct key_map host_track_of;   /* (pid id, tid id) -> track */
	struct key_map device_track_of; /* (device, stream) -> track */
	struct track_memo track_memo[TRACK_MEMO_SLOTS];
	struct thread_memo thread_memo[THREAD_MEMO_SLOTS];

	const struct scan_isa *isa; /* reads args */
	/* How the writer prints them. */
	struct layout op_args, call_args, device_args, memory_args;

	bool has_correlation, lacks_correlation; /* of some call or device event so far */
	bool has_telling_id;                     /* likewise: it may name an operator */
	struct flow_list flow_starts, flow_ends;
	bool skips_flows; /* then they need not come to tsi_add_flow() */

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
	struct intern frame_texts; /* of frames that were asked about, as in the file */
	/* The last frame: why it is a row; shorter ones of its name are none. */
	struct frame_traits frame;
	uint32_t frame_least_ns, frame_cause_ns; /* those that take so long may be causes */
	struct frame_name *frame_names;          /* frames.c; by their id */
	size_t frame_name_capacity;
	struct intern raw_inputs; /* of operators, as they stand in the file: ids as in op_inputs */
	struct intern raw_places; /* likewise: ids as in op_places */
	uint8_t *concrete_use;    /* by id of an operator's name: are its concrete inputs kept? */
	size_t concrete_use_capacity;

	char *text; /* room for a name without escapes, a signature */
	size_t text_capacity;

	bool drops_operators;     /* the memory limit was hit */
	bool drops_frames;        /* likewise, before: frames that are kept for their names */
	bool has_paths;           /* args or annotations say modules or lines */
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

/* builder.c: what the sink does with an event */

TSI_MUST_CHECK
enum tscope_status tsi_take_event(struct event_sink *sink, const struct raw_event *event,
				  struct tscope_error *err);

/* builder.c: failures */

/* Fails the builder, unless it has failed before. */
TSI_COLD void tsi_builder_fail(struct builder *b, const struct tscope_error *err);
TSI_COLD void tsi_builder_fail_nomem(struct builder *b);
/* TSCOPE_OK, or the failure, and why. */
enum tscope_status tsi_builder_status(const struct builder *b, struct tscope_error *err);

/* An item more, zeroed, of an array of the trace's arena: see tsi_arena_push(). NULL: it failed. */
TSI_MUST_CHECK
void *tsi_builder_push(struct builder *b, void *items, size_t *count, size_t *capacity,
		       size_t item_bytes);

/* An array, not zeroed, for tsi_column_free(); a large one where columns are. NULL: it failed. */
TSI_MUST_CHECK
void *tsi_builder_new_array(struct builder *b, size_t count, size_t item_bytes);

TSI_MUST_CHECK
bool tsi_builder_grow(struct builder *b, void *items, size_t *capacity, size_t wanted,
		      size_t item_bytes);

/* Has such an array room for so many items? False: it failed. */
TSI_MUST_CHECK
static inline bool tsi_builder_reserve(struct builder *b, void *items, size_t *capacity,
				       size_t wanted, size_t item_bytes)
{
	return tsi_likely(wanted <= *capacity) ||
	       tsi_builder_grow(b, items, capacity, wanted, item_bytes);
}

/* The id of a text in one of the builder's sets; 0 where that failed. */
uint32_t tsi_builder_id(struct builder *b, struct intern *set, struct str text);

/* The id of a name, a text as it stands in JSON between its quotes. */
uint32_t tsi_builder_name(struct builder *b, struct str text, bool escaped);

void tsi_builder_put(struct builder *b, struct key_map *map, uint64_t key, uint32_t value);

/* builder.c */

/* Frees what only the events to come would need, once all are there. */
void tsi_free_scaffold(struct builder *b);

/* args.c: all take an event's args, which may be empty. */

/* The args of a device span. */
struct raw_work {
	struct event_ids ids;
	struct work_shape shape;
	struct device_place place;
	uint32_t collective; /* index in trace->collectives, or NO_ROW */
	uint8_t direction;   /* enum copy_direction */
	bool graph;
	uint32_t module;                                  /* id of its path, 0: not said */
	uint32_t source;                                  /* likewise, of its function */
	struct str copy_kind, copy_from, copy_to, filled; /* what Cuspy says; empty: nothing */
};

void tsi_read_op_args(struct builder *b, uint32_t name, struct str args, struct cpu_op *op,
		      struct event_ids *ids);
/* Absent arguments leave fields unchanged. */
void tsi_read_call_args(struct builder *b, struct str args, struct raw_work *work,
			struct call_traits *call);
void tsi_read_device_args(struct builder *b, struct str args, struct raw_work *work);
/* copy_name.c: the event's name, or that of what Cuspy calls "Memcpy" and "Memset". */
struct copy_name_room {
	char text[128];
};

struct str tsi_copy_name(const struct raw_event *event, const struct raw_work *work,
			 struct copy_name_room *room);

/* uncategorised.c: the class of a span without a category, and its stream if it ran on a device. */
uint8_t tsi_class_without_category(const struct raw_event *event);
void tsi_place_uncategorised(const struct raw_event *event, struct device_place *place);

/* The index of a collective that is new in trace->collectives; NO_ROW where that failed. */
uint32_t tsi_add_collective(struct builder *b, const struct collective *collective);

static inline struct work_shape tsi_no_shape(void)
{
	return (struct work_shape){
		.bytes = NO_NUMBER,
		.blocks_per_sm = NAN,
		.occupancy_pct = NAN,
	};
}

/* rows.c */

/* The index in trace->spans.kinds. */
uint32_t tsi_find_span_kind(struct builder *b, const struct span_kind *kind);
/* The index in trace->work_shapes. */
uint32_t tsi_find_work_shape(struct builder *b, const struct work_shape *shape);
/* Room for what stands beside more operators; false: it failed. */
TSI_MUST_CHECK
bool tsi_grow_ops(struct builder *b);

/* Add the data beside the row that is added next: of operators, which are most, and of others. */
static inline void tsi_add_op(struct builder *b, struct event_ids ids)
{
	struct tscope_trace *trace = b->trace;
	size_t op = trace->cpu_op_count;
	b->ids = ids;
	if (tsi_unlikely(op == trace->op_capacity) && !tsi_grow_ops(b))
		return;
	trace->op_ids[op] = ids.external_id;
	trace->op_sequences[op] = ids.sequence;
	trace->cpu_op_count++;
}

void tsi_add_call(struct builder *b, struct event_ids ids);
void tsi_add_device_event(struct builder *b, struct event_ids ids, uint32_t collective);
/* Room in all columns until the next check, where the trace says. False: not all have it. */
bool tsi_place_columns(struct tscope_trace *trace);
/* Room for more rows; false: it failed. */
TSI_MUST_CHECK
bool tsi_grow_rows(struct builder *b);

static inline void tsi_add_row(struct builder *b, int64_t start_ns, int64_t dur_ns, uint32_t kind)
{
	struct spans *spans = &b->trace->spans;
	uint32_t row = spans->count;
	if (tsi_unlikely(row == spans->capacity) && !tsi_grow_rows(b))
		return;
	spans->kind[row] = kind;
	spans->count++;
	tsi_time_put(&spans->starts, row, start_ns);
	tsi_length_put(&spans->durations, row, dur_ns);
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

/* The builder's state before an event was taken, and the event's class. */
struct kind_lesson {
	uint32_t row_count, category;
	size_t point_count;
	uint64_t bad_memory_count;
	bool is_filtered; /* by builder_options.only */
	bool is_no_work;  /* a span that becomes no row, whatever it says */
	bool is_flow;     /* from a launch, or to device work */
	bool is_frame;    /* tsi_chooses_frames() */
};
void tsi_learn_kind(struct builder *b, const struct raw_event *event,
		    const struct kind_lesson *lesson);

/* builder.c: what is done every so many events. */
void tsi_tick(struct builder *b);

/* Counts an event of a category, whatever becomes of it. */
static inline void tsi_count_event(struct builder *b, uint32_t category)
{
	b->trace->categories[category].count++;
	if (tsi_unlikely(--b->events_until_tick == 0))
		tsi_tick(b);
}

/* memory_limit.c */

/* Gives up operators where the trace takes more than it may; fails where that is not enough. */
void tsi_keep_memory_limit(struct builder *b);

/* Is an operator's row, complete or open, no longer kept? Then it is counted. */
static inline bool tsi_drops_operator(struct builder *b, int64_t dur_ns)
{
	if (tsi_likely(!b->drops_operators) || dur_ns == OPEN_DURATION)
		return false;
	b->sink.diagnostics[TSCOPE_DIAGNOSTIC_unkept_operator]++;
	return true;
}

/* inputs.c */

/* The args of an operator that describe its inputs, as in the file. */
struct raw_inputs {
	struct str dims, types, concrete, flops;
};

enum { MAX_INPUTS = (1 << 30) - 1 }; /* the largest index that struct cpu_op has room for */

/* The index in trace->op_inputs, where they are put if they are new. */
uint32_t tsi_find_inputs(struct builder *b, const struct raw_inputs *raw);

/* op_places.c: what has_places stands for, but for frames */

/* The args of an operator that say where it was called, as in the file. */
struct raw_place {
	struct str hierarchy, call_stack;
};

/* The index in trace->op_places; 0: they say nothing. */
uint32_t tsi_find_op_place(struct builder *b, const struct raw_place *raw);
/* Likewise for device work, by ids of a module's path and of a function; 0: neither is known. */
uint32_t tsi_find_work_place(struct builder *b, uint32_t module, uint32_t source);
/* The id of a module's path in args of device work; 0: it is none. */
uint32_t tsi_read_module(struct builder *b, struct str value);
/* By the id of a graph's node, if builder_options say the modules of nodes. */
uint32_t tsi_module_of_node(struct builder *b, struct str value);
/* The id of the function in all of these tracebacks, by its first line; 0: they differ, or none. */
uint32_t tsi_read_stacks(struct builder *b, struct str value);
/* Notes what annotations say of modules. */
void tsi_note_annotation(struct builder *b, struct str name);

/* allocator.c */

/* True for "[memory]" and "[OutOfMemory]". */
bool tsi_is_memory_event(struct str name);
/* Keeps what such an event says of an accelerator; its time is good. */
void tsi_add_allocator_point(struct builder *b, const struct raw_event *event);
void tsi_keep_allocator_point(struct builder *b, const struct allocator_point *point);

/* sync_records.c */

/* Keeps what a "cuda_sync" says. */
void tsi_add_sync_record(struct builder *b, const struct raw_event *event);

/* flows.c */

bool tsi_is_launch_flow(const struct raw_event *event);
/* Keeps an end of such a flow where flows may be needed; b->skips_flows: they are not. */
void tsi_add_flow(struct builder *b, const struct raw_event *event);
void tsi_free_flows(struct builder *b);

/* Notes from a call or device event whether flows are needed. */
static inline void tsi_note_correlation(struct builder *b, uint64_t correlation)
{
	if (tsi_likely(correlation)) {
		b->has_correlation = true;
	} else {
		b->lacks_correlation = true;
		b->skips_flows = false;
	}
}

/* frames.c */

/* Are frames kept only for what they name? */
bool tsi_chooses_frames(const struct builder *b);
/* Frames that become rows by their duration, by whether their name is informative. */
enum {
	LONG_FRAME_NS = 100000,
	TELLING_FRAME_NS = 20000, /* of what is shorter even many explain no wait */
};
/* Does a complete frame become a row, whatever the caller wants? */
bool tsi_keeps_frame(struct builder *b, const struct raw_event *event);

/* tracks.c */

/* The ids of the texts of pid and tid. */
void tsi_find_thread_ids(struct builder *b, const struct raw_event *event, uint32_t *pid,
			 uint32_t *tid);
uint32_t tsi_find_host_track(struct builder *b, const struct raw_event *event);
/* Fills in what `place` does not say from the event's pid and tid. */
uint32_t tsi_find_device_track(struct builder *b, const struct raw_event *event,
			       struct device_place place);

/* metadata.c */

TSI_MUST_CHECK
enum tscope_status tsi_take_metadata(struct event_sink *sink, struct str key, struct str value,
				     struct tscope_error *err);
void tsi_take_metadata_event(struct builder *b, const struct raw_event *event);

/* composer.c */

/* Metadata events of Composer; others are left alone. */
void tsi_take_composer_event(struct builder *b, const struct raw_event *event);
/* A thread_sort_index marks Composer's merger. */
void tsi_note_sort_index(struct builder *b, const struct raw_event *event);
/* Keeps the number of the batch that args say: where, or NO_ROW. */
uint32_t tsi_add_batch(struct builder *b, const struct raw_event *event);
/* Format, rank and clock of the trace. */
void tsi_describe_composer(struct tscope_trace *trace);

/* counters.c */

/* Keeps the values in args of a counter event; its time is good. */
void tsi_add_counter_values(struct builder *b, const struct raw_event *event);

/* begin_end.c */

/* Notes a B, whose row (of OPEN_DURATION) is there, or an E (row NO_ROW). */
void tsi_add_mark(struct builder *b, struct slice_mark mark);

/*
 * The stages after the last event, in this order (finish.c). Memory that a stage takes from
 * b->scratch is freed when it ends.
 */
void tsi_name_tracks(struct builder *b);          /* as M events announced */
void tsi_join_composer_clocks(struct builder *b); /* copied events of torch to Composer's clock */
void tsi_match_begin_end(struct builder *b);      /* gives every open row its duration */
void tsi_drop_ids(struct builder *b);             /* those that nothing will ask for */
void tsi_assign_roles(struct builder *b);
void tsi_group_rows(struct builder *b);
void tsi_repair_durations(struct builder *b);
void tsi_link_rows(struct builder *b);
void tsi_list_devices(struct builder *b);
void tsi_sort_allocator_points(struct builder *b);
void tsi_sort_counters(struct builder *b);
void tsi_check_replays(struct builder *b);
void tsi_validate(struct builder *b); /* raises the trace's last_ns to that of device work, too */
void tsi_count_merged_ranks(struct builder *b);
void tsi_count_processes(struct builder *b); /* validate.c; once merged ranks are known */

/* The parts of tsi_group_rows(). */

/*
 * Puts tracks that have rows (`count`) in order, others away; new_index says where each went.
 * arena: for what is needed meanwhile.
 */
void tsi_order_tracks(struct tscope_trace *trace, uint32_t *new_index, struct arena *arena);

/* Sort key of the rows of a track. */
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

/* Compares rows; equal ones keep the order in which they came. */
bool tsi_is_row_behind(const struct tscope_trace *trace, uint32_t a, uint32_t b);

struct row_cursor;

enum track_order {
	TRACK_WAS_IN_ORDER,
	TRACK_IS_IN_ORDER,    /* now */
	TRACK_IS_IN_DISORDER, /* as before */
};
/* borders: where the rows of the track begin and end, and what stands beside them. */
enum track_order tsi_merge_runs(struct builder *b, const struct track *track,
				const struct row_cursor *borders);

/*
 * place.c: rows into the order of tracks. Returns where those of each begin, and last where all
 * end: in b->scratch; NULL where it failed.
 */
struct row_cursor *tsi_place_rows(struct builder *b);
/* Collects the rows of a class. */
void tsi_make_row_set(struct builder *b, enum tscope_span_class span_class, struct bit_set *set);

/*
 * enclose.c: binds each call to the innermost cpu_op that is open on its thread when it starts,
 * and to its phase. collective_of_call: index in trace->collectives by row of a call, of those
 * within an op that has one. phase_of_op: of operators by row, for what has no call; may be NULL.
 * The trace's last_ns is that of threads from then on.
 */
void tsi_enclose_calls(struct builder *b, struct key_map *collective_of_call, uint8_t *phase_of_op);

#endif
