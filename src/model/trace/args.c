/* SPDX-License-Identifier: MIT */
/*
 * What events carry in args, for the few classes whose args are read at all:
 * operators, runtime calls, device work. Args are most of a file's bytes, so
 * each object is walked once, with the layout of those before it.
 */
#include "model/trace/args.h"
#include "base/array.h"
#include "decode/events/members.h"
#include "decode/json.h"
#include "model/trace/build.h"

#include <float.h>
#include <math.h>

unsigned tsi_find_arg(struct str key)
{
	switch (key.length) {
	case 4:
		return tsi_str_is(key, "grid")   ? ARG_GRID
		       : tsi_str_is(key, "kind") ? ARG_DIRECTION
		       : tsi_str_is(key, "size") ? ARG_BYTES
						 : ARG_OTHER;
	case 5:
		return tsi_str_is(key, "bytes")   ? ARG_BYTES
		       : tsi_str_is(key, "flops") ? ARG_FLOPS
						  : ARG_OTHER;
	case 6:
		return tsi_str_is(key, "device")   ? ARG_DEVICE
		       : tsi_str_is(key, "stream") ? ARG_STREAM
						   : ARG_OTHER;
	case 8:
		return tsi_str_is(key, "graph id") ? ARG_GRAPH : ARG_OTHER;
	case 9:
		return tsi_str_is(key, "direction")   ? ARG_DIRECTION
		       : tsi_str_is(key, "Device Id") ? ARG_DEVICE_ID
						      : ARG_OTHER;
	case 10:
		return tsi_str_is(key, "Input Dims") || tsi_str_is(key, "Input dims")
			       ? ARG_INPUT_DIMS
		       : tsi_str_is(key, "Input type") ? ARG_INPUT_TYPES
						       : ARG_OTHER;
	case 11:
		return tsi_str_is(key, "correlation") ? ARG_CORRELATION
		       : tsi_str_is(key, "External id") || tsi_str_is(key, "external id")
			       ? ARG_EXTERNAL_ID
		       : tsi_str_is(key, "Device Type") ? ARG_DEVICE_TYPE
							: ARG_OTHER;
	case 12:
		return tsi_str_is(key, "warps per SM") ? ARG_WARPS_PER_SM : ARG_OTHER;
	case 13:
		return tsi_str_is(key, "blocks per SM")   ? ARG_BLOCKS_PER_SM
		       : tsi_str_is(key, "Fwd thread id") ? ARG_FORWARD_THREAD
							  : ARG_OTHER;
	case 14:
		return tsi_str_is(key, "Total Reserved") ? ARG_RESERVED : ARG_OTHER;
	case 15:
		return tsi_str_is(key, "Concrete Inputs")   ? ARG_CONCRETE_INPUTS
		       : tsi_str_is(key, "Sequence number") ? ARG_SEQUENCE_NUMBER
		       : tsi_str_is(key, "Collective name") ? ARG_COLLECTIVE
		       : tsi_str_is(key, "Total Allocated") ? ARG_ALLOCATED
							    : ARG_OTHER;
	case 23:
		return tsi_str_is(key, "theoretical occupancy %") ? ARG_OCCUPANCY : ARG_OTHER;
	case 25:
		return tsi_str_is(key, "est. achieved occupancy %") ? ARG_OCCUPANCY : ARG_OTHER;
	}
	return ARG_OTHER;
}

/* Ids beyond 32 bits name nothing. */
static uint32_t id_of(struct str value)
{
	uint64_t id;
	return tsi_json_to_uint64(value, &id) && id < NO_ROW ? (uint32_t)id : 0;
}

static float float_of(struct str value)
{
	double number;
	return tsi_json_to_double(value, &number) && fabs(number) <= FLT_MAX ? (float)number : NAN;
}

static void read_int(struct str value, int64_t *number)
{
	int64_t read;
	if (tsi_json_to_int64(value, &read))
		*number = read;
}

/* No copy has less than nothing. */
static void read_bytes(struct str value, int64_t *bytes)
{
	int64_t read;
	if (tsi_json_to_int64(value, &read) && read >= 0)
		*bytes = read;
}

static void read_correlation(struct str value, uint64_t *correlation)
{
	uint64_t read;
	if (tsi_json_to_uint64(value, &read))
		*correlation = read;
}

/* [x, y, z] -> x * y * z; 0 for what is none. */
static uint32_t blocks_of(struct str grid)
{
	struct json_cursor sizes;
	struct str value;
	uint64_t blocks = 0;
	tsi_json_array_open(&sizes, grid);
	while (tsi_json_array_next(&sizes, &value)) {
		uint64_t size;
		if (!tsi_json_to_uint64(value, &size) || size > UINT32_MAX)
			return 0;
		blocks = blocks ? blocks * size : size;
		if (blocks > UINT32_MAX)
			return UINT32_MAX;
	}
	return (uint32_t)blocks;
}

/* ---- collectives --------------------------------------------------------------------- */

static enum tscope_status read_text(struct builder *b, struct str value, uint32_t *id,
				    struct tscope_error *err)
{
	struct str text = tsi_json_unquote(value);
	return tsi_builder_intern(b, text, memchr(text.data, '\\', text.length) != NULL, id, err);
}

/* The texts of a collective and where they go. */
static const struct {
	const char *key;
	size_t offset; /* of an id in struct collective */
} collective_texts[] = {
	{ "Collective name", offsetof(struct collective, name) },
	{ "dtype", offsetof(struct collective, dtype) },
	{ "Process Group Name", offsetof(struct collective, group_name) },
	{ "Process Group ID", offsetof(struct collective, group_name) }, /* 2.3 */
	{ "Process Group Description", offsetof(struct collective, group_desc) },
	{ "Process Group Ranks", offsetof(struct collective, group_ranks) },
	{ "In split size", offsetof(struct collective, in_split) },
	{ "Out split size", offsetof(struct collective, out_split) },
};

static const struct {
	const char *key;
	size_t offset; /* of an int64_t in struct collective */
} collective_numbers[] = {
	{ "In msg nelems", offsetof(struct collective, in_elements) },
	{ "In msg size", offsetof(struct collective, in_elements) }, /* 2.2 */
	{ "Out msg nelems", offsetof(struct collective, out_elements) },
	{ "Out msg size", offsetof(struct collective, out_elements) },
	{ "Group size", offsetof(struct collective, group_size) },
	{ "Seq", offsetof(struct collective, sequence) },
	{ "Src Rank", offsetof(struct collective, src_rank) },
	{ "Dst Rank", offsetof(struct collective, dst_rank) },
	{ "Global rank start", offsetof(struct collective, rank_start) },
	{ "Global rank stride", offsetof(struct collective, rank_stride) },
};

static bool is_key(struct str key, const char *wanted)
{
	return tsi_str_equal(key, tsi_str_of(wanted));
}

static enum tscope_status read_collective_arg(struct builder *b, struct collective *collective,
					      struct str key, struct str value,
					      struct tscope_error *err)
{
	char *base = (char *)collective;
	for (size_t i = 0; i < TSI_COUNT_OF(collective_texts); i++)
		if (is_key(key, collective_texts[i].key))
			return read_text(b, value,
					 (uint32_t *)(void *)(base + collective_texts[i].offset),
					 err);
	for (size_t i = 0; i < TSI_COUNT_OF(collective_numbers); i++)
		if (is_key(key, collective_numbers[i].key))
			read_int(value, (int64_t *)(void *)(base + collective_numbers[i].offset));
	return TSCOPE_OK;
}

static enum tscope_status add_collective(struct builder *b, struct str args, uint32_t *index,
					 struct tscope_error *err)
{
	struct tscope_trace *trace = b->trace;
	struct collective collective = {
		.in_elements = NO_NUMBER,
		.out_elements = NO_NUMBER,
		.group_size = NO_NUMBER,
		.sequence = NO_NUMBER,
		.src_rank = NO_NUMBER,
		.dst_rank = NO_NUMBER,
		.rank_start = NO_NUMBER,
		.rank_stride = NO_NUMBER,
	};
	struct json_cursor members;
	struct str key, value;
	tsi_json_object_open(&members, args);
	while (tsi_json_object_next(&members, &key, &value)) {
		enum tscope_status status = read_collective_arg(b, &collective, key, value, err);
		if (status != TSCOPE_OK)
			return status;
	}
	struct str name = tsi_intern_text(&trace->names, collective.name);
	collective.kind = (uint8_t)tsi_classify_collective(name);
	collective.is_wait = tsi_is_collective_wait(name);
	collective.element_bytes =
		tsi_dtype_bytes(tsi_intern_text(&trace->names, collective.dtype));

	if (tsi_array_reserve(&trace->collectives, &trace->collective_capacity,
			      trace->collective_count + 1, sizeof(collective), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	*index = (uint32_t)trace->collective_count;
	trace->collectives[trace->collective_count++] = collective;
	return TSCOPE_OK;
}

/* ---- operators ----------------------------------------------------------------------- */

enum { CONCRETE_UNKNOWN, CONCRETE_KEPT, CONCRETE_DROPPED };

/* Whether the concrete inputs of a name's operators are kept: found out once for each name. */
static enum tscope_status keeps_concrete(struct builder *b, uint32_t name, bool *keeps,
					 struct tscope_error *err)
{
	size_t known = b->concrete_use_capacity;
	if (tsi_unlikely(name >= known)) {
		if (tsi_array_reserve(&b->concrete_use, &b->concrete_use_capacity, (size_t)name + 1,
				      1, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		memset(b->concrete_use + known, CONCRETE_UNKNOWN, b->concrete_use_capacity - known);
	}
	uint8_t *use = &b->concrete_use[name];
	if (*use == CONCRETE_UNKNOWN)
		*use = tsi_needs_concrete(tsi_intern_text(&b->trace->names, name))
			       ? CONCRETE_KEPT
			       : CONCRETE_DROPPED;
	*keeps = *use == CONCRETE_KEPT;
	return TSCOPE_OK;
}

static enum tscope_status read_inputs(struct builder *b, uint32_t name, struct raw_inputs *raw,
				      struct cpu_op *op, struct tscope_error *err)
{
	uint32_t index;
	bool keeps = false;
	enum tscope_status status = TSCOPE_OK;
	if (raw->dims.length == 0)
		raw->types = raw->concrete = (struct str){ 0 };
	if (raw->concrete.length)
		status = keeps_concrete(b, name, &keeps, err);
	if (!keeps)
		raw->concrete = (struct str){ 0 };
	if (status == TSCOPE_OK && (raw->dims.length || raw->flops.length)) {
		status = tsi_find_inputs(b, raw, &index, err);
		if (status == TSCOPE_OK)
			op->inputs = index & MAX_INPUTS;
	}
	return status;
}

/* A number whose first digit is at least this one: 0 or not is all that is asked. */
static bool is_at_least(struct str value, char digit)
{
	return value.length && value.data[0] >= digit && value.data[0] <= '9';
}

enum tscope_status tsi_read_op_args(struct builder *b, uint32_t name, struct str args,
				    struct cpu_op *op, uint32_t *external_id,
				    struct tscope_error *err)
{
	struct members members = tsi_members_open(b->isa, &b->op_args, tsi_find_arg, args);
	struct raw_inputs raw = { 0 };
	struct str value;
	unsigned arg;
	bool has_collective = false;
	while (tsi_members_next(&members, &arg, &value)) {
		switch ((enum arg)arg) {
		case ARG_EXTERNAL_ID:
			*external_id = id_of(value);
			break;
		case ARG_SEQUENCE_NUMBER:
			op->is_forward = is_at_least(value, '0');
			break;
		case ARG_FORWARD_THREAD:
			op->is_backward = is_at_least(value, '1');
			break;
		case ARG_INPUT_DIMS:
			raw.dims = value;
			break;
		case ARG_INPUT_TYPES:
			raw.types = value;
			break;
		case ARG_CONCRETE_INPUTS:
			raw.concrete = value;
			break;
		case ARG_FLOPS:
			raw.flops = value;
			break;
		case ARG_COLLECTIVE:
			has_collective = true;
			break;
		default:
			break;
		}
	}
	if (op->is_backward)
		op->is_forward = false;
	enum tscope_status status = read_inputs(b, name, &raw, op, err);
	if (status == TSCOPE_OK && has_collective)
		status = add_collective(b, args, &op->collective, err);
	return status;
}

/* ---- runtime calls ------------------------------------------------------------------- */

void tsi_read_call_args(struct builder *b, struct str args, struct event_ids *ids, int64_t *bytes)
{
	struct members members = tsi_members_open(b->isa, &b->call_args, tsi_find_arg, args);
	struct str value;
	unsigned arg;
	while (tsi_members_next(&members, &arg, &value)) {
		switch ((enum arg)arg) {
		case ARG_CORRELATION:
			read_correlation(value, &ids->correlation);
			break;
		case ARG_EXTERNAL_ID:
			ids->external_id = id_of(value);
			break;
		case ARG_BYTES:
			read_bytes(value, bytes);
			break;
		default:
			break;
		}
	}
}

/* ---- device work --------------------------------------------------------------------- */

static void read_device_arg(struct raw_work *work, enum arg arg, struct str value)
{
	switch (arg) {
	case ARG_DEVICE:
		read_int(value, &work->place.device);
		break;
	case ARG_STREAM:
		read_int(value, &work->place.stream);
		break;
	case ARG_CORRELATION:
		read_correlation(value, &work->ids.correlation);
		break;
	case ARG_EXTERNAL_ID:
		work->ids.external_id = id_of(value);
		break;
	case ARG_BYTES:
		read_bytes(value, &work->shape.bytes);
		break;
	case ARG_DIRECTION:
		work->direction = (uint8_t)tsi_classify_copy(tsi_json_unquote(value));
		break;
	case ARG_GRAPH:
		work->graph = id_of(value) != 0;
		break;
	case ARG_GRID:
		work->shape.grid_blocks = blocks_of(value);
		break;
	case ARG_BLOCKS_PER_SM:
		work->shape.blocks_per_sm = float_of(value);
		break;
	case ARG_WARPS_PER_SM:
		work->shape.warps_per_sm = float_of(value);
		break;
	case ARG_OCCUPANCY:
		work->shape.occupancy_pct = float_of(value);
		break;
	default:
		break;
	}
}

enum tscope_status tsi_read_device_args(struct builder *b, struct str args, struct raw_work *work,
					struct tscope_error *err)
{
	struct members members = tsi_members_open(b->isa, &b->device_args, tsi_find_arg, args);
	struct str value;
	unsigned arg;
	bool has_collective = false;
	*work = (struct raw_work){
		.shape = tsi_no_shape(),
		.place = { NO_NUMBER, NO_NUMBER },
		.collective = NO_ROW,
	};
	while (tsi_members_next(&members, &arg, &value)) {
		if (arg == ARG_COLLECTIVE)
			has_collective = true;
		else if (arg != ARG_OTHER)
			read_device_arg(work, (enum arg)arg, value);
	}
	return has_collective ? add_collective(b, args, &work->collective, err) : TSCOPE_OK;
}
