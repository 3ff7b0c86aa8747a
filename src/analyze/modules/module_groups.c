/* SPDX-License-Identifier: MIT */
/*
 * Modules are alike whose signatures are equal: a number for the class and the signatures of the
 * modules in it, in order. Children come after their parents, so one pass from the last node to
 * the first gives all signatures, and one from the first to the last the groups.
 */
#include "analyze/modules/module_groups.h"

#include "base/pair_set.h"
#include "model/trace/module_path.h"

/* Marks a signature that goes on; numbers of classes are below. */
#define IN_ORDER (UINT32_C(1) << 31)

enum { MAX_PATH = 512 }; /* characters of a path; of longer ones the end is shown */

struct grouper {
	struct module_groups *out;
	const struct places *places;
	struct arena *arena;
	uint32_t *class_of;    /* by node: the first node of its class */
	uint32_t *signature;   /* by node */
	uint32_t *first_child; /* by node, and the next sibling; 0: none */
	uint32_t *next;
	struct pair_set signatures;
	struct pair_set alike;  /* (parent, signature): uint32_t, how many */
	struct pair_set same;   /* (parent, class): uint32_t, how many */
	struct pair_set before; /* (parent, class): uint32_t, how many of them had a turn */
	struct pair_set keys;   /* (signature, UINT32_MAX) or (class, place among its like) */
	struct pair_set groups; /* (parent group, key): uint32_t group */
	struct pair_set shapes; /* (parent group, class): uint32_t, repeated groups */
	size_t capacity;
};

struct str tsi_module_class(struct str module)
{
	size_t length = module.length;

	while (length && module.data[length - 1] >= '0' && module.data[length - 1] <= '9')
		length--;
	if (length > 1 && length < module.length && module.data[length - 1] == '_')
		module.length = length - 1;
	return module;
}

/* May it be one of several layers that are alike? Of others only their class is known. */
static bool is_layer(const struct grouper *g, uint32_t node)
{
	return g->first_child[node] || g->places->nodes[node].is_unit;
}

static struct str class_text(const struct grouper *g, uint32_t node)
{
	const struct module_node *module = &g->places->nodes[node];

	if (!module->is_named)
		return tsi_module_class(module->text);
	if (is_layer(g, node) && tsi_is_module_number(module->text))
		return TSI_STR("*");
	return module->text;
}

/* The item of a pair, or NULL without memory. */
static uint32_t *item_of(struct pair_set *set, uint32_t first, uint32_t second)
{
	uint32_t number = tsi_pair_set_add(set, first, second);

	return number == UINT32_MAX ? NULL : (uint32_t *)set->items + number;
}

/* Classes by their texts; an error is one of memory. */
static void find_classes(struct grouper *g)
{
	struct intern classes;
	uint32_t *first = tsi_arena_new(g->arena, g->places->node_count + 1, sizeof(*first));
	bool is_ready = tsi_intern_init(&classes, SIZE_MAX, NULL) == TSCOPE_OK;

	for (uint32_t node = 1; is_ready && first && node < g->places->node_count; node++) {
		uint32_t id;
		struct str name = class_text(g, node);
		is_ready = tsi_intern_add(&classes, name, &id, NULL) == TSCOPE_OK;
		if (is_ready && !first[id])
			first[id] = node;
		g->class_of[node] = is_ready ? first[id] : 0;
	}
	g->arena->has_failed |= !is_ready;
	tsi_intern_deinit(&classes);
}

static void list_children(struct grouper *g)
{
	for (uint32_t node = (uint32_t)g->places->node_count; --node > 0;) {
		uint32_t parent = g->places->nodes[node].parent;

		g->next[node] = g->first_child[parent];
		g->first_child[parent] = node;
	}
}

static void find_signatures(struct grouper *g)
{
	for (uint32_t node = (uint32_t)g->places->node_count; --node > 0;) {
		uint32_t found = tsi_pair_set_add(&g->signatures, g->class_of[node], 0);

		for (uint32_t at = g->first_child[node]; at; at = g->next[at])
			found = tsi_pair_set_add(&g->signatures, found | IN_ORDER,
						 g->signature[at]);
		g->signature[node] = found;
	}
}

static void count_siblings(struct grouper *g)
{
	for (uint32_t node = 1; node < g->places->node_count; node++) {
		uint32_t parent = g->places->nodes[node].parent;
		uint32_t *alike = item_of(&g->alike, parent, g->signature[node]);
		uint32_t *same = item_of(&g->same, parent, g->class_of[node]);

		if (!alike || !same)
			return;
		++*alike;
		++*same;
	}
}

/* How a node is called in its parent. */
struct label {
	struct str name; /* its class */
	uint32_t place, of;
	bool is_repeated;
	bool is_number; /* a number names it; name: the number, or of several "*" */
};

static const char *print_path(struct grouper *g, uint32_t parent, const struct label *label,
			      uint32_t shape)
{
	const char *around = g->out->groups[parent].path;
	size_t length = strlen(around);
	int shown = (int)(label->name.length < MAX_PATH ? label->name.length : MAX_PATH);
	const char *cut = length > MAX_PATH ? "..." : "";
	const char *dot = length ? "." : "";

	around += length > MAX_PATH ? length - MAX_PATH : 0;
	const char *all = label->is_number ? "" : ".*";
	if (label->is_repeated && shape)
		return tsi_arena_print(g->arena, "%s%s%s%.*s%s(%u)", cut, around, dot, shown,
				       label->name.data, all, shape + 1);
	if (label->is_repeated)
		return tsi_arena_print(g->arena, "%s%s%s%.*s%s", cut, around, dot, shown,
				       label->name.data, all);
	if (label->of > 1 && !label->is_number)
		return tsi_arena_print(g->arena, "%s%s%s%.*s[%u]", cut, around, dot, shown,
				       label->name.data, label->place);
	return tsi_arena_print(g->arena, "%s%s%s%.*s", cut, around, dot, shown, label->name.data);
}

static void add_group(struct grouper *g, uint32_t node, uint32_t parent, const struct label *label)
{
	uint32_t *shapes = item_of(&g->shapes, parent, g->class_of[node]);
	struct module_groups *out = g->out;
	struct module_group *group =
		tsi_arena_push(g->arena, &out->groups, &out->count, &g->capacity, sizeof(*group));
	if (!group || !shapes)
		return;
	group->parent = parent;
	group->depth = g->places->nodes[node].depth;
	group->first_node = node;
	group->is_repeated = label->is_repeated;
	group->path = print_path(g, parent, label, *shapes);
	*shapes += label->is_repeated;
}

static void put_in_group(struct grouper *g, uint32_t node)
{
	uint32_t parent = g->places->nodes[node].parent, class_id = g->class_of[node];
	uint32_t around = g->out->by_node[parent];
	uint32_t *before = item_of(&g->before, parent, class_id);
	uint32_t *same = item_of(&g->same, parent, class_id);
	uint32_t *alike = item_of(&g->alike, parent, g->signature[node]);

	if (!before || !same || !alike)
		return;
	struct label label = {
		.name = class_text(g, node),
		.place = (*before)++,
		.of = *same,
		.is_repeated = is_layer(g, node) && *alike > 1,
		.is_number = tsi_str_equal(class_text(g, node), TSI_STR("*")),
	};
	if (label.is_number && !label.is_repeated) {
		int64_t number = 0;
		label.name = g->places->nodes[node].text;
		(void)tsi_str_to_int64(label.name, &number);
		label.place = (uint32_t)number;
	}
	uint32_t key = label.is_repeated
			       ? tsi_pair_set_add(&g->keys, g->signature[node], UINT32_MAX)
			       : tsi_pair_set_add(&g->keys, class_id | IN_ORDER, label.place);
	uint32_t *group = key == UINT32_MAX ? NULL : item_of(&g->groups, around, key);
	if (!group)
		return;
	if (!*group) {
		add_group(g, node, around, &label);
		*group = (uint32_t)g->out->count - 1;
	}
	g->out->by_node[node] = *group;
	g->out->groups[*group].module_count++;
}

bool tsi_module_groups_init(struct module_groups *groups, const struct places *places,
			    struct arena *arena)
{
	size_t count = places->node_count;
	struct pair_set counts = { .arena = arena, .item_bytes = sizeof(uint32_t) };
	struct grouper g = {
		.out = groups,
		.places = places,
		.arena = arena,
		.class_of = tsi_arena_new(arena, count, sizeof(uint32_t)),
		.signature = tsi_arena_new(arena, count, sizeof(uint32_t)),
		.first_child = tsi_arena_new(arena, count, sizeof(uint32_t)),
		.next = tsi_arena_new(arena, count, sizeof(uint32_t)),
		.signatures = { .arena = arena },
		.alike = counts,
		.same = counts,
		.before = counts,
		.keys = { .arena = arena },
		.groups = counts,
		.shapes = counts,
	};

	*groups = (struct module_groups){
		.by_node = tsi_arena_new(arena, count, sizeof(uint32_t)),
	};
	struct module_group *outside = tsi_arena_push(arena, &groups->groups, &groups->count,
						      &g.capacity, sizeof(*outside));
	if (arena->has_failed)
		return false;
	outside->path = "";
	list_children(&g);
	find_classes(&g);
	find_signatures(&g);
	count_siblings(&g);
	for (uint32_t node = 1; !arena->has_failed && node < count; node++)
		put_in_group(&g, node);
	return !arena->has_failed;
}
