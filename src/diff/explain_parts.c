/* SPDX-License-Identifier: MIT */
/*
 * Parts of the lines of two mean steps, side by side. The parts of each side become means that sum
 * to their line; the rest of a line (of several windows only one is broken down) is a part without
 * a name. Then both sides are sorted by line and kind, and within these matched.
 */
#include "diff/explain_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "diff/comparison.h"
#include "diff/work_names.h"

/* ---- lines ---- */

struct sided_line {
	const struct step_line *line;
	enum tscope_side side;
};

static int compare_sided_lines(const void *left, const void *right)
{
	const struct sided_line *a = left, *b = right;
	int order = strcmp(a->line->name, b->line->name);

	if (order)
		return order;
	return (a->side > b->side) - (a->side < b->side);
}

static void add_to_line(struct explained_line *to, const struct sided_line *from)
{
	if (!to->column)
		to->column = from->line->column;
	to->from[from->side] = from->line->from;
	to->ns[from->side] = tsi_narrow((tsi_wide)to->ns[from->side] + from->line->ns);
}

static void fold_lines(struct explained_step *step, const struct sided_line *sorted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *name = sorted[i].line->name;
		struct explained_line *last = &step->lines[step->line_count];
		if (sorted[i].line->ns == 0)
			continue;
		if (step->line_count && strcmp(last[-1].name, name) == 0) {
			add_to_line(last - 1, &sorted[i]);
			continue;
		}
		*last = (struct explained_line){ .name = name };
		add_to_line(last, &sorted[i]);
		step->line_count++;
	}
}

struct explained_step tsi_explain_lines(const struct step_lines sides[TSCOPE_SIDE_COUNT],
					struct arena *arena)
{
	struct explained_step step = { 0 };
	size_t room = sides[TSCOPE_SIDE_A].count + sides[TSCOPE_SIDE_B].count, count = 0;
	struct sided_line *sorted = tsi_arena_new(arena, room, sizeof(*sorted));

	step.lines = tsi_arena_new(arena, room, sizeof(*step.lines));
	if (!step.lines)
		return step;
	for (size_t side = 0; side < TSCOPE_SIDE_COUNT; side++)
		for (size_t i = 0; i < sides[side].count; i++)
			sorted[count++] = (struct sided_line){ &sides[side].items[i],
							       (enum tscope_side)side };
	qsort(sorted, count, sizeof(*sorted), compare_sided_lines);
	fold_lines(&step, sorted, count);
	return step;
}

/* ---- the parts of one side ---- */

struct side_part {
	size_t line;
	const char *kind, *name; /* "": nothing names it */
	int64_t ns;
};

struct side_parts {
	struct side_part *items;
	size_t count, capacity;
	struct mean_parts *means; /* by line */
	tsi_wide *sums;           /* of the means, by line */
};

static int compare_line_name(const void *key, const void *member)
{
	const char *name = key;
	const struct explained_line *line = member;

	return strcmp(name, line->name);
}

static void add_side_part(struct side_parts *parts, struct side_part part, struct arena *arena)
{
	struct side_part *added;

	if (part.ns == 0)
		return;
	added = tsi_arena_push(arena, &parts->items, &parts->count, &parts->capacity,
			       sizeof(*added));
	if (!added)
		return;
	parts->sums[part.line] += part.ns;
	*added = part;
}

static const char *text_or(struct tscope_value value, const char *fallback)
{
	return value.kind == TSCOPE_VALUE_TEXT ? value.text : fallback;
}

static void read_rows(struct side_parts *parts, const struct explained_step *step,
		      const struct tscope_analysis *rank, struct arena *arena)
{
	struct table_view rows = tsi_lookup_table(rank, "breakdown.parts");
	size_t line = tsi_table_column(&rows, "line"), kind = tsi_table_column(&rows, "kind");
	size_t name = tsi_table_column(&rows, "name"), ns = tsi_table_column(&rows, "ns");

	for (size_t row = 0; row < rows.row_count; row++) {
		struct tscope_value total = tsi_table_cell(&rows, row, ns);
		const char *line_name = text_or(tsi_table_cell(&rows, row, line), "");
		const struct explained_line *in = bsearch(line_name, step->lines, step->line_count,
							  sizeof(*in), compare_line_name);
		if (!in || total.kind != TSCOPE_VALUE_INT)
			continue;
		struct side_part part = {
			.line = (size_t)(in - step->lines),
			.kind = text_or(tsi_table_cell(&rows, row, kind), "none"),
			.name = text_or(tsi_table_cell(&rows, row, name), ""),
		};
		part.ns = tsi_next_mean(&parts->means[part.line], total.integer);
		add_side_part(parts, part, arena);
	}
}

static void add_rests(struct side_parts *parts, const struct explained_step *step,
		      enum tscope_side side, struct arena *arena)
{
	for (size_t i = 0; i < step->line_count; i++) {
		struct side_part rest = { .line = i, .kind = "none", .name = "" };
		rest.ns = tsi_narrow(step->lines[i].ns[side] - parts->sums[i]);
		add_side_part(parts, rest, arena);
	}
}

static int compare_groups(const struct side_part *a, const struct side_part *b)
{
	TSI_ASCENDING(a->line, b->line);
	return strcmp(a->kind, b->kind);
}

static int compare_names(const void *left, const void *right)
{
	const struct side_part *a = left, *b = right;
	int order = compare_groups(a, b);

	return order ? order : strcmp(a->name, b->name);
}

static int compare_sizes(const void *left, const void *right)
{
	const struct side_part *a = left, *b = right;
	int order = compare_groups(a, b);

	if (order == 0 && a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return order ? order : strcmp(a->name, b->name);
}

/* Makes parts of one name one, and sorts them by line and kind, the largest first. */
static void fold_side_parts(struct side_parts *parts)
{
	size_t count = 0;

	if (parts->count == 0)
		return;
	qsort(parts->items, parts->count, sizeof(*parts->items), compare_names);
	for (size_t i = 0; i < parts->count; i++) {
		struct side_part *last = &parts->items[count];
		if (count && compare_names(last - 1, &parts->items[i]) == 0)
			last[-1].ns = tsi_narrow((tsi_wide)last[-1].ns + parts->items[i].ns);
		else
			parts->items[count++] = parts->items[i];
	}
	parts->count = count;
	qsort(parts->items, count, sizeof(*parts->items), compare_sizes);
}

/* A breakdown of the steps that the lines are of goes on where each line begins. */
static void begin_means(struct side_parts *parts, const struct explained_step *step,
			enum tscope_side side, int64_t step_count)
{
	for (size_t i = 0; i < step->line_count; i++) {
		const struct mean_parts *from = &step->lines[i].from[side];
		if (from->count == step_count)
			parts->means[i] = *from;
		else
			parts->means[i] = (struct mean_parts){ .count = step_count };
	}
}

static void read_side(struct side_parts *parts, const struct explained_step *step,
		      enum tscope_side side, const struct tscope_analysis *rank,
		      struct arena *arena)
{
	int64_t step_count = tsi_lookup_int(rank, "breakdown.step_count");

	parts->means = tsi_arena_new(arena, step->line_count, sizeof(*parts->means));
	parts->sums = tsi_arena_new(arena, step->line_count, sizeof(*parts->sums));
	if (!parts->sums)
		return;
	begin_means(parts, step, side, step_count);
	read_rows(parts, step, rank, arena);
	add_rests(parts, step, side, arena);
	fold_side_parts(parts);
}

/* ---- matching ---- */

/* Parts of one line and kind, of one side. */
struct group {
	const struct side_part *parts;
	size_t count;
};

struct matching {
	struct explained_step *step;
	struct fact_sheet *out;
	struct side_parts sides[TSCOPE_SIDE_COUNT];
	struct launcher_names launchers[TSCOPE_SIDE_COUNT];
	struct group groups[TSCOPE_SIDE_COUNT]; /* those at hand */
	struct work_item *items[TSCOPE_SIDE_COUNT];
	double overlap_ratios[TSCOPE_SIDE_COUNT]; /* of communication; NAN: not known */
};

static void name_items(struct matching *matching, enum tscope_side side)
{
	const struct group *group = &matching->groups[side];
	struct work_item *items = matching->items[side];

	for (size_t i = 0; i < group->count; i++) {
		const struct side_part *part = &group->parts[i];
		items[i] = (struct work_item){ .name = part->name };
		if (strcmp(part->kind, "kernel") == 0)
			items[i].launcher = tsi_launcher_name(&matching->launchers[side],
							      part->name, matching->out);
	}
}

/*
 * Is more communication exposed because less of it overlaps with compute, rather than because it
 * takes longer? exposed = comm * (1 - overlap): the larger of the two factors' shares decides. A
 * part that one side has is none of these, unless all communication of the other was hidden.
 */
static bool is_by_overlap(const struct matching *matching, const struct explained_part *part)
{
	double a = matching->overlap_ratios[TSCOPE_SIDE_A];
	double b = matching->overlap_ratios[TSCOPE_SIDE_B];

	if (strcmp(matching->step->lines[part->line].name, "exposed_comm") != 0)
		return false;
	double a_ns = a < 1 ? (double)part->ns[TSCOPE_SIDE_A] / (1 - a) : 0;
	double b_ns = b < 1 ? (double)part->ns[TSCOPE_SIDE_B] / (1 - b) : 0;
	a_ns = a < 1 ? a_ns : b_ns; /* all is hidden, so how long it takes is not known */
	b_ns = b < 1 ? b_ns : a_ns;
	return fabs((a - b) * (a_ns + b_ns) / 2) > fabs((b_ns - a_ns) * (1 - (a + b) / 2));
}

static const char *change_of(const struct matching *matching, const struct work_pair *pair,
			     const struct explained_part *part)
{
	int64_t a_ns = part->ns[TSCOPE_SIDE_A], b_ns = part->ns[TSCOPE_SIDE_B];

	if (b_ns != a_ns && is_by_overlap(matching, part))
		return b_ns > a_ns ? "less_hidden" : "more_hidden";
	/* A part without a name is the rest of a line: neither new nor gone. */
	if (part->name && pair->a_count == 0)
		return "new";
	if (part->name && pair->b_count == 0)
		return "gone";
	if (pair->match == WORK_BY_LAUNCHER)
		return "replaced";
	return b_ns > a_ns ? "slower" : b_ns < a_ns ? "faster" : "same";
}

/* One side of a pair, as indices into the group. */
struct pair_side {
	enum tscope_side side;
	const size_t *indices;
	size_t count; /* 0: nothing */
};

static struct pair_side side_of_pair(const struct work_pairs *pairs, const struct work_pair *pair,
				     enum tscope_side side)
{
	bool is_a = side == TSCOPE_SIDE_A;
	size_t first = is_a ? pair->a_first : pair->b_first;
	struct pair_side ret = { .side = side, .count = is_a ? pair->a_count : pair->b_count };

	if (ret.count)
		ret.indices = is_a ? &pairs->a_items[first] : &pairs->b_items[first];
	return ret;
}

static int64_t sum_of_side(const struct matching *matching, const struct pair_side *side)
{
	const struct side_part *parts = matching->groups[side->side].parts;
	tsi_wide sum = 0;

	for (size_t i = 0; i < side->count; i++)
		sum += parts[side->indices[i]].ns;
	return tsi_narrow(sum);
}

/* The names of one side of a pair, joined; NULL: it has none. */
static const char *name_side(const struct matching *matching, const struct pair_side *side)
{
	const struct work_item *items = matching->items[side->side];

	if (side->count == 0 || items[side->indices[0]].name[0] == '\0')
		return NULL;
	return tsi_join_work_names(items, side->indices, side->count, matching->out);
}

static void add_pair(struct matching *matching, const struct work_pairs *pairs,
		     const struct work_pair *pair)
{
	struct explained_step *step = matching->step;
	const struct group *groups = matching->groups;
	struct pair_side a = side_of_pair(pairs, pair, TSCOPE_SIDE_A);
	struct pair_side b = side_of_pair(pairs, pair, TSCOPE_SIDE_B);
	const struct side_part *any =
		groups[groups[TSCOPE_SIDE_A].count ? TSCOPE_SIDE_A : TSCOPE_SIDE_B].parts;
	const char *a_name = name_side(matching, &a), *b_name = name_side(matching, &b);
	struct explained_part *part =
		tsi_arena_push(tsi_sheet_scratch(matching->out), &step->parts, &step->part_count,
			       &step->part_capacity, sizeof(*part));

	if (!part)
		return;
	part->line = any->line;
	part->kind = any->kind;
	part->name = b_name ? b_name : a_name;
	part->a_name = a_name && b_name && strcmp(a_name, b_name) != 0 ? a_name : NULL;
	part->ns[TSCOPE_SIDE_A] = sum_of_side(matching, &a);
	part->ns[TSCOPE_SIDE_B] = sum_of_side(matching, &b);
	part->change = change_of(matching, pair, part);
	part->is_lone = pair->a_count == 0 || pair->b_count == 0;
	part->is_joined = pair->a_count > 1 || pair->b_count > 1;
}

static void match_group(struct matching *matching)
{
	const struct group *groups = matching->groups;

	name_items(matching, TSCOPE_SIDE_A);
	name_items(matching, TSCOPE_SIDE_B);
	struct work_pairs pairs =
		tsi_work_match(matching->items[TSCOPE_SIDE_A], groups[TSCOPE_SIDE_A].count,
			       matching->items[TSCOPE_SIDE_B], groups[TSCOPE_SIDE_B].count,
			       tsi_sheet_scratch(matching->out));
	for (size_t i = 0; i < pairs.count; i++)
		add_pair(matching, &pairs, &pairs.pairs[i]);
}

/* The parts from `begin` on with the line and kind of `first`. */
static struct group find_group(const struct side_parts *parts, size_t begin,
			       const struct side_part *first)
{
	size_t end = begin;

	while (end < parts->count && compare_groups(&parts->items[end], first) == 0)
		end++;
	return end > begin ? (struct group){ &parts->items[begin], end - begin }
			   : (struct group){ NULL, 0 };
}

/* Takes the next line and kind of both sides, each of which is sorted by them. */
static void match_groups(struct matching *matching)
{
	const struct side_parts *a = &matching->sides[TSCOPE_SIDE_A];
	const struct side_parts *b = &matching->sides[TSCOPE_SIDE_B];
	size_t a_next = 0, b_next = 0;

	while (a_next < a->count || b_next < b->count) {
		bool is_of_a = b_next == b->count ||
			       (a_next < a->count &&
				compare_groups(&a->items[a_next], &b->items[b_next]) <= 0);
		const struct side_part *first = is_of_a ? &a->items[a_next] : &b->items[b_next];
		matching->groups[TSCOPE_SIDE_A] = find_group(a, a_next, first);
		matching->groups[TSCOPE_SIDE_B] = find_group(b, b_next, first);
		match_group(matching);
		a_next += matching->groups[TSCOPE_SIDE_A].count;
		b_next += matching->groups[TSCOPE_SIDE_B].count;
	}
}

void tsi_explain_parts(struct explained_step *step,
		       const struct tscope_analysis *const ranks[TSCOPE_SIDE_COUNT],
		       struct fact_sheet *out)
{
	struct matching matching = { .step = step, .out = out };
	struct arena *scratch = tsi_sheet_scratch(out);

	for (size_t side = 0; side < TSCOPE_SIDE_COUNT; side++)
		if (tsi_lookup_int(ranks[side], "breakdown.step_count") <= 0)
			return;
	for (size_t side = 0; side < TSCOPE_SIDE_COUNT; side++) {
		read_side(&matching.sides[side], step, (enum tscope_side)side, ranks[side],
			  scratch);
		if (!tsi_diff_number(tsi_lookup(ranks[side], "overlap.overlap_ratio"),
				     &matching.overlap_ratios[side]))
			matching.overlap_ratios[side] = NAN;
		matching.items[side] = tsi_arena_new(scratch, matching.sides[side].count,
						     sizeof(*matching.items[side]));
	}
	tsi_read_launchers(matching.launchers, ranks, scratch);
	if (!scratch->has_failed)
		match_groups(&matching);
}
