/* SPDX-License-Identifier: MIT */
/* Filter: Zstandard frames (RFC 8878), by libzstd's streaming decoder. */
#include "input/filter.h"

#include "config.h"

static const char magic[] = "\x28\xb5\x2f\xfd";

#if HAVE_ZSTD

#include <zstd.h>
#include <zstd_errors.h>

#include "base/error.h"

enum {
	HEADER_BYTES_MAX = 18,
	WINDOW_LOG_MAX = 27, /* 128 MiB, the most that zstd itself takes unasked */
};

static enum tscope_status open_zstd(void **codec, struct tscope_error *err)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	if (!context)
		return tsi_fail_nomem(err);
	ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	*codec = context;
	return TSCOPE_OK;
}

static void close_zstd(void *codec)
{
	ZSTD_freeDCtx(codec);
}

static enum tscope_status begin_zstd(void *codec, struct window *from, struct tscope_error *err)
{
	const char *data;
	size_t available;
	enum tscope_status status = tsi_window_peek(from, HEADER_BYTES_MAX, &data, &available, err);
	if (status == TSCOPE_E_NOMEM)
		return status;
	/* A small frame is shorter than the longest header, and a cut one is decode's to report. */
	unsigned dictionary = ZSTD_getDictID_fromFrame(data, available);
	if (dictionary != 0)
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
				"needs dictionary %u: unpack it first (zstd -D DICTIONARY -dc "
				"FILE | tscope trace -)",
				dictionary);
	ZSTD_DCtx_reset(codec, ZSTD_reset_session_only);
	return TSCOPE_OK;
}

static enum tscope_status fail_zstd(size_t result, struct tscope_error *err)
{
	switch (ZSTD_getErrorCode(result)) {
	case ZSTD_error_memory_allocation:
		return tsi_fail_nomem(err);
	case ZSTD_error_frameParameter_windowTooLarge:
		return tsi_fail(
			err, TSCOPE_E_LIMIT,
			"needs a window of more than %u MiB (limit: zstd window): unpack it "
			"first (zstd --long=31 -dc FILE | tscope trace -)",
			(1u << WINDOW_LOG_MAX) >> 20);
	default:
		return tsi_fail(err, TSCOPE_E_DAMAGED, "corrupt: %s", ZSTD_getErrorName(result));
	}
}

static enum tscope_status decode_zstd(void *codec, struct filter_io *io, struct tscope_error *err)
{
	ZSTD_inBuffer in = { io->in, (size_t)(io->in_end - io->in), 0 };
	ZSTD_outBuffer out = { io->out, (size_t)(io->out_end - io->out), 0 };
	size_t result = ZSTD_decompressStream(codec, &out, &in);
	io->in += in.pos;
	io->out += out.pos;
	if (ZSTD_isError(result))
		return fail_zstd(result, err);
	return result == 0 ? TSCOPE_END : TSCOPE_OK;
}

#endif

const struct filter tsi_filter_zstd = {
	.name = "zstd",
	.member = "frame",
	.magic = magic,
	.magic_bytes = sizeof(magic) - 1,
	.has_skippable_frames = true,
#if HAVE_ZSTD
	.open = open_zstd,
	.close = close_zstd,
	.begin = begin_zstd,
	.decode = decode_zstd,
#else
	.missing = "this build cannot read it: unpack it first (zstd -dc FILE | tscope trace -), "
		   "or build tscope with libzstd-dev",
#endif
};
