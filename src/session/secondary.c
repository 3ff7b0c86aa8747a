/* SPDX-License-Identifier: MIT */
/*
 * Several profilers may record one rank at one time: torch's trace has the operators and kernels,
 * Composer's the callbacks, VizTracer's the functions of Python. The deepest trace provides the
 * steps (run/group.h); the others are secondary traces, whose further facts are shown with it.
 */
#include "session/run.h"

#include <stdio.h>
#include <string.h>

#include "analyze/analysis.h"
#include "base/print_text.h"

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

void tsi_keep_secondary(struct run_rank *rank, struct loaded *loaded)
{
	struct loaded **kept = &rank->secondary[tsi_depth_of(loaded)];

	tsi_loaded_note(loaded, "the steps are those of another trace of this rank");
	if (!*kept || loaded->input.event_count > (*kept)->input.event_count)
		*kept = loaded;
}

void tsi_attach_secondary(const struct run_rank *rank)
{
	for (size_t depth = 0; depth < DEPTH_COUNT; depth++)
		if (rank->secondary[depth])
			tsi_analysis_attach_secondary(rank->analysis,
						      rank->secondary[depth]->analysis);
}
