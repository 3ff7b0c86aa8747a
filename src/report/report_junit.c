/* SPDX-License-Identifier: MIT */
/*
 * JUnit's XML, as CI servers show it: gates and rules are test cases. A test fails where the exit
 * code is not 0: a gate that tripped, one that is undecided and may not pass, and the findings of
 * a job that hangs. Other findings and rules without data are skipped tests.
 */
#include "report/parts.h"
#include "report/sink.h"

static const struct escape xml_escape = {
	"&<>\"'",
	(const char *const[]){ "&amp;", "&lt;", "&gt;", "&quot;", "&apos;" },
};

enum verdict { PASSED, FAILED, SKIPPED };

/* A test suite and its counts. */
struct suite {
	struct sink *sink;
	const struct report_part *part;
	bool undecided_pass;
	size_t counts[SKIPPED + 1];
};

static void put_words(struct sink *sink, const char *words)
{
	tsi_sink_escape(sink, &xml_escape, tsi_str_of(words));
}

static void put_failure(struct sink *sink, const char *type, const char *message,
			const char *detail)
{
	tsi_sink_print(sink, "<failure type=\"%s\" message=\"", type);
	put_words(sink, message);
	tsi_sink_put(sink, "\">");
	put_words(sink, detail);
	tsi_sink_put(sink, "</failure>");
}

/* Jenkins' schema gives it no attributes. */
static void put_skipped(struct sink *sink, const char *type, const char *message,
			const char *detail)
{
	tsi_sink_print(sink, "<skipped>%s: ", type);
	put_words(sink, message);
	if (*detail != '\0')
		tsi_sink_put(sink, "\n");
	put_words(sink, detail);
	tsi_sink_put(sink, "</skipped>");
}

static void put_result(struct suite *suite, enum verdict verdict, const char *type,
		       const char *message, const char *detail)
{
	struct sink *sink = suite->sink;

	suite->counts[verdict]++;
	if (verdict == PASSED) {
		tsi_sink_put(sink, "/>\n");
		return;
	}
	tsi_sink_put(sink, ">\n      ");
	if (verdict == FAILED)
		put_failure(sink, type, message, detail);
	else
		put_skipped(sink, type, message, detail);
	tsi_sink_put(sink, "\n    </testcase>\n");
}

static void begin_case(struct suite *suite, const char *classname, const char *name)
{
	tsi_sink_print(suite->sink, "    <testcase classname=\"tscope.%s\" name=\"", classname);
	put_words(suite->sink, name);
	tsi_sink_put(suite->sink, "\" time=\"0\"");
}

static void put_gate(struct suite *suite, const struct tscope_gate_result *gate)
{
	enum verdict verdict = gate->held ? PASSED : FAILED;

	if (gate->is_inconclusive && suite->undecided_pass)
		verdict = SKIPPED;
	begin_case(suite, "gate", gate->expression);
	put_result(suite, verdict, gate->is_inconclusive ? "undecided" : "tripped", gate->reason,
		   "");
}

static const struct tscope_finding *find_finding(const struct report_part *part,
						 const struct tscope_rule_def *rule,
						 struct tscope_finding *finding)
{
	for (size_t i = 0; i < tscope_diagnosis_finding_count(part->diagnosis); i++) {
		*finding = tscope_diagnosis_finding(part->diagnosis, i);
		if (finding->rule == rule)
			return finding;
		for (size_t k = 0; k < finding->also_count; k++)
			if (finding->also[k] == rule)
				return finding;
	}
	return NULL;
}

static const char *why_not_evaluated(const struct report_part *part,
				     const struct tscope_rule_def *rule)
{
	for (size_t i = 0; i < tscope_diagnosis_not_evaluated_count(part->diagnosis); i++) {
		struct tscope_not_evaluated missed =
			tscope_diagnosis_not_evaluated(part->diagnosis, i);

		if (missed.rule == rule)
			return missed.reason;
	}
	return NULL;
}

static void put_rule(struct suite *suite, const struct tscope_rule_def *rule)
{
	struct tscope_finding finding;
	const char *why = why_not_evaluated(suite->part, rule);

	begin_case(suite, "rule", rule->id);
	if (why)
		put_result(suite, SKIPPED, "not evaluated", why, "");
	else if (!find_finding(suite->part, rule, &finding))
		put_result(suite, PASSED, "", "", "");
	else
		put_result(suite, suite->part->is_hang ? FAILED : SKIPPED,
			   tsi_severity_word(finding.severity), finding.title, finding.advice);
}

static void put_cases(struct suite *suite)
{
	for (size_t i = 0; i < suite->part->gate_count; i++)
		put_gate(suite, &suite->part->gates[i]);
	for (size_t i = 0; suite->part->diagnosis && i < tscope_rule_count(); i++)
		put_rule(suite, tscope_rule(i));
}

static void add_counts(size_t sum[SKIPPED + 1], const size_t counts[SKIPPED + 1])
{
	for (enum verdict i = PASSED; i <= SKIPPED; i++)
		sum[i] += counts[i];
}

/* Counts come first in the file, so what is counted is written twice: once to nowhere. */
static void count_cases(const struct report_part *part, bool undecided_pass,
			size_t counts[SKIPPED + 1])
{
	struct sink nowhere = { 0 };
	struct suite suite = { &nowhere, part, undecided_pass, { 0 } };

	put_cases(&suite);
	add_counts(counts, suite.counts);
}

static void put_counts(struct sink *sink, const size_t counts[SKIPPED + 1])
{
	tsi_sink_print(sink, " tests=\"%zu\" failures=\"%zu\" errors=\"0\"",
		       counts[PASSED] + counts[FAILED] + counts[SKIPPED], counts[FAILED]);
}

static void put_suite(struct sink *sink, const struct report_part *part, bool undecided_pass)
{
	struct suite suite = { sink, part, undecided_pass, { 0 } };
	size_t counts[SKIPPED + 1] = { 0 };

	count_cases(part, undecided_pass, counts);
	tsi_sink_put(sink, "  <testsuite name=\"tscope ");
	tsi_sink_escape(sink, &xml_escape, part->path);
	tsi_sink_put(sink, "\"");
	put_counts(sink, counts);
	tsi_sink_print(sink, " skipped=\"%zu\" time=\"0\">\n", counts[SKIPPED]);
	put_cases(&suite);
	tsi_sink_put(sink, "  </testsuite>\n");
}

static void write_junit(FILE *out, const struct report_subject *subject,
			const struct tscope_report_options *options)
{
	struct sink sink = { .out = out };
	size_t counts[SKIPPED + 1] = { 0 };

	for (size_t i = 0; i < tsi_part_count(subject); i++) {
		struct report_part part = tsi_part(subject, i);

		count_cases(&part, options->undecided_pass, counts);
	}
	tsi_sink_put(&sink, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			    "<testsuites name=\"tscope\"");
	put_counts(&sink, counts);
	tsi_sink_put(&sink, " time=\"0\">\n");
	for (size_t i = 0; i < tsi_part_count(subject); i++) {
		struct report_part part = tsi_part(subject, i);

		put_suite(&sink, &part, options->undecided_pass);
	}
	tsi_sink_put(&sink, "</testsuites>\n");
}

const struct reporter tsi_reporter_junit = {
	.format = { .name = "junit", .readers = "CI servers" },
	.write_facts = write_junit,
};
