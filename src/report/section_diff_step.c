/* SPDX-License-Identifier: MIT */
/*
 * The first lines of the head of a comparison: how much slower or faster the step got, how sure
 * that is, and the few lines of the step that explain most of it.
 */
#include "report/diff_head.h"

#include "base/str.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LINES_SHOWN = 3, AMOUNT_WIDTH = 11, PART_LEAST = 16, WORDS_MAX = 640 };

/* ---- words ---- */

static double real_fact(const struct panel *panel, const char *id)
{
	struct tscope_value value = tsi_panel_value(panel, id);

	return value.kind == TSCOPE_VALUE_REAL ? value.real : 0;
}

/* "4.1 ms" of either sign. */
static void format_size(char text[NUMBER_MAX], int64_t ns)
{
	tsi_number_people_int(text, ns > INT64_MIN ? imaxabs(ns) : INT64_MAX, TSCOPE_UNIT_NS);
}

/* "certain (p < 0.0001)" */
static void format_certainty(char text[2 * NUMBER_MAX], double p_value)
{
	char words[NUMBER_MAX];

	tsi_p_words(words, p_value);
	snprintf(text, 2 * NUMBER_MAX, "%s (%s)", p_value < 0.0001 ? "certain" : "significant",
		 words);
}

/* "36.1 ms to 38.0 ms more", "1.1 ms less to 1.9 ms more"; "" where the bounds are not known. */
static void format_interval(const struct panel *panel, char text[3 * NUMBER_MAX])
{
	struct tscope_value low = tsi_panel_value(panel, "step_change.low_ns");
	struct tscope_value high = tsi_panel_value(panel, "step_change.high_ns");
	bool is_less = low.integer < 0 && high.integer <= 0;
	char from[NUMBER_MAX], to[NUMBER_MAX];

	text[0] = '\0';
	if (low.kind != TSCOPE_VALUE_INT || high.kind != TSCOPE_VALUE_INT)
		return;
	format_size(from, is_less ? high.integer : low.integer);
	format_size(to, is_less ? low.integer : high.integer);
	snprintf(text, 3 * NUMBER_MAX, "%s%s to %s %s", from,
		 low.integer < 0 && !is_less ? " less" : "", to, is_less ? "less" : "more");
}

/* "+4.1 ms (+3.9 %)" */
static void format_change(const struct panel *panel, char text[3 * NUMBER_MAX])
{
	char amount[NUMBER_MAX], percent[NUMBER_MAX];

	tsi_number_signed(amount, tsi_panel_value(panel, "step_change.change_ns"), TSCOPE_UNIT_NS);
	tsi_head_percent(percent, real_fact(panel, "step_change.change_ratio"), true);
	snprintf(text, 3 * NUMBER_MAX, "%s (%s)", amount, percent);
}

static const char *direction(int64_t change_ns)
{
	return change_ns > 0 ? "slower" : "faster";
}

static bool is_of_mean(const struct panel *panel)
{
	return strcmp(tsi_panel_text(panel, "step_change.method"), "mean") == 0;
}

/* "a typical step takes 36.1 ms to 38.0 ms more", or "" */
static void format_extent(const struct panel *panel, char text[4 * NUMBER_MAX])
{
	char interval[3 * NUMBER_MAX];

	format_interval(panel, interval);
	snprintf(text, 4 * NUMBER_MAX, "%s takes %s",
		 is_of_mean(panel) ? "the mean step" : "a typical step", interval);
	if (interval[0] == '\0')
		text[0] = '\0';
}

/* Typical steps, where it is the mean that the extent is of: "; typical steps …", or "". */
static void format_typical(const struct panel *panel, char text[3 * NUMBER_MAX])
{
	const char *verdict = tsi_panel_text(panel, "step_change.typical_verdict");
	int64_t change_ns =
		tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE, "step_change.change_ns");
	int64_t shift_ns =
		tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE, "step_change.typical_shift_ns");
	char amount[NUMBER_MAX];

	text[0] = '\0';
	if (!is_of_mean(panel))
		return;
	format_size(amount, shift_ns);
	if (strcmp(verdict, "no_change") == 0 || strcmp(verdict, "same") == 0)
		snprintf(text, 3 * NUMBER_MAX, "; typical steps did not change");
	else if (strcmp(verdict, "changed") == 0)
		snprintf(text, 3 * NUMBER_MAX, "; %stypical steps got %s %s",
			 (shift_ns > 0) == (change_ns > 0) ? "" : "but ", amount,
			 direction(shift_ns));
}

void tsi_head_noise(const struct panel *panel, char text[HEAD_NOISE_MAX])
{
	char change[3 * NUMBER_MAX], interval[3 * NUMBER_MAX];

	format_change(panel, change);
	format_interval(panel, interval);
	snprintf(text, HEAD_NOISE_MAX, "%s of the mean step is within noise%s%s%s", change,
		 interval[0] != '\0' ? " (" : "", interval, interval[0] != '\0' ? ")" : "");
}

/* ---- the step ---- */

static void put_changed(struct diff_head *head)
{
	const struct panel *panel = head->panel;
	int64_t change_ns =
		tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE, "step_change.change_ns");
	char amount[NUMBER_MAX], percent[NUMBER_MAX], certainty[2 * NUMBER_MAX],
		extent[4 * NUMBER_MAX], typical[3 * NUMBER_MAX], alone[NUMBER_MAX] = "",
								 text[WORDS_MAX];
	struct lone_rank rank;

	if (tsi_find_lone_rank(panel, &rank))
		snprintf(alone, sizeof(alone), "rank %" PRId64 " alone: ", rank.number);
	format_size(amount, change_ns);
	tsi_head_percent(percent, real_fact(panel, "step_change.change_ratio"), false);
	format_certainty(certainty, real_fact(panel, "step_change.p_value"));
	format_extent(panel, extent);
	format_typical(panel, typical);
	snprintf(text, sizeof(text), "%sthe mean step got %s (%s) %s, %s%s%s%s", alone, amount,
		 percent, direction(change_ns), certainty, extent[0] != '\0' ? ": " : "", extent,
		 typical);
	tsi_head_line(head, change_ns > 0 ? TEXT_RED : TEXT_GREEN,
		      change_ns > 0 ? "SLOWER" : "FASTER", text);
}

/* The mean may be as it was where the typical step is not: wild steps hide it. */
static void put_typical_changed(struct diff_head *head)
{
	const struct panel *panel = head->panel;
	int64_t shift_ns =
		tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE, "step_change.typical_shift_ns");
	char amount[NUMBER_MAX], certainty[2 * NUMBER_MAX], text[WORDS_MAX];

	if (strcmp(tsi_panel_text(panel, "step_change.typical_verdict"), "changed") != 0)
		return;
	format_size(amount, shift_ns);
	format_certainty(certainty, real_fact(panel, "step_change.typical_p_value"));
	snprintf(text, sizeof(text), "typical steps got %s %s, %s; the mean does not show it",
		 amount, direction(shift_ns), certainty);
	tsi_head_line(head, TEXT_YELLOW, "STEPS", text);
}

static void put_open(struct diff_head *head)
{
	int64_t a =
		tsi_lookup_int(head->panel->analysis, TSCOPE_WHOLE_TRACE, "step_change.a_count");
	int64_t b =
		tsi_lookup_int(head->panel->analysis, TSCOPE_WHOLE_TRACE, "step_change.b_count");
	char change[3 * NUMBER_MAX], text[WORDS_MAX];

	format_change(head->panel, change);
	snprintf(text, sizeof(text),
		 "cannot tell whether the step changed: %s, but %" PRId64 " step%s against %" PRId64
		 " are too few; take 6 of each, or more",
		 change, a, a == 1 ? "" : "s", b);
	tsi_head_line(head, TEXT_YELLOW, "UNSURE", text);
}

/* Without a test, or without one of the sides. */
static void put_untested(struct diff_head *head, const char *verdict)
{
	const char *doubt = tsi_lookup_doubt(head->panel->analysis, "step_change.change_ns");
	bool is_lone = strncmp(verdict, "only_", 5) == 0;
	char change[3 * NUMBER_MAX], text[WORDS_MAX];

	format_change(head->panel, change);
	if (is_lone)
		snprintf(text, sizeof(text), "only %s has steps: their time cannot be compared",
			 strcmp(verdict, "only_a") == 0 ? "A" : "B");
	else
		snprintf(text, sizeof(text), "the mean step changed by %s; %s%.300s", change,
			 doubt ? "that cannot be relied on: " : "there is nothing to test it by",
			 doubt ? doubt : "");
	tsi_str_drop_partial(text);
	tsi_head_line(head, TEXT_YELLOW, "UNSURE", text);
}

/* ---- what explains it ---- */

/* What is in a line of the step: its largest part, and how many others change. */
struct line_parts {
	struct change largest;
	size_t more_count;
	int64_t change_ns; /* of the line */
};

static struct line_parts find_parts(const struct panel *panel, const struct change *line)
{
	struct change part = tsi_change_first(panel, "explanation.parts");
	struct line_parts parts = { .largest = { part.table, part.table.row_count },
				    .change_ns = tsi_change_int(line, "change_ns") };

	for (; tsi_change_is_there(&part); part.row++) {
		if (!tsi_change_is(&part, "line", tsi_change_text(line, "line")) ||
		    tsi_change_int(&part, "change_ns") == 0)
			continue;
		if (tsi_change_is_there(&parts.largest))
			parts.more_count++;
		else
			parts.largest = part;
	}
	return parts;
}

/* Does the largest part stand for the line: has it at least half of the change? */
static bool is_main(const struct line_parts *parts)
{
	double part_ns = (double)tsi_change_int(&parts->largest, "change_ns");
	double line_ns = (double)parts->change_ns;

	return part_ns * line_ns > 0 && fabs(part_ns) * 2 >= fabs(line_ns);
}

/* Names below one another, a word before each. */
static void put_names(struct text_writer *w, const char *word, const char *names)
{
	unsigned indent = HEAD_TAG_WIDTH + AMOUNT_WIDTH, column = indent + tsi_text_columns(word);
	char one[ONE_NAME_MAX];

	if (column + PART_LEAST > w->width) {
		indent = 2;
		column = indent + tsi_text_columns(word);
	}
	for (size_t i = 0; names && i < NAMES_SHOWN; i++) {
		names = tsi_next_name(one, names);
		tsi_text_put(w, "\n");
		tsi_text_repeat(w, " ", indent);
		tsi_text_put(w, word);
		(void)tsi_text_name_cut(w, one, w->width - column);
	}
}

/* ": <name><rest>", below where there is no room for that. */
static void put_part_name(struct text_writer *w, const char *name, const char *rest,
			  unsigned column)
{
	unsigned used = tsi_text_columns(rest), indent = HEAD_TAG_WIDTH;

	tsi_text_put(w, ":");
	column += 2; /* with a blank */
	if (column + used + PART_LEAST <= w->width) {
		tsi_text_put(w, " ");
	} else {
		column = indent + used + PART_LEAST <= w->width ? indent : 2;
		tsi_text_put(w, "\n");
		tsi_text_repeat(w, " ", column);
	}
	(void)tsi_text_name_cut(w, name, w->width - column - used);
	tsi_text_put(w, rest);
}

/* ": ReduceScatter, slower", or in place of what. */
static void put_main_part(struct text_writer *w, const struct change *part, unsigned column)
{
	const char *a_part = tsi_change_text(part, "a_part");
	const char *word = *a_part != '\0' ? "" : tsi_change_text(part, "change");
	char one[ONE_NAME_MAX], rest[NUMBER_MAX];
	const char *others = tsi_next_name(one, tsi_change_text(part, "part"));

	snprintf(rest, sizeof(rest), "%s%.40s", *word != '\0' ? ", " : "", word);
	put_part_name(w, one, rest, column);
	put_names(w, "and ", others);
	put_names(w, "in place of ", *a_part != '\0' ? a_part : NULL);
}

/* ": sgemm_128x64 +205.6 µs and 24 more": the part has its own share only. */
static void put_minor_part(struct text_writer *w, const struct line_parts *parts, unsigned column)
{
	const char *name = tsi_change_text(&parts->largest, "part");
	size_t count = tsi_count_names(name);
	char several[NUMBER_MAX], amount[NUMBER_MAX], rest[3 * NUMBER_MAX];

	tsi_number_signed(amount, tsi_change_cell(&parts->largest, "change_ns"), TSCOPE_UNIT_NS);
	snprintf(several, sizeof(several), "%zu together", count);
	snprintf(rest, sizeof(rest), parts->more_count > 0 ? " %s and %zu more" : " %s", amount,
		 parts->more_count);
	put_part_name(w, count > 1 ? several : name, rest, column);
}

/* "+22.0 ms  exposed communication: ReduceScatter, slower" */
static void put_explaining_line(const struct panel *panel, const struct change *line)
{
	struct line_parts parts = find_parts(panel, line);
	struct text_writer *w = panel->w;
	char amount[NUMBER_MAX], words[LINE_WORDS_MAX];
	unsigned column = HEAD_TAG_WIDTH + AMOUNT_WIDTH;

	tsi_number_signed(amount, tsi_change_cell(line, "change_ns"), TSCOPE_UNIT_NS);
	tsi_line_words(words, tsi_change_text(line, "line"));
	tsi_text_repeat(w, " ", HEAD_TAG_WIDTH);
	tsi_text_left(w, amount, AMOUNT_WIDTH);
	column += tsi_text_name_cut(w, words, w->width - column - 1);
	if (*tsi_change_text(&parts.largest, "part") == '\0')
		; /* nothing names it */
	else if (is_main(&parts))
		put_main_part(w, &parts.largest, column);
	else
		put_minor_part(w, &parts, column);
	tsi_text_put(w, "\n");
}

static void put_explanation(const struct panel *panel)
{
	struct change line = tsi_change_first(panel, "explanation.lines");

	for (size_t count = 0; tsi_change_is_there(&line) && count < LINES_SHOWN; line.row++) {
		if (!tsi_is_line_worth(panel, &line))
			continue;
		put_explaining_line(panel, &line);
		count++;
	}
}

void tsi_head_step(struct diff_head *head, const char *verdict)
{
	if (strcmp(verdict, "changed") == 0) {
		put_changed(head);
		put_explanation(head->panel);
	} else if (strcmp(verdict, "no_change") == 0) {
		put_typical_changed(head);
	} else if (strcmp(verdict, "undecided") == 0) {
		put_open(head);
	} else if (*verdict != '\0' && strcmp(verdict, "same") != 0) {
		put_untested(head, verdict);
	}
}
