/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_SESSION_SESSION_H
#define TSCOPE_SESSION_SESSION_H

#include "base/arena.h"
#include "session/load.h"

struct run_paths {
	const char **items;
	size_t count, capacity;
};

/*
 * Files opened together: all that were found, and the data read of them so far. Each is read once,
 * whichever run takes it.
 */
struct session {
	const struct tscope_run_options *options;
	struct run_files found;
	struct run_paths sources;   /* as tscope_run_source(); in the arena of what was found */
	struct reading **readings;  /* by id of the file; NULL: it was not read */
	struct member_lists *lists; /* of the logs of all readings; NULL before there are any */
	struct arena arena;
	struct tscope_members *members; /* of archives among what was found */
	struct tscope_run_options own;  /* options with the archives, or as files were mapped */
};

/*
 * Puts what was mapped (rank_file.h) in the place of the files that hold it: behind all others,
 * in the order in which a search would find it.
 */
TSI_MUST_CHECK
enum tscope_status tsi_session_expand(struct session *session, struct tscope_error *err);

/* Keeps the paths of what was found; before files of tscope map become those that were mapped. */
void tsi_session_keep_sources(struct session *session);

/* Frees what was read and no run took; what was found stays. */
void tsi_session_deinit(struct session *session);

/* A file of a run and its reading. */
struct run_source {
	const struct run_file *file;
	struct load *load;                  /* of the session; NULL: it was not to be read */
	const struct tscope_error *refusal; /* why it is left out, though it was read; or NULL */
};

struct run_sources {
	struct run_source
		*items; /* in the order of the files; further ranks of a file stand last */
	size_t count, capacity;
};

/* ---- notes: what a person should know of a run as a whole ---- */

struct run_notes {
	struct arena *arena; /* of the run */
	const char **items;
	size_t count, capacity;
};

/* Adds a note; one that is too long is cut. */
TSI_PRINTF(2, 3)
void tsi_run_note(struct run_notes *notes, const char *format, ...);

/* ---- reading ---- */

/* Reads those files of a run that were not read before. An error of a file stands in its load. */
TSI_MUST_CHECK
enum tscope_status tsi_session_read(struct run_sources *ret, struct session *session,
				    const struct run_files *files, struct tscope_error *err);

/*
 * Reads merged traces again, once for each rank whose own trace is not among the sources: these
 * replace the file.
 */
TSI_MUST_CHECK
enum tscope_status tsi_split_merged(struct run_sources *sources, struct session *session,
				    struct run_notes *notes, struct tscope_error *err);

/* Leaves traces of the capture of graphs out, if there are steps of anything else. */
TSI_MUST_CHECK
enum tscope_status tsi_leave_captures_out(struct run_sources *sources, struct session *session,
					  struct run_notes *notes, struct tscope_error *err);

/* Joins traces that replay graphs to traces of their capture: both are read again. */
TSI_MUST_CHECK
enum tscope_status tsi_join_captures(struct run_sources *sources, struct session *session,
				     struct run_notes *notes, struct tscope_error *err);

/* The load of one rank of a merged file, by its index among these; NULL without memory. */
struct load *tsi_session_rank(struct session *session, const struct run_file *file, size_t rank);

#endif
