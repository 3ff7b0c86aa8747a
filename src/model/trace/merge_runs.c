/* SPDX-License-Identifier: MIT */
/*
 * Puts a track in order whose rows came in runs that are in order each: profilers write operators
 * first, then annotations, calls, Python functions step by step. From the last run on, each is
 * merged with that behind it unless that is more than twice as long; then it waits until those
 * before it have grown. Only what is merged into the run before stands elsewhere meanwhile, and
 * rows behind all of that run stay where they are.
 */
#include "model/trace/build.h"
#include "model/trace/moving_rows.h"

#include <string.h>

enum {
	MIN_RUNS = 8,     /* so many are merged, however short */
	MIN_LENGTH = 32,  /* of more runs, on the average: shorter ones are sorted */
	MAX_WAITING = 34, /* each twice as long as the one before, and one more */
};

struct merger {
	struct builder *builder;
	struct tscope_trace *trace;
	struct moving_rows rows, right; /* the trace's; a copy of the run behind */
	/*
	 * Data beside rows of a class keeps its order where only one of the two runs has such rows,
	 * as with operators and then calls. False: only the columns move.
	 */
	bool moves_sides;
	uint32_t right_begin; /* the copy's first row: its blocks are those of the trace */
};

static bool has_mixed_sides(const struct row_cursor *begin, const struct row_cursor *middle,
			    const struct row_cursor *end)
{
	return (begin->op < middle->op && middle->op < end->op) ||
	       (begin->call < middle->call && middle->call < end->call) ||
	       (begin->event < middle->event && middle->event < end->event);
}

static struct order_key key_before(const struct merger *m, const struct row_place *place)
{
	const struct moving_rows *rows = place->rows;
	uint32_t row = place->at.row - 1;
	return (struct order_key){
		.start_ns = tsi_time_at(&rows->starts, row),
		.dur_ns = tsi_length_at(&rows->durations, row),
		.is_call = m->trace->spans.kinds[rows->kind[row]].span_class == TSCOPE_SPAN_PYTHON,
	};
}

/* Does the row before `left` belong behind the one of the later run before `right`? */
static bool is_left_behind(const struct merger *m, const struct row_place *left,
			   const struct row_place *right)
{
	struct order_key a = key_before(m, left), b = key_before(m, right);
	return tsi_is_key_behind(&a, &b, m->trace->is_viztracer);
}

static inline void move_row(const struct merger *m, struct row_place *to, struct row_place *from,
			    int64_t start_ns)
{
	if (m->moves_sides) {
		uint32_t kind = from->rows->kind[from->at.row - 1];
		tsi_move_side(to, from, m->trace->spans.kinds[kind].span_class);
	}
	tsi_move_columns(to, from, start_ns);
}

static void copy(void *to, const void *from, uint32_t first, uint32_t count, size_t bytes)
{
	if (count && from)
		memcpy(to, (const char *)from + first * bytes, count * bytes);
}

/* Copies the column's values that stand elsewhere. */
static void copy_far(struct time_column *to, const struct time_column *from, uint32_t first,
		     uint32_t count)
{
	for (uint32_t i = 0; from->far_count && i < count; i++)
		if (to->distances[i] == TIME_FAR)
			tsi_time_put_far(to, i, tsi_time_far(from, first + i));
}

/* Copies the rows between two places, whole blocks of times; returns where the copies end. */
static struct row_cursor copy_right(struct merger *m, const struct row_cursor *begin,
				    const struct row_cursor *end)
{
	const struct moving_rows *from = &m->rows;
	struct moving_rows *to = &m->right;
	uint32_t first = begin->row - begin->row % TIME_BLOCK;
	struct row_cursor count = { .row = end->row - first };
	if (m->moves_sides) {
		count.op = end->op - begin->op;
		count.call = end->call - begin->call;
		count.event = end->event - begin->event;
	}
	m->right_begin = 0;
	if (!tsi_moving_rows_init(to, m->trace->spill, &count, from)) {
		tsi_builder_fail_nomem(m->builder);
		return (struct row_cursor){ 0 };
	}
	m->right_begin = begin->row - first;
	copy(to->starts.bases, from->starts.bases, first / TIME_BLOCK,
	     (count.row + TIME_BLOCK - 1) / TIME_BLOCK, sizeof(*to->starts.bases));
	copy(to->starts.distances, from->starts.distances, first, count.row, sizeof(uint32_t));
	copy(to->durations.distances, from->durations.distances, first, count.row,
	     sizeof(uint32_t));
	copy(to->kind, from->kind, first, count.row, sizeof(*to->kind));
	copy_far(&to->starts, &from->starts, first, count.row);
	copy_far(&to->durations, &from->durations, first, count.row);
	copy(to->op_ids, from->op_ids, begin->op, count.op, sizeof(*to->op_ids));
	copy(to->op_sequences, from->op_sequences, begin->op, count.op, sizeof(*to->op_sequences));
	copy(to->calls, from->calls, begin->call, count.call, sizeof(*to->calls));
	copy(to->call_ids, from->call_ids, begin->call, count.call, sizeof(*to->call_ids));
	copy(to->events, from->events, begin->event, count.event, sizeof(*to->events));
	return count;
}

/* The start of the row before a place; before all where the rows begin there. */
static inline int64_t start_before(const struct row_place *place, uint32_t begin)
{
	return place->at.row > begin ? tsi_time_at(&place->rows->starts, place->at.row - 1)
				     : INT64_MIN;
}

/* Goes back over rows and what stands beside them, to the row `begin`. */
static struct row_cursor go_back(const struct spans *spans, struct row_cursor at, uint32_t begin)
{
	while (at.row > begin) {
		uint8_t span_class = tsi_span_class(spans, --at.row);
		at.op -= span_class == TSCOPE_SPAN_CPU_OP;
		at.call -= span_class == TSCOPE_SPAN_RUNTIME;
		at.event -= tsi_class_is_device(span_class);
	}
	return at;
}

/* The rows of a run, from `middle` on, that do not belong behind all of the run before end here. */
static struct row_cursor find_overlap(const struct tscope_trace *trace, uint32_t middle,
				      const struct row_cursor *end)
{
	const struct spans *spans = &trace->spans;
	uint32_t last = middle - 1;
	uint32_t row = tsi_time_seek(&spans->starts, middle, end->row, tsi_start_ns(spans, last));
	while (row < end->row && tsi_is_row_behind(trace, last, row))
		row++;
	return go_back(spans, *end, row);
}

/* Merges the rows from `begin` to `middle` with those behind, up to `until`. */
static TSI_NOINLINE void merge(struct merger *m, const struct row_cursor *begin,
			       const struct row_cursor *middle, const struct row_cursor *until)
{
	struct row_cursor end = find_overlap(m->trace, middle->row, until);
	struct row_place left = { &m->rows, *middle }, right = { .rows = &m->right };
	struct row_place to = { &m->rows, end };
	tsi_take_rows(&m->rows, m->trace);
	m->moves_sides = has_mixed_sides(begin, middle, &end);
	right.at = copy_right(m, middle, &end);
	uint32_t first = begin->row;
	int64_t left_ns = start_before(&left, first);
	int64_t right_ns = start_before(&right, m->right_begin);
	while (right.at.row > m->right_begin) {
		/* Between the rows of the left and those in place all are free: is a block? */
		if (to.at.row % TIME_BLOCK == 0 && to.at.row - left.at.row >= TIME_BLOCK)
			tsi_time_forget_block(&m->rows.starts, to.at.row - 1);
		if (left_ns > right_ns ||
		    (left_ns == right_ns && is_left_behind(m, &left, &right))) {
			move_row(m, &to, &left, left_ns);
			left_ns = start_before(&left, first);
		} else {
			move_row(m, &to, &right, right_ns);
			right_ns = start_before(&right, m->right_begin);
		}
	}
	m->rows.starts.has_failed |= m->right.starts.has_failed;
	m->rows.durations.has_failed |= m->right.durations.has_failed;
	tsi_moving_rows_deinit(&m->right);
	tsi_give_rows(&m->rows, m->trace);
}

/* Counts the runs of a track; *second and *last get the rows where these begin. */
static uint32_t count_runs(const struct tscope_trace *trace, const struct track *track,
			   uint32_t *second, uint32_t *last)
{
	const struct span_times times = tsi_span_times(&trace->spans);
	uint32_t count = 1, end = track->first + track->count;
	int64_t before_ns = INT64_MIN;
	for (uint32_t row = track->first; row < end; row++) {
		int64_t start_ns = tsi_start_of(times, row);
		bool is_later = start_ns > before_ns;
		before_ns = start_ns;
		if (tsi_likely(is_later) || !tsi_is_row_behind(trace, row - 1, row))
			continue;
		*last = row;
		if (++count == 2)
			*second = row;
	}
	return count;
}

/* Where the run begins that ends at the row: at `second`, or later. */
static uint32_t find_begin(const struct tscope_trace *trace, uint32_t row, uint32_t second)
{
	const struct span_times times = tsi_span_times(&trace->spans);
	int64_t start_ns = tsi_start_of(times, --row);
	while (row > second) {
		int64_t before_ns = tsi_start_of(times, row - 1);
		if (tsi_unlikely(before_ns >= start_ns) &&
		    (before_ns > start_ns || tsi_is_row_behind(trace, row - 1, row)))
			break;
		start_ns = before_ns;
		row--;
	}
	return row;
}

/*
 * Is the run behind that at the place at most twice as long? The first run, often by far the
 * longest, comes last.
 */
static bool is_its_turn(const struct row_cursor *place, uint32_t second)
{
	return place->row <= second ||
	       place[-2].row - place[-1].row <= 2 * (uint64_t)(place[-1].row - place->row);
}

enum track_order tsi_merge_runs(struct builder *b, const struct track *track,
				const struct row_cursor *borders)
{
	struct tscope_trace *trace = b->trace;
	uint32_t second = 0, last = 0, count = count_runs(trace, track, &second, &last);
	if (count == 1)
		return TRACK_WAS_IN_ORDER;
	if (count > MIN_RUNS && track->count / count < MIN_LENGTH)
		return TRACK_IS_IN_DISORDER;
	struct merger m = { .builder = b, .trace = trace };
	/* Where the runs begin that wait, the last one first, and before them where all end. */
	struct row_cursor places[MAX_WAITING + 1] = { borders[1] }, *at = places;
	for (uint32_t begin = last; at->row > track->first && b->status == TSCOPE_OK;) {
		at[1] = begin == track->first ? borders[0] : go_back(&trace->spans, *at, begin);
		at++;
		begin = begin > second ? find_begin(trace, begin, second) : track->first;
		while (at - places >= 2 && is_its_turn(at, second)) {
			merge(&m, at, at - 1, at - 2);
			at--;
			*at = at[1];
		}
	}
	return TRACK_IS_IN_ORDER;
}
