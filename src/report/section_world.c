/* SPDX-License-Identifier: MIT */
/*
 * Sections about what the traces of several ranks say together: who is late
 * and why, what the job would win without it, and what collectives take without waiting.
 */
#include "report/section.h"

#include "base/rank_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- stragglers ---- */

/* "  rank 17  slow clock: kernels 5.1 % longer throughout" */
static void put_cause(const struct panel *panel, const struct table_view *causes, size_t row)
{
	const char *detail = tsi_table_text(causes, row, "detail");

	tsi_doc_line(panel->doc, DOC_CAUSE, DOC_PLAIN,
		     tsi_panel_print(panel, "rank %lld",
				     (long long)tsi_table_find(causes, row, "rank").integer),
		     "%s%s%s", tsi_panel_spaced(panel, tsi_table_text(causes, row, "cause")),
		     *detail ? ": " : "", detail);
}

/* "             the same: ranks 16-18, 20" */
static void put_likes(const struct panel *panel, const struct table_view *causes, size_t first)
{
	const char *cause = tsi_table_text(causes, first, "cause");
	struct rank_text ranks = { .text = "" };

	for (size_t row = 0; row < causes->row_count; row++)
		if (row != first && strcmp(tsi_table_text(causes, row, "cause"), cause) == 0)
			tsi_rank_text_add(&ranks, tsi_table_find(causes, row, "rank").integer);
	tsi_rank_text_end(&ranks);
	if (ranks.text[0])
		tsi_doc_line(panel->doc, DOC_CAUSE, DOC_PLAIN, "", "the same: rank%s %s",
			     strpbrk(ranks.text, ",-") ? "s" : "", ranks.text);
}

/* Row with the longest excess among those of the same cause; SIZE_MAX if `row` is not the first. */
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
		put_cause(panel, &causes, longest);
		put_likes(panel, &causes, longest);
	}
}

/* "  all of node a: 8 of its 8 ranks are late" */
static void put_common(const struct panel *panel)
{
	struct table_view groups = tsi_panel_rows(panel, "stragglers.groups");

	for (size_t row = 0; row < groups.row_count; row++)
		tsi_doc_note(panel->doc, "%s %s: %lld of its %lld ranks are late",
			     tsi_table_text(&groups, row, "kind"),
			     tsi_table_text(&groups, row, "name"),
			     (long long)tsi_table_find(&groups, row, "late_count").integer,
			     (long long)tsi_table_find(&groups, row, "rank_count").integer);
}

enum { LINE_WIDTH = 14, TIME_WIDTH = 11 };

static void put_line(const struct panel *panel, struct doc_table *table,
		     const struct table_view *lines, size_t row)
{
	static const char *const columns[] = { "line", "rank_ns", "others_ns", "excess_ns" };
	struct doc_row *shown = tsi_doc_row(panel->doc, table);

	for (size_t i = 0; shown && i < TSI_COUNT_OF(columns); i++)
		shown->cells[i].value = tsi_table_find(lines, row, columns[i]);
	if (shown)
		shown->cells[0].text = tsi_panel_spaced(panel, tsi_table_text(lines, row, "line"));
}

/* The excess of a rank in one line is worth reading from this share of its most on. */
static const double least_share = 0.02;

static double most_excess(const struct table_view *lines, int64_t rank)
{
	double most_ns = 0;

	for (size_t row = 0; row < lines->row_count; row++)
		if (tsi_table_find(lines, row, "rank").integer == rank)
			most_ns =
				fmax(most_ns,
				     fabs((double)tsi_table_find(lines, row, "excess_ns").integer));
	return most_ns;
}

/* In which lines of the budget a late rank differs. */
static void put_lines(const struct panel *panel, const struct table_view *lines, int64_t rank)
{
	const char *name = tsi_panel_print(panel, "rank %lld", (long long)rank);
	const struct doc_column columns[] = {
		{ "budget", TSCOPE_UNIT_TEXT, .least = LINE_WIDTH, .most = LINE_WIDTH - 1 },
		{ name, TSCOPE_UNIT_NS, .width = TIME_WIDTH },
		{ "others", TSCOPE_UNIT_NS, .width = TIME_WIDTH, .is_minor = true },
		{ "excess", TSCOPE_UNIT_NS, .width = TIME_WIDTH },
	};
	double most_ns = most_excess(lines, rank);
	struct doc_table *table;

	if (most_ns <= 0)
		return;
	table = tsi_doc_table(panel->doc, columns, TSI_COUNT_OF(columns));
	if (table)
		table->keeps_empty = true;
	for (size_t row = 0; row < lines->row_count; row++)
		if (tsi_table_find(lines, row, "rank").integer == rank &&
		    fabs((double)tsi_table_find(lines, row, "excess_ns").integer) >=
			    least_share * most_ns)
			put_line(panel, table, lines, row);
}

/* The first few late ranks. */
static void put_ranks(const struct panel *panel)
{
	enum { SHOWN_RANKS = 4 };
	struct table_view causes = tsi_panel_rows(panel, "stragglers.causes");
	struct table_view lines = tsi_panel_rows(panel, "stragglers.lines");
	size_t count = causes.row_count;

	if (count > SHOWN_RANKS && panel->options->top == 0)
		count = SHOWN_RANKS;
	else if (panel->options->top > 0 && count > panel->options->top)
		count = panel->options->top;
	for (size_t row = 0; row < count; row++)
		put_lines(panel, &lines, tsi_table_find(&causes, row, "rank").integer);
	if (count < causes.row_count)
		tsi_doc_note(panel->doc, "and %zu more ranks: --top", causes.row_count - count);
}

void tsi_section_stragglers(const struct panel *panel)
{
	size_t count = tsi_panel_row_count(panel, "stragglers.causes");

	if (count == 0)
		return;
	tsi_panel_title(panel, DOC_WARN, "stragglers", "STRAGGLERS",
			"%zu · up to %s per step slower than the others", count,
			tsi_panel_number(panel, "stragglers.excess_ns_per_step"));
	put_causes(panel);
	put_common(panel);
	put_ranks(panel);
}

/* ---- what if ---- */

enum {
	SHOWN_MIN_PART = 1000
}; /* "critical path across ranks: rank 17 has 86.1 % of its work · transfer of a step 410 µs" */
static void put_path(const struct panel *panel)
{
	struct tscope_value rank = tsi_panel_value(panel, "cross_rank_path.main_rank");

	if (rank.kind != TSCOPE_VALUE_INT)
		return;
	tsi_doc_note(
		panel->doc,
		"critical path across ranks: %s of its work on rank %lld · %s of transfer per step",
		tsi_panel_number(panel, "cross_rank_path.main_rank_ratio"), (long long)rank.integer,
		tsi_panel_number(panel, "cross_rank_path.transfer_ns"));
}

static void put_gains(const struct panel *panel)
{
	static const struct part gains[] = {
		{ "equal work", "what_if.balanced_gain_ns", DOC_INFO },
		{ "ideal overlap", "what_if.ideal_overlap_gain_ns", DOC_INFO },
		{ "ideal network", "what_if.ideal_network_gain_ns", DOC_INFO },
		{ "no data stall", "what_if.no_data_stall_gain_ns", DOC_INFO },
	};
	struct part rank_part = { .id = "what_if.no_straggler_gain_ns", .tone = DOC_INFO };
	struct tscope_value rank = tsi_panel_value(panel, "what_if.straggler_rank");
	int64_t step_ns = tsi_panel_int(panel, "what_if.simulated_step_ns");
	struct whole step = { step_ns, step_ns / SHOWN_MIN_PART, 0 };

	if (rank.kind == TSCOPE_VALUE_INT) {
		rank_part.label =
			tsi_panel_print(panel, "rank %lld as others", (long long)rank.integer);
		tsi_panel_parts(panel, &step, &rank_part, 1);
	}
	tsi_panel_parts(panel, &step, gains, TSI_COUNT_OF(gains));
}

/* Why gains alone must not be believed; of all figures the title says it. */
static void put_doubt_of_gains(const struct panel *panel)
{
	size_t analyzer = tsi_lookup_analyzer("what_if");
	const char *gains_doubt =
		tsi_lookup_doubt(panel->analysis, "what_if.ideal_network_gain_ns");

	if (!gains_doubt ||
	    tscope_analysis_reliability(panel->analysis, analyzer, TSCOPE_WHOLE_TRACE))
		return;
	tsi_doc_line(panel->doc, DOC_DOUBT, DOC_WARN, "doubtful:", "%s", gains_doubt);
}

void tsi_section_what_if(const struct panel *panel)
{
	if (!tsi_panel_has(panel, "what_if.simulated_step_ns"))
		return;
	tsi_panel_title(panel, DOC_INFO, "what_if", "WHAT IF",
			"simulated saving per step (simulated baseline %s; measured %s)",
			tsi_panel_number(panel, "what_if.simulated_step_ns"),
			tsi_panel_number(panel, "what_if.step_ns"));
	put_doubt_of_gains(panel);
	if (tsi_panel_has(panel, "what_if.played_step_count"))
		tsi_doc_note(panel->doc, "simulated: %" PRId64 " of %" PRId64 " steps",
			     tsi_panel_int(panel, "what_if.played_step_count"),
			     tsi_panel_int(panel, "what_if.played_of_step_count"));
	put_gains(panel);
	put_path(panel);
}

/* ---- transfers ---- */

/* Mismatches, if any. */
static void put_mismatches(const struct panel *panel)
{
	static const struct {
		const char *words, *id;
	} counts[] = {
		{ "collectives that differ among ranks", "process_groups.mismatched_count" },
		{ "missing on some ranks", "process_groups.missing_count" },
		{ "extra on one rank", "process_groups.surplus_count" },
		{ "cut by a capture", "process_groups.cut_count" },
	};
	struct doc_line *line = tsi_doc_items(panel->doc, DOC_FIGURES, DOC_PLAIN, NULL);

	for (size_t i = 0; i < TSI_COUNT_OF(counts); i++) {
		struct tscope_value count = tsi_panel_value(panel, counts[i].id);

		if (count.kind != TSCOPE_VALUE_INT || count.integer == 0)
			continue;
		tsi_doc_item(panel->doc, line, "%s %s", counts[i].words,
			     tsi_panel_people(panel, count, TSCOPE_UNIT_COUNT));
	}
}

static void put_slow_links(const struct panel *panel)
{
	struct table_view links = tsi_panel_rows(panel, "transfers.slow_links");

	for (size_t row = 0; row < links.row_count && row < panel->top; row++) {
		struct tscope_value ratio = tsi_table_find(&links, row, "slowdown_ratio");

		tsi_doc_line(panel->doc, DOC_TAGGED, DOC_WARN, "slow link",
			     "%s of ranks %s takes %s longer than its likes",
			     tsi_table_text(&links, row, "kind"),
			     tsi_table_text(&links, row, "ranks"),
			     tsi_panel_people(panel, ratio, TSCOPE_UNIT_RATIO));
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

	if (!tsi_panel_has(panel, "transfers.wait_ratio"))
		return;
	tsi_panel_title(panel, DOC_INFO, "transfers", "TRANSFERS",
			"matched collectives %s · process groups %s · %s of their time is waiting",
			tsi_panel_number(panel, "transfers.count"),
			tsi_panel_number(panel, "process_groups.group_count"),
			tsi_panel_number(panel, "transfers.wait_ratio"));
	put_mismatches(panel);
	put_slow_links(panel);
	tsi_panel_table(panel, "transfers.by_size", columns, TSI_COUNT_OF(columns));
}
