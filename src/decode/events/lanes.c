/* SPDX-License-Identifier: MIT */
/*
 * The threads and the order of their work. The chunks make a ring: `taken`
 * counts those that a thread has begun with, `passed` those whose text the
 * reader's window has been moved over. Work is of two kinds: join the chunk that
 * is next in order, once it was read and as long as nothing is odd, which one
 * thread can do at a time; or take the next piece of the stream and read it. A
 * thread that finds neither sleeps.
 *
 * The reader's scanner and window and the sink behind it belong to whoever
 * joins, and to the caller's thread between two calls; all that changes besides
 * is looked at within the monitor only.
 */
#include "decode/events/lanes.h"

#include "base/array.h"
#include "base/queue.h"
#include "decode/events/chunk.h"

#include <stdlib.h>

enum {
	SPARE_CHUNKS = 4, /* besides one for each thread: that of the window, and some that wait */
	WAKE_CHUNKS = 3,  /* filled ones that nobody has begun with */
	MAX_DOUBTS = 8,   /* chunks in a row that were not joined, until guessing pauses … */
	DOUBTFUL_CHUNKS = 32, /* … but for one chunk of so many */
};

struct lane {
	struct lanes *lanes;
	struct thread *thread; /* NULL: the caller's */
	struct scanner scanner;
};

struct lanes {
	struct input *in;
	size_t block_bytes;
	bool has_places; /* of the input: each thread gets its bytes by itself */
	uint64_t max_event_bytes;
	unsigned lane_count;
	struct lane *lanes[MAX_KIND_LANES];
	size_t chunk_count;
	struct chunk *chunks; /* the ring */

	struct monitor *monitor;
	uint64_t taken, passed;
	uint64_t filled, begun; /* of a stream without places: with their text, and read of it */
	uint64_t next_offset;   /* of the next chunk to take, in the stream */
	bool is_filling;        /* somebody takes bytes from an input without places */
	bool is_over;           /* nothing to take any more */
	bool is_stopped;
	bool may_join, is_joining;
	struct boundary boundary;
	unsigned doubts; /* chunks in a row that were not joined */

	struct scanner *reader;
	char *gathered; /* the window, where it is larger than a chunk */
	size_t gathered_capacity;
	enum tscope_status ending; /* what comes behind the window, if the stream ends there */
	struct tscope_error ending_err;
	enum scan_result outcome; /* of joining */
	struct tscope_error err;
};

static size_t shown(const struct scanner *reader)
{
	return (size_t)(reader->end - reader->at);
}

static struct chunk *chunk_at(struct lanes *lanes, uint64_t number)
{
	return &lanes->chunks[number % lanes->chunk_count];
}

/* ---- reading a chunk ----------------------------------------------------------------- */

static void fill_from_place(struct lanes *lanes, struct chunk *chunk)
{
	chunk->ending = tsi_input_read_at(lanes->in, chunk->offset, chunk->text, lanes->block_bytes,
					  &chunk->length, &chunk->ending_err);
	if (chunk->ending == TSCOPE_OK && chunk->length < lanes->block_bytes)
		chunk->ending = TSCOPE_END;
}

static void fill_in_order(struct lanes *lanes, struct chunk *chunk)
{
	chunk->ending = tsi_input_read(lanes->in, chunk->text, lanes->block_bytes, &chunk->length,
				       &chunk->ending_err);
}

static bool can_take(const struct lanes *lanes)
{
	/* The chunk that was passed last may be what the window shows. */
	return !lanes->is_over && !lanes->is_filling &&
	       lanes->taken - lanes->passed < lanes->chunk_count - 1;
}

static struct chunk *take(struct lanes *lanes, uint64_t *number)
{
	*number = lanes->taken++;
	struct chunk *chunk = chunk_at(lanes, *number);
	chunk->is_ready = false;
	chunk->offset = lanes->next_offset;
	return chunk;
}

static bool is_next_ready(struct lanes *lanes)
{
	return lanes->passed < lanes->taken && chunk_at(lanes, lanes->passed)->is_ready;
}

static bool can_join(struct lanes *lanes)
{
	return lanes->may_join && !lanes->is_joining && is_next_ready(lanes);
}

/*
 * Something was done, and who did it looks for work next. Others are woken where there is more than
 * that, and where the caller's thread may wait for what was done: waking up takes as long as much
 * of this work.
 */
static void wake_others(struct lanes *lanes)
{
	unsigned work = (unsigned)can_take(lanes) + (unsigned)can_join(lanes) +
			(unsigned)(lanes->begun < lanes->filled);
	if (work > 1 || !lanes->may_join)
		tsi_monitor_wake(lanes->monitor);
}

/* Reads the events of a filled chunk; within the monitor, but for the reading itself. */
static void read_events(struct lanes *lanes, uint64_t number, struct scanner *scanner)
{
	struct chunk *chunk = chunk_at(lanes, number);
	struct boundary boundary = lanes->boundary;
	if (lanes->doubts >= MAX_DOUBTS && number % DOUBTFUL_CHUNKS != 0)
		boundary.length = 0;
	tsi_monitor_leave(lanes->monitor);
	tsi_chunk_read(chunk, scanner, &boundary);
	tsi_monitor_enter(lanes->monitor);
	chunk->is_ready = true;
	wake_others(lanes);
}

/* A chunk of an input with places is filled and read by one thread: its text is in its cache. */
static void take_and_read(struct lanes *lanes, struct scanner *scanner)
{
	uint64_t number;
	struct chunk *chunk = take(lanes, &number);
	lanes->next_offset += lanes->block_bytes;
	tsi_monitor_leave(lanes->monitor);
	fill_from_place(lanes, chunk);
	tsi_monitor_enter(lanes->monitor);
	lanes->is_over |= chunk->ending != TSCOPE_OK;
	read_events(lanes, number, scanner);
}

/*
 * Without places the bytes come in order, so decompressing them is what threads cannot share.
 * Who does it goes on as long as there is room, and leaves the reading to others: the longest
 * stage never waits until a thread wakes up.
 */
static void take_and_fill(struct lanes *lanes)
{
	uint64_t number;
	struct chunk *chunk = take(lanes, &number);
	lanes->is_filling = true;
	tsi_monitor_leave(lanes->monitor);
	fill_in_order(lanes, chunk);
	tsi_monitor_enter(lanes->monitor);
	lanes->next_offset += chunk->length;
	lanes->is_filling = false;
	lanes->filled++;
	lanes->is_over |= chunk->ending != TSCOPE_OK;
	/* To wake a thread takes a tenth of the time to fill a chunk: it gets several at once. */
	if (lanes->filled - lanes->begun >= WAKE_CHUNKS || lanes->is_over || !lanes->may_join)
		wake_others(lanes);
}

/* ---- joining ------------------------------------------------------------------------- */

static void pass(struct lanes *lanes, bool is_joined)
{
	lanes->passed++;
	lanes->doubts = is_joined ? 0 : lanes->doubts + 1;
	wake_others(lanes);
}

/* The window becomes the chunk's text behind `tail` bytes from the reader's position on. */
static void move_window(struct lanes *lanes, const struct chunk *chunk, const char *to, size_t tail)
{
	struct scanner *reader = lanes->reader;
	reader->offset += (uint64_t)(reader->at - reader->window);
	reader->at = reader->window = to;
	reader->end = to + tail + chunk->length;
	lanes->ending = chunk->ending;
	lanes->ending_err = chunk->ending_err;
	if (lanes->has_places)
		tsi_input_skip_to(lanes->in, chunk->offset + chunk->length);
}

/* Moves the window to the chunk; what is left of the old one goes in front. */
static void enter(struct lanes *lanes, struct chunk *chunk)
{
	size_t tail = shown(lanes->reader);
	if (tail)
		memcpy(chunk->text - tail, lanes->reader->at, tail);
	move_window(lanes, chunk, chunk->text - tail, tail);
}

/*
 * Would the reader by itself now show one block more, and no other number of
 * them? Its windows stay those that it would have by itself: where a
 * broken element ends may depend on how much of it was shown.
 */
static bool can_enter_next(const struct lanes *lanes)
{
	size_t tail = shown(lanes->reader);
	return lanes->ending == TSCOPE_OK && tail < SMALL_TAIL && tail <= lanes->max_event_bytes;
}

/* Does the reader arrive at the place where the chunk's events begin? */
static bool arrive(struct lanes *lanes, const struct chunk *chunk)
{
	struct scanner *reader = lanes->reader;
	reader->end = chunk->text + chunk->start;
	lanes->outcome = tsi_scan_isa(NULL)->scan(reader, &lanes->err);
	bool is_there = lanes->outcome == SCAN_MORE && reader->at == reader->end;
	reader->end = chunk->text + chunk->length;
	return is_there;
}

/* Goes on in the text of the chunk; true: and behind the events that were read of it. */
static bool join(struct lanes *lanes, struct chunk *chunk, struct scanner *scanner)
{
	lanes->outcome = SCAN_MORE;
	enter(lanes, chunk);
	if (!chunk->has_events || !arrive(lanes, chunk))
		return false;
	lanes->outcome = chunk->result;
	lanes->reader->at = chunk->text + chunk->stop;
	struct event_sink *sink = lanes->reader->sink;
	bool is_stretch = sink->stretch && chunk->result == SCAN_MORE;
	if (is_stretch)
		sink->stretch(sink, chunk->offset + chunk->start, false);
	if (tsi_chunk_hand_on(chunk, scanner, sink, &lanes->err) != TSCOPE_OK)
		lanes->outcome = SCAN_FAILED;
	else if (is_stretch)
		sink->stretch(sink, chunk->offset + chunk->stop, true);
	return true;
}

static void join_next(struct lanes *lanes, struct scanner *scanner)
{
	struct chunk *chunk = chunk_at(lanes, lanes->passed);
	lanes->is_joining = true;
	tsi_monitor_leave(lanes->monitor);
	bool is_joined = join(lanes, chunk, scanner);
	tsi_monitor_enter(lanes->monitor);
	lanes->is_joining = false;
	lanes->may_join = is_joined && lanes->outcome == SCAN_MORE && can_enter_next(lanes);
	pass(lanes, is_joined);
}

/* ---- threads ------------------------------------------------------------------------- */

/* Does what can be done now; within the monitor. */
static void work_or_wait(struct lanes *lanes, struct scanner *scanner)
{
	bool can_take_now = can_take(lanes);
	if (can_take_now && !lanes->has_places)
		take_and_fill(lanes);
	else if (can_join(lanes))
		join_next(lanes, scanner);
	else if (lanes->begun < lanes->filled)
		read_events(lanes, lanes->begun++, scanner);
	else if (can_take_now)
		take_and_read(lanes, scanner);
	else
		tsi_monitor_wait(lanes->monitor);
}

static void run(void *argument)
{
	struct lane *lane = argument;
	struct lanes *lanes = lane->lanes;
	tsi_monitor_enter(lanes->monitor);
	while (!lanes->is_stopped)
		work_or_wait(lanes, &lane->scanner);
	tsi_monitor_leave(lanes->monitor);
}

/* ---- the reader ---------------------------------------------------------------------- */

/* Joins chunks, and reads such as can be joined, as long as that goes. */
static enum scan_result join_chunks(struct lanes *lanes, struct tscope_error *err)
{
	tsi_monitor_enter(lanes->monitor);
	if (lanes->doubts || !lanes->boundary.length)
		tsi_boundary_learn(&lanes->boundary, lanes->reader);
	lanes->may_join = true;
	while (lanes->may_join || lanes->is_joining)
		work_or_wait(lanes, &lanes->lanes[0]->scanner);
	tsi_monitor_leave(lanes->monitor);
	if (lanes->outcome == SCAN_FAILED)
		*err = lanes->err;
	return lanes->outcome;
}

enum scan_result tsi_lanes_scan(struct lanes *lanes, struct tscope_error *err)
{
	for (;;) {
		enum scan_result result = tsi_scan_isa(NULL)->scan(lanes->reader, err);
		if (result != SCAN_MORE || !can_enter_next(lanes))
			return result;
		result = join_chunks(lanes, err);
		if (result == SCAN_CLOSED || result == SCAN_FAILED)
			return result;
	}
}

/* Enters a chunk in front of which there is no room for the tail. */
static enum tscope_status gather(struct lanes *lanes, const struct chunk *chunk,
				 struct tscope_error *err)
{
	struct scanner *reader = lanes->reader;
	size_t tail = shown(reader);
	bool is_elsewhere = reader->window != lanes->gathered;
	if (!is_elsewhere)
		memmove(lanes->gathered, reader->at, tail);
	if (tsi_array_reserve(&lanes->gathered, &lanes->gathered_capacity,
			      tail + chunk->length + TSI_INPUT_PADDING, 1, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (is_elsewhere)
		memcpy(lanes->gathered, reader->at, tail);
	if (chunk->length)
		memcpy(lanes->gathered + tail, chunk->text, chunk->length);
	move_window(lanes, chunk, lanes->gathered, tail);
	return TSCOPE_OK;
}

static struct chunk *wait_for_next(struct lanes *lanes)
{
	tsi_monitor_enter(lanes->monitor);
	while (!is_next_ready(lanes))
		work_or_wait(lanes, &lanes->lanes[0]->scanner);
	tsi_monitor_leave(lanes->monitor);
	return chunk_at(lanes, lanes->passed);
}

enum tscope_status tsi_lanes_show(struct lanes *lanes, size_t min, struct tscope_error *err)
{
	struct scanner *reader = lanes->reader;
	while (shown(reader) < min && lanes->ending == TSCOPE_OK) {
		struct chunk *chunk = wait_for_next(lanes);
		if (shown(reader) <= CHUNK_HEADROOM) {
			enter(lanes, chunk);
		} else if (gather(lanes, chunk, err) != TSCOPE_OK) {
			reader->end = reader->at;
			return TSCOPE_E_NOMEM;
		}
		tsi_monitor_enter(lanes->monitor);
		pass(lanes, false);
		tsi_monitor_leave(lanes->monitor);
	}
	if (shown(reader) >= min)
		return TSCOPE_OK;
	*err = lanes->ending_err;
	return lanes->ending;
}

/* ---- life ---------------------------------------------------------------------------- */

static enum tscope_status add_lane(struct lanes *lanes)
{
	struct lane *lane;
	if (tsi_array_new(&lane, 1, sizeof(*lane), NULL) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	lanes->lanes[lanes->lane_count++] = lane;
	lane->lanes = lanes;
	lane->scanner.max_depth = lanes->reader->max_depth;
	lane->scanner.kinds = tsi_kinds_new(lanes->lane_count, lanes->reader->kinds->lane_count,
					    lanes->reader->sink->arg_of);
	return lane->scanner.kinds ? TSCOPE_OK : TSCOPE_E_NOMEM;
}

static enum tscope_status allocate(struct lanes *lanes, unsigned thread_count)
{
	enum tscope_status status = tsi_monitor_new(&lanes->monitor, NULL);
	lanes->chunk_count = thread_count + SPARE_CHUNKS;
	if (status == TSCOPE_OK)
		status = tsi_array_new(&lanes->chunks, lanes->chunk_count, sizeof(*lanes->chunks),
				       NULL);
	for (size_t i = 0; i < lanes->chunk_count && status == TSCOPE_OK; i++) {
		lanes->chunks[i].sink.arg_of = lanes->reader->sink->arg_of;
		status = tsi_chunk_init(&lanes->chunks[i], lanes->block_bytes, NULL);
	}
	while (lanes->lane_count < thread_count && status == TSCOPE_OK)
		status = add_lane(lanes);
	if (status == TSCOPE_OK)
		status = tsi_array_reserve(&lanes->gathered, &lanes->gathered_capacity,
					   shown(lanes->reader) + TSI_INPUT_PADDING, 1, NULL);
	return status;
}

/* The rest of the input's window becomes ours, and more follows it. */
static void take_over(struct lanes *lanes)
{
	struct scanner *reader = lanes->reader;
	size_t tail = shown(reader);
	if (tail)
		memcpy(lanes->gathered, reader->at, tail);
	tsi_input_consume(lanes->in, (size_t)(reader->end - reader->window));
	lanes->next_offset = tsi_input_offset(lanes->in);
	reader->offset += (uint64_t)(reader->at - reader->window);
	reader->at = reader->window = lanes->gathered;
	reader->end = lanes->gathered + tail;
}

/* As many threads as can be had; false: none. They begin when the reader is with us. */
static bool start(struct lanes *lanes)
{
	unsigned started = 0;
	tsi_monitor_enter(lanes->monitor);
	for (unsigned i = 1; i < lanes->lane_count; i++) {
		struct lane *lane = lanes->lanes[i];
		started += tsi_thread_start(&lane->thread, run, lane, NULL) == TSCOPE_OK;
	}
	if (started) {
		tsi_boundary_learn(&lanes->boundary, lanes->reader);
		take_over(lanes);
	}
	tsi_monitor_leave(lanes->monitor);
	return started;
}

static void stop(struct lanes *lanes)
{
	if (lanes->monitor) {
		tsi_monitor_enter(lanes->monitor);
		lanes->is_stopped = true;
		tsi_monitor_wake(lanes->monitor);
		tsi_monitor_leave(lanes->monitor);
	}
	for (unsigned i = 0; i < lanes->lane_count; i++) {
		if (lanes->lanes[i]->thread)
			tsi_thread_join(lanes->lanes[i]->thread);
		tsi_kinds_free(lanes->lanes[i]->scanner.kinds);
		free(lanes->lanes[i]);
	}
}

static void free_all(struct lanes *lanes)
{
	stop(lanes);
	for (size_t i = 0; lanes->chunks && i < lanes->chunk_count; i++)
		tsi_chunk_deinit(&lanes->chunks[i]);
	free(lanes->chunks);
	free(lanes->gathered);
	tsi_monitor_free(lanes->monitor);
	free(lanes);
}

struct lanes *tsi_lanes_start(struct input *in, struct scanner *reader,
			      const struct lanes_options *options)
{
	struct lanes *lanes;
	if (tsi_array_new(&lanes, 1, sizeof(*lanes), NULL) != TSCOPE_OK)
		return NULL;
	lanes->in = in;
	lanes->reader = reader;
	lanes->block_bytes = tsi_input_block_bytes(in);
	lanes->has_places = tsi_input_has_places(in);
	lanes->max_event_bytes = options->max_event_bytes;
	if (allocate(lanes, tsi_lane_count(options->thread_count)) == TSCOPE_OK && start(lanes))
		return lanes;
	free_all(lanes);
	return NULL;
}

void tsi_lanes_free(struct lanes *lanes)
{
	if (!lanes)
		return;
	const struct scanner *reader = lanes->reader;
	struct input *in = lanes->in;
	uint64_t shown_end = reader->offset + (uint64_t)(reader->end - reader->window);
	tsi_input_stop(in); /* somebody may be waiting for a pipe */
	free_all(lanes);
	tsi_input_skip_to(in, shown_end);
}
