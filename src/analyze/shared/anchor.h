/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_SHARED_ANCHOR_H
#define TSCOPE_ANALYZE_SHARED_ANCHOR_H

#include "run/steps.h"

#include <tscope/analysis.h>

struct trace_flops; /* trace_flops.h */

/*
 * References for MFU: the FLOPs of a mean step on one device, and the peak of that device. One
 * place decides which source counts:
 *
 *	FLOPs	--flops-per-step, --model, run.json, the shapes of the operators
 *	peak	--peak-tflops, run.json, the table of devices
 *
 * All texts are static or the series'.
 */
struct flops_anchor {
	double flops_per_step; /* nothing counted that was computed again; NAN: not known */
	double hardware_flops_per_step; /* with that; NAN: not known */
	double peak_flops;              /* FLOP/s; NAN: not known */
	/* Share of matrix kernel time with known FLOPs; NAN: not asked. */
	double coverage_ratio;
	const char *flops_source; /* "option", "model", "run.json", "operators", or NULL */
	const char *peak_source;  /* "option", "run.json", "device", or NULL */
	const char *flops_doubt;  /* why FLOPs are not known, or are a lower bound; or NULL */
	const char *peak_doubt;   /* why the peak is not known, or NULL */
	bool is_lower_bound;
	bool is_too_little; /* and one of less than half: no MFU follows from it */
};

/* Below this coverage FLOPs counted from operators are a lower bound (design section 5). */
#define TSI_LEAST_COVERAGE 0.9

struct flops_anchor tsi_flops_anchor(const struct step_series *steps,
				     const struct tscope_analysis_options *options);

/*
 * Keeps in the series, for an export, what was asked for, which overrides what the files say, and
 * what was counted from operators, where that is enough.
 */
void tsi_keep_anchor(struct step_series *steps, const struct tscope_analysis_options *options);

/*
 * Notes in the series of a trace what was counted in it: each step's FLOPs, the peak.
 * The series has the steps of the timeline, in its order (tsi_steps_add_timeline()).
 */
void tsi_note_flops(struct step_series *steps, const struct trace_flops *flops);

#endif
