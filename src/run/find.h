/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_FIND_H
#define TSCOPE_RUN_FIND_H

#include "base/arena.h"

/*
 * The files of a run: what the given paths hold that may be ours, by their
 * content. Folders are searched to a depth of FIND_MAX_DEPTH, in the order of
 * names (numbers by value: rank2 before rank10), files before folders; what is
 * in a folder and not ours is ignored, with a reason that --verbose shows. A file
 * that was named itself is a trace, step records or about memory, whatever it holds: reading
 * it shows what is wrong.
 */
enum {
	FIND_MAX_DEPTH = 8,
	FIND_MAX_FILES = 1 << 20,
	RUN_HEAD_BYTES = 64 << 10, /* what a file is tasted by */
};

struct store;          /* run/store.h */
struct tscope_members; /* input/members.h */
struct metric_source;  /* run/metrics.h */

enum run_file_kind {
	RUN_FILE_TRACE,   /* may be a trace: only reading it will show */
	RUN_FILE_STEPS,   /* step records; run_json is beside it where there is one */
	RUN_FILE_MEMORY,  /* may be about memory (tscope/memory.h): only reading it will show */
	RUN_FILE_METRICS, /* metrics by step: a file, or the folder of a store; metrics reads it */
	RUN_FILE_RANKS,   /* what tscope map made of files (rank_file.h): it becomes these */
	RUN_FILE_DUMP,    /* may be a flight-recorder dump (tscope/hang.h) */
	RUN_FILE_REFUSED, /* known, and not readable as it is (tar, zip): reason has the remedy */
	RUN_FILE_IGNORED, /* not ours */
	RUN_FILE_REPORT,  /* a report that was saved as JSON, and named: it is a run by itself */
	RUN_FILE_ARCHIVE, /* tar or zip, and named: its members take its place */
};

struct run_file {
	enum run_file_kind kind;
	size_t id;            /* its place among all that were found */
	const char *path;     /* as it was given, or folder/name */
	const char *run_json; /* path, or NULL (steps) */
	const char *reason;   /* refused, ignored: why; else NULL */
	const struct tscope_error
		*unread;           /* refused, or named: its first bytes could not be read */
	bool is_named;             /* given as a file, not found in a folder */
	const struct store *store; /* of step records: what reads them; else NULL */
	const struct metric_source *metrics; /* of metrics: what reads them; else NULL */
	int64_t name_rank;                   /* rank by the name of file or folder, or -1 */
	int64_t first_batch, batch_count;    /* set: by its folder (batch_folder.h), or 0 */
	/* Record of a file that need not exist any more (rank_file.h); or NULL. */
	const struct str *saved;
	int64_t saved_first_batch, saved_batch_count; /* among the files that it was mapped with */
};

struct run_files {
	struct arena arena; /* owns all texts, and items */
	struct run_file *items;
	size_t count, capacity;
	size_t max_count; /* set before: limit of entries looked at; 0: FIND_MAX_FILES */
	struct tscope_members *members; /* set before: archives that are found go here; or NULL */
};

/*
 * For each path: a file, a folder, an archive (input/members.h), or a name P where folders P_rank0,
 * P_rank1 … stand (also beside a folder P). TSCOPE_E_IO: a path does not exist, or is a folder that
 * cannot be read (the message names it); TSCOPE_E_LIMIT. An empty result is no failure. The caller
 * frees files->arena, on failure, too. A file found twice is listed twice: see settle.h.
 */
TSI_MUST_CHECK
enum tscope_status tsi_find_files(struct run_files *files, const char *const *paths,
				  size_t path_count, struct tscope_error *err);

/*
 * The rank in a path, or -1: the file's name first (rank-0.json.gz,
 * rank0.17.pt.trace.json, ep1-ba42-rank3, worker2_step_12…, rank_4.…, 3_trace.json,
 * fit-name-0[Strategy]DDP….pt.trace.json), then the nearest folder (rank3/, run_rank3/).
 */
int64_t tsi_rank_of_path(const char *path);

/* The folder whose name has the rank of a path, without a slash at its end; empty: none. */
struct str tsi_rank_folder_of_path(const char *path);

/*
 * Name that files of the ranks of one job share, without what differs from rank to rank:
 * "1723456789.25-TP-*-DP-*" of 1723456789.25-TP-0-DP-1.trace.json.gz; by_replica keeps the number
 * of the data-parallel replica. "" where a name has no such parts; NULL without memory.
 */
const char *tsi_family_of_path(struct arena *arena, const char *path, bool by_replica);

/*
 * Which process wrote a file, by its name: "host_4242" of
 * host_4242.1700000000000.pt.trace.json, or the name without its time stamps.
 * Two files of unknown rank with the same writer are windows of one rank.
 * Points into path.
 */
struct str tsi_writer_of_path(const char *path);

#endif
