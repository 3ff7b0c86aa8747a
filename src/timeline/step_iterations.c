/* SPDX-License-Identifier: MIT */
/* Annotations of an inference engine for each step of a trace. */
#include "timeline/step_iterations.h"

#include "timeline/landmarks.h"
#include "timeline/timeline.h"

/* SGLang may put vLLM's form around its own. */
static void note_engine(struct step_iterations *ret, struct str name)
{
	struct iteration said;

	if (tsi_parse_iteration(name, &said) && (!ret->engine || tsi_str_starts(name, "step[")))
		ret->engine = said.engine;
}

static bool has_marks(const struct landmarks *marks)
{
	for (size_t i = 0; i < marks->count; i++)
		if (marks->items[i].labels & LABEL_ITERATION)
			return true;
	return false;
}

/* Marks and steps both ascend; steps outside a range are left out. */
static void read_marks(struct step_iterations *ret, const struct tscope_timeline *timeline)
{
	const struct landmarks *marks = timeline->marks;
	const struct spans *spans = &timeline->trace->spans;
	uint32_t step = 0;

	for (size_t i = 0; i < marks->count; i++) {
		const struct landmark *mark = &marks->items[i];
		int64_t start_ns = tsi_start_ns(spans, mark->row);
		struct str name = tsi_span_name(timeline->trace, mark->row);

		if (mark->track != timeline->main_track || !(mark->labels & LABEL_ITERATION))
			continue;
		note_engine(ret, name);
		while (step < timeline->step_count && timeline->steps[step].start_ns < start_ns)
			step++;
		if (step == timeline->step_count || timeline->steps[step].start_ns != start_ns)
			continue;
		if (tsi_parse_iteration(name, &ret->by_step[step]))
			step++;
	}
}

struct step_iterations tsi_step_iterations(const struct tscope_timeline *timeline,
					   struct arena *arena)
{
	struct step_iterations ret = { 0 };

	if (!timeline->marks || !has_marks(timeline->marks))
		return ret;
	ret.by_step = tsi_arena_new(arena, timeline->step_count, sizeof(*ret.by_step));
	for (uint32_t i = 0; ret.by_step && i < timeline->step_count; i++)
		ret.by_step[i] = tsi_no_iteration();
	if (ret.by_step)
		read_marks(&ret, timeline);
	return ret;
}
