/* SPDX-License-Identifier: MIT */
/*
 * The pieces make a ring, in the order of the stream: `taken` counts those that
 * a thread has begun with, `passed` those that the filter has done with. A
 * thread cuts the next piece off the source, by the members' own words about
 * their length, and decodes it outside of the monitor, by a filter of its own.
 * A piece has some small members, or one large one, which is kept whole: that
 * is what limits the size of those that are decoded here.
 */
#include "input/frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/queue.h"

enum {
	MAX_THREADS = 4, /* each has a piece, of 8 MiB where pzstd made it */
	MAX_PIECES = MAX_THREADS + 1,
	MAX_PACKED_BYTES = MEASURED_BYTES_MAX + (1 << 20),
	READ_SHARE = 4, /* of a block is read at a time: as traces are, it becomes four of them */
};

/* Members in a row. */
struct piece {
	uint64_t offset; /* in the source */
	char *packed;
	size_t packed_bytes, read_bytes, packed_capacity; /* read: some of the next ones, too */
	size_t output_bytes;                              /* at most */
	char *data;
	size_t data_bytes, data_capacity;
	uint64_t member_count;
	void *codec; /* of the filter */
	bool is_done, is_good;
};

struct frames {
	const struct filter *filter;
	struct reader *source;
	struct flow *flow;
	struct monitor *monitor;
	struct thread *threads[MAX_THREADS];
	unsigned piece_count;
	struct piece pieces[MAX_PIECES];
	uint64_t next_offset; /* of the next piece, in the source */
	uint64_t taken, passed;
	bool is_over; /* no piece can be cut off any more */
	bool is_stopped;

	/* Used by the filter's thread alone. */
	struct piece *shown; /* the piece that is next to be passed; NULL: not yet */
	size_t shown_at;
	uint64_t offset, member_count, output_bytes; /* behind what was shown */
};

static struct piece *piece_at(struct frames *frames, uint64_t number)
{
	return &frames->pieces[number % frames->piece_count];
}

/* ---- cutting ------------------------------------------------------------------------- */

/* Bytes to read ahead. Those of the next piece are read twice, so no more than a piece has. */
static size_t read_ahead_bytes(const struct frames *frames)
{
	return frames->flow->block_bytes / READ_SHARE + 1;
}

/* Reads on until the piece has at least `needed` packed bytes; false: there are not so many. */
static bool read_packed(struct frames *frames, struct piece *piece, size_t needed)
{
	size_t wanted = needed + read_ahead_bytes(frames);
	if (needed > MAX_PACKED_BYTES || tsi_array_reserve(&piece->packed, &piece->packed_capacity,
							   wanted, 1, NULL) != TSCOPE_OK)
		return false;
	while (piece->read_bytes < needed) {
		size_t got;
		enum tscope_status status = frames->source->read_at(
			frames->source, piece->offset + piece->read_bytes,
			piece->packed + piece->read_bytes, wanted - piece->read_bytes, &got, NULL);
		if (status != TSCOPE_OK || got == 0)
			return false;
		piece->read_bytes += got;
	}
	return true;
}

/* Adds the next member to the piece; false: it cannot be. */
static bool add_member(struct frames *frames, struct piece *piece)
{
	struct extent extent = { .packed_bytes = 1 };
	size_t read_bytes;
	do {
		if (!read_packed(frames, piece, piece->packed_bytes + extent.packed_bytes))
			return false;
		read_bytes = piece->read_bytes - piece->packed_bytes;
		const char *at = piece->packed + piece->packed_bytes;
		extent = tsi_filter_measure(frames->filter, (const unsigned char *)at, read_bytes);
	} while (extent.packed_bytes > read_bytes);
	if (extent.packed_bytes == 0)
		return false;
	piece->packed_bytes += extent.packed_bytes;
	piece->output_bytes += extent.output_bytes;
	piece->member_count += !extent.is_skippable;
	return true;
}

/* Cuts the next piece off; false: no further one can be. */
static bool cut(struct frames *frames, struct piece *piece)
{
	piece->offset = frames->next_offset;
	piece->read_bytes = piece->packed_bytes = piece->output_bytes = 0;
	piece->member_count = 0;
	while (piece->packed_bytes < read_ahead_bytes(frames) &&
	       piece->output_bytes < MEASURED_BYTES_MAX)
		if (!add_member(frames, piece))
			break;
	frames->next_offset += piece->packed_bytes;
	return piece->packed_bytes > 0;
}

/* ---- decoding ------------------------------------------------------------------------ */

/* False also without memory: the filter needs less. */
static bool decode(const struct filter *filter, struct piece *piece)
{
	if (tsi_array_reserve(&piece->data, &piece->data_capacity, piece->output_bytes + 1, 1,
			      NULL) != TSCOPE_OK)
		return false;
	struct filter_io io = { piece->packed, piece->packed + piece->packed_bytes, piece->data,
				piece->data + piece->output_bytes };
	bool is_good = filter->decode_whole(piece->codec, &io);
	piece->data_bytes = (size_t)(io.out - piece->data);
	return is_good;
}

static bool can_take(const struct frames *frames)
{
	return !frames->is_over && frames->taken - frames->passed < frames->piece_count;
}

/* Within the monitor, but for the decoding. */
static void take(struct frames *frames)
{
	struct piece *piece = piece_at(frames, frames->taken);
	if (!cut(frames, piece)) {
		frames->is_over = true;
	} else {
		frames->taken++;
		piece->is_done = false;
		tsi_monitor_leave(frames->monitor);
		bool is_good = decode(frames->filter, piece);
		tsi_monitor_enter(frames->monitor);
		piece->is_done = true;
		piece->is_good = is_good;
		frames->is_over |= !is_good;
	}
	tsi_monitor_wake(frames->monitor);
}

static void run(void *argument)
{
	struct frames *frames = argument;
	tsi_monitor_enter(frames->monitor);
	while (!frames->is_stopped)
		if (can_take(frames))
			take(frames);
		else
			tsi_monitor_wait(frames->monitor);
	tsi_monitor_leave(frames->monitor);
}

/* ---- the filter's side --------------------------------------------------------------- */

/* Waits for the next piece; NULL: there is none, or not a good one. */
static struct piece *wait_for_piece(struct frames *frames)
{
	tsi_monitor_enter(frames->monitor);
	if (frames->shown) {
		frames->passed++;
		tsi_monitor_wake(frames->monitor);
	}
	struct piece *piece = piece_at(frames, frames->passed);
	while (frames->passed < frames->taken ? !piece->is_done : !frames->is_over)
		tsi_monitor_wait(frames->monitor);
	bool is_good = frames->passed < frames->taken && piece->is_good;
	tsi_monitor_leave(frames->monitor);
	return is_good ? piece : NULL;
}

/* Where a limit could be met within the piece, it is the filter that decodes it, up to there. */
static bool is_within_limits(const struct frames *frames, const struct piece *piece)
{
	uint64_t output_bytes = frames->output_bytes + piece->data_bytes;
	return output_bytes <= frames->flow->max_output_bytes &&
	       output_bytes / frames->flow->max_ratio <= piece->offset;
}

static bool show_next(struct frames *frames)
{
	struct piece *piece = wait_for_piece(frames);
	frames->shown = piece;
	if (!piece || !is_within_limits(frames, piece))
		return false;
	frames->shown_at = 0;
	frames->offset = piece->offset + piece->packed_bytes;
	frames->member_count += piece->member_count;
	frames->output_bytes += piece->data_bytes;
	if (atomic_load(&frames->flow->source_bytes) < frames->offset)
		atomic_store(&frames->flow->source_bytes, frames->offset);
	return true;
}

bool tsi_frames_read(struct frames *frames, struct filter_io *io)
{
	if (!frames->shown || frames->shown_at == frames->shown->data_bytes)
		if (!show_next(frames))
			return false;
	const struct piece *piece = frames->shown;
	size_t left = piece->data_bytes - frames->shown_at;
	size_t room = (size_t)(io->out_end - io->out);
	size_t count = left < room ? left : room;
	memcpy(io->out, piece->data + frames->shown_at, count);
	frames->shown_at += count;
	io->out += count;
	return true;
}

uint64_t tsi_frames_offset(const struct frames *frames)
{
	return frames->offset;
}

uint64_t tsi_frames_member_count(const struct frames *frames)
{
	return frames->member_count;
}

/* ---- life ---------------------------------------------------------------------------- */

static bool start(struct frames *frames)
{
	unsigned thread_count = frames->piece_count - 1, started = 0;
	if (tsi_monitor_new(&frames->monitor, NULL) != TSCOPE_OK)
		return false;
	for (unsigned i = 0; i < frames->piece_count; i++)
		if (frames->filter->open(&frames->pieces[i].codec, NULL) != TSCOPE_OK)
			return false;
	while (started < thread_count &&
	       tsi_thread_start(&frames->threads[started], run, frames, NULL) == TSCOPE_OK)
		started++;
	return started > 0;
}

/* Is a member behind the next piece, so that there is something to do meanwhile? */
static bool has_several(struct frames *frames)
{
	struct piece *piece = &frames->pieces[0];
	uint64_t offset = frames->next_offset;
	bool has_piece = cut(frames, piece);
	bool is_last = frames->next_offset >= frames->flow->source_size_bytes;
	frames->next_offset = offset;
	return has_piece && !is_last;
}

struct frames *tsi_frames_start(const struct filter *filter, const struct window *from,
				struct flow *flow, uint64_t output_bytes)
{
	struct reader *source = tsi_window_source(from);
	struct frames *frames;
	if (flow->thread_count < 2 || !source || !filter->measure ||
	    tsi_array_new(&frames, 1, sizeof(*frames), NULL) != TSCOPE_OK)
		return NULL;
	frames->filter = filter;
	frames->source = source;
	frames->flow = flow;
	frames->next_offset = frames->offset = tsi_window_offset(from);
	frames->output_bytes = output_bytes;
	/* One thread is the caller's, and one piece is that which it is given. */
	frames->piece_count = flow->thread_count < MAX_PIECES ? flow->thread_count : MAX_PIECES;
	if (has_several(frames) && start(frames))
		return frames;
	tsi_frames_free(frames);
	return NULL;
}

void tsi_frames_free(struct frames *frames)
{
	if (!frames)
		return;
	if (frames->monitor) {
		tsi_monitor_enter(frames->monitor);
		frames->is_stopped = true;
		tsi_monitor_wake(frames->monitor);
		tsi_monitor_leave(frames->monitor);
	}
	for (unsigned i = 0; i < MAX_THREADS && frames->threads[i]; i++)
		tsi_thread_join(frames->threads[i]);
	for (unsigned i = 0; i < frames->piece_count; i++) {
		struct piece *piece = &frames->pieces[i];
		if (piece->codec)
			frames->filter->close(piece->codec);
		free(piece->packed);
		free(piece->data);
	}
	tsi_monitor_free(frames->monitor);
	free(frames);
}
