/* SPDX-License-Identifier: MIT */
/*
 * Which track a row belongs to. Threads are distinguished by the texts of pid and
 * tid ("7" and 7 are alike), device streams by device and stream number and by
 * nothing else: in a container the training process is often pid 1, and so is
 * the second GPU.
 */
#include "model/trace/build.h"

/* Streams and devices beyond these are nobody's; they would not fit into a key. */
enum {
	MAX_DEVICE = (1 << 24) - 1,
	STREAM_BITS = 40,
};

/* Returns its index; that of the first where that failed. */
static uint32_t add_track(struct builder *b, const struct track *track)
{
	struct tscope_trace *trace = b->trace;
	struct track *tracks =
		tsi_arena_reserve(&trace->arena, trace->tracks, &trace->track_capacity,
				  (size_t)trace->track_count + 1, sizeof(*tracks));
	if (!tracks) {
		tsi_builder_fail_nomem(b);
		return 0;
	}
	trace->tracks = tracks;
	tracks[trace->track_count] = *track;
	return trace->track_count++;
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

static size_t hash_of(struct str tid)
{
	return tid.length + 7u * (unsigned char)tid.data[tid.length - 1];
}

void tsi_find_thread_ids(struct builder *b, const struct raw_event *event, uint32_t *pid,
			 uint32_t *tid)
{
	struct intern *names = &b->trace->names;
	struct str process_id = pid_of(event), thread_id = tid_of(event);
	struct thread_memo *memo = &b->thread_memo[hash_of(thread_id) & (THREAD_MEMO_SLOTS - 1)];
	/* No tid is empty: a memo that is not used fits none. */
	if (!tsi_str_equal(memo->tid, thread_id) || !tsi_str_equal(memo->pid, process_id)) {
		memo->pid_id = tsi_builder_id(b, names, process_id);
		memo->tid_id = tsi_builder_id(b, names, thread_id);
		if (b->status != TSCOPE_OK)
			return;
		memo->pid = tsi_intern_text(names, memo->pid_id);
		memo->tid = tsi_intern_text(names, memo->tid_id);
	}
	*pid = memo->pid_id;
	*tid = memo->tid_id;
}

uint32_t tsi_find_host_track(struct builder *b, const struct raw_event *event)
{
	struct str pid = pid_of(event), tid = tid_of(event);
	struct track_memo *memo = &b->track_memo[hash_of(tid) & (TRACK_MEMO_SLOTS - 1)];
	if (tsi_likely(memo->used && tsi_str_equal(memo->tid, tid) &&
		       tsi_str_equal(memo->pid, pid)))
		return memo->track;

	struct track fresh = { .device = -1, .stream = -1 };
	tsi_find_thread_ids(b, event, &fresh.pid, &fresh.tid);
	if (b->status != TSCOPE_OK)
		return 0;
	uint64_t key = tsi_key_of_pair(fresh.pid, fresh.tid);
	uint32_t index = tsi_key_map_find(&b->host_track_of, key);
	if (index == NO_ROW) {
		index = add_track(b, &fresh);
		tsi_builder_put(b, &b->host_track_of, key, index);
	}
	*memo = (struct track_memo){ tsi_intern_text(&b->trace->names, fresh.pid),
				     tsi_intern_text(&b->trace->names, fresh.tid), index, true };
	return index;
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

uint32_t tsi_find_device_track(struct builder *b, const struct raw_event *event,
			       struct device_place place)
{
	complete_place(&place, event->pid, event->tid);
	uint64_t key = key_of_place(place);
	uint32_t index = tsi_key_map_find(&b->device_track_of, key);
	if (tsi_likely(index != NO_ROW))
		return index;

	struct track fresh = {
		.device = (int32_t)place.device,
		.stream = place.stream,
		.is_device = true,
	};
	tsi_find_thread_ids(b, event, &fresh.pid, &fresh.tid);
	if (b->status != TSCOPE_OK)
		return 0;
	index = add_track(b, &fresh);
	tsi_builder_put(b, &b->device_track_of, key, index);
	return index;
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
