/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_SESSION_OPEN_RUN_H
#define TSCOPE_SESSION_OPEN_RUN_H

#include "session/run.h"

/* What a run is to be made of. */
struct run_request {
	struct run_files files; /* of the session; its arena stays there */
	const char *path;       /* that was asked for, for messages; the first of path_count */
	size_t path_count;
};

/* Finds the files. The caller frees session->found.arena, on failure, too. */
TSI_MUST_CHECK
enum tscope_status tsi_session_open(struct session *session, const char *const *paths, size_t count,
				    const struct tscope_run_options *options,
				    struct tscope_error *err);

/*
 * Makes a run of files. The session may go then, but not what it found. *ret is what there is of
 * the run on failure, too: the caller frees it; NULL: no memory.
 */
TSI_MUST_CHECK
enum tscope_status tsi_run_open(struct tscope_run **ret, struct session *session,
				const struct run_request *request, struct tscope_error *err);

#endif
