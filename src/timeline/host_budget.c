/* SPDX-License-Identifier: MIT */
/*
 * The budget of a trace without devices: what the main thread is in, innermost
 * first, by annotations and operators. Operators within nothing named are
 * forward work. Where it is in nothing while a backward thread works, it waits
 * for backward. Where other threads communicate (gloo has its own) and nothing
 * computes, it waits for that. The rest is other: lines sum to the wall time.
 *
 * Of Composer's spans event/forward and event/loss are forward, event/backward is backward, and
 * what event/train_batch holds besides is the optimizer, but for callbacks and algorithms: these
 * are other, wherever they are. At each instant the span that began last decides.
 *
 * The parts of a line are finer than what makes it so: within forward, backward and the
 * optimizer they are the innermost operators.
 *
 * A file of several workers has no budget: their phases overlap, and none is the step's.
 */
#include "timeline/build.h"
#include "timeline/flatten.h"
#include "timeline/parts.h"
#include "timeline/pieces.h"

#include "base/sort.h"

/* Work of one kind on other threads. */
struct elsewhere {
	struct sort_pair *rows; /* by start */
	size_t count, capacity;
	struct interval_set when;
};

struct host_walk {
	struct tscope_timeline *timeline;
	const struct landmarks *marks;
	struct part_collector parts;
	/* When the main thread is in each line, in any of them, and in an operator. */
	struct interval_set lines[HOST_OTHER], named, operators;
	struct elsewhere backward, comm;
	struct interval_set spare; /* room for the next result of take_off() */
};

/* Labels by which a row has a line of its own; that of a callback is HOST_OTHER. */
enum {
	LINE_LABELS = LABEL_DATA | LABEL_COMM | LABEL_OPTIMIZER | LABEL_BACKWARD | LABEL_FORWARD |
		      LABEL_TRAIN_BATCH | LABEL_CALLBACK,
};

static enum host_line line_of_labels(unsigned labels)
{
	if (labels & LABEL_CALLBACK)
		return HOST_OTHER;
	if (labels & LABEL_DATA)
		return HOST_DATA;
	if (labels & LABEL_COMM)
		return HOST_COMM;
	if (labels & LABEL_OPTIMIZER)
		return HOST_OPTIMIZER;
	if (labels & LABEL_BACKWARD)
		return HOST_BACKWARD;
	if (labels & LABEL_FORWARD)
		return HOST_FORWARD;
	return labels & LABEL_TRAIN_BATCH ? HOST_OPTIMIZER : HOST_OTHER;
}

static struct arena *scratch_of(const struct host_walk *walk)
{
	return &walk->timeline->scratch;
}

/* label: enum host_line. */
static void take_named(void *data, struct flat_segment segment)
{
	struct host_walk *walk = data;

	if (segment.label != HOST_OTHER)
		tsi_intervals_append(&walk->lines[segment.label], segment.start_ns, segment.end_ns,
				     scratch_of(walk));
	tsi_intervals_append(&walk->named, segment.start_ns, segment.end_ns, scratch_of(walk));
}

/* The named rows of the main thread. */
static void find_main(struct host_walk *walk)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	const struct track *track = &trace->tracks[walk->timeline->main_track];
	struct flattener flat = { .arena = scratch_of(walk) };
	int64_t named_until_ns = INT64_MIN;

	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		int64_t start_ns = tsi_start_ns(&trace->spans, row),
			end_ns = tsi_span_end(trace, row);
		unsigned labels = tsi_labels_of_row(walk->marks, row);
		enum host_line line = line_of_labels(labels);
		bool is_named = (labels & LINE_LABELS) != 0;
		bool is_operator = tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_CPU_OP;

		if (is_operator)
			tsi_intervals_append(&walk->operators, start_ns, end_ns, scratch_of(walk));
		if (is_named && end_ns > named_until_ns)
			named_until_ns = end_ns;
		if (!is_named && is_operator && start_ns >= named_until_ns)
			line = HOST_FORWARD;
		if (is_named || line != HOST_OTHER)
			tsi_flatten_add(&flat, (struct flat_segment){ start_ns, end_ns, line },
					take_named, walk);
	}
	tsi_flatten_end(&flat, take_named, walk);
}

/* The rows of other threads that have the label, not sorted. */
static void list_elsewhere(const struct host_walk *walk, unsigned label, struct elsewhere *out)
{
	const struct tscope_trace *trace = walk->timeline->trace;

	for (uint32_t t = 0; t < trace->host_track_count; t++) {
		const struct track *track = &trace->tracks[t];
		for (uint32_t row = track->first; row < track->first + track->count; row++) {
			if (t == walk->timeline->main_track ||
			    !(tsi_labels_of_row(walk->marks, row) & label))
				continue;
			struct sort_pair *item =
				tsi_arena_push(scratch_of(walk), &out->rows, &out->count,
					       &out->capacity, sizeof(*item));
			if (!item)
				return;
			item->key = tsi_sort_key_of_int64(tsi_start_ns(&trace->spans, row));
			item->value = row;
		}
	}
}

static void find_elsewhere(const struct host_walk *walk, unsigned label, struct elsewhere *out)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	struct arena arena = { 0 }, *scratch = scratch_of(walk);

	list_elsewhere(walk, label, out);
	struct sort_pair *room = tsi_arena_new(&arena, out->count, sizeof(*room));
	if (room)
		tsi_sort_pairs(out->rows, room, out->count);
	scratch->has_failed |= arena.has_failed;
	tsi_arena_deinit(&arena);
	for (size_t i = 0; i < out->count; i++) {
		uint32_t row = (uint32_t)out->rows[i].value;
		tsi_intervals_append(&out->when, tsi_start_ns(&trace->spans, row),
				     tsi_span_end(trace, row), scratch);
	}
}

/* Leaves of a set what is not in the other. */
static void take_off(struct host_walk *walk, struct interval_set *set,
		     const struct interval_set *less)
{
	struct interval_set old = *set;

	tsi_intervals_subtract(&walk->spare, set, less, scratch_of(walk));
	*set = walk->spare;
	walk->spare = old;
}

/*
 * As on a device, communication is exposed where nothing computes: neither the
 * main thread, in an operator, nor backward threads. That counts in a phase and
 * outside of all, for programs wait for collectives between phases, too; only a
 * wait for data, which has a name, comes first.
 */
static void find_exposed(struct host_walk *walk)
{
	const struct interval_set *const hiding[] = {
		&walk->operators, &walk->backward.when, &walk->lines[HOST_DATA],
		&walk->lines[HOST_COMM], /* has the time already */
	};

	for (size_t i = 0; i < TSI_COUNT_OF(hiding); i++)
		take_off(walk, &walk->comm.when, hiding[i]);
}

/* Gives each instant of the lines to one of what may claim it. */
static void settle_lines(struct host_walk *walk)
{
	find_exposed(walk);
	for (enum host_line line = 0; line < HOST_OTHER; line++)
		take_off(walk, &walk->lines[line], &walk->comm.when);
	take_off(walk, &walk->backward.when, &walk->named);
}

struct line_walk { /* over the time of one line, in order */
	enum host_line line;
	struct interval_cursor cursor;
	struct step_cutter cutter;
};

struct main_lines {
	struct host_walk *walk;
	struct line_walk walks[HOST_OTHER];
	unsigned last; /* that got something: mostly the next gets it, too */
};

static struct line_walk line_walk_of(const struct host_walk *walk, enum host_line line,
				     const struct interval_set *set)
{
	return (struct line_walk){
		.line = line,
		.cursor.set = set,
		.cutter.timeline = walk->timeline,
	};
}

/* The line gets of the row's piece what is the line's: so much. */
static int64_t charge(struct host_walk *walk, struct line_walk *to, struct interval piece,
		      uint32_t row)
{
	struct host_budget *budgets = walk->timeline->host_budgets;
	struct interval part;
	uint32_t step;
	int64_t length_ns, taken_ns = 0;

	while (tsi_intervals_next(&to->cursor, &piece, &part)) {
		taken_ns += part.end_ns - part.start_ns;
		tsi_cut(&to->cutter, part.start_ns, part.end_ns);
		while (tsi_cut_next(&to->cutter, &step, &length_ns)) {
			budgets[step].line_ns[to->line] += length_ns;
			tsi_part_add(&walk->parts, step, to->line, row, length_ns);
		}
	}
	return taken_ns;
}

static void charge_elsewhere(struct host_walk *walk, const struct elsewhere *from,
			     enum host_line line)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	struct line_walk to = line_walk_of(walk, line, &from->when);
	int64_t claimed_until_ns = INT64_MIN;

	for (size_t i = 0; i < from->count; i++) {
		uint32_t row = (uint32_t)from->rows[i].value;
		charge(walk, &to,
		       tsi_unclaimed(&claimed_until_ns, tsi_start_ns(&trace->spans, row),
				     tsi_span_end(trace, row)),
		       row);
	}
}

/* A segment of the main thread belongs to one line, or to several in turn; label: its row. */
static void charge_segment(void *data, struct flat_segment segment)
{
	struct main_lines *lines = data;
	struct interval piece = { segment.start_ns, segment.end_ns };
	int64_t left_ns = piece.end_ns - piece.start_ns;
	unsigned line = lines->last;

	for (int tried = 0; left_ns > 0 && tried < HOST_OTHER; tried++) {
		int64_t taken_ns = charge(lines->walk, &lines->walks[line], piece, segment.label);
		if (taken_ns > 0)
			lines->last = line;
		left_ns -= taken_ns;
		line = (line + 1) % HOST_OTHER;
	}
}

/*
 * The rows of the main thread, of which the innermost has the instant. A wait for data and
 * communication are parts as a whole, whatever operators they are made of.
 */
static void charge_rows(struct main_lines *lines)
{
	const struct host_walk *walk = lines->walk;
	const struct tscope_trace *trace = walk->timeline->trace;
	const struct track *track = &trace->tracks[walk->timeline->main_track];
	struct flattener flat = { .arena = scratch_of(walk) };
	int64_t whole_until_ns = INT64_MIN;

	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		int64_t start_ns = tsi_start_ns(&trace->spans, row),
			end_ns = tsi_span_end(trace, row);
		enum host_line line = line_of_labels(tsi_labels_of_row(walk->marks, row));

		if (line == HOST_OTHER &&
		    (tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_CPU_OP ||
		     start_ns < whole_until_ns))
			continue;
		if ((line == HOST_DATA || line == HOST_COMM) && end_ns > whole_until_ns)
			whole_until_ns = end_ns;
		tsi_flatten_add(&flat, (struct flat_segment){ start_ns, end_ns, row },
				charge_segment, lines);
	}
	tsi_flatten_end(&flat, charge_segment, lines);
}

static void charge_main(struct host_walk *walk)
{
	struct main_lines lines = { .walk = walk, .last = HOST_FORWARD };

	for (enum host_line line = 0; line < HOST_OTHER; line++)
		lines.walks[line] = line_walk_of(walk, line, &walk->lines[line]);
	charge_rows(&lines);
}

static void charge_rest(struct host_walk *walk)
{
	struct tscope_timeline *timeline = walk->timeline;

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		int64_t *line_ns = timeline->host_budgets[i].line_ns;
		line_ns[HOST_OTHER] = timeline->steps[i].wall_ns;
		for (unsigned line = 0; line < HOST_OTHER; line++)
			line_ns[HOST_OTHER] -= line_ns[line];
		if (line_ns[HOST_OTHER] > 0)
			tsi_part_add(&walk->parts, i, HOST_OTHER, NO_ROW, line_ns[HOST_OTHER]);
	}
}

/* ---- pieces ---- */

static void add_pieces(struct piece_collector *pieces, const struct host_walk *walk,
		       const struct interval_set *set, enum host_line line)
{
	struct step_cutter cutter = { .timeline = walk->timeline };
	struct line_piece piece = { .line = (uint8_t)line };
	uint32_t step;
	int64_t length_ns;

	for (size_t i = 0; i < set->count; i++) {
		tsi_cut(&cutter, set->items[i].start_ns, set->items[i].end_ns);
		while (tsi_cut_next(&cutter, &step, &length_ns)) {
			piece.end_ns = cutter.start_ns;
			piece.start_ns = piece.end_ns - length_ns;
			tsi_piece_add(pieces, &piece);
		}
	}
	tsi_pieces_end_pass(pieces);
}

/* The time of the steps that no other line has. */
static void add_rest(struct piece_collector *pieces, const struct tscope_timeline *timeline)
{
	struct piece_cursor cursor = tsi_piece_cursor(pieces->to);
	struct line_piece piece = { 0 }, rest = { .line = HOST_OTHER };
	bool is_more = tsi_piece_next(&cursor, &piece);
	int64_t until_ns = INT64_MIN;

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		const struct tscope_step *step = &timeline->steps[i];
		int64_t end_ns = step->start_ns + step->wall_ns;

		if (until_ns < step->start_ns)
			until_ns = step->start_ns;
		while (until_ns < end_ns) {
			bool is_in_step = is_more && piece.start_ns < end_ns;
			rest.start_ns = until_ns;
			rest.end_ns = is_in_step ? piece.start_ns : end_ns;
			if (rest.start_ns < rest.end_ns)
				tsi_piece_add(pieces, &rest);
			until_ns = is_in_step ? piece.end_ns : end_ns;
			if (is_in_step)
				is_more = tsi_piece_next(&cursor, &piece);
		}
	}
	tsi_pieces_end_pass(pieces);
}

/* Joins a line of the main thread with what that waits for meanwhile. */
static void add_joined(struct piece_collector *pieces, struct host_walk *walk,
		       const struct elsewhere *elsewhere, enum host_line line)
{
	tsi_intervals_union(&walk->spare, &walk->lines[line], &elsewhere->when, scratch_of(walk));
	add_pieces(pieces, walk, &walk->spare, line);
}

/* The lines as settled: sets that have nothing in common. */
static void find_pieces(struct host_walk *walk)
{
	struct tscope_timeline *timeline = walk->timeline;
	struct piece_collector pieces = tsi_pieces_begin(timeline, 0);

	if (!timeline->pieces)
		return;
	add_pieces(&pieces, walk, &walk->lines[HOST_DATA], HOST_DATA);
	add_pieces(&pieces, walk, &walk->lines[HOST_FORWARD], HOST_FORWARD);
	add_pieces(&pieces, walk, &walk->lines[HOST_OPTIMIZER], HOST_OPTIMIZER);
	add_joined(&pieces, walk, &walk->backward, HOST_BACKWARD);
	add_joined(&pieces, walk, &walk->comm, HOST_COMM);
	add_rest(&pieces, timeline);
}

static bool has_comm(const struct host_walk *walk)
{
	return walk->timeline->trace->collective_count > 0 || walk->comm.count > 0 ||
	       walk->lines[HOST_COMM].count > 0;
}

static void charge_all(struct host_walk *walk)
{
	charge_elsewhere(walk, &walk->backward, HOST_BACKWARD);
	charge_elsewhere(walk, &walk->comm, HOST_COMM);
	if (walk->timeline->main_track != NO_ROW)
		charge_main(walk);
	charge_rest(walk);
}

/* Several threads that are in forward and in backward; those of autograd help one of them. */
static bool has_several_workers(struct tscope_timeline *timeline)
{
	const struct tscope_trace *trace = timeline->trace;
	unsigned *labels =
		tsi_arena_new(&timeline->scratch, trace->host_track_count, sizeof(*labels));
	uint32_t count = 0;

	if (!labels)
		return false;
	for (uint32_t i = 0; i < trace->spans.kind_count; i++) {
		const struct span_kind *kind = &trace->spans.kinds[i];
		if (kind->track < trace->host_track_count)
			labels[kind->track] |= tsi_labels_of_kind(timeline->marks, kind);
	}
	for (uint32_t i = 0; i < trace->host_track_count; i++)
		count += !trace->tracks[i].is_autograd && labels[i] & LABEL_FORWARD &&
			 labels[i] & LABEL_BACKWARD;
	return count > 1;
}

void tsi_timeline_find_host_budget(struct tscope_timeline *timeline)
{
	struct host_walk walk = { .timeline = timeline, .marks = timeline->marks };

	if (has_several_workers(timeline))
		return;
	timeline->host_budgets = tsi_arena_new(&timeline->arena, timeline->step_count,
					       sizeof(*timeline->host_budgets));
	if (!timeline->host_budgets)
		return;
	tsi_parts_begin(&walk.parts, timeline);
	if (timeline->main_track != NO_ROW)
		find_main(&walk);
	find_elsewhere(&walk, LABEL_BACKWARD, &walk.backward);
	find_elsewhere(&walk, LABEL_COMM, &walk.comm);
	tsi_pieces_init(timeline, timeline->wants_pieces && has_comm(&walk));
	settle_lines(&walk);
	find_pieces(&walk);
	charge_all(&walk);
}
