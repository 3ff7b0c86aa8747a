/* SPDX-License-Identifier: MIT */
#include "analyze/modules/module_tree.h"

#include "model/trace/python_name.h"

/* Deeper ones are part of those around them: trees of recursive modules stay small. */
enum { MAX_DEPTH = 100 };

/* Keys of names in paths have it, ids of frames' names have not. */
#define IN_PATH (UINT32_C(1) << 31)

bool tsi_module_tree_init(struct module_tree *tree, struct places *places, struct arena *arena,
			  struct arena *scratch)
{
	*tree = (struct module_tree){ .places = places,
				      .arena = arena,
				      .known = { .arena = scratch } };
	if (tsi_intern_init(&tree->names, IN_PATH - 1, NULL) != TSCOPE_OK)
		return false;
	return tsi_arena_push(arena, &places->nodes, &places->node_count, &tree->capacity,
			      sizeof(*places->nodes)) != NULL;
}

void tsi_module_tree_deinit(struct module_tree *tree)
{
	tsi_intern_deinit(&tree->names);
}

static uint32_t *find_slot(const struct module_tree *tree, uint32_t parent, uint32_t key)
{
	return tree->known.slot_count
		       ? tsi_pair_set_slot(&tree->known, (struct pair){ parent, key })
		       : NULL;
}

static uint32_t find_node(struct module_tree *tree, uint32_t around, uint32_t key, struct str text)
{
	struct places *places = tree->places;
	size_t known_count = tree->known.count;

	if (places->nodes[around].depth == MAX_DEPTH)
		return around;
	uint32_t number = tsi_pair_set_add(&tree->known, around, key);
	if (number == UINT32_MAX || number < known_count)
		return number + 1; /* 0 without memory */
	struct module_node *node = tsi_arena_push(tree->arena, &places->nodes, &places->node_count,
						  &tree->capacity, sizeof(*node));
	if (!node)
		return 0;
	node->parent = around;
	node->text = text;
	node->is_named = (key & IN_PATH) != 0;
	node->depth = places->nodes[around].depth + 1;
	return number + 1;
}

uint32_t tsi_tree_find_frame(struct module_tree *tree, uint32_t around, uint32_t name,
			     bool is_again)
{
	const struct intern *names = &tree->places->timeline->trace->names;

	for (uint32_t at = around; is_again; at = tree->places->nodes[at].parent) {
		uint32_t *slot = find_slot(tree, at, name);
		if (slot && *slot)
			return *slot;
		if (at == 0)
			break;
	}
	return find_node(tree, around, name, tsi_module_name(tsi_intern_text(names, name)));
}

uint32_t tsi_tree_find_name(struct module_tree *tree, uint32_t around, struct str name)
{
	uint32_t id = 0;

	if (tsi_intern_add(&tree->names, name, &id, NULL) != TSCOPE_OK) {
		tree->has_failed = true;
		return 0;
	}
	return find_node(tree, around, IN_PATH | id, name);
}

uint32_t tsi_tree_find_path(struct module_tree *tree, uint32_t id, struct str path,
			    path_reader *next)
{
	struct places *places = tree->places;
	struct str name;
	uint32_t node = 0;

	if (!places->path_nodes)
		places->path_nodes =
			tsi_arena_new(tree->arena, places->timeline->trace->names.count,
				      sizeof(*places->path_nodes));
	if (!places->path_nodes)
		return 0;
	if (places->path_nodes[id])
		return places->path_nodes[id] - 1;
	while (next(&path, &name))
		node = tsi_tree_find_name(tree, node, name);
	places->path_nodes[id] = node + 1;
	return node;
}
