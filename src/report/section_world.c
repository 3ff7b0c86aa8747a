/* SPDX-License-Identifier: MIT */
/*
 * Sections of the text report about what the traces of several ranks say together: who is late
 * and why, what the job would win without it, and what collectives take without waiting.
 */
#include "report/section.h"

#include "analyze/lookup.h"
#include "base/attributes.h"
#include "base/rank_text.h"

#include <math.h>
#include <string.h>

/* ---- stragglers ---- */

/* "launch_stall" in words */
static void put_spaces(char *name)
{
	for (char *at = name; (at = strchr(at, '_'));)
		*at = ' ';
}

/* "  rank 17  slow clock: kernels 5.1 % longer throughout" */
static void put_cause(struct text_writer *w, const struct table_view *causes, size_t row)
{
	const char *detail = tsi_table_text(causes, row, "detail");
	char text[1200];
	int length = snprintf(text, sizeof(text), "%s", tsi_table_text(causes, row, "cause"));

	put_spaces(text);
	snprintf(text + length, sizeof(text) - (size_t)length, "%s%s", *detail ? ": " : "", detail);
	tsi_text_printf(w, "  rank %-5lld ",
			(long long)tsi_table_find(causes, row, "rank").integer);
	tsi_text_paragraph(w, text, 13);
}

/* "             the same: ranks 16-18, 20" */
static void put_likes(struct text_writer *w, const struct table_view *causes, size_t first)
{
	const char *cause = tsi_table_text(causes, first, "cause");
	struct rank_text ranks = { .text = "" };
	char text[1100];

	for (size_t row = 0; row < causes->row_count; row++)
		if (row != first && strcmp(tsi_table_text(causes, row, "cause"), cause) == 0)
			tsi_rank_text_add(&ranks, tsi_table_find(causes, row, "rank").integer);
	tsi_rank_text_end(&ranks);
	if (!ranks.text[0])
		return;
	snprintf(text, sizeof(text), "the same: ranks %s", ranks.text);
	tsi_text_repeat(w, " ", 13);
	tsi_text_paragraph(w, text, 13);
}

/* Of the ranks with one cause, the one with the longest excess; SIZE_MAX: row is not the first. */
static size_t longest_of_cause(const struct table_view *causes, size_t row)
{
	const char *cause = tsi_table_text(causes, row, "cause");
	size_t longest = row;

	for (size_t i = 0; i < causes->row_count; i++) {
		if (strcmp(tsi_table_text(causes, i, "cause"), cause) != 0)
			continue;
		if (i < row)
			return SIZE_MAX;
		if (tsi_table_find(causes, i, "excess_ns_per_step").integer >
		    tsi_table_find(causes, longest, "excess_ns_per_step").integer)
			longest = i;
	}
	return longest;
}

/* One rank, or the slowest of those that have the same cause. */
static void put_causes(const struct panel *panel)
{
	struct table_view causes = tsi_panel_rows(panel, "stragglers.causes");

	for (size_t row = 0; row < causes.row_count; row++) {
		size_t longest = longest_of_cause(&causes, row);

		if (longest == SIZE_MAX)
			continue;
		put_cause(panel->w, &causes, longest);
		put_likes(panel->w, &causes, longest);
	}
}

/* "  all of node a: 8 of its 8 ranks are late" */
static void put_common(const struct panel *panel)
{
	struct table_view groups = tsi_panel_rows(panel, "stragglers.groups");
	struct text_writer *w = panel->w;
	char text[1200];

	for (size_t row = 0; row < groups.row_count; row++) {
		snprintf(text, sizeof(text), "%s %s: %lld of its %lld ranks are late",
			 tsi_table_text(&groups, row, "kind"), tsi_table_text(&groups, row, "name"),
			 (long long)tsi_table_find(&groups, row, "late_count").integer,
			 (long long)tsi_table_find(&groups, row, "rank_count").integer);
		tsi_text_put(w, "  ");
		tsi_text_paragraph(w, text, 2);
	}
}

enum { LINE_WIDTH = 14, TIME_WIDTH = 11 };

static void put_line(struct text_writer *w, const struct table_view *lines, size_t row)
{
	static const char *const columns[] = { "rank_ns", "others_ns", "excess_ns" };
	char text[NUMBER_MAX];

	snprintf(text, sizeof(text), "%s", tsi_table_text(lines, row, "line"));
	put_spaces(text);
	tsi_text_put(w, "  ");
	tsi_text_name_cell(w, text, LINE_WIDTH - 1);
	for (size_t i = 0; i < TSI_COUNT_OF(columns); i++) {
		if (i == 1 && w->width < 2 + LINE_WIDTH + 3 * TIME_WIDTH)
			continue;
		tsi_number_people(text, tsi_table_find(lines, row, columns[i]), TSCOPE_UNIT_NS);
		tsi_text_right(w, text, TIME_WIDTH);
	}
	tsi_text_put(w, "\n");
}

/* In which lines of the budget the slowest rank differs: those with a share worth reading. */
static void put_lines(const struct panel *panel)
{
	static const double least_share = 0.02; /* of the longest excess */
	struct table_view lines = tsi_panel_rows(panel, "stragglers.lines");
	struct text_writer *w = panel->w;
	double most_ns = 0;

	for (size_t row = 0; row < lines.row_count; row++)
		most_ns = fmax(most_ns,
			       fabs((double)tsi_table_find(&lines, row, "excess_ns").integer));
	if (most_ns <= 0)
		return;
	tsi_text_style(w, TEXT_DIM);
	tsi_text_put(w, "\n  ");
	tsi_text_name_cell(w, "budget", LINE_WIDTH - 1);
	tsi_text_right(w, "slowest", TIME_WIDTH);
	if (w->width >= 2 + LINE_WIDTH + 3 * TIME_WIDTH)
		tsi_text_right(w, "others", TIME_WIDTH);
	tsi_text_right(w, "excess", TIME_WIDTH);
	tsi_text_style(w, TEXT_PLAIN);
	tsi_text_put(w, "\n");
	for (size_t row = 0; row < lines.row_count; row++)
		if (fabs((double)tsi_table_find(&lines, row, "excess_ns").integer) >=
		    least_share * most_ns)
			put_line(w, &lines, row);
}

void tsi_section_stragglers(const struct panel *panel)
{
	size_t count = tsi_panel_rows(panel, "stragglers.causes").row_count;
	char excess[NUMBER_MAX];

	if (count == 0)
		return;
	tsi_panel_number(panel, "stragglers.excess_ns_per_step", excess);
	tsi_panel_title(panel, TEXT_YELLOW, "stragglers", "STRAGGLERS",
			"%zu · up to %s a step more time of its own than the others", count,
			excess);
	put_causes(panel);
	put_common(panel);
	put_lines(panel);
}

/* ---- what if ---- */

enum { SHOWN_MIN_PART = 1000 }; /* what wins less than 1 ÷ 1000 of the step is left out */

static void put_gain(const struct panel *panel, const char *label, const char *id)
{
	struct tscope_value gain = tsi_panel_value(panel, id);
	int64_t step_ns = tsi_panel_value(panel, "what_if.simulated_step_ns").integer;

	if (gain.kind != TSCOPE_VALUE_INT || gain.integer <= step_ns / SHOWN_MIN_PART)
		return;
	tsi_panel_meter(panel, &(struct meter){
				       .label = label,
				       .part = gain.integer,
				       .whole = step_ns,
				       .shown = gain.integer,
				       .style = TEXT_CYAN,
				       .unit = TSCOPE_UNIT_NS,
			       });
}

/* "critical path across ranks: rank 17 has 86.1 % of its work · transfer of a step 410 µs" */
static void put_path(const struct panel *panel)
{
	struct tscope_value rank = tsi_panel_value(panel, "cross_rank_path.main_rank");
	char share[NUMBER_MAX], transfer[NUMBER_MAX], text[4 * NUMBER_MAX];

	if (rank.kind != TSCOPE_VALUE_INT)
		return;
	tsi_panel_number(panel, "cross_rank_path.main_rank_ratio", share);
	tsi_panel_number(panel, "cross_rank_path.transfer_ns", transfer);
	snprintf(text, sizeof(text),
		 "critical path across ranks: %s of its work on rank %lld · %s of transfer a step",
		 share, (long long)rank.integer, transfer);
	tsi_text_put(panel->w, "  ");
	tsi_text_paragraph(panel->w, text, 2);
}

static void put_gains(const struct panel *panel)
{
	static const struct {
		const char *label, *id;
	} gains[] = {
		{ "equal work", "what_if.balanced_gain_ns" },
		{ "ideal overlap", "what_if.ideal_overlap_gain_ns" },
		{ "ideal network", "what_if.ideal_network_gain_ns" },
		{ "no data stall", "what_if.no_data_stall_gain_ns" },
	};
	struct tscope_value rank = tsi_panel_value(panel, "what_if.straggler_rank");
	char label[NUMBER_MAX + 16];

	if (rank.kind == TSCOPE_VALUE_INT) {
		snprintf(label, sizeof(label), "rank %lld as others", (long long)rank.integer);
		put_gain(panel, label, "what_if.no_straggler_gain_ns");
	}
	for (size_t i = 0; i < TSI_COUNT_OF(gains); i++)
		put_gain(panel, gains[i].label, gains[i].id);
}

/* Why gains alone must not be believed; of all figures the title says it. */
static void put_doubt_of_gains(const struct panel *panel)
{
	size_t analyzer = tsi_lookup_analyzer("what_if");
	const char *of_gains = tsi_lookup_doubt(panel->analysis, "what_if.ideal_network_gain_ns");

	if (!of_gains || tscope_analysis_reliability(panel->analysis, analyzer, TSCOPE_WHOLE_TRACE))
		return;
	tsi_text_style(panel->w, TEXT_YELLOW);
	tsi_text_put(panel->w, "  doubtful: ");
	tsi_text_paragraph(panel->w, of_gains, 12);
	tsi_text_style(panel->w, TEXT_PLAIN);
}

void tsi_section_what_if(const struct panel *panel)
{
	char measured[NUMBER_MAX], simulated[NUMBER_MAX];

	if (!tsi_panel_has(panel, "what_if.simulated_step_ns"))
		return;
	tsi_panel_number(panel, "what_if.step_ns", measured);
	tsi_panel_number(panel, "what_if.simulated_step_ns", simulated);
	tsi_panel_title(panel, TEXT_CYAN, "what_if", "WHAT IF",
			"gain a step, by simulation: unchanged %s, measured %s", simulated,
			measured);
	put_doubt_of_gains(panel);
	put_gains(panel);
	put_path(panel);
}

/* ---- transfers ---- */

/* What does not match, if anything. */
static void put_mismatches(const struct panel *panel)
{
	static const struct {
		const char *words, *id;
	} counts[] = {
		{ "not equal on all ranks", "process_groups.mismatched_count" },
		{ "not there on some ranks", "process_groups.missing_count" },
		{ "on one rank alone", "process_groups.surplus_count" },
		{ "outside some capture", "process_groups.cut_count" },
	};
	struct text_flow flow = { .w = panel->w, .separator = " · ", .indent = 2 };
	char number[NUMBER_MAX], text[2 * NUMBER_MAX];

	for (size_t i = 0; i < TSI_COUNT_OF(counts); i++) {
		struct tscope_value count = tsi_panel_value(panel, counts[i].id);

		if (count.kind != TSCOPE_VALUE_INT || count.integer == 0)
			continue;
		tsi_number_people(number, count, TSCOPE_UNIT_COUNT);
		snprintf(text, sizeof(text), "%s %s", counts[i].words, number);
		tsi_text_flow(&flow, text);
	}
	tsi_text_flow_end(&flow);
}

static void put_slow_links(const struct panel *panel)
{
	struct table_view links = tsi_panel_rows(panel, "transfers.slow_links");
	struct text_writer *w = panel->w;
	char slowdown[NUMBER_MAX], text[1200];

	for (size_t row = 0; row < links.row_count && row < panel->top; row++) {
		struct tscope_value ratio = tsi_table_find(&links, row, "slowdown_ratio");

		tsi_number_people(slowdown, ratio, TSCOPE_UNIT_RATIO);
		snprintf(text, sizeof(text), "%s of ranks %s takes %s longer than its likes",
			 tsi_table_text(&links, row, "kind"), tsi_table_text(&links, row, "ranks"),
			 slowdown);
		tsi_text_put_styled(w, TEXT_YELLOW, "  slow link  ");
		tsi_text_paragraph(w, text, 13);
	}
}

void tsi_section_transfers(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "collective", "kind", 0 },           { "ranks", "group_size", 7 },
		{ "transfer", "transfer_ns", 11 },     { "wait", "mean_wait_ns", 11 },
		{ "size", "message_bytes", 10 },       { "count", "count", 8 },
		{ "bus", "bus_bytes_per_second", 11 },
	};
	char count[NUMBER_MAX], waiting[NUMBER_MAX], groups[NUMBER_MAX];

	if (!tsi_panel_has(panel, "transfers.wait_ratio"))
		return;
	tsi_panel_number(panel, "transfers.count", count);
	tsi_panel_number(panel, "transfers.wait_ratio", waiting);
	tsi_panel_number(panel, "process_groups.group_count", groups);
	tsi_panel_title(panel, TEXT_CYAN, "transfers", "TRANSFERS",
			"matched collectives %s · process groups %s · %s of their time is waiting",
			count, groups, waiting);
	put_mismatches(panel);
	put_slow_links(panel);
	tsi_panel_table(panel, "transfers.by_size", columns, TSI_COUNT_OF(columns));
}
