/* SPDX-License-Identifier: MIT */
/*
 * Facts as OpenMetrics, for node-exporter's textfile collector or a Pushgateway: each is a gauge of
 * the whole, of each rank and of each device. Times are in seconds, as the format has them.
 */
#include "report/parts.h"
#include "report/sink.h"

#include "base/real.h"

#include <inttypes.h>

/* For a run with more ranks only the whole's metrics: a monitor pays for each series. */
enum { MAX_RANKS = 64, METRIC_MAX = 160 };

static const struct escape label_escape = { "\\\"", (const char *const[]){ "\\\\", "\\\"" } };
static const struct escape help_escape = { "\\\"", (const char *const[]){ "\\\\", "\\\"" } };

struct metrics {
	struct sink sink;
	const struct report_subject *subject;
	size_t part_count;
};

/* A fact, and what it is called: "tscope_overlap_comm_seconds". */
struct family {
	size_t analyzer, fact;
	const struct tscope_fact_def *def;
	char name[METRIC_MAX];
	bool is_ns; /* written in seconds */
	bool is_begun;
};

/* Whose fact it is. */
struct series {
	const struct report_part *part;
	size_t part_index;
	const struct tscope_analysis *analysis;
	int64_t rank; /* -1: the whole */
	int scope;
};

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Units spelled out: "mean_seconds", "excess_seconds_per_step". */
static void name_seconds(struct family *family)
{
	char *name = family->name, *end = name + strlen(name), *per = strstr(name, "_ns_per_");
	char rest[METRIC_MAX] = "";

	family->is_ns = per || family->def->unit == TSCOPE_UNIT_NS;
	if (per) {
		snprintf(rest, sizeof(rest), "%s", per + strlen("_ns"));
		end = per;
	} else if (family->is_ns && ends_with(name, "_ns")) {
		end -= strlen("_ns");
	} else if (ends_with(name, "_s")) {
		end -= strlen("_s");
	} else if (!family->is_ns) {
		return;
	}
	snprintf(end, sizeof(family->name) - (size_t)(end - name), "_seconds%s", rest);
}

static void name_family(struct family *family)
{
	snprintf(family->name, sizeof(family->name), "tscope_%s_%s",
		 tscope_analyzer(family->analyzer)->id, family->def->name);
	for (char *p = family->name; *p != '\0'; p++)
		if (*p == '.')
			*p = '_';
	/* A gauge must not look like a counter. */
	if (ends_with(family->name, "_total"))
		family->name[strlen(family->name) - strlen("_total")] = '\0';
	name_seconds(family);
}

static const char *unit_of(const struct family *family)
{
	if (ends_with(family->name, "_seconds"))
		return "seconds";
	if (family->def->unit == TSCOPE_UNIT_BYTES && ends_with(family->name, "_bytes"))
		return "bytes";
	if (family->def->unit == TSCOPE_UNIT_RATIO && ends_with(family->name, "_ratio"))
		return "ratio";
	return NULL;
}

static void put_head(struct metrics *m, const char *name, const char *unit, const char *help)
{
	tsi_sink_print(&m->sink, "# TYPE %s gauge\n", name);
	if (unit)
		tsi_sink_print(&m->sink, "# UNIT %s %s\n", name, unit);
	tsi_sink_print(&m->sink, "# HELP %s ", name);
	tsi_sink_escape(&m->sink, &help_escape, tsi_str_of(help));
	tsi_sink_put(&m->sink, "\n");
}

/* Two parts may have one path: their numbers keep the series apart. */
static void begin_sample(struct metrics *m, const char *name, const struct report_part *part,
			 size_t part_index)
{
	tsi_sink_print(&m->sink, "%s{input=\"", name);
	tsi_sink_escape(&m->sink, &label_escape, part->path);
	tsi_sink_put(&m->sink, "\"");
	if (m->part_count > 1)
		tsi_sink_print(&m->sink, ",part=\"%zu\"", part_index + 1);
}

static void put_label(struct metrics *m, const char *label, const char *value)
{
	tsi_sink_print(&m->sink, ",%s=\"", label);
	tsi_sink_escape(&m->sink, &label_escape, tsi_str_of(value));
	tsi_sink_put(&m->sink, "\"");
}

static void put_number(struct metrics *m, double number)
{
	char text[REAL_TEXT_MAX];

	tsi_real_shortest(text, number);
	tsi_sink_print(&m->sink, "} %s\n", text);
}

/* False: a text, or not known. */
static bool number_of(struct tscope_value value, bool is_ns, double *number)
{
	if (value.kind == TSCOPE_VALUE_INT)
		*number = (double)value.integer;
	else if (value.kind == TSCOPE_VALUE_REAL)
		*number = value.real;
	else if (value.kind == TSCOPE_VALUE_FLAG)
		*number = value.flag;
	else
		return false;
	if (is_ns)
		*number /= 1e9;
	return true;
}

static void put_sample(struct metrics *m, struct family *family, const struct series *series)
{
	double number;

	if (!number_of(tscope_analysis_fact(series->analysis, family->analyzer, family->fact,
					    series->scope),
		       family->is_ns, &number))
		return;
	if (!family->is_begun)
		put_head(m, family->name, unit_of(family), family->def->meaning);
	family->is_begun = true;
	begin_sample(m, family->name, series->part, series->part_index);
	if (series->rank >= 0)
		tsi_sink_print(&m->sink, ",rank=\"%" PRId64 "\"", series->rank);
	if (series->scope >= 0)
		tsi_sink_print(
			&m->sink, ",device=\"%d\"",
			tscope_analysis_device_ordinal(series->analysis, (uint32_t)series->scope));
	put_number(m, number);
}

static void put_scopes(struct metrics *m, struct family *family, struct series series)
{
	uint32_t devices = tscope_analysis_device_count(series.analysis);

	for (int scope = TSCOPE_WHOLE_TRACE; scope < (int)devices; scope++) {
		series.scope = scope;
		if (tscope_analysis_has(series.analysis, family->analyzer, scope))
			put_sample(m, family, &series);
	}
}

static void put_family(struct metrics *m, struct family *family)
{
	name_family(family);
	for (size_t i = 0; i < m->part_count; i++) {
		struct report_part part = tsi_part(m->subject, i);
		size_t ranks = part.run ? tscope_run_rank_count(part.run) : 0;

		put_scopes(m, family, (struct series){ &part, i, part.analysis, -1, 0 });
		for (size_t k = 0; k < ranks && ranks <= MAX_RANKS; k++) {
			int64_t rank = tscope_run_rank_number(part.run, k);

			if (rank >= 0)
				put_scopes(m, family,
					   (struct series){ &part, i,
							    tscope_run_rank_analysis(part.run, k),
							    rank, 0 });
		}
	}
}

static void put_facts(struct metrics *m)
{
	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		const struct tscope_analyzer_def *def = tscope_analyzer(i);

		for (size_t k = 0; k < def->fact_count; k++)
			put_family(m, &(struct family){ i, k, &def->facts[k], "", false, false });
	}
}

/* Facts that an alert should not rest on. */
static void put_doubts(struct metrics *m)
{
	put_head(m, "tscope_doubtful", NULL, "1 for each fact that is not reliable, and why");
	for (size_t i = 0; i < m->part_count; i++) {
		struct report_part part = tsi_part(m->subject, i);

		for (size_t k = 0; k < tscope_analyzer_count(); k++) {
			const char *why =
				tscope_analysis_reliability(part.analysis, k, TSCOPE_WHOLE_TRACE);

			if (!why)
				continue;
			begin_sample(m, "tscope_doubtful", &part, i);
			put_label(m, "analyzer", tscope_analyzer(k)->id);
			put_label(m, "reason", why);
			put_number(m, 1);
		}
	}
}

/* For each finding 1, or the step time that it would save where known. */
static void put_finding_family(struct metrics *m, const char *name, bool is_gain)
{
	for (size_t i = 0; i < m->part_count; i++) {
		struct report_part part = tsi_part(m->subject, i);

		for (size_t k = 0; k < tsi_part_finding_count(&part); k++) {
			struct tscope_finding finding = tscope_diagnosis_finding(part.diagnosis, k);

			if (is_gain && !finding.has_gain)
				continue;
			begin_sample(m, name, &part, i);
			put_label(m, "rule", finding.rule->id);
			put_label(m, "severity", tscope_severity_name(finding.severity));
			put_number(m, is_gain ? (double)finding.gain_ns / 1e9 : 1);
		}
	}
}

static void put_findings(struct metrics *m)
{
	put_head(m, "tscope_finding", NULL, "1 for each finding");
	put_finding_family(m, "tscope_finding", false);
	put_head(m, "tscope_finding_gain_seconds", "seconds",
		 "time per step that a finding would save");
	put_finding_family(m, "tscope_finding_gain_seconds", true);
}

static bool is_repeated(const struct report_part *part, size_t gate)
{
	for (size_t i = 0; i < gate; i++)
		if (strcmp(part->gates[i].expression, part->gates[gate].expression) == 0)
			return true;
	return false;
}

static void put_gates(struct metrics *m)
{
	put_head(m, "tscope_gate_held", NULL, "1: the gate held, 0: it tripped or is undecided");
	for (size_t i = 0; i < m->part_count; i++) {
		struct report_part part = tsi_part(m->subject, i);

		for (size_t k = 0; k < part.gate_count; k++) {
			if (is_repeated(&part, k))
				continue;
			begin_sample(m, "tscope_gate_held", &part, i);
			put_label(m, "gate", part.gates[k].expression);
			put_number(m, part.gates[k].held);
		}
	}
}

static void write_openmetrics(FILE *out, const struct report_subject *subject,
			      const struct tscope_report_options *options)
{
	struct metrics m = { { .out = out }, subject, tsi_part_count(subject) };

	(void)options;
	put_facts(&m);
	put_doubts(&m);
	put_findings(&m);
	put_gates(&m);
	tsi_sink_put(&m.sink, "# EOF\n");
}

const struct reporter tsi_reporter_openmetrics = {
	.format = { .name = "openmetrics", .readers = "monitoring" },
	.write_facts = write_openmetrics,
};
