/* SPDX-License-Identifier: MIT */
/*
 * What late ranks have in common: nodes or device models nearly all of whose ranks are late, while
 * nearly all late ranks are in such ones.
 */
#include "analyze/ranks/group_words.h"
#include "analyze/ranks/straggler_parts.h"

#include <inttypes.h>

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

/* ---- kinds ---- */

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

/* ---- which are late ---- */

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

void tsi_stragglers_put_groups(const struct late_ranks *late, const struct analysis_scope *scope,
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
