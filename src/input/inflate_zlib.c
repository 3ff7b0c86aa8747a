/* SPDX-License-Identifier: MIT */
/* Deflate by zlib, which is everywhere: for builds without ISA-L. */
#include "input/inflate.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/error.h"

enum { RAW_DEFLATE_32K_WINDOW = -15 };

struct inflate {
	z_stream stream;
	uint32_t crc;
};

enum tscope_status tsi_inflate_new(struct inflate **ret, struct tscope_error *err)
{
	struct inflate *state = calloc(1, sizeof(*state));
	if (!state || inflateInit2(&state->stream, RAW_DEFLATE_32K_WINDOW) != Z_OK) {
		free(state);
		return tsi_fail_nomem(err);
	}
	*ret = state;
	return TSCOPE_OK;
}

void tsi_inflate_free(struct inflate *state)
{
	inflateEnd(&state->stream);
	free(state);
}

void tsi_inflate_reset(struct inflate *state)
{
	inflateReset(&state->stream);
	state->crc = 0;
}

enum tscope_status tsi_inflate_decode(struct inflate *state, struct filter_io *io, uint32_t *crc,
				      struct tscope_error *err)
{
	z_stream *stream = &state->stream;
	char *out = io->out;
	stream->next_in = (z_const Bytef *)(uintptr_t)io->in;
	stream->avail_in = (uInt)(io->in_end - io->in);
	stream->next_out = (Bytef *)io->out;
	stream->avail_out = (uInt)(io->out_end - io->out);

	int result = inflate(stream, Z_NO_FLUSH);
	io->in = io->in_end - stream->avail_in;
	io->out = io->out_end - stream->avail_out;
	state->crc = tsi_inflate_crc32(state, state->crc, out, (size_t)(io->out - out));
	*crc = state->crc;

	switch (result) {
	case Z_OK:
	case Z_BUF_ERROR: /* nothing to do without more input */
		return TSCOPE_OK;
	case Z_STREAM_END:
		return TSCOPE_END;
	case Z_MEM_ERROR:
		return tsi_fail_nomem(err);
	default:
		return tsi_fail(err, TSCOPE_E_DAMAGED, "corrupt: invalid deflate data");
	}
}

size_t tsi_inflate_leftover(const struct inflate *state, unsigned char bytes[INFLATE_LEFTOVER_MAX])
{
	(void)state;
	(void)bytes;
	return 0; /* zlib takes no more than it needs */
}

uint32_t tsi_inflate_crc32(const struct inflate *state, uint32_t crc, const void *data,
			   size_t length)
{
	(void)state;
	return (uint32_t)crc32_z(crc, data, length);
}
