/* SPDX-License-Identifier: MIT */
/*
 * Rows of a comparison as people read them: a name, what became of it, and its figures in A, in B
 * and between them. Where the line is short, the difference stays.
 */
#include "report/change_words.h"

#include "base/attributes.h"
#include "base/str.h"

#include <math.h>
#include <string.h>

enum {
	WORD_WIDTH = 12,
	FIGURE_WIDTH = 12,
	CHANGE_WIDTH = 13,
	NAME_LEAST = 16,
	NOTE_INDENT = 6,
};

static const char joint[] = " + ";

/* ---- rows ---- */

struct change tsi_change_first(const struct panel *panel, const char *table)
{
	return (struct change){ tsi_lookup_table(panel->analysis, TSCOPE_WHOLE_TRACE, table), 0 };
}

bool tsi_change_is_there(const struct change *change)
{
	return change->row < change->table.row_count;
}

struct tscope_value tsi_change_cell(const struct change *change, const char *column)
{
	return tsi_table_cell(&change->table, change->row,
			      tsi_table_column(&change->table, column));
}

int64_t tsi_change_int(const struct change *change, const char *column)
{
	struct tscope_value value = tsi_change_cell(change, column);

	return value.kind == TSCOPE_VALUE_INT ? value.integer : 0;
}

const char *tsi_change_text(const struct change *change, const char *column)
{
	struct tscope_value value = tsi_change_cell(change, column);

	return value.kind == TSCOPE_VALUE_TEXT ? value.text : "";
}

bool tsi_change_is(const struct change *change, const char *column, const char *text)
{
	return strcmp(tsi_change_text(change, column), text) == 0;
}

bool tsi_change_is_real(const struct change *change)
{
	return tsi_change_is(change, "verdict", "changed") ||
	       tsi_change_is(change, "verdict", "exact");
}

const char *tsi_panel_text(const struct panel *panel, const char *id)
{
	struct tscope_value value = tsi_panel_value(panel, id);

	return value.kind == TSCOPE_VALUE_TEXT ? value.text : "";
}

/* ---- words ---- */

void tsi_p_words(char text[NUMBER_MAX], double p_value)
{
	char number[NUMBER_MAX];

	tsi_number_significant(number, p_value, 2);
	if (p_value < 0.0001)
		snprintf(text, NUMBER_MAX, "p < 0.0001");
	else
		snprintf(text, NUMBER_MAX, "p = %.24s", number);
}

void tsi_line_words(char text[LINE_WORDS_MAX], const char *line)
{
	static const struct {
		const char *line, *words;
	} known[] = {
		{ "exposed_comm", "exposed communication" },
		{ "exposed_copy", "exposed copies" },
		{ "data_stall", "waiting for data" },
		{ "sync_stall", "waiting for the device" },
		{ "launch_stall", "launch stalls" },
		{ "device_gap", "gaps between kernels" },
		{ "comm", "communication" },
		{ "outside", "not in the trace" },
	};

	bool is_of_host = strncmp(line, "host.", 5) == 0;
	const char *words = is_of_host ? line + 5 : line;

	for (size_t i = 0; i < TSI_COUNT_OF(known); i++)
		if (strcmp(known[i].line, words) == 0)
			words = known[i].words;
	snprintf(text, LINE_WORDS_MAX, "%.40s%s", words, is_of_host ? " on the host" : "");
	for (char *at = text; *at != '\0'; at++)
		if (*at == '_')
			*at = ' ';
}

/* ---- what explains the change ---- */

bool tsi_find_lone_rank(const struct panel *panel, struct lone_rank *rank)
{
	struct tscope_value number = tsi_panel_value(panel, "explanation.b_rank");
	struct tscope_value is_alone = tsi_panel_value(panel, "explanation.is_one_rank");

	if (strcmp(tsi_panel_text(panel, "step_change.verdict"), "changed") != 0 ||
	    number.kind != TSCOPE_VALUE_INT || is_alone.kind != TSCOPE_VALUE_FLAG || !is_alone.flag)
		return false;
	struct tscope_value excess = tsi_panel_value(panel, "explanation.rank_excess_ns");
	rank->number = number.integer;
	rank->waiting = excess.integer < 0 ? "the others waited for it" : "the others wait for it";
	tsi_number_signed(rank->excess, excess, TSCOPE_UNIT_NS);
	return true;
}

bool tsi_is_line_worth(const struct panel *panel, const struct change *line)
{
	struct change largest = { line->table, 0 };
	int64_t change_ns = tsi_change_int(line, "change_ns");
	int64_t step_ns =
		tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE, "explanation.change_ns");

	return change_ns != 0 && !tsi_change_is(line, "verdict", "no_change") &&
	       !tsi_is_negligible(change_ns, step_ns) &&
	       !tsi_is_negligible(change_ns, tsi_change_int(&largest, "change_ns"));
}

/* ---- lines ---- */

/* What the width of the line leaves room for. */
struct layout {
	bool has_sides, has_word;
	unsigned name_width;
};

static struct layout lay_out(unsigned width)
{
	unsigned left = width - 2 - CHANGE_WIDTH;
	struct layout layout = { 0 };

	layout.has_word = left >= NAME_LEAST + WORD_WIDTH;
	if (layout.has_word)
		left -= WORD_WIDTH;
	layout.has_sides = left >= NAME_LEAST + 2 * FIGURE_WIDTH;
	if (layout.has_sides)
		left -= 2 * FIGURE_WIDTH;
	layout.name_width = left;
	return layout;
}

void tsi_change_headings(const struct panel *panel, const char *name)
{
	struct layout layout = lay_out(panel->w->width);
	struct text_writer *w = panel->w;

	tsi_text_put(w, "\n");
	tsi_text_style(w, TEXT_DIM);
	tsi_text_put(w, "  ");
	tsi_text_left(w, name, layout.name_width + (layout.has_word ? WORD_WIDTH : 0));
	if (layout.has_sides) {
		tsi_text_right(w, "A", FIGURE_WIDTH);
		tsi_text_right(w, "B", FIGURE_WIDTH);
	}
	tsi_text_right(w, "change", CHANGE_WIDTH);
	tsi_text_style(w, TEXT_PLAIN);
	tsi_text_put(w, "\n");
}

/*
 * A number flush right with a blank before it. One that is too long loses its decimals, then its
 * middle.
 */
static void put_number(struct text_writer *w, char number[NUMBER_MAX], unsigned width)
{
	char *point = strchr(number, '.');

	if (tsi_text_columns(number) >= width && point)
		memmove(point, point + strcspn(point, " "),
			strlen(point + strcspn(point, " ")) + 1);
	if (tsi_text_columns(number) < width) {
		tsi_text_right(w, number, width);
		return;
	}
	tsi_text_put(w, " ");
	tsi_text_name_cell(w, number, width - 1);
}

/* A figure; a text of an input is cut to the cell. */
static void put_figure(struct text_writer *w, struct tscope_value value, enum tscope_unit unit)
{
	char number[NUMBER_MAX];

	if (value.kind == TSCOPE_VALUE_TEXT) {
		tsi_text_put(w, " ");
		tsi_text_name_cell(w, value.text, FIGURE_WIDTH - 1);
		return;
	}
	tsi_number_people(number, value, unit);
	put_number(w, number, FIGURE_WIDTH);
}

static double number_of(struct tscope_value value)
{
	if (value.kind == TSCOPE_VALUE_INT)
		return (double)value.integer;
	return value.kind == TSCOPE_VALUE_REAL ? value.real : 0;
}

static void put_difference(struct text_writer *w, const struct change_line *line)
{
	double difference = number_of(line->change);
	enum text_style style = TEXT_PLAIN;
	char number[NUMBER_MAX];

	if (line->is_cost && difference != 0)
		style = difference > 0 ? TEXT_RED : TEXT_GREEN;
	tsi_number_signed(number, line->change, line->unit);
	tsi_text_style(w, style);
	put_number(w, number, CHANGE_WIDTH);
	if (style != TEXT_PLAIN)
		tsi_text_style(w, TEXT_PLAIN);
}

size_t tsi_count_names(const char *joined)
{
	size_t count = 1;

	for (const char *at = strstr(joined, joint); at; at = strstr(at + strlen(joint), joint))
		count++;
	return count;
}

const char *tsi_next_name(char one[ONE_NAME_MAX], const char *joined)
{
	const char *end = strstr(joined, joint);
	size_t length = end ? (size_t)(end - joined) : strlen(joined);

	if (length > ONE_NAME_MAX - 1)
		length = ONE_NAME_MAX - 1;
	memcpy(one, joined, length);
	one[length] = '\0';
	tsi_str_drop_partial(one);
	return end ? end + strlen(joint) : NULL;
}

/* Several names stand below the line. */
static void put_name(struct text_writer *w, const struct change_line *line, unsigned width)
{
	unsigned indent = line->indent < width ? line->indent : 0, room = width - indent - 1, used;
	size_t count = tsi_count_names(line->name);
	char several[NUMBER_MAX];

	snprintf(several, sizeof(several), "%zu together", count);
	tsi_text_repeat(w, " ", indent);
	if (line->is_bold)
		tsi_text_style(w, TEXT_BOLD);
	if (line->is_site)
		used = tsi_text_site_cut(w, line->name, room);
	else
		used = tsi_text_name_cut(w, count > 1 ? several : line->name, room);
	if (line->is_bold)
		tsi_text_style(w, TEXT_PLAIN);
	tsi_text_repeat(w, " ", width - indent - used);
}

static void put_figures(struct text_writer *w, const struct change_line *line)
{
	if (line->is_sum) {
		tsi_text_repeat(w, " ", 2 * FIGURE_WIDTH);
		return;
	}
	put_figure(w, line->a, line->unit);
	put_figure(w, line->b, line->unit);
}

void tsi_put_change_line(const struct panel *panel, const struct change_line *line)
{
	struct layout layout = lay_out(panel->w->width);
	struct text_writer *w = panel->w;

	/* A name takes the room of a word that there is not. */
	if (layout.has_word && *line->word == '\0') {
		layout.name_width += WORD_WIDTH;
		layout.has_word = false;
	}
	tsi_text_put(w, "  ");
	put_name(w, line, layout.name_width);
	if (layout.has_word)
		tsi_text_left(w, line->word, WORD_WIDTH);
	if (layout.has_sides)
		put_figures(w, line);
	put_difference(w, line);
	tsi_text_put(w, "\n");
	if (!line->is_site && tsi_count_names(line->name) > 1)
		tsi_put_change_note(panel, "", line->name);
}

void tsi_put_change_note(const struct panel *panel, const char *words, const char *name)
{
	struct text_writer *w = panel->w;
	unsigned used = NOTE_INDENT + tsi_text_columns(words);
	char one[ONE_NAME_MAX];

	tsi_text_style(w, TEXT_DIM);
	for (size_t i = 0; name && i < NAMES_SHOWN; i++) {
		name = tsi_next_name(one, name);
		tsi_text_repeat(w, " ", NOTE_INDENT);
		tsi_text_put(w, words);
		if (used + NAME_LEAST <= w->width)
			(void)tsi_text_name_cut(w, one, w->width - used);
		tsi_text_put(w, "\n");
	}
	if (name)
		tsi_text_printf(w, "      and %zu more\n", tsi_count_names(name));
	tsi_text_style(w, TEXT_PLAIN);
}

void tsi_put_more(const struct panel *panel, size_t count)
{
	char number[NUMBER_MAX];

	if (count == 0)
		return;
	tsi_number_people_int(number, (int64_t)count, TSCOPE_UNIT_COUNT);
	tsi_text_style(panel->w, TEXT_DIM);
	tsi_text_printf(panel->w, "  … and %s more\n", number);
	tsi_text_style(panel->w, TEXT_PLAIN);
}

void tsi_put_rest(const struct panel *panel, unsigned indent, const struct change_rest *rest)
{
	char name[NUMBER_MAX];

	if (rest->count == 0 || rest->ns == 0)
		return;
	snprintf(name, sizeof(name), "… and %zu more", rest->count);
	tsi_put_change_line(panel, &(struct change_line){ .name = name,
							  .indent = indent,
							  .word = "",
							  .change = { .kind = TSCOPE_VALUE_INT,
								      .integer = rest->ns },
							  .is_sum = true,
							  .unit = TSCOPE_UNIT_NS });
}

bool tsi_is_negligible(int64_t change_ns, int64_t whole_ns)
{
	/* A hundredth of the whole. */
	return fabs((double)change_ns) * 100 < fabs((double)whole_ns);
}
