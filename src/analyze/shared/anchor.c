/* SPDX-License-Identifier: MIT */
/* FLOPs and peak, from the strongest source that has them. */
#include "analyze/shared/anchor.h"

#include <math.h>
#include <stdio.h>

#include "analyze/ops/trace_flops.h"
#include "analyze/steps/step_lines.h"
#include "base/sum.h"

/* Beyond these no job and no device is; within them nothing overflows. */
static const double most = 1e30, least_peak = 1;

/* Below this coverage a lower bound says nothing. */
static const double least_known = 0.5;

static bool is_usable(double flops)
{
	return flops > 0 && flops <= most;
}

static bool is_usable_peak(double flops_per_second)
{
	return flops_per_second >= least_peak && flops_per_second <= most;
}

/* Sums over the counted steps that have a budget. */
struct counted_flops {
	int64_t step_count, matrix_ns, counted_ns;
	double flops, repeated_flops;
};

static struct counted_flops count_steps(const struct step_series *steps)
{
	struct counted_flops sum = { 0 };

	for (size_t i = 0; i < steps->count; i++) {
		const struct step_budget *budget = tsi_counted_budget(steps, &steps->records[i]);

		if (!budget)
			continue;
		sum.step_count++;
		sum.flops += budget->flops.flops;
		sum.repeated_flops += budget->flops.repeated_flops;
		tsi_sum(&sum.matrix_ns, budget->flops.matrix_ns);
		tsi_sum(&sum.counted_ns, budget->flops.counted_ns);
	}
	return sum;
}

/* FLOPs of operators are those of all devices: a mean step of one device has its share. */
static void take_operators(struct flops_anchor *anchor, const struct step_series *steps)
{
	struct counted_flops sum = count_steps(steps);
	double parts = (double)sum.step_count * tsi_counted_devices(steps);

	if (sum.matrix_ns > 0)
		anchor->coverage_ratio = (double)sum.counted_ns / (double)sum.matrix_ns;
	if (!(sum.flops > 0)) {
		anchor->flops_doubt =
			steps->has_shapes
				? "no operator with known FLOPs: pass --flops-per-step or --model"
				: "no shapes recorded; use record_shapes=True, --flops-per-step or "
				  "--model";
		return;
	}
	if (!is_usable(sum.flops)) {
		anchor->flops_doubt = "the FLOPs that the operators' shapes give are beyond belief";
		return;
	}
	anchor->flops_source = "operators";
	anchor->flops_per_step = (sum.flops - sum.repeated_flops) / parts;
	anchor->hardware_flops_per_step = sum.flops / parts;
	anchor->is_lower_bound = !(anchor->coverage_ratio >= TSI_LEAST_COVERAGE);
	anchor->is_too_little = anchor->coverage_ratio < least_known;
	if (anchor->is_too_little)
		anchor->flops_doubt = "less than half of the time of matrix kernels has known "
				      "FLOPs; pass --flops-per-step or --model";
	else if (isnan(anchor->coverage_ratio))
		anchor->flops_doubt =
			"a lower bound: the share of the work with known FLOPs is unknown";
	else if (anchor->is_lower_bound)
		anchor->flops_doubt = "a lower bound: less than 90 % of the time of matrix kernels "
				      "has known FLOPs";
}

static void take_model(struct flops_anchor *anchor, const struct step_series *steps,
		       const struct tscope_model *model)
{
	double devices = model->device_count;

	if (model->device_count == 0)
		devices = (steps->world_size > 0 ? (double)steps->world_size : 1) *
			  tsi_counted_devices(steps);
	anchor->flops_source = "model";
	anchor->flops_per_step = model->flops / devices;
	anchor->hardware_flops_per_step = model->hardware_flops / devices;
}

static void find_flops(struct flops_anchor *anchor, const struct step_series *steps,
		       const struct tscope_analysis_options *options)
{
	if (is_usable(options->flops_per_step)) {
		anchor->flops_source = "option";
		anchor->flops_per_step = options->flops_per_step;
	} else if (is_usable(options->model.flops)) {
		take_model(anchor, steps, &options->model);
	} else if (is_usable(steps->flops_per_step)) {
		anchor->flops_source = "run.json";
		anchor->flops_per_step = steps->flops_per_step;
		if (is_usable(steps->hardware_flops_per_step))
			anchor->hardware_flops_per_step = steps->hardware_flops_per_step;
	} else {
		take_operators(anchor, steps);
	}
}

static void find_peak(struct flops_anchor *anchor, const struct step_series *steps,
		      const struct tscope_analysis_options *options)
{
	if (is_usable_peak(options->peak_flops)) {
		anchor->peak_source = "option";
		anchor->peak_flops = options->peak_flops;
	} else if (is_usable_peak(steps->peak_flops)) {
		anchor->peak_source = "run.json";
		anchor->peak_flops = steps->peak_flops;
	} else if (is_usable_peak(steps->peak.flops_per_second)) {
		anchor->peak_source = "device";
		anchor->peak_flops = steps->peak.flops_per_second;
	} else {
		anchor->peak_doubt = steps->peak.lack[0] != '\0'
					     ? steps->peak.lack
					     : "unknown device; pass its peak with --peak-tflops";
	}
}

struct flops_anchor tsi_flops_anchor(const struct step_series *steps,
				     const struct tscope_analysis_options *options)
{
	struct flops_anchor anchor = {
		.flops_per_step = NAN,
		.hardware_flops_per_step = NAN,
		.peak_flops = NAN,
		.coverage_ratio = NAN,
	};

	find_flops(&anchor, steps, options);
	find_peak(&anchor, steps, options);
	return anchor;
}

void tsi_keep_anchor(struct step_series *steps, const struct tscope_analysis_options *options)
{
	struct flops_anchor anchor = tsi_flops_anchor(steps, options);

	if (is_usable_peak(options->peak_flops))
		steps->peak_flops = options->peak_flops;
	if (is_usable(options->flops_per_step) || is_usable(options->model.flops)) {
		steps->flops_per_step = anchor.flops_per_step;
		steps->hardware_flops_per_step = anchor.hardware_flops_per_step;
	} else if (!is_usable(steps->flops_per_step) && !anchor.flops_doubt) {
		steps->counted_flops_per_step = anchor.flops_per_step;
	}
}

void tsi_note_flops(struct step_series *steps, const struct trace_flops *flops)
{
	for (size_t i = 0; i < steps->budget_count; i++)
		steps->budgets[i].flops = flops->steps[i];
	steps->peak.device = flops->device.device ? flops->device.device->name : NULL;
	if (is_usable_peak(flops->peak_flops))
		steps->peak.flops_per_second = flops->peak_flops;
	snprintf(steps->peak.precision, sizeof(steps->peak.precision), "%s", flops->precision);
	snprintf(steps->peak.lack, sizeof(steps->peak.lack), "%s", flops->no_peak);
}
