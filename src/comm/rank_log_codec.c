/* SPDX-License-Identifier: MIT */
/* The log of a rank as bytes (base/codec.h). */
#include "comm/rank_log_codec.h"

#include "base/ckd.h"

enum limit {
	LIMIT_NONE,
	LIMIT_NAMES,
	LIMIT_GROUPS,
	LIMIT_KINDS,
	LIMIT_POINT_KINDS,
	LIMIT_MARKS,
};

static const struct field log_fields[] = {
	TSI_FIELD(struct rank_log, rank, 0, LIMIT_NONE),
	TSI_FIELD(struct rank_log, has_start, 0, LIMIT_NONE),
	TSI_FIELD(struct rank_log, is_host, 0, LIMIT_NONE),
	TSI_FIELD(struct rank_log, host_name, 0, LIMIT_NAMES),
	TSI_FIELD(struct rank_log, device_name, 0, LIMIT_NAMES),
	TSI_FIELD(struct rank_log, device_ordinal, 0, LIMIT_NONE),
	TSI_FIELD(struct rank_log, visible_device_count, 0, LIMIT_NONE),
};

static const struct field member_fields[] = {
	{ 0, sizeof(int64_t), FIELD_INT64, FIELD_NEAR, LIMIT_NONE },
};

static const struct field group_fields[] = {
	TSI_FIELD(struct rank_group, name, 0, LIMIT_NAMES),
	TSI_FIELD(struct rank_group, description, 0, LIMIT_NAMES),
	TSI_FIELD(struct rank_group, size, 0, LIMIT_NONE),
	TSI_FIELD(struct rank_group, first_member, FIELD_NEAR, LIMIT_NONE),
	TSI_FIELD(struct rank_group, member_count, 0, LIMIT_NONE),
	TSI_FIELD(struct rank_group, stride, 0, LIMIT_NONE),
};

#define OP(member, flags, limit) TSI_FIELD(struct rank_op, member, flags, limit)
static const struct field op_fields[] = {
	OP(start_ns, FIELD_RISING, LIMIT_NONE),
	OP(dur_ns, 0, LIMIT_NONE),
	OP(ready_ns, FIELD_NEAR, LIMIT_NONE),
	OP(launch_ns, FIELD_NEAR, LIMIT_NONE),
	OP(step, FIELD_NEAR, LIMIT_NONE),
	OP(sequence, FIELD_NEAR, LIMIT_NONE),
	OP(bytes, 0, LIMIT_NONE),
	OP(bus_bytes, 0, LIMIT_NONE),
	OP(received_bytes, 0, LIMIT_NONE),
	OP(peer, FIELD_NEAR, LIMIT_NONE),
	OP(group, 0, LIMIT_GROUPS),
	OP(dtype, 0, LIMIT_NAMES),
	OP(stream, FIELD_NEAR, LIMIT_NONE),
	OP(kind, 0, LIMIT_KINDS),
	OP(is_send, 0, LIMIT_NONE),
	OP(is_cut, 0, LIMIT_NONE),
};

static const struct field point_fields[] = {
	TSI_FIELD(struct rank_point, time_ns, FIELD_RISING, LIMIT_NONE),
	TSI_FIELD(struct rank_point, stall_ns, 0, LIMIT_NONE),
	TSI_FIELD(struct rank_point, line_ns, 0, LIMIT_NONE),
	TSI_FIELD(struct rank_point, index, FIELD_NEAR, LIMIT_NONE),
	TSI_FIELD(struct rank_point, kind, 0, LIMIT_POINT_KINDS),
};

static const struct field step_fields[] = {
	TSI_FIELD(struct rank_log_step, number, FIELD_NEAR, LIMIT_NONE),
	TSI_FIELD(struct rank_log_step, start_ns, FIELD_RISING, LIMIT_NONE),
	TSI_FIELD(struct rank_log_step, wall_ns, 0, LIMIT_NONE),
	TSI_FIELD(struct rank_log_step, mark, 0, LIMIT_MARKS),
};

static const struct field interval_fields[] = {
	TSI_FIELD(struct interval, start_ns, FIELD_RISING, LIMIT_NONE),
	TSI_FIELD(struct interval, end_ns, FIELD_RISING, LIMIT_NONE),
};

static const struct field kernel_fields[] = {
	TSI_FIELD(struct rank_kernel, name, FIELD_NEAR, LIMIT_NAMES),
	TSI_FIELD(struct rank_kernel, is_comm, 0, LIMIT_NONE),
	TSI_FIELD(struct rank_kernel, count, 0, LIMIT_NONE),
	TSI_FIELD(struct rank_kernel, total_ns, 0, LIMIT_NONE),
	TSI_FIELD(struct rank_kernel, blocks, 0, LIMIT_NONE),
};

static const struct field place_fields[] = {
	TSI_FIELD(struct rank_place, name, FIELD_NEAR, LIMIT_NAMES),
	TSI_FIELD(struct rank_place, total_ns, 0, LIMIT_NONE),
	TSI_FIELD(struct rank_place, longest_ns, 0, LIMIT_NONE),
	TSI_FIELD(struct rank_place, longest_start_ns, FIELD_NEAR, LIMIT_NONE),
};

/* ---- what is read, and means nothing ---- */

static void check_group(struct codec *codec, const struct rank_log *log,
			const struct rank_group *group)
{
	int64_t span;

	if (group->first_member > log->member_count ||
	    tsi_listed_members(group) > log->member_count - group->first_member) {
		tsi_codec_refuse(codec, "a group with members that are not there");
		return;
	}
	if (group->stride < 0 || group->member_count > MAX_GROUP_MEMBERS ||
	    (group->stride > 0 &&
	     (group->member_count == 0 ||
	      tsi_ckd_mul(&span, group->stride, (int64_t)group->member_count) ||
	      tsi_ckd_add(&span, span, log->members[group->first_member]))))
		tsi_codec_refuse(codec, "a group of more members than there are ranks");
	for (size_t i = 1; i < tsi_listed_members(group); i++)
		if (log->members[group->first_member + i] <=
		    log->members[group->first_member + i - 1])
			tsi_codec_refuse(codec, "members of a group that do not rise");
}

static void check_point(struct codec *codec, const struct rank_log *log,
			const struct rank_point *point)
{
	bool is_of_op = point->kind == RANK_POINT_READY || point->kind == RANK_POINT_RESUME;

	if (point->index >= (is_of_op ? log->op_count : log->step_count))
		tsi_codec_refuse(codec, "a point of nothing that is there");
	for (size_t line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++)
		if (point->line_ns[line] < 0)
			tsi_codec_refuse(codec, "a point that takes less than no time");
	if (point->stall_ns < 0)
		tsi_codec_refuse(codec, "a point that waited less than no time");
}

static void check(struct codec *codec, const struct rank_log *log)
{
	for (size_t i = 0; i < log->group_count; i++)
		check_group(codec, log, &log->groups[i]);
	for (size_t i = 0; i < log->op_count; i++)
		if (log->ops[i].dur_ns < 0)
			tsi_codec_refuse(codec, "a collective that takes less than no time");
	for (size_t i = 0; i < log->point_count; i++)
		check_point(codec, log, &log->points[i]);
	for (size_t i = 0; i < log->step_count; i++)
		if (log->steps[i].wall_ns < 0)
			tsi_codec_refuse(codec, "a step that takes less than no time");
	for (size_t i = 0; i < log->still.count; i++)
		if (log->still.items[i].start_ns >= log->still.items[i].end_ns ||
		    (i > 0 && log->still.items[i].start_ns <= log->still.items[i - 1].end_ns))
			tsi_codec_refuse(codec, "intervals that overlap");
}

/* ---- the log ---- */

#define CODE(items, count, type, fields)                                                           \
	tsi_code_list(codec, &log->items, &log->count, &TSI_LIST_OF(type, fields), &log->arena)

void tsi_code_rank_log(struct codec *codec, struct rank_log *log)
{
	tsi_code_names(codec, &log->names);
	codec->limits[LIMIT_NAMES] = log->names.count;
	codec->limits[LIMIT_KINDS] = COLLECTIVE_KIND_COUNT;
	codec->limits[LIMIT_POINT_KINDS] = RANK_POINT_END + 1;
	codec->limits[LIMIT_MARKS] = TSCOPE_STEP_UNRECORDED + 1;
	tsi_code_struct(codec, log, &TSI_LIST_OF(struct rank_log, log_fields));
	tsi_code_list(codec, &log->members, &log->member_count,
		      &TSI_LIST_OF(int64_t, member_fields), &log->member_memory);
	CODE(groups, group_count, struct rank_group, group_fields);
	codec->limits[LIMIT_GROUPS] = log->group_count;
	CODE(ops, op_count, struct rank_op, op_fields);
	CODE(steps, step_count, struct rank_log_step, step_fields);
	tsi_code_list(codec, &log->points, &log->point_count,
		      &TSI_LIST_OF(struct rank_point, point_fields), &log->point_memory);
	CODE(kernels, kernel_count, struct rank_kernel, kernel_fields);
	CODE(places, place_count, struct rank_place, place_fields);
	tsi_code_list(codec, &log->still.items, &log->still.count,
		      &TSI_LIST_OF(struct interval, interval_fields), &log->still_memory);
	if (codec->is_reading && tsi_codec_is_good(codec))
		check(codec, log);
	log->member_capacity = log->member_count;
	log->group_capacity = log->group_count;
	log->op_capacity = log->op_count;
	log->step_capacity = log->step_count;
	log->point_capacity = log->point_count;
	log->kernel_capacity = log->kernel_count;
	log->place_capacity = log->place_count;
	log->still.capacity = log->still.count;
}
