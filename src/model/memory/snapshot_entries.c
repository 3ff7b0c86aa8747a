/* SPDX-License-Identifier: MIT */
/*
 * Entries and frames of a snapshot, read where they lie in the plain data. A file may hold
 * millions of entries, nearly all with the same keys in the same order.
 */
#include "model/memory/snapshot_values.h"

enum {
	ENTRY_BATCH = 256, /* words of a list that are copied at a time */
	AHEAD = 8,         /* entries on their way into the cache: half the time of reading one */
};

static const char *const entry_keys[ENTRY_KEY_COUNT] = {
	[ENTRY_ACTION] = "action", [ENTRY_ADDRESS] = "addr",  [ENTRY_DEVICE_FREE] = "device_free",
	[ENTRY_SIZE] = "size",     [ENTRY_STREAM] = "stream", [ENTRY_TIME] = "time_us",
	[ENTRY_FRAMES] = "frames", [ENTRY_POOL] = "pool_id",  [ENTRY_METADATA] = "user_metadata",
};

static const char *const frame_keys[FRAME_KEY_COUNT] = {
	[FRAME_FILENAME] = "filename",
	[FRAME_LINE] = "line",
	[FRAME_NAME] = "name",
};

static const struct {
	const char *name;
	bool has_address;
} actions[ACTION_COUNT] = {
	[ACTION_ALLOC] = { "alloc", true },
	[ACTION_FREE_REQUESTED] = { "free_requested", true },
	[ACTION_FREE_COMPLETED] = { "free_completed", true },
	[ACTION_SEGMENT_ALLOC] = { "segment_alloc", true },
	[ACTION_SEGMENT_FREE] = { "segment_free", true },
	[ACTION_SEGMENT_MAP] = { "segment_map", true },
	[ACTION_SEGMENT_UNMAP] = { "segment_unmap", true },
	[ACTION_OOM] = { "oom", false },
	[ACTION_SNAPSHOT] = { "snapshot", false },
	[ACTION_OTHER] = { NULL, false },
};

void tsi_snapshot_find_names(struct snapshot *snapshot)
{
	const struct plain *plain = snapshot->plain;

	tsi_find_names(plain, entry_keys, ENTRY_KEY_COUNT, snapshot->entry_keys);
	tsi_find_names(plain, frame_keys, FRAME_KEY_COUNT, snapshot->frame_keys);
	for (size_t i = 0; i < ACTION_OTHER; i++)
		snapshot->actions[i] = tsi_plain_name(plain, tsi_str_of(actions[i].name));
}

static enum snapshot_action action_of(const struct snapshot *snapshot, struct plain_value name)
{
	for (size_t i = 0; i < ACTION_OTHER; i++)
		if (snapshot->actions[i].word == name.word)
			return (enum snapshot_action)i;
	return ACTION_OTHER;
}

/* False for what is no entry. */
static bool read_entry(const struct snapshot *snapshot, const struct plain_value *part,
		       struct snapshot_entry *entry)
{
	const struct plain *plain = snapshot->plain;

	if (!tsi_is_text(part[ENTRY_ACTION]) ||
	    !tsi_to_size(plain, part[ENTRY_SIZE], &entry->size_bytes))
		return false;
	entry->action = action_of(snapshot, part[ENTRY_ACTION]);
	entry->action_name = part[ENTRY_ACTION];
	if (!tsi_plain_to_uint64(plain, part[ENTRY_ADDRESS], &entry->address) &&
	    actions[entry->action].has_address)
		return false;
	if (entry->action == ACTION_OOM)
		(void)tsi_plain_to_uint64(plain, part[ENTRY_DEVICE_FREE], &entry->address);
	entry->stream = tsi_to_stream(plain, part[ENTRY_STREAM]);
	(void)tsi_plain_to_int64(plain, part[ENTRY_TIME], &entry->time_us);
	if (part[ENTRY_POOL].word)
		entry->pool = tsi_to_pool(plain, part[ENTRY_POOL]);
	entry->stack = tsi_to_stack(part[ENTRY_FRAMES]);
	if (tsi_is_text(part[ENTRY_METADATA]))
		entry->user_metadata = part[ENTRY_METADATA];
	return true;
}

size_t tsi_snapshot_entries(const struct snapshot *snapshot, uint32_t device, size_t first,
			    struct snapshot_entry *out, size_t room)
{
	static const struct snapshot_entry none = { .action = ACTION_OTHER, .time_us = NO_TIME_US };
	struct plain_pick pick = { .keys = snapshot->entry_keys, .count = ENTRY_KEY_COUNT };
	struct plain_value items[ENTRY_BATCH], part[ENTRY_KEY_COUNT];
	size_t done = 0;

	while (done < room) {
		size_t wanted = room - done < ENTRY_BATCH ? room - done : ENTRY_BATCH;
		size_t count = tsi_plain_items(snapshot->plain, snapshot->devices[device].entries,
					       first + done, items, wanted);
		if (count == 0)
			break;
		for (size_t i = 0; i < count; i++, done++) {
			out[done] = none;
			if (i + AHEAD < count)
				tsi_plain_prefetch(snapshot->plain, items[i + AHEAD]);
			tsi_plain_pick(snapshot->plain, &pick, items[i], part);
			if (!read_entry(snapshot, part, &out[done]))
				out[done] = none;
		}
	}
	return done;
}

size_t tsi_stack_depth(const struct snapshot *snapshot, struct plain_value stack)
{
	return tsi_plain_length(snapshot->plain, stack);
}

struct snapshot_frame tsi_snapshot_frame(const struct snapshot *snapshot, struct plain_value frame)
{
	const struct plain *plain = snapshot->plain;
	struct plain_value part[FRAME_KEY_COUNT];
	struct snapshot_frame result = { 0 };

	for (size_t i = 0; i < FRAME_KEY_COUNT; i++)
		part[i] = tsi_plain_get(plain, frame, snapshot->frame_keys[i]);
	result.filename = tsi_plain_text(plain, part[FRAME_FILENAME]);
	result.name = tsi_plain_text(plain, part[FRAME_NAME]);
	(void)tsi_plain_to_int64(plain, part[FRAME_LINE], &result.line);
	return result;
}

struct snapshot_frame tsi_stack_frame(const struct snapshot *snapshot, struct plain_value stack,
				      size_t index)
{
	return tsi_snapshot_frame(snapshot, tsi_plain_item(snapshot->plain, stack, index));
}
