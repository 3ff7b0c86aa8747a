/* SPDX-License-Identifier: MIT */
/*
 * A trace in an HTML page, as VizTracer saves it, and as others do with its template: the viewer
 * of Chrome's traces, megabytes of code, and behind it in a script
 *
 *	json_data = {"traceEvents": [ … ], "viztracer_metadata": { … }}
 *
 * where "</script>" in a text is written "<\/script>", which JSON reads as the same. Text before it
 * streams through; the document is read as that of a file is.
 */
#include "base/error.h"
#include "decode/events/chrome_json.h"
#include "decode/page.h"
#include "decode/plain/plain_cursor.h"

static unsigned taste(const char *data, size_t length)
{
	const struct page *page = tsi_page_find((struct str){ data, length });

	return page->use == PAGE_TRACE ? 8 * (unsigned)page->mark.length : 0;
}

/* Moves behind the next text of this kind. TSCOPE_END: there is none. */
static enum tscope_status find_next(struct plain_cursor *cursor, struct str needle)
{
	enum tscope_status status = tsi_cursor_show(cursor);

	while (status == TSCOPE_OK) {
		struct str shown = { cursor->at, (size_t)(cursor->end - cursor->at) };
		ptrdiff_t at = tsi_str_find(shown, needle);
		if (at >= 0) {
			cursor->at += (size_t)at + needle.length;
			break;
		}
		/* It may have begun in the last bytes. */
		if (shown.length >= needle.length)
			cursor->at = cursor->end - (needle.length - 1);
		status = tsi_cursor_show_more(cursor);
	}
	return status;
}

/* Moves to the document that the script's variable is set to. TSCOPE_END: there is none. */
static enum tscope_status find_document(struct plain_cursor *cursor)
{
	for (;;) {
		enum tscope_status status = find_next(cursor, TSI_STR("json_data"));
		if (status == TSCOPE_OK)
			status = tsi_cursor_skip_space(cursor);
		if (status != TSCOPE_OK)
			return status;
		if (*cursor->at != '=')
			continue;
		cursor->at++;
		status = tsi_cursor_skip_space(cursor);
		if (status != TSCOPE_OK || *cursor->at == '{' || *cursor->at == '[')
			return status;
	}
}

static enum tscope_status decode(struct input *in, const struct decode_options *options,
				 struct event_sink *sink, struct tscope_error *err)
{
	struct tscope_error own_err = { 0 };
	struct plain_cursor cursor;

	if (!err)
		err = &own_err;
	tsi_cursor_init(&cursor, in, 0, err);
	enum tscope_status status = find_document(&cursor);
	if (status == TSCOPE_END)
		return tsi_fail_at(err, TSCOPE_E_DAMAGED, tsi_cursor_offset(&cursor),
				   "an HTML page of a trace viewer that ends before its trace");
	if (status != TSCOPE_OK)
		return status;
	tsi_input_consume(in, (size_t)(cursor.at - cursor.start));
	status = tsi_chrome_json_decode_within(in, options, sink, err);
	return status == TSCOPE_OK ? status : tsi_fail_within(err, "trace in an HTML page");
}

extern const struct format tsi_format_viztracer_page;
const struct format tsi_format_viztracer_page = {
	.taste = taste,
	.decode = decode,
};
