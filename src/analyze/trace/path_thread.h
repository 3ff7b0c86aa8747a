/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_TRACE_PATH_THREAD_H
#define TSCOPE_ANALYZE_TRACE_PATH_THREAD_H

#include "analyze/trace/path_pieces.h"
#include "base/arena.h"
#include "timeline/landmarks.h"

/* On the way from a thread's last row to its first; each row's times are read once. */
struct path_cursor {
	uint32_t first, end;      /* its rows [first, end) are still to come */
	int64_t start_ns, end_ns; /* of the next of them, end - 1; INT64_MIN, both: there is none */
	uint8_t span_class;       /* of that, likewise */
};

/*
 * The host threads, walked backward. The innermost span has the time: of those that are open
 * the one that began last. Rows come by start, so going back that is the next row where it
 * had not ended, and where it had, a span around it, which is met later: until then the time
 * is kept as a gap, which the first row that reaches into it gets.
 */
struct path_thread {
	uint32_t rows_end;     /* its rows [first, rows_end) may still have time */
	uint32_t data_end;     /* its waits for data [.., data_end) may still have time */
	struct interval *gaps; /* cut to steps that count; the earliest last */
	size_t gap_count, gap_capacity;
};

/* Role of a thread relative to the main thread. */
enum path_role {
	ROLE_MAIN,
	ROLE_BACKWARD, /* the main thread starts it, and waits for it */
	ROLE_COMM,     /* in a trace without devices: either of them does */
	ROLE_OTHER,    /* the main thread starts it */
};

enum { PATH_MAX_HELPERS = 16 };

struct path_helper {
	uint32_t track;
	uint8_t role;            /* enum path_role, but not ROLE_OTHER */
	struct path_cursor work; /* the search for its work */
};

struct path_threads {
	const struct tscope_trace *trace;
	const struct landmarks *marks;
	struct arena *arena;
	uint32_t main_track; /* or NO_ROW */
	struct path_thread *threads;
	uint32_t track;          /* whose rows the cursor is on, or NO_ROW; its rows_end lags */
	struct path_cursor rows; /* those that may still have time */
	struct path_helper main; /* where there is a main thread */
	struct path_helper helpers[PATH_MAX_HELPERS];
	uint32_t helper_count;
	struct path_wait *waits; /* for data: by thread, then time; they do not overlap */
	size_t wait_count, wait_capacity;
	struct path_cutter *cutter;
	struct path_sink *sink;
	/* When the chain last went from an idle thread to another: at one moment it goes once. */
	int64_t handed_over_ns;
};

/* The thread's time in one or more spans that load data, and the outermost of them. */
struct path_wait {
	uint32_t track, row;
	int64_t start_ns, end_ns;
};

/* All is allocated in the arena; after arena->has_failed it may not be used. */
void tsi_path_threads_init(struct path_threads *threads, const struct tscope_timeline *timeline,
			   struct arena *arena);

/* The activity of a thread before a moment, back to start_ns. */
struct path_moment {
	int64_t start_ns;   /* INT64_MIN: it had not begun */
	uint32_t row;       /* the innermost span; NO_ROW: the rest of one that comes, or nothing */
	uint8_t span_class; /* of the row */
	bool is_data;       /* row loads data */
	bool is_work;       /* row is an operator, a call, or what a role is about */
	/*
	 * For an idle thread: the thread that it had waited for, or that had set it to work, which
	 * was the last at work; NO_ROW: none. The chain is there from other_ns on.
	 */
	uint32_t other;
	int64_t other_ns;
};

/*
 * Before *t_ns, which is not after any t that was asked for. Moments in which the chain stays on
 * the thread, but for calls and waits for data, are put away on the way: *t_ns becomes the start of
 * the last of them, as long as that is behind begin_ns. O(1) over all moments.
 */
struct path_moment tsi_path_before(struct path_threads *threads, uint32_t track, int64_t *t_ns,
				   int64_t begin_ns);

/* The time of a moment, from start_ns to end_ns; without a row it is kept for the row to come. */
void tsi_path_put(struct path_threads *threads, uint32_t track, const struct path_moment *moment,
		  struct interval time);

/* Gives away what is left. */
void tsi_path_threads_finish(struct path_threads *threads);

#endif
