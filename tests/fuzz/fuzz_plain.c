/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for decode/plain/plain_reader.h: the input is read in the form that it has, as a whole
 * and in pieces of a few bytes, which must come to the same.
 */
#include "fuzz.h"
#include "walk_plain.h"

#include "decode/foreign.h"
#include "decode/plain/plain_reader.h"
#include "input/reader.h"

#include <stdio.h>
#include <string.h>

enum { MAX_LENGTH = 64 << 10, MAX_OUTPUT_BYTES = 1 << 20, MAX_TEXT_BYTES = 32 << 10 };

struct outcome {
	enum tscope_status status;
	struct tscope_error err;
	struct plain *plain;
	const char *form;
	bool is_plain; /* not compressed */
};

static void read_all(struct outcome *outcome, struct input *in, size_t length)
{
	static const struct plain_limits limits = { .max_text_bytes = MAX_TEXT_BYTES };

	/* Nothing skipped either, as a zstd frame without content is. */
	outcome->is_plain = strcmp(tsi_input_filters(in), "none") == 0 && tsi_input_offset(in) == 0;
	outcome->status =
		tsi_plain_read(&outcome->plain, &outcome->form, in, &limits, &outcome->err);
	if (outcome->plain && outcome->is_plain)
		require(tsi_input_offset(in) == length);
}

static void check(const struct outcome *outcome)
{
	require((outcome->status == TSCOPE_OK) == (outcome->plain != NULL));
	if (!outcome->plain)
		require(outcome->err.message[0] && outcome->err.status == outcome->status);
}

static struct outcome read_whole(const uint8_t *data, size_t length)
{
	static const struct input_options options = { .single_thread = true,
						      .max_output_bytes = MAX_OUTPUT_BYTES };
	struct outcome outcome = { .form = "" };
	struct input *in = NULL;

	outcome.status = tsi_input_open_memory(&in, data, length, &options, &outcome.err);
	if (outcome.status == TSCOPE_OK)
		read_all(&outcome, in, length);
	tsi_input_close(in);
	check(&outcome);
	return outcome;
}

/* Without a look for filters, which would put the first blocks together. */
static struct outcome read_in_blocks(const uint8_t *data, size_t length, size_t block_bytes)
{
	struct input_options options = { .block_bytes = block_bytes };
	struct outcome outcome = { .form = "" };
	struct flow flow = { 0 };
	struct reader *source;
	struct input *in = NULL;

	outcome.status = tsi_reader_open_memory(&source, data, length, &flow, &outcome.err);
	if (outcome.status == TSCOPE_OK)
		outcome.status = tsi_input_open_reader(&in, source, &options, &outcome.err);
	if (outcome.status == TSCOPE_OK)
		read_all(&outcome, in, length);
	tsi_input_close(in);
	check(&outcome);
	return outcome;
}

static void require_same(const struct outcome *a, const struct outcome *b)
{
	require(a->status == b->status);
	require(strcmp(a->form, b->form) == 0);
	require(strcmp(a->err.message, b->err.message) == 0);
	require(a->err.offset == b->err.offset);
	if (!a->plain)
		return;
	require(look_at_all(a->plain) == look_at_all(b->plain));
	require(tsi_plain_trailing_bytes(a->plain) == tsi_plain_trailing_bytes(b->plain));
	require(tsi_plain_further_count(a->plain) == tsi_plain_further_count(b->plain));
}

/* Any bytes are a path, too. */
static void name_foreign(const uint8_t *data, size_t length)
{
	char path[256];

	snprintf(path, sizeof(path), "%.*s", length < sizeof(path) ? (int)length : 255,
		 (const char *)data);
	tsi_foreign_name_path(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	if (length > MAX_LENGTH)
		return 0;
	name_foreign(data, length);
	struct outcome whole = read_whole(data, length);

	if (whole.is_plain) {
		struct outcome parts = read_in_blocks(data, length, 1 + length % 7);
		require_same(&whole, &parts);
		tsi_plain_free(parts.plain);
	}
	tsi_plain_free(whole.plain);
	return 0;
}
