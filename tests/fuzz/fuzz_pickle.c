/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for decode/plain/pickle.h: the input is read as a pickle, byte by byte and as a whole,
 * which must come to the same.
 */
#include "fuzz.h"
#include "walk_plain.h"

#include "decode/plain/pickle.h"
#include "input/input.h"

#include <string.h>

enum { MAX_LENGTH = 64 << 10, MAX_OUTPUT_BYTES = 1 << 20 };

struct outcome {
	enum tscope_status status;
	struct tscope_error err;
	struct plain *plain;
	bool is_plain; /* not compressed */
};

static struct outcome read_in_blocks(const uint8_t *data, size_t length, size_t block_bytes)
{
	struct input_options options = { .block_bytes = block_bytes,
					 .single_thread = true,
					 .max_output_bytes = MAX_OUTPUT_BYTES };
	struct outcome outcome = { 0 };
	struct input *in = NULL;

	outcome.status = tsi_input_open_memory(&in, data, length, &options, &outcome.err);
	if (outcome.status == TSCOPE_OK) {
		outcome.is_plain = strcmp(tsi_input_filters(in), "none") == 0;
		outcome.status = tsi_pickle_read(&outcome.plain, in, NULL, &outcome.err);
	}
	tsi_input_close(in);
	require((outcome.status == TSCOPE_OK) == (outcome.plain != NULL));
	if (!outcome.plain)
		require(outcome.err.message[0] && outcome.err.status == outcome.status);
	return outcome;
}

static void require_same(const struct outcome *a, const struct outcome *b)
{
	require(a->status == b->status);
	require(strcmp(a->err.message, b->err.message) == 0);
	require(a->err.offset == b->err.offset);
	if (!a->plain)
		return;
	require(look_at_all(a->plain) == look_at_all(b->plain));
	require(tsi_plain_trailing_bytes(a->plain) == tsi_plain_trailing_bytes(b->plain));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	if (length > MAX_LENGTH)
		return 0;
	struct outcome whole = read_in_blocks(data, length, 0);
	struct outcome parts = read_in_blocks(data, length, 3);

	/* How far damaged compressed data can be read depends on the blocks. */
	if (whole.is_plain)
		require_same(&whole, &parts);
	tsi_plain_free(whole.plain);
	tsi_plain_free(parts.plain);
	return 0;
}
