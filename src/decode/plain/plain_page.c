/* SPDX-License-Identifier: MIT */
/*
 * Plain data in a page of torch's memory_viz (trace_plot, segment_plot …). Its script has the
 * pickle of a snapshot as base64:
 *
 *	const local_files = [{"name": "snapshot.pickle", "base64": "gARC…"}]
 *
 * The page streams through: text is decoded as the pickle's reader asks for it.
 */
#include "decode/plain/plain_reader.h"

#include "base/error.h"
#include "decode/page.h"
#include "decode/plain/pickle.h"
#include "decode/plain/plain_cursor.h"
#include "decode/plain/plain_graph.h"
#include "input/reader.h"

/* ---- base64 ---------------------------------------------------------------------------- */

/* Characters of base64 other than the 64 digits. */
enum { AT_WRONG = 0, AT_PADDING = 65, AT_QUOTE };

/* Its value + 1 for a digit. */
static unsigned value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (unsigned)(c - 'A') + 1;
	if (c >= 'a' && c <= 'z')
		return (unsigned)(c - 'a') + 27;
	if (tsi_is_digit(c))
		return (unsigned)(c - '0') + 53;
	return c == '+' ? 63 : c == '/' ? 64 : c == '=' ? AT_PADDING : c == '"' ? AT_QUOTE : 0;
}

/* Gives the bytes of a base64 text up to its closing quote. */
struct base64_source {
	struct reader reader;
	struct plain_cursor *cursor; /* borrowed: at the text */
	unsigned char values[256];
	uint32_t bits;           /* of digits that make no byte yet */
	unsigned bit_count;      /* 0, 2, 4 or 6 between bytes */
	unsigned trailing_zeros; /* bytes 0 at the end of what was given */
	bool is_over;
};

static enum tscope_status fail_base64(const struct plain_cursor *cursor, const char *what,
				      struct tscope_error *err)
{
	return tsi_fail_at(err, TSCOPE_E_DAMAGED, tsi_cursor_offset(cursor), "base64: %s", what);
}

/* Decodes what is shown, as far as there is room. TSCOPE_END: the text is over. */
static enum tscope_status decode_shown(struct base64_source *source, char **into, const char *end,
				       struct tscope_error *err)
{
	struct plain_cursor *cursor = source->cursor;

	for (; cursor->at < cursor->end && *into < end; cursor->at++) {
		unsigned value = source->values[(unsigned char)*cursor->at];
		if (tsi_unlikely(value == AT_WRONG))
			return fail_base64(cursor, "a character that does not belong to it", err);
		if (tsi_unlikely(value == AT_QUOTE))
			return TSCOPE_END;
		if (value == AT_PADDING)
			continue;
		source->bits = source->bits << 6 | (value - 1);
		source->bit_count += 6;
		if (source->bit_count < 8)
			continue;
		source->bit_count -= 8;
		**into = (char)(source->bits >> source->bit_count);
		source->trailing_zeros = **into ? 0 : source->trailing_zeros + 1;
		++*into;
	}
	return TSCOPE_OK;
}

static enum tscope_status read_base64(struct reader *reader, char *into, size_t room, size_t *got,
				      struct tscope_error *err)
{
	struct base64_source *source = (struct base64_source *)reader;
	char *at = into;
	enum tscope_status status = source->is_over ? TSCOPE_END : TSCOPE_OK;

	while (status == TSCOPE_OK && at < into + room) {
		status = tsi_cursor_show(source->cursor);
		if (status == TSCOPE_END)
			status = fail_base64(source->cursor, "truncated: no closing quote", err);
		else if (status != TSCOPE_OK && err)
			*err = *source->cursor->err;
		else
			status = decode_shown(source, &at, into + room, err);
	}
	source->is_over = status != TSCOPE_OK;
	*got = (size_t)(at - into);
	return status;
}

/* The text is the page's. */
static void close_base64(struct reader *reader)
{
	(void)reader;
}

/*
 * The pickle in the text that the cursor is at. torch fills it up to whole groups of digits with
 * one to three bytes 0, which follow it and say nothing.
 */
static enum tscope_status read_pickle(struct plain **ret, struct plain_cursor *cursor,
				      const struct plain_limits *limits, struct tscope_error *err)
{
	enum { FILLERS_MAX = 3 };
	struct base64_source source = { .reader = { .read = read_base64, .close = close_base64 },
					.cursor = cursor };
	const struct input_options input_options = { .single_thread = true };
	struct pickle_options options = { 0 };
	struct input *in;

	for (unsigned c = 0; c < TSI_COUNT_OF(source.values); c++)
		source.values[c] = (unsigned char)value_of((char)c);
	if (limits)
		options.plain = *limits;
	enum tscope_status status = tsi_input_open_reader(&in, &source.reader, &input_options, err);
	if (status != TSCOPE_OK)
		return status;
	status = tsi_pickle_read(ret, in, &options, err);
	tsi_input_close(in);
	if (status != TSCOPE_OK)
		return status;
	uint64_t *trailing = &(*ret)->trailing_bytes;
	if (*trailing <= FILLERS_MAX && *trailing <= source.trailing_zeros)
		*trailing = 0;
	return TSCOPE_OK;
}

/* ---- the page -------------------------------------------------------------------------- */

/* Search targets in a page. */
enum find { FIND_BASE64, FIND_PICTURE, FIND_COUNT };

static const struct str needles[FIND_COUNT] = {
	[FIND_BASE64] = { "\"base64\"", 8 },
	[FIND_PICTURE] = { "data:image/png", 14 },
};

enum { NEEDLE_BYTES_MAX = 14 };

/* The one that comes first in what is shown; its place, or -1. */
static ptrdiff_t find_shown(const struct plain_cursor *cursor, enum find *found)
{
	struct str shown = { cursor->at, (size_t)(cursor->end - cursor->at) };
	ptrdiff_t first = -1;

	for (enum find i = 0; i < FIND_COUNT; i++) {
		ptrdiff_t at = tsi_str_find(shown, needles[i]);
		if (at < 0)
			continue;
		first = at;
		*found = i;
		shown.length = (size_t)at;
	}
	return first;
}

/* Moves behind the next needle. TSCOPE_END: there is none. */
static enum tscope_status find_next(struct plain_cursor *cursor, enum find *found)
{
	enum tscope_status status = tsi_cursor_show(cursor);

	while (status == TSCOPE_OK) {
		ptrdiff_t at = find_shown(cursor, found);
		if (at >= 0) {
			cursor->at += (size_t)at + needles[*found].length;
			break;
		}
		/* A needle may have begun in the last bytes. */
		if (cursor->end - cursor->at >= NEEDLE_BYTES_MAX)
			cursor->at = cursor->end - (NEEDLE_BYTES_MAX - 1);
		status = tsi_cursor_show_more(cursor);
	}
	return status;
}

/* Over one character and the white space before it; false, nothing taken: there is another one. */
static bool take(struct plain_cursor *cursor, char wanted, enum tscope_status *status)
{
	if (*status == TSCOPE_OK)
		*status = tsi_cursor_skip_space(cursor);
	bool is_there = *status == TSCOPE_OK && *cursor->at == wanted;

	cursor->at += is_there;
	return is_there;
}

/* Moves to the next base64 text, behind its quote. *is_picture: there was one. TSCOPE_END: none. */
static enum tscope_status find_text(struct plain_cursor *cursor, bool *is_picture)
{
	enum find found;
	enum tscope_status status;

	while ((status = find_next(cursor, &found)) == TSCOPE_OK) {
		*is_picture |= found == FIND_PICTURE;
		if (found == FIND_BASE64 && take(cursor, ':', &status) &&
		    take(cursor, '"', &status))
			return TSCOPE_OK;
		if (status != TSCOPE_OK)
			return status;
	}
	return status;
}

static enum tscope_status refuse_page(bool is_picture, struct tscope_error *err)
{
	if (is_picture)
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
				"an HTML page with a picture and no data: export the memory "
				"timeline as .json or .raw.json.gz "
				"(prof.export_memory_timeline(\"x.json\"))");
	return tsi_fail(err, TSCOPE_E_FORMAT, "an HTML page without a snapshot");
}

/* The first snapshot of the page; those behind it are counted. */
static enum tscope_status read_first(struct plain **ret, struct plain_cursor *cursor,
				     const struct plain_limits *limits, struct tscope_error *err)
{
	bool is_picture = false;
	uint64_t rest;
	enum tscope_status status = find_text(cursor, &is_picture);

	if (status == TSCOPE_END)
		return refuse_page(is_picture, err);
	if (status != TSCOPE_OK)
		return status;
	status = read_pickle(ret, cursor, limits, err);
	if (status != TSCOPE_OK)
		return tsi_fail_within(err, "snapshot in an HTML page");
	while ((status = find_text(cursor, &is_picture)) == TSCOPE_OK)
		(*ret)->further_count++;
	return status == TSCOPE_END ? tsi_cursor_skip_rest(cursor, &rest) : status;
}

/* Refuses pages that are known to hold no snapshot; what they are made of may look like one. */
static enum tscope_status check_page(struct input *in, struct tscope_error *err)
{
	struct str head;
	enum tscope_status status =
		tsi_input_peek(in, TASTED_PLAIN_BYTES, &head.data, &head.length, err);

	if (status == TSCOPE_E_NOMEM)
		return status;
	const struct page *page = tsi_page_find(head);
	return page->use == PAGE_TRACE || page->use == PAGE_FOREIGN
		       ? tsi_fail(err, TSCOPE_E_UNSUPPORTED, "%s", page->what)
		       : TSCOPE_OK;
}

static enum tscope_status read_page(struct plain **ret, struct input *in,
				    const struct plain_limits *limits, struct tscope_error *err)
{
	struct tscope_error own_err = { 0 };
	struct plain_cursor cursor;
	struct plain *plain = NULL;

	if (!err)
		err = &own_err;
	tsi_cursor_init(&cursor, in, 0, err);
	enum tscope_status status = check_page(in, err);
	if (status == TSCOPE_OK)
		status = read_first(&plain, &cursor, limits, err);
	if (status != TSCOPE_OK) {
		tsi_plain_free(plain);
		return status;
	}
	*ret = plain;
	return TSCOPE_OK;
}

static unsigned taste_page(struct str head)
{
	return tsi_page_find(head)->use == PAGE_NONE ? 0 : 8 * (unsigned)sizeof("<html");
}

const struct plain_reader tsi_plain_reader_page = {
	.form = "html",
	.taste = taste_page,
	.read = read_page,
};
