/* SPDX-License-Identifier: MIT */
/* Sections about ranks side by side: who makes others wait, how full a pipeline's stages are. */
#include "report/section.h"

#include "base/rank_text.h"

#include <math.h>
#include <string.h>

/* ---- a row a rank ---- */

/*
 * The ranks, and where in their tables everything stands. How slow a rank is follows from its
 * local time where the traces show it, else from its compute.
 */
struct rank_rows {
	struct table_view view;
	struct table_view local; /* empty: not known */
	struct table_view straggler, slow;
	size_t compute, local_time; /* columns */
};

static struct rank_rows find_rows(const struct panel *panel)
{
	struct rank_rows rows = {
		.view = tsi_panel_rows(panel, "distributed.ranks"),
		.local = tsi_panel_rows(panel, "stragglers.ranks"),
		.straggler = tsi_panel_rows(panel, "distributed.straggler"),
		.slow = tsi_panel_rows(panel, "distributed.slow_ranks"),
	};

	rows.compute = tsi_table_column(&rows.view, "mean_compute_ns");
	rows.local_time = tsi_table_column(&rows.local, "local_ns");
	if (rows.local.row_count != rows.view.row_count)
		rows.local.row_count = 0;
	return rows;
}

static bool names_rank(const struct table_view *table, int64_t rank)
{
	size_t column = tsi_table_column(table, "rank");

	for (size_t row = 0; row < table->row_count; row++)
		if (tsi_table_cell(table, row, column).integer == rank)
			return true;
	return false;
}

static struct tscope_value time_of(const struct rank_rows *rows, size_t row)
{
	return rows->local.row_count > 0 ? tsi_table_cell(&rows->local, row, rows->local_time)
					 : tsi_table_cell(&rows->view, row, rows->compute);
}

/* How many rows are slower than this. */
static size_t slower_count(const struct rank_rows *rows, int64_t time_ns)
{
	size_t count = 0;

	for (size_t row = 0; row < rows->view.row_count; row++)
		count += time_of(rows, row).integer > time_ns;
	return count;
}

/* The row with exactly `place` slower ones before it; of equals, in the order of their ranks. */
static size_t row_at_place(const struct rank_rows *rows, size_t place)
{
	int64_t low_ns = -1, high_ns = INT64_MAX - 1;

	/* The lowest time that at most `place` rows exceed is that of the row. */
	while (low_ns + 1 < high_ns) {
		int64_t middle_ns = low_ns + (high_ns - low_ns) / 2;

		if (slower_count(rows, middle_ns) <= place)
			high_ns = middle_ns;
		else
			low_ns = middle_ns;
	}
	place -= slower_count(rows, high_ns);
	for (size_t row = 0; row < rows->view.row_count; row++)
		if (time_of(rows, row).integer == high_ns && place-- == 0)
			return row;
	return 0;
}

/* "+5.1 %"; what rounds to 0 has no sign. */
static const char *name_excess(const struct panel *panel, struct tscope_value ratio)
{
	if (ratio.kind == TSCOPE_VALUE_REAL && fabs(ratio.real) < 0.0005)
		ratio.real = 0;
	return tsi_panel_signed(panel, ratio, TSCOPE_UNIT_RATIO);
}

static struct doc_row *put_rank(const struct panel *panel, const struct rank_rows *rows, size_t row,
				struct doc_table *table)
{
	struct doc_row *shown = tsi_doc_row(panel->doc, table);
	struct tscope_value rank = tsi_table_find(&rows->view, row, "rank");
	struct tscope_value slowest = tsi_table_find(&rows->view, row, "slowest_fraction");
	bool has_local = rows->local.row_count > 0;

	if (!shown)
		return NULL;
	shown->cells[0].value = rank;
	shown->cells[1].value = time_of(rows, row);
	shown->cells[2].value = has_local ? tsi_table_find(&rows->local, row, "excess_ratio")
					  : tsi_table_find(&rows->view, row, "excess_ratio");
	shown->cells[2].text = name_excess(panel, shown->cells[2].value);
	shown->cells[3].value = tsi_table_find(&rows->view, row, "mean_wait_ns");
	shown->cells[4].value =
		has_local ? tsi_table_cell(&rows->view, row, rows->compute) : slowest;
	shown->bar_ratio = slowest.kind == TSCOPE_VALUE_REAL ? slowest.real : 0;
	shown->is_marked =
		names_rank(&rows->straggler, rank.integer) || names_rank(&rows->slow, rank.integer);
	return shown;
}

/*
 * How often a rank was the slowest is counted by compute: beside a rank's own time it would only
 * confuse.
 */
static struct doc_table *begin_ranks(const struct panel *panel, bool has_local)
{
	const struct doc_column columns[] = {
		{ "rank", TSCOPE_UNIT_COUNT, .width = 6 },
		{ has_local ? "own time" : "compute", TSCOPE_UNIT_NS, .width = 10 },
		{ "excess", TSCOPE_UNIT_RATIO, .width = 10 },
		{ "waits", TSCOPE_UNIT_NS, .width = 10, .is_minor = !has_local },
		{ has_local ? "compute" : "slowest", has_local ? TSCOPE_UNIT_NS : TSCOPE_UNIT_RATIO,
		  .width = 10 },
	};
	struct doc_table *table = tsi_doc_table(panel->doc, columns, TSI_COUNT_OF(columns));

	if (table) {
		table->keeps_empty = true;
		table->has_bars = !has_local;
		table->has_marks = true;
	}
	return table;
}

static bool get_time(const void *source, size_t index, double *time_ns)
{
	struct tscope_value value = time_of(source, index);

	*time_ns = (double)value.integer;
	return value.kind == TSCOPE_VALUE_INT;
}

/* Rows for many ranks: the slowest, the median and the fastest. */
static void put_chosen_ranks(const struct panel *panel, const struct rank_rows *rows,
			     struct doc_table *table)
{
	size_t count = rows->view.row_count, slowest = panel->top > 3 ? panel->top - 2 : 1;
	struct doc_row *row;

	for (size_t place = 0; place < slowest; place++)
		put_rank(panel, rows, row_at_place(rows, place), table);
	row = put_rank(panel, rows, row_at_place(rows, count / 2), table);
	if (row)
		row->caption = "… the median:";
	row = put_rank(panel, rows, row_at_place(rows, count - 1), table);
	if (row)
		row->caption = tsi_panel_print(
			panel, "… the fastest; %zu more between:", count - slowest - 2);
	tsi_doc_line(panel->doc, DOC_NOTE, DOC_FAINT, NULL, "all %zu by number:", count);
	tsi_doc_series(panel->doc,
		       &(struct doc_series){ tsi_doc_copy(panel->doc, rows, sizeof(*rows)),
					     get_time, count });
}

static void put_ranks(const struct panel *panel, const struct rank_rows *rows)
{
	struct doc_table *table = begin_ranks(panel, rows->local.row_count > 0);
	size_t count = rows->view.row_count;

	if (count > panel->top && count > 3) {
		put_chosen_ranks(panel, rows, table);
		return;
	}
	for (size_t row = 0; row < count; row++)
		put_rank(panel, rows, row, table);
}

/* ---- lateness of ranks and steps ---- */

/* How many blocks there are of one rank: rows of the table stand by rank, then by step. */
static size_t steps_of_rank(const struct table_view *view)
{
	size_t rank = tsi_table_column(view, "first_rank");
	size_t steps = 0;

	while (steps < view->row_count &&
	       tsi_table_cell(view, steps, rank).integer == tsi_table_cell(view, 0, rank).integer)
		steps++;
	return steps;
}

/* Reads the blocks; returns the most that any is late. */
static double read_heat(const struct table_view *view, size_t steps, double *ratios,
			int64_t *first_ranks, int64_t *last_ranks)
{
	size_t first = tsi_table_column(view, "first_rank");
	size_t last = tsi_table_column(view, "last_rank");
	size_t lateness = tsi_table_column(view, "lateness_ratio");
	double most = 0;

	for (size_t i = 0; i < view->row_count; i++) {
		struct tscope_value value = tsi_table_cell(view, i, lateness);

		ratios[i] = value.kind == TSCOPE_VALUE_REAL ? value.real : 0;
		first_ranks[i / steps] = tsi_table_cell(view, i, first).integer;
		last_ranks[i / steps] = tsi_table_cell(view, i, last).integer;
		most = fmax(most, ratios[i]);
	}
	return most;
}

static void put_heat(const struct panel *panel)
{
	static const double least_shown = 0.02;
	struct arena *arena = &panel->doc->arena;
	struct table_view view = tsi_panel_rows(panel, "stragglers.heat");
	size_t steps = steps_of_rank(&view), ranks = steps < 2 ? 0 : view.row_count / steps;
	double *ratios = tsi_arena_new(arena, view.row_count, sizeof(*ratios));
	int64_t *first_ranks = tsi_arena_new(arena, ranks, sizeof(*first_ranks));
	int64_t *last_ranks = tsi_arena_new(arena, ranks, sizeof(*last_ranks));
	double most;

	if (steps < 2 || view.row_count % steps != 0 || !ratios || !first_ranks || !last_ranks)
		return;
	most = read_heat(&view, steps, ratios, first_ranks, last_ranks);
	if (most < least_shown) {
		tsi_doc_line(panel->doc, DOC_CAPTION, DOC_FAINT, NULL,
			     "late at most by %.1f %% in any step", 100 * most);
		return;
	}
	(void)tsi_doc_add(
		panel->doc,
		&(struct doc_node){
			.kind = DOC_NODE_HEAT,
			.heat = {
				.ratios = ratios,
				.first_ranks = first_ranks,
				.last_ranks = last_ranks,
				.row_count = ranks,
				.column_count = steps,
				.first_step = tsi_table_find(&view, 0, "first_step").integer,
				.last_step =
					tsi_table_find(&view, steps - 1, "last_step").integer } });
}

/* ---- the sections ---- */

/* "  missing ranks  3-5, 17 and 20 more" */
static void put_missing(const struct panel *panel)
{
	struct table_view missing = tsi_panel_rows(panel, "distributed.missing_ranks");
	int64_t count = tsi_panel_int(panel, "distributed.missing_rank_count");
	struct rank_text ranks = { .text = "" };
	const char *text = ranks.text;

	if (missing.row_count == 0)
		return;
	for (size_t row = 0; row < missing.row_count; row++)
		tsi_rank_text_add(&ranks, tsi_table_cell(&missing, row, 0).integer);
	tsi_rank_text_end(&ranks);
	if (count > (int64_t)missing.row_count)
		tsi_panel_append(panel, &text, " and %lld more",
				 (long long)(count - (int64_t)missing.row_count));
	tsi_doc_line(panel->doc, DOC_TAGGED, DOC_WARN, "missing ranks", "%s", text);
}

/* "  slow ranks   3 steps are too few to be certain" */
static void put_doubt(const struct panel *panel)
{
	const char *doubt = tsi_panel_text(panel, "distributed.slow_rank_doubt");

	if (*doubt)
		tsi_doc_line(panel->doc, DOC_TAGGED, DOC_WARN, "slow ranks", "%s", doubt);
}

/*
 * Traces show how late ranks are whatever they do; what follows from compute alone would only
 * contradict that, and communication stands in the budget.
 */
static void put_skew(const struct panel *panel, const struct rank_rows *rows)
{
	static const struct figure by_compute[] = {
		{ "communication", "distributed.mean_comm_fraction" },
		{ "without waiting", "distributed.mean_transfer_fraction" },
		{ "lost to imbalance", "distributed.wall_frac_lost_to_imbalance" },
		{ "lost per step", "distributed.wall_lost_ns_per_step" },
		{ "skew", "distributed.sync_skew_ns" },
		{ "imbalance CV", "distributed.imbalance_cv" },
	};
	static const struct figure by_local_time[] = {
		{ "slowest rank vs median +", "stragglers.skew_ns" },
		{ "compute only +", "distributed.sync_skew_ns" },
		{ "arrival spread", "arrivals.mean_skew_ns" },
		{ "clock error <=", "arrivals.max_clock_residual_ns" },
	};

	if (rows->local.row_count > 0)
		tsi_panel_figures(panel, by_local_time, TSI_COUNT_OF(by_local_time));
	else
		tsi_panel_figures(panel, by_compute, TSI_COUNT_OF(by_compute));
}

void tsi_section_distributed(const struct panel *panel)
{
	struct rank_rows rows = find_rows(panel);

	if (rows.view.row_count == 0)
		return;
	const char *steps = tsi_panel_number(panel, "distributed.n_steps");
	tsi_panel_title(panel, DOC_GOOD, "distributed", "DISTRIBUTED",
			"%zu ranks · %s step%s in common", rows.view.row_count, steps,
			strcmp(steps, "1") == 0 ? "" : "s");
	put_skew(panel, &rows);
	put_missing(panel);
	put_doubt(panel);
	put_ranks(panel, &rows);
	put_heat(panel);
}

void tsi_section_pipeline(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "bubble", "pipeline.stall_ratio" },
		{ "ideal bubble", "pipeline.ideal_bubble_ratio" },
		{ "beyond it", "pipeline.excess_ratio" },
		{ "microbatches", "pipeline.microbatch_count" },
		{ "busiest stage", "pipeline.busiest_stage" },
		{ "idlest", "pipeline.idlest_stage" },
	};
	static const struct column columns[] = {
		{ "stage", "stage", 7 },
		{ "busy", "busy_ns", 12 },
		{ "idle", "bubble_ratio", 10 },
	};

	if (tsi_panel_value(panel, "pipeline.bubble_ratio").kind == TSCOPE_VALUE_ABSENT)
		return;
	tsi_panel_title(panel, DOC_GOOD, "pipeline", "PIPELINE", "%s stages · idle %s of the time",
			tsi_panel_number(panel, "pipeline.stage_count"),
			tsi_panel_number(panel, "pipeline.bubble_ratio"));
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures));
	tsi_panel_table(panel, "pipeline.stages", columns, TSI_COUNT_OF(columns));
}
