/* SPDX-License-Identifier: MIT */
/* From the facts of a side to its items and their figures. */
#include "diff/work_side.h"

#include <math.h>
#include <string.h>

#include "analyze/ops/kernel_kind.h"
#include "base/sum.h"
#include "diff/work_names.h"

/* A count or time; what is absent or absurd is 0. */
static int64_t figure_at(const struct work_side *side, size_t row, const char *column)
{
	struct tscope_value value =
		tsi_table_cell(&side->rows, row, tsi_table_column(&side->rows, column));

	return value.kind == TSCOPE_VALUE_INT && value.integer > 0 ? value.integer : 0;
}

static bool has_counted_figures(const struct work_side *side)
{
	size_t column = tsi_table_column(&side->rows, "counted");

	for (size_t row = 0; row < side->rows.row_count; row++)
		if (tsi_table_cell(&side->rows, row, column).kind == TSCOPE_VALUE_INT)
			return true;
	return side->rows.row_count == 0;
}

/* Whether rows are missing from the table. */
static bool is_table_cut(const struct work_side *side, int64_t all_count)
{
	int64_t count = 0;

	for (size_t row = 0; row < side->rows.row_count; row++)
		tsi_sum(&count, figure_at(side, row, "count"));
	return count < all_count;
}

struct work_side tsi_work_side_begin(const struct tscope_analysis *analysis,
				     const struct work_source *source)
{
	struct work_side side = {
		.analysis = analysis,
		.rows = tsi_lookup_table(analysis, source->table),
	};
	struct tscope_value count = tsi_lookup(analysis, source->count);
	int64_t counted_steps = tsi_lookup_int(analysis, "steps.counted_count");

	side.has_counted = has_counted_figures(&side);
	side.is_exact = side.has_counted && counted_steps > 0;
	side.steps = side.is_exact ? counted_steps : tsi_lookup_int(analysis, "steps.count");
	side.is_cut = count.kind == TSCOPE_VALUE_INT && is_table_cut(&side, count.integer);
	side.is_known = count.kind == TSCOPE_VALUE_INT && side.steps > 0;
	return side;
}

static bool is_communication(const struct work_side *side, size_t row)
{
	struct tscope_value kind =
		tsi_table_cell(&side->rows, row, tsi_table_column(&side->rows, "kind"));

	return kind.kind == TSCOPE_VALUE_TEXT &&
	       strcmp(kind.text, tsi_kernel_kind_name(KERNEL_COMM)) == 0;
}

static struct work_figures read_figures(const struct work_side *side, size_t row,
					const struct work_source *source)
{
	struct work_figures figures = {
		.deviation_ns = NAN,
		.communicates = source->are_kernels && is_communication(side, row),
	};

	if (source->are_kernels) {
		struct tscope_value kind = tsi_table_find(&side->rows, row, "kind");
		figures.kind = kind.kind == TSCOPE_VALUE_TEXT ? kind.text : NULL;
	}
	if (source->all_device_ns) {
		figures.self_ns = figure_at(side, row, "self_ns");
		figures.call_ns = figure_at(side, row, "call_ns");
	}
	if (!side->has_counted) {
		figures.calls = figure_at(side, row, "count");
		figures.ns = figure_at(side, row, source->all_ns);
		if (source->all_device_ns)
			figures.device_ns = figure_at(side, row, source->all_device_ns);
		return figures;
	}
	size_t deviation = tsi_table_column(&side->rows, "step_deviation_ns");

	figures.calls = figure_at(side, row, "counted");
	figures.ns = figure_at(side, row, "counted_ns");
	if (source->all_device_ns)
		figures.device_ns = figure_at(side, row, "counted_device_ns");
	if (source->are_kernels)
		figures.unlinked = figure_at(side, row, "counted_unlinked");
	tsi_diff_number(tsi_table_cell(&side->rows, row, deviation), &figures.deviation_ns);
	return figures;
}

void tsi_work_side_read(struct work_side *side, const struct work_source *source,
			struct arena *arena)
{
	size_t name_column = tsi_table_column(&side->rows, "name"), rows = side->rows.row_count;

	side->items = tsi_arena_new(arena, rows, sizeof(*side->items));
	side->launchers = tsi_arena_new(arena, rows, sizeof(*side->launchers));
	side->figures = tsi_arena_new(arena, rows, sizeof(*side->figures));
	for (size_t row = 0; side->figures && row < rows; row++) {
		struct tscope_value name = tsi_table_cell(&side->rows, row, name_column);
		if (name.kind != TSCOPE_VALUE_TEXT)
			continue;
		side->items[side->count].name = name.text;
		struct work_figures figures = read_figures(side, row, source);
		side->has_launches |= figures.unlinked < figures.calls;
		side->figures[side->count++] = figures;
	}
}

void tsi_work_sides_name_launchers(struct work_side sides[TSCOPE_SIDE_COUNT],
				   struct fact_sheet *out)
{
	const struct tscope_analysis *const analyses[] = { sides[TSCOPE_SIDE_A].analysis,
							   sides[TSCOPE_SIDE_B].analysis };
	struct launcher_names names[TSCOPE_SIDE_COUNT];
	/* If rows are missing, an apparent replacement may be an old kernel. */
	bool is_matched_by = !sides[TSCOPE_SIDE_A].is_cut && !sides[TSCOPE_SIDE_B].is_cut;

	tsi_read_launchers(names, analyses, tsi_sheet_scratch(out));
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++) {
		struct work_side *side = &sides[i];
		for (size_t j = 0; j < side->count; j++) {
			side->launchers[j] = tsi_launcher_name(&names[i], side->items[j].name, out);
			if (is_matched_by)
				side->items[j].launcher = side->launchers[j];
		}
	}
}

/* Several names count as one: their deviations add up, as if all were slow in the same steps. */
struct work_figures tsi_work_side_sum(const struct work_side *side, const size_t *items,
				      size_t first, size_t count)
{
	struct work_figures sum = { 0 };

	for (size_t i = first; i < first + count; i++) {
		const struct work_figures *part = &side->figures[items[i]];
		tsi_sum(&sum.calls, part->calls);
		tsi_sum(&sum.ns, part->ns);
		tsi_sum(&sum.device_ns, part->device_ns);
		tsi_sum(&sum.unlinked, part->unlinked);
		tsi_sum(&sum.self_ns, part->self_ns);
		tsi_sum(&sum.call_ns, part->call_ns);
		sum.deviation_ns += part->deviation_ns;
		sum.communicates |= part->communicates;
	}
	return sum;
}

int64_t tsi_work_side_count(const struct work_side *side)
{
	int64_t count = 0;

	for (size_t i = 0; i < side->count; i++)
		count += side->figures[i].calls > 0;
	return count;
}
