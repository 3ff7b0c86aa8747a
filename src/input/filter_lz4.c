/* SPDX-License-Identifier: MIT */
/* Filter: LZ4 frames, by the frame decoder of liblz4. (Legacy frames: see magic.c.) */
#include "input/filter.h"

#include "config.h"

static const char magic[] = "\x04\x22\x4d\x18";

#if HAVE_LZ4

#include <lz4frame.h>
#include <string.h>

#include "base/error.h"

enum {
	FLAGS_AT = 4,
	FLAG_DICTIONARY = 0x01,
};

static enum tscope_status open_lz4(void **codec, struct tscope_error *err)
{
	LZ4F_dctx *context;
	if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
		return tsi_fail_nomem(err);
	*codec = context;
	return TSCOPE_OK;
}

static void close_lz4(void *codec)
{
	LZ4F_freeDecompressionContext(codec);
}

static enum tscope_status begin_lz4(void *codec, struct window *from, struct tscope_error *err)
{
	const unsigned char *data;
	enum tscope_status status = tsi_filter_need(from, FLAGS_AT + 1, &data, err);
	if (status != TSCOPE_OK)
		return status;
	if (data[FLAGS_AT] & FLAG_DICTIONARY)
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
				"needs a dictionary: unpack it first (lz4 -D DICTIONARY -dc FILE "
				"| tscope trace -)");
	LZ4F_resetDecompressionContext(codec);
	return TSCOPE_OK;
}

static enum tscope_status fail_lz4(size_t result, struct tscope_error *err)
{
	/* The codes behind the names are not part of the library's stable interface. */
	const char *words = LZ4F_getErrorName(result);
	if (strcmp(words, "ERROR_allocation_failed") == 0)
		return tsi_fail_nomem(err);
	return tsi_fail(err, TSCOPE_E_DAMAGED, "corrupt: %s", words);
}

static enum tscope_status decode_lz4(void *codec, struct filter_io *io, struct tscope_error *err)
{
	size_t in_bytes = (size_t)(io->in_end - io->in);
	size_t out_bytes = (size_t)(io->out_end - io->out);
	size_t result = LZ4F_decompress(codec, io->out, &out_bytes, io->in, &in_bytes, NULL);
	if (LZ4F_isError(result))
		return fail_lz4(result, err);
	io->in += in_bytes;
	io->out += out_bytes;
	return result == 0 ? TSCOPE_END : TSCOPE_OK;
}

#endif

const struct filter tsi_filter_lz4 = {
	.name = "lz4",
	.member = "frame",
	.magic = magic,
	.magic_bytes = sizeof(magic) - 1,
	.has_skippable_frames = true,
#if HAVE_LZ4
	.open = open_lz4,
	.close = close_lz4,
	.begin = begin_lz4,
	.decode = decode_lz4,
#else
	.missing = "this build cannot read it: unpack it first (lz4 -dc FILE | tscope trace -), "
		   "or build tscope with liblz4-dev",
#endif
};
