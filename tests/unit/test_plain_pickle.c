/* SPDX-License-Identifier: MIT */
/* How a pickle begins. What it holds is tested in test_pickle.c. */
#include "decode/plain/plain_reader.h"

#include "check.h"
#include "plain_reading.h"

extern const struct plain_reader tsi_plain_reader_pickle;
static const struct plain_reader *const reader = &tsi_plain_reader_pickle;

#define HEAD(literal)                                                                              \
	{                                                                                          \
		literal, sizeof(literal) - 1                                                       \
	}

TEST(test_taste)
{
	static const struct str pickles[] = {
		HEAD("\x80\4\x95"),
		HEAD("\x80\2}"),
		HEAD("\x80\6"), /* none that is read, but the reader can say so */
		HEAD("(dp0\n"),
		HEAD("(lp0\n"),
		HEAD("}q\0("),
		HEAD("]q\0."),
		HEAD("]."),
		HEAD("ccollections\ndefaultdict\np0\n"),
		HEAD("ctorch._utils\n_rebuild_tensor\n"),
	};
	static const struct str others[] = {
		HEAD(""),           HEAD("\x80"),
		HEAD("\x80\x80"),   HEAD("(a)"),
		HEAD("}"),          HEAD("]]"),
		HEAD("{}"),         HEAD("c"),
		HEAD("config\n\n"), HEAD("config file\nx\n"),
		HEAD("ca\nb"),
	};

	for (size_t i = 0; i < TSI_COUNT_OF(pickles); i++)
		assert_true(reader->taste(pickles[i]) > 0);
	for (size_t i = 0; i < TSI_COUNT_OF(others); i++)
		assert_int_equal(reader->taste(others[i]), 0);
}

TEST(test_read)
{
	static const struct plain_limits limits = { .max_objects = 1 };
	static const struct plain_reading cases[] = {
		PLAIN_GOOD("\x80\4]K\7a.", "[7]"),
		PLAIN_BAD("\x80\4]K\7a", DAMAGED, 6, "pickle: truncated: ends without STOP"),
	};
	struct tscope_error err = { 0 };

	plain_check_readings(reader, cases, TSI_COUNT_OF(cases));
	assert_null(plain_read(reader, "]]a.", 4, &limits, 0, &err));
	assert_int_equal(err.status, TSCOPE_E_LIMIT);
}
