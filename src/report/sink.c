/* SPDX-License-Identifier: MIT */
#include "report/sink.h"

#include "report/utf8.h"

#include <stdarg.h>

static void put_bytes(struct sink *sink, const char *data, size_t length)
{
	sink->count += length;
	if (sink->out)
		fwrite(data, 1, length, sink->out);
}

void tsi_sink_put(struct sink *sink, const char *text)
{
	put_bytes(sink, text, strlen(text));
}

void tsi_sink_print(struct sink *sink, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	tsi_sink_put(sink, text);
}

/* U+FFFE and its like are in no text, and XML refuses them. */
static bool is_noncharacter(uint32_t code_point)
{
	return (code_point & 0xFFFE) == 0xFFFE || (code_point >= 0xFDD0 && code_point <= 0xFDEF);
}

static void put_odd(struct sink *sink, const struct escape *escape, struct str *rest)
{
	const char *start = rest->data;
	uint32_t code_point = tsi_utf8_next(rest);
	char text[16];

	if (code_point == UTF8_INVALID || code_point < 0x20 || code_point == 0x7F)
		snprintf(text, sizeof(text), "\\x%02x", (unsigned char)*start);
	else if (tsi_utf8_is_unsafe(code_point) || is_noncharacter(code_point))
		snprintf(text, sizeof(text), code_point > 0xFFFF ? "\\U%08x" : "\\u%04x",
			 code_point);
	else {
		put_bytes(sink, start, (size_t)(rest->data - start));
		return;
	}
	/* The backslash may itself be special. */
	tsi_sink_escape(sink, escape, tsi_str_of(text));
}

static size_t unspecial_length(const struct escape *escape, struct str text)
{
	size_t length = 0;

	while (length < text.length && tsi_utf8_is_plain(text.data[length]) &&
	       !strchr(escape->special, text.data[length]))
		length++;
	return length;
}

void tsi_sink_escape(struct sink *sink, const struct escape *escape, struct str text)
{
	while (text.length > 0) {
		size_t length = unspecial_length(escape, text);

		if (length > 0)
			put_bytes(sink, text.data, length);
		text.data += length;
		text.length -= length;
		if (text.length == 0)
			return;
		if (!tsi_utf8_is_plain(*text.data)) {
			put_odd(sink, escape, &text);
			continue;
		}
		tsi_sink_put(
			sink,
			escape->substitutes[strchr(escape->special, *text.data) - escape->special]);
		text.data++;
		text.length--;
	}
}
