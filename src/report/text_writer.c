/* SPDX-License-Identifier: MIT */
/*
 * The lowest layer of the text report: cells, bars and colours, and the wall
 * between the texts of an input and the terminal. What is shown where is
 * decided by the sections (section.h).
 */
#include "report/text_writer.h"

#include "report/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <tscope/report.h>

/* The characters beyond ASCII that the report uses, and what stands for each without them. */
static const struct {
	const char *utf8, *ascii;
} substitutes[] = {
	{ "●", "*" }, { "█", "#" }, { "░", "." }, { "…", "~" },  { "·", "|" },
	{ "÷", "/" }, { "µ", "u" }, { "–", "-" }, { "×", "x" },  { "→", ">" },
	{ "←", "<" }, { "▁", "_" }, { "▂", "." }, { "▃", "-" },  { "▄", "=" },
	{ "▅", "+" }, { "▆", "*" }, { "▇", "#" }, { "≥", ">=" }, { "≤", "<=" },
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

/* NULL: it is none of ours. */
static const char *ascii_substitute(const char *character, size_t length)
{
	for (size_t i = 0; i < TSI_COUNT_OF(substitutes); i++) {
		if (strlen(substitutes[i].utf8) == length &&
		    memcmp(substitutes[i].utf8, character, length) == 0)
			return substitutes[i].ascii;
	}
	return NULL;
}

void tsi_text_put(struct text_writer *w, const char *text)
{
	struct str rest = { text, strlen(text) };

	while (w->ascii && rest.length > 0) {
		const char *start = rest.data;
		const char *substitute;

		if (tsi_utf8_next(&rest) < 0x80) {
			fputc(*start, w->out);
			continue;
		}
		substitute = ascii_substitute(start, (size_t)(rest.data - start));
		fputs(substitute ? substitute : "?", w->out);
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
	size_t length = (size_t)(rest->data - start);
	const char *substitute = NULL;
	struct glyph glyph;

	if (w->ascii && code_point > 0x7F && code_point != UTF8_INVALID)
		substitute = ascii_substitute(start, length);
	if (code_point == UTF8_INVALID || code_point < 0x20 || code_point == 0x7F)
		snprintf(glyph.text, sizeof(glyph.text), "\\x%02x", (unsigned char)*start);
	else if (substitute)
		snprintf(glyph.text, sizeof(glyph.text), "%s", substitute);
	else if (tsi_utf8_is_unsafe(code_point) || (w->ascii && code_point > 0x7F))
		snprintf(glyph.text, sizeof(glyph.text),
			 code_point > 0xFFFF ? "\\U%08x" : "\\u%04x", code_point);
	else
		snprintf(glyph.text, sizeof(glyph.text), "%.*s", (int)length, start);
	glyph.columns = tsi_text_columns(glyph.text);
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
	put_name_part(w, tsi_str_of(name), 0, SIZE_MAX);
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

/* May a line not end between a text and the word behind it? "12 ms" stays together, and "a ·". */
static bool is_bound(struct str text, struct str word)
{
	char last = text.data[text.length - 1];

	return tsi_str_is(word, "·") || (last >= '0' && last <= '9' && word.length <= 4);
}

/* What stands together at the front of some words; not empty, unless there are none. */
static struct str next_chunk(const char *words)
{
	struct str chunk = { words, strcspn(words, " ") };

	for (;;) {
		struct str word = { chunk.data + chunk.length, 0 };

		word.data += strspn(word.data, " ");
		word.length = strcspn(word.data, " ");
		if (word.length == 0 || chunk.length == 0 || !is_bound(chunk, word))
			return chunk;
		chunk.length = (size_t)(word.data + word.length - chunk.data);
	}
}

static void break_line(struct text_writer *w, unsigned indent)
{
	tsi_text_put(w, "\n");
	tsi_text_repeat(w, " ", indent);
}

void tsi_text_paragraph(struct text_writer *w, const char *words, unsigned indent)
{
	size_t room = w->width > indent ? w->width - indent : 1;
	size_t used = 0;

	for (words += strspn(words, " "); *words != '\0'; words += strspn(words, " ")) {
		struct str chunk = next_chunk(words);
		size_t columns = name_columns(w, chunk);

		if (used > 0 && used + 1 + columns > room) {
			break_line(w, indent);
			used = 0;
		} else if (used > 0) {
			tsi_text_put(w, " ");
			used++;
		}
		/* A chunk longer than a line is broken wherever the line ends. */
		for (size_t first = 0; first < columns; first += room) {
			if (first > 0) {
				break_line(w, indent);
				used = 0;
			}
			used += put_name_part(w, chunk, first, first + room);
		}
		words += chunk.length;
	}
	tsi_text_put(w, "\n");
}

void tsi_text_flow(struct text_flow *flow, const char *item)
{
	struct text_writer *w = flow->w;
	unsigned columns = (unsigned)name_columns(w, tsi_str_of(item));
	unsigned gap = flow->has_items ? tsi_text_columns(flow->separator) : 0;
	unsigned room = w->width - flow->indent;

	if (columns > room)
		columns = room;
	if (flow->has_items && flow->column + gap + columns > w->width) {
		tsi_text_put(w, "\n");
		flow->column = 0;
		gap = 0;
	} else if (flow->has_items) {
		tsi_text_put(w, flow->separator);
	}
	if (flow->column == 0) {
		tsi_text_repeat(w, " ", flow->indent);
		flow->column = flow->indent;
	}
	tsi_text_name_cell(w, item, columns);
	flow->column += gap + columns;
	flow->has_items = true;
}

void tsi_text_flow_end(struct text_flow *flow)
{
	if (flow->has_items)
		tsi_text_put(flow->w, "\n");
	*flow = (struct text_flow){ flow->w, flow->separator, flow->indent, 0, false };
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

void tsi_text_sparkline(struct text_writer *w, const double *values, size_t count)
{
	static const char *const ticks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	double lowest = INFINITY, highest = -INFINITY;

	for (size_t i = 0; i < count; i++) {
		if (!isfinite(values[i]))
			continue;
		lowest = fmin(lowest, values[i]);
		highest = fmax(highest, values[i]);
	}
	for (size_t i = 0; i < count; i++) {
		/* halves: the range of two doubles may be no double */
		double range = highest / 2 - lowest / 2;
		double part = range > 0 ? (values[i] / 2 - lowest / 2) / range : 0;
		size_t tick = isfinite(values[i]) ? (size_t)(part * TSI_COUNT_OF(ticks)) : 0;

		if (!isfinite(values[i]))
			tsi_text_put(w, "×");
		else
			tsi_text_put(
				w,
				ticks[tick < TSI_COUNT_OF(ticks) ? tick : TSI_COUNT_OF(ticks) - 1]);
	}
}
