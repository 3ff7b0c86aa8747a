/* SPDX-License-Identifier: MIT */
/*
 * Puts a track in order whose rows came in a few runs that are in order each: profilers write
 * operators first, then annotations, then calls. The last two runs are merged, then that with the
 * run before it, and so on. Only what is merged into the run before stands elsewhere meanwhile.
 */
#include "model/build.h"
#include "model/moving_rows.h"

enum { MAX_RUNS = 8 };

struct merger {
	struct tscope_trace *trace;
	struct moving_rows rows, right; /* the trace's; a copy of the run behind */
	struct row_cursor right_end;
};

static struct row_cursor place_of(const struct tscope_trace *trace, uint32_t row)
{
	uint32_t first_device = trace->spans.count - (uint32_t)trace->device_event_count;
	return (struct row_cursor){
		.row = row,
		.op = tsi_rank_of(&trace->spans.ops, row),
		.call = tsi_rank_of(&trace->spans.calls, row),
		.event = row > first_device ? row - first_device : 0,
	};
}

/* Does the row before `left` belong behind the one of the later run before `right`? */
static bool is_left_behind(const struct merger *m, uint32_t left, uint32_t right)
{
	const struct span_kind *kinds = m->trace->spans.kinds;
	int64_t left_ns = tsi_time_at(&m->rows.starts, left - 1);
	int64_t right_ns = tsi_time_at(&m->right.starts, right - 1);
	if (tsi_likely(left_ns != right_ns))
		return left_ns > right_ns;
	struct order_key a = {
		.start_ns = left_ns,
		.dur_ns = tsi_length_at(&m->rows.durations, left - 1),
		.is_call = kinds[m->rows.kind[left - 1]].span_class == TSCOPE_SPAN_PYTHON,
	};
	struct order_key b = {
		.start_ns = right_ns,
		.dur_ns = tsi_length_at(&m->right.durations, right - 1),
		.is_call = kinds[m->right.kind[right - 1]].span_class == TSCOPE_SPAN_PYTHON,
	};
	return tsi_is_key_behind(&a, &b, m->trace->is_viztracer);
}

/* Copies the rows from one place to another, which end at a third. */
static enum tscope_status copy_right(struct merger *m, const struct row_cursor *begin,
				     struct row_cursor end, struct tscope_error *err)
{
	struct row_cursor place = {
		.row = end.row - begin->row,
		.op = end.op - begin->op,
		.call = end.call - begin->call,
		.event = end.event - begin->event,
	};
	m->right_end = place;
	if (tsi_moving_rows_init(&m->right, &place, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	while (place.row > 0)
		if (tsi_move_row(&m->right, &place, &m->rows, &end, m->trace->spans.kinds, err) !=
		    TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	return TSCOPE_OK;
}

/* Merges the rows from `first` to `middle` with those behind, up to `end`. */
static enum tscope_status merge(struct merger *m, uint32_t first, struct row_cursor middle,
				struct row_cursor end, struct tscope_error *err)
{
	const struct span_kind *kinds = m->trace->spans.kinds;
	enum tscope_status status = copy_right(m, &middle, end, err);
	struct row_cursor left = middle, right = m->right_end;
	while (status == TSCOPE_OK && right.row > 0) {
		/* Between the rows of the left and those in place all are free: is a block? */
		if (end.row % TIME_BLOCK == 0 && end.row - left.row >= TIME_BLOCK)
			tsi_time_forget_block(&m->rows.starts, end.row - 1);
		if (left.row > first && is_left_behind(m, left.row, right.row))
			status = tsi_move_row(&m->rows, &end, &m->rows, &left, kinds, err);
		else
			status = tsi_move_row(&m->rows, &end, &m->right, &right, kinds, err);
	}
	tsi_moving_rows_deinit(&m->right);
	return status;
}

/* Where the runs of a track begin; how many they are: MAX_RUNS + 1 if too many. */
static uint32_t find_runs(const struct tscope_trace *trace, const struct track *track,
			  uint32_t begins[MAX_RUNS])
{
	uint32_t count = 1;
	int64_t before_ns = INT64_MIN;
	begins[0] = track->first;
	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		int64_t start_ns = tsi_start_ns(&trace->spans, row);
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

enum tscope_status tsi_merge_runs(struct tscope_trace *trace, const struct track *track,
				  enum track_order *order, struct tscope_error *err)
{
	uint32_t begins[MAX_RUNS], count = find_runs(trace, track, begins);
	enum tscope_status status = TSCOPE_OK;
	*order = count == 1 ? TRACK_WAS_IN_ORDER : TRACK_IS_IN_ORDER;
	if (count > MAX_RUNS)
		*order = TRACK_IS_IN_DISORDER;
	if (*order != TRACK_IS_IN_ORDER)
		return TSCOPE_OK;
	struct merger m = { .trace = trace };
	struct row_cursor end = place_of(trace, track->first + track->count), middles[MAX_RUNS];
	for (uint32_t i = 1; i < count; i++)
		middles[i] = place_of(trace, begins[i]);
	tsi_take_rows(&m.rows, trace);
	for (uint32_t i = count; status == TSCOPE_OK && i-- > 1;)
		status = merge(&m, begins[i - 1], middles[i], end, err);
	tsi_give_rows(&m.rows, trace);
	return status;
}
