/* SPDX-License-Identifier: MIT */
/* base/codec.c: what is written is read; anything else is refused, or is something else. */
#include "base/codec.h"

#include <stdlib.h>

#include "check.h"

enum { LIMIT_NONE, LIMIT_KINDS };

struct item {
	int64_t start_ns, delta_ns, plain_ns[2];
	uint32_t row;
	double value;
	uint8_t kind;
	bool flag;
};

static const struct field item_fields[] = {
	TSI_FIELD(struct item, start_ns, FIELD_RISING, LIMIT_NONE),
	TSI_FIELD(struct item, delta_ns, FIELD_NEAR, LIMIT_NONE),
	TSI_FIELD(struct item, plain_ns, 0, LIMIT_NONE),
	TSI_FIELD(struct item, row, FIELD_ROW | FIELD_NEAR, LIMIT_KINDS),
	TSI_FIELD(struct item, value, 0, LIMIT_NONE),
	TSI_FIELD(struct item, kind, 0, LIMIT_KINDS),
	TSI_FIELD(struct item, flag, 0, LIMIT_NONE),
};

static const struct item items[] = {
	{ INT64_MIN, INT64_MAX, { 0, -1 }, UINT32_MAX, 0.5, 0, false },
	{ -1, INT64_MIN, { 1, INT64_MIN }, 0, -0.0, 1, true },
	{ INT64_MAX, 0, { 300, INT64_MAX }, 3, 1e300, 3, false },
};

static void code_all(struct codec *codec, struct item **list, size_t *count, struct intern *names,
		     const char **word)
{
	codec->limits[LIMIT_KINDS] = 4;
	tsi_code_list(codec, list, count, &TSI_LIST_OF(struct item, item_fields), NULL);
	tsi_code_names(codec, names);
	tsi_code_word(codec, &word[0], names);
	tsi_code_word(codec, &word[1], names);
}

static struct codec write_all(void)
{
	struct item *list = (struct item *)(uintptr_t)items;
	const char *word[2] = { NULL, "new" };
	struct intern names;
	struct codec codec;
	size_t count = 3;
	uint32_t id;

	assert_int_equal(tsi_intern_init(&names, 100, NULL), TSCOPE_OK);
	assert_int_equal(tsi_intern_add(&names, TSI_STR("a\0b"), &id, NULL), TSCOPE_OK);
	tsi_codec_write(&codec);
	code_all(&codec, &list, &count, &names, word);
	assert_int_equal(tsi_codec_status(&codec, NULL), TSCOPE_OK);
	tsi_intern_deinit(&names);
	return codec;
}

static enum tscope_status read_all(const unsigned char *bytes, size_t length, bool is_checked)
{
	const char *word[2] = { "x", NULL };
	struct item *list = NULL;
	struct intern names;
	struct codec codec;
	size_t count = 0;

	assert_int_equal(tsi_intern_init(&names, 100, NULL), TSCOPE_OK);
	tsi_codec_read(&codec, bytes, length);
	code_all(&codec, &list, &count, &names, word);
	enum tscope_status status = tsi_codec_status(&codec, NULL);
	if (is_checked) {
		assert_int_equal(status, TSCOPE_OK);
		assert_int_equal(count, 3);
		for (size_t i = 0; i < count; i++) {
			assert_int_equal(list[i].start_ns, items[i].start_ns);
			assert_int_equal(list[i].delta_ns, items[i].delta_ns);
			assert_int_equal(list[i].plain_ns[1], items[i].plain_ns[1]);
			assert_int_equal(list[i].row, items[i].row);
			assert_memory_equal(&list[i].value, &items[i].value, sizeof(double));
			assert_int_equal(list[i].kind, items[i].kind);
			assert_int_equal(list[i].flag, items[i].flag);
		}
		assert_int_equal(tsi_intern_text(&names, 1).length, 3);
		assert_null(word[0]);
		assert_string_equal(word[1], "new");
	}
	tsi_intern_deinit(&names);
	free(list);
	return status;
}

TEST(test_round)
{
	struct codec codec = write_all();

	read_all(codec.bytes, codec.count, true);
	for (size_t i = 0; i < codec.count; i++)
		assert_int_equal(read_all(codec.bytes, i, false), TSCOPE_E_DAMAGED);
	tsi_codec_deinit(&codec);
}

/* Any byte may be any other: what is read is refused, or is something else, and nothing breaks. */
TEST(test_any_byte)
{
	struct codec codec = write_all();

	for (size_t i = 0; i < codec.count; i++) {
		unsigned char before = codec.bytes[i];

		for (unsigned value = 0; value < 256; value += 5) {
			codec.bytes[i] = (unsigned char)value;
			enum tscope_status status = read_all(codec.bytes, codec.count, false);
			assert_true(status == TSCOPE_OK || status == TSCOPE_E_DAMAGED);
		}
		codec.bytes[i] = before;
	}
	tsi_codec_deinit(&codec);
}

TEST(test_refused)
{
	static const struct {
		unsigned char bytes[12];
		size_t count;
		const char *message;
	} cases[] = {
		{ { 0 }, 0, "a number that does not end or is too large (byte 0)" },
		{ { 0xff, 0xff, 0xff, 0xff, 0x7f }, 5, "counts more than there is (byte 5)" },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 },
		  11,
		  "a number that does not end or is too large (byte 10)" },
		{ { 0, 1, 5 }, 3, "counts more than there is (byte 3)" },
		{ { 0, 0, 5, 0 }, 4, "a word that was not said before (byte 3)" },
		{ { 0, 0, 0, 0, 9 }, 5, "1 bytes more than it needs" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *word[2] = { NULL, NULL };
		struct tscope_error err = { 0 };
		struct item *list = NULL;
		struct intern names;
		struct codec codec;
		size_t count = 0;

		assert_int_equal(tsi_intern_init(&names, 100, NULL), TSCOPE_OK);
		tsi_codec_read(&codec, cases[i].bytes, cases[i].count);
		code_all(&codec, &list, &count, &names, word);
		assert_int_equal(tsi_codec_status(&codec, &err), TSCOPE_E_DAMAGED);
		assert_string_equal(err.message, cases[i].message);
		tsi_intern_deinit(&names);
		free(list);
	}
}
