/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_SESSION_SLICE_H
#define TSCOPE_SESSION_SLICE_H

#include <tscope/slice.h>

#include "report/json_writer.h"
#include "session/slice_text.h"

/* Choice of events for a slice. Times are those of the trace's clock. */
struct slice_choice {
	int64_t first_ns, end_ns; /* all that overlaps [first, end) … */
	int64_t *times_ns;        /* … and what starts at one of these, in order */
	size_t time_count, time_capacity;
	bool has_steps; /* that it has whole: starts of the first and the last */
	int64_t first_step_ns, last_step_ns;
	int64_t first_number;
};

/* Writes one trace after the other into a file. */
struct slicer {
	struct event_sink sink; /* first: a pointer to it is one to the slicer */
	const struct tscope_slice_options *options;
	struct gzip_out *out;
	struct slice_form form;
	struct redaction redaction;
	struct slice_rank *rank; /* of the trace that is added; NULL: a file of one trace */
	int64_t shared_base_ns;  /* of the file: that of its first trace */
	struct slice_choice *choice;
	struct str tracks; /* our own events */
	bool leaves_metadata;
	bool has_events, has_ended; /* the array of events was opened; was closed */
};

/* Begins a file; and ends it, which frees, on an earlier failure, too. The options are borrowed. */
TSI_MUST_CHECK
enum tscope_status tsi_slicer_open(struct slicer *slicer, FILE *out,
				   const struct tscope_slice_options *options,
				   struct tscope_error *err);
TSI_MUST_CHECK
enum tscope_status tsi_slicer_close(struct slicer *slicer, enum tscope_status status,
				    struct tscope_error *err);

/*
 * Adds a trace, of slicer->rank where that is set: it learns its base then. The caller frees
 * choice->times_ns, on failure, too. TSCOPE_E_EMPTY: no such step.
 */
TSI_MUST_CHECK
enum tscope_status tsi_slice_add(struct slicer *slicer, struct slice_choice *choice,
				 const char *path, struct tscope_error *err);

/* Writes further events, each behind a comma and a line end. */
void tsi_slice_put(struct slicer *slicer, struct str events);

/* ---- slice_tracks.c ---- */

/* Threads of the process "tscope"; those of further devices follow. */
enum slice_track { TRACK_STEPS, TRACK_FINDINGS, TRACK_COLLECTIVES, TRACK_IDLE };

struct tracks {
	FILE *out;
	const struct slice_choice *choice;
	const struct slice_form *form;
	struct json_writer w;
	bool has_failed;
	char *text; /* what is written, once it is closed */
	size_t length;
};

/* In memory, and not to be moved. The caller frees t->text, on failure, too. */
void tsi_tracks_open(struct tracks *t);
TSI_MUST_CHECK
enum tscope_status tsi_tracks_close(struct tracks *t, struct tscope_error *err);

/* Events begin behind a comma and a line end; "args" is open where begin_slice() returns. */
void tsi_tracks_begin(struct tracks *t, const char *phase, const char *name, int64_t track);
void tsi_tracks_begin_slice(struct tracks *t, const char *name, int64_t track, int64_t start_ns,
			    int64_t dur_ns);
void tsi_tracks_put_us(struct tracks *t, const char *key, int64_t ns);
void tsi_tracks_end(struct tracks *t);
void tsi_tracks_name(struct tracks *t, int64_t track, const char *name);

/* Steps, their budgets, idle gaps and findings of a trace. */
void tsi_slice_tracks(struct tracks *t, const struct tscope_analysis *analysis,
		      const struct tscope_diagnosis *diagnosis);

#endif
