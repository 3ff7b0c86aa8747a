/* SPDX-License-Identifier: MIT */
/*
 * The report for machines, as tscope-json(5) says: of one trace, or of several
 * side by side. Nothing of it depends on locale, time or place: same input,
 * same bytes. What it has in common with that of a run is json_parts.c.
 */
#include "report/json_parts.h"
#include "report/reporter.h"

static void write_input(struct json_writer *w, const struct tscope_trace *trace,
			const uint64_t *diagnostics)
{
	const struct tscope_trace_info *info = tscope_trace_info(trace);

	tsi_jw_object(w);
	tsi_json_text(w, "path", info->path);
	tsi_json_text(w, "format", info->format);
	tsi_json_text(w, "compression", info->compression);
	tsi_json_uint(w, "source_bytes", info->source_bytes);
	tsi_json_uint(w, "bytes", info->bytes);
	tsi_json_uint(w, "events", info->event_count);
	tsi_json_diagnostics(w, "dropped", diagnostics, true);
	tsi_jw_end_object(w);
}

static void write_trace(struct json_writer *w, const struct tscope_trace *trace)
{
	const struct tscope_trace_info *info = tscope_trace_info(trace);

	tsi_jw_key(w, "trace");
	tsi_jw_object(w);
	tsi_json_int_if(w, "rank", info->rank >= 0, info->rank);
	tsi_json_int_if(w, "world_size", info->world_size >= 0, info->world_size);
	tsi_json_text(w, "backend", *info->backend != '\0' ? info->backend : NULL);
	tsi_json_text(w, "device_name", *info->device_name != '\0' ? info->device_name : NULL);
	tsi_json_int_if(w, "merged_rank_count", info->merged_rank_count > 0,
			(int64_t)info->merged_rank_count);
	tsi_json_int_if(w, "base_time_ns", info->has_base_time, info->base_time_ns);
	tsi_json_int_if(w, "first_ns", true, info->first_ns);
	tsi_json_int_if(w, "last_ns", true, info->last_ns);
	tsi_jw_end_object(w);
}

static void write_devices(struct json_writer *w, const struct tscope_analysis *analysis, size_t top)
{
	tsi_jw_key(w, "devices");
	tsi_jw_array(w);
	for (uint32_t i = 0; i < tscope_analysis_device_count(analysis); i++) {
		const char *name = tscope_analysis_device_name(analysis, i);

		tsi_jw_object(w);
		tsi_json_int_if(w, "ordinal", true, tscope_analysis_device_ordinal(analysis, i));
		tsi_json_text(w, "name", *name != '\0' ? name : NULL);
		tsi_json_facts(w, analysis, (int)i, top);
		tsi_jw_end_object(w);
	}
	tsi_jw_end_array(w);
}

static void count_diagnostics(const struct tscope_trace *trace,
			      uint64_t counts[TSCOPE_DIAGNOSTIC_COUNT])
{
	for (enum tscope_diagnostic kind = 0; kind < TSCOPE_DIAGNOSTIC_COUNT; kind++)
		counts[kind] = tscope_trace_diagnostic(trace, kind);
}

/* The keys of one trace, into the object that is open. */
static void write_trace_report(struct json_writer *w, const struct tscope_trace_report *report,
			       size_t top)
{
	const struct tscope_trace *trace = tscope_analysis_trace(report->analysis);
	uint64_t diagnostics[TSCOPE_DIAGNOSTIC_COUNT];

	count_diagnostics(trace, diagnostics);
	write_trace(w, trace);
	tsi_json_facts(w, report->analysis, TSCOPE_WHOLE_TRACE, top);
	write_devices(w, report->analysis, top);
	tsi_json_gates(w, report->gates, report->gate_count);
	tsi_json_diagnostics(w, "diagnostics", diagnostics, false);
	tsi_json_damage(w, tscope_trace_damage(trace));
}

static void write_inputs(struct json_writer *w, const struct tscope_trace_report *reports,
			 size_t count)
{
	tsi_jw_key(w, "inputs");
	tsi_jw_array(w);
	for (size_t i = 0; i < count; i++) {
		const struct tscope_trace *trace = tscope_analysis_trace(reports[i].analysis);
		uint64_t diagnostics[TSCOPE_DIAGNOSTIC_COUNT];

		count_diagnostics(trace, diagnostics);
		write_input(w, trace, diagnostics);
	}
	tsi_jw_end_array(w);
}

static void write_report(FILE *out, const struct tscope_trace_report *reports, size_t count,
			 const struct tscope_report_options *options)
{
	struct json_writer w = { .out = out };

	tsi_jw_object(&w);
	tsi_json_head(&w);
	write_inputs(&w, reports, count);
	if (count == 1 && !options->as_list) {
		write_trace_report(&w, &reports[0], options->top);
	} else {
		tsi_jw_key(&w, "traces");
		tsi_jw_array(&w);
		for (size_t i = 0; i < count; i++) {
			const struct tscope_trace *trace =
				tscope_analysis_trace(reports[i].analysis);

			tsi_jw_object(&w);
			tsi_json_text(&w, "path", tscope_trace_info(trace)->path);
			write_trace_report(&w, &reports[i], options->top);
			tsi_jw_end_object(&w);
		}
		tsi_jw_end_array(&w);
	}
	tsi_jw_end_object(&w);
}

const struct reporter tsi_reporter_json = {
	.write = write_report,
	.write_run = tsi_json_write_run,
	.write_runs = tsi_json_write_runs,
	.write_memory = tsi_json_write_memory,
	.write_diff = tsi_json_write_diff,
};
