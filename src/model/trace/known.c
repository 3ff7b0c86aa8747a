/* SPDX-License-Identifier: MIT */
/*
 * Training makes the same events again and again, and a decoder knows which are alike but for their
 * times and a few numbers (struct raw_event). The result for the first of a kind, taken the usual
 * way, is remembered here; of those after it only the times and these numbers are read. Events that
 * depend on more than that go the usual way each time.
 */
#include "base/array.h"
#include "model/trace/args.h"
#include "model/trace/build.h"

enum known_use {
	KNOWN_NOT,      /* no event of the kind has been taken */
	KNOWN_USUAL,    /* goes the usual way each time */
	KNOWN_SKIP,     /* not even counted */
	KNOWN_COUNT,    /* only counted */
	KNOWN_FLOW,     /* only counted, where flows are not kept */
	KNOWN_NO_TOTAL, /* a memory event without a total: counted only, plus diagnostic */
	KNOWN_FRAME,    /* a row where it is long enough */
	KNOWN_MOMENT,   /* has a time, likewise all below; no more becomes of it, if that is good */
	KNOWN_POINT,    /* of an accelerator's allocator */
	KNOWN_ROW,      /* a row, likewise the next three, which have ids beside them */
	KNOWN_OP,
	KNOWN_CALL,
	KNOWN_WORK,
};

/* Numbers of an event; those that do not vary come from the first of its kind. */
struct known_numbers {
	struct event_ids ids;
	int64_t allocated, reserved, block_bytes;
	uint64_t address;
};

/* Frames of one name are rows as causes or as places, by how long they take. */
struct known_frame {
	uint32_t cause_ns; /* once one was a row: those that take so long are causes */
	uint32_t rows[2];  /* in trace->spans.kinds: of a place, of a cause; NO_ROW: was none yet */
};

struct known_kind {
	uint32_t category;
	union {
		uint32_t row_kind;     /* in trace->spans.kinds */
		uint32_t row_least_ns; /* of a frame: shorter ones are no rows */
		uint32_t track;        /* of a point */
	};
	int32_t device; /* of a point */
	uint8_t use;    /* enum known_use */
	bool is_oom;
	bool is_forward, is_backward; /* of an op, as the first */
	union {
		struct known_numbers first;
		struct known_frame frame;
	};
};

/* ---- numbers ------------------------------------------------------------------------- */

/* Whether an operator belongs to the pass that the first of its kind belongs to. */
struct pass {
	bool is_forward, is_backward;
};

static bool is_digit_from(char c, char least)
{
	return c >= least && c <= '9';
}

/* Numbers of any other form go the usual way. */
static inline bool is_plain(const struct raw_number *number, const char *text)
{
	return number->value != UINT64_MAX && (*text != '0' || number->length <= 1);
}

/* The ids, which nearly all events have, come first. */
static inline bool read_number(const struct raw_number *number, const char *text,
			       struct known_numbers *numbers, struct pass *pass)
{
	uint64_t value = number->value;
	if (number->arg == ARG_EXTERNAL_ID) {
		numbers->ids.external_id = value < NO_ROW ? (uint32_t)value : 0;
		return is_plain(number, text);
	}
	switch (number->arg) {
	case ARG_CORRELATION:
		numbers->ids.correlation = value;
		return is_plain(number, text);
	case ARG_SEQUENCE_NUMBER:
		pass->is_forward = is_digit_from(*text, '0');
		tsi_put_sequence(&numbers->ids, value);
		return true;
	case ARG_FORWARD_THREAD:
		pass->is_backward = is_digit_from(*text, '1');
		tsi_put_forward_thread(&numbers->ids, value);
		return true;
	case ARG_ALLOCATED:
		numbers->allocated = (int64_t)value;
		return is_plain(number, text);
	case ARG_RESERVED:
		numbers->reserved = (int64_t)value;
		return is_plain(number, text);
	case ARG_BLOCK_BYTES:
		numbers->block_bytes = *text == '-' ? BLOCK_WENT : (int64_t)value;
		return *text == '-' || is_plain(number, text);
	case ARG_ADDRESS:
		numbers->address = value;
		return is_plain(number, text);
	}
	return false;
}

static inline bool read_numbers(const struct known_kind *known, const struct raw_repeat *event,
				struct known_numbers *numbers)
{
	struct pass pass = { known->is_forward, known->is_backward };
	const struct raw_number *number = event->numbers, *end = number + event->number_count;
	for (; number < end; number++)
		if (!read_number(number, event->text + number->at, numbers, &pass))
			return false;
	if (pass.is_backward) /* then it is nothing else, whatever its sequence number */
		return known->is_backward;
	return !known->is_backward && pass.is_forward == known->is_forward;
}

/* ---- taking -------------------------------------------------------------------------- */

static bool keep_status(const struct builder *b, enum tscope_status *status,
			struct tscope_error *err)
{
	*status = tsi_unlikely(b->status != TSCOPE_OK) ? tsi_builder_status(b, err) : TSCOPE_OK;
	return true;
}

/* Is the time of an event one that counts? If not, that is counted. */
static inline bool is_timed(struct builder *b, const struct raw_repeat *event)
{
	if (tsi_likely(tsi_is_good_span(event->ts_ns, event->dur_ns)))
		return true;
	b->sink.diagnostics[TSCOPE_DIAGNOSTIC_bad_timestamp]++;
	return false;
}

/* Out of memory for the side entry, the row does no harm: there will be no trace. */
static inline void add_row(struct builder *b, const struct known_kind *known,
			   const struct raw_repeat *event, struct event_ids ids)
{
	if (known->use == KNOWN_OP) {
		if (tsi_drops_operator(b, event->dur_ns))
			return;
		tsi_add_op(b, ids);
	} else if (known->use == KNOWN_CALL) {
		tsi_add_call(b, ids);
	} else if (known->use == KNOWN_WORK) {
		b->untimed_count += event->ts_ns == 0 && event->dur_ns == 0;
		tsi_add_device_event(b, ids, NO_ROW);
	}
	tsi_add_row(b, event->ts_ns, event->dur_ns, known->row_kind);
}

/* Most events of which more is wanted than that they were there. */
static TSI_NOINLINE bool take_row(struct builder *b, const struct raw_repeat *event,
				  enum tscope_status *status, struct tscope_error *err)
{
	const struct known_kind *known = &b->known[event->kind];
	struct known_numbers numbers; /* the others are not asked for */
	numbers.ids = known->first.ids;
	if (!read_numbers(known, event, &numbers))
		return false;
	tsi_count_event(b, known->category);
	if (is_timed(b, event))
		add_row(b, known, event, numbers.ids);
	return keep_status(b, status, err);
}

/* Whether an event differs from the first in sizes and addresses alone: the host's are not kept. */
static inline bool has_sizes_only(const struct raw_repeat *event)
{
	const uint64_t sizes = UINT64_C(1) << ARG_ADDRESS | UINT64_C(1) << ARG_ALLOCATED |
			       UINT64_C(1) << ARG_BLOCK_BYTES | UINT64_C(1) << ARG_RESERVED;
	for (uint32_t i = 0; i < event->number_count; i++)
		if (!(sizes >> event->numbers[i].arg % 64 & 1))
			return false;
	return true;
}

static inline bool take_point(struct builder *b, const struct known_kind *known,
			      const struct raw_repeat *event)
{
	struct known_numbers numbers = known->first;
	if (!read_numbers(known, event, &numbers))
		return false;
	tsi_count_event(b, known->category);
	if (!is_timed(b, event))
		return true;
	struct allocator_point point = {
		.time_ns = event->ts_ns,
		.allocated_bytes = numbers.allocated,
		.reserved_bytes = numbers.reserved,
		.block_bytes = numbers.block_bytes,
		.address = numbers.address,
		.device = known->device,
		.track = known->track & NO_POINT_TRACK,
		.is_oom = known->is_oom,
	};
	tsi_keep_allocator_point(b, &point);
	return true;
}

/* Takes an event that becomes no row but has a time. Not inlined, as points need more stack. */
static TSI_NOINLINE bool take_moment(struct builder *b, const struct raw_repeat *event,
				     enum tscope_status *status, struct tscope_error *err)
{
	const struct known_kind *known = &b->known[event->kind];
	if (known->use == KNOWN_POINT) {
		if (!take_point(b, known, event))
			return false;
	} else {
		if (!has_sizes_only(event))
			return false;
		tsi_count_event(b, known->category);
		(void)is_timed(b, event);
	}
	return keep_status(b, status, err);
}

/* A frame that is long enough for a row. */
static TSI_NOINLINE bool take_frame(struct builder *b, const struct raw_repeat *event,
				    enum tscope_status *status, struct tscope_error *err)
{
	const struct known_kind *known = &b->known[event->kind];
	uint32_t row_kind = known->frame.rows[event->dur_ns >= known->frame.cause_ns];
	if (row_kind == NO_ROW || !tsi_is_good_span(event->ts_ns, event->dur_ns))
		return false;
	tsi_count_event(b, known->category);
	if (!b->drops_frames) {
		b->trace->chosen_frame_count++;
		b->trace->has_places = true;
		tsi_add_row(b, event->ts_ns, event->dur_ns, row_kind);
	}
	return keep_status(b, status, err);
}

static TSI_COLD bool take_no_total(struct builder *b, const struct raw_repeat *event)
{
	for (uint32_t i = 0; i < event->number_count; i++)
		if (event->numbers[i].arg == ARG_ALLOCATED) /* this one may */
			return false;
	bool is_good = tsi_is_good_span(event->ts_ns, event->dur_ns);
	b->sink.diagnostics[is_good ? TSCOPE_DIAGNOSTIC_memory_without_total
				    : TSCOPE_DIAGNOSTIC_bad_timestamp]++;
	return true;
}

/* Does the event go the usual way, of a kind of which no more is wanted than that it was there? */
static inline bool is_usual(struct builder *b, const struct known_kind *known,
			    const struct raw_repeat *event)
{
	switch (known->use) {
	case KNOWN_FLOW:
		return !b->skips_flows;
	case KNOWN_NO_TOTAL:
		return !take_no_total(b, event);
	default:
		return known->use <= KNOWN_USUAL;
	}
}

/* Events that are only counted need no frame on the stack: in some files they are most. */
bool tsi_take_repeat(struct event_sink *sink, const struct raw_repeat *event,
		     enum tscope_status *status, struct tscope_error *err)
{
	struct builder *b = (struct builder *)sink;
	if (tsi_unlikely(event->kind >= b->known_count))
		return false;
	const struct known_kind *known = &b->known[event->kind];
	if (known->use >= KNOWN_ROW)
		return take_row(b, event, status, err);
	if (known->use > KNOWN_FRAME)
		return take_moment(b, event, status, err);
	if (known->use == KNOWN_FRAME && tsi_unlikely(event->dur_ns >= known->row_least_ns))
		return take_frame(b, event, status, err);
	if (tsi_unlikely(is_usual(b, known, event)))
		return false;
	if (known->use != KNOWN_SKIP)
		tsi_count_event(b, known->category);
	return keep_status(b, status, err);
}

/* ---- learning ------------------------------------------------------------------------ */

/* A row that was added: all that it is follows from its kind and its ids, or it is as usual. */
static void learn_row(const struct builder *b, const struct raw_event *event,
		      struct known_kind *known)
{
	const struct tscope_trace *trace = b->trace;
	known->row_kind = trace->spans.kind[trace->spans.count - 1];
	const struct span_kind *kind = &trace->spans.kinds[known->row_kind];
	known->first.ids = b->ids;
	switch (kind->span_class) {
	case TSCOPE_SPAN_CPU_OP:
		known->is_forward = kind->op.is_forward;
		known->is_backward = kind->op.is_backward;
		known->use = kind->op.collective == NO_ROW ? KNOWN_OP : KNOWN_USUAL;
		break;
	case TSCOPE_SPAN_RUNTIME:
		known->use = KNOWN_CALL;
		break;
	case TSCOPE_SPAN_ANNOTATION: /* of a train_batch the number of the batch counts */
		known->use = tsi_is_train_batch(event->name) ? KNOWN_USUAL : KNOWN_ROW;
		break;
	default:
		known->use = KNOWN_ROW;
	}
	if (!tsi_class_is_device((uint8_t)kind->span_class))
		return;
	known->use = trace->device_events[trace->device_event_count - 1].collective == NO_ROW
			     ? KNOWN_WORK
			     : KNOWN_USUAL;
}

static void learn_point(const struct tscope_trace *trace, struct known_kind *known)
{
	const struct allocator_point *point =
		&trace->allocator_points[trace->allocator_point_count - 1];
	known->use = KNOWN_POINT;
	known->device = point->device;
	known->track = point->track;
	known->is_oom = point->is_oom;
	known->first.allocated = point->allocated_bytes;
	known->first.reserved = point->reserved_bytes;
	known->first.block_bytes = point->block_bytes;
	known->first.address = point->address;
}

static void learn(const struct builder *b, const struct raw_event *event,
		  const struct kind_lesson *lesson, struct known_kind *known)
{
	const struct tscope_trace *trace = b->trace;
	*known = (struct known_kind){ .use = KNOWN_USUAL, .category = lesson->category };
	if (lesson->is_filtered)
		known->use = KNOWN_SKIP;
	else if (lesson->is_no_work)
		known->use = lesson->is_flow ? KNOWN_FLOW : KNOWN_COUNT;
	else if (lesson->is_frame)
		*known = (struct known_kind){ .use = KNOWN_FRAME,
					      .category = lesson->category,
					      .frame.rows = { NO_ROW, NO_ROW } };
	else if (event->name_escaped) /* a bad escape counts each time */
		known->use = KNOWN_USUAL;
	else if (event->phase == 'X' && trace->spans.count > lesson->row_count)
		learn_row(b, event, known);
	else if (event->phase != 'X' && trace->allocator_point_count > lesson->point_count)
		learn_point(trace, known);
	else if (event->phase != 'X' && tsi_is_memory_event(event->name) && tsi_is_good_time(event))
		known->use = b->sink.diagnostics[TSCOPE_DIAGNOSTIC_memory_without_total] ==
					     lesson->bad_memory_count
				     ? KNOWN_MOMENT /* the host's */
				     : KNOWN_NO_TOTAL;
}

static void learn_frame(const struct builder *b, const struct raw_event *event,
			const struct kind_lesson *lesson, struct known_kind *known)
{
	const struct spans *spans = &b->trace->spans;

	known->row_least_ns = b->frame_least_ns;
	if (spans->count == lesson->row_count || event->name_escaped) /* as in learn() */
		return;
	known->frame.cause_ns = b->frame_cause_ns;
	known->frame.rows[b->frame.use == FRAME_CHOSEN] = spans->kind[spans->count - 1];
}

void tsi_learn_kind(struct builder *b, const struct raw_event *event,
		    const struct kind_lesson *lesson)
{
	size_t wanted = (size_t)event->kind + 1;
	if (b->status != TSCOPE_OK ||
	    !tsi_builder_reserve(b, &b->known, &b->known_capacity, wanted, sizeof(*b->known)))
		return;
	if (wanted > b->known_count) {
		memset(b->known + b->known_count, 0, (wanted - b->known_count) * sizeof(*b->known));
		b->known_count = wanted;
	}
	if (b->known[event->kind].use == KNOWN_NOT)
		learn(b, event, lesson, &b->known[event->kind]);
	if (lesson->is_frame)
		learn_frame(b, event, lesson, &b->known[event->kind]);
}
