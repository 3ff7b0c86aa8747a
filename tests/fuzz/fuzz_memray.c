/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for decode/records/memray.h: the input is read as a capture, as a whole and three bytes at
 * a time, which must come to the same. Traps where a record or a stack refers to what is not
 * there.
 */
#include "fuzz.h"

#include "decode/records/memray.h"
#include "input/input.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LENGTH = 64 << 10, MAX_OUTPUT_BYTES = 1 << 20 };

struct outcome {
	struct memray_sink sink;
	struct memray_capture capture;
	enum tscope_status status;
	struct tscope_error err;
	bool is_plain;        /* not compressed */
	uint64_t sum, handed; /* over all that was handed on, and how many these were */
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void add(struct outcome *outcome, uint64_t value)
{
	outcome->sum = (outcome->sum ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	outcome->sum ^= outcome->sum >> 32;
}

static void add_place(struct outcome *outcome, uint32_t thread, uint32_t node, uint8_t allocator)
{
	require(thread < outcome->capture.thread_count);
	require(node < outcome->capture.node_count);
	require(allocator < MEMRAY_ALLOCATOR_COUNT);
	require(strcmp(tsi_memray_allocator_name(allocator), "unknown") != 0);
	add(outcome, (uint64_t)thread << 40 ^ (uint64_t)node << 8 ^ allocator);
	outcome->handed++;
}

static enum tscope_status take_allocation(struct memray_sink *sink,
					  const struct memray_allocation *allocation,
					  struct tscope_error *err)
{
	struct outcome *outcome = (struct outcome *)sink;
	bool has_size = allocation->allocator != MEMRAY_FREE &&
			allocation->allocator != MEMRAY_PYMALLOC_FREE;

	(void)err;
	require(!outcome->capture.header.is_aggregated);
	require(has_size || allocation->size == 0);
	add_place(outcome, allocation->thread, allocation->node, allocation->allocator);
	add(outcome, allocation->address);
	add(outcome, allocation->size);
	return TSCOPE_OK;
}

static enum tscope_status take_aggregate(struct memray_sink *sink,
					 const struct memray_aggregate *aggregate,
					 struct tscope_error *err)
{
	struct outcome *outcome = (struct outcome *)sink;

	(void)err;
	require(outcome->capture.header.is_aggregated);
	add_place(outcome, aggregate->thread, aggregate->node, aggregate->allocator);
	add(outcome, aggregate->count_at_peak);
	add(outcome, aggregate->bytes_at_peak);
	add(outcome, aggregate->leaked_count);
	add(outcome, aggregate->leaked_bytes);
	return TSCOPE_OK;
}

static enum tscope_status take_resident(struct memray_sink *sink,
					const struct memray_resident *resident,
					struct tscope_error *err)
{
	struct outcome *outcome = (struct outcome *)sink;

	(void)err;
	add(outcome, (uint64_t)resident->time_ms);
	add(outcome, resident->rss_bytes);
	outcome->handed++;
	return TSCOPE_OK;
}

/* What records refer to, which may be half done where memory was short. */
static void check_capture(struct outcome *outcome)
{
	const struct memray_capture *c = &outcome->capture;

	for (size_t i = 1; i < c->node_count; i++) {
		require(c->nodes[i].parent < i);
		require(c->nodes[i].frame < c->frame_count);
		add(outcome, (uint64_t)c->nodes[i].parent << 32 ^ c->nodes[i].frame);
	}
	for (size_t i = 0; i < c->frame_count; i++) {
		require(c->frames[i].function < c->names.count);
		require(c->frames[i].file < c->names.count);
		require(c->frames[i].line >= 0);
		add(outcome, (uint64_t)c->frames[i].function << 32 ^ c->frames[i].file);
		add(outcome, (uint64_t)c->frames[i].line);
	}
	for (size_t i = 0; i < c->thread_count; i++) {
		require(c->threads[i].name < c->names.count);
		add(outcome, c->threads[i].tid);
	}
	require(c->dropped_count <= 2 * c->record_count); /* a node has a frame and a parent */
	require(outcome->handed <= c->record_count);
	require(!c->is_complete || outcome->status == TSCOPE_OK);
}

static void read_in_blocks(struct outcome *outcome, const uint8_t *data, size_t length,
			   size_t block_bytes)
{
	struct input_options options = { .block_bytes = block_bytes,
					 .single_thread = true,
					 .max_output_bytes = MAX_OUTPUT_BYTES };
	struct input *in = NULL;

	*outcome = (struct outcome){
		.sink = { take_allocation, take_aggregate, take_resident },
	};
	outcome->status = tsi_input_open_memory(&in, data, length, &options, &outcome->err);
	if (outcome->status == TSCOPE_OK) {
		outcome->is_plain = strcmp(tsi_input_filters(in), "none") == 0;
		outcome->status =
			tsi_memray_read(&outcome->capture, in, &outcome->sink, &outcome->err);
	}
	tsi_input_close(in);
	if (outcome->status != TSCOPE_OK)
		require(outcome->err.message[0] && outcome->err.status == outcome->status);
	if (outcome->status != TSCOPE_E_NOMEM)
		check_capture(outcome);
}

static void require_same(const struct outcome *a, const struct outcome *b)
{
	require(a->status == b->status);
	if (a->status != TSCOPE_OK) {
		require(strcmp(a->err.message, b->err.message) == 0);
		require(a->err.offset == b->err.offset);
	}
	require(a->sum == b->sum);
	require(a->capture.is_complete == b->capture.is_complete);
	require(a->capture.record_count == b->capture.record_count);
	require(a->capture.dropped_count == b->capture.dropped_count);
	require(a->capture.names.count == b->capture.names.count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct outcome whole, parts;

	if (length > MAX_LENGTH)
		return 0;
	read_in_blocks(&whole, data, length, 0);
	read_in_blocks(&parts, data, length, 3);

	/* How far damaged compressed data can be read depends on the blocks. */
	if (whole.is_plain)
		require_same(&whole, &parts);
	tsi_memray_capture_deinit(&whole.capture);
	tsi_memray_capture_deinit(&parts.capture);
	return 0;
}
