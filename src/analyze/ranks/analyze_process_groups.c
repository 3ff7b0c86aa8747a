/* SPDX-License-Identifier: MIT */
/*
 * Which ranks communicate with one another, and how well what they did goes together: everything
 * that is said of waiting and of clocks rests on collectives that match.
 */
#include "analyze/facts.h"
#include "analyze/ranks/group_words.h"

#include "comm/world.h"

enum fact {
	GROUP_COUNT,
	MATCHED_COUNT,
	MISMATCHED_COUNT,
	MISSING_COUNT,
	SURPLUS_COUNT,
	CUT_COUNT,
	POINT_TO_POINT_COUNT,
	IS_INFERRED,
};

static const struct tscope_fact_def facts[] = {
	[GROUP_COUNT] = { "group_count", TSCOPE_UNIT_COUNT, "process groups" },
	[MATCHED_COUNT] = { "matched_count", TSCOPE_UNIT_COUNT,
			    "collectives that all ranks read of their group have alike" },
	[MISMATCHED_COUNT] = { "mismatched_count", TSCOPE_UNIT_COUNT,
			       "whose kind, size or type differ between ranks" },
	[MISSING_COUNT] = { "missing_count", TSCOPE_UNIT_COUNT, "that some of these ranks lack" },
	[SURPLUS_COUNT] = { "surplus_count", TSCOPE_UNIT_COUNT, "that one rank alone has" },
	[CUT_COUNT] = { "cut_count", TSCOPE_UNIT_COUNT,
			"that touch the begin or end of a capture, in no figure" },
	[POINT_TO_POINT_COUNT] = { "point_to_point_count", TSCOPE_UNIT_COUNT,
				   "of the matched, pairs of a send and a receive" },
	[IS_INFERRED] = { "is_inferred", TSCOPE_UNIT_FLAG,
			  "no file says the members of some group: order and size told them" },
};

enum groups_column {
	GROUPS_GROUP,
	GROUPS_RANKS,
	GROUPS_SIZE,
	GROUPS_READ_COUNT,
	GROUPS_IS_INFERRED,
	GROUPS_MATCHED_COUNT,
	GROUPS_MISMATCHED_COUNT,
	GROUPS_MISSING_COUNT,
	GROUPS_SURPLUS_COUNT,
	GROUPS_CUT_COUNT,
};

static const struct tscope_fact_def groups_columns[] = {
	[GROUPS_GROUP] = { "group", TSCOPE_UNIT_TEXT, "its description, or name" },
	[GROUPS_RANKS] = { "ranks", TSCOPE_UNIT_TEXT,
			   "its ranks, as \"0-3, 8\", with those that were not read where known" },
	[GROUPS_SIZE] = { "size", TSCOPE_UNIT_COUNT, "ranks that it has" },
	[GROUPS_READ_COUNT] = { "read_count", TSCOPE_UNIT_COUNT, "of them, those that were read" },
	[GROUPS_IS_INFERRED] = { "is_inferred", TSCOPE_UNIT_FLAG, "nobody says its members" },
	[GROUPS_MATCHED_COUNT] = { "matched_count", TSCOPE_UNIT_COUNT, "as above" },
	[GROUPS_MISMATCHED_COUNT] = { "mismatched_count", TSCOPE_UNIT_COUNT, "as above" },
	[GROUPS_MISSING_COUNT] = { "missing_count", TSCOPE_UNIT_COUNT, "as above" },
	[GROUPS_SURPLUS_COUNT] = { "surplus_count", TSCOPE_UNIT_COUNT, "as above" },
	[GROUPS_CUT_COUNT] = { "cut_count", TSCOPE_UNIT_COUNT, "as above" },
};

enum table { TABLE_GROUPS };

static const struct tscope_table_def tables[] = {
	[TABLE_GROUPS] = TSI_TABLE_DEF("groups", groups_columns, "each process group"),
};

/* Above this share of instances that do not match, what does match is no sample of the rest. */
static const double max_unmatched_share = 0.05;

/* Of all groups. */
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
