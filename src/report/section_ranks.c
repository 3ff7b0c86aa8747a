/* SPDX-License-Identifier: MIT */
/*
 * Sections of the text report about the ranks side by side: who makes the
 * others wait, and how full the stages of a pipeline are.
 */
#include "report/section.h"

#include "analyze/lookup.h"
#include "base/attributes.h"
#include "base/rank_text.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- a row a rank ---- */

/*
 * The ranks, and where in their tables everything stands. How slow a rank is follows from its
 * local time where the traces tell it, else from its compute.
 */
struct rank_rows {
	struct table_view view;
	struct table_view local; /* empty: not known */
	struct table_view straggler, slow;
	size_t rank, compute, slowest, excess, wait, local_time, local_excess;
};

static struct rank_rows find_rows(const struct panel *panel)
{
	const struct tscope_analysis *analysis = panel->analysis;
	struct rank_rows rows = {
		.view = tsi_lookup_table(analysis, TSCOPE_WHOLE_TRACE, "distributed.ranks"),
		.local = tsi_lookup_table(analysis, TSCOPE_WHOLE_TRACE, "stragglers.ranks"),
		.straggler =
			tsi_lookup_table(analysis, TSCOPE_WHOLE_TRACE, "distributed.straggler"),
		.slow = tsi_lookup_table(analysis, TSCOPE_WHOLE_TRACE, "distributed.slow_ranks"),
	};

	rows.rank = tsi_table_column(&rows.view, "rank");
	rows.compute = tsi_table_column(&rows.view, "mean_compute_ns");
	rows.slowest = tsi_table_column(&rows.view, "slowest_fraction");
	rows.excess = tsi_table_column(&rows.view, "excess_ratio");
	rows.wait = tsi_table_column(&rows.view, "mean_wait_ns");
	rows.local_time = tsi_table_column(&rows.local, "local_ns");
	rows.local_excess = tsi_table_column(&rows.local, "excess_ratio");
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

enum { RANK_WIDTH = 6, CELL_WIDTH = 10, ARROW_WIDTH = 2, MAX_BAR_CELLS = 20 };

/*
 * What the width of the line leaves room for. How often a rank was the slowest is counted by
 * compute: beside a rank's own time it would only confuse.
 */
struct rank_layout {
	bool has_wait, has_compute, has_slowest;
	unsigned bar_cells;
};

static struct rank_layout lay_out_ranks(const struct rank_rows *rows, unsigned width)
{
	unsigned left = width - RANK_WIDTH - 3 * CELL_WIDTH - ARROW_WIDTH;
	struct rank_layout layout = { .has_wait = left >= CELL_WIDTH, .has_slowest = true };

	if (rows->local.row_count > 0)
		return (struct rank_layout){ .has_wait = true, .has_compute = left >= CELL_WIDTH };
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
	put_cell(w, time_of(rows, row), TSCOPE_UNIT_NS);
	put_excess(w, rows->local.row_count > 0
			      ? tsi_table_cell(&rows->local, row, rows->local_excess)
			      : tsi_table_cell(&rows->view, row, rows->excess));
	if (layout->has_wait)
		put_cell(w, tsi_table_cell(&rows->view, row, rows->wait), TSCOPE_UNIT_NS);
	if (layout->has_slowest)
		put_cell(w, slowest, TSCOPE_UNIT_RATIO);
	if (layout->has_compute)
		put_cell(w, tsi_table_cell(&rows->view, row, rows->compute), TSCOPE_UNIT_NS);
	if (layout->bar_cells > 0) {
		tsi_text_put(w, "  ");
		tsi_text_bar(w, share, layout->bar_cells, is_slow ? TEXT_RED : TEXT_GREEN);
	}
	if (is_slow)
		tsi_text_put_styled(w, TEXT_RED, " ←");
	tsi_text_put(w, "\n");
}

TSI_PRINTF(2, 3)
static void put_dim(struct text_writer *w, const char *format, ...)
{
	char text[128];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	tsi_text_put_styled(w, TEXT_DIM, text);
}

/* Of many ranks: the slowest, the one in the middle and the fastest. */
static void put_chosen_ranks(const struct panel *panel, const struct rank_rows *rows,
			     const struct rank_layout *layout)
{
	size_t count = rows->view.row_count, slowest = panel->top > 3 ? panel->top - 2 : 1;
	struct text_writer *w = panel->w;

	for (size_t place = 0; place < slowest; place++)
		put_rank(w, rows, row_at_place(rows, place), layout);
	put_dim(w, "  … the median:\n");
	put_rank(w, rows, row_at_place(rows, count / 2), layout);
	put_dim(w, "  … the fastest; %zu more between:\n", count - slowest - 2);
	put_rank(w, rows, row_at_place(rows, count - 1), layout);
}

static bool get_time(const void *source, size_t index, double *time_ns)
{
	struct tscope_value value = time_of(source, index);

	*time_ns = (double)value.integer;
	return value.kind == TSCOPE_VALUE_INT;
}

static void put_ranks(const struct panel *panel, const struct rank_rows *rows)
{
	struct rank_layout layout = lay_out_ranks(rows, panel->w->width);
	size_t count = rows->view.row_count;
	struct text_writer *w = panel->w;

	tsi_text_style(w, TEXT_DIM);
	tsi_text_right(w, "rank", RANK_WIDTH);
	tsi_text_right(w, rows->local.row_count > 0 ? "own time" : "compute", CELL_WIDTH);
	tsi_text_right(w, "excess", CELL_WIDTH);
	if (layout.has_wait)
		tsi_text_right(w, "waits", CELL_WIDTH);
	if (layout.has_slowest || layout.has_compute)
		tsi_text_right(w, layout.has_slowest ? "slowest" : "compute", CELL_WIDTH);
	tsi_text_style(w, TEXT_PLAIN);
	tsi_text_put(w, "\n");
	if (count > panel->top && count > 3) {
		put_chosen_ranks(panel, rows, &layout);
		put_dim(w, "  all %zu by number:\n", count);
		tsi_panel_sparkline(panel, &(struct sketch){ rows, get_time, count });
		return;
	}
	for (size_t row = 0; row < count; row++)
		put_rank(w, rows, row, &layout);
}

/* ---- lateness of ranks and steps ---- */

enum { HEAT_ROWS = 16, HEAT_COLUMNS = 64, HEAT_LABEL = 14 };

/* The blocks of stragglers.heat, several as one where the lines do not suffice. */
struct heat {
	double lateness[HEAT_ROWS][HEAT_COLUMNS]; /* the most of any block */
	int64_t first_rank[HEAT_ROWS], last_rank[HEAT_ROWS];
	size_t row_count, column_count;
	int64_t first_step, last_step;
	double most;
};

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Rows of the table stand by rank, then by step. False: there is nothing to show. */
static bool read_heat(struct heat *heat, const struct table_view *view, unsigned width)
{
	size_t rank = tsi_table_column(view, "first_rank");
	size_t last_rank = tsi_table_column(view, "last_rank");
	size_t lateness = tsi_table_column(view, "lateness_ratio");
	size_t steps = 0, room = width > HEAT_LABEL + 2 ? width - HEAT_LABEL - 2 : 1;

	while (steps < view->row_count &&
	       tsi_table_cell(view, steps, rank).integer == tsi_table_cell(view, 0, rank).integer)
		steps++;
	if (steps < 2 || view->row_count % steps != 0)
		return false;
	size_t ranks = view->row_count / steps;

	*heat = (struct heat){ .row_count = smaller(ranks, HEAT_ROWS) };
	heat->column_count = smaller(smaller(steps, HEAT_COLUMNS), room);
	for (size_t i = 0; i < view->row_count; i++) {
		size_t row = i / steps * heat->row_count / ranks;
		size_t column = i % steps * heat->column_count / steps;
		struct tscope_value value = tsi_table_cell(view, i, lateness);
		double late = value.kind == TSCOPE_VALUE_REAL ? value.real : 0;

		if (i / steps == (row * ranks + heat->row_count - 1) / heat->row_count)
			heat->first_rank[row] = tsi_table_cell(view, i, rank).integer;
		heat->last_rank[row] = tsi_table_cell(view, i, last_rank).integer;
		heat->lateness[row][column] = fmax(heat->lateness[row][column], late);
		heat->most = fmax(heat->most, late);
	}
	heat->first_step = tsi_table_cell(view, 0, tsi_table_column(view, "first_step")).integer;
	heat->last_step =
		tsi_table_cell(view, steps - 1, tsi_table_column(view, "last_step")).integer;
	return true;
}

static void put_heat_row(struct text_writer *w, const struct heat *heat, size_t row, double scale)
{
	char label[2 * NUMBER_MAX];

	if (heat->first_rank[row] == heat->last_rank[row])
		snprintf(label, sizeof(label), "rank %lld", (long long)heat->first_rank[row]);
	else
		snprintf(label, sizeof(label), "%lld-%lld", (long long)heat->first_rank[row],
			 (long long)heat->last_rank[row]);
	tsi_text_right(w, label, HEAT_LABEL - 2);
	tsi_text_put(w, "  ");
	for (size_t i = 0; i < heat->column_count; i++) {
		double part = heat->lateness[row][i] / scale;

		tsi_text_style(w, part > 0.5 ? TEXT_RED : part > 0.2 ? TEXT_YELLOW : TEXT_GREEN);
		tsi_text_tick(w, part);
	}
	tsi_text_style(w, TEXT_PLAIN);
	tsi_text_put(w, "\n");
}

static void put_heat_heading(struct text_writer *w, const struct heat *heat, double scale)
{
	struct text_flow flow = { .w = w, .separator = " · ", .indent = 2 };
	char text[3 * NUMBER_MAX];

	tsi_text_put(w, "\n");
	tsi_text_style(w, TEXT_DIM);
	snprintf(text, sizeof(text), "steps %lld to %lld", (long long)heat->first_step,
		 (long long)heat->last_step);
	tsi_text_flow(&flow, text);
	snprintf(text, sizeof(text), "full cell: %.1f %% late", 100 * scale);
	tsi_text_flow(&flow, text);
	tsi_text_flow_end(&flow);
	tsi_text_style(w, TEXT_PLAIN);
}

/* Full cells are what is as late as the latest, but noise is not blown up to that. */
static void put_heat(const struct panel *panel)
{
	static const double least_scale = 0.05, least_shown = 0.02;
	struct table_view view =
		tsi_lookup_table(panel->analysis, TSCOPE_WHOLE_TRACE, "stragglers.heat");
	struct heat heat;

	if (view.row_count == 0 || !read_heat(&heat, &view, panel->w->width))
		return;
	if (heat.most < least_shown) {
		put_dim(panel->w, "\n  late at most by %.1f %% in any step\n", 100 * heat.most);
		return;
	}
	double scale = fmax(heat.most, least_scale);
	put_heat_heading(panel->w, &heat, scale);
	for (size_t row = 0; row < heat.row_count; row++)
		put_heat_row(panel->w, &heat, row, scale);
}

/* ---- the sections ---- */

/* "  missing ranks  3-5, 17 and 20 more" */
static void put_missing(const struct panel *panel)
{
	struct table_view missing =
		tsi_lookup_table(panel->analysis, TSCOPE_WHOLE_TRACE, "distributed.missing_ranks");
	int64_t count = tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE,
				       "distributed.missing_rank_count");
	struct rank_text ranks = { .text = "" };
	char text[sizeof(ranks.text) + NUMBER_MAX];

	if (missing.row_count == 0)
		return;
	for (size_t row = 0; row < missing.row_count; row++)
		tsi_rank_text_add(&ranks, tsi_table_cell(&missing, row, 0).integer);
	tsi_rank_text_end(&ranks);
	int length = snprintf(text, sizeof(text), "%s", ranks.text);
	if (count > (int64_t)missing.row_count)
		snprintf(text + length, sizeof(text) - (size_t)length, " and %lld more",
			 (long long)(count - (int64_t)missing.row_count));
	tsi_text_put_styled(panel->w, TEXT_YELLOW, "  missing ranks  ");
	tsi_text_paragraph(panel->w, text, 17);
}

/*
 * Traces tell how late ranks are whatever they do; what follows from compute alone would only
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
		{ "slowest behind median", "stragglers.skew_ns" },
		{ "by compute alone", "distributed.sync_skew_ns" },
		{ "arrive within", "arrivals.mean_skew_ns" },
		{ "clocks agree to", "arrivals.max_clock_residual_ns" },
	};

	if (rows->local.row_count > 0)
		tsi_panel_figures(panel, by_local_time, TSI_COUNT_OF(by_local_time));
	else
		tsi_panel_figures(panel, by_compute, TSI_COUNT_OF(by_compute));
}

void tsi_section_distributed(const struct panel *panel)
{
	struct rank_rows rows = find_rows(panel);
	char steps[NUMBER_MAX];

	if (rows.view.row_count == 0)
		return;
	tsi_panel_number(panel, "distributed.n_steps", steps);
	tsi_panel_title(panel, TEXT_GREEN, "distributed", "DISTRIBUTED",
			"%zu ranks · %s step%s in common", rows.view.row_count, steps,
			strcmp(steps, "1") == 0 ? "" : "s");
	put_skew(panel, &rows);
	put_missing(panel);
	tsi_text_put(panel->w, "\n");
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
