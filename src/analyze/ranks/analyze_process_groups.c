/* SPDX-License-Identifier: MIT */
/*
 * Which ranks communicate with one another, and how well what they did goes together: everything
 * that is said of waiting and of clocks rests on collectives that match.
 */
#include "analyze/facts.h"
#include "analyze/ranks/group_words.h"

#include "comm/world.h"

#define FACTS(X)                                                                                   \
	X(GROUP_COUNT, "group_count", COUNT, "process groups")                                     \
	X(MATCHED_COUNT, "matched_count", COUNT,                                                   \
	  "collectives that all ranks read of their group have alike")                             \
	X(MISMATCHED_COUNT, "mismatched_count", COUNT,                                             \
	  "whose kind, size or type differ between ranks")                                         \
	X(MISSING_COUNT, "missing_count", COUNT, "that some of these ranks lack")                  \
	X(SURPLUS_COUNT, "surplus_count", COUNT, "that one rank alone has")                        \
	X(CUT_COUNT, "cut_count", COUNT, "that touch the begin or end of a capture, in no figure") \
	X(POINT_TO_POINT_COUNT, "point_to_point_count", COUNT,                                     \
	  "of the matched, pairs of a send and a receive")                                         \
	X(IS_INFERRED, "is_inferred", FLAG,                                                        \
	  "members of some group are inferred from order and size: no file names them")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define GROUPS_COLUMNS(X)                                                                          \
	X(GROUPS_GROUP, "group", TEXT, "its description, or name")                                 \
	X(GROUPS_RANKS, "ranks", TEXT,                                                             \
	  "its ranks, as \"0-3, 8\" or \"2, 6, ..., 254\", with those that were not read where "   \
	  "known")                                                                                 \
	X(GROUPS_SIZE, "size", COUNT, "ranks that it has")                                         \
	X(GROUPS_READ_COUNT, "read_count", COUNT, "of them, those that were read")                 \
	X(GROUPS_IS_INFERRED, "is_inferred", FLAG, "nobody says its members")                      \
	X(GROUPS_MATCHED_COUNT, "matched_count", COUNT, "as above")                                \
	X(GROUPS_MISMATCHED_COUNT, "mismatched_count", COUNT, "as above")                          \
	X(GROUPS_MISSING_COUNT, "missing_count", COUNT, "as above")                                \
	X(GROUPS_SURPLUS_COUNT, "surplus_count", COUNT, "as above")                                \
	X(GROUPS_CUT_COUNT, "cut_count", COUNT, "as above")

TSI_FACT_LIST(enum groups_column, groups_columns, GROUPS_COLUMNS);

#define TABLES(X) X(TABLE_GROUPS, "groups", groups_columns, "each process group")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* Above this share of instances that do not match, what does match is no sample of the rest. */
static const double max_unmatched_share = 0.05;

/* Sums over all groups. */
struct group_sums {
	uint64_t matched, mismatched, missing, surplus, cut, messages;
	bool has_inferred;
};

static struct group_sums sum_groups(const struct world *world)
{
	struct group_sums sums = { 0 };

	for (size_t i = 0; i < world->group_count; i++) {
		const struct process_group *group = &world->groups[i];

		sums.matched += group->matched_count;
		sums.mismatched += group->mismatched_count;
		sums.missing += group->missing_count;
		sums.surplus += group->surplus_count;
		sums.cut += group->cut_count;
		sums.messages += group->is_point_to_point ? group->matched_count : 0;
		sums.has_inferred |= group->is_inferred;
	}
	return sums;
}

static void set_facts(struct fact_sheet *out, const struct world *world)
{
	struct group_sums sums = sum_groups(world);
	uint64_t unmatched = sums.mismatched + sums.missing + sums.surplus;

	tsi_fact_int(out, GROUP_COUNT, (int64_t)world->group_count);
	tsi_fact_int(out, MATCHED_COUNT, (int64_t)sums.matched);
	tsi_fact_int(out, MISMATCHED_COUNT, (int64_t)sums.mismatched);
	tsi_fact_int(out, MISSING_COUNT, (int64_t)sums.missing);
	tsi_fact_int(out, SURPLUS_COUNT, (int64_t)sums.surplus);
	tsi_fact_int(out, CUT_COUNT, (int64_t)sums.cut);
	tsi_fact_int(out, POINT_TO_POINT_COUNT, (int64_t)sums.messages);
	tsi_fact_flag(out, IS_INFERRED, sums.has_inferred);
	if ((double)unmatched > max_unmatched_share * (double)(unmatched + sums.matched))
		tsi_fact_unreliable(out,
				    "more than 5 % of the collectives do not match across ranks: "
				    "what is said of waiting and clocks rests on the others");
}

static void add_row(const struct world *world, struct fact_sheet *out,
		    const struct process_group *group)
{
	struct tscope_value *row = tsi_table_row(out, TABLE_GROUPS);

	row[GROUPS_GROUP] = tsi_text_if(group->name[0] ? group->name : NULL);
	row[GROUPS_RANKS] = tsi_text(tsi_make_group_ranks(out, world, group));
	if (group->size != NO_NUMBER)
		row[GROUPS_SIZE] = tsi_int(group->size);
	row[GROUPS_READ_COUNT] = tsi_int(group->rank_count);
	row[GROUPS_IS_INFERRED] = tsi_flag(group->is_inferred);
	row[GROUPS_MATCHED_COUNT] = tsi_int((int64_t)group->matched_count);
	row[GROUPS_MISMATCHED_COUNT] = tsi_int((int64_t)group->mismatched_count);
	row[GROUPS_MISSING_COUNT] = tsi_int((int64_t)group->missing_count);
	row[GROUPS_SURPLUS_COUNT] = tsi_int((int64_t)group->surplus_count);
	row[GROUPS_CUT_COUNT] = tsi_int((int64_t)group->cut_count);
}

static void fill_process_groups(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct world *world = scope->world;

	if (!world)
		return;
	set_facts(out, world);
	for (size_t i = 0; i < world->group_count; i++)
		add_row(world, out, &world->groups[i]);
}

const struct analyzer tsi_analyzer_process_groups = {
	.def = {
		.id = "process_groups",
		.summary = "process groups, and how well their collectives match across ranks",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "traces of two or more ranks with communication",
	},
	.levels = LEVEL_RUN,
	.fill = fill_process_groups,
};
