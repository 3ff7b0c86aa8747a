/* SPDX-License-Identifier: MIT */
/*
 * Workflow commands of GitHub Actions: gates that do not hold, and findings, as annotations. Every
 * line begins with a command of ours, so that no name of an input can be one.
 */
#include "report/number.h"
#include "report/parts.h"
#include "report/sink.h"

/* GitHub shows no more of each kind from one step. */
enum { MAX_FINDINGS = 10 };

static const struct escape message_escape = {
	"%\r\n",
	(const char *const[]){ "%25", "%0D", "%0A" },
};
static const struct escape property_escape = {
	"%\r\n:,",
	(const char *const[]){ "%25", "%0D", "%0A", "%3A", "%2C" },
};

static void begin(struct sink *sink, const char *command, const char *title)
{
	tsi_sink_print(sink, "::%s title=", command);
	tsi_sink_escape(sink, &property_escape, tsi_str_of(title));
}

static void put_words(struct sink *sink, const char *words)
{
	tsi_sink_escape(sink, &message_escape, tsi_str_of(words));
}

static void put_path(struct sink *sink, const struct report_part *part)
{
	tsi_sink_escape(sink, &message_escape, part->path);
}

/* "::notice title=tscope::run: 1 of 2 gates tripped, 3 findings" */
static void put_verdict(struct sink *sink, const struct report_part *part)
{
	size_t tripped = tsi_gate_count(part->gates, part->gate_count, GATE_TRIPPED);
	size_t unsure = tsi_gate_count(part->gates, part->gate_count, GATE_UNDECIDED);
	size_t findings = tsi_part_finding_count(part);

	begin(sink, "notice", "tscope");
	tsi_sink_put(sink, "::");
	put_path(sink, part);
	tsi_sink_put(sink, ": ");
	if (part->gate_count > 0 && tripped + unsure == 0)
		tsi_sink_print(sink, "all %zu gates held", part->gate_count);
	else if (part->gate_count > 0)
		tsi_sink_print(sink, "%zu of %zu gates tripped, %zu undecided", tripped,
			       part->gate_count, unsure);
	else
		tsi_sink_put(sink, "no gates");
	if (part->diagnosis)
		tsi_sink_print(sink, ", %zu finding%s", findings, findings == 1 ? "" : "s");
	if (findings > 0) {
		tsi_sink_put(sink, "; first: ");
		put_words(sink, tscope_diagnosis_finding(part->diagnosis, 0).title);
	}
	tsi_sink_put(sink, "\n");
}

static void put_gate(struct sink *sink, const struct report_part *part,
		     const struct tscope_gate_result *gate, bool undecided_pass)
{
	if (gate->held)
		return;
	begin(sink, gate->is_inconclusive && undecided_pass ? "warning" : "error",
	      gate->is_inconclusive ? "tscope: gate undecided" : "tscope: gate tripped");
	tsi_sink_put(sink, "::");
	put_words(sink, gate->expression);
	tsi_sink_put(sink, ": ");
	put_words(sink, gate->reason);
	tsi_sink_put(sink, " (");
	put_path(sink, part);
	tsi_sink_put(sink, ")\n");
}

static void put_finding(struct sink *sink, const struct report_part *part,
			const struct tscope_finding *finding)
{
	bool is_low = finding->severity == TSCOPE_SEVERITY_LOW;
	struct str file;
	unsigned line;

	begin(sink, part->is_hang ? "error" : is_low ? "notice" : "warning", finding->rule->id);
	if (tsi_source_place(finding->subject.source, &file, &line)) {
		tsi_sink_put(sink, ",file=");
		tsi_sink_escape(sink, &property_escape, file);
		tsi_sink_print(sink, ",line=%u", line);
	}
	tsi_sink_put(sink, "::");
	put_words(sink, finding->title);
	if (*finding->detail != '\0') {
		tsi_sink_put(sink, "%0A");
		put_words(sink, finding->detail);
	}
	tsi_sink_put(sink, "%0A-> ");
	put_words(sink, finding->advice);
	tsi_sink_put(sink, "\n");
}

static void write_github(FILE *out, const struct report_subject *subject,
			 const struct tscope_report_options *options)
{
	struct sink sink = { .out = out };

	for (size_t i = 0; i < tsi_part_count(subject); i++) {
		struct report_part part = tsi_part(subject, i);
		size_t count = tsi_part_finding_count(&part);

		put_verdict(&sink, &part);
		for (size_t k = 0; k < part.gate_count; k++)
			put_gate(&sink, &part, &part.gates[k], options->undecided_pass);
		for (size_t k = 0; k < count && k < MAX_FINDINGS; k++) {
			struct tscope_finding finding = tscope_diagnosis_finding(part.diagnosis, k);

			put_finding(&sink, &part, &finding);
		}
	}
}

const struct reporter tsi_reporter_github = {
	.format = { .name = "github", .readers = "GitHub Actions" },
	.write_facts = write_github,
};
