/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_PLAIN_PLAIN_CURSOR_H
#define TSCOPE_DECODE_PLAIN_PLAIN_CURSOR_H

#include "base/attributes.h"
#include "base/str.h"
#include "input/input.h"

/*
 * A place in an input, for readers that take one byte or text after another. The bytes between at
 * and end are shown; a reader moves at. Texts taken are good until more is shown.
 */
struct plain_cursor {
	struct input *in;
	const char *start, *at, *end; /* start: up to where the input has been consumed */
	size_t max_text_bytes;
	struct tscope_error *err; /* not NULL */
};

/* max_text_bytes 0: the default. */
void tsi_cursor_init(struct plain_cursor *cursor, struct input *in, size_t max_text_bytes,
		     struct tscope_error *err);

/* Where at is in the input. */
static inline uint64_t tsi_cursor_offset(const struct plain_cursor *cursor)
{
	return tsi_input_offset(cursor->in) + (uint64_t)(cursor->at - cursor->start);
}

/* Shows more than is shown. TSCOPE_END: there is no more; or as the input fails. */
TSI_MUST_CHECK
enum tscope_status tsi_cursor_show_more(struct plain_cursor *cursor);

/* Sees that a byte is shown. */
TSI_MUST_CHECK
static inline enum tscope_status tsi_cursor_show(struct plain_cursor *cursor)
{
	return tsi_likely(cursor->at < cursor->end) ? TSCOPE_OK : tsi_cursor_show_more(cursor);
}

/* TSCOPE_E_LIMIT for a text, begun at `at`, of more bytes than are allowed. */
TSI_MUST_CHECK
enum tscope_status tsi_cursor_check_length(struct plain_cursor *cursor, size_t length);

/*
 * The error of a reader that failed with `status`: one about a limit, which the graph does not
 * know the place of, gets the cursor's, and `form` in front. Returns the status.
 */
enum tscope_status tsi_cursor_place_limit(struct plain_cursor *cursor, enum tscope_status status,
					  const char *form);

/* Over a UTF-8 byte order mark, which there may be at the beginning. Fails as *err says. */
enum tscope_status tsi_cursor_skip_mark(struct plain_cursor *cursor);

TSI_MUST_CHECK
enum tscope_status tsi_cursor_skip_more_space(struct plain_cursor *cursor);

/* Over white space, to a byte that is shown. TSCOPE_END: there is none. */
TSI_MUST_CHECK
static inline enum tscope_status tsi_cursor_skip_space(struct plain_cursor *cursor)
{
	if (tsi_likely(cursor->at < cursor->end) && !tsi_is_space(*cursor->at))
		return TSCOPE_OK;
	return tsi_cursor_skip_more_space(cursor);
}

/* A line without its end ("\n", "\r\n"), which the last one need not have. TSCOPE_END: none. */
TSI_MUST_CHECK
enum tscope_status tsi_cursor_take_line(struct plain_cursor *cursor, struct str *line);

/* On to the end of the input; *count is how many bytes that were. Fails as *err says. */
enum tscope_status tsi_cursor_skip_rest(struct plain_cursor *cursor, uint64_t *count);

#endif
