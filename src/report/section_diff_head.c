/* SPDX-License-Identifier: MIT */
/*
 * Changes in a few lines: the step, kernels, memory, findings, settings. The head of a comparison's
 * report is all that most people read.
 */
#include "report/change_words.h"

#include "base/print_text.h"
#include "base/real.h"
#include "base/scaled_text.h"
#include "base/str.h"
#include "report/section.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Sites with this part of what the peak changed by explain it. */
static const double LEAST_SITES_RATIO = 0.5;

enum { FIGURES_SHOWN = 3, SITES_NAMED = 3, WORDS_MAX = 512 };
static const double MIN_FACTOR = 9; /* of 10 times and more nobody reads the percentage */

const char *tsi_percent_words(const struct panel *panel, double ratio, bool is_signed)
{
	double percent = is_signed ? ratio * 100 : fabs(ratio) * 100;

	if (ratio >= MIN_FACTOR)
		return tsi_panel_print(panel, "%.0fx", 1 + ratio);
	bool is_small = fabs(percent) < 0.05 && percent != 0;
	char number[NUMBER_MAX];

	snprintf(number, sizeof(number), is_small ? "%.1g" : "%.1f", percent);
	tsi_real_put_point(number);
	return tsi_panel_print(panel, "%s%.40s %%", is_signed && percent > 0 ? "+" : "", number);
}

/* ---- whether both are alike ---- */

/* ": 14.2 % more FLOPs per second", ", so compare throughput" where that is not known */
static const char *name_throughput(const struct panel *panel)
{
	struct tscope_value ratio = tsi_panel_value(panel, "setup_changes.throughput_change_ratio");

	if (ratio.kind != TSCOPE_VALUE_REAL)
		return ", so compare throughput";
	const char *words = ratio.real < 0 ? "fewer" : ratio.real < MIN_FACTOR ? "more" : "as many";

	return tsi_panel_print(panel, ": %s %s %s per second",
			       tsi_percent_words(panel, ratio.real, false), words,
			       tsi_panel_text(panel, "setup_changes.throughput_basis"));
}

/* "these runs differ in: device A100 → V100, world size 8 → 4" */
static void put_setup(const struct panel *panel)
{
	struct change setup = tsi_change_first(panel, "setup_changes.list");
	struct tscope_value same_work = tsi_panel_value(panel, "setup_changes.has_same_work");
	const char *text = "these runs differ in";

	if (!tsi_change_is_there(&setup))
		return;
	for (; tsi_change_is_there(&setup); setup.row++)
		tsi_panel_append(panel, &text, "%s %s %.60s → %.60s", setup.row == 0 ? ":" : ",",
				 tsi_change_text(&setup, "what"), tsi_change_text(&setup, "a"),
				 tsi_change_text(&setup, "b"));
	if (same_work.kind == TSCOPE_VALUE_FLAG && !same_work.flag)
		tsi_panel_append(panel, &text, "; the steps do different work%s",
				 name_throughput(panel));
	tsi_doc_line(panel->doc, DOC_CHANGE, DOC_WARN, "SETUP", "%s", text);
}

/* ---- operators ---- */

static const double most_in_calls = 0.5;

/* Operators, or modules, by their device or host time, with the columns of these lists. */
struct operator_time {
	const char *table, *tag, *a, *b, *change;
};

/*
 * 0 of an operator whose host time is a call, which mostly waits for the device, and of what is in
 * no module.
 */
static int64_t size_of(const struct change *row, const char *column)
{
	int64_t change_ns = tsi_change_int(row, column);
	bool is_host = strcmp(column, "change_ns") == 0;

	if ((is_host && tsi_change_cell(row, "call_ratio").real > most_in_calls) ||
	    tsi_change_is(row, "name", "(outside modules)"))
		return 0;
	return change_ns > INT64_MIN ? imaxabs(change_ns) : INT64_MAX;
}

/* Weighs a row of a table by one of its columns. */
typedef int64_t row_size(const struct change *row, const char *column);

/* The largest row that is smaller than another one, or equal and behind it; false: none is. */
static bool next_largest(const struct panel *panel, const char *table, row_size *size_of_row,
			 const char *column, const struct change *last, struct change *next)
{
	struct change row = tsi_change_first(panel, table);
	bool is_found = false;

	for (; tsi_change_is_there(&row); row.row++) {
		int64_t size = size_of_row(&row, column);
		int64_t before = last ? size_of_row(last, column) : 0;
		if (last && (size > before || (size == before && row.row <= last->row)))
			continue;
		if (is_found && size <= size_of_row(next, column))
			continue;
		*next = row;
		is_found = true;
	}
	return is_found;
}

/* "6.67 ms → 8.66 ms (+29.8 %)", "new, 8.66 ms", "gone, 6.67 ms" */
static void append_times(const struct panel *panel, const char **text, double a_ns, double b_ns)
{
	const struct scaled_text a = tsi_time_text(a_ns), b = tsi_time_text(b_ns);

	if (!(a_ns > 0))
		tsi_panel_append(panel, text, "new, %s", b.chars);
	else if (!(b_ns > 0))
		tsi_panel_append(panel, text, "gone, %s", a.chars);
	else
		tsi_panel_append(panel, text, "%s → %s (%s)", a.chars, b.chars,
				 tsi_percent_words(panel, b_ns / a_ns - 1, true));
}

/* "aten::mm 6.67 ms → 8.66 ms (+29.8 %)"; those that matter for the step. */
static void put_operator_time(const struct panel *panel, const struct operator_time *time)
{
	int64_t step_ns = tsi_panel_int(panel, "explanation.a_ns");
	const char *text = "";
	struct change row, last;

	for (size_t count = 0; count < FIGURES_SHOWN; count++, last = row) {
		if (!next_largest(panel, time->table, size_of, time->change, count ? &last : NULL,
				  &row) ||
		    size_of(&row, time->change) == 0 ||
		    tsi_is_negligible(size_of(&row, time->change), step_ns))
			break;
		double a_ns = (double)tsi_change_int(&row, time->a);
		double b_ns = (double)tsi_change_int(&row, time->b);
		tsi_panel_append(panel, &text, "%s%.60s ", count ? "; " : "",
				 tsi_path_tail(tsi_change_text(&row, "name")));
		append_times(panel, &text, a_ns, b_ns);
	}
	if (*text != '\0')
		tsi_doc_line(panel->doc, DOC_CHANGE, DOC_PLAIN, time->tag, "%s", text);
}

/* Does it matter for the step how fast the host is? */
static bool is_host_felt(const struct panel *panel)
{
	struct change line = tsi_change_first(panel, "explanation.lines");

	for (; tsi_change_is_there(&line); line.row++)
		if ((tsi_change_is(&line, "line", "launch_stall") ||
		     strncmp(tsi_change_text(&line, "line"), "host.", 5) == 0) &&
		    !tsi_is_negligible(tsi_change_int(&line, "change_ns"),
				       tsi_panel_int(panel, "explanation.a_ns")))
			return true;
	return false;
}

static void put_operators(const struct panel *panel)
{
	bool is_quiet = tsi_is_step(panel, "same") ||
			(tsi_is_step(panel, "no_change") && !tsi_has_certain_line(panel));
	static const struct operator_time times[] = {
		{ "module_changes.list", "MODULES", "a_step_device_ns", "b_step_device_ns",
		  "device_change_ns" },
		{ "operator_changes.list", "DEVICE", "a_step_device_ns", "b_step_device_ns",
		  "device_change_ns" },
		{ "operator_changes.list", "HOST", "a_step_ns", "b_step_ns", "change_ns" },
	};

	for (size_t i = 0; !is_quiet && i < (is_host_felt(panel) ? 3 : 2); i++)
		put_operator_time(panel, &times[i]);
}

/* ---- all but time ---- */

static int64_t growth_of(const struct change *row, const char *column)
{
	int64_t change = tsi_change_int(row, column);

	return change > 0 ? change : 0;
}

static int64_t shrinkage_of(const struct change *row, const char *column)
{
	int64_t change = tsi_change_int(row, column);

	if (change >= 0)
		return 0;
	return change > INT64_MIN ? -change : INT64_MAX;
}

/*
 * "; model.py:9:forward 13.5 MiB → 241 MiB": the sites with most of the peak's change, as many as
 * make half of it; "" where that takes more than a few.
 */
static const char *name_sites(const struct panel *panel, struct tscope_value change)
{
	static const char column[] = "peak_change_bytes";
	int64_t peak_bytes = change.kind == TSCOPE_VALUE_INT ? change.integer : 0;
	row_size *size = peak_bytes > 0 ? growth_of : shrinkage_of;
	double left = LEAST_SITES_RATIO * fabs((double)peak_bytes);
	struct change site, last;
	const char *text = "";

	for (size_t count = 0; left > 0; count++, last = site) {
		if (count == SITES_NAMED ||
		    !next_largest(panel, "allocation_changes.sites", size, column,
				  count ? &last : NULL, &site) ||
		    size(&site, column) == 0)
			return "";
		left -= (double)size(&site, column);
		const char *name = tsi_change_text(&site, "site");
		tsi_panel_append(panel, &text, "%s %s %s → %s", count ? "," : ";",
				 *name ? tsi_path_tail(name) : "blocks without a stack",
				 tsi_panel_people(panel, tsi_change_cell(&site, "a_peak_bytes"),
						  TSCOPE_UNIT_BYTES),
				 tsi_panel_people(panel, tsi_change_cell(&site, "b_peak_bytes"),
						  TSCOPE_UNIT_BYTES));
	}
	return text;
}

static void put_memory(const struct panel *panel)
{
	struct change peak;
	const char *what, *percent = "";

	if (!tsi_find_memory_change(panel, &peak, &what))
		return;
	struct tscope_value change = tsi_change_cell(&peak, "difference");
	struct tscope_value ratio = tsi_change_cell(&peak, "ratio");
	bool is_more = change.kind == TSCOPE_VALUE_INT ? change.integer > 0 : change.real > 0;

	if (ratio.kind == TSCOPE_VALUE_REAL)
		percent =
			tsi_panel_print(panel, " (%s)", tsi_percent_words(panel, ratio.real, true));
	tsi_doc_line(panel->doc, DOC_CHANGE, is_more ? DOC_BAD : DOC_GOOD, "MEMORY",
		     "%s %s%s: %s → %s%s", what, tsi_panel_signed(panel, change, TSCOPE_UNIT_BYTES),
		     percent,
		     tsi_panel_people(panel, tsi_change_cell(&peak, "a"), TSCOPE_UNIT_BYTES),
		     tsi_panel_people(panel, tsi_change_cell(&peak, "b"), TSCOPE_UNIT_BYTES),
		     name_sites(panel, change));
}

static void put_live_bytes(const struct panel *panel)
{
	struct tscope_value change = tsi_panel_value(panel, "allocation_changes.change_bytes");

	if (change.kind == TSCOPE_VALUE_INT && change.integer != 0)
		tsi_doc_line(panel->doc, DOC_CHANGE, change.integer > 0 ? DOC_BAD : DOC_GOOD,
			     "MEMORY", "%s live at the end, see MEMORY for who holds it",
			     tsi_panel_signed(panel, change, TSCOPE_UNIT_BYTES));
}

static void put_work(const struct panel *panel, const char *tag, const char *analyzer)
{
	const char *counts = tsi_work_counts(panel, analyzer);

	if (*counts != '\0')
		tsi_doc_line(panel->doc, DOC_CHANGE, DOC_WARN, tag, "%s%s", counts,
			     tsi_work_ranks(panel, analyzer));
}

static void put_operator_counts(const struct panel *panel)
{
	put_work(panel, "OPS", "operator_changes");
}

/* Skipped for different devices: names of kernels differ between vendors and generations. */
static void put_kernel_counts(const struct panel *panel)
{
	struct tscope_value same_device = tsi_panel_value(panel, "setup_changes.has_same_device");

	if (same_device.kind != TSCOPE_VALUE_FLAG || same_device.flag)
		put_work(panel, "KERNELS", "kernel_changes");
}

static void put_ranks(const struct panel *panel)
{
	size_t rank_count = tsi_panel_row_count(panel, "rank_changes.list");
	int64_t count = tsi_panel_int(panel, "rank_changes.changed_count");
	struct lone_rank alone;

	if (rank_count < 2 || count == 0)
		return;
	if (tsi_find_lone_rank(panel, &alone))
		tsi_doc_line(panel->doc, DOC_CHANGE, DOC_WARN, "RANKS",
			     "local time of rank %" PRId64
			     " changed by %s more than that of the others; %s",
			     alone.number, alone.excess, alone.waiting);
	else
		tsi_doc_line(panel->doc, DOC_CHANGE, DOC_WARN, "RANKS",
			     "the step changed on %" PRId64 " of %zu common ranks", count,
			     rank_count);
}

/* The first finding that changed, those that got worse before the others; false: none did. */
static bool find_changed(const struct panel *panel, struct change *ret)
{
	static const char *const kinds[] = { "new", "worse", "gone", "better" };

	for (size_t i = 0; i < TSI_COUNT_OF(kinds); i++)
		for (*ret = tsi_change_first(panel, "finding_changes.list");
		     tsi_change_is_there(ret); ret->row++)
			if (strcmp(tsi_finding_change(ret), kinds[i]) == 0)
				return true;
	return false;
}

static void put_findings(const struct panel *panel)
{
	struct change finding;
	const char *counts = tsi_finding_counts(panel);
	bool is_found = find_changed(panel, &finding);
	char text[WORDS_MAX];

	if (*counts == '\0')
		return;
	const char *kind = is_found ? tsi_finding_change(&finding) : "";
	const char *title = is_found ? tsi_change_text(&finding, "title") : "";
	bool is_bad = strcmp(kind, "new") == 0 || strcmp(kind, "worse") == 0;
	if (!is_found)
		tsi_print_text(text, sizeof(text), "%s", counts);
	else if (strchr(counts, ','))
		tsi_print_text(text, sizeof(text), "%s; %s: %.300s", counts, kind, title);
	else
		tsi_print_text(text, sizeof(text), "%s: %.300s", counts, title);
	tsi_doc_line(panel->doc, DOC_CHANGE, is_bad ? DOC_BAD : DOC_GOOD, "FINDINGS", "%s", text);
}

/* ": lr, seed, WORLD_SIZE …" */
static const char *name_settings(const struct panel *panel)
{
	static const char *const tables[] = { "reproducibility.config",
					      "reproducibility.environment" };
	const char *text = "";
	size_t count = 0;

	for (size_t i = 0; i < TSI_COUNT_OF(tables); i++) {
		struct change setting = tsi_change_first(panel, tables[i]);

		for (; tsi_change_is_there(&setting); setting.row++)
			if (count++ < FIGURES_SHOWN)
				tsi_panel_append(panel, &text, "%s %.64s", count == 1 ? ":" : ",",
						 tsi_change_text(&setting, "name"));
	}
	if (count > FIGURES_SHOWN)
		tsi_panel_append(panel, &text, "%s", " …");
	return text;
}

/* "1 configuration and 2 environment settings differ: lr, …"; counts of 0 are left out. */
static void put_settings(const struct panel *panel)
{
	int64_t config = tsi_panel_int(panel, "reproducibility.config_count");
	int64_t environment = tsi_panel_int(panel, "reproducibility.environment_count");
	int64_t last = environment != 0 ? environment : config;
	const char *text = "";

	if (config == 0 && environment == 0)
		return;
	if (config != 0)
		tsi_panel_append(panel, &text, "%" PRId64 " configuration", config);
	if (environment != 0)
		tsi_panel_append(panel, &text, "%s%" PRId64 " environment",
				 config != 0 ? " and " : "", environment);
	tsi_doc_line(panel->doc, DOC_CHANGE, DOC_WARN, "SETTINGS", "%s %s%s", text,
		     last == 1 ? "setting differs" : "settings differ", name_settings(panel));
}

static void put_losses(const struct panel *panel)
{
	struct tscope_value same = tsi_panel_value(panel, "reproducibility.identical_trajectory");
	struct tscope_value step = tsi_panel_value(panel, "reproducibility.first_divergence_step");
	const char *text = "the losses differ";

	if (same.kind != TSCOPE_VALUE_FLAG || same.flag)
		return;
	if (step.kind == TSCOPE_VALUE_INT)
		tsi_panel_append(panel, &text, " from step %" PRId64 " on", step.integer);
	tsi_doc_line(panel->doc, DOC_CHANGE, DOC_WARN, "LOSS", "%s", text);
}

/* " -29.0 %", of a ratio " -4.1 points (-29.0 %)", " sound → damaged", or "" */
static const char *name_difference(const struct panel *panel, const struct change *fact)
{
	struct tscope_value ratio = tsi_change_cell(fact, "ratio");
	struct tscope_value a = tsi_change_cell(fact, "a"), b = tsi_change_cell(fact, "b");
	bool is_ratio = tsi_change_is(fact, "unit", tscope_unit_name(TSCOPE_UNIT_RATIO));
	char text[2 * NUMBER_MAX], points[NUMBER_MAX];

	tsi_number_difference(points, tsi_change_cell(fact, "difference"), TSCOPE_UNIT_RATIO);
	if (ratio.kind == TSCOPE_VALUE_REAL) {
		const char *percent = tsi_percent_words(panel, ratio.real, true);
		return is_ratio ? tsi_panel_print(panel, " %s (%s)", points, percent)
				: tsi_panel_print(panel, " %s", percent);
	}
	if (is_ratio)
		return tsi_panel_print(panel, " %s", points);
	if (a.kind != TSCOPE_VALUE_TEXT || b.kind != TSCOPE_VALUE_TEXT)
		return "";
	tsi_print_text(text, sizeof(text), " %.40s → %.40s", a.text, b.text);
	return tsi_panel_print(panel, "%s", text);
}

static void put_other_figures(const struct panel *panel)
{
	struct change fact = tsi_change_first(panel, "fact_changes.list");
	size_t count = tsi_other_fact_count(panel), shown = 0;
	const char *text =
		tsi_panel_print(panel, "%zu other%s changed", count, count == 1 ? "" : "s");

	if (count == 0)
		return;
	for (; tsi_change_is_there(&fact) && shown < FIGURES_SHOWN; fact.row++)
		if (tsi_is_other_fact(panel, &fact))
			tsi_panel_append(panel, &text, "%s %.64s%s", shown++ == 0 ? ":" : ",",
					 tsi_change_text(&fact, "fact"),
					 name_difference(panel, &fact));
	tsi_doc_line(panel->doc, DOC_CHANGE, DOC_WARN, "METRICS", "%s%s", text,
		     count > shown ? " …" : "");
}

/* Metrics that only one side has were not compared. */
static void put_lacking(const struct panel *panel, const char *id, const char *side)
{
	int64_t count = tsi_panel_int(panel, id);

	if (count > 0)
		tsi_doc_line(panel->doc, DOC_CHANGE, DOC_WARN, "METRICS",
			     "%" PRId64 " exist%s only in %s; --all lists %s", count,
			     count == 1 ? "s" : "", side, count == 1 ? "it" : "them");
}

/* ---- the whole ---- */

/* No line was put: why there is none. */
static void put_no_change(const struct panel *panel)
{
	if (tsi_is_step(panel, "no_change"))
		tsi_doc_line(panel->doc, DOC_NOTE, DOC_GOOD, NULL,
			     "no change: %s; nothing else differs significantly",
			     tsi_noise_words(panel));
	else
		tsi_doc_line(panel->doc, DOC_NOTE, DOC_GOOD, NULL,
			     "no change: all %s metrics are equal",
			     tsi_panel_number(panel, "fact_changes.compared_count"));
}

/* Behind the lines: what did not change. */
static void put_rest(const struct panel *panel)
{
	tsi_doc_line(panel->doc, DOC_NO_CHANGE, DOC_FAINT, NULL, "%s",
		     "nothing else changed significantly");
}

static void put_gates(const struct panel *panel)
{
	size_t tripped = tsi_tripped_count(panel);

	if (tripped > 0 && panel->options->extent != TSCOPE_REPORT_BRIEF)
		tsi_doc_line(panel->doc, DOC_CHANGE_GATES, DOC_BAD, "GATE",
			     "%zu of %zu tripped, see GATES", tripped, panel->gate_count);
}

/* Lines of the head by what they are worth: on one screen those at the end give way. */
static void (*const lines[])(const struct panel *panel) = {
	tsi_put_phase_changes, put_operators,     put_ranks,    put_memory,
	put_findings,          put_losses,        put_settings, put_other_figures,
	put_operator_counts,   put_kernel_counts,
};

/* Appends lines; takes them back if they do not leave room on the screen. */
static void put_if_room(const struct panel *panel, void (*put)(const struct panel *panel))
{
	struct doc_node *before = panel->doc->last;

	put(panel);
	if (panel->options->extent != TSCOPE_REPORT_SCREEN || tsi_screen_left(panel) >= 0)
		return;
	before->next = NULL;
	panel->doc->last = before;
}

static void put_all_lacking(const struct panel *panel)
{
	put_lacking(panel, "fact_changes.only_a_count", "A");
	put_lacking(panel, "fact_changes.only_b_count", "B");
}

void tsi_put_changes(const struct panel *panel)
{
	struct doc_node *start =
		tsi_doc_add(panel->doc, &(struct doc_node){ .kind = DOC_NODE_BREAK });

	if (!start)
		return;
	tsi_put_history(panel);
	put_setup(panel);
	const struct doc_node *before = panel->doc->last;
	tsi_put_step_change(panel);
	/* Alone, that the step did not change says too little. */
	const struct doc_node *quiet =
		before == start && tsi_is_unchanged(panel) ? panel->doc->last : start;
	for (size_t i = 0; i < TSI_COUNT_OF(lines); i++)
		put_if_room(panel, lines[i]);
	if (panel->doc->last == quiet)
		put_live_bytes(panel);
	put_if_room(panel, put_all_lacking);
	if (panel->doc->last == quiet) {
		start->next = NULL;
		panel->doc->last = start;
		put_no_change(panel);
	} else {
		put_if_room(panel, put_rest);
	}
	put_gates(panel);
}
