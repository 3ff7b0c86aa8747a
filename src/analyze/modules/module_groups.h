/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MODULES_MODULE_GROUPS_H
#define TSCOPE_ANALYZE_MODULES_MODULE_GROUPS_H

#include "analyze/modules/places.h"

/*
 * The tree of modules with repeated layers as one: siblings of the same class, with the same
 * modules in them, are a group "Block.*". Modules without others in them stay apart, as each has
 * its own purpose: the second Linear of an MLP is "Linear[1]". Where modules have names, those that
 * lists number are of one class: "layers.*.mlp.down_proj".
 */
struct module_group {
	uint32_t parent;       /* of a root, and of group 0: 0 */
	uint32_t depth;        /* of a root 1 */
	uint32_t first_node;   /* of it */
	uint32_t module_count; /* nodes of it */
	bool is_repeated;      /* its nodes are layers that are alike */
	const char *path;      /* "GPT.Block.*.Linear[1]", "layers.*.wq"; of group 0 "" */
};

struct module_groups {
	struct module_group *groups; /* [0] is outside of all modules; parents come first */
	size_t count;
	uint32_t *by_node;
};

/* False without memory. */
bool tsi_module_groups_init(struct module_groups *groups, const struct places *places,
			    struct arena *arena);

/* "Linear" of "Linear_3". */
struct str tsi_module_class(struct str module);

#endif
