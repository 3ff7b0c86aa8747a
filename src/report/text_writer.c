/* SPDX-License-Identifier: MIT */
/*
 * The lowest layer of the text report: cells, bars and colours, and the wall
 * between the texts of an input and the terminal. What is shown where is
 * decided by the sections (section.h).
 */
#include "report/text_writer.h"

#include "report/utf8.h"

#include <stdarg.h>
#include <tscope/report.h>

/* The characters beyond ASCII that the report uses, and what stands for each without them. */
static const struct {
	const char *utf8, *ascii;
} substitutes[] = {
	{ "●", "*" }, { "█", "#" }, { "░", "." }, { "…", "~" }, { "·", "|" },  { "µ", "u" },
	{ "–", "-" }, { "×", "x" }, { "→", ">" }, { "▁", "_" }, { "▂", "." },  { "▃", "-" },
	{ "▄", "=" }, { "▅", "+" }, { "▆", "*" }, { "▇", "#" }, { "≥", ">=" }, { "≤", "<=" },
};

void tsi_text_style(struct text_writer *w, enum text_style style)
{
	static const char *const escapes[] = {
		[TEXT_PLAIN] = "\033[0m", [TEXT_BOLD] = "\033[1m",   [TEXT_DIM] = "\033[2m",
		[TEXT_RED] = "\033[31m",  [TEXT_GREEN] = "\033[32m", [TEXT_YELLOW] = "\033[33m",
		[TEXT_CYAN] = "\033[36m",
	};

	if (w->color)
		fputs(escapes[style], w->out);
}

static const char *ascii_substitute(const char *character, size_t length)
{
	for (size_t i = 0; i < TSI_COUNT_OF(substitutes); i++) {
		if (strlen(substitutes[i].utf8) == length &&
		    memcmp(substitutes[i].utf8, character, length) == 0)
			return substitutes[i].ascii;
	}
	return "?";
}

void tsi_text_put(struct text_writer *w, const char *text)
{
	struct str rest = { text, strlen(text) };

	while (w->ascii && rest.length > 0) {
		const char *start = rest.data;

		if (tsi_utf8_next(&rest) < 0x80)
			fputc(*start, w->out);
		else
			fputs(ascii_substitute(start, (size_t)(rest.data - start)), w->out);
	}
	fputs(rest.data, w->out);
}

void tsi_text_put_styled(struct text_writer *w, enum text_style style, const char *text)
{
	tsi_text_style(w, style);
	tsi_text_put(w, text);
	tsi_text_style(w, TEXT_PLAIN);
}

void tsi_text_printf(struct text_writer *w, const char *format, ...)
{
	char text[512];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	tsi_text_put(w, text);
}

void tsi_text_repeat(struct text_writer *w, const char *text, unsigned count)
{
	while (count-- > 0)
		tsi_text_put(w, text);
}

unsigned tsi_text_columns(const char *text)
{
	struct str rest = { text, strlen(text) };
	unsigned columns = 0;

	while (rest.length > 0)
		columns += tsi_utf8_columns(tsi_utf8_next(&rest));
	return columns;
}

void tsi_text_left(struct text_writer *w, const char *text, unsigned columns)
{
	unsigned used = tsi_text_columns(text);

	tsi_text_put(w, text);
	tsi_text_repeat(w, " ", used < columns ? columns - used : 0);
}

void tsi_text_right(struct text_writer *w, const char *text, unsigned columns)
{
	unsigned used = tsi_text_columns(text);

	tsi_text_repeat(w, " ", used < columns ? columns - used : 0);
	tsi_text_put(w, text);
}

/* One character of a name as it is shown. */
struct glyph {
	char text[16];
	unsigned columns;
};

static struct glyph next_glyph(const struct text_writer *w, struct str *rest)
{
	const char *start = rest->data;
	uint32_t code_point = tsi_utf8_next(rest);
	struct glyph glyph;
	int length;

	if (code_point == UTF8_INVALID || code_point < 0x20 || code_point == 0x7F)
		length = snprintf(glyph.text, sizeof(glyph.text), "\\x%02x", (unsigned char)*start);
	else if (tsi_utf8_is_unsafe(code_point) || (w->ascii && code_point > 0x7F))
		length = snprintf(glyph.text, sizeof(glyph.text),
				  code_point > 0xFFFF ? "\\U%08x" : "\\u%04x", code_point);
	else {
		snprintf(glyph.text, sizeof(glyph.text), "%.*s", (int)(rest->data - start), start);
		glyph.columns = tsi_utf8_columns(code_point);
		return glyph;
	}
	glyph.columns = (unsigned)length;
	return glyph;
}

static size_t name_columns(const struct text_writer *w, struct str name)
{
	size_t columns = 0;

	while (name.length > 0)
		columns += next_glyph(w, &name).columns;
	return columns;
}

/* Puts the glyphs that lie wholly in columns [first, end) of the name; returns the columns put. */
static unsigned put_name_part(struct text_writer *w, struct str name, size_t first, size_t end)
{
	size_t column = 0;
	unsigned put = 0;

	while (name.length > 0 && column < end) {
		struct glyph glyph = next_glyph(w, &name);

		if (column >= first && column + glyph.columns <= end) {
			fputs(glyph.text, w->out);
			put += glyph.columns;
		}
		column += glyph.columns;
	}
	return put;
}

void tsi_text_name(struct text_writer *w, const char *name)
{
	put_name_part(w, (struct str){ name, strlen(name) }, 0, SIZE_MAX);
}

void tscope_write_escaped(FILE *out, const char *text)
{
	struct text_writer w = { .out = out };

	tsi_text_name(&w, text);
}

/* Where the parameter list that ends a C++ function's name begins, or the whole length. */
static size_t parameters_start(struct str name)
{
	unsigned depth = 0;

	if (name.length == 0 || name.data[name.length - 1] != ')')
		return name.length;
	for (size_t i = name.length; i-- > 0;) {
		if (name.data[i] == ')')
			depth++;
		else if (name.data[i] == '(' && --depth == 0)
			return i > 0 ? i : name.length;
	}
	return name.length;
}

/* "void at::native::f<4>(int, float*)" → "at::native::f<4>" */
static struct str without_signature(struct str name)
{
	name.length = parameters_start(name);
	if (tsi_str_starts(name, "void ")) {
		name.data += 5;
		name.length -= 5;
	}
	return name;
}

void tsi_text_name_cell(struct text_writer *w, const char *name, unsigned columns)
{
	struct str shown = { name, strlen(name) };
	size_t total = name_columns(w, shown);
	unsigned put;

	if (total > columns) {
		shown = without_signature(shown);
		total = name_columns(w, shown);
	}
	if (total <= columns) {
		put = put_name_part(w, shown, 0, SIZE_MAX);
	} else {
		/* The head says which family, the tail which member: three to two. */
		unsigned head = (columns - 1) * 3 / 5;
		unsigned tail = columns - 1 - head;

		put = put_name_part(w, shown, 0, head) + 1;
		tsi_text_put(w, "…");
		put += put_name_part(w, shown, total - tail, SIZE_MAX);
	}
	tsi_text_repeat(w, " ", columns - put);
}

void tsi_text_paragraph(struct text_writer *w, const char *words, unsigned indent)
{
	size_t column = indent;

	while (*words != '\0') {
		struct str word = { words, strcspn(words, " ") };
		size_t columns = name_columns(w, word);

		if (column > indent && column + 1 + columns > w->width) {
			tsi_text_put(w, "\n");
			tsi_text_repeat(w, " ", indent);
			column = indent;
		} else if (column > indent) {
			tsi_text_put(w, " ");
			column++;
		}
		put_name_part(w, word, 0, SIZE_MAX);
		column += columns;
		words += word.length;
		words += strspn(words, " ");
	}
	tsi_text_put(w, "\n");
}

void tsi_text_bar(struct text_writer *w, double ratio, unsigned cells, enum text_style style)
{
	unsigned lit = 0;

	if (ratio > 0)
		lit = ratio < 1 ? (unsigned)(ratio * cells + 0.5) : cells;
	tsi_text_style(w, style);
	tsi_text_repeat(w, "█", lit);
	tsi_text_style(w, TEXT_PLAIN);
	tsi_text_style(w, TEXT_DIM);
	tsi_text_repeat(w, "░", cells - lit);
	tsi_text_style(w, TEXT_PLAIN);
}

void tsi_text_sparkline(struct text_writer *w, const int64_t *values, size_t count)
{
	static const char *const ticks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	int64_t lowest = INT64_MAX, highest = INT64_MIN;

	for (size_t i = 0; i < count; i++) {
		lowest = values[i] < lowest ? values[i] : lowest;
		highest = values[i] > highest ? values[i] : highest;
	}
	for (size_t i = 0; i < count; i++) {
		double range = (double)highest - (double)lowest;
		double part = range > 0 ? ((double)values[i] - (double)lowest) / range : 0;
		size_t tick = (size_t)(part * (double)TSI_COUNT_OF(ticks));

		tsi_text_put(w, ticks[tick < TSI_COUNT_OF(ticks) ? tick : TSI_COUNT_OF(ticks) - 1]);
	}
}
