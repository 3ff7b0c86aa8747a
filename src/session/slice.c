/* SPDX-License-Identifier: MIT */
/*
 * A trace is read twice: first as always, to know its steps and what launched what; then event by
 * event, of which those that were chosen are written byte for byte.
 */
#include "session/slice.h"

#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/queue.h"
#include "base/sort.h"
#include "base/sum.h"
#include "decode/events/format.h"
#include "decode/json.h"
#include "input/input.h"
#include "model/trace/trace.h"
#include "session/open_trace.h"
#include "timeline/timeline.h"

/* ---- what to keep ---- */

/* Whoever reads the slice counts these alone. */
static void name_steps(struct slice_choice *choice, const struct tscope_step *first,
		       const struct tscope_step *last)
{
	choice->has_steps = true;
	choice->first_step_ns = first->start_ns;
	choice->last_step_ns = last->start_ns;
	choice->first_number = first->number;
}

/* A step in which a slice by time begins or ends lacks work. */
static void name_whole_steps(struct slice_choice *choice, const struct tscope_timeline *timeline)
{
	const struct tscope_step *first = NULL, *last = NULL;

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		const struct tscope_step *step = &timeline->steps[i];
		if (step->start_ns < choice->first_ns ||
		    step->start_ns + step->wall_ns > choice->end_ns)
			continue;
		first = first ? first : step;
		last = step;
	}
	if (first)
		name_steps(choice, first, last);
}

static enum tscope_status choose_steps(struct slice_choice *choice,
				       const struct tscope_timeline *timeline,
				       const struct tscope_timeline_options *options,
				       struct tscope_error *err)
{
	const struct tscope_step *steps = timeline->steps;
	uint32_t first = UINT32_MAX, last = 0;

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		if (steps[i].number < options->first_step || steps[i].number > options->last_step)
			continue;
		first = i < first ? i : first;
		last = i;
	}
	if (first == UINT32_MAX)
		return tsi_fail(err, TSCOPE_E_EMPTY,
				"no such step: the trace has %" PRIu32 ", the first is %" PRId64,
				timeline->step_count, steps[0].number);
	name_steps(choice, &steps[first], &steps[last]);
	if (first > 0)
		choice->first_ns = steps[first - 1].start_ns;
	if (last + 1 < timeline->step_count)
		choice->end_ns = steps[last + 1].start_ns + steps[last + 1].wall_ns;
	return TSCOPE_OK;
}

static bool is_within(const struct slice_choice *choice, int64_t start_ns, int64_t dur_ns)
{
	if (start_ns >= choice->end_ns)
		return false;
	return start_ns >= choice->first_ns || dur_ns > choice->first_ns - start_ns;
}

static enum tscope_status keep_time(struct slice_choice *choice, int64_t start_ns, int64_t dur_ns,
				    struct tscope_error *err)
{
	if (is_within(choice, start_ns, dur_ns))
		return TSCOPE_OK;
	if (tsi_array_reserve(&choice->times_ns, &choice->time_capacity, choice->time_count + 1,
			      sizeof(*choice->times_ns), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	choice->times_ns[choice->time_count++] = start_ns;
	return TSCOPE_OK;
}

/* Device events outside that were launched inside, and launches outside of what is inside. */
static enum tscope_status choose_linked(struct slice_choice *choice,
					const struct tscope_trace *trace, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;

	for (uint32_t row = 0; row < tscope_trace_span_count(trace); row++) {
		struct tscope_span span = tscope_trace_span(trace, row), launch, op;

		if (span.launch == UINT32_MAX)
			continue;
		launch = tscope_trace_span(trace, span.launch);
		op = span.op == UINT32_MAX ? launch : tscope_trace_span(trace, span.op);
		if (!is_within(choice, span.start_ns, span.dur_ns) &&
		    !is_within(choice, launch.start_ns, launch.dur_ns))
			continue;
		status = keep_time(choice, span.start_ns, span.dur_ns, err);
		if (status == TSCOPE_OK)
			status = keep_time(choice, launch.start_ns, launch.dur_ns, err);
		if (status == TSCOPE_OK)
			status = keep_time(choice, op.start_ns, op.dur_ns, err);
		if (status != TSCOPE_OK)
			break;
	}
	return status;
}

/* A time that is asked for on the clock of the file, on the rank's own. */
static int64_t own_time(const struct slice_rank *rank, int64_t file_ns)
{
	int64_t own_ns = file_ns;

	/* Clocks drift by parts in a million: the second try is exact. */
	for (int i = 0; rank && i < 2; i++)
		own_ns = tsi_narrow((tsi_wide)file_ns -
				    ((tsi_wide)tsi_slice_time(rank, own_ns) - own_ns));
	return own_ns;
}

static enum tscope_status choose(struct slicer *slicer, const struct tscope_trace *trace,
				 const struct tscope_timeline *timeline, struct tscope_error *err)
{
	const struct tscope_slice_options *options = slicer->options;
	struct slice_choice *choice = slicer->choice;
	enum tscope_status status = TSCOPE_OK;
	int64_t *scratch;

	*choice = (struct slice_choice){ .first_ns = INT64_MIN, .end_ns = INT64_MAX };
	if (options->has_time) {
		choice->first_ns = own_time(slicer->rank, options->first_ns);
		choice->end_ns = own_time(slicer->rank, options->last_ns);
		name_whole_steps(choice, timeline);
	} else if (options->timeline.has_range) {
		status = choose_steps(choice, timeline, &options->timeline, err);
	} else if (trace->is_slice) {
		const struct tscope_timeline_options its_own = { .first_step = INT64_MIN,
								 .last_step = INT64_MAX };

		status = choose_steps(choice, timeline, &its_own, err);
	}
	if (status == TSCOPE_OK)
		status = choose_linked(choice, trace, err);
	if (status != TSCOPE_OK || choice->time_count == 0)
		return status;
	status = tsi_array_make(&scratch, choice->time_count, sizeof(*scratch), err);
	if (status != TSCOPE_OK)
		return status;
	tsi_sort_numbers(choice->times_ns, scratch, choice->time_count);
	free(scratch);
	return TSCOPE_OK;
}

/* ---- writing ---- */

/* The first of the chosen times that is not before this one. */
static size_t first_time(const struct slice_choice *choice, int64_t start_ns)
{
	size_t first = 0, count = choice->time_count;

	while (count > 0) {
		size_t half = count / 2;
		bool is_behind = choice->times_ns[first + half] < start_ns;

		first += is_behind ? half + 1 : 0;
		count = is_behind ? count - half - 1 : half;
	}
	return first;
}

static bool is_chosen_time(const struct slice_choice *choice, int64_t start_ns)
{
	size_t at = first_time(choice, start_ns);

	return at < choice->time_count && choice->times_ns[at] == start_ns;
}

static bool is_of_device(struct str category)
{
	return tsi_str_is(category, "kernel") || tsi_str_is(category, "gpu_memcpy") ||
	       tsi_str_is(category, "gpu_memset") || tsi_str_is(category, "gpu_user_annotation");
}

static bool is_chosen(const struct slicer *slicer, const struct raw_event *event)
{
	/* Events that an earlier slice added do not apply to this one. */
	if (tsi_str_is(event->cat, "tscope"))
		return false;
	if (event->phase == 'M')
		return !tsi_str_starts(event->pid, "tscope");
	if (!event->has_ts || (slicer->options->device_only && !is_of_device(event->cat)))
		return false;
	return is_within(slicer->choice, event->ts_ns, event->has_dur ? event->dur_ns : 0) ||
	       is_chosen_time(slicer->choice, event->ts_ns);
}

static void put(struct slicer *slicer, const char *text)
{
	tsi_gzip_put(slicer->out, tsi_str_of(text));
}

static void begin_events(struct slicer *slicer)
{
	put(slicer, "\"traceEvents\": [\n"
		    "{\"ph\": \"M\", \"cat\": \"tscope\", \"name\": \"process_name\", "
		    "\"pid\": \"tscope\", \"tid\": 0, \"args\": {\"name\": \"tscope\"}}");
	slicer->has_events = true;
}

/* Our own events stand before the first one of their trace. */
static void put_tracks(struct slicer *slicer)
{
	if (!slicer->has_events)
		begin_events(slicer);
	tsi_gzip_put(slicer->out, slicer->tracks);
	slicer->tracks.length = 0;
}

static enum tscope_status take_event(struct event_sink *sink, const struct raw_event *event,
				     struct tscope_error *err)
{
	struct slicer *slicer = (struct slicer *)sink;

	if (!is_chosen(slicer, event))
		return TSCOPE_OK;
	if (slicer->has_ended)
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
				"the trace has events in two places: it cannot be cut");
	if (!slicer->has_events || slicer->tracks.length > 0)
		put_tracks(slicer);
	tsi_slice_event(slicer->out, event, &slicer->form);
	return TSCOPE_OK;
}

/* Skips events elsewhere without reading the rest of the event. */
static bool take_repeat(struct event_sink *sink, const struct raw_repeat *repeat,
			enum tscope_status *status, struct tscope_error *err)
{
	const struct slicer *slicer = (const struct slicer *)sink;

	(void)err;
	*status = TSCOPE_OK;
	return !is_within(slicer->choice, repeat->ts_ns, repeat->dur_ns) &&
	       !is_chosen_time(slicer->choice, repeat->ts_ns);
}

static unsigned ask_for_nothing(struct str key)
{
	(void)key;
	return 0;
}

/* A key that is cut, too long or holds raw control characters is left out: it would be no JSON. */
static bool is_key(struct str key)
{
	char quoted[1024] = "\"";

	if (key.length + 2 > sizeof(quoted))
		return false;
	if (key.length > 0)
		memcpy(quoted + 1, key.data, key.length);
	quoted[key.length + 1] = '"';
	return tsi_json_check((struct str){ quoted, key.length + 2 }, 0, NULL) == TSCOPE_OK;
}

static enum tscope_status take_metadata(struct event_sink *sink, struct str key, struct str value,
					struct tscope_error *err)
{
	struct slicer *slicer = (struct slicer *)sink;

	(void)err;
	if (tsi_str_starts(key, "tscope_") || (slicer->leaves_metadata && slicer->has_events) ||
	    !is_key(key))
		return TSCOPE_OK;
	if (slicer->has_events && !slicer->has_ended) {
		put(slicer, "\n],\n");
		slicer->has_ended = true;
	}
	put(slicer, "\"");
	tsi_gzip_put(slicer->out, key);
	put(slicer, "\": ");
	tsi_slice_value(slicer->out, key, value, &slicer->form);
	put(slicer, ",\n");
	return TSCOPE_OK;
}

static void put_choice(struct slicer *slicer)
{
	const struct slice_choice *choice = slicer->choice;
	char text[200];

	if (!choice->has_steps)
		return;
	snprintf(text, sizeof(text),
		 "\"tscope_slice\": {\"first_ns\": %" PRId64 ", \"last_ns\": %" PRId64
		 ", \"number\": %" PRId64 "},\n",
		 choice->first_step_ns, choice->last_step_ns, choice->first_number);
	put(slicer, text);
}

/* Nothing is chosen of a stretch that is refused; more may be wanted than is chosen. */
static bool is_wanted(const struct slice_choice *choice, const struct stretch *stretch)
{
	size_t at;

	if (stretch->is_needed ||
	    (stretch->first_ns < choice->end_ns && stretch->end_ns >= choice->first_ns))
		return true;
	at = first_time(choice, stretch->first_ns);
	return at < choice->time_count && choice->times_ns[at] <= stretch->last_ns;
}

/* Decodes the file once more, into the slice. */
static enum tscope_status write_events(struct slicer *slicer, const char *path,
				       struct stretches *stretches, struct tscope_error *err)
{
	const struct tscope_trace_options *options = &slicer->options->trace;
	struct input_options input_options = tsi_input_options_of(options);
	struct decode_options decode_options = {
		.max_event_bytes = options->max_event_bytes,
		.max_depth = options->max_depth,
		.thread_count = options->thread_count ? options->thread_count : tsi_thread_count(),
	};
	struct input *in;
	char *text;

	for (size_t i = 0; i < stretches->count; i++)
		stretches->items[i].is_out = !is_wanted(slicer->choice, &stretches->items[i]);
	enum tscope_status status =
		tsi_stretches_open(&in, &text, stretches, path, &input_options, err);
	if (status == TSCOPE_OK) {
		status = tsi_decode(in, &decode_options, &slicer->sink, err);
		tsi_input_close(in);
	}
	free(text);
	/* Data after a break was not counted either. */
	return status == TSCOPE_E_DAMAGED || status == TSCOPE_E_LIMIT ? TSCOPE_OK : status;
}

enum tscope_status tsi_slicer_open(struct slicer *slicer, FILE *out,
				   const struct tscope_slice_options *options,
				   struct tscope_error *err)
{
	enum tscope_status status;

	*slicer = (struct slicer){ .options = options,
				   .sink = { .repeat = take_repeat,
					     .event = take_event,
					     .metadata = take_metadata,
					     .arg_of = ask_for_nothing } };
	if (options->redact) {
		slicer->redaction.key = tsi_hash_key(tsi_str_of(options->redact));
		slicer->redaction.keeps_shapes = options->keeps_shapes;
		slicer->form.redaction = &slicer->redaction;
	}
	status = tsi_gzip_open(&slicer->out, out, options->compress, err);
	if (status == TSCOPE_OK)
		put(slicer, "{\n");
	return status;
}

enum tscope_status tsi_slicer_close(struct slicer *slicer, enum tscope_status status,
				    struct tscope_error *err)
{
	if (!slicer->has_events)
		begin_events(slicer);
	put(slicer, slicer->has_ended ? "" : "\n],\n");
	put(slicer, "\"tscope_version\": \"" TSCOPE_VERSION "\"\n}\n");
	if (status == TSCOPE_OK)
		return tsi_gzip_close(slicer->out, err);
	(void)!tsi_gzip_close(slicer->out, NULL);
	return status;
}

void tsi_slice_put(struct slicer *slicer, struct str events)
{
	if (!slicer->has_events)
		begin_events(slicer);
	tsi_gzip_put(slicer->out, events);
}

/* The caller frees slicer->tracks.data. */
static enum tscope_status make_tracks(struct slicer *slicer, const struct tscope_analysis *analysis,
				      struct tscope_error *err)
{
	struct tracks tracks = { .choice = slicer->choice, .form = &slicer->form };
	struct tscope_diagnosis *diagnosis;
	enum tscope_status status = tscope_diagnose(&diagnosis, analysis, NULL, err);

	if (status != TSCOPE_OK)
		return status;
	tsi_tracks_open(&tracks);
	if (tracks.out)
		tsi_slice_tracks(&tracks, analysis, diagnosis);
	tscope_diagnosis_free(diagnosis);
	status = tsi_tracks_close(&tracks, err);
	slicer->tracks = (struct str){ tracks.text, status == TSCOPE_OK ? tracks.length : 0 };
	return status;
}

static void place_rank(struct slicer *slicer, const struct tscope_trace *trace)
{
	struct slice_rank *rank = slicer->rank;

	slicer->form.rank = rank;
	if (!rank)
		return;
	rank->base_ns = trace->info.has_base_time ? trace->info.base_time_ns : 0;
	if (!slicer->has_events)
		slicer->shared_base_ns = rank->base_ns;
	rank->shared_base_ns = slicer->shared_base_ns;
}

static enum tscope_status add_trace(struct slicer *slicer, const char *path,
				    const struct tscope_trace *trace, struct stretches *stretches,
				    struct tscope_error *err)
{
	struct tscope_timeline_options all = slicer->options->timeline;
	struct tscope_timeline *timeline = NULL;
	struct tscope_analysis *analysis = NULL;
	enum tscope_status status;

	all.has_range = false;
	status = tscope_timeline_build(&timeline, trace, &all, err);
	if (status == TSCOPE_OK)
		status = tscope_analyze(&analysis, trace, timeline, NULL, err);
	if (status == TSCOPE_OK)
		status = choose(slicer, trace, timeline, err);
	if (status == TSCOPE_OK)
		status = make_tracks(slicer, analysis, err);
	tscope_analysis_free(analysis);
	tscope_timeline_free(timeline);
	if (status == TSCOPE_OK && !slicer->form.rank)
		put_choice(slicer);
	if (status == TSCOPE_OK)
		status = write_events(slicer, path, stretches, err);
	if (status == TSCOPE_OK)
		put_tracks(slicer);
	free((char *)slicer->tracks.data);
	slicer->tracks = (struct str){ 0 };
	return status;
}

enum tscope_status tsi_slice_add(struct slicer *slicer, struct slice_choice *choice,
				 const char *path, struct tscope_error *err)
{
	struct tscope_trace *trace;
	struct stretches stretches;
	enum tscope_status status =
		tsi_trace_open_indexed(&trace, path, &slicer->options->trace, &stretches, err);

	slicer->choice = choice;
	*choice = (struct slice_choice){ 0 };
	if (status == TSCOPE_OK) {
		place_rank(slicer, trace);
		status = add_trace(slicer, path, trace, &stretches, err);
		tscope_trace_free(trace);
	}
	tsi_stretches_deinit(&stretches);
	return status;
}

enum tscope_status tscope_slice_write(FILE *out, const char *path,
				      const struct tscope_slice_options *options,
				      struct tscope_error *err)
{
	struct slice_choice choice;
	struct slicer slicer;
	enum tscope_status status;

	if (strcmp(path, "-") == 0)
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
				"a slice reads its trace twice: give a file, not standard input");
	status = tsi_slicer_open(&slicer, out, options, err);
	if (status != TSCOPE_OK)
		return status;
	status = tsi_slice_add(&slicer, &choice, path, err);
	free(choice.times_ns);
	return tsi_slicer_close(&slicer, status, err);
}
