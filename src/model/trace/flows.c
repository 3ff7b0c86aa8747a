/* SPDX-License-Identifier: MIT */
/*
 * Flow events: an arrow from a call or an operator to the device work that it launched. Nearly all
 * traces have correlations, which say the same; flows are kept where some event lacks one.
 */
#include "model/trace/flows.h"
#include "base/bisect.h"
#include "base/column.h"
#include "decode/json.h"
#include "model/trace/build.h"
#include "model/trace/order.h"

/* One end of an arrow. */
struct flow {
	uint64_t id;
	int64_t ts_ns;
	uint32_t pid, tid; /* ids of texts */
};

bool tsi_is_launch_flow(const struct raw_event *event)
{
	if (event->phase != 's' && event->phase != 'f')
		return false;
	return tsi_str_is(event->cat, "ac2g") || tsi_str_is(event->cat, "async_npu") ||
	       tsi_str_is(event->cat, "async_cpu_to_gpu") ||
	       tsi_str_is(event->cat, "async"); /* PyTorch up to 1.12 */
}

/* A number, or another text's hash (FNV-1a). */
static uint64_t id_of(struct str text)
{
	uint64_t id;
	if (tsi_json_to_uint64(text, &id))
		return id;
	id = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < text.length; i++)
		id = (id ^ (unsigned char)text.data[i]) * UINT64_C(0x100000001b3);
	return id;
}

/* Rows that show whether flows are needed may come behind the first flows. */
static bool keeps_flows(const struct builder *b)
{
	enum { FIRST_FLOWS = 1024 };
	return b->lacks_correlation || !b->has_correlation ||
	       b->flow_starts.count + b->flow_ends.count < FIRST_FLOWS;
}

void tsi_add_flow(struct builder *b, const struct raw_event *event)
{
	struct flow_list *list = event->phase == 's' ? &b->flow_starts : &b->flow_ends;
	b->skips_flows = !keeps_flows(b);
	if (b->skips_flows || !tsi_is_launch_flow(event) || !tsi_is_good_time(event) ||
	    list->count == NO_ROW - 1 ||
	    !tsi_builder_reserve(b, &list->items, &list->capacity, list->count + 1,
				 sizeof(*list->items)))
		return;
	struct flow *flow = &list->items[list->count++];
	*flow = (struct flow){ .id = id_of(event->id), .ts_ns = event->ts_ns };
	tsi_find_thread_ids(b, event, &flow->pid, &flow->tid);
}

void tsi_free_flows(struct builder *b)
{
	tsi_column_free(b->flow_starts.items);
	tsi_column_free(b->flow_ends.items);
	b->flow_starts = b->flow_ends = (struct flow_list){ 0 };
}

/* ---- following them ------------------------------------------------------------------ */

static bool is_behind(const void *context, uint32_t a, uint32_t b)
{
	const struct flow *flows = context;
	if (flows[a].id != flows[b].id)
		return flows[a].id > flows[b].id;
	return flows[a].ts_ns > flows[b].ts_ns;
}

/* Tracks by the pid and tid that their events have. */
static void learn_tracks(struct flow_walk *w)
{
	const struct tscope_trace *trace = w->builder->trace;
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct track *track = &trace->tracks[i];
		tsi_builder_put(w->builder, track->is_device ? &w->streams : &w->threads,
				tsi_key_of_pair(track->pid, track->tid), i);
	}
}

void tsi_flow_walk_init(struct flow_walk *w, struct builder *b)
{
	const struct flow_list *starts = &b->flow_starts;
	*w = (struct flow_walk){ .builder = b };
	if (!b->flow_ends.count)
		return;
	w->starts = tsi_arena_new(&b->scratch, starts->count, sizeof(*w->starts));
	if (!w->starts)
		return;
	for (uint32_t i = 0; i < starts->count; i++)
		w->starts[i] = i;
	tsi_sort_list(b, w->starts, (uint32_t)starts->count, is_behind, starts->items);
	learn_tracks(w);
}

void tsi_flow_walk_deinit(struct flow_walk *w)
{
	tsi_key_map_deinit(&w->threads);
	tsi_key_map_deinit(&w->streams);
}

/* The id's latest start that is no later than the end; else its first; else NULL. */
static const struct flow *find_start(const struct flow_walk *w, const struct flow *end)
{
	const struct flow_list *starts = &w->builder->flow_starts;
	uint32_t low = 0, high = (uint32_t)starts->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct flow *start = &starts->items[w->starts[middle]];
		if (start->id < end->id || (start->id == end->id && start->ts_ns <= end->ts_ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0 && starts->items[w->starts[low - 1]].id == end->id)
		return &starts->items[w->starts[low - 1]];
	if (low < starts->count && starts->items[w->starts[low]].id == end->id)
		return &starts->items[w->starts[low]];
	return NULL;
}

/* The first row of a track that starts at ts or later, or the one behind its last. */
static uint32_t first_row_from(const struct tscope_trace *trace, const struct track *track,
			       int64_t ts_ns)
{
	uint32_t low = track->first, high = track->first + track->count;
	TSI_BISECT(low, high, tsi_start_ns(&trace->spans, middle) < ts_ns);
	return low;
}

static bool is_unbound(const struct device_event *event)
{
	return event->call == NO_ROW && event->op >= WITHOUT_CORRELATION;
}

/* Device work that starts where the arrow ends, and has no launch yet; or NO_ROW. */
static uint32_t find_event(const struct flow_walk *w, const struct flow *end)
{
	const struct tscope_trace *trace = w->builder->trace;
	uint32_t track = tsi_key_map_find(&w->streams, tsi_key_of_pair(end->pid, end->tid));
	if (track == NO_ROW)
		return NO_ROW;
	uint32_t row = first_row_from(trace, &trace->tracks[track], end->ts_ns);
	uint32_t behind = trace->tracks[track].first + trace->tracks[track].count;
	for (; row < behind && tsi_start_ns(&trace->spans, row) == end->ts_ns; row++)
		if (is_unbound(tsi_device_event(trace, row)))
			return row;
	return NO_ROW;
}

static bool can_launch(const struct tscope_trace *trace, uint32_t row)
{
	uint8_t span_class = tsi_span_class(&trace->spans, row);
	return span_class == TSCOPE_SPAN_RUNTIME || span_class == TSCOPE_SPAN_CPU_OP;
}

/*
 * The call, or the innermost operator, that starts where the arrow does; where none does, one
 * shortly before that is still open; or NO_ROW.
 */
static uint32_t find_source(const struct flow_walk *w, const struct flow *start)
{
	enum { NEAR_ROWS = 64 };
	const struct tscope_trace *trace = w->builder->trace;
	uint32_t track = tsi_key_map_find(&w->threads, tsi_key_of_pair(start->pid, start->tid));
	uint32_t found = NO_ROW;
	if (track == NO_ROW)
		return NO_ROW;
	uint32_t first = trace->tracks[track].first, behind = first + trace->tracks[track].count;
	uint32_t at = first_row_from(trace, &trace->tracks[track], start->ts_ns);
	for (uint32_t row = at; row < behind && tsi_start_ns(&trace->spans, row) == start->ts_ns;
	     row++) {
		if (can_launch(trace, row))
			found = row;
		if (tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_RUNTIME)
			return row;
	}
	for (uint32_t i = 0; found == NO_ROW && i < NEAR_ROWS && at > first; i++) {
		at--;
		if (can_launch(trace, at) && tsi_span_end(trace, at) >= start->ts_ns)
			found = at;
	}
	return found;
}

bool tsi_flow_walk_next(struct flow_walk *w, struct followed_flow *followed)
{
	const struct flow_list *ends = &w->builder->flow_ends;
	while (w->builder->status == TSCOPE_OK && w->starts && w->next < ends->count) {
		const struct flow *end = &ends->items[w->next++];
		uint32_t event = find_event(w, end);
		if (event == NO_ROW)
			continue;
		const struct flow *start = find_start(w, end);
		uint32_t source = start ? find_source(w, start) : NO_ROW;
		*followed = (struct followed_flow){ event, source, end->id };
		return true;
	}
	return false;
}
