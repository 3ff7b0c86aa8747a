/* SPDX-License-Identifier: MIT */
/*
 * Puts a track in order whose rows came in a few runs that are in order each: profilers write
 * operators first, then annotations, then calls. The last two runs are merged, then that with the
 * run before it, and so on. Only what is merged into the run before stands elsewhere meanwhile.
 */
#include "model/trace/build.h"
#include "model/trace/moving_rows.h"

enum { MAX_RUNS = 8 };

struct merger {
	struct builder *builder;
	const struct tscope_trace *trace;
	struct moving_rows rows, right; /* the trace's; a copy of the run behind */
	/*
	 * What stands beside rows of a class keeps its order where only one of the two runs has
	 * such rows, as with operators and then calls: then the columns are all that moves.
	 */
	bool moves_sides;
};

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

/* Copies the rows between two places: returns how many, and how much of what stands beside them. */
static struct row_cursor copy_right(struct merger *m, const struct row_cursor *begin,
				    const struct row_cursor *end)
{
	struct row_cursor count = { .row = end->row - begin->row };
	if (m->moves_sides) {
		count.op = end->op - begin->op;
		count.call = end->call - begin->call;
		count.event = end->event - begin->event;
	}
	if (!tsi_moving_rows_init(&m->right, &count)) {
		tsi_builder_fail_nomem(m->builder);
		return (struct row_cursor){ 0 };
	}
	struct row_place to = { &m->right, count }, from = { &m->rows, *end };
	while (to.at.row > 0)
		move_row(m, &to, &from, tsi_time_at(&m->rows.starts, from.at.row - 1));
	return count;
}

/* The start of the row before a place; before all where the rows begin there. */
static inline int64_t start_before(const struct row_place *place, uint32_t begin)
{
	return place->at.row > begin ? tsi_time_at(&place->rows->starts, place->at.row - 1)
				     : INT64_MIN;
}

/* Merges the rows from `begin` to `middle` with those behind, up to `end`. */
static void merge(struct merger *m, const struct row_cursor *begin, const struct row_cursor *middle,
		  const struct row_cursor *end)
{
	struct row_place left = { &m->rows, *middle }, right = { .rows = &m->right };
	struct row_place to = { &m->rows, *end };
	m->moves_sides = has_mixed_sides(begin, middle, end);
	right.at = copy_right(m, middle, end);
	int64_t left_ns = start_before(&left, begin->row);
	while (right.at.row > 0) {
		int64_t right_ns = start_before(&right, 0);
		/* Between the rows of the left and those in place all are free: is a block? */
		if (to.at.row % TIME_BLOCK == 0 && to.at.row - left.at.row >= TIME_BLOCK)
			tsi_time_forget_block(&m->rows.starts, to.at.row - 1);
		if (left_ns > right_ns ||
		    (left_ns == right_ns && is_left_behind(m, &left, &right))) {
			move_row(m, &to, &left, left_ns);
			left_ns = start_before(&left, begin->row);
		} else {
			move_row(m, &to, &right, right_ns);
		}
	}
	m->rows.starts.has_failed |= m->right.starts.has_failed;
	m->rows.durations.has_failed |= m->right.durations.has_failed;
	tsi_moving_rows_deinit(&m->right);
}

/* Finds where the runs of a track begin. Returns their number, MAX_RUNS + 1 if too many. */
static uint32_t find_runs(const struct tscope_trace *trace, const struct track *track,
			  uint32_t begins[MAX_RUNS])
{
	const struct span_times times = tsi_span_times(&trace->spans);
	uint32_t count = 1, end = track->first + track->count;
	int64_t before_ns = INT64_MIN;
	begins[0] = track->first;
	for (uint32_t row = track->first; row < end; row++) {
		int64_t start_ns = tsi_start_of(times, row);
		bool is_later = start_ns > before_ns;
		before_ns = start_ns;
		if (tsi_likely(is_later) || !tsi_is_row_behind(trace, row - 1, row))
			continue;
		if (count == MAX_RUNS)
			return MAX_RUNS + 1;
		begins[count++] = row;
	}
	return count;
}

enum track_order tsi_merge_runs(struct builder *b, const struct track *track,
				const struct row_cursor *borders)
{
	struct tscope_trace *trace = b->trace;
	uint32_t begins[MAX_RUNS], count = find_runs(trace, track, begins);
	if (count == 1)
		return TRACK_WAS_IN_ORDER;
	if (count > MAX_RUNS)
		return TRACK_IS_IN_DISORDER;
	struct merger m = { .builder = b, .trace = trace };
	struct row_cursor places[MAX_RUNS + 1];
	places[0] = borders[0];
	places[count] = borders[1];
	for (uint32_t i = count; i-- > 1;)
		places[i] = go_back(&trace->spans, places[i + 1], begins[i]);
	tsi_take_rows(&m.rows, trace);
	for (uint32_t i = count; i-- > 1;)
		merge(&m, &places[i - 1], &places[i], &places[count]);
	tsi_give_rows(&m.rows, trace);
	return TRACK_IS_IN_ORDER;
}
