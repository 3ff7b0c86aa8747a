/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_SESSION_SEPARATE_H
#define TSCOPE_SESSION_SEPARATE_H

#include "session/run.h"

#include "base/sum.h"

/*
 * Shared by the parts of separate.c: which traces there are (separate_captures.c), what speaks
 * against two being of one run (separate_apart.c) and how that is said (separate_words.c), and what
 * goes with them (separate_others.c).
 */

enum apart {
	TOGETHER,
	APART_WORLD,
	APART_BACKEND,
	APART_ATTEMPT,
	APART_FAMILY,
	APART_DEVICE,
	APART_PROCESS,
	APART_STRANGER,
	APART_AGAIN,
	APART_UNMARKED,
	APART_TIME,
	APART_AT_ONCE,
};

struct capture {
	const struct loaded *loaded;
	size_t index;       /* in members->loaded */
	int64_t rank;       /* that it, its name or another capture of its process says; or -1 */
	uint32_t slot;      /* equal where the rank is or, without one, the process */
	struct str attempt; /* "attempt_1", the folder in which torchrun puts a restart; or empty */
	const char *family; /* separates jobs with the same ranks at one time; or "" */
	int64_t first_step, last_step; /* last < first: it has no numbered step */
	uint32_t unit;
};

struct captures {
	struct capture *items;
	size_t count;
};

/* Combined data of captures that were put together. */
struct extent {
	const struct capture *first, *last;
	int64_t world_size;
	int64_t start_ns, end_ns;
	int64_t first_step, last_step;
};

static inline bool tsi_has_numbers(const struct extent *extent)
{
	return extent->first_step <= extent->last_step;
}

static inline const struct trace_origin *tsi_origin_of(const struct capture *capture)
{
	return &capture->loaded->origin;
}

static inline bool tsi_is_process_known(const struct capture *capture)
{
	return tsi_origin_of(capture)->pid >= 0;
}

static inline bool tsi_texts_differ(const char *a, const char *b)
{
	return *a != '\0' && *b != '\0' && strcmp(a, b) != 0;
}

/* Time between them, or 0 where they overlap or touch. */
static inline int64_t tsi_gap_between(const struct extent *a, const struct extent *b)
{
	int64_t gap_ns = a->start_ns > b->start_ns ? tsi_difference(b->end_ns, a->start_ns)
						   : tsi_difference(a->end_ns, b->start_ns);

	return gap_ns > 0 ? gap_ns : 0;
}

/* Captures of one device profiler, their slots set; memory that ends is the arena's. */
struct captures tsi_list_captures(const struct run_members *members, struct arena *arena);

enum apart tsi_job_differs(const struct extent *a, const struct extent *b);
bool tsi_processes_differ(const struct capture *a, const struct capture *b);
/* Does the later one number its steps from where the earlier one's end? */
bool tsi_goes_on(const struct extent *earlier, const struct extent *later);
/* A later capture of the same slot. Overlapping ones are for those who group ranks. */
enum apart tsi_windows_differ(const struct extent *earlier, const struct extent *later);
/* Compares files of different ranks or, where ranks are not said, of different processes. */
enum apart tsi_ranks_differ(const struct extent *run, const struct extent *unit,
			    bool is_concurrent);

/* Gives files without a run that of the traces in their folder. */
void tsi_place_others(struct run_partition *partition, const struct run_members *members,
		      struct arena *arena);

/* "process 4242", and " of n1" where its host is to be named and known; the pid is known. */
const char *tsi_process_words(struct arena *arena, const struct capture *capture, bool with_host);

/* "separate from a.json: backend nccl here, gloo there". */
const char *tsi_separate_reason(struct arena *arena, enum apart why, const struct extent *here,
				const struct extent *there);

/* Notes on windows that were put together: one continues another's steps, or repeats them. */
const char *tsi_restart_words(struct arena *arena, const struct extent *earlier,
			      const struct extent *later);
const char *tsi_repeat_words(struct arena *arena, const struct extent *earlier,
			     const struct extent *later);

#endif
