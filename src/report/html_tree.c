/* SPDX-License-Identifier: MIT */
/*
 * Host operators and annotations by the way they are called, for the page's icicle: each node is a
 * name below the names that call it, on all threads together, with its time on the host and that of
 * the device work launched in it. Step markers are left out: steps would stand side by side.
 */
#include "base/key_map.h"
#include "base/sum.h"
#include "report/html_lanes.h"
#include "report/json_parts.h"
#include "timeline/timeline.h"

enum {
	MAX_NODES = 1 << 20,
	LEAST_SHARE = 4000, /* a node with a smaller part of the whole is not drawn */
	ROOT = 0,
};

struct tree_node {
	uint32_t parent, name; /* index; id in trace->names */
	uint64_t count;
	int64_t host_ns, device_ns;
	int64_t drawn; /* its number in the page, or -1 */
};

struct tree {
	const struct tscope_trace *trace;
	struct arena arena;
	struct tree_node *nodes; /* a parent stands before its children */
	size_t count, capacity;
	struct key_map children; /* (parent, name) → node */
	uint32_t *node_of_row;   /* of host rows */
	bool has_failed;
};

static uint32_t child_of(struct tree *tree, uint32_t parent, uint32_t name)
{
	uint64_t key = tsi_key_of_pair(parent, name);
	uint32_t index = tsi_key_map_find(&tree->children, key);
	struct tscope_error ignored;
	struct tree_node *node;

	if (index != UINT32_MAX)
		return index;
	if (tree->count >= MAX_NODES)
		return parent;
	node = tsi_arena_push(&tree->arena, &tree->nodes, &tree->count, &tree->capacity,
			      sizeof(*node));
	if (!node || tsi_key_map_put(&tree->children, key, (uint32_t)tree->count - 1, &ignored) !=
			     TSCOPE_OK) {
		tree->has_failed = true;
		return parent;
	}
	node->parent = parent;
	node->name = name;
	return (uint32_t)tree->count - 1;
}

static bool is_drawn(const struct tree *tree, const struct span_kind *kind)
{
	static const char marker[] = "ProfilerStep#";
	struct str name;

	if (kind->span_class == TSCOPE_SPAN_CPU_OP || kind->span_class == TSCOPE_SPAN_PYTHON)
		return true;
	if (kind->span_class != TSCOPE_SPAN_ANNOTATION)
		return false;
	name = tsi_intern_text(&tree->trace->names, kind->name);
	return strncmp(name.data, marker, strlen(marker)) != 0;
}

static void walk_track(struct tree *tree, const struct track *track)
{
	struct {
		int64_t end_ns;
		uint32_t node;
	} open[LANE_MAX_DEPTH];
	unsigned depth = 0;

	for (uint32_t row = track->first; row - track->first < track->count; row++) {
		const struct span_kind *kind = tsi_span_kind(&tree->trace->spans, row);
		int64_t start_ns = tsi_start_ns(&tree->trace->spans, row);
		int64_t end_ns = tsi_span_end(tree->trace, row);
		uint32_t parent;

		while (depth > 0 && open[depth - 1].end_ns <= start_ns)
			depth--;
		parent = depth > 0 ? open[depth - 1].node : ROOT;
		tree->node_of_row[row] = parent;
		if (!is_drawn(tree, kind) || depth == LANE_MAX_DEPTH)
			continue;
		/* A child that crosses the end of its parent is cut there. */
		if (depth > 0 && end_ns > open[depth - 1].end_ns)
			end_ns = open[depth - 1].end_ns;
		open[depth].node = child_of(tree, parent, kind->name);
		open[depth].end_ns = end_ns;
		tree->node_of_row[row] = open[depth].node;
		if (open[depth].node != parent) {
			tree->nodes[open[depth].node].count++;
			tsi_sum(&tree->nodes[open[depth].node].host_ns, end_ns - start_ns);
		}
		depth++;
	}
}

/* To the innermost node around the launch, then upwards. */
static void add_device_time(struct tree *tree)
{
	const struct tscope_trace *trace = tree->trace;
	uint32_t first = trace->spans.count - (uint32_t)trace->device_event_count;

	for (uint32_t row = first; row < trace->spans.count; row++) {
		const struct device_event *event = tsi_device_event(trace, row);
		uint32_t from = event->call != NO_ROW ? event->call : event->op;

		if (from != NO_ROW && from < first)
			tsi_sum(&tree->nodes[tree->node_of_row[from]].device_ns,
				tsi_dur_ns(&trace->spans, row));
	}
	for (size_t i = tree->count; i-- > 1;)
		tsi_sum(&tree->nodes[tree->nodes[i].parent].device_ns, tree->nodes[i].device_ns);
	for (size_t i = 1; i < tree->count; i++)
		if (tree->nodes[i].parent == ROOT)
			tsi_sum(&tree->nodes[ROOT].host_ns, tree->nodes[i].host_ns);
}

/* Numbers the nodes that are large enough to be seen; their parents are larger. */
static void choose(struct tree *tree)
{
	const struct tree_node *root = &tree->nodes[ROOT];
	int64_t drawn = 0;

	for (size_t i = 0; i < tree->count; i++) {
		struct tree_node *node = &tree->nodes[i];
		bool is_large = node->host_ns > root->host_ns / LEAST_SHARE ||
				node->device_ns > root->device_ns / LEAST_SHARE;

		node->drawn = i == ROOT || (is_large && tree->nodes[node->parent].drawn >= 0)
				      ? drawn++
				      : -1;
	}
}

static void put_column(struct json_writer *w, const struct tree *tree, const char *key,
		       int64_t (*get)(const struct tree *tree, const struct tree_node *node))
{
	tsi_json_array(w, key);
	for (size_t i = 0; i < tree->count; i++)
		if (tree->nodes[i].drawn >= 0)
			tsi_jw_int(w, get(tree, &tree->nodes[i]));
	tsi_jw_end_array(w);
}

static int64_t parent_of(const struct tree *tree, const struct tree_node *node)
{
	return node == tree->nodes ? -1 : tree->nodes[node->parent].drawn;
}

static int64_t count_of(const struct tree *tree, const struct tree_node *node)
{
	(void)tree;
	return (int64_t)node->count;
}

static int64_t host_of(const struct tree *tree, const struct tree_node *node)
{
	(void)tree;
	return node->host_ns;
}

static int64_t device_of(const struct tree *tree, const struct tree_node *node)
{
	(void)tree;
	return node->device_ns;
}

static void put_tree(struct json_writer *w, const struct tree *tree)
{
	tsi_json_object(w, "tree");
	tsi_json_text(w, "title", "Operators by caller");
	tsi_json_array(w, "name");
	for (size_t i = 0; i < tree->count; i++)
		if (tree->nodes[i].drawn >= 0)
			tsi_jw_text(w, i == ROOT ? "all threads"
						 : tsi_intern_text(&tree->trace->names,
								   tree->nodes[i].name)
							   .data);
	tsi_jw_end_array(w);
	put_column(w, tree, "parent", parent_of);
	put_column(w, tree, "count", count_of);
	put_column(w, tree, "host_ns", host_of);
	put_column(w, tree, "device_ns", device_of);
	tsi_jw_end_object(w);
}

void tsi_html_tree(struct json_writer *w, const struct tscope_trace *trace)
{
	struct tree tree = { .trace = trace };

	tree.node_of_row = tsi_arena_new(&tree.arena, trace->spans.count, sizeof(uint32_t));
	if (tree.node_of_row && tsi_arena_push(&tree.arena, &tree.nodes, &tree.count,
					       &tree.capacity, sizeof(*tree.nodes))) {
		for (uint32_t i = 0; i < trace->host_track_count; i++)
			walk_track(&tree, &trace->tracks[i]);
		add_device_time(&tree);
		choose(&tree);
		if (!tree.has_failed && !tree.arena.has_failed && tree.count > 1)
			put_tree(w, &tree);
	}
	w->has_failed |= tree.has_failed || tree.arena.has_failed;
	tsi_key_map_deinit(&tree.children);
	tsi_arena_deinit(&tree.arena);
}
