/* SPDX-License-Identifier: MIT */
/* Lists the transfers of a world and the slack of its collectives, and groups them into rows. */
#include "analyze/ranks/transfer_list.h"

#include <math.h>
#include <stdlib.h>

#include "base/sum.h"

/* Is the shortest duration of its members that of the transfer? */
static bool is_timed(const struct match *match)
{
	return match->member_count >= 2 &&
	       (match->is_synchronising || match->kind == COLLECTIVE_SEND_RECV);
}

static const struct rank_op *op_of(const struct world *world, const struct match_member *member)
{
	return &world->logs[member->rank].ops[member->op];
}

static void sum_members(struct transfer *transfer, const struct world *world,
			const struct match *match)
{
	transfer->is_on_host = true;
	for (uint32_t i = 0; i < match->member_count; i++) {
		const struct match_member *member = &world->members[match->first_member + i];

		tsi_sum(&transfer->wait_ns, member->wait_ns);
		transfer->is_on_host &= world->logs[member->rank].is_host;
	}
}

static void name_transfer(struct transfer_list *list, struct transfer *transfer,
			  const struct world *world, struct arena *arena)
{
	const struct match *match = &world->matches[transfer->match];
	const struct match_member *first = &world->members[match->first_member];
	const struct intern *names = &world->logs[first->rank].names;
	const char *group_name = world->groups[match->group].name;

	transfer->group_name =
		tsi_latch_text(arena, &list->names, tsi_str_of(group_name ? group_name : ""));
	transfer->dtype = tsi_latch_text(arena, &list->names,
					 tsi_intern_text(names, op_of(world, first)->dtype));
}

/* Backends of the host do not say the size of the group, which is known by now. */
static double bus_bytes_of(const struct match *match, int64_t group_size)
{
	struct collective collective = { .kind = match->kind, .group_size = group_size };

	if (!isnan(match->bus_bytes) || match->bytes == NO_NUMBER ||
	    match->kind == COLLECTIVE_ALL_TO_ALL)
		return match->bus_bytes;
	return (double)match->bytes * tsi_collective_bus_factor(&collective);
}

static void add_transfer(struct transfer_list *list, const struct world *world, uint32_t index,
			 struct arena *arena)
{
	const struct match *match = &world->matches[index];
	const struct process_group *group = &world->groups[match->group];
	struct transfer *transfer = &list->items[list->count++];

	*transfer = (struct transfer){
		.bytes = match->bytes,
		.group_size = tsi_group_size(group),
		.transfer_ns = match->transfer_ns,
		.member_count = match->member_count,
		.bus_bytes = bus_bytes_of(match, tsi_group_size(group)),
		.step = match->step,
		.match = index,
		.group = match->group,
		.kind = match->kind,
		.span = (uint8_t)tsi_group_span(world, group),
		.is_synchronising = match->is_synchronising,
	};
	sum_members(transfer, world, match);
	name_transfer(list, transfer, world, arena);
}

void tsi_transfer_list_fill(struct transfer_list *list, const struct world *world,
			    struct arena *arena)
{
	list->items = tsi_arena_new(arena, world->match_count, sizeof(*list->items));
	for (size_t i = 0; list->items && i < world->match_count; i++)
		if (is_timed(&world->matches[i]))
			add_transfer(list, world, (uint32_t)i, arena);
}

static int64_t local_ns(const struct rank_point *point)
{
	int64_t sum_ns = 0;

	for (unsigned line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++)
		tsi_sum(&sum_ns, point->line_ns[line]);
	return sum_ns;
}

/* Times are local ones, which stand still while the rank does. An op not ready has none (-1). */
static void find_slacks(int64_t *slack_ns, int64_t *ready_ns, const struct rank_log *log)
{
	int64_t now_ns = 0;

	for (size_t i = 0; i < log->op_count; i++)
		slack_ns[i] = ready_ns[i] = -1;
	for (size_t i = 0; i < log->point_count; i++) {
		const struct rank_point *point = &log->points[i];

		tsi_sum(&now_ns, local_ns(point));
		if (point->kind == RANK_POINT_READY)
			ready_ns[point->index] = now_ns;
		else if (point->kind == RANK_POINT_RESUME && ready_ns[point->index] >= 0)
			slack_ns[point->index] = now_ns - ready_ns[point->index];
	}
}

int64_t **tsi_find_slacks(const struct world *world, struct arena *arena)
{
	int64_t **slacks_ns = tsi_arena_new(arena, world->rank_count, sizeof(*slacks_ns));
	size_t most = 0;

	for (size_t rank = 0; rank < world->rank_count; rank++)
		if (world->logs[rank].op_count > most)
			most = world->logs[rank].op_count;
	int64_t *ready_ns = tsi_arena_new(arena, most, sizeof(*ready_ns));
	for (size_t rank = 0; ready_ns && rank < world->rank_count; rank++) {
		const struct rank_log *log = &world->logs[rank];

		slacks_ns[rank] = tsi_arena_new(arena, log->op_count, sizeof(**slacks_ns));
		if (slacks_ns[rank])
			find_slacks(slacks_ns[rank], ready_ns, log);
	}
	return arena->has_failed ? NULL : slacks_ns;
}

/* ---- rows of tables ---- */

void tsi_transfer_rows_init(struct transfer_rows *rows, const struct transfer_list *list,
			    struct arena *arena)
{
	rows->order = tsi_arena_new(arena, list->count, sizeof(*rows->order));
	rows->items = tsi_arena_new(arena, list->count, sizeof(*rows->items));
	if (!rows->items)
		return;
	rows->transfer_count = list->count;
	for (size_t i = 0; i < list->count; i++)
		rows->order[i] = &list->items[i];
}

static int compare_kinds(const struct transfer *a, const struct transfer *b)
{
	TSI_ASCENDING(a->kind, b->kind);
	TSI_ASCENDING(a->group_name, b->group_name);
	TSI_ASCENDING(a->group_size, b->group_size);
	TSI_ASCENDING(a->span, b->span);
	return 0;
}

static int compare_sizes(const struct transfer *a, const struct transfer *b)
{
	TSI_ASCENDING(a->kind, b->kind);
	TSI_ASCENDING(a->dtype, b->dtype);
	TSI_ASCENDING(a->group_size, b->group_size);
	TSI_ASCENDING(a->span, b->span);
	TSI_ASCENDING(a->is_on_host, b->is_on_host);
	TSI_ASCENDING(a->bytes, b->bytes);
	return 0;
}

typedef int transfer_order(const struct transfer *a, const struct transfer *b);

/* Orders pointers to transfers: equal ones keep the order of their matches. */
static int compare_pointers(transfer_order *compare, const void *left, const void *right)
{
	const struct transfer *const *first = left, *const *second = right;
	const struct transfer *a = *first, *b = *second;
	int order = compare(a, b);

	if (order)
		return order;
	TSI_ASCENDING(a->match, b->match);
	return 0;
}

static int compare_by_kind(const void *left, const void *right)
{
	return compare_pointers(compare_kinds, left, right);
}

static int compare_by_size(const void *left, const void *right)
{
	return compare_pointers(compare_sizes, left, right);
}

static int compare_rows(const void *left, const void *right)
{
	const struct transfer_row *a = left, *b = right;

	TSI_DESCENDING(a->transfer_ns, b->transfer_ns);
	TSI_ASCENDING(a->first, b->first);
	return 0;
}

/* The transfers are in an order in which those that are equal stand together. */
static void divide(struct transfer_rows *rows, transfer_order *compare)
{
	rows->count = 0;
	for (size_t i = 0; i < rows->transfer_count; i++) {
		if (i == 0 || compare(rows->order[i - 1], rows->order[i]) != 0)
			rows->items[rows->count++] = (struct transfer_row){ .first = i };
		struct transfer_row *row = &rows->items[rows->count - 1];
		row->count++;
		tsi_sum(&row->transfer_ns, rows->order[i]->transfer_ns);
	}
	if (rows->count > 0)
		qsort(rows->items, rows->count, sizeof(*rows->items), compare_rows);
}

void tsi_transfer_rows_by_kind(struct transfer_rows *rows)
{
	if (rows->transfer_count > 0)
		qsort(rows->order, rows->transfer_count, sizeof(struct transfer *),
		      compare_by_kind);
	divide(rows, compare_kinds);
}

void tsi_transfer_rows_by_size(struct transfer_rows *rows)
{
	if (rows->transfer_count > 0)
		qsort(rows->order, rows->transfer_count, sizeof(struct transfer *),
		      compare_by_size);
	divide(rows, compare_sizes);
}

struct transfer_sums tsi_transfer_sums(const struct transfer_rows *rows,
				       const struct transfer_row *row)
{
	struct transfer_sums sums = { 0 };

	for (size_t i = 0; i < row->count; i++) {
		const struct transfer *transfer = tsi_row_transfer(rows, row, i);

		if (transfer->is_synchronising) {
			tsi_sum(&sums.wait_ns, transfer->wait_ns);
			sums.wait_count += transfer->member_count;
		}
		if (transfer->bytes == NO_NUMBER)
			continue;
		tsi_sum(&sums.bytes, transfer->bytes);
		tsi_sum(&sums.sized_ns, transfer->transfer_ns);
		if (isfinite(transfer->bus_bytes)) {
			sums.bus_bytes += transfer->bus_bytes;
			sums.bus_ns += (double)transfer->transfer_ns;
		}
	}
	return sums;
}
