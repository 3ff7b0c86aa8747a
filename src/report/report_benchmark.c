/* SPDX-License-Identifier: MIT */
/* The list that github-action-benchmark reads (customSmallerIsBetter), of the main facts. */
#include "report/figures.h"

#include <inttypes.h>

static void put_run(struct json_writer *w, const struct report_part *part, const char *label)
{
	struct figure figure = { .part = part };
	char text[600];

	while (tsi_next_figure(&figure)) {
		if (!tsi_is_main_figure(&figure))
			continue;
		tsi_jw_row(w);
		snprintf(text, sizeof(text), "%s: %s", label, figure.id);
		tsi_json_text(w, "name", text);
		tsi_json_text(w, "unit", tscope_unit_name(figure.unit));
		tsi_json_value(w, "value", figure.value);
		if (figure.low.kind == TSCOPE_VALUE_INT) {
			snprintf(text, sizeof(text), "± %" PRId64,
				 figure.high.integer - figure.value.integer);
			tsi_json_text(w, "range", text);
		}
		tsi_jw_end_object(w);
	}
}

static void write_benchmark(FILE *out, const struct report_subject *subject,
			    const struct tscope_report_options *options)
{
	struct json_writer w = { .out = out };

	tsi_jw_array(&w);
	for (size_t i = 0; i < tsi_part_count(subject); i++) {
		struct report_part part = tsi_part(subject, i);
		char label[512];

		put_run(&w, &part, tsi_run_label(label, &part, options));
	}
	tsi_jw_end_array(&w);
}

const struct reporter tsi_reporter_benchmark = {
	.format = { .name = "benchmark", .readers = "github-action-benchmark" },
	.write_facts = write_benchmark,
};
