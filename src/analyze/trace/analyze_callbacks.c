/* SPDX-License-Identifier: MIT */
/*
 * Time in hooks of Composer's trainer: the spans callback/CLASS/event/EVENT and
 * algorithm/CLASS/event/EVENT.
 *
 * All times are lengths of unions on each thread, summed over the threads: where spans of one
 * class (of one class and event, of any) overlap, the time counts once. Time inside a step is that
 * union's in the windows of steps that count; what lies between an evaluation and the next
 * batch is in none. An evaluation is a span event/eval or event/eval_…; those count once, too.
 */
#include "analyze/facts.h"

#include "base/sum.h"
#include "model/trace/composer.h"
#include "timeline/timeline.h"

#define FACTS(X)                                                                                   \
	X(NAME_COUNT, "name_count", COUNT, "different callbacks and algorithms")                   \
	X(CALL_COUNT, "call_count", COUNT, "their calls")                                          \
	X(TOTAL_NS, "total_ns", NS, "time in them, nested ones once")                              \
	X(IN_STEP_NS_PER_STEP, "in_step_ns_per_step", NS, "part inside counted steps, per step")   \
	X(STEP_RATIO, "step_ratio", RATIO, "share of that in the mean step")                       \
	X(PROFILER_NS_PER_STEP, "profiler_ns_per_step", NS,                                        \
	  "of in_step_ns_per_step, Composer's own profiler")                                       \
	X(PROFILER_RATIO, "profiler_ratio", RATIO, "share of that in the mean step")               \
	X(TOP_NAME, "top_name", TEXT,                                                              \
	  "the one that takes most of a step, without the profiler's own")                         \
	X(TOP_NS_PER_STEP, "top_ns_per_step", NS, "its time per step")                             \
	X(EVALUATION_COUNT, "evaluation_count", COUNT, "evaluations, which are in no step")        \
	X(EVALUATION_NS, "evaluation_ns", NS, "time in them")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define BY_NAME_COLUMNS(X)                                                                         \
	X(BY_NAME_KIND, "kind", TEXT, "callback or algorithm")                                     \
	X(BY_NAME_NAME, "name", TEXT, "its class")                                                 \
	X(BY_NAME_CALL_COUNT, "call_count", COUNT, "calls")                                        \
	X(BY_NAME_TOTAL_NS, "total_ns", NS, "time in it")                                          \
	X(BY_NAME_MAX_NS, "max_ns", NS, "longest call")                                            \
	X(BY_NAME_STEP_NS, "step_ns", NS, "inside counted steps, per step")                        \
	X(BY_NAME_STEP_RATIO, "step_ratio", RATIO, "share of that in the mean step")

TSI_FACT_LIST(enum by_name_column, by_name_columns, BY_NAME_COLUMNS);

#define BY_EVENT_COLUMNS(X)                                                                        \
	X(BY_EVENT_KIND, "kind", TEXT, "callback or algorithm")                                    \
	X(BY_EVENT_NAME, "name", TEXT, "its class")                                                \
	X(BY_EVENT_EVENT, "event", TEXT, "of the trainer: batch_end, after_forward …")             \
	X(BY_EVENT_CALL_COUNT, "call_count", COUNT, "calls")                                       \
	X(BY_EVENT_TOTAL_NS, "total_ns", NS, "time in it")                                         \
	X(BY_EVENT_MAX_NS, "max_ns", NS, "longest call")

TSI_FACT_LIST(enum by_event_column, by_event_columns, BY_EVENT_COLUMNS);

#define TABLES(X)                                                                                  \
	X(TABLE_BY_NAME, "by_name", by_name_columns, "callbacks and algorithms")                   \
	X(TABLE_BY_EVENT, "by_event", by_event_columns,                                            \
	  "the same, each event of the trainer for itself")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* Time of a class, of one of its events, or of all callbacks. */
struct callback_time {
	struct callback_name name;
	uint32_t class_id; /* of an event: in survey.by_name */
	int64_t call_count, max_ns;
	int64_t total_ns, step_ns; /* of the union, and of that inside counted steps */
	int64_t covered_until_ns;  /* end of the union on the present track */
	uint32_t track;
};

struct survey {
	const struct analysis_scope *scope;
	struct arena *scratch;
	struct interval_set counted; /* windows of the steps that count */
	int64_t counted_ns, step_count;
	struct intern classes;         /* "callback/CLASS" */
	struct callback_time *by_name; /* by id in there; [0] is nothing */
	size_t class_count, class_capacity;
	struct callback_time *by_event; /* by name of a span, in their order */
	size_t event_count, event_capacity;
	uint32_t *event_of_name; /* by name of a span: index in by_event + 1; 0: no callback */
	struct callback_time all, profiler, evaluation;
};

/* ---- before the walk ---- */

static void find_counted(struct survey *survey)
{
	const struct tscope_timeline *timeline = survey->scope->timeline;

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		const struct tscope_step *step = &timeline->steps[i];

		if (step->mark != TSCOPE_STEP_COUNTED)
			continue;
		tsi_intervals_append(&survey->counted, step->start_ns,
				     step->start_ns + step->wall_ns, survey->scratch);
		survey->step_count++;
		tsi_sum(&survey->counted_ns, step->wall_ns);
	}
}

/* The class is what its spans' names begin with: "callback/CLASS". */
static void learn_name(struct survey *survey, uint32_t id)
{
	struct str text = tsi_intern_text(&survey->scope->trace->names, id);
	struct callback_name name;
	uint32_t class_id;

	if (!tsi_callback_name(text, &name))
		return;
	struct str class_text = { text.data, name.kind.length + 1 + name.name.length };
	if (tsi_intern_add(&survey->classes, class_text, &class_id, NULL) != TSCOPE_OK) {
		survey->scratch->has_failed = true;
		return;
	}
	while (survey->class_count < survey->classes.count) {
		struct callback_time *by_name =
			tsi_arena_push(survey->scratch, &survey->by_name, &survey->class_count,
				       &survey->class_capacity, sizeof(*by_name));
		if (!by_name)
			return;
		by_name->name = name;
	}
	struct callback_time *event =
		tsi_arena_push(survey->scratch, &survey->by_event, &survey->event_count,
			       &survey->event_capacity, sizeof(*event));
	if (!event)
		return;
	event->name = name;
	event->class_id = class_id;
	survey->event_of_name[id] = (uint32_t)survey->event_count;
}

static void learn_names(struct survey *survey)
{
	size_t count = survey->scope->trace->names.count;

	survey->event_of_name =
		tsi_arena_new(survey->scratch, count, sizeof(*survey->event_of_name));
	if (!survey->event_of_name)
		return;
	if (tsi_intern_init(&survey->classes, count + 1, NULL) != TSCOPE_OK)
		survey->scratch->has_failed = true;
	for (uint32_t id = 0; !survey->scratch->has_failed && id < count; id++)
		learn_name(survey, id);
}

/* ---- the walk ---- */

/* A span that starts no earlier than those before it on its track. */
static void add_call(const struct survey *survey, struct callback_time *to, uint32_t track,
		     uint32_t row)
{
	const struct tscope_trace *trace = survey->scope->trace;
	int64_t start_ns = tsi_start_ns(&trace->spans, row), end_ns = tsi_span_end(trace, row);

	if (to->call_count == 0 || to->track != track)
		to->covered_until_ns = INT64_MIN;
	to->track = track;
	to->call_count++;
	if (end_ns - start_ns > to->max_ns)
		to->max_ns = end_ns - start_ns;
	if (start_ns < to->covered_until_ns)
		start_ns = to->covered_until_ns;
	if (end_ns <= start_ns)
		return;
	tsi_sum(&to->total_ns, end_ns - start_ns);
	tsi_sum(&to->step_ns, tsi_intervals_within(&survey->counted, start_ns, end_ns));
	to->covered_until_ns = end_ns;
}

static void take_row(struct survey *survey, uint32_t track, uint32_t row)
{
	const struct tscope_trace *trace = survey->scope->trace;
	uint32_t number = survey->event_of_name[tsi_name_id(&trace->spans, row)];

	if (tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_ANNOTATION)
		return;
	if (number > 0) {
		struct callback_time *event = &survey->by_event[number - 1];

		add_call(survey, event, track, row);
		add_call(survey, &survey->by_name[event->class_id], track, row);
		add_call(survey, &survey->all, track, row);
		if (tsi_is_profiler_callback(&event->name))
			add_call(survey, &survey->profiler, track, row);
	} else if (tsi_is_evaluation(tsi_span_name(trace, row))) {
		int64_t covered_until_ns = survey->evaluation.covered_until_ns;
		bool is_inside = survey->evaluation.call_count > 0 &&
				 survey->evaluation.track == track &&
				 tsi_start_ns(&trace->spans, row) < covered_until_ns;
		add_call(survey, &survey->evaluation, track, row);
		survey->evaluation.call_count -= is_inside;
	}
}

static void take_rows(struct survey *survey)
{
	const struct tscope_trace *trace = survey->scope->trace;

	for (uint32_t i = 0; i < trace->host_track_count; i++) {
		const struct track *track = &trace->tracks[i];
		for (uint32_t row = track->first; row < track->first + track->count; row++)
			take_row(survey, i, row);
	}
}

/* ---- what came of it ---- */

static void put_name(const struct survey *survey, const struct callback_time *time,
		     struct fact_sheet *out)
{
	struct tscope_value *cells = tsi_table_row(out, TABLE_BY_NAME);
	cells[BY_NAME_KIND] = tsi_text(time->name.kind.data);
	cells[BY_NAME_NAME] = tsi_text(tsi_sheet_copy(out, time->name.name));
	cells[BY_NAME_CALL_COUNT] = tsi_int(time->call_count);
	cells[BY_NAME_TOTAL_NS] = tsi_int(time->total_ns);
	cells[BY_NAME_MAX_NS] = tsi_int(time->max_ns);
	cells[BY_NAME_STEP_NS] = tsi_mean(time->step_ns, survey->step_count);
	cells[BY_NAME_STEP_RATIO] = tsi_ratio(time->step_ns, survey->counted_ns);
}

static void put_event(const struct callback_time *time, struct fact_sheet *out)
{
	struct tscope_value *cells = tsi_table_row(out, TABLE_BY_EVENT);
	cells[BY_EVENT_KIND] = tsi_text(time->name.kind.data);
	cells[BY_EVENT_NAME] = tsi_text(tsi_sheet_copy(out, time->name.name));
	cells[BY_EVENT_EVENT] = tsi_text(tsi_sheet_copy(out, time->name.event));
	cells[BY_EVENT_CALL_COUNT] = tsi_int(time->call_count);
	cells[BY_EVENT_TOTAL_NS] = tsi_int(time->total_ns);
	cells[BY_EVENT_MAX_NS] = tsi_int(time->max_ns);
}

static void put_tables(const struct survey *survey, struct fact_sheet *out)
{
	for (uint32_t id = 1; id < survey->classes.count; id++)
		if (survey->by_name[id].call_count > 0)
			put_name(survey, &survey->by_name[id], out);
	for (size_t i = 0; i < survey->event_count; i++)
		if (survey->by_event[i].call_count > 0)
			put_event(&survey->by_event[i], out);
	tsi_table_order(out, TABLE_BY_NAME, BY_NAME_TOTAL_NS, BY_NAME_NAME);
	tsi_table_order(out, TABLE_BY_EVENT, BY_EVENT_TOTAL_NS, BY_EVENT_NAME);
}

/* The class with the most time; of equals the first in the file. */
static void put_top(const struct survey *survey, struct fact_sheet *out)
{
	const struct callback_time *top = NULL;

	for (uint32_t id = 1; id < survey->classes.count; id++) {
		const struct callback_time *time = &survey->by_name[id];
		if (time->step_ns > (top ? top->step_ns : 0) &&
		    !tsi_is_profiler_callback(&time->name))
			top = time;
	}
	if (!top)
		return;
	tsi_fact_text(out, TOP_NAME, tsi_sheet_copy(out, top->name.name));
	tsi_fact_mean(out, TOP_NS_PER_STEP, top->step_ns, survey->step_count);
}

static void put_all(const struct survey *survey, struct fact_sheet *out)
{
	int64_t name_count = 0;

	for (uint32_t id = 1; id < survey->classes.count; id++)
		name_count += survey->by_name[id].call_count > 0;
	tsi_fact_int(out, NAME_COUNT, name_count);
	tsi_fact_int(out, CALL_COUNT, survey->all.call_count);
	tsi_fact_int(out, TOTAL_NS, survey->all.total_ns);
	tsi_fact_mean(out, IN_STEP_NS_PER_STEP, survey->all.step_ns, survey->step_count);
	tsi_fact_ratio(out, STEP_RATIO, survey->all.step_ns, survey->counted_ns);
	tsi_fact_mean(out, PROFILER_NS_PER_STEP, survey->profiler.step_ns, survey->step_count);
	tsi_fact_ratio(out, PROFILER_RATIO, survey->profiler.step_ns, survey->counted_ns);
	tsi_fact_int(out, EVALUATION_COUNT, survey->evaluation.call_count);
	tsi_fact_int(out, EVALUATION_NS, survey->evaluation.total_ns);
	put_top(survey, out);
	put_tables(survey, out);
}

static void fill_callbacks(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct survey survey = { .scope = scope, .scratch = tsi_sheet_scratch(out) };

	if (!scope->trace->is_composer)
		return;
	find_counted(&survey);
	learn_names(&survey);
	if (!survey.scratch->has_failed) {
		take_rows(&survey);
		put_all(&survey, out);
	}
	tsi_intern_deinit(&survey.classes);
}

const struct analyzer tsi_analyzer_callbacks = {
	.def = {
		.id = "callbacks",
		.summary = "callbacks and algorithms of Composer, and how much of the steps they "
			   "take",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a Composer trace (JSONTraceHandler)",
		.total = TSCOPE_TOTAL_CAPTURE,
	},
	.levels = LEVEL_TRACE,
	.beside_flops = true,
	.fill = fill_callbacks,
};
