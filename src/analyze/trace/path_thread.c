/* SPDX-License-Identifier: MIT */
/* The way back through the host threads; see path_thread.h. */
#include "analyze/trace/path_thread.h"

#include "base/bisect.h"

enum {
	MARKER_LABELS =
		LABEL_STEP_MARKER | LABEL_PROFILER_STEP | LABEL_TRAIN_BATCH | LABEL_ITERATION,
	MAX_TRIES = 8, /* collectives that still run, behind one that has ended */
};

static bool is_comm(const struct path_threads *threads, uint32_t row)
{
	return threads->trace->device_count == 0 &&
	       (tsi_labels_of_row(threads->marks, row) & LABEL_COMM) != 0;
}

static inline bool is_work(const struct path_threads *threads, uint8_t span_class, uint32_t row)
{
	return span_class == TSCOPE_SPAN_CPU_OP || span_class == TSCOPE_SPAN_RUNTIME ||
	       is_comm(threads, row);
}

/* Turns to the last row before end that is no chosen frame. */
static inline void turn_to(const struct path_threads *threads, struct path_cursor *cursor,
			   uint32_t end)
{
	const struct spans *spans = &threads->trace->spans;

	while (threads->trace->chosen_frame_count && end > cursor->first &&
	       tsi_is_chosen_frame(tsi_span_kind(spans, end - 1)))
		end--;
	cursor->end = end;
	cursor->start_ns = cursor->end_ns = INT64_MIN;
	if (tsi_likely(end > cursor->first)) {
		cursor->start_ns = tsi_start_ns(spans, end - 1);
		cursor->end_ns = cursor->start_ns + tsi_dur_ns(spans, end - 1);
		cursor->span_class = tsi_span_class(spans, end - 1);
	}
}

/*
 * Turns from a row that begins at t or later to the last that begins before. Mostly that is the
 * next one; of a thread that the chain was not on for long it is far, and looked for in strides
 * that double.
 */
static void turn_before(const struct path_threads *threads, struct path_cursor *cursor,
			int64_t t_ns)
{
	const struct spans *spans = &threads->trace->spans;
	uint32_t first = cursor->first, high = cursor->end - 1, stride = 1;

	while (high - first >= stride && tsi_start_ns(spans, high - stride) >= t_ns) {
		high -= stride;
		stride *= 2;
	}
	uint32_t low = high - first >= stride ? high - stride + 1 : first;
	TSI_BISECT(low, high, tsi_start_ns(spans, middle) < t_ns);
	turn_to(threads, cursor, high);
}

/* Turns to the last row of work before end. */
static void turn_to_work(const struct path_threads *threads, struct path_cursor *cursor,
			 uint32_t end)
{
	const struct spans *spans = &threads->trace->spans;

	while (end > cursor->first && !is_work(threads, tsi_span_class(spans, end - 1), end - 1))
		end--;
	turn_to(threads, cursor, end);
}

static struct path_helper make_helper(const struct path_threads *threads, uint32_t index,
				      enum path_role role)
{
	const struct track *track = &threads->trace->tracks[index];
	struct path_helper helper = { index, (uint8_t)role, { .first = track->first } };

	turn_to_work(threads, &helper.work, track->first + track->count);
	return helper;
}

/* ---- what there is ------------------------------------------------------------------- */

static void add_helper(struct path_threads *threads, uint32_t track, enum path_role role)
{
	if (threads->helper_count < PATH_MAX_HELPERS)
		threads->helpers[threads->helper_count++] = make_helper(threads, track, role);
}

static bool has_comm(const struct path_threads *threads, const struct track *track)
{
	for (uint32_t row = track->first; row < track->first + track->count; row++)
		if (is_comm(threads, row))
			return true;
	return false;
}

static void find_helpers(struct path_threads *threads)
{
	const struct tscope_trace *trace = threads->trace;

	for (uint32_t i = 0; i < trace->host_track_count; i++) {
		if (i == threads->main_track)
			continue;
		if (trace->tracks[i].is_autograd)
			add_helper(threads, i, ROLE_BACKWARD);
		else if (trace->device_count == 0 && has_comm(threads, &trace->tracks[i]))
			add_helper(threads, i, ROLE_COMM);
	}
}

static void find_waits(struct path_threads *threads)
{
	const struct landmarks *marks = threads->marks;

	for (size_t i = 0; i < marks->count; i++) {
		uint32_t row = marks->items[i].row, track = marks->items[i].track;
		int64_t start_ns = tsi_start_ns(&threads->trace->spans, row);
		int64_t end_ns = tsi_span_end(threads->trace, row);
		if (!(marks->items[i].labels & LABEL_DATA))
			continue;
		struct path_wait *wait =
			threads->wait_count ? &threads->waits[threads->wait_count - 1] : NULL;
		if (wait && wait->track == track && start_ns <= wait->end_ns) {
			if (end_ns > wait->end_ns)
				wait->end_ns = end_ns;
			continue;
		}
		wait = tsi_arena_push(threads->arena, &threads->waits, &threads->wait_count,
				      &threads->wait_capacity, sizeof(*wait));
		if (!wait)
			return;
		*wait = (struct path_wait){ track, row, start_ns, end_ns };
		threads->threads[track].data_end = (uint32_t)threads->wait_count;
	}
}

void tsi_path_threads_init(struct path_threads *threads, const struct tscope_timeline *timeline,
			   struct arena *arena)
{
	const struct tscope_trace *trace = timeline->trace;

	*threads = (struct path_threads){
		.trace = trace,
		.marks = timeline->marks,
		.arena = arena,
		.main_track = timeline->main_track,
		.track = NO_ROW,
		.handed_over_ns = INT64_MAX,
		.threads = tsi_arena_new(arena, trace->host_track_count, sizeof(*threads->threads)),
	};
	if (!threads->threads)
		return;
	for (uint32_t i = 0; i < trace->host_track_count; i++)
		threads->threads[i].rows_end = trace->tracks[i].first + trace->tracks[i].count;
	if (threads->main_track != NO_ROW)
		threads->main = make_helper(threads, threads->main_track, ROLE_MAIN);
	find_helpers(threads);
	find_waits(threads);
}

/* ---- gaps ---------------------------------------------------------------------------- */

static inline void hand_out(struct path_threads *threads, struct interval time, uint32_t row,
			    enum path_line line)
{
	struct path_piece piece = { time.start_ns, time.end_ns, row, (uint8_t)line };

	threads->sink->take(threads->sink, &piece);
}

/* The time of steps has no name but that of the step. */
static inline bool is_named(const struct path_threads *threads, uint8_t span_class, uint32_t row)
{
	return span_class == TSCOPE_SPAN_CPU_OP || span_class == TSCOPE_SPAN_RUNTIME ||
	       !(tsi_labels_of_row(threads->marks, row) & MARKER_LABELS);
}

static inline void hand_out_row(struct path_threads *threads, struct interval time,
				uint8_t span_class, uint32_t row)
{
	if (!is_named(threads, span_class, row))
		hand_out(threads, time, NO_ROW, PATH_HOST);
	else
		hand_out(threads, time, row, is_comm(threads, row) ? PATH_COMM : PATH_HOST);
}

/* The row that comes next has those of the thread's gaps that it reaches into. */
static void claim_gaps(struct path_threads *threads, struct path_thread *thread)
{
	const struct path_cursor *rows = &threads->rows;

	while (thread->gap_count) {
		struct interval *gap = &thread->gaps[thread->gap_count - 1], time = *gap;
		if (time.start_ns >= rows->end_ns)
			return;
		if (time.end_ns > rows->end_ns) {
			time.end_ns = gap->start_ns = rows->end_ns;
			hand_out_row(threads, time, rows->span_class, rows->end - 1);
			return;
		}
		hand_out_row(threads, time, rows->span_class, rows->end - 1);
		thread->gap_count--;
	}
}

static void keep_gap(struct path_threads *threads, uint32_t track, struct interval gap)
{
	struct path_thread *thread = &threads->threads[track];
	struct interval *kept = tsi_arena_push(threads->arena, &thread->gaps, &thread->gap_count,
					       &thread->gap_capacity, sizeof(*kept));
	if (kept)
		*kept = gap;
}

/* Moves past a row; the thread must have gaps. */
static void pass_row(struct path_threads *threads, struct path_thread *thread)
{
	/* Few rows reach into a gap that lies behind them. */
	if (thread->gaps[thread->gap_count - 1].start_ns < threads->rows.end_ns)
		claim_gaps(threads, thread);
	turn_to(threads, &threads->rows, threads->rows.end - 1);
}

/* Moves the cursor to another thread's rows. */
static void go_on_with(struct path_threads *threads, uint32_t track)
{
	if (threads->track != NO_ROW)
		threads->threads[threads->track].rows_end = threads->rows.end;
	threads->track = track;
	threads->rows.first = threads->trace->tracks[track].first;
	turn_to(threads, &threads->rows, threads->threads[track].rows_end);
}

void tsi_path_threads_finish(struct path_threads *threads)
{
	for (uint32_t i = 0; i < threads->trace->host_track_count; i++) {
		struct path_thread *thread = &threads->threads[i];
		if (thread->gap_count)
			go_on_with(threads, i);
		while (thread->gap_count && threads->rows.end > threads->rows.first)
			pass_row(threads, thread);
		while (thread->gap_count)
			hand_out(threads, thread->gaps[--thread->gap_count], NO_ROW, PATH_HOST);
	}
}

/* ---- the way back -------------------------------------------------------------------- */

/* The last wait for data of the thread that begins before t; NULL: none. */
static const struct path_wait *wait_before(struct path_threads *threads, uint32_t track,
					   int64_t t_ns)
{
	struct path_thread *thread = &threads->threads[track];

	while (thread->data_end > 0) {
		const struct path_wait *wait = &threads->waits[thread->data_end - 1];
		if (wait->track != track)
			return NULL;
		if (wait->start_ns < t_ns)
			return wait;
		thread->data_end--;
	}
	return NULL;
}

static inline void put_part(struct path_threads *threads, uint32_t track,
			    const struct path_moment *moment, struct interval part)
{
	if (moment->row == NO_ROW)
		keep_gap(threads, track, part);
	else if (moment->is_data)
		hand_out(threads, part, moment->row, PATH_DATA);
	else
		hand_out_row(threads, part, moment->span_class, moment->row);
}

static inline void put(struct path_threads *threads, uint32_t track,
		       const struct path_moment *moment, struct interval time)
{
	struct interval part;

	if (time.start_ns < time.end_ns &&
	    tsi_path_is_whole(threads->cutter, time.start_ns, time.end_ns)) {
		put_part(threads, track, moment, time);
		return;
	}
	while (tsi_path_cut(threads->cutter, &time, &part))
		put_part(threads, track, moment, part);
}

void tsi_path_put(struct path_threads *threads, uint32_t track, const struct path_moment *moment,
		  struct interval time)
{
	put(threads, track, moment, time);
}

static inline struct path_moment moment_before(struct path_threads *threads, uint32_t track,
					       int64_t t_ns)
{
	struct path_thread *thread = &threads->threads[track];
	const struct path_wait *wait = wait_before(threads, track, t_ns);
	const struct path_cursor *rows = &threads->rows;

	/* Rows that begin at t or later may enclose later gaps. */
	while (rows->start_ns >= t_ns)
		if (thread->gap_count)
			pass_row(threads, thread);
		else
			turn_before(threads, &threads->rows, t_ns);
	if (wait && wait->end_ns >= t_ns)
		return (struct path_moment){ wait->start_ns, wait->row, .is_data = true };

	struct path_moment moment = { .start_ns = rows->end_ns, .row = NO_ROW, .other = NO_ROW };
	if (rows->end_ns >= t_ns) {
		moment.start_ns = rows->start_ns;
		moment.row = rows->end - 1;
		moment.span_class = rows->span_class;
		moment.is_work = is_work(threads, rows->span_class, moment.row);
	}
	if (wait && wait->end_ns > moment.start_ns)
		moment.start_ns = wait->end_ns;
	return moment;
}

static enum path_role role_of(const struct path_threads *threads, uint32_t track)
{
	if (track == threads->main_track)
		return ROLE_MAIN;
	for (uint32_t i = 0; i < threads->helper_count; i++)
		if (threads->helpers[i].track == track)
			return (enum path_role)threads->helpers[i].role;
	return ROLE_OTHER;
}

/* One collective may be over while the next one runs. */
static TSI_COLD int64_t last_collective_until(const struct path_threads *threads,
					      struct path_cursor last, int64_t t_ns)
{
	for (int tries = 0; last.end_ns > t_ns && last.end - 1 > last.first && tries < MAX_TRIES;
	     tries++)
		turn_to(threads, &last, last.end - 1);
	return last.end_ns > t_ns || last.end_ns == last.start_ns ? INT64_MIN : last.end_ns;
}

/* Until when a thread was at work before t; INT64_MIN: it was not, or it still is. */
static inline int64_t worked_until(const struct path_threads *threads, struct path_helper *helper,
				   bool may_work_on, int64_t t_ns)
{
	struct path_cursor *work = &helper->work;

	while (work->start_ns >= t_ns) {
		turn_before(threads, work, t_ns);
		turn_to_work(threads, work, work->end);
	}
	if (work->end_ns <= t_ns)
		return work->end_ns == work->start_ns ? INT64_MIN : work->end_ns;
	if (may_work_on)
		return t_ns;
	return helper->role == ROLE_COMM ? last_collective_until(threads, *work, t_ns) : INT64_MIN;
}

/*
 * The thread that an idle one, for which nothing happened since idle_ns, had waited for, or
 * that had set it to work: it was the last at work. *t_ns becomes the time from which on
 * the chain is there. NO_ROW: none.
 */
static inline uint32_t other_thread(struct path_threads *threads, uint32_t track, int64_t idle_ns,
				    int64_t *t_ns)
{
	enum path_role role = role_of(threads, track);
	const struct path_helper *best = NULL;

	if (role != ROLE_MAIN && threads->main_track != NO_ROW) {
		int64_t until_ns = worked_until(threads, &threads->main, true, *t_ns);
		if (until_ns > idle_ns) {
			best = &threads->main;
			idle_ns = until_ns;
		}
	}
	for (uint32_t i = 0; role != ROLE_OTHER && i < threads->helper_count; i++) {
		struct path_helper *helper = &threads->helpers[i];
		if (helper->track == track)
			continue;
		int64_t until_ns = worked_until(threads, helper, helper->role < role, *t_ns);
		if (until_ns > idle_ns) {
			best = helper;
			idle_ns = until_ns;
		}
	}
	/* After a collective its thread only runs other collectives. */
	if (best && best->role == ROLE_COMM)
		*t_ns = idle_ns;
	return best ? best->track : NO_ROW;
}

/* The thread was in nothing, or in what is no work: what did another one do for it? */
static inline void find_other(struct path_threads *threads, uint32_t track, int64_t t_ns,
			      struct path_moment *moment)
{
	moment->other = NO_ROW;
	moment->other_ns = t_ns;
	if (threads->handed_over_ns != t_ns)
		moment->other = other_thread(threads, track, moment->start_ns, &moment->other_ns);
}

/* Most moments are operators, one in the other, and gaps: those are left behind in one go. */
struct path_moment tsi_path_before(struct path_threads *threads, uint32_t track, int64_t *t_ns,
				   int64_t begin_ns)
{
	if (threads->track != track)
		go_on_with(threads, track);
	for (;;) {
		struct path_moment moment = moment_before(threads, track, *t_ns);
		if (moment.is_data || (moment.is_work && moment.span_class == TSCOPE_SPAN_RUNTIME))
			return moment;
		if (!moment.is_work)
			find_other(threads, track, *t_ns, &moment);
		if (moment.other != NO_ROW || moment.start_ns <= begin_ns)
			return moment;
		put(threads, track, &moment, (struct interval){ moment.start_ns, *t_ns });
		*t_ns = moment.start_ns;
	}
}
