/* SPDX-License-Identifier: MIT */
/*
 * Where the steps begin and end: the first rule that finds a marker wins.
 * Markers are those of the one thread that has most of them, so that copies on
 * other threads count for nothing; neither do markers within a marker, but they are counted.
 *
 * Marks of an optimizer bound steps by their ends, since nothing marks a
 * start: step i is what happened after the end of mark i - 1 until that of mark
 * i. The same holds where most ProfilerSteps hide several steps of one
 * optimizer (markers.h), as writers leave that step the profiler only when they publish.
 */
#include "timeline/build.h"
#include "timeline/markers.h"

#include "model/trace/composer.h"
#include "model/trace/python_name.h"
#include "timeline/iteration.h"

struct boundary_rule {
	enum tscope_boundary boundary;
	unsigned label;
	bool numbered; /* name or batch say the step's number */
};

/* In order of precedence. */
static const struct boundary_rule rules[] = {
	{ TSCOPE_BOUNDARY_STEP_MARKER, LABEL_STEP_MARKER, true },
	/* Before torch's, whose events Composer copies: loggers count as Composer does. */
	{ TSCOPE_BOUNDARY_TRAIN_BATCH, LABEL_TRAIN_BATCH, true },
	{ TSCOPE_BOUNDARY_PROFILER_STEP, LABEL_PROFILER_STEP, true },
	{ TSCOPE_BOUNDARY_OPTIMIZER, LABEL_OPTIMIZER_STEP, false },
	{ TSCOPE_BOUNDARY_ITERATION, LABEL_ITERATION, false },
};

static const struct boundary_rule *const optimizer_rule = &rules[TSCOPE_BOUNDARY_OPTIMIZER];
static const struct boundary_rule *const iteration_rule = &rules[TSCOPE_BOUNDARY_ITERATION];

/* Evidence of all annotations of iterations. */
struct evidence {
	bool any;      /* one that says it makes those that do not (run_batch) no marks */
	bool verifies; /* SGLang proposes tokens with a draft model */
};

/* Does the annotation of an iteration say what it is of? */
static bool is_clear(const struct landmarks *marks, const struct landmark *mark)
{
	struct iteration iteration;

	return (mark->labels & LABEL_ITERATION) &&
	       tsi_parse_iteration(tsi_span_name(marks->trace, mark->row), &iteration);
}

static struct evidence find_evidence(const struct landmarks *marks)
{
	struct evidence evidence = { 0 };

	for (size_t i = 0; i < marks->count; i++) {
		if (!is_clear(marks, &marks->items[i]))
			continue;
		struct str name = tsi_span_name(marks->trace, marks->items[i].row);
		evidence.any = true;
		evidence.verifies |= tsi_str_starts(name, "step[TARGET_VERIFY");
	}
	return evidence;
}

/*
 * A draft model computes each prompt, too, behind the model that it proposes for: of annotations
 * alike in a row every second is its. *last is the one before, NO_ROW behind a draft's.
 */
static bool is_draft(const struct landmarks *marks, uint32_t row, uint32_t *last)
{
	const struct spans *spans = &marks->trace->spans;
	bool is_one = *last != NO_ROW && tsi_name_id(spans, *last) == tsi_name_id(spans, row) &&
		      tsi_str_starts(tsi_span_name(marks->trace, row), "step[EXTEND");

	*last = is_one ? NO_ROW : row;
	return is_one;
}

static uint32_t track_with_most(const struct landmarks *marks, unsigned label)
{
	uint32_t best = NO_ROW;
	size_t most = 0, count = 0;

	for (size_t i = 0; i < marks->count; i++) {
		if (i && marks->items[i].track != marks->items[i - 1].track)
			count = 0;
		if ((marks->items[i].labels & label) && ++count > most) {
			most = count;
			best = marks->items[i].track;
		}
	}
	return best;
}

/*
 * The optimizer whose marks bound the steps: that with most marks, for a model
 * may have several that take turns; of equals that which steps last.
 */
static uint32_t find_optimizer(const struct landmarks *marks, uint32_t track, struct arena *scratch)
{
	const struct spans *spans = &marks->trace->spans;
	uint32_t *counts = tsi_arena_new(scratch, marks->trace->names.count, sizeof(*counts));
	uint32_t most = 0, best = NO_ROW;

	for (size_t i = 0; counts && i < marks->count; i++)
		if (marks->items[i].track == track &&
		    (marks->items[i].labels & LABEL_OPTIMIZER_STEP))
			counts[tsi_name_id(spans, marks->items[i].row)]++;
	for (size_t i = 0; counts && i < marks->count; i++) {
		uint32_t candidate = tsi_name_id(spans, marks->items[i].row);
		if (counts[candidate] >= most && counts[candidate] > 0) {
			most = counts[candidate];
			best = candidate;
		}
	}
	return best;
}

/* The number of Composer's batch, if the row has one. */
static bool find_batch(const struct tscope_trace *trace, uint32_t row, int64_t *number)
{
	uint32_t index = tsi_annotation_index(trace, row);

	if (index == NO_ROW || tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_ANNOTATION ||
	    !tsi_is_train_batch(tsi_span_name(trace, row)))
		return false;
	*number = trace->batches[index];
	return true;
}

/* The number at the end of "ProfilerStep#12". */
static bool find_number(struct str name, int64_t *number)
{
	size_t digits = name.length;

	while (digits && name.data[digits - 1] != '#')
		digits--;
	struct str text = tsi_str_tail(name, digits);
	return digits && tsi_str_to_int64(text, number);
}

static bool is_within_last(const struct markers *markers, int64_t start_ns, int64_t end_ns)
{
	if (!markers->count)
		return false;
	const struct tscope_step *last = &markers->items[markers->count - 1];
	int64_t last_end_ns = last->start_ns + last->dur_ns;
	return start_ns < last_end_ns && end_ns <= last_end_ns;
}

static void add_marker(struct markers *markers, const struct tscope_timeline *timeline,
		       const struct boundary_rule *rule, uint32_t row, struct arena *arena)
{
	const struct tscope_trace *trace = timeline->trace;
	int64_t start_ns = tsi_start_ns(&trace->spans, row), number = (int64_t)markers->count;
	struct str name = tsi_python_name(tsi_span_name(trace, row)).function;
	bool has_number =
		rule->numbered && (find_number(name, &number) || find_batch(trace, row, &number));

	if (is_within_last(markers, start_ns, tsi_span_end(trace, row))) {
		/* A copy of the marker around it names the same step: nothing is lost with that. */
		bool is_copy = has_number && number == markers->items[markers->count - 1].number;
		markers->nested_count += rule->numbered && !is_copy;
		return;
	}
	struct tscope_step *step = tsi_arena_push(arena, &markers->items, &markers->count,
						  &markers->capacity, sizeof(*step));
	if (!step)
		return;
	markers->is_numbered &= has_number;
	*step = (struct tscope_step){
		.number = number,
		.start_ns = start_ns,
		.dur_ns = tsi_dur_ns(&trace->spans, row),
	};
}

/* Makes steps that end with the markers of those that begin with them. */
static void bound_by_ends(struct markers *markers, int64_t first_ns)
{
	for (size_t i = 0; i < markers->count; i++) {
		struct tscope_step *step = &markers->items[i];
		int64_t end_ns = step->start_ns + step->dur_ns;

		if (i == 0)
			step->start_ns = first_ns < step->start_ns ? first_ns : step->start_ns;
		else
			step->start_ns = step[-1].start_ns + step[-1].dur_ns;
		step->dur_ns = end_ns > step->start_ns ? end_ns - step->start_ns : 0;
	}
}

static void find_markers(struct markers *markers, struct tscope_timeline *timeline,
			 const struct boundary_rule *rule)
{
	const struct landmarks *marks = timeline->marks;
	uint32_t only_name = NO_ROW;
	uint32_t last = NO_ROW;
	struct evidence evidence = { 0 };

	markers->count = markers->nested_count = 0;
	markers->is_numbered = rule->numbered;
	markers->track = track_with_most(marks, rule->label);
	if (markers->track == NO_ROW)
		return;
	if (rule == iteration_rule)
		evidence = find_evidence(marks);
	if (rule == optimizer_rule)
		only_name = find_optimizer(marks, markers->track, &timeline->scratch);

	for (size_t i = 0; i < marks->count; i++) {
		const struct landmark *mark = &marks->items[i];
		if (mark->track != markers->track || !(mark->labels & rule->label))
			continue;
		if ((evidence.any && !is_clear(marks, mark)) ||
		    (evidence.verifies && is_draft(marks, mark->row, &last)))
			continue;
		if (only_name == NO_ROW ||
		    tsi_name_id(&marks->trace->spans, mark->row) == only_name)
			add_marker(markers, timeline, rule, mark->row, &timeline->arena);
	}
}

/* The steps that marks of an optimizer end. */
static void make_optimizer_steps(struct markers *markers, struct tscope_timeline *timeline)
{
	tsi_markers_join_turns(markers, timeline->marks, &timeline->scratch);
	bound_by_ends(markers, timeline->trace->info.first_ns);
}

/* Lets the optimizer's steps take the place of ProfilerSteps that hide them. */
static const struct boundary_rule *prefer_hidden_steps(struct markers *found,
						       struct tscope_timeline *timeline,
						       const struct boundary_rule *rule)
{
	struct markers inner = { 0 };

	find_markers(&inner, timeline, optimizer_rule);
	if (!tsi_markers_hold_several(found, &inner))
		return rule;
	make_optimizer_steps(&inner, timeline);
	if (!tsi_markers_hide_steps(found, &inner, timeline->marks, &timeline->scratch))
		return rule;
	*found = inner;
	return optimizer_rule;
}

/* An engine that steps the profiler itself says more by its own marks; training has none. */
static const struct boundary_rule *prefer_iterations(struct markers *found,
						     struct tscope_timeline *timeline,
						     const struct boundary_rule *rule)
{
	struct markers iterations = { 0 };

	if (track_with_most(timeline->marks, LABEL_OPTIMIZER_STEP) != NO_ROW ||
	    !find_evidence(timeline->marks).any)
		return rule;
	find_markers(&iterations, timeline, iteration_rule);
	if (iterations.count == 0)
		return rule;
	*found = iterations;
	return iteration_rule;
}

static void use_whole_trace(struct tscope_timeline *timeline)
{
	const struct tscope_trace_info *info = &timeline->trace->info;

	timeline->boundary = TSCOPE_BOUNDARY_WHOLE_TRACE;
	timeline->main_track = timeline->marks->busiest_track;
	timeline->steps = tsi_arena_new(&timeline->arena, 1, sizeof(*timeline->steps));
	if (!timeline->steps)
		return;
	timeline->step_count = 1;
	timeline->steps[0].start_ns = info->first_ns;
	timeline->steps[0].dur_ns = info->last_ns - info->first_ns;
}

void tsi_timeline_find_steps(struct tscope_timeline *timeline)
{
	struct markers found = { 0 };
	const struct boundary_rule *rule = rules;

	for (; rule < rules + TSI_COUNT_OF(rules); rule++) {
		find_markers(&found, timeline, rule);
		if (rule == optimizer_rule)
			make_optimizer_steps(&found, timeline);
		if (found.count)
			break;
	}
	if (!found.count) {
		use_whole_trace(timeline);
		return;
	}
	if (rule->boundary == TSCOPE_BOUNDARY_PROFILER_STEP)
		rule = prefer_hidden_steps(&found, timeline, rule);
	if (rule->boundary == TSCOPE_BOUNDARY_PROFILER_STEP)
		rule = prefer_iterations(&found, timeline, rule);
	timeline->boundary = rule->boundary;
	timeline->main_track = found.track;
	timeline->is_numbered = found.is_numbered;
	timeline->nested_count = found.nested_count;
	timeline->steps = found.items;
	timeline->step_count = (uint32_t)found.count;
}
