/* SPDX-License-Identifier: MIT */
#include "plain_reading.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "input/reader.h"
#include "plain_dump.h"

static const size_t block_sizes[] = { 1, 2, 3, 7, 0 };

struct plain *plain_read(const struct plain_reader *reader, const void *data, size_t length,
			 const struct plain_limits *limits, size_t block_bytes,
			 struct tscope_error *err)
{
	struct input_options options = { .block_bytes = block_bytes };
	struct flow flow = { 0 };
	struct reader *source;
	struct input *in = NULL;
	struct plain *plain = NULL;
	/* Looking for filters would have put the first blocks together. */
	enum tscope_status status = tsi_reader_open_memory(&source, data, length, &flow, err);

	if (status == TSCOPE_OK)
		status = tsi_input_open_reader(&in, source, &options, err);
	if (status == TSCOPE_OK)
		status = reader->read(&plain, in, limits, err);
	assert_true((status == TSCOPE_OK) == (plain != NULL));
	if (plain)
		assert_int_equal(tsi_input_offset(in), length);
	else
		assert_int_equal(status, err->status);
	tsi_input_close(in);
	return plain;
}

struct plain *plain_read_good(const struct plain_reader *reader, const void *data, size_t length)
{
	struct tscope_error err = { 0 };
	struct plain *plain = plain_read(reader, data, length, NULL, 0, &err);

	if (!plain)
		fail_msg("%s (byte %llu)", err.message, (unsigned long long)err.offset);
	return plain;
}

static void check_one(const struct plain_reader *reader, const struct plain_reading *c,
		      size_t block_bytes)
{
	struct tscope_error err = { 0 };
	struct plain_dump dump = { .length = 0 };
	struct plain *plain = plain_read(reader, c->data, c->length, NULL, block_bytes, &err);

	if (plain) {
		plain_dump_value(&dump, plain, tsi_plain_root(plain), PLAIN_DUMP_DEPTH);
		tsi_plain_free(plain);
	}
	if (strcmp(plain ? dump.text : err.message, c->expected) != 0)
		fail_msg("%.*s: expected %s, found %s", (int)c->length, c->data, c->expected,
			 plain ? dump.text : err.message);
	assert_int_equal(err.status, c->status);
	assert_int_equal(err.has_offset, c->has_offset);
	assert_int_equal(err.offset, c->offset);
}

void plain_check_readings(const struct plain_reader *reader, const struct plain_reading *cases,
			  size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t b = 0; b < TSI_COUNT_OF(block_sizes); b++)
			check_one(reader, &cases[i], block_sizes[b]);
}

void plain_check_cuts(const struct plain_reader *reader, const void *data, size_t length,
		      bool is_damaged)
{
	for (size_t cut = 0; cut < length; cut++) {
		struct tscope_error err = { 0 };
		char *part = malloc(cut + 1); /* a read behind it is seen */
		memcpy(part, data, cut);
		struct plain *plain = plain_read(reader, part, cut, NULL, 0, &err);

		free(part);
		if (err.status == TSCOPE_E_NOMEM || err.status == TSCOPE_E_INTERNAL)
			fail_msg("cut at %zu: %s", cut, err.message);
		bool is_truncated = strstr(err.message, "truncated") != NULL;
		if (is_damaged && err.status != TSCOPE_E_EMPTY &&
		    (err.status != TSCOPE_E_DAMAGED || !is_truncated))
			fail_msg("cut at %zu: status %d, %s", cut, err.status, err.message);
		tsi_plain_free(plain);
	}
}

void plain_check_allocations(const struct plain_reader *reader, const void *data, size_t length)
{
	struct alloc_sweep sweep = { .at_least = 3 };

	while (alloc_sweep_next(&sweep)) {
		alloc_sweep_start(&sweep);
		struct plain *plain = plain_read(reader, data, length, NULL, 0, &sweep.err);
		alloc_sweep_check(&sweep, plain ? TSCOPE_OK : sweep.err.status);
		tsi_plain_free(plain);
	}
}
