/* SPDX-License-Identifier: MIT */
/*
 * A filter at work: takes compressed bytes from the window before it and gives
 * decompressed ones to the window behind it. Here is all that filters have in
 * common, which is everything but the decoding of one member.
 */
#include "input/filter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "input/frames.h"

/* Small inputs may have any ratio: a few constant blocks are no attack. */
#define RATIO_CHECKED_FROM_BYTES (UINT64_C(64) << 20)

enum {
	SKIPPABLE_HEADER_BYTES = 8, /* magic, size */
	/* A source with less left is decoded before threads have begun. */
	FRAMES_FROM_BLOCKS = 4,
};

struct stage {
	struct reader reader;
	const struct filter *filter;
	void *codec;
	struct window *from;
	struct flow *flow;
	struct frames *frames; /* threads that decode the next members; NULL: none */
	bool had_frames;       /* once only */
	bool in_member;
	uint64_t member_count;  /* begun so far */
	uint64_t member_offset; /* where the last one begins */
	uint64_t output_bytes;
};

static enum tscope_status fail_truncated(const struct window *from, size_t available,
					 struct tscope_error *err)
{
	return tsi_fail_at(err, TSCOPE_E_DAMAGED, tsi_window_offset(from) + available, "truncated");
}

enum tscope_status tsi_filter_need(struct window *from, size_t count, const unsigned char **data,
				   struct tscope_error *err)
{
	const char *bytes;
	size_t available;
	enum tscope_status status = tsi_window_peek(from, count, &bytes, &available, err);
	if (status == TSCOPE_END)
		return fail_truncated(from, available, err);
	*data = (const unsigned char *)bytes;
	return status;
}

static enum tscope_status skip_bytes(struct window *from, uint64_t count, struct tscope_error *err)
{
	while (count) {
		const char *data;
		size_t available;
		enum tscope_status status = tsi_window_peek(from, 1, &data, &available, err);
		if (status == TSCOPE_END)
			return fail_truncated(from, available, err);
		if (status != TSCOPE_OK)
			return status;
		size_t skipped = available < count ? available : (size_t)count;
		tsi_window_consume(from, skipped);
		count -= skipped;
	}
	return TSCOPE_OK;
}

/* 50..5f 2a 4d 18, then the size of what follows, both little endian. */
static bool is_skippable(const unsigned char *header)
{
	return (header[0] & 0xf0) == 0x50 && memcmp(header + 1, "\x2a\x4d\x18", 3) == 0;
}

static uint64_t skippable_bytes(const unsigned char *header)
{
	return SKIPPABLE_HEADER_BYTES + (header[4] | (uint64_t)header[5] << 8 |
					 (uint64_t)header[6] << 16 | (uint64_t)header[7] << 24);
}

enum tscope_status tsi_filter_skip_frames(struct window *from, struct tscope_error *err)
{
	for (;;) {
		const char *data;
		size_t available;
		enum tscope_status status =
			tsi_window_peek(from, SKIPPABLE_HEADER_BYTES, &data, &available, err);
		const unsigned char *header = (const unsigned char *)data;
		if (status == TSCOPE_E_NOMEM)
			return status;
		if (available < 4 || !is_skippable(header))
			return TSCOPE_OK; /* whoever looks next sees what is there instead */
		if (status == TSCOPE_END)
			return fail_truncated(from, available, err);
		if (status != TSCOPE_OK)
			return status;
		status = skip_bytes(from, skippable_bytes(header), err);
		if (status != TSCOPE_OK)
			return status;
	}
}

struct extent tsi_filter_measure(const struct filter *filter, const unsigned char *data,
				 size_t length)
{
	if (length < SKIPPABLE_HEADER_BYTES)
		return (struct extent){ .packed_bytes = SKIPPABLE_HEADER_BYTES };
	if (filter->has_skippable_frames && is_skippable(data))
		return (struct extent){ (size_t)skippable_bytes(data), 0, true };
	if (memcmp(data, filter->magic, filter->magic_bytes) != 0)
		return (struct extent){ 0 };
	return filter->measure(data, length);
}

static bool is_padding(const char *data, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (data[i] != '\0' && data[i] != '\n' && data[i] != '\r' && data[i] != ' ')
			return false;
	return true;
}

/*
 * Reads and counts the padding behind the last member. Anything else may be a further member whose
 * magic is damaged, or a file that was appended to this one.
 */
static enum tscope_status skip_trailing(struct stage *stage, struct tscope_error *err)
{
	uint64_t offset = tsi_window_offset(stage->from);
	bool is_all_padding = true;

	for (;;) {
		const char *data;
		size_t available;
		enum tscope_status status = tsi_window_peek(stage->from, 1, &data, &available, err);
		if (status == TSCOPE_END && !is_all_padding)
			return tsi_fail_at(err, TSCOPE_E_DAMAGED, offset,
					   "followed by bytes that are no %s", stage->filter->name);
		if (status != TSCOPE_OK)
			return status;
		is_all_padding = is_all_padding && is_padding(data, available);
		tsi_window_consume(stage->from, available);
		atomic_fetch_add(&stage->flow->trailing_bytes, available);
	}
}

/* TSCOPE_END: there is no further member. */
static enum tscope_status begin_member(struct stage *stage, struct tscope_error *err)
{
	const struct filter *filter = stage->filter;
	enum tscope_status status = TSCOPE_OK;
	if (filter->has_skippable_frames)
		status = tsi_filter_skip_frames(stage->from, err);
	if (status != TSCOPE_OK)
		return status;

	const char *data;
	size_t available;
	status = tsi_window_peek(stage->from, filter->magic_bytes, &data, &available, err);
	if (status < 0 || available == 0)
		return status;
	bool is_whole = available >= filter->magic_bytes;
	if (memcmp(data, filter->magic, is_whole ? filter->magic_bytes : available) != 0)
		return skip_trailing(stage, err);
	stage->member_count++;
	stage->member_offset = tsi_window_offset(stage->from);
	if (!is_whole)
		return fail_truncated(stage->from, available, err);
	status = filter->begin(stage->codec, stage->from, err);
	stage->in_member = status == TSCOPE_OK;
	return status;
}

static enum tscope_status end_member(struct stage *stage, struct tscope_error *err)
{
	stage->in_member = false;
	if (!stage->filter->end)
		return TSCOPE_OK;
	return stage->filter->end(stage->codec, stage->from, err);
}

static enum tscope_status decode_some(struct stage *stage, struct filter_io *io,
				      struct tscope_error *err)
{
	const char *data;
	size_t available;
	enum tscope_status supply = tsi_window_peek(stage->from, 1, &data, &available, err);
	const char *out = io->out;
	io->in = data;
	io->in_end = data + available;
	enum tscope_status status = stage->filter->decode(stage->codec, io, err);
	tsi_window_consume(stage->from, (size_t)(io->in - data));

	if (status == TSCOPE_END)
		return end_member(stage, err);
	if (status != TSCOPE_OK)
		return status;
	if (io->in != data || io->out != out)
		return TSCOPE_OK;
	if (supply == TSCOPE_END)
		return fail_truncated(stage->from, 0, err);
	if (supply != TSCOPE_OK)
		return supply;
	return tsi_fail(err, TSCOPE_E_INTERNAL, "the decoder does not move on");
}

/* Counts what was decoded; may cut *got at the limit. */
static enum tscope_status keep_limits(struct stage *stage, size_t *got, struct tscope_error *err)
{
	const struct flow *flow = stage->flow;
	stage->output_bytes += *got;
	if (stage->output_bytes > flow->max_output_bytes) {
		*got -= (size_t)(stage->output_bytes - flow->max_output_bytes);
		return tsi_fail(err, TSCOPE_E_LIMIT,
				"more than %" PRIu64 " bytes (limit: decompressed bytes)",
				flow->max_output_bytes);
	}
	if (stage->output_bytes > RATIO_CHECKED_FROM_BYTES &&
	    stage->output_bytes / flow->max_ratio > atomic_load(&flow->source_bytes))
		return tsi_fail(err, TSCOPE_E_LIMIT,
				"grows to more than %" PRIu64
				" times its size (limit: decompression ratio)",
				flow->max_ratio);
	return TSCOPE_OK;
}

/*
 * "gzip member 2: ...". Decoders do not agree on how many bytes they take until
 * they see damage, so its place is the start of the member, unless known better.
 */
static void name_member(const struct stage *stage, struct tscope_error *err)
{
	if (err && err->status == TSCOPE_E_DAMAGED && !err->has_offset) {
		err->has_offset = true;
		err->offset = stage->member_offset;
	}
	tsi_fail_within(err, "%s %s %" PRIu64, stage->filter->name, stage->filter->member,
			stage->member_count);
}

/* Behind the first member it shows that there are several: threads may decode the next ones. */
static void start_frames(struct stage *stage, uint64_t output_bytes)
{
	struct flow *flow = stage->flow;
	uint64_t offset = tsi_window_offset(stage->from);
	if (stage->member_count == 0 || stage->had_frames ||
	    flow->source_size_bytes < offset + FRAMES_FROM_BLOCKS * (uint64_t)flow->block_bytes)
		return;
	stage->had_frames = true;
	stage->frames = tsi_frames_start(stage->filter, stage->from, flow, output_bytes);
}

/* Goes on alone where the threads have come to. */
static void leave_frames(struct stage *stage)
{
	stage->member_count += tsi_frames_member_count(stage->frames);
	tsi_window_seek(stage->from, tsi_frames_offset(stage->frames));
	tsi_frames_free(stage->frames);
	stage->frames = NULL;
}

static enum tscope_status read_some(struct stage *stage, struct filter_io *io, const char *into,
				    struct tscope_error *err)
{
	if (stage->in_member)
		return decode_some(stage, io, err);
	start_frames(stage, stage->output_bytes + (uint64_t)(io->out - into));
	if (stage->frames && tsi_frames_read(stage->frames, io))
		return TSCOPE_OK;
	if (stage->frames)
		leave_frames(stage);
	return begin_member(stage, err);
}

static enum tscope_status read_stage(struct reader *reader, char *into, size_t room, size_t *got,
				     struct tscope_error *err)
{
	struct stage *stage = (struct stage *)reader;
	struct filter_io io = { .out = into, .out_end = into + room };
	enum tscope_status status = TSCOPE_OK;
	while (status == TSCOPE_OK && io.out < io.out_end)
		status = read_some(stage, &io, into, err);
	*got = (size_t)(io.out - into);

	enum tscope_status limit = keep_limits(stage, got, err);
	if (limit != TSCOPE_OK)
		status = limit;
	if (status < 0)
		name_member(stage, err);
	return status;
}

static void close_stage(struct reader *reader)
{
	struct stage *stage = (struct stage *)reader;
	tsi_frames_free(stage->frames);
	if (stage->codec)
		stage->filter->close(stage->codec);
	tsi_window_free(stage->from);
	free(stage);
}

enum tscope_status tsi_filter_open(struct reader **ret, const struct filter *filter,
				   struct window *from, struct flow *flow, struct tscope_error *err)
{
	struct stage *stage = calloc(1, sizeof(*stage));
	if (!stage) {
		tsi_window_free(from);
		return tsi_fail_nomem(err);
	}
	stage->reader = (struct reader){ .read = read_stage, .close = close_stage };
	stage->filter = filter;
	stage->from = from;
	stage->flow = flow;
	enum tscope_status status = filter->open(&stage->codec, err);
	if (status != TSCOPE_OK) {
		close_stage(&stage->reader);
		return status;
	}
	*ret = &stage->reader;
	return TSCOPE_OK;
}
