/* SPDX-License-Identifier: MIT */
/*
 * Which ranks make the others wait, and what makes these late: their local time (local_time.h)
 * and their kernels beside those of the other ranks. Nobody is named whose lateness may be chance
 * (late_ranks.h).
 */
#include "analyze/ranks/straggler_cause.h"
#include "analyze/ranks/straggler_parts.h"

static const struct tscope_fact_def facts[] = {
	[SLOW_RANK_COUNT] = { "slow_rank_count", TSCOPE_UNIT_COUNT,
			      "ranks that are persistently late" },
	[CAUSE] = { "cause", TSCOPE_UNIT_TEXT,
		    "of the worst of them: slow_kernels, slow_clock, more_work, slow_host, "
		    "slow_loader, sync, copies or unknown" },
	[WORST_RANK] = { "worst_rank", TSCOPE_UNIT_COUNT, "the one with most excess" },
	[EXCESS_NS_PER_STEP] = { "excess_ns_per_step", TSCOPE_UNIT_NS,
				 "its time of a step in which it did not wait for others, beyond "
				 "the median of the others; mean" },
	[EXCESS_RATIO] = { "excess_ratio", TSCOPE_UNIT_NUMBER, "by that median" },
	[SKEW_NS] = { "skew_ns", TSCOPE_UNIT_NS,
		      "in a step, most such time of any rank less that of the median rank (of its "
		      "stage); median of the steps" },
};

static const struct tscope_fact_def causes_columns[] = {
	[CAUSES_RANK] = { "rank", TSCOPE_UNIT_COUNT, "number of the rank" },
	[CAUSES_CAUSE] = { "cause", TSCOPE_UNIT_TEXT, "as above" },
	[CAUSES_LINE] = { "line", TSCOPE_UNIT_TEXT, "line of the budget with most of the excess" },
	[CAUSES_EXCESS_NS_PER_STEP] = { "excess_ns_per_step", TSCOPE_UNIT_NS, "as above" },
	[CAUSES_LINE_EXCESS_NS_PER_STEP] = { "line_excess_ns_per_step", TSCOPE_UNIT_NS,
					     "of it, in that line" },
	[CAUSES_EXCESS_RATIO] = { "excess_ratio", TSCOPE_UNIT_NUMBER, "as above" },
	[CAUSES_P_VALUE] = { "p_value", TSCOPE_UNIT_RATIO,
			     "chance that any of equal ranks is as steadily late, exact" },
	[CAUSES_DETAIL] = { "detail", TSCOPE_UNIT_TEXT, "in words, with figures" },
};

static const struct tscope_fact_def lines_columns[] = {
	[LINES_LINE] = { "line", TSCOPE_UNIT_TEXT, "line of the budget" },
	[LINES_RANK_NS] = { "rank_ns", TSCOPE_UNIT_NS, "of the worst rank, a step" },
	[LINES_OTHERS_NS] = { "others_ns", TSCOPE_UNIT_NS, "median of the others" },
	[LINES_EXCESS_NS] = { "excess_ns", TSCOPE_UNIT_NS, "difference" },
};

static const struct tscope_fact_def groups_columns[] = {
	[GROUPS_KIND] = { "kind", TSCOPE_UNIT_TEXT, "node or device (its model)" },
	[GROUPS_NAME] = { "name", TSCOPE_UNIT_TEXT, "which" },
	[GROUPS_RANKS] = { "ranks", TSCOPE_UNIT_TEXT, "its ranks" },
	[GROUPS_LATE_COUNT] = { "late_count", TSCOPE_UNIT_COUNT, "of them, late ones" },
	[GROUPS_RANK_COUNT] = { "rank_count", TSCOPE_UNIT_COUNT, "ranks it has" },
};

static const struct tscope_fact_def ranks_columns[] = {
	[RANKS_RANK] = { "rank", TSCOPE_UNIT_COUNT, "number of the rank" },
	[RANKS_LOCAL_NS] = { "local_ns", TSCOPE_UNIT_NS,
			     "time of a step in which it did not wait for others, mean" },
	[RANKS_EXCESS_RATIO] = { "excess_ratio", TSCOPE_UNIT_NUMBER,
				 "its level above the median of the others" },
	[RANKS_P_VALUE] = { "p_value", TSCOPE_UNIT_RATIO, "as above" },
};

static const struct tscope_fact_def heat_columns[] = {
	[HEAT_FIRST_RANK] = { "first_rank", TSCOPE_UNIT_COUNT, "first rank of the block" },
	[HEAT_LAST_RANK] = { "last_rank", TSCOPE_UNIT_COUNT, "last" },
	[HEAT_FIRST_STEP] = { "first_step", TSCOPE_UNIT_COUNT, "first step of the block" },
	[HEAT_LAST_STEP] = { "last_step", TSCOPE_UNIT_COUNT, "last" },
	[HEAT_LATENESS_RATIO] = { "lateness_ratio", TSCOPE_UNIT_NUMBER,
				  "most local time of these by the median of all ranks in these "
				  "steps - 1" },
};

static const struct tscope_table_def tables[] = {
	[TABLE_CAUSES] = { "causes", causes_columns, TSI_COUNT_OF(causes_columns),
			   "ranks that are persistently late, and why", TSCOPE_TABLE_ROWS },
	[TABLE_LINES] = { "lines", lines_columns, TSI_COUNT_OF(lines_columns),
			  "budget of the worst rank beside the median of the others",
			  TSCOPE_TABLE_ROWS },
	[TABLE_GROUPS] = { "groups", groups_columns, TSI_COUNT_OF(groups_columns),
			   "what late ranks have in common and others have not",
			   TSCOPE_TABLE_ROWS },
	[TABLE_RANKS] = { "ranks", ranks_columns, TSI_COUNT_OF(ranks_columns), "each rank",
			  TSCOPE_TABLE_ROWS },
	[TABLE_HEAT] = { "heat", heat_columns, TSI_COUNT_OF(heat_columns),
			 "lateness in blocks of ranks and steps, at most 32 × 64, rank by rank",
			 TSCOPE_TABLE_COLUMNS },
};

/* ---- late ranks ---- */

/* What is known so far. */
struct stragglers {
	const struct analysis_scope *scope;
	struct late_ranks late;
	struct straggler worst;
	size_t worst_rank, count;
};

static struct tscope_value line_name(size_t line)
{
	return tsi_text(tscope_budget_line_name((enum tscope_budget_line)line));
}

static void put_cause(struct tscope_value *cells, const struct stragglers *all, size_t rank,
		      const struct straggler *straggler)
{
	const struct straggler_line *line = &straggler->lines[straggler->worst_line];

	cells[CAUSES_RANK] = tsi_rank_number(all->scope->ranks, rank);
	cells[CAUSES_CAUSE] = tsi_text(tsi_straggler_cause_name(straggler->cause));
	if (straggler->detail) {
		cells[CAUSES_LINE] = line_name(straggler->worst_line);
		cells[CAUSES_LINE_EXCESS_NS_PER_STEP] = tsi_int(tsi_straggler_excess(line));
		cells[CAUSES_DETAIL] = tsi_text(straggler->detail);
	}
	cells[CAUSES_EXCESS_NS_PER_STEP] = tsi_int(tsi_straggler_excess(&straggler->total));
	cells[CAUSES_EXCESS_RATIO] =
		tsi_ratio(tsi_straggler_excess(&straggler->total), straggler->total.others_ns);
	cells[CAUSES_P_VALUE] = tsi_real(tsi_late_verdict(&all->late.ranks[rank])->p_value);
}

/* numbers: room for one of each rank. */
static void list_causes(struct stragglers *all, double *numbers, struct fact_sheet *out)
{
	const struct straggler_search search = { all->scope, &all->late, numbers, out };

	for (size_t i = 0; i < all->late.rank_count; i++) {
		if (!all->late.ranks[i].is_late)
			continue;
		struct straggler straggler = tsi_find_straggler(&search, i);
		put_cause(tsi_table_row(out, TABLE_CAUSES), all, i, &straggler);
		if (all->count++ > 0 && tsi_straggler_excess(&straggler.total) <=
						tsi_straggler_excess(&all->worst.total))
			continue;
		all->worst = straggler;
		all->worst_rank = i;
	}
}

static void put_worst(const struct stragglers *all, struct fact_sheet *out)
{
	const struct straggler *worst = &all->worst;
	int64_t excess_ns = tsi_straggler_excess(&worst->total);

	tsi_fact_int(out, SLOW_RANK_COUNT, (int64_t)all->count);
	if (all->count == 0)
		return;
	tsi_fact_text(out, CAUSE, tsi_straggler_cause_name(worst->cause));
	if (all->scope->ranks[all->worst_rank].rank >= 0)
		tsi_fact_int(out, WORST_RANK, all->scope->ranks[all->worst_rank].rank);
	tsi_fact_int(out, EXCESS_NS_PER_STEP, excess_ns);
	tsi_fact_ratio(out, EXCESS_RATIO, excess_ns, worst->total.others_ns);
	for (size_t line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++) {
		struct tscope_value *cells = tsi_table_row(out, TABLE_LINES);

		cells[LINES_LINE] = line_name(line);
		cells[LINES_RANK_NS] = tsi_int(worst->lines[line].rank_ns);
		cells[LINES_OTHERS_NS] = tsi_int(worst->lines[line].others_ns);
		cells[LINES_EXCESS_NS] = tsi_int(tsi_straggler_excess(&worst->lines[line]));
	}
}

/* ---- all ranks ---- */

static void list_ranks(const struct stragglers *all, struct fact_sheet *out)
{
	const struct late_ranks *late = &all->late;

	for (size_t i = 0; i < late->rank_count; i++) {
		const struct rank_verdict *verdict = &late->ranks[i].local;
		struct tscope_value *cells = tsi_table_row(out, TABLE_RANKS);

		cells[RANKS_RANK] = tsi_rank_number(all->scope->ranks, i);
		cells[RANKS_LOCAL_NS] =
			tsi_mean(tsi_local_ns(&late->local, i), (int64_t)late->local.step_count);
		cells[RANKS_EXCESS_RATIO] = tsi_real(verdict->excess_ratio);
		cells[RANKS_P_VALUE] = tsi_real(verdict->p_value);
	}
}

static void fill_stragglers(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const char *doubt = tsi_ranks_doubt(scope->ranks, scope->rank_count);
	struct arena *scratch = tsi_sheet_scratch(out);
	double *numbers = tsi_arena_new(scratch, scope->rank_count, sizeof(*numbers));
	struct stragglers all = { .scope = scope };
	struct rank_steps steps;

	if (!scope->world)
		return;
	if (doubt)
		tsi_fact_unreliable(out, doubt);
	tsi_rank_steps_fill(&steps, scope->ranks, scope->rank_count, scratch);
	if (!numbers || !tsi_late_ranks_find(&all.late, scope, &steps, scratch) ||
	    all.late.local.step_count == 0)
		return;
	list_causes(&all, numbers, out);
	put_worst(&all, out);
	tsi_stragglers_put_groups(&all.late, scope, out);
	list_ranks(&all, out);
	tsi_stragglers_put_heat(&all.late, scope, out);
}

const struct analyzer tsi_analyzer_stragglers = {
	.def = {
		.id = "stragglers",
		.summary = "which ranks make the others wait, and what makes these late",
		.facts = facts,
		.fact_count = TSI_COUNT_OF(facts),
		.tables = tables,
		.table_count = TSI_COUNT_OF(tables),
		.needs = "traces of two or more ranks with collectives that match",
	},
	.levels = LEVEL_RUN,
	.fill = fill_stragglers,
};
