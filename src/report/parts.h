/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_PARTS_H
#define TSCOPE_REPORT_PARTS_H

#include "base/str.h"
#include "report/reporter.h"

/*
 * A subject as formats for other programs see it: reports of their own, each of a trace, a run, a
 * file about memory, the dumps of a job or a comparison.
 */
struct report_part {
	struct str path; /* of the file, or the folder that its files are in */
	const struct tscope_analysis *analysis;
	const struct tscope_diagnosis *diagnosis; /* NULL: of a comparison */
	const struct tscope_gate_result *gates;
	size_t gate_count;
	const struct tscope_run *run; /* or NULL */
	bool is_hang;                 /* its findings fail a job by themselves */
};

size_t tsi_part_count(const struct report_subject *subject);
struct report_part tsi_part(const struct report_subject *subject, size_t index);

size_t tsi_part_finding_count(const struct report_part *part);

/* "train.py(41): step" → its file and line; false: no such place. */
bool tsi_source_place(const char *source, struct str *file, unsigned *line);

#endif
