/* SPDX-License-Identifier: MIT */
/*
 * Reads args of events, for the few classes whose args are read at all: operators, runtime calls,
 * device work. Args are most of a file's bytes, so each object is walked once, with the layout of
 * those before it.
 */
#include "model/trace/args.h"

#include "decode/events/members.h"
#include "decode/json.h"
#include "model/trace/build.h"

#include <float.h>
#include <math.h>

static const struct {
	const char *key;
	enum arg arg;
} known_args[] = {
	{ "External id", ARG_EXTERNAL_ID },
	{ "external id", ARG_EXTERNAL_ID },
	{ "Sequence number", ARG_SEQUENCE_NUMBER },
	{ "Fwd thread id", ARG_FORWARD_THREAD },
	{ "Input Dims", ARG_INPUT_DIMS },
	{ "Input dims", ARG_INPUT_DIMS },
	{ "Input type", ARG_INPUT_TYPES },
	{ "Concrete Inputs", ARG_CONCRETE_INPUTS },
	{ "flops", ARG_FLOPS },
	{ "Module Hierarchy", ARG_HIERARCHY },
	{ "Call stack", ARG_CALL_STACK },
	{ "Collective name", ARG_COLLECTIVE },
	{ "correlation", ARG_CORRELATION },
	{ "device", ARG_DEVICE },
	{ "stream", ARG_STREAM },
	{ "bytes", ARG_BYTES },
	{ "size", ARG_BYTES },
	{ "kind", ARG_DIRECTION },
	{ "direction", ARG_DIRECTION },
	{ "copy kind", ARG_COPY_KIND }, /* Cuspy */
	{ "src kind", ARG_COPY_FROM },
	{ "dst kind", ARG_COPY_TO },
	{ "memory kind", ARG_FILLED },
	{ "Stream Id", ARG_STREAM }, /* Ascend */
	{ "graph id", ARG_GRAPH },
	{ "grid", ARG_GRID },
	{ "blocks per SM", ARG_BLOCKS_PER_SM },
	{ "est. achieved occupancy %", ARG_OCCUPANCY },
	{ "theoretical occupancy %", ARG_OCCUPANCY },
	{ "module_fqn", ARG_MODULE }, /* torch.cuda._graph_annotations */
	{ "component", ARG_MODULE },  /* torchtitan, before it was called so */
	{ "stack", ARG_STACK },       /* torch._inductor.profiler */
	{ "kernel", ARG_KERNEL },
	{ "Device Id", ARG_DEVICE_ID },
	{ "Device Type", ARG_DEVICE_TYPE },
	{ "Total Allocated", ARG_ALLOCATED },
	{ "Total Reserved", ARG_RESERVED },
	{ "Bytes", ARG_BLOCK_BYTES },
	{ "Addr", ARG_ADDRESS },
};

unsigned tsi_find_arg(struct str key)
{
	for (size_t i = 0; i < TSI_COUNT_OF(known_args); i++)
		if (tsi_str_equal(key, tsi_str_of(known_args[i].key)))
			return known_args[i].arg;
	return ARG_OTHER;
}

unsigned tsi_find_node_arg(struct str key)
{
	return tsi_str_equal(key, TSI_STR("graph node id")) ? ARG_GRAPH_NODE : tsi_find_arg(key);
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

static uint32_t read_text(struct builder *b, struct str value)
{
	struct str text = tsi_json_unquote(value);
	return tsi_builder_name(b, text, memchr(text.data, '\\', text.length) != NULL);
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

static void read_collective_arg(struct builder *b, struct collective *collective, struct str key,
				struct str value)
{
	char *base = (char *)collective;
	for (size_t i = 0; i < TSI_COUNT_OF(collective_texts); i++)
		if (is_key(key, collective_texts[i].key)) {
			*(uint32_t *)(void *)(base + collective_texts[i].offset) =
				read_text(b, value);
			return;
		}
	for (size_t i = 0; i < TSI_COUNT_OF(collective_numbers); i++)
		if (is_key(key, collective_numbers[i].key))
			read_int(value, (int64_t *)(void *)(base + collective_numbers[i].offset));
}

uint32_t tsi_add_collective(struct builder *b, const struct collective *collective)
{
	struct tscope_trace *trace = b->trace;
	struct collective *added =
		tsi_builder_push(b, &trace->collectives, &trace->collective_count,
				 &trace->collective_capacity, sizeof(*added));
	if (!added)
		return NO_ROW;
	*added = *collective;
	return (uint32_t)trace->collective_count - 1;
}

static uint32_t read_collective(struct builder *b, struct str args)
{
	const struct intern *names = &b->trace->names;
	struct collective collective = tsi_no_collective();
	struct json_cursor members;
	struct str key, value;
	tsi_json_object_open(&members, args);
	while (tsi_json_object_next(&members, &key, &value))
		read_collective_arg(b, &collective, key, value);
	struct str name = tsi_intern_text(names, collective.name);
	collective.kind = (uint8_t)tsi_classify_collective(name);
	collective.is_wait = tsi_is_collective_wait(name);
	collective.element_bytes = tsi_dtype_bytes(tsi_intern_text(names, collective.dtype));
	return tsi_add_collective(b, &collective);
}

/* ---- operators ----------------------------------------------------------------------- */

enum { CONCRETE_UNKNOWN, CONCRETE_KEPT, CONCRETE_DROPPED };

/* Whether the concrete inputs of a name's operators are kept: found out once for each name. */
static bool keeps_concrete(struct builder *b, uint32_t name)
{
	size_t known = b->concrete_use_capacity;
	if (!tsi_builder_reserve(b, &b->concrete_use, &b->concrete_use_capacity, (size_t)name + 1,
				 1))
		return false;
	memset(b->concrete_use + known, CONCRETE_UNKNOWN, b->concrete_use_capacity - known);
	uint8_t *use = &b->concrete_use[name];
	if (*use == CONCRETE_UNKNOWN)
		*use = tsi_needs_concrete(tsi_intern_text(&b->trace->names, name))
			       ? CONCRETE_KEPT
			       : CONCRETE_DROPPED;
	return *use == CONCRETE_KEPT;
}

static void read_inputs(struct builder *b, uint32_t name, struct raw_inputs *raw, struct cpu_op *op)
{
	if (raw->dims.length == 0)
		raw->types = raw->concrete = (struct str){ 0 };
	if (raw->concrete.length && !keeps_concrete(b, name))
		raw->concrete = (struct str){ 0 };
	if (raw->dims.length || raw->flops.length)
		op->inputs = tsi_find_inputs(b, raw) & MAX_INPUTS;
}

/* A number whose first digit is at least this one: 0 or not is all that is asked. */
static bool is_at_least(struct str value, char digit)
{
	return value.length && value.data[0] >= digit && value.data[0] <= '9';
}

/* Where it is none the number before the first. */
static uint64_t number_of(struct str value)
{
	uint64_t number;

	return tsi_json_to_uint64(value, &number) ? number : UINT64_MAX;
}

void tsi_read_op_args(struct builder *b, uint32_t name, struct str args, struct cpu_op *op,
		      struct event_ids *ids)
{
	struct members members = tsi_members_open(b->isa, &b->op_args, tsi_find_arg, args);
	struct raw_inputs raw = { 0 };
	struct raw_place place = { 0 };
	struct str value;
	unsigned arg;
	bool has_collective = false;
	while (tsi_members_next(&members, &arg, &value)) {
		switch ((enum arg)arg) {
		case ARG_EXTERNAL_ID:
			ids->external_id = id_of(value);
			break;
		case ARG_SEQUENCE_NUMBER:
			op->is_forward = is_at_least(value, '0');
			tsi_put_sequence(ids, number_of(value));
			break;
		case ARG_FORWARD_THREAD:
			op->is_backward = is_at_least(value, '1');
			tsi_put_forward_thread(ids, number_of(value));
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
		case ARG_HIERARCHY:
			place.hierarchy = value;
			break;
		case ARG_CALL_STACK:
			place.call_stack = value;
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
	read_inputs(b, name, &raw, op);
	if (place.hierarchy.length || place.call_stack.length)
		op->place = tsi_find_op_place(b, &place);
	if (has_collective)
		op->collective = read_collective(b, args);
}

/* ---- runtime calls ------------------------------------------------------------------- */

static void read_kernel(struct builder *b, struct str value, struct call_traits *call)
{
	uint32_t kernel = b->options.keeps_launches ? read_text(b, value) : 0;

	call->kernel = kernel <= MAX_LAUNCHED_KERNEL ? kernel & MAX_LAUNCHED_KERNEL : 0;
}

void tsi_read_call_args(struct builder *b, struct str args, struct raw_work *work,
			struct call_traits *call)
{
	struct members members = tsi_members_open(b->isa, &b->call_args, tsi_find_arg, args);
	struct str value;
	unsigned arg;
	while (tsi_members_next(&members, &arg, &value)) {
		switch ((enum arg)arg) {
		case ARG_CORRELATION:
			read_correlation(value, &work->ids.correlation);
			break;
		case ARG_EXTERNAL_ID:
			work->ids.external_id = id_of(value);
			break;
		case ARG_BYTES:
			read_bytes(value, &work->shape.bytes);
			break;
		case ARG_KERNEL:
			read_kernel(b, value, call);
			break;
		case ARG_GRID:
			if (b->options.keeps_launches)
				work->shape.grid_blocks = blocks_of(value);
			break;
		default:
			break;
		}
	}
}

/* ---- device work --------------------------------------------------------------------- */

static void read_device_arg(struct builder *b, struct raw_work *work, enum arg arg,
			    struct str value)
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
	case ARG_COPY_KIND:
		work->copy_kind = tsi_json_unquote(value);
		break;
	case ARG_COPY_FROM:
		work->copy_from = tsi_json_unquote(value);
		break;
	case ARG_COPY_TO:
		work->copy_to = tsi_json_unquote(value);
		break;
	case ARG_FILLED:
		work->filled = tsi_json_unquote(value);
		break;
	case ARG_GRAPH:
		work->shape.graph_id = id_of(value);
		work->graph = work->shape.graph_id != 0;
		break;
	case ARG_GRID:
		work->shape.grid_blocks = blocks_of(value);
		break;
	case ARG_BLOCKS_PER_SM:
		work->shape.blocks_per_sm = float_of(value);
		break;
	case ARG_OCCUPANCY:
		work->shape.occupancy_pct = float_of(value);
		break;
	case ARG_GRAPH_NODE:
		work->module = tsi_module_of_node(b, value);
		break;
	case ARG_MODULE:
		work->module = tsi_read_module(b, value);
		break;
	case ARG_STACK:
		work->source = tsi_read_stacks(b, value);
		break;
	default:
		break;
	}
}

void tsi_read_device_args(struct builder *b, struct str args, struct raw_work *work)
{
	struct members members = tsi_members_open(b->isa, &b->device_args, b->sink.arg_of, args);
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
			read_device_arg(b, work, (enum arg)arg, value);
	}
	if (has_collective)
		work->collective = read_collective(b, args);
}
