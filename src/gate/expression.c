/* SPDX-License-Identifier: MIT */
/*
 * The language of gates: from the text of --fail-on to what is compared with
 * what. Names are resolved here, against the definitions of analyzers and
 * rules, so that a slip is known before any input is read.
 */
#include "gate/expression.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/analyzer_table.h"
#include "analyze/lookup.h"
#include "base/error.h"
#include "base/nearest.h"
#include "decode/json.h"
#include "rules/rule_table.h"

enum { MAX_NAME = 96 }; /* longer than any name of ours, with its NUL */

/* Longer ones first: "<=" is not "<" with a value that begins with "=". */
static const struct {
	const char *text;
	enum gate_comparison comparison;
} comparisons[] = {
	{ "<=", GATE_LESS_EQUAL }, { ">=", GATE_GREATER_EQUAL }, { "==", GATE_EQUAL },
	{ "!=", GATE_NOT_EQUAL },  { "<", GATE_LESS },           { ">", GATE_GREATER },
};

/* Alternative endings of a _ns fact. */
static const struct {
	const char *suffix;
	double ns;
} time_units[] = { { "_us", 1e3 }, { "_ms", 1e6 }, { "_s", 1e9 } };

/* Units of numbers; those that end like another one come first. */
static const struct {
	const char *suffix;
	enum tscope_unit unit; /* of the fact */
	double scale;
} value_units[] = {
	{ "KiB", TSCOPE_UNIT_BYTES, 0x1p10 }, { "MiB", TSCOPE_UNIT_BYTES, 0x1p20 },
	{ "GiB", TSCOPE_UNIT_BYTES, 0x1p30 }, { "TiB", TSCOPE_UNIT_BYTES, 0x1p40 },
	{ "kB", TSCOPE_UNIT_BYTES, 1e3 },     { "KB", TSCOPE_UNIT_BYTES, 1e3 },
	{ "MB", TSCOPE_UNIT_BYTES, 1e6 },     { "GB", TSCOPE_UNIT_BYTES, 1e9 },
	{ "TB", TSCOPE_UNIT_BYTES, 1e12 },    { "B", TSCOPE_UNIT_BYTES, 1 },
	{ "ns", TSCOPE_UNIT_NS, 1 },          { "us", TSCOPE_UNIT_NS, 1e3 },
	{ "ms", TSCOPE_UNIT_NS, 1e6 },        { "s", TSCOPE_UNIT_NS, 1e9 },
	{ "%", TSCOPE_UNIT_RATIO, 0.01 },
};

const char *tsi_gate_comparison_text(enum gate_comparison comparison)
{
	for (size_t i = 0; i < TSI_COUNT_OF(comparisons); i++)
		if (comparisons[i].comparison == comparison)
			return comparisons[i].text;
	return "";
}

/* ---- names ---- */

/* A name as a string, cut where it is longer than any that we know. */
static void copy_name(char name[MAX_NAME], struct str text)
{
	snprintf(name, MAX_NAME, "%.*s", (int)(text.length < MAX_NAME ? text.length : MAX_NAME),
		 text.data);
}

static void fact_id(char id[MAX_NAME], const struct tscope_analyzer_def *analyzer, size_t fact)
{
	snprintf(id, MAX_NAME, "%s.%s", analyzer->id, analyzer->facts[fact].name);
}

static bool find_fact(struct gate_expression *gate, const char *name)
{
	const struct tscope_fact_def *def = tsi_find_fact(name, &gate->analyzer, &gate->fact);

	if (!def)
		return false;
	gate->unit = def->unit;
	gate->scale = 1;
	gate->is_of_comparison = tsi_analyzer(gate->analyzer)->levels & LEVEL_DIFF;
	return true;
}

/*
 * "step_time.p95_ms" → "step_time.p95_ns"; returns the suffix that was there,
 * and its unit in *ns; NULL for every other name.
 */
static const char *to_ns_name(char name[MAX_NAME], double *ns)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < TSI_COUNT_OF(time_units); i++) {
		const char *suffix = time_units[i].suffix;
		size_t stem = length - strlen(suffix);

		if (length <= strlen(suffix) || strcmp(name + stem, suffix) != 0)
			continue;
		snprintf(name + stem, MAX_NAME - stem, "_ns");
		*ns = time_units[i].ns;
		return suffix;
	}
	return NULL;
}

/* The fact with a name as a gate may write it: "mfu", "step_time.p95_ms". */
static bool resolve_fact(struct gate_expression *gate, struct str text)
{
	char name[MAX_NAME];
	double ns;

	if (tsi_str_is(text, "mfu"))
		text = TSI_STR("efficiency.mfu");
	copy_name(name, text);
	if (find_fact(gate, name))
		return true;
	if (!to_ns_name(name, &ns) || !find_fact(gate, name) || gate->unit != TSCOPE_UNIT_NS)
		return false;
	gate->scale = ns;
	return true;
}

/* "budget.compute_ns" of an earlier version is "budget.compute_total_ns". */
static bool is_renamed(struct str word, const char *id)
{
	static const char ending[] = "_total_ns";
	size_t length = strlen(id), stem = length - (sizeof(ending) - 1);

	return length > sizeof(ending) && strcmp(id + stem, ending) == 0 &&
	       word.length == stem + 3 && memcmp(word.data, id, stem) == 0 &&
	       memcmp(word.data + stem, "_ns", 3) == 0;
}

/* Considers all facts; the nearest one's id is kept in `best`. */
static void consider_facts(struct nearest *nearest, char best[MAX_NAME])
{
	char id[MAX_NAME];

	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		const struct tscope_analyzer_def *analyzer = tscope_analyzer(i);

		for (size_t j = 0; j < analyzer->fact_count; j++) {
			fact_id(id, analyzer, j);
			tsi_nearest_consider(nearest, id);
			if (is_renamed(nearest->word, id)) {
				nearest->name = id;
				nearest->distance = 0;
			}
			if (nearest->name != id)
				continue;
			memcpy(best, id, sizeof(id));
			nearest->name = best;
		}
	}
}

static enum tscope_status fail_unknown(const struct gate_expression *gate, struct str text,
				       struct tscope_error *err)
{
	char name[MAX_NAME], best[MAX_NAME];
	size_t analyzer, table;
	double ns;

	copy_name(name, text);
	if (tscope_table_find(name, &analyzer, &table))
		return tsi_fail(err, TSCOPE_E_FORMAT, "%s is a table, and no fact or rule", name);
	/* The nearest of _ns names; it is proposed with the unit that was asked for. */
	const char *suffix = to_ns_name(name, &ns);
	struct nearest nearest = { .word = { name, strlen(name) } };
	consider_facts(&nearest, best);
	for (size_t i = 0; i < tscope_rule_count(); i++)
		tsi_nearest_consider(&nearest, tscope_rule(i)->id);
	tsi_nearest_consider(&nearest, "mfu");
	tsi_nearest_consider(&nearest, "severity");
	tsi_nearest_consider(&nearest, "straggler");
	if (gate->language == GATES_OF_DIFF)
		tsi_nearest_consider(&nearest, "new-finding");
	if (!nearest.name)
		return tsi_fail(err, TSCOPE_E_FORMAT,
				"unknown fact or rule '%.*s'; 'tscope report --list-facts' and "
				"'tscope rules' "
				"list them",
				TSI_QUOTE(text));
	size_t length = strlen(nearest.name);
	bool is_time = suffix && length > 3 && strcmp(nearest.name + length - 3, "_ns") == 0;
	return tsi_fail(err, TSCOPE_E_FORMAT, "unknown fact or rule %.*s; did you mean %.*s%s?",
			TSI_QUOTE(text), (int)(is_time ? length - 3 : length), nearest.name,
			is_time ? suffix : "");
}

static const struct tscope_rule_def *find_rule(struct str text)
{
	char name[MAX_NAME];

	copy_name(name, text);
	return tscope_rule_find(name);
}

static enum tscope_status fail_of_diff(struct str text, struct tscope_error *err)
{
	return tsi_fail(err, TSCOPE_E_FORMAT,
			"%.*s only works with tscope diff: it is about a change between two inputs",
			TSI_QUOTE(text));
}

/* "mfu<35": percent without its sign; MFUs are 1 at most, other ratios rarely reach 10. */
static enum tscope_status check_ratio(const struct gate_expression *gate, struct str name,
				      struct tscope_error *err)
{
	double most = strcmp(tscope_analyzer(gate->analyzer)->id, "efficiency") == 0 ? 1 : 10;

	if (gate->unit != TSCOPE_UNIT_RATIO || gate->is_change || gate->scale != 1 ||
	    !(gate->number > most) || gate->number > 100)
		return TSCOPE_OK;
	return tsi_fail(err, TSCOPE_E_FORMAT, "%.*s is a ratio: did you mean %g or %g%%?",
			TSI_QUOTE(name), gate->number / 100, gate->number);
}

/* ---- the two forms ---- */

/* "DIST.STRAGGLER", "straggler" */
static enum tscope_status parse_word(struct gate_expression *gate, struct str word,
				     struct tscope_error *err)
{
	gate->rule = find_rule(word);
	if (gate->rule) {
		gate->kind = GATE_RULE;
		return TSCOPE_OK;
	}
	if (tsi_str_is(word, "straggler")) {
		gate->kind = GATE_STRAGGLER;
		return TSCOPE_OK;
	}
	if (tsi_str_is(word, "new-finding")) {
		gate->kind = GATE_NEW_FINDING;
		return gate->language == GATES_OF_DIFF ? TSCOPE_OK : fail_of_diff(word, err);
	}
	if (tsi_str_is(word, "severity"))
		return tsi_fail(err, TSCOPE_E_FORMAT,
				"severity needs a comparison, such as severity>=high");
	if (resolve_fact(gate, word))
		return tsi_fail(err, TSCOPE_E_FORMAT, "%.*s needs a comparison, such as %.*s>0",
				TSI_QUOTE(word), TSI_QUOTE(word));
	return fail_unknown(gate, word, err);
}

/* Nothing is above high or below low. */
static bool can_trip(const struct gate_expression *gate)
{
	return !(gate->comparison == GATE_GREATER && gate->severity == TSCOPE_SEVERITY_HIGH) &&
	       !(gate->comparison == GATE_LESS && gate->severity == TSCOPE_SEVERITY_LOW);
}

static enum tscope_status parse_severity(struct gate_expression *gate, struct tscope_error *err)
{
	gate->kind = GATE_SEVERITY;
	if (tsi_severity_parse(gate->value, &gate->severity))
		return can_trip(gate) ? TSCOPE_OK
				      : tsi_fail(err, TSCOPE_E_FORMAT,
						 "no severity is %s %.*s: this gate never trips",
						 gate->comparison == GATE_LESS ? "below" : "above",
						 TSI_QUOTE(gate->value));
	return tsi_fail(err, TSCOPE_E_FORMAT, "severity is low, med or high, not '%.*s'",
			TSI_QUOTE(gate->value));
}

/* Takes the end of a number off that says its unit. */
static void take_unit(struct gate_expression *gate, struct str *number)
{
	for (size_t i = 0; i < TSI_COUNT_OF(value_units); i++) {
		struct str suffix = tsi_str_of(value_units[i].suffix);

		if (value_units[i].unit != gate->unit || number->length <= suffix.length ||
		    memcmp(number->data + number->length - suffix.length, suffix.data,
			   suffix.length) != 0)
			continue;
		number->length -= suffix.length;
		*number = tsi_str_trim(*number);
		gate->scale = value_units[i].scale;
		return;
	}
}

/* Facts that are never below 0: those that gates are mostly about, by the ends of their ids. */
static const char *const never_negative[] = {
	"count",
	"alloc_bytes",
	"reserved_bytes",
	"efficiency.mfu",
	"efficiency.hfu",
	"step_time.mean_ns",
	"step_time.p50_ns",
	"step_time.p95_ns",
	"step_time.p99_ns",
};

/* Facts that are parts of a whole, likewise. */
static const char *const never_above_one[] = {
	"efficiency.mfu",
	"efficiency.useful_ratio",
	"flops_coverage_ratio",
	"flops.coverage_ratio",
	"top_recoverable_ratio",
	"data_ratio",
	"forward_ratio",
	"backward_ratio",
	"optimizer_ratio",
	"step_time.phase.comm_ratio",
	"compute_ratio",
	"other_ratio",
	"device_busy.utilisation_ratio",
	"overlap.overlap_ratio",
	"overlap.exposed_comm_ratio",
	"kernels.short_ratio",
	"unlinked_device_ratio",
	"unattributed_device_ratio",
	"queued_ratio",
	"host_bound_ratio",
	"uncached_ratio",
	"graph_ratio",
	"graph_hit_ratio",
	"graph_coverage_ratio",
	"transfers.wait_ratio",
	"load_balance_ratio",
	"pipeline.bubble_ratio",
	"mean_comm_fraction",
	"mean_transfer_fraction",
	"slowest_fraction",
	"wall_frac_lost_to_imbalance",
	"memory.fragmentation",
	"snapshot.inactive_ratio",
	"inactive_split_ratio",
	"snapshot.fragmentation_ratio",
	"temporary_ratio",
	"rss_rising_ratio",
};

static bool ends_with_any(const struct gate_expression *gate, const char *const *endings,
			  size_t count)
{
	char id[MAX_NAME];

	fact_id(id, tscope_analyzer(gate->analyzer), gate->fact);
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(endings[i]), whole = strlen(id);

		if (whole >= length && strcmp(id + whole - length, endings[i]) == 0)
			return true;
	}
	return false;
}

bool tsi_gate_is_never_negative(const struct gate_expression *gate)
{
	return ends_with_any(gate, never_negative, TSI_COUNT_OF(never_negative));
}

/* A bound that the fact never reaches makes a gate that never trips. */
static enum tscope_status check_bound(const struct gate_expression *gate, struct str name,
				      struct tscope_error *err)
{
	bool asks_below = gate->comparison == GATE_LESS
				  ? gate->number <= 0
				  : gate->number < 0 && (gate->comparison == GATE_LESS_EQUAL ||
							 gate->comparison == GATE_EQUAL);

	double bound = gate->number * gate->scale;
	bool asks_above = gate->comparison == GATE_GREATER
				  ? bound >= 1
				  : bound > 1 && (gate->comparison == GATE_GREATER_EQUAL ||
						  gate->comparison == GATE_EQUAL);

	if (asks_below && tsi_gate_is_never_negative(gate))
		return tsi_fail(err, TSCOPE_E_FORMAT,
				"%.*s is never below 0: this gate never trips", TSI_QUOTE(name));
	if (asks_above && ends_with_any(gate, never_above_one, TSI_COUNT_OF(never_above_one)))
		return tsi_fail(err, TSCOPE_E_FORMAT,
				"%.*s is never above 1: this gate never trips", TSI_QUOTE(name));
	return TSCOPE_OK;
}

static enum tscope_status check_number(const struct gate_expression *gate, struct str name,
				       struct tscope_error *err)
{
	enum tscope_status status = check_ratio(gate, name, err);

	if (status == TSCOPE_OK && !gate->is_change)
		status = check_bound(gate, name, err);
	return status;
}

/* Takes the end of "+3% of trend" off. */
static void take_trend(struct gate_expression *gate)
{
	static const struct str end = { " of trend", 9 };
	size_t length = gate->value.length;

	if (gate->language != GATES_OF_DIFF || length <= end.length ||
	    memcmp(gate->value.data + length - end.length, end.data, end.length) != 0)
		return;
	gate->is_of_trend = true;
	gate->value.length -= end.length;
	gate->value = tsi_str_trim(gate->value);
}

/* "+5%", "-0.02", "+200MiB", "320", "+3% of trend" */
static enum tscope_status parse_number(struct gate_expression *gate, struct str name,
				       struct tscope_error *err)
{
	take_trend(gate);
	struct str number = gate->value;
	bool is_signed = tsi_str_starts(number, "+") || tsi_str_starts(number, "-");

	gate->is_change = gate->language == GATES_OF_DIFF && is_signed && !gate->is_of_comparison;
	if (gate->is_of_trend && !gate->is_change)
		return tsi_fail(err, TSCOPE_E_FORMAT,
				"%.*s of trend is a change: +3%% of trend or -3%% of trend",
				TSI_QUOTE(name));
	gate->is_percent =
		number.data[number.length - 1] == '%' &&
		(gate->language == GATES_OF_DIFF || is_signed || gate->unit != TSCOPE_UNIT_RATIO);
	if (gate->language == GATES_OF_REPORT && (gate->is_percent || *number.data == '+'))
		return fail_of_diff(gate->value, err);
	if (gate->is_percent && !gate->is_change)
		return tsi_fail(err, TSCOPE_E_FORMAT, "%.*s %s, not '%.*s'", TSI_QUOTE(name),
				gate->is_of_comparison
					? "is of the comparison: no percent of it"
					: "changes by a signed percentage: +5% or -5%",
				TSI_QUOTE(gate->value));
	if (gate->is_percent)
		number = tsi_str_trim((struct str){ number.data, number.length - 1 });
	else
		take_unit(gate, &number);
	if (*number.data == '+' && !tsi_str_starts(number, "+-"))
		number = tsi_str_tail(number, 1);
	if (tsi_json_to_double(number, &gate->number) && isfinite(gate->number))
		return check_number(gate, name, err);
	return tsi_fail(err, TSCOPE_E_FORMAT, "%.*s is compared with a number, not '%.*s'",
			TSI_QUOTE(name), TSI_QUOTE(gate->value));
}

/* Facts whose texts are a closed set, each between bars. */
static const struct {
	const char *fact, *texts;
} closed_facts[] = {
	{ "integrity.verdict", "|sound|damaged|doubtful|" },
	{ "efficiency.flops_source", "|option|model|run.json|operators|" },
	{ "efficiency.peak_source", "|option|run.json|device|" },
	{ "efficiency.top_recoverable", "|compute_overhead|data_stall|communication|other|" },
	{ "snapshot.oom_cause", "|limit|rounding|fragmentation|shortage|" },
	{ "snapshot.oom_expandable_segments", "|likely|perhaps|hardly|no|in_use|" },
	{ "convergence.loss_trend", "|improving|worsening|plateau|diverged|unknown|" },
};

/* A text that the fact never has makes a gate that never trips, or always. */
static enum tscope_status check_text(const struct gate_expression *gate, struct str name,
				     struct tscope_error *err)
{
	char id[MAX_NAME], text[MAX_NAME];

	fact_id(id, tscope_analyzer(gate->analyzer), gate->fact);
	snprintf(text, sizeof(text), "|%.*s|", TSI_QUOTE(gate->value));
	for (size_t i = 0; i < TSI_COUNT_OF(closed_facts); i++)
		if (strcmp(closed_facts[i].fact, id) == 0 && !strstr(closed_facts[i].texts, text))
			return tsi_fail(err, TSCOPE_E_FORMAT, "%.*s is one of %s, never '%.*s'",
					TSI_QUOTE(name), closed_facts[i].texts,
					TSI_QUOTE(gate->value));
	return TSCOPE_OK;
}

/* The value that a fact is compared with. */
static enum tscope_status parse_value(struct gate_expression *gate, struct str name,
				      struct tscope_error *err)
{
	bool is_text = gate->unit == TSCOPE_UNIT_TEXT, is_flag = gate->unit == TSCOPE_UNIT_FLAG;

	if ((is_text || is_flag) && gate->comparison != GATE_EQUAL &&
	    gate->comparison != GATE_NOT_EQUAL)
		return tsi_fail(err, TSCOPE_E_FORMAT,
				"%.*s is no number: compare it by == or !=", TSI_QUOTE(name));
	if (is_text)
		return check_text(gate, name, err);
	if (is_flag) {
		gate->number = tsi_str_is(gate->value, "true");
		if (gate->number == 1 || tsi_str_is(gate->value, "false"))
			return TSCOPE_OK;
		return tsi_fail(err, TSCOPE_E_FORMAT, "%.*s is true or false, not '%.*s'",
				TSI_QUOTE(name), TSI_QUOTE(gate->value));
	}
	return parse_number(gate, name, err);
}

/* "mfu<0.35", "severity>=high" */
static enum tscope_status parse_comparison(struct gate_expression *gate, struct str name,
					   struct tscope_error *err)
{
	if (name.length == 0 || gate->value.length == 0)
		return tsi_fail(err, TSCOPE_E_FORMAT, "nothing stands %s %s",
				name.length == 0 ? "before" : "behind",
				tsi_gate_comparison_text(gate->comparison));
	if (tsi_str_is(name, "severity"))
		return parse_severity(gate, err);
	if (resolve_fact(gate, name)) {
		gate->kind = GATE_FACT;
		if (gate->is_of_comparison && gate->language == GATES_OF_REPORT)
			return fail_of_diff(name, err);
		return parse_value(gate, name, err);
	}
	if (tsi_str_is(name, "straggler") || tsi_str_is(name, "new-finding") || find_rule(name))
		return tsi_fail(err, TSCOPE_E_FORMAT,
				"%.*s is compared with nothing: it stands alone", TSI_QUOTE(name));
	return fail_unknown(gate, name, err);
}

enum tscope_status tsi_gate_parse(struct gate_expression *gate, const char *text,
				  enum gate_language language, struct tscope_error *err)
{
	size_t name_length = strcspn(text, "<>=!");
	struct str name = tsi_str_trim((struct str){ text, name_length });
	const char *rest = text + name_length;

	*gate = (struct gate_expression){
		.comparison = GATE_NO_COMPARISON,
		.language = language,
		.scale = 1,
	};
	if (*rest == '\0' && name.length == 0)
		return tsi_fail(err, TSCOPE_E_FORMAT, "a gate names a fact or a rule");
	if (*rest == '\0')
		return parse_word(gate, name, err);
	for (size_t i = 0; i < TSI_COUNT_OF(comparisons); i++) {
		size_t length = strlen(comparisons[i].text);

		if (strncmp(rest, comparisons[i].text, length) != 0)
			continue;
		gate->comparison = comparisons[i].comparison;
		gate->value = tsi_str_trim(tsi_str_of(rest + length));
		return parse_comparison(gate, name, err);
	}
	return tsi_fail(err, TSCOPE_E_FORMAT, "%.*s is no comparison; there are < <= > >= == !=", 1,
			rest);
}

enum tscope_status tscope_gate_check(const char *expression, struct tscope_error *err)
{
	struct gate_expression gate;

	return tsi_gate_parse(&gate, expression, GATES_OF_REPORT, err);
}

enum tscope_status tscope_gate_check_change(const char *expression, struct tscope_error *err)
{
	struct gate_expression gate;

	return tsi_gate_parse(&gate, expression, GATES_OF_DIFF, err);
}
