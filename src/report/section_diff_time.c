/* SPDX-License-Identifier: MIT */
/*
 * Sections of a comparison about time: what explains the change of the step, rank by
 * rank, and which kernels and operators changed.
 */
#include "report/change_words.h"
#include "report/section.h"

#include "base/sum.h"

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

static struct doc_change *put_times(const struct panel *panel, struct doc_changes *changes,
				    const struct change *row, struct doc_change *line)
{
	line->a = tsi_change_cell(row, "a_ns");
	line->b = tsi_change_cell(row, "b_ns");
	line->change = tsi_change_cell(row, "change_ns");
	line->unit = TSCOPE_UNIT_NS;
	line->is_cost = true;
	return tsi_doc_change(panel->doc, changes, line);
}

static void put_part(const struct panel *panel, struct doc_changes *changes,
		     const struct change *part)
{
	const char *name = tsi_change_text(part, "part"), *a_name = tsi_change_text(part, "a_part");
	struct doc_change *line =
		put_times(panel, changes, part,
			  &(struct doc_change){
				  .name = *name != '\0' ? name : "the rest",
				  .indent = PART_INDENT,
				  .word = tsi_part_words(panel, tsi_change_text(part, "change")) });

	if (*a_name != '\0')
		tsi_doc_change_note(panel->doc, line, "in place of ", a_name);
}

/* Rows that are not shown: how many, and the sum of their changes. */
struct change_rest {
	size_t count;
	int64_t ns;
};

/* Leaves a row out, and adds it to the rest unless it changes nothing. */
static void leave_out(struct change_rest *rest, const struct change *row)
{
	int64_t change_ns = tsi_change_int(row, "change_ns");

	rest->count += change_ns != 0;
	tsi_sum_signed(&rest->ns, change_ns);
}

static void put_rest(const struct panel *panel, struct doc_changes *changes, unsigned indent,
		     const struct change_rest *rest)
{
	if (rest->count == 0 || rest->ns == 0)
		return;
	tsi_doc_change(
		panel->doc, changes,
		&(struct doc_change){ .name = tsi_panel_print(panel, "… and %zu more", rest->count),
				      .indent = indent,
				      .word = "",
				      .change = { .kind = TSCOPE_VALUE_INT, .integer = rest->ns },
				      .is_sum = true,
				      .unit = TSCOPE_UNIT_NS });
}

/* The parts of a line with the largest changes, and what there is besides. */
static void put_parts(const struct panel *panel, struct doc_changes *changes,
		      const struct change *line)
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
			put_part(panel, changes, &part);
			count++;
		} else {
			leave_out(&rest, &part);
		}
	}
	put_rest(panel, changes, PART_INDENT, &rest);
}

static void put_lines(const struct panel *panel)
{
	struct doc_changes *changes = tsi_doc_changes(panel->doc, "line of the step");
	struct change line = tsi_change_first(panel, "explanation.lines");
	struct change_rest rest = { 0 };
	size_t count = 0;

	for (; tsi_change_is_there(&line); line.row++) {
		if (!is_line_shown(panel, &line) || count == panel->top) {
			leave_out(&rest, &line);
			continue;
		}
		count++;
		put_times(panel, changes, &line,
			  &(struct doc_change){
				  .name = tsi_line_words(panel, tsi_change_text(&line, "line")),
				  .word = tsi_change_is_real(&line) ? "significant" : "",
				  .is_strong = true });
		put_parts(panel, changes, &line);
	}
	put_rest(panel, changes, 0, &rest);
}

/* Which rank is explained, whether it alone changed, and what the others add. */
static void put_ranks_explained(const struct panel *panel)
{
	struct tscope_value a = tsi_panel_value(panel, "explanation.a_rank");
	struct tscope_value b = tsi_panel_value(panel, "explanation.b_rank");
	struct tscope_value rest = tsi_panel_value(panel, "explanation.rest_ns");
	struct lone_rank alone;

	if (a.kind == TSCOPE_VALUE_INT && b.kind == TSCOPE_VALUE_INT)
		tsi_doc_note(panel->doc,
			     a.integer == b.integer ? "explained is rank %" PRId64
						    : "explained is rank %" PRId64
						      " of A against rank %" PRId64 " of B",
			     a.integer, b.integer);
	if (tsi_find_lone_rank(panel, &alone))
		tsi_doc_note(panel->doc,
			     "its own time alone changed, by %s more than that of the others; %s",
			     alone.excess, alone.waiting);
	if (rest.kind == TSCOPE_VALUE_INT && rest.integer != 0)
		tsi_doc_note(panel->doc, "%s more: other ranks are slower in some steps",
			     tsi_panel_signed(panel, rest, TSCOPE_UNIT_NS));
}

void tsi_section_explanation(const struct panel *panel)
{
	struct tscope_value change = tsi_panel_value(panel, "explanation.change_ns");
	bool is_real = tsi_is_step(panel, "changed");
	bool is_noise = tsi_is_step(panel, "no_change");
	bool is_open = tsi_is_step(panel, "undecided");

	if (shown_lines(panel) == 0 || (is_noise && !panel->all))
		return;
	tsi_panel_title(panel, is_real ? DOC_WARN : DOC_FAINT, "explanation", "EXPLANATION",
			"of %s in the mean step%s", tsi_panel_signed(panel, change, TSCOPE_UNIT_NS),
			is_noise || is_open ? ", which may be noise" : "");
	put_ranks_explained(panel);
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
	struct doc_line *line = tsi_doc_items(panel->doc, DOC_RANKS, DOC_PLAIN, NULL);
	struct table_view ranks = tsi_panel_rows(panel, id);

	for (size_t row = 0; row < ranks.row_count && row < panel->top; row++)
		tsi_doc_item(panel->doc, line, "%s%" PRId64, row == 0 ? words : "",
			     tsi_table_cell(&ranks, row, 0).integer);
	if (ranks.row_count > panel->top)
		tsi_doc_item(panel->doc, line, "and %zu more", ranks.row_count - panel->top);
}

static void put_rank(const struct panel *panel, struct doc_changes *changes,
		     const struct rank_times *times, const struct change *rank)
{
	int64_t number = tsi_change_int(rank, "rank");
	bool has_word = !times->has_lone || number == times->lone.number;

	tsi_doc_change(
		panel->doc, changes,
		&(struct doc_change){ .name = tsi_panel_print(panel, "rank %" PRId64, number),
				      .word = has_word ? speed_word(rank) : "",
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
	struct doc_changes *changes = tsi_doc_changes(panel->doc, times->heading);
	struct change rank = tsi_change_first(panel, "rank_changes.list"), last;
	size_t matching = 0, shown = 0;

	for (; tsi_change_is_there(&rank); rank.row++)
		matching += panel->all || tsi_change_is_real(&rank);
	for (; shown < panel->top && next_rank(panel, times, shown > 0 ? &last : NULL, &rank);
	     shown++) {
		put_rank(panel, changes, times, &rank);
		last = rank;
	}
	tsi_doc_changes_more(changes, matching - shown);
}

void tsi_section_rank_changes(const struct panel *panel)
{
	struct table_view ranks = tsi_panel_rows(panel, "rank_changes.list");
	int64_t changed = tsi_panel_int(panel, "rank_changes.changed_count");
	struct rank_times times = choose_times(panel);

	if (ranks.row_count < 2 || (changed == 0 && !panel->all))
		return;
	if (times.has_lone)
		tsi_panel_title(panel, DOC_WARN, "rank_changes", "RANKS",
				"rank %" PRId64 " alone changed; %s", times.lone.number,
				times.lone.waiting);
	else
		tsi_panel_title(panel, changed > 0 ? DOC_WARN : DOC_GOOD, "rank_changes", "RANKS",
				"the step changed on %" PRId64 " of %zu common ranks", changed,
				ranks.row_count);
	put_lone_ranks(panel, "only in A: ", "rank_changes.only_a");
	put_lone_ranks(panel, "only in B: ", "rank_changes.only_b");
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
	} words[] = { { "more_calls", "more calls" },
		      { "fewer_calls", "fewer calls" },
		      { "cannot_tell", "cannot tell" } };

	for (size_t i = 0; i < TSI_COUNT_OF(words); i++)
		if (tsi_change_is(work, "change", words[i].change))
			return words[i].word;
	return tsi_change_text(work, "change");
}

static const char *name_calls(const struct panel *panel, const struct change *work,
			      const char *column)
{
	struct tscope_value calls = tsi_change_cell(work, column);

	return calls.kind == TSCOPE_VALUE_REAL ? tsi_panel_significant(panel, calls.real, 4) : "0";
}

/* Notes below a row: the name in A, if it differs, and the number of calls, if it changed. */
static void put_work_notes(const struct panel *panel, struct doc_change *line,
			   const struct change *work)
{
	const char *a = name_calls(panel, work, "a_calls_per_step");
	const char *b = name_calls(panel, work, "b_calls_per_step");
	const char *a_name = tsi_change_text(work, "a_name");
	bool is_replaced = tsi_change_is(work, "change", "replaced");

	if (*a_name != '\0')
		tsi_doc_change_note(panel->doc, line, is_replaced ? "in place of " : "was ",
				    a_name);
	if (strcmp(a, b) != 0 && !tsi_change_is(work, "change", "new") &&
	    !tsi_change_is(work, "change", "gone"))
		tsi_doc_change_note(panel->doc, line,
				    tsi_panel_print(panel, "calls per step: %s → %s", a, b), "");
}

static void put_work(const struct panel *panel, struct doc_changes *changes,
		     const struct change *work)
{
	struct doc_change *line =
		tsi_doc_change(panel->doc, changes,
			       &(struct doc_change){ .name = tsi_change_text(work, "name"),
						     .word = work_word(work),
						     .a = tsi_change_cell(work, "a_step_ns"),
						     .b = tsi_change_cell(work, "b_step_ns"),
						     .change = tsi_change_cell(work, "change_ns"),
						     .unit = TSCOPE_UNIT_NS,
						     .is_cost = true });

	put_work_notes(panel, line, work);
}

const char *tsi_work_counts(const struct panel *panel, const char *analyzer)
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
	const char *text = "";

	for (size_t i = 0; i < TSI_COUNT_OF(counts); i++) {
		const char *id = tsi_panel_print(panel, "%s.%s", analyzer, counts[i].fact);

		if (tsi_panel_int(panel, id) > 0)
			tsi_panel_append(panel, &text, "%s%s %s", *text ? ", " : "",
					 tsi_panel_number(panel, id), counts[i].word);
	}
	return text;
}

/* The rank of a side that the work is of; absent where it is that of the whole. */
static struct tscope_value work_rank(const struct panel *panel, const char *analyzer,
				     const char *side)
{
	return tsi_panel_value(panel, tsi_panel_print(panel, "%s.%s_rank", analyzer, side));
}

const char *tsi_work_ranks(const struct panel *panel, const char *analyzer)
{
	struct tscope_value a = work_rank(panel, analyzer, "a");
	struct tscope_value b = work_rank(panel, analyzer, "b");
	bool has_a = a.kind == TSCOPE_VALUE_INT, has_b = b.kind == TSCOPE_VALUE_INT;

	if (!has_a && !has_b)
		return "";
	if (has_a != has_b)
		return tsi_panel_print(panel, " (compared on rank %" PRId64 " of %s)",
				       has_a ? a.integer : b.integer, has_a ? "A" : "B");
	if (a.integer == b.integer)
		return tsi_panel_print(panel, " (compared on rank %" PRId64 ")", b.integer);
	return tsi_panel_print(panel, " (compared: rank %" PRId64 " of A, rank %" PRId64 " of B)",
			       a.integer, b.integer);
}

static void put_works(const struct panel *panel, const struct work *of)
{
	struct doc_changes *changes = tsi_doc_changes(panel->doc, of->noun);
	struct change work = tsi_change_first(panel, of->table);
	size_t shown = 0, matching = 0;

	for (; tsi_change_is_there(&work); work.row++) {
		if (!panel->all && tsi_change_is(&work, "change", "same"))
			continue;
		if (matching++ >= panel->top)
			continue;
		shown++;
		put_work(panel, changes, &work);
	}
	tsi_doc_changes_more(changes, matching - shown);
}

/* Changes by kind of kernel, ahead of those by name. */
static void put_kinds(const struct panel *panel)
{
	struct change kind = tsi_change_first(panel, "kernel_changes.kinds");
	struct doc_changes *changes;

	if (!tsi_change_is_there(&kind))
		return;
	changes = tsi_doc_changes(panel->doc, "kernels by what they compute");
	for (; tsi_change_is_there(&kind); kind.row++) {
		bool is_real = tsi_change_is_real(&kind);
		if (tsi_change_int(&kind, "change_ns") == 0 && !panel->all)
			continue;
		tsi_doc_change(panel->doc, changes,
			       &(struct doc_change){ .name = tsi_change_text(&kind, "kind"),
						     .word = is_real ? "significant" : "",
						     .a = tsi_change_cell(&kind, "a_step_ns"),
						     .b = tsi_change_cell(&kind, "b_step_ns"),
						     .change = tsi_change_cell(&kind, "change_ns"),
						     .unit = TSCOPE_UNIT_NS,
						     .is_cost = true });
	}
}

/* ---- operators and modules, host and device side by side ---- */

enum { OPERATOR_COLUMNS = 7, PATH_LEAST = 24 };

/* "24", "516→612" */
static const char *calls_words(const struct panel *panel, const struct change *row)
{
	const char *a = name_calls(panel, row, "a_calls_per_step");
	const char *b = name_calls(panel, row, "b_calls_per_step");

	return strcmp(a, b) == 0 ? b : tsi_panel_print(panel, "%s→%s", a, b);
}

/* The time in B, and how much more that is; nothing where there is none. */
static void put_time_cells(const struct panel *panel, struct doc_cell *cells,
			   const struct change *row, const char *b, const char *change)
{
	struct tscope_value time = tsi_change_cell(row, b), more = tsi_change_cell(row, change);

	if (time.integer == 0 && more.integer == 0)
		return;
	cells[0].value = time;
	cells[1].value = more;
	cells[1].text = tsi_panel_signed(panel, more, TSCOPE_UNIT_NS);
}

/* least: room for names; counts go first to make it. */
static struct doc_table *begin_operators(const struct panel *panel, const char *noun,
					 unsigned least)
{
	const struct doc_column columns[OPERATOR_COLUMNS] = {
		{ .heading = noun, .unit = TSCOPE_UNIT_TEXT, .least = least },
		{ .heading = "calls", .unit = TSCOPE_UNIT_NUMBER, .width = 9, .is_minor = true },
		{ .heading = "host self", .unit = TSCOPE_UNIT_NS, .width = 10, .is_minor = true },
		{ .heading = "change", .unit = TSCOPE_UNIT_NS, .width = 10, .is_minor = true },
		{ .heading = "device", .unit = TSCOPE_UNIT_NS, .width = 10 },
		{ .heading = "change", .unit = TSCOPE_UNIT_NS, .width = 10 },
		{ .heading = "verdict", .unit = TSCOPE_UNIT_TEXT, .width = 13 },
	};

	return tsi_doc_table(panel->doc, columns, OPERATOR_COLUMNS);
}

/* Rows that changed, or all: of a mean step of B, and how that differs from A. */
static void put_operators(const struct panel *panel, const char *id, const char *noun,
			  unsigned least)
{
	struct doc_table *table = begin_operators(panel, noun, least);
	struct change row = tsi_change_first(panel, id);
	size_t matching = 0, shown = 0;

	for (; table && tsi_change_is_there(&row); row.row++) {
		if ((!panel->all && tsi_change_is(&row, "change", "same")) ||
		    matching++ >= panel->top)
			continue;
		struct doc_row *line = tsi_doc_row(panel->doc, table);
		struct tscope_value name = tsi_table_cell(&row.table, row.row, 0);
		if (!line || name.kind != TSCOPE_VALUE_TEXT)
			return;
		shown++;
		line->cells[0].value = name;
		line->cells[0].brief = tsi_path_tail(name.text);
		line->cells[1].value = tsi_change_cell(&row, "b_calls_per_step");
		line->cells[1].text = calls_words(panel, &row);
		put_time_cells(panel, &line->cells[2], &row, "b_step_ns", "change_ns");
		put_time_cells(panel, &line->cells[4], &row, "b_step_device_ns",
			       "device_change_ns");
		line->cells[6].text = work_word(&row);
	}
	if (table)
		table->more_count = matching - shown;
}

/* ---- their sections ---- */

static void put_work_title(const struct panel *panel, const struct work *of, const char *counts)
{
	const char *unclear = tsi_panel_print(panel, "%s.unclear_count", of->analyzer);
	const char *text = counts;

	if (tsi_panel_int(panel, unclear) > 0)
		tsi_panel_append(panel, &text, "%s%s cannot be told from noise", *text ? ", " : "",
				 tsi_panel_number(panel, unclear));
	tsi_panel_title(panel, *text ? DOC_WARN : DOC_GOOD, of->analyzer, of->title,
			"%s%s; times per step", *text ? text : "the same",
			tsi_work_ranks(panel, of->analyzer));
	if (tsi_panel_is(panel, tsi_panel_print(panel, "%s.is_cut", of->analyzer)))
		tsi_doc_note(panel->doc,
			     "a saved report holds the first rows only: what is new or gone is "
			     "not known");
}

static bool put_work_section(const struct panel *panel, const struct work *of)
{
	struct change work = tsi_change_first(panel, of->table);
	const char *counts = tsi_work_counts(panel, of->analyzer);
	bool is_quiet = tsi_is_step(panel, "same") || tsi_is_step(panel, "no_change");

	/* Without steps to test by, what differs is shown; not where the whole did not change. */
	if (work.table.row_count == 0 || (*counts == '\0' && !panel->all &&
					  (is_quiet || tsi_change_is(&work, "change", "same"))))
		return false;
	put_work_title(panel, of, counts);
	return true;
}

void tsi_section_kernel_changes(const struct panel *panel)
{
	static const struct work kernels = { "kernel_changes", "kernel_changes.list", "KERNELS",
					     "kernel" };

	if (!put_work_section(panel, &kernels))
		return;
	put_kinds(panel);
	put_works(panel, &kernels);
}

void tsi_section_operator_changes(const struct panel *panel)
{
	static const struct work operators = { "operator_changes", "operator_changes.list",
					       "OPERATORS", "operator" };

	if (!put_work_section(panel, &operators))
		return;
	put_operators(panel, "operator_changes.kinds", "category", 0);
	put_operators(panel, operators.table, operators.noun, 0);
}

void tsi_section_module_changes(const struct panel *panel)
{
	static const struct work modules = { "module_changes", "module_changes.list", "MODULES",
					     "module" };

	if (put_work_section(panel, &modules))
		put_operators(panel, modules.table, modules.noun, PATH_LEAST);
}
