/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TRACE_H
#define TSCOPE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tscope/error.h>

/*
 * A trace: what one process recorded, read whole, checked, linked and ready
 * to be looked at. It is immutable once open, so any number of threads may
 * read it. Times are int64_t nanoseconds on the trace's own clock ("ts" of the
 * file times 1000); where the file says so, base_time_ns turns them into Unix
 * time.
 */
struct tscope_trace;

struct tscope_members;

/*
 * A file for what spans take beyond memory_limit. It has no name and is gone with the process;
 * traces may share it, in several threads, too. Linux alone has it: TSCOPE_E_UNSUPPORTED elsewhere.
 */
struct tscope_spill;

/* Opens one in a folder; TSCOPE_E_IO: the folder refuses it, or is memory itself (tmpfs). */
enum tscope_status tscope_spill_open(struct tscope_spill **ret, const char *folder,
				     struct tscope_error *err);

/* Once its traces are freed. NULL is fine. */
void tscope_spill_free(struct tscope_spill *spill);

struct tscope_trace_options {
	/* Threads that may work, this one included; 0: as many as help; 1: no other. */
	unsigned thread_count;
	/* Keep Python frames (python_function, VizTracer); they can be most of a file. */
	bool python;
	/*
	 * Look beside the trace, and in the folder above, for the modules that nodes of its CUDA
	 * graphs were captured in: kernel_annotations_rank0*.json, or .pkl.
	 */
	bool finds_annotations;
	/* Bytes per read; 0: default. Any value gives the same trace; tests use tiny ones. */
	size_t block_bytes;
	/* Limits; 0: the default that tscope(1) lists. Hitting one ends the reading there. */
	uint64_t max_output_bytes; /* decompressed size */
	uint64_t max_event_bytes;  /* length of one event's text */
	unsigned max_depth;        /* nesting of JSON values */
	size_t max_names;          /* distinct names */
	/*
	 * Bytes that the spans of a trace may take in memory, 0: any. `spill` takes more.
	 * Without it, or where its disk is full, operators are given up first, and the
	 * diagnostic unkept_operator counts them; then reading ends, as at other limits.
	 */
	size_t memory_limit;
	struct tscope_spill *spill; /* NULL: none */
	/*
	 * Called now and then during the reading, in one of the threads at a time:
	 * bytes taken from the source, its size (0: not known, a pipe), and bytes
	 * after decompression. NULL: never.
	 */
	void (*progress)(void *progress_data, uint64_t source_bytes, uint64_t source_size,
			 uint64_t bytes);
	void *progress_data;
	const char *stdin_name; /* what standard input is called; NULL: "-" */
	/* Archives that were opened; the library's own: leave it NULL. */
	const struct tscope_members *members;
};

/* Kinds of diagnostics, with their counters: see diagnostic_list.h. */
enum tscope_diagnostic {
#define DIAGNOSTIC(id, effect, text) TSCOPE_DIAGNOSTIC_##id,
#include <tscope/diagnostic_list.h>
#undef DIAGNOSTIC
	TSCOPE_DIAGNOSTIC_COUNT,
};

enum tscope_effect {
	TSCOPE_EFFECT_DROPPED,
	TSCOPE_EFFECT_REPAIRED,
	TSCOPE_EFFECT_NOTED,
};

/* Stable id ("missing_timestamp"), effect and text ("events have no timestamp") of a kind. */
const char *tscope_diagnostic_id(enum tscope_diagnostic kind);
enum tscope_effect tscope_diagnostic_effect(enum tscope_diagnostic kind);
const char *tscope_diagnostic_text(enum tscope_diagnostic kind);

/*
 * Opens and reads a trace; "-" is standard input. options may be NULL.
 *
 * A damaged or cut input is still a success when events could be read:
 * tscope_trace_damage() then says what is missing, and the diagnostics count
 * what was dropped or repaired.
 *
 * TSCOPE_E_IO, _FORMAT, _UNSUPPORTED, _DAMAGED, _LIMIT, _EMPTY, _NOMEM: nothing could
 * be read; the message names the file's kind, the place and the remedy.
 * The caller frees the trace with tscope_trace_free().
 */
enum tscope_status tscope_trace_open(struct tscope_trace **ret, const char *path,
				     const struct tscope_trace_options *options,
				     struct tscope_error *err);

/* As above, from memory; the bytes are needed only during the call. name appears in messages. */
enum tscope_status tscope_trace_open_memory(struct tscope_trace **ret, const char *name,
					    const void *data, size_t length,
					    const struct tscope_trace_options *options,
					    struct tscope_error *err);

/* Frees the trace and everything handed out from it. NULL is fine. */
void tscope_trace_free(struct tscope_trace *trace);

/* Why reading ended early ("gzip member 1: truncated"), or NULL if all was read. */
const struct tscope_error *tscope_trace_damage(const struct tscope_trace *trace);

uint64_t tscope_trace_diagnostic(const struct tscope_trace *trace, enum tscope_diagnostic kind);

/* Facts about the file. Strings live as long as the trace and are never NULL. */
struct tscope_trace_info {
	const char *path;        /* as it was given */
	const char *format;      /* "kineto", "chrome", "viztracer", "composer" */
	const char *compression; /* "none", "gzip", "zstd+gzip" */
	uint64_t source_bytes;   /* of the file; of a pipe those read */
	uint64_t bytes;          /* decompressed */
	uint64_t event_count;    /* elements of traceEvents, used or not */
	uint64_t dropped_count;  /* of these, lost: the sum of the DROPPED diagnostics */
	int64_t base_time_ns;    /* Unix time of the clock's zero, or 0 with has_base_time false */
	bool has_base_time;
	int64_t first_ns, last_ns; /* of all timed work; 0, 0 without any */
	int64_t rank, world_size;  /* -1 where the trace does not say */
	/* Ranks whose traces were merged into it: no figure of all means much; 0: one rank */
	size_t merged_rank_count;
	const char *backend;     /* of torch.distributed: "nccl"; "" if not said */
	const char *device_name; /* of the first device in use, "" if not said */
	/* "correlation", "flow", "External id" or "correlation 12, flow 3"; "": nothing linked */
	const char *link_basis;
};

const struct tscope_trace_info *tscope_trace_info(const struct tscope_trace *trace);

/* Classes of spans, in the model's order: host classes first, device classes last. */
enum tscope_span_class {
	TSCOPE_SPAN_CPU_OP,     /* operators: aten::mm, autograd functions, record_param_comms */
	TSCOPE_SPAN_ANNOTATION, /* record_function, ProfilerStep#N, Composer's event/… */
	TSCOPE_SPAN_RUNTIME,    /* cudaLaunchKernel, hipMemcpy, cuLaunchKernel … */
	TSCOPE_SPAN_PYTHON,     /* Python frames, only on request */
	TSCOPE_SPAN_GC,         /* Python garbage collection pauses, only on request */
	TSCOPE_SPAN_OVERHEAD,   /* the profiler's own */
	TSCOPE_SPAN_OTHER,      /* slices of writers that are not PyTorch */
	TSCOPE_SPAN_KERNEL,     /* compute kernels */
	TSCOPE_SPAN_COMM,       /* communication kernels */
	TSCOPE_SPAN_MEMCPY,
	TSCOPE_SPAN_MEMSET,
};

/* "cpu_op", "kernel" …: never NULL. */
const char *tscope_span_class_name(enum tscope_span_class span_class);

/* One row of the trace. Rows are ordered by track, then start, then longest first. */
struct tscope_span {
	int64_t start_ns;
	int64_t dur_ns;
	const char *name; /* unescaped, as long as the trace; may hold any bytes but NUL */
	enum tscope_span_class span_class;
	uint32_t track;
	uint32_t launch; /* row of the launch call of a device span, or UINT32_MAX */
	uint32_t op;     /* row of the cpu_op that launched a device span, or UINT32_MAX */
};

uint32_t tscope_trace_span_count(const struct tscope_trace *trace);
struct tscope_span tscope_trace_span(const struct tscope_trace *trace, uint32_t row);

/* A thread of the host or a stream of a device; its spans are rows [first, first + count). */
struct tscope_track {
	const char *pid, *tid; /* as text */
	const char *name;      /* of the thread, "" if not said */
	bool is_device;
	int32_t device; /* ordinal, or -1 */
	int64_t stream; /* or -1 */
	uint32_t first, count;
};

uint32_t tscope_trace_track_count(const struct tscope_trace *trace);
struct tscope_track tscope_trace_track(const struct tscope_trace *trace, uint32_t track);

#endif
