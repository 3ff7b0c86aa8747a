/* SPDX-License-Identifier: MIT */
/*
 * Slices that come as two events. A B opens a row at its place in the file, an
 * E closes the last open one of its thread, whatever their names say. Files
 * are not sorted by time, so both are kept as marks until the last event and
 * then taken thread by thread in the order of time, those of one time in the
 * order of the file.
 *
 * Composer writes the E of every span, but B only while its schedule records: an E of its
 * names closes nothing where no B of that name is open.
 */
#include "base/sort.h"
#include "model/trace/build.h"

enum { NAME_SEARCH_DEPTH = 64 };

/* The marks in order, and those of one thread that are open: a list threaded through `below`. */
struct matcher {
	struct tscope_trace *trace;
	const struct slice_mark *marks;
	struct sort_pair *order; /* value: index of the mark */
	size_t count;
	uint32_t *below; /* by mark: the open one under it */
	uint32_t top;    /* the innermost open mark, or NO_ROW */
};

void tsi_add_mark(struct builder *b, struct slice_mark mark)
{
	if (tsi_builder_reserve(b, &b->marks, &b->mark_capacity, b->mark_count + 1,
				sizeof(*b->marks)))
		b->marks[b->mark_count++] = mark;
}

static bool is_name_open(const struct matcher *m, uint32_t name)
{
	uint32_t mark = m->top;
	for (int depth = 0; mark != NO_ROW && depth < NAME_SEARCH_DEPTH; depth++) {
		if (m->marks[mark].name == name)
			return true;
		mark = m->below[mark];
	}
	return false;
}

/*
 * An E whose name is not open, directly before the B of that name at the same
 * time: the writer sorted the two ends of an empty slice the wrong way round.
 */
static bool is_swapped(const struct matcher *m, size_t i)
{
	const struct slice_mark *end = &m->marks[m->order[i].value];
	if (i + 1 == m->count || end->row != NO_ROW || end->name == 0)
		return false;
	const struct slice_mark *next = &m->marks[m->order[i + 1].value];
	return next->row != NO_ROW && next->track == end->track && next->ts_ns == end->ts_ns &&
	       next->name == end->name && !is_name_open(m, end->name);
}

/* An E of Composer whose B was not recorded. */
static bool is_cut_begin(const struct matcher *m, const struct slice_mark *end)
{
	struct str name = tsi_intern_text(&m->trace->names, end->name);
	if (m->top != NO_ROW && m->marks[m->top].name == end->name)
		return false;
	return tsi_is_composer_name(name) && !is_name_open(m, end->name);
}

static void take_mark(struct matcher *m, uint32_t index)
{
	const struct slice_mark *mark = &m->marks[index];
	if (mark->row != NO_ROW) {
		m->below[index] = m->top;
		m->top = index;
	} else if (is_cut_begin(m, mark)) {
		m->trace->diagnostics[TSCOPE_DIAGNOSTIC_cut_begin]++;
	} else if (m->top != NO_ROW) {
		const struct slice_mark *begin = &m->marks[m->top];
		m->top = m->below[m->top];
		tsi_length_put(&m->trace->spans.durations, begin->row, mark->ts_ns - begin->ts_ns);
	} else {
		m->trace->diagnostics[TSCOPE_DIAGNOSTIC_unmatched_end]++;
	}
}

static void match_all(struct matcher *m)
{
	for (size_t i = 0; i < m->count; i++) {
		const struct slice_mark *mark = &m->marks[m->order[i].value];
		if (i > 0 && m->marks[m->order[i - 1].value].track != mark->track)
			m->top = NO_ROW; /* another thread; what is open stays open */
		if (is_swapped(m, i)) {
			uint64_t end = m->order[i].value;
			m->order[i].value = m->order[i + 1].value;
			m->order[i + 1].value = end;
		}
		take_mark(m, (uint32_t)m->order[i].value);
	}
}

/* By thread, then by time; equal ones stay in the order of the file. */
static void sort_marks(const struct slice_mark *marks, struct sort_pair *order,
		       struct sort_pair *scratch, size_t count)
{
	for (size_t i = 0; i < count; i++)
		order[i] = (struct sort_pair){ tsi_sort_key_of_int64(marks[i].ts_ns), i };
	tsi_sort_pairs(order, scratch, count);
	for (size_t i = 0; i < count; i++)
		order[i].key = marks[order[i].value].track;
	tsi_sort_pairs(order, scratch, count);
}

static void match_marks(struct builder *b)
{
	struct matcher m = {
		.trace = b->trace,
		.marks = b->marks,
		.count = b->mark_count,
		.order = tsi_arena_new(&b->scratch, b->mark_count, sizeof(*m.order)),
		.below = tsi_arena_new(&b->scratch, b->mark_count, sizeof(*m.below)),
		.top = NO_ROW,
	};
	struct sort_pair *scratch = tsi_arena_new(&b->scratch, m.count, sizeof(*scratch));
	if (!scratch)
		return;
	sort_marks(m.marks, m.order, scratch, m.count);
	match_all(&m);
}

/* Spans without an end last to the latest time in the file. */
static void close_open_rows(struct builder *b)
{
	struct spans *spans = &b->trace->spans;
	int64_t latest = INT64_MIN;
	for (uint32_t row = 0; row < spans->count; row++) {
		int64_t end = tsi_start_ns(spans, row);
		if (tsi_dur_ns(spans, row) > 0 && !tsi_class_is_device(tsi_span_class(spans, row)))
			end += tsi_dur_ns(spans, row);
		if (end > latest)
			latest = end;
	}
	for (size_t i = 0; i < b->mark_count; i++)
		if (b->marks[i].ts_ns > latest)
			latest = b->marks[i].ts_ns;
	for (uint32_t row = 0; row < spans->count; row++) {
		if (tsi_dur_ns(spans, row) != OPEN_DURATION)
			continue;
		tsi_length_put(&spans->durations, row, latest - tsi_start_ns(spans, row));
		b->trace->diagnostics[TSCOPE_DIAGNOSTIC_unmatched_begin]++;
	}
}

void tsi_match_begin_end(struct builder *b)
{
	if (b->mark_count)
		match_marks(b);
	if (b->has_open_rows)
		close_open_rows(b);
}
