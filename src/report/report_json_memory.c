/* SPDX-License-Identifier: MIT */
/*
 * The report of files about memory for machines, as tscope-json(5) says: of one, or of several
 * side by side.
 */
#include "report/json_parts.h"
#include "report/reporter.h"

static void write_input(struct json_writer *w, const struct tscope_memory_info *info)
{
	tsi_jw_object(w);
	tsi_json_text(w, "path", info->path);
	tsi_json_text(w, "format", tscope_memory_kind_name(info->kind));
	tsi_json_text(w, "form", info->form);
	tsi_json_text(w, "compression", info->compression);
	tsi_json_uint(w, "source_bytes", info->source_bytes);
	tsi_json_uint(w, "bytes", info->bytes);
	tsi_json_uint(w, "records", info->record_count);
	tsi_json_uint(w, "dropped_count", info->dropped_count);
	tsi_json_int_if(w, "rank", info->rank >= 0, info->rank);
	tsi_json_text(w, "note", *info->note != '\0' ? info->note : NULL);
	tsi_json_damage(w, info->damage);
	tsi_jw_end_object(w);
}

static void write_not_evaluated(struct json_writer *w, const struct tscope_memory_report *report)
{
	tsi_jw_key(w, "not_evaluated");
	tsi_jw_array(w);
	for (size_t i = 0; i < tscope_diagnosis_not_evaluated_count(report->diagnosis); i++) {
		struct tscope_not_evaluated missed =
			tscope_diagnosis_not_evaluated(report->diagnosis, i);

		if (tsi_is_of_memory(report, &missed))
			tsi_json_not_evaluated(w, &missed);
	}
	tsi_jw_end_array(w);
}

/* The keys of one file, into the object that is open. */
static void write_file(struct json_writer *w, const struct tscope_memory_report *report, size_t top)
{
	tsi_json_facts(w, report->analysis, TSCOPE_WHOLE_TRACE, top);
	tsi_json_findings(w, report->diagnosis);
	write_not_evaluated(w, report);
	tsi_json_gates(w, report->gates, report->gate_count);
}

static void write_files(struct json_writer *w, const struct tscope_memory_report *reports,
			size_t count, size_t top)
{
	tsi_jw_key(w, "files");
	tsi_jw_array(w);
	for (size_t i = 0; i < count; i++) {
		tsi_jw_object(w);
		tsi_json_text(w, "path", tscope_memory_info(reports[i].memory)->path);
		write_file(w, &reports[i], top);
		tsi_jw_end_object(w);
	}
	tsi_jw_end_array(w);
}

void tsi_json_write_memory(FILE *out, const struct tscope_memory_report *reports, size_t count,
			   const struct tscope_report_options *options)
{
	struct json_writer w = { .out = out };

	tsi_jw_object(&w);
	tsi_json_head(&w);
	tsi_jw_key(&w, "inputs");
	tsi_jw_array(&w);
	for (size_t i = 0; i < count; i++)
		write_input(&w, tscope_memory_info(reports[i].memory));
	tsi_jw_end_array(&w);
	if (count == 1 && !options->as_list)
		write_file(&w, &reports[0], options->top);
	else
		write_files(&w, reports, count, options->top);
	tsi_jw_end_object(&w);
}
