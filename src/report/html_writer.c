/* SPDX-License-Identifier: MIT */
/* HTML escaping, and small parts of many nodes. */
#include "report/html_writer.h"

#include "report/utf8.h"

#include <inttypes.h>

static const char *entity_of(uint32_t code_point)
{
	switch (code_point) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void tsi_html_text(FILE *out, const char *text)
{
	tsi_html_str(out, tsi_str_of(text));
}

void tsi_html_str(FILE *out, struct str rest)
{
	while (rest.length > 0) {
		const char *start = rest.data;
		uint32_t code_point = tsi_utf8_next(&rest);
		const char *entity = entity_of(code_point);

		if (entity)
			fputs(entity, out);
		else if (code_point == UTF8_INVALID)
			fprintf(out, "\\x%02x", (unsigned char)*start);
		else if (tsi_utf8_is_unsafe(code_point))
			fprintf(out, "\\u%04" PRIx32, code_point);
		else
			fwrite(start, 1, (size_t)(rest.data - start), out);
	}
}

const char *tsi_html_tone(enum doc_tone tone)
{
	static const char *const names[] = {
		[DOC_PLAIN] = "plain", [DOC_STRONG] = "strong", [DOC_FAINT] = "faint",
		[DOC_BAD] = "bad",     [DOC_GOOD] = "good",     [DOC_WARN] = "warn",
		[DOC_INFO] = "info",   [DOC_ALARM] = "alarm",
	};

	return names[tone];
}

void tsi_html_bar(FILE *out, double ratio, const char *class_name)
{
	if (!(ratio >= 0))
		ratio = 0;
	fprintf(out,
		"<svg class=\"bar %s\" aria-hidden=\"true\"><rect class=\"rest\" width=\"100%%\" "
		"height=\"100%%\"/><rect class=\"part\" width=\"%d.%02d%%\" "
		"height=\"100%%\"/></svg>",
		class_name, (int)((ratio < 1 ? ratio : 1) * 10000) / 100,
		(int)((ratio < 1 ? ratio : 1) * 10000) % 100);
}
