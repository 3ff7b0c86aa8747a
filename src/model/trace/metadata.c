/* SPDX-License-Identifier: MIT */
/*
 * What a file says of itself: the top-level keys beside traceEvents, in any
 * order, before or after the events, and the M events among them. Nothing here
 * is needed to read an event, because it may come last.
 */
#include "base/array.h"
#include "decode/json.h"
#include "model/trace/build.h"

static enum tscope_status intern_value(struct builder *b, struct str value, uint32_t *id,
				       struct tscope_error *err)
{
	struct str text = tsi_json_unquote(value);
	bool escaped = text.length && memchr(text.data, '\\', text.length);
	return tsi_builder_intern(b, text, escaped, id, err);
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

static enum tscope_status read_device(struct builder *b, struct str device,
				      struct device_properties *properties,
				      struct tscope_error *err)
{
	struct json_cursor members;
	struct str key, value;
	*properties = (struct device_properties){
		.id = NO_NUMBER,
		.sm_count = NO_NUMBER,
		.total_bytes = NO_NUMBER,
		.compute_major = NO_NUMBER,
		.compute_minor = NO_NUMBER,
		.max_threads_per_sm = NO_NUMBER,
		.warp_size = NO_NUMBER,
	};
	tsi_json_object_open(&members, device);
	while (tsi_json_object_next(&members, &key, &value)) {
		if (tsi_str_is(key, "id"))
			put_int(&properties->id, value);
		else if (tsi_str_is(key, "numSms") || tsi_str_is(key, "maxComputeUnits"))
			put_int(&properties->sm_count, value);
		else if (tsi_str_is(key, "totalGlobalMem"))
			put_int(&properties->total_bytes, value);
		else if (tsi_str_is(key, "computeMajor") || tsi_str_is(key, "major"))
			put_int(&properties->compute_major, value);
		else if (tsi_str_is(key, "computeMinor") || tsi_str_is(key, "minor"))
			put_int(&properties->compute_minor, value);
		else if (tsi_str_is(key, "maxThreadsPerMultiprocessor"))
			put_int(&properties->max_threads_per_sm, value);
		else if (tsi_str_is(key, "warpSize"))
			put_int(&properties->warp_size, value);
		else if (tsi_str_is(key, "name")) {
			enum tscope_status status = intern_value(b, value, &properties->name, err);
			if (status != TSCOPE_OK)
				return status;
		}
	}
	return TSCOPE_OK;
}

static enum tscope_status take_device_properties(struct builder *b, struct str list,
						 struct tscope_error *err)
{
	struct tscope_trace *trace = b->trace;
	struct json_cursor devices;
	struct str device;
	size_t capacity = trace->device_properties_count;
	trace->is_kineto = true;
	trace->device_properties_count = 0; /* the last list wins */
	tsi_json_array_open(&devices, list);
	while (tsi_json_array_next(&devices, &device)) {
		if (tsi_array_reserve(&trace->device_properties, &capacity,
				      (size_t)trace->device_properties_count + 1,
				      sizeof(*trace->device_properties), err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		enum tscope_status status = read_device(
			b, device, &trace->device_properties[trace->device_properties_count], err);
		if (status != TSCOPE_OK)
			return status;
		trace->device_properties_count++;
	}
	return TSCOPE_OK;
}

/* ---- other keys ---------------------------------------------------------------------- */

static enum tscope_status take_schema(struct builder *b, struct str value, struct tscope_error *err)
{
	(void)value;
	(void)err;
	b->trace->is_kineto = true;
	return TSCOPE_OK;
}

/* The name of a group is a text or a number; until 2024 "uid" stood where "pg_desc" is now. */
static enum tscope_status read_listed_group(struct builder *b, struct str group,
					    struct listed_group *listed, struct tscope_error *err)
{
	enum tscope_status status =
		intern_value(b, tsi_json_object_get(group, TSI_STR("pg_name")), &listed->name, err);

	if (status == TSCOPE_OK)
		status = intern_value(b, tsi_json_object_get(group, TSI_STR("pg_desc")),
				      &listed->description, err);
	if (status == TSCOPE_OK)
		status = intern_value(b, tsi_json_object_get(group, TSI_STR("ranks")),
				      &listed->ranks, err);
	listed->size = int_or(tsi_json_object_get(group, TSI_STR("pg_size")), NO_NUMBER);
	return status;
}

static enum tscope_status take_listed_groups(struct builder *b, struct str list,
					     struct tscope_error *err)
{
	struct tscope_trace *trace = b->trace;
	enum tscope_status status = TSCOPE_OK;
	struct json_cursor groups;
	struct str group;

	trace->listed_group_count = 0; /* the last list wins */
	tsi_json_array_open(&groups, list);
	while (status == TSCOPE_OK && tsi_json_array_next(&groups, &group)) {
		if (tsi_array_reserve(&trace->listed_groups, &trace->listed_group_capacity,
				      trace->listed_group_count + 1, sizeof(*trace->listed_groups),
				      err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		status = read_listed_group(b, group,
					   &trace->listed_groups[trace->listed_group_count++], err);
	}
	return status;
}

static enum tscope_status take_distributed_info(struct builder *b, struct str object,
						struct tscope_error *err)
{
	struct tscope_trace_info *info = &b->trace->info;
	info->rank = int_or(tsi_json_object_get(object, TSI_STR("rank")), info->rank);
	info->world_size =
		int_or(tsi_json_object_get(object, TSI_STR("world_size")), info->world_size);

	uint32_t backend;
	enum tscope_status status =
		intern_value(b, tsi_json_object_get(object, TSI_STR("backend")), &backend, err);
	if (status != TSCOPE_OK)
		return status;
	info->backend = tsi_intern_text(&b->trace->names, backend).data;
	status = take_listed_groups(b, tsi_json_object_get(object, TSI_STR("pg_config")), err);
	if (status != TSCOPE_OK)
		return status;
	return intern_value(b, tsi_json_object_get(object, TSI_STR("nccl_version")),
			    &b->trace->nccl_version, err);
}

static enum tscope_status take_global_rank(struct builder *b, struct str value,
					   struct tscope_error *err)
{
	(void)err;
	b->composer_rank = int_or(value, b->composer_rank);
	return TSCOPE_OK;
}

static enum tscope_status take_base_time(struct builder *b, struct str value,
					 struct tscope_error *err)
{
	struct tscope_trace_info *info = &b->trace->info;
	(void)err;
	if (tsi_json_to_int64(value, &info->base_time_ns))
		info->has_base_time = true;
	return TSCOPE_OK;
}

static enum tscope_status take_viztracer(struct builder *b, struct str object,
					 struct tscope_error *err)
{
	b->trace->is_viztracer = true;
	b->trace->viztracer_overflow =
		tsi_str_is(tsi_json_object_get(object, TSI_STR("overflow")), "true");
	b->sink.diagnostics[TSCOPE_DIAGNOSTIC_ring_buffer_overflow] = b->trace->viztracer_overflow;
	return take_base_time(b, tsi_json_object_get(object, TSI_STR("baseTimeNanoseconds")), err);
}

static const struct {
	const char *key;
	enum tscope_status (*take)(struct builder *b, struct str value, struct tscope_error *err);
} special_keys[] = {
	{ "schemaVersion", take_schema },
	{ "deviceProperties", take_device_properties },
	{ "computeProperties", take_device_properties }, /* until May 2021 */
	{ "distributedInfo", take_distributed_info },
	{ "baseTimeNanoseconds", take_base_time },
	{ "viztracer_metadata", take_viztracer },
	{ "global_rank", take_global_rank }, /* Composer */
};

static const struct {
	const char *key;
	size_t offset; /* of a bool in struct tscope_trace */
} flag_keys[] = {
	{ "record_shapes", offsetof(struct tscope_trace, record_shapes) },
	{ "with_stack", offsetof(struct tscope_trace, with_stack) },
	{ "profile_memory", offsetof(struct tscope_trace, profile_memory) },
	{ "with_flops", offsetof(struct tscope_trace, with_flops) },
};

static const struct {
	const char *key;
	size_t offset; /* of an id in struct tscope_trace */
} text_keys[] = {
	{ "cuda_runtime_version", offsetof(struct tscope_trace, cuda_runtime_version) },
	{ "hip_runtime_version", offsetof(struct tscope_trace, hip_runtime_version) },
	{ "traceName", offsetof(struct tscope_trace, trace_name) },
	{ "host_name", offsetof(struct tscope_trace, host_name) },
};

static bool is_key(struct str key, const char *wanted)
{
	return tsi_str_equal(key, tsi_str_of(wanted));
}

enum tscope_status tsi_take_metadata(struct event_sink *sink, struct str key, struct str value,
				     struct tscope_error *err)
{
	struct builder *b = (struct builder *)sink;
	char *trace = (char *)b->trace;
	for (size_t i = 0; i < TSI_COUNT_OF(special_keys); i++)
		if (is_key(key, special_keys[i].key))
			return special_keys[i].take(b, value, err);
	for (size_t i = 0; i < TSI_COUNT_OF(flag_keys); i++)
		if (is_key(key, flag_keys[i].key))
			*(bool *)(trace + flag_keys[i].offset) =
				tsi_str_is(value, "true") || int_or(value, 0) != 0;
	for (size_t i = 0; i < TSI_COUNT_OF(text_keys); i++)
		if (is_key(key, text_keys[i].key))
			return intern_value(b, value,
					    (uint32_t *)(void *)(trace + text_keys[i].offset), err);
	return TSCOPE_OK;
}

/* ---- M events ------------------------------------------------------------------------ */

static enum tscope_status take_thread_name(struct builder *b, const struct raw_event *event,
					   struct tscope_error *err)
{
	struct thread_name named;
	struct str tid = event->tid.length ? event->tid : event->pid;
	enum tscope_status status;
	if ((status = tsi_intern_add(&b->trace->names, event->pid, &named.pid, err)) != TSCOPE_OK ||
	    (status = tsi_intern_add(&b->trace->names, tid, &named.tid, err)) != TSCOPE_OK ||
	    (status = intern_value(b, tsi_json_object_get(event->args, TSI_STR("name")),
				   &named.name, err)) != TSCOPE_OK)
		return status;
	if (tsi_array_reserve(&b->thread_names, &b->thread_name_capacity, b->thread_name_count + 1,
			      sizeof(named), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	b->thread_names[b->thread_name_count++] = named;
	return TSCOPE_OK;
}

enum tscope_status tsi_take_metadata_event(struct builder *b, const struct raw_event *event,
					   struct tscope_error *err)
{
	if (tsi_str_is(event->name, "thread_name"))
		return take_thread_name(b, event, err);
	if (tsi_str_is(event->name, "thread_sort_index"))
		tsi_note_sort_index(b, event);
	return tsi_take_composer_event(b, event, err);
}
