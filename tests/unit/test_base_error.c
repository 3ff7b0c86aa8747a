/* SPDX-License-Identifier: MIT */
/* base/error.c: what a failure says, how it gains its place, and what NULL does. */
#include "base/error.h"

#include <string.h>

#include "check.h"

TEST(test_fail)
{
	struct tscope_error err = { .has_offset = true, .offset = 7 };
	assert_int_equal(tsi_fail(&err, TSCOPE_E_FORMAT, "found %d", 3), TSCOPE_E_FORMAT);
	assert_int_equal(err.status, TSCOPE_E_FORMAT);
	assert_string_equal(err.message, "found 3");
	assert_false(err.has_offset);
}

TEST(test_fail_at)
{
	struct tscope_error err = { 0 };
	assert_int_equal(tsi_fail_at(&err, TSCOPE_E_DAMAGED, 918273, "truncated"),
			 TSCOPE_E_DAMAGED);
	assert_string_equal(err.message, "truncated");
	assert_true(err.has_offset);
	assert_int_equal(err.offset, 918273);
}

TEST(test_fail_nomem)
{
	struct tscope_error err = { 0 };
	assert_int_equal(tsi_fail_nomem(&err), TSCOPE_E_NOMEM);
	assert_string_equal(err.message, "out of memory");
}

TEST(test_fail_within)
{
	struct tscope_error err = { 0 };
	tsi_fail_at(&err, TSCOPE_E_DAMAGED, 5, "truncated");
	assert_int_equal(tsi_fail_within(&err, "zstd frame %d", 3), TSCOPE_E_DAMAGED);
	assert_int_equal(tsi_fail_within(&err, "%s", "a.zst"), TSCOPE_E_DAMAGED);
	assert_string_equal(err.message, "a.zst: zstd frame 3: truncated");
	assert_true(err.has_offset);
	assert_int_equal(err.offset, 5);
}

/* Of a message that is too long the end is lost, never the NUL; the place comes first. */
TEST(test_long_messages)
{
	char text[2000];
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';

	struct tscope_error err = { 0 };
	tsi_fail(&err, TSCOPE_E_IO, "%s", text);
	assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
	assert_int_equal(tsi_fail_within(&err, "place"), TSCOPE_E_IO);
	assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
	assert_memory_equal(err.message, "place: xxx", 10);

	tsi_fail(&err, TSCOPE_E_IO, "short");
	assert_int_equal(tsi_fail_within(&err, "%s", text), TSCOPE_E_IO);
	assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
	assert_int_equal(err.message[0], 'x');
}

TEST(test_no_error_wanted)
{
	assert_int_equal(tsi_fail(NULL, TSCOPE_E_IO, "x"), TSCOPE_E_IO);
	assert_int_equal(tsi_fail_at(NULL, TSCOPE_E_IO, 1, "x"), TSCOPE_E_IO);
	assert_int_equal(tsi_fail_nomem(NULL), TSCOPE_E_NOMEM);
	assert_int_equal(tsi_fail_within(NULL, "x"), TSCOPE_E_INTERNAL);

	struct tscope_error unfilled = { 0 };
	assert_int_equal(tsi_fail_within(&unfilled, "x"), TSCOPE_E_INTERNAL);
}

TEST(test_status_text)
{
	assert_string_equal(tscope_status_text(TSCOPE_OK), "success");
	assert_string_equal(tscope_status_text(TSCOPE_E_DAMAGED), "damaged input");
	assert_string_equal(tscope_status_text((enum tscope_status)99), "unknown status");
	for (int status = TSCOPE_E_INTERNAL; status <= TSCOPE_END; status++)
		assert_string_not_equal(tscope_status_text((enum tscope_status)status),
					"unknown status");
}
