/* SPDX-License-Identifier: MIT */
/*
 * The lowest layer of the text report: cells, bars and colours, and the wall between the texts of
 * an input and the terminal. The layout is decided by report_text.c.
 */
#include "report/text_writer.h"

#include "report/utf8.h"

#include <tscope/report.h>

/* The characters beyond ASCII that the report uses, and what stands for each without them. */
static const struct {
	const char *utf8, *ascii;
} substitutes[] = {
	{ "●", "*" },  { "█", "#" }, { "░", "." }, { "…", "~" },  { "·", "|" },
	{ "÷", "/" },  { "µ", "u" }, { "–", "-" }, { "×", "x" },  { "→", "->" },
	{ "←", "<-" }, { "▁", "_" }, { "▂", "." }, { "▃", "-" },  { "▄", "=" },
	{ "▅", "+" },  { "▆", "*" }, { "▇", "#" }, { "≥", ">=" }, { "≤", "<=" },
};

void tsi_text_style(struct text_writer *w, enum text_style style)
{
	static const char *const escapes[] = {
		[TEXT_PLAIN] = "\033[0m", [TEXT_BOLD] = "\033[1m",   [TEXT_DIM] = "\033[2m",
		[TEXT_RED] = "\033[31m",  [TEXT_GREEN] = "\033[32m", [TEXT_YELLOW] = "\033[33m",
		[TEXT_CYAN] = "\033[36m",
	};

	if (w->color && w->out)
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

	w->line_count += strchr(text, '\n') != NULL;
	if (!w->out)
		return;
	while (w->ascii && rest.length > 0) {
		const char *start = rest.data, *substitute;

		if (tsi_utf8_next(&rest) < 0x80) {
			fputc(*start, w->out);
			continue;
		}
		substitute = ascii_substitute(start, (size_t)(rest.data - start));
		fputs(substitute ? substitute : "?", w->out);
	}
	fputs(rest.data, w->out);
}

void tsi_text_repeat(struct text_writer *w, const char *text, unsigned count)
{
	char run[256]; /* each put costs more than its bytes */
	size_t length = strlen(text), used = 0;

	for (; count > 0; count--) {
		if (used + length >= sizeof(run)) {
			tsi_text_put(w, run);
			used = 0;
		}
		memcpy(run + used, text, length + 1);
		used += length;
	}
	if (used > 0)
		tsi_text_put(w, run);
}

unsigned tsi_text_columns(const char *text)
{
	struct str rest = { text, strlen(text) };
	unsigned columns = 0;

	while (rest.length > 0) {
		size_t plain = tsi_utf8_plain_length(rest);

		rest.data += plain;
		rest.length -= plain;
		columns += (unsigned)plain;
		if (rest.length > 0)
			columns += tsi_utf8_columns(tsi_utf8_next(&rest));
	}
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

static struct glyph next_odd_glyph(const struct text_writer *w, struct str *rest)
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

/* Takes the plain characters that a name begins with off it. */
static struct str take_plain(struct str *name)
{
	struct str plain = { name->data, tsi_utf8_plain_length(*name) };

	name->data += plain.length;
	name->length -= plain.length;
	return plain;
}

static size_t name_columns(const struct text_writer *w, struct str name)
{
	size_t columns = 0;

	for (;;) {
		columns += take_plain(&name).length;
		if (name.length == 0)
			return columns;
		columns += next_odd_glyph(w, &name).columns;
	}
}

/* Puts those plain characters, the first of them in a column, that lie in columns [first, end). */
static unsigned put_plain(struct text_writer *w, struct str plain, size_t column, size_t first,
			  size_t end)
{
	size_t from = column < first ? first : column;
	size_t until = column + plain.length < end ? column + plain.length : end;

	if (from >= until)
		return 0;
	if (w->out)
		fwrite(plain.data + (from - column), 1, until - from, w->out);
	return (unsigned)(until - from);
}

/* Puts the glyphs that lie wholly in columns [first, end) of the name; returns the columns put. */
static unsigned put_name_part(struct text_writer *w, struct str name, size_t first, size_t end)
{
	size_t column = 0;
	unsigned put = 0;

	for (;;) {
		struct str plain = take_plain(&name);

		put += put_plain(w, plain, column, first, end);
		column += plain.length;
		if (name.length == 0 || column >= end)
			return put;
		struct glyph glyph = next_odd_glyph(w, &name);
		if (column >= first && column + glyph.columns <= end) {
			if (w->out)
				fputs(glyph.text, w->out);
			put += glyph.columns;
		}
		column += glyph.columns;
	}
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

/* Start of the parameter list that ends a C++ function's name; the length if there is none. */
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
	name = tsi_str_trim((struct str){ name.data, parameters_start(name) });
	if (tsi_str_starts(name, "void ")) {
		name.data += 5;
		name.length -= 5;
	}
	return name;
}

unsigned tsi_text_name_cut(struct text_writer *w, const char *name, unsigned columns)
{
	struct str shown = { name, strlen(name) };
	size_t total = name_columns(w, shown);

	if (total > columns) {
		shown = without_signature(shown);
		total = name_columns(w, shown);
	}
	if (total <= columns)
		return put_name_part(w, shown, 0, SIZE_MAX);
	/* The head says which family, the tail which member: three to two. */
	unsigned head = (columns - 1) * 3 / 5;
	unsigned tail = columns - 1 - head;
	unsigned put = put_name_part(w, shown, 0, head) + 1;
	tsi_text_put(w, "…");
	return put + put_name_part(w, shown, total - tail, SIZE_MAX);
}

bool tsi_text_name_fits(struct text_writer *w, const char *name, unsigned columns)
{
	return name_columns(w, without_signature(tsi_str_of(name))) <= columns;
}

unsigned tsi_text_name_cut_at(struct text_writer *w, const char *name, unsigned columns,
			      size_t place)
{
	struct str shown = tsi_str_of(name);
	size_t total = name_columns(w, shown);
	unsigned head = (columns - 1) * 2 / 5, window = columns - 1 - head, put;

	if (total <= columns || place < head)
		return tsi_text_name_cut(w, name, columns);
	if (place + window > total)
		place = total - window;
	put = put_name_part(w, shown, 0, head) + 1;
	tsi_text_put(w, "…");
	if (place + window == total)
		return put + put_name_part(w, shown, place, SIZE_MAX);
	put += put_name_part(w, shown, place, place + window - 1) + 1;
	tsi_text_put(w, "…");
	return put;
}

void tsi_text_name_cell(struct text_writer *w, const char *name, unsigned columns)
{
	tsi_text_repeat(w, " ", columns - tsi_text_name_cut(w, name, columns));
}

/* ---- sites ---- */

/* "folder/" "file.py:83" ":function"; what has no line is a function. */
struct site_frame {
	struct str folder, place, function;
	size_t folder_columns, place_columns, function_columns;
};

static bool is_separator(char c)
{
	return c == '/' || c == '\\';
}

/* Finds ":83" in a frame. C++ function names have colons, too. */
static bool find_line(struct str frame, size_t *begin, size_t *end)
{
	for (size_t i = 0; i < frame.length; i++) {
		size_t digits = 0;

		if (frame.data[i] != ':')
			continue;
		while (i + 1 + digits < frame.length && frame.data[i + 1 + digits] >= '0' &&
		       frame.data[i + 1 + digits] <= '9')
			digits++;
		*begin = i;
		*end = i + 1 + digits;
		if (digits > 0 && (*end == frame.length || frame.data[*end] == ':'))
			return true;
	}
	return false;
}

static struct site_frame frame_of(struct text_writer *w, struct str text)
{
	size_t base = 0, begin = 0, end = 0;

	if (find_line(text, &begin, &end))
		for (base = begin; base > 0; base--)
			if (is_separator(text.data[base - 1]))
				break;
	struct site_frame frame = {
		.folder = { text.data, base },
		.place = { text.data + base, end - base },
		.function = { text.data + end, text.length - end },
	};
	frame.folder_columns = name_columns(w, frame.folder);
	frame.place_columns = name_columns(w, frame.place);
	frame.function_columns = name_columns(w, frame.function);
	return frame;
}

/* Takes the innermost frame off a site. */
static struct str next_frame(struct str *site)
{
	struct str frame = *site;

	for (size_t i = 0; i + 3 <= site->length; i++) {
		if (memcmp(site->data + i, " < ", 3) != 0)
			continue;
		frame.length = i;
		break;
	}
	size_t taken = frame.length < site->length ? frame.length + 3 : frame.length;
	*site = tsi_str_tail(*site, taken);
	return frame;
}

/* The columns that a frame cannot do without: "…file.py:83", with its function where that stays. */
static size_t least_columns(const struct site_frame *frame, bool has_function)
{
	return (frame->folder_columns > 0) + frame->place_columns +
	       (has_function ? frame->function_columns : 0);
}

/* Columns that the first *count frames need; lowers *count to what fits into `room`. */
static size_t least_of_frames(struct text_writer *w, struct str site, size_t *count,
			      bool has_functions, size_t room)
{
	size_t columns = 0, fitting = 0;

	while (fitting < *count && site.length > 0) {
		struct site_frame frame = frame_of(w, next_frame(&site));
		size_t more = least_columns(&frame, has_functions) + (fitting > 0 ? 3 : 0);

		if (more > room - columns)
			break;
		columns += more;
		fitting++;
	}
	*count = fitting;
	return columns;
}

/* Puts what of a folder fits, whole names only: "…b/" of "a/b/". */
static unsigned put_folder(struct text_writer *w, struct str folder, size_t columns)
{
	size_t left = name_columns(w, folder);

	if (left <= columns)
		return put_name_part(w, folder, 0, SIZE_MAX);
	tsi_text_put(w, "…");
	while (folder.length > 0 && 1 + left > columns) {
		struct str outer = { folder.data, 0 };

		do
			outer.length++;
		while (outer.length < folder.length &&
		       !is_separator(folder.data[outer.length - 1]));
		left -= name_columns(w, outer);
		folder.data += outer.length;
		folder.length -= outer.length;
	}
	return 1 + put_name_part(w, folder, 0, SIZE_MAX);
}

/* Puts the beginning of a function, nothing where no column is left for it. */
static unsigned put_function(struct text_writer *w, const struct site_frame *frame, size_t columns)
{
	if (frame->function_columns <= columns)
		return put_name_part(w, frame->function, 0, SIZE_MAX);
	if (columns == 0)
		return 0;
	unsigned put = put_name_part(w, frame->function, 0, columns - 1);
	tsi_text_put(w, "…");
	return put + 1;
}

/* with_folder: no function of the site is cut, so that what is left may show folders. */
static unsigned put_frame(struct text_writer *w, const struct site_frame *frame, size_t columns,
			  bool with_folder)
{
	size_t behind = frame->place_columns + frame->function_columns;
	unsigned put = 0;

	if (frame->place_columns > columns) {
		tsi_text_put(w, "…");
		return 1 + put_name_part(w, frame->place, frame->place_columns - (columns - 1),
					 SIZE_MAX);
	}
	/* A file's name that takes all the room stands without the mark of its folder. */
	if (frame->folder_columns > 0 && frame->place_columns < columns)
		put = put_folder(w, frame->folder, with_folder ? columns - behind : 1);
	put += put_name_part(w, frame->place, 0, SIZE_MAX);
	return put + put_function(w, frame, columns - put);
}

/* Shares the columns that no frame needs among them; what one leaves goes to those behind. */
static unsigned put_frames(struct text_writer *w, struct str site, size_t count, size_t columns)
{
	size_t whole_count = count, least_count = count;
	size_t whole = least_of_frames(w, site, &whole_count, true, columns);
	size_t least = least_of_frames(w, site, &least_count, false, columns);
	bool has_functions = whole_count == count;
	size_t spare = columns - (has_functions ? whole : least);
	unsigned put = 0;

	for (size_t left = count; left > 0; left--) {
		struct site_frame frame = frame_of(w, next_frame(&site));
		size_t own = least_columns(&frame, has_functions), room = own + spare / left;
		unsigned used =
			put_frame(w, &frame, room < columns ? room : columns, has_functions);

		spare -= used > own ? used - own : 0;
		put += used;
		if (left == 1)
			break;
		tsi_text_put(w, " < ");
		put += 3;
	}
	return put;
}

/* "??:0:f(int)", ":0:f(int)" → "f(int)", a function of C++ whose place is not known; else NULL */
static const char *placeless(const char *site)
{
	const char *at = strncmp(site, "??", 2) == 0 ? site + 2 : site;

	return strncmp(at, ":0:", 3) == 0 ? at + 3 : NULL;
}

/* Cut at its end: nodes of autograd differ in their class, not in the function. */
static unsigned put_cpp(struct text_writer *w, struct str name, unsigned columns)
{
	if (name_columns(w, name) <= columns)
		return put_name_part(w, name, 0, SIZE_MAX);
	unsigned put = put_name_part(w, name, 0, columns - 1);
	tsi_text_put(w, "…");
	return put + 1;
}

unsigned tsi_text_site_cut(struct text_writer *w, const char *site, unsigned columns)
{
	static const char more[] = " < …";
	const char *function = placeless(site);

	if (function)
		return put_cpp(w, without_signature(tsi_str_of(function)), columns);
	struct str whole = tsi_str_of(site), rest = whole;
	unsigned more_columns = tsi_text_columns(more);
	size_t count = 0, fitting;

	if (name_columns(w, whole) <= columns)
		return put_name_part(w, whole, 0, SIZE_MAX);
	for (; rest.length > 0; count++)
		next_frame(&rest);
	fitting = count;
	least_of_frames(w, whole, &fitting, false, columns);
	if (fitting == count || columns < more_columns)
		return put_frames(w, whole, fitting, columns);
	least_of_frames(w, whole, &fitting, false, columns - more_columns);
	if (fitting == 0)
		return put_frames(w, whole, 1, columns);
	unsigned put = put_frames(w, whole, fitting, columns - more_columns);
	tsi_text_put(w, more);
	return put + more_columns;
}

/* May a line not end between a text and the word behind it? "12 ms" stays together, and "a ·". */
static bool is_bound(struct str text, struct str word)
{
	char last = text.data[text.length - 1];

	return tsi_str_is(word, "·") || (last >= '0' && last <= '9' && word.length <= 4);
}

/* The unbreakable chunk at the front of some words; not empty, unless there are none. */
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
