/* SPDX-License-Identifier: MIT */
/* Calls of Python that keep a thread from the work, thread by thread, in the order of time. */
#include "analyze/trace/python_stalls.h"

#include "base/sum.h"
#include "timeline/host_kinds.h"

/* Cached classification and time of a name. */
struct name_time {
	uint8_t work; /* enum python_work, of names that were looked up */
	bool is_known, is_counted;
	int64_t ns, main_ns; /* in calls that count; in those of main_ns */
};

struct stall_walk {
	struct python_stalls *stalls;
	const struct tscope_timeline *timeline;
	const struct tscope_trace *trace;
	struct name_time *names; /* by id */
	uint32_t step;           /* the first that may hold time of the main thread's next call */
};

static enum python_work work_of_name(struct stall_walk *walk, uint32_t name)
{
	struct name_time *time = &walk->names[name];

	if (!time->is_known) {
		struct str text = tsi_intern_text(&walk->trace->names, name);
		time->is_known = true;
		time->work = (uint8_t)tsi_classify_python(text);
		if (time->work == PYTHON_OTHER && tsi_is_idle_frame(text))
			time->work = PYTHON_WAITING;
	}
	return (enum python_work)time->work;
}

/* PYTHON_OTHER of what is no stall. */
static enum python_work stall_of_row(struct stall_walk *walk, uint32_t row)
{
	enum python_work work;

	if (tsi_span_class(&walk->trace->spans, row) == TSCOPE_SPAN_GC)
		return PYTHON_GC;
	if (tsi_span_class(&walk->trace->spans, row) != TSCOPE_SPAN_PYTHON)
		return PYTHON_OTHER;
	work = work_of_name(walk, tsi_name_id(&walk->trace->spans, row));
	return work < PYTHON_STALL_COUNT ? work : PYTHON_OTHER;
}

static int64_t window_end(const struct tscope_step *step)
{
	return step->start_ns + step->wall_ns;
}

/* Part of a main-thread call in steps. Calls come by start and do not overlap. */
static int64_t time_in_steps(struct stall_walk *walk, int64_t start_ns, int64_t end_ns)
{
	const struct tscope_timeline *timeline = walk->timeline;
	int64_t sum_ns = 0;

	while (walk->step < timeline->step_count &&
	       window_end(&timeline->steps[walk->step]) <= start_ns)
		walk->step++;
	for (uint32_t i = walk->step; i < timeline->step_count; i++) {
		int64_t step_start_ns = timeline->steps[i].start_ns;
		int64_t step_end_ns = window_end(&timeline->steps[i]);
		if (step_start_ns >= end_ns)
			break;
		sum_ns += (step_end_ns < end_ns ? step_end_ns : end_ns) -
			  (step_start_ns > start_ns ? step_start_ns : start_ns);
	}
	return sum_ns;
}

static void add_to_name(struct stall_walk *walk, struct python_stall *stall, uint32_t row)
{
	uint32_t name = tsi_name_id(&walk->trace->spans, row);
	struct name_time *time = &walk->names[name];

	stall->function_count += !time->is_counted;
	time->is_counted = true;
	tsi_sum(&time->ns, tsi_dur_ns(&walk->trace->spans, row));
	if (stall->call_count == 1 || time->ns > stall->name_ns) {
		stall->name_ns = time->ns;
		stall->name = name;
	}
}

static void add_to_main(struct stall_walk *walk, struct python_stall *stall, uint32_t row)
{
	const struct spans *spans = &walk->trace->spans;
	uint32_t name = tsi_name_id(spans, row);
	int64_t ns = time_in_steps(walk, tsi_start_ns(spans, row), tsi_span_end(walk->trace, row));

	tsi_sum(&stall->main_ns, ns);
	tsi_sum(&walk->names[name].main_ns, ns);
	if (walk->names[name].main_ns > stall->main_name_ns) {
		stall->main_name_ns = walk->names[name].main_ns;
		stall->main_name = name;
	}
}

static void add_stall(struct stall_walk *walk, uint32_t track, uint32_t row, enum python_work work)
{
	struct python_stall *stall = &walk->stalls->by_work[work];
	int64_t dur_ns = tsi_dur_ns(&walk->trace->spans, row);

	stall->call_count++;
	add_to_name(walk, stall, row);
	tsi_sum(&stall->total_ns, dur_ns);
	tsi_sum(&walk->stalls->threads[track].stall_ns, dur_ns);
	if (track == walk->timeline->main_track)
		add_to_main(walk, stall, row);
}

/* Rows come by start; what starts before the one that counts has ended lies within it. */
static void walk_track(struct stall_walk *walk, uint32_t index)
{
	const struct track *track = &walk->trace->tracks[index];
	const struct spans *spans = &walk->trace->spans;
	struct python_thread *thread = &walk->stalls->threads[index];
	int64_t call_until_ns = INT64_MIN, stall_until_ns = INT64_MIN;

	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		int64_t start_ns = tsi_start_ns(spans, row);
		enum python_work work = stall_of_row(walk, row);

		if (tsi_span_class(spans, row) == TSCOPE_SPAN_PYTHON) {
			thread->call_count++;
			if (start_ns >= call_until_ns) {
				call_until_ns = tsi_span_end(walk->trace, row);
				tsi_sum(&thread->call_ns, tsi_dur_ns(spans, row));
			}
		}
		if (work != PYTHON_OTHER && start_ns >= stall_until_ns) {
			stall_until_ns = tsi_span_end(walk->trace, row);
			add_stall(walk, index, row, work);
		}
	}
}

static int64_t time_of_steps(const struct tscope_timeline *timeline)
{
	int64_t sum_ns = 0;

	for (uint32_t i = 0; i < timeline->step_count; i++)
		tsi_sum(&sum_ns, timeline->steps[i].wall_ns);
	return sum_ns;
}

void tsi_python_stalls_init(struct python_stalls *stalls, const struct tscope_timeline *timeline,
			    struct arena *scratch)
{
	const struct tscope_trace *trace = timeline->trace;
	struct stall_walk walk = {
		.stalls = stalls,
		.timeline = timeline,
		.trace = trace,
	};

	*stalls = (struct python_stalls){
		.threads =
			tsi_arena_new(scratch, trace->host_track_count, sizeof(*stalls->threads)),
	};
	walk.names = tsi_arena_new(scratch, trace->names.count, sizeof(*walk.names));
	if (!walk.names)
		return;
	for (uint32_t i = 0; i < trace->host_track_count; i++)
		walk_track(&walk, i);
	if (timeline->main_track != NO_ROW)
		stalls->main_ns = time_of_steps(timeline);
}
