/* SPDX-License-Identifier: MIT */
/*
 * Sections of the report of a comparison about time: what explains the change of the step, rank by
 * rank, and which kernels and operators changed.
 */
#include "report/section.h"

#include "base/attributes.h"
#include "base/sum.h"
#include "report/change_words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { PARTS_SHOWN = 3, PART_INDENT = 2 };

/* ---- what explains the change ---- */

static bool is_line_shown(const struct panel *panel, const struct change *line)
{
	return panel->all || tsi_is_line_worth(panel, line);
}

static size_t shown_lines(const struct panel *panel)
{
	struct change line = tsi_change_first(panel, "explanation.lines");
	size_t count = 0;

	for (; tsi_change_is_there(&line); line.row++)
		count += is_line_shown(panel, &line);
	return count;
}

static void put_times(const struct panel *panel, const struct change *row, struct change_line *line)
{
	line->a = tsi_change_cell(row, "a_ns");
	line->b = tsi_change_cell(row, "b_ns");
	line->change = tsi_change_cell(row, "change_ns");
	line->unit = TSCOPE_UNIT_NS;
	line->is_cost = true;
	tsi_put_change_line(panel, line);
}

static void put_part(const struct panel *panel, const struct change *part)
{
	const char *name = tsi_change_text(part, "part"), *a_name = tsi_change_text(part, "a_part");

	put_times(panel, part,
		  &(struct change_line){ .name = *name != '\0' ? name : "the rest",
					 .indent = PART_INDENT,
					 .word = tsi_change_text(part, "change") });
	if (*a_name != '\0')
		tsi_put_change_note(panel, "in place of ", a_name);
}

/* Leaves a row out, and adds it to the rest unless it changes nothing. */
static void leave_out(struct change_rest *rest, const struct change *row)
{
	int64_t change_ns = tsi_change_int(row, "change_ns");

	rest->count += change_ns != 0;
	tsi_sum_signed(&rest->ns, change_ns);
}

/* The parts of a line with the largest changes, and what there is besides. */
static void put_parts(const struct panel *panel, const struct change *line)
{
	size_t limit = panel->all ? panel->top : PARTS_SHOWN, count = 0;
	struct change part = tsi_change_first(panel, "explanation.parts");
	struct change_rest rest = { 0 };

	for (; tsi_change_is_there(&part); part.row++) {
		if (!tsi_change_is(&part, "line", tsi_change_text(line, "line")))
			continue;
		if (count < limit &&
		    (panel->all || !tsi_is_negligible(tsi_change_int(&part, "change_ns"),
						      tsi_change_int(line, "change_ns")))) {
			put_part(panel, &part);
			count++;
		} else {
			leave_out(&rest, &part);
		}
	}
	tsi_put_rest(panel, PART_INDENT, &rest);
}

static void put_lines(const struct panel *panel)
{
	struct change line = tsi_change_first(panel, "explanation.lines");
	struct change_rest rest = { 0 };
	char words[LINE_WORDS_MAX];
	size_t count = 0;

	for (; tsi_change_is_there(&line); line.row++) {
		if (!is_line_shown(panel, &line) || count == panel->top) {
			leave_out(&rest, &line);
			continue;
		}
		count++;
		tsi_line_words(words, tsi_change_text(&line, "line"));
		put_times(panel, &line,
			  &(struct change_line){ .name = words,
						 .word = tsi_change_is_real(&line) ? "significant"
										   : "",
						 .is_bold = true });
		put_parts(panel, &line);
	}
	tsi_put_rest(panel, 0, &rest);
}

static void put_note(const struct panel *panel, const char *text)
{
	tsi_text_put(panel->w, "  ");
	tsi_text_paragraph(panel->w, text, 2);
}

/* Of several ranks: which one it is, whether it alone changed, and what the others add. */
static void put_ranks_explained(const struct panel *panel)
{
	struct tscope_value a = tsi_panel_value(panel, "explanation.a_rank");
	struct tscope_value b = tsi_panel_value(panel, "explanation.b_rank");
	struct tscope_value rest = tsi_panel_value(panel, "explanation.rest_ns");
	char number[NUMBER_MAX], text[4 * NUMBER_MAX];
	struct lone_rank alone;

	if (a.kind == TSCOPE_VALUE_INT && b.kind == TSCOPE_VALUE_INT) {
		snprintf(text, sizeof(text),
			 a.integer == b.integer ? "explained is rank %" PRId64
						: "explained is rank %" PRId64
						  " of A against rank %" PRId64 " of B",
			 a.integer, b.integer);
		put_note(panel, text);
	}
	if (tsi_find_lone_rank(panel, &alone)) {
		snprintf(text, sizeof(text),
			 "its own time alone changed, by %s more than that of the others; %s",
			 alone.excess, alone.waiting);
		put_note(panel, text);
	}
	if (rest.kind != TSCOPE_VALUE_INT || rest.integer == 0)
		return;
	tsi_number_signed(number, rest, TSCOPE_UNIT_NS);
	snprintf(text, sizeof(text), "%s more: other ranks are slower in some steps", number);
	put_note(panel, text);
}

void tsi_section_explanation(const struct panel *panel)
{
	struct tscope_value change = tsi_panel_value(panel, "explanation.change_ns");
	bool is_real = strcmp(tsi_panel_text(panel, "step_change.verdict"), "changed") == 0;
	bool is_noise = strcmp(tsi_panel_text(panel, "step_change.verdict"), "no_change") == 0;
	bool is_open = strcmp(tsi_panel_text(panel, "step_change.verdict"), "undecided") == 0;
	char number[NUMBER_MAX];

	if (shown_lines(panel) == 0 || (is_noise && !panel->all))
		return;
	tsi_number_signed(number, change, TSCOPE_UNIT_NS);
	tsi_panel_title(panel, is_real ? TEXT_YELLOW : TEXT_DIM, "explanation", "EXPLANATION",
			"of %s in the mean step%s", number,
			is_noise || is_open ? ", which may be noise" : "");
	put_ranks_explained(panel);
	tsi_change_headings(panel, "line of the step");
	put_lines(panel);
}

/* ---- ranks ---- */

/* "slower", "faster"; what is no change has no word. */
static const char *speed_word(const struct change *rank)
{
	if (tsi_change_is(rank, "verdict", "undecided"))
		return "cannot tell";
	if (!tsi_change_is_real(rank))
		return "";
	return tsi_change_int(rank, "change_ns") > 0 ? "slower" : "faster";
}

/* Times of ranks: of the step or, where one rank makes others wait, what each has of its own. */
struct rank_times {
	const char *heading, *a, *b, *change;
	bool has_lone;
	struct lone_rank lone;
};

static struct rank_times choose_times(const struct panel *panel)
{
	struct rank_times times = { "mean step of", "a_ns", "b_ns", "change_ns", false, { 0 } };

	times.has_lone = tsi_find_lone_rank(panel, &times.lone);
	if (!times.has_lone)
		return times;
	times.heading = "step less communication";
	times.a = "a_own_ns";
	times.b = "b_own_ns";
	times.change = "own_change_ns";
	return times;
}

/* "  only in A: 4, 5, 6" */
static void put_lone_ranks(const struct panel *panel, const char *words, const char *id)
{
	struct table_view ranks = tsi_lookup_table(panel->analysis, TSCOPE_WHOLE_TRACE, id);
	struct text_flow flow = { .w = panel->w, .separator = ", ", .indent = 2 };
	char text[2 * NUMBER_MAX];

	for (size_t row = 0; row < ranks.row_count && row < panel->top; row++) {
		snprintf(text, sizeof(text), "%s%" PRId64, row == 0 ? words : "",
			 tsi_table_cell(&ranks, row, 0).integer);
		tsi_text_flow(&flow, text);
	}
	if (ranks.row_count > panel->top) {
		snprintf(text, sizeof(text), "and %zu more", ranks.row_count - panel->top);
		tsi_text_flow(&flow, text);
	}
	tsi_text_flow_end(&flow);
}

static void put_rank(const struct panel *panel, const struct rank_times *times,
		     const struct change *rank)
{
	bool is_lone = tsi_change_int(rank, "rank") == times->lone.number;
	char name[NUMBER_MAX];

	snprintf(name, sizeof(name), "rank %" PRId64, tsi_change_int(rank, "rank"));
	tsi_put_change_line(
		panel,
		&(struct change_line){ .name = name,
				       .word = times->has_lone && !is_lone ? "" : speed_word(rank),
				       .a = tsi_change_cell(rank, times->a),
				       .b = tsi_change_cell(rank, times->b),
				       .change = tsi_change_cell(rank, times->change),
				       .unit = TSCOPE_UNIT_NS,
				       .is_cost = true });
}

/* Does one row come before another: with the larger change, else with the lower number? */
static bool is_before(const struct change *rank, const struct change *other, const char *column)
{
	double change = fabs((double)tsi_change_int(rank, column));
	double other_change = fabs((double)tsi_change_int(other, column));

	return change != other_change ? change > other_change : rank->row < other->row;
}

/* The next row that is to be shown; the first one behind none. False: it was the last. */
static bool next_rank(const struct panel *panel, const struct rank_times *times,
		      const struct change *last, struct change *next)
{
	struct change rank = { next->table, 0 };
	bool is_found = false;

	for (; tsi_change_is_there(&rank); rank.row++) {
		if ((!panel->all && !tsi_change_is_real(&rank)) ||
		    (last && !is_before(last, &rank, times->change)) ||
		    (is_found && !is_before(&rank, next, times->change)))
			continue;
		*next = rank;
		is_found = true;
	}
	return is_found;
}

static void put_ranks(const struct panel *panel, const struct rank_times *times)
{
	struct change rank = tsi_change_first(panel, "rank_changes.list"), last;
	size_t matching = 0, shown = 0;

	for (; tsi_change_is_there(&rank); rank.row++)
		matching += panel->all || tsi_change_is_real(&rank);
	for (; shown < panel->top && next_rank(panel, times, shown > 0 ? &last : NULL, &rank);
	     shown++) {
		put_rank(panel, times, &rank);
		last = rank;
	}
	tsi_put_more(panel, matching - shown);
}

void tsi_section_rank_changes(const struct panel *panel)
{
	struct table_view ranks =
		tsi_lookup_table(panel->analysis, TSCOPE_WHOLE_TRACE, "rank_changes.list");
	int64_t changed =
		tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE, "rank_changes.changed_count");
	struct rank_times times = choose_times(panel);

	if (ranks.row_count < 2 || (changed == 0 && !panel->all))
		return;
	if (times.has_lone)
		tsi_panel_title(panel, TEXT_YELLOW, "rank_changes", "RANKS",
				"rank %" PRId64 " alone changed; %s", times.lone.number,
				times.lone.waiting);
	else
		tsi_panel_title(panel, changed > 0 ? TEXT_YELLOW : TEXT_GREEN, "rank_changes",
				"RANKS", "the step changed on %" PRId64 " of %zu that both have",
				changed, ranks.row_count);
	put_lone_ranks(panel, "only in A: ", "rank_changes.only_a");
	put_lone_ranks(panel, "only in B: ", "rank_changes.only_b");
	tsi_change_headings(panel, times.heading);
	put_ranks(panel, &times);
}

/* ---- kernels and operators ---- */

/* A table of work: what its section calls it, and where its figures stand. */
struct work {
	const char *analyzer, *table, *title, *noun;
};

/* "more_calls" → "more calls" */
static const char *work_word(const struct change *work)
{
	static const struct {
		const char *change, *word;
	} words[] = { { "more_calls", "more calls" }, { "fewer_calls", "fewer calls" } };

	for (size_t i = 0; i < TSI_COUNT_OF(words); i++)
		if (tsi_change_is(work, "change", words[i].change))
			return words[i].word;
	return tsi_change_text(work, "change");
}

static void format_calls(char text[NUMBER_MAX], struct tscope_value calls)
{
	if (calls.kind == TSCOPE_VALUE_REAL)
		tsi_number_significant(text, calls.real, 4);
	else
		snprintf(text, NUMBER_MAX, "0");
}

/* What is in the names does not show in the figures: other names, other numbers of calls. */
static void put_work_notes(const struct panel *panel, const struct change *work)
{
	struct tscope_value a_calls = tsi_change_cell(work, "a_calls_per_step");
	struct tscope_value b_calls = tsi_change_cell(work, "b_calls_per_step");
	const char *a_name = tsi_change_text(work, "a_name");
	char a[NUMBER_MAX], b[NUMBER_MAX], text[3 * NUMBER_MAX];

	if (*a_name != '\0')
		tsi_put_change_note(
			panel, tsi_change_is(work, "change", "replaced") ? "in place of " : "was ",
			a_name);
	format_calls(a, a_calls);
	format_calls(b, b_calls);
	if (strcmp(a, b) == 0 || tsi_change_is(work, "change", "new") ||
	    tsi_change_is(work, "change", "gone"))
		return;
	snprintf(text, sizeof(text), "calls a step: %s → %s", a, b);
	tsi_put_change_note(panel, text, "");
}

static void put_work(const struct panel *panel, const struct change *work)
{
	tsi_put_change_line(panel,
			    &(struct change_line){ .name = tsi_change_text(work, "name"),
						   .word = work_word(work),
						   .a = tsi_change_cell(work, "a_step_ns"),
						   .b = tsi_change_cell(work, "b_step_ns"),
						   .change = tsi_change_cell(work, "change_ns"),
						   .unit = TSCOPE_UNIT_NS,
						   .is_cost = true });
	put_work_notes(panel, work);
}

void tsi_work_counts(const struct panel *panel, const char *analyzer, char *text, size_t size)
{
	static const struct {
		const char *fact, *word;
	} counts[] = {
		{ "new_count", "new" },
		{ "gone_count", "gone" },
		{ "replaced_count", "replaced" },
		{ "slower_count", "slower" },
		{ "faster_count", "faster" },
		{ "more_calls_count", "with more calls" },
		{ "fewer_calls_count", "with fewer calls" },
	};
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < TSI_COUNT_OF(counts); i++) {
		char id[64], number[NUMBER_MAX];
		int64_t count;

		snprintf(id, sizeof(id), "%s.%s", analyzer, counts[i].fact);
		count = tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE, id);
		tsi_number_people_int(number, count, TSCOPE_UNIT_COUNT);
		if (count > 0 && length < size)
			length += (size_t)snprintf(text + length, size - length, "%s%s %s",
						   length > 0 ? ", " : "", number, counts[i].word);
	}
}

/* The rank of a side that the work is of; absent where it is that of the whole. */
static struct tscope_value work_rank(const struct panel *panel, const char *analyzer,
				     const char *side)
{
	char id[64];

	snprintf(id, sizeof(id), "%s.%s_rank", analyzer, side);
	return tsi_panel_value(panel, id);
}

void tsi_work_ranks(const struct panel *panel, const char *analyzer, char text[2 * NUMBER_MAX])
{
	struct tscope_value a = work_rank(panel, analyzer, "a");
	struct tscope_value b = work_rank(panel, analyzer, "b");
	bool has_a = a.kind == TSCOPE_VALUE_INT, has_b = b.kind == TSCOPE_VALUE_INT;

	text[0] = '\0';
	if (has_a && has_b && a.integer == b.integer)
		snprintf(text, 2 * NUMBER_MAX, ", of rank %" PRId64, b.integer);
	else if (has_a && has_b)
		snprintf(text, 2 * NUMBER_MAX,
			 ", of rank %" PRId64 " in A and rank %" PRId64 " in B", a.integer,
			 b.integer);
	else if (has_a || has_b)
		snprintf(text, 2 * NUMBER_MAX, ", of rank %" PRId64 " in %s",
			 has_a ? a.integer : b.integer, has_a ? "A" : "B");
}

static void put_works(const struct panel *panel, const struct work *of)
{
	struct change work = tsi_change_first(panel, of->table);
	size_t shown = 0, matching = 0;

	for (; tsi_change_is_there(&work); work.row++) {
		if (!panel->all && tsi_change_is(&work, "change", "same"))
			continue;
		if (matching++ >= panel->top)
			continue;
		shown++;
		put_work(panel, &work);
	}
	tsi_put_more(panel, matching - shown);
}

static void put_work_section(const struct panel *panel, const struct work *of)
{
	struct change work = tsi_change_first(panel, of->table);
	char counts[WORK_COUNTS_MAX], ranks[2 * NUMBER_MAX], cut[64];

	tsi_work_counts(panel, of->analyzer, counts, sizeof(counts));
	tsi_work_ranks(panel, of->analyzer, ranks);
	if (work.table.row_count == 0 || (counts[0] == '\0' && !panel->all))
		return;
	tsi_panel_title(panel, counts[0] != '\0' ? TEXT_YELLOW : TEXT_GREEN, of->analyzer,
			of->title, "%s%s", counts[0] != '\0' ? counts : "the same", ranks);
	snprintf(cut, sizeof(cut), "%s.is_cut", of->analyzer);
	if (tsi_panel_value(panel, cut).flag)
		put_note(panel, "a saved report holds the first rows only: what is new or gone is "
				"not known");
	tsi_change_headings(panel, of->noun);
	put_works(panel, of);
}

void tsi_section_kernel_changes(const struct panel *panel)
{
	static const struct work kernels = { "kernel_changes", "kernel_changes.list", "KERNELS",
					     "kernel, time a step" };

	put_work_section(panel, &kernels);
}

void tsi_section_operator_changes(const struct panel *panel)
{
	static const struct work operators = { "operator_changes", "operator_changes.list",
					       "OPERATORS", "operator, own time a step" };

	put_work_section(panel, &operators);
}
