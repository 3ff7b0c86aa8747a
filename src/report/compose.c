/* SPDX-License-Identifier: MIT */
/* Which report is composed, and what all of them share. */
#include "report/reporter.h"
#include "report/section.h"

void tsi_build_sections(const struct panel *panel, const struct section *sections, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (tscope_analysis_has(panel->analysis, tsi_lookup_analyzer(sections[i].analyzer),
					TSCOPE_WHOLE_TRACE))
			sections[i].build(panel);
}

void tsi_compose(struct doc *doc, const struct report_subject *subject,
		 const struct tscope_report_options *options)
{
	for (size_t i = 0; subject->traces && i < subject->count; i++)
		tsi_compose_trace(doc, &subject->traces[i], options);
	for (size_t i = 0; subject->files && i < subject->count; i++)
		tsi_compose_memory(doc, &subject->files[i], options);
	if (subject->run)
		tsi_compose_run(doc, subject->run, options);
	if (subject->runs)
		tsi_compose_runs(doc, subject->runs, options);
	if (subject->diff)
		tsi_compose_diff(doc, subject->diff, options);
}
