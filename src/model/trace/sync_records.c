/* SPDX-License-Identifier: MIT */
/*
 * Who waits for whom, where PyTorch was set to record it ("cuda_sync"): streams for events, calls
 * for streams and events. The records are no work and no rows: they stand beside the calls that
 * they explain, to which link.c binds them.
 */
#include "decode/json.h"
#include "model/trace/build.h"

static bool kind_of(struct str name, uint8_t *kind)
{
	static const char *const names[] = {
		[SYNC_EVENT] = "Event Sync",
		[SYNC_STREAM_WAIT] = "Stream Wait Event",
		[SYNC_STREAM] = "Stream Sync",
		[SYNC_CONTEXT] = "Context Sync",
	};

	for (uint8_t i = 0; i < TSI_COUNT_OF(names); i++) {
		if (tsi_str_equal(name, tsi_str_of(names[i]))) {
			*kind = i;
			return true;
		}
	}
	return false;
}

/* No stream is -1, or 4294967295 where a writer forgot the sign. */
static int64_t stream_of(struct str value)
{
	int64_t stream;

	return tsi_json_to_int64(value, &stream) && stream >= 0 && stream != UINT32_MAX ? stream
											: -1;
}

/* "-1" is none. */
static uint64_t correlation_of(struct str value)
{
	uint64_t correlation;

	return tsi_json_to_uint64(value, &correlation) ? correlation : 0;
}

static void read_args(struct sync_record *record, struct str args)
{
	struct json_cursor members;
	struct str key, value;
	int64_t device;

	tsi_json_object_open(&members, args);
	while (tsi_json_object_next(&members, &key, &value)) {
		if (tsi_str_is(key, "correlation"))
			record->correlation = correlation_of(value);
		else if (tsi_str_is(key, "wait_on_cuda_event_record_corr_id"))
			record->event_correlation = correlation_of(value);
		else if (tsi_str_is(key, "stream"))
			record->stream = stream_of(value);
		else if (tsi_str_is(key, "wait_on_stream"))
			record->event_stream = stream_of(value);
		else if (tsi_str_is(key, "device") && tsi_json_to_int64(value, &device) &&
			 device >= 0 && device <= INT32_MAX)
			record->device = (int32_t)device;
	}
}

void tsi_add_sync_record(struct builder *b, const struct raw_event *event)
{
	struct tscope_trace *trace = b->trace;
	uint8_t kind;

	if (!event->has_ts || !kind_of(event->name, &kind))
		return;
	struct sync_record *record =
		tsi_builder_push(b, &trace->sync_records, &trace->sync_record_count,
				 &trace->sync_record_capacity, sizeof(*record));
	if (!record)
		return;
	*record = (struct sync_record){
		.start_ns = event->ts_ns,
		.stream = -1,
		.event_stream = -1,
		.call = NO_ROW,
		.event_call = NO_ROW,
		.kind = kind,
	};
	read_args(record, event->args);
}
