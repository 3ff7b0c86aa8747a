/* SPDX-License-Identifier: MIT */
/* Filter: Zstandard frames (RFC 8878), by libzstd's streaming decoder. */
#include "input/filter.h"

#include "config.h"

static const char magic[] = "\x28\xb5\x2f\xfd";

#if HAVE_ZSTD

#include <stdbool.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/error.h"

enum {
	MAGIC_BYTES = 4,
	HEADER_BYTES_MAX = 18,
	WINDOW_LOG_MIN = 10,
	WINDOW_LOG_MAX = 27, /* 128 MiB, the most that zstd itself takes unasked */
	FLAG_SINGLE_SEGMENT = 0x20,
	FLAG_CHECKSUM = 0x04,
	BLOCK_HEADER_BYTES = 3,
	BLOCK_BYTES_MAX = 128 * 1024,
	CHECKSUM_BYTES = 4,
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
	ZSTD_ErrorCode code = ZSTD_getErrorCode(result);
	/* Its own buffer, which is larger or not by what frames came before. */
	if (code == ZSTD_error_dstSize_tooSmall)
		code = ZSTD_error_corruption_detected;
	switch (code) {
	case ZSTD_error_memory_allocation:
		return tsi_fail_nomem(err);
	case ZSTD_error_frameParameter_windowTooLarge:
		return tsi_fail(
			err, TSCOPE_E_LIMIT,
			"needs a window of more than %u MiB (limit: zstd window): unpack it "
			"first (zstd --long=31 -dc FILE | tscope trace -)",
			(1u << WINDOW_LOG_MAX) >> 20);
	default:
		return tsi_fail(err, TSCOPE_E_DAMAGED, "corrupt: %s", ZSTD_getErrorString(code));
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

/* Where the blocks of a frame begin, by its first bytes (RFC 8878, 3.1.1.1). */
static size_t header_bytes(unsigned descriptor)
{
	static const unsigned char content_size_bytes[] = { 0, 2, 4, 8 };
	static const unsigned char dictionary_bytes[] = { 0, 1, 2, 4 };
	bool is_single_segment = descriptor & FLAG_SINGLE_SEGMENT;
	size_t content = content_size_bytes[descriptor >> 6];
	if (is_single_segment && content == 0)
		content = 1;
	return MAGIC_BYTES + 1 + !is_single_segment + dictionary_bytes[descriptor & 3] + content;
}

/* Perhaps larger than what decode refuses. */
static bool has_large_window(const unsigned char *data)
{
	bool is_single_segment = data[MAGIC_BYTES] & FLAG_SINGLE_SEGMENT;
	unsigned log = WINDOW_LOG_MIN + (data[MAGIC_BYTES + 1] >> 3);
	return !is_single_segment && log >= WINDOW_LOG_MAX;
}

/* Every block states its length, and yields 128 KiB at most. */
static struct extent measure_zstd(const unsigned char *data, size_t length)
{
	unsigned descriptor = data[MAGIC_BYTES];
	size_t at = header_bytes(descriptor), output_bytes = 0;
	if (has_large_window(data))
		return (struct extent){ 0 };
	for (bool is_last = false; !is_last; output_bytes += BLOCK_BYTES_MAX) {
		if (output_bytes == MEASURED_BYTES_MAX)
			return (struct extent){ 0 };
		if (at + BLOCK_HEADER_BYTES > length)
			return (struct extent){ .packed_bytes = at + BLOCK_HEADER_BYTES };
		unsigned header =
			data[at] | (unsigned)data[at + 1] << 8 | (unsigned)data[at + 2] << 16;
		bool is_repeated_byte = (header >> 1 & 3) == 1;
		at += BLOCK_HEADER_BYTES + (is_repeated_byte ? 1 : header >> 3);
		is_last = header & 1;
	}
	at += descriptor & FLAG_CHECKSUM ? CHECKSUM_BYTES : 0;
	return (struct extent){ at, output_bytes, false };
}

/* Into memory that holds all, it needs no window of its own, whose bytes are then copied. */
static bool decode_whole_zstd(void *codec, struct filter_io *io)
{
	size_t result = ZSTD_decompressDCtx(codec, io->out, (size_t)(io->out_end - io->out), io->in,
					    (size_t)(io->in_end - io->in));
	if (ZSTD_isError(result))
		return false;
	io->out += result;
	return true;
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
	.measure = measure_zstd,
	.decode_whole = decode_whole_zstd,
#else
	.missing = "this build cannot read it: unpack it first (zstd -dc FILE | tscope trace -), "
		   "or build tscope with libzstd-dev",
#endif
};
