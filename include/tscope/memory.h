/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MEMORY_H
#define TSCOPE_MEMORY_H

#include <stdio.h>
#include <tscope/analysis.h>

/*
 * A file about memory of the device or of the host: a snapshot of CUDA's caching allocator, a
 * memory timeline of torch.profiler, statistics of finetuning-scheduler, tables of torch's memory
 * trackers, a capture of memray. Its contents become facts (snapshot.*, memory_timeline.*,
 * memory_stats.*, memory_tracker.*, host_memory.*), which rules, gates and reports take like those
 * of a trace.
 */
struct tscope_memory;

enum tscope_memory_kind {
	TSCOPE_MEMORY_SNAPSHOT, /* torch.cuda.memory._dump_snapshot() */
	TSCOPE_MEMORY_TIMELINE, /* export_memory_timeline() */
	TSCOPE_MEMORY_STATS,    /* finetuning-scheduler's rank_*_memory_stats */
	TSCOPE_MEMORY_TRACKER,  /* MemTracker's fsdp_mem_rank_*.log */
	TSCOPE_MEMORY_HOST,     /* memray's captures, and its stats as JSON */
	TSCOPE_MEMORY_KIND_COUNT,
};

/*
 * "snapshot", "memory_timeline", "memory_stats", "memory_tracker", "host_memory": its format,
 * and analyzer.
 */
const char *tscope_memory_kind_name(enum tscope_memory_kind kind);

/*
 * Opens and reads a file; "-" is standard input. options may be NULL: threads, blocks,
 * progress and the limit of decompressed bytes count, the rest is of traces.
 * TSCOPE_E_IO, _FORMAT, _UNSUPPORTED, _DAMAGED, _LIMIT, _EMPTY, _NOMEM: the message has the
 * place and the remedy. The caller frees.
 */
enum tscope_status tscope_memory_open(struct tscope_memory **ret, const char *path,
				      const struct tscope_trace_options *options,
				      struct tscope_error *err);

/* As above, from memory; the bytes are needed only during the call. name appears in messages. */
enum tscope_status tscope_memory_open_memory(struct tscope_memory **ret, const char *name,
					     const void *data, size_t length,
					     const struct tscope_trace_options *options,
					     struct tscope_error *err);

/* NULL is fine. */
void tscope_memory_free(struct tscope_memory *memory);

/* Facts about the file. Strings live as long as the object and are never NULL. */
struct tscope_memory_info {
	const char *path; /* as it was given */
	enum tscope_memory_kind kind;
	const char *form;        /* "pickle", "json", "yaml", "html", "text", "memray" */
	const char *compression; /* "none", "gzip", "zstd+gzip" */
	uint64_t source_bytes;   /* of the file; of a pipe those read */
	uint64_t bytes;          /* decompressed */
	uint64_t record_count;   /* entries and blocks, points, values: what there is to count */
	uint64_t dropped_count;  /* of these, not understood and in no figure */
	int64_t rank;            /* from its content or path, or -1 */
	const char *note;        /* what a person should know, or "" */
	/* Why reading ended before the end, or NULL: what came before it counts. */
	const struct tscope_error *damage;
};

const struct tscope_memory_info *tscope_memory_info(const struct tscope_memory *memory);

/*
 * Analyses a file. earlier: one of the same process from before, for growth, or NULL. The result
 * holds nothing of either; the caller frees it.
 */
enum tscope_status tscope_memory_analyze(struct tscope_analysis **ret,
					 const struct tscope_memory *memory,
					 const struct tscope_memory *earlier,
					 const struct tscope_analysis_options *options,
					 struct tscope_error *err);

/* Whether two snapshots are of the same rank and devices, taken in this order. */
bool tscope_memory_is_comparable(const struct tscope_memory *memory,
				 const struct tscope_memory *earlier);

enum tscope_memory_moment {
	TSCOPE_MEMORY_AT_PEAK, /* of the device whose peak is highest, or of the host */
	TSCOPE_MEMORY_AT_END,
};

/*
 * Writes the stacks of what was live then, "outer;…;inner bytes" a line, as flame graph
 * tools take them. TSCOPE_E_FORMAT: only snapshots and captures hold stacks; TSCOPE_E_WRITE.
 */
enum tscope_status tscope_memory_write_stacks(FILE *out, const struct tscope_memory *memory,
					      enum tscope_memory_moment moment,
					      struct tscope_error *err);

#endif
