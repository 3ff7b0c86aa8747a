/* SPDX-License-Identifier: MIT */
/*
 * Which ranks make the others wait, and what makes these late: their local time (local_time.h)
 * and their kernels beside those of the other ranks. Nobody is named whose lateness may be chance
 * (late_ranks.h).
 */
#include "analyze/facts.h"
#include "analyze/ranks/code_place.h"
#include "analyze/ranks/group_words.h"
#include "analyze/ranks/lateness.h"
#include "analyze/ranks/rank_peers.h"
#include "analyze/ranks/straggler_cause.h"
#include "analyze/shared/robust.h"
#include "base/rank_text.h"

#include <inttypes.h>

#define FACTS(X)                                                                                   \
	X(SLOW_RANK_COUNT, "slow_rank_count", COUNT, "ranks that are persistently late")           \
	X(CAUSE, "cause", TEXT,                                                                    \
	  "of the worst of them: slow_kernels, slow_clock, more_work, slow_host, slow_loader, "    \
	  "sync, copies or unknown")                                                               \
	X(WORST_RANK, "worst_rank", COUNT, "the one with most excess")                             \
	X(EXCESS_NS_PER_STEP, "excess_ns_per_step", NS,                                            \
	  "its time of a step in which it did not wait for others, beyond the median of the "      \
	  "others; mean")                                                                          \
	X(EXCESS_RATIO, "excess_ratio", NUMBER, "by that median")                                  \
	X(SKEW_NS, "skew_ns", NS,                                                                  \
	  "in a step, most such time of any rank less that of the median rank (of its stage); "    \
	  "median of the steps")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define CAUSES_COLUMNS(X)                                                                          \
	X(CAUSES_RANK, "rank", COUNT, "number of the rank")                                        \
	X(CAUSES_NODE, "node", TEXT, "its host, where traces or their names say it")               \
	X(CAUSES_CAUSE, "cause", TEXT, "as above")                                                 \
	X(CAUSES_LINE, "line", TEXT, "line of the budget with most of the excess")                 \
	X(CAUSES_EXCESS_NS_PER_STEP, "excess_ns_per_step", NS, "as above")                         \
	X(CAUSES_LINE_EXCESS_NS_PER_STEP, "line_excess_ns_per_step", NS, "of it, in that line")    \
	X(CAUSES_EXCESS_RATIO, "excess_ratio", NUMBER, "as above")                                 \
	X(CAUSES_P_VALUE, "p_value", RATIO, "as in distributed.ranks")                             \
	X(CAUSES_DETAIL, "detail", TEXT, "in words, with figures")                                 \
	X(CAUSES_LATE_NS, "late_ns", NS,                                                           \
	  "of excess_ns_per_step, what it comes later than the others by to one collective, "      \
	  "where "                                                                                 \
	  "that is most of it")                                                                    \
	X(CAUSES_BEFORE, "before", TEXT, "that collective, numbered by its kind: all_reduce #2")   \
	X(CAUSES_PLACE, "place", TEXT,                                                             \
	  "annotation, operator or Python frame that its main thread is in for nearly all of the " \
	  "excess")                                                                                \
	X(CAUSES_PLACE_NS, "place_ns", NS, "in it, a step")                                        \
	X(CAUSES_OTHERS_PLACE_NS, "others_place_ns", NS, "median of the others")                   \
	X(CAUSES_LONGEST_NS, "longest_ns", NS, "its longest stretch in it")                        \
	X(CAUSES_LONGEST_START_NS, "longest_start_ns", NS, "where that begins in its own trace")

TSI_FACT_LIST(enum causes_column, causes_columns, CAUSES_COLUMNS);

#define HOLD_UPS_COLUMNS(X)                                                                        \
	X(HOLD_UPS_RANK, "rank", COUNT, "number of the rank")                                      \
	X(HOLD_UPS_STEPS, "steps", TEXT, "in which it came last, by a quarter of most_ns or more") \
	X(HOLD_UPS_STEP_COUNT, "step_count", COUNT, "how many these are")                          \
	X(HOLD_UPS_OF, "of", COUNT, "steps looked at")                                             \
	X(HOLD_UPS_MOST_NS, "most_ns", NS, "by which it came after the median rank, at most")      \
	X(HOLD_UPS_EXCESS_NS_PER_STEP, "excess_ns_per_step", NS, "likewise, mean of all steps")    \
	X(HOLD_UPS_PLACE, "place", TEXT, "as in causes")                                           \
	X(HOLD_UPS_LONGEST_NS, "longest_ns", NS, "likewise")                                       \
	X(HOLD_UPS_LONGEST_START_NS, "longest_start_ns", NS, "likewise")

TSI_FACT_LIST(enum hold_ups_column, hold_ups_columns, HOLD_UPS_COLUMNS);

#define LINES_COLUMNS(X)                                                                           \
	X(LINES_RANK, "rank", COUNT, "number of the late rank")                                    \
	X(LINES_LINE, "line", TEXT, "line of the budget")                                          \
	X(LINES_RANK_NS, "rank_ns", NS, "of that rank, per step")                                  \
	X(LINES_OTHERS_NS, "others_ns", NS, "median of the others")                                \
	X(LINES_EXCESS_NS, "excess_ns", NS, "difference")

TSI_FACT_LIST(enum lines_column, lines_columns, LINES_COLUMNS);

#define GROUPS_COLUMNS(X)                                                                          \
	X(GROUPS_KIND, "kind", TEXT, "node or device (its model)")                                 \
	X(GROUPS_NAME, "name", TEXT, "which")                                                      \
	X(GROUPS_RANKS, "ranks", TEXT, "its ranks")                                                \
	X(GROUPS_LATE_COUNT, "late_count", COUNT, "of them, late ones")                            \
	X(GROUPS_RANK_COUNT, "rank_count", COUNT, "ranks it has")

TSI_FACT_LIST(enum groups_column, groups_columns, GROUPS_COLUMNS);

#define RANKS_COLUMNS(X)                                                                           \
	X(RANKS_RANK, "rank", COUNT, "number of the rank")                                         \
	X(RANKS_LOCAL_NS, "local_ns", NS,                                                          \
	  "time of a step in which it did not wait for others, mean")                              \
	X(RANKS_EXCESS_RATIO, "excess_ratio", NUMBER, "its level above the median of the others")  \
	X(RANKS_P_VALUE, "p_value", RATIO, "as above")

TSI_FACT_LIST(enum ranks_column, ranks_columns, RANKS_COLUMNS);

#define HEAT_COLUMNS(X)                                                                            \
	X(HEAT_FIRST_RANK, "first_rank", COUNT, "first rank of the block")                         \
	X(HEAT_LAST_RANK, "last_rank", COUNT, "last")                                              \
	X(HEAT_FIRST_STEP, "first_step", COUNT, "first step of the block")                         \
	X(HEAT_LAST_STEP, "last_step", COUNT, "last")                                              \
	X(HEAT_LATENESS_RATIO, "lateness_ratio", NUMBER,                                           \
	  "most local time of these by the median of all ranks in these steps - 1")

TSI_FACT_LIST(enum heat_column, heat_columns, HEAT_COLUMNS);

enum stragglers_table {
	TABLE_CAUSES,
	TABLE_LINES,
	TABLE_GROUPS,
	TABLE_RANKS,
	TABLE_HOLD_UPS,
	TABLE_HEAT
};

static const struct tscope_table_def tables[] = {
	[TABLE_CAUSES] = TSI_TABLE_DEF("causes", causes_columns,
				       "ranks that are persistently late, and why"),
	[TABLE_LINES] = TSI_TABLE_DEF("lines", lines_columns,
				      "budget of each late rank beside the median of the others"),
	[TABLE_GROUPS] = TSI_TABLE_DEF("groups", groups_columns,
				       "what late ranks have in common and others have not"),
	[TABLE_RANKS] = TSI_TABLE_DEF("ranks", ranks_columns, "each rank"),
	[TABLE_HOLD_UPS] = TSI_TABLE_DEF("hold_ups", hold_ups_columns,
					 "where nobody is named: the rank that was late by most"),
	[TABLE_HEAT] = { "heat", heat_columns, TSI_COUNT_OF(heat_columns),
			 "lateness in blocks of ranks and steps, at most 32 × 64, rank by rank",
			 TSCOPE_TABLE_COLUMNS },
};

/* ---- what late ranks have in common ---- */

/*
 * Nodes or device models nearly all of whose ranks are late, while nearly all late ranks are on
 * such ones.
 */
enum { MIN_LATE_RANKS = 2 }; /* fewer have nothing in common */
static const double nearly_all = 0.8;

/* The ranks by what they are on. A group goes by the index of its lowest rank. */
struct grouping {
	const struct analysis_scope *scope;
	const struct late_ranks *late;
	uint32_t *groups;                    /* by rank; NO_ROW: not known */
	uint32_t *rank_counts, *late_counts; /* by group */
	uint32_t *members;                   /* room for the ranks of a group */
};

static bool is_same_node(const struct world *world, size_t a, size_t b)
{
	return world->nodes[a] != NO_ROW && world->nodes[a] == world->nodes[b];
}

static const char *name_node(const struct world *world, size_t rank, struct fact_sheet *out)
{
	const struct rank_log *log = &world->logs[rank];

	if (log->host_name != 0)
		return tsi_sheet_copy(out, tsi_intern_text(&log->names, log->host_name));
	return tsi_sheet_print(out, "%" PRIu32, world->nodes[rank]);
}

static struct str device_of(const struct world *world, size_t rank)
{
	return tsi_intern_text(&world->logs[rank].names, world->logs[rank].device_name);
}

static bool is_same_device(const struct world *world, size_t a, size_t b)
{
	return world->logs[a].device_name != 0 &&
	       tsi_str_equal(device_of(world, a), device_of(world, b));
}

static const char *name_device(const struct world *world, size_t rank, struct fact_sheet *out)
{
	return tsi_sheet_copy(out, device_of(world, rank));
}

static const struct kind {
	const char *name;
	bool (*is_same)(const struct world *world, size_t a, size_t b); /* false: not known */
	const char *(*name_of)(const struct world *world, size_t rank, struct fact_sheet *out);
} kinds[] = {
	{ "node", is_same_node, name_node },
	{ "device", is_same_device, name_device },
};

/* O(ranks²) at worst. */
static void find_groups(struct grouping *grouping, const struct kind *kind)
{
	const struct late_ranks *late = grouping->late;

	for (uint32_t i = 0; i < late->rank_count; i++) {
		uint32_t first = 0;

		grouping->rank_counts[i] = grouping->late_counts[i] = 0;
		while (first < i && !kind->is_same(grouping->scope->world, first, i))
			first++;
		bool is_known = kind->is_same(grouping->scope->world, first, i);
		grouping->groups[i] = is_known ? first : NO_ROW;
		if (!is_known)
			continue;
		grouping->rank_counts[first]++;
		grouping->late_counts[first] += late->ranks[i].is_late;
	}
}

static bool is_late_group(const struct grouping *grouping, uint32_t group)
{
	return group != NO_ROW && grouping->late_counts[group] >= MIN_LATE_RANKS &&
	       grouping->late_counts[group] >= nearly_all * grouping->rank_counts[group];
}

/* Are late ranks in late groups? At most half of the ranks are late: there are other groups. */
static bool is_common(const struct grouping *grouping)
{
	const struct late_ranks *late = grouping->late;
	size_t late_count = 0, in_late_groups = 0;

	for (size_t i = 0; i < late->rank_count; i++) {
		bool is_in = is_late_group(grouping, grouping->groups[i]);

		late_count += late->ranks[i].is_late;
		in_late_groups += late->ranks[i].is_late && is_in;
	}
	return in_late_groups > 0 && (double)in_late_groups >= nearly_all * (double)late_count;
}

static void put_group(const struct grouping *grouping, uint32_t group, const struct kind *kind,
		      struct fact_sheet *out)
{
	const struct world *world = grouping->scope->world;
	struct process_group ranks = { .ranks = grouping->members };
	struct tscope_value *cells = tsi_table_row(out, TABLE_GROUPS);

	for (uint32_t i = 0; i < grouping->late->rank_count; i++)
		if (grouping->groups[i] == group)
			grouping->members[ranks.rank_count++] = i;
	cells[GROUPS_KIND] = tsi_text(kind->name);
	cells[GROUPS_NAME] = tsi_text(kind->name_of(world, group, out));
	cells[GROUPS_RANKS] = tsi_text(tsi_make_group_ranks(out, world, &ranks));
	cells[GROUPS_LATE_COUNT] = tsi_int(grouping->late_counts[group]);
	cells[GROUPS_RANK_COUNT] = tsi_int(grouping->rank_counts[group]);
}

static void put_kind(struct grouping *grouping, const struct kind *kind, struct fact_sheet *out)
{
	find_groups(grouping, kind);
	if (!is_common(grouping))
		return;
	for (uint32_t i = 0; i < grouping->late->rank_count; i++)
		if (grouping->groups[i] == i && is_late_group(grouping, i))
			put_group(grouping, i, kind, out);
}

static void put_groups(const struct late_ranks *late, const struct analysis_scope *scope,
		       struct fact_sheet *out)
{
	struct grouping grouping = { .scope = scope, .late = late };
	struct arena *scratch = tsi_sheet_scratch(out);
	size_t count = late->rank_count;

	grouping.groups = tsi_arena_new(scratch, count, sizeof(*grouping.groups));
	grouping.rank_counts = tsi_arena_new(scratch, count, sizeof(*grouping.rank_counts));
	grouping.late_counts = tsi_arena_new(scratch, count, sizeof(*grouping.late_counts));
	grouping.members = tsi_arena_new(scratch, count, sizeof(*grouping.members));
	for (size_t i = 0; grouping.members && i < TSI_COUNT_OF(kinds); i++)
		put_kind(&grouping, &kinds[i], out);
}

/* ---- how late which ranks were in which steps ---- */

/*
 * The slowest rank of a usual step, and a map for the eye, in blocks of neighbouring ranks and
 * steps where there are many. A rank's local time is held against the median of its role, so that
 * stages of a pipeline that have more to do are not late.
 */
enum { MAX_RANK_BLOCKS = 32, MAX_STEP_BLOCKS = 64 };

/* Ranks or steps [first, end). */
struct stretch {
	size_t first, end;
};

/* Stretch i of `of` things in at most `most` of nearly equal length. */
static struct stretch stretch_of(size_t i, size_t of, size_t most)
{
	size_t count = of < most ? of : most;

	return (struct stretch){ i * of / count, (i + 1) * of / count };
}

/* How much later than is usual the last rank of a step is, median of the steps. */
static void put_skew(const struct lateness *heat, struct fact_sheet *out)
{
	const struct local_time *local = &heat->late->local;

	for (size_t step = 0; step < local->step_count; step++) {
		double most_ns = 0;

		/* No fmax(): gcc 12 for aarch64 breaks off at -O3. */
		for (size_t rank = 0; rank < local->rank_count; rank++) {
			double late_ns = tsi_late_ns(heat, step, rank);
			most_ns = late_ns > most_ns ? late_ns : most_ns;
		}
		heat->numbers[step] = most_ns;
	}
	tsi_fact_int(out, SKEW_NS, tsi_round_ns(tsi_median(heat->numbers, local->step_count)));
}

/* Lateness of a rank in some steps, relative to what is usual in its role. */
static struct tscope_value lateness_of(const struct lateness *heat, size_t rank,
				       struct stretch steps)
{
	double local_ns = 0, usual_ns = 0;

	for (size_t step = steps.first; step < steps.end; step++) {
		local_ns += tsi_local_in(heat, step, rank);
		usual_ns += tsi_usual_in(heat, step, rank);
	}
	return tsi_real(local_ns / usual_ns - 1);
}

static struct tscope_value most_lateness(const struct lateness *heat, struct stretch ranks,
					 struct stretch steps)
{
	struct tscope_value most = { 0 };

	for (size_t rank = ranks.first; rank < ranks.end; rank++) {
		struct tscope_value own = lateness_of(heat, rank, steps);
		if (most.kind == TSCOPE_VALUE_ABSENT ||
		    (own.kind == TSCOPE_VALUE_REAL && own.real > most.real))
			most = own;
	}
	return most;
}

static void put_block(const struct lateness *heat, struct stretch ranks, struct stretch steps,
		      struct fact_sheet *out)
{
	const int64_t *numbers = heat->late->local.numbers;

	struct tscope_value *cells = tsi_table_row(out, TABLE_HEAT);
	cells[HEAT_FIRST_RANK] = tsi_rank_number(heat->ranks, ranks.first);
	cells[HEAT_LAST_RANK] = tsi_rank_number(heat->ranks, ranks.end - 1);
	cells[HEAT_FIRST_STEP] = tsi_int(numbers[steps.first]);
	cells[HEAT_LAST_STEP] = tsi_int(numbers[steps.end - 1]);
	cells[HEAT_LATENESS_RATIO] = most_lateness(heat, ranks, steps);
}

static void put_blocks(const struct lateness *heat, struct fact_sheet *out)
{
	size_t rank_count = heat->late->rank_count, step_count = heat->late->local.step_count;

	for (size_t i = 0; i < rank_count && i < MAX_RANK_BLOCKS; i++)
		for (size_t k = 0; k < step_count && k < MAX_STEP_BLOCKS; k++)
			put_block(heat, stretch_of(i, rank_count, MAX_RANK_BLOCKS),
				  stretch_of(k, step_count, MAX_STEP_BLOCKS), out);
}

/* ---- late ranks ---- */

static const double min_place_share = 0.8; /* of the excess: it is late to one collective */

/* State so far. */
struct stragglers {
	const struct analysis_scope *scope;
	struct late_ranks late;
	struct rank_peers peers;
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
	if (straggler->place) {
		cells[CAUSES_PLACE] = tsi_text(straggler->place);
		cells[CAUSES_PLACE_NS] = tsi_int(straggler->place_ns);
		cells[CAUSES_OTHERS_PLACE_NS] = tsi_int(straggler->others_place_ns);
		cells[CAUSES_LONGEST_NS] = tsi_int(straggler->longest_ns);
		cells[CAUSES_LONGEST_START_NS] = tsi_int(straggler->longest_start_ns);
	}
	cells[CAUSES_EXCESS_NS_PER_STEP] = tsi_int(tsi_straggler_excess(&straggler->total));
	cells[CAUSES_EXCESS_RATIO] =
		tsi_ratio(tsi_straggler_excess(&straggler->total), straggler->total.others_ns);
	cells[CAUSES_P_VALUE] = tsi_real(tsi_late_verdict(&all->late.ranks[rank])->p_value);
}

static void put_lines(const struct stragglers *all, size_t rank, const struct straggler *straggler,
		      struct fact_sheet *out)
{
	for (size_t line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++) {
		const struct straggler_line *times = &straggler->lines[line];
		struct tscope_value *cells = tsi_table_row(out, TABLE_LINES);

		cells[LINES_RANK] = tsi_rank_number(all->scope->ranks, rank);
		cells[LINES_LINE] = line_name(line);
		cells[LINES_RANK_NS] = tsi_int(times->rank_ns);
		cells[LINES_OTHERS_NS] = tsi_int(times->others_ns);
		cells[LINES_EXCESS_NS] = tsi_int(tsi_straggler_excess(times));
	}
}

/* Where most of its excess is before one collective. */
static void put_place(struct tscope_value *cells, const struct stragglers *all, size_t rank,
		      int64_t excess_ns, struct fact_sheet *out)
{
	struct late_place place;

	if (!tsi_has_peers(&all->peers, (uint32_t)rank) ||
	    !tsi_rank_late_place(&all->peers, (uint32_t)rank, &place, tsi_sheet_scratch(out)) ||
	    !place.op || (double)place.excess_ns < min_place_share * (double)excess_ns)
		return;
	cells[CAUSES_LATE_NS] = tsi_int(place.excess_ns);
	cells[CAUSES_BEFORE] = tsi_text(tsi_sheet_print(
		out, "%s #%" PRIu32, tsi_collective_kind_name(place.op->kind), place.number));
}

/* False where nothing is late, or the collectives do not match. */
static bool find_peers(struct stragglers *all, struct fact_sheet *out)
{
	const struct replay_graph *graph = all->scope->replay_graph;
	bool is_any = false;

	for (size_t i = 0; i < all->late.rank_count; i++)
		is_any |= all->late.ranks[i].is_late;
	return is_any && graph && graph->step_count > 0 &&
	       tsi_rank_peers_find(&all->peers, graph, &all->late.roles, tsi_sheet_scratch(out));
}

/* numbers: room for one of each rank. */
static void list_causes(struct stragglers *all, double *numbers, struct fact_sheet *out)
{
	const struct straggler_search search = { all->scope, &all->late, numbers, out };
	bool has_peers = find_peers(all, out);

	for (size_t i = 0; i < all->late.rank_count; i++) {
		if (!all->late.ranks[i].is_late)
			continue;
		struct straggler straggler = tsi_find_straggler(&search, i);
		struct tscope_value *cells = tsi_table_row(out, TABLE_CAUSES);
		if (all->scope->world->logs[i].host_name != 0)
			cells[CAUSES_NODE] = tsi_text(name_node(all->scope->world, i, out));
		put_cause(cells, all, i, &straggler);
		if (has_peers)
			put_place(cells, all, i, tsi_straggler_excess(&straggler.total), out);
		put_lines(all, i, &straggler, out);
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

/* Who held the others up, where nobody is named. */
static void put_hold_up(const struct stragglers *all, const struct lateness *lateness,
			double *numbers, struct fact_sheet *out)
{
	struct rank_text steps = { .text = "" };
	struct hold_up hold_up;

	tsi_find_hold_up(&hold_up, lateness, tsi_sheet_scratch(out));
	if (hold_up.count == 0)
		return;
	for (size_t i = 0; i < hold_up.count; i++)
		tsi_rank_text_add(&steps, all->late.local.numbers[hold_up.steps[i]]);
	tsi_rank_text_end(&steps);
	struct code_place place = tsi_code_place(all->scope, &all->late.roles, hold_up.rank,
						 hold_up.excess_ns, numbers);
	struct tscope_value *cells = tsi_table_row(out, TABLE_HOLD_UPS);
	cells[HOLD_UPS_RANK] = tsi_rank_number(all->scope->ranks, hold_up.rank);
	cells[HOLD_UPS_STEPS] = tsi_text(tsi_sheet_print(out, "%s", steps.text));
	cells[HOLD_UPS_STEP_COUNT] = tsi_int((int64_t)hold_up.count);
	cells[HOLD_UPS_OF] = tsi_int((int64_t)all->late.local.step_count);
	cells[HOLD_UPS_MOST_NS] = tsi_int(tsi_round_ns(hold_up.most_ns));
	cells[HOLD_UPS_EXCESS_NS_PER_STEP] = tsi_int(tsi_round_ns(hold_up.excess_ns));
	if (!place.name.data || tsi_is_late_by_device(&hold_up, lateness))
		return;
	cells[HOLD_UPS_PLACE] = tsi_text(tsi_sheet_copy(out, place.name));
	cells[HOLD_UPS_LONGEST_NS] = tsi_int(place.longest_ns);
	cells[HOLD_UPS_LONGEST_START_NS] = tsi_int(place.longest_start_ns);
}

static void put_lateness(const struct stragglers *all, double *numbers, struct fact_sheet *out)
{
	struct lateness lateness;

	if (!tsi_lateness_find(&lateness, &all->late, all->scope->ranks, tsi_sheet_scratch(out)))
		return;
	put_skew(&lateness, out);
	put_blocks(&lateness, out);
	if (all->count == 0)
		put_hold_up(all, &lateness, numbers, out);
}

static void fill_stragglers(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct arena *scratch = tsi_sheet_scratch(out);
	double *numbers = tsi_arena_new(scratch, scope->rank_count, sizeof(*numbers));
	struct stragglers all = { .scope = scope };
	struct rank_steps steps;

	if (!scope->world)
		return;
	tsi_put_ranks_doubt(scope, out);
	tsi_rank_steps_fill(&steps, scope->ranks, scope->rank_count, scope->options->quorum_percent,
			    scratch);
	if (!numbers || !tsi_late_ranks_find(&all.late, scope, &steps, scratch) ||
	    all.late.local.step_count == 0)
		return;
	list_causes(&all, numbers, out);
	put_worst(&all, out);
	put_groups(&all.late, scope, out);
	list_ranks(&all, out);
	put_lateness(&all, numbers, out);
}

const struct analyzer tsi_analyzer_stragglers = {
	.def = {
		.id = "stragglers",
		.summary = "which ranks make the others wait, and what makes these late",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "traces of two or more ranks with collectives that match",
	},
	.levels = LEVEL_RUN,
	.fill = fill_stragglers,
};
