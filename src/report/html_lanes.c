/* SPDX-License-Identifier: MIT */
/* Lanes of a timeline for the page, and the joining of slices that are too short to be seen. */
#include "report/html_lanes.h"

#include "base/sum.h"
#include "report/json_parts.h"

#include <inttypes.h>
#include <stdlib.h>

enum { BLOCKS = 4000 /* of joined slices in the whole width */ };

/* ---- all lanes ---- */

static unsigned class_of(int64_t dur_ns)
{
	unsigned class_number = 0;

	for (; dur_ns > 0 && class_number + 1 < LENGTH_CLASSES; dur_ns >>= 1)
		class_number++;
	return class_number;
}

/* Sums and distances of two such times are numbers, too; no capture comes near. */
static bool is_drawable(int64_t start_ns, int64_t dur_ns)
{
	const int64_t most_ns = INT64_MAX / 4;

	return start_ns >= -most_ns && start_ns <= most_ns && dur_ns >= 0 && dur_ns <= most_ns;
}

void tsi_count_slice(struct slice_lengths *lengths, int64_t start_ns, int64_t dur_ns)
{
	int64_t end_ns;

	if (!is_drawable(start_ns, dur_ns))
		return;
	end_ns = start_ns + dur_ns;
	if (lengths->count == 0 || start_ns < lengths->first_ns)
		lengths->first_ns = start_ns;
	if (lengths->count == 0 || end_ns > lengths->last_ns)
		lengths->last_ns = end_ns;
	lengths->counts[class_of(dur_ns)]++;
	lengths->count++;
}

/* The least length of which there are no more than `limit`. */
static int64_t least_length(const struct slice_lengths *lengths, size_t limit)
{
	unsigned class_number = LENGTH_CLASSES;
	uint64_t sum = 0;

	while (class_number > 0 && sum + lengths->counts[class_number - 1] <= limit)
		sum += lengths->counts[--class_number];
	return class_number <= 1 ? class_number : INT64_C(1) << (class_number - 1);
}

bool tsi_lanes_begin(struct lanes *lanes, struct json_writer *w,
		     const struct slice_lengths *lengths, size_t limit)
{
	struct tscope_error ignored;

	*lanes = (struct lanes){ .w = w, .origin_ns = lengths->first_ns };
	if (lengths->count == 0)
		return false;
	if (tsi_intern_init(&lanes->names, UINT32_MAX, &ignored) != TSCOPE_OK) {
		w->has_failed = true;
		return false;
	}
	lanes->least_ns = least_length(lengths, limit);
	lanes->block_ns = lengths->last_ns / BLOCKS - lengths->first_ns / BLOCKS;
	if (lanes->block_ns < lanes->least_ns)
		lanes->block_ns = lanes->least_ns;
	tsi_json_object(w, "timeline");
	tsi_json_array(w, "lanes");
	return true;
}

void tsi_lanes_end(struct lanes *lanes)
{
	struct json_writer *w = lanes->w;
	char origin[24];

	tsi_jw_end_array(w);
	tsi_json_array(w, "names");
	for (uint32_t id = 0; id < lanes->names.count; id++)
		tsi_jw_text(w, tsi_intern_text(&lanes->names, id).data);
	tsi_jw_end_array(w);
	/* As text: a number of JavaScript does not hold Unix time in ns. */
	snprintf(origin, sizeof(origin), "%" PRId64, lanes->origin_ns);
	tsi_json_text(w, "origin_ns", origin);
	tsi_json_uint(w, "total", lanes->total);
	tsi_json_uint(w, "kept", lanes->kept);
	tsi_json_int_if(w, "least_ns", true, lanes->least_ns);
	tsi_jw_end_object(w);
	w->has_failed |= lanes->has_failed || lanes->arena.has_failed;
	tsi_intern_deinit(&lanes->names);
	tsi_arena_deinit(&lanes->arena);
}

/* ---- one lane ---- */

void tsi_lane_begin(struct lanes *lanes, const char *group, const char *label)
{
	lanes->slice_count = 0;
	memset(lanes->blocks, 0, sizeof(lanes->blocks));
	tsi_jw_object(lanes->w);
	tsi_json_text(lanes->w, "group", group);
	tsi_json_text(lanes->w, "label", label);
}

uint32_t tsi_lane_name(struct lanes *lanes, const char *name)
{
	struct tscope_error ignored;
	uint32_t id = 0;

	lanes->has_failed |=
		tsi_intern_add(&lanes->names, tsi_str_of(name), &id, &ignored) != TSCOPE_OK;
	return id;
}

static void keep(struct lanes *lanes, const struct slice *slice)
{
	struct slice *kept = tsi_arena_push(&lanes->arena, &lanes->slices, &lanes->slice_count,
					    &lanes->slice_capacity, sizeof(*kept));

	if (kept)
		*kept = *slice;
}

static void end_block(struct lanes *lanes, struct slice *block)
{
	if (block->count > 0)
		keep(lanes, block);
	block->count = 0;
}

void tsi_lane_add(struct lanes *lanes, const struct slice *slice)
{
	struct slice *block = &lanes->blocks[slice->depth];
	int64_t end_ns;

	if (!is_drawable(slice->start_ns, slice->dur_ns))
		return;
	end_ns = slice->start_ns + slice->dur_ns;
	lanes->total++;
	if (slice->dur_ns >= lanes->least_ns) {
		lanes->kept++;
		end_block(lanes, block);
		keep(lanes, slice);
		return;
	}
	if (block->count > 0 && end_ns - block->start_ns > lanes->block_ns)
		end_block(lanes, block);
	if (block->count == 0) {
		*block = *slice;
		block->count = 1;
		block->busy_ns = block->longest_ns = slice->dur_ns;
		return;
	}
	if (slice->dur_ns > block->longest_ns) {
		block->longest_ns = slice->dur_ns;
		block->name = slice->name;
		block->tone = slice->tone;
		block->wait_ns = slice->wait_ns;
		block->match = slice->match;
	}
	block->count++;
	tsi_sum(&block->busy_ns, slice->dur_ns);
	if (end_ns - block->start_ns > block->dur_ns)
		block->dur_ns = end_ns - block->start_ns;
}

static int by_start(const void *left, const void *right)
{
	const struct slice *a = left, *b = right;

	TSI_ASCENDING(a->start_ns, b->start_ns);
	return (a->depth > b->depth) - (a->depth < b->depth);
}

/* A column of numbers; starts are distances to the one before. */
static void put_column(struct lanes *lanes, const char *key, int64_t (*get)(const struct slice *))
{
	tsi_json_array(lanes->w, key);
	for (size_t i = 0; i < lanes->slice_count; i++)
		tsi_jw_int(lanes->w, get(&lanes->slices[i]));
	tsi_jw_end_array(lanes->w);
}

static int64_t dur_of(const struct slice *slice)
{
	return slice->dur_ns;
}

static int64_t name_of(const struct slice *slice)
{
	return slice->name;
}

static int64_t depth_of(const struct slice *slice)
{
	return slice->depth;
}

static int64_t tone_of(const struct slice *slice)
{
	return slice->tone;
}

static void put_starts(struct lanes *lanes)
{
	int64_t last_ns = lanes->origin_ns;

	tsi_json_array(lanes->w, "start");
	for (size_t i = 0; i < lanes->slice_count; i++) {
		tsi_jw_int(lanes->w, lanes->slices[i].start_ns - last_ns);
		last_ns = lanes->slices[i].start_ns;
	}
	tsi_jw_end_array(lanes->w);
}

/* Rare data of slices: index and two numbers each. */
static void put_extras(struct lanes *lanes)
{
	tsi_json_array(lanes->w, "joined");
	for (size_t i = 0; i < lanes->slice_count; i++) {
		const struct slice *slice = &lanes->slices[i];

		if (slice->count <= 1)
			continue;
		tsi_jw_uint(lanes->w, i);
		tsi_jw_uint(lanes->w, slice->count);
		tsi_jw_int(lanes->w, slice->busy_ns);
		tsi_jw_int(lanes->w, slice->longest_ns);
	}
	tsi_jw_end_array(lanes->w);
	tsi_json_array(lanes->w, "matched");
	for (size_t i = 0; i < lanes->slice_count; i++) {
		const struct slice *slice = &lanes->slices[i];

		if (slice->match == UINT32_MAX || slice->count > 1)
			continue;
		tsi_jw_uint(lanes->w, i);
		tsi_jw_uint(lanes->w, slice->match);
		tsi_jw_int(lanes->w, slice->wait_ns);
	}
	tsi_jw_end_array(lanes->w);
}

void tsi_lane_end(struct lanes *lanes)
{
	for (size_t depth = 0; depth < LANE_MAX_DEPTH; depth++)
		end_block(lanes, &lanes->blocks[depth]);
	if (lanes->slice_count > 0)
		qsort(lanes->slices, lanes->slice_count, sizeof(*lanes->slices), by_start);
	put_starts(lanes);
	put_column(lanes, "dur", dur_of);
	put_column(lanes, "name", name_of);
	put_column(lanes, "depth", depth_of);
	put_column(lanes, "tone", tone_of);
	put_extras(lanes);
	tsi_jw_end_object(lanes->w);
}
