/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_GROUP_SEARCH_H
#define TSCOPE_COMM_GROUP_SEARCH_H

#include "comm/world.h"

/*
 * Shared by process_groups.c and infer_groups.c: the first finds the groups that state their
 * members, the second divides all other ops among groups; messages are message_pairs.c's.
 */

/* A group as one rank names it. Texts are ids in group_search.texts, 0: not said. */
struct local_group {
	uint32_t rank, index; /* in the rank's log */
	uint32_t set;         /* its members or, without them, its size */
	uint32_t description, name;
	uint32_t key; /* equal: the same group on several ranks */
	int64_t size; /* or NO_NUMBER */
	bool is_used; /* an op that is no message between two ranks names it */
	bool has_members;
};

/* A group that states its members. */
struct stated_group {
	uint32_t local; /* the first that names it */
	uint32_t key, set;
	uint32_t *ranks; /* indices of the members that were read */
	uint32_t rank_count;
	uint32_t group; /* in world.groups; NO_ROW: no op is known to be of it */
};

/* Ops that may be of several groups. */
struct op_pool {
	int64_t size;     /* of each of these groups, or NO_NUMBER */
	const char *name; /* of them; "": nobody says any, so that it may be any stated group */
	const struct sort_pair *ops; /* value: rank and op, by rank, then as in the log */
	size_t op_count;
};

struct group_search {
	struct world *world;
	struct arena arena; /* of what is only needed for the search */
	struct intern texts;
	struct local_group *locals; /* by rank, then as in its log */
	size_t local_count;
	size_t *first_local; /* by rank */
	struct stated_group *stated;
	size_t stated_count, stated_capacity;
};

/* Does the op go from one rank to another that it names? */
static inline bool tsi_is_message(const struct rank_log *log, const struct rank_op *op)
{
	return op->kind == COLLECTIVE_SEND_RECV && op->peer >= 0 && op->peer != log->rank;
}

/* The description of a group, else its name; the log's. */
const char *tsi_group_name(const struct rank_log *log, const struct rank_group *group);

/* A new group; its ranks are filled in from group_of_op at the end. */
uint32_t tsi_add_group(struct world *world, const struct process_group *group);

/* The index of a stated group, which is added if it is new. */
uint32_t tsi_add_stated_group(struct group_search *search, struct stated_group *stated);

/* Makes groups of pairs with messages, and writes group_of_op of these (message_pairs.c). */
void tsi_find_message_pairs(struct world *world);

/* Divides ops among groups and writes group_of_op; undecidable ops stay. */
void tsi_infer_groups(struct group_search *search, const struct op_pool *pool);

#endif
