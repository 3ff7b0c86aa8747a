/* SPDX-License-Identifier: MIT */
/*
 * Damage and lost events of an input, on the way to the exit code: the same
 * for a trace alone and for a file of a run.
 */
#include "loss.h"

#include "message.h"

#include <inttypes.h>
#include <stdio.h>

const char unmatched_marker[] = "no span is called as --step-marker says";

const char mixed_processes[] = "events of several processes are in one file: figures mix them";

enum exit_code judge_processes(const char *path, uint64_t other_count, bool is_strict)
{
	if (!is_strict || other_count == 0)
		return EXIT_CODE_OK;
	say_about(path, mixed_processes, "");
	return EXIT_CODE_INPUT;
}

const char *unrecorded_steps(const struct tscope_analysis *analysis)
{
	struct tscope_value count;

	return tscope_analysis_find(analysis, "integrity.unrecorded_step_count", &count, NULL) &&
			       count.kind == TSCOPE_VALUE_INT && count.integer > 0
		       ? "steps are left out, since the trace lacks kernels that they launched"
		       : NULL;
}

enum exit_code judge_warmup(const char *path, const struct tscope_analysis *analysis,
			    const struct options *options)
{
	struct tscope_value count;
	char text[80];

	if (options->timeline.warmup == 0 ||
	    (tscope_analysis_find(analysis, "step_time.count", &count, NULL) &&
	     count.kind == TSCOPE_VALUE_INT && count.integer > 0))
		return EXIT_CODE_OK;
	snprintf(text, sizeof(text), "--warmup %u leaves no step to judge",
		 options->timeline.warmup);
	say_about(path, text, "");
	return options->strict ? EXIT_CODE_INPUT : EXIT_CODE_OK;
}

void say_unkept(const char *path, uint64_t count, const struct options *options)
{
	char text[400];

	if (count == 0)
		return;
	snprintf(text, sizeof(text),
		 "%" PRIu64 " operators were not kept (limit: memory-limit): %s", count,
		 *options->spill_lack ? options->spill_lack : "nor is there room on the disk");
	say_about(path, text, "");
}

enum exit_code judge_loss(const char *path, const struct loss *loss, bool is_strict)
{
	if (loss->damage)
		say_error(path, loss->damage, "; the report covers what could be read");
	if (is_strict && loss->dropped_count > 0) {
		char text[64];

		snprintf(text, sizeof(text), "--strict, and %" PRIu64 " %s were dropped",
			 loss->dropped_count, loss->what);
		say_about(path, text, "");
	}
	return is_strict && (loss->damage || loss->dropped_count > 0) ? EXIT_CODE_INPUT
								      : EXIT_CODE_OK;
}
