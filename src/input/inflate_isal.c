/* SPDX-License-Identifier: MIT */
/*
 * Deflate by ISA-L, eleven times as fast as zlib. It is loaded by the first gzip file: its code for
 * all CPUs is bound when it is, a twentieth of what a report on a small file takes.
 */
#include "input/inflate.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/library.h"
#include "config.h"

/* clang-format off */
#define CALLS(X) \
	X(crc32_gzip_refl) X(isal_inflate) X(isal_inflate_init) X(isal_inflate_reset)
/* clang-format on */

struct calls {
	CALLS(TSI_CALL_MEMBER)
};

struct inflate {
	struct calls calls;
	struct inflate_state state;
	bool is_corrupt; /* it said so; what it decoded before may not all have been handed out */
};

#ifdef ISAL_LIBRARY

static enum tscope_status load_calls(struct calls *calls, struct tscope_error *err)
{
	static const char names[][48] = { CALLS(TSI_CALL_NAME) };

	if (!tsi_library_load(calls, ISAL_LIBRARY, names, TSI_COUNT_OF(names)))
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
				"cannot load " ISAL_LIBRARY
				": install it (Debian: libisal2), or unpack the file first");
	return TSCOPE_OK;
}

#else

static enum tscope_status load_calls(struct calls *calls, struct tscope_error *err)
{
	(void)err;
	*calls = (struct calls){ CALLS(TSI_CALL_ITSELF) };
	return TSCOPE_OK;
}

#endif

enum tscope_status tsi_inflate_new(struct inflate **ret, struct tscope_error *err)
{
	struct inflate *inflate = calloc(1, sizeof(*inflate));
	if (!inflate)
		return tsi_fail_nomem(err);
	enum tscope_status status = load_calls(&inflate->calls, err);
	if (status != TSCOPE_OK) {
		free(inflate);
		return status;
	}
	inflate->calls.isal_inflate_init(&inflate->state);
	*ret = inflate;
	return TSCOPE_OK;
}

void tsi_inflate_free(struct inflate *inflate)
{
	free(inflate);
}

void tsi_inflate_reset(struct inflate *inflate)
{
	struct inflate_state *state = &inflate->state;
	inflate->is_corrupt = false;
	inflate->calls.isal_inflate_reset(state);
	/* Keep the CRC, but leave header and trailer to us. */
	state->crc_flag = ISAL_GZIP_NO_HDR;
	/*
	 * Damaged data may use codes that it does not define, and so get at what is left of the
	 * members before. The output shall not depend on these: with several threads they are not
	 * always the same.
	 */
	memset(state->tmp_out_buffer, 0, sizeof(state->tmp_out_buffer));
	memset(&state->lit_huff_code, 0, sizeof(state->lit_huff_code));
	memset(&state->dist_huff_code, 0, sizeof(state->dist_huff_code));
}

/*
 * ISA-L decodes into a buffer of its own first, and when it meets damage it
 * leaves there what did not fit into the output: good bytes, that come first.
 */
static enum tscope_status drain_and_fail(struct inflate_state *state, struct filter_io *io,
					 struct tscope_error *err)
{
	size_t room = (size_t)(io->out_end - io->out);
	size_t left = (size_t)(state->tmp_out_valid - state->tmp_out_processed);
	size_t count = left < room ? left : room;
	memcpy(io->out, state->tmp_out_buffer + state->tmp_out_processed, count);
	state->tmp_out_processed += (int32_t)count;
	io->out += count;
	if (count < left)
		return TSCOPE_OK;
	return tsi_fail(err, TSCOPE_E_DAMAGED, "corrupt: invalid deflate data");
}

enum tscope_status tsi_inflate_decode(struct inflate *inflate, struct filter_io *io, uint32_t *crc,
				      struct tscope_error *err)
{
	struct inflate_state *state = &inflate->state;
	if (inflate->is_corrupt)
		return drain_and_fail(state, io, err);

	state->next_in = (uint8_t *)(uintptr_t)io->in;
	state->avail_in = (uint32_t)(io->in_end - io->in);
	state->next_out = (uint8_t *)io->out;
	state->avail_out = (uint32_t)(io->out_end - io->out);
	inflate->is_corrupt = inflate->calls.isal_inflate(state) != ISAL_DECOMP_OK;
	io->out = io->out_end - state->avail_out;
	*crc = state->crc;

	/* At damage avail_in may have wrapped around; nothing will be read any more anyway. */
	if (inflate->is_corrupt)
		return drain_and_fail(state, io, err);
	io->in = io->in_end - state->avail_in;
	return state->block_state == ISAL_BLOCK_FINISH ? TSCOPE_END : TSCOPE_OK;
}

/* It keeps up to 64 bits of input; of these the last byte of the stream may be half used. */
size_t tsi_inflate_leftover(const struct inflate *inflate,
			    unsigned char bytes[INFLATE_LEFTOVER_MAX])
{
	const struct inflate_state *state = &inflate->state;
	size_t count = (size_t)state->read_in_length / 8;
	uint64_t bits = state->read_in >> (state->read_in_length % 8);
	for (size_t i = 0; i < count; i++)
		bytes[i] = (unsigned char)(bits >> (8 * i));
	return count;
}

uint32_t tsi_inflate_crc32(const struct inflate *inflate, uint32_t crc, const void *data,
			   size_t length)
{
	return inflate->calls.crc32_gzip_refl(crc, data, length);
}
