/* SPDX-License-Identifier: MIT */
/*
 * What changed, in a few lines: the step and what explains it, memory, findings, settings. What the
 * head of the report of a comparison says is all that most people read.
 */
#include "report/section.h"

#include "base/attributes.h"
#include "base/real.h"
#include "base/str.h"
#include "report/change_words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TAG_WIDTH = 11, LINES_SHOWN = 3, AMOUNT_WIDTH = 11, PART_LEAST = 16, WORDS_MAX = 512 };

/* The lines of the head; each tells of one thing that changed. */
struct head {
	const struct panel *panel;
	size_t line_count; /* of what changed */
};

static void put_line(struct head *head, enum text_style style, const char *tag, const char *words)
{
	struct text_writer *w = head->panel->w;

	tsi_text_put(w, "  ");
	tsi_text_put_styled(w, style, tag);
	tsi_text_repeat(w, " ", TAG_WIDTH - 2 - tsi_text_columns(tag));
	tsi_text_paragraph(w, words, TAG_WIDTH);
	head->line_count++;
}

static double real_fact(const struct panel *panel, const char *id)
{
	struct tscope_value value = tsi_panel_value(panel, id);

	return value.kind == TSCOPE_VALUE_REAL ? value.real : 0;
}

/* "+13.1 %", or "13.1 %" without a sign */
static void format_percent(char text[NUMBER_MAX], double ratio, bool is_signed)
{
	double percent = is_signed ? ratio * 100 : fabs(ratio) * 100;
	bool is_small = fabs(percent) < 0.05 && percent != 0;
	char number[NUMBER_MAX];

	snprintf(number, sizeof(number), is_small ? "%.1g" : "%.1f", percent);
	tsi_real_put_point(number);
	snprintf(text, NUMBER_MAX, "%s%.40s %%", is_signed && percent > 0 ? "+" : "", number);
}

/* ---- the step ---- */

/* "certain (p < 0.0001)" */
static void format_certainty(const struct panel *panel, char text[2 * NUMBER_MAX])
{
	double p_value = real_fact(panel, "step_change.p_value");
	char words[NUMBER_MAX];

	tsi_p_words(words, p_value);
	snprintf(text, 2 * NUMBER_MAX, "%s (%s)", p_value < 0.0001 ? "certain" : "significant",
		 words);
}

/* "+36.1 ms to +38.0 ms" */
static void format_interval(const struct panel *panel, char text[3 * NUMBER_MAX])
{
	char low[NUMBER_MAX], high[NUMBER_MAX];

	tsi_number_signed(low, tsi_panel_value(panel, "step_change.low_ns"), TSCOPE_UNIT_NS);
	tsi_number_signed(high, tsi_panel_value(panel, "step_change.high_ns"), TSCOPE_UNIT_NS);
	snprintf(text, 3 * NUMBER_MAX, "%s to %s", low, high);
}

static void put_step_changed(struct head *head)
{
	const struct panel *panel = head->panel;
	int64_t change_ns =
		tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE, "step_change.change_ns");
	bool is_of_mean = strcmp(tsi_panel_text(panel, "step_change.method"), "mean") == 0;
	char amount[NUMBER_MAX], percent[NUMBER_MAX], certainty[2 * NUMBER_MAX],
		interval[3 * NUMBER_MAX], text[WORDS_MAX];

	tsi_number_people_int(amount, change_ns > INT64_MIN ? imaxabs(change_ns) : INT64_MAX,
			      TSCOPE_UNIT_NS);
	format_percent(percent, real_fact(panel, "step_change.change_ratio"), false);
	format_certainty(panel, certainty);
	format_interval(panel, interval);
	snprintf(text, sizeof(text), "the mean step got %s (%s) %s, %s: %s %s%s", amount, percent,
		 change_ns > 0 ? "slower" : "faster", certainty,
		 is_of_mean ? "the mean by" : "a typical step by", interval,
		 is_of_mean ? "; typical steps did not change" : "");
	put_line(head, change_ns > 0 ? TEXT_RED : TEXT_GREEN, change_ns > 0 ? "SLOWER" : "FASTER",
		 text);
}

static void format_steps(const struct panel *panel, char text[3 * NUMBER_MAX])
{
	int64_t a = tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE, "step_change.a_count");
	int64_t b = tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE, "step_change.b_count");

	snprintf(text, 3 * NUMBER_MAX, "%" PRId64 " step%s against %" PRId64, a, a == 1 ? "" : "s",
		 b);
}

/* "+4.1 ms (+3.9 %)" */
static void format_change(const struct panel *panel, char text[3 * NUMBER_MAX])
{
	char amount[NUMBER_MAX], percent[NUMBER_MAX];

	tsi_number_signed(amount, tsi_panel_value(panel, "step_change.change_ns"), TSCOPE_UNIT_NS);
	format_percent(percent, real_fact(panel, "step_change.change_ratio"), true);
	snprintf(text, 3 * NUMBER_MAX, "%s (%s)", amount, percent);
}

static void put_step_open(struct head *head)
{
	char change[3 * NUMBER_MAX], steps[3 * NUMBER_MAX], text[WORDS_MAX];

	format_change(head->panel, change);
	format_steps(head->panel, steps);
	snprintf(text, sizeof(text),
		 "cannot tell whether the step changed: %s, but %s are too few; take 6 of each, or "
		 "more",
		 change, steps);
	put_line(head, TEXT_YELLOW, "UNSURE", text);
}

/* Without a test, or without one of the sides. */
static void put_step_untested(struct head *head, const char *verdict)
{
	bool is_lone = strncmp(verdict, "only_", 5) == 0;
	char change[3 * NUMBER_MAX], text[WORDS_MAX];

	format_change(head->panel, change);
	if (is_lone)
		snprintf(text, sizeof(text), "only %s has steps: their time cannot be compared",
			 strcmp(verdict, "only_a") == 0 ? "A" : "B");
	else
		snprintf(text, sizeof(text),
			 "the mean step changed by %s; there is nothing to test it by", change);
	put_line(head, TEXT_YELLOW, "UNSURE", text);
}

/* Names below one another, a word before each. */
static void put_names(struct text_writer *w, const char *word, const char *names)
{
	unsigned indent = TAG_WIDTH + AMOUNT_WIDTH, column = indent + tsi_text_columns(word);
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

/* ": ReduceScatter, slower", or in place of what; what does not fit stands below. */
static void put_explaining_part(struct text_writer *w, const struct change *part, unsigned column)
{
	const char *a_part = tsi_change_text(part, "a_part");
	const char *word = *a_part != '\0' ? "" : tsi_change_text(part, "change");
	unsigned used = tsi_text_columns(word) + 4; /* with ": " and ", " */
	char one[ONE_NAME_MAX];
	const char *others = tsi_next_name(one, tsi_change_text(part, "part"));

	tsi_text_put(w, ":");
	if (column + used + PART_LEAST > w->width) {
		tsi_text_put(w, "\n");
		tsi_text_repeat(w, " ", TAG_WIDTH - 1);
		column = TAG_WIDTH;
	}
	tsi_text_put(w, " ");
	(void)tsi_text_name_cut(w, one, w->width - column - used);
	tsi_text_printf(w, "%s%s", *word != '\0' ? ", " : "", word);
	put_names(w, "and ", others);
	put_names(w, "in place of ", *a_part != '\0' ? a_part : NULL);
}

/* "+22.0 ms  exposed communication: ReduceScatter, slower" */
static void put_explaining_line(const struct panel *panel, const struct change *line)
{
	struct change part = tsi_change_first(panel, "explanation.parts");
	struct text_writer *w = panel->w;
	char amount[NUMBER_MAX], words[LINE_WORDS_MAX];

	tsi_number_signed(amount, tsi_change_cell(line, "change_ns"), TSCOPE_UNIT_NS);
	tsi_line_words(words, tsi_change_text(line, "line"));
	tsi_text_repeat(w, " ", TAG_WIDTH);
	tsi_text_left(w, amount, AMOUNT_WIDTH);
	unsigned used = tsi_text_name_cut(w, words, w->width - TAG_WIDTH - AMOUNT_WIDTH - 1);
	while (tsi_change_is_there(&part) &&
	       !tsi_change_is(&part, "line", tsi_change_text(line, "line")))
		part.row++;
	if (tsi_change_is_there(&part) && *tsi_change_text(&part, "part") != '\0' &&
	    tsi_change_int(&part, "change_ns") != 0)
		put_explaining_part(w, &part, TAG_WIDTH + AMOUNT_WIDTH + used);
	tsi_text_put(w, "\n");
}

static void put_explanation(const struct panel *panel)
{
	struct change line = tsi_change_first(panel, "explanation.lines"), largest = line;

	for (size_t count = 0; tsi_change_is_there(&line) && count < LINES_SHOWN; line.row++) {
		if (tsi_change_int(&line, "change_ns") == 0 ||
		    tsi_change_is(&line, "verdict", "no_change") ||
		    tsi_is_negligible(tsi_change_int(&line, "change_ns"),
				      tsi_change_int(&largest, "change_ns")))
			continue;
		put_explaining_line(panel, &line);
		count++;
	}
}

static void put_step(struct head *head, const char *verdict)
{
	if (strcmp(verdict, "changed") == 0) {
		put_step_changed(head);
		put_explanation(head->panel);
	} else if (strcmp(verdict, "undecided") == 0) {
		put_step_open(head);
	} else if (*verdict != '\0' && strcmp(verdict, "same") != 0 &&
		   strcmp(verdict, "no_change") != 0) {
		put_step_untested(head, verdict);
	}
}

/* ---- all but time ---- */

static void put_memory(struct head *head)
{
	struct change peak;
	char amount[NUMBER_MAX], a[NUMBER_MAX], b[NUMBER_MAX], percent[NUMBER_MAX], text[WORDS_MAX];
	const char *what;

	if (!tsi_find_memory_change(head->panel, &peak, &what))
		return;
	struct tscope_value change = tsi_change_cell(&peak, "difference");
	struct tscope_value ratio = tsi_change_cell(&peak, "ratio");
	bool is_more = change.kind == TSCOPE_VALUE_INT ? change.integer > 0 : change.real > 0;

	tsi_number_signed(amount, change, TSCOPE_UNIT_BYTES);
	tsi_number_people(a, tsi_change_cell(&peak, "a"), TSCOPE_UNIT_BYTES);
	tsi_number_people(b, tsi_change_cell(&peak, "b"), TSCOPE_UNIT_BYTES);
	format_percent(percent, ratio.kind == TSCOPE_VALUE_REAL ? ratio.real : 0, true);
	snprintf(text, sizeof(text), "%s %s%s%s%s: %s → %s", what, amount,
		 ratio.kind == TSCOPE_VALUE_REAL ? " (" : "",
		 ratio.kind == TSCOPE_VALUE_REAL ? percent : "",
		 ratio.kind == TSCOPE_VALUE_REAL ? ")" : "", a, b);
	put_line(head, is_more ? TEXT_RED : TEXT_GREEN, "MEMORY", text);
}

static void put_live_bytes(struct head *head)
{
	struct tscope_value change =
		tsi_panel_value(head->panel, "allocation_changes.change_bytes");
	char amount[NUMBER_MAX], text[WORDS_MAX];

	if (change.kind != TSCOPE_VALUE_INT || change.integer == 0)
		return;
	tsi_number_signed(amount, change, TSCOPE_UNIT_BYTES);
	snprintf(text, sizeof(text), "%s live at the end, see MEMORY for who holds it", amount);
	put_line(head, change.integer > 0 ? TEXT_RED : TEXT_GREEN, "MEMORY", text);
}

static void put_work(struct head *head)
{
	static const struct {
		const char *tag, *analyzer;
	} works[] = { { "KERNELS", "kernel_changes" }, { "OPS", "operator_changes" } };
	char text[WORDS_MAX];

	for (size_t i = 0; i < TSI_COUNT_OF(works); i++) {
		tsi_work_counts(head->panel, works[i].analyzer, text, sizeof(text));
		if (text[0] != '\0')
			put_line(head, TEXT_YELLOW, works[i].tag, text);
	}
}

static void put_ranks(struct head *head)
{
	struct change rank = tsi_change_first(head->panel, "rank_changes.list");
	int64_t count = tsi_lookup_int(head->panel->analysis, TSCOPE_WHOLE_TRACE,
				       "rank_changes.changed_count");
	char text[WORDS_MAX];

	if (rank.table.row_count < 2 || count == 0)
		return;
	snprintf(text, sizeof(text), "the step changed on %" PRId64 " of %zu that both have", count,
		 rank.table.row_count);
	put_line(head, TEXT_YELLOW, "RANKS", text);
}

static void put_findings(struct head *head)
{
	struct change finding = tsi_change_first(head->panel, "finding_changes.list");
	char counts[2 * NUMBER_MAX], text[WORDS_MAX];
	bool is_bad = tsi_change_is_there(&finding) && (tsi_change_is(&finding, "change", "new") ||
							tsi_change_is(&finding, "change", "worse"));

	tsi_finding_counts(head->panel, counts);
	if (counts[0] == '\0')
		return;
	snprintf(text, sizeof(text), "%s%s%.300s", counts, is_bad ? ": " : "",
		 is_bad ? tsi_change_text(&finding, "title") : "");
	tsi_str_drop_partial(text);
	put_line(head, is_bad ? TEXT_RED : TEXT_GREEN, "FINDINGS", text);
}

/* "1 entry of the configuration, 2 of the environment" */
static void put_settings(struct head *head)
{
	int64_t config = tsi_lookup_int(head->panel->analysis, TSCOPE_WHOLE_TRACE,
					"reproducibility.config_count");
	int64_t environment = tsi_lookup_int(head->panel->analysis, TSCOPE_WHOLE_TRACE,
					     "reproducibility.environment_count");
	char text[WORDS_MAX];

	if (config == 0 && environment == 0)
		return;
	snprintf(text, sizeof(text),
		 "%" PRId64 " of the configuration and %" PRId64 " of the environment differ",
		 config, environment);
	put_line(head, TEXT_YELLOW, "SETTINGS", text);
}

static void put_losses(struct head *head)
{
	struct tscope_value same =
		tsi_panel_value(head->panel, "reproducibility.identical_trajectory");
	struct tscope_value step =
		tsi_panel_value(head->panel, "reproducibility.first_divergence_step");
	char text[WORDS_MAX];

	if (same.kind != TSCOPE_VALUE_FLAG || same.flag)
		return;
	if (step.kind == TSCOPE_VALUE_INT)
		snprintf(text, sizeof(text), "the losses differ from step %" PRId64 " on",
			 step.integer);
	else
		snprintf(text, sizeof(text), "the losses differ");
	put_line(head, TEXT_YELLOW, "LOSS", text);
}

/* " -29.0 %", " sound → damaged", or "" */
static void format_difference(const struct change *fact, char text[2 * NUMBER_MAX])
{
	struct tscope_value ratio = tsi_change_cell(fact, "ratio");
	struct tscope_value a = tsi_change_cell(fact, "a"), b = tsi_change_cell(fact, "b");
	char percent[NUMBER_MAX];

	text[0] = '\0';
	if (ratio.kind == TSCOPE_VALUE_REAL) {
		format_percent(percent, ratio.real, true);
		snprintf(text, 2 * NUMBER_MAX, " %s", percent);
	} else if (a.kind == TSCOPE_VALUE_TEXT && b.kind == TSCOPE_VALUE_TEXT) {
		snprintf(text, 2 * NUMBER_MAX, " %.40s → %.40s", a.text, b.text);
		tsi_str_drop_partial(text);
	}
}

static void put_other_figures(struct head *head)
{
	struct change fact = tsi_change_first(head->panel, "fact_changes.list");
	size_t count = tsi_other_fact_count(head->panel), told = 0;
	char text[WORDS_MAX], difference[2 * NUMBER_MAX];
	size_t length;

	if (count == 0)
		return;
	length = (size_t)snprintf(text, sizeof(text), "%zu other%s", count, count == 1 ? "" : "s");
	for (; tsi_change_is_there(&fact) && told < LINES_SHOWN; fact.row++) {
		if (!tsi_is_other_fact(head->panel, &fact))
			continue;
		format_difference(&fact, difference);
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s %.64s%s",
					   told == 0 ? ":" : ",", tsi_change_text(&fact, "fact"),
					   difference);
		told++;
	}
	if (count > told)
		snprintf(text + length, sizeof(text) - length, " …");
	put_line(head, TEXT_YELLOW, "FIGURES", text);
}

/* What one side does not say was not compared. */
static void put_lacking(struct head *head, const char *id, const char *words)
{
	int64_t count = tsi_lookup_int(head->panel->analysis, TSCOPE_WHOLE_TRACE, id);
	char text[WORDS_MAX];

	if (count == 0)
		return;
	snprintf(text, sizeof(text), "%" PRId64 " figure%s %s; --all lists them", count,
		 count == 1 ? "" : "s", words);
	put_line(head, TEXT_YELLOW, "LACKING", text);
}

/* ---- the whole ---- */

/* No line was put: why there is none. */
static void put_no_change(const struct panel *panel, const char *verdict)
{
	char change[3 * NUMBER_MAX], interval[3 * NUMBER_MAX], count[NUMBER_MAX], text[WORDS_MAX];

	tsi_panel_number(panel, "fact_changes.compared_count", count);
	format_change(panel, change);
	format_interval(panel, interval);
	if (strcmp(verdict, "no_change") == 0)
		snprintf(text, sizeof(text),
			 "no change: %s of the mean step is within noise (%s), and nothing else "
			 "that matters differs",
			 change, interval);
	else
		snprintf(text, sizeof(text), "no change: of %s figures none differs", count);
	tsi_text_style(panel->w, TEXT_GREEN);
	tsi_text_put(panel->w, "  ");
	tsi_text_paragraph(panel->w, text, 2);
	tsi_text_style(panel->w, TEXT_PLAIN);
}

/* Behind the lines: what did not change. */
static void put_rest(const struct panel *panel, const char *verdict)
{
	char change[3 * NUMBER_MAX], interval[3 * NUMBER_MAX], text[WORDS_MAX];

	format_change(panel, change);
	format_interval(panel, interval);
	if (strcmp(verdict, "no_change") == 0)
		snprintf(text, sizeof(text),
			 "no significant change of the step: %s is within noise (%s)", change,
			 interval);
	else if (strcmp(verdict, "same") == 0)
		snprintf(text, sizeof(text), "the steps took the same time");
	else
		snprintf(text, sizeof(text), "nothing else that matters changed");
	tsi_text_repeat(panel->w, " ", TAG_WIDTH);
	tsi_text_style(panel->w, TEXT_DIM);
	tsi_text_paragraph(panel->w, text, TAG_WIDTH);
	tsi_text_style(panel->w, TEXT_PLAIN);
}

static void put_gates(const struct panel *panel, bool is_brief)
{
	size_t tripped = 0;

	for (size_t i = 0; i < panel->gate_count; i++)
		tripped += !panel->gates[i].held && !panel->gates[i].is_inconclusive;
	if (tripped == 0 || is_brief)
		return;
	tsi_text_put_styled(panel->w, TEXT_RED, "  GATE     ");
	tsi_text_printf(panel->w, "%zu of %zu tripped, see GATES\n", tripped, panel->gate_count);
}

void tsi_put_changes(const struct panel *panel, bool is_brief)
{
	const char *verdict = tsi_panel_text(panel, "step_change.verdict");
	struct head head = { .panel = panel };

	tsi_text_put(panel->w, "\n");
	put_step(&head, verdict);
	put_ranks(&head);
	put_work(&head);
	put_memory(&head);
	if (head.line_count == 0)
		put_live_bytes(&head);
	put_findings(&head);
	put_settings(&head);
	put_losses(&head);
	put_other_figures(&head);
	put_lacking(&head, "fact_changes.only_a_count", "of A are not in B");
	put_lacking(&head, "fact_changes.only_b_count", "of B are not in A");
	if (head.line_count == 0)
		put_no_change(panel, verdict);
	else
		put_rest(panel, verdict);
	put_gates(panel, is_brief);
}
