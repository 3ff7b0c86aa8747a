/* SPDX-License-Identifier: MIT */
#include "report/parts.h"

#include "report/section.h"

size_t tsi_part_count(const struct report_subject *subject)
{
	if (subject->traces || subject->files)
		return subject->count;
	return subject->runs ? tscope_runs_count(subject->runs->runs) : 1;
}

static struct report_part make_part(const char *path, const struct tscope_analysis *analysis,
				    const struct tscope_diagnosis *diagnosis,
				    const struct tscope_gate_result *gates, size_t gate_count)
{
	return (struct report_part){
		.path = tsi_str_of(path),
		.analysis = analysis,
		.diagnosis = diagnosis,
		.gates = gates,
		.gate_count = gate_count,
	};
}

static struct report_part part_of_run(const struct tscope_run_report *report)
{
	const struct tscope_run *run = report->run;
	bool has_input = tscope_run_input_count(run) > 0;
	struct report_part part =
		make_part(has_input ? tscope_run_input(run, 0).path : "", tscope_run_analysis(run),
			  report->diagnosis, report->gates, report->gate_count);
	size_t folder = tsi_run_folder(run);

	part.run = run;
	if (tscope_run_input_count(run) > 1 && folder > 1)
		part.path.length = folder - 1;
	return part;
}

static struct report_part part_of_trace(const struct tscope_trace_report *report)
{
	return make_part(tscope_trace_info(tscope_analysis_trace(report->analysis))->path,
			 report->analysis, report->diagnosis, report->gates, report->gate_count);
}

static struct report_part part_of_file(const struct tscope_memory_report *report)
{
	return make_part(tscope_memory_info(report->memory)->path, report->analysis,
			 report->diagnosis, report->gates, report->gate_count);
}

static struct report_part part_of_hang(const struct tscope_hang_report *report)
{
	struct report_part part = make_part(tscope_hang_path(report->hang), report->analysis,
					    report->diagnosis, report->gates, report->gate_count);

	part.is_hang = true;
	return part;
}

static struct report_part part_of_diff(const struct tscope_diff_report *report)
{
	return make_part(tscope_diff_side(report->diff, TSCOPE_SIDE_B).path,
			 tscope_diff_analysis(report->diff), NULL, report->gates,
			 report->gate_count);
}

struct report_part tsi_part(const struct report_subject *subject, size_t index)
{
	if (subject->traces)
		return part_of_trace(&subject->traces[index]);
	if (subject->files)
		return part_of_file(&subject->files[index]);
	if (subject->hang)
		return part_of_hang(subject->hang);
	if (subject->diff)
		return part_of_diff(subject->diff);
	return part_of_run(subject->runs ? &subject->runs->reports[index] : subject->run);
}

size_t tsi_part_finding_count(const struct report_part *part)
{
	return part->diagnosis ? tscope_diagnosis_finding_count(part->diagnosis) : 0;
}

/* Frames are "FILE(LINE): FUNCTION" in traces and "FILE:LINE:FUNCTION" in snapshots. */
bool tsi_source_place(const char *source, struct str *file, unsigned *line)
{
	for (const char *p = source; p && *p != '\0'; p++) {
		size_t digits = strspn(p + 1, "0123456789");
		unsigned long number = 0;

		if ((*p != '(' && *p != ':') || p == source || digits == 0 || digits > 7)
			continue;
		if (p[1 + digits] != (*p == '(' ? ')' : ':'))
			continue;
		for (size_t i = 1; i <= digits; i++)
			number = 10 * number + (unsigned long)(p[i] - '0');
		*file = (struct str){ source, (size_t)(p - source) };
		*line = (unsigned)number;
		return number > 0 && *source != '<';
	}
	return false;
}
