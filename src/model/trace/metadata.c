/* SPDX-License-Identifier: MIT */
/*
 * Metadata of a file: the top-level keys beside traceEvents, in any order, before or after the
 * events, and the M events among them. Nothing here is needed to read an event, because it may come
 * last.
 */
#include "decode/json.h"
#include "model/trace/build.h"

static uint32_t intern_value(struct builder *b, struct str value)
{
	struct str text = tsi_json_unquote(value);
	bool escaped = text.length && memchr(text.data, '\\', text.length);
	return tsi_builder_name(b, text, escaped);
}

/* The text of a member. */
static uint32_t intern_member(struct builder *b, struct str object, struct str key)
{
	return intern_value(b, tsi_json_object_get(object, key));
}

static int64_t int_or(struct str value, int64_t fallback)
{
	int64_t number;
	return tsi_json_to_int64(value, &number) ? number : fallback;
}

static void put_int(int64_t *to, struct str value)
{
	*to = int_or(value, *to);
}

/* ---- deviceProperties ---------------------------------------------------------------- */

static const struct {
	const char *key;
	size_t offset; /* of an int64_t in struct device_properties */
} device_numbers[] = {
	{ "id", offsetof(struct device_properties, id) },
	{ "numSms", offsetof(struct device_properties, sm_count) },
	{ "maxComputeUnits", offsetof(struct device_properties, sm_count) },
	{ "totalGlobalMem", offsetof(struct device_properties, total_bytes) },
	{ "computeMajor", offsetof(struct device_properties, compute_major) },
	{ "major", offsetof(struct device_properties, compute_major) },
};

static bool is_key(struct str key, const char *wanted)
{
	return tsi_str_equal(key, tsi_str_of(wanted));
}

static void read_device(struct builder *b, struct str device, struct device_properties *properties)
{
	char *base = (char *)properties;
	struct json_cursor members;
	struct str key, value;
	for (size_t i = 0; i < TSI_COUNT_OF(device_numbers); i++)
		*(int64_t *)(void *)(base + device_numbers[i].offset) = NO_NUMBER;
	tsi_json_object_open(&members, device);
	while (tsi_json_object_next(&members, &key, &value)) {
		for (size_t i = 0; i < TSI_COUNT_OF(device_numbers); i++)
			if (is_key(key, device_numbers[i].key))
				put_int((int64_t *)(void *)(base + device_numbers[i].offset),
					value);
		if (tsi_str_is(key, "name"))
			properties->name = intern_value(b, value);
	}
}

static void take_device_properties(struct builder *b, struct str list)
{
	struct tscope_trace *trace = b->trace;
	struct json_cursor devices;
	struct str device;
	trace->is_kineto = true;
	trace->device_properties_count = 0; /* the last list wins */
	tsi_json_array_open(&devices, list);
	while (tsi_json_array_next(&devices, &device)) {
		struct device_properties *properties = tsi_builder_push(
			b, &trace->device_properties, &trace->device_properties_count,
			&trace->device_properties_capacity, sizeof(*properties));
		if (!properties)
			return;
		read_device(b, device, properties);
	}
}

/* ---- other keys ---------------------------------------------------------------------- */

static void take_schema(struct builder *b, struct str value)
{
	(void)value;
	b->trace->is_kineto = true;
}

/* The name of a group is a text or a number; until 2024 "uid" stood where "pg_desc" is now. */
static void take_listed_groups(struct builder *b, struct str list)
{
	struct tscope_trace *trace = b->trace;
	struct json_cursor groups;
	struct str group;

	trace->listed_group_count = 0; /* the last list wins */
	tsi_json_array_open(&groups, list);
	while (tsi_json_array_next(&groups, &group)) {
		struct listed_group *listed =
			tsi_builder_push(b, &trace->listed_groups, &trace->listed_group_count,
					 &trace->listed_group_capacity, sizeof(*listed));
		if (!listed)
			return;
		listed->name = intern_member(b, group, TSI_STR("pg_name"));
		listed->description = intern_member(b, group, TSI_STR("pg_desc"));
		listed->ranks = intern_member(b, group, TSI_STR("ranks"));
		listed->size = int_or(tsi_json_object_get(group, TSI_STR("pg_size")), NO_NUMBER);
	}
}

static void take_distributed_info(struct builder *b, struct str object)
{
	struct tscope_trace_info *info = &b->trace->info;
	uint32_t backend = intern_member(b, object, TSI_STR("backend"));

	put_int(&info->rank, tsi_json_object_get(object, TSI_STR("rank")));
	put_int(&info->world_size, tsi_json_object_get(object, TSI_STR("world_size")));
	info->backend = tsi_intern_text(&b->trace->names, backend).data;
	take_listed_groups(b, tsi_json_object_get(object, TSI_STR("pg_config")));
	b->trace->nccl_version = intern_member(b, object, TSI_STR("nccl_version"));
}

static void take_global_rank(struct builder *b, struct str value)
{
	put_int(&b->composer_rank, value);
}

static void take_base_time(struct builder *b, struct str value)
{
	struct tscope_trace_info *info = &b->trace->info;
	if (tsi_json_to_int64(value, &info->base_time_ns))
		info->has_base_time = true;
}

static void take_viztracer(struct builder *b, struct str object)
{
	b->trace->is_viztracer = true;
	b->trace->viztracer_overflow =
		tsi_str_is(tsi_json_object_get(object, TSI_STR("overflow")), "true");
	b->sink.diagnostics[TSCOPE_DIAGNOSTIC_ring_buffer_overflow] = b->trace->viztracer_overflow;
	take_base_time(b, tsi_json_object_get(object, TSI_STR("baseTimeNanoseconds")));
}

static void take_slice(struct builder *b, struct str object)
{
	struct tscope_trace *trace = b->trace;

	trace->is_slice = tsi_json_to_int64(tsi_json_object_get(object, TSI_STR("first_ns")),
					    &trace->slice_first_ns) &&
			  tsi_json_to_int64(tsi_json_object_get(object, TSI_STR("last_ns")),
					    &trace->slice_last_ns) &&
			  tsi_json_to_int64(tsi_json_object_get(object, TSI_STR("number")),
					    &trace->slice_number);
}

static void take_slice_ranks(struct builder *b, struct str list)
{
	(void)list;
	b->trace->is_slice_of_ranks = true;
}

static const struct {
	const char *key;
	void (*take)(struct builder *b, struct str value);
} special_keys[] = {
	{ "schemaVersion", take_schema },
	{ "deviceProperties", take_device_properties },
	{ "computeProperties", take_device_properties }, /* until May 2021 */
	{ "distributedInfo", take_distributed_info },
	{ "baseTimeNanoseconds", take_base_time },
	{ "viztracer_metadata", take_viztracer },
	{ "tscope_slice", take_slice },
	{ "tscope_ranks", take_slice_ranks },
	{ "global_rank", take_global_rank }, /* Composer */
};

static const struct {
	const char *key;
	size_t offset; /* of an id in struct tscope_trace */
} text_keys[] = {
	{ "cuda_runtime_version", offsetof(struct tscope_trace, cuda_runtime_version) },
	{ "hip_runtime_version", offsetof(struct tscope_trace, hip_runtime_version) },
	{ "host_name", offsetof(struct tscope_trace, host_name) },
};

static void take_key(struct builder *b, struct str key, struct str value)
{
	char *trace = (char *)b->trace;
	for (size_t i = 0; i < TSI_COUNT_OF(special_keys); i++)
		if (is_key(key, special_keys[i].key))
			special_keys[i].take(b, value);
	for (size_t i = 0; i < TSI_COUNT_OF(text_keys); i++)
		if (is_key(key, text_keys[i].key))
			*(uint32_t *)(void *)(trace + text_keys[i].offset) = intern_value(b, value);
}

enum tscope_status tsi_take_metadata(struct event_sink *sink, struct str key, struct str value,
				     struct tscope_error *err)
{
	struct builder *b = (struct builder *)sink;
	take_key(b, key, value);
	return tsi_builder_status(b, err);
}

/* ---- M events ------------------------------------------------------------------------ */

static void take_thread_name(struct builder *b, const struct raw_event *event)
{
	struct intern *names = &b->trace->names;
	struct thread_name *named = tsi_builder_push(b, &b->thread_names, &b->thread_name_count,
						     &b->thread_name_capacity, sizeof(*named));
	if (!named)
		return;
	named->pid = tsi_builder_id(b, names, event->pid);
	named->tid = tsi_builder_id(b, names, event->tid.length ? event->tid : event->pid);
	named->name = intern_member(b, event->args, TSI_STR("name"));
}

void tsi_take_metadata_event(struct builder *b, const struct raw_event *event)
{
	if (tsi_str_is(event->name, "thread_name"))
		take_thread_name(b, event);
	else if (tsi_str_is(event->name, "thread_sort_index"))
		tsi_note_sort_index(b, event);
	else if (tsi_str_is(event->name, "process_name"))
		tsi_note_process_rank(b, event);
	else
		tsi_take_composer_event(b, event);
}
