/* SPDX-License-Identifier: MIT */
/*
 * Sections of a comparison about all but time: memory, whether the run is the same
 * again, findings, and other figures that changed.
 */
#include "report/change_words.h"
#include "report/section.h"

#include "base/print_text.h"
#include "base/str.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- facts that changed ---- */

/*
 * A change of less than this, of what is there in both, is not worth a line; the second one is of
 * figures that nothing tests.
 */
static const double worth_ratio = 0.01, worth_untested_ratio = 0.05;

/* Analyzers whose facts are about memory. */
static const char *const memory_facts[] = {
	"memory", "snapshot", "memory_timeline", "memory_stats", "memory_tracker", "host_memory",
};

/* The facts about memory that are shown without --all. */
static const char *const telling_of_memory[] = {
	"memory.peak_alloc_bytes",       "memory.peak_reserved_bytes",
	"memory.mean_alloc_bytes",       "memory.fragmentation",
	"memory.growth_bytes_per_step",  "memory.oom_count",
	"snapshot.peak_allocated_bytes", "snapshot.reserved_bytes",
	"snapshot.allocated_bytes",      "snapshot.inactive_split_bytes",
	"memory_timeline.peak_bytes",    "memory_timeline.end_bytes",
	"memory_tracker.peak_bytes",     "host_memory.peak_bytes",
	"host_memory.leaked_bytes",
};

/* Other facts that are shown without --all, unless they have a section of their own. */
static const char *const telling[] = {
	"integrity.verdict",
	"efficiency.mfu",
	"efficiency.flops_per_step",
	"efficiency.top_recoverable",
	"convergence.loss_trend",
	"distributed.wall_frac_lost_to_imbalance",
	"distributed.mean_comm_fraction",
	"pipeline.bubble_ratio",
	"device_busy.utilisation_ratio",
	"overlap.overlap_ratio",
	"overlap.exposed_comm_ratio",
	"launches.launches_per_step",
	"launches.host_bound_ratio",
	"launches.sync_count",
	"launches.malloc_count",
	"copies.count",
	"copies.pageable_count",
	"collectives.count",
	"collectives.bytes",
};

static bool is_one_of(const struct change *fact, const char *const *ids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (tsi_change_is(fact, "fact", ids[i]))
			return true;
	return false;
}

static bool is_of_memory(const struct change *fact)
{
	const char *id = tsi_change_text(fact, "fact");
	size_t length = strcspn(id, ".");

	for (size_t i = 0; i < TSI_COUNT_OF(memory_facts); i++)
		if (strlen(memory_facts[i]) == length && strncmp(id, memory_facts[i], length) == 0)
			return true;
	return false;
}

static bool is_telling_of_memory(const struct panel *panel, const struct change *fact)
{
	return panel->all ? is_of_memory(fact)
			  : is_one_of(fact, telling_of_memory, TSI_COUNT_OF(telling_of_memory));
}

static bool is_telling(const struct panel *panel, const struct change *fact)
{
	return panel->all ? !is_of_memory(fact) : is_one_of(fact, telling, TSI_COUNT_OF(telling));
}

/*
 * Is it real, and large enough to matter? Texts and what had been 0 always are. A change that
 * nothing tests is taken for real where the step changed, since then there is more than noise.
 */
static bool is_worth(const struct panel *panel, const struct change *fact)
{
	struct tscope_value ratio = tsi_change_cell(fact, "ratio");
	double least = worth_ratio;

	if (!tsi_change_is_real(fact)) {
		if (!tsi_change_is(fact, "verdict", "not_tested") || !tsi_is_step(panel, "changed"))
			return false;
		least = worth_untested_ratio;
	}
	return ratio.kind != TSCOPE_VALUE_REAL || fabs(ratio.real) >= least;
}

/* Is a fact of the kind that a section shows? */
typedef bool fact_choice(const struct panel *panel, const struct change *fact);

static bool is_shown(const struct panel *panel, fact_choice *is_chosen, const struct change *fact)
{
	return is_chosen(panel, fact) && (panel->all || is_worth(panel, fact));
}

static size_t count_facts(const struct panel *panel, fact_choice *is_chosen)
{
	struct change fact = tsi_change_first(panel, "fact_changes.list");
	size_t count = 0;

	for (; tsi_change_is_there(&fact); fact.row++)
		count += is_shown(panel, is_chosen, &fact);
	return count;
}

/* The unit that a column names. */
static enum tscope_unit unit_of(const struct change *fact)
{
	const char *name = tsi_change_text(fact, "unit");

	for (int unit = 0; unit < TSCOPE_UNIT_ANY; unit++)
		if (strcmp(tscope_unit_name((enum tscope_unit)unit), name) == 0)
			return (enum tscope_unit)unit;
	return TSCOPE_UNIT_NUMBER;
}

/* A remark beside the numbers. */
static const char *fact_word(const struct change *fact)
{
	static const struct {
		const char *verdict, *word;
	} words[] = {
		{ "no_change", "noise" },     { "undecided", "cannot tell" },
		{ "not_tested", "untested" }, { "only_a", "only in A" },
		{ "only_b", "only in B" },    { "same", "the same" },
	};
	struct tscope_value per_step = tsi_change_cell(fact, "per_step");

	for (size_t i = 0; i < TSI_COUNT_OF(words); i++)
		if (tsi_change_is(fact, "verdict", words[i].verdict))
			return words[i].word;
	return per_step.kind == TSCOPE_VALUE_FLAG && per_step.flag ? "per step" : "";
}

static void put_facts(const struct panel *panel, fact_choice *is_chosen)
{
	struct doc_changes *changes = tsi_doc_changes(panel->doc, "metric");
	struct change fact = tsi_change_first(panel, "fact_changes.list");
	size_t shown = 0, matching = 0;

	for (; tsi_change_is_there(&fact); fact.row++) {
		if (!is_shown(panel, is_chosen, &fact))
			continue;
		if (matching++ >= panel->top && !panel->all)
			continue;
		shown++;
		tsi_doc_change(panel->doc, changes,
			       &(struct doc_change){ .name = tsi_change_text(&fact, "fact"),
						     .word = fact_word(&fact),
						     .a = tsi_change_cell(&fact, "a"),
						     .b = tsi_change_cell(&fact, "b"),
						     .change = tsi_change_cell(&fact, "difference"),
						     .unit = unit_of(&fact) });
	}
	tsi_doc_changes_more(changes, matching - shown);
}

bool tsi_is_other_fact(const struct panel *panel, const struct change *fact)
{
	struct panel brief = *panel;

	brief.all = false;
	return is_shown(&brief, is_telling, fact);
}

size_t tsi_other_fact_count(const struct panel *panel)
{
	struct panel brief = *panel;

	brief.all = false;
	return count_facts(&brief, is_telling);
}

void tsi_section_fact_changes(const struct panel *panel)
{
	if (count_facts(panel, is_telling) == 0)
		return;
	tsi_panel_title(panel, panel->all ? DOC_GOOD : DOC_WARN, "fact_changes",
			panel->all ? "ALL METRICS" : "OTHER METRICS", "%s",
			panel->all ? "" : "that changed");
	put_facts(panel, is_telling);
}

/* ---- memory ---- */

bool tsi_find_memory_change(const struct panel *panel, struct change *fact, const char **what)
{
	static const struct {
		const char *fact, *what;
	} peaks[] = {
		{ "memory.peak_alloc_bytes", "the peak" },
		{ "snapshot.peak_allocated_bytes", "the peak" },
		{ "memory_timeline.peak_bytes", "the peak" },
		{ "memory_tracker.peak_bytes", "the peak" },
		{ "memory.peak_reserved_bytes", "the peak of what is reserved" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(peaks); i++) {
		*what = peaks[i].what;
		*fact = tsi_change_first(panel, "fact_changes.list");
		for (; tsi_change_is_there(fact); fact->row++)
			if (tsi_change_is(fact, "fact", peaks[i].fact) && is_worth(panel, fact))
				return true;
	}
	return false;
}

/* Not one that came and went, and holds nothing at the end or the peak of either. */
static bool is_site_shown(const struct panel *panel, const struct change *site)
{
	bool has_change = tsi_change_int(site, "change_bytes") != 0 ||
			  tsi_change_int(site, "peak_change_bytes") != 0 ||
			  tsi_change_int(site, "a_count") != tsi_change_int(site, "b_count");

	return panel->all || has_change;
}

/* Sites that changed at the end, by what lives then; others that changed at the peak, by that. */
enum site_time { AT_END, AT_PEAK };

static const struct {
	const char *heading, *a, *b, *change;
} site_times[] = {
	[AT_END] = { "live at the end, by site", "a_bytes", "b_bytes", "change_bytes" },
	[AT_PEAK] = { "at the peak alone, by site", "a_peak_bytes", "b_peak_bytes",
		      "peak_change_bytes" },
};

static bool is_site_of(const struct panel *panel, const struct change *site, enum site_time time)
{
	bool is_of_peak = tsi_change_int(site, "change_bytes") == 0 &&
			  tsi_change_int(site, "peak_change_bytes") != 0;

	return is_site_shown(panel, site) && is_of_peak == (time == AT_PEAK);
}

static void put_site(const struct panel *panel, struct doc_changes *changes,
		     const struct change *site, enum site_time time)
{
	int64_t a_count = tsi_change_int(site, "a_count"),
		b_count = tsi_change_int(site, "b_count");
	const char *name = tsi_change_text(site, "site");
	struct doc_change *row = tsi_doc_change(
		panel->doc, changes,
		&(struct doc_change){ .name = *name != '\0' ? name : "-",
				      .word = tsi_change_text(site, "change"),
				      .a = tsi_change_cell(site, site_times[time].a),
				      .b = tsi_change_cell(site, site_times[time].b),
				      .change = tsi_change_cell(site, site_times[time].change),
				      .unit = TSCOPE_UNIT_BYTES,
				      .is_site = true,
				      .is_cost = true });

	if (a_count != b_count && time == AT_END)
		tsi_doc_change_note(
			panel->doc, row,
			tsi_panel_print(panel, "blocks: %" PRId64 " → %" PRId64, a_count, b_count),
			"");
}

static void put_sites(const struct panel *panel, enum site_time time)
{
	struct change site = tsi_change_first(panel, "allocation_changes.sites");
	struct doc_changes *changes;
	size_t shown = 0, matching = 0;

	for (; tsi_change_is_there(&site); site.row++)
		matching += is_site_of(panel, &site, time);
	if (matching == 0)
		return;
	changes = tsi_doc_changes(panel->doc, site_times[time].heading);
	for (site.row = 0; tsi_change_is_there(&site) && shown < panel->top; site.row++) {
		if (!is_site_of(panel, &site, time))
			continue;
		shown++;
		put_site(panel, changes, &site, time);
	}
	tsi_doc_changes_more(changes, matching - shown);
}

/* "+48.0 MiB live at the end"; where that is equal, at the peak. */
static const char *name_live(const struct panel *panel)
{
	struct tscope_value at_end = tsi_panel_value(panel, "allocation_changes.change_bytes");
	struct tscope_value at_peak =
		tsi_panel_value(panel, "allocation_changes.peak_change_bytes");
	bool is_of_peak = at_end.kind == TSCOPE_VALUE_INT && at_end.integer == 0 &&
			  at_peak.kind == TSCOPE_VALUE_INT && at_peak.integer != 0;

	if (at_end.kind != TSCOPE_VALUE_INT)
		return "";
	if (!is_of_peak && at_end.integer == 0)
		return "as much live at the end";
	return tsi_panel_print(
		panel, "%s %s",
		tsi_panel_signed(panel, is_of_peak ? at_peak : at_end, TSCOPE_UNIT_BYTES),
		is_of_peak ? "at the peak" : "live at the end");
}

void tsi_section_memory_changes(const struct panel *panel)
{
	struct change site = tsi_change_first(panel, "allocation_changes.sites");
	size_t fact_count = count_facts(panel, is_telling_of_memory), site_count = 0;

	for (; tsi_change_is_there(&site); site.row++)
		site_count += is_site_shown(panel, &site);
	if (fact_count == 0 && site_count == 0)
		return;
	tsi_panel_title(panel, DOC_WARN, NULL, "MEMORY", "%s", name_live(panel));
	if (fact_count > 0)
		put_facts(panel, is_telling_of_memory);
	put_sites(panel, AT_END);
	put_sites(panel, AT_PEAK);
}

/* ---- is it the same again? ---- */

/* "  lr  0.001 → 0.0003"; a side that has none shows "-". */
static void put_entries(const struct panel *panel, const char *words, const char *id)
{
	struct change entry = tsi_change_first(panel, id);
	size_t count = entry.table.row_count;

	for (; tsi_change_is_there(&entry) && (entry.row < panel->top || panel->all); entry.row++) {
		struct tscope_value a = tsi_change_cell(&entry, "a");
		struct tscope_value b = tsi_change_cell(&entry, "b");
		char text[1024];

		tsi_print_text(text, sizeof(text), "%.200s: %.300s → %.300s",
			       tsi_change_text(&entry, "name"),
			       a.kind == TSCOPE_VALUE_TEXT ? a.text : "-",
			       b.kind == TSCOPE_VALUE_TEXT ? b.text : "-");
		tsi_doc_line(panel->doc, DOC_SETTING, DOC_FAINT, words, "%s", text);
	}
	if (count > entry.row)
		tsi_doc_line(panel->doc, DOC_NOTE, DOC_FAINT, NULL, "… and %s more",
			     tsi_panel_people_int(panel, (int64_t)(count - entry.row),
						  TSCOPE_UNIT_COUNT));
}

static void put_notes(const struct panel *panel)
{
	struct change note = tsi_change_first(panel, "reproducibility.notes");

	for (; tsi_change_is_there(&note); note.row++)
		tsi_doc_note(panel->doc, "%s", tsi_change_text(&note, "note"));
}

static const char *name_loss(const struct panel *panel, const char *id)
{
	struct tscope_value loss = tsi_panel_value(panel, id);

	return loss.kind == TSCOPE_VALUE_REAL ? tsi_panel_significant(panel, loss.real, 6) : "-";
}

/* "  loss         final 1.25 → 1.26 · best 1.2 → 1.2 · first differs in step 7" */
static void put_losses_compared(const struct panel *panel)
{
	struct tscope_value step = tsi_panel_value(panel, "reproducibility.first_divergence_step");
	struct doc_line *line;

	if (!tsi_panel_has(panel, "reproducibility.identical_trajectory"))
		return;
	line = tsi_doc_items(panel->doc, DOC_SETTING, DOC_FAINT, "loss");
	tsi_doc_item(panel->doc, line, "final %s → %s",
		     name_loss(panel, "reproducibility.a_final_loss"),
		     name_loss(panel, "reproducibility.b_final_loss"));
	tsi_doc_item(panel->doc, line, "best %s → %s",
		     name_loss(panel, "reproducibility.a_best_loss"),
		     name_loss(panel, "reproducibility.b_best_loss"));
	if (step.kind == TSCOPE_VALUE_INT)
		tsi_doc_item(panel->doc, line, "first differs in step %" PRId64, step.integer);
}

void tsi_section_reproducibility(const struct panel *panel)
{
	struct tscope_value same = tsi_panel_value(panel, "reproducibility.is_reproducible");
	struct tscope_value losses = tsi_panel_value(panel, "reproducibility.identical_trajectory");
	bool is_same = same.kind == TSCOPE_VALUE_FLAG && same.flag;

	if (same.kind == TSCOPE_VALUE_ABSENT && losses.kind == TSCOPE_VALUE_ABSENT &&
	    tsi_panel_row_count(panel, "reproducibility.environment") == 0 &&
	    tsi_panel_row_count(panel, "reproducibility.config") == 0)
		return;
	if (is_same && !panel->all)
		return;
	tsi_panel_title(panel, is_same ? DOC_GOOD : DOC_WARN, "reproducibility", "REPRODUCIBILITY",
			"%s",
			is_same ? "environment, configuration and losses are the same"
				: "not the same run again");
	put_entries(panel, "config", "reproducibility.config");
	put_entries(panel, "environment", "reproducibility.environment");
	put_losses_compared(panel);
	put_notes(panel);
}

/* ---- findings ---- */

/* Kinds of changes of findings; all but the last may be similar to the other side. */
static const struct {
	const char *change, *word;
	enum doc_tone tone;
	const char *count; /* behind a number; NULL: not counted */
} finding_words[] = {
	{ "new", "NEW", DOC_BAD, "new" },
	{ "worse", "WORSE", DOC_BAD, "worse" },
	{ "better", "BETTER", DOC_GOOD, "better" },
	{ "gone", "GONE", DOC_GOOD, "gone" },
	{ "similar", "SIMILAR", DOC_FAINT, "similar" },
	{ "same", "SAME", DOC_FAINT, NULL },
};

const char *tsi_finding_change(const struct change *finding)
{
	return *tsi_change_text(finding, "similar") ? "similar"
						    : tsi_change_text(finding, "change");
}

/* "; about as much in A, short of the threshold: …", or "" */
static const char *name_similar(const struct panel *panel, const struct change *finding)
{
	const char *title = tsi_change_text(finding, "similar");
	bool is_gone = tsi_change_is(finding, "change", "gone");

	if (*title == '\0')
		return "";
	return tsi_panel_print(panel, "; about as much in %s%s: %s", is_gone ? "B" : "A",
			       is_gone || tsi_change_is(finding, "change", "new")
				       ? ", short of the threshold"
				       : "",
			       title);
}

static void put_finding(const struct panel *panel, const struct change *finding)
{
	const char *a = tsi_change_text(finding, "a_severity");
	const char *b = tsi_change_text(finding, "b_severity");
	char text[512];

	tsi_print_text(text, sizeof(text), "[%s%s%s] %.360s (%.64s)", a,
		       *a != '\0' && *b != '\0' && strcmp(a, b) != 0 ? " → " : "",
		       *a != '\0' && strcmp(a, b) == 0 ? "" : b, tsi_change_text(finding, "title"),
		       tsi_change_text(finding, "id"));
	for (size_t i = 0; i < TSI_COUNT_OF(finding_words); i++)
		if (strcmp(finding_words[i].change, tsi_finding_change(finding)) == 0)
			tsi_doc_line(panel->doc, DOC_FINDING_CHANGE, finding_words[i].tone,
				     finding_words[i].word, "%s%s", text,
				     name_similar(panel, finding));
}

/* Rules that B says nothing of: that they did not fire is no good news. */
static void put_lost(const struct panel *panel)
{
	struct change lost = tsi_change_first(panel, "finding_changes.lost");
	struct doc_line *line;

	if (lost.table.row_count == 0)
		return;
	tsi_doc_note(panel->doc, "rules that B lacks the data for, and A had it:");
	line = tsi_doc_items(panel->doc, DOC_IDS, DOC_FAINT, NULL);
	for (; tsi_change_is_there(&lost); lost.row++)
		tsi_doc_item(panel->doc, line, "%s", tsi_change_text(&lost, "id"));
}

static size_t count_findings(const struct panel *panel, const char *change)
{
	struct change finding = tsi_change_first(panel, "finding_changes.list");
	size_t count = 0;

	for (; tsi_change_is_there(&finding); finding.row++)
		count += strcmp(tsi_finding_change(&finding), change) == 0;
	return count;
}

const char *tsi_finding_counts(const struct panel *panel)
{
	const char *text = "";

	for (size_t i = 0; i < TSI_COUNT_OF(finding_words) && finding_words[i].count; i++) {
		size_t count = count_findings(panel, finding_words[i].change);

		if (count > 0)
			tsi_panel_append(panel, &text, "%s%zu %s", *text ? ", " : "", count,
					 finding_words[i].count);
	}
	return text;
}

void tsi_section_finding_changes(const struct panel *panel)
{
	struct change finding = tsi_change_first(panel, "finding_changes.list");
	bool has_lost = tsi_panel_row_count(panel, "finding_changes.lost") > 0;
	const char *counts = tsi_finding_counts(panel);

	if (counts[0] == '\0' && !has_lost && (!panel->all || finding.table.row_count == 0))
		return;
	tsi_panel_title(panel,
			strstr(counts, "new") || strstr(counts, "worse") ? DOC_BAD : DOC_GOOD,
			"finding_changes", "FINDINGS", "%s",
			counts[0] != '\0' ? counts : "the same in A and B");
	for (; tsi_change_is_there(&finding); finding.row++)
		if (panel->all || !tsi_change_is(&finding, "change", "same"))
			put_finding(panel, &finding);
	put_lost(panel);
}
