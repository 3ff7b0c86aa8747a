/* SPDX-License-Identifier: MIT */
/*
 * Why devices are idle. Let E be the event that ends a gap, L its launch call and T the thread of
 * L. Until L starts the host was late: what T is inside of says why (host_state.h), or another
 * thread that launches, where T is inside nothing. Time inside L is the host's, too. From the end
 * of L on E could have started.
 *
 *	host     |---- data ----| op |launch E|
 *	device   === busy ===|                      |=== E ===
 *	cause                  data op  call   latency
 *
 * A host that waited for the device has nothing queued when it goes on. Had it not waited, it would
 * have launched E that much earlier: so much of the dispatch, and no more, is the wait's.
 */
#include "timeline/device_walk.h"

#include "base/bisect.h"
#include "base/sort.h"
#include "model/trace/device_rows.h"
#include "timeline/host_kinds.h"

enum {
	SHORT_NS = 50000,         /* a device needs no longer to start what was launched */
	LONG_NS = 1000000,        /* no launch call takes longer */
	QUEUE_LENGTH = 512,       /* outstanding launches that fill a queue */
	WAIT_BEFORE_NS = 1000000, /* a stream began to wait for the host this long ago */
	REFILL_NS = 1000000,      /* a host that takes longer to launch again has work of its own */
	WAIT_NS = 1000,           /* shorter waits are for nothing */
	BUSY_PCT = 90, /* of a wait that another device's work must cover to explain it */
	/*
	 * No process drives more. Each gap of a device is divided over the host's spans, so that
	 * thousands of devices, which only a hostile file has, would each walk all of them.
	 */
	MAX_JUDGED_DEVICES = 64,
	MAX_OTHERS = 8, /* threads that are asked where T is inside nothing */
};

/* A gap while it is divided. */
struct gap {
	struct interval time;
	uint32_t event, call; /* E, L */
	uint32_t op;          /* that launched E; without one the call */
	uint32_t thread;      /* index of T in host.threads, or NO_ROW */
	uint32_t pid;         /* of T */
};

/* Division of a gap's time. */
struct gap_parts {
	struct gap_part {
		int64_t sum_ns;
		struct interval longest;
		uint32_t track; /* of the thread that the longest piece is by, or NO_ROW */
		uint32_t row;   /* that it is in, where that is known; or NO_ROW */
	} by_cause[IDLE_CAUSE_COUNT];
};

static void note_part(struct gap_part *part, struct interval piece, const struct budget_walk *walk)
{
	part->sum_ns += piece.end_ns - piece.start_ns;
	if (piece.end_ns - piece.start_ns <= part->longest.end_ns - part->longest.start_ns)
		return;
	part->longest = piece;
	part->track = walk->track;
	part->row = walk->inside;
}

/* Steps of a host on its way to the next launch. */
static bool is_dispatch(enum idle_cause cause)
{
	return cause == IDLE_PYTHON || cause == IDLE_HOST_UNRECORDED || cause == IDLE_OP_OVERHEAD ||
	       cause == IDLE_LAUNCH_CALL;
}

static void charge_cause(struct budget_walk *walk, struct interval piece, enum idle_cause cause,
			 uint32_t row)
{
	const struct refill *refill = &walk->refill;

	if (piece.start_ns < refill->end_ns && is_dispatch(cause)) {
		struct interval rest = piece;
		uint32_t inside = walk->inside;
		piece.end_ns = rest.start_ns =
			piece.end_ns < refill->end_ns ? piece.end_ns : refill->end_ns;
		walk->inside = refill->row;
		charge_cause(walk, piece, (enum idle_cause)refill->cause, refill->row);
		walk->inside = inside;
		piece = rest;
	}
	if (piece.end_ns <= piece.start_ns)
		return;
	if (walk->parts_of_gap)
		note_part(&walk->parts_of_gap->by_cause[cause], piece, walk);
	tsi_charge(walk, piece, TSI_IDLE_SLOT + (unsigned)cause, row);
}

/* ---- other devices -------------------------------------------------------------------- */

/* Does another device work for most of the time? */
static bool is_other_busy(struct budget_walk *walk, struct interval wait)
{
	struct device_walk *devices = walk->devices;
	struct tscope_timeline *timeline = walk->timeline;
	uint32_t count = timeline->trace->device_count;

	if (count < 2)
		return false;
	if (!devices->has_busy) {
		struct interval_set *sets =
			tsi_arena_new(&timeline->scratch, (size_t)count * 3, sizeof(*sets));
		devices->has_busy = true;
		for (uint32_t d = 0; sets && d < count; d++) {
			sets[3 * d] = timeline->activity[d].compute;
			sets[3 * d + 1] = timeline->activity[d].comm;
			sets[3 * d + 2] = timeline->activity[d].copy;
		}
		if (sets)
			devices->busy = tsi_intervals_union_all(sets, (size_t)count * 3,
								&timeline->scratch);
	}
	int64_t busy_ns = tsi_intervals_within(&devices->busy, wait.start_ns, wait.end_ns);
	return (double)busy_ns >= (double)(wait.end_ns - wait.start_ns) * BUSY_PCT / 100;
}

/* ---- before the launch --------------------------------------------------------------- */

/* Kernels that are compiled when they are first used. */
static bool is_compiled_late(struct str name)
{
	return tsi_str_starts(name, "fused_") || tsi_str_starts(name, "triton_") ||
	       tsi_str_starts(name, "nvfuser") || tsi_str_starts(name, "CudaCodeGen");
}

/*
 * Start-up that ends in the first launch of a generated kernel was its compilation. A host that
 * waits while this device is idle waits for another one, if that works.
 */
static enum idle_cause cause_before(struct budget_walk *walk, const struct gap *gap,
				    enum idle_cause cause, struct interval piece)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	int64_t length_ns = piece.end_ns - piece.start_ns;

	if ((cause == IDLE_SYNC || cause == IDLE_BLOCKING_COPY) && length_ns >= WAIT_NS &&
	    is_other_busy(walk, piece))
		return IDLE_DEPENDENCY;
	if ((cause == IDLE_STARTUP || cause == IDLE_OP_STALL) && length_ns >= LONG_NS &&
	    is_compiled_late(tsi_span_name(trace, gap->event)) &&
	    tsi_is_first_event(&walk->devices->uses, gap->event))
		return IDLE_COMPILE;
	return cause;
}

/* Gives the time to what happens beside the thread, and what is left of it to `cause`. */
static void charge_beside(struct budget_walk *walk, struct interval piece,
			  const struct asides *asides, size_t *at, enum idle_cause cause,
			  uint32_t row)
{
	while (*at < asides->count && asides->items[*at].end_ns <= piece.start_ns)
		++*at;
	for (size_t i = *at; i < asides->count && piece.start_ns < piece.end_ns; i++) {
		const struct aside *aside = &asides->items[i];
		struct interval before = piece, within;
		if (aside->start_ns >= piece.end_ns)
			break;
		if (before.end_ns > aside->start_ns)
			before.end_ns = aside->start_ns;
		charge_cause(walk, before, cause, row);
		within.start_ns =
			aside->start_ns > piece.start_ns ? aside->start_ns : piece.start_ns;
		within.end_ns = aside->end_ns < piece.end_ns ? aside->end_ns : piece.end_ns;
		charge_cause(walk, within, (enum idle_cause)aside->cause,
			     aside->cause == IDLE_PEER ? aside->row : row);
		piece.start_ns = within.end_ns;
	}
	charge_cause(walk, piece, cause, row);
}

/* Host code that no operator is in waits for a collective that is open on a thread of its own. */
static void charge_code(struct budget_walk *walk, struct interval piece, enum idle_cause cause,
			uint32_t row)
{
	charge_beside(walk, piece, &walk->devices->host.peers, &walk->peer, cause, row);
}

/* The time of an operator may be lazy loading or the profiler, or the calls in it are lost. */
static bool is_covered_by_asides(const struct budget_walk *walk, enum idle_cause cause)
{
	return cause == IDLE_OP_OVERHEAD || (walk->devices->host.has_lost_calls &&
					     (cause == IDLE_OP_STALL || cause == IDLE_CPU_WORK));
}

static void charge_host(struct budget_walk *walk, const struct gap *gap, struct interval piece,
			uint32_t thread, const struct host_piece *state)
{
	walk->track = walk->devices->host.threads[thread].track;
	walk->inside = state->row;
	uint32_t row = state->row == NO_ROW ? gap->op : state->row;
	enum idle_cause cause = (enum idle_cause)state->cause;

	if (is_covered_by_asides(walk, cause))
		charge_beside(walk, piece, &walk->devices->host.overhead, &walk->overhead, cause,
			      row);
	else if (cause == IDLE_PYTHON)
		charge_code(walk, piece, cause, row);
	else
		charge_cause(walk, piece, cause_before(walk, gap, cause, piece), row);
	walk->track = walk->inside = NO_ROW;
}

/* The piece that a thread is in at a time, which only grows. */
static const struct host_piece *piece_at(struct budget_walk *walk, uint32_t thread, int64_t t_ns)
{
	const struct host_thread *of = &walk->devices->host.threads[thread];
	size_t *at = &walk->piece_of_thread[thread];

	while (*at + 1 < of->count && of->pieces[*at + 1].start_ns <= t_ns)
		++*at;
	return &of->pieces[*at];
}

static int64_t piece_end(const struct budget_walk *walk, uint32_t thread,
			 const struct host_piece *piece, int64_t limit_ns)
{
	const struct host_thread *of = &walk->devices->host.threads[thread];

	if (piece + 1 < of->pieces + of->count && piece[1].start_ns < limit_ns)
		return piece[1].start_ns;
	return limit_ns;
}

/* The next thread of the process of T, behind `thread`; MAX_OTHERS: there is none. */
static uint32_t next_thread(const struct budget_walk *walk, const struct gap *gap, uint32_t thread)
{
	const struct host_state *host = &walk->devices->host;
	const struct track *tracks = walk->timeline->trace->tracks;

	while (++thread < host->thread_count && thread < MAX_OTHERS)
		if (thread != gap->thread && tracks[host->threads[thread].track].pid == gap->pid)
			return thread;
	return MAX_OTHERS;
}

/*
 * T is inside nothing, or in the frame `wait`: gives the time to the first thread, from `thread`
 * on, that is inside something. No deeper than there are threads.
 */
static void charge_elsewhere(struct budget_walk *walk, const struct gap *gap, struct interval piece,
			     uint32_t thread, uint32_t wait)
{
	const struct tscope_trace *trace = walk->timeline->trace;

	if (thread == MAX_OTHERS) {
		charge_code(walk, piece, trace->cpu_op_count ? IDLE_PYTHON : IDLE_HOST_UNRECORDED,
			    wait == NO_ROW ? gap->op : wait);
		return;
	}
	while (piece.start_ns < piece.end_ns) {
		const struct host_piece *state = piece_at(walk, thread, piece.start_ns);
		struct interval part = {
			piece.start_ns,
			piece_end(walk, thread, state, piece.end_ns),
		};
		if (state->cause == IDLE_NONE)
			charge_elsewhere(walk, gap, part, next_thread(walk, gap, thread), wait);
		else
			charge_host(walk, gap, part, thread, state);
		piece.start_ns = part.end_ns;
	}
}

static void charge_late_host(struct budget_walk *walk, const struct gap *gap, struct interval late)
{
	if (gap->thread == NO_ROW) {
		charge_elsewhere(walk, gap, late, next_thread(walk, gap, UINT32_MAX), NO_ROW);
		return;
	}
	while (late.start_ns < late.end_ns) {
		const struct host_piece *state = piece_at(walk, gap->thread, late.start_ns);
		struct interval part = {
			late.start_ns,
			piece_end(walk, gap->thread, state, late.end_ns),
		};
		if (state->cause == IDLE_NONE)
			charge_elsewhere(walk, gap, part, next_thread(walk, gap, UINT32_MAX),
					 state->row);
		else
			charge_host(walk, gap, part, gap->thread, state);
		late.start_ns = part.end_ns;
	}
}

/* ---- in the launch, and behind it ---------------------------------------------------- */

/*
 * Are so many launches outstanding when this call starts that it may have to wait? Behind the
 * event that it launches, those are the next ones on the device.
 */
static bool is_queue_full(const struct budget_walk *walk, const struct gap *gap)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	const struct device *device = &trace->devices[walk->device];
	int64_t now_ns = tsi_start_ns(&trace->spans, gap->call);
	uint32_t low = 0, high = device->row_count, count = 0;

	TSI_BISECT(low, high, tsi_start_ns(&trace->spans, device->rows[middle]) <= now_ns);
	for (uint32_t i = low; i < device->row_count && i < low + 2 * QUEUE_LENGTH; i++) {
		uint32_t call = tsi_device_event(trace, device->rows[i])->call;
		count += call != NO_ROW && tsi_call_kind(trace, call) != CALL_GRAPH_LAUNCH &&
			 tsi_span_end(trace, call) <= now_ns;
	}
	return count >= QUEUE_LENGTH;
}

static enum idle_cause cause_of_launch(const struct budget_walk *walk, const struct gap *gap)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	uint8_t kind = tsi_call_kind(trace, gap->call);
	int64_t dur_ns = tsi_dur_ns(&trace->spans, gap->call);

	if (kind == CALL_MEMCPY && dur_ns >= HOST_COPY_MIN_NS)
		return IDLE_BLOCKING_COPY;
	if (dur_ns <= LONG_NS || kind == CALL_GRAPH_LAUNCH)
		return IDLE_LAUNCH_CALL;
	if (is_queue_full(walk, gap))
		return IDLE_QUEUE_FULL;
	return tsi_is_first_event(&walk->devices->uses, gap->event) ? IDLE_STARTUP
								    : IDLE_LAUNCH_STALL;
}

static bool is_host_wait(const struct device_walk *devices, uint32_t row)
{
	const struct tscope_trace *trace = devices->timeline->trace;

	return devices->host.kinds[trace->spans.kind[row]].role == HOST_CALL_ENQUEUE;
}

/* When streams began to wait for the host. */
static void find_host_waits(struct device_walk *devices)
{
	const struct tscope_trace *trace = devices->timeline->trace;
	struct arena *arena = &devices->timeline->scratch;
	uint32_t end = tsi_first_device_row(trace);
	size_t count = 0;

	devices->has_waits = true;
	for (uint32_t row = 0; devices->host.kinds && row < end; row++)
		count += is_host_wait(devices, row);
	if (!count)
		return;
	devices->waits_ns = tsi_arena_new(arena, count, sizeof(*devices->waits_ns));
	int64_t *room = tsi_arena_new(arena, count, sizeof(*room));
	if (!devices->waits_ns || !room)
		return;
	for (uint32_t row = 0; row < end; row++)
		if (is_host_wait(devices, row))
			devices->waits_ns[devices->wait_count++] = tsi_start_ns(&trace->spans, row);
	tsi_sort_numbers(devices->waits_ns, room, count);
}

/* Did a stream begin to wait for the host shortly before? */
static bool waits_for_host(struct device_walk *devices, int64_t t_ns)
{
	size_t low = 0, high;

	if (!devices->has_waits)
		find_host_waits(devices);
	high = devices->wait_count;
	TSI_BISECT(low, high, devices->waits_ns[middle] <= t_ns);
	return low > 0 && devices->waits_ns[low - 1] > t_ns - WAIT_BEFORE_NS;
}

/* Why E did not start at once; wait: from the end of L, or the beginning of the gap. */
static enum idle_cause cause_behind(struct budget_walk *walk, const struct gap *gap,
				    struct interval wait)
{
	const struct tscope_trace *trace = walk->timeline->trace;

	if (wait.end_ns - wait.start_ns <= SHORT_NS)
		return tsi_span_end(trace, gap->call) <= gap->time.start_ns ? IDLE_DEVICE_GAP
									    : IDLE_START_LATENCY;
	if (tsi_span_class(&trace->spans, gap->event) == TSCOPE_SPAN_COMM ||
	    is_other_busy(walk, wait) ||
	    waits_for_host(walk->devices, tsi_start_ns(&trace->spans, gap->call)))
		return IDLE_DEPENDENCY;
	return IDLE_UNRECORDED;
}

/* ---- gaps ---------------------------------------------------------------------------- */

/* Did the gap begin while the host waited for the device, to launch E afterwards? */
static struct refill find_refill(struct budget_walk *walk, const struct gap *gap)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	struct refill refill = { 0 };

	if (gap->thread == NO_ROW || tsi_start_ns(&trace->spans, gap->call) <= gap->time.start_ns)
		return refill;
	const struct host_piece *state = piece_at(walk, gap->thread, gap->time.start_ns);
	if ((state->cause != IDLE_SYNC && state->cause != IDLE_BLOCKING_COPY) ||
	    tsi_span_end(trace, state->row) > tsi_start_ns(&trace->spans, gap->call))
		return refill;
	int64_t waited_ns = gap->time.start_ns - tsi_start_ns(&trace->spans, state->row);
	refill.end_ns = gap->time.start_ns + (waited_ns < REFILL_NS ? waited_ns : REFILL_NS);
	refill.row = state->row;
	refill.cause = (uint8_t)state->cause;
	return refill;
}

/* Work that the trace lacks may have kept the device busy before L. */
static void charge_before(struct budget_walk *walk, const struct gap *gap, struct interval before)
{
	struct interval piece = before, part;

	while (tsi_intervals_next(&walk->lost, &piece, &part)) {
		before.end_ns = part.start_ns;
		charge_late_host(walk, gap, before);
		charge_cause(walk, part, IDLE_UNRECORDED, NO_ROW);
		before.start_ns = part.end_ns;
	}
	charge_late_host(walk, gap, (struct interval){ before.start_ns, piece.end_ns });
}

static void charge_gap(struct budget_walk *walk, const struct gap *gap)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	struct interval before = gap->time, within = gap->time, behind = gap->time;

	walk->refill = find_refill(walk, gap);

	before.end_ns = within.start_ns = tsi_clamp_time(tsi_start_ns(&trace->spans, gap->call),
							 gap->time.start_ns, gap->time.end_ns);
	within.end_ns = behind.start_ns =
		tsi_clamp_time(tsi_span_end(trace, gap->call), before.end_ns, gap->time.end_ns);
	charge_before(walk, gap, before);
	if (within.end_ns > within.start_ns)
		charge_cause(walk, within, cause_of_launch(walk, gap), gap->call);
	if (behind.end_ns > behind.start_ns)
		charge_cause(walk, behind, cause_behind(walk, gap, behind), gap->event);
}

static struct gap describe(const struct budget_walk *walk, const struct idle_gap *idle)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	const struct tscope_step *last = &walk->timeline->steps[walk->timeline->step_count - 1];
	struct gap gap = {
		.time = { idle->start_ns, last->start_ns + last->wall_ns },
		.event = idle->row,
		.call = NO_ROW,
	};

	if (idle->row == NO_ROW)
		return gap;
	gap.time.end_ns = tsi_start_ns(&trace->spans, idle->row);
	gap.call = tsi_device_event(trace, idle->row)->call;
	if (gap.call == NO_ROW)
		return gap;
	uint32_t track = tsi_trace_track_of(trace, gap.call);
	gap.op = tsi_call(trace, gap.call)->op;
	if (gap.op == NO_ROW)
		gap.op = gap.call;
	gap.pid = trace->tracks[track].pid;
	gap.thread = (uint32_t)walk->devices->host.thread_of_track[track] - 1;
	return gap;
}

static void divide_gap(struct budget_walk *walk, const struct gap *gap)
{
	if (gap->call != NO_ROW && walk->device < MAX_JUDGED_DEVICES)
		charge_gap(walk, gap);
	else
		charge_cause(walk, gap->time, gap->event == NO_ROW ? IDLE_EDGE : IDLE_UNLINKED,
			     NO_ROW);
}

/* Puts a gap in its place among the longest; of equals the first stays in front. */
static void keep_gap(struct tscope_timeline *timeline, const struct long_gap *gap)
{
	uint32_t at = timeline->long_gap_count;

	if (at < MAX_LONG_GAPS)
		timeline->long_gap_count++;
	else
		at--;
	for (; at > 0; at--) {
		const struct long_gap *before = &timeline->long_gaps[at - 1];
		if (before->end_ns - before->start_ns >= gap->end_ns - gap->start_ns)
			break;
		timeline->long_gaps[at] = *before;
	}
	timeline->long_gaps[at] = *gap;
}

static bool is_among_longest(const struct tscope_timeline *timeline, struct interval time)
{
	const struct long_gap *last = &timeline->long_gaps[MAX_LONG_GAPS - 1];

	return timeline->long_gap_count < MAX_LONG_GAPS ||
	       time.end_ns - time.start_ns > last->end_ns - last->start_ns;
}

static void divide_long_gap(struct budget_walk *walk, const struct gap *gap)
{
	struct gap_parts parts = { 0 };
	unsigned cause = 0;

	walk->parts_of_gap = &parts;
	divide_gap(walk, gap);
	walk->parts_of_gap = NULL;
	for (unsigned i = 1; i < IDLE_CAUSE_COUNT; i++)
		if (parts.by_cause[i].sum_ns > parts.by_cause[cause].sum_ns)
			cause = i;
	const struct gap_part *part = &parts.by_cause[cause];
	struct long_gap kept = {
		.start_ns = gap->time.start_ns,
		.end_ns = gap->time.end_ns,
		.device = walk->device,
		.event = gap->event,
		.cause = (uint8_t)cause,
		.cause_ns = part->sum_ns,
		.track = part->track,
		.row = part->row,
		.at_ns = part->longest.start_ns +
			 (part->longest.end_ns - part->longest.start_ns) / 2,
	};
	keep_gap(walk->timeline, &kept);
}

/* A short gap between two events of which the second was queued: of most devices nearly all. */
static inline bool is_queued(const struct tscope_trace *trace, const struct idle_gap *gap)
{
	if (gap->row == NO_ROW || tsi_start_ns(&trace->spans, gap->row) - gap->start_ns > SHORT_NS)
		return false;
	uint32_t call = tsi_device_event(trace, gap->row)->call;
	return call != NO_ROW && tsi_span_end(trace, call) <= gap->start_ns;
}

void tsi_charge_gaps(struct budget_walk *walk)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	const struct idle_gaps *gaps = &walk->devices->gaps[walk->device];

	for (size_t i = 0; i < gaps->count; i++) {
		const struct idle_gap *idle = &gaps->items[i];
		if (walk->timeline->long_gap_count == MAX_LONG_GAPS && is_queued(trace, idle)) {
			struct interval time = { idle->start_ns,
						 tsi_start_ns(&trace->spans, idle->row) };
			if (!is_among_longest(walk->timeline, time)) {
				tsi_charge_inline(walk, time, TSI_IDLE_SLOT + IDLE_DEVICE_GAP,
						  idle->row);
				continue;
			}
		}
		struct gap gap = describe(walk, &gaps->items[i]);
		if (tsi_unlikely(is_among_longest(walk->timeline, gap.time)))
			divide_long_gap(walk, &gap);
		else
			divide_gap(walk, &gap);
	}
}
