/* SPDX-License-Identifier: MIT */
/* The reader of plain data in JSON: its grammar, its numbers and texts, what it shares. */
#include "decode/plain/plain_reader.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "decode/plain/plain_share.h"
#include "plain_reading.h"

extern const struct plain_reader tsi_plain_reader_json;
static const struct plain_reader *const reader = &tsi_plain_reader_json;

#define READ(literal) plain_read_good(reader, literal, sizeof(literal) - 1)

static const struct plain_reading cases[] = {
	/* the grammar */
	PLAIN_GOOD("[]", "[]"),
	PLAIN_GOOD("{}", "{}"),
	PLAIN_GOOD("[[[]]]", "[[[]]]"),
	PLAIN_GOOD("[{}, [1], {\"a\": [2, 3]}]", "[{}, [1], {'a': [2, 3]}]"),
	PLAIN_GOOD(" \t\r\n[ 1 , { \"a\" : 2 , \"b\" : [ ] } ] \n", "[1, {'a': 2, 'b': []}]"),
	PLAIN_GOOD("\xef\xbb\xbf[1]", "[1]"),
	PLAIN_GOOD("{\"a\":1,\"b\":2,\"a\":3}", "{'a': 3, 'b': 2}"), /* the last one wins */
	PLAIN_GOOD("[null,true,false]", "[None, True, False]"),
	PLAIN_GOOD("7", "7"),
	PLAIN_GOOD("\"a\"", "'a'"),

	/* numbers */
	PLAIN_GOOD("[0,-0,1,-1,134217727,134217728]", "[0, 0, 1, -1, 134217727, 134217728]"),
	PLAIN_GOOD("[-134217728,-134217729]", "[-134217728, -134217729]"),
	PLAIN_GOOD("[9223372036854775807,-9223372036854775808]",
		   "[9223372036854775807, -9223372036854775808]"),
	PLAIN_GOOD("[9223372036854775808,18446744073709551615]",
		   "[9223372036854775808u, 18446744073709551615u]"),
	/* 2^64 and -2^63 - 1 do not fit: the nearest real numbers */
	PLAIN_GOOD("[18446744073709551616]", "[1.8446744073709552e+19]"),
	PLAIN_GOOD("[-9223372036854775809]", "[-9.2233720368547758e+18]"),
	PLAIN_GOOD("[2.5,-0.5,1e3,1E+2,25e-1,0.0]",
		   "[2.5000000000000000, -0.50000000000000000, 1000.0000000000000, "
		   "100.00000000000000, 2.5000000000000000, 0.0000000000000000]"),
	PLAIN_GOOD("[Infinity,-Infinity,1e400]", "[inf, -inf, inf]"),

	/* texts */
	PLAIN_GOOD("[\"\",\"a\",\"\xc3\xa9\"]", "['', 'a', '\\xc3\\xa9']"),
	PLAIN_GOOD("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "['\"\\/\\x08\\x0c\\x0a\\x0d\\x09']"),
	PLAIN_GOOD("[\"\\u0041\\u00e9\\u20ac\"]", "['A\\xc3\\xa9\\xe2\\x82\\xac']"),
	PLAIN_GOOD("[\"\\ud83d\\ude00\"]", "['\\xf0\\x9f\\x98\\x80']"),
	/* half a pair is U+FFFD, and so is NUL */
	PLAIN_GOOD("[\"\\ud83dx\",\"\\ude00\",\"\\u0000\"]",
		   "['\\xef\\xbf\\xbdx', '\\xef\\xbf\\xbd', '\\xef\\xbf\\xbd']"),
	PLAIN_GOOD("{\"\\u0061\":1,\"a\":2}", "{'a': 2}"),
	PLAIN_GOOD("[\"C:\\\\a\\\\\",\"b\"]", "['C:\\a\\', 'b']"),
	PLAIN_GOOD("[\"a\nb\"]", "['a\\x0ab']"),

	/* what is none of this */
	PLAIN_BAD("", EMPTY, 0, "no JSON: no value"),
	PLAIN_BAD(" \n", EMPTY, 2, "no JSON: no value"),
	PLAIN_BAD(" hello", FORMAT, 1, "not JSON: begins with byte 0x68"),
	PLAIN_BAD("[1 2]", DAMAGED, 3, "JSON: expected , or ], found 2"),
	PLAIN_BAD("[1,]", DAMAGED, 3, "JSON: expected a value, found ]"),
	PLAIN_BAD("[,]", DAMAGED, 1, "JSON: expected a value or ], found ,"),
	PLAIN_BAD("[1}", DAMAGED, 2, "JSON: expected , or ], found }"),
	PLAIN_BAD("{\"a\":1]", DAMAGED, 6, "JSON: expected , or }, found ]"),
	PLAIN_BAD("{\"a\":1,}", DAMAGED, 7, "JSON: expected a key, found }"),
	PLAIN_BAD("{a:1}", DAMAGED, 1, "JSON: expected a key or }, found a"),
	PLAIN_BAD("{\"a\" 1}", DAMAGED, 5, "JSON: expected a colon, found 1"),
	PLAIN_BAD("{\"a\":}", DAMAGED, 5, "JSON: expected a value, found }"),
	PLAIN_BAD("[\"a\"b]", DAMAGED, 4, "JSON: expected , or ], found b"),
	PLAIN_BAD("[1\x7f]", DAMAGED, 1, "JSON: expected a value, found \"1\x7f\""),
	PLAIN_BAD("{\x80}", DAMAGED, 1, "JSON: expected a key or }, found byte 0x80"),
	PLAIN_BAD("[tru]", DAMAGED, 1, "JSON: expected a value, found \"tru\""),
	PLAIN_BAD("[nan]", DAMAGED, 1, "JSON: expected a value, found \"nan\""),
	PLAIN_BAD("[01]", DAMAGED, 1, "JSON: expected a value, found \"01\""),
	PLAIN_BAD("[-]", DAMAGED, 1, "JSON: expected a value, found \"-\""),
	PLAIN_BAD("[1.]", DAMAGED, 1, "JSON: expected a value, found \"1.\""),
	PLAIN_BAD("[.5]", DAMAGED, 1, "JSON: expected a value, found \".5\""),
	PLAIN_BAD("[+1]", DAMAGED, 1, "JSON: expected a value, found \"+1\""),
	PLAIN_BAD("[1e]", DAMAGED, 1, "JSON: expected a value, found \"1e\""),
	PLAIN_BAD("[\"\\q\"]", DAMAGED, 2, "JSON: a text with a wrong escape"),
	PLAIN_BAD("[\"\\u12g4\"]", DAMAGED, 2, "JSON: a text with a wrong escape"),
	PLAIN_BAD("[nul", DAMAGED, 4, "JSON: truncated: expected a value"),
	PLAIN_BAD("[\"a\\", DAMAGED, 4, "JSON: truncated: expected a closing quote"),
	PLAIN_BAD("{\"a\"", DAMAGED, 4, "JSON: truncated: expected a colon"),
};

TEST(test_cases)
{
	plain_check_readings(reader, cases, TSI_COUNT_OF(cases));
}

static const char document[] =
	"{\"segments\": [{\"address\": 140737488355328, \"blocks\": [], \"is_expandable\": false}],"
	" \"device_traces\": [[{\"frames\": [{\"name\": \"f\\u00e9\", \"line\": 7}], \"x\": "
	"null}]],"
	" \"threshold\": -1.5e-3}";

TEST(test_cuts)
{
	plain_check_cuts(reader, document, sizeof(document) - 1, true);
}

TEST(test_allocations)
{
	struct bytes data = { 0 };

	/* Enough of everything that each array grows. */
	bytes_add_literal(&data, "[");
	for (int i = 0; i < 200; i++) {
		char text[256];
		int length =
			snprintf(text, sizeof(text),
				 "{\"k%d\": %d.5, \"\\n\": [[[[[[[[[[[[[[[[[%d]]]]]]]]]]]]]]]]],"
				 " \"frames\": [{\"line\": %d}, %d]},",
				 i, i, i, i, i);
		bytes_add(&data, text, (size_t)length);
	}
	bytes_add(&data, document, sizeof(document) - 1);
	bytes_add_literal(&data, "]");
	plain_check_allocations(reader, data.data, data.length);
	bytes_reset(&data);
}

/* What follows the value: its line end is nobody's, all else is counted. */
TEST(test_trailing_bytes)
{
	static const struct {
		const char *text;
		uint64_t trailing_bytes;
	} trailing[] = { { "[1]", 0 }, { "[1] \n", 0 }, { "[1] \n[2]\n", 4 }, { "{}x", 1 } };

	for (size_t i = 0; i < TSI_COUNT_OF(trailing); i++) {
		struct plain *p =
			plain_read_good(reader, trailing[i].text, strlen(trailing[i].text));
		assert_int_equal(tsi_plain_trailing_bytes(p), trailing[i].trailing_bytes);
		assert_int_equal(tsi_plain_further_count(p), 0);
		tsi_plain_free(p);
	}
}

static void check_limit(const char *data, size_t length, const struct plain_limits *limits,
			const char *message, uint64_t offset)
{
	struct tscope_error err = { 0 };

	assert_null(plain_read(reader, data, length, limits, 0, &err));
	assert_int_equal(err.status, TSCOPE_E_LIMIT);
	assert_string_equal(err.message, message);
	assert_int_equal(err.offset, offset);
}

TEST(test_limits)
{
	static const struct plain_limits texts = { .max_text_bytes = 4 };
	static const struct plain_limits objects = { .max_objects = 2 };
	static const struct plain_limits values = { .max_values = 8 };
	char deep[600];

	check_limit("[\"abcde\"]", 9, &texts, "a text of more than 4 bytes (limit: text bytes)", 2);
	check_limit("[12345]", 7, &texts, "a text of more than 4 bytes (limit: text bytes)", 1);
	check_limit("[[],[],[]]", 10, &objects, "JSON: more than 2 objects (limit: objects)", 8);
	/* A word for nothing, and for each list one in front and two of packed items: 1 + 3 + 3. */
	check_limit("[[1,2],[3,4],[5,6],[7,8]]", 25, &values,
		    "JSON: more than 8 values (limit: values)", 17);
	memset(deep, '[', sizeof(deep));
	check_limit(deep, sizeof(deep), NULL,
		    "JSON: values nested deeper than 512 (limit: nesting)", 512);
	memset(deep, '[', 512);
	memset(deep + 512, ']', 88);
	struct tscope_error err = { 0 };
	assert_null(plain_read(reader, deep, 600, NULL, 0, &err));
	assert_int_equal(err.status, TSCOPE_E_DAMAGED); /* 512 levels are allowed */
}

/* More items than are packed at once: they come in portions of 8192 words. */
TEST(test_long_containers)
{
	enum { COUNT = 20000 };
	struct bytes list = { 0 }, dict = { 0 };
	int64_t number = 0;

	for (int i = 0; i < COUNT; i++) {
		char text[64];
		bytes_add(&list, text,
			  (size_t)snprintf(text, sizeof(text), "%c%d", i ? ',' : '[', i));
		bytes_add(
			&dict, text,
			(size_t)snprintf(text, sizeof(text), "%c\"%d\":[%d]", i ? ',' : '{', i, i));
	}
	bytes_add_literal(&list, "]");
	bytes_add_literal(&dict, "}");

	struct plain *p = plain_read_good(reader, list.data, list.length);
	assert_int_equal(tsi_plain_length(p, tsi_plain_root(p)), COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		struct plain_value item = tsi_plain_item(p, tsi_plain_root(p), i);
		assert_true(tsi_plain_to_int64(p, item, &number));
		assert_int_equal(number, i);
	}
	tsi_plain_free(p);

	p = plain_read_good(reader, dict.data, dict.length);
	assert_int_equal(tsi_plain_length(p, tsi_plain_root(p)), COUNT);
	for (int i = 0; i < COUNT; i++) {
		char key[16];
		snprintf(key, sizeof(key), "%d", i);
		struct plain_value value = tsi_plain_find(p, tsi_plain_root(p), tsi_str_of(key));
		assert_true(tsi_plain_to_int64(p, tsi_plain_item(p, value, 0), &number));
		assert_int_equal(number, i);
	}
	tsi_plain_free(p);
	bytes_reset(&list);
	bytes_reset(&dict);
}

/* A text of many blocks, with an escape at each end of one. */
TEST(test_long_text)
{
	enum { LENGTH = 100000 };
	static char text[LENGTH + 4] = "[\"";

	for (size_t i = 2; i < LENGTH; i += 2) {
		text[i] = i % 10 ? 'a' : '\\';
		text[i + 1] = i % 10 ? 'b' : 'n';
	}
	memcpy(text + LENGTH, "\"]", 3);
	for (size_t block = 1; block < 100; block += 7) {
		struct tscope_error err = { 0 };
		struct plain *p = plain_read(reader, text, LENGTH + 2, NULL, block, &err);
		assert_non_null(p);
		struct str found = tsi_plain_text(p, tsi_plain_item(p, tsi_plain_root(p), 0));
		/* One of five pairs is an escape, of one byte: 49999 pairs, 10, 20, … 99990. */
		assert_int_equal(found.length, LENGTH - 2 - 9999);
		tsi_plain_free(p);
	}
}

/* ---- sharing ----------------------------------------------------------------------------------- */

static struct plain_value at(const struct plain *p, size_t entry, const char *key)
{
	struct plain_value item = tsi_plain_item(p, tsi_plain_root(p), entry);
	return tsi_plain_find(p, item, tsi_str_of(key));
}

/* Equal stacks are one object, and so are their frames; nothing else is. */
TEST(test_shared_frames)
{
	struct plain *p =
		READ("[{\"frames\":[{\"name\":\"f\",\"line\":1},{\"name\":\"g\",\"line\":2}]},"
		     " {\"frames\":[{\"name\":\"f\",\"line\":1},{\"name\":\"g\",\"line\":2}]},"
		     " {\"frames\":[{\"name\":\"g\",\"line\":2}]},"
		     " {\"frames\":[]}, {\"frames\":[]},"
		     " {\"blocks\":[{\"line\":1}]}, {\"blocks\":[{\"line\":1}]}]");

	assert_int_equal(at(p, 0, "frames").word, at(p, 1, "frames").word);
	assert_int_not_equal(at(p, 0, "frames").word, at(p, 2, "frames").word);
	assert_int_equal(tsi_plain_item(p, at(p, 0, "frames"), 1).word,
			 tsi_plain_item(p, at(p, 2, "frames"), 0).word);
	assert_int_equal(at(p, 3, "frames").word, at(p, 4, "frames").word);
	assert_int_not_equal(at(p, 5, "blocks").word, at(p, 6, "blocks").word);
	/* The root, 7 entries, 2 frames, 3 lists of frames, 2 lists of a block each. */
	assert_int_equal(tsi_plain_object_count(p), 1 + 7 + 2 + 3 + 4);
	tsi_plain_free(p);
}

/* What is nearly equal stays apart: order, length, another value, another key. */
TEST(test_different_frames)
{
	static const char text[] =
		"[{\"frames\":[1,2]},{\"frames\":[2,1]},{\"frames\":[1,2,2]},"
		"{\"frames\":[1]},{\"frames\":[{\"a\":1}]},{\"frames\":[{\"b\":1}]},"
		"{\"frames\":[{\"a\":2}]},{\"frames\":[{\"a\":1,\"b\":1}]},"
		"{\"frames\":[{}]},{\"frames\":[[]]},{\"frames\":[true]},"
		"{\"frames\":[{\"a\":1,\"a\":2}]},{\"frames\":{\"a\":1}}]";
	enum { ENTRIES = 13 };
	struct plain *p = plain_read_good(reader, text, sizeof(text) - 1);

	for (size_t i = 0; i < ENTRIES; i++)
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(at(p, i, "frames").word, at(p, k, "frames").word);
	tsi_plain_free(p);
}

/* What would never be found again is not kept: a dict with a key twice, one of many keys. */
TEST(test_unfindable_dicts)
{
	enum { MANY = 200 };
	struct plain_share share = { 0 };
	struct tscope_error err = { 0 };
	struct plain plain;
	uint32_t one = tsi_word_of_small(1), pairs[2 * MANY], object = 0;

	tsi_graph_init(&plain, NULL, &err);
	for (int i = 0; i < MANY; i++) {
		pairs[2 * i] = tsi_word_of_small(i);
		pairs[2 * i + 1] = one;
	}
	const uint32_t twice[] = { one, one, one, one };
	for (size_t i = 0; i < 3; i++) {
		const uint32_t *words = i ? pairs : twice;
		size_t count = i == 0 ? 4 : i == 1 ? 2 * MANY : 4;
		object = tsi_share_object(&share, &plain, WORD_DICT, words, count);
		assert_int_equal(share.count, i == 2);
	}
	assert_int_equal(tsi_share_object(&share, &plain, WORD_DICT, pairs, 4), object);
	assert_int_equal(err.status, TSCOPE_OK);
	tsi_share_deinit(&share);
	tsi_graph_deinit(&plain);
}

/* A thousand different stacks, each three times. */
TEST(test_many_shared)
{
	enum { STACKS = 1000, TIMES = 3 };
	struct bytes data = { 0 };

	bytes_add_literal(&data, "[");
	for (int i = 0; i < STACKS * TIMES; i++) {
		char text[128];
		int stack = i % STACKS;
		bytes_add(&data, text,
			  (size_t)snprintf(text, sizeof(text),
					   "%s{\"frames\":[{\"line\":%d},{\"line\":%d}]}",
					   i ? "," : "", stack, stack + 1));
	}
	bytes_add_literal(&data, "]");
	struct plain *p = plain_read_good(reader, data.data, data.length);
	for (size_t i = 0; i < STACKS; i++) {
		assert_int_equal(at(p, i, "frames").word, at(p, i + STACKS, "frames").word);
		assert_int_equal(at(p, i, "frames").word, at(p, i + 2 * STACKS, "frames").word);
	}
	/* The root, the entries, a list for each stack, frames of lines 0 to 1000. */
	assert_int_equal(tsi_plain_object_count(p), 1 + STACKS * TIMES + STACKS + STACKS + 1);
	tsi_plain_free(p);
	bytes_reset(&data);
}

TEST(test_taste)
{
	assert_true(reader->taste(TSI_STR("{")) > 0);
	assert_true(reader->taste(TSI_STR("\xef\xbb\xbf \n[")) > 0);
	assert_int_equal(reader->taste(TSI_STR("")), 0);
	assert_int_equal(reader->taste(TSI_STR(" ")), 0);
	assert_int_equal(reader->taste(TSI_STR("1")), 0);
}
