/* SPDX-License-Identifier: MIT */
/* Logs of ranks: how they are made, and how the windows of one rank become one log. */
#include "comm/rank_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "base/sum.h"

enum tscope_status tsi_rank_log_init(struct rank_log *log, struct tscope_error *err)
{
	*log = (struct rank_log){ .rank = -1, .device_ordinal = -1 };
	return tsi_intern_init(&log->names, UINT32_MAX - 1, err);
}

void tsi_rank_log_deinit(struct rank_log *log)
{
	free(log->ops);
	free(log->groups);
	free(log->members);
	free(log->points);
	free(log->steps);
	free(log->kernels);
	tsi_intervals_deinit(&log->exposed);
	tsi_intern_deinit(&log->names);
	*log = (struct rank_log){ 0 };
}

/* ---- process groups ---- */

/* The number that groups with this name, description, size and members have. */
static enum tscope_status number_group(struct intern *keys, const struct rank_log *log,
				       const struct rank_group *group, uint32_t *id,
				       struct tscope_error *err)
{
	size_t member_bytes = group->member_count * sizeof(*log->members);
	struct rank_group head = *group;
	char *bytes;

	head.first_member = 0;
	if (tsi_array_new(&bytes, sizeof(head) + member_bytes, 1, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	memcpy(bytes, &head, sizeof(head));
	if (member_bytes > 0)
		memcpy(bytes + sizeof(head), &log->members[group->first_member], member_bytes);
	enum tscope_status status =
		tsi_intern_add(keys, (struct str){ bytes, sizeof(head) + member_bytes }, id, err);
	free(bytes);
	return status;
}

enum tscope_status tsi_group_keys_init(struct intern *keys, const struct rank_log *log,
				       struct tscope_error *err)
{
	enum tscope_status status = tsi_intern_init(keys, UINT32_MAX - 1, err);
	uint32_t id;

	for (size_t i = 0; status == TSCOPE_OK && i < log->group_count; i++)
		status = number_group(keys, log, &log->groups[i], &id, err);
	return status;
}

enum tscope_status tsi_rank_log_add_group(struct rank_log *log, struct intern *keys,
					  const struct rank_group *group, uint32_t *index,
					  struct tscope_error *err)
{
	uint32_t id;
	enum tscope_status status = number_group(keys, log, group, &id, err);

	if (status != TSCOPE_OK)
		return status;
	*index = id - 1; /* 0 is the empty text */
	if (*index < log->group_count) {
		log->member_count -= group->member_count;
		return TSCOPE_OK;
	}
	if (tsi_array_reserve(&log->groups, &log->group_capacity, log->group_count + 1,
			      sizeof(*log->groups), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	log->groups[log->group_count++] = *group;
	return TSCOPE_OK;
}

/* ---- joining windows ---- */

/* What ids and indices of the appended log become in the one that grows. */
struct renumbering {
	struct rank_log *to;
	const struct rank_log *from;
	uint32_t *names, *groups;
	uint32_t first_step, first_op, first_stream;
};

static void renumbering_deinit(struct renumbering *numbers)
{
	free(numbers->names);
	free(numbers->groups);
}

static uint32_t first_free_stream(const struct rank_log *log)
{
	uint32_t last = 0;

	for (size_t i = 0; i < log->op_count; i++)
		if (log->ops[i].stream > last)
			last = log->ops[i].stream;
	return log->op_count > 0 ? last + 1 : 0;
}

static enum tscope_status append_names(struct renumbering *numbers, struct tscope_error *err)
{
	const struct intern *names = &numbers->from->names;
	enum tscope_status status =
		tsi_array_new(&numbers->names, names->count, sizeof(*numbers->names), err);

	for (uint32_t id = 0; status == TSCOPE_OK && id < names->count; id++)
		status = tsi_intern_add(&numbers->to->names, tsi_intern_text(names, id),
					&numbers->names[id], err);
	return status;
}

static enum tscope_status append_group(struct renumbering *numbers, struct intern *keys, size_t i,
				       struct tscope_error *err)
{
	struct rank_log *to = numbers->to;
	struct rank_group group = numbers->from->groups[i];
	uint32_t first = group.first_member;

	if (tsi_array_reserve(&to->members, &to->member_capacity,
			      to->member_count + group.member_count, sizeof(*to->members),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	group.name = numbers->names[group.name];
	group.description = numbers->names[group.description];
	group.first_member = (uint32_t)to->member_count;
	for (uint32_t k = 0; k < group.member_count; k++)
		to->members[to->member_count++] = numbers->from->members[first + k];
	return tsi_rank_log_add_group(to, keys, &group, &numbers->groups[i], err);
}

static enum tscope_status append_groups(struct renumbering *numbers, struct tscope_error *err)
{
	size_t count = numbers->from->group_count;
	struct intern keys = { 0 };
	enum tscope_status status =
		tsi_array_new(&numbers->groups, count, sizeof(*numbers->groups), err);

	if (status == TSCOPE_OK && count > 0)
		status = tsi_group_keys_init(&keys, numbers->to, err);
	for (size_t i = 0; status == TSCOPE_OK && i < count; i++)
		status = append_group(numbers, &keys, i, err);
	tsi_intern_deinit(&keys);
	return status;
}

static enum tscope_status append_ops(const struct renumbering *numbers, struct tscope_error *err)
{
	struct rank_log *to = numbers->to;
	const struct rank_log *from = numbers->from;

	if (tsi_array_reserve(&to->ops, &to->op_capacity, to->op_count + from->op_count,
			      sizeof(*to->ops), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < from->op_count; i++) {
		struct rank_op op = from->ops[i];

		op.group = numbers->groups[op.group];
		op.dtype = numbers->names[op.dtype];
		op.stream += numbers->first_stream;
		to->ops[to->op_count++] = op;
	}
	return TSCOPE_OK;
}

static enum tscope_status append_steps(const struct renumbering *numbers, struct tscope_error *err)
{
	struct rank_log *to = numbers->to;
	const struct rank_log *from = numbers->from;

	if (tsi_array_reserve(&to->steps, &to->step_capacity, to->step_count + from->step_count,
			      sizeof(*to->steps), err) != TSCOPE_OK ||
	    tsi_array_reserve(&to->points, &to->point_capacity, to->point_count + from->point_count,
			      sizeof(*to->points), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
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
	return TSCOPE_OK;
}

static enum tscope_status append_exposed(struct rank_log *to, const struct rank_log *from,
					 struct tscope_error *err)
{
	struct interval_set both = { 0 };
	size_t most = to->exposed.count + from->exposed.count;
	enum tscope_status status = tsi_array_new(&both.items, most, sizeof(*both.items), err);

	if (status != TSCOPE_OK)
		return status;
	both.capacity = most; /* with no room to spare: there are many of them */
	status = tsi_intervals_union(&both, &to->exposed, &from->exposed, err);
	if (status != TSCOPE_OK) {
		tsi_intervals_deinit(&both);
		return status;
	}
	tsi_intervals_deinit(&to->exposed);
	to->exposed = both;
	return TSCOPE_OK;
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

static enum tscope_status append_kernels(const struct renumbering *numbers,
					 struct tscope_error *err)
{
	struct rank_log *to = numbers->to;
	const struct rank_log *from = numbers->from;

	if (tsi_array_reserve(&to->kernels, &to->kernel_capacity,
			      to->kernel_count + from->kernel_count, sizeof(*to->kernels),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < from->kernel_count; i++) {
		struct rank_kernel kernel = from->kernels[i];

		kernel.name = numbers->names[kernel.name];
		to->kernels[to->kernel_count++] = kernel;
	}
	tsi_rank_log_join_kernels(to);
	return TSCOPE_OK;
}

/* What windows of one process say alike: the first that says it counts. */
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
	enum tscope_status status = append_names(&numbers, err);
	if (status == TSCOPE_OK)
		status = append_groups(&numbers, err);
	if (status == TSCOPE_OK)
		status = append_ops(&numbers, err);
	if (status == TSCOPE_OK)
		status = append_steps(&numbers, err);
	if (status == TSCOPE_OK)
		status = append_exposed(log, from, err);
	if (status == TSCOPE_OK)
		status = append_kernels(&numbers, err);
	if (status == TSCOPE_OK)
		append_host(&numbers);
	renumbering_deinit(&numbers);
	return status;
}

/* ---- reading ---- */

uint32_t tsi_rank_log_find_step(const struct rank_log *log, int64_t start_ns, int64_t wall_ns)
{
	size_t low = 0, high = log->step_count;
	uint32_t found = NO_ROW;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (log->steps[middle].start_ns < start_ns)
			low = middle + 1;
		else
			high = middle;
	}
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
