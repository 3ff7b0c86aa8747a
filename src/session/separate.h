/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_SESSION_SEPARATE_H
#define TSCOPE_SESSION_SEPARATE_H

#include "session/run.h"

#include "base/sum.h"

/* What separate.c finds, and separate_words.c says. */

enum apart {
	TOGETHER,
	APART_WORLD,
	APART_BACKEND,
	APART_ATTEMPT,
	APART_DEVICE,
	APART_PROCESS,
	APART_STRANGER,
	APART_AGAIN,
	APART_UNMARKED,
	APART_TIME,
};

struct capture {
	const struct loaded *loaded;
	size_t index;       /* in members->loaded */
	int64_t rank;       /* that it, its name or another capture of its process says; or -1 */
	uint32_t slot;      /* equal where the rank is or, without one, the process */
	struct str attempt; /* "attempt_1", the folder in which torchrun puts a restart; or empty */
	int64_t first_step, last_step; /* last < first: it has no numbered step */
	uint32_t unit;
};

/* What captures that were put together say together. */
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

/* "separate from a.json: backend nccl here, gloo there". */
const char *tsi_separate_reason(struct arena *arena, enum apart why, const struct extent *here,
				const struct extent *there);

/* Notes on windows that were put together: one continues another's steps, or repeats them. */
const char *tsi_restart_words(struct arena *arena, const struct extent *earlier,
			      const struct extent *later);
const char *tsi_repeat_words(struct arena *arena, const struct extent *earlier,
			     const struct extent *later);

#endif
