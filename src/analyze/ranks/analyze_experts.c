/* SPDX-License-Identifier: MIT */
/*
 * How evenly the experts of a mixture are loaded: what the ranks of a group receive in an
 * all-to-all is what they are to work on. Where all receive alike, an all-to-all says nothing: it
 * may be of another kind, or the way back.
 */
#include "analyze/facts.h"
#include "analyze/ranks/group_words.h"

#include "base/sum.h"

#define FACTS(X)                                                                                   \
	X(COUNT, "count", COUNT,                                                                   \
	  "matched all-to-alls of which some ranks receive more than others")                      \
	X(IMBALANCE_RATIO, "imbalance_ratio", NUMBER,                                              \
	  "most ÷ mean of what the ranks of a group receive, mean")                                \
	X(WORST_IMBALANCE_RATIO, "worst_imbalance_ratio", NUMBER, "likewise, most")                \
	X(BUSIEST_RANK, "busiest_rank", COUNT, "rank that receives most")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define RANKS_COLUMNS(X)                                                                           \
	X(RANKS_RANK, "rank", COUNT, "number of the rank")                                         \
	X(RANKS_RECEIVED_BYTES, "received_bytes", BYTES, "what it receives, sum")                  \
	X(RANKS_LOAD_RATIO, "load_ratio", NUMBER, "that by the mean of its group")

TSI_FACT_LIST(enum ranks_column, ranks_columns, RANKS_COLUMNS);

#define TABLES(X) X(TABLE_RANKS, "ranks", ranks_columns, "each rank that takes part")

TSI_TABLE_LIST(enum table, tables, TABLES);

static const char unread_doubt[] = "some ranks of the groups were not read";

/* Load of one rank, and that of the mean rank of its groups. */
struct load {
	int64_t received_bytes;
	double mean_bytes;
};

/* Split sizes of one all-to-all. */
struct split {
	int64_t most_bytes, least_bytes, sum_bytes;
};

static int64_t received_bytes(const struct world *world, const struct match *match, uint32_t i)
{
	const struct match_member *member = &world->members[match->first_member + i];

	return world->logs[member->rank].ops[member->op].received_bytes;
}

/* False where it is no all-to-all of which all members say what they receive, and unevenly. */
static bool find_split(struct split *split, const struct world *world, const struct match *match)
{
	*split = (struct split){ .most_bytes = -1, .least_bytes = INT64_MAX };
	if (match->kind != COLLECTIVE_ALL_TO_ALL)
		return false;
	for (uint32_t i = 0; i < match->member_count; i++) {
		int64_t bytes = received_bytes(world, match, i);

		if (bytes < 0)
			return false;
		tsi_sum(&split->sum_bytes, bytes);
		split->most_bytes = bytes > split->most_bytes ? bytes : split->most_bytes;
		split->least_bytes = bytes < split->least_bytes ? bytes : split->least_bytes;
	}
	return split->most_bytes > split->least_bytes;
}

static void add_loads(struct load *loads, const struct world *world, const struct match *match,
		      double mean_bytes)
{
	for (uint32_t i = 0; i < match->member_count; i++) {
		struct load *load = &loads[world->members[match->first_member + i].rank];

		tsi_sum(&load->received_bytes, received_bytes(world, match, i));
		load->mean_bytes += mean_bytes;
	}
}

/* How many there are; with their facts, and the loads of ranks. */
static int64_t look_at_splits(struct load *loads, const struct world *world, struct fact_sheet *out)
{
	double sum = 0, worst = 0;
	int64_t count = 0;

	for (size_t i = 0; i < world->match_count; i++) {
		const struct match *match = &world->matches[i];
		struct split split;

		if (!find_split(&split, world, match))
			continue;
		double mean_bytes = (double)split.sum_bytes / match->member_count;
		double ratio = (double)split.most_bytes / mean_bytes;
		sum += ratio;
		worst = ratio > worst ? ratio : worst;
		count++;
		add_loads(loads, world, match, mean_bytes);
		if (!tsi_group_is_whole(world, &world->groups[match->group]))
			tsi_fact_unreliable(out, unread_doubt);
	}
	if (count > 0) {
		tsi_fact_int(out, COUNT, count);
		tsi_fact_real(out, IMBALANCE_RATIO, sum / (double)count);
		tsi_fact_real(out, WORST_IMBALANCE_RATIO, worst);
	}
	return count;
}

static void put_ranks(const struct load *loads, const struct world *world, struct fact_sheet *out)
{
	int64_t most_bytes = -1;

	for (size_t rank = 0; rank < world->rank_count; rank++) {
		const struct load *load = &loads[rank];

		if (!(load->mean_bytes > 0))
			continue;
		struct tscope_value *cells = tsi_table_row(out, TABLE_RANKS);
		cells[RANKS_RANK] = tsi_int(world->logs[rank].rank);
		cells[RANKS_RECEIVED_BYTES] = tsi_int(load->received_bytes);
		cells[RANKS_LOAD_RATIO] = tsi_real((double)load->received_bytes / load->mean_bytes);
		if (load->received_bytes <= most_bytes)
			continue;
		most_bytes = load->received_bytes;
		tsi_fact_int(out, BUSIEST_RANK, world->logs[rank].rank);
	}
}

static void fill_experts(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct world *world = scope->world;
	struct load *loads;

	if (!world)
		return;
	loads = tsi_arena_new(tsi_sheet_scratch(out), world->rank_count, sizeof(*loads));
	if (loads && look_at_splits(loads, world, out) > 0)
		put_ranks(loads, world, out);
}

const struct analyzer tsi_analyzer_experts = {
	.def = {
		.id = "experts",
		.summary = "how evenly experts are loaded, by the sizes of all-to-alls",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "traces of two or more ranks with all-to-all collectives of which some "
			 "ranks receive more than others",
		.total = TSCOPE_TOTAL_CAPTURE,
	},
	.levels = LEVEL_RUN,
	.fill = fill_experts,
};
