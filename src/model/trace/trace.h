/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_TRACE_H
#define TSCOPE_MODEL_TRACE_TRACE_H

#include "base/arena.h"
#include "base/bit_set.h"
#include "base/intern.h"
#include "model/trace/counters.h"
#include "model/trace/time_column.h"

#include <tscope/trace.h>

/*
 * The trace model: columns, not objects. Row i of every column of `spans` is one span; rows are
 * ordered by track, host tracks before device tracks, and within a track by start, the longer first
 * (so a parent comes before its children). A trace has millions of spans, but they are of a few
 * thousand kinds: what spans have in common stands once, in `kinds`. Data that only some classes
 * have stands in side tables: calls[], device_events[].
 *
 * Built by builder.c, linked by link.c, checked by validate.c; immutable afterwards.
 */

#define NO_ROW UINT32_MAX
#define NO_POINT_TRACK INT32_MAX
#define NO_NUMBER INT64_MIN /* "the file does not say", for int64_t fields */

/* Traits of a TSCOPE_SPAN_CPU_OP. */
struct cpu_op {
	uint32_t collective;  /* index in trace->collectives (record_param_comms), or NO_ROW */
	uint32_t inputs : 30; /* index in trace->op_inputs */
	/*
	 * Autograd recorded it for a backward pass: it has a sequence number, and no forward
	 * thread. Ops that run without gradients, or inside such an op, have neither.
	 */
	uint32_t is_forward : 1;
	uint32_t is_backward : 1; /* a node of the backward pass: it names its forward thread */
	uint32_t place;           /* index in trace->op_places; 0: its args do not say */
};

/* Where operators were called or device work belongs, by their args: ids of texts, 0: not said. */
struct op_place {
	uint32_t hierarchy; /* "TOP(Net)::forward.fc(Linear)::forward"; of device work "layers.3" */
	uint32_t source;    /* the innermost frame of the user's code in call stacks */
};

/*
 * Where autograd recorded an operator or evaluates it: its sequence number + 1 in the low bits, 0:
 * none; above them, of a node of the backward pass, the number of the forward thread.
 */
struct op_sequence {
	uint32_t bits;
};

enum { SEQUENCE_BITS = 24, MAX_FORWARD_THREAD = 255 };

/* Traits of a TSCOPE_SPAN_RUNTIME. */
struct call_traits {
	uint32_t shape;    /* index in trace->work_shapes, of which bytes count: ROCm's */
	uint32_t kind : 8; /* enum call_kind */
	/* Id in trace->names of the kernel that it launches; 0: not kept (builder_options). */
	uint32_t kernel : 24;
};

enum { MAX_LAUNCHED_KERNEL = (1 << 24) - 1 };

/* Traits of a TSCOPE_SPAN_KERNEL, _COMM, _MEMCPY or _MEMSET. */
struct work_traits {
	uint32_t shape;    /* index in trace->work_shapes */
	uint8_t direction; /* enum copy_direction */
	bool pageable;     /* one side of a copy is pageable host memory */
	bool graph;        /* its args say that a graph replay launched it */
	uint8_t nothing;   /* 0 */
	uint32_t place;    /* index in trace->op_places; 0: its args do not say */
};

/* Why a Python frame is among the rows. */
enum frame_use {
	FRAME_ALL,    /* all are */
	FRAME_CHOSEN, /* to name causes and places; most others are not kept */
	FRAME_PLACE,  /* only to name places: too short to be a cause */
};

/* Traits of a TSCOPE_SPAN_PYTHON. */
struct frame_traits {
	uint8_t use;           /* enum frame_use */
	uint8_t place;         /* enum frame_place, python_name.h */
	bool is_uninformative; /* FRAME_CHOSEN: its name does not say what its thread waits for */
	uint8_t nothing;       /* 0 */
};

/* Everything that many spans have in common. Has no padding. */
struct span_kind {
	uint32_t name;  /* id in trace->names */
	uint32_t track; /* index in trace->tracks */
	union {
		struct cpu_op op;
		struct call_traits call;
		struct work_traits device;
		/*
		 * TSCOPE_SPAN_ANNOTATION only: index in op_inputs for those of
		 * tsi_backend_prefix(), in batches for Composer's event/train_batch, or NO_ROW.
		 */
		uint32_t annotation;
		struct frame_traits frame;
	};
	uint32_t span_class; /* enum tscope_span_class */
};

struct spans {
	uint32_t count;
	uint32_t kind_count;
	size_t capacity, kind_capacity;
	struct time_column starts, durations; /* tsi_start_ns(), tsi_dur_ns() */
	uint32_t *kind;                       /* index in kinds */
	struct span_kind *kinds;
	struct bit_set calls; /* rows of calls; made when the rows are in order */
};

/*
 * Inputs of operator calls; calls that the file writes alike share one. All are ids of texts, 0:
 * the file does not say.
 */
struct op_inputs {
	uint32_t signature; /* input dims and types: "[[8, 128], [128, 64]] float, float" */
	/*
	 * "Concrete Inputs" in the same form: "[, 0.5, [1, 1]]". Empty items are tensors, or
	 * texts that would not fit in. 0 too where nobody asks (tsi_needs_concrete).
	 */
	uint32_t concrete;
	uint32_t flops; /* "flops", of a few writers: a number >= 0 for tsi_json_to_double() */
};

enum call_kind { /* what a runtime or driver call does, by its name */
		 CALL_OTHER,
		 CALL_LAUNCH, /* cudaLaunchKernel*, cuLaunchKernel*, hip…, cooperative, ext */
		 CALL_GRAPH_LAUNCH,
		 CALL_MEMCPY,
		 CALL_MEMSET,
		 CALL_SYNC, /* stream, device, event, context synchronise: the host waits */
		 CALL_MALLOC,
		 CALL_FREE,
		 CALL_EVENT,         /* record, query, wait, create */
		 CALL_CAPTURE_BEGIN, /* of a stream into a graph */
		 CALL_CAPTURE_END,
		 CALL_KIND_COUNT,
};

enum phase { /* pytscope's names, in its order */
	     PHASE_DATA,
	     PHASE_FORWARD,
	     PHASE_BACKWARD,
	     PHASE_OPTIMIZER,
	     PHASE_COMM,
	     PHASE_COMPUTE, /* of a trace: nothing says which phase it is */
	     PHASE_OTHER,
	     PHASE_COUNT,
};

/* Side entry of a TSCOPE_SPAN_RUNTIME row, in the order of rows. */
struct runtime_call {
	union {
		uint64_t correlation; /* 0: none; until link.c has bound the call */
		struct {
			uint32_t op;   /* row of the innermost cpu_op that encloses it, or NO_ROW */
			uint8_t phase; /* enum phase of the place it was called from */
			bool has_work; /* it launched device work */
			bool in_collective; /* a collective's operator is around it */
		};
	};
};

enum copy_direction {
	COPY_UNKNOWN,
	COPY_H2D,
	COPY_D2H,
	COPY_D2D,
	COPY_P2P,
	COPY_H2H,
	COPY_DIRECTION_COUNT
};

/* The work as a span's args describe it; spans with equal args share one. */
struct work_shape {
	int64_t bytes;        /* of a copy or fill, or NO_NUMBER */
	uint32_t grid_blocks; /* of a kernel, 0: not said */
	float blocks_per_sm;  /* of a kernel, NAN: not said */
	float occupancy_pct;  /* "est. achieved occupancy %", NAN: not said */
	uint32_t graph_id;    /* of the graph whose node it is, 0: of none, or not said */
};

/* Side entry of a device row, in the order of rows. */
struct device_event {
	union {
		uint64_t correlation; /* 0: none; until link.c has bound the event */
		struct {
			uint32_t call; /* row of its launch call, or NO_ROW */
			uint32_t op;   /* row of the cpu_op that launched it, or NO_ROW */
		};
	};
	uint32_t collective; /* index in trace->collectives, or NO_ROW */
	union {
		uint32_t external_id; /* 0: none that says more; likewise */
		struct {
			uint8_t phase; /* enum phase, that of its launch call; PHASE_COMPUTE
					  where unknown */
			bool graph;    /* launched by a graph replay */
		};
	};
};

#define COLLECTIVE_KINDS(X)                                                                        \
	X(COLLECTIVE_UNKNOWN, "unknown")                                                           \
	X(COLLECTIVE_ALL_REDUCE, "all_reduce")                                                     \
	X(COLLECTIVE_ALL_GATHER, "all_gather")                                                     \
	X(COLLECTIVE_REDUCE_SCATTER, "reduce_scatter")                                             \
	X(COLLECTIVE_ALL_TO_ALL, "all_to_all")                                                     \
	X(COLLECTIVE_BROADCAST, "broadcast")                                                       \
	X(COLLECTIVE_REDUCE, "reduce")                                                             \
	X(COLLECTIVE_GATHER, "gather")                                                             \
	X(COLLECTIVE_SCATTER, "scatter")                                                           \
	X(COLLECTIVE_SEND_RECV, "send_recv")                                                       \
	X(COLLECTIVE_BARRIER, "barrier")

enum collective_kind { COLLECTIVE_KINDS(TSI_NAMED_ID) COLLECTIVE_KIND_COUNT };

/* Metadata of one collective: args of record_param_comms or of the kernel. */
struct collective {
	uint8_t kind;   /* enum collective_kind */
	bool is_wait;   /* "wait", "init", "coalesced": moves no data */
	uint32_t name;  /* ids in trace->names: "allreduce" … */
	uint32_t dtype; /* "BFloat16" */
	uint32_t group_name, group_desc, group_ranks; /* "0", "default_pg", "[0, 1]" */
	uint32_t element_bytes;                       /* 0: dtype unknown */
	int64_t in_elements, out_elements;            /* NO_NUMBER: not said */
	int64_t group_size;                           /* NO_NUMBER: not said */
	int64_t sequence;
	int64_t src_rank, dst_rank;      /* of send and recv: the rank at the other end */
	int64_t rank_start, rank_stride; /* of the group's ranks; NO_NUMBER: not said */
};

/* A collective of which nothing is known. */
static inline struct collective tsi_no_collective(void)
{
	return (struct collective){
		.in_elements = NO_NUMBER,
		.out_elements = NO_NUMBER,
		.group_size = NO_NUMBER,
		.sequence = NO_NUMBER,
		.src_rank = NO_NUMBER,
		.dst_rank = NO_NUMBER,
		.rank_start = NO_NUMBER,
		.rank_stride = NO_NUMBER,
	};
}

/* A process group that distributedInfo lists: one that this rank is in, or any. */
struct listed_group {
	uint32_t name, description; /* ids in trace->names */
	uint32_t ranks;             /* text of the list */
	int64_t size;               /* NO_NUMBER: not said */
};

struct track {
	uint32_t pid, tid;     /* ids of their texts in trace->names */
	uint32_t name;         /* of the thread, id; 0: none */
	uint32_t first, count; /* its rows */
	int32_t device;        /* ordinal of a device track, or -1 */
	int64_t stream;        /* of a device track, or -1 */
	bool is_device;
	bool has_steps;   /* markers of steps are among its rows */
	bool is_autograd; /* a backward thread: holds autograd::engine spans and no step markers */
};

enum sync_kind {
	SYNC_EVENT,       /* a call waits for an event, or asks whether it has come */
	SYNC_STREAM_WAIT, /* a call makes a stream wait for an event */
	SYNC_STREAM,      /* a call waits for all work of a stream */
	SYNC_CONTEXT,     /* ... of a device */
};

/* Who waits for whom, if the profiler recorded it. */
struct sync_record {
	int64_t start_ns;
	int64_t stream;       /* waits, or is waited for (SYNC_STREAM); -1: none */
	int64_t event_stream; /* that the event was recorded on, or -1 */
	uint64_t correlation, event_correlation; /* of the two calls, 0: not said */
	uint32_t call, event_call; /* what it is about, what recorded the event: rows or NO_ROW */
	int32_t device;
	uint8_t kind; /* enum sync_kind */
};

/* State of an accelerator's allocator at a moment: a "[memory]" event. */
#define BLOCK_WENT (-1)
struct allocator_point {
	int64_t time_ns;
	int64_t allocated_bytes; /* of the whole process, from here on */
	int64_t reserved_bytes;  /* likewise, or NO_NUMBER */
	int64_t block_bytes;     /* of the block that came, or BLOCK_WENT; 0: not said */
	uint64_t address;        /* of it, or 0 */
	int32_t device;
	uint32_t track : 31; /* of the thread that asked for it, or NO_POINT_TRACK */
	uint32_t is_oom : 1; /* an "[OutOfMemory]" event: a request had just failed */
};

/* A device that ran something. */
struct device {
	int32_t ordinal;
	uint32_t properties; /* index in device_properties, or NO_ROW */
	uint32_t *rows;      /* its spans by start, those that start together by launch */
	uint32_t row_count;
};

/* Identity of a rank of a Composer job, and the moment that all ranks noted after a barrier. */
struct composer_rank {
	uint32_t pid, tid;     /* ids of the texts of the thread that says so */
	int64_t rank;          /* or -1 */
	int64_t sync_ns;       /* Unix time by its own clock; NO_NUMBER: not said */
	int64_t sync_error_ns; /* bound of its error that it states, or NO_NUMBER */
};

struct device_properties {                                /* one entry of deviceProperties */
	int64_t id, sm_count, total_bytes, compute_major; /* or NO_NUMBER */
	uint32_t name;                                    /* id; may be the empty text */
};

/* How many elements a (phase, category) pair had: what the file is made of. */
struct category {
	uint32_t name; /* id */
	char phase;
	uint64_t count;
};

/* How device work was bound to what launched it. */
enum link_way {
	LINK_CORRELATION,
	LINK_FLOW,
	LINK_EXTERNAL_ID,
	LINK_WAY_COUNT,
};

struct tscope_trace {
	struct tscope_spill *spill; /* the columns are in it; NULL: in the heap */
	/* Holds what is no column, and what is not said to be from the heap. */
	struct arena arena;
	struct intern names; /* every text of the model */
	struct spans spans;
	struct track *tracks;
	uint32_t track_count, host_track_count; /* tracks [0, host_track_count) are threads */
	size_t track_capacity;

	struct op_inputs *op_inputs; /* [0] says nothing */
	struct op_place *op_places;  /* likewise; NULL where no operator says anything */
	struct work_shape *work_shapes;
	struct runtime_call *calls;
	struct device_event *device_events;
	struct collective *collectives;
	/*
	 * "External id" of operators and calls in row order, 0: none (of calls: none that says
	 * more). NULL once linked, and before that where no id says more.
	 */
	uint32_t *op_ids, *call_ids;
	struct op_sequence *op_sequences; /* of operators in row order; NULL without has_places */
	bool has_places;           /* something says in which modules or functions rows are */
	uint64_t frame_count;      /* Python frames in the file, kept or not */
	size_t chosen_frame_count; /* rows of frames, where not all are kept */
	size_t cpu_op_count, call_count, device_event_count, collective_count, op_inputs_count,
		work_shape_count, op_place_count, op_place_capacity;
	size_t op_capacity, call_capacity, device_event_capacity, collective_capacity,
		op_inputs_capacity, work_shape_capacity;

	struct device *devices; /* by ordinal */
	uint32_t device_count;
	struct device_properties *device_properties;
	size_t device_properties_count, device_properties_capacity;
	struct listed_group *listed_groups;
	size_t listed_group_count, listed_group_capacity;

	struct allocator_point *allocator_points; /* by device, then time, then as in the file */
	size_t allocator_point_count, allocator_point_capacity;

	/* As in the file; none if the profiler did not record them. */
	struct sync_record *sync_records;
	size_t sync_record_count, sync_record_capacity;

	int64_t *batches; /* numbers of the batches that Composer's event/train_batch are of */
	size_t batch_count, batch_capacity;
	struct composer_rank *composer_ranks; /* in the order of the file */
	size_t composer_rank_count, composer_rank_capacity;
	struct process_rank *process_ranks; /* merged_ranks.h; in the order of the file */
	size_t process_rank_count, process_rank_capacity;
	struct counters counters;

	struct category *categories;
	size_t category_count, category_capacity;

	/* Metadata of the file (texts are ids, 0: absent). */
	bool is_kineto, is_viztracer, is_composer;
	bool is_merged; /* Composer's merger wrote it, which shifts all ranks to one clock */
	bool viztracer_overflow;
	/* For a slice: where the requested steps start, and the number of the first. */
	bool is_slice;
	int64_t slice_first_ns, slice_last_ns, slice_number;
	bool is_slice_of_ranks; /* of several, in one file for viewers */
	uint32_t nccl_version, cuda_runtime_version, hip_runtime_version, host_name;
	int64_t capture_start_ns, capture_end_ns; /* of the profiler's own span, or NO_NUMBER */
	int64_t impossible_ns;                    /* removed from impossible durations */
	/* Launch of the first graph replay that lost nodes, or NO_NUMBER. */
	int64_t short_replay_ns;

	uint64_t link_counts[LINK_WAY_COUNT]; /* device events bound so */
	uint64_t diagnostics[TSCOPE_DIAGNOSTIC_COUNT];
	bool is_damaged;
	struct tscope_error damage;
	struct tscope_trace_info info;
	unsigned thread_count; /* that may look at it, as in struct tscope_trace_options */
	char *path;            /* owned; info.path */
	/* Graphs that it replays, known from traces of their capture; or NULL. */
	const struct graph_set *graphs; /* analyze/ops/graph_set.h */
};

/* The columns of a row. */
static inline int64_t tsi_start_ns(const struct spans *spans, uint32_t row)
{
	return tsi_time_at(&spans->starts, row);
}

static inline int64_t tsi_dur_ns(const struct spans *spans, uint32_t row)
{
	return tsi_length_at(&spans->durations, row);
}

/*
 * For passes over many rows: pointers to the columns in a variable of their own, which the compiler
 * keeps in registers whatever the pass writes to memory.
 */
struct span_times {
	const uint32_t *starts, *lengths, *kind;
	const int64_t *bases;
	const struct spans *spans;
};

static inline struct span_times tsi_span_times(const struct spans *spans)
{
	return (struct span_times){
		.starts = spans->starts.distances,
		.lengths = spans->durations.distances,
		.kind = spans->kind,
		.bases = spans->starts.bases,
		.spans = spans,
	};
}

static inline int64_t tsi_start_of(struct span_times times, uint32_t row)
{
	uint32_t distance = times.starts[row];

	if (tsi_unlikely(distance == TIME_FAR))
		return tsi_time_far(&times.spans->starts, row);
	return times.bases[row / TIME_BLOCK] + distance;
}

static inline int64_t tsi_dur_of(struct span_times times, uint32_t row)
{
	uint32_t distance = times.lengths[row];

	if (tsi_unlikely(distance == TIME_FAR))
		return tsi_time_far(&times.spans->durations, row);
	return LENGTH_BASE + distance;
}

static inline const struct span_kind *tsi_span_kind(const struct spans *spans, uint32_t row)
{
	return &spans->kinds[spans->kind[row]];
}

static inline bool tsi_is_chosen_frame(const struct span_kind *kind)
{
	return kind->span_class == TSCOPE_SPAN_PYTHON && kind->frame.use != FRAME_ALL;
}

/* Its id in trace->names. */
static inline uint32_t tsi_name_id(const struct spans *spans, uint32_t row)
{
	return tsi_span_kind(spans, row)->name;
}

/* enum tscope_span_class */
static inline uint8_t tsi_span_class(const struct spans *spans, uint32_t row)
{
	return (uint8_t)tsi_span_kind(spans, row)->span_class;
}

static inline bool tsi_class_is_device(uint8_t span_class)
{
	return span_class >= TSCOPE_SPAN_KERNEL;
}

/* Is it work that runs on the device's processors, collectives included, and no copy or fill? */
static inline bool tsi_is_kernel(const struct tscope_trace *trace, uint32_t row)
{
	uint8_t span_class = tsi_span_class(&trace->spans, row);

	return span_class == TSCOPE_SPAN_KERNEL || span_class == TSCOPE_SPAN_COMM;
}

static inline int64_t tsi_span_end(const struct tscope_trace *trace, uint32_t row)
{
	return tsi_start_ns(&trace->spans, row) + tsi_dur_ns(&trace->spans, row);
}

static inline struct str tsi_span_name(const struct tscope_trace *trace, uint32_t row)
{
	return tsi_intern_text(&trace->names, tsi_name_id(&trace->spans, row));
}

/* Numbers from 0 on for the rows of calls, in the order of rows. */
static inline uint32_t tsi_call_index(const struct tscope_trace *trace, uint32_t row)
{
	return tsi_bit_set_rank(&trace->spans.calls, row);
}

/* Rows of devices are the last ones. */
static inline uint32_t tsi_device_event_index(const struct tscope_trace *trace, uint32_t row)
{
	return row - (trace->spans.count - (uint32_t)trace->device_event_count);
}

/* Index of an annotation in op_inputs or batches (see struct span_kind), or NO_ROW. */
static inline uint32_t tsi_annotation_index(const struct tscope_trace *trace, uint32_t row)
{
	const struct span_kind *kind = tsi_span_kind(&trace->spans, row);

	return kind->span_class == TSCOPE_SPAN_ANNOTATION ? kind->annotation : NO_ROW;
}

/* The device event of a device row, the call of a runtime row, the op of a cpu_op row. */
static inline struct device_event *tsi_device_event(const struct tscope_trace *trace, uint32_t row)
{
	return &trace->device_events[tsi_device_event_index(trace, row)];
}

static inline struct runtime_call *tsi_call(const struct tscope_trace *trace, uint32_t row)
{
	return &trace->calls[tsi_call_index(trace, row)];
}

static inline const struct cpu_op *tsi_cpu_op(const struct tscope_trace *trace, uint32_t row)
{
	return &tsi_span_kind(&trace->spans, row)->op;
}

/* Traits shared by many device rows or calls: see struct span_kind. */
static inline const struct work_traits *tsi_work_traits(const struct tscope_trace *trace,
							uint32_t row)
{
	return &tsi_span_kind(&trace->spans, row)->device;
}

static inline const struct work_shape *tsi_work_shape(const struct tscope_trace *trace,
						      uint32_t row)
{
	return &trace->work_shapes[tsi_work_traits(trace, row)->shape];
}

/* enum call_kind */
static inline uint8_t tsi_call_kind(const struct tscope_trace *trace, uint32_t row)
{
	return (uint8_t)tsi_span_kind(&trace->spans, row)->call.kind;
}

/* Bytes of a copy, or NO_NUMBER. */
static inline int64_t tsi_call_bytes(const struct tscope_trace *trace, uint32_t row)
{
	return trace->work_shapes[tsi_span_kind(&trace->spans, row)->call.shape].bytes;
}

/* Inputs of the cpu_op of a row. */
static inline const struct op_inputs *tsi_op_inputs(const struct tscope_trace *trace, uint32_t row)
{
	return &trace->op_inputs[tsi_cpu_op(trace, row)->inputs];
}

static inline uint32_t tsi_trace_track_of(const struct tscope_trace *trace, uint32_t row)
{
	return tsi_span_kind(&trace->spans, row)->track;
}

/* Are the inputs of any operator recorded? */
bool tsi_trace_has_shapes(const struct tscope_trace *trace);

/* Threads that may look at the trace together: 1 where it is too small to be worth more. */
unsigned tsi_trace_threads(const struct tscope_trace *trace);

/* tsi_release_freed() after a stage; of a small trace that would not be worth the time. */
void tsi_trace_release_freed(const struct tscope_trace *trace);

#endif
