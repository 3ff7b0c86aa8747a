/* SPDX-License-Identifier: MIT */
/*
 * Filter: gzip (RFC 1952). Header and trailer of a member are read here, the
 * deflate data between them by inflate.h.
 */
#include "input/filter.h"

#include "config.h"

static const char magic[] = "\x1f\x8b";

#if HAVE_ISAL || HAVE_ZLIB

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "input/inflate.h"

enum {
	HEADER_BYTES = 10,
	TRAILER_BYTES = 8,
	METHOD_DEFLATE = 8,
	BGZF_SIZE_AT = HEADER_BYTES + 6,
	BGZF_HEADER_BYTES = BGZF_SIZE_AT + 2,
	BGZF_DATA_BYTES_MAX = 64 * 1024,
};

enum header_flags {
	FLAG_HEADER_CRC = 0x02,
	FLAG_EXTRA = 0x04,
	FLAG_NAME = 0x08,
	FLAG_COMMENT = 0x10,
	FLAGS_RESERVED = 0xe0,
};

struct gzip {
	struct inflate *inflate;
	uint32_t header_crc;
	uint32_t crc;  /* of the data of this member so far */
	uint32_t size; /* its length, modulo 2^32 as in the trailer */
};

static uint32_t load16(const unsigned char *p)
{
	return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t load32(const unsigned char *p)
{
	return load16(p) | load16(p + 2) << 16;
}

static enum tscope_status fail_corrupt(struct tscope_error *err, const char *what)
{
	return tsi_fail(err, TSCOPE_E_DAMAGED, "corrupt: %s", what);
}

static enum tscope_status open_gzip(void **codec, struct tscope_error *err)
{
	struct gzip *gzip = calloc(1, sizeof(*gzip));
	if (!gzip)
		return tsi_fail_nomem(err);
	enum tscope_status status = tsi_inflate_new(&gzip->inflate, err);
	if (status != TSCOPE_OK) {
		free(gzip);
		return status;
	}
	*codec = gzip;
	return TSCOPE_OK;
}

static void close_gzip(void *codec)
{
	struct gzip *gzip = codec;
	tsi_inflate_free(gzip->inflate);
	free(gzip);
}

/* Moves on inside the header, whose own checksum covers every byte of it. */
static void take(struct gzip *gzip, struct window *from, const unsigned char *data, size_t count)
{
	gzip->header_crc = tsi_inflate_crc32(gzip->inflate, gzip->header_crc, data, count);
	tsi_window_consume(from, count);
}

static enum tscope_status skip_extra(struct gzip *gzip, struct window *from,
				     struct tscope_error *err)
{
	const unsigned char *data;
	enum tscope_status status = tsi_filter_need(from, 2, &data, err);
	if (status != TSCOPE_OK)
		return status;
	size_t length = load16(data);
	take(gzip, from, data, 2);
	status = tsi_filter_need(from, length, &data, err);
	if (status == TSCOPE_OK)
		take(gzip, from, data, length);
	return status;
}

/* A file name or a comment: any length, up to and with its NUL. */
static enum tscope_status skip_text(struct gzip *gzip, struct window *from,
				    struct tscope_error *err)
{
	bool is_over = false;
	while (!is_over) {
		const unsigned char *data;
		enum tscope_status status = tsi_filter_need(from, 1, &data, err);
		if (status != TSCOPE_OK)
			return status;
		is_over = *data == '\0';
		take(gzip, from, data, 1);
	}
	return TSCOPE_OK;
}

static enum tscope_status check_header_crc(const struct gzip *gzip, struct window *from,
					   struct tscope_error *err)
{
	const unsigned char *data;
	enum tscope_status status = tsi_filter_need(from, 2, &data, err);
	if (status != TSCOPE_OK)
		return status;
	if (load16(data) != (gzip->header_crc & 0xffff))
		return fail_corrupt(err, "the checksum of the header does not match");
	tsi_window_consume(from, 2);
	return TSCOPE_OK;
}

static enum tscope_status begin_gzip(void *codec, struct window *from, struct tscope_error *err)
{
	struct gzip *gzip = codec;
	const unsigned char *data;
	enum tscope_status status = tsi_filter_need(from, HEADER_BYTES, &data, err);
	if (status != TSCOPE_OK)
		return status;
	unsigned flags = data[3];
	if (data[2] != METHOD_DEFLATE)
		return fail_corrupt(err, "unknown method in the header");
	if (flags & FLAGS_RESERVED)
		return fail_corrupt(err, "unknown flags in the header");

	gzip->header_crc = 0;
	gzip->size = 0;
	gzip->crc = 0;
	tsi_inflate_reset(gzip->inflate);
	take(gzip, from, data, HEADER_BYTES);
	if (flags & FLAG_EXTRA)
		status = skip_extra(gzip, from, err);
	if (status == TSCOPE_OK && (flags & FLAG_NAME))
		status = skip_text(gzip, from, err);
	if (status == TSCOPE_OK && (flags & FLAG_COMMENT))
		status = skip_text(gzip, from, err);
	if (status == TSCOPE_OK && (flags & FLAG_HEADER_CRC))
		status = check_header_crc(gzip, from, err);
	return status;
}

static enum tscope_status decode_gzip(void *codec, struct filter_io *io, struct tscope_error *err)
{
	struct gzip *gzip = codec;
	const char *out = io->out;
	enum tscope_status status = tsi_inflate_decode(gzip->inflate, io, &gzip->crc, err);
	gzip->size += (uint32_t)(io->out - out);
	return status;
}

/* The trailer begins with what inflate has taken too much. */
static enum tscope_status end_gzip(void *codec, struct window *from, struct tscope_error *err)
{
	struct gzip *gzip = codec;
	unsigned char trailer[TRAILER_BYTES];
	size_t have = tsi_inflate_leftover(gzip->inflate, trailer);
	if (have < TRAILER_BYTES) {
		const unsigned char *data;
		enum tscope_status status = tsi_filter_need(from, TRAILER_BYTES - have, &data, err);
		if (status != TSCOPE_OK)
			return status;
		memcpy(trailer + have, data, TRAILER_BYTES - have);
		tsi_window_consume(from, TRAILER_BYTES - have);
	}
	if (load32(trailer) != gzip->crc)
		return fail_corrupt(err, "the checksum of the data does not match");
	if (load32(trailer + 4) != gzip->size)
		return fail_corrupt(err, "the size of the data does not match");
	return TSCOPE_OK;
}

/*
 * A member does not say how long it is, and what looks like the beginning of
 * the next one may stand in the midst of its data: only decoding shows. But
 * bgzip keeps its members small and says it, in a field of the header that
 * comes first (SAM specification, 4.1). The size of the data ends each.
 */
static struct extent measure_gzip(const unsigned char *data, size_t length)
{
	static const unsigned char field[] = { 6, 0, 'B', 'C', 2, 0 };
	if (length < BGZF_HEADER_BYTES)
		return (struct extent){ .packed_bytes = BGZF_HEADER_BYTES };
	size_t packed_bytes = load16(data + BGZF_SIZE_AT) + (size_t)1;
	if (data[2] != METHOD_DEFLATE || data[3] != FLAG_EXTRA ||
	    memcmp(data + HEADER_BYTES, field, sizeof(field)) != 0 ||
	    packed_bytes < BGZF_HEADER_BYTES + TRAILER_BYTES)
		return (struct extent){ 0 };
	if (packed_bytes > length)
		return (struct extent){ .packed_bytes = packed_bytes };
	size_t output_bytes = load32(data + packed_bytes - 4);
	if (output_bytes > BGZF_DATA_BYTES_MAX)
		return (struct extent){ 0 };
	return (struct extent){ packed_bytes, output_bytes, false };
}

/* The deflate data of a member has to end just before its trailer, which has to be right. */
static bool decode_whole_gzip(void *codec, struct filter_io *io)
{
	struct gzip *gzip = codec;
	const char *end = io->in_end;
	while (io->in < end) {
		const unsigned char *member = (const unsigned char *)io->in;
		struct extent extent = measure_gzip(member, (size_t)(end - io->in));
		const unsigned char *trailer = member + extent.packed_bytes - TRAILER_BYTES;
		unsigned char leftover[INFLATE_LEFTOVER_MAX];
		const char *out = io->out;

		tsi_inflate_reset(gzip->inflate);
		io->in += BGZF_HEADER_BYTES;
		io->in_end = (const char *)trailer + TRAILER_BYTES;
		if (tsi_inflate_decode(gzip->inflate, io, &gzip->crc, NULL) != TSCOPE_END ||
		    io->in != (const char *)trailer + tsi_inflate_leftover(gzip->inflate, leftover))
			return false;
		if (load32(trailer) != gzip->crc || load32(trailer + 4) != (size_t)(io->out - out))
			return false;
		io->in = io->in_end;
	}
	return true;
}

#endif

const struct filter tsi_filter_gzip = {
	.name = "gzip",
	.member = "member",
	.magic = magic,
	.magic_bytes = sizeof(magic) - 1,
#if HAVE_ISAL || HAVE_ZLIB
	.open = open_gzip,
	.close = close_gzip,
	.begin = begin_gzip,
	.decode = decode_gzip,
	.end = end_gzip,
	.measure = measure_gzip,
	.decode_whole = decode_whole_gzip,
#else
	.missing = "this build cannot read it: unpack it first (gzip -dc FILE | tscope trace -), "
		   "or build tscope with zlib1g-dev",
#endif
};
