/* SPDX-License-Identifier: MIT */
/*
 * Traces of several profilers of one rank at one time: torch's has its operators and kernels,
 * Composer's its callbacks, VizTracer's the functions of Python. Steps are made of the deepest
 * (run/group.h); what the others know besides is shown with it.
 */
#include "pipeline_run.h"

#include <stdio.h>
#include <string.h>

#include "analyze/analysis.h"
#include "pipeline_load.h"

unsigned char tsi_depth_of(const struct loaded *loaded)
{
	static const struct {
		const char *format;
		unsigned char depth;
	} formats[] = { { "viztracer", DEPTH_PYTHON }, { "composer", DEPTH_COMPOSER } };

	if (loaded->input.kind != TSCOPE_INPUT_TRACE)
		return 0;
	/* VizTracer may have merged torch's events in. */
	for (size_t i = 0; loaded->steps.device_count == 0 && i < TSI_COUNT_OF(formats); i++)
		if (strcmp(loaded->input.format, formats[i].format) == 0)
			return formats[i].depth;
	return DEPTH_TORCH;
}

void tsi_run_keep_beside(struct run_rank *rank, struct loaded *loaded)
{
	const struct loaded **kept = &rank->beside[tsi_depth_of(loaded)];
	size_t used = strlen(loaded->note);

	snprintf(loaded->note + used, sizeof(loaded->note) - used,
		 "%sthe steps are those of another trace of this rank", used ? "; " : "");
	if (!*kept || loaded->input.event_count > (*kept)->input.event_count)
		*kept = loaded;
}

void tsi_run_put_beside(const struct run_rank *rank)
{
	for (size_t depth = 0; depth < DEPTH_COUNT; depth++)
		if (rank->beside[depth])
			tsi_analysis_put_beside(rank->analysis, rank->beside[depth]->analysis);
}
