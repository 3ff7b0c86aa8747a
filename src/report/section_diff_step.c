/* SPDX-License-Identifier: MIT */
/*
 * The first lines of the head of a comparison: how much slower or faster the step got, how sure
 * that is, and the few lines of the step that explain most of it.
 */
#include "report/change_words.h"

#include "base/print_text.h"
#include "base/str.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_LINES_SHOWN = 6, WORDS_MAX = 640 };

/* Lines are shown until they hold this much of all changes, of either sign. */
static const double least_covered = 0.8;

/* ---- words ---- */

static double real_fact(const struct panel *panel, const char *id)
{
	struct tscope_value value = tsi_panel_value(panel, id);

	return value.kind == TSCOPE_VALUE_REAL ? value.real : 0;
}

/* "4.1 ms" of either sign. */
static const char *name_size(const struct panel *panel, int64_t ns)
{
	return tsi_panel_people_int(panel, ns > INT64_MIN ? imaxabs(ns) : INT64_MAX,
				    TSCOPE_UNIT_NS);
}

/* "p < 0.0001", "p = 0.0012" */
static const char *name_p(const struct panel *panel, double p_value)
{
	if (p_value < 0.0001)
		return "p < 0.0001";
	return tsi_panel_print(panel, "p = %s", tsi_panel_significant(panel, p_value, 2));
}

/* "significant (p < 0.0001)" */
static const char *name_certainty(const struct panel *panel, const char *id)
{
	double p_value = real_fact(panel, id);

	return tsi_panel_print(panel, "significant (%s)", name_p(panel, p_value));
}

/* "36.1 ms to 38.0 ms more", "1.1 ms less to 1.9 ms more"; "" where the bounds are not known. */
static const char *name_interval(const struct panel *panel)
{
	struct tscope_value low = tsi_panel_value(panel, "step_change.low_ns");
	struct tscope_value high = tsi_panel_value(panel, "step_change.high_ns");
	bool is_less = low.integer < 0 && high.integer <= 0;

	if (low.kind != TSCOPE_VALUE_INT || high.kind != TSCOPE_VALUE_INT)
		return "";
	return tsi_panel_print(
		panel, "%s%s to %s %s", name_size(panel, is_less ? high.integer : low.integer),
		low.integer < 0 && !is_less ? " less" : "",
		name_size(panel, is_less ? low.integer : high.integer), is_less ? "less" : "more");
}

/* "+4.1 ms (+3.9 %)" */
static const char *name_change(const struct panel *panel)
{
	return tsi_panel_print(
		panel, "%s (%s)",
		tsi_panel_signed(panel, tsi_panel_value(panel, "step_change.change_ns"),
				 TSCOPE_UNIT_NS),
		tsi_percent_words(panel, real_fact(panel, "step_change.change_ratio"), true));
}

static bool is_of_mean(const struct panel *panel)
{
	return strcmp(tsi_panel_text(panel, "step_change.method"), "mean") == 0;
}

static bool is_typical_changed(const struct panel *panel)
{
	return strcmp(tsi_panel_text(panel, "step_change.typical_verdict"), "changed") == 0;
}

/* Is the mean judged, and do typical steps say the same? Then they add nothing to it. */
static bool is_mean_enough(const struct panel *panel)
{
	return is_of_mean(panel) && is_typical_changed(panel) &&
	       (tsi_panel_int(panel, "step_change.typical_shift_ns") > 0) ==
		       (tsi_panel_int(panel, "step_change.change_ns") > 0);
}

/* "; median 102.3 ms → 139.4 ms", or "" */
static const char *name_medians(const struct panel *panel)
{
	struct tscope_value a = tsi_panel_value(panel, "step_change.a_p50_ns");
	struct tscope_value b = tsi_panel_value(panel, "step_change.b_p50_ns");

	if (is_mean_enough(panel) || a.kind != TSCOPE_VALUE_INT || b.kind != TSCOPE_VALUE_INT)
		return "";
	return tsi_panel_print(panel, "; median %s → %s",
			       tsi_panel_people(panel, a, TSCOPE_UNIT_NS),
			       tsi_panel_people(panel, b, TSCOPE_UNIT_NS));
}

static const char *direction(int64_t change_ns)
{
	return change_ns > 0 ? "slower" : "faster";
}

/* ": a typical step takes 36.1 ms to 38.0 ms more", or "" */
static const char *name_extent(const struct panel *panel)
{
	const char *interval = name_interval(panel);

	if (*interval == '\0')
		return "";
	return tsi_panel_print(panel, ": %s takes %s",
			       is_of_mean(panel) ? "the mean step" : "a typical step", interval);
}

/* Typical steps, where they differ from the mean that is judged: "; typical steps …", or "". */
static const char *name_typical(const struct panel *panel)
{
	const char *verdict = tsi_panel_text(panel, "step_change.typical_verdict");
	int64_t shift_ns = tsi_panel_int(panel, "step_change.typical_shift_ns");

	if (!is_of_mean(panel) || is_mean_enough(panel))
		return "";
	if (strcmp(verdict, "no_change") == 0 || strcmp(verdict, "same") == 0)
		return "; typical steps did not change";
	if (!is_typical_changed(panel))
		return "";
	return tsi_panel_print(panel, "; but typical steps got %s %s", name_size(panel, shift_ns),
			       direction(shift_ns));
}

const char *tsi_noise_words(const struct panel *panel)
{
	const char *interval = name_interval(panel);
	int64_t good = tsi_panel_int(panel, "history.trend_count");
	const char *text =
		good > 0 ? tsi_panel_print(panel,
					   "%s of the mean step is no more than the last %" PRId64
					   " good runs vary",
					   name_change(panel), good)
			 : tsi_panel_print(panel, "%s of the mean step is within noise",
					   name_change(panel));

	if (*interval != '\0')
		tsi_panel_append(panel, &text, " (%s)", interval);
	return text;
}

/* ---- the step ---- */

static void put_changed(const struct panel *panel)
{
	int64_t change_ns = tsi_panel_int(panel, "step_change.change_ns");
	double ratio = real_fact(panel, "step_change.change_ratio");
	const char *alone = "";
	struct lone_rank rank;

	if (tsi_find_lone_rank(panel, &rank))
		alone = tsi_panel_print(panel, "rank %" PRId64 " alone: ", rank.number);
	tsi_doc_line(panel->doc, DOC_CHANGE, change_ns > 0 ? DOC_BAD : DOC_GOOD,
		     change_ns > 0 ? "SLOWER" : "FASTER", "%sthe mean step is %s (%s) %s, %s%s%s%s",
		     alone, name_size(panel, change_ns), tsi_percent_words(panel, ratio, false),
		     direction(change_ns), name_certainty(panel, "step_change.p_value"),
		     name_extent(panel), name_typical(panel), name_medians(panel));
}

/* The mean may be as it was where the typical step is not: wild steps hide it. */
static void put_typical_changed(const struct panel *panel)
{
	int64_t shift_ns = tsi_panel_int(panel, "step_change.typical_shift_ns");

	if (is_typical_changed(panel))
		tsi_doc_line(panel->doc, DOC_CHANGE, DOC_WARN, "STEPS",
			     "typical steps are %s %s, %s; %s", name_size(panel, shift_ns),
			     direction(shift_ns),
			     name_certainty(panel, "step_change.typical_p_value"),
			     tsi_noise_words(panel));
}

bool tsi_is_unchanged(const struct panel *panel)
{
	return tsi_is_step(panel, "same") ||
	       (tsi_is_step(panel, "no_change") && !tsi_has_certain_line(panel) &&
		!is_typical_changed(panel));
}

static void put_unchanged(const struct panel *panel)
{
	if (tsi_is_step(panel, "same"))
		tsi_doc_line(panel->doc, DOC_CHANGE, DOC_GOOD, "SAME", "%s",
			     "the steps took the same time");
	else if (tsi_is_unchanged(panel))
		tsi_doc_line(panel->doc, DOC_CHANGE, DOC_GOOD, "SAME", "no significant change: %s",
			     tsi_noise_words(panel));
}

static void put_open(const struct panel *panel)
{
	int64_t a = tsi_panel_int(panel, "step_change.a_count");
	int64_t b = tsi_panel_int(panel, "step_change.b_count");
	int64_t good = tsi_panel_int(panel, "history.trend_count");

	if (good > 0) {
		tsi_doc_line(panel->doc, DOC_CHANGE, DOC_WARN, "UNSURE",
			     "cannot tell whether the step changed: %s, but %" PRId64
			     " good run%s before %s too few; record 3, better 8",
			     name_change(panel), good, good == 1 ? "" : "s",
			     good == 1 ? "is" : "are");
		return;
	}
	tsi_doc_line(panel->doc, DOC_CHANGE, DOC_WARN, "UNSURE",
		     "cannot tell whether the step changed: %s, but A has %" PRId64
		     " step%s and B %" PRId64 "; record at least 6 of each",
		     name_change(panel), a, a == 1 ? "" : "s", b);
}

/* Without a test, or without one of the sides. */
static void put_untested(const struct panel *panel, const char *verdict)
{
	const char *doubt = tsi_lookup_doubt(panel->analysis, "step_change.change_ns");
	bool is_lone = strncmp(verdict, "only_", 5) == 0;
	bool is_begin =
		tsi_panel_has(panel, "history.trend_count") && strcmp(verdict, "only_b") == 0;
	char text[WORDS_MAX];

	if (is_begin)
		tsi_print_text(text, sizeof(text),
			       "no good run before says its step time: nothing to "
			       "compare the newest with");
	else if (is_lone)
		tsi_print_text(text, sizeof(text),
			       "only %s has steps (%" PRId64 "): their time cannot be compared",
			       strcmp(verdict, "only_a") == 0 ? "A" : "B",
			       tsi_panel_int(panel, strcmp(verdict, "only_a") == 0
							    ? "step_change.a_count"
							    : "step_change.b_count"));
	else
		tsi_print_text(text, sizeof(text), "the mean step changed by %s; %s%.300s",
			       name_change(panel),
			       doubt ? "that cannot be relied on: "
				     : "there is nothing to test it by",
			       doubt ? doubt : "");
	tsi_doc_line(panel->doc, DOC_CHANGE, DOC_WARN, "UNSURE", "%s", text);
}

/* ---- what explains it ---- */

/* The parts of a line of the step: the largest, and the number of others that changed. */
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

/* Is the largest part all of the line but for a tenth? Then it needs no figure of its own. */
static bool is_whole(const struct line_parts *parts)
{
	double part_ns = (double)tsi_change_int(&parts->largest, "change_ns");
	double line_ns = (double)parts->change_ns;

	return part_ns * line_ns > 0 && fabs(part_ns) >= 0.9 * fabs(line_ns);
}

/*
 * Is the part worth a word: a quarter of the line or more? Names of kernels differ between devices
 * by nature: then operators say more.
 */
static bool is_part_worth(const struct panel *panel, const struct line_parts *parts)
{
	struct tscope_value same_device = tsi_panel_value(panel, "setup_changes.has_same_device");
	bool is_other = same_device.kind == TSCOPE_VALUE_FLAG && !same_device.flag;
	const char *kind = tsi_change_text(&parts->largest, "kind");
	double part_ns = (double)tsi_change_int(&parts->largest, "change_ns");
	double line_ns = (double)parts->change_ns;

	return *tsi_change_text(&parts->largest, "part") != '\0' && part_ns * line_ns > 0 &&
	       fabs(part_ns) * 4 >= fabs(line_ns) && !(is_other && strcmp(kind, "kernel") == 0);
}

/* ": ReduceScatter, slower", ": sgemm_128x64 +205.6 µs and 24 more" */
static void name_part(const struct panel *panel, const struct line_parts *parts,
		      struct doc_explanation *explanation)
{
	const struct change *part = &parts->largest;
	const char *names = tsi_change_text(part, "part"), *word = tsi_change_text(part, "change");
	size_t count = tsi_count_names(names);
	char one[ONE_NAME_MAX];

	(void)tsi_next_name(one, names);
	explanation->part = tsi_panel_print(panel, "%s", one);
	explanation->rest = count > 1 ? tsi_panel_print(panel, " and %zu other%s", count - 1,
							count > 2 ? "s" : "")
				      : "";
	if (is_whole(parts)) {
		tsi_panel_append(panel, &explanation->rest, ", %.40s", tsi_part_words(panel, word));
		return;
	}
	tsi_panel_append(
		panel, &explanation->rest, " %s",
		tsi_panel_signed(panel, tsi_change_cell(part, "change_ns"), TSCOPE_UNIT_NS));
	if (parts->more_count > 0)
		tsi_panel_append(panel, &explanation->rest, " and %zu more", parts->more_count);
}

/* The cause that at least half of an idle line's change is; false: none is. */
static bool find_cause(const struct panel *panel, const struct change *line, struct change *cause)
{
	double line_ns = (double)tsi_change_int(line, "change_ns");

	*cause = tsi_change_first(panel, "explanation.causes");
	for (; tsi_change_is_there(cause); cause->row++)
		if (tsi_change_is(cause, "line", tsi_change_text(line, "line")))
			return (double)tsi_change_int(cause, "change_ns") / line_ns >= 0.5;
	return false;
}

/*
 * Can a part of this cause be named as its reason? After Python between operators, the operator
 * whose call ends the wait is not at fault; a function of Python that the host was in is.
 */
static bool is_at_fault(const struct change *cause, const struct change *part)
{
	bool is_between = tsi_change_is(cause, "cause", "python");

	return !is_between || tsi_change_is(part, "kind", "function") ||
	       tsi_change_is(part, "kind", "wait") || tsi_change_is(part, "kind", "annotation");
}

/* ": Python between operators", ": Python between operators +1.1 ms" of a larger line */
static void name_cause(const struct panel *panel, const struct change *cause, int64_t line_ns,
		       struct doc_explanation *explanation)
{
	double share = (double)tsi_change_int(cause, "change_ns") / (double)line_ns;
	struct tscope_value change = tsi_change_cell(cause, "change_ns");

	explanation->part = tsi_cause_words(panel, tsi_change_text(cause, "cause"));
	explanation->rest =
		share >= 0.9 ? ""
			     : tsi_panel_print(panel, " %s",
					       tsi_panel_signed(panel, change, TSCOPE_UNIT_NS));
}

static bool is_certain(const struct change *line)
{
	return tsi_change_is(line, "certainty", "certain");
}

/* Certainty of a line, as " (likely)"; nothing where it is certain */
static const char *certainty_words(const struct panel *panel, const struct change *line)
{
	const char *certainty = tsi_change_text(line, "certainty");

	return *certainty == '\0' || is_certain(line)
		       ? ""
		       : tsi_panel_print(panel, " (%s)", tsi_panel_spaced(panel, certainty));
}

/* "+22.0 ms  exposed communication (likely): ReduceScatter, slower" */
static void put_explaining_line(const struct panel *panel, const struct change *line)
{
	struct line_parts parts = find_parts(panel, line);
	struct change cause;
	struct doc_node node = {
		.kind = DOC_NODE_EXPLANATION,
		.explanation = {
			.change_ns = tsi_change_cell(line, "change_ns"),
			.line = tsi_panel_print(
				panel, "%s%s", tsi_line_words(panel, tsi_change_text(line, "line")),
				certainty_words(panel, line)),
		},
	};

	bool has_cause = find_cause(panel, line, &cause);

	if (is_part_worth(panel, &parts) && (!has_cause || is_at_fault(&cause, &parts.largest)))
		name_part(panel, &parts, &node.explanation);
	else if (has_cause && !tsi_change_is(line, "line", tsi_change_text(&cause, "cause")))
		name_cause(panel, &cause, parts.change_ns, &node.explanation);
	(void)tsi_doc_add(panel->doc, &node);
}

static double share_of(const struct change *line)
{
	struct tscope_value share = tsi_change_cell(line, "share_ratio");

	return share.kind == TSCOPE_VALUE_REAL ? share.real : 0;
}

/* Lines that the head shows. */
struct shown_lines {
	const struct panel *panel;
	double covered; /* share of all changes */
	size_t count;
};

static void show_line(struct shown_lines *shown, const struct change *line)
{
	if (shown->count == MAX_LINES_SHOWN || tsi_change_int(line, "change_ns") == 0)
		return;
	shown->covered += share_of(line);
	shown->count++;
	put_explaining_line(shown->panel, line);
}

/*
 * The largest lines, whether they are certain or not: what is left out is small. Behind these any
 * that is certain.
 */
static void put_explanation(const struct panel *panel)
{
	struct change line = tsi_change_first(panel, "explanation.lines");
	struct shown_lines shown = { .panel = panel };

	for (; tsi_change_is_there(&line); line.row++)
		if (shown.covered < least_covered ||
		    (is_certain(&line) && tsi_is_line_worth(panel, &line)))
			show_line(&shown, &line);
}

/*
 * Changes of either sign, or noise of another line, hide those of lines from the whole. Here those
 * that are certain come first: the others are the noise.
 */
static void put_lines_of_unchanged(const struct panel *panel)
{
	struct shown_lines shown = { .panel = panel };

	if (!tsi_has_certain_line(panel))
		return;
	tsi_doc_line(panel->doc, DOC_CHANGE, DOC_WARN, "MIXED",
		     "no significant change of the whole step: %s%s; but parts of it changed:",
		     name_change(panel), name_medians(panel));
	for (int pass = 0; pass < 2; pass++) {
		struct change line = tsi_change_first(panel, "explanation.lines");
		for (; tsi_change_is_there(&line); line.row++)
			if (is_certain(&line) == (pass == 0) &&
			    (pass == 0 || shown.covered < least_covered))
				show_line(&shown, &line);
	}
}

void tsi_put_step_change(const struct panel *panel)
{
	const char *verdict = tsi_panel_text(panel, "step_change.verdict");

	if (strcmp(verdict, "changed") == 0) {
		put_changed(panel);
		put_explanation(panel);
	} else if (strcmp(verdict, "same") == 0) {
		put_unchanged(panel);
	} else if (strcmp(verdict, "no_change") == 0) {
		put_unchanged(panel);
		put_typical_changed(panel);
		put_lines_of_unchanged(panel);
	} else if (strcmp(verdict, "undecided") == 0) {
		put_open(panel);
		put_explanation(panel);
	} else if (*verdict != '\0') {
		put_untested(panel, verdict);
		put_explanation(panel);
	}
}
