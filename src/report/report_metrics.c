/* SPDX-License-Identifier: MIT */
/*
 * Facts as lines of JSON, one a fact, to be appended to those of the runs before: a history that
 * needs no server. tscope trend reads it, and so does anything that reads lines.
 */
#include "report/figures.h"

#include <math.h>
#include <time.h>

/* When the run started, as far as it says: "2026-07-01T12:00:00Z". */
static const char *start_of(char text[32], const struct report_part *part,
			    const struct tscope_report_options *options)
{
	struct tscope_value started;
	struct tm utc;

	if (options->time_tag)
		return options->time_tag;
	if (!tscope_analysis_find(part->analysis, "provenance.started_s", &started, NULL) ||
	    started.kind != TSCOPE_VALUE_REAL || !(fabs(started.real) < 1e11))
		return NULL;
	time_t seconds = (time_t)floor(started.real);
	return gmtime_r(&seconds, &utc) && strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc) > 0
		       ? text
		       : NULL;
}

static void put_value_if(struct json_writer *w, const char *key, struct tscope_value value)
{
	if (value.kind != TSCOPE_VALUE_ABSENT)
		tsi_json_value(w, key, value);
}

static void put_text_if(struct json_writer *w, const char *key, const char *text)
{
	if (text)
		tsi_json_text(w, key, text);
}

/* A run that tripped a gate, or that is not whole, is no measure for others. */
static bool is_good(const struct report_part *part)
{
	bool is_good = !(part->run && tscope_run_incomplete(part->run));

	for (size_t i = 0; i < part->gate_count; i++)
		is_good &= part->gates[i].held || part->gates[i].is_inconclusive;
	return is_good;
}

static void put_run(FILE *out, const struct report_part *part,
		    const struct tscope_report_options *options)
{
	struct figure figure = { .part = part };
	char label[512], start[32];
	const char *run = tsi_run_label(label, part, options);
	const char *time = start_of(start, part, options);
	bool is_bad = !is_good(part);

	while (tsi_next_figure(&figure)) {
		struct json_writer w = { .out = out };

		tsi_jw_row(&w);
		tsi_json_text(&w, "run", run);
		put_text_if(&w, "time", time);
		put_text_if(&w, "commit", options->commit_tag);
		tsi_json_text(&w, "fact", figure.id);
		tsi_json_value(&w, "value", figure.value);
		tsi_json_text(&w, "unit", tscope_unit_name(figure.unit));
		put_value_if(&w, "low", figure.low);
		put_value_if(&w, "high", figure.high);
		put_text_if(&w, "doubt", figure.doubt);
		if (is_bad) {
			tsi_jw_key(&w, "good");
			tsi_jw_flag(&w, false);
		}
		tsi_jw_end_object(&w);
	}
}

static void write_metrics(FILE *out, const struct report_subject *subject,
			  const struct tscope_report_options *options)
{
	for (size_t i = 0; i < tsi_part_count(subject); i++) {
		struct report_part part = tsi_part(subject, i);

		put_run(out, &part, options);
	}
}

const struct reporter tsi_reporter_metrics = {
	.format = { .name = "metrics", .readers = "trend" },
	.write_facts = write_metrics,
};
