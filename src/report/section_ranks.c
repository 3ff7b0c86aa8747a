/* SPDX-License-Identifier: MIT */
/*
 * Sections of the text report about the ranks side by side: who makes the
 * others wait, and how full the stages of a pipeline are.
 */
#include "report/section.h"

#include "analyze/lookup.h"
#include "base/attributes.h"

#include <math.h>

/* ---- a row a rank ---- */

/* The ranks, and where in their table everything stands. */
struct rank_rows {
	struct table_view view;
	struct table_view straggler, slow;
	size_t rank, compute, slowest, excess, wait;
};

static struct rank_rows find_rows(const struct panel *panel)
{
	const struct tscope_analysis *analysis = panel->analysis;
	struct rank_rows rows = {
		.view = tsi_lookup_table(analysis, TSCOPE_WHOLE_TRACE, "distributed.ranks"),
		.straggler =
			tsi_lookup_table(analysis, TSCOPE_WHOLE_TRACE, "distributed.straggler"),
		.slow = tsi_lookup_table(analysis, TSCOPE_WHOLE_TRACE, "distributed.slow_ranks"),
	};

	rows.rank = tsi_table_column(&rows.view, "rank");
	rows.compute = tsi_table_column(&rows.view, "mean_compute_ns");
	rows.slowest = tsi_table_column(&rows.view, "slowest_fraction");
	rows.excess = tsi_table_column(&rows.view, "excess_ratio");
	rows.wait = tsi_table_column(&rows.view, "mean_wait_ns");
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

static int64_t compute_of(const struct rank_rows *rows, size_t row)
{
	return tsi_table_cell(&rows->view, row, rows->compute).integer;
}

/* Is row a before row b in the order of slowness? */
static bool is_slower(const struct rank_rows *rows, size_t a, size_t b)
{
	int64_t compute_a = compute_of(rows, a), compute_b = compute_of(rows, b);

	return compute_a != compute_b ? compute_a > compute_b : a < b;
}

/* The last of the `count` slowest rows. */
static size_t last_of_slowest(const struct rank_rows *rows, size_t count)
{
	size_t last = SIZE_MAX;

	for (size_t i = 0; i < count; i++) {
		size_t best = SIZE_MAX;

		for (size_t row = 0; row < rows->view.row_count; row++) {
			if (last != SIZE_MAX && !is_slower(rows, last, row))
				continue;
			if (best == SIZE_MAX || is_slower(rows, row, best))
				best = row;
		}
		last = best;
	}
	return last;
}

enum { RANK_WIDTH = 6, CELL_WIDTH = 10, ARROW_WIDTH = 2, MAX_BAR_CELLS = 20 };

/* What the width of the line leaves room for. */
struct rank_layout {
	bool has_wait;
	unsigned bar_cells;
};

static struct rank_layout lay_out_ranks(unsigned width)
{
	unsigned left = width - RANK_WIDTH - 3 * CELL_WIDTH - ARROW_WIDTH;
	struct rank_layout layout = { .has_wait = left >= CELL_WIDTH };

	if (layout.has_wait)
		left -= CELL_WIDTH;
	if (left > 4)
		layout.bar_cells = left - 2 < MAX_BAR_CELLS ? left - 2 : MAX_BAR_CELLS;
	return layout;
}

static void put_cell(struct text_writer *w, struct tscope_value value, enum tscope_unit unit)
{
	char text[NUMBER_MAX];

	tsi_number_people(text, value, unit);
	tsi_text_right(w, text, CELL_WIDTH);
}

/* "+5.1 %"; what rounds to 0 has no sign. */
static void put_excess(struct text_writer *w, struct tscope_value ratio)
{
	char number[NUMBER_MAX], text[NUMBER_MAX + 1];

	if (ratio.kind == TSCOPE_VALUE_REAL && fabs(ratio.real) < 0.0005)
		ratio.real = 0;
	tsi_number_people(number, ratio, TSCOPE_UNIT_RATIO);
	snprintf(text, sizeof(text), "%s%s",
		 ratio.kind == TSCOPE_VALUE_REAL && ratio.real > 0 ? "+" : "", number);
	tsi_text_right(w, text, CELL_WIDTH);
}

static void put_rank(struct text_writer *w, const struct rank_rows *rows, size_t row,
		     const struct rank_layout *layout)
{
	struct tscope_value rank = tsi_table_cell(&rows->view, row, rows->rank);
	struct tscope_value slowest = tsi_table_cell(&rows->view, row, rows->slowest);
	bool is_slow =
		names_rank(&rows->straggler, rank.integer) || names_rank(&rows->slow, rank.integer);
	double share = slowest.kind == TSCOPE_VALUE_REAL ? slowest.real : 0;
	char number[NUMBER_MAX];

	tsi_number_people(number, rank, TSCOPE_UNIT_COUNT);
	tsi_text_right(w, number, RANK_WIDTH);
	put_cell(w, tsi_table_cell(&rows->view, row, rows->compute), TSCOPE_UNIT_NS);
	put_excess(w, tsi_table_cell(&rows->view, row, rows->excess));
	if (layout->has_wait)
		put_cell(w, tsi_table_cell(&rows->view, row, rows->wait), TSCOPE_UNIT_NS);
	put_cell(w, slowest, TSCOPE_UNIT_RATIO);
	if (layout->bar_cells > 0) {
		tsi_text_put(w, "  ");
		tsi_text_bar(w, share, layout->bar_cells, is_slow ? TEXT_RED : TEXT_GREEN);
	}
	if (is_slow)
		tsi_text_put_styled(w, TEXT_RED, " ←");
	tsi_text_put(w, "\n");
}

static void put_ranks(const struct panel *panel, const struct rank_rows *rows)
{
	struct rank_layout layout = lay_out_ranks(panel->w->width);
	size_t count = rows->view.row_count, last = SIZE_MAX;
	struct text_writer *w = panel->w;

	if (count > panel->top)
		last = last_of_slowest(rows, panel->top);
	tsi_text_style(w, TEXT_DIM);
	tsi_text_right(w, "rank", RANK_WIDTH);
	tsi_text_right(w, "compute", CELL_WIDTH);
	tsi_text_right(w, "excess", CELL_WIDTH);
	if (layout.has_wait)
		tsi_text_right(w, "waits", CELL_WIDTH);
	tsi_text_right(w, "slowest", CELL_WIDTH);
	tsi_text_style(w, TEXT_PLAIN);
	tsi_text_put(w, "\n");
	for (size_t row = 0; row < count; row++)
		if (last == SIZE_MAX || row == last || is_slower(rows, row, last))
			put_rank(w, rows, row, &layout);
	if (count > panel->top) {
		tsi_text_style(w, TEXT_DIM);
		tsi_text_printf(w, "  … and %zu faster ones\n", count - panel->top);
		tsi_text_style(w, TEXT_PLAIN);
	}
}

/* ---- the sections ---- */

enum { MAX_MISSING = 16 };

/* "  missing  3, 4, 5 and 20 more of 64 ranks" */
static void put_missing(const struct panel *panel)
{
	struct table_view missing =
		tsi_lookup_table(panel->analysis, TSCOPE_WHOLE_TRACE, "distributed.missing_ranks");
	int64_t count = tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE,
				       "distributed.missing_rank_count");
	char text[512];
	size_t length = 0;

	if (missing.row_count == 0)
		return;
	for (size_t row = 0; row < missing.row_count && row < MAX_MISSING; row++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%lld",
					   row > 0 ? ", " : "",
					   (long long)tsi_table_cell(&missing, row, 0).integer);
	if (count > MAX_MISSING)
		snprintf(text + length, sizeof(text) - length, " and %lld more",
			 (long long)(count - MAX_MISSING));
	tsi_text_put_styled(panel->w, TEXT_YELLOW, "  missing ranks  ");
	tsi_text_paragraph(panel->w, text, 17);
}

void tsi_section_distributed(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "communication", "distributed.mean_comm_fraction" },
		{ "without waiting", "distributed.mean_transfer_fraction" },
		{ "lost to imbalance", "distributed.wall_frac_lost_to_imbalance" },
		{ "lost per step", "distributed.wall_lost_ns_per_step" },
		{ "skew", "distributed.sync_skew_ns" },
		{ "imbalance CV", "distributed.imbalance_cv" },
	};
	struct rank_rows rows = find_rows(panel);
	char steps[NUMBER_MAX];

	if (rows.view.row_count == 0)
		return;
	tsi_panel_number(panel, "distributed.n_steps", steps);
	tsi_panel_title(panel, TEXT_GREEN, "distributed", "DISTRIBUTED",
			"%zu ranks · %s steps in common", rows.view.row_count, steps);
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures));
	put_missing(panel);
	tsi_text_put(panel->w, "\n");
	put_ranks(panel, &rows);
}

void tsi_section_pipeline(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "ideal", "pipeline.ideal_bubble_ratio" },
		{ "beyond it", "pipeline.excess_ratio" },
		{ "busiest stage", "pipeline.busiest_stage" },
		{ "idlest", "pipeline.idlest_stage" },
	};
	static const struct column columns[] = {
		{ "stage", "stage", 7 },
		{ "busy", "busy_ns", 12 },
		{ "bubble", "bubble_ratio", 10 },
	};
	char stages[NUMBER_MAX], bubble[NUMBER_MAX];

	if (tsi_panel_value(panel, "pipeline.bubble_ratio").kind == TSCOPE_VALUE_ABSENT)
		return;
	tsi_panel_number(panel, "pipeline.stage_count", stages);
	tsi_panel_number(panel, "pipeline.bubble_ratio", bubble);
	tsi_panel_title(panel, TEXT_GREEN, "pipeline", "PIPELINE",
			"%s stages · idle %s of the time", stages, bubble);
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures));
	tsi_panel_table(panel, "pipeline.stages", columns, TSI_COUNT_OF(columns));
}
