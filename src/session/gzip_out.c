/* SPDX-License-Identifier: MIT */
#include "session/gzip_out.h"

#include "base/error.h"
#include "config.h"

#include <stdlib.h>

#if HAVE_ZLIB
#include <zlib.h>
#endif

enum { BLOCK_BYTES = 64 * 1024 };

struct gzip_out {
	FILE *out;
	bool compress, has_failed;
#if HAVE_ZLIB
	z_stream stream;
#endif
	size_t held;
	unsigned char bytes[BLOCK_BYTES], packed[BLOCK_BYTES];
};

#if HAVE_ZLIB

/* Slices are looked at once: speed counts more than size. */
static bool begin_deflate(struct gzip_out *gzip)
{
	enum { GZIP = 16 };

	return deflateInit2(&gzip->stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS | GZIP,
			    MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
}

static void deflate_block(struct gzip_out *gzip, int flush)
{
	gzip->stream.next_in = gzip->bytes;
	gzip->stream.avail_in = (unsigned)gzip->held;
	do {
		gzip->stream.next_out = gzip->packed;
		gzip->stream.avail_out = BLOCK_BYTES;
		gzip->has_failed |= deflate(&gzip->stream, flush) == Z_STREAM_ERROR;
		fwrite(gzip->packed, 1, BLOCK_BYTES - gzip->stream.avail_out, gzip->out);
	} while (gzip->stream.avail_out == 0);
}

static void write_packed(struct gzip_out *gzip, bool is_last)
{
	deflate_block(gzip, is_last ? Z_FINISH : Z_NO_FLUSH);
	if (is_last)
		deflateEnd(&gzip->stream);
}

#else

static bool begin_deflate(struct gzip_out *gzip)
{
	(void)gzip;
	return false;
}

static void write_packed(struct gzip_out *gzip, bool is_last)
{
	(void)gzip;
	(void)is_last;
}

#endif

enum tscope_status tsi_gzip_open(struct gzip_out **ret, FILE *out, bool compress,
				 struct tscope_error *err)
{
	struct gzip_out *gzip;

	if (compress && !HAVE_ZLIB)
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
				"this build cannot write gzip: give a name without .gz");
	gzip = calloc(1, sizeof(*gzip));
	if (!gzip)
		return tsi_fail_nomem(err);
	gzip->out = out;
	gzip->compress = compress;
	if (compress && !begin_deflate(gzip)) {
		free(gzip);
		return tsi_fail_nomem(err);
	}
	*ret = gzip;
	return TSCOPE_OK;
}

static void flush_block(struct gzip_out *gzip, bool is_last)
{
	if (gzip->compress)
		write_packed(gzip, is_last);
	else
		fwrite(gzip->bytes, 1, gzip->held, gzip->out);
	gzip->held = 0;
}

void tsi_gzip_put(struct gzip_out *gzip, struct str bytes)
{
	while (bytes.length > 0) {
		size_t room = BLOCK_BYTES - gzip->held;
		size_t count = bytes.length < room ? bytes.length : room;

		memcpy(gzip->bytes + gzip->held, bytes.data, count);
		gzip->held += count;
		bytes.data += count;
		bytes.length -= count;
		if (gzip->held == BLOCK_BYTES)
			flush_block(gzip, false);
	}
}

enum tscope_status tsi_gzip_close(struct gzip_out *gzip, struct tscope_error *err)
{
	bool is_written;

	flush_block(gzip, true);
	is_written = !ferror(gzip->out) && !gzip->has_failed;
	free(gzip);
	return is_written ? TSCOPE_OK : tsi_fail(err, TSCOPE_E_WRITE, "cannot write the slice");
}
