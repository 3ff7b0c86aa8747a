/* SPDX-License-Identifier: MIT */
/* Bencher Metric Format: {run: {fact: {value, lower_value, upper_value}}}, of the main facts. */
#include "report/figures.h"

static void put_run(struct json_writer *w, const struct report_part *part)
{
	struct figure figure = { .part = part };

	while (tsi_next_figure(&figure)) {
		if (!tsi_is_main_figure(&figure))
			continue;
		tsi_json_object(w, figure.id);
		tsi_json_value(w, "value", figure.value);
		if (figure.low.kind != TSCOPE_VALUE_ABSENT) {
			tsi_json_value(w, "lower_value", figure.low);
			tsi_json_value(w, "upper_value", figure.high);
		}
		tsi_jw_end_object(w);
	}
}

static void write_bmf(FILE *out, const struct report_subject *subject,
		      const struct tscope_report_options *options)
{
	struct json_writer w = { .out = out };

	tsi_jw_object(&w);
	for (size_t i = 0; i < tsi_part_count(subject); i++) {
		struct report_part part = tsi_part(subject, i);
		char label[512];

		tsi_jw_text_key(&w, tsi_run_label(label, &part, options));
		tsi_jw_object(&w);
		put_run(&w, &part);
		tsi_jw_end_object(&w);
	}
	tsi_jw_end_object(&w);
}

const struct reporter tsi_reporter_bmf = {
	.format = { .name = "bmf", .readers = "Bencher" },
	.write_facts = write_bmf,
};
