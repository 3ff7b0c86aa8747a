/* SPDX-License-Identifier: MIT */
/*
 * SARIF 2.1.0, as code scanning reads it: findings and gates that do not hold are results. A
 * result lies at the source line that its stack names; else at the file that was read.
 */
#include "report/json_parts.h"
#include "report/parts.h"

#include <tscope/tscope.h>

enum { URI_MAX = 4096 };

static const char schema[] = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
			     "sarif-schema-2.1.0.json";

static const char *level_of(enum tscope_severity severity)
{
	static const char *const levels[] = {
		[TSCOPE_SEVERITY_LOW] = "note",
		[TSCOPE_SEVERITY_MED] = "warning",
		[TSCOPE_SEVERITY_HIGH] = "error",
	};

	return levels[severity];
}

static void put_message(struct json_writer *w, const char *key, const char *text)
{
	tsi_jw_key(w, key);
	tsi_jw_row(w);
	tsi_json_text(w, "text", text);
	tsi_jw_end_object(w);
}

/* ---- rules ---- */

static void put_rule(struct json_writer *w, const struct tscope_rule_def *rule)
{
	tsi_jw_object(w);
	tsi_json_text(w, "id", rule->id);
	put_message(w, "shortDescription", rule->summary);
	put_message(w, "fullDescription", rule->meaning);
	put_message(w, "help", rule->advice);
	tsi_jw_end_object(w);
}

static void put_gate_rule(struct json_writer *w)
{
	tsi_jw_object(w);
	tsi_json_text(w, "id", "GATE");
	put_message(w, "shortDescription", "a gate of --fail-on does not hold");
	put_message(w, "fullDescription",
		    "A gate is a condition that fails the job; undecided gates fail it unless "
		    "--undecided pass.");
	put_message(w, "help", "Look at the figures that the gate names, or change its limit.");
	tsi_jw_end_object(w);
}

/* All rules in their order, then that of gates: a result's ruleIndex. */
static void put_tool(struct json_writer *w)
{
	tsi_json_object(w, "tool");
	tsi_json_object(w, "driver");
	tsi_json_text(w, "name", "tscope");
	tsi_json_text(w, "version", tscope_version());
	tsi_json_array(w, "rules");
	for (size_t i = 0; i < tscope_rule_count(); i++)
		put_rule(w, tscope_rule(i));
	put_gate_rule(w);
	tsi_jw_end_array(w);
	tsi_jw_end_object(w);
	tsi_jw_end_object(w);
}

static size_t index_of(const struct tscope_rule_def *rule)
{
	size_t index = 0;

	while (index < tscope_rule_count() && tscope_rule(index) != rule)
		index++;
	return index;
}

/* ---- places ---- */

/* A path as a URI; one that is too long is cut. */
static void uri_of(char uri[URI_MAX], struct str path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-._~/";
	bool is_absolute = path.length > 0 && *path.data == '/';
	size_t length = (size_t)snprintf(uri, URI_MAX, "%s", is_absolute ? "file://" : "");

	/* Two leading slashes would name a host. */
	while (is_absolute && path.length > 1 && path.data[1] == '/') {
		path.data++;
		path.length--;
	}
	for (size_t i = 0; i < path.length && length + 4 < URI_MAX; i++) {
		if (path.data[i] != '\0' && strchr(plain, path.data[i]))
			uri[length++] = path.data[i];
		else
			length += (size_t)snprintf(uri + length, 4, "%%%02X",
						   (unsigned char)path.data[i]);
	}
	uri[length] = '\0';
}

static void put_location(struct json_writer *w, const struct report_part *part,
			 const struct tscope_subject *subject)
{
	struct str file = part->path;
	char uri[URI_MAX];
	unsigned line = 0;

	(void)(subject && tsi_source_place(subject->source, &file, &line));
	uri_of(uri, file);
	tsi_json_object(w, "physicalLocation");
	tsi_jw_key(w, "artifactLocation");
	tsi_jw_row(w);
	tsi_json_text(w, "uri", uri);
	tsi_jw_end_object(w);
	if (line > 0) {
		tsi_jw_key(w, "region");
		tsi_jw_row(w);
		tsi_json_uint(w, "startLine", line);
		tsi_jw_end_object(w);
	}
	tsi_jw_end_object(w);
}

static void put_logical(struct json_writer *w, const char *kind, const char *name)
{
	if (!name)
		return;
	tsi_jw_row(w);
	tsi_json_text(w, "fullyQualifiedName", name);
	tsi_json_text(w, "kind", kind);
	tsi_jw_end_object(w);
}

static void put_locations(struct json_writer *w, const struct report_part *part,
			  const struct tscope_subject *subject)
{
	tsi_json_array(w, "locations");
	tsi_jw_object(w);
	put_location(w, part, subject);
	if (subject && (subject->op || subject->kernel || subject->call || subject->module)) {
		tsi_json_array(w, "logicalLocations");
		put_logical(w, "module", subject->module);
		put_logical(w, "function", subject->op);
		put_logical(w, "function", subject->kernel);
		put_logical(w, "function", subject->call);
		tsi_jw_end_array(w);
	}
	tsi_jw_end_object(w);
	tsi_jw_end_array(w);
}

/* ---- results ---- */

static void begin_result(struct json_writer *w, const char *rule, size_t index, const char *level)
{
	tsi_jw_object(w);
	tsi_json_text(w, "ruleId", rule);
	tsi_json_uint(w, "ruleIndex", index);
	tsi_json_text(w, "level", level);
}

/* Title, detail and advice, each a line: what code scanning shows. */
static void put_words(struct json_writer *w, const struct tscope_finding *finding)
{
	char text[4096];

	snprintf(text, sizeof(text), "%s%s%s\n%s", finding->title, *finding->detail ? "\n" : "",
		 finding->detail, finding->advice);
	put_message(w, "message", text);
}

static void put_finding(struct json_writer *w, const struct report_part *part,
			const struct tscope_finding *finding)
{
	begin_result(w, finding->rule->id, index_of(finding->rule), level_of(finding->severity));
	put_words(w, finding);
	put_locations(w, part, &finding->subject);
	tsi_json_object(w, "properties");
	tsi_json_text(w, "cause", finding->cause);
	tsi_json_text(w, "confidence", tscope_confidence_name(finding->confidence));
	if (finding->has_gain)
		tsi_json_uint(w, "gain_ns", (uint64_t)finding->gain_ns);
	tsi_jw_end_object(w);
	tsi_jw_end_object(w);
}

static void put_gate(struct json_writer *w, const struct report_part *part,
		     const struct tscope_gate_result *gate, bool undecided_pass)
{
	char text[640];

	if (gate->held)
		return;
	begin_result(w, "GATE", tscope_rule_count(),
		     gate->is_inconclusive && undecided_pass ? "warning" : "error");
	snprintf(text, sizeof(text), "%s %s: %s", gate->expression,
		 gate->is_inconclusive ? "is undecided" : "tripped", gate->reason);
	put_message(w, "message", text);
	put_locations(w, part, NULL);
	tsi_jw_end_object(w);
}

static void put_results(struct json_writer *w, const struct report_subject *subject,
			const struct tscope_report_options *options)
{
	tsi_json_array(w, "results");
	for (size_t i = 0; i < tsi_part_count(subject); i++) {
		struct report_part part = tsi_part(subject, i);

		for (size_t k = 0; k < part.gate_count; k++)
			put_gate(w, &part, &part.gates[k], options->undecided_pass);
		for (size_t k = 0; k < tsi_part_finding_count(&part); k++) {
			struct tscope_finding finding = tscope_diagnosis_finding(part.diagnosis, k);

			put_finding(w, &part, &finding);
		}
	}
	tsi_jw_end_array(w);
}

static void write_sarif(FILE *out, const struct report_subject *subject,
			const struct tscope_report_options *options)
{
	struct json_writer w = { .out = out };

	tsi_jw_object(&w);
	tsi_json_text(&w, "$schema", schema);
	tsi_json_text(&w, "version", "2.1.0");
	tsi_json_array(&w, "runs");
	tsi_jw_object(&w);
	put_tool(&w);
	tsi_json_text(&w, "columnKind", "unicodeCodePoints");
	put_results(&w, subject, options);
	tsi_jw_end_object(&w);
	tsi_jw_end_array(&w);
	tsi_jw_end_object(&w);
}

const struct reporter tsi_reporter_sarif = {
	.format = { .name = "sarif", .readers = "code scanning" },
	.write_facts = write_sarif,
};
