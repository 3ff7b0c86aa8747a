/* SPDX-License-Identifier: MIT */
/*
 * What is in the lines of two mean steps, side by side. The parts of each side become means that
 * sum to their line; what they do not tell of it (of several windows only one is broken down) is a
 * part without a name. Then both sides are sorted by line and kind, and within these matched.
 */
#include "diff/explain_parts.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/array.h"
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

enum tscope_status tsi_explain_lines(struct explained_step *ret,
				     const struct step_lines sides[TSCOPE_SIDE_COUNT],
				     struct tscope_error *err)
{
	struct sided_line *sorted = NULL;
	size_t room = sides[TSCOPE_SIDE_A].count + sides[TSCOPE_SIDE_B].count, count = 0;

	*ret = (struct explained_step){ 0 };
	if (tsi_array_new(&ret->lines, room, sizeof(*ret->lines), err) != TSCOPE_OK ||
	    tsi_array_new(&sorted, room, sizeof(*sorted), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t side = 0; side < TSCOPE_SIDE_COUNT; side++)
		for (size_t i = 0; i < sides[side].count; i++)
			sorted[count++] = (struct sided_line){ &sides[side].items[i],
							       (enum tscope_side)side };
	if (count)
		qsort(sorted, count, sizeof(*sorted), compare_sided_lines);
	fold_lines(ret, sorted, count);
	free(sorted);
	return TSCOPE_OK;
}

void tsi_explained_step_deinit(struct explained_step *step)
{
	free(step->lines);
	free(step->parts);
	*step = (struct explained_step){ 0 };
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

static void side_parts_deinit(struct side_parts *parts)
{
	free(parts->items);
	free(parts->means);
	free(parts->sums);
}

static int compare_line_name(const void *key, const void *member)
{
	const char *name = key;
	const struct explained_line *line = member;

	return strcmp(name, line->name);
}

static enum tscope_status add_side_part(struct side_parts *parts, struct side_part part,
					struct tscope_error *err)
{
	if (part.ns == 0)
		return TSCOPE_OK;
	if (tsi_array_reserve(&parts->items, &parts->capacity, parts->count + 1,
			      sizeof(*parts->items), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	parts->sums[part.line] += part.ns;
	parts->items[parts->count++] = part;
	return TSCOPE_OK;
}

static const char *text_or(struct tscope_value value, const char *fallback)
{
	return value.kind == TSCOPE_VALUE_TEXT ? value.text : fallback;
}

static enum tscope_status read_rows(struct side_parts *parts, const struct explained_step *step,
				    const struct tscope_analysis *rank, struct tscope_error *err)
{
	struct table_view rows = tsi_lookup_table(rank, TSCOPE_WHOLE_TRACE, "breakdown.parts");
	size_t line = tsi_table_column(&rows, "line"), kind = tsi_table_column(&rows, "kind");
	size_t name = tsi_table_column(&rows, "name"), ns = tsi_table_column(&rows, "ns");
	enum tscope_status status = TSCOPE_OK;

	for (size_t row = 0; status == TSCOPE_OK && row < rows.row_count; row++) {
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
		status = add_side_part(parts, part, err);
	}
	return status;
}

static enum tscope_status add_rests(struct side_parts *parts, const struct explained_step *step,
				    enum tscope_side side, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; status == TSCOPE_OK && i < step->line_count; i++) {
		struct side_part rest = { .line = i, .kind = "none", .name = "" };
		rest.ns = tsi_narrow(step->lines[i].ns[side] - parts->sums[i]);
		status = add_side_part(parts, rest, err);
	}
	return status;
}

static int compare_groups(const struct side_part *a, const struct side_part *b)
{
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
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

/* On failure it may be deinited. */
static enum tscope_status read_side(struct side_parts *parts, const struct explained_step *step,
				    enum tscope_side side, const struct tscope_analysis *rank,
				    struct tscope_error *err)
{
	int64_t step_count = tsi_lookup_int(rank, TSCOPE_WHOLE_TRACE, "breakdown.step_count");

	if (tsi_array_new(&parts->means, step->line_count, sizeof(*parts->means), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&parts->sums, step->line_count, sizeof(*parts->sums), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	begin_means(parts, step, side, step_count);
	enum tscope_status status = read_rows(parts, step, rank, err);
	if (status == TSCOPE_OK)
		status = add_rests(parts, step, side, err);
	if (status == TSCOPE_OK)
		fold_side_parts(parts);
	return status;
}

/* ---- matching ---- */

/* Parts of one line and kind, of one side. */
struct group {
	const struct side_part *parts;
	size_t count;
};

struct matching {
	struct explained_step *step;
	const struct analysis_scope *scope;
	struct side_parts sides[TSCOPE_SIDE_COUNT];
	struct launcher_names launchers[TSCOPE_SIDE_COUNT];
	struct group groups[TSCOPE_SIDE_COUNT]; /* those at hand */
	struct work_item *items[TSCOPE_SIDE_COUNT];
};

static enum tscope_status name_items(struct matching *matching, enum tscope_side side,
				     struct tscope_error *err)
{
	const struct group *group = &matching->groups[side];
	struct work_item *items = matching->items[side];
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; status == TSCOPE_OK && i < group->count; i++) {
		const struct side_part *part = &group->parts[i];
		items[i] = (struct work_item){ .name = part->name };
		if (strcmp(part->kind, "kernel") == 0)
			status = tsi_launcher_name(&matching->launchers[side], matching->scope,
						   part->name, &items[i].launcher, err);
	}
	return status;
}

static const char *change_of(const struct work_pair *pair, const struct explained_part *part)
{
	int64_t a_ns = part->ns[TSCOPE_SIDE_A], b_ns = part->ns[TSCOPE_SIDE_B];

	/* What has no name is the rest of a line, which is neither new nor gone. */
	if (part->name && pair->a_count == 0)
		return "new";
	if (part->name && pair->b_count == 0)
		return "gone";
	if (pair->match == WORK_BY_LAUNCHER)
		return "replaced";
	return b_ns > a_ns ? "slower" : b_ns < a_ns ? "faster" : "same";
}

/* What a pair has of one side, as indices of the group. */
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
static enum tscope_status name_side(const struct matching *matching, const struct pair_side *side,
				    const char **ret, struct tscope_error *err)
{
	const struct work_item *items = matching->items[side->side];

	*ret = NULL;
	if (side->count == 0 || items[side->indices[0]].name[0] == '\0')
		return TSCOPE_OK;
	return tsi_join_work_names(matching->scope, items, side->indices, side->count, ret, err);
}

static enum tscope_status fill_part(const struct matching *matching, const struct work_pairs *pairs,
				    const struct work_pair *pair, struct explained_part *part,
				    struct tscope_error *err)
{
	struct pair_side a = side_of_pair(pairs, pair, TSCOPE_SIDE_A);
	struct pair_side b = side_of_pair(pairs, pair, TSCOPE_SIDE_B);
	const char *a_name, *b_name;

	if (name_side(matching, &a, &a_name, err) != TSCOPE_OK ||
	    name_side(matching, &b, &b_name, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	part->name = b_name ? b_name : a_name;
	part->a_name = a_name && b_name && strcmp(a_name, b_name) != 0 ? a_name : NULL;
	part->ns[TSCOPE_SIDE_A] = sum_of_side(matching, &a);
	part->ns[TSCOPE_SIDE_B] = sum_of_side(matching, &b);
	part->change = change_of(pair, part);
	return TSCOPE_OK;
}

static enum tscope_status add_pair(struct matching *matching, const struct work_pairs *pairs,
				   const struct work_pair *pair, struct tscope_error *err)
{
	struct explained_step *step = matching->step;
	const struct group *groups = matching->groups;
	const struct side_part *any =
		groups[groups[TSCOPE_SIDE_A].count ? TSCOPE_SIDE_A : TSCOPE_SIDE_B].parts;
	struct explained_part part = { .line = any->line, .kind = any->kind };

	if (fill_part(matching, pairs, pair, &part, err) != TSCOPE_OK ||
	    tsi_array_reserve(&step->parts, &step->part_capacity, step->part_count + 1,
			      sizeof(*step->parts), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	step->parts[step->part_count++] = part;
	return TSCOPE_OK;
}

static enum tscope_status match_group(struct matching *matching, struct tscope_error *err)
{
	struct work_pairs pairs = { 0 };
	enum tscope_status status = name_items(matching, TSCOPE_SIDE_A, err);

	if (status == TSCOPE_OK)
		status = name_items(matching, TSCOPE_SIDE_B, err);
	if (status == TSCOPE_OK)
		status = tsi_work_match(&pairs, matching->items[TSCOPE_SIDE_A],
					matching->groups[TSCOPE_SIDE_A].count,
					matching->items[TSCOPE_SIDE_B],
					matching->groups[TSCOPE_SIDE_B].count, err);
	for (size_t i = 0; status == TSCOPE_OK && i < pairs.count; i++)
		status = add_pair(matching, &pairs, &pairs.pairs[i], err);
	tsi_work_pairs_deinit(&pairs);
	return status;
}

/* Those of the parts from `begin` on that are of the line and kind of `first`. */
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
static enum tscope_status match_groups(struct matching *matching, struct tscope_error *err)
{
	const struct side_parts *a = &matching->sides[TSCOPE_SIDE_A];
	const struct side_parts *b = &matching->sides[TSCOPE_SIDE_B];
	size_t a_next = 0, b_next = 0;
	enum tscope_status status = TSCOPE_OK;

	while (status == TSCOPE_OK && (a_next < a->count || b_next < b->count)) {
		bool is_of_a = b_next == b->count ||
			       (a_next < a->count &&
				compare_groups(&a->items[a_next], &b->items[b_next]) <= 0);
		const struct side_part *first = is_of_a ? &a->items[a_next] : &b->items[b_next];
		matching->groups[TSCOPE_SIDE_A] = find_group(a, a_next, first);
		matching->groups[TSCOPE_SIDE_B] = find_group(b, b_next, first);
		status = match_group(matching, err);
		a_next += matching->groups[TSCOPE_SIDE_A].count;
		b_next += matching->groups[TSCOPE_SIDE_B].count;
	}
	return status;
}

/* On failure it may be deinited. */
static enum tscope_status matching_init(struct matching *matching,
					const struct tscope_analysis *const ranks[],
					struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;

	for (size_t side = 0; status == TSCOPE_OK && side < TSCOPE_SIDE_COUNT; side++) {
		struct side_parts *parts = &matching->sides[side];
		status = read_side(parts, matching->step, (enum tscope_side)side, ranks[side], err);
		if (status == TSCOPE_OK)
			status = tsi_launcher_names_init(&matching->launchers[side], ranks[side],
							 err);
		if (status == TSCOPE_OK)
			status = tsi_array_new(&matching->items[side], parts->count,
					       sizeof(*matching->items[side]), err);
	}
	if (status == TSCOPE_OK)
		tsi_launcher_names_agree(matching->launchers);
	return status;
}

static void matching_deinit(struct matching *matching)
{
	for (size_t side = 0; side < TSCOPE_SIDE_COUNT; side++) {
		side_parts_deinit(&matching->sides[side]);
		tsi_launcher_names_deinit(&matching->launchers[side]);
		free(matching->items[side]);
	}
}

enum tscope_status tsi_explain_parts(struct explained_step *step,
				     const struct analysis_scope *scope,
				     const struct tscope_analysis *const ranks[TSCOPE_SIDE_COUNT],
				     struct tscope_error *err)
{
	struct matching matching = { .step = step, .scope = scope };

	for (size_t side = 0; side < TSCOPE_SIDE_COUNT; side++)
		if (tsi_lookup_int(ranks[side], TSCOPE_WHOLE_TRACE, "breakdown.step_count") <= 0)
			return TSCOPE_OK;
	enum tscope_status status = matching_init(&matching, ranks, err);
	if (status == TSCOPE_OK)
		status = match_groups(&matching, err);
	matching_deinit(&matching);
	return status;
}
