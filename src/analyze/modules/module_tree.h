/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MODULES_MODULE_TREE_H
#define TSCOPE_ANALYZE_MODULES_MODULE_TREE_H

#include "analyze/modules/places.h"
#include "base/pair_set.h"

/*
 * Builds the tree of places->nodes. Texts of nodes live as long as the trace and the arena of the
 * places. Without memory all functions give node 0, and one of the arenas, or has_failed, says so.
 */
struct module_tree {
	struct places *places;
	struct arena *arena;   /* of the places */
	struct pair_set known; /* (parent, key of name): number + 1 is the index */
	struct intern names;   /* in paths */
	size_t capacity;
	bool has_failed;
};

/* scratch: of what only building needs. The caller deinits the tree, on failure too. */
TSI_MUST_CHECK
bool tsi_module_tree_init(struct module_tree *tree, struct places *places, struct arena *arena,
			  struct arena *scratch);
void tsi_module_tree_deinit(struct module_tree *tree);

/*
 * The node of a frame "nn.Module: Linear_3" that opens in another. Forward code that runs again
 * within a node of the backward pass is that of the nearest module around which has such a child:
 * it may begin further out than the operator whose node it is for.
 */
uint32_t tsi_tree_find_frame(struct module_tree *tree, uint32_t around, uint32_t name,
			     bool is_again);

/* The node of a module by its name in the one around. */
uint32_t tsi_tree_find_name(struct module_tree *tree, uint32_t around, struct str name);

/* How the text of a path is taken apart: tsi_path_next(), tsi_hierarchy_next(). */
typedef bool path_reader(struct str *path, struct str *name);

/*
 * The node of a path from the root. Looked up by `id`, that of a text which says the path, from the
 * second time on.
 */
uint32_t tsi_tree_find_path(struct module_tree *tree, uint32_t id, struct str path,
			    path_reader *next);

#endif
