/* SPDX-License-Identifier: MIT */
/* The iterations of an inference engine with their work on the devices. */
#include "analyze/trace/inference_turns.h"

#include "base/sum.h"
#include "timeline/step_iterations.h"
#include "timeline/timeline.h"

static void turns_init(struct turns *turns, const struct analysis_scope *scope,
		       struct arena *scratch)
{
	const struct tscope_timeline *timeline = scope->timeline;
	struct step_iterations said = tsi_step_iterations(timeline, scratch);
	size_t count = timeline->step_count;

	*turns = (struct turns){
		.scope = scope,
		.items = tsi_arena_new(scratch, count, sizeof(*turns->items)),
		.numbers = tsi_arena_new(scratch, count, sizeof(int64_t)),
		.others = tsi_arena_new(scratch, count, sizeof(int64_t)),
	};
	if (!turns->items || !turns->numbers || !turns->others)
		return;
	turns->engine = said.engine;
	turns->count = timeline->step_count;
	for (uint32_t i = 0; i < turns->count; i++) {
		const struct tscope_step *step = &timeline->steps[i];

		turns->items[i] = (struct turn){
			.said = said.by_step ? said.by_step[i] : tsi_no_iteration(),
			.start_ns = step->start_ns,
			.mark_end_ns = step->start_ns + step->dur_ns,
			.first_kernel_ns = INT64_MAX,
			.forward_ns = INT64_MAX,
			.end_ns = INT64_MIN,
			.is_counted = step->mark == TSCOPE_STEP_COUNTED,
		};
		turns->counted += turns->items[i].is_counted;
	}
}

/* Is it certainly work of the model? Other kernels may prepare inputs, or choose tokens. */
static bool is_of_model(const struct turns *turns, uint32_t row)
{
	const struct tscope_trace *trace = turns->scope->trace;
	uint8_t kind = turns->scope->kernel_kinds[tsi_name_id(&trace->spans, row)];

	return tsi_device_event(trace, row)->graph || kind == KERNEL_GEMM ||
	       kind == KERNEL_ATTENTION || kind == KERNEL_CONV || kind == KERNEL_MOE ||
	       kind == KERNEL_SSM || kind == KERNEL_NORM;
}

static void find_idle_time(const struct turns *turns, uint32_t step)
{
	const struct analysis_scope *scope = turns->scope;
	struct turn *turn = &turns->items[step];
	uint32_t count = scope->end_device - scope->first_device;

	for (uint32_t d = scope->first_device; d < scope->end_device; d++) {
		const struct budget *budget = tsi_timeline_budget(scope->timeline, step, d);

		tsi_sum(&turn->waiting_ns, budget->line_ns[TSCOPE_BUDGET_LAUNCH_STALL]);
		tsi_sum(&turn->waiting_ns, budget->line_ns[TSCOPE_BUDGET_SYNC_STALL]);
		tsi_sum(&turn->unrecorded_ns, budget->idle_ns[IDLE_UNRECORDED]);
	}
	turn->waiting_ns /= count > 0 ? count : 1;
	turn->unrecorded_ns /= count > 0 ? count : 1;
}

static void add_work(struct turns *turns, struct turn *turn, uint32_t row)
{
	const struct tscope_trace *trace = turns->scope->trace;
	int64_t start_ns = tsi_start_ns(&trace->spans, row),
		dur_ns = tsi_dur_ns(&trace->spans, row);

	if (start_ns + dur_ns > turn->end_ns)
		turn->end_ns = start_ns + dur_ns;
	if (!tsi_is_kernel(trace, row))
		return;
	if (start_ns < turn->first_kernel_ns)
		turn->first_kernel_ns = start_ns;
	if (start_ns < turn->forward_ns && is_of_model(turns, row))
		turn->forward_ns = start_ns;
	tsi_sum(&turn->kernel_ns, dur_ns);
	if (tsi_device_event(trace, row)->graph)
		tsi_sum(&turn->graph_ns, dur_ns);
	if (turn->is_counted)
		tsi_sum(&turns->kind_ns[turn->said.phase][turns->scope->kernel_kinds[tsi_name_id(
				&trace->spans, row)]],
			dur_ns);
}

static void find_work(struct turns *turns)
{
	const struct analysis_scope *scope = turns->scope;
	uint32_t last = 0;

	for (uint32_t d = scope->first_device; d < scope->end_device; d++) {
		const struct device *device = &scope->trace->devices[d];

		for (uint32_t i = 0; i < device->row_count; i++) {
			uint32_t row = device->rows[i];
			uint32_t step = tsi_timeline_step_near(
				scope->timeline, tsi_timeline_launch_time(scope->trace, row),
				&last);
			if (step != NO_ROW)
				add_work(turns, &turns->items[step], row);
		}
	}
}

static void find_latencies(struct turns *turns)
{
	int64_t before_ns = INT64_MIN; /* end of the device work so far */

	for (uint32_t i = 0; i < turns->count; i++) {
		struct turn *turn = &turns->items[i];

		if (turn->forward_ns == INT64_MAX)
			turn->forward_ns = turn->first_kernel_ns;
		if (turn->end_ns == INT64_MIN)
			turn->end_ns = turn->mark_end_ns;
		int64_t begin_ns = turn->start_ns > before_ns ? turn->start_ns : before_ns;
		turn->latency_ns = turn->end_ns > begin_ns ? turn->end_ns - begin_ns : 0;
		before_ns = turn->end_ns > before_ns ? turn->end_ns : before_ns;
	}
}

struct turns tsi_find_turns(const struct analysis_scope *scope, struct arena *scratch)
{
	struct turns turns;

	turns_init(&turns, scope, scratch);
	if (turns.count > 0)
		find_work(&turns);
	for (uint32_t i = 0; i < turns.count; i++)
		find_idle_time(&turns, i);
	find_latencies(&turns);
	return turns;
}
