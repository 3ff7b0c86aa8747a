/* SPDX-License-Identifier: MIT */
/*
 * What late ranks have in common: nodes or device models nearly all of whose ranks are late, while
 * nearly all late ranks are in such ones.
 */
#include "analyze/ranks/group_words.h"
#include "analyze/ranks/straggler_parts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "comm/world.h"

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

static enum tscope_status grouping_init(struct grouping *grouping, struct tscope_error *err)
{
	size_t count = grouping->late->rank_count;

	if (tsi_array_new(&grouping->groups, count, sizeof(*grouping->groups), err) != TSCOPE_OK ||
	    tsi_array_new(&grouping->rank_counts, count, sizeof(*grouping->rank_counts), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&grouping->late_counts, count, sizeof(*grouping->late_counts), err) !=
		    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_array_new(&grouping->members, count, sizeof(*grouping->members), err);
}

static void grouping_deinit(struct grouping *grouping)
{
	free(grouping->groups);
	free(grouping->rank_counts);
	free(grouping->late_counts);
	free(grouping->members);
}

/* ---- kinds ---- */

static bool is_same_node(const struct world *world, size_t a, size_t b)
{
	return world->nodes[a] != NO_ROW && world->nodes[a] == world->nodes[b];
}

static enum tscope_status name_node(const struct analysis_scope *scope, size_t rank,
				    const char **name, struct tscope_error *err)
{
	const struct rank_log *log = &scope->world->logs[rank];

	if (log->host_name != 0)
		return tsi_keep_text(scope, tsi_intern_text(&log->names, log->host_name), name,
				     err);
	return tsi_make_text(scope, name, err, "%" PRIu32, scope->world->nodes[rank]);
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

static enum tscope_status name_device(const struct analysis_scope *scope, size_t rank,
				      const char **name, struct tscope_error *err)
{
	return tsi_keep_text(scope, device_of(scope->world, rank), name, err);
}

static const struct kind {
	const char *name;
	bool (*is_same)(const struct world *world, size_t a, size_t b); /* false: not known */
	enum tscope_status (*make_name)(const struct analysis_scope *scope, size_t rank,
					const char **name, struct tscope_error *err);
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

static enum tscope_status put_group(const struct grouping *grouping, uint32_t group,
				    const struct kind *kind, struct fact_sheet *out,
				    struct tscope_error *err)
{
	struct process_group ranks = { .ranks = grouping->members };
	const char *name, *ranks_text;
	struct tscope_value *cells;

	for (uint32_t i = 0; i < grouping->late->rank_count; i++)
		if (grouping->groups[i] == group)
			grouping->members[ranks.rank_count++] = i;
	if (kind->make_name(grouping->scope, group, &name, err) != TSCOPE_OK ||
	    tsi_make_group_ranks(grouping->scope, &ranks, &ranks_text, err) != TSCOPE_OK ||
	    tsi_table_add(out, TABLE_GROUPS, &cells, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	cells[GROUPS_KIND] = tsi_text(kind->name);
	cells[GROUPS_NAME] = tsi_text(name);
	cells[GROUPS_RANKS] = tsi_text(ranks_text);
	cells[GROUPS_LATE_COUNT] = tsi_int(grouping->late_counts[group]);
	cells[GROUPS_RANK_COUNT] = tsi_int(grouping->rank_counts[group]);
	return TSCOPE_OK;
}

static enum tscope_status put_kind(struct grouping *grouping, const struct kind *kind,
				   struct fact_sheet *out, struct tscope_error *err)
{
	find_groups(grouping, kind);
	if (!is_common(grouping))
		return TSCOPE_OK;
	for (uint32_t i = 0; i < grouping->late->rank_count; i++)
		if (grouping->groups[i] == i && is_late_group(grouping, i) &&
		    put_group(grouping, i, kind, out, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	return TSCOPE_OK;
}

enum tscope_status tsi_stragglers_put_groups(const struct late_ranks *late,
					     const struct analysis_scope *scope,
					     struct fact_sheet *out, struct tscope_error *err)
{
	struct grouping grouping = { .scope = scope, .late = late };
	enum tscope_status status = grouping_init(&grouping, err);

	for (size_t i = 0; status == TSCOPE_OK && i < TSI_COUNT_OF(kinds); i++)
		status = put_kind(&grouping, &kinds[i], out, err);
	grouping_deinit(&grouping);
	return status;
}
