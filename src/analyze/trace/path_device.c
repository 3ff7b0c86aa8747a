/* SPDX-License-Identifier: MIT */
/*
 * Causes on the devices. An event starts when it has been launched and when what it has to
 * wait for has ended: the event before it on its stream, and those of other streams that it
 * was made to wait for. The later of the two is its cause. Waits between streams are in the
 * trace where synchronisation is recorded; else they are guessed where an event began late
 * but right after the end of another one.
 */
#include "analyze/trace/path_device.h"

#include "analyze/shared/quantile.h"
#include "base/bisect.h"
#include "comm/latch.h"

enum {
	MAX_SAMPLES = 1023, /* of launches on an idle device: plenty for a median */
	MAX_DEVICES = 64,   /* that a call without a record may have waited for */
	MAX_TRIES = 8,      /* ends looked at for one that may be the cause */
	NEAR_NS = 10000,    /* what waited for another stream begins so soon after it */
};

static bool is_before(const struct tscope_trace *trace, uint32_t track, int64_t device,
		      int64_t stream)
{
	const struct track *t = &trace->tracks[track];

	return t->device < device || (t->device == device && t->stream < stream);
}

/* The track of a stream, or NO_ROW: they lie in the order of devices and streams. */
static uint32_t find_track(const struct tscope_trace *trace, int64_t device, int64_t stream)
{
	uint32_t low = trace->host_track_count, high = trace->track_count;

	TSI_BISECT(low, high, is_before(trace, middle, device, stream));
	if (low == trace->track_count || trace->tracks[low].device != device ||
	    trace->tracks[low].stream != stream)
		return NO_ROW;
	return low;
}

/* The first row of a stream that was launched after t, or the end of its rows. */
static uint32_t first_launched_after(const struct tscope_trace *trace, const struct track *stream,
				     int64_t t_ns)
{
	uint32_t low = stream->first, high = stream->first + stream->count;

	TSI_BISECT(low, high, tsi_timeline_launch_time(trace, middle) <= t_ns);
	return low;
}

/* The last event on the stream of a recorded event that was launched before it, or NO_ROW. */
static uint32_t event_before_record(const struct tscope_trace *trace,
				    const struct sync_record *record)
{
	uint32_t track = find_track(trace, record->device, record->event_stream);

	if (track == NO_ROW || record->event_call == NO_ROW)
		return NO_ROW;
	const struct track *stream = &trace->tracks[track];
	uint32_t row = first_launched_after(trace, stream,
					    tsi_start_ns(&trace->spans, record->event_call));
	return row == stream->first ? NO_ROW : row - 1;
}

/* The first event of the waiting stream that was launched after the wait, or NO_ROW. */
static uint32_t event_after_wait(const struct tscope_trace *trace, const struct sync_record *record)
{
	uint32_t track = find_track(trace, record->device, record->stream);

	if (track == NO_ROW || record->call == NO_ROW)
		return NO_ROW;
	const struct track *stream = &trace->tracks[track];
	uint32_t row =
		first_launched_after(trace, stream, tsi_start_ns(&trace->spans, record->call));
	return row == stream->first + stream->count ? NO_ROW : row;
}

static void list_records(struct path_devices *devices)
{
	const struct tscope_trace *trace = devices->trace;
	size_t count = trace->sync_record_count;
	struct sort_pair *scratch = tsi_arena_new(devices->arena, count, sizeof(*scratch));

	devices->waits = tsi_arena_new(devices->arena, count, sizeof(*devices->waits));
	devices->calls = tsi_arena_new(devices->arena, count, sizeof(*devices->calls));
	if (devices->arena->has_failed)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct sync_record *record = &trace->sync_records[i];
		if (record->kind != SYNC_STREAM_WAIT) {
			devices->calls[devices->call_count++] =
				(struct sort_pair){ record->call, i };
			continue;
		}
		uint32_t waiting = event_after_wait(trace, record);
		uint32_t waited_for = event_before_record(trace, record);
		if (waiting != NO_ROW && waited_for != NO_ROW)
			devices->waits[devices->wait_count++] =
				(struct sort_pair){ waiting, waited_for };
	}
	tsi_sort_pairs(devices->waits, scratch, devices->wait_count);
	tsi_sort_pairs(devices->calls, scratch, devices->call_count);
}

/* Launches that found the device idle: nothing but the launch kept what they launched waiting. */
static size_t sample_launches(const struct tscope_trace *trace, const struct device *device,
			      int64_t *samples, size_t count)
{
	int64_t busy_until_ns = INT64_MIN;

	for (uint32_t i = 0; i < device->row_count && count < MAX_SAMPLES; i++) {
		uint32_t row = device->rows[i];
		const struct device_event *event = tsi_device_event(trace, row);
		int64_t start_ns = tsi_start_ns(&trace->spans, row),
			end_ns = tsi_span_end(trace, row);

		if (event->call != NO_ROW && !event->graph) {
			int64_t launch_ns = tsi_start_ns(&trace->spans, event->call);
			if (launch_ns >= busy_until_ns && launch_ns <= start_ns)
				samples[count++] = start_ns - launch_ns;
		}
		if (end_ns > busy_until_ns)
			busy_until_ns = end_ns;
	}
	return count;
}

static void find_usual_launch(struct path_devices *devices)
{
	const struct tscope_trace *trace = devices->trace;
	int64_t samples[MAX_SAMPLES];
	size_t count = 0;

	for (uint32_t i = 0; i < trace->device_count; i++)
		count = sample_launches(trace, &trace->devices[i], samples, count);
	devices->usual_launch_ns = tsi_find_quantile_ns(samples, count, 50);
}

void tsi_path_devices_init(struct path_devices *devices, const struct tscope_timeline *timeline,
			   struct arena *arena)
{
	const struct tscope_trace *trace = timeline->trace;

	*devices = (struct path_devices){
		.trace = trace,
		.marks = timeline->marks,
		.arena = arena,
		.by_end = tsi_arena_new(arena, trace->device_count, sizeof(*devices->by_end)),
		.is_taken =
			tsi_arena_new(arena, trace->device_event_count, sizeof(*devices->is_taken)),
	};
	list_records(devices);
	find_usual_launch(devices);
}

/* ---- what ended when ----------------------------------------------------------------- */

static bool is_taken(const struct path_devices *devices, uint32_t row)
{
	return devices->is_taken[tsi_device_event_index(devices->trace, row)];
}

/* A device's rows by end while they are sorted: those of which no earlier one ended later, ... */
struct ended_rows {
	struct arena room; /* of what only sorting needs */
	uint32_t *rows;
	uint32_t kept_count;
	struct sort_pair *late; /* ... and the others: end, row */
	size_t late_count, late_capacity;
};

static void part_rows(struct ended_rows *ended, const struct tscope_trace *trace,
		      const struct device *device)
{
	int64_t last_ns = INT64_MIN;

	for (uint32_t i = 0; i < device->row_count; i++) {
		uint32_t row = device->rows[i];
		int64_t end_ns = tsi_span_end(trace, row);
		if (end_ns >= last_ns) {
			ended->rows[ended->kept_count++] = row;
			last_ns = end_ns;
			continue;
		}
		struct sort_pair *late =
			tsi_arena_push(&ended->room, &ended->late, &ended->late_count,
				       &ended->late_capacity, sizeof(*late));
		if (!late)
			return;
		*late = (struct sort_pair){ tsi_sort_key_of_int64(end_ns), row };
	}
}

/* From the last one on: behind those that are kept there is room for the late ones. */
static void merge_late(struct ended_rows *ended, const struct tscope_trace *trace)
{
	size_t kept = ended->kept_count, late = ended->late_count;
	struct sort_pair *scratch = tsi_arena_new(&ended->room, late, sizeof(*scratch));

	if (!scratch)
		return;
	tsi_sort_pairs(ended->late, scratch, late);
	while (late > 0) {
		bool is_late = kept == 0 ||
			       tsi_sort_key_of_int64(tsi_span_end(trace, ended->rows[kept - 1])) <=
				       ended->late[late - 1].key;
		uint32_t row =
			is_late ? (uint32_t)ended->late[late - 1].value : ended->rows[kept - 1];
		ended->rows[kept + late - 1] = row;
		late -= is_late;
		kept -= !is_late;
	}
}

/*
 * The rows come by start, so most ended in that order, too. Only those that did not are sorted
 * and merged into the others: a list of pairs as long as the device's rows would be the
 * largest thing in memory by now.
 */
static void sort_by_end(struct path_devices *devices, uint32_t device)
{
	const struct device *d = &devices->trace->devices[device];
	struct ended_rows ended = {
		.rows = tsi_arena_new(devices->arena, d->row_count, sizeof(*ended.rows)),
	};

	if (!ended.rows)
		return;
	part_rows(&ended, devices->trace, d);
	merge_late(&ended, devices->trace);
	if (ended.room.has_failed)
		devices->arena->has_failed = true;
	else
		devices->by_end[device] = ended.rows;
	tsi_arena_deinit(&ended.room);
}

/* How many of the rows ended at this time or before. */
static size_t count_ended(const struct tscope_trace *trace, const uint32_t *by_end, size_t count,
			  int64_t t_ns)
{
	size_t low = 0;

	TSI_BISECT(low, count, tsi_span_end(trace, by_end[middle]) <= t_ns);
	return low;
}

/* The device's last event to end by t that is not taken yet, among the last few; or NO_ROW. */
static uint32_t last_ended(struct path_devices *devices, uint32_t device, int64_t t_ns)
{
	const struct tscope_trace *trace = devices->trace;

	if (!devices->by_end[device])
		sort_by_end(devices, device);
	const uint32_t *rows = devices->by_end[device];
	size_t at = rows ? count_ended(trace, rows, trace->devices[device].row_count, t_ns) : 0;
	for (int tries = 0; at > 0 && tries < MAX_TRIES; tries++)
		if (!is_taken(devices, rows[--at]))
			return rows[at];
	return NO_ROW;
}

static uint32_t device_of(const struct tscope_trace *trace, int32_t ordinal)
{
	uint32_t low = 0, high = trace->device_count;

	TSI_BISECT(low, high, trace->devices[middle].ordinal < ordinal);
	return low < trace->device_count && trace->devices[low].ordinal == ordinal ? low : NO_ROW;
}

/* An event that may be the cause of something, if it ended later than what is known so far. */
static void offer(const struct path_devices *devices, uint32_t row, int64_t before_ns,
		  struct path_cause *cause)
{
	if (row == NO_ROW || is_taken(devices, row) ||
	    tsi_start_ns(&devices->trace->spans, row) > before_ns)
		return;
	int64_t end_ns = tsi_span_end(devices->trace, row);
	if (end_ns > before_ns)
		end_ns = before_ns;
	if (cause->kind == CAUSE_NONE || end_ns > cause->time_ns)
		*cause = (struct path_cause){ CAUSE_EVENT, row, end_ns };
}

/* ---- events -------------------------------------------------------------------------- */

/* The start of an event. */
struct beginning {
	uint32_t row;
	const struct track *stream;
	int64_t start_ns;
	/*
	 * Not after start_ns. NO_NUMBER: the capture began later, or calls are not recorded.
	 */
	int64_t launch_ns;
};

/* The event before it on its stream, and those that the trace says it waited for. */
static void offer_known(const struct path_devices *devices, const struct beginning *begin,
			struct path_cause *cause)
{
	size_t at = tsi_count_up_to(devices->waits, devices->wait_count, begin->row);

	if (begin->row > begin->stream->first)
		offer(devices, begin->row - 1, begin->start_ns, cause);
	for (; at > 0 && devices->waits[at - 1].key == begin->row; at--)
		offer(devices, (uint32_t)devices->waits[at - 1].value, begin->start_ns, cause);
}

/*
 * It began late. Where synchronisation is not recorded: did it wait for what ended last of all?
 * If its own stream had been idle, that it followed at once says so; and if its own stream says
 * nothing, that it was launched before that and long before it began.
 */
static void offer_guess(struct path_devices *devices, const struct beginning *begin,
			struct path_cause *cause)
{
	uint32_t device = device_of(devices->trace, begin->stream->device);
	bool is_known = cause->kind == CAUSE_EVENT && cause->time_ns > begin->launch_ns;

	if (devices->trace->sync_record_count || device == NO_ROW ||
	    (is_known && begin->start_ns - cause->time_ns <= NEAR_NS))
		return;
	uint32_t row = last_ended(devices, device, begin->start_ns);
	if (row == NO_ROW)
		return;
	if (begin->start_ns - tsi_span_end(devices->trace, row) <= NEAR_NS ||
	    (!is_known && begin->launch_ns != NO_NUMBER &&
	     begin->start_ns - begin->launch_ns > NEAR_NS))
		offer(devices, row, begin->start_ns, cause);
}

static void find_cause_without_launch(struct path_devices *devices, const struct beginning *begin,
				      struct path_cause *cause)
{
	uint32_t device = device_of(devices->trace, begin->stream->device);

	offer_guess(devices, begin, cause);
	if (cause->kind == CAUSE_EVENT || device == NO_ROW)
		return;
	offer(devices, last_ended(devices, device, begin->start_ns), begin->start_ns, cause);
	if (cause->kind == CAUSE_EVENT)
		cause->kind = CAUSE_EARLIER;
}

static int64_t launch_of(const struct tscope_trace *trace, uint32_t row)
{
	uint32_t call = tsi_device_event(trace, row)->call;

	if (call == NO_ROW)
		return NO_NUMBER;
	return tsi_start_ns(&trace->spans, call) < tsi_start_ns(&trace->spans, row)
		       ? tsi_start_ns(&trace->spans, call)
		       : tsi_start_ns(&trace->spans, row);
}

/* Mostly that of the event before. */
static const struct track *stream_of(struct path_devices *devices, uint32_t row)
{
	const struct track *last = devices->stream;

	if (!last || row < last->first || row - last->first >= last->count)
		devices->stream = &devices->trace->tracks[tsi_trace_track_of(devices->trace, row)];
	return devices->stream;
}

struct path_cause tsi_path_cause_of_event(struct path_devices *devices, uint32_t row)
{
	const struct tscope_trace *trace = devices->trace;
	const struct device_event *event = tsi_device_event(trace, row);
	struct path_cause cause = { .kind = CAUSE_NONE, .row = NO_ROW };
	const struct beginning begin = {
		.row = row,
		.stream = stream_of(devices, row),
		.start_ns = tsi_start_ns(&trace->spans, row),
		.launch_ns = launch_of(trace, row),
	};

	offer_known(devices, &begin, &cause);
	if (event->call == NO_ROW) {
		find_cause_without_launch(devices, &begin, &cause);
		return cause;
	}

	/* On an idle device it would not have begun earlier. All of a graph have one call. */
	bool is_prompt =
		!event->graph && begin.start_ns - begin.launch_ns <= devices->usual_launch_ns;
	if (!is_prompt)
		offer_guess(devices, &begin, &cause);
	if (is_prompt || cause.kind == CAUSE_NONE || cause.time_ns <= begin.launch_ns)
		cause = (struct path_cause){ CAUSE_LAUNCH, event->call, begin.launch_ns };
	return cause;
}

/* ---- calls --------------------------------------------------------------------------- */

/* The call's synchronisation record, or NULL. */
static const struct sync_record *record_of(const struct path_devices *devices, uint32_t call)
{
	size_t at = tsi_count_up_to(devices->calls, devices->call_count, call);

	if (at == 0 || devices->calls[at - 1].key != call)
		return NULL;
	return &devices->trace->sync_records[devices->calls[at - 1].value];
}

/* The last event of a stream that did not end after t, of the last few that began before. */
static void offer_stream(const struct path_devices *devices, const struct sync_record *record,
			 int64_t t_ns, struct path_cause *cause)
{
	const struct tscope_trace *trace = devices->trace;
	uint32_t track = find_track(trace, record->device, record->stream);

	if (track == NO_ROW)
		return;
	const struct track *stream = &trace->tracks[track];
	uint32_t low = stream->first, high = stream->first + stream->count;
	TSI_BISECT(low, high, tsi_start_ns(&trace->spans, middle) < t_ns);
	for (int tries = 0; low > stream->first && tries < MAX_TRIES; tries++)
		if (tsi_span_end(trace, --low) <= t_ns)
			offer(devices, low, t_ns, cause);
}

/* Offers the recorded dependency of a call; without a record, the event that ended last. */
static void offer_waited_for(struct path_devices *devices, const struct sync_record *record,
			     int64_t t_ns, struct path_cause *cause)
{
	uint32_t device_count = devices->trace->device_count, device = NO_ROW;

	if (record && record->kind == SYNC_STREAM) {
		offer_stream(devices, record, t_ns, cause);
		return;
	}
	if (record && record->kind == SYNC_EVENT && record->event_call != NO_ROW) {
		offer(devices, event_before_record(devices->trace, record), t_ns, cause);
		return;
	}
	if (record)
		device = device_of(devices->trace, record->device);
	if (device != NO_ROW) {
		offer(devices, last_ended(devices, device, t_ns), t_ns, cause);
		return;
	}
	for (uint32_t i = 0; i < device_count && i < MAX_DEVICES; i++)
		offer(devices, last_ended(devices, i, t_ns), t_ns, cause);
}

struct path_cause tsi_path_cause_of_call(struct path_devices *devices, uint32_t call,
					 int64_t until_ns)
{
	struct path_cause cause = { .kind = CAUSE_NONE, .row = NO_ROW };

	if (tsi_is_wait_call(devices->marks, call))
		offer_waited_for(devices, record_of(devices, call), until_ns, &cause);
	return cause;
}
