/* SPDX-License-Identifier: MIT */
/* From the facts of a side to its items and their figures. */
#include "diff/work_side.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/ops/kernel_kind.h"
#include "base/bisect.h"
#include "base/sum.h"
#include "diff/work_names.h"

/* A count or time; what is absent or absurd is 0. */
static int64_t figure_at(const struct work_side *side, size_t row, const char *column)
{
	struct tscope_value value =
		tsi_table_cell(&side->rows, row, tsi_table_column(&side->rows, column));

	return value.kind == TSCOPE_VALUE_INT && value.integer > 0 ? value.integer : 0;
}

static bool has_counted_figures(const struct work_side *side, const struct work_source *source)
{
	size_t column = tsi_table_column(&side->rows, source->calls);

	for (size_t row = 0; row < side->rows.row_count; row++)
		if (tsi_table_cell(&side->rows, row, column).kind == TSCOPE_VALUE_INT)
			return true;
	return side->rows.row_count == 0;
}

/* Whether rows are missing from the table. */
static bool is_table_cut(const struct work_side *side, const char *calls, int64_t all_count)
{
	int64_t count = 0;

	for (size_t row = 0; row < side->rows.row_count; row++)
		tsi_sum(&count, figure_at(side, row, calls));
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

	side.has_counted = has_counted_figures(&side, source);
	side.is_exact = side.has_counted && counted_steps > 0;
	side.steps = side.is_exact ? counted_steps : tsi_lookup_int(analysis, "steps.count");
	side.is_cut = count.kind == TSCOPE_VALUE_INT &&
		      is_table_cut(&side, source->all_calls, count.integer);
	side.is_known = count.kind == TSCOPE_VALUE_INT && side.steps > 0;
	return side;
}

/* ---- kinds ---- */

/* Kernels of one name launched by an operator. */
struct launched_work {
	const char *operator, * kernel;
	int64_t ns;
};

static int by_operator(const void *left, const void *right)
{
	const struct launched_work *a = left, *b = right;
	int order = strcmp(a->operator, b->operator);

	if (order)
		return order;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return strcmp(a->kernel, b->kernel);
}

struct launched_works {
	struct launched_work *works; /* by operator, what took most time first */
	size_t count;
};

static struct launched_works list_launched(const struct tscope_analysis *analysis,
					   struct arena *arena)
{
	struct table_view rows = tsi_lookup_table(analysis, "kernels.by_launcher");
	struct launched_works all = {
		.works = tsi_arena_new(arena, rows.row_count, sizeof(*all.works)),
	};

	for (size_t row = 0; all.works && row < rows.row_count; row++) {
		struct tscope_value operator= tsi_table_find(&rows, row, "operator");
		struct tscope_value kernel = tsi_table_find(&rows, row, "name");
		struct tscope_value ns = tsi_table_find(&rows, row, "counted_ns");
		if (operator.kind == TSCOPE_VALUE_TEXT && kernel.kind == TSCOPE_VALUE_TEXT &&
		    ns.kind == TSCOPE_VALUE_INT)
			all.works[all.count++] =
				(struct launched_work){ operator.text, kernel.text, ns.integer };
	}
	if (all.count)
		qsort(all.works, all.count, sizeof(*all.works), by_operator);
	return all;
}

/* Calls of collectives, which launch their kernels in a thread of another library. */
static bool is_comm_operator(struct str name)
{
	return tsi_str_starts(name, "c10d::") || tsi_str_starts(name, "_c10d_functional") ||
	       tsi_str_starts(name, "nccl:") || tsi_str_is(name, "record_param_comms");
}

/* By its name, else by the kernels that it launches most of its time. */
static enum kernel_kind kind_of_operator(const char *name, const struct launched_works *launched)
{
	enum kernel_kind kind = tsi_kernel_kind_of_op(tsi_str_of(name));
	size_t begin = 0, end = launched->count;

	if (is_comm_operator(tsi_str_of(name)))
		return KERNEL_COMM;
	TSI_BISECT(begin, end, strcmp(launched->works[middle].operator, name) < 0);
	if (kind != KERNEL_OTHER || begin == launched->count ||
	    strcmp(launched->works[begin].operator, name) != 0)
		return kind;
	return tsi_kernel_kind_of_name(tsi_str_of(launched->works[begin].kernel));
}

static const char *kind_at(const struct work_side *side, size_t row, const char *name,
			   const struct work_source *source, const struct launched_works *launched)
{
	struct tscope_value kind;

	if (source->are_modules)
		return NULL;
	if (!source->are_kernels)
		return tsi_kernel_kind_name(kind_of_operator(name, launched));
	kind = tsi_table_find(&side->rows, row, "kind");
	return kind.kind == TSCOPE_VALUE_TEXT ? kind.text : NULL;
}

/* ---- figures ---- */

static double deviation_at(const struct work_side *side, size_t row, const char *column)
{
	double deviation_ns = NAN;

	if (column)
		(void)tsi_diff_number(tsi_table_find(&side->rows, row, column), &deviation_ns);
	return deviation_ns;
}

static struct work_figures read_figures(const struct work_side *side, size_t row,
					const struct work_source *source)
{
	struct work_figures figures = { .deviation_ns = NAN, .device_deviation_ns = NAN };

	if (source->all_device_ns) {
		figures.self_ns = figure_at(side, row, "self_ns");
		figures.call_ns = figure_at(side, row, "call_ns");
	}
	if (!side->has_counted) {
		figures.calls = figure_at(side, row, source->all_calls);
		figures.ns = figure_at(side, row, source->all_ns);
		if (source->all_device_ns)
			figures.device_ns = figure_at(side, row, source->all_device_ns);
		return figures;
	}
	figures.calls = figure_at(side, row, source->calls);
	figures.ns = figure_at(side, row, source->ns);
	figures.deviation_ns = deviation_at(side, row, source->deviation_ns);
	if (source->device_ns) {
		figures.device_ns = figure_at(side, row, source->device_ns);
		figures.device_deviation_ns = deviation_at(side, row, source->device_deviation_ns);
	}
	if (source->are_kernels)
		figures.unlinked = figure_at(side, row, "counted_unlinked");
	return figures;
}

void tsi_work_side_read(struct work_side *side, const struct work_source *source,
			struct arena *arena)
{
	size_t name_column = tsi_table_column(&side->rows, "name"), rows = side->rows.row_count;
	struct launched_works launched = { 0 };

	if (source->device_ns && !source->are_modules)
		launched = list_launched(side->analysis, arena);
	side->items = tsi_arena_new(arena, rows, sizeof(*side->items));
	side->launchers = tsi_arena_new(arena, rows, sizeof(*side->launchers));
	side->figures = tsi_arena_new(arena, rows, sizeof(*side->figures));
	for (size_t row = 0; side->figures && row < rows; row++) {
		struct tscope_value name = tsi_table_cell(&side->rows, row, name_column);
		if (name.kind != TSCOPE_VALUE_TEXT)
			continue;
		side->items[side->count].name = name.text;
		side->items[side->count].is_plain = source->are_modules;
		struct work_figures figures = read_figures(side, row, source);
		figures.kind = kind_at(side, row, name.text, source, &launched);
		figures.communicates = figures.kind &&
				       strcmp(figures.kind, tsi_kernel_kind_name(KERNEL_COMM)) == 0;
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
static void add_figures(struct work_figures *sum, const struct work_figures *part)
{
	tsi_sum(&sum->calls, part->calls);
	tsi_sum(&sum->ns, part->ns);
	tsi_sum(&sum->device_ns, part->device_ns);
	tsi_sum(&sum->unlinked, part->unlinked);
	tsi_sum(&sum->self_ns, part->self_ns);
	tsi_sum(&sum->call_ns, part->call_ns);
	sum->deviation_ns += part->deviation_ns;
	sum->device_deviation_ns += part->device_deviation_ns;
	sum->communicates |= part->communicates;
}

struct work_figures tsi_work_side_sum(const struct work_side *side, const size_t *items,
				      size_t first, size_t count)
{
	struct work_figures sum = { 0 };

	for (size_t i = first; i < first + count; i++)
		add_figures(&sum, &side->figures[items[i]]);
	return sum;
}

struct work_side tsi_work_side_by_kind(const struct work_side *side, struct arena *arena)
{
	struct work_side kinds = *side;

	kinds.items = tsi_arena_new(arena, KERNEL_KIND_COUNT, sizeof(*kinds.items));
	kinds.figures = tsi_arena_new(arena, KERNEL_KIND_COUNT, sizeof(*kinds.figures));
	kinds.count = 0;
	for (int k = 0; kinds.figures && kinds.items && k < KERNEL_KIND_COUNT; k++) {
		const char *name = tsi_kernel_kind_name((enum kernel_kind)k);
		struct work_figures *sum = &kinds.figures[kinds.count];
		for (size_t i = 0; i < side->count; i++)
			if (side->figures[i].kind && strcmp(side->figures[i].kind, name) == 0)
				add_figures(sum, &side->figures[i]);
		if (sum->calls)
			kinds.items[kinds.count++] =
				(struct work_item){ .name = name, .is_plain = true };
	}
	return kinds;
}

int64_t tsi_work_side_count(const struct work_side *side)
{
	int64_t count = 0;

	for (size_t i = 0; i < side->count; i++)
		count += side->figures[i].calls > 0;
	return count;
}
