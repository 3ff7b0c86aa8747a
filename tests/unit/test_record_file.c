/* SPDX-License-Identifier: MIT */
/*
 * decode/records/record_file.c: what each record of a file is, as text: "good 5" with its bytes' number,
 * "bad", "long", "cut"; and how the file ends.
 */
#include "decode/records/record_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "tfevents_writer.h"

static char *read_file(const void *data, size_t length, size_t block_bytes)
{
	static const char *const states[] = {
		[RECORD_GOOD] = "good",
		[RECORD_BAD] = "bad",
		[RECORD_LONG] = "long",
		[RECORD_CUT] = "cut",
	};
	const struct input_options options = { .block_bytes = block_bytes, .single_thread = true };
	struct record_file file = { 0 };
	struct tscope_error err = { 0 };
	struct str bytes;
	enum record_state state;
	enum tscope_status status;
	char *shown = NULL;
	size_t shown_length;
	FILE *out = open_memstream(&shown, &shown_length);

	assert_non_null(out);
	assert_int_equal(tsi_input_open_memory(&file.in, data, length, &options, NULL), TSCOPE_OK);
	while ((status = tsi_record_file_next(&file, &state, &bytes, &err)) == TSCOPE_OK) {
		fprintf(out, "%s ", states[state]);
		if (state == RECORD_GOOD)
			fprintf(out, "%zu ", bytes.length);
	}
	if (status != TSCOPE_END)
		fprintf(out, "failed at %" PRIu64, err.offset);
	tsi_input_close(file.in);
	assert_int_equal(fclose(out), 0);
	return shown;
}

static void expect(const struct bytes *file, const char *expected)
{
	static const size_t block_sizes[] = { 0, 1, 3, 64 };

	for (size_t i = 0; i < sizeof(block_sizes) / sizeof(block_sizes[0]); i++) {
		char *shown = read_file(file->data, file->length, block_sizes[i]);

		assert_string_equal(shown, expected);
		free(shown);
	}
}

/* Records of 0, 5 and 3 bytes: 16, 21 and 19 with their frames, so at 0, 16 and 37. */
static struct bytes three_records(void)
{
	struct bytes file = { 0 };

	tfevents_add_record(&file, "", 0);
	tfevents_add_record(&file, "abcde", 5);
	tfevents_add_record(&file, "xyz", 3);
	assert_int_equal(file.length, 56);
	return file;
}

TEST(test_records)
{
	struct bytes file = { 0 };

	expect(&file, "");
	file = three_records();
	expect(&file, "good 0 good 5 good 3 ");
	bytes_reset(&file);
}

/* Each byte changed: a length ends the file, anything else costs one record. */
TEST(test_damage)
{
	static const size_t starts[] = { 0, 16, 37 };
	static const char *const lengths[] = { "failed at 0", "good 0 failed at 16",
					       "good 0 good 5 failed at 37" };
	static const char *const contents[] = { "bad good 5 good 3 ", "good 0 bad good 3 ",
						"good 0 good 5 bad " };
	struct bytes file = three_records();

	for (size_t i = 0; i < file.length; i++) {
		size_t record = (i >= starts[1]) + (i >= starts[2]);
		bool is_head = i - starts[record] < RECORD_HEAD_BYTES;

		file.data[i] = (char)(file.data[i] ^ 0x10);
		expect(&file, is_head ? lengths[record] : contents[record]);
		file.data[i] = (char)(file.data[i] ^ 0x10);
	}
	bytes_reset(&file);
}

TEST(test_cut)
{
	struct bytes file = three_records();
	size_t whole = file.length;

	for (size_t length = 0; length < whole; length++) {
		file.length = length;
		expect(&file, length == 0    ? ""
			      : length < 16  ? "cut "
			      : length == 16 ? "good 0 "
			      : length < 37  ? "good 0 cut "
			      : length == 37 ? "good 0 good 5 "
					     : "good 0 good 5 cut ");
	}
	bytes_reset(&file);
}

/* A length that no file has, with a checksum that fits. */
TEST(test_hostile_length)
{
	static const uint64_t lengths[] = { UINT64_MAX, UINT64_C(1) << 63, RECORD_MAX_BYTES + 1 };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct bytes file = { 0 };
		unsigned char head[RECORD_HEAD_BYTES];

		for (unsigned byte = 0; byte < 8; byte++)
			head[byte] = (unsigned char)(lengths[i] >> (8 * byte));
		uint32_t crc = tfevents_masked_crc(head, 8);
		for (unsigned byte = 0; byte < 4; byte++)
			head[8 + byte] = (unsigned char)(crc >> (8 * byte));
		bytes_add(&file, head, sizeof(head));
		bytes_add_literal(&file, "some bytes that follow");
		expect(&file, "cut ");
		bytes_reset(&file);
	}
}

/* As long as is handed out, and longer: it is checked all the same. */
TEST(test_long_records)
{
	struct bytes file = { 0 };
	char *data = calloc(RECORD_MAX_BYTES + 1, 1), *shown;

	assert_non_null(data);
	tfevents_add_record(&file, data, RECORD_MAX_BYTES);
	tfevents_add_record(&file, data, RECORD_MAX_BYTES + 1);
	tfevents_add_record(&file, "abc", 3);
	shown = read_file(file.data, file.length, 0);
	assert_string_equal(shown, "good 16777216 long good 3 ");
	free(shown);
	file.data[file.length - 100] = 'x';
	shown = read_file(file.data, file.length, 0);
	assert_string_equal(shown, "good 16777216 bad good 3 ");
	free(shown);
	shown = read_file(file.data, file.length - 20, 0);
	assert_string_equal(shown, "good 16777216 cut ");
	free(shown);
	bytes_reset(&file);
	free(data);
}

TEST(test_event_files)
{
	struct bytes file = { 0 };
	struct str bytes;

	assert_false(tsi_is_event_file(TSI_STR("")));
	tfevents_begin(&file, 1.5);
	assert_true(tsi_is_event_file((struct str){ file.data, file.length }));
	for (size_t length = 0; length < file.length; length++)
		assert_false(tsi_is_event_file((struct str){ file.data, length }));
	for (size_t i = 0; i < file.length; i++) {
		file.data[i] = (char)(file.data[i] ^ 1);
		assert_false(tsi_is_event_file((struct str){ file.data, file.length }));
		file.data[i] = (char)(file.data[i] ^ 1);
	}
	bytes_reset(&file);

	/* Records of something else: a data set. */
	tfevents_add_record(&file, "\x0a\x04\x61\x62\x63\x64", 6);
	assert_true(tsi_record_file_first((struct str){ file.data, file.length }, &bytes));
	assert_int_equal(bytes.length, 6);
	assert_false(tsi_is_event_file((struct str){ file.data, file.length }));
	bytes_reset(&file);
}
