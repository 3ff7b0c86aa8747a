/* SPDX-License-Identifier: MIT */
/*
 * Which track a row belongs to. Threads are told apart by the texts of pid and
 * tid ("7" and 7 are alike), device streams by device and stream number and by
 * nothing else: in a container the training process is often pid 1, and so is
 * the second GPU.
 */
#include "base/array.h"
#include "decode/json.h"
#include "model/trace/build.h"

/* Streams and devices beyond these are nobody's; they would not fit into a key. */
enum {
	MAX_DEVICE = (1 << 24) - 1,
	STREAM_BITS = 40,
};

static enum tscope_status add_track(struct builder *b, const struct track *track, uint32_t *index,
				    struct tscope_error *err)
{
	struct tscope_trace *trace = b->trace;
	if (tsi_array_reserve(&trace->tracks, &trace->track_capacity,
			      (size_t)trace->track_count + 1, sizeof(*trace->tracks),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	*index = trace->track_count++;
	trace->tracks[*index] = *track;
	return TSCOPE_OK;
}

/* As other readers do: no pid is process 0, no tid is the thread with the pid's number. */
static struct str pid_of(const struct raw_event *event)
{
	return event->pid.length ? event->pid : TSI_STR("0");
}

static struct str tid_of(const struct raw_event *event)
{
	return event->tid.length ? event->tid : pid_of(event);
}

static enum tscope_status intern_pair(struct builder *b, const struct raw_event *event,
				      uint32_t *pid, uint32_t *tid, struct tscope_error *err)
{
	enum tscope_status status = tsi_intern_add(&b->trace->names, pid_of(event), pid, err);
	return status == TSCOPE_OK ? tsi_intern_add(&b->trace->names, tid_of(event), tid, err)
				   : status;
}

enum tscope_status tsi_find_host_track(struct builder *b, const struct raw_event *event,
				       uint32_t *track, struct tscope_error *err)
{
	struct str pid = pid_of(event), tid = tid_of(event);
	size_t hash = tid.length + 7u * (unsigned char)tid.data[tid.length - 1];
	struct track_memo *memo = &b->track_memo[hash & (TRACK_MEMO_SLOTS - 1)];
	if (tsi_likely(memo->used && tsi_str_equal(memo->tid, tid) &&
		       tsi_str_equal(memo->pid, pid))) {
		*track = memo->track;
		return TSCOPE_OK;
	}

	struct track fresh = { .device = -1, .stream = -1 };
	enum tscope_status status = intern_pair(b, event, &fresh.pid, &fresh.tid, err);
	if (status != TSCOPE_OK)
		return status;
	uint64_t key = tsi_key_of_pair(fresh.pid, fresh.tid);
	*track = tsi_key_map_find(&b->host_track_of, key);
	if (*track == NO_ROW && (add_track(b, &fresh, track, err) != TSCOPE_OK ||
				 tsi_key_map_put(&b->host_track_of, key, *track, err) != TSCOPE_OK))
		return TSCOPE_E_NOMEM;
	*memo = (struct track_memo){ tsi_intern_text(&b->trace->names, fresh.pid),
				     tsi_intern_text(&b->trace->names, fresh.tid), *track, true };
	return TSCOPE_OK;
}

/* "stream 7", "stream 7 " and "7" -> 7. */
static int64_t number_of(struct str text)
{
	int64_t number;
	if (tsi_str_starts(text, "stream ")) {
		text.data += sizeof("stream ") - 1;
		text.length -= sizeof("stream ") - 1;
	}
	return tsi_str_to_int64(tsi_str_trim(text), &number) ? number : NO_NUMBER;
}

/* Settles what the args left open; what nobody says is device 0, stream -1. */
static void complete_place(struct device_place *place, struct str pid, struct str tid)
{
	if (place->device == NO_NUMBER)
		place->device = number_of(pid);
	if (place->stream == NO_NUMBER)
		place->stream = number_of(tid);
	if (place->device < 0 || place->device > MAX_DEVICE)
		place->device = 0;
	if (place->stream < 0 || place->stream >= INT64_C(1) << STREAM_BITS)
		place->stream = -1;
}

static uint64_t key_of_place(struct device_place place)
{
	return (uint64_t)place.device << STREAM_BITS |
	       ((uint64_t)place.stream & ((UINT64_C(1) << STREAM_BITS) - 1));
}

enum tscope_status tsi_find_device_track(struct builder *b, const struct raw_event *event,
					 struct device_place place, uint32_t *track,
					 struct tscope_error *err)
{
	complete_place(&place, event->pid, event->tid);
	uint64_t key = key_of_place(place);
	*track = tsi_key_map_find(&b->device_track_of, key);
	if (tsi_likely(*track != NO_ROW))
		return TSCOPE_OK;

	struct track fresh = {
		.device = (int32_t)place.device,
		.stream = place.stream,
		.is_device = true,
	};
	enum tscope_status status = intern_pair(b, event, &fresh.pid, &fresh.tid, err);
	if (status != TSCOPE_OK)
		return status;
	if (add_track(b, &fresh, track, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_key_map_put(&b->device_track_of, key, *track, err);
}

void tsi_name_tracks(struct builder *b)
{
	for (size_t i = 0; i < b->thread_name_count; i++) {
		struct thread_name *named = &b->thread_names[i];
		struct str name = tsi_intern_text(&b->trace->names, named->name);
		uint32_t track;
		if (tsi_str_starts(name, "stream ")) {
			struct device_place place = { NO_NUMBER, NO_NUMBER };
			complete_place(&place, tsi_intern_text(&b->trace->names, named->pid),
				       tsi_intern_text(&b->trace->names, named->tid));
			track = tsi_key_map_find(&b->device_track_of, key_of_place(place));
		} else {
			track = tsi_key_map_find(&b->host_track_of,
						 tsi_key_of_pair(named->pid, named->tid));
		}
		if (track != NO_ROW)
			b->trace->tracks[track].name = named->name;
	}
}
