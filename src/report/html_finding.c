/* SPDX-License-Identifier: MIT */
/* Findings as parts of a page that fold, with ways to the places that they name; gates as rows. */
#include "report/html_writer.h"
#include "report/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN_FINDINGS = 3 };

static void put(FILE *out, const char *before, const char *text, const char *after)
{
	fputs(before, out);
	tsi_html_text(out, text);
	fputs(after, out);
}

static void put_subject(FILE *out, const struct tscope_subject *subject)
{
	const struct {
		const char *word;
		int64_t number;
	} numbers[] = { { "rank", subject->rank },
			{ "device", subject->device },
			{ "step", subject->step } };
	const struct {
		const char *word, *name;
	} names[] = { { "operator", subject->op },
		      { "kernel", subject->kernel },
		      { "call", subject->call },
		      { "module", subject->module },
		      { "source", subject->source } };

	fputs("<p class=\"subject\">", out);
	for (size_t i = 0; i < TSI_COUNT_OF(numbers); i++)
		if (numbers[i].number >= 0)
			fprintf(out, "<span class=\"item\">%s <b>%" PRId64 "</b></span> ",
				numbers[i].word, numbers[i].number);
	for (size_t i = 0; i < TSI_COUNT_OF(names); i++) {
		if (!names[i].name)
			continue;
		fprintf(out, "<span class=\"item\">%s ", names[i].word);
		put(out, "<span class=\"code\">", names[i].name, "</span></span> ");
	}
	fputs("</p>\n", out);
}

/* Each leads to the timeline; without script the numbers lead there in any viewer. */
static void put_places(FILE *out, const struct tscope_finding *finding, const char *name,
		       size_t part)
{
	if (finding->place_count == 0)
		return;
	fputs("<ul class=\"places\">", out);
	for (size_t i = 0; i < finding->place_count; i++) {
		const struct tscope_place *place = &finding->places[i];
		char text[NUMBER_MAX];

		tsi_number_people_int(text, place->duration_ns, TSCOPE_UNIT_NS);
		fprintf(out,
			"<li><a class=\"place\" href=\"#p%zu-timeline\" data-start=\"%" PRId64
			"\" data-dur=\"%" PRId64 "\">at ts %s%" PRIu64 ".%03d for ",
			part, place->start_ns, place->duration_ns, place->start_ns < 0 ? "-" : "",
			(place->start_ns < 0 ? 0 - (uint64_t)place->start_ns
					     : (uint64_t)place->start_ns) /
				1000,
			abs((int)(place->start_ns % 1000)));
		put(out, "", text, "</a>");
		if (*place->file != '\0' && strcmp(place->file, name) != 0)
			put(out, " in <span class=\"code\">", place->file, "</span>");
		fputs("</li>", out);
	}
	fputs("</ul>\n", out);
}

static void put_evidence(FILE *out, const struct tscope_finding *finding)
{
	fputs("<p class=\"evidence\">", out);
	for (size_t i = 0; i < finding->evidence_count; i++) {
		const struct tscope_evidence *evidence = &finding->evidence[i];
		char number[NUMBER_MAX];

		tsi_number_people(number, evidence->value, evidence->unit);
		put(out, "<span class=\"item\"><span class=\"code\">", evidence->fact, "</span> ");
		put(out, "<b>",
		    evidence->value.kind == TSCOPE_VALUE_TEXT ? evidence->value.text : number,
		    "</b></span> ");
	}
	fprintf(out, "<span class=\"item\">rule <span class=\"code\">%s</span></span> ",
		finding->rule->id);
	fprintf(out, "<span class=\"item\">confidence <b>%s</b></span>",
		tscope_confidence_name(finding->confidence));
	for (size_t i = 0; i < finding->also_count; i++)
		fprintf(out, " <span class=\"item\">also <span class=\"code\">%s</span></span>",
			finding->also[i]->id);
	fputs("</p>\n", out);
}

void tsi_html_finding(FILE *out, const struct tscope_finding *finding, const char *name,
		      size_t part, size_t number)
{
	char time[NUMBER_MAX];

	fprintf(out,
		"<details class=\"finding t-%s\" id=\"p%zu-f%zu\"%s><summary><span "
		"class=\"badge\">%s</span> ",
		tsi_html_tone(tsi_severity_tag_tone(finding->severity)), part, number,
		number <= OPEN_FINDINGS ? " open" : "", tsi_severity_word(finding->severity));
	put(out, "<span class=\"title\">", finding->title, "</span>");
	if (finding->has_gain && finding->gain_ns > 0) {
		tsi_number_people_int(time, finding->gain_ns, TSCOPE_UNIT_NS);
		fprintf(out, "<span class=\"gain\">saves %s<b>",
			finding->gain_basis == TSCOPE_GAIN_BOUND ? "up to " : "");
		put(out, "", time, "</b> per step</span>");
	}
	fputs("</summary>\n", out);
	if (*finding->advice != '\0')
		put(out, "<p class=\"advice\"><span aria-hidden=\"true\">→</span> ",
		    finding->advice, "</p>\n");
	if (*finding->detail != '\0')
		put(out, "<p>", finding->detail, "</p>\n");
	put_places(out, finding, name, part);
	put_subject(out, &finding->subject);
	put_evidence(out, finding);
	fputs("</details>\n", out);
}

void tsi_html_gate(FILE *out, const struct tscope_gate_result *gate)
{
	char value[NUMBER_MAX];

	tsi_number_gate(value, gate);
	put(out, "<tr><td class=\"name code\">", gate->expression, "</td><td>");
	put(out, "", value, "</td>");
	fprintf(out, "<td class=\"name t-%s\">%s",
		gate->held              ? "good"
		: gate->is_inconclusive ? "warn"
					: "bad",
		gate->held              ? "held"
		: gate->is_inconclusive ? "undecided"
					: "tripped");
	if (*gate->reason != '\0' && (!gate->held || gate->is_noise || gate->has_reach))
		put(out, ": ", gate->reason, "");
	fputs("</td></tr>\n", out);
}
