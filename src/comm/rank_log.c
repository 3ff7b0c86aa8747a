/* SPDX-License-Identifier: MIT */
/* Logs of ranks: how they are made, and how the windows of one rank become one log. */
#include "comm/rank_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/ckd.h"
#include "base/sum.h"
#include "comm/latch.h"

enum tscope_status tsi_rank_log_init(struct rank_log *log, struct tscope_error *err)
{
	*log = (struct rank_log){ .rank = -1, .device_ordinal = -1 };
	return tsi_intern_init(&log->names, UINT32_MAX - 1, err);
}

void tsi_rank_log_deinit(struct rank_log *log)
{
	tsi_arena_deinit(&log->still_memory);
	tsi_arena_deinit(&log->point_memory);
	tsi_arena_deinit(&log->member_memory);
	tsi_intern_deinit(&log->names);
	tsi_arena_deinit(&log->arena);
	*log = (struct rank_log){ 0 };
}

/* ---- process groups ---- */

/* The number that groups with this name, description, size and members have, from 1 on. */
static uint32_t number_group(struct rank_log *log, struct intern *keys,
			     const struct rank_group *group)
{
	struct str list = tsi_group_list(log, group);
	struct rank_group head = *group;
	size_t head_bytes = offsetof(struct rank_group, shared);
	char *bytes = malloc(head_bytes + list.length);
	uint32_t number = 0;

	head.first_member = 0;
	if (bytes) {
		memcpy(bytes, &head, head_bytes);
		memcpy(bytes + head_bytes, list.data, list.length);
		number = tsi_latch_text(&log->arena, keys,
					(struct str){ bytes, head_bytes + list.length });
	}
	log->arena.has_failed |= !bytes;
	free(bytes);
	return number;
}

/* The distance of three members and more that are equally far apart; 0: they are not. */
static int64_t stride_of(const int64_t *members, size_t count)
{
	int64_t stride;

	if (count < 3 || tsi_ckd_sub(&stride, members[1], members[0]) || stride <= 0)
		return 0;
	for (size_t i = 2; i < count; i++)
		if (members[i] < members[i - 1] || members[i] - members[i - 1] != stride)
			return 0;
	return stride;
}

void tsi_rank_log_add_member(struct rank_log *log, int64_t rank)
{
	int64_t *member = tsi_arena_push(&log->member_memory, &log->members, &log->member_count,
					 &log->member_capacity, sizeof(*member));

	if (member)
		*member = rank;
	log->arena.has_failed |= !member;
}

/* So that equal members are equal bytes: few are listed, a stride is one where it can be. */
static void settle_stride(struct rank_log *log, struct rank_group *group)
{
	if (group->stride > 0 && group->member_count < 3) {
		if (group->member_count == 2) {
			int64_t last = tsi_group_member(log, group, 1);
			tsi_rank_log_add_member(log, last);
		}
		group->stride = 0;
	} else if (group->stride == 0 && group->member_count >= 3) {
		group->stride = stride_of(&log->members[group->first_member], group->member_count);
		if (group->stride > 0)
			log->member_count -= group->member_count - 1;
	}
}

uint32_t tsi_rank_log_add_group(struct rank_log *log, struct intern *keys,
				const struct rank_group *as_said)
{
	struct rank_group settled = *as_said;
	const struct rank_group *group = &settled;

	if (!log->arena.has_failed) /* else members may be missing */
		settle_stride(log, &settled);
	if (log->arena.has_failed)
		return 0;
	for (size_t i = keys->count > 0 ? log->group_count : 0; i < log->group_count; i++)
		number_group(log, keys, &log->groups[i]);
	uint32_t number = number_group(log, keys, group);
	if (number == 0)
		return 0;
	if (number <= log->group_count) {
		log->member_count -= tsi_listed_members(group);
		return number - 1;
	}
	struct rank_group *added = tsi_arena_push(&log->arena, &log->groups, &log->group_count,
						  &log->group_capacity, sizeof(*added));
	if (added)
		*added = *group;
	return number - 1;
}

/* ---- joining windows ---- */

/* Ids and indices of the appended log in the one that grows. */
struct renumbering {
	struct rank_log *to;
	const struct rank_log *from;
	struct arena arena;
	uint32_t *names, *groups;
	uint32_t first_step, first_op, first_stream;
};

static uint32_t first_free_stream(const struct rank_log *log)
{
	uint32_t last = 0;

	for (size_t i = 0; i < log->op_count; i++)
		if (log->ops[i].stream > last)
			last = log->ops[i].stream;
	return log->op_count > 0 ? last + 1 : 0;
}

static void append_names(struct renumbering *numbers)
{
	const struct intern *names = &numbers->from->names;

	numbers->names = tsi_arena_new(&numbers->arena, names->count, sizeof(*numbers->names));
	for (uint32_t id = 0; numbers->names && id < names->count; id++)
		numbers->names[id] = tsi_latch_text(&numbers->arena, &numbers->to->names,
						    tsi_intern_text(names, id));
}

static void append_groups(struct renumbering *numbers)
{
	struct rank_log *to = numbers->to;
	const struct rank_log *from = numbers->from;
	struct intern keys = { 0 };

	numbers->groups =
		tsi_arena_new(&numbers->arena, from->group_count, sizeof(*numbers->groups));
	for (size_t i = 0; numbers->groups && i < from->group_count; i++) {
		struct rank_group group = from->groups[i];
		struct str list = tsi_group_list(from, &group);

		group.name = numbers->names[group.name];
		group.description = numbers->names[group.description];
		group.first_member = (uint32_t)to->member_count;
		group.shared = NULL;
		for (size_t at = 0; at < list.length; at += sizeof(int64_t)) {
			int64_t member;

			memcpy(&member, list.data + at, sizeof(member));
			tsi_rank_log_add_member(to, member);
		}
		numbers->groups[i] = tsi_rank_log_add_group(to, &keys, &group);
	}
	tsi_intern_deinit(&keys);
}

static void append_ops(const struct renumbering *numbers)
{
	struct rank_log *to = numbers->to;
	const struct rank_log *from = numbers->from;

	to->ops = tsi_arena_reserve(&to->arena, to->ops, &to->op_capacity,
				    to->op_count + from->op_count, sizeof(*to->ops));
	for (size_t i = 0; to->ops && i < from->op_count; i++) {
		struct rank_op op = from->ops[i];

		op.group = numbers->groups[op.group];
		op.dtype = numbers->names[op.dtype];
		op.stream += numbers->first_stream;
		to->ops[to->op_count++] = op;
	}
}

static void append_steps(const struct renumbering *numbers)
{
	struct rank_log *to = numbers->to;
	const struct rank_log *from = numbers->from;

	to->steps = tsi_arena_reserve(&to->arena, to->steps, &to->step_capacity,
				      to->step_count + from->step_count, sizeof(*to->steps));
	to->points = tsi_arena_reserve(&to->point_memory, to->points, &to->point_capacity,
				       to->point_count + from->point_count, sizeof(*to->points));
	to->arena.has_failed |= to->point_memory.has_failed;
	if (to->arena.has_failed)
		return;
	for (size_t i = 0; i < from->step_count; i++)
		to->steps[to->step_count++] = from->steps[i];
	for (size_t i = 0; i < from->point_count; i++) {
		struct rank_point point = from->points[i];

		if (point.kind == RANK_POINT_READY || point.kind == RANK_POINT_RESUME)
			point.index += numbers->first_op;
		else
			point.index += numbers->first_step;
		to->points[to->point_count++] = point;
	}
}

static void append_still(struct rank_log *to, const struct rank_log *from)
{
	struct arena memory = { 0 };
	size_t most = to->still.count + from->still.count;
	/* With no room to spare: there are many of them. */
	struct interval_set both = tsi_intervals_new(most, &memory);

	tsi_intervals_union(&both, &to->still, &from->still, &memory);
	to->arena.has_failed |= memory.has_failed;
	tsi_arena_deinit(&to->still_memory);
	to->still_memory = memory;
	to->still = both;
}

static int compare_kernels(const void *left, const void *right)
{
	const struct rank_kernel *a = left, *b = right;

	return (a->name > b->name) - (a->name < b->name);
}

void tsi_rank_log_join_kernels(struct rank_log *log)
{
	size_t kept = 0;

	if (log->kernel_count > 0)
		qsort(log->kernels, log->kernel_count, sizeof(*log->kernels), compare_kernels);
	for (size_t i = 0; i < log->kernel_count; i++) {
		const struct rank_kernel *kernel = &log->kernels[i];
		struct rank_kernel *last = kept > 0 ? &log->kernels[kept - 1] : NULL;

		if (!last || last->name != kernel->name) {
			log->kernels[kept++] = *kernel;
			continue;
		}
		last->is_comm |= kernel->is_comm;
		tsi_sum(&last->count, kernel->count);
		tsi_sum(&last->total_ns, kernel->total_ns);
		tsi_sum(&last->blocks, kernel->blocks);
	}
	log->kernel_count = kept;
}

static void append_kernels(const struct renumbering *numbers)
{
	struct rank_log *to = numbers->to;
	const struct rank_log *from = numbers->from;

	to->kernels =
		tsi_arena_reserve(&to->arena, to->kernels, &to->kernel_capacity,
				  to->kernel_count + from->kernel_count, sizeof(*to->kernels));
	if (!to->kernels)
		return;
	for (size_t i = 0; i < from->kernel_count; i++) {
		struct rank_kernel kernel = from->kernels[i];

		kernel.name = numbers->names[kernel.name];
		to->kernels[to->kernel_count++] = kernel;
	}
	tsi_rank_log_join_kernels(to);
}

static void append_places(const struct renumbering *numbers)
{
	struct rank_log *to = numbers->to;
	const struct rank_log *from = numbers->from;

	to->places = tsi_arena_reserve(&to->arena, to->places, &to->place_capacity,
				       to->place_count + from->place_count, sizeof(*to->places));
	if (!to->places)
		return;
	for (size_t i = 0; i < from->place_count; i++) {
		struct rank_place place = from->places[i];

		place.name = numbers->names[place.name];
		to->places[to->place_count++] = place;
	}
	tsi_rank_log_join_places(to);
}

/* Appends properties that windows of one process share: the first that states one counts. */
static void append_host(const struct renumbering *numbers)
{
	struct rank_log *to = numbers->to;
	const struct rank_log *from = numbers->from;

	to->has_start = from->has_start;
	to->is_host = from->is_host;
	if (to->rank < 0)
		to->rank = from->rank;
	if (to->host_name == 0 && from->host_name != 0)
		to->host_name = numbers->names[from->host_name];
	if (to->device_name == 0 && from->device_name != 0)
		to->device_name = numbers->names[from->device_name];
	if (to->device_ordinal < 0)
		to->device_ordinal = from->device_ordinal;
	if (to->visible_device_count < from->visible_device_count)
		to->visible_device_count = from->visible_device_count;
}

static void append_all(struct renumbering *numbers)
{
	append_names(numbers);
	if (!numbers->names)
		return;
	append_groups(numbers);
	if (!numbers->arena.has_failed && !numbers->to->arena.has_failed)
		append_ops(numbers);
	append_steps(numbers);
	append_still(numbers->to, numbers->from);
	append_kernels(numbers);
	append_places(numbers);
	append_host(numbers);
}

enum tscope_status tsi_rank_log_append(struct rank_log *log, const struct rank_log *from,
				       struct tscope_error *err)
{
	struct renumbering numbers = {
		.to = log,
		.from = from,
		.first_step = (uint32_t)log->step_count,
		.first_op = (uint32_t)log->op_count,
		.first_stream = first_free_stream(log),
	};

	if (from->names.count == 0)
		return TSCOPE_OK; /* nothing was kept of this window */
	append_all(&numbers);
	tsi_latch_deinit(&log->arena, &numbers.arena);
	return tsi_arena_status(&log->arena, err);
}

void tsi_rank_log_take(struct rank_log *log, struct rank_log *from)
{
	tsi_rank_log_deinit(log);
	*log = *from;
	*from = (struct rank_log){ 0 };
	tsi_rank_log_join_kernels(log);
	tsi_rank_log_join_places(log);
}

/* ---- reading ---- */

/* Time between two points is of the step that began before the second. */
void tsi_rank_log_sum_steps(const struct rank_log *log, int64_t (*lines)[TSCOPE_BUDGET_LINE_COUNT])
{
	uint32_t step = NO_ROW;

	if (log->step_lines) {
		memcpy(lines, log->step_lines, log->step_count * sizeof(*lines));
		return;
	}
	for (size_t i = 0; i < log->step_count; i++)
		memset(lines[i], 0, sizeof(lines[i]));
	for (size_t i = 0; i < log->point_count; i++) {
		const struct rank_point *point = &log->points[i];

		for (size_t line = 0; step != NO_ROW && line < TSCOPE_BUDGET_LINE_COUNT; line++)
			if (point->line_ns[line] > 0)
				tsi_sum(&lines[step][line], point->line_ns[line]);
		if (point->kind == RANK_POINT_STEP)
			step = point->index;
		else if (point->kind == RANK_POINT_END)
			step = NO_ROW;
	}
}

uint32_t tsi_rank_log_find_step(const struct rank_log *log, int64_t start_ns, int64_t wall_ns)
{
	size_t low = 0, high = log->step_count;
	uint32_t found = NO_ROW;

	TSI_BISECT(low, high, log->steps[middle].start_ns < start_ns);
	for (; low < log->step_count && log->steps[low].start_ns == start_ns; low++) {
		if (log->steps[low].wall_ns != wall_ns)
			continue;
		if (log->steps[low].mark == TSCOPE_STEP_COUNTED)
			return (uint32_t)low;
		if (found == NO_ROW)
			found = (uint32_t)low;
	}
	return found;
}
