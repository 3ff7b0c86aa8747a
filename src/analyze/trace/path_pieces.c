/* SPDX-License-Identifier: MIT */
/* Clips a chain to the steps that count. */
#include "analyze/trace/path_pieces.h"

static void turn_to(struct path_cutter *cutter, uint32_t end_step)
{
	cutter->step = end_step;
	cutter->window = (struct interval){ INT64_MAX, INT64_MIN };
	if (end_step == 0)
		return;
	const struct tscope_step *step = &cutter->timeline->steps[end_step - 1];
	if (step->mark == TSCOPE_STEP_COUNTED)
		cutter->window =
			(struct interval){ step->start_ns, step->start_ns + step->wall_ns };
}

void tsi_path_cutter_init(struct path_cutter *cutter, const struct tscope_timeline *timeline,
			  uint32_t end_step)
{
	cutter->timeline = timeline;
	turn_to(cutter, end_step);
}

bool tsi_path_cut(struct path_cutter *cutter, struct interval *left, struct interval *part)
{
	while (cutter->step > 0 && left->start_ns < left->end_ns) {
		const struct tscope_step *step = &cutter->timeline->steps[cutter->step - 1];
		int64_t end_ns = step->start_ns + step->wall_ns;

		if (step->start_ns >= left->end_ns) {
			turn_to(cutter, cutter->step - 1);
			continue;
		}
		*part = (struct interval){
			left->start_ns > step->start_ns ? left->start_ns : step->start_ns,
			left->end_ns < end_ns ? left->end_ns : end_ns,
		};
		if (left->start_ns > step->start_ns)
			left->end_ns = left->start_ns;
		else
			left->end_ns = step->start_ns;
		if (part->start_ns < part->end_ns && step->mark == TSCOPE_STEP_COUNTED)
			return true;
	}
	return false;
}
