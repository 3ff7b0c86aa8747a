/* SPDX-License-Identifier: MIT */
/*
 * What changed, in a few lines: the step, kernels, memory, findings, settings. What the head of the
 * report of a comparison says is all that most people read.
 */
#include "report/diff_head.h"

#include "base/attributes.h"
#include "base/real.h"
#include "base/str.h"
#include "report/section.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { FIGURES_SHOWN = 3, WORDS_MAX = 512 };

void tsi_head_line(struct diff_head *head, enum text_style style, const char *tag,
		   const char *words)
{
	struct text_writer *w = head->panel->w;

	tsi_text_put(w, "  ");
	tsi_text_put_styled(w, style, tag);
	tsi_text_repeat(w, " ", HEAD_TAG_WIDTH - 2 - tsi_text_columns(tag));
	tsi_text_paragraph(w, words, HEAD_TAG_WIDTH);
	head->line_count++;
}

void tsi_head_percent(char text[NUMBER_MAX], double ratio, bool is_signed)
{
	double percent = is_signed ? ratio * 100 : fabs(ratio) * 100;
	bool is_small = fabs(percent) < 0.05 && percent != 0;
	char number[NUMBER_MAX];

	snprintf(number, sizeof(number), is_small ? "%.1g" : "%.1f", percent);
	tsi_real_put_point(number);
	snprintf(text, NUMBER_MAX, "%s%.40s %%", is_signed && percent > 0 ? "+" : "", number);
}

/* ---- all but time ---- */

static void put_memory(struct diff_head *head)
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
	tsi_head_percent(percent, ratio.kind == TSCOPE_VALUE_REAL ? ratio.real : 0, true);
	snprintf(text, sizeof(text), "%s %s%s%s%s: %s → %s", what, amount,
		 ratio.kind == TSCOPE_VALUE_REAL ? " (" : "",
		 ratio.kind == TSCOPE_VALUE_REAL ? percent : "",
		 ratio.kind == TSCOPE_VALUE_REAL ? ")" : "", a, b);
	tsi_head_line(head, is_more ? TEXT_RED : TEXT_GREEN, "MEMORY", text);
}

static void put_live_bytes(struct diff_head *head)
{
	struct tscope_value change =
		tsi_panel_value(head->panel, "allocation_changes.change_bytes");
	char amount[NUMBER_MAX], text[WORDS_MAX];

	if (change.kind != TSCOPE_VALUE_INT || change.integer == 0)
		return;
	tsi_number_signed(amount, change, TSCOPE_UNIT_BYTES);
	snprintf(text, sizeof(text), "%s live at the end, see MEMORY for who holds it", amount);
	tsi_head_line(head, change.integer > 0 ? TEXT_RED : TEXT_GREEN, "MEMORY", text);
}

static void put_work(struct diff_head *head)
{
	static const struct {
		const char *tag, *analyzer;
	} works[] = { { "KERNELS", "kernel_changes" }, { "OPS", "operator_changes" } };
	char counts[WORK_COUNTS_MAX], ranks[2 * NUMBER_MAX], text[WORDS_MAX];

	for (size_t i = 0; i < TSI_COUNT_OF(works); i++) {
		tsi_work_counts(head->panel, works[i].analyzer, counts, sizeof(counts));
		if (counts[0] == '\0')
			continue;
		tsi_work_ranks(head->panel, works[i].analyzer, ranks);
		snprintf(text, sizeof(text), "%s%s", counts, ranks);
		tsi_head_line(head, TEXT_YELLOW, works[i].tag, text);
	}
}

static void put_ranks(struct diff_head *head)
{
	struct change rank = tsi_change_first(head->panel, "rank_changes.list");
	int64_t count = tsi_lookup_int(head->panel->analysis, TSCOPE_WHOLE_TRACE,
				       "rank_changes.changed_count");
	struct lone_rank alone;
	char text[WORDS_MAX];

	if (rank.table.row_count < 2 || count == 0)
		return;
	if (tsi_find_lone_rank(head->panel, &alone))
		snprintf(text, sizeof(text),
			 "own time of rank %" PRId64 " changed by %s more than that of the others; "
			 "%s",
			 alone.number, alone.excess, alone.waiting);
	else
		snprintf(text, sizeof(text),
			 "the step changed on %" PRId64 " of %zu that both have", count,
			 rank.table.row_count);
	tsi_head_line(head, TEXT_YELLOW, "RANKS", text);
}

static void put_findings(struct diff_head *head)
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
	tsi_head_line(head, is_bad ? TEXT_RED : TEXT_GREEN, "FINDINGS", text);
}

/* "1 of the configuration and 2 of the environment differ"; what is 0 is left out. */
static void put_settings(struct diff_head *head)
{
	int64_t config = tsi_lookup_int(head->panel->analysis, TSCOPE_WHOLE_TRACE,
					"reproducibility.config_count");
	int64_t environment = tsi_lookup_int(head->panel->analysis, TSCOPE_WHOLE_TRACE,
					     "reproducibility.environment_count");
	char of_config[2 * NUMBER_MAX], of_environment[2 * NUMBER_MAX], text[WORDS_MAX];

	if (config == 0 && environment == 0)
		return;
	snprintf(of_config, sizeof(of_config), "%" PRId64 " of the configuration", config);
	snprintf(of_environment, sizeof(of_environment), "%" PRId64 " of the environment",
		 environment);
	snprintf(text, sizeof(text), "%s%s%s %s", config != 0 ? of_config : "",
		 config != 0 && environment != 0 ? " and " : "",
		 environment != 0 ? of_environment : "",
		 (config == 0        ? environment
		  : environment == 0 ? config
				     : 2) == 1
			 ? "differs"
			 : "differ");
	tsi_head_line(head, TEXT_YELLOW, "SETTINGS", text);
}

static void put_losses(struct diff_head *head)
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
	tsi_head_line(head, TEXT_YELLOW, "LOSS", text);
}

/* " -29.0 %", " sound → damaged", or "" */
static void format_difference(const struct change *fact, char text[2 * NUMBER_MAX])
{
	struct tscope_value ratio = tsi_change_cell(fact, "ratio");
	struct tscope_value a = tsi_change_cell(fact, "a"), b = tsi_change_cell(fact, "b");
	char percent[NUMBER_MAX];

	text[0] = '\0';
	if (ratio.kind == TSCOPE_VALUE_REAL) {
		tsi_head_percent(percent, ratio.real, true);
		snprintf(text, 2 * NUMBER_MAX, " %s", percent);
	} else if (a.kind == TSCOPE_VALUE_TEXT && b.kind == TSCOPE_VALUE_TEXT) {
		snprintf(text, 2 * NUMBER_MAX, " %.40s → %.40s", a.text, b.text);
		tsi_str_drop_partial(text);
	}
}

static void put_other_figures(struct diff_head *head)
{
	struct change fact = tsi_change_first(head->panel, "fact_changes.list");
	size_t count = tsi_other_fact_count(head->panel), told = 0;
	char text[WORDS_MAX], difference[2 * NUMBER_MAX];
	size_t length;

	if (count == 0)
		return;
	length = (size_t)snprintf(text, sizeof(text), "%zu other%s", count, count == 1 ? "" : "s");
	for (; tsi_change_is_there(&fact) && told < FIGURES_SHOWN; fact.row++) {
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
	tsi_head_line(head, TEXT_YELLOW, "FIGURES", text);
}

/* What one side does not say was not compared. */
static void put_lacking(struct diff_head *head, const char *id, const char *side, const char *other)
{
	int64_t count = tsi_lookup_int(head->panel->analysis, TSCOPE_WHOLE_TRACE, id);
	char text[WORDS_MAX];

	if (count == 0)
		return;
	snprintf(text, sizeof(text), "%" PRId64 " figure%s of %s %s not in %s; --all lists %s",
		 count, count == 1 ? "" : "s", side, count == 1 ? "is" : "are", other,
		 count == 1 ? "it" : "them");
	tsi_head_line(head, TEXT_YELLOW, "LACKING", text);
}

/* ---- the whole ---- */

/* No line was put: why there is none. */
static void put_no_change(const struct panel *panel, const char *verdict)
{
	char noise[HEAD_NOISE_MAX], count[NUMBER_MAX], text[WORDS_MAX];

	tsi_panel_number(panel, "fact_changes.compared_count", count);
	tsi_head_noise(panel, noise);
	if (strcmp(verdict, "no_change") == 0)
		snprintf(text, sizeof(text), "no change: %s; nothing else that matters differs",
			 noise);
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
	char noise[HEAD_NOISE_MAX], text[WORDS_MAX];

	tsi_head_noise(panel, noise);
	if (strcmp(verdict, "no_change") == 0)
		snprintf(text, sizeof(text), "no significant change: %s", noise);
	else if (strcmp(verdict, "same") == 0)
		snprintf(text, sizeof(text), "the steps took the same time");
	else
		snprintf(text, sizeof(text), "nothing else that matters changed");
	tsi_text_repeat(panel->w, " ", HEAD_TAG_WIDTH);
	tsi_text_style(panel->w, TEXT_DIM);
	tsi_text_paragraph(panel->w, text, HEAD_TAG_WIDTH);
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
	struct diff_head head = { .panel = panel };

	tsi_text_put(panel->w, "\n");
	tsi_head_step(&head, verdict);
	put_ranks(&head);
	put_work(&head);
	put_memory(&head);
	if (head.line_count == 0)
		put_live_bytes(&head);
	put_findings(&head);
	put_settings(&head);
	put_losses(&head);
	put_other_figures(&head);
	put_lacking(&head, "fact_changes.only_a_count", "A", "B");
	put_lacking(&head, "fact_changes.only_b_count", "B", "A");
	if (head.line_count == 0)
		put_no_change(panel, verdict);
	else
		put_rest(panel, verdict);
	put_gates(panel, is_brief);
}
