/* SPDX-License-Identifier: MIT */
/* base/print_text.h: formatted text in a room of fixed size. */
#include "base/print_text.h"

#include "check.h"

TEST(text_that_does_not_fit_is_cut_before_a_character)
{
	char text[6];

	tsi_print_text(text, sizeof(text), "%s", "abc\xe2\x82\xac"); /* € */
	assert_string_equal(text, "abc");
	tsi_print_text(text, sizeof(text), "%s", "ab\xe2\x82\xac");
	assert_string_equal(text, "ab\xe2\x82\xac");
	tsi_print_text(text, sizeof(text), "%.3s", "a\xe2\x82\xac");
	assert_string_equal(text, "a");
}

TEST(text_is_appended_until_the_room_is_full)
{
	char text[8] = "";

	tsi_append_text(text, sizeof(text), "%d", 12);
	tsi_append_text(text, sizeof(text), "%s", " 345");
	assert_string_equal(text, "12 345");
	tsi_append_text(text, sizeof(text), "%s", "6\xc3\xa9"); /* é */
	assert_string_equal(text, "12 3456");
	tsi_append_text(text, sizeof(text), "%s", "7");
	assert_string_equal(text, "12 3456");
}

TEST(joints_stand_between_texts)
{
	char text[12] = "";

	tsi_join_text(text, sizeof(text), ", ", "%d", 1);
	assert_string_equal(text, "1");
	tsi_join_text(text, sizeof(text), ", ", "%d", 2);
	tsi_join_text(text, sizeof(text), ", ", "%d", 3);
	assert_string_equal(text, "1, 2, 3");
	tsi_join_text(text, sizeof(text), ", ", "%s", "456");
	assert_string_equal(text, "1, 2, 3, 45");
}
