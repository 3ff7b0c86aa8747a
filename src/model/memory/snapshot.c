/* SPDX-License-Identifier: MIT */
/*
 * Builds the model of a snapshot: segments are counted by device, put into the order of devices,
 * and then their blocks read. Entries are looked at once to see which are none, and stay where
 * they are. Keys that came or went between versions of torch are absent values here.
 */
#include "model/memory/snapshot.h"

#include <string.h>

#include "base/error.h"
#include "base/sort.h"
#include "base/sum.h"
#include "model/memory/snapshot_values.h"

/* More than any machine has (torch counts devices in 8 bits); a figure of each is kept. */
enum { MAX_DEVICES = 1024 };

enum { ENTRY_BATCH = 256 };

#define SEGMENT_KEYS(X)                                                                            \
	X(SEGMENT_DEVICE, "device")                                                                \
	X(SEGMENT_ADDRESS, "address")                                                              \
	X(SEGMENT_SIZE, "total_size")                                                              \
	X(SEGMENT_ALLOCATED, "allocated_size")                                                     \
	X(SEGMENT_ACTIVE, "active_size")                                                           \
	X(SEGMENT_STREAM, "stream")                                                                \
	X(SEGMENT_TYPE, "segment_type")                                                            \
	X(SEGMENT_POOL, "segment_pool_id")                                                         \
	X(SEGMENT_EXPANDABLE, "is_expandable")                                                     \
	X(SEGMENT_FRAMES, "frames")                                                                \
	X(SEGMENT_BLOCKS, "blocks")

enum segment_key { SEGMENT_KEYS(TSI_NAMED_ID) SEGMENT_KEY_COUNT };

#define BLOCK_KEYS(X)                                                                              \
	X(BLOCK_ADDRESS, "address")                                                                \
	X(BLOCK_SIZE, "size")                                                                      \
	X(BLOCK_REQUESTED, "requested_size")                                                       \
	X(BLOCK_STATE, "state")                                                                    \
	X(BLOCK_FRAMES, "frames")                                                                  \
	X(BLOCK_HISTORY, "history")

enum block_key { BLOCK_KEYS(TSI_NAMED_ID) BLOCK_KEY_COUNT };

static const char *const segment_keys[] = { SEGMENT_KEYS(TSI_NAMED_TEXT) };

static const char *const block_keys[] = { BLOCK_KEYS(TSI_NAMED_TEXT) };

/* ---- building ---------------------------------------------------------------------------- */

/* State while the model is built. */
struct snapshot_builder {
	struct snapshot *snapshot;
	const struct plain *plain;
	struct plain_value segments, traces; /* lists */
	struct plain_value segment_keys[SEGMENT_KEY_COUNT], block_keys[BLOCK_KEY_COUNT];
	struct plain_pick segment_pick, block_pick;
	struct plain_value small, allocated, pending, awaiting, real_size, frames; /* words */
	size_t segments_of[MAX_DEVICES]; /* by ordinal; then where those of the next one begin */
	struct plain_value *blocks;      /* of each segment */
	size_t device_capacity;
	unsigned char *taken; /* a bit for each object: a segment, a block, somebody's list */
	struct arena *scratch;
};

static void init_builder(struct snapshot_builder *b)
{
	const struct plain *plain = b->plain;
	struct plain_value root = tsi_plain_root(plain);

	b->segments =
		tsi_plain_is_list(root) ? root : tsi_plain_find(plain, root, TSI_STR("segments"));
	b->traces = tsi_plain_find(plain, root, TSI_STR("device_traces"));
	b->snapshot->settings = tsi_plain_find(plain, root, TSI_STR("allocator_settings"));
	tsi_find_names(plain, segment_keys, SEGMENT_KEY_COUNT, b->segment_keys);
	tsi_find_names(plain, block_keys, BLOCK_KEY_COUNT, b->block_keys);
	b->segment_pick.keys = b->segment_keys;
	b->segment_pick.count = SEGMENT_KEY_COUNT;
	b->block_pick.keys = b->block_keys;
	b->block_pick.count = BLOCK_KEY_COUNT;
	b->small = tsi_plain_name(plain, TSI_STR("small"));
	b->allocated = tsi_plain_name(plain, TSI_STR("active_allocated"));
	b->pending = tsi_plain_name(plain, TSI_STR("active_pending_free"));
	b->awaiting = tsi_plain_name(plain, TSI_STR("active_awaiting_free"));
	b->real_size = tsi_plain_name(plain, TSI_STR("real_size"));
	b->frames = b->segment_keys[SEGMENT_FRAMES];
}

static void drop_list(struct snapshot_builder *b, struct plain_value list)
{
	b->snapshot->dropped_count += tsi_plain_length(b->plain, list);
}

/*
 * A segment, a block, a list of blocks or entries counts once: nobody writes one that two
 * share, and so a small file cannot make a large model. False for one that was taken before,
 * which is dropped.
 */
static bool take_object(struct snapshot_builder *b, struct plain_value object)
{
	size_t index = tsi_plain_object_index(object);
	unsigned char bit = (unsigned char)(1 << index % 8);

	if (b->taken[index / 8] & bit) {
		b->snapshot->dropped_count++;
		return false;
	}
	b->taken[index / 8] |= bit;
	return true;
}

static struct plain_value take_list(struct snapshot_builder *b, struct plain_value list)
{
	if (!tsi_plain_is_list(list) || !take_object(b, list))
		return (struct plain_value){ 0 };
	return list;
}

/* On a second walk over those that were taken: true for the first mention of each. */
static bool untake_object(struct snapshot_builder *b, struct plain_value object)
{
	size_t index = tsi_plain_object_index(object);
	unsigned char bit = (unsigned char)(1 << index % 8);
	bool is_first = b->taken[index / 8] & bit;

	b->taken[index / 8] &= (unsigned char)~bit;
	return is_first;
}

/* ---- segments ---------------------------------------------------------------------------- */

/* False for what is no segment. *blocks: the list of its blocks; device is an ordinal. */
static bool read_segment(struct snapshot_builder *b, struct plain_value value,
			 struct snapshot_segment *segment, struct plain_value *blocks)
{
	struct plain_value part[SEGMENT_KEY_COUNT];
	int64_t device = 0;

	*segment = (struct snapshot_segment){ 0 };
	if (!tsi_plain_pick(b->plain, &b->segment_pick, value, part) ||
	    !tsi_plain_to_uint64(b->plain, part[SEGMENT_ADDRESS], &segment->address) ||
	    !tsi_to_size(b->plain, part[SEGMENT_SIZE], &segment->size_bytes))
		return false;
	if (part[SEGMENT_DEVICE].word &&
	    (!tsi_to_size(b->plain, part[SEGMENT_DEVICE], &device) || device >= MAX_DEVICES))
		return false;
	segment->device = (uint32_t)device;
	segment->stream = tsi_to_stream(b->plain, part[SEGMENT_STREAM]);
	segment->pool = tsi_to_pool(b->plain, part[SEGMENT_POOL]);
	segment->stack = tsi_to_stack(part[SEGMENT_FRAMES]);
	segment->allocated_bytes = segment->active_bytes = UNKNOWN_BYTES;
	(void)tsi_to_size(b->plain, part[SEGMENT_ALLOCATED], &segment->allocated_bytes);
	(void)tsi_to_size(b->plain, part[SEGMENT_ACTIVE], &segment->active_bytes);
	segment->is_small = b->small.word && part[SEGMENT_TYPE].word == b->small.word;
	(void)tsi_plain_to_bool(part[SEGMENT_EXPANDABLE], &segment->is_expandable);
	*blocks = part[SEGMENT_BLOCKS];
	return true;
}

/* Counts segments by device. */
static void count_segments(struct snapshot_builder *b)
{
	size_t count = tsi_plain_length(b->plain, b->segments);

	for (size_t i = 0; i < count; i++) {
		struct plain_value value = tsi_plain_item(b->plain, b->segments, i), blocks;
		struct snapshot_segment segment;
		if (!read_segment(b, value, &segment, &blocks)) {
			b->snapshot->dropped_count++;
		} else if (take_object(b, value)) {
			b->segments_of[segment.device]++;
			b->snapshot->segment_count++;
		}
	}
	size_t first = 0;
	for (size_t i = 0; i < MAX_DEVICES; i++) {
		size_t device_segment = b->segments_of[i];
		b->segments_of[i] = first;
		first += device_segment;
	}
}

/* Puts them in the order of devices, and counts their blocks. */
static void place_segments(struct snapshot_builder *b)
{
	struct snapshot *snapshot = b->snapshot;
	size_t count = tsi_plain_length(b->plain, b->segments);

	count_segments(b);
	snapshot->segments = tsi_arena_new(&snapshot->arena, snapshot->segment_count,
					   sizeof(*snapshot->segments));
	b->blocks = tsi_arena_new(b->scratch, snapshot->segment_count, sizeof(*b->blocks));
	if (!snapshot->segments || !b->blocks)
		return;
	for (size_t i = 0; i < count; i++) {
		struct plain_value value = tsi_plain_item(b->plain, b->segments, i), blocks;
		struct snapshot_segment segment;
		if (!read_segment(b, value, &segment, &blocks) || !untake_object(b, value))
			continue;
		size_t at = b->segments_of[segment.device]++;
		snapshot->segments[at] = segment;
		b->blocks[at] = take_list(b, blocks);
		snapshot->block_count += tsi_plain_length(b->plain, b->blocks[at]);
	}
}

/* ---- blocks ------------------------------------------------------------------------------ */

/* Up to 2.0 stack and request stand in the newest of a block's allocations. */
static void read_history(struct snapshot_builder *b, struct plain_value history,
			 struct snapshot_block *block)
{
	struct plain_value newest = tsi_plain_item(b->plain, history, 0);

	if (block->requested_bytes == UNKNOWN_BYTES)
		(void)tsi_to_size(b->plain, tsi_plain_get(b->plain, newest, b->real_size),
				  &block->requested_bytes);
	if (!block->stack.word)
		block->stack = tsi_to_stack(tsi_plain_get(b->plain, newest, b->frames));
}

/* False for what is no block. Its address is set where the file does not say another. */
static bool read_block(struct snapshot_builder *b, struct plain_value value,
		       struct snapshot_block *block)
{
	struct plain_value part[BLOCK_KEY_COUNT];

	if (!tsi_plain_pick(b->plain, &b->block_pick, value, part) ||
	    !tsi_to_size(b->plain, part[BLOCK_SIZE], &block->size_bytes) ||
	    !tsi_is_text(part[BLOCK_STATE]))
		return false;
	(void)tsi_plain_to_uint64(b->plain, part[BLOCK_ADDRESS], &block->address);
	(void)tsi_to_size(b->plain, part[BLOCK_REQUESTED], &block->requested_bytes);
	block->stack = tsi_to_stack(part[BLOCK_FRAMES]);
	if (part[BLOCK_HISTORY].word)
		read_history(b, part[BLOCK_HISTORY], block);
	if (part[BLOCK_STATE].word == b->allocated.word) {
		block->state = BLOCK_ALLOCATED;
	} else if (part[BLOCK_STATE].word == b->pending.word ||
		   part[BLOCK_STATE].word == b->awaiting.word) {
		block->state = BLOCK_PENDING;
	} else {
		block->state = BLOCK_INACTIVE;
		block->requested_bytes = UNKNOWN_BYTES; /* of the one before */
	}
	return true;
}

/* Sorts blocks by address, if they are not. False without memory. */
static bool order_blocks(struct snapshot_block *blocks, size_t count)
{
	struct arena arena = { 0 };
	size_t in_order = 1;

	while (in_order < count && blocks[in_order - 1].address <= blocks[in_order].address)
		in_order++;
	if (in_order >= count)
		return true;
	struct sort_pair *pairs = tsi_arena_new(&arena, count, 2 * sizeof(*pairs));
	struct snapshot_block *copy = tsi_arena_new(&arena, count, sizeof(*copy));
	if (pairs && copy) {
		memcpy(copy, blocks, count * sizeof(*copy));
		for (size_t i = 0; i < count; i++)
			pairs[i] = (struct sort_pair){ .key = copy[i].address, .value = i };
		tsi_sort_pairs(pairs, pairs + count, count);
		for (size_t i = 0; i < count; i++)
			blocks[i] = copy[pairs[i].value];
	}
	bool is_done = !arena.has_failed;
	tsi_arena_deinit(&arena);
	return is_done;
}

/* Reads the blocks of a segment behind those that are there. */
static void read_blocks(struct snapshot_builder *b, struct snapshot_segment *segment,
			struct plain_value blocks)
{
	struct snapshot *snapshot = b->snapshot;
	size_t count = tsi_plain_length(b->plain, blocks);
	uint64_t address = segment->address;

	segment->first_block = snapshot->block_count;
	for (size_t i = 0; i < count; i++) {
		struct snapshot_block block = {
			.address = address,
			.requested_bytes = UNKNOWN_BYTES,
		};
		struct plain_value value = tsi_plain_item(b->plain, blocks, i);
		if (!read_block(b, value, &block)) {
			snapshot->dropped_count++;
			continue;
		}
		if (!take_object(b, value))
			continue;
		address += (uint64_t)block.size_bytes;
		snapshot->blocks[snapshot->block_count++] = block;
	}
	segment->block_count = snapshot->block_count - segment->first_block;
	if (!order_blocks(&snapshot->blocks[segment->first_block], segment->block_count))
		b->scratch->has_failed = true;
}

const char tsi_snapshot_contradiction[] =
	"segments say other sizes (allocated_size, active_size) than their blocks have: blocks are "
	"missing or were changed";

/* Does a segment say other sizes than its blocks have? */
static bool is_contradicted(const struct snapshot *snapshot, const struct snapshot_segment *segment)
{
	int64_t allocated_bytes = 0, pending_bytes = 0;

	for (size_t i = 0; i < segment->block_count; i++) {
		const struct snapshot_block *block = &snapshot->blocks[segment->first_block + i];
		if (block->state == BLOCK_ALLOCATED)
			tsi_sum(&allocated_bytes, block->size_bytes);
		else if (block->state == BLOCK_PENDING)
			tsi_sum(&pending_bytes, block->size_bytes);
	}
	if (segment->allocated_bytes != UNKNOWN_BYTES &&
	    segment->allocated_bytes != allocated_bytes)
		return true;
	tsi_sum(&allocated_bytes, pending_bytes);
	return segment->active_bytes != UNKNOWN_BYTES && segment->active_bytes != allocated_bytes;
}

static void read_all_blocks(struct snapshot_builder *b)
{
	struct snapshot *snapshot = b->snapshot;

	snapshot->blocks =
		tsi_arena_new(&snapshot->arena, snapshot->block_count, sizeof(*snapshot->blocks));
	snapshot->block_count = 0;
	for (size_t i = 0; snapshot->blocks && i < snapshot->segment_count; i++) {
		read_blocks(b, &snapshot->segments[i], b->blocks[i]);
		snapshot->contradicted_count += is_contradicted(snapshot, &snapshot->segments[i]);
	}
}

/* ---- devices and entries ------------------------------------------------------------------ */

static void add_device(struct snapshot_builder *b, size_t ordinal, size_t segment_count,
		       struct plain_value entries)
{
	struct snapshot *snapshot = b->snapshot;
	size_t count = snapshot->device_count, end = b->segments_of[ordinal];
	struct snapshot_device *device = tsi_arena_push(
		&snapshot->arena, &snapshot->devices, &count, &b->device_capacity, sizeof(*device));

	if (!device)
		return;
	for (size_t i = end - segment_count; i < end; i++)
		snapshot->segments[i].device = snapshot->device_count;
	snapshot->device_count++;
	*device = (struct snapshot_device){
		.ordinal = (int32_t)ordinal,
		.first_segment = end - segment_count,
		.segment_count = segment_count,
		.entries = entries,
		.entry_count = tsi_plain_length(b->plain, entries),
	};
}

/* Those that have a segment or an entry, by ordinal. */
static void add_devices(struct snapshot_builder *b)
{
	for (size_t i = 0; i < MAX_DEVICES; i++) {
		size_t segment_count = b->segments_of[i] - (i ? b->segments_of[i - 1] : 0);
		struct plain_value entries = take_list(b, tsi_plain_item(b->plain, b->traces, i));
		if (segment_count || tsi_plain_length(b->plain, entries))
			add_device(b, i, segment_count, entries);
	}
	for (size_t i = MAX_DEVICES; i < tsi_plain_length(b->plain, b->traces); i++)
		drop_list(b, tsi_plain_item(b->plain, b->traces, i));
}

/* Counts the entries, and those that are none; true if there are others. */
static bool check_entries(struct snapshot *snapshot)
{
	struct snapshot_entry entries[ENTRY_BATCH];
	size_t bad_count = 0;

	for (uint32_t i = 0; i < snapshot->device_count; i++) {
		size_t first = 0, count;
		while ((count = tsi_snapshot_entries(snapshot, i, first, entries, ENTRY_BATCH))) {
			for (size_t k = 0; k < count; k++)
				bad_count += !entries[k].action_name.word;
			first += count;
		}
		snapshot->entry_count += first;
	}
	snapshot->dropped_count += bad_count;
	return snapshot->entry_count > bad_count;
}

/* ---- the interface ------------------------------------------------------------------------ */

/* Others call their items segments, too: those of speech, of routes, of images. */
static bool is_snapshot_dict(const struct plain *plain, struct plain_value root)
{
	struct plain_value segments = tsi_plain_find(plain, root, TSI_STR("segments"));
	struct plain_value first = tsi_plain_item(plain, segments, 0);

	if (!tsi_plain_is_list(segments))
		return false;
	return tsi_plain_length(plain, segments) == 0 ||
	       tsi_plain_find(plain, root, TSI_STR("device_traces")).word != 0 ||
	       tsi_plain_find(plain, first, TSI_STR("total_size")).word != 0 ||
	       tsi_plain_find(plain, first, TSI_STR("blocks")).word != 0;
}

bool tsi_is_snapshot(const struct plain *plain)
{
	struct plain_value root = tsi_plain_root(plain);
	struct plain_value first = tsi_plain_item(plain, root, 0);

	if (tsi_plain_kind(root) == PLAIN_DICT)
		return is_snapshot_dict(plain, root);
	return tsi_plain_is_list(tsi_plain_find(plain, first, TSI_STR("blocks"))) &&
	       tsi_plain_find(plain, first, TSI_STR("total_size")).word != 0;
}

static void build(struct snapshot *snapshot, const struct plain *plain, struct arena *scratch)
{
	struct snapshot_builder *b = tsi_arena_new(scratch, 1, sizeof(*b));

	if (!b)
		return;
	b->snapshot = snapshot;
	b->plain = plain;
	b->scratch = scratch;
	init_builder(b);
	b->taken = tsi_arena_new(scratch, tsi_plain_object_count(plain) / 8 + 1, 1);
	if (b->taken)
		place_segments(b);
	if (!scratch->has_failed && !snapshot->arena.has_failed)
		read_all_blocks(b);
	if (!scratch->has_failed && !snapshot->arena.has_failed)
		add_devices(b);
}

enum tscope_status tsi_snapshot_init(struct snapshot *snapshot, const struct plain *plain,
				     struct tscope_error *err)
{
	struct arena scratch = { 0 };

	*snapshot = (struct snapshot){ .plain = plain };
	tsi_snapshot_find_names(snapshot);
	build(snapshot, plain, &scratch);
	snapshot->arena.has_failed |= scratch.has_failed;
	tsi_arena_deinit(&scratch);
	if (snapshot->arena.has_failed)
		return tsi_arena_status(&snapshot->arena, err);
	if (check_entries(snapshot) || snapshot->segment_count)
		return TSCOPE_OK;
	if (snapshot->dropped_count)
		return tsi_fail(err, TSCOPE_E_DAMAGED,
				"a snapshot of which no segment and no entry can be understood");
	return tsi_fail(err, TSCOPE_E_EMPTY,
			"a snapshot without segments and entries: the process held no device "
			"memory, and recorded no history");
}

bool tsi_snapshot_is_expandable(const struct snapshot *snapshot, bool *is_said)
{
	struct plain_value said =
		tsi_plain_find(snapshot->plain, snapshot->settings, TSI_STR("expandable_segments"));
	bool is_expandable = false;

	*is_said = tsi_plain_to_bool(said, &is_expandable) || snapshot->segment_count;
	for (size_t i = 0; i < snapshot->segment_count && !is_expandable; i++)
		is_expandable = snapshot->segments[i].is_expandable;
	return is_expandable;
}
