/* SPDX-License-Identifier: MIT */
#include "run/rank_file.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "config.h"

#if HAVE_ZSTD
#include <zstd.h>
#endif

static const char magic[] = "\x89TSR\r\n\x1a\n";

enum {
	HEAD_BYTES = RANK_MAGIC_BYTES + 8,
	FRAME_HEAD_BYTES = 16,
	END_BYTES = 8,
	MAX_FRAMES = 1 << 12,
	ZSTD_LEVEL = 4, /* 9 takes three times the work, and up to 8 % of a map, for 3 % less */
};

bool tsi_is_rank_file(struct str head)
{
	return tsi_str_has_prefix(head, (struct str){ magic, RANK_MAGIC_BYTES });
}

const char *tsi_rank_frame_name(enum rank_frame_kind kind)
{
	static const char *const names[RANK_FRAME_KIND_COUNT] = { "end", "head", "steps", "log",
								  "facts" };

	return names[kind];
}

static void put_u32(unsigned char *at, uint32_t number)
{
	for (unsigned i = 0; i < sizeof(number); i++)
		at[i] = (unsigned char)(number >> (8 * i));
}

static uint32_t get_u32(const char *at)
{
	uint32_t number = 0;

	for (unsigned i = 0; i < sizeof(number); i++)
		number |= (uint32_t)(unsigned char)at[i] << (8 * i);
	return number;
}

/* ---- writing ---- */

void tsi_rank_writer_deinit(struct rank_writer *writer)
{
	free(writer->bytes);
	*writer = (struct rank_writer){ 0 };
}

static unsigned char *append(struct rank_writer *writer, size_t count, struct tscope_error *err)
{
	if (tsi_array_reserve(&writer->bytes, &writer->capacity, writer->count + count, 1, err) !=
	    TSCOPE_OK)
		return NULL;
	writer->count += count;
	return writer->bytes + writer->count - count;
}

enum tscope_status tsi_rank_writer_begin(struct rank_writer *writer, uint32_t schema,
					 struct tscope_error *err)
{
	unsigned char *head = append(writer, HEAD_BYTES, err);

	if (!head)
		return TSCOPE_E_NOMEM;
	memcpy(head, magic, RANK_MAGIC_BYTES);
	put_u32(head + RANK_MAGIC_BYTES, RANK_FILE_VERSION);
	put_u32(head + RANK_MAGIC_BYTES + 4, schema);
	return TSCOPE_OK;
}

static void put_frame_head(unsigned char *at, enum rank_frame_kind kind, size_t stored_bytes,
			   size_t plain_bytes)
{
	put_u32(at, kind);
	put_u32(at + 4, (uint32_t)stored_bytes);
	put_u32(at + 8, (uint32_t)plain_bytes);
	put_u32(at + 12, tsi_crc32c(0, at + FRAME_HEAD_BYTES, stored_bytes));
}

enum tscope_status tsi_rank_writer_end(struct rank_writer *writer, struct tscope_error *err)
{
	uint32_t crc = tsi_crc32c(0, writer->bytes, writer->count);
	unsigned char *frame = append(writer, FRAME_HEAD_BYTES + END_BYTES, err);

	if (!frame)
		return TSCOPE_E_NOMEM;
	put_u32(frame + FRAME_HEAD_BYTES, writer->frame_count);
	put_u32(frame + FRAME_HEAD_BYTES + 4, crc);
	put_frame_head(frame, RANK_FRAME_END, END_BYTES, END_BYTES);
	return TSCOPE_OK;
}

#if HAVE_ZSTD
/*
 * Returns the bytes written, 0 if memory is short: there is room for all. The level itself has this
 * strategy for most sizes; a static program has no other (cli/static.ld).
 */
static size_t compress(unsigned char *stored, size_t room, struct str plain)
{
	ZSTD_CCtx *compressor = ZSTD_createCCtx();
	size_t bytes;

	if (!compressor)
		return 0;
	ZSTD_CCtx_setParameter(compressor, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(compressor, ZSTD_c_strategy, ZSTD_dfast);
	bytes = ZSTD_compress2(compressor, stored, room, plain.data, plain.length);
	ZSTD_freeCCtx(compressor);
	return ZSTD_isError(bytes) ? 0 : bytes;
}

enum tscope_status tsi_rank_writer_add(struct rank_writer *writer, enum rank_frame_kind kind,
				       struct str plain, struct tscope_error *err)
{
	if (plain.length > RANK_FRAME_MAX_BYTES)
		return tsi_fail(err, TSCOPE_E_LIMIT, "%zu bytes of %s (limit: %d)", plain.length,
				tsi_rank_frame_name(kind), RANK_FRAME_MAX_BYTES);
	size_t room = ZSTD_compressBound(plain.length), before = writer->count;
	unsigned char *frame = append(writer, FRAME_HEAD_BYTES + room, err);

	if (!frame)
		return TSCOPE_E_NOMEM;
	size_t stored = compress(frame + FRAME_HEAD_BYTES, room, plain);
	if (stored == 0)
		return tsi_fail_nomem(err);
	put_frame_head(frame, kind, stored, plain.length);
	writer->count = before + FRAME_HEAD_BYTES + stored;
	writer->frame_count++;
	return TSCOPE_OK;
}

static enum tscope_status unpack(const struct rank_frame *frame, char *plain,
				 struct tscope_error *err)
{
	size_t got = ZSTD_decompress(plain, frame->plain_bytes, frame->stored.data,
				     frame->stored.length);

	if (ZSTD_isError(got) || got != frame->plain_bytes)
		return tsi_fail_at(err, TSCOPE_E_DAMAGED, frame->offset, "%s: %s",
				   tsi_rank_frame_name(frame->kind),
				   ZSTD_isError(got) ? ZSTD_getErrorName(got)
						     : "shorter than it says");
	return TSCOPE_OK;
}
#else
static enum tscope_status fail_zstd(struct tscope_error *err)
{
	return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
			"this build has no zstd, which .tsr files are made of: build tscope with "
			"libzstd-dev");
}

enum tscope_status tsi_rank_writer_add(struct rank_writer *writer, enum rank_frame_kind kind,
				       struct str plain, struct tscope_error *err)
{
	(void)writer;
	(void)kind;
	(void)plain;
	return fail_zstd(err);
}

static enum tscope_status unpack(const struct rank_frame *frame, char *plain,
				 struct tscope_error *err)
{
	(void)frame;
	(void)plain;
	return fail_zstd(err);
}
#endif

/* ---- reading ---- */

/* The frame at an offset, where all of it is there. */
static bool frame_at(struct str record, size_t offset, struct rank_frame *frame)
{
	if (offset > record.length || record.length - offset < FRAME_HEAD_BYTES)
		return false;
	const char *at = record.data + offset;
	uint32_t kind = get_u32(at), stored = get_u32(at + 4);

	if (kind >= RANK_FRAME_KIND_COUNT || record.length - offset - FRAME_HEAD_BYTES < stored)
		return false;
	*frame = (struct rank_frame){
		.kind = (enum rank_frame_kind)kind,
		.offset = offset,
		.stored = { at + FRAME_HEAD_BYTES, stored },
		.plain_bytes = get_u32(at + 8),
	};
	return true;
}

static size_t end_of(const struct rank_frame *frame)
{
	return frame->offset + FRAME_HEAD_BYTES + frame->stored.length;
}

bool tsi_rank_frame_first(struct str record, struct rank_frame *frame)
{
	return frame_at(record, HEAD_BYTES, frame) && frame->kind != RANK_FRAME_END;
}

bool tsi_rank_frame_next(struct str record, struct rank_frame *frame)
{
	return frame_at(record, end_of(frame), frame) && frame->kind != RANK_FRAME_END;
}

static enum tscope_status check_head(struct str bytes, uint32_t schema, struct tscope_error *err)
{
	if (!tsi_is_rank_file(bytes))
		return tsi_fail_at(err, TSCOPE_E_DAMAGED, 0, "no record begins here");
	if (bytes.length < HEAD_BYTES)
		return tsi_fail_at(err, TSCOPE_E_DAMAGED, bytes.length, "ends inside its head");
	uint32_t version = get_u32(bytes.data + RANK_MAGIC_BYTES);
	if (version != RANK_FILE_VERSION)
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
				"version %u of the format, this is %d: map again with this tscope",
				version, RANK_FILE_VERSION);
	if (get_u32(bytes.data + RANK_MAGIC_BYTES + 4) != schema)
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
				"mapped by a tscope with other facts: map again with this one");
	return TSCOPE_OK;
}

static enum tscope_status check_frame(const struct rank_frame *frame, struct tscope_error *err)
{
	if (get_u32(frame->stored.data - 4) !=
	    tsi_crc32c(0, frame->stored.data, frame->stored.length))
		return tsi_fail_at(err, TSCOPE_E_DAMAGED, frame->offset, "%s: wrong checksum",
				   tsi_rank_frame_name(frame->kind));
	if (frame->plain_bytes > RANK_FRAME_MAX_BYTES ||
	    frame->plain_bytes / RANK_FRAME_MAX_RATIO > frame->stored.length)
		return tsi_fail_at(err, TSCOPE_E_LIMIT, frame->offset,
				   "%s: %zu bytes of %zu are more than a frame may hold",
				   tsi_rank_frame_name(frame->kind), frame->plain_bytes,
				   frame->stored.length);
	return TSCOPE_OK;
}

static enum tscope_status check_end(struct str bytes, const struct rank_frame *end,
				    size_t frame_count, struct tscope_error *err)
{
	if (end->stored.length != END_BYTES || end->plain_bytes != END_BYTES ||
	    get_u32(end->stored.data) != frame_count ||
	    get_u32(end->stored.data + 4) != tsi_crc32c(0, bytes.data, end->offset))
		return tsi_fail_at(err, TSCOPE_E_DAMAGED, end->offset,
				   "its end does not fit what comes before it");
	return TSCOPE_OK;
}

enum tscope_status tsi_rank_record_measure(struct str bytes, uint32_t schema, size_t *length,
					   struct tscope_error *err)
{
	enum tscope_status status = check_head(bytes, schema, err);
	struct rank_frame frame;
	size_t offset = HEAD_BYTES;

	for (size_t i = 0; status == TSCOPE_OK; i++) {
		if (i > MAX_FRAMES || !frame_at(bytes, offset, &frame))
			return tsi_fail_at(err, TSCOPE_E_DAMAGED, offset,
					   "ends inside frame %zu, or is damaged", i + 1);
		offset = end_of(&frame);
		status = check_frame(&frame, err);
		if (status != TSCOPE_OK || frame.kind != RANK_FRAME_END)
			continue;
		*length = offset;
		return check_end(bytes, &frame, i, err);
	}
	return status;
}

enum tscope_status tsi_rank_frame_unpack(const struct rank_frame *frame, struct str *plain,
					 struct arena *arena, struct tscope_error *err)
{
	char *room = tsi_arena_new(arena, frame->plain_bytes, 1);
	enum tscope_status status = tsi_arena_status(arena, err);

	if (status == TSCOPE_OK)
		status = unpack(frame, room, err);
	if (status == TSCOPE_OK)
		*plain = (struct str){ room, frame->plain_bytes };
	return status;
}
