/* SPDX-License-Identifier: MIT */
#include "base/sort.h"
#include "timeline/host_state.h"

static uint8_t cause_of_label(const struct tscope_trace *trace, unsigned label, uint32_t row)
{
	if (label == LABEL_PEER)
		return IDLE_PEER;
	return tsi_str_find(tsi_span_name(trace, row), TSI_STR("Lazy")) >= 0 ? IDLE_STARTUP
									     : IDLE_PROFILER;
}

/* Where they overlap, the one that started first has the time. */
static void add_aside(struct asides *asides, const struct tscope_trace *trace, uint32_t row,
		      uint8_t cause)
{
	struct aside *aside = &asides->items[asides->count];
	int64_t until_ns = asides->count ? aside[-1].end_ns : INT64_MIN;

	*aside = (struct aside){ tsi_start_ns(&trace->spans, row), tsi_span_end(trace, row), row,
				 cause };
	if (aside->start_ns < until_ns)
		aside->start_ns = until_ns;
	asides->count += aside->end_ns > aside->start_ns;
}

struct asides tsi_find_asides(const struct host_state *state, unsigned label)
{
	const struct landmarks *marks = state->marks;
	struct asides asides = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < marks->count; i++)
		count += (marks->items[i].labels & label) != 0;
	struct sort_pair *pairs = tsi_arena_new(state->arena, 2 * count, sizeof(*pairs));
	asides.items = tsi_arena_new(state->arena, count, sizeof(*asides.items));
	if (!pairs || !asides.items || !count)
		return asides;
	count = 0;
	for (size_t i = 0; i < marks->count; i++)
		if (marks->items[i].labels & label) {
			uint32_t row = marks->items[i].row;
			int64_t start_ns = tsi_start_ns(&marks->trace->spans, row);
			pairs[count++] = (struct sort_pair){ tsi_sort_key_of_int64(start_ns), row };
		}
	tsi_sort_pairs(pairs, pairs + count, count);
	for (size_t i = 0; i < count; i++) {
		uint32_t row = (uint32_t)pairs[i].value;
		add_aside(&asides, marks->trace, row, cause_of_label(marks->trace, label, row));
	}
	return asides;
}
